"""A base: its root, its notes with their links, and what holds over a whole vault."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from pathlib import Path

import pytest

from admit.config.layers import load
from admit.errors import NoteError, RootError
from admit.evidence import base as module
from admit.evidence.base import Base, common_root, find_root
from admit.evidence.note import KINDS, Document, Link, Note
from admit.evidence.scope import find

from .conftest import MakeBase


@pytest.mark.parametrize("mark", [".admit.toml", ".git", ".obsidian"])
def test_the_root_is_the_nearest_folder_with_a_mark(tmp_path: Path, mark: str) -> None:
    deep = tmp_path / "far" / "near" / "deep"
    deep.mkdir(parents=True)
    (tmp_path / "far" / ".git").mkdir()
    (tmp_path / "far" / "near" / mark).touch()
    (deep / "n.md").touch()
    near = str((tmp_path / "far" / "near").resolve())
    assert find_root(str(deep)) == find_root(str(deep / "n.md")) == find_root(near) == near


def test_without_a_mark_the_given_folder_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "deep"
    deep.mkdir()
    (deep / "n.md").touch()
    monkeypatch.setattr("admit.evidence.base.ROOT_MARKS", (".no-such-mark",))
    assert find_root(str(deep / "n.md")) == find_root(str(deep)) == str(deep.resolve())
    monkeypatch.chdir(deep)
    with Base.open() as at:
        assert at.root == str(deep.resolve())


def test_a_root_that_is_given_wins_over_marks_and_its_links_are_resolved(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "kb").mkdir()
    (tmp_path / "link").symlink_to("kb")
    with Base.open(str(tmp_path / "link"), start=str(tmp_path)) as at:
        assert at.root == str((tmp_path / "kb").resolve())


@pytest.mark.parametrize("name", ["no-such-folder", "file", "a\0b"])
def test_what_is_no_folder_cannot_be_a_root_and_the_message_names_the_fix(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RootError, match="--root"):
        Base.open(f"{tmp_path}/{name}")


def test_the_settings_are_those_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / ".admit.toml").write_text('[evidence]\nwikilinks = "off"\nmax_artifact_bytes = 2048\n')
    with Base.open(str(tmp_path)) as at:
        assert (at.settings.wikilinks, at.settings.max_artifact_bytes, at.tree.max_bytes) == (
            "off",
            2048,
            2048,
        )
    with Base.open(str(tmp_path), config=load(str(tmp_path), project=False)) as at:
        assert at.settings.wikilinks == "auto"


FRONT = """---
type: kb/types/note.md
traits: title-as-claim
title: In front
description: Says what it is.
---
"""


def test_a_note_tells_what_its_front_matter_says(base: MakeBase) -> None:
    text = FRONT + "\n# The *title*\n\n# Second\n"
    note = base({"kb/n.md": text}).note("kb/n.md")
    assert (note.type, note.traits, note.title) == ("note", ("title-as-claim",), "The title")
    assert note.description == "Says what it is."
    assert note.sha256 == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert (note.path, note.text, note.bytes) == ("kb/n.md", text, len(text.encode()))


def test_the_title_falls_back_to_front_matter_and_then_to_the_stem(base: MakeBase) -> None:
    at = base({"a.b.md": "## Not a title\n", "n.md": FRONT, "bad.md": "---\na: [\n---\ntext\n"})
    assert [at.note(path).title for path in ("a.b.md", "n.md", "bad.md")] == ["a.b", "In front", "bad"]


def test_a_note_without_or_with_bad_front_matter_is_read_all_the_same(base: MakeBase) -> None:
    at = base({"n.md": "[x](t.md)\n", "bad.md": "---\na: &b 1\nc: *b\n---\n[x](t.md)\n", "t.md": ""})
    assert (at.note("n.md").type, at.note("n.md").traits) == ("", ())
    bad = at.note("bad.md")
    assert bad.front is None and bad.document.problems
    assert [link.kind for link in bad.links] == ["artifact"]


def test_the_roles_of_blocks_go_by_the_links_that_lead_to_artifacts(base: MakeBase) -> None:
    text = """A claim [x](t.md).

Not one [x](gone.md), [y](https://a.b) ![z](t.md).

- [T](t.md) — supports: because
- [Gone](gone.md) — supports: because
- see [T](t.md)
"""
    note = base({"n.md": text, "t.md": ""}).note("n.md")
    assert [block.role for block in note.blocks] == ["claim", "plain", "relation", "plain", "claim"]


def test_the_labels_and_numbers_of_links_are_kept(base: MakeBase) -> None:
    text = "[x](t.md)\n\n- [T](t.md) — supports: because\n- [U](u.md) (snapshot required)\n"
    links = base({"n.md": text, "t.md": "", "u.md": ""}).links("n.md")
    assert [(link.n, link.line, link.label, link.target) for link in links] == [
        (1, 1, "", "t.md"), (2, 3, "supports", "t.md"), (3, 4, "", "u.md"),
    ]  # fmt: skip
    assert all(text.encode()[link.start : link.end].startswith(b"[") for link in links)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no.md", "missing"),
        ("kb", "non-text"),
        ("bin.md", "non-text"),
        ("latin.md", "non-text"),
        ("big.md", "too-large"),
        ("../o.md", "outside"),
        ("N.MD", "missing"),
    ],
)
def test_a_note_that_cannot_be_read_says_why(base: MakeBase, path: str, reason: str) -> None:
    files = {"n.md": "", "kb/x.md": "", "bin.md": b"\0", "latin.md": b"\xff", "big.md": "a" * 2000}
    with pytest.raises(NoteError) as caught:
        base(files, max_artifact_bytes=1024).note(path)
    assert (caught.value.path, caught.value.reason) == (path, reason)


def test_a_note_in_another_case_is_told_its_name(base: MakeBase) -> None:
    with pytest.raises(NoteError, match=r"did you mean kb/n\.md\?"):
        base({"kb/n.md": ""}).note("kb/N.md")


def test_a_note_by_another_spelling_is_the_same_note(base: MakeBase, tmp_path: Path) -> None:
    base({"kb/n.md": "[me](n.md)"})
    (tmp_path / "root/alias.md").symlink_to("kb/n.md")
    at = base({})
    plain = at.note("kb/n.md")
    assert at.note("./kb/../kb/n.md") == at.note("alias.md") == plain
    assert [link.kind for link in plain.links] == ["self"]


def test_a_folder_with_external_links_alone_is_read(base: MakeBase) -> None:
    at = base({"n.md": "".join(f"[x{n}](https://example.org/{n})\n" for n in range(37))})
    assert Counter(link.kind for link in at.links("n.md")) == {"external": 37}


def test_text_is_read_anew_and_what_a_file_was_stays_as_first_seen(base: MakeBase, tmp_path: Path) -> None:
    at = base({"n.md": "one", "t.md": "one"})
    first = at.look("t.md")
    (tmp_path / "root/n.md").write_text("[x](t.md)")
    (tmp_path / "root/t.md").write_text("two")
    assert at.note("n.md").text == "[x](t.md)"
    assert (at.file("t.md").text, at.look("t.md")) == ("two", first)


def test_a_path_of_a_person_is_told_as_it_is_on_disk(
    base: MakeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base({"kb/n.md": "", "kb/cafe\u0301.md": ""})
    (tmp_path / "root/alias.md").symlink_to("kb/n.md")
    at = base({})
    monkeypatch.chdir(f"{at.root}/kb")
    given = ["n.md", "../alias.md", "kb/n.md", f"{at.root}/kb/n.md", "../kb", at.root, "", "."]
    assert [at.relative(path) for path in given] == [
        "kb/n.md", "kb/n.md", "kb/n.md", "kb/n.md", "kb", "", "", "kb",
    ]  # fmt: skip


def test_a_closed_base_has_given_its_descriptor_back(base: MakeBase) -> None:
    at = base({"n.md": ""})
    with at:
        at.note("n.md")
    at.close()
    with pytest.raises(NoteError, match=r"n\.md"):
        at.note("n.md")


def vault(count: int) -> tuple[dict[str, str | bytes], Counter[str]]:
    """Notes by rule, each with links of known kinds; and how many of each there are."""
    files: dict[str, str | bytes] = {"assets/pic.png": b"\x89PNG\0", "x/twin.md": "", "y/twin.md": ""}
    expected: Counter[str] = Counter()
    for n in range(count):
        folder = f"area-{n % 7}"
        other = f"../area-{(n + 3) % count % 7}/note-{(n + 3) % count:03}.md"
        lines = [f"# Note {n}\n", f"[next]({other}#note-{(n + 3) % count})", f"[self](note-{n:03}.md)"]
        expected.update(["artifact", "self"])
        if n % 2:
            lines.append(f"[[note-{(n * 5) % count:03}]] [[Note-{(n + 1) % count:03}|any case]]")
            expected.update(["self" if (n * 5) % count == n else "artifact", "artifact"])
        if n % 3 == 0:
            lines.append(f"[gone](gone-{n}-entirely.md) [[no such stub at all]] [[twin]]")
            expected.update(["missing", "missing", "ambiguous"])
        if n % 5 == 0:
            lines.append(
                "![pic](/assets/pic.png) <https://example.org> [folder](../x) [top](#) [out](../../o.md)"
            )
            expected.update(["non-text", "external", "directory", "anchor", "outside"])
        if n % 11 == 0:
            lines.append("[bad](%00) [empty]()")
            expected.update(["malformed", "malformed"])
        files[f"{folder}/note-{n:03}.md"] = "\n\n".join(lines) + "\n"
    return files, expected


def test_a_vault_of_hundreds_of_notes_is_read_whole(base: MakeBase) -> None:
    files, expected = vault(600)
    at = base(files)
    scope = find(at, [at.root])
    assert len(scope.notes) == 602
    links = {path: at.links(path) for path in scope.notes}
    assert Counter(link.kind for found in links.values() for link in found) == expected
    assert set(expected) == set(KINDS)
    assert all(link.anchor_ok for found in links.values() for link in found if link.fragment)


def test_threads_share_a_base_and_see_the_same(base: MakeBase) -> None:
    files, _ = vault(60)
    at = base(files)
    paths = find(at, [at.root]).notes
    alone = {path: at.links(path) for path in paths}
    shared = base({})
    seen: list[dict[str, tuple[Link, ...]]] = []
    start = threading.Barrier(4)

    def work(order: tuple[str, ...]) -> None:
        start.wait()
        seen.append({path: shared.links(path) for path in order})

    orders = (paths, paths[::-1], paths[30:] + paths[:30], paths)
    threads = [threading.Thread(target=work, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 4 and all(one == alone for one in seen)


def test_two_roots_with_the_same_files_give_the_same_notes(base: MakeBase, tmp_path: Path) -> None:
    files, _ = vault(40)
    at = base(files)
    other = tmp_path / "elsewhere" / "deeper"
    for path, content in reversed(files.items()):
        (other / path).parent.mkdir(parents=True, exist_ok=True)
        (other / path).write_bytes(content.encode() if isinstance(content, str) else content)
    with Base.open(str(other), config=at.config) as copy:
        notes: list[tuple[Note, Note]] = [
            (at.note(path), copy.note(path)) for path in find(at, [at.root]).notes
        ]
    assert all(one == two for one, two in notes)


def test_thousands_of_links_and_a_line_of_megabytes_are_classified(base: MakeBase) -> None:
    text = "".join(f"[x](t{n % 50}.md)\n" for n in range(5000)) + "a" * 10_000_000
    at = base({"n.md": text, **{f"t{n}.md": "" for n in range(25)}}, max_artifact_bytes=20_000_000)
    assert Counter(link.kind for link in at.links("n.md")) == {"artifact": 2500, "missing": 2500}


def test_a_file_parsed_for_its_anchors_is_not_parsed_again_as_a_note_unless_it_changed(
    base: MakeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = base({"a.md": "[x](b.md#b) [x](c.md#c)", "b.md": "# b\n", "c.md": "# c\n"})
    parsed: list[str] = []
    real = module.parse

    def spy(text: str, *, wikilinks: bool = True) -> Document:
        parsed.append(text)
        return real(text, wikilinks=wikilinks)

    monkeypatch.setattr(module, "parse", spy)
    assert [link.anchor_ok for link in at.links("a.md")] == [True, True]
    (tmp_path / "root/c.md").write_text("# changed\n")
    assert [at.note(path).title for path in ("b.md", "c.md")] == ["b", "changed"]
    assert parsed == ["[x](b.md#b) [x](c.md#c)", "# b\n", "# c\n", "# changed\n"]


def test_what_is_kept_of_files_parsed_for_their_anchors_is_bounded(
    base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_AHEAD_BYTES", 10)
    files = {f"t{n}.md": f"# t{n}\n" for n in range(4)}
    at = base({"a.md": " ".join(f"[x]({name}#t{n})" for n, name in enumerate(files)), **files})
    assert all(link.anchor_ok for link in at.links("a.md"))
    assert at._ahead_bytes <= 10 and len(at._ahead) == 2
    assert [at.note(name).title for name in files] == ["t0", "t1", "t2", "t3"]
    assert at._ahead_bytes == 0 and not at._ahead


def test_several_paths_have_the_root_that_each_of_them_has(tmp_path):
    (tmp_path / "base" / ".git").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / "base" / name).mkdir()
    assert common_root([str(tmp_path / "base" / one) for one in ("a", "b")]) == str(
        (tmp_path / "base").resolve()
    )


def test_paths_of_several_bases_are_refused_and_never_widen_a_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "base" / ".git").mkdir(parents=True)
    (tmp_path / "base" / "n.md").write_text("# n\n")
    (tmp_path / "other").mkdir()
    for paths in (["base", "other"], ["base/n.md", "other"], [".", "base"]):
        with pytest.raises(RootError, match="--root"):
            common_root([str(tmp_path / one) for one in paths])


def test_folders_without_a_mark_share_the_one_above_them_below_the_working_folder(tmp_path, monkeypatch):
    for name in ("kb/notes", "kb/reference"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert common_root(["kb/notes", "kb/reference"]) == str((tmp_path / "kb").resolve())
    monkeypatch.chdir(tmp_path / "kb" / "notes")
    with pytest.raises(RootError):
        common_root([".", "../reference"])
