import asyncio
import threading
import time

import pytest

from admit.core.question import NO_LIMITS, Ask, Noul, Reply, RequestLimits, Score
from admit.judges import bounded
from admit.judges.bounded import BoundedJudge, ask_async
from admit.judges.clock import FrozenClock
from admit.judges.scripted import CONDUCT, FAULTS, FaultyJudge, ScriptedJudge


def ask(*subjects, deadline_ms=1000):
    questions = tuple(Noul(f"q{k}", text, "ask", "yes", "no") for k, text in enumerate(subjects, 1))
    return Ask("guidance", "task", (), questions, None, deadline_ms, "r1")


class Raising:
    name = "raising"

    def __init__(self, error):
        self.error = error

    def supports(self, question):
        return True

    def limits(self):
        return NO_LIMITS

    def ask(self, ask):
        raise self.error


class Returning(Raising):
    def ask(self, ask):
        return self.error


def until(condition):
    """Wait for another thread; a test that waits 5 s here has failed."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_good_reply_comes_through_with_its_time():
    clock = FrozenClock()
    judge = BoundedJudge(ScriptedJudge({"q1": 0.9}, clock=clock, delay_ms=400), clock)
    reply = judge.ask(ask("one"))
    assert (reply.status, reply.answers[0].p, reply.elapsed_ms) == ("judged", (0.9,), pytest.approx(400))


def test_an_answer_after_the_deadline_is_discarded_and_counted():
    clock = FrozenClock()
    judge = BoundedJudge(ScriptedJudge({}, default=1.0, clock=clock, delay_ms=2100), clock)
    reply = judge.ask(ask("one", deadline_ms=2000))
    assert (reply.status, reply.reason, reply.answers, judge.late) == ("fallback", "deadline", (), 1)


def test_an_answer_exactly_at_the_deadline_counts():
    clock = FrozenClock()
    judge = BoundedJudge(ScriptedJudge({}, default=1.0, clock=clock, delay_ms=2000), clock)
    assert judge.ask(ask("one", deadline_ms=2000)).status == "judged"


def test_the_deadline_fires_alone_while_the_judge_is_stuck():
    stuck = FaultyJudge("stalls")
    judge = BoundedJudge(stuck, min_call_ms=1)
    reply = judge.ask(ask("one", deadline_ms=30))
    assert (reply.reason, judge.late) == ("deadline", 0)
    assert reply.elapsed_ms >= 30
    stuck.release()
    until(lambda: judge.late == 1)


def test_late_answers_are_told_once_by_the_next_reply():
    stuck = FaultyJudge("stalls")
    judge = BoundedJudge(stuck, min_call_ms=1)
    assert [judge.ask(ask("one", deadline_ms=20)).notes for _ in range(2)] == [(), ()]
    stuck.release()
    until(lambda: judge.late == 2)
    assert judge.ask(ask("one")).notes == (("judge.late", {"answers": 2}),)
    assert judge.ask(ask("one")).notes == ()


def test_a_stuck_judge_is_not_asked_for_ever():
    stuck = FaultyJudge("stalls")
    judge = BoundedJudge(stuck, min_call_ms=1)
    reasons = [judge.ask(ask("one", deadline_ms=2)).reason for _ in range(bounded.MOST_ABANDONED + 2)]
    assert reasons == ["deadline"] * bounded.MOST_ABANDONED + ["busy"] * 2
    stuck.release()
    until(lambda: judge.late == bounded.MOST_ABANDONED)
    assert judge.ask(ask("one")).status == "judged"


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), KeyError(), MemoryError(), RecursionError(), SystemExit(3), KeyboardInterrupt()],
)
def test_every_exception_of_a_judge_becomes_internal(error):
    reply = BoundedJudge(Raising(error)).ask(ask("one"))
    assert (reply.status, reply.reason) == ("fallback", "internal")
    assert reply.quirks == (f"raised {type(error).__name__}",)


def test_the_message_of_an_exception_is_not_kept():
    reply = BoundedJudge(Raising(ValueError("hunter2"))).ask(ask("one"))
    assert "hunter2" not in repr(reply)


@pytest.mark.parametrize("thing", [None, "yes", Reply("judged", (None,)), Reply("judged", None)])
def test_a_reply_that_is_none_becomes_internal(thing):
    assert BoundedJudge(Returning(thing)).ask(ask("one")).reason == "internal"


def test_a_thread_that_cannot_be_started_is_internal(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert BoundedJudge(ScriptedJudge({})).ask(ask("one")).reason == "internal"


def test_with_too_little_time_nothing_is_asked():
    inner = ScriptedJudge({}, default=1.0)
    assert BoundedJudge(inner).ask(ask("one", deadline_ms=149)).reason == "deadline_before_call"
    assert not inner.asks
    assert BoundedJudge(inner).ask(ask("one", deadline_ms=150)).status == "judged"


def test_no_questions_are_judged_without_a_call():
    inner = ScriptedJudge({})
    assert BoundedJudge(inner).ask(ask()) == Reply("judged")
    assert not inner.asks


def test_a_blank_subject_is_not_sent_and_is_missing():
    inner = ScriptedJudge({}, default=0.5)
    reply = BoundedJudge(inner).ask(ask("one", " \n\t", "", "four"))
    assert [question.id for question in inner.asks[0].questions] == ["q1", "q4"]
    assert [one.defect for one in reply.answers] == [None, "missing", "missing", None]
    assert (reply.status, reply.reason) == ("partial", "answer_defects")


def test_blank_subjects_alone_cause_no_call():
    inner = ScriptedJudge({}, default=0.5)
    reply = BoundedJudge(inner).ask(ask(" ", ""))
    assert [one.defect for one in reply.answers] == ["missing", "missing"]
    assert not inner.asks


@pytest.mark.parametrize("fault", [one for one in FAULTS if one != "stalls"])
def test_every_fault_gives_a_reply_with_exactly_the_asked_ids_in_order(fault):
    asked = ask("one", "two", "three")
    reply = BoundedJudge(FaultyJudge(fault)).ask(asked)
    if reply.status == "fallback":
        assert reply.answers == ()
        assert reply.reason == ("internal" if fault == "raises" else fault)
        return
    assert [one.id for one in reply.answers] == ["q1", "q2", "q3"]
    harmless = ("extra_ids", "wrong_order")
    assert all((one.defect is None) == (fault in harmless) for one in reply.answers)
    assert fault.startswith("defect:") or fault in CONDUCT


def test_a_number_that_is_none_never_reaches_a_door():
    reply = BoundedJudge(FaultyJudge("not_finite")).ask(ask("one"))
    assert [(one.p, one.defect) for one in reply.answers] == [((), "out_of_range")]


def test_there_is_no_retry():
    inner = FaultyJudge("connect")
    BoundedJudge(inner).ask(ask("one"))
    assert len(inner.asks) == 1


def test_it_speaks_for_the_judge_it_bounds():
    limits = RequestLimits(batch_questions=32)
    judge = BoundedJudge(ScriptedJudge({}, limits=limits, kinds=("Score",), name="n"))
    assert (judge.name, judge.limits()) == ("n", limits)
    assert not judge.supports(Noul("q1", "s", "a", "t", "f"))
    assert judge.supports(Score("q1", "s", "a", ("no", "yes")))


def test_an_ask_can_be_awaited():
    judge = BoundedJudge(ScriptedJudge({}, default=1.0))
    assert asyncio.run(ask_async(judge, ask("one"))).status == "judged"
