"""A reply out of answers: exactly the asked ids, in the order asked, each usable or with its defect."""

from __future__ import annotations

import math
from collections.abc import Iterable

from admit.core.question import KINDS, Answer, Call, Question, Reply, Score


def spoiled(question: Question, defect: str) -> Answer:
    """An answer that cannot be used."""
    return Answer(question.id, KINDS[type(question)], defect=defect)


def answer(question: Question, p: Iterable[float]) -> Answer:
    """An answer from probabilities; a score's expectation is the sum of level times probability."""
    values = tuple(p)
    expectation = math.fsum(k * value for k, value in enumerate(values)) if _is_score(question) else None
    return Answer(question.id, KINDS[type(question)], values, expectation)


def reply(
    questions: Iterable[Question],
    answers: Iterable[Answer],
    *,
    calls: tuple[Call, ...] = (),
    reason: str | None = None,
    elapsed_ms: float = 0.0,
    quirks: tuple[str, ...] = (),
) -> Reply:
    """Order answers as asked; an id without a usable answer gets a defect, and ids not asked are dropped.

    Args:
        reason: Of the first failed batch, where one failed; a partial reply without one says
            ``answer_defects``.
    """
    by_id: dict[str, Answer] = {}
    for one in answers:
        by_id.setdefault(one.id, one)
    checked = tuple(_checked(question, by_id.get(question.id)) for question in questions)
    if all(one.defect is None for one in checked):
        return Reply("judged", checked, None, calls, elapsed_ms, quirks)
    return Reply("partial", checked, reason or "answer_defects", calls, elapsed_ms, quirks)


def width(question: Question) -> int:
    """How many probabilities an answer to this question holds."""
    if isinstance(question, Score):
        return len(question.levels)
    return 1 if KINDS[type(question)] == "noul" else len(question.labels)  # type: ignore[union-attr]


def _checked(question: Question, given: Answer | None) -> Answer:
    """The last look at an answer of any judge, ours or a user's own."""
    if given is None:
        return spoiled(question, "missing")
    if given.kind != KINDS[type(question)]:
        return spoiled(question, "wrong_type")
    if given.defect is not None:
        return spoiled(question, given.defect)
    if len(given.p) != width(question):
        return spoiled(question, "bad_keys")
    if not all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in given.p):
        return spoiled(question, "out_of_range")
    return answer(question, given.p)


def _is_score(question: Question) -> bool:
    return isinstance(question, Score)
