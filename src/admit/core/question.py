"""What a judge is asked, what it answers, and the protocol of a judge. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, runtime_checkable

ReplyStatus = Literal["judged", "partial", "fallback"]


class Noul(NamedTuple):
    """A yes-or-no question about one candidate; the answer is P(yes).

    Attributes:
        id: ``q1`` to ``qN`` in admission order; ours, never taken from text.
        subject: The candidate's text.
        ask: What is asked about it.
        true: What yes means.
        false: What no means.
    """

    id: str
    subject: str
    ask: str
    true: str
    false: str


class Score(NamedTuple):
    """A question on an ordered rubric; the answer is one probability per level.

    Attributes:
        levels: 2 to 10 descriptions, lowest first; the expectation runs from 0 to n - 1.
    """

    id: str
    subject: str
    ask: str
    levels: tuple[str, ...]


class Choice(NamedTuple):
    """A question with named answers; the answer is one probability per label, in the order asked.

    Attributes:
        labels: 2 to 255 pairs (label, description); a label is 1 to 64 code points of NFC text, unique.
    """

    id: str
    subject: str
    ask: str
    labels: tuple[tuple[str, str], ...]


Question = Noul | Score | Choice


class Lexicon(NamedTuple):
    """Document frequencies over everything gathered, so that the cap does not change lexical scores."""

    n_docs: int
    df: Mapping[str, int]


class Ask(NamedTuple):
    """One request to a judge, as a door sees it; batching is the judge's.

    Attributes:
        door: guidance, tools, outputs or evidence.
        task: What the agent is doing; empty means there is nothing to judge by.
        context: Further named texts, in order.
        questions: In admission order.
        lexicon: Term statistics of all gathered candidates, for lexical judges.
        deadline_ms: Time for everything, in ms, above 0.
        request_id: Names the request in the record.
        session: Whose caps of spend it counts to; None counts to no session.
        masked: What the door redacted already, for the record of the calls: pointers by the place of the
            text, ``/task``, ``/context/NAME``, or ``/cK`` for the subject of ``qK``.
    """

    door: str
    task: str
    context: tuple[tuple[str, str], ...]
    questions: tuple[Question, ...]
    lexicon: Lexicon | None
    deadline_ms: int
    request_id: str
    session: str | None = None
    masked: Mapping[str, tuple[Mapping[str, object], ...]] = MappingProxyType({})


class Answer(NamedTuple):
    """The answer to one question.

    Attributes:
        p: Probabilities: one value for a noul, one per level for a score, one per label for a choice.
        expectation: Sum of level times probability, scores only.
        defect: Why this answer cannot be used; then `p` is empty.
    """

    id: str
    kind: Literal["noul", "score", "choice"]
    p: tuple[float, ...] = ()
    expectation: float | None = None
    defect: str | None = None

    @property
    def value(self) -> float | None:
        """What a threshold is held against: a score's expectation, else the first probability.

        None when the answer is spoiled, or is no finite number.
        """
        if self.defect is not None or not self.p:
            return None
        value = self.expectation if self.kind == "score" else self.p[0]
        return value if value is not None and isfinite(value) else None


class Call(NamedTuple):
    """One transmission to a judge. Unknown figures are None, never 0.

    Attributes:
        masked: Pointers to what redaction replaced; never the values.
    """

    destination: str
    model_asked: str
    model_answered: str | None = None
    questions: int = 0
    request_bytes: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_source: Literal["provider", "price_table", "free", "unknown"] = "unknown"
    sent: Literal["no", "yes", "unknown"] = "no"
    connect_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float = 0.0
    slot_wait_ms: float = 0.0
    outcome: str = ""
    reason: str | None = None
    masked: tuple[Mapping[str, object], ...] = ()


Note = tuple[str, Mapping[str, object]]
"""Something that happened on the way, for the record: an event's type and its body."""


class Reply(NamedTuple):
    """What came back: exactly the asked ids, in order, unless the whole ask fell back.

    Attributes:
        reason: Why it is a fallback, or the first failure of a partial reply.
        elapsed_ms: Monotonic time of the ask, in ms.
        quirks: Harmless oddities of the answer, for the record.
        shadow: Why the answers may be recorded and not acted on: the judge is ``unverified`` at this door,
            answered as another model (``model_drift``), or is set to ``shadow``; None where they act.
        notes: What happened on the way, for the record.
    """

    status: ReplyStatus
    answers: tuple[Answer, ...] = ()
    reason: str | None = None
    calls: tuple[Call, ...] = ()
    elapsed_ms: float = 0.0
    quirks: tuple[str, ...] = ()
    shadow: str | None = None
    notes: tuple[Note, ...] = ()


def fallback(reason: str, *, elapsed_ms: float = 0.0, calls: tuple[Call, ...] = ()) -> Reply:
    """A reply without answers: the door does what it would do without a judge."""
    return Reply("fallback", (), reason, calls, elapsed_ms)


class RequestLimits(NamedTuple):
    """The most one request to a judge may carry; None is no limit.

    Attributes:
        rubric_once: Whether a request says what is asked once for all questions that ask the same, and not
            with each.
        state_tokens: The most that task, context and subjects take together with the longest question.
    """

    batch_questions: int | None = None
    batch_bytes: int | None = None
    context_tokens: int | None = None
    rubric_once: bool = False
    state_tokens: int | None = None


NO_LIMITS = RequestLimits()


@runtime_checkable
class Judge(Protocol):
    """Answers typed questions with probabilities, once, under one deadline. `ask` never raises."""

    name: str

    def supports(self, question: Question) -> bool:
        """Whether this judge can answer this kind of question at all."""
        ...

    def ask(self, ask: Ask) -> Reply:
        """Answer, or give a fallback reply with its reason; never an exception."""
        ...

    def limits(self) -> RequestLimits:
        """What one request may carry; what a cost estimate counts with."""
        ...


KINDS: Mapping[type, Literal["noul", "score", "choice"]] = MappingProxyType(
    {Noul: "noul", Score: "score", Choice: "choice"}
)
