"""Transcripts that somebody damaged: reading never raises, and what is left untouched is still read."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.report import audit_text
from admit.report.audit import audit
from admit.transcripts import read_sessions
from admit.transcripts.find import find

from .recorded import Claude, Codex, build_log

ODD = (
    None,
    0,
    -1,
    1e308,
    True,
    "",
    "x",
    "\ud800",
    "2026-03-01",
    "<persisted-output>",
    [],
    [None],
    {},
    {"type": 1},
)
UNHURRIED = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


def claude() -> list[dict]:
    file = Claude()
    file.user("Fix the retry limit in the client")
    file.record("attachment", attachment={"type": "hook_additional_context", "content": ["x"]}, rendered=[])
    file.record("queue-operation", operation="enqueue", content="Then add a test for it")
    log = build_log(3, 200, planted={90: "client.py:12: error: retry_limit is not defined"})
    file.run("make", f"Exit code 2\n{log}\n... [900 characters truncated] ...\n", failed=True)
    file.call("Read", {"file_path": "/home/me/shop/client.py", "offset": 1, "limit": 20}, use_id="t1")
    file.result(
        "t1", [{"type": "text", "text": "12\tretry_limit"}], {"type": "text", "file": {"content": "x"}}
    )
    file.record("system", subtype="compact_boundary")
    return file.records


def codex() -> list[dict]:
    file = Codex()
    file.user("Fix the retry limit in the client")
    file.run("make", build_log(4, 200), 2)
    file.run("sed -n '1,40p' client.py", "…12 chars truncated…")
    file.event("item_completed", item={"type": "CommandExecution", "id": "call_2", "aggregated_output": "x"})
    return file.records


def mutate(records: list[dict], draw: random.Random) -> bytes:
    """Change a few places at any depth, and perhaps the bytes."""
    records = copy.deepcopy(records)
    for _ in range(draw.randint(1, 4)):
        place: list | dict = records
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw.choice(keys)
            inner = place[key]
            if isinstance(inner, (dict, list)) and inner and draw.random() < 0.75:
                place = inner
                continue
            if draw.random() < 0.3:
                del place[key]
            else:
                place[key] = copy.deepcopy(draw.choice(ODD))
            break
    data = "".join(f"{json.dumps(record)}\n" for record in records).encode()
    if draw.random() < 0.3:
        at = draw.randrange(len(data))
        data = data[:at] + draw.randbytes(draw.randint(0, 40)) + data[at + draw.randint(0, 40) :]
    return data


def read(data: bytes, name: str):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(data)
        found = find([folder], 14)
        return audit(read_sessions(found), found)


@UNHURRIED
@given(st.integers(0, 2**32), st.sampled_from(["claude", "codex"]))
def test_a_damaged_transcript_is_audited_without_an_error(seed, host):
    draw = random.Random(seed)
    data = mutate(claude() if host == "claude" else codex(), draw)
    result = read(data, "s1.jsonl" if host == "claude" else "rollout-1.jsonl")
    audit_text.render(result).encode()
    json.dumps(audit_text.as_json(result))


@UNHURRIED
@given(st.binary(max_size=300), st.sampled_from(["s1.jsonl", "rollout-1.jsonl", "rollout-1.jsonl.zst"]))
def test_any_bytes_are_audited_without_an_error(data, name):
    audit_text.render(read(data, name))


@UNHURRIED
@given(st.integers(0, 8), st.integers(0, 2**32))
def test_a_damaged_line_loses_only_itself(place, seed):
    records = claude()
    lines = [json.dumps(record).encode() for record in records]
    lines.insert(place % len(lines), random.Random(seed).randbytes(50).replace(b"\n", b" "))
    whole = read(b"\n".join(json.dumps(record).encode() for record in records) + b"\n", "s1.jsonl")
    damaged = read(b"\n".join(lines) + b"\n", "s1.jsonl")
    assert (damaged.tools, damaged.cases, damaged.requests) == (whole.tools, whole.cases, whole.requests)
