"""`admit run` is faithful: exit code, streams, signals, environment; and it loses nothing."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from wrapped import ADMIT, PYTHON, WAIT_S, Home, log


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.mark.parametrize("code", [0, 1, 2, 3, 42, 255])
def test_the_exit_code_is_the_commands(home, code):
    assert home.run("sh", "-c", f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGPIPE])
def test_after_a_signal_the_exit_code_is_128_and_its_number(home, number):
    assert home.run("sh", "-c", f"kill -{int(number)} $$").returncode == 128 + number


def test_a_command_that_is_not_found_gives_127(home):
    done = home.run("no-such-command-here", "--flag")
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr == b"admit run: no-such-command-here: command not found\n"
    assert not home.left


def test_a_command_that_is_not_executable_gives_126(home):
    (home.path / "data.txt").write_text("no program")
    assert home.run("./data.txt").returncode == 126
    assert home.run(str(home.path)).returncode == 126


def test_a_script_without_an_interpreter_line_runs_as_in_a_shell(home):
    script = home.path / "script"
    script.write_text('echo "$1 and $2"; exit 9\n')
    script.chmod(0o755)
    done = home.run("./script", "one", "two words")
    assert (done.returncode, done.stdout) == (9, b"one and two words\n")


def test_stdout_and_stderr_keep_their_own_streams_and_bytes(home):
    done = home.run(PYTHON, "-c", "import os; os.write(1, b'out \\xff\\r\\n\\0'); os.write(2, b'err \\xfe')")
    assert (done.stdout, done.stderr) == (b"out \xff\r\n\0", b"err \xfe")


def test_a_long_failing_output_is_cut_and_keeps_its_error_its_code_and_its_stderr(home):
    (home.path / "build.log").write_bytes(log(error="src/app.c:7: error: unknown type name 'wide'"))
    done = home.run("sh", "-c", "cat build.log; echo 'make: *** [all] Error 2' >&2; exit 2")
    assert done.returncode == 2
    assert done.stderr == b"make: *** [all] Error 2\n"
    assert len(done.stdout) < 7_000 < len(log())
    assert b"error: unknown type name 'wide'\n" in done.stdout
    assert done.stdout.startswith(b"[admit ") and b"exit code 2" in done.stdout.split(b"\n")[0]
    assert not home.left


def test_what_was_cut_is_recalled_byte_for_byte(home):
    whole = log(error="fatal: \x1b[31mred\x1b[0m é") + b"\xff\xfe last, without a newline"
    (home.path / "build.log").write_bytes(whole)
    done = home.run("sh", "-c", "cat build.log; exit 1")
    name = done.stdout.split(b"\n")[0].split(b"admit recall ")[1].split()[0].decode()
    assert home.admit("recall", name, "--whole", "--raw").stdout == whole
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == whole


def test_stdin_is_the_commands(home):
    assert home.run("cat", input=b"first\nsecond\xff").stdout == b"first\nsecond\xff"


def test_the_environment_is_untouched(home):
    show = [PYTHON, "-c", "import os,sys; sys.stdout.buffer.write(open('/proc/self/environ','rb').read())"]
    for extra in ({}, {"LC_CTYPE": "C"}, {"LC_ALL": "C"}, {"ODD": "\udcff"}):
        env = {**home.env, **extra}
        env.pop("LANG", None)
        plain = subprocess.run(show, env=env, capture_output=True).stdout
        done = home.run(*show, env=env).stdout
        assert sorted(done.split(b"\0")) == sorted(plain.split(b"\0"))


def test_open_files_reach_the_command(home):
    read, write = os.pipe()
    home.run(PYTHON, "-c", f"import os; os.write({write}, b'through\\n')", pass_fds=[write])
    os.close(write)
    with open(read, "rb") as file:
        assert file.read() == b"through\n"


def test_signals_that_the_interpreter_ignores_are_not_ignored_in_the_command(home):
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("needs /proc")
    done = home.run("grep", "SigIgn", str(status))
    ordinary = (1 << 31) - 1  # 32 and 33 are the C library's own
    assert int(done.stdout.split()[1], 16) & ordinary == 0


def test_a_shell_line_runs_in_the_users_shell(home):
    line = "echo one | tr a-z A-Z; echo $0; exit 4"
    done = home.admit("run", "--shell", "--", line, env={**home.env, "SHELL": "/bin/sh"})
    assert (done.returncode, done.stdout) == (4, b"ONE\n/bin/sh\n")


TRAP = "trap 'echo caught; exit 42' {name}; echo ready; while :; do sleep 0.05; done"


def wait_for(path: Path, text: bytes) -> None:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if any(text in file.read_bytes() for file in path.glob(".new-*")):
            return
        time.sleep(0.02)
    raise AssertionError(f"{text!r} did not appear in {path}")


def ready(home: Home, text: bytes = b"ready") -> None:
    wait_for(home.path / "state" / "admit" / "outputs", text)


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP", "QUIT"])
def test_a_signal_reaches_the_command_which_may_end_in_its_own_way(home, name):
    process = home.start(["sh", "-c", TRAP.format(name=name)])
    ready(home)
    process.send_signal(getattr(signal, f"SIG{name}"))
    out, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (42, b"ready\ncaught\n")


def test_a_signal_reaches_the_commands_children_too(home):
    inner = "trap 'echo inner caught; exit 1' TERM; echo ready; while :; do sleep 0.05; done"
    outer = f"trap 'wait; echo outer caught; exit 5' TERM; sh -c \"{inner}\" & wait; wait; exit 5"
    process = home.start(["sh", "-c", outer])
    ready(home)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 5
    assert b"inner caught\n" in out and b"outer caught\n" in out


def test_a_command_that_ignores_a_signal_is_killed_with_its_children_and_what_it_wrote_is_shown(home):
    line = "trap '' TERM; echo ready; sleep 300 & wait; sleep 300"
    process = home.start(["sh", "-c", line])
    ready(home)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (128 + signal.SIGKILL, b"ready\n")


def test_a_hangup_that_is_ignored_here_stays_ignored_in_the_command(home):
    process = home.start(
        ["sh", "-c", "echo ready; sleep 0.5; exit 6"],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    ready(home)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=WAIT_S)
    assert (process.returncode, out) == (6, b"ready\n")


def test_a_killed_wrapper_loses_nothing_and_its_command_meets_a_closed_pipe(home):
    line = "echo $$ > pid; i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; echo ready; exec yes"
    process = home.start(["sh", "-c", line])
    ready(home)
    process.kill()
    process.communicate(timeout=WAIT_S)
    last = home.admit("recall", "--last", "--lines", "1-501")
    expected = b"".join(b"line %d\n" % n for n in range(500)) + b"ready\n"
    assert last.returncode == 0
    assert last.stdout.split(b"\n", 1)[1] == expected
    assert not home.left
    command = int((home.path / "pid").read_text())
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and Path(f"/proc/{command}/cmdline").exists():
        if not Path(f"/proc/{command}/cmdline").read_bytes():
            break  # a zombie that nobody has waited for yet
        time.sleep(0.02)
    else:
        assert not Path(f"/proc/{command}/cmdline").exists()


def test_what_a_running_wrapper_writes_is_not_taken_for_a_dead_ones(home):
    process = home.start(["sh", "-c", "echo ready; sleep 300"])
    ready(home)
    assert home.admit("recall", "--last").returncode == 1
    assert len(home.left) == 2
    process.terminate()
    process.communicate(timeout=WAIT_S)
    assert not home.left


def test_a_descendant_that_holds_the_pipe_is_not_waited_for(home):
    done = home.run("sh", "-c", "sleep 300 & echo $!; exit 3")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 3


def test_a_descendant_that_floods_the_pipe_is_not_waited_for(home):
    done = home.run("sh", "-c", "yes & echo $! >&2; exit 3", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with suppress(ProcessLookupError):  # it may have met the closed pipe
        os.kill(int(done.stderr.split()[0]), signal.SIGKILL)
    assert done.returncode == 3


def test_a_command_that_closes_its_output_early_is_waited_for(home):
    done = home.run("sh", "-c", "echo out; exec 1>&- 2>&-; sleep 0.3; exit 7")
    assert (done.returncode, done.stdout) == (7, b"out\n")


def test_a_reader_that_goes_away_ends_the_command_as_without_a_wrapper(home):
    process = home.start(["sh", "-c", "echo ready; exec yes"])
    ready(home)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(WAIT_S) == 128 + signal.SIGPIPE


def test_a_closed_pipe_at_the_end_leaves_the_commands_exit_code(home):
    process = home.start(["sh", "-c", "sleep 0.3; exit 8"])
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(WAIT_S) == 8


def test_both_streams_into_one_file_keep_the_order_of_their_lines(home):
    line = "for i in 1 2 3; do echo out $i; echo err $i >&2; done"
    with open(home.path / "both", "wb") as both:
        home.run("sh", "-c", line, stdout=both, stderr=both)
    assert (home.path / "both").read_bytes() == b"out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"


def test_binary_output_passes_through_byte_for_byte(home):
    data = bytes(range(256)) * 2_000
    (home.path / "blob").write_bytes(data)
    done = home.run("cat", "blob")
    assert done.stdout == data and done.stderr == b""
    assert home.admit("recall", "--last").returncode == 1


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\n", id="a line feed"),
        pytest.param(b"caf\xe9 " * 2_000, id="invalid UTF-8 in one line"),
        pytest.param(b"short\n" * 2_000_000, id="two million short lines"),
        pytest.param(b"".join(b"%d," % n for n in range(2_800_000)), id="one line of 20 MB"),
    ],
)
def test_every_shape_of_output_ends_well_and_is_all_there(home, data):
    (home.path / "data").write_bytes(data)
    done = home.run("cat", "data")
    assert done.returncode == 0 and done.stderr == b""
    if done.stdout == data:
        return
    assert len(done.stdout) < 8_000
    assert home.admit("recall", "--last", "--whole", "--raw").stdout == data


def test_a_full_disk_changes_nothing_but_that_nothing_is_cut(home):
    data = log()
    (home.path / "build.log").write_bytes(data)
    limit = 16_384  # bytes a file may hold; pipes are not files
    done = home.run(
        "cat",
        "build.log",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert (done.returncode, done.stdout) == (0, data)


def test_a_home_that_cannot_be_written_changes_nothing_but_that_nothing_is_cut(home):
    data = log()
    (home.path / "build.log").write_bytes(data)
    done = home.run("cat", "build.log", env={**home.env, "XDG_STATE_HOME": "/dev/null"})
    assert (done.returncode, done.stdout) == (0, data)
    done = home.run("cat", "build.log", env={**home.env, "XDG_STATE_HOME": "/proc"})
    assert (done.returncode, done.stdout) == (0, data)


FAULTS = {
    "opening the store": "import admit.cli.door as d; d.open_place = broken",
    "the gate": "import admit.outputs.gate as g; g.OutputGate.admit_streams = broken",
}


@pytest.mark.parametrize("fault", ["opening the store", "the gate"])
def test_a_fault_in_admit_prints_the_original_and_keeps_the_exit_code(home, fault):
    data = log()
    (home.path / "build.log").write_bytes(data)
    code = f"def broken(*a, **k): raise RuntimeError('boom')\n{FAULTS[fault]}\n"
    code += "from admit.cli import main; main()"
    done = subprocess.run(
        [PYTHON, "-c", code, "run", "--", "sh", "-c", "cat build.log; echo err >&2; exit 4"],
        env=home.env,
        cwd=home.path,
        capture_output=True,
        timeout=WAIT_S,
    )
    assert (done.returncode, done.stdout) == (4, data)
    assert done.stderr.startswith(b"err\n") and b"bug in Admit" in done.stderr


def test_two_wrappers_at_once_keep_their_outputs_apart(home):
    (home.path / "one").write_bytes(log(error="error: the first one broke"))
    (home.path / "two").write_bytes(log(2_500, error="error: the second one broke"))
    both = [home.start(["cat", name]) for name in ("one", "two")]
    texts = [process.communicate(timeout=WAIT_S)[0] for process in both]
    for text, name in zip(texts, ("one", "two"), strict=True):
        found = text.split(b"\n")[0].split(b"admit recall ")[1].split()[0].decode()
        whole = home.admit("recall", found, "--whole", "--raw").stdout
        assert whole == (home.path / name).read_bytes()
    assert not home.left


def test_switched_off_the_command_takes_the_place_of_the_wrapper(home):
    (home.path / "build.log").write_bytes(log())
    env = {**home.env, "ADMIT_OFF": "1"}
    process = home.start(["sh", "-c", "echo $$; cat build.log"], env=env)
    out, _ = process.communicate(timeout=WAIT_S)
    assert out == b"%d\n" % process.pid + log()
    assert home.run("no-such-command-here", env=env).returncode == 127


def test_json_gives_exit_code_and_both_streams(home):
    import json

    done = home.admit("run", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    value = json.loads(done.stdout)
    assert done.returncode == 3 and value["exit_code"] == 3
    assert value["streams"]["stdout"]["text"] == "out\n"
    assert value["streams"]["stderr"]["text"] == "err\n"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_failing_make_shows_what_failed(home):
    rules = 'all:\n\t@for i in $$(seq 1 2000); do echo "[$$i] building part $$i of the whole"; done\n'
    rules += "\t@echo 'main.c:3:5: error: expected expression'\n\t@exit 2\n"
    (home.path / "Makefile").write_text(rules)
    done = home.run("make")
    assert done.returncode == 2
    assert b"main.c:3:5: error: expected expression\n" in done.stdout
    assert b"make: *** " in done.stderr
    assert len(done.stdout) < 7_000


def test_a_wrapper_in_a_wrapper_shows_the_same(home):
    (home.path / "build.log").write_bytes(log(error="error: broken"))
    once = home.run("cat", "build.log")
    twice = home.run(ADMIT, "run", "--", "cat", "build.log")
    assert twice.stdout == once.stdout
