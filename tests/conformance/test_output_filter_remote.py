"""The output filter through a remote judge: a real server on loopback, real requests, a real repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from admit.config.keys import shipped
from admit.core.events import undeclared
from admit.judges.consent import statement
from admit.judges.load import load_judge
from admit.judges.profiles import profile
from admit.ledger.memory import MemoryLedger, MemoryOutputs
from admit.outputs.ask import chunks
from admit.outputs.gate import OutputGate
from admit.outputs.model import FilterConfig, JudgeProfile, OutputConfig, RawOutput, Task
from tests.servers.chat_server import ChatServer

ROOT = Path(__file__).parents[2]
TASK = "what changed in part 340 of the shop"
ON = FilterConfig(enabled=True, timeout_ms=20_000)
PUBLISHED = ON._replace(scope="unparsed", partial="reject", fit="chunks")
AS_PUBLISHED = OutputConfig(guard_share_failure=0.0, guard_share_spread=0.0, filter=PUBLISHED)
BY_DEFAULT = OutputConfig(filter=ON)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> str:
    """`git log --stat` of a repository made here, cut after as many commits as make 97 passages."""
    folder = tmp_path_factory.mktemp("repository")
    stream: list[str] = []
    for k in range(520):
        message = f"Give part {k} of the shop another colour\n\nAnd keep the rest of it as it was.\n"
        when = f"A Person <person@example.com> {1_700_000_000 + 60 * k} +0000"
        stream += [
            "commit refs/heads/main",
            f"committer {when}",
            f"data {len(message)}\n{message}",
        ]
        for n in range(6):
            text = f"colour {k}\n" * (n + 1)
            name = f"src/shop/part_{k % 60}/file_{n}.py"
            stream.append(f"M 100644 inline {name}\ndata {len(text)}\n{text}")
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str, given: str = "") -> str:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=quiet, input=given, text=True, capture_output=True, check=True
        )
        return done.stdout

    git("init", "-q", "-b", "main")
    git("fast-import", "--quiet", given="\n".join(stream) + "\n")

    def passages(commits: int) -> int:
        return len(chunks(text(commits).split("\n")[:-1], 2_000))

    whole = git("log", "--stat", "--stat-width=90", "--no-color", "main").split("\ncommit ")

    def text(commits: int) -> str:
        return "\ncommit ".join(whole[:commits]) + "\n"

    return text(next(n for n in range(200, len(whole)) if passages(n) == 97))


def about(*parts: int):
    """Answers yes to passages with one of these parts of the shop in a commit's subject."""

    def judge(task: str, text: str) -> float:
        return 1.0 if any(f"Give part {k} of" in text for k in parts) else 0.0

    return judge


class Door:
    """The gate with the stack of the profile `jev` and its limits of a request, sent to a server here."""

    def __init__(self, server: ChatServer, config: OutputConfig = AS_PUBLISHED, **settings: object) -> None:
        values = {**shipped(), "judge.profiles.jev.destination": server.url, **settings}
        chosen = profile("jev", values)
        cell = chosen.doors["outputs"]
        allowed = JudgeProfile(cell.max_candidates or 0, cell.threshold or 0.0, 20_000, "jev")
        self.ledger = MemoryLedger()
        self.gate = OutputGate(
            config,
            store=MemoryOutputs(self.ledger),
            judge=load_judge(chosen, config=values),
            ledger=self.ledger,
            key=b"k" * 32,
            profile=allowed,
        )

    def admit(self, text: str, task: str = TASK):
        return self.gate.admit(RawOutput.of(text, exit_code=0), Task(task), session="s")

    @property
    def record(self):
        return self.ledger.records[-1]


def excerpt(text: str, config: OutputConfig = AS_PUBLISHED):
    gate = OutputGate(config._replace(filter=FilterConfig()), store=MemoryOutputs(), key=b"k" * 32)
    return gate.admit(RawOutput.of(text, exit_code=0), Task(TASK))


def test_F10_case_26_a_real_log_of_97_passages_takes_5_requests_and_keeps_at_most_6000_characters(log):
    """case 26"""
    with ChatServer(judge=about(340, 480)) as server:
        door = Door(server)
        assert door.gate.estimate(RawOutput.of(log, exit_code=0), Task(TASK)).requests == 5
        assert server.requests == []
        result = door.admit(log)
    assert len(result.chunks) == 97 and not result.parsed
    assert len(server.requests) == result.requests == 5
    asked = [name for one in server.requests for name in one.json()["questions"]]
    assert sorted(asked, key=lambda name: int(name[1:])) == [f"q{k}" for k in range(1, len(asked) + 1)]
    assert result.how == "judged" and result.reason == ""
    assert result.kept_chars <= 6_000 and "Give part 340 of the shop" in result.text
    assert "Give part 480 of the shop" in result.text and log[-900:] in result.text


def test_F8_each_request_is_a_row_with_its_cost_and_the_decision_holds_the_sums(log):
    with ChatServer(judge=about(340)) as server:
        door = Door(server)
        result = door.admit(log)
    row, calls = door.record.decision, door.record.calls
    assert [call.call_id for call in calls] == [f"{row.decision_id}.{k}" for k in range(1, 6)]
    assert sum(call.questions for call in calls) == row.n_within == result.decision.coverage.judged
    assert {call.destination for call in calls} == {server.url}
    assert {(call.sent, call.outcome, call.model_answered) for call in calls} == {
        ("yes", "judged", "jev-1.13.0")
    }
    assert all(call.request_bytes == len(one.body) for call, one in _paired(calls, server.requests))
    assert all(call.cost_usd == call.input_tokens * 0.042 / 1e6 for call in calls)
    assert {call.cost_source for call in calls} == {"price_table"}
    assert row.extra["requests"] == 5 and row.judge_ms == result.judge_ms > 0
    assert (row.extra["how"], row.mode, row.status, row.profile) == ("judged", "enforce", "judged", "jev")
    assert [event.type for event in door.record.events] == ["outputs.judged"]


def test_an_unknown_usage_is_an_unknown_cost(log):
    with ChatServer("no-usage", judge=about(340)) as server:
        door = Door(server)
        assert door.admit(log).how == "judged"
    assert {(call.cost_usd, call.input_tokens, call.cost_source) for call in door.record.calls} == {
        (None, None, "unknown")
    }


def test_F7_what_is_sent_is_the_whole_redacted_output_but_the_end_that_is_shown_anyway(log):
    secret = "ghp_" + "a1B2" * 9
    lines = log.split("\n")
    lines[900:900] = [f"pushed with {secret}"]
    text = "\n".join(lines)
    with ChatServer(judge=about(340)) as server:
        door = Door(server)
        door.admit(text, f"{TASK}, with {secret}")
    bodies = [one.json() for one in server.requests]
    passages = {
        name: json.loads(fenced.partition("]]")[2].rpartition("[[/data")[0])
        for body in bodies
        for name, fenced in body["state"].items()
        if name not in ("task", "context")
    }
    at = {part: text.replace(secret, "[redacted:token]").index(part) for part in passages.values()}
    sent = "\n".join(sorted(passages.values(), key=lambda part: at[part]))
    assert text.replace(secret, "[redacted:token]").startswith(sent) and len(text) - len(sent) < 4_000
    assert not any(secret.encode() in one.body for one in server.requests)
    # The record says where something was masked, in the passage as it was, and never what.
    masked = [pointer for call in door.record.calls for pointer in call.masked]
    assert {pointer["class"] for pointer in masked} == {"token"} and secret not in repr(door.record)
    [passage] = [pointer for pointer in masked if pointer["at"] != "/task"]
    held = passages[passage["at"].removeprefix("/")]
    assert held[passage["start"] :].startswith("[redacted:token]") and passage["len"] == len(secret)
    assert len(masked) == 1 + len(bodies)  # the task goes with every request
    assert door.record.decision.extra["masked"] == {"token": 2}


def test_F7_the_consent_text_and_the_page_say_it_word_for_word():
    rule = (
        "When the outputs filter runs, the whole redacted output is sent to {}, not only the passages that "
        "are kept."
    )
    address = "https://api.typesafe.ai:443"
    assert rule.format(address) in statement(address, "outputs").split("\n")
    page = (ROOT / "docs/data-handling.md").read_text(encoding="utf-8")
    assert rule.format("DESTINATION") in " ".join(page.split())


class OneFails(ChatServer):
    """Fails the request with the newest commit."""

    def __init__(self, judge) -> None:
        super().__init__(judge=judge)
        own = self

        class Handler(self._server.RequestHandlerClass):  # type: ignore[name-defined, misc]
            def _answer(self, asked, mode):
                if "Give part 519 of" in json.dumps(asked):
                    self._send(500, json.dumps({"error": {"message": "no"}}).encode())
                else:
                    super()._answer(asked, own.mode)

        self._server.RequestHandlerClass = Handler


def test_case_13_one_of_five_requests_fails_and_the_others_stand(log):
    """case 13"""
    with OneFails(about(340)) as server:
        door = Door(server, BY_DEFAULT)
        result = door.admit(log)
    assert len(server.requests) == 5 and result.how == "judged"
    assert result.decision.status == "partial" and result.decision.reason == "provider_500"
    coverage = result.decision.coverage
    failed = [call for call in door.record.calls if call.reason == "provider_500"]
    assert len(failed) == 1 and coverage.unjudged == failed[0].questions
    assert 0.7 < coverage.judged / (coverage.judged + coverage.unjudged) < 0.9
    assert "Give part 340 of the shop" in result.text
    assert door.record.decision.extra["defects"] == {"batch_failed": coverage.unjudged}
    assert failed[0].cost_usd is None and failed[0].sent == "yes"


def test_case_13_as_published_one_failed_request_keeps_the_excerpt_with_its_reason(log):
    """case 13"""
    with OneFails(about(340)) as server:
        door = Door(server)
        result = door.admit(log)
    assert (result.how, result.reason) == ("local", "provider_500")
    assert result.data == excerpt(log).data
    assert door.record.decision.status == "fallback" and len(door.record.calls) == 5


def test_what_qualified_and_did_not_fit_is_named_in_the_first_line_and_in_the_record(log):
    with ChatServer(judge=about(*range(520))) as server:
        door = Door(server)
        result = door.admit(log)
    drops = result.dropped_qualifying
    assert drops is not None and drops["chunks"] > 80 and result.kept_chars <= 6_000
    first = result.text.partition("\n")[0]
    assert f"{drops['chunks']:,} more ({drops['chars']:,} chars) qualified and did not fit." in first
    assert door.record.decision.extra["dropped_qualifying"] == dict(drops)


def test_case_9_a_judge_that_scores_nothing_loses_no_guarded_line(log):
    """case 9"""
    lines = log.split("\n")
    lines[700:700] = ["error: cannot open the shop: the key does not fit"]
    broken = "\n".join(lines)
    with ChatServer(judge=about(340)) as server:
        result = Door(server, BY_DEFAULT).admit(broken)
    assert result.how == "judged" and "the key does not fit" in result.text
    with ChatServer(judge=about()) as server:
        nothing = Door(server, BY_DEFAULT).admit(broken)
    assert (nothing.how, nothing.reason) == ("local", "none_passed")
    assert "the key does not fit" in nothing.text


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("status-429", "provider_429"),
        ("broken-json", "answer_not_json"),
        ("redirect", "redirect"),
        ("closes", "transport"),
        ("missing", None),
    ],
)
def test_F5_whatever_the_server_does_the_answer_is_the_excerpt_or_a_partial_choice(log, mode, reason):
    with ChatServer(mode, judge=about(340)) as server:
        door = Door(server, BY_DEFAULT)
        result = door.admit(log)
    if reason is None:
        assert result.how == "judged" and door.record.decision.extra["defects"] == {"missing": 5}
        return
    assert (result.how, result.reason) == ("local", reason)
    assert result.data == excerpt(log, BY_DEFAULT).data
    events = {event.type: event.body for event in door.record.events}
    assert events["judge.fallback"]["reason"] == reason
    assert events["judge.fallback"]["questions"] == door.record.decision.n_within
    assert [odd for one in door.record.events for odd in undeclared(one.type, one.body)] == []


def test_F6_a_server_that_never_answers_costs_the_deadline_and_the_excerpt_stands(log):
    with ChatServer("stall-headers", judge=about(340)) as server:
        door = Door(server, BY_DEFAULT._replace(filter=ON._replace(timeout_ms=600)))
        result = door.admit(log)
    assert (result.how, result.reason) == ("local", "deadline")
    assert result.data == excerpt(log, BY_DEFAULT).data
    assert 300 < (result.judge_ms or 0) < 3_000


def test_another_model_than_was_asked_only_records_and_the_excerpt_stands(log):
    with ChatServer("drift", judge=about(340)) as server:
        door = Door(server, BY_DEFAULT)
        result = door.admit(log)
    assert (result.how, result.reason) == ("local", "shadow:model_drift")
    assert result.changed and result.data == excerpt(log, BY_DEFAULT).data
    row = door.record.decision
    assert (row.mode, row.status, row.extra["shadow"]) == ("shadow", "judged", "model_drift")
    assert {one.source for one in door.record.verdicts} == {"shadow"}
    assert {one.would for one in door.record.verdicts} >= {"admitted", "blocked"}
    [drift] = [event.body for event in door.record.events if event.type == "judge.model_drift"]
    assert drift == {"asked": "jev-1.13.0", "answered": "another-model"}


def test_judge_mode_shadow_asks_records_and_shows_the_excerpt(log):
    with ChatServer(judge=about(340)) as server:
        door = Door(server, BY_DEFAULT, **{"judge.mode": "shadow"})
        result = door.admit(log)
    assert len(server.requests) == 5 and (result.how, result.reason) == ("local", "shadow:mode")
    assert result.data == excerpt(log, BY_DEFAULT).data and door.record.decision.mode == "shadow"


def test_a_failure_in_shadow_is_told_as_the_failure_it_is(log):
    with ChatServer("status-500", judge=about(340)) as server:
        door = Door(server, BY_DEFAULT, **{"judge.mode": "shadow"})
        assert door.admit(log).reason == "provider_500"


def test_a_model_without_a_threshold_only_records(log):
    with ChatServer(judge=about(340)) as server:
        door = Door(
            server,
            BY_DEFAULT,
            **{"judge.profiles.jev.model": "own-1", "judge.profiles.jev.outputs.threshold": None},
        )
        result = door.admit(log)
    assert result.reason == "shadow:unverified"
    [event] = [event for event in door.record.events if event.type == "judge.unverified"]
    assert event.body == {"profile": "jev", "door": "outputs", "cause": "unverified"}


def test_a_cap_that_is_reached_is_an_event_and_nothing_more_is_sent(log):
    with ChatServer(judge=about(340)) as server:
        door = Door(server, BY_DEFAULT, **{"limits.session.requests": 2})
        door.admit(log)
        sent = len(server.requests)
        result = door.admit(log + "one more line\n")
    assert sent == 2 and len(server.requests) == 2
    assert (result.how, result.reason) == ("local", "budget_requests")
    bodies = [event.body for event in door.record.events if event.type == "judge.budget"]
    assert bodies and all(body == {"cap": "session.requests", "used": 2, "limit": 2} for body in bodies)
    assert {call.sent for call in door.record.calls} == {"no"} and result.requests == 0


def _paired(calls, requests):
    """Calls with their requests; these came in any order."""
    by_size = sorted(requests, key=lambda one: len(one.body))
    return zip(sorted(calls, key=lambda call: call.request_bytes), by_size, strict=True)
