"""Times of the guidance door with 500 snippets, which are combinations of those of the corpus."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from admit.config import layers
from admit.core.question import Ask, Reply
from admit.guidance.gate import GuidanceGate, Library
from admit.guidance.gather import Seen, load
from admit.guidance.judging import GateJudge
from admit.guidance.model import Root, Surface
from admit.guidance.opening import matcher, open_gate
from admit.guidance.triggers import Triggers
from admit.testing import ScriptedJudge

SNIPPETS = 500
CHARS = 1000
RUNS = 60
SHUFFLES = 1000


def write_ways(source: Path, target: Path) -> None:
    """500 ways: the description of one, the vocabulary and triggers of a second, the body of a third."""
    held = []
    for path in sorted(source.rglob("*.md")):
        text = path.read_text("utf-8")
        if path.stem == path.parent.name and text.startswith("---\n"):
            matter, _, body = text[4:].partition("\n---\n")
            fields = yaml.safe_load(matter)
            if "description" in fields:
                held.append((fields, body))
    for number in range(SNIPPETS):
        one, other = held[number % len(held)], held[(number * 7 + number // len(held)) % len(held)]
        third = held[(number * 11 + 3 * (number // len(held)) + 1) % len(held)]
        fields = {**other[0], "description": f"{one[0]['description']} ({number})"}
        folder = target / f"group{number % 20}" / f"way{number}"
        folder.mkdir(parents=True)
        # A number in each heading keeps the embedder from meeting a section twice.
        body = third[1].replace("\n#", f"\n# {number} ")
        text = f"---\n{yaml.safe_dump(fields, sort_keys=True)}---\n{body}"
        (folder / f"{folder.name}.md").write_text(text, "utf-8")


def run(source: Path, home: Path, prompts: Sequence[str]) -> dict[str, Any]:
    """Measure and print; times in ms of CPU unless they say otherwise."""
    ways = home / "ways500"
    write_ways(source, ways)
    overrides = {"guidance.extra_roots": (str(ways),), "guidance.project": False}
    config = layers.load(str(home), overrides=overrides)
    words = layers.load(str(home), overrides={**overrides, "guidance.matcher.encoder": "off"})
    surfaces = [Surface("prompt", text) for text in _texts(prompts)]
    print(f"\nspeed, {SNIPPETS} snippets; load of this machine {os.getloadavg()[0]:.1f}")
    found: dict[str, Any] = {}

    lexical = open_gate(GuidanceGate, str(home), config=words)
    lexical.scan(surfaces[0], dry_run=True)
    found["prompt scan, lexical"] = _spent(lexical, surfaces, 15)
    commands = [Surface("command", f"git commit -m 'x{k}' && npm test > out{k}.log") for k in range(RUNS)]
    found["tool lane, command"] = _spent(lexical, commands, 3)
    files = [Surface("file", paths=(f"src/part{k}/Dockerfile",)) for k in range(RUNS)]
    found["tool lane, file"] = _spent(lexical, files, 3)
    found["gate beside the judge, 20 candidates"] = _gate(lexical, surfaces)
    _order(lexical, surfaces)

    first = _child(str(home), str(ways))
    print(f"  first embeddings, once, in the background: {first}")
    cold = _child(str(home), str(ways))
    print(f"  {'cold build, embeddings cached':40} {cold}  (bar 2 s)")
    found["first"], found["cold"] = first, cold

    fused = open_gate(GuidanceGate, str(home), config=config)
    prepared: Any = fused.library.matcher
    if getattr(prepared, "wait", lambda: False)():
        fused.scan(surfaces[0], dry_run=True)
        found["prompt scan, with the encoder"] = _spent(fused, surfaces, 60)
    found["reload of one edit"] = _reload(ways, words)
    return found


def _texts(prompts: Sequence[str]) -> list[str]:
    """Texts of 1,000 characters, each of several prompts and none like another."""
    drawn = random.Random(1)
    texts = []
    for number in range(2 * RUNS):
        text = f"Case {number}."
        while len(text) < CHARS:
            text += " " + drawn.choice(prompts).replace("\n", " ")
        texts.append(text[:CHARS])
    return texts


def _spent(gate: GuidanceGate, surfaces: Sequence[Surface], bar: float) -> dict[str, float]:
    """Scans of the last 60, after all others, without looking at the files, done at most once a second."""
    fixed = GuidanceGate(_Fixed(gate.library), gate.settings)
    for surface in surfaces[:-RUNS]:
        fixed.scan(surface, dry_run=True)
    spent = [_cpu(lambda s=surface: fixed.scan(s, dry_run=True)) for surface in surfaces[-RUNS:]]
    return _times(f"scan of a {surfaces[0].lane}, {gate.library.matcher.mode}", spent, bar)


def _cpu(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return (time.process_time() - started) * 1000


def _times(name: str, spent: Sequence[float], bar: float) -> dict[str, float]:
    p50, p95 = (float(one) for one in np.quantile(spent, [0.5, 0.95]))
    met = "met" if p95 <= bar else "MISSED"
    print(f"  {name:40} p50 {p50:6.2f} ms  p95 {p95:6.2f} ms CPU  <= {bar:g} {met}")
    return {"p50_ms": round(p50, 3), "p95_ms": round(p95, 3), "bar_ms": bar}


class _Timed:
    """A judge that admits all and tells how long its answers took."""

    def __init__(self) -> None:
        self._judge = ScriptedJudge(lambda question: 0.9)
        self.spent = 0.0
        self.asked = 0
        self.name = "timed"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    def ask(self, ask: Ask) -> Reply:
        self.asked = len(ask.questions)
        started = time.process_time()
        try:
            return self._judge.ask(ask)
        finally:
            self.spent = (time.process_time() - started) * 1000


def _gate(gate: GuidanceGate, surfaces: Sequence[Surface]) -> dict[str, float]:
    """What a scan with a judge takes beyond the judge and the same scan without."""
    library = gate.library
    some = library.guidance.snippets[:20]
    index = library.guidance._replace(snippets=some)
    few = _Fixed(Library(index, Triggers(some), _All(some)))
    judge: Any = _Timed()
    judged = GuidanceGate(few, gate.settings, judge=GateJudge(judge, "timed", "own", 20))
    spent = []
    for surface in surfaces:
        without = _cpu(lambda s=surface: judged.scan(s, dry_run=True, ask=False))
        spent.append(_cpu(lambda s=surface: judged.scan(s, dry_run=True)) - judge.spent - without)
    return _times(f"gate beside the judge, {judge.asked} candidates", spent, 3)


class _Fixed:
    """A library that never changes."""

    findings = ()

    def __init__(self, library: Library) -> None:
        self._library = library

    def current(self) -> Library:
        return self._library


class _All:
    """Proposes all."""

    mode = "lexical"

    def __init__(self, snippets: Sequence[Any]) -> None:
        from admit.guidance.matching import Matched

        self._found = Matched({one.id: 0.9 for one in snippets}, tuple(one.id for one in snippets))

    def match(self, text: str, eligible: Sequence[Any]) -> Any:
        return self._found


def _order(gate: GuidanceGate, surfaces: Sequence[Surface]) -> None:
    """Whether one prompt gives the same bytes whatever the order of the files."""
    from admit.guidance.calibration import shipped
    from admit.guidance.compete import Bars
    from admit.guidance.matcher import LexicalMatcher

    library = gate.library
    drawn = random.Random(2)
    answers = set()
    for _ in range(SHUFFLES):
        some = list(library.guidance.snippets)
        drawn.shuffle(some)
        index = library.guidance._replace(snippets=tuple(some))
        shuffled = Library(index, library.triggers, LexicalMatcher(some, shipped("lexical"), Bars()))
        result = GuidanceGate(_Fixed(shuffled), gate.settings).scan(surfaces[0], dry_run=True)
        answers.add((result.text, result.shown))
    shown = len(next(iter(answers))[1])
    print(
        f"  {SHUFFLES} shuffles of the files: {len(answers)} different answers of {shown} snippets  (bar 1)"
    )


def _reload(ways: Path, config: layers.Config) -> dict[str, float]:
    """From one edited file to a library that can scan, by words; its embeddings follow in the background."""
    folder = str(ways)
    seen: Seen = {}
    roots = [Root("agent-ways", "extra", folder, os.path.realpath(folder))]
    index, _ = load(roots, seen=seen)
    matcher(index, config)
    path = next(iter(sorted(ways.rglob("*.md"))))
    spent = []
    parts: dict[str, list[float]] = {"files": [], "triggers": [], "matcher": []}
    unchanged = [_cpu(lambda: load(roots, seen=seen)) for _ in range(20)]
    print(f"  {'looking at files that did not change':40} p50 {np.median(unchanged):6.2f} ms CPU")
    for number in range(20):
        path.write_text(path.read_text("utf-8") + f"\nline {number}\n", "utf-8")
        a = time.process_time()
        index, _ = load(roots, seen=seen)
        b = time.process_time()
        Triggers(index.snippets)
        c = time.process_time()
        matcher(index, config)
        d = time.process_time()
        spent.append((d - a) * 1000)
        for name, value in zip(parts, (b - a, c - b, d - c), strict=True):
            parts[name].append(value * 1000)
    found = _times("reload of one edit", spent, 50)
    print("    of it " + ", ".join(f"{name} {np.median(values):.1f} ms" for name, values in parts.items()))
    return found


_CHILD = """
import sys, time
started, cpu = time.perf_counter(), time.process_time()
from admit.config import layers
from admit.guidance.gate import GuidanceGate
from admit.guidance.opening import open_gate
home, ways = sys.argv[1:]
config = layers.load(home, overrides={"guidance.extra_roots": (ways,), "guidance.project": False})
imported = time.perf_counter()
library = open_gate(GuidanceGate, home, config=config).library
lexical = time.perf_counter()
matcher = library.matcher
fused = getattr(matcher, "wait", lambda: False)()
ended = time.perf_counter()
print(f"import {imported - started:.2f} s, by words after {lexical - imported:.2f} s, {matcher.mode} after "
      f"{ended - imported:.2f} s, {time.process_time() - cpu:.2f} s CPU in all")
"""


def _child(home: str, ways: str) -> str:
    """The line that a fresh process prints of its build."""
    command = [sys.executable, "-c", _CHILD, home, ways]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
