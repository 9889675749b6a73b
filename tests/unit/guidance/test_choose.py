"""Order, cap and budgets of one scan, over any set of hits."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from admit.guidance import choose as choosing
from admit.guidance.choose import choose
from admit.guidance.hits import Found
from admit.guidance.judging import GateJudge
from admit.guidance.memory import Memory
from admit.guidance.model import Hit, Snippet, Surface, Trigger
from admit.guidance.render import Rendered

from .gated import judged_by, settings

NAMES = ("a", "a/b", "a/b/c", "a/b-x", "a/d", "e", "e/f", "g", "h", "i")


def hit(name, kind="semantic", explicit=None, score=None, strict=False):
    snippet = Snippet(
        name, "way", "agent-ways", "project", f"/{name}", name, "d", "", (), frozenset(("agent",)), None, 0.1,
        strict, "", 0, 0,
    )  # fmt: skip
    return Hit(snippet, explicit, score, "", Trigger(kind, "x"))


@pytest.fixture
def held(guidance):
    from admit.guidance.settings import gate_settings

    return gate_settings(settings(guidance))


@pytest.fixture
def sized(monkeypatch):
    """Units of a size that the test says; 10 where it says none."""
    sizes: dict[str, int] = {}

    def render(snippet, most):
        size = sizes.get(snippet.id, 10)
        return None if size == 0 else Rendered("x" * (size - 1), size)

    monkeypatch.setattr(choosing, "render", render)
    return sizes


def chosen(held, hits, *, lane="prompt", judge=None, memory=None, **over):
    asked = GateJudge(judge, "j", "own") if judge is not None else GateJudge()
    found = Found({one.snippet.id: one for one in hits}, {}, "lexical")
    surface = Surface(lane, "go", session="s")
    return choose(surface, found, asked, held._replace(**over), memory or Memory(), ask=True)


def order(choice):
    return [one.id for one in choice.plan.ordered]


def test_states_come_first_then_explicit_by_specificity_then_scored_by_probability(held, sized):
    hits = [
        hit("g", score=0.9), hit("h", "pattern", 3, 0.99), hit("i", "pattern", 7), hit("e", "state", 0),
        hit("a", score=0.95), hit("a/b", "files", 5),
    ]  # fmt: skip
    # The tree of a stands by its best: a/b with 5.
    assert order(chosen(held, hits)) == ["e", "i", "a", "a/b", "h", "g"]


def test_a_parent_that_was_not_hit_makes_its_child_hang_under_the_next_above(held, sized):
    hits = [hit("a", score=0.5), hit("a/b/c", score=0.9), hit("a/b-x", score=0.8)]
    choice = chosen(held, hits)
    assert {one.id: one.parent for one in choice.plan.ordered} == {"a": None, "a/b/c": "a", "a/b-x": "a"}


def test_strict_patterns_mentions_and_states_are_exempt_and_strict_by_meaning_is_not(held, sized):
    hits = [
        hit("a", "pattern", 3, strict=True), hit("e", "mention", 3), hit("g", "state", 0),
        hit("h", score=0.9, strict=True), hit("i", "commands", 3),
    ]  # fmt: skip
    assert {one.id for one in chosen(held, hits).plan.exempt} == {"a", "e", "g"}


@pytest.mark.parametrize(
    "lane, asks", [("prompt", 1), ("queued", 1), ("task", 0), ("command", 0), ("file", 0)]
)
def test_only_what_a_person_wrote_is_judged(held, sized, lane, asks):
    judge = judged_by({}, default=0.0)
    choice = chosen(held, [hit("a", "pattern", 3, 0.9)], lane=lane, judge=judge)
    assert len(judge.asks) == asks
    assert choice.decision.shown == (() if asks else ("a",))


def test_a_tool_call_shows_three_of_what_the_turn_has_left(held, sized):
    memory = Memory()
    memory.claim("r", ("s", ""), [f"{k}" for k in range(10)], counted=[f"{k}" for k in range(10)],
                 position=0, since=0, now=0.0, key=None)  # fmt: skip
    hits = [hit(name, "commands", 9 - k) for k, name in enumerate(("e", "g", "h", "i"))]
    assert chosen(held, hits, lane="command").left_out == {"i": "turn_cap"}
    left = chosen(held, hits, lane="command", memory=memory).left_out
    assert left == {"h": "turn_cap", "i": "turn_cap"}  # ten of twelve are gone


def test_states_are_not_counted_for_the_turn(held, sized):
    choice = chosen(held, [hit("e", "state", 0), hit("g", score=0.9)], max_per_turn=1)
    assert choice.decision.shown == ("e", "g")


def test_what_does_not_fit_is_left_out_and_a_later_smaller_one_is_tried(held, sized):
    sized |= {"a": 60, "e": 50, "g": 40}
    hits = [hit("a", score=0.9), hit("e", score=0.8), hit("g", score=0.7)]
    choice = chosen(held, hits, budget=100)
    assert choice.decision.shown == ("a", "g") and choice.left_out == {"e": "over_budget"}


def test_what_cannot_be_read_is_no_hit_and_no_parent(held, sized):
    sized["a"] = 0
    choice = chosen(held, [hit("a", score=0.9), hit("a/b", score=0.8)])
    assert choice.decision.shown == ("a/b",) and choice.plan.ordered[0].parent is None


@given(
    some=st.lists(st.sampled_from(NAMES), unique=True),
    seed=st.integers(0, 999),
    budget=st.integers(5, 120),
    turn=st.integers(0, 8),
)
@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_budget_is_passed_and_no_child_shows_without_its_parent(held, sized, some, seed, budget, turn):
    draw = random.Random(seed)
    sized |= {name: draw.randint(1, 40) for name in some}
    hits = [
        draw.choice((hit(name, score=draw.random()), hit(name, "pattern", draw.randint(0, 9))))
        for name in some
    ]
    judge = judged_by({name: draw.random() for name in some})
    choice = chosen(held, hits, judge=judge, budget=budget, max_per_turn=turn)
    shown = choice.decision.shown
    assert sum(choice.units[name].units for name in shown) <= budget and len(shown) <= turn
    parents = {one.id: one.parent for one in choice.plan.ordered}
    left_out = choice.left_out.keys() | {name for name, _ in choice.decision.withheld}
    assert not any(parents[name] in left_out for name in shown)
    draw.shuffle(hits)
    again = chosen(held, hits, judge=judge, budget=budget, max_per_turn=turn)
    assert (again.decision.shown, again.left_out, order(again)) == (shown, choice.left_out, order(choice))
