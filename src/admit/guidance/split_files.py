"""Split a file on disk: the whole change in memory first, then written, all of it or nothing."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from admit.errors import GuidanceError
from admit.guidance.roots import project_folder, user_ways
from admit.guidance.split import Split, split

MAX_BYTES = 4 * 1024 * 1024


class Proposal(NamedTuple):
    """A change that is not made yet.

    Attributes:
        path: The file that is split, links resolved.
        before: What it holds.
        targets: New files with their texts, in the order of the sections.
    """

    path: str
    before: str
    split: Split
    targets: tuple[tuple[str, str], ...]

    def diff(self) -> str:
        """The change as one unified diff."""
        changes = [(self.path, self.before, self.path, self.split.kept)] if self.targets else []
        changes += [("/dev/null", "", path, text) for path, text in self.targets]
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for old, before, new, after in changes
            for line in difflib.unified_diff(_lines(before), _lines(after), old, new)
        )


def propose(path: str, *, named: Iterable[str] = (), folder: str | None = None) -> Proposal:
    """Read a file and divide it.

    Args:
        path: The file, such as `CLAUDE.md`.
        named: Sections that move whatever their length and words.
        folder: The folder of ways for the sections; None is `.claude/ways` of the file's project, and the
            user's own for a file in `~/.claude`.

    Raises:
        GuidanceError: The file cannot be read, is not UTF-8, or holds no such section.
    """
    real = os.path.realpath(path)
    before = _read(real)
    divided = split(before, named=named)
    folder = folder or _folder_for(real)
    targets = tuple(
        (os.path.join(folder, section.slug, f"{section.slug}.md"), section.text)
        for section in divided.sections
    )
    return Proposal(real, before, divided, targets)


def apply(proposal: Proposal) -> tuple[str, ...]:
    """Write a proposal: the new files, then what stays. Gives the paths of the new files.

    Raises:
        GuidanceError: The file changed meanwhile, or a target exists or cannot be written; then nothing was.
    """
    for path, _ in proposal.targets:
        if os.path.lexists(path):
            raise GuidanceError(f"{path} exists; rename it, or the section, and split again")
    if _read(proposal.path) != proposal.before:
        raise GuidanceError(f"{proposal.path} changed meanwhile; split it again")
    written: list[str] = []
    folders: list[str] = []
    try:
        for path, text in proposal.targets:
            _make_folders(os.path.dirname(path), folders)
            with open(path, "xb") as file:
                written.append(path)
                file.write(text.encode())
        if proposal.targets:
            _replace(proposal)
    except BaseException as error:
        for path in written:
            with suppress(OSError):
                os.unlink(path)
        for made in reversed(folders):
            with suppress(OSError):
                os.rmdir(made)
        if isinstance(error, OSError):
            place = error.filename or proposal.path
            raise GuidanceError(f"{place} cannot be written: {error.strerror}; nothing was changed") from None
        raise
    return tuple(written)


def _replace(proposal: Proposal) -> None:
    """Put what stays in place of the file, mode kept; a reader sees the old file or the new one."""
    folder, name = os.path.split(proposal.path)
    handle, fresh = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(proposal.split.kept.encode())
            os.fchmod(file.fileno(), os.stat(proposal.path).st_mode & 0o7777)
        if _read(proposal.path) != proposal.before:
            raise GuidanceError(f"{proposal.path} changed meanwhile; split it again")
        os.replace(fresh, proposal.path)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise


def _make_folders(path: str, made: list[str]) -> None:
    """Make a folder and its parents; each that was made goes to the end of `made`."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        os.mkdir(folder)
        made.append(folder)


def _folder_for(real: str) -> str:
    folder = os.path.dirname(real)
    if folder == os.path.realpath(os.path.expanduser("~/.claude")):
        return user_ways()
    return os.path.join(project_folder(folder), ".claude", "ways")


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise GuidanceError(f"{path} is larger than {MAX_BYTES:,} bytes")
        return data.decode("utf-8")
    except OSError as error:
        raise GuidanceError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise GuidanceError(f"{path} is not UTF-8; save it so and split again") from None


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a line feed ends one, as for `diff` and `patch`."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
