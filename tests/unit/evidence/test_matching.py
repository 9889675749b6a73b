from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.matching import MAX_PASSAGE, Source, normal, parts

WORD = st.text(st.sampled_from("abcdefgßéğДשあ漢1"), min_size=2, max_size=8)
SPACE = ("  ", "\n", "\n> ", "\r\n", "\t", "\u00a0")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("“curly” ‘single’", "\"curly\" 'single'"),
        ("a – b — c − d ‐ e", "a - b - c - d - e"),
        ("one…", "one..."),
        ("&ldquo;x&rdquo; &amp; &#8212; &nbsp;y", '"x" & - y'),
        ("**bold** _and_ `code` ~~gone~~", "bold and code gone"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("> wrapped\n> text", "wrapped text"),
        ("ﬁne e\u0301t\u00e9", "fine \u00e9te\u0301"),
        ("see [a note](./x(1).md 'no') here", "see [a note](./x(1).md 'no') here"),
        ('see [a note](./x(1).md "title") here', "see a note here"),
        ("see [a note][ref] and a mark[^1]", "see a note and a mark"),
        (r"a \* b", "a  b"),
    ],
)
def test_print_and_markup_do_not_count(text: str, same: str) -> None:
    assert normal(text).strip() == normal(same)


@pytest.mark.parametrize(
    ("text", "other"),
    [("Case", "case"), ("a b", "ab"), ("one.", "one"), ("x < 3", "x 3"), ("~5 ms", "5 ms"), ("été", "ete")],
)
def test_letters_case_signs_and_spaces_count(text: str, other: str) -> None:
    assert normal(text) != normal(other)


def test_a_place_is_given_in_bytes_of_the_text_as_it_stands() -> None:
    source = Source("Ünder &ldquo;the **quick**\n> brown&rdquo; fox.")
    span = source.find('the quick brown" fox')
    assert span is not None
    start, end = source.byte_span(span)
    assert source.text.encode()[start:end].decode() == "the **quick**\n> brown&rdquo; fox"
    assert source.line(span.end) == 2


@pytest.mark.parametrize(
    "quotation",
    [
        "[T]he cost … is high",
        "The cost [of reading] is high",
        "the cost ... high",
        "cost is [very] high.",
        "high,",
    ],
)
def test_an_ellipsis_and_brackets_stand_for_what_was_left_out_or_put_in(quotation: str) -> None:
    text = (
        "When the cost of a long text is high, read less. The cost of a text is high"
        if quotation[0] == "T"
        else ("So the cost is on balance high; nothing else is high")
    )
    assert Source(text).find(quotation) is not None


@pytest.mark.parametrize(
    "quotation",
    ["high ... the cost", "he cost is", "the cost is hig", "was 12", "was 3", "5 ms long", "... […] ..."],
)
def test_order_whole_words_and_whole_numbers_are_kept(quotation: str) -> None:
    assert Source("So the cost is high. It was 12.5 ms long, and it was 3,500 more").find(quotation) is None


def test_a_script_without_spaces_is_quoted_from_any_character() -> None:
    assert Source("証拠を読む予算は十六である").find("読む予算") is not None


def test_the_closest_line_shares_most_words_and_is_the_first_of_equals() -> None:
    source = Source(
        "# Title\n\nNothing here.\n\nThe red fox jumps over a dog.\nThe red fox jumps over a dog.\n"
    )
    near = source.closest("the red fox leaps over the dog")
    assert near is not None
    assert near == (5, "The red fox jumps over a dog.")
    assert source.closest("zebra quagga") is None


def test_of_a_long_line_the_stretch_around_the_shared_words_is_shown() -> None:
    source = Source("filler " * 2000 + "the budget limits what is read " + "filler " * 2000)
    near = source.closest("the budget bounds what is read")
    assert near is not None
    assert "budget limits what" in near.text
    assert len(near.text) <= MAX_PASSAGE
    assert near.text in source.text


def test_a_quotation_without_a_letter_or_digit_stands_nowhere() -> None:
    assert parts("… [x] --") == ()
    assert Source("… -- x").find("--") is None


@given(st.lists(WORD, min_size=12, max_size=60), st.data())
def test_a_disguised_quotation_is_found_with_a_span_that_is_it(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 3))
    last = data.draw(st.integers(first + 2, len(words)))
    quoted = words[first:last]
    disguise = st.sampled_from((*SPACE, " ", " **", "* ", " `", " \u200b"))
    source = Source(data.draw(disguise).join([text, *(data.draw(disguise) for _ in range(2))]))
    worn = "".join(
        word[:1] + data.draw(st.sampled_from(("", "\u00ad", "\u200b", "*"))) + word[1:] + gap
        for word in quoted
        for gap in (data.draw(st.sampled_from((*SPACE, " ", " _"))),)
    )
    span = source.find(worn)
    assert span is not None
    assert normal(source.text[span.start : span.end]) == normal(" ".join(quoted))
    start, end = source.byte_span(span)
    assert source.text.encode()[start:end].decode() == source.text[span.start : span.end]


@given(st.lists(st.sampled_from(["ab", "cd", "ef", "gh"]), min_size=6, max_size=40), st.data())
def test_a_changed_word_is_found_only_where_the_text_holds_it(words: list[str], data: st.DataObject) -> None:
    quoted = list(words[:5])
    quoted[data.draw(st.integers(0, 4))] = data.draw(
        st.sampled_from(["ab", "cd", "ef", "gh", "a", "abc", "x"])
    )
    held = re.search(rf"\b{' '.join(quoted)}\b", " ".join(words)) is not None
    assert (Source("\n".join(words)).find(" ".join(quoted)) is not None) == held


@given(st.text(st.sampled_from("ab12 .,-–—\"'“”*_`>[]()&;#x\\\n\u0301\u00ad…½ﬁ\u1100\u1161"), max_size=80))
def test_any_text_gives_ascending_places_within_it(text: str) -> None:
    source = Source(text)
    places = [source._place(at) for at in range(len(source.normal))]
    assert all(0 <= place.start < place.end <= len(text) for place in places)
    assert places == sorted(places)
    assert "  " not in source.normal
