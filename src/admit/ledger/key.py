"""The install key: 32 random bytes for keyed hashes and for the nonces of the outputs door."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hmac import digest
from typing import TYPE_CHECKING, Any, NamedTuple

from .places import NotOurs, open_file, own_folder, places, read_all, write_all

if TYPE_CHECKING:
    import sqlite3

KEY_BYTES = 32
REPLACED = "key_replaced"


class InstallKey(NamedTuple):
    """The key, and what went wrong.

    Attributes:
        key: 32 bytes.
        kept: Whether it will be the same in the next process.
        finding: A sentence for a person, or nothing.
    """

    key: bytes
    kept: bool = True
    finding: str = ""


def install_key(config: Mapping[str, object] | None = None) -> bytes:
    """The key of this installation, made at first use; never raises.

    Where it cannot be kept, a key for this process alone.
    """
    return load_key(places(config).key).key


def load_key(path: str, fs: Any = os) -> InstallKey:
    """Read the key, or make it. Never raises; a key that is no key is replaced, and the finding says so."""
    finding = ""
    try:
        own_folder(os.path.dirname(path), fs)
        try:
            key = read_all(path, fs)
            if len(key) == KEY_BYTES:
                return InstallKey(key)
            finding = f"The install key {path} was damaged and is replaced: earlier hashes link to nothing."
            fs.unlink(path)
        except FileNotFoundError:
            pass
        return InstallKey(_create(path, fs), finding=finding)
    except NotOurs as fault:
        finding = f"The install key is refused ({fault}): remove it, or give it to its user."
    except OSError as fault:
        finding = f"The install key cannot be kept ({fault}): hashes of this process link to nothing later."
    return InstallKey(os.urandom(KEY_BYTES), kept=False, finding=finding)


def replace_key(path: str) -> bytes:
    """Put a new key in the old one's place.

    Raises:
        OSError: It cannot be written.
    """
    fresh = _write_beside(path, os)
    os.replace(fresh, path)
    return read_all(path)


def key_replaced_ms(con: sqlite3.Connection | None) -> int | None:
    """When the key was found not to be the one that the database was written under, in epoch ms; or None."""
    if con is None:
        return None
    row = con.execute("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", (REPLACED,)).fetchone()
    return None if row is None else row[0]


def keyed(key: bytes, texts: Sequence[str]) -> tuple[str, ...]:
    """``hmac:`` and the first 128 bits of HMAC-SHA-256 (RFC 2104) as 32 hex digits, in order."""
    return tuple(
        f"hmac:{digest(key, text.encode('utf-8', 'surrogatepass'), 'sha256').hex()[:32]}" for text in texts
    )


def _create(path: str, fs: Any) -> bytes:
    """Make the key whole before it gets its name, so that no other process ever reads half of it."""
    fresh = _write_beside(path, fs)
    try:
        fs.link(fresh, path)
    except FileExistsError:
        fs.unlink(fresh)  # another process was quicker: its key counts
    except OSError:
        fs.replace(fresh, path)  # a file system without hard links
    else:
        fs.unlink(fresh)
    key = read_all(path, fs)
    if len(key) != KEY_BYTES:
        raise OSError(f"{path} does not read back")
    return key


def _write_beside(path: str, fs: Any) -> str:
    fresh = f"{path}.{os.urandom(8).hex()}"
    fd = open_file(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, fs)
    try:
        write_all(fd, os.urandom(KEY_BYTES), fs)
    except OSError:
        fs.unlink(fresh)
        raise
    finally:
        fs.close(fd)
    return fresh
