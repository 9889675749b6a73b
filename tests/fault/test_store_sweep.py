"""The store of outputs, with every file operation failing in turn, once and for ever."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from ledger_faults import FaultyFiles

from admit.errors import OutputNotFound, StoreFailed
from admit.ledger.outputs import FileOutputs
from admit.ledger.port import OutputMeta, OutputRef, Recall

META = OutputMeta()
OLD, NEW = b"stored before\n" * 10, b"being stored\n" * 200
LIMIT = {"outputs.max_one_bytes": 1_000}
NEW_KEPT = NEW[:500] + NEW[-500:]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A fresh state folder for every run of a sweep."""
    runs = iter(range(10_000))

    def fresh() -> OutputRef:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"{next(runs)}"))
        return FileOutputs(LIMIT).put(OLD, META)

    return fresh


def operations(work) -> int:
    """How many file operations the work takes when none fails."""
    files = FaultyFiles()
    work(FileOutputs(LIMIT, fs=files))
    return files.done


def sweep(home, work, check, for_ever: bool, code: int = errno.EIO) -> int:
    """Run the work once for every operation that can fail; gives how often one failed."""
    home()
    n = operations(work)
    failures = 0
    for fail_at in range(1, n + 1):
        old = home()
        files = FaultyFiles(fail_at, for_ever=for_ever, code=code)
        check(old, files, lambda files=files: work(FileOutputs(LIMIT, fs=files)))
        failures += files.failed
    return failures


def touch_all(store: FileOutputs) -> None:
    for ref in list(store.stored()):
        store.touch(ref.id)


def nothing_is_harmed(old: OutputRef) -> None:
    healthy = FileOutputs(LIMIT)
    assert healthy.open(old.id).read() == OLD
    assert healthy.put(NEW, META).bytes == len(NEW)
    for ref in healthy.stored():
        assert healthy.open(ref.id).read() in (OLD, NEW_KEPT)
    healthy.prune(0)
    assert list(Path(os.environ["XDG_STATE_HOME"]).rglob(".new-*")) == []


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EACCES])
def test_put_stores_the_whole_or_says_that_it_did_not(home, for_ever, code):
    def check(old, files, work):
        try:
            ref = work()
        except StoreFailed:
            pass
        else:
            assert FileOutputs(LIMIT).open(ref.id).read() == NEW_KEPT
        nothing_is_harmed(old)

    assert sweep(home, lambda store: store.put(NEW, META), check, for_ever, code) >= 12


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_a_first_put_makes_its_folders_or_says_that_it_did_not(tmp_path, monkeypatch, for_ever):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "count"))
    n = operations(lambda store: store.put(b"x", META))
    for fail_at in range(1, n + 1):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"{fail_at}"))
        try:
            ref = FileOutputs(fs=FaultyFiles(fail_at, for_ever=for_ever)).put(b"x", META)
        except StoreFailed:
            ref = FileOutputs().put(b"x", META)
        assert FileOutputs().open(ref.id).read() == b"x"


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_reading_gives_the_bytes_or_not_found_and_never_something_else(home, for_ever):
    def check(old, files, work):
        try:
            assert work().read() == OLD
        except OutputNotFound as missing:
            assert missing.why in ("altered", "never stored", "deleted")
        nothing_is_harmed(old)

    stored = home()
    assert sweep(home, lambda store: store.open(stored.id), check, for_ever) >= 4


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize(
    "work",
    [
        lambda store: touch_all(store),
        lambda store: store.recalled(Recall("r", "o_000000000000", 1, "whole", "cli", 1)),
        lambda store: store.prune(10**15),
        lambda store: store.newest("s"),
        lambda store: store.find("o_000000000000"),
        lambda store: list(store.stored()),
    ],
    ids=["touch", "recalled", "prune", "newest", "find", "stored"],
)
def test_everything_else_never_raises(home, work, for_ever):
    def check(old, files, run):
        run()
        healthy = FileOutputs(LIMIT)
        assert healthy.put(OLD, META).id == old.id
        nothing_is_harmed(old)

    assert sweep(home, work, check, for_ever) >= 1


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_what_a_killed_process_left_is_taken_in_or_left_where_it_is(home, for_ever):
    def abandoned() -> None:
        capture = FileOutputs(LIMIT).capture(META)
        capture.write(NEW)
        os.close(capture._fd)  # as the kernel closes it

    home()
    abandoned()
    n = operations(lambda store: store.newest())
    for fail_at in range(1, n + 1):
        old = home()
        abandoned()
        FileOutputs(LIMIT, fs=FaultyFiles(fail_at, for_ever=for_ever)).newest()
        healthy = FileOutputs(LIMIT)
        healthy.newest()
        stored = {healthy.open(ref.id).read() for ref in healthy.stored()}
        assert stored == {OLD, NEW[:500]}
        nothing_is_harmed_but_the_half(old)


def nothing_is_harmed_but_the_half(old: OutputRef) -> None:
    healthy = FileOutputs(LIMIT)
    assert healthy.open(old.id).read() == OLD
    assert list(Path(os.environ["XDG_STATE_HOME"]).rglob(".new-*")) == []
