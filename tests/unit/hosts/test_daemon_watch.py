"""When the daemon has a reason to leave."""

from __future__ import annotations

import os
import sys

import pytest

import admit
from admit.hosts.daemon import watch
from admit.hosts.daemon.watch import MAX_BYTES, MAX_BYTES_WITH_EMBEDDER, Watch


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An installed package, an interpreter and a socket, all of which can change."""
    package = tmp_path / "__init__.py"
    package.write_text(f'"""Words."""\n__version__ = "{admit.__version__}"\n')
    python = tmp_path / "python"
    python.write_text("")
    socket = tmp_path / "d.sock"
    socket.write_text("")
    monkeypatch.setattr(watch, "_package_file", lambda: str(package))
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    return tmp_path


def watching(place, **options):
    one = Watch(str(place / "d.sock"), **options)
    one.serving()
    return one


def test_nothing_that_changes_is_no_reason(place):
    assert watching(place).cause(idle=True) == ""


def test_another_installed_version_is_a_reason(place):
    one = watching(place)
    (place / "__init__.py").write_text('__version__ = "99.0"\n')
    assert one.cause(idle=False) == "version"


def test_a_package_file_that_is_only_written_again_is_no_reason(place):
    one = watching(place)
    (place / "__init__.py").write_text(f"# longer by this line\n__version__ = '{admit.__version__}'\n")
    assert one.cause(idle=True) == ""


def test_a_package_that_is_gone_is_a_reason(place):
    one = watching(place)
    os.unlink(place / "__init__.py")
    assert one.cause(idle=False) == "version"


@pytest.mark.parametrize("change", [os.unlink, lambda path: path.write_text("longer")])
def test_an_interpreter_that_is_gone_or_another_is_a_reason(place, change):
    one = watching(place)
    change(place / "python")
    assert one.cause(idle=False) == "executable"


def test_a_socket_that_is_gone_or_another_is_a_reason(place):
    one = watching(place)
    assert one.is_own_socket()
    os.rename(place / "d.sock", place / "kept")
    assert one.cause(idle=False) == "socket"
    (place / "d.sock").write_text("")
    assert one.cause(idle=False) == "socket"
    assert not one.is_own_socket()


def test_too_much_memory_drops_the_caches_first_and_is_a_reason_when_idle(place):
    size, dropped = [MAX_BYTES], []
    one = watching(place, memory_bytes=lambda: size[0], drop_caches=lambda: dropped.append(1))
    assert (one.cause(idle=True), dropped) == ("", [])
    size[0] += 1
    assert (one.cause(idle=True), dropped) == ("", [1])
    assert (one.cause(idle=False), dropped) == ("", [1])
    assert (one.cause(idle=True), dropped) == ("memory", [1])


def test_memory_that_came_down_again_is_no_reason(place):
    size, dropped = [MAX_BYTES + 1], []
    one = watching(place, memory_bytes=lambda: size[0], drop_caches=lambda: dropped.append(1))
    one.cause(idle=True)
    size[0] = MAX_BYTES
    assert one.cause(idle=True) == ""
    size[0] += 1
    assert (one.cause(idle=True), dropped) == ("", [1, 1])


def test_the_embedder_may_take_more_memory(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", os)
    size = [MAX_BYTES_WITH_EMBEDDER]
    one = watching(place, memory_bytes=lambda: size[0])
    assert [one.cause(idle=True) for _ in range(2)] == ["", ""]
    size[0] += 1
    assert [one.cause(idle=True) for _ in range(2)] == ["", "memory"]


def test_memory_that_is_not_known_is_no_reason(place):
    one = watching(place, memory_bytes=lambda: None)
    assert [one.cause(idle=True) for _ in range(2)] == ["", ""]


def test_the_resident_memory_of_this_process_is_known():
    size = watch.resident_bytes()
    assert size is not None
    assert 5_000_000 < size < 10_000_000_000
