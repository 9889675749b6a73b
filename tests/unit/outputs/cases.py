"""What the tests of the outputs door share: raw bytes of every kind, logs, and a gate with its doubles."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from admit.core.question import Judge
from admit.ledger.memory import MemoryLedger, MemoryOutputs
from admit.ledger.port import Ledger, OutputStore, Record
from admit.outputs.excerpt import Looked, look
from admit.outputs.gate import OutputGate
from admit.outputs.model import OutputConfig, OutputResult, RawOutput, Task
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


KEY = b"k" * 32


class Door:
    """A gate with its doubles: what it stored, what it recorded, what it asked."""

    def __init__(
        self,
        config: OutputConfig = CONFIG,
        *,
        judge: Judge | None = None,
        store: OutputStore | None = None,
        ledger: Ledger | None = None,
        **how: Any,
    ) -> None:
        self.ledger = MemoryLedger() if ledger is None else ledger
        self.store = MemoryOutputs() if store is None else store
        self.judge = judge
        self.gate = OutputGate(config, store=self.store, judge=judge, ledger=self.ledger, key=KEY, **how)

    def admit(
        self,
        data: bytes | str,
        task: Task | str = "",
        *,
        session: str | None = None,
        budget: int | None = None,
        **fields: Any,
    ) -> OutputResult:
        """What the agent sees of one output."""
        wanted = Task(task) if isinstance(task, str) else task
        return self.gate.admit(RawOutput.of(data, **fields), wanted, session=session, budget=budget)

    @property
    def records(self) -> list[Record]:
        assert isinstance(self.ledger, MemoryLedger)
        return self.ledger.records


def steps(first: int, last: int, words: str = "of the build went well") -> list[str]:
    """Lines that say nothing of note."""
    return [f"step {k} {words}" for k in range(first, last)]


def text_of(*parts: str | list[str]) -> str:
    """Lines and lists of lines as one text, each with its line end."""
    lines: list[str] = []
    for part in parts:
        lines += [part] if isinstance(part, str) else part
    return "".join(f"{line}\n" for line in lines)


def body_of(text: str) -> str:
    """A render without its first line."""
    return text.partition("\n")[2]
