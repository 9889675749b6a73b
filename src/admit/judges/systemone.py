"""The SystemOne interface: typed questions about a state, answered with probabilities in one request.

Spoken by Jev (https://api.typesafe.ai/v1/systemone), OpenRouter's decisions and whatever is compatible; where
they differ is the path, which is the profile's. Requests keep to what every such server takes: texts are
strings, a yes-or-no question has both sides, every label a description, the state is an object.
"""

from __future__ import annotations

import json
from typing import Any

from admit.core.question import Ask, Choice, Noul, Question, Score

from .fence import context, fence, plain, rule
from .parse import Rejected, decode, read_answers
from .profiles import Profile
from .safe import subject_place
from .usage import read_usage
from .wire import Read, model_name

MOST_LEVELS = 10
MOST_LABELS = 255

TOKENS_OUT = 512
"""Of one answer, at most: ten levels with the legend that servers repeat, or some 60 labels."""


class SystemOneDialect:
    """Requests in the SystemOne form and what comes back; pure.

    Args:
        profile: Names the model.
    """

    def __init__(self, profile: Profile) -> None:
        self._model = profile.model

    def supports(self, question: Question) -> bool:
        if isinstance(question, Score):
            return 2 <= len(question.levels) <= MOST_LEVELS
        return isinstance(question, Noul) or 2 <= len(question.labels) <= MOST_LABELS

    def headers(self, key: str | None) -> dict[str, str]:
        shared = {"content-type": "application/json", "accept": "application/json"}
        return {**shared, **({"authorization": f"Bearer {key}"} if key is not None else {})}

    def body(self, ask: Ask, nonce: str) -> bytes:
        """``{model, state, questions}``; the state holds task, context and each candidate in its fence."""
        state: dict[str, Any] = {"task": ask.task, "context": context(ask, nonce)}
        questions: dict[str, Any] = {}
        for question in ask.questions:
            name = subject_place(question).removeprefix("/")
            state[name] = fence(nonce, name, question.subject)
            kind, criteria = _asked(question)
            questions[question.id] = {
                "type": kind,
                "instructions": f"{question.ask}\n{rule(nonce, name)}",
                "criteria": criteria,
            }
        request = {"model": self._model, "state": state, "questions": questions}
        return plain(json.dumps(request, ensure_ascii=False)).encode()

    def tokens_out(self, questions: int) -> int:
        return TOKENS_OUT * questions

    def read(self, ask: Ask, body: bytes, min_valid_share: float) -> Read:
        value = decode(body)
        if isinstance(value, Rejected):
            return Read(value)
        answers = read_answers(ask, value, min_valid_share=min_valid_share)
        if not isinstance(value, dict):
            return Read(answers)
        usage, quirks = read_usage(value.get("usage"), ("input_tokens",), "output_tokens")
        return Read(answers, model_name(value.get("model")), usage, quirks)


def _asked(question: Question) -> tuple[str, Any]:
    """A question's type on the wire, and its criteria."""
    if isinstance(question, Noul):
        return "noul", {"true": question.true, "false": question.false}
    if isinstance(question, Choice):
        return "choice", dict(question.labels)
    return "score", list(question.levels)
