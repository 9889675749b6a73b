"""A judge that is asked by a message: what may be sent, in how many requests, and what came back in all.

    consent, key ─▶ redact ─▶ batch ─▶ (each batch, `call`) slot, caps, scan again, send, read, settle

Every step may end the ask, or its batch, with a reason. Batches go at once, under one deadline; what has
not come back by then is left to its thread, which still settles the spend. Nothing is sent twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from admit.core.question import Answer, Ask, Call, Note, Question, Reply, RequestLimits, fallback

from .batches import batches
from .call import Caller, Outcome
from .clock import Clock
from .limits import Estimate
from .profiles import Profile
from .redact import Redactor
from .replies import reply, spoiled
from .safe import safe_ask
from .wire import Dialect, Transport

SPARE_MS = 20
"""Taken off the deadline, so that batches in time are handed over before the caller leaves."""

SETTLE_MS = 20
"""Taken off what is left for sending, so that a request that is late is still settled, and its failure
counted and told, before a process that ends at the deadline is gone."""


class Access(NamedTuple):
    """Who may be asked.

    Attributes:
        consents: Whether a door's texts may go to the destination.
        key: The key, read anew at each ask; None where there is none.
        key_needed: Whether the destination takes no request without one.
    """

    consents: Callable[[str], bool]
    key: Callable[[], str | None]
    key_needed: bool


class RemoteJudge:
    """A judge behind a transport. Put it into a `BoundedJudge`, which keeps the deadline from outside.

    Args:
        profile: Who is asked, and which model.
        dialect: The form of requests and answers.
        transport: Who carries them.
        access: Consent and key.
        redactor: Masks credentials in every text that is sent.
        caller: Sends one request within the limits.
        clock: Of the deadline.
    """

    def __init__(
        self,
        profile: Profile,
        dialect: Dialect,
        transport: Transport,
        *,
        access: Access,
        redactor: Redactor,
        caller: Caller,
        clock: Clock,
    ) -> None:
        self.name = profile.name
        self.profile = profile
        self.transport = transport
        self._dialect = dialect
        self._access = access
        self._redactor = redactor
        self._caller = caller
        self._clock = clock

    def supports(self, question: Question) -> bool:
        return self._dialect.supports(question)

    def limits(self) -> RequestLimits:
        return self.profile.limits

    def warm(self, door: str) -> None:
        """Open a connection, where the door's texts may go there; no text and no key is sent."""
        if self._access.consents(door):
            self.transport.warm()

    def ask(self, ask: Ask) -> Reply:
        """Answer, or fall back with the reason; a batch that fails or is late spoils its own ids alone."""
        started = self._clock.monotonic()
        end = started + (ask.deadline_ms - SPARE_MS) / 1000
        if not all(map(self.supports, ask.questions)):
            return fallback("unsupported")
        if not self._access.consents(ask.door):
            return fallback("no_consent")
        key = self._access.key()
        if key is None and self._access.key_needed:
            return fallback("no_key")
        safe = safe_ask(ask, self._redactor, budget_ms=ask.deadline_ms / 2)
        if safe is None:
            return fallback("redaction")
        requests = batches(safe.ask, self.limits())
        if not requests:
            return fallback("too_large")

        def send(questions: tuple[Question, ...]) -> Outcome:
            return self._caller.call(
                safe.ask._replace(questions=questions), safe.pointers(questions), key, end - SETTLE_MS / 1000
            )

        parts = [_Part(questions, send) for questions in requests]
        for part in parts:
            threading.Thread(target=part.run, name=f"judge {self.name}", daemon=True).start()
        for part in parts:
            part.done.wait(max(0.0, end - self._clock.monotonic()))
        return self._combined(ask, requests, [part.outcome or self._missing(part) for part in parts])

    @property
    def said(self) -> str:
        """What the server said of the last error, redacted, for a person; empty where nothing."""
        return self._caller.said

    def headers(self, key: str | None) -> dict[str, str]:
        """What every request to the server bears, the key included."""
        return self._dialect.headers(key)

    def estimate(self, ask: Ask) -> Estimate:
        """The most that one request with these questions takes. Nothing is sent."""
        return self._caller.estimate(ask)

    def _missing(self, part: _Part) -> Outcome:
        """What stands for a batch without an outcome: it is late, or our own code failed."""
        reason = "internal" if part.error else "deadline"
        call = Call(
            self.profile.address,
            self.profile.model,
            questions=len(part.questions),
            sent="unknown",
            outcome="fallback",
            reason=reason,
        )
        return Outcome(call, (), reason, (part.error,) if part.error else ())

    def _combined(
        self, ask: Ask, requests: Sequence[tuple[Question, ...]], outcomes: Sequence[Outcome]
    ) -> Reply:
        """One reply out of those of the batches."""
        answers: list[Answer] = []
        for questions, outcome in zip(requests, outcomes, strict=True):
            answers += outcome.answers or (spoiled(question, "batch_failed") for question in questions)
        carried = {answer.id for answer in answers}
        answers += (spoiled(one, "too_large") for one in ask.questions if one.id not in carried)
        calls = tuple(outcome.call for outcome in outcomes)
        reasons = [outcome.reason for outcome in outcomes if outcome.reason is not None]
        notes = [note for outcome in outcomes for note in outcome.notes]
        quirks = tuple(dict.fromkeys(quirk for outcome in outcomes for quirk in outcome.quirks))
        shadow, why = self._shadow(ask.door, calls)
        notes += why
        # A cool-down that one batch brings on ends the others; the cause is what brought it on.
        cause = next((reason for reason in reasons if reason != "cooldown"), reasons[0] if reasons else None)
        if len(reasons) == len(outcomes):
            return fallback(cause or "internal", calls=calls)._replace(notes=tuple(notes), quirks=quirks)
        whole = reply(ask.questions, answers, calls=calls, reason=cause, quirks=quirks)
        return whole._replace(shadow=shadow, notes=tuple(notes))

    def _shadow(self, door: str, calls: Sequence[Call]) -> tuple[str | None, list[Note]]:
        """Why the answers may not act, and what to record of it."""
        pinned = self.profile.model
        others = [call.model_answered for call in calls if call.model_answered not in (None, pinned)]
        if others:
            return "model_drift", [("judge.model_drift", {"asked": pinned, "answered": others[0]})]
        why = self.profile.shadow(door)
        if why is None:
            return None, []
        return why, [("judge.unverified", {"profile": self.name, "door": door, "cause": why})]


class _Part:
    """One batch on its way, in a thread of its own; `outcome` is None until it came, `error` if it cannot."""

    def __init__(
        self, questions: tuple[Question, ...], send: Callable[[tuple[Question, ...]], Outcome]
    ) -> None:
        self.questions = questions
        self.done = threading.Event()
        self.outcome: Outcome | None = None
        self.error = ""
        self._send = send

    def run(self) -> None:
        try:
            self.outcome = self._send(self.questions)
        except BaseException as error:  # the type only: a foreign message may quote what it was given
            self.error = f"raised {type(error).__name__}"
        finally:
            self.done.set()
