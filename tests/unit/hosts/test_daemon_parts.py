"""The daemon's parts: places, lock, pool, recorder, settings, log."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from functools import partial

import pytest
from click.testing import CliRunner

from admit.cli import host_checks
from admit.cli.daemon import command as daemon_command
from admit.config import layers
from admit.config import pause as pausing
from admit.core.events import undeclared
from admit.hosts.daemon import control, log, recorder, settings
from admit.hosts.daemon.places import LOCK, Lock, log_path, socket_path
from admit.hosts.daemon.pool import Pool
from admit.hosts.daemon.protocol import Header
from admit.hosts.daemon.recorder import Recorder
from admit.hosts.daemon.server import DEFAULTS
from admit.hosts.daemon.settings import Settings
from admit.testing import MemoryLedger

WAIT_S = 20.0


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "ADMIT_CONFIG", "ADMIT_OFF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(layers, "_seen", {})
    return tmp_path


def test_the_socket_stands_in_the_runtime_folder_else_in_the_cache(monkeypatch):
    monkeypatch.setenv("HOME", "/home/some")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert socket_path() == "/run/user/7/admit/d.sock"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "not/absolute")
    assert socket_path() == "/home/some/.cache/admit/run/d.sock"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert socket_path() == "/home/some/.cache/admit/run/d.sock"


@pytest.mark.parametrize(("bytes_", "fits"), [(100, True), (101, False)])
def test_a_path_of_more_than_100_bytes_gives_way_to_the_temporary_folder(monkeypatch, bytes_, fits):
    runtime = "/" + "x" * (bytes_ - len("//admit/d.sock"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/var/tmp")
    own = f"/var/tmp/admit-{os.geteuid()}/d.sock"
    assert socket_path() == (f"{runtime}/admit/d.sock" if fits else own)


def test_a_temporary_folder_that_is_as_long_gives_way_to_tmp(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "ü" * 60)
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/" + "x" * 99)
    assert socket_path() == f"/tmp/admit-{os.geteuid()}/d.sock"


def test_the_lock_is_one_holders_and_names_it(tmp_path):
    path = str(tmp_path / "run" / "d.sock")
    first, second = Lock(path), Lock(path)
    assert first.holder() is None
    assert first.take()
    assert not second.take()
    assert second.holder() == os.getpid()
    first.release()
    assert second.holder() is None
    assert second.take()
    second.release()


def test_a_lock_in_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(OSError, match="not a folder"):
        Lock(str(tmp_path / "link" / "d.sock")).take()
    (tmp_path / "real" / LOCK).symlink_to("elsewhere")
    with pytest.raises(OSError, match="symlink"):
        Lock(str(tmp_path / "real" / "d.sock")).take()
    assert not (tmp_path / "real" / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path):
    folder = tmp_path / f"admit-{os.geteuid()}"
    folder.mkdir(0o777)
    os.chown(folder, 65534, 65534)
    with pytest.raises(OSError, match="owned by"):
        Lock(str(folder / "d.sock")).take()


def test_a_pool_works_its_items_off_in_order_and_survives_what_they_raise():
    done, ended = [], threading.Event()

    def work(item):
        done.append(item)
        if item == 3:
            raise SystemExit
        if item == 9:
            ended.set()

    pool = Pool(1, work, "test")
    for item in range(10):
        pool.put(item)
    assert ended.wait(WAIT_S)
    assert done == list(range(10))
    assert pool.close(WAIT_S)


def test_what_waits_too_long_is_taken_out_of_a_pool_and_never_worked():
    entered, go_on, done = threading.Event(), threading.Event(), []

    def work(item):
        done.append(item)
        entered.set()
        go_on.wait(WAIT_S)

    pool = Pool(1, work, "test")
    pool.put("runs")
    assert entered.wait(WAIT_S)
    assert pool.oldest() is None
    pool.put("late")
    between = time.monotonic()
    pool.put("in time")
    assert (len(pool), pool.busy) == (2, 1)
    assert pool.oldest() is not None
    assert pool.take_late(between) == ["late"]
    go_on.set()
    assert pool.close(WAIT_S)
    assert done == ["runs", "in time"]


def test_what_an_idle_thread_is_about_to_take_is_not_late():
    done = []
    pool = Pool(1, done.append, "test")
    with pool._changed:  # the thread cannot take it yet
        pool.put("next", "late", "late too")
        assert pool.take_late(time.monotonic()) == ["late", "late too"]
        assert pool.take_late(time.monotonic()) == []
    assert pool.close(WAIT_S)
    assert done == ["next"]


def test_a_pool_does_not_wait_for_work_that_never_ends():
    go_on = threading.Event()
    pool = Pool(1, lambda item: go_on.wait(WAIT_S) and None, "test")
    pool.put("runs")
    assert not pool.close(0.05)
    go_on.set()


def header(event="PostToolUse", length=100, version="0.1.0"):
    return Header("claude-code", event, version, 900, length)


def bodies(ledger, type):
    found = [event for record in ledger.records for event in record.events if event.type == type]
    assert [odd for event in found for odd in undeclared(event.type, event.body)] == []
    return [dict(event.body) for event in found]


def test_the_hooks_of_a_minute_are_one_event_a_kind(monkeypatch):
    monkeypatch.setattr(recorder, "MINUTE_S", 0.0)
    ledger = MemoryLedger()
    record = Recorder(ledger)
    for elapsed_ms in (3.0, 7.25, 5.0):
        record.answered(header(), 40, elapsed_ms, "ok")
    record.answered(header("Stop"), 0, 1.0, "skip")
    assert bodies(ledger, "host.hook") == []
    record.write_minute()
    assert bodies(ledger, "host.hook") == [
        {
            "host": "claude-code",
            "event": "PostToolUse",
            "outcome": "ok",
            "bytes_in": 300,
            "bytes_out": 120,
            "elapsed_ms": 7.2,
        },
        {
            "host": "claude-code",
            "event": "Stop",
            "outcome": "skip",
            "bytes_in": 100,
            "bytes_out": 0,
            "elapsed_ms": 1.0,
        },
    ]
    record.write_minute()
    assert len(bodies(ledger, "host.hook")) == 2


def test_a_minute_that_is_not_over_is_written_when_the_daemon_leaves_and_not_before():
    ledger = MemoryLedger()
    record = Recorder(ledger)
    record.started("hook")
    record.answered(header(), 40, 3.0, "ok")
    record.write_minute()
    assert bodies(ledger, "host.hook") == []
    record.stopped("idle")
    assert len(bodies(ledger, "host.hook")) == 1
    assert bodies(ledger, "host.daemon_start")[0]["cause"] == "hook"
    assert bodies(ledger, "host.daemon_stop")[0]["cause"] == "idle"


def test_names_that_are_made_up_fill_no_record():
    ledger = MemoryLedger()
    record = Recorder(ledger)
    for n in range(1000):
        record.answered(header(f"Event{n}", version=f"9.{n}"), 0, 1.0, "skip")
    record.write_minute(whole=False)
    assert len(bodies(ledger, "host.hook")) == recorder.MAX_KINDS
    assert len(record.counts()["other_clients"]) == recorder.MAX_VERSIONS
    assert record.counts()["answered"] == {"skip": 1000}


def test_settings_are_read_again_at_most_once_a_second(home, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(settings.time, "monotonic", lambda: now[0])
    held = Settings()
    assert not held.is_off()
    pausing.pause()
    now[0] += 0.9
    assert not held.is_off()
    now[0] += 0.1
    assert held.is_off()
    pausing.resume()
    now[0] += 1.0
    assert not held.is_off()


def test_settings_that_cannot_be_read_stay_as_they_were(home, monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(settings.time, "monotonic", lambda: now[0])
    held = Settings()
    before = held.config()
    monkeypatch.setattr(settings, "load", lambda **_: 1 // 0)
    now[0] += 1.0
    assert held.config() is before
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_limits_are_the_shipped_ones_and_leave_half_of_the_open_files(home, monkeypatch):
    assert Settings().limits()._replace(connections=0) == DEFAULTS._replace(connections=0)
    monkeypatch.setattr(settings.resource, "getrlimit", lambda which: (256, 256))
    assert Settings().limits().connections == 128


def test_the_log_is_three_files_of_a_mebibyte_closed_to_others(home):
    script = """
import os
from admit.hosts.daemon.log import Log, say
from admit.hosts.daemon.places import log_path
log = Log(log_path())
log.redirect()
say("first")
for n in range(40):
    print(n, "x" * 150_000, flush=True)
    os.write(2, b"y" * 50_000)
    log.rotate()
say("last")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    files = sorted((home / "state" / "admit").glob("daemon.log*"))
    assert [file.name for file in files] == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert all(file.stat().st_size <= log.MAX_BYTES + 250_000 for file in files)
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert files[0].read_text().endswith(" last\n")
    assert log_path() == str(files[0])


def test_a_log_that_cannot_be_opened_goes_nowhere(home):
    (home / "state").write_text("in the way")
    script = """
from admit.hosts.daemon.log import Log, say
from admit.hosts.daemon.places import log_path
log = Log(log_path())
log.redirect()
say("lost")
log.rotate()
print("lost too")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (home / "state").read_text() == "in the way"


def test_what_is_logged_of_an_error_names_the_versions(capsys):
    log.trace("in a test", ValueError("broken"))
    text = capsys.readouterr().err
    assert "in a test: admit " in text
    assert "Python 3." in text
    assert text.endswith("ValueError: broken\n")


def test_a_daemon_started_by_a_command_gets_no_settings_of_the_session_it_ran_in(home, monkeypatch):
    started = []

    class Ended:
        def __init__(self, command, **options):
            started.append(options["env"])

        def poll(self):
            return 1

    monkeypatch.setattr(control.subprocess, "Popen", Ended)
    for name in ("ADMIT_CONFIG", "ADMIT_OFF", "PYTHONPATH", "LC_ALL", "TMPDIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home))
    assert not control.start(str(home / "run" / "d.sock"))
    (env,) = started
    assert {"HOME", "PATH", "LC_ALL", "TMPDIR", "XDG_DATA_HOME"} <= set(env)
    assert not {"ADMIT_CONFIG", "ADMIT_OFF", "PYTHONPATH"} & set(env)


def test_a_daemon_that_holds_the_socket_and_is_silent_is_named_and_not_said_to_be_away(home, monkeypatch):
    path = socket_path()
    assert control.silent_holder(path) is None
    assert control.start(path)
    pid = control.status(path)["pid"]
    monkeypatch.setattr(control, "ask", partial(control.ask, timeout_s=0.3))
    os.kill(pid, signal.SIGSTOP)
    try:
        assert (control.status(path), control.silent_holder(path)) == (None, pid)
        for name in ("status", "start"):
            said = CliRunner().invoke(daemon_command, [name], standalone_mode=False)
            assert said.return_value == 1
            assert said.output.startswith(f"Process {pid} holds the socket and does not answer; ")
            assert "`admit daemon restart`" in said.output
            assert "not running" not in said.output
        (fault,) = host_checks.daemon(layers.load())
        assert (fault.text, fault.fix) == (
            f"Process {pid} holds the socket and does not answer.",
            "admit daemon restart",
        )
    finally:
        os.kill(pid, signal.SIGCONT)
        assert control.stop(path)
    assert control.silent_holder(path) is None
