"""Who reviews by the settings, and where it is kept."""

from __future__ import annotations

import pytest

from admit.config.keys import shipped
from admit.config.layers import Config
from admit.errors import ConfigError, EvidenceError
from admit.evidence.opening import judge_of, open_gate
from admit.judges.scripted import ScriptedJudge

from .reviews import NOTE, criterion, files, says


def config(**changed):
    return Config({**shipped(), **{key.replace("__", "."): value for key, value in changed.items()}})


def scripted(chosen, values):
    return ScriptedJudge(says("good"), name=chosen.name)


def test_the_judge_is_the_one_named_before_that_of_the_settings():
    assert judge_of(config(evidence__judge="jev"), None, scripted).profile.name == "jev"
    assert (
        judge_of(config(evidence__judge="jev"), "openrouter-jev", scripted).profile.name == "openrouter-jev"
    )
    assert judge_of(config(), "jev", scripted).threshold is None


def test_the_profile_of_the_other_doors_never_reviews_by_itself():
    with pytest.raises(EvidenceError, match="no judge is named"):
        judge_of(config(judge__profile="jev"), None, scripted)


@pytest.mark.parametrize(
    ("changed", "name", "why"),
    [
        ({}, "local", "its backend answers no review"),
        ({"judge__mode": "off"}, "jev", r"judge\.mode is off"),
        ({"judge__redact_patterns": ("(",)}, "jev", "admit config check"),
    ],
)
def test_a_judge_that_may_not_be_asked_is_refused_with_what_to_do(changed, name, why):
    with pytest.raises(EvidenceError, match=why):
        judge_of(config(**changed), name, scripted)


def test_without_authority_nobody_is_asked():
    with pytest.raises(EvidenceError, match="nobody may be asked"):
        judge_of(config()._replace(authority=False), "jev", scripted)


@pytest.mark.parametrize("name", ["nobody", "ollama"])
def test_a_profile_that_is_not_there_or_not_whole_is_a_wrong_setting(name):
    with pytest.raises(ConfigError, match=name):
        judge_of(config(), name, scripted)


def test_a_gate_keeps_its_reviews_in_the_ledger_of_the_user_and_goes_without_where_that_is_off(
    base, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    kb = base(files("a.md"))
    judge = judge_of(config(), "jev", scripted)
    assert open_gate(kb, judge).review(NOTE, criterion()).stored
    assert [one.fresh for one in open_gate(kb, judge).status([kb.root + "/n.md"], [criterion()])] == [True]
    kb.config = Config({**kb.config.values, "ledger.enabled": False})
    found = open_gate(kb, judge).review(NOTE, criterion())
    assert (found.verdict, found.stored) == ("PASS", False)
