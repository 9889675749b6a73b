"""Sources from outside: an ingest, the extracts it quotes, and the snapshot it was made from.

Two routes, and no third: an ordinary link to an ingest leads to the extracts of its section Quotes and never
further; a link that says ``(snapshot required)`` leads to the one snapshot whose place follows from the
ingest's, if its hash and its source are the ones the ingest names.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from admit.evidence.extracts import EXTRACT, LOCATION, Extract, extracts, quotes_section
from admit.evidence.positions import in_lines
from admit.text.front_matter import FrontMatter
from admit.text.front_matter import parse as parse_front
from admit.text.globs import glob_regex

if TYPE_CHECKING:
    from admit.evidence.base import Base
    from admit.evidence.reading import File

SUFFIX = ".ingest.md"


class Ingest(NamedTuple):
    """The record of a source.

    Attributes:
        source: Where the source is, as its front matter says.
        snapshot_sha256: As `sha256:` and 64 hex digits; empty where none or something else is given.
        extracts: Of the one section Quotes; empty without it, or with several.
        analysis: The body outside of that section: the ingest's own words, no evidence.
    """

    path: str
    source: str
    captured: str
    genre: str
    snapshot_sha256: str
    secondary_sources: tuple[str, ...]
    extracts: tuple[Extract, ...]
    analysis: str


class Snapshot(NamedTuple):
    """The kept text of a source, as read once."""

    path: str
    data: bytes
    sha256: str


class Failed(NamedTuple):
    """Why a declared snapshot is not served: ``snapshot-`` and ``missing``, ``hash`` or ``source``."""

    reason: str


def ingest(base: Base, path: str) -> Ingest | None:
    """The ingest in a file; None for any other file.

    Raises:
        Unreadable: The file cannot be read.
    """
    return ingest_of(base, base.file(path)) if is_source(base, path) else None


def ingest_of(base: Base, file: File) -> Ingest | None:
    """The same of a file as read: its path matches `source_globs`, and its front matter has `source`."""
    if not is_source(base, file.path):
        return None
    text = in_lines(file.text)
    front = parse_front(text)
    if not front.text("source"):
        return None
    start, end = quotes_section(text)
    return Ingest(
        path=file.path,
        source=front.text("source"),
        captured=front.text("captured"),
        genre=front.text("genre"),
        snapshot_sha256=_digest(front),
        secondary_sources=front.texts("secondary_sources"),
        extracts=tuple(extracts(text[start:end], text.count("\n", 0, start) + 1)),
        analysis=text[front.body_at : start] + text[end:] if end else text[front.body_at :],
    )


def is_source(base: Base, path: str) -> bool:
    """Whether a path matches `source_globs`; such a file without `source` is an ordinary artifact."""
    return any(_pattern(glob).match(path) for glob in base.settings.source_globs)


def quotes_text(ingest: Ingest) -> str:
    """What is served of an ingest: its extracts with their locations, in order, and nothing else."""
    return "\n".join(f"{EXTRACT}:\n{one.text}\n{LOCATION}: {one.location}\n" for one in ingest.extracts)


def snapshot_path(base: Base, ingest_path: str) -> str:
    """Where the snapshot of an ingest lies: ``<folder of the ingest>/<snapshot_dir>/<slug>.md``."""
    folder, name = posixpath.split(ingest_path)
    slug = name.removesuffix(SUFFIX).removesuffix(".md")
    return posixpath.normpath(posixpath.join(folder, base.settings.snapshot_dir, f"{slug}.md"))


def snapshot(base: Base, ingest: Ingest | None) -> Snapshot | Failed:
    """The declared snapshot of an ingest, from the derived path alone; what is no ingest has none."""
    from admit.evidence.reading import Unreadable

    if ingest is None:
        return Failed("snapshot-missing")
    path = snapshot_path(base, ingest.path)
    try:
        file = base.file(path)
    except Unreadable:
        return Failed("snapshot-missing")
    if not ingest.snapshot_sha256 or file.sha256 != ingest.snapshot_sha256:
        return Failed("snapshot-hash")
    if parse_front(file.text).text("source") != ingest.source:
        return Failed("snapshot-source")
    return Snapshot(file.path, file.data, file.sha256)


def is_snapshot(base: Base, path: str) -> bool:
    """Whether a file lies where snapshots do: in `snapshot_dir`, or where that is ``.`` beside its ingest."""
    from admit.evidence.reading import Unreadable

    folder, name = posixpath.split(path)
    kept = posixpath.normpath(base.settings.snapshot_dir)
    if kept != ".":
        return f"/{folder}".endswith(f"/{kept}")
    try:
        return ingest(base, posixpath.join(folder, f"{name.removesuffix('.md')}{SUFFIX}")) is not None
    except Unreadable:
        return False


def _digest(front: FrontMatter) -> str:
    found = re.fullmatch(r"(?:sha256:)?([0-9a-f]{64})", front.text("snapshot_sha256").lower())
    return f"sha256:{found.group(1)}" if found else ""


@lru_cache(maxsize=64)
def _pattern(glob: str) -> Any:
    import re2

    return re2.compile(glob_regex(glob))
