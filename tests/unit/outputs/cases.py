"""What the tests of the outputs door share: raw bytes of every kind, logs, and a gate with its doubles."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from admit.outputs.excerpt import Looked, look
from admit.outputs.model import OutputConfig, RawOutput, Task
from admit.outputs.scan import scan
from admit.outputs.view import View, as_utf8, build

UNHURRIED = settings(deadline=None, max_examples=80)
"""For properties over long inputs: no time limit for one example, fewer examples."""

CONFIG = OutputConfig()

TOKENS = (
    b"a", b"word ", b"\n", b"\r\n", b"\r", b"\t", b"\0", b",", b"\xff", b"\xe2\x82", b"\xf0\x9f", b"\x80",
    b"\xed\xa0\x80", b"\xef\xbf\xbd", b"\x1b[31m", b"\x1b[0m", b"\x1b[1A", b"\x1b[2K", b"\x1b]8;;", b"\x1b",
    b"\x1b]0;title\x07", "é".encode(), "错误".encode(), "😀".encode(), b"error: ", b'{"k": [1, 2]}',
)  # fmt: skip

short_bytes = st.binary(max_size=200) | st.lists(st.sampled_from(TOKENS), max_size=60).map(b"".join)
"""A few lines of anything."""

long_bytes = st.lists(st.tuples(st.sampled_from(TOKENS), st.integers(1, 700)), max_size=12).map(
    lambda runs: b"".join(token * times for token, times in runs)
)
"""Lines of any length, up to some thousand characters."""


def view_of(data: bytes | str, *, long_line: int = 2000) -> View:
    """The view of a whole output."""
    raw = as_utf8(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return build(raw, scan(raw, (), scan_chars=4_000_000).spans, long_line=long_line)


def looked_at(
    data: bytes | str,
    *,
    exit_code: int | None = None,
    task: Task | str = "",
    config: OutputConfig = CONFIG,
    command: str | None = None,
) -> Looked:
    """An output with its lines weighed."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    wanted = Task(task) if isinstance(task, str) else task
    return look(as_utf8(raw), RawOutput(raw, exit_code, command=command), wanted, config)
