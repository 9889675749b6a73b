"""The judge's side of this door: whether it is asked about an output, and what stands when it is not.

Whatever goes wrong in here costs the judge's word and nothing else: the excerpt stands, with the reason.
"""

from __future__ import annotations

import secrets
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from admit.core.question import Judge, Reply
from admit.judges.batches import batches
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import Clock

from .excerpt import Looked
from .model import JudgeEstimate, JudgeProfile, OutputConfig, RawOutput, Task
from .select import reserved_end

if TYPE_CHECKING:
    from admit.judges.redact import Redactor

    from .ask import Asked
    from .verdicts import Verdicts


class Word(NamedTuple):
    """What a judge said of one output.

    Attributes:
        verdicts: What was asked and answered; None where nothing was asked.
        reason: Why its word is not used; empty where it is, and where none was to be asked.
        fault: What broke in our code or in the judge's; empty where nothing did.
    """

    verdicts: Verdicts | None = None
    reason: str = ""
    fault: str = ""


class Asking:
    """Asks the judge of a profile about the passages of outputs.

    Args:
        judge: None asks nothing. Its deadline is kept from outside, by a `BoundedJudge`.
        profile: What it may be asked.
        clock: Of the deadline.
    """

    def __init__(self, judge: Judge | None, profile: JudgeProfile, clock: Clock) -> None:
        if judge is not None and not isinstance(judge, BoundedJudge):
            judge = BoundedJudge(judge, clock)
        self.profile = profile
        self._judge = judge
        self._clock = clock

    @cached_property
    def _redactor(self) -> Redactor:
        from admit.judges.redact import Redactor

        return Redactor(self.profile.redact_patterns, clock=self._clock)

    def about(
        self, looked: Looked, output: RawOutput, task: Task, config: OutputConfig, session: str | None
    ) -> Word:
        """Ask, where the filter is on, its scope holds and there is a task. The deadline covers all of it."""
        if not config.filter.enabled or self._judge is None:
            return Word()
        if config.filter.scope == "unparsed" and looked.weighed.report.parsed:
            return Word()
        if not task.text.strip():
            return Word(reason="no_task")
        from admit.judges.redact import Unredacted

        from .verdicts import ask_judge

        started = self._clock.monotonic()
        try:
            asked = self._prepared(looked, output, task, config, session)
            left = asked.ask.deadline_ms - int((self._clock.monotonic() - started) * 1000)
            verdicts = ask_judge(
                self._judge, asked._replace(ask=asked.ask._replace(deadline_ms=max(1, left)))
            )
        except Unredacted:
            return Word(reason="redaction")
        except Exception as fault:  # the type only: a message may quote what it was given
            return Word(reason="internal", fault=type(fault).__name__)
        fault = _raised(verdicts.reply) if verdicts.reply.reason == "internal" else ""
        return Word(verdicts, verdicts.unused, fault)

    def estimate(self, looked: Looked, output: RawOutput, task: Task, config: OutputConfig) -> JudgeEstimate:
        """What would be asked about this output: nothing where it cannot be redacted. Sends nothing."""
        from admit.judges.redact import Unredacted

        try:
            ask = self._prepared(looked, output, task, config, None).ask
        except Unredacted:
            return JudgeEstimate(0, 0, 0)
        parts = batches(ask, self._judge.limits()) if self._judge is not None else (ask.questions,)
        sent = [question for part in parts for question in part]
        return JudgeEstimate(
            len([part for part in parts if part]),
            sum(len(question.subject.encode("utf-8", "surrogatepass")) for question in sent),
            len(sent),
        )

    def _prepared(
        self, looked: Looked, output: RawOutput, task: Task, config: OutputConfig, session: str | None
    ) -> Asked:
        from .ask import prepare

        return prepare(
            looked,
            output,
            task,
            config.filter,
            self.profile,
            end=reserved_end(looked.view, config, config.filter.max_kept_chars),
            request_id=secrets.token_hex(8),
            redactor=self._redactor,
            # A subagent spends from its session's caps.
            session=session.partition("/")[0] if session else None,
        )


def _raised(reply: Reply) -> str:
    """The exception behind a reply that is ``internal``; ``internal`` where it names none."""
    names = (quirk.removeprefix("raised ") for quirk in reply.quirks if quirk.startswith("raised "))
    return next(names, "internal")
