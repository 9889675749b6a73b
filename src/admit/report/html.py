"""The record as one page: no outside resource, no script, readable on a phone, in light and dark.

All text is escaped, and characters that do not show themselves are written as their escapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from admit.ledger.moments import utc
from admit.text.tokens import COUNTER

from .layout import percent, share
from .ledger_report import MOST_POINTS, LedgerReport
from .outputs_report import OutputsRow
from .page import cards, document, table, text, wide
from .stats import wilson
from .svg import Column, Dot, columns, scatter

KINDS = {
    "filtered": "filtered: a judge chose the passages",
    "excerpt": "excerpt: chosen here, without a judge",
    "other": "other: shown whole, a duplicate, or only computed in shadow mode",
}


def page(report: LedgerReport) -> str:
    """The page as text, ending in a newline; the same report gives the same bytes."""
    return document("Admit report", _body(report))


def _body(report: LedgerReport) -> Iterator[str]:
    yield "<h1>Admit report: large tool outputs</h1>"
    if not report.decisions:
        yield "<p>The outputs door has decided nothing in this time.</p>"
        yield from _faults(report)
        yield from _doors(report)
        return
    yield (
        f'<p class="soft">{report.decisions:,} decision{_s(report.decisions)}, '
        f"{_day(report.first_ms)} to {_day(report.last_ms)} (UTC). Sizes are characters.</p>"
    )
    yield from _cards(report)
    yield from _faults(report)
    yield from _over_time(report)
    yield from _sizes(report)
    yield from _kinds(report)
    yield from _reasons(report)
    yield from _saved(report)
    yield from _largest(report)
    yield from _doors(report)


def _cards(report: LedgerReport) -> Iterator[str]:
    cut = [row for row in report.rows if row.name != "other"]
    outputs, recalled = sum(row.outputs for row in cut), sum(row.recalled for row in cut)
    kept, original = sum(row.kept_chars for row in cut), sum(row.original_chars for row in cut)
    figures = [
        (f"{outputs:,}", f"output{_s(outputs)} cut"),
        (share(kept, original), f"kept of the {_short(original)} characters in them"),
        (f"{recalled:,} of {outputs:,}", f"fetched again: {percent(wilson(recalled, outputs))}"),
    ]
    if report.known:
        figures.append((_short(report.saved_host), "characters saved against what the host would have shown"))
    if report.unknown:
        figures.append((_short(report.saved_raw), "characters saved against the raw output"))
    yield cards(figures)


def _over_time(report: LedgerReport) -> Iterator[str]:
    yield "<h2>Decisions over time</h2>"
    yield _key(("filtered", "excerpt", "other"))
    data = [
        Column(bar.start, tuple((name, getattr(bar, name)) for name in ("filtered", "excerpt", "other")))
        for bar in report.bars
    ]
    yield wide(columns(data, title=f"Decisions in each {_stretch(report)}", unit="decisions"))
    yield f'<p class="soft">One column is {_stretch(report)}.</p>'


def _sizes(report: LedgerReport) -> Iterator[str]:
    yield "<h2>Before and after</h2>"
    newest = f" The newest {MOST_POINTS:,} are drawn." if report.decisions > MOST_POINTS else ""
    yield (
        "<p>Each dot is one output: to the right its own characters, upwards what was shown of it. "
        f"On the dashed line everything was shown.{newest}</p>"
    )
    dots = [Dot(one.original, one.shown, one.name) for one in report.points]
    yield wide(scatter(dots, title="Characters before and after", x="characters", y="shown"))


def _kinds(report: LedgerReport) -> Iterator[str]:
    yield "<h2>Filtered beside excerpt</h2>"
    head = ("", "outputs", "went back", "recalls", "kept", "of original", "requests", "judge ms", "door ms")
    yield table(head, (_kind_cells(row) for row in report.rows))
    yield f'<p class="soft">{" · ".join(text(words) for words in KINDS.values())}.</p>'


def _kind_cells(row: OutputsRow) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.outputs:,}",
        f"{row.recalled:,} = {percent(wilson(row.recalled, row.outputs))}" if row.outputs else "-",
        f"{row.recalls:,}",
        f"{row.kept_chars:,}",
        share(row.kept_chars, row.original_chars),
        "unknown" if row.requests is None else f"{row.requests:,}",
        "unknown" if row.judge_ms is None else f"{row.judge_ms:,.0f}",
        "unknown" if row.total_ms is None else f"{row.total_ms:,.0f}",
    )


def _reasons(report: LedgerReport) -> Iterator[str]:
    yield "<h2>When a judge's word was not used</h2>"
    if report.fallbacks:
        yield _bars(report.fallbacks, "reason", "outputs that got the excerpt")
    else:
        yield "<p>No fallback in this time.</p>"
    if report.whole:
        yield "<h2>Why outputs were shown whole</h2>"
        yield _bars(report.whole, "reason", "decisions")


def _saved(report: LedgerReport) -> Iterator[str]:
    yield "<h2>Saved characters</h2>"
    parts = []
    if report.known:
        parts.append(
            f"{report.saved_host:,} against what the host would have shown ({report.known:,} decision"
            f"{_s(report.known)} where that is known)"
        )
    if report.unknown:
        parts.append(
            f"{report.saved_raw:,} against the raw output ({report.unknown:,} decision{_s(report.unknown)} "
            "where it is not known what the host would have shown)"
        )
    total = report.saved_host + report.saved_raw - report.restored
    yield (
        f"<p>{text('; '.join(parts) or 'Nothing')}. Recalls brought {report.restored:,} back: "
        f"{total:,} in all, about {round(total / 4):,} tokens ({COUNTER}, four characters each).</p>"
    )
    data = [Column(bar.start, (("saved", bar.saved),)) for bar in report.bars]
    yield wide(columns(data, title=f"Characters saved in each {_stretch(report)}", unit="characters saved"))


def _largest(report: LedgerReport) -> Iterator[str]:
    yield "<h2>The largest outputs</h2>"
    head = ("output", "when (UTC)", "tool", "characters", "shown", "how", "recalls")
    rows = (
        (
            one.output_id,
            f"{utc(one.ts_ms):%Y-%m-%d %H:%M}",
            one.tool,
            f"{one.original:,}",
            f"{one.shown:,}",
            f"{one.how} ({one.reason})" if one.reason else one.how,
            f"{one.recalls:,}",
        )
        for one in report.largest
    )
    yield table(head, rows, numbers=(3, 4, 6), code=(0,))
    ways = "<code>admit show ID</code> prints what was seen of one, <code>admit why ID</code> why"
    yield f'<p class="soft">{ways}.</p>'


def _faults(report: LedgerReport) -> Iterator[str]:
    """What is missing from these figures."""
    lines = []
    if report.dropped:
        causes = ", ".join(f"{n:,} {cause}" for cause, n in report.dropped.items())
        lines.append(f"Not recorded: {sum(report.dropped.values()):,} records ({causes}).")
    gaps = sum(report.counters.gaps.values())
    if gaps:
        lines.append(f"Lost: {gaps:,} record{_s(gaps)} of processes that were killed before they wrote.")
    if report.counters.spool_dropped:
        lines.append(f"Left the full spool unread: {report.counters.spool_dropped:,} records.")
    if report.counters.bad:
        lines.append(f"Records that could not be read: {report.counters.bad:,}.")
    lines.extend(report.counters.findings)
    yield "<h2>What is missing</h2>"
    if not lines:
        yield "<p>Nothing: no record was dropped or lost.</p>"
        return
    yield f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"
    yield '<p class="soft"><code>admit doctor</code> says why, and what to do.</p>'


def _doors(report: LedgerReport) -> Iterator[str]:
    if [door for door in report.doors if door.door != "outputs"]:
        yield "<h2>All doors</h2>"
        rows = (
            (one.door, f"{one.decisions:,}", f"{one.judged:,}", f"{one.fallbacks:,}") for one in report.doors
        )
        yield table(("door", "decisions", "judged", "fallbacks"), rows)


def _bars(counts: Mapping[str, int], name: str, what: str) -> str:
    most = max(counts.values())
    rows = "".join(
        f'<tr><td>{text(word)}</td><td class="n">{n:,}</td>'
        f'<td class="bar"><i style="width: {100 * n / most:.1f}%"></i></td></tr>'
        for word, n in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )
    head = f'<tr><th>{text(name)}</th><th class="n">{text(what)}</th><th></th></tr>'
    return wide(f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")


def _key(names: Sequence[str]) -> str:
    parts = "".join(f'<span><i class="{name}"></i>{name}</span>' for name in names)
    return f'<p class="key">{parts}</p>'


def _stretch(report: LedgerReport) -> str:
    return "one day" if report.bar_days == 1 else f"{report.bar_days} days"


def _day(ms: int) -> str:
    return f"{utc(ms):%Y-%m-%d}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _short(count: int) -> str:
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(count) >= size:
            return f"{count / size:.1f}{letter}"
    return f"{count:,}"
