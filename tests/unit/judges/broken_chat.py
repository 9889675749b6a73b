"""Replies of chat models and programs broken in one known way, drawn by seed: see `broken` for the rest."""

import copy
from random import Random

from admit.core.question import Ask, Choice, Noul, Score
from admit.judges.chat import CALL

from . import broken
from .broken import BAD_NUMBERS, draw_ask, good_reply
from .chat_replies import completion, encoded, message

FORMS = ("schema", "tool", "messages")
FIELDS = {Noul: "relevant", Score: "level", Choice: "label"}


def least(question) -> float:
    """The confidence of an even spread."""
    return 1 / len(getattr(question, "levels", None) or getattr(question, "labels", None) or (True, False))


def good_judgement(random: Random, question) -> dict:
    low = least(question)
    confidence = random.choice([1, 1.0, low, low + (1 - low) * random.random()])
    if isinstance(question, Noul):
        value = random.random() < 0.5
    elif isinstance(question, Score):
        value = random.randrange(len(question.levels))
    else:
        value = random.choice(question.labels)[0]
    return {"id": question.id, FIELDS[type(question)]: value, "confidence": confidence}


def good_judgements(random: Random, ask: Ask) -> list[dict]:
    found = [good_judgement(random, question) for question in ask.questions]
    random.shuffle(found)
    return found


def wrapped(form: str, forced):
    return message(forced) if form == "messages" else completion(form, forced)


def draw_broken_chat(random: Random, form: str):
    """(ask, body, causes, defects): rejected for one of `causes`, or spoiled as `defects` says by id."""
    ask = draw_ask(random)
    forced = {"judgements": good_judgements(random, ask)}
    layer = random.random()
    if layer < 0.25:
        body, causes = random.choice(OUTER)(random, wrapped(form, forced))
        return ask, body, causes, {}
    if layer < 0.5:
        if form == "messages":
            return ask, *random.choice(ENVELOPES)(random, form, forced), {}
        text, causes = random.choice(INNER)(random, forced)
        return ask, encoded(wrapped(form, text.decode())), causes, {}
    if layer < 0.75:
        return ask, *random.choice(ENVELOPES)(random, form, forced), {}
    question = random.choice(ask.questions)
    spoil = random.choice([*SPOIL["any"], *SPOIL[type(question)]])
    defect = spoil(random, forced["judgements"], question)
    return ask, encoded(wrapped(form, forced)), (), {question.id: defect}


def draw_broken_command(random: Random, form: str = "command"):
    """The same for the line of a program."""
    ask = draw_ask(random)
    line = {"v": 1, "id": "0" * 16, **good_reply(random, ask)}
    how = random.random()
    if how < 0.1:
        line["v"] = random.choice([None, 0, 2, "1", True, [1]])
        return ask, encoded(line), ("envelope",), {}
    if how < 0.55:
        body, causes = random.choice(broken.ENVELOPE)(random, line)
        return ask, body, causes, {}
    question = random.choice(ask.questions)
    kind = type(question).__name__
    defects = broken.ANSWER
    spoil = random.choice([*defects["any"], *defects["Noul" if kind == "Noul" else "many"], *defects[kind]])
    defect = spoil(random, line["answers"], question)
    return ask, encoded(line), (), {question.id: defect}


def _repeated(random, value):
    key = random.choice(sorted(value))
    body = encoded(value)
    found = f'"{key}": '.encode()
    return body.replace(found, found + b"1, " + found, 1), ("duplicate_key",)


def _empty(random, forced):
    return random.choice([b"", b" \n"]), ("truncated",)


OUTER = [
    broken._around, broken._cut, broken._bad_byte, broken._lone_surrogate, broken._no_number, _repeated,
    broken._deep, broken._long,
]  # fmt: skip
# The text inside a reply is no bytes: what cannot be decoded cannot stand in it.
INNER = [
    broken._around, broken._lone_surrogate, broken._no_number, _repeated, broken._deep, broken._long, _empty,
]  # fmt: skip


def _stopped(random, form, forced):
    stop, cause = random.choice(
        [
            ("length", "truncated"),
            ("max_tokens", "truncated"),
            ("refusal", "refusal"),
            ("content_filter", "refusal"),
        ]
    )
    whole = wrapped(form, forced)
    if form == "messages":
        whole["stop_reason"] = stop
    else:
        whole["choices"][0]["finish_reason"] = stop
    return encoded(whole), (cause,)


def _calls(random, form, forced):
    """No call of ours, or more than one; for the schema form, a choice too many or too few."""
    whole = wrapped(form, forced)
    if form == "schema":
        whole["choices"] = random.choice([[], whole["choices"] * 2])
        return encoded(whole), ("envelope",)
    calls = whole["content"] if form == "messages" else whole["choices"][0]["message"]["tool_calls"]
    ours = calls[-1]
    how = random.randrange(3)
    if how == 0:
        calls.remove(ours)
        return encoded(whole), ("no_call",)
    if how == 1:
        calls.append(copy.deepcopy(ours))
        return encoded(whole), ("many_calls",)
    (ours if form == "messages" else ours["function"])["name"] = random.choice(
        ["other", CALL.upper(), "", None]
    )
    return encoded(whole), ("no_call",)


def _shape(random, form, forced):
    judgements = forced["judgements"]
    unnamed = [{**judgements[0], "id": 1}]
    held = [None, {"q1": judgements[0]}, [[]], unnamed]
    wrong = random.choice(
        [judgements, {"judgments": judgements}, *({"judgements": one} for one in held), None, 1, [], {}]
    )
    return encoded(wrapped(form, wrong)), ("envelope",)


def _whole_shape(random, form, forced):
    whole = wrapped(form, forced)
    del whole["content" if form == "messages" else "choices"]
    wrong = random.choice(
        [whole, {**whole, **forced}, forced, [whole], "yes", None, {"error": {"message": "no"}}]
    )
    return encoded(wrong), ("envelope",)


def _other_id(random, form, forced):
    other = random.choice(["q0", "q99", "Q1", "q1 ", "", "__extra__"])
    judgements = forced["judgements"]
    if random.random() < 0.5:
        judgements.append({**random.choice(judgements), "id": other})
    else:
        random.choice(judgements)["id"] = other
    return encoded(wrapped(form, forced)), ("extra_id",)


ENVELOPES = [_stopped, _calls, _shape, _whole_shape, _other_id]


def _of(judgements, question):
    return next(one for one in judgements if one["id"] == question.id)


def _absent(random, judgements, question):
    judgements.remove(_of(judgements, question))
    return "missing"


def _no_field(random, judgements, question):
    one = _of(judgements, question)
    del one[random.choice([FIELDS[type(question)], "confidence"])]
    return "missing"


def _twice(random, judgements, question):
    again = random.choice(
        [dict(_of(judgements, question)), {"id": question.id}, good_judgement(random, question)]
    )
    judgements.insert(random.randrange(len(judgements) + 1), again)
    return "contradiction"


def _other_kind(random, judgements, question):
    one = _of(judgements, question)
    del one[FIELDS[type(question)]]
    one[random.choice([name for kind, name in FIELDS.items() if kind is not type(question)])] = 1
    return "wrong_type"


def _bad_confidence(random, judgements, question):
    _of(judgements, question)["confidence"] = random.choice(BAD_NUMBERS)
    return "out_of_range"


def _too_unsure(random, judgements, question):
    _of(judgements, question)["confidence"] = random.choice([0, 0.0, least(question) * 0.99])
    return "contradiction"


def _bad_relevant(random, judgements, question):
    _of(judgements, question)["relevant"] = random.choice(["true", 1, 0, None, [True], {}])
    return "wrong_type"


def _bad_level(random, judgements, question):
    n = len(question.levels)
    _of(judgements, question)["level"] = random.choice([n, -1, 0.5, 1.0, True, "1", None, [1]])
    return "out_of_range"


def _bad_label(random, judgements, question):
    label = question.labels[0][0]
    _of(judgements, question)["label"] = random.choice(
        [label + " ", label.upper() + "X", 0, None, [label], True]
    )
    return "bad_keys"


SPOIL = {
    "any": [_absent, _no_field, _twice, _other_kind, _bad_confidence, _too_unsure],
    Noul: [_bad_relevant],
    Score: [_bad_level],
    Choice: [_bad_label],
}
