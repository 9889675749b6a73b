import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.question import Lexicon
from admit.judges.features import LEXICAL, Query, latin_share, lexicon_of

DOCUMENTS = ("the disk is full", "the build failed on macOS", "login page shows a blank screen", "disk quota")


def query(task, documents=DOCUMENTS):
    return Query(task, lexicon_of(documents))


def test_every_feature_is_there_and_finite_for_any_text():
    for subject in ("", " ", "日本語のログ", "\ud800", "x" * 5000, "disk full"):
        features = query("why is the disk full?").features(subject)
        assert tuple(features) == LEXICAL
        assert all(math.isfinite(value) for value in features.values())


def test_shares_run_from_nothing_found_to_everything_found():
    ask = query("disk full")
    assert ask.features("a login page")["cover"] == 0
    assert ask.features("a login page")["bm25"] == 0
    assert ask.features("the disk is full")["cover"] == pytest.approx(1)
    assert 0 < ask.features("the disk is full")["bm25"] < 1
    assert ask.features("disk full")["gram"] == pytest.approx(1)


def test_a_rare_term_of_the_task_weighs_more_than_a_common_one():
    ask = query("disk failed")
    assert ask.features("failed")["cover"] > ask.features("disk")["cover"]


def test_scores_do_not_depend_on_who_else_is_asked_about():
    lexicon = lexicon_of(DOCUMENTS)
    assert lexicon == Lexicon(4, lexicon.df)
    assert lexicon.df["disk"] == 2
    assert Query("disk full", lexicon).features(DOCUMENTS[0]) == query("disk full").features(DOCUMENTS[0])


def test_an_empty_task_or_an_empty_lexicon_scores_nothing():
    assert query("").features("disk")["bm25"] == 0
    features = Query("disk", Lexicon(0, {})).features("disk")
    assert features["cover"] == pytest.approx(1)


def test_rare_is_the_share_of_terms_in_at_most_two_documents():
    lexicon = Lexicon(10, {"disk": 9, "full": 2, "quota": 3})
    assert Query("x", lexicon).features("disk full quota unheard")["rare"] == pytest.approx(0.5)


def test_the_window_is_the_stretch_that_covers_most_of_the_task():
    filler = "nothing of interest here\n" * 40
    subject = filler + "disk full on db-2\n" + filler
    assert "disk full on db-2" in query("disk full").best_window(subject, 200)
    assert len(query("disk full").best_window(subject, 200)) == 200


def test_without_a_term_of_the_task_the_window_is_the_rarest_stretch():
    filler = "nothing of interest here\n" * 40
    subject = filler + "kernel oops at 0xdead\n" + filler
    lexicon = lexicon_of([subject, filler, filler, filler])
    assert "kernel oops" in Query("why did it crash", lexicon).best_window(subject, 200)


def test_a_short_subject_is_its_own_window():
    assert query("x").best_window("disk full", 500) == "disk full"


@given(st.text(max_size=900), st.integers(100, 300))
def test_a_window_is_a_stretch_of_its_subject_and_never_longer_than_asked(subject, chars):
    window = query("disk full build").best_window(subject, chars)
    assert window in subject
    assert len(window) <= chars


def test_one_long_line_has_windows_too():
    subject = "x " * 2000 + "disk full " + "y " * 2000
    assert "disk full" in query("disk full").best_window(subject, 500)


@pytest.mark.parametrize(
    ("text", "share"),
    [("fix it", 1), ("", 1), ("1234 !?", 1), ("直して", 0), ("fix バグ", 0.6), ("ошибка", 0)],
)
def test_the_share_of_latin_letters(text, share):
    assert latin_share(text) == pytest.approx(share)


def test_features_do_not_depend_on_the_hash_seed():
    code = (
        "from admit.judges.features import Query, lexicon_of\n"
        "d = ['the disk is full of logs', 'the build failed', 'größe 日本語 disk']\n"
        "q = Query('why is the disk full', lexicon_of(d))\n"
        "print([sorted(q.features(x).items()) for x in d], q.best_window('\\n'.join(d * 20), 120))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(printed) == 1
