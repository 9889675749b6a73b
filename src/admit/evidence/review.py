"""One pair of a note and a criterion before a judge.

    plan ─▶ pack ─▶ questions ─▶ ask, once ─▶ labels ─▶ verdict with its coverage ─▶ store, record

A verdict needs a valid answer to every question. Whatever a judge does in place of one leaves the pair
UNJUDGED, with the reason, and is never raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from admit.core.admission import decide
from admit.core.decision import Plan as CorePlan
from admit.core.question import Judge, Reply
from admit.core.reasons import sent
from admit.errors import NoteError
from admit.evidence import verdict as verdicts
from admit.evidence.coverage import coverage, scoped
from admit.evidence.criterion import Criterion
from admit.evidence.kept import Kept, texts_of
from admit.evidence.linked import linked_of
from admit.evidence.model import Finding, Item, Pair, Review, Verdict
from admit.evidence.pack import Pack, pack, pack_hash
from admit.evidence.plan import Plan
from admit.evidence.planning import plan as plan_of
from admit.evidence.planning import policy as policy_of
from admit.evidence.questions import Asked, Target, applicable, asked, fits, request, targets

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.judges.clock import Clock
    from admit.ledger.evidence import EvidenceStore
    from admit.ledger.port import Ledger

JUDGED = "judged"
NOTHING_READ = "nothing-read"
TOO_LARGE = "request-too-large"
NOT_APPLICABLE = "not-applicable"
NO_PLAN = CorePlan((), (), (), ())


class Reviewer(NamedTuple):
    """A judge at this door.

    Attributes:
        judge: Keeps its deadline (`BoundedJudge`).
        name: Of its profile, for the record.
        partition: The bucket of models that its reviews count in.
        deadline_ms: Of one pair.
    """

    judge: Judge
    name: str
    partition: str
    deadline_ms: int
    profile_hash: str = ""


def review(
    base: Base,
    reviewer: Reviewer,
    note_path: str,
    criterion: Criterion,
    clock: Clock,
    *,
    store: EvidenceStore | None = None,
    ledger: Ledger | None = None,
    attempt: int = 1,
) -> Review:
    """Ask the judge once about one pair.

    Args:
        store, ledger: Where the review is kept and recorded; a fault of either costs no verdict.
        attempt: The number of a review that is not kept.

    Raises:
        IntegrityError: The baseline of the pair is not as it was written; nothing was asked.
    """
    started = clock.monotonic()
    pair = Pair(note_path, criterion.id, reviewer.partition)
    try:
        plan = plan_of(base, note_path, criterion)
    except NoteError as error:
        lost = Review(pair, "ERROR", error.reason, criterion_sha256=criterion.sha256, judge=reviewer.name)
        _record(ledger, _Way(reviewer, None), lost)
        return lost
    pair = pair._replace(note=plan.note.path)
    if not applicable(plan.note, criterion):
        return Review(pair, "UNJUDGED", NOT_APPLICABLE, plan_hash=plan.plan_hash)
    kept = Kept(store, pair, plan, texts_of(base, plan), attempt)
    way = _Way.of(base, reviewer, plan).asked(f"{kept.job}.{kept.attempt}")
    found = _reviewed(base, way, plan, pair)._replace(
        job=kept.job, attempt=kept.attempt, elapsed_ms=(clock.monotonic() - started) * 1000
    )
    found = kept.end(found, way.served, linked_of(base, plan, way.served))
    _record(ledger, way, found)
    return found


def try_plan(base: Base, reviewer: Reviewer, plan: Plan, clock: Clock) -> Review:
    """Ask the judge once about a plan of any cap, as an experiment does; nothing is kept or recorded.

    Args:
        plan: With a criterion that asks something of the note.
    """
    assert plan.criterion is not None
    started = clock.monotonic()
    way = _Way.of(base, reviewer, plan).asked(plan.plan_hash)
    pair = Pair(plan.note.path, plan.criterion.id, reviewer.partition)
    return _reviewed(base, way, plan, pair)._replace(elapsed_ms=(clock.monotonic() - started) * 1000)


class _Way(NamedTuple):
    """One pair on its way: what is read, what is asked, and what came back."""

    reviewer: Reviewer
    plan: Plan | None
    mode: str = "enforce"
    packed: Pack = Pack((), (), ())
    targets: tuple[Target, ...] = ()
    questions: tuple[Asked, ...] = ()
    hindrance: str = ""
    reply: Reply | None = None

    @classmethod
    def of(cls, base: Base, reviewer: Reviewer, plan: Plan) -> _Way:
        within = fits(plan, reviewer.judge.limits())
        packed = pack(base, plan, within)
        found = targets(plan, packed.items, packed.unavailable)
        return cls(
            reviewer,
            plan,
            base.settings.mode,
            packed,
            found,
            asked(plan, found),
            _hindrance(plan, packed, found, within(packed.items)),
        )

    def asked(self, request_id: str) -> _Way:
        """The same with the judge's reply, where nothing hinders asking."""
        if self.hindrance or self.plan is None:
            return self
        asked = request(
            self.plan,
            self.packed.items,
            self.questions,
            deadline_ms=self.reviewer.deadline_ms,
            request_id=request_id,
        )
        return self._replace(reply=self.reviewer.judge.ask(asked))

    @property
    def served(self) -> tuple[Item, ...]:
        """What left for the judge, as far as is known; what may have left did."""
        if self.reply is None:
            return ()
        calls = self.reply.calls
        if calls:
            left = any(call.sent != "no" for call in calls)
        else:
            left = self.reply.status != "fallback" or sent(self.reply.reason or "internal") != "no"
        return self.packed.items if left else ()


def _hindrance(plan: Plan, packed: Pack, found: Sequence[Target], within: bool) -> str:
    """Why nobody is asked; empty where somebody is."""
    over = any(one.reason == "request-size" for one in packed.left_out)
    if not within or (over and not packed.items):
        return TOO_LARGE
    if plan.criterion is None or plan.criterion.material == "none":
        return ""
    no_block = bool(found) and not any(one.items for one in found)
    return NOTHING_READ if no_block or (plan.offers and not packed.items) else ""


def _reviewed(base: Base, way: _Way, plan: Plan, pair: Pair) -> Review:
    """The review that a reply makes, not kept yet."""
    assert plan.criterion is not None
    packed, reply, items = way.packed, way.reply, way.served
    read = coverage(plan, items, left=packed.left_out, unavailable=packed.unavailable)
    routes = verdicts.route_findings(plan, packed.unavailable, base.settings.severity)
    findings = (*routes, *verdicts.unread_findings(plan, way.targets, read))
    verdict: Verdict = "UNJUDGED"
    reason = way.hindrance or "internal"
    if reply is not None:
        answers = verdicts.answered(way.questions, reply.answers) if reply.status == "judged" else None
        reason = reply.reason or "answer_defects"
        if answers is not None:
            verdict, reason = verdicts.verdict(answers, routes), JUDGED
            findings = (*findings, *verdicts.answer_findings(plan, answers))
    calls = reply.calls if reply is not None else ()
    shadow = reply.shadow if reply is not None else None
    return Review(
        pair,
        verdict,
        reason,
        _in_order(findings),
        read,
        plan.plan_hash,
        pack_hash(items) if items else "",
        plan.note.sha256,
        plan.criterion.sha256,
        judge=way.reviewer.name,
        model=calls[-1].model_answered if calls else None,
        scoped=scoped(verdict, read),
        shadow="mode" if way.mode == "shadow" else shadow,
        input_tokens=_sum([call.input_tokens for call in calls]),
        output_tokens=_sum([call.output_tokens for call in calls]),
    )


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: (one.line, one.start, one.end)))


def _sum(counts: Sequence[int | None]) -> int | None:
    """None where there are none, or one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _record(ledger: Ledger | None, way: _Way, found: Review) -> None:
    if ledger is None:
        return
    from admit.evidence.record import review_record

    plan = way.plan
    policy = policy_of(plan.cap if plan is not None else None)
    if way.mode == "shadow":
        policy = policy._replace(mode="shadow")
    try:
        ledger.append(
            review_record(
                found,
                decide(_core(way), way.reply, policy),
                policy,
                plan=plan,
                items=way.served,
                reply=way.reply,
                questions=len(way.questions),
                deadline_ms=way.reviewer.deadline_ms,
                profile_hash=way.reviewer.profile_hash,
            )
        )
    except Exception:  # a record that cannot be made must not cost the verdict
        return


def _core(way: _Way) -> CorePlan:
    """The plan as it was served: what was left out of the request is over the cap too."""
    if way.plan is None:
        return NO_PLAN
    core = way.plan.core
    read = {item.offer for item in way.packed.items}
    offered = [one for one in core.ordered if not one.exempt]
    return core._replace(
        asked=tuple(one for one in offered if one.id in read),
        overflow=tuple(one for one in offered if one.id not in read),
    )
