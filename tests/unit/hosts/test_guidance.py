"""The guidance door at Claude Code's hooks: what is shown where, once, and what is recorded of it."""

from __future__ import annotations

import json

import pytest
from tests.servers.chat_server import ChatServer

from admit.errors import Locked
from admit.hosts.handle import prefilter

from .claude import ADMIT, PROVEN, Host, prove_rewrites, typed

PROMPT = "UserPromptSubmit"
ASKED = "please look at the deployment of the shop"


class Agent(Host):
    """A session in a home with guidance."""

    def way(self, id: str, matter: str, body: str = "Do it well.") -> None:
        """A way of the user's own."""
        self.guidance(id, f"---\n{matter}\n---\n{body}\n")

    def core(self, body: str = "Read the notes first.") -> None:
        self.guidance("core", f"{body}\n")

    def said(self, event: str, *, written: bool = True, **fields) -> str:
        """The context that an event adds."""
        return self.ask(event, written=written, **fields).get("additionalContext", "")

    def before(self, tool: str, use_id: str = "t1", *, written: bool = True, agent: str = "", **given) -> str:
        fields = {"tool_name": tool, "tool_use_id": use_id, "tool_input": given}
        return self.said("PreToolUse", written=written, **fields, **({"agent_id": agent} if agent else {}))

    def calls(self, prompt: str, use_id: str, kind: str = "Explore", **given) -> str:
        return self.before("Agent", use_id, prompt=prompt, subagent_type=kind, **given)

    def starts(self, agent: str, kind: str = "Explore") -> str:
        return self.said("SubagentStart", agent_id=agent, agent_type=kind)

    @property
    def scans(self):
        return [row for row in self.decisions if row.door == "guidance"]

    @property
    def shown(self) -> list[str]:
        return [event["id"] for event in self.events("guidance.shown")]


@pytest.fixture
def agent(place):
    return Agent(place)


def shown(id: str, body: str = "Do it well.") -> str:
    return f"[guidance {id} · user]\n{body}"


# The lanes


def test_a_prompt_gets_the_guidance_its_words_call_for(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.way("ops/other", "pattern: rollback")
    handled = agent.hook(PROMPT, prompt=ASKED)
    assert json.loads(handled.data) == {
        "hookSpecificOutput": {"hookEventName": PROMPT, "additionalContext": shown("ops/deploy")}
    }
    assert agent.ledger.records == []
    handled.after(True)
    (scan,) = agent.scans
    assert (scan.host, scan.host_event, scan.delivered) == ("claude-code", PROMPT, "unknown")
    assert agent.shown == ["ops/deploy"]


def test_it_is_held_afterwards_and_shown_again_where_the_host_did_not_take_it(agent):
    agent.way("ops/deploy", "pattern: deployment")
    assert agent.said(PROMPT, prompt=ASKED, written=False) == shown("ops/deploy")
    assert agent.shown == [] and agent.scans[-1].delivered == "no"
    assert agent.said(PROMPT, prompt=f"{ASKED} again") == shown("ops/deploy")
    assert agent.said(PROMPT, prompt=f"{ASKED} once more") == ""
    assert agent.shown == ["ops/deploy"]


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": f"<task-notification>{ASKED}</task-notification>"},
        {"prompt": f"Base directory for this skill: /x\n{ASKED}"},
        {"prompt": ASKED, "source": "loop_wakeup"},
        {"prompt": "   "},
    ],
    ids=["notification", "skill", "loop", "empty"],
)
def test_what_a_machine_says_sets_nothing_off(agent, fields):
    agent.way("ops/deploy", "pattern: deployment")
    assert agent.said(PROMPT, **fields) == "" and agent.scans == []


def test_what_a_host_put_into_a_prompt_sets_nothing_off_and_is_no_task(agent):
    agent.way("ops/deploy", "pattern: deployment")
    text = f"count the lines of every file <system-reminder>{ASKED}</system-reminder>"
    assert agent.said(PROMPT, prompt=text) == "" and len(agent.scans) == 1
    task = agent.deps.sessions.at("claude-code", agent.session).task()
    assert task.text == "count the lines of every file"


@pytest.mark.parametrize(
    ("tool", "field"),
    [
        ("Edit", "file_path"),
        ("Write", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ],
)
def test_a_file_about_to_be_written_gets_its_guidance(agent, tool, field):
    agent.way("code/python", r"files: \.py$")
    assert agent.before(tool, **{field: "/repo/src/a.py"}) == shown("code/python")
    assert agent.scans[-1].extra["lane"] == "file"


def test_reading_a_file_gets_nothing(agent):
    agent.way("code/python", r"files: \.py$")
    assert agent.before("Read", file_path="/repo/src/a.py") == "" and agent.scans == []


def test_a_command_its_description_and_what_it_writes_get_their_guidance(agent):
    agent.way("git/commit", "commands: ^git commit")
    agent.way("ops/deploy", "pattern: deployment")
    agent.way("code/python", r"files: \.py$")
    given = {"command": "git commit -m x > src/a.py", "description": "Prepare the deployment"}
    text = agent.before("Bash", **given)
    assert sorted(line for line in text.splitlines() if line.startswith("[")) == [
        "[guidance code/python · user]",
        "[guidance git/commit · user]",
        "[guidance ops/deploy · user]",
    ]


def test_what_is_written_never_decides_about_a_call(agent, monkeypatch):
    prove_rewrites(monkeypatch)
    monkeypatch.setattr("admit.hosts.claude_code.adapter.shutil.which", lambda name: f"/usr/bin/{name}")
    agent.settings["hosts.wrap"] = "list"
    host = Agent(agent.folder, hosts__wrap="list")
    host.way("build/make", "commands: ^make")
    answer = host.ask("PreToolUse", tool_name="Bash", tool_use_id="t1", tool_input={"command": "make"})
    assert set(answer) == {"additionalContext", "updatedInput"}
    assert answer["additionalContext"] == shown("build/make")
    assert answer["updatedInput"]["command"].startswith(f"{ADMIT} run --hook ")


# Sessions and positions


def test_a_session_starts_with_its_state_once_and_after_each_compaction_again(agent):
    agent.core()
    (text,) = {agent.said("SessionStart", source="startup")}
    assert text == shown("core", "Read the notes first.")
    agent.writes(typed("a"))
    assert agent.said("SessionStart", source="resume") == ""
    agent.writes(typed("b"))
    for event in ("PreCompact", "PostCompact"):
        assert agent.ask(event, trigger="auto") == {}
    assert agent.said("SessionStart", source="compact") == text
    assert agent.said("SessionStart", source="compact") == text
    assert len(agent.shown) == 2


def test_what_a_session_that_starts_again_was_shown_is_not_forgotten_after_its_compaction(agent):
    agent.core()
    agent.said("SessionStart", source="startup")
    agent.ask("PreCompact", trigger="auto")
    agent.writes(typed("b"))
    assert agent.said("SessionStart", source="compact", context_tokens=9_000)
    agent.ask("PostCompact", trigger="auto")
    assert agent.said(PROMPT, prompt=ASKED) == ""
    assert agent.scans[-1].extra["tokens_used"] == 9_000


@pytest.mark.parametrize("written", (True, False))
def test_a_start_that_did_not_reach_the_agent_comes_with_the_first_prompt(agent, written):
    agent.core()
    agent.way("ops/deploy", "pattern: deployment")
    if not written:
        assert agent.said("SessionStart", source="startup", written=False)
    whole = f"{shown('core', 'Read the notes first.')}\n{shown('ops/deploy')}"
    assert agent.said(PROMPT, prompt=ASKED, written=False) == whole
    assert agent.said(PROMPT, prompt=ASKED) == whole
    agent.writes(typed(ASKED))
    assert agent.said(PROMPT, prompt=ASKED) == ""
    assert [scan.extra["lane"] for scan in agent.scans[-3:]] == ["state", "prompt", "prompt"]
    assert agent.shown == ["core", "ops/deploy"]


def test_a_fork_keeps_what_is_in_view_and_a_clear_does_not(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.said(PROMPT, prompt=ASKED)
    agent.said("SessionStart", source="fork")
    assert agent.said(PROMPT, prompt=f"{ASKED} now") == ""
    agent.said("SessionStart", source="clear")
    assert agent.said(PROMPT, prompt=f"{ASKED} then") == shown("ops/deploy")


def test_the_position_is_what_the_host_counted_then_what_its_model_did_else_the_length_of_its_file(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.writes(typed("x" * 4_000))
    agent.said(PROMPT, prompt="one and two and three")
    size = agent.transcript.stat().st_size
    assert (agent.scans[-1].extra["tokens_used"], agent.scans[-1].extra["estimated"]) == (size // 4, True)
    agent.said("SessionStart", source="resume", context_tokens=12_345, model="opus[1m]")
    assert (agent.scans[-1].extra["tokens_used"], agent.scans[-1].extra["window"]) == (12_345, 1_000_000)
    usage = {"input_tokens": 7, "cache_read_input_tokens": 20_000, "output_tokens": 13}
    agent.writes({"type": "assistant", "message": {"content": [], "usage": usage}})
    agent.said(PROMPT, prompt="four and five and six")
    assert agent.scans[-1].extra["tokens_used"] == 20_020 and "estimated" not in agent.scans[-1].extra
    agent.said("SessionStart", source="compact")
    agent.writes(typed("y" * 400))
    agent.said(PROMPT, prompt="seven and eight and nine")
    assert agent.scans[-1].extra["tokens_used"] < 200


def test_a_snippet_comes_again_when_enough_was_said_since(agent):
    agent.way("ops/deploy", "pattern: deployment\nrefire: 0.1")
    agent.said("SessionStart", source="resume", context_tokens=1_000)
    assert agent.said(PROMPT, prompt=ASKED) == shown("ops/deploy")
    agent.said("SessionStart", source="resume", context_tokens=31_000)
    assert agent.said(PROMPT, prompt=f"{ASKED} b") == ""
    agent.said("SessionStart", source="resume", context_tokens=31_500)
    assert agent.said(PROMPT, prompt=f"{ASKED} c") == shown("ops/deploy")


def test_after_a_restart_the_record_says_what_is_in_view(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.way("git/commit", "commands: ^git commit")
    agent.said("SessionStart", source="startup")
    agent.said(PROMPT, prompt=ASKED)
    agent.restart()
    assert agent.said(PROMPT, prompt=f"{ASKED} b") == ""
    assert agent.before("Bash", command="git commit") == shown("git/commit")
    agent.said("SessionStart", source="resume")
    agent.restart()
    assert agent.said(PROMPT, prompt=f"{ASKED} resumed") == ""
    agent.said("SessionStart", source="compact")
    agent.restart()
    assert agent.said(PROMPT, prompt=f"{ASKED} c") == shown("ops/deploy")
    agent.session = "another"
    assert agent.said(PROMPT, prompt=ASKED) == shown("ops/deploy")


def test_a_record_that_cannot_be_read_costs_no_answer(agent, monkeypatch):
    agent.way("ops/deploy", "pattern: deployment")

    def broken(**_):
        raise Locked("the database is locked")

    monkeypatch.setattr(agent.ledger, "query", broken)
    assert agent.said(PROMPT, prompt=ASKED) == shown("ops/deploy")


# Once


def test_a_repeat_of_an_event_gets_the_same_bytes_and_records_nothing(agent):
    agent.core()
    agent.way("ops/deploy", "pattern: deployment")
    agent.way("git/commit", "commands: ^git commit")
    bash = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "git commit"}}
    for event, fields in (
        ("SessionStart", {"source": "startup"}),
        (PROMPT, {"prompt": ASKED}),
        ("PreToolUse", bash),
    ):
        first = agent.said(event, **fields)
        before = len(agent.ledger.records)
        assert first and agent.said(event, **fields) == first
        assert len(agent.ledger.records) == before


def test_the_same_words_typed_again_are_another_prompt(agent):
    agent.way("ops/deploy", "pattern: deployment")
    assert agent.said(PROMPT, prompt=ASKED, prompt_id="p1")
    assert agent.said(PROMPT, prompt=ASKED, prompt_id="p2") == ""
    agent.writes(typed("something"))
    assert agent.said(PROMPT, prompt=ASKED) == ""


def test_two_hooks_before_either_answer_has_left_show_it_once(agent):
    agent.way("git/commit", "commands: ^git commit")
    call = {"tool_name": "Bash", "tool_input": {"command": "git commit"}}
    first = agent.hook("PreToolUse", **call, tool_use_id="t1")
    second = agent.hook("PreToolUse", **call, tool_use_id="t2")
    assert first.data and not second.data
    first.after(True)
    second.after(True)
    assert agent.shown == ["git/commit"]


def test_the_turn_begins_anew_with_a_prompt_and_a_call_shows_three(agent):
    for number in range(5):
        agent.way(f"w{number}", "commands: ^git commit\nrefire: 0")
    shown_by = [agent.before("Bash", f"t{n}", command="git commit").count("[guidance") for n in range(5)]
    assert shown_by == [3, 3, 3, 3, 0]
    assert agent.events("guidance.turn_capped")[-1]["count"] == 5
    agent.said(PROMPT, prompt=ASKED)
    assert agent.before("Bash", "t9", command="git commit").count("[guidance") == 3


# Messages typed while the agent works


def test_a_message_typed_meanwhile_is_looked_at_once_at_the_next_call(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.said(PROMPT, prompt="count the lines of every file")
    agent.writes({"type": "queue-operation", "operation": "enqueue", "content": ASKED})
    assert agent.before("Read", file_path="/a") == shown("ops/deploy")
    agent.writes({"type": "attachment", "attachment": {"type": "queued_command", "prompt": ASKED}})
    agent.before("Read", "t2", file_path="/a")
    lanes = [scan.extra["lane"] for scan in agent.scans]
    assert lanes == ["prompt", "queued"]


def test_a_notice_queued_by_a_machine_is_not_looked_at(agent):
    agent.way("ops/deploy", "pattern: deployment")
    agent.said(PROMPT, prompt="count the lines of every file")
    text = f"<task-notification>{ASKED}</task-notification>"
    agent.writes({"type": "queue-operation", "operation": "enqueue", "content": text})
    agent.before("Read", file_path="/a")
    assert len(agent.scans) == 1


def test_what_does_not_fit_beside_what_was_typed_is_not_shown(place):
    agent = Agent(place, hosts__inject_max_chars=1_000)
    agent.way("ops/deploy", "pattern: deployment", "d" * 700)
    agent.way("git/commit", "commands: ^git commit", "c" * 700)
    agent.said(PROMPT, prompt="count the lines of every file")
    agent.writes({"type": "queue-operation", "operation": "enqueue", "content": ASKED})
    assert agent.before("Bash", command="git commit") == shown("ops/deploy", "d" * 700)
    assert [scan.delivered for scan in agent.scans[1:]] == ["unknown", "no"]
    assert agent.shown == ["ops/deploy"]
    assert agent.before("Bash", "t2", command="git commit") == shown("git/commit", "c" * 700)


# Subagents


def test_parallel_subagents_get_each_their_own_and_the_first_nothing(agent):
    agent.way("ops/deploy", "pattern: deployment\nscope: subagent")
    agent.way("ops/main", "pattern: deployment")
    assert agent.calls("count the lines", "t1") == ""
    assert agent.calls(ASKED, "t2") == ""
    assert agent.starts("a1") == ""
    assert agent.starts("a2") == shown("ops/deploy")
    assert agent.starts("a3") == ""
    assert [scan.agent for scan in agent.scans] == ["a1", "a2"]
    assert [scan.extra["lane"] for scan in agent.scans] == ["task", "task"]


def test_a_subagent_is_shown_what_the_main_agent_has_and_keeps_its_own_account(agent):
    agent.way("git/commit", "commands: ^git commit\nscope: agent, subagent")
    assert agent.before("Bash", command="git commit") == shown("git/commit")
    agent.calls("commit it", "t2")
    agent.starts("a1")
    assert agent.before("Bash", "t3", agent="a1", command="git commit") == shown("git/commit")
    assert agent.before("Bash", "t4", agent="a1", command="git commit") == ""


def test_a_teammate_gets_what_is_for_teammates(agent):
    agent.way("ops/team", "pattern: deployment\nscope: teammate")
    agent.calls(ASKED, "t1", team_name="crew")
    assert agent.starts("a1") == shown("ops/team")
    agent.calls(ASKED, "t2")
    assert agent.starts("a2") == ""


@pytest.mark.parametrize("event", ("PostToolUse", "PostToolUseFailure"))
def test_a_call_that_is_over_leaves_nothing_for_the_next(agent, event):
    agent.way("ops/deploy", "pattern: deployment\nscope: subagent")
    given = {"prompt": ASKED, "subagent_type": "Explore"}
    agent.calls(ASKED, "t1")
    agent.ask(event, tool_name="Agent", tool_use_id="t1", tool_input=given, tool_response={}, error="denied")
    assert agent.starts("a1") == ""
    agent.calls(ASKED, "t2", run_in_background=True)
    given["run_in_background"] = True
    agent.ask("PostToolUse", tool_name="Agent", tool_use_id="t2", tool_input=given, tool_response={})
    assert agent.starts("a2") == shown("ops/deploy")


def test_the_end_of_a_subagents_call_passes_however_small():
    for tool in ("Agent", "Task"):
        assert prefilter("PostToolUse", json.dumps({"tool_name": tool}).encode())
    assert not prefilter("PostToolUse", json.dumps({"tool_name": "Bash"}).encode())


# Off, undeliverable, proven


def test_without_the_door_or_without_guidance_nothing_is_looked_at_or_recorded(place):
    host = Agent(place)
    assert host.said(PROMPT, prompt=ASKED) == "" and host.ledger.records == []
    host = Agent(place, **{"hosts.claude-code.doors": ("outputs",)})
    host.way("ops/deploy", "pattern: deployment")
    assert host.said(PROMPT, prompt=ASKED) == "" and host.ledger.records == []


def test_where_the_host_hands_nothing_on_nothing_is_shown_or_stamped(agent, monkeypatch):
    agent.way("ops/deploy", "pattern: deployment")
    monkeypatch.setattr("admit.hosts.hook.Hook.capability", lambda hook: PROVEN._replace(inject="no"))
    assert agent.said(PROMPT, prompt=ASKED) == ""
    assert agent.scans[-1].extra["stages"] == {"undeliverable": ["ops/deploy"]} and agent.shown == []
    monkeypatch.setattr("admit.hosts.hook.Hook.capability", lambda hook: PROVEN)
    assert agent.said(PROMPT, prompt=f"{ASKED} b") == shown("ops/deploy")


def test_only_a_place_in_the_transcript_after_it_proves_that_guidance_arrived(agent):
    agent.way("ops/deploy", "pattern: deployment\nrefire: 0")

    def rendered(uuid):
        block = {"type": "text", "text": f"<system-reminder>\n{shown('ops/deploy')}\n</system-reminder>"}
        own = {"type": "hook_additional_context", "toolUseID": "hook-1"}
        return {"type": "attachment", "uuid": uuid, "attachment": own, "rendered": [{"content": [block]}]}

    agent.writes(rendered("old"))
    agent.said(PROMPT, prompt=ASKED)
    agent.ask("Stop")
    assert agent.events("admit.delivered") == []
    agent.said(PROMPT, prompt=f"{ASKED} b")
    agent.writes(rendered("new"))
    for _ in range(2):
        agent.ask("Stop")
    (proof,) = agent.events("admit.delivered")
    assert (proof["channel"], proof["proof"]) == ("context", "new")


def test_without_a_session_guidance_is_shown_and_nothing_remembered(agent):
    agent.way("ops/deploy", "pattern: deployment")
    for _ in range(2):
        assert agent.said(PROMPT, prompt=ASKED, session_id="") == shown("ops/deploy")


def test_a_project_in_another_folder_has_its_own_guidance(agent):
    for name in ("one", "two"):
        way = agent.folder / name / ".claude" / "ways" / name / f"{name}.md"
        way.parent.mkdir(parents=True)
        (agent.folder / name / ".git").mkdir()
        (agent.folder / name / "src").mkdir()
        way.write_text("---\npattern: deployment\nwhen:\n  file_exists: src\n---\nbody\n")
    said = agent.said(PROMPT, prompt=ASKED, cwd=str(agent.folder / "one" / "src"))
    assert said == "[guidance one · project]\nbody"
    said = agent.said(PROMPT, prompt=f"{ASKED} b", cwd=str(agent.folder / "two"))
    assert said == "[guidance two · project]\nbody"


def test_the_start_of_a_session_opens_the_connection_that_the_first_prompt_will_use(place):
    own = "judge__profiles__own__"
    with ChatServer() as server:
        host = Agent(
            place,
            judge__profile="own",
            **{
                f"{own}backend": "chat",
                f"{own}destination": f"{server.url}/v1",
                f"{own}model": "m-1",
                f"{own}guidance__threshold": 0.3,
            },
        )
        host.way("deploy", "pattern: deployment")
        host.said("SessionStart", source="startup")
        assert (server.heads, server.requests) == (1, [])
        host.said(PROMPT, prompt=ASKED)
        (call,) = [call for row in host.ledger.records for call in row.calls]
        assert call.outcome == "judged" and call.connect_ms is None
