"""Quotations, numbers and dates cut from real notes, disguised or changed: does the checker tell them apart?

    python bench/evidence_quotes.py --data PATH [--seed N]

`--data` is a knowledge base: a folder of Markdown files. Each case is a note of one claim and the artifact
that it links to, and goes through `lint` as any note does. Exit codes: 0 done, 2 usage.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import NamedTuple

SEED = 20_261_201
PER_WAY = 60
LEAST_WORDS, MOST_WORDS = 8, 24

Draw = random.Random


class Case(NamedTuple):
    """A claim beside its artifact.

    Attributes:
        check: The rule that looks: ``quote``, ``number`` or ``date``.
        way: How the claim was made from the artifact.
        claim: What stands in the note before the link.
        artifact: The text linked to.
        held: Whether the artifact holds it, so that no finding is right.
    """

    check: str
    way: str
    claim: str
    artifact: str
    held: bool


class Score(NamedTuple):
    """Counts of one check: a finding where there is a fault is `right`, a missed one `missed`."""

    right: int
    missed: int
    false: int
    quiet: int

    @property
    def precision(self) -> float:
        """Faults among findings."""
        return self.right / max(1, self.right + self.false)

    @property
    def recall(self) -> float:
        """Findings among faults."""
        return self.right / max(1, self.right + self.missed)

    @property
    def false_alarms(self) -> float:
        """Findings among claims that are held."""
        return self.false / max(1, self.false + self.quiet)


def cases(data: Path, seed: int = SEED) -> list[Case]:
    """Cases from the Markdown files below a folder, the same for the same files and seed."""
    draw = random.Random(seed)
    paths = sorted(data.rglob("*.md"), key=lambda path: path.relative_to(data).as_posix().encode())
    texts = [text for path in paths if 400 < len(text := path.read_text("utf-8", "replace")) < 200_000]
    return [
        *_made("quote", HELD_QUOTES, True, _passages(texts, draw), draw),
        *_made("quote", CHANGED_QUOTES, False, _passages(texts, draw), draw),
        *_made("number", HELD_NUMBERS, True, _values(texts, draw, _NUMBER), draw),
        *_made("number", CHANGED_NUMBERS, False, _values(texts, draw, _NUMBER), draw),
        *_made("date", HELD_DATES, True, _values(texts, draw, _DATE), draw),
        *_made("date", CHANGED_DATES, False, _values(texts, draw, _DATE), draw),
    ]


def score(found: Iterable[tuple[Case, bool]]) -> dict[str, Score]:
    """Scores by check, from each case and whether there was a finding."""
    told: dict[tuple[str, bool, bool], int] = defaultdict(int)
    checks: dict[str, None] = {}
    for case, finding in found:
        told[case.check, case.held, finding] += 1
        checks[case.check] = None
    return {
        check: Score(
            right=told[check, False, True],
            missed=told[check, False, False],
            false=told[check, True, True],
            quiet=told[check, True, False],
        )
        for check in checks
    }


def run(made: Sequence[Case]) -> Iterator[tuple[Case, bool]]:
    """Lint every case as a note of its own in one base."""
    from admit.config.layers import load
    from admit.evidence.base import Base
    from admit.evidence.lint import Lint

    with TemporaryDirectory() as folder:
        for n, case in enumerate(made):
            Path(folder, f"a{n}.md").write_text(case.artifact, "utf-8")
            said = "Verbatim: " if case.check == "quote" else ""
            Path(folder, f"n{n}.md").write_text(f"{said}{case.claim} ([source](a{n}.md)).\n", "utf-8")
        with Base.open(folder, config=load(folder)) as base:
            looked = Lint(base, ("quote", "number", "date"))
            for n, case in enumerate(made):
                yield case, any(one.rule == case.check for one in looked.note(f"n{n}.md"))


def figures(data: Path, seed: int = SEED) -> list[tuple[str, str, str]]:
    """Rows: what was measured, the value, what is to be reached."""
    made = cases(data, seed)
    scores = score(run(made))
    rows = []
    for check, one in scores.items():
        held = one.false + one.quiet
        about = f"{check}: {one.right + one.missed} changed, {held} held"
        bar = "≥ 0.990" if check == "quote" else "–"
        rows.append((f"{about}; precision", f"{one.precision:.3f}", bar))
        rows.append((f"{about}; recall", f"{one.recall:.3f}", bar))
        rows.append((f"{about}; false alarms", f"{100 * one.false_alarms:.1f} %", "≤ 10 %"))
    return rows


_NUMBER = re.compile(
    r"(?<![\w.,/#§:$-])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{2,6}(?:\.[0-9]{1,2})?)(?=[ ;)]|[,.] )"
)
_DATE = re.compile(r"(?<![\w/-])20[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])(?![\w-])")
_MONTHS = ("January February March April May June July August September October November December").split()  # noqa: SIM905


def _made(
    check: str, ways: Mapping[str, Callable[[str, str, Draw], str | None]], held: bool,
    drawn: Iterator[tuple[str, str]], draw: Draw,
) -> Iterator[Case]:  # fmt: skip
    for way, change in ways.items():
        left = PER_WAY
        while left:
            text, words = next(drawn)
            claim = change(words, text, draw)
            if claim is not None:
                yield Case(check, way, claim, text, held)
                left -= 1


def _passages(texts: Sequence[str], draw: Draw) -> Iterator[tuple[str, str]]:
    """Stretches of prose: whole words of one paragraph, without marks that a writer would not quote."""
    while True:
        text = draw.choice(texts)
        body = text.split("\n---\n", 1)[-1]
        lines = [line for line in body.split("\n") if re.match(r"[A-Z*]", line) and "|" not in line]
        if not lines:
            continue
        words = [word for word in draw.choice(lines).split(" ") if word]
        size = draw.randint(LEAST_WORDS, MOST_WORDS)
        if len(words) < size:
            continue
        at = draw.randint(0, len(words) - size)
        words = words[at : at + size]
        passage = " ".join(words)
        if re.search(r"[\[\]\"“”`<>…]|\.\.|\]\(|http", passage) or not (
            words[0][0].isalnum() and words[-1][-1].isalnum()
        ):
            continue
        yield text, passage


def _values(texts: Sequence[str], draw: Draw, pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Numbers or dates of prose, each with its text."""
    having = [text for text in texts if pattern.search(text)]
    while True:
        text = draw.choice(having)
        yield text, draw.choice(pattern.findall(text))


def _plain(words: str) -> str:
    """As a reader copies it from the page."""
    return re.sub(r"\*+|(?<!\w)_|_(?!\w)", "", words)


def _quote(words: str) -> str:
    return f'"{words}"'


def _rewrapped(words: str, _text: str, draw: Draw) -> str:
    pieces = words.split(" ")
    at = draw.randint(1, len(pieces) - 1)
    return _quote(" ".join(pieces[:at]) + draw.choice(("\n", "\r\n", "\n  ")) + " ".join(pieces[at:]))


def _entities(words: str, _text: str, draw: Draw) -> str:
    named = {
        "&": "&amp;",
        "'": "&#39;",
        "’": "&rsquo;",
        "—": "&mdash;",
        "–": "&#8211;",
        "-": "&#45;",
        ",": "&#44;",
    }
    spelled = "".join(named.get(one, one) for one in words)
    pieces = spelled.split(" ")
    at = draw.randrange(1, len(pieces))
    return _quote(" ".join(pieces[:at]) + "&nbsp;" + " ".join(pieces[at:]))


def _ellipsis(words: str, _text: str, draw: Draw) -> str:
    pieces = words.split(" ")
    at = draw.randint(2, len(pieces) - 4)
    mark = draw.choice(("…", "...", "[...]", "[…]", "[and so on]"))
    return _quote(" ".join([*pieces[:at], mark, *pieces[at + 2 :]]))


def _curly(words: str, _text: str, _draw: Draw) -> str:
    turned = _plain(words).replace("'", "’").replace("--", "—").replace(" - ", " – ")
    return f"“{turned}”"


def _marked(words: str, _text: str, draw: Draw) -> str:
    pieces = _plain(words).split(" ")
    at = draw.randrange(1, len(pieces) - 1)
    mark = draw.choice(("*", "**", "`"))
    pieces[at] = f"{mark}{pieces[at]}{mark}"
    return _quote(" ".join(pieces))


def _hidden(words: str, _text: str, draw: Draw) -> str:
    at = draw.randrange(1, len(words) - 1)
    return _quote(f"{words[:at]}{draw.choice((chr(0xAD), chr(0x200B)))}{words[at:]}")


def _bare(text: str) -> str:
    """An own and simple reading of a text, to see that a change is one: words in lower case."""
    return " ".join(re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", text).replace("_", "").lower()))


def _changed(words: str, text: str) -> str | None:
    """The quotation, unless the text happens to hold the changed words as well."""
    return None if f" {_bare(words)} " in f" {_bare(text)} " else _quote(words)


def _word_changed(words: str, text: str, draw: Draw) -> str | None:
    pieces = words.split(" ")
    at = draw.randrange(len(pieces))
    other = re.findall(r"[A-Za-z]{3,}", text)
    pieces[at] = draw.choice(other)
    return _changed(" ".join(pieces), text)


def _words_swapped(words: str, text: str, draw: Draw) -> str | None:
    pieces = words.split(" ")
    at = draw.randrange(len(pieces) - 1)
    pieces[at], pieces[at + 1] = pieces[at + 1], pieces[at]
    return _changed(" ".join(pieces), text)


def _word_dropped(words: str, text: str, draw: Draw) -> str | None:
    pieces = words.split(" ")
    del pieces[draw.randrange(1, len(pieces) - 1)]
    return _changed(" ".join(pieces), text)


def _word_added(words: str, text: str, draw: Draw) -> str | None:
    pieces = words.split(" ")
    pieces.insert(draw.randrange(1, len(pieces)), draw.choice(("not", "only", "always", "most")))
    return _changed(" ".join(pieces), text)


def _letter_changed(words: str, text: str, draw: Draw) -> str | None:
    at = draw.choice([n for n, one in enumerate(words) if one.isalpha()])
    other = draw.choice([one for one in "abcdefghijklmnopqrstuvwxyz" if one != words[at].lower()])
    return _changed(words[:at] + other + words[at + 1 :], text)


def _number_changed(words: str, text: str, draw: Draw) -> str | None:
    """A number put in for a word, or for the number that is there."""
    pieces = words.split(" ")
    own = [n for n, piece in enumerate(pieces) if piece.isdigit()] or [draw.randrange(len(pieces))]
    pieces[own[0]] = str(draw.randint(11, 9999))
    return _changed(" ".join(pieces), text)


def _other_number(written: str, text: str, draw: Draw) -> str | None:
    value = int(float(written.replace(",", ""))) + draw.choice((-7, -1, 1, 9, 13, 107))
    digits = re.sub(r"(?<=\d)[,\u202f](?=\d{3})", "", text)
    held = re.search(rf"(?<![1-9.])0*{value}(?!\d)", digits)
    return None if value < 10 or held else f"It counts {value} of them"


def _other_day(iso: str, text: str, draw: Draw) -> str | None:
    year, month, day = (int(part) for part in iso.split("-"))
    other = (year, month, day % 28 + 1) if draw.random() < 0.5 else (year - 1, month, day)
    written = f"{other[0]}-{other[1]:02}"
    name = _MONTHS[other[1] - 1]
    held = {f"{written}-{other[2]:02}", f"{name} {other[0]}", f"{name[:3]} {other[0]}"}
    if any(one in text for one in held) or re.search(rf"{written}(?!-\d)", text) or f", {other[0]}" in text:
        return None
    return f"It was so on {_spelled(other, draw)}"


def _spelled(date: tuple[int, int, int], draw: Draw) -> str:
    year, month, day = date
    name = _MONTHS[month - 1]
    return draw.choice((f"{year}-{month:02}-{day:02}", f"{day} {name} {year}", f"{name} {day}, {year}"))


def _date(iso: str) -> tuple[int, int, int]:
    year, month, day = (int(part) for part in iso.split("-"))
    return year, month, day


Change = Callable[[str, str, Draw], "str | None"]

HELD_QUOTES: Mapping[str, Change] = MappingProxyType(
    {
        "verbatim": lambda words, _text, _draw: _quote(words),
        "rendered": lambda words, _text, _draw: _quote(_plain(words)),
        "rewrapped": _rewrapped,
        "entities": _entities,
        "ellipsis": _ellipsis,
        "curly": _curly,
        "marked": _marked,
        "hidden characters": _hidden,
    }
)
CHANGED_QUOTES: Mapping[str, Change] = MappingProxyType(
    {
        "word changed": _word_changed,
        "words swapped": _words_swapped,
        "word dropped": _word_dropped,
        "word added": _word_added,
        "letter changed": _letter_changed,
        "number changed": _number_changed,
    }
)
HELD_NUMBERS: Mapping[str, Change] = MappingProxyType(
    {
        "as written": lambda written, _text, _draw: f"It counts {written} of them",
        "other separators": lambda written, _text, _draw: (
            f"It counts {float(written.replace(',', '')):,.10g} of them"
        ),
    }
)
CHANGED_NUMBERS: Mapping[str, Change] = MappingProxyType({"another value": _other_number})
HELD_DATES: Mapping[str, Change] = MappingProxyType(
    {
        "another spelling": lambda iso, _text, draw: f"It was so on {_spelled(_date(iso), draw)}",
        "its month": lambda iso, _text, _draw: f"It was so in {_MONTHS[_date(iso)[1] - 1]} {_date(iso)[0]}",
    }
)
CHANGED_DATES: Mapping[str, Change] = MappingProxyType({"another day": _other_day})


def main() -> int:
    """Print a table of the figures, and one of the ways with their errors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="a folder of Markdown files")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--errors", action="store_true", help="print the cases that went wrong")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"{options.data} is no folder", file=sys.stderr)
        return 2
    print("| what | measured | to reach |\n|---|---|---|")
    for row in figures(options.data, options.seed):
        print(f"| {' | '.join(row)} |")
    ways: dict[tuple[str, str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for case, finding in run(cases(options.data, options.seed)):
        wrong = finding == case.held
        counts = ways[case.check, case.way, case.held]
        counts[0] += 1
        counts[1] += wrong
        if wrong and options.errors:
            print(f"{case.check}, {case.way}: {case.claim!r}", file=sys.stderr)
    print("\n| check | way | held | cases | wrong |\n|---|---|---|---|---|")
    for (check, way, held), (count, wrong) in ways.items():
        print(f"| {check} | {way} | {'yes' if held else 'no'} | {count} | {wrong} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
