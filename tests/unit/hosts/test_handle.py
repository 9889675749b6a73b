"""One hook in process: what is odd is counted and answered with nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from types import MappingProxyType

import pytest

from admit.config.layers import Config, load
from admit.hosts import moments, tickets
from admit.hosts.deps import build_deps, recall_way
from admit.hosts.handle import handle, prefilter
from admit.hosts.model import HookAnswer
from admit.hosts.outcome import Outcome
from admit.hosts.projects import hosted
from admit.judges.bounded import BoundedJudge
from admit.testing import MemoryLedger, ScriptedJudge

from .claude import ADMIT, KEY, Host, answer_of, log

BASH = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}}


def raw(host, event="PostToolUse", **fields):
    return json.dumps(host.payload(event, **fields)).encode()


ODD = {
    "no json": (b"{", "bad_json"),
    "nothing": (b"", "bad_json"),
    "no object": (b"[1]", "bad_json"),
    "no utf-8": (b'{"session_id": "\xff"}', "bad_json"),
    "nul": (b'{"session_id": "\x00"}', "bad_json"),
    "nan": (b'{"session_id": "s", "x": NaN}', "bad_json"),
    "deep": (b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "bad_json"),
    "lone surrogate": (b'{"session_id": "s", "prompt": "\\ud83d"}', "encode"),
    "another event": (b'{"hook_event_name": "Stop"}', "unknown_event"),
    "nine mebibytes": (b'{"x": "' + b"a" * (9 << 20) + b'"}', "too_large"),
}


@pytest.mark.parametrize("name", ODD)
def test_a_payload_that_is_none_is_counted_and_answered_with_nothing(host, name):
    data, cause = ODD[name]
    handled = host.raw("UserPromptSubmit", data)
    assert handled.data == b"" and host.ledger.records == []
    handled.after(True)
    assert host.events("host.hook_odd") == [{"event": "UserPromptSubmit", "cause": cause}]


@pytest.mark.parametrize(("name", "event"), [("claude-code", "Brand New"), ("emacs", "Stop"), ("", "")])
def test_an_unknown_host_or_event_is_counted_without_its_name(host, name, event):
    handled = handle(name, event, b"{}", deps=host.deps)
    handled.after(True)
    assert handled.data == b""
    assert host.events("host.hook_odd") == [{"event": "unknown", "cause": "unknown_event"}]


def test_unknown_fields_are_ignored(host):
    response = {"stdout": log(), "stderr": ""}
    assert host.ask("PostToolUse", **BASH, tool_response=response, brand_new={"a": [1]}, tool_input_2=7)


def test_a_paired_surrogate_in_escapes_is_a_character_like_any_other(host):
    text = log(error="error: 🚀 did not start")
    data = json.dumps(host.payload("PostToolUse", **BASH, tool_response={"stdout": text}), ensure_ascii=True)
    assert b"\\ud83d\\ude80" in data.encode()
    said = answer_of("PostToolUse", host.raw("PostToolUse", data.encode()).data)
    assert "error: 🚀 did not start" in said["updatedToolOutput"]["stdout"]


@pytest.mark.parametrize("session", (None, 7, "", "s" * 300, {"a": 1}))
def test_without_a_session_a_hook_is_served_and_nothing_remembered(host, session):
    fields = {**BASH, "tool_response": {"stdout": log(), "stderr": ""}, "session_id": session}
    for _ in range(2):
        said = host.ask("PostToolUse", **fields)
        assert "unchanged" not in said["updatedToolOutput"]["stdout"]
    assert len(host.deps.sessions) == 0 and {one.session for one in host.decisions} == {None}


@pytest.mark.parametrize("field", ("cwd", "transcript_path", "agent_id", "agent_type", "tool_use_id"))
@pytest.mark.parametrize("value", (None, 7, "", "x" * 5_000, "/a\0b", ["a"], {"a": 1}))
def test_a_field_of_a_wrong_kind_is_as_if_it_were_not_there(host, field, value):
    fields = {**BASH, "tool_response": {"stdout": log(), "stderr": ""}, field: value}
    assert host.ask("PostToolUse", **fields)
    assert host.events("host.hook_odd") == []


def test_a_fault_in_a_door_is_logged_with_versions_and_counted(host, capsys, monkeypatch):
    monkeypatch.setattr("admit.hosts.outputs.look", lambda *_: 1 / 0)
    assert host.bash(log()) is None
    assert host.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "exception"}]
    logged = capsys.readouterr().err
    assert "ZeroDivisionError" in logged and "python 3." in logged and "compiling module" not in logged


def test_a_fault_after_the_answer_is_logged_and_counted_too(host, capsys, monkeypatch):
    def broken(*_):
        raise RuntimeError("the transcript bites")

    monkeypatch.setattr("admit.hosts.claude_code.adapter.ClaudeCode.delivered", broken)
    host.transcript.write_text("")
    assert host.bash(log()) is not None
    assert host.ask("Stop") == {}
    assert host.events("host.hook_odd") == [{"event": "Stop", "cause": "exception"}]
    assert "the transcript bites" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("event", "size", "extra", "passes"),
    [
        ("PostToolUse", 1_000, b"", False),
        ("PostToolUse", 2_000, b"", True),
        ("PostToolUse", 100, b"/state/admit/outputs/3f/", True),
        ("PostToolUse", 100, b"persistedOutputPath", True),
        ("PostToolUseFailure", 1_000, b"", False),
        ("PreToolUse", 10, b"", True),
        ("UserPromptSubmit", 10, b"", True),
        ("Stop", 0, b"", True),
    ],
)
def test_small_outputs_are_passed_over_by_their_size_alone(event, size, extra, passes):
    assert prefilter(event, b"x" * size + extra) is passes


def test_a_small_output_touches_nothing(host):
    host.deps = host.deps._replace(projects=None)
    assert host.bash("ok\n") is None and host.ledger.records == []


def test_at_the_end_of_a_session_its_state_goes_and_the_record_is_written(host):
    host.prompt("make the parser tests pass")
    assert len(host.deps.sessions) == 1
    host.ask("SessionEnd", reason="clear")
    assert len(host.deps.sessions) == 0


@pytest.mark.parametrize(("chars", "said"), [(9_000, True), (9_001, False)])
def test_a_text_beyond_the_cap_of_an_event_is_left_out_whole_and_not_stamped_as_shown(
    host, monkeypatch, chars, said
):
    context = "🚀" * 4_000 + "x" * (chars - 8_000)
    claims = []

    def serve(hook):
        claims.append(hook.state.claim("way:tests"))
        return Outcome(HookAnswer(context=context), claims=(claims[-1],)), ""

    monkeypatch.setattr(moments, "SERVE", {**moments.SERVE, "prompt": serve})
    answer = host.ask("UserPromptSubmit", prompt="make the tests pass")
    assert answer == ({"additionalContext": context} if said else {})
    assert host.deps.sessions.at("claude-code", host.session).is_shown("way:tests") is said


def test_hooks_at_once_keep_their_records_apart(host):
    ready = threading.Barrier(6)
    handled = {}

    def work(number):
        fields = {**BASH, "tool_use_id": f"t{number}", "session_id": f"s{number}"}
        data = raw(host, **fields, tool_response={"stdout": log(400 + number), "stderr": ""})
        ready.wait()
        handled[number] = host.raw("PostToolUse", data)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert host.ledger.records == [] and all(one.data for one in handled.values())
    for number in range(6):
        handled[number].after(True)
        assert len(host.decisions) == number + 1
    assert len({one.session for one in host.decisions}) == 6


# Settings


def test_a_project_may_lower_what_is_kept_in_its_own_folder_alone(place):
    project = place / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".admit.toml").write_text("[outputs]\nmax_kept_chars = 2000\nmode = 'off'\n")
    (place / "elsewhere").mkdir()
    host = Host(place)
    host.deps = build_deps(load(project=False), ledger=host.ledger, key=KEY, clock=host.clock, admit=ADMIT)
    shown = {
        name: len(host.bash(log(), cwd=str(place / name), session_id=name)["stdout"])
        for name in ("project", "elsewhere")
    }
    assert shown["project"] < 2_600 and shown["elsewhere"] > 4_000


def test_folders_with_other_settings_of_the_door_share_the_judge(place, monkeypatch):
    judge, loaded = ScriptedJudge({}, default=2.0), []

    def load_judge(profile, **_):
        loaded.append(profile.name)
        return BoundedJudge(judge)

    monkeypatch.setattr("admit.judges.pool.load_judge", load_judge)
    host = Host(place, judge__profile="jev", outputs__filter__enabled=True, outputs__filter__scope="all")
    narrow = {"outputs.max_kept_chars": 3_000, "judge.profiles.jev.outputs.max_candidates": 5}
    lower = Config(MappingProxyType({**host.config.values, **narrow}))
    host.deps = build_deps(
        host.config,
        ledger=host.ledger,
        key=KEY,
        clock=host.clock,
        settings=lambda cwd: lower if cwd == "/lower" else host.config,
        admit=ADMIT,
    )
    host.prompt("why does the parser test fail")
    for cwd, seed in (("/repo", 1), ("/lower", 2), ("/repo", 3)):
        assert host.bash(log(300 + seed), cwd=cwd) is not None
    asked = [len(ask.questions) for ask in judge.asks]
    assert loaded == ["jev"] and len(asked) == 3 and asked[1] == 5 < min(asked[0], asked[2])
    assert [row.profile for row in host.decisions] == ["jev"] * 3
    assert {row.profile_hash[:7] for row in host.decisions} == {"sha256:"}


def test_a_pause_is_seen_within_a_second_and_so_is_its_end(place):
    from admit.config.pause import pause, resume

    host = Host(place)
    host.deps = build_deps(load(project=False), ledger=host.ledger, key=KEY, clock=host.clock, admit=ADMIT)
    assert host.bash(log(), cwd="") is not None
    pause()
    host.clock.advance(1.0)
    before = len(host.ledger.records)
    assert host.bash(log(299), cwd="") is None and len(host.ledger.records) == before
    resume()
    host.clock.advance(1.0)
    assert host.bash(log(298), cwd="") is not None


def test_within_a_second_the_files_are_not_looked_at_again(place):
    looked = []
    host = Host(place)
    host.deps = build_deps(
        host.config,
        ledger=host.ledger,
        clock=host.clock,
        settings=lambda cwd: looked.append(cwd) or host.config,
        admit=ADMIT,
    )
    for _ in range(3):
        host.prompt("make the parser tests pass", cwd="/repo")
    assert looked == ["/repo"]
    host.clock.advance(1.0)
    host.prompt("make the parser tests pass", cwd="/repo")
    assert looked == ["/repo", "/repo"]


def test_where_a_host_shows_the_result_the_door_keeps_within_its_caps(place):
    host = Host(
        place,
        outputs__max_kept_chars=20_000,
        outputs__filter__max_kept_chars=20_000,
        hosts__replace_max_chars=5_000,
        judge__profiles__local__outputs__timeout_ms=900,
    )
    chosen = hosted(host.config)
    assert (chosen.max_kept_chars, chosen.filter.max_kept_chars, chosen.filter.timeout_ms) == (
        4_000,
        4_000,
        900,
    )


def test_the_way_back_is_short_only_where_every_shell_finds_it(tmp_path, monkeypatch):
    inside, outside = tmp_path / "venv {x} bin", tmp_path / "bin"
    for folder in (inside, outside):
        folder.mkdir()
    program = inside / "admit"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(inside))
    way = recall_way(str(program))
    assert way.format(id="o_1") == f"'{program}' recall o_1"
    (outside / "admit").symlink_to(program)
    monkeypatch.setenv("PATH", f"{outside}:{inside}")
    assert recall_way(str(program)) == "admit recall {id}"
    assert recall_way("") == ""


# Tickets


def test_a_ticket_is_private_taken_once_and_gone_after_an_hour(place):
    ticket = tickets.Ticket("claude-code", "s1", "a1", "make it pass 🚀", "Bash make")
    first, second = tickets.issue(ticket), tickets.issue(ticket)
    folder = place / "state" / "admit" / "tickets"
    assert first != second and folder.stat().st_mode & 0o777 == 0o700
    assert tickets.take(first) == ticket and tickets.take(first) is None
    old = time.time() - 3_700
    os.utime(folder / second, (old, old))
    third = tickets.issue(ticket)
    assert [path.name for path in folder.iterdir()] == [third]


@pytest.mark.parametrize("name", ("", "../ledger.key", "0" * 31, "g" * 32, "0" * 32))
def test_what_is_no_ticket_gives_none(place, name):
    assert tickets.take(name) is None


@pytest.mark.parametrize("content", (b"", b"{", b"[1]", b"\xff", b"null"))
def test_a_damaged_ticket_gives_none(place, content):
    ticket_id = tickets.issue(tickets.Ticket())
    (place / "state" / "admit" / "tickets" / ticket_id).write_bytes(content)
    assert tickets.take(ticket_id) is None


def test_a_ticket_is_never_read_through_a_link(place):
    tickets.issue(tickets.Ticket())
    target = place / "target"
    target.write_text('{"task": "not ours"}')
    (place / "state" / "admit" / "tickets" / ("0" * 32)).symlink_to(target)
    assert tickets.take("0" * 32) is None and target.exists()


def test_the_store_and_the_record_of_this_machine_are_used_where_no_others_are_given(place):
    deps = build_deps(load(project=False), admit=ADMIT)
    payload = {
        "session_id": "s",
        "hook_event_name": "PostToolUse",
        **BASH,
        "tool_response": {"stdout": log()},
    }
    handled = handle("claude-code", "PostToolUse", json.dumps(payload).encode(), deps=deps)
    handled.after(True)
    deps.ledger.flush(2_000)
    (view,) = deps.ledger.query(door="outputs")
    assert (view.decision.host, view.decision.host_event) == ("claude-code", "PostToolUse")
    assert view.output is not None and deps.store.find(view.output.output_id) is not None
    deps.ledger.close()


def test_a_new_memory_ledger_is_taken_as_it_is(place):
    ledger = MemoryLedger(key=KEY)
    deps = build_deps(load(project=False), ledger=ledger, admit=ADMIT)
    assert deps.ledger.keyed(("a",)) == ledger.keyed(("a",))
