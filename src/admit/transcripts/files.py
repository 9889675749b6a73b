"""Opening a host's files for reading: regular, of this user, through no symlink, of bounded size."""

from __future__ import annotations

import io
import os
import stat
from typing import Any, BinaryIO

MOST_BYTES = 64 << 20
"""What is read of one stored result, in bytes."""


def open_own(path: str) -> BinaryIO:
    """Open a regular file of this user for reading.

    Raises:
        OSError: It is a symlink, no regular file, another user's, or cannot be opened.
    """
    # Without O_NONBLOCK the open of a pipe would wait for a writer.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not is_own_file(os.fstat(fd)):
            raise PermissionError(f"{path} is not a regular file of this user")
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def is_own_file(info: os.stat_result) -> bool:
    """Whether it is a regular file of this user."""
    return stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()


def read_text(path: str, most_bytes: int = MOST_BYTES) -> tuple[str, bool] | None:
    """The text of a stored result, and whether it is all of it; None where it cannot be read."""
    try:
        with open_own(path) as file:
            data = file.read(most_bytes + 1)
    except OSError:
        return None
    return data[:most_bytes].decode("utf-8", "replace"), len(data) <= most_bytes


def can_decompress() -> bool:
    """Whether ``.zst`` files can be read here: only where zstandard is installed."""
    try:
        import zstandard  # noqa: F401
    except ImportError:
        return False
    return True


def open_lines(path: str) -> BinaryIO:
    """Open a transcript for reading; ``.zst`` is decompressed as it is read, and cannot be searched.

    Raises:
        OSError: As `open_own`; while reading also for damaged compression.
    """
    file = open_own(path)
    if not path.endswith(".zst"):
        return file
    return io.BufferedReader(_Decompressed(file), 1 << 20)


class _Decompressed(io.RawIOBase):
    """A compressed file as a stream of bytes; damage to it is an OSError."""

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        self._file = file
        self._reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
        self._fault = zstandard.ZstdError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part = self._reader.read(len(buffer))
        except self._fault as fault:
            raise OSError(f"damaged compression: {fault}") from fault
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()
