"""Claude Code's transcripts: every shape and trap of the format, read into one session."""

from __future__ import annotations

import json

import pytest

from admit.transcripts import read_sessions
from admit.transcripts.find import find
from admit.transcripts.model import Session, Usage

from .recorded import CWD, Claude

PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 50},
}


@pytest.fixture
def projects(tmp_path):
    return tmp_path / "projects"


def sessions(projects) -> list[Session]:
    return list(read_sessions(find([str(projects.parent)], 14)))


def session(projects, *files: Claude) -> Session:
    for file in files:
        file.write(projects)
    (only,) = sessions(projects)
    return only


def one_call(file: Claude) -> Claude:
    file.user("Count the lines of the file f")
    file.run("wc f", "7 f")
    return file


def test_a_call_is_joined_to_its_result(projects):
    read = session(projects, one_call(Claude()))
    (use,) = read.uses
    assert (use.tool, use.kind, use.command, use.shown, use.text) == ("Bash", "command", "wc f", "7 f", "7 f")
    assert (use.order, use.result_order, use.agent, use.failed, use.cut_by_host) == (2, 3, "", False, "")
    assert use.task.text == "Count the lines of the file f" and use.exit_code is None
    assert (read.host, read.id, read.cwd, read.version) == ("claude-code", "s1", CWD, "2.1.332")


def test_results_in_any_order_are_joined_by_id(projects):
    file = Claude()
    first, second = (file.call("Bash", {"command": name}, answer="m1") for name in ("one", "two"))
    file.result(second, "of two")
    third = file.call("Bash", {"command": "three"}, answer="m1")
    file.result(third, "of three")
    file.result(first, "of one")
    read = session(projects, file)
    assert [(use.command, use.shown) for use in read.uses] == [
        ("one", "of one"),
        ("two", "of two"),
        ("three", "of three"),
    ]
    assert {use.answer for use in read.uses} == {"m1"}


def test_a_result_before_its_call_is_joined_all_the_same(projects):
    file = Claude()
    file.result("toolu_x", "early")
    file.call("Bash", {"command": "late"}, use_id="toolu_x")
    assert [use.shown for use in session(projects, file).uses] == ["early"]


def test_a_call_without_a_result_has_no_size(projects):
    file = Claude()
    file.call("Bash", {"command": "sleep 100"})
    (use,) = session(projects, file).uses
    assert use.shown is None and use.result_order is None and use.original_chars is None


def test_an_empty_result_is_a_result(projects):
    file = Claude()
    for content in ("", None, []):
        file.result(file.call("Bash", {"command": "true"}), content)
    assert [use.shown for use in session(projects, file).uses] == ["", "", ""]


def test_a_result_without_a_call_is_counted(projects):
    file = one_call(Claude())
    file.result("toolu_lost", "whose?")
    read = session(projects, file)
    assert len(read.uses) == 1 and read.odd == {"no call": 1}


def test_the_lines_of_one_answer_are_one_answer_with_its_last_usage(projects):
    file = Claude()
    file.says(
        {"type": "text", "text": "Let me look."}, answer="m1", usage={"input_tokens": 3, "output_tokens": 1}
    )
    file.call("Bash", {"command": "ls"}, answer="m1")
    file.records[-1]["message"]["usage"] = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 100,
        "output_tokens": 9,
    }
    file.says({"type": "text", "text": "Done."}, answer="m2", usage={"input_tokens": 4, "output_tokens": "x"})
    read = session(projects, file)
    assert read.answers == 2 and read.usage == Usage(7, 5, 100, 9)


def test_pictures_are_counted_and_their_data_is_nowhere(projects):
    file = Claude()
    file.user([{"type": "text", "text": "What is wrong with this page?"}, PICTURE])
    copy = {"type": "image", "file": {"base64": "iVBORw0KGgo" * 50, "type": "image/png", "originalSize": 9}}
    file.result(file.call("Read", {"file_path": "/a.png"}), [PICTURE], copy)
    file.result(file.call("mcp__web__shot", {}), [{"type": "text", "text": "taken"}, PICTURE], [PICTURE])
    read = session(projects, file)
    assert [(use.shown, use.images) for use in read.uses] == [("", 1), ("taken", 1)]
    assert "iVBORw0KGgo" not in repr(read)


def test_blocks_of_text_are_joined_and_references_left_out(projects):
    file = Claude()
    blocks = [{"type": "text", "text": "one"}, {"type": "tool_reference", "tool_name": "x"}]
    file.result(file.call("mcp__a__b", {"q": 1}), [*blocks, {"type": "text", "text": "two"}])
    (use,) = session(projects, file).uses
    assert (use.kind, use.shown) == ("mcp", "one\ntwo")


def test_what_is_not_known_is_counted_by_name_and_stops_nothing(projects):
    file = one_call(Claude())
    file.record("hologram", payload=[1, {"deep": None}])
    file.record("hologram")
    file.says({"type": "telepathy", "text": "hm"})
    file.user([{"type": "smell", "data": 1}, {"type": "text", "text": "And now count the words too"}])
    file.result(
        file.call("Bash", {"command": "wc"}), [{"type": "tune"}, "bare", {"type": "text", "text": "ok"}]
    )
    read = session(projects, file)
    assert read.odd == {
        "block:smell": 1,
        "block:str": 1,
        "block:telepathy": 1,
        "block:tune": 1,
        "type:hologram": 2,
    }
    assert read.uses[-1].shown == "ok" and read.turns[-1].text == "And now count the words too"


@pytest.mark.parametrize(
    "copy", [None, "Error: no", [], {}, 7, True, {"stdout": None}, {"content": {"a": 1}}]
)
def test_any_copy_beside_a_result_is_no_error(copy, projects):
    file = Claude()
    file.result(file.call("Bash", {"command": "x"}), "shown", copy)
    (use,) = session(projects, file).uses
    assert use.text == "shown" and use.complete


@pytest.mark.parametrize(
    "odd",
    [
        {"message": None},
        {"message": "text"},
        {"message": {"content": 5}},
        {"message": {"content": [None, 3, "x"]}},
        {"uuid": 7, "timestamp": 5, "cwd": None, "version": []},
        {"timestamp": "2026-99-01"},
        {"type": None},
        {"type": ["user"]},
    ],
)
@pytest.mark.parametrize("kind", ["user", "assistant", "attachment", "system", "queue-operation"])
def test_records_of_a_wrong_shape_stop_nothing(kind, odd, projects):
    file = one_call(Claude())
    file.records.append({"type": kind, **odd})
    one_call(file)
    assert [use.shown for use in session(projects, file).uses] == ["7 f", "7 f"]


def test_state_records_are_known_and_hold_nothing(projects):
    file = one_call(Claude())
    file.records += [
        {"type": "summary", "summary": "rows", "leafUuid": "s1-3"},
        {"type": "file-history-snapshot", "messageId": "s1-1", "snapshot": {"trackedFileBackups": {}}},
        {"type": "progress", "data": {}, "toolUseID": "t"},
        {"type": "last-prompt", "prompt": "count"},
        {"type": "queue-operation", "operation": "dequeue", "sessionId": "s1"},
        {"type": "api-request-blob", "hash": "x", "text": "a message as it was sent"},
    ]
    read = session(projects, file)
    assert read.odd == {} and len(read.turns) == 1 and "as it was sent" not in repr(read)


def test_what_hooks_and_summaries_add_is_context_and_no_request(projects):
    file = one_call(Claude())
    attached = {"type": "hook_additional_context", "content": ["from a hook"], "hookName": "PostToolUse:Bash"}
    file.record("attachment", attachment=attached, rendered=[{"content": "as it was sent"}])
    file.record("attachment", attachment=attached)
    file.user("Continued from before", isCompactSummary=True)
    file.user("Caveat: generated", isMeta=True)
    read = session(projects, file)
    texts = [said.text for said in read.said]
    assert texts == ["as it was sent", "from a hook", "Continued from before", "Caveat: generated"]
    assert len(read.turns) == 1


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("<task-notification><task-id>b1</task-id></task-notification>", {}),
        ("<command-name>/clear</command-name>", {}),
        ("[Request interrupted by user]", {}),
        ("The build has finished with two errors", {"origin": {"kind": "task-notification"}}),
        ("Time to look at the queue again", {"promptSource": "schedule_wakeup"}),
    ],
)
def test_machine_turns_are_no_task(text, fields, projects):
    file = Claude()
    file.user("Fix the retry limit in the client")
    file.user(text, **fields)
    file.run("ls", "f")
    read = session(projects, file)
    assert [turn.machine for turn in read.turns] == [False, True]
    assert read.uses[0].task == ("Fix the retry limit in the client", "prompt", 0)


def test_a_message_queued_in_a_turn_is_a_request_once(projects):
    file = Claude()
    file.user("Fix the retry limit in the client")
    file.record("queue-operation", operation="enqueue", content="Also add a test for the timeout")
    file.records[-1].pop("uuid")
    file.run("ls", "f")
    command = {"type": "queued_command", "prompt": "Also add a test for the timeout", "commandMode": "prompt"}
    file.record("attachment", attachment=command)
    file.record("attachment", attachment={"type": "queued_command", "prompt": "Then update the changelog"})
    file.record("attachment", attachment=command | {"prompt": "b1 done", "commandMode": "task-notification"})
    read = session(projects, file)
    assert [(turn.text, turn.machine) for turn in read.turns] == [
        ("Fix the retry limit in the client", False),
        ("Also add a test for the timeout", False),
        ("Then update the changelog", False),
        ("b1 done", True),
    ]
    assert read.uses[0].task.text == "Also add a test for the timeout"


def test_the_places_of_compactions_are_kept(projects):
    file = one_call(Claude())
    file.record("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    file.record("system", subtype="stop_hook_summary")
    one_call(file)
    read = session(projects, file)
    assert read.compactions == ((4, ""),) and len(read.uses) == 2


def test_a_record_twice_in_a_file_counts_once(projects):
    file = one_call(Claude())
    file.records += file.records
    read = session(projects, file)
    assert len(read.uses) == 1 and len(read.turns) == 1


def test_what_a_fork_copied_counts_in_the_first_file_and_is_context_in_the_second(projects):
    first = one_call(Claude("s1"))
    fork = Claude("s2")
    fork.records = [record | {"sessionId": "s2"} for record in first.records]
    fork.run("wc g", "9 g")
    first.write(projects)
    fork.write(projects)
    one, two = sessions(projects)
    assert [use.repeated for use in one.uses] == [False]
    assert [(use.command, use.repeated) for use in two.uses] == [("wc f", True), ("wc g", False)]
    assert two.uses[1].task.text == "Count the lines of the file f"
    assert two.answers == 1


def test_a_request_counts_where_it_was_delivered_and_not_where_it_was_queued(projects):
    first = one_call(Claude("s1"))
    fork = Claude("s2")
    fork.record("queue-operation", operation="enqueue", content="Now add a test for the timeout")
    fork.records[-1].pop("uuid")
    fork.records += [record | {"sessionId": "s2"} for record in first.records]
    fork.user("Now add a test for the timeout")
    fork.run("ls", "f")
    first.write(projects)
    fork.write(projects)
    _, two = sessions(projects)
    assert [(turn.text, turn.repeated) for turn in two.turns] == [
        ("Count the lines of the file f", True),
        ("Now add a test for the timeout", False),
    ]
    assert two.uses[-1].task.text == "Now add a test for the timeout"


def subagent(parent: Claude, prompt: str, agent: str = "a1") -> tuple[str, Claude]:
    use_id = parent.call("Agent", {"prompt": prompt, "subagent_type": "explore", "description": "d"})
    child = Claude(parent.session, agent=agent)
    child.user(prompt)
    child.run("grep -rn retry .", "client.py:3: retry")
    parent.result(use_id, "It is in client.py", {"status": "completed", "agentId": agent})
    return use_id, child


def test_a_subagent_has_a_context_and_a_task_of_its_own(projects):
    parent = Claude()
    parent.user("Fix the retry limit in the client")
    use_id, child = subagent(parent, "Find every caller of retry()")
    path = child.write(projects)
    path.with_suffix("").with_suffix(".meta.json").write_text(json.dumps({"toolUseId": use_id}))
    read = session(projects, parent)
    assert [(use.tool, use.kind, use.agent) for use in read.uses] == [
        ("Agent", "agent", ""),
        ("Bash", "command", "a1"),
    ]
    assert read.uses[1].task == ("Find every caller of retry()", "agent_task", 0)
    assert read.turns[1].agent == "a1"


@pytest.mark.parametrize("meta", ["", "{", "[]", '{"toolUseId": 5}', '{"toolUseId": "toolu_unknown"}'])
def test_without_a_usable_link_the_first_message_is_a_subagents_task(meta, projects):
    parent, child = Claude(), Claude(agent="a1")
    parent.user("Fix the retry limit in the client")
    child.user("Find every caller of retry()")
    child.run("ls", "f")
    child.write(projects).with_suffix(".meta.json").write_text(meta)
    read = session(projects, parent)
    assert read.uses[0].task.text == "Find every caller of retry()"


def test_an_older_subagent_lies_beside_the_session(projects):
    parent = one_call(Claude())
    _, child = subagent(parent, "Find every caller of retry()")
    parent.write(projects)
    child.write(projects).rename(projects / "-home-me-shop" / "agent-a1.jsonl")
    (read,) = sessions(projects)
    assert [use.agent for use in read.uses] == ["", "", "a1"]


def test_still_older_subagents_stand_in_the_main_file(projects):
    file = one_call(Claude())
    main = file.records[-1]["uuid"]
    for prompt, parent in (
        ("Find every caller of retry()", "side1"),
        ("List all the failing tests", "side2"),
    ):
        message = {"role": "user", "content": prompt}
        file.record("user", uuid=parent, parentUuid=None, isSidechain=True, message=message)
    for use_id, parent in (("t1", "side1"), ("t2", "side2")):
        file.call("Grep", {"pattern": "x"}, use_id=use_id, isSidechain=True, parentUuid=parent)
        file.result(use_id, "found", isSidechain=True)
    file.run("wc g", "9 g")
    file.records[-2]["parentUuid"] = main
    read = session(projects, file)
    tasks = [(use.agent, use.task.text) for use in read.uses]
    assert tasks == [
        ("", "Count the lines of the file f"),
        ("side-1", "Find every caller of retry()"),
        ("side-2", "List all the failing tests"),
        ("", "Count the lines of the file f"),
    ]


def test_the_agent_that_compacts_is_not_read(projects):
    parent = one_call(Claude())
    one_call(Claude(agent="acompact-1")).write(projects)
    assert len(session(projects, parent).uses) == 1


def test_a_session_whose_main_file_is_gone_still_has_its_subagents(projects):
    read = session(projects, one_call(Claude(agent="a1")))
    assert (read.id, [use.agent for use in read.uses]) == ("s1", ["a1"])


def test_a_file_that_cannot_be_read_is_counted(projects, monkeypatch):
    path = one_call(Claude()).write(projects)
    found = find([str(projects.parent)], 14)
    path.unlink()
    (read,) = read_sessions(found)
    assert read.odd == {"unreadable": 1} and read.uses == ()
