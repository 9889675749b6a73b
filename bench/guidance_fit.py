"""Fit the guidance matcher: the adapter on the judge's cases, the weights on three sorts of prompts.

    python bench/guidance_fit.py --data PATH [--out src/admit/guidance/calibration.json]

The weights are fitted on the tune half of our own prompts, on prompts that nothing fits, and, for catalogs
of descriptions alone, on the judge's cases, each by an adapter that was trained without it. A prompt has
several chunks, and no label says which of them calls for a snippet: each pair of prompt and snippet stands
for its best chunk under the weights so far, and the fit is repeated until that settles. Weights below 0 are
held at 0. The figures are of the tune half, from folds that leave out all prompts of an id.

The intercept is then moved so that p 0.5 is where at most 1 in 15 of the prompts that nothing fits is
proposed anything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from admit.guidance import calibration, fused
from admit.guidance.calibration import FEATURES, Mode, Weights
from admit.guidance.chunks import chunks
from admit.guidance.compete import Bars
from admit.guidance.fused import ADAPTER, FusedMatcher
from admit.guidance.gather import load
from admit.guidance.lexical import Lexicon
from admit.guidance.matcher import LexicalMatcher
from admit.guidance.model import Root, Snippet
from admit.guidance.sections import path_words
from admit.guidance.vectors import VectorCache, shared_encoder, shared_vectors, stack
from admit.judges.encoder import SELFCHECK_TEXTS, TOKENIZER_SHA256, Encoder
from admit.lab import fit
from admit.text.terms import terms

PROMPTS = Path(__file__).parent / "guidance_set" / "prompts.jsonl"
NEUTRAL = Path(__file__).parent / "guidance_set" / "neutral.txt"
ITEMS = Path(__file__).parent / "calibration" / "guidance.jsonl"
CORPUS = "ways-2026-04/hooks/ways"
FOLDS = 8
CASE_FOLDS = 5
ROUNDS = 4
REPEAT = {"own": 3, "case": 1, "positive": 4, "none": 3}
"""How often a pair counts: by the source of its prompt, and where it is positive or nothing fits."""

LEAST_DOCUMENTS = 2
"""A word of the lexicon stands in so many documents."""

MOST_FIRED = 1 / 15

STEPS, TEMPERATURE, PULL, RANK = 300, 0.05, 0.02, 64
"""How the adapter is trained: gradient steps, softmax temperature, pull to the identity; and its rank."""


class Prompt(NamedTuple):
    """A prompt and the ids that it calls for.

    Attributes:
        group: What is left out together.
        own: Whether it is held against the corpus, or a case of the judge.
    """

    text: str
    expected: tuple[str, ...]
    group: str
    own: bool = True

    def fold(self, folds: int) -> int:
        return int(hashlib.sha256(self.group.encode()).hexdigest(), 16) % folds


class Row(NamedTuple):
    """The features of a prompt's chunks (chunk, snippet, feature), and which snippets it expects."""

    prompt: Prompt
    x: Any
    y: Any


def corpus(data: Path) -> tuple[tuple[Snippet, ...], str]:
    """The snippets of the corpus with a description, and the digest of the whole."""
    return _ways((data / CORPUS).resolve())


def case_items(folder: Path) -> tuple[Snippet, ...]:
    """The judge's items as snippets without a body, written below a folder."""
    for row in map(json.loads, ITEMS.read_text().splitlines()):
        if "item" in row:
            path = folder / row["item"] / f"{Path(row['item']).name}.md"
            path.parent.mkdir(parents=True)
            path.write_text(f"---\ndescription: {json.dumps(row['description'])}\n---\n")
    return _ways(folder.resolve())[0]


def _ways(folder: Path) -> tuple[tuple[Snippet, ...], str]:
    index, _ = load([Root("agent-ways", "user", str(folder), str(folder))])
    return tuple(one for one in index.snippets if one.semantic()), index.digest


def prompts_of() -> tuple[list[Prompt], list[Prompt]]:
    """The tune half with the neutral prompts, and the judge's cases."""
    own = []
    for row in map(json.loads, PROMPTS.read_text().splitlines()):
        if row["split"] == "tune":
            expected = tuple(row["expected"] or ())
            own.append(Prompt(row["prompt"], expected, expected[0] if expected else row["id"]))
    own += [Prompt(text, (), text) for text in NEUTRAL.read_text().splitlines()]
    rows = map(json.loads, ITEMS.read_text().splitlines())
    cases = [Prompt(row["task"], tuple(row["relevant"]), row["case"], False) for row in rows if "case" in row]
    return own, cases


def lexicon_of(texts: Sequence[str]) -> Lexicon:
    """In how many texts each word stands, of those that stand in several."""
    counts = Counter(term for text in texts for term in set(terms(text)))
    kept = sorted((term, count) for term, count in counts.items() if count >= LEAST_DOCUMENTS)
    return Lexicon(len(texts), dict(kept))


def row_of(prompt: Prompt, matcher: LexicalMatcher, x: Any) -> Row:
    return Row(prompt, x, np.array([id in prompt.expected for id in matcher.places]))


def lexical_row(prompt: Prompt, matcher: LexicalMatcher) -> Row:
    """The features of every chunk of a prompt, as the matcher itself computes them."""
    found = [matcher.features(chunk) for chunk in chunks(prompt.text, matcher.weight)]
    x = [
        [(one.cover.get(k, 0.0), one.several.get(k, 0.0), length) for k in matcher.places.values()]
        for one, length in found
    ]
    return row_of(prompt, matcher, np.array(x))


def fused_row(prompt: Prompt, matcher: FusedMatcher, lexical: LexicalMatcher, held: Any) -> Row:
    """The same with embeddings."""
    found = chunks(prompt.text, lexical.weight)
    some = matcher.embedded(found)
    vectors = np.asarray(shared_encoder().vectors(some), np.float32)
    return row_of(prompt, lexical, fused.features(found, some, vectors, held, lexical))


class Cases(NamedTuple):
    """The labelled cases of the local judge as vectors: its items, its tasks, and which items help a task."""

    items: Any
    tasks: Any
    helps: Any


def judge_cases(encoder: Encoder, keep: Callable[[str], bool] | None = None) -> Cases:
    """Cases that are of no corpus and none of the prompts; those whose name is kept."""
    rows = [json.loads(line) for line in ITEMS.read_text().splitlines()]
    items = {row["item"]: row["description"] for row in rows if "item" in row}
    tasks = [row for row in rows if row.get("relevant") and (keep is None or keep(row["case"]))]
    own = np.array(encoder.vectors(list(items.values())))
    under = np.array(encoder.vectors([f"{path_words(path)}: {text}" for path, text in items.items()]))
    helps = np.array([[item in row["relevant"] for item in items] for row in tasks])
    return Cases((own + under) / 2, np.array(encoder.vectors([row["task"] for row in tasks])), helps)


def adapter_of(cases: Cases) -> bytes:
    """The adapter: what a bilinear form adds to the cosine so that a task comes near what helps it.

    Cross-entropy over all items by plain gradient steps from the identity, drawn back to it; then the
    singular vectors of the greatest values, as half-precision floats.
    """
    items = cases.items - cases.items.mean(axis=0)
    wanted = cases.helps / cases.helps.sum(axis=1, keepdims=True)
    identity = np.eye(items.shape[1])
    form = identity.copy()
    for _ in range(STEPS):
        logits = cases.tasks @ form @ items.T / TEMPERATURE
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        slope = cases.tasks.T @ (p - wanted) @ items / TEMPERATURE / len(cases.tasks)
        form -= TEMPERATURE / 2 * (slope + PULL * (form - identity))
    left, values, right = np.linalg.svd(form - identity)
    root = np.sqrt(values[:RANK])
    return np.stack([left[:, :RANK] * root, right[:RANK].T * root]).astype("<f2").tobytes()


def fitted(rows: Sequence[Row]) -> tuple[Any, float]:
    """Weights and intercept of rows."""
    weights = np.ones(rows[0].x.shape[2])
    intercept = 0.0
    y = np.concatenate([row.y for row in rows])
    counts = np.concatenate([_counts(row) for row in rows])
    for _ in range(ROUNDS):
        best = np.concatenate([_best(row, weights) for row in rows])
        x = np.repeat(best, counts, axis=0)
        mean, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
        active = np.ones(len(weights), bool)
        while True:
            some, cuts = fit.fit_levels(((x - mean) / scale)[:, active], np.repeat(y, counts).astype(int), 2)
            standard = np.zeros(len(weights))
            standard[active] = some
            if (standard >= 0).all():
                break
            active[int(standard.argmin())] = False
        weights = standard / scale
        intercept = float(-cuts[0] - weights @ mean)
    return weights, intercept


def _counts(row: Row) -> Any:
    every = REPEAT["own" if row.prompt.own else "case"] * (1 if row.prompt.expected else REPEAT["none"])
    return np.where(row.y, every * REPEAT["positive"], every)


def _best(row: Row, weights: Any) -> Any:
    """The features of each snippet at its best chunk."""
    return row.x[(row.x @ weights).argmax(axis=0), np.arange(row.x.shape[1])]


def cross_validated(rows: Sequence[Row]) -> list[Any]:
    """The best logit of every snippet for every prompt, from a fit that did not see its group."""
    found: list[Any] = [None] * len(rows)
    folds = [row.prompt.fold(FOLDS) for row in rows]
    for k in range(FOLDS):
        weights, intercept = fitted([row for row, fold in zip(rows, folds, strict=True) if fold != k])
        for place, row in enumerate(rows):
            if folds[place] == k:
                found[place] = (row.x @ weights + intercept).max(axis=0)
    return found


def bar_of(none: Sequence[float]) -> float:
    """The least logit that at most 1 in 15 of these reach."""
    return sorted(none, reverse=True)[int(len(none) * MOST_FIRED)] + 1e-6


def weights_of(mode: Mode, rows: Sequence[Row], provenance: Mapping[str, Any]) -> Weights:
    """The weights of a mode with their evidence."""
    weights, intercept = fitted(rows)
    scores = cross_validated(rows)
    half = [(row, best) for row, best in zip(rows, scores, strict=True) if row.prompt.own]
    none = [float(best.max()) for row, best in half if not row.prompt.expected]
    tune = [(row, best) for row, best in half if row.prompt.group != row.prompt.text]
    bar = max(bar_of(none), bar_of([float(best.max()) for row, best in tune if not row.prompt.expected]))
    flat = np.concatenate([best for _, best in tune])
    positive = np.concatenate([row.y for row, _ in tune])
    groups = tuple(row.prompt.group for row, _ in tune for _ in row.y)
    low, high = fit.auc_interval(flat, positive, groups, 1)
    whole = [float(best.max()) for _, best in tune]
    needs = [bool(row.prompt.expected) for row, _ in tune]
    wanted = [(row, best) for row, best in tune if row.prompt.expected]
    first = [float(best[row.y].max() >= best.max()) for row, best in wanted]
    proposed = [float(best[row.y].max() >= bar) for row, best in wanted]
    return Weights(
        FEATURES[mode],
        tuple(round(float(one), 6) for one in weights),
        round(intercept - bar, 6),
        {**provenance, "prompts": len(rows), "pairs": len(flat), "positive": int(positive.sum()),
         "folds": FOLDS, "repeat": REPEAT},
        {"auc": round(fit.auc(flat, positive), 4), "auc_ci95": [round(low, 4), round(high, 4)],
         "none_auc": round(fit.auc(whole, needs), 4), "top_1": round(float(np.mean(first)), 4),
         "proposed": round(float(np.mean(proposed)), 4)},
    )  # fmt: skip


def _unfitted(mode: Mode) -> Weights:
    return Weights(FEATURES[mode], (0.0,) * len(FEATURES[mode]), 0.0, {}, {})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpus")
    parser.add_argument("--out", type=Path, default=calibration.PATH)
    given = parser.parse_args()
    snippets, digest = corpus(given.data)
    own, cases = prompts_of()
    hashes = {"data": PROMPTS, "neutral": NEUTRAL, "cases": ITEMS}
    provenance = {f"{name}_sha256": _sha256(path.read_bytes()) for name, path in hashes.items()}
    provenance |= {"half": "tune", "corpus_digest": digest, "licence": "Apache-2.0"}
    encoder = shared_encoder()
    encoder.load()
    selfcheck = {"texts": list(SELFCHECK_TEXTS), "cosines": list(encoder.cosines(SELFCHECK_TEXTS))}
    every = judge_cases(encoder)
    centre = tuple(round(float(one), 5) for one in every.items.mean(axis=0))
    data = adapter_of(every)
    ADAPTER.write_bytes(data)
    pins = {"model_sha256": encoder.model_sha256, "tokenizer_sha256": TOKENIZER_SHA256}
    pins["adapter_sha256"] = _sha256(data)

    with tempfile.TemporaryDirectory() as folder:
        items = case_items(Path(folder) / "items")
        vectors = VectorCache(encoder, f"{folder}/vectors")
        texts = [one.description for one in items] + [one.text for one in (*cases, *own) if not one.expected]
        texts += [one.text for one in cases if one.expected]
        unfitted = _unfitted("lexical")._replace(lexicon=lexicon_of(texts))
        over_own = LexicalMatcher(snippets, unfitted, Bars())
        over_items = LexicalMatcher(items, unfitted, Bars())
        rows = [lexical_row(one, over_own) for one in own] + [lexical_row(one, over_items) for one in cases]
        lexical = weights_of("lexical", rows, provenance)._replace(lexicon=unfitted.lexicon)

        matcher = FusedMatcher(over_own, _unfitted("fused"), shared_vectors(), over_own)
        held = stack([shared_vectors().make(one) for one in over_own.views], centre, fused.matrices(data))
        rows = [fused_row(one, matcher, over_own, held) for one in own]
        made = [vectors.make(one) for one in over_items.views]
        for k in range(CASE_FOLDS):
            left = {one.group for one in cases if one.fold(CASE_FOLDS) == k}
            without = adapter_of(judge_cases(encoder, lambda name, left=left: name not in left))
            held = stack(made, centre, fused.matrices(without))
            some = [one for one in cases if one.group in left]
            rows += [fused_row(one, matcher, over_items, held) for one in some]
        both = weights_of("fused", rows, {**provenance, **pins})
    modes: dict[Mode, Weights] = {
        "fused": both._replace(centre=centre, selfcheck=selfcheck),
        "lexical": lexical,
    }
    for mode, weights in modes.items():
        failed = calibration.failed_gate(weights, mode)
        named = zip(weights.features, weights.weights, strict=True)
        print(mode, *(f"{name} {value:.3f}" for name, value in named), f"b {weights.intercept:.3f}")
        print(f"  {weights.quality}  {failed or 'passes its gate'}")
        if failed is not None:
            return 1
    given.out.write_bytes(calibration.dump(modes))
    return 0


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
