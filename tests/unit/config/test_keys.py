"""The key table holds together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from admit.config.check import accept, range_of, tightens
from admit.config.keys import KEYS, PROFILE_FIELDS, PROFILES, default, find, shipped

ALL = pytest.mark.parametrize("key", KEYS.values(), ids=list(KEYS))


@ALL
def test_every_default_is_a_value_of_its_own_key_or_says_what_holds_instead(key):
    if key.default is None:
        assert key.absent
    else:
        assert accept(key, key.default) == key.default
        assert type(accept(key, key.default)) is type(key.default)


@ALL
def test_every_key_says_what_it_does_and_what_may_stand_there(key):
    assert key.help.endswith(".") and key.help[0].isupper()
    assert range_of(key) and key.since
    assert (key.low is None) == (key.high is None)
    if key.kind in ("int", "float", "floats"):
        assert key.low is not None and key.low < key.high


@ALL
def test_a_key_that_a_project_may_narrow_says_in_which_direction(key):
    assert (key.trust == "narrow") <= bool(key.tighten)
    assert key.tighten in ("", "lower", "bounds", "subset", "adds", "stricter", "true", "false", *key.choices)
    if key.trust == "narrow" and key.default is not None:
        assert tightens(key, key.default, key.default)


def test_every_number_carries_a_unit():
    bare = [key.name for key in KEYS.values() if key.kind in ("int", "float") and not key.unit]
    assert bare == []


def test_default_gives_the_shipped_value_and_refuses_an_unknown_name():
    assert default("outputs.max_kept_chars") == 6000
    assert default("judge.profiles.any.outputs.max_candidates") is None
    for name in (
        "outputs.nothing",
        "judge.profiles.NAME.outputs.threshold",
        "judge.profiles..outputs.threshold",
    ):
        with pytest.raises(KeyError):
            default(name)


@pytest.mark.parametrize("name", ["a b", "é", "", "a.b", "x" * 65, "a\n"])
def test_a_profile_has_a_plain_name(name):
    assert find(f"judge.profiles.{name}.outputs.threshold") is None
    assert find("judge.profiles.my-own_1.outputs.threshold") is not None


def test_the_values_of_shipped_profiles_are_values_of_their_keys():
    values = shipped()
    for name, doors in PROFILES.items():
        for door in doors:
            for field in ("max_candidates", "threshold", "timeout_ms"):
                full = f"judge.profiles.{name}.{door}.{field}"
                key = find(full)
                if key is None:  # a grounding review has neither cap nor threshold
                    assert door == "evidence" and field != "timeout_ms" and full not in values
                    continue
                assert values[full] is None or accept(key, values[full]) == values[full]


def test_importing_the_table_imports_nothing_else():
    code = (
        "import sys, typing, collections.abc, admit; before = set(sys.modules); import admit.config.keys;"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        done.stdout == "['admit.config', 'admit.config.evidence_keys', 'admit.config.guidance_keys', "
        "'admit.config.judge_keys', 'admit.config.key', 'admit.config.keys', 'admit.config.tools_keys']\n"
    ), done.stderr


def test_the_fields_of_shipped_profiles_are_values_of_their_keys():
    assert PROFILE_FIELDS.keys() == PROFILES.keys()
    for name, fields in PROFILE_FIELDS.items():
        for field, value in fields.items():
            key = find(f"judge.profiles.{name}.{field}")
            assert key is not None and accept(key, value) == value
