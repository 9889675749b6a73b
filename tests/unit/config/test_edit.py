"""Setting one key changes that key alone."""

from __future__ import annotations

import os
import tomllib

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from admit.config import layers
from admit.config.edit import parse_value, with_value, write
from admit.config.keys import KEYS
from admit.errors import ConfigError

TEXT = """\
# my settings

[outputs]   # the door
# no more than this
max_kept_chars = 6000  # characters
filter.fit = "chunks"

[judge]
local = { mode = "lexical" }
"""


def test_a_value_is_replaced_in_its_place_and_every_comment_stays():
    assert with_value(TEXT, "outputs.max_kept_chars", 7000) == TEXT.replace("6000", "7000")


def test_a_new_key_goes_into_its_table():
    changed = with_value(TEXT, "outputs.run_after", 7)
    assert "[judge]" in changed.split("run_after")[1]
    assert all(line in changed for line in TEXT.splitlines())


@pytest.mark.parametrize(
    "name", ["outputs.filter.fit", "outputs.filter.scope", "judge.local.mode", "judge.profile"]
)
def test_dotted_keys_and_inline_tables_are_edited_where_they_stand(name):
    wanted = tomllib.loads(TEXT)
    table = wanted
    *above, last = name.split(".")
    for part in above:
        table = table[part]
    table[last] = "x"
    assert tomllib.loads(with_value(TEXT, name, "x")) == wanted


def test_a_table_that_is_not_there_is_made():
    assert tomllib.loads(with_value("", "outputs.filter.fit", "lines")) == {
        "outputs": {"filter": {"fit": "lines"}}
    }


def test_a_list_is_written_as_a_list():
    assert tomllib.loads(with_value("", "outputs.skip_tools", ("a", "b*"))) == {
        "outputs": {"skip_tools": ["a", "b*"]}
    }


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_windows_line_ends_stay(mark):
    text = mark + TEXT.replace("\n", "\r\n")
    changed = with_value(text, "outputs.run_after", 7)
    assert changed.startswith(mark + "# my") and changed.count("\n") == changed.count("\r\n")


@pytest.mark.parametrize("text", ["outputs = 3\n", "[[outputs]]\nmode = 1\n"])
def test_a_shape_that_cannot_hold_the_key_is_refused(text):
    with pytest.raises(ConfigError, match="by hand"):
        with_value(text, "outputs.run_after", 7)


names = st.sampled_from(["outputs", "filter", "fit", "mode", "x"])
values = st.integers(0, 9) | st.sampled_from(["a", "b # c"]) | st.lists(st.integers(0, 9), max_size=2)
tables = st.recursive(
    st.dictionaries(names, values, max_size=3),
    lambda inner: st.dictionaries(names, inner | values, max_size=3),
    max_leaves=8,
)


@given(tables)
def test_no_other_key_changes_whatever_the_file_holds(table):
    text = tomlkit.dumps(table)
    before = tomllib.loads(text)
    try:
        after = tomllib.loads(with_value(text, "outputs.filter.fit", "lines"))
    except ConfigError:
        outputs = before.get("outputs", {})
        assert not isinstance(outputs, dict) or not isinstance(outputs.get("filter", {}), dict)
        return
    assert after["outputs"]["filter"].pop("fit") == "lines"
    before.get("outputs", {}).get("filter", {}).pop("fit", None)
    if "filter" not in before.get("outputs", {}):
        assert after["outputs"].pop("filter") == {}
    if "outputs" not in before:
        assert after.pop("outputs") == {}
    assert after == before


# The file


def set_(home, name: str, value: object) -> None:
    files = layers.load(str(home.project)).files
    write(next((file for file in files if file.layer == "user"), None), str(home.user_file), name, value)


def test_a_file_that_is_not_there_is_made_for_the_user_alone(home):
    set_(home, "outputs.run_after", 7)
    assert oct(home.user_file.stat().st_mode & 0o777) == "0o600"
    assert oct(home.user_file.parent.stat().st_mode & 0o777) == "0o700"
    assert home.load().values["outputs.run_after"] == 7


def test_a_link_keeps_pointing_at_the_file_that_changes(home, tmp_path):
    target = tmp_path / "dotfile.toml"
    target.write_text("# mine\n")
    home.user_file.parent.mkdir(parents=True)
    home.user_file.symlink_to(target)
    set_(home, "outputs.run_after", 7)
    assert (
        home.user_file.is_symlink()
        and "# mine" in target.read_text()
        and "run_after = 7" in target.read_text()
    )


def test_a_broken_file_is_not_touched(home):
    path = home.user("[outputs\n")
    with pytest.raises(ConfigError, match="mend the file first"):
        set_(home, "outputs.run_after", 7)
    assert path.read_text() == "[outputs\n"


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(fails, home, monkeypatch):
    path = home.user("outputs.run_after = 5\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, fails, fail)
    with pytest.raises(OSError, match="No space"):
        set_(home, "outputs.run_after", 7)
    assert path.read_text() == "outputs.run_after = 5\n" and os.listdir(path.parent) == ["admit.toml"]


# Words on the command line


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("outputs.run_after", "7", 7),
        ("outputs.scan_chars", "4_000_000", 4_000_000),
        ("outputs.run_share", "0.5", 0.5),
        ("outputs.mask", "true", True),
        ("outputs.mode", "off", "off"),
        ("judge.profile", "my own", "my own"),
        ("outputs.skip_tools", '["a", "b*"]', ("a", "b*")),
        ("outputs.weights.spread", "[1, 0.5, 0]", (1.0, 0.5, 0.0)),
    ],
)
def test_a_word_is_read_as_its_key_wants_it(name, word, value):
    assert parse_value(KEYS[name], word, name) == value


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("outputs.run_after", "five"),
        ("outputs.run_after", "7\nx = 1"),
        ("outputs.run_after", "-1"),
        ("outputs.run_after", "6,000"),
        ("outputs.mask", "True"),
        ("outputs.mask", "yes"),
        ("outputs.mode", "OFF"),
        ("outputs.mode", '"off"'),
        ("outputs.skip_tools", "a"),
        ("outputs.weights.spread", "1, 2, 3"),
    ],
)
def test_a_word_that_means_no_value_names_the_key(name, word):
    with pytest.raises(ConfigError) as error:
        parse_value(KEYS[name], word, name)
    assert error.value.key == name and name in str(error.value)
