"""Lines as every row is scored on them: escape sequences out, line ends as a terminal reader sees them."""

from __future__ import annotations

import re

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
LINE_ENDS = re.compile(r"\r\n|\r|\n")


def without_escapes(text: str) -> str:
    """Return ``text`` without ANSI escape sequences (CSI, OSC, single escapes; ECMA-48)."""
    return ESCAPES.sub("", text)


def reader_lines(text: str) -> list[str]:
    r"""Return the lines of ``text``, each ended by ``\r\n``, ``\r`` or ``\n``, as Java's ``readLine`` counts
    them.

    The published line labels of the CI logs were counted this way.
    """
    lines = LINE_ENDS.split(text)
    return lines[:-1] if lines and lines[-1] == "" else lines


def last_redraw(line: str) -> str:
    r"""Return what a terminal leaves of one ``\n`` line: the text after its last bare ``\r``."""
    return line.rstrip("\r").rpartition("\r")[2]


def terminal_lines(text: str) -> list[str]:
    r"""Return the ``\n`` lines of ``text`` without escapes, each reduced to its last redraw."""
    lines = [last_redraw(line) for line in without_escapes(text).split("\n")]
    return lines[:-1] if lines and lines[-1] == "" else lines
