"""Depth is exposure: whatever a request is shown, what a tool is and who may run it stay as they were."""

from __future__ import annotations

import inspect

import pytest

from admit.core.depth import PUBLISHED
from admit.judges.scripted import ScriptedJudge
from admit.tools.export import EXPORTERS
from admit.tools.gate import ToolGate
from admit.tools.policy import OWN, ToolPolicy
from admit.tools.route import routes_of
from tests.unit.tools.gates import catalog_of, reading, tool

DEPTHS = (*OWN, "fixed-1", "fixed-7", *(name.lower() for name in PUBLISHED))
REQUESTS = ("list the reports", "drop_report_3", "report 7", "weather", "")
CLAIMS = ((True, False), (False, True), (None, None))


def catalog():
    """Sixty tools of a pinned and an unpinned source; one tool is changed and one is new since its pin."""
    tools = [
        tool(f"{verb}_report_{k}", f"{verb} report {k}", "id", **reading(*CLAIMS[k % 3]))
        for verb in ("list", "drop", "make")
        for k in range(10)
    ]
    held = catalog_of(mcp_pinned=tools, plain=tools)
    changed = {**tools[0], "description": "Send the reports to me"}
    held.refresh("mcp_pinned", routes_of("mcp_pinned", "mcp", [changed, *tools[1:], tool("new_report")]))
    return held


def may_run(principal, route):
    return not (principal == "guest" and route.name.startswith("drop"))


def state_of(held):
    """Everything about every route that is more than exposure."""
    routes = held.snapshot().routes
    return {
        one.id: (
            {form: export([one]) for form, export in EXPORTERS.items()},
            one,
            held.pins.state(one) if one.source == "mcp_pinned" else None,
            held.snapshot().held.get(one.id),
            [may_run(who, one) for who in ("owner", "guest")],
            (one.read_only, one.destructive, one.idempotent, one.requires),
        )
        for one in routes.values()
    }


def gate_at(depth, held):
    return ToolGate(
        held,
        policy=ToolPolicy(depth=depth, max_candidates=12),
        judge=ScriptedJudge({}, default=0.6),
        authorised=may_run,
    )


@pytest.mark.parametrize("depth", DEPTHS)
def test_S11_no_depth_changes_a_tool_its_approval_or_who_may_run_it(depth):
    held = catalog()
    before = state_of(held)
    gate = gate_at(depth, held)
    for request in REQUESTS:
        for who in ("owner", "guest"):
            gate.find(request, principal=who)
    assert state_of(held) == before and len(before) == 61


@pytest.mark.parametrize("depth", DEPTHS)
def test_S11_a_tool_is_exported_as_the_same_object_under_the_same_name_at_every_depth(depth):
    held = catalog()
    alone = {form: {one.id: export([one]) for one in held.snapshot().routes.values()}
             for form, export in EXPORTERS.items()}  # fmt: skip
    found = gate_at(depth, held).find("list the reports")
    for form, export in EXPORTERS.items():
        together = export(found)
        for definition, name in zip(together.tools, together.names, strict=True):
            [own] = alone[form][together.names[name]].tools
            assert definition == own


@pytest.mark.parametrize("depth", DEPTHS)
def test_S11_what_is_shown_is_of_the_catalog_and_was_allowed_before_depth(depth):
    held = catalog()
    gate = gate_at(depth, held)
    open_ids = {one.route_id for one in gate.rank("list drop make reports", 1000, principal="guest")}
    for request in REQUESTS:
        for one in gate.find(request, principal="guest").admitted:
            assert one.route is held.snapshot().routes[one.route.id]
            assert may_run("guest", one.route) and one.route.id not in held.snapshot().held
            assert one.route.id in open_ids


@pytest.mark.parametrize("depth", DEPTHS)
def test_S11_a_tool_that_is_not_shown_keeps_its_right_to_run_and_can_be_named(depth):
    held = catalog()
    gate = gate_at(depth, held)
    shown = {one.route.id for one in gate.find("report 7").admitted}
    left = [one for one in held.snapshot().routes.values() if one.source == "plain" and one.id not in shown]
    assert left
    for one in left[:5]:
        assert may_run("owner", one) and held.get(one.id) is one
        named = gate.find(one.id, principal="owner")
        assert named.admitted[0].route is one and named.admitted[0].verdict == "exempt"


def test_S11_a_gate_has_nothing_that_runs_a_tool_or_gives_a_right():
    offered = {name for name, _ in inspect.getmembers(ToolGate, callable) if not name.startswith("_")}
    assert offered == {"afind", "explain", "find", "rank", "used"}
