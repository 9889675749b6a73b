"""A user's own program as a judge: long-lived, asked and answered in JSON lines.

    in:  {"v": 1, "id", "deadline_ms", "door", "task", "context": {}, "questions": [
             {"id", "type", "ask", "subject", "true", "false" | "levels": [] | "labels": {label: text}}]}
    out: {"v": 1, "id", "answers": {…}, "usage"?, "cost_usd"?}     answers in the SystemOne shape
         {"v": 1, "id", "error": {"code", "message"}}

The context of a review is documents; each stands in a fence with the request's id (`fence`).

Several requests may be on their way at once; an answer says by `id` which it is for, and what answers none is
dropped.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import Any

from admit.core.question import KINDS, Ask, Noul, Question, Score

from .clock import Clock, SystemClock
from .fence import context, plain
from .parse import MOST_BYTES, Rejected, decode, read_answers
from .profiles import Profile
from .program import Program
from .usage import read_cost, read_usage
from .wire import Read, Sent, one_line

VERSION = 1
GIVEN = ("PATH", "HOME", "LANG")
"""Variables that every program gets; any other is named in the profile."""

MOST_MISSED = 2
MOST_PAUSE_S = 60.0
MOST_STDERR_BYTES = 64 << 10

# Some readers of lines take these for the end of one.
_ESCAPES = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


class CommandDialect:
    """Requests to a program and what it answers; pure."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def supports(self, question: Question) -> bool:
        return type(question) in KINDS

    def headers(self, key: str | None) -> dict[str, str]:
        """None: a program is asked without a key."""
        return {}

    def body(self, ask: Ask, nonce: str) -> bytes:
        """One line with its end; `nonce` is the id to answer to."""
        request = {
            "v": VERSION,
            "id": nonce,
            "deadline_ms": ask.deadline_ms,
            "door": ask.door,
            "task": ask.task,
            "context": context(ask, nonce),
            "questions": [_asked(question) for question in ask.questions],
        }
        text = json.dumps(request, ensure_ascii=False).translate(_ESCAPES)
        return plain(text).encode() + b"\n"

    def tokens_out(self, questions: int) -> int:
        """0: a program's price is its own; what it states is settled."""
        return 0

    def read(self, ask: Ask, body: bytes, min_valid_share: float) -> Read:
        value = decode(body)
        if isinstance(value, Rejected):
            return Read(value)
        version = value.get("v") if isinstance(value, dict) else None
        if isinstance(version, bool) or version != VERSION:
            return Read(Rejected("envelope"))
        answers = read_answers(ask, value, "command", min_valid_share=min_valid_share)
        usage, quirks = read_usage(value.get("usage", {}), ("input_tokens",), "output_tokens")
        return Read(answers, None, usage._replace(cost_usd=read_cost(value.get("cost_usd"))), quirks)


def _asked(question: Question) -> dict[str, Any]:
    shared = {
        "id": question.id,
        "type": KINDS[type(question)],
        "ask": question.ask,
        "subject": question.subject,
    }
    if isinstance(question, Noul):
        return {**shared, "true": question.true, "false": question.false}
    if isinstance(question, Score):
        return {**shared, "levels": list(question.levels)}
    return {**shared, "labels": dict(question.labels)}


class CommandTransport:
    """Runs the profile's program, starts it at the first request, and matches answers by id; thread-safe.

    After two missed deadlines in a row its process group is killed, and starts again at the first request
    after 1 s, then 2, 4 … 60 s for as long as no answer comes. A program that ends without having answered
    waits alike; one that ends after an answer starts again at once. Until then a request is ``command_exit``.
    It is killed by `close`, and when the interpreter exits.

    Args:
        profile: Its `argv` is run without a shell, with PATH, HOME, LANG and the variables in its `env`.
        clock: The pauses are counted on it; deadlines are the machine's.
    """

    def __init__(self, profile: Profile, clock: Clock | None = None) -> None:
        self._profile = profile
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._program: Program | None = None
        self._waiting: dict[str, _Waiting] = {}
        self._missed = 0
        self._failures = 0
        self._not_before = 0.0
        self._closed = False
        self._stderr = bytearray()

    @property
    def stderr(self) -> str:
        """The last 64 KiB of what the program wrote to stderr, over all its runs; not redacted."""
        return bytes(self._stderr).decode("utf-8", "replace")

    def send(self, body: bytes, headers: Mapping[str, str], seconds: float) -> Sent:
        """Ask, and wait at most `seconds`. A request of more than 1 MiB is ``too_large`` and not sent."""
        if len(body) > MOST_BYTES:
            return Sent("too_large", "no")
        if seconds <= 0:
            return Sent("deadline", "no")
        name = json.loads(body)["id"]
        begun = self._clock.monotonic()
        with self._lock:
            started = self._program is None
            program = self._running()
            if isinstance(program, str):
                return Sent("command_exit", "no", message=program)
            connect_ms = (self._clock.monotonic() - begun) * 1000 if started else None
            waiting = self._waiting[name] = _Waiting(program)
        program.write(body, lambda: name in self._waiting)
        waiting.done.wait(seconds)
        with self._lock:
            self._waiting.pop(name, None)
            stuck = waiting.sent is None and self._miss(program)
        if waiting.sent is not None:
            taken_ms = (self._clock.monotonic() - begun) * 1000
            return waiting.sent._replace(connect_ms=connect_ms, first_byte_ms=taken_ms)
        if stuck:
            program.kill()
        return Sent("deadline", "unknown", connect_ms=connect_ms)

    def warm(self) -> None:
        """Start the program, where nothing speaks against it."""
        with self._lock:
            self._running()

    def close(self) -> None:
        """Kill the program for good; what waits for it is ``command_exit``."""
        with self._lock:
            self._closed = True
            program = self._program
        if program is not None:
            program.kill()

    def _running(self) -> Program | str:
        """The program, started where it is not; or why there is none. Under the lock."""
        if self._closed:
            return "the judge is closed"
        if self._program is not None:
            return self._program
        wait = self._not_before - self._clock.monotonic()
        if wait > 0:
            return f"the program starts again in {wait:.1f} s"
        names = (*GIVEN, *self._profile.env)
        try:
            self._program = Program(
                self._profile.argv,
                {name: os.environ[name] for name in names if name in os.environ},
                most_bytes=MOST_BYTES,
                on_line=self._on_line,
                on_error=self._on_error,
                on_end=self._on_end,
            )
        except (OSError, ValueError) as error:
            self._pause()
            return one_line(f"the program cannot be started: {error}")
        return self._program

    def _miss(self, program: Program) -> bool:
        """Count a missed deadline; whether the program is to be killed for it. Under the lock."""
        self._missed += 1
        if self._missed < MOST_MISSED or self._program is not program:
            return False
        self._program = None
        self._pause()
        return True

    def _pause(self) -> None:
        """No start for a while, which doubles from 1 s to 60 s. Under the lock."""
        self._missed = 0
        pause = min(MOST_PAUSE_S, 2.0 ** min(self._failures, 6))
        self._failures += 1
        self._not_before = self._clock.monotonic() + pause

    def _on_line(self, program: Program, line: bytes) -> None:
        name, error = _read_line(line)
        sent = Sent(None, "yes", body=line)
        if error is not None:
            sent = Sent("agent_error", "unknown", message=error)
        with self._lock:
            if name is None:
                # Not JSON at all: ids are random, so the one that stands in it is the one it means.
                name = next((one for one in self._waiting if one.encode() in line), "")
            waiting = self._waiting.get(name)
            if waiting is None or waiting.program is not program:
                return
            del self._waiting[name]
            self._missed = self._failures = 0
            program.answered = True
            waiting.end(sent)

    def _on_error(self, piece: bytes) -> None:
        self._stderr += piece
        del self._stderr[:-MOST_STDERR_BYTES]

    def _on_end(self, program: Program) -> None:
        with self._lock:
            if self._program is program:
                self._program = None
                if not program.answered:
                    self._pause()
                self._missed = 0
            left = [name for name, one in self._waiting.items() if one.program is program]
            ended = [self._waiting.pop(name) for name in left]
        for waiting in ended:
            message = f"the program ended with status {program.status}"
            waiting.end(Sent("command_exit", "unknown", message=message))


class _Waiting:
    """A request on its way to one run of the program; `sent` is None until something came of it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.done = threading.Event()
        self.sent: Sent | None = None

    def end(self, sent: Sent) -> None:
        self.sent = sent
        self.done.set()


def _read_line(line: bytes) -> tuple[str | None, str | None]:
    """The id in a line of output, None where it is not JSON; and what its error says, None where it has none.

    Lenient: whose line it is says nothing of whether it holds an answer, which the strict parser decides.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError, MemoryError):
        return None, None
    name = value.get("id") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return "", None
    error = value.get("error")
    if error is None:
        return name, None
    said = (error.get("code"), error.get("message")) if isinstance(error, dict) else (error,)
    return name, one_line(": ".join(part for part in said if isinstance(part, str)))
