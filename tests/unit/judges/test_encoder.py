import shutil
import subprocess
import sys

import pytest

from admit.judges import encoder as encoders
from admit.judges.artifact import DATA, load
from admit.judges.encoder import (
    MOST_TOKENS,
    SELFCHECK_PAIRS,
    SELFCHECK_TEXTS,
    SELFCHECK_TOLERANCE,
    TOKENIZER_PATH,
    TOKENIZER_SHA256,
    Encoder,
    EncoderUnavailable,
)
from admit.judges.local import LocalJudge

needs_model = pytest.mark.skipif(not Encoder().is_installed(), reason="the extra local is not installed")


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def test_the_tokenizer_that_ships_is_the_pinned_one():
    assert encoders._hash(TOKENIZER_PATH) == TOKENIZER_SHA256
    assert TOKENIZER_PATH.stat().st_size == 466_247


def test_the_self_check_has_28_pairs():
    assert len(SELFCHECK_TEXTS) * (len(SELFCHECK_TEXTS) - 1) // 2 == SELFCHECK_PAIRS == 28


def test_a_model_file_that_is_not_there_makes_the_embedder_unavailable(tmp_path):
    with pytest.raises(EncoderUnavailable):
        Encoder(tmp_path / "none.onnx").load()


@needs_model
def test_a_model_file_that_is_none_makes_the_embedder_unavailable(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(EncoderUnavailable, match="does not load"):
        Encoder(path).load()


@needs_model
def test_a_packaged_model_with_another_hash_is_not_loaded(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no model")
    monkeypatch.setattr(encoders, "_packaged_model", lambda: path)
    with pytest.raises(EncoderUnavailable, match="not the pinned model"):
        Encoder().load()


@needs_model
def test_another_tokenizer_is_not_loaded(tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    shutil.copy(TOKENIZER_PATH, path)
    path.write_bytes(path.read_bytes() + b" ")
    monkeypatch.setattr(encoders, "TOKENIZER_PATH", path)
    with pytest.raises(EncoderUnavailable, match="not the pinned tokenizer"):
        Encoder().load()


@needs_model
def test_vectors_have_length_one_and_near_texts_are_nearer(encoder):
    near, same, far = encoder.vectors(["repair the login", "fix the sign in", "bake a cake with eggs"])
    assert len(near) == 384
    assert float(near @ near) == pytest.approx(1, abs=1e-5)
    assert float(near @ same) > float(near @ far) + 0.2


@needs_model
def test_text_past_256_tokens_and_odd_text_are_no_trouble(encoder):
    words = "log " * (MOST_TOKENS * 2)
    [one, other] = encoder.vectors([words, words + "and more of it"])
    assert float(one @ other) == pytest.approx(1, abs=1e-5)
    assert len(encoder.vectors(["", "\ud800", "日本語", "\x00"])) == 4


@needs_model
def test_the_cosines_of_the_shipped_calibrations_hold_here(encoder):
    here = encoder.cosines(SELFCHECK_TEXTS)
    for door in ("outputs", "guidance"):
        there = load(DATA / f"{door}-embed.json").selfcheck["cosines"]
        assert max(abs(a - b) for a, b in zip(here, there, strict=True)) <= SELFCHECK_TOLERANCE


@needs_model
def test_vectors_are_cached_up_to_a_limit(encoder, monkeypatch):
    monkeypatch.setattr(encoders, "CACHED_VECTORS", 2)
    first = encoder.vectors(["one"])[0]
    assert encoder.vectors(["one"])[0] is first
    encoder.vectors(["two", "three"])
    assert encoder.vectors(["one"])[0] is not first
    assert len(encoder._vectors) == 2


@needs_model
def test_the_judge_uses_the_embedder_and_sees_past_the_words():
    from .test_local import guidance_ask

    notes = (
        "ops › disks\nA server's disk is full: find what grows.",
        "writing › cv\nWrite a CV and cover letter.",
    )
    reply = LocalJudge().ask(guidance_ask("no space left on device", notes))
    assert reply.quirks == ()
    assert reply.answers[0].value > 3 * reply.answers[1].value


AT_WORK = """
import threading
from admit.judges.encoder import Encoder, EncoderUnavailable
encoder, begun = Encoder(), threading.Event()
def embed():
    try:
        for k in range(1_000_000):
            encoder.vectors([f"word {k} " * 60])
            begun.set()
    except EncoderUnavailable:
        pass
for _ in range(2):
    threading.Thread(target=embed, daemon=True).start()
begun.wait()
"""


@needs_model
def test_a_process_may_end_while_others_embed():
    ended = subprocess.run([sys.executable, "-c", AT_WORK], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
