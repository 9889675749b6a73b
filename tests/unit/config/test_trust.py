"""Every key, in every layer, in every direction, against what its row of the table promises."""

from __future__ import annotations

import json

import pytest

from admit.config.keys import KEYS, Key
from admit.errors import ConfigError

ALL = pytest.mark.parametrize("key", KEYS.values(), ids=list(KEYS))


def full_name(key: Key) -> str:
    return key.name.replace("NAME", "local")


def samples(key: Key) -> list:
    """Values in the key's range, its ends among them."""
    if key.kind == "bool":
        return [False, True]
    if key.choices:
        return [(word,) for word in key.choices] if key.kind == "texts" else list(key.choices)
    if key.kind in ("text", "path"):
        return ["alpha", "beta"]
    if key.kind == "texts":
        return [("alpha",), ("beta", "gamma")]
    number = int if key.kind == "int" else float
    numbers = [number(key.low), number((key.low + key.high) / 2), number(key.high)]
    return [(n, 1.0, 2.0) for n in numbers] if key.kind == "floats" else numbers


def outside(key: Key) -> list:
    """Values that may not stand under the key: wrong type, wrong spelling, past either end."""
    if key.kind == "bool":
        return ["true", 1, 0]
    if key.choices and key.kind == "texts":
        return [key.choices[0], [key.choices[0].upper()], [""], True]
    if key.choices:
        return [key.choices[0].upper(), "", True, [key.choices[0]]]
    if key.kind == "path":
        return ["", 3, "../up", "in/../../up", "/abs", "~/home", "a\\b", ["a"]]
    if key.kind == "text":
        return ["", 3, "a" * 5000, ["a"]]
    if key.kind == "texts":
        return ["alpha", [1], [""], {"a": 1}, ["a"] * 1001]
    if key.kind == "floats":
        return [[1.0, 2.0], [1, 2, 1000], ["1", "2", "3"], 1.0]
    wrong = [key.low - 1, key.high + 1, str(key.low), True]
    return wrong + ([1.5, 1e3] if key.kind == "int" else [])


def line(key: Key, value: object) -> str:
    if isinstance(value, dict):
        return f"{full_name(key)} = {{a = 1}}\n"
    return f"{full_name(key)} = {json.dumps(value)}\n"


def promised(key: Key, held: object, new: object) -> bool:
    """Whether the table lets a project put `new` over `held`, written out as a person would read it."""
    if key.trust == "user":
        return False
    if key.trust == "project" or key.tighten in ("bounds", "adds"):
        return True
    if key.tighten == "lower":
        return held is not None and new <= held
    if key.tighten == "subset":
        return all(one in held for one in new)
    if key.tighten == "stricter":
        return list(key.choices).index(new) >= list(key.choices).index(held)
    return new == held or new == {"true": True, "false": False}.get(key.tighten, key.tighten)


@ALL
def test_the_users_file_may_set_every_key_within_its_range(key, home):
    for value in samples(key):
        home.user(line(key, value))
        config = home.load()
        assert config.values[full_name(key)] == value
        assert config.findings == () and config.authority
        assert config.origin(full_name(key))[::2] == ("user", 1)


@ALL
def test_the_command_line_may_set_every_key_within_its_range_and_a_bad_value_names_the_key(key, home):
    for value in samples(key):
        config = home.load(**{full_name(key): value})
        assert config.values[full_name(key)] == value
        assert config.origin(full_name(key)).layer == "command line"
    for value in outside(key):
        with pytest.raises(ConfigError) as error:
            home.load(**{full_name(key): value})
        assert error.value.key == full_name(key) and full_name(key) in str(error.value)


@ALL
def test_a_value_outside_the_range_is_dropped_alone_and_found(key, home):
    untouched = home.load().values
    for value in outside(key):
        home.user("# a comment\n" + line(key, value))
        config = home.load()
        assert dict(config.values) == dict(untouched)
        (finding,) = config.findings
        assert (finding.kind, finding.line, finding.file) in (
            ("bad", 2, str(home.user_file)),
            ("unknown", 2, str(home.user_file)),  # a table under the key makes a longer, unknown key
        )
        assert finding.key.startswith(full_name(key)) and finding.fix


@ALL
def test_a_project_may_set_a_key_only_as_its_row_says(key, home):
    for held in (None, *samples(key)):
        home.user("" if held is None else line(key, held))
        below = home.load().values.get(full_name(key))
        for new in samples(key):
            path = home.file(line(key, new))
            config = home.load()
            if promised(key, below, new):
                adds = key.tighten == "adds"
                assert config.values[full_name(key)] == ((*below, *config.added[key.name]) if adds else new)
                assert not adds or set(new) == set(config.values[key.name]) - (set(below) - set(new))
                assert config.findings == ()
                assert config.origin(full_name(key)) == ("project", str(path), 1)
            else:
                assert config.values.get(full_name(key)) == below
                (finding,) = config.findings
                assert (finding.kind, finding.key, finding.line) == ("refused", full_name(key), 1)
            path.unlink()


@ALL
def test_a_project_cannot_leave_the_range_either(key, home):
    untouched = home.load().values
    for value in outside(key):
        home.file(line(key, value))
        config = home.load()
        assert dict(config.values) == dict(untouched) and len(config.findings) == 1
        assert config.origin(full_name(key)).layer == "shipped"


def test_a_project_adds_to_a_list_and_takes_nothing_out_of_it(home):
    home.user('guidance.disable = ["mine", "both"]\n')
    home.file('guidance.disable = ["both", "theirs/*"]\n')
    config = home.load()
    assert config.values["guidance.disable"] == ("mine", "both", "theirs/*")
    assert config.added == {"guidance.disable": ("theirs/*",)}
    over = home.load(**{"guidance.disable": ["only"]})
    assert over.values["guidance.disable"] == ("only",) and over.added == {}


def test_a_project_lowers_the_cap_only_where_what_is_past_it_passes(home):
    name = "judge.profiles.local.guidance.max_candidates"
    home.file(f"{name} = 3\n")
    assert home.load().values[name] == 3
    home.user('guidance.gate.overflow = "block"\n')
    config = home.load()
    assert config.values[name] == 8
    (finding,) = config.refused
    assert finding.key == name and "while guidance.gate.overflow is" in finding.text
    home.user(f'guidance.gate.overflow = "block"\n{name} = 5\n')
    assert home.load().values[name] == 5
