"""Where files go, whose they must be, and on which file systems."""

from __future__ import annotations

import os
import stat

import pytest

from admit.ledger.database import open_writer
from admit.ledger.places import (
    NotOurs,
    check_file,
    locked,
    mac_network_type,
    network_type,
    open_file,
    own_folder,
    places,
    read_all,
    write_all,
)

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /home rw - nfs4 server:/home rw
31 30 8:2 / /home/me/local rw - ext4 /dev/sdb1 rw
40 22 0:40 / /mnt/my\040share rw master:3 - cifs //host/share rw
41 22 0:41 / /mnt/odd\134name rw - fuse.sshfs host: rw
50 22 0:50 / /data rw - nfs4 a:/ rw
51 50 8:9 / /data rw - xfs /dev/sdc rw
60 22 0:60 / /both rw - ext4 /dev/sdd rw
61 60 0:61 / /both rw - 9p share rw
broken line
"""


def test_everything_lies_in_the_state_folder(state):
    place = places()
    assert place.state == str(state)
    assert place.database == str(state / "ledger.db")
    assert place.spool == str(state / "spool")
    assert place.outputs == str(state / "outputs")
    assert place.key == str(state / "ledger.key")


def test_a_path_that_is_not_absolute_is_no_state_home(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/me")
    assert places().state == "/home/me/.local/state/admit"


def test_ledger_path_moves_the_database_alone(state, tmp_path):
    moved = places({"ledger.path": str(tmp_path / "x.db")})
    assert moved.database == str(tmp_path / "x.db")
    assert moved.spool == str(state / "spool")
    assert places({"ledger.path": str(tmp_path)}).database == str(tmp_path / "ledger.db")
    assert places({"ledger.path": None}).database == str(state / "ledger.db")


def test_a_folder_is_made_private_with_its_parents(tmp_path):
    path = tmp_path / "a" / "b"
    own_folder(str(path))
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_folder_open_to_others_is_closed_to_them(tmp_path):
    path = tmp_path / "open"
    path.mkdir(mode=0o755)
    own_folder(str(path))
    assert path.stat().st_mode & 0o777 == 0o700


def test_a_file_or_a_symlink_is_no_folder_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(NotOurs):
            own_folder(str(tmp_path / name))


def test_another_users_files_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("x")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    for refused in (
        lambda: check_file(str(path)),
        lambda: read_all(str(path)),
        lambda: own_folder(str(tmp_path)),
    ):
        with pytest.raises(NotOurs):
            refused()


def test_a_symlink_is_never_opened(tmp_path):
    (tmp_path / "target").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(NotOurs):
        read_all(str(tmp_path / "link"))
    with pytest.raises(NotOurs):
        check_file(str(tmp_path / "link"))
    assert check_file(str(tmp_path / "nothing")) is None


def test_a_new_file_is_private_and_is_written_whole(tmp_path):
    path = str(tmp_path / "new")
    fd = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    write_all(fd, b"x" * 100_000)
    os.close(fd)
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert read_all(path) == b"x" * 100_000


def test_a_lock_is_held_by_one_at_a_time(tmp_path):
    path = str(tmp_path / "lock")
    with locked(path, 0) as first, locked(path, 0) as second:
        assert (first, second) == (True, False)
    with locked(path, 0) as again:
        assert again


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("/var/lib", None),
        ("/home/you/.local/state/admit", "nfs4"),
        ("/home/me/local/state", None),
        ("/homeless", None),
        ("/mnt/my share/admit", "cifs"),
        ("/mnt/my", None),
        ("/mnt/odd\\name/x", "fuse.sshfs"),
        ("/data/x", None),
        ("/both", "9p"),
    ],
)
def test_the_longest_mount_point_counts_and_of_equals_the_last(path, type):
    assert network_type(path, MOUNTS) == type


def test_on_macos_the_list_of_mount_says_it():
    listing = (
        "/dev/disk1s1 on / (apfs, local)\n"
        "server:/x on /Volumes/my share (2) (nfs, nodev)\n"
        "//me@host/s on /Volumes/smb (smbfs)\n"
    )
    assert mac_network_type("/Users/me", listing) is None
    assert mac_network_type("/Volumes/my share (2)/admit", listing) == "nfs"
    assert mac_network_type("/Volumes/smb/admit", listing) == "smbfs"


def test_a_folder_that_the_user_named_keeps_its_mode_and_one_of_ours_is_closed(state, tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    open_writer(str(home / "ledger.db"), 100).close()
    assert stat.S_IMODE(home.stat().st_mode) == 0o755
    assert stat.S_IMODE((home / "ledger.db").stat().st_mode) == 0o600
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o755)
    open_writer(str(state / "ledger.db"), 100).close()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
