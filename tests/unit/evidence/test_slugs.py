"""Anchors of headings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.evidence.slugs import Slugger, slug


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("Sec", "sec"), ("A b  c", "a-b--c"), ("What's new?", "whats-new"), ("a/b_c-d.e", "ab_c-de"),
        ("Ünïcode Straße", "ünïcode-straße"), ("日本語 見出し", "日本語-見出し"), ("🚀 Launch", "-launch"),
        ("x² ½", "x-"),
        ("नमस्ते", "नमस्ते"), ("a — b", "a--b"), ("Ⓐ Ⅷ ‿", "ⓐ-ⅷ-‿"), ("a\tb", "ab"), ("", ""),
    ],
)  # fmt: skip
def test_a_slug_keeps_word_characters_hyphens_and_spaces_as_hyphens(text: str, anchor: str) -> None:
    assert slug(text) == anchor


def test_equal_slugs_are_numbered_and_never_hit_one_that_is_taken() -> None:
    slugger = Slugger()
    headings = ["a", "a", "a-1", "a", "a-1", "b-1", "b", "b"]
    assert [slugger.unique(text) for text in headings] == [
        "a", "a-1", "a-1-1", "a-2", "a-1-2", "b-1", "b", "b-2",
    ]  # fmt: skip


@given(st.lists(st.text(st.sampled_from("aA-1 ?"), max_size=4), max_size=30))
def test_no_two_headings_share_an_anchor(headings: list[str]) -> None:
    slugger = Slugger()
    anchors = [slugger.unique(text) for text in headings]
    assert len(set(anchors)) == len(anchors)
