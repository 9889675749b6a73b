"""`admit status`: the counts of each door, and what must be known beside them."""

from __future__ import annotations

import json
import time

import pytest

from admit.cli import frame
from admit.cli.status import short
from admit.config import layers
from admit.core.events import Event
from admit.ledger.port import CallRow, DecisionRow, Recall, Record
from admit.ledger.sqlite import SqliteLedger

NOW = int(time.time() * 1000)
DAY = 86_400_000


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    for variable, folder in (("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
    for variable in ("ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def admit(capsys):
    def run(*args: str) -> tuple[int, str, str]:
        code = frame.run(args)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def write(*records: Record) -> None:
    ledger = SqliteLedger()
    for record in records:
        ledger.append(record)
    ledger.close()


def decision(number: int, door: str = "outputs", **fields) -> Record:
    return Record(DecisionRow(f"{number:032x}", ts_ms=fields.pop("ts_ms", NOW), door=door, **fields))


HOW = {
    how: {"mode": "enforce", "extra": {"how": how}}
    for how in ("judged", "local", "kept", "duplicate", "exempt")
}


def some_decisions() -> tuple[Record, ...]:
    judged = {"status": "judged", "n_within": 12, "n_admitted": 5, "n_blocked": 6, "n_unjudged": 1}
    return (
        decision(1, size_in=121_437, size_out=5_870, output_id="o_1", **HOW["judged"], **judged),
        decision(
            2, size_in=50_000, size_out=6_000, size_host=30_000, output_id="o_2", status="off", **HOW["local"]
        ),
        decision(
            3,
            size_in=9_000,
            size_out=9_000,
            output_id="o_3",
            status="fallback",
            reason="deadline",
            profile="jev",
            n_within=2,
            n_unjudged=2,
            **HOW["local"],
        ),
        decision(6, size_in=500, size_out=500, output_id="o_6", status="off", **HOW["kept"]),
        decision(7, size_in=9_000, size_out=90, output_id="o_7", status="off", **HOW["duplicate"]),
        decision(8, size_in=90_000, size_out=90_000, output_id="o_8", status="off", **HOW["exempt"]),
        decision(9, size_in=500, size_out=500, output_id="o_1", status="off", **HOW["kept"]),
        decision(4, "tools", size_in=4_000, size_out=900, **judged),
        decision(5, "tools", ts_ms=NOW - 30 * DAY, size_in=4_000, size_out=900, **judged),
        Record(recalls=(Recall("r1", "o_2", NOW, "whole", "cli", 50_000),)),
        Record(recalls=(Recall("r2", "o_2", NOW, "range", "cli", 100),)),
    )


def test_without_a_record_nothing_is_counted_and_nothing_is_made(admit, tmp_path):
    code, out, _ = admit("status")
    assert code == 0 and out == "No door has decided anything in this time.\n"
    assert not (tmp_path / "state").exists()


def test_one_row_a_door_and_for_outputs_one_more(admit):
    write(*some_decisions())
    code, out, _ = admit("status")
    assert code == 0
    table, said = out.split("A judge's word was not used:")
    head, *rows = [" ".join(line.split()) for line in table.splitlines()]
    assert said.splitlines()[1:] == [
        "  outputs, jev: 1 × deadline. The answer did not come in time.",
        "      Raise judge.profiles.jev.outputs.timeout_ms, or ask about less: lower its max_candidates.",
    ]
    assert head == (
        "door decisions asked admitted blocked unjudged fallbacks kept of offered saved went back"
    )
    assert rows == [
        "outputs, excerpt 2 2 0 0 2 1 15.0k of 59.0k characters 24.0k characters 1",
        "outputs, filtered 1 12 5 6 1 0 5,870 of 121.4k characters 115.6k characters 0",
        "outputs, whole 4 0 0 0 0 0 91.1k of 100.0k characters 8,910 characters 0",
        "tools 1 12 5 6 1 0 900 of 4,000 tokens 3,100 tokens -",
    ]


def test_each_reason_is_counted_apart_by_door_and_profile_and_shadow_is_no_fallback(admit):
    fell = {"status": "fallback", "profile": "jev"}
    write(
        *(decision(n, reason="no_consent", **HOW["local"], **fell) for n in (1, 2)),
        decision(3, reason="no_key", **HOW["local"], **fell),
        decision(4, "guidance", reason="no_key", **fell),
        decision(5, reason="no_task", status="fallback", **HOW["local"]),
        decision(
            6,
            mode="shadow",
            status="judged",
            profile="own",
            reason="shadow:alias",
            size_in=9_000,
            size_out=900,
            extra={"how": "local", "changed": True, "shadow": "alias"},
        ),
    )
    value = json.loads(admit("status", "--json")[1])
    assert [(row["door"], row["profile"], row["reason"], row["decisions"]) for row in value["reasons"]] == [
        ("guidance", "jev", "no_key", 1),
        ("outputs", None, "no_task", 1),
        ("outputs", "jev", "no_consent", 2),
        ("outputs", "jev", "no_key", 1),
        ("outputs", "own", "shadow:alias", 1),
    ]
    assert all(row["sentence"] and row["fix"] for row in value["reasons"])
    [outputs] = [row for row in value["doors"] if row["door"] == "outputs"]
    # The excerpt was shown in the judge's shadow too.
    assert (outputs["kind"], outputs["decisions"], outputs["fallbacks"]) == ("excerpt", 5, 4)
    assert outputs["saved"] == 8_100


def test_requests_and_their_known_and_unknown_cost_are_told_apart_by_judge(admit):
    calls = (
        CallRow("a", f"{1:032x}", "https://a:443", "m", questions=20, sent="yes", cost_usd=0.0012),
        CallRow("b", f"{1:032x}", "https://a:443", "m", questions=20, sent="yes"),
        CallRow("c", f"{1:032x}", "https://a:443", "m", questions=20, sent="no", reason="busy"),
    )
    row = decision(1, status="judged", profile="jev", **HOW["judged"])
    write(row._replace(calls=calls))
    out = admit("status")[1]
    assert "Judge jev: 2 requests, 40 questions, $0.0012 known, 1 request of unknown cost.\n" in out
    value = json.loads(admit("status", "--json")[1])
    [judge] = value["judges"]
    assert (judge["calls"], judge["cost_usd"], judge["cost_unknown"]) == (2, 0.0012, 1)
    assert [(one["calls"], one["cost_unknown"]) for one in value["doors"]] == [(2, 1)]


def test_since_chooses_the_time(admit):
    write(*some_decisions())
    rows = json.loads(admit("status", "--since", "60d", "--json")[1])["doors"]
    assert [(row["door"], row["decisions"]) for row in rows] == [
        ("outputs", 2),
        ("outputs", 1),
        ("outputs", 4),
        ("tools", 2),
    ]
    assert json.loads(admit("status", "--since", "2999-01-01", "--json")[1])["doors"] == []


@pytest.mark.parametrize("word", ["yesterday", "", "d", "-1d", "1y", "2026-13-01", "١d", "99999999999d"])
def test_a_time_that_is_none_shows_every_form(word, admit):
    code, _, err = admit("status", "--since", word)
    assert code == 2 and "write 7d, 12h, 30m or 2026-01-31" in err


def test_drops_losses_and_a_pause_stand_below(admit):
    ledger = SqliteLedger()
    ledger.append(Record(events=(Event("e1", "ledger.dropped", NOW, {"busy": 2, "full": 1}),)))
    ledger.append(Record(events=(Event("e2", "ledger.spool_dropped", NOW, {"n": 4}),)))
    [next(ledger._numbers) for _ in range(3)]  # three records of this process die in its queue
    ledger.append(Record(events=(Event("e3", "ledger.pruned", NOW, {"rows": 1, "bytes": 1}),)))
    ledger.close()
    admit("pause")
    code, out, _ = admit("status")
    assert code == 0
    assert "Not recorded: 7 records (2 busy, 1 full, 4 spool)." in out
    assert "Lost: 3 records of processes that were killed" in out
    assert "Paused by admit pause" in out
    answer = json.loads(admit("status", "--json")[1])
    assert answer["dropped"] == {"busy": 2, "full": 1, "spool": 4}
    assert sum(answer["gaps"].values()) == 3 and answer["paused"]["by"] == "admit pause"


def test_a_damaged_record_is_a_finding_with_its_fix(admit, tmp_path):
    write(*some_decisions())
    (tmp_path / "state/admit/ledger.db").write_bytes(b"not a database" * 1000)
    code, _, err = admit("status")
    assert code == 2 and "admit ledger recover" in err


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (9_999, "9,999"), (10_000, "10.0k"), (1_500_000, "1.5M"), (2 * 10**9, "2.0G")],
)
def test_a_count_stays_short(count, text):
    assert short(count) == text


@pytest.mark.parametrize(("how", "kind"), [("judged", "filtered"), ("local", "excerpt"), ("kept", "whole")])
def test_a_recall_counts_for_what_was_done_to_the_output_most(how, kind, admit):
    kept = decision(1, output_id="o_1", **HOW["kept"])
    again = Record(recalls=(Recall("r1", "o_1", NOW, "whole", "cli", 10),))
    write(kept, decision(2, output_id="o_1", **HOW[how]), decision(3, output_id="o_1", **HOW["kept"]), again)
    rows = json.loads(admit("status", "--json")[1])["doors"]
    assert [row["kind"] for row in rows if row["recalled"]] == [kind]


def test_what_was_only_computed_in_shadow_mode_was_shown_whole(admit):
    write(decision(1, mode="shadow", extra={"how": "judged"}))
    assert [row["kind"] for row in json.loads(admit("status", "--json")[1])["doors"]] == ["whole"]


def test_a_command_that_quotes_the_field_changes_no_count(admit):
    write(decision(1, mode="enforce", extra={"command": 'echo {"how":"judged"}', "how": "local"}))
    assert [row["kind"] for row in json.loads(admit("status", "--json")[1])["doors"]] == ["excerpt"]
