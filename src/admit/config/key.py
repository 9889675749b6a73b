"""What one setting is: a row of the key table."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Kind = Literal["bool", "int", "float", "text", "path", "texts", "floats"]
Trust = Literal["user", "narrow", "project"]


class Key(NamedTuple):
    """One setting.

    Attributes:
        name: Full dotted name; the part `NAME` stands for any name the user gives.
        default: What holds when no file sets it; None where `absent` says what then holds.
        unit: What the number counts, as it is printed; empty for words and switches.
        kind: The type of the value. A ``path`` is a text: a folder below another, without ``..``.
            ``texts`` and ``floats`` are lists, given as tuples.
        low, high: The range, both ends included, of a number or of each number of a list.
        choices: The words a text may be; empty is any text.
        trust: Who may set it: the ``user`` file alone; the project too, but only to tighten
            (``narrow``); or both alike (``project``).
        tighten: What tightening is: ``lower``, ``bounds`` (anywhere in the range), ``subset`` (entries may
            be left out), ``stricter`` (a later one of `choices`, which go from loose to strict), ``adds`` (a
            project's entries are added), or the one value (``true``, ``false`` or a choice) that tightens. On
            a ``user`` key it names what `admit config set` asks about before loosening it.
        unless: Another key and its value with which a project may not set this one at all.
        help: What it does, in one sentence.
        since: The version that brought it.
        absent: What holds where the default is None, in words.
    """

    name: str
    default: Any
    unit: str
    kind: Kind
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    trust: Trust = "user"
    tighten: str = ""
    help: str = ""
    since: str = "0.1"
    absent: str = ""
    unless: tuple[str, str] | None = None


DOORS = ("guidance", "tools", "outputs", "evidence")
MODES = ("enforce", "shadow", "off")
CHARS = "characters"
