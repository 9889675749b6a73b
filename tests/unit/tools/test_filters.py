"""Filters before ranking: the first reason in order wins, and a check that fails takes the route out."""

import pytest

from admit.tools.catalog import Catalog
from admit.tools.filters import Filters, Globs, apply
from admit.tools.model import EXCLUSIONS, HIDDEN
from admit.tools.route import routes_of
from admit.tools.sources.json_list import from_json


def tool(name, text=""):
    return {"name": name, "description": text, "inputSchema": {}}


@pytest.fixture
def catalog() -> Catalog:
    catalog = Catalog()
    catalog.add(routes_of("gh", "mcp", [tool("read"), tool("write")]))
    catalog.add(from_json("own", [tool("read"), {**tool("drop"), "x-admit": {"group": "admin"}}]))
    return catalog


def reasons(catalog: Catalog, **filters) -> dict[str, str]:
    found = apply(catalog.snapshot(), Filters(**filters))
    ids = set(catalog.snapshot().routes)
    assert (set(found.open) if found.open is not None else ids) == ids - {
        one.route_id for one in found.excluded
    }
    assert [one.route_id for one in found.excluded] == sorted(one.route_id for one in found.excluded)
    return {one.route_id: one.reason for one in found.excluded}


def test_without_a_filter_nothing_is_out_and_no_set_is_made(catalog):
    found = apply(catalog.snapshot(), Filters())
    assert (found.excluded, found.open, found.faults) == ((), None, 0)


def raises(*_):
    raise RuntimeError("the policy service is down")


def test_every_reason_takes_out_and_the_first_in_order_wins(catalog):
    """One route that every filter would take out; the filters are then taken away one after another."""
    catalog.refresh("gh", routes_of("gh", "mcp", [tool("read", "!"), tool("write"), tool("late")]))
    catalog.failed("gh", "no answer")
    every = {
        "disabled": {"globs": {"gh": Globs(deny=("*",))}},
        "not_authorised": {"authorised": lambda principal, route: False},
        "changed": {},
        "not_ready": {},
        "out_of_filter": {"sources": ("own",)},
        "already_exposed": {"exposed": ("gh/read",)},
    }
    order = [reason for reason in EXCLUSIONS if reason in every]
    assert order == list(every)
    for place, reason in enumerate(order):
        if reason == "not_ready":
            catalog.approve(["gh/read"], by="me")
        if reason == "out_of_filter":
            catalog.refresh("gh", catalog.snapshot().of("gh"))  # it answers again
        filters = {key: value for later in order[place:] for key, value in every[later].items()}
        assert reasons(catalog, **filters)["gh/read"] == reason
    assert reasons(catalog)["gh/late"] == "new"


def test_globs_hold_over_names_groups_and_ids_and_deny_beats_allow(catalog):
    def out(**globs):
        return sorted(reasons(catalog, globs={"own": Globs(**globs)}))

    assert out(deny=("re*",)) == ["own/read"]
    assert out(deny=("admin/*",)) == out(deny=("own/admin/drop",)) == ["own/admin/drop"]
    assert out(allow=("drop",)) == ["own/read"]
    assert out(allow=("*",), deny=("*",)) == out(disabled=True) == ["own/admin/drop", "own/read"]
    assert out(allow=()) == ["own/admin/drop", "own/read"]
    assert out(deny=("READ",)) == []


@pytest.mark.parametrize(
    "answer", [False, None, 0, "yes", 1, raises], ids=["False", "None", "0", "yes", "1", "raises"]
)
def test_only_a_plain_yes_authorises_and_a_check_that_raises_is_counted(catalog, answer):
    seen = []

    def authorised(principal, route):
        seen.append((principal, route.id))
        return answer() if callable(answer) else answer

    found = apply(catalog.snapshot(), Filters(authorised=authorised, principal="ann"))
    assert {one.reason for one in found.excluded} == {"not_authorised"} and found.open == frozenset()
    assert found.faults == (4 if answer is raises else 0)
    assert seen == [("ann", id) for id in catalog.snapshot().routes]


def test_a_coroutine_is_no_yes(catalog):
    class Later:
        def __bool__(self):
            return True

    assert len(reasons(catalog, authorised=lambda principal, route: Later())) == 4


def test_a_source_that_is_down_is_named_with_its_cause(catalog):
    catalog.failed("own", "no answer within 10 s")
    found = apply(catalog.snapshot(), Filters())
    assert {one.detail for one in found.excluded} == {"own: no answer within 10 s"}
    assert {one.reason for one in found.excluded} == {"not_ready"}


def test_a_route_that_is_not_ready_or_whose_check_raises_is_out(catalog):
    assert reasons(catalog, ready=lambda route: route.name != "write") == {"gh/write": "not_ready"}
    assert set(reasons(catalog, ready=raises).values()) == {"not_ready"}


def test_the_callers_choice_of_sources_and_groups_is_met_together(catalog):
    assert sorted(reasons(catalog, sources=("own",))) == ["gh/read", "gh/write"]
    assert sorted(reasons(catalog, sources=("own",), groups=("admin",))) == [
        "gh/read",
        "gh/write",
        "own/read",
    ]
    assert len(reasons(catalog, sources=("nowhere",))) == 4


def test_what_is_exposed_is_out_and_unknown_ids_do_nothing(catalog):
    assert reasons(catalog, exposed=["gh/read", "nothing"]) == {"gh/read": "already_exposed"}


def test_the_same_filters_on_the_same_snapshot_give_the_same_set(catalog):
    filters = Filters(globs={"own": Globs(deny=("drop",))}, exposed=["gh/read"])
    first = apply(catalog.snapshot(), filters)
    assert apply(catalog.snapshot(), filters).open is first.open
    catalog.remove(["gh/write"])
    assert apply(catalog.snapshot(), filters).open == first.open - {"gh/write"}


def test_many_choices_do_not_pile_up(catalog):
    snapshot = catalog.snapshot()
    for number in range(100):
        apply(snapshot, Filters(exposed=[f"x{number}"]))
    assert len(snapshot.memo) <= 16


def test_what_is_hidden_is_what_the_agent_may_not_know_of():
    assert HIDDEN == {"disabled", "not_authorised", "changed", "new"} < set(EXCLUSIONS)
