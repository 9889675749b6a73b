"""Whether the questions of one request move each other's answers, which in one reply nobody sees.

A threshold holds for a question wherever it stands; a server that lets the id of a question, the number of
questions or their order into the model breaks that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.core.question import Answer, Ask, Call, Choice, Noul, Question, Reply, Score

from .check import DEADLINE_MS, TASK, TEXT, close
from .limits import Estimate
from .load import load_judge
from .profiles import Profile
from .remote import RemoteJudge
from .wire import Dialect, Read

SENDS = 3
"""How often each variant of a request is sent."""

REQUESTS = 4 * SENDS

MOST_DIFFERENCE = 0.05
"""Of a probability, as the mean over the sends, between two requests that must not differ."""

_NONCE = "0" * 16


class Difference(NamedTuple):
    """How far answers moved where they must not.

    Attributes:
        variant: ``same``, ``ids``, ``batch`` or ``order``.
        most: The largest difference of a probability: of the means to those of the plain request; of
            ``same`` between two sends of it.
        question: The kind of question that moved most.
    """

    variant: str
    most: float
    question: str

    @property
    def found(self) -> bool:
        return self.most > MOST_DIFFERENCE


class Semantics(NamedTuple):
    """What the sends showed; `reply` is the one that could not be used, and ends them."""

    differences: tuple[Difference, ...]
    calls: tuple[Call, ...]
    reply: Reply | None = None


def semantics(profile: Profile, values: Mapping[str, Any], door: str) -> Semantics:
    """Ask a systemone server the same three questions plainly, under other ids, among more questions and
    in another order, each 3 times: none of that may move an answer.

    What is sent is the same bytes but for the one thing that changes: the texts, their names and the fence
    stay. The answers of a variant are compared as means over its sends.
    """
    whole = _whole(door)
    plain = whole._replace(questions=_QUESTIONS[:3])
    variants = {
        "same": (plain, {}),
        "ids": (plain, _OTHER_IDS),
        "batch": (whole, {}),
        "order": (plain._replace(questions=plain.questions[::-1]), {}),
    }
    means: dict[str, list[tuple[float, ...]]] = {}
    found: list[Difference] = []
    calls: list[Call] = []
    for name, (ask, ids) in variants.items():
        sends: list[list[tuple[float, ...]]] = []
        for reply in _replies(profile, values, ask, whole, ids):
            calls += reply.calls
            if reply.status != "judged":
                return Semantics(tuple(found), tuple(calls), reply)
            sends.append(_wanted(reply.answers))
        means[name] = [_mean(each) for each in zip(*sends, strict=True)]
        pairs = sends if name == "same" else [means["same"], means[name]]
        found.append(_difference(name, pairs))
    return Semantics(tuple(found), tuple(calls))


def estimate(profile: Profile, values: Mapping[str, Any], door: str) -> Estimate | None:
    """The most that all sends take; None for a judge that sends nothing."""
    judge = load_judge(profile, config=values).judge
    if not isinstance(judge, RemoteJudge):
        return None
    each = judge.estimate(_whole(door))
    return Estimate(REQUESTS * each.input_tokens, None if each.usd is None else REQUESTS * each.usd)


_QUESTIONS: tuple[Question, ...] = (
    Noul("q1", TEXT, "Does this text say why the build failed?", "It says why.", "It does not say why."),
    Score("q2", TEXT, "How urgent is this?", ("not urgent", "soon", "at once")),
    Choice("q3", TEXT, "What is it about?", (("disk", "space or files"), ("network", "a connection"))),
    Noul("q4", "42 tests passed in 3 s", "Does this text name a failure?", "It does.", "It does not."),
    Score("q5", "warning: unused variable", "How bad is this?", ("harmless", "a flaw", "a failure")),
    Choice(
        "q6", "Compiling 7 files", "What is it about?", (("progress", "work goes on"), ("end", "it ended"))
    ),
)
_OTHER_IDS: Mapping[str, str] = MappingProxyType({"q1": "zebra", "q2": "mill7", "q3": "x"})


def _whole(door: str) -> Ask:
    return Ask(door, TASK, (), _QUESTIONS, None, DEADLINE_MS, "check")


def _replies(
    profile: Profile, values: Mapping[str, Any], ask: Ask, whole: Ask, ids: Mapping[str, str]
) -> Iterator[Reply]:
    judge = load_judge(
        profile, config=values, variables=True, speak=lambda dialect: _Variant(dialect, whole, ids)
    )
    try:
        for _ in range(SENDS):
            yield judge.ask(ask)
    finally:
        close(judge)


class _Variant:
    """A dialect that always sends the state of `whole`, of its questions those asked, under other ids."""

    def __init__(self, dialect: Dialect, whole: Ask, ids: Mapping[str, str]) -> None:
        self._dialect = dialect
        self._whole = whole
        self._ids = ids
        self.supports = dialect.supports
        self.headers = dialect.headers
        self.tokens_out = dialect.tokens_out

    def body(self, ask: Ask, nonce: str) -> bytes:
        request = json.loads(self._dialect.body(self._whole, _NONCE))
        every = request["questions"]
        request["questions"] = {self._ids.get(one.id, one.id): every[one.id] for one in ask.questions}
        return json.dumps(request, ensure_ascii=False).encode()

    def read(self, ask: Ask, body: bytes, min_valid_share: float) -> Read:
        if self._ids:
            body = self._renamed(body)
        return self._dialect.read(ask, body, min_valid_share)

    def _renamed(self, body: bytes) -> bytes:
        """The answers under the ids that were asked by; what is not of that form is left for the parser."""
        asked = {other: own for own, other in self._ids.items()}
        try:
            reply = json.loads(body)
            answers = reply["answers"]
            reply["answers"] = {asked.get(name, f"other {name}"): answers[name] for name in answers}
            return json.dumps(reply, ensure_ascii=False).encode()
        except (ValueError, TypeError, KeyError, RecursionError):
            return body


def _wanted(answers: Sequence[Answer]) -> list[tuple[float, ...]]:
    """The probabilities of the three questions that every variant asks, in one order."""
    by_id = {answer.id: answer.p for answer in answers}
    return [by_id[question.id] for question in _QUESTIONS[:3]]


def _mean(sends: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(sum(values) / len(values) for values in zip(*sends, strict=True))


def _difference(name: str, sends: Sequence[Sequence[tuple[float, ...]]]) -> Difference:
    """The largest spread of one probability over these."""
    kinds = ("noul", "score", "choice")
    moved = [
        (max(max(values) - min(values) for values in zip(*each, strict=True)), kind)
        for each, kind in zip(zip(*sends, strict=True), kinds, strict=True)
    ]
    most, kind = max(moved, key=lambda pair: pair[0])
    return Difference(name, most, kind)
