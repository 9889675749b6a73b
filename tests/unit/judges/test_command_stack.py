"""The whole stack in front of a program."""

import sys
from pathlib import Path

import pytest

from admit.judges.load import load_judge

from .served import alone, ask, settings

JUDGE = str(Path(__file__).with_name("command_judge.py"))

pytestmark = pytest.mark.usefixtures(alone.__name__)


@pytest.fixture
def judge():
    """Makes judges whose program is in a mode, and ends the programs."""
    made = []

    def make(*argv, **fields):
        config = settings(backend="command", argv=[sys.executable, "-I", JUDGE, *argv], **fields)
        made.append(load_judge("own", config=config))
        return made[-1]

    yield make
    for one in made:
        one.judge.transport.close()


def test_a_program_is_a_judge_without_consent_and_without_a_key(judge):
    reply = judge("ok").ask(ask())
    assert (reply.status, reply.shadow) == ("judged", None)
    assert [a.p for a in reply.answers] == [(0.75,)] * 3
    [call] = reply.calls
    assert (call.cost_usd, call.cost_source, call.input_tokens, call.sent) == (0.001, "provider", 10, "yes")


def test_R8_an_older_program_that_meets_a_newer_field_fails_open_and_says_so_on_every_request(judge):
    older = judge("older")
    replies = [older.ask(ask()) for _ in range(6)]
    assert [(one.status, one.reason, one.answers) for one in replies] == [("fallback", "agent_error", ())] * 6
    counted = [(call.reason, call.sent) for one in replies for call in one.calls]
    assert counted == [("agent_error", "unknown")] * 6


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("exits", "command_exit"),
        ("ends", "command_exit"),
        ("half", "command_exit"),
        ("error", "agent_error"),
        ("nan", "answer_nan"),
        ("broken", "answer_not_json"),
        ("long", "answer_too_large"),
    ],
)
def test_a_program_that_fails_is_a_fallback_with_its_reason(judge, mode, reason):
    reply = judge(mode).ask(ask())
    assert (reply.status, reply.reason, reply.answers) == ("fallback", reason, ())


def test_a_program_that_hangs_ends_at_the_deadline_and_is_killed_after_the_second(judge):
    hangs = judge("hangs")
    assert [hangs.ask(ask(deadline_ms=400)).reason for _ in range(3)] == [
        "deadline",
        "deadline",
        "command_exit",
    ]


def test_batches_of_one_ask_are_matched_to_their_own_answers(judge):
    # Three requests of one question each, answered in reverse: each says how many questions it had.
    reply = judge("backwards", "3", batch_questions=1).ask(ask()._replace(door="tools"))
    assert reply.status == "judged"
    assert [a.p for a in reply.answers] == [(0.1,)] * 3
    assert len(reply.calls) == 3
