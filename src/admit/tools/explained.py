"""Why a route stands where it does in the order for a request."""

from __future__ import annotations

from typing import NamedTuple

from .model import Exclusion, Ranked


class Explanation(NamedTuple):
    """One route against one request, for the owner of the catalog.

    Attributes:
        ranked: Its place and the parts of its score; None where it matched nothing, or was taken out.
        excluded: Why it was taken out before ranking.
        shown: Whether the agent would see it.
        cut: How many of the order the agent would see, and by which depth.
        above, below: Its neighbours in the order.
    """

    route_id: str
    ranked: Ranked | None
    excluded: Exclusion | None
    shown: bool
    cut: tuple[int, str]
    above: Ranked | None = None
    below: Ranked | None = None
