"""The whole stack against a real server on loopback that misbehaves in one way after the other."""

import contextlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.servers.chat_server import MODES, ChatServer

from .served import STYLES, alone, ask, judge_at

CHAT = ("schema", "tool", "messages")
SHORT_MS = 400

pytestmark = pytest.mark.usefixtures(alone.__name__)


def asked(mode, style, *, deadline_ms=None, count=3, **fields):
    """The reply of a judge whose server is in a mode, and the requests that it got."""
    with ChatServer(mode, scale=0.02) as server:
        given = ask(count) if deadline_ms is None else ask(count, deadline_ms)
        return judge_at(server.url, style, **fields).ask(given), server.requests


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("mode", ["ok", "latency"])
def test_a_server_in_order_is_asked_once_and_believed(mode, style):
    reply, [request] = asked(mode, style)
    assert (reply.status, reply.reason, reply.shadow) == ("judged", None, None)
    assert [a.p for a in reply.answers] == [(0.9,), (0.1,), (0.1,)]
    [call] = reply.calls
    assert (call.sent, call.outcome, call.model_answered) == ("yes", "judged", "model-1")
    assert call.request_bytes == len(request.body)
    assert call.input_tokens is not None and call.output_tokens == 36


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("count", [9, 33, 60])
def test_many_guidance_candidates_are_one_request(style, count):
    reply, requests = asked("ok", style, count=count, context_tokens=32_000)
    assert reply.status == "judged"
    assert len(reply.answers) == count
    assert len(requests) == 1


@pytest.mark.parametrize("mode", ["stall-connect", "stall-headers", "stall-body", "drip"])
def test_a_stall_anywhere_ends_at_the_deadline(mode):
    reply, _ = asked(mode, "tool", deadline_ms=SHORT_MS)
    assert (reply.status, reply.reason) == ("fallback", "deadline")


FALLS_BACK = [
    ("closes", STYLES, "transport"),
    ("redirect", STYLES, "redirect"),
    ("huge", STYLES, "answer_too_large"),
    ("broken-json", STYLES, "answer_not_json"),
    ("code-fence", ("schema", "tool", "systemone"), "answer_not_json"),
    ("code-fence", ("messages",), "answer_envelope"),
    ("extra-ids", STYLES, "answer_extra_id"),
    ("truncated", CHAT, "answer_truncated"),
    ("refusal", CHAT, "answer_refusal"),
    ("no-call", ("tool", "messages"), "answer_no_call"),
    ("no-call", ("schema",), "answer_envelope"),
    ("many-calls", ("tool", "messages"), "answer_many_calls"),
    ("many-calls", ("schema",), "answer_not_json"),
    ("echo-only", ("tool", "messages"), "answer_no_call"),
    ("echo-only", ("schema",), "answer_not_json"),
    *((f"status-{code}", ("tool",), f"provider_{code}") for code in (401, 402, 403, 404, 413, 429, 500, 529)),
]


@pytest.mark.parametrize(
    ("mode", "style", "reason"), [(mode, style, why) for mode, styles, why in FALLS_BACK for style in styles]
)
def test_a_reply_that_is_not_as_asked_falls_back_with_its_reason_and_no_second_try(mode, style, reason):
    reply, requests = asked(mode, style)
    assert (reply.status, reply.reason, reply.answers) == ("fallback", reason, ())
    assert len(requests) == 1


@pytest.mark.parametrize("mode", ["twice", "missing"])
@pytest.mark.parametrize("style", CHAT)
def test_one_bad_judgement_spoils_one_answer(mode, style):
    reply, _ = asked(mode, style)
    defect = {"twice": "contradiction", "missing": "missing"}[mode]
    assert (reply.status, reply.reason) == ("partial", "answer_defects")
    assert [(a.p, a.defect) for a in reply.answers] == [((), defect), ((0.1,), None), ((0.1,), None)]


@pytest.mark.parametrize("style", CHAT)
def test_an_echoed_verdict_is_not_taken_for_the_answer(style):
    reply, [request] = asked("echo", style)
    assert [a.p for a in reply.answers] == [(0.9,), (0.1,), (0.1,)]
    assert b"How to bake bread" in request.body


@pytest.mark.parametrize("style", STYLES)
def test_another_models_answers_are_recorded_and_do_not_act(style):
    reply, _ = asked("drift", style)
    assert (reply.status, reply.shadow) == ("judged", "model_drift")


@pytest.mark.parametrize("style", STYLES)
def test_tokens_that_are_not_stated_stay_unknown(style):
    reply, _ = asked("no-usage", style)
    assert (reply.calls[0].input_tokens, reply.calls[0].cost_usd) == (None, None)
    assert "no_usage" in reply.quirks


@pytest.mark.parametrize("retry_after", [None, "7"])
def test_a_refusal_for_now_may_say_for_how_long(retry_after):
    with ChatServer("status-429", retry_after=retry_after) as server:
        request = urllib.request.Request(server.url, b"{}", method="POST")
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request)
    assert error.value.headers.get("retry-after") == retry_after


def test_a_mode_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="stall-headers"):
        ChatServer("stall")


@contextlib.contextmanager
def in_a_process(*arguments):
    """The address of a server in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.chat_server", *arguments],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_the_server_runs_as_a_process_of_its_own_and_says_where():
    with in_a_process("--mode", "status-529", "--retry-after", "1") as url:
        assert judge_at(url, "messages").ask(ask()).reason == "provider_529"
    with in_a_process("--port", "0") as url:
        assert judge_at(url, "schema").ask(ask()).status == "judged"
        with urllib.request.urlopen(url) as came:
            [request] = json.load(came)
        assert "How to bake bread" in request["body"]


def test_its_help_names_every_mode():
    done = subprocess.run(
        [sys.executable, "-m", "tests.servers.chat_server", "--help"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(mode in done.stdout for mode in MODES)


def test_a_request_can_be_read_as_it_came():
    _, [request] = asked("ok", "tool")
    assert request.path == "/v1/chat/completions"
    assert request.headers["content-type"] == "application/json"
    assert request.json() == json.loads(request.body)
