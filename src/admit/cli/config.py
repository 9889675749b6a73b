"""`admit config`: every setting, where it came from, and how to change it."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config import edit, layers, places
from admit.config.check import nearest, range_of, shown, tightens
from admit.config.keys import KEYS, Key, find
from admit.config.page import default_of, trust_of
from admit.errors import ConfigError, UsageError
from admit.text.table import table


@click.group("config", help="Every setting, where it came from, and how to change it.")
def command() -> None:
    """Hold the subcommands together."""


@command.command()
@click.option("--origin", "with_origin", is_flag=True, help="Say where each value came from.")
@json_option
def show(with_origin: bool, as_json: bool) -> int:
    """Print every value in force."""
    config = layers.load()
    names = list(config.values)
    if as_json:
        print_json({"schema": 1, "values": [_as_json(config, name) for name in names]})
        return DONE
    rows = []
    for name in names:
        row = [name, _value(config.values[name], name), _key(name).unit]
        rows.append([*row, _origin(config, name)] if with_origin else row)
    click.echo(table(rows, ["key", "value", "unit", "from"][: 4 if with_origin else 3]))
    if config.findings:
        click.echo(f"\n{counted(len(config.findings), 'finding')}: admit config check", err=True)
    return DONE


@command.command()
@click.argument("key")
@json_option
def explain(key: str, as_json: bool) -> int:
    """Say what a key does, and what may stand there."""
    found = KEYS.get(key) or _key(key)
    config = layers.load()
    known = key in config.values
    if as_json:
        fields: dict[str, Any] = {
            "help": found.help,
            "default": found.default,
            "default_is": default_of(found),
            "range": range_of(found),
            "trust": found.trust,
            "tighten": found.tighten or None,
            "since": found.since,
        }
        print_json({"schema": 1, **(_as_json(config, key) if known else {"key": key}), **fields})
        return DONE
    unit = f" {found.unit}" if found.unit else ""
    rows = [
        ["now", f"{_value(config.values[key], key)}{unit}, {_origin(config, key)}" if known else "not set"],
        ["default", default_of(found) + (unit if found.default is not None else "")],
        ["range", range_of(found)],
        ["who", trust_of(found).replace("`", "")],
        ["since", found.since],
    ]
    click.echo(f"{key}\n  {found.help}")
    for label, text in rows:
        click.echo(f"  {label:<8} {text}")
    return DONE


@command.command("set")
@click.argument("key")
@click.argument("value")
@click.option("--yes", is_flag=True, help="Loosen without asking.")
@json_option
def set_(key: str, value: str, yes: bool, as_json: bool) -> int:
    """Set a key in your own file; its comments stay.

    VALUE is text as it is, or a number, true, false or a list as TOML spells it: 8000, true, '["a", "b"]'.
    """
    found = _key(key)
    new = edit.parse_value(found, value, key)
    path, _ = layers.user_file()
    before = layers.load(project=False)
    held = before.values.get(key)
    loosens = found.tighten not in ("", "bounds") and held is not None and not tightens(found, new, held)
    if loosens and not yes:
        question = f"{key} = {shown(new)} is looser than {shown(held)}. {found.help} Set it?"
        if not sys.stdin.isatty():
            text = f"{key} = {shown(new)} is looser than {shown(held)}: add --yes if you mean it"
            raise UsageError(f"{text} (there is no terminal to ask at)")
        if not click.confirm(question):
            click.echo("Nothing was changed.", err=True)
            return FINDING
    edit.write(next((file for file in before.files if file.layer == "user"), None), path, key, new)
    after = layers.load()
    if as_json:
        print_json({"schema": 1, "file": path, "set": new, "was": held, **_as_json(after, key)})
        return DONE
    was = "" if before.origin(key).layer == "pause" else f", was {_value(held, key)},"
    click.echo(f"{key} = {shown(new)}{was} in {_short(path)}")
    if after.values[key] != new:
        click.echo(f"In force here is {_value(after.values[key], key)}, {_origin(after, key)}.")
    return DONE


@command.command()
@json_option
def check(as_json: bool) -> int:
    """Check your file and the project's.

    Ends with 1 where something is wrong.
    """
    from admit.cli.checks import deadline_warnings

    config = layers.load()
    late = deadline_warnings(config) if config.values["judge.mode"] != "off" else []
    if as_json:
        findings = [finding._asdict() for finding in config.findings]
        print_json({"schema": 1, "findings": findings, "warnings": late})
        return FINDING if config.findings else DONE
    for warning in late:
        click.echo(f"Warning: {warning}.")
    if config.findings:
        for finding in config.findings:
            click.echo(f"{finding}\n    {finding.fix}" if finding.fix else str(finding))
    else:
        files = " and ".join(_short(file.path) for file in config.files) or "no file: the shipped values hold"
        click.echo(f"Nothing is wrong in {files}." if config.files else f"There is {files}.")
    return FINDING if config.findings else DONE


@command.command()
@json_option
def path(as_json: bool) -> int:
    """Print where the files and folders are."""
    project = places.project_file()
    found = {
        "user": layers.user_file()[0],
        "project": project[0] if project else None,
        "config": places.config_dir(),
        "state": places.state_dir(),
        "cache": places.cache_dir(),
    }
    if as_json:
        print_json({"schema": 1, **found})
        return DONE
    for name, place in found.items():
        there = "" if place is None or os.path.exists(place) else "  (not there)"
        click.echo(f"{name:<8} {place or 'none: no .admit.toml in this project'}{there}")
    return DONE


def _key(name: str) -> Key:
    key = find(name)
    if key is None:
        near = nearest(name, KEYS)
        hint = f"Did you mean {near}?" if near else "admit config show lists every key."
        raise ConfigError(f"there is no setting {name!r}. {hint}", key=name)
    return key


def _value(value: Any, name: str) -> str:
    return _key(name).absent if value is None else shown(value)


def _origin(config: layers.Config, name: str) -> str:
    origin = config.origin(name)
    if not origin.file:
        return origin.layer
    return f"{origin.layer} {_short(origin.file)}:{origin.line}"


def _as_json(config: layers.Config, name: str) -> dict[str, Any]:
    unit = _key(name).unit or None
    return {"key": name, "value": config.values[name], "unit": unit, "origin": config.origin(name)._asdict()}


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
