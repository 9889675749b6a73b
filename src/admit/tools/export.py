"""A shortlist as the tool definitions that the vendors' programs take, its schemas as they were received.

Tools stand in the order of ids and carry neither rank nor score, so that one set of tools is the same bytes
each time and a cache of prompts holds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from admit.errors import UsageError

from .model import Route, Shortlist
from .names import exported_names

Order = Literal["id", "rank"]
Shown = Shortlist | Iterable[Route]

EMPTY: Mapping[str, Any] = {"type": "object", "properties": {}}
"""What stands for the schema of a tool that has none, or none that is an object."""
_OURS = ("x-admit",)


class Export(NamedTuple):
    """Definitions to send, and the route that each of their names means.

    Attributes:
        names: Route id by exported name.
    """

    tools: list[dict[str, Any]]
    names: dict[str, str]


def to_openai(
    shown: Shown, api: Literal["responses", "chat"] = "responses", *, order: Order = "id"
) -> Export:
    """OpenAI's definitions, for responses or for chat completions; never in strict mode, which rewrites
    schemas.

    Raises:
        UsageError: There is no such `api` or `order`.
    """
    if api not in ("responses", "chat"):
        raise UsageError(f"there is no api {api!r}; choose responses or chat")
    return _export(shown, _openai_chat if api == "chat" else _openai_responses, order)


def to_anthropic(shown: Shown, *, order: Order = "id") -> Export:
    """Anthropic's definitions; none carries `defer_loading` or `cache_control`.

    Raises:
        UsageError: There is no such `order`.
    """
    return _export(shown, _anthropic, order)


def to_mcp(shown: Shown, *, order: Order = "id") -> Export:
    """MCP's tool objects: of an MCP server's the whole object as received, but for the name.

    Raises:
        UsageError: There is no such `order`.
    """
    return _export(shown, _mcp, order)


EXPORTERS: Mapping[str, Callable[..., Export]] = {
    "openai": to_openai,
    "openai-chat": partial(to_openai, api="chat"),
    "anthropic": to_anthropic,
    "mcp": to_mcp,
}
"""By the word that `admit tools find --as` takes."""


def wire(tools: list[dict[str, Any]]) -> str:
    """The compact JSON of definitions, as it is sent."""
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":"), default=dict)


def _export(shown: Shown, one: Callable[[Route, str], dict[str, Any]], order: Order) -> Export:
    if order not in ("id", "rank"):
        raise UsageError(f"there is no order {order!r}; choose id or rank")
    routes = list(shown.routes if isinstance(shown, Shortlist) else shown)
    if order == "id":
        routes.sort(key=lambda route: route.id)
    names = exported_names(routes)
    tools = [one(route, names[route.id]) for route in routes]
    return Export(tools, {names[route.id]: route.id for route in routes})


def _openai_responses(route: Route, name: str) -> dict[str, Any]:
    return {"type": "function", **_function(route, name), "strict": False}


def _openai_chat(route: Route, name: str) -> dict[str, Any]:
    return {"type": "function", "function": _function(route, name)}


def _function(route: Route, name: str) -> dict[str, Any]:
    return {**_described(route, name), "parameters": _input(route)}


def _anthropic(route: Route, name: str) -> dict[str, Any]:
    return {**_described(route, name), "input_schema": _input(route)}


def _mcp(route: Route, name: str) -> dict[str, Any]:
    if "inputSchema" in route.tool:
        whole = {key: value for key, value in route.tool.items() if key not in _OURS}
        return {**whole, "name": name, "inputSchema": _input(route)}
    results = {} if not isinstance(route.output_schema, Mapping) else {"outputSchema": route.output_schema}
    return {**_described(route, name), "inputSchema": _input(route), **results}


def _described(route: Route, name: str) -> dict[str, Any]:
    return {"name": name, **({"description": route.description} if route.description else {})}


def _input(route: Route) -> Any:
    return route.input_schema if isinstance(route.input_schema, Mapping) else dict(EMPTY)
