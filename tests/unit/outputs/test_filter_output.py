import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.outputs.once import filter_output
from admit.outputs.view import as_text

from .cases import UNHURRIED, body_of, long_bytes, short_bytes, steps, text_of

FAILED = text_of(steps(0, 900), "error: the pool is full", steps(900, 1_000))


def test_one_call_cuts_an_output_to_what_matters_for_the_task():
    text = filter_output(FAILED, "why is the pool full", exit_code=1)
    assert text.startswith("[admit ") and "error: the pool is full\n" in text
    assert len(text) <= 6_500
    assert "Whole output" not in text and "admit recall" not in text


def test_bytes_and_text_give_the_same():
    assert filter_output(FAILED.encode(), exit_code=1) == filter_output(FAILED, exit_code=1)
    assert filter_output(FAILED.encode("utf-16"), exit_code=1).count("error: the pool is full") == 1


def test_max_chars_is_the_budget():
    assert len(filter_output(FAILED, exit_code=1, max_chars=3_000)) <= 3_500
    assert 9_500 < len(filter_output(FAILED, exit_code=1, max_chars=10_000)) <= 10_500


@pytest.mark.parametrize("text", ["", "short\n", text_of(steps(0, 200)), "x\0" * 5_000])
def test_what_is_short_or_binary_comes_back_as_it_was(text):
    assert filter_output(text) == text


def test_what_would_save_too_little_comes_back_as_it_was():
    assert filter_output(FAILED, max_chars=20_000 * 2) == FAILED


def test_the_exit_code_and_the_task_change_the_choice():
    texts = {body_of(filter_output(FAILED, task, exit_code=code)) for task, code in (("", 0), ("", 1))}
    assert len(texts) == 2


def test_case_18_cutting_a_result_again_changes_nothing():
    """case 18"""
    for max_chars in (3_000, 6_000):
        text = filter_output(FAILED, exit_code=1, max_chars=max_chars)
        assert filter_output(text, exit_code=1, max_chars=max_chars) == text


@UNHURRIED
@given(short_bytes | long_bytes, st.text(max_size=30))
def test_no_input_makes_it_raise_and_the_text_is_always_encodable(data, task):
    text = filter_output(data * 9, task, exit_code=1, max_chars=2_000)
    text.encode()
    assert text == as_text(data * 9) or len(text.replace("\r\n", "\n")) <= 2_500


SCRIPT = """
from admit.outputs.once import filter_output
steps = [f"step {k} of the build went {'well' if k % 7 else 'so so, warning'}" for k in range(2000)]
steps[700:700] = ["error: the pool is full", '  "max_conn": 5', "E   assert 1 == 2"]
text = "\\n".join(steps) + "\\n" + "{" + ", ".join(f'"key{k}": {k}' for k in range(900)) + "}\\n"
for task in ("", 'why is the "max_conn" pool full', "数据库 errors"):
    for code in (0, 1, None):
        print(filter_output(text, task, exit_code=code))
"""


def test_the_bytes_are_the_same_whatever_the_hash_seed():
    def run(seed: str) -> bytes:
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        return subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=True).stdout

    assert len({run(seed) for seed in ("0", "1", "4242")}) == 1
