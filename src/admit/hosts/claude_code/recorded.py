"""What a client was seen to do, replayed where no client is to be had.

A recording holds what the hooks of the self-test were sent and what they answered, with the result of each
probe. The replay gives the same payloads to the same hooks: where the answers are those that the client was
seen to take, a probe is `recorded`; that the model would be told so by a client of today, nobody has seen.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from admit.config.keys import shipped
from admit.hosts.deps import admit_path
from admit.hosts.fake_messages import call_id

from .fake_page import Page
from .plans import NEW_CHARS, PLANS
from .probes import Bench, Nonces, Plan, Probe, Verdict
from .session import Heard

FILE = "recorded.json"
# Sessions whose hooks say all there is to say; in the others it is the host that is looked at.
SESSIONS = ("routes", "rules", "allowed", "crowd")
TOKEN = "0" * 12
MOST_CHARS, KEPT_CHARS = 4_000, 2_000
LONG = "x" * NEW_CHARS


class Recording(NamedTuple):
    """What was seen of one version.

    Attributes:
        hooks: Session, event, payload and answer of each hook, in order; what belonged to that run alone
            is a word in braces.
        verdicts: Result and detail, by probe.
    """

    version: str
    hooks: tuple[tuple[str, str, Any, Any], ...]
    verdicts: Mapping[str, Verdict]


def record(session: str, heard: Iterable[Heard], bench: Bench) -> list[list[Any]]:
    """The hooks of a session, without what belongs to this run alone; long texts are cut."""
    rows = []
    for one in heard:
        payload = _shortened(json.loads(_plain(one.raw.decode(), bench)))
        answer = json.loads(_plain(one.answer.decode(), bench)) if one.answer else None
        rows.append([session, one.event, payload, answer])
    return rows


def replay(probes: Sequence[Probe], recording: Recording) -> dict[str, Verdict]:
    """What is to be said of these probes without a client."""
    found: dict[str, Verdict] = {}
    for session in SESSIONS:
        with tempfile.TemporaryDirectory(prefix="admit-") as home:
            page = Page("https://127.0.0.1/page.md", "page.crt")
            bench = Bench(recording.version, shipped(), home, Nonces(TOKEN), page)
            found |= _replayed(PLANS[session](bench), session, bench, recording)
    alone: Verdict = ("unproven", "only a client can show it")
    return {probe.name: found.get(probe.name, alone) for probe in probes}


@lru_cache(maxsize=1)
def shipped_recording() -> Recording:
    """The recording that comes with Admit."""
    value = json.loads(resources.files("admit.hosts.claude_code").joinpath(FILE).read_text("utf-8"))
    verdicts = {probe: (result, detail) for probe, (result, detail) in value["verdicts"].items()}
    return Recording(value["version"], tuple(tuple(row) for row in value["hooks"]), verdicts)


def _replayed(plan: Plan, session: str, bench: Bench, recording: Recording) -> dict[str, Verdict]:
    same: dict[str, bool] = {}
    for _, event, payload, seen in (row for row in recording.hooks if row[0] == session):
        raw = _filled(json.dumps(payload, ensure_ascii=False), bench).encode()
        _put_whole_output(json.loads(raw), bench)
        said = plan.setup.answer(event, raw)
        expected = json.loads(_filled(json.dumps(seen), bench))
        is_same = (json.loads(said) if said else None) == expected
        for probe in _probes_of(plan, bench, payload, json.dumps(expected)):
            same[probe] = same.get(probe, True) and is_same
    return {probe: _verdict(probe, is_same, recording) for probe, is_same in same.items()}


def _put_whole_output(payload: Mapping[str, Any], bench: Bench) -> None:
    """Where the host kept a whole output in a file, there is one."""
    response = payload.get("tool_response")
    path = response.get("persistedOutputPath") if isinstance(response, dict) else None
    if response is not None and isinstance(path, str) and path.startswith(bench.home):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(response.get("stdout")))


def _probes_of(plan: Plan, bench: Bench, payload: Mapping[str, Any], answer: str) -> set[str]:
    """The probes that a hook serves: that of its call, and those whose text it adds."""
    use_id = payload.get("tool_use_id")
    own = {step.probe for k, step in enumerate(plan.steps) if call_id(k) == use_id}
    return own | {probe for probe in plan.also if bench.nonces.new(probe) in answer}


def _verdict(probe: str, is_same: bool, recording: Recording) -> Verdict:
    result, detail = recording.verdicts.get(probe, ("unproven", "nothing was seen"))
    if not is_same:
        return (
            "fail",
            f"what is written now is not what {recording.version} was seen with ({result}: {detail})",
        )
    return "recorded", f"what is written now is what {recording.version} was seen with ({result}: {detail})"


def _words(bench: Bench) -> tuple[tuple[str, str], ...]:
    folder = "".join(char if char.isascii() and char.isalnum() else "-" for char in bench.home)
    found = ((bench.home, "{home}"), (folder, "{folder}"), (bench.nonces.token, "{token}"), (LONG, "{long}"))
    admit = admit_path()
    return (*found, (admit, "{admit}")) if admit else found


def _plain(text: str, bench: Bench) -> str:
    for own, word in _words(bench):
        text = text.replace(own, word)
    return text


def _filled(text: str, bench: Bench) -> str:
    for own, word in _words(bench):
        text = text.replace(word, own)
    return text


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARS else value[:KEPT_CHARS]
    if isinstance(value, list):
        return [_shortened(one) for one in value]
    if isinstance(value, dict):
        return {name: _shortened(one) for name, one in value.items()}
    return value
