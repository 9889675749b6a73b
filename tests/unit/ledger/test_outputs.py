"""The store of full outputs on disk: names, ends, retention, and what somebody did to a file."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from admit.errors import OutputNotFound, StoreFailed
from admit.ledger import outputs as outputs_module
from admit.ledger.outputs import FileOutputs
from admit.ledger.places import places
from admit.ledger.port import OutputMeta, OutputRow, Record
from admit.ledger.sqlite import SqliteLedger

from .samples import recall, rows

META = OutputMeta()
DAY_MS = 86_400_000


@pytest.fixture
def store() -> FileOutputs:
    return FileOutputs()


def path_of(sha256: str) -> Path:
    return Path(places().outputs) / sha256[:2] / f"{sha256}.txt"


def names() -> list[str]:
    return sorted(
        str(path.relative_to(places().outputs))
        for path in Path(places().outputs).rglob("*")
        if path.is_file() and path.name != ".order"
    )


def plant(sha256: str, data: bytes = b"planted") -> None:
    """A file that the store takes for a stored output with this hash."""
    path_of(sha256).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path_of(sha256).write_bytes(data)


def test_a_file_is_named_by_its_hash_private_and_holds_the_raw_bytes(store):
    data = b"\xff\x00raw\r\n\x1b[31m"
    ref = store.put(data, META)
    assert names() == [f"{ref.sha256[:2]}/{ref.sha256}.txt"]
    assert ref.path == str(path_of(ref.sha256))
    assert path_of(ref.sha256).read_bytes() == data
    assert stat.S_IMODE(path_of(ref.sha256).stat().st_mode) == 0o600
    for folder in (path_of(ref.sha256).parent, Path(places().outputs), Path(places().state)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_same_bytes_are_one_file(store):
    first, again = store.put(b"same", META), store.put(io.BytesIO(b"same"), META)
    assert (first.id, first.path) == (again.id, again.path)
    assert len(names()) == 1


def test_an_altered_file_is_not_given_back_and_storing_again_heals_it(store):
    ref = store.put(b"the truth", META)
    path_of(ref.sha256).write_bytes(b"the fib!!")
    with pytest.raises(OutputNotFound) as missing:
        store.open(ref.id)
    assert missing.value.why == "altered"
    store.put(b"the truth", META)
    assert store.open(ref.id).read() == b"the truth"


def test_a_symlink_in_the_place_of_a_file_is_not_followed(store, tmp_path):
    ref = store.put(b"data", META)
    (tmp_path / "copy").write_bytes(b"data")
    path_of(ref.sha256).unlink()
    path_of(ref.sha256).symlink_to(tmp_path / "copy")
    with pytest.raises(OutputNotFound):
        store.open(ref.id)


def test_a_deleted_file_is_deleted_where_the_ledger_knows_it_and_was_never_stored_where_not(store, ledger):
    known = FileOutputs(ledger=ledger).put(b"known", META)
    unknown = store.put(b"unknown", META)
    ledger.flush(5_000)
    path_of(known.sha256).unlink()
    path_of(unknown.sha256).unlink()
    for ref, why in ((known, "deleted"), (unknown, "never stored")):
        with pytest.raises(OutputNotFound) as missing:
            FileOutputs(ledger=ledger).open(ref.id)
        assert missing.value.why == why


def test_it_works_without_any_database(store):
    ref = store.put(b"one\ntwo", OutputMeta(session="s"))
    other = FileOutputs()
    assert other.open(ref.id).read() == b"one\ntwo"
    assert other.newest().id == ref.id
    assert [one.id for one in other.stored()] == [ref.id]


def test_it_works_while_the_database_is_damaged(ledger, state):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"data", OutputMeta(session="s"))
    ledger.flush(5_000)
    ledger.close()
    (state / "ledger.db").write_bytes(b"no database" * 500)
    assert store.open(ref.id).read() == b"data"
    assert store.find(ref.id).sha256 == ref.sha256
    assert store.newest("s").id == ref.id
    assert store.prune(int(time.time() * 1000)).removed == 0


def test_an_id_whose_first_12_digits_are_taken_gets_4_more_and_keeps_them(store):
    data = b"the later one"
    sha256 = hashlib.sha256(data).hexdigest()
    twin = sha256[:14] + "0" * 50
    plant(twin)
    ref = store.put(data, META)
    assert ref.id == "o_" + sha256[:16]
    assert store.find("o_" + sha256[:12]).sha256 == twin
    assert store.open(ref.id).read() == data
    assert store.put(data, META).id == ref.id

    # Once the first is gone, its id must not lead to the other one.
    path_of(twin).unlink()
    assert store.find("o_" + sha256[:12]) is None
    assert store.open(ref.id).read() == data
    assert store.put(data, META).id == ref.id


def test_more_digits_than_an_id_has_still_find_it(store):
    ref = store.put(b"data", META)
    assert store.find("o_" + ref.sha256[:20]).id == ref.id
    assert store.find("o_" + ref.sha256).id == ref.id
    assert store.find("o_" + ref.sha256[:11]) is None


@pytest.mark.parametrize("size", [0, 1, 999, 1_000, 1_001, 1_499, 1_500, 1_501, 1_999, 2_000, 5_000, 77_777])
@pytest.mark.parametrize("step", [1, 7, 500, 10_000])
def test_of_a_huge_output_the_first_and_last_half_of_the_limit_are_kept(size, step):
    store = FileOutputs({"outputs.max_one_bytes": 1_000})
    data = b"".join(b"%06d\n" % k for k in range(size // 7 + 1))[:size]
    with store.capture(META) as capture:
        for at in range(0, size, step):
            capture.write(data[at : at + step])
        ref = capture.finish()
    kept = data if size <= 1_000 else data[:500] + data[-500:]
    assert store.open(ref.id).read() == kept
    assert (ref.bytes, ref.complete) == (size, size <= 1_000)
    assert ref.sha256 == hashlib.sha256(kept).hexdigest()
    assert ref.lines == kept.count(b"\n") + (bool(kept) and not kept.endswith(b"\n"))


def test_what_a_capture_took_in_so_far_never_takes_more_room_than_the_limit(store):
    small = FileOutputs({"outputs.max_one_bytes": 1_000})
    with small.capture(META) as capture:
        for _ in range(50):
            capture.write(b"x" * 100)
        (name,) = names()
        assert os.path.getsize(os.path.join(places().outputs, name)) == 1_000


def test_a_capture_that_is_given_up_leaves_nothing(store):
    with store.capture(META) as capture:
        capture.write(b"half")
    assert names() == []


def test_what_a_killed_process_had_captured_is_found_as_the_newest(store):
    code = (
        "import sys, time\n"
        "from admit.ledger.outputs import FileOutputs\n"
        "from admit.ledger.port import OutputMeta\n"
        "capture = FileOutputs().capture(OutputMeta())\n"
        "capture.write(b'so far\\n')\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    assert store.newest() is None  # it is still being written
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    found = store.newest()
    assert store.open(found.id).read() == b"so far\n"
    assert len(names()) == 1


def test_of_a_killed_capture_over_the_limit_the_ordered_half_is_kept():
    store = FileOutputs({"outputs.max_one_bytes": 1_000})
    store.put(b"older", META)
    capture = store.capture(META)
    data = b"".join(b"%06d\n" % k for k in range(500))
    capture.write(data)
    capture._close()  # as the kernel closes it
    time.sleep(0.01)
    assert store.open(store.newest().id).read() == data[:500]


def test_the_newest_is_the_one_stored_last_not_the_one_used_last(store):
    first = store.put(b"first", META)
    time.sleep(0.005)
    second = store.put(b"second", META)
    store.touch(first.id)
    assert store.newest().id == second.id
    time.sleep(0.005)
    store.put(b"first", META)
    assert store.newest().id == first.id


def test_the_rows_tell_what_was_stored_and_every_recall(ledger):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"a\nb\n", OutputMeta("bash", "s1", 2))
    store.recalled(recall("r1", ref.id, session="s1"))
    store.recalled(recall("r2", ref.id))
    ledger.flush(5_000)
    row = ledger.output(ref.id)
    assert (row.bytes, row.lines, row.tool, row.exit_code, row.complete) == (4, 2, "bash", 2, True)
    assert row.session == ledger.keyed(["s1"])[0]
    assert row.last_used_ms >= row.stored_ms
    assert rows("SELECT recall_id, first FROM recalls ORDER BY recall_id") == [("r1", 1), ("r2", 0)]
    assert [one.output_id for one in ledger.outputs(session="s1")] == [ref.id]
    assert list(ledger.outputs(session="s2")) == []


def test_a_stream_that_cannot_be_read_is_not_stored(store):
    class Broken(io.BytesIO):
        def read(self, *args):
            raise OSError("gone")

    with pytest.raises(StoreFailed):
        store.put(Broken(), META)
    assert names() == []


@pytest.mark.parametrize("at", ["state", "outputs"])
def test_a_symlink_in_the_place_of_a_folder_is_refused(tmp_path, state, at):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if at == "outputs":
        state.mkdir(mode=0o700)
    Path({"state": state, "outputs": state / "outputs"}[at]).symlink_to(elsewhere)
    with pytest.raises(StoreFailed):
        FileOutputs().put(b"data", META)
    assert os.listdir(elsewhere) == []


def test_a_foreign_owner_is_refused(store, monkeypatch):
    ref = store.put(b"data", META)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(StoreFailed):
        store.put(b"more", META)
    with pytest.raises(OutputNotFound):
        store.open(ref.id)
    monkeypatch.undo()


def aged(store: FileOutputs, sha256: str, days: float) -> None:
    path = path_of(sha256)
    ns = time.time_ns() - int(days * DAY_MS * 1_000_000)
    os.utime(path, ns=(ns, ns))


def test_what_was_not_used_for_14_days_expires(store):
    old, used, new = (store.put(name, META) for name in (b"old", b"used", b"new"))
    aged(store, old.sha256, 15)
    aged(store, used.sha256, 15)
    store.touch(used.id)
    report = store.prune(int(time.time() * 1000))
    assert (report.removed, report.bytes, report.kept_bytes) == (1, 3, 7)
    assert {ref.id for ref in store.stored()} == {used.id, new.id}


def test_over_the_size_the_least_recently_used_go_first_but_none_of_the_last_24_hours():
    store = FileOutputs({"outputs.max_bytes": 250})
    refs = [store.put(b"%d" % k * 100, META) for k in range(5)]
    for ref, days in zip(refs, (2, 5, 3, 4, 0), strict=True):
        aged(store, ref.sha256, days)
    report = store.prune(int(time.time() * 1000))
    assert (report.removed, report.kept_bytes) == (3, 200)
    assert {ref.id for ref in store.stored()} == {refs[0].id, refs[4].id}
    small = FileOutputs({"outputs.max_bytes": 10})
    assert small.prune(int(time.time() * 1000)).removed == 1
    assert [ref.id for ref in small.stored()] == [refs[4].id]


def test_a_pinned_output_stays(ledger):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"pinned", META)
    ledger.append(Record(outputs=(OutputRow(ref.id, ref.sha256, ref.bytes, pinned=True),)))
    ledger.flush(5_000)
    aged(store, ref.sha256, 100)
    assert store.prune(int(time.time() * 1000)).removed == 0


def test_the_row_of_an_expired_output_is_there_before_its_file_is_gone(ledger, monkeypatch):
    class Watching:
        def __getattr__(self, name):
            return getattr(os, name)

        def unlink(self, path):
            (row,) = rows("SELECT gone_reason FROM outputs WHERE sha256 = ?", Path(path).stem)
            assert row == ("expired",)
            os.unlink(path)

    store = FileOutputs(ledger=ledger, fs=Watching())
    ref = store.put(b"data", META)
    ledger.flush(5_000)
    aged(store, ref.sha256, 20)
    assert store.prune(int(time.time() * 1000)).removed == 1


def test_a_file_whose_row_says_gone_is_given_back_while_it_is_there(ledger):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"data", META)
    ledger.append(Record(outputs=(OutputRow(ref.id, ref.sha256, 4, gone_ms=9, gone_reason="expired"),)))
    ledger.flush(5_000)
    assert store.open(ref.id).read() == b"data"


def test_a_row_that_comes_late_from_the_spool_brings_nothing_back(ledger):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"data", META)
    ledger.flush(5_000)
    late = ledger.output(ref.id)
    store.delete([ref.id], ref.stored_ms + 1)
    ledger.append(Record(outputs=(late,)))
    ledger.flush(5_000)
    assert ledger.output(ref.id).gone_reason == "deleted"


def test_the_ledger_of_another_process_finds_the_newest_of_a_session(ledger):
    store = FileOutputs(ledger=ledger)
    ref = store.put(b"one", OutputMeta(session="s1"))
    time.sleep(0.005)
    store.put(b"two", OutputMeta(session="s2"))
    ledger.flush(5_000)
    other = SqliteLedger()
    assert FileOutputs(ledger=other).newest("s1").id == ref.id
    other.close()


@pytest.mark.parametrize("session", [None, "s"])
def test_the_newest_is_the_one_stored_last_whatever_the_clock_said(ledger, session, monkeypatch):
    store = FileOutputs(ledger=ledger)
    real = outputs_module.now_ms
    monkeypatch.setattr(outputs_module, "now_ms", lambda: real() + 86_400_000)
    first = store.put(b"one day ahead", OutputMeta(session="s"))
    monkeypatch.setattr(outputs_module, "now_ms", real)
    second = store.put(b"after the jump", OutputMeta(session="s"))
    ledger.flush(5_000)
    assert store.newest(session).id == second.id
    assert FileOutputs(ledger=ledger).newest(session).id == second.id
    store.put(b"one day ahead", OutputMeta(session="s"))
    ledger.flush(5_000)
    assert FileOutputs(ledger=ledger).newest(session).id == first.id


def test_of_two_captures_that_killed_processes_left_the_later_is_the_newest(state):
    store = FileOutputs()
    store.put(b"whole", OutputMeta())
    for name, age_s in (("f" * 16, 200), ("0" * 16, 100)):
        path = state / "outputs" / f".new-{name}"
        path.write_bytes(b"left by " + name.encode())
        os.utime(path, ns=(10**18 - age_s * 10**9,) * 2)
    assert store.open(store.newest().id).read() == b"left by " + b"0" * 16


def test_the_order_stays_short_and_keeps_the_last(state, monkeypatch):
    monkeypatch.setattr("admit.ledger.order.LINES", 3)
    store = FileOutputs()
    refs = [store.put(f"{k}".encode(), OutputMeta()) for k in range(20)]
    assert os.path.getsize(state / "outputs" / ".order") <= 7 * 65
    assert store.newest().id == refs[-1].id
