"""What an agent sees of six outputs, byte for byte; `ADMIT_WRITE_GOLDEN=1` writes it anew."""

import os
from pathlib import Path

import pytest

from admit.ledger.memory import MemoryOutputs
from admit.outputs.gate import OutputGate
from admit.outputs.model import OutputConfig, RawOutput, Task

HERE = Path(__file__).parent

CASES = {
    "tests_fail": (1, "make the rounding of invoices right", "pytest -v tests/unit"),
    "make_check": (2, "", "make check"),
    "access_log": (0, "users say that the shop hangs since the morning", "tail -n 421 access.log"),
    "git_log": (0, "when did we change how prices are rounded", "git log --stat -n 60"),
    "image_build": (1, "", "docker build ."),
    "services_json": (0, "which service does not run, and why", "curl -s http://shop/api/services"),
}
MUST_HOLD = {
    "tests_fail": ("ROUND_HALF_EVEN", "FAILED tests/unit/test_prices.py", "2 failed, 237 passed"),
    "make_check": (
        "reserve.go:57:2",
        "got [b a c], want [a b c]",
        "FAIL\\texample.com/shop/orders",
        "84 passed",
    ),
    "access_log": ("worker_connections 1024 -> 16",),
    "git_log": ("Round prices half up in invoices and mails",),
    "image_build": ('"roundHalfUp" is not exported', "ERROR: failed to solve"),
    "services_json": ("ImagePullBackOff", "tag 4.3.0-rc1 is not in the registry"),
}


def seen(name: str) -> bytes:
    exit_code, task, command = CASES[name]
    gate = OutputGate(OutputConfig(), store=MemoryOutputs(), key=b"golden".ljust(32))
    raw = (HERE / f"{name}.txt").read_bytes()
    return gate.admit(RawOutput(raw, exit_code, "bash", command), Task(task, command=command)).data


@pytest.mark.parametrize("name", CASES)
def test_what_an_agent_sees_of_an_output_has_not_changed(name):
    file = HERE / f"{name}.seen.txt"
    if os.environ.get("ADMIT_WRITE_GOLDEN"):
        file.write_bytes(seen(name))
    assert seen(name) == file.read_bytes(), "if that is meant: ADMIT_WRITE_GOLDEN=1 pytest tests/golden"


@pytest.mark.parametrize("name", CASES)
def test_what_an_agent_needs_of_an_output_is_in_what_it_sees(name):
    text = seen(name).decode()
    assert [words for words in MUST_HOLD[name] if words.replace("\\t", "\t") not in text] == []
