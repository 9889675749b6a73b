"""The gate with a judge: which outputs are asked about, and what its scores do and cannot do."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Answer, RequestLimits
from admit.judges.batches import batches
from admit.judges.scripted import FAULTS, FaultyJudge, ScriptedJudge
from admit.outputs.ask import chunks
from admit.outputs.model import FilterConfig, JudgeProfile

from .cases import CONFIG, UNHURRIED, Door, body_of, long_bytes, short_bytes, steps, text_of

ON = FilterConfig(enabled=True)
MANY = JudgeProfile(max_candidates=192, timeout_ms=4_000, name="jev")
TASK = "which port does the service use"
PLAIN = text_of(steps(0, 900))
FAILED = text_of(steps(0, 400), "error: alpha is lost", steps(400, 900))


def door_with(judge, profile=MANY, **fields) -> Door:
    return Door(CONFIG._replace(filter=ON._replace(**fields)), judge=judge, profile=profile)


def excerpt(data, task=TASK, **fields):
    return Door().admit(data, task, **fields)


def scoring(**scores: float) -> ScriptedJudge:
    """Gives a passage the score of the first of these words it holds, else 0."""
    return ScriptedJudge(lambda one: next((v for k, v in scores.items() if k in one.subject), 0.0))


def passage_of(line: str, n: int = 60) -> list[str]:
    """Lines enough to fill a passage or two, all with a word."""
    return [f"{line} {k} among the others" for k in range(n)]


# --- which outputs are asked about ------------------------------------------------------------------------

GO = text_of(
    steps(0, 600), "--- FAIL: TestStock (0.00s)", "    stock_test.go:9: got 1", "FAIL\texample.com/s\t0.1s"
)


def test_case_25_an_output_that_a_parser_recognises_goes_to_no_judge_unless_the_scope_is_all():
    """case 25"""
    judge = scoring(step=3.0)
    result = door_with(judge).admit(GO, TASK, exit_code=1)
    assert judge.asks == [] and result.parsed and result.text == excerpt(GO, exit_code=1).text
    assert door_with(judge, scope="all").admit(GO, TASK, exit_code=1).how == "judged"
    assert len(judge.asks) == 1


@pytest.mark.parametrize(
    ("config", "data", "fields"),
    [
        ({"skip_tools": ("bash",)}, PLAIN, {}),
        ({}, PLAIN, {"kind": "file_read"}),
        ({}, text_of(steps(0, 100)), {}),
        ({}, b"\0" * 9_000, {}),
        ({"min_saving_share": 0.99}, PLAIN, {}),
        ({"max_kept_chars": 20_000}, text_of(steps(0, 500)), {}),
        ({"mode": "off"}, PLAIN, {}),
    ],
)
def test_an_output_that_would_not_be_cut_goes_to_no_judge(config, data, fields):
    judge = scoring(step=3.0)
    door = Door(CONFIG._replace(filter=ON, **config), judge=judge, profile=MANY)
    assert not door.admit(data, TASK, tool="bash", **fields).changed
    assert judge.asks == []


def test_a_duplicate_goes_to_no_judge():
    judge = scoring(step=3.0)
    door = door_with(judge)
    assert [door.admit(PLAIN, TASK, session="s").how for _ in range(2)] == ["judged", "duplicate"]
    assert len(judge.asks) == 1


def test_without_a_task_nothing_is_asked_and_the_excerpt_stands():
    judge = scoring(step=3.0)
    result = door_with(judge).admit(PLAIN, " \n", exit_code=0)
    assert judge.asks == [] and (result.how, result.reason) == ("local", "no_task")
    assert result.text == excerpt(PLAIN, " \n", exit_code=0).text


def test_the_filter_is_off_by_default_and_without_a_judge():
    judge = scoring(step=3.0)
    assert Door(judge=judge, profile=MANY).admit(PLAIN, TASK).how == "local"
    assert judge.asks == []
    assert Door(CONFIG._replace(filter=ON)).admit(PLAIN, TASK).how == "local"


# --- what a score does ------------------------------------------------------------------------------------


def test_where_all_that_qualifies_fits_it_is_shown_whole_with_the_end_and_nothing_else():
    lines = [*steps(0, 300), *passage_of("port"), *steps(300, 900)]
    result = door_with(scoring(port=3.0)).admit(text_of(lines), TASK, exit_code=0)
    assert result.how == "judged" and {one.rule for one in result.kept} <= {"judged", "end", "term", "fill"}
    shown = body_of(result.text)
    assert all(line in shown for line in passage_of("port"))
    assert "step 100 " not in shown and shown.endswith("step 899 of the build went well\n")
    assert "A judge scored" in result.text.partition("\n")[0]
    assert result.requests == 1 and result.judge_ms is not None and result.dropped_qualifying is None


def test_where_what_a_judge_keeps_saves_too_little_the_original_is_shown():
    data = text_of(steps(0, 400))
    door = door_with(scoring(step=3.0), max_kept_chars=20_000)
    result = door.admit(data, TASK, exit_code=0)
    assert (result.how, result.reason, result.text) == ("kept", "saving", data)
    assert result.requests == 1 and door.records[0].decision.status == "judged"


def test_the_budget_of_a_scored_output_is_the_filters_own():
    data = text_of([f"port {k} of the service" for k in range(1_200)])
    for own in (3_000, 9_000):
        result = door_with(scoring(port=3.0), max_kept_chars=own).admit(data, TASK, exit_code=0)
        assert 0.9 * own < len(body_of(result.text)) <= own
    assert len(body_of(door_with(FaultyJudge("busy"), max_kept_chars=3_000).admit(data, TASK).text)) > 5_000


def test_case_11_of_97_qualifying_passages_lines_of_many_are_kept_and_the_rest_is_told():
    """case 11"""
    data = text_of([f"port {k} is taken by another service of the host" for k in range(4_100)])
    door = door_with(scoring(port=2.5))
    result = door.admit(data, TASK, exit_code=0)
    assert len(result.chunks) >= 97
    first_lines = [one.first for one in result.kept]
    assert len({line * 97 // 4_100 for line in first_lines}) >= 8
    dropped = result.dropped_qualifying
    assert dropped["chunks"] > 50 and dropped["best_score"] == 2.5
    assert f"{dropped['chunks']:,} more ({dropped['chars']:,} chars) qualified and did not fit" in result.text
    assert door.records[0].decision.extra["dropped_qualifying"] == dropped


def test_whole_passages_are_kept_the_best_first_where_the_fit_is_chunks():
    words = ["red", "green", "blue", "black", "white"]
    lines = [*steps(0, 200), *(line for word in words for line in passage_of(word, 62)), *steps(200, 900)]
    judge = scoring(red=2.0, green=3.0, blue=2.0, black=2.9, white=2.0)
    result = door_with(judge, fit="chunks").admit(text_of(lines), TASK, exit_code=0)
    shown = all_lines(result)
    whole = {}
    for one, passage in zip(result.chunks, chunks(lines, 2_000), strict=True):
        numbers = {line + 1 for line in passage.lines}
        if one.state == "admitted":
            assert numbers <= shown or not numbers & shown
            whole[one.chunk] = (one.score, numbers <= shown)
    assert all(kept for score, kept in whole.values() if score == 3.0)
    assert len([kept for score, kept in whole.values() if kept]) < len(whole)
    assert {one.rule for one in result.kept} <= {"judged", "end", "fill"}
    dropped = [score for score, kept in whole.values() if not kept]
    assert result.dropped_qualifying["chunks"] == len(dropped)
    assert result.dropped_qualifying["best_score"] == max(dropped)


def test_passages_the_cap_left_out_keep_their_weight():
    data = text_of(steps(0, 600), passage_of("port"), steps(600, 900))
    profile = JudgeProfile(max_candidates=2)
    result = door_with(ScriptedJudge({}, default=1.5), profile).admit(data, TASK, exit_code=0)
    assert [one.state for one in result.chunks].count("admitted") == 2
    assert result.decision.coverage.overflow == len(result.chunks) - 2 - result.decision.coverage.exempt


@pytest.mark.parametrize(("least", "how"), [(None, "local"), (1.2, "judged"), (0.0, "judged")])
def test_the_least_score_is_the_profiles_unless_the_user_sets_one(least, how):
    result = door_with(ScriptedJudge({}, default=1.3), min_score=least).admit(PLAIN, TASK, exit_code=0)
    assert result.how == how and (result.reason == "none_passed") == (how == "local")


def test_shadow_mode_asks_and_records_and_shows_the_original():
    door = Door(CONFIG._replace(mode="shadow", filter=ON), judge=scoring(step=3.0), profile=MANY)
    result = door.admit(PLAIN, TASK)
    assert result.how == "judged" and result.text == PLAIN and not result.changed and result.chunks


# --- what a score cannot do -------------------------------------------------------------------------------


def guarded(result) -> set[int]:
    rules = ("failure", "summary", "term", "end")
    return {line for one in result.kept if one.rule in rules for line in range(one.first, one.last + 1)}


def all_lines(result) -> set[int]:
    return {line for one in result.kept for line in range(one.first, one.last + 1)}


@pytest.mark.parametrize("exit_code", [0, 1])
@pytest.mark.parametrize("fit", ["lines", "chunks"])
def test_case_9_no_guarded_line_is_lost_to_a_judge_that_scores_all_that_matters_0(fit, exit_code):
    """case 9"""
    lines = [
        *steps(0, 200), "error: alpha is lost", *steps(200, 400), "killed: beta", *steps(400, 500),
        *passage_of("decoy"), *steps(500, 700), "the listener is bound to 8080", "fatal: gamma",
        *steps(700, 900),
    ]  # fmt: skip
    plain = excerpt(text_of(lines), "the listener", exit_code=exit_code)
    result = door_with(scoring(decoy=3.0), fit=fit).admit(text_of(lines), "the listener", exit_code=exit_code)
    assert result.how == "judged" and len(guarded(plain)) > 30
    assert guarded(plain) - all_lines(result) == set()
    for line in ("error: alpha is lost", "killed: beta", "fatal: gamma", "the listener is bound to 8080"):
        assert f"{line}\n" in result.text


def test_case_9_a_judge_that_scores_everything_0_changes_nothing():
    """case 9"""
    result = door_with(ScriptedJudge({}, default=0.0)).admit(FAILED, TASK, exit_code=1)
    assert result.text == excerpt(FAILED, exit_code=1).text and result.reason == "none_passed"


def test_case_10_a_vital_line_in_a_passage_scored_below_the_least_stays_and_the_score_is_recorded():
    """case 10"""
    judge = ScriptedJudge(
        lambda one: 1.4 if "alpha is lost" in one.subject else 3.0 if "step 10 " in one.subject else 0
    )
    door = door_with(judge)
    result = door.admit(FAILED, TASK, exit_code=0)
    assert "error: alpha is lost\n" in result.text
    [event] = door.records[0].events
    assert [chunk[2:] for chunk in event.body["chunks"] if chunk[3] == pytest.approx(1.4)] == [
        ["blocked", pytest.approx(1.4)]
    ]


def test_a_judge_writes_no_word_of_the_text():
    judge = ScriptedJudge(lambda one: Answer(one.id, "score", (0.0, 0.0, 0.0, 1.0), 3.0))
    result = door_with(judge).admit(PLAIN, TASK, exit_code=0)
    for line in body_of(result.text).splitlines():
        assert line.startswith("[admit ") or line in PLAIN.splitlines()


# --- incomplete replies -----------------------------------------------------------------------------------


class FiveBatches(ScriptedJudge):
    """Sends the passages in five requests, of which one fails."""

    def __init__(self, failed: int) -> None:
        super().__init__({}, default=2.0, limits=RequestLimits(batch_questions=10))
        self._failed = failed

    def ask(self, ask):
        lost = {one.id for one in batches(ask, self.limits())[self._failed]}
        self._script = dict.fromkeys(lost, "batch_failed")
        return super().ask(ask)


def fifty_passages() -> str:
    return text_of([f"line {k} with some more words about the build of it" for k in range(1_880)])


def test_case_13_one_of_five_requests_fails_four_are_used_and_the_fifth_is_unjudged():
    """case 13"""
    door = door_with(FiveBatches(3))
    result = door.admit(fifty_passages(), TASK, exit_code=0)
    assert result.how == "judged"
    coverage = result.decision.coverage
    assert (coverage.judged, coverage.unjudged, coverage.overflow) == (40, 10, 0)
    assert [one.state for one in result.chunks].count("unjudged") == 10
    assert "A judge scored 40 passages, 10 unjudged." in result.text
    extra = door.records[0].decision.extra
    assert (extra["judged"], extra["unjudged"]) == (40, 10)


def test_case_13_as_published_one_failed_request_keeps_the_excerpt():
    """case 13"""
    result = door_with(FiveBatches(3), partial="reject").admit(fifty_passages(), TASK, exit_code=0)
    assert result.how == "local" and result.reason == "answer_defects"
    assert result.text == excerpt(fifty_passages(), exit_code=0).text


def test_under_half_of_the_characters_judged_keeps_the_excerpt():
    judge = FaultyJudge("defect:batch_failed", share=0.6)
    result = door_with(judge).admit(PLAIN, TASK, exit_code=0)
    assert (result.how, result.reason) == ("local", "coverage")
    assert result.text == excerpt(PLAIN, exit_code=0).text


def test_each_reason_is_counted_for_itself():
    door = door_with(FaultyJudge("provider_429"))
    door.admit(PLAIN, TASK)
    door.admit(PLAIN, "")
    door.gate.config = CONFIG
    door.admit(PLAIN, TASK)
    assert door.gate.totals == {"local:provider_429": 1, "local:no_task": 1, "local:": 1}


@UNHURRIED
@given(
    short_bytes | long_bytes,
    st.text(max_size=20),
    st.sampled_from([one for one in FAULTS if one != "stalls"]),
    st.sampled_from([None, 0, 1]),
)
def test_no_bytes_no_task_and_no_fault_of_a_judge_make_admit_raise(data, task, fault, exit_code):
    sizes = {"floor_chars": 50, "gate_chars": 300, "max_kept_chars": 600, "min_saving_chars": 10}
    config = CONFIG._replace(**sizes, filter=ON._replace(scope="all", max_kept_chars=600))
    result = Door(config, judge=FaultyJudge(fault)).admit(data * 9, task, exit_code=exit_code)
    without = Door(config._replace(filter=FilterConfig())).admit(data * 9, task, exit_code=exit_code)
    assert not result.reason.startswith("internal:")
    if result.how != "judged":
        assert result.data == without.data
    assert len(result.text.replace("\r\n", "\n")) <= 1_100 or not result.changed


# --- the deadline, redaction ------------------------------------------------------------------------------


def test_case_14_the_deadline_fires_in_a_process_that_does_nothing_else():
    """case 14"""
    judge = FaultyJudge("stalls")
    before = threading.active_count()
    result = door_with(judge, timeout_ms=200).admit(PLAIN, TASK, exit_code=0)
    assert (result.how, result.reason) == ("local", "deadline")
    assert result.text == excerpt(PLAIN, exit_code=0).text
    assert result.judge_ms > 100 and threading.active_count() == before + 1
    judge.release()


def test_case_12_nothing_of_a_secret_is_in_any_request():
    """case 12"""
    block = [
        "-----BEGIN PRIVATE KEY-----",
        *(f"MIIE{k:02}" + "Qz7vX" * 12 for k in range(26)),
        "-----END PRIVATE KEY-----",
    ]
    judge = scoring(step=2.0)
    data = text_of(steps(0, 50), block, steps(50, 900))
    result = door_with(judge).admit(
        data, "port of AKIAIOSFODNN7EXAMPLE", exit_code=0, command="x --token ghp_" + "a1B2" * 9
    )
    assert result.how == "judged"
    [ask] = judge.asks
    sent = repr(ask)
    for secret in ("Qz7vX", "BEGIN PRIVATE", "AKIAIOSFODNN7EXAMPLE", "a1B2a1B2"):
        assert secret not in sent
    assert sent.count("[redacted:pem]") == 2


def test_case_15_no_lone_surrogate_is_in_a_request():
    """case 15"""
    judge = scoring(step=2.0)
    door_with(judge).admit(PLAIN.replace("step 7", "\ud83d step 7"), "port \udc00", exit_code=0)
    assert (
        repr(judge.asks[0]).encode()
        and "\\ud83d" not in repr(judge.asks[0])
        and "\\udc00" not in repr(judge.asks[0])
    )
