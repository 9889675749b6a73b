"""Type hints as JSON Schema. Nothing is called, save a pydantic model's own schema method."""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_PLAIN: Mapping[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bytes: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
    complex: {},
    dict: {"type": "object"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    set: {"type": "array", "uniqueItems": True},
    frozenset: {"type": "array", "uniqueItems": True},
}
# By the full name, so that none of these modules is imported.
_FORMATS = {
    "datetime.datetime": "date-time",
    "datetime.date": "date",
    "datetime.time": "time",
    "datetime.timedelta": "duration",
    "uuid.UUID": "uuid",
    "pathlib.Path": "path",
    "pathlib.PurePath": "path",
    "decimal.Decimal": "decimal",
}
_LISTS = (
    "list",
    "Sequence",
    "Iterable",
    "Collection",
    "MutableSequence",
    "deque",
    "Iterator",
    "AsyncIterator",
)
_SETS = ("set", "frozenset", "Set", "MutableSet")
_MAPPINGS = ("dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")
_WRAPPERS = ("Awaitable", "Coroutine", "ClassVar", "Final")
_MOST_DEPTH = 24


class Hints:
    """The schemas of one tool's hints; a class with fields stands once, under ``$defs``."""

    def __init__(self) -> None:
        self._classes: dict[str, Any] = {}
        self._names: dict[Any, str] = {}

    def closed(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema with the classes that it refers to."""
        return {**schema, "$defs": self._classes} if self._classes else dict(schema)

    def of(self, hint: Any, depth: int = 0) -> dict[str, Any]:
        """The schema of a hint; ``{}``, which is any value, for one that is not understood."""
        try:
            return self._of(hint, depth)
        except Exception:  # a hint is code, and may fail in any way
            return {}

    def _of(self, hint: Any, depth: int) -> dict[str, Any]:
        if depth > _MOST_DEPTH or hint is Any:
            return {}
        origin, args = get_origin(hint), get_args(hint)
        if origin is Annotated:
            text = next((one for one in args[1:] if isinstance(one, str)), "")
            text = text or next(
                (d for one in args[1:] if isinstance(d := getattr(one, "description", 0), str)), ""
            )
            return {**self.of(args[0], depth + 1), **({"description": text} if text else {})}
        if origin in (Required, NotRequired):
            return self.of(args[0], depth + 1)
        if origin is Literal:
            return _values(list(args))
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(one, depth + 1) for one in args]}
        if origin is not None:
            return self._generic(origin, args, depth)
        if isinstance(hint, TypeVar):
            return self.of(hint.__bound__, depth + 1) if hint.__bound__ else {}
        if supertype := getattr(hint, "__supertype__", None):  # NewType
            return self.of(supertype, depth + 1)
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        return self._class(hint, depth) if isinstance(hint, type) else {}

    def _generic(self, origin: Any, args: tuple[Any, ...], depth: int) -> dict[str, Any]:
        name = getattr(origin, "__name__", "")
        if name in _WRAPPERS and args:
            return self.of(args[-1], depth + 1)
        if origin is tuple:
            if len(args) == 2 and args[1] is ...:
                return {"type": "array", "items": self.of(args[0], depth + 1)}
            return {"type": "array", "prefixItems": [self.of(one, depth + 1) for one in args]}
        if name in _LISTS and args:
            return {"type": "array", "items": self.of(args[0], depth + 1)}
        if name in _SETS and args:
            return {"type": "array", "uniqueItems": True, "items": self.of(args[0], depth + 1)}
        if name in _MAPPINGS and args:
            return {"type": "object", "additionalProperties": self.of(args[-1], depth + 1)}
        return self.of(origin, depth + 1)

    def _class(self, hint: type, depth: int) -> dict[str, Any]:
        if issubclass(hint, Enum):
            return _values([one.value for one in hint])
        for parent in hint.__mro__:
            if form := _FORMATS.get(f"{parent.__module__}.{parent.__qualname__}"):
                return {"type": "string", "format": form}
        if callable(getattr(hint, "model_json_schema", None)):
            return self._referred(hint, self._model)
        if is_typeddict(hint) or hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields"):
            return self._referred(hint, lambda one: self._with_fields(one, depth))
        plain = next((dict(_PLAIN[parent]) for parent in hint.__mro__ if parent in _PLAIN), {})
        return plain

    def _referred(self, hint: type, make: Any) -> dict[str, Any]:
        """A reference to a class, which is described the first time: so that one may hold itself."""
        if hint not in self._names:
            name = hint.__name__
            while name in self._classes:
                name += "_"
            self._names[hint] = name
            self._classes[name] = {}
            self._classes[name] = make(hint)
        return {"$ref": f"#/$defs/{self._names[hint]}"}

    def _model(self, hint: Any) -> dict[str, Any]:
        schema = dict(hint.model_json_schema())
        for name, one in schema.pop("$defs", {}).items():
            self._classes.setdefault(name, one)
        return schema

    def _with_fields(self, hint: Any, depth: int) -> dict[str, Any]:
        hints = get_type_hints(hint, include_extras=True)
        fields = getattr(hint, "__dataclass_fields__", None)
        if is_typeddict(hint):
            needed = [name for name in hints if name in hint.__required_keys__]
        elif fields is not None:
            hints = {name: hint for name, hint in hints.items() if name in fields}
            needed = [name for name in hints if _has_no_default(fields[name])]
        else:
            needed = [name for name in hints if name not in hint._field_defaults]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.of(one, depth + 1) for name, one in hints.items()},
        }
        return {**schema, "required": needed} if needed else schema


def _has_no_default(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING and field.default_factory is MISSING


def _values(values: list[Any]) -> dict[str, Any]:
    """A schema of these values, those that JSON has."""
    known = [one for one in values if isinstance(one, (str, int, float, bool, type(None)))]
    schema: dict[str, Any] = {"enum": known}
    kinds = {type(one) for one in known}
    if len(kinds) == 1 and (kind := kinds.pop()) in _PLAIN:
        schema["type"] = _PLAIN[kind]["type"]
    return schema
