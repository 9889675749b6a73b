"""Kinds that grow line by line with a clock: a service log, an access log, an image build, measurements."""

from __future__ import annotations

import json
import random

from .draft import TIME, Kind, hexes, pick

PATHS = "/v1/items /v1/carts /v1/orders /v1/prices /v1/users/me /v1/stock /health"
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_2)",
    "ShopApp/8.4",
    "okhttp/5.1",
)


def _service_record(draw: random.Random, number: int) -> str:
    lucky = draw.random()
    entry: dict[str, object] = {"ts": TIME, "level": "info", "msg": "request served"}
    if lucky < 0.02:
        entry |= {"level": "warn", "msg": "upstream timeout, will retry", "attempt": draw.randint(1, 3)}
    elif lucky < 0.03:
        entry |= {
            "level": "error",
            "msg": "card declined",
            "status": 402,
            "order": draw.randint(10_000, 99_999),
        }
    elif lucky < 0.12:
        entry |= {
            "msg": "queue depth",
            "queue": pick(draw, "mail-out images exports"),
            "depth": draw.randint(0, 90),
        }
    else:
        request = f"{hexes(draw, 4)}-{hexes(draw, 4)}-{hexes(draw, 4)}"
        entry |= {"path": pick(draw, PATHS), "status": 200, "ms": draw.randint(2, 180), "request": request}
    return json.dumps(entry)


def _service_wrap(draw: random.Random, plant: str) -> str:
    return json.dumps({"ts": TIME, "level": "info", **json.loads(plant)})


def _access_record(draw: random.Random, number: int) -> str:
    address = f"10.{draw.randint(0, 9)}.{draw.randint(0, 255)}.{draw.randint(1, 254)}"
    path = draw.choice(
        (f"/item/{draw.randint(1, 9_999)}", f"/img/{hexes(draw, 8)}.webp", "/cart", "/", "/search?q=lamp")
    )
    status = draw.choices((200, 304, 404, 502), (90, 7, 2, 1))[0]
    size = draw.randint(180, 64_000)
    return f'{address} - - [{TIME}] "GET {path} HTTP/1.1" {status} {size} "-" "{draw.choice(AGENTS)}"'


def _build_record(draw: random.Random, number: int) -> str:
    step = 8 + min(number // 90, 9)
    stem = pick(draw, "amber birch cedar delta ember flint grove")
    package = f"lib{stem}-{pick(draw, 'dev common bin data perl')}"
    version = f"{draw.randint(0, 12)}.{draw.randint(0, 30)}.{draw.randint(0, 9)}-{draw.randint(1, 5)}"
    seconds, size = f"{number * 0.11 + draw.random():.2f}", draw.randint(8, 900)
    actions = (
        f"Get:{number} http://deb.mirror.example/debian trixie/main amd64 {package} {version} [{size} kB]",
        f"Selecting previously unselected package {package}.",
        f"Unpacking {package} ({version}) ...",
        f"Setting up {package} ({version}) ...",
    )
    return f"#{step} {seconds} {draw.choice(actions)}"


def _measure_record(draw: random.Random, number: int) -> str:
    return f"{TIME},sensor-{draw.randint(0, 40):03},{draw.uniform(17, 24):.2f},ok"


KINDS = {
    "service-log": Kind(
        _service_record, "kubectl logs deploy/api", _service_wrap, clock="%Y-%m-%dT%H:%M:%S.000Z"
    ),
    "access-log": Kind(_access_record, "cat /var/log/nginx/access.log", clock="%d/%b/%Y:%H:%M:%S +0000"),
    "image-build": Kind(
        _build_record,
        "docker build --progress=plain .",
        head="#1 [internal] load build definition from Dockerfile\n#1 transferring: 1.41kB\n#1 DONE 0.0s\n",
        foot="\n#18 exporting to image\n#18 writing image sha256:9d1f0c3b done\n#18 DONE 4.2s\n",
    ),
    "measurements-csv": Kind(
        _measure_record, "cat readings.csv", head="time,source,value,state\n", foot="\n"
    ),
}
