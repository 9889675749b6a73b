"""The spool, with every file operation failing in turn, once and for ever."""

from __future__ import annotations

import errno

import pytest
from ledger_faults import FaultyFiles

from admit.ledger.spool import Spool

BODIES = [b'{"n":%d,"x":"%s"}' % (k, b"x" * 300) for k in range(6)]
CAP = 4_000


def append_all(spool: Spool) -> list[bytes]:
    """Append every body, and give those that were acknowledged."""
    done = []
    for body in BODIES:
        try:
            spool.append(body)
        except OSError:
            continue
        done.append(body)
    return done


def drained(folder: str) -> list[bytes]:
    found: list[bytes] = []
    Spool(folder, "reader", CAP).drain(lambda bodies, bad: found.extend(bodies))
    return found


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_no_acknowledged_record_is_lost_and_no_torn_one_hides_another(tmp_path, for_ever, code):
    files = FaultyFiles()
    append_all(Spool(str(tmp_path / "count" / "spool"), "w", CAP, files))
    refused = 0
    for fail_at in range(1, files.done + 1):
        folder = str(tmp_path / f"{fail_at}" / "spool")
        faulty = FaultyFiles(fail_at, for_ever=for_ever, code=code)
        done = append_all(Spool(folder, "w", CAP, faulty))
        refused += len(BODIES) - len(done)
        found = drained(folder)
        assert [body for body in found if body in done] == done
        assert set(found) <= set(BODIES)
    assert refused >= files.done // 2


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_a_drain_that_fails_anywhere_delivers_everything_next_time(tmp_path, for_ever):
    def filled(name: str) -> str:
        folder = str(tmp_path / name / "spool")
        for writer in ("a", "b"):
            append_all(Spool(folder, writer, 1 << 20))
        return folder

    files = FaultyFiles()
    Spool(filled("count"), "r", CAP, files).drain(lambda bodies, bad: None)
    for fail_at in range(1, files.done + 1):
        folder = filled(f"{fail_at}")
        delivered: list[bytes] = []
        try:
            faulty = FaultyFiles(fail_at, for_ever=for_ever)
            Spool(folder, "r", CAP, faulty).drain(lambda bodies, bad, to=delivered: to.extend(bodies))
        except OSError:
            pass
        delivered += drained(folder)
        assert set(delivered) == set(BODIES)
        assert len(delivered) >= 2 * len(BODIES)
        assert Spool(folder, "r", CAP).files() == []


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_at_the_cap_nothing_leaves_uncounted_whatever_fails(tmp_path, for_ever):
    def fill(spool: Spool) -> int:
        done = 0
        for k in range(40):
            try:
                spool.append(b'{"n":%02d,"x":"%s"}' % (k, b"x" * 300))
            except OSError:
                continue
            done += 1
        return done

    files = FaultyFiles()
    fill(Spool(str(tmp_path / "count" / "spool"), "w", CAP, files))
    for fail_at in range(1, files.done + 1, 7):
        folder = str(tmp_path / f"{fail_at}" / "spool")
        spool = Spool(folder, "w", CAP, FaultyFiles(fail_at, for_ever=for_ever))
        done = fill(spool)
        assert Spool(folder, "r", CAP).size() <= CAP + 400
        assert spool.dropped + len(drained(folder)) >= done
