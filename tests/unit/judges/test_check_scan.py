"""What was masked once is no hit of the scan of the finished request; what was missed is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Ask, Choice, Noul
from admit.judges.chat import ChatDialect
from admit.judges.command import CommandDialect
from admit.judges.fence import fence, opened, plain
from admit.judges.profiles import Profile
from admit.judges.redact import Redactor
from admit.judges.safe import safe_ask, sent_texts
from admit.judges.systemone import SystemOneDialect

from .planted import HARMLESS, PLANTED

PROFILE = Profile("p", "chat", "m", {}, form="schema")
DIALECTS = {
    "systemone": SystemOneDialect(PROFILE),
    "chat": ChatDialect(PROFILE),
    "messages": ChatDialect(PROFILE._replace(form="messages")),
    "command": CommandDialect(PROFILE),
}
TEXTS = sorted({text for _, text, _ in PLANTED} | set(HARMLESS))
AROUND = ["{}", "before\n{}\nafter", '{{"log": "{}"}}', "a: {}\r\n\tb"]
REDACTOR = Redactor()


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("around", AROUND)
def test_a_redacted_text_can_be_sent(name, around):
    hits = []
    for text in TEXTS:
        question = Noul("q1", around.format(text), "Does it help?", "Yes.", "No.")
        ask = Ask("outputs", text, (("earlier_1", text),), (question,), None, 60_000, "r")
        safe = safe_ask(ask, REDACTOR, budget_ms=60_000)
        assert safe is not None
        body = DIALECTS[name].body(safe.ask, "0123456789abcdef")
        hits += [(text, sent) for sent in sent_texts(body) if REDACTOR.finds(sent)]
    assert hits == []


@pytest.mark.parametrize("name", DIALECTS)
def test_a_credential_that_redaction_did_not_see_is_found_in_the_finished_request(name):
    for _, text, _ in PLANTED:
        question = Noul("q1", text, "Does it help?", "Yes.", "No.")
        body = DIALECTS[name].body(Ask("outputs", "why", (), (question,), None, 1, "r"), "0123456789abcdef")
        assert any(map(REDACTOR.finds, sent_texts(body))), text


def test_a_rubric_that_speaks_of_passwords_is_no_credential():
    question = Choice("q1", "text", "What is it?", (("password", "a password in clear"), ("none", "no one")))
    body = SystemOneDialect(PROFILE).body(Ask("outputs", "t", (), (question,), None, 1, "r"), "0" * 16)
    assert not any(map(REDACTOR.finds, sent_texts(body)))


@given(st.text(), st.text(), st.text(alphabet='[]/data 0"\\\\c1'))
def test_what_is_fenced_is_opened_as_it_was(text, before, odd):
    fenced = f"{before}{fence('0' * 16, 'c1', text)}\n{fence('0' * 16, 'c2', odd)}"
    inside, around = opened(fenced)
    assert (inside, around) == ([plain(text), odd], f"{before}\n\n\n")


def test_a_body_that_is_no_json_is_one_text():
    assert list(sent_texts(b"password=\xff")) == ["password=\ufffd"]
    assert list(sent_texts(b"[" * 100_000)) == ["[" * 100_000]
