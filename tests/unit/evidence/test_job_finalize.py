"""The end of a job: a verdict from a valid output and the record of reads, or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from admit.cli.evidence_words import review as told
from admit.errors import JobError, Locked, NotOffered
from admit.evidence.base import Base
from admit.evidence.job.export import export
from admit.evidence.job.finalize import finalize
from admit.evidence.job.manifest import Job
from admit.evidence.job.opening import open_offer
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import BaselineRow
from admit.ledger.memory import MemoryLedger

from .conftest import MakeBase
from .jobs import CRITERION, NOTE, PARTITION, criterion, exported, files, output, planned

Read = Callable[..., tuple[Base, Job]]


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "ledger.db"), base="here")


@pytest.fixture
def read(base: MakeBase, store: EvidenceStore, tmp_path: Path) -> Read:
    """Makes a job of 3 artifacts and opens some: `read("a1", budget=2)`."""

    def make(
        *ids: str, budget: int | None = 2, material: str = "whole", **settings: object
    ) -> tuple[Base, Job]:
        at = base(files(3, budget, material), **settings)
        job = exported(at, store, tmp_path / "jobs")
        for id in ids:
            open_offer(at, store, job.id, id)
        return at, job

    return make


def test_a_finding_is_told_with_the_claim_as_it_stands_in_the_note(read: Read, store: EvidenceStore) -> None:
    at, job = read("a2", "a1")
    review = finalize(at, store, job.id, output(job, ("- FAIL [b3 a2 a1] It says less.",), "FAIL"))
    assert (review.verdict, review.reason, review.stored) == ("FAIL", "judged", True)
    found = review.findings[0]
    assert found.claim == "Claim 2 rests on [source 2](t2.md)."
    assert (found.note, found.line, found.block, found.artifact) == (NOTE, 7, "b3", "kb/t2.md")
    assert (found.text, found.origin) == ("It says less. (also: a1 kb/t1.md)", "agent")
    assert at.note(NOTE).text.encode()[found.start : found.end].decode() == found.claim


def test_coverage_is_what_was_recorded_in_reading_order_and_the_stop_is_derived(
    read: Read, store: EvidenceStore
) -> None:
    at, job = read("a3", "a1")
    review = finalize(at, store, job.id, output(job))
    told = review.coverage
    assert told is not None
    assert [(one.n, one.path, one.shape) for one in told.opened] == [
        (1, "kb/t3.md", "whole"),
        (2, "kb/t1.md", "whole"),
    ]
    assert [(one.id, one.blocks, one.reason) for one in told.unread] == [("a2", ("b3",), "budget")]
    assert (told.stop, told.complete, told.slots_used, told.bytes_read) == ("budget", False, 2, 42)
    assert review.scoped == "PASS on 2 of 3 artifacts; not read: a2 kb/t2.md (b3)"


def test_who_stops_below_the_budget_stopped_by_its_own_choice(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    told = finalize(at, store, job.id, output(job)).coverage
    assert told is not None and told.stop == "sufficiency"
    assert {one.reason for one in told.unread} == {"not-opened"}


def test_who_reads_all_has_an_unscoped_verdict(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1", "a2", "a3", budget=None)
    review = finalize(at, store, job.id, output(job))
    assert review.coverage is not None and review.coverage.complete and review.scoped == ""


def test_an_output_that_is_not_as_it_must_be_gives_no_verdict_and_stays(
    read: Read, store: EvidenceStore
) -> None:
    at, job = read("a1")
    path = Path(job.folder) / "output.md"
    path.write_text("OK")
    review = finalize(at, store, job.id)
    assert (review.verdict, review.reason, review.stored) == ("UNJUDGED", "malformed-output", True)
    assert path.read_text() == "OK" and store.baselines() == ()
    held = store.job(job.id)
    assert held is not None and (held.state, held.verdict) == ("failed", "UNJUDGED")


def test_an_output_that_is_no_text_is_malformed(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    (Path(job.folder) / "output.md").write_bytes(output(job).encode() + b"\xff")
    assert finalize(at, store, job.id).reason == "malformed-output"


@pytest.mark.parametrize("severity", ["INFO", "WARN", "FAIL"])
def test_a_finding_that_cites_what_was_never_opened_gives_no_verdict(
    read: Read, store: EvidenceStore, severity: str
) -> None:
    at, job = read("a1")
    result = "PASS" if severity == "INFO" else severity
    review = finalize(at, store, job.id, output(job, (f"- {severity} [b3 a2] x",), result))
    assert (review.verdict, review.reason) == ("UNJUDGED", "cites-unread")


def test_a_refused_opening_is_no_reading(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1", "a3")
    with pytest.raises(Exception, match="does not fit"):
        open_offer(at, store, job.id, "a2")
    assert finalize(at, store, job.id, output(job, ("- INFO [b3 a2] x",))).reason == "cites-unread"


@pytest.mark.parametrize("result", ["PASS", "ERROR"])
def test_no_reading_at_all_gives_no_verdict(read: Read, store: EvidenceStore, result: str) -> None:
    at, job = read()
    review = finalize(at, store, job.id, output(job, (), result))
    assert (review.verdict, review.reason) == ("UNJUDGED", "nothing-read")


def test_a_criterion_without_material_needs_no_reading(read: Read, store: EvidenceStore) -> None:
    at, job = read(material="none")
    assert finalize(at, store, job.id, output(job)).verdict == "PASS"


def test_the_reviewers_own_error_is_an_error_and_never_accepted(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    review = finalize(at, store, job.id, output(job, (), "ERROR"))
    assert (review.verdict, review.stored, store.baselines()) == ("ERROR", True, ())


def test_a_self_report_is_compared_and_changes_nothing(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1", "a2")
    review = finalize(at, store, job.id, output(job, opened="a2, a3, a77"))
    told = [
        (one.rule, one.text.split(":")[0], one.severity)
        for one in review.findings
        if one.rule != "unverifiable"
    ]
    assert told == [("unserved", "a3", "INFO"), ("unserved", "a77", "INFO"), ("unopened", "a1", "INFO")]
    assert review.verdict == "PASS"
    assert review.coverage is not None and review.coverage.read == 2


def test_ending_a_job_twice_gives_the_same_review_and_no_further_attempt(
    read: Read, store: EvidenceStore
) -> None:
    at, job = read("a1", "a2")
    first = finalize(at, store, job.id, output(job, ("- WARN [b2 a1] x",), "WARN"), model=None)
    assert finalize(at, store, job.id, "something else") == first
    assert [row.attempt for row in store.jobs()] == [1]
    with pytest.raises(JobError, match="is over"):
        open_offer(at, store, job.id, "a1")


def test_an_accepted_review_names_what_it_read(read: Read, store: EvidenceStore) -> None:
    at, job = read("a2")
    finalize(at, store, job.id, output(job))
    row = store.baseline(NOTE, CRITERION, PARTITION)
    assert row is not None and (row.revision, row.job, row.attempt) == (1, job.id, 1)
    assert [(one.artifact, one.shape, one.route) for one in row.linked] == [("kb/t2.md", "whole", "note")]


def test_a_review_that_lost_the_race_conflicts_and_keeps_its_files(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    (Path(job.folder) / "output.md").write_text(output(job))
    other = BaselineRow(
        NOTE, CRITERION, PARTITION, 0, False, job.row.note_sha256, job.row.criterion_sha256, (),
        "e-ffffffffffff", 1,
    )  # fmt: skip
    store.accept(other, expect=None)
    review = finalize(at, store, job.id)
    assert (review.verdict, review.conflict, review.stored) == ("PASS", True, False)
    row = store.baseline(NOTE, CRITERION, PARTITION)
    assert row is not None and row.job == "e-ffffffffffff"
    assert sorted(one.name for one in Path(job.folder).iterdir()) == [
        "MANIFEST.json",
        "output.md",
        "prompt.md",
    ]
    assert finalize(at, store, job.id) == review


def test_a_failed_snapshot_route_counts_with_the_findings(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    note = "# N\n\nA [one (snapshot required)](s.ingest.md).\n\nC [two](t1.md).\n"
    at = base({**files(1, 2), NOTE: note, "kb/s.ingest.md": "---\nsource: x\n---\n# I\n"})
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a1")
    review = finalize(at, store, job.id, output(job))
    assert review.verdict == "FAIL"
    assert [one.rule for one in review.findings if one.severity == "FAIL"] == ["snapshot-missing"]


def test_what_changed_under_the_reviewer_is_unavailable_and_scopes_the_verdict(
    read: Read, store: EvidenceStore, base: MakeBase
) -> None:
    _, job = read("a1")
    at = base({"kb/t2.md": "changed"})
    with pytest.raises(Exception, match="changed"):
        open_offer(at, store, job.id, "a2")
    review = finalize(at, store, job.id, output(job))
    assert review.coverage is not None
    assert [(one.link, one.reason) for one in review.coverage.unavailable] == [(2, "changed")]
    assert "unavailable: t2.md (changed)" in review.scoped


def test_in_shadow_mode_nothing_is_accepted(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1", mode="shadow")
    review = finalize(at, store, job.id, output(job))
    assert (review.verdict, review.shadow, review.stored, store.baselines()) == ("PASS", "mode", True, ())


def test_without_an_output_the_job_stays_open(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    with pytest.raises(JobError, match=r"output\.md is not there yet"):
        finalize(at, store, job.id)
    (Path(job.folder) / "output.md").symlink_to("/etc/hostname")
    with pytest.raises(JobError, match="put the output there"):
        finalize(at, store, job.id)
    assert finalize(at, store, job.id, output(job)).stored


def test_a_fault_of_the_agent_is_the_reason(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    review = finalize(at, store, job.id, fault="agent-timeout")
    assert (review.verdict, review.reason) == ("UNJUDGED", "agent-timeout")
    assert review.coverage is not None and review.coverage.read == 1


def test_a_verdict_that_cannot_be_kept_is_given_as_not_stored(
    read: Read, store: EvidenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, job = read("a1")

    def locked(*_: object, **__: object) -> int:
        raise Locked("another process holds it")

    with monkeypatch.context() as patch:
        patch.setattr(store, "complete_job", locked)
        review = finalize(at, store, job.id, output(job))
    assert (review.verdict, review.stored) == ("PASS", False)
    assert finalize(at, store, job.id, output(job)).stored


def test_a_model_that_is_named_counts_in_its_own_partition_by_the_revision_of_then(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    from admit.evidence.partition import partition

    own = partition("some-model-1")
    at = base(files(3, 2))
    for revision in (1, 2):
        job = export(at, store, planned(at), str(tmp_path / "jobs"), partition(None))
        open_offer(at, store, job.id, "a1")
        review = finalize(at, store, job.id, output(job), model="some-model-1")
        row = store.baseline(NOTE, CRITERION, own)
        assert review.pair.partition == own and review.stored
        assert row is not None and row.revision == revision
        at = base({"kb/t2.md": "changed"})
    with pytest.raises(JobError, match="is for models"):
        job = exported(at, store, tmp_path / "jobs")
        finalize(at, store, job.id, output(job), model="some-model-1")


def test_the_end_of_a_job_is_recorded_once_with_each_opening_and_no_words_of_the_agent(
    read: Read, store: EvidenceStore
) -> None:
    at, job = read("a3", "a1")
    with pytest.raises(Exception, match="does not fit"):
        open_offer(at, store, job.id, "a2")
    ledger = MemoryLedger()
    for _ in range(2):
        finalize(at, store, job.id, output(job, ("- FAIL [b2 a1] Secret words.",), "FAIL"), ledger=ledger)
    (record,) = ledger.records
    assert record.decision is not None
    assert [one["status"] for one in record.decision.extra["offers"]] == ["admitted", "blocked", "admitted"]
    told = [event.body for event in record.events if event.type == "evidence.read"]
    assert [(one["id"], one["refused"], one["via"]) for one in told] == [
        ("a3", None, "cli"),
        ("a1", None, "cli"),
        ("a2", "budget", "cli"),
    ]
    assert "Secret words" not in repr(record)


def test_what_was_never_opened_is_recorded_as_not_judged(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    ledger = MemoryLedger()
    finalize(at, store, job.id, output(job), ledger=ledger)
    (record,) = ledger.records
    assert record.decision is not None
    assert [one["status"] for one in record.decision.extra["offers"]] == ["admitted", "unjudged", "unjudged"]


@pytest.mark.parametrize("severity", ["FAIL", "WARN"])
def test_a_block_of_which_nothing_was_opened_is_never_failed(
    read: Read, store: EvidenceStore, severity: str
) -> None:
    at, job = read("a1")
    review = finalize(at, store, job.id, output(job, (f"- {severity} [b3] It is not there.",), severity))
    assert (review.verdict, review.reason) == ("UNJUDGED", "cites-unread")
    assert any("a2" in one.text and "[b3]" in one.text for one in review.findings)
    assert store.baseline(*job.pair) is None


def test_a_remark_about_what_was_not_opened_and_a_finding_about_the_note_stand(
    read: Read, store: EvidenceStore
) -> None:
    at, job = read("a1")
    said = ("- INFO [b3] Not looked at.", "- WARN [b1] Nothing is linked.", "- WARN [note] It is short.")
    review = finalize(at, store, job.id, output(job, said, "WARN"))
    assert (review.verdict, review.reason) == ("WARN", "judged")


def test_what_is_wrong_with_an_output_is_told(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    review = finalize(at, store, job.id, output(job, (), "FAIL"))
    assert (review.verdict, review.reason) == ("UNJUDGED", "malformed-output")
    (said,) = [one for one in review.findings if one.rule == "malformed-output"]
    assert "the result is FAIL, and the findings make it PASS" in said.text and "export" in said.fix


def test_a_byte_order_mark_before_the_output_is_no_fault(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    Path(job.output).write_text(output(job), encoding="utf-8-sig")
    assert finalize(at, store, job.id).verdict == "PASS"


def test_a_judge_that_was_asked_meanwhile_makes_a_conflict_and_takes_no_job_over(
    read: Read, store: EvidenceStore, tmp_path: Path
) -> None:
    at, job = read("a1")
    row = job.row._replace(attempt=0, folder=None, manifest={"plan": {}})
    judged = store.add_job(row)
    store.start_job(judged.job, judged.attempt)
    store.complete_job(judged.job, judged.attempt, verdict="PASS", reason="judged", review=None, linked=())
    assert "The text of 2" in open_offer(at, store, job.id, "a2").text
    Path(job.output).write_text(output(job))
    review = finalize(at, store, job.id)
    assert (review.verdict, review.conflict) == ("PASS", True)
    assert Path(job.output).exists()
    held = store.baseline(*job.pair)
    assert held is not None and held.attempt == judged.attempt


def test_a_claim_that_was_not_read_is_never_failed_whatever_the_criterion_asks_about(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    text = criterion(2).replace("[claims]", "[note]")
    at = base({**files(2, 2), f".admit/criteria/{CRITERION}.md": text})
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a1")
    review = finalize(at, store, job.id, output(job, ("- FAIL [b3] It is not there.",), "FAIL"))
    assert (review.verdict, review.reason) == ("UNJUDGED", "cites-unread")


def test_a_claim_whose_artifact_could_not_be_served_is_never_failed(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    (Path(at.root) / "kb/t2.md").write_text("other\n")
    with pytest.raises(NotOffered):
        open_offer(at, store, job.id, "a2")
    review = finalize(at, store, job.id, output(job, ("- FAIL [b3] It is not there.",), "FAIL"))
    assert (review.verdict, review.reason) == ("UNJUDGED", "cites-unread")


def test_why_there_is_no_verdict_is_printed_whole_with_what_to_do(read: Read, store: EvidenceStore) -> None:
    at, job = read()
    review = finalize(at, store, job.id, output(job))
    assert review.reason == "nothing-read"
    (line,) = [one for one in told(review) if "INFO nothing-read" in one]
    assert "none of the 3 artifacts was opened" in line and "the pair again; the output is kept)" in line


def test_an_output_that_is_no_utf8_is_told_as_that(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    Path(job.output).write_bytes(output(job).replace("looked", "l\u00f6\u00f6ked").encode("latin-1"))
    review = finalize(at, store, job.id)
    assert review.reason == "malformed-output" and "line 3: it is not UTF-8" in review.findings[0].text


def test_half_a_character_from_an_agent_is_no_utf8_either(read: Read, store: EvidenceStore) -> None:
    at, job = read("a1")
    review = finalize(at, store, job.id, output(job).replace("looked", "\ud800"))
    assert (review.reason, review.stored) == ("malformed-output", True)


def test_a_failure_of_a_claim_whose_ingest_has_no_extract_is_no_verdict(
    base: MakeBase, store: EvidenceStore, tmp_path: Path
) -> None:
    made = files(1, 2)
    made[NOTE] += "\nClaim 2 rests on [p](p.ingest.md).\n"
    at = base({**made, "kb/p.ingest.md": "---\nsource: u\n---\n# P\n\n### Quotes\n"})
    job = exported(at, store, tmp_path / "jobs")
    open_offer(at, store, job.id, "a1")
    review = finalize(at, store, job.id, output(job, ("- FAIL [b3] It says nothing.",), "FAIL"))
    assert (review.verdict, review.reason) == ("UNJUDGED", "cites-unread")
    assert review.coverage is not None
    assert [one.reason for one in review.coverage.unavailable] == ["no-extracts"]
    assert review.coverage.slots_used == 1
