"""What the other side says reaches a person as one printable line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Ask, Noul
from admit.judges.chat_read import read_chat
from admit.judges.command import _read_line
from admit.judges.profiles import profile
from admit.judges.systemone import SystemOneDialect
from admit.judges.wire import MOST_SAID, model_name, one_line

FORGED = "m-1\x1b]0;title\x07\n\nstate     valid\u202e\u2028x"
PLAIN = "m-1 ]0;title state valid x"
ASK = Ask("guidance", "task", (), (Noul("q1", "subject", "Is it?", "yes", "no"),), None, 1000, "r1")


@given(st.text())
def test_a_line_is_printable_short_and_stays_as_it_is_when_read_again(text):
    line = one_line(text)
    assert line.isprintable() and len(line) <= MOST_SAID
    assert one_line(line) == line.strip()


def test_controls_line_ends_and_turned_text_are_gone_from_what_is_said():
    assert one_line(FORGED) == PLAIN


def test_a_model_without_a_name_is_unknown():
    assert [model_name(given) for given in (None, "", "\n", 7, ["m"], FORGED)] == [None] * 5 + [PLAIN]


def test_every_dialect_gives_the_model_that_answered_as_one_line():
    body = json.dumps({"model": FORGED, "answers": {}, "choices": []}).encode()
    assert SystemOneDialect(profile("jev")).read(ASK, body, 0.0).model == PLAIN
    assert read_chat(ASK, body, "schema", "call", 0.0).model == PLAIN


def test_the_error_of_a_program_is_one_line():
    line = json.dumps({"v": 1, "id": "i", "error": {"code": "c", "message": FORGED}}).encode()
    assert _read_line(line) == ("i", f"c: {PLAIN}")
