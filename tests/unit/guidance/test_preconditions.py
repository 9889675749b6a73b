"""Whether a snippet may compete: where one stands, and which files are there."""

from __future__ import annotations

import os

import pytest

from admit.guidance import preconditions
from admit.guidance.preconditions import MOST_GLOBS, Place

from .gated import opened, prompt, stages


@pytest.fixture
def place(tmp_path):
    for name in ("package.json", "src/api/users.ts", "src/b.c", ".hidden/x.rs", "odd\nb.go", "a/b/c/d.zig"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return Place(str(tmp_path))


@pytest.mark.parametrize(
    ("glob", "there"),
    [
        ("package.json", True), ("./package.json", True), ("src", True), ("none.json", False),
        ("*.json", True), ("src/**/*.ts", True), ("src/*.ts", False), ("**/d.zig", True), ("*.zig", True),
        ("src/[!a].c", True), ("src/[!b].c", False), ("{x,src/api}/*.ts", True), ("a/*/d.zig", False),
        ("s*a*.c", False), ("*.rs", False), ("*.go", False), ("../*", False), ("", False), ("[z-a]", False),
    ],
)  # fmt: skip
def test_a_glob_is_looked_for_below_the_project(place, glob, there):
    assert place.has_file(glob, "project") is there


def test_a_name_that_is_no_text_hides_no_other(tmp_path):
    for name in (b"\xff.txt", b"good.md"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb"):
            pass
    assert Place(str(tmp_path)).has_file("*.md", "user") and Place(str(tmp_path)).has_file("*.txt", "user")


def test_without_a_folder_nothing_holds():
    place = Place("")
    assert not place.has_file("*", "user") and not place.is_in("/") and not place.is_in("")


def test_a_place_is_in_a_project_from_its_folder_down(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "code" / "a" / "b").mkdir(parents=True)
    os.symlink(tmp_path / "code", tmp_path / "link")
    place = Place(str(tmp_path / "link" / "a"))
    assert place.is_in("~/code/a") and place.is_in(str(tmp_path)) and place.is_in("~/link/a/")
    assert not place.is_in("~/code/a/b") and not place.is_in("~/code/ab") and not place.is_in("~/cod")


def test_the_files_are_listed_once_a_scan_and_a_projects_many_globs_cost_the_users_own_nothing(
    guidance, monkeypatch
):
    listed = []
    real = preconditions._below
    monkeypatch.setattr(preconditions, "_below", lambda folder: listed.append(folder) or real(folder))
    guidance.file("there.tf", "")
    for k in range(MOST_GLOBS):
        guidance.way("project", f"w{k}", f"pattern: deploy\nwhen:\n  file_exists: '*.x{k}'")
    guidance.way("project", "z", "pattern: deploy\nwhen:\n  file_exists: '*.tf'")
    guidance.way("user", "mine", "pattern: deploy\nwhen:\n  file_exists: '*.tf'")
    found = stages(opened(guidance).scan(prompt("deploy", cwd=str(guidance.project))))
    assert listed == [str(guidance.project)]
    assert found["mine"] == "shown" and found["z"] == "precondition"
