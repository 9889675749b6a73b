"""What was used next: only what stood in this output and nowhere before."""

from __future__ import annotations

import pytest

from admit.report.used import next_calls, used_next
from admit.transcripts.model import ToolUse

CWD = "/home/me/shop"


def call(tool: str = "Bash", order: int = 10, answer: str = "m9", agent: str = "", **given) -> ToolUse:
    return ToolUse(order, f"t{order}", tool, "other", given, order + 1, answer, agent=agent)


def used(output: str, *later: ToolUse, before: str = "") -> list[str]:
    return [one.text for one in used_next(output, later, lambda: before, CWD)]


@pytest.mark.parametrize(
    ("output", "given", "found"),
    [
        ("src/pay/client.py:9: x", {"file_path": f"{CWD}/src/pay/client.py"}, ["src/pay/client.py"]),
        ("client.py:9: x", {"file_path": f"{CWD}/src/pay/client.py"}, ["client.py"]),
        ("retryLimit is unset", {"command": "grep -rn retryLimit ."}, ["retryLimit"]),
        ("a retry is due", {"command": "grep -rn retry ."}, []),
        ("__init__ failed", {"command": "grep __init__ x"}, []),
        ("  raise RetryLimitReached(n)  # stop", {"old_string": "raise RetryLimitReached(n)  # stop"},
         ["RetryLimitReached", "raise RetryLimitReached(n)  # stop"]),
        ("src/a.py:120:  def retry():", {"command": "sed -n '100,140p' src/a.py"},
         ["src/a.py", "src/a.py:120:  def retry():"]),
        ("src/a.py:120:  def retry():", {"file_path": "src/a.py", "offset": 100, "limit": 40},
         ["src/a.py", "src/a.py:120:  def retry():"]),
        ("src/a.py:120:  def retry():", {"command": "sed -n '1,40p' src/a.py"}, ["src/a.py"]),
        ("src/b.py:120:  def retry():", {"command": "sed -n '100,140p' src/a.py"}, []),
        ("tool_name here", {"edits": [{"old": "tool_name"}, 5, None]}, ["tool_name"]),
    ],
)  # fmt: skip
def test_paths_identifiers_and_lines_are_found(output, given, found):
    assert used(output, call(**given)) == found


def test_what_stood_before_is_not_from_here():
    assert used("the retry_limit", call(command="grep retry_limit"), before="fix the retry_limit") == []


def test_words_about_a_call_are_no_use():
    assert used("the retry_limit", call(description="look for retry_limit")) == []


def test_the_context_before_is_not_gathered_where_nothing_was_used():
    def gathered() -> str:
        raise AssertionError("asked for without need")

    assert used_next("nothing here", [call(command="ls")], gathered, CWD) == ()


def test_a_range_that_holds_many_lines_points_at_none():
    output = "\n".join(f"{n}: line of the file" for n in range(1, 40))
    assert used(output, call(command="sed -n '1,30p' a.py")) == []


def test_at_most_twelve_strings_in_the_order_of_use():
    names = [f"name_{n}" for n in range(20)]
    found = used_next(" ".join(names), [call(command=" ".join(names))], str, CWD)
    assert [one.text for one in found] == names[:12]


def test_it_says_which_call_used_a_string_first():
    later = [call("Read", 11, a="x"), call("Edit", 12, a="retry_limit"), call("Bash", 13, a="retry_limit")]
    assert used_next("retry_limit", later, str, CWD) == (("retry_limit", "Edit", 2),)


def test_the_next_calls_are_those_made_after_the_result_was_seen():
    uses = [
        call(order=1, answer="m1"),  # its result stands at 2
        call(order=2, answer="m1"),  # the same answer: it could not know
        call(order=3, answer="m2", agent="a1"),
        call(order=4, answer="m2"),
        call(order=5, answer="m3"),
        call(order=6, answer="m3"),
        call(order=7, answer="m4"),
    ]
    assert [use.order for use in next_calls(uses, 0)] == [4, 5, 6]
    assert next_calls([uses[0]._replace(result_order=None), *uses[1:]], 0) == []


def test_a_long_run_of_letters_costs_little():
    text = "a" * 300_000 + "/" + "b-" * 100_000
    assert used(text, call(content=text)) == []
