"""One request to a judge, from the caps to the settled spend."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import NamedTuple

from admit.core.question import Answer, Ask, Call, Note

from .clock import Clock
from .limits import Estimate, Limits, Refusal
from .parse import Rejected
from .profiles import Profile
from .redact import Redactor
from .safe import sent_texts
from .wire import Dialect, Read, Sent, Transport, Usage


class Outcome(NamedTuple):
    """What became of one request: answers, or the reason there are none."""

    call: Call
    answers: tuple[Answer, ...] = ()
    reason: str | None = None
    quirks: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


class Caller:
    """Sends requests of one profile, each within slots, cool-down and caps.

    Args:
        min_valid_share: With a smaller share of usable answers a request counts as failed.
        min_call_ms: With less time left nothing is sent.

    Attributes:
        said: What the server said of the last error, redacted; for a person, and never recorded.
    """

    def __init__(
        self,
        profile: Profile,
        dialect: Dialect,
        transport: Transport,
        *,
        redactor: Redactor,
        limits: Limits,
        clock: Clock,
        min_valid_share: float,
        min_call_ms: int,
    ) -> None:
        self._profile = profile
        self._dialect = dialect
        self._transport = transport
        self._redactor = redactor
        self._limits = limits
        self._clock = clock
        self._min_valid_share = min_valid_share
        self._min_call_ms = min_call_ms
        self.said = ""

    def call(
        self, ask: Ask, masked: tuple[Mapping[str, object], ...], key: str | None, end: float
    ) -> Outcome:
        """Send one request of redacted texts and read the answer; never raises.

        Args:
            ask: The questions of this request alone.
            end: When the answer must be here, on the clock.
        """
        begun = self._clock.monotonic()
        destination = self._profile.address
        call = Call(
            destination, self._profile.model, questions=len(ask.questions), masked=masked, outcome="fallback"
        )
        body = self._dialect.body(ask, secrets.token_hex(8))
        call = call._replace(request_bytes=len(body))
        if any(map(self._redactor.finds, sent_texts(body))):
            return _unsent(call, "redaction")
        if not self._limits.take_slot(destination, end - self._clock.monotonic()):
            return _unsent(call, "busy")
        try:
            waited = self._since(begun)
            call = call._replace(slot_wait_ms=waited)
            if (end - self._clock.monotonic()) * 1000 < self._min_call_ms:
                return _unsent(call, "deadline_before_call")
            ticket = self._limits.reserve(destination, ask.session, self._estimate(body, ask))
            if isinstance(ticket, Refusal):
                return _unsent(call, ticket.reason, ticket.notes)
            got = self._transport.send(body, self._dialect.headers(key), end - self._clock.monotonic())
            self.said = self._said(got.message, key)
            read = self._read(ask, got)
            call = self._with_answer(call, got, read)._replace(total_ms=self._since(begun))
            reason = got.reason or (read.answers.reason if isinstance(read.answers, Rejected) else None)
            notes = self._limits.settle(
                ticket,
                reason=reason,
                sent=call.sent,
                status=got.status,
                input_tokens=call.input_tokens,
                usd=call.cost_usd,
                retry_after_s=got.retry_after_s,
            )
        finally:
            self._limits.give_slot(destination)
        answers = () if isinstance(read.answers, Rejected) else read.answers
        if reason is None:
            return Outcome(call._replace(outcome="judged"), answers, None, read.quirks, notes)
        return Outcome(call._replace(reason=reason), (), reason, read.quirks, notes)

    def estimate(self, ask: Ask) -> Estimate:
        """The most that one request with these questions takes, before redaction. Nothing is sent."""
        return self._estimate(self._dialect.body(ask, "0" * 16), ask)

    def _read(self, ask: Ask, got: Sent) -> Read:
        if got.reason is not None:
            return Read(())
        return self._dialect.read(ask, got.body, self._min_valid_share)

    def _said(self, message: str, key: str | None) -> str:
        plain = message.replace(key, "[key]") if key else message  # some servers say it back
        return self._redactor.redact(plain).text

    def _estimate(self, body: bytes, ask: Ask) -> Estimate:
        """An upper estimate: 3 bytes a token in, and the most that may come out."""
        tokens = -(-len(body) // 3)
        return Estimate(tokens, self._price(tokens, self._dialect.tokens_out(len(ask.questions))))

    def _price(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """By the profile's prices, in USD; None where a price or a count is unknown."""
        each = ((tokens_in, self._profile.price_in), (tokens_out, self._profile.price_out))
        if any(price is None for _, price in each):
            return None
        # What costs nothing needs no count.
        if any(tokens is None and price for tokens, price in each):
            return None
        return sum((tokens or 0) * (price or 0.0) for tokens, price in each) / 1e6

    def _with_answer(self, call: Call, got: Sent, read: Read) -> Call:
        usage: Usage = read.usage
        cost, source = usage.cost_usd, "provider"
        if cost is None:
            cost, source = self._price(usage.input_tokens, usage.output_tokens), "price_table"
        if got.status is not None and 400 <= got.status < 500 and got.status != 408:
            cost, source = 0.0, "free"  # refused before any work
        return call._replace(
            model_answered=read.model,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=cost,
            cost_source=source if cost is not None else "unknown",
            sent=got.sent if got.reason is not None else "yes",
            connect_ms=got.connect_ms,
            first_byte_ms=got.first_byte_ms,
        )

    def _since(self, moment: float) -> float:
        return (self._clock.monotonic() - moment) * 1000


def _unsent(call: Call, reason: str, notes: tuple[Note, ...] = ()) -> Outcome:
    return Outcome(call._replace(sent="no", reason=reason), (), reason, (), notes)
