"""`admit evidence review --repeat`: how often the same judge says the same of the same texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from admit.cli import evidence_words as words
from admit.cli.evidence_base import SCHEMA, Notes, Progress
from admit.cli.evidence_gate import Asked, say_sent
from admit.cli.frame import DONE, FINDING, counted, print_json
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.evidence.criterion import Criterion
    from admit.evidence.model import Review


def repeat(
    asked: Asked,
    notes: Notes,
    criteria: Sequence[Criterion],
    times: int,
    workers: int | None,
    allow_unjudged: bool,
    as_json: bool,
) -> int:
    """Review again what stands, keep none of it, and say how often the verdicts are the same."""
    from admit.evidence.batch import in_order
    from admit.evidence.gate import EvidenceGate

    stale = {(path, one.id) for path, one in asked.gate.due(notes.paths, criteria).pairs}
    every = asked.gate.due(notes.paths, criteria, fresh=True).pairs
    pairs = [(path, one) for path, one in every if (path, one.id) not in stale]
    if not pairs:
        raise UsageError("no accepted review stands here, so there is none to repeat; review first")
    gate = EvidenceGate(notes.base, asked.found, asked.ledger, partition=asked.gate.partition)
    work = [(path, one, k) for path, one in pairs for k in range(1, times + 1)]
    say_sent(asked, [(path, one) for path, one, _ in work])
    progress = Progress(len(work), "review", quiet=as_json)
    found: dict[tuple[str, str], list[Review]] = {}
    given = in_order(
        lambda one: gate.review(one[0], one[1], attempt=one[2]), work, workers or notes.base.settings.workers
    )
    for (path, criterion, _), review in zip(work, given, strict=True):
        found.setdefault((path, criterion.id), []).append(review)
        progress.step()
    progress.end()
    verdicts = {key: [one.verdict for one in reviews] for key, reviews in found.items()}
    same = sum(len(set(one)) == 1 for one in verdicts.values())
    unjudged = any(one in ("UNJUDGED", "ERROR") for given in verdicts.values() for one in given)
    if as_json:
        rows = [{"note": n, "criterion": c, "verdicts": given} for (n, c), given in verdicts.items()]
        print_json(
            {
                "schema": SCHEMA,
                "command": "review",
                "summary": {"pairs": len(verdicts), "times": times, "same": same},
                "repeats": rows,
            }
        )
    else:
        for (note, criterion), given in verdicts.items():
            said = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(Counter(given).items()))
            click.echo(f"{words.path(note)} by {criterion}: {said}")
        click.echo(
            f"\nthe same verdict all {times} times: {same:,} of {counted(len(verdicts), 'pair')}; "
            "no accepted review was changed"
        )
    return FINDING if unjudged and not allow_unjudged else DONE
