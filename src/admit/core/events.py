"""The event envelope, canonical JSON, content hashes, and the closed list of event types.

Canonical JSON, so that equal values are equal bytes and unequal ones are not:

- UTF-8; keys sorted by code point; separators ``,`` and ``:``; non-ASCII text is not escaped;
- a lone surrogate is written as its ``\\uXXXX`` escape, so two texts never hash alike;
- integers as they are, floats in the shortest form that reads back equal, nothing rounded;
- NaN, infinities, keys that are no text, and duplicate keys are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .event_fields import (
    CALL_FIELDS,
    CALL_WORDS,
    DROP_CAUSES,
    EVIDENCE_FIELDS,
    GUIDANCE_FIELDS,
    HOOK_ODD_CAUSES,
    LAB_FIELDS,
    OUTPUT_FIELDS,
    TOOL_FIELDS,
)
from .reasons import REASON_WORDS, family

EVENT_SCHEMA = 1
_SCALARS = frozenset((str, int, float, bool, type(None)))
NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        event_id: 128 random bits as hex, made by whoever writes the event.
        type: Prefix, a dot, and a name of `EVENTS`.
        ts_ms: UTC epoch milliseconds, for display; never an order.
        door: guidance, tools, outputs, evidence, or None.
        body: The type's own fields; kept as canonical JSON.
        schema: Version of the body's form.
        writer, seq, content_hash: Set by the ledger: the process, its record number from 1, the row's hash.
    """

    event_id: str
    type: str
    ts_ms: int
    body: Mapping[str, Any] = NO_FIELDS
    decision_id: str | None = None
    session: str | None = None
    door: str | None = None
    schema: int = EVENT_SCHEMA
    writer: str = ""
    seq: int = 0
    content_hash: str = ""


class EventType(NamedTuple):
    """What an event of one type may hold.

    Attributes:
        fields: The names its body may have, in order of explanation.
        words: For a field with a closed list of values, that list.
        row: The table that holds it where it is not a row of ``events``.
    """

    fields: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    row: str = "events"


EVENTS: Mapping[str, EventType] = MappingProxyType(
    {
        "admit.capped": EventType(("cap", "unit", "judged", "unjudged", "ids", "more")),
        "admit.fallback": EventType(("reason", "elapsed_ms", "deadline_ms", "candidates")),
        "admit.shadow_diff": EventType(("would_block", "ids")),
        "admit.shed": EventType(("queue", "limit")),
        "admit.delivered": EventType(("bytes", "channel", "proof")),
        "admit.not_delivered": EventType(("cause",)),
        "admit.hidden_unicode": EventType(("where", "classes")),
        "host.hook": EventType(
            ("host", "host_version", "event", "bytes_in", "bytes_out", "elapsed_ms", "outcome")
        ),
        "host.hook_odd": EventType(("event", "cause"), {"cause": HOOK_ODD_CAUSES}),
        "host.daemon_start": EventType(("version", "cause", "uptime_s")),
        "host.daemon_stop": EventType(("version", "cause", "uptime_s")),
        "host.init": EventType(("host", "files", "action")),
        "host.selftest": EventType(
            ("host", "version", "probe", "result"), {"result": ("pass", "fail", "recorded", "unproven")}
        ),
        "host.project_key_refused": EventType(("key", "file", "line")),
        "ledger.dropped": EventType(DROP_CAUSES),
        "ledger.spool_dropped": EventType(("n",)),
        "ledger.spool_drained": EventType(("n", "bad")),
        "ledger.pruned": EventType(("rows", "bytes")),
        "ledger.recovered": EventType(("rows", "lost")),
        "ledger.migrated": EventType(("from", "to")),
        "judge.call": EventType(CALL_FIELDS, CALL_WORDS, row="judge_calls"),
        "judge.fallback": EventType(
            ("reason", "elapsed_ms", "deadline_ms", "questions"), {"reason": REASON_WORDS}
        ),
        "judge.late": EventType(("answers",)),
        "judge.cooldown": EventType(("destination", "until_s", "cause"), {"cause": REASON_WORDS}),
        "judge.budget": EventType(
            ("cap", "used", "limit"),
            {"cap": ("session.requests", "day.requests", "day.input_tokens", "day.usd")},
        ),
        "judge.unverified": EventType(("profile", "door", "cause"), {"cause": ("alias", "unverified")}),
        "judge.model_drift": EventType(("asked", "answered")),
        "judge.consent_granted": EventType(("destination", "doors", "classes", "statement_hash")),
        "judge.consent_revoked": EventType(("destination", "doors", "classes", "statement_hash")),
        "judge.artifact_refused": EventType(("door", "mode", "gate"), {"mode": ("embed", "lexical")}),
        "guidance.decision": EventType(GUIDANCE_FIELDS, row="decisions"),
        "guidance.gate_capped": EventType(
            ("scan_id", "judged", "unjudged", "unjudged_ids", "max_candidates", "fill", "overflow")
        ),
        "guidance.gate_fallback": EventType(("scan_id", "reason", "candidates", "ms")),
        "guidance.shown": EventType(
            (
                "scan_id",
                "id",
                "digest",
                "root",
                "trigger",
                "span",
                "p",
                "chars",
                "token_position",
                "agent",
                "again",
            )
        ),
        "guidance.held": EventType(("scan_id", "ids", "position")),
        "guidance.turn_capped": EventType(("scan_id", "ids", "limit", "count")),
        "tools.decision": EventType(TOOL_FIELDS, row="decisions"),
        "tools.used": EventType(("decision_id", "route_id", "fingerprint", "ok", "in_shortlist", "rank")),
        "tools.catalog": EventType(
            ("source", "added", "removed", "changed", "new", "problems", "stale_since")
        ),
        "tools.approved": EventType(("ids", "fingerprints", "by")),
        "outputs.decision": EventType(OUTPUT_FIELDS, row="decisions"),
        "outputs.judged": EventType(("id", "chunks")),
        "outputs.recalled": EventType(
            ("id", "class", "chars", "first", "via"),
            {"class": ("whole", "range", "search"), "via": ("tool", "cli", "path")},
            row="recalls",
        ),
        "outputs.fault": EventType(
            ("id", "fault", "name"), {"fault": ("store", "parser", "ledger", "judge", "door")}
        ),
        "outputs.forgot": EventType(("cause", "entries"), {"cause": ("compaction", "branch", "call")}),
        "evidence.decision": EventType(
            EVIDENCE_FIELDS, {"verdict": ("PASS", "WARN", "FAIL", "ERROR", "UNJUDGED")}, row="decisions"
        ),
        "evidence.read": EventType(
            (
                "job",
                "attempt",
                "n",
                "id",
                "artifact",
                "path",
                "shape",
                "shown_sha256",
                "bytes",
                "refused",
                "via",
            ),
            {"via": ("judge", "cli", "mcp")},
        ),
        "evidence.ack": EventType(("pair", "from", "to", "revision", "trivial", "retired")),
        "lab.freeze": EventType((*LAB_FIELDS, "waiver")),
        "lab.run": EventType(
            (*LAB_FIELDS, "surface", "missing"), {"result": ("start", "complete", "incomplete")}
        ),
        "lab.select": EventType((*LAB_FIELDS, "policy"), {"result": ("selected", "nothing_eligible")}),
        "lab.surface_opened": EventType((*LAB_FIELDS, "surface", "policy")),
        "lab.confirm": EventType((*LAB_FIELDS, "policy", "failed"), {"result": ("passed", "failed")}),
        "lab.promote": EventType((*LAB_FIELDS, "policy", "key", "value"), {"result": ("promoted",)}),
        "lab.promote_refused": EventType((*LAB_FIELDS, "policy", "failed"), {"result": ("refused",)}),
        "lab.calibrate": EventType((*LAB_FIELDS, "door", "mode"), {"result": ("written", "refused")}),
    }
)


def undeclared(type: str, body: Mapping[str, Any]) -> tuple[str, ...]:
    """What of an event stands in no list: its type, or fields, or words; empty when all is declared.

    The name ``truncated`` is the ledger's own and is allowed in every body.
    """
    known = EVENTS.get(type)
    if known is None:
        return (type,)
    odd = [f"{type}.{name}" for name in sorted(body) if name not in known.fields and name != "truncated"]
    for name, words in known.words.items():
        if name in body and family(str(body[name])) not in words:
            odd.append(f"{type}.{name}={body[name]}")
    return tuple(odd)


def canonical(value: object) -> bytes:
    """The one byte form of a JSON value.

    Raises:
        ValueError: NaN, an infinity, a key that is no text, or nesting beyond what can be walked.
        TypeError: A value that JSON does not have.
    """
    try:
        text = json.dumps(
            _plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
        )
    except RecursionError:
        raise ValueError("nested too deeply for canonical JSON") from None
    # A backslash of the text itself is doubled in JSON, so a single one before uXXXX is only ever ours.
    return text.encode("utf-8", "backslashreplace")


def parse(data: bytes | str) -> Any:
    """Read JSON as strictly as it is written here.

    Raises:
        ValueError: Not JSON, not UTF-8, duplicate keys, NaN or an infinity, nested too deeply.
    """
    try:
        return json.loads(data, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply for canonical JSON") from None


def sha256(data: bytes) -> str:
    """``sha256:`` and 64 hex digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def content_hash(fields: Mapping[str, object]) -> str:
    """The hash of a row: over the canonical JSON of all its fields but ``content_hash``."""
    return sha256(canonical({name: value for name, value in fields.items() if name != "content_hash"}))


def _plain(value: Any) -> Any:
    """Mappings as dictionaries with text for keys, sequences as lists."""
    kind = type(value)
    if kind in _SCALARS:
        return value  # mutant: only faster
    if kind is list or kind is tuple or isinstance(value, (list, tuple)):
        return [one if type(one) in _SCALARS else _plain(one) for one in value]
    if kind is dict or isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"a key of canonical JSON must be text, not {type(key).__name__}")
        return {key: _plain(inner) for key, inner in value.items()}
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate keys in JSON")
    return result


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not allowed in JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0.0:
        raise ValueError("a number beyond the range of a float")
    return value
