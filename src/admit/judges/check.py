"""Whether a judge can be asked: its key, its model and one small ask; and whether its answers are apart.

Only texts of this file are sent, and they go the way of every ask: consent, key, redaction, caps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from admit.core.question import Answer, Ask, Call, Choice, Noul, Question, Reply, Score

from .bounded import BoundedJudge
from .limits import Estimate
from .load import load_judge
from .parse import decode
from .profiles import Profile
from .remote import RemoteJudge
from .rubric import guidance_question, outputs_question
from .standing import forgive
from .wire import Dialect, Read, Sent

State = Literal["valid", "invalid", "no_credit", "rate_limited", "model_unavailable", "unreachable", "failed"]

DEADLINE_MS = 30_000
"""Of one ask here: a server that has yet to load its model is slow once, and no door waits."""

LIST_S = 10.0
"""How long the list of models is waited for."""

SENDS = 3
"""How often each variant of a request is sent."""

MOST_DIFFERENCE = 0.05
"""Of a probability, as the mean over the sends, between two requests that must not differ."""

_STATES: Mapping[str, State] = MappingProxyType(
    {
        "no_key": "invalid",
        "provider_401": "invalid",
        "provider_403": "invalid",
        "provider_402": "no_credit",
        "provider_404": "model_unavailable",
        "provider_429": "rate_limited",
        **dict.fromkeys(("connect", "tls", "dns", "redirect", "deadline", "transport"), "unreachable"),
    }
)

_TASK = "Find out why the build failed."
_TEXT = "error: no space left on device while writing build/app.o"
_NONCE = "0" * 16


def probe(door: str) -> Ask:
    """One small question in the words of a door, about a text of our own."""
    make = outputs_question if door == "outputs" else guidance_question
    return Ask(door, _TASK, (), (make("q1", _TEXT),), None, DEADLINE_MS, "check")


def state_of(reply: Reply, model: str = "", listed: Sequence[str] | None = None) -> State:
    """What a reply says of a judge.

    Args:
        model: The model that was asked for.
        listed: The models that the server lists, where it lists any: a request refused with 400 or 422 for
            a model that is not among them means the model.
    """
    if reply.status == "judged":
        return "valid"
    reason = reply.reason or ""
    if listed and model not in listed and reason in ("provider_400", "provider_422"):
        return "model_unavailable"
    return _STATES.get(reason, "failed")


class Checked(NamedTuple):
    """What one small ask showed.

    Attributes:
        models: The names that the server lists; None where it lists none, which is no fault.
        said: What the server said of an error, redacted; empty where it said nothing.
    """

    state: State
    door: str
    reply: Reply
    models: tuple[str, ...] | None = None
    said: str = ""


def check(profile: Profile, values: Mapping[str, Any], door: str) -> Checked:
    """Ask a judge one small question. Ends a cool-down of its destination, for this is the try."""
    judge = load_judge(profile, config=values, variables=True)
    remote = judge.judge if isinstance(judge.judge, RemoteJudge) else None
    try:
        listed = None if remote is None else models(remote)
        if remote is not None:
            forgive(profile.address)
        reply = judge.ask(probe(door))
    finally:
        close(judge)
    said = "" if remote is None else remote.said
    return Checked(state_of(reply, profile.model, listed), door, reply, listed, said)


def models(judge: RemoteJudge) -> tuple[str, ...] | None:
    """The names of the models that a server lists, under ``models`` beside its endpoint; None where it
    lists none, or nothing may be sent without a key."""
    from .http import HttpTransport
    from .keyfile import Keys, needs_key

    profile, transport = judge.profile, judge.transport
    key = Keys().read(profile, variables=True)
    if not isinstance(transport, HttpTransport) or (key is None and needs_key(profile)):
        return None
    path = urlsplit(profile.url).path
    root = (
        path.removesuffix("/chat/completions")
        if path.endswith("/chat/completions")
        else path.rpartition("/")[0]
    )
    return _names(transport.get(f"{root}/models", judge.headers(key), LIST_S))


def _names(got: Sent) -> tuple[str, ...] | None:
    """Of ``{"models": [{"name"}]}`` or ``{"data": [{"id"}]}``; an answer in another form lists nothing."""
    value = decode(got.body) if got.reason is None else None
    if not isinstance(value, dict):
        return None
    rows = value.get("models") or value.get("data")
    named = (
        [row.get("name") or row.get("id") for row in rows if isinstance(row, dict)]
        if isinstance(rows, list)
        else []
    )
    return tuple(name for name in named if isinstance(name, str)) or None


def estimate(
    profile: Profile, values: Mapping[str, Any], door: str, *, semantics: bool = False
) -> Estimate | None:
    """The most that a check takes in all; None for a judge that sends nothing."""
    judge = load_judge(profile, config=values).judge
    if not isinstance(judge, RemoteJudge):
        return None
    one = judge.estimate(probe(door))
    if not semantics:
        return one
    each = judge.estimate(_whole(door))
    usd = None if one.usd is None or each.usd is None else one.usd + SEMANTICS_REQUESTS * each.usd
    return Estimate(one.input_tokens + SEMANTICS_REQUESTS * each.input_tokens, usd)


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


SEMANTICS_REQUESTS = 4 * SENDS

_QUESTIONS: tuple[Question, ...] = (
    Noul("q1", _TEXT, "Does this text say why the build failed?", "It says why.", "It does not say why."),
    Score("q2", _TEXT, "How urgent is this?", ("not urgent", "soon", "at once")),
    Choice("q3", _TEXT, "What is it about?", (("disk", "space or files"), ("network", "a connection"))),
    Noul("q4", "42 tests passed in 3 s", "Does this text name a failure?", "It does.", "It does not."),
    Score("q5", "warning: unused variable", "How bad is this?", ("harmless", "a flaw", "a failure")),
    Choice(
        "q6", "Compiling 7 files", "What is it about?", (("progress", "work goes on"), ("end", "it ended"))
    ),
)
_OTHER_IDS: Mapping[str, str] = MappingProxyType({"q1": "zebra", "q2": "mill7", "q3": "x"})


def _whole(door: str) -> Ask:
    return Ask(door, _TASK, (), _QUESTIONS, None, DEADLINE_MS, "check")


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


def close(judge: BoundedJudge) -> None:
    """Give up what a judge keeps open."""
    if isinstance(judge.judge, RemoteJudge):
        judge.judge.transport.close()


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
