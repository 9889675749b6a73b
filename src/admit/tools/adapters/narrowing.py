"""What every adapter does: ask the gate once a request, and keep those of the host's tools that it shows.

Exposure alone: tool objects are handed on as they are, nothing is run, and a tool that is left out stays
where the host keeps it. Relevance fails open, to the tools as they were; what the agent may not know of (off,
not authorised, not approved) is left out all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from admit.text.plain import one_line

from ..exact import spelling, spellings
from ..filters import apply
from ..gate import ToolGate
from ..model import HIDDEN
from ..snapshot import Snapshot

Tool = TypeVar("Tool")

FIND_TOOLS = "find_tools"
ABOUT = (
    "Find more tools. Only the tools that fit the request best are shown; where none of them does what is "
    "needed, say here in a few words what it should do, or name it."
)
"""What the model reads of `find_tools`."""
FAILED = "The search failed; the tools are as they were."
FAULT = "fault:adapter"
"""Under which a gate's `totals` count finds that failed in an adapter."""


class Asking(NamedTuple):
    """Who asks, and for what.

    Attributes:
        sources: Only these; empty is any.
        principal_of: From the host's context of a run to whom the gate's `authorised` is asked about; what it
            raises ends the run. None is nobody in particular.
    """

    gate: ToolGate
    sources: Sequence[str] = ()
    principal_of: Callable[[Any], Any] | None = None

    def principal(self, context: Any) -> Any:
        """Whom a run is for."""
        return None if self.principal_of is None else self.principal_of(context)

    def ask(self, query: str, principal: Any) -> list[str] | None:
        """Ids that a request is shown, best first; None, to leave the tools as they were.

        That is where the request has no text, or the find fails, which is counted.
        """
        if not query.strip():
            return None
        try:
            found = self.gate.find(query, sources=self.sources, principal=principal)
        except Exception:  # relevance fails open
            self.gate.totals[FAULT] += 1
            return None
        return [route.id for route in found.routes]

    def search(
        self, query: str, exposed: Collection[str], names: Iterable[str], principal: Any
    ) -> tuple[str, list[str]]:
        """What `find_tools` answers, and the ids that it adds.

        Args:
            exposed: Ids that the agent has.
            names: Of all tools that the host holds; others are not spoken of as available.
        """
        try:
            found = self.gate.find(query, sources=self.sources, principal=principal, exposed=exposed)
        except Exception:
            self.gate.totals[FAULT] += 1
            return FAILED, []
        ids = [route.id for route in found.routes]
        held = narrowed(self.gate, list(names), ids, str, principal, always=False)
        said = f"Now available: {', '.join(map(one_line, held))}." if held else ""
        return " ".join(part for part in (said, found.text) if part), ids


def narrowed(
    gate: ToolGate,
    tools: Sequence[Tool],
    ids: Iterable[str] | None,
    name: Callable[[Tool], str],
    principal: Any = None,
    *,
    always: bool = True,
) -> list[Tool]:
    """Those of the host's tools that are shown, the very objects.

    Tools that the catalog does not know come first, in the host's order, for nothing is known against them;
    then those shown, in the order of an export. So the same tools are the same bytes each time.

    Args:
        ids: What is shown, best first; None is all that the agent may know of, in the host's order.
        name: The name of one of the host's tools.
        always: Whether tools that the catalog does not know are in.
    """
    snapshot = gate.catalog.snapshot()
    known = [(tool, routes_named(snapshot, name(tool))) for tool in tools]
    hidden = _hidden(gate, snapshot, principal)
    if ids is None:
        return [tool for tool, routes in known if not routes or not hidden.issuperset(routes)]
    chosen = [one for one in dict.fromkeys(ids) if one not in hidden]
    if gate.policy.order_out != "rank":
        chosen.sort()
    place = {one: k for k, one in enumerate(chosen)}
    shown = [(min(place[one] for one in routes if one in place), tool) for tool, routes in known
             if any(one in place for one in routes)]  # fmt: skip
    first = [tool for tool, routes in known if always and not routes]
    return first + [tool for _, tool in sorted(shown, key=lambda pair: pair[0])]


def routes_named(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """Ids of the routes that a host's name means, sorted; several where sources share it, none where no route
    has it.

    A route's name as it is written wins over other spellings of it and over those with its source before it,
    such as ``source_name`` or ``mcp__source__name``.
    """
    names = snapshot.memo.get(FIND_TOOLS)
    if names is None:
        names = snapshot.memo[FIND_TOOLS] = _names(snapshot)
    written, spelled = names
    return written.get(name) or spelled.get(spelling(name), ())


def _names(snapshot: Snapshot) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    written: dict[str, tuple[str, ...]] = {}
    spelled: dict[str, tuple[str, ...]] = {}
    for route in snapshot.routes.values():
        written[route.name] = (*written.get(route.name, ()), route.id)
        for one, complete in spellings(route).items():
            if complete:
                spelled[one] = (*spelled.get(one, ()), route.id)
    return written, spelled


def _hidden(gate: ToolGate, snapshot: Snapshot, principal: Any) -> frozenset[str]:
    """Ids of the routes that the agent may not know of, asked anew each time: authority fails closed."""
    found = apply(snapshot, gate.filters._replace(principal=principal))
    return frozenset(one.route_id for one in found.excluded if one.reason in HIDDEN)
