"""One find as a row of the record: enough to decide it again, and nothing of the request's text."""

from __future__ import annotations

from tests.unit.tools.gates import gate_of, tool

from admit.judges.scripted import FaultyJudge, ScriptedJudge
from admit.ledger.memory import MemoryLedger

TOOLS = tuple(tool(f"{verb}_issue", f"{verb} an issue") for verb in ("open", "close", "label", "move"))
REQUEST = "close the issue about Umbrella"


def view_of(request=REQUEST, tools=TOOLS, *, judge=None, session=None, **policy):
    """The row that a find leaves, and the find."""
    ledger = MemoryLedger()
    gate = gate_of(*tools, judge=judge, ledger=ledger, policy=policy)
    found = gate.find(request, session=session)
    return next(iter(ledger.query(decision_id=found.decision_id))), found


def test_the_row_has_the_pool_in_order_with_scores_and_where_they_came_from():
    view, found = view_of()
    assert view.candidates[0].candidate_id == "app/close_issue"
    first = view.candidates[0].span
    assert (first["rank"], first["score"]) == (1, found.admitted[0].score)
    assert sum(value for _, _, value in first["components"]) == first["score"]
    assert [row.size for row in view.candidates] == [one.tokens for one in found.admitted]


def test_the_row_says_depth_outcome_tokens_and_what_was_left_out_by_reason():
    view, found = view_of(session="s1")
    row = view.decision
    assert (row.door, row.gather_rev) == ("tools", found.catalog_revision)
    assert row.session is not None and row.session != "s1"
    extra = row.extra
    assert (extra["depth"], extra["family"], extra["outcome"]) == ("budget", "outside", "admitted")
    assert extra["admitted"] == [one.route.id for one in found.admitted]
    assert (extra["schema_tokens"], extra["counter"]) == (found.schema_tokens, "estimate")
    assert row.size_out == found.schema_tokens and extra["excluded"] == {}


def test_no_word_that_only_the_request_has_is_kept():
    view, found = view_of()
    assert "mbrella" not in str(view) and found.query_hash.startswith("hmac:")
    assert view.decision.task_hash == found.query_hash


def test_equal_requests_have_one_hash_under_one_key():
    assert view_of()[1].query_hash == view_of()[1].query_hash != view_of("another")[1].query_hash


def test_a_judged_find_keeps_probabilities_and_what_was_past_the_cap():
    view, _ = view_of(judge=ScriptedJudge({}, default=0.9), depth="judge", max_candidates=2)
    row = view.decision
    assert (row.status, row.n_within, row.n_overflow, row.profile) == ("judged", 2, 2, "scripted")
    assert [verdict.p for verdict in view.verdicts][:2] == [(0.9,), (0.9,)]
    assert [verdict.reason for verdict in view.verdicts] == ["judge", "judge", "overflow", "overflow"]


def test_a_fallback_keeps_its_reason_and_what_was_shown_all_the_same():
    view, found = view_of(judge=FaultyJudge("deadline"), depth="judge")
    assert (view.decision.status, view.decision.reason) == ("fallback", "deadline")
    assert view.decision.extra["admitted"] == [one.route.id for one in found.admitted] != []


def test_the_policy_is_told_apart_by_its_hash():
    one, same, other = view_of()[0], view_of()[0], view_of(max_tools=3)[0]
    assert one.decision.policy_hash == same.decision.policy_hash != other.decision.policy_hash


def test_a_request_that_matches_nothing_is_a_row_too():
    view, found = view_of("weather")
    assert found.outcome == "no_match" and view.decision.extra["outcome"] == "no_match"
    assert view.candidates == ()
