"""One captured stream: held, passed through, written, and its file on disk."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest

from admit.cli import streams
from admit.cli.streams import Stream, print_bytes, write_all
from admit.errors import StoreFailed


class Disk:
    """A file on disk that is full after so many writes."""

    def __init__(self, room: int = 1_000) -> None:
        self.room = room
        self.written: list[bytes] = []
        self.discarded = 0

    def write(self, data: bytes) -> None:
        if len(self.written) == self.room:
            raise StoreFailed("full")
        self.written.append(data)

    def discard(self) -> None:
        self.discarded += 1


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    for fd in (read, write):
        with suppress(OSError):
            os.close(fd)


def held(target: int, disk: Disk | None = None, *, live: bool = False) -> Stream:
    return Stream("stdout", target, live=live, spool=disk)


def test_what_is_held_is_written_to_disk_as_it_arrives_and_not_to_the_target(pipe):
    disk = Disk()
    stream = held(pipe[1], disk)
    for block in (b"one", b"two"):
        stream.take(block)
    assert disk.written == [b"one", b"two"] and stream.data == b"onetwo" and stream.whole
    os.set_blocking(pipe[0], False)
    with pytest.raises(BlockingIOError):
        os.read(pipe[0], 9)


def test_a_live_stream_is_written_at_once_and_held_too(pipe):
    stream = held(pipe[1], live=True)
    stream.take(b"now")
    assert os.read(pipe[0], 9) == b"now" and stream.data == b"now"


def test_what_is_too_much_to_hold_is_written_out_and_the_rest_passed_through(pipe, monkeypatch):
    monkeypatch.setattr(streams, "HELD_BYTES", 10)
    disk = Disk()
    stream = held(pipe[1], disk)
    for block in (b"12345", b"67890", b"abc", b"def"):
        stream.take(block)
    assert os.read(pipe[0], 99) == b"1234567890abcdef"
    assert (stream.whole, stream.live, stream.data, disk.discarded) == (False, True, b"", 1)


def test_a_live_stream_that_is_too_much_to_hold_is_written_once(pipe, monkeypatch):
    monkeypatch.setattr(streams, "HELD_BYTES", 4)
    stream = held(pipe[1], live=True)
    for block in (b"123", b"456", b"789"):
        stream.take(block)
    assert os.read(pipe[0], 99) == b"123456789" and not stream.whole


def test_binary_is_known_by_its_start_and_passed_through(pipe):
    stream = held(pipe[1])
    writer = threading.Thread(target=lambda: [stream.take(bytes(32_768)) for _ in range(3)])
    writer.start()
    seen = b""
    while len(seen) < 3 * 32_768:
        seen += os.read(pipe[0], 1 << 20)
    writer.join()
    assert seen == bytes(3 * 32_768) and not stream.whole


def test_a_full_disk_ends_the_file_where_it_is_and_nothing_else(pipe):
    disk = Disk(room=1)
    stream = held(pipe[1], disk)
    for block in (b"one", b"two", b"three"):
        stream.take(block)
    disk.room = 9
    stream.take(b"four")
    assert disk.written == [b"one"], "no hole in what stands there"
    assert stream.data == b"onetwothreefour"
    stream.release()
    stream.release()
    assert disk.discarded == 1


def test_a_reader_that_went_away_is_remembered(pipe):
    os.close(pipe[0])
    stream = held(pipe[1])
    stream.write(b"x")
    assert stream.gone and stream.fault is None


def test_a_target_that_takes_nothing_is_remembered_with_the_reason(tmp_path):
    (tmp_path / "file").touch()
    with open(tmp_path / "file", "rb") as readonly:
        assert not write_all(readonly.fileno(), b"x")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb", buffering=0) as full:
            stream = held(full.fileno())
            stream.write(b"x")
            assert stream.gone and stream.fault is not None


def test_everything_is_written_to_a_target_that_does_not_block(pipe):
    os.set_blocking(pipe[1], False)
    data = bytes(range(256)) * 4_000
    seen: list[bytes] = []

    def read() -> None:
        while sum(map(len, seen)) < len(data):
            seen.append(os.read(pipe[0], 1 << 16))

    reader = threading.Thread(target=read)
    reader.start()
    assert write_all(pipe[1], data)
    reader.join()
    assert b"".join(seen) == data


def test_standard_output_without_a_reader_is_a_closed_pipe(pipe, monkeypatch):
    os.close(pipe[0])
    monkeypatch.setattr(streams, "STDOUT", pipe[1])
    with pytest.raises(BrokenPipeError):
        print_bytes(b"x")
