"""`admit report`: one page from the record, written for this user's eyes alone."""

from __future__ import annotations

import json
import os
import time

import pytest

from admit.cli import frame
from admit.config import layers
from admit.core.events import Event
from admit.ledger.port import DecisionRow, Recall, Record
from admit.ledger.sqlite import SqliteLedger

NOW = int(time.time() * 1000)
DAY_MS = 86_400_000


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    commands = {**frame.COMMANDS, "report": ("admit.cli.report", "Write the record as one page.")}
    monkeypatch.setattr(frame, "COMMANDS", commands)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def admit(capsys):
    def run(*args: str) -> tuple[int, str, str]:
        code = frame.run(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def record():
    ledger = SqliteLedger()
    for number, days in ((1, 0), (2, 3), (3, 90)):
        extra = {"how": "local", "tool": "Bash", "original_chars": 50_000, "kept_chars": 5_000}
        row = DecisionRow(
            f"{number:032x}", ts_ms=NOW - days * DAY_MS, door="outputs", output_id=f"o_{number}"
        )
        ledger.append(Record(row._replace(size_in=50_000, size_out=5_000, extra=extra)))
    ledger.append(Record(recalls=(Recall("r1", "o_1", NOW, "whole", "cli", 50_000),)))
    ledger.append(Record(events=(Event("e1", "ledger.dropped", NOW, {"busy": 2}),)))
    ledger.append(Record(events=(Event("e2", "ledger.spool_dropped", NOW, {"n": 4}),)))
    ledger.close()


def test_the_page_is_written_and_named(admit, record, tmp_path):
    code, out, err = admit("report")
    path = tmp_path / "admit-report.html"
    assert (code, out, err) == (0, "admit-report.html: 2 decisions about outputs\n", "")
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in tmp_path.glob("*.tmp")) == []


def test_since_and_out_choose_what_and_where(admit, record, tmp_path):
    assert admit("report", "--since", "365d", "--out", "year.html")[1].startswith("year.html: 3 decisions")
    assert (tmp_path / "year.html").exists()


def test_an_older_page_is_replaced_and_a_link_is_not_written_through(admit, record, tmp_path):
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "page.html").symlink_to(tmp_path / "kept.txt")
    assert admit("report", "--out", "page.html")[0] == 0
    assert (tmp_path / "kept.txt").read_text() == "kept" and not (tmp_path / "page.html").is_symlink()


def test_a_place_that_cannot_be_written_is_said(admit, record):
    code, _, err = admit("report", "--out", "no/such/folder.html")
    assert code == 2 and "no/such/folder.html cannot be written: No such file" in err


def test_standard_output_gets_the_page_alone(admit, record, tmp_path):
    code, out, _ = admit("report", "--out", "-")
    assert code == 0 and out.startswith("<!DOCTYPE html>") and out.endswith("</html>\n")
    assert not (tmp_path / "admit-report.html").exists()


def test_drops_stand_on_the_page(admit, record):
    assert "Not recorded: 6 records (2 busy, 4 spool)." in admit("report", "--out", "-")[1]


def test_json_holds_the_figures(admit, record, tmp_path):
    value = json.loads(admit("report", "--json")[1])
    assert value["schema"] == 1 and value["decisions"] == 2 and value["saved_raw"] == 90_000
    assert [row["name"] for row in value["rows"]] == ["filtered", "excerpt", "other"]
    assert value["rows"][1]["recall_rate"]["value"] == 0.5 and value["dropped"] == {"busy": 2, "spool": 4}
    assert not (tmp_path / "admit-report.html").exists()


def test_without_a_record_there_is_a_page_that_says_so_and_no_record_is_made(admit, tmp_path):
    code, out, _ = admit("report", "--out", "-")
    assert code == 0 and "has decided nothing in this time" in out and not (tmp_path / "state").exists()


def test_a_damaged_record_is_a_finding_with_its_fix(admit, record, tmp_path):
    (tmp_path / "state/admit/ledger.db").write_bytes(b"not a database" * 1_000)
    code, _, err = admit("report")
    assert code == 2 and "admit ledger recover" in err and not os.path.exists("admit-report.html")
