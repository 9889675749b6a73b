"""Patterns from files of guidance, which are untrusted: RE2 alone, in sets, over bounded text.

RE2 (https://github.com/google/re2/wiki/Syntax) matches in time linear in the text; it has no look-around and
no back-references. A set finds which of many patterns match in one pass; where a shard of it needs too much
memory, its patterns are tried one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from admit.text.globs import glob_regex

from .model import Trigger
from .specificity import specificity

MOST_CHARS = 4096
MOST_PROGRAM_BYTES = 8 << 20
MOST_SHARD_BYTES = 64 << 20
SHARD = 100
MOST_MATCHES = 16


class Problem(NamedTuple):
    """Why a trigger is off: `code` is one of lint's, `text` what RE2 says."""

    code: str
    text: str


class Match(NamedTuple):
    """A trigger that matched: its place among those given, what it matched, and how telling that is."""

    place: int
    span: str
    specificity: int


def regex_of(trigger: Trigger) -> str:
    """The RE2 source of a trigger: a glob is translated, a literal is quoted and stands as a whole word."""
    import re2

    if trigger.form == "glob":
        return glob_regex(trigger.text)
    if trigger.form == "literal":
        return rf"(?:^|[^\w@]){re2.escape(trigger.text)}(?:$|[^\w-])"
    return trigger.text


def compiled(trigger: Trigger) -> Any:
    """The compiled trigger, or the `Problem` for which it is off. Globs tell case apart, patterns do not."""
    if len(trigger.text) > MOST_CHARS:
        return Problem("regex-too-large", f"is longer than {MOST_CHARS:,} characters")
    return _compiled(regex_of(trigger), trigger.form == "glob")


@lru_cache(maxsize=20_000)
def _compiled(source: str, exact_case: bool) -> Any | Problem:
    import re2

    try:
        return re2.compile(source.encode(), _options(exact_case, MOST_PROGRAM_BYTES))
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0] if error.args else ""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(error)
        large = "too large" in text or "repetition size" in text
        return Problem("regex-too-large" if large else "regex-unsupported", text)


def matches_nothing(trigger: Trigger) -> bool:
    """Whether a trigger matches the empty text, and so everything."""
    made = compiled(trigger)
    return not isinstance(made, Problem) and made.search(b"") is not None


def _options(exact_case: bool, memory: int) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = exact_case
    options.max_mem = memory
    return options


class PatternSet:
    """Many triggers, matched against one text at once. Those that are off match nothing.

    Args:
        triggers: In the order by which matches name them.
    """

    def __init__(self, triggers: Sequence[Trigger]) -> None:
        self._triggers = triggers
        usable = [k for k, one in enumerate(triggers) if not isinstance(compiled(one), Problem)]
        self._shards = [
            shard
            for exact in (False, True)
            for shard in _shards(
                [k for k in usable if (triggers[k].form == "glob") == exact], triggers, exact
            )
        ]

    def search(self, text: str) -> list[Match]:
        """Every trigger that matches, in the order given, each by its most telling match of the first 16."""
        data = text.encode("utf-8", "replace")
        found = sorted(index for shard in self._shards for index in shard.search(data))
        return [match for index in found if (match := self._match(index, data)) is not None]

    def _match(self, index: int, data: bytes) -> Match | None:
        trigger = self._triggers[index]
        best: Match | None = None
        for span in _spans(trigger, data):
            value = specificity(trigger.text, span, trigger.form)
            if best is None or value > best.specificity:
                best = Match(index, span, value)
        return best


def _spans(trigger: Trigger, data: bytes) -> Iterator[str]:
    if trigger.form == "literal":
        yield trigger.text
        return
    for found in islice(compiled(trigger).finditer(data), MOST_MATCHES):
        yield found.group().decode("utf-8", "replace")


class _Shard:
    """Up to 100 patterns in one automaton, or one by one where that would take too much memory."""

    def __init__(self, indexes: Sequence[int], patterns: Sequence[Any], automaton: Any | None) -> None:
        self._indexes = indexes
        self._patterns = patterns
        self._set = automaton

    def search(self, data: bytes) -> Iterable[int]:
        if self._set is not None:
            return [self._indexes[place] for place in self._set.Match(data) or ()]
        pairs = zip(self._indexes, self._patterns, strict=True)
        return [index for index, pattern in pairs if pattern.search(data) is not None]


def _shards(indexes: Sequence[int], triggers: Sequence[Trigger], exact: bool) -> Iterator[_Shard]:
    for start in range(0, len(indexes), SHARD):
        yield from _halved(indexes[start : start + SHARD], triggers, exact)


def _halved(indexes: Sequence[int], triggers: Sequence[Trigger], exact: bool) -> Iterator[_Shard]:
    """One shard, or two halves where it is over its memory; a single pattern needs no set."""
    import re2

    patterns = [compiled(triggers[index]) for index in indexes]
    if len(indexes) == 1:
        yield _Shard(indexes, patterns, None)
        return
    automaton = re2.Set.SearchSet(_options(exact, MOST_SHARD_BYTES))
    try:
        for index in indexes:
            automaton.Add(regex_of(triggers[index]).encode())
        automaton.Compile()
    except re2.error:
        half = len(indexes) // 2
        yield from _halved(indexes[:half], triggers, exact)
        yield from _halved(indexes[half:], triggers, exact)
        return
    yield _Shard(indexes, patterns, automaton)
