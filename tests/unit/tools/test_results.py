"""What is said of a choice: outcomes, reasons, what was passed over, filling up."""

from __future__ import annotations

import pytest
from tests.unit.tools.gates import catalog_of, gate_of, ids, left_out, tool

from admit.tools import results
from admit.tools.filters import Filtered, Filters, Globs, apply
from admit.tools.model import Ranked
from admit.tools.policy import ToolPolicy
from admit.tools.rank import Order


def test_a_server_with_no_tool_that_may_be_known_of_is_not_named():
    snapshot = catalog_of(a=[tool("one")], b=[tool("two"), tool("three")], c=[tool("four")]).snapshot()
    filtered = apply(snapshot, Filters({"a": Globs(disabled=True), "b": Globs(deny=("two",))}))
    assert results.open_sources(snapshot, filtered) == ["b", "c"]


def test_filling_up_adds_what_nothing_matched_by_id_and_nothing_that_is_filtered():
    snapshot = catalog_of(a=[tool("one"), tool("three"), tool("two")]).snapshot()
    order = Order([Ranked("a/two", 1, 2.0)], 1, 0)
    assert [one.route_id for one in results.padded(order, snapshot, None).ranked] == [
        "a/two",
        "a/one",
        "a/three",
    ]
    left = frozenset(("a/one", "a/two"))
    padded = results.padded(order, snapshot, left).ranked
    assert [(one.route_id, one.rank, one.score) for one in padded] == [("a/two", 1, 2.0), ("a/one", 2, 0.0)]


@pytest.mark.parametrize(
    ("depth", "reason"), [("budget", "budget"), ("fixed-3", "depth"), ("cover", "depth")]
)
def test_the_reason_says_what_let_a_tool_in(depth, reason):
    found = gate_of(tool("make_report"), tool("other")).find("report", depth=depth)
    assert [(one.verdict, one.reason) for one in found.admitted] == [("unjudged", reason)]


def test_a_named_tool_over_the_budget_says_that_it_is():
    large = tool("make_report", "", *(f"argument_number_{k}" for k in range(300)))
    found = gate_of(large, tool("other")).find("make_report")
    assert [(one.verdict, one.reason) for one in found.admitted] == [("exempt", "over_budget")]


def test_what_the_count_left_out_was_not_passed_over_for_its_size():
    many = [tool(f"report_{k}", "report") for k in range(9)]
    found = gate_of(*many, policy={"max_tools": 3}).find("report")
    assert len(ids(found)) == 3 and left_out(found) == {}


def test_what_leaves_because_the_whole_array_is_over_was_passed_over():
    gate = gate_of(*(tool(f"report_{k}", "report") for k in range(3)), policy={"max_tokens": 60})
    found = gate.find("report")
    assert found.schema_tokens <= 60
    assert set(left_out(found)) == {f"report_{k}" for k in range(3)} - set(ids(found))


def test_no_outcome_but_an_empty_catalog_where_every_tool_is_hidden_is_no_match():
    catalog = catalog_of(a=[tool("one")])
    gate = gate_of(catalog=catalog, globs={"a": Globs(disabled=True)})
    assert gate.find("one").outcome == "no_match"
    assert results.passed_over(gate_choice(gate), (), ToolPolicy()) == ()


def gate_choice(gate):
    from admit.tools.choose import choose

    return choose(Order([], 0, 0), {}, gate.policy, "budget", lambda route: 0)


def test_nothing_is_down_where_nothing_was_filtered():
    snapshot = catalog_of(a=[tool("one")]).snapshot()
    found = gate_of(catalog=catalog_of(a=[tool("one")])).find("one")
    assert found.outcome == "admitted"
    assert results.open_sources(snapshot, Filtered((), None)) == ["a"]
