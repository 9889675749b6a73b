import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from admit.judges.clock import FrozenClock
from admit.judges.command import CommandDialect, CommandTransport
from admit.judges.parse import MOST_BYTES, Rejected
from admit.judges.profiles import Profile
from admit.judges.wire import Usage

from .chat_replies import CHOICE, NOUL, SCORE, ask

JUDGE = str(Path(__file__).with_name("command_judge.py"))
LONG = 30.0
"""Seconds that no test waits for: what is waited for comes at once."""


def a_profile(*argv, env=()):
    return Profile("own", "command", "", {}, argv=(sys.executable, "-I", JUDGE, *argv), env=env)


DIALECT = CommandDialect(a_profile("ok"))


@pytest.fixture
def run():
    """Makes transports of the judge program in a mode, and ends them."""
    made = []

    def make(*argv, clock=None, env=()):
        made.append(CommandTransport(a_profile(*argv, env=env), clock))
        return made[-1]

    yield make
    for one in made:
        one.close()


def line(k=1, asked=None):
    return DIALECT.body(asked or ask(NOUL), f"{k:016x}")


def send(transport, seconds=LONG, k=1):
    return transport.send(line(k), {}, seconds)


def gone(pid):
    """Whether a process ended: it may wait to be reaped by another than us, and not by us."""
    for _ in range(500):
        found = subprocess.run(["ps", "-o", "stat=,ppid=", "-p", str(pid)], capture_output=True, text=True)
        if not found.stdout.strip():
            return True
        state, parent = found.stdout.split()
        if state.startswith("Z") and int(parent) != os.getpid():
            return True
        time.sleep(0.01)
    return False


def said(question):
    return {"id": question.id, "ask": question.ask, "subject": question.subject}


def test_a_request_is_one_line_with_all_that_the_questions_say():
    body = DIALECT.body(ask(NOUL, SCORE, CHOICE, context=(("plan", "two\nlines\u2028 or three"),)), "n" * 16)
    assert body.endswith(b"\n")
    assert len(body.decode().splitlines()) == 1
    assert json.loads(body) == {
        "v": 1,
        "id": "n" * 16,
        "deadline_ms": 1000,
        "door": "outputs",
        "task": "fix the tests",
        "context": {"plan": "two\nlines\u2028 or three"},
        "questions": [
            {"type": "noul", **said(NOUL), "true": NOUL.true, "false": NOUL.false},
            {"type": "score", **said(SCORE), "levels": list(SCORE.levels)},
            {"type": "choice", **said(CHOICE), "labels": dict(CHOICE.labels)},
        ],
    }


def test_text_that_cannot_be_encoded_is_replaced():
    assert json.loads(line(asked=ask(NOUL._replace(subject="a\ud800"))))["questions"][0]["subject"] == "a?"


@pytest.mark.parametrize("question", [NOUL, SCORE, CHOICE])
def test_every_kind_of_question_is_answered_by_a_program(run, question):
    asked = ask(question)
    got = run("ok").send(line(asked=asked), {}, LONG)
    assert (got.reason, got.sent) == (None, "yes")
    read = DIALECT.read(asked, got.body, 0.5)
    [answer] = read.answers
    assert answer.defect is None
    assert (read.usage, read.model) == (Usage(10, 2, 0.001), None)


def test_the_program_lives_on_between_requests(run):
    transport = run("ok")
    transport.warm()
    first, second = send(transport), send(transport, k=2)
    assert first.reason is second.reason is None
    assert first.connect_ms is None  # it ran already
    assert json.loads(second.body)["id"] == f"{2:016x}"


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ([], "envelope"),
        ({"id": "x", "answers": {}}, "envelope"),
        ({"v": 2, "answers": {"q1": {"type": "noul", "noul": 1}}}, "envelope"),
        ({"v": True, "answers": {"q1": {"type": "noul", "noul": 1}}}, "envelope"),
        ({"v": 1, "answers": []}, "envelope"),
        ({"v": 1, "answers": {"q2": {"type": "noul", "noul": 1}}}, "extra_id"),
        ({"v": 1, "answers": {}}, "mostly_invalid"),
    ],
)
def test_an_answer_of_another_shape_or_version_is_rejected(value, cause):
    assert DIALECT.read(ask(NOUL), json.dumps(value).encode(), 0.5).answers == Rejected(cause)


def test_a_program_that_states_no_usage_has_no_quirk_and_unknown_costs():
    body = b'{"v": 1, "answers": {"q1": {"type": "noul", "noul": 0.5}}}'
    read = DIALECT.read(ask(NOUL), body, 0.5)
    assert (read.usage, read.quirks, read.answers[0].p) == (Usage(), (), (0.5,))


def test_only_path_home_lang_and_the_named_variables_are_given_and_no_shell_reads_the_arguments(
    run, monkeypatch
):
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("JUDGE_MODEL", "small")
    monkeypatch.setenv("SECRET_TOKEN", "no")
    got = send(run("environment", "$HOME; exit", "*", env=("JUDGE_MODEL", "NOT_SET")))
    said = json.loads(got.body)
    # The interpreter of the program itself may add LC_CTYPE.
    assert set(said["environment"]) - {"LC_CTYPE"} == {"PATH", "HOME", "LANG", "JUDGE_MODEL"}
    assert said["argv"] == ["$HOME; exit", "*"]
    assert said["cwd"] == os.path.realpath(os.environ["HOME"])


def test_answers_to_others_and_lines_that_are_none_are_dropped(run):
    got = send(run("others"))
    assert json.loads(got.body)["id"] == f"{1:016x}"
    assert send(run("banner")).reason is None


def test_requests_in_parallel_are_matched_by_id_whatever_the_order(run):
    transport = run("backwards", "4")
    asked = {k: ask(*(NOUL._replace(id=f"q{j}") for j in range(1, k + 1))) for k in range(1, 5)}
    got = {}

    def one(k):
        got[k] = transport.send(line(k, asked[k]), {}, LONG)

    threads = [threading.Thread(target=one, args=(k,)) for k in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert {k: json.loads(sent.body)["id"] for k, sent in got.items()} == {k: f"{k:016x}" for k in asked}
    for k, sent in got.items():
        assert [a.p for a in DIALECT.read(asked[k], sent.body, 0.5).answers] == [(k / 10,)] * k


def test_a_late_answer_is_not_taken_for_the_next_one(run):
    transport = run("late")
    assert send(transport, 0.3).reason == "deadline"
    got = send(transport, k=2)
    assert DIALECT.read(ask(NOUL), got.body, 0.5).answers[0].p == (0.75,)


def test_an_error_is_the_agents_and_its_message_is_short(run):
    got = send(run("error"))
    assert (got.reason, got.sent, got.body) == ("agent_error", "unknown", b"")
    assert got.message.startswith("no_model: mmm")
    assert len(got.message) == 200


def test_R8_an_older_program_says_agent_error_on_every_request_and_lives_on(run):
    transport = run("older")
    assert [send(transport, k=k).reason for k in range(1, 6)] == ["agent_error"] * 5


@pytest.mark.parametrize(("mode", "cause"), [("nan", "nan"), ("broken", "not_json"), ("long", "too_large")])
def test_a_broken_line_that_means_us_is_rejected_at_once(run, mode, cause):
    transport = run(mode)
    for k in (1, 2):  # what follows a line that is too long is read again
        got = send(transport, k=k)
        assert got.reason is None
        assert len(got.body) <= MOST_BYTES + 1
        assert DIALECT.read(ask(NOUL), got.body, 0.0).answers == Rejected(cause)


def test_a_request_of_more_than_one_mebibyte_is_not_sent(run):
    got = run("ok").send(line(asked=ask(NOUL._replace(subject="x" * MOST_BYTES))), {}, LONG)
    assert (got.reason, got.sent) == ("too_large", "no")


def test_a_program_that_exits_fails_what_waits_for_it_with_its_status(run):
    got = send(run("exits"))
    assert (got.reason, got.sent) == ("command_exit", "unknown")
    assert "status 4" in got.message


def test_half_a_line_before_the_end_is_no_answer(run):
    assert send(run("half")).reason == "command_exit"


def test_an_answer_just_before_the_end_counts_and_the_next_request_starts_it_again(run):
    transport = run("one")
    for k in (1, 2, 3):
        got = send(transport, k=k)
        while got.reason == "command_exit":  # it was asked while it was ending
            got = send(transport, k=k)
        assert got.reason is None


def test_a_program_that_cannot_be_started_says_so(run):
    transport = CommandTransport(Profile("own", "command", "", {}, argv=("/no/such/judge",)))
    got = send(transport)
    assert (got.reason, got.sent) == ("command_exit", "no")
    assert "/no/such/judge" in got.message


def test_a_program_that_keeps_ending_is_started_after_1_2_4_up_to_60_s(run):
    clock = FrozenClock()
    transport = run("ends", clock=clock)
    pauses = []
    for k in range(1, 9):
        assert send(transport, k=k).sent == "unknown"  # it ran, and ended
        pauses.append(float(send(transport, k=k).message.split()[-2]))
        clock.advance(pauses[-1] - 0.01)
        assert send(transport, k=k).sent == "no"
        clock.advance(0.01)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_two_missed_deadlines_in_a_row_kill_the_whole_group_and_it_starts_again_later(run, tmp_path):
    clock, pids = FrozenClock(), tmp_path / "pids"
    transport = run("family", str(pids), clock=clock)
    assert send(transport, 1.0).reason == "deadline"
    first = [int(pid) for pid in pids.read_text().split()]
    assert len(first) == 2
    assert send(transport, 0.05, k=2).reason == "deadline"
    assert all(map(gone, first))
    assert send(transport, k=3).message == "the program starts again in 1.0 s"
    clock.advance(1)
    assert send(transport, 1.0, k=4).reason == "deadline"
    assert [int(pid) for pid in pids.read_text().split()] != first
    assert send(transport, 0.05, k=5).reason == "deadline"
    assert send(transport, k=6).message == "the program starts again in 2.0 s"


def test_an_answer_between_two_missed_deadlines_keeps_the_program(run):
    transport = run("hangs-once")
    assert send(transport, 0.5).reason == "deadline"
    assert send(transport, k=2).reason is None
    program = transport._program
    assert send(transport, k=3).reason is None
    assert transport._program is program


def test_what_waits_beside_the_second_missed_deadline_is_command_exit(run):
    transport = run("hangs")
    got = []
    beside = threading.Thread(target=lambda: got.append(send(transport, k=9)))
    beside.start()
    assert send(transport, 0.3).reason == "deadline"
    assert send(transport, 0.05, k=2).reason == "deadline"
    beside.join(LONG)
    assert got[0].reason == "command_exit"


def test_a_program_that_does_not_read_holds_nobody_past_the_deadline(run):
    transport = run("deaf")
    big = line(asked=ask(NOUL._replace(subject="x" * 900_000)))
    assert transport.send(big, {}, 0.2).reason == "deadline"
    assert transport.send(big, {}, 0.2).reason == "deadline"
    assert "starts again" in transport.send(big, {}, LONG).message


def test_a_flood_on_stderr_is_drained_and_its_end_kept(run):
    transport = run("loud")
    assert send(transport).reason is None
    for _ in range(300):
        if transport.stderr.endswith("the end"):
            break
        time.sleep(0.01)
    assert transport.stderr.endswith("the end")
    assert len(transport.stderr) == 64 << 10


def test_close_kills_the_group_fails_what_waits_and_starts_nothing_again(run, tmp_path):
    pids = tmp_path / "pids"
    transport = run("family", str(pids))
    got = []
    waiter = threading.Thread(target=lambda: got.append(send(transport)))
    waiter.start()
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        time.sleep(0.01)
    transport.close()
    waiter.join(LONG)
    assert got[0].reason == "command_exit"
    assert all(gone(int(pid)) for pid in pids.read_text().split())
    assert send(transport).message == "the judge is closed"
    transport.close()


def test_the_program_ends_with_the_interpreter(tmp_path):
    pids = tmp_path / "pids"
    code = (
        "import sys, time, pathlib\n"
        "from admit.judges.command import CommandTransport\n"
        "from admit.judges.profiles import Profile\n"
        f"argv = (sys.executable, '-I', {JUDGE!r}, 'family', {str(pids)!r})\n"
        "transport = CommandTransport(Profile('own', 'command', '', {}, argv=argv))\n"
        "transport.warm()\n"
        f"pids = pathlib.Path({str(pids)!r})\n"
        "while not (pids.exists() and len(pids.read_text().split()) == 2):\n"
        "    time.sleep(0.01)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONG)
    assert all(gone(int(pid)) for pid in pids.read_text().split())


def test_no_deadline_left_is_nothing_sent(run):
    got = send(run("ok"), 0)
    assert (got.reason, got.sent) == ("deadline", "no")


def test_every_kind_of_question_can_be_put_without_a_key_and_without_a_price():
    assert all(DIALECT.supports(one) for one in (NOUL, SCORE, CHOICE))
    assert DIALECT.headers("key") == {}
    assert DIALECT.tokens_out(8) == 0


def test_the_documents_of_a_review_are_fenced_with_the_id_of_the_request():
    review = ask(CHOICE, context=(("note", "<b>"),))._replace(door="evidence")
    sent = json.loads(DIALECT.body(review, "n" * 16))
    mark = f"data {'n' * 16} note"
    assert sent["context"] == {"note": f'[[{mark}]]"\\u003cb\\u003e"[[/{mark}]]'}
