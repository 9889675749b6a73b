"""LangChain and LangGraph: the tools of a model call narrowed to those that the request needs.

`middleware` is for `create_agent`; a graph of one's own has `node`, `shown` and `find_tools`. The shortlist
of a request is in the graph's state and what `find_tools` adds is in its messages, so both are checkpointed.
The tool node keeps every tool: a call of one that is not shown runs as before, and approval stays with the
host. Needs `admit[langchain]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NotRequired

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain.tools import ToolRuntime
    from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage, convert_to_messages
    from langchain_core.tools import BaseTool, StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.runtime import Runtime
except ImportError as fault:
    raise ImportError(f"{__name__} needs langchain and langgraph: pip install 'admit[langchain]'") from fault

from admit.errors import UsageError

from ..gate import ToolGate
from ..route import Routes
from ..sources.json_list import from_json
from .narrowing import ABOUT, FIND_TOOLS, Asking, narrowed

HostTool = Any
"""What LangChain takes as a tool: a `BaseTool`, a function, or a vendor's definition."""
PrincipalOf = Callable[[Any], Any]

STATE = "admit_shortlist"
"""The key of the graph's state that holds the ids shown; None or nothing leaves the tools as they were."""
_CLAIMS = ("readOnlyHint", "destructiveHint", "idempotentHint")


class ShortlistState(AgentState):
    """Messages and the shortlist of the last request, for a graph of one's own to build its state on."""

    admit_shortlist: NotRequired[Annotated[list[str] | None, PrivateStateAttr]]


def routes_from_langchain(name: str, tools: Iterable[HostTool]) -> Routes:
    """The routes of tools as LangChain describes them to a model, in their order, for `Catalog.add`.

    A tool whose arguments have no JSON Schema is found by its name and description alone.

    Raises:
        UsageError: The source has no name.
    """
    return from_json(name, [_definition(tool) for tool in tools])


def shortlist(
    gate: ToolGate,
    tools: Sequence[HostTool],
    query: str,
    *,
    sources: Sequence[str] = (),
    principal: Any = None,
) -> list[HostTool]:
    """The tools that a request is shown: the very objects, in the order of an export.

    Those that the catalog does not know come first. Where the find fails, all stay as they were.

    Raises:
        UsageError: The request is no text.
    """
    if not isinstance(query, str):
        raise UsageError("the request must be text")
    ids = Asking(gate, sources).ask(query, principal)
    return narrowed(gate, tools, ids, tool_name, principal)


def node(
    gate: ToolGate, *, sources: Sequence[str] = (), principal_of: PrincipalOf | None = None
) -> Callable[..., dict[str, Any]]:
    """A node of a graph, before that of the model: it writes what the last human message is shown.

    The state needs `messages` and, as in `ShortlistState`, `admit_shortlist`; `shown` reads them.

    Args:
        sources: Only these; empty is any.
        principal_of: From the graph's `Runtime` to whom the gate's `authorised` is asked about.
    """
    asking = Asking(gate, sources, principal_of)

    def admit_shortlist(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        return {STATE: asking.ask(_request(_messages(state)), asking.principal(runtime))}

    return admit_shortlist


def shown(
    gate: ToolGate, tools: Sequence[HostTool], state: Any, *, principal: Any = None, tool_choice: Any = None
) -> list[HostTool]:
    """The tools to bind for a model call: those of the state's shortlist, and those found since.

    Where nothing is left out, `find_tools` is, if it is among them: there is nothing to find.

    Args:
        tool_choice: What the call forces stays in.
    """
    messages = _messages(state)
    ids = _ids(state, messages)
    kept = narrowed(gate, tools, ids, tool_name, principal)
    if len(kept) == len(tools):
        return [tool for tool in kept if tool_name(tool) != FIND_TOOLS]
    forced = _forced(tool_choice)
    names = {tool_name(tool) for tool in kept}
    return kept + [tool for tool in tools if tool_name(tool) == forced and forced not in names]


def find_tools(
    gate: ToolGate, *, sources: Sequence[str] = (), principal_of: PrincipalOf | None = None
) -> BaseTool:
    """The tool by which an agent asks for more tools; what it finds is shown until the next human message.

    Args:
        sources: Only these; empty is any.
        principal_of: From the tool's `ToolRuntime` to whom the gate's `authorised` is asked about.
    """
    asking = Asking(gate, sources, principal_of)

    def find(query: str, runtime: ToolRuntime[Any, Any]) -> tuple[str, list[str]]:
        exposed = _ids(runtime.state, _messages(runtime.state)) or ()
        names = [tool.name for tool in runtime.tools]
        return asking.search(query, exposed, names, asking.principal(runtime))

    async def afind(query: str, runtime: ToolRuntime[Any, Any]) -> tuple[str, list[str]]:
        return await asyncio.to_thread(find, query, runtime)

    return StructuredTool.from_function(
        find, afind, name=FIND_TOOLS, description=ABOUT, response_format="content_and_artifact"
    )


class ShortlistMiddleware(AgentMiddleware[Any, Any, Any]):
    """See `middleware`."""

    state_schema = ShortlistState

    def __init__(self, asking: Asking) -> None:
        super().__init__()
        self._asking = asking
        self._node = node(asking.gate, sources=asking.sources, principal_of=asking.principal_of)
        self.tools = [find_tools(asking.gate, sources=asking.sources, principal_of=asking.principal_of)]

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Ask once a request, however many model calls it takes."""
        return self._node(state, runtime)

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """The same in a worker thread."""
        return await asyncio.to_thread(self._node, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Narrow the tools of one model call."""
        return handler(self._narrowed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Narrow the tools of one model call."""
        return await handler(self._narrowed(request))

    def _narrowed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        asking = self._asking
        principal = asking.principal(request.runtime)
        tools = shown(
            asking.gate, request.tools, request.state, principal=principal, tool_choice=request.tool_choice
        )
        return request.override(tools=tools)


def middleware(
    gate: ToolGate, *, sources: Sequence[str] = (), principal_of: PrincipalOf | None = None
) -> ShortlistMiddleware:
    """Middleware for `create_agent`: each model call sees the tools that the last human message needs.

    It adds `find_tools`, which the model sees while anything is left out. Tools that the catalog does not
    know, such as those of other middleware, are always shown.

    Args:
        sources: Only these; empty is any.
        principal_of: From the run's `Runtime`, in `find_tools` its `ToolRuntime`, to whom the gate's
            `authorised` is asked about; both have `context`.
    """
    return ShortlistMiddleware(Asking(gate, sources, principal_of))


def tool_name(tool: HostTool) -> str:
    """The name of a tool; empty where it has none."""
    if isinstance(tool, Mapping):
        inner = tool.get("function")
        named = tool.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)
    else:
        named = getattr(tool, "name", None) or getattr(tool, "__name__", None)
    return named if isinstance(named, str) else ""


def _definition(tool: HostTool) -> Any:
    """A tool as the model would be told of it, with what its metadata claims of it."""
    if isinstance(tool, Mapping):
        return tool
    try:
        found = convert_to_openai_tool(tool)["function"]
    except Exception:  # arguments may be of types that no schema can say
        found = {"name": tool_name(tool), "description": getattr(tool, "description", "") or ""}
    metadata = getattr(tool, "metadata", None)
    held = metadata if isinstance(metadata, Mapping) else {}
    claims = {key: held[key] for key in _CLAIMS if key in held}
    return {**found, "annotations": claims} if claims else found


def _messages(state: Any) -> list[BaseMessage]:
    held = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    return convert_to_messages(held or [])


def _request(messages: Sequence[BaseMessage]) -> str:
    """The text of the last human message; empty where there is none."""
    return next((str(one.text) for one in reversed(messages) if isinstance(one, HumanMessage)), "")


def _ids(state: Any, messages: Sequence[BaseMessage]) -> list[str] | None:
    """What is shown, and then what `find_tools` has added since the last human message."""
    first = state.get(STATE) if isinstance(state, Mapping) else getattr(state, STATE, None)
    if first is None:
        return None
    start = max((k for k, one in enumerate(messages) if isinstance(one, HumanMessage)), default=0)
    found = [
        one.artifact for one in messages[start:] if isinstance(one, ToolMessage) and one.name == FIND_TOOLS
    ]
    added = [id for ids in found if isinstance(ids, (list, tuple)) for id in ids if isinstance(id, str)]
    return [*first, *added]


def _forced(tool_choice: Any) -> str | None:
    """The tool that a call forces, where it names one."""
    return (tool_name(tool_choice) if isinstance(tool_choice, Mapping) else tool_choice) or None
