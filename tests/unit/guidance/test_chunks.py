"""How a prompt is cut into what is matched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.guidance.chunks import (
    LEAST_CHARS,
    MOST_CHUNKS,
    MOST_TOKENS,
    best,
    chunks,
    mean_weight,
    sentences,
    shortened,
    tokens,
)


def rare(term: str) -> float:
    """Longer terms tell more."""
    return float(len(term))


def test_each_sentence_is_a_chunk_and_the_whole_comes_last():
    text = "Commit the parser first. Then deploy it to staging!\nAnd write to Bob"
    assert chunks(text, rare) == (
        "Commit the parser first.", "Then deploy it to staging!", "And write to Bob", text,
    )  # fmt: skip


def test_one_sentence_is_one_chunk():
    assert chunks("  rotate the signing keys  ", rare) == ("rotate the signing keys",)


def test_a_prompt_shorter_than_a_sentence_is_its_own_chunk():
    assert chunks("ssh?", rare) == ("ssh?",)


def test_a_blank_prompt_has_no_chunk():
    assert chunks(" \n\t", rare) == ()


def test_a_repeated_sentence_counts_once():
    assert chunks("run the test suite\nrun the test suite", rare) == ("run the test suite",)


def test_short_sentences_are_in_the_whole_alone():
    found = chunks("Ok. Now rename the module. Thanks! Then format the imports.", rare)
    assert found[:2] == ("Now rename the module.", "Then format the imports.")
    assert found[2].startswith("Ok. ")


def test_of_many_sentences_those_that_tell_most_stay_in_their_order():
    dull = [f"it is of no use {k:02}" for k in range(MOST_CHUNKS)]
    text = "\n".join([*dull, "authentication middleware", "deserialisation vulnerabilities"])
    found = chunks(text, rare)
    assert len(found) == MOST_CHUNKS + 1
    assert found[-3:-1] == ("authentication middleware", "deserialisation vulnerabilities")
    assert list(found[: MOST_CHUNKS - 2]) == dull[: MOST_CHUNKS - 2]


def test_a_long_text_keeps_the_sentences_that_tell_most():
    filler = "it is as it is and so it goes on and on and on here"
    text = "\n".join([filler + f" {k}" for k in range(30)] + ["certificate authorities misconfigured"])
    kept = shortened(text, rare)
    assert tokens(kept) <= MOST_TOKENS
    assert kept.endswith("certificate authorities misconfigured")


def test_a_long_sentence_keeps_the_words_that_tell_most():
    kept = shortened("so it goes " * 200 + "idempotency", rare)
    assert kept.endswith("idempotency")
    assert tokens(kept) <= MOST_TOKENS


def test_a_full_stop_inside_a_name_ends_no_sentence():
    assert sentences("see config.yaml and v1.2 of it") == ["see config.yaml and v1.2 of it"]


def test_sentences_without_spaces_between_them_are_told_apart():
    assert sentences("テストを書く。次にデプロイする。") == ["テストを書く。", "次にデプロイする。"]


def test_characters_of_unspaced_scripts_count_one_each():
    assert tokens("テストを書く") == 6
    assert tokens("write a test") == 3
    assert tokens("x" * 400) == 100


@given(st.text(max_size=3000))
def test_chunks_are_bounded_and_say_the_same_each_time(text):
    found = chunks(text, rare)
    assert len(found) <= MOST_CHUNKS + 1
    assert bool(found) == bool(text.strip())
    assert all(one.strip() and tokens(one) <= MOST_TOKENS for one in found)
    assert found == chunks(text, rare)


@given(st.lists(st.text(min_size=LEAST_CHARS, max_size=40), max_size=20), st.integers(0, 20))
def test_the_best_are_a_part_of_the_texts_in_their_order(texts, most):
    kept = best(texts, rare, most)
    assert len(kept) == min(most, len(texts))
    rest = iter(texts)
    assert all(one in rest for one in kept)
    least = min((mean_weight(one, rare) for one in kept), default=0.0)
    left = [mean_weight(one, rare) for one in texts if one not in kept]
    assert not kept or all(one <= least for one in left)
