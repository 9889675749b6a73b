"""One headless session of the real client, in a home of its own, against a fake of the messages API.

The hook lines are those that `admit init` writes, but for the socket: it leads to a daemon of this session.
Nothing of the user's is read or written, and nothing but the loopback can be reached.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.hosts.daemon import control
from admit.hosts.daemon.endpoint import listen
from admit.hosts.daemon.places import STAMP, beside
from admit.hosts.daemon.recorder import Recorder
from admit.hosts.daemon.server import DEFAULTS, Server
from admit.hosts.fake_messages import Call, FakeMessages
from admit.hosts.model import Handled

from .entries import Place, entries, form_for

WAIT_S = 180.0
PROMPT = "find out why the build fails and mend it"
# Nothing listens at the port for discarding, so a request to anywhere else ends there.
NOWHERE = "http://127.0.0.1:9"
OFFLINE: Mapping[str, str] = MappingProxyType(
    {
        "ANTHROPIC_API_KEY": "admit-selftest",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
)

Answer = Callable[[str, bytes], bytes]
"""Gives the bytes for an event and its payload."""


class Setup(NamedTuple):
    """What a session is made of.

    Attributes:
        script: The tool calls, one a turn.
        answer: What the hooks say; used with `serve` ``probe``.
        serve: Who is at the socket: ``probe`` answers with `answer`, ``real`` is the daemon itself, and
            ``broken`` dies in the middle of its reply.
        tools: The built-in tools that the client may use.
        mode: The client's permission mode.
        settings: Further settings.
        hooks: Groups of hooks that are not ours, by event.
        values: Settings of Admit, for the command lines.
        servers: MCP servers, by name.
        aside: What the fake answers to a request without tools.
        environment: Further variables of the client.
    """

    script: tuple[Call, ...]
    answer: Answer
    values: Mapping[str, Any]
    serve: Literal["probe", "real", "broken"] = "probe"
    tools: tuple[str, ...] = ("Bash", "Read")
    mode: str = "bypassPermissions"
    settings: Mapping[str, Any] = MappingProxyType({})
    hooks: Mapping[str, Any] = MappingProxyType({})
    servers: Mapping[str, Any] = MappingProxyType({})
    aside: str = "done"
    environment: Mapping[str, str] = MappingProxyType({})


class Heard(NamedTuple):
    """One hook: its event, its payload, and what it was answered."""

    event: str
    raw: bytes
    answer: bytes


class Ran(NamedTuple):
    """What a session showed.

    Attributes:
        exit_code: The client's; None where it did not end in time.
        said: What it printed.
        transcript: Its transcript file; empty where there is none.
        messages: What the model was told.
        heard: The hooks, in the order they came; only with `serve` ``probe``.
    """

    exit_code: int | None
    said: str
    transcript: str
    messages: FakeMessages
    heard: tuple[Heard, ...]
    elapsed_s: float


def run(client: str, version: str | None, setup: Setup, home: str, place: Place) -> Ran:
    """Run one session to its end, at most 180 seconds.

    Args:
        client: Path of the host's executable.
        version: The host's.
        home: A folder that holds nothing of worth; the working folder is `project` in it.
        place: The paths of the command lines; the socket is put in the home.

    Raises:
        OSError: The client cannot be started, or the folder not be written.
    """
    path = os.path.join(home, "run", "d.sock")
    heard: list[Heard] = []
    for name in ("project", ".claude", "tmp", "run"):
        os.makedirs(os.path.join(home, name), mode=0o700, exist_ok=True)
    groups = entries(setup.values, place._replace(socket=path), form_for("user", version))
    own = {event: [group] for event, group in groups.items()}
    others = {event: [*found, *own.get(event, [])] for event, found in setup.hooks.items()}
    hooks = {**own, **others}
    _write_json(os.path.join(home, ".claude", "settings.json"), {**setup.settings, "hooks": hooks})
    servers = os.path.join(home, "servers.json")
    _write_json(servers, {"mcpServers": dict(setup.servers)})
    command = [client, "-p", PROMPT, "--permission-mode", setup.mode, "--tools", ",".join(setup.tools)]
    command += ["--mcp-config", servers, "--strict-mcp-config"]
    with FakeMessages(setup.script, aside=setup.aside) as messages, _serving(setup, path, heard, home):
        started = time.monotonic()
        code, said = _to_its_end(
            command, os.path.join(home, "project"), _environment(home, setup, messages.url)
        )
    return Ran(code, said, _transcript(home), messages, tuple(heard), time.monotonic() - started)


def _environment(home: str, setup: Setup, url: str) -> dict[str, str]:
    env = {**OFFLINE, "PATH": os.environ.get("PATH", os.defpath), "HOME": home, "ANTHROPIC_BASE_URL": url}
    env |= {
        f"XDG_{name}_HOME": os.path.join(home, f".{name.lower()}") for name in ("STATE", "CACHE", "CONFIG")
    }
    env["TMPDIR"] = os.path.join(home, "tmp")
    if os.geteuid() == 0:
        env["IS_SANDBOX"] = "1"  # else the client refuses root the mode in which it asks for nothing
    return {**env, **setup.environment}


def _to_its_end(command: list[str], cwd: str, env: Mapping[str, str]) -> tuple[int | None, str]:
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=WAIT_S)
        return process.returncode, said.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None, f"the client did not end in {WAIT_S:.0f} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left running in the background
        process.wait()


@contextmanager
def _serving(setup: Setup, path: str, heard: list[Heard], home: str) -> Iterator[None]:
    # The client would start a daemon where none answers; the stamp says that this was just tried.
    with open(beside(path, STAMP), "w", encoding="ascii") as stamp:
        stamp.write("1")
    if setup.serve == "broken":
        with _broken(path):
            yield
        return
    if setup.serve == "real":
        with _real(path, _environment(home, setup, "")):
            yield
        return

    def handler(host: str, event: str, raw: bytes, budget_ms: int) -> Handled:
        data = setup.answer(event, raw)
        heard.append(Heard(event, raw, data))
        return Handled(data, lambda written: None)

    with _listening(path) as listener:
        server = Server(
            listener,
            handler,
            limits=DEFAULTS,
            prefilter=lambda event, raw: True,
            is_off=lambda: False,
            recorder=Recorder(),
            status=dict,
        )
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                server.turn(time.monotonic() + 1.0)

        thread = threading.Thread(target=serve, name="selftest-server", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            server.wake()
            thread.join()
            server.drain(time.monotonic() + DEFAULTS.drain_s)
            server.close()


@contextmanager
def _listening(path: str) -> Iterator[socket.socket]:
    listener = listen(path)
    if listener is None:
        raise OSError(f"something answers at {path} already")
    try:
        yield listener
    finally:
        listener.close()
        with suppress(FileNotFoundError):
            os.unlink(path)


@contextmanager
def _real(path: str, env: Mapping[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "admit.hosts.daemon", path, "cli"],
        env=env,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + control.START_WAIT_S
        while control.status(path) is None and process.poll() is None and time.monotonic() < end:
            time.sleep(control.LOOK_EVERY_S)
        yield
    finally:
        process.terminate()
        try:
            process.wait(control.STOP_WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _broken(path: str) -> Iterator[None]:
    """Whoever asks gets the beginning of a reply, and then nothing any more."""
    with _listening(path) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    sock, _ = listener.accept()
                    with sock, suppress(OSError):
                        sock.recv(1 << 16)
                        sock.sendall(b'ADMIT1 ok 100\n{"hookSpecificOutput":')

        thread = threading.Thread(target=serve, name="selftest-broken", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _transcript(home: str) -> str:
    """The session's transcript, not those of its subagents."""
    projects = os.path.join(home, ".claude", "projects")
    with suppress(OSError):
        for project in sorted(os.listdir(projects)):
            for name in sorted(os.listdir(os.path.join(projects, project))):
                if name.endswith(".jsonl"):
                    return os.path.join(projects, project, name)
    return ""


def _write_json(path: str, value: Any) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)


def script_hook(
    python: str, code: str, timeout_s: int, *, version: str | None, matcher: str
) -> dict[str, Any]:
    """A group with a hook of somebody else: a line of Python."""
    words = [python, "-I", "-S", "-c", code]
    handler: dict[str, Any] = {"type": "command", "timeout": timeout_s}
    if form_for("user", version) == "exec":
        handler |= {"command": words[0], "args": words[1:]}
    else:
        handler |= {"command": shlex.join(words)}
    return {"matcher": matcher, "hooks": [handler]}
