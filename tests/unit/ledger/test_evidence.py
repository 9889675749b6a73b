"""The tables of evidence reviews: compare-and-swap, jobs and what they read, rows that are malformed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from admit.core.events import sha256
from admit.errors import BaselineConflict, IntegrityError, JobError, LedgerError
from admit.ledger.evidence import EvidenceStore, open_store
from admit.ledger.evidence_rows import BaselineRow, JobRow, Linked, ReadRow, path_key
from admit.ledger.places import places
from admit.ledger.verify import verify

NOTE, CRITERION, SOURCE = b"# note\n", b"# criterion\n", b"# source\n"
LINKED = Linked("kb/t.md", "kb/t.md", "whole", "note", sha256(SOURCE), sha256(SOURCE))
PAIR = ("kb/n.md", "grounding", "opus")


def baseline(note: str = "kb/n.md", **fields: object) -> BaselineRow:
    row = BaselineRow(
        note, "grounding", "opus", 0, False, sha256(NOTE), sha256(CRITERION), (LINKED,), "e-1", 1
    )
    return row._replace(**fields)


def job(name: str = "e-1", **fields: object) -> JobRow:
    row = JobRow(name, 0, "kb/n.md", "grounding", "opus", sha256(NOTE), sha256(CRITERION), sha256(b"plan"))
    return row._replace(**fields)


def read(id: str = "a1", **fields: object) -> ReadRow:
    row = ReadRow(id, "kb/t.md", "kb/t.md", "whole", sha256(SOURCE), len(SOURCE), 1, None, "cli")
    return row._replace(**fields)


def run(sql: str, *args: object) -> None:
    """Change a row behind the store's back, checks aside."""
    con = sqlite3.connect(places().database)
    con.execute("PRAGMA ignore_check_constraints=ON")
    con.execute(sql, args)
    con.commit()
    con.close()


@pytest.fixture
def store(state) -> EvidenceStore:
    return EvidenceStore(places().database, busy_ms=500)


def test_a_store_that_nothing_was_written_to_is_empty_and_makes_no_file(store, state):
    assert (store.baseline(*PAIR), store.baselines(), store.jobs(), store.job("e-1")) == (None, (), (), None)
    assert store.text(sha256(NOTE)) is None and store.reads("e-1", 1) == ()
    assert not state.exists()


def test_what_is_accepted_is_given_back_with_its_texts(store):
    assert store.accept(baseline(), expect=None, texts=(NOTE, CRITERION)) == 1
    assert store.baseline(*PAIR) == baseline(revision=1)
    assert store.baselines() == (baseline(revision=1),)
    assert store.baselines(["kb/other.md"]) == ()
    assert store.text(sha256(NOTE)) == NOTE and store.put_text(NOTE) == sha256(NOTE)


def test_an_accept_that_expects_another_revision_writes_nothing(store):
    store.accept(baseline(), expect=None)
    for expect in (None, 2, 7):
        with pytest.raises(BaselineConflict, match="revision 1"):
            store.accept(baseline(job="e-2"), expect=expect, texts=(b"new",))
    assert store.baseline(*PAIR) == baseline(revision=1) and store.text(sha256(b"new")) is None
    with pytest.raises(BaselineConflict, match="none"):
        store.accept(baseline("kb/new.md"), expect=3)


def test_an_old_job_conflicts_after_retire_and_a_baseline_made_again(store):
    old = store.accept(baseline(), expect=None)
    retired = store.retire(*PAIR, expect=old)
    assert store.baseline(*PAIR) == baseline(revision=2, retired=True)
    again = store.accept(baseline(job="e-2"), expect=retired)
    assert again == 3
    for expect in (None, old, retired):
        with pytest.raises(BaselineConflict):
            store.accept(baseline(job="e-old"), expect=expect)
    with pytest.raises(BaselineConflict):
        store.retire(*PAIR, expect=old)
    assert store.baseline(*PAIR) == baseline(revision=3, job="e-2")


class Revisions(RuleBasedStateMachine):
    """Accepting and retiring with right, old and invented expectations."""

    def __init__(self) -> None:
        super().__init__()
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.store = EvidenceStore(f"{self.folder.name}/admit/ledger.db")
        self.given: list[int] = []
        self.retired = False

    def teardown(self) -> None:
        self.folder.cleanup()

    def _stands(self) -> int | None:
        return self.given[-1] if self.given else None

    @rule(expect=st.none() | st.integers(1, 12), right=st.booleans(), name=st.sampled_from(["e-1", "e-2"]))
    def accept(self, expect: int | None, right: bool, name: str) -> None:
        self._change(lambda one: self.store.accept(baseline(job=name), expect=one), expect, right, False)

    @rule(expect=st.integers(1, 12), right=st.booleans())
    def retire(self, expect: int, right: bool) -> None:
        right = right and bool(self.given)
        self._change(lambda one: self.store.retire(*PAIR, expect=one or 0), expect, right, True)

    def _change(self, change, expect: int | None, right: bool, retires: bool) -> None:
        expect = self._stands() if right else expect
        if expect == self._stands():
            self.given.append(change(expect))
            self.retired = retires
        else:
            with pytest.raises(BaselineConflict):
                change(expect)

    @invariant()
    def revisions_rise_by_one_and_are_never_used_again(self) -> None:
        assert self.given == list(range(1, len(self.given) + 1))
        row = self.store.baseline(*PAIR)
        assert (row and row.revision) == self._stands() and (row is None or row.retired == self.retired)


TestRevisions = Revisions.TestCase
TestRevisions.settings = settings(max_examples=15, stateful_step_count=12, deadline=None)


def test_two_knowledge_bases_in_one_database_do_not_see_each_other(state):
    one, two = open_store({}, "/bases/one"), open_store({}, "/bases/two")
    one.accept(baseline(), expect=None)
    assert two.baseline(*PAIR) is None and two.accept(baseline(job="e-2"), expect=None) == 1
    one.add_job(job())
    assert two.job("e-1") is None and two.add_job(job()).attempt == 1
    assert one.baseline(*PAIR) != two.baseline(*PAIR)
    data = Path(places().database).read_bytes()
    assert b"/bases/one" not in data


def test_keys_are_normalised_once_so_that_every_spelling_finds_the_row(store):
    store.accept(baseline("./kb//cafe\u0301.md"), expect=None)
    assert store.baseline("kb/caf\u00e9.md", *PAIR[1:]) == baseline("kb/caf\u00e9.md", revision=1)
    assert store.baselines(["kb/./cafe\u0301.md"])
    for path in ("", ".", "/etc/passwd", "../n.md", "kb/../../n.md", "a\0b"):
        with pytest.raises(ValueError, match="path below a root"):
            path_key(path)


@pytest.mark.parametrize("bad", ["", "abc", sha256(NOTE)[7:], sha256(NOTE).upper(), sha256(NOTE) + "0"])
def test_a_hash_that_is_none_is_refused_on_the_way_in(store, bad):
    for row in (baseline(note_sha256=bad), baseline(linked=(LINKED._replace(shown_sha256=bad),))):
        with pytest.raises(ValueError, match="64 hex digits"):
            store.accept(row, expect=None)
    with pytest.raises(ValueError, match="64 hex digits"):
        store.add_job(job(plan_hash=bad))
    with pytest.raises(ValueError, match="64 hex digits"):
        store.text(bad)
    assert store.baselines() == () and store.jobs() == ()


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("evidence_baseline", "note_sha256 = 'sha256:xyz'"),
        ("evidence_baseline", "criterion_sha256 = ''"),
        ("evidence_baseline", "linked = '[{}]'"),
        ("evidence_baseline", "linked = 'no json'"),
        ("evidence_baseline", "linked = '7'"),
        ("evidence_baseline", "note = './kb/n.md'"),
        ("evidence_job", "plan_hash = 'abc'"),
        ("evidence_job", "manifest = '[1]'"),
        ("evidence_job", "state = 'completed'"),
        ("evidence_job", "state = 'asleep'"),
        ("evidence_job", "verdict = 'PASS'"),
        ("evidence_read", "shown_sha256 = 'sha256:'"),
        ("evidence_read", "refused = 'budget'"),
        ("evidence_text", "bytes = x'00'"),
    ],
)
def test_a_malformed_row_is_an_error_that_names_table_and_key(store, table, change):
    store.accept(baseline(), expect=None, texts=(NOTE,))
    store.add_job(job())
    store.add_read("e-1", 1, lambda earlier: read())
    run(f"UPDATE {table} SET {change}")
    with pytest.raises(IntegrityError, match=table) as fault:
        for look in (store.baselines, store.jobs, lambda: store.reads("e-1", 1)):
            look()
        store.text(sha256(NOTE))
    keys = {
        "evidence_baseline": "kb/n.md grounding opus",
        "evidence_job": "e-1 1",
        "evidence_read": "e-1 1 1",
        "evidence_text": sha256(NOTE),
    }
    assert (fault.value.table, fault.value.key.removeprefix("./")) == (table, keys[table])
    assert [(one.kind, one.n) for one in verify().findings if one.kind != "place"] == [("evidence", 1)]


def test_the_database_itself_holds_that_only_a_verdict_completes_a_job(store):
    store.add_job(job())
    con = sqlite3.connect(places().database)
    for change in ("state = 'completed'", "verdict = 'PASS'", "state = 'completed', verdict = 'UNJUDGED'",
                   "state = 'failed', verdict = 'WARN'", "state = 'gone'"):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            con.execute(f"UPDATE evidence_job SET {change}")
    con.close()


def test_the_same_job_again_is_its_next_attempt(store):
    first = store.add_job(job(manifest={"a": 1}), texts=(NOTE, CRITERION))
    second = store.add_job(job())
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.state == "queued" and first.created_ms > 0
    assert store.job("e-1") == second and store.job("e-1", 1) == first
    assert store.jobs() == (first, second) and store.jobs(["kb/x.md"]) == ()


def test_a_job_runs_once_and_is_over_once(store):
    store.add_job(job())
    store.start_job("e-1", 1)
    store.start_job("e-1", 1)
    store.end_job("e-1", 1, state="failed", verdict="UNJUDGED", reason="timeout", review={"x": [1]})
    row = store.job("e-1")
    assert row is not None and row.started_ms and row.ended_ms
    assert (row.state, row.verdict, row.reason, row.review) == ("failed", "UNJUDGED", "timeout", {"x": [1]})
    with pytest.raises(JobError, match="over"):
        store.start_job("e-1", 1)
    with pytest.raises(JobError, match="over"):
        store.add_read("e-1", 1, lambda earlier: read())
    with pytest.raises(JobError, match="no attempt 2"):
        store.end_job("e-1", 2, state="failed", verdict=None, reason=None, review=None)


@pytest.mark.parametrize(
    ("state", "verdict"), [("completed", "UNJUDGED"), ("failed", "PASS"), ("queued", None)]
)
def test_a_job_does_not_end_in_a_state_that_its_verdict_denies(store, state, verdict):
    store.add_job(job())
    with pytest.raises(ValueError):
        store.end_job("e-1", 1, state=state, verdict=verdict, reason=None, review=None)
    assert store.job("e-1").state == "queued"


def test_completing_a_job_accepts_its_review_or_leaves_it_open(store):
    store.add_job(job())
    ended = {"verdict": "WARN", "reason": "judged", "review": {}, "linked": (LINKED,)}
    assert store.complete_job("e-1", 1, **ended) == 1
    assert store.baseline(*PAIR) == baseline(revision=1)
    store.add_job(job("e-late", expected_revision=None))
    with pytest.raises(BaselineConflict):
        store.complete_job("e-late", 1, **ended)
    assert store.job("e-late").state == "queued" and store.baseline(*PAIR) == baseline(revision=1)
    with pytest.raises(ValueError, match="UNJUDGED"):
        store.complete_job("e-late", 1, **{**ended, "verdict": "UNJUDGED"})


def test_each_opening_is_decided_in_sight_of_the_earlier_ones(store):
    store.add_job(job())
    seen = []

    def decide(earlier: tuple[ReadRow, ...]) -> ReadRow:
        seen.append([one.n for one in earlier])
        return read(f"a{len(earlier) + 1}")

    rows = [store.add_read("e-1", 1, decide) for _ in range(3)]
    assert seen == [[], [1], [1, 2]]
    assert [(row.n, row.id, row.job, row.attempt) for row in rows] == [
        (n, f"a{n}", "e-1", 1) for n in (1, 2, 3)
    ]
    assert store.reads("e-1", 1) == tuple(rows) and store.reads("e-1", 2) == ()


def test_an_opening_that_the_decision_refuses_to_make_is_not_recorded(store):
    store.add_job(job())

    def decide(earlier: tuple[ReadRow, ...]) -> ReadRow:
        raise JobError("not this one")

    with pytest.raises(JobError, match="not this one"):
        store.add_read("e-1", 1, decide)
    refused = read(shown_sha256=None, refused="budget", slots=0, bytes=0)
    assert store.add_read("e-1", 1, lambda earlier: refused).refused == "budget"
    assert [row.refused for row in store.reads("e-1", 1)] == ["budget"]


def test_a_ledger_that_is_off_says_so(state):
    with pytest.raises(LedgerError, match=r"ledger\.enabled"):
        open_store({"ledger.enabled": False}, "/base")
