"""How telling an explicit trigger is: the longest literal stretch of it that stands in what it matched."""

from __future__ import annotations

from functools import lru_cache

MOST_SPAN = 1024
"""Characters of a matched span that count; a pattern that matches more says little by its length."""


def specificity(source: str, span: str, form: str = "regex") -> int:
    """Length of the longest common substring, case folded, of a span and any literal run of the source.

    A run is broken by every metacharacter, class, group sign and quantifier, and by an escaped letter or
    digit; escaped punctuation is literal. A literal source is one run.

    Args:
        form: ``regex``, ``glob`` or ``literal``.
    """
    text = span[:MOST_SPAN].casefold()
    runs = [source] if form == "literal" else _glob_runs(source) if form == "glob" else _regex_runs(source)
    best = 0
    for run in sorted((run.casefold() for run in runs), key=len, reverse=True):
        if len(run) <= best:
            break
        best = max(best, _longest_common(run, text, best))
    return best


@lru_cache(maxsize=4096)  # the same word of the same pattern comes again
def _longest_common(run: str, text: str, least: int) -> int:
    """Length of the longest common substring; `least` where there is none above it."""
    if run in text:
        return len(run)
    low, high = least, min(len(run), len(text)) + 1
    while high - low > 1:  # all shorter substrings of a common one are common too
        size = (low + high) // 2
        pieces = {text[at : at + size] for at in range(len(text) - size + 1)}
        if any(run[at : at + size] in pieces for at in range(len(run) - size + 1)):
            low = size
        else:
            high = size
    return low


@lru_cache(maxsize=4096)
def _regex_runs(source: str) -> list[str]:
    runs = [""]
    place = 0
    while place < len(source):
        char = source[place]
        if char == "\\":
            escaped = source[place + 1 : place + 2]
            if escaped and not escaped.isalnum():
                runs[-1] += escaped
            else:
                runs.append("")
            place += 2
            continue
        if char == "[":
            place = _class_end(source, place)
            runs.append("")
        elif char == "{":
            end = source.find("}", place)
            place = end if end > 0 else place
            runs.append("")
        elif char == "(":
            place = _group_sign_end(source, place)
            runs.append("")
        elif char in "|)^$.*+?}]":
            runs.append("")
        else:
            runs[-1] += char
        place += 1
    return runs


def _class_end(source: str, start: int) -> int:
    """Place of the ``]`` that closes the class opened here, or the last place of the source."""
    place = start + 1
    if source[place : place + 1] == "^":
        place += 1
    if source[place : place + 1] == "]":
        place += 1
    while place < len(source) and source[place] != "]":
        place += 2 if source[place] == "\\" else 1
    return min(place, len(source) - 1)


def _group_sign_end(source: str, start: int) -> int:
    """Place of the last character of a group's sign: ``(``, ``(?:``, ``(?i)``, ``(?P<name>``."""
    if source[start + 1 : start + 2] != "?":
        return start
    place = start + 2
    if source[place : place + 2] in ("P<",) or source[place : place + 1] == "<":
        end = source.find(">", place)
        return end if end > 0 else len(source) - 1
    while place < len(source) and (source[place].isalpha() or source[place] == "-"):
        place += 1
    return place if source[place : place + 1] in (":", ")") else place - 1


def _glob_runs(source: str) -> list[str]:
    runs = [""]
    for char in source:
        if char in "*?[]{},":
            runs.append("")
        else:
            runs[-1] += char
    return runs
