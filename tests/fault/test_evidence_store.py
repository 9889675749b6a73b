"""The evidence tables under races, kills and faults: the old state or the new one, never half of it."""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evidence_worker as worker
import pytest
from evidence_worker import ENDED, HASH, PAIR, READ, Counted, new_job, row
from ledger_faults import as_nobody, give_to_nobody

from admit.errors import BaselineConflict, Corrupt, LedgerError, Locked, TooNew
from admit.ledger import evidence
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import BaselineRow, JobRow, ReadRow

WORKER = str(Path(worker.__file__))
WAIT_S = 60
State = tuple[BaselineRow | None, JobRow | None]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "admit" / "ledger.db")


@pytest.fixture
def store(path: str) -> EvidenceStore:
    """A pair that was accepted once, and an open job that is to follow it."""
    made = EvidenceStore(path, busy_ms=50)
    made.accept(row("e-old"), expect=None)
    made.add_job(new_job())
    return made


def state(store: EvidenceStore) -> State:
    return store.baseline(*PAIR), store.job("e-new")


def whole(found: State, before: State) -> bool:
    """Whether it is the new state; anything but the old one and the new one fails."""
    if found == before:
        return False
    baseline, job = found
    assert baseline is not None and job is not None
    assert (baseline.revision, baseline.job, baseline.linked) == (2, "e-new", READ)
    assert (job.state, job.verdict, job.review) == ("completed", "PASS", {"done": True})
    return True


def test_of_two_processes_that_accept_at_one_revision_exactly_one_wins(path):
    rounds = 40
    racers = [
        subprocess.Popen(
            [sys.executable, WORKER, "race", path, name, str(rounds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in ("one", "two")
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout is not None and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [int(racer.communicate(timeout=WAIT_S)[0]) for racer in racers]
    stands = EvidenceStore(path).baseline(*PAIR)
    assert stands is not None and stands.revision == sum(won) >= rounds


def test_of_many_threads_that_expect_one_revision_exactly_one_wins(store):
    def accept(name: int) -> bool:
        try:
            return EvidenceStore(store._path).accept(row(f"e-{name}"), expect=1) == 2
        except BaselineConflict:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(accept, range(8))) == 1
    assert store.baseline(*PAIR).revision == 2


def test_openings_from_many_threads_each_see_all_earlier_ones(store):
    at = EvidenceStore(store._path)

    def decide(earlier: tuple[ReadRow, ...]) -> ReadRow:
        within = len(earlier) < 3
        return ReadRow(
            "a1", "t.md", "t.md", "whole", HASH if within else None, 1, int(within),
            None if within else "budget", "mcp",
        )  # fmt: skip

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: at.add_read("e-new", 1, decide), range(8)))
    reads = at.reads("e-new", 1)
    assert [one.n for one in reads] == list(range(1, 9))
    assert [one.slots for one in reads] == [1, 1, 1, 0, 0, 0, 0, 0]


def test_killed_before_any_statement_it_is_the_old_state_or_the_new_one(store, path):
    before = state(store)
    for k in itertools.count():
        done = subprocess.run(
            [sys.executable, WORKER, "die", path, str(k)], capture_output=True, text=True, timeout=WAIT_S
        )
        if not done.returncode:
            break
        assert done.returncode == -signal.SIGKILL
        assert state(store) == before
    assert k > 4 and whole(state(store), before)


@pytest.mark.parametrize("fault", ["database or disk is full", "disk I/O error"])
@pytest.mark.parametrize("after", [False, True])
def test_a_fault_at_any_statement_leaves_the_old_state_or_the_new_one(store, monkeypatch, fault, after):
    """A statement fails before it is run, or is run and fails afterwards; COMMIT, too."""
    before = state(store)
    real = evidence.open_writer
    for k in itertools.count():
        left = k

        class Faulty(Counted):
            def execute(self, sql: str, *args: object) -> sqlite3.Cursor:
                nonlocal left
                left -= 1
                if left == -1:
                    if after and sql != "COMMIT":
                        self._con.execute(sql, *args)
                    raise sqlite3.OperationalError(fault)
                return self._con.execute(sql, *args)

        monkeypatch.setattr(
            evidence, "open_writer", lambda *args, wrap=Faulty, **more: wrap(real(*args, **more), None)
        )
        try:
            store.complete_job("e-new", 1, **ENDED, linked=READ)
            break
        except LedgerError as raised:
            assert fault in str(raised)
        assert state(store) == before
    assert k > 4 and whole(state(store), before)


def test_a_locked_database_is_said_so_after_the_busy_time_and_read_all_the_same(store, path):
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    before = state(store)
    for act in (
        lambda: store.put_text(b"x"),
        lambda: store.accept(row("e-2"), expect=1),
        lambda: store.retire(*PAIR, expect=1),
        lambda: store.add_job(new_job()),
        lambda: store.complete_job("e-new", 1, **ENDED, linked=READ),
    ):
        with pytest.raises(Locked):
            act()
    assert state(store) == before
    holder.execute("ROLLBACK")
    holder.close()
    assert store.put_text(b"x")


def test_a_full_database_is_an_error_of_the_ledger_and_nothing_is_written(store, monkeypatch):
    before = state(store)
    real = evidence.open_writer

    def full(path: str, busy_ms: int) -> sqlite3.Connection:
        con = real(path, busy_ms)
        pages = con.execute("PRAGMA page_count").fetchone()[0]
        con.execute(f"PRAGMA max_page_count={pages}")
        return con

    monkeypatch.setattr(evidence, "open_writer", full)
    with pytest.raises(LedgerError, match="full"):
        store.accept(row("e-2"), expect=1, texts=(os.urandom(200_000),))
    assert state(store) == before


def test_a_ledger_that_may_only_be_read_is_an_error_of_the_ledger(store, path, tmp_path):
    folder = Path(path).parent
    give_to_nobody(folder, *folder.iterdir())
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.getuid() and parent.name.startswith(("pytest", "test")):
            parent.chmod(0o755)
    os.chmod(path, 0o400)

    def work() -> int:
        with pytest.raises(LedgerError):
            store.put_text(b"x")
        return 0

    assert as_nobody(work) == 0


def test_a_read_only_connection_is_an_error_of_the_ledger(store, monkeypatch):
    def readonly(path: str, busy_ms: int) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)

    monkeypatch.setattr(evidence, "open_writer", readonly)
    with pytest.raises(LedgerError, match="readonly"):
        store.put_text(b"x")


def test_a_place_that_cannot_be_made_is_an_error_of_the_ledger(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError):
        EvidenceStore(str(tmp_path / "file" / "ledger.db")).put_text(b"x")


def test_what_is_no_database_is_corrupt_and_stays_as_it_is(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_bytes(b"no database" * 500)
    path.chmod(0o600)
    store = EvidenceStore(str(path))
    for act in (lambda: store.put_text(b"x"), store.baselines):
        with pytest.raises(Corrupt, match="admit ledger recover"):
            act()
    assert path.read_bytes() == b"no database" * 500


def test_a_database_of_a_newer_version_is_never_written(store, path):
    con = sqlite3.connect(path)
    con.execute("PRAGMA user_version=9")
    con.close()
    with pytest.raises(TooNew, match="update Admit"):
        store.put_text(b"x")
    assert store.baseline(*PAIR) is not None
