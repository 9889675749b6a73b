"""Text to words: one normaliser for what routes say and for what is asked.

A written word is split as an identifier is (`admit.text.terms.split_identifier`), and its parts
are kept beside the joined whole, so that ``tesla_ble``, ``teslaBle`` and ``teslable`` meet. Runs of scripts
without spaces give pairs of characters. No word is dropped here; what a stop word counts for is the
request's matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from re import Pattern
from typing import NamedTuple

from admit.text.terms import LONGEST_WORD, MARKS, split_identifier, stem, unspaced_runs

from .stops import by_language, of_other_scripts

LONGEST_REQUEST = 4_000
"""Characters of a request that are read; it is cut at a code point."""

LONGEST_RUN = 4
"""Adjacent words that are also tried as one."""

MOST_STEMS = 64

_UNSPACED_FROM = "\u0e00"  # scripts written without spaces begin with Thai
_PARTICLES = frozenset("은는이가을를에의로과와도만")


class Request(NamedTuple):
    """A request as words.

    Attributes:
        words: Distinct words that carry a topic, in order; every word where all of them are stop words.
        runs: Two to four adjacent words joined, in order, stop words among them too: ``log in`` is ``login``.
        language: Snowball's name of the language that its stop words speak for.
        sentences: The words and runs of each sentence, where two or more have two words that carry a topic.
    """

    words: tuple[str, ...]
    runs: tuple[str, ...]
    language: str
    sentences: tuple[tuple[str, ...], ...] = ()


def fold(text: str) -> str:
    """NFKC without invisible characters and without accents on Latin letters; case stays."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    folded: list[str] = []
    for character in text:
        if character.isascii():
            folded.append(character)
            continue
        kind = unicodedata.category(character)
        if kind in ("Cf", "Cs"):  # zero-width, bidi and tag characters; halves of surrogate pairs
            continue
        bare = unicodedata.normalize("NFD", character)[0]
        folded.append(bare if bare.isascii() else character)
    return "".join(folded)


def written(text: str) -> Iterator[tuple[str, ...]]:
    """The words of a text as they are written, each as its parts in lower case."""
    text = fold(text)
    pattern = _ascii_words() if text.isascii() else _unicode_words()
    for token in pattern.findall(text):
        yield from _split(token[:LONGEST_WORD])


def terms(text: str) -> list[str]:
    """What a route's text is indexed under, repeats kept: the parts of each word, then the joined whole."""
    found: list[str] = []
    for parts in written(text):
        found.extend(parts)
        if len(parts) > 1:
            found.append("".join(parts))
    return found


def request(text: str) -> Request:
    """A request's words and runs. Reads the first 4,000 characters."""
    sentences = [
        [part for parts in written(sentence) for part in parts]
        for sentence in _sentence_ends().split(text[:LONGEST_REQUEST])
    ]
    distinct = tuple(dict.fromkeys(word for sentence in sentences for word in sentence))
    language = _language(distinct)
    lists = by_language()
    stops = lists["english"] | lists[language] | of_other_scripts()
    topical = tuple(word for word in distinct if word not in stops) or distinct
    runs = [_runs(sentence) for sentence in sentences]
    told = [
        (*words, *runs[number])
        for number, sentence in enumerate(sentences)
        if len(words := tuple(word for word in dict.fromkeys(sentence) if word not in stops)) > 1
    ]
    every = tuple(dict.fromkeys(run for found in runs for run in found))
    return Request(topical, every, language, tuple(told) if len(told) > 1 else ())


def request_stems(text: str) -> tuple[str, ...]:
    """The distinct stems of a request's words, sorted, at most 64 (the first in the request's order)."""
    asked = request(text)
    return tuple(sorted(list(dict.fromkeys(map(stem, asked.words)))[:MOST_STEMS]))


def singular(word: str) -> str:
    """An English noun without its plural ending: ``jobs`` is job, ``queries`` query, ``status`` stays."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


@lru_cache(maxsize=16)
def stemmer(language: str) -> Callable[[str], str]:
    """A Snowball stemmer (https://snowballstem.org); `language` is one of its names."""
    from Stemmer import Stemmer

    return Stemmer(language, 0).stemWord


def script_language(word: str, language: str) -> str:
    """Whose stemmer serves a word: its script's where that tells, else the request's language."""
    return "russian" if "а" <= word[:1] <= "ё" else language


def _runs(words: list[str]) -> tuple[str, ...]:
    runs: dict[str, None] = {}
    for start in range(len(words)):
        for end in range(start + 2, min(start + LONGEST_RUN, len(words)) + 1):
            if words[end - 1] >= _UNSPACED_FROM or words[start] >= _UNSPACED_FROM:
                break  # pairs of characters are adjacent by themselves
            runs["".join(words[start:end])] = None
    return tuple(runs)


def _language(words: tuple[str, ...]) -> str:
    """The language whose stop words are the most among these; English where that is not clear."""
    lists = by_language()
    longer = [word for word in words if len(word) > 1]  # single letters are parts of identifiers too
    counts = {language: sum(word in listed for word in longer) for language, listed in lists.items()}
    counts["english"] = sum(word in lists["english"] for word in words)
    return max(counts, key=lambda language: counts[language])  # the first of equals: English


@lru_cache(maxsize=65_536)
def _split(token: str) -> tuple[tuple[str, ...], ...]:
    """The written words in a token without spaces."""
    token = token.partition("'")[0].partition("’")[0]
    if token.isascii():
        parts = split_identifier(token)
        return (parts,) if parts else ()
    found: list[tuple[str, ...]] = []
    for run in unspaced_runs().split(token):
        if unspaced_runs().fullmatch(run):
            found.extend((pair,) for pair in _pairs(run.casefold()))
        elif run:
            parts = tuple(part.casefold() for part in split_identifier(run))
            found.extend([parts] if parts else [])
    return tuple(found)


def _pairs(run: str) -> tuple[str, ...]:
    """Each two neighbours of a run, a single character as itself; a Korean particle at the end is off."""
    if len(run) > 1 and run[-1] in _PARTICLES:
        run = run[:-1]
    return tuple(run[k : k + 2] for k in range(len(run) - 1)) or (run,)


@lru_cache(maxsize=1)
def _ascii_words() -> Pattern[str]:
    import re

    return re.compile(r"[A-Za-z0-9]+(?:[._\-]+[A-Za-z0-9]+)*(?:'[a-z]+)?", re.ASCII)


@lru_cache(maxsize=1)
def _unicode_words() -> Pattern[str]:
    import re

    word = rf"(?:[^\W_]|[{MARKS}])+"
    return re.compile(rf"{word}(?:[._\-]+{word})*(?:['’][a-z]+)?")


@lru_cache(maxsize=1)
def _sentence_ends() -> Pattern[str]:
    import re

    return re.compile(r"[.?!]+(?:\s+|$)|[。？！]+|\n+")
