"""What would alter an outcome, stage by stage.

Where a setting decides, the value named is the first that alters the outcome; it is found by the same
functions that decided.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import ceil, inf, nextafter
from types import MappingProxyType

from admit.config.keys import KEYS
from admit.core.admission import plan
from admit.core.policy import DOORS, count

from .choose import TOOL_LANES
from .hits import context_of
from .look import Change, Look
from .model import Lane
from .preconditions import Place
from .render import render
from .roots import project_folder

HEARD: Mapping[Lane, frozenset[str]] = MappingProxyType(
    {
        "prompt": frozenset(("pattern", "semantic", "mention", "state")),
        "queued": frozenset(("pattern", "semantic", "mention")),
        "task": frozenset(("pattern", "semantic", "mention")),
        "command": frozenset(("commands", "files", "pattern")),
        "file": frozenset(("files",)),
        "state": frozenset(("state",)),
    }
)
"""The kinds of trigger that a lane can set off."""

_MOST_POSITION = 1 << 40
_MOST_TRIES = 32


def _envelope(look: Look) -> Change:
    if not look.surface.text.strip():
        return Change("there is no text to match")
    opening = look.surface.text.lstrip().split("\n", 1)[0][:40]
    return Change(
        f"the text opens like a notice of the host ({opening!r}); without that opening it is matched"
    )


def _disabled(look: Look) -> Change:
    return Change(
        f"take what matches {look.outcome.id} out of guidance.disable", "guidance.disable", look.outcome.id
    )


def _out_of_scope(look: Look) -> Change:
    scope = ", ".join(sorted({*look.snippet.scope, look.surface.agent_kind}))
    return Change(f"write scope: {scope} in {look.snippet.path}")


def _precondition(look: Look) -> Change:
    when, cwd = look.snippet.when, look.surface.cwd
    if when is not None and when.project is not None and not Place(cwd).is_in(when.project):
        return Change(f"it holds in {when.project} alone (when.project), and this is {cwd or 'no folder'}")
    glob = when.file_exists if when is not None else ""
    below = project_folder(cwd) if cwd else "the folder"
    return Change(f"a file that matches {glob} under {below} (when.file_exists)")


def _no_trigger(look: Look) -> Change:
    lane = look.surface.lane
    if lane not in look.settings.lanes:
        return Change(f"turn the lane on: guidance.lanes.{lane} = true", f"guidance.lanes.{lane}", True)
    heard = [one for one in look.snippet.triggers if one.kind in HEARD[lane]]
    if not heard:
        kinds = ", ".join(dict.fromkeys(one.kind for one in look.snippet.triggers)) or "nothing"
        return Change(f"it listens to {kinds}, which a {lane} does not set off")
    if all(one.kind == "semantic" for one in heard):
        return Change(
            "it is found by meaning alone, and no matcher by meaning is at work: admit doctor says why"
        )
    words = [one for one in heard if one.kind != "semantic"]
    what = " or ".join(f"{one.kind} {one.text}" for one in words[:3])
    return Change(f"a {lane} that its trigger matches: {what}")


def _masked(look: Look) -> Change:
    return Change("write the word outside code, links and quoted lines; or make it pattern_strict")


def _vetoed(look: Look) -> Change:
    p, key = look.outcome.score or 0.0, "guidance.matcher.veto_floor"
    return Change(
        f"its pattern matches, and its meaning is too far away: p {p:.6f} is under {key} = "
        f"{look.values[key]:g}; a floor of {p:.6f} lets it fire, and so does pattern_strict", key, p,
    )  # fmt: skip


def _below_threshold(look: Look) -> Change:
    p, key = look.outcome.score or 0.0, "guidance.matcher.admit"
    return Change(
        f"p {p:.6f} is under {key} = {look.values[key]:g}; a bar of {p:.6f} proposes it, as far as there "
        "are seats, and so does a prompt that its pattern matches", key, p,
    )  # fmt: skip


def _outcompeted(look: Look) -> Change:
    key = "guidance.matcher.per_chunk"
    return Change(
        f"others are ahead in every sentence: give it a sentence of its own, or raise {key} above "
        f"{look.values[key]} (at most guidance.matcher.max_scored in all)",
        key, look.values[key] + 1,
    )  # fmt: skip


def _held(look: Look) -> Change:
    hit, surface = look.outcome.hit, look.surface
    assert hit is not None  # only a hit is held
    if hit.trigger.text == "session-start" and hit.trigger.kind == "state":
        return Change("it shows once a session, until the context is cleared or compacted")
    window = surface.window or look.settings.window_default
    refires = {look.outcome.id: hit.snippet.refire}

    def is_held(position: int) -> bool:
        memory, floor = look.gate.memory, look.settings.refire_floor
        return bool(memory.held(context_of(surface), refires, position, window, floor, -inf))

    if is_held(_MOST_POSITION):
        return Change("another hook shows it right now")
    start = surface.tokens_used or 0
    again = _least(start + 1, _MOST_POSITION, lambda position: not is_held(position)) or _MOST_POSITION
    left = f", {again - start:,} from here" if start else ""
    when = f"from token {again:,} of the context on{left}"
    return Change(f"it was shown, and shows again {when}; refire: 0 never holds it")


def _blocked(look: Look) -> Change:
    ruling = look.outcome.ruling
    p = ruling.value if ruling is not None else None
    key = _profile_key(look, "threshold")
    least = p if p is not None else 0.0
    return Change(f"the judge said {least:.4f}; a threshold of {least:.4f} ({key}) admits it", key, least)


def _ancestor(look: Look) -> Change:
    above = look.outcome.ruling.ancestor if look.outcome.ruling is not None else ""
    seats, key = _seats(look), _profile_key(look, "max_candidates")
    return Change(
        f"the judge blocked {above} above it; with {key} = {seats} it is judged by itself", key, seats
    )


def _overflow(look: Look) -> Change:
    seats, key = _seats(look), _profile_key(look, "max_candidates")
    return Change(
        f"it is past the cap; {key} = {seats} has it judged, guidance.gate.overflow = pass shows it",
        "guidance.gate.overflow", "pass",
    )  # fmt: skip


def _parent_withheld(look: Look) -> Change:
    by_id = {one.id: one for one in look.result.outcomes}
    name = look.outcome.id
    while "/" in name:
        name = name.rpartition("/")[0]
        above = by_id.get(name)
        if above is not None and above.stage in ("turn_cap", "over_budget"):
            snippet = above.hit.snippet if above.hit is not None else look.snippet
            change = BY_STAGE[above.stage](look._replace(outcome=above, snippet=snippet))
            return change._replace(text=f"its parent {name} is left out, and it goes with it: {change.text}")
    return Change("its parent is left out, and it goes with it")


def _turn_cap(look: Look) -> Change:
    settings = look.settings
    caps = [("max_per_turn", settings.max_per_turn, "in one turn")]
    if look.surface.lane in TOOL_LANES:
        caps.insert(0, ("max_per_tool_call", settings.max_per_tool_call, "at one call"))
    for name, now, where in caps:
        key = f"guidance.{name}"
        n = _least(now + 1, _most(key), lambda n, name=name: look.stage_with(**{name: n}) != "turn_cap")
        if n is not None:
            return Change(f"{now} show {where}; {key} = {n} lets it in", key, n)
    if len(caps) > 1:
        keys = "guidance.max_per_turn and max_per_tool_call"
        text = f"it is past what shows at one call and in one turn; raise {keys}"
    else:
        text = (
            f"too many are ahead of it for any guidance.max_per_turn up to {_most('guidance.max_per_turn'):,}"
        )
    return Change(text)


def _over_budget(look: Look) -> Change:
    key = "hosts.inject_max_chars"
    unit = render(look.snippet, look.settings.budget)
    if unit is None:
        return Change(f"{look.snippet.path} is empty, or cannot be read: give it a body")
    used = look.result.budget[0]
    for budget in islice(_budgets(look, unit.units), _MOST_TRIES):
        if budget > _most(key):
            break
        if look.stage_with(budget=budget) == "shown":
            return Change(
                f"it takes {unit.units:,} UTF-16 units and {used:,} of {look.settings.budget:,} are taken; "
                f"{key} = {budget} has room for it", key, budget,
            )  # fmt: skip
    return Change(f"shorten it: it takes {unit.units:,} UTF-16 units and {used:,} are taken")


def _budgets(look: Look, units: int) -> Iterator[int]:
    """Sums at which it may fit: beside what is shown, then beside ever more of the rest."""
    room = look.result.budget[0] + units
    hits = [one for one in look.result.outcomes if one.stage in ("over_budget", "parent_withheld")]
    others = [one for one in hits if one.id != look.outcome.id and one.hit is not None]
    yield room
    for one in sorted(others, key=lambda one: one.rank or 0):
        assert one.hit is not None
        other = render(one.hit.snippet, look.settings.budget)
        room += other.units if other is not None else 0
        yield room


def _undeliverable(look: Look) -> Change:
    return Change("the host hands nothing on at this event; a prompt or another tool call can show it")


def _shown(look: Look) -> Change:
    outcome, hit = look.outcome, look.outcome.hit
    assert hit is not None  # what is shown was set off
    ruling, matcher = outcome.ruling, "guidance.matcher.admit"
    if (
        ruling is not None
        and ruling.reason == "judge"
        and ruling.value is not None
        and ruling.verdict == "admitted"
    ):
        key, least = _profile_key(look, "threshold"), nextafter(ruling.value, inf)
        return Change(
            f"the judge said {ruling.value:.4f}; a threshold above that ({key}) blocks it", key, least
        )
    if hit.trigger.kind == "semantic" and hit.score is not None and hit.score < 1:
        least = ceil(hit.score * 1e6 + 1) / 1e6
        return Change(f"p is {hit.score:.6f}; {matcher} = {least:.6f} leaves it out", matcher, least)
    cause = f"{hit.trigger.kind} {hit.trigger.text}"
    said = f"{cause} matches {hit.span!r}" if hit.span else f"{cause} holds"
    return Change(f"{said}; guidance.disable = [{outcome.id!r}] turns it off", "guidance.disable", outcome.id)


def _least(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """The least number for which it holds, as it does for all above; None where it holds for none."""
    at = bisect_left(range(low, high + 1), True, key=holds)
    return low + at if low + at <= high else None


def _most(key: str) -> int:
    """The most that a setting may be."""
    return int(KEYS[key].high or _MOST_POSITION)


def _seats(look: Look) -> int:
    """The least cap under which it is judged."""
    planned, policy = look.decision.plan, DOORS["guidance"]._replace(fill=look.settings.fill)
    offered = len(planned.asked) + len(planned.overflow)
    for seats in range(1, offered + 1):
        asked = plan(planned.ordered, policy._replace(cap=count(seats))).asked
        if any(one.id == look.outcome.id for one in asked):
            return seats
    return offered


def _profile_key(look: Look, name: str) -> str:
    return f"judge.profiles.{look.values['judge.profile']}.guidance.{name}"


BY_STAGE: Mapping[str, Callable[[Look], Change]] = MappingProxyType(
    {
        "envelope": _envelope,
        "disabled": _disabled,
        "out_of_scope": _out_of_scope,
        "precondition": _precondition,
        "no_trigger": _no_trigger,
        "masked": _masked,
        "vetoed": _vetoed,
        "below_threshold": _below_threshold,
        "outcompeted": _outcompeted,
        "held_refire": _held,
        "blocked": _blocked,
        "ancestor": _ancestor,
        "overflow_blocked": _overflow,
        "parent_withheld": _parent_withheld,
        "turn_cap": _turn_cap,
        "over_budget": _over_budget,
        "undeliverable": _undeliverable,
        "shown": _shown,
    }
)
