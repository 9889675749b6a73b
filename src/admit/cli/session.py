"""`admit session`: what the relevance gate did in a session, and what another cap would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, counted, json_option, print_json
from admit.config.check import visible
from admit.errors import UsageError
from admit.ledger.moments import local
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.port import DecisionView
    from admit.report.session_replay import Replayed
    from admit.report.session_report import GateSummary

EXAMPLES = """\b
Examples:
  admit session dump
  admit session replay --max-candidates 12
  admit session replay 0f3c --overflow block --json"""

MOST_IDS = 10
CHANGED = ("", "id", "was", "", "now", "")


@click.group("session", epilog=EXAMPLES)
def command() -> None:
    """What the relevance gate did in a session: sum it up, or replay it under another cap.

    Both read the record alone and ask nobody. A single decision: admit why ID.
    """


@command.command(
    "dump", short_help="What the gate did, summed up.", epilog="\b\nExample:\n  admit session dump --json"
)
@click.argument("name", metavar="[ID]", required=False)
@json_option
def dump(name: str | None, as_json: bool) -> int:
    """Sum up the relevance gate of session ID, or of the session that was decided on last.

    Judged are verdicts received. Unjudged are candidates past the cap, those blocked below an ancestor among
    them. A fallback is a request without a usable answer: everything passed as the matcher decided.
    """
    from admit.report.session_report import summary

    session, views = _scans(name)
    found = summary(views)
    if as_json:
        print_json({"schema": 1, "session": session, "scans": len(views), "gate": _plain(found._asdict())})
        return DONE
    click.echo(f"Session {visible(session)}: {counted(len(views), 'scan')} of the guidance door.")
    for line in _summary_lines(found):
        click.echo(line)
    return DONE


@command.command(
    "replay",
    short_help="Decide it again, under another cap.",
    epilog="\b\nExamples:\n  admit session replay --max-candidates 4\n"
    "  admit session replay --fill scored_first --overflow block",
)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--max-candidates", type=click.IntRange(min=1), metavar="N", help="The most that are judged.")
@click.option("--fill", type=click.Choice(("admission", "scored_first")), help="Who takes the seats first.")
@click.option("--overflow", type=click.Choice(("pass", "block")), help="What becomes of those past the cap.")
@json_option
def replay(name: str | None, max_candidates: int | None, fill: Any, overflow: Any, as_json: bool) -> int:
    """Decide each recorded scan again, from its order and the judge's answers of then.

    Without options it decides as it did. A candidate that was never judged and would be now is unknown.
    """
    from admit.report.session_replay import Asked, totals
    from admit.report.session_replay import replay as decide_again

    session, views = _scans(name)
    wanted = Asked(max_candidates, fill, overflow)
    scans = [decide_again(view, wanted) for view in reversed(views)]  # as they came
    if as_json:
        print_json(
            {
                "schema": 1,
                "session": session,
                "policy": wanted._asdict(),
                "totals": totals(scans),
                "scans": [
                    scan._asdict() | {"candidates": [one._asdict() for one in scan.candidates]}
                    for scan in scans
                ],
            }
        )
        return DONE
    for line in _replay_lines(session, scans, totals(scans)):
        click.echo(line)
    return DONE


def _scans(name: str | None) -> tuple[str, list[DecisionView]]:
    """A session and its guidance decisions, the newest first.

    Raises:
        UsageError: There are none.
    """
    from admit.config.layers import load
    from admit.ledger import open_ledger

    ledger = open_ledger(load().values, readonly=True)
    if name is None:
        newest = (view.decision.session for view in ledger.query(door="guidance", parts=False))
        name = next((one for one in newest if one), None)
        if name is None:
            raise UsageError(
                "no session is recorded that the guidance door decided in; admit init connects a host"
            )
    views = list(ledger.query(door="guidance", session=name)) if name.isprintable() else []
    if not views:
        raise UsageError(
            f"nothing is recorded of a session {visible(name)} at the guidance door; "
            "admit ledger show --door guidance lists what is"
        )
    return name, views


def _summary_lines(found: GateSummary) -> list[str]:
    """The three side by side, then ids and times."""
    if not found.requests:
        return ["No judge was asked.", *([f"{found.exempt:,} exempt."] if found.exempt else [])]
    heads = ("requests", "judged", "passed", "blocked", "would block", "unjudged", "defects", "fallbacks")
    cells = (
        found.requests, found.judged, found.passed, found.blocked, found.would_block, found.unjudged,
        found.defects, sum(found.fallbacks.values()),
    )  # fmt: skip
    lines = [table([[f"{one:,}" for one in cells]], heads, right=range(len(heads)))]
    if found.capped_requests:
        under = (
            f", {found.ancestor_blocked:,} of them blocked below an ancestor"
            if found.ancestor_blocked
            else ""
        )
        lines.append(
            f"{counted(found.capped_requests, 'request')} over the cap: {found.unjudged:,} not judged{under}."
        )
    if found.fallbacks:
        lines.append(f"Fallbacks, where everything passed: {_ids(found.fallbacks)}.")
    if found.blocked_ids:
        lines.append(f"Blocked: {_ids(found.blocked_ids)}.")
    if found.unjudged_ids:
        lines.append(f"Not judged: {_ids(found.unjudged_ids)}.")
    if found.exempt:
        lines.append(f"Exempt, never judged: {found.exempt:,}.")
    if found.gate_ms_p50 is not None and found.gate_ms_p95 is not None:
        lines.append(
            f"The judge took {found.gate_ms_p50:,.0f} ms in the middle, {found.gate_ms_p95:,.0f} ms at p95."
        )
    return lines


def _replay_lines(
    session: str, scans: Sequence[Replayed], sums: Mapping[str, Mapping[str, int]]
) -> list[str]:
    lines = [f"Session {visible(session)}: {counted(len(scans), 'scan')}, decided again."]
    words = list(sums["was"])
    rows = [(when, *(f"{counts[word]:,}" for word in words)) for when, counts in sums.items()]
    lines.append(table(rows, ("", *words), right=range(1, len(words) + 1)))
    for scan in scans:
        moved = [one for one in scan.candidates if (one.was, one.was_reason) != (one.now, one.now_reason)]
        if not moved:
            continue
        past = f", {scan.past:,} past the cap" if scan.past else ""
        head = f"{local(scan.ts_ms):%H:%M:%S} {scan.lane} {scan.scan_id}: {scan.asked:,} judged{past}"
        cells = [("", visible(one.id), one.was, one.was_reason, one.now, one.now_reason) for one in moved]
        lines += ["", head, table(cells, CHANGED)]
    if sums["was"] == sums["now"] and len(lines) == 2:
        lines.append("Nothing would be different.")
    if sums["now"].get("unknown"):
        lines.append("Unknown: the record holds no verdict on it.")
    return lines


def _ids(counts: Mapping[str, int]) -> str:
    named = [f"{visible(name)} {n:,}" for name, n in list(counts.items())[:MOST_IDS]]
    rest = len(counts) - len(named)
    return ", ".join([*named, *([f"{rest:,} more"] if rest else [])])


def _plain(value: Any) -> Any:
    return {name: _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else value
