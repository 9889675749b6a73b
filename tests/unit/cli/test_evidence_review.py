"""`admit evidence review` before a judge on loopback, and what it does without one."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from command_line import golden
from evidencing import HOLD, vault_in
from tests.servers.chat_server import ChatServer

from admit.cli import frame


@pytest.fixture
def vault(tmp_path, monkeypatch, capsys):
    return vault_in(tmp_path, monkeypatch, capsys)


@pytest.fixture
def no_judge(vault):
    """A vault, and the addresses that something was sent to."""
    with ChatServer() as server:
        vault.judged_by(server.url)
        yield vault, server


def answering(value: float) -> ChatServer:
    """A judge that answers every question by the first label (1.0) or the last (0.0)."""
    return ChatServer(judge=lambda task, text: value)


def test_without_a_judge_nothing_is_done_and_the_three_ways_are_named(no_judge):
    vault, server = no_judge
    code, out, err = vault("review", "notes")
    assert (code, out) == (2, "")
    assert all(way in err for way in ("--judge NAME", "--agent claude|codex", "--export DIR"))
    assert server.connections == 0


def test_a_judge_without_this_door_and_an_unknown_one_are_refused(vault):
    code, _, err = vault("review", "notes", "--judge", "local")
    assert code == 2 and "no evidence door" in err
    assert vault("review", "notes", "--judge", "nobody")[0] == 2


def test_a_judge_elsewhere_is_not_asked_without_consent(vault):
    code, _, err = vault("review", "notes", "--judge", "jev")
    assert code == 2 and "admit consent grant jev --door evidence" in err


def test_verdicts_read_as_they_did(vault):
    vault.write(".admit/criteria/hold.md", HOLD)
    with answering(0.0) as server:
        vault.judged_by(server.url)
        code, out, err = vault("review", "notes", "--judge", "mine", "--criterion", "hold", "--workers", "1")
    assert (code, err) == (1, "")
    golden("evidence-review.txt", out)


def test_only_what_is_stale_is_reviewed_again(vault):
    with answering(1.0) as server:
        vault.judged_by(server.url, judge="mine")
        first = vault.json("review", "notes/tides.md", "notes/fog.md")
        assert first["summary"]["PASS"] == 2 and all(one["stored"] for one in first["pairs"])
        again = vault.json("review", "notes/tides.md", "notes/fog.md")
        assert (again["summary"]["pairs"], again["summary"]["fresh"]) == (0, 2)
        vault.write("tides.md", (vault.notes / "tides.md").read_text() + "\nMore.\n")
        third = vault.json("review", "notes/tides.md", "notes/fog.md")
        # Of what the other note read nothing changed.
        assert [one["note"] for one in third["pairs"]] == ["tides.md"]
        every = vault.json("review", "notes/tides.md", "notes/fog.md", "--all")
        assert every["summary"]["pairs"] == 2
        reason = vault.json("review", "notes/tides.md", "--reason", "note-changed")
        assert reason["summary"]["pairs"] == 0


def test_a_judge_that_fails_leaves_pairs_unjudged_with_the_reason_and_the_fix(vault):
    with ChatServer("status-500") as server:
        vault.judged_by(server.url)
        code, out, _ = vault("review", "notes/tides.md", "--judge", "mine")
        assert code == 1
        assert "tides.md by grounding-alignment: UNJUDGED" in out and "PASS" not in out
        assert "1 × " in out and "WARN bad-anchor" in out and "3 of 3 artifacts" in out
        assert vault("review", "notes/tides.md", "--judge", "mine", "--allow-unjudged")[0] == 0
    assert vault("status", "notes/tides.md")[0] == 1


def test_shadow_mode_prints_a_fail_and_ends_with_zero_without_a_baseline(vault):
    vault.write(".admit/criteria/hold.md", HOLD)
    with answering(0.0) as server:
        vault.judged_by(server.url, mode="shadow")
        code, out, _ = vault("review", "notes/fog.md", "--judge", "mine", "--criterion", "hold")
    assert code == 0 and "FAIL" in out and "only recorded: mode" in out
    code, out, _ = vault("status", "notes/fog.md", "--criterion", "hold")
    assert code == 1 and "missing-baseline" in out


def test_switched_off_it_refuses_and_plan_and_lint_still_work(vault):
    vault.judged_by("http://127.0.0.1:9", mode="off")
    code, _, err = vault("review", "notes", "--judge", "mine")
    assert code == 2 and "evidence.mode is off" in err
    assert vault("plan", "notes")[0] == 0
    assert vault("lint", "notes")[0] == 1


def test_repeats_leave_the_accepted_review_and_tell_how_often_verdicts_agree(vault):
    given = iter([1.0] * 100)
    with ChatServer(judge=lambda task, text: next(given)) as server:
        vault.judged_by(server.url, judge="mine")
        assert vault("review", "notes/harbour-wall.md", "--repeat", "2")[0] == 2
        vault.json("review", "notes/harbour-wall.md")
        before = vault.json("status", "notes/harbour-wall.md")
        found = vault.json("review", "notes/harbour-wall.md", "--repeat", "3")
        assert found["summary"] == {"pairs": 1, "times": 3, "same": 1}
        assert found["repeats"][0]["verdicts"] == ["PASS"] * 3
        assert vault.json("status", "notes/harbour-wall.md") == before


def test_an_interrupt_keeps_what_is_done_and_the_next_run_goes_on(vault, monkeypatch):
    from admit.evidence.gate import EvidenceGate

    whole = EvidenceGate.review_many

    def broken_off(self, pairs, workers=None):
        yield from whole(self, pairs[:2], 1)
        raise KeyboardInterrupt

    with answering(1.0) as server:
        vault.judged_by(server.url, judge="mine")
        monkeypatch.setattr(EvidenceGate, "review_many", broken_off)
        code, out, err = vault("review", "notes")
        assert code == 130 and out.count(": PASS") == 2
        assert "interrupted after 2 of 8 pairs; 2 of these are kept" in err
        monkeypatch.undo()
        monkeypatch.setenv("HOME", str(vault.home))
        monkeypatch.chdir(vault.home)
        assert vault.json("review", "notes")["summary"]["pairs"] == 6


def test_sarif_and_json_hold_the_findings_and_a_pair_without_a_verdict(vault):
    with ChatServer("status-500") as server:
        vault.judged_by(server.url)
        vault("review", "notes/tides.md", "--judge", "mine", "--sarif", "r.sarif")
    (run,) = json.loads((vault.home / "r.sarif").read_text())["runs"]
    assert run["invocations"][0]["executionSuccessful"] is False
    assert [one["ruleId"] for one in run["results"]][:1] == ["bad-anchor"]


def test_criteria_are_copied_once_and_never_over_a_file(vault):
    code, out, _ = vault("review", "notes", "--init-criteria")
    assert code == 0 and out.count("written") == 3
    path = vault.notes / ".admit" / "criteria" / "link-text.md"
    path.write_text("mine")
    _, out, _ = vault("review", "notes", "--init-criteria")
    assert "already" in out and path.read_text() == "mine"


def test_an_export_writes_a_job_for_each_pair_and_says_what_comes_next(vault):
    code, out, _ = vault("review", "notes/tides.md", "--export", "jobs")
    assert code == 0 and "Next:" in out
    (job,) = vault.json("review", "notes/tides.md", "--export", "jobs")["jobs"]
    assert f"admit evidence finalize --root notes {job['job']}" in out
    prompt = (vault.home / "jobs" / job["job"] / "prompt.md").read_text()
    assert "Mean high water" not in prompt
    code, out, _ = vault("open", "--root", "notes", job["job"], "a1")
    assert code == 0 and "Mean high water" in out


def test_an_export_into_another_folder_names_the_one_where_the_job_goes_on(vault):
    (job,) = vault.json("review", "notes/tides.md", "--export", "jobs")["jobs"]
    code, out, _ = vault("review", "notes/tides.md", "--export", "others")
    assert code == 0 and "begun before" in out and job["folder"] in out
    assert "output.md" in out[out.index("Next:") :]
    assert not (vault.home / "others").exists()


def test_a_folder_of_a_job_that_cannot_be_written_is_the_one_that_is_named(vault):
    (job,) = vault.json("review", "notes/tides.md", "--export", "jobs")["jobs"]
    shutil.rmtree(vault.home / "jobs")
    (vault.home / "jobs").write_text("in the way")
    code, _, err = vault("review", "notes/tides.md", "--export", "others")
    assert code == 2 and job["job"] in err and "others cannot be written" not in err


def test_a_job_of_another_base_is_sought_with_root(vault):
    (job,) = vault.json("review", "notes/tides.md", "--export", "jobs")["jobs"]
    (vault.home / "elsewhere").mkdir()
    for words in (
        ("open", "--root", "elsewhere", job["job"], "a1"),
        ("finalize", "--root", "elsewhere", job["job"]),
    ):
        code, _, err = vault(*words)
        assert code == 2 and "of this base; --root names" in err


def test_a_judge_asked_between_export_and_finalize_makes_a_conflict(vault):
    with answering(1.0) as server:
        vault.judged_by(server.url)
        model = vault.json("review", "notes/tides.md", "--judge", "mine")["pairs"][0]["partition"]
        words = ("review", "notes/tides.md", "--all", "--export", "jobs", "--model", model)
        (job,) = vault.json(*words)["jobs"]
        assert vault("open", "--root", "notes", job["job"], "a1")[0] == 0
        vault.json("review", "notes/tides.md", "--all", "--judge", "mine")
    assert vault("open", "--root", "notes", job["job"], "a2")[0] == 0
    _answered(job["folder"])
    _, out, err = vault("finalize", "--root", "notes", job["job"])
    assert "conflict: another review was accepted meanwhile" in out, err


def test_an_agent_of_ours_writes_over_nobody_elses_answer(vault, monkeypatch):
    from admit.hosts import reviewers

    class Never:
        def __init__(self, name, base, *, model=None): ...

        def review(self, store, job):
            raise AssertionError("it was started")

    monkeypatch.setattr(reviewers, "Reviewer", Never)
    (job,) = vault.json("review", "notes/tides.md", "--export", "jobs", "--model", "m")["jobs"]
    output = _answered(job["folder"])
    before = output.read_bytes()
    code, _, err = vault("review", "notes/tides.md", "--agent", "claude", "--model", "m")
    assert code == 2 and f"admit evidence finalize --root notes {job['job']}" in err
    assert output.read_bytes() == before


def _answered(folder):
    """The file of a valid answer to a job, with no finding."""
    first, last = re.findall(r"^\[\[/?review .*\]\]$", (Path(folder) / "prompt.md").read_text(), re.MULTILINE)
    output = Path(folder) / "output.md"
    output.write_text(f"{first}\n### Summary\nLooked at.\n### Findings\n## Result: PASS\n{last}\n")
    return output


@pytest.mark.parametrize(
    "words",
    [
        ("--judge", "mine", "--export", "jobs"),
        ("--agent", "claude", "--repeat", "2"),
        ("--judge", "mine", "--model", "m"),
        (),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_any_work(vault, words):
    paths = ("notes",) if words else ()
    assert vault("review", *paths, *words)[0] == 2
    assert not (vault.home / "jobs").exists()


def test_why_and_status_tell_of_a_review(vault, capsys):
    with answering(1.0) as server:
        vault.judged_by(server.url, judge="mine")
        vault.json("review", "notes/tides.md")
    assert frame.run(["why", "--last"]) == 0
    out = capsys.readouterr().out
    assert "evidence" in out and "cap 16 artifacts" in out and "a3" in out
    assert frame.run(["status"]) == 0
    assert "707 of 973 bytes" in capsys.readouterr().out


def test_an_agent_that_takes_too_long_leaves_its_pairs_unjudged(vault, monkeypatch):
    from admit.evidence.job.finalize import finalize
    from admit.hosts import reviewers

    class Slow:
        def __init__(self, name, base, *, model=None):
            self.base = base

        def review(self, store, job):
            return finalize(self.base, store, job, fault="agent-timeout")

    monkeypatch.setattr(reviewers, "Reviewer", Slow)
    words = ("review", "notes/tides.md", "notes/fog.md", "--agent", "claude", "--model", "m")
    code, out, _ = vault(*words)
    assert code == 1 and out.count("UNJUDGED") == 3
    assert "2 × agent-timeout: The agent took longer than evidence.agent_timeout_s." in out
    assert vault(*words, "--allow-unjudged")[0] == 0


def test_an_agent_is_not_started_without_consent(vault):
    code, out, err = vault("review", "notes", "--agent", "claude")
    assert (code, out) == (2, "")
    assert "admit consent grant agent:claude --door evidence" in err


def test_an_export_names_notes_that_it_cannot_read_and_has_no_sarif(vault):
    (vault.notes / "latin.md").write_bytes(b"\xff\xfe bad")
    told = vault.json("review", "notes/latin.md", "--export", "jobs", code=1)
    assert told["unreadable"] == [{"note": "latin.md", "reason": "non-text"}]
    code, _, err = vault("review", "notes", "--export", "jobs", "--sarif", "x.sarif")
    assert code == 2 and "--judge and --agent" in err
