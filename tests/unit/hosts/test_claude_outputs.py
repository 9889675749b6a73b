"""What stands in the place of a tool's output in Claude Code, and when nothing does."""

from __future__ import annotations

import json
import os

import pytest

from admit.hosts import routes
from admit.hosts.claude_code.adapter import ClaudeCode
from admit.hosts.handle import handle
from admit.text.cut import utf16_length

from .claude import ADMIT, Host, log, result, typed


def blocks(*texts):
    return [{"type": "text", "text": text} for text in texts]


def results(host):
    """The folder in which the host keeps whole outputs of this session."""
    folder = host.folder / host.session / "tool-results"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stored(host):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(host.folder) for name in names)


def test_a_large_output_is_replaced_in_the_form_of_the_host_and_names_a_way_back_that_works_anywhere(host):
    shown = host.bash(log())
    assert list(shown) == ["stdout", "stderr", "interrupted", "isImage"]
    head = shown["stdout"].split("\n")[0]
    assert "exit code 0" in head and f"Whole output: {ADMIT} recall o_" in head
    assert "unknown type name 'token_t'" in shown["stdout"] and len(shown["stdout"]) < 7_000


def test_what_the_host_would_have_shown_is_recorded(host):
    host.bash(log())
    host.tool("WebFetch", {"result": log(299)}, use_id="t2")
    assert [one.size_host for one in host.decisions] == [len(log()), None]


def test_keys_that_are_not_known_are_carried_through(host):
    response = {"stdout": log(), "interrupted": False, "structured": {"a": [1, None]}}
    shown = host.tool("Bash", response, command="make")
    assert shown == {**response, "stdout": shown["stdout"], "stderr": ""}


@pytest.mark.parametrize("chars", (100, 1_999, 7_900))
def test_what_is_not_cut_is_not_said_again(host, chars):
    assert host.bash(log()[:chars]) is None


def test_the_whole_that_the_host_keeps_in_a_file_is_what_is_chosen_from(host):
    whole = log(2_000, error="ld: error: undefined symbol: lex_next")
    path = results(host) / "b3k2.txt"
    path.write_text(whole)
    shown = host.tool(
        "Bash",
        {"stdout": whole[:30_000], "stderr": "", "interrupted": False, "persistedOutputPath": str(path)}
        | {"persistedOutputSize": len(whole)},
        command="make",
    )
    assert "undefined symbol: lex_next" in shown["stdout"] and "undefined symbol" not in whole[:30_000]
    assert "The host would have cut it at 2,000 chars." in shown["stdout"]
    assert set(shown) == {"stdout", "stderr", "interrupted"}
    (decision,) = host.decisions
    assert (decision.size_in, decision.size_host) == (len(whole), 2_000)


@pytest.mark.parametrize("kind", ("missing", "link", "folder", "pipe", "relative", "nul", "number", "dots"))
def test_an_output_whose_whole_file_cannot_be_trusted_is_left_to_the_host(host, kind):
    real = results(host) / "real.txt"
    real.write_text(log(error="error: of the file"))
    path = results(host) / "kept.txt"
    if kind == "link":
        path.symlink_to(real)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    odd = {"relative": "real.txt", "nul": f"{real}\0", "number": 7, "dots": f"{real.parent}/../real.txt"}
    response = {"stdout": log(), "stderr": "", "persistedOutputPath": odd.get(kind, str(path))}
    assert host.tool("Bash", response, command="make") is None


PLACES = ("", "{session}", "other/tool-results", "{session}/tool-results/deeper", "{session}/kept")


@pytest.mark.parametrize("place_of_it", PLACES)
def test_a_file_outside_of_the_folder_of_its_own_session_is_not_read(host, place_of_it):
    folder = host.folder / place_of_it.format(session=host.session)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kept.txt").write_text(log(error="error: of the file"))
    response = {"stdout": log(), "stderr": "", "persistedOutputPath": str(folder / "kept.txt")}
    assert host.tool("Bash", response, command="make") is None


@pytest.mark.parametrize(
    "fields",
    ({"session_id": ".."}, {"session_id": ""}, {"transcript_path": ""}, {"session_id": "a/b"}, {}, None),
)
def test_a_folder_that_is_a_link_or_not_known_holds_no_output(host, fields):
    path = results(host) / "kept.txt"
    path.write_text(log(error="error: of the file"))
    if fields == {}:
        (host.folder / host.session).rename(host.folder / "elsewhere")
        (host.folder / host.session).symlink_to(host.folder / "elsewhere")
    response = {"stdout": log(), "stderr": "", "persistedOutputPath": str(path)}
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": response}
    said = host.ask("PostToolUse", **call, **(fields or {}))
    assert ("of the file" in said["updatedToolOutput"]["stdout"]) if fields is None else said == {}


def test_bytes_of_that_file_that_are_no_text_are_stored_as_they_are(host):
    data = log().encode().replace(b"error:", b"error: \xff\xfe")
    path = results(host) / "kept.txt"
    path.write_bytes(data)
    shown = host.tool("Bash", {"stdout": "", "stderr": "", "persistedOutputPath": str(path)}, command="make")
    assert "error: \ufffd\ufffd" in shown["stdout"]
    output_id = shown["stdout"].split(" recall ")[1].split()[0]
    with host.deps.store.open(output_id) as file:
        assert file.read() == data


def test_both_streams_of_a_command_stay_apart(host):
    shown = host.tool(
        "Bash", {"stdout": log(400), "stderr": log(300, error="ld: error: no such symbol")}, command="make"
    )
    assert "token_t" in shown["stdout"] and "no such symbol" in shown["stderr"]
    assert len(shown["stdout"]) + len(shown["stderr"]) <= 9_500


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("make", "exit code 0"),
        ("make 2>&1", "exit code 0"),
        ("cd src && make", "exit code 0"),
        ("make | tail -500", "exit code unknown"),
        ("make; true", "exit code unknown"),
        ("make || true", "exit code unknown"),
    ],
)
def test_an_exit_code_is_only_named_where_it_tells_of_the_whole_line(host, command, code):
    assert code in host.bash(log(), command=command)["stdout"].split("\n")[0]


@pytest.mark.parametrize("field", ("interrupted", "backgroundTaskId", "returnCodeInterpretation"))
def test_an_output_that_is_not_of_an_ended_success_has_no_exit_code(host, field):
    response = {"stdout": log(), "stderr": "", "interrupted": False}
    shown = host.tool("Bash", {**response, field: True if field == "interrupted" else "b7"}, command="make")
    assert "exit code unknown" in shown["stdout"].split("\n")[0]


def test_grep_keeps_its_counters_and_web_fetch_everything_else(host):
    grep = {"mode": "content", "numFiles": 2, "filenames": ["a"], "content": log(), "numLines": 300}
    shown = host.tool("Grep", grep, pattern="token")
    assert {**grep, "content": shown["content"]} == shown and "[admit" in shown["content"]
    web = {"bytes": 3, "code": 200, "result": log(), "url": "https://example.org"}
    shown = host.tool("WebFetch", web, use_id="toolu_2", prompt="what changed")
    assert {**web, "result": shown["result"]} == shown and "[admit" in shown["result"]


def test_each_text_block_of_an_mcp_result_is_looked_at_alone(host):
    image = {"type": "image", "source": {"type": "base64", "data": "iVBO"}}
    before = [*blocks("first"), image, *blocks(log(), log(260, error="fatal: bad object"))]
    after = host.tool("mcp__tracker__search", before, query="x")
    assert after[:2] == before[:2] and len(after) == 4
    assert "token_t" in after[2]["text"] and "bad object" in after[3]["text"]
    assert sum(len(block["text"]) for block in after[2:]) <= 9_500


def test_an_mcp_result_with_structured_content_is_answered_with_one_block_of_text(host):
    after = host.tool("mcp__tracker__search", json.dumps({"items": log().splitlines()}), query="x")
    assert [set(block) for block in after] == [{"type", "text"}] and "token_t" in after[0]["text"]


def test_an_mcp_error_in_an_object_stays_an_error(host):
    before = {"content": blocks(log()), "isError": True}
    after = host.tool("mcp__tracker__search", before, query="x")
    assert after["isError"] is True and len(after["content"][0]["text"]) < 7_000


UNTOUCHED = {
    "image": ("Bash", {"stdout": log(), "stderr": "", "isImage": True}),
    "read": ("Read", {"type": "text", "file": {"filePath": "a", "content": log(), "numLines": 300}}),
    "glob": ("Glob", {"filenames": [log()], "numFiles": 1}),
    "matching files": ("Grep", {"mode": "files_with_matches", "filenames": [log()], "content": ""}),
    "another tool": ("TodoWrite", {"oldTodos": [log()]}),
}
UNKNOWN = {
    "text of a command": ("Bash", log()),
    "a number as output": ("Bash", {"stdout": 7, "stderr": log()}),
    "no output": ("Bash", {"stderr": log()}),
    "a list as text": ("Grep", {"mode": "content", "content": [log()]}),
    "plain text of a server": ("mcp__a__b", log()),
    "a block without a type": ("mcp__a__b", [{"text": log()}]),
    "a block that is text": ("mcp__a__b", [log()]),
    "no result": ("WebFetch", {"text": log()}),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_an_output_that_is_left_alone_on_purpose_is_not_odd(host, name):
    tool, response = UNTOUCHED[name]
    assert host.tool(tool, response) is None
    assert host.events("host.hook_odd") == [] and host.decisions == []


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_output_of_an_unknown_form_is_left_alone_and_counted(host, name):
    tool, response = UNKNOWN[name]
    assert host.tool(tool, response) is None
    assert host.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "shape_unknown"}]


def test_read_is_looked_at_where_it_is_wanted_and_then_only_repeats_are_replaced(place):
    host = Host(place, **{"hosts__claude-code__tools": ("Read",)})
    response = {"type": "text", "file": {"filePath": "/repo/a.c", "content": log(), "startLine": 1}}
    assert host.tool("Read", response, file_path="/repo/a.c") is None
    again = host.tool("Read", response, file_path="/repo/a.c")
    assert "unchanged, the same as o_" in again["file"]["content"] and again["file"]["startLine"] == 1


def test_emoji_count_twice_as_the_host_counts_them(place):
    host = Host(place, outputs__max_kept_chars=20_000)
    text = "\n".join(f"{n} " + "🚀" * 30 for n in range(900))
    shown = host.bash(text)["stdout"]
    assert 4_000 < utf16_length(shown) <= 9_500


def test_two_streams_that_count_double_and_do_not_fit_together_are_left_alone(place):
    host = Host(place, outputs__max_kept_chars=20_000)
    text = "\n".join(f"{n} " + "🚀" * 30 for n in range(900))
    assert host.tool("Bash", {"stdout": text, "stderr": text + "\nend"}, command="make") is None
    assert [one.delivered for one in host.decisions] == ["no", "no"]
    assert host.events("admit.not_delivered") == [{"cause": "size"}]


def test_a_larger_budget_is_lowered_to_what_the_host_takes(place):
    host = Host(place, outputs__max_kept_chars=20_000)
    assert 8_000 < len(host.bash(log(3_000))["stdout"]) <= 9_500


@pytest.mark.parametrize("count", (2, 5, 9, 30))
def test_many_large_blocks_share_the_cap_or_stay_as_they_are(host, count):
    before = blocks(*(log(260, error=f"error: number {n}") for n in range(count)))
    after = host.tool("mcp__a__b", before)
    if count == 30:
        assert after is None
    else:
        changed = [block["text"] for block in after if block not in before]
        assert changed and sum(map(utf16_length, changed)) <= 9_500


def test_what_does_not_fit_the_reply_is_left_out_whole(host):
    picture = {"type": "image", "source": {"data": "A" * 70_000}}
    assert host.tool("mcp__a__b", [picture, *blocks(log())]) is None
    assert host.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "too_large"}]
    assert [one.delivered for one in host.decisions] == ["no"]
    assert host.events("admit.not_delivered") == [{"cause": "too_large"}]


def test_what_was_asked_for_again_is_not_cut_again(host):
    output_id = host.bash(log())["stdout"].split(" recall ")[1].split()[0]
    answer = host.deps.projects.at("/repo").gate.recall(output_id, whole=True).answer().decode()
    assert len(answer) > 10_000
    assert host.bash(answer, command="cat notes.txt") is None
    assert host.bash(log(), command=f"{ADMIT} recall {output_id} --whole --raw") is None


@pytest.mark.parametrize(
    ("tool", "given", "kind"),
    [
        ("Read", {"file_path": "@path"}, "whole"),
        ("Read", {"file_path": "@path", "offset": 100, "limit": 50}, "range"),
        ("Bash", {"command": "cat @path"}, "whole"),
        ("Bash", {"command": "grep token @path"}, "range"),
    ],
)
def test_reading_the_stored_file_is_a_recall_and_is_not_cut_again(host, tool, given, kind):
    output_id = host.bash(log())["stdout"].split(" recall ")[1].split()[0]
    path = host.deps.store.find(output_id).path
    given = {name: path if value == "@path" else value for name, value in given.items()}
    given = {k: v.replace("@path", path) if isinstance(v, str) else v for k, v in given.items()}
    response = (
        {"stdout": log(), "stderr": ""} if tool == "Bash" else {"type": "text", "file": {"content": log()}}
    )
    assert host.tool(tool, response, **given) is None
    (recall,) = [one for rec in host.ledger.records for one in rec.recalls]
    assert (recall.output_id, recall.class_, recall.via, recall.chars) == (
        output_id,
        kind,
        "path",
        len(log()),
    )


def test_a_repeat_is_one_line_in_the_same_context_and_no_other(host):
    assert "[admit" in host.bash(log())["stdout"]
    assert "unchanged, the same as o_" in host.bash(log())["stdout"]
    other = host.bash(log(), agent_id="a1", agent_type="Explore")["stdout"]
    assert "unchanged" not in other and "token_t" in other


@pytest.mark.parametrize(
    ("event", "fields", "forgets"),
    [
        ("PreCompact", {"trigger": "auto"}, True),
        ("PostCompact", {"trigger": "manual"}, True),
        ("SessionStart", {"source": "compact"}, True),
        ("SessionStart", {"source": "clear"}, True),
        ("SessionStart", {"source": "resume"}, False),
        ("SessionStart", {"source": "fork"}, False),
    ],
)
def test_after_a_compaction_nothing_counts_as_shown(host, event, fields, forgets):
    host.bash(log())
    host.ask(event, **fields)
    assert ("unchanged" not in host.bash(log())["stdout"]) == forgets
    assert host.events("outputs.forgot") == ([{"cause": "compaction", "entries": 1}] if forgets else [])


def test_nothing_is_recorded_before_the_answer_has_left(host):
    handled = host.hook(
        "PostToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_response={"stdout": log()}
    )
    assert handled.data and host.ledger.records == []
    handled.after(True)
    (decision,) = host.decisions
    assert (decision.door, decision.host, decision.host_event) == ("outputs", "claude-code", "PostToolUse")
    assert decision.session.startswith("hmac:") and decision.delivered == "unknown"
    assert [row.session for rec in host.ledger.records for row in rec.outputs] == [decision.session]


def test_the_record_names_the_subagent_and_the_session_of_the_host(host):
    host.bash(log())
    host.bash(log(), agent_id="a1", agent_type="Explore")
    first, second = host.decisions
    assert (first.agent, second.agent) == (None, "a1") and first.session == second.session


def test_an_answer_that_the_client_did_not_write_is_recorded_as_not_delivered(host):
    fields = {"tool_input": {"command": "make"}, "tool_response": {"stdout": log()}}
    assert host.ask("PostToolUse", written=False, tool_name="Bash", **fields)
    assert [one.delivered for one in host.decisions] == ["no"]
    assert host.events("admit.not_delivered") == [{"cause": "not_taken"}]


@pytest.mark.parametrize("why", ("not taken", "late", "size", "identity", "fault"))
def test_what_did_not_reach_the_host_is_no_repeat_when_it_comes_again(place, monkeypatch, why):
    host = Host(place)
    fields = {"tool_name": "Bash", "tool_use_id": "t0", "tool_input": {"command": "make"}}
    fields["tool_response"] = {"stdout": log(), "stderr": ""}
    with monkeypatch.context() as patch:
        if why == "late":
            patch.setattr(ClaudeCode, "write", lambda *given: host.clock.advance(60) or b"late")
        elif why == "size":
            patch.setattr("admit.hosts.outputs.utf16_length", lambda text: 1 << 20)
        elif why == "identity":
            patch.setattr(ClaudeCode, "write", lambda *given: b"")
        elif why == "fault":
            patch.setattr(ClaudeCode, "write", lambda *given: 1 // 0)
        handled = host.hook("PostToolUse", **fields)
    assert bool(handled.data) == (why == "not taken")
    handled.after(why != "not taken")
    assert [one.delivered for one in host.decisions] == ["no"]
    assert "unknown type name 'token_t'" in host.bash(log())["stdout"]
    assert "unchanged, the same as" in host.bash(log())["stdout"]


def test_a_repeat_that_was_not_taken_leaves_the_first_in_view(host):
    host.bash(log())
    fields = {"tool_input": {"command": "make"}, "tool_response": {"stdout": log()}}
    assert "unchanged" in str(host.ask("PostToolUse", written=False, tool_name="Bash", **fields))
    assert "unchanged, the same as" in host.bash(log())["stdout"]


OFF = {
    "the host": {"hosts__claude-code__enabled": False},
    "the door there": {"hosts__claude-code__doors": ("guidance",)},
    "the door": {"outputs__mode": "off"},
    "the tool": {"hosts__claude-code__tools": ("Grep", "mcp__*")},
    "the tool at the door": {"outputs__skip_tools": ("Ba*",)},
}


@pytest.mark.parametrize("name", OFF)
def test_what_is_switched_off_says_nothing(place, name):
    assert Host(place, **OFF[name]).bash(log()) is None


def test_in_shadow_mode_all_is_recorded_and_nothing_said(place):
    host = Host(place, outputs__mode="shadow")
    assert host.bash(log()) is None
    assert [one.mode for one in host.decisions] == ["shadow"] and host.events("admit.not_delivered") == []


def test_without_a_way_back_nothing_is_cut(host):
    host.deps = host.deps._replace(recall_way="")
    assert host.bash(log()) is None


def test_without_a_store_nothing_is_cut(host):
    (host.folder / "state").write_text("no folder")
    assert host.bash(log()) is None
    assert host.events("host.hook_odd") == []


@pytest.mark.parametrize(
    ("able", "bash", "mcp"),
    [("no", False, False), ("mcp_only", False, True), ("unproven", True, True), ("yes", True, True)],
)
def test_a_route_that_failed_in_this_version_is_not_used_any_more(host, able, bash, mcp):
    routes.keep("claude-code", "2.1.332", {"replace_ok": able})
    host.writes(typed("make the parser tests pass"))
    assert (host.bash(log()) is not None) == bash
    assert (host.tool("mcp__a__b", blocks(log(299))) is not None) == mcp


def test_what_was_proven_of_another_version_says_nothing_of_this_one(host):
    routes.keep("claude-code", "2.1.62", {"replace_ok": "no"})
    host.writes(typed("make the parser tests pass"))
    assert host.bash(log()) is not None


class Ticking:
    """A clock on which every look takes a while, in seconds."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def monotonic(self):
        self.now += self.seconds
        return self.now


def test_a_late_door_says_nothing_and_that_is_counted(host):
    host.deps = host.deps._replace(clock=Ticking(4.0))
    assert host.bash(log()) is not None
    host.deps = host.deps._replace(clock=Ticking(5.0))
    assert host.bash(log(299)) is None
    assert host.events("host.hook_odd") == [{"event": "PostToolUse", "cause": "deadline"}]
    assert [one.delivered for one in host.decisions] == ["unknown", "no"]


def test_the_client_gets_its_answer_before_it_gives_up(host):
    host.deps = host.deps._replace(clock=Ticking(0.5))
    given = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": log()}}
    raw = json.dumps(host.payload("PostToolUse", **given)).encode()
    assert handle("claude-code", "PostToolUse", raw, deps=host.deps, budget_ms=800).data
    assert not handle("claude-code", "PostToolUse", raw, deps=host.deps, budget_ms=700).data


def test_the_task_chooses_what_is_kept(host):
    quiet = "\n".join(f"checked file {n:04} of module {n % 7}: fine" for n in range(600))
    quiet = quiet.replace("0311 of module 3: fine", "0311 uses the legacy tokenizer here")
    host.prompt("where is the legacy tokenizer still used in the code?")
    assert "0311 uses the legacy tokenizer" in host.bash(quiet)["stdout"]


# What failed


def test_a_long_failure_is_stored_and_its_copy_named_once(host):
    error = "Exit code 2\n" + log(230)
    fields = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}, "error": error}
    line = host.ask("PostToolUseFailure", **fields)["additionalContext"]
    assert line.count("\n") == 0 and f"word for word: {ADMIT} recall o_" in line
    with host.deps.store.open(line.rsplit(" ", 1)[1]) as file:
        assert file.read().decode() == error
    assert host.ask("PostToolUseFailure", **fields) == {}
    host.ask("PreCompact", trigger="auto")
    assert host.ask("PostToolUseFailure", **fields)["additionalContext"] == line
    rows = [row for rec in host.ledger.records for row in rec.outputs]
    assert {row.exit_code for row in rows} == {2}


def test_a_failure_that_the_host_cut_says_so(host):
    error = "Exit code 2\n" + log(120) + "\n\n... [20500 characters truncated] ...\n\n" + log(110)
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": error}
    line = host.ask("PostToolUseFailure", **fields)["additionalContext"]
    assert "all but the middle, which the host left out" in line


def test_a_notice_that_was_not_taken_is_given_again(host):
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": log(230)}
    assert host.ask("PostToolUseFailure", written=False, **fields)
    assert host.ask("PostToolUseFailure", **fields)
    assert host.ask("PostToolUseFailure", **fields) == {}


def test_of_two_hooks_at_once_one_gives_the_notice(host):
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": log(230)}
    first = host.hook("PostToolUseFailure", **fields)
    second = host.hook("PostToolUseFailure", **fields)
    assert first.data and not second.data
    second.after(True)
    first.after(True)
    assert host.ask("PostToolUseFailure", **fields) == {}


def test_a_failure_between_floor_and_gate_is_stored_without_a_word(host):
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": log(100)}
    assert host.ask("PostToolUseFailure", **fields) == {}
    assert len([row for rec in host.ledger.records for row in rec.outputs]) == 1


@pytest.mark.parametrize("why", ("no store", "no way to say it"))
def test_a_failure_that_cannot_be_stored_or_named_says_nothing(host, why):
    if why == "no store":
        (host.folder / "state").write_text("no folder")
    else:
        routes.keep("claude-code", "2.1.332", {"inject": "no"})
        host.writes(typed("make the parser tests pass"))
        host.bash(log(100))
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": log(230)}
    assert host.ask("PostToolUseFailure", **fields) == {}
    assert host.events("host.hook_odd") == []


def test_the_failure_of_a_wrapped_command_has_been_here_before(host):
    render = host.bash(log())["stdout"]
    before = len(stored(host))
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    for error in (f"Exit code 2\n{render}", render):
        assert host.ask("PostToolUseFailure", error=error, **fields) == {}
    assert len(stored(host)) == before


def test_the_proof_of_a_notice_stands_in_rendered_text(host):
    host.transcript.write_text("")
    fields = {"tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "make"}}
    line = host.ask("PostToolUseFailure", error=log(230), **fields)["additionalContext"]
    own = {"type": "hook_additional_context", "toolUseID": "t9", "content": [line]}
    host.writes({"type": "attachment", "uuid": "h1", "attachment": own, "rendered": [{"content": line}]})
    host.ask("Stop", stop_hook_active=False)
    assert host.events("admit.delivered") == [{"bytes": len(line), "channel": "context", "proof": "h1"}]


def test_the_proof_of_a_replacement_stands_in_the_result_of_its_own_call(host):
    host.transcript.write_text("")
    shown = host.bash(log(), use_id="toolu_7")["stdout"]
    heard = {"type": "hook_success", "toolUseID": "toolu_7", "stdout": shown}
    host.writes({"type": "attachment", "uuid": "h1", "attachment": heard}, result(shown, "toolu_8", "r8"))
    host.ask("Stop", stop_hook_active=False)
    assert host.events("admit.delivered") == []

    shown = host.bash(log(299), use_id="toolu_9")["stdout"]
    host.writes(result(shown, "toolu_9", "r9"))
    host.ask("Stop", stop_hook_active=False)
    assert host.events("admit.delivered") == [{"bytes": len(shown), "channel": "replace", "proof": "r9"}]
    (event,) = [e for rec in host.ledger.records for e in rec.events if e.type == "admit.delivered"]
    assert event.decision_id == host.decisions[-1].decision_id
    host.ask("Stop", stop_hook_active=False)
    assert len(host.events("admit.delivered")) == 1
