"""What a JSON Schema says of arguments and results: a bounded walk that follows local references only.

The schema itself is never changed. A reference that leads back to where it came from is cut there, and one
that leads to results that were named before is not walked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from .model import NOTHING, Field, Param

_UNIT_KEYS = ("x-unit", "unit", "unitText")
_NUMERIC = frozenset(("number", "integer"))


class Bounds(NamedTuple):
    """How large a tool may be before only its name and description are read.

    Attributes:
        max_bytes: UTF-8 bytes of its compact JSON.
        max_depth: Containers inside each other, the tool itself included.
        max_properties: Members of all ``properties`` together.
        max_nodes: Schemas that are reached through references.
    """

    max_bytes: int = 262_144
    max_depth: int = 32
    max_properties: int = 1000
    max_nodes: int = 2000


BOUNDS = Bounds()


class TooLarge(Exception):
    """A schema is beyond a bound."""


def check(value: object, bounds: Bounds = BOUNDS) -> None:
    """Refuse a value that is nested too deeply, has too many properties or is too long.

    Raises:
        TooLarge: It is.
    """
    properties = 0
    level: list[Any] = [value]
    depth = 0
    while level:
        depth += 1
        below: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                inner = one.get("properties")
                properties += len(inner) if isinstance(inner, Mapping) else 0
                below += [each for each in one.values() if isinstance(each, (Mapping, list, tuple))]
            elif isinstance(one, (list, tuple)):
                below += [each for each in one if isinstance(each, (Mapping, list, tuple))]
        if properties > bounds.max_properties or (below and depth >= bounds.max_depth):
            raise TooLarge
        level = below
    if _size(value) > bounds.max_bytes:
        raise TooLarge


def _size(value: object) -> int:
    """UTF-8 bytes of a value as compact JSON; 0 where it has none."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
    except (ValueError, TypeError):
        return 0
    return len(text.encode("utf-8", "backslashreplace"))


def params(schema: Mapping[str, Any], bounds: Bounds = BOUNDS) -> tuple[Param, ...]:
    """The arguments that a schema of an object names, in its order; those of its parts after its own.

    Where two parts name one argument, the first that does counts; a part of ``anyOf`` or ``oneOf`` makes
    none required.

    Raises:
        TooLarge: References lead to more than the bound.
    """
    walk = _Walk(schema, bounds)
    found: dict[str, Any] = {}
    required: set[str] = set()
    for part, sure in walk.parts(schema):
        properties = part.get("properties")
        for name, inner in properties.items() if isinstance(properties, Mapping) else ():
            if isinstance(name, str):
                found.setdefault(name, inner)
        names = part.get("required")
        if sure and isinstance(names, (list, tuple)):
            required.update(name for name in names if isinstance(name, str))
    return tuple(
        Param(
            name,
            description=walk.description(inner),
            required=name in required,
            schema=inner if isinstance(inner, Mapping) else NOTHING,
            aliases=_texts(inner, "x-aliases"),
        )
        for name, inner in found.items()
    )


def fields(schema: Mapping[str, Any], bounds: Bounds = BOUNDS) -> tuple[Field, ...]:
    """Every value that a schema of results names, outer ones before what is in them.

    What several references lead to is named where the first of them stands.

    Raises:
        TooLarge: References lead to more than the bound.
    """
    walk = _Walk(schema, bounds)
    return tuple(walk.fields(schema, "", 1))


class _Walk:
    """One walk over a schema, with what it may still spend."""

    def __init__(self, root: Mapping[str, Any], bounds: Bounds) -> None:
        self._root = root
        self._left = bounds.max_nodes
        self._depth = bounds.max_depth
        self._walked: set[str] = set()

    def parts(self, node: Any) -> Iterator[tuple[Mapping[str, Any], bool]]:
        """A schema and all it is made of, and whether each holds in every case."""
        yield from self._parts(node, set(), True, 0)

    def _parts(
        self, node: Any, seen: set[str], sure: bool, depth: int
    ) -> Iterator[tuple[Mapping[str, Any], bool]]:
        """As `parts`, without what the references in `seen` lead to; those that are followed are added."""
        if not isinstance(node, Mapping):
            return
        if depth > self._depth:
            raise TooLarge
        if seen:
            self._left -= 1
            if self._left < 0:
                raise TooLarge
        yield node, sure
        ref = node.get("$ref")
        if isinstance(ref, str) and ref not in seen and (target := self._at(ref)) is not None:
            seen.add(ref)
            yield from self._parts(target, seen, sure, depth + 1)
        for key in ("allOf", "anyOf", "oneOf"):
            branches = node.get(key)
            for branch in branches if isinstance(branches, (list, tuple)) else ():
                yield from self._parts(branch, seen, sure and key == "allOf", depth + 1)

    def fields(self, node: Any, path: str, depth: int) -> Iterator[Field]:
        """The values below a schema of an object or an array."""
        if depth > self._depth:
            raise TooLarge
        seen: set[str] = set()
        for part, _ in self._parts(node, self._walked, True, 0):
            properties = part.get("properties")
            for name, inner in properties.items() if isinstance(properties, Mapping) else ():
                if not isinstance(name, str) or name in seen:
                    continue
                seen.add(name)
                place = f"{path}.{name}" if path else name
                yield self._field(name, place, inner)
                yield from self.fields(inner, place, depth + 1)
            for key, mark in (("items", "[]"), ("additionalProperties", ".*" if path else "*")):
                if isinstance(part.get(key), Mapping):
                    yield from self.fields(part[key], f"{path}{mark}", depth + 1)

    def _field(self, name: str, path: str, inner: Any) -> Field:
        parts = [part for part, _ in self.parts(inner)]
        return Field(
            path,
            name,
            semantic_id=_first(parts, "x-semantic-id"),
            description=_first(parts, "description"),
            schema=inner if isinstance(inner, Mapping) else NOTHING,
            unit=self._unit(parts),
            dimension=_first(parts, "x-dimension") or None,
            qualifiers=_qualifiers(parts),
            identifier=any(part.get("x-identifier") is True for part in parts),
            aliases=_texts(inner, "x-aliases"),
        )

    def _unit(self, parts: list[Mapping[str, Any]]) -> str | None:
        """The unit that a number or a list of numbers states."""
        below = [part["items"] for part in parts if isinstance(part.get("items"), Mapping)]
        items = [part for one in below for part, _ in self.parts(one)]
        if not any(_is_numeric(part) for part in (*parts, *items)):
            return None
        return next((unit for key in _UNIT_KEYS if (unit := _first([*parts, *items], key))), None)

    def description(self, node: Any) -> str:
        """The first text among a schema's parts."""
        return next((text for part, _ in self.parts(node) if (text := _first([part], "description"))), "")

    def _at(self, ref: str) -> Any:
        """What a reference into the schema itself leads to; None for any other."""
        if not ref.startswith("#"):
            return None
        return at_pointer(self._root, ref[1:])


def at_pointer(root: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901) of a URI's fragment; None where there is none."""
    if not pointer:
        return root
    if not pointer.startswith("/"):
        return None
    node = root
    for word in pointer[1:].split("/"):
        step = unquote(word).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(step)
        elif isinstance(node, (list, tuple)) and step.isascii() and step.isdigit() and len(step) < 10:
            node = node[int(step)] if int(step) < len(node) else None
        else:
            return None
    return node


def _first(parts: list[Mapping[str, Any]], key: str) -> str:
    return next((part[key] for part in parts if isinstance(part.get(key), str) and part[key]), "")


def _texts(node: Any, key: str) -> tuple[str, ...]:
    held = node.get(key) if isinstance(node, Mapping) else None
    return tuple(one for one in held if isinstance(one, str)) if isinstance(held, (list, tuple)) else ()


def _qualifiers(parts: list[Mapping[str, Any]]) -> dict[str, str]:
    held = next((part["x-qualifiers"] for part in parts if isinstance(part.get("x-qualifiers"), Mapping)), {})
    return {key: word for key, word in held.items() if isinstance(key, str) and isinstance(word, str)}


def _is_numeric(part: Mapping[str, Any]) -> bool:
    kind = part.get("type")
    kinds = kind if isinstance(kind, (list, tuple)) else (kind,)
    return any(isinstance(one, str) and one in _NUMERIC for one in kinds)
