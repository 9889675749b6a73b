"""The one strict parser of what judges answer.

A defect of the envelope rejects the whole reply; a defect of one answer spoils that answer only. No number
is clamped or replaced, and only the field that holds an answer is read: verdict-looking text elsewhere is
nothing. Unknown extra fields are ignored.

The answer shape is that of the SystemOne interface (``{"type": "noul", "noul": p}``, ``probabilities`` by
level or label); the `command` dialect wraps the same shape in its own envelope.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from json import JSONDecodeError
from math import fsum, isfinite
from typing import Any, NamedTuple

from admit.core.question import KINDS, Answer, Ask, Choice, Question, Score

from .replies import answer, spoiled

MOST_BYTES = 1 << 20
MOST_DEPTH = 32
MOST_DIGITS = 20
MIN_VALID_SHARE = 0.5

SUM_TOLERANCE = 0.05
CHOICE_TOLERANCE = 0.005
SCORE_TOLERANCE = 0.02
SLACK = 1e-9

DIALECTS = ("systemone", "command")


class Rejected(NamedTuple):
    """A reply of which nothing is used; `cause` is one of `core.reasons.REPLY_CAUSES`."""

    cause: str

    @property
    def reason(self) -> str:
        """The fallback reason of the reply."""
        return f"answer_{self.cause}"


def parse_reply(
    ask: Ask, body: bytes, dialect: str = "systemone", *, min_valid_share: float = MIN_VALID_SHARE
) -> tuple[Answer, ...] | Rejected:
    """The answers of one request, in the order asked, or why the reply is rejected.

    Args:
        ask: The request as it was sent: of a batch, with the questions of that batch.
        body: The bytes as they came, at most 1 MiB.
        dialect: One of `DIALECTS`.
        min_valid_share: With a smaller share of usable answers the reply is ``mostly_invalid``.
    """
    value = decode(body)
    if isinstance(value, Rejected):
        return value
    return read_answers(ask, value, dialect, min_valid_share=min_valid_share)


def decode(body: bytes) -> Any:
    """Exactly one JSON value out of bytes, or `Rejected`; never an exception."""
    if len(body) > MOST_BYTES:
        return Rejected("too_large")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        cut_off = error.reason == "unexpected end of data" and error.end == len(body)
        return Rejected("truncated" if cut_off else "encoding")
    try:
        value = json.loads(
            text, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_int=_short_integer
        )
        return _looked_through(value)
    except _Refused as refusal:
        return Rejected(refusal.cause)
    except JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        return Rejected("truncated" if cut_off else "not_json")
    except RecursionError:
        return Rejected("too_deep")
    except MemoryError:
        return Rejected("too_large")
    except ValueError:
        return Rejected("not_json")


def read_answers(
    ask: Ask, value: Any, dialect: str = "systemone", *, min_valid_share: float = MIN_VALID_SHARE
) -> tuple[Answer, ...] | Rejected:
    """The answers out of a decoded reply. See `parse_reply`."""
    if dialect not in DIALECTS:
        raise ValueError(f"no such dialect: {dialect}")
    given = value.get("answers") if isinstance(value, dict) else None
    if not isinstance(given, dict):
        return Rejected("envelope")
    if not given.keys() <= {question.id for question in ask.questions}:
        return Rejected("extra_id")
    answers = tuple(_read(question, given) for question in ask.questions)
    valid = sum(one.defect is None for one in answers)
    return answers if valid >= min_valid_share * len(answers) else Rejected("mostly_invalid")


def _read(question: Question, given: Mapping[str, Any]) -> Answer:
    if question.id not in given:
        return spoiled(question, "missing")
    fields = given[question.id]
    if not isinstance(fields, dict) or fields.get("type") != KINDS[type(question)]:
        return spoiled(question, "wrong_type")
    if isinstance(question, Score):
        names = tuple(map(str, range(len(question.levels))))
    elif isinstance(question, Choice):
        names = tuple(label for label, _ in question.labels)
    else:
        return _read_noul(question, fields)
    p = fields.get("probabilities")
    if not isinstance(p, dict) or p.keys() != set(names):
        return spoiled(question, "bad_keys")
    if not all(map(_is_probability, p.values())):
        return spoiled(question, "out_of_range")
    values = tuple(float(p[name]) for name in names)
    total = fsum(values)
    if not _sums_to_one(values, total):
        return spoiled(question, "bad_sum")
    defect = _score_defect(fields, values) if isinstance(question, Score) else _choice_defect(fields, p)
    if defect is not None:
        return spoiled(question, defect)
    return answer(question, (min(1.0, value / total) for value in values))


def _read_noul(question: Question, fields: Mapping[str, Any]) -> Answer:
    if "noul" not in fields:
        return spoiled(question, "missing")
    if not _is_probability(fields["noul"]):
        return spoiled(question, "out_of_range")
    return answer(question, (float(fields["noul"]),))


def _score_defect(fields: Mapping[str, Any], values: tuple[float, ...]) -> str | None:
    """Whether the score that was returned beside the probabilities contradicts them."""
    if "score" not in fields:
        return None
    score = fields["score"]
    if not _is_number(score):
        return "out_of_range"
    n = len(values)
    tolerance = SCORE_TOLERANCE + _rounding(values) * (1 + n * (n - 1) / 2)
    expected = fsum(level * value for level, value in enumerate(values))
    return "contradiction" if abs(score - expected) > tolerance + SLACK else None


def _choice_defect(fields: Mapping[str, Any], p: Mapping[str, float]) -> str | None:
    """Whether the label that was returned beside the probabilities contradicts them."""
    if "choice" not in fields:
        return None
    chosen = fields["choice"]
    if not isinstance(chosen, str) or chosen not in p:
        return "contradiction"
    return "contradiction" if max(p.values()) - p[chosen] > CHOICE_TOLERANCE + SLACK else None


def _sums_to_one(values: tuple[float, ...], total: float) -> bool:
    """Rounded probabilities may miss 1 by half a unit of their last decimal each."""
    rounding = _rounding(values)
    above = max(SUM_TOLERANCE, rounding * sum(value > 0 for value in values))
    below = max(SUM_TOLERANCE, rounding * len(values))
    return total > 0 and -below - SLACK <= total - 1 <= above + SLACK


def _rounding(values: tuple[float, ...]) -> float:
    """Half a unit of the last decimal (2 to 6) at which every value is exact; 0 where none is."""
    for decimals in range(2, 7):
        if all(round(value, decimals) == value for value in values):
            return 0.5 * 10.0**-decimals
    return 0.0


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)


def _is_probability(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 1  # type: ignore[operator]


class _Refused(Exception):
    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Refused("duplicate_key")
    return found


def _no_constant(token: str) -> Any:
    raise _Refused("nan")


def _short_integer(token: str) -> int:
    # Before `int` sees it, which refuses some lengths with an error of its own.
    if len(token.lstrip("-")) > MOST_DIGITS:
        raise _Refused("too_large")
    return int(token)


def _looked_through(value: Any) -> Any:
    """The value, once nesting and strings are found to be sound; without recursion."""
    level = [value]
    for _ in range(MOST_DEPTH):
        containers = [one for one in level if isinstance(one, (dict, list))]
        _encodable(one for one in level if isinstance(one, str))
        _encodable(key for one in containers if isinstance(one, dict) for key in one)
        level = [child for one in containers for child in (one.values() if isinstance(one, dict) else one)]
    if any(isinstance(one, (dict, list)) for one in level):
        raise _Refused("too_deep")
    _encodable(one for one in level if isinstance(one, str))
    return value


def _encodable(texts: Iterable[str]) -> None:
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Refused("encoding") from None
