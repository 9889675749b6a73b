"""The daemon as people and hosts start it: by a hook, and by `admit daemon`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from admit import __version__
from admit.hosts import hook_client
from admit.hosts.daemon import control
from admit.hosts.daemon.places import Lock
from admit.ledger import iter_records

ADMIT = str(Path(sys.executable).with_name("admit"))
CLIENT = (sys.executable, "-I", "-S", str(Path(hook_client.__file__)))
WAIT_S = 30.0
NOTHING = (0, b"", b"")
FLOOD = "".join(f"[{n:05d}] compiling module number {n * 7} now\n" for n in range(1000))


class Home:
    """A home of its own; its daemon is stopped in the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = str(path / "run" / "admit" / "d.sock")
        (path / "run").mkdir()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(path),
            "XDG_RUNTIME_DIR": str(path / "run"),
            "XDG_STATE_HOME": str(path / "state"),
        }

    def admit(self, *args: str) -> tuple[int, str, str]:
        """Run `admit daemon` with these arguments."""
        done = subprocess.run(
            [ADMIT, "daemon", *args], env=self.env, capture_output=True, text=True, timeout=WAIT_S
        )
        return done.returncode, done.stdout, done.stderr

    def hook(self, event: str = "Stop", **payload: object) -> tuple[int, bytes, bytes]:
        """One hook of Claude Code, as its host runs it: to the end of all its pipes."""
        given = {"session_id": "s", "cwd": str(self.path), "hook_event_name": event} | payload
        done = subprocess.run(
            [*CLIENT, self.socket, "claude-code", event, "4800"],
            input=json.dumps(given).encode(),
            env=self.env,
            capture_output=True,
            timeout=WAIT_S,
        )
        return done.returncode, done.stdout, done.stderr

    def build(self, tool_use_id: str) -> tuple[int, bytes, bytes]:
        """The hook after a command with a large output."""
        response = {"stdout": FLOOD, "stderr": "", "interrupted": False, "isImage": False}
        call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": tool_use_id}
        return self.hook("PostToolUse", **call, tool_response=response)

    @property
    def stamp(self) -> Path:
        return Path(self.socket).with_name("d.start")

    def until_served(self) -> dict:
        """Wait until a daemon answers."""
        end = time.monotonic() + WAIT_S
        while (told := control.status(self.socket)) is None:
            assert time.monotonic() < end, self.log()
            time.sleep(0.01)
        return told

    def log(self) -> str:
        file = self.path / "state" / "admit" / "daemon.log"
        return file.read_text() if file.exists() else ""

    def events(self, type: str) -> list[dict]:
        records = iter_records(str(self.path / "state" / "admit"))
        return [dict(event.body) for record in records for event in record.events if event.type == type]


@pytest.fixture
def home() -> Iterator[Home]:
    path = Path(tempfile.mkdtemp(prefix="admit-"))  # short enough for a socket
    one = Home(path)
    yield one
    control.stop(one.socket)
    shutil.rmtree(path)


def test_a_hook_without_a_daemon_says_nothing_and_starts_one_for_the_next(home):
    assert home.build("1") == NOTHING
    told = home.until_served()
    assert told["version"] == __version__
    assert os.getsid(told["pid"]) == told["pid"]
    assert os.readlink(f"/proc/{told['pid']}/cwd") == "/"
    code, out, err = home.build("2")
    assert (code, err) == (0, b"")
    kept = json.loads(out)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert 0 < len(kept) < len(FLOOD) / 2
    assert control.stop(home.socket)
    assert "serving at" in home.log()
    assert [event["cause"] for event in home.events("host.daemon_start")] == ["hook"]
    hooks = home.events("host.hook")
    assert [(one["host"], one["event"], one["outcome"]) for one in hooks] == [
        ("claude-code", "PostToolUse", "ok")
    ]


def test_the_daemon_that_a_hook_starts_holds_nothing_of_the_host(home):
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    command = [*CLIENT, home.socket, "claude-code", "Stop", "4800"]
    done = subprocess.run(command, input=b"{}", env=home.env, capture_output=True, pass_fds=[write_end])
    os.close(write_end)
    assert (done.returncode, done.stdout, done.stderr) == NOTHING
    home.until_served()
    assert os.read(read_end, 1) == b""  # every other end is closed
    os.close(read_end)


def test_a_hook_does_not_start_one_that_was_started_half_a_minute_ago(home):
    home.stamp.parent.mkdir(mode=0o700)
    home.stamp.write_text("1")
    assert home.hook() == NOTHING
    assert not Path(home.socket).exists()
    os.utime(home.stamp, (time.time() - 31, time.time() - 31))
    assert home.hook() == NOTHING
    home.until_served()
    assert time.time() - home.stamp.stat().st_mtime < 31


def test_a_stamp_from_the_future_does_not_hold_for_ever(home):
    home.stamp.parent.mkdir(mode=0o700)
    home.stamp.write_text("1")
    os.utime(home.stamp, (time.time() + 86_400, time.time() + 86_400))
    assert home.hook() == NOTHING
    home.until_served()


def test_hooks_at_once_without_a_daemon_start_one(home):
    command = [*CLIENT, home.socket, "claude-code", "Stop", "4800"]
    clients = [
        subprocess.Popen(
            command, env=home.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(10)
    ]
    results = [(client.communicate(timeout=WAIT_S), client.returncode) for client in clients]
    assert {result for result, _ in results} == {(b"", b"")}
    assert {code for _, code in results} == {0}
    told = home.until_served()
    assert told["pid"] == Lock(home.socket).holder()


def test_a_daemon_that_was_killed_is_started_again_by_the_next_hook(home):
    home.admit("start")
    os.kill(home.until_served()["pid"], signal.SIGKILL)
    while Lock(home.socket).holder() is not None:
        time.sleep(0.005)
    assert home.build("1") == NOTHING
    home.until_served()
    assert home.build("2")[1].startswith(b'{"hookSpecificOutput"')


def test_admit_daemon_starts_tells_restarts_and_stops(home):
    assert home.admit("status")[0] == 1
    assert json.loads(home.admit("status", "--json")[1]) == {"schema": 1, "running": False}
    code, text, _ = home.admit("start")
    assert code == 0
    assert home.socket in text
    assert home.admit("start")[0] == 0
    code, text, _ = home.admit("status", "--json")
    first = json.loads(text)
    assert (code, first["running"], first["socket"], first["off"]) == (0, True, home.socket, False)
    code, text, _ = home.admit("restart", "--json")
    assert code == 0
    assert json.loads(text)["pid"] != first["pid"]
    assert home.admit("stop")[0] == 0
    assert home.admit("stop")[0] == 1
    starts, stops = (home.events(f"host.daemon_{word}") for word in ("start", "stop"))
    assert [event["cause"] for event in starts] == ["cli", "cli"]
    assert [event["cause"] for event in stops] == ["sigterm", "sigterm"]


def test_while_paused_every_hook_is_skipped_until_resumed(home):
    home.admit("start")
    subprocess.run([ADMIT, "pause"], env=home.env, check=True, capture_output=True)
    until = time.monotonic() + WAIT_S
    while not control.status(home.socket)["off"] and time.monotonic() < until:
        time.sleep(0.05)
    assert home.build("1") == NOTHING
    assert "paused" in home.admit("status")[1]
    subprocess.run([ADMIT, "resume"], env=home.env, check=True, capture_output=True)
    while control.status(home.socket)["off"] and time.monotonic() < until:
        time.sleep(0.05)
    assert home.build("2")[1]


def test_admit_daemon_run_serves_here_until_it_is_interrupted(home):
    command = [ADMIT, "daemon", "run", "--json"]
    with subprocess.Popen(command, env=home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert home.until_served()["pid"] == process.pid
        code, text, _ = home.admit("run")
        assert (code, text) == (0, "A daemon is running already.\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    assert json.loads(out) == {"schema": 1, "ended": "sigint"}
    assert b"serving at" in err


@pytest.mark.parametrize("command", ["start", "run"])
def test_a_socket_folder_that_cannot_be_used_is_said(home, command):
    (home.path / "run" / "admit").write_text("in the way")
    code, out, err = home.admit(command)
    assert (code, out) == (2, "")
    assert "cannot use" in err
    assert "Traceback" not in err


def test_a_daemon_that_does_not_start_is_said_with_its_log(home):
    folder = Path(home.socket)
    folder.mkdir(parents=True)  # a folder where the socket should be
    code, out, err = home.admit("start")
    assert (code, out) == (1, "")
    assert "daemon.log says why" in err
    assert "not a socket" in home.log()
