"""Slots, caps and the settling of what was reserved."""

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admit.config.keys import shipped
from admit.core.events import undeclared
from admit.judges.limits import Estimate, Limits, Refusal, Ticket, caps_of, limits_of

from .limited import NOON, WIDE, A, B, Wall, limits, refused, reserve, settle, ticket


def test_a_slot_is_given_as_often_as_there_are_slots_for_each_destination(tmp_path):
    of = limits(tmp_path, slots=2)
    assert [of.take_slot(A, 0) for _ in range(3)] == [True, True, False]
    assert of.take_slot(B, 0)
    of.give_slot(A)
    assert [of.take_slot(A, 0), of.take_slot(A, 0)] == [True, False]


def test_a_slot_that_comes_free_goes_to_who_waits(tmp_path):
    of = limits(tmp_path, slots=1)
    assert of.take_slot(A, 0)
    taken = []
    waiter = threading.Thread(target=lambda: taken.append(of.take_slot(A, 30)))
    waiter.start()
    of.give_slot(A)
    waiter.join(30)
    assert taken == [True]
    assert not of.take_slot(A, 0)


def test_a_slot_given_back_too_often_makes_no_second_one(tmp_path):
    of = limits(tmp_path, slots=1)
    of.give_slot(A)
    assert [of.take_slot(A, 0), of.take_slot(A, -1)] == [True, False]


def test_many_threads_never_hold_more_slots_than_there_are(tmp_path):
    of = limits(tmp_path, slots=3)
    held, most, lock = [0], [0], threading.Lock()

    def work():
        for _ in range(50):
            assert of.take_slot(A, 30)
            with lock:
                held[0] += 1
                most[0] = max(most[0], held[0])
            with lock:
                held[0] -= 1
            of.give_slot(A)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert held == [0] and 1 <= most[0] <= 3


def test_no_file_is_made_before_the_first_reservation(tmp_path):
    of = limits(tmp_path / "state")
    of.take_slot(A, 0)
    of.give_slot(A)
    assert not (tmp_path / "state").exists()
    assert refused(of) is None
    assert (tmp_path / "state" / "limits.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("caps", "reason", "note"),
    [
        ({"session_requests": 2}, "budget_requests", {"cap": "session.requests", "used": 2, "limit": 2}),
        ({"day_requests": 2}, "budget_requests", {"cap": "day.requests", "used": 2, "limit": 2}),
        ({"day_input_tokens": 299}, "budget_tokens", {"cap": "day.input_tokens", "used": 200, "limit": 299}),
        ({"day_usd": 0.0029}, "budget_usd", {"cap": "day.usd", "used": 0.002, "limit": 0.0029}),
    ],
)
def test_a_request_over_a_cap_is_refused_with_what_was_used(tmp_path, caps, reason, note):
    of = limits(tmp_path, **caps)
    assert [refused(of), refused(of)] == [None, None]
    assert reserve(of) == Refusal(reason, (("judge.budget", note),))
    assert undeclared("judge.budget", note) == ()


def test_a_request_that_fills_a_cap_to_the_last_is_let_through(tmp_path):
    of = limits(tmp_path, day_requests=1, session_requests=1, day_input_tokens=100, day_usd=0.001)
    assert refused(of) is None


def test_a_cap_of_nothing_lets_nothing_through(tmp_path):
    assert refused(limits(tmp_path, day_requests=0)) == "budget_requests"
    assert refused(limits(tmp_path, session_requests=0)) == "budget_requests"
    assert refused(limits(tmp_path, day_usd=0.0)) == "budget_usd"
    assert refused(limits(tmp_path, day_usd=0.0), usd=0.0) is None


def test_a_session_has_a_cap_of_its_own_over_all_destinations(tmp_path):
    of = limits(tmp_path, session_requests=1)
    assert refused(of, A, session="s") is None
    assert refused(of, B, session="s") == "budget_requests"
    assert refused(of, A, session="t") is None
    assert refused(of, A, session=None) is None


def test_a_destination_without_prices_obeys_the_other_caps_alone(tmp_path):
    of = limits(tmp_path, day_usd=0.0, day_requests=2)
    assert [refused(of, usd=None) for _ in range(3)] == [None, None, "budget_requests"]


def test_a_new_utc_day_has_new_caps_and_a_session_has_not(tmp_path):
    wall = Wall()
    of = limits(tmp_path, wall, day_requests=1, session_requests=2)
    assert [refused(of), refused(of)] == [None, "budget_requests"]
    wall.now = NOON + 43_199
    assert refused(of) == "budget_requests"
    wall.now = NOON + 43_200
    assert refused(of) is None
    wall.now += 86_400
    assert refused(of) == "budget_requests"


def test_what_a_call_really_took_takes_the_place_of_its_reservation(tmp_path):
    of = limits(tmp_path, day_input_tokens=150, day_usd=0.0015)
    settle(of, ticket(of), input_tokens=10, usd=0.0001)
    settle(of, ticket(of), input_tokens=100, usd=0.0012)
    assert refused(of, tokens=40, usd=0.0002) is None
    assert refused(of, tokens=1, usd=0.0) == "budget_tokens"


def test_a_call_that_took_more_than_its_estimate_counts_whole(tmp_path):
    of = limits(tmp_path, day_usd=1.0)
    settle(of, ticket(of, usd=0.1), usd=0.95)
    assert refused(of, usd=0.06) == "budget_usd"


def test_a_cost_that_a_provider_names_counts_also_where_no_price_was_known(tmp_path):
    of = limits(tmp_path, day_usd=1.0)
    settle(of, ticket(of, usd=None), usd=0.9)
    assert refused(of, usd=0.2) == "budget_usd"


@pytest.mark.parametrize("usd", [None, float("nan"), -1.0, float("inf"), 1e300])
@pytest.mark.parametrize("tokens", [None, -5, 10**40])
def test_of_an_unknown_or_senseless_figure_the_reservation_stays(tmp_path, usd, tokens):
    of = limits(tmp_path, day_input_tokens=100, day_usd=0.001)
    assert settle(of, ticket(of), input_tokens=tokens, usd=usd) == ()
    assert refused(of, tokens=0, usd=0.0001) == "budget_usd"
    assert refused(of, tokens=1, usd=0.0) == "budget_tokens"


def test_what_was_not_sent_is_given_back_whole(tmp_path):
    of = limits(tmp_path, day_requests=1, session_requests=1, day_input_tokens=100, day_usd=0.001)
    for reason in ("connect", "dns"):
        settle(of, ticket(of), reason=reason, sent="no", status=None)
    assert refused(of) is None


@pytest.mark.parametrize("status", [400, 413, 422, 429])
def test_of_a_refused_request_tokens_and_cost_are_given_back(tmp_path, status):
    of = limits(tmp_path, day_requests=2, day_input_tokens=100, day_usd=0.001)
    settle(of, ticket(of), reason=f"provider_{status}", status=status, input_tokens=7, usd=0.5)
    assert refused(of) is None
    assert refused(of, tokens=0, usd=0.0) == "budget_requests"


@pytest.mark.parametrize("status", [408, 500, 529, None])
def test_a_time_out_and_a_server_error_may_have_cost(tmp_path, status):
    of = limits(tmp_path, day_usd=0.001)
    settle(of, ticket(of), reason="deadline", sent="unknown", status=status)
    assert refused(of) == "budget_usd"


def test_a_reservation_is_settled_once(tmp_path):
    of = limits(tmp_path, day_requests=2)
    first = ticket(of)
    for _ in range(3):
        settle(of, first, reason="connect", sent="no", status=None)
    assert [refused(of, B) for _ in range(3)] == [None, None, "budget_requests"]


def test_a_reservation_that_is_never_settled_counts(tmp_path):
    first = limits(tmp_path, day_requests=1)
    ticket(first)
    assert refused(limits(tmp_path, day_requests=1)) == "budget_requests"


def test_the_database_holds_no_session_id(tmp_path):
    of = limits(tmp_path)
    ticket(of, session="3b1f-very-own-session")
    assert b"very-own" not in (tmp_path / "limits.db").read_bytes()


def test_rows_of_long_ago_go_at_the_first_request_of_a_day(tmp_path):
    import sqlite3

    wall = Wall()
    of = limits(tmp_path, wall)
    for day in range(40):
        wall.now = NOON + day * 86_400
        ticket(of, session=f"s{day}")
    con = sqlite3.connect(tmp_path / "limits.db")
    counts = [con.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("spend", "reserved")]
    con.close()
    assert counts == [66, 33]


def test_one_process_has_one_limits_for_the_same_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    values = shipped()
    assert limits_of(values) is limits_of(dict(values)) is limits_of({})
    assert limits_of({**values, "limits.slots": 1}) is not limits_of(values)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert limits_of(values) is not None
    assert list(tmp_path.iterdir()) == []


def test_every_cap_is_the_setting_of_its_name():
    assert caps_of(shipped()) == WIDE
    names = [name for name in shipped() if name.startswith("limits.")]
    assert len(names) == len(WIDE)
    for place, name in enumerate(names):
        assert caps_of({name: 3})[place] == 3


class Model:
    """The caps of a day, by plain sums."""

    def __init__(self, requests: int, tokens: int, nano_usd: int) -> None:
        self.caps = (requests, tokens, nano_usd)
        self.used: tuple[int, int, int] = (0, 0, 0)

    def allows(self, tokens: int, nano_usd: int) -> bool:
        after = self.plus((1, tokens, nano_usd))
        return all(used <= cap for used, cap in zip(after, self.caps, strict=True))

    def plus(self, more: tuple[int, int, int]) -> tuple[int, int, int]:
        requests, tokens, nano = (a + b for a, b in zip(self.used, more, strict=True))
        return requests, tokens, nano


ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.integers(0, 60),
        st.sampled_from(["answered", "unknown", "refused", "unsent", "lost"]),
    ),
    max_size=25,
)


@given(ACTIONS)
@settings(max_examples=40, deadline=None)
def test_whatever_happens_to_calls_the_caps_count_by_plain_sums(tmp_path_factory, actions):
    folder: Path = tmp_path_factory.mktemp("limits")
    of: Limits = limits(folder, day_requests=12, day_input_tokens=300, day_usd=300e-9, cooldown_failures=1000)
    model = Model(12, 300, 300)
    for tokens, nano, end in actions:
        found = of.reserve(A, None, Estimate(tokens, nano / 1e9))
        assert isinstance(found, Ticket) == model.allows(tokens, nano)
        if not isinstance(found, Ticket):
            continue
        if end == "answered":
            settle(of, found, input_tokens=tokens // 2, usd=(nano // 2) / 1e9)
            model.used = model.plus((1, tokens // 2, nano // 2))
        elif end == "unknown":
            settle(of, found)
            model.used = model.plus((1, tokens, nano))
        elif end == "refused":
            settle(of, found, reason="provider_422", status=422)
            model.used = model.plus((1, 0, 0))
        elif end == "unsent":
            settle(of, found, reason="connect", sent="no", status=None)
        else:
            model.used = model.plus((1, tokens, nano))
