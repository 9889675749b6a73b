"""`limits.db`: what was sent and spent, and what is reserved; apart from the ledger, so that neither waits.

One row a UTC day and one a session hold what is counted against a cap, reservations included. A row of its
own per reservation lets it be settled once, and only in the file that holds it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from admit.config.files import Finding
from admit.config.places import private_folder

BUSY_S = 0.05
VERSION = 1
KEPT_DAYS = 32
NANO = 1_000_000_000
"""USD are counted in whole nano-dollars: what is given back leaves exactly what was there before."""

_SCHEMA = (
    "CREATE TABLE spend (scope TEXT PRIMARY KEY, day INTEGER NOT NULL, requests INTEGER NOT NULL,"
    " input_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE reserved (id TEXT PRIMARY KEY, day INTEGER NOT NULL, session TEXT,"
    " input_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE cooldown (destination TEXT PRIMARY KEY, failures INTEGER NOT NULL,"
    " since_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, probe_ms INTEGER NOT NULL) WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)


class Unusable(Exception):
    """The file is not one to count in; the message says why."""


class _Undo(Exception):
    """Ends a transaction that is not meant to stay."""


class Spend(NamedTuple):
    """What counts against a cap: requests, input tokens, and nano-dollars."""

    requests: int = 0
    input_tokens: int = 0
    nano_usd: int = 0


class Database:
    """The open file; not for two threads at once.

    Args:
        path: The file; its folder is made where it is missing.
        connect: How SQLite opens it.
    """

    def __init__(self, path: str, connect: Callable[..., sqlite3.Connection] = sqlite3.connect) -> None:
        self.path = path
        self._connect = connect
        self._con: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        self._pid = 0
        # The parent's connection after a fork: closing it, or letting it be collected, could undo what the
        # parent has not committed yet.
        self._inherited: sqlite3.Connection | None = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, committed at the end; after any error the file is let go of.

        Waits at most 50 ms for another process.

        Raises:
            Unusable: The file was made by a newer version, is another's, or was deleted or replaced on the
                way: what was committed counts nowhere.
            OSError, sqlite3.Error: It cannot be opened, read or written.
        """
        try:
            con = self._opened()
            con.execute("BEGIN IMMEDIATE")
            _prepare(con)
            yield con
            con.execute("COMMIT")
            if self._file is None or not os.path.samestat(os.stat(self.path), self._file):
                raise Unusable("was replaced while it was in use")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file; a transaction that is not committed is undone. Never raises."""
        con, self._con, self._file = self._con, None, None
        if con is not None and self._pid != os.getpid():
            self._inherited = con
        elif con is not None:
            with suppress(sqlite3.Error):
                con.close()

    def _opened(self) -> sqlite3.Connection:
        if self._con is not None and self._pid != os.getpid():
            self.close()
        if self._con is None:
            self._file = _made(self.path)
            self._pid = os.getpid()
            self._con = self._connect(
                self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            # No write-ahead log: it does not work where the home folder is on a network.
            self._con.execute("PRAGMA journal_mode = TRUNCATE")
            self._con.execute("PRAGMA synchronous = NORMAL")
        return self._con


def problem(path: str) -> Finding | None:
    """Why nothing can be counted in the database that is there; None where it can, or there is none.

    Tries a reservation and undoes it.
    """
    if not os.path.lexists(path):
        return None
    database = Database(path)
    try:
        with database.writing() as con:
            reserve(con, "trial", 0, session_scope("trial"), Spend())
            raise _Undo
    except _Undo:
        return None
    except Unusable as unusable:
        text = str(unusable)
    except (OSError, sqlite3.Error) as fault:
        text = f"cannot be written ({fault})"
    finally:
        database.close()
    fix = f"give this user the right to write it, or delete it: what counts today begins anew: rm {path}"
    return Finding("broken", text, fix, file=path)


def _made(path: str) -> os.stat_result:
    """Create the file with mode 0600 where there is none, and give what it is."""
    private_folder(os.path.dirname(path))
    # Never opened where it exists: closing it again would drop the locks this process holds on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    info = os.lstat(path)
    if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid():
        raise Unusable("is not a file of this user")
    if info.st_mode & 0o077:
        os.chmod(path, 0o600)
    return info


def _prepare(con: sqlite3.Connection) -> None:
    version = con.execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    if version != 0:
        raise Unusable(f"has version {version}, and this Admit knows {VERSION}")
    for statement in _SCHEMA:
        con.execute(statement)


def day_scope(day: int) -> str:
    """The row of a UTC day, counted in days from 1970-01-01."""
    return f"day:{day}"


def session_scope(session: str) -> str:
    """The row of a session; its id is hashed, for this file needs to know it again and no more."""
    return f"session:{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def spent(con: sqlite3.Connection, scope: str) -> Spend:
    """What counts in a scope, reservations included."""
    row = con.execute(
        "SELECT requests, input_tokens, nano_usd FROM spend WHERE scope = ?", (scope,)
    ).fetchone()
    return Spend(*row) if row is not None else Spend()


def reserve(con: sqlite3.Connection, id: str, day: int, session: str | None, estimate: Spend) -> None:
    """Count an estimate in the day and the session until `settle`.

    At the first of a day, rows older than 32 days go.

    Args:
        session: The scope of a session, or None.
    """
    if con.execute("SELECT 1 FROM spend WHERE scope = ?", (day_scope(day),)).fetchone() is None:
        for table in ("spend", "reserved"):
            con.execute(f"DELETE FROM {table} WHERE day < ?", (day - KEPT_DAYS,))
    con.execute(
        "INSERT INTO reserved VALUES (?, ?, ?, ?, ?)",
        (id, day, session, estimate.input_tokens, estimate.nano_usd),
    )
    _add(con, day, session, estimate)


def settle(
    con: sqlite3.Connection, id: str, *, requests: int, input_tokens: int | None, nano_usd: int | None
) -> None:
    """Let known figures take the place of a reservation; None keeps what was reserved.

    A reservation that is not in this file, or was settled before, changes nothing.
    """
    row = con.execute(
        "SELECT day, session, input_tokens, nano_usd FROM reserved WHERE id = ?", (id,)
    ).fetchone()
    if row is None:
        return
    day, session, reserved_tokens, reserved_usd = row
    con.execute("DELETE FROM reserved WHERE id = ?", (id,))
    more = Spend(
        requests - 1,
        0 if input_tokens is None else input_tokens - reserved_tokens,
        0 if nano_usd is None else nano_usd - reserved_usd,
    )
    _add(con, day, session, more)


def _add(con: sqlite3.Connection, day: int, session: str | None, more: Spend) -> None:
    for scope in (day_scope(day), session):
        if scope is not None:
            con.execute(
                "INSERT INTO spend VALUES (?, ?, ?, ?, ?) ON CONFLICT (scope) DO UPDATE SET"
                " day = max(day, excluded.day), requests = requests + excluded.requests,"
                " input_tokens = input_tokens + excluded.input_tokens,"
                " nano_usd = nano_usd + excluded.nano_usd",
                (scope, day, *more),
            )
