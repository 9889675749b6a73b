"""`admit evidence open`, `finalize` and `serve`: the jobs that an agent reviews."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from admit.cli.evidence_base import SCHEMA, root_option
from admit.cli.evidence_words import is_bad
from admit.cli.evidence_words import review as told
from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.errors import BudgetExhausted, NotOffered, UsageError

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.job.opening import Served
    from admit.ledger.evidence import EvidenceStore

OPEN_EXAMPLES = """\b
Examples:
  admit evidence open e-0123456789ab a3
  admit evidence open --root ~/notes e-0123456789ab a3 --json"""
FINALIZE_EXAMPLES = """\b
Examples:
  admit evidence finalize e-0123456789ab
  admit evidence finalize e-0123456789ab e-ba9876543210 --model claude-opus-4-5 --effort high"""


@click.command("open", short_help="Open one artifact of a job, and count it.", epilog=OPEN_EXAMPLES)
@click.argument("job", metavar="JOB")
@click.argument("id", metavar="ID")
@root_option
@json_option
def open_(job: str, id: str, root: str | None, as_json: bool) -> int:
    """Print one artifact that a job offers, and count it against the budget of its criterion.

    In any order; opening one again is free. Ends with 1 where it is refused, and says what is unread.
    """
    from admit.evidence.job.opening import open_offer

    with _at(root) as (base, store):
        try:
            served = open_offer(base, store, job, id)
        except (BudgetExhausted, NotOffered) as refused:
            if as_json:
                print_json(
                    {"schema": SCHEMA, "command": "open", "job": job, "id": id, "refused": str(refused)}
                )
            else:
                click.echo(f"admit: {refused}", err=True)
            return FINDING
    if as_json:
        print_json(_served(served))
    else:
        click.echo(served.text, nl=not served.text.endswith("\n"))
    return DONE


@click.command(
    "finalize", short_help="Read the outputs of jobs, and decide and record.", epilog=FINALIZE_EXAMPLES
)
@click.argument("jobs", metavar="JOB...", nargs=-1, required=True)
@click.option("--model", metavar="NAME", help="The model that reviewed, as it is said to be.")
@click.option(
    "--effort", metavar="LEVEL", help="The effort of that model, where it has a partition of its own."
)
@click.option("--allow-unjudged", is_flag=True, help="End with 0 although there is no verdict.")
@root_option
@json_option
def finalize(
    jobs: tuple[str, ...],
    model: str | None,
    effort: str | None,
    allow_unjudged: bool,
    root: str | None,
    as_json: bool,
) -> int:
    """Read `output.md` of each job, and decide and record its verdict.

    What was read is known from the record alone. Ends with 1 for a verdict at or above `evidence.fail_on`,
    and where there is none.
    """
    from admit.evidence.as_json import document
    from admit.evidence.job.finalize import finalize as ended
    from admit.ledger import open_ledger

    if effort is not None and model is None:
        raise UsageError("--effort says which effort of a model; add --model")
    with _at(root) as (base, store):
        ledger = open_ledger(base.config.values)
        reviews = [
            ended(base, store, job, model=model, effort=effort, ledger=ledger) for job in dict.fromkeys(jobs)
        ]
        ledger.flush(base.config.values["ledger.close_wait_ms"])
        fail_on = base.settings.fail_on
    if as_json:
        print_json(document("finalize", reviews))
    else:
        for review in reviews:
            click.echo("\n".join([f"{review.job} {(said := told(review))[0]}", *said[1:]]))
    return FINDING if any(is_bad(one, fail_on, allow_unjudged=allow_unjudged) for one in reviews) else DONE


@click.command("serve", hidden=True, short_help="Serve the artifacts of one job to an agent.")
@click.argument("job", metavar="JOB")
@click.option("--masked", is_flag=True, help="Mask credentials in what is served.")
@root_option
def serve(job: str, masked: bool, root: str | None) -> int:
    """Speak MCP over standard input and output with the one tool `evidence_open`, for one job."""
    from admit.evidence.job.manifest import load
    from admit.evidence.job.opening import open_offer
    from admit.hosts.gateway.evidence_server import MOST_CHARS
    from admit.hosts.gateway.evidence_server import serve as over_stdio
    from admit.judges.redact import Redactor

    with _at(root) as (base, store):
        load(store, job)
        redactor = Redactor(base.config.values["judge.redact_patterns"]) if masked else None

        def text(id: str) -> str:
            served = open_offer(base, store, job, id, via="mcp", most_chars=MOST_CHARS).text
            return redactor.redact(served).text if redactor is not None else served

        over_stdio(job, text)
    return DONE


@contextmanager
def _at(root: str | None) -> Iterator[tuple[Base, EvidenceStore]]:
    """The knowledge base and the store of its reviews."""
    from admit.evidence.base import Base
    from admit.ledger.evidence import open_store

    with Base.open(root) as base:
        yield base, open_store(base.config.values, base.root)


def _served(served: Served) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "command": "open",
        "job": served.job,
        "attempt": served.attempt,
        "id": served.offer,
        "again": served.again,
        "slots_used": served.slots_used,
        "cap": served.cap,
        "unit": served.unit,
        "texts": [
            {
                "path": one.path,
                "shape": one.shape,
                "route": one.route,
                "sha256": one.source_sha256,
                "shown_sha256": one.shown_sha256,
                "text": one.text,
            }
            for one in served.items
        ],
    }
