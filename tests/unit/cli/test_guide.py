"""`admit guide`: what would be shown and why, what to do where nothing is, and what each command changes."""

from __future__ import annotations

import io
import json
import sys

import pytest
from command_line import golden
from tests.unit.guidance.project import Guidance

from admit.cli import frame
from admit.guidance.starter_pack import starter
from admit.judges.encoder import Encoder

HELPS = ("", "list", "show", "lint", "probe", "starter", "split")
LONG = "Text that explains how the database is set up, and what to look at first. " * 6


@pytest.fixture
def guidance(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    made = Guidance(tmp_path)
    monkeypatch.chdir(made.project)
    configure(made)
    return made


def configure(guidance: Guidance, text: str = "") -> None:
    """Write the user's settings; words alone are matched, whatever is installed."""
    path = guidance.home / ".config/admit/admit.toml"
    guidance.file(path, f'[guidance.matcher]\nencoder = "off"\n{text}')


@pytest.fixture
def guide(capsys):
    """Run `admit guide` with words, and give its exit code and what it printed."""

    def run(*words: str) -> tuple[int, str]:
        code = frame.run(["guide", *words])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def value(answer: tuple[int, str], code: int = 0) -> dict:
    assert answer[0] == code, answer
    return json.loads(answer[1])


def stages(found: dict) -> dict[str, str]:
    return {one["id"]: one["stage"] for one in found["outcomes"]}


@pytest.mark.parametrize("name", HELPS)
def test_help_reads_as_it_did(guidance, guide, name):
    code, text = guide(*filter(None, [name]), "--help")
    assert code == 0
    golden(f"help/{'-'.join(filter(None, ['admit-guide', name]))}.txt", text)


def test_what_would_be_shown_stands_first_in_its_order_then_what_was_stopped(guidance, guide):
    guidance.way("project", "deploys", "pattern: deploy")
    guidance.way("project", "told", "pattern: '`deploy`'\nscope: agent")
    guidance.way("project", "shell", "commands: deploy")
    code, text = guide("--prompt", "please deploy, see `deploy`")
    assert code == 0
    head, row = text.split("\n")[0], text.split("\n")[4]
    assert head.startswith("prompt · 1 of 3 snippets would be shown")
    assert row.split()[:5] == ["shown", "1", "deploys", "pattern", "deploy"]
    assert "masked" in text.split("\n")[5] and "Not set off: 1 no_trigger" in text


def test_json_has_every_outcome_every_root_and_the_gate(guidance, guide):
    guidance.way("project", "a", "pattern: deploy")
    guidance.way("project", "b", "commands: deploy")
    found = value(guide("--prompt", "deploy", "--json"))
    assert list(found) == [
        "schema", "surface", "matcher", "gate", "outcomes", "budget", "searched", "findings",
    ]  # fmt: skip
    assert list(found["gate"]) == [
        "status", "mode", "judge", "threshold", "judged", "unjudged", "ms", "reason",
    ]  # fmt: skip
    shown, other = found["outcomes"]
    assert shown == {
        "id": "a", "stage": "shown", "rank": 1, "trigger": "pattern", "span": "deploy", "specificity": 6,
        "p": None, "verdict": "unjudged", "reason": "off", "p_yes": None, "ancestor": None,
        "would_block": False,
    }  # fmt: skip
    assert (other["id"], other["stage"], other["rank"], other["trigger"]) == ("b", "no_trigger", None, None)
    assert list(found["searched"][0]) == [
        "root", "kind", "source", "exists", "files", "loaded", "left_to_host",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words, shown",
    [
        (("--command", "git push"), "cmd"),
        (("--file", "src/app.ts"), "file"),
        (("--task", "write tests"), "task"),
        (("--prompt", "write tests"), "say"),
    ],
)
def test_each_lane_has_its_option(guidance, guide, words, shown):
    guidance.way("project", "cmd", "commands: push")
    guidance.way("project", "file", "files: '^src/.*ts$'")
    guidance.way("project", "task", "pattern: tests\nscope: subagent")
    guidance.way("project", "say", "pattern: tests\nscope: agent")
    found = stages(value(guide(*words, "--json")))
    assert [name for name, stage in found.items() if stage == "shown"] == [shown]


@pytest.mark.parametrize("words", [("-",), ("--prompt", "-"), ("--json", "-"), ("-", "--json")])
def test_a_prompt_may_come_on_standard_input(guidance, guide, monkeypatch, words):
    guidance.way("project", "a", "pattern: deploy")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"deploy \xff")))
    code, text = guide(*words)
    assert code == 0 and "shown" in text and "pattern" in text


@pytest.mark.parametrize("words", [(), ("--prompt", "a", "--task", "b"), ("--prompt", "a", "-")])
def test_without_one_thing_to_match_it_says_what_to_give(guidance, guide, words):
    code, text = guide(*words)
    assert code == 2 and ("--prompt" in text)


def test_why_explains_one_and_names_the_smallest_change(guidance, guide):
    guidance.way("project", "a", "pattern: deploy\nscope: subagent")
    code, text = guide("--prompt", "deploy", "--why", "a")
    assert code == 0 and text.startswith("a: out_of_scope\n")
    assert "To alter it: write scope: agent, subagent in" in text
    found = value(guide("--prompt", "deploy", "--why", "a", "--json"))
    assert found["why"]["id"] == "a" and found["why"]["key"] == ""
    code, text = guide("--prompt", "deploy", "--why", "nowhere")
    assert code == 2 and "admit guide list" in text


def test_a_judge_is_asked_only_when_told_to_and_its_failure_is_said_with_the_fix(guidance, guide):
    guidance.way("project", "a", "pattern: deploy\ndescription: about deploying")
    configure(
        guidance,
        '[judge]\nprofile = "mine"\n[judge.profiles.mine]\nbackend = "chat"\nmodel = "m"\n'
        'destination = "http://127.0.0.1:9"\n[judge.profiles.mine.guidance]\nthreshold = 0.3\n',
    )
    code, text = guide("--prompt", "about deploying: deploy")
    assert code == 0 and "The judge was not asked; --judge asks it." in text
    found = value(guide("--prompt", "about deploying: deploy", "--judge", "--json"))
    assert (found["gate"]["status"], found["gate"]["reason"]) == ("fallback", "connect")
    assert stages(found) == {"a": "shown"}
    code, text = guide("--prompt", "about deploying: deploy", "--judge")
    assert code == 0 and "so all pass" in text and "fallback:connect" in text


def test_what_a_session_was_shown_counts_as_shown(guidance, guide):
    from admit.config.layers import load
    from admit.guidance.gate import GuidanceGate
    from admit.guidance.model import Surface
    from admit.ledger import open_ledger

    guidance.way("project", "a", "pattern: deploy\nrefire: 0.1")
    ledger = open_ledger(load().values)
    gate = GuidanceGate.open(guidance.project, ledger=ledger)
    for session, position in (("s1", 100), ("s2", 90_000)):
        first = gate.scan(Surface("prompt", "deploy", session=session, tokens_used=100))
        gate.delivered(first.result_id)
        gate.scan(Surface("prompt", "hello", session=session, tokens_used=position))
    ledger.close()
    assert stages(value(guide("--prompt", "deploy", "--session", "s1", "--json"))) == {"a": "held_refire"}
    assert stages(value(guide("--prompt", "deploy", "--session", "s2", "--json"))) == {"a": "shown"}
    code, text = guide("--prompt", "deploy", "--session", "s1", "--why", "a")
    assert code == 0 and "shows again from token 30," in text
    for cause, stage in (("resume", "held_refire"), ("compact", "shown")):
        ledger = open_ledger(load().values)
        gate = GuidanceGate.open(guidance.project, ledger=ledger)
        gate.scan(Surface("state", session="s1", tokens_used=100, state=cause, hook_event="SessionStart"))
        ledger.close()
        assert stages(value(guide("--prompt", "deploy", "--session", "s1", "--json"))) == {"a": stage}


def test_in_an_empty_repository_it_names_every_place_and_the_pack(guidance, guide):
    code, text = guide("--prompt", "fix the login test")
    assert code == 0 and text.count("not there") == 11
    assert str(guidance.project / ".claude/ways").replace(str(guidance.home), "~") in text
    assert "admit guide starter --apply" in text and "CLAUDE.md" not in text


def test_beside_a_claude_md_it_says_whose_that_is_and_proposes_to_split_it(guidance, guide):
    guidance.file("CLAUDE.md", f"# Project\n\n## Database\n{LONG}\n\n## Style\nUse tabs.\n")
    code, text = guide("--prompt", "fix the login test")
    assert code == 0 and "CLAUDE.md is the host's business" in text
    assert "1 section of it could wait until needed: admit guide split CLAUDE.md" in text
    guidance.file("CLAUDE.md", "# Project\n\n## Style\nUse tabs.\n")
    assert "It has no section that could wait" in guide("--prompt", "x")[1]


def test_with_cursor_rules_alone_they_are_read(guidance, guide):
    guidance.file(".cursor/rules/ts.mdc", "---\nglobs: '**/*.ts'\n---\nUse strict types.\n")
    assert stages(value(guide("--file", "src/a.ts", "--json"))) == {"cursor:ts": "shown"}
    code, text = guide("--prompt", "hello")
    assert code == 0 and "1 snippet loaded, none set off" in text and "admit guide starter" in text


def test_guidance_that_waits_for_something_else_says_for_what(guidance, guide):
    guidance.file(".cursor/rules/api.mdc", "---\nglobs: src/**/*.ts\ndescription: about files\n---\nbody\n")
    guidance.file(".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\nbody\n")
    _, text = guide("--prompt", "add an endpoint")
    assert "1 cannot be set off by a prompt, but by a file to be written (--file F)" in text
    assert "1 cannot be set off by a prompt, but by a state, such as the start of a session" in text
    _, text = guide("--file", "other.py")
    assert "by a file to be written" not in text and "1 cannot be set off by a file" in text


def test_what_came_near_by_its_meaning_is_named(guidance, guide):
    guidance.way("project", "ship", "description: Deploying a service to the cluster and watching it start")
    configure(guidance, "admit = 1.0\n")
    _, text = guide("--prompt", "deploying the service to the cluster")
    assert "nearest by meaning: ship, p 0." in text and "of 1; more by --why ship" in text
    assert "nearest" not in guide("--prompt", "bake a cake")[1]


def test_what_cannot_be_seen_is_not_printed(guidance, guide):
    guidance.way("project", "odd", "description: 'd'", "red \x1b[31m\u202eletters\n")
    code, text = guide("show", "odd")
    assert code == 0 and "red [31mletters" in text
    assert "\x1b" in value(guide("show", "odd", "--json"))["shown_as"]


def test_with_skills_alone_they_are_read_or_left_to_the_host_that_loads_them(guidance, guide):
    guidance.file(
        ".claude/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Filling in and merging pdf forms\n---\nbody\n",
    )
    found = value(guide("--prompt", "filling in and merging pdf forms", "--json"))
    assert stages(found) == {"skill:pdf": "shown"}
    code, text = guide("--prompt", "filling in and merging pdf forms", "--host", "claude-code")
    assert code == 0 and "left to claude-code" in text
    assert "claude-code loads its own files itself" in text and "admit guide starter" in text


def test_list_and_show_tell_what_is_in_force_and_what_is_hidden(guidance, guide):
    guidance.way("project", "a", "pattern: deploy\ndescription: about deploying", "Deploy on Mondays.\n")
    hidden = guidance.way("user", "a", "pattern: other")
    guidance.way("user", "b", "pattern: b")
    configure(guidance, '[guidance]\ndisable = ["b"]\n')
    code, text = guide("list")
    assert code == 0 and text.split("\n")[1].split()[:4] == ["a", "project", "agent-ways", "pattern,"]
    assert f"Shadowed: a of {hidden}" in text and "off" in text.split("\n")[2]
    found = value(guide("show", "a", "--json"))
    assert found["judge_reads"] == "a\nabout deploying" and found["hides"] == [str(hidden)]
    assert found["shown_as"] == "[guidance a · project]\nDeploy on Mondays."
    assert "guidance.disable turns it off" in guide("show", "b")[1]
    assert guide("show", "c")[0] == 2


def test_lint_fails_on_errors_alone_and_with_strict_on_warnings_too(guidance, guide):
    guidance.way("project", "a", "description: about deploying the service\nrefire: normal")
    assert guide("lint") == (0, "Nothing to say about 1 snippet.\n")
    code, text = guide("lint", "--strict")
    assert code == 1 and "no-probe" in text
    guidance.file(".claude/ways/probes.tsv", "prompt\texpected\nhow do I deploy\ta\n")
    assert guide("lint", "--strict")[0] == 0
    path = guidance.way("project", "b", "pattern: 'service|deployment'\nrefire: normal")
    code, text = guide("lint")
    assert code == 0 and f"{path}:2: warning" in text
    path = guidance.way("project", "c", "description: x: y\nrefire: normal")
    code, text = guide("lint")
    assert code == 1 and f"{path}:2: error front-matter-recovered" in text
    found = value(guide("lint", "--json"), 1)
    assert found["snippets"] == 3 and set(found["findings"][0]) >= {"code", "level", "path", "line", "fix"}


@pytest.mark.skipif(not Encoder().is_installed(), reason="the extra local is not installed")
def test_lint_names_what_says_nearly_the_same_where_texts_can_be_embedded(guidance, guide):
    for name, about in (("a", "Writing tests for the parser"), ("b", "Write parser tests"), ("c", "Baking")):
        guidance.way("project", name, f"description: {about}\nrefire: once")
    guidance.way("project", "d", "description: Writing tests for the parsers\nrefire: once")
    assert "near-duplicate" not in guide("lint")[1]
    guidance.file(guidance.home / ".config/admit/admit.toml", "")
    assert "warning near-duplicate: d says nearly the same as a" in guide("lint")[1]


def test_lint_looks_at_one_path_also_outside_of_all_roots(guidance, guide, tmp_path):
    good = guidance.way("project", "good", "description: about deploying the service\nrefire: normal")
    bad = guidance.way("project", "bad", "description: x: y\nrefire: normal")
    assert guide("lint", str(good))[0] == 0 and guide("lint", str(bad))[0] == 1
    assert guide("lint", str(bad.parent.parent))[0] == 1
    other = tmp_path / "elsewhere/ways/a/a.md"
    guidance.file(other, "---\ndescription: x: y\nrefire: normal\n---\nbody\n")
    assert guide("lint", str(other))[0] == 1 and guide("lint", str(other.parent.parent))[0] == 1
    whole = tmp_path / "elsewhere/project"
    guidance.file(whole / ".cursor/rules/a.mdc", "---\ndescription: x: y\n---\nbody\n")
    assert "cursor/rules/a.mdc:2: error" in guide("lint", str(whole))[1]
    (tmp_path / "empty").mkdir()
    code, text = guide("lint", str(tmp_path / "empty"))
    assert code == 2 and "there is no guidance at" in text


def test_probe_scores_holds_bars_and_compares(guidance, guide, tmp_path):
    guidance.way("project", "a", "pattern: deploy")
    guidance.way("project", "b", "pattern: rollback")
    rows = "deploy it\ta\tdirect\nroll it back\tb\tdirect\nthanks\tnone\tnone\n"
    file = guidance.file(tmp_path / "rows.tsv", rows)
    found = value(guide("probe", str(file), "--json"))
    assert found["figures"]["top1"] == 0.5 and found["figures"]["none_quiet"] == 1
    assert found["lost"] == {"no_trigger": 1} and found["kinds"]["direct"]["shown"] == 0.5
    old = guidance.file(tmp_path / "old.json", json.dumps(found))
    assert guide("probe", str(file), "--min", "top1=0.5")[0] == 0
    code, text = guide("probe", str(file), "--min", "top1=0.51")
    assert code == 1 and "Bar missed: top1 is 0.500, wanted 0.51" in text
    code, text = guide("probe", str(file), "--compare", str(old))
    assert code == 0 and "Not to be adopted" in text  # nothing is gained
    guidance.way("project", "b", "pattern: roll")
    code, text = guide("probe", str(file), "--compare", str(old))
    assert code == 0 and "1 better, 0 worse" in text and "Adopt it." in text
    guidance.way("project", "b", "pattern: roll|thanks")
    code, text = guide("probe", str(file), "--compare", str(old))
    assert code == 1 and "begins to fire: thanks" in text


@pytest.mark.parametrize("old", ['{"rows": [{"prompt": "deploy"}], "figures": {}}', "[" * 100_000, "[]",
    '{"rows": [{"prompt": "deploy", "rank": "1", "shown": true}]}'])  # fmt: skip
def test_an_earlier_run_that_is_none_is_wrong_usage(guidance, guide, tmp_path, old):
    file = guidance.file(tmp_path / "rows.tsv", "deploy\ta\n")
    code, text = guide("probe", str(file), "--compare", str(guidance.file(tmp_path / "old.json", old)))
    assert code == 2 and "is not what admit guide probe --json prints" in text


@pytest.mark.parametrize(
    "words, said",
    [
        (("--min", "speed=1"), "it knows: top1"),
        (("--min", "top1=much"), "from 0 to 1"),
        (("--compare", "nowhere"), "cannot be read"),
    ],
)
def test_a_probe_that_cannot_be_run_is_wrong_usage(guidance, guide, tmp_path, words, said):
    file = guidance.file(tmp_path / "rows.tsv", "deploy\ta\n")
    code, text = guide("probe", str(file), *words)
    assert code == 2 and said in text


def test_the_pack_is_listed_and_copied_only_when_told_to_and_never_over_a_file(guidance, guide):
    code, text = guide("starter")
    count = len(starter())
    assert code == 0 and f"{count} files would be copied" in text and not guidance.places["user"].exists()
    mine = guidance.file(starter()[0].target, "mine")
    code, text = guide("starter", "--apply")
    assert code == 0 and f"{count - 1} files written; 1 file that stood there already" in text
    assert mine.read_text() == "mine"
    assert value(guide("starter", "--json"))["pack"][0]["there"] is True
    assert guide("--prompt", "my tests are flaky")[0] == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_split_shows_a_diff_and_moves_bytes_only_when_told_to(guidance, guide, end):
    text = f"# Project\n\n## Database\n{LONG}\n```\n## no heading\n```\n## Style\nUse tabs."
    before = text.replace("\n", end).encode()
    file = guidance.file("CLAUDE.md", before)
    code, said = guide("split", "CLAUDE.md")
    assert code == 0 and "+++ " in said and "stays: Style" in said and file.read_bytes() == before
    code, said = guide("split", "CLAUDE.md", "--apply")
    way = guidance.project / ".claude/ways/database/database.md"
    assert code == 0 and str(way) in said
    moved = way.read_bytes().split(f"---{end}".encode(), 2)[2]
    kept = file.read_bytes()
    at = before.index(moved)
    assert kept == before[:at] + before[at + len(moved) :] and b"## no heading" in moved
    code, said = guide("--prompt", "how is the database set up", "--why", "database")
    assert code == 0 and said.startswith("database: ")


def test_split_writes_nothing_over_a_file_that_is_there(guidance, guide):
    file = guidance.file("CLAUDE.md", f"## Database\n{LONG}\n")
    guidance.file(".claude/ways/database/database.md", "mine")
    code, text = guide("split", "CLAUDE.md", "--apply")
    assert code == 2 and "exists" in text and "## Database" in file.read_text()
    assert guide("split", "nowhere.md")[0] == 2
    code, text = guide("split", "CLAUDE.md", "--section", "Nothing")
    assert code == 2 and "sections are: Database" in text
