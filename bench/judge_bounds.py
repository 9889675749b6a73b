"""What stands around a judge, in time: redaction per megabyte, and how far a deadline is overshot.

    python bench/judge_bounds.py [--file TEXT ...]

Redaction runs over ordinary text (the labelled outputs of the calibration), over each FILE (all the files of
a directory as one text) and over crafted lines of one megabyte each; lines full of secrets are a row of their
own, for each secret costs its mask. Deadlines are measured on a judge that never answers, without and with
other threads that keep the interpreter busy: with the switch interval that the daemon sets for its process,
and with Python's own.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path
from random import Random

from admit.core.question import Ask, Noul
from admit.hosts.daemon.process import SWITCH_S
from admit.judges.bounded import BoundedJudge
from admit.judges.redact import Redactor
from admit.judges.scripted import FaultyJudge

MEGABYTE = 1_000_000
CRAFTED = (
    "a", "M", "\\", "\n", "é", "key_", "://", "a://b:c", "-----BEGIN ", "eyJ", "eyJhbGciOi.", "sk-",
    "Bearer ", "login password ", "12345678:AA", "authorization", "password", '\\"', "cookie: x ",
    "xkey_", "-a.", "-key-", "key\\", "key.AKIA", "token value", "login\t", "discord.com/api/webhooks/1",
)  # fmt: skip
RUN = "orgapachemaven2buildswork2abcdef"
# Where a pass stops often: each stop costs its look, and a secret its mask.
STOPS = (
    "key=abcdefgh ", 'token:"abcdefgh",', '"prompt_tokens": 12, ', f"/{RUN}/project ", f"key.{RUN}.",
    f"-a.{RUN}.", 'key=\\"x\n', "key=\'\'\'x\n", "sk-0123456789abcdefghij ", "a://b:cdefgh@h ",
    "eyJhbGciOi.eyJzdWIi.abc ", "AKIAABCDEFGH12345678key_", "x-api-key ", "-----BEGIN PRIVATE KEY-----",
)  # fmt: skip


def ordinary() -> str:
    path = Path(__file__).parent / "calibration" / "outputs.jsonl"
    passages = [text for line in path.open() for text in json.loads(line)["passages"]]
    text = "\n".join(passages)
    return (text * (MEGABYTE // len(text) + 1))[:MEGABYTE]


def milliseconds_per_megabyte(redactor: Redactor, text: str) -> tuple[float, int]:
    redactor.redact(text[:10_000])
    spent, masks = [], 0
    for _ in range(3):
        started = time.process_time()
        masks = len(redactor.redact(text).masks)
        spent.append(time.process_time() - started)
    return min(spent) * 1000 / (len(text.encode("utf-8", "surrogatepass")) / MEGABYTE), masks


def read(path: Path) -> str:
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    return "\n".join(file.read_text(errors="replace") for file in files)


def redaction(files: list[Path]) -> None:
    redactor = Redactor()
    texts = {"ordinary text": ordinary()} | {path.name: read(path) for path in files}
    for name, text in texts.items():
        spent, masks = milliseconds_per_megabyte(redactor, text)
        print(f"{name:23} {spent:9.1f} ms of CPU per MB, {masks} masks")
    rows = {repr(unit): unit * (MEGABYTE // len(unit)) for unit in CRAFTED}
    rows["random base64"] = base64.b64encode(Random(1).randbytes(MEGABYTE * 3 // 4)).decode()
    measured = {name: milliseconds_per_megabyte(redactor, line) for name, line in rows.items()}
    worst = max(measured, key=lambda name: measured[name][0])
    for name, (spent, masks) in measured.items():
        print(
            f"one line of {name:18} {spent:9.1f}   {masks} masks" + ("   the worst" if name == worst else "")
        )
    for unit in STOPS:
        spent, masks = milliseconds_per_megabyte(redactor, unit * (MEGABYTE // len(unit)))
        each = spent * len(unit) / 1000
        print(f"full of {unit!r:42} {spent:9.1f}   {masks} masks, {each:.1f} µs a stop")


def overshoot(deadline_ms: int = 200, asks: int = 150, *, busy_threads: int, switch_s: float) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(switch_s)
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(1000))

    workers = [threading.Thread(target=spin, daemon=True) for _ in range(busy_threads)]
    for worker in workers:
        worker.start()
    over = []
    question = Noul("q1", "text", "ask", "yes", "no")
    for _ in range(asks):
        stuck = FaultyJudge("stalls")
        judge = BoundedJudge(stuck)
        started = time.perf_counter()
        reply = judge.ask(Ask("guidance", "task", (), (question,), None, deadline_ms, "r"))
        over.append((time.perf_counter() - started) * 1000 - deadline_ms)
        stuck.release()
        if reply.reason != "deadline":
            raise SystemExit(f"no deadline: {reply}")
    stop.set()
    for worker in workers:
        worker.join()
    sys.setswitchinterval(before)
    p50, p99 = statistics.median(over), sorted(over)[int(len(over) * 0.99)]
    print(
        f"deadline overshoot, {busy_threads} busy threads, threads switch after {switch_s * 1000:g} ms: "
        f"p50 {p50:.1f} ms, p99 {p99:.1f} ms of {asks} asks"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, action="append", default=[], help="text of your own")
    given = parser.parse_args()
    redaction(given.file)
    for busy_threads, switch_s in ((0, SWITCH_S), (2, SWITCH_S), (2, sys.getswitchinterval())):
        overshoot(busy_threads=busy_threads, switch_s=switch_s)
    print(f"load of this machine now: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
