"""Whether a pair without a valid answer is ever reported as PASS: every fault of a judge, over many seeds.

The faults are those a judge can be told to have (every reason, every defect of an answer, breaches of the
protocol) and those of a real server on loopback. Each seed makes another note and hits another share of its
questions, at least one.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

from admit.config.keys import shipped
from admit.config.layers import Config
from admit.core.question import Judge
from admit.evidence.base import Base
from admit.evidence.criteria import shipped as criteria
from admit.evidence.gate import EvidenceGate
from admit.evidence.model import Review
from admit.judges.door import DoorJudge
from admit.judges.load import load_judge
from admit.judges.profiles import profile
from admit.judges.scripted import FAULTS, FaultyJudge
from admit.judges.standing import forgive

if TYPE_CHECKING:
    from tests.servers.chat_server import ChatServer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the server is one of the tests' own

HARMLESS = ("extra_ids", "wrong_order")
"""Breaches that leave a valid answer to every question that was asked."""

SCRIPTED = tuple(fault for fault in FAULTS if fault not in HARMLESS)
STALLS = ("stall-headers", "stall-body", "drip")
SERVED = (
    "closes", "broken-json", "code-fence", "truncated", "huge", "redirect", "echo-only", "extra-ids", "twice",
    "missing", "refusal", "no-call", "many-calls", "status-400", "status-401", "status-402", "status-403",
    "status-404", "status-413", "status-429", "status-500", "status-529", *STALLS,
)  # fmt: skip
DEADLINE_MS = 200
LONG_MS = 20_000
NOTE = "n.md"


class Row(NamedTuple):
    """One fault over all seeds: how many pairs were reviewed, and as what they were reported.

    Attributes:
        passed: PASS, which must be 0.
        judged: WARN or FAIL, which must be 0 too.
    """

    fault: str
    pairs: int
    passed: int
    judged: int


def run(seeds: int) -> list[Row]:
    """A row for each fault, scripted ones first. Writes nothing outside of a folder of its own."""
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _own_state(folder),
        ExitStack() as stack,
    ):
        bases = [stack.enter_context(_base(Path(folder), seed)) for seed in range(seeds)]
        for fault in SCRIPTED:
            rows.append(_row(fault, bases, partial(scripted, fault=fault), fault == "stalls"))
        for mode in SERVED:
            with _server(mode) as server:
                rows.append(
                    _row(f"http:{mode}", bases, partial(served, server=server, mode=mode), mode in STALLS)
                )
    return rows


def _row(fault: str, bases: Sequence[Base], reviewed: Callable[..., Review], waits: bool) -> Row:
    """Reviews that wait for their deadline do so together; any others go one after the other."""
    with ThreadPoolExecutor(20 if waits else 1) as pool:
        said = [one.verdict for one in pool.map(reviewed, bases, range(len(bases)))]
    return Row(fault, len(said), said.count("PASS"), said.count("WARN") + said.count("FAIL"))


def scripted(base: Base, seed: int, fault: str) -> Review:
    """One review by a judge that has a fault, in the first questions of a share that the seed chooses."""
    judge = FaultyJudge(fault, share=random.Random(f"{fault}{seed}").choice((0.34, 0.5, 0.75, 1.0)))
    gate = EvidenceGate(base, _door(judge, DEADLINE_MS if fault == "stalls" else LONG_MS))
    try:
        return gate.review(NOTE, criteria()[0])
    finally:
        judge.release()


def served(base: Base, seed: int, server: ChatServer, mode: str) -> Review:
    """One review by a server that misbehaves, in one of the two wire styles."""
    name = "jev" if seed % 2 and mode not in _CHAT_ONLY else "openai-compatible"
    own = f"judge.profiles.{name}"
    values = {**shipped(), f"{own}.destination": server.url, "judge.min_call_ms": 1, **_LIMITS}
    if name != "jev":
        values |= {f"{own}.model": "small", f"{own}.context_tokens": 100_000}
    chosen = profile(name, values)
    forgive(chosen.address)  # each review meets the fault itself
    door = _door(load_judge(chosen, config=values), DEADLINE_MS if mode in STALLS else LONG_MS, name, values)
    return EvidenceGate(base, door).review(NOTE, criteria()[0])


_LIMITS = {
    "limits.day.requests": 1_000_000,
    "limits.day.input_tokens": 1_000_000_000,
    "limits.cooldown_failures": 1000,
    "limits.slots": 20,
}
_CHAT_ONLY = ("echo-only", "twice", "refusal", "no-call", "many-calls", "truncated")


def _server(mode: str) -> ChatServer:
    from tests.servers.chat_server import ChatServer

    return ChatServer(mode, judge=lambda task, text: 1.0, drip_ms=50.0)


def _door(
    judge: Judge, deadline_ms: int, name: str = "jev", values: Mapping[str, object] | None = None
) -> DoorJudge:
    chosen = profile(name, values)
    return DoorJudge(
        judge, chosen, chosen.doors["evidence"]._replace(timeout_ms=deadline_ms), None, "sha256:" + "0" * 64
    )


@contextmanager
def _base(folder: Path, seed: int) -> Iterator[Base]:
    """A note of 2 to 8 claims over 2 to 6 artifacts."""
    chance = random.Random(seed)
    root = folder / f"base-{seed}"
    root.mkdir()
    names = [f"t{k}.md" for k in range(1, chance.randint(2, 6) + 1)]
    for name in names:
        (root / name).write_text(f"# {name}\n\nValue {chance.randint(10, 99)} was measured.\n")
    claims = [f"Claim {k} holds ([source]({chance.choice(names)}))." for k in range(chance.randint(2, 8))]
    (root / NOTE).write_text("# Note\n\n" + "\n\n".join(claims) + "\n")
    with Base.open(str(root), config=Config(shipped())) as base:
        yield base


@contextmanager
def _own_state(folder: str) -> Iterator[None]:
    places = {name: os.path.join(folder, name) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    with mock.patch.dict(os.environ, places):
        yield
