"""The guidance door on prompts of known need: how it ranks, how often it fires for nothing, its speed.

    python bench/guidance.py --data PATH [--half test] [--peers] [--speed] [--json FILE]

PATH is the folder that holds `ways-2026-04` and `prompts-74.jsonl`. The weights are fitted on the tune half
of our own prompts (`bench/guidance_fit.py`); the bars hold on the test half. The fixtures are only measured.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from admit.config import layers
from admit.guidance.body import body
from admit.guidance.fused import FusedMatcher
from admit.guidance.gate import GuidanceGate
from admit.guidance.matching import SemanticMatcher
from admit.guidance.model import Snippet, Surface

sys.path.insert(0, str(Path(__file__).parent))
from guidance_bench import peers, quality
from guidance_bench.quality import Figure, Prompt, Scorer

PROMPTS = Path(__file__).parent / "guidance_set" / "prompts.jsonl"
CORPUS = "ways-2026-04/hooks/ways"


def open_gate(ways: Path, home: Path, **values: object) -> GuidanceGate:
    """A gate over one folder of ways, in an empty home."""
    os.environ["HOME"] = str(home)
    overrides = {"guidance.extra_roots": (str(ways),), "guidance.project": False}
    overrides |= {f"guidance.{name.replace('__', '.')}": value for name, value in values.items()}
    return GuidanceGate.open(home, config=layers.load(str(home), overrides=overrides))


def ranked_by(matcher: SemanticMatcher, snippets: tuple[Snippet, ...]) -> Scorer:
    return lambda text: matcher.match(text, snippets).scores


def fires(gate: GuidanceGate, prompts: list[Prompt]) -> list[bool]:
    """Whether each prompt shows anything on the live path, by meaning or by a pattern; no judge is asked."""
    return [bool(gate.scan(Surface("prompt", one.text), dry_run=True, ask=False).shown) for one in prompts]


def admits(matcher: SemanticMatcher, snippets: tuple[Snippet, ...], prompts: list[Prompt]) -> list[bool]:
    """Whether each prompt is proposed what it calls for; of one that calls for nothing, anything."""
    found = []
    for one in prompts:
        admitted = matcher.match(one.text, snippets).admitted
        found.append(bool(set(admitted) & set(one.expected)) if one.expected else bool(admitted))
    return found


def measured(name: str, found: list[Figure]) -> dict[str, Any]:
    print(f"\n{name}")
    for figure in found:
        print(figure.line())
    return {figure.name: figure._asdict() for figure in found}


def admit_rows(gate: GuidanceGate, own: list[Prompt], public: list[Prompt]) -> dict[str, Any]:
    """The figures of the matcher and of the gate in one mode."""
    library = gate.library
    snippets = tuple(one for one in library.guidance.snippets if one.semantic())
    matcher = library.matcher
    found = quality.figures(own, public, ranked_by(matcher, snippets))
    none = [one for one in own if one.category == "none"]
    public_none = [one for one in public if one.category == "none"]
    share = quality.share_of
    found += [
        share("none: proposed by meaning", admits(matcher, snippets, none), 1 / 15, most=True),
        share("none: shown, patterns too", fires(gate, none), 1 / 15, most=True),
        share("none of the fixtures: shown", fires(gate, public_none), 1 / 15, most=True),
    ]
    for category in ("direct", "situational"):
        some = [one for one in own if one.category == category]
        found.append(share(f"{category}: proposed by meaning", admits(matcher, snippets, some)))
    return measured(f"admit, {matcher.mode}", found)


def peer_rows(gate: GuidanceGate, own: list[Prompt], public: list[Prompt]) -> dict[str, Any]:
    """The figures of the peers that can run here."""
    from admit.guidance.vectors import shared_encoder

    snippets = tuple(one for one in gate.library.guidance.snippets if one.semantic())
    rankers = {"BM25": peers.bm25(snippets)}
    encoder = shared_encoder()
    if encoder.is_installed():
        rankers["MiniLM to description"] = peers.embeddings(snippets, encoder)
        bodies = [body(one) or "" for one in snippets]
        rankers["hand-set sum with MiniLM"] = peers.hand_set(snippets, bodies, encoder)
    else:
        print("\nMiniLM to description, hand-set sum: not run: pip install 'admit[local]'")

    def scorer(ranker: peers.Ranker) -> Scorer:
        return lambda text: dict(zip((one.id for one in snippets), ranker(text), strict=True))

    return {
        name: measured(f"peer: {name}", quality.figures(own, public, scorer(ranker)))
        for name, ranker in rankers.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=None, help="the folder that holds corpus and fixtures")
    parser.add_argument("--half", choices=("tune", "test"), default="test", help="of our own prompts")
    parser.add_argument("--peers", action="store_true", help="also run the other ways to rank")
    parser.add_argument("--speed", action="store_true", help="also measure times, with 500 snippets")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    given = parser.parse_args()
    if given.data is None or not (given.data / CORPUS).is_dir():
        print(f"skipped: --data names no folder that holds {CORPUS}")
        return 0
    ways = (given.data / CORPUS).resolve()
    own = quality.own_prompts(PROMPTS, given.half)
    public = quality.public_prompts(given.data / "prompts-74.jsonl")
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as home:
        gate = open_gate(ways, Path(home))
        started, cpu = time.perf_counter(), time.process_time()
        matcher = gate.library.matcher
        if isinstance(matcher, FusedMatcher) and matcher.wait():
            wall, spent = time.perf_counter() - started, time.process_time() - cpu
            count = len(gate.library.guidance.snippets)
            print(f"first embeddings of {count} snippets: {wall:.1f} s, {spent:.1f} s CPU, once")
            found["fused"] = admit_rows(gate, own, public)
        else:
            why = matcher.fault if isinstance(matcher, FusedMatcher) else "pip install 'admit[local]'"
            print(f"admit, fused: not run: {why}")
        found["lexical"] = admit_rows(open_gate(ways, Path(home), matcher__encoder="off"), own, public)
        if given.peers:
            found["peers"] = peer_rows(gate, own, public)
        if given.speed:
            from guidance_bench import speed

            texts = [one.text for one in own if one.expected]
            found["speed"] = speed.run(ways, Path(home), texts)
    print(f"\nour own prompts: the {given.half} half")
    print("intervals of 95 %: Wilson's for shares, bootstrap over prompts for AUC")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
