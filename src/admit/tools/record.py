"""One find, and one use, as records of the ledger: ids, hashes and numbers; no text of a request."""

from __future__ import annotations

from collections import Counter
from typing import Any

from admit.core.events import Event, canonical, sha256
from admit.ledger.port import Record, ToolUse
from admit.ledger.record import from_decision, new_id, now_ms

from .choose import Choice
from .exposed import Place
from .filters import Filtered
from .model import Ranked, Route, Shortlist
from .policy import ToolPolicy, family
from .rank import Order


def found_record(
    query: str,
    depth: str,
    order: Order,
    choice: Choice,
    shortlist: Shortlist,
    filtered: Filtered,
    policy: ToolPolicy,
    *,
    session: str | None,
    profile_hash: str,
) -> Record:
    """The row in `decisions`, the pool as its candidates, and the verdicts of a judge."""
    asked = choice.reply is not None
    places = {one.route_id: one for one in choice.pool}
    return from_decision(
        choice.decision,
        door="tools",
        policy=choice.policy,
        reply=choice.reply,
        kind="route",
        size_unit="tokens",
        spans={name: _span(one) for name, one in places.items()},
        extra={
            "depth": depth,
            "family": family(depth),
            "outcome": shortlist.outcome,
            "admitted": [one.route.id for one in shortlist.admitted],
            "matched": order.matched,
            "overflow": shortlist.overflow,
            "excluded": dict(sorted(Counter(one.reason for one in filtered.excluded).items())),
            "schema_tokens": shortlist.schema_tokens,
            "counter": shortlist.counter,
            "none_p": shortlist.none_p,
        },
        decision_id=shortlist.decision_id,
        session=session,
        profile=shortlist.judge or None,
        profile_hash=profile_hash or None if asked else None,
        policy_hash=sha256(canonical({**policy._asdict(), "depth": depth})),
        gather_rev=shortlist.catalog_revision,
        deadline_ms=policy.timeout_ms if asked else None,
        size_out=shortlist.schema_tokens,
        elapsed_ms=shortlist.elapsed_ms,
        task_hash=shortlist.query_hash or None if query else None,
    )


def used_record(
    route_id: str,
    route: Route | None,
    ok: bool,
    stems: tuple[str, ...],
    decision_id: str | None,
    place: Place,
) -> Record:
    """One use of a route: the row that history reads, and the event that says where the find had it."""
    body = {
        "route_id": route_id,
        "fingerprint": None if route is None else route.fingerprint,
        "ok": ok,
        "in_shortlist": place.shown,
        "rank": place.rank,
    }
    now = now_ms()
    return Record(
        tool_uses=(ToolUse(new_id(), now, route_id, ok, stems, decision_id),),
        events=(Event(new_id(), "tools.used", now, body, decision_id, None, "tools"),),
    )


def _span(one: Ranked) -> dict[str, Any]:
    """Where a route stands, and why."""
    return {
        "rank": one.rank,
        "score": one.score,
        "components": [[part.lane, part.signal, part.value] for part in one.components],
        "words": list(one.matched),
    }
