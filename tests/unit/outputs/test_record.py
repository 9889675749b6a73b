import hashlib
import threading

import pytest

from admit.core.event_fields import OUTPUT_FIELDS
from admit.core.events import undeclared
from admit.errors import StoreFailed
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import FrozenClock
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.memory import MemoryLedger, MemoryOutputs
from admit.outputs.again import shown_again
from admit.outputs.model import FilterConfig, JudgeProfile, Kept, RawOutput, Task
from admit.outputs.record import MOST_RANGES, config_hash, ranges

from .cases import CONFIG, KEY, Door, steps, text_of

FAILED = text_of(steps(0, 900), "error: the pool is full", steps(900, 1_000))
FILTERED = CONFIG._replace(filter=FilterConfig(enabled=True))


def recorded(data=FAILED, task="the secret plan", *, config=CONFIG, judge=None, **fields):
    door = Door(config, judge=judge)
    result = door.admit(data, task, **{"exit_code": 0, "command": "make hush", "tool": "bash", **fields})
    [record] = door.records
    return result, record


def test_one_row_tells_what_was_decided_with_sizes_in_characters():
    result, record = recorded(host_limit_chars=20_000)
    row = record.decision
    assert (row.decision_id, row.output_id, row.door) == (result.decision_id, result.id, "outputs")
    assert (row.unit, row.cap, row.mode, row.status) == ("chars", 6_000, "enforce", "off")
    assert (row.size_in, row.size_out, row.size_host) == (len(FAILED), len(result.text), 20_000)
    assert row.elapsed_ms == result.total_ms and row.judge_ms is None and row.reason is None
    assert row.profile is None and row.policy_hash == config_hash(CONFIG)
    assert record.candidates == record.verdicts == record.events == ()


def test_the_doors_own_fields_are_those_of_the_result():
    result, record = recorded(host_limit_chars=20_000)
    extra = record.decision.extra
    assert extra["how"] == "local" and extra["reason"] == "" and extra["kind"] == "command"
    assert (extra["tool"], extra["exit_code"], extra["mode"], extra["parsed"]) == ("bash", 0, "spread", False)
    assert extra["original_chars"] == len(FAILED) and extra["lines"] == 1_001
    assert (extra["kept_chars"], extra["kept_lines"]) == (result.kept_chars, result.kept_lines)
    assert extra["shown_chars"] == len(result.text) and extra["host_limit_chars"] == 20_000
    assert extra["saved_chars"] == result.saved_chars == 20_000 - len(result.text)
    assert extra["gaps"] == len(result.gaps) and extra["chunks"] == extra["judged"] == extra["requests"] == 0
    assert extra["guards"]["failure"] >= 1 and set(extra["guards"]) == {"failure", "summary", "term"}
    assert extra["id"] == result.id and extra["total_ms"] == result.total_ms
    assert extra["config_hash"] == config_hash(CONFIG)
    assert "dropped_qualifying" not in extra and "judge_ms" not in extra


def test_every_field_that_is_written_is_a_documented_one():
    judge = ScriptedJudge(lambda question: 3.0)
    for config in (CONFIG, FILTERED):
        _, record = recorded(config=config, judge=judge, host_limit_chars=9_000)
        assert set(record.decision.extra) <= set(OUTPUT_FIELDS)


def test_the_kept_ranges_come_back_as_they_were():
    result, record = recorded()
    assert ranges(record.decision.extra) == result.kept
    assert all(isinstance(one, Kept) for one in ranges(record.decision.extra))
    assert ranges({}) == ()


def test_at_most_256_kept_ranges_are_written():
    lines = [f"error {chr(97 + k % 26)}{chr(97 + k // 26)}" if k % 2 else "y" * 300 for k in range(1_300)]
    config = CONFIG._replace(max_kept_chars=20_000, guard_share_spread=1.0, guard_context=0, tail_chars=0)
    result, record = recorded(text_of(lines), config=config)
    assert len(result.kept) > MOST_RANGES
    assert len(record.decision.extra["kept"]) == MOST_RANGES


def test_an_unknown_exit_code_and_an_unknown_host_limit_are_left_out_and_never_0():
    _, record = recorded(exit_code=None)
    assert "exit_code" not in record.decision.extra and "host_limit_chars" not in record.decision.extra
    assert record.decision.size_host is None


def test_no_text_of_output_task_or_command_is_recorded():
    judge = ScriptedJudge({}, default=2.0)
    for config in (CONFIG, FILTERED):
        _, record = recorded(config=config, judge=judge)
        written = repr(record)
        for text in ("step 7", "pool", "secret plan", "make hush", "hush"):
            assert text not in written
    ledger = MemoryLedger()
    assert record.decision.extra["command"] == ledger.keyed(["make hush"])[0]
    assert record.decision.task_hash == ledger.keyed(["the secret plan"])[0]


def test_without_task_or_command_no_hash_is_recorded():
    _, record = recorded(task="", command=None)
    assert record.decision.task_hash is None and "command" not in record.decision.extra


@pytest.mark.parametrize(
    ("config", "data", "fields", "how", "reason"),
    [
        (CONFIG, FAILED, {"kind": "file_read"}, "exempt", "file_read"),
        (CONFIG, text_of(steps(0, 100)), {}, "exempt", "under_gate"),
        (CONFIG._replace(min_saving_share=0.99), FAILED, {}, "kept", "saving"),
    ],
)
def test_what_is_stored_and_not_cut_is_recorded_with_its_reason(config, data, fields, how, reason):
    _, record = recorded(data, config=config, **fields)
    assert record.decision.reason == record.decision.extra["reason"] == reason
    assert record.decision.extra["how"] == how and record.decision.size_out == len(data)


def test_a_judged_decision_is_recorded_with_candidates_verdicts_and_an_event():
    judge = ScriptedJudge(lambda question: 3.0 if "step 10 " in question.subject else 0.5)
    result, record = recorded(config=FILTERED, judge=judge)
    row, extra = record.decision, record.decision.extra
    assert result.how == extra["how"] == "judged" and row.status == "judged" and row.profile == "local"
    assert row.n_gathered == len(record.candidates) == len(record.verdicts) == len(result.chunks)
    assert row.n_admitted == 1 and row.n_exempt + row.n_admitted + row.n_blocked == row.n_gathered
    assert (row.n_within, row.n_overflow, row.n_unjudged) == (row.n_admitted + row.n_blocked, 0, 0)
    assert extra["requests"] == result.requests == 1 and row.judge_ms == extra["judge_ms"] == result.judge_ms
    assert (extra["judged"], extra["unjudged"], extra["overflow"]) == (row.n_within, 0, 0)
    for place, (candidate, verdict) in enumerate(zip(record.candidates, record.verdicts, strict=True), 1):
        assert candidate.ord == verdict.ord == place and candidate.decision_id == row.decision_id
        assert candidate.within and candidate.size > 0 and candidate.rank_tier is None
        assert candidate.score == candidate.rank_key[0]
        assert verdict.source == "live" and (verdict.kind == "score") == bool(verdict.p)
    assert max(one.expectation or 0 for one in record.verdicts) == 3.0
    [event] = record.events
    assert event.type == "outputs.judged" and event.decision_id == row.decision_id
    assert event.body["chunks"] == [[*one] for one in result.chunks]


def test_overflow_is_recorded_as_such():
    door = Door(
        FILTERED, judge=ScriptedJudge({}, default=2.0), profile=JudgeProfile(max_candidates=3, name="jev")
    )
    door.admit(FAILED, "the pool", exit_code=0)
    row = door.records[0].decision
    assert row.n_within == 3 and row.n_overflow > 5 and row.profile == "jev"
    assert row.extra["overflow"] == row.extra["unjudged"] == row.n_overflow
    assert sum(one.within for one in door.records[0].candidates) == 3 + row.n_exempt


def test_why_a_judges_word_was_not_used_is_the_reason():
    result, record = recorded(config=FILTERED, judge=ScriptedJudge({}, default=0.0))
    assert result.how == "local" and record.decision.reason == "none_passed"
    assert record.decision.status == "fallback" and record.decision.extra["reason"] == "none_passed"
    assert record.verdicts and record.events


def test_a_shadow_decision_is_marked_in_the_row_and_in_each_verdict():
    judge = ScriptedJudge({}, default=2.0)
    _, record = recorded(config=FILTERED._replace(mode="shadow"), judge=judge)
    assert record.decision.mode == "shadow" and {one.source for one in record.verdicts} == {"shadow"}


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize(
    ("data", "fields"),
    [
        (FAILED, {"exit_code": 1}),
        (FAILED, {"exit_code": None, "host_limit_chars": 9_000}),
        (text_of(steps(0, 900)), {"exit_code": 3}),
        ("word " * 5_000 + "\n" + "q r " * 5_000, {}),
        (FAILED.encode("utf-16"), {}),
        (FAILED.replace("step 9", "\x1b[31mstep 9\r\r").encode() + b"\xff\xfe", {}),
    ],
)
def test_what_was_shown_can_be_shown_again_from_the_record_and_the_stored_copy(data, fields, mode):
    shown = Door().admit(data, "the pool", **fields)
    door = Door(CONFIG._replace(mode=mode))
    result = door.admit(data, "the pool", **fields)
    raw = door.store.open(result.id).read()
    extra = door.records[0].decision.extra
    again = shown_again(raw, extra, hashlib.sha256(raw).digest(), KEY, recall=f"admit recall {result.id}")
    assert again == shown.data and result.changed == (mode == "enforce")


def faults_of(door):
    """The faults that were recorded, each a declared event."""
    events = [event for record in door.records for event in record.events if event.type == "outputs.fault"]
    assert [odd for one in events for odd in undeclared(one.type, one.body)] == []
    return [(one.body["id"], one.body["fault"], one.body["name"]) for one in events]


def test_a_fault_of_the_judges_code_is_recorded_beside_the_excerpt():
    door = Door(FILTERED, judge=FaultyJudge("raises"))
    result = door.admit(FAILED, "the pool", exit_code=0)
    assert (result.how, result.reason) == ("local", "internal")
    assert faults_of(door) == [(result.id, "judge", "RuntimeError")]
    assert [one.type for one in door.records[0].events] == [
        "outputs.judged",
        "outputs.fault",
        "judge.fallback",
    ]


def test_what_cannot_be_stored_is_a_fault_without_a_decision():
    class Full(MemoryOutputs):
        def put(self, data, meta):
            raise StoreFailed("no room") from OSError(28, "full")

    door = Door(store=Full())
    result = door.admit(FAILED)
    assert (result.how, result.reason, result.decision_id) == ("exempt", "store_failed", "")
    assert faults_of(door) == [(None, "store", "OSError")]
    assert [record.decision for record in door.records] == [None]


def test_a_fault_of_the_door_itself_is_recorded_though_nothing_else_is(monkeypatch):
    monkeypatch.setattr("admit.outputs.gate.is_own", lambda *_: 1 / 0)
    door = Door()
    assert door.admit(FAILED).data == FAILED.encode()
    assert faults_of(door) == [(None, "door", "ZeroDivisionError")]


def test_a_record_that_cannot_be_made_leaves_a_fault(monkeypatch):
    monkeypatch.setattr("admit.outputs.gate.record", lambda *_: 1 / 0)
    door = Door()
    result = door.admit(FAILED)
    assert result.how == "local" and faults_of(door) == [(result.id, "ledger", "ZeroDivisionError")]


def test_what_was_forgotten_is_recorded_where_there_was_something():
    door = Door()
    door.gate.forget("s")
    assert door.records == []
    door.admit(FAILED, session="s")
    assert door.gate.forget("s") == 1
    [event] = door.records[-1].events
    assert event.session == door.ledger.keyed(["s"])[0]
    assert (event.type, event.body) == ("outputs.forgot", {"cause": "call", "entries": 1})
    door.admit(FAILED, session="s")
    door.gate.forget("s", cause=None)
    assert door.records[-1].decision is not None


def test_what_was_masked_before_the_judge_was_asked_is_counted_by_class_and_never_shown():
    data = text_of(steps(0, 400), "login ghp_" + "a1B2" * 9, "case 4711 of Ada", steps(400, 900))
    profile = JudgeProfile(redact_patterns=(r"case \d+",))
    judge = ScriptedJudge({}, default=2.0)
    door = Door(FILTERED, judge=judge, profile=profile)
    door.admit(data, "look at case 12", exit_code=0)
    extra = door.records[0].decision.extra
    assert extra["masked"] == {"custom": 2, "token": 1}
    sent = repr(judge.asks)
    assert "ghp_" not in sent and "4711" not in sent and "case 12" not in sent and "of Ada" in sent


def test_an_output_that_cannot_be_redacted_is_not_asked_about(monkeypatch):
    monkeypatch.setattr("admit.judges.redact.MOST_BYTES", 1_000)
    judge = ScriptedJudge({}, default=2.0)
    door = Door(FILTERED, judge=judge)
    result = door.admit(FAILED, "the pool", exit_code=0)
    assert (result.how, result.reason, judge.asks) == ("local", "redaction", [])
    assert (door.records[0].decision.status, door.records[0].decision.reason) == ("fallback", "redaction")
    assert door.gate.estimate(RawOutput.of(FAILED), Task("the pool")) == (0, 0, 0)


def test_the_ask_names_the_session_whose_caps_it_spends_from():
    judge = ScriptedJudge({}, default=2.0)
    door = Door(FILTERED, judge=judge)
    for session in (None, "s", "s/agent-7"):
        door.admit(FAILED + f"{session}\n", "the pool", session=session, exit_code=0)
    assert [ask.session for ask in judge.asks] == [None, "s", "s"]


def test_a_judge_that_is_bounded_already_is_not_bounded_twice():
    inner = ScriptedJudge({}, default=2.0)
    bounded = BoundedJudge(inner, shadow="mode")
    threads = set()
    inner_ask = inner.ask
    inner.ask = lambda ask: (threads.add(threading.current_thread().name), inner_ask(ask))[1]
    door = Door(FILTERED, judge=bounded)
    result = door.admit(FAILED, "the pool", exit_code=0)
    assert (result.how, result.reason) == ("local", "shadow:mode") and len(threads) == 1


def test_the_deadline_is_recorded_and_the_ask_gets_what_redaction_left_of_it():
    class Slow(FrozenClock):
        def monotonic(self):
            self.advance(0.010)
            return super().monotonic()

    judge = ScriptedJudge({}, default=2.0)
    door = Door(FILTERED, judge=judge, clock=Slow())
    door.admit(FAILED, "the pool", exit_code=0)
    assert door.records[0].decision.deadline_ms == 2_000
    assert 500 < judge.asks[0].deadline_ms < 2_000


def test_the_profile_is_recorded_with_its_hash():
    profile = JudgeProfile(name="jev", hash="sha256:x")
    door = Door(FILTERED, judge=ScriptedJudge({}, default=2.0), profile=profile)
    door.admit(FAILED, "the pool", exit_code=0)
    row = door.records[0].decision
    assert (row.profile, row.profile_hash, row.threshold) == ("jev", "sha256:x", 1.5)


def test_the_hash_of_a_configuration_changes_with_any_value():
    values = {config_hash(CONFIG), config_hash(CONFIG._replace(tail_chars=1)), config_hash(FILTERED)}
    assert len(values) == 3
    assert all(value.startswith("sha256:") for value in values)
    assert config_hash(CONFIG) == config_hash(type(CONFIG)())


def test_every_decision_has_an_id_of_its_own():
    door = Door()
    ids = [door.admit(FAILED).decision_id for _ in range(3)]
    assert ids == [record.decision.decision_id for record in door.records]
    assert len(set(ids)) == 3 and all(len(one) == 32 for one in ids)


def test_the_time_a_decision_takes_is_told_in_milliseconds():
    class Ticking(FrozenClock):
        def monotonic(self):
            self.advance(0.025)
            return super().monotonic()

    door = Door(clock=Ticking())
    assert door.admit(FAILED).total_ms == pytest.approx(25)
    assert door.admit("short").total_ms == pytest.approx(25)


def test_the_session_is_recorded():
    door = Door()
    door.admit(FAILED, Task(), session="hmac:s")
    assert door.records[0].decision.session == "hmac:s"
