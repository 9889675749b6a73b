"""Every caller sees the same links: planner, linter, reviewer and job of one note."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.evidence.gate import EvidenceGate
from admit.evidence.lint import Lint
from admit.evidence.planning import canonical_plan
from admit.ledger.evidence import EvidenceStore

from .conftest import MakeBase

TARGETS = (
    "t.md", "./t.md", "t.md#sec", "t.md?plain=1", "sub/../t.md", "T.md", "gone.md", "<sp ace.md>",
    "sp%20ace.md", "a%23b.md", "n.md", "#n", "https://example.org/t.md", "sub/", "../out.md", "a%00.md", "",
    "/t.md",
)  # fmt: skip
FORMS = (
    "[x]({})", "![x]({})", "[[{}]]", "`[x]({})`", "<!-- [x]({}) -->", "- [x]({}) — grounds: why", "<{}>",
)  # fmt: skip
FILES = {"t.md": "# t\n\n## Sec\n", "sp ace.md": "s\n", "a#b.md": "hash\n", "sub/x.md": "# x\n"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(FORMS), st.sampled_from(TARGETS)), min_size=1, max_size=12))
def test_planner_linter_library_and_job_see_the_same_links_and_kinds(
    base: MakeBase, tmp_path_factory, written
):
    folder = tmp_path_factory.mktemp("job")
    text = "# n\n\n" + "\n\n".join(form.format(target) for form, target in written) + "\n"
    kb = base({**FILES, "n.md": text})
    gate = EvidenceGate(kb, store=EvidenceStore(str(folder / "ledger.db")), partition="p")
    seen = [(link.n, link.kind, link.dest, link.target) for link in kb.links("n.md")]
    plan = gate.plan("n.md", "grounding-alignment")
    assert [(link.n, link.kind, link.dest, link.target) for link in plan.note.links] == seen
    looked = Lint(kb)
    looked.note("n.md")
    assert looked.kinds == Counter(kind for _, kind, _, _ in seen)
    assert [(one[0], one[1], one[4]) for one in canonical_plan(plan)["links"]] == [one[:3] for one in seen]
    job = gate.export(plan, str(folder / "jobs"))
    assert [(link.n, link.kind, link.dest) for link in job.plan.note.links] == [one[:3] for one in seen]
    assert job.plan.plan_hash == plan.plan_hash
    assert sum(looked.kinds.values()) == len(seen)


def test_a_fragment_is_no_part_of_a_name_and_an_encoded_sign_is(base: MakeBase):
    kb = base({**FILES, "n.md": "[1](a%23b.md) [2](t.md#sec) [3](t.md%23sec)\n"})
    assert [(one.kind, one.target) for one in kb.links("n.md")] == [
        ("artifact", "a#b.md"),
        ("artifact", "t.md"),
        ("missing", ""),
    ]
