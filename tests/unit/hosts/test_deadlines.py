"""The chain of time-outs: each stage gives up before the one around it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.config.keys import shipped
from admit.hosts.deadlines import APART_MS, CLASSES, HOST_MARGIN_MS, Chain, chain, chain_findings, class_of

OWN = "judge.profiles.local"


def values(**changes):
    return {**shipped(), **{name.replace("__", "."): value for name, value in changes.items()}}


def stages(one):
    return [ms for ms in one if ms is not None]


def test_the_shipped_chain_is_in_order_and_nothing_is_found():
    assert chain(values(), "prompt") == Chain(1_000, 2_300, 2_600, 5_000)
    assert chain(values(), "before_tool") == Chain(None, 650, 900, 3_000)
    assert chain(values(), "after_tool") == Chain(2_000, 4_400, 4_800, 10_000)
    assert chain(values(), "session") == Chain(None, 500, 800, 2_000)
    assert chain_findings(values()) == ()


def test_a_later_judge_moves_door_and_client_with_it():
    later = values(judge__profiles__local__guidance__timeout_ms=3_000)
    assert chain(later, "prompt") == Chain(3_000, 3_300, 3_600, 5_000)
    assert chain_findings(later) == ()


def test_a_judge_too_late_for_the_host_is_cut_with_everything_around_it_and_found():
    late = values(judge__profiles__local__guidance__timeout_ms=6_000)
    assert chain(late, "prompt") == Chain(3_900, 4_200, 4_500, 5_000)
    ((text, fix),) = chain_findings(late)
    assert "cut by 2,100 ms" in text and fix == f"admit config set {OWN}.guidance.timeout_ms 3900"


def test_the_lower_deadline_of_filter_and_profile_holds_after_a_tool():
    assert chain(values(outputs__filter__timeout_ms=700), "after_tool").judge == 700
    assert chain(values(judge__profiles__local__outputs__timeout_ms=60_000), "after_tool").judge == 4_000


@pytest.mark.parametrize(
    ("changes", "fix"),
    [
        ({"hosts__deadline_ms__prompt__door": 1_100}, "admit config set hosts.deadline_ms.prompt.door 1250"),
        (
            {"hosts__deadline_ms__after_tool__client": 4_500},
            "admit config set hosts.deadline_ms.after_tool.client 4650",
        ),
        (
            {"hosts__deadline_ms__session__client": 9_000},
            "admit config set hosts.deadline_ms.session.client 1500",
        ),
    ],
)
def test_steps_that_are_too_near_are_found_and_the_fix_mends_them(changes, fix):
    before = values(**changes)
    ((_, said),) = chain_findings(before)
    assert said == fix
    *_, key, value = fix.split()
    assert chain_findings({**before, key: int(value)}) == ()


MS = st.integers(100, 60_000)


@given(st.sampled_from(sorted(CLASSES)), MS, MS, MS, MS)
def test_no_chain_comes_near_the_host_and_a_chain_without_findings_is_in_order(name, door, client, judge, f):
    changed = values(outputs__filter__timeout_ms=f)
    changed |= {f"hosts.deadline_ms.{name}.door": door, f"hosts.deadline_ms.{name}.client": client}
    if CLASSES[name].door:
        changed[f"{OWN}.{CLASSES[name].door}.timeout_ms"] = judge
    held = chain(changed, name)
    assert held.client <= held.host - HOST_MARGIN_MS
    if not chain_findings(changed):
        order = stages(held)
        assert all(late - early >= APART_MS for early, late in pairwise(order))


def test_moments_that_are_no_tool_and_no_prompt_are_of_the_session():
    found = ["prompt", "before_tool", "after_tool", "after_failure", "stop", "session_start", "other"]
    assert [class_of(one) for one in found] == [
        "prompt",
        "before_tool",
        "after_tool",
        "after_tool",
        *["session"] * 3,
    ]
