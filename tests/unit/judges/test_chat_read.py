import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Choice
from admit.core.reasons import ANSWER_REASONS, DEFECTS
from admit.judges.chat import CALL
from admit.judges.parse import Rejected
from admit.judges.wire import Usage

from .chat_replies import CHOICE, GOOD, NOUL, SCORE, ask, completion, dialect, encoded, message, read, reply

FORMS = ("schema", "tool", "messages")
every_form = pytest.mark.parametrize("form", FORMS)
YES = {"id": "q1", "relevant": True, "confidence": 1.0}


def one(question, **fields):
    """The answer to one question out of one judgement."""
    return read("messages", reply("messages", [{"id": question.id, **fields}]), question).answers[0]


@every_form
def test_a_good_reply_gives_the_answers_in_the_order_asked(form):
    found = read(form, reply(form, reversed(GOOD)), share=0.5)
    assert [(a.id, a.kind, a.defect) for a in found.answers] == [
        ("q1", "noul", None),
        ("q2", "score", None),
        ("q3", "choice", None),
    ]
    assert found.answers[0].p == (0.25,)
    assert found.answers[1].p == pytest.approx((0.1, 0.1, 0.7, 0.1))
    assert found.answers[1].value == pytest.approx(0.1 + 1.4 + 0.3)
    assert found.answers[2].p == (0.25, 0.5, 0.25)
    assert (found.model, found.usage, found.quirks) == ("model-1", Usage(120, 30), ())


@pytest.mark.parametrize(
    ("relevant", "confidence", "p"), [(True, 0.9, 0.9), (False, 0.9, 0.1), (True, 1, 1.0), (False, 0.5, 0.5)]
)
def test_confidence_is_of_the_answer_given_and_the_probability_is_of_yes(relevant, confidence, p):
    assert one(NOUL, relevant=relevant, confidence=confidence).p == (p,)


@pytest.mark.parametrize(("question", "least"), [(NOUL, 1 / 2), (SCORE, 1 / 4), (CHOICE, 1 / 3)])
def test_less_confidence_than_an_even_spread_contradicts_the_answer(question, least):
    fields = {NOUL: {"relevant": True}, SCORE: {"level": 0}, CHOICE: {"label": "supported"}}[question]
    assert one(question, **fields, confidence=least).defect is None
    assert one(question, **fields, confidence=least - 0.01).defect == "contradiction"


@pytest.mark.parametrize(
    ("question", "fields", "defect"),
    [
        (NOUL, {"confidence": 1}, "missing"),
        (NOUL, {"relevant": True}, "missing"),
        (NOUL, {"level": 1, "confidence": 1}, "wrong_type"),
        (NOUL, {"relevant": "true", "confidence": 1}, "wrong_type"),
        (NOUL, {"relevant": 1, "confidence": 1}, "wrong_type"),
        (NOUL, {"relevant": None, "confidence": 1}, "wrong_type"),
        (NOUL, {"relevant": True, "confidence": 1.01}, "out_of_range"),
        (NOUL, {"relevant": True, "confidence": -0.1}, "out_of_range"),
        (NOUL, {"relevant": True, "confidence": True}, "out_of_range"),
        (NOUL, {"relevant": True, "confidence": "high"}, "out_of_range"),
        (NOUL, {"relevant": True, "confidence": None}, "out_of_range"),
        (NOUL, {"relevant": True, "confidence": 95}, "out_of_range"),
        (SCORE, {"level": 4, "confidence": 1}, "out_of_range"),
        (SCORE, {"level": -1, "confidence": 1}, "out_of_range"),
        (SCORE, {"level": 1.5, "confidence": 1}, "out_of_range"),
        (SCORE, {"level": True, "confidence": 1}, "out_of_range"),
        (SCORE, {"level": "2", "confidence": 1}, "out_of_range"),
        (SCORE, {"label": "much", "confidence": 1}, "wrong_type"),
        (CHOICE, {"label": "Supported", "confidence": 1}, "bad_keys"),
        (CHOICE, {"label": "nao", "confidence": 1}, "bad_keys"),
        (CHOICE, {"label": 0, "confidence": 1}, "bad_keys"),
        (CHOICE, {"label": ["supported"], "confidence": 1}, "bad_keys"),
        (CHOICE, {"relevant": True, "confidence": 1}, "wrong_type"),
    ],
)
def test_a_judgement_that_is_not_as_asked_is_spoiled_and_nothing_is_clamped(question, fields, defect):
    answer = one(question, **fields)
    assert (answer.p, answer.value, answer.defect) == ((), None, defect)


def test_a_choice_of_255_labels_is_read_by_its_place():
    many = Choice("q1", "text", "ask", tuple((f"label {k}", "") for k in range(255)))
    p = one(many, label="label 254", confidence=0.746).p
    assert p[254] == 0.746
    assert sum(p) == pytest.approx(1)


@every_form
@pytest.mark.parametrize("second", [YES, {**YES, "relevant": False}, {"id": "q1"}])
def test_a_second_judgement_for_an_id_spoils_it_whatever_it_says(form, second):
    found = read(form, reply(form, [YES, *GOOD[1:], second]))
    assert [a.defect for a in found.answers] == ["contradiction", None, None]


@every_form
def test_an_id_without_a_judgement_is_missing(form):
    assert [a.defect for a in read(form, reply(form, GOOD[1:])).answers] == ["missing", None, None]


@every_form
@pytest.mark.parametrize("name", ["q0", "q4", "Q1", "q1 ", ""])
def test_a_judgement_for_an_id_that_was_not_asked_rejects_the_reply(form, name):
    found = read(form, reply(form, [*GOOD, {**YES, "id": name}]))
    assert found.answers == Rejected("extra_id")


@every_form
@pytest.mark.parametrize(
    "judgement", [{"relevant": True, "confidence": 1}, {**YES, "id": 1}, "yes", None, [YES]]
)
def test_a_judgement_that_names_no_id_rejects_the_reply(form, judgement):
    assert read(form, reply(form, [*GOOD, judgement])).answers == Rejected("envelope")


@every_form
def test_fewer_usable_judgements_than_the_share_reject_the_reply(form):
    assert read(form, reply(form, GOOD[:1]), share=0.5).answers == Rejected("mostly_invalid")
    assert len(read(form, reply(form, GOOD[:2]), share=0.5).answers) == 3


@every_form
def test_unknown_fields_are_ignored(form):
    found = read(form, reply(form, [{**judgement, "reason": "because"} for judgement in GOOD]))
    assert all(a.defect is None for a in found.answers)


@pytest.mark.parametrize(
    "forced", [[], {}, {"judgements": None}, {"judgements": {"q1": YES}}, 1, None, [YES]]
)
@every_form
def test_a_forced_field_of_another_shape_is_no_envelope(form, forced):
    whole = message(forced) if form == "messages" else completion(form, forced)
    assert read(form, whole).answers == Rejected("envelope")


@pytest.mark.parametrize(
    "whole", [[], "yes", 1, None, {}, {"error": {"message": "no"}}, {"judgements": [YES]}]
)
@every_form
def test_a_reply_of_another_shape_is_no_envelope(form, whole):
    assert read(form, whole).answers == Rejected("envelope")


@pytest.mark.parametrize("form", ["schema", "tool"])
@pytest.mark.parametrize("choices", [[], None, {}, [1], [{"message": None}], [{"finish_reason": "stop"}]])
def test_a_completion_has_one_choice_with_a_message(form, choices):
    assert read(form, completion(form, {}, choices=choices)).answers == Rejected("envelope")


@pytest.mark.parametrize("form", ["schema", "tool"])
def test_two_choices_are_one_too_many(form):
    whole = reply(form, GOOD)
    assert read(form, {**whole, "choices": whole["choices"] * 2}).answers == Rejected("envelope")


@pytest.mark.parametrize(
    ("stop", "cause"),
    [
        ("length", "truncated"),
        ("max_tokens", "truncated"),
        ("content_filter", "refusal"),
        ("refusal", "refusal"),
    ],
)
@every_form
def test_a_reply_that_was_cut_or_refused_is_not_read_however_good_it_looks(form, stop, cause):
    whole = reply(form, GOOD)
    if form == "messages":
        whole["stop_reason"] = stop
    else:
        whole["choices"][0]["finish_reason"] = stop
    assert read(form, whole).answers == Rejected(cause)


@pytest.mark.parametrize("stop", ["stop", "tool_calls", "end_turn", "tool_use", None, "eos", 7])
@every_form
def test_other_reasons_to_stop_are_no_obstacle(form, stop):
    whole = reply(form, GOOD)
    if form == "messages":
        whole["stop_reason"] = stop
    else:
        whole["choices"][0]["finish_reason"] = stop
    assert all(a.defect is None for a in read(form, whole).answers)


@pytest.mark.parametrize("form", ["schema", "tool"])
def test_a_refusal_beside_an_answer_is_a_refusal(form):
    whole = reply(form, GOOD)
    whole["choices"][0]["message"]["refusal"] = "I cannot."
    assert read(form, whole).answers == Rejected("refusal")
    whole["choices"][0]["message"]["refusal"] = None
    assert all(a.defect is None for a in read(form, whole).answers)


def _calls(form, whole):
    """The list of calls in a reply, to be changed in place, and one call."""
    if form == "tool":
        calls = whole["choices"][0]["message"]["tool_calls"]
        return calls, calls[0]
    return whole["content"], whole["content"][1]


@pytest.mark.parametrize("form", ["tool", "messages"])
def test_exactly_one_call_of_our_tool_is_read(form):
    twice = reply(form, GOOD)
    calls, call = _calls(form, twice)
    calls.append(call)
    assert read(form, twice).answers == Rejected("many_calls")
    none = reply(form, GOOD)
    calls, call = _calls(form, none)
    calls.remove(call)
    assert read(form, none).answers == Rejected("no_call")
    other = reply(form, GOOD)
    _, call = _calls(form, other)
    (call["function"] if form == "tool" else call)["name"] = "other"
    assert read(form, other).answers == Rejected("no_call")


@pytest.mark.parametrize("calls", [None, [], ""])
def test_a_message_without_calls_is_no_call_even_with_a_verdict_in_its_text(calls):
    whole = completion("schema", {"judgements": list(GOOD)})
    whole["choices"][0]["message"]["tool_calls"] = calls
    assert read("tool", whole).answers == Rejected("no_call")


@pytest.mark.parametrize("calls", [{"0": 1}, "call", [1], [{"function": None}], [{"name": CALL}]])
def test_calls_of_another_shape_are_no_envelope(calls):
    whole = completion("tool", {})
    whole["choices"][0]["message"]["tool_calls"] = calls
    assert read("tool", whole).answers == Rejected("envelope")


def test_arguments_that_are_no_text_are_no_envelope():
    whole = reply("tool", GOOD)
    whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = {"judgements": list(GOOD)}
    assert read("tool", whole).answers == Rejected("envelope")


def test_a_call_in_place_of_a_schema_answer_is_not_read():
    assert read("schema", reply("tool", GOOD)).answers == Rejected("envelope")


@pytest.mark.parametrize("content", [None, ["text"], [{"type": "text"}, 1], {"type": "tool_use"}])
def test_content_of_another_shape_is_no_envelope(content):
    assert read("messages", message({}, content=content)).answers == Rejected("envelope")


@pytest.mark.parametrize("form", ["schema", "tool"])
@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "truncated"),
        ('{"judgements": [', "truncated"),
        ('```json\n{"judgements": []}\n```', "not_json"),
        ('\ufeff{"judgements": []}', "not_json"),
        ('Here: {"judgements": []}', "not_json"),
        ('{"judgements": []} done', "not_json"),
        ('{"judgements": [], "judgements": []}', "duplicate_key"),
        ('{"judgements": [{"id": "q1", "relevant": true, "confidence": NaN}]}', "nan"),
        ('{"judgements": [{"id": "q1", "relevant": true, "confidence": -Infinity}]}', "nan"),
        ('{"judgements": ' + "[" * 40 + "]" * 40 + "}", "too_deep"),
        ("[" * 100_000, "too_deep"),
        ('{"judgements": ' + "1" * 5000 + "}", "too_large"),
        ('{"judgements": ["\\ud800"]}', "encoding"),
    ],
)
def test_json_inside_the_reply_obeys_the_rules_of_a_whole_reply(form, text, cause):
    assert read(form, completion(form, text)).answers == Rejected(cause)


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [(b"\xef\xbb\xbf", b"", "not_json"), (b"", b"{}", "not_json"), (b"", b"\xff", "encoding")],
)
@every_form
def test_a_body_that_is_more_than_one_json_value_is_rejected_for_what_it_is(form, before, after, cause):
    body = before + encoded(reply(form, GOOD)) + after
    assert read(form, body).answers == Rejected(cause)


@every_form
def test_verdict_looking_text_elsewhere_is_nothing(form):
    no = [{"id": "q1", "relevant": False, "confidence": 1.0}]
    whole = {**reply(form, no), "judgements": [YES], "answers": {"q1": {"type": "noul", "noul": 1}}}
    if form == "messages":
        whole["content"][0]["text"] = '{"judgements": [{"id": "q1", "relevant": true, "confidence": 1}]}'
    else:
        whole["choices"][0]["message"]["reasoning_content"] = '{"judgements": [{"id": "q1"}]}'
    assert read(form, whole, NOUL).answers[0].p == (0.0,)


@pytest.mark.parametrize(
    ("usage", "counted", "quirks"),
    [
        (None, Usage(), ("no_usage",)),
        ([], Usage(), ("no_usage",)),
        ({}, Usage(), ()),
        ({"prompt_tokens": 12.0, "completion_tokens": 3}, Usage(12, 3), ("float_usage",)),
        ({"prompt_tokens": 12.5, "completion_tokens": -1}, Usage(), ("float_usage",)),
        ({"prompt_tokens": True, "completion_tokens": "3"}, Usage(), ()),
        ({"prompt_tokens": 10**19, "completion_tokens": 0}, Usage(None, 0), ()),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.0021}, Usage(1, 1, 0.0021), ()),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0}, Usage(1, 1, 0.0), ()),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": "0.1"}, Usage(1, 1), ()),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": -1}, Usage(1, 1), ()),
    ],
)
def test_what_is_no_count_is_unknown_and_never_0(usage, counted, quirks):
    found = read("schema", {**reply("schema", GOOD), "usage": usage})
    assert (found.usage, found.quirks) == (counted, quirks)


def test_a_message_counts_what_its_cache_took_and_what_it_wrote():
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 100, "cache_read_input_tokens": None}
    found = read("messages", {**reply("messages", GOOD), "usage": {**usage, "output_tokens": 7}})
    assert found.usage == Usage(105, 7)


@every_form
def test_a_rejected_reply_still_says_who_answered_and_what_it_took(form):
    found = read(form, reply(form, []), share=0.5)
    assert found.answers == Rejected("mostly_invalid")
    assert (found.model, found.usage) == ("model-1", Usage(120, 30))


@pytest.mark.parametrize(("model", "kept"), [(None, None), (7, None), ("", None), ("m" * 900, "m" * 200)])
def test_a_model_that_is_not_named_is_unknown(model, kept):
    assert read("tool", {**reply("tool", GOOD), "model": model}).model == kept


@every_form
@given(st.binary(max_size=200))
def test_no_bytes_raise(form, body):
    found = read(form, body)
    assert not isinstance(found.answers, Rejected) or found.answers.reason in ANSWER_REASONS


NAMES = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "type",
        "usage",
        "id",
        "q1",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([CALL, "tool_use"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)


@every_form
@given(VALUES)
def test_no_shape_of_reply_raises_and_none_holds_an_answer(form, value):
    found = read(form, {"choices": [{"message": value}], "content": value, "usage": value, "model": value})
    assert isinstance(found.answers, Rejected) or all(a.defect in DEFECTS for a in found.answers)
    assert dialect(form).read(ask(), b"null", 0.5).answers == Rejected("envelope")
