"""Coverage: counted from the plan and what was served, whoever reviews."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.core.events import sha256
from admit.evidence import criteria
from admit.evidence.coverage import coverage, scoped
from admit.evidence.model import Unread
from admit.evidence.pack import pack, serve
from admit.evidence.planning import plan

FILES = {f"{k}.md": f"# {k}\n\nText {k}.\n\n{'more ' * 50}\n" for k in range(9)}
NOTE = "# n\n\n" + "\n\n".join(f"Claim [{k}]({k}.md)." for k in range(8)) + "\n\n## See [0](0.md)\n"
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def criterion(front=""):
    text = f"---\nid: c\nasks: claims\n{front}---\nLook.\n"
    return criteria.parse(text, "c.md", "sha256:c")


def opened(kb, planned, *ids):
    return [item for id in ids for item in serve(kb, planned, id)]


def reasons(counted):
    return {one.id: one.reason for one in counted.unread}


def test_a_pack_of_everything_is_complete_and_stopped_by_sufficiency(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("budget: 8\n"))
    items = pack(kb, planned).items
    counted = coverage(planned, items)
    size = sum(len(FILES[f"{k}.md"]) for k in range(8))
    assert (counted.offered, counted.read, counted.slots_used, counted.cap) == (8, 8, 8, 8)
    assert (counted.bytes_offered, counted.bytes_read) == (size, size)
    assert (counted.unit, counted.stop, counted.complete) == ("distinct-v1", "sufficiency", True)
    assert [(one.n, one.path, one.shape, one.route, one.sha256) for one in counted.opened] == [
        (n, f"{n - 1}.md", "whole", "note", kb.file(f"{n - 1}.md").sha256) for n in range(1, 9)
    ]
    assert scoped("PASS", counted) == ""


def test_what_is_over_the_cap_is_named_with_its_blocks_and_the_budget_stopped_it(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("budget: 6\n"))
    found = pack(kb, planned)
    counted = coverage(planned, found.items, left=found.left_out)
    assert counted.unread == (
        Unread("a7", "6.md", (7,), ("b7",), "all", "budget"),
        Unread("a8", "7.md", (8,), ("b8",), "all", "budget"),
    )
    assert (counted.stop, counted.complete, counted.slots_used) == ("budget", False, 6)
    assert counted.bytes_read < counted.bytes_offered
    assert scoped("PASS", counted) == "PASS on 6 of 8 artifacts; not read: a7 6.md (b7), a8 7.md (b8)"


def test_a_reviewer_that_stops_early_left_the_rest_unopened(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("budget: 6\n"))
    counted = coverage(planned, opened(kb, planned, "a8", "a2"))
    assert [one.path for one in counted.opened] == ["7.md", "1.md"]
    assert reasons(counted) == dict.fromkeys(("a1", "a3", "a4", "a5", "a6", "a7"), "not-opened")
    assert (counted.stop, counted.slots_used) == ("sufficiency", 2)


def test_a_reviewer_that_used_its_slots_was_stopped_by_the_budget(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("budget: 3\n"))
    counted = coverage(planned, opened(kb, planned, "a8", "a1", "a5"))
    assert set(reasons(counted).values()) == {"budget"} and counted.stop == "budget"


def test_opening_again_is_free_and_counts_once(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md")
    once, again = opened(kb, planned, "a1", "a2"), opened(kb, planned, "a1", "a2", "a1")
    assert coverage(planned, once) == coverage(planned, again)


def test_nothing_read_of_an_uncapped_plan_is_no_matter_of_budget(base):
    kb = base({**FILES, "n.md": NOTE})
    counted = coverage(plan(kb, "n.md"), ())
    assert (counted.read, counted.stop, counted.cap) == (0, "sufficiency", None)
    assert scoped("PASS", counted).startswith(
        "PASS on 0 of 8 artifacts; not read: a1 0.md (b1), a2 1.md (b2)"
    )


def test_nothing_offered_is_complete(base):
    kb = base({"n.md": "# n\n\nNo link.\n"})
    counted = coverage(plan(kb, "n.md"), ())
    assert (counted.offered, counted.complete, counted.stop) == (0, True, "sufficiency")


def test_a_head_for_want_of_room_leaves_its_rest_unread(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md")
    found = pack(kb, planned, lambda items: sum(len(one.text) for one in items) < 1900)
    counted = coverage(planned, found.items, left=found.left_out)
    assert (counted.read, counted.stop, counted.complete) == (8, "budget", False)
    assert {one.part for one in counted.unread} == {"rest"}
    assert {one.reason for one in counted.unread} == {"request-size"}
    assert scoped("WARN", counted) == "WARN on 8 of 8 artifacts; not read: the rest of a8 7.md (b8)"


def test_a_pack_that_never_left_for_the_judge_was_not_read_at_all(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("budget: 7\n"))
    found = pack(kb, planned, lambda items: sum(len(one.text) for one in items) < 1700)
    assert [one.part for one in found.left_out] == ["rest", "all"]
    counted = coverage(planned, (), left=found.left_out)
    assert {one.part for one in counted.unread} == {"all"} and counted.read == 0
    assert list(reasons(counted).values()) == ["not-opened"] * 6 + ["request-size", "budget"]


def test_a_head_that_the_criterion_asks_for_is_all_there_is_to_read(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion("material: head\n"))
    counted = coverage(planned, pack(kb, planned).items)
    assert counted.complete and counted.bytes_read < counted.bytes_offered


def test_what_cannot_be_served_is_named_and_makes_the_coverage_incomplete(base):
    kb = base({**FILES, "n.md": "# n\n\nClaim [0](0.md) and [gone](gone.md) and [up](../x.md).\n"})
    planned = plan(kb, "n.md")
    counted = coverage(planned, pack(kb, planned).items)
    assert (counted.read, counted.complete, counted.unread, counted.stop) == (1, False, (), "sufficiency")
    assert scoped("PASS", counted) == (
        "PASS on 1 of 1 artifacts; unavailable: gone.md (missing), ../x.md (outside)"
    )


def test_a_route_that_fails_of_an_offer_whose_other_route_was_read_is_unavailable_not_unread(base, tmp_path):
    kept = b"---\nsource: s\n---\nkept\n"
    front = f"---\nsource: s\nsnapshot_sha256: {sha256(kept)}\n---\n"
    files = {
        "i.ingest.md": f"{front}## Quotes\n\nSource extract (verbatim): q\nSource location: 1\n",
        ".snapshots/i.md": kept,
        "n.md": "# n\n\nA [a](i.ingest.md).\n\nB [b (snapshot required)](i.ingest.md).\n",
    }
    kb = base(files)
    planned = plan(kb, "n.md")
    (tmp_path / "root" / ".snapshots" / "i.md").write_bytes(b"other")
    found = pack(kb, planned)
    counted = coverage(planned, found.items, left=found.left_out, unavailable=found.unavailable)
    assert (counted.read, counted.unread, counted.slots_used) == (1, (), 1)
    assert [(one.link, one.reason) for one in counted.unavailable] == [(2, "changed")]
    part = coverage(planned, [one for one in pack(base(files), planned).items if one.route == "snapshot"])
    assert [(one.id, one.links, one.blocks, one.part, one.reason) for one in part.unread] == [
        ("a1", (1,), ("b1",), "rest", "not-opened")
    ]


@pytest.mark.parametrize(
    "ids, stop, reason", [(("a1",), "budget", "budget"), (("a3",), "sufficiency", "not-opened")]
)
def test_under_occurrences_the_next_offer_decides_what_stopped_the_reading(base, ids, stop, reason):
    note = "# n\n\n[0](0.md) [0](0.md)\n\n[1](1.md) [1](1.md)\n\n[2](2.md)\n"
    kb = base({**FILES, "n.md": note})
    planned = plan(kb, "n.md", criterion(), cap=3, unit="occurrences-v0")
    counted = coverage(planned, opened(kb, planned, *ids))
    assert (counted.stop, counted.unread[0].reason, counted.unit) == (stop, reason, "occurrences-v0")


@SLOW
@given(
    targets=st.lists(st.sampled_from([*FILES, "gone.md", "up/"]), max_size=20),
    cap=st.none() | st.integers(1, 10),
    chosen=st.lists(st.integers(0, 20), max_size=10),
)
def test_every_offer_is_read_unread_or_unavailable_and_the_sums_hold(base, targets, cap, chosen):
    kb = base({**FILES, "n.md": "# n\n\n" + "\n\n".join(f"C [x]({target})" for target in targets)})
    planned = plan(kb, "n.md", cap=cap)
    ids = [planned.offers[k % len(planned.offers)].id for k in chosen] if planned.offers else []
    counted = coverage(planned, opened(kb, planned, *ids))
    read = {one.path for one in counted.opened}
    left = {one.artifact for one in counted.unread}
    assert read | left == {one.artifact for one in planned.offers} and not read & left
    assert (counted.read, counted.offered) == (len(read), len(read) + len(left))
    assert counted.slots_used == len(read) and counted.bytes_read <= counted.bytes_offered
    assert counted.complete == (not left and not counted.unavailable)
    assert (counted.stop == "budget") == bool(left and cap is not None and len(read) >= cap)
    assert all(one.artifact in scoped("PASS", counted) for one in counted.unread)
