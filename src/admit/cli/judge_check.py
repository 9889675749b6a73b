"""`admit judge check`: key, model and one small ask, with what it may cost said before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from admit.cli import asking, judge_words
from admit.cli.frame import DONE, FINDING, counted, json_option, print_json
from admit.config.layers import load
from admit.errors import UsageError
from admit.text.table import table

if TYPE_CHECKING:
    from admit.core.question import Call
    from admit.judges.check import Checked
    from admit.judges.limits import Estimate
    from admit.judges.profiles import Profile
    from admit.judges.semantics import Semantics

EXAMPLES = """\b
Examples:
  admit judge check
  admit judge check jev --yes
  admit judge check jev --semantics --spend 0.01"""

MOST_NAMES = 8
AGAIN = {"unreachable": "See that it runs, and that judge.profiles.{0}.destination is its address."}
OTHER = "See what it logs, and that model, form and path fit it: admit judge show {0}"
VARIANTS = {
    "same": "the same again",
    "ids": "other ids",
    "batch": "among more questions",
    "order": "in another order",
}


@click.command("check", short_help="Key, model and one small ask.", epilog=EXAMPLES)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--semantics", "apart", is_flag=True, help="See that questions do not move others.")
@click.option(
    "--spend", type=click.FloatRange(min=0), metavar="USD", help="Spend up to so much without asking."
)
@click.option("--yes", is_flag=True, help="Send without asking, whatever it costs.")
@json_option
def command(name: str | None, apart: bool, spend: float | None, yes: bool, as_json: bool) -> int:
    """Check that a judge can be asked: consent, key, model, and one small ask.

    What it costs at most is said before, and where that is not nothing, it asks. A cool-down ends, for this
    is the try. --semantics sends 12 requests more to a systemone server: the same questions again, under
    other ids, among more questions and in another order, each 3 times; a difference above 0.05 is a problem.

    States: valid, invalid (the key), no_credit, rate_limited, model_unavailable, unreachable, failed.
    Exit code 1: there is a problem.
    """
    from admit.judges import check, semantics

    config = load()
    profile = judge_words.chosen(config, name)
    if apart and profile.backend != "systemone":
        raise UsageError(
            f"--semantics is for servers of the systemone backend, not {profile.backend}: "
            "a chat model reads all questions of a request together"
        )
    door = judge_words.must_consent(profile, sorted(profile.doors, key=lambda one: one != "outputs"))
    parts = [check.estimate(profile, config.values, door)]
    if apart:
        parts.append(semantics.estimate(profile, config.values, door))
    estimate = _sum(parts)
    requests = 1 + (semantics.REQUESTS if apart else 0)
    if not as_json:
        click.echo(_row("judge", f"{profile.name}: {profile.backend}, {profile.model or 'no model named'}"))
        click.echo(_row("asked at", profile.address if profile.destination else "this machine"))
        click.echo(_row("at most", _at_most(requests, estimate)))
    if not _may_spend(profile, requests, estimate, spend, yes):
        click.echo("Nothing was sent.", err=True)
        return FINDING
    checked = check.check(profile, config.values, door)
    seen = None
    if apart and checked.state == "valid":
        seen = semantics.semantics(profile, config.values, door)
    bad = checked.state != "valid" or (seen is not None and (seen.reply is not None or _moved(seen)))
    if as_json:
        print_json(_as_json(checked, seen, profile, requests, estimate))
    else:
        for line in _lines(checked, profile):
            click.echo(line)
        if seen is not None:
            click.echo(_apart(seen, profile, door))
    return FINDING if bad else DONE


def _sum(parts: Sequence[Estimate | None]) -> Estimate | None:
    """Of several estimates; unknown where one is, None where nothing is sent."""
    from admit.judges.limits import Estimate

    known = [part for part in parts if part is not None]
    if not known:
        return None
    prices = [part.usd for part in known if part.usd is not None]
    return Estimate(
        sum(part.input_tokens for part in known), sum(prices) if len(prices) == len(known) else None
    )


def _may_spend(
    profile: Profile, requests: int, estimate: Estimate | None, spend: float | None, yes: bool
) -> bool:
    """Whether to go on: at no cost, with leave given, or with a yes at the terminal.

    Raises:
        UsageError: It costs more than --spend allows, or there is no terminal to ask at.
    """
    from admit.judges.consent import needs_consent

    if yes or estimate is None or estimate.usd == 0:
        return True
    if estimate.usd is None and not needs_consent(profile):
        return True  # on this machine, and nobody named a price
    where = f"{counted(requests, 'request')} to {profile.address}"
    if estimate.usd is None:
        costs = f"{where}, of unknown cost: the profile names no price"
    else:
        costs = f"{where}, at most {judge_words.usd(estimate.usd)}"
        if spend is not None:
            if estimate.usd <= spend:
                return True
            raise UsageError(f"{costs}: --spend {spend:g} is less")
    asking.must_ask(costs if estimate.usd is None else f"{costs} (--spend USD allows so much)")
    return asking.yes(f"{costs}. Send?")


def _at_most(requests: int, estimate: Estimate | None) -> str:
    if estimate is None:
        return "nothing is sent, free"
    price = (
        "cost unknown: the profile names no price" if estimate.usd is None else judge_words.usd(estimate.usd)
    )
    return f"{counted(requests, 'request')}, {estimate.input_tokens:,} tokens in, {price}"


def _lines(checked: Checked, profile: Profile) -> list[str]:
    reply, cell = checked.reply, profile.doors[checked.door]
    lines = []
    if checked.models is not None:
        shown = ", ".join(checked.models[:MOST_NAMES]) + (", …" if len(checked.models) > MOST_NAMES else "")
        among = "" if profile.model in checked.models else f": {shown}; {profile.model} is not among them"
        lines.append(_row("models", f"the server lists {len(checked.models)}{among}"))
    call = reply.calls[0] if reply.calls else None
    if call is not None:
        if call.model_answered not in (None, profile.model) and profile.destination:
            lines.append(_row("model", f"{call.model_answered} answered"))
        lines.append(
            _row("took", f"{reply.elapsed_ms:,.0f} ms, {_tokens(call)}{judge_words.cost(reply.calls)}")
        )
    lines.append(_row("state", checked.state))
    if checked.state != "valid":
        said = [_row("said", checked.said)] if checked.said else []
        sentence, *fix = judge_words.refusal(reply, profile, checked.door)
        # A door's fixes are to check, which is what is running, or to ask less, and this asked one question.
        if any("admit judge check" in line or "max_candidates" in line for line in fix):
            fix = [f"    {AGAIN.get(checked.state, OTHER).format(profile.name)}"]
        return [*lines, *said, sentence, *fix]
    if reply.quirks:
        lines.append(_row("quirks", ", ".join(reply.quirks)))
    if reply.elapsed_ms > cell.timeout_ms:
        lines.append(
            f"The {checked.door} door waits {cell.timeout_ms:,} ms, less than this took: ask again, for a "
            f"model may load at first, or raise judge.profiles.{profile.name}.{checked.door}.timeout_ms."
        )
    if reply.shadow is not None:
        lines += judge_words.shadow(reply.shadow, profile, checked.door)
    return lines


def _tokens(call: Call) -> str:
    if call.destination == "local" or call.sent == "no":
        return ""
    return "tokens unknown, " if call.input_tokens is None else f"{call.input_tokens:,} tokens in, "


def _apart(seen: Semantics, profile: Profile, door: str) -> str:
    rows = [
        (VARIANTS[one.variant], f"{one.most:.3f}", f"moves the {one.question}" if one.found else "ok")
        for one in seen.differences
    ]
    parts = ["", table(rows, ("the request", "difference", ""), right=(1,))] if rows else [""]
    if seen.reply is not None:
        parts += ["The sends ended here:", *judge_words.refusal(seen.reply, profile, door)]
    elif _moved(seen):
        parts.append(
            "What must not matter moves answers here, so thresholds do not hold: keep it in shadow with "
            "admit config set judge.mode shadow"
        )
    return "\n".join(parts)


def _moved(seen: Semantics) -> bool:
    return any(one.found for one in seen.differences)


def _as_json(
    checked: Checked, seen: Semantics | None, profile: Profile, requests: int, estimate: Estimate | None
) -> dict[str, Any]:
    value = judge_words.as_json(checked.reply, profile)
    value |= {
        "state": checked.state,
        "door": checked.door,
        "shadow": checked.reply.shadow,
        "said": checked.said,
        "models": None if checked.models is None else list(checked.models),
        "estimate": {
            "requests": requests if estimate is not None else 0,
            "input_tokens": estimate.input_tokens if estimate is not None else 0,
            "usd": estimate.usd if estimate is not None else 0,
        },
    }
    if seen is not None:
        value["calls"] += [call._asdict() for call in seen.calls]
        value["semantics"] = [one._asdict() | {"found": one.found} for one in seen.differences]
        value["ended_by"] = seen.reply.reason if seen.reply is not None else None
    return value


def _row(name: str, text: str) -> str:
    return f"{name:<9} {text}"
