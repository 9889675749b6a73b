"""`admit guide lint`: what could be better about guidance, by file and line, with the fix."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.cli.guide_gate import CWD
from admit.config.check import visible
from admit.errors import UsageError
from admit.guidance.walk import is_inside

if TYPE_CHECKING:
    from admit.config.layers import Config
    from admit.guidance.lint import Cosines
    from admit.guidance.model import Finding, Root

PROBES = ("probes.tsv", "probes.jsonl")


@click.command(
    "lint",
    short_help="Findings by file and line.",
    epilog="\b\nExamples:\n  admit guide lint\n  admit guide lint .claude/ways --strict",
)
@click.argument("path", metavar="[PATH]", required=False, type=click.Path(exists=True))
@click.option("--strict", is_flag=True, help="Warnings fail too, and guidance that no probe names is one.")
@CWD
@json_option
def command(path: str | None, strict: bool, cwd: str | None, as_json: bool) -> int:
    """Check all guidance of this folder, or what lies at PATH: a file, a folder of ways, a whole project.

    Files are read by the parser that serves hooks. Probes are looked for with --strict: files named
    probes.tsv or probes.jsonl in a searched folder, in the folder above it, or in PATH.

    Exit code 1: there is an error, or with --strict a warning.
    """
    from admit.config.layers import load
    from admit.guidance.gather import load as gather
    from admit.guidance.gather import settings_of
    from admit.guidance.lint import lint

    folder = os.path.abspath(cwd or os.getcwd())
    config = load(folder)
    roots, below = _roots(config, folder, path)
    index, found = gather(roots, settings=settings_of(config))
    probed = _probed(roots, below) if strict else None
    budget = config.values["hosts.inject_max_chars"]
    found = (*found, *lint(index, budget=budget, cosines=_cosines(config), probed=probed))
    findings = [one for one in found if below is None or is_inside(one.path, below)]
    findings.sort(key=lambda one: (one.path, one.line, one.code, one.text))
    if below is not None and not findings and not any(is_inside(one.path, below) for one in index.snippets):
        raise UsageError(f"there is no guidance at {path}: a way is NAME/NAME.md with front matter")
    if as_json:
        print_json(
            {"schema": 1, "snippets": len(index.snippets), "findings": [one._asdict() for one in findings]}
        )
    else:
        for one in findings:
            place = f"{one.path}:{one.line}" if one.line else one.path
            click.echo(f"{place}: {one.level} {one.code}: {one.text}")
            if one.fix:
                click.echo(f"    {one.fix}")
        click.echo(_summary(findings, len(index.snippets)))
    bad = ("error", "warning") if strict else ("error",)
    return FINDING if any(one.level in bad for one in findings) else DONE


def _roots(config: Config, folder: str, path: str | None) -> tuple[Sequence[Root], str | None]:
    """What is read, and the path below which findings count; None counts all.

    A path outside of every searched folder is a project with places of its own, or a folder of ways.
    """
    from admit.guidance.model import Root
    from admit.guidance.roots import roots_of

    roots = roots_of(folder, None, config.values)
    if path is None:
        return roots, None
    below = os.path.realpath(path)
    near = [one for one in roots if is_inside(below, os.path.realpath(one.folder))]
    if near or any(is_inside(os.path.realpath(one.folder), below) for one in roots):
        return roots, below
    if not os.path.isdir(below):
        # A way is NAME/NAME.md: its folder hangs under the root.
        top = os.path.dirname(os.path.dirname(below))
        return (Root("agent-ways", "extra", top, top),), below
    theirs = [one for one in roots_of(below, None, config.values) if one.kind == "project"]
    theirs = [one for one in theirs if is_inside(one.folder, below) and os.path.isdir(one.folder)]
    return theirs or (Root("agent-ways", "extra", below, below),), below


def _probed(roots: Iterable[Root], below: str | None) -> frozenset[str]:
    """Every id that a probe file names.

    Raises:
        ProbeFormatError: A probe file cannot be read.
    """
    from admit.guidance.probe import read_rows

    folders = dict.fromkeys(
        place
        for folder in (*(one.folder for one in roots), *((below,) if below else ()))
        for place in (folder, os.path.dirname(folder))
    )
    files = (os.path.join(folder, name) for folder in folders for name in PROBES)
    rows = [row for file in files if os.path.isfile(file) for row in read_rows(file)]
    return frozenset(id for row in rows for id in row.expected)


def _cosines(config: Config) -> Cosines | None:
    """Cosines by the embedder, for near duplicates; None where it is not installed or not wanted."""
    from admit.judges.encoder import Encoder, EncoderUnavailable

    encoder = Encoder()
    if config.values["guidance.matcher.encoder"] != "local" or not encoder.is_installed():
        return None
    try:
        encoder.load()
    except EncoderUnavailable:
        return None

    def cosines(texts: Sequence[str]) -> Any:
        import numpy as np

        rows = np.array(encoder.vectors(texts), np.float32)
        return rows @ rows.T

    return cosines


def _summary(findings: Sequence[Finding], snippets: int) -> str:
    if not findings:
        return f"Nothing to say about {counted(snippets, 'snippet')}."
    counts = {level: sum(one.level == level for one in findings) for level in ("error", "warning", "note")}
    said = ", ".join(counted(n, level) for level, n in counts.items() if n)
    return visible(f"{said} in {counted(snippets, 'snippet')}.", 200)
