"""Putting `admit run` in front of a command, so that the output of a failing one is looked at too.

The line stays the shell's own: a few words are put in front of the command, after a leading ``cd DIR &&``
and ``NAME=value``, and every word of it reaches the program as before. A line with an operator is left alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .shell import Token, tokens

# They talk to a person, or never end.
INTERACTIVE = frozenset(
    ("--watch", "--watchAll", "--watch-all", "--interactive", "--pdb", "--ui", "-it", "-ti")
)


def wrapped(
    given: Mapping[str, Any],
    commands: Sequence[str],
    *,
    admit: str,
    ticket: Callable[[], str],
    find: Callable[[str], str | None],
) -> dict[str, Any] | None:
    """The input of a Bash call with its command run by `admit run`; None leaves the call alone.

    Args:
        given: The call's input.
        commands: What may be wrapped: the first word of a command, or its first words.
        admit: Absolute path of the executable.
        ticket: Makes the ticket by which the run knows its session; called only where the call is wrapped.
        find: Path of an executable on PATH, or None.
    """
    command = given.get("command")
    if not isinstance(command, str) or given.get("run_in_background") not in (None, False) or not admit:
        return None
    at = _place(command, commands, find)
    if at is None:
        return None
    front = f"{shlex.quote(admit)} run --hook {ticket()} -- "
    return {**given, "command": command[:at] + front + command[at:]}


def _place(command: str, commands: Sequence[str], find: Callable[[str], str | None]) -> int | None:
    """Where the words go: in front of the command's first word. None where there is no listed command."""
    words = tokens(command)
    if not words:
        return None
    if len(words) > 3 and words[0].text == "cd" and words[2].text == "&&" and words[1].kind == "word":
        words = words[3:]
    if any(word.kind != "word" for word in words):
        return None
    words = _without_assignments(words)
    if not words or not any(_begins(words, entry.split()) for entry in commands):
        return None
    if any(word.text.partition("=")[0] in INTERACTIVE for word in words):
        return None
    return words[0].start if find(words[0].text) else None


def _without_assignments(words: Sequence[Token]) -> Sequence[Token]:
    """The words after leading assignments; none where one of them would change Admit's own interpreter."""
    for place, word in enumerate(words):
        found = _assignment().match(word.text)
        if found is None:
            return words[place:]
        if found[1].startswith("PYTHON") or found[1] == "ADMIT_OFF":
            return ()
    return ()


def _begins(words: Sequence[Token], entry: Sequence[str]) -> bool:
    return bool(entry) and [word.text for word in words[: len(entry)]] == list(entry)


@lru_cache(maxsize=1)
def _assignment() -> re.Pattern[str]:
    return re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=")
