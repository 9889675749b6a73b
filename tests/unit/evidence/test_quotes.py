from __future__ import annotations

import pytest
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.evidence.checks.page import Page
from admit.evidence.checks.quotes import _quoted, quotations
from admit.evidence.checks.texts import Texts

SOURCE = "# S\n\nReading is the cost that a budget\nbounds, and a verdict never follows from it.\n"
INGEST = """---
source: https://example.org/paper
---
# Paper

The authors hold that budgets are mostly a matter of taste.

## Quotes

- Source extract (verbatim): "A budget bounds reading
  and never a verdict."
- Source location: page 3

Source extract (verbatim):

> Sixteen artifacts were enough for nine of ten notes.

Source location: page 9
"""


def test_a_verbatim_quotation_that_is_not_there_fails_with_the_closest_line(base: MakeBase) -> None:
    note = 'It says verbatim "the cost that a budget limits" ([s](s.md)).\n'
    one = only(base({"n.md": note, "s.md": SOURCE}), "quote")
    assert one.claim == "the cost that a budget limits"
    assert one.severity == "FAIL"
    assert (one.artifact, one.passage, one.passage_line) == ("s.md", "Reading is the cost that a budget", 3)
    assert one.block == "b1"


@pytest.mark.parametrize(
    "quotation",
    [
        '"the cost that a budget bounds"',
        "“the cost that a\nbudget bounds, and a verdict”",
        "&ldquo;the cost &hellip; bounds&rdquo;",
        '"[The] cost that a *budget* bounds,"',
        "&quot;a verdict never follows from it&quot;",
    ],
)
def test_a_quotation_that_is_there_in_any_disguise_is_no_finding(base: MakeBase, quotation: str) -> None:
    made = base({"n.md": f"Verbatim: {quotation} [s](s.md)\n", "s.md": SOURCE})
    page = Page(made, made.note("n.md"), Texts(made))
    assert [one.rule for one in quotations(page)] == ["quote"]
    assert not found(made, "quote")


def test_a_long_quotation_is_looked_up_without_being_called_verbatim(base: MakeBase) -> None:
    words = "the cost that a budget limits and a verdict follows"
    short = " ".join(words.split()[:7])
    made = base({"n.md": f'He says "{words}" [s](s.md).\n\nAnd "{short}" [s](s.md).\n', "s.md": SOURCE})
    one = only(made, "quote-long")
    assert (one.claim, one.severity) == (words, "WARN")
    assert not found(made, "quote")


def test_the_word_verbatim_within_a_quotation_or_a_target_does_not_make_it_one(base: MakeBase) -> None:
    note = 'They say "copied verbatim" [s](verbatim.md) and `verbatim`.\n'
    made = base({"n.md": note, "verbatim.md": SOURCE})
    assert not found(made, "quote")


def test_the_next_link_is_the_source_and_without_one_the_last_before(base: MakeBase) -> None:
    files = {"s.md": SOURCE, "t.md": "Other words.\n"}
    note = 'Verbatim [t](t.md) says: "the cost that a budget bounds" as in [s](s.md).\n'
    assert not found(base({"n.md": note, **files}), "quote")
    note = 'Verbatim [s](s.md) says: "the cost that a budget bounds" and [t](t.md).\n'
    one = only(base({"n.md": note, **files}), "quote")
    assert one.artifact == "t.md"
    assert "s.md holds it" in one.fix
    note = 'Verbatim [t](t.md), [s](s.md): "the cost that a budget bounds" and no more.\n'
    assert not found(base({"n.md": note, **files}), "quote")


def test_two_links_that_are_equally_near_leave_it_unresolved(base: MakeBase) -> None:
    note = 'Verbatim [s](s.md) "the cost that a budget bounds" [t](t.md).\n'
    made = base({"n.md": note, "s.md": SOURCE, "t.md": "Other.\n"})
    assert only(made, "quote-unresolved").severity == "INFO"
    assert not found(made, "quote")
    made = base({"n.md": note.replace("t.md", "s.md")})
    assert not found(made, "quote-unresolved")


@pytest.mark.parametrize(
    "quote",
    [
        "> Reading is the cost\n> that a budget bounds.\n>\n> — [s](s.md), line 3\n",
        "> Reading is the cost that a budget bounds. [s](s.md)\n",
        "> Reading is the cost that a budget\n> -- Someone ([s](s.md))\n",
        "> From [s](s.md):\n> Reading is the cost that a budget\n",
        "> “Reading is the cost that a budget” — [s](s.md)\n",
        "> [!note] Anything that is said of [s](s.md) here\n",
        "> Nothing like it, and no link\n",
    ],
)
def test_a_block_quote_is_held_against_its_link(base: MakeBase, quote: str) -> None:
    made = base({"n.md": f"# n\n\n{quote}", "s.md": SOURCE})
    assert not found(made, "quote")


def test_a_block_quote_that_is_not_there_fails(base: MakeBase) -> None:
    made = base(
        {"n.md": "> Reading is the price\n> that a budget bounds.\n>\n> — [s](s.md)\n", "s.md": SOURCE}
    )
    one = only(made, "quote")
    assert one.claim.startswith("Reading is the price\n> that")
    assert one.passage_line == 3


def test_of_an_ingest_only_its_quotes_count(base: MakeBase) -> None:
    files = {"p.ingest.md": INGEST}
    held = 'Verbatim "A budget bounds reading and never a verdict" [p](p.ingest.md)\n'
    also = 'Verbatim "Sixteen artifacts were enough" [p](p.ingest.md)\n'
    assert not found(base({"n.md": f"{held}\n{also}", **files}), "quote")
    own = 'Verbatim "budgets are mostly a matter of taste" [p](p.ingest.md)\n'
    one = only(base({"n.md": own}), "quote")
    assert "Quotes only" in one.text
    assert one.passage_line == 6
    one = only(base({"n.md": 'Verbatim "Sixteen files were enough" [p](p.ingest.md)\n'}), "quote")
    assert "Quotes only" not in one.text
    assert one.passage_line == 16
    across = 'Verbatim "never a verdict … Sixteen artifacts" [p](p.ingest.md)\n'
    assert only(base({"n.md": across}), "quote")


def test_a_found_quotation_has_its_place_in_the_file(base: MakeBase) -> None:
    made = base({"n.md": "[p](p.ingest.md)", "p.ingest.md": INGEST})
    text = Texts(made).of(made.note("n.md").links[0])
    assert text is not None
    hit = text.find("bounds reading and never")
    assert hit is not None
    assert INGEST.encode()[hit.start : hit.end].decode() == "bounds reading\n  and never"
    assert hit.line == 10


def test_titles_code_and_other_kinds_of_links_are_no_quotations(base: MakeBase) -> None:
    note = (
        'Verbatim `"not there at all"` [s](s.md "nor is this title here").\n\n'
        'Verbatim "not there at all" <https://example.org> [s](s.md).\n\n'
        'Verbatim "not there at all" without a link.\n'
    )
    assert not found(base({"n.md": note, "s.md": SOURCE}), "quote")


def test_a_thousand_open_marks_and_backticks_end_soon(base: MakeBase) -> None:
    ticks = " ".join("`" * (1 + n % 97) + '"' for n in range(20_000))
    made = base({"n.md": f"verbatim [s](s.md) {ticks} “ <!-- {'<' * 20_000}\n", "s.md": SOURCE})
    assert found(made, "dangling") == []


@pytest.mark.parametrize(
    "quotation",
    [
        '“{}"',
        '"{}”',
        "”{}”",
        "„{}“",
        "„{}”",
        '„{}"',
        "«{}»",
        "»{}«",
        "「{}」",
        '"{}"',
        "“{}”",
        "&laquo;{}&raquo;",
        "&bdquo;{}&ldquo;",
        "&ldquo;{}&quot;",
        "&#8222;{}&#x201D;",
    ],
)
def test_quotation_marks_of_any_kind_and_of_two_kinds_mark_a_quotation(
    base: MakeBase, quotation: str
) -> None:
    note = "It says verbatim " + quotation + " ([s](s.md)).\n"
    held = note.format("the cost that a budget bounds")
    assert not found(base({"n.md": held, "s.md": SOURCE}), "quote")
    other = note.format("the cost that a budget limits")
    assert only(base({"n.md": other, "s.md": SOURCE}), "quote").claim == "the cost that a budget limits"


@pytest.mark.parametrize(
    "quote",
    [
        "> **Note:** see [s](s.md) for the details.",
        "> The server listens on one port by default, and [s](s.md) says how another one is set.",
        "> | a | b |\n> |---|---|\n> | [s](s.md) | c |",
        "> a | b\n> ---|---\n> [s](s.md) | what to know of it before the server is started",
        "> # Before you start\n> Docker must run before the tests are started. [Details](s.md)",
        "> More of this stands in the docs ([s](s.md)).",
        "> Docker must run before the tests start, or all of them fail.\n> [Read more](s.md)",
        "> [Setup](s.md): install it first and then run the server as its own user",
        "> - See how the server is installed: [s](s.md)\n> - [s](s.md)",
        "> **Warning** — [s](s.md) is of no use before the server runs as its own user",
        "> Restart it all. — But see [s](s.md) for what is lost when that is done while others work on it.",
        "> ![[s.md]]",
    ],
)
def test_a_block_quote_with_a_link_in_passing_is_no_quotation(base: MakeBase, quote: str) -> None:
    made = base({"n.md": f"{quote}\n", "s.md": SOURCE})
    assert not found(made, "quote") and not found(made, "quote-long")


@pytest.mark.parametrize("tail", ["\n>\n> — [s](s.md)", " ([s](s.md))", "\n> [s](s.md)", " [s](s.md)"])
def test_a_block_quote_like_its_source_is_a_quotation(base: MakeBase, tail: str) -> None:
    words = "A word first. Reading is the cost that a budget limits, and a verdict ends it."
    made = base({"n.md": f"> {words}{tail}\n", "s.md": SOURCE})
    assert only(made, "quote").severity == "FAIL"


@pytest.mark.parametrize(
    "quote", ["> Reading is free.\n> — [s](s.md)", "> Verbatim: reading is free. [s](s.md)"]
)
def test_a_block_quote_with_an_attribution_or_called_verbatim_is_one_however_unlike(
    base: MakeBase, quote: str
) -> None:
    assert only(base({"n.md": f"{quote}\n", "s.md": SOURCE}), "quote").severity == "FAIL"


def test_a_quotation_within_a_block_quote_with_a_link_in_passing_is_looked_up(base: MakeBase) -> None:
    note = "> It says verbatim “the cost that a budget {}” in [s](s.md).\n"
    assert not found(base({"n.md": note.format("bounds"), "s.md": SOURCE}), "quote")
    assert only(base({"n.md": note.format("limits")}), "quote").claim == "the cost that a budget limits"


def test_single_marks_quote_only_what_is_long_since_apostrophes_look_the_same(base: MakeBase) -> None:
    long = "the cost that a budget’s limits and a verdict follow"
    short = "the cost that a budget limits"
    note = f"It says ‘{long}’ and verbatim ‘{short}’, the users’ own ([s](s.md)).\n"
    one = only(base({"n.md": note, "s.md": SOURCE}), "quote")
    assert one.claim == long
    assert only(base({"n.md": note.replace("verbatim", "then")}), "quote-long").claim == long
    assert not found(
        base({"n.md": f"‘{SOURCE.strip().splitlines()[2]}\nbounds, and a verdict’ ([s](s.md))\n"}),
        "quote-long",
    )


@pytest.mark.parametrize(
    "words", ['“a “b" and "c” d', '“a" x "b”', '“a "b" c”', '"a” x “b"', '“a" and “b”', '"a” and "b"']
)
def test_a_mark_of_another_kind_does_not_swallow_what_stands_between_two_quotations(words: str) -> None:
    spans = {match[match.lastgroup or 0] for match in _quoted().finditer(words)}
    assert spans == {
        '“a “b" and "c” d': {"b", "c"}, '“a" x "b”': {"a", "b"}, '“a "b" c”': {'a "b" c'},
        '"a” x “b"': {"a” x “b"}, '“a" and “b”': {"a", "b"}, '"a” and "b"': {"a", "b"},
    }[words]  # fmt: skip
