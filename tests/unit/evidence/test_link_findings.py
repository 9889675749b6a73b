from __future__ import annotations

import os

import pytest
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.config.evidence_keys import RULES
from admit.evidence.planning import plan

FILES = {
    "t.md": "# T\n\n## Sec\n",
    "sub/README.md": "# r\n",
    "sub/twin.md": "1",
    "other/twin.md": "2",
    "bin.pdf": b"%PDF\0",
    "large.md": "x" * 5000,
}


@pytest.mark.parametrize(
    ("rule", "link", "fix"),
    [
        ("dangling", "[x](T.md)", "did you mean t.md?"),
        ("dangling", "[x](sub/REEDME.md)", "did you mean sub/README.md?"),
        ("dangling", "![x](no.png)", ""),
        ("dangling-wiki", "[[no such note]]", ""),
        ("ambiguous", "[[twin]]", "name one by its path"),
        ("outside", "[x](../../o.md)", "copy the file into it"),
        ("malformed", "[x](a%00.md)", ""),
        ("malformed", "[x]()", ""),
        ("directory", "[x](sub/)", "link sub/README.md"),
        ("non-text", "[x](bin.pdf)", ""),
        ("bad-anchor", "[x](t.md#secc)", "did you mean #sec?"),
        ("bad-anchor", "[x](#nowhere)", ""),
        ("bad-anchor", "[[t#Nope]]", ""),
        ("unavailable", "[x](large.md)", ""),
    ],
)
def test_a_link_that_leads_nowhere_or_elsewhere_is_one_finding(
    base: MakeBase, rule: str, link: str, fix: str
) -> None:
    made = base({**FILES, "n.md": f"# n\n\nSee é {link} here.\n"}, max_artifact_bytes=2048)
    one = only(made, rule)
    assert one.claim == link
    assert (one.line, one.block) == (3, "b1")
    assert fix in one.fix
    others = {name for name, _, _ in RULES} - {rule}
    assert not [other for other in others if found(made, other)]


@pytest.mark.parametrize(
    "link",
    [
        "[x](t.md)",
        "[x](t.md#sec)",
        "[x](t.md#L2)",
        "[x](#n)",
        "[x](n.md)",
        "[[t]]",
        "![x](bin.pdf)",
        "<https://example.org/nope#x>",
        "`[x](no.md)`",
        "[x](t.md#:~:text=y)",
    ],
)
def test_a_link_that_leads_where_it_says_is_no_finding(base: MakeBase, link: str) -> None:
    made = base({**FILES, "n.md": f"# n\n\nSee {link} here.\n"})
    assert not [name for name, _, _ in RULES if found(made, name)]


def test_a_circle_of_links_is_named(base: MakeBase) -> None:
    made = base({"n.md": "[x](loop.md)\n"})
    os.symlink("loop.md", os.path.join(made.root, "loop.md"))
    assert "circle" in only(made, "dangling").text


def test_the_files_of_an_ambiguous_name_are_told(base: MakeBase) -> None:
    one = only(base({**FILES, "n.md": "[[twin]]\n"}), "ambiguous")
    assert "sub/twin.md" in one.text
    assert "other/twin.md" in one.text


def test_an_image_in_html_is_one_as_in_markdown_and_a_link_in_html_is_none(base: MakeBase) -> None:
    note = (
        '<img src="bin.pdf"> <img src="t.md"> ![x](bin.pdf)\n\n<a href="bin.pdf">x</a> <a href="t.md">x</a>\n'
    )
    made = base({**FILES, "n.md": note})
    assert only(made, "non-text").claim == '<a href="bin.pdf">'
    assert [one.links for one in plan(made, "n.md").offers] == [(5,)]
