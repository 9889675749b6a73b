"""The self-test: its verdicts, what follows from them, the replay, and the real client where there is one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admit.config.keys import shipped
from admit.errors import UsageError
from admit.hosts import routes
from admit.hosts.claude_code import judging, plans, selftest
from admit.hosts.claude_code.adapter import NAME
from admit.hosts.claude_code.fake_mcp import result_of
from admit.hosts.claude_code.fake_page import Page
from admit.hosts.claude_code.init import host_version
from admit.hosts.claude_code.probes import BY_NAME, PROBES, Bench, Nonces
from admit.hosts.claude_code.recorded import FILE, SESSIONS, replay, shipped_recording
from admit.hosts.claude_code.selftest import Evidence, ProbeResult, capability, chosen, findings
from admit.hosts.claude_code.session import Heard, Ran
from admit.hosts.fake_messages import Call, FakeMessages, call_id
from admit.hosts.model import Capability
from admit.ledger import iter_records

ADMIT = str(Path(sys.executable).with_name("admit"))


def client():
    """The real client: the one that `ADMIT_CLAUDE` names, else the one on PATH; None is none."""
    return os.environ.get("ADMIT_CLAUDE") or shutil.which("claude")


# The nightly run installs one (`tools/claude_client.py`) and must not pass without it.
needs_client = pytest.mark.skipif(
    client() is None and not os.environ.get("ADMIT_NIGHTLY"),
    reason="no Claude Code (ADMIT_CLAUDE names none, PATH has none): only the recording was replayed",
)


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "project").mkdir()
    return Bench("2.1.332", shipped(), str(tmp_path), Nonces("0123456789ab"))


def session(*results, exit_code=0, heard=(), context=""):
    """A session in which the model was told these results of its calls, in order."""
    messages = FakeMessages([Call("Bash", {})] * len(results))
    told = [{"role": "user", "content": [{"type": "text", "text": f"go on {context}"}]}]
    for k, result in enumerate(results):
        block = {"type": "tool_result", "tool_use_id": call_id(k), "content": result}
        told.append({"role": "user", "content": [block]})
    messages.answer({"tools": [{}], "messages": told})
    return Ran(exit_code, "said", "", messages, tuple(heard), 0.1)


NOTHING = Ran(1, "it crashed", "", FakeMessages(), (), 0.1)


def test_a_replacement_passes_where_the_new_text_stands_alone(bench):
    old, new = bench.nonces.old("replace-bash"), bench.nonces.new("replace-bash")
    judge = judging.replaced(bench, "replace-bash")
    assert judge(session(f"a {new} b"), 0)[0] == "pass"
    assert judge(session(old), 0) == ("fail", "the original stands")
    assert judge(session(f"{old} {new}"), 0) == ("fail", "the model was told both")
    assert judge(session(new, context=old), 0) == ("fail", "the model was told both")
    assert judge(session("another"), 0) == ("fail", "neither stands: another")
    assert judge(NOTHING, 0) == ("unproven", "the client did not come to it: it crashed")


def test_an_addition_passes_where_any_part_of_the_request_holds_it():
    assert judging.injected("word")(session("x", context="word"))[0] == "pass"
    assert judging.injected("word")(session("x"))[0] == "fail"
    assert judging.injected("word")(NOTHING)[0] == "unproven"


def test_a_quiet_hook_passes_where_the_original_stands_and_the_session_ended_well(bench):
    old, new = bench.nonces.old("overrun"), bench.nonces.new("overrun")
    judge = judging.unchanged(bench, "overrun")
    assert judge(session(old), 0)[0] == "pass"
    assert judge(session(f"{old}{new}"), 0)[0] == "fail"
    assert judge(session("gone"), 0)[0] == "fail"
    assert judge(session(old, exit_code=1), 0)[0] == "fail"


def test_a_large_output_passes_from_end_to_end_and_says_what_the_hook_was_given(bench):
    new = bench.nonces.new("large-35000")
    judge = judging.large(bench, "large-35000", 35_000, (f"start {new}", f"end {new}"))
    given = {
        "tool_use_id": call_id(0),
        "tool_response": {"stdout": "x" * 30_000, "persistedOutputPath": "/f"},
    }
    heard = (Heard("PostToolUse", json.dumps(given).encode(), b""),)
    result, seen = judge(session(f"start {new} … end {new}", heard=heard), 0)
    assert (result, seen.partition("; ")[2]) == (
        "pass",
        "the hook was given 30,000 of 35,000 characters and the path of the whole",
    )
    assert judge(session(f"start {new}"), 0)[0] == "fail"


def test_a_cut_log_passes_where_its_error_stands_below_the_first_line_of_admit(bench):
    log = bench.log("outputs-door")
    judge = judging.cut(bench, "outputs-door", log)
    error = next(line for line in log.split("\n") if "error" in line)
    assert judge(session(f"[admit 0123abcd] 1 of 2\n{error}"), 0)[0] == "pass"
    assert judge(session(log), 0)[0] == "fail"
    assert judge(session("[admit 0123abcd] 1 of 2\nnothing"), 0)[0] == "fail"


@pytest.mark.parametrize(
    "wrapped, plain, denied, result",
    [
        ("denied", "denied", True, "pass"),
        ("OLD", "denied", True, "fail"),
        ("OLD", "OLD", True, "unproven"),
        ("OLD", "OLD", False, "pass"),
        ("denied", "OLD", False, "fail"),
        ("denied", "denied", False, "unproven"),
    ],
)
def test_a_rule_is_judged_only_where_it_holds_for_the_command_itself(bench, wrapped, plain, denied, result):
    old = bench.nonces.old("deny-rule")
    ran = session(wrapped.replace("OLD", old), plain.replace("OLD", old))
    assert judging.rule_holds(bench, "deny-rule", denied=denied)(ran, 0)[0] == result


def test_every_probe_is_asked_in_its_session_and_nowhere_else(bench):
    for name, plan in plans.PLANS.items():
        made = plan(bench._replace(page=Page("https://127.0.0.1/", "c")))
        asked = {step.probe for step in made.steps if step.judge is not None} | set(made.also)
        assert asked == {probe.name for probe in PROBES if probe.session == name}
        assert list(made.setup.script) == [step.call for step in made.steps]


def test_no_call_holds_a_nonce_that_the_model_would_see_anyway(bench):
    for plan in plans.PLANS.values():
        made = plan(bench._replace(page=Page("https://127.0.0.1/", "c")))
        assert bench.nonces.token not in json.dumps([step.call for step in made.steps])


def results(**by_name):
    return [ProbeResult(name.replace("_", "-"), result, "seen") for name, result in by_name.items()]


INJECTED = {"inject_session": "pass", "inject_prompt": "pass", "inject_before_tool": "pass"}
REPLACED = {"replace_bash": "pass", "replace_grep": "pass", "replace_webfetch": "pass", "replace_mcp": "pass"}


@pytest.mark.parametrize(
    "found, decided",
    [
        ({}, {}),
        (INJECTED, {"inject": "yes"}),
        ({**INJECTED, "inject_prompt": "fail"}, {"inject": "no"}),
        ({"inject_session": "pass"}, {}),
        ({**INJECTED, "inject_prompt": "unproven"}, {}),
        (REPLACED, {"replace_ok": "yes"}),
        ({**REPLACED, "replace_webfetch": "unproven"}, {"replace_ok": "yes"}),
        ({**REPLACED, "replace_grep": "fail"}, {"replace_ok": "mcp_only"}),
        ({**REPLACED, "replace_mcp": "fail"}, {"replace_ok": "no"}),
        ({"rewrite_input": "pass"}, {}),
        ({"rewrite_input": "pass", "deny_rule": "pass"}, {"rewrite_input": "yes"}),
        ({"rewrite_input": "pass", "deny_rule": "fail"}, {"rewrite_input": "no"}),
        ({"rewrite_input": "fail"}, {"rewrite_input": "no"}),
        ({"rewrite_input": "pass", "deny_rule": "unproven"}, {}),
        (
            {"rewrite_input": "pass", "deny_rule": "pass", "replace_failed_wrapped": "pass"},
            {"rewrite_input": "yes", "replace_failed": "yes"},
        ),
        (
            {"rewrite_input": "pass", "deny_rule": "fail", "replace_failed_wrapped": "pass"},
            {"rewrite_input": "no", "replace_failed": "no"},
        ),
        (dict.fromkeys((*INJECTED, *REPLACED), "recorded"), {}),
    ],
)
def test_what_a_version_can_do_follows_from_what_was_proven_and_from_nothing_else(found, decided):
    assert capability(results(**found)) == decided


def test_a_failed_route_that_admit_needs_is_a_fault_and_an_expected_failure_is_not():
    assert findings("9.9", results(replace_failed="fail", replace_bash="pass")) == ()
    (fault,) = findings("9.9", results(replace_bash="fail"))
    assert (fault.id, fault.level) == ("replace-bash", "fault") and "9.9" in fault.text
    (note,) = findings("9.9", results(replace_webfetch="unproven"))
    assert note.level == "note"


@pytest.mark.parametrize(
    "found, words",
    [
        ({"rewrite_input": "fail"}, "runs no rewritten command"),
        (
            {"rewrite_input": "pass", "deny_rule": "fail", "allow_rule": "fail"},
            "against the rewritten text alone",
        ),
        ({"rewrite_input": "pass", "deny_rule": "pass", "allow_rule": "fail"}, "asks again"),
    ],
)
def test_why_the_wrap_stays_off_is_said_once(found, words):
    (note,) = findings("9.9", results(**found))
    assert (note.id, note.level) == ("wrap", "note") and words in note.text


def test_results_are_kept_by_version_and_switch_routes(place):
    passed = ProbeResult("replace-bash", "pass", "seen", Evidence("/t.jsonl", 7))
    failed = ProbeResult("replace-mcp", "fail", "seen")
    selftest.keep("9.9", [passed, failed], 1_000)
    selftest.keep("9.9", [failed._replace(detail="again")], 2_000)
    selftest.keep(None, [failed], 3_000)
    kept = selftest.last_report("9.9")
    assert kept is not None and kept["at_ms"] == 2_000
    assert [(one["name"], one["detail"], one["evidence"]) for one in kept["probes"]] == [
        ("replace-bash", "seen", {"file": "/t.jsonl", "line": 7}),
        ("replace-mcp", "again", None),
    ]
    assert routes.proven(Capability(replace_ok="yes"), NAME, "9.9").replace_ok == "no"
    assert routes.proven(Capability(replace_ok="yes"), NAME, "9.8").replace_ok == "yes"
    assert selftest.last_report("9.8") is None


def test_a_probe_that_there_is_not_is_named_with_those_that_there_are():
    with pytest.raises(UsageError, match="replace-bash"):
        chosen(["replace-bsh"])
    assert [probe.name for probe in chosen(["overrun", "replace-bash"])] == ["replace-bash", "overrun"]
    assert chosen([]) == PROBES


def test_without_a_client_every_result_is_recorded_and_none_is_pass():
    version, found = selftest.replay_selftest(PROBES)
    assert version == shipped_recording().version
    by_result = {one.name: one.result for one in found}
    assert list(by_result) == list(BY_NAME)
    for probe in PROBES:
        assert by_result[probe.name] == ("recorded" if probe.session in SESSIONS else "unproven")


def test_a_writer_that_changed_since_the_recording_fails_its_replay():
    recording = shipped_recording()
    hooks = tuple(
        (session, event, payload, {"other": 1} if answer and "updatedToolOutput" in str(answer) else answer)
        for session, event, payload, answer in recording.hooks
    )
    found = replay(PROBES, recording._replace(hooks=hooks))
    assert found["replace-bash"][0] == "fail" and found["replace-mcp"][0] == "fail"
    assert found["inject-prompt"][0] == "recorded"


def test_the_recording_holds_nothing_of_the_machine_it_was_made_on():
    text = (Path(plans.__file__).parent / FILE).read_text("utf-8")
    assert not any(word in text for word in ("/tmp", "/root", "/home", os.path.expanduser("~"), "api-key"))


def test_the_probe_server_speaks_as_a_client_of_mcp_expects():
    assert result_of("initialize", {"protocolVersion": "v"}, "w")["protocolVersion"] == "v"
    assert [one["name"] for one in result_of("tools/list", {}, "w")["tools"]] == ["blocks", "structured"]
    assert result_of("tools/call", {"name": "blocks"}, "w")["content"][0] == {"type": "text", "text": "w"}
    assert result_of("tools/call", {"name": "structured"}, "w")["structuredContent"] == {"word": "w"}
    assert result_of("ping", {}, "w") == {}


def test_the_command_prints_the_replay_and_says_that_it_is_one(place):
    env = {"PATH": os.defpath, "HOME": str(place), "XDG_STATE_HOME": str(place / "state")}
    done = subprocess.run(
        [ADMIT, "selftest", "claude-code", "--json"], env=env, capture_output=True, timeout=120
    )
    told = json.loads(done.stdout)
    assert (done.returncode, told["host"], told["version"]) == (0, "claude-code", shipped_recording().version)
    assert {one["result"] for one in told["probes"]} == {"recorded", "unproven"}
    done = subprocess.run(
        [ADMIT, "selftest", "claude-code"], env=env, capture_output=True, text=True, timeout=120
    )
    assert "without a client, from what was recorded with" in done.stdout
    assert not (place / "state" / "admit" / "hosts.json").exists()


@pytest.mark.parametrize(
    "args", [["nothere"], ["claude-code", "--probe", "nothere"], ["claude-code", "--client", ADMIT]]
)
def test_what_cannot_be_tested_is_a_wrong_use(place, args):
    env = {"PATH": os.defpath, "HOME": str(place)}
    done = subprocess.run([ADMIT, "selftest", *args], env=env, capture_output=True, timeout=120)
    assert done.returncode == 2 and done.stderr.startswith(b"admit: ")


@needs_client
def test_the_real_client_lets_through_what_admit_relies_on(place):
    path = client()
    version = host_version(path)
    assert version is not None
    found = selftest.run_selftest(path, version, PROBES, values=shipped())
    shown = {one.name: (one.result, one.detail) for one in found}
    for one in found:
        assert not one.probe.needed or one.result in ("pass", "unproven"), shown
        assert one.result != "pass" or one.evidence is not None, shown
        if one.evidence is not None:
            line = Path(one.evidence.file).read_bytes().split(b"\n")[one.evidence.line - 1]
            assert f"-{one.name}-".encode() in line
    assert shown["replace-failed"][0] == "fail"


def delivered(database):
    """What the transcript proved to have reached the model."""
    if not database.exists():
        return []
    events = [event for record in iter_records(str(database)) for event in record.events]
    return [event for event in events if event.type == "admit.delivered"]


@needs_client
def test_a_session_of_the_real_client_after_init_goes_through_the_real_daemon(place, tmp_path):
    """As a user does it: init, a session that starts the daemon, a session whose output is cut and proven."""
    path = client()
    project = tmp_path / "project"
    project.mkdir()
    log = "".join(f"[{n:05}] compiling module number {n * 7} now\n" for n in range(400))
    (project / "build.log").write_text(log + "src/parse.c:41: error: unknown type name 'token_t'\n" + log)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC", "CLAUDE"))}
    env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    env |= {"ANTHROPIC_API_KEY": "none", "NO_PROXY": "127.0.0.1"}

    def admit(*args):
        return subprocess.run([ADMIT, *args], env=env, capture_output=True, text=True, timeout=120)

    done = admit("init", "claude-code", "--yes", "--no-selftest", "--client", path)
    assert done.returncode == 0, done.stderr
    results = []
    try:
        for _ in range(2):
            with FakeMessages([Call("Bash", {"command": "cat build.log"})]) as fake:
                command = [
                    path,
                    "-p",
                    "mend the build",
                    "--permission-mode",
                    "bypassPermissions",
                    "--tools",
                    "Bash",
                ]
                subprocess.run(
                    command,
                    cwd=project,
                    env={**env, "ANTHROPIC_BASE_URL": fake.url},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=120,
                    check=True,
                )
                results.append(fake.result_of(0))
            end = time.monotonic() + 30
            while admit("daemon", "status").returncode and time.monotonic() < end:
                time.sleep(0.1)
        assert results[-1].startswith("[admit ") and "error: unknown type name 'token_t'" in results[-1]
        assert len(results[-1]) < 9_500 < len(log)
        database = place / "state" / "admit" / "ledger.db"
        while not (proven := delivered(database)) and time.monotonic() < end:
            time.sleep(0.1)
        # Two where the daemon, which the first session starts, was quick enough for its output.
        assert 1 <= len(proven) <= 2
        assert {(event.door, event.body["channel"]) for event in proven} == {("outputs", "replace")}
    finally:
        done = admit("uninstall", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["daemon_stopped"] and not (place / ".claude" / "settings.json").exists()
    assert not (place / "state" / "admit").exists()
