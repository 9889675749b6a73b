"""Text to terms: what lexical scores are counted over.

One way of splitting serves queries and documents, in every door and in the local judge, so that a word of
the task meets the same word in a log line, a path or a tool name.

The regular expressions are built at first use. Stemming is Snowball English (https://snowballstem.org),
loaded at first use as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import Pattern

# Question words and the glue of sentences. "not" and "no" are out too: a bag of terms cannot read negation.
STOP_WORDS = frozenset(
    """
    a about am an and any are aren as at be been but by can could couldn did didn do does doesn doing don
    for from had hadn has hasn have haven he her his how i if in into is isn it its just me my no not of on
    or our out please shall she should shouldn so some such than that the their them then there these they
    this those to us was wasn we were weren what when where which while who whom whose why will with won
    would wouldn you your
    """.split()  # noqa: SIM905 - a list of words reads better as words
)

LONGEST_WORD = 100
"""Code points. What is longer is no identifier but data (base64, a minified line)."""

_MOST_DIGIT_PARTS = 4  # 3f9a1c2b changes seven times between letters and digits: a hash, kept whole

# Scripts written without spaces between words (and Hangul, whose particles cling to the word).
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Combining marks, which `\w` leaves out although they stand inside words.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
    "\u3099\u309a"
)
_TAIL = "(?:['’](?:s|t|re|ve|ll|d|m)\\b)?"  # the end of "doesn't" and "build's", dropped


def terms(text: str) -> tuple[str, ...]:
    """The terms of a text, in order of occurrence, repeats kept.

    Identifiers (snake, kebab, camel, dotted, letters beside digits) give their parts and then, where there
    are two or more, the whole without its separators. All is NFC, lower case and stemmed; stop words
    are out. Runs of scripts without spaces give character bigrams, a single character itself.
    """
    return _collect(text, _stemmed)


def words(text: str) -> tuple[str, ...]:
    """The same as `terms`, without stemming."""
    return _collect(text, _plain)


def split_identifier(word: str) -> tuple[str, ...]:
    """The parts of an identifier in lower case, without the whole: ``HTTPServer2`` is http, server, 2."""
    return tuple(part.lower() for piece in _pieces(word) for part in _parts(piece))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The Snowball English stem of a lower-case word; what is not plain ASCII letters stays as it is."""
    if len(word) < 3 or len(word) > LONGEST_WORD or not (word.isascii() and word.isalpha()):
        return word
    return _stemmer()(word)


def _collect(text: str, expand: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    found: list[str] = []
    if text.isascii():
        tokens: Iterable[str] = _ascii_words().findall(text)
    else:
        tokens = _unicode_words().findall(unicodedata.normalize("NFC", text))
    for token in tokens:
        found.extend(expand(token) if len(token) <= LONGEST_WORD else _long(token, expand))
    return tuple(found)


def _long(token: str, expand: Callable[[str], tuple[str, ...]]) -> Iterable[str]:
    """A token past the longest word: its pieces one by one, each cut to the longest word."""
    for run in unspaced_runs().split(token):
        if unspaced_runs().fullmatch(run):
            yield from _bigrams(run)
            continue
        for piece in _pieces(run):
            yield from expand(piece[:LONGEST_WORD])


@lru_cache(maxsize=65_536)
def _stemmed(token: str) -> tuple[str, ...]:
    return tuple(map(stem, _plain(token)))


@lru_cache(maxsize=65_536)
def _plain(token: str) -> tuple[str, ...]:
    token = token.partition("'")[0].partition("’")[0]
    if token.isascii():
        return _identifier(token)
    found: list[str] = []
    for run in unspaced_runs().split(token):
        found.extend(_bigrams(run) if unspaced_runs().fullmatch(run) else _identifier(run))
    return tuple(found)


def _identifier(token: str) -> tuple[str, ...]:
    parts = split_identifier(token)
    kept = [part for part in parts if part not in STOP_WORDS]
    if len(parts) > 1:
        kept.append("".join(parts))
    return tuple(kept)


def _pieces(word: str) -> list[str]:
    """A word cut at its separators."""
    return [piece for piece in _separators().split(word) if piece]


def _parts(piece: str) -> list[str]:
    """A piece without separators, cut at lower→Upper, Acronym→Word and letter↔digit."""
    if piece.isalpha() and (piece.islower() or piece.isupper()):
        return [piece]
    parts: list[str] = []
    start = 0
    for here in range(1, len(piece)):
        before, after = _kind(piece[here - 1]), _kind(piece[here])
        following = _kind(piece[here + 1]) if here + 1 < len(piece) else ""
        if _turns(before, after, following):
            parts.append(piece[start:here])
            start = here
    parts.append(piece[start:])
    hashed = len(parts) > _MOST_DIGIT_PARTS and any(part.isdigit() for part in parts)
    return [piece] if hashed else parts


def _kind(character: str) -> str:
    if character.isdigit():
        return "digit"
    return "upper" if character.isupper() else "lower"


def _turns(before: str, after: str, following: str) -> bool:
    """Whether a part ends between two characters; `following` comes after both."""
    if "digit" in (before, after):
        return before != after
    if before == "lower":
        return after == "upper"
    return after == "upper" and following == "lower"


def _bigrams(run: str) -> tuple[str, ...]:
    run = run.lower()
    return tuple(run[k : k + 2] for k in range(len(run) - 1)) or (run,)


@lru_cache(maxsize=1)
def _ascii_words() -> Pattern[str]:
    import re

    return re.compile(rf"[A-Za-z0-9]+(?:(?:[.-]|_+)[A-Za-z0-9]+)*{_TAIL}", re.ASCII)


@lru_cache(maxsize=1)
def _unicode_words() -> Pattern[str]:
    import re

    word = rf"(?:[^\W_]|[{MARKS}])+"
    return re.compile(rf"{word}(?:(?:[.-]|_+){word})*{_TAIL}")


@lru_cache(maxsize=1)
def unspaced_runs() -> Pattern[str]:
    """A run of a script without spaces, its combining marks included, as the one group of a pattern."""
    import re

    return re.compile(f"([{UNSPACED}][{UNSPACED}{MARKS}]*)")


@lru_cache(maxsize=1)
def _separators() -> Pattern[str]:
    import re

    return re.compile(r"[._\-/:\s]+")


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    from Stemmer import Stemmer

    # Its own cache is off: `stem` caches, and without one a call is a single step that threads may share.
    return Stemmer("english", 0).stemWord
