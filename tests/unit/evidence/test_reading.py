"""Reading below the root: one read, and never through a link."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from admit.evidence import reading
from admit.evidence.base import Base
from admit.evidence.reading import Unreadable

from .conftest import MakeBase

FILES = {"kb/t.md": "é\r\n", "kb/deep/er/x.md": "x", "top.md": "t"}


@pytest.fixture(params=["by descriptor", "by path"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With descriptors of folders, and as on a system without them."""
    if request.param == "by path":
        monkeypatch.setattr(reading, "BY_DESCRIPTOR", False)
        monkeypatch.setattr("admit.evidence.tree.BY_DESCRIPTOR", False)
    return request.param


def reason(base: Base, path: str, **more: str) -> str:
    with pytest.raises(Unreadable) as caught:
        base.file(path, **more)
    return caught.value.reason


def test_hash_and_text_are_of_the_same_bytes(base: MakeBase, way: str) -> None:
    file = base(FILES).file("kb/t.md")
    assert (file.data, file.text) == (b"\xc3\xa9\r\n", "é\r\n")
    assert file.sha256 == f"sha256:{hashlib.sha256(file.data).hexdigest()}"


def test_a_file_at_the_root_and_a_deep_one_are_read(base: MakeBase, way: str) -> None:
    at = base(FILES)
    assert (at.file("top.md").text, at.file("kb/deep/er/x.md").text) == ("t", "x")


@pytest.mark.parametrize(
    "path", ["", "..", "../root/top.md", "/top.md", "kb//t.md", "./top.md", "kb/../top.md"]
)
def test_a_path_that_is_no_real_one_is_outside(base: MakeBase, way: str, path: str) -> None:
    assert reason(base(FILES), path) == "outside"


@pytest.mark.parametrize("path", ["no.md", "no/t.md", "top.md/x", "a\0b", "a\ud800"])
def test_what_is_not_there_is_missing(base: MakeBase, way: str, path: str) -> None:
    assert reason(base(FILES), path) == "missing"


def test_a_folder_and_a_pipe_are_no_text_and_hold_nobody_up(base: MakeBase, way: str, tmp_path: Path) -> None:
    at = base(FILES)
    os.mkfifo(tmp_path / "root/pipe")
    assert (reason(at, "kb"), reason(at, "pipe")) == ("non-text", "non-text")


def test_a_link_in_the_place_of_a_file_or_a_folder_is_not_followed(
    base: MakeBase, way: str, tmp_path: Path
) -> None:
    at = base(FILES)
    out = tmp_path / "out"
    out.mkdir()
    (out / "t.md").write_text("secret")
    (out / "x.md").write_text("secret")
    root = tmp_path / "root"
    (root / "file.md").symlink_to(out / "t.md")
    (root / "inside.md").symlink_to("top.md")
    (root / "folder").symlink_to(out)
    (root / "loop").symlink_to("loop")
    found = [reason(at, path) for path in ("file.md", "inside.md", "folder/x.md", "loop")]
    assert found == ["changed"] * 4


def test_a_link_swapped_in_between_resolving_and_reading_stays_inside_the_root(
    base: MakeBase, way: str, tmp_path: Path
) -> None:
    at = base({**FILES, "n.md": "[a](kb/t.md) [b](kb/deep/er/x.md)"})
    targets = [link.target for link in at.links("n.md")]
    out = tmp_path / "out"
    (out / "er").mkdir(parents=True)
    (out / "er/x.md").write_text("secret")
    root = tmp_path / "root"
    (root / "kb/t.md").unlink()
    (root / "kb/t.md").symlink_to(out / "er/x.md")
    os.rename(root / "kb/deep", tmp_path / "moved")
    (root / "kb/deep").symlink_to(out)
    assert targets == ["kb/t.md", "kb/deep/er/x.md"]
    assert [reason(at, target) for target in targets] == ["changed", "changed"]


def test_a_folder_swapped_for_a_link_is_not_listed(base: MakeBase, tmp_path: Path) -> None:
    at = base({**FILES, "n.md": "[a](kb/deep/secret.md)"})
    assert "deep" in at.tree.listing("kb").entries
    out = tmp_path / "out"
    out.mkdir()
    (out / "secret.md").write_text("secret")
    os.rename(tmp_path / "root/kb/deep", tmp_path / "moved")
    (tmp_path / "root/kb/deep").symlink_to(out)
    (link,) = at.links("n.md")
    assert (link.kind, link.reason) == ("artifact", "unreadable")
    assert reason(at, link.target) == "changed"


def test_a_file_replaced_since_it_was_planned_is_changed(base: MakeBase, way: str, tmp_path: Path) -> None:
    at = base(FILES)
    first = at.look("kb/t.md")
    (tmp_path / "new").write_text("other")
    os.replace(tmp_path / "new", tmp_path / "root/kb/t.md")
    assert reason(at, "kb/t.md", expect=first.sha256) == "changed"
    assert at.file("kb/t.md").text == "other"
    assert at.look("kb/t.md") == first
    (tmp_path / "root/kb/t.md").unlink()
    assert reason(at, "kb/t.md", expect=first.sha256) == "missing"


def test_the_size_limit_holds_by_what_is_said_and_by_what_is_read(
    base: MakeBase, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base(
        {"full.md": "a" * 2048, "over.md": "a" * 2049, "long.md": "a" * 30_000}, max_artifact_bytes=2048
    )
    assert len(at.file("full.md").data) == 2048
    assert (reason(at, "over.md"), reason(at, "long.md")) == ("too-large", "too-large")

    real: Callable[[int], os.stat_result] = os.fstat

    def smaller(descriptor: int) -> os.stat_result:
        values = list(real(descriptor))
        values[6] = 10  # it has grown since
        return os.stat_result(values)

    monkeypatch.setattr(os, "fstat", smaller)
    monkeypatch.setattr(os.path, "samestat", lambda *_: True)
    assert (reason(at, "over.md"), reason(at, "long.md")) == ("too-large", "too-large")
    assert len(at.file("full.md").data) == 2048


def test_a_file_that_comes_in_small_pieces_is_read_whole(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base({"a.md": "word " * 1000})
    real: Callable[[int, int], bytes] = os.read
    monkeypatch.setattr(os, "read", lambda descriptor, count: real(descriptor, min(count, 7)))
    assert at.file("a.md").text == "word " * 1000


def test_a_file_that_is_no_text_is_told_before_its_size(base: MakeBase, way: str) -> None:
    at = base({"a.png": b"\x89PNG\0" + b"a" * 9000, "b.txt": b"a" * 20 + b"\xff"}, max_artifact_bytes=1024)
    assert (reason(at, "a.png"), reason(at, "b.txt")) == ("non-text", "non-text")


@pytest.mark.parametrize("call", ["open", "read"])
def test_what_may_not_be_read_is_unreadable(
    base: MakeBase, way: str, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    at = base(FILES)

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, call, refuse)
    assert reason(at, "top.md") == "unreadable"


def test_no_descriptor_is_left_open_by_a_read_that_goes_well_or_ill(base: MakeBase, way: str) -> None:
    at = base({**FILES, "nul": b"\0", "latin.md": b"\xff"})
    before = len(os.listdir("/dev/fd"))
    for path in ("kb/deep/er/x.md", "top.md", "nul", "latin.md", "kb/no.md", "kb", "top.md/x", "kb/t.md/x/y"):
        at.look(path)
    assert len(os.listdir("/dev/fd")) == before
