"""`admit output`: what goes in, what comes out, and what stays one call away."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest
from command_line import ADMIT, WAIT_S, Home, golden, id_in, log

from admit.cli.results import explanation, line
from admit.outputs.model import Kept, OutputConfig, OutputResult

HEADER = re.compile(rb"\[admit ([0-9a-f]{8,})\] ")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"one line\r\nno newline \xff\x00", id="short, with odd bytes"),
        pytest.param(log(190), id="just under the gate"),
        pytest.param(bytes(range(256)) * 300, id="binary"),
    ],
)
def test_what_needs_no_cutting_comes_out_byte_for_byte(home, data):
    assert home.output(data) == data


def test_a_long_output_is_cut_to_lines_of_its_own_in_their_order(home):
    data = log()
    text = home.output(data, "--exit-code", "2", "--task", "why does the build fail")
    assert len(text) < 7_000
    first, *body = text.removesuffix(b"\n").split(b"\n")
    mark = HEADER.match(first)[1]  # type: ignore[index]
    kept = [one for one in body if not one.startswith(b"[admit " + mark + b":")]
    lines = iter(data.split(b"\n"))
    assert all(one in lines for one in kept), "in order, word for word"
    assert b"error: the one that matters" in kept
    assert b"exit code 2" in first


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(log().replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(log().rstrip(), id="no final newline"),
        pytest.param(log(error="error: \udcff\udcfe broke"), id="invalid UTF-8"),
        pytest.param(b"\x1b[31m" + log().replace(b"\n", b"\x1b[0m\n\x1b[31m"), id="colours"),
        pytest.param(log().decode().encode("utf-16"), id="UTF-16"),
        pytest.param(b"[" + b"".join(b'{"k%d": "x"}, ' % n for n in range(9_000)) + b"0]", id="one line"),
    ],
)
def test_what_was_cut_is_recalled_whole_byte_for_byte(home, data):
    text = home.output(data)
    assert len(text) < len(data)
    assert home.admit("recall", id_in(text), "--whole", "--raw").stdout == data


def test_invalid_bytes_of_a_kept_line_survive(home):
    assert b"error: \xff\xfe broke" in home.output(log(error="error: \udcff\udcfe broke"), "--exit-code", "1")


def test_its_own_result_comes_out_unchanged(home):
    once = home.output(log(), "--exit-code", "2")
    assert home.output(once, "--exit-code", "2") == once
    padded = once + b"\n" + log()
    assert home.output(padded) == padded, "an earlier render is known by its first line"


def test_the_answer_of_a_recall_comes_out_unchanged(home):
    name = home.stored(log())
    answer = home.admit("recall", name, "--lines", "1-400").stdout
    assert len(answer) > 12_000
    assert home.output(answer) == answer


def test_a_forged_first_line_does_not_exempt(home):
    name = home.stored(log())
    forged = b"[admit 00000000] lines 1-2 of 9 of " + name.encode() + b", verbatim\n"
    text = home.output(forged + log(2_900))
    assert len(text) < 7_000 and b"[admit 00000000]" not in text.split(b"\n")[0]


def test_through_a_pipe_the_exit_code_is_unknown_and_nothing_says_that_it_passed(home):
    done = home.admit("output", input=log())
    first = done.stdout.split(b"\n")[0]
    assert b"exit code unknown" in first
    assert not re.search(rb"pass|success|clean|no (errors|failures)|exit code 0", done.stdout)


def test_the_budget_can_be_set_within_its_range(home):
    short = home.output(log(), "--max-chars", "2000")
    assert len(short) < 2_600
    done = home.admit("output", "--max-chars", "100", input=log())
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"2,000" in done.stderr and b"20,000" in done.stderr


def test_json_has_exactly_the_documented_fields(home):
    value = json.loads(home.output(log(), "--json", "--exit-code", "2"))
    assert list(value) == [
        *("schema", "id", "how", "reason", "changed", "original_chars", "kept_chars", "kept_lines"),
        *("original_lines", "gaps", "kept", "coverage", "dropped_qualifying", "requests", "judge_ms"),
        *("total_ms", "text"),
    ]
    assert (value["how"], value["changed"], value["original_lines"]) == ("local", True, 3_000)
    assert list(value["gaps"][0]) == ["from", "to", "chars"]
    assert list(value["kept"][0]) == ["from", "to", "rule", "score"]
    assert value["coverage"] == {"judged": 0, "unjudged": 0, "overflow": 0}
    gaps = sum(gap["to"] - gap["from"] + 1 for gap in value["gaps"])
    assert gaps + value["kept_lines"] == 3_000


def test_json_of_a_short_output_counts_it_too(home):
    value = json.loads(home.output(b"one\ntwo\n", "--json"))
    assert (value["how"], value["reason"], value["text"]) == ("exempt", "small", "one\ntwo\n")
    assert (value["original_chars"], value["kept_chars"], value["original_lines"]) == (8, 8, 2)


def test_explain_names_the_rules_on_stderr_and_leaves_stdout_alone(home):
    plain = home.admit("output", "--exit-code", "2", input=log()).stdout
    done = home.admit("output", "--exit-code", "2", "--explain", input=log())
    assert done.stdout == plain
    assert re.search(rb"lines +rule +score", done.stderr)
    assert b"end" in done.stderr and b"3,000" in done.stderr


def test_two_at_once_store_the_same_bytes_once_and_both_answer(home):
    both = [
        subprocess.Popen(
            [ADMIT, "output"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=home.env, cwd=home.path
        )
        for _ in range(2)
    ]
    for process in both:
        process.stdin.write(log())  # type: ignore[union-attr]
    texts = [process.communicate(timeout=WAIT_S)[0] for process in both]
    assert texts[0] == texts[1] and len(texts[0]) < 7_000
    assert len(home.files) == 1


def test_a_reader_that_went_away_is_no_fault(home):
    (home.path / "input").write_bytes(log())
    with open(home.path / "input", "rb") as stdin:
        process = subprocess.Popen(
            [ADMIT, "output"],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=home.env,
            cwd=home.path,
        )
        process.stdout.close()  # type: ignore[union-attr]
        assert process.stderr.read() == b""  # type: ignore[union-attr]
        assert process.wait(WAIT_S) == 128 + signal.SIGPIPE


def interrupted(home, data: bytes, number: int) -> subprocess.CompletedProcess[bytes]:
    """`admit output` that got these bytes through a pipe that stays open, and then a signal."""
    process = subprocess.Popen(
        [ADMIT, "output"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.env,
        cwd=home.path,
    )
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not _waits(process.pid):
        time.sleep(0.02)
    process.send_signal(number)
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)
    out, err = process.communicate(timeout=WAIT_S)
    return subprocess.CompletedProcess([], process.returncode, out, err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_it_reads_loses_nothing_of_what_came(home, number):
    done = interrupted(home, log(), number)
    assert done.returncode == 128 + number
    assert done.stderr == b"admit: interrupted: the above is of what had come until then\n"
    assert len(done.stdout) < 7_000 and b"error: the one that matters" in done.stdout
    assert home.admit("recall", id_in(done.stdout), "--whole", "--raw").stdout == log()


def test_a_signal_while_it_reads_shows_a_short_output_whole_and_an_empty_one_not_at_all(home):
    assert interrupted(home, b"short\n", signal.SIGINT).stdout == b"short\n"
    done = interrupted(home, b"", signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_the_key_that_interrupts_a_pipeline_on_a_terminal_loses_nothing(home):
    (home.path / "build.log").write_bytes(log())
    line = f"( cat build.log; echo all written > ready; exec sleep 60 ) | {ADMIT} output; echo code $?"
    master, side = os.openpty()
    process = subprocess.Popen(
        # The shell itself ignores the key, its children do not: then it can say their code.
        ["sh", "-c", f"trap : INT; {line}"],
        stdin=side,
        stdout=side,
        stderr=side,
        env=home.env,
        cwd=home.path,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(side)
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and not (home.path / "ready").exists():
        time.sleep(0.02)
    os.write(master, b"\x03")
    said = b""
    with suppress(OSError):  # the end of a pseudo terminal
        while block := os.read(master, 65_536):
            said += block
    process.wait(WAIT_S)
    os.close(master)
    assert b"code 130" in said and b"[admit " in said and b"error: the one that matters" in said
    assert [file.read_bytes() for file in home.files] == [log()]


def _waits(pid: int) -> bool:
    """Whether a process has read what stood on its standard input, and waits for more."""
    with open(f"/proc/{pid}/wchan") as file:
        return "poll" in file.read()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_the_output_is_said_and_is_no_bug(home):
    with open("/dev/full", "wb") as full:
        done = home.admit("output", input=log(), stdout=full)
    assert done.returncode == 1
    assert done.stderr == b"admit: standard output could not be written: No space left on device\n"


def test_standard_input_that_cannot_be_read_is_a_usage_error(home):
    done = home.admit("output", preexec_fn=lambda: os.close(0))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"standard input cannot be read: Bad file descriptor" in done.stderr


def test_a_store_that_cannot_be_written_leaves_the_output_whole(home):
    assert home.output(log(), env={**home.env, "XDG_STATE_HOME": "/dev/null"}) == log()


def test_a_bug_prints_the_original_and_exits_with_3(home):
    code = (
        "import admit.cli.door as d\n"
        "def broken(*a, **k): raise RuntimeError('boom')\n"
        "d.open_gate = broken\n"
        "from admit.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "output"], input=log(), capture_output=True, env=home.env, cwd=home.path
    )
    assert (done.returncode, done.stdout) == (3, log())
    assert b"bug in Admit (RuntimeError)" in done.stderr


def test_paused_it_passes_everything(home):
    assert home.output(log(), env={**home.env, "ADMIT_OFF": "1"}) == log()
    assert not home.files


def test_a_broken_settings_file_does_not_stop_it(home):
    settings = home.path / ".config" / "admit" / "admit.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[outputs\nmode = ")
    assert len(home.output(log())) < 7_000


def test_shadow_mode_shows_the_whole_and_records_what_would_have_been_shown(home):
    settings = home.path / ".config" / "admit" / "admit.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[outputs]\nmode = "shadow"\n')
    settings.chmod(0o600)
    assert home.output(log(), "--exit-code", "2") == log()
    shown = home.admit("show", "--last").stdout
    assert HEADER.match(shown) and len(shown) < 7_000 and b"error: the one that matters" in shown


HEAVY = ("pydantic", "rich", "onnxruntime", "numpy", "asyncio")


@pytest.mark.parametrize(
    "args", [["output"], ["run", "--", "true"], ["recall", "--last"]], ids=["output", "run", "recall"]
)
def test_the_light_commands_import_nothing_heavy(home, args):
    code = (
        "import sys; from admit.cli.frame import run; run(sys.argv[1:]); "
        f"print(sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], input=log(), capture_output=True, env=home.env, cwd=home.path
    )
    assert done.stderr.splitlines()[-1] == b"[]", done


def result(**fields) -> OutputResult:
    given = {
        "text": "x" * 3_120,
        "data": b"x" * 3_120,
        "changed": False,
        "how": "exempt",
        "reason": "",
    } | fields
    return OutputResult(**given)


def test_one_line_says_what_became_of_an_output():
    kept = (Kept(1, 9, "run", 2.0, 0, 9),)
    cut = {"changed": True, "how": "local", "original_chars": 121_437, "kept_chars": 5_870, "kept": kept}
    cases = [
        (result(reason=reason), {"tool": "Read"})
        for reason in ("small", "under_gate", "off", "skipped", "recall", "binary", "file_read")
    ]
    cases += [(result(reason=reason), {}) for reason in ("store_failed", "internal:ValueError")]
    cases += [(result(how="kept", reason="saving", original_chars=9_000), {}), (result(**cut), {})]
    cases += [(result(**cut | {"changed": False}), {"cut": False})]
    lines = [line(one, OutputConfig(), **{"cut": True} | how) for one, how in cases]
    golden("output-line.txt", "".join(f"admit: {text}\n" for text in lines))


def test_the_explanation_lists_ranges_with_rules_and_the_ten_best_that_did_not_fit():
    kept = (Kept(1_200, 1_261, "run", 3.634, 0, 1), Kept(1_490, 1_500, "end", None, 1, 2))
    over = tuple(Kept(n, n, "did not fit", n / 100, 0, 1) for n in range(1, 21))
    golden("output-explain.txt", explanation(result(how="local", kept=kept, passed_over=over)) + "\n")
    assert explanation(result(how="exempt", reason="small")) == "exempt (small): everything is shown"
