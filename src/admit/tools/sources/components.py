"""Parts of an OpenAPI document's ``components`` that operations share, each walked and hashed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..model import NOTHING
from ..route import fingerprint


class Components:
    """What the references of one document lead to.

    Args:
        whole: The document.
        note: Told the code and the sentence of what is wrong with the operation that is read.
    """

    def __init__(self, whole: Mapping[str, Any], note: Callable[[str, str], None]) -> None:
        self._held = mapping(whole.get("components"))
        self._note = note
        self._components: dict[_Pointer, _Component | None] = {}
        self._pointers: dict[str, _Pointer | None] = {}

    def closed(self, schema: Mapping[str, Any], left: int) -> dict[str, Any]:
        """A schema with what it refers to of ``components``, nearest first, up to `left` objects."""
        parts: dict[str, dict[str, Any]] = {}
        waiting = [tuple(dict.fromkeys(_references(schema)))]
        for references in waiting:
            for ref in references:
                pointer = self._pointer(ref)
                if pointer is None or pointer.name in parts.get(pointer.kind, ()):
                    continue
                held = self._component(pointer)
                if held is None:
                    continue
                target = held.value
                if held.size > left:
                    self._note("schema_capped", "refers to more than is read; some of it is left open")
                    target = {}
                else:
                    left -= held.size
                    waiting.append(held.references)
                parts.setdefault(pointer.kind, {})[pointer.name] = target
        return {**schema, "components": parts} if parts else dict(schema)

    def told(self, schema: Any) -> Any:
        """A closed schema for a fingerprint, each component by its own, which is taken once."""
        held = mapping(schema).get("components")
        if not isinstance(held, Mapping):
            return schema
        printed = {kind: self._kind(kind, parts) for kind, parts in held.items()}
        return {**schema, "components": printed}

    def _kind(self, kind: str, parts: Any) -> Any:
        if not isinstance(parts, Mapping):
            return parts
        return {name: self._told(_Pointer(kind, name), part) for name, part in parts.items()}

    def _told(self, pointer: _Pointer, part: Any) -> Any:
        held = self._component(pointer)
        if held is None or held.value is not part:  # left open, or the schema's own word
            return part
        if held.printed is None:
            held.printed = fingerprint(part)
        return held.printed

    def _pointer(self, ref: str) -> _Pointer | None:
        """What of ``components`` a reference leads to or into; None for any other."""
        if ref not in self._pointers:
            steps = ref.split("/")
            inside = ref.startswith("#/components/") and len(steps) >= 4
            names = (unquote(step).replace("~1", "/").replace("~0", "~") for step in steps[2:4])
            self._pointers[ref] = _Pointer(*names) if inside else None
        if not ref.startswith("#"):
            self._note("ref_not_local", "refers to another document, which is not read")
        return self._pointers[ref]

    def _component(self, pointer: _Pointer) -> _Component | None:
        """A part of the document; None where there is none."""
        if pointer not in self._components:
            target = mapping(self._held.get(pointer.kind)).get(pointer.name)
            self._components[pointer] = None if target is None else _Component(target)
        return self._components[pointer]


class _Pointer(NamedTuple):
    """A place in ``components``."""

    kind: str
    name: str


class _Component:
    """A part of the document: how many objects it holds, what it refers to, and its hash once it is asked."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.size = _nodes(value)
        self.references = tuple(dict.fromkeys(_references(value)))
        self.printed: str | None = None


def _references(value: Any) -> Iterator[str]:
    """Every reference in a value, in its order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            ref = one.get("$ref")
            if isinstance(ref, str):
                yield ref
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _nodes(value: Any) -> int:
    """How many objects a value holds, itself included."""
    count, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            count += 1
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return count


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else NOTHING
