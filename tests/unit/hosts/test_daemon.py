"""The daemon in this process: what a client gets, and what its handler is told."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from admit import __version__
from admit.core.events import undeclared
from admit.hosts.daemon import protocol
from admit.hosts.daemon.daemon import Daemon
from admit.hosts.daemon.places import LOCK, Lock
from admit.hosts.daemon.recorder import Recorder
from admit.hosts.daemon.server import Limits
from admit.hosts.daemon.watch import Watch
from admit.hosts.handle import handle
from admit.hosts.model import Handled
from admit.testing import MemoryLedger

from .claude import Host

WAIT_S = 20.0
SAY = b'{"say":1}\n'
# A busy machine sheds nothing and drops nobody, unless that is what a test is about.
PATIENT = Limits(worker_wait_s=WAIT_S, read_s=WAIT_S)


class Client:
    """A connection that can stop at any step."""

    def __init__(self, path: str) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(WAIT_S)
        self.sock.connect(path)

    def send(self, payload: bytes = b"{}", *, event: str = "PostToolUse", **given) -> Client:
        words = {"version": __version__, "budget_ms": 10_000} | given
        return self.send_raw(protocol.request("claude-code", event, payload, **words))

    def send_raw(self, frame: bytes) -> Client:
        self.sock.sendall(frame)
        return self

    def reply(self) -> bytes:
        """The data of the reply; empty for `skip`, and where the connection was closed without a word."""
        frame = b""
        while True:
            with suppress(protocol.BadFrame):
                return protocol.read_reply(frame)
            part = self.sock.recv(1 << 17)
            if not part:
                raise EOFError
            frame += part

    def written(self) -> None:
        self.sock.sendall(protocol.WRITTEN)

    def close(self) -> None:
        self.sock.close()


class Told:
    """A handler that says one thing, and remembers what it was told."""

    def __init__(self, data: bytes = SAY) -> None:
        self.data = data
        self.calls: list[tuple[str, str, bytes]] = []
        self.after: list[bool] = []
        self.changed = threading.Condition()

    def __call__(self, host: str, event: str, raw: bytes, budget_ms: int) -> Handled:
        with self.changed:
            self.calls.append((host, event, raw))
        return Handled(self.data, self.settled)

    def settled(self, written: bool) -> None:
        with self.changed:
            self.after.append(written)
            self.changed.notify_all()

    def wait_after(self, count: int) -> list[bool]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.after) >= count, WAIT_S)
        return self.after


class Running:
    """A daemon on a thread."""

    def __init__(self, path: str, handler: Callable[..., Handled] | None = None, **options) -> None:
        # The memory is this test process's, not a daemon's.
        watch = Watch(path, memory_bytes=lambda: 0)
        options = {"limits": PATIENT, "watch": watch} | options
        self.path = path
        self.told = Told()
        self.ledger = MemoryLedger()
        self.daemon = Daemon(handler or self.told, path, recorder=Recorder(self.ledger), **options)
        assert self.daemon.start()
        self.ended: list[str] = []
        self.thread = threading.Thread(target=lambda: self.ended.append(self.daemon.serve_forever()))
        self.thread.start()

    def client(self) -> Client:
        return Client(self.path)

    def ask(self, payload: bytes = b"{}", **given) -> bytes:
        """One whole exchange."""
        client = self.client().send(payload, **given)
        data = client.reply()
        if data:
            client.written()
        client.close()
        return data

    def wait_for(self, name: str, count: int) -> None:
        """Until its status says so many."""
        end = time.monotonic() + WAIT_S
        while self.daemon.status()[name] < count and time.monotonic() < end:
            time.sleep(0.001)

    def join(self) -> str:
        """Wait for the end, and give its cause."""
        self.thread.join(WAIT_S)
        assert not self.thread.is_alive()
        return self.ended[0]

    def stop(self) -> str:
        self.daemon.stop("test")
        return self.join()

    def events(self, type: str) -> list[dict]:
        """What it recorded of this type by its end: records come after replies."""
        self.stop()
        found = [event for record in self.ledger.records for event in record.events]
        assert [odd for event in found for odd in undeclared(event.type, event.body)] == []
        return [dict(event.body) for event in found if event.type == type]


@pytest.fixture
def path(tmp_path) -> str:
    folder = tmp_path / "run"
    folder.mkdir(0o700)
    return str(folder / "d.sock")


@pytest.fixture
def run(path):
    """Start daemons that are stopped in the end."""
    started = []

    def start(handler=None, **options) -> Running:
        started.append(Running(path, handler, **options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def test_what_the_handler_says_reaches_the_client_and_the_handler_hears_that_it_was_written(run):
    running = run()
    assert running.ask(b'{"a":1}') == SAY
    assert running.told.wait_after(1) == [True]
    assert running.told.calls == [("claude-code", "PostToolUse", b'{"a":1}')]


def test_a_client_that_ends_before_its_write_is_heard_of_as_not_written(run):
    running = run()
    client = running.client().send()
    assert client.reply() == SAY
    client.close()
    assert running.told.wait_after(1) == [False]


def test_a_client_that_never_says_written_is_given_up_at_its_deadline(run):
    running = run()
    client = running.client().send(budget_ms=50)
    assert client.reply() == SAY
    assert running.told.wait_after(1) == [False]
    client.close()


def test_any_other_byte_is_not_written(run):
    running = run()
    client = running.client().send()
    client.reply()
    client.send_raw(b"-")
    assert running.told.wait_after(1) == [False]
    client.close()


def test_a_handler_hears_once_of_each_of_its_answers(run):
    running = run()
    for n in range(20):
        client = running.client().send()
        client.reply()
        if n % 2:
            client.written()
        client.close()
    assert sorted(running.told.wait_after(20)) == [False] * 10 + [True] * 10
    running.stop()
    assert len(running.told.after) == 20


def test_a_handler_with_nothing_to_say_hears_that_its_reply_left(run):
    told = Told(b"")
    running = run(told)
    client = running.client().send()
    assert client.reply() == b""
    assert told.wait_after(1) == [True]


def test_the_reply_does_not_wait_for_the_records(run):
    go_on = threading.Event()
    running = run(lambda *_: Handled(SAY, lambda written: go_on.wait(WAIT_S) and None))
    assert [running.ask() for _ in range(3)] == [SAY] * 3
    go_on.set()


def test_records_that_fail_change_no_later_answer(run):
    running = run(lambda *_: Handled(SAY, lambda written: 1 // 0))
    assert [running.ask() for _ in range(3)] == [SAY] * 3


@pytest.mark.parametrize(
    "payload", [b"", b"no JSON", b"\0\0", b"\xff\xfe", b'{"a":"\\ud800"}', b"x" * protocol.MAX_PAYLOAD]
)
def test_a_payload_reaches_the_handler_as_it_came(run, payload):
    running = run()
    assert running.ask(payload) == SAY
    assert running.told.calls[0][2] == payload


def test_a_payload_that_is_too_large_is_skipped_unread_and_counted(run):
    running = run()
    line = b"ADMIT1 claude-code PostToolUse 0.1.0 900 %d\n" % (9 * 1024 * 1024)
    assert running.client().send_raw(line).reply() == b""
    assert running.told.calls == []
    assert running.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "too_large"}]


@pytest.mark.parametrize(
    "frame",
    [
        b"ADMIT2 claude-code Stop 0.1.0 900 2\n{}",
        b"GET / HTTP/1.1\r\n\r\n",
        b"ADMIT1 a b c 1\n",
        b"\xff" * 40 + b"\n",
        b"x" * 300,
    ],
)
def test_what_is_not_of_the_protocol_is_skipped_and_counted(run, frame):
    running = run()
    assert running.client().send_raw(frame).reply() == b""
    assert running.ask() == SAY
    assert running.events("host.hook_odd") == [{"event": "", "cause": "unknown_event"}]


def test_a_header_may_come_byte_by_byte(run):
    running = run()
    client = running.client()
    for n in range(len(b"ADMIT1 claude-code Stop 0.1.0 900 2\n{}")):
        client.send_raw(b"ADMIT1 claude-code Stop 0.1.0 900 2\n{}"[n : n + 1])
    assert client.reply() == SAY
    assert running.told.calls == [("claude-code", "Stop", b"{}")]


def test_a_payload_that_ends_early_reaches_no_handler_and_is_counted(run):
    running = run()
    client = running.client().send_raw(b"ADMIT1 claude-code Stop 0.1.0 900 100\n{")
    client.close()
    assert running.ask() == SAY
    assert len(running.told.calls) == 1
    assert running.events("host.hook_odd") == [{"event": "Stop", "cause": "bad_json"}]


def test_a_slow_sender_is_dropped_while_others_are_served(run):
    running = run(limits=PATIENT._replace(read_s=0.2))
    slow = running.client().send_raw(b"ADMIT1 claude-code Stop 0.1.0 900 100\n{")
    assert running.ask() == SAY
    with pytest.raises(EOFError):
        slow.reply()
    assert running.events("host.hook_odd") == [{"event": "Stop", "cause": "deadline"}]


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt, MemoryError])
def test_a_handler_that_fails_is_skipped_counted_and_called_again(run, error):
    calls = []

    def handler(*call):
        calls.append(call)
        if len(calls) == 1:
            raise error
        return Handled(SAY, lambda written: None)

    running = run(handler, limits=PATIENT._replace(workers=1))
    assert running.ask() == b""
    assert running.ask() == SAY
    assert running.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "exception"}]


def test_what_the_real_handler_finds_odd_is_in_the_status_and_recorded_once(run, tmp_path, monkeypatch):
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    host = Host(tmp_path)
    running = run(
        lambda host_name, event, raw, ms: handle(host_name, event, raw, deps=host.deps, budget_ms=ms)
    )
    for payload in (b"no JSON", b"[]", b'{"prompt":"\\ud800"}'):
        assert running.ask(payload, event="UserPromptSubmit") == b""
    assert running.ask(b"{}", event="Nonsense") == b""
    assert running.daemon.status()["odd"] == {"bad_json": 2, "encode": 1, "unknown_event": 1}
    running.stop()
    causes = [body["cause"] for body in host.events("host.hook_odd")]
    assert sorted(causes) == ["bad_json", "bad_json", "encode", "unknown_event"]
    assert running.events("host.hook_odd") == []


def test_an_answer_that_is_too_large_is_skipped_and_its_claim_released(run):
    told = Told(b"x" * protocol.MAX_REPLY)
    running = run(told)
    assert running.ask() == b""
    assert told.wait_after(1) == [False]
    assert running.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "too_large"}]


def test_what_a_handler_prints_is_not_in_its_reply(run, capfd):
    def handler(*_):
        print("noise")
        os.write(1, b"more noise")
        return Handled(SAY, lambda written: None)

    assert run(handler).ask() == SAY
    assert "noise" in capfd.readouterr().out


class Busy:
    """A handler that works until it may end."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.go_on = threading.Event()

    def __call__(self, *_) -> Handled:
        self.entered.release()
        self.go_on.wait(WAIT_S)
        return Handled(SAY, lambda written: None)


def test_a_request_that_no_worker_takes_is_shed(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(workers=1, worker_wait_s=0.01))
    first = running.client().send()
    busy.entered.acquire(timeout=WAIT_S)
    assert running.ask() == b""
    busy.go_on.set()
    assert first.reply() == SAY
    assert running.events("admit.shed") == [{"queue": 1, "limit": 1}]


def test_no_more_than_the_queue_may_hold_waits(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(workers=1, queue=2))
    first = running.client().send()
    busy.entered.acquire(timeout=WAIT_S)
    waiting = [running.client().send() for _ in range(2)]
    running.wait_for("waiting", 2)
    assert running.ask() == b""
    busy.go_on.set()
    assert [client.reply() for client in (first, *waiting)] == [SAY] * 3
    assert running.events("admit.shed") == [{"queue": 2, "limit": 2}]


def test_no_more_payload_is_held_than_may_be(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(held_bytes=1000))
    first = running.client().send(b"x" * 900)
    busy.entered.acquire(timeout=WAIT_S)
    assert running.ask(b"x" * 200) == b""
    half = running.client().send_raw(b"ADMIT1 claude-code Stop 0.1.0 900 200\nhalf of it")
    assert half.reply() == b""
    busy.go_on.set()
    assert first.reply() == SAY
    assert len(running.events("admit.shed")) == 2


def test_a_connection_too_many_is_closed_without_a_word(run):
    running = run(limits=PATIENT._replace(connections=2))
    held = [running.client() for _ in range(2)]
    running.wait_for("connections", 2)
    with pytest.raises((EOFError, OSError)):
        running.client().send().reply()
    held[0].send()
    assert held[0].reply() == SAY


def test_of_64_at_once_each_is_answered_or_shed(run):
    running = run(limits=Limits())
    clients = [running.client() for _ in range(64)]
    for client in clients:
        client.send()
    replies = [client.reply() for client in clients]
    for client, data in zip(clients, replies, strict=True):
        if data:
            client.written()
    assert set(replies) <= {SAY, b""}
    said = replies.count(SAY)
    assert said
    assert running.told.wait_after(said) == [True] * said
    assert len(running.events("admit.shed")) == 64 - said


def test_an_event_that_is_not_wanted_reaches_no_handler(run):
    running = run(prefilter=lambda event, payload: event != "Stop" and len(payload) > 2)
    assert running.ask(b"long enough", event="Stop") == b""
    assert running.ask(b"{}") == b""
    assert running.told.calls == []
    assert running.ask(b"long enough") == SAY


def test_a_prefilter_that_fails_lets_everything_through(run):
    assert run(prefilter=lambda event, payload: 1 // 0).ask() == SAY


def test_while_everything_is_off_no_handler_is_asked(run):
    off = [True]
    running = run(is_off=lambda: off[0])
    assert running.ask() == b""
    assert running.told.calls == []
    off[0] = False
    assert running.ask() == SAY


def test_a_client_of_another_version_is_served_and_named(run):
    running = run()
    assert running.ask(version="9.9.9") == SAY
    status = json.loads(
        running.client().send_raw(protocol.request("admit", "status", b"", version="9", budget_ms=9)).reply()
    )
    assert status["other_clients"] == ["9.9.9"]
    assert (status["answered"], status["version"], status["pid"]) == ({"ok": 1}, __version__, os.getpid())


def test_an_own_request_that_is_not_known_is_skipped(run):
    frame = protocol.request("admit", "explode", b"", version="9", budget_ms=9)
    assert run().client().send_raw(frame).reply() == b""


def test_a_daemon_that_stops_answers_what_runs_skips_the_rest_and_leaves_no_socket(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(workers=1))
    runs, waits, sends = running.client().send(), None, running.client()
    busy.entered.acquire(timeout=WAIT_S)
    waits = running.client().send()
    sends.send_raw(b"ADMIT1 claude-code Stop 0.1.0 900 100\n{")
    running.wait_for("waiting", 1)
    running.wait_for("connections", 3)
    running.daemon.stop("test")
    assert waits.reply() == b""
    assert sends.reply() == b""
    with pytest.raises(FileNotFoundError):
        running.client()
    busy.go_on.set()
    assert runs.reply() == SAY
    runs.written()
    assert running.join() == "test"
    assert [event["cause"] for event in running.events("host.daemon_stop")] == ["test"]


def test_a_daemon_does_not_wait_for_a_handler_that_never_ends(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(drain_s=0.1))
    client = running.client().send()
    busy.entered.acquire(timeout=WAIT_S)
    assert running.stop() == "test"
    with pytest.raises((EOFError, ConnectionResetError)):
        client.reply()
    busy.go_on.set()


def test_an_answer_that_is_not_confirmed_when_the_daemon_stops_is_not_written(run):
    running = run(limits=PATIENT._replace(drain_s=0.1))
    client = running.client().send()
    client.reply()
    running.stop()
    assert running.told.after == [False]
    client.close()


def test_a_daemon_without_clients_leaves(run):
    running = run(limits=PATIENT._replace(idle_s=0.2))
    assert running.ask() == SAY
    assert running.join() == "idle"
    assert not os.path.exists(running.path)


def test_a_daemon_with_a_client_is_not_idle(run):
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(idle_s=0.05))
    client = running.client().send()
    busy.entered.acquire(timeout=WAIT_S)
    time.sleep(0.3)  # several times as long as it may be idle
    assert running.thread.is_alive()
    busy.go_on.set()
    assert client.reply() == SAY
    client.close()
    assert running.join() == "idle"


def test_quiet_times_are_used_for_upkeep(run, monkeypatch):
    monkeypatch.setattr("admit.hosts.daemon.daemon.TEND_AFTER_S", 0.0)
    monkeypatch.setattr("admit.hosts.daemon.daemon.TICK_S", 0.02)
    tended, ticks = threading.Event(), threading.Event()
    run(tend=tended.set, on_tick=ticks.set)
    assert tended.wait(WAIT_S)
    assert ticks.wait(WAIT_S)


def test_a_tick_that_fails_does_not_end_the_daemon(run, monkeypatch):
    monkeypatch.setattr("admit.hosts.daemon.daemon.TICK_S", 0.01)
    ticks = threading.Semaphore(0)

    def on_tick():
        ticks.release()
        raise RuntimeError

    running = run(on_tick=on_tick)
    for _ in range(3):
        assert ticks.acquire(timeout=WAIT_S)
    assert running.ask() == SAY


def test_a_daemon_whose_socket_is_gone_leaves_at_its_next_tick(run, monkeypatch):
    monkeypatch.setattr("admit.hosts.daemon.daemon.TICK_S", 0.02)
    running = run()
    os.unlink(running.path)
    assert running.join() == "socket"


def test_a_daemon_whose_socket_was_replaced_leaves_the_other_alone(run, monkeypatch, path):
    running = run()
    os.unlink(path)
    other = socket.socket(socket.AF_UNIX)
    other.bind(path)
    running.stop()
    assert os.path.exists(path)
    other.close()


def test_a_handler_that_never_ends_makes_room_for_another_daemon(run, monkeypatch):
    monkeypatch.setattr("admit.hosts.daemon.daemon.TICK_S", 0.02)
    monkeypatch.setattr("admit.hosts.daemon.daemon.STUCK_S", 0.05)
    busy = Busy()
    running = run(busy, limits=PATIENT._replace(drain_s=0.05))
    running.client().send(budget_ms=1)
    assert running.join() == "stuck"
    busy.go_on.set()


def test_another_daemon_may_start_only_when_everything_is_written(run, path):
    free = []
    running = run(at_end=lambda: free.append(Lock(path).holder() is None))
    running.stop()
    assert free == [False]
    assert Lock(path).holder() is None


def test_a_second_daemon_sees_the_first_and_does_not_serve(run, path):
    running = run()
    assert Daemon(Told(), path).start() is False
    assert running.ask() == SAY
    assert Lock(path).holder() == os.getpid()


def test_a_daemon_waits_for_one_that_leaves(run, path):
    lock = Lock(path)
    assert lock.take()
    threading.Timer(0.2, lock.release).start()
    assert run().ask() == SAY


def test_a_daemon_gives_up_on_a_lock_that_is_not_let_go(path):
    lock = Lock(path)
    assert lock.take()
    assert Daemon(Told(), path).start(wait_s=0.1) is False
    lock.release()


def test_a_socket_that_nobody_listens_at_is_replaced(run, path):
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    assert run().ask() == SAY


def test_a_living_socket_is_left_alone_even_without_its_lock(run, path):
    running = run()
    os.unlink(os.path.join(os.path.dirname(path), LOCK))
    assert Daemon(Told(), path).start(wait_s=0) is False
    assert running.ask() == SAY


def test_what_is_no_socket_is_not_replaced(path):
    Path(path).write_text("mine")
    with pytest.raises(OSError, match="not a socket"):
        Daemon(Told(), path).start()
    assert Path(path).read_text() == "mine"
    assert Lock(path).holder() is None


def test_socket_and_folder_are_closed_to_others(run, path):
    os.chmod(os.path.dirname(path), 0o755)
    run()
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_serving_comes_after_starting(path):
    with pytest.raises(RuntimeError):
        Daemon(Told(), path).serve_forever()
