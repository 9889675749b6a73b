"""Pydantic AI: the tools of a run's steps narrowed to those that its request needs.

`toolset` wraps a toolset and adds `find_tools`; `prepare` only narrows, for `PrepareTools` and `.prepared()`.
Definitions, arguments and approval are handed on untouched. Pydantic AI itself answers a call of a tool that
is not among a step's tools as unknown. Needs `admit[pydantic-ai]`.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

try:
    from pydantic_ai import RunContext, Tool, ToolReturn
    from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset
    from pydantic_ai.toolsets.abstract import ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ImportError as fault:
    raise ImportError(f"{__name__} needs pydantic-ai-slim: pip install 'admit[pydantic-ai]'") from fault

from admit.errors import UsageError

from ..gate import ToolGate
from ..route import Routes
from ..sources.json_list import from_json
from .narrowing import ABOUT, FIND_TOOLS, Asking, narrowed

MOST_RUNS = 256
"""Requests whose shortlist is kept; the one longest unused makes room, and would be asked anew."""
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
"""The arguments of `find_tools`."""
PrincipalOf = Callable[[RunContext[Any]], Any]
Prepare = Callable[[RunContext[Any], list[ToolDefinition]], Awaitable[list[ToolDefinition]]]


def routes_from_pydantic_ai(
    name: str, tools: FunctionToolset[Any] | Iterable[Tool[Any] | ToolDefinition]
) -> Routes:
    """The routes of tools as Pydantic AI describes them to a model, in their order, for `Catalog.add`.

    Raises:
        UsageError: The source has no name.
    """
    held = tools.tools.values() if isinstance(tools, FunctionToolset) else tools
    return from_json(name, [_definition(one.tool_def if isinstance(one, Tool) else one) for one in held])


class Shortlists:
    """The shortlist of each run's request: asked once, however many steps it takes."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], list[str] | None] = OrderedDict()

    async def ids(self, context: RunContext[Any]) -> list[str] | None:
        """What the run is shown at this step, with what `find_tools` has added since its request."""
        start, query = _request(context)
        key = (context.run_id or "", query)
        with self._lock:
            known = key in self._kept
            first = self._kept.get(key)
        if not known:
            first = await asyncio.to_thread(self.asking.ask, query, self.asking.principal(context))
        if context.run_id:
            with self._lock:
                self._kept[key] = first
                self._kept.move_to_end(key)
                while len(self._kept) > MOST_RUNS:
                    self._kept.popitem(last=False)
        return None if first is None else [*first, *_found(context, start)]


def prepare(
    gate: ToolGate, *, sources: Sequence[str] = (), principal_of: PrincipalOf | None = None
) -> Prepare:
    """A function for `PrepareTools` or `.prepared()` that keeps the definitions that the request is shown.

    Tools that the catalog does not know are always shown. It adds no `find_tools`, for such a function may
    add nothing; `toolset` does.

    Args:
        sources: Only these; empty is any.
        principal_of: From the run's context to whom the gate's `authorised` is asked about.
    """
    lists = Shortlists(Asking(gate, sources, principal_of))

    async def prepared(context: RunContext[Any], tools: list[ToolDefinition]) -> list[ToolDefinition]:
        ids = await lists.ids(context)
        return narrowed(gate, tools, ids, lambda one: one.name, lists.asking.principal(context))

    return prepared


@dataclass
class ShortlistToolset(WrapperToolset[Any]):  # a dataclass, for the library copies its wrappers as such
    """See `toolset`."""

    lists: Shortlists

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The inner toolset's tools that are shown, the very objects; `find_tools` where any is left out.

        Raises:
            UsageError: The inner toolset has a tool of this name.
        """
        inner = await super().get_tools(ctx)
        if FIND_TOOLS in inner:
            raise UsageError(f"the toolset has a tool {FIND_TOOLS} of its own; rename it with .renamed()")
        asking, ids = self.lists.asking, await self.lists.ids(ctx)
        kept = narrowed(asking.gate, list(inner), ids, str, asking.principal(ctx))
        tools = {name: inner[name] for name in kept}
        if len(kept) == len(inner):
            return tools
        return {FIND_TOOLS: _find_tool(self), **tools}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run `find_tools`; every other call goes to the inner toolset as it is."""
        if name != FIND_TOOLS:
            return await super().call_tool(name, tool_args, ctx, tool)
        names = list(await super().get_tools(ctx))
        asking, exposed = self.lists.asking, await self.lists.ids(ctx)
        text, ids = await asyncio.to_thread(
            asking.search, tool_args["query"], exposed or (), names, asking.principal(ctx)
        )
        return ToolReturn(text, metadata={FIND_TOOLS: ids})


def toolset(
    gate: ToolGate,
    inner: AbstractToolset[Any],
    *,
    sources: Sequence[str] = (),
    principal_of: PrincipalOf | None = None,
) -> ShortlistToolset:
    """A toolset of those of the inner one's tools that the request is shown, and `find_tools` for more.

    Tools that the catalog does not know are always shown; the model sees `find_tools` while any is left out.

    Args:
        sources: Only these; empty is any.
        principal_of: From the run's context to whom the gate's `authorised` is asked about.
    """
    return ShortlistToolset(inner, Shortlists(Asking(gate, sources, principal_of)))


def _find_tool(owner: AbstractToolset[Any]) -> ToolsetTool[Any]:
    query = core_schema.typed_dict_field(core_schema.str_schema())
    return ToolsetTool(
        toolset=owner,
        tool_def=ToolDefinition(name=FIND_TOOLS, parameters_json_schema=QUERY, description=ABOUT),
        max_retries=1,
        args_validator=SchemaValidator(core_schema.typed_dict_schema({"query": query})),
    )


def _definition(tool: ToolDefinition) -> dict[str, Any]:
    found: dict[str, Any] = {"name": tool.name, "parameters": tool.parameters_json_schema}
    if tool.description:
        found["description"] = tool.description
    if tool.return_schema is not None:
        found["outputSchema"] = tool.return_schema
    claims = (tool.metadata or {}).get("annotations")
    if isinstance(claims, Mapping):
        found["annotations"] = claims
    return found


def _request(context: RunContext[Any]) -> tuple[int, str]:
    """The last thing the user asked, and where it stands in the messages.

    What a tool returns beside its answer is written as the user's too, and stands beside that answer.
    """
    for place in range(len(context.messages) - 1, -1, -1):
        message = context.messages[place]
        if isinstance(message, ModelRequest) and not any(
            isinstance(one, ToolReturnPart) for one in message.parts
        ):
            texts = [_text(one.content) for one in message.parts if isinstance(one, UserPromptPart)]
            if texts:
                return place, "\n".join(texts)
    return 0, _text(context.prompt)


def _text(content: Any) -> str:
    """The words of a prompt, without its images and files."""
    if isinstance(content, str):
        return content
    parts = [one if isinstance(one, str) else getattr(one, "content", None) for one in content or ()]
    return "\n".join(one for one in parts if isinstance(one, str))


def _found(context: RunContext[Any], start: int) -> list[str]:
    """Ids that `find_tools` has added since the request."""
    parts = [part for message in context.messages[start:] for part in message.parts]
    held = [one.metadata for one in parts if isinstance(one, ToolReturnPart) and one.tool_name == FIND_TOOLS]
    lists = [one.get(FIND_TOOLS) for one in held if isinstance(one, Mapping)]
    return [id for ids in lists if isinstance(ids, (list, tuple)) for id in ids if isinstance(id, str)]
