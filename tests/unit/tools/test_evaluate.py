"""Figures over requests of known need: shares with intervals, sizes, and the two kinds of misses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.tools.gates import gate_of, tool

from admit.errors import SourceError, UsageError
from admit.tools.evaluate import Query, evaluate, figures, read_catalog, read_queries

TOOLS = (
    tool("create_issue", "Open an issue"),
    tool("close_issue", "Close an issue"),
    tool("list_pulls", "List"),
)


def scored(rows, *, depths=("budget",), ks=(1,), tools=TOOLS, **policy):
    gate = gate_of(*tools, policy=policy)
    return evaluate(gate, [Query(str(k), *row) for k, row in enumerate(rows)], depths=depths, ks=ks)


def one_of(found, group, cut):
    [figure] = [one for one in found if (one.group, one.cut) == (group, cut)]
    return figure


def test_recall_is_the_mean_share_and_coverage_the_share_that_has_all():
    rows = [
        ("open an issue", ("app/create_issue",)),
        ("open an issue", ("app/create_issue", "app/list_pulls")),
        ("weather", ("app/list_pulls",)),
    ]
    found = one_of(figures(scored(rows)), "a tool fits", "budget")
    assert found.recall.value == 0.5 and found.coverage.value == pytest.approx(1 / 3)
    assert found.recall.low <= found.recall.value <= found.recall.high
    assert found.per_1000 == pytest.approx(found.recall.value / found.tokens * 1000)


def test_a_missed_tool_of_the_last_score_is_a_collision_and_any_other_is_below():
    same = [tool(f"report_{name}", "Make a report") for name in ("east", "north", "south", "west")]
    rows = [("make a report", ("app/report_west",)), ("make a report in the east", ("app/report_west",))]
    level, below = (one.cuts["@1"] for one in scored(rows, tools=same))
    assert (level.level, level.below) == (1, 0)
    assert (below.level, below.below) == (0, 1)


def test_a_collision_far_down_the_order_is_seen():
    same = [tool(f"report_{k:03}", "Make a report") for k in range(150)]
    [one] = scored([("make a report", ("app/report_149",))], tools=same)
    assert one.cuts["budget"].level == 1


def test_a_tool_that_nothing_matches_is_below():
    [one] = scored([("weather", ("app/list_pulls",))])
    assert (one.cuts["budget"].shown, one.cuts["budget"].level, one.cuts["budget"].below) == (0, 0, 1)


def test_requests_that_no_tool_fits_count_by_what_they_are_shown_and_have_no_recall():
    found = figures(scored([("weather", ()), ("close it", ()), ("list", ("app/list_pulls",))]))
    none = one_of(found, "no tool fits", "budget")
    assert none.recall is None and none.coverage is None and none.none_shown == 0.5
    assert one_of(found, "a tool fits", "budget").none_shown is None


def test_groups_are_by_stratum_and_by_language_in_the_order_of_names():
    rows = [
        ("open issue", ("app/create_issue",), "b", "en"),
        ("close issue", ("app/close_issue",), "a", "de"),
    ]
    groups = dict.fromkeys(one.group for one in figures(scored(rows)))
    assert list(groups) == ["all", "a tool fits", "a", "b", "de", "en"]


def test_one_seed_gives_the_same_intervals_and_another_gives_others():
    rows = [("open an issue", ("app/create_issue",))] * 7 + [("weather", ("app/list_pulls",))] * 6
    found = scored(rows)
    assert figures(found, seed=3) == figures(found, seed=3)
    ends = {
        (one.recall.low, one.recall.high)
        for seed in range(8)
        for one in figures(found, seed=seed)
        if one.group == "a tool fits" and one.cut == "budget"
    }
    assert len(ends) > 1


@given(
    st.lists(st.sampled_from(["open an issue", "close", "list", "weather", "issue"]), min_size=1, max_size=6)
)
def test_deeper_cuts_never_find_less(requests):
    rows = [(request, ("app/close_issue", "app/list_pulls")) for request in requests]
    for one in scored(rows, ks=(1, 2, 3)):
        hits = [one.cuts[f"@{k}"].hits for k in (1, 2, 3)]
        assert hits == sorted(hits)
        for cut in one.cuts.values():
            assert cut.hits + cut.level + cut.below == 2


def test_a_tool_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="app/nothing"):
        scored([("x", ("app/nothing",))])


def test_rows_are_read_and_a_bad_one_is_named_by_its_line():
    text = '{"id": 7, "query": "a", "required": []}\n\n{"id": "8", "query": "b", "required": ["s/x"]}\n'
    assert read_queries(text, "rows") == [Query("7", "a", ()), Query("8", "b", ("s/x",))]
    for bad in (
        "[]",
        '{"id": 1, "query": "x"}',
        '{"id": 1, "query": null, "required": []}',
        '{"required": [1]}',
    ):
        with pytest.raises(UsageError, match="rows:2"):
            read_queries(f'{{"id": 1, "query": "x", "required": []}}\n{bad}', "rows")
    with pytest.raises(UsageError, match="holds no row"):
        read_queries("\n", "rows")


def test_a_catalog_is_one_list_of_tools_or_one_for_each_source():
    assert list(read_catalog(json.dumps(TOOLS), "mine").snapshot().sources) == ["mine"]
    several = [{"source": "a", "tools": [TOOLS[0]]}, {"source": "b", "tools": [TOOLS[0]]}]
    assert list(read_catalog(json.dumps(several), "mine").snapshot().routes) == [
        "a/create_issue",
        "b/create_issue",
    ]
    with pytest.raises(SourceError):
        read_catalog("nothing", "mine")
