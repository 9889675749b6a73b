"""What really reaches the model: the probes run with the real client, their results, and what follows.

The closing evidence of a probe is the line of the transcript that holds its nonce; the transcripts are kept
in the state folder until the next run for that version.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from admit.config.places import private_folder, state_dir
from admit.errors import UsageError
from admit.hosts import routes
from admit.transcripts.files import read_text

from . import delivery
from .adapter import NAME
from .entries import here
from .fake_page import fake_page
from .plans import PLANS
from .probes import BY_NAME, PROBES, Bench, Nonces, Plan, Probe, Result, Verdict
from .recorded import replay, shipped_recording
from .session import Ran, run
from .transcript import last_lines

SCHEMA = 1
FOLDER = "selftest"
REPORT = "report.json"
WITHOUT_SESSION: Mapping[str, Verdict] = {
    "restrict-tools": (
        "unproven",
        "no event of this host asks which tools to offer; the MCP gateway answers that",
    ),
}


class Evidence(NamedTuple):
    """A line of a file, from 1."""

    file: str
    line: int


class ProbeResult(NamedTuple):
    """What one probe showed.

    Attributes:
        detail: What was seen, as a sentence without its full stop.
        evidence: The line of the transcript that holds the nonce; None where none does.
    """

    name: str
    result: Result
    detail: str
    evidence: Evidence | None = None

    @property
    def probe(self) -> Probe:
        """The question."""
        return BY_NAME[self.name]

    @property
    def is_usual(self) -> bool:
        """Whether it is what was expected."""
        return self.result == self.probe.usual


class Finding(NamedTuple):
    """What follows from the results.

    Attributes:
        level: ``fault`` where Admit cannot act as it does by default, else ``note``.
    """

    id: str
    level: str
    text: str
    fix: str = ""


def chosen(names: Sequence[str]) -> tuple[Probe, ...]:
    """The probes of these names, all where there are none, in the order of the table.

    Raises:
        UsageError: There is no such probe.
    """
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise UsageError(f"there is no probe {unknown[0]!r}; there are: {', '.join(BY_NAME)}")
    return tuple(probe for probe in PROBES if not names or probe.name in names)


def run_selftest(
    client: str,
    version: str | None,
    probes: Sequence[Probe],
    *,
    values: Mapping[str, Any],
    on_session: Callable[[str, Bench, Ran], None] = lambda name, bench, ran: None,
) -> tuple[ProbeResult, ...]:
    """Run the sessions of these probes with the real client, and give their results in the same order.

    Args:
        client: Path of the host's executable.
        version: What it says it is; None is unknown.
        values: The settings of Admit, for the command lines.
        on_session: Called after each session.

    Raises:
        OSError: The client cannot be started, or a folder not be written.
    """
    nonces = Nonces(os.urandom(6).hex())
    kept = private_folder(
        os.path.join(private_folder(os.path.join(state_dir(), FOLDER)), version or "unknown")
    )
    found = {name: ProbeResult(name, *verdict) for name, verdict in WITHOUT_SESSION.items()}
    for name in dict.fromkeys(probe.session for probe in probes if probe.session):
        with ExitStack() as stack:
            home = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="admit-", ignore_cleanup_errors=True)
            )
            page = stack.enter_context(fake_page(home, "a page")) if name == "routes" else None
            bench = Bench(version, values, home, nonces, page)
            plan = PLANS[name](bench)
            ran = run(client, version, plan.setup, home, here())
            on_session(name, bench, ran)
            copy = os.path.join(kept, f"{name}.jsonl")
            with suppress(OSError):
                shutil.copyfile(ran.transcript, copy)
            for probe, (result, detail) in verdicts(plan, ran).items():
                evidence = _evidence(copy, nonces, probe, result)
                found[probe] = ProbeResult(probe, result, detail, evidence)
    return tuple(found.get(probe.name) or _left_out(probe) for probe in probes)


def replay_selftest(probes: Sequence[Probe]) -> tuple[str, tuple[ProbeResult, ...]]:
    """The version of the shipped recording, and what it says of these probes; never `pass`."""
    recording = shipped_recording()
    found = {**replay(probes, recording), **WITHOUT_SESSION}
    return recording.version, tuple(ProbeResult(probe.name, *found[probe.name]) for probe in probes)


def verdicts(plan: Plan, ran: Ran) -> dict[str, Verdict]:
    """The result of every probe of a session."""
    judged = {step.probe: step.judge(ran, k) for k, step in enumerate(plan.steps) if step.judge is not None}
    return judged | {probe: judge(ran) for probe, judge in plan.also.items()}


def capability(results: Iterable[ProbeResult]) -> dict[str, str]:
    """The fields of `Capability` that these results decide."""
    found = {one.name: one.result for one in results if one.result in ("pass", "fail")}
    decided: dict[str, str] = {}
    injects = [found.get(f"inject-{where}") for where in ("session", "prompt", "before-tool")]
    if all(injects):
        decided["inject"] = "yes" if set(injects) == {"pass"} else "no"
    mcp = found.get("replace-mcp")
    built_in = [found[name] for name in ("replace-bash", "replace-grep", "replace-webfetch") if name in found]
    if mcp is not None and built_in:
        decided["replace_ok"] = "no" if mcp == "fail" else "yes" if "fail" not in built_in else "mcp_only"
    rewrite = [found.get(name) for name in ("rewrite-input", "deny-rule")]
    if "fail" in rewrite or all(rewrite):
        decided["rewrite_input"] = "no" if "fail" in rewrite else "yes"
    if "replace-failed-wrapped" in found and "rewrite_input" in decided:
        both = (found["replace-failed-wrapped"], decided["rewrite_input"])
        decided["replace_failed"] = "yes" if both == ("pass", "yes") else "no"
    return decided


def findings(version: str | None, results: Iterable[ProbeResult]) -> tuple[Finding, ...]:
    """What the user should know of the results."""
    return tuple(_findings(version or "this version", tuple(results)))


def keep(version: str | None, results: Sequence[ProbeResult], at_ms: int) -> None:
    """Keep the results: what the version can do, and the report that `admit doctor` reads.

    Nothing is kept of an unknown version.

    Raises:
        OSError: It cannot be written.
    """
    if version is None:
        return
    decided = capability(results)
    if decided:
        routes.keep(NAME, version, decided)
    path = os.path.join(private_folder(os.path.join(state_dir(), FOLDER, version)), REPORT)
    before = {one["name"]: one for one in (last_report(version) or {}).get("probes", ())}
    rows = before | {one.name: as_json(one) for one in results}
    report = {"schema": SCHEMA, "at_ms": at_ms, "probes": [rows[name] for name in BY_NAME if name in rows]}
    fresh = f"{path}.{os.urandom(8).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    os.replace(fresh, path)


def last_report(version: str) -> dict[str, Any] | None:
    """The report of the last run with a version: `at_ms` and `probes`; None where there is none."""
    found = read_text(os.path.join(state_dir(), FOLDER, version, REPORT))
    with suppress(ValueError, RecursionError):
        value = json.loads(found[0]) if found is not None else None
        rows = value.get("probes") if isinstance(value, dict) else None
        if isinstance(rows, list) and all(
            isinstance(one, dict) and one.get("name") in BY_NAME for one in rows
        ):
            return value
    return None


def findings_of_report(version: str, report: Mapping[str, Any]) -> tuple[str, ...]:
    """What of a kept report is a fault: the routes that Admit needs and that failed."""
    failed = [one for one in report["probes"] if BY_NAME[one["name"]].needed and one.get("result") == "fail"]
    return tuple(
        f"{one['name']} failed with {version}: {one.get('detail')}. The route is off." for one in failed
    )


def as_json(one: ProbeResult) -> dict[str, Any]:
    """A result as `--json` prints it."""
    evidence = one.evidence._asdict() if one.evidence is not None else None
    return {"name": one.name, "result": one.result, "detail": one.detail, "evidence": evidence}


def _evidence(transcript: str, nonces: Nonces, probe: str, result: Result) -> Evidence | None:
    """The line that shows the result: with the new nonce where it passed, else whichever stands."""
    either = (nonces.new(probe), nonces.old(probe))
    places = delivery.proofs(transcript, either)
    for nonce in either:
        if places[nonce]:
            return Evidence(transcript, places[nonce][0].line)
    # Older versions write down what a hook added, but not the text that they made of it for the model.
    for number, (_, line) in enumerate(last_lines(transcript, None, delivery.MOST_BYTES), 1):
        if nonces.new(probe).encode() in line and b'"hook_additional_context"' in line:
            return Evidence(transcript, number)
    return None


def _left_out(probe: Probe) -> ProbeResult:
    return ProbeResult(
        probe.name, "unproven", "it could not be asked here: there is no openssl for a page with TLS"
    )


def _findings(version: str, results: tuple[ProbeResult, ...]) -> Iterator[Finding]:
    found = {one.name: one for one in results}
    for one in results:
        if one.probe.needed and one.result == "fail":
            text = f"{one.name} in {version}: {one.detail}. The route is off for this version."
            yield Finding(
                one.name, "fault", text, f"admit selftest {NAME} --probe {one.name}, with another version"
            )
        elif one.probe.needed and one.result == "unproven":
            yield Finding(one.name, "note", f"{one.name} in {version}: {one.detail}.")
    rewrite, deny, allow = (found.get(name) for name in ("rewrite-input", "deny-rule", "allow-rule"))
    if rewrite is not None and rewrite.result == "fail":
        yield Finding("wrap", "note", f"{version} runs no rewritten command, so hosts.wrap stays off in it.")
    elif deny is not None and deny.result == "fail":
        text = f"{version} holds a rule that denies a command against the rewritten text alone, "
        yield Finding("wrap", "note", f"{text}so hosts.wrap stays off in it: your rules come first.")
    elif allow is not None and allow.result == "fail":
        text = f"{version} asks again for a command that you allowed when it runs in admit run."
        yield Finding("wrap", "note", text)
