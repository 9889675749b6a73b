"""An accepted review moves to the texts of today only as a whole, and trivially only where it is so."""

from __future__ import annotations

from collections import Counter

import pytest

from admit.core.events import EVENTS, sha256
from admit.errors import BaselineConflict, EvidenceError
from admit.evidence.ack import ack, retire
from admit.evidence.base import Base
from admit.ledger.memory import MemoryLedger

from .test_freshness import FILES, NOTE, PAIR, TARGET, accept, criterion, linked, store, told

__all__ = ["store"]

FRONT = "---\ndescription: one\ntags: [a]\n---\n"


def test_ack_moves_the_review_to_the_texts_of_today_and_keeps_what_it_rests_on(base, store):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md", "head"), linked(at, "kb/u.md"))
    at = base({"kb/n.md": NOTE + "more\n", "kb/t.md": TARGET.replace("First", "Last")})
    ledger = MemoryLedger()
    row = ack(at, store, PAIR, criterion(budget=5), ledger=ledger)
    assert (row.revision, row.job, row.attempt) == (2, "e-1", 1)
    assert [(one.path, one.shape) for one in row.linked] == [("kb/t.md", "head"), ("kb/u.md", "whole")]
    assert store.baseline(*PAIR) == row and told(at, store, criterion(budget=5)).fresh
    assert store.text(row.note_sha256) == (NOTE + "more\n").encode()
    (event,) = ledger.events("evidence.")
    assert set(event.body) == set(EVENTS["evidence.ack"].fields)
    assert (event.body["revision"], event.body["trivial"], event.body["retired"]) == (2, False, False)
    assert event.body["from"]["note"] == sha256(NOTE.encode()) and event.body["to"]["note"] == row.note_sha256


def test_what_is_fresh_is_left_as_it_is(base, store):
    at = base(FILES)
    row = accept(store, at, linked(at, "kb/t.md"))
    ledger = MemoryLedger()
    assert ack(at, store, PAIR, criterion(), ledger=ledger) == row
    assert store.baseline(*PAIR) == row and not list(ledger.events("evidence."))


def test_each_file_is_read_once_and_hash_and_text_are_of_that_reading(base, store, monkeypatch):
    """Every reading finds other bytes, so that whatever is read twice cannot agree with itself."""
    from pathlib import Path

    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md"), linked(at, "kb/t.md", "head"), linked(at, "kb/u.md"))
    at = base({})
    times: Counter[str] = Counter()
    real = at.tree.read

    def read(path: str, **more: object):
        times[path] += 1
        place = Path(at.root, path)
        place.write_text(place.read_text() + f"read {times[path]}\n")
        return real(path, **more)

    monkeypatch.setattr(at.tree, "read", read)
    row = ack(at, store, PAIR, criterion())
    assert times == {"kb/n.md": 1, "kb/t.md": 1, "kb/u.md": 1}
    assert store.text(row.note_sha256) == f"{NOTE}read 1\n".encode()
    assert row.linked[0].source_sha256 == row.linked[1].source_sha256 == sha256(f"{TARGET}read 1\n".encode())
    assert row.linked[2].shown_sha256 == sha256(b"# u\nread 1\n")


def test_a_review_that_was_accepted_meanwhile_is_not_written_over(base, store, monkeypatch):
    at = base(FILES)
    first = accept(store, at)
    at = base({"kb/n.md": NOTE + "more\n"})
    real = store.baseline

    def stale(*pair: str):
        row = real(*pair)
        if row.revision == 1:
            store.accept(first._replace(job="e-2"), expect=1)
        return row

    monkeypatch.setattr(store, "baseline", stale)
    ledger = MemoryLedger()
    with pytest.raises(BaselineConflict):
        ack(at, store, PAIR, criterion(), ledger=ledger)
    assert real(*PAIR) == first._replace(job="e-2", revision=2) and not list(ledger.events(""))
    assert store.text(sha256((NOTE + "more\n").encode())) is None


def test_a_text_that_cannot_be_served_any_more_is_not_acknowledged(base, store, tmp_path):
    at = base(FILES)
    row = accept(store, at, linked(at, "kb/t.md"))
    (tmp_path / "root/kb/t.md").unlink()
    with pytest.raises(EvidenceError, match=r"kb/t\.md"):
        ack(base({}), store, PAIR, criterion())
    assert store.baseline(*PAIR) == row


def test_without_an_accepted_review_there_is_nothing_to_acknowledge_or_retire(base, store):
    at = base(FILES)
    with pytest.raises(EvidenceError, match="admit evidence review"):
        ack(at, store, PAIR, criterion())
    accept(store, at)
    ledger = MemoryLedger()
    assert retire(store, PAIR, ledger=ledger) == 2
    (event,) = ledger.events("evidence.ack")
    assert (event.body["revision"], event.body["retired"]) == (2, True)
    for act in (lambda: ack(at, store, PAIR, criterion()), lambda: retire(store, PAIR)):
        with pytest.raises(EvidenceError, match="no accepted review"):
            act()


def trivially(at: Base, store, watches: str = "[body, links]"):
    return ack(at, store, PAIR, criterion(watches=watches), trivial=True)


@pytest.mark.parametrize(
    ("watches", "before", "after"),
    [
        ("[body, links]", FRONT + NOTE, FRONT.replace("[a]", "[b]") + NOTE),
        ("[body, links]", FRONT + NOTE, FRONT.replace("one", "two") + NOTE),
        ("[body, title, description, links]", FRONT + NOTE, (FRONT + NOTE).replace("\n", "\r\n")),
        ("[title]", NOTE, NOTE.replace("Another", "One more")),
        ("[links]", NOTE, NOTE.replace("Another", "One more")),
        ("[description]", FRONT + NOTE, FRONT + NOTE + "[v](v.md)\n"),
    ],
)
def test_a_change_outside_of_the_watched_parts_is_trivial(base, store, watches, before, after):
    of = criterion(watches=watches)
    at = base({**FILES, "kb/n.md": before})
    row = accept(store, at, linked(at, "kb/t.md"))
    store.accept(row._replace(criterion_sha256=of.sha256), expect=1)
    at = base({"kb/n.md": after})
    moved = trivially(at, store, watches)
    assert moved.note_sha256 == sha256(after.encode()) and moved.linked == row.linked
    assert told(at, store, of).fresh


@pytest.mark.parametrize(
    ("watches", "before", "after", "part"),
    [
        ("[title, body]", NOTE, NOTE.replace("Another", "One more"), "body"),
        ("[title]", NOTE, NOTE.replace("# n", "# m"), "title"),
        ("[title]", "---\ntitle: a\n---\nx\n", "---\ntitle: b\n---\nx\n", "title"),
        ("[description]", FRONT + NOTE, FRONT.replace("one", "two") + NOTE, "description"),
        ("[links]", NOTE, NOTE.replace("(u.md)", "(v.md)"), "links"),
        ("[links]", NOTE, NOTE.replace("[u]", "[u (snapshot required)]"), "links"),
        ("[body, links]", NOTE, NOTE.replace("(u.md)", "(v.md)"), "body, links"),
    ],
)
def test_a_change_of_a_watched_part_is_not_trivial_and_the_part_is_named(
    base, store, watches, before, after, part
):
    at = base({**FILES, "kb/n.md": before})
    row = accept(store, at)
    store.accept(row._replace(criterion_sha256=criterion(watches=watches).sha256), expect=1)
    with pytest.raises(EvidenceError, match=f"watches its {part}:"):
        trivially(base({"kb/n.md": after}), store, watches)
    assert store.baseline(*PAIR).revision == 2


@pytest.mark.parametrize("watches", ["[]", "[body, tags]"])
def test_a_criterion_that_does_not_say_what_it_watches_allows_nothing_trivial(base, store, watches):
    row = accept(store, base(FILES))
    store.accept(row._replace(criterion_sha256=criterion(watches=watches).sha256), expect=1)
    with pytest.raises(EvidenceError, match="watches"):
        trivially(base({"kb/n.md": NOTE + "\n"}), store, watches)


def test_more_than_a_changed_note_is_not_trivial(base, store):
    at = base(FILES)
    accept(store, at, linked(at, "kb/t.md"))
    changed = {"kb/n.md": FRONT + NOTE}
    with pytest.raises(EvidenceError, match="linked-changed"):
        trivially(base({**changed, "kb/t.md": "x"}), store)
    at = base({**FILES, **changed})
    with pytest.raises(EvidenceError, match="criterion-changed"):
        ack(at, store, PAIR, criterion(budget=5), trivial=True)
    assert trivially(at, store).revision == 2


def test_a_trivial_change_does_not_acknowledge_artifacts_that_are_only_told_of(base, store):
    at = base(FILES)
    row = accept(store, at, linked(at, "kb/t.md"))
    at = base({"kb/n.md": FRONT + NOTE, "kb/t.md": "x"}, linked_freshness="info")
    assert trivially(at, store).linked == row.linked
    assert told(at, store).changed == ("kb/t.md",)


def test_without_the_accepted_text_nothing_is_trivial(base, store):
    at = base(FILES)
    row = accept(store, at)
    store.accept(row._replace(note_sha256=sha256(b"never kept")), expect=1)
    with pytest.raises(EvidenceError, match="not kept"):
        trivially(at, store)
