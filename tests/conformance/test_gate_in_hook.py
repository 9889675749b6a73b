"""The relevance gate where an agent meets it: a hook's client, a daemon, and a judge on this machine.

A home of 500 files of guidance, a prompt that sets off 15 of them by their patterns, and a chat judge that
takes 0.6 s and 0.1 s more for each candidate.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from admit.hosts import hook_client
from admit.hosts.daemon import control
from admit.ledger import iter_records
from tests.servers.chat_server import ChatServer

CLIENT = (sys.executable, "-I", "-S", str(Path(hook_client.__file__)))
BUDGET_MS = 2_600
WAIT_S = 30.0
FILES = 500
PROMPT = "walk me through the release checklist of the shop"
# In admission order; `h` is the parent of `h/child`, which the cap leaves out.
SEATED = ("g0", "g1", "g2", "g3", "g4", "g5", "g6", "h")
OVERFLOW = ("h/child", "i0", "i1", "i2", "i3", "i4", "i5")
BLOCKED = ("g1", "h")
PASSED = tuple(name for name in (*SEATED, *OVERFLOW) if name not in (*BLOCKED, "h/child"))
# A turn shows twelve at most.
UNFILTERED = (*SEATED, *OVERFLOW)[:12]
OLDER = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    error = {"code": "unknown_field", "message": "max_candidates"}
    print(json.dumps({"v": 1, "id": asked["id"], "error": error}), flush=True)
"""


def judge(task: str, text: str) -> float:
    """No to what is to be blocked, by the path that a candidate's text begins with; yes to the rest."""
    return 0.1 if text.partition("\n")[0].replace(" › ", "/") in BLOCKED else 0.9


class Home:
    """A home with a daemon of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = str(folder / "run" / "admit" / "d.sock")
        (folder / "run").mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        for number in range(FILES - len(SEATED) - len(OVERFLOW)):
            self.way(f"other/w{number}", f"subject number {number} of another matter")
        for name in (*SEATED, *OVERFLOW):
            self.way(name, "release checklist")

    def way(self, name: str, pattern: str) -> None:
        path = self.folder / ".config" / "agent-ways" / "ways" / name / f"{name.rpartition('/')[2]}.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\npattern: {pattern}\n---\nWhat is written down of {name}.\n")

    def configure(self, text: str) -> None:
        path = self.folder / ".config" / "admit" / "admit.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def client(self, event: str, session: str, **payload: object) -> subprocess.Popen[bytes]:
        """A hook's client, as the host starts it."""
        given = {"session_id": session, "cwd": str(self.folder), "hook_event_name": event, **payload}
        process = subprocess.Popen(
            [*CLIENT, self.socket, "claude-code", event, str(BUDGET_MS)],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def hook(self, event: str, session: str, **payload: object) -> bytes:
        return answer(self.client(event, session, **payload))

    def prompt(self, session: str, text: str = PROMPT) -> bytes:
        return self.hook("UserPromptSubmit", session, prompt=text)

    def records(self) -> list[Any]:
        """Everything recorded by now."""
        folder = self.folder / "state" / "admit"
        return list(iter_records(str(folder))) if (folder / "ledger.db").exists() else []

    def scans(self, event: str, count: int) -> list[Any]:
        """The records of scans at hooks of an event, in order, once there are so many."""
        end = time.monotonic() + WAIT_S
        while True:
            decided = [one for one in self.records() if one.decision is not None]
            found = [one for one in decided if one.decision.host_event == event]
            if len(found) >= count:
                return found
            assert time.monotonic() < end, f"{len(found)} scans of {count}"
            time.sleep(0.02)


def answer(process: subprocess.Popen[bytes]) -> bytes:
    out, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (0, b"")
    return out


def context(data: bytes) -> str:
    return json.loads(data)["hookSpecificOutput"]["additionalContext"] if data else ""


def said(data: bytes) -> tuple[str, ...]:
    """The ids of the guidance in an answer; each body stands whole under its heading."""
    lines = context(data).split("\n")
    names = tuple(line.split()[1] for line in lines[::2] if line)
    assert lines == ([line for name in names for line in lines_of(name)] or [""])
    return names


def lines_of(name: str) -> tuple[str, str]:
    return f"[guidance {name} · user]", f"What is written down of {name}."


def events(record: Any, type: str) -> list[dict[str, Any]]:
    return [dict(event.body) for event in record.events if event.type == type]


def chat(url: str, *more: str, **gate: object) -> str:
    """Settings with a chat judge at an address."""
    values = {"threshold": 0.3, **gate}
    return "\n".join(
        [
            "[judge]\nprofile = 'own'",
            f"[judge.profiles.own]\nbackend = 'chat'\ndestination = '{url}/v1'\nmodel = 'm-1'",
            "[judge.profiles.own.guidance]",
            *(f"{name} = {value}" for name, value in values.items()),
            *more,
            "",
        ]
    )


@pytest.fixture
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory() as folder:  # the path of a socket is short
        made = Home(Path(folder))
        yield made
        control.stop(made.socket)


@contextmanager
def serving(home: Home, monkeypatch: pytest.MonkeyPatch, settings: str) -> Iterator[None]:
    """A daemon that has seen the session of an agent start, and read the files by then."""
    home.configure(settings)
    with monkeypatch.context() as patched:
        for name in list(os.environ):
            if name.startswith("XDG_"):
                patched.delenv(name)
        for name, value in home.env.items():
            patched.setenv(name, value)
        assert control.start(home.socket)
    before = len(home.records())
    for number in range(100):
        assert home.hook("PreToolUse", "warm", **edit(f"t{number}")) == b""
        if len(home.records()) > before:
            break
    yield
    control.stop(home.socket)


def edit(use_id: str) -> dict[str, Any]:
    """A call that writes a file which no guidance is about."""
    return {"tool_name": "Edit", "tool_use_id": use_id, "tool_input": {"file_path": "/x/notes.txt"}}


def test_R7_fifteen_candidates_are_one_request_of_eight_and_the_agent_sees_what_the_rules_say(
    home, monkeypatch
):
    with ChatServer("latency", judge=judge) as server, serving(home, monkeypatch, chat(server.url)):
        data = home.prompt("s")
        assert said(data) == PASSED
        (request,) = server.requests
    (record,) = home.scans("UserPromptSubmit", 1)
    text = request.body.decode()
    assert all(f"q{number}" in text for number in range(1, 9)) and "q9" not in text
    assert PROMPT in text and "What is written down" not in text
    (capped,) = events(record, "guidance.gate_capped")
    assert (capped["judged"], capped["unjudged"]) == (8, 7)
    assert tuple(capped["unjudged_ids"]) == OVERFLOW
    row = record.decision
    assert (row.status, row.mode, row.profile) == ("judged", "enforce", "own")
    assert 1_400 <= row.judge_ms < 2_000
    assert row.extra["stages"]["blocked"] == list(BLOCKED)
    assert row.extra["stages"]["ancestor"] == ["h/child"]
    assert events(record, "guidance.gate_fallback") == []
    shown = [body["id"] for one in home.records() for body in events(one, "guidance.shown")]
    assert tuple(shown) == PASSED


def test_R6_a_request_that_takes_longer_than_its_deadline_lets_everything_pass_in_time(home, monkeypatch):
    with (
        ChatServer("latency", judge=judge) as server,
        serving(home, monkeypatch, chat(server.url, max_candidates=15)),
    ):
        started = time.monotonic()
        assert said(home.prompt("s")) == UNFILTERED
        assert time.monotonic() - started < BUDGET_MS / 1000 + 1
    (record,) = home.scans("UserPromptSubmit", 1)
    assert events(record, "guidance.gate_capped") == []
    (fallback,) = events(record, "guidance.gate_fallback")
    assert (fallback["reason"], fallback["candidates"]) == ("deadline", 15)
    assert (record.decision.status, record.decision.n_blocked) == ("fallback", 0)


def test_R6_with_the_judge_dead_the_agent_sees_what_the_matcher_found(home, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with serving(home, monkeypatch, chat(url)):
            assert said(home.prompt("s")) == UNFILTERED
    (record,) = home.scans("UserPromptSubmit", 1)
    (fallback,) = events(record, "guidance.gate_fallback")
    assert (fallback["reason"], fallback["candidates"]) == ("connect", 8)
    assert events(record, "guidance.gate_capped")[0]["unjudged"] == 7


def test_R8_a_judge_that_answers_with_errors_fails_open_on_every_request(home, monkeypatch):
    program = home.folder / "older.py"
    program.write_text(OLDER)
    settings = f"""[judge]
profile = 'older'
[judge.profiles.older]
backend = 'command'
argv = ['{sys.executable}', '{program}']
model = 'm-1'
[judge.profiles.older.guidance]
threshold = 0.3
"""
    with serving(home, monkeypatch, settings):
        for number in range(2):
            assert said(home.prompt(f"s{number}")) == UNFILTERED
    for record in home.scans("UserPromptSubmit", 2):
        (fallback,) = events(record, "guidance.gate_fallback")
        assert fallback["reason"] == "agent_error"


def test_R5_two_hooks_of_one_turn_show_each_guidance_once(home, monkeypatch):
    with ChatServer("latency", judge=judge) as server, serving(home, monkeypatch, chat(server.url)):
        both = [home.client("UserPromptSubmit", "s", prompt=PROMPT, prompt_id=name) for name in "ab"]
        first, second = (said(answer(one)) for one in both)
    assert sorted((*first, *second)) == sorted(PASSED)


def test_R6_a_shadow_shows_the_same_bytes_as_no_gate_and_records_what_it_would_have_done(home, monkeypatch):
    with ChatServer(judge=judge) as server:
        shown = []
        for number, mode in enumerate(("off", "shadow")):
            with serving(home, monkeypatch, chat(server.url, f"[guidance]\nmode = '{mode}'")):
                shown.append(home.prompt(f"s{number}"))
        assert len(server.requests) == 1
    assert shown[0] == shown[1] and said(shown[0]) == UNFILTERED
    off, shadow = home.scans("UserPromptSubmit", 2)
    assert (off.decision.status, off.calls) == ("off", ())
    names = {one.ord: one.candidate_id for one in shadow.candidates}
    would = [names[one.ord] for one in shadow.verdicts if one.would == "blocked"]
    assert would == [*BLOCKED, "h/child"]


def test_R6_before_a_tool_no_judge_is_asked(home, monkeypatch):
    with ChatServer(judge=judge) as server, serving(home, monkeypatch, chat(server.url)):
        home.way("git/commit", "nothing")
        path = home.folder / ".config" / "agent-ways" / "ways" / "git" / "commit" / "commit.md"
        path.write_text("---\ncommands: ^git commit\n---\nWhat is written down of git/commit.\n")
        time.sleep(1.1)
        call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "git commit -m x"}}
        assert said(home.hook("PreToolUse", "s", **call)) == ("git/commit",)
        assert said(home.hook("PreToolUse", "s", **call)) == ("git/commit",)
        assert said(home.hook("PreToolUse", "s", **{**call, "tool_use_id": "t2"})) == ()
        assert server.requests == []
