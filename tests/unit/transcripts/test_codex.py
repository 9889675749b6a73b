"""Codex's transcripts: every shape of call and output, and one of each copy."""

from __future__ import annotations

import json

import pytest

from admit.transcripts import read_sessions
from admit.transcripts.find import find
from admit.transcripts.model import Session

from .recorded import CWD, PASSED, Codex, build_log

WHOLE = build_log(2, 1_200)
TEXT = [{"type": "input_text", "text": "a"}]


@pytest.fixture
def home(tmp_path):
    return tmp_path / "sessions"


def session(home, file: Codex) -> Session:
    file.write(home)
    (only,) = read_sessions(find([str(home.parent)], 14))
    return only


def output(home, value, *, tool: str = "exec_command", event=None):
    file = Codex()
    file.user("Count the lines of the file f")
    call_id = file.call("wc f", tool=tool)
    file.item("function_call_output", call_id=call_id, output=value)
    if event is not None:
        file.event(
            event.pop("kind"), **{name: call_id if one == "ID" else one for name, one in event.items()}
        )
    return session(home, file).uses[0]


def test_a_call_is_joined_to_its_output(home):
    file = Codex()
    file.user("Count the lines of the file f")
    file.run("wc f", "7 f\n")
    read = session(home, file)
    (use,) = read.uses
    assert (use.tool, use.kind, use.command, use.exit_code, use.failed) == (
        "exec_command",
        "command",
        "wc f",
        0,
        False,
    )
    assert use.text == "7 f\n" and use.shown is not None and use.shown.startswith("Chunk ID")
    assert use.task.text == "Count the lines of the file f"
    assert (read.host, read.id, read.cwd, read.version) == ("codex", file.session, CWD, "0.171.0")


@pytest.mark.parametrize(
    ("value", "text", "code"),
    [
        ("Process exited with code 2\nOutput:\nboom\n", "boom\n", 2),
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nboom", "boom", 1),
        ("Exit code: 1\nWall time: 0.2 seconds\nTotal output lines: 3\nOutput:\n\nboom", "\nboom", 1),
        (json.dumps({"output": "boom", "metadata": {"exit_code": 3, "duration_seconds": 0.1}}), "boom", 3),
        (json.dumps({"output": "boom"}), json.dumps({"output": "boom"}), None),
        ("{not json", "{not json", None),
        ("plain", "plain", None),
        ("Output:\nof a program", "Output:\nof a program", None),
        ({"content": "Exit code: 1\nOutput:\nx", "success": False}, "x", 1),
        ([{"type": "input_text", "text": "Wall time: 1 seconds\nOutput:\n"}, *TEXT], "\na", None),
        ([*TEXT, {"type": "input_image", "image_url": "data:image/png;base64,iVBO"}, 5], "a", None),
        (None, "", None),
    ],
)
def test_the_hosts_own_opening_lines_are_not_output(value, text, code, home):
    use = output(home, value)
    assert (use.text, use.exit_code) == (text, code) and "iVBO" not in repr(use)


def test_a_failed_call_says_so(home):
    assert output(home, {"content": "no", "success": False}).failed
    assert output(home, "Process exited with code 1\nOutput:\nx").failed


def cut(unit: str = "chars") -> str:
    head = "Process exited with code 0\nOriginal token count: 21000\nOutput:\nTotal output lines: 1200\n\n"
    return f"{head}{WHOLE[:4_000]}…76000 {unit} truncated…{WHOLE[-4_000:]}"


@pytest.mark.parametrize("unit", ["chars", "tokens"])
def test_a_cut_in_the_middle_is_seen_and_its_size_is_about_four_bytes_a_token(unit, home):
    use = output(home, cut(unit))
    assert (use.cut_by_host, use.complete, use.original_chars) == ("middle", False, 84_000)
    assert use.text.startswith("Total output lines") and "truncated…" in use.text


def test_without_a_token_count_the_cut_says_how_much_is_gone(home):
    use = output(home, "Output starts\n…500 chars truncated…\nends")
    assert use.original_chars == 500 + len("Output starts\n\nends")


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "exec_command_end", "call_id": "ID", "aggregated_output": WHOLE, "exit_code": 0},
        {
            "kind": "item_completed",
            "item": {"type": "CommandExecution", "id": "call_2", "aggregated_output": WHOLE},
        },
    ],
)
def test_the_copy_beside_a_cut_result_is_its_whole(event, home):
    use = output(home, cut(), event=event)
    assert (use.text, use.complete, use.original_chars) == (WHOLE, True, len(WHOLE))


def test_a_copy_that_was_cut_too_is_the_fullest_and_not_the_whole(home):
    copied = WHOLE[:40_000] + "\n... command output truncated for persistence ...\n"
    event = {"kind": "exec_command_end", "call_id": "ID", "aggregated_output": copied}
    use = output(home, cut(), event=event)
    assert (use.text, use.complete, use.original_chars) == (copied, False, 84_000)


def test_an_exit_code_that_the_text_does_not_state_comes_from_the_copy(home):
    event = {"kind": "exec_command_end", "call_id": "ID", "aggregated_output": "x", "exit_code": 7}
    assert output(home, "plain", event=event).exit_code == 7


@pytest.mark.parametrize(
    ("item", "tool", "kind", "command"),
    [
        (
            {"name": "shell", "arguments": '{"command": ["bash", "-lc", "make test"]}'},
            "shell",
            "command",
            "make test",
        ),
        ({"name": "shell", "arguments": '{"command": ["ls", "a b"]}'}, "shell", "command", "ls 'a b'"),
        ({"name": "shell", "arguments": '{"command": [1]}'}, "shell", "command", ""),
        ({"name": "exec_command", "arguments": "{broken"}, "exec_command", "command", ""),
        (
            {"name": "search", "namespace": "mcp__git", "arguments": '{"q": "x"}'},
            "mcp__git__search",
            "mcp",
            "",
        ),
        ({"name": "git__search", "arguments": {}}, "git__search", "mcp", ""),
        ({"name": "update_plan", "arguments": None}, "update_plan", "other", ""),
    ],
)
def test_calls_of_every_shape(item, tool, kind, command, home):
    file = Codex()
    file.item("function_call", call_id="c1", **item)
    (use,) = session(home, file).uses
    assert (use.tool, use.kind, use.command, use.shown) == (tool, kind, command, None)


def test_custom_and_local_calls(home):
    file = Codex()
    file.item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c1")
    file.item("custom_tool_call_output", call_id="c1", output="Done")
    action = {"type": "exec", "command": ["bash", "-lc", "ls"]}
    file.item("local_shell_call", call_id="c2", action=action)
    patch, shell = session(home, file).uses
    assert (patch.kind, patch.input, patch.shown) == ("edit", {"input": "*** Begin Patch"}, "Done")
    assert (shell.tool, shell.command) == ("local_shell", "ls")


def test_calls_up_to_the_next_result_are_one_answer(home):
    file = Codex()
    first, second = file.call("one", call_id="c1"), file.call("two", call_id="c2")
    file.item("function_call_output", call_id=second, output="2")
    file.item("function_call_output", call_id=first, output="1")
    file.call("three", call_id="c3")
    read = session(home, file)
    assert [use.answer for use in read.uses] == ["1", "1", "2"] and read.answers == 2


def test_an_output_before_its_call_is_joined_and_one_without_a_call_is_counted(home):
    file = Codex()
    file.item("function_call_output", call_id="c1", output="early")
    file.item("function_call_output", call_id="lost", output="whose?")
    file.call("late", call_id="c1")
    read = session(home, file)
    assert [use.shown for use in read.uses] == ["early"] and read.odd == {"no call": 1}


@pytest.mark.parametrize(
    "placed",
    [
        {PASSED: {"content_item_kinds": ["environments.environment_context", "user.text"]}},
        {"content_item_kinds": ["environments.environment_context", "user.text"]},
    ],
)
def test_requests_are_those_that_a_person_typed(placed, home):
    file = Codex()
    file.item("message", role="user", content=[{"type": "input_text", "text": "<environment_context>"}])
    file.item(
        "message", role="user", content=[{"type": "input_text", "text": "# AGENTS.md instructions for /x"}]
    )
    file.item("message", role="developer", content=[{"type": "input_text", "text": "from a hook"}])
    two = [{"type": "input_text", "text": "<context>"}, {"type": "input_text", "text": "Fix the retry limit"}]
    file.item("message", role="user", content=two, **placed)
    file.event("user_message", message="Fix the retry limit")
    read = session(home, file)
    human = [turn.text for turn in read.turns if not turn.machine]
    assert human == ["Fix the retry limit"]
    assert [said.text for said in read.said] == ["from a hook", "<context>"]


def test_where_only_copies_hold_the_requests_they_are_taken(home):
    file = Codex()
    file.event("user_message", message="Fix the retry limit")
    file.run("ls", "f")
    file.event("user_message", message="Then add a test for it")
    file.run("ls", "f")
    read = session(home, file)
    assert [use.task.text for use in read.uses] == ["Fix the retry limit", "Then add a test for it"]


def test_a_copy_before_its_message_counts_once(home):
    file = Codex()
    for text in ("Fix the retry limit", "Then add a test for it"):
        file.event("user_message", message=text)
        file.user(text)
    read = session(home, file)
    assert [turn.text for turn in read.turns] == ["Fix the retry limit", "Then add a test for it"]


def test_very_old_lines_have_no_envelope(home):
    file = Codex()
    file.records = [
        {"id": "0199", "timestamp": "2025-06-01T10:00:00.000Z", "instructions": None},
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Count all the lines"}],
        },
        {"type": "function_call", "name": "shell", "arguments": '{"command": ["wc", "f"]}', "call_id": "c1"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output": "7 f", "metadata": {"exit_code": 0}}',
        },
        {"record_type": "state"},
    ]
    (use,) = session(home, file).uses
    assert (use.command, use.text, use.exit_code, use.task.text) == ("wc f", "7 f", 0, "Count all the lines")


def test_what_is_not_known_is_counted_and_state_is_not(home):
    file = Codex()
    file.record("hologram", a=1)
    file.item("telepathy")
    file.item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], content=None)
    for kind in ("turn_context", "world_state", "token_usage_record"):
        file.record(kind, model="x")
    file.event("token_count", info=None)
    file.records.append({"type": "response_item", "payload": None})
    file.records.append({"type": "event_msg", "payload": {"type": "item_completed", "item": None}})
    read = session(home, file)
    assert read.odd == {"payload:telepathy": 1, "type:hologram": 1, "type:response_item": 1}


def test_the_places_of_compactions_are_kept(home):
    file = Codex()
    file.run("ls", "f")
    file.record("compacted", message="what was done", replacement_history=[])
    read = session(home, file)
    assert read.compactions == ((4, ""),) and read.said[-1].text == "what was done"


def test_a_call_that_another_file_copied_counts_in_the_first(home):
    file = Codex()
    file.run("wc f", "7 f")
    copy = Codex("0199a213-81c0-7800-8aa1-ffffffffffff")
    copy.records += file.records[1:]
    copy.run("wc g", "9 g")
    file.write(home)
    copy.write(home)
    one, two = read_sessions(find([str(home.parent)], 14))
    assert [use.repeated for use in (*one.uses, *two.uses)] == [False, True, False]


def test_a_compressed_file_is_read_like_a_plain_one(home):
    zstandard = pytest.importorskip("zstandard")
    file = Codex()
    file.run("wc f", WHOLE)
    path = file.write(home)
    plain = next(read_sessions(find([str(home.parent)], 14)))
    path.with_suffix(".jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    packed = next(read_sessions(find([str(home.parent)], 14)))
    assert packed._replace(path=plain.path) == plain


def test_a_damaged_compressed_file_gives_what_stands_before_the_damage(home):
    zstandard = pytest.importorskip("zstandard")
    file = Codex()
    file.run("wc f", WHOLE)
    path = file.write(home)
    packed = zstandard.ZstdCompressor().compress(path.read_bytes())
    path.with_suffix(".jsonl.zst").write_bytes(packed[:20] + b"\xff" * 20 + packed[40:])
    path.unlink()
    (read,) = read_sessions(find([str(home.parent)], 14))
    assert read.odd["unreadable"] == 1
