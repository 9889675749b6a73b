"""What a reviewer writes: one block between two lines that hold the job's id and nonce. Read strictly.

    [[review e-0123456789ab NONCE]]
    ### Summary
    One paragraph or more.
    ### Findings
    - FAIL [b3 a2] one line each; none where there is nothing to say
    opened: [a1, a2]
    ## Result: FAIL
    [[/review e-0123456789ab NONCE]]

The line ``opened:`` may be left out. Around the block anything may stand that is no such line itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from admit.evidence.model import Severity, worst

MOST_CHARS = 1 << 20
LONGEST_ID = 16
NOTE = "note"
"""Stands in place of a block where a finding is about the note as a whole."""

Result = Literal["PASS", "WARN", "FAIL", "ERROR"]

_FINDING = re.compile(rf"- (FAIL|WARN|INFO) \[({NOTE}|b[1-9][0-9]*)((?: a[1-9][0-9]*)*)\] (\S.*)")
_OPENED = re.compile(r"opened: \[((?:a[1-9][0-9]*(?:, ?a[1-9][0-9]*)*)?)\]")
_RESULT = re.compile(r"## Result: (PASS|WARN|FAIL|ERROR)")
# Looser than the forms above, so that nothing that is nearly one of them passes as prose.
_MARK = re.compile(r"\[\[ ?/? ?review\b", re.IGNORECASE)
_HEADING = re.compile(r"summary\b|findings\b|.*\bresult\b", re.IGNORECASE)
_LINE = re.compile(r"result *[*_`]{0,3} *:|(?:PASS|INFO|WARN|FAIL|ERROR) ?\[", re.IGNORECASE)
_LEAD = re.compile(r"\W*")
# What bytes that are no UTF-8 become, and half a character from an agent's JSON; no row could hold it.
_BROKEN = re.compile("[\ud800-\udfff]")


class Said(NamedTuple):
    """One finding as the reviewer wrote it: about a block, or `NOTE`, citing offers in its order."""

    severity: Severity
    block: str
    offers: tuple[str, ...]
    text: str


class Answer(NamedTuple):
    """A valid output.

    Attributes:
        opened: What the reviewer says that it opened; None where it does not say.
    """

    summary: str
    findings: tuple[Said, ...]
    opened: tuple[str, ...] | None
    result: Result


class Malformed(ValueError):
    """An output that is not as it must be; the message says what is wrong, and on which of its lines.

    It holds ids and our own words alone, nothing else that the reviewer wrote.
    """


class _Line(NamedTuple):
    """A line without white space at its end, and its number from 1 in the whole output."""

    n: int
    text: str


def marks(job: str, nonce: str) -> tuple[str, str]:
    """The line before the block and the line after it."""
    return f"[[review {job} {nonce}]]", f"[[/review {job} {nonce}]]"


def parse(text: str, job: str, nonce: str, *, blocks: Collection[str], offers: Collection[str]) -> Answer:
    """Read an output.

    Args:
        blocks, offers: The ids that there are.

    Raises:
        Malformed: It is not exactly one valid block; no other error, whatever the text.
    """
    inside, last = _inside(text, *marks(job, nonce))
    summary, rest = _summary(inside, last)
    findings, rest = _findings(rest, last, blocks, offers)
    opened, rest = _opened(rest)
    if not rest:
        raise _malformed(last, "a last line ## Result: PASS, WARN, FAIL or ERROR is missing before it")
    if (found := _RESULT.fullmatch(rest[0].text)) is None:
        raise _malformed(rest[0], "neither `- FAIL [b3 a2] words`, nor `opened: [a2]`, nor `## Result: FAIL`")
    if len(rest) > 1:
        raise _malformed(rest[1], "it stands after the result, which is the last line of the block")
    result: Result = found[1]  # type: ignore[assignment]
    grave = worst(tuple(one.severity for one in findings))
    follows: Result = grave if grave in ("FAIL", "WARN") else "PASS"
    # Who cannot judge may say so, but not beside a finding that judges.
    if result != follows and not (result == "ERROR" and follows == "PASS"):
        raise _malformed(rest[0], f"the result is {result}, and the findings make it {follows}")
    return Answer(summary, findings, opened, result)


def _malformed(line: _Line, what: str) -> Malformed:
    return Malformed(f"line {line.n:,}: {what}")


def _inside(text: str, first: str, last: str) -> tuple[list[_Line], _Line]:
    """The lines of the block that are not empty, and the one that closes it."""
    if len(text) > MOST_CHARS:
        raise Malformed(f"it is longer than {MOST_CHARS:,} characters")
    whole = text.removeprefix("\ufeff").splitlines()
    lines = [_Line(n, line.rstrip()) for n, line in enumerate(whole, 1)]
    for line in lines:
        if _BROKEN.search(line.text):
            raise _malformed(line, "it is not UTF-8; write the output in UTF-8")
    marked = [line for line in lines if _MARK.search(line.text)]
    for line, wanted in zip(marked, (first, last), strict=False):
        if line.text != wanted:
            name = "opening" if wanted is first else "closing"
            raise _malformed(line, f"not the {name} line of the block as it stands in prompt.md")
    if len(marked) > 2:
        raise _malformed(marked[2], "a mark of a block again; the output holds exactly one block, once")
    if len(marked) < 2:
        name = "closing" if marked else "opening"
        raise Malformed(f"the {name} line of the block is missing; it stands in prompt.md")
    start, end = marked
    for line in (*lines[: start.n - 1], *lines[end.n :]):
        if _is_own(line.text):
            raise _malformed(line, "a heading, a finding or a result stands outside the block")
    return [line for line in lines[start.n : end.n - 1] if line.text], end


def _is_own(line: str) -> bool:
    """Whether a line looks like one that only stands in its own place in the block."""
    lead = _LEAD.match(line)
    end = lead.end() if lead is not None else 0
    return _LINE.match(line, end) is not None or ("#" in line[:end] and _HEADING.match(line, end) is not None)


def _summary(lines: list[_Line], last: _Line) -> tuple[str, list[_Line]]:
    if not lines or lines[0].text != "### Summary":
        raise _malformed(lines[0] if lines else last, "the block does not begin with ### Summary")
    end = next((place for place, line in enumerate(lines[1:], 1) if _is_own(line.text)), len(lines))
    if end == 1:
        raise _malformed(lines[0], "the summary is empty")
    return "\n".join(line.text for line in lines[1:end]), lines[end:]


def _findings(
    lines: list[_Line], last: _Line, blocks: Collection[str], offers: Collection[str]
) -> tuple[tuple[Said, ...], list[_Line]]:
    if not lines or lines[0].text != "### Findings":
        raise _malformed(lines[0] if lines else last, "the summary is not followed by ### Findings")
    found: list[Said] = []
    place = 1
    while place < len(lines) and (one := _FINDING.fullmatch(lines[place].text)) is not None:
        severity, block, cited, text = one.groups()
        ids = tuple(cited.split())
        unknown = [id for id in ids if id not in offers]
        if block != NOTE and block not in blocks:
            unknown.insert(0, block)
        if unknown:
            raise _malformed(lines[place], f"the finding names {unknown[0][:LONGEST_ID]}, which there is not")
        if len(set(ids)) != len(ids):
            raise _malformed(lines[place], "the finding names an artifact twice")
        found.append(Said(severity, block, ids, text))  # type: ignore[arg-type]
        place += 1
    return tuple(found), lines[place:]


def _opened(lines: list[_Line]) -> tuple[tuple[str, ...] | None, list[_Line]]:
    # It changes nothing, so ids that there are not may stand in it: they are shown as unserved.
    if lines and (said := _OPENED.fullmatch(lines[0].text)) is not None:
        return tuple(dict.fromkeys(id.strip() for id in said[1].split(",") if id)), lines[1:]
    return None, lines
