"""Matching by meaning: by words and by vectors, competition, and what holds while vectors are made."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from hashlib import sha256
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.calibration import FEATURES, Weights, shipped
from admit.guidance.compete import Bars, compete
from admit.guidance.fused import FusedMatcher, adapter
from admit.guidance.matcher import LexicalMatcher
from admit.guidance.matching import ExplicitOnly
from admit.guidance.sections import MOST_SECTIONS, SECTION_CHARS, path_words, sections, views
from admit.guidance.vectors import DIMENSIONS, VectorCache, stack
from admit.judges.encoder import SELFCHECK_PAIRS, TOKENIZER_SHA256, EncoderUnavailable
from admit.text.terms import terms

np = pytest.importorskip("numpy")

TOPICS = {
    "code/testing": "writing unit tests, fixtures and coverage",
    "delivery/commits": "git commit messages and conventional commits",
    "environment/ssh": "ssh keys, remote hosts and tunnels",
    "docs/readme": "readme files, project overview and badges",
    "ops/incident": "incident response, outage and escalation to on-call",
    "data/migrations": "database schema migrations and rollback",
}
BARS = Bars()


def word_matcher(guidance, topics=TOPICS, bars=BARS) -> LexicalMatcher:
    for id, description in topics.items():
        guidance.way("user", id, f"description: {description}", f"# {id}\nabout {description}\n")
    return LexicalMatcher(guidance.load()[0].snippets, shipped("lexical"), bars)


def best(matcher: Any, text: str, snippets: Any) -> list[str]:
    scores = matcher.match(text, snippets).scores
    return sorted(scores, key=lambda id: (-scores[id], id))


class FakeEncoder:
    """A bag of hashed terms as a unit vector."""

    def __init__(self) -> None:
        self.model_sha256 = "sha256:fake"
        self.texts: list[str] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.fault = ""

    def is_installed(self) -> bool:
        return True

    def load(self) -> None:
        if self.fault:
            raise EncoderUnavailable(self.fault)

    def vectors(self, texts: Sequence[str]) -> list[Any]:
        self.may_go_on.wait(10)
        self.texts += texts
        found = []
        for text in texts:
            vector = np.full(DIMENSIONS, 1e-3)
            for term in terms(text):
                vector[int(sha256(term.encode()).hexdigest(), 16) % DIMENSIONS] += 1
            found.append(vector / np.linalg.norm(vector))
        return found

    def cosines(self, texts: Sequence[str]) -> tuple[float, ...]:
        return (0.5,) * SELFCHECK_PAIRS


def fused_weights(**more: Any) -> Weights:
    pins = {"model_sha256": "sha256:fake", "tokenizer_sha256": TOKENIZER_SHA256}
    check = {"texts": [], "cosines": [0.5] * SELFCHECK_PAIRS}
    numbers = {"lift": 8.0, "depth": 3.0}
    weights = tuple(numbers.get(name, 1.0) for name in FEATURES["fused"])
    given = Weights(FEATURES["fused"], weights, -3.0, pins, {}, (0.0,) * DIMENSIONS, selfcheck=check)
    return given._replace(**more)


def fused_matcher(guidance, encoder: FakeEncoder, **more: Any) -> FusedMatcher:
    lexical = word_matcher(guidance)
    vectors = VectorCache(encoder, str(guidance.home / "cache"))
    return FusedMatcher(lexical, more.pop("weights", fused_weights()), vectors, lexical, **more)


def snippets_of(guidance):
    return guidance.load()[0].snippets


def test_words_in_common_rank_a_snippet_first(guidance):
    matcher = word_matcher(guidance)
    assert best(matcher, "please write unit tests with fixtures", snippets_of(guidance))[0] == "code/testing"


def test_each_topic_of_a_prompt_proposes_its_snippet(guidance):
    matcher = word_matcher(guidance)
    text = (
        "Write unit tests with fixtures and coverage. Then make git commit messages as conventional commits. "
        "And set up ssh keys, remote hosts and tunnels."
    )
    assert set(matcher.match(text, snippets_of(guidance)).admitted) == {
        "code/testing", "delivery/commits", "environment/ssh",
    }  # fmt: skip


def test_who_may_not_compete_takes_no_place_and_changes_no_score(guidance):
    matcher = word_matcher(guidance, bars=Bars(admit=0.0, per_chunk=1))
    snippets = snippets_of(guidance)
    text = "unit tests for the git commit"
    first = matcher.match(text, snippets)
    left = [one for one in snippets if one.id not in first.admitted]
    second = matcher.match(text, left)
    assert len(second.admitted) == 1
    assert second.admitted[0] not in first.admitted
    assert second.scores == {id: p for id, p in first.scores.items() if id not in first.admitted}


def test_the_order_of_files_changes_nothing(guidance):
    word_matcher(guidance)
    snippets = list(snippets_of(guidance))
    text = "tests, commits and ssh. The outage of the database schema. A readme overview."
    drawn = Random(7)
    found = set()
    for _ in range(20):
        drawn.shuffle(snippets)
        matched = LexicalMatcher(snippets, shipped("lexical"), Bars(0.02)).match(text, snippets)
        found.add((matched.admitted, matched.outcompeted, tuple(sorted(matched.scores.items()))))
    assert len(found) == 1


@pytest.mark.parametrize("text", ["", " \n", "\0", "\ud800 broken", "x" * 70_000, "日本語の文章です。" * 50])
def test_every_snippet_has_a_score_for_every_text(guidance, text):
    matcher = word_matcher(guidance)
    matched = matcher.match(text, snippets_of(guidance))
    assert matched.scores.keys() == TOPICS.keys()
    assert not matched.admitted


def test_nobody_to_compete_is_no_match(guidance):
    matcher = word_matcher(guidance)
    assert matcher.match("unit tests", []).scores == {}
    assert LexicalMatcher([], shipped("lexical"), BARS).match("unit tests", []).scores == {}


def test_an_edited_description_counts_after_it_is_loaded_again(guidance):
    word_matcher(guidance)
    before = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    text = "flamegraph of the scheduler"
    low = before.match(text, snippets_of(guidance)).scores["docs/readme"]
    guidance.way("user", "docs/readme", "description: flamegraph of the scheduler", "text\n")
    after = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    assert after.match(text, snippets_of(guidance)).scores["docs/readme"] > low


def test_a_description_that_fits_is_proposed_from_an_index_of_one(guidance):
    guidance.way("user", "deploy", "description: How to deploy the shop.")
    matcher = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    assert matcher.match("please look at the deployment of the shop", snippets_of(guidance)).admitted


def test_one_word_of_a_longer_prompt_is_below_the_veto_in_an_index_of_one(guidance):
    guidance.way("user", "branch", "description: Naming and merging a git branch")
    matcher = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    text = "The bank closed its branch in our street, where is the nearest one now?"
    assert matcher.match(text, snippets_of(guidance)).scores["branch"] < 0.15


def test_a_probability_changes_little_with_what_stands_beside_a_snippet(guidance):
    guidance.way("user", "deploy", "description: How to deploy the shop.")
    text = "please look at the deployment of the shop"
    alone = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    p = alone.match(text, snippets_of(guidance)).scores["deploy"]
    for number in range(60):
        guidance.way("user", f"other{number}", f"description: a subject called {chr(97 + number % 26) * 5}")
    beside = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    assert beside.match(text, snippets_of(guidance)).scores["deploy"] == pytest.approx(p, abs=0.05)


def test_a_snippet_is_scored_by_its_best_chunk():
    matched = compete(("a", "b"), [[0.2, 0.7], [0.6, 0.1]], BARS)
    assert matched.scores == {"a": 0.6, "b": 0.7}
    assert matched.admitted == ("b", "a")


def test_past_the_best_of_a_chunk_snippets_are_outcompeted():
    ids = ("d", "c", "b", "a")
    matched = compete(ids, [[0.9, 0.8, 0.8, 0.8]], Bars(0.5, 3, 12))
    assert matched.admitted == ("d", "a", "b")
    assert matched.outcompeted == {"c"}


def test_a_snippet_at_the_bar_is_proposed_and_one_below_is_not():
    matched = compete(("a", "b"), [[0.5, 0.499999]], BARS)
    assert (matched.admitted, matched.outcompeted) == (("a",), frozenset())


def test_no_more_are_proposed_than_a_prompt_may():
    chunks = [[0.9 - abs(k - n) / 100 for k in range(10)] for n in range(10)]
    ids = tuple(f"w{k}" for k in range(10))
    matched = compete(ids, chunks, Bars(0.5, 1, 4))
    assert matched.admitted == ("w0", "w1", "w2", "w3")
    assert matched.outcompeted == {f"w{k}" for k in range(4, 10)}


@given(st.data())
def test_competition_keeps_its_bounds(data):
    ids = tuple("abcdefgh"[: data.draw(st.integers(1, 8))])
    row = st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]), min_size=len(ids), max_size=len(ids))
    rows = data.draw(st.lists(row, max_size=5))
    bars = Bars(0.5, data.draw(st.integers(1, 4)), data.draw(st.integers(0, 6)))
    matched = compete(ids, rows, bars)
    over = {id for id, p in matched.scores.items() if p >= bars.admit}
    assert set(matched.admitted) | matched.outcompeted == over
    assert not set(matched.admitted) & matched.outcompeted
    assert len(matched.admitted) <= bars.max_scored
    assert list(matched.admitted) == sorted(matched.admitted, key=lambda id: (-matched.scores[id], id))


def test_sections_begin_at_headings():
    assert sections("intro\n# One\ntext\n## Two\nmore\n") == ("intro", "# One text", "## Two more")


def test_comments_are_no_text_of_a_body():
    assert sections("<!-- hidden\nhere -->\n# One\n") == ("# One",)


@given(st.text(alphabet="ab #\n", max_size=20_000))
def test_sections_are_bounded_and_lose_nothing_before_the_last(body):
    found = sections(body)
    assert len(found) <= MOST_SECTIONS
    assert all(0 < len(one) <= SECTION_CHARS for one in found)
    said = "".join("".join(found).split())
    assert "".join(body.split()).startswith(said)
    assert len(found) == MOST_SECTIONS or said == "".join(body.split())


def test_an_id_is_read_as_words():
    assert path_words("skill:log-reader") == "skill log reader"
    assert path_words("docs/api_design") == "docs api design"


def test_words_match_until_the_vectors_are_there(guidance):
    encoder = FakeEncoder()
    encoder.may_go_on.clear()
    matcher = fused_matcher(guidance, encoder)
    text = "please write unit tests with fixtures"
    early = matcher.match(text, snippets_of(guidance))
    assert matcher.mode == "lexical"
    assert early == word_matcher(guidance).match(text, snippets_of(guidance))
    encoder.may_go_on.set()
    assert matcher.wait(10)
    assert matcher.mode == "fused"
    assert matcher.match(text, snippets_of(guidance)).scores != early.scores
    assert best(matcher, text, snippets_of(guidance))[0] == "code/testing"


def test_a_snippet_is_embedded_once_whatever_is_loaded_after(guidance):
    encoder = FakeEncoder()
    assert fused_matcher(guidance, encoder).wait(10)
    again = FakeEncoder()
    assert fused_matcher(guidance, again).wait(10)
    assert again.texts == []
    guidance.way("user", "docs/readme", "description: a first page for newcomers", "# Start\nhere\n")
    lexical = LexicalMatcher(snippets_of(guidance), shipped("lexical"), BARS)
    vectors = VectorCache(again, str(guidance.home / "cache"))
    assert FusedMatcher(lexical, fused_weights(), vectors, lexical).wait(10)
    assert len(again.texts) == 3
    assert all("newcomers" in text or "# Start" in text for text in again.texts)


def test_vectors_of_another_model_are_made_anew(guidance):
    assert fused_matcher(guidance, FakeEncoder()).wait(10)
    other = FakeEncoder()
    other.model_sha256 = "sha256:other"
    pins = {"model_sha256": "sha256:other", "tokenizer_sha256": TOKENIZER_SHA256}
    assert fused_matcher(guidance, other, weights=fused_weights(provenance=pins)).wait(10)
    assert len(other.texts) >= 3 * len(TOPICS)


@pytest.mark.parametrize("damage", [b"", b"short", b"\xff" * (3 * DIMENSIONS * 4)])
def test_a_damaged_file_of_vectors_is_made_anew(guidance, damage):
    assert fused_matcher(guidance, FakeEncoder()).wait(10)
    files = sorted((guidance.home / "cache").iterdir())
    assert len(files) == len(TOPICS)
    whole = files[0].read_bytes()
    files[0].write_bytes(damage)
    again = FakeEncoder()
    assert fused_matcher(guidance, again).wait(10)
    assert len(again.texts) == 3
    assert files[0].read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_no_match(guidance):
    (guidance.home / "cache").write_text("a file where the folder should be")
    assert fused_matcher(guidance, FakeEncoder()).wait(10)


@pytest.mark.parametrize(
    "weights, said",
    [
        (fused_weights(provenance={}), "another model"),
        (fused_weights(selfcheck=None), "self-check"),
        (fused_weights(selfcheck={"texts": [], "cosines": [0.4] * SELFCHECK_PAIRS}), "differ"),
    ],
)
def test_an_encoder_that_the_weights_do_not_know_leaves_it_to_words(guidance, weights, said):
    matcher = fused_matcher(guidance, FakeEncoder(), weights=weights)
    assert not matcher.wait(10)
    assert said in matcher.fault
    assert matcher.mode == "lexical"
    assert best(matcher, "unit tests with fixtures", snippets_of(guidance))[0] == "code/testing"


def test_an_encoder_that_fails_leaves_it_to_what_stands_in(guidance):
    encoder = FakeEncoder()
    encoder.fault = "onnxruntime is not installed"
    lexical = word_matcher(guidance)
    vectors = VectorCache(encoder, str(guidance.home / "cache"))
    matcher = FusedMatcher(lexical, fused_weights(), vectors, ExplicitOnly())
    assert not matcher.wait(10)
    assert (matcher.fault, matcher.mode) == ("onnxruntime is not installed", "explicit_only")
    assert matcher.match("unit tests", snippets_of(guidance)).scores == {}


def test_only_the_chunks_that_say_most_are_embedded(guidance):
    encoder = FakeEncoder()
    matcher = fused_matcher(guidance, encoder, encode_chunks=2)
    assert matcher.wait(10)
    encoder.texts.clear()
    text = "Unit tests and coverage here. Nothing to see in this one. Database schema rollback there."
    matcher.match(text, snippets_of(guidance))
    assert len(encoder.texts) == 2
    assert text in encoder.texts


def test_what_is_not_latin_is_matched_by_words(guidance):
    encoder = FakeEncoder()
    matcher = fused_matcher(guidance, encoder)
    assert matcher.wait(10)
    encoder.texts.clear()
    matcher.match("単体テストを書いてください。それから説明も。", snippets_of(guidance))
    assert encoder.texts == []


def test_an_encoder_that_breaks_in_a_scan_leaves_the_scan_to_words(guidance):
    encoder = FakeEncoder()
    matcher = fused_matcher(guidance, encoder)
    assert matcher.wait(10)
    encoder.vectors = lambda texts: 1 / 0  # type: ignore[assignment, return-value]
    text = "unit tests with fixtures"
    assert matcher.match(text, snippets_of(guidance)) == word_matcher(guidance).match(
        text, snippets_of(guidance)
    )
    assert "ZeroDivisionError" in matcher.fault
    assert matcher.mode == "lexical"


def test_the_three_best_sections_count_and_a_snippet_without_a_body_counts_its_heads():
    one = np.eye(DIMENSIONS, dtype=np.float32)
    rows = [one[[0, 0, 1, 2, 3, 4]], one[[5, 5]], one[[0, 0, 6]]]
    query = np.zeros(DIMENSIONS, np.float32)
    query[[1, 2, 3, 4, 5, 6]] = [0.3, 0.5, 0.4, 0.2, 0.1, 0.1]
    lift, body = stack(rows, (0.0,) * DIMENSIONS, None).cosines(np.array([query, 2 * query]))
    assert lift[0] == pytest.approx([0, 0.1, 0])
    assert body[0] == pytest.approx([0.4, 0.1, 0.1])
    assert body[1] == pytest.approx([0.8, 0.2, 0.2])


def test_the_centre_is_taken_off_and_the_adapter_added():
    one = np.eye(DIMENSIONS, dtype=np.float32)
    added = np.array([one[:, [7]] * 2, one[:, [0]]])
    found = stack([one[[0, 0, 1]]], tuple(one[1] / 4), added)
    assert found.heads[0] == pytest.approx(one[0] - one[1] / 4 + 2 * one[7])
    assert found.sections[0] == pytest.approx(one[1] * 0.75)


def test_the_shipped_adapter_is_the_one_of_the_shipped_weights():
    found = adapter(shipped("fused"))
    assert found is not None
    assert found.shape[:2] == (2, DIMENSIONS)
    assert np.isfinite(found).all()


def test_another_adapter_is_refused(guidance):
    pins = {**fused_weights().provenance, "adapter_sha256": "sha256:0"}
    matcher = fused_matcher(guidance, FakeEncoder(), weights=fused_weights(provenance=pins))
    assert not matcher.wait(10)
    assert "adapter" in matcher.fault


def test_the_views_of_a_snippet_are_its_own_words(guidance):
    guidance.way("user", "a/b", "description: about b\nvocabulary: beta bee", "# Head\ntext\n")
    (snippet,) = snippets_of(guidance)
    found = views(snippet, "# Head\ntext\n")
    assert found.heads == ("about b beta bee", "a b: about b")
    assert found.body == ("# Head text",)
    assert set(found.words.split()) == {"about", "b", "beta", "bee", "a"}
