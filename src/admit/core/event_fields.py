"""What the bodies of events may hold, where the list is long or shared: names of fields, and closed words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Why a record was not written.
DROP_CAUSES = (
    "authority",
    "busy",
    "corrupt",
    "full",
    "internal",
    "io",
    "readonly",
    "refused",
    "too_large",
)

HOOK_ODD_CAUSES = (
    "bad_json",
    "unknown_event",
    "too_large",
    "foreign_peer",
    "deadline",
    "exception",
    "encode",
    "shape_unknown",
)

OUTPUT_FIELDS = (
    "id",
    "tool",
    "command",
    "exit_code",
    "kind",
    "mode",
    "how",
    "reason",
    "parsed",
    "original_chars",
    "view_chars",
    "kept_chars",
    "kept_lines",
    "shown_chars",
    "host_limit_chars",
    "saved_chars",
    "lines",
    "gaps",
    "kept",
    "notes",
    "parsers",
    "guards",
    "chunks",
    "judged",
    "unjudged",
    "overflow",
    "dropped_qualifying",
    "requests",
    "judge_ms",
    "total_ms",
    "config_hash",
    "changed",
    "shadow",
    "masked",
    "quirks",
    "defects",
)

# What is known of one transmission: the fields of `Call`, and what its decision says of it.
CALL_FIELDS = (
    "destination",
    "model_asked",
    "model_answered",
    "questions",
    "request_bytes",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "cost_source",
    "sent",
    "connect_ms",
    "first_byte_ms",
    "total_ms",
    "slot_wait_ms",
    "outcome",
    "reason",
    "masked",
    "door",
    "profile",
    "profile_hash",
    "quirks",
    "defects",
)
CALL_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cost_source": ("provider", "price_table", "free", "unknown"),
        "sent": ("no", "yes", "unknown"),
    }
)

TOOL_FIELDS = (
    "depth",
    "family",
    "outcome",
    "admitted",
    "matched",
    "overflow",
    "excluded",
    "schema_tokens",
    "counter",
    "none_p",
)

GUIDANCE_FIELDS = (
    "scan_id",
    "lane",
    "state",
    "matcher",
    "window",
    "tokens_used",
    "estimated",
    "stages",
    "counts",
    "policy",
    "gate",
    "chars_shown",
    "budget",
)

EVIDENCE_FIELDS = (
    "pair",
    "attempt",
    "verdict",
    "reason",
    "plan_hash",
    "pack_hash",
    "note_sha256",
    "criterion_sha256",
    "order",
    "scaffold",
    "offers",
    "coverage",
    "findings",
    "judge",
    "self_reported_model",
    "input_tokens",
    "output_tokens",
    "elapsed_ms",
    "job",
    "shadow",
    "quirks",
    "defects",
)

# What every step of an experiment says: the plan by its hash and name, and the hashes of the data it read.
LAB_FIELDS = ("plan", "name", "data", "code", "attempt", "result", "result_hash")
