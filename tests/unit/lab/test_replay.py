"""Decisions of the record, decided again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.guidance.gated import judged_by as blocking
from tests.unit.guidance.gated import opened, prompt
from tests.unit.guidance.project import Guidance
from tests.unit.tools.gates import gate_of, judged_by, tool

from admit.core.admission import decide, plan
from admit.core.candidate import Candidate
from admit.core.events import canonical
from admit.core.order import by_rank
from admit.core.policy import DOORS, count
from admit.core.question import Answer, Reply, fallback
from admit.errors import UsageError
from admit.judges.scripted import FaultyJudge
from admit.lab.replay import SET_MATTERS, replay, settings_of
from admit.ledger.memory import MemoryLedger
from admit.ledger.record import from_decision


def recorded(values, *, cap=8, door="guidance", status="judged", exempt=0, **policy):
    """The views of one decision over candidates with these values; None is a spoiled answer."""
    ledger = MemoryLedger()
    candidates = by_rank(
        Candidate(f"c{k:02}", (0.0, 100.0 - k), sizes={"chars": 10 * (k + 1)}, exempt=k < exempt)
        for k in range(len(values))
    )
    own = DOORS[door]._replace(cap=count(cap), **policy)
    planned = plan(candidates, own)
    by_id = {f"c{k:02}": value for k, value in enumerate(values)}
    answers = tuple(
        Answer(f"q{k}", "noul", (by_id[one.id],))
        if by_id[one.id] is not None
        else Answer(f"q{k}", "noul", defect="out_of_range")
        for k, one in enumerate(planned.asked, 1)
    )
    partial = any(answer.defect for answer in answers)
    reply = Reply("partial" if partial else "judged", answers, "answer_defects" if partial else None)
    if status == "fallback":
        reply = fallback("deadline")
    decision = decide(planned, reply, own)
    extra = {"policy": {"fill": own.fill, "overflow": own.overflow}}
    ledger.append(from_decision(decision, door=door, policy=own, reply=reply, extra=extra))
    return list(ledger.query()), decision


VALUE = st.one_of(st.none(), st.floats(0, 1).map(lambda p: round(p, 3)))


@given(
    st.lists(VALUE, min_size=1, max_size=14),
    st.integers(1, 12),
    st.sampled_from(["judged", "fallback"]),
    st.sampled_from(["pass", "block"]),
    st.sampled_from(["admission", "scored_first"]),
    st.sampled_from(["enforce", "shadow"]),
    st.integers(0, 2),
)
def test_the_policy_of_the_record_gives_its_decisions_byte_for_byte(
    values, cap, status, overflow, fill, mode, exempt
):
    views, decision = recorded(
        values, cap=cap, status=status, overflow=overflow, fill=fill, mode=mode, exempt=exempt
    )
    found = replay(views, "guidance", {})
    assert [one.reproduced for one in found.decisions] == [True]
    if mode == "enforce":
        assert found.decisions[0].was == len(decision.shown)
    assert found.decisions[0].unknown == 0


def test_a_cap_of_eight_replayed_at_eight_changes_nothing():
    views, decision = recorded([0.9, 0.1] * 6)
    found = replay(views, "guidance", {"max_candidates": 8})
    (one,) = found.decisions
    assert one.reproduced and (one.low, one.high) == (one.was, one.was) == (len(decision.shown),) * 2
    assert found.totals()["changed"] == 0


def test_what_was_never_judged_is_unknown_counted_and_bounded_by_both_ends():
    views, _ = recorded([0.9] * 12, overflow="block")
    found = replay(views, "guidance", {"max_candidates": 11})
    (one,) = found.decisions
    assert (one.was, one.low, one.high, one.unknown) == (8, 8, 11, 3)
    assert "3 candidates were never judged" in found.notes[1]


def test_a_smaller_cap_needs_no_unknown_answer():
    views, _ = recorded([0.9] * 8, overflow="block")
    (one,) = replay(views, "guidance", {"max_candidates": 3}).decisions
    assert (one.low, one.high, one.unknown) == (3, 3, 0)


def test_a_threshold_on_candidates_that_shared_a_request_says_that_verdicts_depend_on_the_set():
    views, _ = recorded([0.9, 0.5, 0.2])
    found = replay(views, "guidance", {"threshold": 0.6})
    assert found.decisions[0].low == found.decisions[0].high == 1
    assert SET_MATTERS in found.notes
    alone, _ = recorded([0.5])
    assert SET_MATTERS not in replay(alone, "guidance", {"threshold": 0.6}).notes


def test_a_decision_that_had_no_answer_stays_as_it_was_unless_other_candidates_are_asked():
    views, decision = recorded([0.9] * 10, status="fallback")
    (same,) = replay(views, "guidance", {"threshold": 0.99}).decisions
    assert (same.low, same.high, same.unknown) == (len(decision.shown), len(decision.shown), 0)
    (other,) = replay(views, "guidance", {"max_candidates": 4, "overflow": "block"}).decisions
    assert other.unknown == 4 and (other.low, other.high) == (0, 4)


def test_what_was_only_recorded_counts_as_if_it_had_acted():
    views, decision = recorded([0.9, 0.1, 0.1], mode="shadow")
    assert len(decision.shown) == 3
    (one,) = replay(views, "guidance", {"threshold": 0.05}).decisions
    assert one.reproduced and (one.was, one.low) == (1, 3)


def test_two_replays_give_the_same_bytes():
    views, _ = recorded([0.3, None, 0.7, 0.2] * 3)
    first, second = (replay(views, "guidance", {"max_candidates": 10}) for _ in range(2))
    as_bytes = [canonical([one._asdict() for one in found.decisions]) for found in (first, second)]
    assert as_bytes[0] == as_bytes[1]


@pytest.mark.parametrize(
    "text, says",
    [
        ("cap=3", "knows no 'cap'"),
        ("max_candidates=x", "takes a number"),
        ("max_candidates=0", "from 1"),
        ("threshold=nan", "takes a number"),
        ("overflow=drop", "pass or block"),
    ],
)
def test_a_setting_that_there_is_not_is_refused(text, says):
    with pytest.raises(UsageError, match=says):
        settings_of(text)


def test_settings_are_read_from_one_word():
    assert settings_of("max_candidates=12, threshold=0.4,fill=scored_first") == {
        "max_candidates": 12,
        "threshold": 0.4,
        "fill": "scored_first",
    }
    assert settings_of("") == {}


def test_there_is_no_replay_of_an_unknown_door():
    with pytest.raises(UsageError, match="no replay of 'window'"):
        replay([], "window", {})


def judging(nouns):
    """A judge that gives each tool the probability of its noun."""

    def answer(question):
        return next((p for noun, p in nouns.items() if f"_{noun}" in question.subject), 0.05)

    return judged_by(answer)


def office(ledger, judge=None):
    tools = [
        tool(f"{verb}_{noun}", f"{verb} one {noun}")
        for verb in ("create", "list", "delete")
        for noun in ("ticket", "invoice", "branch", "parcel")
    ]
    policy = {"max_candidates": 5, "threshold": 0.5}
    return gate_of(*tools, policy=policy, judge=judge, ledger=ledger)


@pytest.mark.parametrize("depth", ["budget", "judge", "fixed-3", "rel-gap-010", "max-gap-010", "cover"])
@pytest.mark.parametrize("fails", [False, True])
def test_what_the_tools_door_decided_is_reproduced_at_every_depth(depth, fails):
    ledger = MemoryLedger()
    script = FaultyJudge("raises") if fails else judging({"ticket": 0.9, "invoice": 0.2})
    gate = office(ledger, script if depth == "judge" else None)
    for query in ("create a ticket", "list every invoice and branch", "create_parcel now", "whistle"):
        gate.find(query, depth=depth)
    views = list(ledger.query(door="tools"))[::-1]
    found = replay(views, "tools", {})
    assert len(found.decisions) == 3 and all(one.reproduced for one in found.decisions)


def test_another_threshold_at_the_tools_door_shows_what_the_gate_would_show():
    first, second = MemoryLedger(), MemoryLedger()
    script = {"ticket": 0.9, "invoice": 0.4, "branch": 0.3, "parcel": 0.1}
    strict = office(first, judging(script))
    strict.find("create a ticket, an invoice, a branch, a parcel", depth="judge")
    loose = office(second, judging(script))
    loose.policy = loose.policy._replace(threshold=0.35)
    shown = loose.find("create a ticket, an invoice, a branch, a parcel", depth="judge")
    (one,) = replay(list(first.query()), "tools", {"threshold": 0.35}).decisions
    assert one.low == one.high == len(shown.admitted) > one.was


def test_scans_of_the_guidance_gate_are_reproduced_and_their_cap_can_be_raised(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    guidance = Guidance(tmp_path)
    scores = {f"w{k:02}": 0.9 - k / 100 for k in range(11)}
    for name in scores:
        guidance.way("project", name)
    ledger = MemoryLedger()
    gate = opened(guidance, judge=blocking({"w01": 0.1}), ledger=ledger, scores=scores)
    gate.scan(prompt("deploy", session="s"))
    views = list(ledger.query(door="guidance"))
    (same,) = replay(views, "guidance", {"max_candidates": 8}).decisions
    assert same.reproduced and (same.low, same.high) == (same.was, same.was)
    (more,) = replay(views, "guidance", {"max_candidates": 10}).decisions
    # What is past the cap passed then; of the two more that are asked about it is not known.
    assert more.unknown == 2 and (more.low, more.high) == (same.was - 2, same.was)
