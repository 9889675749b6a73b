"""The body of a snippet, read when it is shown."""

from __future__ import annotations

from admit.guidance.model import Snippet
from admit.guidance.walk import Unreadable, read_text
from admit.text.front_matter import parse


def body(snippet: Snippet) -> str | None:
    """The body, verbatim, as the file holds it now; None where it cannot be read.

    A file that was edited since it was indexed gives its new body, without its new front matter; all else
    of it counts from the next load on.
    """
    try:
        text, _ = read_text(snippet.path)
    except Unreadable:
        return None
    matter = parse(text)
    return None if matter.too_large else text[matter.body_at :]
