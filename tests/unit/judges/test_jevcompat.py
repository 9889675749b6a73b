"""The whole stack of a SystemOne judge against jevcompat's reference server, sound and with each fault.

The server runs as a process of its own, and is asked over HTTP like any other.
"""

import contextlib
import json
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from typesafe_sdk import RetryPolicy, TypeSafeClient

from admit.core.question import Ask, Choice, Noul, Score
from admit.judges.keyfile import Keys
from admit.judges.load import load_judge
from admit.judges.profiles import profile
from admit.judges.systemone import SystemOneDialect

NONCE = "0123456789abcdef"
MODEL = "jev-1.13.0"
ANSWERED = "jevcompat-mock-0.1"
CLI = "from jevcompat.cli import main; raise SystemExit(main())"

NOUL = Noul("q1", "error: no space left on device", "Is it about a disk?", "it is", "it is not")
SCORE = Score("q2", "the disk is full", "How much does it help?", ("not", "a little", "partly", "fully"))
CHOICE = Choice("q3", "it was full", "Does it agree?", (("Yes", "it does"), ("No", "not"), ("Maybe", "so")))
HANGUL = Choice("q3", "가득 찼다", "맞나?", (("예", "그렇다"), ("아니요", "아니다")))
LABELS_65 = Choice("q3", "one of many", "Which?", tuple((f"Label {k}", f"the {k}th") for k in range(65)))
LEVELS_6 = Score("q2", "six levels", "How much?", tuple(f"level {k}" for k in range(6)))
ALL = (NOUL, SCORE, CHOICE)


@contextlib.contextmanager
def mock(*faults, key=None):
    """A reference server in a process of its own; gives its URL."""
    command = [sys.executable, "-c", CLI, "mock", "--port", "0", *(f"--fault={fault}" for fault in faults)]
    command += ["--key", key] if key else []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = server.stderr.readline()
            yield re.search(r"(http://127\.0\.0\.1:[0-9]+)/v1/systemone", line).group(1)
        finally:
            server.terminate()


@pytest.fixture(autouse=True)
def own_folders_and_one_nonce(tmp_path, monkeypatch):
    # The server's answers hang on every character of the state.
    monkeypatch.setattr("admit.judges.call.secrets", SimpleNamespace(token_hex=lambda n: NONCE))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def config(url, model=MODEL):
    own = "judge.profiles.mock"
    return {f"{own}.backend": "systemone", f"{own}.destination": url, f"{own}.model": model}


def asked(questions):
    return Ask("tools", "Why does it fail?", (("turn", "it fails"),), tuple(questions), None, 60_000, "r1")


def ask(url, questions, *, model=MODEL, key=None):
    """One ask at the tools door, through everything that a door's ask goes through."""
    if key is not None:
        Keys().store("mock", key)
    judge = load_judge("mock", config=config(url, model))
    reply = judge.ask(asked(questions))
    judge.judge.transport.close()
    return reply


def defects(reply):
    return {one.id: one.defect for one in reply.answers if one.defect is not None}


@pytest.fixture(scope="module")
def sound():
    with mock() as url:
        yield url


@pytest.mark.parametrize("questions", [[NOUL], [SCORE], [CHOICE], ALL, [HANGUL], [LABELS_65], [LEVELS_6]])
def test_a_sound_server_is_understood_in_full(sound, questions):
    reply = ask(sound, questions)
    assert (reply.status, reply.reason, reply.quirks) == ("judged", None, ())
    assert [one.id for one in reply.answers] == [one.id for one in questions]
    for question, answer in zip(questions, reply.answers, strict=True):
        if isinstance(question, Noul):
            assert 0 < answer.p[0] < 1
        else:
            assert len(answer.p) == len(getattr(question, "levels", None) or question.labels)
            assert abs(sum(answer.p) - 1) < 1e-9
    call = reply.calls[0]
    assert (call.sent, call.outcome, call.model_answered) == ("yes", "judged", ANSWERED)
    assert call.input_tokens > 0
    assert call.output_tokens == 2 * len(questions)


def test_a_model_that_answers_under_another_name_is_only_recorded(sound):
    assert ask(sound, ALL).shadow == "model_drift"


class Fallback(NamedTuple):
    """How a fault is met that spoils the whole answer, and the request that meets it."""

    reason: str
    questions: tuple = ALL
    model: str = MODEL
    key: str | None = None
    server_key: str | None = None
    beside: tuple = ()


WHOLE = {
    "wrong-route": Fallback("provider_404"),
    "xssi-200": Fallback("answer_not_json"),
    "auth-rejects-header": Fallback("provider_401", key="a-key"),
    "auth-x-api-key": Fallback("provider_403", key="a-key", server_key="a-key"),
    "auth-plain": Fallback("provider_401", server_key="a-key"),
    "auth-invalid-403-text": Fallback("provider_401", key="another-key", server_key="a-key"),
    "reject-jev-latest": Fallback("provider_404", model="jev-latest"),
    "error-flat": Fallback("provider_400", model="no-such-model"),
    "text-errors": Fallback("provider_400", model="no-such-model"),
    # No request of ours is invalid to a sound server; a cap makes one so.
    "validation-400": Fallback("provider_400", (LABELS_65,), beside=("cap-64",)),
    "extra-answer": Fallback("answer_extra_id"),
    "nan": Fallback("answer_nan"),
    "cap-64": Fallback("provider_422", (LABELS_65,)),
    "cap-5-levels": Fallback("provider_422", (LEVELS_6,)),
}

SPOILED = {
    "first-question-only": ("missing", SCORE, (NOUL,)),
    "boolean-type": ("wrong_type", NOUL, (SCORE, CHOICE)),
    "noul-range": ("out_of_range", NOUL, (SCORE, CHOICE)),
    "nfd-keys": ("bad_keys", HANGUL, (NOUL, SCORE)),
    "choice-key-case": ("bad_keys", CHOICE, (NOUL, SCORE)),
    "choice-sum": ("bad_sum", CHOICE, (NOUL, SCORE)),
    "choice-second": ("contradiction", CHOICE, (NOUL, SCORE)),
    "score-keys-1-based": ("bad_keys", SCORE, (NOUL, CHOICE)),
    "score-sum": ("bad_sum", SCORE, (NOUL, CHOICE)),
    "score-argmax": ("contradiction", SCORE, (NOUL, CHOICE)),
}
"""The defect, the question whose answer has it, and questions beside it that are answered well."""

HARMLESS = {
    "plain-content-type": (),
    "models-404": (),
    "no-usage": ("no_usage",),
    "float-usage": ("float_usage",),
    "unprefixed-extra": (),
    "choice-no-confidence": (),
    "score-no-legend": (),
    "legend-1-based": (),
    "confidence-over": (),
    "confidence-margin": (),
}
"""The quirks that are kept of an answer that is used."""

NOT_TRIGGERED = (
    "reject-array-state", "strict-ids", "forbid-extra", "string-only-text", "noul-two-sided",
    "noul-needs-instructions", "no-null-description", "accept-map-score", "500-on-unknown-type",
    "accept-boolean",
)  # fmt: skip

LEAKS = ("id-leaks", "batch-leaks", "order-leaks")
"""Not to be seen in one reply."""


def test_every_fault_of_the_reference_server_has_its_place_here():
    listed = subprocess.run(
        [sys.executable, "-c", CLI, "mock", "--list-faults"], capture_output=True, text=True, check=True
    ).stdout
    names = sorted(line.split()[0] for line in listed.splitlines())
    assert len(names) == 47
    assert sorted([*WHOLE, *SPOILED, *HARMLESS, *NOT_TRIGGERED, *LEAKS]) == names


@pytest.mark.parametrize("fault", WHOLE)
def test_a_fault_of_the_whole_answer_ends_as_a_fallback_with_its_reason(fault):
    case = WHOLE[fault]
    with mock(fault, *case.beside, key=case.server_key) as url:
        reply = ask(url, case.questions, model=case.model, key=case.key)
    assert (reply.status, reply.reason, reply.answers) == ("fallback", case.reason, ())
    (call,) = reply.calls
    assert (call.sent, call.outcome, call.reason) == ("yes", "fallback", case.reason)
    if case.key is not None:
        assert case.key not in repr(reply)


@pytest.mark.parametrize("fault", SPOILED)
def test_a_fault_of_one_answer_spoils_that_answer_or_a_reply_of_nothing_else(fault):
    defect, question, others = SPOILED[fault]
    questions = sorted((question, *others), key=lambda one: one.id)
    with mock(fault) as url:
        beside, alone = ask(url, questions), ask(url, [question])
    assert (beside.status, beside.reason) == ("partial", "answer_defects")
    assert defects(beside) == {question.id: defect}
    assert all(one.p for one in beside.answers if one.id != question.id)
    if fault == "first-question-only":
        assert alone.status == "judged"
    else:
        assert (alone.status, alone.reason) == ("fallback", "answer_mostly_invalid")


def test_a_server_that_answers_one_question_of_three_is_not_used():
    with mock("first-question-only") as url:
        assert ask(url, ALL).reason == "answer_mostly_invalid"


@pytest.mark.parametrize("fault", [*HARMLESS, *NOT_TRIGGERED, *LEAKS])
def test_a_fault_that_does_no_harm_here_leaves_the_answers_in_use(fault):
    with mock(fault) as url:
        reply = ask(url, ALL)
    assert (reply.status, reply.reason, reply.quirks) == ("judged", None, HARMLESS.get(fault, ()))
    known = reply.calls[0].input_tokens is not None
    assert known == (fault != "no-usage")
    if fault == "no-usage":
        assert reply.calls[0].cost_source == "unknown"


def test_the_official_client_reads_the_same_probabilities(sound):
    questions = (*ALL[:2], HANGUL, Choice("q4", "more", "Which?", LABELS_65.labels))
    ours = ask(sound, questions)
    sent = json.loads(SystemOneDialect(profile("mock", config(sound))).body(asked(questions), NONCE))
    with TypeSafeClient(
        api_key="a-key", base_url=sound, retry=RetryPolicy(max_retries=0), compression=False
    ) as client:
        theirs = client.system_one(sent["state"], sent["questions"], model=MODEL)
    expected = [
        (theirs.nouls["q1"].noul,),
        tuple(theirs.scores["q2"].probabilities.values()),
        *(
            tuple(theirs.choices[one.id].probabilities[label] for label, _ in one.labels)
            for one in questions[2:]
        ),
    ]
    assert [one.p for one in ours.answers] == [pytest.approx(p, abs=1e-9) for p in expected]
    assert ours.answers[1].expectation == pytest.approx(theirs.scores["q2"].score, abs=1e-9)
    assert ours.calls[0].input_tokens == theirs.usage.input_tokens
