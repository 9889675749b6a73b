"""Servers whose questions move each other are found, and no other."""

from __future__ import annotations

import pytest
from jevcompat.mock import MockConfig, Running

from admit.config.keys import shipped
from admit.judges.profiles import Profile, profile
from admit.judges.semantics import MOST_DIFFERENCE, REQUESTS, estimate, semantics


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


def settings(url: str, **more: object) -> dict[str, object]:
    own = {"backend": "systemone", "destination": url, "model": "jev-1.13.0", **more}
    return shipped() | {f"judge.profiles.mine.{name}": value for name, value in own.items()}


def mine(values: dict[str, object]) -> Profile:
    return profile("mine", values)


@pytest.mark.parametrize(
    ("fault", "variant"), [("id-leaks", "ids"), ("batch-leaks", "batch"), ("order-leaks", "order")]
)
def test_a_server_whose_answers_hang_on_what_must_not_matter_is_found(fault, variant):
    with Running(MockConfig(faults=frozenset({fault}))) as server:
        values = settings(server.url)
        seen = semantics(mine(values), values, "outputs")
    assert seen.reply is None
    assert {one.variant for one in seen.differences if one.found} == {variant}


def test_a_server_without_that_fault_passes_with_four_times_three_requests():
    config = MockConfig()
    with Running(config) as server:
        values = settings(server.url)
        seen = semantics(mine(values), values, "outputs")
    assert [one.variant for one in seen.differences] == ["same", "ids", "batch", "order"]
    assert all(one.most == 0 and not one.found for one in seen.differences)
    assert len(seen.calls) == config.requests == REQUESTS


def test_a_server_that_does_not_repeat_itself_is_told_from_one_that_leaks():
    with Running(MockConfig(noise=2.0)) as server:
        values = settings(server.url)
        same, *_ = semantics(mine(values), values, "outputs").differences
    assert same.variant == "same" and same.most > MOST_DIFFERENCE and same.found


def test_an_answer_that_cannot_be_used_ends_the_sends():
    with Running(MockConfig(faults=frozenset({"choice-sum"}))) as server:
        values = settings(server.url)
        seen = semantics(mine(values), values, "outputs")
    assert seen.differences == () and len(seen.calls) == 1
    assert seen.reply is not None and seen.reply.reason == "answer_defects"


def test_the_estimate_of_all_sends_is_no_less_than_what_the_server_counts():
    with Running() as server:
        values = settings(server.url, price_in=0.042, price_out=0.1)
        most = estimate(mine(values), values, "outputs")
        calls = semantics(mine(values), values, "outputs").calls
    assert most is not None and most.usd is not None
    assert sum(call.input_tokens or 0 for call in calls) <= most.input_tokens
    assert sum(call.cost_usd or 0 for call in calls) <= most.usd


def test_a_judge_that_sends_nothing_takes_nothing():
    assert estimate(profile("local"), shipped(), "outputs") is None
