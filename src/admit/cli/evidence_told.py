"""Reviews as they come in: each with its findings, then what they say together, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import Notes, Progress, said_scope, write_sarif
from admit.cli.evidence_gate import why
from admit.cli.frame import DONE, FINDING, INTERRUPTED, counted, print_json

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.gate import Due
    from admit.evidence.model import Finding, Review

MOST_CHECKS = 40


def told(
    given: Iterator[Review],
    notes: Notes,
    due: Due,
    profile: str,
    *,
    allow_unjudged: bool,
    sarif: str | None,
    as_json: bool,
) -> int:
    """Tell reviews as they are done, and give the exit code. Ctrl-C ends it, and what is done is kept.

    Args:
        profile: Of the judge; the name of an agent where there is none.
    """
    from admit.evidence.as_json import document

    base = notes.base
    reviews: list[Review] = []
    progress = Progress(len(due.pairs), "pair", quiet=as_json)
    interrupted = False
    try:
        for one in given:
            reviews.append(one)
            progress.end()
            if not as_json:
                click.echo("\n".join(words.review(one)))
            progress.step(f"{words.path(one.pair.note)}: {one.verdict}")
    except KeyboardInterrupt:
        interrupted = True
    progress.end()
    checks = _checks(base, reviews)
    if sarif is not None:
        write_sarif(sarif, base, checks, reviews)
    if as_json:
        value = document("review", reviews, {"fresh": due.fresh, "not_applicable": due.not_applicable})
        print_json(value | {"checks": [one._asdict() for one in checks]})
    else:
        click.echo("\n".join([*_check_lines(checks), *_summary(base, profile, notes, reviews, due)]))
    if interrupted:
        stored = sum(one.stored for one in reviews)
        click.echo(
            f"admit: interrupted after {len(reviews):,} of {counted(len(due.pairs), 'pair')}; "
            f"{stored:,} of these are kept, and the same command goes on with the rest",
            err=True,
        )
        return INTERRUPTED
    fail_on = base.settings.fail_on
    bad = any(words.is_bad(one, fail_on, allow_unjudged=allow_unjudged) for one in reviews)
    return FINDING if bad else DONE


def _checks(base: Base, reviews: Sequence[Review]) -> list[Finding]:
    """What needs no judge, of the same notes; it stands beside the verdicts and changes none."""
    from admit.evidence.lint import Lint

    looked = Lint(base)
    paths = dict.fromkeys(one.pair.note for one in reviews if one.verdict != "ERROR")
    return [found for path in paths for found in looked.note(path) if found.severity != "INFO"]


def _check_lines(checks: Sequence[Finding]) -> list[str]:
    if not checks:
        return []
    lines = ["", "Checks beside the verdicts (admit evidence lint):"]
    lines += [f"  {words.finding(one)}" for one in checks[:MOST_CHECKS]]
    return [*lines, f"  … and {len(checks) - MOST_CHECKS:,} more"] if len(checks) > MOST_CHECKS else lines


def _summary(base: Base, profile: str, notes: Notes, reviews: Sequence[Review], due: Due) -> list[str]:
    lines = [""] if reviews else []
    verdicts = Counter(one.verdict for one in reviews)
    said = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(verdicts.items()))
    lines.append(f"{counted(len(reviews), 'pair')} reviewed{': ' if said else ''}{said}")
    if due.fresh:
        lines.append(f"{counted(due.fresh, 'pair')} fresh, not reviewed again (--all reviews them)")
    if due.not_applicable:
        lines.append(f"{counted(due.not_applicable, 'pair')} not applicable: nothing there to ask about")
    return [*lines, *why(base.config, profile, reviews), *said_scope(notes)]
