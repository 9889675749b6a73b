"""The frames between a hook's client and the daemon."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit import __version__
from admit.hosts import hook_client
from admit.hosts.daemon import protocol
from admit.hosts.daemon.protocol import BadFrame, Header, read_header, read_reply, reply, request

WORDS = st.text(string.ascii_letters + string.digits + "._-+", min_size=1, max_size=64)


@given(WORDS, WORDS, WORDS, st.integers(1, protocol.MAX_BUDGET_MS), st.binary(max_size=300))
def test_a_request_reads_back_as_it_was_written(host, event, version, budget_ms, payload):
    line, _, rest = request(host, event, payload, version=version, budget_ms=budget_ms).partition(b"\n")
    assert read_header(line) == Header(host, event, version, budget_ms, len(payload))
    assert rest == payload


@given(st.binary(min_size=1, max_size=2000))
def test_a_reply_reads_back_as_it_was_written(data):
    assert read_reply(reply(data)) == data


@given(st.binary(max_size=300))
def test_any_line_is_a_header_that_writes_back_or_a_bad_frame(line):
    try:
        header = read_header(line)
    except BadFrame:
        return
    again = request(header.host, header.event, b"", version=header.version, budget_ms=header.budget_ms)
    assert read_header(again.partition(b"\n")[0]) == header._replace(length=0)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"ADMIT2 claude-code Stop 0.1.0 900 0",
        b"admit1 claude-code Stop 0.1.0 900 0",
        b"ADMIT1 claude-code Stop 0.1.0 900",
        b"ADMIT1 claude-code Stop 0.1.0 900 0 0",
        b"ADMIT1  Stop 0.1.0 900 0",
        b"ADMIT1 claude-code ../../x 0.1.0 900 0",
        b"ADMIT1 claude-code St\xc3\xb6p 0.1.0 900 0",
        b"ADMIT1 claude-code Stop 0.1.0 0 0",
        b"ADMIT1 claude-code Stop 0.1.0 -1 0",
        b"ADMIT1 claude-code Stop 0.1.0 600001 0",
        b"ADMIT1 claude-code Stop 0.1.0 900 12345678901",
        b"ADMIT1 claude-code Stop 0.1.0 900 1_0",
        b"ADMIT1 claude-code Stop 0.1.0 900 " + "٣".encode(),
        b"ADMIT1 " + b"x" * 65 + b" Stop 0.1.0 900 0",
    ],
)
def test_a_line_that_is_not_a_header_is_refused(line):
    with pytest.raises(BadFrame):
        read_header(line)


def test_a_payload_that_is_too_large_may_still_be_announced():
    line = b"ADMIT1 claude-code Stop 0.1.0 900 %d" % (protocol.MAX_PAYLOAD + 1)
    assert read_header(line).length == protocol.MAX_PAYLOAD + 1


def test_no_data_is_skip():
    assert reply(b"") == protocol.SKIP
    assert read_reply(protocol.SKIP) == b""


def test_a_reply_fills_its_frame_to_the_cap_and_not_beyond():
    head = len(b"ADMIT1 ok 65519\n")
    assert len(reply(b"x" * (protocol.MAX_REPLY - head))) == protocol.MAX_REPLY
    with pytest.raises(BadFrame):
        reply(b"x" * (protocol.MAX_REPLY - head + 1))


@pytest.mark.parametrize("frame", [b"", b"ADMIT1 ok 5\nfour", b"ADMIT1 ok 3\nfour", b"ADMIT1 no 0\n", b"ok"])
def test_a_reply_that_is_not_whole_is_refused(frame):
    with pytest.raises(BadFrame):
        read_reply(frame)


def test_client_and_daemon_agree():
    assert __version__ == hook_client.VERSION
    assert protocol.MAX_PAYLOAD == hook_client.MAX_PAYLOAD
    assert protocol.MAX_REPLY == hook_client.MAX_REPLY
