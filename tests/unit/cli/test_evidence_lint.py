"""`admit evidence lint`: findings as a compiler prints them."""

from __future__ import annotations

import json

import pytest
from command_line import golden
from evidencing import vault_in


@pytest.fixture
def vault(tmp_path, monkeypatch, capsys):
    return vault_in(tmp_path, monkeypatch, capsys)


def test_the_example_reads_as_it_did_and_ends_with_one(vault):
    code, out, err = vault("lint", "notes")
    assert (code, err) == (1, "")
    golden("evidence-lint.txt", out)


def test_a_rule_is_looked_for_alone(vault):
    found = vault.json("lint", "notes", "--rule", "dangling", "--rule", "quote", code=1)
    assert {one["rule"] for one in found["findings"]} == {"dangling", "quote"}
    assert vault("lint", "notes", "--rule", "nope")[0] == 2


@pytest.mark.parametrize(("least", "code"), [("fail", 0), ("warn", 1), ("info", 1)])
def test_fail_on_says_from_which_severity_on_it_ends_with_one(vault, least, code):
    assert vault("lint", "notes/fog.md", "--fail-on", least)[0] == code


def test_a_project_makes_a_rule_graver_and_its_commands_fail_sooner(vault):
    (vault.notes / ".admit.toml").write_text('[evidence]\nfail_on = "warn"\n')
    assert vault("lint", "notes/fog.md")[0] == 1


def test_the_column_counts_characters_and_not_bytes(vault):
    vault.write("n.md", "ÄÖÜ [x](gone.md)\n")
    assert "n.md:1:5: FAIL dangling" in vault("lint", "notes/n.md")[1]


def test_many_infos_are_counted_and_printed_when_asked_for(vault):
    vault.write("n.md", "".join(f"Seen {k} times ([t](tides.md)).\n\n" for k in range(100, 130)))
    _, out, _ = vault("lint", "notes/n.md")
    assert ": INFO number" not in out and "30 INFO are counted and not printed" in out
    _, out, _ = vault("lint", "notes/n.md", "--fail-on", "info")
    assert out.count(": INFO number") == 30


def test_a_clean_folder_of_externals_without_set_up_ends_with_zero(vault, tmp_path):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "n.md").write_text("[a](https://a.example)\n")
    code, out, _ = vault("lint", str(tmp_path / "bare"))
    assert code == 0
    assert "1 note: 0 FAIL, 0 WARN, 0 INFO\n0 local artifacts, 1 external (not fetched)" in out


def test_a_note_that_cannot_be_read_is_a_finding_and_ends_with_one(vault):
    (vault.notes / "bad.md").write_bytes(b"\xff\x00")
    code, out, _ = vault("lint", "notes/bad.md")
    assert code == 1 and "bad.md:1:1: WARN unavailable" in out


def test_sarif_is_written_whole_and_says_the_same(vault):
    code, out, _ = vault("lint", "notes", "--sarif", "lint.sarif")
    assert code == 1 and "lint.sarif written" in out
    (run,) = json.loads((vault.home / "lint.sarif").read_text())["runs"]
    assert len(run["results"]) == len(vault.json("lint", "notes", code=1)["findings"])
    code, _, err = vault("lint", "notes", "--sarif", "no/such/folder.sarif")
    assert code == 2 and "cannot be written" in err


def test_a_note_that_cannot_be_read_is_named_whatever_rules_are_chosen(vault):
    vault.write("latin.md", "x")
    (vault.notes / "latin.md").write_bytes(b"\xff\xfe bad")
    for words in ((), ("--rule", "dangling")):
        code, out, _ = vault("lint", "notes/latin.md", *words)
        assert code == 1 and "ends with 1: latin.md: it is no UTF-8 text" in out
    assert vault("lint", "notes/latin.md", "--sarif", "lint.sarif")[0] == 1
    (run,) = json.loads((vault.home / "lint.sarif").read_text())["runs"]
    (told,) = run["invocations"]
    assert told["executionSuccessful"] is False
    assert "latin.md" in told["toolExecutionNotifications"][0]["message"]["text"]


def test_links_out_of_the_root_name_the_way_to_a_wider_one(vault):
    vault.write("deep/out.md", "# o\n\n[a](../../x.md) [b](../../../y.md)\n")
    assert "2 links out of the root: --root DIR takes a wider one" in vault("lint", "notes/deep")[1]
    assert "2 links out of the root" in vault("plan", "notes/deep")[1]


def test_an_empty_folder_says_that_nothing_is_there(vault):
    vault.write("empty/x.txt", "")
    code, out, _ = vault("lint", "notes/empty")
    assert code == 0 and "no Markdown file" in out
