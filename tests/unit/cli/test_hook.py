"""`admit hook`, and `admit run` as a host's hook writes it, as real processes."""

from __future__ import annotations

import json
import subprocess

import pytest
from command_line import ADMIT, Home, id_in, log


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def payload(**fields):
    common = {"session_id": "s1", "transcript_path": "/none.jsonl", "cwd": "/"}
    return json.dumps({**common, **fields}).encode()


def wrapped(home, command):
    """The command line that a hook makes of this one."""
    config = home.path / ".config" / "admit"
    config.mkdir(parents=True, exist_ok=True)
    (config / "admit.toml").write_text('[hosts]\nwrap = "list"\n')
    (config / "admit.toml").chmod(0o600)
    # As after a self-test that saw this version keep its deny rules for rewritten calls.
    state = home.path / "state" / "admit"
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    (state / "hosts.json").write_text('{"claude-code": {"2.9.9": {"rewrite_input": "yes"}}}')
    (state / "hosts.json").chmod(0o600)
    transcript = home.path / "s1.jsonl"
    said = {"type": "user", "version": "2.9.9", "message": {"role": "user", "content": "build it, it broke"}}
    transcript.write_text(json.dumps({"sessionId": "s1", "uuid": "u1", **said}) + "\n")
    given = payload(
        transcript_path=str(transcript),
        tool_name="Bash",
        tool_use_id="t1",
        tool_input={"command": command, "timeout": 9},
    )
    done = home.admit("hook", "claude-code", "PreToolUse", input=given)
    assert (done.returncode, done.stderr) == (0, b""), done
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert list(said) == ["hookEventName", "updatedInput"] and said["updatedInput"]["timeout"] == 9
    return said["updatedInput"]["command"]


def test_what_the_host_would_get_is_printed_and_recorded(home):
    response = {"stdout": log().decode(), "stderr": "", "interrupted": False}
    given = payload(tool_name="Bash", tool_input={"command": "make"}, tool_response=response)
    done = home.admit("hook", "claude-code", "PostToolUse", input=given)
    assert (done.returncode, done.stderr) == (0, b"")
    shown = json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert "error: the one that matters" in shown
    told = json.loads(home.admit("why", "--last", "--json").stdout)
    assert id_in(shown.encode()) in json.dumps(told)


@pytest.mark.parametrize("given", (b"", b"{", payload(), b"\xff" * 100, b" " * (9 << 20)))
def test_whatever_is_odd_is_answered_with_nothing_and_exit_code_0(home, given):
    done = home.admit("hook", "claude-code", "PostToolUse", input=given)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_host_that_is_none_is_wrong_usage(home):
    done = home.admit("hook", "emacs", "Stop", input=b"{}")
    assert done.returncode == 2 and b"claude-code" in done.stderr


def test_a_wrapped_command_that_fails_keeps_its_code_its_streams_and_what_matters(home):
    script = home.path / "make"
    text = log().decode()
    script.write_text(f"#!/bin/sh\ncat <<'EOF'\n{text}EOF\necho 'make: *** [all] Error 2' >&2\nexit 2\n")
    script.chmod(0o755)
    env = {**home.env, "PATH": f"{home.path}:{home.env['PATH']}"}
    home.env = env
    command = wrapped(home, f"cd {home.path} && CC=gcc make all")
    assert command.startswith(f"cd {home.path} && CC=gcc {ADMIT} run --hook ")

    done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, stdin=subprocess.DEVNULL)

    assert done.returncode == 2 and done.stderr == b"make: *** [all] Error 2\n"
    head = done.stdout.split(b"\n")[0]
    assert b"exit code 2" in head and f"{ADMIT} recall o_".encode() in head
    assert b"error: the one that matters" in done.stdout and len(done.stdout) < 7_000
    output_id = head.split(b" recall ")[1].split()[0].decode()
    whole = home.admit("recall", output_id, "--whole", "--raw")
    assert whole.stdout == log()
    assert not list((home.path / "state" / "admit" / "tickets").iterdir())


def test_a_ticket_that_is_gone_costs_nothing(home):
    done = home.admit("run", "--hook", "0" * 32, "--", "sh", "-c", "echo out; echo err >&2; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (5, b"out\n", b"err\n")
