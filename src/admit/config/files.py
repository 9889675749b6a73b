"""Read one configuration file: safely opened, bounded, parsed, and flattened to its leaves."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from admit.config.check import visible

MAX_BYTES = 64 * 1024
MAX_DOTS = 500  # on one line: the parser's time grows with the square of a key's parts
MAX_DEPTH = 6  # one more than the longest key has parts

Layer = Literal["shipped", "user", "project", "command line", "pause"]
Path = tuple[str, ...]


class Finding(NamedTuple):
    """One thing that is wrong with the configuration.

    Attributes:
        kind: ``broken`` (a whole file is left out), ``unknown`` (no such key), ``bad`` (not a value of
            that key), ``refused`` (the project may not set it so), ``environment``.
        text: What is wrong, as a sentence.
        fix: What to do about it, as a sentence.
        line, column: From 1; 0 is the whole file.
    """

    kind: Literal["broken", "unknown", "bad", "refused", "environment"]
    text: str
    fix: str = ""
    key: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = ":".join([visible(self.file, 400), *(str(n) for n in (self.line, self.column) if n)])
        return f"{place}: {self.text}" if self.file else self.text


class File(NamedTuple):
    """One file as it was read.

    Attributes:
        text: The text that parsed; empty where `problem` is set.
        leaves: Key path and raw value, in the order of the file.
        problem: Why the whole file is left out.
    """

    path: str
    layer: Layer
    text: str = ""
    leaves: tuple[tuple[Path, object], ...] = ()
    problem: Finding | None = None


class Unusable(Exception):
    """A file that is left out, with the line and column where they are known."""

    def __init__(self, text: str, fix: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.finding = Finding("broken", text, fix, line=line, column=column)


def read(path: str, layer: Layer, inside: str | None = None) -> File:
    """Read a file that exists.

    Args:
        path: The file.
        layer: ``user`` or ``project``.
        inside: The folder that the file, links resolved, must lie in; None is anywhere.

    A file that cannot be used has a `problem` and no leaves; nothing is raised.
    """
    try:
        text = _text(_bytes(path, layer, inside))
        return File(path, layer, text, tuple(_leaves(_parse(text))))
    except Unusable as error:
        return File(path, layer, problem=error.finding._replace(file=path))
    except OSError as error:
        return File(path, layer, problem=Finding("broken", f"cannot be read: {error.strerror}", file=path))


def signature(path: str) -> tuple[int, ...] | None:
    """What changes when the file does; None where there is no file.

    Raises:
        OSError: It cannot be said whether there is one.
    """
    try:
        info = os.stat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR) and not os.path.islink(path):
            return None
        raise
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def _bytes(path: str, layer: Layer, inside: str | None) -> bytes:
    if inside is not None:
        root = os.path.realpath(inside)
        if os.path.commonpath((root, os.path.realpath(path))) != root:
            raise Unusable("is a link out of the project", "put the file itself there")
    # O_NONBLOCK: a named pipe must not hold us up.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise Unusable("is not a regular file")
        if info.st_uid not in (os.geteuid(), 0):
            raise Unusable("belongs to another user", f"chown {os.geteuid()} {path}")
        if layer == "user" and info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise Unusable("can be written by other users", f"chmod 600 {path}")
        data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise Unusable(f"is larger than {MAX_BYTES:,} bytes", "keep only settings in it")
        return data


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line_start = data.rfind(b"\n", 0, error.start) + 1
        raise Unusable(
            "is not UTF-8",
            "save it as UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
            column=error.start - line_start + 1,
        ) from None


def _parse(text: str) -> Mapping[str, object]:
    import tomllib

    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_DOTS:
            raise Unusable(f"has a line with more than {MAX_DOTS} dots", "write shorter lines", number)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, line, column = _place(str(error), text)
        raise Unusable(f"is not TOML: {message}", "mend it", line, column) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unusable(f"is not TOML that can be read ({type(error).__name__})") from None


def _place(message: str, text: str) -> tuple[str, int, int]:
    """Message, line and column of `Expected '=' … (at line 2, column 6)`, as tomllib words it."""
    what, _, where = message.rpartition(" (at ")
    numbers = [int(word.strip(",)")) for word in where.split() if word.strip(",)").isdigit()]
    if len(numbers) == 2:
        return visible(what), numbers[0], numbers[1]
    return visible(what or message), text.count("\n") + 1, 0


def _leaves(table: Mapping[str, object], above: Path = ()) -> Iterator[tuple[Path, object]]:
    for name, value in table.items():
        path = (*above, name)
        if isinstance(value, dict) and len(path) < MAX_DEPTH:
            yield from _leaves(value, path)
        else:
            yield path, value
