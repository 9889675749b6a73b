from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import NO_LIMITS, Ask, Choice, Noul, RequestLimits, Score
from admit.judges.batches import batches, request_bytes, shared_bytes, too_large
from admit.judges.chat import ChatDialect
from admit.judges.profiles import profile
from admit.judges.rubric import guidance_question
from admit.judges.systemone import SystemOneDialect

SYSTEMONE = RequestLimits(batch_questions=32, batch_bytes=60_000, context_tokens=60_000)


def ask(questions, door="outputs", task="task", context=()):
    return Ask(door, task, context, tuple(questions), None, 1000, "r1")


def nouls(*subjects):
    return [Noul(f"q{k}", text, "ask", "yes", "no") for k, text in enumerate(subjects, 1)]


def ids(parts):
    return [[question.id for question in part] for part in parts]


def test_without_limits_everything_is_one_request():
    assert ids(batches(ask(nouls(*"abc")), NO_LIMITS)) == [["q1", "q2", "q3"]]


def test_no_questions_are_no_request():
    assert batches(ask([]), SYSTEMONE) == ()
    assert batches(ask([], door="guidance"), SYSTEMONE) == ()


def test_a_request_is_filled_greedily_in_question_order():
    limits = RequestLimits(batch_questions=2)
    assert ids(batches(ask(nouls(*"abcde")), limits)) == [["q1", "q2"], ["q3", "q4"], ["q5"]]


def test_bytes_bind_with_the_shared_texts_counted_in_every_request():
    questions = nouls("x" * 100, "x" * 100, "x" * 100)
    asked = ask(questions, task="t" * 500, context=(("plan", "p" * 300),))
    two = shared_bytes(asked) + 2 * request_bytes(questions[:1])
    assert ids(batches(asked, RequestLimits(batch_bytes=two))) == [["q1", "q2"], ["q3"]]
    assert ids(batches(asked, RequestLimits(batch_bytes=two - 1))) == [["q1"], ["q2"], ["q3"]]


def test_a_token_is_three_bytes_rounded_up():
    questions = nouls("x")
    size = shared_bytes(ask(questions)) + request_bytes(questions[:1])
    fitting = -(-size // 3)
    assert batches(ask(questions), RequestLimits(context_tokens=fitting))
    assert not batches(ask(questions), RequestLimits(context_tokens=fitting - 1))


def test_bytes_are_counted_as_utf_8_json():
    assert request_bytes(nouls("日本")) - request_bytes(nouls("")) == 6
    # A fenced subject is a JSON string inside a JSON string: \\" and \\n take four and three bytes.
    assert request_bytes(nouls('a"\n')) - request_bytes(nouls("")) == 1 + 4 + 3
    assert request_bytes(nouls("\ud800")) > request_bytes(nouls(""))


def test_every_text_of_a_question_counts():
    score = Score("q1", "s", "a", ("l" * 10, "m" * 20))
    choice = Choice("q1", "s", "a", (("l" * 10, "m" * 20),))
    assert (
        request_bytes([score]) == request_bytes([choice]) > request_bytes([Score("q1", "s", "a", ("l", "m"))])
    )


def test_a_question_that_alone_is_too_large_is_left_out_and_the_rest_goes_on():
    limits = RequestLimits(batch_bytes=3000)
    asked = ask(nouls("a", "x" * 4000, "b"))
    assert ids(batches(asked, limits)) == [["q1", "q3"]]
    assert too_large(asked, limits) == ("q2",)


def test_guidance_is_one_request_up_to_64_whatever_a_batch_may_carry():
    for n in (9, 33, 60, 64):
        assert ids(batches(ask(nouls(*"x" * n), door="guidance"), SYSTEMONE)) == [
            [f"q{k}" for k in range(1, n + 1)]
        ]
    asked = ask(nouls(*"x" * 65), door="guidance")
    assert batches(asked, SYSTEMONE) == ()
    assert len(too_large(asked, SYSTEMONE)) == 65


def test_guidance_and_evidence_are_never_split_over_the_context():
    limits = RequestLimits(batch_questions=1, batch_bytes=10, context_tokens=900)
    for door in ("guidance", "evidence"):
        assert ids(batches(ask(nouls("a", "b"), door=door), limits)) == [["q1", "q2"]]
        assert batches(ask(nouls("a" * 600, "b" * 600), door=door), limits) == ()


def test_evidence_has_no_limit_of_questions():
    assert len(batches(ask(nouls(*"x" * 65), door="evidence"), SYSTEMONE)) == 1


def test_ninety_seven_chunks_of_a_log_are_five_requests():
    chunk = (" src/module/file_name.py | 12 ++++++------\n" * 50)[:2000]
    levels = ("unrelated " * 4, "same topic " * 4, "answers in part " * 4, "answers directly " * 4)
    asked = ask([Score(f"q{k}", chunk, "How useful? " * 20, levels) for k in range(1, 98)])
    assert len(batches(asked, SYSTEMONE)) == 5


@given(
    st.lists(st.integers(0, 400), max_size=30),
    st.integers(1, 6),
    st.integers(300, 2000),
    st.sampled_from(["outputs", "tools"]),
)
def test_each_question_is_in_one_request_or_too_large_and_every_limit_holds(sizes, count, size, door):
    asked = ask(nouls(*("x" * n for n in sizes)), door=door)
    limits = RequestLimits(batch_questions=count, batch_bytes=size)
    parts = batches(asked, limits)
    carried = [question.id for part in parts for question in part]
    left_out = too_large(asked, limits)
    assert sorted([*carried, *left_out]) == sorted(question.id for question in asked.questions)
    assert carried == [question.id for question in asked.questions if question.id not in left_out]
    for part in parts:
        assert 1 <= len(part) <= count
        assert shared_bytes(asked) + request_bytes(part) <= size


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8), st.text(max_size=30))
def test_what_is_sent_is_never_larger_than_what_was_counted(subjects, task):
    questions = tuple(
        Score(f"q{k}", subject, "How useful is this?", ("no", "partly", "yes"))
        for k, subject in enumerate(subjects, 1)
    )
    asked = Ask("outputs", task, (("tool", task),), questions, None, 1000, "r")
    for name, dialect in (("jev", SystemOneDialect), ("anthropic", ChatDialect)):
        chosen = profile(name)
        counted = shared_bytes(asked) + request_bytes(questions, chosen.limits)
        assert len(dialect(chosen).body(asked, "0123456789abcdef")) <= counted


@given(st.lists(st.text(max_size=40), min_size=1, max_size=20), st.text(max_size=30))
def test_no_review_is_larger_than_what_was_counted_whatever_its_documents_hold(documents, claim):
    documents = [*documents, "<>&" * 200]
    context = tuple((f"a{k}_quotes", text) for k, text in enumerate(documents, 1))
    questions = (Choice("q1", claim, "Does it hold?", (("yes", "it does"), ("no", "it does not"))),)
    asked = Ask("evidence", "review", context, questions, None, 1000, "r")
    for name, dialect in (("jev", SystemOneDialect), ("anthropic", ChatDialect)):
        chosen = profile(name)
        counted = shared_bytes(asked) + request_bytes(questions, chosen.limits)
        assert len(dialect(chosen).body(asked, "0123456789abcdef")) <= counted


def test_a_review_is_also_held_to_what_a_server_takes_of_the_state_with_one_question():
    limits = RequestLimits(context_tokens=60_000, state_tokens=30_000)
    near = ask(nouls("a", "b"), door="evidence", context=(("note", "x" * 87_000),))
    assert batches(near, limits) == (near.questions,)
    over = near._replace(context=(("note", "x" * 90_000),))
    assert batches(over, limits) == ()
    assert batches(over, limits._replace(state_tokens=None)) == (over.questions,)


def test_sixty_items_of_guidance_fit_a_small_model_for_what_is_asked_is_said_once():
    item = "testing › flaky tests › " + "x" * 20 + "\n" + "When a test fails now and then. " * 2
    questions = [guidance_question(f"q{k}", item) for k in range(1, 61)]
    asked = ask(questions, door="guidance", task="t " * 500)
    own = {"judge.profiles.ollama.model": "small"}
    assert batches(asked, profile("ollama", own).limits) == (tuple(questions),)
