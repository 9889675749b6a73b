"""The hook's client as the process that a host starts, against daemons that end at any step."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.hosts import hook_client
from admit.hosts.daemon.protocol import MAX_PAYLOAD, MAX_REPLY, SKIP, WRITTEN, read_header, reply

CLIENT = str(Path(hook_client.__file__))
COMMAND = (sys.executable, "-I", "-S", CLIENT)
SAY = b'{"hookSpecificOutput":{}}\n'
WAIT_S = 20.0
NOTHING = (0, b"", b"")


class Fake:
    """A socket at which one step of a daemon is done, then the connection is closed."""

    def __init__(self, path: str, step: Callable[[Fake, socket.socket], None]) -> None:
        self.path = path
        self.header = b""
        self.payload = b""
        self.rest = b""
        self.step = step
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self) -> None:
        try:
            sock, _ = self.listener.accept()
        except OSError:
            return  # dropped
        sock.settimeout(WAIT_S)
        with sock:
            self.step(self, sock)

    def read(self, sock: socket.socket) -> None:
        """Take the whole request."""
        data = b""
        while b"\n" not in data:
            data += sock.recv(65536)
        self.header, _, self.payload = data.partition(b"\n")
        while len(self.payload) < read_header(self.header).length:
            self.payload += sock.recv(65536)

    def join(self) -> None:
        """Wait for its step to end."""
        self.thread.join(WAIT_S)
        self.listener.close()

    def drop(self) -> None:
        """End it, whether or not somebody came."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.join()


@pytest.fixture
def path(tmp_path) -> str:
    # A fresh stamp keeps the client from starting a real daemon.
    (tmp_path / "d.start").write_text("1")
    return str(tmp_path / "d.sock")


def run_client(path: str, payload: bytes = b"{}", *, budget_ms: int = 10_000, **options):
    """One run of the client: its exit code and what it wrote."""
    given = {"input": payload, "timeout": WAIT_S, "capture_output": True} | options
    done = subprocess.run([*COMMAND, path, "claude-code", "PostToolUse", str(budget_ms)], **given)
    return done.returncode, done.stdout, done.stderr


def answer(frame: bytes) -> Callable[[Fake, socket.socket], None]:
    def step(fake: Fake, sock: socket.socket) -> None:
        fake.read(sock)
        sock.sendall(frame)
        fake.rest = sock.recv(100)

    return step


def test_the_payload_goes_out_and_the_answer_comes_in_word_for_word(path):
    payload = bytes(range(256)) * 2000
    fake = Fake(path, answer(reply(SAY)))
    assert run_client(path, payload) == (0, SAY, b"")
    fake.join()
    header = read_header(fake.header)
    assert header[:3] == ("claude-code", "PostToolUse", hook_client.VERSION)
    assert 5_000 < header.budget_ms <= 10_000
    assert fake.payload == payload
    assert fake.rest == WRITTEN


def test_the_largest_payload_and_the_largest_answer_pass(path):
    data = b"x" * (MAX_REPLY - len(b"ADMIT1 ok 65519\n"))
    fake = Fake(path, answer(reply(data)))
    assert run_client(path, b"y" * MAX_PAYLOAD) == (0, data, b"")
    fake.join()
    assert len(fake.payload) == MAX_PAYLOAD


def test_of_a_payload_that_is_too_large_only_its_size_is_said(path):
    fake = Fake(path, lambda fake, sock: setattr(fake, "header", sock.recv(65536)))
    assert run_client(path, b"y" * (MAX_PAYLOAD + 1)) == NOTHING
    fake.join()
    line, _, rest = fake.header.partition(b"\n")
    assert read_header(line).length > MAX_PAYLOAD
    assert rest == b""


def test_an_answer_may_come_in_pieces(path):
    def step(fake, sock):
        fake.read(sock)
        for n in range(len(reply(SAY))):
            sock.sendall(reply(SAY)[n : n + 1])
        fake.rest = sock.recv(1)

    fake = Fake(path, step)
    assert run_client(path) == (0, SAY, b"")
    fake.join()
    assert fake.rest == WRITTEN


WHOLE = reply(SAY)


def say_and_leave(frame: bytes) -> Callable[[Fake, socket.socket], None]:
    def step(fake: Fake, sock: socket.socket) -> None:
        fake.read(sock)
        sock.sendall(frame)

    return step


STEPS = {
    "at once": lambda fake, sock: None,
    "in the header of the request": lambda fake, sock: sock.recv(10) and None,
    "after the request": say_and_leave(b""),
    "in the header of the reply": say_and_leave(WHOLE[:8]),
    "after the header of the reply": say_and_leave(WHOLE[: WHOLE.index(b"\n") + 1]),
    "in the data": say_and_leave(WHOLE[:-1]),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_daemon_that_is_gone_in_the_middle_has_said_nothing(path, step):
    fake = Fake(path, step)
    assert run_client(path) == NOTHING
    fake.join()


def test_a_daemon_that_is_gone_after_its_whole_reply_has_answered(path):
    fake = Fake(path, say_and_leave(WHOLE))
    assert run_client(path) == (0, SAY, b"")
    fake.join()


@pytest.mark.parametrize(
    "frame",
    [
        SKIP,
        b"ADMIT1 skip 5\nabcde",
        b"ADMIT2 ok 2\n{}",
        b"ADMIT1 ok 0\n",
        b"ADMIT1 ok two\n{}",
        b"ADMIT1 ok +2\n{}",
        b"ADMIT1 ok -2\n{}",
        b"ADMIT1 ok 2 \n{}",
        b"ADMIT1 OK 2\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"ADMIT1 ok 70000\n" + b"x" * 70_000,
        b"\0" * 70_000,
        b"Traceback\n",
    ],
)
def test_any_other_answer_is_nothing(path, frame):
    fake = Fake(path, say_and_leave(frame))
    assert run_client(path) == NOTHING
    fake.join()


class _Socket:
    """What `read_reply` needs of a socket, with the pieces of a reply."""

    def __init__(self, frame: bytes, sizes: list[int]) -> None:
        self.frame = frame
        self.sizes = iter(sizes)

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def recv(self, most: int) -> bytes:
        size = next(self.sizes, most)
        part, self.frame = self.frame[:size], self.frame[size:]
        return part


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=300), st.integers(0, 320), st.lists(st.integers(1, 40), max_size=20))
def test_a_reply_is_given_only_when_it_is_whole(data, cut, sizes):
    frame = reply(data)[:cut]
    read = hook_client.read_reply(_Socket(frame, sizes), time.monotonic() + WAIT_S)
    assert read == (data if cut >= len(reply(data)) else b"")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_whole_reply_or_nothing(frame):
    read = hook_client.read_reply(_Socket(frame, []), time.monotonic() + WAIT_S)
    assert read == b"" or frame == reply(read)


def test_a_daemon_that_hangs_is_left_at_the_deadline(path):
    fake = Fake(path, lambda fake, sock: sock.recv(65536) and sock.recv(1) and None)
    assert run_client(path, budget_ms=100) == NOTHING
    fake.join()


def test_a_daemon_that_takes_nothing_is_left_at_the_deadline(path):
    over = threading.Event()
    fake = Fake(path, lambda fake, sock: over.wait(WAIT_S) and None)
    assert run_client(path, b"x" * 4_000_000, budget_ms=200) == NOTHING
    over.set()
    fake.join()


def test_a_host_that_keeps_standard_input_open_is_left_at_the_deadline(path):
    read_end, write_end = os.pipe()
    os.write(write_end, b"{")
    try:
        assert run_client(path, None, stdin=read_end, budget_ms=100) == NOTHING
    finally:
        os.close(read_end)
        os.close(write_end)


def test_standard_input_is_left_as_it_was_found(path):
    read_end, write_end = os.pipe()
    os.close(write_end)
    assert run_client(path, None, stdin=read_end) == NOTHING
    assert os.get_blocking(read_end)
    os.close(read_end)


def test_a_host_that_writes_slowly_is_waited_for(path):
    fake = Fake(path, answer(WHOLE))
    process = subprocess.Popen(
        [*COMMAND, path, "claude-code", "Stop", "10000"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    for _ in range(5):
        process.stdin.write(b"x" * 10)
        process.stdin.flush()
        time.sleep(0.02)
    process.stdin.close()
    assert process.stdout.read() == SAY
    assert process.wait(WAIT_S) == 0
    process.stdout.close()
    fake.join()
    assert fake.payload == b"x" * 50


def test_a_host_that_does_not_listen_is_not_said_to_have_the_answer(path):
    fake = Fake(path, answer(WHOLE))
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [*COMMAND, path, "claude-code", "Stop", "10000"]
    done = subprocess.run(command, input=b"{}", stdout=write_end, stderr=subprocess.PIPE, timeout=WAIT_S)
    os.close(write_end)
    fake.join()
    assert (done.returncode, done.stderr, fake.rest) == (0, b"", b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(path, closed):
    fake = Fake(path, answer(WHOLE))
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, path, "claude-code", "Stop", "1000"]
    done = subprocess.run(command, input=b"{}", capture_output=True, timeout=WAIT_S)
    assert done.returncode == 0
    assert done.stdout in (b"", SAY)
    assert done.stderr == b""
    fake.drop()


def test_off_means_off_before_anything_else(path):
    fake = Fake(path, answer(WHOLE))
    assert run_client(path, env={"ADMIT_OFF": "1"}) == NOTHING
    assert fake.header == b""
    assert run_client(path, env={"ADMIT_OFF": "0"}) == (0, SAY, b"")
    fake.join()


def test_without_a_daemon_nothing_is_said(path):
    assert run_client(path) == NOTHING


def test_a_socket_that_refuses_is_no_daemon(path):
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    assert run_client(path) == NOTHING


def test_what_is_no_socket_is_not_connected_to(path):
    Path(path).write_text("mine")
    assert run_client(path) == NOTHING
    os.unlink(path)
    os.symlink(os.path.dirname(path), path)
    assert run_client(path) == NOTHING


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a socket away")
def test_a_socket_of_another_user_is_not_connected_to(path):
    fake = Fake(path, answer(WHOLE))
    os.chown(path, 65534, 65534)
    assert run_client(path) == NOTHING
    assert fake.header == b""
    fake.drop()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can serve as another user")
def test_a_socket_that_another_user_serves_is_not_spoken_to():
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o777)
    path = os.path.join(folder, "d.sock")
    script = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
os.setuid(65534)
listener.bind(sys.argv[1]); listener.listen()
print("ready", flush=True)
sock, _ = listener.accept()
print(len(sock.recv(100)), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        os.chown(path, os.geteuid(), -1)
        assert run_client(path) == NOTHING
        assert process.stdout.readline() == b"0\n"
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "args", [[], ["x"], ["{path}", "claude-code", "Stop", "soon"], ["", "a", "b", "100"]]
)
def test_odd_arguments_are_no_error(path, args):
    command = [*COMMAND, *(arg.replace("{path}", path) for arg in args)]
    done = subprocess.run(command, input=b"{}", capture_output=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == NOTHING


def test_it_imports_four_modules_and_nothing_else(path):
    script = """
import sys
CLIENT, argv = sys.argv[1], sys.argv[1:]
class Refuse:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("posix", "time", "sys", "_socket"):
            with open(argv[1] + ".imported", "a") as file:
                file.write(name + "\\n")
            raise ImportError(name)
for name in list(sys.modules):
    if name in ("os", "re", "json", "socket", "__future__", "typing", "select"):
        del sys.modules[name]
sys.argv = argv
sys.meta_path.insert(0, Refuse)
with open(CLIENT) as file:
    source = file.read()
exec(compile(source, CLIENT, "exec"), {"__name__": "__main__"})
"""
    fake = Fake(path, answer(WHOLE))
    command = [sys.executable, "-I", "-S", "-c", script, CLIENT, path, "claude-code", "Stop", "10000"]
    done = subprocess.run(command, input=b"{}", capture_output=True, timeout=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, SAY, b"")
    fake.join()
    assert not os.path.exists(path + ".imported")


def test_what_starts_the_daemon_imports_nothing_more_and_hands_on_no_settings(path):
    os.unlink(os.path.join(os.path.dirname(path), "d.start"))
    script = """
import sys, posix
CLIENT, argv = sys.argv[1], sys.argv[1:]
class Refuse:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in ("posix", "time", "sys", "_socket"):
            posix.write(2, name.encode())
            raise ImportError(name)
def spawn(path, given, env, **options):
    posix.write(1, "\\0".join([path, *given, *sorted(name.decode() for name in env)]).encode())
posix.posix_spawn = spawn
for name in ("os", "signal", "subprocess"):
    sys.modules.pop(name, None)
sys.argv = argv
sys.meta_path.insert(0, Refuse)
with open(CLIENT) as file:
    source = file.read()
exec(compile(source, CLIENT, "exec"), {"__name__": "__main__"})
"""
    command = [sys.executable, "-I", "-S", "-c", script, CLIENT, path, "claude-code", "Stop", "10000"]
    kept = ["HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "XDG_STATE_HOME"]
    env = dict.fromkeys([*kept, "ADMIT_CONFIG", "ADMIT_OUTPUTS_MODE", "LD_X", "HOME2", "PYTHONPATH"], "/x")
    done = subprocess.run(command, input=b"{}", capture_output=True, timeout=WAIT_S, env=env)
    spawned = [sys.executable, sys.executable, "-I", "-m", "admit.hosts.daemon", path]
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split("\0") == [*spawned, *kept]


def test_the_client_stays_small():
    assert Path(CLIENT).read_text().count("\n") <= 120


def test_a_project_cannot_change_the_client(path, tmp_path):
    for name in ("posix.py", "time.py", "_socket.py", "sitecustomize.py", "usercustomize.py"):
        (tmp_path / name).write_text("print('mine')\n")
    fake = Fake(path, answer(WHOLE))
    env = {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "time.py"), "PYTHONVERBOSE": "1"}
    assert run_client(path, cwd=tmp_path, env=env) == (0, SAY, b"")
    fake.join()
