"""An audit as people and programs read it: the summary, one example in full, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from admit.ledger.moments import utc
from admit.text.table import table
from admit.text.tokens import COUNTER

from .audit_model import Audit, Case, Example, ToolRow
from .layout import one_line, percent, points, share, visible
from .stats import Estimate, wilson

COMMAND_CHARS = 60
TASK_CHARS = 300
MARK, NO_MARK = "> ", "  "
HEAD = (
    "tool",
    "outputs",
    "large",
    "cut by host",
    "fetched again",
    "Admit would cut",
    "characters shown",
    "Admit would show",
)
WAYS = {"recall": "recalled", "stored": "from the stored file", "again": "with another range or filter"}
EXAMPLE_HEAD = ("N", "tool", "characters", "would show", "used next", "kept", "in a blind excerpt", "what")


def render(audit: Audit) -> str:
    """The summary, as text of aligned tables."""
    return "\n\n".join(filter(None, ("\n".join(part) for part in _parts(audit))))


def render_example(audit: Audit, number: int) -> str:
    """One example in full, by its number from 1; lines that hold what was used next are marked with ``>``."""
    example = audit.examples[number - 1]
    case = example.case
    lines = [
        f"Example {number} of {len(audit.examples)}, a what-if: the agent did not see Admit's text.",
        f"{case.host} session {visible(case.session)}, call {case.order}: {visible(case.tool)} "
        f"{one_line(case.command, 200)}",
        f"Task: {one_line(example.task, TASK_CHARS) or 'unknown'}",
    ]
    for used, kept, blind in zip(case.used, case.kept, case.blind, strict=True):
        lines.append(
            f"Used {used.calls_later} {'call' if used.calls_later == 1 else 'calls'} later by "
            f"{visible(used.tool)}: {one_line(used.text, 120)} "
            f"({'kept' if kept else 'NOT kept'}; {'in' if blind else 'not in'} a blind excerpt of this size)"
        )
    if not case.used:
        lines.append("Used next: nothing that stood here alone.")
    if case.returned:
        held = {"saved": "what it came for is kept", "still": "what it came for is NOT kept"}
        lines.append(
            f"Fetched again, {WAYS[case.returned]}; "
            f"{held.get(case.held or '', 'what it came for is not known')}."
        )
    cut = f", cut by the host ({case.cut_by_host})" if case.cut_by_host else ""
    lines.append(f"--- Before: {case.shown_chars:,} characters that the model saw{cut} ---")
    lines.extend(_marked(example.before, case))
    lines.append(f"--- What Admit would show: {case.would_chars:,} characters ({case.how}) ---")
    lines.extend(_marked(example.after, case))
    return "\n".join(lines)


def as_json(audit: Audit) -> dict[str, Any]:
    """Everything but the texts of the examples."""
    use = audit.next_use
    return {
        "schema": 1,
        "what_if": True,
        "since_ms": audit.since_ms,
        "last_ms": audit.last_ms,
        "gate_chars": audit.gate_chars,
        "sessions": dict(audit.sessions),
        "requests": audit.requests,
        "no_result": audit.no_result,
        "through_admit": audit.through_admit,
        "repeated": audit.repeated,
        "provider_tokens": audit.usage._asdict(),
        "token_counter": COUNTER,
        "totals": _total(audit.tools)._asdict(),
        "tools": [row._asdict() for row in audit.tools],
        "returned": _returned(audit.cases),
        "next_use": {
            name: value._asdict() if isinstance(value, Estimate) else value
            for name, value in use._asdict().items()
        },
        "cases": [_case(case) for case in audit.cases],
        "examples": [
            {"n": number, **_case(example.case)} for number, example in enumerate(audit.examples, 1)
        ],
        "odd": dict(audit.odd),
        "skipped": dict(audit.skipped),
        "older": audit.older,
    }


def example_json(audit: Audit, number: int) -> dict[str, Any]:
    """One example with its texts."""
    example = audit.examples[number - 1]
    texts = {"task": example.task, "before": example.before, "after": example.after}
    return {"schema": 1, "what_if": True, "n": number, **_case(example.case), **texts}


def _parts(audit: Audit) -> Iterator[Sequence[str]]:
    yield list(_opening(audit))
    if audit.cases:
        rows = [row for row in audit.tools if row.large]
        yield [table([_row(row) for row in (*rows, _total(audit.tools))], HEAD, right=range(1, len(HEAD)))]
        yield list(_findings(audit))
        yield _used_next(audit)
    yield list(_left_out(audit))
    if audit.examples:
        cells = [_example_row(number, one) for number, one in enumerate(audit.examples, 1)]
        yield [
            "The clearest examples; `admit audit show N` prints one in full:",
            table(cells, EXAMPLE_HEAD, right=(0, 2, 3, 4, 5, 6)),
        ]


def _opening(audit: Audit) -> Iterator[str]:
    yield "What if Admit had stood there? Nothing was changed or recorded, and no judge was asked."
    if not audit.sessions:
        yield "No sessions were found."
        return
    hosts = ", ".join(f"{n:,} {host}" for host, n in audit.sessions.items())
    yield f"Sessions: {hosts}, with {_counted(audit.requests, 'request')}{_window(audit)}."
    total = _total(audit.tools)
    if not audit.cases:
        yield f"None of {_counted(total.outputs, 'tool output')} is over {audit.gate_chars:,} characters."
        return
    yield (
        f"{len(audit.cases):,} of {_counted(total.outputs, 'tool output')} "
        f"{'is' if len(audit.cases) == 1 else 'are'} over {audit.gate_chars:,} characters: "
        f"{share(len(audit.cases), total.outputs)} of the outputs, "
        f"{share(total.large_chars, total.chars)} of the text that the model saw."
    )


def _findings(audit: Audit) -> Iterator[str]:
    cases = audit.cases
    cut = [case for case in cases if case.cut_by_host]
    if cut:
        kinds = Counter(case.cut_by_host for case in cut)
        words = [f"{n} to a preview" for n in [kinds["preview"]] if n]
        words += [f"{n} in the middle" for n in [kinds["middle"]] if n]
        found = sum(case.complete for case in cut)
        yield f"Cut blindly by the host: {len(cut):,} ({', '.join(words)}); of {found} the whole was found."
    back = [case for case in cases if case.returned]
    rate = percent(wilson(len(back), len(cases)))
    yield f"Fetched again: {len(back):,} of {len(cases):,}, {rate}{_ways(back)}."
    ours = [case for case in back if case.changed]
    if ours:
        held = Counter(case.held for case in ours)
        yield (
            f"Admit would cut {len(ours)} of these. Its text holds what was fetched again for "
            f"{held['saved']}, does not for {held['still']}; for {held['unknown']} that cannot be said."
        )
    changed = [case for case in cases if case.changed]
    yield (
        f"Tokens ({COUNTER}): the {_counted(len(changed), 'output')} that Admit would cut took "
        f"~{sum(case.shown_tokens for case in changed):,}, and would take "
        f"~{sum(case.would_tokens for case in changed):,}."
    )
    left = Counter(case.reason for case in cases if not case.changed)
    if left:
        words = ", ".join(f"{n} {reason.replace('_', ' ')}" for reason, n in sorted(left.items()))
        yield f"Shown whole: {left.total()} ({words})."
    wrapped = sum(case.wrap_only and case.changed for case in cases)
    if wrapped:
        yield f"Failed commands: {wrapped} of those to cut; no hook reaches them, only `admit run` does."
    rollouts = sum(case.host == "codex" and case.changed for case in cases)
    if rollouts:
        yield f"Codex: {rollouts} of those to cut; there only `admit run` around the command reaches them."


def _used_next(audit: Audit) -> Sequence[str]:
    use = audit.next_use
    if not use.outputs:
        return ["Of no output that Admit would cut was anything used next that stood there alone."]
    rows = [
        ("kept by Admit", percent(use.kept), _of(use.all_kept)),
        ("blind excerpt of the same size", percent(use.blind), _of(use.all_blind)),
        ("difference, paired", points(use.difference), ""),
    ]
    return [
        f"Files, lines and identifiers that the next three calls used, of {_counted(use.outputs, 'output')} "
        f"in {_counted(use.sessions, 'session')} (95 % intervals):",
        table(rows, ("", "of the strings", "outputs with all of them")),
    ]


def _left_out(audit: Audit) -> Iterator[str]:
    if audit.through_admit:
        yield f"Already through Admit, not judged again: {_counted(audit.through_admit, 'output')}."
    if audit.no_result:
        yield f"Calls without a result: {audit.no_result:,}."
    if audit.repeated:
        yield f"Standing in an earlier file too, counted there: {_counted(audit.repeated, 'output')}."
    if audit.older:
        yield f"Older than the window: {_counted(audit.older, 'session')}; --days N looks further back."
    if audit.skipped:
        yield f"Files left out: {_counts(audit.skipped)}."
    if audit.odd:
        yield f"Lines and types left out or not known: {_counts(audit.odd)}."


def _ways(back: Sequence[Case]) -> str:
    ways = Counter(case.returned for case in back)
    words = ", ".join(f"{ways[way]} {text}" for way, text in WAYS.items() if ways[way])
    return f": {words}" if words else ""


def _example_row(number: int, example: Example) -> tuple[str, ...]:
    case = example.case
    used = len(case.used)
    return (
        f"{number}",
        one_line(case.tool, 24),
        f"{case.shown_chars:,}",
        f"{case.would_chars:,}",
        f"{used}" if used else "-",
        f"{sum(case.kept)}" if used else "-",
        f"{sum(case.blind)}" if used else "-",
        one_line(case.command, COMMAND_CHARS),
    )


def _row(row: ToolRow) -> tuple[str, ...]:
    counts = (
        row.outputs,
        row.large,
        row.cut_by_host,
        row.returned,
        row.changed,
        row.large_chars,
        row.would_chars,
    )
    return (one_line(row.tool, 40), *(f"{count:,}" for count in counts))


def _total(rows: Sequence[ToolRow]) -> ToolRow:
    return (
        ToolRow("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:]))
        if rows
        else ToolRow("all")
    )


def _marked(text: str, case: Case) -> Iterator[str]:
    for line in text.split("\n"):
        held = any(one.text in line for one in case.used)
        yield f"{MARK if held else NO_MARK}{visible(line.removesuffix(chr(13)))}"


def _case(case: Case) -> dict[str, Any]:
    used = [
        one._asdict()
        | {"kept": case.kept[place] if case.kept else None}
        | {"blind": case.blind[place] if case.blind else None}
        for place, one in enumerate(case.used)
    ]
    return {name: value for name, value in case._asdict().items() if name not in ("kept", "blind")} | {
        "used": used
    }


def _returned(cases: Sequence[Case]) -> dict[str, Any]:
    back = [case for case in cases if case.returned]
    rate = wilson(len(back), len(cases))
    ways = Counter(case.returned for case in back)
    held = Counter(case.held for case in back if case.changed)
    return {
        "rate": rate._asdict(),
        **{way: ways[way] for way in ("recall", "stored", "again")},  # type: ignore[index]
        "would_cut": {name: held[name] for name in ("saved", "still", "unknown")},  # type: ignore[index]
    }


def _window(audit: Audit) -> str:
    if not audit.last_ms:
        return ""
    first, last = (utc(ms) for ms in (audit.since_ms, audit.last_ms))
    return f", {first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _of(estimate: Estimate) -> str:
    return f"{round((estimate.value or 0) * estimate.n):,} of {estimate.n:,} = {percent(estimate)}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {visible(name)}" for name, n in sorted(counts.items()))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
