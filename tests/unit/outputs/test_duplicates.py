import pytest

from admit.outputs.duplicates import (
    MOST_PER_SESSION,
    MOST_SESSIONS,
    Seen,
    ShownBefore,
    duplicate_key,
    key_of,
    unchanged_line,
)


@pytest.mark.parametrize(
    "other",
    ["a  \nb", "a\nb\n\n", "\n\n  a\nb", "a\r\nb\r\n", "a\t\nb \n \n", "\x1b[32ma\x1b[0m\nb\n", "10 %\ra\nb"],
)
def test_white_space_at_line_ends_and_around_the_whole_and_colours_do_not_matter(other):
    assert duplicate_key(other, 0) == duplicate_key("a\nb", 0)


@pytest.mark.parametrize("other", ["a\n b", "a\n\nb", "ab", "a\nc", "A\nb"])
def test_anything_else_does(other):
    assert duplicate_key(other, 0) != duplicate_key("a\nb", 0)


def test_the_exit_code_is_part_of_the_key_and_unknown_is_not_0():
    assert len({duplicate_key("a", code) for code in (None, 0, 1)}) == 3


def test_a_lone_surrogate_has_a_key():
    assert duplicate_key("\ud800", 0) != duplicate_key("\ud801", 0)


def test_one_line_says_what_is_unchanged_and_where_it_stands():
    seen = Seen("o_3f9a1c2b7d10", "bash", None)
    assert unchanged_line("0123abcd", seen, 3_091, 101, 2, "admit recall o_3f9a1c2b7d11") == (
        "[admit 0123abcd] 3,091 chars, 101 lines, exit code 2: unchanged, the same as o_3f9a1c2b7d10 from "
        "bash, shown above. Whole output: admit recall o_3f9a1c2b7d11"
    )
    line = unchanged_line("0123abcd", seen._replace(tool=""), 3_091, 101, None)
    assert "exit code unknown" in line and "from an earlier call" in line and "Whole" not in line


KEY = b"k"


def whole(number: int = 1) -> Seen:
    return Seen(f"o_{number}", "bash", None)


def cut_for(task: str) -> Seen:
    return Seen("o_1", "bash", task)


def test_case_21_an_output_that_was_never_shown_is_not_found():
    """case 21"""
    shown = ShownBefore()
    shown.add("s", b"other", whole())
    assert shown.find("s", KEY, "t") is None
    assert shown.find("another session", b"other", "t") is None


def test_one_shown_whole_is_found_for_any_task_and_one_that_was_cut_for_its_own_task_only():
    shown = ShownBefore()
    shown.add("s", KEY, whole())
    assert shown.find("s", KEY, "t") == whole()
    shown = ShownBefore()
    shown.add("s", KEY, cut_for("t"))
    assert shown.find("s", KEY, "t") == cut_for("t")
    assert shown.find("s", KEY, "u") is None


def test_one_cut_again_for_another_task_is_found_for_that_one():
    shown = ShownBefore()
    shown.add("s", KEY, cut_for("t"))
    shown.add("s", KEY, cut_for("u"))
    assert shown.find("s", KEY, "u") == cut_for("u")


def test_one_shown_whole_stays_so_when_it_is_cut_later():
    shown = ShownBefore()
    shown.add("s", KEY, whole())
    shown.add("s", KEY, cut_for("t"))
    assert shown.find("s", KEY, "another") == whole()


def test_forgetting_a_session_empties_it_alone_and_says_how_many_went():
    shown = ShownBefore()
    shown.add("s", b"1", whole())
    shown.add("s", b"2", whole())
    shown.add("other", KEY, whole())
    assert shown.forget("s") == 2
    assert shown.find("s", b"1", "t") is None and shown.find("other", KEY, "t")
    assert shown.forget("s") == 0


def test_of_too_many_outputs_of_a_session_the_one_shown_longest_ago_goes():
    shown = ShownBefore()
    for number in range(MOST_PER_SESSION):
        shown.add("s", b"%d" % number, whole(number))
    shown.add("s", b"0", cut_for("t"))
    shown.add("s", b"one more", whole())
    assert shown.find("s", b"0", "t") and not shown.find("s", b"1", "t") and shown.find("s", b"2", "t")


def test_of_too_many_sessions_the_one_used_longest_ago_goes():
    shown = ShownBefore()
    for number in range(MOST_SESSIONS):
        shown.add(f"s{number}", KEY, whole())
    shown.add("s0", b"again", whole())
    shown.add("one more", KEY, whole())
    assert shown.find("s0", KEY, "t") and not shown.find("s1", KEY, "t") and shown.find("s2", KEY, "t")


def test_a_huge_output_is_told_by_its_bytes_and_never_decoded():
    assert key_of(b"a  \nb\n", 0, 100) == duplicate_key("a\nb", 0)
    assert key_of(b"a  \nb\n", 0, 3) != key_of(b"a\nb\n", 0, 3)
    assert key_of(b"a\nb\n", 0, 3) == key_of(b"a\nb\n", 0, 3) != key_of(b"a\nb\n", 1, 3)
