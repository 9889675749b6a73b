"""Jobs under faults: a meter that cannot be written serves nothing, and no fault becomes a PASS."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.evidence.jobs import CRITERION, NOTE, files, output, planned

from admit.config.layers import load as load_config
from admit.errors import AdmitError, BudgetExhausted, LedgerError, Locked, NotOffered
from admit.evidence.base import Base
from admit.evidence.job.export import export
from admit.evidence.job.finalize import finalize
from admit.evidence.job.manifest import Job
from admit.evidence.job.opening import open_offer, slots_used
from admit.evidence.model import Review
from admit.ledger.evidence import EvidenceStore

OFFERS, CAP = 9, 4

OPENER = """
import sys
from admit.errors import AdmitError
from admit.evidence.base import Base
from admit.evidence.job.opening import open_offer
from admit.ledger.evidence import EvidenceStore

root, database, job = sys.argv[1:]
base, store = Base.open(root), EvidenceStore(database, base="here")
for k in range(1, 10):
    try:
        print(open_offer(base, store, job, f"a{k}").offer, flush=True)
    except AdmitError as refused:
        print("refused", flush=True)
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Base:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "root"
    for path, text in files(OFFERS, CAP).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Base.open(str(root), config=load_config(str(root)))


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "ledger.db"), base="here", busy_ms=50)


@pytest.fixture
def job(base: Base, store: EvidenceStore, tmp_path: Path) -> Job:
    return export(base, store, planned(base), str(tmp_path / "jobs"), "agent")


def test_while_another_process_holds_the_ledger_nothing_is_opened_and_no_verdict_is_kept(
    base: Base, store: EvidenceStore, job: Job, tmp_path: Path
) -> None:
    open_offer(base, store, job.id, "a1")
    with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Locked):
            open_offer(base, store, job.id, "a2")
        with pytest.raises(Locked):  # also what is open: that it was is known, and still it needs the meter
            open_offer(base, store, job.id, "a1")
        review = finalize(base, store, job.id, output(job))
        assert (review.verdict, review.stored) == ("PASS", False)
        other.execute("ROLLBACK")
    assert [row.id for row in store.reads(job.id, 1)] == ["a1"]
    assert finalize(base, store, job.id, output(job)).stored


def test_with_a_damaged_ledger_nothing_is_opened(
    base: Base, store: EvidenceStore, job: Job, tmp_path: Path
) -> None:
    for path in tmp_path.glob("ledger.db*"):
        path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(LedgerError):
        open_offer(base, store, job.id, "a1")
    with pytest.raises(LedgerError):
        finalize(base, store, job.id, output(job))


def test_an_edited_row_of_reads_is_told_and_no_verdict_follows(
    base: Base, store: EvidenceStore, job: Job, tmp_path: Path
) -> None:
    open_offer(base, store, job.id, "a1")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as other, other:
        other.execute("UPDATE evidence_read SET id = 'a77'")
    with pytest.raises(LedgerError, match="evidence_read"):
        finalize(base, store, job.id, output(job))


@pytest.mark.parametrize("seen", range(CAP + 1))
def test_an_agent_that_is_killed_goes_on_with_what_it_had_left(
    base: Base, store: EvidenceStore, job: Job, tmp_path: Path, seen: int
) -> None:
    database = str(tmp_path / "ledger.db")
    agent = subprocess.Popen(
        [sys.executable, "-c", OPENER, base.root, database, job.id], stdout=subprocess.PIPE, text=True
    )
    assert agent.stdout is not None
    told = [agent.stdout.readline().strip() for _ in range(seen)]
    os.kill(agent.pid, signal.SIGKILL)
    told += agent.communicate()[0].split()
    resumed = export(base, store, planned(base), str(tmp_path / "jobs"), "agent")
    assert (resumed.id, resumed.attempt) == (job.id, 1)
    before = {row.id for row in store.reads(job.id, 1) if row.refused is None}
    assert {one for one in told if one != "refused"} <= before
    patient = EvidenceStore(database, base="here")
    for k in range(OFFERS, 0, -1):
        try:
            assert open_offer(base, patient, job.id, f"a{k}").again == (f"a{k}" in before)
        except BudgetExhausted:
            assert f"a{k}" not in before
    assert slots_used(patient.reads(job.id, 1)) == CAP


def test_two_that_end_one_job_at_once_get_one_review(base: Base, job: Job, tmp_path: Path) -> None:
    patient = EvidenceStore(str(tmp_path / "ledger.db"), base="here", busy_ms=20_000)
    open_offer(base, patient, job.id, "a1")
    start, got = threading.Barrier(3), list[Review]()

    def end() -> None:
        start.wait()
        got.append(finalize(base, patient, job.id, output(job)))

    threads = [threading.Thread(target=end) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert got[0] == got[1] == got[2] and got[0].stored
    row = patient.baseline(NOTE, CRITERION, "agent")
    assert row is not None and row.revision == 1


def test_a_note_that_is_edited_meanwhile_is_stored_against_what_was_reviewed(
    base: Base, store: EvidenceStore, job: Job
) -> None:
    open_offer(base, store, job.id, "a1")
    path = Path(base.root, NOTE)
    path.write_text("# Another\n\nNothing is left.\n")
    review = finalize(base, store, job.id, output(job, ("- INFO [b2 a1] It holds.",)))
    assert review.findings[0].claim == "Claim 1 rests on [source 1](t1.md)."
    row = store.baseline(NOTE, CRITERION, "agent")
    assert row is not None and row.note_sha256 == job.row.note_sha256 != base.note(NOTE).sha256
    kept = store.text(row.note_sha256)
    assert kept is not None and b"Claim 1 rests on" in kept


@pytest.mark.parametrize("seed", range(200))
def test_no_damage_to_an_output_or_a_file_makes_a_fail_a_pass(
    base: Base, store: EvidenceStore, job: Job, seed: int
) -> None:
    chance = random.Random(seed)
    for id in chance.sample([f"a{k}" for k in range(1, OFFERS + 1)], CAP):
        if chance.random() < 0.2:
            Path(base.root, f"kb/t{id[1:]}.md").write_text("changed")
        try:
            open_offer(base, store, job.id, id)
        except NotOffered:
            continue
    lines = output(job, ("- FAIL [b2 a1] It says the opposite.",), "FAIL").splitlines()
    damage = chance.choice(("cut", "drop", "repeat", "swap", "flip", "none"))
    place = chance.randrange(len(lines))
    if damage == "cut":
        lines = lines[:place]
    elif damage == "drop":
        del lines[place]
    elif damage == "repeat":
        lines.insert(chance.randrange(len(lines)), lines[place])
    elif damage == "swap":
        chance.shuffle(lines)
    elif damage == "flip":
        lines[place] = lines[place].replace("FAIL", chance.choice(("PASS", "pass", "WARN", "")))
    try:
        review = finalize(base, store, job.id, "\n".join(lines))
    except AdmitError as fault:
        raise AssertionError(f"{damage}: {fault}") from fault
    assert review.verdict in ("FAIL", "UNJUDGED")
    assert (review.verdict == "FAIL") == bool(store.baselines())
