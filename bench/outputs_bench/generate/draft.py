"""How a generated output is put together: a seeded stream of records with planted ones among them."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

TIME = "@TIME@"
START = datetime.datetime(2031, 4, 11, 6, 0, 0, tzinfo=datetime.UTC)
Record = Callable[[random.Random, int], str]


class Kind(NamedTuple):
    """One kind of output.

    Attributes:
        record: Makes record number n; may span lines; ``@TIME@`` becomes a rising clock.
        command: What an agent would have run.
        wrap: Turns a planted text into a record; by default it is one already.
        head: First lines, followed by the records.
        foot: Last lines.
        between: What stands between two records.
        clock: ``strftime`` format of ``@TIME@``.
    """

    record: Record
    command: str
    wrap: Callable[[random.Random, str], str] = lambda draw, plant: plant
    head: str = ""
    foot: str = ""
    between: str = "\n"
    clock: str = "%Y-%m-%dT%H:%M:%SZ"


def build(kind: Kind, seed: str, chars: int, plants: Sequence[str]) -> str:
    """Return an output of about ``chars`` characters with every plant once, in an order and at places drawn
    by seed.

    No plant stands in the first or last twentieth of the records, where a head or a tail would show it by
    chance.
    """
    draw = random.Random(seed)
    records: list[str] = []
    size = sum(map(len, plants))
    stamp_growth = len(START.strftime(kind.clock)) - len(TIME)
    while size < chars:
        record = kind.record(draw, len(records))
        size += len(record) + len(kind.between) + record.count(TIME) * stamp_growth
        records.append(record)
    edge = max(1, len(records) // 20)
    places = sorted(draw.sample(range(edge, len(records) - edge), len(plants)), reverse=True)
    for place, plant in zip(places, draw.sample(list(plants), len(plants)), strict=True):
        records.insert(place, kind.wrap(draw, plant))
    moment = START
    for index, record in enumerate(records):
        while TIME in record:
            moment += datetime.timedelta(milliseconds=draw.randint(40, 9_000))
            record = record.replace(TIME, moment.strftime(kind.clock), 1)
        records[index] = record
    return kind.head + kind.between.join(records) + kind.foot


def pick(draw: random.Random, words: str) -> str:
    """Return one of the words of a blank-separated list."""
    return draw.choice(words.split())


def hexes(draw: random.Random, count: int) -> str:
    """Return ``count`` random hexadecimal digits."""
    return f"{draw.getrandbits(4 * count):0{count}x}"
