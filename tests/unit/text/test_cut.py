"""Cuts fall between code points and never make a half character."""

from hypothesis import given
from hypothesis import strategies as st

from admit.text.cut import head, tail, utf16_length, without_surrogates

ANY = st.text(st.one_of(st.characters(), st.sampled_from("\ud83d\ude00\udc80a中\U0001f600")), max_size=30)
CLEAN = st.text(max_size=30)


def test_a_cut_keeps_code_points_whole():
    assert head("a😀b", 2) == "a😀"
    assert tail("a😀b", 2) == "😀b"


def test_a_cut_does_not_part_a_surrogate_pair():
    assert head("a\ud83d\ude00b", 2) == "a"
    assert tail("a\ud83d\ude00b", 2) == "b"
    assert head("a\ud83d\ude00b", 3) == "a\ud83d\ude00"


def test_nothing_and_less_than_nothing_is_empty():
    assert head("abc", 0) == tail("abc", 0) == head("abc", -1) == tail("abc", -1) == ""


def test_more_than_there_is_gives_all():
    assert head("abc", 9) == tail("abc", 9) == head("abc", 3) == tail("abc", 3) == "abc"


def test_pairs_become_their_character_and_halves_the_replacement():
    assert without_surrogates("\ud83d\ude00") == "😀"
    assert without_surrogates("a\ud83db\udc80c\ud83d") == "a\ufffdb\ufffdc\ufffd"
    assert without_surrogates("\udc80\ud83d") == "\ufffd\ufffd"


def test_utf16_length_counts_units_as_javascript_does():
    assert (utf16_length("abc"), utf16_length("é中"), utf16_length("😀"), utf16_length("\ud83d")) == (
        3,
        2,
        2,
        1,
    )


@given(CLEAN, st.integers(0, 40))
def test_head_and_tail_of_clean_text_are_plain_slices(text, n):
    assert head(text, n) == text[:n]
    assert tail(text, n) == text[max(0, len(text) - n) :]


@given(ANY, st.integers(0, 40))
def test_a_cut_makes_no_new_half_and_loses_at_most_one_more(text, n):
    halves = without_surrogates(text).count("\ufffd")
    for cut in (head(text, n), tail(text, n)):
        assert min(n, len(text)) - 1 <= len(cut) <= n
        assert without_surrogates(cut).count("\ufffd") <= halves
    assert text.startswith(head(text, n)) and text.endswith(tail(text, n))


@given(ANY)
def test_every_text_can_be_encoded_afterwards_and_clean_text_is_unchanged(text):
    clean = without_surrogates(text)
    assert clean.encode().decode() == clean
    assert without_surrogates(clean) is clean
    assert utf16_length(clean) == utf16_length(text)
