"""Making and reading the install key, with every file operation failing in turn."""

from __future__ import annotations

import errno

import pytest
from ledger_faults import FaultyFiles

from admit.ledger.key import KEY_BYTES, load_key


@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
@pytest.mark.parametrize("present", [False, True], ids=["first use", "later use"])
def test_a_key_is_whole_and_the_same_ever_after_or_said_to_be_of_this_process_alone(
    tmp_path, for_ever, present
):
    def path(name: str) -> str:
        key = str(tmp_path / name / "admit" / "ledger.key")
        if present:
            load_key(key)
        return key

    counted = path("count")
    files = FaultyFiles()
    load_key(counted, files)
    for fail_at in range(1, files.done + 1):
        key = path(f"{fail_at}")
        faulty = FaultyFiles(fail_at, for_ever=for_ever, code=errno.ENOSPC)
        found = load_key(key, faulty)
        assert faulty.failed and len(found.key) == KEY_BYTES
        later = load_key(key)
        assert later.kept and len(later.key) == KEY_BYTES
        if found.kept:
            assert later.key == found.key
        else:
            assert found.finding
