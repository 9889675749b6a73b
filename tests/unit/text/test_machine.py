import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.text.machine import MACHINE_OPENINGS, is_machine, without_machine

NOTICE = "<system-reminder>run the tests with schema</system-reminder>"


@pytest.mark.parametrize("opening", MACHINE_OPENINGS)
def test_a_message_that_opens_like_a_hosts_is_nobodys_words(opening):
    assert is_machine(f"  \n{opening}>text")
    assert without_machine(f"  \n{opening}>text") == ""


def test_the_body_of_a_skill_is_nobodys_words():
    assert without_machine("Base directory for this skill: /home/me/.claude/skills/x\n\n# X") == ""


def test_what_a_host_put_into_a_message_is_cut_out():
    assert without_machine(f"fix the login{NOTICE} and the logout") == "fix the login and the logout"
    assert without_machine("do it\n[attend: 3 notices]\nnow") == "do it\n\nnow"


def test_an_opening_without_its_end_is_a_persons_own_words():
    text = "why does <system-reminder appear, and what is array[attend]?"
    assert without_machine(text) == text


def test_further_openings_count_like_the_built_in_ones():
    assert is_machine("<my-bot>hello", ("<my-bot",))
    assert without_machine("a<my-bot>hello</my-bot>b", ("<my-bot",)) == "ab"


def test_nothing_inside_what_is_cut_out_is_looked_at_again():
    text = "a<command-x>1<system-reminder>2</system-reminder>3</command-x>b"
    assert without_machine(text) == "ab"


def test_thousands_of_openings_without_an_end_take_linear_work():
    counted = _Counted("x" + "<system-reminder" * 20_000)
    without_machine(counted)
    assert counted.finds <= 1


class _Counted(str):
    finds = 0

    def find(self, *args):
        self.finds += 1
        return super().find(*args)


@given(st.lists(st.sampled_from(["a ", "\n", *MACHINE_OPENINGS, ">", "</system-reminder>", NOTICE])))
def test_what_is_left_was_there_in_the_same_order(parts):
    text = "x" + "".join(parts)
    left = iter(text)
    assert all(one in left for one in without_machine(text))
