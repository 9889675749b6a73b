"""The meter of a job: what may be opened, what is refused, and what is recorded of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from admit.errors import BudgetExhausted, JobError, Locked, NotOffered
from admit.evidence.job.opening import open_offer
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import ReadRow

from .conftest import MakeBase
from .jobs import NOTE, exported, files

INGEST = """---
source: https://example.org/x
snapshot_sha256: {sha256}
---
# Ingest

The analysis says more.

## Quotes

Source extract (verbatim):
> Forty-two words.
Source location: page 3
"""


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "ledger.db"), base="here")


def test_an_offer_is_served_whole_and_recorded_with_what_was_shown(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(3, 2))
    job = exported(at, store, tmp_path / "jobs")
    served = open_offer(at, store, job.id, "a3", via="mcp")
    assert (served.text, served.again, served.slots_used) == ("# T3\n\nThe text of 3.\n", False, 1)
    (row,) = store.reads(job.id, 1)
    assert (row.id, row.artifact, row.path, row.shape) == ("a3", "kb/t3.md", "kb/t3.md", "whole")
    assert (row.shown_sha256, row.bytes, row.slots) == (served.items[0].shown_sha256, 21, 1)
    assert (row.refused, row.via) == (None, "mcp")
    held = store.job(job.id)
    assert held is not None and held.state == "running"


def test_opening_again_is_free_gives_the_same_text_and_is_recorded_once(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(3, 1))
    job = exported(at, store, tmp_path / "jobs")
    first = open_offer(at, store, job.id, "a2")
    again = open_offer(at, store, job.id, "a2")
    assert (again.items, again.again, again.slots_used) == (first.items, True, 1)
    assert len(store.reads(job.id, 1)) == 1


def test_the_opening_over_the_budget_is_refused_and_names_what_is_unread(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(4, 2))
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a4")
    open_offer(at, store, job.id, "a1")
    for _ in range(2):
        with pytest.raises(BudgetExhausted, match=r"2 of 2 slots \(distinct-v1\)") as refused:
            open_offer(at, store, job.id, "a2")
        assert 'Not read: a2 "kb/t2.md", a3 "kb/t3.md".' in str(refused.value)
    rows = store.reads(job.id, 1)
    assert [(row.id, row.slots, row.refused) for row in rows] == [
        ("a4", 1, None),
        ("a1", 1, None),
        ("a2", 0, "budget"),
    ]
    assert open_offer(at, store, job.id, "a4").again


def test_without_a_cap_nothing_is_refused(base: MakeBase, store: EvidenceStore, tmp_path: Path) -> None:
    at = base(files(40, None))
    job = exported(at, store, tmp_path / "jobs")
    for k in range(40, 0, -1):
        assert open_offer(at, store, job.id, f"a{k}").slots_used == 41 - k


@pytest.mark.parametrize(
    "id",
    [
        "a99",
        "a0",
        "",
        "A1",
        "a1 ",
        "a１",
        "kb/t1.md",
        "../../etc/passwd",
        "/etc/passwd",
        "a1\0",
        "\ud800",
        "x" * 9999,
    ],
)
def test_nothing_but_an_offer_by_its_id_is_opened(
    base: MakeBase, store: EvidenceStore, tmp_path: Path, id: str
) -> None:
    at = base(files(3, 2))
    job = exported(at, store, tmp_path / "jobs")
    with pytest.raises(NotOffered, match="it offers a1 to a3") as refused:
        open_offer(at, store, job.id, id)
    assert len(str(refused.value)) < 600
    assert store.reads(job.id, 1) == ()


@pytest.mark.parametrize("id", ["e-000000000000", "x", "../x", "e-00000000000g", "e-000000000000\n", ""])
def test_a_job_that_there_is_not_opens_nothing(base: MakeBase, store: EvidenceStore, id: str) -> None:
    with pytest.raises(JobError, match="there is no job"):
        open_offer(base(files(1, 1)), store, id, "a1")


def test_a_file_that_changed_is_refused_and_takes_no_slot(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(3, 1))
    job = exported(at, store, tmp_path / "jobs")
    changed = base({"kb/t1.md": "other words"})
    with pytest.raises(NotOffered, match=r"cannot be served as it was offered \(changed\)"):
        open_offer(changed, store, job.id, "a1")
    (row,) = store.reads(job.id, 1)
    assert (row.refused, row.slots, row.shown_sha256) == ("changed", 0, None)
    assert open_offer(changed, store, job.id, "a2").slots_used == 1


def test_a_file_that_is_gone_or_became_a_link_out_of_the_root_is_refused(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(3, 3))
    job = exported(at, store, tmp_path / "jobs")
    (tmp_path / "root/kb/t1.md").unlink()
    (tmp_path / "secret.md").write_text("# T2\n\nThe text of 2.\n")
    (tmp_path / "root/kb/t2.md").unlink()
    (tmp_path / "root/kb/t2.md").symlink_to(tmp_path / "secret.md")
    for id in ("a1", "a2"):
        with pytest.raises(NotOffered, match="cannot be served as it was offered"):
            open_offer(at, store, job.id, id)
    assert [row.refused for row in store.reads(job.id, 1)] == ["missing", "changed"]


def test_a_file_that_changed_after_it_was_opened_is_not_served_as_what_was_recorded(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base(files(3, 1))
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a1")
    with pytest.raises(NotOffered, match="changed"):
        open_offer(base({"kb/t1.md": "other words"}), store, job.id, "a1")
    assert [(row.refused, row.slots) for row in store.reads(job.id, 1)] == [(None, 1), ("changed", 0)]


def test_a_text_that_cannot_be_handed_on_whole_is_refused_and_takes_no_slot(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    at = base({**files(2, 1), "kb/t1.md": "é" * 101})
    job = exported(at, store, tmp_path / "jobs")
    with pytest.raises(NotOffered, match="too-large"):
        open_offer(at, store, job.id, "a1", most_chars=100)
    assert open_offer(at, store, job.id, "a1", most_chars=101).slots_used == 1


def test_an_ingest_by_both_routes_is_one_slot_and_two_records(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    import hashlib

    snapshot = "---\nsource: https://example.org/x\n---\nForty-two words.\n"
    digest = hashlib.sha256(snapshot.encode()).hexdigest()
    note = "# N\n\nA [one](s.ingest.md).\n\nB [one (snapshot required)](s.ingest.md).\n\nC [two](t1.md).\n"
    told = {
        NOTE: note,
        "kb/s.ingest.md": INGEST.format(sha256=digest),
        "kb/.snapshots/s.md": snapshot,
    }
    at = base({**files(1, 1), **told})
    job = exported(at, store, tmp_path / "jobs")
    served = open_offer(at, store, job.id, "a1")
    assert [(one.shape, one.path) for one in served.items] == [
        ("quotes", "kb/s.ingest.md"),
        ("snapshot", "kb/.snapshots/s.md"),
    ]
    assert "analysis" not in served.text and "page 3" in served.text and snapshot in served.text
    assert [row.slots for row in store.reads(job.id, 1)] == [1, 0]
    with pytest.raises(BudgetExhausted):
        open_offer(at, store, job.id, "a2")
    assert open_offer(at, store, job.id, "a1").again


def test_what_cannot_be_recorded_is_not_served(
    base: MakeBase, store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base(files(3, 2))
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a1")

    def locked(*_: object) -> ReadRow:
        raise Locked("another process holds it")

    monkeypatch.setattr(store, "add_read", locked)
    with pytest.raises(Locked):
        open_offer(at, store, job.id, "a2")
    assert len(store.reads(job.id, 1)) == 1
