"""The probes of Claude Code: what is planted on each route, and what must be seen at the model.

Each route has two nonces: what the tool says holds the old one, what a hook says in its place the new one.
Nonces stand in files and answers, never in a call, which the model sees anyway.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.hosts.fake_messages import Call, call_id
from admit.hosts.model import NOTHING, HookAnswer, HostEvent, Odd

from .adapter import ADAPTER
from .fake_page import Page
from .session import Ran, Setup

Result = Literal["pass", "fail", "recorded", "unproven"]
Verdict = tuple[Result, str]
"""A result and what was seen, as a sentence without its full stop."""

LOG_LINES = 400


class Probe(NamedTuple):
    """One question to the host.

    Attributes:
        name: As it is asked for with `--probe`.
        session: The session in which it is asked; empty is none.
        asks: What is found out, as a question.
        usual: What is expected.
        needed: A route that Admit acts on by default: another result is a fault.
    """

    name: str
    session: str
    asks: str
    usual: Result = "pass"
    needed: bool = True


PROBES = (
    Probe("inject-session", "routes", "Does the model see what a hook adds at the start of a session?"),
    Probe("inject-prompt", "routes", "Does it see what one adds at a prompt?"),
    Probe("inject-before-tool", "routes", "Does it see what one adds before a tool?"),
    Probe("inject-after-failure", "routes", "Does it see what one adds after a failed call?"),
    Probe("replace-bash", "routes", "Does a command's output give way to what a hook puts there?"),
    Probe("replace-read", "routes", "Does a file that was read?"),
    Probe("replace-grep", "routes", "Do the lines of a search?"),
    Probe("replace-webfetch", "routes", "Does a page?"),
    Probe("replace-mcp", "routes", "Does a text block of an MCP tool?"),
    Probe("replace-mcp-structured", "routes", "Does the structured content of an MCP tool?"),
    Probe("large-35000", "routes", "Does an output of 35,000 characters, which the host itself would cut?"),
    Probe("large-60000", "routes", "Does one of 60,000?"),
    Probe("replace-failed", "routes", "Does the output of a failed command?", "fail", False),
    Probe("replace-failed-wrapped", "routes", "Does it where the command runs in `admit run`?", needed=False),
    Probe("rewrite-input", "rules", "Is a rewritten command run, without a decision about it?", needed=False),
    Probe(
        "deny-rule", "rules", "Does a rule that denies a command hold for it in `admit run`?", needed=False
    ),
    Probe("allow-rule", "allowed", "Does a rule that allows one hold for it there?", needed=False),
    Probe("parallel-rewrites", "crowd", "Does another hook's rewrite stand where Admit says nothing?"),
    Probe("empty-output", "late", "Does the host go on with the original where a hook says nothing?"),
    Probe("overrun", "late", "Does it where a hook is late?"),
    Probe("daemon-killed", "killed", "Does it where the daemon dies in the middle of its answer?"),
    Probe("outputs-door", "door", "Does the model get what the outputs door keeps of a long log?"),
    Probe("guidance-door", "door", "Does it get the guidance that a command calls for?"),
    Probe("restrict-tools", "", "Can a hook say which tools are offered?", "unproven", False),
)
BY_NAME: Mapping[str, Probe] = MappingProxyType({probe.name: probe for probe in PROBES})


NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class Nonces(NamedTuple):
    """The marks of one run."""

    token: str

    def old(self, probe: str) -> str:
        """What the tool says."""
        return f"old-{probe}-{self.token}"

    def new(self, probe: str) -> str:
        """What the hook says."""
        return f"new-{probe}-{self.token}"


class Step(NamedTuple):
    """One scripted call, and what our hook says about it.

    Attributes:
        probe: Whom the call serves.
        answer: Gives the answer to an event about the call.
        judge: Tells the result, from the session and the place of the call in it; None where another
            step of the probe does.
    """

    probe: str
    call: Call
    answer: Callable[[HostEvent], HookAnswer]
    judge: Callable[[Ran, int], Verdict] | None


class Plan(NamedTuple):
    """One session: its steps, and what else is asked of it."""

    steps: tuple[Step, ...]
    setup: Setup
    also: Mapping[str, Callable[[Ran], Verdict]] = MappingProxyType({})


def answers(steps: tuple[Step, ...], at: Mapping[str, str] = NO_TEXTS) -> Callable[[str, bytes], bytes]:
    """What the hooks of a session say, in the bytes of the adapter.

    Args:
        steps: Their answers belong to the calls, by their places.
        at: Text that is added at an event without a call, by event.
    """

    def answer(event: str, raw: bytes) -> bytes:
        try:
            ev = ADAPTER.read(raw, event)
            if ev.tool is None:
                return ADAPTER.write(ev, HookAnswer(context=at.get(event, "")))
            for place, step in enumerate(steps):
                if ev.tool.use_id == call_id(place):
                    return ADAPTER.write(ev, step.answer(ev))
        except Odd:
            pass
        return NOTHING

    return answer


class Bench(NamedTuple):
    """What the plans are made from.

    Attributes:
        values: Settings of Admit.
        home: The folder of one session; its working folder is `project`.
        page: The page for the web tool; None where there is none.
    """

    version: str | None
    values: Mapping[str, Any]
    home: str
    nonces: Nonces
    page: Page | None = None

    def file(self, name: str, text: str, *, executable: bool = False) -> str:
        """Write a file of the working folder, and give its path."""
        path = os.path.join(self.home, "project", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755 if executable else 0o644)
        return path

    def old_file(self, probe: str) -> str:
        """A file that holds the old nonce."""
        return self.file(f"{probe}.txt", f"the first line\n{self.nonces.old(probe)}\nthe last line\n")

    def log(self, probe: str) -> str:
        """A long log with one error in the middle, in the line that holds the old nonce."""
        lines = [f"[{n:05}] compiling module number {n * 7} now" for n in range(LOG_LINES)]
        lines[LOG_LINES // 2] = f"src/parse.c:41: error: unknown type name '{self.nonces.old(probe)}'"
        return "\n".join(lines) + "\n"
