"""When an accepted review no longer stands, and why."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from admit.core.events import sha256
from admit.errors import IntegrityError, NoteError
from admit.evidence.base import Base
from admit.evidence.criteria import parse
from admit.evidence.criterion import Criterion
from admit.evidence.freshness import Freshness, freshness
from admit.evidence.heads import head
from admit.evidence.model import Pair
from admit.evidence.planning import plan
from admit.evidence.shown import Reader, shown
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import BaselineRow, Linked

PAIR = Pair("kb/n.md", "c", "opus")
NOTE = "# n\n\nA claim by [t](t.md#sec).\n\nAnother by [u](u.md).\n"
TARGET = "# t\n\nFirst.\n\n## Sec\n\nThe section.\n\n## Other\n\nMore.\n"
FILES = {"kb/n.md": NOTE, "kb/t.md": TARGET, "kb/u.md": "# u\n"}
SOURCE = "source: https://example.org/a\n"
SNAPSHOT = f"---\n{SOURCE}---\nWords of the source.\n"
INGEST = (
    f"---\n{SOURCE}snapshot_sha256: {hashlib.sha256(SNAPSHOT.encode()).hexdigest()}\n---\n# a\n\n"
    "Our words.\n\n## Quotes\n\nSource extract (verbatim):\n\n> Words of the source.\n\n"
    "Source location: p. 1\n"
)


def criterion(budget: int = 16, watches: str = "[body, links]") -> Criterion:
    text = f"---\nid: c\nbudget: {budget}\nwatches: {watches}\n---\nDetect.\n"
    return parse(text, "c.md", sha256(text.encode()))


def linked(base: Base, path: str, shape: str = "whole", artifact: str = "") -> Linked:
    """A text as a review of today would have read it."""
    blank = Linked(artifact or path, path, shape, "note", "", "")
    now = shown(Reader(base), base.note("kb/n.md"), blank)
    assert now is not None
    return blank._replace(source_sha256=now.source_sha256, shown_sha256=now.shown_sha256)


def accept(store: EvidenceStore, base: Base, *read: Linked) -> BaselineRow:
    note = base.note("kb/n.md")
    row = BaselineRow(*PAIR, 0, False, note.sha256, criterion().sha256, read, "e-1", 1)
    store.accept(row, expect=None, texts=(note.text.encode(),))
    return row._replace(revision=1)


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "state" / "ledger.db"))


def told(base: Base, store: EvidenceStore, of: Criterion | None = None) -> Freshness:
    return freshness(base, store, PAIR, of or criterion())


def test_a_pair_that_was_never_accepted_lacks_a_baseline_and_nothing_more(base, store):
    found = told(base(FILES), store)
    assert found.reasons == ("missing-baseline",) and not found.fresh
    assert (found.changed, found.baseline, found.diff()) == ((), None, "")


def test_what_was_accepted_is_fresh_for_its_criterion_and_partition_only(base, store):
    at = base(FILES)
    row = accept(store, at, linked(at, "kb/t.md"))
    found = told(at, store)
    assert found.fresh and found.baseline == row and found.diff() == ""
    for pair in (PAIR._replace(partition="haiku"), PAIR._replace(criterion="d")):
        assert freshness(at, store, pair, criterion()).reasons == ("missing-baseline",)
    spelled = PAIR._replace(note="kb/./n.md")
    assert freshness(at, store, spelled, criterion()).fresh


def test_a_retired_baseline_is_a_missing_one(base, store):
    at = base(FILES)
    accept(store, at)
    store.retire(*PAIR, expect=1)
    assert told(at, store).reasons == ("missing-baseline",)


def test_another_budget_makes_a_pair_stale_through_the_hash_of_its_criterion(base, store):
    at = base(FILES)
    accept(store, at)
    assert told(at, store, criterion(budget=5)).reasons == ("criterion-changed",)


def test_all_reasons_are_listed_in_their_order(base, store):
    at = base(FILES)
    accept(store, at, linked(at, "kb/u.md"), linked(at, "kb/t.md"))
    at = base({"kb/n.md": NOTE + "more\n", "kb/t.md": "x", "kb/u.md": "y"})
    found = told(at, store, criterion(budget=5))
    assert found.reasons == ("criterion-changed", "note-changed", "linked-changed")
    assert found.changed == ("kb/u.md", "kb/t.md")


def test_the_change_of_a_note_is_told_from_the_accepted_text(base, store):
    at = base(FILES)
    accept(store, at)
    at = base({"kb/n.md": NOTE.replace("Another", "One more")})
    found = told(at, store)
    assert found.reasons == ("note-changed",)
    lines = found.diff().splitlines()
    assert lines[:2] == ["--- kb/n.md (accepted)", "+++ kb/n.md"]
    assert "-Another by [u](u.md)." in lines and "+One more by [u](u.md)." in lines


def test_without_the_accepted_text_there_is_no_diff(base, store):
    at = base(FILES)
    row = accept(store, at)
    store.accept(row._replace(note_sha256=sha256(b"never kept")), expect=1)
    assert told(at, store).reasons == ("note-changed",) and told(at, store).diff() == ""


@pytest.mark.parametrize("shape", ["whole", "head"])
def test_a_linked_file_that_changed_or_went_makes_the_pair_stale(base, store, tmp_path, shape):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md", shape))
    assert told(base({}), store).fresh
    assert told(base({"kb/t.md": TARGET.replace("First", "Last")}), store).reasons == ("linked-changed",)
    assert told(base(FILES), store).fresh
    (tmp_path / "root/kb/t.md").unlink()
    found = told(base({}), store)
    assert found.reasons == ("linked-changed",) and found.changed == ("kb/t.md",)


def test_a_file_of_which_the_head_was_read_may_change_where_it_was_not_shown(base, store):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md", "head"))
    assert told(base({"kb/t.md": TARGET.replace("More.", "Much more.")}), store).fresh
    named = base({"kb/t.md": TARGET.replace("The section.", "A section.")})
    assert told(named, store).changed == ("kb/t.md",)


def test_a_head_is_shown_as_the_pack_shows_it(base):
    at = base(FILES)
    expected = head(TARGET, {"sec"}, at.settings.head_max_chars)
    assert "The section." in expected and "More." not in expected
    assert linked(at, "kb/t.md", "head").shown_sha256 == sha256(expected.encode())


def test_what_was_not_read_never_makes_a_pair_stale(base, store):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md"))
    assert told(base({"kb/u.md": "# changed\n"}), store).fresh


@pytest.mark.parametrize(
    ("way", "reasons", "changed"),
    [("stale", ("linked-changed",), ("kb/t.md",)), ("info", (), ("kb/t.md",)), ("off", (), ())],
)
def test_what_a_changed_artifact_means_is_a_setting(base, store, way, reasons, changed):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md"))
    found = told(base({"kb/t.md": "x"}, linked_freshness=way), store)
    assert (found.reasons, found.changed) == (reasons, changed)


def test_quotes_change_with_the_extracts_and_not_with_the_rest_of_an_ingest(base, store):
    at = base({**FILES, "kb/a.ingest.md": INGEST})
    accept(store, at, linked(at, "kb/a.ingest.md", "quotes"))
    assert told(base({"kb/a.ingest.md": INGEST.replace("Our words", "Other words")}), store).fresh
    changed = base({"kb/a.ingest.md": INGEST.replace("> Words of", "> Word of")})
    assert told(changed, store).changed == ("kb/a.ingest.md",)
    none = base({"kb/a.ingest.md": "# no ingest any more\n"})
    assert told(none, store).changed == ("kb/a.ingest.md",)


def test_a_snapshot_is_stale_when_it_or_what_its_ingest_says_of_it_changes(base, store):
    kept = "kb/.snapshots/a.md"
    at = base({**FILES, "kb/a.ingest.md": INGEST, kept: SNAPSHOT})
    accept(store, at, linked(at, kept, "snapshot", "kb/a.ingest.md"))
    assert told(base({"kb/a.ingest.md": INGEST.replace("Our words", "Other words")}), store).fresh
    for files in ({kept: SNAPSHOT + "x"}, {"kb/a.ingest.md": INGEST.replace("/a\n", "/b\n")}):
        base({"kb/a.ingest.md": INGEST, kept: SNAPSHOT})
        assert told(base(files), store).changed == ("kb/a.ingest.md",)


def test_shown_texts_are_those_of_the_pack(base):
    """Whatever a pack serves, its hashes are found again as long as nothing changes."""
    from admit.evidence.pack import pack

    note = NOTE + "\n[a](a.ingest.md) and [b (snapshot required)](a.ingest.md)\n"
    at = base({**FILES, "kb/n.md": note, "kb/a.ingest.md": INGEST, "kb/.snapshots/a.md": SNAPSHOT})
    for material in ("whole", "head"):
        text = f"---\nid: c\nmaterial: {material}\n---\nDetect.\n"
        items = pack(at, plan(at, "kb/n.md", parse(text, "c.md", sha256(text.encode())))).items
        assert {item.shape for item in items} == {material, "quotes", "snapshot"}
        for item in items:
            row = Linked(item.artifact, item.path, item.shape, item.route, "", "")
            now = shown(Reader(at), at.note("kb/n.md"), row)
            assert now is not None and now.shown_sha256 == item.shown_sha256


def test_a_malformed_row_is_an_error_and_never_stale(base, store, tmp_path):
    import sqlite3

    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md"))
    con = sqlite3.connect(tmp_path / "state" / "ledger.db")
    con.execute("UPDATE evidence_baseline SET note_sha256 = 'md5:00'")
    con.commit()
    con.close()
    with pytest.raises(IntegrityError, match=r"evidence_baseline, kb/n\.md c opus"):
        told(at, store)


def test_a_note_that_is_gone_is_an_error_of_the_note(base, store, tmp_path):
    accept(store, base(FILES))
    (tmp_path / "root/kb/n.md").unlink()
    with pytest.raises(NoteError):
        told(base({}), store)


def test_a_note_whose_name_is_spelled_decomposed_on_disk_finds_its_review(base, store):
    from admit.evidence.gate import EvidenceGate

    name = "kb/cafe\u0301.md"
    at = base({**FILES, name: NOTE})
    accept(store, at)
    store.accept(store.baseline(*PAIR)._replace(note=name), expect=None)
    (found,) = EvidenceGate(at, store=store, partition="opus").status([name], [criterion()])
    assert found.fresh and found.pair.note == name
    assert freshness(at, store, PAIR._replace(note=name), criterion()).fresh
