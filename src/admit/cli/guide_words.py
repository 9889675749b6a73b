"""One dry run of the guidance gate for people and programs: a table, an explanation, a JSON object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.cli.frame import counted
from admit.config.check import visible
from admit.text.table import table

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.guidance.gate import GuidanceGate
    from admit.guidance.model import GuidanceResult, Outcome, Searched, Surface

HEAD = ("stage", "rank", "id", "set off by", "at", "specificity", "p", "verdict")
NEAR = frozenset(("masked", "vetoed", "outcompeted", "held_refire"))
"""Stages without a rank that are worth a row: something spoke for these."""

_CELL = 40


class Told(NamedTuple):
    """What a dry run is told from."""

    gate: GuidanceGate
    config: Config
    surface: Surface
    result: GuidanceResult
    host: str | None


def lines(told: Told, *, asked: bool, every: bool) -> list[str]:
    """What would be shown, then what was stopped on the way; with no hit, where was searched."""
    result = told.result
    rows = [one for one in in_order(result.outcomes) if every or one.hit is not None or one.stage in NEAR]
    head = [_head(told), *_gate_words(told, asked)]
    if rows:
        head += ["", table([_row(one) for one in rows], HEAD, right=(1, 5, 6))]
    rest = Counter(one.stage for one in result.outcomes) - Counter(one.stage for one in rows)
    if rest:
        said = ", ".join(f"{count:,} {stage}" for stage, count in sorted(rest.items()))
        head.append(f"Not set off: {said}; --all lists them.")
    if not any(one.hit is not None for one in result.outcomes):
        from admit.cli.guide_searched import searched_lines

        head += ["", *searched_lines(told)]
    elif told.gate.findings:
        head.append(f"{counted(len(told.gate.findings), 'finding')} in the files: admit guide lint")
    return head


def explained(told: Told, name: str) -> list[str]:
    """One snippet: where its way ended, what is known of it, and the smallest change.

    Raises:
        UnknownSnippet: There is none of this id.
    """
    from admit.guidance.why import smallest_change

    change = smallest_change(told.gate, told.surface, told.result, name, told.config.values)
    outcome = next(one for one in told.result.outcomes if one.id == name)
    value = outcome_json(outcome)
    facts = {
        "rank": value["rank"],
        "set off by": value["trigger"],
        "at": value["span"],
        "specificity": value["specificity"],
        "p": value["p"],
        "verdict": value["verdict"],
        "because of": value["reason"],
        "the judge's p": value["p_yes"],
        "blocked above it": value["ancestor"],
        "would be blocked": "yes" if outcome.would_block else None,
    }
    rows = [f"  {label:<16} {visible(str(fact))}" for label, fact in facts.items() if fact is not None]
    return [f"{visible(name)}: {outcome.stage}", *rows, f"To alter it: {visible(change.text, 500)}"]


def as_json(told: Told, why: str | None) -> dict[str, Any]:
    """The JSON object of a dry run; `why` adds the smallest change for one id."""
    result, surface = told.result, told.surface
    report = result.gate
    value: dict[str, Any] = {
        "schema": 1,
        "surface": {
            "lane": surface.lane,
            "text": surface.text,
            "paths": list(surface.paths),
            "cwd": surface.cwd,
            "session": surface.session,
            "host": told.host,
        },
        "matcher": result.matcher,
        "gate": {
            "status": report.status,
            "mode": report.mode,
            "judge": report.judge or None,
            "threshold": report.threshold,
            "judged": report.judged,
            "unjudged": report.unjudged,
            "ms": report.ms,
            "reason": report.reason,
        },
        "outcomes": [outcome_json(one) for one in in_order(result.outcomes)],
        "budget": {"used": result.budget[0], "most": result.budget[1]},
        "searched": [searched_json(one) for one in told.gate.library.guidance.searched],
        "findings": [one._asdict() for one in told.gate.findings],
    }
    if why is not None:
        from admit.guidance.why import smallest_change

        change = smallest_change(told.gate, surface, result, why, told.config.values)
        value["why"] = {"id": why, **change._asdict()}
    return value


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """What is shown first, in its order; then by rank; then what has none, the most probable first."""
    from admit.guidance.model import STAGES

    def key(one: Outcome) -> tuple[bool, bool, int, int, float, str]:
        late = -STAGES.index(one.stage)
        return (one.stage != "shown", one.rank is None, one.rank or 0, late, -(one.score or 0.0), one.id)

    return sorted(outcomes, key=key)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The JSON object of one outcome; what is not known is null."""
    hit, ruling = outcome.hit, outcome.ruling
    return {
        "id": outcome.id,
        "stage": outcome.stage,
        "rank": outcome.rank,
        "trigger": hit.trigger.kind if hit is not None else None,
        "span": (hit.span or None) if hit is not None else None,
        "specificity": hit.explicit if hit is not None else None,
        "p": outcome.score,
        "verdict": (ruling.would or ruling.verdict) if ruling is not None else None,
        "reason": ruling.reason if ruling is not None else None,
        "p_yes": ruling.value if ruling is not None else None,
        "ancestor": ruling.ancestor if ruling is not None else None,
        "would_block": outcome.would_block,
    }


def searched_json(one: Searched) -> dict[str, Any]:
    """The JSON object of one root."""
    return {
        "root": one.root.folder,
        "kind": one.root.kind,
        "source": one.root.source,
        "exists": one.exists,
        "files": one.files,
        "loaded": one.loaded,
        "left_to_host": one.root.left_to or None,
    }


def _head(told: Told) -> str:
    result = told.result
    used, most = result.budget
    shown = f"{len(result.shown):,} of {counted(len(result.outcomes), 'snippet')} would be shown"
    size = f", {used:,} of {most:,} UTF-16 units" if result.shown else ""
    return f"{told.surface.lane} · {shown}{size} · matcher {result.matcher}"


def _gate_words(told: Told, asked: bool) -> list[str]:
    """What the judge had to do with it."""
    report = told.result.gate
    if told.surface.lane not in ("prompt", "queued"):
        return ["No judge is asked about a command, a file or a task."]
    if report.status in ("judged", "partial"):
        acts = "" if report.mode == "enforce" else ", which is only recorded (shadow)"
        past = f", {report.unjudged:,} past the cap" if report.unjudged else ""
        return [f"Judge {report.judge}: {report.judged:,} judged{past}, {report.ms:,.0f} ms{acts}."]
    if report.status == "fallback":
        from admit.cli.reasons import explained as said

        what = said(told.config, report.reason or "internal", report.judge or None, "guidance")
        return [
            f"The judge's word was not used, so all pass: {what.sentence}",
            *([f"    {what.fix}"] if what.fix else []),
        ]
    if told.gate.judge.mode(told.gate.settings) == "off":
        why = told.gate.judge.why_not
        local = "guidance.mode is not set, and the local judge would judge by the matcher's own evidence"
        return [f"No judge gates here: {why or local}."]
    return [] if asked else ["The judge was not asked; --judge asks it."]


def _row(one: Outcome) -> tuple[str, ...]:
    value = outcome_json(one)
    verdict = value["verdict"] or ""
    if value["p_yes"] is not None:
        verdict = f"{verdict} {value['p_yes']:.2f}"
    elif value["reason"] not in (None, "judge", "off", "exempt"):
        verdict = f"{verdict}, {value['reason']}"
    elif value["reason"] == "off":
        verdict = "not asked"
    return (
        f"{one.stage}{' (would block)' if one.would_block else ''}",
        "" if one.rank is None else f"{one.rank:,}",
        visible(one.id, 80),
        value["trigger"] or "",
        visible(value["span"] or "", _CELL),
        "" if value["specificity"] is None else f"{value['specificity']:,}",
        "" if one.score is None else f"{one.score:.3f}",
        verdict,
    )
