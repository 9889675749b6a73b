"""`limits.db` that cannot be written, is damaged, held or deleted: nothing is sent, and no cap opens."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ledger_faults import as_nobody, give_to_nobody

from admit.cli import checks
from admit.config.layers import load
from admit.judges.limits import Caps, Estimate, Limits, Refusal, Ticket
from admit.judges.spend import Database, Unusable, problem

DESTINATION = "https://judge.example:443"
CAPS = Caps(8, 40, 40, 5_000_000, 1.0, 3, 60)
UNKNOWN = Refusal("budget_unknown")
TRIES = """
import sys
import threading
from admit.cli import checks
from admit.config.layers import load
from admit.judges.limits import Caps, Estimate, Limits, Ticket
of = Limits(Caps(8, 500, int(sys.argv[2]), 10**9, 1.0, 3, 60), sys.argv[1])
for _ in range(30):
    print(getattr(of.reserve("https://judge.example:443", None, Estimate(1, 0.0)), "reason", "ticket"))
"""


def limits(folder: Path, connect: Any = sqlite3.connect) -> Limits:
    return Limits(CAPS, str(folder / "limits.db"), connect=connect)


def reserve(of: Limits) -> Ticket | Refusal:
    return of.reserve(DESTINATION, "s", Estimate(10, 0.001))


def settle(of: Limits, ticket: Ticket, reason: str | None = None, sent: str = "yes") -> None:
    of.settle(ticket, reason=reason, sent=sent, status=None, input_tokens=None, usd=None, retry_after_s=None)


def counted(folder: Path) -> int:
    """The requests that count, of all days."""
    con = sqlite3.connect(folder / "limits.db")
    try:
        return con.execute("SELECT sum(requests) FROM spend WHERE scope LIKE 'day:%'").fetchone()[0] or 0
    finally:
        con.close()


def failing(at: int, done: list[int], *, for_ever: bool = False) -> Callable[..., sqlite3.Connection]:
    """SQLite of which the n-th operation fails, opening included; `done` counts them."""

    def operation() -> None:
        done[0] += 1
        if done[0] == at or (for_ever and done[0] > at):
            raise sqlite3.OperationalError("disk I/O error")

    class Connection(sqlite3.Connection):
        def execute(self, *args: Any) -> sqlite3.Cursor:
            operation()
            return super().execute(*args)

    def connect(path: str, **options: Any) -> sqlite3.Connection:
        operation()
        return sqlite3.connect(path, factory=Connection, **options)

    return connect


def work(of: Limits) -> list[Ticket | Refusal]:
    """Calls that are answered, fail, are never sent and never settled."""
    ends: list[tuple[str | None, str] | None] = [
        (None, "yes"),
        ("deadline", "unknown"),
        ("connect", "no"),
        None,
        (None, "yes"),
    ]
    found = []
    for end in ends:
        given = reserve(of)
        found.append(given)
        if isinstance(given, Ticket) and end is not None:
            settle(of, given, *end)
    return found


@pytest.mark.parametrize("for_ever", [False, True])
def test_whatever_operation_fails_nothing_is_raised_and_all_that_was_sent_is_counted(tmp_path, for_ever):
    operations = [0]
    (tmp_path / "healthy").mkdir()
    work(limits(tmp_path / "healthy", failing(0, operations)))
    assert operations[0] > 40
    for at in range(1, operations[0] + 1):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        of = limits(folder, failing(at, [0], for_ever=for_ever))
        found = work(of)
        refused = [one for one in found if isinstance(one, Refusal)]
        assert all(one == UNKNOWN for one in refused), at
        assert len(refused) <= (len(found) if for_ever else 1)
        tickets = len(found) - len(refused)
        unsent = isinstance(found[2], Ticket)
        # What was answered, has no known end, or was never settled counts; the one unsent may not.
        if tickets:
            assert counted(folder) >= tickets - unsent, at
        if not for_ever:
            assert isinstance(reserve(of), Ticket)
            assert counted(folder) in (tickets + 1, tickets + 1 - unsent)


def test_a_settlement_that_could_not_be_written_is_written_with_the_next(tmp_path):
    of = limits(tmp_path)
    tickets = [reserve(of) for _ in range(3)]
    holder = sqlite3.connect(tmp_path / "limits.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    for one in tickets:
        assert isinstance(one, Ticket)
        settle(of, one, "connect", "no")
    holder.execute("ROLLBACK")
    assert counted(tmp_path) == 3
    assert reserve(of).reason == "cooldown"  # type: ignore[union-attr]
    assert counted(tmp_path) == 0
    holder.close()


def test_a_database_that_another_process_holds_is_waited_for_a_moment_and_no_more(tmp_path):
    of = limits(tmp_path)
    assert isinstance(reserve(of), Ticket)
    code = (
        "import sqlite3, sys\n"
        "con = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "con.execute('BEGIN EXCLUSIVE')\n"
        "print('held', flush=True)\n"
        "sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "limits.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert reserve(of) == UNKNOWN
        assert reserve(limits(tmp_path)) == UNKNOWN
    finally:
        holder.communicate()
    assert isinstance(reserve(of), Ticket)


def test_a_full_disk_refuses_and_what_was_counted_stays(tmp_path):
    def connect(path: str, **options: Any) -> sqlite3.Connection:
        con = sqlite3.connect(path, **options)
        con.execute("PRAGMA page_size = 512")
        con.execute("PRAGMA max_page_count = 10")
        return con

    of = Limits(CAPS._replace(day_requests=10**6, session_requests=10**6), str(tmp_path / "limits.db"),
                connect=connect)  # fmt: skip
    found = [of.reserve(DESTINATION, f"session {n}", Estimate(1, 0.0)) for n in range(60)]
    tickets = [one for one in found if isinstance(one, Ticket)]
    assert 0 < len(tickets) < 60
    assert {one for one in found if isinstance(one, Refusal)} == {UNKNOWN}
    assert counted(tmp_path) == len(tickets)
    settle(of, tickets[0])
    assert counted(tmp_path) == len(tickets)


def test_a_folder_or_file_that_cannot_be_written_refuses():
    folder = Path("/tmp") / f"admit-limits-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
        reserve(limits(folder))
        give_to_nobody(folder, *folder.iterdir())
        assert as_nobody(lambda: 0 if isinstance(reserve(limits(folder)), Ticket) else 1) == 0
        (folder / "limits.db").chmod(0o400)
        assert as_nobody(lambda: 0 if reserve(limits(folder)) == UNKNOWN else 1) == 0
        (folder / "limits.db").chmod(0o600)
        for file in folder.iterdir():
            file.unlink()
        folder.chmod(0o500)
        assert as_nobody(lambda: 0 if reserve(limits(folder)) == UNKNOWN else 1) == 0
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)


def test_another_users_database_is_not_written():
    if os.geteuid() != 0:
        pytest.skip("only root can make files of two users")
    folder = Path("/tmp") / f"admit-limits-other-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
        reserve(limits(folder))
        give_to_nobody(folder / "limits.db")
        before = (folder / "limits.db").read_bytes()
        assert reserve(limits(folder)) == UNKNOWN
        give_to_nobody(folder)
        assert reserve(limits(folder)) == UNKNOWN
        assert (folder / "limits.db").read_bytes() == before
    finally:
        shutil.rmtree(folder)


def _of_another_program(path: Path) -> None:
    con = sqlite3.connect(path)
    con.execute(
        "CREATE TABLE spend (scope TEXT PRIMARY KEY, requests TEXT, input_tokens TEXT, nano_usd TEXT)"
    )
    con.execute("PRAGMA user_version = 1")
    con.commit()
    con.close()


def _newer(path: Path) -> None:
    con = sqlite3.connect(path)
    con.execute("PRAGMA user_version = 2")
    con.close()


def _with_texts_for_numbers(path: Path) -> None:
    con = sqlite3.connect(path)
    con.execute("UPDATE spend SET requests = 'many', input_tokens = x'00', nano_usd = 'much'")
    con.commit()
    con.close()


def _replaced_by(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def replaced(path: Path) -> object:
        path.unlink()
        return make(path)

    return replaced


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no database": lambda path: path.write_bytes(b"not a database, only bytes " * 400),
    "its head overwritten": lambda path: path.write_bytes(b"\0" * 100 + path.read_bytes()[100:]),
    "its pages overwritten": lambda path: path.write_bytes(
        path.read_bytes()[:4096] + b"\xa5" * (len(path.read_bytes()) - 4096)
    ),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "another program's": _replaced_by(_of_another_program),
    "newer": _newer,
    "texts for numbers": _with_texts_for_numbers,
    "a folder": _replaced_by(Path.mkdir),
    "a pipe": _replaced_by(os.mkfifo),
    "a link": _replaced_by(lambda path: path.symlink_to(path.with_name("elsewhere.db"))),
    "a link that leads nowhere": _replaced_by(lambda path: path.symlink_to("/nowhere/limits.db")),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_refuses_for_as_long_as_it_is_there(tmp_path, damage):
    reserve(limits(tmp_path))
    sqlite3.connect(tmp_path / "elsewhere.db").close()
    DAMAGES[damage](tmp_path / "limits.db")
    of = limits(tmp_path)
    assert [reserve(of), reserve(of)] == [UNKNOWN, UNKNOWN]
    settle(of, Ticket("1" * 32, DESTINATION))
    assert reserve(of) == UNKNOWN
    if damage != "texts for numbers":
        found = problem(str(tmp_path / "limits.db"))
        assert found is not None and found.text and f"rm {tmp_path}" in found.fix


def test_a_database_that_can_be_written_or_is_not_there_has_no_problem(tmp_path):
    path = str(tmp_path / "limits.db")
    assert problem(path) is None and not os.path.exists(path)
    of = limits(tmp_path)
    reserve(of)
    before = counted(tmp_path)
    assert problem(path) is None
    assert isinstance(reserve(of), Ticket) and counted(tmp_path) == before + 1


@pytest.mark.parametrize("way", ["deleted", "replaced", "the folder deleted"])
def test_a_database_that_goes_away_under_way_refuses_once_and_then_is_a_new_one(tmp_path, way):
    state = tmp_path / "state"
    of = limits(state)
    ticket = reserve(of)
    assert isinstance(ticket, Ticket)
    if way == "deleted":
        (state / "limits.db").unlink()
    elif way == "replaced":
        (state / "limits.db").unlink()
        assert isinstance(reserve(limits(state)), Ticket)
    else:
        shutil.rmtree(state)
    assert reserve(of) == UNKNOWN
    assert isinstance(reserve(of), Ticket)
    before = counted(state)
    settle(of, ticket, "connect", "no")
    assert counted(state) == before  # what was reserved in the old file is not given back in the new one


@pytest.mark.parametrize("cap", [1, 40, 100])
def test_eight_processes_together_never_pass_a_cap(tmp_path, cap):
    path = str(tmp_path / "limits.db")
    workers = [
        subprocess.Popen([sys.executable, "-c", TRIES, path, str(cap)], stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    ends = [line for one in workers for line in one.communicate()[0].split()]
    assert len(ends) == 240
    assert set(ends) <= {"ticket", "budget_requests", "budget_unknown"}
    assert 1 <= ends.count("ticket") <= cap
    assert counted(tmp_path) == ends.count("ticket")
    if "budget_unknown" not in ends:
        assert ends.count("ticket") == cap


def test_a_child_of_a_fork_opens_the_same_file_itself(tmp_path):
    opened = []

    def connect(path: str, **options: Any) -> sqlite3.Connection:
        opened.append(path)
        return sqlite3.connect(path, **options)

    of = limits(tmp_path, connect)
    reserve(of)

    def child() -> int:
        counted_there = isinstance(reserve(of), Ticket) and isinstance(reserve(of), Ticket)
        return 0 if counted_there and len(opened) == 2 else 1

    assert as_nobody(child, keep_rights=True) == 0
    assert isinstance(reserve(of), Ticket) and len(opened) == 1
    assert counted(tmp_path) == 4


def test_a_database_that_goes_away_within_a_transaction_has_counted_nothing(tmp_path):
    database = Database(str(tmp_path / "limits.db"))
    with pytest.raises(Unusable), database.writing() as con:
        con.execute("INSERT INTO spend VALUES ('day:1', 1, 1, 1, 1)")
        (tmp_path / "limits.db").rename(tmp_path / "away.db")
        (tmp_path / "limits.db").touch()
    with database.writing() as con:
        assert con.execute("SELECT count(*) FROM spend").fetchone() == (0,)
    database.close()


def test_the_doctor_names_a_database_in_which_nothing_can_be_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    config = load(str(tmp_path), overrides={"judge.profile": "jev"}, project=False)
    reserve(limits(tmp_path / "admit"))
    assert not [one for one in checks.judge(config) if "limits.db" in one.text]
    (tmp_path / "admit" / "limits.db").write_bytes(b"not a database " * 1000)
    (fault,) = [one for one in checks.judge(config) if "limits.db" in one.text]
    assert "file is not a database" in fault.text and "rm " in fault.fix


def test_a_settlement_without_a_database_has_no_notes_of_its_own_and_raises_nothing(tmp_path):
    of = limits(tmp_path)
    note = ("judge.cooldown", {"destination": DESTINATION, "until_s": 1, "cause": "deadline"})
    (tmp_path / "limits.db").mkdir()
    ticket = Ticket("1" * 32, DESTINATION, notes=(note,))
    usual = {"reason": "deadline", "sent": "unknown", "status": None}
    assert of.settle(ticket, **usual, input_tokens=None, usd=None, retry_after_s=None) == (note,)


def test_a_thread_that_hangs_in_the_database_does_not_hold_up_the_others(tmp_path):
    hanging, go_on = threading.Event(), threading.Event()
    opened = []

    def connect(path: str, **options: Any) -> sqlite3.Connection:
        opened.append(path)
        hanging.set()
        assert go_on.wait(60)
        return sqlite3.connect(path, **options)

    of = limits(tmp_path, connect)
    found = []
    stuck = threading.Thread(target=lambda: found.append(reserve(of)))
    stuck.start()
    assert hanging.wait(60)
    late = threading.Timer(30, go_on.set)  # so that a failure of this test ends too
    late.start()
    assert reserve(of) == UNKNOWN
    assert len(opened) == 1 and not go_on.is_set()
    late.cancel()
    go_on.set()
    stuck.join(60)
    assert isinstance(found[0], Ticket) and isinstance(reserve(of), Ticket)
