"""The task: the last request that says what to do, with the newest short one, the end of it kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.machine import is_machine
from admit.transcripts.model import TaskText
from admit.transcripts.task import MOST_CHARS, TaskTracker, agent_task, cut_task, is_substantive

FIX = "Fix the retry limit in the payment client"


def after(*prompts: str) -> TaskText:
    tracker = TaskTracker()
    for prompt in prompts:
        tracker.prompt(prompt)
    return tracker.current()


@pytest.mark.parametrize(
    "text",
    [
        FIX,
        "fix src/payment/client.py timeout",
        "why does test_retry_limit fail",
        "修复登录错误",
        "ログインを修正",
        "로그인 오류를 고쳐줘",
        "repare el límite de reintentos",
    ],
)
def test_a_request_of_three_terms_or_four_unspaced_characters_says_what_to_do(text):
    assert is_substantive(text)


@pytest.mark.parametrize(
    "text",
    [
        "continue",
        "yes, go on",
        "ok do it",
        "please proceed with the next",
        "thanks!",
        "fix it",
        "run tests",
        "继续",
        "はい、続けてください",
        "네, 계속해줘",
        "weiter bitte",
        "sí, continúa",
        "",
        "?!",
    ],
)
def test_a_short_or_empty_word_is_no_task(text):
    assert not is_substantive(text)


def test_of_an_identifier_the_parts_count_and_not_the_whole_once_more():
    assert is_substantive("fix client.py") and not is_substantive("client.py")


def test_the_last_substantive_request_is_the_task():
    assert after("Add a cache to the loader module", FIX) == (FIX, "prompt", 0)


def test_a_word_that_carries_on_changes_nothing_but_the_age():
    assert after(FIX, "continue", "yes") == (FIX, "prompt", 2)


def test_a_newer_short_request_stands_below_on_its_own_line():
    assert after(FIX, "use redis", "no, memcached") == (f"{FIX}\nno, memcached", "prompt+previous", 2)


def test_a_new_task_ends_the_short_request_of_the_old_one():
    assert after("Add a cache to the loader module", "use redis", FIX) == (FIX, "prompt", 0)


def test_short_requests_alone_are_better_than_none():
    assert after("fix tests", "continue") == ("fix tests", "prompt", 1)


def test_without_a_request_there_is_no_task():
    assert after() == after("continue", "  ") == ("", "none", 0)


def test_a_subagent_works_on_the_prompt_of_its_call():
    assert agent_task("  Find every caller of retry()  ") == ("Find every caller of retry()", "agent_task", 0)
    assert agent_task("").source == "none"


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification><id>b1</id>",
        "  <system-reminder>\nx",
        "<local-command-stdout>",
        "<command-name>/clear</command-name>",
        "<persisted-output>",
        "[attend] build done",
    ],
)
def test_what_a_host_wrote_in_the_users_place_is_a_machines(text):
    assert is_machine(text)


@pytest.mark.parametrize("text", ["<div> is not centred", "[WIP] attend to this", "why <command> fails"])
def test_what_a_person_wrote_is_not(text):
    assert not is_machine(text)


def test_a_long_request_keeps_its_end_from_a_sentence_on():
    request = "Here is the whole log. " * 100 + "Now fix the retry limit."
    cut = cut_task(request)
    assert len(cut) <= MOST_CHARS and cut.startswith("…Here is") and cut.endswith("Now fix the retry limit.")


def test_without_a_sentence_near_the_cut_it_falls_where_it_falls():
    cut = cut_task("x" * 3_000 + " end")
    assert len(cut) == MOST_CHARS and cut.startswith("…xxx") and cut.endswith(" end")


def test_a_request_at_the_cap_is_whole():
    assert cut_task("y" * MOST_CHARS) == "y" * MOST_CHARS


@given(st.lists(st.text(max_size=60) | st.sampled_from([FIX, "continue", "use redis"]), max_size=8))
def test_any_requests_give_a_task_inside_the_cap(prompts):
    task = after(*prompts)
    assert len(task.text) <= MOST_CHARS and (task.source == "none") == (task.text == "")


@given(st.text(max_size=4_000))
def test_any_request_is_cut_inside_the_cap_and_is_an_end_of_itself(text):
    cut = cut_task(text)
    assert len(cut) <= MOST_CHARS and text.strip().endswith(cut.removeprefix("…"))
