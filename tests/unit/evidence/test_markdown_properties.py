"""What holds of every Markdown text, and that two parsers agree on its links."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from admit.evidence.markdown import parse

# Pieces that links are made of, and what hides or cuts them.
PIECES = [
    "[", "]", "(", ")", "![", "a", "b c", "é",
    "[t](x.md)", "[r]", "[t][r]", "[r][]", "![i](p.png)", "<http://u.v>",
    "<a@b.c>", "<x y>", "[a [b] c](n.md)", "(t (u))", '"t"', "'t'", "&amp;", "&#40;",
    "<", "> ", ">", "\\", "*", "**",
    "_", "!", "`", "``",
    "\n", "\n\n", "- ", "1. ", "  ", "    ", "\t", "# ", "#", "\n===\n", "---\n", "```\n", "~~~",
    "<!-- ", " -->", "<b>", "</b>", '<a href="q">', "\n\n[r]: d.md\n\n", '\n\n[r]: <e f> "t"\n\n',
    "\n\n| a | b |\n|---|---|\n| c ",
]  # fmt: skip
ODD = [
    "\r",
    "\r\n",
    "\0",
    "\ufeff",
    "\ud800",
    "\U0001f680",
    "[[n|a]]",
    "![[e#h]]",
    "^id",
    "[^1]",
    "\n[^1]: x",
    "{#i}",
]

documents = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
odd_documents = st.lists(st.sampled_from(PIECES + ODD), max_size=40).map("".join)

# Where pulldown-cmark and markdown-it differ: (pattern, shortest text, links here, links there).
LABEL = "\n\n[r]: d\n"
DIFFERENCES: dict[str, tuple[str, str, list[str], list[str]]] = {
    # A shortcut may stand before an open parenthesis or bracket that makes no link; markdown-it drops it.
    "shortcut before a parenthesis": (r"r\]\(", "[r](" + LABEL, ["d"], []),
    "shortcut before a bracket": (r"r\]\[(?!r\]|\])", "[r][[]]" + LABEL, ["d"], []),
    # pulldown-cmark takes an escaped bracket for the begin of a label.
    "shortcut before an escaped bracket": (r"r\]\\", r"[r]\[t]" + LABEL, [], ["d"]),
    # pulldown-cmark does not see a shortcut before a tab that ends a heading.
    "shortcut before a tab in a heading": (r"#.*r\]\s*\t", "# [r]\t" + LABEL, [], ["d"]),
    # A line indented as code ends a table in markdown-it; in pulldown-cmark it is a row.
    "indented row": (r"\|---\|(?s:.*)\n[ >]*(?: {4}| {0,3}\t)", "|a|\n|---|\n    [](d)", ["d"], []),
    # Code may follow a definition in markdown-it; in CommonMark the paragraph goes on.
    "indented line after a definition": (r"\]:.*\n(?: {4}| {0,3}\t)", "[r]: d\n    [r]", ["d"], []),
}


def ours(text: str) -> list[tuple[str, str]]:
    marks = parse(text, wikilinks=False).marks
    return [(mark.dest, _kind(mark.via)) for mark in marks if mark.via != "html"]


def _kind(via: str) -> str:
    return "link" if via in ("inline", "reference") else via


def theirs(text: str) -> list[tuple[str, str]]:
    oracle = MarkdownIt("commonmark").enable("table")
    oracle.normalizeLink = lambda url: url  # type: ignore[method-assign]
    oracle.validateLink = lambda url: True  # type: ignore[method-assign]
    return _links(oracle.parse(text))


def _links(tokens: list[Any]) -> list[tuple[str, str]]:
    links: list[tuple[str, str]] = []
    for token in tokens:
        if token.type == "link_open":
            links.append((token.attrGet("href"), "autolink" if token.markup == "autolink" else "link"))
        elif token.type == "image":
            links.append((token.attrGet("src"), "image"))
        links += _links(token.children or [])
    return links


@given(documents)
def test_destinations_kinds_and_order_are_those_of_another_parser(text: str) -> None:
    known = any(re.search(pattern, text) for pattern, *_ in DIFFERENCES.values())
    if not known and not text.startswith("---"):  # that may be front matter
        assert ours(text) == theirs(text)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_known_differences_from_the_other_parser_are_still_there(name: str) -> None:
    pattern, text, here, there = DIFFERENCES[name]
    assert re.search(pattern, text)
    assert ([dest for dest, _ in ours(text)], [dest for dest, _ in theirs(text)]) == (here, there)


OPENINGS = {
    "inline": b"[",
    "reference": b"[",
    "wiki": b"[",
    "image": b"!",
    "embed": b"!",
    "autolink": b"<",
    "html": b"<",
}
ENDINGS = {"inline": b")", "reference": b"]", "autolink": b">", "html": b">", "wiki": b"]]", "embed": b"]]"}


@given(odd_documents, st.booleans())
@example("> - a\n>\n> [[x]](y) <a\n> href=z>\n", True)
def test_links_and_blocks_are_in_order_and_slice_to_their_source(text: str, wikilinks: bool) -> None:
    document = parse(text, wikilinks=wikilinks)
    data = re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
    assert [mark.n for mark in document.marks] == list(range(1, len(document.marks) + 1))
    assert all(one.start <= two.start for one, two in pairwise(document.marks))
    for mark in document.marks:
        source = data[mark.start : mark.end]
        assert source.startswith(OPENINGS[mark.via])
        assert source.endswith(ENDINGS.get(mark.via, (b")", b"]")))
    assert [block.id for block in document.blocks] == [f"b{n + 1}" for n in range(len(document.blocks))]
    assert all(one.end <= two.start for one, two in pairwise(document.blocks))
    for block in document.blocks:
        assert block.text
        assert data[block.start : block.end].decode() == block.text
    by_id = {block.id: block for block in document.blocks}
    for mark in document.marks:
        holders = [block.id for block in document.blocks if block.start <= mark.start < block.end]
        assert holders == ([mark.block] if mark.block else [])
        assert not mark.block or mark.end <= by_id[mark.block].end


def place(data: bytes, offset: int) -> tuple[int, int]:
    lines = re.split("\r\n|\r|\n", data[:offset].decode())
    return len(lines), len(lines[-1]) + 1


@given(odd_documents)
def test_lines_and_columns_are_those_counted_from_the_start(text: str) -> None:
    document = parse(text)
    data = re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
    for mark in document.marks:
        assert (mark.line, mark.column) == place(data, mark.start)
    for block in document.blocks:
        assert (block.first, block.last) == (place(data, block.start)[0], place(data, block.end)[0])
    for heading in document.headings:
        assert heading.line == place(data, heading.start)[0]


@given(st.text() | odd_documents, st.booleans())
def test_no_text_raises_and_equal_texts_give_equal_documents(text: str, wikilinks: bool) -> None:
    assert parse(text, wikilinks=wikilinks) == parse(text, wikilinks=wikilinks)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 10_000 + " [a](b)", "[" * 10_000, "[" * 10_000 + "]" * 10_000, "![" * 10_000 + "](x)" * 10_000,
        "- " * 3_000 + "x", "<a " * 20_000, "<div>\n" + "<!-- " * 20_000, "[[" * 20_000, "[a]: <" * 20_000,
        "# a" + " " * 50_000 + "{# " * 1_000, "*" * 20_000, "x" + "`" * 20_000, "]:" * 20_000,
        "|" * 5_000 + "\n" + "|-" * 5_000,
    ],
    ids=lambda text: f"{text[:4]!r}",
)  # fmt: skip
def test_deep_or_hostile_texts_are_read_through(text: str) -> None:
    assert parse(text + "\n\n[last](t.md)\n").marks[-1].dest == "t.md"


def test_a_text_may_hold_thousands_of_links() -> None:
    assert len(parse("[a](b) " * 6_000).marks) == 6_000
