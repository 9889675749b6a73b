import pytest

from admit.outputs.guards import TERM_LINES, first_and_last, guard
from admit.outputs.spend import Spender

from .cases import looked_at

WORDS = ["alpha", "beta", "gamma", "delta", "kappa", "sigma", "omega", "zeta"]


def steps(first: int, last: int) -> list[str]:
    return [f"step {k} of the build went well" for k in range(first, last)]


def guarded(lines, *, chars=2_000, budget=6_000, context=1, task="", exit_code=0):
    """The guarded lines with the rule that kept each."""
    looked = looked_at("\n".join(lines) + "\n", exit_code=exit_code, task=task)
    spender = Spender(looked.view, budget)
    before = spender.spent
    guard(looked.view, looked.weighed, spender, chars, context)
    return spender.rules, spender.spent - before


def test_the_first_and_the_last_failure_line_of_each_shape_are_guarded_with_their_neighbours():
    lines = [*steps(0, 50), *(f"error in part {k}" for k in range(50)), *steps(50, 99), "fatal: it broke"]
    rules, _ = guarded(lines)
    assert rules == dict.fromkeys([49, 50, 51, 98, 99, 100, 148, 149], "failure")


def test_guard_context_says_how_many_neighbours():
    lines = [*steps(0, 50), "fatal: it broke", *steps(50, 99)]
    assert sorted(guarded(lines, context=0)[0]) == [50]
    assert sorted(guarded(lines, context=3)[0]) == list(range(47, 54))
    assert sorted(guarded(["fatal: it broke", *steps(0, 9)], context=1)[0]) == [0, 1]


def test_failure_lines_are_taken_one_per_eighth_of_the_output_in_turn_until_the_share_is_spent():
    lines = steps(0, 800)
    for part in range(8):
        for k, word in enumerate(WORDS):
            lines[part * 100 + 10 + k] = f"error {word} {'abcdefgh'[part]}"
    rules, spent = guarded(lines, chars=900, context=0)
    assert {line // 100 for line in rules} == set(range(8))
    # The first of them is kept whatever it costs.
    assert 900 < spent <= 900 + 48 + len(lines[10]) + 1


def test_the_last_eighth_comes_first():
    lines = steps(0, 800)
    for part in range(8):
        lines[part * 100 + 50] = f"error {WORDS[part]}"
    rules, _ = guarded(lines, chars=200, context=0)
    assert list(rules) == [750, 650, 550, 450]


def test_what_a_parser_marked_comes_before_what_only_words_report():
    lines = ["=" * 30 + " test session starts " + "=" * 30]
    lines += [f"captured error {word} of the log" for word in WORDS]
    lines += [
        "=" * 30 + " short test summary info " + "=" * 30,
        "FAILED tests/test_a.py::test_b - assert 1 == 2",
    ]
    rules, _ = guarded(lines, chars=60, context=0)
    assert [lines[line][:6] for line, rule in rules.items() if rule == "failure"] == ["FAILED"]


def test_summaries_are_guarded_the_last_first():
    stage = ["=" * 30 + " test session starts " + "=" * 30, *steps(0, 40)]
    lines = []
    for k in range(5):
        lines += [*stage, "=" * 20 + f" {k + 1} passed in 0.0{k}s " + "=" * 20]
    ends = [41 + 42 * k for k in range(5)]
    assert [line for line, rule in guarded(lines)[0].items() if rule == "summary"] == ends[::-1]
    rules, spent = guarded(lines, chars=300)
    assert [line for line, rule in rules.items() if rule == "summary"] == ends[:1:-1]
    assert spent <= 300


def test_the_three_best_lines_with_a_rare_word_of_the_task_are_guarded():
    lines = steps(0, 700)
    for k in (100, 200, 300, 400, 500):
        lines[k] = f"the {'pool ' * (k // 100)}is here"
    rules, _ = guarded(lines, task="the pool")
    assert list(rules.values()) == ["term"] * TERM_LINES
    assert set(rules) <= {100, 200, 300, 400, 500}


def test_the_share_is_not_exceeded_by_anything_but_the_one_failure_line():
    lines = [*steps(0, 50), f"fatal: {'it broke ' * 100}", *steps(50, 99)]
    rules, spent = guarded(lines, chars=40)
    assert rules == {50: "failure", 49: "failure"} and spent > 900


@pytest.mark.parametrize("chars", [0, 500])
def test_case_3_one_failure_line_is_kept_whatever_the_share(chars):
    """case 3"""
    lines = [
        *steps(0, 900),
        "FAIL\texample.com/shop\t0.3s",
        *steps(900, 950),
        "ok  \texample.com/stock\t0.1s",
    ]
    assert 900 in guarded(lines, chars=chars)[0]


def test_the_one_failure_line_is_a_parsers_if_there_is_one_else_the_last_that_fits():
    lines = ["--- FAIL: TestA (0.0s)", *steps(0, 50), "error: alpha", *steps(50, 60)]
    assert list(guarded(lines, chars=0)[0]) == [0]
    lines = ["error: early", *steps(0, 50), f"fatal: {'long ' * 200}", *steps(50, 60)]
    assert list(guarded(lines, chars=0)[0]) == [51]
    assert list(guarded(lines, chars=0, budget=600)[0]) == [0]


def test_a_failure_line_that_is_kept_already_is_enough():
    looked = looked_at("\n".join(["error: early", *steps(0, 50), "fatal: late"]), exit_code=0)
    spender = Spender(looked.view, 6_000)
    spender.take(0, "end")
    guard(looked.view, looked.weighed, spender, 0, 1)
    assert spender.rules == {0: "end"}


def test_nothing_is_guarded_where_nothing_fails():
    """An output without failure lines, summaries and words of the task has no guarded line."""
    assert guarded(steps(0, 100), task="unheard of")[0] == {}


def test_first_and_last_names_each_line_once_in_order():
    looked = looked_at("error 1\nfatal\nerror 2\nerror 3\n", exit_code=0)
    assert first_and_last(looked.weighed) == [0, 1, 3]
