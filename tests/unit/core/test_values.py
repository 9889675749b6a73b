"""The values of the core: what holds when nothing more is said, and that they cannot be changed."""

from types import MappingProxyType

import pytest

from admit.core.candidate import Budget, Candidate
from admit.core.events import EVENT_SCHEMA, Event, canonical
from admit.core.question import (
    KINDS,
    NO_LIMITS,
    Answer,
    Call,
    Choice,
    Judge,
    Noul,
    Reply,
    RequestLimits,
    Score,
    fallback,
)
from admit.judges.scripted import ScriptedJudge


def test_an_event_without_more_has_an_empty_body_and_the_current_form():
    event = Event("e1", "outputs.forgot", 5)
    assert event == ("e1", "outputs.forgot", 5, {}, None, None, None, EVENT_SCHEMA, "", 0, "")
    with pytest.raises(TypeError):
        event.body["entries"] = 1  # type: ignore[index]


def test_mappings_that_cannot_be_changed_are_written_like_any_other_at_every_depth():
    inner = MappingProxyType({"b": (1, 2)})
    assert canonical(MappingProxyType({"a": inner})) == canonical({"a": inner}) == b'{"a":{"b":[1,2]}}'
    assert canonical([inner]) == b'[{"b":[1,2]}]'
    with pytest.raises(ValueError, match="must be text"):
        canonical({"a": {1: 2}})


def test_what_json_does_not_have_is_refused_and_never_written_as_something_else():
    class Word(str):
        pass

    assert canonical({"a": Word("x")}) == b'{"a":"x"}'
    for strange in ({1, 2}, b"bytes", object()):
        with pytest.raises(TypeError):
            canonical({"a": strange})


def test_the_sizes_that_candidates_share_cannot_be_changed():
    with pytest.raises(TypeError):
        Candidate("a").sizes["chars"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        Budget().limits["count"] = 1  # type: ignore[index]


def test_what_a_call_did_not_tell_is_unknown_and_never_zero():
    asked, sizes, tokens, money = ("local", "minilm", None), (0, 0), (None, None), (None, "unknown", "no")
    times = (None, None, 0.0, 0.0)
    assert Call("local", "minilm") == (*asked, *sizes, *tokens, *money, *times, "", None, ())


def test_a_judge_without_limits_takes_any_request():
    assert NO_LIMITS == RequestLimits() == (None, None, None, False, None)


def test_a_fallback_reply_has_a_reason_and_no_answers():
    call = Call("local", "minilm")
    reply = fallback("busy", elapsed_ms=3.5, calls=(call,))
    assert reply == Reply("fallback", (), "busy", (call,), 3.5, ())


@pytest.mark.parametrize(
    "answer, value",
    [
        (Answer("q1", "noul", (0.25,)), 0.25),
        (Answer("q1", "score", (0.0, 1.0), 1.0), 1.0),
        (Answer("q1", "score", (0.0, 1.0)), None),
        (Answer("q1", "choice", (0.75, 0.25)), 0.75),
        (Answer("q1", "noul"), None),
        (Answer("q1", "noul", (0.25,), defect="out_of_range"), None),
        (Answer("q1", "noul", (float("nan"),)), None),
        (Answer("q1", "score", (0.5, 0.5), float("inf")), None),
    ],
)
def test_the_value_of_an_answer_is_its_expectation_or_first_probability_or_nothing(answer, value):
    assert answer.value == value


def test_each_kind_of_question_has_its_name():
    assert {kind.__name__: name for kind, name in KINDS.items()} == {
        "Noul": "noul",
        "Score": "score",
        "Choice": "choice",
    }
    assert set(KINDS) == {Noul, Score, Choice}


def test_a_judge_is_anything_that_answers_supports_and_states_limits():
    assert isinstance(ScriptedJudge({}), Judge)
    assert not isinstance(object(), Judge)
