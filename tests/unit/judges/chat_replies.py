"""Good replies of chat models in both styles, and an ask of all three kinds to answer."""

import json

from admit.core.question import Ask, Choice, Noul, Score
from admit.judges.chat import CALL, ChatDialect
from admit.judges.profiles import Profile

NOUL = Noul("q1", "about tests", "Does it help?", "It helps.", "It does not.")
SCORE = Score("q2", "about logs", "How much?", ("none", "some", "much", "all"))
CHOICE = Choice(
    "q3", "about claims", "Which?", (("supported", "by it"), ("한국어", "other"), ("não", "none"))
)

GOOD = (
    {"id": "q1", "relevant": False, "confidence": 0.75},
    {"id": "q2", "level": 2, "confidence": 0.7},
    {"id": "q3", "label": "한국어", "confidence": 0.5},
)


def ask(*questions, task="fix the tests", context=()):
    return Ask("outputs", task, context, questions or (NOUL, SCORE, CHOICE), None, 1000, "r1")


def dialect(form, **fields):
    return ChatDialect(Profile("own", "chat", "model-1", {}, "http://127.0.0.1:1", "/p", form, **fields))


def completion(form, forced, *, finish="stop", **fields):
    """A chat completion whose forced field holds a text, or a value as JSON."""
    text = forced if isinstance(forced, str) else json.dumps(forced, ensure_ascii=False)
    call = {"id": "c", "type": "function", "function": {"name": CALL, "arguments": text}}
    held = {"content": text} if form == "schema" else {"content": None, "tool_calls": [call]}
    return {
        "model": "model-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **held}}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 30},
        **fields,
    }


def message(forced, *, stop="tool_use", **fields):
    """An Anthropic message whose one call of our tool has this input."""
    return {
        "model": "model-1",
        "content": [
            {"type": "text", "text": "I record."},
            {"type": "tool_use", "name": CALL, "input": forced},
        ],
        "stop_reason": stop,
        "usage": {"input_tokens": 120, "output_tokens": 30},
        **fields,
    }


def reply(form, judgements):
    """A good reply around judgements in one form."""
    forced = {"judgements": list(judgements)}
    return message(forced) if form == "messages" else completion(form, forced)


def encoded(value):
    return json.dumps(value, ensure_ascii=False).encode()


def read(form, value, *questions, share=0.0):
    """What the dialect reads of a value, or of bytes as they are."""
    body = value if isinstance(value, bytes) else encoded(value)
    return dialect(form).read(ask(*questions), body, share)
