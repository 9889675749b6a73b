"""Missing targets beside lychee's, and the class of every disagreement."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from admit.evidence.base import Base
from admit.evidence.scope import find

from . import lychee
from .figures import Figure
from .population import ROOT

TABLE = Path(__file__).resolve().parent.parent / "evidence_set" / "lychee-differences.json"


class Difference(NamedTuple):
    """One target that one of the two calls missing and the other does not, with how often each does."""

    note: str
    target: str
    ours: int
    theirs: int


def ours(root: Path) -> tuple[Counter[tuple[str, str]], Counter[str], int]:
    """Missing (note, target), empty destinations by note, and how many links there are."""
    missing: Counter[tuple[str, str]] = Counter()
    empty: Counter[str] = Counter()
    links = 0
    with Base.open(root) as base:
        for path in find(base, (str(root),)).notes:
            for link in base.links(path):
                links += 1
                if link.kind == "malformed" and link.reason == "empty":
                    empty[path] += 1
                elif link.kind == "missing" and link.via not in ("wiki", "embed"):
                    missing[path, _target(path, link.dest)] += 1
    return missing, empty, links


def compare(root: Path) -> tuple[list[Difference], list[Figure]]:
    """Every difference, and the counts. Raises ``NotRun`` without lychee."""
    missing, empty, links = ours(root)
    found = lychee.run(root)
    differences = [
        Difference(note, target, missing[note, target], found.missing[note, target])
        for note, target in sorted(missing.keys() | found.missing.keys())
        if missing[note, target] != found.missing[note, target]
    ]
    differences += [
        Difference(note, "", empty[note], found.empty[note])
        for note in sorted(empty.keys() | found.empty.keys())
        if empty[note] != found.empty[note]
    ]
    known = {(one["note"], one["target"]): one["class"] for one in json.loads(TABLE.read_text())["rows"]}
    unexplained = [one for one in differences if (one.note, one.target) not in known]
    counts = Counter(known.get((one.note, one.target), "unexplained") for one in differences)
    rows = [
        Figure("links looked at", f"{links:,}"),
        Figure("links to nothing", f"{missing.total()}, to {len(missing)} targets of notes", "as lychee",
               f"lychee: {found.missing.total()}, to {len(found.missing)}"),
        Figure("empty destinations", f"{empty.total()}", "as lychee", f"lychee: {found.empty.total()}"),
        Figure("differences", f"{len(differences)}", "each with its class",
               ", ".join(f"{name}: {n}" for name, n in sorted(counts.items())) or "none"),
        Figure("differences without a class", f"{len(unexplained)}", "0"),
    ]  # fmt: skip
    return differences, rows


def figures(data: Path) -> list[Figure]:
    """The counts."""
    return compare(data / ROOT)[1]


def _target(note: str, dest: str) -> str:
    """Where a destination points, by its words alone, as lychee spells it."""
    path = unquote(urlsplit(dest).path)
    return normpath(path.lstrip("/") if path.startswith("/") else join(dirname(note), path))
