"""Agents as reviewers: consent before all else, a probe before the prompt, a deadline, and a verdict."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from tests.unit.evidence.jobs import files, output, planned

from admit.config.layers import load as load_config
from admit.errors import UsageError
from admit.evidence.base import Base
from admit.evidence.job.export import export
from admit.evidence.job.manifest import Job
from admit.evidence.partition import partition
from admit.hosts.fake_messages import Call, FakeMessages
from admit.hosts.reviewer_agents import AGENTS, Run, offered
from admit.hosts.reviewers import Reviewer
from admit.judges.consent import Consent
from admit.ledger.evidence import EvidenceStore, open_store

HERE = Path(__file__).parents[3]
OPEN = "mcp__admit__evidence_open"
Client = Callable[[str], str]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Base:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    root = tmp_path / "root"
    for path, text in files(3, 2).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Base.open(str(root), config=load_config(str(root), overrides={"evidence.agent_timeout_s": 10}))


@pytest.fixture
def store(base: Base) -> EvidenceStore:
    return open_store(base.config.values, base.root)


@pytest.fixture
def job(base: Base, store: EvidenceStore, tmp_path: Path) -> Job:
    return export(base, store, planned(base), str(tmp_path / "jobs"), partition(None))


@pytest.fixture
def consent(base: Base) -> Consent:
    given = Consent()
    given.grant("agent:claude", ["evidence"])
    return given


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Makes the executable of a stand-in with a mode."""

    def make(mode: str) -> str:
        path = tmp_path / f"claude-{mode}"
        started = f'cd "{HERE}"\nexec "{sys.executable}" -m tests.servers.evidence_agent --mode {mode} "$@"\n'
        path.write_text(f"#!/bin/sh\n{started}")
        path.chmod(0o700)
        return str(path)

    return make


def opening(job: Job, *ids: str) -> list[Call]:
    return [Call(OPEN, {"job": job.id, "id": id}) for id in ids]


def test_nothing_starts_without_consent(base: Base, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="admit consent grant agent:claude --door evidence"):
        Reviewer("claude", base, client=str(tmp_path / "never"))


def test_the_consent_is_given_by_the_command_that_the_refusal_names(
    base: Base, capsys: pytest.CaptureFixture[str]
) -> None:
    from admit.cli.frame import run

    assert run(["consent", "grant", "agent:claude", "--door", "evidence", "--yes"]) == 0
    assert "document_text" in capsys.readouterr().out
    assert Consent().allows("agent:claude", "evidence")
    assert run(["consent", "revoke", "agent:claude"]) == 0
    assert not Consent().allows("agent:claude", "evidence")


def test_a_consent_for_one_agent_is_none_for_another(base: Base, consent: Consent) -> None:
    with pytest.raises(UsageError, match="agent:codex"):
        Reviewer("codex", base, consent=consent)


def test_an_agent_that_there_is_not_is_named(
    base: Base, monkeypatch: pytest.MonkeyPatch, consent: Consent
) -> None:
    with pytest.raises(UsageError, match="there are: claude, codex"):
        Reviewer("gemini", base)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="not installed here"):
        Reviewer("claude", base, consent=consent)


def test_an_agent_reviews_with_enforced_reads_and_its_verdict_is_kept(
    base: Base,
    store: EvidenceStore,
    job: Job,
    consent: Consent,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = output(job, ("- WARN [b3 a2] It goes further.",), "WARN", "a2, a1")
    with FakeMessages(opening(job, "a2", "a1", "a3", "a2"), last=f"Here it is.\n{said}") as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        review = Reviewer("claude", base, client=client("honest"), consent=consent).review(store, job.id)
        refused, again = api.result_of(2), api.result_of(3)
        prompt = api.turns[0]["messages"][0]["content"]
    assert (review.verdict, review.stored, review.model) == ("WARN", True, "stand-in-1")
    assert review.pair.partition == partition("stand-in-1")
    assert review.coverage is not None
    assert [one.path for one in review.coverage.opened] == ["kb/t2.md", "kb/t1.md"]
    assert review.coverage.stop == "budget"
    assert refused is not None and "2 of 2 slots" in refused
    assert again == "# T2\n\nThe text of 2.\n"
    assert prompt == (Path(job.folder) / "prompt.md").read_text()
    assert (Path(job.folder) / "output.md").read_text().endswith(said)


@pytest.mark.parametrize(
    "mode, why",
    [
        ("leaky", "it reads files by tools of its own"),
        ("more", r"it offers other tools \(WebFetch\)"),
        ("deaf", "it did not use the tool evidence_open"),
    ],
)
def test_a_version_that_does_not_keep_to_the_one_tool_is_refused_and_told_nothing(
    base: Base,
    store: EvidenceStore,
    job: Job,
    consent: Consent,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    why: str,
) -> None:
    with FakeMessages(last=output(job)) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        with pytest.raises(UsageError, match=rf"claude \(0.0.1 .* is refused as a reviewer: {why}"):
            Reviewer("claude", base, client=client(mode), consent=consent).review(store, job.id)
        assert api.requests == []
    held = store.job(job.id)
    assert held is not None and held.state == "queued" and store.reads(job.id, 1) == ()


@pytest.mark.parametrize("mode", ["crashes", "noise"])
def test_an_agent_that_ends_without_an_answer_gives_no_verdict(
    base: Base,
    store: EvidenceStore,
    job: Job,
    consent: Consent,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
) -> None:
    with FakeMessages(opening(job, "a1"), last=output(job)) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        review = Reviewer("claude", base, client=client(mode), consent=consent).review(store, job.id)
    assert (review.verdict, review.reason, review.stored) == ("UNJUDGED", "agent-exit", True)


def test_an_agent_that_does_not_end_in_time_is_killed_with_its_children(
    base: Base,
    store: EvidenceStore,
    job: Job,
    consent: Consent,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from admit.hosts import reviewers

    printed: list[str] = []
    ran = reviewers._ran

    def watched(*given: Any) -> tuple[int | None, str]:
        code, out = ran(*given)
        printed.append(out)
        return code, out

    monkeypatch.setattr(reviewers, "_ran", watched)
    review = Reviewer("claude", base, client=client("hangs"), consent=consent).review(store, job.id)
    assert (review.verdict, review.reason) == ("UNJUDGED", "agent-timeout")
    child = int(printed[-1])
    for _ in range(100):
        if not _runs(child):
            break
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_users_own_keys_and_settings_do_not_reach_a_probe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from admit.hosts.reviewers import _environment

    for name in ("CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY"):
        monkeypatch.setenv(name, "a key of the user")
    run = Run("claude", str(tmp_path), ("python",), {}, url="http://127.0.0.1:1")
    for agent in AGENTS.values():
        found = _environment(agent, run)
        assert found["HOME"] == str(tmp_path)
        assert "a key of the user" not in found.values()
        assert "a key of the user" in _environment(agent, run._replace(url="")).values()


def test_all_tools_of_all_requests_are_looked_at() -> None:
    requests = [
        {"tools": [{"name": "a"}, {"type": "tool_search"}]},
        {"tools": None},
        {},
        {"tools": [{"name": "b"}]},
    ]
    assert offered(requests) == {"a", "b", "tool_search"}
