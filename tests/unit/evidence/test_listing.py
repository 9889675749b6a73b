"""The names in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from admit.evidence.listing import Listing, listing

COMPOSED, DECOMPOSED = "caf\u00e9.md", "cafe\u0301.md"


def test_each_entry_is_what_it_is_and_a_link_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("")
    (tmp_path / "a").mkdir()
    (tmp_path / "l").symlink_to("a")
    os.mkfifo(tmp_path / "p")
    assert list(listing(str(tmp_path)).entries.items()) == [
        ("a", "folder"), ("b.md", "file"), ("l", "link"), ("p", "special"),
    ]  # fmt: skip


def test_a_name_is_found_however_unicode_composes_it() -> None:
    assert Listing({DECOMPOSED: "file"}).find(COMPOSED) == DECOMPOSED
    assert Listing({COMPOSED: "file"}).find(DECOMPOSED) == COMPOSED


def test_of_two_compositions_the_one_that_is_spelled_is_found() -> None:
    both = Listing({DECOMPOSED: "file", COMPOSED: "file"})
    assert (both.find(COMPOSED), both.find(DECOMPOSED)) == (COMPOSED, DECOMPOSED)


def test_another_case_is_not_found_but_told() -> None:
    names = Listing({"STRASSE.md": "file", "Straße.md": "file"})
    assert names.find("straße.md") is None
    assert names.other_case("straße.md") == "STRASSE.md"
    assert names.other_case("gasse.md") is None


def test_a_near_name_keeps_its_spelling_on_disk() -> None:
    assert Listing({DECOMPOSED: "file"}).near("cafés.md") == DECOMPOSED


def test_a_name_that_is_no_utf8_is_only_counted(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("")
    open(os.fsencode(tmp_path) + b"/\xff.md", "w").close()
    found = listing(str(tmp_path))
    assert (list(found.entries), found.unnamed) == (["a.md"], 1)
