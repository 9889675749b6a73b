"""Criterion files: strict where a word has a meaning, and indifferent to the rest."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.events import sha256
from admit.errors import CriterionError
from admit.evidence import criteria

LEAST = "id: c\n"


def read(front: str = LEAST, body: str = "Look for faults."):
    return criteria.parse(f"---\n{front}---\n\n{body}\n", "kb/c.md", "sha256:x")


@pytest.mark.parametrize(
    "id, budget, material, asks, answers",
    [
        (
            "grounding-alignment", 16, "whole", ("claims", "note"),
            "supported pass, plausible info, overreach warn, unsupported fail-if-read, contradicted fail, "
            "unverifiable info",
        ),
        (
            "representation", None, "head", ("claims",),
            "faithful pass, narrowed info, distorted warn, opposite fail, unverifiable info",
        ),
        ("link-text", None, "head", ("relations", "claims"), "fits pass, vague info, misleading warn"),
    ],
)  # fmt: skip
def test_a_shipped_criterion_asks_answers_and_limits_as_published(id, budget, material, asks, answers):
    found = {one.id: one for one in criteria.shipped()}[id]
    assert (found.budget, found.unit, found.order, found.material, found.asks) == (
        budget, "distinct-v1", "document", material, asks,
    )  # fmt: skip
    assert ", ".join(f"{label} {outcome}" for label, outcome in found.answers.items()) == answers
    assert set(found.meanings) == {*found.answers, *found.note_answers} and found.body
    assert found.path == f"admit:{id}"


def test_the_shipped_ones_are_three_and_grounding_alone_asks_about_the_whole_note():
    notes = {one.id: dict(one.note_answers) for one in criteria.shipped()}
    assert notes == {
        "grounding-alignment": {"yes": "pass", "mostly": "warn", "no": "fail"},
        "representation": {},
        "link-text": {},
    }


def test_a_gate_file_that_states_no_questions_asks_about_the_note_without_a_cap():
    gate = "gate_id: prose/echo\nname: Echo\nlens: prose\nwatches: [title, body]\nstaleness: changed\n"
    found = read(gate + "requires_trait: title-as-claim\nrequires_type: kb/types/definition.md\n")
    assert (found.id, found.name, found.lens, found.asks) == ("prose/echo", "Echo", "prose", ("note",))
    assert dict(found.note_answers) == {"PASS": "pass", "WARN": "warn", "FAIL": "fail"}
    assert (dict(found.answers), found.budget, found.watches) == ({}, None, ("title", "body"))
    assert (found.requires_trait, found.requires_type) == (("title-as-claim",), ("definition",))
    assert found.body == "Look for faults."


@pytest.mark.parametrize(
    "front, key",
    [
        ("budget: 0\n", "budget"),
        ("budget: -3\n", "budget"),
        ("budget: many\n", "budget"),
        ("budget:\n", "budget"),
        ("budget: 1.5\n", "budget"),
        ("budget: [16]\n", "budget"),
        ("budget: ١٦\n", "budget"),
        ("unit: pages\n", "unit"),
        ("unit: occurrences-v0\n", "unit"),
        ("unit: ingest+snapshot-v2\n", "unit"),
        ("order: newest\n", "order"),
        ("order: label\n", "label_order"),
        ("material: all\n", "material"),
        ("asks: [claims, titles]\n", "asks"),
        ("asks: []\n", "asks"),
        ("asks: {claims: yes}\n", "asks"),
        ("answers: {good: pass, bad: perhaps}\n", "answers"),
        ("answers: {good: pass}\n", "answers"),
        ("answers: pass\n", "answers"),
        ("answers: {good: pass, 'two words': fail}\n", "answers"),
        ("answers: {good: pass, bad: fail-if-read}\n", "answers"),
        ("note_answers: {good: pass, bad: fail-if-read}\n", "note_answers"),
        ("asks: claims\nnote_answers: {good: pass, bad: fail}\n", "note_answers"),
        ("meanings: [good]\n", "meanings"),
        ("label_order: {a: b}\n", "label_order"),
    ],
)
def test_a_value_that_is_unknown_or_of_the_wrong_kind_names_the_file_and_its_key(front, key):
    with pytest.raises(CriterionError, match=rf"^kb/c\.md: {key}: ") as caught:
        read(LEAST + front)
    assert (caught.value.path, caught.value.key) == ("kb/c.md", key)


@pytest.mark.parametrize("front", ["name: no id\n", "id: [a, b]\n", "id: two words\n", "id: ../up/\n"])
def test_a_criterion_needs_an_id_of_one_word(front):
    with pytest.raises(CriterionError, match=r"kb/c\.md: id: "):
        read(front)


@pytest.mark.parametrize("front", ["id: c\nid: d\n", "id: c\nname: a: b\n", "id: c\nname: *x\n"])
def test_front_matter_that_reads_in_two_ways_is_refused_with_its_line(front):
    with pytest.raises(CriterionError, match=r"kb/c\.md: line \d+: "):
        read(front)


def test_words_that_mean_nothing_here_are_left_alone_and_one_value_is_a_list():
    found = read(LEAST + "colour: blue\nasks: claims\nwatches: frontmatter\n")
    assert (found.asks, found.watches) == (("claims",), ("frontmatter",))
    assert dict(found.answers) == {"PASS": "pass", "WARN": "warn", "FAIL": "fail"}


def test_answers_about_blocks_alone_may_depend_on_what_was_read():
    found = read(LEAST + "asks: [claims, relations]\nanswers: {good: pass, bad: fail-if-read}\n")
    assert (dict(found.answers), dict(found.note_answers)) == ({"good": "pass", "bad": "fail-if-read"}, {})


def test_labels_such_as_no_and_yes_stay_words():
    assert dict(read(LEAST + "answers: {no: fail, yes: pass}\n").note_answers) == {
        "no": "fail",
        "yes": "pass",
    }


def test_a_budget_is_any_whole_number_from_one():
    assert [read(LEAST + f"budget: {n}\n").budget for n in (1, 16, 5000)] == [1, 16, 5000]


@given(st.text())
def test_any_text_is_a_criterion_or_an_error_that_names_the_file(text):
    try:
        found = criteria.parse(text, "kb/c.md", "sha256:x")
    except CriterionError as fault:
        assert fault.path == "kb/c.md"
    else:
        assert found.id and found.asks


def test_a_criterion_is_found_in_the_project_before_the_shipped_ones_and_by_its_path(base):
    own = "---\nid: link-text\nbudget: 3\n---\nOurs.\n"
    kb = base({".admit/criteria/x/own.md": own, "kb/gate.md": "---\ngate_id: a/b\n---\nHere.\n"})
    found = criteria.load(kb, "link-text")
    assert (found.path, found.budget, found.sha256) == (
        ".admit/criteria/x/own.md", 3, sha256(own.encode()),
    )  # fmt: skip
    assert criteria.load(kb, "grounding-alignment").path == "admit:grounding-alignment"
    assert criteria.load(kb, "kb/gate.md").id == "a/b"


def test_what_is_no_criterion_names_the_shipped_ones_and_the_folder(base):
    with pytest.raises(CriterionError, match=r"grounding-alignment.*\.admit/criteria"):
        criteria.load(base({}), "nothing")
    with pytest.raises(CriterionError, match=r"kb/none\.md"):
        criteria.load(base({}), "kb/none.md")


def test_a_broken_file_stands_in_nobodys_way_but_its_own(base):
    kb = base(
        {
            ".admit/criteria/bad.md": "---\nid: mine\nbudget: none\n---\n",
            ".admit/criteria/a.md": "---\nid: a\n---\n",
        }
    )
    assert criteria.load(kb, "a").id == "a"
    with pytest.raises(CriterionError, match=r"bad\.md: budget"):
        criteria.load(kb, "mine")


def test_an_id_that_two_files_have_is_refused(base):
    same = "---\nid: a\n---\n"
    kb = base({".admit/criteria/1.md": same, ".admit/criteria/2.md": same})
    with pytest.raises(CriterionError, match=r"2\.md: id: .*1\.md"):
        criteria.load(kb, "a")


def test_a_folder_or_file_behind_a_link_counts_once_by_its_real_path(base, tmp_path):
    kb = base({"shared/a.md": "---\nid: a\n---\n"})
    (tmp_path / "root" / ".admit").mkdir()
    os.symlink(tmp_path / "root" / "shared", tmp_path / "root" / ".admit" / "criteria")
    os.symlink("a.md", tmp_path / "root" / "shared" / "b.md")
    assert criteria.load(kb, "a").path == "shared/a.md"


def test_a_criterion_outside_of_the_root_is_never_read(base, tmp_path):
    (tmp_path / "out.md").write_text("---\nid: a\n---\n")
    kb = base({".admit/criteria/none.txt": ""})
    os.symlink(tmp_path / "out.md", tmp_path / "root" / ".admit" / "criteria" / "a.md")
    with pytest.raises(CriterionError, match="outside"):
        criteria.load(kb, "a")
    with pytest.raises(CriterionError, match="outside"):
        criteria.load(kb, str(tmp_path / "out.md"))


def test_a_criterion_that_is_no_text_is_refused(base):
    with pytest.raises(CriterionError, match="UTF-8"):
        criteria.load(base({"kb/c.md": b"---\nid: a\n---\n\xff"}), "kb/c.md")


def test_shipped_criteria_are_copied_once_and_never_over_a_file(base):
    kb = base({".admit/criteria/link-text.md": "---\nid: link-text\n---\nOurs.\n"})
    copied = (".admit/criteria/grounding-alignment.md", ".admit/criteria/representation.md")
    assert criteria.init(kb) == copied
    assert criteria.init(kb) == ()
    assert criteria.load(kb, "link-text").body == "Ours."
    shipped = {one.id: one.sha256 for one in criteria.shipped()}
    assert criteria.load(kb, "representation").sha256 == shipped["representation"]


def test_criteria_are_never_copied_out_of_the_root(base, tmp_path):
    kb = base({"n.md": ""})
    os.symlink(tmp_path / "elsewhere", tmp_path / "root" / ".admit")
    with pytest.raises(CriterionError, match="root"):
        criteria.init(kb)
    assert not (tmp_path / "elsewhere").exists()


def test_a_criterion_applies_to_notes_of_its_type_with_all_of_its_traits(base):
    kb = base({"n.md": "---\ntype: kb/types/definition.md\ntraits: [a, b]\n---\n# n\n"})
    note = kb.note("n.md")
    fronts = {
        "": True,
        "requires_type: definition\n": True,
        "requires_type: [note, kb/types/definition.md]\n": True,
        "requires_type: note\n": False,
        "requires_trait: [a, b]\n": True,
        "requires_trait: [a, c]\n": False,
        "requires_type: definition\nrequires_trait: c\n": False,
    }
    assert {front: criteria.applies(read(LEAST + front), note) for front in fronts} == fronts


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("budjet: 3", "budget"),
        ("Budget: 3", "budget"),
        ("materials: head", "material"),
        ("ask: [note]", "asks"),
        ("require_type: note", "requires_type"),
        ("label-order: [a]", "label_order"),
    ],
)
def test_a_key_that_is_nearly_one_of_ours_is_refused_and_not_passed_over(written, meant):
    with pytest.raises(CriterionError, match=f"did you mean {meant}") as refused:
        criteria.parse(f"---\nid: mine\n{written}\n---\nBody.\n", "c.md", "sha256:" + "0" * 64)
    assert refused.value.key == written.partition(":")[0]


def test_a_key_of_the_authors_own_is_left_alone():
    text = "---\nid: mine\ntype: gate\ntags: [a]\nstaleness: changed\nauthor: me\n---\nBody.\n"
    assert criteria.parse(text, "c.md", "sha256:" + "0" * 64).budget is None
