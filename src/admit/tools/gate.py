"""The front door: the few tools that a request is shown, or none, and why.

    filter → order (lanes) → cap → ask → rule → budget → export

A shortlist is exposure and no permission: nothing here runs a tool, or grants or takes the right to.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from admit.core.question import Judge
from admit.errors import UsageError
from admit.judges.bounded import BoundedJudge
from admit.judges.clock import Clock, SystemClock

from . import results
from .ask import asker
from .catalog import Catalog
from .choose import Choice, choose
from .dense import Dense, Encoder
from .dense import pool as fused
from .explained import Explanation
from .exposed import Exposed, Finds
from .filters import Filtered, Filters, Globs, apply
from .history import History
from .index import Index
from .model import HIDDEN, Admitted, Ranked, Route, Shortlist
from .policy import ToolPolicy, checked, valid
from .rank import DEPTH, Order, Ranker
from .snapshot import Snapshot
from .text import outcome_text
from .tokens import Counter as TokenCounter
from .tokens import counter, route_tokens, schema_tokens
from .weights import DEFAULT, Weights

if TYPE_CHECKING:
    from admit.ledger.port import Ledger

MOST_QUERY = 4000
MOST_SIZES = 50_000
NEAREST = 5
BUDGETED = ("budget", "judge")


class ToolGate:
    """The tools of one catalog, for all its callers.

    Args:
        catalog: Where the routes are; its changes are followed.
        policy: How much is shown.
        judge: Asked at the depth ``judge``.
        encoder: Brings routes near in meaning before the judge as well; None leaves that lane out.
        history: Earlier uses; None leaves the lane out.
        ledger: Where decisions and uses are recorded; None records nothing.
        authorised: Whether a principal may know of a route; what it raises means no.
        ready: Whether a route can be called now.
        globs: What of each source may be used.
        weights: Of the lexical lane.
        judge_name: The profile's name, for the record.
        clock: Of elapsed time.

    Attributes:
        totals: Counts of faults since the gate was made.
        filters: What every find is held against, its own choices aside.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        policy: ToolPolicy = ToolPolicy(),  # noqa: B008 - a value that nothing can change
        judge: Judge | None = None,
        encoder: Encoder | None = None,
        history: History | None = None,
        ledger: Ledger | None = None,
        authorised: Callable[[Any, Route], bool] | None = None,
        ready: Callable[[Route], bool] | None = None,
        globs: Mapping[str, Globs] | None = None,
        weights: Weights = DEFAULT,
        judge_name: str = "",
        profile_hash: str = "",
        clock: Clock | None = None,
    ) -> None:
        self.catalog = catalog
        self.policy = valid(policy)
        self.totals: Counter[str] = Counter()
        self.judge_name = judge_name or (judge.name if judge is not None else "")
        self.profile_hash = profile_hash
        self._clock = clock or SystemClock()
        if judge is not None and not isinstance(judge, BoundedJudge):
            judge = BoundedJudge(judge, self._clock)
        self._judge = judge
        self._history = history
        self._dense = Dense(encoder) if encoder is not None else None
        self._encoded: Snapshot | None = None
        self._ledger = ledger
        self.filters = Filters(globs or {}, authorised, ready)
        self._counter: TokenCounter = counter(policy.counter)
        self._ranker = Ranker(Index(), weights)
        self._snapshot: Snapshot | None = None
        self._lock = threading.RLock()
        self._exposed = Exposed()
        self._finds = Finds()
        self._sizes: dict[tuple[str, str], int] = {}

    def find(
        self,
        query: str,
        *,
        depth: str | None = None,
        principal: Any = None,
        sources: Sequence[str] = (),
        groups: Sequence[str] = (),
        exposed: Collection[str] = (),
        epoch: str = "",
        context: str = "",
        session: str | None = None,
    ) -> Shortlist:
        """What this request is shown. Relevance faults never raise.

        Args:
            query: What is asked; its first 4,000 characters are read.
            depth: In place of the policy's.
            principal: Whom `authorised` is asked about.
            sources, groups: Only these; beside the query, never instead of it.
            exposed: Ids that the agent has already. With an `epoch`, those count that this gate showed in it.
            epoch: Names the agent's context; a new one, as after a compaction, has nothing.
            context: Earlier words of the conversation, for the judge.
            session: Whose caps of spend the judge's calls count to.

        Raises:
            UsageError: The query is no text, or there is no such depth.
        """
        started = self._clock.monotonic()
        if not isinstance(query, str):
            raise UsageError("the request must be text")
        depth = checked(depth or self.policy.depth)
        query = query[:MOST_QUERY]
        had = self._exposed.had(exposed, epoch)
        filters = self.filters._replace(
            principal=principal, sources=tuple(sources), groups=tuple(groups), exposed=tuple(sorted(had))
        )
        with self._lock:
            snapshot = self._followed()
            filtered = apply(snapshot, filters)
            self.totals["fault:check"] += filtered.faults
            order = self._order(query, filtered.open, snapshot, depth)
            again = self._again(query, snapshot, filters, had)
            pool = self._pool(query, order, snapshot, filtered, depth)
        asked = None
        if self._judge is not None:
            asked = asker(
                self._judge, query, context=context, deadline_ms=self.policy.timeout_ms, session=session
            )
        choice = choose(order, snapshot.routes, self.policy, depth, self._size, asked, pool)
        shortlist = self._shortlist(query, depth, snapshot, filtered, order, choice, again, started)
        shown = [one.route.id for one in shortlist.admitted]
        self._exposed.show(shown, epoch)
        self._finds.add(
            shortlist.decision_id, shown, [(one.route_id, one.rank) for one in order.ranked or choice.pool]
        )
        self._record(query, depth, order, choice, shortlist, filtered, session)
        return shortlist

    async def afind(self, query: str, **options: Any) -> Shortlist:
        """The same as `find`, in a worker thread."""
        import asyncio

        return await asyncio.to_thread(lambda: self.find(query, **options))

    def rank(self, query: str, k: int = DEPTH, *, principal: Any = None, **filters: Any) -> list[Ranked]:
        """The first `k` of the order: no judge, no cut, no record.

        Raises:
            UsageError: The query is no text, or `k` is below 1.
        """
        chosen = self.filters._replace(principal=principal, **filters)
        with self._lock:
            snapshot = self._followed()
            left = apply(snapshot, chosen).open
            return self._ranker.rank(query, k, allowed=left, history=self._history)

    def explain(self, query: str, route_id: str, *, principal: Any = None) -> Explanation:
        """Why a route stands where it does. For the owner: it shows what the agent is told nothing of.

        Raises:
            UnknownTool, AmbiguousTool: There is no one route of this id or name.
        """
        route = self.catalog.get(route_id)
        with self._lock:
            snapshot = self._followed()
            filtered = apply(snapshot, self.filters._replace(principal=principal))
            order = self._order(query, filtered.open, snapshot, self.policy.depth, len(snapshot))
        place = next((k for k, one in enumerate(order.ranked) if one.route_id == route.id), None)
        choice = choose(order, snapshot.routes, self.policy, self.policy.depth, self._size)
        admitted = self._within(results.admitted(choice, snapshot), self.policy.depth)
        shown = {one.route.id for one in admitted}
        left = (*filtered.excluded, *results.passed_over(choice, admitted, self.policy))
        excluded = next((one for one in left if one.route_id == route.id), None)
        if place is None:
            return Explanation(route.id, None, excluded, False, (len(shown), self.policy.depth))
        around = order.ranked[max(0, place - 1) : place + 2]
        return Explanation(
            route.id,
            order.ranked[place],
            excluded,
            route.id in shown,
            (len(shown), self.policy.depth),
            around[0] if place else None,
            order.ranked[place + 1] if place + 1 < len(order.ranked) else None,
        )

    def used(self, query: str, route_id: str, ok: bool, *, decision_id: str | None = None) -> None:
        """A route was called for a request. Of a successful call the hashed stems of the request are kept."""
        stems: tuple[str, ...] = ()
        if ok and self._history is not None:
            try:
                stems = self._history.stems(query)
                with self._lock:
                    self._history.add(route_id, stems)
            except Exception:  # a lost key costs the lane, not the call
                self.totals["fault:history"] += 1
        if self._ledger is not None:
            from .record import used_record

            ledger, route = self._ledger, self.catalog.snapshot().routes.get(route_id)
            place = self._finds.place(decision_id, route_id)
            self._append(lambda: ledger.append(used_record(route_id, route, ok, stems, decision_id, place)))

    def _followed(self) -> Snapshot:
        """The catalog as it is now, with the index brought up to it."""
        snapshot = self.catalog.snapshot()
        if snapshot is not self._snapshot:
            gone, fresh = snapshot.since(self._snapshot)
            self._ranker.index.remove(gone)
            self._ranker.index.add(fresh)
            self._snapshot = snapshot
        return snapshot

    def _order(
        self, query: str, left: frozenset[str] | None, snapshot: Snapshot, depth: str, least: int = 0
    ) -> Order:
        k = max(DEPTH, self.policy.max_candidates, 2 * self.policy.max_tools, least)
        try:
            order = self._ranker.order(
                query, k, allowed=left, history=self._history, most_exact=self.policy.max_exact
            )
        except UsageError:
            raise
        except Exception:  # the history's key may be lost; the order is that without it
            self.totals["fault:history"] += 1
            order = self._ranker.order(query, k, allowed=left, most_exact=self.policy.max_exact)
        if self.policy.pad and depth not in BUDGETED:
            order = results.padded(order, snapshot, left)
        return order

    def _pool(
        self, query: str, order: Order, snapshot: Snapshot, filtered: Filtered, depth: str
    ) -> Sequence[Ranked]:
        """What a judge reads, first to last; empty is the order. An encoder that fails costs its lane."""
        if self._dense is None or self._judge is None or depth != "judge" or self.policy.mode == "off":
            return ()
        try:
            gone, fresh = snapshot.since(self._encoded)
            self._dense.remove(gone)
            self._dense.add(fresh)
            self._encoded = snapshot
            return fused(order.ranked, self._dense.scores(query, allowed=filtered.open))
        except Exception:
            self.totals["fault:encoder"] += 1
            return ()

    def _again(
        self, query: str, snapshot: Snapshot, filters: Filters, had: frozenset[str]
    ) -> tuple[Route, ...]:
        """Routes that the agent has and the request means."""
        if not had:
            return ()
        allowed = apply(snapshot, filters._replace(exposed=())).open
        own = frozenset(one for one in had if one in snapshot.routes and (allowed is None or one in allowed))
        if not own:
            return ()
        return tuple(snapshot.routes[one.route_id] for one in self._ranker.rank(query, 12, allowed=own))

    def _shortlist(
        self,
        query: str,
        depth: str,
        snapshot: Snapshot,
        filtered: Filtered,
        order: Order,
        choice: Choice,
        again: tuple[Route, ...],
        started: float,
    ) -> Shortlist:
        admitted = self._within(results.admitted(choice, snapshot), depth)
        outcome = results.outcome(snapshot, filtered, order, choice, admitted, again)
        shown = {one.route.id for one in admitted}
        left = [one for one in order.ranked or choice.pool if one.route_id not in shown]
        nearest = tuple(snapshot.routes[one.route_id].name for one in left[:NEAREST])
        visible = tuple(one for one in filtered.excluded if one.reason not in HIDDEN)
        down = sorted({snapshot.routes[one.route_id].source for one in visible if one.reason == "not_ready"})
        overflow = max(0, order.matched - len(admitted))
        none_p = None
        if choice.reply is not None and choice.decision.status in ("judged", "partial"):
            p = [ruling.value for ruling in choice.decision.rulings if ruling.value is not None]
            none_p = round(1 - max(p), 6) if p else None
        return Shortlist(
            decision_id=secrets.token_hex(16),
            query_hash=self._hash(query),
            catalog_revision=snapshot.revision,
            outcome=outcome,
            admitted=admitted,
            nearest=nearest,
            excluded=(*visible, *results.passed_over(choice, admitted, self.policy)),
            overflow=overflow,
            matched=order.matched,
            schema_tokens=self._tokens(admitted) if admitted else 0,
            counter=self._counter.name,
            none_p=none_p,
            judge=self.judge_name if choice.reply is not None else "",
            elapsed_ms=(self._clock.monotonic() - started) * 1000,
            text=outcome_text(
                outcome,
                nearest=nearest,
                sources=results.open_sources(snapshot, filtered),
                already=[route.name for route in again],
                down=down,
                overflow=overflow,
            ),
            reason=choice.decision.reason if choice.reply is not None else None,
            depth=depth,
            decision=choice.decision,
        )

    def _within(self, admitted: tuple[Admitted, ...], depth: str) -> tuple[Admitted, ...]:
        """What fits as one array: the last not named leaves while it does not, but never the first."""
        if depth not in BUDGETED or len(admitted) < 2:
            return admitted
        kept = list(admitted)
        while self._tokens(kept) > self.policy.max_tokens:
            last = next((k for k in range(len(kept) - 1, 0, -1) if kept[k].verdict != "exempt"), None)
            if last is None:
                break
            del kept[last]
        return tuple(kept)

    def _tokens(self, admitted: Sequence[Admitted]) -> int:
        return schema_tokens([one.route for one in admitted], self._counter, self.policy.form)

    def _size(self, route: Route) -> int:
        """Schema tokens of a route, which change with its fingerprint alone."""
        key = (route.id, route.fingerprint)
        size = self._sizes.get(key)
        if size is None:
            if len(self._sizes) >= MOST_SIZES:
                self._sizes.clear()
            size = self._sizes[key] = route_tokens(route, self._counter, self.policy.form)
        return size

    def _hash(self, query: str) -> str:
        if self._ledger is None:
            return ""
        try:
            return self._ledger.keyed((query,))[0]
        except Exception:
            self.totals["fault:ledger"] += 1
            return ""

    def _record(
        self, query: str, depth: str, order: Order, choice: Choice, shortlist: Shortlist,
        filtered: Filtered, session: str | None,
    ) -> None:  # fmt: skip
        if self._ledger is None:
            return
        from .record import found_record

        ledger = self._ledger
        self._append(lambda: ledger.append(
            found_record(
                query, depth, order, choice, shortlist, filtered, self.policy,
                session=session, profile_hash=self.profile_hash,
            )
        ))  # fmt: skip

    def _append(self, write: Callable[[], object]) -> None:
        try:
            write()
        except Exception:  # a record that cannot be made must not cost the answer
            self.totals["fault:ledger"] += 1
