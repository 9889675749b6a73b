"""The page of findings says what the results beside it say, and they come from the plans beside them."""

import importlib.util
import json
from pathlib import Path

import pytest

from admit.core.events import sha256
from admit.lab import canon
from admit.lab.plan import Plan

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "findings"
RESULTS = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".frozen.json"))


def tool():
    spec = importlib.util.spec_from_file_location("findings_page", ROOT / "tools" / "findings_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_made_from_the_results():
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert page == tool().page(tool().results()), "run: python tools/findings_page.py > docs/findings.md"


def test_a_changed_figure_changes_the_page():
    results = tool().results()
    page = tool().page(results)
    results[0]["estimates"]["100"]["FIXED-5"]["recall"]["value"] -= 0.01
    assert tool().page(results) != page


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_names_the_frozen_plan_beside_it(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    frozen = path.with_suffix(".frozen.json").read_bytes()
    assert result["plan"] == sha256(frozen) == path.with_suffix(".frozen.sha256").read_text().strip()
    held = json.loads(frozen)
    assert held["status"] == "frozen_before_scoring" and result["data"]["dev"] == held["data"]["dev"]
    plan = Plan.load(path.with_suffix(".toml"))
    assert canon.dump(dict(plan.values)) == canon.dump(held["plan"])
    assert list(result["estimates"]) == [str(size) for size in plan.shape.sizes]
    assert list(result["families"]) == list(plan.policies)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_every_figure_lies_in_its_interval(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    for policies in result["estimates"].values():
        for values in policies.values():
            for one in values.values():
                if one["low"] is not None and one["value"] is not None:
                    assert one["low"] <= one["value"] <= one["high"]
