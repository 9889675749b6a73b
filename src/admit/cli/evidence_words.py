"""Plans, findings and reviews of the evidence door for people. All text of a note is made safe to print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from admit.cli.frame import counted
from admit.config.check import visible
from admit.evidence.model import SEVERITY_ORDER, VERDICTS_STORED
from admit.evidence.note import KINDS
from admit.text.table import table

if TYPE_CHECKING:
    from admit.evidence.curve import Curve
    from admit.evidence.model import Finding, Offer, Review, Unavailable
    from admit.evidence.note import Link
    from admit.evidence.plan import Plan

CAPS = (1, 2, 3, 5, 8, 12, 16, 20, 24, 32)
PATH, CLAIM, MOST_SAID, MOST_SCOPED = 240, 160, 400, 2000
"""The most characters that are printed of a path, a claim, a remark, and of what a verdict covers."""


def path(text: str) -> str:
    """A path as it may be printed."""
    return visible(text, PATH)


def one_line(text: str, most: int = CLAIM) -> str:
    """Words of a note on one line, safe to print, cut with a mark."""
    return visible(" ".join(text.split()), most)


def kinds_of(links: Iterable[Link]) -> dict[str, int]:
    """Links by kind, in the order of kinds; each link has one."""
    found = Counter(link.kind for link in links)
    return {kind: found[kind] for kind in KINDS if found[kind]}


def said_kinds(kinds: Mapping[str, int]) -> str:
    """`3 artifact, 2 external (not fetched)`."""
    notes = {"external": " (not fetched)"}
    return ", ".join(f"{count:,} {kind}{notes.get(kind, '')}" for kind, count in kinds.items())


def said_links(artifacts: int, kinds: Mapping[str, int]) -> str:
    """`3 local artifacts, 2 external (not fetched), 1 missing`; the artifacts once for each note."""
    others = {one: kinds[one] for one in KINDS if kinds.get(one) and one not in ("artifact", "external")}
    said = f"{counted(artifacts, 'local artifact')}, {kinds.get('external', 0):,} external (not fetched)"
    return f"{said}, {said_kinds(others)}" if others else said


def amount(slots: int, unit: str, size: int) -> str:
    """Slots with their unit, and bytes."""
    return f"{counted(slots, 'slot')} ({unit}), {size:,} bytes"


def plan_rows(plans: Sequence[Plan]) -> str:
    """One row for each plan."""
    rows = []
    for one in plans:
        within = [offer for offer in one.offers if offer.id in set(one.within)]
        rows.append(
            (
                path(one.note.path),
                f"{len(one.offers):,}",
                f"{len(one.within):,}",
                f"{len(one.overflow):,}",
                f"{sum(offer.slots for offer in within):,}",
                f"{sum(offer.bytes for offer in within):,}",
                f"{len(one.unavailable):,}",
                said_kinds(kinds_of(one.note.links)) or "none",
            )
        )
    head = ("note", "artifacts", "within", "over", "slots", "bytes", "unavailable", "links")
    return table(rows, head, right=range(1, 7))


def plan_detail(plan: Plan) -> list[str]:
    """One plan: each offer in its order, and on which side of the cap it is."""
    lines = [f"{path(plan.note.path)}: {one_line(plan.note.title)}"]
    lines.append(f"links: {said_kinds(kinds_of(plan.note.links)) or 'none'}")
    if plan.offers:
        at = {link.n: link.line for link in plan.note.links}
        within = set(plan.within)
        rows = [_offer_row(one, at, one.id in within) for one in plan.offers]
        head = ("id", "artifact", "read as", "slots", "bytes", "lines", "")
        lines.append(table(rows, head, right=(3, 4)))
    return lines


def _offer_row(one: Offer, at: Mapping[int, int], within: bool) -> tuple[str, ...]:
    lines = ", ".join(f"{line:,}" for line in dict.fromkeys(at.get(n, 0) for n in one.links))
    return (
        one.id,
        path(one.artifact),
        one.route,
        f"{one.slots:,}",
        f"{one.bytes:,}",
        visible(lines, 40),
        "" if within else "over the cap",
    )


def unavailable(plan: Plan) -> list[str]:
    """What cannot be served, by place, with the reason and what may have been meant."""
    by_number = {link.n: link for link in plan.note.links}
    return [_unavailable(plan.note.path, one, by_number.get(one.link)) for one in plan.unavailable]


def _unavailable(note: str, one: Unavailable, link: Link | None) -> str:
    place = path(note) if link is None else f"{path(note)}:{link.line}:{link.column}"
    why = one.kind if one.kind != "artifact" else one.reason
    more = f" ({one.reason})" if one.reason and one.reason != why else ""
    hint = f"; did you mean {path(link.hint)}?" if link is not None and link.hint else ""
    return f"{place}: {why}{more}  {path(one.dest) or '(empty)'}{hint}"


def totals(plans: Sequence[Plan]) -> list[str]:
    """Links and offers of all plans, and what the cap does."""
    kinds = Counter[str]()
    for one in plans:
        kinds.update(kinds_of(one.note.links))
    offers = [offer for one in plans for offer in one.offers]
    lines = [said_links(len(offers), kinds)]
    if not offers:
        return lines
    within = [offer for one in plans for offer in one.offers if offer.id in set(one.within)]
    unit, cap = plans[0].unit, plans[0].cap
    capped = "no cap" if cap is None else f"cap {cap:,} for each note"
    held = amount(sum(one.slots for one in within), unit, sum(one.bytes for one in within))
    lines.append(f"within: {len(within):,} of {counted(len(offers), 'artifact')}, {held}; {capped}")
    over = [one for one in plans if one.overflow]
    if over:
        left = sum(len(one.overflow) for one in over)
        lines.append(f"over the cap: {counted(left, 'artifact')} of {counted(len(over), 'note')}")
    return lines


def covered(found: Curve) -> str:
    """How many notes each of the usual caps covers whole, up to the first that covers all."""
    parts = []
    for cap in CAPS:
        point = found.at(cap)
        parts.append(f"{cap}: {point.notes:,}")
        if point.notes == found.notes:
            break
    return f"notes fully covered, of {found.notes:,}, by cap in {found.unit}: {', '.join(parts)}"


def finding(one: Finding, column: int = 0) -> str:
    """A finding as a compiler prints it: `path:line:column: FAIL rule  text  (fix)`; column 0 is left out."""
    place = f"{path(one.note)}:{one.line}{f':{column}' if column else ''}"
    fix = f"  ({one_line(one.fix)})" if one.fix else ""
    return f"{place}: {one.severity} {one.rule}  {one_line(one.text or one.claim)}{fix}"


def review(one: Review) -> list[str]:
    """A verdict with what it covers, its findings, and what was read."""
    reason = f" ({one.reason})" if one.verdict in ("UNJUDGED", "ERROR") else ""
    shadow = f" [only recorded: {one.shadow}]" if one.shadow is not None else ""
    said = visible(one.scoped, MOST_SCOPED) or one.verdict
    lines = [f"{path(one.pair.note)} by {visible(one.pair.criterion)}: {said}{reason}{shadow}"]
    for found in one.findings:
        lines += _judged(found)
    if (read := one.coverage) is not None:
        capped = "no cap" if read.cap is None else f"cap {read.cap:,}"
        count = f"read {read.read:,} of {counted(read.offered, 'artifact')}"
        held = amount(read.slots_used, read.unit, read.bytes_read)
        lines.append(f"  {count}, {held}; {capped}; stopped by {read.stop}")
    if one.conflict:
        lines.append("  conflict: another review was accepted meanwhile; this one was not")
    elif not one.stored and one.shadow is None and one.verdict in VERDICTS_STORED:
        lines.append("  not stored: the record could not be written, so it will be reviewed again")
    return lines


def _judged(one: Finding) -> list[str]:
    """A finding of a review: the claim, the artifact, and below it what is said of them."""
    about = f"  -> {path(one.artifact)}" if one.artifact else ""
    if not one.claim:
        return [f"  {finding(one)}{about}"]
    said = one_line(one.text, MOST_SAID)
    return [f"  {finding(one._replace(text=''))}{about}", *([f"      {said}"] if said else [])]


def is_bad(one: Review, fail_on: str, *, allow_unjudged: bool) -> bool:
    """Whether a review ends a command with 1, under ``fail``, ``warn`` or ``info``."""
    if one.verdict in ("UNJUDGED", "ERROR"):
        return not allow_unjudged
    if one.shadow is not None:
        return False
    if one.verdict != "PASS":
        return is_at_least(one.verdict, fail_on)
    return any(is_at_least(found.severity, fail_on) for found in one.findings if found.severity == "INFO")


def is_at_least(severity: str, least: str) -> bool:
    """Whether a severity ends a command with 1, under ``fail``, ``warn`` or ``info``."""
    return SEVERITY_ORDER.index(severity) >= SEVERITY_ORDER.index(least.upper())  # type: ignore[arg-type]


def rule_rows(findings: Sequence[Finding]) -> str:
    """Findings by rule, the gravest first."""
    counts = Counter((one.severity, one.rule) for one in findings)
    ordered = sorted(counts.items(), key=lambda row: (-SEVERITY_ORDER.index(row[0][0]), -row[1], row[0][1]))
    rows = [(severity, rule, f"{count:,}") for (severity, rule), count in ordered]
    return table(rows, ("severity", "rule", "findings"), right=(2,))


def severities(findings: Iterable[Finding]) -> dict[str, int]:
    """Counts by severity, the gravest first; all three stand there."""
    found = Counter(one.severity for one in findings)
    return {severity: found[severity] for severity in reversed(SEVERITY_ORDER)}
