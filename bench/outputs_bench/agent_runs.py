"""Recorded agent runs (mini-swe-agent, MIT, read where they lie): what stood in an output and was used next.

A run is a list of messages: the task, then commands of the agent and outputs in turn. The recording scaffold
itself cut outputs over about 10,000 characters to their two ends; what it cut the agent never saw, so it can
be neither shown nor used here, and the marker of that cut stays in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .case import Case
from .oracle import lines_holding

LOOK_AHEAD = 3
MOST_STRINGS = 12
COMMAND = re.compile(r"```bash\n(.*?)\n```", re.DOTALL)
EXIT_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
WHOLE = re.compile(r"<output>\n?(.*?)</output>", re.DOTALL)
CUT = re.compile(
    r"<output_head>\n?(.*?)</output_head>\s*<elided_chars>\s*(.*?)\s*</elided_chars>\s*<output_tail>\n?(.*?)</output_tail>",
    re.DOTALL,
)
TASK = re.compile(r"<pr_description>\s*(.*?)\s*</pr_description>", re.DOTALL)
PATH = re.compile(r"[\w.-]*(?:/[\w.-]+)+|\b[\w-]+\.(?:py|pyi|rst|md|txt|toml|cfg|ini|json|ya?ml)\b")
IDENTIFIER = re.compile(r"\b(?!__\w+__\b)[A-Za-z_]\w{4,}\b")
SHAPED = re.compile(r"_|\d|[a-z][A-Z]")
QUOTED_LINE_CHARS = 16
LINE_RANGE = re.compile(r"\b(\d{1,5}),(\d{1,5})p\b")
NUMBERED = re.compile(r"^(?:([\w./-]+)[:-])?\s*(\d{1,5})(?:[:\t-]|  )\s*\S")


class Turn(NamedTuple):
    """One command with its output: what was known before, and the commands that came after."""

    number: int
    command: str
    exit_code: int | None
    output: str
    cut_by_host: bool
    before: str
    after: tuple[str, ...]


def turns(messages: list[dict[str, str]]) -> Iterator[Turn]:
    """Yield the commands of a run with their outputs, in order."""
    commands = [_command(message) for message in messages]
    known = ""
    for number, message in enumerate(messages):
        if message["role"] == "user" and number > 1:
            output, cut = output_text(message["content"])
            code = EXIT_CODE.search(message["content"])
            later = tuple(command for command in commands[number + 1 :] if command)[:LOOK_AHEAD]
            exit_code = int(code[1]) if code else None
            yield Turn(number, commands[number - 1], exit_code, output, cut, known, later)
        known += message["content"] + "\n"


def output_text(content: str) -> tuple[str, bool]:
    """Return the output in a message, and whether the recording host had cut it."""
    if cut := CUT.search(content):
        return f"{cut[1]}\n[{cut[2]}]\n{cut[3]}", True
    whole = WHOLE.search(content)
    return (whole[1] if whole else ""), False


def used_next(turn: Turn) -> tuple[str, ...]:
    """Return what the next three commands took from the output: strings in it that no earlier message held.

    Paths; identifiers that look like code (an underscore, a digit, inner capitals; no dunder names);
    numbered output lines that fall into a ``sed -n 'a,bp'`` range, when at most three do; output lines of 16
    characters or more that a command repeats, as an edit does. At most twelve strings, in the order of use.
    """
    found: dict[str, None] = {}
    for command in turn.after:
        for path in PATH.findall(command):
            name = path.removeprefix("/testbed/").removeprefix("./").rstrip("/.")
            if len(name) > 4:
                found.setdefault(name)
        for word in IDENTIFIER.findall(command):
            if SHAPED.search(word):
                found.setdefault(word)
        for line in (*_lines_in_ranges(turn.output, command), *_repeated_lines(turn.output, command)):
            found.setdefault(line)
    new = (text for text in found if text in turn.output and text not in turn.before)
    return tuple(new)[:MOST_STRINGS]


def _lines_in_ranges(output: str, command: str) -> list[str]:
    ranges = [(int(first), int(last)) for first, last in LINE_RANGE.findall(command)]
    hits = []
    for line in output.split("\n") if ranges else ():
        numbered = NUMBERED.match(line)
        if not numbered or any(a <= int(numbered[2]) <= b for a, b in ranges) is False:
            continue
        if numbered[1] is None or numbered[1].rpartition("/")[2] in command:
            hits.append(line[: numbered.end() + 40])
    return hits if len(hits) <= 3 else []


def _repeated_lines(output: str, command: str) -> list[str]:
    lines = {line.strip() for line in command.split("\n")}
    stripped = (line.strip() for line in output.split("\n"))
    return [line for line in stripped if len(line) >= QUOTED_LINE_CHARS and line in lines]


def _command(message: dict[str, str]) -> str:
    found = COMMAND.search(message["content"]) if message["role"] == "assistant" else None
    return found[1] if found else ""


def load(data: Path, minimum_chars: int = 8_000) -> list[Case]:
    """Return the outputs over ``minimum_chars`` of which something was used next, by run and turn.

    Every row is given the task of the run and the command, never the agent's own words.
    """
    cases = []
    for file in sorted((data / "outputs" / "agent-runs").glob("*.traj.json")):
        messages = json.loads(file.read_text(encoding="utf-8"))["messages"]
        run = file.name.removesuffix(".traj.json")
        found = TASK.search(messages[1]["content"])
        for turn in turns(messages):
            wanted = used_next(turn) if len(turn.output) > minimum_chars else ()
            if wanted:
                task = f"{found[1] if found else ''}\n{turn.command}"
                name = f"{run}/{turn.number}" + ("/cut" if turn.cut_by_host else "")
                at = lines_holding(turn.output, wanted)
                cases.append(Case(name, run, turn.output, task, turn.exit_code, wanted, "share", at))
    return cases
