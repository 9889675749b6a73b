"""What the ledger keeps, row by row.

A row type has the columns of its table, in order (a trailing underscore is not part of the column's name).
Times ending in ``ts_ms`` or ``_ms`` of storage are UTC epoch milliseconds, for display only; durations are
monotonic milliseconds; None is unknown, never 0. Ids are made by the caller, so that a repeat is ignored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from admit.core.events import NO_FIELDS, Event

SCHEMA_VERSION = 2

Delivered = Literal["yes", "no", "unknown"]
RecallClass = Literal["whole", "range", "search"]
Via = Literal["tool", "cli", "path"]


def new_id() -> str:
    """128 random bits as hex."""
    return os.urandom(16).hex()


class DecisionRow(NamedTuple):
    """One decision of one door.

    Attributes:
        decision_id: 128 random bits as hex.
        door: guidance, tools, outputs or evidence.
        session: The host's session; what is not already ``hmac:`` is replaced by its keyed hash.
        project: A path is replaced by its keyed hash, and its last part where names may be stored.
        unit, cap, threshold, deadline_ms: What limited the request; `unit` is that of `cap`.
        n_within, n_overflow: Candidates under and over the cap; exempt ones are in neither.
        size_in, size_out: What was offered and what was shown, in the door's unit of size.
        size_host: What the host would have shown without Admit; None is unknown.
        delivered: From proof, never from having been written out.
        extra: The door's own fields, at most 16 KiB as JSON.
        truncated: What the ledger left out or replaced: counts by name, and ``fields``.
        writer, seq, content_hash: Set by the ledger.
    """

    decision_id: str
    writer: str = ""
    seq: int = 0
    ts_ms: int = 0
    schema: int = SCHEMA_VERSION
    admit_version: str = ""
    door: str = ""
    host: str | None = None
    host_event: str | None = None
    session: str | None = None
    agent: str | None = None
    turn: int | None = None
    project: str | None = None
    profile: str | None = None
    profile_hash: str | None = None
    policy_hash: str | None = None
    gather_rev: str | None = None
    mode: Literal["off", "shadow", "enforce"] = "enforce"
    status: Literal["idle", "off", "judged", "partial", "fallback", "shed"] = "idle"
    reason: str | None = None
    unit: Literal["count", "chars", "tokens", "artifacts"] = "count"
    cap: int | None = None
    threshold: float | None = None
    deadline_ms: int | None = None
    n_gathered: int = 0
    n_within: int = 0
    n_overflow: int = 0
    n_admitted: int = 0
    n_blocked: int = 0
    n_unjudged: int = 0
    n_exempt: int = 0
    size_in: int | None = None
    size_out: int | None = None
    size_host: int | None = None
    elapsed_ms: float | None = None
    judge_ms: float | None = None
    task_hash: str | None = None
    output_id: str | None = None
    delivered: Delivered = "unknown"
    extra: Mapping[str, Any] = NO_FIELDS
    truncated: Mapping[str, Any] = NO_FIELDS
    content_hash: str = ""


class CandidateRow(NamedTuple):
    """One candidate, at its place in admission order.

    Attributes:
        ord: Place in admission order, from 1.
        text_hash: ``hmac:`` of its text, or None.
        rank_tier: First element of the rank, as a whole number, where the door has tiers.
        rank_key: The whole rank, largest first in the order.
        parent_ord: Place of its parent, or None for a root.
        size: In the door's unit of size.
        within: Whether it was under the cap.
        span: Where it comes from, such as a range of lines.
    """

    decision_id: str
    ord: int
    candidate_id: str
    kind: str | None = None
    text_hash: str | None = None
    rank_tier: int | None = None
    rank_key: tuple[float, ...] | None = None
    score: float | None = None
    parent_ord: int | None = None
    size: int | None = None
    within: bool = True
    span: Any = None


class VerdictRow(NamedTuple):
    """What was ruled on one candidate.

    Attributes:
        source: ``live``, ``shadow``, ``overflow_sample`` or ``rejudge:<id>``.
        would: What enforcing would have ruled; shadow only.
        kind: The kind of question: noul, score or choice.
        p: The judge's probabilities as answered; empty where there is no answer.
        ancestor_ord: Place of the blocked ancestor that decided.
    """

    decision_id: str
    ord: int
    source: str
    verdict: Literal["admitted", "blocked", "unjudged", "exempt"]
    would: Literal["admitted", "blocked", "unjudged", "exempt"] | None = None
    reason: str | None = None
    kind: Literal["noul", "score", "choice"] | None = None
    p: tuple[float, ...] = ()
    expectation: float | None = None
    threshold: float | None = None
    ancestor_ord: int | None = None
    call_id: str | None = None


class CallRow(NamedTuple):
    """One transmission to a judge: the fields of `core.question.Call`, and what replay needs.

    Attributes:
        cost_usd: None is unknown.
        request_hash: ``sha256:`` of the bytes sent.
        reply: zlib-compressed answer, at most 64 KiB; None once dropped.
        reply_dropped: An answer existed and is not kept.
    """

    call_id: str
    decision_id: str
    destination: str
    model_asked: str
    model_answered: str | None = None
    questions: int = 0
    request_bytes: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_source: Literal["provider", "price_table", "free", "unknown"] = "unknown"
    sent: Literal["no", "yes", "unknown"] = "no"
    connect_ms: float | None = None
    first_byte_ms: float | None = None
    total_ms: float = 0.0
    slot_wait_ms: float = 0.0
    outcome: str = ""
    reason: str | None = None
    request_hash: str | None = None
    reply: bytes | None = None
    reply_dropped: bool = False
    masked: tuple[Mapping[str, Any], ...] = ()


class OutputRow(NamedTuple):
    """What is known of one stored output, also after it is gone.

    Attributes:
        output_id: ``o_`` and the first 12 hex digits of the hash, more on collision.
        sha256: 64 hex digits, of the bytes that are kept.
        bytes: Of the whole output, also where only its two ends are kept.
        complete: Whether all of it is kept.
        gone_reason: ``expired`` or ``deleted``.
    """

    output_id: str
    sha256: str
    bytes: int
    lines: int | None = None
    stored_ms: int = 0
    last_used_ms: int = 0
    tool: str | None = None
    session: str | None = None
    exit_code: int | None = None
    complete: bool = True
    pinned: bool = False
    gone_ms: int | None = None
    gone_reason: str | None = None


class Recall(NamedTuple):
    """The agent, or a person, went back for an output.

    Attributes:
        chars: Characters given back.
        first: Whether it is the first recall of this output; None lets the ledger say.
    """

    recall_id: str
    output_id: str
    ts_ms: int
    class_: RecallClass
    via: Via
    chars: int
    decision_id: str | None = None
    session: str | None = None
    first: bool | None = None


class ToolUse(NamedTuple):
    """One use of a tool route.

    Attributes:
        stems: Distinct stems of the request; what is not ``hmac:`` is hashed, then sorted; at most 64 kept.
    """

    use_id: str
    ts_ms: int
    route_id: str
    ok: bool
    stems: tuple[str, ...] = ()
    decision_id: str | None = None
    session: str | None = None


class TextRow(NamedTuple):
    """A text beside its hash; written only where the user opted in (``ledger.text``).

    Attributes:
        expires_ms: UTC epoch ms; 0 lets the ledger say.
    """

    text_hash: str
    kind: str
    text: str
    expires_ms: int = 0


class Record(NamedTuple):
    """What is written in one transaction or not at all. Must not be changed once it was appended."""

    decision: DecisionRow | None = None
    candidates: tuple[CandidateRow, ...] = ()
    verdicts: tuple[VerdictRow, ...] = ()
    calls: tuple[CallRow, ...] = ()
    events: tuple[Event, ...] = ()
    outputs: tuple[OutputRow, ...] = ()
    recalls: tuple[Recall, ...] = ()
    tool_uses: tuple[ToolUse, ...] = ()
    texts: tuple[TextRow, ...] = ()


class DecisionView(NamedTuple):
    """One decision with everything that hangs on it: candidates by place, verdicts by place and source."""

    decision: DecisionRow
    candidates: tuple[CandidateRow, ...] = ()
    verdicts: tuple[VerdictRow, ...] = ()
    calls: tuple[CallRow, ...] = ()
    events: tuple[Event, ...] = ()
    output: OutputRow | None = None
    recalls: tuple[Recall, ...] = ()
