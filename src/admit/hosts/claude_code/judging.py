"""What a session showed, as a verdict: from what the model was told, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from admit.hosts.fake_messages import call_id

from .probes import Bench, Verdict
from .session import Ran

Judge = Callable[[Ran, int], Verdict]
MOST_SAID = 200


def injected(text: str) -> Callable[[Ran], Verdict]:
    """The model was told the text."""

    def judge(ran: Ran) -> Verdict:
        if not ran.messages.turns:
            return _never(ran)
        if text in ran.messages.told():
            return "pass", "the model was told it"
        return "fail", "no request holds it"

    return judge


def replaced(bench: Bench, probe: str, *, old: str = "") -> Judge:
    """The new text stands in the result, and the old one nowhere; `old` is another than the probe's own."""
    old, new = old or bench.nonces.old(probe), bench.nonces.new(probe)

    def judge(ran: Ran, place: int) -> Verdict:
        result = ran.messages.result_of(place)
        if result is None:
            return _never(ran)
        if new not in result:
            return "fail", "the original stands" if old in result else f"neither stands: {_brief(result)}"
        if old in ran.messages.told():
            return "fail", "the model was told both"
        return "pass", "the model was told the new text alone"

    return judge


def unchanged(bench: Bench, probe: str) -> Judge:
    """The host went on, and the old text stands."""
    old = bench.nonces.old(probe)

    def judge(ran: Ran, place: int) -> Verdict:
        result = ran.messages.result_of(place)
        if result is None:
            return _never(ran)
        if old not in result or bench.nonces.new(probe) in result:
            return "fail", f"the original does not stand: {_brief(result)}"
        if ran.exit_code != 0:
            return "fail", f"the session ended with {ran.exit_code}: {_brief(ran.said)}"
        return "pass", "the host went on with the original"

    return judge


def large(bench: Bench, probe: str, chars: int, ends: tuple[str, str]) -> Judge:
    """As `replaced`, from one end of the new text to the other, with what the hook was given."""

    def judge(ran: Ran, place: int) -> Verdict:
        found, seen = replaced(bench, probe)(ran, place)
        result = ran.messages.result_of(place) or ""
        if found == "pass" and not all(end in result for end in ends):
            found, seen = "fail", f"only a part of the new text stands: {len(result):,} characters"
        response = _response(ran, place)
        stdout = response.get("stdout")
        if not isinstance(stdout, str):
            return found, seen
        whole = " and the path of the whole" if response.get("persistedOutputPath") else ""
        return found, f"{seen}; the hook was given {len(stdout):,} of {chars:,} characters{whole}"

    return judge


def cut(bench: Bench, probe: str, log: str) -> Judge:
    """A log was cut: its error and Admit's first line stand, and not everything."""

    def judge(ran: Ran, place: int) -> Verdict:
        result = ran.messages.result_of(place)
        if result is None:
            return _never(ran)
        if "[admit " not in result:
            return "fail", f"the whole log stands: {len(result):,} characters"
        if bench.nonces.old(probe) not in result:
            return "fail", f"the error is missing: {_brief(result)}"
        seen = f"{len(result):,} of {len(log):,} characters stand, the error among them"
        return "pass" if len(result) < len(log) else "fail", seen

    return judge


def rule_holds(bench: Bench, probe: str, *, denied: bool) -> Judge:
    """A rule for a command holds for the rewritten one; the next call is the command itself."""
    old = bench.nonces.old(probe)

    def judge(ran: Ran, place: int) -> Verdict:
        result, plain = (ran.messages.result_of(place + more) for more in (0, 1))
        if result is None or plain is None:
            return _never(ran)
        if (old in plain) == denied:
            return "unproven", f"the rule does not even hold for the command itself: {_brief(plain)}"
        if (old in result) != denied:
            return "pass", "the rule holds"
        seen = "it ran, although the rule denies it" if denied else f"it was refused: {_brief(result)}"
        return "fail", seen

    return judge


def _never(ran: Ran) -> Verdict:
    """The call was never made, or its result not told."""
    return "unproven", f"the client did not come to it: {_brief(ran.said)}"


def _response(ran: Ran, place: int) -> dict[str, Any]:
    """What the hook after a call was given as the tool's response."""
    for heard in ran.heard:
        if heard.event == "PostToolUse":
            payload = json.loads(heard.raw)
            if payload.get("tool_use_id") == call_id(place) and isinstance(payload["tool_response"], dict):
                return payload["tool_response"]
    return {}


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return (line if len(line) <= MOST_SAID else line[: MOST_SAID - 1] + "…") or "nothing"
