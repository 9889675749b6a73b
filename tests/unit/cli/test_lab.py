"""`admit lab`: the steps of an experiment by the command line, their exit codes and what they say."""

from __future__ import annotations

import json
import re

import pytest
from tests.unit.lab.samples import rows, write_plan, write_surface
from tests.unit.lab.test_replay import recorded

from admit.cli import frame
from admit.config.layers import load
from admit.lab.replay import SET_MATTERS
from admit.ledger import open_ledger
from admit.ledger.port import Record


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "100")
    work = tmp_path / "work"
    write_surface(work / "dev", rows())
    write_surface(work / "sealed", rows("kindly"), "sealed")
    write_plan(work)
    monkeypatch.chdir(work)
    return work


@pytest.fixture
def admit(capsys):
    def run(*args):
        code = frame.run(["lab", *args])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_an_experiment_goes_from_a_plan_to_a_refused_promotion(folder, admit):
    assert admit("check", "plan.toml") == (0, "plan.toml can be frozen.\n", "")
    code, out, _ = admit("freeze", "plan.toml")
    assert code == 0 and out.startswith("Frozen before scoring: sha256:")
    code, out, _ = admit("run", "plan.toml")
    assert code == 0 and "small: dev, 24 cases (synthetic, development figures)" in out
    assert "outside the family" in out and "Repeat arm: 0 of 216 changed" in out
    code, out, _ = admit("confirm", "plan.toml")
    assert code == 2
    code, out, _ = admit("select", "plan.toml")
    assert code == 0 and out.startswith("Chosen: ")
    code, out, _ = admit("confirm", "plan.toml")
    assert code == 0 and out.endswith(" passed.\n")
    code, _, err = admit("confirm", "plan.toml")
    assert code == 2 and "opened before, by the plan small" in err
    code, out, _ = admit("promote", "plan.toml")
    assert code == 1 and "not shown" in out and "Nothing was written" in out


def test_a_promotion_whose_gates_hold_writes_the_users_file(folder, admit):
    for step in ("freeze", "run", "select", "confirm"):
        assert admit(step, "plan.toml")[0] == 0
    policy = json.loads(admit("select", "plan.toml", "--json")[1])["policy"]
    with open("runs.jsonl", "w") as file:
        for k in range(1200):
            for name in ("FIXED-5", policy):
                row = {"case": f"c{k}", "policy": name, "passed": k != 7, "unauthorised_destructive": 0}
                file.write(json.dumps(row) + "\n")
    assert load().values["tools.depth"] == "budget"
    code, out, _ = admit("promote", "plan.toml", "--outcomes", "runs.jsonl")
    assert code == 0 and f'Written to your file: tools.depth = "{policy.lower()}".' in out
    assert load().values["tools.depth"] == policy.lower()


def test_nothing_eligible_ends_with_1_and_a_failed_check_with_2(folder, admit):
    write_plan(folder, mean_exposed_below="0.5")
    assert admit("freeze", "plan.toml")[0] == admit("run", "plan.toml")[0] == 0
    code, out, _ = admit("select", "plan.toml")
    assert code == 1 and "Nothing is eligible" in out
    write_plan(folder, "other", seed='"x"', waiver='""')
    code, out, _ = admit("check", "other.toml")
    assert code == 2 and out.startswith("seed: takes a whole number\n") and "1 finding." in out
    code, _, err = admit("freeze", "other.toml")
    assert code == 2 and "seed" in err


def test_a_template_is_written_once_and_says_what_it_lacks(folder, admit):
    code, out, _ = admit("new", "--door", "tools", "depth.toml")
    assert code == 0 and "admit lab check depth.toml" in out
    code, _, err = admit("new", "depth.toml")
    assert code == 2 and "is there already" in err
    code, _, err = admit("check", "depth.toml")
    assert code == 2 and "surfaces.dev.path: is empty" in err and "--path dev=DIR" in err
    assert admit("new", "--template", "none", "x.toml")[0] == 2


def test_a_sealed_surface_is_not_run(folder, admit):
    admit("freeze", "plan.toml")
    code, _, err = admit("run", "plan.toml", "--surface", "confirm")
    assert code == 2 and "sealed" in err


def test_a_page_opens_without_anything_from_outside_and_says_what_kind_of_figures_it_shows(folder, admit):
    for step in ("freeze", "run"):
        admit(step, "plan.toml")
    code, out, _ = admit("report", "plan.toml")
    page = (folder / "plan.html").read_text()
    assert code == 0 and out == "plan.html written\n"
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page and "src=" not in page
    captions = re.findall(r"<(?:fig)?caption>(.*?)</(?:fig)?caption>", page)
    assert len(captions) == 10 and all("(synthetic, development)" in one for one in captions)
    assert "the oracle" in page and "Waived" in page and "Repeat arm" in page
    again = (folder / "plan.html").read_bytes()
    admit("report", "plan.toml")
    assert (folder / "plan.html").read_bytes() == again


def test_json_holds_figures_with_their_intervals_and_populations(folder, admit):
    admit("freeze", "plan.toml")
    found = json.loads(admit("run", "plan.toml", "--json")[1])
    assert set(found["estimates"]) == {"12", "36"} and set(found["times"]) == {"12", "36"}
    assert set(found["estimates"]["12"]["budget"]["recall"]) == {"value", "low", "high", "n", "unit"}
    assert found["populations"]["recall"] == "needed"
    assert json.loads(admit("report", "plan.toml", "--json")[1]) == {
        key: value for key, value in found.items() if key != "times"
    }


def test_a_replay_reads_the_record_and_asks_nobody(folder, admit):
    views, _ = recorded([0.9, 0.5, 0.2, 0.1])
    ledger = open_ledger(load().values)
    for view in views:
        ledger.append(Record(view.decision, view.candidates, view.verdicts))
    ledger.close()
    code, out, _ = admit("replay", "--door", "guidance", "--since", "7d")
    assert code == 0 and "1 decision of guidance, 1 reproduced." in out
    code, out, _ = admit("replay", "--door", "guidance", "--set", "threshold=0.95")
    assert code == 0 and "1 changed, 0 unknown." in out and SET_MATTERS in out
    one = admit("replay", "--door", "guidance", "--set", "max_candidates=2", "--json")
    assert one == admit("replay", "--door", "guidance", "--set", "max_candidates=2", "--json")
    assert json.loads(one[1])["totals"]["decisions"] == 1
    assert admit("replay", "--door", "guidance", "--set", "x=1")[0] == 2
