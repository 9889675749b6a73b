"""A note whose links take every turn that a link can take, and what each of them is."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from admit.evidence.base import Base
from admit.evidence.note import Link

# Number, what stands in the note, kind, reason, and the target or a part of the hint.
T, SP, P = "kb/t.md", "kb/sp ace.md", "kb/p (x).md"
ROWS = (
    (1, "[x](t.md)", "artifact", "", T),
    (2, "[x](./t.md)", "artifact", "", T),
    (3, "[x](sub/../t.md)", "artifact", "", T),
    (4, "[x](t.md#sec)", "artifact", "", T),
    (5, "[x](t.md#nope)", "artifact", "", T),
    (6, "[x](t.md?plain=1)", "artifact", "", T),
    (7, "[x](T.md)", "missing", "case", T),
    (8, "[x](alias.md)", "artifact", "", T),
    (9, "[x](sp%20ace.md)", "artifact", "", SP),
    (10, "[x](<sp ace.md>)", "artifact", "", SP),
    (11, "[x](p%20(x).md)", "artifact", "", P),
    (12, '[x](t.md "title")', "artifact", "", T),
    (13, "[t][ref]", "artifact", "", T),
    (14, "[nested [x] text](t.md)", "artifact", "", T),
    (15, "[x](n.md)", "self", "", "kb/n.md"),
    (16, "[x](#n)", "anchor", "", "kb/n.md"),
    (17, "[x](mailto:a@b.c)", "external", "", ""),
    (18, "[x](sub/)", "directory", "", "kb/sub"),
    (19, "[x](/kb/t.md)", "artifact", "", T),
    (20, "[x](missing.md)", "missing", "", ""),
    (21, "[x](../../out/o.md)", "outside", "", ""),
    (22, "`[x](t.md)`", None, "", ""),
    (23, "```\n[x](t.md)\n```", None, "", ""),
    (24, "<!-- [x](t.md) -->", None, "", ""),
    (25, "[x](bin.pdf)", "non-text", "", "kb/bin.pdf"),
    (26, "[x](a%00.md)", "malformed", "nul", ""),
    (27, "[x](loop.md)", "missing", "symlink-loop", ""),
)


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Link, ...]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root, out = tmp_path / "R", tmp_path / "out"
    (root / "kb" / "sub").mkdir(parents=True)
    out.mkdir()
    (out / "o.md").write_text("# o\n")
    (root / "kb" / "n.md").write_text(
        "# n\n\n" + "\n\n".join(row[1] for row in ROWS) + "\n\n[ref]: t.md\n[unused]: t.md\n"
    )
    (root / "kb" / "t.md").write_text("# t\n\n## Sec\n")
    for name in ("sp ace.md", "p (x).md"):
        (root / "kb" / name).write_text("# x\n")
    (root / "kb" / "bin.pdf").write_bytes(b"%PDF\0")
    os.symlink("t.md", root / "kb" / "alias.md")
    os.symlink("loop.md", root / "kb" / "loop.md")
    with Base.open(str(root)) as base:
        return base.links("kb/n.md")


def test_every_link_of_the_fixture_is_what_it_should_be(links: tuple[Link, ...]) -> None:
    expected = [row[2:] for row in ROWS if row[2] is not None]
    assert [(link.kind, link.reason, link.target or link.hint) for link in links] == expected


def test_the_totals_of_the_fixture_hold(links: tuple[Link, ...]) -> None:
    assert Counter(link.kind for link in links) == {
        "artifact": 14, "missing": 3, "self": 1, "anchor": 1, "external": 1, "directory": 1, "outside": 1,
        "non-text": 1, "malformed": 1,
    }  # fmt: skip
    assert len({link.target for link in links if link.kind == "artifact"}) == 3
    assert sum(row[2] is None for row in ROWS) == 3


def test_only_the_link_to_no_heading_has_a_bad_anchor(links: tuple[Link, ...]) -> None:
    assert {link.dest: link.anchor_ok for link in links if link.anchor_ok is not None} == {
        "t.md#sec": True, "t.md#nope": False, "#n": True,
    }  # fmt: skip


def test_a_reference_link_says_so_and_a_query_is_told(links: tuple[Link, ...]) -> None:
    assert [link.via for link in links].count("reference") == 1
    assert [link.query for link in links if link.query is not None] == ["plain=1"]


# What stands between the brackets, kind, target or hint, and whether the anchor is there.
WIKI_ROWS = (
    ("near", "artifact", "kb/near.md", None),
    ("top", "artifact", "top.md", None),
    ("kb/deep/only", "artifact", "kb/deep/only.md", None),
    ("only", "artifact", "kb/deep/only.md", None),
    ("only.md", "artifact", "kb/deep/only.md", None),
    ("only|shown", "artifact", "kb/deep/only.md", None),
    ("only#A heading", "artifact", "kb/deep/only.md", True),
    ("only#^block", "artifact", "kb/deep/only.md", True),
    ("only#No heading", "artifact", "kb/deep/only.md", False),
    ("ONLY", "artifact", "kb/deep/only.md", None),
    ("Case", "artifact", "a/Case.md", None),
    ("CASE", "ambiguous", "a/Case.md, b/case.md", None),
    ("twin", "ambiguous", "a/twin.md, b/twin.md", None),
    ("not yet written", "missing", "", None),
    ("pic.png", "non-text", "a/pic.png", None),
    ("w", "self", "kb/w.md", None),
    ("#W", "anchor", "kb/w.md", True),
)


def test_every_wiki_link_is_what_it_should_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "vault"
    files = {
        "kb/w.md": "# W\n\n" + "\n".join(f"[[{row[0]}]]" for row in WIKI_ROWS) + "\n",
        "kb/deep/only.md": "# A heading\n\ntext ^block\n", "kb/near.md": "", "a/near.md": "", "top.md": "",
        "a/top.md": "", "a/Case.md": "", "b/case.md": "", "a/twin.md": "", "b/twin.md": "", "a/pic.png": "\0",
        ".obsidian/only.md": "",
    }  # fmt: skip
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Base.open(start=str(root / "kb")) as base:
        assert base.root == str(root.resolve())
        found = base.links("kb/w.md")
    assert [(one.kind, one.target or one.hint, one.anchor_ok) for one in found] == [
        row[1:] for row in WIKI_ROWS
    ]
