import json
import shutil

import pytest

from admit.core.question import NO_LIMITS, Ask, Choice, Judge, Lexicon, Noul
from admit.judges import artifact as artifacts
from admit.judges import local
from admit.judges.artifact import dump, load
from admit.judges.bounded import BoundedJudge
from admit.judges.encoder import Encoder, EncoderUnavailable
from admit.judges.local import LocalConfig, LocalJudge, findings, local_config
from admit.judges.rubric import guidance_question, outputs_question

PASSAGES = (
    "error: disk full while writing /var/lib/data, 0 bytes free",
    "GET /index.html 200 in 12 ms",
    "the disk controller was probed at start",
)
NOTES = (
    "ops › disks\nA server's disk is full: find what grows.",
    "writing › cv\nWrite a CV and cover letter.",
)


def outputs_ask(task="why is the disk full?", passages=PASSAGES, **fields):
    questions = tuple(outputs_question(f"q{k}", text) for k, text in enumerate(passages, 1))
    return Ask("outputs", task, (), questions, None, 2000, "r1")._replace(**fields)


def guidance_ask(task="no space left on device, what now?", notes=NOTES):
    questions = tuple(guidance_question(f"q{k}", text) for k, text in enumerate(notes, 1))
    return Ask("guidance", task, (), questions, None, 1000, "r1")


def lexical(**fields):
    return LocalJudge(LocalConfig(mode="lexical")._replace(**fields))


class NoEncoder(Encoder):
    def load(self):
        raise EncoderUnavailable("onnxruntime is not installed: pip install 'admit[local]'")


class Unloadable(NoEncoder):
    def is_installed(self):
        return True


class FakeEncoder(Encoder):
    """Vectors of letter counts: no model, and whatever cosines a self-check says it has."""

    def __init__(self, model_path=None, *, threads=1, offset=0.0):
        super().__init__(model_path)
        self.seen = []
        self.offset = offset

    def load(self):
        self.model_sha256 = "sha256:fake"

    def vectors(self, texts):
        self.seen.append(tuple(texts))
        return [Vector(text) for text in texts]

    def cosines(self, texts):
        return (0.5 + self.offset,) * 28 if len(texts) == 8 else ()


class Vector:
    def __init__(self, text):
        words = set(text.lower().split())
        self.words = words

    def __matmul__(self, other):
        return len(self.words & other.words) / max(1, len(self.words | other.words))


@pytest.fixture
def with_fake(tmp_path, monkeypatch):
    """A judge in the mode `embed` on the fake, with artefacts of its own; gives (judge, encoder)."""
    from admit.judges.encoder import TOKENIZER_SHA256

    for door in ("outputs", "guidance"):
        shipped = load(artifacts.DATA / f"{door}-embed.json")
        pins = {**shipped.provenance, "model_sha256": "sha256:fake", "tokenizer_sha256": TOKENIZER_SHA256}
        selfcheck = {"texts": ["t"] * 8, "cosines": [0.5] * 28}
        own = shipped._replace(provenance=pins, selfcheck=selfcheck)
        (tmp_path / f"{door}-embed.json").write_bytes(dump(own))

    def make(offset=0.0, **fields):
        monkeypatch.setattr(local, "Encoder", lambda path, threads: FakeEncoder(offset=offset))
        judge = LocalJudge(LocalConfig(artifacts=tmp_path, **fields))
        return judge, judge._encoder

    return make


def test_it_is_a_judge_that_has_no_limits():
    assert isinstance(lexical(), Judge)
    assert lexical().limits() == NO_LIMITS


def test_the_passage_that_answers_scores_highest():
    reply = lexical().ask(outputs_ask())
    values = [one.value for one in reply.answers]
    assert reply.status == "judged"
    assert [one.id for one in reply.answers] == ["q1", "q2", "q3"]
    assert values[0] == max(values)
    assert values[1] == min(values)
    assert all(len(one.p) == 4 and sum(one.p) == pytest.approx(1, abs=3e-4) for one in reply.answers)


def test_the_note_that_helps_is_more_probable():
    first, second = lexical().ask(guidance_ask("the disk of the server is full")).answers
    assert first.value > second.value
    assert first.kind == "noul"


def test_the_same_ask_gives_the_same_answers():
    assert lexical().ask(outputs_ask()) == lexical().ask(outputs_ask())


def test_probabilities_have_four_decimals():
    for answer in lexical().ask(outputs_ask()).answers:
        assert all(round(p, 4) == p for p in answer.p)


def test_a_call_is_free_and_is_not_sent():
    [call] = lexical().ask(outputs_ask()).calls
    assert (call.cost_usd, call.cost_source, call.sent, call.questions) == (0.0, "free", "no", 3)
    assert call.model_answered == "lexical"


def test_a_choice_is_unsupported():
    question = Choice("q1", "text", "Is it so?", (("supported", ""), ("contradicted", "")))
    assert not lexical().supports(question)
    assert lexical().ask(outputs_ask()._replace(questions=(question,))).reason == "unsupported"


def test_a_door_without_a_calibration_is_not_calibrated():
    assert lexical().ask(guidance_ask()._replace(door="tools")).reason == "not_calibrated"


def test_another_wording_of_the_answers_is_not_calibrated():
    question = Noul("q1", "text", "Is it useful?", "very", "not at all")
    assert lexical().ask(guidance_ask()._replace(questions=(question,))).reason == "not_calibrated"


def test_the_lexicon_of_the_door_counts_and_not_the_asked_alone():
    common = Lexicon(100, {"disk": 90, "full": 90})
    rare = Lexicon(100, {"disk": 1, "full": 90})
    one, other = (lexical().ask(outputs_ask(lexicon=lexicon)).answers[2] for lexicon in (common, rare))
    assert other.value > one.value


def test_without_the_embedder_words_alone_judge_and_the_reply_says_so(monkeypatch):
    monkeypatch.setattr(local, "Encoder", lambda path, threads: NoEncoder())
    judge = LocalJudge()
    reply = judge.ask(outputs_ask())
    assert reply.quirks == ("lexical",)
    assert reply.answers == lexical().ask(outputs_ask()).answers
    assert judge.refusals("outputs") == (
        ("embed", "onnxruntime is not installed: pip install 'admit[local]'"),
    )


def test_a_task_in_another_script_is_judged_by_words(with_fake):
    judge, encoder = with_fake()
    reply = judge.ask(outputs_ask(task="ディスクがいっぱいなのはなぜ disk"))
    assert reply.quirks == ("non_latin",)
    assert not encoder.seen


def test_the_embedder_sees_the_task_and_the_best_subjects_only(with_fake):
    judge, encoder = with_fake(embed_max=2)
    reply = judge.ask(outputs_ask())
    [seen] = encoder.seen
    assert seen == ("why is the disk full?", PASSAGES[0], PASSAGES[2])
    assert reply.answers[1] == lexical().ask(outputs_ask()).answers[1]
    assert reply.answers[0] != lexical().ask(outputs_ask()).answers[0]
    assert reply.calls[0].model_answered == "minilm-int8"


def test_nothing_is_embedded_where_the_most_is_none(with_fake):
    judge, encoder = with_fake(embed_max=0)
    assert judge.ask(outputs_ask()).answers == lexical().ask(outputs_ask()).answers
    assert not encoder.seen


def test_a_long_subject_is_embedded_as_its_best_window(with_fake):
    judge, encoder = with_fake(embed_chars=100)
    long = "nothing here\n" * 50 + "the disk is full\n" + "nothing here\n" * 50
    judge.ask(outputs_ask(passages=(long,)))
    [(_, window)] = encoder.seen
    assert "the disk is full" in window
    assert len(window) <= 100


def test_cosines_that_differ_from_the_calibration_turn_the_embedder_off(with_fake):
    judge, _ = with_fake(offset=0.019)
    assert judge.ask(outputs_ask()).quirks == ()
    judge, _ = with_fake(offset=0.021)
    assert judge.ask(outputs_ask()).quirks == ("lexical",)
    assert "cosines differ by 0.021" in judge.refusals("outputs")[0][1]


def test_an_artefact_of_another_model_turns_the_embedder_off(with_fake, tmp_path):
    judge, _ = with_fake()
    shutil.copy(artifacts.DATA / "outputs-embed.json", tmp_path)
    assert judge.ask(outputs_ask()).quirks == ("lexical",)
    assert "another model" in judge.refusals("outputs")[0][1]


def test_a_users_own_artefact_stands_above_the_shipped_one(tmp_path):
    shipped = load(artifacts.DATA / "outputs-lexical.json")
    (tmp_path / "outputs-lexical.json").write_bytes(dump(shipped._replace(threshold=2.5)))
    assert lexical(artifacts=tmp_path).threshold("outputs") == 2.5
    assert lexical().threshold("outputs") == shipped.threshold


def test_a_broken_artefact_of_the_user_is_refused_and_nothing_is_judged(tmp_path):
    fields = json.loads((artifacts.DATA / "outputs-lexical.json").read_bytes())
    fields["quality"]["auc"] = 0.99
    (tmp_path / "outputs-lexical.json").write_text(json.dumps(fields))
    judge = lexical(artifacts=tmp_path)
    assert judge.ask(outputs_ask()).reason == "not_calibrated"
    assert judge.threshold("outputs") is None
    assert "altered" in judge.refusals("outputs")[0][1]


def test_a_users_own_calibrations_are_found_in_the_configuration_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "admit" / "calibration"
    folder.mkdir(parents=True)
    own = load(artifacts.DATA / "outputs-lexical.json")._replace(threshold=2.5)
    (folder / "outputs-lexical.json").write_bytes(dump(own))
    judge = LocalJudge(local_config({"judge.local.mode": "lexical"}))
    assert judge.threshold("outputs") == 2.5
    assert judge.threshold("guidance") == load(artifacts.DATA / "guidance-lexical.json").threshold


def test_a_refused_calibration_is_told_once_with_its_gate(tmp_path):
    weak = load(artifacts.DATA / "outputs-lexical.json")
    weak = weak._replace(quality={**weak.quality, "auc": 0.6})
    (tmp_path / "outputs-lexical.json").write_bytes(dump(weak))
    judge = BoundedJudge(lexical(artifacts=tmp_path))
    first, second = (judge.ask(outputs_ask()) for _ in range(2))
    body = {"door": "outputs", "mode": "lexical", "gate": "outputs-lexical.json: AUC 0.6 is under 0.7"}
    assert (first.reason, first.notes) == ("not_calibrated", (("judge.artifact_refused", body),))
    assert (second.reason, second.notes) == ("not_calibrated", ())


def test_a_calibration_that_the_embedder_fails_is_told_and_words_alone_judge(with_fake):
    judge, _ = with_fake(offset=0.3)
    reply = judge.ask(outputs_ask())
    assert (reply.status, reply.quirks) == ("judged", ("lexical",))
    [(type, body)] = reply.notes
    assert (type, body["mode"]) == ("judge.artifact_refused", "embed")
    assert "cosines differ" in body["gate"]


def test_a_missing_embedder_refuses_no_calibration(monkeypatch):
    monkeypatch.setattr(local, "Encoder", lambda path=None, threads=1: Unloadable())
    assert LocalJudge().ask(outputs_ask()).notes == ()


def test_findings_are_sentences_with_a_fix(monkeypatch):
    monkeypatch.setattr(local, "Encoder", lambda path=None, threads=1: Unloadable())
    [(text, fix)] = findings({"judge.local.mode": "embed"})
    assert text.endswith("words alone judge at guidance and outputs.")
    assert "admit[local]" in fix
    assert list(findings({"judge.local.mode": "lexical"})) == []


def test_the_fix_for_a_refused_calibration_of_ones_own_names_its_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "admit" / "calibration" / "outputs-lexical.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    [(text, fix)] = findings({"judge.local.mode": "lexical"})
    assert "cannot be read" in text and text.endswith("nothing is judged at outputs.")
    assert fix == f"fit it again, or delete {file}"


def test_missing_packages_are_left_to_the_caller(monkeypatch):
    monkeypatch.setattr(Encoder, "is_installed", lambda self: False)
    assert list(findings({"judge.local.mode": "embed"})) == []


def test_settings_are_read_by_their_full_key():
    config = local_config({"judge.local.mode": "lexical", "judge.local.embed_max": 3})
    assert config._replace(artifacts=None) == LocalConfig(mode="lexical", embed_max=3)
    assert local_config({"judge.local.model_path": "/m.onnx"}).model_path.name == "m.onnx"
