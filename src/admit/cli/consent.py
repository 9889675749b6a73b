"""`admit consent`: which door's texts may leave this machine, and where to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli.asking import must_ask, yes
from admit.cli.frame import DONE, FINDING, json_option, print_json
from admit.config.keys import DOORS
from admit.config.layers import Config, load
from admit.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from admit.judges.consent import Grant

EXAMPLES = """\b
Examples:
  admit consent list
  admit consent grant jev --door guidance --door tools
  admit consent grant https://judge.example.org --door outputs
  admit consent revoke jev"""
GRANT_EXAMPLES = """\b
Examples:
  admit consent grant jev --door guidance --door tools
  admit consent grant https://judge.example.org --door outputs --yes"""
REVOKE_EXAMPLES = """\b
Examples:
  admit consent revoke jev
  admit consent revoke https://judge.example.org"""


@click.group("consent", epilog=EXAMPLES)
def command() -> None:
    """Say which door's texts may go to a judge elsewhere: list, grant, revoke.

    A consent is for one host, port and door, and for what that door sends today. No project file and no
    variable gives one. A judge on this machine needs none.
    """


@command.command("list", epilog="\b\nExample:\n  admit consent list --json")
@json_option
def list_(as_json: bool) -> int:
    """List what was allowed, and whether it still holds.

    Ends with 1 where the file of consents cannot be used: nothing is allowed then.
    """
    from admit.judges.consent import Consent
    from admit.ledger.moments import local
    from admit.text.table import table

    consent = Consent()
    finding = consent.finding
    if as_json:
        grants = [_as_json(one) for one in consent.grants()]
        found = None if finding is None else finding._asdict()
        print_json({"schema": 1, "file": consent.path, "grants": grants, "finding": found})
    elif finding is not None:
        click.echo(f"{finding}: nothing is allowed.\n    {finding.fix}")
    elif grants := consent.grants():
        rows = [
            [
                one.destination,
                one.door,
                ", ".join(one.classes),
                f"{local(one.ts_ms):%Y-%m-%d %H:%M}",
                "holds" if one.holds else "no longer holds: grant it again",
            ]
            for one in grants
        ]
        click.echo(table(rows, ["destination", "door", "may be sent", "since", "now"]))
    else:
        click.echo("Nothing may leave this machine. To allow it: admit consent grant PROFILE --door DOOR")
    return DONE if finding is None else FINDING


@command.command("grant", short_help="Allow a door's texts to go to a destination.", epilog=GRANT_EXAMPLES)
@click.argument("destination", metavar="DEST|PROFILE")
@click.option(
    "--door", "doors", type=click.Choice(DOORS), multiple=True, required=True, help="Whose texts; repeatable."
)
@click.option("--yes", "without_asking", is_flag=True, help="Allow it without asking.")
@json_option
def grant(destination: str, doors: tuple[str, ...], without_asking: bool, as_json: bool) -> int:
    """Allow a door's texts to go to a destination; all that is sent is shown first.

    Ends with 1 where the answer was no.
    """
    from admit.judges.consent import Consent, statement

    config = load()
    address, elsewhere = _address(config, destination)
    doors = tuple(dict.fromkeys(doors))
    if not elsewhere:
        return _none_needed(address, as_json)
    texts = [statement(address, door) for door in doors]
    if not as_json:
        click.echo("\n\n".join(texts))
    if not without_asking:
        if as_json:
            raise UsageError("nothing was allowed: with --json add --yes")
        must_ask("nothing was allowed")
        if not yes("Allow it?"):
            click.echo("Nothing was allowed.", err=True)
            return FINDING
    consent = Consent()
    granted = consent.grant(address, doors)
    _record(config, "judge.consent_granted", granted)
    if as_json:
        rows = [{**_as_json(one), "statement": text} for one, text in zip(granted, texts, strict=True)]
        print_json({"schema": 1, "destination": address, "file": consent.path, "granted": rows})
    else:
        click.echo(f"Allowed, and kept in {consent.path}.")
    return DONE


@command.command(
    "revoke", short_help="Take back all that was allowed for a destination.", epilog=REVOKE_EXAMPLES
)
@click.argument("destination", metavar="DEST|PROFILE")
@json_option
def revoke(destination: str, as_json: bool) -> int:
    """Take back everything that was allowed for a destination, at every door."""
    from admit.judges.consent import Consent

    config = load()
    address, _ = _address(config, destination)
    gone = Consent().revoke(address)
    if gone:
        _record(config, "judge.consent_revoked", gone)
    if as_json:
        print_json({"schema": 1, "destination": address, "revoked": [_as_json(one) for one in gone]})
    elif gone:
        click.echo(f"Nothing goes to {address} any more; it was {', '.join(one.door for one in gone)}.")
    else:
        click.echo(f"Nothing was allowed for {address}.")
    return DONE


def _address(config: Config, word: str) -> tuple[str, bool]:
    """The destination that a word names, and whether it is on another machine.

    Raises:
        ConfigError: The word is no profile and no URL, or the profile is not set up.
    """
    from admit.judges.consent import needs_consent
    from admit.judges.profiles import Profile, address_of, names, profile

    if word in ("agent:claude", "agent:codex"):  # what one of them sends on goes to its own maker
        return word, True
    if word in names(config.values):
        found = profile(word, config.values)
        return found.address, needs_consent(found)
    if "://" not in word:
        known = ", ".join(names(config.values))
        raise ConfigError(f"{word!r} is neither a URL such as https://HOST nor a profile: {known}")
    return address_of(word), needs_consent(Profile("", "", "", {}, destination=word))


def _none_needed(address: str, as_json: bool) -> int:
    if as_json:
        print_json({"schema": 1, "destination": address, "file": None, "granted": []})
    else:
        click.echo(f"{address} is on this machine: it needs no consent, and nothing was kept.")
    return DONE


def _record(config: Config, type: str, grants: Sequence[Grant]) -> None:
    from admit.cli.selftest import write_events

    write_events(config, type, [one.body() for one in grants])


def _as_json(one: Grant) -> dict[str, Any]:
    return {**one._asdict(), "classes": list(one.classes), "holds": one.holds}
