"""The output filter at the door: what is asked, what is shown, and what a failure leaves."""

import pytest

from admit.cli.door import output_config
from admit.config import layers
from admit.core.question import RequestLimits, Score
from admit.judges.batches import batches
from admit.judges.clock import SystemClock
from admit.judges.scripted import FAULTS, FaultyJudge, ScriptedJudge
from admit.ledger.memory import MemoryLedger, MemoryOutputs
from admit.outputs.ask import chunks
from admit.outputs.gate import OutputGate
from admit.outputs.model import FilterConfig, JudgeProfile, OutputConfig, RawOutput, Task

TASK = "which port does the service use"
JEV = JudgeProfile(max_candidates=192, threshold=1.5, timeout_ms=4_000, name="jev")
PUBLISHED = OutputConfig(
    guard_share_failure=0.0,
    guard_share_spread=0.0,
    filter=FilterConfig(enabled=True, scope="unparsed", partial="reject", fit="chunks"),
)
LINES = [f"step {k} of the build went well" for k in range(900)]
PLAIN = "\n".join(LINES) + "\n"
PYTEST = "\n".join(
    [
        "============================= test session starts ==============================",
        *(f"tests/test_{k:03}.py::test_with_a_long_enough_name PASSED" for k in range(200)),
        "FAILED tests/test_x.py::test_y - assert 1 == 2",
        "======================== 1 failed, 200 passed in 3.31s =========================\n",
    ]
)


class Door:
    def __init__(self, config=PUBLISHED, judge=None, profile=JEV):
        self.judge = judge
        self.ledger = MemoryLedger()
        self.gate = OutputGate(
            config, store=MemoryOutputs(), judge=judge, ledger=self.ledger, key=b"k" * 32, profile=profile
        )

    def admit(self, text=PLAIN, task=TASK, session=None, **fields):
        return self.gate.admit(RawOutput.of(text, exit_code=0, **fields), Task(task), session=session)


def excerpt(text=PLAIN, task=TASK, config=PUBLISHED):
    return Door(config._replace(filter=FilterConfig())).admit(text, task)


def words_of(lines):
    """A score of 3 for passages that hold one of these lines, else 0."""
    return ScriptedJudge(lambda one: 3.0 if any(f"{line}\n" in f"{one.subject}\n" for line in lines) else 0.0)


def test_F1_off_by_default_with_passages_of_2000_least_score_1_5_at_most_6000_kept_and_4_seconds():
    config = output_config(layers.Config(layers.shipped())).filter
    assert config == FilterConfig() and not config.enabled
    assert (config.chunk_chars, config.max_kept_chars, config.timeout_ms) == (2_000, 6_000, 4_000)
    assert (config.min_score, JudgeProfile().threshold) == (None, 1.5)
    judge = words_of(LINES)
    assert Door(OutputConfig(), judge).admit().how == "local" and judge.asks == []


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes a project's file, and gives the filter's settings in force there."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADMIT_CONFIG", raising=False)
    monkeypatch.delenv("ADMIT_OFF", raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    (tmp_path / "here/.git").mkdir(parents=True)

    def settings(text: str):
        (tmp_path / "here/.admit.toml").write_text(text)
        config = layers.load(str(tmp_path / "here"))
        return output_config(config), [finding for finding in config.findings if finding.kind == "refused"]

    return settings


@pytest.mark.parametrize("value", ["true", "false"])
def test_F2_a_project_can_not_switch_the_filter_on_or_off_and_that_is_visible(project, value):
    config, refused = project(f"[outputs.filter]\nenabled = {value}\n")
    assert config.filter.enabled is False
    assert [finding.key for finding in refused] == ["outputs.filter.enabled"]


def test_F2_a_project_may_tune_the_other_values_within_their_bounds(project):
    tuned = "[outputs.filter]\nchunk_chars = 800\nmin_score = 2.0\nmax_kept_chars = 3000\ntimeout_ms = 900\n"
    config, refused = project(tuned)
    assert refused == [] and config.filter == FilterConfig(
        False, "unparsed", "keep", "lines", 800, 2.0, 3_000, 900
    )
    config, _ = project(
        "[outputs.filter]\nchunk_chars = 100\nmin_score = 9\nmax_kept_chars = 90\ntimeout_ms = 9000\n"
    )
    assert config.filter == FilterConfig()


def test_F2_case_23_a_project_can_not_set_mode_words_weights_or_scope(project):
    """case 23"""
    text = '[outputs]\nmode = "off"\n[outputs.words]\nstrong = ["x"]\n[outputs.weights]\nspread = [0, 0, 0]\n'
    config, refused = project(text + '[outputs.filter]\nscope = "all"\n')
    assert config == OutputConfig() and len(refused) == 4


@pytest.mark.parametrize(
    ("text", "fields", "config"),
    [
        (PYTEST, {}, {}),
        (PLAIN, {"kind": "file_read"}, {}),
        (PLAIN[:6_000], {}, {}),
        (PLAIN, {}, {"min_saving_share": 0.99}),
        (PLAIN, {}, {"mode": "off"}),
        (PLAIN, {}, {"skip_tools": ("*",)}),
    ],
    ids=["parsed", "file", "short", "kept", "off", "skipped"],
)
def test_F3_where_the_excerpt_would_not_run_nothing_is_asked_and_every_byte_stays(text, fields, config):
    judge = words_of(LINES)
    settings = PUBLISHED._replace(**config)
    result = Door(settings, judge).admit(text, **fields)
    without = Door(settings._replace(filter=FilterConfig())).admit(text, **fields)
    assert judge.asks == []
    assert result.data == without.data and result.how == without.how


def test_F3_a_duplicate_is_not_asked_about_and_stays_the_note_it_is():
    judge = words_of(LINES[100:160])
    door = Door(judge=judge)
    first, second = door.admit(session="s"), door.admit(session="s")
    assert first.how == "judged" and second.how == "duplicate"
    assert len(judge.asks) == 1


def test_F4_the_output_is_split_at_line_ends_with_one_score_question_a_passage_on_four_levels():
    judge = words_of(LINES[100:101])
    Door(judge=judge).admit()
    [ask] = judge.asks
    passages = [LINES[one.first : one.last + 1] for one in chunks(LINES, 2_000)]
    # The last passage lies wholly inside the end that is shown anyway.
    assert [one.subject.split("\n") for one in ask.questions] == passages[: len(ask.questions)]
    assert len(passages) - len(ask.questions) <= 1
    assert all(isinstance(one, Score) and len(one.levels) == 4 for one in ask.questions)
    assert ask.task == TASK


def test_F4_qualifying_passages_are_kept_word_for_word_in_their_order_with_the_end_and_marked_gaps():
    judge = words_of([LINES[100], LINES[500]])
    result = Door(judge=judge).admit()
    chosen = [one for one in chunks(LINES, 2_000) if 100 in one.lines or 500 in one.lines]
    lines = result.text.splitlines()[1:]
    runs, run = [], []
    for line in [*lines, "[admit "]:
        if line.startswith("[admit "):
            runs, run = [*runs, run], []
        else:
            run.append(line)
    kept = [run for run in runs if run]
    assert kept[:2] == [LINES[one.first : one.last + 1] for one in chosen]
    assert "\n".join(kept[2]) + "\n" == PLAIN[-len("\n".join(kept[2])) - 1 :]
    assert len("\n".join(kept[2])) + 1 >= 1_000 and len(kept) == 3
    assert [(gap.first, gap.last) for gap in result.gaps] == [
        (1, chosen[0].first), (chosen[0].last + 2, chosen[1].first), (chosen[1].last + 2, 900 - len(kept[2])),
    ]  # fmt: skip


def test_F4_the_final_1000_characters_are_kept_whatever_a_judge_scores():
    for judge in (words_of([LINES[3]]), ScriptedJudge({}, default=3.0), ScriptedJudge({}, default=0.0)):
        assert PLAIN[-1_000:] in Door(judge=judge).admit().text


@pytest.mark.parametrize("partial", ["keep", "reject"])
@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if one not in ("stalls", "extra_ids", "wrong_order")]
)
def test_F5_on_every_fault_the_bytes_are_those_of_the_excerpt_and_the_reason_is_told(fault, partial):
    door = Door(PUBLISHED._replace(filter=PUBLISHED.filter._replace(partial=partial)), FaultyJudge(fault))
    result = door.admit()
    assert result.data == excerpt().data and result.how == "local"
    expected = {"raises": "internal", "no_answers": "answer_defects", "not_finite": "answer_defects"}
    if fault.startswith("defect:"):
        expected = {fault: "answer_defects"}
    assert result.reason == expected.get(fault, fault)
    assert door.ledger.records[0].decision.reason == result.reason
    broken = {"raises": "RuntimeError", "internal": "internal"}.get(fault)
    faults = {f"fault:judge {broken}": 1} if broken else {}
    assert door.gate.totals == {f"local:{result.reason}": 1} | faults


@pytest.mark.parametrize("fault", ["extra_ids", "wrong_order"])
def test_F5_ids_that_were_not_asked_and_another_order_change_nothing(fault):
    assert (
        Door(judge=FaultyJudge(fault)).admit().data == Door(judge=ScriptedJudge({}, default=3.0)).admit().data
    )


def test_F5_no_passage_passing_keeps_the_excerpt_with_its_reason():
    result = Door(judge=ScriptedJudge({}, default=1.49)).admit()
    assert (result.how, result.reason) == ("local", "none_passed")
    assert result.data == excerpt().data


def test_F5_one_lost_answer_keeps_the_excerpt_as_published():
    judge = ScriptedJudge({"q1": "batch_failed"}, default=2.0)
    result = Door(judge=judge).admit()
    assert result.how == "local" and result.data == excerpt().data


def test_F6_the_deadline_fires_though_the_judge_never_answers_and_nothing_else_is_pending():
    judge = FaultyJudge("stalls")
    config = PUBLISHED._replace(filter=PUBLISHED.filter._replace(timeout_ms=250))
    clock = SystemClock()
    started = clock.monotonic()
    result = Door(config, judge).admit()
    took_ms = (clock.monotonic() - started) * 1_000
    judge.release()
    assert (result.how, result.reason) == ("local", "deadline")
    assert result.judge_ms > 150 and took_ms < 250 + 3_000
    assert result.data == excerpt().data


def test_F8_filtered_and_excerpt_outputs_are_counted_apart_with_sizes_requests_time_and_fallbacks():
    door = Door(judge=words_of([LINES[100]]))
    filtered, cut = door.admit(), door.admit(task="")
    off = Door(PUBLISHED._replace(filter=FilterConfig()))
    off.admit()
    assert door.gate.totals + off.gate.totals == {"judged:": 1, "local:no_task": 1, "local:": 1}
    rows = [record.decision for record in door.ledger.records + off.ledger.records]
    assert [(row.extra["how"], row.reason) for row in rows] == [
        ("judged", None),
        ("local", "no_task"),
        ("local", None),
    ]
    assert [row.extra["kept_chars"] for row in rows[:2]] == [filtered.kept_chars, cut.kept_chars]
    assert [row.extra["requests"] for row in rows] == [1, 0, 0]
    assert [row.judge_ms is not None for row in rows] == [True, False, False]


class Batching(ScriptedJudge):
    """Sends as many requests as its limits make necessary."""

    def ask(self, ask):
        reply = super().ask(ask)
        return reply._replace(calls=reply.calls * len(batches(ask, self.limits())))


def log_of(commits: int) -> str:
    """A `git log --stat` of 97 passages."""
    lines = []
    for k in range(commits):
        lines += [
            f"commit {k:040x}", "Author: A Person <person@example.com>", f"Date:   Mon Jan {k % 28 + 1} 2024",
            "", f"    Give part {k} of the shop another colour and keep the rest of it", "",
            *(f" src/shop/part_{k}_{n}.py | {n + 3} ++--" for n in range(8)),
            f" 8 files changed, {k} insertions(+), 3 deletions(-)", "",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def test_F10_case_26_a_log_of_97_passages_takes_5_requests_and_keeps_at_most_6000_characters():
    """case 26"""
    text = next(log_of(n) for n in range(300, 600) if len(chunks(log_of(n).split("\n")[:-1], 2_000)) == 97)
    judge = Batching(
        lambda one: 3.0 if "part 40 of" in one.subject or "part 200 of" in one.subject else 0.5,
        limits=RequestLimits(batch_questions=20),
    )
    door = Door(judge=judge)
    assert door.gate.estimate(RawOutput.of(text, exit_code=0), Task("part 40")).requests == 5
    result = door.admit(text, "what changed in part 40")
    assert len(judge.asks) == 1 and result.requests == 5 and len(result.chunks) == 97
    assert result.how == "judged" and not result.parsed
    assert result.kept_chars <= 6_000 and len(result.text) <= 6_500
    assert "Give part 40 of the shop" in result.text and "Give part 200 of the shop" in result.text
