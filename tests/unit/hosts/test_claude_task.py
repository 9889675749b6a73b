"""What Claude Code's agent is taken to be doing, from its hooks and its transcript."""

from __future__ import annotations

import json
import os

import pytest

from admit.hosts.claude_code import delivery, transcript

from .claude import Host, log, result, typed

REQUEST = "find out why the tokenizer drops the last line"
RARE = "the unit of the tokenizer has one more in lex_tail"


def quiet() -> str:
    """A long output without a failure, every line with a word of its own, one of use to the request."""
    names = ("".join("bcdfghklmn"[int(digit)] for digit in f"{number:04}") for number in range(1_000))
    rows = [f"the unit {name} is as it was before and as it should be" for name in names]
    rows[777] = RARE
    return "\n".join(rows)


def task_of(host, **fields):
    """The task hash that the next decision is recorded with."""
    host.bash(quiet(), **fields)
    return host.decisions[-1].task_hash


def hashed(host, text):
    return host.ledger.keyed((text,))[0]


def test_a_request_is_the_task_until_the_next_one_that_says_something(host):
    host.prompt(REQUEST)
    assert task_of(host) == hashed(host, REQUEST)
    host.prompt("continue")
    assert task_of(host) == hashed(host, REQUEST)
    host.prompt("go on with windows")
    assert task_of(host) == hashed(host, f"{REQUEST}\ngo on with windows")
    host.prompt("now add a test for the empty file")
    assert task_of(host) == hashed(host, "now add a test for the empty file")


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "<task-notification>the background agent has finished its work</task-notification>"},
        {"prompt": "<system-reminder>some files were changed by a linter</system-reminder>"},
        {"prompt": "[attend] three new messages have come in for you"},
        {"prompt": "look at the build again and report failures", "source": "loop_wakeup"},
        {"prompt": "look at the build again and report failures", "source": "a new kind of machine"},
    ],
    ids=["notification", "reminder", "attend", "loop", "unknown source"],
)
def test_what_a_machine_says_is_no_task(host, fields):
    host.prompt(REQUEST)
    host.ask("UserPromptSubmit", **fields)
    assert task_of(host) == hashed(host, REQUEST)


def test_the_end_of_a_long_request_is_what_counts(host):
    host.prompt("Background. " + "This project has a long history. " * 400 + "\n\n" + REQUEST)
    assert RARE in host.bash(quiet())["stdout"]


def test_without_any_request_the_choice_is_made_without_one(host):
    assert host.bash(log()) is not None and host.decisions[-1].task_hash is None


def test_after_a_restart_the_transcript_says_what_was_asked_for(host):
    host.writes(
        typed("look at the printer tables first", "u1"),
        typed("<task-notification>done with that</task-notification>", "u2"),
        typed("remember that this file is generated", "u3", isMeta=True),
        typed("The conversation so far was about the lexer.", "u4", isCompactSummary=True),
        typed("poll the build and report what failed", "u5", promptSource="poll_event"),
        typed(REQUEST, "u6"),
        result("a result with many words in it that is no request", "t1"),
        typed("[Request interrupted by user for tool use]", "u7"),
        typed("ok", "u8"),
        typed("a side chain asks for something else entirely", "u9", isSidechain=True),
    )
    assert task_of(host) == hashed(host, REQUEST)


def test_a_message_that_was_queued_in_the_middle_of_a_turn_counts(host):
    host.prompt(REQUEST)
    host.writes(typed(REQUEST))
    assert task_of(host) == hashed(host, REQUEST)
    queued = "also check what happens with windows line ends"
    host.writes({"type": "queue-operation", "operation": "enqueue", "content": queued})
    assert task_of(host) == hashed(host, queued)
    host.writes({"type": "attachment", "attachment": {"type": "queued_command", "prompt": queued}})
    host.prompt("and keep the old flag working as before")
    assert task_of(host) == hashed(host, "and keep the old flag working as before")


def test_a_subagent_works_on_what_it_was_called_with(host):
    host.prompt(REQUEST)
    call = {"prompt": "list every caller of lex_next()", "subagent_type": "Explore", "description": "x"}
    host.ask("PreToolUse", tool_name="Agent", tool_use_id="t1", tool_input=call)
    other = {"prompt": "rewrite the tables of the lexer", "description": "y"}
    host.ask("PreToolUse", tool_name="Task", tool_use_id="t2", tool_input=other)
    host.ask("SubagentStart", agent_id="g1", agent_type="general-purpose")
    host.ask("SubagentStart", agent_id="e1", agent_type="Explore")
    assert task_of(host, agent_id="e1") == hashed(host, "list every caller of lex_next()")
    assert task_of(host, agent_id="g1") == hashed(host, "rewrite the tables of the lexer")
    assert task_of(host) == hashed(host, REQUEST)
    assert task_of(host, agent_id="x1") is None


def test_a_subagent_that_is_not_known_any_more_is_read_up(host):
    folder = host.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    first = typed("list every caller of lex_next()", "s1", isSidechain=True)
    (folder / "agent-e1.jsonl").write_text(json.dumps(first) + "\n" + json.dumps(typed("x" * 70_000)) + "\n")
    assert task_of(host, agent_id="e1") == hashed(host, "list every caller of lex_next()")
    assert task_of(host, agent_id="../e1") is None


def test_the_agents_own_words_count_only_where_the_user_wants_them(place):
    said = {"type": "assistant", "uuid": "a1", "message": {"content": [{"type": "text", "text": ""}]}}
    said["message"]["content"][0]["text"] = "Tests ran. I suspect lex_tail keeps a pending line."
    shown = []
    for wanted in (False, True):
        host = Host(place, hosts__use_agent_words=wanted)
        host.transcript.unlink(missing_ok=True)
        host.writes(said)
        shown.append(RARE in host.bash(quiet())["stdout"])
    assert shown == [False, True]


def test_the_words_of_the_call_count_too(host):
    call = {"command": "make", "description": "Look at lex_tail"}
    assert RARE not in host.bash(quiet())["stdout"]
    assert RARE in host.bash(quiet(), tool_input=call, agent_id="a1")["stdout"]


# The transcript


def test_only_whole_lines_are_read_and_reading_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [json.dumps(typed(f"request number {n}", f"u{n}")) for n in range(3)]
    path.write_text("\n".join(lines)[:-20])
    first = transcript.recent(str(path))
    assert first.prompts == ("request number 0", "request number 1") and first.version == "2.1.332"
    path.write_text("\n".join(lines) + "\n")
    again = transcript.recent(str(path), first.offset)
    assert again.prompts == ("request number 2",) and again.offset == path.stat().st_size
    assert transcript.recent(str(path), again.offset) == again._replace(prompts=(), version=None)
    path.write_text(lines[0] + "\n")
    assert transcript.recent(str(path), again.offset).prompts == ("request number 0",)


def test_of_a_long_file_only_the_end_is_read_from_a_whole_line_on(tmp_path):
    path = tmp_path / "t.jsonl"
    with open(path, "w") as file:
        for n in range(4_000):
            file.write(json.dumps(typed(f"request number {n} " + "x" * 100)) + "\n")
    prompts = transcript.recent(str(path)).prompts
    assert prompts[-1].startswith("request number 3999 ") and 500 < len(prompts) < 2_000
    assert all(text.startswith("request number ") for text in prompts)


@pytest.mark.parametrize("kind", ("missing", "link", "folder", "pipe", "nul", "rubbish"))
def test_a_transcript_that_cannot_be_read_says_nothing(tmp_path, kind):
    path = tmp_path / "t.jsonl"
    real = tmp_path / "real.jsonl"
    real.write_text(json.dumps(typed(REQUEST)) + "\n")
    if kind == "link":
        path.symlink_to(real)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "rubbish":
        path.write_bytes(
            b'\xff\xfe\n{"type": {"a": 1}}\n[1]\n' + b"[" * 5_000 + b'\n{"type":"user","message":7}\n'
        )
    name = f"{path}\0" if kind == "nul" else str(path)
    assert transcript.recent(name).prompts == ()
    assert transcript.agent_prompt(name) == ""
    assert delivery.proofs(name, ["3f9a1c2b"]) == {"3f9a1c2b": ()}


def test_a_proof_names_line_call_record_and_way(tmp_path):
    path = tmp_path / "t.jsonl"
    nonce = "[admit 3f9a1c2b] 5,870 of 121,437 chars"
    rendered = {"type": "attachment", "uuid": "h1", "attachment": {"toolUseID": "t2"}}
    records = [
        typed(f"what does {nonce} mean?", "u1"),
        {"type": "assistant", "uuid": "a1", "message": {"content": [{"type": "text", "text": nonce}]}},
        {"type": "attachment", "uuid": "h0", "attachment": {"type": "hook_success", "stdout": nonce}},
        result(nonce, "t1", "r1"),
        {**rendered, "rendered": [{"content": [{"type": "text", "text": nonce}]}]},
        {"type": "api-request-blob", "uuid": "b1", "blob": {"text": nonce}},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    ends = [sum(len(json.dumps(record)) + 1 for record in records[:n]) for n in range(len(records) + 1)]
    assert delivery.proofs(str(path), ["3f9a1c2b", "00000000"]) == {
        "3f9a1c2b": (
            (4, "t1", "r1", "replace", ends[4]),
            (5, "t2", "h1", "context", ends[5]),
            (6, "", "b1", "request", ends[6]),
        ),
        "00000000": (),
    }
