"""Replies broken in one known way, drawn by seed: what is asked, the bytes, and what must come of them."""

import json
import unicodedata
from random import Random

from admit.core.question import Ask, Choice, Noul, Score

LABELS = ("supported", "contradicted", "한국어", "Größe", "não", "label 6", "L")


def draw_ask(random: Random) -> Ask:
    questions = []
    for k in range(1, random.randint(1, 6) + 1):
        kind = random.choice("nsc")
        if kind == "n":
            questions.append(Noul(f"q{k}", "text", "ask", "yes", "no"))
        elif kind == "s":
            questions.append(Score(f"q{k}", "text", "ask", tuple("abcdefghij"[: random.randint(2, 10)])))
        else:
            labels = random.sample(LABELS, random.randint(2, len(LABELS)))
            questions.append(Choice(f"q{k}", "text", "ask", tuple((label, "text") for label in labels)))
    return Ask("outputs", "task", (), tuple(questions), None, 1000, "r1")


def good_answer(random: Random, question) -> dict:
    """A good answer in the SystemOne shape, with or without the fields that are only cross-checked."""
    if isinstance(question, Noul):
        return {
            "type": "noul",
            "noul": random.choice([0, 1, 0.5, round(random.random(), 2), random.random()]),
        }
    n = len(question.levels if isinstance(question, Score) else question.labels)
    weights = [random.random() ** 3 + 1e-3 for _ in range(n)]
    p = [weight / sum(weights) for weight in weights]
    decimals = random.choice([2, 3, 4, None])
    if decimals is not None:
        p = [round(value, decimals) for value in p]
    if isinstance(question, Score):
        fields = {"type": "score", "probabilities": {str(k): value for k, value in enumerate(p)}}
        if random.random() < 0.5:
            fields["score"] = sum(k * value for k, value in enumerate(p))
            fields["legend"] = "0 = none"
        return fields
    names = [label for label, _ in question.labels]
    fields = {"type": "choice", "probabilities": dict(zip(names, p, strict=True))}
    if random.random() < 0.5:
        fields["choice"] = names[p.index(max(p))]
        fields["confidence"] = random.choice([0.9, "high", None])
    return fields


def good_reply(random: Random, ask: Ask) -> dict:
    return {
        "model": "m",
        "answers": {question.id: good_answer(random, question) for question in ask.questions},
        "usage": {"input_tokens": 12},
    }


def draw_broken(random: Random):
    """(ask, body, causes, defects): rejected for one of `causes`, or spoiled as `defects` says by id."""
    ask = draw_ask(random)
    reply = good_reply(random, ask)
    if random.random() < 0.5:
        body, causes = random.choice(ENVELOPE)(random, reply)
        return ask, body, causes, {}
    question = random.choice(ask.questions)
    kind = type(question).__name__
    defect = random.choice([*ANSWER["any"], *ANSWER["Noul" if kind == "Noul" else "many"], *ANSWER[kind]])
    name = defect(random, reply["answers"], question)
    return ask, encoded(reply), (), {question.id: name}


def encoded(value) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _around(random, reply):
    before, after = random.choice(
        [("Here: ", ""), ("", " done"), ("```json\n", "\n```"), ("", "{}"), ("\ufeff", "")]
    )
    return before.encode() + encoded(reply) + after.encode(), ("not_json",)


def _cut(random, reply):
    body = encoded(reply)
    return body[: random.randrange(len(body))], ("truncated", "not_json")


def _bad_byte(random, reply):
    body = encoded(reply)
    at = random.randrange(1, len(body) - 1)
    return body[:at] + random.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80"]) + body[at:], ("encoding",)


def _lone_surrogate(random, reply):
    body = encoded({**reply, "note": "@"})
    escape = random.choice([rb"\ud800", rb"\udfff x", rb"\udc00\ud800"])
    return body.replace(b'"@"', b'"' + escape + b'"'), ("encoding",)


def _no_number(random, reply):
    body = encoded({**reply, "note": ["@"]})
    return body.replace(b'"@"', random.choice([b"NaN", b"Infinity", b"-Infinity"])), ("nan",)


def _repeated_key(random, reply):
    key = random.choice(["answers", "type", "probabilities", "model", "note"])
    body = encoded({**reply, "note": {"note": 1}})
    found = f'"{key}": '.encode()
    if found not in body:
        found = b'"answers": '
    return body.replace(found, found + b"1, " + found, 1), ("duplicate_key",)


def _deep(random, reply):
    depth = random.choice([40, 1000, 100_000])
    body = encoded({**reply, "note": "@"})
    return body.replace(b'"@"', b"[" * depth + b"]" * depth), ("too_deep",)


def _long(random, reply):
    if random.random() < 0.1:
        return encoded(reply) + b" " * (1 << 20), ("too_large",)
    body = encoded({**reply, "note": "@"})
    digits = random.choice([b"-", b""]) + b"1" * random.choice([21, 5000])
    return body.replace(b'"@"', digits), ("too_large",)


def _envelope(random, reply):
    answers = reply["answers"]
    value = random.choice(
        [
            list(answers.values()),
            answers,
            {**reply, "answers": None},
            {**reply, "answers": [answers]},
            "yes",
            1,
            None,
        ]
    )
    return encoded(value), ("envelope",)


def _extra_id(random, reply):
    extra = random.choice(["q0", "q99", "Q1", "q1 ", "__extra__", ""])
    reply["answers"][extra] = {"type": "noul", "noul": 1.0}
    return encoded(reply), ("extra_id",)


ENVELOPE = [
    _around, _cut, _bad_byte, _lone_surrogate, _no_number, _repeated_key, _deep, _long, _envelope, _extra_id,
]  # fmt: skip

BAD_NUMBERS = [-0.01, 1.01, 2, -1, 1e300, True, False, None, "0.5", "yes", [0.5], {"p": 0.5}]


def _missing(random, answers, question):
    del answers[question.id]
    return "missing"


def _wrong_type(random, answers, question):
    fields = answers[question.id]
    kinds = [kind for kind in ("noul", "score", "choice") if kind != fields["type"]]
    wrong = random.choice(
        [*({**fields, "type": kind} for kind in kinds), {**fields, "type": None}, 0.7, None, [fields]]
    )
    answers[question.id] = wrong
    return "wrong_type"


def _bad_noul(random, answers, question):
    answers[question.id]["noul"] = random.choice(BAD_NUMBERS)
    return "out_of_range"


def _bad_probability(random, answers, question):
    p = answers[question.id]["probabilities"]
    p[random.choice(list(p))] = random.choice(BAD_NUMBERS)
    return "out_of_range"


def _bad_keys(random, answers, question):
    fields = answers[question.id]
    p = dict(fields["probabilities"])
    key = random.choice(list(p))
    other = random.choice([key + " ", key.upper() + "x", unicodedata.normalize("NFD", key) + "́"])
    how = random.randrange(4)
    if how == 0:
        p[other] = p.pop(key)
    elif how == 1:
        p[other] = 0.0
    elif how == 2:
        del p[key]
    fields["probabilities"] = p if how < 3 else list(p.values())
    return "bad_keys"


def _bad_sum(random, answers, question):
    p = answers[question.id]["probabilities"]
    factor = random.choice([0.0, 0.5, 0.85])
    for key in p:
        p[key] *= factor
    return "bad_sum"


def _one_based(random, answers, question):
    fields = answers[question.id]
    fields["probabilities"] = {str(int(key) + 1): value for key, value in fields["probabilities"].items()}
    return "bad_keys"


def _other_score(random, answers, question):
    fields = answers[question.id]
    expected = sum(int(key) * value for key, value in fields["probabilities"].items())
    fields["score"] = expected + random.choice([0.5, -0.5, 1.0])
    return "contradiction"


def _other_choice(random, answers, question):
    p = answers[question.id]["probabilities"]
    for key in p:
        p[key] = 0.0
    first, second, *_ = random.sample(list(p), len(p))
    p[first], p[second] = 0.6, 0.4
    answers[question.id]["choice"] = random.choice([second, "no such label", None, 1])
    return "contradiction"


ANSWER = {
    "any": [_missing, _wrong_type],
    "many": [_bad_probability, _bad_keys, _bad_sum],
    "Noul": [_bad_noul],
    "Score": [_one_based, _other_score],
    "Choice": [_other_choice],
}
