"""The published fixture: 27 links of one note, each with what it is, and a regular expression beside."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from admit.evidence.base import Base

from .figures import Figure


class Case(NamedTuple):
    """A link as it is written, and its kind; ``ignored`` is no link at all.

    Attributes:
        target: The artifact, below the root; empty for none.
        anchor: Whether its anchor holds; None where there is none to look at.
    """

    written: str
    kind: str
    target: str = ""
    anchor: bool | None = None


T = "kb/t.md"
CASES = (
    Case("[1](t.md)", "artifact", T), Case("[2](./t.md)", "artifact", T),
    Case("[3](sub/../t.md)", "artifact", T), Case("[4](t.md#sec)", "artifact", T, True),
    Case("[5](t.md#nope)", "artifact", T, False), Case("[6](t.md?plain=1)", "artifact", T),
    Case("[7](T.md)", "missing"), Case("[8](alias.md)", "artifact", T),
    Case("[9](sp%20ace.md)", "artifact", "kb/sp ace.md"),
    Case("[10](<sp ace.md>)", "artifact", "kb/sp ace.md"),
    Case("[11](p%20(x).md)", "artifact", "kb/p (x).md"), Case('[12](t.md "title")', "artifact", T),
    Case("[t][ref]", "artifact", T), Case("[nested [x] text](t.md)", "artifact", T),
    Case("[15](n.md)", "self"), Case("[16](#n)", "anchor"), Case("[17](mailto:a@b.c)", "external"),
    Case("[18](sub/)", "directory"), Case("[19](/kb/t.md)", "artifact", T),
    Case("[20](missing.md)", "missing"), Case("[21](../../out/o.md)", "outside"),
    Case("`[22](t.md)`", "ignored"), Case("```\n[23](t.md)\n```", "ignored"),
    Case("<!-- [24](t.md) -->", "ignored"), Case("[25](bin.pdf)", "non-text"),
    Case("[26](a%00.md)", "malformed"), Case("[27](loop.md)", "missing"),
)  # fmt: skip


def write(folder: Path) -> Path:
    """Lay the fixture out and give its root."""
    kb = folder / "R" / "kb"
    (kb / "sub").mkdir(parents=True)
    (folder / "out").mkdir()
    (folder / "out" / "o.md").write_text("outside\n")
    (kb / "t.md").write_text("# t\n\n## Sec\n")
    os.symlink("t.md", kb / "alias.md")
    os.symlink("loop.md", kb / "loop.md")
    for name in ("sp ace.md", "p (x).md"):
        (kb / name).write_text("text\n")
    (kb / "bin.pdf").write_bytes(b"%PDF\0")
    body = "\n\n".join(case.written for case in CASES)
    (kb / "n.md").write_text(f"# n\n\n{body}\n\n[ref]: t.md\n")
    return folder / "R"


def figures() -> list[Figure]:
    """How many of the 27 are as published."""
    with TemporaryDirectory() as folder:
        root = write(Path(folder))
        with Base.open(root) as base:
            links = iter(base.links("kb/n.md"))
        found = [None if case.kind == "ignored" else next(links, None) for case in CASES]
        extra = sum(1 for _ in links)
        right = sum(
            link is None if case.kind == "ignored"
            else link is not None and _is_right(case, link.kind, link.target, link.anchor_ok)
            for case, link in zip(CASES, found, strict=True)
        )  # fmt: skip
        regex = sum(_is_right(case, *_by_regex(root, case)) for case in CASES)
    told = f"{right - extra} of {len(CASES)}"
    return [Figure("links as published", told, "27 of 27", f"a regular expression: {regex}")]


def _is_right(case: Case, kind: str, target: str, anchor: bool | None) -> bool:
    return (
        kind == case.kind
        and (case.kind != "artifact" or target == case.target)
        and (case.anchor is None or anchor is case.anchor)
    )


def _by_regex(root: Path, case: Case) -> tuple[str, str, bool | None]:
    """What `[text](path)` and a look at the disk give, as many scripts do it."""
    match = re.search(r"\[[^\]]*\]\(([^)\s]+)\)", case.written)
    if match is None:
        return "ignored", "", None
    path = root / "kb" / match[1].partition("#")[0]
    if not os.path.isfile(path):
        return "missing", "", None
    return "artifact", os.path.relpath(os.path.realpath(path), root), None
