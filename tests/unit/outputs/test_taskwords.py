import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.lines import index_lines, joined
from admit.outputs.model import Task
from admit.outputs.taskwords import MOST_TERMS, score_lines, task_words


def scores(lines, text="", **fields):
    return score_lines(lines, index_lines(lines, joined(lines)), task_words(Task(text, **fields)))


FILLER = [f"nothing of note stands in entry {k}" for k in range(300)]


def test_terms_are_identifiers_whole_and_split_lower_case_and_stemmed_without_stop_words():
    assert list(task_words(Task("Why is the getUserName handler failing?")).weights) == [
        "get", "user", "name", "getusernam", "handler", "fail",
    ]  # fmt: skip


def test_the_plan_counts_as_much_as_the_request_and_an_argument_of_the_command_half():
    weights = task_words(Task("alpha", plan="beta", command="gamma delta alpha")).weights
    assert weights == {"alpha": 1.0, "beta": 1.0, "delta": 0.5}


def test_history_brings_no_terms():
    assert not task_words(Task(history=("alpha beta",))).weights


def test_text_without_spaces_is_taken_as_pairs_of_characters():
    assert list(task_words(Task("数据库错误")).weights) == ["数据", "据库", "库错", "错误"]


@given(st.text(st.sampled_from("abcdefgINGSED _-"), max_size=60), st.text(max_size=20))
def test_every_line_with_a_term_holds_the_letters_that_are_looked_for(text, more):
    sought = task_words(Task(f"{text} {more}"))
    for line in (text, more):
        index = index_lines([line], joined([line]))
        found = [term for term, key in sought.keys.items() if key and list(index.holding(key))]
        values = score_lines([line], index, sought).values
        assert bool(values[0]) <= bool(found)


def test_different_words_of_one_stem_share_the_letters_that_all_of_them_hold():
    assert task_words(Task("happy happiness")).keys["happi"] == "happ"
    lines = [*FILLER, "a happy end", "HAPPINESS found"]
    assert all(scores(lines, "happy happiness").values[-2:])


def test_a_pasted_log_in_a_prompt_costs_no_search_per_word():
    sought = task_words(
        Task(" ".join(f"word{'abcdefghij'[k % 10]}{'klmnopqrst'[k // 10]}" for k in range(100)))
    )
    assert len(sought.weights) == MOST_TERMS


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('find "Max Connections" here', ("max connections",)),
        ("find 'pool size' here", ("pool size",)),
        ("look at `src/a.py:12` and `b c`", ("src/a.py:12", "b c")),
        ("find “smart quotes” now", ("smart quotes",)),
        ("it's what we don't know", ()),
        ('"ab" is too short, "  x  " too', ()),
        ('"same" and "same" again', ("same",)),
        ('an "open quote', ()),
    ],
)
def test_a_string_that_the_task_quotes_is_looked_for_as_it_stands(text, quotes):
    assert task_words(Task(text)).quotes == quotes


def test_the_line_with_the_task_words_scores_highest_and_a_line_without_any_nothing():
    lines = [*FILLER, "the connection pool is exhausted", "a pool"]
    values = scores(lines, "connection pool exhausted").values
    assert max(range(len(lines)), key=lambda k: values[k]) == 300
    assert values[300] == 1 and 0 < values[301] < 1 and not any(values[:300])


def test_a_rare_word_counts_more_than_a_common_one_and_more_in_a_short_line():
    lines = [*FILLER, "pool", "entry", "pool " + "x " * 100]
    values = scores(lines, "pool entry").values
    assert values[300] > values[301] and values[300] > values[302] > 0


def test_a_word_that_stands_twice_in_a_line_counts_more_than_once_but_not_twice():
    lines = [*FILLER, "pool of ten", "pool to pool"]
    values = scores(lines, "pool").values
    assert values[300] < values[301] < 2 * values[300]


def test_words_inside_other_words_do_not_count():
    assert not any(scores([*FILLER, "the whirlpool spins"], "pool").values)


def test_where_the_words_stand_in_many_lines_even_the_best_of_them_is_not_worth_a_full_one():
    lines = [f"row {k} of the table" for k in range(200)] + ["other"] * 100
    assert 0 < max(scores(lines, "table").values) < 0.5


def test_lines_with_a_term_that_under_one_percent_have_or_a_quoted_string_are_rare_the_best_first():
    lines = [*FILLER, "the pool is full", "max conn reached", "pool pool", *["many many"] * 20]
    assert scores(lines, 'why is the pool full, many? "Max Conn"').rare == (301, 300, 302)


def test_a_quoted_string_in_more_than_one_percent_of_the_lines_points_at_nothing():
    lines = [*FILLER, *["max conn reached"] * 4]
    assert scores(lines, 'the "max conn" limit').rare == ()
    assert len(scores(lines[:-1], 'the "max conn" limit').rare) == 3


def test_a_quoted_emoji_is_found():
    assert scores([*FILLER, "🚀 deploy"], 'after "🚀 deploy" it hangs').rare == (300,)


def test_a_word_in_more_than_a_third_of_very_many_lines_tells_none_from_the_others():
    lines = ["alpha here"] * 1_001 + ["none"] * 1_000
    assert not any(scores(lines, "alpha").values)
    assert any(scores(lines[1:], "alpha").values)


def test_beyond_the_lines_that_are_read_word_by_word_letters_count_as_the_word(monkeypatch):
    monkeypatch.setattr("admit.outputs.taskwords.MOST_READ", 2)
    lines = [*FILLER, "beta beta", *["alphabet"] * 3]
    values = scores(lines, "alpha beta").values
    assert values[300] == 1 and all(values[301:])
    # The word counts once, however often it stands.
    lines = [*FILLER, "beta", "gamma", *["alphabet alphabet"] * 3, "alpha and a alpha"]
    values = scores(lines, "alpha beta gamma").values
    assert values[302] == values[305] > 0
    # What was read for one word is not read again for another, and counts for the limit.
    lines = [*FILLER, "beta", "gammarays one", "gammarays two"]
    assert all(scores(lines, "gamma beta").values[300:])
    lines = [*FILLER, "beta gamma", "beta gammarays", "deltas"]
    assert scores(lines, "gamma beta").values[301] < scores(lines, "gamma beta").values[300]


def test_case_16_a_carriage_return_at_the_end_of_each_line_changes_no_value():
    """case 16"""
    lines = [*FILLER, "the pool", "a longer line about the pool and more"]
    assert scores([line + "\r" for line in lines], "pool full").values == scores(lines, "pool full").values


@given(
    st.lists(st.text(st.sampled_from("ab xé\r"), max_size=12), max_size=30),
    st.text(st.sampled_from('ab x"`'), max_size=20),
)
def test_every_line_gets_a_value_between_0_and_1(lines, task):
    found = scores(lines, task)
    assert len(found.values) == len(lines)
    assert all(0 <= value <= 1 for value in found.values)
    assert set(found.rare) <= set(range(len(lines)))
