"""Writers that are killed at any moment, and many that write at once: nothing acknowledged is lost."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admit.ledger import open_outputs
from admit.ledger.places import places
from admit.ledger.recover import recover
from admit.ledger.verify import verify

KILLS = 50
WORKER = Path(__file__).with_name("ledger_worker.py")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "admit"


def start(*args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(WORKER), *args], stdout=subprocess.PIPE)


def decisions() -> set[str]:
    con = sqlite3.connect(places().database)
    try:
        assert con.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if con.execute("PRAGMA user_version").fetchone() == (0,):
            return set()  # killed before it had tables
        return {row[0] for row in con.execute("SELECT decision_id FROM decisions")}
    finally:
        con.close()


def said(output: bytes) -> list[list[str]]:
    """The acknowledgements; a last line without its end was not given."""
    return [line.split() for line in output.decode().rpartition("\n")[0].splitlines()]


def test_50_kills_at_random_moments_lose_nothing_that_was_acknowledged(state):
    chance = random.Random(7)
    records: set[str] = set()
    outputs: dict[str, bytes] = {}
    for n in range(KILLS):
        worker = start(f"w{n}")
        assert worker.stdout is not None
        # Half of them are killed around their first record, while the database is opened or made.
        first = b"".join(worker.stdout.readline() for _ in range(1 + n % 2))
        time.sleep(chance.uniform(0, 0.05))
        worker.kill()
        rest = worker.stdout.read()
        worker.wait()
        worker.stdout.close()
        for kind, name, *more in said(first + rest):
            if kind == "record":
                records.add(name)
            else:
                outputs[name] = f"{more[0]} {more[1]}\n".encode() * 50
        if n % 10 == 9:
            assert records <= decisions() | waiting(), f"lost after kill {n + 1}"
    recover()
    assert records <= decisions()
    assert len(records) >= KILLS
    store = open_outputs()
    for output_id, data in outputs.items():
        assert store.open(output_id).read() == data
    report = verify()
    assert not report.corrupt
    # What died unacknowledged in a queue may show as a gap; nothing else is wrong.
    assert {finding.kind for finding in report.findings} <= {"gap"}


def waiting() -> set[str]:
    """Names of records in the spool."""
    from admit.ledger.prepare import decode
    from admit.ledger.spool import Spool

    spool = Spool(places().spool, "test", 0)
    found = [decode(body) for path in spool.files() for body in spool.bodies(path)]
    return {row[0] for one in found for row in one.tables.get("decisions", ())}


def test_6_processes_of_80_records_each_lose_none(state):
    workers = [start(f"p{n}", "80") for n in range(6)]
    acknowledged = set()
    for worker in workers:
        output, _ = worker.communicate(timeout=120)
        assert worker.returncode == 0
        acknowledged |= {name for _, name, _ in said(output)}
    recover()
    assert acknowledged == {f"p{n}-{k}" for n in range(6) for k in range(80)}
    assert decisions() == acknowledged
    assert verify().findings == ()


def test_processes_that_make_the_database_at_once_all_get_in(state):
    for turn in range(3):
        workers = [start(f"t{turn}n{n}", "1") for n in range(8)]
        for worker in workers:
            output, _ = worker.communicate(timeout=60)
            assert worker.returncode == 0 and len(said(output)) == 1
        recover()
        assert len(decisions()) == 8
        assert verify().findings == ()
        for path in state.iterdir():
            if path.is_file():
                path.unlink()
