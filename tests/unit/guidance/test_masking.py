import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.masking import masked


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see https://example.com/ssh/schema now", "see now"),
        ("run `git commit` now", "run now"),
        ("a\n```py\nssh\n```\nb", "a b"),
        ("a\n~~~\nssh\n```\n~~~\nb", "a b"),
        ("a\n````\n```\nssh\n````\nb", "a b"),
        ("a\n```\nssh never closed", "a"),
        ("> ssh quoted\nmine", "mine"),
        ("  > ssh quoted\nmine", "mine"),
        ("a > b", "a > b"),
        ("one ` alone", "one ` alone"),
        ("``a b`` c", "c"),
    ],
)
def test_what_a_person_only_quotes_is_blank(text, left):
    assert masked(text).split() == left.split()


@given(st.text(alphabet="a`~>\n\r h:/s t", max_size=80))
def test_length_and_lines_stay(text):
    found = masked(text)
    assert len(found) == len(text)
    assert [char for char in found if char in "\r\n"] == [char for char in text if char in "\r\n"]
    assert all(one in (" ", other) for one, other in zip(found, text, strict=True))
