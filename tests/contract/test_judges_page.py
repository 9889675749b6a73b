"""The pages of judges and of data: settings are settings, commands are commands, and no word is missing."""

import re
from typing import get_args

import pytest

from admit.cli.frame import COMMANDS
from admit.config import layers
from admit.config.judge_keys import LIMIT_KEYS, PROFILES
from admit.core.reasons import DEFECTS, REASON_WORDS, SHADOW_REASONS
from admit.judges.check import State
from admit.judges.consent import CLASSES, statement
from admit.judges.load import load_judge
from admit.judges.profiles import profile
from admit.judges.redact import CLASSES as MASKED
from admit.judges.spend import KEPT_DAYS

from .house import DOCS

PAGE = (DOCS / "judges.md").read_text(encoding="utf-8")
TOML = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS_SHOWN = "".join(re.findall(r"```\n(.*?)```", PAGE, re.DOTALL)).splitlines()


@pytest.mark.parametrize("text", TOML, ids=lambda text: text.split('"')[1])
def test_every_example_of_settings_is_without_a_finding_and_gives_its_judges(text, tmp_path, monkeypatch):
    file = tmp_path / "admit.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("ADMIT_CONFIG", str(file))
    config = layers.load(str(tmp_path))
    assert config.findings == () and config.authority
    named = {config.values["judge.profile"], *re.findall(r"\[judge\.profiles\.(\w+)\]", text)}
    for name in sorted(named):
        found = profile(name, config.values)
        assert load_judge(found, config=config.values).name == name


def test_there_is_an_example_of_every_backend():
    backends = set(re.findall(r'backend = "(\w+)"', "".join(TOML)))
    used = {match[1] for text in TOML if (match := re.search(r'profile = "([\w-]+)"', text))}
    assert backends | used >= {"local", "systemone", "chat", "command", "ollama", "anthropic", "jev"}


@pytest.mark.parametrize("word", [*REASON_WORDS, *SHADOW_REASONS, *DEFECTS, *get_args(State)])
def test_every_reason_cause_defect_and_state_is_on_the_page(word):
    assert f"`{word}`" in PAGE


@pytest.mark.parametrize("name", [*PROFILES, *(key.name for key in LIMIT_KEYS)])
def test_every_shipped_profile_and_limit_is_on_the_page(name):
    assert f"`{name}`" in PAGE


def test_every_command_of_the_page_is_one():
    called = {line.split()[1] for line in COMMANDS_SHOWN if line.startswith("admit ")}
    called |= set(re.findall(r"`admit (\w+)", PAGE))
    assert called and called <= set(COMMANDS)


HANDLING = (DOCS / "data-handling.md").read_text(encoding="utf-8")


def test_what_each_door_sends_is_told_by_class():
    rows = {line.split("|")[1].strip(): line for line in HANDLING.splitlines() if line.startswith("| ")}
    for door, classes in CLASSES.items():
        assert all(f"`{name}`" in rows[door] for name in classes), door


@pytest.mark.parametrize("name", MASKED)
def test_every_class_of_redaction_is_told(name):
    assert f"| `{name}` |" in HANDLING


def test_the_rule_of_the_outputs_door_stands_word_for_word_where_it_is_agreed_to():
    rule = (
        "When the outputs filter runs, the whole redacted output is sent to DESTINATION, "
        "not only the passages that are kept."
    )
    assert f"> {rule}\n" in HANDLING
    address = "https://judge.example.org:443"
    assert rule.replace("DESTINATION", address) in statement(address, "outputs")


def test_how_long_limits_are_kept_is_what_holds():
    assert f"| `limits.db` | {KEPT_DAYS} days |" in HANDLING
