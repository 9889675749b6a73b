"""A knowledge base with one note that links to many, its jobs, and outputs of a reviewer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admit.evidence.base import Base
from admit.evidence.criteria import load
from admit.evidence.job.export import export
from admit.evidence.job.manifest import Job
from admit.evidence.job.output import marks
from admit.evidence.plan import Plan
from admit.evidence.planning import plan
from admit.ledger.evidence import EvidenceStore

NOTE, CRITERION, PARTITION = "kb/n.md", "capped", "models"


def criterion(budget: int | None, material: str = "whole") -> str:
    """The text of a criterion that asks about claims."""
    capped = "" if budget is None else f"budget: {budget}\n"
    answers = "answers:\n  supported: pass\n  overreach: warn\n  contradicted: fail\n"
    return (
        f"---\nid: {CRITERION}\nasks: [claims]\nmaterial: {material}\n{capped}{answers}---\nLook closely.\n"
    )


def files(count: int, budget: int | None, material: str = "whole") -> dict[str, str]:
    """A note whose block bK links to the K-th of `count` artifacts, and its criterion; block 1 is plain."""
    claims = "\n\n".join(f"Claim {k} rests on [source {k}](t{k}.md)." for k in range(1, count + 1))
    return {
        NOTE: f"# N\n\nNothing is linked here.\n\n{claims}\n",
        f".admit/criteria/{CRITERION}.md": criterion(budget, material),
        **{f"kb/t{k}.md": f"# T{k}\n\nThe text of {k}.\n" for k in range(1, count + 1)},
    }


def planned(base: Base, note: str = NOTE) -> Plan:
    """The plan of the note."""
    return plan(base, note, load(base, CRITERION))


def exported(base: Base, store: EvidenceStore, folder: Path, note: str = NOTE) -> Job:
    """The job of the note, in a folder of jobs."""
    return export(base, store, planned(base, note), str(folder), PARTITION)


def output(job: Job, findings: Sequence[str] = (), result: str = "PASS", opened: str | None = None) -> str:
    """What a reviewer writes."""
    first, last = marks(job.id, job.nonce)
    said = [] if opened is None else [f"opened: [{opened}]"]
    body = ["### Summary", "It was looked at.", "### Findings", *findings, *said]
    return "\n".join([first, *body, f"## Result: {result}", last])
