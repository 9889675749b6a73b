"""The key table: every setting, its default, unit, range and who may set it."""

from typing import Any

_OUTPUTS: dict[str, Any] = {
    "outputs.mode": "enforce",
    "outputs.max_kept_chars": 6000,
    "outputs.max_kept_tokens": 0,
    "outputs.floor_chars": 2000,
    "outputs.gate_chars": 8000,
    "outputs.tail_chars": 1000,
    "outputs.run_share": 0.75,
    "outputs.run_after": 3,
    "outputs.guard_share.failure": 0.08,
    "outputs.guard_share.spread": 0.35,
    "outputs.guard_context": 1,
    "outputs.weights.failure": (0.5, 1.0, 0.7),
    "outputs.weights.spread": (1.0, 0.7, 0.7),
    "outputs.words.strong": (),
    "outputs.words.weak": (),
    "outputs.words.negated": (),
    "outputs.min_saving_chars": 1000,
    "outputs.min_saving_share": 0.2,
    "outputs.duplicate_min_chars": 2000,
    "outputs.long_line": 2000,
    "outputs.scan_chars": 4000000,
    "outputs.skip_tools": (),
    "outputs.mask": False,
    "outputs.filter.enabled": False,
    "outputs.filter.scope": "unparsed",
    "outputs.filter.partial": "keep",
    "outputs.filter.fit": "lines",
    "outputs.filter.chunk_chars": 2000,
    "outputs.filter.min_score": 1.5,
    "outputs.filter.max_kept_chars": 6000,
    "outputs.filter.timeout_ms": 4000,
    "outputs.recall_chars": 20000,
}


def default(name: str) -> Any:
    """The shipped default of a key."""
    return _OUTPUTS[name]
