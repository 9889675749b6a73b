"""What the agent sees: bodies word for word, each under a line that names it; pointers to long ones."""

from __future__ import annotations

from typing import NamedTuple

from admit.text.cut import utf16_length, without_surrogates
from admit.text.plain import one_line

from .body import body
from .model import Snippet


class Rendered(NamedTuple):
    """One unit, and its length in UTF-16 units, the line end after it included."""

    text: str
    units: int


def heading(snippet: Snippet) -> str:
    """The line above a body."""
    return f"[guidance {one_line(snippet.id)} · {snippet.root}]"


def render(snippet: Snippet, most: int) -> Rendered | None:
    """The body under its heading; a pointer for a skill and for a body above `most` UTF-16 units by itself.

    None where the file cannot be read any more, or is empty.
    """
    if snippet.pointer:
        return _pointer(snippet)
    read = body(snippet)
    if read is None or not read.strip():
        return None
    text = without_surrogates(read).strip("\n")
    whole = _rendered(f"{heading(snippet)}\n{text}")
    return whole if whole.units <= most else _pointer(snippet)


def _pointer(snippet: Snippet) -> Rendered:
    """Title, description, and the path to read."""
    lines = (heading(snippet), one_line(snippet.title), one_line(snippet.description))
    return _rendered("\n".join([*filter(None, lines), f"Read {one_line(snippet.path)} before you start."]))


def _rendered(text: str) -> Rendered:
    return Rendered(text, utf16_length(text) + 1)
