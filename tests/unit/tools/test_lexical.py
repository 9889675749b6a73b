"""The lexical lane and its index."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.tools.index import Index
from admit.tools.model import Field, Route
from admit.tools.rank import Ranker

WORDS = [
    "get",
    "create",
    "issue",
    "issues",
    "weather",
    "berlin",
    "tesla_ble",
    "find",
    "remove",
    "отчёт",
    "创建",
]


def made(number: int, words: list[str], source: str = "s") -> Route:
    return Route(f"{source}/{number}", source, "mcp", "_".join(words[:2]), description=" ".join(words[2:]))


routes = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=8).map(
    lambda rows: [made(k, row, "st"[k % 2]) for k, row in enumerate(rows)]
)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@given(routes, queries, st.data())
def test_routes_that_may_not_be_seen_are_as_if_they_were_not_there(
    there: list[Route], query: str, data: st.DataObject
) -> None:
    allowed = data.draw(st.sets(st.sampled_from([one.id for one in there])))
    seen = Ranker(Index(there)).rank(query, allowed=allowed)
    assert seen == Ranker(Index(one for one in there if one.id in allowed)).rank(query)


@given(routes, routes, queries)
def test_a_changed_index_ranks_as_one_built_anew(before: list[Route], after: list[Route], query: str) -> None:
    index = Index(before)
    ranker = Ranker(index)
    ranker.rank(query)
    index.replace(after)
    fresh = Index(reversed(after))
    assert ranker.rank(query) == Ranker(fresh).rank(query)
    for held in (
        "routes",
        "postings",
        "lengths",
        "totals",
        "by_stem",
        "by_prefix",
        "spellings",
        "source_names",
    ):
        assert getattr(index, held) == getattr(fresh, held)


@given(routes, queries)
def test_scores_fall_and_are_the_sum_of_their_components(there: list[Route], query: str) -> None:
    ranked = Ranker(Index(there)).rank(query)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    for one in ranked:
        total = 0.0
        for component in one.components:
            total += component.value
        assert total == one.score > 0


def test_a_word_counts_by_its_best_variant_not_by_their_sum() -> None:
    ranked = Ranker(Index([made(1, ["email"]), made(2, ["email", "emails"]), made(3, ["x"])])).rank("email")
    assert ranked[0].route_id == "s/1"


def test_verbs_of_a_class_meet_in_names_only() -> None:
    index = Index(
        [Route("s/a", "s", "mcp", "remove_user"), Route("s/b", "s", "mcp", "b", description="remove")]
    )
    assert [one.route_id for one in Ranker(index).rank("delete")] == ["s/a"]


def test_units_and_outputs_lift_the_route_that_returns_them() -> None:
    kelvin = Route("s/b", "s", "mcp", "read_b", outputs=(Field("value", "temperature", unit="kelvin"),))
    index = Index([Route("s/a", "s", "mcp", "read_a", description="Temperature of a room"), kelvin])
    assert Ranker(index).rank("temperature in kelvin")[0].route_id == "s/b"


def test_a_verb_alone_is_no_whole_name_unless_the_request_says_the_group() -> None:
    index = Index(
        Route(f"s/{group}/update", "s", "json", "update", group=group) for group in ("jobs", "users", "cards")
    )
    ranked = Ranker(index).rank("update a job")
    assert ranked[0].route_id == "s/jobs/update"
    signals = {one.route_id: {part.signal for part in one.components} for one in ranked}
    assert signals["s/jobs/update"] >= {"whole_name", "whole_group"}
    assert "whole_name" not in signals["s/users/update"]


def test_what_answers_one_sentence_best_is_near_the_top() -> None:
    weather = [made(k, ["weather", "berlin", "get"]) for k in range(5)]
    index = Index([*weather, Route("s/spell", "s", "mcp", "check_spelling")])
    query = "Get the weather in Berlin, the weather of Berlin. Check the spelling of apple."
    assert "s/spell" in [one.route_id for one in Ranker(index).rank(query, 3)]
