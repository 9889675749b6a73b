"""What a Markdown text holds: each way to write a link, blocks, headings, anchors and references."""

from __future__ import annotations

import pytest

from admit.evidence.blocks import with_roles
from admit.evidence.markdown import parse
from admit.evidence.note import Document

LINKS = {
    "inline": ("[a](t.md)", "t.md", "inline", "a"),
    "with a title": ('[a](t.md "title")', "t.md", "inline", "a"),
    "with a query and fragment": ("[a](t.md?plain=1#sec)", "t.md?plain=1#sec", "inline", "a"),
    "in angle brackets": ("[a](<sp ace.md>)", "sp ace.md", "inline", "a"),
    "with balanced parentheses": ("[a](p%20(x).md)", "p%20(x).md", "inline", "a"),
    "with an escape": (r"[a](b\)c.md)", "b)c.md", "inline", "a"),
    "with an entity": ("[a](b&amp;c.md)", "b&c.md", "inline", "a"),
    "with nested brackets": ("[nested [x] text](t.md)", "t.md", "inline", "nested [x] text"),
    "with brackets that could be a wiki link": ('[[1]](t.md "x")', "t.md", "inline", "1"),
    "wrapped": ("[wrapped\ntext](t.md)", "t.md", "inline", "wrapped text"),
    "with code": ("[the `x` key](t.md)", "t.md", "inline", "the x key"),
    "with nothing": ("[a]()", "", "inline", "a"),
    "full reference": ("[a][ref]\n\n[ref]: <t u.md> 'x'", "t u.md", "reference", "a"),
    "collapsed reference": ("[Ref][]\n\n[ref]: t.md", "t.md", "reference", "Ref"),
    "shortcut reference": ("[ref]\n\n[ref]: t.md", "t.md", "reference", "ref"),
    "autolink": ("<https://a.example/b>", "https://a.example/b", "autolink", "https://a.example/b"),
    "mail address": ("<a@b.example>", "mailto:a@b.example", "autolink", "a@b.example"),
    "image": ("![alt *text*](i.png)", "i.png", "image", "alt text"),
    "image by reference": ("![alt][ref]\n\n[ref]: i.png", "i.png", "image", "alt"),
    "html inline": ('x <a class="k" href="t.md?a&amp;b">the <b>text</b></a>', "t.md?a&b", "html", "the text"),
    "html image": ('<img alt="A" src=i.png>', "i.png", "image", "A"),
    "html over lines in a quote": ('> <p>\n> <a\n> href="t.md">x</a>', "t.md", "html", "x"),
    "wiki": ("[[name]]", "name", "wiki", "name"),
    "wiki with heading and alias": ("[[name#h|alias]]", "name#h", "wiki", "alias"),
    "wiki in a table": ("| a |\n|---|\n| [[name\\|alias]] |", "name", "wiki", "alias"),
    "embed": ("![[name]]", "name", "embed", "name"),
}  # fmt: skip


@pytest.mark.parametrize("way", LINKS)
def test_each_way_to_write_a_link_gives_its_destination_kind_and_text(way: str) -> None:
    text, dest, via, words = LINKS[way]
    [mark] = parse(text).marks
    assert (mark.n, mark.dest, mark.via, mark.text) == (1, dest, via, words)


@pytest.mark.parametrize(
    "text",
    [
        "`[a](t.md)`", "```\n[a](t.md)\n```", "~~~\n[[a]]", "    [a](t.md)", "<!-- [a](t.md) --> x",
        "<!--\n\n[a](t.md)\n<a href='t.md'>\n\n-->", "<!-- [a](t.md)\n\n[a](t.md)",
        "x <!-- <a href='t.md'> --> y",
        "<div>\n<!-- <a href='t.md'>\n</div>", "---\ntitle: '[a](t.md)'\n---\nx", r"\[a](t.md)", "[a] (t.md)",
        "<script>\nx = '<a href=\"t.md\">'\n</script>", "[a]: t.md",
        "[^1]\n\n[^1]: note", "<p title='href=\"t.md\"'>",
    ],
)  # fmt: skip
def test_code_comments_front_matter_and_escapes_hold_no_links(text: str) -> None:
    assert parse(text).marks == ()


def test_an_image_within_a_link_gives_both_from_the_outer_in() -> None:
    marks = parse("[![alt](img.png)](t.md)").marks
    assert [(mark.dest, mark.via, mark.text) for mark in marks] == [
        ("t.md", "inline", "alt"),
        ("img.png", "image", "alt"),
    ]


def test_wiki_links_that_are_off_are_counted_and_are_no_links() -> None:
    document = parse("[[a]] ![[b|c]] `[[d]]` [e](f.md)\n\n[g]", wikilinks=False)
    assert document.unfollowed == 2
    assert [mark.dest for mark in document.marks] == ["f.md"]
    assert parse("[[a]] [b]").unfollowed == 0


@pytest.mark.parametrize("dash", ["—", "–", "--", "-"])
def test_the_word_after_a_dash_and_before_a_colon_is_the_relation_of_a_footer_item(dash: str) -> None:
    [mark] = parse(f"- [a](t.md) {dash} builds-on: a reason: why").marks
    assert mark.label == "builds-on"


@pytest.mark.parametrize(
    "text",
    [
        "[a](t.md) — supports: x", "- x [a](t.md) — supports: x", "- [a](t.md) — Supports: x",
        "- [a](t.md) — supports x", "- [a](t.md): supports", "- [a](t.md) — two words: x",
    ],
)  # fmt: skip
def test_other_links_have_no_relation(text: str) -> None:
    assert parse(text).marks[0].label == ""


def test_a_relation_belongs_to_the_link_that_opens_its_item() -> None:
    marks = parse("- **[a](a.md)** — one: x [b](b.md) — two: y\n- [ ] [c](c.md) -\n  three: z").marks
    assert [mark.label for mark in marks] == ["one", "", "three"]


@pytest.mark.parametrize(
    "text",
    [
        "[x (snapshot\nrequired)](t.md)",
        '<a href="t.md">x (snapshot\nrequired)</a>',
        "[[t|x (snapshot required)]]",
    ],
)
def test_the_text_of_a_link_can_require_the_snapshot(text: str) -> None:
    assert parse(text).marks[0].snapshot_required
    assert not parse("[x](t.md) (snapshot required)").marks[0].snapshot_required


def blocks(text: str) -> list[str]:
    return [block.text for block in parse(text).blocks]


def test_paragraphs_items_rows_and_quotes_are_blocks_in_order() -> None:
    text = "# h\n\none\ntwo\n\n- item\n  more\n\n"
    text += "| a | b |\n|---|---|\n| c | d |\n\n> quoted\n\n```\ncode\n```\n\n---\n"
    assert blocks(text) == ["one\ntwo", "- item\n  more", "| a | b |", "| c | d |", "quoted"]
    document = parse(text)
    assert [block.id for block in document.blocks] == ["b1", "b2", "b3", "b4", "b5"]
    assert [(block.first, block.last) for block in document.blocks] == [
        (3, 4),
        (6, 7),
        (9, 9),
        (11, 11),
        (13, 13),
    ]
    assert [block.quote for block in document.blocks] == [False] * 4 + [True]


def test_an_item_ends_where_a_list_within_it_begins_and_goes_on_after_it() -> None:
    assert blocks("- one\n  - two\n  - three\n\n  after\n- four\n") == [
        "- one",
        "- two",
        "- three",
        "after",
        "- four",
    ]
    assert blocks("- - x\n") == ["- x"]
    assert blocks("> - a\n>   > b\n>\n>   c\n>\n>\n") == ["- a", "b", "c"]


def test_a_link_knows_its_block_and_one_in_a_heading_has_none() -> None:
    document = parse(
        "# [a](a.md)\n\n[b](b.md)\n\n- x\n  # [c](c.md)\n  [d](d.md)\n\n<p><a href='e.md'></p>\n"
    )
    assert [(mark.dest, mark.block) for mark in document.marks] == [
        ("a.md", ""),
        ("b.md", "b1"),
        ("c.md", ""),
        ("d.md", "b3"),
        ("e.md", ""),
    ]


ROLES = "[a](a.md)\n\n- [b](b.md) x\n- x [c](c.md)\n- ![d](d.png)\n- **[e](e.md)** [f](f.md)\n\nplain\n"


def roles(document: Document) -> list[str]:
    return [block.role for block in document.blocks]


def test_a_block_with_a_link_is_a_claim_and_an_item_that_opens_with_one_a_relation() -> None:
    assert roles(parse(ROLES)) == ["claim", "relation", "claim", "plain", "relation", "plain"]


def test_roles_follow_the_links_that_lead_to_artifacts() -> None:
    document = parse(ROLES)
    numbers = {mark.n for mark in document.marks if mark.dest in ("b.md", "f.md")}
    given = document._replace(blocks=with_roles(document, numbers))
    assert roles(given) == ["plain", "relation", "plain", "plain", "claim", "plain"]
    assert [block.role for block in with_roles(given, ())] == ["plain"] * 6


def test_headings_have_level_text_anchor_and_place() -> None:
    document = parse("# A *b* `c` ![i](p)\n\nTwo [l](m)\n===\n\n## A b c\n### Own text {#mine}\n#### {x}\n")
    assert [(each.level, each.text, each.slug, each.line) for each in document.headings] == [
        (1, "A b c", "a-b-c", 1),
        (1, "Two l", "two-l", 3),
        (2, "A b c", "a-b-c-1", 6),
        (3, "Own text", "mine", 7),
        (4, "{x}", "x", 8),
    ]
    assert document.headings[1].start == 21


def test_html_ids_names_and_block_ids_are_anchors() -> None:
    text = 'x <a name="n"></a> ^blk-1\n\n- y ^it\n  - z\n\n<div id=d>\n</div>\n\nno ^mid dle `^code`\n'
    assert parse(text).ids == {"n", "d", "^blk-1", "^it"}


def test_references_are_undefined_unused_or_duplicate_with_their_lines() -> None:
    text = (
        "[a][nope] [b][] [plain] [c][used] `[x][y]`\n\n[Used]: t.md\n[used]: u.md\n> [free]: v.md\n\n"
        "- x\n  [used]: w.md\n\n```\n[used]: x.md\n```\n<!--\n[used]: y.md\n-->\n- [USED]: z.md\n\n[^n]: no\n"
    )
    document = parse(text)
    assert document.undefined == (1, 1)
    assert document.unused == (5,)
    assert document.duplicate == (4, 16)


def test_front_matter_is_cut_off_and_offsets_are_of_the_whole_text() -> None:
    text = "\ufeff---\r\ntitle: é\r\n---\r\n\r\né [a](t.md)\r\n"
    document = parse(text)
    assert document.front is not None
    assert document.front.fields == {"title": "é"}
    [mark] = document.marks
    assert text.encode()[mark.start : mark.end] == b"[a](t.md)"
    assert (mark.line, mark.column) == (5, 3)


def test_front_matter_that_cannot_be_read_is_none_and_told_with_its_line() -> None:
    broken = parse("---\ntitle: [a\n---\n[x](t.md)\n")
    assert broken.front is None
    assert broken.problems
    assert 1 <= broken.problems[0][0] <= 3
    assert len(broken.marks) == 1
    large = parse("---\n" + "a: b\n" * 4000 + "---\n[x](t.md)\n")
    assert large.front is None
    assert large.problems == ((1, "is over 16 KiB"),)
    assert len(large.marks) == 1


def test_prose_between_two_rules_is_no_front_matter() -> None:
    document = parse("---\n\nprose [a](t.md)\n\n---\n")
    assert document.front is not None
    assert not document.front.fields
    assert [mark.dest for mark in document.marks] == ["t.md"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_with_any_of_the_three_ends(end: str) -> None:
    mark = parse(end.join(["x", "", "é [a](t.md)"])).marks[0]
    assert (mark.line, mark.column) == (3, 3)
