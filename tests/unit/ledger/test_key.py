"""The install key: made once, kept private, replaced when it is none."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from admit.ledger.key import KEY_BYTES, install_key, keyed, load_key, replace_key
from admit.ledger.places import places


def test_the_key_is_made_once_and_is_private(state):
    key = install_key()
    assert len(key) == KEY_BYTES
    assert install_key() == key
    assert os.stat(places().key).st_mode & 0o777 == 0o600
    assert sorted(os.listdir(state)) == ["ledger.key"]


def test_processes_that_make_it_at_once_agree():
    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: install_key(), range(64)))
    assert len(keys) == 1


def test_a_keyed_hash_is_the_first_128_bits_of_hmac_sha_256():
    # RFC 4231, test case 2.
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert keyed(b"Jefe", ["what do ya want for nothing?"]) == (f"hmac:{expected[:32]}",)


def test_a_damaged_key_is_replaced_and_said(state):
    first = install_key()
    with open(places().key, "wb") as file:
        file.write(b"short")
    found = load_key(places().key)
    assert len(found.key) == KEY_BYTES and found.key != first and found.kept
    assert "damaged" in found.finding
    assert load_key(places().key) == (found.key, True, "")


def test_a_symlink_is_no_key_and_nothing_is_written_through_it(state, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"k" * KEY_BYTES)
    state.mkdir(mode=0o700)
    (state / "ledger.key").symlink_to(target)
    found = load_key(places().key)
    assert found.key != b"k" * KEY_BYTES and not found.kept and "refused" in found.finding
    assert target.read_bytes() == b"k" * KEY_BYTES


def test_a_key_that_cannot_be_kept_serves_this_process_alone(state):
    state.write_text("a file where the folder should be")
    assert len(install_key()) == KEY_BYTES
    assert not load_key(places().key).kept


def test_a_new_key_takes_the_place_of_the_old_one():
    first = install_key()
    assert replace_key(places().key) == install_key() != first
