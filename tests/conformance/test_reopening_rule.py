"""The reopening rule of the reading budget: capped against uncapped, with a repeat arm."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from admit.config.layers import load
from admit.errors import LabError, PlanError
from admit.evidence.base import Base
from admit.evidence.coverage import coverage
from admit.evidence.model import Finding, Item, Pair, Review
from admit.evidence.plan import Plan
from admit.lab import tail
from admit.lab.journal import Journal
from admit.lab.plan import read
from admit.lab.tail_plan import TailPlan, built, faults, freeze, frozen, pairs
from admit.lab.tail_run import run
from admit.ledger.memory import MemoryLedger

OFFERS = 21
NOTES = 12


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    (root / ".admit.toml").write_text("")
    for k in range(OFFERS):
        (root / f"t{k:02}.md").write_text(f"# t{k}\n\nText of {k}.\n")
    claims = "\n\n".join(f"Claim {k} rests on [t{k}](t{k:02}.md)." for k in range(OFFERS))
    for k in range(NOTES):
        (root / f"note-{k:02}.md").write_text(f"# Note {k}\n\n{claims}\n")
    (root / "small.md").write_text("# Small\n\n[one](t00.md)\n")
    return root


@pytest.fixture
def base(vault: Path) -> Iterator[Base]:
    with Base.open(str(vault), config=load(str(vault))) as one:
        yield one


def plan_of(vault: Path, **own: Any) -> TailPlan:
    template = files("admit.lab").joinpath("plans", "evidence-tail.toml").read_text("utf-8")
    path = vault.parent / "tail.toml"
    path.write_text(template)
    return built(path, {**read(path), "root": "vault", "judge": "mine", **own})


class Scripted:
    """A reviewer that fails a note when it read one of `needs`; `fickle` notes change at every look."""

    def __init__(self, needs: dict[str, str], fickle: frozenset[str] = frozenset()) -> None:
        self.needs, self.fickle = needs, fickle
        self.calls: list[tuple[str, int | None, str]] = []

    def __call__(self, plan: Plan) -> Review:
        note = plan.note.path
        looks = sum(1 for one in self.calls if one[0] == note and one[1] is None)
        self.calls.append((note, plan.cap, plan.unit))
        by_id = {one.id: one for one in plan.offers}
        read = [by_id[one].artifact for one in plan.within]
        bad = self.needs.get(note, "nothing") in read
        if note in self.fickle and plan.cap is None:
            bad = looks % 2 == 1
        found = Finding("unsupported", "FAIL", note, 1, "b1", "c", "t.md", "", 0, "", "judge")
        items = [
            Item(one, by_id[one].artifact, by_id[one].artifact, "whole", "note", by_id[one].links, "", "", "")
            for one in plan.within
        ]
        return Review(
            Pair(note, "grounding-alignment", "mine"),
            "FAIL" if bad else "PASS",
            "judged",
            (found,) if bad else (),
            coverage(plan, items),
        )


def test_E11_only_notes_with_more_offers_than_the_budget_are_pairs(vault, base):
    found = pairs(plan_of(vault), base)
    assert [one.note.path for one in found] == [f"note-{k:02}.md" for k in range(NOTES)]
    assert all(one.cap is None and len(one.within) == OFFERS for one in found)


def test_a_sample_of_the_pairs_is_drawn_by_the_seed(vault, base):
    first, again = (pairs(plan_of(vault, pairs_max=5), base) for _ in range(2))
    other = pairs(plan_of(vault, pairs_max=5, seed=3), base)
    assert (
        [one.note.path for one in first]
        == [one.note.path for one in again]
        != [one.note.path for one in other]
    )
    assert len(first) == 5


def test_E11_a_cap_that_loses_what_lies_past_it_reopens_the_budget(vault, base):
    fixed = freeze(plan_of(vault), base, Journal(MemoryLedger(), "evidence"))
    reviewer = Scripted({f"note-{k:02}.md": "t18.md" for k in range(8)})
    found = tail.summarise(fixed, [tail.read(plan, arm, reviewer) for plan, arm in tail.arms(fixed)])
    assert found.reopen == "yes"
    assert (found.pairs, found.judged, found.lost) == (NOTES, NOTES, 8)
    assert found.capped.value == pytest.approx(8 / 12) and found.repeat.value == 0
    lost = [one for one in found.divergences if one.arm == "capped"]
    assert len(lost) == 8 and all(
        one.lost == ("unsupported b1 t.md",) and one.verdict == "PASS" for one in lost
    )


def test_E11_a_cap_that_loses_nothing_keeps_the_budget_closed(vault, base):
    fixed = freeze(plan_of(vault), base, Journal(MemoryLedger(), "evidence"))
    reviewer = Scripted({f"note-{k:02}.md": "t15.md" for k in range(NOTES)})
    found = tail.summarise(fixed, [tail.read(plan, arm, reviewer) for plan, arm in tail.arms(fixed)])
    assert found.reopen == "no" and found.lost == 0
    assert {one.arm for one in found.divergences} == {"occurrences"}, "five occurrences miss the sixteenth"


def test_E11_noise_of_the_judge_alone_does_not_reopen(vault, base):
    fixed = freeze(plan_of(vault), base, Journal(MemoryLedger(), "evidence"))
    reviewer = Scripted({}, frozenset(f"note-{k:02}.md" for k in range(6)))
    found = tail.summarise(fixed, [tail.read(plan, arm, reviewer) for plan, arm in tail.arms(fixed)])
    assert found.repeat.value == 0.5 and found.reopen != "yes"


def test_E11_few_pairs_show_nothing(vault, base):
    fixed = freeze(plan_of(vault, pairs_max=4), base, Journal(MemoryLedger(), "evidence"))
    reviewer = Scripted({f"note-{k:02}.md": "t18.md" for k in range(NOTES)})
    found = tail.summarise(fixed, [tail.read(plan, arm, reviewer) for plan, arm in tail.arms(fixed)])
    assert found.reopen == "not shown" and found.excess.low is None


def test_E12_the_historical_rule_is_an_arm_of_the_lab_with_its_own_unit(vault, base):
    fixed = freeze(plan_of(vault, pairs_max=1), base, Journal(MemoryLedger(), "evidence"))
    seen = [(arm, plan.cap, plan.unit) for plan, arm in tail.arms(fixed)]
    assert seen == [
        ("uncapped", None, "distinct-v1"),
        ("capped", 16, "distinct-v1"),
        ("repeat", None, "distinct-v1"),
        ("occurrences", 5, "occurrences-v0"),
    ]
    without = freeze(
        plan_of(vault, pairs_max=1, occurrences=0, name="other")._replace(path=vault.parent / "other.toml"),
        base,
        Journal(MemoryLedger(), "evidence"),
    )
    assert [arm for _, arm in tail.arms(without)] == ["uncapped", "capped", "repeat"]


def test_E11_a_share_of_the_pairs_is_repeated_and_never_less_than_a_tenth(vault, base):
    fixed = freeze(plan_of(vault, repeat_share=0.25), base, Journal(MemoryLedger(), "evidence"))
    assert [arm for _, arm in tail.arms(fixed)].count("repeat") == 3
    assert [key for key, _ in faults({**plan_of(vault).values, "repeat_share": 0.05})] == ["repeat_share"]


def test_a_pair_without_a_verdict_says_nothing_and_is_asked_again(vault, base):
    journal = Journal(MemoryLedger(), "evidence")
    fixed = freeze(plan_of(vault, pairs_max=6), base, journal)
    steady = Scripted({})
    broken = fixed.pairs[2].note.path

    def failing(plan: Plan) -> Review:
        done = steady(plan)
        lost = plan.note.path == broken and plan.cap is None
        return done._replace(verdict="UNJUDGED", reason="deadline", findings=()) if lost else done

    first = run(fixed, journal, failing)
    assert first.unjudged == {"repeat": 1, "uncapped": 1} and first.judged == 5
    steady.calls.clear()
    second = run(fixed, journal, steady)
    assert second.unjudged == {} and second.judged == 6
    assert [one[:2] for one in steady.calls] == [(broken, None)] * 2
    ended = [one.body["result"] for one in journal.steps("run", fixed.hash)]
    assert ended == ["start", "incomplete", "start", "complete"]


def test_a_killed_run_goes_on_where_it_was_and_a_torn_line_is_asked_again(vault, base):
    journal = Journal(MemoryLedger(), "evidence")
    fixed = freeze(plan_of(vault), base, journal)
    whole = run(fixed, journal, Scripted({}))
    path = fixed.plan.path.with_suffix(".runs") / "readings.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = Scripted({})
    assert run(fixed, journal, again, workers=3) == whole
    assert len(again.calls) == 1


def test_readings_of_another_plan_are_refused(vault, base):
    journal = Journal(MemoryLedger(), "evidence")
    fixed = freeze(plan_of(vault, pairs_max=5), base, journal)
    run(fixed, journal, Scripted({}))
    with pytest.raises(LabError, match="another plan"):
        run(fixed._replace(hash="sha256:" + "0" * 64), journal, Scripted({}))


def test_an_edited_plan_or_note_is_refused_after_freezing(vault, base):
    journal = Journal(MemoryLedger(), "evidence")
    plan = plan_of(vault)
    with pytest.raises(PlanError, match="not frozen"):
        frozen(plan, base, journal)
    freeze(plan, base, journal)
    assert len(frozen(plan, base, journal).pairs) == NOTES
    with pytest.raises(PlanError, match="margin"):
        frozen(plan_of(vault, margin=0.3), base, journal)
    (vault / "t07.md").write_text("# other\n")
    with Base.open(str(vault)) as later, pytest.raises(PlanError, match="note-00"):
        frozen(plan, later, journal)


def test_a_plan_says_everything_that_is_wrong_with_it(vault):
    values = {**plan_of(vault).values, "judge": "", "seed": -1, "colour": "red"}
    assert [key for key, _ in faults(values)] == ["judge", "seed", "colour"]
    with pytest.raises(PlanError, match=r"(?s)judge.*seed.*colour"):
        built(vault / "x.toml", values)


def test_a_budget_that_nothing_passes_and_a_criterion_without_one_are_refused(vault, base):
    with pytest.raises(LabError, match="none of them offers 40"):
        pairs(plan_of(vault, offers_min=40), base)
    with pytest.raises(LabError, match="at least 17"):
        pairs(plan_of(vault, offers_min=16), base)
    with pytest.raises(LabError, match="no budget"):
        pairs(plan_of(vault, criterion="representation"), base)
