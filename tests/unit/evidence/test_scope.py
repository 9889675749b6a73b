"""Which notes a command is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from admit.errors import NoteError
from admit.evidence.scope import find

from .conftest import MakeBase

FILES = {
    "kb/b.md": "", "kb/a/x.md": "", "kb/a-b.md": "", "kb/C.MARKDOWN": "", "kb/d.txt": "", "kb/.git/h.md": "",
    "kb/.dot.md": "", "kb/a/.hidden/deep/y.md": "", "top.md": "",
}  # fmt: skip


def test_the_notes_below_a_folder_stand_in_the_byte_order_of_their_paths(base: MakeBase) -> None:
    at = base({**FILES, "kb/é.md": "", "kb/z.md": "", "kb/\U0001f600.md": "", "kb/\uff21.md": ""})
    found = find(at, [f"{at.root}/kb"])
    assert found.notes == (
        "kb/.dot.md", "kb/C.MARKDOWN", "kb/a-b.md", "kb/a/x.md", "kb/b.md", "kb/z.md", "kb/é.md",
        "kb/\uff21.md", "kb/\U0001f600.md",
    )  # fmt: skip
    assert list(found.notes) == sorted(found.notes, key=str.encode)
    assert found.skipped == {"hidden": 2}


def test_top_takes_the_direct_children_alone(base: MakeBase) -> None:
    at = base(FILES)
    assert find(at, [f"{at.root}/kb"], top=True).notes == (
        "kb/.dot.md",
        "kb/C.MARKDOWN",
        "kb/a-b.md",
        "kb/b.md",
    )


def test_files_and_folders_may_be_given_and_each_note_counts_once(base: MakeBase) -> None:
    at = base(FILES)
    given = [f"{at.root}/top.md", f"{at.root}/kb/a", f"{at.root}/kb/a/x.md", f"{at.root}/kb/d.txt"]
    found = find(at, given)
    assert (found.notes, found.skipped) == (("kb/a/x.md", "top.md"), {"not-markdown": 1, "hidden": 1})


def test_a_hidden_folder_that_is_given_by_name_is_looked_into(base: MakeBase) -> None:
    at = base(FILES)
    assert find(at, [f"{at.root}/kb/.git"]).notes == ("kb/.git/h.md",)


def test_links_are_left_out_and_counted(base: MakeBase, tmp_path: Path) -> None:
    base(FILES)
    (tmp_path / "root/kb/alias.md").symlink_to("b.md")
    (tmp_path / "root/kb/again").symlink_to("a")
    (tmp_path / "root/kb/loop").symlink_to(".")
    at = base({})
    found = find(at, [f"{at.root}/kb"])
    assert "kb/alias.md" not in found.notes and found.skipped["symlink"] == 3
    assert find(at, [f"{at.root}/kb/alias.md"]) == ((), {"symlink": 1})
    assert find(at, [f"{at.root}/kb/again"]).notes == ("kb/a/x.md",)


def test_a_pipe_is_no_note(base: MakeBase, tmp_path: Path) -> None:
    base({"kb/b.md": ""})
    os.mkfifo(tmp_path / "root/kb/pipe.md")
    at = base({})
    assert find(at, [f"{at.root}/kb"]) == (("kb/b.md",), {"special": 1})
    assert find(at, [f"{at.root}/kb/pipe.md"]).notes == ("kb/pipe.md",)
    with pytest.raises(NoteError, match="no regular file") as caught:
        at.note("kb/pipe.md")
    assert caught.value.reason == "non-text"
    with pytest.raises(NoteError, match="is a folder"):
        at.note("kb")


def test_a_name_that_is_no_utf8_and_a_folder_that_is_closed_are_counted(
    base: MakeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base({"kb/b.md": "", "kb/shut/c.md": ""})
    open(os.fsencode(tmp_path / "root/kb") + b"/\xff.md", "w").close()
    at = base({})
    real = os.open

    def refuse(path: object, *rest: object, **more: object) -> int:
        if path == "shut":
            raise PermissionError(13, "Permission denied")
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    found = find(at, [f"{at.root}/kb"])
    assert (found.notes, found.skipped) == (("kb/b.md",), {"unnamed": 1, "unreadable": 1})


def test_a_path_may_start_at_the_working_folder_or_at_the_root(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base(FILES)
    monkeypatch.chdir(f"{at.root}/kb")
    assert find(at, ["."], top=True).notes == find(at, [f"{at.root}/kb"], top=True).notes
    assert find(at, ["a"]).notes == find(at, ["kb/a"]).notes == ("kb/a/x.md",)


def test_a_path_that_is_not_there_or_not_below_the_root_is_refused(base: MakeBase, tmp_path: Path) -> None:
    at = base(FILES)
    (tmp_path / "o.md").write_text("")
    for path, reason in (
        (f"{at.root}/no.md", "missing"),
        (str(tmp_path / "o.md"), "outside"),
        ("a\0b", "missing"),
    ):
        with pytest.raises(NoteError) as caught:
            find(at, [path])
        assert caught.value.reason == reason
