"""Questions at a terminal: nothing is written without a yes, and without a terminal none can be given."""

from __future__ import annotations

import sys

import click

from admit.errors import UsageError


def must_ask(what: str) -> None:
    """Make sure that a question can be asked.

    Raises:
        UsageError: There is no terminal; the message says what to do.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{what}: there is no terminal to ask at; add --yes if you mean it")


def yes(question: str, *, default: bool = False) -> bool:
    """Ask a question, on the error stream so that the output stays clean."""
    return click.confirm(question, default=default, err=True)
