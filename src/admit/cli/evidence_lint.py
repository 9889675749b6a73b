"""`admit evidence lint`: all checks of links, quotations and numbers, without a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import (
    SCHEMA,
    Notes,
    Progress,
    notes_of,
    open_base,
    paths_argument,
    root_option,
    said_scope,
    top_option,
    write_sarif,
)
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.evidence_keys import RULES
from admit.errors import NoteError

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.lint import Lint
    from admit.evidence.model import Finding

FAIL_ON = ("fail", "warn", "info")
MOST_INFO = 20

EXAMPLES = """\b
Examples:
  admit evidence lint examples/evidence
  admit evidence lint examples/evidence --rule dangling --rule quote
  admit evidence lint examples/evidence --fail-on warn --sarif lint.sarif"""


@click.command("lint", short_help="All checks that need no judge.", epilog=EXAMPLES)
@paths_argument(required=True)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    type=click.Choice([name for name, _, _ in RULES]),
    help="Only this rule; repeat.",
)
@click.option(
    "--fail-on",
    type=click.Choice(FAIL_ON),
    help="End with 1 from this severity on; without it evidence.fail_on.",
)
@click.option("--sarif", metavar="FILE", type=click.Path(dir_okay=False), help="Write SARIF 2.1.0 as well.")
@top_option
@root_option
@json_option
def command(
    paths: tuple[str, ...],
    rules: tuple[str, ...],
    fail_on: str | None,
    sarif: str | None,
    top: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Check links, anchors, quotations, numbers, dates and sources of Markdown files; no judge is asked.

    It works on any folder, and fetches nothing. How grave a rule is stands in evidence.severity.RULE.
    INFO beyond 20 is counted and not printed; --rule or --fail-on info prints it.

    Exit code 1: a finding of the severity of --fail-on or above, or a note that cannot be read.
    """
    from admit.evidence.lint import Lint

    with open_base(paths, root) as base:
        notes = notes_of(base, paths, top=top)
        looked = Lint(base, rules or None)
        findings = _findings(notes, looked, quiet=as_json)
        if sarif is not None:
            write_sarif(sarif, base, findings, unread=looked.unread)
        least = fail_on or base.settings.fail_on
        columns = {} if as_json else _columns(base, findings)
    failed = any(words.is_at_least(one.severity, least) for one in findings)
    if as_json:
        print_json(_json(notes, findings, looked))
    else:
        every = bool(rules) or least == "info"
        _say(notes, findings, columns, looked, every=every)
        if sarif is not None:
            click.echo(f"{sarif} written")
        if failed:
            click.echo(f"ends with 1: fail_on is {least}")
        for fault in looked.unread:
            click.echo(f"ends with 1: {words.one_line(str(fault), 400)}")
    return FINDING if failed or looked.unread else DONE


def _findings(notes: Notes, looked: Lint, *, quiet: bool) -> list[Finding]:
    """Findings in the order of notes and places."""
    progress = Progress(len(notes.paths), "note", quiet=quiet)
    found: list[Finding] = []
    for path in notes.paths:
        found += looked.note(path)
        progress.step(f"{counted(len(found), 'finding')}")
    progress.end()
    return found


def _columns(base: Base, findings: Sequence[Finding]) -> dict[int, int]:
    """The column of each finding, in characters from 1, by its place in the list."""
    columns: dict[int, int] = {}
    path, data = "", b""
    for place, one in enumerate(findings):
        if one.note != path:
            path, data = one.note, _bytes(base, one.note)
        begin = data.rfind(b"\n", 0, one.start) + 1
        columns[place] = len(data[begin : one.start].decode("utf-8", "replace")) + 1
    return columns


def _bytes(base: Base, path: str) -> bytes:
    try:
        return base.note(path).text.encode("utf-8", "surrogateescape")
    except NoteError:
        return b""


def _say(
    notes: Notes,
    findings: Sequence[Finding],
    columns: dict[int, int],
    looked: Lint,
    *,
    every: bool,
) -> None:
    info = sum(one.severity == "INFO" for one in findings)
    hide = info > MOST_INFO and not every
    for place, one in enumerate(findings):
        if not (hide and one.severity == "INFO"):
            click.echo(words.finding(one, columns[place]))
            if one.passage:
                click.echo(f"    line {one.passage_line:,} there: {words.one_line(one.passage)}")
    lines = []
    if findings:
        lines += ["", words.rule_rows(findings)]
    if hide:
        lines.append(
            f"{info:,} INFO are counted and not printed: --fail-on info prints them, --json has them"
        )
    counts = words.severities(findings)
    said = ", ".join(f"{count:,} {severity}" for severity, count in counts.items())
    lines.append(f"{counted(len(notes.paths), 'note')}: {said}")
    lines.append(words.said_links(looked.artifacts, looked.kinds))
    if not notes.paths:
        lines.append("no Markdown file (*.md, *.markdown) is there")
    click.echo("\n".join([*lines, *said_scope(notes, looked.kinds["outside"])]))


def _json(notes: Notes, findings: Sequence[Finding], looked: Lint) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "lint",
        "summary": {
            "notes": len(notes.paths),
            **words.severities(findings),
            "links": {kind: looked.kinds[kind] for kind in words.KINDS if looked.kinds[kind]},
            "skipped": dict(sorted(notes.skipped.items())),
        },
        "findings": [one._asdict() for one in findings],
        "unreadable": [{"note": fault.path, "reason": fault.reason} for fault in looked.unread],
    }
