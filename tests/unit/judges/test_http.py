import gzip
import json
import os
import subprocess
import sys
import threading

import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admit.core.reasons import REASONS
from admit.errors import ConfigError
from admit.judges.http import HttpTransport, error_message, reason_of, retry_after_s

from .http_server import Server, answer, answering

PLENTY_S = 20.0
KEY = {"authorization": "Bearer key", "content-type": "application/json"}


def send(server, *, path="/v1/systemone", body=b"{}", seconds=PLENTY_S, headers=KEY, **kwargs):
    return HttpTransport(server.url + path, **kwargs).send(body, headers, seconds)


def test_an_answer_comes_back_with_its_status_and_times():
    with Server(answering(b'{"a": 1}')) as server:
        got = send(server, body=b'{"q": 1}')
    assert (got.reason, got.sent, got.status, got.body) == (None, "yes", 200, b'{"a": 1}')
    assert got.connect_ms is not None
    assert got.first_byte_ms is not None
    assert 0 <= got.connect_ms <= got.first_byte_ms
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/systemone HTTP/1.1\r\n")
    assert f"host: 127.0.0.1:{server.port}".encode() in head.lower()
    assert b"authorization: Bearer key" in head
    assert body == b'{"q": 1}'


def test_a_connection_is_kept_for_the_next_request_and_closed_on_demand():
    with Server(answering()) as server:
        transport = HttpTransport(server.url)
        first, second = (transport.send(b"{}", {}, PLENTY_S) for _ in range(2))
        assert (first.reason, second.reason, second.connect_ms) == (None, None, None)
        assert server.connections == 1
        transport.close()
        assert transport.send(b"{}", {}, PLENTY_S).connect_ms is not None
        assert server.connections == 2


def test_warming_opens_a_connection_once_and_the_request_takes_it():
    with Server(answering(b"")) as server:
        transport = HttpTransport(server.url + "/v1/systemone")
        transport.warm()
        transport.warm()
        assert transport.send(b"{}", {}, PLENTY_S).connect_ms is None
    assert [request.split(b" HTTP")[0] for request in server.requests] == [b"HEAD /", b"POST /v1/systemone"]
    assert server.connections == 1
    assert b"authorization" not in server.requests[0].lower()


def test_warming_a_server_that_is_gone_does_nothing():
    with Server(answering()) as server:
        transport = HttpTransport(server.url)
    transport.warm()
    assert transport.send(b"{}", {}, PLENTY_S).reason == "connect"


def test_threads_share_a_transport_and_each_gets_its_own_answer():
    def echo(server, sock):
        while request := server.read(sock):
            sock.sendall(answer(request.partition(b"\r\n\r\n")[2]))

    got = {}
    with Server(echo) as server:
        transport = HttpTransport(server.url)
        ready = threading.Barrier(8)

        def ask(number):
            ready.wait()
            for turn in range(5):
                got[number, turn] = transport.send(b"%d.%d" % (number, turn), {}, PLENTY_S).body

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert got == {(number, turn): b"%d.%d" % (number, turn) for number in range(8) for turn in range(5)}
    assert server.connections <= 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_a_connection_of_its_own():
    with Server(answering()) as server:
        transport = HttpTransport(server.url)
        assert transport.send(b"{}", {}, PLENTY_S).reason is None
        child = os.fork()
        if child == 0:
            code = 1
            try:
                got = transport.send(b"{}", {}, PLENTY_S)
                code = 0 if got.reason is None and got.connect_ms is not None else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        after = transport.send(b"{}", {}, PLENTY_S)
    assert (after.reason, after.connect_ms, server.connections) == (None, None, 2)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with Server(answering()) as other, Server(answering(b"", status, [f"Location: {other.url}/"])) as server:
        got = send(server)
    assert (got.reason, got.status, got.sent) == ("redirect", status, "yes")
    assert other.connections == 0
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [304, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529])
def test_another_status_is_a_reason_of_its_own_and_nothing_is_sent_twice(status):
    body = b'{"error": {"message": "no \\u001b[31mroom"}}'
    with Server(answering(body if status != 304 else b"", status, ["Retry-After: 7"])) as server:
        got = send(server)
    assert (got.reason, got.sent, got.retry_after_s) == (f"provider_{status}", "yes", 7.0)
    assert got.message == ("no [31mroom" if status != 304 else "")
    assert len(server.requests) == 1


def test_without_a_word_on_when_to_come_back_there_is_no_figure():
    with Server(answering(b"busy", 429)) as server:
        got = send(server)
    assert (got.retry_after_s, got.message) == (None, "busy")


@pytest.mark.parametrize(("status", "most"), [(200, (1 << 20) + 1), (500, 64 << 10)])
def test_a_body_is_read_up_to_its_cap_and_the_connection_is_given_up(status, most):
    with Server(answering(b"x" * (3 << 20), status)) as server:
        transport = HttpTransport(server.url)
        got = transport.send(b"{}", {}, PLENTY_S)
        assert len(got.body) == most
        assert transport.send(b"{}", {}, PLENTY_S).connect_ms is not None


def test_a_compressed_body_is_not_unfolded_and_none_is_asked_for():
    bomb = gzip.compress(b"0" * (1 << 22))
    with Server(answering(bomb, headers=["Content-Encoding: gzip"])) as server:
        got = send(server)
    assert got.body == bomb
    assert b"accept-encoding: identity" in server.requests[0].lower()


@pytest.mark.parametrize(
    ("reply", "reason", "sent"),
    [
        (b"", "transport", "unknown"),
        (b"HTTP/1.1 2", "transport", "unknown"),
        (b"no http at all\r\n\r\n", "transport", "unknown"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "answer_truncated", "yes"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "answer_truncated", "yes"),
        (b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nfull", "provider_500", "yes"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * (1 << 20), "transport", "unknown"),
    ],
)
def test_an_answer_that_ends_early_or_is_none_is_told_apart(reply, reason, sent):
    def handle(server, sock):
        server.read(sock)
        sock.sendall(reply)

    with Server(handle) as server:
        got = send(server)
    assert (got.reason, got.sent) == (reason, sent)


def test_variables_of_the_environment_name_no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Server(answering()) as server:
        assert send(server).reason is None


def test_a_request_that_cannot_be_put_into_http_is_not_sent():
    with Server(answering()) as server:
        for key in ("two\r\nlines", "größe", "nul\0"):
            got = send(server, headers={"authorization": f"Bearer {key}"})
            assert (got.reason, got.sent) == ("internal", "no")
            assert key not in got.message
    assert server.requests == []


def test_a_path_beyond_ascii_and_a_query_are_sent_as_a_url_holds_them():
    with Server(answering()) as server:
        send(server, path="/größe a?x=ü&y=1")
    assert server.requests[0].startswith(b"POST /gr%C3%B6%C3%9Fe%20a?x=%C3%BC&y=1 HTTP/1.1\r\n")


def test_another_path_of_the_server_can_be_read():
    with Server(answering(b'{"models": []}')) as server:
        got = HttpTransport(server.url + "/v1/systemone").get("/v1/models", KEY, PLENTY_S)
    assert (got.reason, got.body) == (None, b'{"models": []}')
    assert server.requests[0].startswith(b"GET /v1/models HTTP/1.1\r\n")


@pytest.mark.parametrize("url", ["ftp://a", "https://", "http://user:pw@host", "https://host:99999"])
def test_a_url_that_is_none_is_refused_at_once(url):
    with pytest.raises(ConfigError):
        HttpTransport(url)


@pytest.mark.parametrize("proxy", ["", "proxy:8080", "https://proxy", "socks5://proxy", "http://"])
def test_a_proxy_that_cannot_be_spoken_to_is_refused_at_once(proxy):
    with pytest.raises(ConfigError, match=r"write http://HOST:PORT"):
        HttpTransport("https://api.example.com", proxy=proxy)


def test_the_library_is_loaded_by_the_first_request_only():
    code = (
        "import sys\n"
        "from admit.judges.http import HttpTransport\n"
        "transport = HttpTransport('http://127.0.0.1:9/v1')\n"
        "early = {'httpcore2', 'httpx2', 'socket', 'ssl', 'asyncio'} & set(sys.modules)\n"
        "assert not early, early\n"
        "assert transport.send(b'{}', {}, 5).reason == 'connect'\n"
        "assert 'httpcore2' in sys.modules and 'asyncio' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def exceptions_of_the_library():
    return sorted(
        (
            one
            for name in httpcore2.__all__
            if isinstance(one := getattr(httpcore2, name), type) and issubclass(one, Exception)
        ),
        key=lambda one: one.__name__,
    )


EXPECTED = {
    "ConnectError": "connect",
    "ConnectTimeout": "deadline",
    "ConnectionNotAvailable": "transport",
    "LocalProtocolError": "internal",
    "NetworkError": "transport",
    "PoolTimeout": "deadline",
    "ProtocolError": "internal",
    "ProxyError": "connect",
    "ReadError": "transport",
    "ReadTimeout": "deadline",
    "RemoteProtocolError": "transport",
    "TimeoutException": "deadline",
    "UnsupportedProtocol": "internal",
    "WriteError": "transport",
    "WriteTimeout": "deadline",
}


def test_every_exception_of_the_library_is_one_of_our_reasons():
    assert {one.__name__: reason_of(one()) for one in exceptions_of_the_library()} == EXPECTED
    assert set(EXPECTED.values()) <= set(REASONS)


@pytest.mark.parametrize("error", [*exceptions_of_the_library(), RuntimeError, MemoryError, OSError])
def test_whatever_the_library_raises_ends_as_a_reason(error, monkeypatch):
    def fail(*args, **kwargs):
        raise error("with a secret in it")

    monkeypatch.setattr(httpcore2.ConnectionPool, "stream", fail)
    got = HttpTransport("http://127.0.0.1:9").send(b"{}", {}, PLENTY_S)
    assert (got.reason, got.sent) == (EXPECTED.get(error.__name__, "internal"), "no")
    assert "secret" not in got.message


def test_without_the_library_there_is_a_reason_and_no_exception(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpcore2", None)
    got = HttpTransport("http://127.0.0.1:9").send(b"{}", {}, PLENTY_S)
    assert (got.reason, got.sent) == ("internal", "no")


def test_a_wait_is_read_in_seconds_or_as_a_date():
    now = 784111777.0
    assert retry_after_s("120", now) == 120.0
    assert retry_after_s("0", now) == 0.0
    assert retry_after_s("9" * 5000, now) == float("inf")
    assert retry_after_s("Sun, 06 Nov 1994 08:50:07 GMT", now) == 30.0
    assert retry_after_s("Sun, 06 Nov 1994 08:48:37 GMT", now) == 0.0
    assert retry_after_s("Fri, 31 Dec 9999 23:59:59 GMT", now) > 600
    for none in ("", "soon", "-1", "1.5", "²", "Sun, 99 Nov 1994 08:49:37 GMT"):
        assert retry_after_s(none, now) is None


@given(st.text())
def test_any_wait_is_unknown_or_from_0_on(value):
    seconds = retry_after_s(value, 0.0)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "bad key"}', "bad key"),
        (b'{"error": {"message": "m", "type": "t"}}', "m"),
        (b'{"type": "error", "error": {"type": "t", "message": "m"}}', "m"),
        (b'{"detail": {"error_type": "t", "message": "m"}}', "m"),
        (b'{"detail": [{"loc": ["body"], "msg": "m"}, {"msg": "n"}]}', "m"),
        (b'{"errors": [{"message": "m"}]}', "m"),
        (b'{"error": null, "message": "m"}', "m"),
        (b"Unauthorized\n", "Unauthorized"),
        (b"<html>\n  bad\tgateway</html>", "<html> bad gateway</html>"),
        (b'{"code": 7}', ""),
        (b"[]", ""),
        (b"", ""),
    ],
)
def test_the_message_of_an_error_is_found_in_its_usual_shapes(body, message):
    assert error_message(body) == message


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "detail", "message", "msg"]), inner, max_size=3)
    ),
)


@given(st.binary() | NESTED.map(lambda value: json.dumps(value).encode()))
def test_any_message_is_one_printable_line_of_at_most_200_characters(body):
    message = error_message(body)
    assert len(message) <= 200
    assert message.isprintable()
