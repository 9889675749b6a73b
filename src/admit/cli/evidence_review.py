"""`admit evidence review`: the pairs whose accepted review does not stand, before a judge or an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import (
    GROUNDING,
    SCHEMA,
    criteria_of,
    notes_of,
    open_base,
    paths_argument,
    root_option,
    top_option,
)
from admit.cli.evidence_gate import close, open_judge, say_sent
from admit.cli.evidence_told import told
from admit.cli.frame import DONE, json_option, print_json
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.evidence.base import Base

DOOR = "evidence"
REASONS = ("missing-baseline", "criterion-changed", "note-changed", "linked-changed")
AGENTS = ("claude", "codex")
NO_JUDGE = """no judge is named, and none is asked unless you name it. There are three ways:
  --judge NAME           ask the judge of this profile (or set evidence.judge; admit judge list)
  --agent claude|codex   let a coding agent review, its reads served and counted
  --export DIR           write a folder for each pair, for any agent; then admit evidence finalize"""

EXAMPLES = """\b
Examples:
  admit evidence review notes/claim.md --judge jev
  admit evidence review notes --judge jev --criterion representation --workers 2
  admit evidence review notes --judge jev --reason linked-changed --sarif review.sarif
  admit evidence review notes --export jobs
  admit evidence review notes --init-criteria"""


@click.command("review", short_help="Review what is stale or missing.", epilog=EXAMPLES)
@paths_argument(required=False)
@click.option(
    "--criterion", "names", multiple=True, metavar="ID", help=f"By this criterion; repeat. Else {GROUNDING}."
)
@click.option("--all", "every", is_flag=True, help="Also the pairs whose accepted review stands.")
@click.option(
    "--reason", type=click.Choice(REASONS), multiple=True, help="Only what is stale for this reason; repeat."
)
@click.option("--judge", metavar="NAME", help="Ask this profile; without it evidence.judge.")
@click.option("--agent", type=click.Choice(AGENTS), help="Let this coding agent review.")
@click.option("--export", "folder", metavar="DIR", help="Write a job for each pair, and ask nobody.")
@click.option("--model", metavar="M", help="Of --agent, or of who will do the jobs of --export.")
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="Pairs at once.")
@click.option(
    "--repeat", type=click.IntRange(2, 100), metavar="N", help="Review what stands N times more; keep none."
)
@click.option("--init-criteria", is_flag=True, help="Copy the shipped criteria into the base, and end.")
@click.option("--allow-unjudged", is_flag=True, help="End with 0 although a pair has no verdict.")
@click.option("--sarif", metavar="FILE", type=click.Path(dir_okay=False), help="Write SARIF 2.1.0 as well.")
@top_option
@root_option
@json_option
def command(
    paths: tuple[str, ...],
    names: tuple[str, ...],
    every: bool,
    reason: tuple[str, ...],
    judge: str | None,
    agent: str | None,
    folder: str | None,
    model: str | None,
    workers: int | None,
    repeat: int | None,
    init_criteria: bool,
    allow_unjudged: bool,
    sarif: str | None,
    top: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Hold notes against what they link to, by criteria, within the budget of each criterion.

    Only pairs of note and criterion whose accepted review is missing or stale are reviewed. What was not
    read is named with the verdict and never changes it. Ctrl-C keeps what is done. Without --model nothing
    tells which reviews are those of an agent, and it does all pairs.

    Exit code 1: a verdict at or above evidence.fail_on, or a pair without one.
    """
    if sum((judge is not None, agent is not None, folder is not None)) > 1:
        raise UsageError("give one of --judge, --agent and --export")
    if model is not None and agent is None and folder is None:
        raise UsageError("--model goes with --agent and --export; a judge's model is that of its profile")
    if sarif is not None and folder is not None:
        raise UsageError("--sarif goes with --judge and --agent: a job of --export has no findings yet")
    if repeat is not None and (agent is not None or folder is not None):
        raise UsageError("--repeat goes with a judge")
    if not paths and not init_criteria:
        raise UsageError("name the notes to review: files, or folders that hold some")
    with open_base(paths, root) as base:
        if init_criteria:
            return _init(base, as_json)
        if base.settings.mode == "off":
            raise UsageError("evidence.mode is off, so nothing is reviewed: set it to enforce or shadow")
        name = judge or base.settings.judge
        if name is None and agent is None and folder is None:
            raise UsageError(NO_JUDGE)
        notes = notes_of(base, paths, top=top)
        criteria = criteria_of(base, names or (GROUNDING,))
        if folder is not None:
            from admit.cli.evidence_agent import export

            return export(notes, criteria, folder, model, every=every, reasons=reason, as_json=as_json)
        if agent is not None:
            from admit.cli.evidence_agent import Wanted, review

            wanted = Wanted(agent, model, every, reason, workers, allow_unjudged, sarif)
            return review(notes, criteria, wanted, as_json=as_json)
        assert name is not None
        asked = open_judge(base, name)
        try:
            if repeat is not None:
                from admit.cli.evidence_repeat import repeat as again

                return again(asked, notes, criteria, repeat, workers, allow_unjudged, as_json)
            due = asked.gate.due(notes.paths, criteria, fresh=every, reasons=reason)
            say_sent(asked, due.pairs)
            given = asked.gate.review_many(due.pairs, workers)
            profile = asked.profile.name
            return told(
                given, notes, due, profile, allow_unjudged=allow_unjudged, sarif=sarif, as_json=as_json
            )
        finally:
            close(asked, base.config)


def _init(base: Base, as_json: bool) -> int:
    from admit.evidence.criteria import init

    written = init(base)
    if as_json:
        print_json({"schema": SCHEMA, "command": "review", "written": list(written)})
        return DONE
    for path in written:
        click.echo(f"{words.path(path)} written")
    if not written:
        click.echo(f"All shipped criteria are in {words.path(base.settings.criteria_dir)} already.")
    return DONE
