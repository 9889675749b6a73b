"""Earlier requests that led to a route, kept as keyed hashes."""

from __future__ import annotations

from hashlib import sha256

from admit.tools.history import History
from admit.tools.index import Index
from admit.tools.model import Route
from admit.tools.rank import Ranker

ROUTES = [
    Route(f"s/{name}", "s", "mcp", name, description="Weather tool")
    for name in ("alpha", "beta", "delta", "gamma")
]


def keyed(stem: str) -> str:
    return sha256(b"key" + stem.encode()).hexdigest()


def history(uses: dict[str, list[str]], **options: int) -> History:
    made = History(keyed, **options)
    for route_id, queries in uses.items():
        for query in queries:
            made.add(route_id, made.stems(query))
    return made


def test_a_route_comes_forward_by_the_requests_it_served() -> None:
    others = {f"s/{name}": ["snow map"] * 3 for name in ("alpha", "beta", "delta")}
    past = history({**others, "s/gamma": ["umbrella tomorrow"] * 3})
    ranker = Ranker(Index(ROUTES))
    order = [one.route_id for one in ranker.rank("weather umbrella")]
    assert order == ["s/alpha", "s/beta", "s/delta", "s/gamma"]
    fused = ranker.rank("weather umbrella", history=past)
    assert [one.route_id for one in fused] == ["s/alpha", "s/beta", "s/gamma", "s/delta"]
    assert all(one.score == one.components[0].value + one.components[1].value for one in fused)


def test_without_history_near_the_top_the_order_is_the_lexical_one() -> None:
    ranker = Ranker(Index(ROUTES))
    past = history({"s/elsewhere": ["weather umbrella"] * 3})
    assert ranker.rank("weather umbrella", history=past) == ranker.rank("weather umbrella")


def test_fewer_uses_than_the_least_do_not_count() -> None:
    assert "s/beta" not in history({"s/beta": ["weather"] * 2})
    assert "s/beta" in history({"s/beta": ["weather"] * 3})


def test_only_the_newest_uses_count() -> None:
    past = history({"s/beta": ["snow"] * 5 + ["rain"] * 3}, examples=3)
    assert past.scores("snow") == {}
    assert list(past.scores("rain")) == ["s/beta"]


def test_loading_newest_first_is_the_same_as_adding_oldest_first() -> None:
    queries = ["snow", "rain", "hail", "fog"]
    added = history({"s/beta": queries}, examples=3)
    loaded = History(keyed, examples=3)
    loaded.load(("s/beta", loaded.stems(query)) for query in reversed(queries))
    assert loaded.scores("snow rain hail fog") == added.scores("snow rain hail fog") != {}


def test_another_key_meets_nothing() -> None:
    past = history({"s/beta": ["rain"] * 3})
    stranger = History(lambda stem: keyed("other" + stem))
    stranger.load(("s/beta", past.stems("rain")) for _ in range(3))
    assert stranger.scores("rain") == {}


def test_a_forgotten_route_leaves_no_count() -> None:
    past = history({"s/beta": ["rain"] * 3, "s/alpha": ["rain", "rain sun", "sun"]})
    past.remove("s/beta")
    assert past.scores("rain") == history({"s/alpha": ["rain", "rain sun", "sun"]}).scores("rain")


def test_routes_outside_add_nothing_to_the_counts() -> None:
    uses = {"s/alpha": ["rain", "rain sun", "sun"], "s/beta": ["rain"] * 3}
    without = {"s/alpha": uses["s/alpha"]}
    assert history(uses).scores("rain", {"s/beta"}) == history(without).scores("rain")
