"""Whether a target has the place that a link names."""

from __future__ import annotations

import pytest

from admit.evidence.base import Base

from .conftest import MakeBase

TARGET = """# A title

## Two words

## Two words

## Ünï & *marks* `code`

## Own {#mine}

<a name="named"></a> and <span id='id'>x</span>

A paragraph ^block
"""


def verdicts(base: Base, note: str = "n.md") -> dict[str, bool | None]:
    return {link.dest: link.anchor_ok for link in base.links(note)}


@pytest.mark.parametrize(
    ("fragment", "ok"),
    [
        ("a-title", True),
        ("two-words", True),
        ("two-words-1", True),
        ("two-words-2", False),
        ("Two-words", False),
        ("%C3%BCn%C3%AF--marks-code", True),
        ("mine", True),
        ("own", True),
        ("named", True),
        ("id", True),
        ("nope", False),
        ("", True),
        ("top", True),
        (":~:text=any", True),
        ("two-words:~:text=any", True),
        ("nope:~:text=any", False),
        ("L1", True),
        ("L13", True),
        ("L14", False),
        ("L0", False),
        ("L2-L13", True),
        ("L2-L14", False),
        ("L9-L3", False),
        ("L2C3-L4C5", True),
        ("l2", False),
    ],
)
def test_a_fragment_is_looked_for_among_headings_ids_and_lines(
    base: MakeBase, fragment: str, ok: bool
) -> None:
    at = base({"n.md": f"[x](t.md#{fragment})", "t.md": TARGET})
    assert verdicts(at) == {f"t.md#{fragment}": ok}


def test_without_a_last_line_end_the_last_line_counts_too(base: MakeBase) -> None:
    at = base({"n.md": "[x](a.md#L2) [x](b.md#L2) [x](c.md#L1)", "a.md": "1\r2", "b.md": "1\n", "c.md": ""})
    assert verdicts(at) == {"a.md#L2": True, "b.md#L2": False, "c.md#L1": False}


def test_the_notes_own_anchors_are_looked_at(base: MakeBase) -> None:
    at = base({"n.md": "# Here\n\n[x](#here) [x](#gone) [x](n.md#here) [x](n.md#gone) [x](#)"})
    assert verdicts(at) == {"#here": True, "#gone": False, "n.md#here": True, "n.md#gone": False, "#": True}


def test_of_code_only_lines_are_known_and_of_html_the_ids(base: MakeBase) -> None:
    at = base(
        {
            "n.md": "[x](a.py#run) [x](a.py#L1) [x](a.py#L9) [x](b.html#i) [x](b.html#j)",
            "a.py": "# run\n",
            "b.html": "<p id=i>x</p>\n",
        }
    )
    assert verdicts(at) == {
        "a.py#run": None, "a.py#L1": True, "a.py#L9": False, "b.html#i": True, "b.html#j": False,
    }  # fmt: skip


def test_what_is_no_text_or_not_there_is_not_looked_at(base: MakeBase) -> None:
    at = base(
        {"n.md": "[x](a.bin#x) [x](no.md#x) [x](big.md#x) [x](http://a.b#x) [x](t.md) [x](f#x)",
         "a.bin": b"\0", "big.md": "a" * 2000, "t.md": "", "f/x.md": ""},
        max_artifact_bytes=1024,
    )  # fmt: skip
    assert set(verdicts(at).values()) == {None} and len(verdicts(at)) == 6


def test_a_wiki_fragment_is_the_text_of_a_heading_or_a_block_id(base: MakeBase) -> None:
    dests = {
        "t#A title": True, "t#two words": True, "t#Ünï & marks code": True, "t#A title#Two words": True,
        "t#^block": True, "t#^nope": False, "t#block": False, "t#No such": False, "t#": True, "t#Own": True,
    }  # fmt: skip
    at = base({"n.md": " ".join(f"[[{dest}]]" for dest in dests), "t.md": TARGET})
    assert verdicts(at) == dests


def test_a_target_is_parsed_once_for_all_the_links_to_it(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    from admit.evidence import base as module

    at = base({"n.md": "[x](t.md#a) [x](t.md#b) [x](t.md#L1)", "m.md": "[x](t.md#mine)", "t.md": TARGET})
    parsed: list[str] = []
    real = module.parse

    def spy(text: str, *, wikilinks: bool = True) -> object:
        parsed.append(text[:5])
        return real(text, wikilinks=wikilinks)

    monkeypatch.setattr(module, "parse", spy)
    at.links("n.md")
    at.links("m.md")
    assert parsed.count("# A t") == 1


def test_the_anchors_of_a_file_are_slugs_ids_and_block_ids(base: MakeBase) -> None:
    at = base({"t.md": TARGET, "a.bin": b"\0"})
    assert {"two-words-1", "mine", "own", "named", "id", "^block"} <= at.anchors("t.md")
    assert at.anchors("a.bin") == at.anchors("no.md") == frozenset()
