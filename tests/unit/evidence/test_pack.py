"""What a judge reads: shapes, hashes, and what is reduced when a request has no room."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from admit.core.events import canonical, sha256
from admit.errors import NotOffered
from admit.evidence import criteria
from admit.evidence.coverage import coverage
from admit.evidence.heads import head
from admit.evidence.pack import pack, pack_hash, serve
from admit.evidence.planning import plan
from admit.evidence.reading import Unreadable

SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)

DOCUMENT = """---
title: Front title
description: What rivers do.
---

# Rivers

They flow.
Downwards.

They end.

## High *water*

It rises.

### Causes

- rain
- snow

## Low water

It falls.
"""
CODA = "".join(f"\n\n{'word ' * 30}" for _ in range(10))
FILES = {f"{k}.md": f"# Title {k}\n\nFirst of {k}.{CODA}\n" for k in range(6)}
NOTE = "# n\n\n" + "\n\n".join(f"Claim [{k}]({k}.md)." for k in range(6)) + "\n"


def criterion(material="whole", budget=""):
    front = f"id: c\nasks: claims\nmaterial: {material}\n{budget}"
    return criteria.parse(f"---\n{front}---\nLook.\n", "c.md", "sha256:c")


def room(chars):
    return lambda items: sum(len(one.text) for one in items) <= chars


def test_a_whole_artifact_is_its_text_byte_for_byte(base):
    text = "\ufeff# t\r\n\r\nÅngström\t\n\n\n"
    kb = base({"n.md": "[t](t.md)", "t.md": text})
    (item,) = pack(kb, plan(kb, "n.md")).items
    assert item.text == text
    assert item.source_sha256 == item.shown_sha256 == sha256(text.encode())
    assert (item.offer, item.artifact, item.path, item.shape, item.route, item.links) == (
        "a1", "t.md", "t.md", "whole", "note", (1,),
    )  # fmt: skip


def test_only_what_is_within_the_cap_is_served_and_the_rest_is_named(base):
    kb = base({**FILES, "n.md": NOTE})
    found = pack(kb, plan(kb, "n.md", criterion(budget="budget: 4\n")))
    assert [one.artifact for one in found.items] == ["0.md", "1.md", "2.md", "3.md"]
    assert [(one.id, one.artifact, one.part, one.reason) for one in found.left_out] == [
        ("a5", "4.md", "all", "budget"), ("a6", "5.md", "all", "budget"),
    ]  # fmt: skip


def test_the_criterion_chooses_whole_head_or_none(base):
    kb = base({"n.md": "[t](t.md#causes)", "t.md": DOCUMENT})
    shapes = {}
    for material in ("whole", "head", "none"):
        shapes[material] = [
            (one.shape, one.text) for one in pack(kb, plan(kb, "n.md", criterion(material))).items
        ]
    expected = head(DOCUMENT, ["causes"], 4000)
    assert shapes == {"whole": [("whole", DOCUMENT)], "head": [("head", expected)], "none": []}


def test_an_ingest_follows_its_route_whatever_the_criterion_chooses(base):
    quotes = "## Quotes\n\nSource extract (verbatim):\n> it flows\n\nSource location: p. 1\n"
    kb = base({"n.md": "[i](i.ingest.md)", "i.ingest.md": f"---\nsource: x\n---\n# i\n\nOurs.\n\n{quotes}"})
    for material in ("whole", "head", "none"):
        (item,) = pack(kb, plan(kb, "n.md", criterion(material))).items
        assert item.shape == "quotes" and "it flows" in item.text and "Ours" not in item.text


def test_a_file_that_changed_since_the_plan_is_unavailable_and_nothing_takes_its_place(base, tmp_path):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion(budget="budget: 3\n"))
    (tmp_path / "root" / "1.md").write_text("other")
    (tmp_path / "root" / "2.md").unlink()
    found = pack(kb, planned)
    assert [one.artifact for one in found.items] == ["0.md"]
    assert [(one.dest, one.link, one.kind, one.reason) for one in found.unavailable] == [
        ("1.md", 2, "artifact", "changed"), ("2.md", 3, "artifact", "missing"),
    ]  # fmt: skip
    counted = coverage(planned, found.items, left=found.left_out, unavailable=found.unavailable)
    assert (counted.read, counted.slots_used, counted.complete) == (1, 1, False)
    assert [(one.id, one.reason) for one in counted.unread] == [
        ("a4", "budget"), ("a5", "budget"), ("a6", "budget"),
    ]  # fmt: skip
    with pytest.raises(Unreadable, match="changed"):
        serve(kb, planned, "a2")


def test_one_offer_is_served_by_its_id_also_over_the_cap(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion(budget="budget: 2\n"))
    assert [one.text for one in serve(kb, planned, "a5")] == [FILES["4.md"]]
    for unknown in ("a7", "a0", "A1", "", "0.md"):
        with pytest.raises(NotOffered, match="a1 to a6"):
            serve(kb, planned, unknown)


def test_a_request_without_room_gets_heads_from_the_last_item_back(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion())
    whole = pack(kb, planned)
    sizes = [len(one.text) for one in whole.items]
    found = pack(kb, planned, room(sum(sizes) - 1))
    assert [one.shape for one in found.items] == ["whole"] * 5 + ["head"]
    assert [(one.id, one.part, one.reason) for one in found.left_out] == [("a6", "rest", "request-size")]
    assert found.items[5].text == "# Title 5\n\nFirst of 5."
    assert found.items[5].source_sha256 == whole.items[5].source_sha256
    assert found.items[5].shown_sha256 == sha256(found.items[5].text.encode())
    assert found.items[:5] == whole.items[:5] and pack(kb, planned, room(sum(sizes))) == whole


def test_when_heads_do_not_fit_either_the_last_are_left_out_altogether(base):
    kb = base({**FILES, "n.md": NOTE})
    planned = plan(kb, "n.md", criterion())
    found = pack(kb, planned, room(50))
    assert [(one.id, one.part, one.reason) for one in found.left_out] == [
        ("a1", "rest", "request-size"), ("a2", "rest", "request-size"), *(
            (f"a{k}", "all", "request-size") for k in range(3, 7)
        ),
    ]  # fmt: skip
    assert [one.artifact for one in found.items] == ["0.md", "1.md"]


def test_a_head_that_is_no_shorter_is_no_gain_and_the_text_stays_whole(base):
    kb = base({"a.md": FILES["0.md"], "b.md": "Short.", "n.md": "[a](a.md) [b](b.md)"})
    found = pack(kb, plan(kb, "n.md"), room(100))
    assert [(one.artifact, one.shape) for one in found.items] == [("a.md", "head"), ("b.md", "whole")]
    assert [(one.id, one.part) for one in found.left_out] == [("a1", "rest")]


def test_one_of_two_routes_left_out_is_the_rest_of_its_offer(base):
    kept = "---\nsource: s\n---\n" + "kept " * 50
    front = f"---\nsource: s\nsnapshot_sha256: {sha256(kept.encode())}\n---\n"
    quotes = "## Quotes\n\nSource extract (verbatim): q\nSource location: 1\n"
    note = "[q](i.ingest.md)\n\n[s (snapshot required)](i.ingest.md)"
    kb = base({"i.ingest.md": front + quotes, ".snapshots/i.md": kept, "n.md": note})
    found = pack(kb, plan(kb, "n.md"), room(100))
    assert [one.route for one in found.items] == ["quotes"]
    assert [(one.id, one.links, one.blocks, one.part) for one in found.left_out] == [
        ("a1", (2,), ("b2",), "rest")
    ]
    assert [(one.links, one.part) for one in pack(kb, plan(kb, "n.md"), room(0)).left_out] == [
        ((1,), "all"), ((2,), "all"),
    ]  # fmt: skip


def test_nothing_fits_gives_an_empty_pack_that_names_all(base):
    kb = base({**FILES, "n.md": NOTE})
    found = pack(kb, plan(kb, "n.md", criterion()), room(-1))
    assert found.items == () and [one.part for one in found.left_out] == ["all"] * 6


@SLOW
@given(chars=st.integers(0, 12_000), sizes=st.lists(st.integers(0, 8), min_size=1, max_size=9))
def test_a_pack_fits_and_no_less_reduced_one_would(base, chars, sizes):
    files = {
        f"{k}.md": f"# {k}\n\nFirst.{chr(10) * 2}{'word ' * 50 * size}\n" for k, size in enumerate(sizes)
    }
    note = "\n\n".join(f"[{k}]({name})" for k, name in enumerate(files))
    kb = base({**files, "n.md": note})
    planned = plan(kb, "n.md")
    whole = pack(kb, planned).items
    found = pack(kb, planned, room(chars))
    fits = room(chars)
    assert fits(found.items)
    assert [one.artifact for one in found.items] == list(files)[: len(found.items)]
    shapes = [one.shape for one in found.items]
    reduced = {one.id: one.part for one in found.left_out}
    kept = {one.offer for one in found.items}
    assert {one.offer for one in found.items if one.shape == "head"} == {
        id for id, part in reduced.items() if part == "rest"
    }
    assert kept | {id for id, part in reduced.items() if part == "all"} == {one.offer for one in whole}
    if len(found.items) == len(whole) and "head" in shapes:
        first = shapes.index("head")
        assert not fits((*found.items[:first], whole[first], *found.items[first + 1 :]))


def test_the_hash_of_a_pack_is_of_what_was_read_in_whatever_order(base):
    kb = base({**FILES, "n.md": NOTE})
    items = pack(kb, plan(kb, "n.md")).items
    assert pack_hash(items) == pack_hash(items[::-1]) == pack_hash([*items, items[0]])
    rows = sorted([one.artifact, one.shape, one.source_sha256, one.shown_sha256] for one in items)
    assert pack_hash(items) == sha256(canonical(rows)) != pack_hash(items[1:])
    hashes = {
        pack_hash([items[0]._replace(**{field: value})])
        for field, value in (
            ("artifact", "x"),
            ("shape", "head"),
            ("source_sha256", "x"),
            ("shown_sha256", "x"),
        )
    }
    assert len(hashes | {pack_hash(items[:1])}) == 5
    assert pack_hash([items[0]._replace(offer="a9", links=(9,))]) == pack_hash(items[:1])


def test_a_head_is_title_description_first_paragraph_and_the_sections_named():
    opening = "# Rivers\n\nWhat rivers do.\n\nThey flow.\nDownwards."
    assert head(DOCUMENT, [], 4000) == opening
    assert head(DOCUMENT, [None, "", "nowhere"], 4000) == opening
    assert head(DOCUMENT, ["low-water"], 4000) == f"{opening}\n\n## Low water\n\nIt falls."
    assert head(DOCUMENT, ["low-water", "causes"], 4000) == (
        f"{opening}\n\n### Causes\n\n- rain\n- snow\n\n## Low water\n\nIt falls."
    )
    named = head(DOCUMENT, ["high-water", "causes"], 4000)
    assert named.count("### Causes") == 1 and named.endswith("- snow")
    assert head(DOCUMENT, ["Low water"], 4000) == head(DOCUMENT, ["low-water"], 4000)


def test_a_section_that_holds_the_first_paragraph_does_not_repeat_it():
    assert head(DOCUMENT, ["rivers"], 4000).count("They flow.") == 1


def test_a_head_without_headings_or_front_matter_is_its_first_paragraph():
    assert head("Only this.\n\nNot this.\n", [], 4000) == "Only this."
    assert head("", [], 4000) == ""


@given(st.integers(1, 300), st.lists(st.sampled_from(["high-water", "causes", "low-water", "rivers"])))
def test_a_head_is_cut_at_the_end_of_a_block_and_never_over_its_size(most, fragments):
    whole = head(DOCUMENT, fragments, 4000)
    cut = head(DOCUMENT, fragments, most)
    assert len(cut) <= most and whole.startswith(cut) and cut
    if len(cut) >= len("# Rivers"):
        assert whole[len(cut) :].startswith("\n") or cut == whole


@given(st.text(max_size=400), st.lists(st.text(max_size=8), max_size=3), st.integers(1, 200))
def test_any_text_has_a_head_of_at_most_its_size(text, fragments, most):
    assert len(head(text, fragments, most)) <= most
