"""A declared snapshot that failed made the verdict, so a review of it stands only while it fails the same."""

from __future__ import annotations

import hashlib

import pytest

from admit.evidence.ack import ack
from admit.evidence.freshness import freshness
from admit.ledger.evidence import EvidenceStore
from admit.ledger.evidence_rows import NOTHING

from .reviews import NOTE, criterion, gate_of

SNAPSHOT = "---\nsource: https://example.org\n---\nKept.\n"
HASH = hashlib.sha256(SNAPSHOT.encode()).hexdigest()
FILES = {
    NOTE: "# n\n\nOne ([s](a.md)).\n\nTwo ([s (snapshot required)](s.ingest.md)).\n",
    "a.md": "# a\n",
    "s.ingest.md": f"---\nsource: https://example.org\nsnapshot_sha256: {HASH}\n---\n# S\n",
}


@pytest.fixture
def store(tmp_path):
    return EvidenceStore(str(tmp_path / "ledger.db"))


def reviewed(kb, store):
    found = gate_of(kb, store=store).review(NOTE, criterion())
    assert (found.verdict, found.stored) == ("FAIL", True)
    return found.pair


def test_a_snapshot_that_is_there_at_last_makes_the_review_stale(base, store):
    pair = reviewed(base(FILES), store)
    row = store.baseline(*pair)
    assert [(one.path, one.shown_sha256 == NOTHING) for one in row.linked] == [
        ("a.md", False),
        (".snapshots/s.md", True),
    ]
    assert freshness(base(FILES), store, pair, criterion()).fresh
    mended = base({**FILES, ".snapshots/s.md": SNAPSHOT})
    found = freshness(mended, store, pair, criterion())
    assert (found.reasons, found.changed) == (("linked-changed",), ("s.ingest.md",))


def test_a_note_is_accepted_while_its_snapshot_still_fails_and_with_one_that_is_there(base, store):
    pair = reviewed(base(FILES), store)
    edited = {**FILES, NOTE: FILES[NOTE] + "\nMore.\n"}
    assert ack(base(edited), store, pair, criterion()).linked[1].shown_sha256 == NOTHING
    mended = base({**edited, ".snapshots/s.md": SNAPSHOT})
    assert ack(mended, store, pair, criterion()).linked[1].shown_sha256 == f"sha256:{HASH}"
    assert freshness(mended, store, pair, criterion()).fresh
