import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.shapes import LONGEST, shapes


def same(*lines: str) -> bool:
    return len(set(shapes(lines).ids)) == 1


@pytest.mark.parametrize(
    "stamp",
    [
        "2024-05-01T10:11:12.123Z ",
        "2024-05-01 10:11:12,123 ",
        "2024/05/01 10:11:12 ",
        "2024-05-01T10:11:12+02:00 ",
        "2024-05-01 10:11:12 -0700 ",
        "[2024-05-01T10:11:12Z] ",
        "May  1 10:11:12 ",
        "May 11 10:11 ",
        "10:11:12 ",
        "10:11:12.5: ",
        "[10:11] ",
        "[   12.345678] ",
        "12.3 ",
    ],
)
def test_a_leading_timestamp_is_no_part_of_the_shape(stamp):
    assert same(stamp + "GET /users", "GET /users")


def test_a_time_inside_the_line_is_part_of_it_with_its_numbers_forgotten():
    assert not same("at 10:11:12 done", "at done")
    assert same("at 10:11:12 done", "at 23:59:59 done")


def test_what_holds_a_digit_is_one_sign_whatever_its_length():
    assert same("request 7 took 12ms", "request 1234 took 9ms")
    assert same("commit 3f9a1c2 ok", "commit 77ab3c9d1e0f ok", "commit 1 ok")
    assert not same("add a bad face", "add a bad cafe")


def test_runs_of_white_space_and_the_end_of_a_line_do_not_matter():
    assert same("a  b\tc", "a b c", "a \t b   c  ", "a b c\r")
    assert not same("ab", "a b")


def test_only_the_first_160_characters_count():
    assert same("x" * LONGEST + "one", "x" * LONGEST + "two")
    assert not same("x" * (LONGEST - 1) + "one", "x" * (LONGEST - 1) + "two")


def test_equal_shapes_have_equal_numbers_in_order_of_first_occurrence():
    found = shapes(["b 1", "a", "b 2", "c", "a"])
    assert found.ids == [0, 1, 0, 2, 1]
    assert found.counts == [2, 2, 1]
    assert [found.count(line) for line in range(5)] == [2, 2, 2, 1, 2]


def rarity(*lines: str) -> list[float]:
    found = shapes(lines)
    return [found.rarity[shape] for shape in found.ids]


def test_a_shape_is_rare_by_how_few_lines_have_it_as_far_as_the_output_repeats_itself():
    values = rarity(*["GET /users"] * 8, *["GET /items"] * 4)
    assert values == [1 / 8] * 8 + [1 / 4] * 4


def test_where_no_two_lines_share_a_word_nothing_is_rare():
    assert rarity("alpha one", "beta two", "gamma three") == [0, 0, 0]


def test_a_word_like_no_other_makes_a_line_rare_though_every_shape_is_its_own():
    colours, sizes = ["red", "green", "blue"] * 8, ["big", "small", "tiny", "wee"] * 6
    rows = [" ".join(pair) for pair in zip(colours, sizes, strict=True)]
    values = rarity(*rows, "red purple")
    assert values[-1] > 2 * max(values[:-1])


def test_of_very_many_shapes_only_whole_shapes_are_counted(monkeypatch):
    rows = [f"{colour} {size}" for colour in ("red", "green") for size in ("big", "tiny", "wee")]
    monkeypatch.setattr("admit.outputs.shapes.MOST_WORDED", len(rows))
    assert rarity(*rows, *rows, "red purple")[-1] == pytest.approx(1 - 7 / 13)


def test_no_lines_have_no_shapes():
    assert shapes([]) == ([], [], [])


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=300), max_size=20))
def test_every_line_has_a_shape_and_every_shape_as_many_lines_as_counted(lines):
    found = shapes(lines)
    assert len(found.ids) == len(lines)
    assert [found.ids.count(shape) for shape in range(len(found.counts))] == found.counts
