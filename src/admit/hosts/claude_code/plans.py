"""The sessions that a self-test runs: which calls are made in them, and what our hooks say.

Probes that disturb each other are in sessions of their own.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from admit.hosts.deps import admit_path
from admit.hosts.fake_messages import Call
from admit.hosts.model import HookAnswer, HostEvent

from . import fake_mcp
from .judging import Judge, cut, injected, large, replaced, rule_holds, unchanged
from .probes import Bench, Plan, Step, Verdict, answers
from .session import Ran, Setup, script_hook
from .wrap import wrapped

LARGE = (35_000, 60_000)
NEW_CHARS = 9_000
LATE_MS, LATE_S = 700, 1.5


def routes(bench: Bench) -> Plan:
    """Everything that is replaced or added where nothing else is in the way."""
    nonces = bench.nonces
    script = bench.file("fail.sh", f"cat {bench.old_file('replace-failed')}\nexit 2\n")
    log = bench.log("replace-failed-wrapped")
    make = bench.file("make.log", log)
    bench.file("bin/make", f"#!/bin/sh\ncat {make}\nexit 2\n", executable=True)
    after_failure = HookAnswer(context=nonces.new("inject-after-failure"))

    def failed(ev: HostEvent) -> HookAnswer:
        return after_failure if ev.moment == "after_failure" else HookAnswer()

    steps = [
        _replace(bench, "replace-bash", _cat(bench, "replace-bash")),
        _replace(bench, "replace-read", Call("Read", {"file_path": bench.old_file("replace-read")})),
        _replace(bench, "replace-grep", _grep(bench.old_file("replace-grep"))),
        _replace(bench, "replace-mcp", Call("mcp__probe__blocks", {})),
        Step(
            "replace-mcp-structured",
            Call("mcp__probe__structured", {}),
            _put(nonces.new("replace-mcp-structured")),
            replaced(bench, "replace-mcp-structured", old=nonces.old("replace-mcp")),
        ),
        Step(
            "replace-failed",
            Call("Bash", {"command": f"sh {script}"}),
            failed,
            replaced(bench, "replace-failed"),
        ),
        _wrapped(bench, "replace-failed-wrapped", "make", cut(bench, "replace-failed-wrapped", log)),
    ]
    for chars in LARGE:
        probe = f"large-{chars}"
        line = f"{nonces.old(probe)}\n"
        path = bench.file(f"{probe}.txt", (line * (chars // len(line) + 1))[:chars])
        call = Call("Bash", {"command": f"cat {path}"})
        new = f"start {nonces.new(probe)}\n{'x' * NEW_CHARS}\nend {nonces.new(probe)}\n"
        ends = (f"start {nonces.new(probe)}", f"end {nonces.new(probe)}")
        steps.append(Step(probe, call, _put(new), large(bench, probe, chars, ends)))
    if bench.page is not None:
        call = Call("WebFetch", {"url": bench.page.url, "prompt": "What does it say?"})
        steps.append(_replace(bench, "replace-webfetch", call))
    first = steps[0]
    before = HookAnswer(context=nonces.new("inject-before-tool"))
    steps[0] = first._replace(answer=lambda ev: before if ev.moment == "before_tool" else first.answer(ev))
    added = {"SessionStart": nonces.new("inject-session"), "UserPromptSubmit": nonces.new("inject-prompt")}
    setup = _setup(
        bench,
        tuple(steps),
        added,
        tools=("Bash", "Read", "Grep", "WebFetch"),
        servers={"probe": _server(nonces.old("replace-mcp"))},
        settings={"skipWebFetchPreflight": True},  # it would ask a server whether the page may be fetched
        aside=nonces.old("replace-webfetch"),
    )
    asks = ("inject-session", "inject-prompt", "inject-before-tool", "inject-after-failure")
    also = {probe: injected(nonces.new(probe)) for probe in asks}
    return Plan(tuple(steps), setup, also)


def rules(bench: Bench) -> Plan:
    """Rewritten commands, and a rule that denies one."""
    nonces = bench.nonces
    rewritten = bench.file("rewritten.txt", nonces.new("rewrite-input"))
    call = _cat(bench, "rewrite-input")

    def rewrite(ev: HostEvent) -> HookAnswer:
        if ev.moment != "before_tool" or ev.tool is None:
            return HookAnswer()
        return HookAnswer(rewrite_input={**ev.tool.input, "command": f"cat {rewritten}"})

    _make(bench, "deny-rule")
    steps = (
        Step("rewrite-input", call, rewrite, replaced(bench, "rewrite-input")),
        _wrapped(bench, "deny-rule", "make secret", rule_holds(bench, "deny-rule", denied=True)),
        Step("deny-rule", Call("Bash", {"command": "make secret"}), _silent, None),
    )
    return Plan(steps, _setup(bench, steps, settings={"permissions": {"deny": ["Bash(make secret*)"]}}))


def allowed(bench: Bench) -> Plan:
    """A rule that allows a command, where everything else would be asked about."""
    _make(bench, "allow-rule")
    steps = (
        _wrapped(bench, "allow-rule", "make fine", rule_holds(bench, "allow-rule", denied=False)),
        Step("allow-rule", Call("Bash", {"command": "make fine"}), _silent, None),
    )
    settings = {"permissions": {"allow": ["Bash(make fine*)"]}}
    return Plan(steps, _setup(bench, steps, mode="default", settings=settings))


def crowd(bench: Bench) -> Plan:
    """Another hook that rewrites the same output."""
    probe = "parallel-rewrites"
    theirs = {"stdout": bench.nonces.new(probe), "stderr": "", "interrupted": False}
    said = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": theirs}}
    other = script_hook(
        sys.executable, f"print({json.dumps(said)!r})", 10, version=bench.version, matcher="Bash"
    )
    call = _cat(bench, probe)
    ours = f"ours-{bench.nonces.token}"

    def judge(ran: Ran, place: int) -> Verdict:
        result, seen = replaced(bench, probe)(ran, place)
        both = ran.messages.result_of(place + 1) or ""
        winner = (
            "Admit's" if ours in both else "the other's" if bench.nonces.new(probe) in both else "neither"
        )
        return result, f"{seen}; where both rewrite, {winner} stood"

    steps = (Step(probe, call, _silent, judge), Step(probe, call, _put(ours), None))
    return Plan(steps, _setup(bench, steps, hooks={"PostToolUse": [other]}))


def late(bench: Bench) -> Plan:
    """Hooks that say nothing, or too late."""
    slow = script_hook(sys.executable, "import time; time.sleep(9)", 1, version=bench.version, matcher="Read")

    def too_late(ev: HostEvent) -> HookAnswer:
        if ev.moment != "after_tool":
            return HookAnswer()
        time.sleep(LATE_S)
        return _put(bench.nonces.new("overrun"))(ev)

    def judge(ran: Ran, place: int) -> Verdict:
        found = [unchanged(bench, "overrun")(ran, place + more) for more in (0, 1)]
        return next((one for one in found if one[0] != "pass"), found[0])

    path = bench.old_file("overrun")
    steps = (
        Step("empty-output", _cat(bench, "empty-output"), _silent, unchanged(bench, "empty-output")),
        Step("overrun", _cat(bench, "overrun"), too_late, judge),
        Step("overrun", Call("Read", {"file_path": path}), _silent, None),
    )
    shorter = {
        "hosts.deadline_ms.after_tool.door": LATE_MS - 300,
        "hosts.deadline_ms.after_tool.client": LATE_MS,
    }
    brief = bench._replace(values={**bench.values, **shorter})
    return Plan(steps, _setup(brief, steps, hooks={"PostToolUse": [slow]}))


def killed(bench: Bench) -> Plan:
    """A daemon that dies while it answers."""
    probe = "daemon-killed"
    steps = (Step(probe, _cat(bench, probe), _silent, unchanged(bench, probe)),)
    return Plan(steps, _setup(bench, steps)._replace(serve="broken"))


def door(bench: Bench) -> Plan:
    """The daemon itself, with the shipped settings."""
    probe = "outputs-door"
    log = bench.log(probe)
    path = bench.file("build.log", log)
    guidance = bench.nonces.new("guidance-door")
    bench.file(".claude/ways/logs/logs.md", f"---\ncommands: build\\.log$\n---\n{guidance}\n")
    steps = (Step(probe, Call("Bash", {"command": f"cat {path}"}), _silent, cut(bench, probe, log)),)
    also = {"guidance-door": injected(guidance)}
    return Plan(steps, _setup(bench, steps)._replace(serve="real"), also)


PLANS: Mapping[str, Callable[[Bench], Plan]] = MappingProxyType(
    {
        "routes": routes,
        "rules": rules,
        "allowed": allowed,
        "crowd": crowd,
        "late": late,
        "killed": killed,
        "door": door,
    }
)


def _setup(bench: Bench, steps: tuple[Step, ...], at: Mapping[str, str] | None = None, **more: Any) -> Setup:
    """A session of these steps, whose commands are looked for in the working folder's `bin` first."""
    path = os.pathsep.join((os.path.join(bench.home, "project", "bin"), os.environ.get("PATH", os.defpath)))
    environment = {"PATH": path}
    if bench.page is not None:
        environment["NODE_EXTRA_CA_CERTS"] = bench.page.certificate
    script = tuple(step.call for step in steps)
    return Setup(script, answers(steps, at or {}), bench.values, environment=environment, **more)


def _replace(bench: Bench, probe: str, call: Call) -> Step:
    return Step(probe, call, _put(bench.nonces.new(probe)), replaced(bench, probe))


def _wrapped(bench: Bench, probe: str, command: str, judge: Judge) -> Step:
    """A command that our hook puts `admit run` in front of, as it does where `hosts.wrap` is on."""

    def wrap(ev: HostEvent) -> HookAnswer:
        if ev.moment != "before_tool" or ev.tool is None:
            return HookAnswer()
        # A ticket that there is not says nothing, and the run goes on without it.
        given = wrapped(
            ev.tool.input, ("make",), admit=admit_path(), ticket=lambda: "0" * 32, find=lambda name: name
        )
        return HookAnswer(rewrite_input=given)

    return Step(probe, Call("Bash", {"command": command}), wrap, judge)


def _put(text: str) -> Callable[[HostEvent], HookAnswer]:
    """Put a text in the place of the first text of an output."""

    def answer(ev: HostEvent) -> HookAnswer:
        output = ev.tool.output if ev.tool is not None and ev.moment == "after_tool" else None
        return HookAnswer(replace=((output.texts[0][0], text),)) if output and output.texts else HookAnswer()

    return answer


def _silent(ev: HostEvent) -> HookAnswer:
    return HookAnswer()


def _cat(bench: Bench, probe: str) -> Call:
    return Call("Bash", {"command": f"cat {bench.old_file(probe)}"})


def _grep(path: str) -> Call:
    return Call("Grep", {"pattern": ".", "path": path, "output_mode": "content"})


def _make(bench: Bench, probe: str) -> None:
    bench.file("bin/make", f"#!/bin/sh\necho {bench.nonces.old(probe)}\n", executable=True)


def _server(word: str) -> Mapping[str, Any]:
    file = os.path.abspath(fake_mcp.__file__)
    return {"type": "stdio", "command": sys.executable, "args": ["-I", "-S", file, word]}
