"""`admit run` at a terminal: live, coloured, uncut, and the keyboard reaches the command."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

import pytest
from wrapped import ADMIT, PYTHON, WAIT_S, Home, log


class Terminal:
    """A process with a terminal of its own, and what appears on it."""

    def __init__(self, home: Home, *args: str, **options: object) -> None:
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))

        def control() -> None:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        given: dict = {"stdin": slave, "stdout": slave, "stderr": slave, "env": home.env, "cwd": home.path}
        self.process = subprocess.Popen([ADMIT, *args], preexec_fn=control, **(given | options))
        os.close(slave)
        self.seen = b""

    def until(self, text: bytes) -> None:
        """Wait until the terminal shows this."""
        end = time.monotonic() + WAIT_S
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            block = self._read() if ready else b""
            assert block, f"{text!r} did not appear in {self.seen!r}"
            self.seen += block

    def end(self) -> int:
        """The exit code; `seen` then holds everything."""
        while block := self._read():
            self.seen += block
        os.close(self.master)
        return self.process.wait(WAIT_S)

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def _read(self) -> bytes:
        try:
            return os.read(self.master, 1 << 16)
        except OSError:
            return b""


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_the_command_sees_a_terminal_of_the_same_size(home):
    code = "import os; print([os.isatty(n) for n in range(3)], os.get_terminal_size(1))"
    terminal = Terminal(home, "run", "--", PYTHON, "-c", code)
    assert terminal.end() == 0
    assert b"[True, True, True] os.terminal_size(columns=101, lines=33)\r\n" in terminal.seen


def test_output_appears_while_the_command_runs(home):
    terminal = Terminal(home, "run", "--", "sh", "-c", "echo first; read answer; echo got $answer; exit 3")
    terminal.until(b"first\r\n")
    terminal.type(b"yes\n")
    assert terminal.end() == 3
    assert b"got yes\r\n" in terminal.seen


def test_nothing_is_cut_colours_stay_and_one_line_says_what_an_agent_would_see(home):
    data = b"\x1b[32mgreen\x1b[0m\n" + log(error="error: broken")
    (home.path / "build.log").write_bytes(data)
    terminal = Terminal(home, "run", "--", "sh", "-c", "cat build.log; exit 2")
    assert terminal.end() == 2
    text, _, last = terminal.seen.rpartition(b"admit: ")
    assert text == data.replace(b"\n", b"\r\n")
    assert b"characters is what an agent would see: admit show --last" in last
    shown = home.admit("show", "--last").stdout
    assert len(shown) < 7_000 and b"error: broken\n" in shown
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == data


def test_a_short_output_ends_with_the_reason_why_it_is_shown_whole(home):
    terminal = Terminal(home, "run", "--", "echo", "short")
    terminal.end()
    said = b"admit: shown whole: 6 characters, under the gate of 8,000 (outputs.gate_chars)"
    assert terminal.seen == b"short\r\n" + said + b"\r\n"


def test_asked_to_filter_the_terminal_shows_at_the_end_what_is_kept(home):
    (home.path / "build.log").write_bytes(log(error="error: broken"))
    terminal = Terminal(home, "run", "--tty-filter", "--", "cat", "build.log")
    terminal.end()
    assert terminal.seen.startswith(b"[admit ") and len(terminal.seen) < 7_000
    assert b"error: broken\r\n" in terminal.seen


def test_control_c_reaches_the_command_once_and_its_own_end_counts(home):
    code = (
        "import signal, time; seen = []\n"
        "signal.signal(signal.SIGINT, lambda *a: seen.append(1)); print('ready', flush=True)\n"
        "while not seen: time.sleep(0.02)\n"
        "time.sleep(0.3); print('seen', len(seen)); raise SystemExit(9)"
    )
    terminal = Terminal(home, "run", "--", PYTHON, "-c", code)
    terminal.until(b"ready")
    terminal.type(b"\x03")
    assert terminal.end() == 9
    assert b"seen 1\r\n" in terminal.seen


def test_control_c_ends_a_command_that_does_nothing_about_it(home):
    terminal = Terminal(home, "run", "--", "sh", "-c", "echo ready; sleep 300")
    terminal.until(b"ready")
    terminal.type(b"\x03")
    assert terminal.end() == 128 + signal.SIGINT


def test_a_signal_from_elsewhere_is_passed_on_at_a_terminal_too(home):
    line = "trap 'echo caught; exit 42' TERM; echo ready; while :; do sleep 0.05; done"
    terminal = Terminal(home, "run", "--", "sh", "-c", line)
    terminal.until(b"ready")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 42
    assert b"caught" in terminal.seen


def test_stopped_and_continued_the_command_goes_on(home):
    terminal = Terminal(home, "run", "--", "sh", "-c", "echo ready; read answer; echo got $answer")
    terminal.until(b"ready")
    os.killpg(terminal.process.pid, signal.SIGSTOP)  # as ^Z, which a session without a shell ignores
    os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED)
    os.killpg(terminal.process.pid, signal.SIGCONT)
    terminal.type(b"again\n")
    assert terminal.end() == 0
    assert b"got again" in terminal.seen


def test_a_changed_window_size_reaches_the_command(home):
    code = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGWINCH, lambda *a: None); print('ready', flush=True)\n"
        "while os.get_terminal_size(1).columns != 77: time.sleep(0.02)\n"
        "print('now', os.get_terminal_size(1).columns)"
    )
    terminal = Terminal(home, "run", "--", PYTHON, "-c", code)
    terminal.until(b"ready")
    fcntl.ioctl(terminal.master, termios.TIOCSWINSZ, struct.pack("HHHH", 22, 77, 0, 0))
    assert terminal.end() == 0
    assert b"now 77" in terminal.seen


def test_only_the_stream_that_goes_elsewhere_is_cut(home):
    (home.path / "build.log").write_bytes(log(error="error: broken"))
    read, write = os.pipe()
    line = "cat build.log; echo to the person >&2"
    terminal = Terminal(home, "run", "--", "sh", "-c", line, stdout=write)
    os.close(write)
    with open(read, "rb") as file:
        out = file.read()
    assert terminal.end() == 0
    assert out.startswith(b"[admit ") and len(out) < 7_000
    assert terminal.seen.startswith(b"to the person\r\nadmit: ")


def test_a_terminal_that_goes_away_ends_the_command(home):
    terminal = Terminal(home, "run", "--", "sh", "-c", "echo ready; exec yes")
    terminal.until(b"ready")
    os.close(terminal.master)
    assert terminal.process.wait(WAIT_S) != 0


def test_admit_output_says_at_a_terminal_that_a_pipe_has_no_exit_code(home):
    (home.path / "build.log").write_bytes(log(error="error: broken"))
    read, write = os.pipe()
    feeder = subprocess.Popen(["cat", "build.log"], cwd=home.path, stdout=write)
    os.close(write)
    out, tty = os.openpty()
    done = subprocess.Popen(
        [ADMIT, "output"], stdin=read, stdout=subprocess.PIPE, stderr=tty, env=home.env, cwd=home.path
    )
    os.close(read)
    os.close(tty)
    text = done.communicate(timeout=WAIT_S)[0]
    feeder.wait()
    line = os.read(out, 1 << 16).decode()
    os.close(out)
    assert b"exit code unknown" in text.split(b"\n")[0]
    assert line.startswith("admit: ") and line.count("\n") == 1
    assert "exit code unknown through a pipe: admit run -- CMD keeps it" in line
    assert "passed" not in line and b"passed" not in text
