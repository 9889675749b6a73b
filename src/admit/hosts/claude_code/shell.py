"""A command line as a POSIX shell splits it, as far as it must be known to put a word in front.

Words stay as they are written: nothing is expanded, no quote removed. What cannot be split for certain
(an open quote, ``$'…'``) is not split at all. Grammar: POSIX.1-2017, Shell Command Language, 2.3.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

# Longest first where one begins with another.
OPERATORS = (
    "&>>", "<<<", "<<-", "&&", "||", "|&", ";;", "&>", ">>", "<<", ">&", "<&", "<>", ">|",
    "|", ";", "&", "<", ">", "(", ")", "\n",
)  # fmt: skip
# After one of these, the exit code of what stood before is lost, or comes later.
HIDING = frozenset(("||", "|", "|&", ";", ";;", "&", "\n"))


class Token(NamedTuple):
    """One word, operator or substitution, as written, and where it starts."""

    kind: Literal["word", "operator", "substitution"]
    text: str
    start: int


def tokens(command: str) -> tuple[Token, ...] | None:
    """The words and operators of a command line, in order; None where it cannot be split for certain.

    Each ``$(`` or backtick is a token of its own beside the word that holds it; so is a comment's ``#``.
    """
    found: list[Token] = []
    at, start, quote = 0, -1, ""

    def close() -> None:
        nonlocal start
        if start >= 0:
            found.append(Token("word", command[start:at], start))
        start = -1

    while at < len(command):
        here = command[at]
        if quote == "'":
            quote = "" if here == "'" else quote
        elif here == "\\":
            if at + 1 == len(command) or command[at + 1] == "\n":
                return None
            start = at if start < 0 else start
            at += 1
        elif here == "`" or command.startswith("$(", at):
            found.append(Token("substitution", here, at))
            start = at if start < 0 else start
        elif quote:
            quote = "" if here == quote else quote
        elif here in "'\"":
            start = at if start < 0 else start
            quote = here
        elif command.startswith(("$'", '$"'), at):
            return None
        elif here == "#" and start < 0:
            found.append(Token("substitution", here, at))
            return tuple(found)
        elif here in " \t":
            close()
        elif here in "&|;<>()\n":
            close()
            operator = next(one for one in OPERATORS if command.startswith(one, at))
            found.append(Token("operator", operator, at))
            at += len(operator) - 1
        elif start < 0:
            start = at
        at += 1
    close()
    return None if quote else tuple(found)


def keeps_exit_code(command: str) -> bool:
    """Whether the line's exit code tells of everything in it: one command, or several joined by ``&&``."""
    split = tokens(command)
    return split is not None and not any(one.kind == "operator" and one.text in HIDING for one in split)
