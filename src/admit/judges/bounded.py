"""The deadline of an ask, enforced from outside the judge.

The judge works in a thread of its own; the caller waits on a monotonic clock and leaves at the deadline, also
when the worker is stuck or nothing else is pending. There is no retry.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from admit.core.question import NO_LIMITS, Ask, Judge, Note, Question, Reply, RequestLimits, fallback

from .clock import Clock, SystemClock
from .replies import reply

MIN_CALL_MS = 150
MOST_ABANDONED = 8


class BoundedJudge:
    """Any judge, with its deadline kept, its exceptions turned into reasons and its reply checked.

    An ask without questions is judged without a call. A blank subject is not sent: its answer is
    ``missing``. Any exception of the judge, and a thread that cannot be started, is ``internal``. The next
    reply tells of late answers, in its notes.

    Args:
        judge: Who answers.
        clock: Deadlines are counted on it; the machine's monotonic clock when None.
        min_call_ms: With a shorter deadline than this nothing is asked: ``deadline_before_call``.
        shadow: Why no answer may act (`Reply.shadow`); None leaves it to the judge.

    Attributes:
        judge: The judge inside.
        late: Answers that came after their deadline and were discarded, a count.
    """

    def __init__(
        self,
        judge: Judge,
        clock: Clock | None = None,
        *,
        min_call_ms: int = MIN_CALL_MS,
        shadow: str | None = None,
    ) -> None:
        self.name = judge.name
        self.late = 0
        self.judge = judge
        self._clock = clock or SystemClock()
        self._min_call_ms = min_call_ms
        self._shadow = shadow
        self._lock = threading.Lock()
        self._abandoned = 0
        self._told = 0

    def supports(self, question: Question) -> bool:
        return self.judge.supports(question)

    def limits(self) -> RequestLimits:
        """The judge's own; none where it cannot say, and what it cannot take it then refuses."""
        with suppress(Exception):
            return self.judge.limits()
        return NO_LIMITS

    def warm(self, door: str) -> None:
        """Load or open now what the first ask of a door would wait for; asks nothing. Never raises.

        Nothing is opened to a destination without consent.
        """
        inner = getattr(self.judge, "warm", None)
        if inner is not None:
            with suppress(Exception):
                inner(door)

    def ask(self, ask: Ask) -> Reply:
        """Answer, or fall back by ``ask.deadline_ms``; never raises.

        While 8 earlier workers are still stuck past their deadlines, an ask is ``busy``.
        """
        started = self._clock.monotonic()
        if not ask.questions:
            return Reply("judged")
        if ask.deadline_ms < self._min_call_ms:
            return fallback("deadline_before_call")
        if self._abandoned >= MOST_ABANDONED:
            return fallback("busy")
        sent = ask._replace(questions=tuple(one for one in ask.questions if one.subject.strip()))
        if not sent.questions:
            return reply(ask.questions, ())
        in_time = self._in_time(_Work(self.judge, ask, sent), started)
        return in_time._replace(
            elapsed_ms=self._since(started),
            shadow=in_time.shadow or self._shadow,
            notes=in_time.notes + self._late_notes(),
        )

    def _in_time(self, work: _Work, started: float) -> Reply:
        try:
            threading.Thread(target=self._run, args=(work,), name=f"judge {self.name}", daemon=True).start()
        except (RuntimeError, OSError, MemoryError) as error:
            return _broken(error)
        deadline_ms = work.asked.deadline_ms
        work.ended.acquire(timeout=max(0.0, (deadline_ms - self._since(started)) / 1000))
        with self._lock:
            overdue = self._since(started) > deadline_ms
            if not work.done:
                work.abandoned = True
                self._abandoned += 1
            elif overdue:
                self.late += 1
        return fallback("deadline") if work.abandoned or overdue else work.reply

    def _late_notes(self) -> tuple[Note, ...]:
        """``judge.late`` with the answers that came late and were not told yet, of earlier asks too."""
        with self._lock:
            fresh, self._told = self.late - self._told, self.late
        return (("judge.late", {"answers": fresh}),) if fresh else ()

    def _run(self, work: _Work) -> None:
        work.run()
        with self._lock:
            work.done = True
            if work.abandoned:
                self._abandoned -= 1
                self.late += 1
        work.ended.release()

    def _since(self, started: float) -> float:
        return (self._clock.monotonic() - started) * 1000


async def ask_async(judge: Judge, ask: Ask) -> Reply:
    """The same as ``judge.ask``, in a worker thread."""
    import asyncio

    return await asyncio.to_thread(judge.ask, ask)


class _Work:
    """One ask on its way: `asked` by the door, of which the judge gets `sent`."""

    def __init__(self, judge: Judge, asked: Ask, sent: Ask) -> None:
        self.asked = asked
        self.done = self.abandoned = False
        # One bare lock, held until the end: who waits for it at a deadline needs the interpreter once,
        # where an event needs it again for the locks of its own.
        self.ended = threading.Lock()
        self.ended.acquire()
        self.reply = fallback("internal")
        self._judge = judge
        self._sent = sent

    def run(self) -> None:
        try:
            self.reply = _complete(self.asked, self._judge.ask(self._sent))
        except BaseException as error:  # SystemExit too: it would end the thread without a word
            self.reply = _broken(error)


def _complete(ask: Ask, given: Reply) -> Reply:
    """The judge's reply with exactly the asked ids, in order, and no number that is none."""
    if given.status == "fallback":
        return given._replace(answers=(), reason=given.reason or "internal")
    whole = reply(ask.questions, given.answers, calls=given.calls, reason=given.reason, quirks=given.quirks)
    return whole._replace(shadow=given.shadow, notes=given.notes)


def _broken(error: BaseException) -> Reply:
    # The type only: the message of a foreign exception may quote what it was given.
    return fallback("internal")._replace(quirks=(f"raised {type(error).__name__}",))
