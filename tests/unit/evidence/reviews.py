"""Notes, criteria and gates for reviews, with a judge that is told what to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from admit.config.keys import shipped
from admit.config.layers import Config
from admit.core.question import Question
from admit.evidence import criteria
from admit.evidence.base import Base
from admit.evidence.criterion import Criterion
from admit.evidence.gate import EvidenceGate
from admit.judges.scripted import ScriptedJudge

NOTE = "n.md"
GROUNDING = next(one for one in criteria.shipped() if one.id == "grounding-alignment")
ANSWERS = "{good: pass, hint: info, far: warn, bare: fail-if-read, wrong: fail}"


def criterion(asks: str = "[claims]", front: str = "", answers: str = ANSWERS) -> Criterion:
    """A criterion of five labels: good, hint, far, bare, wrong."""
    whole = 'note_answers: {"yes": pass, mostly: warn, "no": fail}\n' if "note" in asks else ""
    text = f"---\nid: c\nasks: {asks}\nanswers: {answers}\n{whole}{front}---\nLook.\n"
    return criteria.parse(text, "criteria/c.md", "sha256:" + "c" * 64)


def files(*targets: str, text: str = "The text.") -> dict[str, str]:
    """A note with a claim a target, and the targets."""
    claims = "\n\n".join(f"Claim {k} ([s]({name}))." for k, name in enumerate(targets, 1))
    return {NOTE: f"# The note\n\n{claims}\n", **{name: f"# {name}\n\n{text}\n" for name in targets}}


def base_in(folder: Path, contents: Mapping[str, str], **settings: object) -> Base:
    """A base in a folder, for who has no fixture of it."""
    for path, text in contents.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    values = {**shipped(), **{f"evidence.{name}": value for name, value in settings.items()}}
    return Base.open(str(folder), config=Config(values))


def says(label: str, *others: str) -> Callable[[Question], Any]:
    """Answers the K-th question with the K-th label, and the rest with the last; the note with its first."""
    given = (label, *others)

    def answer(question: Question) -> list[float]:
        labels = [name for name, _ in question.labels]  # type: ignore[union-attr]
        wanted = given[min(int(question.id[1:]), len(given)) - 1]
        chosen = wanted if wanted in labels else labels[0]
        return [1.0 if name == chosen else 0.0 for name in labels]

    return answer


def gate_of(base: Base, *labels: str, judge: Any = None, **options: Any) -> EvidenceGate:
    """A gate whose judge gives these labels."""
    return EvidenceGate(base, judge or ScriptedJudge(says(*(labels or ("good",)))), **options)


def rules(review: Any) -> list[tuple[str, str, str]]:
    """Rule, severity and block of each finding."""
    return [(one.rule, one.severity, one.block) for one in review.findings]


def names(items: Sequence[Any]) -> list[str]:
    """Artifacts of items, or paths of what was opened."""
    return [getattr(one, "artifact", None) or one.path for one in items]
