"""What a destination is: each step, each kind, and what holds whatever is asked."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.config.layers import load
from admit.evidence.base import Base
from admit.evidence.note import KINDS, Resolved
from admit.evidence.resolve import resolve

from .conftest import MakeBase

NOTE = "kb/n.md"
FILES = {NOTE: "# n\n", "kb/t.md": "# t\n", "top.md": "# top\n", "kb/sub/u.md": "# u\n"}


def kinds(base: Base, *dests: str) -> list[tuple[str, str, str]]:
    found = [resolve(base, NOTE, dest) for dest in dests]
    return [(one.kind, one.reason, one.target) for one in found]


def test_an_address_that_cannot_be_split_is_malformed(base: MakeBase) -> None:
    assert kinds(base(FILES), "http://[::1", "//[x", "") == [
        ("malformed", "address", ""), ("malformed", "address", ""), ("malformed", "empty", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "dest",
    [
        "https://a.b/c.md",
        "mailto:a@b.c",
        "//host/t.md",
        "HTTP:t.md",
        "file:///etc/passwd",
        "c:t.md",
        "data:,x",
    ],
)
def test_a_scheme_or_a_host_is_external(base: MakeBase, dest: str) -> None:
    assert resolve(base(FILES), NOTE, dest) == Resolved("external")


def test_a_colon_after_a_slash_or_a_digit_is_no_scheme(base: MakeBase) -> None:
    at = base({**FILES, "kb/12:30.md": "x", "kb/a:b.md": "x"})
    assert kinds(at, "12:30.md", "./a:b.md") == [
        ("artifact", "", "kb/12:30.md"), ("artifact", "", "kb/a:b.md"),
    ]  # fmt: skip


def test_without_a_path_it_is_an_anchor_of_the_note(base: MakeBase) -> None:
    at = base(FILES)
    assert resolve(at, NOTE, "#a%20b") == Resolved("anchor", target=NOTE, fragment="a b")
    assert resolve(at, NOTE, "#") == Resolved("anchor", target=NOTE, fragment="")
    assert resolve(at, NOTE, "?q=1#x") == Resolved("anchor", target=NOTE, fragment="x", query="q=1")


def test_a_path_is_decoded_once_and_only_after_it_is_split(base: MakeBase) -> None:
    at = base({**FILES, "kb/a#b.md": "x", "kb/a?b.md": "x", "kb/a%20b.md": "x", "kb/a.md": "x"})
    assert resolve(at, NOTE, "a%23b.md").target == "kb/a#b.md"
    assert resolve(at, NOTE, "a.md#b") == Resolved("artifact", target="kb/a.md", fragment="b")
    assert resolve(at, NOTE, "a%3Fb.md").target == "kb/a?b.md"
    assert resolve(at, NOTE, "a%2520b.md").target == "kb/a%20b.md"
    assert resolve(at, NOTE, "t.md?x#y?z") == Resolved(
        "artifact", target="kb/t.md", fragment="y?z", query="x"
    )


def test_a_path_that_no_file_has_is_malformed(base: MakeBase) -> None:
    assert kinds(base(FILES), "a%00.md", "%ff.md", "\ud800.md", "a/" * 2049) == [
        ("malformed", "nul", ""), ("malformed", "encoding", ""), ("malformed", "encoding", ""),
        ("malformed", "too-long", ""),
    ]  # fmt: skip
    assert resolve(base(FILES), NOTE, "a" * 4096).kind == "missing"


def test_a_leading_slash_starts_at_the_root(base: MakeBase) -> None:
    assert kinds(base(FILES), "/top.md", "/kb/t.md", "/t.md") == [
        ("artifact", "", "top.md"), ("artifact", "", "kb/t.md"), ("missing", "", ""),
    ]  # fmt: skip


def test_another_case_is_missing_with_the_path_as_it_is_on_disk(base: MakeBase) -> None:
    at = base(FILES)
    assert resolve(at, NOTE, "T.md") == Resolved("missing", "case", hint="kb/t.md")
    assert resolve(at, NOTE, "/KB/Sub/U.MD") == Resolved("missing", "case", hint="kb/sub/u.md")


def test_a_letter_or_two_off_is_missing_with_the_nearest_path(base: MakeBase) -> None:
    at = base({**FILES, "kb/graphs.md": "x", "kb/sub/trees.md": "x"})
    assert resolve(at, NOTE, "graph.md") == Resolved("missing", hint="kb/graphs.md")
    assert resolve(at, NOTE, "Sub/tree.md") == Resolved("missing", hint="kb/sub/trees.md")
    assert resolve(at, NOTE, "nothing-alike.md") == Resolved("missing")


def test_a_file_is_no_folder(base: MakeBase) -> None:
    at = base(FILES)
    assert resolve(at, NOTE, "t.md/") == Resolved("missing", hint="kb/t.md")
    assert resolve(at, NOTE, "t.md/../t.md") == Resolved("missing")


def test_a_name_is_the_same_however_unicode_composes_it(base: MakeBase) -> None:
    at = base({**FILES, "kb/cafe\u0301.md": "x"})
    assert resolve(at, NOTE, "caf%C3%A9.md").target == "kb/cafe\u0301.md"


def test_links_are_followed_to_the_real_path(base: MakeBase, tmp_path: Path) -> None:
    root = tmp_path / "root"
    base({**FILES, "other/deep/x.md": "x", "other/y.md": "y"})
    (root / "kb/file.md").symlink_to("sub/u.md")
    (root / "kb/folder").symlink_to("../other/deep")
    (root / "kb/absolute.md").symlink_to(root / "top.md")
    (root / "kb/me.md").symlink_to("n.md")
    (root / "kb/twice.md").symlink_to("file.md")
    at = base({})
    assert kinds(at, "file.md", "folder/x.md", "folder/../y.md", "absolute.md", "me.md", "twice.md") == [
        ("artifact", "", "kb/sub/u.md"), ("artifact", "", "other/deep/x.md"),
        ("artifact", "", "other/y.md"), ("artifact", "", "top.md"), ("self", "", NOTE),
        ("artifact", "", "kb/sub/u.md"),
    ]  # fmt: skip


def test_forty_links_are_followed_and_no_more(base: MakeBase, tmp_path: Path) -> None:
    base(FILES)
    kb = tmp_path / "root/kb"
    (kb / "l0").symlink_to("t.md")
    for n in range(1, 41):
        (kb / f"l{n}").symlink_to(f"l{n - 1}")
    (kb / "a").symlink_to("b")
    (kb / "b").symlink_to("a")
    (kb / "in").symlink_to("in/x")
    assert kinds(base({}), "l39", "l40", "a", "in") == [
        ("artifact", "", "kb/t.md"), ("missing", "symlink-loop", ""), ("missing", "symlink-loop", ""),
        ("missing", "symlink-loop", ""),
    ]  # fmt: skip


def test_a_dangling_link_is_broken_and_a_name_missing_behind_a_good_one_is_not(
    base: MakeBase, tmp_path: Path
) -> None:
    base(FILES)
    (tmp_path / "root/kb/gone.md").symlink_to("nowhere.md")
    (tmp_path / "root/kb/up").symlink_to("sub")
    (tmp_path / "root/kb/odd").symlink_to("t.md/x")
    assert kinds(base({}), "gone.md", "up/no-such-file.md", "odd") == [
        ("missing", "broken-symlink", ""), ("missing", "", ""), ("missing", "broken-symlink", ""),
    ]  # fmt: skip


def test_a_walk_that_leaves_the_root_is_outside_even_to_return(base: MakeBase, tmp_path: Path) -> None:
    base(FILES)
    (tmp_path / "o.md").write_text("# o\n")
    kb = tmp_path / "root/kb"
    (kb / "up.md").symlink_to("../../o.md")
    (kb / "back.md").symlink_to("../../root/kb/t.md")
    (kb / "absolute.md").symlink_to(tmp_path / "o.md")
    (kb / "beside.md").symlink_to(f"{tmp_path}/root-two/t.md")
    dests = (
        "../../o.md",
        "../../root/kb/t.md",
        "/../root/kb/t.md",
        "up.md",
        "back.md",
        "absolute.md",
        "beside.md",
    )
    assert kinds(base({}), *dests) == [("outside", "", "")] * 7


def test_a_folder_is_a_directory_with_its_index_as_hint(base: MakeBase) -> None:
    at = base({**FILES, "a/README.md": "x", "a/index.md": "x", "b/index.md": "x"})
    found = [resolve(at, NOTE, dest) for dest in ("sub", "../a/", "/b", "/", ".")]
    assert [(one.kind, one.target, one.hint) for one in found] == [
        ("directory", "kb/sub", ""), ("directory", "a", "a/README.md"), ("directory", "b", "b/index.md"),
        ("directory", "", ""), ("directory", "kb", ""),
    ]  # fmt: skip


def test_a_special_file_is_not_opened(
    base: MakeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base(FILES)
    os.mkfifo(tmp_path / "root/kb/pipe.md")
    at = base({})
    opened: list[object] = []
    real = os.open

    def spy(path: object, *rest: object, **more: object) -> int:
        opened.append(path)
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", spy)
    assert resolve(at, NOTE, "pipe.md") == Resolved("non-text", "special-file", "kb/pipe.md")
    assert "kb" in opened and "pipe.md" not in opened


def test_what_is_no_text_is_told_from_what_is(base: MakeBase) -> None:
    at = base(
        {
            **FILES,
            "kb/nul.bin": b"a\0",
            "kb/late.txt": b"a" * 8192 + b"\0",
            "kb/latin.txt": "é".encode("latin-1"),
            "kb/latin-late.txt": b"a" * 100_000 + b"\xe9",
            "kb/empty.md": b"",
            "kb/cut.txt": ("a" * 8191 + "é").encode(),
        }
    )
    assert kinds(at, "nul.bin", "late.txt", "latin.txt", "latin-late.txt", "empty.md", "cut.txt") == [
        ("non-text", "", "kb/nul.bin"), ("artifact", "", "kb/late.txt"), ("non-text", "", "kb/latin.txt"),
        ("non-text", "", "kb/latin-late.txt"), ("artifact", "", "kb/empty.md"),
        ("artifact", "", "kb/cut.txt"),
    ]  # fmt: skip


def test_a_file_over_the_limit_is_an_artifact_that_is_too_large_and_a_large_picture_no_text(
    base: MakeBase,
) -> None:
    at = base(
        {
            **FILES,
            "kb/big.md": "a" * 2049,
            "kb/full.md": "a" * 2048,
            "kb/picture.png": b"\0" * 5000,
            "kb/cut.md": ("a" * 8191 + "é" * 99).encode(),
            "kb/latin.txt": b"\xe9" * 5000,
        },
        max_artifact_bytes=2048,
    )
    assert kinds(at, "big.md", "full.md", "picture.png", "cut.md", "latin.txt") == [
        ("artifact", "too-large", "kb/big.md"), ("artifact", "", "kb/full.md"),
        ("non-text", "", "kb/picture.png"), ("artifact", "too-large", "kb/cut.md"),
        ("non-text", "", "kb/latin.txt"),
    ]  # fmt: skip


def test_a_file_that_may_not_be_read_is_an_artifact_that_is_unreadable(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base(FILES)
    deny(monkeypatch, "t.md")
    assert resolve(at, NOTE, "t.md") == Resolved("artifact", "unreadable", "kb/t.md")


def test_what_lies_in_a_folder_that_may_not_be_listed_is_unreadable_and_not_missing(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base(FILES)
    deny(monkeypatch, "sub")
    assert resolve(at, NOTE, "sub/u.md") == Resolved("artifact", "unreadable", "kb/sub/u.md")
    assert resolve(at, NOTE, "sub/x/../../../../y.md").kind == "outside"


def deny(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Opening this name is denied, as it is not to root by a mode."""
    real: Callable[..., int] = os.open

    def refuse(path: object, *rest: object, **more: object) -> int:
        if path == name:
            raise PermissionError(13, "Permission denied", name)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)


def test_the_note_itself_is_no_artifact_by_any_spelling(base: MakeBase) -> None:
    assert kinds(base(FILES), "n.md", "../kb/n.md", "/kb/n.md#x", "./n.md?y") == [("self", "", NOTE)] * 4


def test_hard_links_are_two_artifacts(base: MakeBase, tmp_path: Path) -> None:
    base(FILES)
    os.link(tmp_path / "root/kb/t.md", tmp_path / "root/kb/hard.md")
    assert {one[2] for one in kinds(base({}), "t.md", "hard.md")} == {"kb/t.md", "kb/hard.md"}


def test_each_folder_is_listed_once_by_all_threads(base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    from admit.evidence import tree

    at = base(FILES)
    listed: list[object] = []
    real = tree.listing

    def spy(folder: int | str) -> object:
        listed.append(folder)
        return real(folder)

    monkeypatch.setattr(tree, "listing", spy)
    results: list[Resolved] = []
    gate = threading.Barrier(8)

    def work() -> None:
        gate.wait()
        results.extend(resolve(at, NOTE, dest) for dest in ("t.md", "sub/u.md", "/top.md", "no.md"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(listed) == 3
    assert len(results) == 32 and len(set(results)) == 4


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """A base with links of every sort, for whatever is asked of it."""
    root = tmp_path_factory.mktemp("odd") / "root"
    for folder in ("kb/a/b", "kb/A", "c"):
        (root / folder).mkdir(parents=True)
    for name in ("kb/n.md", "kb/t.md", "kb/a/t.md", "kb/a/b/n.md", "c/x y.md", "kb/a#b.md", "kb/é.md"):
        (root / name).write_text("# x\n")
    (root / "kb/bin").write_bytes(b"\0")
    (root.parent / "t.md").write_text("# out\n")
    links = {
        "kb/up": "..",
        "kb/a/l": "../../c",
        "kb/loop": "loop",
        "kb/out": "../..",
        "kb/abs": str(root / "c"),
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "kb/pipe")
    return Base.open(str(root), config=load(str(root), project=False))


parts = st.sampled_from(
    [".", "..", "", "a", "A", "b", "c", "kb", "l", "up", "loop", "out", "abs", "pipe", "bin", "n.md", "t.md",
     "T.md", "x%20y.md", "a%23b.md", "%C3%A9.md", "e%CC%81.md", "%00", "%ff", "%2e%2e", "%2F", "root",
     "#h", "?q"]
)  # fmt: skip
paths = st.lists(parts, max_size=7).map("/".join)


@given(dest=paths | st.text(max_size=40))
def test_whatever_is_asked_has_one_kind_and_an_artifact_is_read_inside_the_root(odd: Base, dest: str) -> None:
    found = resolve(odd, "kb/n.md", dest)
    assert found.kind in KINDS
    if found.kind in ("artifact", "self"):
        assert odd.file(found.target).path == found.target
        assert os.path.realpath(os.path.join(odd.root, found.target)) == os.path.join(odd.root, found.target)
        assert (found.kind == "self") == (found.target == "kb/n.md")
    else:
        assert found.kind in ("anchor", "directory", "non-text") or not found.target
    if found.reason == "case":
        assert os.path.exists(os.path.join(odd.root, found.hint))


@given(dest=paths)
def test_dots_and_a_folder_and_back_change_nothing(odd: Base, dest: str) -> None:
    if dest[:1] in ("", "/", "#", "?") or dest.startswith("%2F"):
        return  # from the root, or no path
    plain = resolve(odd, "kb/n.md", dest)
    assert resolve(odd, "kb/n.md", f"./{dest}") == plain
    assert resolve(odd, "kb/n.md", f"a/../{dest}") == plain
    assert resolve(odd, "kb/n.md", f".//./a/b/../../{dest}") == plain
    assert resolve(odd, "kb/n.md", f"/kb/{dest}") == plain


@given(dest=paths, fragment=st.text("ab-# ?", max_size=6), query=st.text("ab=&", max_size=6))
def test_query_and_fragment_never_split_an_identity(odd: Base, dest: str, fragment: str, query: str) -> None:
    path = dest.partition("#")[0].partition("?")[0]
    if path and not path.startswith("//"):
        plain = resolve(odd, "kb/n.md", path)
        assert resolve(odd, "kb/n.md", f"{path}?{query}#{fragment}") == plain._replace(
            fragment=fragment, query=query
        )


def test_no_listing_order_shows(base: MakeBase, tmp_path: Path) -> None:
    names = ["note1.md", "note2.md", "note3.md"]
    found = []
    for n, order in enumerate((names, names[::-1])):
        root = tmp_path / str(n)
        root.mkdir()
        for name in order:
            (root / name).write_text("")
        with Base.open(str(root), config=base({}).config) as at:
            found.append(resolve(at, "n.md", "note4.md"))
    assert found[0] == found[1] == Resolved("missing", hint="note1.md")


def test_no_hint_is_the_note_itself_or_another_short_name(base: MakeBase) -> None:
    at = base({"note-a.md": "# a\n", "s.md": "# s\n"})
    assert resolve(at, "note-a.md", "note-b.md") == Resolved("missing")
    assert resolve(at, "note-a.md", "b.md") == Resolved("missing")
    assert resolve(at, "s.md", "note-b.md").hint == "note-a.md"
    assert resolve(at, "s.md", "S.md") == Resolved("missing", "case", hint="s.md")
