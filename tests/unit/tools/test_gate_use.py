"""Uses of tools: what is kept of a request, and what earlier uses do to the order."""

from __future__ import annotations

import pytest
from tests.unit.tools.gates import gate_of, ids, tool

from admit.ledger.memory import MemoryLedger
from admit.tools.history import History

TOOLS = tuple(
    tool(name, "Works on documents") for name in ("doc_alpha", "doc_beta", "doc_gamma", "doc_delta")
)
SECRET = "documents for the merger with Umbrella"


def lane(ledger):
    return History(lambda stem: ledger.keyed((stem,))[0])


def gate_with(ledger):
    return gate_of(*TOOLS, ledger=ledger, history=lane(ledger))


def test_the_third_successful_use_moves_a_tool_up_where_all_have_history():
    gate = gate_with(MemoryLedger())
    first, second, *rest = ids(gate.find("quarterly documents"))
    for request, names in (("weather report", [first]), ("yearly documents", rest)):
        for name in names * 3:
            gate.used(request, f"app/{name}", True)
    for _ in range(2):
        gate.used("quarterly documents", f"app/{second}", True)
    gate.used("quarterly documents", f"app/{second}", False)
    assert ids(gate.find("quarterly documents"))[0] == first
    gate.used("quarterly documents", f"app/{second}", True)
    assert ids(gate.find("quarterly documents"))[0] == second


def test_ten_thousand_uses_of_one_tool_count_as_thirty_and_move_nothing_where_the_rest_has_none():
    plain = gate_of(*TOOLS, tool("sheet_one"), tool("sheet_two"))
    ledger = MemoryLedger()
    history = lane(ledger)
    stems = history.stems("open documents")
    history.load([("app/sheet_two", stems)] * 10_000)
    gate = gate_of(*TOOLS, tool("sheet_one"), tool("sheet_two"), history=history)
    assert ids(gate.find("open documents"))[:4] == ids(plain.find("open documents"))[:4]
    thirty = lane(ledger)
    thirty.load([("app/sheet_two", stems)] * 30)
    assert thirty.scores("open documents") == history.scores("open documents")


def test_a_use_keeps_hashed_stems_and_nothing_of_the_request():
    ledger = MemoryLedger()
    gate = gate_with(ledger)
    found = gate.find(SECRET)
    gate.used(SECRET, "app/doc_alpha", True, decision_id=found.decision_id)
    gate.used(SECRET, "app/doc_beta", False)
    kept = str(ledger.records)
    assert "Umbrella" not in kept and "merger" not in kept and "umbrella" not in kept
    good, bad = ledger.tool_uses()
    assert good.stems and all(stem.startswith("hmac:") for stem in good.stems)
    assert good.decision_id == found.decision_id and (bad.ok, bad.stems) == (False, ())


def test_a_use_says_whether_its_find_showed_the_tool_and_at_what_rank():
    ledger = MemoryLedger()
    gate = gate_with(ledger)
    found = gate.find("yearly documents", depth="fixed-1")
    first, second = gate.rank("yearly documents")[:2]
    uses = [(first.route_id, found.decision_id), (second.route_id, found.decision_id),
            ("app/nowhere", found.decision_id), (first.route_id, None)]  # fmt: skip
    for route_id, decision_id in uses:
        gate.used("yearly documents", route_id, False, decision_id=decision_id)
    bodies = [
        event.body for record in ledger.records for event in record.events if event.type == "tools.used"
    ]
    printed = [gate.catalog.get(one.route_id).fingerprint for one in (first, second)]
    assert [(body["in_shortlist"], body["rank"], body["fingerprint"]) for body in bodies] == [
        (True, 1, printed[0]),
        (False, 2, printed[1]),
        (False, None, None),
        (None, None, printed[0]),
    ]


def test_a_new_gate_over_the_same_record_knows_the_same_uses():
    ledger = MemoryLedger()
    gate = gate_with(ledger)
    for one in TOOLS:
        for _ in range(3):
            gate.used("yearly documents" if one["name"] != "doc_delta" else "quarterly documents",
                      f"app/{one['name']}", True)  # fmt: skip
    history = lane(ledger)
    history.load((use.route_id, use.stems) for use in ledger.tool_uses())
    again = gate_of(*TOOLS, history=history)
    assert ids(again.find("quarterly documents")) == ids(gate.find("quarterly documents"))


def test_a_lost_key_costs_the_lane_and_is_counted():
    def lost(stem):
        raise OSError("no key")

    history = History(lost)
    history.load([("app/doc_alpha", ("hmac:1",))] * 3)
    gate = gate_of(*TOOLS, history=history)
    assert ids(gate.find("documents")) == ids(gate_of(*TOOLS).find("documents"))
    gate.used("documents", "app/doc_alpha", True)
    assert gate.totals["fault:history"] == 2


@pytest.mark.parametrize("broken", ["append", "keyed"])
def test_a_record_that_cannot_be_written_costs_nothing_and_is_counted(broken, monkeypatch):
    ledger = MemoryLedger()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(ledger, broken, fail)
    gate = gate_of(*TOOLS, ledger=ledger)
    assert ids(gate.find("documents")) == ids(gate_of(*TOOLS).find("documents"))
    assert gate.totals["fault:ledger"] == 1


def test_an_order_alone_is_no_decision_and_is_not_recorded():
    ledger = MemoryLedger()
    gate = gate_with(ledger)
    gate.rank("documents")
    gate.explain("documents", "doc_alpha")
    assert ledger.records == []
