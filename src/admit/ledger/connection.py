"""The one connection of a process: opened when needed, let go of when it fails, set aside when damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping

from .database import open_writer, set_aside
from .key import REPLACED, InstallKey, keyed
from .places import Places, network_filesystem, setting
from .record import now_ms


class OnNetwork(OSError):
    """The database would lie on a network file system, where it can be damaged."""


class Connection:
    """Holds the database open for one writer.

    Args:
        install_key: The key in use: a database that was written under another one is told so.
        find: Takes a sentence for a person.
        migrate: Whether an older database may be brought forward here.
    """

    def __init__(
        self,
        places: Places,
        config: Mapping[str, object] | None,
        install_key: Callable[[], InstallKey],
        find: Callable[[str], None],
        *,
        migrate: bool = True,
    ) -> None:
        self._path = places.database
        self._busy_ms = int(setting(config, "ledger.busy_ms"))
        self._install_key = install_key
        self._find = find
        self._migrate = migrate
        self._con: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None

    @property
    def is_open(self) -> bool:
        return self._con is not None

    def get(self) -> sqlite3.Connection:
        """The connection, opened where it is not, or where the file was moved away.

        Raises:
            OnNetwork: It must not be opened there.
            NotOurs, LedgerError, OSError, sqlite3.Error: As `open_writer` does.
        """
        if self._con is not None and not self._is_in_place():
            self.let_go()
        if self._con is None:
            self._check_network()
            self._con = open_writer(self._path, self._busy_ms, migrate=self._migrate)
            self._file = os.stat(self._path)
            self._check_key(self._con)
        return self._con

    def let_go(self) -> None:
        """Close it as it is. Never raises."""
        con, self._con, self._file = self._con, None, None
        if con is not None:
            try:
                con.close()
            except sqlite3.Error as fault:
                self._find(f"The ledger could not be closed ({fault}).")

    def close(self) -> None:
        """Fold the log into the database and close it. Never raises."""
        if self._con is not None:
            try:
                self._con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as fault:
                self._find(f"The log stays beside the ledger ({fault}); nothing that was written is lost.")
            self.let_go()

    def set_aside(self) -> bool:
        """Put a damaged database out of the way, for a new one; False where that fails."""
        opened = self._file
        self.let_go()
        try:
            target = set_aside(self._path, opened, self._busy_ms)
        except OSError as fault:
            self._find(f"The damaged ledger could not be set aside: {fault}.")
            return False
        if target is not None:
            self._find(f"The ledger was damaged and is kept as {target}: run `admit ledger recover`.")
        return True

    def _is_in_place(self) -> bool:
        try:
            return self._file is not None and os.path.samestat(os.stat(self._path), self._file)
        except OSError:
            return False

    def _check_network(self) -> None:
        type, finding = network_filesystem(os.path.dirname(self._path))
        if finding:
            self._find(finding)
        if type is not None:
            raise OnNetwork(
                f"{self._path} is on a network file system ({type}), where a database can be damaged: "
                "records wait in the spool. Set `ledger.path` to a local file."
            )

    def _check_key(self, con: sqlite3.Connection) -> None:
        """Notice that the install key was lost: what was hashed under it links to nothing any more."""
        key = self._install_key()
        if not key.kept:
            return
        sign = keyed(key.key, ["ledger.key"])[0]
        known = con.execute("SELECT value FROM meta WHERE key = 'key_sign'").fetchone()
        if known is not None and known[0] == sign:
            return
        con.execute("BEGIN IMMEDIATE")
        if known is not None:
            con.execute("DELETE FROM tool_uses")
            con.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (REPLACED, str(now_ms())))
            self._find(
                "The install key is a new one: hashes from before link to nothing, tool uses are emptied."
            )
        con.execute("INSERT OR REPLACE INTO meta VALUES ('key_sign', ?)", (sign,))
        con.execute("COMMIT")
