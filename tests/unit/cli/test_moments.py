"""Times for people: a clock that was wrong breaks no table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from admit.cli.results import line
from admit.ledger.moments import local
from admit.outputs.model import OutputConfig, OutputResult


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_recorded_time_can_be_shown(ms):
    assert 1970 <= local(ms).year <= 9999


def test_an_ordinary_time_stays_as_it_is():
    assert local(1_767_225_600_000).timestamp() == 1_767_225_600


def test_while_paused_the_line_says_who_paused(monkeypatch):
    monkeypatch.setenv("ADMIT_OFF", "1")
    result = OutputResult(text="x", data=b"x", changed=False, how="exempt", reason="off")
    assert line(result, OutputConfig(), cut=True) == "shown whole: paused by ADMIT_OFF=1"
