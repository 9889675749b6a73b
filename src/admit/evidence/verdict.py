"""From answers to findings and a verdict. Limits of reading never make one: what was not read is told.

Verdict = the gravest of the answers' outcomes and of failed snapshot routes, FAIL before WARN before PASS.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from admit.core.question import Answer
from admit.evidence.criterion import Outcome
from admit.evidence.model import Coverage, Finding, Item, Origin, Severity, Unavailable, Verdict, worst
from admit.evidence.plan import Plan
from admit.evidence.questions import Asked, Target, name

TIE = 1e-9
"""Probabilities nearer than this are equal: what normalising does to equal ones."""

SNAPSHOT = "snapshot-"
"""How the reasons of failed snapshot routes begin."""

UNVERIFIABLE = "unverifiable"

_GRAVITY: Mapping[str, int] = {"pass": 0, "info": 1, "warn": 2, "fail": 3}
_SEVERITY: Mapping[str, Severity] = {"info": "INFO", "warn": "WARN", "fail": "FAIL"}
_FAILED: Mapping[str, str] = {
    "snapshot-missing": "the declared snapshot is not there",
    "snapshot-hash": "the snapshot is not the one that its ingest names",
    "snapshot-source": "the snapshot names another source than its ingest",
}


class Answered(NamedTuple):
    """A question with the label that was given, and what that is worth here."""

    asked: Asked
    label: str
    outcome: Outcome


def answered(asked: Sequence[Asked], answers: Iterable[Answer]) -> tuple[Answered, ...] | None:
    """The label of every question; None where one has no valid answer: all or nothing."""
    by_id = {answer.id: answer for answer in answers}
    found: list[Answered] = []
    for one in asked:
        answer = by_id.get(one.question.id)
        if answer is None or answer.defect is not None or len(answer.p) != len(one.outcomes):
            return None
        found.append(_answered(one, answer.p))
    return tuple(found)


def _answered(one: Asked, p: Sequence[float]) -> Answered:
    """The most probable label. Of equally probable ones the gravest here, then the first of the criterion."""
    complete = one.target is not None and one.target.complete
    worth: list[tuple[str, Outcome]] = [(label, _worth(word, complete)) for label, word in one.outcomes]
    most = max(p)
    likely = [pair for pair, share in zip(worth, p, strict=True) if share >= most - TIE]
    label, outcome = max(likely, key=lambda pair: _GRAVITY[pair[1]])  # the first of equals
    return Answered(one, label, outcome)


def _worth(outcome: Outcome, complete: bool) -> Outcome:
    if outcome != "fail-if-read":
        return outcome
    return "fail" if complete else "info"


def verdict(answers: Sequence[Answered], routes: Sequence[Finding]) -> Verdict:
    """PASS, WARN or FAIL of answers and of what `route_findings` gives."""
    own: list[Severity] = [_SEVERITY[one.outcome] for one in answers if one.outcome != "pass"]
    gravest = worst((*own, *(one.severity for one in routes)))
    return "PASS" if gravest is None or gravest == "INFO" else gravest


def answer_findings(plan: Plan, answers: Sequence[Answered]) -> tuple[Finding, ...]:
    """One finding for each answer that is no pass, in the order of the questions.

    The artifact of a claim with several is the one admitted last: a cap below it leaves the claim half read.
    """
    return tuple(_finding(plan, one) for one in answers if one.outcome != "pass")


def _finding(plan: Plan, one: Answered) -> Finding:
    meaning = dict(one.asked.question.labels)[one.label]
    target = one.asked.target
    said = "" if meaning == one.label else meaning
    if target is None:
        return Finding(one.label, _SEVERITY[one.outcome], plan.note.path, 1, "", "", "", "", 0, said, "judge")
    read = ", ".join(_told(item) for item in target.items)
    artifact = target.items[-1].artifact if target.items else ""
    text = f"{said} (read for it: {read})".lstrip() if read else said
    return _of_block(plan, target, one.label, _SEVERITY[one.outcome], artifact, text, "judge")


def unread_findings(plan: Plan, found: Sequence[Target], coverage: Coverage) -> tuple[Finding, ...]:
    """``unverifiable`` for each block of which nothing was read, with the routes named and why."""
    if plan.criterion is None or plan.criterion.material == "none":
        return ()
    reasons = {one.id: (one.artifact, one.reason) for one in coverage.unread}
    artifacts = {offer.id: offer.artifact for offer in plan.offers}
    made: list[Finding] = []
    for target in found:
        if target.items:
            continue
        left = [(id, *reasons.get(id, (artifacts[id], "not-opened"))) for id in target.unread]
        routes = [f"{id} {artifact} ({reason})" for id, artifact, reason in left]
        routes += [f"{one.dest} ({one.reason or one.kind})" for one in target.unavailable]
        artifact = left[0][1] if left else ""
        text = f"nothing that it links to was read: {', '.join(routes)}"
        made.append(_of_block(plan, target, UNVERIFIABLE, "INFO", artifact, text, "check"))
    return tuple(made)


def route_findings(
    plan: Plan, unavailable: Iterable[Unavailable], severities: Mapping[str, Severity | None]
) -> tuple[Finding, ...]:
    """One finding for each link that declares a snapshot and does not get it, in the order of links."""
    links = {link.n: link for link in plan.note.links}
    blocks = {block.id: block for block in plan.note.blocks}
    made: list[Finding] = []
    for one in sorted({*plan.unavailable, *unavailable}, key=lambda one: (one.link, one.reason)):
        severity = severities.get(one.reason, "FAIL")
        if not one.reason.startswith(SNAPSHOT) or severity is None:
            continue
        link = links[one.link]
        block = blocks.get(link.block)
        made.append(
            Finding(
                one.reason,
                severity,
                plan.note.path,
                link.line,
                link.block,
                block.text if block is not None else "",
                link.target,
                "",
                0,
                _FAILED.get(one.reason, one.reason),
                "check",
                link.start,
                link.end,
            )
        )
    return tuple(made)


def _of_block(
    plan: Plan, target: Target, rule: str, severity: Severity, artifact: str, text: str, origin: Origin
) -> Finding:
    block = target.block
    return Finding(
        rule,
        severity,
        plan.note.path,
        block.first,
        block.id,
        block.text,
        artifact,
        "",
        0,
        text,
        origin,
        block.start,
        block.end,
    )


def _told(item: Item) -> str:
    shape = "" if item.shape == "whole" else f" ({item.shape})"
    return f"{name(item.offer, item.route)} {item.path}{shape}"
