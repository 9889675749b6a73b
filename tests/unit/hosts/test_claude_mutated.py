"""Payloads that nobody documented: changed at random, they never raise nor get an answer of a wrong shape."""

from __future__ import annotations

import copy
import json
import os
import random
from pathlib import Path

import pytest

from .claude import Host, answer_of, log, prove_rewrites

GOLDEN = Path(__file__).parents[2] / "golden" / "hosts" / "claude-code"
CASES = [json.loads(file.read_text()) for file in sorted(GOLDEN.glob("*/*.json"))]
EVENTS = sorted({case["event"] for case in CASES})
NIGHTLY = bool(os.environ.get("ADMIT_NIGHTLY"))
ROUNDS, PER_ROUND = (100, 100) if NIGHTLY else (8, 100)
LOG = json.dumps(log())[1:-1]
ODD = (
    None, True, False, 0, -1, 1.5, 10**400, 1e308, "", "\x00", "\ud83d", "é" * 3_000, "🚀" * 9_000,
    "/etc/passwd", log(), [], {}, [None], [[]], {"": ""}, [{"type": "text"}], {"type": 7},
    [{"type": "text", "text": log()}], {"content": [{"type": "text", "text": log()}], "isError": True},
    {"stdout": log(), "stderr": log()}, {"file": {"content": log()}, "type": "text"},
    {"stdout": log(), "isImage": 0, "persistedOutputPath": "\x00"},
)  # fmt: skip


def spots(value, path=()):
    """Every place in a value, as a path of keys and indexes."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from spots(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value[:20]):
            yield from spots(inner, (*path, place))


def changed(given, chance):
    """A payload with one to three of its places replaced, taken out, renamed or doubled."""
    for _ in range(chance.randint(1, 3)):
        places = [path for path in spots(given) if path]
        *above, last = chance.choice(places)
        holder = given
        for step in above:
            holder = holder[step]
        what = chance.randrange(4)
        if what == 0 or isinstance(holder, list):
            holder[last] = copy.deepcopy(chance.choice(ODD))
        elif what == 1:
            del holder[last]
        elif what == 2:
            holder[chance.choice(("stdout", "content", "tool_name", "x" * 300, "persistedOutputPath"))] = (
                holder.pop(last)
            )
        else:
            holder[last] = {last: holder[last]}
        if not given:
            return given
    return given


def broken(raw, chance):
    """Bytes with something cut, put in, or turned."""
    at = chance.randrange(len(raw))
    what = chance.randrange(6)
    if what == 0:
        return raw[:at]
    if what == 1:
        return raw[:at] + bytes([raw[at] ^ (1 << chance.randrange(8))]) + raw[at + 1 :]
    if what == 2:
        return raw[:at] + chance.choice((b"\x00", b"\xff", b"\\ud800", b"NaN", b"{", b'"', b"]")) + raw[at:]
    if what == 3:
        return raw[at:] + raw[:at]
    if what == 4:
        return raw[:at] + b"[" * 3_000 + raw[at:]
    return raw[:at] + raw[at + chance.randrange(1, 40) :]


def payload(chance):
    """An event and bytes that the host might have sent for it, had it gone mad."""
    case = chance.choice(CASES)
    raw = json.dumps(case["given"]).replace("@log", LOG).replace("@json", json.dumps(LOG)[1:-1])
    event = case["event"] if chance.random() < 0.95 else chance.choice((*EVENTS, "Nothing", ""))
    if chance.random() < 0.75:
        given = changed(json.loads(raw), chance)
        return event, given, json.dumps(given).encode("utf-8", "surrogatepass")
    data = raw.encode()
    for _ in range(chance.randint(1, 3)):
        data = broken(data, chance) or b"\n"
    return event, None, data


def same_shape(before, after, *, bash=False):
    """Whether a replacement has the form of what it replaces: keys and types, with other texts at most."""
    if isinstance(before, str) and isinstance(after, list):
        return len(after) == 1 and set(after[0]) == {"type", "text"} and isinstance(after[0]["text"], str)
    if isinstance(before, dict):
        left_out = {"persistedOutputPath", "persistedOutputSize"} if bash else set()
        put_in = {"stderr", "interrupted"} if bash else set()
        names = (set(before) - left_out) | put_in
        return (
            isinstance(after, dict)
            and set(after) == names
            and all(same_shape(before[name], after[name]) for name in names & set(before))
        )
    if isinstance(before, list):
        return isinstance(after, list) and len(after) == len(before) and all(map(same_shape, before, after))
    return isinstance(after, str) if isinstance(before, str) else after == before


@pytest.mark.parametrize("round", range(ROUNDS))
def test_no_mutated_payload_raises_or_is_answered_in_a_wrong_shape(round, place, monkeypatch):
    prove_rewrites(monkeypatch)
    chance = random.Random(f"mutated {round}")
    host = Host(place, hosts__wrap="list", hosts__wrap_commands=("sh", "make"))
    host.guidance("core", "Read the notes first.\n")
    host.guidance(
        "any", "---\npattern: .\ncommands: .\nfiles: .\nscope: agent, subagent\nrefire: 0\n---\nAll of it.\n"
    )
    answered = guided = 0
    for number in range(PER_ROUND):
        event, given, raw = payload(chance)
        handled = host.raw(event, raw)
        handled.after(chance.random() < 0.9)
        said = answer_of(event, handled.data)
        answered += bool(said)
        guided += "additionalContext" in said and "[guidance " in said["additionalContext"]
        if "updatedToolOutput" in said:
            given = given if given is not None else json.loads(raw)
            bash = given["tool_name"] == "Bash"
            assert same_shape(given["tool_response"], said["updatedToolOutput"], bash=bash), (round, number)
        causes = [body["cause"] for body in host.events("host.hook_odd")]
        assert "exception" not in causes, (round, number, raw[:300])
    assert answered and guided  # or nothing was tried
