"""Keys of judges: a file that is this user's alone, or for commands a named variable; shown nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.errors import UsageError
from admit.judges.keyfile import MOST_BYTES, Keys, needs_key
from admit.judges.profiles import Profile

KEY = "sk-very-secret-0123456789"
JEV = Profile("jev", "systemone", "m", {}, "https://api.example.com", key_variable="SOME_API_KEY")


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(str(tmp_path / "keys"))


def put(keys: Keys, data: bytes, mode: int = 0o600) -> Path:
    path = Path(keys.path("jev"))
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def test_a_stored_key_is_read_and_forgotten(keys):
    assert keys.read(JEV, variables=False) is None
    path = Path(keys.store("jev", f"  {KEY}\n"))
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert keys.read(JEV, variables=False) == KEY
    assert keys.finding(JEV) is None
    assert (keys.forget("jev"), keys.forget("jev")) == (True, False)
    assert keys.read(JEV, variables=False) is None and keys.finding(JEV) is None


def test_storing_again_replaces_the_key_and_leaves_no_rest(keys):
    keys.store("jev", "one")
    keys.store("jev", "two")
    assert keys.read(JEV, variables=False) == "two"
    assert os.listdir(keys.folder) == ["jev"]


def test_each_profile_has_a_key_of_its_own(keys):
    keys.store("jev", KEY)
    assert keys.read(JEV._replace(name="openrouter-jev"), variables=False) is None


@pytest.mark.parametrize("data", [b"%s", b"%s\n", b"%s\r\n", b" \t%s \n\n"])
def test_white_space_around_a_key_is_no_part_of_it(keys, data):
    put(keys, data % KEY.encode())
    assert keys.read(JEV, variables=False) == KEY


BAD = {
    "nothing": b"",
    "white space": b" \n\t\n",
    "two lines": KEY.encode() + b"\nsecond",
    "a carriage return": KEY.encode() + b"\rX-Other: 1",
    "a header of its own": KEY.encode() + b"\r\nX-Other: 1",
    "a space": b"Bearer " + KEY.encode(),
    "a control character": KEY.encode() + b"\x1b[0m",
    "a zero": KEY.encode() + b"\0x",
    "a byte order mark": b"\xef\xbb\xbf" + KEY.encode(),
    "not ASCII": KEY.encode() + "é".encode(),
    "too much": b"a" * (MOST_BYTES + 1),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_key_is_refused_with_a_finding_that_does_not_show_it(keys, what):
    put(keys, BAD[what])
    assert keys.read(JEV, variables=True) is None
    finding = keys.finding(JEV)
    assert finding is not None
    assert finding.file == keys.path("jev") and finding.fix
    assert "secret" not in repr(finding) and "aaaa" not in repr(finding)


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_key_is_not_stored_and_not_shown(keys, what):
    keys.store("jev", KEY)
    with pytest.raises(UsageError, match="nothing was stored") as fault:
        keys.store("jev", BAD[what].decode())
    assert "secret" not in str(fault.value) and "aaaa" not in str(fault.value)
    assert keys.read(JEV, variables=False) == KEY


def test_a_key_of_several_lines_is_called_that(keys):
    with pytest.raises(UsageError, match="has more than one line"):
        keys.store("jev", "one\ntwo")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o644, 0o700 | 0o001])
def test_a_file_that_is_open_to_others_is_refused(keys, mode):
    put(keys, KEY.encode(), mode)
    assert keys.read(JEV, variables=False) is None
    finding = keys.finding(JEV)
    assert finding is not None and finding.fix == f"chmod 600 {keys.path('jev')}"


def test_a_link_is_refused(keys, tmp_path):
    real = put(keys, KEY.encode())
    real.rename(tmp_path / "elsewhere")
    real.symlink_to(tmp_path / "elsewhere")
    assert keys.read(JEV, variables=False) is None
    finding = keys.finding(JEV)
    assert finding is not None and "link" in finding.text


def test_a_pipe_and_a_folder_are_refused_at_once(keys):
    Path(keys.folder).mkdir()
    os.mkfifo(keys.path("jev"), 0o600)
    assert keys.read(JEV, variables=False) is None
    os.unlink(keys.path("jev"))
    os.mkdir(keys.path("jev"), 0o700)
    assert keys.read(JEV, variables=False) is None and keys.finding(JEV) is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of two users")
def test_another_users_file_is_refused(keys):
    os.chown(put(keys, KEY.encode()), 65534, 65534)
    assert keys.read(JEV, variables=False) is None


def test_a_variable_counts_in_commands_alone_and_only_the_one_that_is_named(keys, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", f"{KEY}\n")
    assert keys.read(JEV, variables=True) == KEY
    assert keys.read(JEV, variables=False) is None
    assert keys.read(JEV._replace(key_variable=None), variables=True) is None
    assert keys.read(JEV._replace(key_variable="OTHER"), variables=True) is None


def test_a_file_comes_before_a_variable_and_a_refused_one_before_it_too(keys, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of-the-variable")
    keys.store("jev", KEY)
    assert keys.read(JEV, variables=True) == KEY
    os.chmod(keys.path("jev"), 0o644)
    assert keys.read(JEV, variables=True) is None


def test_a_variable_that_holds_no_key_gives_none(keys, monkeypatch):
    for value in ("", " ", "two words", "a\nb"):
        monkeypatch.setenv("SOME_API_KEY", value)
        assert keys.read(JEV, variables=True) is None


@pytest.mark.parametrize("name", ["", ".", "..", "../jev", "a/b", "/etc/passwd", "jev\0", "jé", "a b"])
def test_a_name_that_leads_elsewhere_is_refused(keys, name):
    for action in (lambda: keys.store(name, KEY), lambda: keys.forget(name), lambda: keys.path(name)):
        with pytest.raises(UsageError):
            action()
    assert keys.read(JEV._replace(name=name), variables=True) is None


def test_nothing_that_holds_keys_shows_one(keys):
    keys.store("jev", KEY)
    keys.read(JEV, variables=False)
    assert KEY not in repr(keys) + repr(vars(keys))


@given(st.binary(max_size=60))
def test_whatever_a_file_holds_the_answer_is_a_header_safe_key_or_none(tmp_path_factory, data):
    keys = Keys(str(tmp_path_factory.mktemp("keys")))
    put(keys, data)
    key = keys.read(JEV, variables=False)
    assert (key is None) == (keys.finding(JEV) is not None)
    assert key is None or (key.isascii() and key.isprintable() and " " not in key and key)


@pytest.mark.parametrize(
    ("destination", "needed"),
    [
        ("https://api.example.com", True),
        ("https://openrouter.ai", True),
        ("https://8.8.8.8", True),
        ("https://[2606:4700::1111]", True),
        ("http://127.0.0.1:11434/v1", False),
        ("http://localhost:8000", False),
        ("http://192.168.1.7:8000", False),
        ("http://[fd00::1]:8000", False),
        ("http://gpu-box:8000", False),
        ("http://gpu.lan:8000", False),
        ("", False),
    ],
)
def test_every_public_server_needs_a_key_and_no_other(destination, needed):
    assert needs_key(JEV._replace(destination=destination)) is needed
