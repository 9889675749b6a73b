"""The evidence door with a real model: claims whose truth is known, half of them altered by a seed.

    python bench/evidence_judge.py --data PATH --python VENV/bin/python --model MODEL.gguf [--cases 60]

Each case is a note with one claim that links one artifact. The claim is a sentence of that artifact, word for
word (supported), or with a number changed, a negation put in, or taken from another artifact (not supported).
The artifact is the paragraphs around the sentence. The whole door judges it: plan, pack, request, answers,
verdict. `bench/judge_chat.py` says how VENV and MODEL are had. A tenth of the cases is asked twice.

A model that fits here is far too small to be a judge; the best public checkers reach about 77 % balanced
accuracy. What the small one shows is the path, its cost and what is left unjudged. Without --python and
--model the rows say "not run".
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from admit.config.layers import load
from admit.evidence.base import Base
from admit.evidence.criteria import load as criterion_of
from admit.evidence.gate import EvidenceGate
from admit.evidence.model import Review
from admit.judges.door import door_judge, own_judge
from admit.report.stats import wilson
from evidence_bench.figures import Figure, percent, print_table
from evidence_bench.population import ROOT, notes_of
from judge_chat import serving

SEED = 20240607
MOST_CHARS = 1500
WORDS = (12, 40)
NEGATED = ((" is ", " is not "), (" are ", " are not "), (" can ", " cannot "), (" must ", " need not "))


class Case(NamedTuple):
    """A claim, the artifact it links, and whether that supports it."""

    claim: str
    artifact: str
    supported: bool
    how: str


def cases(data: Path, n: int, seed: int = SEED) -> list[Case]:
    """Half supported, half altered, in an order drawn by the seed."""
    draw = random.Random(seed)
    passages = list(_passages(data / ROOT))
    draw.shuffle(passages)
    made: list[Case] = []
    for k, (sentence, text) in enumerate(passages):
        supported = len(made) % 2 == 0
        altered = ("as it is", sentence) if supported else _altered(sentence, passages[k - 1][0], k)
        if altered is not None and (supported or altered[1] not in text):
            made.append(Case(altered[1], text, supported, altered[0]))
        if len(made) == n:
            break
    draw.shuffle(made)
    return made


def _altered(sentence: str, other: str, k: int) -> tuple[str, str] | None:
    if k % 3 == 0:
        return "of another artifact", other
    if k % 3 == 1 and (number := re.search(r"\d+", sentence)):
        return "number", sentence.replace(number[0], str(int(number[0]) * 3 + 7), 1)
    for word, negated in NEGATED:
        if word in sentence:
            return "negation", sentence.replace(word, negated, 1)
    return None


def _passages(root: Path) -> Iterator[tuple[str, str]]:
    """Sentences of prose, each with the paragraphs around it."""
    for note in notes_of(root):
        body = (root / note).read_text(encoding="utf-8").partition("\n---\n")[2]
        paragraphs = [one for one in body.split("\n\n") if one and one[0].isalpha()]
        for k, paragraph in enumerate(paragraphs[1:-1], 1):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`_]", r"\1", paragraph).replace("\n", " ")
            for sentence in re.split(r"(?<=[.!?]) ", plain):
                if WORDS[0] <= len(sentence.split()) <= WORDS[1] and sentence.endswith("."):
                    around = "\n\n".join(re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`_]", r"\1", one).replace("\n", " ")
                                         for one in paragraphs[k - 1 : k + 2])  # fmt: skip
                    if sentence in around and len(around) <= MOST_CHARS:
                        yield sentence, around
                    break


def main() -> int:
    """Run and print Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data")
    parser.add_argument("--python", type=Path, help="an interpreter with xllamacpp")
    parser.add_argument("--model", type=Path, help="a GGUF file")
    parser.add_argument("--threads", type=int, default=1, help="of the model")
    parser.add_argument("--cases", type=int, default=60)
    given = parser.parse_args()
    made = cases(given.data, given.cases)
    how = ", ".join(f"{name} {n}" for name, n in sorted(Counter(one.how for one in made).items()))
    rows = [Figure("cases", f"{len(made)}", "–", how)]
    if given.python is None or given.model is None:
        rows.append(Figure("balanced accuracy", "not run: it needs --python and --model", "printed"))
        print_table("A judge on altered claims", rows)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        model = str(given.model.resolve())
        with serving(given.python, given.model, given.threads) as url:
            rows += measured(made, Path(folder) / "base", url, model)
    print_table(f"{given.model.name} on altered claims, {given.threads} threads", rows)
    return 0


def measured(made: list[Case], root: Path, url: str, model: str) -> list[Figure]:
    """What the door makes of the cases with a model behind `url`."""
    root.mkdir()
    (root / ".admit.toml").write_text("")
    for k, case in enumerate(made):
        (root / f"t{k}.md").write_text(f"# Source {k}\n\n{case.artifact}\n", encoding="utf-8")
        (root / f"n{k}.md").write_text(f"# Note {k}\n\n{case.claim} ([source](t{k}.md))\n", encoding="utf-8")
    own = {
        "backend": "chat", "form": "schema", "destination": f"{url}/v1", "path": "/chat/completions",
        "model": model, "temperature": 0.0, "context_tokens": 8192, "price_in": 0.0, "price_out": 0.0,
        "evidence.timeout_ms": 120_000,
    }  # fmt: skip
    settings = {f"judge.profiles.bench.{name}": value for name, value in own.items()}
    config = load(str(root), overrides={**settings, "limits.cooldown_failures": 1000})
    (root / "claims.md").write_text(
        "---\nid: claims\nbudget: 16\nmaterial: whole\nasks: [claims]\nanswers:\n  supported: pass\n"
        "  unsupported: fail\n  contradicted: fail\n---\nIs the claim what the artifact says?\n"
    )
    took: list[float] = []
    with Base.open(str(root), config=config) as base:
        judge = door_judge(config, "evidence", own_judge, "bench")
        if isinstance(judge, str):
            sys.exit(f"no judge: {judge}")
        gate = EvidenceGate(base, judge)
        criterion = criterion_of(base, "claims.md")

        def verdict(k: int) -> Review:
            started = time.perf_counter()
            found = gate.review(f"n{k}.md", criterion)
            took.append(time.perf_counter() - started)
            return found

        reviews = [verdict(k) for k in range(len(made))]
        again = [verdict(k) for k in range(0, len(made), 10)]
    return list(_figures(made, reviews, again, took))


def _figures(
    made: list[Case], reviews: list[Review], again: list[Review], took: list[float]
) -> Iterator[Figure]:
    judged = [(case, one) for case, one in zip(made, reviews, strict=True) if one.verdict in ("PASS", "FAIL")]
    right = {True: (0, 0), False: (0, 0)}
    for case, one in judged:
        hits, n = right[case.supported]
        right[case.supported] = hits + ((one.verdict == "PASS") == case.supported), n + 1
    reasons = Counter(one.reason for one in reviews if one.verdict not in ("PASS", "FAIL"))
    yield Figure("judged", f"{len(judged)} of {len(made)}", "–", f"unjudged: {dict(reasons)}")
    shares = [hits / n for hits, n in right.values() if n]
    if len(shares) == 2:
        yield Figure(
            "balanced accuracy", percent(sum(shares) / 2), "printed", "best public checkers about 77 %"
        )
    for supported, name in ((True, "false alarms on supported claims"), (False, "altered claims missed")):
        hits, n = right[supported]
        value, low, high, _ = wilson(n - hits, n)
        if value is not None and low is not None and high is not None:
            yield Figure(
                name, f"{n - hits} of {n}, {percent(value)}", "printed", f"{percent(low)} to {percent(high)}"
            )
    same = sum(reviews[10 * k].verdict == one.verdict for k, one in enumerate(again))
    yield Figure("asked twice, the same verdict", f"{same} of {len(again)}", "≥ 10 % repeated")
    yield Figure("time a pair, median", f"{sorted(took)[len(took) // 2]:.1f} s")


if __name__ == "__main__":
    raise SystemExit(main())
