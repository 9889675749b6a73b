"""Inserting and removing by span: what is put in and taken out again leaves no trace."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.errors import SettingsError
from admit.hosts.settings.edit import Undo, append, pointer, remove, replace
from admit.hosts.settings.hooks import find, with_hooks, without_hooks
from admit.hosts.settings.spans import parse

OURS = {"type": "command", "command": "ours", "args": ["-I", "ünï"], "timeout": 5}
GROUP = {"matcher": "Bash", "hooks": [OURS]}
WANTED = {"PostToolUse": GROUP, "Stop": {"hooks": [OURS]}, "Other~/Event": {"hooks": [OURS]}}

TEXTS = st.text(max_size=6)
OTHERS = st.fixed_dictionaries(
    {}, optional={"matcher": TEXTS, "hooks": st.lists(st.dictionaries(TEXTS, TEXTS, max_size=2), max_size=2)}
)
HOOKS = st.dictionaries(
    st.sampled_from([*WANTED, "PreToolUse"]), st.lists(OTHERS | st.integers(), max_size=3), max_size=4
)
SETTINGS = st.tuples(
    st.dictionaries(TEXTS.filter(lambda key: key != "hooks"), st.integers() | st.lists(TEXTS), max_size=3),
    st.none() | HOOKS,
    st.booleans(),
)


def is_ours(handler):
    return isinstance(handler, dict) and handler.get("command") == "ours"


def laid_out(value, seed, *, space=" \n\t\r"):
    """A JSON text with white space of every kind between its tokens."""
    dice = random.Random(seed)

    def gap():
        return "".join(dice.choices(space, k=dice.choice([0, 0, 1, 3]))) if space else ""

    def write(one):
        if isinstance(one, dict):
            rows = [f"{json.dumps(key)}{gap()}:{gap()}{write(inner)}" for key, inner in one.items()]
        elif isinstance(one, list):
            rows = [write(inner) for inner in one]
        else:
            return json.dumps(one)
        opening, closing = "{}" if isinstance(one, dict) else "[]"
        return opening + f"{gap()},".join(gap() + row for row in rows) + gap() + closing

    return gap() + write(value) + gap()


def settings_text(parts, seed, space=" \n\t\r"):
    others, hooks, first = parts
    if hooks is None:
        return laid_out(others, seed, space=space)
    value = {"hooks": hooks, **others} if first else {**others, "hooks": hooks}
    return laid_out(value, seed, space=space)


@settings(max_examples=400, deadline=None)
@given(SETTINGS, st.integers(0, 10**6), st.sampled_from([" \n\t\r", " ", "", "\n "]), st.booleans())
def test_put_in_and_taken_out_the_text_is_as_before(parts, seed, space, mark):
    before = ("\ufeff" if mark else "") + settings_text(parts, seed, space)
    after, undo = with_hooks(before, WANTED, is_ours, Undo())
    assert {one.event: one.value for one in find(after, is_ours)} == WANTED
    assert without_hooks(after, is_ours, undo) == before


@settings(deadline=None)
@given(SETTINGS, st.integers(0, 10**6))
def test_a_second_time_changes_nothing(parts, seed):
    once, undo = with_hooks(settings_text(parts, seed), WANTED, is_ours, Undo())
    assert with_hooks(once, WANTED, is_ours, undo) == (once, undo)
    assert with_hooks(once, WANTED, is_ours, None) == (once, None)


@settings(deadline=None)
@given(SETTINGS, st.integers(0, 10**6))
def test_nothing_of_others_changes_its_bytes_or_its_place(parts, seed):
    before = settings_text(parts, seed)
    after, _ = with_hooks(before, WANTED, is_ours, Undo())
    rest = iter(after)
    assert all(char in rest for char in before if not char.isspace())


@settings(deadline=None)
@given(SETTINGS, st.integers(0, 10**6), st.permutations([*WANTED]))
def test_what_differs_is_replaced_and_still_taken_out_without_a_trace(parts, seed, order):
    before = settings_text(parts, seed)
    text, undo = with_hooks(before, WANTED, is_ours, Undo())
    for event in order:
        wanted = {**WANTED, event: {"hooks": [{**OURS, "timeout": 9}]}}
        text, undo = with_hooks(text, wanted, is_ours, undo)
    text, undo = with_hooks(text, {"Stop": GROUP}, is_ours, undo)
    assert [one.event for one in find(text, is_ours)] == ["Stop"]
    assert without_hooks(text, is_ours, undo) == before


@settings(deadline=None)
@given(SETTINGS, st.integers(0, 10**6))
def test_what_others_added_meanwhile_stays_and_ours_alone_goes(parts, seed):
    before = settings_text(parts, seed)
    text, undo = with_hooks(before, WANTED, is_ours, Undo())
    theirs = {"matcher": "Edit", "hooks": [{"type": "command", "command": "theirs"}]}
    text, _ = append(text, ("hooks", "Stop"), theirs)
    after = without_hooks(text, is_ours, undo)
    plain, _ = append(before, ("hooks", "Stop"), theirs)
    assert find(after, is_ours) == ()
    assert parse(after).value == parse(plain).value


def test_a_handler_of_others_in_our_group_stays_there():
    text, undo = with_hooks("{}", {"Stop": GROUP}, is_ours, Undo())
    mixed, _ = append(text, ("hooks", "Stop"), {"hooks": [OURS, {"command": "theirs"}, OURS]})
    left = {"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}
    assert parse(without_hooks(mixed, is_ours, undo)).value == left
    again, _ = with_hooks(mixed, {"Stop": GROUP}, is_ours, undo)
    assert parse(again).value == {"hooks": {"Stop": [*left["hooks"]["Stop"], GROUP]}}


def test_a_container_that_others_emptied_meanwhile_stays_empty():
    before = '{"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}}'
    text, undo = with_hooks(before, {"Stop": GROUP}, is_ours, Undo())
    text = remove(text, ("hooks", "Stop", 0))
    assert without_hooks(text, is_ours, undo) == '{"hooks": {"Stop": []}}'


def test_where_nothing_is_known_of_before_emptied_containers_go():
    text, _ = with_hooks('{\n  "model": "opus"\n}\n', WANTED, is_ours, Undo())
    assert without_hooks(text, is_ours, None) == '{\n  "model": "opus"\n}\n'


@pytest.mark.parametrize(
    "before, after",
    [
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t1\n\t\t]\n\t}\n}'),
        ('{"a":1}', '{"a":1,"hooks":{"Stop":[1]}}'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Stop": [1]}}'),
        ('{"a":1}\n', '{"a":1,"hooks":{"Stop":[1]}}\n'),
        ('{"hooks":{"Stop":[0 , 0]}}', '{"hooks":{"Stop":[0 , 0, 1]}}'),
        ('{\r\n   "hooks": {}\r\n}', '{\r\n   "hooks": {\r\n      "Stop": [1]\r\n   }\r\n}'),
        ("", '{\n  "hooks": {\n    "Stop": [1]\n  }\n}\n'),
        ("\ufeff\n", '\ufeff{\n  "hooks": {\n    "Stop": [1]\n  }\n}\n'),
    ],
)
def test_what_is_put_in_is_laid_out_as_what_is_there(before, after):
    text, _ = append(before, ("hooks", "Stop"), 1)
    assert text == after.replace("[\n\t\t\t1\n\t\t]", "[1]")


@pytest.mark.parametrize(
    "text, line, column, what",
    [
        ("[1]", 1, 1, "the file is not an object"),
        ('{\n  "hooks": []\n}', 2, 12, '"hooks" is not an object'),
        ('{"hooks": {"Stop": null}}', 1, 20, '"Stop" is not an array'),
        ('{"hooks": null}', 1, 11, '"hooks" is not an object'),
    ],
)
def test_hooks_of_another_shape_are_refused_with_their_place(text, line, column, what):
    with pytest.raises(SettingsError) as caught:
        with_hooks(text, {"Stop": GROUP}, is_ours, Undo())
    assert (caught.value.line, caught.value.column, caught.value.message) == (line, column, what)


def test_replacing_keeps_the_indentation_of_the_place():
    text, _ = append('{\n    "a": 1\n}\n', ("hooks", "Stop"), {"hooks": []})
    new = replace(text, ("hooks", "Stop", 0), {"hooks": [{"b": 2}]})
    value = {"a": 1, "hooks": {"Stop": [{"hooks": [{"b": 2}]}]}}
    assert new == json.dumps(value, indent=4) + "\n"


def test_there_is_nothing_to_replace_or_remove_at_a_path_that_leads_nowhere():
    for path in (("a", "b"), ("hooks",), ("a", 0)):
        with pytest.raises(KeyError):
            remove('{"a": []}', path)
        with pytest.raises(KeyError):
            replace('{"a": []}', path, 1)


def test_a_pointer_escapes_what_json_pointers_escape():
    assert pointer(("hooks", "a/b~c", 0)) == "/hooks/a~1b~0c/0"
