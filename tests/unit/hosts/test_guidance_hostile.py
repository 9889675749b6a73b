"""The guidance door at Claude Code's hooks, in a project whose files mean harm."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .test_guidance import ASKED, PROMPT, Agent, shown


@pytest.fixture
def agent(place):
    return Agent(place)


@pytest.fixture
def project(agent) -> Path:
    folder = agent.folder / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def way(project: Path, name: str, data: bytes) -> Path:
    path = project / ".claude" / "ways" / name / f"{name}.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def matter(text: str) -> bytes:
    return f"---\n{text}\n---\nbody\n".encode()


HARM = {
    "a regular expression that backtracks elsewhere": matter("pattern: '(a+)+$'"),
    "one too large": matter(r"pattern: '(\w{1000}){1000}'"),
    "one that is none": matter("pattern: '('"),
    "aliases that grow": b"---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\npattern: [*b,*b,*b]\n---\nbody\n",
    "NUL by an escape": matter('pattern: x\nwhen: {project: "~\\0"}'),
    "half of a character by an escape": matter('description: "\\ud800"\npattern: "\\ud800"'),
    "five megabytes": b"---\npattern: x\n---\n" + b"x" * 5_000_000,
    "bytes that are no text": b"---\npattern: x\n---\n\xff\xfe\0",
    "globs of braces": matter("files: '" + "{" * 4000 + "'\nwhen:\n  file_exists: '" + "[{" * 2000 + "'"),
    "a depth of brackets": b"---\npattern: " + b"[" * 8000 + b"\n---\n",
    "nothing": b"",
}


@pytest.mark.parametrize("data", HARM.values(), ids=HARM)
def test_a_project_that_means_harm_costs_the_users_own_guidance_nothing(agent, project, data):
    agent.way("ops/deploy", "pattern: deployment\nfiles: \\.py$")
    way(project, "harm", data)
    cwd = str(project)
    assert agent.said(PROMPT, prompt=f"{ASKED} {'a' * 5_000}!", cwd=cwd) == shown("ops/deploy")
    agent.restart()
    agent.ledger.records.clear()
    given = {"tool_name": "Write", "tool_use_id": "t1", "tool_input": {"file_path": f"{cwd}/a.py"}}
    assert agent.said("PreToolUse", cwd=cwd, **given) == shown("ops/deploy")


def test_a_project_can_neither_hide_nor_turn_off_what_is_pinned_nor_read_what_links_lead_to(agent, project):
    agent.settings["guidance.pin"] = ("ops/*",)
    agent.config = agent.config._replace(
        values={**agent.config.values, "guidance.pin": ("ops/*",), "guidance.disable": ("ops/*",)},
        added={"guidance.disable": ("ops/*",)},
    )
    agent.restart()
    agent.way("ops/deploy", "pattern: deployment")
    (project / ".claude" / "ways" / "ops").mkdir(parents=True)
    (agent.folder / "secret.md").write_text("---\npattern: deployment\n---\nsecret\n")
    for name in ("ops/deploy", "link"):
        path = project / ".claude" / "ways" / name / f"{name.rpartition('/')[2]}.md"
        path.parent.mkdir(parents=True)
        if name == "link":
            os.symlink(agent.folder / "secret.md", path)
        else:
            path.write_text("---\npattern: deployment\n---\nour word, not yours\n")
    assert agent.said(PROMPT, prompt=ASKED, cwd=str(project)) == shown("ops/deploy")


def test_a_way_that_is_gone_or_changed_since_it_was_read_shows_what_is_there(agent, project):
    gone = way(project, "gone", matter("pattern: deployment"))
    changed = way(project, "changed", matter("pattern: deployment"))
    assert agent.said(PROMPT, prompt="hello", cwd=str(project)) == ""
    gone.unlink()
    changed.write_bytes(b"---\npattern: rollback\n---\nnew body\n")
    said = agent.said(PROMPT, prompt=ASKED, cwd=str(project))
    assert said == "[guidance changed · project]\nnew body"


@pytest.mark.parametrize("command", ["echo a > x.py", "cd .. && echo a > api/x.py", "tee ./x.py"])
def test_a_shell_in_a_folder_of_the_project_writes_below_that_folder(agent, project, command):
    way(project, "api", matter(r"files: ^api/x\.py$"))
    (project / "api").mkdir()
    given = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": command}}
    for cwd, there in ((project / "api", True), (project, False)):
        agent.restart()
        agent.ledger.records.clear()
        said = agent.said("PreToolUse", cwd=str(cwd), **given)
        assert said == ("[guidance api · project]\nbody" if there else "")
