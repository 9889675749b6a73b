"""`admit outputs`: list, prune, estimate; and the help of every command about outputs."""

from __future__ import annotations

import json
import os
import re
import time

import pytest
from command_line import Home, golden, log

from admit.cli import frame


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_the_list_is_newest_first_with_sizes_in_their_units(home):
    first = home.stored(log())
    second = home.stored(log(2_500))
    text = home.admit("outputs", "list").stdout.decode()
    head, *rows = text.splitlines()
    assert re.split(r"  +", head) == ["id", "stored", "tool", "exit code", "bytes", "lines", "note"]
    assert [row.split()[0] for row in rows] == [second, first]
    assert f"{len(log()):,}" in rows[1] and "3,000" in rows[1]
    assert home.admit("outputs", "list", "--limit", "1").stdout.decode().count("\n") == 2


def test_the_list_as_json_holds_the_stored_rows(home):
    name = home.stored(log())
    [row] = json.loads(home.admit("outputs", "list", "--json").stdout)["outputs"]
    assert (row["output_id"], row["bytes"], row["lines"], row["exit_code"]) == (name, len(log()), 3_000, 2)


def test_an_empty_list_says_what_fills_it(home):
    done = home.admit("outputs", "list")
    assert done.returncode == 0 and b"Nothing is stored yet" in done.stdout


def test_the_list_needs_no_record(home):
    name = home.stored(log())
    for file in (home.path / "state" / "admit").glob("ledger.db*"):
        file.unlink()
    assert name in home.admit("outputs", "list").stdout.decode()


def test_prune_removes_what_is_past_its_time_and_a_later_recall_says_so(home):
    name = home.stored(log())
    fresh = home.stored(log(2_500))
    old = time.time() - 15 * 86_400
    [file] = [file for file in home.files if file.name.startswith(name[2:])]
    os.utime(file, (old, old))
    done = home.admit("outputs", "prune")
    assert done.returncode == 0
    assert done.stdout.decode().startswith(f"1 output removed ({len(log()):,} bytes); ")
    gone = home.admit("recall", name)
    assert gone.returncode == 1 and b"expired" in gone.stderr and b"outputs.retain_days" in gone.stderr
    assert home.admit("recall", fresh, "--whole", "--raw").stdout == log(2_500)
    assert "expired" in home.admit("outputs", "list").stdout.decode()


def test_an_estimate_counts_what_a_judge_would_be_asked_and_stores_nothing(home):
    done = home.admit("outputs", "estimate", "--task", "why does it fail", input=log())
    assert done.returncode == 0
    assert re.fullmatch(rb"\d+ requests?, \d+ passages?, [\d,]+ bytes; nothing was sent\n", done.stdout)
    value = json.loads(home.admit("outputs", "estimate", "--task", "why", "--json", input=log()).stdout)
    assert list(value) == ["schema", "requests", "bytes", "chunks"] and value["chunks"] > 0
    assert not home.files


HELP = (
    "output",
    "run",
    "recall",
    "show",
    "why",
    "outputs",
    "outputs list",
    "outputs prune",
    "outputs estimate",
    "outputs report",
)


@pytest.mark.parametrize("command", HELP)
def test_help_reads_as_it_did_and_has_examples(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert frame.run([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    golden(f"help/{'-'.join(['admit', *command.split()])}.txt", text)
    assert "Example" in text and "..." not in text.split("Commands:")[-1]


def test_the_report_sets_filtered_outputs_beside_excerpts(capsys):
    assert frame.run(["outputs", "report", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == ["filtered", "excerpt", "other"]


def test_the_report_reads_recorded_sessions_below_a_folder(capsys, tmp_path):
    assert frame.run(["outputs", "report", "--sessions", str(tmp_path)]) == 0
    assert "went back" in capsys.readouterr().out
