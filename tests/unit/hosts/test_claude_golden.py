"""Every event of two versions of Claude Code: the payload as documented, and the answer byte for byte.

In the files ``@log`` stands for a build log, ``@json`` for the same as structured content, ``@file`` for a
file that holds it, ``@error`` for the part of it that is left after a failure; in the answers ``@shown`` for
what the gate shows of it, and ``@nonce``, ``@id`` and ``@ticket`` for the digits of one. A case may hold
files of guidance, by id, and events that came before.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from admit.hosts.claude_code.adapter import EVENTS
from admit.hosts.projects import hosted
from admit.outputs.gate import OutputGate
from admit.outputs.model import RawOutput, Task
from admit.testing import MemoryOutputs

from .claude import ADMIT, KEY, Host, answer_of, log, prove_rewrites

GOLDEN = Path(__file__).parents[2] / "golden" / "hosts" / "claude-code"
FILES = sorted(GOLDEN.glob("*/*.json"))
VERSIONS = ("2.1.332", "2.1.62")
KINDS = {"Bash": "command", "mcp__tracker__search": "mcp"}
WORDS = {
    "Bash": "Bash Build make",
    "Grep": "Grep compil content",
    "WebFetch": "WebFetch https://example.org/changes What changed in 4.2?",
    "mcp__tracker__search": "mcp__tracker__search parser",
}


def filled(value, texts):
    """A value of a golden file with the texts in their places."""
    if isinstance(value, str):
        for name, text in texts.items():
            value = value.replace(name, text)
        return value
    if isinstance(value, list):
        return [filled(one, texts) for one in value]
    return {name: filled(one, texts) for name, one in value.items()} if isinstance(value, dict) else value


def shown(text: str, tool: str, host: Host, cut: int | None) -> str:
    """What a gate of the same settings shows of a text, asked without any host."""
    gate = OutputGate(
        hosted(host.config), store=MemoryOutputs(), key=KEY, recall_way=f"{ADMIT} recall {{id}}"
    )
    command = "make" if tool == "Bash" else None
    code = 0 if tool == "Bash" else None
    output = RawOutput(text.encode(), code, tool, command, KINDS.get(tool, "other"), host_limit_chars=cut)
    result = gate.admit(output, Task(command=WORDS[tool]))
    assert result.changed
    return result.text


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_the_answer_to_a_documented_payload_is_this_byte_for_byte(file, place, monkeypatch):
    prove_rewrites(monkeypatch)
    case = json.loads(file.read_text(encoding="utf-8"))
    settings = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in case.get("settings", {}).items()
    }
    host = Host(place, **settings)
    whole = host.folder / host.session / "tool-results" / "whole.txt"
    whole.parent.mkdir(parents=True)
    whole.write_text(log())
    structured = json.dumps({"items": log().splitlines()})
    texts = {"@log": log(), "@json": structured, "@file": str(whole), "@error": log(230)}
    for id, text in case.get("guidance", {}).items():
        host.guidance(id, text)
    for earlier in case.get("before", ()):
        host.raw(earlier["event"], json.dumps(earlier["given"]).encode()).after(True)
    given = filled(case["given"], texts)
    if str(whole) in json.dumps(given):  # the host keeps it beside the session's transcript
        given |= {"session_id": host.session, "transcript_path": str(host.transcript)}

    handled = host.raw(case["event"], json.dumps(given, ensure_ascii=False).encode())

    answer_of(case["event"], handled.data)
    expected = case["answer"]
    if "@shown" in expected:
        tool = given["tool_name"]
        response = given["tool_response"]
        text = structured if isinstance(response, str) else log()
        cut = 2_000 if "persistedOutputPath" in response else None
        expected = expected.replace('"@shown"', json.dumps(shown(text, tool, host, cut), ensure_ascii=False))
    written = handled.data.decode()
    written = re.sub(r"--hook [0-9a-f]{32} --", "--hook @ticket --", written)
    written = re.sub(r"\[admit [0-9a-f]{8}\]", "[admit @nonce]", written) if "@nonce" in expected else written
    written = re.sub(r"o_[0-9a-f]{12}", "@id", written) if "@id" in expected else written
    assert written == (f"{expected}\n" if expected else "")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_event_that_a_version_has_stands_in_its_folder(version):
    found = {json.loads(file.read_text())["event"] for file in (GOLDEN / version).glob("*.json")}
    assert found == set(EVENTS) - ({"PostCompact"} if version == "2.1.62" else set())


def test_no_answer_of_any_event_approves_a_call_or_says_anything_at_the_top():
    for file in FILES:
        answer = json.loads(file.read_text())["answer"]
        assert "permissionDecision" not in answer and "classifierContext" not in answer
        assert not answer or list(json.loads(answer)) == ["hookSpecificOutput"]
