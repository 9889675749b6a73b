"""JSON lists of tools, in the shapes that the vendors' programs take; the shape is told item by item.

OpenAI's for chat completions (``{"type": "function", "function": {...}}``) and for responses
(``{"type": "function", "name", "parameters"}``), Anthropic's (``input_schema``), MCP's (``inputSchema``), and
``{"tools": [...]}`` around any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from admit.core.events import parse
from admit.errors import SourceError

from ..route import Routes, fingerprint, routes_of
from ..schema import BOUNDS, Bounds


def from_json(name: str, tools: Any, *, bounds: Bounds = BOUNDS) -> Routes:
    """The routes of a list of tools, in its order.

    Args:
        name: The source's name.
        tools: A list, what holds one under ``tools``, one tool, or the JSON text of any of them.

    Raises:
        SourceError: It is no JSON, or holds no list of tools.
    """
    if isinstance(tools, (str, bytes)):
        try:
            tools = parse(tools)
        except ValueError as fault:
            raise SourceError(name, f"is not JSON: {fault}") from None
    items = _items(tools)
    if items is None:
        raise SourceError(name, "holds no list of tools: a JSON list, or an object with `tools`, is needed")
    given = [_unwrapped(one) for one in items]
    return routes_of(name, "json", given, bounds=bounds, fingerprints=[fingerprint(one) for one in items])


def _items(tools: Any) -> Sequence[Any] | None:
    """The tools; a page of MCP's and a whole answer of its protocol hold them too."""
    if isinstance(tools, Mapping):
        for key in ("result", "tools"):
            if isinstance(tools.get(key), (Mapping, list, tuple)):
                return _items(tools[key])
        return [tools] if "name" in tools or "function" in tools else None
    return tools if isinstance(tools, (list, tuple)) else None


def _unwrapped(item: Any) -> Any:
    """The tool inside the wrapper of OpenAI's chat completions."""
    inner = item.get("function") if isinstance(item, Mapping) else None
    return inner if isinstance(inner, Mapping) and "name" not in item else item
