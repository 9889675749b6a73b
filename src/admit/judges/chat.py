"""A chat model as a judge: one request, one forced form, one judgement for each question.

Two wire styles: chat completions of OpenAI and of what is compatible with it (form ``schema``:
`response_format` with a strict JSON schema; form ``tool``: `tool_choice` of our function), and the messages
of Anthropic (form ``messages``: `tool_choice` of our tool). The form is the profile's; there is no second try
in another one. What comes back is read in `chat_read`.

The order of a request's text is role and rules, questions, fenced items, fenced conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from admit.core.question import Ask, Choice, Noul, Question, Score
from admit.errors import ConfigError

from .chat_read import FORMS, read_chat
from .fence import fence, plain, rule
from .profiles import Profile
from .safe import subject_place
from .wire import Read

CALL = "record_judgements"
ANTHROPIC_VERSION = "2023-06-01"

_ROLE = (
    "You judge items for a program. For each question id give exactly one judgement, of its own item alone: "
    "not by the other items, not by its place among them."
)
_CONFIDENCE = (
    "`confidence` is the probability, from 0 to 1, that this answer is right. "
    "Give the likeliest answer, so that no other has a higher one."
)
_DESCRIPTION = "Record one judgement for each question id."


class ChatDialect:
    """Requests to a chat model and what it answers; pure.

    Args:
        profile: Its `form` is one of `FORMS`.

    Raises:
        ConfigError: The form is another one.
    """

    def __init__(self, profile: Profile) -> None:
        if profile.form not in FORMS:
            key = f"judge.profiles.{profile.name}.form"
            raise ConfigError(f"{key} is {profile.form!r}; write one of: {', '.join(FORMS)}", key=key)
        self._profile = profile

    def supports(self, question: Question) -> bool:
        return isinstance(question, (Noul, Score, Choice))

    def headers(self, key: str | None) -> dict[str, str]:
        shared = {"content-type": "application/json", "accept": "application/json"}
        if self._profile.form == "messages":
            own = {"x-api-key": key} if key is not None else {}
            return {**shared, **own, "anthropic-version": ANTHROPIC_VERSION}
        return {**shared, **({"authorization": f"Bearer {key}"} if key is not None else {})}

    def body(self, ask: Ask, nonce: str) -> bytes:
        system, user = rules(nonce), conversation(ask, nonce)
        schema = judgements_schema(ask.questions)
        request: dict[str, Any] = {
            "model": self._profile.model,
            "max_tokens": self.tokens_out(len(ask.questions)),
        }
        if self._profile.temperature is not None:
            request["temperature"] = self._profile.temperature
        if self._profile.form == "messages":
            request |= {
                "system": system,
                "messages": [{"role": "user", "content": user}],
                "tools": [{"name": CALL, "description": _DESCRIPTION, "input_schema": schema}],
                "tool_choice": {"type": "tool", "name": CALL},
            }
        else:
            messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
            request |= {"messages": messages, **_forced(self._profile.form, schema)}
        # Rubrics and names too: a lone surrogate anywhere could not be encoded.
        return plain(json.dumps(request, ensure_ascii=False)).encode()

    def tokens_out(self, questions: int) -> int:
        """64 and 48 a question: room for every judgement, so that an answer is not cut off."""
        return 64 + 48 * questions

    def read(self, ask: Ask, body: bytes, min_valid_share: float) -> Read:
        return read_chat(ask, body, self._profile.form, CALL, min_valid_share)


def _forced(form: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What makes an OpenAI-style model answer in our form and no other."""
    if form == "schema":
        named = {"name": CALL, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    function = {"name": CALL, "description": _DESCRIPTION, "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": CALL}},
    }


def judgements_schema(questions: Sequence[Question]) -> dict[str, Any]:
    """The JSON schema of an answer: ``{"judgements": [{"id", ANSWER, "confidence"}]}``.

    ANSWER is `relevant` (boolean), `level` (integer from 0) or `label` (one of those asked). The array has a
    length, for a small model may go on judging until it is cut off; numbers have no bounds, which some
    servers refuse.
    """
    count = len(questions)
    kinds: dict[str, tuple[str, dict[str, Any], list[str]]] = {}
    for question in questions:
        field, schema = _answer_field(question)
        kinds.setdefault(json.dumps([field, schema]), (field, schema, []))[2].append(question.id)
    items = [
        _object(
            {
                "id": {"type": "string", "enum": ids},
                field: schema,
                "confidence": {"type": "number", "description": "from 0 to 1"},
            }
        )
        for field, schema, ids in kinds.values()
    ]
    item = items[0] if len(items) == 1 else {"anyOf": items}
    return _object({"judgements": {"type": "array", "items": item, "minItems": count, "maxItems": count}})


def _answer_field(question: Question) -> tuple[str, dict[str, Any]]:
    if isinstance(question, Noul):
        return "relevant", {"type": "boolean"}
    if isinstance(question, Score):
        return "level", {"type": "integer", "description": f"from 0 to {len(question.levels) - 1}"}
    return "label", {"type": "string", "enum": [label for label, _ in question.labels]}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def rules(nonce: str) -> str:
    """Role and rules: what a model is told before anything that someone else wrote."""
    return "\n".join((_ROLE, rule(nonce), _CONFIDENCE))


def conversation(ask: Ask, nonce: str) -> str:
    """Questions, fenced items, fenced conversation. Questions that differ by item alone share a text."""
    asked: dict[str, list[str]] = {}
    for question in ask.questions:
        asked.setdefault(_words(question), []).append(question.id)
    items = (
        f"{one.id}: {fence(nonce, subject_place(one).removeprefix('/'), one.subject)}"
        for one in ask.questions
    )
    said = (("task", ask.task), *((_name(name), text) for name, text in ask.context))
    return "\n".join(
        (
            "Questions",
            *(f"{', '.join(ids)}: {words}" for words, ids in asked.items()),
            "",
            "Items",
            *items,
            "",
            "Conversation",
            *(f"{name}: {fence(nonce, name, text)}" for name, text in said),
        )
    )


def _words(question: Question) -> str:
    """What is asked, and what each answer means."""
    if isinstance(question, Noul):
        answers = [f"relevant = true: {question.true}", f"relevant = false: {question.false}"]
    elif isinstance(question, Score):
        answers = [f"level = {k}: {level}" for k, level in enumerate(question.levels)]
    else:
        answers = [
            f"label = {json.dumps(label, ensure_ascii=False)}: {text}" for label, text in question.labels
        ]
    return "\n".join((question.ask, *(f"- {answer}" for answer in answers)))


def _name(name: str) -> str:
    """The name of a context text, which must not close a fence or pass for an item's or the task's."""
    return "context_" + re.sub(r"[^A-Za-z0-9_]", "_", name)
