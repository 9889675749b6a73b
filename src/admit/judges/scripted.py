"""Judges for tests: one answers what it is told, one fails in the way it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from admit.core.question import NO_LIMITS, Answer, Ask, Call, Question, Reply, RequestLimits, Score, fallback
from admit.core.reasons import DEFECTS, PROVIDER, REASONS, family, sent

from .clock import Clock, SystemClock
from .replies import answer, reply, spoiled, width

Scripted = float | Sequence[float] | str | Answer | None
"""What a script says of one question: a probability (noul), an expectation (score), all probabilities, the
name of a defect, a whole `Answer`, or None for no answer at all."""


class ScriptedJudge:
    """Answers from a mapping or a function, records what it was asked, and takes time on the clock given.

    Args:
        answers: A mapping from a question's id or its subject (the id is looked up first), or a function
            of the question.
        default: The answer where the mapping holds none; None leaves that id out (defect ``missing``).
        clock: The clock that `delay_ms` is spent on; the machine's when None.
        delay_ms: Time one ask takes, in ms.
        limits: What one request may carry.
        kinds: The kinds of question it supports; any other is refused as ``unsupported``.
        name: Its name in the record.
        shadow: Why its answers may not act, one of `core.reasons.SHADOW_REASONS`; None where they do.

    Attributes:
        asks: Every ask, in the order they came.
    """

    def __init__(
        self,
        answers: Mapping[str, Scripted] | Callable[[Question], Scripted],
        *,
        default: Scripted = None,
        clock: Clock | None = None,
        delay_ms: float = 0.0,
        limits: RequestLimits = NO_LIMITS,
        kinds: tuple[str, ...] = ("Noul", "Score", "Choice"),
        name: str = "scripted",
        shadow: str | None = None,
    ) -> None:
        self.name = name
        self.asks: list[Ask] = []
        self._shadow = shadow
        self._script = answers
        self._default = default
        self._clock = clock or SystemClock()
        self._delay_ms = delay_ms
        self._limits = limits
        self._kinds = kinds

    def supports(self, question: Question) -> bool:
        return type(question).__name__ in self._kinds

    def limits(self) -> RequestLimits:
        return self._limits

    def ask(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if not all(map(self.supports, ask.questions)):
            return fallback("unsupported")
        if self._delay_ms:
            self._clock.sleep(self._delay_ms / 1000)
        given = (_answer(question, self._look_up(question)) for question in ask.questions)
        call = _call(self.name, ask)
        whole = reply(
            ask.questions,
            [one for one in given if one is not None],
            calls=(call,),
            elapsed_ms=self._delay_ms,
        )
        return whole._replace(shadow=self._shadow)

    def _look_up(self, question: Question) -> Scripted:
        if callable(self._script):
            return self._script(question)
        if question.id in self._script:
            return self._script[question.id]
        return self._script.get(question.subject, self._default)


CONDUCT = ("raises", "stalls", "extra_ids", "wrong_order", "no_answers", "not_finite")
"""What a judge that breaks its own protocol does; the other faults are reasons and defects."""

FAULTS = (*REASONS, *(f"defect:{name}" for name in DEFECTS), *CONDUCT)


class FaultyJudge:
    """Fails in one named way, the same way every time.

    Args:
        fault: A fallback reason, ``provider_`` with any status among them, ``defect:<defect>``, or a breach
            of the protocol: ``raises`` an exception, ``stalls`` until `release` is called, answers
            ``extra_ids`` that were not asked, in the ``wrong_order``, with ``no_answers``, or with a number
            that is ``not_finite``.
        share: The share of the questions that a reason or a defect hits, the first ones; the rest is
            answered yes. Under 1 a reason is that of a failed batch: its answers are ``batch_failed``, the
            reply is partial.

    Attributes:
        asks: Every ask, in the order they came.

    Raises:
        ValueError: The fault is not one of `FAULTS`.
    """

    def __init__(self, fault: str, *, share: float = 1.0, limits: RequestLimits = NO_LIMITS) -> None:
        if fault not in FAULTS and family(fault) != PROVIDER:
            raise ValueError(f"no such fault: {fault}; one of {', '.join(FAULTS)}")
        self.name = f"faulty:{fault}"
        self.asks: list[Ask] = []
        self._fault = fault
        self._share = share
        self._limits = limits
        self._released = threading.Event()

    def supports(self, question: Question) -> bool:
        return True

    def limits(self) -> RequestLimits:
        return self._limits

    def release(self) -> None:
        """Let a stalled ask go on; it answers yes to everything, too late."""
        self._released.set()

    def ask(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        if self._fault in REASONS or family(self._fault) == PROVIDER:
            return self._fail(ask)
        if self._fault.startswith("defect:"):
            return self._spoil(ask, self._fault.removeprefix("defect:"))
        if self._fault == "raises":
            raise RuntimeError("the judge broke")
        if self._fault == "stalls":
            self._released.wait()
        return _breach(self._fault, ask)

    def _fail(self, ask: Ask) -> Reply:
        count = round(self._share * len(ask.questions))
        state = sent(self._fault)
        call = _call(self.name, ask)._replace(
            questions=count, sent=state, outcome="fallback", reason=self._fault
        )
        failed = () if state == "no" else (call,)
        if count == len(ask.questions):
            return fallback(self._fault, calls=failed)
        partial = self._spoil(ask, "batch_failed")
        if not count:
            return partial
        [rest] = partial.calls
        calls = (*failed, rest._replace(questions=len(ask.questions) - count))
        return partial._replace(reason=self._fault, calls=calls)

    def _spoil(self, ask: Ask, defect: str) -> Reply:
        count = round(self._share * len(ask.questions))
        bad = [spoiled(question, defect) for question in ask.questions[:count]]
        good = [_certain(question) for question in ask.questions[count:]]
        return reply(ask.questions, [*bad, *good], calls=(_call(self.name, ask),))


def _breach(fault: str, ask: Ask) -> Reply:
    """A reply that no judge may give."""
    answers = [_certain(question) for question in ask.questions]
    if fault == "extra_ids":
        answers += [one._replace(id=f"{one.id}x") for one in answers]
    elif fault == "wrong_order":
        answers.reverse()
    elif fault == "no_answers":
        answers = []
    elif fault == "not_finite":
        answers = [one._replace(p=(float("nan"),) * len(one.p), expectation=None) for one in answers]
    return Reply("judged", tuple(answers), None, (_call("faulty", ask),))


def _answer(question: Question, given: Scripted) -> Answer | None:
    if given is None:
        return None
    if isinstance(given, Answer):
        return given._replace(id=question.id)
    if isinstance(given, str):
        return spoiled(question, given)
    if isinstance(given, (int, float)):
        return answer(question, _spread(question, float(given)))
    return answer(question, tuple(float(value) for value in given))


def _spread(question: Question, value: float) -> tuple[float, ...]:
    """Probabilities for one number: a score's expectation lies between its two nearest levels; of a
    choice's labels the first gets the number and the others share the rest."""
    n = width(question)
    if n == 1:
        return (value,)
    if not isinstance(question, Score):
        return (value, *((1 - value) / (n - 1),) * (n - 1))
    if not 0 <= value <= n - 1:
        raise ValueError(f"an expectation over {n} levels lies in 0..{n - 1}, not {value}")
    below = min(int(value), n - 2)
    share = value - below
    return tuple((1 - share) if k == below else share if k == below + 1 else 0.0 for k in range(n))


def _certain(question: Question) -> Answer:
    """Yes; the top level; the first label."""
    n = width(question)
    return answer(question, _spread(question, n - 1.0 if isinstance(question, Score) else 1.0))


def _call(name: str, ask: Ask) -> Call:
    return Call(
        destination=name,
        model_asked=name,
        model_answered=name,
        questions=len(ask.questions),
        cost_usd=0.0,
        cost_source="free",
        sent="yes",
        outcome="ok",
    )
