"""Which artifacts a review may read: offers, units, orders and the cap."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.core.events import canonical
from admit.errors import EvidenceError, NoteError
from admit.evidence import criteria
from admit.evidence.planning import canonical_plan, from_canonical, plan, replay

FILES = {f"{k:02}.md": f"# {k}\n{'x' * (900 - 37 * (k * 7 % 20))}\n" for k in range(20)}
TARGETS = st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=40)
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)


def note_of(targets):
    return "# n\n\n" + "\n\n".join(f"Claim [{k}]({target})." for k, target in enumerate(targets))


def criterion(front=""):
    text = f"---\nid: c\nasks: claims\nanswers: {{good: pass, bad: fail}}\n{front}---\nLook.\n"
    return criteria.parse(text, "c.md", "sha256:c")


def artifacts(planned, ids=None):
    return [one.artifact for one in planned.offers if ids is None or one.id in ids]


def test_each_artifact_is_one_offer_in_document_order_with_all_of_its_links(base):
    kb = base({**FILES, "n.md": note_of(["02.md", "01.md#top", "./02.md?plain=1", "03.md"])})
    planned = plan(kb, "n.md")
    assert [(one.id, one.artifact, one.links, one.slots) for one in planned.offers] == [
        ("a1", "02.md", (1, 3), 1), ("a2", "01.md", (2,), 1), ("a3", "03.md", (4,), 1),
    ]  # fmt: skip
    assert (planned.cap, planned.within, planned.overflow) == (None, ("a1", "a2", "a3"), ())
    first = planned.offers[0]
    assert (first.bytes, first.route) == (len(FILES["02.md"]), "note")
    assert first.sha256 == first.materials[0].sha256 == kb.file("02.md").sha256


def test_what_is_not_material_takes_no_slot(base):
    text = (
        "# n\n[self](n.md) [anchor](#n) [out](https://x.example) ![image](02.md) [crit](kb/c.md) "
        "[gone](gone.md) [folder](kb) [binary](b.bin) [up](../o.md) [one](01.md)"
    )
    kb = base({**FILES, "n.md": text, "kb/c.md": "---\nid: c\nbudget: 1\n---\n", "b.bin": b"\0"})
    planned = plan(kb, "n.md", criteria.load(kb, "kb/c.md"))
    assert artifacts(planned) == ["01.md"] and planned.within == ("a1",)
    assert [(one.dest, one.kind) for one in planned.unavailable] == [
        ("gone.md", "missing"), ("kb", "directory"), ("b.bin", "non-text"), ("../o.md", "outside"),
    ]  # fmt: skip
    assert [one.id for one in planned.core.exempt] == ["note", "criterion"]


def test_a_file_that_cannot_be_read_is_named_with_its_reason_and_takes_no_slot(base):
    links = ["big.md", "gone.md", "big.ingest.md", "01.md"]
    files = {**FILES, "n.md": note_of(links), "big.md": "x" * 2000, "big.ingest.md": "x" * 2000}
    kb = base(files, max_artifact_bytes=1024)
    planned = plan(kb, "n.md", criterion("budget: 1\n"))
    assert [(one.dest, one.link, one.kind, one.reason) for one in planned.unavailable] == [
        ("big.md", 1, "artifact", "too-large"),
        ("gone.md", 2, "missing", ""),
        ("big.ingest.md", 3, "artifact", "too-large"),
    ]
    assert artifacts(planned, planned.within) == ["01.md"]


def test_notes_and_other_texts_are_told_apart_by_route(base):
    kb = base({"n.md": note_of(["a.markdown", "b.py", "c.md"]), "a.markdown": "", "b.py": "x", "c.md": ""})
    assert [one.route for one in plan(kb, "n.md").offers] == ["note", "file", "note"]


def test_the_criterion_gives_cap_unit_and_order_and_arguments_try_others(base):
    kb = base({**FILES, "n.md": note_of(sorted(FILES))})
    own = criterion("budget: 3\norder: bytes\n")
    planned = plan(kb, "n.md", own)
    assert (planned.cap, planned.order, len(planned.within)) == (3, "bytes", 3)
    assert plan(kb, "n.md", own, cap=None).overflow == ()
    assert len(plan(kb, "n.md", own, cap=7).within) == 7
    assert plan(kb, "n.md", own, order="document").offers[0].artifact == "00.md"
    assert plan(kb, "n.md", own, unit="occurrences-v0").unit == "occurrences-v0"
    assert own.budget == 3


@pytest.mark.parametrize("cap", [0, -1])
def test_a_cap_below_one_is_refused(base, cap):
    kb = base({**FILES, "n.md": note_of(["01.md"])})
    with pytest.raises(EvidenceError, match="1 or more"):
        plan(kb, "n.md", cap=cap)
    with pytest.raises(EvidenceError, match="1 or more"):
        replay(plan(kb, "n.md"), cap=cap)


def test_a_note_that_is_not_there_is_refused(base):
    with pytest.raises(NoteError, match=r"gone\.md"):
        plan(base({}), "gone.md")


def test_smaller_files_come_first_by_bytes_and_equal_ones_by_path(base):
    files = {"b.md": "xx", "a.md": "xx", "c.md": "x", "d.md": "xxx", "é.md": "xx"}
    kb = base({**files, "n.md": note_of(["d.md", "é.md", "b.md", "a.md", "c.md"])})
    assert artifacts(plan(kb, "n.md", order="bytes")) == ["c.md", "a.md", "b.md", "é.md", "d.md"]


def test_the_best_label_of_an_offer_counts_and_the_unlisted_come_last(base):
    text = (
        "# n\n\nSee [00](00.md) and [03](03.md).\n\n"
        "- [01](01.md) — extends: why\n- [02](02.md) — see-also: why\n"
        "- [03](03.md) — grounds: why\n- [04](04.md) — extends: why\n- [04](04.md) — grounds: why\n"
    )
    kb = base({**FILES, "n.md": text})
    own = criterion("order: label\nlabel_order: [grounds, extends]\n")
    planned = plan(kb, "n.md", own)
    assert artifacts(planned) == ["03.md", "04.md", "01.md", "00.md", "02.md"]
    assert planned.offers[1].labels == ("extends", "grounds")


def test_under_occurrences_each_link_takes_a_slot_and_the_first_that_does_not_fit_ends_it(base):
    kb = base({**FILES, "n.md": note_of(["01.md", "02.md", "02.md", "02.md", "03.md"])})
    planned = plan(kb, "n.md", cap=3, unit="occurrences-v0")
    assert [one.slots for one in planned.offers] == [1, 3, 1]
    assert (artifacts(planned, planned.within), planned.overflow) == (["01.md"], ("a2", "a3"))


@SLOW
@given(targets=TARGETS, order=st.sampled_from(["document", "bytes"]), data=st.data())
def test_the_plan_at_n_is_a_prefix_of_the_plan_at_the_next(base, targets, order, data):
    unit = data.draw(st.sampled_from(["distinct-v1", "occurrences-v0"]))
    whole = plan(base({**FILES, "n.md": note_of(targets)}), "n.md", unit=unit, order=order)
    admitted = [replay(whole, cap=cap).within for cap in range(1, len(targets) + 2)]
    for fewer, more in pairwise(admitted):
        assert more[: len(fewer)] == fewer
    assert admitted[-1] == whole.within == tuple(one.id for one in whole.offers)


@SLOW
@given(targets=TARGETS, data=st.data())
def test_links_again_or_in_another_order_change_nothing_but_the_order(base, targets, data):
    again = data.draw(st.permutations([*targets, *data.draw(st.lists(st.sampled_from(targets)))]))
    one = plan(base({**FILES, "n.md": note_of(targets)}), "n.md", order="bytes", cap=5)
    two = plan(base({"n.md": note_of(again)}), "n.md", order="bytes", cap=5)
    assert (artifacts(one), one.within) == (artifacts(two), two.within)
    document = plan(base({"n.md": note_of(again)}), "n.md", cap=5)
    assert artifacts(document) == list(dict.fromkeys(again))
    assert len(document.within) == min(5, len(set(targets)))


@SLOW
@given(targets=TARGETS, cap=st.integers(1, 20), order=st.sampled_from(["document", "label", "bytes"]))
def test_replay_gives_what_planning_would_have_given_and_reads_no_file(base, targets, cap, order):
    kb = base({**FILES, "n.md": note_of(targets)})
    fresh = plan(kb, "n.md", criterion(), cap=cap, order=order)
    other = plan(kb, "n.md", criterion(), cap=3, order="bytes")
    shutil.rmtree(kb.root)
    assert replay(other, cap=cap, order=order) == fresh


def test_a_stored_plan_reads_back_to_the_same_hash_and_replays_alike(base):
    text = note_of(["01.md", "gone.md", "02.md#x", "01.md", "03.md"])
    planned = plan(base({**FILES, "n.md": text}), "n.md", criterion("budget: 2\n"))
    stored = json.loads(json.dumps(canonical_plan(planned)))
    back = from_canonical(stored, planned.criterion)
    assert canonical_plan(back) == canonical_plan(planned)
    assert (back.plan_hash, back.core, back.offers) == (planned.plan_hash, planned.core, planned.offers)
    assert (back.within, back.overflow, back.unavailable) == (
        planned.within, planned.overflow, planned.unavailable,
    )  # fmt: skip
    assert replay(back, cap=1).plan_hash == replay(planned, cap=1).plan_hash != planned.plan_hash


@pytest.mark.parametrize(
    "change",
    [
        {"n.md": note_of(["01.md", "02.md"]) + "\n"},
        {"01.md": "other"},
        {"n.md": note_of(["01.md", "02.md", "02.md"])},
    ],
)
def test_another_text_is_another_plan(base, change):
    files = {**FILES, "n.md": note_of(["01.md", "02.md"])}
    assert plan(base(files), "n.md").plan_hash != plan(base(change), "n.md").plan_hash


def test_criterion_cap_unit_and_order_are_part_of_the_plan(base):
    kb = base({**FILES, "n.md": note_of(["01.md", "02.md"])})
    own = criterion("budget: 4\n")
    variants = [
        plan(kb, "n.md"),
        plan(kb, "n.md", own),
        plan(kb, "n.md", own._replace(sha256="sha256:d")),
        plan(kb, "n.md", own, cap=5),
        plan(kb, "n.md", own, cap=None),
        plan(kb, "n.md", own, unit="occurrences-v0"),
        plan(kb, "n.md", own, order="bytes"),
    ]
    assert len({one.plan_hash for one in variants}) == len(variants)


PROGRAM = """
import sys
from admit.core.events import canonical
from admit.evidence import criteria
from admit.evidence.base import Base
from admit.evidence.planning import canonical_plan, plan
base = Base.open(sys.argv[1])
planned = plan(base, "n.md", criteria.load(base, "grounding-alignment"))
sys.stdout.buffer.write(canonical({**canonical_plan(planned), "plan_hash": planned.plan_hash}))
"""


def test_the_same_plan_comes_of_any_root_hash_seed_and_time(base, tmp_path):
    kb = base({**FILES, "n.md": note_of([*FILES, "gone.md", "kb", "https://x.example", "./03.md"])})
    other = tmp_path / "another" / "root of another name"
    shutil.copytree(kb.root, other)
    for file in other.iterdir():
        os.utime(file, (1, 1))
    runs = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(root)], env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for root in (kb.root, other)
        for seed in ("0", "1", "4242")
    }  # fmt: skip
    assert len(runs) == 1
    text = runs.pop().decode()
    assert str(tmp_path) not in text and canonical(json.loads(text)) == text.encode()
