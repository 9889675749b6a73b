"""From an order to what is shown: counts, budgets of tokens, named tools, and where a judge's pool ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Answer, Reply
from admit.tools.choose import choose
from admit.tools.model import Ranked, Route
from admit.tools.policy import ToolPolicy
from admit.tools.rank import Order


def order_of(*scores: float, exact: int = 0, worth: dict[str, float] | None = None) -> Order:
    """An order with these scores; the first `exact` are named by the request."""
    ranked = [
        Ranked(f"s/{k}", k, score, matched=("word",), exact=k <= exact) for k, score in enumerate(scores, 1)
    ]
    return Order(ranked, len(ranked), 0, worth or {"word": 1.0})


def chosen(order: Order, depth: str = "budget", *, sizes=None, asked=None, **policy):
    """The decision, and the numbers of the routes shown."""
    routes = {one.route_id: Route(one.route_id, "s", "json", one.route_id[2:]) for one in order.ranked}
    held = sizes or {}
    choice = choose(
        order, routes, ToolPolicy(**policy), depth, lambda route: held.get(int(route.name), 10), asked
    )
    return choice, [int(name[2:]) for name in choice.decision.shown]


def test_the_budget_ends_by_tools_or_by_tokens_whichever_comes_first():
    assert chosen(order_of(*[1.0] * 12), max_tools=3)[1] == [1, 2, 3]
    assert chosen(order_of(*[1.0] * 12), max_tools=8, max_tokens=45)[1] == [1, 2, 3, 4]


def test_what_does_not_fit_is_passed_over_for_smaller_ones_after_it():
    assert chosen(order_of(4, 3, 2, 1), sizes={2: 900}, max_tokens=500)[1] == [1, 3, 4]


def test_only_the_first_twice_the_most_tools_are_looked_at():
    sizes = dict.fromkeys(range(2, 7), 5000)
    choice, shown = chosen(order_of(*[1.0] * 20), sizes=sizes, max_tools=3)
    assert shown == [1] and len(choice.pool) == 6


def test_named_tools_stay_beyond_both_limits_and_then_nothing_else_is_added():
    assert chosen(order_of(9, 8, 7, 6, 1, exact=4), max_tools=3)[1] == [1, 2, 3, 4]
    sizes = {1: 300, 2: 300}
    assert chosen(order_of(9, 8, 1, exact=2), sizes=sizes, max_tokens=400)[1] == [1, 2]


def test_named_tools_count_against_what_else_is_shown():
    assert chosen(order_of(9, 8, 3, 2, 1, exact=2), max_tools=3)[1] == [1, 2, 3]


def test_a_fixed_depth_shows_its_count_whatever_its_tokens_and_names_them():
    choice, shown = chosen(order_of(*[1.0] * 12), "fixed-5", sizes=dict.fromkeys(range(1, 13), 10**6))
    assert shown == [1, 2, 3, 4, 5] and list(choice.sizes.values()) == [10**6] * 5


def test_a_gap_rule_cuts_by_the_scores_of_what_is_not_named():
    scores = [20, 19, 18, 17, 9, 8.5, 8, 7.5, 7, 0]
    assert len(chosen(order_of(*scores), "rel-gap-010")[1]) == 4
    assert chosen(order_of(50, *scores, exact=1), "rel-gap-010")[1][:1] == [1]


def test_cover_keeps_what_explains_more_of_the_request_and_none_where_the_first_explains_little():
    ranked = [
        Ranked("s/1", 1, 5.0, matched=("a", "b")),
        Ranked("s/2", 2, 4.0, matched=("a",)),
        Ranked("s/3", 3, 3.0, matched=("c",)),
    ]
    worth = {"a": 2.0, "b": 2.0, "c": 2.0}
    assert chosen(Order(ranked, 3, 0, worth), "cover")[1] == [1]
    assert chosen(Order([ranked[0], ranked[2]], 2, 0, worth), "cover")[1] == [1, 3]
    assert chosen(Order(ranked[1:], 2, 0, {"a": 1.0, "c": 9.0}), "cover")[1] == []


def test_the_judge_is_asked_about_the_first_that_are_not_named_and_answers_by_number():
    seen: list[str] = []

    def asked(routes):
        seen.extend(route.name for route in routes)
        return Reply("judged", (Answer("q1", "noul", (0.9,)), Answer("q2", "noul", (0.1,))))

    choice, shown = chosen(order_of(9, 3, 2, 1, exact=1), "judge", asked=asked, max_candidates=2)
    assert seen == ["2", "3"] and shown == [1, 2]
    assert [one.reason for one in choice.decision.rulings] == ["exempt", "judge", "judge", "overflow"]


def test_with_named_tools_alone_nobody_is_asked():
    def asked(routes):
        raise AssertionError("asked")

    assert chosen(order_of(9, 8, exact=2), "judge", asked=asked)[1] == [1, 2]


@given(
    st.lists(st.integers(1, 600), min_size=1, max_size=30),
    st.integers(0, 5),
    st.integers(1, 10),
    st.integers(1, 1500),
)
def test_shown_is_in_order_without_repeats_and_within_both_limits_but_for_what_is_named(
    sizes, exact, tools, tokens
):
    order = order_of(*range(len(sizes), 0, -1), exact=min(exact, len(sizes)))
    _, shown = chosen(order, sizes=dict(enumerate(sizes, 1)), max_tools=tools, max_tokens=tokens)
    named = [k for k, one in enumerate(order.ranked, 1) if one.exact]
    assert shown == sorted(set(shown)) and shown[: len(named)] == named
    rest = shown[len(named) :]
    assert len(rest) <= max(0, tools - len(named))
    assert sum(min(sizes[k - 1], tokens) for k in shown) <= tokens or not rest
