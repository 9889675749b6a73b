"""An ask without credentials: every text of it redacted, and pointers to what was masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from admit.core.question import Ask, Question

from .fence import opened
from .redact import Redactor, Unredacted


class Safe(NamedTuple):
    """A redacted ask.

    Attributes:
        masked: Pointers by the place of the text: ``/task``, ``/context/NAME``, ``/cK`` for the subject of
            question ``qK``; offsets in the text as the ask held it, or as the door did that masked it.
    """

    ask: Ask
    masked: Mapping[str, tuple[Mapping[str, object], ...]]

    def pointers(self, questions: tuple[Question, ...]) -> tuple[Mapping[str, object], ...]:
        """What was masked in a request with these questions, task and context included."""
        subjects = {subject_place(question) for question in questions}
        shared = (at for at in self.masked if not at.startswith("/c") or at.startswith("/context/"))
        places = [*shared, *(at for at in self.masked if at in subjects)]
        return tuple(pointer for at in places for pointer in self.masked[at])


def subject_place(question: Question) -> str:
    """Where the subject of ``qK`` stands in a request: ``/cK``."""
    return "/c" + question.id.removeprefix("q")


def safe_ask(ask: Ask, redactor: Redactor, *, budget_ms: float) -> Safe | None:
    """Redact all that would be sent. None where a text is too large for it, or the time ran out.

    The questions' own words are the door's and the rubric's; they are redacted too, for an evidence door
    quotes a document in them.
    """
    masked = dict(ask.masked)
    budget = redactor.budget(budget_ms)

    def clean(text: str, at: str) -> str:
        redacted = budget.redact(text)
        if redacted.masks:
            masked[at] = (*masked.get(at, ()), *redacted.pointers(at))
        return redacted.text

    try:
        safe = ask._replace(
            task=clean(ask.task, "/task"),
            context=tuple((name, clean(text, f"/context/{name}")) for name, text in ask.context),
            questions=tuple(
                one._replace(subject=clean(one.subject, subject_place(one)), ask=clean(one.ask, "/ask"))
                for one in ask.questions
            ),
        )
    except Unredacted:
        return None
    return Safe(safe, masked)


def sent_texts(body: bytes) -> Iterator[str]:
    """Every text of a finished request as its reader sees it, names included: escapes undone, fences opened.

    So what redaction left is met again as it was, and not with the signs of the form beside it. A body that
    is not JSON is one text.
    """
    text = body.decode("utf-8", "replace")
    try:
        strings = _strings(json.loads(text))
    except (ValueError, RecursionError):
        strings = iter((text,))
    for one in strings:
        inside, around = opened(one)
        yield from (around, *inside)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
