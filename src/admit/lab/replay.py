"""Decide recorded decisions again, by the functions that decided them, under another policy; nobody is asked.

The order and the answers are those of the record. What was never judged has no answer: what would become of
it is unknown, counted, and bounded by both ends: all of it blocked, all of it passed. What was only recorded
(shadow) is counted as if it had acted, on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from admit.core.admission import decide, plan
from admit.core.candidate import Budget, Candidate
from admit.core.decision import Decision, Plan
from admit.core.policy import DOORS, Policy
from admit.core.question import Answer, Reply, fallback
from admit.errors import UsageError
from admit.ledger.port import DecisionView, VerdictRow
from admit.report.session_report import ASKED, acted

SIZES: Mapping[str, str] = MappingProxyType({"guidance": "chars", "outputs": "chars", "tools": "tokens"})
SETTINGS: Mapping[str, type] = MappingProxyType(
    {
        "max_candidates": int,
        "threshold": float,
        "fill": str,
        "overflow": str,
        "max_tools": int,
        "max_tokens": int,
    }
)
WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"fill": ("admission", "scored_first"), "overflow": ("pass", "block")}
)
Kind = Literal["noul", "score", "choice"]
SET_MATTERS = "verdicts were given on candidates that shared a request; another set might have got others"
HIGHEST = {"noul": 1.0, "choice": 1.0, "score": 3.0}


class Again(NamedTuple):
    """One decision, decided again.

    Attributes:
        reproduced: Whether the record's own policy gives the record's rulings, to the byte.
        was, low, high: Candidates shown: then; now with all that is unknown blocked, and with all passed.
        was_size, low_size, high_size: Their sizes together, in the door's unit.
        unknown: Candidates that would be asked about and never were, a count.
        shared: Whether several candidates were in one request, so that a verdict may hang on the others.
    """

    decision_id: str
    reproduced: bool
    was: int
    low: int
    high: int
    was_size: int
    low_size: int
    high_size: int
    unknown: int
    shared: bool


class Replay(NamedTuple):
    """Decisions in the order in which they were made, and what has to be said with them."""

    door: str
    settings: Mapping[str, Any]
    decisions: tuple[Again, ...]
    notes: tuple[str, ...]

    def totals(self) -> dict[str, int]:
        """Sums over the decisions."""
        rows = self.decisions
        return {
            "decisions": len(rows),
            "reproduced": sum(one.reproduced for one in rows),
            "changed": sum((one.low, one.high) != (one.was, one.was) for one in rows),
            "unknown": sum(one.unknown for one in rows),
            **{
                name: sum(getattr(one, name) for one in rows)
                for name in ("was", "low", "high", "was_size", "low_size", "high_size")
            },
        }


def settings_of(text: str) -> dict[str, Any]:
    """What ``max_candidates=12,threshold=0.4`` sets.

    Raises:
        UsageError: There is no such setting, or it does not take that value.
    """
    found: dict[str, Any] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, word = (one.strip() for one in part.partition("="))
        if name not in SETTINGS:
            raise UsageError(f"--set knows no {name!r}; it takes {', '.join(SETTINGS)}")
        try:
            value = SETTINGS[name](word)
        except ValueError:
            raise UsageError(f"{name} takes a number, not {word!r}") from None
        if word not in WORDS.get(name, (word,)):
            raise UsageError(f"{name} takes {' or '.join(WORDS[name])}, not {word!r}")
        if SETTINGS[name] is int and value < 1:
            raise UsageError(f"{name} takes a number from 1, not {word}")
        if value != value:
            raise UsageError(f"{name} takes a number, not {word!r}")
        found[name] = value
    return found


def replay(views: Iterable[DecisionView], door: str, settings: Mapping[str, Any]) -> Replay:
    """Decide again what a door decided.

    Args:
        views: In the order in which they were made.
        settings: Names of `SETTINGS`; without any, each decision is only reproduced.

    Raises:
        UsageError: There is no replay of this door.
    """
    if door not in SIZES:
        raise UsageError(f"there is no replay of {door!r}; choose {', '.join(SIZES)}")
    decisions = tuple(_again(view, door, settings) for view in views if view.candidates)
    notes = []
    if (
        settings
        and any(one.shared for one in decisions)
        and {"threshold", "max_candidates", "fill"} & set(settings)
    ):
        notes.append(SET_MATTERS)
    if unknown := sum(one.unknown for one in decisions):
        notes.append(
            f"{unknown:,} candidates were never judged; the bounds are all of them blocked, all passed"
        )
    if wrong := sum(not one.reproduced for one in decisions):
        notes.append(f"{wrong:,} decisions are not reproduced: the record does not hold all of their policy")
    return Replay(door, dict(settings), decisions, tuple(notes))


def candidates_of(view: DecisionView, unit: str) -> tuple[Candidate, ...]:
    """The recorded candidates, in admission order."""
    names = {one.ord: one.candidate_id for one in view.candidates}
    exempt = {one.ord for one in acted(view) if one.verdict == "exempt"}
    return tuple(
        Candidate(
            one.candidate_id,
            tuple(one.rank_key or ()),
            names.get(one.parent_ord) if one.parent_ord is not None else None,
            {unit: one.size or 0},
            exempt=one.ord in exempt,
        )
        for one in view.candidates
    )


def policy_of(view: DecisionView, door: str, settings: Mapping[str, Any]) -> Policy:
    """The recorded policy, with what is set in its place."""
    row, base = view.decision, DOORS[door]
    held = row.extra.get("policy")
    stored: Mapping[str, Any] = held if isinstance(held, Mapping) else {}
    cap = base.cap if row.cap is None else Budget({row.unit: row.cap}, base.cap.misfit)
    if "max_candidates" in settings:
        cap = Budget({"count": settings["max_candidates"]}, base.cap.misfit)
    return base._replace(
        cap=cap,
        show=_show(view, door, base, settings),
        threshold=settings.get("threshold", base.threshold if row.threshold is None else row.threshold),
        mode=row.mode if row.status in ASKED else "off",
        fill=settings.get("fill", stored.get("fill", base.fill)),
        overflow=settings.get("overflow", stored.get("overflow", base.overflow)),
    )


def reply_of(view: DecisionView, planned: Plan, unknown: float | None = None) -> tuple[Reply | None, int]:
    """The answers of then, in the order of a plan, and how many there are none for.

    Args:
        unknown: What stands for an answer that there is not, 0 to 1; None leaves it missing.
    """
    row = view.decision
    if row.status not in ASKED:
        return None, 0
    names = {one.ord: one.candidate_id for one in view.candidates}
    said = {names[one.ord]: one for one in acted(view) if one.ord in names}
    asked = [one.id for one in planned.asked]
    was_asked = {
        one.candidate_id for one in view.candidates if one.within and not _exempt(said, one.candidate_id)
    }
    if set(asked) == was_asked and row.status == "fallback":
        return fallback(row.reason or "internal"), 0
    kinds: list[Kind] = [one.kind for one in said.values() if one.kind is not None]
    kind: Kind = kinds[0] if kinds else "noul"
    answers, missing = [], 0
    for place, name in enumerate(asked, 1):
        answer = _answer(place, said.get(name), kind) if name in was_asked else None
        if name not in was_asked or row.status == "fallback":
            missing += 1
            if unknown is not None:
                value = unknown * HIGHEST[kind]
                answer = Answer(f"q{place}", kind, (unknown,), value if kind == "score" else None)
        if answer is not None:
            answers.append(answer)
    same = set(asked) == was_asked
    status = "partial" if same and row.status == "partial" else "judged"
    return Reply(status, tuple(answers), row.reason if status == "partial" else None), missing


def _again(view: DecisionView, door: str, settings: Mapping[str, Any]) -> Again:
    ordered = candidates_of(view, SIZES[door])
    own = policy_of(view, door, {})
    first = _decided(view, ordered, own)
    before = first if own.mode != "shadow" else _decided(view, ordered, _acting(own))
    low = high = before
    unknown = 0
    if settings:
        policy = _acting(policy_of(view, door, settings))
        planned = plan(ordered, policy)
        reply, unknown = reply_of(view, planned, 0.0)
        low = high = decide(planned, reply, policy)
        if unknown:
            high = decide(planned, reply_of(view, planned, 1.0)[0], policy)
    sizes = {one.id: one.size(SIZES[door]) for one in ordered}
    was_size, low_size, high_size = (sum(sizes[one] for one in made.shown) for made in (before, low, high))
    return Again(
        decision_id=view.decision.decision_id,
        reproduced=_reproduces(first, view),
        was=len(before.shown),
        low=len(low.shown),
        high=len(high.shown),
        was_size=was_size,
        low_size=low_size,
        high_size=high_size,
        unknown=unknown,
        shared=len(before.plan.asked) > 1 and view.decision.status in ("judged", "partial"),
    )


def _decided(view: DecisionView, ordered: Sequence[Candidate], policy: Policy) -> Decision:
    planned = plan(ordered, policy)
    return decide(planned, reply_of(view, planned)[0], policy)


def _acting(policy: Policy) -> Policy:
    return policy._replace(mode="enforce") if policy.mode == "shadow" else policy


def _show(view: DecisionView, door: str, base: Policy, settings: Mapping[str, Any]) -> Budget:
    """The second cap. Of a published depth of the tools door the record holds how many it came to."""
    limits = dict(base.show.limits)
    depth = str(view.decision.extra.get("depth", "budget"))
    if door == "tools" and depth not in ("budget", "judge"):
        limits = {"count": len(view.decision.extra.get("admitted", ()))}
    named = {"max_tools": "count", "max_tokens": "tokens"}
    limits |= {named[name]: value for name, value in settings.items() if name in named}
    return Budget(limits, base.show.misfit)


def _answer(place: int, verdict: VerdictRow | None, kind: Kind) -> Answer | None:
    if verdict is None:
        return None
    if verdict.p:
        return Answer(f"q{place}", verdict.kind or kind, tuple(verdict.p), verdict.expectation)
    head, _, defect = (verdict.reason or "").partition(":")
    return Answer(f"q{place}", kind, defect=defect) if head == "defect" and defect != "missing" else None


def _exempt(said: Mapping[str, VerdictRow], name: str) -> bool:
    return name in said and said[name].verdict == "exempt"


def _reproduces(decision: Decision, view: DecisionView) -> bool:
    """Whether each ruling, and what was withheld, is as it was recorded."""
    names = {one.ord: one.candidate_id for one in view.candidates}
    now = [(one.id, one.verdict, one.would, one.reason, one.p) for one in decision.rulings]
    then = [(names[one.ord], one.verdict, one.would, one.reason, one.p) for one in acted(view)]
    if now != then:
        return False
    places = {name: ord for ord, name in names.items()}
    withheld = [[places[one], reason] for one, reason in decision.withheld]
    return withheld == [list(one) for one in view.decision.extra.get("withheld", ())]
