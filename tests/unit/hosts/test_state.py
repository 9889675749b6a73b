"""What is known of a session: requests, subagents, claims, and the caps of it all."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.hosts.model import Sent, Start
from admit.hosts.state import MOST_SESSIONS, Sessions, SessionState


def sent(number):
    return Sent(f"{number:08x}", f"{number:032x}", f"toolu_{number}", 6_000, "replace", "/t.jsonl", number)


def test_a_text_is_claimed_once_and_shown_when_it_was_written():
    state = SessionState()
    claim = state.claim("way:tests")
    assert claim is not None and state.claim("way:tests") is None and not state.is_shown("way:tests")
    state.settle(claim, True)
    assert state.is_shown("way:tests") and state.claim("way:tests") is None


def test_a_claim_that_was_not_written_is_free_again():
    state = SessionState()
    claim = state.claim("way:tests")
    assert claim is not None
    state.settle(claim, False)
    assert not state.is_shown("way:tests") and state.claim("way:tests") is not None


def test_a_claim_from_before_a_compaction_counts_for_nothing_after_it():
    state = SessionState()
    old = state.claim("way:tests")
    assert old is not None
    state.forget()
    new = state.claim("way:tests")
    assert new is not None
    state.settle(old, False)
    assert state.claim("way:tests") is None
    state.settle(new, True)
    state.settle(old, False)
    assert state.is_shown("way:tests")


def test_each_agent_has_a_context_of_its_own():
    state = SessionState()
    main, other = state.claim("a"), state.claim("a", "agent1")
    assert main is not None and other is not None
    state.settle(main, True)
    state.settle(other, True)
    state.forget("agent1")
    assert state.is_shown("a") and not state.is_shown("a", "agent1")


def test_of_many_threads_one_gets_the_claim():
    state = SessionState()
    ready = threading.Barrier(8)
    won = []

    def race():
        ready.wait()
        won.extend(filter(None, [state.claim(f"way:{n}") for n in range(200)]))

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claim.key for claim in won) == sorted(f"way:{n}" for n in range(200))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["claim", "yes", "no", "forget"]))))
def test_a_text_is_never_claimed_while_it_is_claimed_or_shown(steps):
    state = SessionState()
    open_claims, shown = {}, set()
    for key, step in steps:
        if step == "claim":
            claim = state.claim(key)
            assert (claim is None) == (key in open_claims or key in shown)
            if claim is not None:
                open_claims[key] = claim
        elif step == "forget":
            state.forget()
            open_claims, shown = {}, set()
        elif key in open_claims:
            state.settle(open_claims.pop(key), step == "yes")
            shown |= {key} if step == "yes" else set()
        assert state.is_shown(key) == (key in shown)


def called(state, prompt, use_id, *, kind="Explore", now=0.0):
    state.agent_called(Start(kind, prompt), use_id, now)


def test_subagents_take_the_oldest_call_of_their_own_type():
    state = SessionState()
    called(state, "find every caller of parse()", "t1")
    called(state, "rewrite the lexer tables", "t2", kind="general-purpose")
    called(state, "find every use of the old flag", "t3")
    for agent, kind in (("a2", "general-purpose"), ("a1", "Explore"), ("a3", "Explore")):
        assert state.agent_started(agent, kind) is not None
    assert state.task("a2").text == "rewrite the lexer tables"
    assert state.task("a1").text == "find every caller of parse()"
    assert state.task("a3").text == "find every use of the old flag"
    assert state.agent_started("a4", "Explore") is None and state.task("a4").source == "none"
    assert state.task("a1").source == "agent_task" and state.task("a9").source == "none"
    assert state.agent_started("a1", "Explore") is None
    assert state.task("a1").text == "find every caller of parse()"


def test_a_call_of_an_earlier_turn_that_started_nothing_starts_nothing_later():
    state = SessionState()
    called(state, "find every caller of parse()", "t1")
    state.prompt("never mind, look at the lexer instead")
    assert state.agent_started("a1", "Explore") is None


def test_a_call_that_is_over_or_waited_for_five_minutes_starts_nothing():
    state = SessionState()
    called(state, "one", "t1", now=0.0)
    called(state, "two", "t2", now=10.0)
    called(state, "three", "t3", now=20.0)
    state.agent_ended("t2")
    state.agent_ended("")
    assert state.agent_started("a1", "Explore", 310.0) == Start("Explore", "three")
    assert state.agent_started("a2", "Explore", 310.0) is None


def test_a_call_that_is_told_twice_waits_once():
    state = SessionState()
    for _ in range(2):
        called(state, "one", "t1")
    assert state.agent_started("a1", "Explore") and state.agent_started("a2", "Explore") is None


def test_each_agent_has_the_scope_it_was_called_with():
    state = SessionState()
    state.agent_called(Start("Explore", "one", "teammate"), "t1")
    state.agent_started("a1", "Explore")
    assert (state.scope("a1"), state.scope("a2")) == ("teammate", "subagent")


def test_what_was_typed_meanwhile_is_given_once_and_never_from_before():
    state = SessionState()
    state.catch_up(["first", "old"], "/t", 10, ["old"])
    assert state.queued() == ()
    state.catch_up(["old", "new"], "/t", 20, ["old", "new"])
    assert state.queued() == ("new",) and state.queued() == ()
    state.catch_up(["new", "late"], "/t", 30, ["new", "late"])
    state.prompt("late")
    assert state.queued() == ()


def test_earlier_requests_are_the_newest_four_in_order_and_short():
    state = SessionState()
    for number in range(9):
        state.prompt(f"request number {number} of nine " + "x" * 290)
    earlier = state.earlier()
    assert [text.split()[2] for text in earlier if text.startswith("request")] == ["5", "6", "7"]
    assert len(earlier) == 4 and sum(map(len, earlier)) == 1_200


def test_requests_of_the_transcript_come_before_what_the_hooks_know_and_are_taken_once():
    state = SessionState()
    state.prompt("now fix the parser tests")
    state.catch_up(["look at the lexer tables", "now fix the parser tests"], "/t", 100)
    assert state.task().text == "now fix the parser tests" and state.earlier() == (
        "look at the lexer tables",
    )
    state.catch_up(["now fix the parser tests", "and then the printer tests too"], "/t", 200)
    assert state.task().text == "and then the printer tests too" and state.read_to("/t") == 200
    assert len(state.earlier()) == 2


def test_the_sessions_longest_unused_go_first_and_one_without_a_name_is_nobodys():
    sessions = Sessions()
    first = sessions.at("claude-code", "s0")
    for number in range(1, MOST_SESSIONS):
        sessions.at("claude-code", f"s{number}")
    assert sessions.at("claude-code", "s0") is first
    sessions.at("claude-code", "one more")
    assert len(sessions) == MOST_SESSIONS
    assert sessions.at("claude-code", "s0") is first and sessions.at("other", "s0") is not first
    assert sessions.at("claude-code", "") is not sessions.at("claude-code", "")
    sessions.drop("claude-code", "s0")
    assert sessions.at("claude-code", "s0") is not first
    sessions.clear()
    assert len(sessions) == 0


def size(value, seen):
    if id(value) in seen:
        return 0
    seen.add(id(value))
    inner = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, dict):
        inner += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)) or type(value).__name__ == "deque":
        inner += list(value)
    return sys.getsizeof(value) + sum(size(one, seen) for one in inner)


@pytest.mark.parametrize("character", ("x", "語", "🚀"))
def test_a_session_stays_under_one_mebibyte_whatever_happens(character):
    state = SessionState()
    long = (character * 7 + " ") * 40_000
    for number in range(2_000):
        state.claim(f"way:{number}" + character * 50, f"agent{number % 90}")
        state.sent(sent(number))
        state.forget(f"agent{number}")
    for number in range(200):
        state.prompt(f"{long} {number}")
        called(state, f"{long} {number}", f"t{number}")
        state.agent_started(f"a{number}", "Explore")
        state.catch_up([f"{long} {number} again"], f"/t{number}", number)
        state.catch_up([], f"/t{number}", number, [f"{long} {number} queued"])
    for number in range(200):
        called(state, f"{long} {number}", f"t{number}")
    assert size(state, set()) < 1 << 20


def test_what_waits_for_proof_waits_once():
    state = SessionState()
    for number in range(3):
        state.sent(sent(number))
    state.proven([sent(1), sent(7)])
    assert state.unproven() == (sent(0), sent(2))
