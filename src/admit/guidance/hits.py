"""From a surface to the hits on it: what may compete, what fires, what is vetoed, outcompeted or held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from admit.text.machine import is_machine, without_machine

from .matching import Matched, SemanticMatcher
from .memory import Context, Memory
from .model import Hit, Index, Outcome, Snippet, Surface, Trigger
from .preconditions import Place, unfit
from .roots import project_folder
from .settings import GateSettings
from .triggers import PROMPT_LANES, Explicit, Fired, Triggers, cut_surface

STARTS = frozenset(("startup", "resume", "clear", "compact", "fork"))


class Found(NamedTuple):
    """The hits of one scan, and where the way of every other snippet ended.

    Attributes:
        hits: By snippet id, in the order of the index.
        ended: By id, of the snippets that are no hits.
        matcher: Its mode.
    """

    hits: Mapping[str, Hit]
    ended: Mapping[str, Outcome]
    matcher: str


def context_of(surface: Surface) -> Context:
    """Whose memory counts: the session's main agent, or a subagent of its own."""
    return surface.session or "", surface.agent or ""


def cleaned(surface: Surface, envelopes: Sequence[str]) -> Surface | None:
    """The surface without a machine's words; None where nothing of it is a person's or an agent's."""
    if surface.lane == "state" or (surface.lane == "file" and surface.paths):
        return surface
    if is_machine(surface.text, envelopes):
        return None
    if surface.lane not in PROMPT_LANES:
        return surface if surface.text.strip() else None
    text = without_machine(surface.text, envelopes)
    return surface._replace(text=text) if text.strip() else None


def find(
    surface: Surface,
    index: Index,
    triggers: Triggers,
    matcher: SemanticMatcher,
    memory: Memory,
    settings: GateSettings,
    now: float,
) -> Found:
    """What a cleaned surface sets off.

    What is turned off, out of scope or fails its preconditions is taken out before anything is matched,
    and competes for nothing.
    """
    if surface.cwd and not surface.project:
        surface = surface._replace(project=project_folder(surface.cwd))
    ended = {one.id: Outcome(one.id, "disabled") for one in index.disabled}
    eligible: list[Snippet] = []
    place = Place(surface.cwd, surface.project)
    for snippet in index.snippets:
        stage = unfit(snippet, surface, place)
        if stage is None:
            eligible.append(snippet)
        else:
            ended[snippet.id] = Outcome(snippet.id, stage)
    explicit = triggers.search(surface)
    matched = _matched(surface, eligible, matcher, settings)
    hits: dict[str, Hit] = {}
    for snippet in eligible:
        outcome = _look(snippet, surface, place, explicit, matched, settings)
        if outcome.hit is None or outcome.stage:
            ended[snippet.id] = outcome
        else:
            hits[snippet.id] = outcome.hit
    for name in _held(hits, surface, memory, settings, now):
        ended[name] = Outcome(name, "held_refire", hit=hits[name], score=hits[name].score)
        del hits[name]
    return Found(hits, ended, matcher.mode)


def nothing(index: Index, stage: str, matcher: str) -> Found:
    """No hit: every snippet ends at one stage, and what is turned off there."""
    ended = {one.id: Outcome(one.id, stage) for one in index.snippets}
    return Found({}, ended | {one.id: Outcome(one.id, "disabled") for one in index.disabled}, matcher)


def _matched(
    surface: Surface, eligible: Sequence[Snippet], matcher: SemanticMatcher, settings: GateSettings
) -> Matched | None:
    """None on a lane without a matcher by meaning."""
    if surface.lane not in PROMPT_LANES:
        return None
    text = cut_surface(surface.text)
    if settings.reply_chars and surface.reply:
        text = f"{text}\n{surface.reply[-settings.reply_chars :]}"
    return matcher.match(text, [one for one in eligible if one.semantic()])


def _look(
    snippet: Snippet, surface: Surface, place: Place, explicit: Explicit, matched: Matched | None,
    settings: GateSettings,
) -> Outcome:  # fmt: skip
    """The hit of one snippet (stage empty), or where its way ended."""
    score = matched.scores.get(snippet.id) if matched is not None else None
    state = _state(snippet, surface, place, settings)
    if state is not None:
        return Outcome(snippet.id, "", hit=Hit(snippet, 0, score, state.text, state), score=score)
    fired = explicit.fired.get(snippet.id)
    vetoed = False
    if fired is not None:
        vetoed = _vetoed(snippet, fired, score, settings)
        if not vetoed:
            hit = Hit(snippet, fired.explicit, score, fired.span, fired.trigger)
            return Outcome(snippet.id, "", hit=hit, score=score)
    if matched is not None and snippet.id in matched.admitted:
        semantic = next(one for one in snippet.triggers if one.kind == "semantic")
        return Outcome(snippet.id, "", hit=Hit(snippet, None, score, "", semantic), score=score)
    if vetoed:
        return Outcome(snippet.id, "vetoed", score=score)
    if matched is not None and snippet.id in matched.outcompeted:
        return Outcome(snippet.id, "outcompeted", score=score)
    if snippet.id in explicit.hidden:
        return Outcome(snippet.id, "masked", score=score)
    return Outcome(snippet.id, "below_threshold" if score is not None else "no_trigger", score=score)


def _vetoed(snippet: Snippet, fired: Fired, score: float | None, settings: GateSettings) -> bool:
    """Whether a pattern's word is not taken, for the meaning is too far away."""
    if fired.trigger.kind != "pattern" or snippet.strict or not snippet.semantic():
        return False
    return score is not None and score < settings.veto_floor


def _state(snippet: Snippet, surface: Surface, place: Place, settings: GateSettings) -> Trigger | None:
    """The state trigger that holds now, if any: at a prompt and at the start of a session."""
    if surface.lane not in ("state", "prompt"):
        return None
    for trigger in snippet.triggers:
        if trigger.kind == "state" and _holds_now(trigger, snippet, surface, place, settings):
            return trigger
    return None


def _holds_now(
    trigger: Trigger, snippet: Snippet, surface: Surface, place: Place, settings: GateSettings
) -> bool:
    if trigger.text == "session-start":
        return surface.lane == "state" and surface.state in STARTS
    if trigger.text == "context-threshold":
        window = surface.window or settings.window_default
        if not surface.tokens_used or not isinstance(trigger.value, (int, float)):
            return False
        return surface.tokens_used * 100 >= trigger.value * window
    return trigger.text == "file-exists" and place.has_file(str(trigger.value or ""), snippet.root)


def _held(
    hits: Mapping[str, Hit], surface: Surface, memory: Memory, settings: GateSettings, now: float
) -> frozenset[str]:
    if surface.lane == "task" or surface.session is None:
        return frozenset()
    refires = {
        name: inf if hit.trigger.text == "session-start" else hit.snippet.refire for name, hit in hits.items()
    }
    window = surface.window or settings.window_default
    return memory.held(context_of(surface), refires, surface.tokens_used, window, settings.refire_floor, now)
