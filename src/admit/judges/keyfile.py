"""Keys of judges: one file a profile, or for commands a variable that the profile names.

A key is in no message, log, event or process list: nothing here keeps it or shows it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from urllib.parse import urlsplit

from admit.config.files import Finding
from admit.config.places import config_dir
from admit.config.private import Unsafe, read_private, write_private
from admit.errors import UsageError

from .hostnames import is_private
from .profiles import Profile

MOST_BYTES = 8192


def needs_key(profile: Profile) -> bool:
    """Whether a profile's destination takes no request without a key: every public server."""
    return bool(profile.destination) and not is_private(urlsplit(profile.destination).hostname or "")


class Keys:
    """The key files of this user.

    Args:
        folder: Where they are; None is `keys` in the configuration folder.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder if folder is not None else os.path.join(config_dir(), "keys")

    def read(self, profile: Profile, *, variables: bool) -> str | None:
        """The key of a profile, or None: there is none, or it may not be used (`finding` says why).

        Args:
            variables: Whether the variable that the profile names counts where there is no file: in
                commands, never in hooks or the daemon.
        """
        with suppress(Unsafe, UsageError, ValueError):
            data = read_private(self.path(profile.name), MOST_BYTES)
            if data is not None:
                return _key(data)
            if variables and profile.key_variable:
                return _key(os.environ.get(profile.key_variable, "").encode("utf-8", "surrogateescape"))
        return None

    def finding(self, profile: Profile) -> Finding | None:
        """What is wrong with the key file of a profile; None where there is none, or it is good."""
        path = self.path(profile.name)
        try:
            data = read_private(path, MOST_BYTES)
            if data is not None:
                _key(data)
        except Unsafe as unsafe:
            return unsafe.finding
        except ValueError as fault:
            return Finding("broken", str(fault), f"admit judge key {profile.name}", file=path)
        return None

    def store(self, name: str, key: str) -> str:
        """Write the key of a profile, mode 0600, in place of the one before; gives the path.

        Raises:
            UsageError: It is no key: empty, of several lines, or with characters that no header may hold.
            OSError: It cannot be written.
        """
        try:
            good = _key(key.encode("utf-8", "surrogatepass"))
        except ValueError as fault:
            raise UsageError(f"nothing was stored: what was given {fault}") from None
        path = self.path(name)
        write_private(path, f"{good}\n".encode())
        return path

    def forget(self, name: str) -> bool:
        """Delete the key of a profile; False where there was none.

        Raises:
            OSError: It cannot be deleted.
        """
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def path(self, name: str) -> str:
        """The key file of a profile.

        Raises:
            UsageError: It is no name of a profile.
        """
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"{name!r} is no name of a profile: letters, digits, - and _")
        return os.path.join(self.folder, name)


def _key(data: bytes) -> str:
    """The key in what a file or variable holds.

    Raises:
        ValueError: It is none; the message says why and never what it is.
    """
    key = data.strip()
    if not key:
        raise ValueError("is empty")
    if len(key) > MOST_BYTES:
        raise ValueError(f"is longer than {MOST_BYTES:,} bytes")
    if b"\n" in key or b"\r" in key:
        raise ValueError("has more than one line")
    if not all(0x20 < byte < 0x7F for byte in key):
        raise ValueError("holds a space, a control character, or one that is not ASCII")
    return key.decode("ascii")
