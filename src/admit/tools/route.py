"""A tool object as some source wrote it, made into a `Route`; nothing in it can make this fail.

Where a source has no tool objects (OpenAPI, Python), it puts one together in the shape of MCP and adds what
that shape has no place for under ``x-admit``: ``group``, ``group_description``, ``aliases``, ``requires`` and
``locations`` and ``wire_names`` by argument. An MCP server's own ``x-admit`` is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from admit.core.events import canonical, sha256
from admit.errors import UsageError

from .model import NOTHING, Location, Param, Problem, Route, SourceKind
from .schema import BOUNDS, Bounds, TooLarge, check, fields, params

INPUT_KEYS = ("inputSchema", "input_schema", "parameters")
OUTPUT_KEYS = ("outputSchema", "output_schema")
_TEXT_KEYS = ("title", "description")
_LOCATIONS = frozenset(("argument", "path", "query", "header", "body"))

WHAT: Mapping[str, str] = {
    "schema_capped": "is too large to read; it is found by its name and description alone",
    "schema_invalid": "has a schema that is no object; it is found by its name and description alone",
    "text_invalid": "has a title or description that is no text",
    "no_fingerprint": "has no canonical form, so it can never be approved",
    "duplicate_name": "has the name of another tool of this source",
    "no_name": "has no name, so it is left out",
    "not_an_object": "is no tool object, so it is left out",
}
"""What each code means, as the end of a sentence."""


class Routes(list[Route]):
    """The routes of one source in its order, and what is wrong with what it gave.

    Attributes:
        problems: Also of tools that are left out.
        instructions: What an MCP server says of itself; untrusted.
    """

    def __init__(
        self, routes: Iterable[Route] = (), problems: Iterable[Problem] = (), instructions: str = ""
    ) -> None:
        super().__init__(routes)
        self.problems = tuple(problems)
        self.instructions = instructions


def route_id(source: str, name: str, group: str = "") -> str:
    """``source/name``, or ``source/group/name``; a ``/`` inside a part is written ``%2F``."""
    return "/".join(part.replace("/", "%2F") for part in (source, group, name) if part)


def fingerprint(tool: object) -> str:
    """``sha256:`` over the canonical JSON of a whole tool; empty where it has none, such as with NaN."""
    try:
        return sha256(canonical(tool))
    except (ValueError, TypeError, RecursionError):
        return ""


def routes_of(
    source: str,
    kind: SourceKind,
    tools: Iterable[Any],
    *,
    bounds: Bounds = BOUNDS,
    fingerprints: Iterable[str] | None = None,
) -> Routes:
    """The routes of a source, in its order.

    The second of two tools of one name gets ``~2`` after its id, the third ``~3``; a name that is taken by
    another tool is passed over.

    Args:
        fingerprints: One a tool, where it is not that of the object itself.

    Raises:
        UsageError: The source has no name.
    """
    if not source.strip():
        raise UsageError("a source of tools needs a name")
    given = list(tools)
    prints = [None] * len(given) if fingerprints is None else list(fingerprints)
    found: list[Route] = []
    problems: list[Problem] = []
    for place, (tool, printed) in enumerate(zip(given, prints, strict=True), start=1):
        if not isinstance(tool, Mapping):
            problems.append(_problem(source, f"#{place}", "not_an_object"))
        elif not isinstance(tool.get("name"), str) or not tool["name"].strip():
            problems.append(_problem(source, f"#{place}", "no_name"))
        else:
            found.append(_route(source, kind, tool, bounds, printed))
    taken = {one.id for one in found}
    used: set[str] = set()
    for place, one in enumerate(found):
        if one.id in used:
            number = 2
            while f"{one.id}~{number}" in taken:
                number += 1
            fresh = f"{one.id}~{number}"
            taken.add(fresh)
            found[place] = one = one._replace(id=fresh, problems=(*one.problems, "duplicate_name"))
        used.add(one.id)
        problems += [_problem(source, one.id, code) for code in one.problems]
    return Routes(found, problems)


def _route(
    source: str, kind: SourceKind, tool: Mapping[str, Any], bounds: Bounds, printed: str | None
) -> Route:
    """One route; its name is known to be a text."""
    problems: list[str] = []
    extra = _mapping(tool.get("x-admit")) if kind != "mcp" else NOTHING
    claims = _mapping(tool.get("annotations"))
    group = _text(extra.get("group"))
    if any(not isinstance(tool.get(key), (str, type(None))) for key in _TEXT_KEYS):
        problems.append("text_invalid")
    whole = fingerprint(tool) if printed is None else printed
    if not whole:
        problems.append("no_fingerprint")
    given, results = _schema(tool, INPUT_KEYS, kind == "mcp"), _schema(tool, OUTPUT_KEYS, False)
    arguments, values = (), ()
    try:
        check(tool, bounds)
        arguments = params(given.read, bounds)
        values = fields(results.read, bounds)
    except (TooLarge, RecursionError):
        problems.append("schema_capped")  # where the results alone are too much, the arguments stay
    if given.invalid or results.invalid:
        problems.append("schema_invalid")
    located, sent = _mapping(extra.get("locations")), _mapping(extra.get("wire_names"))
    if located or sent:
        arguments = tuple(_placed(one, located.get(one.name), sent.get(one.name)) for one in arguments)
    return Route(
        route_id(source, tool["name"], group),
        source,
        kind,
        tool["name"],
        group,
        title=_text(tool.get("title")) or _text(claims.get("title")),
        aliases=_texts(extra.get("aliases")),
        description=_text(tool.get("description")),
        group_description=_text(extra.get("group_description")),
        params=arguments,
        outputs=values,
        input_schema=given.value,
        output_schema=results.value,
        read_only=_claim(claims, "readOnlyHint"),
        destructive=_claim(claims, "destructiveHint"),
        idempotent=_claim(claims, "idempotentHint"),
        requires=_texts(extra.get("requires")),
        fingerprint=whole,
        problems=tuple(problems),
        tool=tool,
    )


def _placed(param: Param, location: Any, wire_name: Any) -> Param:
    if isinstance(location, str) and location in _LOCATIONS:
        param = param._replace(location=cast("Location", location))
    return param._replace(wire_name=wire_name) if isinstance(wire_name, str) else param


class _Schema:
    """A schema of a tool: as it stands there, and what of it is read."""

    def __init__(self, value: Any, invalid: bool) -> None:
        self.value = value
        self.invalid = invalid
        self.read: Mapping[str, Any] = value if isinstance(value, Mapping) and not invalid else NOTHING


def _schema(tool: Mapping[str, Any], keys: tuple[str, ...], needed: bool) -> _Schema:
    key = next((one for one in keys if one in tool), None)
    if key is None:
        return _Schema(None, needed)
    value = tool[key]
    inner = value.get("properties", NOTHING) if isinstance(value, Mapping) else None
    return _Schema(value, not isinstance(inner, Mapping))


def _problem(source: str, tool: str, code: str) -> Problem:
    return Problem(source, tool, code, WHAT[code])


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else NOTHING


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, (list, tuple)) else ()


def _claim(claims: Mapping[str, Any], key: str) -> bool | None:
    value = claims.get(key)
    return value if isinstance(value, bool) else None
