"""`admit evidence report`: the queue, the curve, the replay and the page."""

from __future__ import annotations

import pytest
from command_line import golden
from evidencing import HOLD, vault_in
from tests.servers.chat_server import ChatServer


@pytest.fixture
def vault(tmp_path, monkeypatch, capsys):
    """A vault all of whose claims were found contradicted, under a budget of two."""
    made = vault_in(tmp_path, monkeypatch, capsys)
    made.write(".admit/criteria/hold.md", HOLD)
    with ChatServer(judge=lambda task, text: 0.0) as server:
        made.judged_by(server.url, judge="mine")
        made.json("review", "notes", "--criterion", "hold", code=1)
    return made


def test_the_report_reads_as_it_did(vault):
    code, out, err = vault("report", "notes", "--curve", "--replay", "cap=1")
    assert (code, err) == (0, "")
    golden("evidence-report.txt", out)


def test_without_a_review_it_says_so(tmp_path, monkeypatch, capsys):
    vault = vault_in(tmp_path, monkeypatch, capsys)
    code, out, _ = vault("report")
    assert code == 0 and "No review is on record here" in out
    assert vault.json("report", "notes", "--curve")["curve"]["artifacts"] == 12


def test_a_replay_under_the_same_cap_loses_nothing_and_reads_no_file(vault):
    for path in vault.notes.rglob("*.md"):
        if ".admit" not in path.parts:
            path.unlink()
    found = vault.json("report", "--root", "notes", "--replay", "cap=2")["replay"]
    assert found["lost"] == 0 and found["kept"] > 0
    smaller = vault.json("report", "--root", "notes", "--replay", "cap=1")["replay"]
    assert smaller["lost"] > 0 and smaller["lost"] + smaller["kept"] == found["kept"]


def test_a_replay_takes_another_unit_and_order(vault):
    found = vault.json("report", "notes", "--replay", "cap=2,unit=occurrences-v0,order=bytes")["replay"]
    assert (found["cap"], found["unit"], found["order"]) == (2, "occurrences-v0", "bytes")
    (fog,) = [one for one in found["pairs"] if one["note"] == "fog.md"]
    assert fog["within"] == 1  # the smaller one; the other is linked twice


@pytest.mark.parametrize("given", ["5", "cap=0", "cap=x", "unit=distinct-v1", "cap=2,unit=pages", "size=2"])
def test_a_replay_of_something_else_is_refused(vault, given):
    assert vault("report", "--replay", given)[0] == 2


def test_the_page_is_one_file_with_all_text_escaped(vault):
    vault.write("tides.md", "# T\n\nA <script>alert(1)</script> & more ([w](harbour-wall.md)).\n")
    with ChatServer(judge=lambda task, text: 0.0) as server:
        vault.judged_by(server.url, judge="mine")
        vault.json("review", "notes/tides.md", "--criterion", "hold", code=1)
    code, out, _ = vault("report", "notes", "--curve", "--replay", "cap=1", "--html", "r.html")
    assert code == 0 and "r.html written" in out
    page = (vault.home / "r.html").read_text()
    assert "<script" not in page and "&lt;script&gt;alert(1)" in page
    assert "<svg" in page and "http-equiv" in page and "http://" not in page
    assert vault("report", "--html", "no/such/r.html")[0] == 2
