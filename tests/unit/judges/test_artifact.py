import json

import pytest

from admit.core.question import Choice, Noul, Score
from admit.errors import CalibrationError
from admit.judges import artifact as artifacts
from admit.judges.artifact import Artifact, dump, load
from admit.judges.rubric import (
    OUTPUTS_LEVELS,
    guidance_question,
    outputs_question,
    rubric_hash,
)

GOOD = {"auc": 0.9, "auc_ci95": [0.8, 0.95], "brier_skill": 0.2, "ece": 0.01, "kept_at_recall_90": 0.1}


def made(**fields):
    plain = Artifact(
        schema=1,
        door="outputs",
        mode="lexical",
        question_kind="score",
        rubric_hash=rubric_hash(outputs_question("q1", "")),
        features=("bm25", "len"),
        mean=(0.1, 6.0),
        scale=(0.2, 1.0),
        weights=(1.5, 0.2),
        intercept=None,
        cuts=(0.0, 1.0, 2.0),
        threshold=1.0,
        provenance={},
        quality={**GOOD, "baseline_auc": 0.8},
        selfcheck=None,
    )
    return plain._replace(**fields)


def written(tmp_path, artifact):
    path = tmp_path / "a.json"
    path.write_bytes(dump(artifact))
    return path


def test_what_is_written_is_read_back(tmp_path):
    path = written(tmp_path, made())
    found = load(path)
    assert found._replace(content_hash="") == made()
    assert dump(found) == path.read_bytes()


def test_a_score_has_one_probability_a_level_and_rises_with_its_leading_feature():
    low = made().probabilities({"bm25": 0.0, "len": 6.0})
    high = made().probabilities({"bm25": 0.9, "len": 6.0})
    for p in (low, high):
        assert len(p) == 4
        assert sum(p) == pytest.approx(1, abs=3e-4)
        assert all(round(value, 4) == value >= 0 for value in p)
    assert sum(k * p for k, p in enumerate(high)) > sum(k * p for k, p in enumerate(low))


def test_a_noul_is_a_logistic_regression():
    noul = made(question_kind="noul", cuts=None, intercept=-1.0)
    assert noul.probabilities({"bm25": 0.1, "len": 6.0}) == (0.2689,)
    assert noul.probabilities({"bm25": 1e6, "len": 0.0}) == (1.0,)
    assert noul.probabilities({"bm25": -1e6, "len": 0.0}) == (0.0,)


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        ({"quality": {**GOOD, "baseline_auc": 0.8, "auc": 0.69}}, "AUC"),
        ({"quality": {**GOOD, "baseline_auc": 0.9}}, "word overlap"),
        ({"quality": {**GOOD, "baseline_auc": 0.8, "brier_skill": 0.0}}, "Brier"),
        ({"weights": (0.0, 1.0)}, "slope"),
    ],
)
def test_an_artefact_that_fails_a_gate_is_refused(tmp_path, change, gate):
    with pytest.raises(CalibrationError, match=gate):
        load(written(tmp_path, made(**change)))


def test_an_altered_artefact_is_refused(tmp_path):
    path = written(tmp_path, made())
    path.write_bytes(path.read_bytes().replace(b"0.9,", b"0.99,", 1))
    with pytest.raises(CalibrationError, match="altered"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": 2},
        {"features": ["bm25", "cos"]},
        {"features": ["bm25"]},
        {"features": []},
        {"scale": [0.0, 1.0]},
        {"mean": [None, 1.0]},
        {"cuts": [2.0, 1.0, 0.0]},
        {"cuts": None},
        {"quality": None},
        {"weights": 3},
    ],
)
def test_an_artefact_with_unsound_fields_is_refused(tmp_path, change):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**json.loads(dump(made())), **change}))
    with pytest.raises(CalibrationError):
        load(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000])
def test_a_file_that_is_no_artefact_is_refused(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(CalibrationError):
        load(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(CalibrationError):
        load(tmp_path / "none.json")


def test_an_artefact_fits_one_wording_of_the_answers_only():
    found = made()
    assert found.fits(outputs_question("q7", "any passage"))
    assert not found.fits(Score("q1", "text", "ask", (*OUTPUTS_LEVELS[:3], "answers fully")))
    assert not found.fits(guidance_question("q1", "text"))
    assert not found.fits(Choice("q1", "text", "ask", (("a", "A"), ("b", "B"))))


def test_the_rubric_hash_is_of_the_answers_and_not_of_the_subject():
    assert rubric_hash(Noul("q1", "a", "x", "yes", "no")) == rubric_hash(Noul("q2", "b", "y", "yes", "no"))
    assert rubric_hash(Noul("q1", "a", "x", "yes", "no")) != rubric_hash(Score("q1", "a", "x", ("yes", "no")))
    assert rubric_hash(Choice("q", "a", "x", (("l", "d"), ("m", "e")))).startswith("sha256:")


@pytest.mark.parametrize("name", ["outputs-lexical", "outputs-embed", "guidance-lexical", "guidance-embed"])
def test_each_shipped_artefact_passes_its_gates_and_fits_its_question(name):
    found = load(artifacts.DATA / f"{name}.json")
    question = outputs_question("q1", "x") if found.door == "outputs" else guidance_question("q1", "x")
    assert f"{found.door}-{found.mode}" == name
    assert found.fits(question)
    assert found.provenance["licence"] == "Apache-2.0"
    assert found.provenance["n_pos"] > 100
