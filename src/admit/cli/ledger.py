"""`admit ledger`: the written record, looked at, checked, mended, copied and forgotten."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, FINDING, USAGE, counted, json_option, print_json
from admit.cli.naming import status_words
from admit.cli.since import SINCE
from admit.config.check import visible
from admit.config.layers import load
from admit.errors import UsageError
from admit.ledger.moments import local
from admit.text.table import table

if TYPE_CHECKING:
    from admit.ledger.port import DecisionView

EXAMPLES = """\b
Examples:
  admit ledger show --door outputs --since 7d
  admit ledger verify
  admit ledger export --out copy
  admit ledger forget --session 0f3c"""

_CELL = 60


@click.group("ledger", epilog=EXAMPLES)
def command() -> None:
    """The written record: show it, check it, mend it, copy it, forget parts of it."""


@command.command("show", epilog="\b\nExamples:\n  admit ledger show\n  admit ledger show ID --json")
@click.argument("name", metavar="[ID]", required=False)
@click.option("--door", metavar="D", help="Only decisions of this door.")
@click.option("--since", type=SINCE, metavar="T", help="7d, 12h, 30m or a date (2026-01-31).")
@click.option("--session", metavar="S", help="Only decisions of this session.")
@click.option("--reason", metavar="R", help="Only decisions with this reason.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="The newest so many."
)
@json_option
def show(
    name: str | None,
    door: str | None,
    since: int | None,
    session: str | None,
    reason: str | None,
    limit: int,
    as_json: bool,
) -> int:
    """List decisions, newest first; with ID, of a decision or an output, one in full.

    Exit code 1: there is none.
    """
    from admit.ledger import open_ledger

    ledger = open_ledger(load().values, readonly=True)
    narrowed = {"door": door, "since": since, "session": session, "reason": reason}
    if name is not None and not name.isascii():
        views = []  # every id is ASCII
    elif name is not None:
        which = {"output_id": name} if name.startswith("o_") else {"decision_id": name}
        views = list(ledger.query(**which, **narrowed, limit=1))
    else:
        views = list(ledger.query(**narrowed, limit=limit, parts=as_json))
    if as_json:
        print_json({"schema": 1, "decisions": [_as_json(view) for view in views]})
    elif not views:
        click.echo(
            f"admit: no decision {name}" if name else "No decision is recorded for that.", err=bool(name)
        )
    elif name is not None:
        click.echo(_in_full(views[0]))
    else:
        head = ("when", "decision", "door", "status", "reason", "admitted", "shown of offered", "ms")
        click.echo(table([_row(view) for view in views], head, right=(5, 6, 7)))
    return DONE if views else FINDING


@command.command("stats", epilog="\b\nExample:\n  admit ledger stats --json")
@json_option
def stats(as_json: bool) -> int:
    """Rows, sizes, what waits in the spool, what was dropped or lost, and when retention runs."""
    from admit.ledger.stats import stats as count

    found = count(load().values)
    if as_json:
        print_json({"schema": 1, **_plain({**found._asdict(), "schema_version": found.schema, "schema": 1})})
        return DONE
    lost = (
        f"{sum(found.gaps.values()):,}, by {counted(len(found.gaps), 'process')}" if found.gaps else "nothing"
    )
    due = _when(found.retention_ms) if found.retention_ms else "admit ledger prune was never run"
    used = f"{found.used_bytes:,} in use"
    facts = {
        "database": f"{found.database}, schema version {found.schema or 'none yet'}",
        "size": f"{found.database_bytes:,} bytes, {used}; log {found.wal_bytes:,} bytes",
        "rows": ", ".join(f"{n:,} {name}" for name, n in found.rows.items() if n) or "none",
        "spool": f"{counted(found.spool_records, 'record')} waiting, {found.spool_bytes:,} bytes",
        "dropped": _causes(found.dropped),
        "lost": lost,
        "outputs": f"{counted(found.outputs, 'file')}, {found.outputs_bytes:,} bytes",
        "retention": due,
    }
    for name, fact in facts.items():
        click.echo(f"{name:<10} {fact}")
    for sentence in (*found.findings, *(f"{path} was set aside as damaged." for path in found.damaged)):
        click.echo(sentence)
    return DONE


@command.command("verify", epilog="\b\nExample:\n  admit ledger verify --fix-counts")
@click.option(
    "--fix-counts", is_flag=True, help="Take the missing numbers as known: they are said this once."
)
@json_option
def verify(fix_counts: bool, as_json: bool) -> int:
    """Check the database, every hash, every number, and the stored outputs.

    Exit code 0: clean. 1: there are findings. 2: the database is damaged.
    """
    from admit.ledger.verify import verify as check

    report = check(load().values, fix_counts=fix_counts)
    if as_json:
        findings = [finding._asdict() for finding in report.findings]
        print_json({"schema": 1, **_plain(report._asdict()), "findings": findings})
    else:
        for finding in report.findings:
            click.echo(finding.text)
        for type, n in report.unknown.items():
            click.echo(f"{counted(n, 'event')} of a type that this version does not know: {visible(type)}.")
        if not report.findings:
            rows = sum(report.rows.values())
            click.echo(f"The record is whole: {counted(rows, 'row')}, every hash and every number.")
    return USAGE if report.corrupt else FINDING if report.findings else DONE


@command.command("recover", epilog="\b\nExample:\n  admit ledger recover --into salvaged.db")
@click.option("--into", metavar="FILE", type=click.Path(), help="Salvage into this new file instead.")
@json_option
def recover(into: str | None, as_json: bool) -> int:
    """Bring in what waits in the spool, and salvage what a damaged database still holds.

    A damaged database is renamed, never changed. Exit code 1: rows are lost, as counted.
    """
    from admit.ledger.recover import recover as bring_back

    report = bring_back(load().values, into)
    if as_json:
        print_json({"schema": 1, **_plain(report._asdict())})
    else:
        if report.migrated:
            click.echo(f"The database was brought from version {report.migrated[0]} to {report.migrated[1]}.")
        spoiled = f", {report.bad:,} could not be read" if report.bad else ""
        click.echo(f"{counted(report.drained, 'record')} brought in from the spool{spoiled}.")
        if report.damaged or report.rows or report.lost:
            click.echo(f"{counted(report.rows, 'row')} salvaged, {report.lost:,} lost.")
        for path in report.damaged:
            click.echo(f"Kept as it was: {path}")
    return FINDING if report.lost or report.bad else DONE


@command.command("export", epilog="\b\nExample:\n  admit ledger export --since 30d --out copy")
@click.option("--since", type=SINCE, metavar="T", help="Only from this time on: 7d, 12h or a date.")
@click.option(
    "--out", "folder", metavar="DIR", default="admit-ledger", show_default=True, help="A new folder."
)
@click.option("--text", is_flag=True, help="Also the stored texts, where ledger.text is on.")
@json_option
def export(since: int | None, folder: str, text: bool, as_json: bool) -> int:
    """Write the record as JSON lines, one file a table, with a manifest.

    The same record gives the same bytes.
    """
    from admit.ledger.export import export as write

    manifest = write(folder, load().values, since=since, text=text)
    if as_json:
        print_json({"folder": folder, **manifest})
    else:
        rows = sum(file["rows"] for file in manifest["tables"].values())
        click.echo(f"{counted(rows, 'row')} written to {folder}")
    return DONE


@command.command("import", epilog="\b\nExample:\n  admit ledger import copy")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False))
@json_option
def import_(folder: str, as_json: bool) -> int:
    """Add exported rows; what is there already stays as it is. A folder that was altered is refused."""
    from admit.ledger.export import import_ as read

    report = read(folder, load().values)
    if as_json:
        print_json({"schema": 1, **_plain(report._asdict())})
    else:
        click.echo(f"{counted(report.rows, 'row')} read, {report.new:,} of them new.")
        for name in report.unknown:
            click.echo(f"Left out, for this version does not know it: {visible(name)}")
    return DONE


@command.command(
    "forget",
    epilog="\b\nExamples:\n  admit ledger forget --project ~/secret\n  admit ledger forget --all --yes",
)
@click.option("--session", metavar="S", help="What belongs to this session.")
@click.option("--project", metavar="P", help="What belongs to this project: its path or its name.")
@click.option("--before", type=SINCE, metavar="T", help="What is older: 30d, or a date.")
@click.option("--all", "everything", is_flag=True, help="Everything.")
@click.option("--key", is_flag=True, help="Also make a new key: hashes from before link to nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def forget(
    session: str | None,
    project: str | None,
    before: int | None,
    everything: bool,
    key: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Delete rows, stored outputs, texts and waiting records, and give the room back."""
    from admit.ledger.forget import forget as delete

    _ask("Delete this from the record, for good?", yes)
    report = delete(
        load().values, session=session, project=project, before=before, everything=everything, key=key
    )
    if as_json:
        print_json({"schema": 1, **_plain(report._asdict())})
    else:
        waiting = f", {counted(report.waiting, 'waiting record')}" if report.waiting else ""
        click.echo(f"Deleted: {counted(report.rows, 'row')}, {counted(report.outputs, 'output')}{waiting}.")
        for path in report.copies:
            click.echo(f"May still hold it: {path} (admit ledger forget --all deletes it too)")
    return DONE


@command.command("prune", epilog="\b\nExample:\n  admit ledger prune --yes")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def prune(yes: bool, as_json: bool) -> int:
    """Delete what is past its time or over the size, as the settings say, now."""
    from admit.ledger.tend import prune_all

    _ask("Delete what is past its time or over the size?", yes)
    rows, outputs = prune_all(load().values)
    if as_json:
        print_json({"schema": 1, "rows": rows._asdict(), "outputs": outputs._asdict()})
    else:
        click.echo(
            f"Deleted: {counted(rows.removed, 'row')} ({rows.bytes:,} bytes), "
            f"{counted(outputs.removed, 'output')} ({outputs.bytes:,} bytes)."
        )
    return DONE


def _ask(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("this deletes; without a terminal to ask on, say --yes")
    click.confirm(question, abort=True)


def _row(view: DecisionView) -> tuple[str, ...]:
    row = view.decision
    return (
        _when(row.ts_ms),
        row.decision_id,
        row.door,
        status_words(row),
        visible(row.reason or "", _CELL),
        f"{row.n_admitted:,} of {row.n_gathered:,}",
        "" if row.size_in is None or row.size_out is None else f"{row.size_out:,} of {row.size_in:,}",
        "" if row.elapsed_ms is None else f"{row.elapsed_ms:,.0f}",
    )


def _in_full(view: DecisionView) -> str:
    fields: dict[str, Any] = view.decision._asdict()
    fields["status"] = status_words(view.decision)
    own = {f"extra.{name}": value for name, value in fields.pop("extra").items()}
    lines = [
        f"{name:<24} {_cell(value, 1_000)}"
        for name, value in {"when": _when(fields.pop("ts_ms")), **fields, **own}.items()
        if value not in (None, {}, "")
    ]
    if view.candidates:
        rulings: dict[int, list[Any]] = {}
        for verdict in view.verdicts:
            rulings.setdefault(verdict.ord, []).append(verdict)
        cells = []
        for candidate in view.candidates:
            for verdict in rulings.get(candidate.ord, [None]):
                cells.append(_candidate_row(candidate, verdict))
        head = ("", "candidate", "size", "source", "verdict", "would", "reason", "p")
        lines += ["", table(cells, head, right=(0, 2))]
    for title, rows in (("calls", view.calls), ("events", view.events), ("recalls", view.recalls)):
        lines += ["", title] if rows else []
        for row in rows:
            told = ", ".join(
                f"{name} {_cell(value, 80)}"
                for name, value in row._asdict().items()
                if value not in (None, "", (), {}) and name not in ("decision_id", "content_hash", "reply")
            )
            lines.append(f"  {told}")
    return "\n".join(lines)


def _candidate_row(candidate: Any, verdict: Any) -> tuple[str, ...]:
    ruled = ("", "", "", "", "")
    if verdict is not None:
        p = " ".join(f"{value:.3f}" for value in verdict.p)
        ruled = (verdict.source, verdict.verdict, verdict.would or "", verdict.reason or "", p)
    size = "" if candidate.size is None else f"{candidate.size:,}"
    return (f"{candidate.ord}", visible(candidate.candidate_id, _CELL), size, *ruled)


def _as_json(view: DecisionView) -> dict[str, Any]:
    value = {name: part for name, part in view._asdict().items() if name != "calls"}
    value["calls"] = [call._replace(reply=None) for call in view.calls]
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _cell(value: object, most: int) -> str:
    return visible(str(value), most)


def _causes(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {cause}" for cause, n in dropped.items()) or "nothing"


def _when(ms: int) -> str:
    return f"{local(ms):%Y-%m-%d %H:%M:%S}"
