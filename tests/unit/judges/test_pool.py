"""One judge a process for the same profile and the same settings."""

from __future__ import annotations

import pytest

from admit.config.keys import shipped
from admit.errors import ConfigError
from admit.judges.pool import MOST_JUDGES, Judges
from admit.judges.profiles import profile


def values(**more):
    return {
        **shipped(),
        "judge.local.mode": "lexical",
        **{key.replace("__", "."): v for key, v in more.items()},
    }


def test_the_same_settings_give_the_same_judge_and_others_another():
    judges = Judges()
    local = profile("local")
    first = judges.load(local, values())
    assert judges.load(local, values()) is first
    assert judges.load(local, values(judge__min_call_ms=300)) is not first
    assert judges.load(local, values(limits__slots=2)) is not first
    assert judges.load(local, values()) is first


def test_a_folder_that_asks_about_less_shares_the_judge_and_one_with_another_threshold_does_not():
    judges = Judges()
    first = judges.load(profile("local"), values())
    fewer = values(judge__profiles__local__outputs__max_candidates=3)
    assert judges.load(profile("local", fewer), fewer) is first
    stricter = values(judge__profiles__local__outputs__threshold=2.5)
    assert judges.load(profile("local", stricter), stricter) is not first


def test_settings_of_other_areas_make_no_other_judge():
    judges = Judges()
    first = judges.load(profile("local"), values())
    assert judges.load(profile("local"), values(outputs__max_kept_chars=3_000)) is first


def test_a_list_among_the_settings_is_no_obstacle():
    judges = Judges()
    listed = values(judge__redact_patterns=["a+"])
    assert judges.load(profile("local"), listed) is judges.load(profile("local"), listed)


def test_the_longest_unused_goes_first():
    judges = Judges()
    local = profile("local")
    first = judges.load(local, values())
    for n in range(1, MOST_JUDGES):
        judges.load(local, values(limits__slots=n))
    assert judges.load(local, values()) is first
    judges.load(local, values(limits__slots=63))
    assert judges.load(local, values()) is first
    again = judges.load(local, values(limits__slots=1))
    judges.load(local, values(limits__slots=62))
    assert judges.load(local, values(limits__slots=1)) is again


def test_a_profile_that_cannot_be_used_is_refused_each_time():
    judges = Judges()
    broken = values(judge__local__model_path="x", judge__redact_patterns=("(",))
    jev = profile("jev")
    for _ in range(2):
        with pytest.raises(ConfigError):
            judges.load(jev, broken)
