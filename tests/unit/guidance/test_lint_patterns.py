"""What a pattern's own source tells about it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.lint_patterns import alternatives, common_words, has_dot_star, short_words


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a|b c", [("a", False), ("b c", False)]),
        (r"\b(schema|versions?)\b", [("schema", True), ("versions?", True)]),
        ("^(?:a|(?i)b)$|c", [("a", True), ("b", True), ("c", False)]),
        (r"(a|b) (c|d)", [("(a|b) (c|d)", False)]),
        (r"x[|(]y|\(z\|", [("x[|(]y", False), (r"\(z\|", False)]),
        (r"[]|]a|[^]|]b", [("[]|]a", False), ("[^]|]b", False)]),
        ("(^| )adr( |$)", [("(^| )adr( |$)", True)]),
        (r"a\$", [(r"a\$", False)]),
        ("(?P<n>a)", [("(?P<n>a)", False)]),
        ("", [("", False)]),
    ],
)
def test_alternatives_open_groups_and_know_their_anchors(pattern, expected):
    assert list(alternatives(pattern)) == expected


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("schema|database schema", ("schema",)),
        (r"\b(Version|patch(es)?|tests?)\b", ("version", "test")),
        ("git commit|pull.?request", ()),
        ("schema|schemas?", ("schema",)),
        ("flamegraph", ()),
    ],
)
def test_common_words_are_found_where_one_stands_alone(pattern, words):
    assert common_words(pattern) == words


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("ssh|scp -r", ("ssh",)),
        (r"\bssh\b", ()),
        ("^pr", ()),
        (r"a\.b\.c", ()),
        ("x.y.z", ("x.y.z",)),
        (r"\w+", (r"\w+",)),
    ],
)
def test_short_words_without_an_anchor_are_found(pattern, words):
    assert short_words(pattern) == words


@pytest.mark.parametrize(
    ("pattern", "has"),
    [("a.*b", True), ("a.+", True), (r"a\.*", False), ("[.*]", False), ("a.{0,9}b.", False)],
)
def test_a_reach_without_end_is_found(pattern, has):
    assert has_dot_star(pattern) is has


@given(st.text(alphabet="ab|()[]\\^$.*?+:!{}", max_size=40))
def test_any_source_is_looked_at_without_an_error(pattern):
    assert list(alternatives(pattern))
    common_words(pattern), short_words(pattern), has_dot_star(pattern)
