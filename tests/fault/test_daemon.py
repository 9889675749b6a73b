"""Real daemons and real clients: killed, hung, doubled, crowded, shut out. The host never hears of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from admit import __version__
from admit.hosts import hook_client
from admit.hosts.daemon import control
from admit.hosts.daemon.places import Lock
from admit.hosts.daemon.protocol import read_reply, request
from admit.ledger import iter_records

CLIENT = (sys.executable, "-I", "-S", str(Path(hook_client.__file__)))
WAIT_S = 30.0
NOTHING = (0, b"", b"")
SAY = b'{"say":1}\n'

# What a handler does is the event's name: it sleeps, is killed, or answers.
SERVICE = """
import os, signal, sys, time
uid = int(sys.argv[2])
from admit.hosts.daemon.process import Service, serve
from admit.hosts.model import Handled
from admit.ledger import open_ledger, open_outputs
if uid:
    import importlib, pkgutil, sqlite3, admit.ledger  # another user may not be able to read them later
    for module in pkgutil.iter_modules(admit.ledger.__path__):
        importlib.import_module(f"admit.ledger.{module.name}")
    os.setgroups([]); os.setgid(uid); os.setuid(uid)

def settled(written):
    with open(sys.argv[1] + ".settled", "a") as file:
        file.write(f"{written}\\n")

def handler(host, event, raw, budget_ms):
    if event == "Die":
        os.kill(os.getpid(), signal.SIGKILL)
    if event.startswith("Sleep"):
        open(sys.argv[1] + ".asleep", "w").close()
        time.sleep(float(event[5:]))
    return Handled(b'{"say":1}\\n', settled)

def make(config):
    ledger = open_ledger(config.values)
    return Service(lambda event, raw: True, handler, ledger, open_outputs(config.values, ledger))

print(serve(sys.argv[1], cause="run", service=make))
"""


class Place:
    """A home of its own, with a daemon in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = str(folder / "run" / "d.sock")
        self.state = folder / "state"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(self.state)}
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *, uid: int = 0, wait: bool = True) -> subprocess.Popen[bytes]:
        """Start the daemon, and wait until it answers."""
        process = subprocess.Popen(
            [sys.executable, "-c", SERVICE, self.socket, str(uid)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.started.append(process)
        if wait:
            lock = Lock(self.socket)
            self.until(lambda: os.path.exists(self.socket) and (uid or lock.holder() == process.pid))
        return process

    def client(self, event: str = "Stop", *, budget_ms: int = 10_000) -> subprocess.Popen[bytes]:
        """Start a client, as a host does."""
        process = subprocess.Popen(
            [*CLIENT, self.socket, "claude-code", event, str(budget_ms)],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin
        process.stdin.write(b'{"session_id":"1"}')
        process.stdin.close()
        process.stdin = None
        return process

    def ask(self, event: str = "Stop", **given) -> tuple[int, bytes, bytes]:
        """One hook: the client's exit code and what it wrote."""
        return result(self.client(event, **given))

    def no_new_daemon(self) -> None:
        """Keep clients from starting one."""
        stamp = Path(self.socket).with_name("d.start")
        stamp.write_text("1")

    def settled(self, count: int) -> list[str]:
        """What the answers were told became of them, once there are so many."""
        file = Path(self.socket + ".settled")
        self.until(lambda: file.exists() and file.read_text().count("\n") >= count)
        return file.read_text().split()

    def events(self, type: str) -> list[dict]:
        """The events of a type in the ledger."""
        records = iter_records(str(self.state / "admit"))
        return [dict(event.body) for record in records for event in record.events if event.type == type]

    @staticmethod
    def until(holds) -> None:
        """Wait for something to hold."""
        end = time.monotonic() + WAIT_S
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.005)


def result(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=WAIT_S)
    return process.returncode, out, err


def ended(process: subprocess.Popen[bytes]) -> str:
    """Why a daemon says that it left."""
    out, _ = process.communicate(timeout=WAIT_S)
    return out.decode().strip()


@pytest.fixture
def place() -> Iterator[Place]:
    folder = Path(tempfile.mkdtemp(prefix="admit-"))  # short enough for a socket, open to another user
    folder.chmod(0o755)
    (folder / "run").mkdir(0o700)
    one = Place(folder)
    yield one
    for process in one.started:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
    shutil.rmtree(folder)


def test_a_daemon_that_is_killed_while_it_works_is_silence_and_the_next_one_serves(place):
    place.no_new_daemon()
    first = place.start()
    assert place.ask() == (0, SAY, b"")
    assert place.ask("Die") == NOTHING
    assert first.wait(WAIT_S) == -signal.SIGKILL
    assert os.path.exists(place.socket)
    assert place.ask() == NOTHING
    place.start()
    assert place.ask() == (0, SAY, b"")


def test_a_daemon_that_is_killed_after_its_reply_has_said_it(place):
    place.no_new_daemon()
    daemon = place.start()
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(WAIT_S)
    sock.connect(place.socket)
    sock.sendall(request("claude-code", "Stop", b"{}", version=__version__, budget_ms=5000))
    assert read_reply(sock.recv(1000)) == SAY
    daemon.kill()
    daemon.wait()
    assert sock.recv(1) == b""
    sock.close()


def test_a_daemon_that_hangs_is_left_at_the_deadline(place):
    daemon = place.start()
    os.kill(daemon.pid, signal.SIGSTOP)
    assert place.ask(budget_ms=200) == NOTHING
    os.kill(daemon.pid, signal.SIGCONT)
    assert place.ask() == (0, SAY, b"")


def test_a_handler_that_is_late_is_heard_of_as_not_written(place):
    place.start()
    assert place.ask("Sleep0.4", budget_ms=100) == NOTHING
    assert place.settled(1) == ["False"]


def test_a_client_that_is_killed_before_its_write_is_heard_of_as_not_written(place):
    place.start()
    client = place.client("Sleep0.3")
    place.until(lambda: os.path.exists(place.socket + ".asleep"))
    client.kill()
    client.communicate()
    assert place.settled(1) == ["False"]
    assert place.ask() == (0, SAY, b"")
    assert place.settled(2) == ["False", "True"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_daemon_that_is_told_to_leave_answers_what_runs_and_writes_its_record(place, number):
    place.no_new_daemon()
    daemon = place.start()
    client = place.client("Sleep0.3")
    place.until(lambda: os.path.exists(place.socket + ".asleep"))
    daemon.send_signal(number)
    assert result(client) == (0, SAY, b"")
    assert ended(daemon) == number.name.lower()
    assert place.settled(1) == ["True"]
    assert not os.path.exists(place.socket)
    assert place.ask() == NOTHING
    assert [event["cause"] for event in place.events("host.daemon_stop")] == [number.name.lower()]
    assert [event["outcome"] for event in place.events("host.hook")] == ["ok"]


def test_of_daemons_that_start_at_once_one_serves_and_the_others_leave(place):
    daemons = [place.start(wait=False) for _ in range(4)]
    place.until(lambda: sum(daemon.poll() is None for daemon in daemons) == 1)
    (serves,) = [daemon for daemon in daemons if daemon.poll() is None]
    assert [ended(daemon) for daemon in daemons if daemon is not serves] == ["None"] * 3
    place.until(lambda: os.path.exists(place.socket))
    assert place.ask() == (0, SAY, b"")
    assert Lock(place.socket).holder() == serves.pid


def test_of_200_hooks_at_once_none_fails(place):
    place.start()
    clients = [place.client(budget_ms=20_000) for _ in range(200)]
    results = [result(client) for client in clients]
    assert {code for code, _, _ in results} == {0}
    assert {err for _, _, err in results} == {b""}
    assert {out for _, out, _ in results} <= {SAY, b""}
    said = sum(out == SAY for _, out, _ in results)
    assert said
    assert place.settled(said).count("True") == said


def test_a_home_that_cannot_be_written_changes_no_answer(place):
    # A file stands where the state folder should be: root, too, cannot write there.
    place.state.write_text("in the way")
    daemon = place.start()
    assert place.ask() == (0, SAY, b"")
    daemon.terminate()
    assert ended(daemon) == "sigterm"
    assert place.state.read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_a_daemon_of_another_user_closes_without_a_word_and_the_client_does_not_speak(place):
    uid = 65534
    for path in (place.folder, place.folder / "run"):
        os.chown(path, uid, uid)
    place.start(uid=uid)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(WAIT_S)
    sock.connect(place.socket)  # root may, whatever the mode of the folder
    with suppress(BrokenPipeError, ConnectionResetError):
        sock.sendall(request("claude-code", "Stop", b"secret", version=__version__, budget_ms=5000))
    with suppress(ConnectionResetError):
        assert sock.recv(100) == b""
    sock.close()
    assert place.ask() == NOTHING
    assert control.status(place.socket) is None
    place.started[0].terminate()
    assert ended(place.started[0]) == "sigterm"
    for file in (place.state / "admit").iterdir():
        os.chown(file, os.geteuid(), -1)
    assert {event["cause"] for event in place.events("host.hook_odd")} == {"foreign_peer"}
    assert b"secret" not in (place.state / "admit" / "ledger.db").read_bytes()
    assert place.events("host.hook") == []


def test_stopping_from_outside_waits_until_the_daemon_is_gone(place):
    daemon = place.start()
    assert control.status(place.socket)["pid"] == daemon.pid
    assert control.stop(place.socket)
    assert Lock(place.socket).holder() is None
    assert control.status(place.socket) is None
    assert ended(daemon) == "sigterm"
    assert not control.stop(place.socket)


def test_stopping_a_daemon_that_hangs_kills_it(place, monkeypatch):
    daemon = place.start()
    os.kill(daemon.pid, signal.SIGSTOP)
    monkeypatch.setattr(control, "STOP_WAIT_S", 0.2)
    assert control.stop(place.socket)
    assert daemon.wait(WAIT_S) == -signal.SIGKILL
