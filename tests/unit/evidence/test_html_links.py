"""Tags of raw HTML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.html_links import MAX_TAG_BYTES, tags


def found(html: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(tag.name, tag.links, tag.anchors) for tag in tags(html.encode())]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="x&amp;y">', [("a", ("x&y",), ())]),
        ("<A HREF = x ID='k'>", [("a", ("x",), ("k",))]),
        ('<img\n  alt=">"\n  src="i.png"/>', [("img", ("i.png",), ())]),
        ('<a href="1" href="2">', [("a", ("1",), ())]),
        ('<a href="">', [("a", ("",), ())]),
        ("<a name=n id=''>", [("a", (), ("n",))]),
        (
            '<script src="s.js">"<a href=x>"</script><a href=y>',
            [("script", ("s.js",), ()), ("a", ("y",), ())],
        ),
        ("<textarea><a href=x>", []),
        ("<!-- <a href=x> --><a href=y>", [("a", ("y",), ())]),
        ("<!--><a href=y>", [("a", ("y",), ())]),
        ("<!-- <a href=x>", []),
        ("<? <a href=x> ?>", []),
        ('<p title="<a href=x>">', []),
        ("</a href=x>", []),
        ("<a href=x", []),
        ("<a <a href=x>", [("a", ("x",), ())]),
        ("1 < 2 <i>", []),
    ],
)
def test_tags_give_their_links_and_anchors(
    html: str, expected: list[tuple[str, tuple[str, ...], tuple[str, ...]]]
) -> None:
    assert found(html) == expected


def test_a_tag_over_the_limit_is_passed_over() -> None:
    large = "<a title='" + "x" * MAX_TAG_BYTES + "' href=x>"
    assert found(large + "<a href=y>") == [("a", ("y",), ())]


PIECES = [
    "<",
    ">",
    "/",
    "!",
    "-",
    "?",
    '"',
    "'",
    "=",
    " ",
    "\n",
    "<!--",
    "-->",
    "href=",
    "<a ",
    "<script>",
    "é",
    "x",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_html_gives_tags_in_order_that_slice_to_tags(html: str) -> None:
    data, at = html.encode(), 0
    for tag in tags(data):
        assert at <= tag.start < tag.end
        assert data[tag.start : tag.start + 1] == b"<"
        assert data[tag.end - 1 : tag.end] == b">"
        at = tag.end
