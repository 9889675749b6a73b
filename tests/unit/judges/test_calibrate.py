import importlib.util
import json
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from admit.errors import CalibrationError  # noqa: E402
from admit.judges.artifact import DATA, dump, load  # noqa: E402
from admit.lab import fit  # noqa: E402
from admit.lab.calibrate import DOORS, fit_artifact, main, measure  # noqa: E402
from admit.lab.cases import Case, guidance_subject, normalised, read_cases  # noqa: E402

BENCH = Path(__file__).parents[3] / "bench"
CASES = {door: BENCH / "calibration" / f"{door}.jsonl" for door in DOORS}
needs_bench = pytest.mark.skipif(not CASES["outputs"].is_file(), reason="the benchmarks are not here")


def synthetic(n=60, seed=3, signal=True):
    """Cases whose right subject shares words with the task, or with a wrong task where there is no signal."""
    random = np.random.default_rng(seed)
    words = [f"word{k}" for k in range(400)]
    cases = []
    for k in range(n):
        task = list(random.choice(words, 4, replace=False))
        subjects, labels = [], []
        for place in range(8):
            level = int(place == 0) if place < 6 else 0
            own = list(random.choice(words, 6))
            shared = task[:2] if (level and signal) or random.random() < 0.1 else []
            subjects.append(" ".join([*shared, *own]))
            labels.append(level)
        cases.append(Case(f"c{k}", f"g{k}", " ".join(task), tuple(subjects), tuple(labels)))
    return cases


def test_logistic_regression_finds_the_weights_that_made_the_data():
    random = np.random.default_rng(0)
    x = random.normal(size=(20_000, 2))
    y = (random.random(20_000) < 1 / (1 + np.exp(-(1.5 * x[:, 0] - 0.5 * x[:, 1] - 1)))).astype(int)
    weights, cuts = fit.fit_levels(x, y, 2)
    assert weights == pytest.approx([1.5, -0.5], abs=0.08)
    assert cuts == pytest.approx([1], abs=0.08)


def test_proportional_odds_finds_the_cuts_that_made_the_data():
    random = np.random.default_rng(1)
    x = random.normal(size=(20_000, 1))
    noise = random.random(20_000)
    latent = 2 * x[:, 0] + np.log(noise / (1 - noise))
    y = np.digitize(latent, [-1, 0.5, 3])
    weights, cuts = fit.fit_levels(x, y, 4)
    assert weights == pytest.approx([2], abs=0.1)
    assert cuts == pytest.approx([-1, 0.5, 3], abs=0.12)
    p = fit.levels_probabilities(x, weights, cuts)
    assert p.sum(axis=1) == pytest.approx(np.ones(len(x)))
    assert p.mean(axis=0) == pytest.approx(np.bincount(y) / len(y), abs=0.01)


def test_the_gradient_is_that_of_the_loss():
    random = np.random.default_rng(2)
    x, y = random.normal(size=(50, 3)), random.integers(0, 4, 50)
    point = random.normal(size=6) * 0.3
    _, gradient = fit._ordinal_loss(point, x, y, 4)
    for k in range(6):
        step = np.zeros(6)
        step[k] = 1e-6
        up, down = fit._ordinal_loss(point + step, x, y, 4)[0], fit._ordinal_loss(point - step, x, y, 4)[0]
        assert gradient[k] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-4)


def test_the_auc_counts_pairs_and_ties_as_a_half():
    scores, positive = [3, 2, 2, 1], [True, True, False, False]
    assert fit.auc(scores, positive) == pytest.approx(3.5 / 4)
    assert fit.auc([1, 1], [True, False]) == 0.5
    assert fit.auc([1, 2], [True, True]) == 0.5


def test_calibration_error_and_skill_of_known_forecasts():
    positive = np.array([True, False, False, False] * 25)
    honest, boasting = np.full(100, 0.25), np.full(100, 0.95)
    assert fit.expected_calibration_error(honest, positive) == pytest.approx(0)
    assert fit.expected_calibration_error(boasting, positive) == pytest.approx(0.7)
    assert fit.brier_skill(honest, positive) == pytest.approx(0)
    assert fit.brier_skill(positive.astype(float), positive) == pytest.approx(1)


def test_the_threshold_keeps_nine_of_ten_positives():
    scores = np.arange(20) / 20
    positive = np.arange(20) >= 10
    least = fit.threshold_at_recall(scores, positive)
    assert (scores[positive] >= least).sum() == 9


def test_a_fit_with_signal_passes_and_is_the_same_every_time():
    cases = synthetic()
    one, other = (fit_artifact(cases, "guidance", "lexical", 1) for _ in range(2))
    assert dump(one) == dump(other)
    assert one.quality["auc"] > one.quality["baseline_auc"] - 1
    assert one.provenance["n_pos"] == 60
    assert one.failed_gate() is None


def test_a_fit_without_signal_fails_its_gate():
    with pytest.raises(CalibrationError, match="guidance-lexical"):
        fit_artifact(synthetic(signal=False), "guidance", "lexical", 1)


def test_too_few_cases_and_unknown_doors_are_refused():
    with pytest.raises(CalibrationError, match="too few"):
        measure(synthetic(n=5), "guidance", "lexical", 1)
    with pytest.raises(CalibrationError, match="no calibration for the door"):
        measure(synthetic(), "tools", "lexical", 1)


@pytest.mark.parametrize(
    "row",
    [
        "{",
        "[]",
        '{"case": "c", "task": "t", "relevant": ["nowhere"]}',
        '{"output": "o", "passages": ["a"], "tasks": [{"case": "c", "task": "t", "levels": [1, 2]}]}',
        '{"output": "o", "passages": ["a"], "tasks": [{"case": "c", "task": "t", "levels": [4]}]}',
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path, row):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"item": "a/b", "description": "d"}\n' + row + "\n")
    with pytest.raises(CalibrationError, match=r"cases\.jsonl:2"):
        read_cases(path)


def test_a_subject_is_what_the_guidance_door_sends():
    assert guidance_subject("ops/disks", "A full disk.") == "ops › disks\nA full disk."


def test_the_command_writes_what_passes_and_nothing_that_fails(tmp_path, capsys):
    out = tmp_path / "a.json"
    for signal, code in ((True, 0), (False, 1)):
        rows = synthetic(signal=signal)
        path = tmp_path / f"{signal}.jsonl"
        path.write_text(
            "".join(
                json.dumps(
                    {"output": case.group, "passages": case.subjects,
                     "tasks": [{"case": case.id, "task": case.task, "levels": [3 * k for k in case.labels]}]}
                ) + "\n"
                for case in rows
            )
        )  # fmt: skip
        out.unlink(missing_ok=True)
        assert (
            main(["--door", "outputs", "--mode", "lexical", "--cases", str(path), "--out", str(out)]) == code
        )
        assert out.exists() == signal
    assert "not written" in capsys.readouterr().err
    assert main(["--door", "outputs", "--mode", "lexical", "--cases", "none", "--out", str(out)]) == 2


@needs_bench
def test_the_labelled_cases_are_as_many_as_stated():
    guidance, _ = read_cases(CASES["guidance"])
    outputs, _ = read_cases(CASES["outputs"])
    assert len(guidance) >= 80 and len(guidance[0].subjects) >= 150
    assert len(outputs) >= 60 and all(len(case.subjects) >= 6 for case in outputs)
    for cases in (guidance, outputs):
        assert len({case.id for case in cases}) == len(cases)
        assert len({normalised(case.task) for case in cases}) == len(cases)


@needs_bench
def test_the_outputs_are_what_their_source_writes():
    folder = BENCH / "calibration"
    spec = importlib.util.spec_from_file_location("outputs_source", folder / "outputs_source.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    assert module.content() == CASES["outputs"].read_text(encoding="utf-8")


@needs_bench
@pytest.mark.parametrize("name", ["outputs-lexical", "outputs-embed", "guidance-lexical", "guidance-embed"])
def test_each_shipped_artefact_names_the_data_that_stands_in_the_benchmarks(name):
    found = load(DATA / f"{name}.json")
    _, data_hash = read_cases(CASES[found.door])
    assert found.provenance["data_sha256"] == data_hash
    assert found.provenance["data_name"] == CASES[found.door].name


@needs_bench
def test_fitting_again_gives_the_shipped_artefact():
    shipped = load(DATA / "outputs-lexical.json")
    rows, _ = read_cases(CASES["outputs"])
    again = fit_artifact(rows, "outputs", "lexical", shipped.provenance["seed"])
    assert again.rubric_hash == shipped.rubric_hash
    for field in ("mean", "scale", "weights", "cuts"):
        assert getattr(again, field) == pytest.approx(getattr(shipped, field), abs=1e-4)
    for name, value in shipped.quality.items():
        assert again.quality[name] == pytest.approx(value, abs=1e-3)


@needs_bench
def test_no_row_of_a_benchmarks_questions_is_in_a_fit():
    fitted_tasks: set[str] = set()
    fitted_texts: list[str] = []
    for path in CASES.values():
        for case in read_cases(path)[0]:
            fitted_tasks.add(normalised(case.task))
            fitted_texts.extend(map(normalised, case.subjects))
    joined = "\n".join(sorted(set(fitted_texts)))
    files = sorted((BENCH / "questions").glob("*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert rows
    for row in rows:
        assert normalised(row["task"]) not in fitted_tasks
        assert normalised(row["plant"]) not in joined
