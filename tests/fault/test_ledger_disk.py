"""Disks that are full, folders that cannot be written: the answer stands, and every drop is counted."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ledger_faults import as_nobody, give_to_nobody

from admit.core.admission import decide  # noqa: F401  what a child needs is loaded before it loses its rights
from admit.errors import StoreFailed
from admit.ledger import database, drain, prepare, queries, reading, retention
from admit.ledger.outputs import FileOutputs
from admit.ledger.places import places
from admit.ledger.port import CandidateRow, DecisionRow, FlushReport, OutputMeta, Record
from admit.ledger.recover import recover
from admit.ledger.spool import Spool
from admit.ledger.sqlite import SqliteLedger
from admit.outputs.gate import OutputGate
from admit.outputs.model import OutputConfig, RawOutput, Task

LOADED = (database, drain, prepare, queries, reading, retention)
RECORDS = 150
DISK = 64 * 1024
LOG = b"".join(b"line %d of the build log, with some words in it\n" % k for k in range(3_000))


def record(k: int) -> Record:
    name = f"d{k:03}"
    return Record(
        DecisionRow(name, ts_ms=1, door="outputs", extra={"filling": f"{k}" * 300}),
        tuple(CandidateRow(name, n, f"c{n}") for n in range(1, 5)),
    )


def write_all(ledger: SqliteLedger) -> FlushReport:
    """Write every record, one flush each, and give the sums."""
    sums = [0, 0, 0]
    for k in range(RECORDS):
        ledger.append(record(k))
        sums = [old + new for old, new in zip(sums, ledger.flush(5_000), strict=True)]
    return FlushReport(*sums)


def kept() -> set[str]:
    """Every decision that is there, in the database or in the spool; read from a copy with room around it."""
    found = set()
    with tempfile.TemporaryDirectory() as room:
        copy = os.path.join(room, "state")
        shutil.copytree(places().state, copy)
        database = os.path.join(copy, "ledger.db")
        if os.path.exists(database) and os.path.getsize(database):
            con = sqlite3.connect(database)
            assert con.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if con.execute("PRAGMA user_version").fetchone() != (0,):
                found |= {row[0] for row in con.execute("SELECT decision_id FROM decisions")}
            con.close()
        spool = Spool(os.path.join(copy, "spool"), "test", 0)
        for path in spool.files():
            for body in spool.bodies(path):
                found |= {row[0] for row in prepare.decode(body).tables.get("decisions", ())}
    return found


def check_full(config: dict[str, object]) -> None:
    """Fill the disk record by record; what was said of each must be what is there."""
    ledger = SqliteLedger(config)
    report = write_all(ledger)
    assert sum(report) == RECORDS
    assert report.dropped > 0
    counters = ledger.counters()
    assert sum(counters.dropped.values()) == report.dropped
    assert set(counters.dropped) <= {"full", "io"}
    assert counters.findings
    assert len(kept()) == report.committed + report.spooled

    gate = OutputGate(OutputConfig(), store=FileOutputs(ledger=ledger), ledger=ledger, key=bytes(32))
    result = gate.admit(RawOutput(LOG, 1), Task("why does it fail"))
    assert (result.data, result.changed, result.reason) == (LOG, False, "store_failed")
    ledger.close()
    assert len(kept()) == report.committed + report.spooled


def in_a_child(work: Callable[[], None]) -> None:
    def run() -> int:
        work()
        return 0

    assert as_nobody(run, keep_rights=True) == 0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def limited(extra: int) -> None:
    """No file of this process may grow beyond 64 KiB: what a full disk does, without a disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK + extra, DISK + extra))


def test_where_no_file_may_grow_past_64_kib_every_record_is_there_or_counted(home):
    in_a_child(lambda: (limited(0), check_full({}), None)[-1])


def test_a_database_that_fills_up_while_it_is_written_keeps_what_it_acknowledged(home):
    first = SqliteLedger()
    first.append(record(999))
    assert first.flush(5_000).committed == 1
    first.close()
    size = os.path.getsize(places().database)

    def work() -> None:
        limited(size)
        ledger = SqliteLedger()
        report = write_all(ledger)
        assert sum(report) == RECORDS and report.committed > 0 and report.dropped + report.spooled > 0
        assert sum(ledger.counters().dropped.values()) == report.dropped
        assert len(kept() - {"d999"}) == report.committed + report.spooled

    in_a_child(work)
    # With room again everything that was acknowledged comes in.
    before = kept()
    recover()
    assert kept() == before


def test_a_real_disk_of_64_kib_loses_no_answer_and_counts_every_drop(home):
    home.mkdir()
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(home)], capture_output=True
        ).returncode
    )
    if not mounted:
        pytest.skip("mounting a small disk takes root; the same is tested above by a limit on files")
    try:
        in_a_child(lambda: check_full({}))
        disk = os.statvfs(home)
        assert disk.f_bavail * disk.f_frsize < DISK
    finally:
        subprocess.run(["umount", str(home)], check=True)


@pytest.mark.parametrize("made_before", [False, True], ids=["nothing there yet", "everything there"])
def test_in_a_home_that_cannot_be_written_the_answer_stands_and_drops_are_counted(home, made_before):
    state = home / "admit"
    state.mkdir(parents=True, mode=0o700)
    if made_before:
        ledger = SqliteLedger()
        FileOutputs(ledger=ledger).put(b"stored before", OutputMeta())
        ledger.append(record(0))
        assert ledger.flush(5_000).committed == 2
        ledger.close()
    paths = [state, *state.rglob("*")]
    give_to_nobody(*paths)
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    for parent in (home, *home.parents):
        if parent.stat().st_uid == os.getuid() and parent.name.startswith(("pytest", "test", "state")):
            parent.chmod(0o755)

    def work() -> int:
        ledger = SqliteLedger()
        ledger.append(record(1))
        assert ledger.flush(5_000) == FlushReport(dropped=1)
        (cause,) = ledger.counters().dropped
        assert cause in ("readonly", "io"), cause
        assert len(ledger.keyed(["x"])[0]) == 37
        try:
            FileOutputs(ledger=ledger).put(b"data", OutputMeta())
        except StoreFailed:
            pass
        else:
            return 7
        gate = OutputGate(OutputConfig(), store=FileOutputs(ledger=ledger), ledger=ledger, key=bytes(32))
        result = gate.admit(RawOutput(LOG, 1), Task("why does it fail"))
        assert (result.data, result.changed, result.reason) == (LOG, False, "store_failed")
        ledger.close()
        return 0

    assert as_nobody(work) == 0
    for path in paths:
        path.chmod(0o700)
