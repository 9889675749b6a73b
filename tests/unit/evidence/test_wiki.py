"""Wiki links: paths first, then stems, the same case before any."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from admit.evidence.base import Base
from admit.evidence.note import Resolved
from admit.evidence.wiki import resolve_wiki

from .conftest import MakeBase

NOTE = "kb/n.md"
FILES = {NOTE: "# n\n", "kb/t.md": "# t\n", "a/Deep.md": "x", "top.md": "x"}


def wiki(base: Base, dest: str) -> Resolved:
    return resolve_wiki(base, NOTE, dest)


@pytest.mark.parametrize(
    ("dest", "target"),
    [
        ("t", "kb/t.md"),
        ("t.md", "kb/t.md"),
        ("../a/Deep", "a/Deep.md"),
        ("top", "top.md"),
        ("a/Deep", "a/Deep.md"),
        ("/a/Deep", "a/Deep.md"),
        ("Deep", "a/Deep.md"),
        ("Deep.md", "a/Deep.md"),
        (" Deep ", "a/Deep.md"),
    ],
)
def test_a_name_is_a_path_from_the_note_then_from_the_root_then_a_stem(
    base: MakeBase, dest: str, target: str
) -> None:
    assert wiki(base(FILES), dest) == Resolved("artifact", target=target)


def test_the_folder_of_the_note_comes_before_the_root_and_both_before_stems(base: MakeBase) -> None:
    at = base({**FILES, "x.md": "x", "kb/x.md": "x", "a/x.md": "x", "y.md": "y", "a/y.md": "y"})
    assert (wiki(at, "x").target, wiki(at, "y").target) == ("kb/x.md", "y.md")


def test_the_same_stem_twice_is_ambiguous_and_names_the_files(base: MakeBase) -> None:
    at = base({**FILES, "b/same.md": "x", "a/same.md": "x"})
    assert wiki(at, "same") == Resolved("ambiguous", hint="a/same.md, b/same.md")


def test_many_files_of_one_name_are_named_up_to_ten(base: MakeBase) -> None:
    at = base({NOTE: "", **{f"f{n:02}/same.md": "x" for n in range(12)}})
    hint = wiki(at, "same").hint
    assert hint.count(".md") == 10 and hint.endswith("f09/same.md and 2 more")


def test_the_same_case_counts_before_any_case(base: MakeBase) -> None:
    at = base({**FILES, "a/Case.md": "x", "b/case.md": "x", "c/CASE.md": "x"})
    assert wiki(at, "Case").target == "a/Case.md"
    assert wiki(at, "cASE") == Resolved("ambiguous", hint="a/Case.md, b/case.md, c/CASE.md")
    assert wiki(at, "deep").target == "a/Deep.md"
    assert wiki(at, "T").target == "kb/t.md"


def test_a_name_with_folders_is_the_file_whose_path_ends_so(base: MakeBase) -> None:
    at = base({**FILES, "x/one/same.md": "x", "x/two/same.md": "x", "x/twotwo/same.md": "x"})
    assert wiki(at, "two/same").target == "x/two/same.md"
    assert wiki(at, "three/same").kind == "missing"


def test_a_stub_is_missing_with_the_nearest_name(base: MakeBase) -> None:
    at = base(FILES)
    assert wiki(at, "not written yet") == Resolved("missing")
    assert wiki(at, "Deap") == Resolved("missing", hint="a/Deep.md")
    assert resolve_wiki(at, "a/Deep.md", "Deap") == Resolved("missing")


def test_a_name_with_dots_need_not_be_an_extension(base: MakeBase) -> None:
    at = base({**FILES, "a/v1.2 plans.md": "x", "a/node.js.md": "x", "pics/f.txt": "x", "pics/g.png": b"\0"})
    found = [wiki(at, dest) for dest in ("v1.2 plans", "node.js", "f.txt", "g.png", "f")]
    assert [(one.kind, one.target) for one in found] == [
        ("artifact", "a/v1.2 plans.md"), ("artifact", "a/node.js.md"), ("artifact", "pics/f.txt"),
        ("non-text", "pics/g.png"), ("missing", ""),
    ]  # fmt: skip


def test_what_follows_the_sign_is_the_text_of_a_heading_or_a_block(base: MakeBase) -> None:
    at = base(FILES)
    assert wiki(at, "t#A b") == Resolved("artifact", target="kb/t.md", fragment="A b")
    assert wiki(at, "t#^id").fragment == "^id"
    assert wiki(at, "#A b") == Resolved("anchor", target=NOTE, fragment="A b")


def test_a_question_mark_belongs_to_the_name(base: MakeBase) -> None:
    assert wiki(base({**FILES, "a/why?.md": "x"}), "why?") == Resolved("artifact", target="a/why?.md")


def test_names_are_decoded_and_composed_alike(base: MakeBase) -> None:
    at = base({**FILES, "a/cafe\u0301 au lait.md": "x"})
    assert wiki(at, "caf\u00e9%20au lait").target == "a/cafe\u0301 au lait.md"


def test_the_other_kinds_hold_for_wiki_links_too(base: MakeBase) -> None:
    at = base({**FILES, "a.b/x.md": "x"})
    found = [wiki(at, dest) for dest in ("n", "../../x", "a%00", "", "%ff", "a.b")]
    assert [(one.kind, one.reason) for one in found] == [
        ("self", ""), ("outside", ""), ("malformed", "nul"), ("malformed", "empty"),
        ("malformed", "encoding"), ("directory", ""),
    ]  # fmt: skip


def test_hidden_folders_and_links_have_no_stems(base: MakeBase, tmp_path: Path) -> None:
    base({**FILES, ".trash/gone.md": "x"})
    (tmp_path / "root/a/alias.md").symlink_to("Deep.md")
    (tmp_path / "root/again").symlink_to("a")
    at = base({})
    assert (wiki(at, "gone").kind, wiki(at, "alias").kind) == ("missing", "missing")
    assert wiki(at, "Deep").kind == "artifact"


def test_wiki_links_that_are_off_are_counted_and_not_followed(base: MakeBase) -> None:
    files = {**FILES, NOTE: "[[t]] and ![[top]] and [x](t.md)"}
    on, off = base(files).note(NOTE), base(files, wikilinks="off").note(NOTE)
    assert Counter(link.via for link in on.links) == {"wiki": 1, "embed": 1, "inline": 1}
    assert [link.via for link in off.links] == ["inline"] and off.document.unfollowed == 2


def test_a_vault_is_read_as_it_is_written(base: MakeBase) -> None:
    note = (
        "[[t]] [[Deep|shown]] [[Deep#Part]] [[Deep#^b1]] [[Deep#Other]] ![[pic.png]] [[stub]] [[same]] "
        "[[#Here]]\n\n## Here\n"
    )
    at = base(
        {
            NOTE: note, "kb/t.md": "", "a/Deep.md": "## Part\n\ntext ^b1\n", "pic.png": b"\0",
            ".obsidian/app.json": "{}", "x/same.md": "", "y/same.md": "",
        }
    )  # fmt: skip
    assert [(link.kind, link.target, link.anchor_ok) for link in at.links(NOTE)] == [
        ("artifact", "kb/t.md", None), ("artifact", "a/Deep.md", None), ("artifact", "a/Deep.md", True),
        ("artifact", "a/Deep.md", True), ("artifact", "a/Deep.md", False), ("non-text", "pic.png", None),
        ("missing", "", None), ("ambiguous", "", None), ("anchor", NOTE, True),
    ]  # fmt: skip
