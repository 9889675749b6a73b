from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.evidence.conftest import MakeBase
from tests.unit.evidence.looks import found, only

from admit.config.evidence_keys import RULES
from admit.errors import UsageError
from admit.evidence.base import Base
from admit.evidence.lint import CHECKS, LINK_RULES, Lint, lint


def test_every_rule_belongs_to_one_group_of_checks() -> None:
    assert sorted(name for own in CHECKS.values() for name in own) == sorted(name for name, _, _ in RULES)


def test_findings_come_by_path_place_and_rule(base: MakeBase) -> None:
    made = base(
        {
            "b.md": "[x](no.md) [x](nor.md)\n",
            "a.md": "12 [x](c.md) [x](no.md)\n",
            "c.md": "[[no]]\n",
            "é.md": "[x]()\n",
            "Z.md": "[x]()\n",
        }
    )
    found = list(lint(made, ["é.md", "b.md", "c.md", "a.md", "Z.md", "a.md"]))
    assert [(one.note, one.start, one.rule) for one in found] == [
        ("Z.md", 0, "malformed"),
        ("a.md", 0, "number"),
        ("a.md", 13, "dangling"),
        ("b.md", 0, "dangling"),
        ("b.md", 11, "dangling"),
        ("c.md", 0, "dangling-wiki"),
        ("é.md", 0, "malformed"),
    ]


def test_a_rule_can_be_chosen_switched_off_and_raised(base: MakeBase) -> None:
    files = {"n.md": "12 [x](c.md) [x](no.md)\n", "c.md": "x\n"}
    made = base(files)
    assert [one.rule for one in lint(made, ["n.md"], ["number"])] == ["number"]
    assert list(lint(made, ["n.md"], [])) == []
    made = base(files, **{"severity.dangling": "off", "severity.number": "FAIL"})
    assert [(one.rule, one.severity) for one in lint(made, ["n.md"])] == [("number", "FAIL")]


def test_an_unknown_rule_is_refused_with_the_nearest_and_all(base: MakeBase) -> None:
    made = base({"n.md": "x"})
    with pytest.raises(
        UsageError, match=r"'dangeling'; did you mean dangling\? All are: dangling, .*snapshot-source"
    ):
        lint(made, ["n.md"], ["dangeling"])


def test_a_note_that_cannot_be_read_is_one_finding_and_the_rest_go_on(base: MakeBase) -> None:
    looked = Lint(base({"a.md": b"\xff\xfe", "b.md": "[x](no.md) <https://x.org>\n"}))
    [one] = looked.note("a.md")
    assert (one.rule, one.note, one.line) == ("unavailable", "a.md", 1)
    assert "non-text" in one.text
    assert [fault.path for fault in looked.unread] == ["a.md"]
    assert [one.rule for one in looked.note("b.md")] == ["dangling"]
    assert looked.note("gone.md")[0].rule == "unavailable"
    assert (looked.notes, dict(looked.kinds)) == (1, {"missing": 1, "external": 1})


def test_link_rules_read_no_artifact(base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    made = base({"n.md": 'Verbatim "x y" 12 [x](c.md) [p](p.ingest.md)\n', "c.md": "z", "p.ingest.md": "z"})
    read: list[str] = []
    file = Base.file
    monkeypatch.setattr(
        Base, "file", lambda self, path, **more: read.append(path) or file(self, path, **more)
    )
    list(lint(made, ["n.md"], LINK_RULES))
    assert read == ["n.md"]
    list(lint(made, ["n.md"]))
    assert sorted(read[1:]) == ["c.md", "n.md", "p.ingest.md"]


def test_an_artifact_is_read_once_for_many_notes(base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {f"n{n}.md": 'Verbatim "x y" 12 and 2026-01-02 [x](c.md)\n' for n in range(5)}
    made = base({**notes, "c.md": "z"})
    read: list[str] = []
    file = Base.file
    monkeypatch.setattr(
        Base, "file", lambda self, path, **more: read.append(path) or file(self, path, **more)
    )
    assert len(list(lint(made, notes))) == 15
    assert read.count("c.md") == 1


def test_references_are_counted_by_kind(base: MakeBase) -> None:
    note = "[a][no] and [b][nor]\n\n[c]: t.md\n[d]: t.md\n[D]: n.md\n\n[d]\n"
    found_ = found(base({"n.md": note, "t.md": "x"}), "reference")
    assert [(one.line, one.severity) for one in found_] == [(1, "INFO"), (3, "INFO"), (5, "INFO")]
    assert "2 reference links" in found_[0].text
    assert not found(base({"n.md": "[d]\n\n[d]: t.md\n"}), "reference")


def test_wiki_links_that_are_not_followed_are_counted(base: MakeBase) -> None:
    files = {"n.md": "[[a]] and [[b|c]]\n", "a.md": "", "b.md": ""}
    assert "2 wiki links" in only(base(files, wikilinks="off"), "wikilinks-off").text
    assert not found(base(files), "wikilinks-off")


def test_bad_front_matter_is_told_with_its_line_and_the_note_is_checked(base: MakeBase) -> None:
    made = base({"n.md": "---\na: b\nc: [x\n---\n[x](no.md)\n"})
    assert only(made, "front-matter").line > 1
    assert only(made, "dangling")
    assert not found(base({"n.md": "---\na: b\n---\n"}), "front-matter")


def test_front_matter_that_cannot_be_read_is_told_in_one_true_sentence(base: MakeBase) -> None:
    for front, words in (
        ("a: b: c\n", "is not YAML"),
        ("a: b\na: c\n", "says a again, after line 2"),
        (f"a: {'x' * 17_000}\n", "is over 16 KiB"),
    ):
        one = only(base({"n.md": f"---\n{front}---\n# n\n"}), "front-matter")
        assert one.text.startswith(f"the front matter {words}")
        assert "one by one" not in one.text and "counts" not in one.text
        assert "checked without it" in one.fix


def test_a_list_between_the_lines_of_front_matter_is_told_and_holds_no_links(base: MakeBase) -> None:
    made = base({"n.md": "---\n- see [x](no.md)\n- a: b\n---\n[y](none.md)\n"})
    assert "is a list" in only(made, "front-matter").text
    assert only(made, "dangling").claim == "[y](none.md)"
    prose = base({"n.md": "---\n- **Bold** prose: [x](no.md)\n---\n"})
    assert not found(prose, "front-matter") and only(prose, "dangling")


def test_the_same_base_gives_the_same_findings_elsewhere(base: MakeBase, tmp_path: Path) -> None:
    files = {"n.md": 'Verbatim "x y" 12 [x](c.md) [x](no.md)\n', "c.md": "z"}
    first = list(lint(base(files), ["n.md"]))
    other = tmp_path / "other"
    other.mkdir()
    for path, text in files.items():
        (other / path).write_text(text)
    with Base.open(str(other)) as made:
        assert list(lint(made, ["n.md"])) == first
