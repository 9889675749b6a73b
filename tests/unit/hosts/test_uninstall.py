"""Taking Admit off: every settings file as before, and of the rest what was said yes to, and nothing else."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from admit.cli.frame import admit
from admit.config.keys import shipped
from admit.errors import SettingsError
from admit.hosts import uninstall
from admit.hosts.claude_code.init import FILE, plan_init
from admit.hosts.settings import record
from admit.hosts.settings.file import backups


@pytest.fixture
def home(place, monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    return place


def project(home, name):
    (home / name / ".git").mkdir(parents=True)
    return home / name


def connect(scope, cwd):
    plan_init(scope, values=shipped(), cwd=str(cwd)).apply()


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_file_that_an_init_wrote_is_found_wherever_it_is(home):
    app, other = project(home, "app"), project(home, "other")
    mine = put(home / ".claude" / FILE, '{"model":"opus"}')
    for scope, cwd in (("user", home), ("project", app), ("project", other)):
        connect(scope, cwd)
    changes, broken = uninstall.changes(str(home))
    assert [change.file.path for change in changes] == [
        str(mine),
        str(app / ".claude" / FILE),
        str(other / ".claude" / FILE),
    ]
    assert broken == ()
    for change in changes:
        change.apply()
    assert mine.read_text() == '{"model":"opus"}' and record.edited() == ()
    assert not (app / ".claude").exists() and not (other / ".claude").exists()
    assert uninstall.changes(str(home)) == ((), ())


def test_entries_that_no_list_knows_are_found_where_init_would_write(home):
    app = project(home, "app")
    connect("user", home)
    connect("project", app)
    (home / "state" / "admit" / "inits.json").unlink()
    changes, _ = uninstall.changes(str(app))
    assert {change.file.path for change in changes} == {
        str(home / ".claude" / FILE),
        str(app / ".claude" / FILE),
    }


def test_a_file_that_cannot_be_edited_is_named_and_left_alone(home):
    connect("user", home)
    file = home / ".claude" / FILE
    file.write_text(file.read_text() + "// odd")
    changes, ((path, why),) = uninstall.changes(str(home))
    assert changes == () and path == str(file) and "something after the end" in why


def test_what_is_kept_is_named_apart_and_deleted_apart(home):
    state, config, cache = (home / name / "admit" for name in ("state", "config", "cache"))
    put(state / "ledger.db")
    put(state / "ledger.db-wal")
    put(state / "ledger.db.damaged-1")
    put(state / "ledger.key")
    put(state / "spool" / "a.spool")
    put(state / "outputs" / "ab" / "o.txt", "12345")
    put(state / "daemon.log")
    put(config / "admit.toml")
    put(config / "keys" / "openai")
    put(cache / "vectors")
    theirs = [put(home / "state" / "other" / "file"), put(home / "config" / "other.toml")]
    file = put(home / ".claude" / FILE, "{}")
    connect("user", home)
    found = {one.what: one for one in uninstall.deletions(shipped(), [str(file)])}
    assert list(found) == [
        "the stored outputs",
        "the record",
        "logs, self-tests and other state",
        "your settings of Admit, keys and consent among them",
        "the caches",
        "backups of settings files",
    ]
    assert found["the stored outputs"].size_bytes == 5
    assert {os.path.basename(path) for path in found["the record"].paths} == {
        "ledger.db",
        "ledger.db-wal",
        "ledger.db.damaged-1",
        "ledger.key",
        "spool",
    }
    uninstall.delete(found["the record"])
    assert sorted(path.name for path in state.iterdir()) == ["daemon.log", "inits.json", "outputs"]
    for one in uninstall.deletions(shipped(), [str(file)]):
        uninstall.delete(one)
    assert not any(path.exists() for path in (state, config, cache)) and backups(str(file)) == []
    assert all(path.exists() for path in theirs) and file.exists()
    assert uninstall.deletions(shipped(), [str(file)]) == ()


def read_only(monkeypatch, folder):
    """Refuse to make or delete anything in a folder, as a read-only disk does."""
    real = {name: getattr(os, name) for name in ("open", "unlink", "mkdir")}

    def refusing(name):
        def call(path, *args, **options):
            writes = name != "open" or args[0] & os.O_CREAT
            if writes and isinstance(path, str) and Path(path).parent == folder:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
            return real[name](path, *args, **options)

        return call

    for name in real:
        monkeypatch.setattr(os, name, refusing(name))


def runs(*args):
    done = CliRunner().invoke(admit, args, standalone_mode=False)
    return done, done.return_value if done.exception is None else done.exception


def test_init_in_a_read_only_folder_is_one_sentence_and_lists_nothing(home, monkeypatch):
    file = put(home / ".claude" / FILE, "{}")
    read_only(monkeypatch, file.parent)
    _, error = runs("init", "claude-code", "--yes", "--no-selftest")
    assert isinstance(error, SettingsError) and str(error) == (
        f"{file}: cannot be written (Read-only file system); make {file.parent} writable for yourself, "
        "and run the command again"
    )
    assert file.read_text() == "{}" and record.edited() == ()


@pytest.mark.parametrize("before", ["{}", None])
def test_where_the_list_cannot_be_written_the_settings_are_as_before(home, monkeypatch, before):
    file = home / ".claude" / FILE
    if before:
        put(file, before)
    (home / "state" / "admit").mkdir(parents=True)
    read_only(monkeypatch, home / "state" / "admit")
    with pytest.raises(SettingsError, match=r"inits.json: cannot be written"):
        connect("user", home)
    assert file.read_text() == before if before else not file.parent.exists()


def test_uninstall_goes_on_with_the_rest_and_ends_with_2(home, monkeypatch):
    app = project(home, "app")
    mine = put(home / ".claude" / FILE, "{}")
    connect("user", home)
    connect("project", app)
    put(home / "cache" / "admit" / "vectors")
    monkeypatch.chdir(home)
    read_only(monkeypatch, mine.parent)
    done, code = runs("uninstall", "--yes")
    assert code == 2 and f"{mine}: cannot be written (Read-only file system); make" in done.stderr
    assert not (app / ".claude").exists() and not (home / "cache" / "admit").exists()
    assert [one.path for one in record.edited()] == [str(mine)] and backups(str(mine)) != []


def test_what_cannot_be_deleted_is_named_and_the_rest_is_deleted(home, monkeypatch):
    kept = put(home / "state" / "admit" / "daemon.log")
    put(home / "cache" / "admit" / "vectors")
    monkeypatch.chdir(home)
    read_only(monkeypatch, kept.parent)
    done, code = runs("uninstall", "--yes")
    assert code == 2 and f"{kept}: cannot be deleted (Read-only file system)" in done.stderr
    assert kept.exists() and not (home / "cache" / "admit").exists()


def test_what_the_daemon_leaves_beside_its_socket_goes_too(home, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home / "r"))
    monkeypatch.setattr("admit.hosts.uninstall.socket_path", lambda: str(home / "r" / "admit" / "d.sock"))
    for name in ("d.lock", "d.start"):
        put(home / "r" / "admit" / name)
    (one,) = uninstall.deletions(shipped(), [])
    assert one.what == "the daemon's lock and stamp" and len(one.paths) == 2
    uninstall.delete(one)
    assert not (home / "r" / "admit").exists() and (home / "r").exists()


def test_a_link_goes_and_what_it_leads_to_stays(home):
    kept = put(home / "elsewhere" / "precious")
    (home / "state" / "admit").mkdir(parents=True)
    os.symlink(kept.parent, home / "state" / "admit" / "outputs")
    os.symlink(kept.parent, home / "state" / "admit" / "selftest")
    for one in uninstall.deletions(shipped(), []):
        uninstall.delete(one)
    assert kept.exists() and not (home / "state" / "admit").exists()


def test_a_record_that_the_user_keeps_elsewhere_is_left_alone_and_named(home):
    elsewhere = put(home / "backup" / "ledger.db")
    values = {**shipped(), "ledger.path": str(elsewhere)}
    put(home / "state" / "admit" / "ledger.key")
    for one in uninstall.deletions(values, []):
        uninstall.delete(one)
    assert elsewhere.exists() and uninstall.left_alone(values) == (str(elsewhere),)
    assert uninstall.left_alone(shipped()) == ()


def test_the_list_survives_what_it_cannot_read(home):
    put(home / "state" / "admit" / "inits.json", json.dumps({"files": [{"host": "other", "path": "/x"}]}))
    assert uninstall.changes(str(home)) == ((), ())
