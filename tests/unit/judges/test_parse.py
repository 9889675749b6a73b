import json
import unicodedata
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Ask, Choice, Noul, Score
from admit.core.reasons import ANSWER_REASONS, DEFECTS, REPLY_CAUSES
from admit.judges.parse import MOST_BYTES, Rejected, decode, parse_reply, read_answers

from .broken import draw_ask, draw_broken, encoded, good_reply

NOUL = Noul("q1", "text", "ask", "yes", "no")
SCORE = Score("q1", "text", "ask", ("a", "b", "c", "d"))
CHOICE = Choice("q1", "text", "ask", (("a", "A"), ("b", "B"), ("c", "C")))


def ask(*questions):
    return Ask("outputs", "task", (), questions, None, 1000, "r1")


def one(question, **fields):
    """The answer to one question, or the rejection, of a reply with these fields."""
    kind = {Noul: "noul", Score: "score", Choice: "choice"}[type(question)]
    return read_answers(ask(question), {"answers": {"q1": {"type": kind, **fields}}}, min_valid_share=0)[0]


def levels(*values):
    return {str(k): value for k, value in enumerate(values)}


def labels(*values):
    return dict(zip("abc", values, strict=True))


@pytest.mark.parametrize("dialect", ["systemone", "command"])
def test_a_good_reply_gives_the_answers_in_the_order_asked(dialect):
    questions = (NOUL, SCORE._replace(id="q2"), CHOICE._replace(id="q3"))
    body = {
        "v": 1,
        "answers": {
            "q3": {"type": "choice", "probabilities": labels(0.2, 0.3, 0.5), "choice": "c"},
            "q2": {"type": "score", "probabilities": levels(0, 0, 0.5, 0.5), "score": 2.5, "legend": [1]},
            "q1": {"type": "noul", "noul": 0.75, "confidence": 2},
        },
    }
    answers = parse_reply(ask(*questions), json.dumps(body).encode(), dialect)
    assert [(a.id, a.kind, a.p, a.value) for a in answers] == [
        ("q1", "noul", (0.75,), 0.75),
        ("q2", "score", (0, 0, 0.5, 0.5), 2.5),
        ("q3", "choice", (0.2, 0.3, 0.5), 0.2),
    ]


def test_10000_broken_replies_give_no_answer_and_no_exception():
    seen_causes, seen_defects = set(), set()
    for seed in range(10_000):
        asked, body, causes, defects = draw_broken(Random(seed))
        given = parse_reply(asked, body)
        if causes:
            assert isinstance(given, Rejected), (seed, body[:300])
            assert given.cause in causes, (seed, given, body[:300])
            seen_causes.add(given.cause)
        elif len(asked.questions) == 1:
            assert given == Rejected("mostly_invalid"), (seed, body)
        else:
            found = {a.id: a.defect for a in given if a.defect is not None}
            assert found == defects, (seed, body)
            assert all(a.p == () and a.value is None for a in given if a.defect)
            seen_defects.update(found.values())
    assert seen_causes >= {
        "not_json",
        "encoding",
        "nan",
        "duplicate_key",
        "too_deep",
        "too_large",
        "extra_id",
    }
    assert seen_causes >= {"envelope", "truncated"}
    assert seen_defects == set(DEFECTS) - {"too_large", "batch_failed"}


@pytest.mark.parametrize("seed", range(40))
def test_a_good_reply_is_taken_whole(seed):
    random = Random(seed)
    asked = draw_ask(random)
    answers = parse_reply(asked, encoded(good_reply(random, asked)))
    assert [(a.id, a.defect) for a in answers] == [(question.id, None) for question in asked.questions]
    assert all(len(a.p) == 1 or sum(a.p) == pytest.approx(1) for a in answers)


@pytest.mark.parametrize("seed", range(20))
def test_every_byte_prefix_of_a_good_reply_is_rejected(seed):
    random = Random(seed)
    asked = draw_ask(random)
    body = encoded(good_reply(random, asked))
    for cut in range(len(body)):
        given = parse_reply(asked, body[:cut])
        assert isinstance(given, Rejected)
        assert given.cause in ("truncated", "not_json")
    assert not isinstance(parse_reply(asked, body + b" \n"), Rejected)


@given(st.binary(max_size=200))
def test_no_bytes_raise(body):
    given = parse_reply(ask(NOUL), body)
    assert not isinstance(given, Rejected) or given.reason in ANSWER_REASONS


NAMES = st.sampled_from(["answers", "q1", "type", "noul", "probabilities", "0", "1"])
SCALARS = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_no_decoded_value_raises(value):
    for question in (NOUL, SCORE, CHOICE):
        given = read_answers(ask(question), {"answers": {"q1": value}}, min_valid_share=0)
        assert given[0].defect in DEFECTS or given[0].value is not None


@pytest.mark.parametrize("number", [0, 1, 0.0, 1.0, 0.5, 1e-300])
def test_a_probability_may_be_any_number_from_0_to_1(number):
    assert one(NOUL, noul=number).p == (number,)


@pytest.mark.parametrize("number", [-1e-9, 1.000001, 1.5, float("inf"), True, "1", None, [1]])
def test_a_number_out_of_range_is_never_clamped(number):
    answer = one(NOUL, noul=number)
    assert (answer.p, answer.defect) == ((), "out_of_range")
    assert one(CHOICE, probabilities=labels(number, 0, 0)).defect == "out_of_range"


def test_a_huge_float_is_out_of_range_and_not_an_infinity_token():
    body = b'{"answers": {"q1": {"type": "noul", "noul": 1e999}, "q2": {"type": "noul", "noul": 1}}}'
    answers = parse_reply(ask(NOUL, NOUL._replace(id="q2")), body)
    assert [a.defect for a in answers] == ["out_of_range", None]


def test_two_decimals_may_miss_the_sum_by_their_rounding():
    many = Choice("q1", "text", "ask", tuple((f"l{k}", "") for k in range(40)))
    rounded = {f"l{k}": 0.03 for k in range(40)}  # 40 times 1/40, rounded up: 1.2
    assert one(many, probabilities=rounded).p == pytest.approx((1 / 40,) * 40)
    exact = dict.fromkeys(rounded, 0.03 + 1e-7)
    assert one(many, probabilities=exact).defect == "bad_sum"


def test_rounding_counts_non_zero_values_above_one_and_all_values_below():
    many = Choice("q1", "text", "ask", tuple((f"l{k}", "") for k in range(20)))
    zeros = {f"l{k}": 0.0 for k in range(20)}
    assert one(many, probabilities={**zeros, "l0": 1.0, "l1": 0.07}).defect == "bad_sum"
    assert one(many, probabilities={**zeros, "l0": 0.92}).defect is None
    assert one(many, probabilities={**zeros, "l0": 0.89}).defect == "bad_sum"


@pytest.mark.parametrize(("total", "fine"), [(0.95, True), (1.05, True), (0.949, False), (1.051, False)])
def test_the_sum_may_be_off_by_five_hundredths(total, fine):
    answer = one(CHOICE, probabilities=labels(total - 0.5, 0.5, 0))
    assert (answer.defect is None) == fine
    if fine:
        assert sum(answer.p) == pytest.approx(1)


def test_all_zeros_are_no_distribution_however_many_labels():
    many = Choice("q1", "text", "ask", tuple((f"l{k}", "") for k in range(255)))
    assert one(many, probabilities={f"l{k}": 0.0 for k in range(255)}).defect == "bad_sum"


@pytest.mark.parametrize(("second", "fine"), [(0.495, True), (0.4951, True), (0.4939, False)])
def test_a_returned_choice_may_trail_the_largest_by_half_a_hundredth(second, fine):
    answer = one(CHOICE, probabilities=labels(0.5, second, 0.5 - second + 0.005), choice="b")
    assert (answer.defect is None) == fine


def test_a_returned_score_must_be_near_its_expectation():
    p = levels(0.1234567, 0.3, 0.2, 0.3765433)
    expected = 0.3 + 0.4 + 3 * 0.3765433
    assert one(SCORE, probabilities=p, score=expected + 0.0199).defect is None
    assert one(SCORE, probabilities=p, score=expected + 0.0201).defect == "contradiction"
    rounded = levels(0.12, 0.3, 0.2, 0.38)  # two decimals: 0.02 + 0.005 · 7
    assert one(SCORE, probabilities=rounded, score=1.84 + 0.0549).defect is None
    assert one(SCORE, probabilities=rounded, score=1.84 + 0.0551).defect == "contradiction"
    assert one(SCORE, probabilities=p, score="1.8").defect == "out_of_range"


def test_labels_are_compared_byte_for_byte():
    question = Choice("q1", "text", "ask", (("한국", ""), ("Größe", "")))
    assert one(question, probabilities={"한국": 0.5, "Größe": 0.5}).defect is None
    decomposed = unicodedata.normalize("NFD", "한국")
    assert one(question, probabilities={decomposed: 0.5, "Größe": 0.5}).defect == "bad_keys"
    assert one(question, probabilities={"한국": 0.5, "größe": 0.5}).defect == "bad_keys"


def test_only_the_field_that_holds_the_answer_counts():
    fields = {"type": "noul", "noul": 0.1, "answer": "yes", "probabilities": {"true": 1.0}, "verdict": True}
    reply = {"answers": {"q1": fields}, "verdict": "yes", "q1": {"type": "noul", "noul": 1.0}}
    assert read_answers(ask(NOUL), reply)[0].p == (0.1,)


def test_fewer_usable_answers_than_the_share_reject_the_reply():
    questions = [NOUL._replace(id=f"q{k}") for k in range(1, 5)]
    good = {f"q{k}": {"type": "noul", "noul": 0.5} for k in (1, 2)}
    assert [a.defect for a in read_answers(ask(*questions), {"answers": good})] == [
        None,
        None,
        *["missing"] * 2,
    ]
    del good["q2"]
    assert read_answers(ask(*questions), {"answers": good}) == Rejected("mostly_invalid")
    assert len(read_answers(ask(*questions), {"answers": good}, min_valid_share=0.25)) == 4


def test_nesting_of_32_is_read_and_33_is_not():
    def nested(depth):
        return b"[" * depth + b"0" + b"]" * depth

    assert not isinstance(decode(nested(32)), Rejected)
    assert decode(nested(33)) == Rejected("too_deep")
    assert decode(b'{"a":' * 33 + b"0" + b"}" * 33) == Rejected("too_deep")


def test_a_body_of_one_mebibyte_is_read_and_one_more_byte_is_not():
    body = b"[" + b" " * (MOST_BYTES - 2) + b"]"
    assert decode(body) == []
    assert decode(body + b" ") == Rejected("too_large")


def test_integers_of_20_digits_are_read_and_of_21_are_not():
    assert decode(b"1" * 20) == int("1" * 20)
    assert decode(b"-" + b"1" * 20) == -int("1" * 20)
    assert decode(b"1" * 21) == Rejected("too_large")


def test_a_lone_surrogate_is_refused_in_keys_too_and_a_pair_is_fine():
    assert decode(rb'{"\ud800": 1}') == Rejected("encoding")
    assert decode(rb'[{"a": ["\udc00"]}]') == Rejected("encoding")
    assert decode(rb'"\ud83d\ude00"') == "😀"


def test_every_cause_is_in_the_closed_list():
    assert len(set(REPLY_CAUSES)) == 14
    assert Rejected("nan").reason == "answer_nan"


def test_an_unknown_dialect_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="no such dialect"):
        read_answers(ask(NOUL), {}, "morse")
