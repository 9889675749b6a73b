"""The closed lists: why an ask falls back, what spoils an answer, and whether anything was sent.

A reason is never merged with another, and a list is never extended by text from outside: the one open end,
`provider_<status>`, takes three digits.
"""

from __future__ import annotations

from typing import Literal

BEFORE_SENDING = (
    "off", "config", "no_key", "no_consent", "not_calibrated", "unsupported", "busy", "shed",
    "budget_requests", "budget_tokens", "budget_usd", "budget_unknown", "cooldown", "redaction",
    "too_large", "deadline_before_call",
)  # fmt: skip
NOT_CONNECTED = ("connect", "tls", "dns", "redirect")
AT_THE_CALL = ("deadline", "transport", "command_exit", "internal", "agent_error")

REPLY_CAUSES = (
    "not_json", "encoding", "nan", "duplicate_key", "too_deep", "too_large", "envelope", "extra_id",
    "truncated", "no_call", "many_calls", "refusal", "mostly_invalid", "defects",
)  # fmt: skip
"""Why a whole reply is rejected; `defects` alone says that single answers are spoiled."""

ANSWER_REASONS = tuple(f"answer_{cause}" for cause in REPLY_CAUSES)
PROVIDER_EXAMPLES = tuple(f"provider_{code}" for code in (400, 401, 402, 403, 404, 413, 422, 429, 500, 529))

REASONS = BEFORE_SENDING + NOT_CONNECTED + AT_THE_CALL + ANSWER_REASONS + PROVIDER_EXAMPLES
"""Every fallback reason; of `provider_<status>` the ones that providers document."""

DEFECTS = (
    "missing", "wrong_type", "out_of_range", "bad_keys", "bad_sum", "contradiction",
    "too_large", "batch_failed",
)  # fmt: skip
"""What spoils one answer; the last two come from batching, the others from parsing."""


def sent(reason: str) -> Literal["no", "yes", "unknown"]:
    """Whether an ask that fell back for this reason had left the machine."""
    if reason in BEFORE_SENDING or reason in NOT_CONNECTED:
        return "no"
    return "unknown" if reason in AT_THE_CALL else "yes"
