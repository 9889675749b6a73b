"""One output cut in one call: the library's shortest way in."""

from __future__ import annotations

import hashlib

from .binary import is_binary
from .excerpt import look, saves_enough, show
from .model import OutputConfig, RawOutput, Task
from .nonce import nonce
from .select import select
from .view import as_text, as_utf8, view_chars


def filter_output(
    data: bytes | str, task: str = "", *, exit_code: int | None = None, max_chars: int = 6000
) -> str:
    """Cut one output to what matters for a task: no store, no recall, no judge, no record.

    Returns the text unchanged when it is short, binary, or when cutting it would save too little.
    """
    config = OutputConfig(max_kept_chars=max_chars)
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    output, wanted = RawOutput(raw, exit_code), Task(task)
    text = as_utf8(raw)
    if view_chars(text) < config.gate_chars or is_binary(text):
        return as_text(raw)
    looked = look(text, output, wanted, config)
    digits = nonce(b"", hashlib.sha256(raw).digest(), looked.view.data)
    selection = select(looked.view, looked.weighed, config, max_chars)
    shown = show(looked, selection, digits, exit_code=exit_code)
    return shown.text if saves_enough(looked.chars, shown, config) else as_text(raw)
