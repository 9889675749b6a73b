"""`admit judge`: who may answer, with which model and thresholds; and the keys of those that need one."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from admit.cli import judge_words
from admit.cli.frame import DONE, json_option, print_json
from admit.cli.judge_ask import command as ask
from admit.cli.judge_check import command as check
from admit.cli.judge_cost import command as cost
from admit.config.layers import Config, load
from admit.errors import ConfigError
from admit.ledger.moments import local
from admit.text.table import table

if TYPE_CHECKING:
    from admit.judges.profiles import Profile

EXAMPLES = """\b
Examples:
  admit judge list
  admit config set judge.profile jev
  admit judge key jev
  admit consent grant jev --door outputs
  admit judge check"""

KEY_EXAMPLES = """\b
Examples:
  admit judge key jev
  pass show jev | admit judge key jev
  admit judge key jev --forget"""

UNCALIBRATED = "not_calibrated"
_HEAD = ("", "profile", "backend", "model", "asked at", "key", "acts at", "only records at")
_DOOR_HEAD = ("door", "most", "least", "deadline", "consent", "answers")


@click.group("judge", epilog=EXAMPLES)
def command() -> None:
    """Who answers: list the judges, store a key, check one, ask one, and see what they cost.

    Which one answers is the setting judge.profile: admit config set judge.profile NAME.
    """


@command.command(
    "list", short_help="The profiles, and where each acts.", epilog="\b\nExample:\n  admit judge list"
)
@json_option
def list_profiles(as_json: bool) -> int:
    """List the profiles, the shipped ones first; * is the one that answers."""
    from admit.judges.profiles import names

    config = load()
    used = config.values["judge.profile"]
    every = tuple(dict.fromkeys((*names(config.values), used)))
    facts = [_facts(config, name) for name in every]
    if as_json:
        print_json({"schema": 1, "profile": used, "mode": config.values["judge.mode"], "profiles": facts})
        return DONE
    click.echo(table([_line(one, used) for one in facts], _HEAD))
    if any(one["fault"] is not None for one in facts):
        click.echo("What is not set up lacks something: admit judge show NAME says what.")
    if config.values["judge.mode"] != "enforce":
        mode = config.values["judge.mode"]
        click.echo(f"judge.mode is {mode}: " + ("nothing is asked." if mode == "off" else "no answer acts."))
    return DONE


@command.command("show", short_help="One profile in full.", epilog="\b\nExample:\n  admit judge show jev")
@click.argument("name", metavar="[NAME]", required=False)
@json_option
def show(name: str | None, as_json: bool) -> int:
    """Print one profile in full: model, key, prices, cool-down, and what holds at each door.

    A judge acts at a door where a threshold is known for its model; at any other its answers are recorded.
    """
    config = load()
    profile = judge_words.chosen(config, name)
    facts = _facts(config, profile.name)
    if as_json:
        print_json({"schema": 1, **facts})
        return DONE
    prices = [facts["price_in"], facts["price_out"]]
    costs = "unknown" if None in prices else " and ".join(f"${price:g}" for price in prices)
    free = profile.backend == "local"
    rows = {
        "backend": profile.backend + (f", form {profile.form}" if profile.form else ""),
        "model": profile.model or "not named",
        "asked at": profile.url if profile.destination else " ".join(profile.argv) or "this machine",
        "key": facts["key"],
        "price": "free"
        if free
        else f"{costs} per million tokens in and out"
        if None not in prices
        else costs,
        "cool-down": f"until {local(facts['cooldown_until_ms']):%H:%M:%S}"
        if facts["cooldown_until_ms"]
        else "none",
    }
    click.echo(profile.name + (", the one that answers" if facts["used"] else ""))
    for label, text in rows.items():
        click.echo(f"  {label:<9}  {text}")
    click.echo(table([_door_line(one) for one in facts["doors"]], _DOOR_HEAD, right=(1, 2, 3)))
    from admit.cli.checks import deadline_warnings

    for warning in deadline_warnings(config, profile.name):
        click.echo(warning)
    return DONE


@command.command("key", short_help="Store the key of a profile.", epilog=KEY_EXAMPLES)
@click.argument("name", metavar="NAME")
@click.option("--forget", is_flag=True, help="Delete the stored key.")
@json_option
def key(name: str, forget: bool, as_json: bool) -> int:
    """Store the key of a profile in a file of your own, mode 0600. It is never printed.

    It is read from a hidden prompt at a terminal, else as the one line on standard input.
    """
    from admit.judges.keyfile import Keys
    from admit.judges.profiles import names

    known = names(load().values)
    if name not in known:
        raise ConfigError(f"no profile {name!r}; there are: {', '.join(known)}", key="judge.profile")
    keys = Keys()
    if forget:
        gone = keys.forget(name)
        if as_json:
            print_json({"schema": 1, "profile": name, "stored": False, "forgotten": gone})
        else:
            click.echo(f"The key of {name} is deleted." if gone else f"{name} has no stored key.")
        return DONE
    if sys.stdin.isatty():
        text = click.prompt(f"Key of {name}", hide_input=True, err=True)
    else:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    path = keys.store(name, text)
    if as_json:
        print_json({"schema": 1, "profile": name, "stored": True, "file": path})
    else:
        click.echo(f"Stored in {path}; next: admit judge check {name}")
    return DONE


for _command in (check, ask, cost):
    command.add_command(_command)


def _facts(config: Config, name: str) -> dict[str, Any]:
    """Everything that is known of a profile, also of one that is not set up."""
    from admit.judges.profiles import profile

    try:
        found = profile(name, config.values)
    except ConfigError as error:
        return {"profile": name, "used": name == config.values["judge.profile"], "fault": str(error)}
    from admit.judges.consent import Consent, needs_consent

    address = found.address
    consent = Consent() if needs_consent(found) else None
    return {
        "profile": name,
        "used": name == config.values["judge.profile"],
        "fault": None,
        "backend": found.backend,
        "model": found.model,
        "destination": found.destination or None,
        "path": found.path or None,
        "address": address,
        "price_in": found.price_in,
        "price_out": found.price_out,
        "key": _key(found),
        "cooldown_until_ms": _cooldown(address),
        "doors": [
            {
                "door": door,
                "max_candidates": cell.max_candidates,
                "threshold": (least := _least(config, found, door)),
                "timeout_ms": cell.timeout_ms,
                "consent": None if consent is None else consent.allows(address, door),
                "shadow": _shadow(config, found, door, least),
            }
            for door, cell in found.doors.items()
        ],
    }


def _key(profile: Profile) -> str:
    """Where the key is: ``file``, ``variable NAME``, ``missing``, or ``not needed``; ``unusable`` is a file
    that may not be read, and `admit doctor` says why."""
    from admit.judges.keyfile import Keys, needs_key

    keys = Keys()
    if keys.finding(profile) is not None:
        return "unusable"
    if keys.read(profile, variables=False) is not None:
        return "file"
    if keys.read(profile, variables=True) is not None:
        return f"variable {profile.key_variable}"
    return "missing" if needs_key(profile) else "not needed"


def _cooldown(address: str) -> int | None:
    from admit.judges.standing import cooling

    return cooling(time.time()).get(address)


def _least(config: Config, profile: Profile, door: str) -> float | None:
    """The threshold in force; of the local judge that of its calibration."""
    from admit.judges.load import load_judge
    from admit.judges.profiles import threshold

    cell = profile.doors[door]
    if profile.backend != "local" or cell.threshold is not None:
        return cell.threshold
    return threshold(profile, door, load_judge(profile, config=config.values))


def _shadow(config: Config, profile: Profile, door: str, least: float | None) -> str | None:
    """Why answers at a door do not act; None where they do."""
    if profile.backend == "local" and least is None:
        return UNCALIBRATED
    return "mode" if config.values["judge.mode"] == "shadow" else profile.shadow(door)


def _line(facts: dict[str, Any], used: str) -> list[str]:
    mark = "*" if facts["profile"] == used else ""
    if facts["fault"] is not None:
        return [mark, facts["profile"], "", "", "not set up", "", "", ""]
    doors = facts["doors"]
    acting = [one["door"] for one in doors if _acts(one)]
    rest = [one["door"] for one in doors if _records(one)]
    where = facts["address"] if facts["destination"] else "this machine"
    cells = [facts["backend"], facts["model"], where, facts["key"], ", ".join(acting), ", ".join(rest)]
    return [mark, facts["profile"], *cells]


def _acts(door: dict[str, Any]) -> bool:
    return door["shadow"] is None and door["consent"] is not False


def _records(door: dict[str, Any]) -> bool:
    return door["shadow"] not in (None, UNCALIBRATED) and door["consent"] is not False


def _door_line(door: dict[str, Any]) -> list[str]:
    most, least = door["max_candidates"], door["threshold"]
    consent = {None: "not needed", True: "given", False: "missing"}[door["consent"]]
    acts = {None: "act", UNCALIBRATED: "none: not calibrated"}
    answers = acts.get(door["shadow"]) or f"are recorded ({door['shadow']})"
    return [
        door["door"],
        "" if most is None else f"{most:,}",
        "" if least is None else f"{least:g}",
        f"{door['timeout_ms']:,} ms",
        consent,
        "none: no consent" if door["consent"] is False else answers,
    ]
