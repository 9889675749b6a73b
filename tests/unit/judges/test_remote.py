"""The stack around a judge that is asked by a message, over a transport that does what it is told."""

import json
import threading
import time

import pytest

from admit.config.keys import shipped
from admit.core.question import Ask, Noul
from admit.judges import remote
from admit.judges.bounded import BoundedJudge
from admit.judges.call import Caller
from admit.judges.clock import SystemClock
from admit.judges.limits import limits_of
from admit.judges.profiles import profile
from admit.judges.redact import Redactor
from admit.judges.remote import Access, RemoteJudge
from admit.judges.systemone import SystemOneDialect
from admit.judges.wire import Sent

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ0123456789"[:40]


class Wire:
    """Answers a request by `act(questions)`: probabilities by id, a `Sent`, an exception or a wait in s."""

    def __init__(self, act):
        self.act = act
        self.bodies = []
        self.lock = threading.Lock()

    def send(self, body, headers, seconds):
        with self.lock:
            self.bodies.append(body)
        request = json.loads(body)
        does = self.act(request["questions"])
        if isinstance(does, float):
            time.sleep(does)
            does = dict.fromkeys(request["questions"], 0.9)
        if isinstance(does, Exception):
            raise does
        if isinstance(does, Sent):
            return does
        answers = {name: {"type": "noul", "noul": p} for name, p in does.items()}
        body = {"model": "jev-1.13.0", "answers": answers, "usage": {"input_tokens": 10, "output_tokens": 2}}
        return Sent(sent="yes", status=200, body=json.dumps(body).encode())

    def warm(self):
        pass

    def close(self):
        pass


def yes(questions):
    return dict.fromkeys(questions, 0.9)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def judge(place):
    def make(act, *, wire=Wire, values=None, consents=True, key="k", needed=False, patterns=(), **fields):
        settings = {**shipped(), **(values or {})}
        own = {f"judge.profiles.jev.{name}": value for name, value in fields.items()}
        chosen = profile("jev", {**settings, **own})
        carrier, clock, redactor = wire(act), SystemClock(), Redactor(patterns)
        dialect = SystemOneDialect(chosen)
        caller = Caller(
            chosen, dialect, carrier, redactor=redactor, limits=limits_of(settings), clock=clock,
            min_valid_share=0.5, min_call_ms=150,
        )  # fmt: skip
        access = Access(lambda door: consents, lambda: key, needed)
        inner = RemoteJudge(
            chosen, dialect, carrier, access=access, redactor=redactor, caller=caller, clock=clock
        )
        return BoundedJudge(inner, clock), carrier

    return make


def ask(n=3, *, door="outputs", text="subject", task="task", deadline_ms=2000, context=()):
    questions = tuple(Noul(f"q{k}", f"{text} {k}", "Is it?", "yes", "no") for k in range(1, n + 1))
    return Ask(door, task, context, questions, None, deadline_ms, "r1", "s1")


def test_all_questions_are_answered_in_order_whatever_the_batches(judge):
    asked, wire = judge(
        lambda questions: {name: int(name[1:]) / 100 for name in questions}, batch_questions=4
    )
    reply = asked.ask(ask(10))
    assert (reply.status, len(reply.calls), len(wire.bodies)) == ("judged", 3, 3)
    assert [(one.id, one.p) for one in reply.answers] == [(f"q{k}", (k / 100,)) for k in range(1, 11)]
    assert {call.cost_source for call in reply.calls} == {"price_table"}


def test_a_batch_that_fails_spoils_its_own_ids_alone(judge):
    failed = Sent(reason="provider_500", sent="yes", status=500)
    asked, _ = judge(lambda questions: failed if "q5" in questions else yes(questions), batch_questions=4)
    reply = asked.ask(ask(10))
    assert (reply.status, reply.reason) == ("partial", "provider_500")
    assert [one.id for one in reply.answers if one.defect == "batch_failed"] == ["q5", "q6", "q7", "q8"]
    assert [call.outcome for call in reply.calls] == ["judged", "fallback", "judged"]


def test_a_batch_that_is_late_leaves_the_others_their_answers(judge):
    asked, _ = judge(lambda questions: 3.0 if "q1" in questions else yes(questions), batch_questions=4)
    reply = asked.ask(ask(8, deadline_ms=600))
    assert (reply.status, reply.reason) == ("partial", "deadline")
    assert [one.defect for one in reply.answers] == ["batch_failed"] * 4 + [None] * 4
    assert reply.calls[0].sent == "unknown" and reply.elapsed_ms < 700


def test_where_every_batch_fails_the_first_reason_stands(judge):
    failed = Sent(reason="transport", sent="unknown")
    asked, _ = judge(lambda questions: failed, batch_questions=2)
    reply = asked.ask(ask(4))
    assert (reply.status, reply.reason, len(reply.calls)) == ("fallback", "transport", 2)


def test_an_exception_of_the_transport_is_internal_and_names_its_type_alone(judge):
    asked, _ = judge(lambda questions: RuntimeError(SECRET))
    reply = asked.ask(ask())
    assert (reply.status, reply.reason) == ("fallback", "internal")
    assert "RuntimeError" in str(reply) and SECRET not in str(reply)


def test_without_consent_nothing_is_sent(judge):
    asked, wire = judge(yes, consents=False)
    assert asked.ask(ask()).reason == "no_consent" and wire.bodies == []


def test_without_a_key_that_is_needed_nothing_is_sent(judge):
    asked, wire = judge(yes, key=None, needed=True)
    assert asked.ask(ask()).reason == "no_key" and wire.bodies == []
    asked, wire = judge(yes, key=None)
    assert asked.ask(ask()).status == "judged"


def test_every_text_that_is_sent_is_redacted_and_told_by_its_place(judge):
    asked, wire = judge(yes)
    reply = asked.ask(
        ask(1, text=f"key {SECRET}", task=f"use {SECRET}", context=(("plan", f"see {SECRET}"),))
    )
    assert reply.status == "judged"
    assert SECRET.encode() not in wire.bodies[0] and b"[redacted:token]" in wire.bodies[0]
    assert {pointer["at"] for pointer in reply.calls[0].masked} == {"/task", "/context/plan", "/c1"}
    assert SECRET not in str(reply)


def test_a_users_own_pattern_is_masked_too(judge):
    asked, wire = judge(yes, patterns=("PROJECT-[0-9]+",))
    asked.ask(ask(1, text="see PROJECT-77 now"))
    assert b"PROJECT-77" not in wire.bodies[0]


def test_a_text_above_what_is_redacted_is_not_sent(judge):
    asked, wire = judge(yes)
    assert asked.ask(ask(1, text="a " * (6 << 20), deadline_ms=20_000)).reason == "redaction"
    assert wire.bodies == []


def test_what_no_request_can_carry_is_too_large_and_the_rest_goes_on(judge):
    asked, _ = judge(yes, batch_bytes=20_000)
    questions = (Noul("q1", "x " * 20_000, "Is it?", "yes", "no"), Noul("q2", "short", "Is it?", "yes", "no"))
    reply = asked.ask(ask()._replace(questions=questions))
    assert [one.defect for one in reply.answers] == ["too_large", None] and reply.status == "partial"
    whole = asked.ask(ask()._replace(questions=questions[:1]))
    assert (whole.status, whole.reason, whole.calls) == ("fallback", "too_large", ())


@pytest.mark.parametrize("offered", [9, 33, 60, 64])
def test_guidance_is_one_request_up_to_sixty_four(judge, offered):
    asked, wire = judge(yes)
    assert asked.ask(ask(offered, door="guidance")).status == "judged" and len(wire.bodies) == 1
    assert asked.ask(ask(65, door="guidance")).reason == "too_large"


def test_another_model_than_the_pinned_one_only_records(judge):
    asked, _ = judge(yes, model="jev-1.12.0", **{"outputs.threshold": 1.5})
    reply = asked.ask(ask())
    assert (reply.status, reply.shadow) == ("judged", "model_drift")
    assert reply.notes == (("judge.model_drift", {"asked": "jev-1.12.0", "answered": "jev-1.13.0"}),)


def test_a_cap_of_the_session_is_reserved_before_sending(judge):
    asked, wire = judge(yes, values={"limits.session.requests": 2})
    assert [asked.ask(ask()).reason for _ in range(3)] == [None, None, "budget_requests"]
    assert len(wire.bodies) == 2
    assert asked.ask(ask()._replace(session="s2")).status == "judged"


def test_three_failures_in_a_row_leave_the_destination_alone(judge):
    failed = Sent(reason="provider_500", sent="yes", status=500)
    asked, wire = judge(lambda questions: failed)
    assert [asked.ask(ask()).reason for _ in range(5)] == ["provider_500"] * 3 + ["cooldown"] * 2
    assert len(wire.bodies) == 3


def test_slots_bound_what_runs_at_once_and_waiting_counts(judge):
    running, most = [0], [0]
    lock = threading.Lock()

    def act(questions):
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.05)
        with lock:
            running[0] -= 1
        return yes(questions)

    asked, _ = judge(act, values={"limits.slots": 2}, batch_questions=1)
    reply = asked.ask(ask(6, deadline_ms=4000))
    assert reply.status == "judged" and most[0] == 2
    assert max(call.slot_wait_ms for call in reply.calls) >= 40


def test_a_refused_request_costs_nothing_and_one_without_an_answer_costs_nobody_knows_what(judge):
    asked, _ = judge(lambda questions: Sent(reason="provider_422", sent="yes", status=422))
    (call,) = asked.ask(ask()).calls
    assert (call.cost_usd, call.cost_source) == (0.0, "free")
    asked, _ = judge(lambda questions: Sent(reason="deadline", sent="unknown"))
    (call,) = asked.ask(ask()._replace(session="other")).calls
    assert (call.cost_usd, call.cost_source) == (None, "unknown")


def test_a_reply_in_half_is_rejected_and_its_spend_known_no_more(judge):
    asked, _ = judge(lambda questions: Sent(sent="yes", status=200, body=b'{"model": "jev-1.13.0", "ans'))
    reply = asked.ask(ask())
    assert (reply.status, reply.reason) == ("fallback", "answer_truncated")
    assert reply.calls[0].cost_usd is None


def test_a_late_request_is_settled_and_told_before_the_caller_leaves(judge, monkeypatch):
    monkeypatch.setattr(remote, "SETTLE_MS", 400)
    late = Sent(reason="deadline", sent="unknown", connect_ms=1.0)

    class Waits(Wire):
        def send(self, body, headers, seconds):
            time.sleep(seconds)
            return super().send(body, headers, seconds)

    asked, wire = judge(lambda questions: late, wire=Waits, values={"limits.cooldown_failures": 2})
    first, second, third = (asked.ask(ask(deadline_ms=800)) for _ in range(3))
    assert (first.reason, first.calls[0].connect_ms, first.notes) == ("deadline", 1.0, ())
    [(type, body)] = second.notes
    assert (type, body["cause"], third.reason) == ("judge.cooldown", "deadline", "cooldown")
    assert len(wire.bodies) == 2


def test_warming_opens_a_connection_only_where_texts_may_go(judge):
    for consents in (True, False):
        asked, wire = judge(yes, consents=consents)
        opened = []
        wire.warm = lambda opened=opened: opened.append(1)
        asked.warm("guidance")
        assert bool(opened) is consents and wire.bodies == []


def test_warming_that_fails_costs_nothing(judge):
    asked, wire = judge(yes)

    def broken():
        raise OSError("no network")

    wire.warm = broken
    asked.warm("guidance")
    assert asked.ask(ask()).status == "judged"


def test_the_reason_is_what_brought_a_cool_down_on_and_not_the_cool_down_of_the_other_batches(judge):
    full = Sent(reason="provider_429", sent="yes", status=429, retry_after_s=60)
    asked, wire = judge(lambda questions: full, values={"limits.slots": 1}, batch_questions=1)
    reply = asked.ask(ask(4))
    assert (reply.status, reply.reason, len(wire.bodies)) == ("fallback", "provider_429", 1)
    assert sorted(call.reason for call in reply.calls) == ["cooldown"] * 3 + ["provider_429"]
