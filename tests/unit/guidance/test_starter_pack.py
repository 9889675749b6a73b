"""Listing the starter pack and copying it."""

from __future__ import annotations

import os

from admit.guidance.gather import load
from admit.guidance.model import Root
from admit.guidance.starter_pack import PACK, copy_starter, starter


def test_the_pack_is_listed_against_the_users_own_ways(guidance):
    pack = starter()
    assert 12 <= len(pack) <= 20 and not any(one.there for one in pack)
    ids = [one.snippet.id for one in pack]
    assert ids == sorted(ids)
    assert pack[0].target == str(guidance.places["user"] / ids[0] / f"{ids[0]}.md")
    assert not guidance.places["user"].exists()


def test_copied_files_load_as_the_users_own(guidance):
    written = copy_starter()
    index, findings = guidance.load()
    assert sorted(one.path for one in index.snippets) == sorted(written) and findings == ()
    assert {one.root for one in index.snippets} == {"user"}
    pack, _ = load([Root("agent-ways", "bundled", PACK, os.path.realpath(PACK))])
    assert [one.digest for one in index.snippets] == [one.digest for one in pack.snippets]


def test_a_file_that_exists_is_never_touched(guidance):
    first, second = starter()[:2]
    mine = guidance.file(first.target, "mine")
    os.makedirs(os.path.dirname(second.target))
    os.symlink(guidance.home / "nowhere", second.target)
    assert [one.there for one in starter()[:3]] == [True, True, False]
    written = copy_starter()
    assert mine.read_text() == "mine" and not (guidance.home / "nowhere").exists()
    assert set(written) == {one.target for one in starter()[2:]} and copy_starter() == ()


def test_what_stands_in_the_place_of_a_folder_costs_no_other_file_its_copy(guidance):
    first, second = starter()[:2]
    os.makedirs(guidance.places["user"])
    os.symlink(guidance.home / "nowhere", os.path.dirname(first.target))
    guidance.file(os.path.dirname(second.target), "mine")
    assert set(copy_starter()) == {one.target for one in starter()[2:]}
    assert not (guidance.home / "nowhere").exists()
