"""The peers of the tools door, each in its own virtual environment, asked once with all requests."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from admit.tools.fields import field_texts
from peers import HERE, NotRun, Peer, install

from .sets import Query, ToolSet

__all__ = ["NotRun", "orders_of_peers"]

PEERS = (
    Peer("bm25s[stem]", "0.3.16", ("bm25s",)),
    Peer("fastmcp", "4.2.3", ("fastmcp search",)),
    Peer("schemarouter", "0.17.0", ("SchemaRouter baseline", "SchemaRouter structural")),
)
DEPTH = 100
FUSION = 60
SECONDS = 3_600

Found = tuple[list[list[str]], list[float]]


class Encoder(Protocol):
    """Turns texts into vectors of length 1."""

    def encode(self, texts: list[str]) -> Sequence[Sequence[float]]: ...


def orders_of_peers(
    tools: ToolSet, asked: list[Query], data: Path, notes: dict[str, str], encoder: Encoder | None
) -> dict[str, Found]:
    """Each peer's orders and milliseconds; no times are not measured. `notes` says why one did not run."""
    ids = [route.id for route in tools.routes]
    texts = [" ".join(text for text in field_texts(route) if text) for route in tools.routes]
    job: dict[str, Any] = {
        "k": DEPTH,
        "queries": [query.text for query in asked],
        "texts": texts,
        "tools": [
            {
                "name": r.name,
                "description": f"{r.group_description} {r.description}".strip(),
                "schema": _schema(r),
            }
            for r in tools.routes
        ],
    }
    surface = re.fullmatch(r"surface-(\d+)", tools.name)
    if surface:
        path = data / "capability-240-dev" / f"catalog-{surface[1]}.json"
        job["capabilities"] = json.loads(path.read_text(encoding="utf-8"))
        job["places"] = {f"{route.group}.{route.name}": number for number, route in enumerate(tools.routes)}
    found: dict[str, Found] = {}
    for peer in PEERS:
        if peer.name == "schemarouter" and not surface:
            notes[peer.name] = "the set has no capabilities of its kind"
            continue
        try:
            answer = _ask(peer, job)
        except NotRun as reason:
            notes[peer.name] = str(reason)
            continue
        for row, one in answer["rows"].items():
            orders = [[ids[number] for number in order] for order in one["orders"]]
            found[f"{row} {answer['version']}"] = (orders, one["ms"])
    words = next((one for row, one in found.items() if row.startswith("bm25s ")), None)
    if encoder is None or words is None:
        notes["bm25s + MiniLM, rank fusion"] = "needs --dense and bm25s"
    else:
        near = _nearest(encoder, ids, texts, [query.text for query in asked])
        found["MiniLM, all fields"] = (near, [])
        fused = [_fuse(a, b) for a, b in zip(words[0], near, strict=True)]
        found["bm25s + MiniLM, rank fusion"] = (fused, [])
    return found


def _ask(peer: Peer, job: dict[str, Any]) -> dict[str, Any]:
    python = install(peer)
    script = HERE / "peer_workers" / f"{peer.name.partition('[')[0]}_worker.py"
    try:
        done = subprocess.run(
            [str(python), "-I", str(script)],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise NotRun(f"{peer.requirement} gave no answer in {SECONDS} s") from error
    except subprocess.CalledProcessError as error:
        raise NotRun(f"{peer.requirement}: {(error.stderr or 'failed').strip().splitlines()[-1]}") from error
    return json.loads(done.stdout.splitlines()[-1])


def _schema(route: Any) -> dict[str, Any]:
    if route.input_schema and route.input_schema.get("properties"):
        return route.input_schema
    return {"type": "object", "properties": {p.name: {"description": p.description} for p in route.params}}


def _nearest(encoder: Encoder, ids: list[str], texts: list[str], queries: list[str]) -> list[list[str]]:
    import numpy as np

    cosines = np.array(encoder.encode(queries)) @ np.array(encoder.encode(texts)).T
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :DEPTH]
    return [[ids[number] for number in row] for row in order]


def _fuse(*orders: list[str]) -> list[str]:
    scores: dict[str, float] = {}
    for order in orders:
        for rank, route_id in enumerate(order, start=1):
            scores[route_id] = scores.get(route_id, 0.0) + 1 / (FUSION + rank)
    return sorted(scores, key=lambda one: (-scores[one], one))
