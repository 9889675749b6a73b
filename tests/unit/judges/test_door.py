import pytest

from admit.config.keys import shipped
from admit.config.layers import Config
from admit.errors import ConfigError
from admit.judges.door import DoorJudge, door_judge, own_judge
from admit.judges.scripted import ScriptedJudge


def config(**changed):
    return Config({**shipped(), **{key.replace("__", "."): value for key, value in changed.items()}})


def scripted(chosen, values):
    return ScriptedJudge({}, name=chosen.name)


def test_the_judge_of_the_settings_comes_with_what_its_profile_says_of_the_door():
    found = door_judge(config(judge__profile="jev"), "guidance", scripted)
    assert isinstance(found, DoorJudge)
    assert (found.judge.name, found.cell.max_candidates, found.threshold) == ("jev", 8, 0.3)
    other = door_judge(config(judge__profile="openrouter-jev"), "guidance", scripted)
    assert found.profile_hash != other.profile_hash


@pytest.mark.parametrize(
    ("changed", "door", "why"),
    [
        ({"judge__mode": "off"}, "outputs", "off"),
        ({"judge__profile": "nobody"}, "outputs", "config"),
        ({"judge__profile": "ollama"}, "outputs", "config"),
        ({"judge__redact_patterns": ("(",)}, "outputs", "config"),
        ({}, "evidence", "unsupported"),
    ],
)
def test_where_nobody_may_be_asked_it_says_why(changed, door, why):
    assert door_judge(config(**changed), door, scripted) == why


def test_a_door_may_name_another_profile_than_the_settings_do():
    found = door_judge(config(), "evidence", scripted, "jev")
    assert isinstance(found, DoorJudge)
    assert (found.judge.name, found.cell.timeout_ms, found.threshold) == ("jev", 120_000, None)
    assert door_judge(config(judge__profile="jev"), "evidence", scripted, "local") == "unsupported"


def test_without_authority_or_with_a_silent_door_nobody_is_asked():
    assert door_judge(config()._replace(authority=False), "outputs", scripted) == "config"
    assert door_judge(config()._replace(silent=frozenset({"outputs"})), "outputs", scripted) == "config"
    assert isinstance(
        door_judge(config()._replace(silent=frozenset({"outputs"})), "guidance", scripted), DoorJudge
    )


def test_a_judge_that_cannot_be_made_is_not_asked():
    def broken(chosen, values):
        raise ConfigError("no")

    assert door_judge(config(), "outputs", broken) == "config"


def test_a_judge_of_ones_own_is_made_anew():
    values = config().values
    found = door_judge(config(), "outputs", own_judge)
    assert isinstance(found, DoorJudge) and found.judge is not own_judge(found.profile, values)
    assert found.threshold is not None
