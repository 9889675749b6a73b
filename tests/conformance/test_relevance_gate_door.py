"""The relevance gate through its front door: files in folders, a scripted judge, a clock that is told."""

from __future__ import annotations

import pytest

from admit.config import layers
from admit.core.question import RequestLimits
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import FrozenClock
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.memory import MemoryLedger
from admit.report.session_report import summary
from tests.unit.guidance.gated import PROFILE, events, judged_by, opened, prompt, read, stages
from tests.unit.guidance.project import Guidance

CAP = f"judge__profiles__{PROFILE}__guidance__max_candidates"
TABLE = f"[judge.profiles.{PROFILE}.guidance]\n"


@pytest.fixture
def guidance(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return Guidance(tmp_path)


@pytest.fixture
def ledger():
    return MemoryLedger()


def scored(guidance, n):
    """n ways, the first the most probable."""
    for k in range(n):
        guidance.way("project", f"w{k:02d}", f"description: about {k}")
    return {f"w{k:02d}": 0.99 - k / 1000 for k in range(n)}


def explicit(guidance, n):
    """n ways whose patterns match "deployment now", the first the most telling."""
    for k in range(n):
        guidance.way("project", f"e{k}", f"pattern: {'deployment now'[: 14 - k]}\ndescription: d{k}")


def asked(judge):
    [ask] = judge.asks
    return [question.subject.split("\n")[0].replace(" › ", "/") for question in ask.questions]


def test_R1_a_scan_puts_eight_candidates_into_its_request(guidance):
    judge = judged_by({})
    result = opened(guidance, judge=judge, scores=scored(guidance, 15)).scan(prompt("deploy"))
    assert asked(judge) == [f"w{k:02d}" for k in range(8)]
    assert (result.gate.judged, result.gate.unjudged, result.gate.threshold) == (8, 7, 0.3)


def test_R1_a_user_may_carry_more_and_a_project_only_fewer(guidance):
    text = TABLE + "max_candidates = {}\n"
    user = guidance.file(guidance.home / ".config/admit/admit.toml", text.format(12))
    assert opened(guidance).judge.max_candidates == 12
    guidance.file(".admit.toml", text.format(5))
    assert opened(guidance).judge.max_candidates == 5
    guidance.file(
        ".admit.toml",
        text.format(50) + '[guidance.gate]\noverflow = "block"\n[guidance.matcher]\nadmit = 0.1\n',
    )
    config = layers.load(str(guidance.project))
    assert opened(guidance).judge.max_candidates == 12 and user.exists()
    assert {one.key for one in config.refused} == {
        f"judge.profiles.{PROFILE}.guidance.max_candidates",
        "guidance.gate.overflow",
        "guidance.matcher.admit",
    }
    assert (
        config.values["guidance.gate.overflow"] == "pass" and config.values["guidance.matcher.admit"] == 0.5
    )


@pytest.mark.parametrize("offered", [9, 33, 60])
def test_R2_with_room_for_all_one_request_carries_all_and_nothing_is_logged_as_capped(
    guidance, ledger, offered
):
    judge = judged_by({}, limits=RequestLimits(batch_questions=32))
    values = {CAP: 60, "guidance__max_per_turn": 100, "hosts__inject_max_chars": 20_000}
    gate = opened(guidance, judge=judge, ledger=ledger, scores=scored(guidance, offered), **values)
    result = gate.scan(prompt("deploy"))
    assert len(asked(judge)) == offered == len(result.shown)
    assert (result.gate.judged, result.gate.unjudged) == (offered, 0)
    assert events(ledger, "guidance.gate_capped") == events(ledger, "guidance.gate_fallback") == []


def test_R3_the_request_and_the_text_follow_the_admission_order(guidance):
    scores = scored(guidance, 3)
    explicit(guidance, 2)
    guidance.way("project", "w02/strong", "description: a child")
    judge = judged_by({})
    result = opened(guidance, judge=judge, scores=scores | {"w02/strong": 0.999}).scan(
        prompt("deployment now")
    )
    order = ["e0", "e1", "w02", "w02/strong", "w00", "w01"]
    assert asked(judge) == order and list(result.shown) == order
    places = [result.text.index(f"[guidance {name} ·") for name in order]
    assert places == sorted(places)


def test_R3_the_order_of_the_files_never_matters(guidance):
    scores = scored(guidance, 12)
    first = opened(guidance, judge=judged_by({}), scores=scores).scan(prompt("deploy")).shown
    again = opened(guidance, judge=judged_by({}), scores=dict(reversed(scores.items())))
    assert again.scan(prompt("deploy")).shown == first


def test_R4_strict_patterns_are_shown_unjudged_and_take_no_seat(guidance, ledger):
    for k in range(3):
        guidance.way("project", f"strict{k}", "pattern_strict: deploy\ndescription: d")
    judge = judged_by({}, default=0.0)
    gate = opened(guidance, judge=judge, ledger=ledger, scores=scored(guidance, 8))
    result = gate.scan(prompt("deploy"))
    assert len(asked(judge)) == 8 and events(ledger, "guidance.gate_capped") == []
    assert result.shown == ("strict0", "strict1", "strict2")
    assert {one.ruling.verdict for one in result.outcomes if one.id.startswith("strict")} == {"exempt"}


def test_R5_what_is_past_the_cap_passes_unjudged_and_is_logged_once_with_its_ids(guidance, ledger):
    judge = judged_by({})
    gate = opened(
        guidance, judge=judge, ledger=ledger, scores=scored(guidance, 15), guidance__max_per_turn=50
    )
    result = gate.scan(prompt("deploy"))
    past = [f"w{k:02d}" for k in range(8, 15)]
    assert len(judge.asks) == 1 and list(result.shown[8:]) == past
    [body] = events(ledger, "guidance.gate_capped")
    assert (body["judged"], body["unjudged"], body["unjudged_ids"]) == (8, 7, past)
    assert (body["max_candidates"], body["fill"], body["overflow"]) == (8, "admission", "pass")


@pytest.mark.parametrize("says, stage", [(0.1, "ancestor"), (0.9, "shown")])
def test_R5_a_child_past_the_cap_goes_with_the_parent_that_the_judge_blocked(guidance, says, stage):
    scores = scored(guidance, 8) | {"w00/late": 0.5}
    guidance.way("project", "w00/late", "description: a child")
    for k in range(7):  # before the child in the tree of its parent
        guidance.way("project", f"w00/{k}", "description: a child")
        scores[f"w00/{k}"] = 0.9
    result = opened(guidance, judge=judged_by({"w00": says}), scores=scores).scan(prompt("deploy"))
    late = next(one for one in result.outcomes if one.id == "w00/late")
    assert (late.rank, late.stage) == (9, stage)
    assert late.ruling.ancestor == ("w00" if stage == "ancestor" else None)


def test_R5_a_name_that_only_begins_alike_is_no_descendant(guidance):
    scores = {"a/b": 0.99} | scored(guidance, 7) | {"a/b-x": 0.6, "a/b/c": 0.5}
    for name in ("a/b", "a/b-x", "a/b/c"):
        guidance.way("project", name)
    got = stages(opened(guidance, judge=judged_by({"a/b": 0.0}), scores=scores).scan(prompt("deploy")))
    assert (got["a/b"], got["a/b-x"]) == ("blocked", "shown")


def test_R6_one_request_of_two_seconds_and_past_it_everything_passes(guidance, ledger):
    clock = FrozenClock(100.0)
    slow = ScriptedJudge(lambda question: 0.0, clock=clock, delay_ms=2100)
    gate = opened(
        guidance, judge=BoundedJudge(slow, clock), ledger=ledger, scores=scored(guidance, 10), clock=clock
    )
    result = gate.scan(prompt("deploy"))
    assert [one.deadline_ms for one in slow.asks] == [2000]
    assert (result.gate.status, result.gate.reason, len(result.shown)) == ("fallback", "deadline", 10)
    [body] = events(ledger, "guidance.gate_fallback")
    assert (body["reason"], body["candidates"]) == ("deadline", 8)
    [capped] = events(ledger, "guidance.gate_capped")  # also when it falls back
    assert capped["unjudged"] == 2
    gate.delivered(result.result_id)
    again = gate.scan(prompt("deploy", tokens_used=1001))
    assert again.shown == () and set(stages(again).values()) == {"held_refire"}


@pytest.mark.parametrize("fault", ["busy", "connect", "answer_not_json", "no_consent", "provider_500"])
def test_R6_any_failure_blocks_nothing_and_its_reason_is_counted(guidance, ledger, fault):
    scores = scored(guidance, 10)
    result = opened(guidance, judge=FaultyJudge(fault), ledger=ledger, scores=scores).scan(prompt("deploy"))
    assert len(result.shown) == 10
    assert dict(summary(read(ledger)).fallbacks) == {fault: 1}


def test_R7_verdicts_what_was_not_judged_and_fallbacks_are_counted_apart(guidance, ledger):
    scores = scored(guidance, 9)
    for k in range(7):
        guidance.way("project", f"w00/{k}")
        scores[f"w00/{k}"] = 0.9
    judge = judged_by({"w00": 0.0, "w00/0": 0.1})
    gate = opened(guidance, judge=judge, ledger=ledger, scores=scores)
    gate.scan(prompt("deploy"))
    gate.judge = gate.judge._replace(judge=FaultyJudge("busy"))
    gate.scan(prompt("deploy", session="s2"))
    found = summary(read(ledger))
    assert (found.requests, found.capped_requests, dict(found.fallbacks)) == (2, 2, {"busy": 1})
    assert (found.judged, found.passed, found.blocked) == (8, 6, 2)
    assert (found.unjudged, found.ancestor_blocked) == (16, 0)
    assert dict(found.blocked_ids) == {"w00": 1, "w00/0": 1}


def test_R7_a_block_below_an_ancestor_is_part_of_the_unjudged_and_never_of_the_judged(guidance, ledger):
    scores = {"a": 0.99}
    guidance.way("project", "a")
    for k in range(10):
        guidance.way("project", f"a/{k}")
        scores[f"a/{k}"] = 0.9
    opened(guidance, judge=judged_by({"a": 0.0}), ledger=ledger, scores=scores).scan(prompt("deploy"))
    found = summary(read(ledger))
    assert (found.judged, found.blocked, found.unjudged, found.ancestor_blocked) == (8, 1, 3, 3)
    assert dict(found.unjudged_ids) == {"a/7": 1, "a/8": 1, "a/9": 1}


def test_R8_an_older_process_that_answers_with_an_error_fails_open_every_time(guidance, ledger):
    judge = FaultyJudge("agent_error")
    gate = opened(guidance, judge=judge, ledger=ledger, scores=scored(guidance, 10))
    for k in range(3):
        result = gate.scan(prompt("deploy", session=f"s{k}"))
        assert (result.gate.reason, len(result.shown)) == ("agent_error", 10)
    assert [len(ask.questions) for ask in judge.asks] == [8, 8, 8]  # the door's cap, not the judge's
    assert dict(summary(read(ledger)).fallbacks) == {"agent_error": 3}


def test_R8_an_unknown_field_of_a_profile_is_dropped_alone_and_named_with_its_line(guidance):
    path = guidance.file(
        guidance.home / ".config/admit/admit.toml",
        TABLE + "max_candidates = 5\nfrobnicate = 1\n",
    )
    gate = opened(guidance, judge=judged_by({}))
    assert (gate.judge.max_candidates, gate.judge.timeout_ms, gate.judge.threshold) == (5, 2000, 0.3)
    [finding] = layers.load(str(guidance.project)).findings
    assert "frobnicate" in str(finding) and f"{path}:3" in str(finding)


def test_R8_a_mode_that_is_misspelt_turns_the_gate_off_and_matching_goes_on(guidance):
    guidance.file(guidance.home / ".config/admit/admit.toml", '[guidance]\nmode = "enfroce"\n')
    scores = scored(guidance, 3)
    judge = judged_by({}, default=0.0)
    result = opened(guidance, scores=scores).scan(prompt("deploy"))
    assert judge.asks == [] and len(result.shown) == 3
    assert (result.gate.mode, result.gate.reason) == ("off", "config")


def test_R9_the_settings_of_a_gate_that_would_miss_its_deadline_are_warned_of(guidance):
    from admit.cli.checks import deadline_warnings

    guidance.file(
        guidance.home / ".config/admit/admit.toml",
        '[judge]\nprofile = "mine"\n[judge.profiles.mine]\nbackend = "chat"\nmodel = "m"\n'
        'destination = "http://127.0.0.1:9"\n[judge.profiles.mine.guidance]\nmax_candidates = 40\n',
    )
    [warning] = deadline_warnings(layers.load(str(guidance.project)))
    assert warning.startswith("mine.guidance: 40 candidates take about 4.6 s")


def test_R10_overflow_that_is_blocked_is_withheld_and_counts_as_unjudged(guidance, ledger):
    gate = opened(
        guidance, judge=judged_by({}), ledger=ledger, scores=scored(guidance, 10),
        guidance__gate__overflow="block",
    )  # fmt: skip
    got = stages(gate.scan(prompt("deploy")))
    assert [name for name, stage in got.items() if stage == "overflow_blocked"] == ["w08", "w09"]
    assert summary(read(ledger)).unjudged == 2


@pytest.mark.parametrize("fill, seats", [("admission", (8, 0)), ("scored_first", (4, 4))])
def test_R10_the_seats_go_to_explicit_or_to_scored_hits_first(guidance, fill, seats):
    explicit(guidance, 8)
    judge = judged_by({})
    gate = opened(guidance, judge=judge, scores=scored(guidance, 4), guidance__gate__fill=fill)
    shown = gate.scan(prompt("deployment now")).shown
    names = asked(judge)
    assert (sum(one[0] == "e" for one in names), sum(one[0] == "w" for one in names)) == seats
    assert list(shown) == [f"e{k}" for k in range(8)] + [f"w{k:02d}" for k in range(4)]  # as before


@pytest.mark.parametrize("offered", [1, 8, 60])
def test_R11_the_deadline_does_not_grow_and_the_request_is_not_split(guidance, offered):
    judge = judged_by({})
    gate = opened(guidance, judge=judge, scores=scored(guidance, offered), **{CAP: 60})
    gate.scan(prompt("deploy"))
    assert [(ask.deadline_ms, len(ask.questions)) for ask in judge.asks] == [(2000, offered)]


def test_R6_shadow_shows_the_bytes_that_no_judge_would_show_and_records_what_it_would_block(guidance, ledger):
    scores = scored(guidance, 5)
    off = opened(guidance, scores=scores, guidance__mode="off").scan(prompt("deploy"))
    judge = judged_by({"w01": 0.1})
    gate = opened(guidance, judge=judge, ledger=ledger, scores=scores, guidance__mode="shadow")
    result = gate.scan(prompt("deploy"))
    assert result.text == off.text and len(judge.asks) == 1
    assert [one.id for one in result.outcomes if one.would_block] == ["w01"]
    found = summary(read(ledger))
    assert (found.judged, found.passed, found.blocked, found.would_block) == (5, 4, 0, 1)
