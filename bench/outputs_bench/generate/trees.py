"""Kinds with structure: an API answer, a dependency tree, a settings dump, an infrastructure plan."""

from __future__ import annotations

import json
import random

from .draft import Kind, hexes, pick


def _ticket(draw: random.Random, number: int, **given: object) -> str:
    ticket = {
        "id": 50_000 + number,
        "title": f"Sync job {draw.randint(100, 999)} finished",
        "state": pick(draw, "closed closed open"),
        "assignee": pick(draw, "robot-1 robot-2"),
        "labels": ["sync", pick(draw, "auto nightly")],
        "created_at": f"2031-0{draw.randint(1, 4)}-{draw.randint(1, 28):02}T0{draw.randint(0, 9)}:15:00Z",
        "comments": draw.randint(0, 4),
        "body": draw.choice(
            (
                "Routine sync, all rows accepted.",
                f"Customer asks for a copy of invoice {draw.randint(1_000, 9_999)}.",
                f"Order {draw.randint(10_000, 99_999)} was shipped in two parcels.",
                "Import stopped with a read error and was started again.",
            )
        ),
    } | given
    return "\n".join("  " + line for line in json.dumps(ticket, indent=2, ensure_ascii=False).split("\n"))


def _ticket_wrap(draw: random.Random, plant: str) -> str:
    return _ticket(draw, draw.randint(6_000, 9_000), **json.loads(plant))


def _package_record(draw: random.Random, number: int) -> str:
    depth = draw.choice((1, 2, 2, 3, 3, 4))
    stem = pick(draw, "fast tiny is-string deep path stream safe lazy")
    name = f"{stem}-{pick(draw, 'glob merge buffer walk color clone cache')}"
    version = f"{draw.randint(0, 9)}.{draw.randint(0, 20)}.{draw.randint(0, 9)}"
    return "│ " * (depth - 1) + f"├── {name}@{version}" + (" deduped" if draw.random() < 0.5 else "")


def _worker_section(draw: random.Random, number: int) -> str:
    settings = {
        "host": f"10.8.{number // 200}.{number % 200 + 2}",
        "slots": draw.choice((8, 16)),
        "cpu_governor": "performance",
        "queue": pick(draw, "images exports mail"),
        "spool_dir": f"/var/spool/worker/{number}",
        "log_level": "info",
        "on_error": "requeue",
        "heartbeat_s": 15,
    }
    return "\n".join([f"[worker.{number}]", *(f"{key} = {value}" for key, value in settings.items())])


def _resource_record(draw: random.Random, number: int) -> str:
    address = (
        f"{pick(draw, 'compute_instance.web compute_instance.job disk.scratch dns_record.node')}[{number}]"
    )
    kind, _, name = address.partition(".")
    old, new = draw.randint(40, 59), draw.randint(60, 79)
    return _block(
        address,
        "will be updated in-place",
        "~",
        kind,
        name,
        [f'~ image_release = "r{old}" -> "r{new}"'],
        draw,
    )


def _block(
    address: str, verb: str, sign: str, kind: str, name: str, changes: list[str], draw: random.Random
) -> str:
    body = [
        f'        id      = "{hexes(draw, 12)}"',
        *(f"      {change}" for change in changes),
        "        # (7 unchanged attributes hidden)",
    ]
    return "\n".join([f"  # {address} {verb}", f'  {sign} resource "{kind}" "{name}" {{', *body, "    }", ""])


def _resource_wrap(draw: random.Random, plant: str) -> str:
    given = json.loads(plant)
    kind, _, name = given["address"].partition(".")
    return _block(given["address"], given["verb"], given["sign"], kind, name, given["changes"], draw)


KINDS = {
    "api-answer": Kind(
        _ticket,
        "curl -s https://tracker.example/api/tickets",
        _ticket_wrap,
        head="[\n",
        foot="\n]\n",
        between=",\n",
    ),
    "package-tree": Kind(
        _package_record, "npm ls --all", head="shop@5.1.0 /srv/shop\n", foot="\n└── zone-table@1.0.3\n\n"
    ),
    "settings-dump": Kind(
        _worker_section, "fleetctl config show", head="# effective settings, merged\n", foot="\n"
    ),
    "infrastructure-plan": Kind(
        _resource_record,
        "terraform plan -no-color",
        _resource_wrap,
        head="Refreshing state... done\n\nThe following actions will be performed:\n\n",
        foot="\n  # dns_zone.main will be read during apply\n\nNote: the plan was not saved to a file.\n",
    ),
}
