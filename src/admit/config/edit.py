"""Set one key in the user's file; comments, order and everything else in it stay as they are."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import Any, cast

from admit.config.check import accept, shown, visible
from admit.config.files import File
from admit.config.keys import Key
from admit.config.places import private_folder
from admit.config.private import replace_whole
from admit.errors import ConfigError


def parse_value(key: Key, word: str, name: str) -> Any:
    """The value that a word on the command line means: text as it is, everything else as TOML spells it.

    Raises:
        ConfigError: It may not stand under the key.
    """
    import tomllib

    if any("\ud800" <= c <= "\udfff" for c in word):
        raise ConfigError(f'{name} cannot hold "{visible(word)}": it is not UTF-8', key=name)
    try:
        raw: object = word
        if key.kind not in ("text", "path"):
            read = tomllib.loads(f"v = {word}")
            raw = read["v"] if len(read) == 1 else word  # a word with a newline may set more than one
    except ValueError:  # no TOML, or a number of more digits than can be read
        example = shown(key.default) if key.default else "7"
        takes = "true or false" if key.kind == "bool" else f"a value such as {example}"
        raise ConfigError(f'{name} takes {takes}, not "{visible(word)}"', key=name) from None
    try:
        return accept(key, raw)
    except ValueError as error:
        raise ConfigError(f"{name} {error}", key=name) from None


def with_value(text: str, name: str, value: Any) -> str:
    """A TOML text with one key set, everything else as it was.

    Raises:
        ConfigError: The file's shape does not let this be done safely.
    """
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    plain = list(value) if isinstance(value, tuple) else value
    try:
        wanted = tomllib.loads(body)
        _put(wanted, name, plain)
        document = tomlkit.parse(body)
        _put(cast(MutableMapping[str, Any], document), name, plain, tomlkit.table)
        changed = tomlkit.dumps(document)
        if tomllib.loads(changed) != wanted:
            raise ValueError("another key would change")
    except (TOMLKitError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{name} cannot be set in this file ({error}): write it by hand", key=name
        ) from None
    if "\r\n" in body:
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n")
    return mark + changed


def write(file: File | None, path: str, name: str, value: Any) -> None:
    """Set a key in the user's file, which is made with mode 0600 where there is none.

    The new file replaces the old one whole, or not at all; a link keeps pointing at it.

    Raises:
        ConfigError: The file is broken, or cannot be edited safely.
        OSError: It cannot be written; it names the file.
    """
    if file is not None and file.problem is not None:
        raise ConfigError(f"mend the file first: {file.problem}")
    target = os.path.realpath(path)
    text = ""
    if file is not None:
        with open(target, encoding="utf-8", newline="") as old:
            text = old.read()
    _replace(target, with_value(text, name, value).encode())


def remove(file: File, name: str) -> None:
    """Take a whole table, such as a source of the user's, out of a file.

    Raises:
        ConfigError: The file is broken, has no such table, or cannot be edited safely.
        OSError: It cannot be written; it names the file.
    """
    if file.problem is not None:
        raise ConfigError(f"mend the file first: {file.problem}")
    target = os.path.realpath(file.path)
    with open(target, encoding="utf-8", newline="") as old:
        text = old.read()
    _replace(target, without(text, name).encode())


def without(text: str, name: str) -> str:
    """A TOML text without one table, everything else as it was.

    Raises:
        ConfigError: There is no such table, or the file's shape does not let this be done safely.
    """
    import tomllib

    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    *above, last = name.split(".")
    try:
        wanted = tomllib.loads(text[len(mark) :])
        document = tomlkit.parse(text[len(mark) :])
        for held in (wanted, cast(MutableMapping[str, Any], document)):
            table = held
            for part in above:
                table = table[part]
            del table[last]
        changed = tomlkit.dumps(document)
        if tomllib.loads(changed) != wanted:
            raise ValueError("another key would change")
    except (TOMLKitError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise ConfigError(
            f"{name} cannot be taken out of this file ({error}): do it by hand", key=name
        ) from None
    return mark + changed


def _replace(target: str, data: bytes) -> None:
    """Write a file whole, or not at all."""
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        private_folder(folder)
    replace_whole(target, data)


def _put(table: MutableMapping[str, Any], name: str, value: Any, new_table: Any = dict) -> None:
    *above, last = name.split(".")
    for part in above:
        if part not in table:
            table[part] = new_table()
        table = table[part]
    table[last] = value
