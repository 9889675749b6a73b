from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.judges.redact import Redactor
from admit.judges.rubric import OUTPUTS_ASK, OUTPUTS_LEVELS
from admit.outputs.ask import chunks, prepare
from admit.outputs.model import FilterConfig, JudgeProfile, RawOutput, Task
from admit.outputs.select import reserved_end

from .cases import CONFIG, looked_at

STEPS = [f"step {k} of the build went well" for k in range(900)]
KEY_BLOCK = [
    "-----BEGIN RSA PRIVATE KEY-----",
    *(f"MIIEpAIBAAKCAQEA{k:02}Xo3bVqLw7sT9uYzR1mN4pK8hJ6gF5dC2aQxW" for k in range(24)),
    "-----END RSA PRIVATE KEY-----",
]  # fmt: skip


def asked_of(
    lines, task="the pool", *, profile=None, filter_config=None, exit_code=0, command=None, tool="bash"
):
    data = "\n".join(lines) + "\n"
    wanted = Task(task) if isinstance(task, str) else task
    looked = looked_at(data, exit_code=exit_code, task=wanted)
    return looked, prepare(
        looked,
        RawOutput(data.encode(), exit_code, tool, command),
        wanted,
        filter_config or FilterConfig(),
        profile or JudgeProfile(),
        end=reserved_end(looked.view, CONFIG, 6_000),
        request_id="r1",
        redactor=Redactor(),
    )


@given(st.lists(st.text("ab", max_size=30), max_size=30), st.integers(1, 60))
def test_chunks_are_filled_with_whole_lines_and_join_to_the_view(lines, chars):
    found = chunks(lines, chars)
    assert [line for one in found for line in one.lines] == list(range(len(lines)))
    assert [one.id for one in found] == [f"c{k}" for k in range(1, len(found) + 1)]
    for one in found:
        assert one.chars == sum(len(lines[line]) + 1 for line in one.lines)
        assert one.chars <= chars or len(one.lines) == 1
    for one, following in pairwise(found):
        assert one.chars + len(lines[following.first]) + 1 > chars


def test_case_12_a_key_block_across_a_chunk_border_is_gone_from_both_chunks():
    """case 12"""
    lines = [*STEPS[:50], *KEY_BLOCK, *STEPS[50:]]
    _, asked = asked_of(lines, filter_config=FilterConfig(chunk_chars=2_000))
    edges = [one.last + 1 for one in asked.chunks]
    assert any(50 < edge < 50 + len(KEY_BLOCK) for edge in edges)
    sent = "\n".join(question.subject for question in asked.ask.questions)
    assert "MIIEpAIBAAKC" not in sent and "PRIVATE KEY" not in sent
    assert sent.count("[redacted:pem]") == 2
    assert STEPS[49] in sent and STEPS[51] in sent


def test_a_token_across_the_pieces_of_a_long_line_is_gone_too():
    token = "ghp_" + "a1B2c3D4e5" * 4
    line = "x" * 580 + "=" + token + "=" + "y" * 3_000
    looked, asked = asked_of([*STEPS[:100], line, *STEPS[100:]], filter_config=FilterConfig(chunk_chars=500))
    cut = [piece for piece in looked.view.texts if token[:12] in piece]
    assert len(cut) == 1 and token not in cut[0]
    sent = "".join(question.subject for question in asked.ask.questions)
    assert token[:12] not in sent and token[-12:] not in sent and "[redacted:" in sent


def test_F7_the_passages_asked_about_join_to_the_redacted_view():
    lines = [*STEPS[:300], "password = hunter2secret", *STEPS[300:]]
    looked, asked = asked_of(lines, profile=JudgeProfile(max_candidates=1_000))
    end = reserved_end(looked.view, CONFIG, 6_000)
    sent = "\n".join(question.subject for question in asked.ask.questions)
    whole = Redactor().redact("\n".join(looked.view.texts)).text
    assert whole.startswith(sent)
    assert "hunter2" not in sent
    # What is left out is wholly inside the end that is shown anyway.
    assert set(whole[len(sent) :].strip("\n").split("\n")) <= set(looked.view.texts[end.start :])


def test_passages_wholly_inside_the_reserved_end_and_blank_ones_are_not_asked_about():
    lines = [*STEPS[:100], *[""] * 2_500, *STEPS[100:]]
    looked, asked = asked_of(lines, filter_config=FilterConfig(chunk_chars=500), profile=JudgeProfile(500))
    end = reserved_end(looked.view, CONFIG, 6_000)
    exempt = {candidate.id for candidate in asked.plan.exempt}
    for one in asked.chunks:
        blank = not "".join(looked.view.texts[line] for line in one.lines).strip()
        assert (one.id in exempt) == (blank or one.first >= end.start)
    assert len(exempt) >= 3


def test_the_heaviest_passages_are_asked_about_and_the_rest_is_overflow():
    lines = list(STEPS)
    lines[450] = "the connection pool is exhausted"
    looked, asked = asked_of(lines, "connection pool exhausted", profile=JudgeProfile(max_candidates=3))
    assert len(asked.plan.asked) == len(asked.ask.questions) == 3
    assert len(asked.plan.overflow) == len(asked.chunks) - 3 - len(asked.plan.exempt)
    [holding] = [one.id for one in asked.chunks if 450 in one.lines]
    assert asked.plan.asked[0].id == holding
    smoothed = looked.weighed.smoothed
    weights = {one.id: sum(smoothed[line] for line in one.lines) for one in asked.chunks}
    assert min(weights[one.id] for one in asked.plan.asked) >= max(
        weights[one.id] for one in asked.plan.overflow
    )


def test_passages_of_equal_weight_are_asked_about_from_the_first_on():
    lines = ["the same words in every line"] * 900
    _, asked = asked_of(lines, "zzz", profile=JudgeProfile(max_candidates=3))
    # The first passage weighs less: its first lines have no neighbours before them.
    assert [one.id for one in asked.plan.asked] == ["c2", "c3", "c4"]
    assert len({one.rank[0] for one in asked.plan.asked}) == 1


def test_questions_stand_in_document_order_and_are_numbered_by_rank():
    lines = list(STEPS)
    lines[450] = "the connection pool is exhausted"
    _, asked = asked_of(lines, "connection pool exhausted")
    subjects = [question.subject for question in asked.ask.questions]
    places = ["\n".join(lines).index(subject) for subject in subjects]
    assert places == sorted(places)
    by_id = {question.id: question.subject for question in asked.ask.questions}
    assert sorted(by_id, key=lambda one: int(one[1:])) == [f"q{k}" for k in range(1, len(by_id) + 1)]
    assert lines[450] in by_id["q1"]


def test_each_question_is_the_rubric_about_one_passage():
    _, asked = asked_of(STEPS)
    assert {(question.ask, question.levels) for question in asked.ask.questions} == {
        (OUTPUTS_ASK, OUTPUTS_LEVELS)
    }


def test_the_ask_carries_the_task_and_what_is_known_of_the_call():
    task = Task("find the pool", ("first", "second"), "my plan", "make -j4 test")
    _, asked = asked_of(STEPS, task, exit_code=2)
    assert asked.ask.task == "find the pool" and asked.ask.door == "outputs"
    assert asked.ask.context == (
        ("earlier_1", "first"), ("earlier_2", "second"), ("plan", "my plan"), ("tool", "bash"),
        ("command", "make -j4 test"), ("exit_code", "2"), ("mode", "failure"),
    )  # fmt: skip
    _, asked = asked_of(STEPS, exit_code=None, tool="", command="cat x")
    assert asked.ask.context == (("command", "cat x"), ("exit_code", "unknown"), ("mode", "spread"))


def test_every_field_that_is_sent_is_redacted_and_holds_no_lone_surrogate():
    secret = "ghp_" + "a1B2c3D4e5" * 4
    task = Task(f"a {secret} \ud800", (f"h {secret}",), f"p {secret}\udfff", f"c {secret}")
    _, asked = asked_of(STEPS, task, tool=f"t {secret}")
    sent = [asked.ask.task, *(text for _, text in asked.ask.context)]
    assert not any(secret in text for text in sent)
    assert sum("[redacted:" in text for text in sent) == 5
    assert "".join(sent).encode()


@pytest.mark.parametrize(("own", "profiles"), [(4_000, 2_000), (1_000, 2_000)])
def test_the_deadline_is_the_lower_of_the_doors_and_the_profiles(own, profiles):
    config, profile = FilterConfig(timeout_ms=own), JudgeProfile(timeout_ms=profiles)
    assert asked_of(STEPS, filter_config=config, profile=profile)[1].ask.deadline_ms == min(own, profiles)


def test_the_least_score_is_the_profiles_threshold_unless_a_file_sets_one():
    profile = JudgeProfile(threshold=2.25)
    assert asked_of(STEPS, profile=profile)[1].policy.threshold == 2.25
    config = FilterConfig(min_score=0.0)
    assert asked_of(STEPS, profile=profile, filter_config=config)[1].policy.threshold == 0.0


def test_partial_says_whether_an_incomplete_reply_counts():
    assert asked_of(STEPS)[1].policy.unjudged == "pass"
    assert asked_of(STEPS, filter_config=FilterConfig(partial="reject"))[1].policy.unjudged == "reject"


def test_term_statistics_are_those_of_all_passages_asked_about_or_not():
    _, few = asked_of(STEPS, profile=JudgeProfile(max_candidates=1))
    _, many = asked_of(STEPS, profile=JudgeProfile(max_candidates=100))
    assert few.ask.lexicon == many.ask.lexicon
    assert few.ask.lexicon.n_docs == len(few.chunks) == few.ask.lexicon.df["build"]


def test_an_output_without_lines_has_nothing_to_ask_about():
    looked = looked_at("")
    asked = prepare(
        looked, RawOutput(b""), Task("x"), FilterConfig(), JudgeProfile(), end=range(0), request_id="r",
        redactor=Redactor(),
    )  # fmt: skip
    assert asked.chunks == asked.ask.questions == ()
