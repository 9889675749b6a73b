"""The texts that a judge reads, put together by code: exactly what the plan lets in.

Each file is read again and must still be the one that was planned. What does not fit a request is reduced
from the last item back, first to its head and then altogether, and each reduction is named.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from admit.core.events import canonical, sha256
from admit.errors import NotOffered
from admit.evidence.coverage import unread
from admit.evidence.heads import head
from admit.evidence.model import Item, Material, Offer, Shape, Unavailable, Unread
from admit.evidence.plan import Plan

if TYPE_CHECKING:
    from admit.evidence.base import Base

Fits = Callable[[tuple[Item, ...]], bool]


class Pack(NamedTuple):
    """What is served of a plan.

    Attributes:
        items: In admission order; an ingest that is linked by both routes is two.
        left_out: What the plan holds and the pack does not, or only as a head: over the cap (``budget``) or
            over the request (``request-size``).
        unavailable: Links whose file is no longer as planned.
    """

    items: tuple[Item, ...]
    left_out: tuple[Unread, ...]
    unavailable: tuple[Unavailable, ...]


def pack(base: Base, plan: Plan, limits: Fits | None = None) -> Pack:
    """The texts of what is within the cap, reduced until `limits` says that they fit.

    Args:
        limits: Whether items fit one request; shorter texts must not fit less. None takes all.
    """
    from admit.evidence.reading import Unreadable

    items: list[Item] = []
    unavailable: list[Unavailable] = []
    within = set(plan.within)
    for offer in plan.offers:
        for material in offer.materials if offer.id in within else ():
            try:
                items += _items(base, plan, offer, material)
            except Unreadable as fault:
                unavailable += _failed(plan, material, fault.reason)
    kept, left = tuple(items), ()
    if limits is not None and items and not limits(kept):
        kept, left = _reduced(base, plan, items, limits)
    over = [offer for offer in plan.offers if offer.id not in within]
    budget = tuple(unread(plan, offer, offer.links, "all", "budget") for offer in over)
    return Pack(kept, (*left, *budget), tuple(unavailable))


def serve(base: Base, plan: Plan, offer_id: str) -> tuple[Item, ...]:
    """The texts of one offer, within the cap or over it; whether it may be opened is for the caller.

    Raises:
        NotOffered: The plan has no such offer.
        Unreadable: A file of it is no longer as planned: ``changed``, or why it cannot be read.
    """
    for offer in plan.offers:
        if offer.id == offer_id:
            return tuple(item for one in offer.materials for item in _items(base, plan, offer, one))
    known = f"a1 to a{len(plan.offers)}" if plan.offers else "nothing"
    raise NotOffered(f"{offer_id!r} is not offered; the plan offers {known}")


def pack_hash(items: Iterable[Item]) -> str:
    """The hash of what was read, whatever the order of reading."""
    rows = {(one.artifact, one.shape, one.source_sha256, one.shown_sha256) for one in items}
    return sha256(canonical(sorted(rows)))


def _items(base: Base, plan: Plan, offer: Offer, material: Material) -> list[Item]:
    """The text of one material in the shape that the criterion asks for; none where it asks for none.

    Raises:
        Unreadable: The file is not as planned.
    """
    from admit.evidence.reading import Unreadable
    from admit.evidence.sources import ingest_of, quotes_text

    asked = plan.criterion.material if plan.criterion is not None else "whole"
    if material.route in ("note", "file") and asked == "none":
        return []
    file = base.file(material.path, expect=material.sha256)
    text = file.text
    shape: Shape = "snapshot"
    if material.route == "quotes":
        source = ingest_of(base, file)
        if source is None:
            raise Unreadable(material.path, "changed")
        shape, text = "quotes", quotes_text(source)
    elif material.route != "snapshot":
        shape = "head" if asked == "head" else "whole"
        text = _head(base, plan, material, text) if shape == "head" else text
    return [_item(offer, material, shape, text)]


def _item(offer: Offer, material: Material, shape: Shape, text: str) -> Item:
    shown = sha256(text.encode())
    return Item(
        offer.id, offer.artifact, material.path, shape, material.route, material.links, text,
        material.sha256, shown,
    )  # fmt: skip


def _head(base: Base, plan: Plan, material: Material, text: str) -> str:
    numbers = set(material.links)
    fragments = {link.fragment for link in plan.note.links if link.n in numbers}
    return head(text, fragments, base.settings.head_max_chars)


def _failed(plan: Plan, material: Material, reason: str) -> list[Unavailable]:
    numbers = set(material.links)
    links = (link for link in plan.note.links if link.n in numbers)
    return [Unavailable(link.dest, link.n, "artifact", reason) for link in links]


def _reduced(
    base: Base, plan: Plan, items: Sequence[Item], limits: Fits
) -> tuple[tuple[Item, ...], tuple[Unread, ...]]:
    """The items that fit: as few as will do are cut to their heads, then as few as will do are left out."""
    offers = {offer.id: offer for offer in plan.offers}
    heads = [_shorter(base, plan, offers[item.offer], item) for item in items]
    size = len(items)

    def cut(count: int) -> tuple[Item, ...]:
        return (*items[: size - count], *heads[size - count :])

    # Both are monotone in the count, so that the least is found without trying each.
    count = bisect_left(range(size), True, key=lambda count: limits(cut(count)))
    kept = cut(count)
    drop = 0
    if count == size and not limits(kept):
        drop = 1 + bisect_left(range(1, size), True, key=lambda count: limits(kept[: size - count]))
    left: list[Unread] = []
    for k, item in enumerate(items):
        if k >= size - drop:
            still = any(one.offer == item.offer for one in kept[: size - drop])
            part = "rest" if still else "all"
            left.append(unread(plan, offers[item.offer], item.links, part, "request-size"))
        elif kept[k] is not item:
            left.append(unread(plan, offers[item.offer], item.links, "rest", "request-size"))
    return kept[: size - drop], tuple(left)


def _shorter(base: Base, plan: Plan, offer: Offer, item: Item) -> Item:
    """The item as its head, where it is whole and that is less."""
    if item.shape != "whole":
        return item
    material = next(one for one in offer.materials if one.route == item.route)
    text = _head(base, plan, material, item.text)
    return _item(offer, material, "head", text) if len(text) < len(item.text) else item
