"""The weights of the matcher and the gates they pass before they may be used."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import CalibrationError
from admit.guidance import calibration
from admit.guidance.calibration import (
    FEATURES,
    LEAST_AUC,
    PATH,
    Mode,
    dump,
    failed_gate,
    load,
    probability,
)
from admit.judges.encoder import MODEL_SHA256, SELFCHECK_PAIRS, TOKENIZER_SHA256

MODES: tuple[Mode, ...] = ("fused", "lexical")


@pytest.mark.parametrize("mode", MODES)
def test_the_shipped_weights_pass_their_gate(mode):
    weights = load(PATH, mode)
    assert failed_gate(weights, mode) is None
    assert weights.quality["auc"] >= LEAST_AUC[mode]
    assert min(weights.weights) >= 0
    assert weights.provenance["half"] == "tune"


def test_the_fused_weights_name_the_encoder_that_is_pinned():
    weights = load(PATH, "fused")
    assert weights.provenance["model_sha256"] == MODEL_SHA256
    assert weights.provenance["tokenizer_sha256"] == TOKENIZER_SHA256
    assert len(weights.centre) == 384
    assert weights.selfcheck is not None
    assert len(weights.selfcheck["cosines"]) == SELFCHECK_PAIRS


@pytest.mark.parametrize("mode", MODES)
def test_weights_below_the_least_auc_are_refused(mode, tmp_path):
    weights = load(PATH, mode)
    path = tmp_path / "calibration.json"
    path.write_bytes(dump({mode: weights._replace(quality={"auc": LEAST_AUC[mode] - 0.001})}))
    with pytest.raises(CalibrationError, match="AUC"):
        load(path, mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_weight_below_zero_is_refused(mode):
    weights = load(PATH, mode)
    for place, name in enumerate(FEATURES[mode]):
        turned = [*weights.weights]
        turned[place] = -0.001
        assert name in (failed_gate(weights._replace(weights=tuple(turned)), mode) or "")


def test_weights_of_other_features_are_refused():
    weights = load(PATH, "lexical")
    assert failed_gate(weights, "fused") is not None
    assert failed_gate(weights._replace(quality={"auc": "0.99"}), "lexical") is not None


def test_an_altered_file_is_refused(tmp_path):
    held = json.loads(PATH.read_bytes())
    held["modes"]["lexical"]["intercept"] += 1
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(held))
    with pytest.raises(CalibrationError, match="altered"):
        load(path, "lexical")


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"schema": 2}', b"\xff", b"[" * 100_000])
def test_a_file_that_is_no_calibration_is_refused(data, tmp_path):
    path = tmp_path / "calibration.json"
    path.write_bytes(data)
    with pytest.raises(CalibrationError):
        load(path, "lexical")
    with pytest.raises(CalibrationError):
        load(tmp_path / "missing.json", "lexical")


def test_what_is_written_is_read_back(tmp_path):
    modes = {mode: load(PATH, mode) for mode in MODES}
    path = tmp_path / "calibration.json"
    path.write_bytes(dump(modes))
    assert {mode: load(path, mode) for mode in MODES} == modes
    assert path.read_bytes() == PATH.read_bytes()


@given(st.lists(st.floats(-800, 800), min_size=2))
def test_a_greater_logit_never_gives_a_lesser_probability(logits):
    found = [probability(one) for one in sorted(logits)]
    assert all(0 <= a <= b <= 1 for a, b in pairwise(found))


def test_a_probability_has_six_decimals():
    assert probability(0) == 0.5
    assert probability(1) == 0.731059
    assert calibration.probability(-1) == 0.268941
