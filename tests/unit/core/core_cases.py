"""Candidates, plans and replies for the tests of the core."""

from hypothesis import strategies as st

from admit.core.candidate import Budget, Candidate
from admit.core.decision import Plan
from admit.core.question import Answer, Reply

RANKS = st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from([0.0, 0.25, 0.5, 0.5, 0.75, 1.0]))


@st.composite
def forests(draw, most=12, exempt=True, cycles=False):
    """Candidates in arrival order: trees of any shape, ties in rank, parents that are not there.

    Ids say nothing about depth. With `cycles` a parent may be anyone, the candidate itself too.
    """
    n = draw(st.integers(0, most))
    names = draw(st.permutations([f"n{k:02d}" for k in range(n)]))
    found = []
    for k, name in enumerate(names):
        above = names if cycles else names[:k]
        parent = draw(st.sampled_from([None, "elsewhere", *above]))
        found.append(
            Candidate(
                name,
                draw(RANKS),
                parent,
                {"chars": draw(st.integers(0, 9)), "tokens": draw(st.integers(0, 5))},
                exempt and draw(st.integers(0, 4)) == 0,
            )
        )
    return draw(st.permutations(found))


def budgets():
    """Budgets over count, chars and tokens, some of them tight, some without a limit."""
    limits = st.dictionaries(st.sampled_from(["count", "chars", "tokens"]), st.integers(0, 12), max_size=3)
    return st.builds(Budget, limits, st.sampled_from(["stop", "skip"]))


def root(identity, rank=(0, 0.5), **fields):
    """One candidate without a parent."""
    return Candidate(identity, rank, **fields)


def chain(n, rank=(0, 0.5), identity=lambda k: f"n{k:06d}"):
    """Each candidate the parent of the next."""
    return [Candidate(identity(k), rank, identity(k - 1) if k else None) for k in range(n)]


def reply_to(plan: Plan, values, kind="noul", status=None, reason=None) -> Reply:
    """What a judge says: by candidate id a value, a defect's name, or None for no answer."""
    answers = []
    for k, candidate in enumerate(plan.asked, 1):
        value = values.get(candidate.id) if hasattr(values, "get") else values
        if isinstance(value, str):
            answers.append(Answer(f"q{k}", kind, defect=value))
        elif value is not None:
            expectation = value if kind == "score" else None
            p = (value,) if kind == "noul" else (1.0, 0.0, 0.0, 0.0)
            answers.append(Answer(f"q{k}", kind, p, expectation))
    whole = len(answers) == len(plan.asked) and all(one.defect is None for one in answers)
    return Reply(status or ("judged" if whole else "partial"), tuple(answers), reason)


def ids(candidates):
    return [candidate.id for candidate in candidates]


class Counted(str):
    """An id that counts how often it is hashed or compared: the steps of anything that goes by id."""

    steps = 0

    def __hash__(self):
        Counted.steps += 1
        return str.__hash__(self)

    def __eq__(self, other):
        Counted.steps += 1
        return str.__eq__(self, other)

    def __lt__(self, other):
        Counted.steps += 1
        return str.__lt__(self, other)


def steps(work) -> int:
    """How many steps a piece of work takes."""
    before = Counted.steps
    work()
    return Counted.steps - before
