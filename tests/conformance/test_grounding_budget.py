"""The grounding review's budget: sixteen distinct artifacts may be read; the limit is no verdict."""

import pytest

from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.order import as_given
from admit.core.policy import DOORS
from admit.core.question import Reply, fallback

BUDGET = DOORS["evidence"]


def linked(path, **fields):
    """One link to an artifact: it costs a slot."""
    return Candidate(path, (), None, {"artifacts": 1, "bytes": fields.pop("size", 1000)}, **fields)


def review(links, reply=None, policy=BUDGET):
    planned = plan(as_given(links), policy)
    return decide(planned, reply or Reply("judged"), policy)


def read(decision):
    return list(decision.shown)


def test_E1_sixteen_distinct_artifacts_at_most_are_read_in_one_pass():
    decision = review([linked(f"n{k}.md") for k in range(21)])
    assert read(decision) == [f"n{k}.md" for k in range(16)]
    assert [(one.verdict, one.reason) for one in decision.rulings[16:]] == [("blocked", "overflow")] * 5


@pytest.mark.parametrize("offered, taken", [(15, 15), (16, 16), (17, 16)])
def test_E1_the_sixteenth_is_read_and_the_seventeenth_is_not(offered, taken):
    assert len(read(review([linked(f"n{k}.md") for k in range(offered)]))) == taken


def test_E2_notes_sources_and_ingests_draw_on_one_budget():
    mixed = [linked(f"{folder}/{k}.md") for k in range(7) for folder in ("notes", "files", "ingests")]
    decision = review(mixed)
    assert read(decision) == [one.id for one in mixed[:16]]
    assert {path.split("/")[0] for path in read(decision)} == {"notes", "files", "ingests"}


def test_E3_repeated_links_to_one_target_take_one_slot():
    links = [linked(f"n{k}.md") for k in range(16) for _ in range(5)]
    assert len(read(review(links))) == 16
    assert read(review([*links, linked("more.md")])) == [f"n{k}.md" for k in range(16)]


def test_E3_an_ingest_takes_one_slot_by_its_quotes_its_snapshot_or_both():
    by_quotes, by_snapshot = linked("source.ingest.md"), linked("source.ingest.md", size=90_000)
    others = [linked(f"n{k}.md") for k in range(15)]
    for routes in ([by_quotes], [by_snapshot], [by_quotes, by_snapshot]):
        assert len(read(review([*routes, *others]))) == 16


def test_E4_the_note_and_the_criterion_are_free_even_when_linked():
    free = [linked("note.md", exempt=True), linked("criterion.md", exempt=True)]
    artifacts = [linked(f"n{k}.md") for k in range(16)]
    decision = review([artifacts[0], *free, *artifacts[1:]])
    assert sorted(read(decision)) == sorted(one.id for one in [*free, *artifacts])
    assert decision.coverage == (16, 0, 0, 2)


def test_E5_reaching_the_limit_is_no_warning_and_no_failure():
    capped, whole = (review([linked(f"n{k}.md") for k in range(n)]) for n in (40, 16))
    assert (capped.status, capped.reason) == (whole.status, whole.reason) == ("judged", None)
    assert capped.rulings[:16] == whole.rulings
    assert capped.withheld == ()


def test_E5_what_is_over_the_limit_leaves_what_is_within_as_it_was():
    links = [linked(f"n{k}.md") for k in range(16)]
    for more in range(5):
        longer = review([*links, *(linked(f"x{k}.md") for k in range(more))])
        assert read(longer) == [one.id for one in links]


def test_E10_counting_slots_ignores_size():
    huge = [linked(f"n{k}.md", size=10**9 if k % 2 else 1) for k in range(20)]
    assert read(review(huge)) == [f"n{k}.md" for k in range(16)]


def test_a_failed_judge_leaves_the_pair_unjudged_and_nothing_passes():
    decision = review([linked("a.md"), linked("note.md", exempt=True)], fallback("deadline"))
    assert (decision.status, decision.reason) == ("fallback", "deadline")
    assert decision.rulings[0].verdict == "unjudged"
    assert read(decision) == ["note.md"]
