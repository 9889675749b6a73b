"""Between the stack around a remote judge and who carries its requests: what is sent, what came back.

A `Dialect` knows the form of requests and answers and is pure; a `Transport` carries bytes and knows no
form. Neither raises, retries or waits past the time it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from admit.core.question import Answer, Ask, Question

from .parse import Rejected

MOST_SAID = 200
"""Characters of a name or a message that the other side gives."""


def one_line(text: str) -> str:
    """What the other side says, fit for a terminal: one line of at most 200 printable characters."""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(printable.split())[:MOST_SAID]


def model_name(given: object) -> str | None:
    """The model that an answer says it is from; None where it says none."""
    return (one_line(given) or None) if isinstance(given, str) else None


class Sent(NamedTuple):
    """One transmission, as the transport saw it.

    Attributes:
        reason: Why there is no answer, one of `core.reasons.REASONS`; None where `body` is one.
        sent: Whether anything left the machine.
        status: Status of an HTTP answer.
        body: The answer's bytes, at most 1 MiB and one; of an error at most 64 KiB.
        connect_ms: Time until the connection stood; None where one was kept open or none was made.
        first_byte_ms: Time until the answer began.
        retry_after_s: How long the server asks to be left alone, in s.
        message: What an error says, not redacted, as `one_line` gives it.
    """

    reason: str | None = None
    sent: Literal["no", "yes", "unknown"] = "no"
    status: int | None = None
    body: bytes = b""
    connect_ms: float | None = None
    first_byte_ms: float | None = None
    retry_after_s: float | None = None
    message: str = ""


class Usage(NamedTuple):
    """What an answer says it cost. None is unknown, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Read(NamedTuple):
    """An answer as its dialect reads it: one `Answer` per question in the order asked, or the rejection."""

    answers: tuple[Answer, ...] | Rejected
    model: str | None = None
    usage: Usage = Usage()
    quirks: tuple[str, ...] = ()


class Transport(Protocol):
    """Carries one request and brings one answer back."""

    def send(self, body: bytes, headers: Mapping[str, str], seconds: float) -> Sent:
        """Send, and wait at most `seconds`. Never raises, never retries."""
        ...

    def warm(self) -> None:
        """Open what the next request needs, where that takes time. Never raises."""
        ...

    def close(self) -> None:
        """Give up connections and processes."""
        ...


class Dialect(Protocol):
    """The form of requests and answers. Pure."""

    def supports(self, question: Question) -> bool:
        """Whether this kind of question can be put."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """The headers of a request, the key included."""
        ...

    def body(self, ask: Ask, nonce: str) -> bytes:
        """One request with all questions of `ask`, every text in it redacted before."""
        ...

    def tokens_out(self, questions: int) -> int:
        """The most tokens an answer to so many questions takes, for an estimate of its cost."""
        ...

    def read(self, ask: Ask, body: bytes, min_valid_share: float) -> Read:
        """What came back for `ask`. Never raises."""
        ...
