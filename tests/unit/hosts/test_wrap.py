"""Commands that are run inside `admit run`: which, and that their words reach the program unchanged."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.config.keys import default
from admit.hosts.claude_code.shell import keeps_exit_code, tokens
from admit.hosts.claude_code.wrap import wrapped
from admit.hosts.tickets import take

from .claude import ADMIT, PROVEN, Host, prove_rewrites, typed

LISTED = default("hosts.wrap_commands")
FRONT = f"{ADMIT} run --hook TICKET -- "


def wrap(command, *, found=True, **given):
    """The rewritten command line, or None."""
    answer = wrapped(
        {"command": command, **given},
        LISTED,
        admit=ADMIT,
        ticket=lambda: "TICKET",
        find=lambda name: f"/usr/bin/{name}" if found else None,
    )
    return None if answer is None else answer["command"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make", f"{FRONT}make"),
        ("  make  test ", f"  {FRONT}make  test "),
        ("pytest -k 'a and not b' tests/", f"{FRONT}pytest -k 'a and not b' tests/"),
        ("python -m pytest -x", f"{FRONT}python -m pytest -x"),
        ("cd src && make", f"cd src && {FRONT}make"),
        ("cd 'my dir' && CC=gcc make -j4", f"cd 'my dir' && CC=gcc {FRONT}make -j4"),
        ('CI=1 FLAGS="-a -b" npm test', f'CI=1 FLAGS="-a -b" {FRONT}npm test'),
        ("go test ./...", f"{FRONT}go test ./..."),
        ("cargo build --message-format='a|b;c'", f"{FRONT}cargo build --message-format='a|b;c'"),
        ('pytest -k "x > 1 & y"', f'{FRONT}pytest -k "x > 1 & y"'),
        ("make TARGET=$HOME/x", f"{FRONT}make TARGET=$HOME/x"),
        (r"pytest tests/a\ b.py", rf"{FRONT}pytest tests/a\ b.py"),
        ("docker build .", f"{FRONT}docker build ."),
    ],
)
def test_a_listed_command_is_wrapped_where_it_stands(command, expected):
    assert wrap(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "make | tee log",
        "make 2>&1",
        "make > log",
        "make < in",
        "make; echo done",
        "make &",
        "make || true",
        "make && make test",
        "cd a && cd b && make",
        "make <<EOF\nx\nEOF",
        "make $(nproc)",
        "make `nproc`",
        'make "$(nproc)"',
        'make "`nproc`"',
        "make\nmake test",
        "make \\\n test",
        "(make)",
        "make -C 'open",
        'make "open',
        "make $'a\\tb'",
        "make # and nothing else",
        "make \\",
        "sudo make",
        "time make",
        "rtk make",
        "admit run -- make",
        "bash -c make",
        "npm install",
        "npm run dev",
        "python setup.py",
        "python -m http.server",
        "go run .",
        "docker run -it x",
        "vitest --watch",
        "jest --watchAll=true",
        "pytest --pdb",
        "PYTHONPATH=src pytest",
        "ADMIT_OFF=1 make",
        "cd src",
        "cd src &&",
        "CC=gcc",
        "",
        "   ",
        "makefile",
        "'make'",
        "./make",
    ],
)
def test_any_other_command_is_left_alone(command):
    assert wrap(command) is None


def test_a_command_in_the_background_or_one_that_is_no_program_is_left_alone():
    assert wrap("make", run_in_background=True) is None
    assert wrap("make", run_in_background=False) == f"{FRONT}make"
    assert wrap("make", found=False) is None
    assert wrap(["make"]) is None


def test_the_rest_of_the_input_is_kept_and_the_original_is_not_touched():
    before = {"command": "make", "timeout": 600_000, "description": "Build", "new": {"a": 1}}
    after = wrapped(before, LISTED, admit=ADMIT, ticket=lambda: "T", find=str)
    assert after == {**before, "command": f"{ADMIT} run --hook T -- make"} and before["command"] == "make"
    assert list(after) == list(before)


def test_a_path_with_a_space_is_quoted():
    after = wrapped({"command": "make"}, LISTED, admit="/opt/my tools/admit", ticket=lambda: "T", find=str)
    assert after["command"] == "'/opt/my tools/admit' run --hook T -- make"


def test_no_ticket_is_made_for_a_command_that_is_left_alone():
    def ticket():
        raise AssertionError("a ticket")

    assert wrapped({"command": "ls"}, LISTED, admit=ADMIT, ticket=ticket, find=str) is None


PROBE = """#!/bin/sh
{ printf '%s\\0' "$PWD" "${FOO-unset}" "$@"; } > "$RECORD"
exit 7
"""
# What `admit run` does with its arguments, without the rest of it.
STAND_IN = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
WORDS = st.lists(
    st.one_of(
        st.text("ab*?~!%,:@[]{}^=+-./", min_size=1, max_size=8),
        st.text('ab $"\\|&;<>()#*`\n', max_size=8).map(lambda text: "'" + text + "'"),
        st.text("ab |&;<>()#*!{", max_size=8).map(lambda text: f'"{text}"'),
        st.sampled_from(["$FOO", '"$FOO"', "${FOO}x", "a\\ b", "\\$x", "--", "-n", '"a \\" b"', "''", "*.c"]),
    ),
    max_size=5,
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name, text in (("make", PROBE), ("admit", STAND_IN)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "sub dir").mkdir()
    (folder / "one.c").touch()
    return folder


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=WORDS, front=st.sampled_from(["", "FOO='x y' ", "cd 'sub dir' && ", "cd 'sub dir' && FOO=1 "]))
def test_the_program_gets_the_same_words_folder_and_environment_and_gives_the_same_code(
    programs, words, front
):
    command = f"{front}make {' '.join(words)}"
    after = wrapped({"command": command}, LISTED, admit=str(programs / "admit"), ticket=lambda: "T", find=str)
    if after is None:
        assert tokens(command) is None or "\n" in command or any(word.startswith("#") for word in words)
        return
    assert run(programs, command) == run(programs, after["command"])


def run(programs, command):
    record = programs / "record"
    record.unlink(missing_ok=True)
    path = f"{programs}:{os.environ['PATH']}"
    env = {"PATH": path, "RECORD": str(record), "FOO": "outer", "HOME": str(programs)}
    done = subprocess.run(["sh", "-c", command], cwd=programs, env=env, capture_output=True)
    return done.returncode, record.read_bytes() if record.exists() else None


@given(st.text("ab '\"\\$`|&;<>()#\n", max_size=12))
def test_splitting_never_raises_and_gives_every_token_where_it_stands(command):
    split = tokens(command)
    for one in split or ():
        assert command.startswith(one.text, one.start)
    assert keeps_exit_code(command) in (True, False)


@pytest.mark.parametrize("able", ["no", "unproven"])
def test_a_version_that_was_not_seen_to_keep_its_deny_rules_is_not_wrapped(able, place, monkeypatch):
    monkeypatch.setattr("admit.hosts.hook.Hook.capability", lambda hook: PROVEN._replace(rewrite_input=able))
    host = Host(place, hosts__wrap="list", hosts__wrap_commands=("sh",))
    assert host.ask("PreToolUse", tool_name="Bash", tool_input={"command": "sh build.sh"}) == {}


def test_the_hook_gives_a_ticket_that_holds_session_and_task_and_never_a_permission(place, monkeypatch):
    prove_rewrites(monkeypatch)
    host = Host(place, hosts__wrap="list", hosts__wrap_commands=("sh",))
    host.prompt("make the parser tests pass, they fail since yesterday")
    given = {"command": "sh build.sh", "description": "Build it"}
    said = host.ask("PreToolUse", tool_name="Bash", tool_use_id="t1", tool_input=given)
    assert list(said) == ["updatedInput"] and said["updatedInput"]["description"] == "Build it"
    ticket_id = said["updatedInput"]["command"].split("--hook ")[1].split()[0]
    (file,) = (place / "state" / "admit" / "tickets").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    ticket = take(ticket_id)
    assert ticket is not None
    assert ticket[:3] == ("claude-code", host.session, "")
    assert ticket.task == "make the parser tests pass, they fail since yesterday"
    assert ticket.words == "Bash Build it sh build.sh"
    assert take(ticket_id) is None


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hosts__wrap": "list"},
        {"hosts__wrap": "list", "hosts__wrap_commands": ("sh",), "outputs__mode": "off"},
    ],
    ids=["shipped", "not in the list", "door off"],
)
def test_nothing_is_wrapped_unless_the_user_wants_it(place, settings):
    host = Host(place, **settings)
    assert host.ask("PreToolUse", tool_name="Bash", tool_input={"command": "sh build.sh"}) == {}


def test_a_version_that_ignores_rewritten_input_gets_none(place):
    from admit.hosts import routes

    host = Host(place, hosts__wrap="list", hosts__wrap_commands=("sh",))
    host.writes(typed("make it pass"))
    routes.keep("claude-code", "2.1.332", {"rewrite_input": "no"})
    assert host.ask("PreToolUse", tool_name="Bash", tool_input={"command": "sh build.sh"}) == {}


def test_where_no_ticket_can_be_kept_the_command_runs_as_it_is(place):
    host = Host(place, hosts__wrap="list", hosts__wrap_commands=("sh",))
    (place / "state").write_text("no folder")
    assert host.ask("PreToolUse", tool_name="Bash", tool_input={"command": "sh build.sh"}) == {}
