import pytest

from admit.core.question import Reply
from admit.judges.redact import Redactor
from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.outputs.ask import prepare
from admit.outputs.model import ChunkRuling, FilterConfig, JudgeProfile, RawOutput, Task
from admit.outputs.verdicts import ask_judge

from .cases import looked_at

STEPS = [f"step {k:03} of the build went well" for k in range(200)]
"""Lines of 32 characters: three passages of 62 lines and one of 14."""


def settled(judge, *, config=None, profile=None, lines=STEPS):
    data = "\n".join(lines) + "\n"
    looked = looked_at(data, exit_code=0, task="the build")
    asked = prepare(
        looked, RawOutput(data.encode(), 0), Task("the build"), config or FilterConfig(),
        profile or JudgeProfile(), end=range(190, 200), request_id="r1", redactor=Redactor(),
    )  # fmt: skip
    return ask_judge(judge, asked)


def scoring(*scores):
    """A judge that gives the passages these scores, in document order; None gives none."""
    order = dict(zip((STEPS[k] for k in (0, 62, 124, 186)), scores, strict=True))
    return ScriptedJudge(lambda question: order[question.subject.split("\n")[0]])


def ranges(found):
    return [(passage.start, passage.stop) for passage in found.passages]


def test_what_qualifies_is_told_as_line_ranges_the_best_first_then_by_place():
    found = settled(scoring(2.0, 3.0, 2.0, 1.0)).judged(200, whole_only=False)
    assert ranges(found) == [(62, 124), (0, 62), (124, 186)]
    assert found.whole_only is False and settled(scoring(2, 3, 2, 1)).judged(200, whole_only=True).whole_only


def test_lines_that_qualify_weigh_one_and_their_score_and_lines_below_nothing():
    factors = settled(scoring(1.5, 1.49, 3.0, 0.0)).judged(200, whole_only=False).factors
    assert factors == [2.5] * 62 + [0.0] * 62 + [4.0] * 62 + [0.0] * 14


def test_lines_that_were_not_judged_keep_their_weight():
    partial = settled(scoring(3.0, 2.0, None, "out_of_range"))
    assert partial.decision.status == "partial"
    factors = partial.judged(200, whole_only=False).factors
    assert factors == [4.0] * 62 + [3.0] * 62 + [1.0] * 76
    capped = settled(scoring(3.0, 3.0, 3.0, 3.0), profile=JudgeProfile(max_candidates=2))
    assert sorted(set(capped.judged(200, whole_only=False).factors)) == [1, 4]


def test_states_and_scores_are_told_in_document_order():
    assert settled(scoring(3.0, 0.0, None, 1.5)).chunk_rulings() == (
        ChunkRuling("c1", 62 * 32, "admitted", 3.0),
        ChunkRuling("c2", 62 * 32, "blocked", 0.0),
        ChunkRuling("c3", 62 * 32, "unjudged", None),
        ChunkRuling("c4", 14 * 32, "admitted", 1.5),
    )


def test_a_passage_that_qualified_is_dropped_where_not_one_of_its_lines_is_kept():
    verdicts = settled(scoring(2.0, 3.0, 2.5, 1.0))
    assert verdicts.dropped([0, 62, 124]) is None
    assert verdicts.dropped([0, 199]) == {
        "chunks": 2, "chars": 2 * 62 * 32, "best_score": pytest.approx(3.0)
    }  # fmt: skip


def test_under_half_of_the_asked_characters_judged_is_no_coverage():
    enough = settled(scoring(3.0, 3.0, None, None))
    assert enough.usable and enough.decision.status == "partial"
    short = settled(scoring(3.0, None, None, 3.0))
    assert not short.usable
    assert (short.decision.status, short.decision.reason) == ("fallback", "coverage")
    assert len(short.reply.calls) == 1
    assert {ruling.verdict for ruling in short.decision.rulings} == {"unjudged"}


def test_where_nothing_reaches_the_least_score_the_verdicts_are_not_used():
    verdicts = settled(scoring(1.0, 1.49, 0.0, 0.0))
    assert not verdicts.usable and verdicts.decision.reason == "none_passed"


def test_a_judge_that_fails_as_a_whole_is_not_used_and_its_reason_stands():
    verdicts = settled(FaultyJudge("provider_500"))
    assert not verdicts.usable and verdicts.decision.reason == "provider_500"


def test_where_nothing_was_to_be_asked_the_verdicts_are_not_used():
    class Silent:
        name = "silent"

        def ask(self, ask):
            return Reply("judged")

    verdicts = settled(Silent(), lines=[""] * 50)
    assert verdicts.decision.status == "idle" and not verdicts.usable
