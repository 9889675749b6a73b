"""What an agent took from an output: what its next calls hold that it had from nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.transcripts.model import ToolUse, input_texts

LOOK_AHEAD = 3
MOST_STRINGS = 12
SHORTEST_NAME = 5
QUOTED_LINE_CHARS = 16
MOST_LINES_OF_A_RANGE = 3
# Of one text of a call; what is longer is data.
MOST_INPUT_CHARS = 20_000
# An agent's words about its call, not a use of anything.
WORDS_ABOUT = ("description",)


class Used(NamedTuple):
    """A string that stands in an output and was used in one of the next calls.

    Attributes:
        text: As it stands in the output.
        tool: The tool whose call used it.
        calls_later: 1 for the next call.
    """

    text: str
    tool: str
    calls_later: int


def next_calls(uses: Sequence[ToolUse], index: int) -> list[ToolUse]:
    """The next three calls of the same agent that were made after it had seen this result."""
    use = uses[index]
    if use.result_order is None:
        return []
    later = (
        one
        for one in uses[index + 1 :]
        if one.agent == use.agent and one.order > use.result_order and one.answer != use.answer
    )
    return [one for one, _ in zip(later, range(LOOK_AHEAD), strict=False)]


def used_next(output: str, later: Sequence[ToolUse], before: Callable[[], str], cwd: str) -> tuple[Used, ...]:
    """The strings of an output that the next calls used and that stood nowhere in the context before.

    Paths; identifiers that look like code (an underscore, a digit, inner capitals); numbered lines that fall
    into a range of lines that is read, when at most three do; lines of 16 characters or more that are
    repeated, as an edit does. At most twelve, in the order of use.

    Args:
        output: What the agent saw.
        later: Its next calls, in order.
        before: Gives all text that stood in its context before; asked only when it is needed.
        cwd: The working folder, which outputs leave out of paths.
    """
    found: dict[str, Used] = {}
    for place, use in enumerate(later, 1):
        for text in _strings(output, use, cwd):
            if text not in found and text in output:
                found[text] = Used(text, use.tool, place)
    if not found:
        return ()
    known = before()
    return tuple(one for one in found.values() if one.text not in known)[:MOST_STRINGS]


def _strings(output: str, use: ToolUse, cwd: str) -> Iterator[str]:
    given = {key: value for key, value in use.input.items() if key not in WORDS_ABOUT}
    texts = [text[:MOST_INPUT_CHARS] for text in input_texts(given)]
    for text in texts:
        for path in _path().findall(text):
            yield from _as_printed(path.rstrip("/."), output, cwd)
    for text in texts:
        yield from (word for word in _identifier().findall(text) if _shaped().search(word))
    for text in texts:
        yield from _repeated_lines(output, text)
    yield from _lines_in_ranges(output, use, texts)


def _as_printed(path: str, output: str, cwd: str) -> Iterator[str]:
    """The longest form of a path that the output holds: as it is, from the working folder on, its end."""
    forms = [path]
    if cwd and path.startswith(f"{cwd}/"):
        forms.append(path[len(cwd) + 1 :])
    parts = path.split("/")
    forms += ["/".join(parts[start:]) for start in range(1, len(parts))]
    yield from [form for form in forms if len(form) >= SHORTEST_NAME and form in output][:1]


def _lines_in_ranges(output: str, use: ToolUse, texts: Sequence[str]) -> list[str]:
    """Numbered lines of the output, as grep prints them, that fall into a range which is read next."""
    ranges = [(int(first), int(last)) for text in texts for first, last in _sed_range().findall(text)]
    offset, limit = use.input.get("offset"), use.input.get("limit")
    if isinstance(offset, int) and isinstance(limit, int):
        ranges.append((offset, offset + limit - 1))
    hits = []
    for line in output.split("\n") if ranges else ():
        numbered = _numbered().match(line)
        if numbered is None or not any(first <= int(numbered[2]) <= last for first, last in ranges):
            continue
        name = os.path.basename(numbered[1] or "")
        if any(name in text for text in texts):
            hits.append(line[: numbered.end() + 40])
    return hits if len(hits) <= MOST_LINES_OF_A_RANGE else []


def _repeated_lines(output: str, text: str) -> list[str]:
    lines = {line for line in map(str.strip, text.split("\n")) if len(line) >= QUOTED_LINE_CHARS}
    return [line for line in map(str.strip, output.split("\n")) if line in lines] if lines else []


@lru_cache(maxsize=1)
def _path() -> re.Pattern[str]:
    code = "py|pyi|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|rb|php|sh|sql"
    other = "rst|md|txt|toml|cfg|ini|json|ya?ml|css|html|lock|log|xml"
    # A name may only begin where a name begins, so that a long run of letters is looked at once.
    name = r"(?<![\w.@/-])[\w.@-]{0,200}"
    return re.compile(rf"{name}(?:/[\w.@-]+)+|\b[\w-]{{1,200}}\.(?:{code}|{other})\b")


@lru_cache(maxsize=1)
def _identifier() -> re.Pattern[str]:
    return re.compile(r"\b(?!__\w+__\b)[A-Za-z_]\w{4,99}\b")


@lru_cache(maxsize=1)
def _shaped() -> re.Pattern[str]:
    return re.compile(r"_|\d|[a-z][A-Z]")


@lru_cache(maxsize=1)
def _sed_range() -> re.Pattern[str]:
    return re.compile(r"\b(\d{1,7}),(\d{1,7})p\b")


@lru_cache(maxsize=1)
def _numbered() -> re.Pattern[str]:
    return re.compile(r"^(?:([\w./-]+)[:-])?\s*(\d{1,7})(?:[:\t-]|  )\s*\S")
