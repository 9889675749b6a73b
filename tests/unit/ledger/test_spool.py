"""The append-only fallback, whole, torn, flipped and full."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.ledger.places import NotOurs
from admit.ledger.spool import Drained, Spool, frame, scan

BODIES = [b'{"n":%d,"text":"%s"}' % (k, b"x" * (k % 37)) for k in range(60)]


@pytest.fixture
def folder(state: Path) -> str:
    return str(state / "spool")


def drained(spool: Spool) -> list[bytes]:
    taken: list[bytes] = []
    spool.drain(lambda bodies, bad: taken.extend(bodies))
    return taken


def test_a_record_is_framed_as_published():
    # cbf43926 is the check value of CRC-32 (ISO-HDLC).
    assert frame(b"123456789") == b"\nA1 9 cbf43926 123456789\n"


@given(st.lists(st.binary(min_size=1, max_size=60).filter(lambda body: b"\n" not in body), max_size=8))
def test_every_whole_record_is_read_back_in_order(bodies):
    assert scan(b"".join(map(frame, bodies))) == (bodies, 0)


def test_a_torn_record_loses_only_itself():
    first, torn, last = frame(b'{"n":1}'), frame(b'{"n":2}'), frame(b'{"n":3}')
    for cut in range(1, len(torn) - 1):
        assert scan(first + torn[:cut] + last) == ([b'{"n":1}', b'{"n":3}'], 1)


def test_only_its_last_newline_missing_a_record_is_whole():
    assert scan(frame(b"{}")[:-1]) == ([b"{}"], 0)


def test_a_header_that_lies_about_its_length_hides_no_later_record():
    lie = b"\nA1 99999 00000000 {}\n"
    assert scan(lie + frame(b'{"n":1}') + lie + frame(b'{"n":2}')) == ([b'{"n":1}', b'{"n":2}'], 2)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(data):
    bodies, bad = scan(data)
    assert bad >= 0 and all(frame(body) in data or frame(body)[:-1] in data for body in bodies)


def test_a_thousand_random_truncations_and_flips_lose_only_the_records_they_touch():
    whole = b"".join(map(frame, BODIES))
    starts, at = [], 0
    for body in BODIES:
        starts.append((at, at + len(frame(body))))
        at += len(frame(body))
    chance = random.Random(20)
    for _ in range(1_000):
        data = bytearray(whole)
        touched = set()
        for _ in range(chance.randint(0, 6)):
            place = chance.randrange(len(data))
            data[place] ^= 1 << chance.randrange(8)
            touched.add(place)
        end = chance.choice([len(data), chance.randrange(len(data))])
        bodies, bad = scan(bytes(data[:end]))
        expected = [
            body
            for body, (first, last) in zip(BODIES, starts, strict=True)
            if last <= end and not any(first <= place < last for place in touched)
        ]
        assert [body for body in bodies if body in expected] == expected
        assert len(bodies) >= len(expected)
        if not touched and end == len(whole):
            assert bad == 0


def test_what_was_appended_is_drained_in_order_and_then_gone(folder):
    spool = Spool(folder, "w1", 1 << 20)
    for body in BODIES:
        spool.append(body)
    assert spool.count() == len(BODIES)
    assert drained(spool) == BODIES
    assert (spool.files(), spool.count(), spool.size()) == ([], 0, 0)


def test_files_and_folders_are_private(folder):
    spool = Spool(folder, "w1", 1 << 20)
    spool.append(b"{}")
    assert os.stat(folder).st_mode & 0o777 == 0o700
    assert os.stat(spool.files()[0]).st_mode & 0o777 == 0o600
    assert [os.path.basename(path) for path in spool.files()] == ["w1.spool"]


def test_a_full_file_is_followed_by_another(folder):
    spool = Spool(folder, "w1", 4_000)
    for k in range(4):
        spool.append(b"%d" % k * 800)
    assert sorted(os.listdir(folder)) == ["w1.2.spool", "w1.3.spool", "w1.4.spool", "w1.spool"]


def test_at_the_cap_the_oldest_file_leaves_and_its_records_are_counted(folder):
    spool = Spool(folder, "w1", 4_000)
    for k in range(20):
        spool.append(b'{"n":%03d,"x":"%s"}' % (k, b"x" * 400))
        assert spool.size() <= 4_000
    left = drained(spool)
    assert spool.dropped == 20 - len(left) > 0
    assert left == [b'{"n":%03d,"x":"%s"}' % (k, b"x" * 400) for k in range(20 - len(left), 20)]


def test_a_record_larger_than_the_whole_spool_is_refused(folder):
    spool = Spool(folder, "w1", 1_000)
    spool.append(b"{}")
    with pytest.raises(OSError):
        spool.append(b"x" * 1_000)
    assert drained(spool) == [b"{}"]


def test_a_file_whose_import_failed_stays_for_the_next_drain(folder):
    spool = Spool(folder, "w1", 1 << 20)
    spool.append(b"1")

    def fail(bodies, bad):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        spool.drain(fail)
    spool.append(b"2")
    assert sorted(os.listdir(folder)) == [".lock", "w1.draining", "w1.spool"]
    assert drained(spool) == [b"1", b"2"]


def test_what_is_appended_while_another_process_drains_is_not_lost(folder):
    writer, reader = Spool(folder, "w1", 1 << 20), Spool(folder, "r", 1 << 20)
    taken: list[bytes] = []
    done = threading.Event()

    def write():
        for k in range(400):
            writer.append(b"%d" % k)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        reader.drain(lambda bodies, bad: taken.extend(bodies))
    thread.join()
    reader.drain(lambda bodies, bad: taken.extend(bodies))
    assert sorted(map(int, taken)) == list(range(400))


def test_of_two_that_drain_at_once_one_works_and_the_other_waits_for_its_next_turn(folder):
    spool, other = Spool(folder, "w1", 1 << 20), Spool(folder, "w2", 1 << 20)
    spool.append(b"{}")
    seen = []
    spool.drain(lambda bodies, bad: seen.append(other.drain(lambda *_: None)))
    assert seen == [None]
    assert other.drain(lambda *_: None) == Drained()


def test_spoiled_records_are_counted_by_the_drain(folder):
    spool = Spool(folder, "w1", 1 << 20)
    spool.append(b"1")
    with open(spool.files()[0], "ab") as file:
        file.write(b"\nA1 5 0000")
    spool.append(b"2")
    found = []
    assert spool.drain(lambda bodies, bad: found.append((bodies, bad))) == Drained(2, 1, 1)
    assert found == [([b"1", b"2"], 1)]
    assert spool.bad == 1


def test_a_symlink_in_the_place_of_the_spool_is_refused(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    os.makedirs(os.path.dirname(folder))
    os.symlink(elsewhere, folder)
    with pytest.raises(NotOurs):
        Spool(folder, "w1", 1 << 20).append(b"{}")
    assert os.listdir(elsewhere) == []


def test_a_symlink_in_the_place_of_a_file_is_refused(folder, tmp_path):
    target = tmp_path / "target"
    os.makedirs(folder, mode=0o700)
    os.symlink(target, os.path.join(folder, "w1.spool"))
    with pytest.raises(NotOurs):
        Spool(folder, "w1", 1 << 20).append(b"{}")
    assert not target.exists()


def test_remove_deletes_all_that_waits_and_counts_it(folder):
    spool = Spool(folder, "w1", 1 << 20)
    assert spool.remove() == 0
    spool.append(b"1")
    spool.append(b"2")
    assert spool.remove() == 2
    assert spool.files() == []
