"""Splitting one ask into requests. Doors hand over questions, never batches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Set

from admit.core.question import NO_LIMITS, Ask, Choice, Noul, Question, RequestLimits

from .fence import context, fence

WRAPPING_BYTES = 280
"""Of one question on the wire beside its texts: ids, keys, and what it says of its fenced subject."""

BARE_BYTES = 80
"""The same where the rubric stands once in the request."""

REQUEST_BYTES = 1600
"""Of a request beside its questions: rules, the form of the answer, the model's name."""

Rubric = tuple[str, ...]

_NONCE = "0" * 16

GUIDANCE_QUESTIONS = 64
"""The most candidates one guidance request may carry; more is refused, never split."""

_UNSPLIT = frozenset({"guidance", "evidence"})


def batches(ask: Ask, limits: RequestLimits) -> tuple[tuple[Question, ...], ...]:
    """The requests of an ask, filled greedily in question order; a question is never split.

    A question that alone exceeds a limit is in no request: see `too_large`. Guidance and evidence are one
    request or none, for verdicts depend on who shares it; of the limits only the context binds there.
    """
    shared = shared_bytes(ask)
    if ask.door in _UNSPLIT:
        whole = shared + request_bytes(ask.questions, limits)
        within = _tokens(whole, limits.context_tokens) and _state_fits(ask, shared, limits)
        many = ask.door == "guidance" and len(ask.questions) > GUIDANCE_QUESTIONS
        return (ask.questions,) if within and ask.questions and not many else ()
    done: list[tuple[Question, ...]] = []
    batch: list[Question] = []
    size, said = shared, set[Rubric]()
    for question in ask.questions:
        alone = _bytes_of(question, limits, frozenset())
        if not _fits(1, shared + alone, limits):
            continue
        own = _bytes_of(question, limits, said)
        if not _fits(len(batch) + 1, size + own, limits):
            done.append(tuple(batch))
            batch, size, said, own = [], shared, set(), alone
        batch.append(question)
        said.add(_rubric(question))
        size += own
    return (*done, tuple(batch)) if batch else tuple(done)


def too_large(ask: Ask, limits: RequestLimits) -> tuple[str, ...]:
    """The ids that no request can carry, in question order."""
    carried = {question.id for batch in batches(ask, limits) for question in batch}
    return tuple(question.id for question in ask.questions if question.id not in carried)


def shared_bytes(ask: Ask) -> int:
    """UTF-8 bytes that every request of an ask carries, encoded as JSON: the task, the context, the form."""
    sent = context(ask, _NONCE)
    return REQUEST_BYTES + _bytes(ask.task) + sum(_bytes(name) + _bytes(text) for name, text in sent.items())


def request_bytes(questions: Iterable[Question], limits: RequestLimits = NO_LIMITS) -> int:
    """UTF-8 bytes of questions in one request, encoded as JSON; an upper estimate without redaction."""
    said: set[Rubric] = set()
    size = 0
    for question in questions:
        size += _bytes_of(question, limits, said)
        said.add(_rubric(question))
    return size


def _bytes_of(question: Question, limits: RequestLimits, said: Set[Rubric]) -> int:
    subject = _bytes(fence(_NONCE, question.id, question.subject))
    rubric = _rubric(question)
    if limits.rubric_once and rubric in said:
        return BARE_BYTES + subject
    return WRAPPING_BYTES + subject + sum(map(_bytes, rubric))


def _rubric(question: Question) -> Rubric:
    """What is asked, and what the answers mean."""
    if isinstance(question, Noul):
        return question.ask, question.true, question.false
    if isinstance(question, Choice):
        return question.ask, *(text for pair in question.labels for text in pair)
    return question.ask, *question.levels


def _bytes(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _fits(questions: int, size: int, limits: RequestLimits) -> bool:
    if limits.batch_questions is not None and questions > limits.batch_questions:
        return False
    if limits.batch_bytes is not None and size > limits.batch_bytes:
        return False
    return _tokens(size, limits.context_tokens)


def _state_fits(ask: Ask, shared: int, limits: RequestLimits) -> bool:
    """Requests that are split by bytes never come near this."""
    subjects = sum(_bytes(fence(_NONCE, one.id, one.subject)) + BARE_BYTES for one in ask.questions)
    longest = max((WRAPPING_BYTES + sum(map(_bytes, _rubric(one))) for one in ask.questions), default=0)
    return _tokens(shared + subjects + longest, limits.state_tokens)


def _tokens(size: int, most: int | None) -> bool:
    """Whether so many UTF-8 bytes are within a limit; a token is counted as 3 of them, rounded up."""
    return most is None or -(-size // 3) <= most
