"""Which door's texts may go where, as the user allowed it after reading what is sent. Fails closed.

A consent holds for one destination, one door, the classes of data it named, and the very words of the
statement that was shown: where any of these is another today, it must be given again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from admit import __version__
from admit.config.files import Finding
from admit.config.places import config_dir
from admit.config.private import Unsafe, locked, read_private, write_private
from admit.errors import UsageError

from .hostnames import is_this_machine
from .profiles import Profile

MOST_BYTES = 1 << 20
MEND = "mend the file, or delete it and give consent again"

CLASSES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "guidance": ("task", "guidance_descriptions"),
        "tools": ("task", "tool_descriptions"),
        "outputs": ("task", "output_passages"),
        "evidence": ("task", "document_text"),
    }
)
"""The classes of data that a door sends, by door."""

_MEANS: Mapping[str, str] = MappingProxyType(
    {
        "task": "what you asked the agent for, and what came before it in the conversation",
        "guidance_descriptions": "names and descriptions of skills, rules and agents on this machine",
        "tool_descriptions": "names and descriptions of the tools that the agent may call",
        "output_passages": "outputs of tools, with the plan, the tool's name and its command",
        "document_text": "the documents that are reviewed, texts that they link to, and the criteria",
    }
)
_ALSO: Mapping[str, str] = MappingProxyType(
    {
        "outputs": "When the outputs filter runs, the whole redacted output is sent to DESTINATION, not only "
        "the passages that are kept.",
    }
)


class Grant(NamedTuple):
    """One consent.

    Attributes:
        destination: ``scheme://host:port``.
        classes: What may be sent, in the order of `CLASSES`.
        statement_hash: Of the statement that was shown.
        version: Of Admit, then.
        ts_ms: When, UTC epoch ms.
    """

    destination: str
    door: str
    classes: tuple[str, ...]
    statement_hash: str
    version: str
    ts_ms: int

    @property
    def holds(self) -> bool:
        """Whether it covers what the door sends today, in the words of today's statement."""
        return set(CLASSES.get(self.door, ("",))) <= set(self.classes) and self.statement_hash == _hash(
            statement(self.destination, self.door)
        )

    def body(self) -> dict[str, Any]:
        """The body of a `judge.consent_granted` or `judge.consent_revoked` event."""
        return {
            "destination": self.destination,
            "doors": [self.door],
            "classes": list(self.classes),
            "statement_hash": self.statement_hash,
        }


def needs_consent(profile: Profile) -> bool:
    """Whether asking this profile sends anything elsewhere: not to a program or a server on this machine."""
    return bool(profile.destination) and not is_this_machine(urlsplit(profile.destination).hostname or "")


def statement(address: str, door: str) -> str:
    """What a consent for a door means, in full, as it is shown before it is given.

    Raises:
        UsageError: There is no such door.
    """
    if door not in CLASSES:
        raise UsageError(f"there is no door {door!r}; there are: {', '.join(CLASSES)}")
    also = _ALSO.get(door, "").replace("DESTINATION", address)
    return "\n".join(
        [
            f"To {address}, the {door} door may send:",
            *(f"  - {name}: {_MEANS[name]}" for name in CLASSES[door]),
            *([also] if also else []),
            "Credentials are masked before anything is sent, by their shape and by the names beside them; a",
            "secret that looks like any other text is not found, and is sent.",
            "What the other side keeps, and for how long, is theirs to say.",
            f"It ends with: admit consent revoke {address}",
        ]
    )


class Consent:
    """The consents of this user, read again whenever their file changes.

    Args:
        path: The file; None is `consent.json` in the configuration folder.
        now: Epoch seconds, for the record.
    """

    def __init__(self, path: str | None = None, *, now: Callable[[], float] = time.time) -> None:
        self.path = path if path is not None else os.path.join(config_dir(), "consent.json")
        self._now = now
        self._read: tuple[object, tuple[Grant, ...], Finding | None] = (None, (), None)

    def allows(self, address: str, door: str) -> bool:
        """Whether a door's texts may go to ``scheme://host:port``. Never raises."""
        return any(one.destination == address and one.door == door and one.holds for one in self.grants())

    def grants(self) -> tuple[Grant, ...]:
        """Every consent that is stored, also one that does not hold any more; none where the file is bad."""
        return self._current()[1]

    @property
    def finding(self) -> Finding | None:
        """Why nothing is allowed by a file that is there; None where it is good, or there is none."""
        return self._current()[2]

    def grant(
        self, address: str, doors: Iterable[str], classes: Sequence[str] | None = None
    ) -> tuple[Grant, ...]:
        """Store a consent for each door, in place of an earlier one; gives what was stored.

        Args:
            classes: What may be sent; None is all that the door sends. A door that sends more is not allowed.

        Raises:
            UsageError: There is no such door or class, or the file is bad and would be lost.
            OSError: It cannot be written.
        """
        for name in classes or ():
            if name not in _MEANS:
                raise UsageError(f"there is no class {name!r}; there are: {', '.join(_MEANS)}")
        new = {
            door: Grant(
                address,
                door,
                tuple(name for name in CLASSES[door] if classes is None or name in classes),
                _hash(text),
                __version__,
                int(self._now() * 1000),
            )
            for door, text in ((door, statement(address, door)) for door in doors)
        }
        with locked(f"{self.path}.lock"):
            kept = [one for one in self._good() if one.destination != address or one.door not in new]
            self._write([*kept, *new.values()])
        return tuple(new.values())

    def revoke(self, address: str) -> tuple[Grant, ...]:
        """Take back every consent of a destination; gives what was taken back.

        Raises:
            UsageError: The file is bad: nothing is allowed then, and nothing can be taken back.
            OSError: It cannot be written.
        """
        with locked(f"{self.path}.lock"):
            held = self._good()
            gone = tuple(one for one in held if one.destination == address)
            if gone:
                self._write([one for one in held if one.destination != address])
        return gone

    def _good(self) -> tuple[Grant, ...]:
        """What the file holds now, for a change of it."""
        try:
            return _grants(read_private(self.path, MOST_BYTES))
        except Unsafe as unsafe:
            raise UsageError(f"{unsafe}; {unsafe.finding.fix}") from None
        except ValueError as fault:
            raise UsageError(f"{self.path} {fault}; {MEND}") from None

    def _write(self, grants: Sequence[Grant]) -> None:
        rows = [one._asdict() for one in sorted(grants)]
        write_private(self.path, f"{json.dumps({'schema': 1, 'grants': rows}, indent=1)}\n".encode())

    def _current(self) -> tuple[object, tuple[Grant, ...], Finding | None]:
        try:
            info = os.lstat(self.path)
            now = (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        except FileNotFoundError:
            return (None, (), None)
        except OSError as fault:
            text = f"cannot be read: {fault.strerror}"
            return (None, (), Finding("broken", text, "give this user the right to it", file=self.path))
        held = self._read
        if held[0] != now:
            grants, finding = self._looked_at()
            held = self._read = (now, grants, finding)
        return held

    def _looked_at(self) -> tuple[tuple[Grant, ...], Finding | None]:
        try:
            return _grants(read_private(self.path, MOST_BYTES)), None
        except Unsafe as unsafe:
            return (), unsafe.finding
        except ValueError as fault:
            return (), Finding("broken", str(fault), MEND, file=self.path)


def _grants(data: bytes | None) -> tuple[Grant, ...]:
    """What a file holds, all of it or nothing.

    Raises:
        ValueError: It is not what Admit writes.
    """
    if data is None:
        return ()
    try:
        value = json.loads(data)
        if value["schema"] != 1:
            raise ValueError("was written by another version of Admit")
        found = []
        for row in value["grants"]:
            one = Grant(**{**row, "classes": tuple(row["classes"])})
            texts = (one.destination, one.door, one.statement_hash, one.version, *one.classes)
            if not all(isinstance(text, str) for text in texts) or not isinstance(one.ts_ms, int):
                raise TypeError
            found.append(one)
        return tuple(found)
    except (KeyError, TypeError, AttributeError, RecursionError, UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError("does not hold consents as Admit writes them") from None


def _hash(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
