"""Random agents against the meter of a job: does any of them read more than the budget?"""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

from admit.errors import AdmitError
from admit.evidence.base import Base
from admit.evidence.criteria import load
from admit.evidence.gate import EvidenceGate
from admit.ledger.evidence import EvidenceStore

from .figures import Figure

AGENTS, OFFERS, BUDGET, STEPS = 1000, 21, 16, 40
NOISE = ("a0", "a22", "a99", "../out.md", "/etc/passwd", "kb/n0.md", "", "a1\n", "а1", "n", "a16 ")


def figures(agents: int = AGENTS) -> list[Figure]:
    """Let each agent open what it likes, in any order, and count what it got."""
    most, over, served, refused, strange = 0, 0, 0, 0, 0
    with TemporaryDirectory() as folder:
        root = _base(Path(folder))
        draw = random.Random(7)
        store = EvidenceStore(str(Path(folder) / "ledger.db"))
        with Base.open(root) as base:
            for k in range(agents):
                criterion = load(base, "grounding-alignment")
                gate = EvidenceGate(base, store=store, partition=f"agent-{k}")
                job = gate.export(gate.plan("kb/n.md", criterion), str(Path(folder) / "jobs"))
                opened: set[str] = set()
                for _ in range(STEPS):
                    wanted = draw.choice(NOISE) if draw.random() < 0.2 else f"a{draw.randint(1, OFFERS)}"
                    try:
                        gate.open(job, wanted)
                    except AdmitError:
                        refused += 1
                    else:
                        served += 1
                        strange += wanted in NOISE
                        opened.add(wanted)
                most = max(most, len(opened))
                over += len(opened) > BUDGET
    told = f"{served:,} served, {refused:,} refused; the most that one read: {most} artifacts"
    return [
        Figure(f"of {agents:,} agents that pass the budget of {BUDGET}", f"{over}", "0", told),
        Figure("openings of what the plan does not offer", f"{strange}", "0"),
    ]


def _base(folder: Path) -> Path:
    root = folder / "base"
    (root / "kb").mkdir(parents=True)
    (root / ".admit.toml").write_text("")
    links = []
    for k in range(OFFERS):
        (root / "kb" / f"t{k}.md").write_text(f"# t{k}\n\nText {k}.\n")
        links.append(f"Claim {k} [rests on it](t{k}.md).")
    (root / "kb" / "n.md").write_text("# n\n\n" + "\n\n".join(links) + "\n")
    return root
