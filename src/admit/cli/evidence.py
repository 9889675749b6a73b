"""`admit evidence`: which linked artifacts a review of a document may read, what it read, what it found."""

from __future__ import annotations

import click

from admit.cli.evidence_job import finalize, open_, serve
from admit.cli.evidence_lint import command as lint_command
from admit.cli.evidence_plan import command as plan_command
from admit.cli.evidence_report import command as report_command
from admit.cli.evidence_review import command as review_command
from admit.cli.evidence_status import ack, status

EXAMPLES = """\b
Examples:
  admit evidence lint notes
  admit evidence plan notes --criterion grounding-alignment
  admit evidence review notes/claim.md --judge NAME
  admit evidence status notes
  admit evidence report notes --curve"""


@click.group("evidence", epilog=EXAMPLES)
def command() -> None:
    """Review the claims of Markdown notes against what they link to, under a counted reading budget.

    plan and lint work on any folder, and ask nobody. A budget limits what is read and never changes a
    verdict; what was not read is named beside it.
    """


for one in (plan_command, lint_command, review_command, open_, finalize, status, ack, report_command, serve):
    command.add_command(one)
