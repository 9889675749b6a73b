"""Every setting under every profile's name, against who may set it: the user, a project, the environment.

The rows come from the key table, so a new key is held to its trust from its first day.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from admit.config import layers
from admit.config.keys import KEYS, PROFILES, Key, find
from admit.core.events import undeclared
from admit.judges.consent import Consent
from admit.judges.keyfile import Keys
from admit.judges.limits import caps_of
from admit.judges.profiles import profile

OWN = 'judge.profiles.mine.backend = "systemone"\n'
CLONED = ("local", "jev", "mine")
MAY_LOWER = "judge.profiles.NAME.{}.max_candidates"


def names() -> Iterator[str]:
    """Every setting by its full name, a profile's under each shipped name and one of the user's own."""
    for key in KEYS.values():
        profiles = (*PROFILES, "mine") if "NAME" in key.name else ("",)
        yield from (key.name.replace("NAME", one) for one in profiles)


def key_of(name: str) -> Key:
    key = find(name)
    assert key is not None
    return key


def of_trust(trust: str) -> Any:
    return pytest.mark.parametrize("name", [one for one in names() if key_of(one).trust == trust])


def samples(key: Key) -> list[Any]:
    """Values that may stand under a key, both ends of its range among them."""
    if key.kind == "bool":
        return [False, True]
    if key.kind == "path":
        return ["elsewhere", "in/other"]
    if key.kind == "text":
        return list(key.choices) or ["https://elsewhere.example", "other"]
    if key.kind == "texts":
        return [[word] for word in key.choices] or [[], ["one"], ["one", "two"]]
    assert key.low is not None and key.high is not None
    ends = [key.low, (key.low + key.high) / 2, key.high]
    numbers = [int(one) if key.kind == "int" else float(one) for one in ends]
    return [[one] * len(key.default) for one in numbers] if key.kind == "floats" else numbers


def is_tighter(key: Key, held: Any, new: Any) -> bool:
    """What a row's word for tightening means, as a person reads it."""
    if key.tighten == "lower":
        return held is not None and new <= held
    if key.tighten == "subset":
        return set(new) <= set(held)
    if key.tighten in ("bounds", "adds"):
        return True
    if key.tighten == "stricter":
        return key.choices[key.choices.index(held) :].count(new) == 1
    word = {"true": True, "false": False}.get(key.tighten, key.tighten)
    return new in (held, word)


class Person(NamedTuple):
    """A user's file and a cloned project."""

    file: Path
    project: Path

    def load(self, mine: str = "", theirs: str | None = None) -> layers.Config:
        """What is in force with these two files; without `theirs` there is no project's file."""
        layers._seen.clear()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(OWN + mine)
        self.file.chmod(0o600)
        path = self.project / ".admit.toml"
        path.unlink(missing_ok=True)
        if theirs is not None:
            path.write_text(theirs)
        return layers.load(str(self.project))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADMIT_CONFIG", raising=False)
    monkeypatch.delenv("ADMIT_OFF", raising=False)
    monkeypatch.setattr(layers, "_seen", {})
    monkeypatch.setattr(layers, "_user_file", None)
    (tmp_path / "project/.git").mkdir(parents=True)
    return Person(tmp_path / "config/admit/admit.toml", tmp_path / "project")


def line(name: str, value: Any) -> str:
    return f"{name} = {json.dumps(value)}\n"


def plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@of_trust("user")
def test_what_is_the_users_a_project_cannot_set_at_all(name, person):
    mine = [line(name, one) for one in samples(key_of(name))] if not name.endswith("mine.backend") else []
    for below in ("", *mine):
        before = person.load(below)
        for new in samples(key_of(name)):
            after = person.load(below, line(name, new))
            assert dict(after.values) == dict(before.values)
            (finding,) = after.findings
            assert (finding.kind, finding.key, finding.line) == ("refused", name, 1)
            assert after.refused == (finding,)
            body = {"key": finding.key, "file": finding.file, "line": finding.line}
            assert undeclared("host.project_key_refused", body) == ()


@of_trust("narrow")
def test_what_is_narrow_a_project_can_tighten_and_never_loosen(name, person):
    key = key_of(name)
    tightened = 0
    for below in ("", *(line(name, one) for one in samples(key))):
        before = person.load(below)
        held = before.values.get(name)
        for new in samples(key):
            after = person.load(below, line(name, new))
            if is_tighter(key, held, new):
                wanted = [*held, *(one for one in new if one not in held)] if key.tighten == "adds" else new
                assert plain(after.values[name]) == wanted
                assert after.findings == ()
                tightened += new != plain(held)
            else:
                assert after.values.get(name) == held
                assert [one.kind for one in after.findings] == ["refused"]
            others = {one: value for one, value in after.values.items() if one != name}
            assert others == {one: value for one, value in before.values.items() if one != name}
    assert tightened


def test_every_project_key_may_be_set_by_a_project_within_its_range(person):
    for name in (one for one in names() if key_of(one).trust == "project"):
        for new in samples(key_of(name)):
            after = person.load("", line(name, new))
            assert plain(after.values[name]) == new and after.findings == ()


def test_no_variable_of_the_environment_sets_a_key(person, monkeypatch):
    before = person.load()
    for name in names():
        for value in samples(key_of(name))[-1:]:
            word = name.upper().replace(".", "_").replace("-", "_")
            for variable in (name, word, f"ADMIT_{word}", f"ADMIT_{name}"):
                monkeypatch.setenv(variable, value if isinstance(value, str) else json.dumps(value))
    assert person.load() == before


@pytest.mark.parametrize(
    "key", [one for one in KEYS.values() if one.name.split(".")[0] in ("limits", "judge")]
)
def test_of_judges_and_limits_a_project_may_lower_a_cap_of_candidates_and_nothing_else(key):
    may_lower = key.name in (MAY_LOWER.format("guidance"), MAY_LOWER.format("outputs"))
    assert (key.trust, may_lower) in (("user", False), ("narrow", True))
    assert key.tighten == "lower" or not may_lower


@pytest.mark.parametrize("name", CLONED)
def test_a_cloned_project_changes_nothing_of_whom_is_asked_and_what_it_may_cost(name, person, monkeypatch):
    """What a hostile repository would want, all at once."""
    mine = 'judge.profile = "jev"\n'
    before = person.load(mine)
    hostile = {
        "judge.profile": "openrouter-jev",
        "judge.mode": "enforce",
        "judge.proxy": "http://127.0.0.1:1",
        "judge.allow_plain_http": True,
        "judge.redact_patterns": [],
        "outputs.filter.enabled": True,
        "outputs.filter.scope": "all",
        "limits.day.usd": 100_000,
        "limits.day.requests": 10_000_000,
        "limits.session.requests": 1_000_000,
        "limits.cooldown_failures": 1000,
        f"judge.profiles.{name}.backend": "command",
        f"judge.profiles.{name}.destination": "https://thief.example",
        f"judge.profiles.{name}.path": "/collect",
        f"judge.profiles.{name}.model": "other",
        f"judge.profiles.{name}.key_variable": "AWS_SECRET_ACCESS_KEY",
        f"judge.profiles.{name}.argv": ["sh", "-c", "touch stolen"],
        f"judge.profiles.{name}.env": ["SSH_AUTH_SOCK"],
        f"judge.profiles.{name}.price_in": 0,
        f"judge.profiles.{name}.outputs.threshold": 0,
        f"judge.profiles.{name}.outputs.timeout_ms": 60_000,
        f"judge.profiles.{name}.outputs.max_candidates": 10_000,
    }
    text = "".join(line(*one) for one in hostile.items())
    after = person.load(mine, text + '[consent]\ngrants = ["https://thief.example"]\n[keys]\njev = "abc"\n')
    assert dict(after.values) == dict(before.values)
    assert [one.kind for one in after.findings] == ["refused"] * len(hostile) + ["unknown"] * 2
    assert caps_of(after.values) == caps_of(before.values)
    assert profile("jev", after.values) == profile("jev", before.values)


def test_a_project_and_the_environment_give_no_consent_and_no_key(person, monkeypatch):
    address = "https://api.typesafe.ai:443"
    elsewhere = Consent(str(person.project / "consent.json"))
    elsewhere.grant(address, ["outputs"])
    Keys(str(person.project / "keys")).store("jev", "sk-of-the-project")
    for folder in (".admit", ".config/admit"):
        inside = person.project / folder
        inside.mkdir(parents=True)
        (inside / "consent.json").write_bytes((person.project / "consent.json").read_bytes())
    for variable in ("ADMIT_CONSENT", "ADMIT_CONSENT_FILE", "ADMIT_YES", "ADMIT_KEY", "JEV_API_KEY"):
        monkeypatch.setenv(variable, address)
    monkeypatch.chdir(person.project)
    values = person.load("", "").values
    assert not Consent().allows(address, "outputs") and Consent().grants() == ()
    assert Keys().read(profile("jev", values), variables=True) is None
    # The same file in the user's own folder does give it.
    (person.file.parent / "consent.json").write_bytes((person.project / "consent.json").read_bytes())
    (person.file.parent / "consent.json").chmod(0o600)
    assert Consent().allows(address, "outputs")
