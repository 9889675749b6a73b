"""ANSI escape sequences (ECMA-48, and xterm's operating system commands) out of a text.

Removed are control sequences (``ESC [``), string sequences with their end (``ESC ]`` and the like) and
single escapes; nothing else changes. The scan is linear. A string sequence without an end on its line
loses its two opening characters only, so that a torn one never swallows text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from re import Pattern

ESCAPE = "\x1b"


def has_ansi(text: str) -> bool:
    """Whether there is anything for `strip` to remove."""
    return ESCAPE in text


def strip(text: str) -> str:
    """The text without its escape sequences; the same object where there are none."""
    return _sequences().sub("", text) if ESCAPE in text else text


def sequences(text: str) -> Iterator[tuple[int, int]]:
    """Where the escape sequences stand that `strip` removes: start and end, end exclusive, in order."""
    return (match.span() for match in _sequences().finditer(text)) if ESCAPE in text else iter(())


@lru_cache(maxsize=1)
def _sequences() -> Pattern[str]:
    import re

    return re.compile(
        r"\x1b(?:"
        r"\[[0-?]*[ -/]*[@-~]?"  # CSI: parameters, intermediates, final; a torn one has no final
        r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC: up to BEL or ESC \
        r"|[ -/]*[0-~]?"  # every other escape, a lone one too
        r")"
    )
