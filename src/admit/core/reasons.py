"""The closed lists: why an ask of a judge falls back, and what spoils one of its answers.

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
NOT_CONNECTED = ("connect", "tls", "dns")
REDIRECTED = ("redirect",)
"""The server got the request and named another address for it, which gets nothing."""

AT_THE_CALL = ("deadline", "transport", "command_exit", "internal", "agent_error")

REPLY_CAUSES = (
    "not_json", "encoding", "nan", "duplicate_key", "too_deep", "too_large", "envelope", "extra_id",
    "truncated", "no_call", "many_calls", "refusal", "mostly_invalid", "defects",
)  # fmt: skip
"""Why a whole reply is rejected; `defects` alone says that single answers are spoiled."""

ANSWER_REASONS = tuple(f"answer_{cause}" for cause in REPLY_CAUSES)
PROVIDER = "provider_<status>"
PROVIDER_EXAMPLES = tuple(f"provider_{code}" for code in (400, 401, 402, 403, 404, 413, 422, 429, 500, 529))

_LISTED = BEFORE_SENDING + NOT_CONNECTED + REDIRECTED + AT_THE_CALL + ANSWER_REASONS

REASONS = _LISTED + PROVIDER_EXAMPLES
"""Every fallback reason; of `provider_<status>` the ones that providers document."""

REASON_WORDS = (*_LISTED, PROVIDER)
"""The same as a list of words, closed by `family`."""

DOOR_REASONS = ("no_task", "coverage", "partial", "none_passed", "not_asked")
"""Why a door does without a judge's word, beside the reasons of an ask."""

SHADOW_REASONS = ("mode", "alias", "unverified", "model_drift")
"""Why answers are recorded and do not act (`Reply.shadow`)."""

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


def family(reason: str) -> str:
    """``provider_<status>`` for any status of three digits, else the reason itself."""
    head, found, code = reason.partition("provider_")
    is_status = not head and found and len(code) == 3 and code.isascii() and code.isdigit()
    return PROVIDER if is_status else reason
