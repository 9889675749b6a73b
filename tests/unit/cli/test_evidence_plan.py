"""`admit evidence plan` on any folder of Markdown files."""

from __future__ import annotations

import json

import pytest
from command_line import golden
from evidencing import vault_in


@pytest.fixture
def vault(tmp_path, monkeypatch, capsys):
    return vault_in(tmp_path, monkeypatch, capsys)


def test_a_folder_and_a_note_read_as_they_did(vault):
    code, folder, err = vault("plan", "notes")
    assert (code, err) == (0, "")
    _, capped, _ = vault("plan", "notes", "--criterion", "grounding-alignment")
    _, note, _ = vault("plan", "notes/tides.md", "--cap", "2")
    golden("evidence-plan.txt", f"{folder}\n---\n{capped}\n---\n{note}")


def test_a_cap_leaves_the_last_offers_over_it(vault):
    (plan,) = vault.json("plan", "notes/harbour.md", "--cap", "2")["plans"]
    assert [one["within"] for one in plan["offers"]] == [True, True, False, False, False]
    assert (plan["cap"], plan["unit"], plan["criterion"]) == (2, "distinct-v1", None)


def test_the_same_folder_gives_the_same_bytes(vault):
    assert vault("plan", "notes", "--json") == vault("plan", "notes", "--json")


def test_an_ingest_linked_by_both_routes_is_one_slot(vault):
    (plan,) = vault.json("plan", "notes/tides.md")["plans"]
    first = plan["offers"][0]
    assert (first["route"], first["slots"], first["links"]) == ("quotes+snapshot", 1, [1, 3])


def test_a_folder_without_git_settings_or_local_links_is_planned(vault, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "n.md").write_text("[a](https://a.example) <https://b.example>\n")
    code, out, _ = vault("plan", str(tmp_path / "bare"))
    assert code == 0
    assert "0 local artifacts, 2 external (not fetched)" in out


def test_an_empty_folder_and_a_file_that_is_no_note_say_so(vault):
    (vault.notes / "empty").mkdir()
    for path in ("notes/empty", "notes/data/readings.csv"):
        code, out, _ = vault("plan", path)
        assert code == 0 and "no Markdown file" in out
    assert "1 not-markdown" in out


def test_a_path_that_is_not_there_is_a_usage_error_with_what_to_do(vault):
    code, out, err = vault("plan", "nowhere")
    assert (code, out) == (2, "")
    assert "there is no nowhere; name a Markdown file, or a folder that holds some" in err


def test_a_note_that_is_no_text_ends_with_one_and_the_others_are_planned(vault):
    (vault.notes / "bad.md").write_bytes(b"\xff\xfe\x00")
    found = vault.json("plan", "notes", code=1)
    assert found["unreadable"] == [{"note": "bad.md", "reason": "non-text"}]
    assert found["summary"]["notes"] == 8


def test_an_unknown_criterion_and_a_cap_of_nothing_are_refused(vault):
    code, _, err = vault("plan", "notes", "--criterion", "nope")
    assert code == 2 and "grounding-alignment" in err
    assert vault("plan", "notes", "--cap", "0")[0] == 2


def test_many_notes_are_summed_up_and_not_listed(vault):
    for k in range(60):
        vault.write(f"many/n{k:02}.md", "[t](../tides.md)\n")
    code, out, _ = vault("plan", "notes/many")
    assert code == 0 and len(out.splitlines()) < 35
    assert "40 notes that offer no more; --json has them all" in out
    assert "60 local artifacts" in out


def test_a_pack_holds_the_texts_within_and_a_manifest(vault):
    code, out, _ = vault("plan", "notes/tides.md", "--cap", "2", "--pack", "pack")
    assert code == 0 and "3 texts and MANIFEST.json" in out
    (pack,) = json.loads((vault.home / "pack" / "MANIFEST.json").read_text())["packs"]
    assert [one["shape"] for one in pack["items"]] == ["quotes", "snapshot", "whole"]
    quotes = (vault.home / "pack" / pack["items"][0]["file"]).read_text()
    assert "Mean high water" in quotes and "says nothing of storms" not in quotes
    assert [(one["id"], one["reason"]) for one in pack["left"]] == [("a3", "budget")]


def test_a_pack_is_never_written_into_a_folder_that_is_there(vault):
    (vault.home / "pack").mkdir()
    code, _, err = vault("plan", "notes", "--pack", "pack")
    assert code == 2 and "is there already" in err
    assert list((vault.home / "pack").iterdir()) == []
    assert vault("plan", "notes", "--pack", "no/such/pack")[0] == 2


def test_control_characters_of_a_note_never_reach_the_terminal(vault):
    vault.write("evil\x1b[31m.md", "# T\x1b]0;title\x07\n\n[x](gone\u202e.md)\n")
    for words in (("plan", "notes"), ("plan", "notes/evil\x1b[31m.md"), ("lint", "notes")):
        _, out, err = vault(*words)
        assert not any(char in out + err for char in "\x1b\x07\u202e"), words


def test_another_root_changes_what_links_lead_out(vault):
    vault.write("sources/up.md", "[t](../tides.md)\n")
    inside = vault.json("plan", "notes/sources/up.md")
    assert inside["summary"]["links"] == {"artifact": 1}
    alone = vault.json("plan", "notes/sources/up.md", "--root", "notes/sources")
    assert alone["summary"]["links"] == {"outside": 1}
