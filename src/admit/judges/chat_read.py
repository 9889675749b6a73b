"""What a chat model answered, read as strictly as every other reply.

Only the forced field is read: the text of the one choice (form ``schema``), or the arguments of the one call
of our tool (``tool``, ``messages``). It holds ``{"judgements": [{"id", ANSWER, "confidence"}]}``; a judgement
that stands anywhere else is nothing. Formats: the chat completions of OpenAI, the messages of Anthropic.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from admit.core.question import Answer, Ask, Choice, Noul, Question, Score

from .parse import SLACK, Rejected, decode
from .replies import answer, spoiled
from .usage import read_usage
from .wire import Read, model_name

FORMS = ("schema", "tool", "messages")

_STOPPED = MappingProxyType(
    {
        "length": "truncated",
        "max_tokens": "truncated",
        "model_context_window_exceeded": "truncated",
        "content_filter": "refusal",
        "refusal": "refusal",
        "error": "envelope",
    }
)
"""Reasons to stop with which nothing is used; any other is no obstacle."""

_FIELDS = ("relevant", "level", "label")

_OPENAI_COUNTS = (("prompt_tokens",), "completion_tokens")
_ANTHROPIC_COUNTS = (
    ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    "output_tokens",
)


def read_chat(ask: Ask, body: bytes, form: str, call: str, min_valid_share: float) -> Read:
    """The answers of one request in the order asked, the model that answered, and what it counted.

    Args:
        ask: The request as it was sent.
        body: The bytes as they came.
        form: One of `FORMS`.
        call: The name of our tool.
        min_valid_share: With a smaller share of usable answers the reply is ``mostly_invalid``.
    """
    whole = decode(body)
    if isinstance(whole, Rejected):
        return Read(whole)
    if not isinstance(whole, dict):
        return Read(Rejected("envelope"))
    forced = _message_input(whole, call) if form == "messages" else _choice_input(whole, form, call)
    answers = forced if isinstance(forced, Rejected) else _judgements(ask, forced, min_valid_share)
    counts = _ANTHROPIC_COUNTS if form == "messages" else _OPENAI_COUNTS
    usage, quirks = read_usage(whole.get("usage"), *counts)
    return Read(answers, model_name(whole.get("model")), usage, quirks)


def _choice_input(whole: Mapping[str, Any], form: str, call: str) -> Any:
    """What stands in the forced field of a chat completion, decoded; or `Rejected`."""
    choices = whole.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        return Rejected("envelope")
    stopped, message = choices[0].get("finish_reason"), choices[0].get("message")
    if isinstance(stopped, str) and stopped in _STOPPED:
        return Rejected(_STOPPED[stopped])
    if not isinstance(message, dict):
        return Rejected("envelope")
    if message.get("refusal"):
        return Rejected("refusal")
    if form == "schema":
        return _decoded(message.get("content"))
    calls = message.get("tool_calls")
    if not calls:
        return Rejected("no_call")
    function = _only(calls, "function")
    if isinstance(function, Rejected):
        return function
    if not isinstance(function, dict):
        return Rejected("envelope")
    return _decoded(function.get("arguments")) if function.get("name") == call else Rejected("no_call")


def _message_input(whole: Mapping[str, Any], call: str) -> Any:
    """The input of our tool's one call in an Anthropic message; or `Rejected`."""
    stopped, content = whole.get("stop_reason"), whole.get("content")
    if isinstance(stopped, str) and stopped in _STOPPED:
        return Rejected(_STOPPED[stopped])
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        return Rejected("envelope")
    calls = [block for block in content if block.get("type") == "tool_use"]
    if not calls:
        return Rejected("no_call")
    if len(calls) > 1:
        return Rejected("many_calls")
    return calls[0].get("input") if calls[0].get("name") == call else Rejected("no_call")


def _only(calls: Any, field: str) -> Any:
    """A field of the only call there is; or `Rejected`."""
    if not isinstance(calls, list) or not all(isinstance(one, dict) for one in calls):
        return Rejected("envelope")
    return calls[0].get(field) if len(calls) == 1 else Rejected("many_calls")


def _decoded(text: Any) -> Any:
    """The JSON value of a text inside the reply, which obeys the rules of a whole reply; or `Rejected`."""
    return decode(text.encode()) if isinstance(text, str) else Rejected("envelope")


def _judgements(ask: Ask, forced: Any, min_valid_share: float) -> tuple[Answer, ...] | Rejected:
    given = forced.get("judgements") if isinstance(forced, dict) else None
    if not isinstance(given, list):
        return Rejected("envelope")
    by_id: dict[str, list[Mapping[str, Any]]] = {question.id: [] for question in ask.questions}
    for judgement in given:
        name = judgement.get("id") if isinstance(judgement, dict) else None
        if not isinstance(name, str):
            return Rejected("envelope")
        if name not in by_id:
            return Rejected("extra_id")
        by_id[name].append(judgement)
    answers = tuple(_read(question, by_id[question.id]) for question in ask.questions)
    valid = sum(one.defect is None for one in answers)
    return answers if valid >= min_valid_share * len(answers) else Rejected("mostly_invalid")


def _read(question: Question, judgements: list[Mapping[str, Any]]) -> Answer:
    """The answer in the only judgement of an id; a second one contradicts the first, whatever it says."""
    if len(judgements) > 1:
        return spoiled(question, "contradiction")
    if not judgements:
        return spoiled(question, "missing")
    [fields] = judgements
    field = _field(question)
    if field not in fields:
        other = any(name in fields for name in _FIELDS)
        return spoiled(question, "wrong_type" if other else "missing")
    if "confidence" not in fields:
        return spoiled(question, "missing")
    place, n = _place(question, fields[field])
    if isinstance(place, str):
        return spoiled(question, place)
    confidence = fields["confidence"]
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
        return spoiled(question, "out_of_range")
    if confidence < 1 / n - SLACK:
        return spoiled(question, "contradiction")
    rest = round((1 - confidence) / (n - 1), 12)  # 1 - 0.9 is 0.1, also at a threshold of 0.1
    p = tuple(float(confidence) if k == place else rest for k in range(n))
    return answer(question, p[:1] if isinstance(question, Noul) else p)


def _field(question: Question) -> str:
    """The field that holds the answer to a question of this kind."""
    return "relevant" if isinstance(question, Noul) else "level" if isinstance(question, Score) else "label"


def _place(question: Question, given: Any) -> tuple[int | str, int]:
    """Which of how many answers was given, from 0, yes before no; or the defect."""
    if isinstance(question, Noul):
        return ((0 if given else 1) if isinstance(given, bool) else "wrong_type"), 2
    if isinstance(question, Choice):
        labels = [label for label, _ in question.labels]
        return (labels.index(given) if given in labels else "bad_keys"), len(labels)
    n = len(question.levels)
    whole = isinstance(given, int) and not isinstance(given, bool)
    return (given if whole and 0 <= given < n else "out_of_range"), n
