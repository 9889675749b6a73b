"""From the links of a note to the offers of a review: unit, order, cap.

One pool over notes, ordinary files and ingests; the note, the criterion and links to either are free, and so
is what cannot be served. The first offer that does not fit ends admission, so the plan at a cap of n is a
prefix of the plan at n + 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from admit.core import admission
from admit.core.candidate import UNBOUNDED, Budget, Candidate
from admit.core.decision import Plan as CorePlan
from admit.core.events import canonical, sha256
from admit.core.order import as_given
from admit.core.policy import DOORS, Policy
from admit.errors import EvidenceError
from admit.evidence.criterion import Criterion
from admit.evidence.model import SCAFFOLD, Material, Offer, OrderName, Route, Unavailable, Unit
from admit.evidence.note import Document, Link, Note
from admit.evidence.plan import Plan

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.sources import Ingest

FREE = frozenset({"self", "anchor", "external"})
"""Kinds of links that lead to nothing a review would have to read."""

NOTES = (".md", ".markdown")
"""How the names of notes end; any other text is an ordinary file."""


NO_EXTRACTS = "no-extracts"
"""Why an ingest without an extract has no Quotes to serve."""


class Unset(Enum):
    """The cap of the criterion counts."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


def plan(
    base: Base,
    note_path: str,
    criterion: Criterion | None = None,
    *,
    cap: int | Unset | None = UNSET,
    unit: Unit | None = None,
    order: OrderName | None = None,
) -> Plan:
    """What a review of a note may read.

    Args:
        criterion: Gives cap, unit and order; without one there is no cap.
        cap: Another number of slots to try; None is no cap.
        unit, order: Others to try.

    Raises:
        NoteError: The note cannot be read.
        EvidenceError: A cap below 1.
    """
    note = base.note(note_path)
    offers, unavailable = _offers(base, note, criterion)
    if unit is None:
        unit = criterion.unit if criterion is not None else "distinct-v1"
    if order is None:
        order = criterion.order if criterion is not None else "document"
    if cap is UNSET:
        cap = criterion.budget if criterion is not None else None
    return _arranged(note, criterion, offers, unavailable, cap, unit, order)


def replay(plan: Plan, *, cap: int | None, unit: Unit | None = None, order: OrderName | None = None) -> Plan:
    """The plan as it would be under another cap, unit or order; no file is read.

    Raises:
        EvidenceError: A cap below 1.
    """
    unit, order = unit or plan.unit, order or plan.order
    return _arranged(plan.note, plan.criterion, plan.offers, plan.unavailable, cap, unit, order)


def policy(cap: int | None) -> Policy:
    """The policy of the evidence door under a cap of slots; None is no cap."""
    budget = UNBOUNDED if cap is None else Budget(MappingProxyType({"artifacts": cap}), "stop")
    return DOORS["evidence"]._replace(cap=budget)


def canonical_plan(plan: Plan) -> dict[str, Any]:
    """What the hash of a plan is over, and what a job stores: the same on every machine.

    It holds no time, absolute path, inode or text. Links stand as number, kind, reason, block,
    destination and fragment.
    """
    criterion = plan.criterion
    return {
        "note": {"path": plan.note.path, "sha256": plan.note.sha256},
        "criterion": None if criterion is None else {"id": criterion.id, "sha256": criterion.sha256},
        "unit": plan.unit,
        "order": plan.order,
        "cap": plan.cap,
        "links": [
            [link.n, link.kind, link.reason, link.block, link.dest, link.fragment] for link in plan.note.links
        ],
        "offers": [
            {**offer._asdict(), "materials": [one._asdict() for one in offer.materials]}
            for offer in plan.offers
        ],
        "within": list(plan.within),
        "unavailable": [one._asdict() for one in plan.unavailable],
    }


def from_canonical(value: Mapping[str, Any], criterion: Criterion | None = None) -> Plan:
    """A plan as it was stored. Its note has path, hash and the kinds of its links, and no text or blocks.

    Args:
        criterion: As read; None leaves the plan without one, with the stored cap.

    Raises:
        ValueError, KeyError, TypeError: It is no stored plan.
    """
    links = tuple(
        Link(n, 0, 0, 0, 0, "", dest, "inline", block, "", False, kind, reason, fragment=fragment)
        for n, kind, reason, block, dest, fragment in value["links"]
    )
    document = Document(None, (), (), ())
    path, digest = value["note"]["path"], value["note"]["sha256"]
    note = Note(path, digest, 0, "", None, "", (), "", "", document, links, ())
    offers = [_stored(one) for one in value["offers"]]
    unavailable = tuple(Unavailable(**one) for one in value["unavailable"])
    core = _core(offers, criterion is not None, value["cap"])
    return Plan(
        note, criterion, value["cap"], value["unit"], value["order"], tuple(offers),
        tuple(one.id for one in core.asked), tuple(one.id for one in core.overflow), unavailable,
        sha256(canonical(value)), SCAFFOLD, core,
    )  # fmt: skip


def _stored(value: Mapping[str, Any]) -> Offer:
    materials = tuple(Material(**{**one, "links": tuple(one["links"])}) for one in value["materials"])
    links, labels = tuple(value["links"]), tuple(value["labels"])
    return Offer(**{**value, "links": links, "labels": labels, "materials": materials})


def _offers(
    base: Base, note: Note, criterion: Criterion | None
) -> tuple[list[Offer], tuple[Unavailable, ...]]:
    """One offer per artifact, without order, ids and slots, and what cannot be served."""
    unavailable: list[Unavailable] = []
    routes: dict[str, dict[str, list[Link]]] = {}
    for link in note.links:
        if not is_route(link, criterion):
            continue
        if link.kind != "artifact":
            unavailable.append(Unavailable(link.dest, link.n, link.kind, link.reason))
            continue
        way = "snapshot" if link.snapshot_required else "plain"
        routes.setdefault(link.target, {}).setdefault(way, []).append(link)
    offers: list[Offer] = []
    for artifact, ways in routes.items():
        offer = _offer(base, artifact, ways, unavailable)
        offers += [offer] if offer is not None else []
    return offers, tuple(sorted(unavailable, key=lambda one: one.link))


def _offer(
    base: Base, artifact: str, ways: Mapping[str, Sequence[Link]], unavailable: list[Unavailable]
) -> Offer | None:
    """The offer of one artifact, None where no way to it can be served; failed links go to `unavailable`."""
    from admit.evidence.reading import Unreadable
    from admit.evidence.sources import Failed, ingest_of, is_source, snapshot

    def failed(links: Sequence[Link], reason: str) -> None:
        unavailable.extend(Unavailable(link.dest, link.n, link.kind, reason) for link in links)

    source: Ingest | None = None
    try:
        if is_source(base, artifact):
            file = base.file(artifact)
            source, size, digest = ingest_of(base, file), len(file.data), file.sha256
        else:
            reason, size, digest = base.look(artifact)
            if reason:
                raise Unreadable(artifact, reason)
    except Unreadable as fault:
        failed([link for links in ways.values() for link in links], fault.reason)
        return None
    materials: list[Material] = []
    served: list[Link] = []
    plain = ways.get("plain")
    if plain and source is not None and not source.extracts:
        failed(plain, NO_EXTRACTS)
        plain = None
    if plain:
        route: Route = "note" if artifact.endswith(NOTES) else "file"
        if source is not None:
            route = "quotes"
        numbers = tuple(link.n for link in plain)
        materials.append(Material(route, artifact, numbers, size, digest))
        served += plain
    if required := ways.get("snapshot"):
        found = snapshot(base, source)
        if isinstance(found, Failed):
            failed(required, found.reason)
        else:
            numbers = tuple(link.n for link in required)
            materials.append(Material("snapshot", found.path, numbers, len(found.data), found.sha256))
            served += required
    if not materials:
        return None
    served.sort(key=lambda link: link.n)
    return Offer(
        artifact=artifact,
        id="",
        links=tuple(link.n for link in served),
        labels=tuple(dict.fromkeys(link.label for link in served if link.label)),
        materials=tuple(materials),
        slots=1,
        bytes=sum(one.bytes for one in materials),
        sha256=digest,
    )


def is_route(link: Link, criterion: Criterion | None) -> bool:
    """Whether a link leads to something a review would have to read: no image, and not to what is free."""
    free = criterion is not None and link.kind == "artifact" and link.target == criterion.path
    return not free and link.kind not in FREE and link.via != "image"


def _arranged(
    note: Note,
    criterion: Criterion | None,
    offers: Sequence[Offer],
    unavailable: tuple[Unavailable, ...],
    cap: int | None,
    unit: Unit,
    order: OrderName,
) -> Plan:
    """The plan over offers, which come in any order: that of a plan is total."""
    if cap is not None and cap < 1:
        raise EvidenceError(f"a cap of {cap} slots reads nothing; give 1 or more, or none")
    ordered = sorted(offers, key=lambda offer: _place(offer, order, criterion))
    numbered = [
        offer._replace(id=f"a{k}", slots=1 if unit == "distinct-v1" else len(offer.links))
        for k, offer in enumerate(ordered, 1)
    ]
    core = _core(numbered, criterion is not None, cap)
    planned = Plan(
        note, criterion, cap, unit, order, tuple(numbered),
        tuple(one.id for one in core.asked), tuple(one.id for one in core.overflow), unavailable,
        "", SCAFFOLD, core,
    )  # fmt: skip
    return planned._replace(plan_hash=sha256(canonical(canonical_plan(planned))))


def _place(offer: Offer, order: OrderName, criterion: Criterion | None) -> tuple[Any, ...]:
    if order == "bytes":
        return offer.bytes, offer.artifact.encode("utf-8", "surrogateescape")
    if order == "label":
        ranks = criterion.label_order if criterion is not None else ()
        known = [ranks.index(label) for label in offer.labels if label in ranks]
        return min(known, default=len(ranks)), offer.links[0]
    return (offer.links[0],)


def _core(offers: Sequence[Offer], has_criterion: bool, cap: int | None) -> CorePlan:
    free = ["note", *(["criterion"] if has_criterion else [])]
    candidates = [
        *(Candidate(id, exempt=True) for id in free),
        *(
            Candidate(offer.id, sizes=MappingProxyType({"artifacts": offer.slots, "bytes": offer.bytes}))
            for offer in offers
        ),
    ]
    return admission.plan(as_given(candidates), policy(cap))
