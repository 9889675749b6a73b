"""A destination that fails is left alone, in every process; then one call tries it again."""

import pytest

from admit.core.events import undeclared
from admit.core.reasons import BEFORE_SENDING
from admit.judges.cooldown import PROBE_S
from admit.judges.limits import Ticket

from .limited import NOON, A, B, Wall, fail, limits, refused, reserve, settle, ticket


def cooled(cause, seconds=60):
    """The note of a cool-down that begins at noon."""
    return (("judge.cooldown", {"destination": A, "until_s": int(NOON) + seconds, "cause": cause}),)


def test_three_failures_in_a_row_begin_a_cool_down_of_one_destination(tmp_path):
    of = limits(tmp_path)
    assert [fail(of), fail(of, reason="answer_not_json", sent="yes"), fail(of, reason="transport")] == [
        (),
        (),
        cooled("transport"),
    ]
    assert refused(of) == "cooldown"
    assert refused(of, B) is None
    assert undeclared(*cooled("transport")[0]) == ()


def test_a_success_between_failures_begins_the_count_anew(tmp_path):
    of = limits(tmp_path)
    for _ in range(4):
        fail(of)
        fail(of)
        settle(of, ticket(of))
    assert refused(of) is None


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_one_refusal_of_key_credit_or_name_is_enough(tmp_path, status):
    of = limits(tmp_path)
    reason = f"provider_{status}"
    assert fail(of, reason=reason, status=status, sent="yes") == cooled(reason)
    assert refused(of) == "cooldown"


@pytest.mark.parametrize("reason", [*BEFORE_SENDING, "provider_413"])
def test_what_says_nothing_about_the_destination_does_not_count(tmp_path, reason):
    of = limits(tmp_path, cooldown_failures=1)
    for _ in range(3):
        assert fail(of, reason=reason) == ()
    assert refused(of) is None


@pytest.mark.parametrize(
    "reason", ["deadline", "connect", "tls", "dns", "redirect", "transport", "command_exit", "agent_error"]
)
def test_a_failure_of_the_way_there_counts(tmp_path, reason):
    assert fail(limits(tmp_path, cooldown_failures=1), reason=reason) == cooled(reason)


def test_a_cool_down_is_that_of_every_process(tmp_path):
    fail(limits(tmp_path, cooldown_failures=1))
    assert refused(limits(tmp_path)) == "cooldown"


def test_after_a_cool_down_exactly_one_call_tries(tmp_path):
    wall = Wall()
    one, other = (limits(tmp_path, wall, cooldown_failures=1) for _ in range(2))
    fail(one)
    wall.now = NOON + 59.9
    assert refused(one) == "cooldown"
    wall.now = NOON + 60
    probe = ticket(one)
    assert probe.probe
    assert [refused(one), refused(other)] == ["cooldown", "cooldown"]
    assert settle(one, probe) == ()
    first = ticket(other)
    assert not first.probe
    assert refused(one) is None


def test_a_try_that_fails_begins_the_next_cool_down_alone(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall)
    for _ in range(3):
        fail(of)
    wall.now = NOON + 60
    assert fail(of) == cooled("deadline", 120)
    wall.now = NOON + 119
    assert refused(of) == "cooldown"
    wall.now = NOON + 120
    assert ticket(of).probe


def test_a_try_that_learned_nothing_leaves_the_next_one_to_try(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=1)
    fail(of)
    wall.now = NOON + 60
    fail(of, reason="provider_413", status=413)
    assert ticket(of).probe


def test_a_try_that_never_comes_back_does_not_keep_the_destination_for_ever(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=1)
    fail(of)
    wall.now = NOON + 60
    assert ticket(of).probe
    wall.now += PROBE_S - 1
    assert refused(of) == "cooldown"
    wall.now += 1
    assert ticket(of).probe


def test_a_try_that_no_cap_allows_is_not_taken(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=1)
    fail(of)
    wall.now = NOON + 60
    assert refused(of, usd=2.0) == "budget_usd"
    assert ticket(of).probe


@pytest.mark.parametrize(
    ("asked", "seconds"), [(5, 5), (0.5, 0), (599, 599), (601, 600), (1e12, 600), (float("inf"), 600)]
)
def test_a_time_that_the_server_asks_for_is_honoured_up_to_ten_minutes(tmp_path, asked, seconds):
    of = limits(tmp_path)
    note = fail(of, reason="provider_429", status=429, sent="yes", retry_after_s=asked)
    assert note == cooled("provider_429", seconds)


@pytest.mark.parametrize("asked", [None, 0, 0.0, -3, float("nan")])
def test_without_such_a_time_the_default_holds_and_never_nothing(tmp_path, asked):
    of = limits(tmp_path, cooldown_failures=2)
    assert fail(of, reason="provider_429", status=429, retry_after_s=asked) == ()
    assert fail(of, reason="provider_429", status=429, retry_after_s=asked) == cooled("provider_429")


def test_calls_that_were_on_their_way_say_nothing_more_and_shorten_nothing(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=1)
    late = [ticket(of, usd=0.0) for _ in range(3)]
    fail(of, retry_after_s=300)
    assert settle(of, late[0], reason="deadline", sent="unknown", status=None) == ()
    assert settle(of, late[1], reason="provider_429", status=429, retry_after_s=1) == ()
    wall.now = NOON + 299
    assert refused(of) == "cooldown"
    assert settle(of, late[2], reason="provider_429", status=429, retry_after_s=30) == ()
    wall.now = NOON + 328
    assert refused(of) == "cooldown"
    wall.now = NOON + 329
    assert ticket(of).probe


def test_a_clock_that_was_set_back_ends_a_cool_down(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=1)
    fail(of)
    wall.now = NOON - 10 * 86_400
    assert ticket(of).probe


def test_a_cool_down_is_said_before_a_cap(tmp_path):
    of = limits(tmp_path, cooldown_failures=1, day_requests=1)
    fail(of)
    assert refused(of) == "cooldown"


def test_the_settings_say_how_many_failures_and_how_long(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, cooldown_failures=5, cooldown_s=7)
    assert [bool(fail(of)) for _ in range(5)] == [False] * 4 + [True]
    wall.now = NOON + 7
    assert isinstance(reserve(of), Ticket)
