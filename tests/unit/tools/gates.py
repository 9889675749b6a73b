"""Small catalogs, and gates over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from admit.core.question import Question
from admit.judges.scripted import ScriptedJudge
from admit.tools.catalog import Catalog
from admit.tools.gate import ToolGate
from admit.tools.policy import ToolPolicy
from admit.tools.route import routes_of
from admit.tools.sources.json_list import from_json


def tool(name: str, description: str = "", *arguments: str, **more: Any) -> dict[str, Any]:
    """A tool object of MCP's shape."""
    properties = {one: {"type": "string"} for one in arguments}
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties},
        **more,
    }


def reading(read_only: bool | None, destructive: bool | None = None) -> dict[str, Any]:
    """What a tool claims of itself, as a member of it."""
    claims = {"readOnlyHint": read_only, "destructiveHint": destructive}
    return {"annotations": {key: value for key, value in claims.items() if value is not None}}


def catalog_of(**sources: list[dict[str, Any]]) -> Catalog:
    """A catalog of JSON lists by source; what holds only what was approved begins with ``mcp_``."""
    catalog = Catalog()
    for name, tools in sources.items():
        if name.startswith("mcp_"):
            catalog.add(routes_of(name, "mcp", tools))
        else:
            catalog.add(from_json(name, tools))
    return catalog


def gate_of(*tools: dict[str, Any], policy: dict[str, Any] | None = None, **options: Any) -> ToolGate:
    """A gate over one source, ``app``; `policy` holds values in place of the defaults."""
    catalog = options.pop("catalog", None) or catalog_of(app=list(tools))
    return ToolGate(catalog, policy=ToolPolicy(**(policy or {})), **options)


def ids(found: Any) -> list[str]:
    """The ids shown, in order, without the source ``app``."""
    return [one.route.id.removeprefix("app/") for one in found.admitted]


def left_out(found: Any) -> dict[str, str]:
    """The reason by id of what was left out."""
    return {one.route_id.removeprefix("app/"): one.reason for one in found.excluded}


def judged_by(p: dict[str, Any] | Callable[[Question], Any], **options: Any) -> ScriptedJudge:
    """A judge that gives each tool a probability, by the name in what it reads."""
    if callable(p):
        return ScriptedJudge(p, **options)

    def answer(question: Question) -> Any:
        return next((value for name, value in p.items() if f'"name": "{name}"' in question.subject), None)

    return ScriptedJudge(answer, **options)
