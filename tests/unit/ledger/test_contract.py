"""What holds for every ledger and every store of outputs, on disk or in memory."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.core.events import content_hash
from admit.errors import OutputNotFound
from admit.ledger import open_ledger, open_outputs
from admit.ledger.memory import MemoryLedger, MemoryOutputs
from admit.ledger.port import (
    DecisionRow,
    Ledger,
    OutputMeta,
    OutputRow,
    OutputStore,
    Record,
    ToolUse,
)
from admit.ledger.record import new_id
from admit.ledger.schema import fields_of, to_values

from .samples import event, recall, record

LEDGERS = {"sqlite": open_ledger, "memory": MemoryLedger}


@pytest.fixture(params=LEDGERS)
def ledger(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    opened = LEDGERS[request.param]()
    yield opened
    opened.close()


@pytest.fixture
def store(ledger: Ledger) -> OutputStore:
    return MemoryOutputs(ledger) if isinstance(ledger, MemoryLedger) else open_outputs(ledger=ledger)


def kept(ledger: Ledger, rec: Record):
    ledger.append(rec)
    assert ledger.flush(5_000).committed == 1
    return next(ledger.query(limit=1))


def test_both_follow_the_protocols(ledger, store):
    assert isinstance(ledger, Ledger)
    assert isinstance(store, OutputStore)


def test_a_record_comes_back_as_it_was_written(ledger):
    rec = record("d1", turn=3, size_host=9_000, extra={"how": "judged", "gaps": [[1, 2]]})
    view = kept(ledger, rec)
    written = view.decision._replace(writer="", seq=0, content_hash="")
    assert written == rec.decision
    assert view.candidates == rec.candidates
    assert view.verdicts == rec.verdicts
    assert view.calls == rec.calls
    assert [one.body for one in view.events] == [dict(rec.events[0].body)]


def test_unknown_stays_unknown_and_never_becomes_0(ledger):
    view = kept(ledger, record("d1"))
    assert view.decision.size_host is None and view.decision.judge_ms is None
    assert view.calls[0].cost_usd is None and view.calls[0].input_tokens is None


def test_a_decision_carries_the_hash_of_its_own_row(ledger):
    row = kept(ledger, record("d1")).decision
    fields = fields_of("decisions", to_values("decisions", row))
    assert row.content_hash == content_hash(fields)
    assert row.content_hash != content_hash({**fields, "n_admitted": 1})


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    elapsed=st.none() | st.integers(-(2**70), 2**70) | st.floats(),
    turn=st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(),
    reason=st.none() | st.text(max_size=5) | st.integers() | st.floats(),
    extra=st.dictionaries(st.text(max_size=3), st.none() | st.floats() | st.integers() | st.text(max_size=3)),
)
def test_whatever_a_door_writes_hashes_alike_before_and_after(ledger, elapsed, turn, reason, extra):
    head = {"elapsed_ms": elapsed, "turn": turn, "reason": reason, "extra": extra}
    ledger.append(
        record(new_id())._replace(
            decision=record(new_id(), **head).decision, candidates=(), verdicts=(), calls=()
        )
    )
    assert ledger.flush(10_000).committed == 1
    row = next(ledger.query(limit=1)).decision
    assert row.content_hash == content_hash(fields_of("decisions", to_values("decisions", row)))
    changed = row.truncated.get("fields", ())
    assert row.turn == (None if "turn" in changed else turn)
    assert row.elapsed_ms == (None if elapsed is None or "elapsed_ms" in changed else float(elapsed))


def test_numbers_run_from_1_without_holes_and_rows_of_outputs_take_none(ledger):
    for k in range(1, 4):
        ledger.append(record(f"d{k}"))
        ledger.append(Record(outputs=(OutputRow(f"o_{k}", f"{k}", 1),)))
    ledger.append(Record(events=(event("alone"),)))
    ledger.append(record("d4"))
    ledger.flush(5_000)
    assert [view.decision.seq for view in ledger.query()] == [5, 3, 2, 1]
    assert len({view.decision.writer for view in ledger.query()}) == 1


def test_the_same_record_twice_is_there_once_and_is_no_gap(ledger):
    ledger.append(record("d1"))
    ledger.append(record("d1"))
    ledger.append(record("d2"))
    ledger.flush(5_000)
    assert [view.decision.decision_id for view in ledger.query()] == ["d2", "d1"]
    assert ledger.counters().gaps == {}


def test_later_verdicts_of_another_source_join_their_decision(ledger):
    ledger.append(record("d1"))
    again = tuple(one._replace(source="rejudge:x", verdict="blocked") for one in record("d1").verdicts)
    ledger.append(Record(verdicts=again))
    ledger.flush(5_000)
    view = next(ledger.query(decision_id="d1"))
    assert [(one.ord, one.source) for one in view.verdicts if one.ord == 1] == [(1, "live"), (1, "rejudge:x")]


def test_a_query_narrows_by_every_column_it_names(ledger):
    ledger.append(record("d1", session="s1", ts_ms=10, reason="none_passed", output_id="o_1"))
    ledger.append(record("d2", session="s2", ts_ms=20, door="tools"))
    ledger.append(record("d3", session="s1", ts_ms=30))
    ledger.flush(5_000)

    def found(**wanted):
        return [view.decision.decision_id for view in ledger.query(**wanted)]

    assert found() == ["d3", "d2", "d1"]
    assert found(session="s1") == ["d3", "d1"]
    assert found(door="tools") == ["d2"]
    assert found(since=20) == ["d3", "d2"]
    assert found(reason="none_passed") == found(output_id="o_1") == found(decision_id="d1") == ["d1"]
    assert found(limit=2) == ["d3", "d2"]
    assert found(session="s3") == []


def test_without_parts_a_view_is_the_decision_alone(ledger):
    kept(ledger, record("d1"))
    view = next(ledger.query(parts=False))
    assert view.decision.decision_id == "d1" and view.candidates == ()


def test_the_name_of_a_session_and_of_a_project_are_hashed_before_they_are_kept(ledger):
    rec = record("d1", session="secret-session", project="/home/me/private/place")
    rec = rec._replace(events=(event("e1", session="secret-session"),))
    view = kept(ledger, rec)
    (hashed,) = ledger.keyed(["secret-session"])
    assert view.decision.session == view.events[0].session == hashed
    assert view.decision.project == ledger.keyed(["/home/me/private/place"])[0] + " place"
    assert next(ledger.query(session="secret-session")).decision.decision_id == "d1"


def test_keyed_hashes_are_equal_for_equal_texts_and_tell_nothing_else(ledger):
    one, other, again = ledger.keyed(["a", "b", "a"])
    assert one == again != other
    assert one.startswith("hmac:") and len(one) == 5 + 32
    assert ledger.keyed(["\ud800"])[0] not in ledger.keyed(["\ufffd", "?"])


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", object(), {1: 2}, 10**40, b"\xff"])
def test_what_json_cannot_hold_is_replaced_before_it_is_hashed_and_named(ledger, value):
    view = kept(ledger, record("d1", extra={"odd": value, "kept": 1}))
    assert view.decision.truncated["fields"] == ["extra.odd"]
    assert view.decision.extra["kept"] == 1
    fields = fields_of("decisions", to_values("decisions", view.decision))
    assert view.decision.content_hash == content_hash(fields)


def test_an_event_with_nan_a_lone_surrogate_and_10_mib_names_each_in_its_own_body(ledger):
    body = {"fault": "parser", "name": "x" * 10 * 1024 * 1024, "id": "\ud800", "n": math.nan}
    rec = record("d1")._replace(events=(event("e1")._replace(body=body),))
    assert kept(ledger, rec).events[0].body == {
        "fault": "parser",
        "name": "x" * 4_096,
        "id": "\ufffd",
        "n": None,
        "truncated": ["body.id", "body.n", "body.name"],
    }


def test_a_hash_is_never_cut_or_replaced(ledger):
    pins = {"sha": "sha256:" + "a" * 64, "hmac": "hmac:" + "b" * 32}
    view = kept(ledger, record("d1", extra={**pins, "noise": "x" * 100_000}, task_hash=pins["hmac"]))
    assert {name: view.decision.extra[name] for name in pins} == pins
    assert view.decision.task_hash == pins["hmac"]


def test_own_fields_over_16_kib_lose_the_largest_first(ledger):
    extra = {"small": 1, **{f"wide{k}": "x" * 4_000 for k in range(5)}, "wider": ["y" * 3_000] * 2}
    view = kept(ledger, record("d1", extra=extra))
    assert view.decision.extra["small"] == 1
    assert "wider" not in view.decision.extra
    assert "extra.wider" in view.decision.truncated["fields"]


def test_above_2000_candidates_the_rest_is_a_count(ledger):
    many = record("d1", n=2_100, n_within=8)
    many = many._replace(candidates=tuple(one._replace(span=None) for one in many.candidates))
    view = kept(ledger, many)
    assert [one.ord for one in view.candidates] == list(range(1, 2_001))
    assert view.decision.n_gathered == 2_100
    assert view.decision.truncated == {"candidates": 100}
    assert {one.ord for one in view.verdicts} == {one.ord for one in view.candidates}


def test_over_256_kib_replies_go_first_then_spans_then_candidates_past_the_cap(ledger):
    big = record("d1", n=1_500, n_within=8, n_overflow=1_492)
    big = big._replace(
        calls=(big.calls[0]._replace(reply=b"r" * 60_000),),
        candidates=tuple(one._replace(candidate_id=f"{one.ord:0200}") for one in big.candidates),
    )
    view = kept(ledger, big)
    assert (
        view.decision.truncated["reply"] == 1 and view.calls[0].reply is None and view.calls[0].reply_dropped
    )
    assert view.decision.truncated["span"] == 1_500
    assert len(view.candidates) == 8 + 64
    assert view.decision.truncated["candidates"] == 1_500 - 72

    little = record("d2")
    assert kept(ledger, little).calls[0].reply == b"\x00answer"


def test_a_record_that_stays_too_large_is_dropped_and_counted(ledger):
    wide = tuple(event(f"e{k}")._replace(body={"name": f"{k:04000}"}) for k in range(100))
    ledger.append(Record(events=wide))
    assert ledger.flush(5_000).dropped == 1
    assert ledger.counters().dropped == {"too_large": 1}


def test_texts_are_kept_only_where_the_user_opted_in(ledger):
    from admit.ledger.port import TextRow

    text = TextRow("hmac:" + "0" * 32, "task", "the private words")
    view = kept(ledger, record("d1")._replace(texts=(text,)))
    assert "private words" not in repr(view)
    if isinstance(ledger, MemoryLedger):
        assert not any(rec.texts for rec in ledger.records)


def test_the_history_of_tools_is_the_newest_30_of_each_route_newest_first(ledger):
    for k in range(35):
        ledger.tool_use(ToolUse(f"a{k}", k, "alpha", True, ("file", "open")))
    ledger.tool_use(ToolUse("b0", 0, "beta", False))
    ledger.flush(5_000)
    uses = list(ledger.tool_uses())
    assert [use.use_id for use in uses] == [f"a{k}" for k in range(34, 4, -1)] + ["b0"]
    assert uses[0].stems == tuple(sorted(ledger.keyed(["file", "open"])))


def test_events_of_a_prefix_come_in_the_order_in_which_they_were_written(ledger):
    for k, name in enumerate(("lab.freeze", "labour.x", "lab.run", "host.init", "lab.select")):
        ledger.append(Record(events=(event(f"e{9 - k}")._replace(type=name),)))
    ledger.flush(5_000)
    assert [one.type for one in ledger.events("lab.")] == ["lab.freeze", "lab.run", "lab.select"]


def test_the_first_recall_of_an_output_is_told_apart_from_the_later_ones(ledger, store):
    ref = store.put(b"x" * 100, OutputMeta())
    ledger.append(record("d1", output_id=ref.id))
    for k in range(3):
        store.recalled(recall(f"r{k}", ref.id))
    ledger.flush(5_000)
    view = next(ledger.query(output_id=ref.id))
    assert [(one.recall_id, one.first) for one in view.recalls] == [
        ("r0", True),
        ("r1", False),
        ("r2", False),
    ]
    assert view.output is not None and view.output.sha256 == ref.sha256


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=5_000), as_stream=st.booleans())
def test_what_is_stored_is_given_back_byte_for_byte(store, data, as_stream):
    ref = store.put(io.BytesIO(data) if as_stream else data, OutputMeta())
    assert store.open(ref.id).read() == data
    assert ref.sha256 == hashlib.sha256(data).hexdigest()
    assert ref.id == "o_" + ref.sha256[:12]
    assert (ref.bytes, ref.complete) == (len(data), True)
    assert ref.lines == data.count(b"\n") + (not data.endswith(b"\n") if data else 0)


def test_an_unknown_id_was_never_stored(store):
    for odd in ("o_000000000000", "", "o_", "../../etc/passwd", "o_../../../etc/passwd", "o_ABCDEF012345"):
        with pytest.raises(OutputNotFound) as missing:
            store.open(odd)
        assert missing.value.why == "never stored"
        assert store.find(odd) is None


def test_the_newest_output_is_that_of_the_session_or_of_all(store):
    assert store.newest() is None
    first = store.put(b"first", OutputMeta(session="s1"))
    second = store.put(b"second", OutputMeta(session="s2"))
    assert (store.newest("s1"), store.newest("s3")) == (first, None) or store.newest("s1").id == first.id
    assert store.newest("s3") is None
    assert store.newest("s2").id == second.id


def test_an_expired_output_says_so_and_is_known_again_when_it_is_stored_again(ledger, store):
    ref = store.put(b"some output", OutputMeta(tool="bash"))
    ledger.flush(5_000)
    later = ref.stored_ms + 15 * 86_400_000
    assert store.prune(later).removed == 1
    ledger.flush(5_000)
    with pytest.raises(OutputNotFound) as missing:
        store.open(ref.id)
    assert missing.value.why == "expired"
    row = ledger.output(ref.id)
    assert (row.gone_reason, row.gone_ms, row.tool) == ("expired", later, "bash")
    store.put(b"some output", OutputMeta())
    assert store.open(ref.id).read() == b"some output"


def test_a_decision_row_alone_has_defaults_for_all_it_does_not_know(ledger):
    row = kept(ledger, Record(DecisionRow("d1"))).decision
    assert (row.status, row.mode, row.delivered, row.cap) == ("idle", "enforce", "unknown", None)
