import threading

import pytest

from admit.core.question import Ask, Choice, Judge, Noul, Score
from admit.core.reasons import DEFECTS, REASONS, sent
from admit.judges.clock import FrozenClock
from admit.judges.scripted import FAULTS, FaultyJudge, ScriptedJudge

YES = Noul("q1", "first", "ask", "yes", "no")
GRADE = Score("q2", "second", "ask", ("none", "some", "much", "all"))
KIND = Choice("q3", "third", "ask", (("a", "A"), ("b", "B"), ("c", "C")))


def ask(*questions):
    return Ask("outputs", "task", (), questions or (YES, GRADE, KIND), None, 1000, "r1")


def test_both_are_judges():
    assert isinstance(ScriptedJudge({}), Judge)
    assert isinstance(FaultyJudge("deadline"), Judge)


def test_a_mapping_is_read_by_id_first_and_then_by_subject():
    reply = ScriptedJudge({"q1": 0.25, "first": 0.9, "second": 1.5, "third": (0.2, 0.3, 0.5)}).ask(ask())
    assert reply.status == "judged"
    assert [one.p for one in reply.answers] == [(0.25,), (0.0, 0.5, 0.5, 0.0), (0.2, 0.3, 0.5)]
    assert reply.answers[1].value == 1.5


@pytest.mark.parametrize("value", [0.0, 0.7, 1.0, 1.49, 2.0, 3.0])
def test_an_expectation_comes_back_as_it_was_scripted(value):
    [answer] = ScriptedJudge(lambda question: value).ask(ask(GRADE)).answers
    assert answer.value == pytest.approx(value)
    assert sum(answer.p) == pytest.approx(1)


def test_what_the_script_does_not_say_is_missing():
    reply = ScriptedJudge({"q1": 1.0}).ask(ask())
    assert reply.status == "partial"
    assert [one.defect for one in reply.answers] == [None, "missing", "missing"]


def test_a_script_can_spoil_one_answer():
    reply = ScriptedJudge({"q1": "out_of_range"}, default=1.0).ask(ask())
    assert [one.defect for one in reply.answers] == ["out_of_range", None, None]
    assert reply.answers[0].value is None


def test_it_records_its_asks_and_spends_its_delay_on_the_clock_given():
    clock = FrozenClock()
    judge = ScriptedJudge({}, default=1.0, clock=clock, delay_ms=2100)
    judge.ask(ask())
    judge.ask(ask(YES))
    assert [len(one.questions) for one in judge.asks] == [3, 1]
    assert clock.monotonic() == pytest.approx(4.2)


def test_a_kind_that_is_not_supported_falls_back():
    judge = ScriptedJudge({}, default=1.0, kinds=("Noul",))
    assert not judge.supports(GRADE)
    assert judge.ask(ask()).reason == "unsupported"


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_can_be_had(reason):
    reply = FaultyJudge(reason).ask(ask())
    assert (reply.status, reply.reason, reply.answers) == ("fallback", reason, ())
    assert [call.sent for call in reply.calls] == ([] if sent(reason) == "no" else [sent(reason)])


@pytest.mark.parametrize("defect", DEFECTS)
def test_every_defect_can_be_had_on_a_share_of_the_answers(defect):
    reply = FaultyJudge(f"defect:{defect}", share=1 / 3).ask(ask())
    assert reply.status == "partial"
    assert [one.defect for one in reply.answers] == [defect, None, None]
    assert [one.value for one in reply.answers] == [None, 3.0, 1.0]


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_can_be_that_of_one_batch_of_two(reason):
    reply = FaultyJudge(reason, share=2 / 3).ask(ask())
    assert (reply.status, reply.reason) == ("partial", reason)
    assert [one.defect for one in reply.answers] == ["batch_failed", "batch_failed", None]
    assert sum(call.questions for call in reply.calls if call.reason == reason) == 2 * (sent(reason) != "no")
    assert reply.calls[-1].questions == 1


@pytest.mark.parametrize("status", [100, 408, 451, 503, 999])
def test_a_provider_may_refuse_with_any_status(status):
    assert FaultyJudge(f"provider_{status}").ask(ask()).reason == f"provider_{status}"


def test_answers_that_may_not_act_say_why():
    reply = ScriptedJudge({}, default=1.0, shadow="unverified").ask(ask())
    assert (reply.status, reply.shadow) == ("judged", "unverified")
    assert ScriptedJudge({}, default=1.0).ask(ask()).shadow is None


def test_a_stalled_judge_answers_once_it_is_released():
    judge = FaultyJudge("stalls")
    replies = []
    worker = threading.Thread(target=lambda: replies.append(judge.ask(ask())), daemon=True)
    worker.start()
    worker.join(0.05)
    assert not replies
    judge.release()
    worker.join(5)
    assert replies[0].status == "judged"


def test_a_fault_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="no such fault"):
        FaultyJudge("defect:nothing")
    with pytest.raises(ValueError, match="no such fault"):
        FaultyJudge("provider_12")
    assert len(set(FAULTS)) == len(FAULTS)
