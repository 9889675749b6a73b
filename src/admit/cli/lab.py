"""`admit lab`: choose a number honestly, from a plan that is frozen before anything is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from admit.cli.frame import DONE, FINDING, USAGE, counted, json_option, print_json
from admit.cli.lab_replay import calibrate, replay
from admit.config.layers import load
from admit.errors import UsageError

if TYPE_CHECKING:
    from admit.lab.freeze import FrozenPlan
    from admit.lab.journal import Journal
    from admit.lab.plan import Plan

EXAMPLES = """\b
Examples:
  admit lab new --door tools depth.toml
  admit lab check depth.toml
  admit lab freeze depth.toml
  admit lab run depth.toml
  admit lab select depth.toml
  admit lab confirm depth.toml
  admit lab promote depth.toml --outcomes runs.jsonl"""

TEMPLATES = {"tools": ("adaptive-depth",), "evidence": ("evidence-tail",)}
_F = TypeVar("_F", bound=Callable[..., Any])


def _path_option(command: _F) -> _F:
    return click.option(
        "--path",
        "places",
        metavar="ROLE=DIR",
        multiple=True,
        help="Where a surface is: dev=DIR or confirm=DIR, in place of the plan's own path.",
    )(command)


def _plan_argument(command: _F) -> _F:
    return click.argument("plan", metavar="PLAN", type=click.Path(dir_okay=False))(command)


@click.group("lab", epilog=EXAMPLES)
def command() -> None:
    """Choose a number honestly: plan, freeze, run, select, confirm once, promote.

    A plan is written before anything is measured and cannot be changed after it is frozen. Promotion is the
    one step that changes a setting, and only where every gate of the plan holds.
    """


command.add_command(replay)
command.add_command(calibrate)


@command.command(
    "new",
    short_help="Write a plan from a template.",
    epilog="\b\nExample:\n  admit lab new --door tools depth.toml",
)
@click.argument("out", metavar="PLAN", type=click.Path(dir_okay=False))
@click.option("--door", type=click.Choice(tuple(TEMPLATES)), default="tools", show_default=True)
@click.option("--template", metavar="T", help="Which template; the door's first without it.")
@json_option
def new(out: str, door: str, template: str | None, as_json: bool) -> int:
    """Copy a commented template to PLAN, which must not be there yet."""
    from importlib.resources import files

    name = template or TEMPLATES[door][0]
    if name not in TEMPLATES[door]:
        raise UsageError(f"there is no template {name!r} for {door}; choose {', '.join(TEMPLATES[door])}")
    text = files("admit.lab").joinpath("plans", f"{name}.toml").read_bytes()
    try:
        with open(out, "xb") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{out} is there already; name another file") from None
    if as_json:
        print_json({"schema": 1, "plan": out, "template": name})
    else:
        blank = "[surfaces.dev] and [surfaces.confirm]" if door == "tools" else "root and judge"
        click.echo(f"{out} written. Fill in {blank}, then: admit lab check {out}")
    return DONE


@command.command(
    "check", short_help="What a plan lacks.", epilog="\b\nExample:\n  admit lab check depth.toml"
)
@_plan_argument
@_path_option
@json_option
def check(plan: str, places: tuple[str, ...], as_json: bool) -> int:
    """Say all that is missing, underpowered or unbalanced in PLAN and its surfaces. Nothing is scored."""
    from admit.lab import freeze as freezing
    from admit.lab.plan import Plan, faults, read

    if (values := _of_evidence(plan)) is not None:
        from admit.cli import lab_tail

        return lab_tail.check(plan, values, as_json)
    found = [message for _, message in faults(read(plan))]
    if not found:
        found = freezing.check(Plan.load(plan, _places(places)))
    if as_json:
        print_json({"schema": 1, "plan": plan, "findings": found})
    else:
        for one in found:
            click.echo(one)
        click.echo(f"{counted(len(found), 'finding')}." if found else f"{plan} can be frozen.")
    return USAGE if found else DONE


@command.command(
    "freeze",
    short_help="Fix a plan for good, before scoring.",
    epilog="\b\nExample:\n  admit lab freeze depth.toml",
)
@_plan_argument
@_path_option
@json_option
def freeze(plan: str, places: tuple[str, ...], as_json: bool) -> int:
    """Write the hash of PLAN and of its data beside it and into the ledger.

    From then on every command refuses an edited plan and changed data. A plan that came frozen is made known
    to this ledger.
    """
    from admit.lab.freeze import freeze as fix

    if (values := _of_evidence(plan)) is not None:
        from admit.cli import lab_tail

        return lab_tail.freeze(plan, values, as_json)
    frozen = fix(_loaded(plan, places), _journal())
    if as_json:
        print_json({"schema": 1, "plan": frozen.hash, "data": {k: dict(v) for k, v in frozen.data.items()}})
    else:
        click.echo(f"Frozen before scoring: {frozen.hash}")
    return DONE


@command.command(
    "run",
    short_help="Measure all policies on all cases.",
    epilog="\b\nExample:\n  admit lab run depth.toml --workers 2",
)
@_plan_argument
@click.option("--surface", default="dev", show_default=True, help="Which surface of the plan.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes.")
@_path_option
@json_option
def run(plan: str, surface: str, workers: int, places: tuple[str, ...], as_json: bool) -> int:
    """Measure every policy on every case of an open surface. A run that was killed goes on where it was."""
    from admit.cli import lab_words
    from admit.lab.figures import times
    from admit.lab.run import run as measure

    if (values := _of_evidence(plan)) is not None:
        from admit.cli import lab_tail

        return lab_tail.run(plan, values, workers, as_json)
    frozen, journal = _frozen(plan, places)
    done = measure(frozen, journal, surface, workers=workers)
    if done.missing:
        for one in done.missing:
            click.echo(f"missing: {one}", err=True)
        if as_json:
            print_json({"schema": 1, "plan": frozen.hash, "missing": list(done.missing)})
        return FINDING
    found, summary = _figures(frozen, surface)
    if as_json:
        print_json({**found, "times": times(summary)})
    else:
        for line in lab_words.run_lines(found):
            click.echo(line)
    return DONE


@command.command(
    "select", short_help="Choose one policy, or none.", epilog="\b\nExample:\n  admit lab select depth.toml"
)
@_plan_argument
@_path_option
@json_option
def select(plan: str, places: tuple[str, ...], as_json: bool) -> int:
    """Apply the plan's rule to its run: exactly one policy, or nothing eligible (exit code 1)."""
    from admit.cli import lab_words
    from admit.lab.selection import as_json as as_value
    from admit.lab.selection import select as choose

    chosen = choose(*_frozen(plan, places))
    if as_json:
        print_json({"schema": 1, **as_value(chosen)})
    else:
        for line in lab_words.selection_lines(as_value(chosen)):
            click.echo(line)
    return FINDING if chosen.policy is None else DONE


@command.command(
    "confirm",
    short_help="Open the sealed surface, once.",
    epilog="\b\nExample:\n  admit lab confirm depth.toml",
)
@_plan_argument
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes.")
@_path_option
@json_option
def confirm(plan: str, workers: int, places: tuple[str, ...], as_json: bool) -> int:
    """Measure the chosen policy on the sealed surface.

    The attempt is recorded before anything is scored, and a second one is refused.
    """
    from admit.lab.confirm import confirm as look
    from admit.lab.selection import recorded

    frozen, journal = _frozen(plan, places)
    done = look(frozen, recorded(frozen, journal), journal, workers=workers)
    if as_json:
        print_json({"schema": 1, "policy": done.policy, "result": done.result, "failed": list(done.failed)})
    else:
        click.echo(f"{done.policy} {done.result}.")
        for bar in done.failed:
            click.echo(f"  does not keep {bar}")
    return FINDING if done.failed else DONE


@command.command(
    "promote",
    short_help="Write the number, if all gates hold.",
    epilog="\b\nExample:\n  admit lab promote depth.toml --outcomes runs.jsonl",
)
@_plan_argument
@click.option(
    "--outcomes",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="What agents did under each policy, JSON lines.",
)
@_path_option
@json_option
def promote(plan: str, outcomes: str | None, places: tuple[str, ...], as_json: bool) -> int:
    """Write the confirmed number to your file if the plan's gates hold; say of each whether it does."""
    from admit.cli import lab_words
    from admit.lab.freeze import surface_of
    from admit.lab.outcomes import read_outcomes
    from admit.lab.promote import promote as write

    frozen, journal = _frozen(plan, places)
    given = read_outcomes(Path(outcomes)) if outcomes is not None else None
    clusters = {one.id: one.cluster for one in surface_of(frozen, "dev").cases} if given else {}
    done = write(frozen, journal, _set, outcomes=given, clusters=clusters)
    if as_json:
        print_json({"schema": 1, **done._asdict(), "gates": [one._asdict() for one in done.gates]})
    else:
        for line in lab_words.promotion_lines(done):
            click.echo(line)
    return DONE if done.promoted else FINDING


@command.command(
    "report",
    short_help="The run as a page for a browser.",
    epilog="\b\nExamples:\n  admit lab report depth.toml\n  admit lab report depth.toml --json",
)
@_plan_argument
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="PLAN with .html without it.")
@_path_option
@json_option
def report(plan: str, out: str | None, places: tuple[str, ...], as_json: bool) -> int:
    """Write the figures of the plan's run as one page that opens offline, or print them as JSON."""
    from admit.lab.report import page

    frozen, _ = _frozen(plan, places)
    found, _ = _figures(frozen, "dev")
    if as_json:
        print_json(found)
        return DONE
    target = Path(out) if out is not None else Path(plan).with_suffix(".html")
    target.write_text(page(found), encoding="utf-8")
    click.echo(f"{target} written")
    return DONE


def _places(given: tuple[str, ...]) -> dict[str, str]:
    places = {}
    for one in given:
        role, _, folder = one.partition("=")
        if role not in ("dev", "confirm") or not folder:
            raise UsageError(f"--path takes dev=DIR or confirm=DIR, not {one!r}")
        places[role] = folder
    return places


def _of_evidence(plan: str) -> dict[str, Any] | None:
    """The values of a plan of the evidence door; None where it is one of another."""
    from admit.lab.plan import read

    values = read(plan)
    return values if values.get("door") == "evidence" else None


def _loaded(plan: str, places: tuple[str, ...]) -> Plan:
    from admit.lab.plan import Plan

    if _of_evidence(plan) is not None:
        from admit.cli import lab_tail

        lab_tail.refuse(click.get_current_context().info_name or "")
    return Plan.load(plan, _places(places))


def _journal() -> Journal:
    from admit.lab.journal import Journal
    from admit.ledger import open_ledger

    return Journal(open_ledger(load().values))


def _frozen(plan: str, places: tuple[str, ...]) -> tuple[FrozenPlan, Journal]:
    from admit.lab.freeze import frozen

    journal = _journal()
    return frozen(_loaded(plan, places), journal), journal


def _figures(frozen: FrozenPlan, role: str) -> tuple[Mapping[str, Any], Any]:
    from admit.lab.figures import figures
    from admit.lab.freeze import surface_of
    from admit.lab.run import held
    from admit.lab.selection import choose
    from admit.lab.summary import summarise

    run, surface = held(frozen, role), surface_of(frozen, role)
    summary = summarise(frozen.plan, surface, run)
    chosen = choose(frozen.plan, summary, run.hash)
    command = f"admit lab run {frozen.plan.path.name} --surface {role}"
    return figures(frozen, surface, run, summary, chosen, command), summary


def _set(key: str, value: str) -> None:
    from admit.config import edit, layers

    path = layers.user_file()[0]
    edit.write(next((one for one in layers.load().files if one.layer == "user"), None), path, key, value)
