"""Ten thousand broken replies in every dialect: no exception, and no answer out of what is broken."""

from random import Random

import pytest

from admit.core.reasons import ANSWER_REASONS, DEFECTS
from admit.judges.command import CommandDialect
from admit.judges.parse import Rejected
from admit.judges.profiles import Profile
from admit.judges.systemone import SystemOneDialect

from .broken import draw_ask, draw_broken, good_reply
from .broken_chat import FORMS, draw_broken_chat, draw_broken_command, good_judgements, wrapped
from .chat_replies import dialect, encoded

DIALECTS = {
    **{form: dialect(form) for form in FORMS},
    "command": CommandDialect(Profile("own", "command", "", {}, argv=("judge",))),
    "systemone": SystemOneDialect(Profile("own", "systemone", "model-1", {})),
}
every_dialect = pytest.mark.parametrize("name", DIALECTS)


def draw(name, random):
    if name in FORMS:
        return draw_broken_chat(random, name)
    return draw_broken_command(random) if name == "command" else draw_broken(random)


def good(name, random):
    """An ask and a good reply to it."""
    ask = draw_ask(random)
    if name in FORMS:
        return ask, encoded(wrapped(name, {"judgements": good_judgements(random, ask)}))
    return ask, encoded({"v": 1, "id": "0" * 16, **good_reply(random, ask)})


@every_dialect
def test_2000_broken_replies_give_no_answer_and_no_exception(name):
    causes_seen, defects_seen = set(), set()
    for seed in range(2000):
        ask, body, causes, defects = draw(name, Random(f"{name} {seed}"))
        found = DIALECTS[name].read(ask, body, 0.0).answers
        if causes:
            assert isinstance(found, Rejected), (seed, body[:500])
            assert found.cause in causes, (seed, found, body[:500])
            causes_seen.add(found.reason)
        else:
            assert not isinstance(found, Rejected), (seed, found, body[:500])
            assert {a.id: a.defect for a in found if a.defect is not None} == defects, (seed, body[:500])
            assert all(a.p == () and a.value is None for a in found if a.defect is not None)
            defects_seen.update(defects.values())
    assert causes_seen <= set(ANSWER_REASONS)
    assert len(causes_seen) >= 9
    assert defects_seen <= set(DEFECTS)
    assert len(defects_seen) >= 4


@every_dialect
def test_a_good_reply_is_taken_whole(name):
    for seed in range(200):
        ask, body = good(name, Random(seed))
        found = DIALECTS[name].read(ask, body, 0.5).answers
        assert [(a.id, a.defect) for a in found] == [(question.id, None) for question in ask.questions]
        assert all(len(a.p) == 1 or sum(a.p) == pytest.approx(1) for a in found)


@every_dialect
@pytest.mark.parametrize("seed", range(8))
def test_every_byte_prefix_of_a_good_reply_is_rejected(name, seed):
    ask, body = good(name, Random(seed))
    for cut in range(len(body)):
        found = DIALECTS[name].read(ask, body[:cut], 0.0).answers
        assert isinstance(found, Rejected)
        assert found.cause in ("truncated", "not_json")


@pytest.mark.parametrize("form", ["schema", "tool"])
@pytest.mark.parametrize("seed", range(8))
def test_every_prefix_of_the_text_in_the_forced_field_is_rejected(form, seed):
    random = Random(seed)
    ask = draw_ask(random)
    text = encoded({"judgements": good_judgements(random, ask)}).decode()
    for cut in range(len(text)):
        found = DIALECTS[form].read(ask, encoded(wrapped(form, text[:cut])), 0.0).answers
        assert isinstance(found, Rejected)
        assert found.cause in ("truncated", "not_json")


@every_dialect
def test_bytes_changed_at_random_raise_nothing_and_give_no_more_than_was_asked(name):
    for seed in range(400):
        random = Random(f"{name} {seed}")
        ask, body = good(name, random)
        changed = bytearray(body)
        for _ in range(random.randint(1, 4)):
            changed[random.randrange(len(changed))] = random.randrange(256)
        found = DIALECTS[name].read(ask, bytes(changed), 0.5).answers
        if not isinstance(found, Rejected):
            assert [a.id for a in found] == [question.id for question in ask.questions]
            assert all(a.defect in DEFECTS or all(0 <= value <= 1 for value in a.p) for a in found)
