"""Ingests: what they quote, the snapshot they declare, and the two routes by which a link reaches them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.events import sha256
from admit.evidence.extracts import EXTRACT, LOCATION, extracts
from admit.evidence.pack import pack
from admit.evidence.planning import plan
from admit.evidence.sources import Failed, ingest, is_snapshot, quotes_text, snapshot, snapshot_path

GOLDEN = Path(__file__).parents[2] / "golden" / "evidence" / "ingest-both-routes.txt"
SOURCE = "https://example.org/paper"
KEPT = f"---\nsource: {SOURCE}\n---\n\nThe river rose by 4 metres.\n\nNobody was hurt.\n"
QUOTES = f"""## Quotes

{EXTRACT}:

> The river rose by 4 metres.

{LOCATION}: first paragraph
"""


def ingest_text(quotes=QUOTES, digest=None, source=SOURCE):
    digest = digest or sha256(KEPT.encode())
    return (
        f"---\nsource: {source}\ncaptured: 2026-03-01\ngenre: report\nsnapshot_sha256: {digest}\n"
        "secondary_sources: [a, b]\n---\n\n# Ingest\n\nOur reading: a flood.\n\n"
        f"{quotes}\n## Limits\n\nOne report.\n"
    )


def files(**more):
    return {"kb/flood.ingest.md": ingest_text(), "kb/.snapshots/flood.md": KEPT, **more}


def read(section):
    return [(one.text, one.location, one.line) for one in extracts(section, 1)]


@pytest.mark.parametrize(
    "section, text, location, line",
    [
        (f"{EXTRACT}:\n\n> a\n> b\n\n{LOCATION}: p. 3\n", "a\nb", "p. 3", 3),
        (f"{EXTRACT}: a b\n{LOCATION}: p. 3", "a b", "p. 3", 1),
        (f"**{EXTRACT}:** “a\nb”\n\n**{LOCATION}:**\n\np. 3,\nline 2\n\nOurs.\n", "a\nb", "p. 3, line 2", 1),
        (f"### {EXTRACT}\n\n```text\na\n\n  b\n```\n\n### {LOCATION}\n\np. 3\n", "a\n\n  b", "p. 3", 4),
        (f"1. *{EXTRACT}*:\n   ~~~~\n   a\n   ~~~~\n   *{LOCATION}*: `x.py`\n", "a", "`x.py`", 3),
        (f"- {EXTRACT.upper()}:\n  a\n- {LOCATION.lower()}: p. 3\r\n", "a", "p. 3", 2),
        (f"{EXTRACT}:\r\n> a\r\n>\r\n> b\r\n{LOCATION}: p. 3\r\n", "a\n\nb", "p. 3", 2),
        (f"{EXTRACT}:\r\n\r\na\r\nb\r\n\r\n{LOCATION}: p. 3\r\n", "a\nb", "p. 3", 3),
        (f"{EXTRACT}: a", "a", "", 1),
        (f"{EXTRACT}: a\n### Next\nours\n", "a", "", 1),
    ],
)
def test_an_extract_is_read_from_a_fence_a_block_quote_or_as_it_stands(section, text, location, line):
    assert read(section) == [(text, location, line)]


def test_labels_that_the_source_itself_holds_are_its_words():
    quoted = f"{EXTRACT}:\n> {LOCATION}: fake\n> {EXTRACT}: fake\n{LOCATION}: p. 1\n"
    fenced = f"{EXTRACT}:\n````\n```\n{LOCATION}: fake\n# {EXTRACT}\n````\n{LOCATION}: p. 2\n"
    assert [(text, location) for text, location, _ in read(quoted + "\n" + fenced)] == [
        (f"{LOCATION}: fake\n{EXTRACT}: fake", "p. 1"),
        (f"```\n{LOCATION}: fake\n# {EXTRACT}", "p. 2"),
    ]


def test_words_between_pairs_and_a_location_without_an_extract_are_no_evidence():
    pair = f"{EXTRACT}: a\n{LOCATION}: p. 1\n"
    section = f"{LOCATION}: p. 0\n\nOurs.\n\n{pair}\nOurs again.\n\n---\n\n{pair}"
    assert [one[0] for one in read(section)] == ["a", "a"]
    assert read(f"{EXTRACT}:\n\n{LOCATION}: p. 1\n") == []


@given(st.lists(st.tuples(st.sampled_from(["> a", "b", "", "```", f"{EXTRACT}:", f"{LOCATION}: x", "# h"]))))
def test_any_section_is_read_and_every_extract_has_words_and_a_line_within(lines):
    section = "\n".join(one for (one,) in lines)
    for one in extracts(section, 1):
        assert one.text.strip() and 1 <= one.line <= len(lines) + 1


def test_an_ingest_gives_its_front_matter_its_extracts_and_apart_from_them_its_analysis(base):
    found = ingest(base(files()), "kb/flood.ingest.md")
    assert found is not None
    assert (found.source, found.captured, found.genre) == (SOURCE, "2026-03-01", "report")
    assert (found.secondary_sources, found.snapshot_sha256) == (("a", "b"), sha256(KEPT.encode()))
    assert [(one.text, one.location) for one in found.extracts] == [
        ("The river rose by 4 metres.", "first paragraph")
    ]
    text = ingest_text().split("\n")
    assert text[found.extracts[0].line - 1] == "> The river rose by 4 metres."
    assert "a flood" in found.analysis and "One report." in found.analysis
    assert "river" not in found.analysis and "snapshot_sha256" not in found.analysis
    assert quotes_text(found) == (f"{EXTRACT}:\nThe river rose by 4 metres.\n{LOCATION}: first paragraph\n")


def test_an_ingest_is_a_file_that_the_globs_name_and_that_names_its_source(base):
    bare = "---\nsource_snapshot: x.md\n---\n# x\n"
    kb = base({**files(), "top.ingest.md": ingest_text(), "bare.ingest.md": bare, "n.md": ingest_text()})
    found = {path: ingest(kb, path) is not None for path in ("top.ingest.md", "bare.ingest.md", "n.md")}
    assert found == {"top.ingest.md": True, "bare.ingest.md": False, "n.md": False}
    kb = base({"n.md": "[1](bare.ingest.md) [2](top.ingest.md) [3](n2.md)", "n2.md": ingest_text()})
    assert [one.route for one in plan(kb, "n.md").offers] == ["note", "quotes", "note"]
    kb = base({}, source_globs=("n*.md",))
    assert [one.route for one in plan(kb, "n.md").offers] == ["note", "note", "quotes"]


@pytest.mark.parametrize(
    "quotes",
    ["", QUOTES + "\n" + QUOTES, QUOTES.replace("##", "###"), QUOTES.replace("##", "#"), "```\n" + QUOTES],
)
def test_without_exactly_one_section_of_quotes_nothing_is_quoted(base, quotes):
    found = ingest(base(files(**{"kb/flood.ingest.md": ingest_text(quotes)})), "kb/flood.ingest.md")
    assert found is not None and found.extracts == () and quotes_text(found) == ""


def test_an_ordinary_link_to_an_ingest_serves_its_extracts_and_never_the_snapshot(base):
    note = {"n.md": "See [it](kb/flood.ingest.md)."}
    items = pack(kb := base({**files(), **note}), plan(kb, "n.md")).items
    assert [(one.path, one.shape) for one in items] == [("kb/flood.ingest.md", "quotes")]
    assert "rose by 4 metres" in items[0].text
    assert not any(word in items[0].text for word in ("flood", "hurt", SOURCE))


def test_an_ingest_without_an_extract_is_unavailable_and_takes_no_slot(base):
    note = {"n.md": "See [it](kb/flood.ingest.md) and [this](t.md).", "t.md": "# t\n"}
    kb = base({**files(**{"kb/flood.ingest.md": ingest_text(quotes="")}), **note})
    planned = plan(kb, "n.md")
    assert [one.artifact for one in planned.offers] == ["t.md"]
    assert [(one.dest, one.reason) for one in planned.unavailable] == [("kb/flood.ingest.md", "no-extracts")]


def test_a_declared_snapshot_is_served_whole_from_the_derived_place(base):
    kb = base({**files(), "n.md": "See [it (snapshot required)](kb/flood.ingest.md)."})
    (offer,) = plan(kb, "n.md").offers
    assert (offer.artifact, offer.route, offer.slots) == ("kb/flood.ingest.md", "snapshot", 1)
    assert (offer.bytes, offer.sha256) == (len(KEPT), sha256(ingest_text().encode()))
    (item,) = pack(kb, plan(kb, "n.md")).items
    assert (item.path, item.shape, item.text) == ("kb/.snapshots/flood.md", "snapshot", KEPT)


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"kb/.snapshots/flood.md": KEPT + "\n"}, "snapshot-hash"),
        ({"kb/flood.ingest.md": ingest_text(digest="sha256:" + "0" * 64)}, "snapshot-hash"),
        ({"kb/flood.ingest.md": ingest_text(digest="none")}, "snapshot-hash"),
        ({"kb/flood.ingest.md": ingest_text(source="https://example.org/other")}, "snapshot-source"),
        ({"kb/.snapshots/flood.md": b"\xff"}, "snapshot-missing"),
        ({"kb/.snapshots/flood.md": None, "kb/flood.md": KEPT}, "snapshot-missing"),
        ({"kb/.snapshots/flood.md": None, ".snapshots/flood.md": KEPT}, "snapshot-missing"),
        ({"kb/.snapshots/flood.md": None, "kb/.snapshots/flood.txt": KEPT}, "snapshot-missing"),
        ({"kb/flood.ingest.md": "# no front matter\n"}, "snapshot-missing"),
    ],
)  # fmt: skip
def test_a_declared_snapshot_that_is_not_the_one_serves_nothing_and_takes_no_slot(base, change, reason):
    note = {"n.md": "See [it (snapshot required)](kb/flood.ingest.md) and [o](o.md).", "o.md": "o"}
    given = {path: text for path, text in {**files(), **note, **change}.items() if text is not None}
    kb = base(given)
    planned = plan(kb, "n.md", cap=1)
    assert [(one.dest, one.link, one.kind, one.reason) for one in planned.unavailable] == [
        ("kb/flood.ingest.md", 1, "artifact", reason)
    ]
    assert [one.artifact for one in planned.offers] == ["o.md"] and planned.within == ("a1",)
    assert [one.path for one in pack(kb, planned).items] == ["o.md"]


def test_a_snapshot_outside_of_the_root_or_behind_a_link_is_missing(base, tmp_path):
    kb = base({"kb/flood.ingest.md": ingest_text()})
    (tmp_path / "flood.md").write_text(KEPT)
    os.symlink(tmp_path, tmp_path / "root" / "kb" / ".snapshots")
    assert snapshot(kb, ingest(kb, "kb/flood.ingest.md")) == Failed("snapshot-missing")


def test_a_bare_digest_and_another_folder_of_snapshots_will_do(base):
    digest = sha256(KEPT.encode()).removeprefix("sha256:").upper()
    kb = base({"kb/flood.ingest.md": ingest_text(digest=digest), "kb/flood.md": KEPT}, snapshot_dir=".")
    found = snapshot(kb, ingest(kb, "kb/flood.ingest.md"))
    assert not isinstance(found, Failed) and found.path == "kb/flood.md"
    assert snapshot_path(kb, "top.ingest.md") == "top.md"


def test_the_quotes_stand_where_the_declared_snapshot_of_the_same_ingest_fails(base):
    note = "Quoted [a](kb/flood.ingest.md). Read [b (snapshot required)](kb/flood.ingest.md)."
    kb = base({"kb/flood.ingest.md": ingest_text(), "n.md": note})
    planned = plan(kb, "n.md")
    assert [(one.route, one.links) for one in planned.offers] == [("quotes", (1,))]
    assert [(one.link, one.reason) for one in planned.unavailable] == [(2, "snapshot-missing")]


def test_the_links_of_both_routes_count_in_document_order_and_a_failed_one_gives_no_place(base):
    quoted, required = "[q](kb/flood.ingest.md)", "[s (snapshot required)](kb/flood.ingest.md)"
    note = f"{required} [o](o.md) {quoted} {required}"
    (first, other) = plan(base({**files(), "o.md": "o", "n.md": note}), "n.md").offers
    assert (first.links, [(one.route, one.links) for one in first.materials]) == (
        (1, 3, 4), [("quotes", (3,)), ("snapshot", (1, 4))],
    )  # fmt: skip
    assert other.artifact == "o.md"
    failing = plan(base({"kb/.snapshots/flood.md": "other"}), "n.md")
    assert [(one.artifact, one.links) for one in failing.offers] == [
        ("o.md", (2,)), ("kb/flood.ingest.md", (3,)),
    ]  # fmt: skip
    assert [one.link for one in failing.unavailable] == [1, 4]


def test_an_ingest_by_both_routes_is_one_offer_with_both_texts_each_tied_to_its_links(base):
    note = (
        "# n\n\nQuoted [a](kb/flood.ingest.md).\n\nRead [b (snapshot required)](kb/flood.ingest.md).\n\n"
        "Other [c](o.md).\n"
    )
    kb = base({**files(), "n.md": note, "o.md": "# o\n"})
    lines = []
    for unit in ("distinct-v1", "occurrences-v0"):
        planned = plan(kb, "n.md", unit=unit)
        for offer in planned.offers:
            lines.append(f"{unit} {offer.id} {offer.artifact} {offer.route} slots={offer.slots}")
        for item in pack(kb, planned).items:
            links = ",".join(map(str, item.links))
            lines.append(f"  {item.offer} {item.path} {item.shape} links={links} {item.shown_sha256}")
    seen = "\n".join(lines) + "\n"
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_text(seen, encoding="utf-8")
    assert seen == GOLDEN.read_text(encoding="utf-8"), "if that is meant: ADMIT_WRITE_GOLDEN=1"


def test_snapshots_are_known_by_their_place(base):
    kb = base({**files(), "kb/notes.md": ""})
    paths = ("kb/.snapshots/flood.md", ".snapshots/a.md", "kb/notes.md", "x.snapshots/a.md")
    assert [is_snapshot(kb, path) for path in paths] == [True, True, False, False]
    kb = base({"kb/flood.md": KEPT}, snapshot_dir=".")
    assert [is_snapshot(kb, path) for path in ("kb/flood.md", "kb/notes.md")] == [True, False]
