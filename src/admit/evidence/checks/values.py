"""Numbers and dates in a text, in one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from admit.evidence.matching import Span

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SCALES = {
    "k": 3, "thousand": 3, "m": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "t": 12,
    "trillion": 12,
}  # fmt: skip
_LONGEST = 40  # digits of a number; a longer one is data


class Date(NamedTuple):
    """A day, or with `day` 0 a month."""

    year: int
    month: int
    day: int


class Dates(NamedTuple):
    """The dates of an artifact: those as written, and the months that they lie in."""

    written: frozenset[Date]
    months: frozenset[Date]

    def hold(self, date: Date) -> bool:
        """Whether a date is among them, each two compared at the coarser precision."""
        month = date._replace(day=0)
        return month in self.months if date == month else bool({date, month} & self.written)


class Number(NamedTuple):
    """A number of a text.

    Attributes:
        digits: How many it is written with.
        marked: It is a percentage or an amount of money.
        readings: Its value, and where a word of magnitude follows, that times the magnitude.
        parts: What stands between plain spaces, which may part thousands or numbers; else empty, and where
            one begins with 0, as no number does.
    """

    digits: int
    marked: bool
    readings: tuple[Decimal, ...]
    parts: tuple[Decimal, ...] = ()


class Values(NamedTuple):
    """The numbers of an artifact: of two digits or more or with a magnitude; and those that are marked."""

    plain: frozenset[Decimal]
    marked: frozenset[Decimal]

    def hold(self, number: Number) -> bool:
        """Whether a number is among them; one digit alone does not stand for a percentage or an amount."""
        if number.parts and all(part in self.plain for part in number.parts):
            return True
        return any(
            value in self.marked or (value in self.plain and (not number.marked or number.digits > 1))
            for value in number.readings
        )


def dates_in(text: str) -> Iterator[tuple[Date, Span]]:
    """The dates of a text in order; days that no month has are none."""
    for match in _dates().finditer(text):
        part = match.groupdict()
        year = part["iso_year"] or part["year1"] or part["year2"] or part["year3"]
        name = part["name1"] or part["name2"] or part["name3"]
        month = int(part["iso_month"] or 0) or _MONTHS.index(name[:3].lower()) + 1
        day = int(part["iso_day"] or part["day1"] or part["day2"] or 0)
        if 1 <= month <= 12 and day <= 31:
            yield Date(int(year), month, day), Span(*match.span())


def all_dates(text: str) -> Dates:
    """The dates of an artifact."""
    written = frozenset(date for date, _ in dates_in(text))
    return Dates(written, frozenset(date._replace(day=0) for date in written))


def numbers_in(text: str) -> Iterator[tuple[Number, Span]]:
    """The numbers of a text in order: signs and separators of thousands do not count."""
    for match in _numbers().finditer(text):
        written = match["number"]
        digits = len(written)
        parts: tuple[Decimal, ...] = ()
        if match["comma"]:
            written = written.replace(".", "").replace(",", ".")
            digits = len(written) - 1
        elif not written.isdecimal():
            if " " in written and " 0" not in written and digits <= _LONGEST:
                parts = tuple(Decimal(part) for part in written.split(".")[0].split(" "))
            written = re.sub(r"[^0-9.]", "", written)
            digits = len(written) - written.count(".")
            if written.count(".") > 1:
                written = written.replace(".", "")
        if digits > _LONGEST:
            continue
        value = Decimal(written)
        readings = [value]
        scale = _SCALES.get((match["scale"] or "").lower())
        if scale is not None:
            readings.append(value * 10**scale)
        marked = bool(match["percent"] or match["money"] or match["unit"])
        yield Number(digits, marked, tuple(readings), parts), Span(*match.span("number"))


def values_in(text: str) -> Values:
    """All numbers of an artifact, those that are parts of dates and names included."""
    plain: set[Decimal] = set()
    marked: set[Decimal] = set()
    for number, _ in numbers_in(text):
        plain.update(number.readings if number.digits > 1 else number.readings[1:])
        plain.update(number.parts)
        if number.marked:
            marked.update(number.readings)
    return Values(frozenset(plain), frozenset(marked))


@lru_cache(maxsize=1)
def _numbers() -> re.Pattern[str]:
    # One mark parts all thousands of a number: as 1,234,567, 1'234'567, 1 234 567 or 1.234.567,89.
    thousands = r"[0-9]{1,3}(?P<gap>[ ,'’_\u00a0\u2009\u202f])[0-9]{3}(?:(?P=gap)[0-9]{3})*(?![0-9])"
    comma = r"[0-9]{1,3}(?:(?:\.[0-9]{3}){2,},[0-9]+|\.[0-9]{3},[0-9]{1,2})(?![0-9]|[.,][0-9])"
    return re.compile(
        r"(?P<money>(?:[$€£¥]|\b(?:USD|EUR|GBP|CHF)\s)\s?)?"
        rf"(?P<number>(?<![0-9])(?:(?P<comma>{comma})|(?:{thousands}|[0-9]+)(?:\.[0-9]+)*))"
        r"(?:[\s\u00a0-]?(?P<scale>thousand|million|billion|trillion|mn|bn|[kKMmBbT])(?![A-Za-z]))?"
        r"(?:[\s\u00a0]?(?P<percent>%|٪|％|per\s?cent\b|percentage points?\b|pp\b))?"
        r"(?:[\s\u00a0]?(?P<unit>[$€£¥]|(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?)\b))?",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _dates() -> re.Pattern[str]:
    name = (
        r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
        r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
    )
    return re.compile(
        r"(?<![\w-])(?:"
        r"(?P<iso_year>[0-9]{4})-(?P<iso_month>0[1-9]|1[0-2])(?:-(?P<iso_day>0[1-9]|[12][0-9]|3[01]))?"
        r"(?=T[0-9]|[^\w-]|-?$|-[^0-9])"
        rf"|(?P<day1>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<name1>{name}),?\s+(?P<year1>[0-9]{{4}})\b"
        rf"|(?P<name2>{name})\s+(?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year2>[0-9]{{4}})\b"
        rf"|(?P<name3>{name}),?\s+(?P<year3>[0-9]{{4}})\b"
        r")",
        re.IGNORECASE,
    )
