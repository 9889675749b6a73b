"""The output filter's question: passages of the view, redacted as a whole, one score question each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from admit.core.admission import plan
from admit.core.candidate import Candidate
from admit.core.decision import Plan
from admit.core.order import by_rank
from admit.core.policy import DOORS, Policy, count
from admit.core.question import Ask, Lexicon, Question, Score
from admit.judges.rubric import OUTPUTS_ASK, OUTPUTS_LEVELS
from admit.judges.safe import subject_place
from admit.text.cut import without_surrogates
from admit.text.terms import terms

from .excerpt import Looked
from .model import FilterConfig, JudgeProfile, RawOutput, Task
from .view import View

if TYPE_CHECKING:
    from admit.judges.redact import Redactor


class Chunk(NamedTuple):
    """A passage of whole view lines.

    Attributes:
        id: ``c1`` and so on, in document order.
        first: First line index.
        last: Last line index.
        chars: Characters, line ends included.
    """

    id: str
    first: int
    last: int
    chars: int

    @property
    def lines(self) -> range:
        return range(self.first, self.last + 1)


class Asked(NamedTuple):
    """Passages, the plan over them, and the ask to put to a judge.

    Attributes:
        deadline_ms: Of the whole: redaction and the ask.
        masked: How often each class of credential was masked, in the whole view and beside it.
    """

    chunks: tuple[Chunk, ...]
    plan: Plan
    ask: Ask
    policy: Policy
    deadline_ms: int
    masked: Mapping[str, int]


def chunks(texts: Sequence[str], chars: int) -> tuple[Chunk, ...]:
    """Fill passages up to `chars` at line ends; their join is the view."""
    found: list[Chunk] = []
    first, size = 0, 0
    for line, text in enumerate(texts):
        if line > first and size + len(text) + 1 > chars:
            found.append(Chunk(f"c{len(found) + 1}", first, line - 1, size))
            first, size = line, 0
        size += len(text) + 1
    if texts:
        found.append(Chunk(f"c{len(found) + 1}", first, len(texts) - 1, size))
    return tuple(found)


def prepare(
    looked: Looked,
    output: RawOutput,
    task: Task,
    config: FilterConfig,
    profile: JudgeProfile,
    *,
    end: range,
    request_id: str,
    redactor: Redactor,
    session: str | None = None,
) -> Asked:
    """Redact the whole view, cut it into passages, and order them by what the local weights say.

    Passages wholly inside the reserved end are exempt: they are shown whatever is answered.

    Raises:
        Unredacted: The view is too large to be redacted, or it took half of the deadline.
    """
    deadline_ms = min(config.timeout_ms, profile.timeout_ms)
    budget, masked = redactor.budget(deadline_ms / 2), Counter[str]()
    pointers: dict[str, tuple[Mapping[str, object], ...]] = {}
    smoothed = looked.weighed.smoothed
    text, starts = _document(looked.view)
    redacted = budget.redact(text)
    masked.update(mask.kind for mask in redacted.masks)
    found = chunks(looked.view.texts, config.chunk_chars)
    subjects = {
        chunk.id: redacted.slice(starts[chunk.first], starts[chunk.last + 1]).removesuffix("\n")
        for chunk in found
    }
    candidates = [
        Candidate(
            chunk.id,
            rank=(sum(smoothed[line] for line in chunk.lines), -position),
            sizes={"chars": chunk.chars},
            exempt=chunk.first >= end.start or not subjects[chunk.id].strip(),
        )
        for position, chunk in enumerate(found)
    ]
    policy = DOORS["outputs"]._replace(
        cap=count(profile.max_candidates),
        threshold=profile.threshold if config.min_score is None else config.min_score,
        unjudged="reject" if config.partial == "reject" else "pass",
    )
    planned = plan(by_rank(candidates), policy)
    numbers = {candidate.id: f"q{k}" for k, candidate in enumerate(planned.asked, 1)}
    questions: tuple[Question, ...] = tuple(
        Score(numbers[chunk.id], subjects[chunk.id], OUTPUTS_ASK, OUTPUTS_LEVELS)
        for chunk in found
        if chunk.id in numbers
    )

    asked = (chunk for chunk in found if chunk.id in numbers)
    for chunk, question in zip(asked, questions, strict=True):
        at = subject_place(question)
        if inside := redacted.pointers(at, starts[chunk.first], starts[chunk.last + 1]):
            pointers[at] = inside

    def safe(text: str, at: str) -> str:
        cleaned = budget.redact(without_surrogates(text))
        if cleaned.masks:
            masked.update(mask.kind for mask in cleaned.masks)
            pointers[at] = cleaned.pointers(at)
        return cleaned.text

    code = "unknown" if output.exit_code is None else str(output.exit_code)
    context = [
        *((f"earlier_{k}", text) for k, text in enumerate(task.history, 1)),
        ("plan", task.plan),
        ("tool", output.tool),
        ("command", task.command or output.command or ""),
        ("exit_code", code),
        ("mode", looked.weighed.mode),
    ]
    ask = Ask(
        door="outputs",
        task=safe(task.text, "/task"),
        context=tuple((name, safe(text, f"/context/{name}")) for name, text in context if text),
        questions=questions,
        lexicon=_lexicon(subjects.values()),
        deadline_ms=deadline_ms,
        request_id=request_id,
        session=session,
        masked=pointers,
    )
    return Asked(found, planned, ask, policy, deadline_ms, dict(sorted(masked.items())))


def _document(view: View) -> tuple[str, list[int]]:
    """The view as one text, and where each line begins in it, and one past the end.

    Pieces of one long line stand without a line end between them: a secret across them is still one.
    """
    ends = ["" if view.glued(line + 1) else "\n" for line in range(len(view.texts) - 1)] + [""]
    parts = [text + end for text, end in zip(view.texts, ends, strict=False)]
    return "".join(parts), list(accumulate(map(len, parts), initial=0))


def _lexicon(subjects: Collection[str]) -> Lexicon:
    df: Counter[str] = Counter()
    for subject in subjects:
        df.update(set(terms(subject)))
    return Lexicon(len(subjects), dict(sorted(df.items())))
