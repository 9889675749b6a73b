"""Python callables: the signature and its type hints as JSON Schema, the docstring as text.

Understood are the plain types, ``Annotated[..., "text"]``, ``Literal``, unions, enums, containers,
dataclasses, typed dictionaries, named tuples and pydantic models; anything else may be any value. Nothing is
called.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from math import isfinite
from typing import Any, get_type_hints

from admit.errors import SourceError, UsageError

from ..route import Routes, routes_of
from ..schema import BOUNDS, Bounds
from .hints import Hints

_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def from_python(name: str, *functions: Callable[..., Any], bounds: Bounds = BOUNDS) -> Routes:
    """The routes of functions, in the order given; each one's group is its module.

    Raises:
        UsageError: One is no function with a name, or takes ``*args`` or ``**kwargs``.
    """
    return routes_of(name, "python", [tool_of(one) for one in functions], bounds=bounds)


def find(name: str, place: str) -> tuple[Callable[..., Any], ...]:
    """The functions at ``module:name``: one, or a list of them. The module is imported, so its code runs.

    Raises:
        SourceError: There is no such module or name, or it is no function.
    """
    from importlib import import_module

    module, _, word = place.partition(":")
    try:
        found: Any = import_module(module)
        for part in word.split(".") if word else ():
            found = getattr(found, part)
    except Exception as fault:  # a module may raise anything
        raise SourceError(name, f"{place} cannot be loaded: {fault}") from None
    every = tuple(found) if isinstance(found, (list, tuple)) else (found,)
    if not word or not all(callable(one) for one in every):
        raise SourceError(name, f"{place} is no function; name one as module:function")
    return every


def tool_of(function: Callable[..., Any]) -> dict[str, Any]:
    """A function as a tool object of MCP's shape, with the rest under ``x-admit``.

    Raises:
        UsageError: It is no function with a name, or takes ``*args`` or ``**kwargs``.
    """
    inner = function.func if isinstance(function, partial) else function
    named = inner if hasattr(inner, "__name__") else type(inner)
    name = getattr(named, "__name__", "")
    if not callable(function) or not name.isidentifier():
        raise UsageError(f"{function!r} is no function with a name; write it with def")
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        raise UsageError(f"{name} has no signature that can be read; wrap it in a function") from None
    odd = [f"{_STARS[one.kind]}{one.name}" for one in signature.parameters.values() if one.kind in _STARS]
    if odd:
        raise UsageError(f"{name} takes {', '.join(odd)}, which no schema can say; name its arguments")
    hints = _hints(inner if hasattr(inner, "__name__") else type(inner).__call__)
    text = inspect.getdoc(inner) or ""
    about = argument_texts(text)
    schemas = Hints()
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in signature.parameters.values():
        schema = schemas.of(hints.get(one.name, Any))
        if one.name in about and "description" not in schema:
            schema = {**schema, "description": about[one.name]}
        if one.default is inspect.Parameter.empty:
            required.append(one.name)
        elif _is_json(one.default):
            schema = {**schema, "default": one.default}
        properties[one.name] = schema
    tool: dict[str, Any] = {"name": name}
    if first := first_paragraph(text):
        tool["description"] = first
    given: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        given["required"] = required
    tool["inputSchema"] = schemas.closed(given)
    if hints.get("return", None) not in (None, type(None), Any):
        results = Hints()
        tool["outputSchema"] = results.closed(results.of(hints["return"]))
    module = getattr(named, "__module__", "") or ""
    whole = getattr(named, "__qualname__", name).replace(".<locals>", "")
    extra = {"group": module, "aliases": [whole] if whole != name else []}
    tool["x-admit"] = {key: value for key, value in extra.items() if value}
    return tool


def _is_json(value: Any) -> bool:
    return isinstance(value, (str, int, bool, type(None))) or (isinstance(value, float) and isfinite(value))


def _hints(function: Any) -> Mapping[str, Any]:
    """The type hints of a function; those that cannot be found out are left out."""
    inner = inspect.unwrap(function)
    try:
        return get_type_hints(inner, include_extras=True)
    except Exception:  # a hint is code, and may fail in any way
        held = getattr(inner, "__annotations__", {})
        return {name: hint for name, hint in held.items() if not isinstance(hint, str)}


def first_paragraph(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    lines: list[str] = []
    for line in text.strip().split("\n"):
        if not line.strip() or line.strip().startswith(":param"):
            break
        lines.append(line.strip())
    return " ".join(lines)


def argument_texts(text: str) -> dict[str, str]:
    """What a docstring says of each argument: in the style of Google, NumPy or Sphinx."""
    found: dict[str, list[str]] = {}
    name, inside, base = "", "", 0
    lines = text.split("\n")
    for place, line in enumerate(lines):
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if match := _sphinx().match(bare):
            name, inside, base = match[1], "sphinx", indent
            found[name] = [match[2]]
        elif bare in ("Args:", "Arguments:", "Parameters:"):
            name, inside, base = "", "google", indent
        elif bare == "Parameters" and _is_rule(lines, place + 1):
            name, inside, base = "", "numpy", indent
        elif inside == "numpy" and _is_rule(lines, place):
            continue
        elif inside and bare and indent <= base and (inside != "numpy" or _is_rule(lines, place + 1)):
            inside = ""
        elif inside == "google" and (match := _google().match(bare)) and _opens(lines, place, base):
            name = match[1]
            found[name] = [match[2]]
        elif inside == "numpy" and indent == base and bare:
            name = bare.partition(":")[0].strip()
            found[name] = []
        elif inside and name and bare:
            found[name].append(bare)
        elif inside and not bare and inside == "sphinx":
            inside = ""
    return {name: " ".join(words).strip() for name, words in found.items() if any(words)}


def _opens(lines: list[str], place: int, base: int) -> bool:
    """Whether a line of a section is indented as its first one is: others go on with what came before."""
    indent = len(lines[place]) - len(lines[place].lstrip())
    above = place - 1
    while above >= 0:
        line = lines[above]
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= base:
            break
        if line.strip() and depth < indent:
            return False
        above -= 1
    return True


def _is_rule(lines: list[str], place: int) -> bool:
    line = lines[place].strip() if place < len(lines) else ""
    return len(line) >= 3 and set(line) == {"-"}


@lru_cache(maxsize=1)
def _google() -> re.Pattern[str]:
    return re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@lru_cache(maxsize=1)
def _sphinx() -> re.Pattern[str]:
    return re.compile(r":param(?:\s+[^:]*?)?\s+(\w+)\s*:\s*(.*)")
