"""Reviews as they are on record: the newest of each pair, the queue, and another cap."""

from __future__ import annotations

from typing import Any

import pytest

from admit.errors import IntegrityError
from admit.evidence import as_json
from admit.evidence.coverage import coverage
from admit.evidence.criteria import parse
from admit.evidence.model import Finding, Material, Offer, Pair, Review
from admit.evidence.note import Document, Note
from admit.evidence.planning import _arranged, canonical_plan
from admit.evidence.recorded import newest, queue, replayed
from admit.ledger.evidence_rows import JobRow

HASH = "sha256:" + "0" * 64
LABELLED = parse("---\nid: by-label\norder: label\nlabel_order: [evidence]\n---\nB.\n", "c.md", HASH)


def offers() -> list[Offer]:
    """In document order: a file linked twice, a small one, and one of the label `evidence`."""
    rows = (("big.md", (1, 2), (), 900), ("small.md", (3,), (), 5), ("told.md", (4,), ("evidence",), 50))
    return [
        Offer(path, "", links, labels, (Material("note", path, links, size, HASH),), 1, size, HASH)
        for path, links, labels, size in rows
    ]


def row(note: str = "n.md", verdict: str = "WARN", at: int = 1, **changes: Any) -> JobRow:
    """A review that read all three and found something about each, and about the note itself."""
    held = Note(note, HASH, 0, "", None, "", (), "", "", Document(None, (), (), ()), (), ())
    plan = _arranged(held, None, offers(), (), None, "distinct-v1", "document")
    found = [
        Finding("overreach", "WARN", note, 3, "b1", "claim", path, "", 0, "", origin)
        for path, origin in (("big.md", "judge"), ("small.md", "agent"), ("told.md", "judge"),
                             ("told.md", "check"), ("", "judge"))
    ]  # fmt: skip
    review = Review(Pair(note, "c", "m"), verdict, "judged", tuple(found), coverage(plan, ()), plan.plan_hash)  # type: ignore[arg-type]
    state = "completed" if verdict in ("PASS", "WARN", "FAIL") else "failed"
    made = JobRow(
        "e-0", at, note, "c", "m", HASH, HASH, plan.plan_hash, None, state, verdict, "judged", 0, 0, at,
        manifest=canonical_plan(plan), review=as_json.pair(review),
    )  # fmt: skip
    return made._replace(**changes)


def test_the_newest_ended_review_of_a_pair_counts():
    (one,) = newest([row(verdict="FAIL", at=1), row(verdict="PASS", at=2), row(at=3, review=None)])
    assert (one.verdict, one.attempt, one.pair) == ("PASS", 2, ("n.md", "c", "m"))


def test_a_review_counts_in_the_partition_that_it_says():
    told = row()
    told = told._replace(review={**(told.review or {}), "partition": "opus"})
    assert [one.pair.partition for one in newest([row(), told])] == ["m", "opus"]


def test_the_queue_is_what_is_no_pass_the_gravest_first():
    rows = [row(note, verdict) for note, verdict in
            (("a.md", "UNJUDGED"), ("b.md", "WARN"), ("c.md", "PASS"), ("d.md", "FAIL"))]  # fmt: skip
    assert [one.pair.note for one in queue(newest(rows))] == ["d.md", "b.md", "a.md"]


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ({"cap": None}, []),
        ({"cap": 2}, ["told.md"]),
        ({"cap": 1}, ["small.md", "told.md"]),
        ({"cap": 2, "unit": "occurrences-v0"}, ["small.md", "told.md"]),
        ({"cap": 1, "order": "bytes"}, ["big.md", "told.md"]),
    ],
)
def test_a_replay_loses_the_findings_whose_artifact_would_be_unread(given, lost):
    (one,) = replayed(newest([row()]), **given)
    assert [found.artifact for found in one.lost] == lost
    # What a check found, and what is about no artifact, rests on no reading.
    assert (len(one.kept) + len(one.lost), one.other) == (3, 2)


def test_the_order_by_label_takes_the_labels_of_the_criterion_that_was_reviewed_by():
    known = newest([row()], lambda id, sha256: LABELLED if sha256 == HASH else None)
    (one,) = replayed(known, cap=1, order="label")
    assert [found.artifact for found in one.kept] == ["told.md"]


def test_the_manifest_of_an_agents_job_is_read_as_well():
    held = row()
    (one,) = newest([held._replace(manifest={"plan": held.manifest})])
    assert [offer.artifact for offer in one.plan.offers] == ["big.md", "small.md", "told.md"]


@pytest.mark.parametrize("key", ["verdict", "findings", "coverage", "reason"])
def test_a_review_that_is_not_as_it_was_written_is_named(key):
    held = row()
    cut = {name: value for name, value in (held.review or {}).items() if name != key}
    with pytest.raises(IntegrityError, match="evidence_job, e-0/1"):
        newest([held._replace(review=cut)])
