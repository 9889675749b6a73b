import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.specificity import MOST_SPAN, specificity


@pytest.mark.parametrize(
    ("source", "span", "form", "expected"),
    [
        (r"README\.md$", "README.md", "regex", 9),
        (r"\.md$", ".md", "regex", 3),
        (r"\.(md|rs|sh)$", ".md", "regex", 2),
        (r"^git\ commit", "git commit", "regex", 10),
        (".*", "anything at all", "regex", 0),
        ("**/*.ts", "src/a.ts", "glob", 3),
        (r"\bssh\b", "SSH", "regex", 3),
        (r"ab{2,30}c", "abbc", "regex", 2),
        (r"(?P<name>login)", "login", "regex", 5),
        (r"(?:deploy)s?", "deploys", "regex", 6),
        (r"(?i)deploy", "DEPLOY", "regex", 6),
        (r"[abc]def", "adef", "regex", 3),
        (r"[]x]def", "]def", "regex", 3),
        (r"[\]x]def", "]def", "regex", 3),
        (r"x[", "x[", "regex", 1),
        ("@my-rule", "@my-rule", "literal", 8),
        ("(a)", "(a)", "literal", 3),
    ],
)
def test_the_longest_literal_stretch_that_stands_in_the_span_counts(source, span, form, expected):
    assert specificity(source, span, form) == expected


def _longest(a: str, b: str) -> int:
    lengths = [j - i for i in range(len(a)) for j in range(i + 1, len(a) + 1) if a[i:j] in b]
    return max(lengths, default=0)


@given(st.text(alphabet="abc", max_size=12), st.text(alphabet="abc", max_size=12))
def test_it_is_the_longest_common_substring(source, span):
    assert specificity(source, span, "literal") == _longest(source, span)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["regex", "glob", "literal"]))
def test_it_never_exceeds_either_side(source, span, form):
    assert 0 <= specificity(source, span, form) <= len(source.casefold())
    assert specificity(source, span, form) <= len(span.casefold())


def test_a_span_counts_by_its_first_characters():
    assert specificity("needle", "x" * MOST_SPAN + "needle") == 0
