"""`admit evidence status` and `ack`: what stands, why not, and moving it on."""

from __future__ import annotations

import sqlite3

import pytest
from command_line import golden
from evidencing import vault_in
from tests.servers.chat_server import ChatServer


@pytest.fixture
def vault(tmp_path, monkeypatch, capsys):
    """A vault whose tides and fog were accepted."""
    made = vault_in(tmp_path, monkeypatch, capsys)
    with ChatServer(judge=lambda task, text: 1.0) as server:
        made.judged_by(server.url, judge="mine")
        made.json("review", "notes/tides.md", "notes/fog.md")
    return made


def test_what_stands_ends_with_zero(vault):
    code, out, err = vault("status", "notes/tides.md", "notes/fog.md")
    assert (code, err) == (0, "") and "2 pairs: 2 fresh, 0 stale" in out


def test_reasons_and_the_diff_read_as_they_did(vault):
    vault.write("tides.md", (vault.notes / "tides.md").read_text().replace("4.2", "4.3"))
    vault.write("data/readings.csv", "day\n")
    code, out, _ = vault("status", "notes", "--diff", "--all")
    assert code == 1
    golden("evidence-status.txt", out)


def test_json_names_each_pair_with_its_reasons(vault):
    vault.write("data/readings.csv", "day\n")
    found = vault.json("status", "notes/fog.md", code=1)
    (pair,) = found["pairs"]
    assert (pair["reasons"], pair["changed"]) == (["linked-changed"], ["data/readings.csv"])
    assert (pair["partition"], pair["revision"]) == ("m", 1)


def test_a_partition_that_never_reviewed_has_no_baseline(vault):
    code, out, _ = vault("status", "notes/fog.md", "--partition", "other")
    assert code == 1 and "missing-baseline" in out


def test_ack_takes_the_current_texts(vault):
    vault.write("data/readings.csv", "day\n")
    assert vault("status", "notes/fog.md")[0] == 1
    code, out, _ = vault("ack", "notes/fog.md", "grounding-alignment")
    assert code == 0 and "stands for the current texts, revision 2" in out
    assert vault("status", "notes/fog.md")[0] == 0


def test_a_trivial_ack_refuses_more_than_a_change_of_the_note(vault):
    vault.write("data/readings.csv", "day\n")
    code, _, err = vault("ack", "notes/fog.md", "grounding-alignment", "--trivial")
    assert code == 2 and "linked-changed" in err


def test_a_retired_review_counts_no_more(vault):
    code, out, _ = vault("ack", "notes/fog.md", "grounding-alignment", "--retire")
    assert code == 0 and "counts no more, revision 2" in out
    assert vault("status", "notes/fog.md")[0] == 1
    assert vault("ack", "notes/fog.md", "grounding-alignment")[0] == 2


def test_an_ack_without_an_accepted_review_changes_nothing(vault):
    code, _, err = vault("ack", "notes/fog.md", "grounding-alignment", "link-text")
    assert code == 2 and "no accepted review by link-text" in err
    assert vault.json("status", "notes/fog.md")["pairs"][0]["revision"] == 1


def test_a_row_that_is_not_as_it_was_written_is_named_and_never_stale(vault):
    (path,) = vault.home.rglob("ledger.db")
    with sqlite3.connect(path) as con:
        con.execute("UPDATE evidence_baseline SET note_sha256 = 'sha256:00' WHERE note = 'fog.md'")
    con.close()
    code, out, err = vault("status", "notes/fog.md")
    assert (code, out) == (2, "")
    assert "evidence_baseline" in err and "fog.md" in err
