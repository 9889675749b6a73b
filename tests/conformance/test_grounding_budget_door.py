"""The grounding review's budget at its own door: from the links of a note to a verdict with its coverage."""

from __future__ import annotations

from inspect import signature
from itertools import pairwise

import pytest

from admit.cli.evidence import command as evidence
from admit.config.keys import KEYS
from admit.core.events import sha256
from admit.errors import CriterionError
from admit.evidence import criteria
from admit.evidence.coverage import coverage
from admit.evidence.freshness import freshness
from admit.evidence.pack import pack
from admit.evidence.planning import plan, replay
from admit.evidence.review import Reviewer, review
from admit.judges.clock import FrozenClock
from admit.judges.scripted import ScriptedJudge
from admit.ledger.evidence import EvidenceStore
from tests.unit.evidence.conftest import base  # noqa: F401

GROUNDING = "grounding-alignment"
QUOTES = "## Quotes\n\nSource extract (verbatim): x\nSource location: 1\n"
INGEST = f"---\nsource: https://example.org/{{}}\n---\n{QUOTES}"


def notes(count, size=1):
    return {f"n{k:02}.md": f"# {k}\n{'x' * size}\n" for k in range(count)}


def note_of(targets):
    return "# note\n\n" + "\n\n".join(f"Claim [link]({target})." for target in targets) + "\n"


def planned(kb, **tried):
    return plan(kb, "note.md", criteria.load(kb, GROUNDING), **tried)


def read(one):
    within = set(one.within)
    return [offer.artifact for offer in one.offers if offer.id in within]


def own(budget):
    shipped = {one.id: one for one in criteria.shipped()}[GROUNDING]
    labels = "\n".join(f"  {label}: {outcome}" for label, outcome in shipped.answers.items())
    return f"---\nid: {GROUNDING}\n{budget}asks: claims\nanswers:\n{labels}\n---\nLook.\n"


def reviewed(kb, answers=lambda question: 1.0, store=None):
    judge = ScriptedJudge(answers)
    reviewer = Reviewer(judge, "scripted", "scripted", 1000)
    found = review(kb, reviewer, "note.md", criteria.load(kb, GROUNDING), FrozenClock(), store=store)
    return found, judge


@pytest.mark.parametrize("offered, taken", [(15, 15), (16, 16), (17, 16), (40, 16)])
def test_E1_a_review_reads_sixteen_distinct_artifacts_at_most(base, offered, taken):  # noqa: F811
    kb = base({**notes(offered), "note.md": note_of(notes(offered))})
    assert read(planned(kb)) == list(notes(offered))[:taken]
    found, judge = reviewed(kb)
    assert found.coverage is not None
    assert [one.path for one in found.coverage.opened] == list(notes(offered))[:taken]
    assert (found.coverage.slots_used, found.coverage.cap, found.coverage.unit) == (taken, 16, "distinct-v1")
    asked = str(judge.asks)
    assert all((f"# {k}\\n" in asked or f"# {k}\\\\n" in asked) == (k < taken) for k in range(offered))


def test_E2_notes_files_and_ingests_draw_on_one_budget(base):  # noqa: F811
    files, targets = {}, []
    for k in range(7):
        files |= {f"a{k}.md": "# a", f"b{k}.txt": "b", f"c{k}.ingest.md": INGEST.format(k)}
        targets += [f"a{k}.md", f"b{k}.txt", f"c{k}.ingest.md"]
    one = planned(base({**files, "note.md": note_of(targets)}))
    assert read(one) == targets[:16]
    assert {offer.route for offer in one.offers} == {"note", "file", "quotes"}


def test_E2_four_ingests_and_five_notes_are_nine_slots(base):  # noqa: F811
    files = {**notes(5), **{f"i{k}.ingest.md": INGEST.format(k) for k in range(4)}}
    one = planned(base({**files, "note.md": note_of(files)}))
    assert sum(offer.slots for offer in one.offers) == 9 and one.unit == "distinct-v1"


def test_E3_eleven_links_to_five_files_are_five_slots(base):  # noqa: F811
    links = [f"n{k % 5:02}.md" for k in range(11)]
    kb = base({**notes(21), "note.md": note_of([*links, *sorted(notes(21))])})
    assert read(planned(kb, cap=5)) == sorted(notes(5))
    assert read(planned(kb)) == sorted(notes(16))


def test_E3_ways_to_write_one_target_are_one_artifact(base):  # noqa: F811
    ways = ["n00.md", "./n00.md", "/n00.md", "n00.md#a", "n00.md?x=1", "%6e00.md", "<n00.md>", "x/../n00.md"]
    one = planned(base({**notes(1), "x/y.md": "", "note.md": note_of(ways)}))
    assert [(offer.artifact, len(offer.links), offer.slots) for offer in one.offers] == [("n00.md", 8, 1)]


def test_E3_an_ingest_is_one_slot_by_its_quotes_its_snapshot_or_both(base):  # noqa: F811
    kept = b"---\nsource: s\n---\nkept\n"
    front = f"---\nsource: s\nsnapshot_sha256: {sha256(kept)}\n---\n"
    ingest = f"{front}## Quotes\n\nSource extract (verbatim): kept\n\nSource location: page 1\n"
    files = {**notes(15), "i.ingest.md": ingest, ".snapshots/i.md": kept}
    quotes, snapshot = "[q](i.ingest.md)", "[s (snapshot required)](i.ingest.md)"
    for routes in (quotes, snapshot, f"{quotes} {snapshot}"):
        one = planned(base({**files, "note.md": f"{routes}\n\n{note_of(notes(15))}"}))
        assert (one.offers[0].slots, len(one.within), one.overflow) == (1, 16, ())


def test_E4_the_note_and_the_criterion_are_free_even_when_linked(base):  # noqa: F811
    path = f".admit/criteria/{GROUNDING}.md"
    links = ["note.md", "#note", path, *notes(16), path]
    kb = base({**notes(16), path: own("budget: 16\n"), "note.md": note_of(links)})
    one = planned(kb)
    assert one.criterion is not None and one.criterion.path == path
    assert read(one) == list(notes(16)) and one.unavailable == ()


def test_E4_what_cannot_be_served_takes_no_slot(base):  # noqa: F811
    lost = ["gone.md", "https://example.org", "../up.md", "x", "b.bin"]
    kb = base({**notes(16), "x/y.md": "", "b.bin": b"\0", "note.md": note_of([*lost, *notes(16)])})
    assert read(planned(kb)) == list(notes(16))


@pytest.mark.parametrize("offered", [16, 17, 40])
def test_E5_reaching_the_limit_is_no_warning_and_no_failure(base, offered):  # noqa: F811
    kb = base({**notes(offered), "note.md": note_of(notes(offered))})
    found, _ = reviewed(kb)
    assert (found.verdict, found.reason) == ("PASS", "judged")
    assert {one.severity for one in found.findings} <= {"INFO"}
    assert found.coverage is not None and found.coverage.stop == ("budget" if offered > 16 else "sufficiency")


def test_E5_what_is_over_the_limit_leaves_what_is_within_as_it_was(base):  # noqa: F811
    texts = [pack(kb, planned(kb)).items for kb in _growing(base, 16, 21)]
    assert all(one == other for one, other in pairwise(texts))


def _growing(base, first, last):  # noqa: F811
    for count in range(first, last):
        yield base({**notes(count), "note.md": note_of(notes(count))})


def test_E8_another_budget_makes_an_accepted_review_stale_by_its_criterion_alone(base, tmp_path):  # noqa: F811
    path = f".admit/criteria/{GROUNDING}.md"
    files = {**notes(3), "note.md": note_of(notes(3)), path: own("budget: 16\n")}
    store = EvidenceStore(str(tmp_path / "ledger.db"))
    found, _ = reviewed(kb := base(files), store=store)
    assert found.verdict == "PASS" and found.stored
    assert freshness(kb, store, found.pair, criteria.load(kb, GROUNDING)).fresh
    kb = base({path: own("budget: 17\n")})
    now = freshness(kb, store, found.pair, criteria.load(kb, GROUNDING))
    assert now.reasons == ("criterion-changed",)


def test_E8_the_budget_cannot_be_chosen_for_a_run():
    terms = {"budget", "unit", "order", "label_order", "cap"}
    assert not [key for key in KEYS if key.startswith("evidence.") and key.split(".")[-1] in terms]
    assert not terms & set(signature(review).parameters)
    takes = {
        name: sorted(terms & {one.name for one in command.params})
        for name, command in evidence.commands.items()
    }
    assert {name: found for name, found in takes.items() if found} == {"plan": ["cap"]}  # which only looks


def test_E9_a_criterion_without_a_budget_has_none(base):  # noqa: F811
    many = notes(40)
    kb = base({**many, "note.md": note_of(many), "gate.md": "---\ngate_id: prose/echo\n---\nLook.\n"})
    for name in ("representation", "link-text", "gate.md"):
        one = plan(kb, "note.md", criteria.load(kb, name))
        assert (one.cap, read(one)) == (None, list(many)), name
    assert read(plan(kb, "note.md")) == list(many)
    assert [one.id for one in criteria.shipped() if one.budget is not None] == [GROUNDING]


def test_E10_slots_ignore_size_and_counts_and_bytes_stand_with_the_verdict(base):  # noqa: F811
    small, large = notes(20), notes(20, size=20_000)
    mixed = {path: (large if k % 2 else small)[path] for k, path in enumerate(small)}
    kb = base({**mixed, "note.md": note_of(mixed)})
    assert read(planned(kb)) == list(small)[:16]
    found, _ = reviewed(kb)
    sizes = [len(text) for text in mixed.values()]
    counted = found.coverage
    assert counted is not None
    assert (counted.offered, counted.read) == (20, 16)
    assert (counted.bytes_offered, counted.bytes_read) == (sum(sizes), sum(sizes[:16]))


@pytest.mark.parametrize("needed", [6, 11, 14, 16])
def test_E12_the_findings_that_five_occurrences_lost_are_within_sixteen(base, needed):  # noqa: F811
    kb = base({**notes(20), "note.md": note_of(notes(20))})
    evidence = list(notes(20))[needed - 1]
    one = planned(kb)
    historical = replay(one, cap=5, unit="occurrences-v0")
    assert evidence in read(one) and evidence not in read(historical)
    assert evidence in read(replay(one, cap=needed)) and evidence not in read(replay(one, cap=needed - 1))


def test_E12_repeats_change_nothing_under_distinct_and_use_up_the_old_rule(base):  # noqa: F811
    once = list(notes(9))
    one, again = (
        planned(base({**notes(9), "note.md": note_of(links)})) for links in (once, once[:3] * 3 + once)
    )
    for cap in range(1, 10):
        assert read(replay(one, cap=cap)) == read(replay(again, cap=cap))
    assert len(read(replay(one, cap=5, unit="occurrences-v0"))) == 5
    assert len(read(replay(again, cap=5, unit="occurrences-v0"))) == 1


def test_E12_the_old_rule_is_for_comparisons_and_no_criterion_may_state_it(base):  # noqa: F811
    text = own("budget: 5\nunit: occurrences-v0\n")
    with pytest.raises(CriterionError, match="unit"):
        criteria.load(base({f".admit/criteria/{GROUNDING}.md": text}), GROUNDING)


def test_E12_coverage_under_the_old_rule_says_its_unit(base):  # noqa: F811
    kb = base({**notes(4), "note.md": note_of([*notes(4), *notes(4)])})
    one = planned(kb, cap=5, unit="occurrences-v0")
    found = pack(kb, one)
    counted = coverage(one, found.items, left=found.left_out)
    assert (counted.unit, counted.slots_used, counted.read) == ("occurrences-v0", 4, 2)
