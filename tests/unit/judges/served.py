"""A whole judge in front of a server or a program, with settings and state in folders of the test's own."""

import pytest

from admit.config.keys import shipped
from admit.core.question import Ask
from admit.judges.load import load_judge
from admit.judges.rubric import guidance_question

PATHS = {
    "schema": "/v1/chat/completions",
    "tool": "/v1/chat/completions",
    "messages": "/v1/messages",
    "systemone": "/v1/systemone",
}
STYLES = tuple(PATHS)
SUBJECTS = ("How to write database migrations", "How to bake bread", "Baking with yeast")
NONE_TO_STALL_ON = 10_000
"""Milliseconds that only a judge which hangs would take."""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """Keeps what the user has on this machine out of a test."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


def settings(**fields):
    own = {f"judge.profiles.own.{name}": value for name, value in fields.items()}
    return {
        **shipped(),
        "limits.cooldown_failures": 1000,
        "judge.profiles.own.guidance.threshold": 0.3,
        **own,
    }


def judge_at(url, style, **fields):
    """A judge that asks the server at a URL in one style."""
    backend = {"backend": "systemone"} if style == "systemone" else {"backend": "chat", "form": style}
    return load_judge(
        "own",
        config=settings(**backend, destination=url, path=PATHS[style], model="model-1", **fields),
    )


def ask(count=3, deadline_ms=NONE_TO_STALL_ON, task="fix the failing database migration"):
    subjects = [SUBJECTS[k % 3] for k in range(count)]
    questions = tuple(guidance_question(f"q{k}", subject) for k, subject in enumerate(subjects, 1))
    return Ask("guidance", task, (("plan", "look at the log"),), questions, None, deadline_ms, "r1")
