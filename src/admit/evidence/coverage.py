"""What a verdict rests on: what was offered, what was read, what was not and why.

All of it follows from the plan and the texts that were served; what a reviewer says of its reading is no part
of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from admit.evidence.model import Coverage, Item, Offer, Opened, Unavailable, Unread, UnreadReason
from admit.evidence.plan import Plan


def coverage(
    plan: Plan, items: Sequence[Item], *, left: Sequence[Unread] = (), unavailable: Sequence[Unavailable] = ()
) -> Coverage:
    """The coverage of a review.

    Args:
        items: What was served, in reading order; a text that was served again counts once.
        left: What the pack left out; empty where a reviewer opens what it chooses. Then an offer that was not
            opened is over the budget where it would not have fitted what remains, else it was left unopened.
        unavailable: Beside those of the plan.
    """
    read = list({(item.offer, item.route): item for item in items}.values())
    ids = {item.offer for item in read}
    used = sum(offer.slots for offer in plan.offers if offer.id in ids)
    gone = tuple(sorted({*plan.unavailable, *unavailable}, key=lambda one: (one.link, one.reason)))
    missing = _missing(plan, read, left, gone, used)
    return Coverage(
        offered=len(plan.offers),
        read=len(ids),
        bytes_offered=sum(offer.bytes for offer in plan.offers),
        bytes_read=sum(len(item.text.encode()) for item in read),
        opened=tuple(
            Opened(n, item.path, item.shape, item.route, item.source_sha256) for n, item in enumerate(read, 1)
        ),
        unread=missing,
        unavailable=gone,
        slots_used=used,
        cap=plan.cap,
        unit=plan.unit,
        stop="budget" if missing and missing[0].reason != "not-opened" else "sufficiency",
        complete=not missing and not gone,
    )


def unread(
    plan: Plan, offer: Offer, links: Iterable[int], part: Literal["all", "rest"], reason: UnreadReason
) -> Unread:
    """An offer, or what is left of it, with the blocks its links stand in."""
    numbers = tuple(links)
    wanted = set(numbers)
    blocks = dict.fromkeys(link.block for link in plan.note.links if link.n in wanted and link.block)
    return Unread(offer.id, offer.artifact, numbers, tuple(blocks), part, reason)


def scoped(verdict: str, coverage: Coverage) -> str:
    """A verdict with what it does not rest on: ``PASS on 16 of 21 artifacts; not read: a17 kb/x.md (b9)``.

    Every unread artifact and every link that could not be served is named. Empty for a complete coverage.
    """
    if coverage.complete:
        return ""
    parts = [f"{verdict} on {coverage.read} of {coverage.offered} artifacts"]
    if coverage.unread:
        parts.append(f"not read: {', '.join(map(_named, coverage.unread))}")
    if coverage.unavailable:
        gone = (f"{one.dest} ({one.reason or one.kind})" for one in coverage.unavailable)
        parts.append(f"unavailable: {', '.join(gone)}")
    return "; ".join(parts)


def _named(one: Unread) -> str:
    rest = "the rest of " if one.part == "rest" else ""
    blocks = f" ({', '.join(one.blocks)})" if one.blocks else ""
    return f"{rest}{one.id} {one.artifact}{blocks}"


def _missing(
    plan: Plan, read: Sequence[Item], left: Sequence[Unread], gone: Sequence[Unavailable], used: int
) -> tuple[Unread, ...]:
    """In admission order, each unread offer or part of one."""
    known: dict[str, list[Unread]] = {}
    for one in left:
        known.setdefault(one.id, []).append(one)
    served: dict[str, set[int]] = {}
    for item in read:
        served.setdefault(item.offer, set()).update(item.links)
    failed = {one.link for one in gone}
    found: list[Unread] = []
    reason: UnreadReason
    for offer in plan.offers:
        seen = served.get(offer.id, set())
        links = [number for number in offer.links if number not in seen and number not in failed]
        if offer.id in known:
            # What was packed may not have left for the judge: then nothing of the offer was read.
            reason = known[offer.id][0].reason
            found += known[offer.id] if seen else [unread(plan, offer, links, "all", reason)]
            continue
        if links:
            fits = plan.cap is None or used + (0 if seen else offer.slots) <= plan.cap
            reason = "not-opened" if fits else "budget"
            found.append(unread(plan, offer, links, "rest" if seen else "all", reason))
    return tuple(found)
