"""The settings file on the disk: mode, link, owner, backups, and other programs that write it too."""

from __future__ import annotations

import os
import stat

import pytest

from admit.errors import SettingsError
from admit.hosts.settings import file as files
from admit.hosts.settings import record
from admit.hosts.settings.edit import Undo
from admit.hosts.settings.file import BACKUPS_KEPT, backups, read, write


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "settings.json")


def put(path, data, mode=0o640):
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def test_mode_and_bytes_stay_and_the_old_file_is_kept_beside_it(path):
    put(path, b"\xef\xbb\xbf{\r\n}", 0o640)
    backup = write(read(path), "\ufeff{\r\n1}")
    assert bytes_of(path) == b"\xef\xbb\xbf{\r\n1}"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert backup is not None and bytes_of(backup) == b"\xef\xbb\xbf{\r\n}"
    assert os.path.basename(backup).startswith("settings.json.admit-backup-2")
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600


def test_the_newest_five_backups_stay(path):
    put(path, b"0")
    for k in range(1, 9):
        write(read(path), str(k))
    assert [bytes_of(one) for one in backups(path)] == [b"3", b"4", b"5", b"6", b"7"]
    assert len(backups(path)) == BACKUPS_KEPT


@pytest.mark.parametrize("scope, mode, folder", [("user", 0o600, 0o700), ("project", 0o644, 0o755)])
def test_a_new_file_is_for_its_owner_alone_unless_a_project_holds_it(tmp_path, scope, mode, folder):
    path = str(tmp_path / "new" / "settings.json")
    assert read(path, scope).text is None
    assert write(read(path, scope), "{}") is None
    assert stat.S_IMODE(os.stat(path).st_mode) == mode
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == folder
    assert os.listdir(os.path.dirname(path)) == ["settings.json"]


def test_a_link_is_followed_once_and_stays_a_link(tmp_path, path):
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    put(real, b"{}")
    os.symlink("dotfiles/claude.json", path)
    found = read(path)
    assert found.is_link and found.target == str(real) and found.text == "{}"
    write(found, "{1}")
    assert os.path.islink(path) and bytes_of(real) == b"{1}"
    assert [os.path.dirname(one) for one in backups(path)] == [str(tmp_path)]
    assert os.listdir(real.parent) == ["claude.json"]


def test_a_link_to_a_file_that_is_not_there_makes_it_there(tmp_path, path):
    os.symlink(tmp_path / "later.json", path)
    assert read(path).text is None
    write(read(path), "{}")
    assert os.path.islink(path) and bytes_of(tmp_path / "later.json") == b"{}"


def test_what_cannot_be_edited_safely_is_refused(tmp_path, path):
    put(tmp_path / "real", b"{}")
    os.symlink(tmp_path / "real", tmp_path / "second")
    os.symlink(tmp_path / "second", path)
    with pytest.raises(SettingsError, match="a link behind a link"):
        read(path)
    os.unlink(path)
    os.mkdir(path)
    with pytest.raises(SettingsError, match="not a regular file"):
        read(path)
    os.rmdir(path)
    os.mkfifo(path)
    with pytest.raises(SettingsError, match="not a regular file"):
        read(path)
    os.unlink(path)
    put(path, b'{"a": 1,\n "b": "\xff"}')
    with pytest.raises(SettingsError, match=r"settings\.json:2:8: is not UTF-8"):
        read(path)
    put(path, b" " * (files.MOST_BYTES + 1))
    with pytest.raises(SettingsError, match="larger than 8,388,608 bytes"):
        read(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_refused(path):
    put(path, b"{}")
    os.chown(path, 12345, -1)
    with pytest.raises(SettingsError, match="belongs to another user"):
        read(path)


def test_a_file_that_another_program_wrote_meanwhile_is_left_to_it(tmp_path, path):
    put(path, b"{}")
    found = read(path)
    put(path, b'{"theirs": 1}')
    with pytest.raises(SettingsError, match="changed by another program"):
        write(found, "{ours}")
    assert bytes_of(path) == b'{"theirs": 1}' and backups(path) == []
    gone = read(path)
    os.unlink(path)
    with pytest.raises(SettingsError, match="changed by another program"):
        write(gone, "{ours}")
    assert os.listdir(tmp_path) == []


def test_where_the_new_file_cannot_take_the_place_the_old_one_stays(tmp_path, path, monkeypatch):
    put(path, b"{}")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(SettingsError, match=r"No space left on device.; make room there"):
        write(read(path), "{1}")
    assert bytes_of(path) == b"{}"
    assert [name for name in os.listdir(tmp_path) if name.endswith(".admit-new")] == []


def test_where_the_backup_cannot_be_written_nothing_is(path, monkeypatch):
    put(path, b"{}")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(SettingsError, match=r"No space left on device.; make room there"):
        write(read(path), "{1}")
    assert bytes_of(path) == b"{}" and backups(path) == []


def test_the_list_of_edited_files_gives_back_what_it_was_given(place):
    one = record.Edited("claude-code", "/a/settings.json", "user", Undo(("/hooks",), {"": "{ }"}), True, True)
    two = record.Edited("claude-code", "/b/settings.json", "project", None)
    record.keep(two)
    record.keep(one._replace(made_file=False))
    record.keep(one)
    assert record.edited() == (two, one)
    assert record.of("claude-code", "/a/settings.json") == one
    assert record.of("other", "/a/settings.json") is None
    file = place / "state" / "admit" / "inits.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    record.drop("claude-code", "/b/settings.json")
    assert record.edited() == (one,)
    record.drop("claude-code", "/a/settings.json")
    assert not file.exists()


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"files": 1}', '{"files": [1, {}, {"host": 1, "path": "/a", "scope": "user"}]}', "[" * 9999],
)
def test_a_list_that_cannot_be_read_is_empty(place, text):
    folder = place / "state" / "admit"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "inits.json").write_text(text)
    assert record.edited() == ()
