"""Where a request may go, and that it is back in time wherever it stalls."""

import base64
import ipaddress
import socket
import ssl
import threading

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from admit.judges.connect import refusal
from admit.judges.hostnames import literal
from admit.judges.http import HttpTransport

from .http_server import Server, answer, answering

PLENTY_S = 20.0
SHORT_S = 0.3

PUBLIC_NAME = "judge.example.com"
PRIVATE_NAME = "judge.lan"


def found(*addresses):
    """A resolver's answer."""
    return [
        (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0))
        for one in addresses
    ]


@pytest.fixture
def names(monkeypatch):
    """Addresses by name, and which names were looked up; an address as a name stays what it is."""
    known, asked, real = {}, [], socket.getaddrinfo

    def look_up(host, port, *args, **kwargs):
        if literal(host) is not None:
            return real(host, port, *args, **kwargs)
        asked.append(host)
        if isinstance(known.get(host), BaseException):
            raise known[host]
        return [(family, *more, (at[0], port)) for family, *more, at in found(*known[host])]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    known["asked"] = asked
    return known


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def tls(authority, monkeypatch, tmp_path):
    """A server's TLS for `localhost`, its authority trusted by this machine."""
    trusted = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(trusted)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return server_side(authority, "localhost")


def server_side(authority, name):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@pytest.mark.parametrize(
    ("scheme", "host", "address", "plain", "allowed"),
    [
        ("https", PUBLIC_NAME, "8.8.8.8", False, True),
        ("https", PUBLIC_NAME, "2001:4860:4860::8888", False, True),
        ("https", PUBLIC_NAME, "10.0.0.7", True, False),
        ("https", PUBLIC_NAME, "127.0.0.1", True, False),
        ("https", PUBLIC_NAME, "::1", True, False),
        ("https", PUBLIC_NAME, "169.254.169.254", True, False),
        ("https", PUBLIC_NAME, "0.0.0.0", True, False),
        ("https", PUBLIC_NAME, "100.64.0.1", True, False),
        ("https", PUBLIC_NAME, "fe80::1%eth0", True, False),
        ("https", PUBLIC_NAME, "fd00::1", True, False),
        ("https", PUBLIC_NAME, "::ffff:10.0.0.7", True, False),
        ("https", PUBLIC_NAME, "64:ff9b::a00:7", True, False),
        ("https", PUBLIC_NAME, "2002:a00:7::", True, False),
        ("https", PUBLIC_NAME, "nonsense", True, False),
        ("https", "10.0.0.7", "10.0.0.7", False, True),
        ("https", PRIVATE_NAME, "10.0.0.7", False, True),
        ("https", "box", "192.168.1.2", False, True),
        ("https", PRIVATE_NAME, "8.8.8.8", False, True),
        ("http", "127.0.0.1", "127.0.0.1", False, True),
        ("http", "localhost", "::1", False, True),
        ("http", "localhost", "192.168.1.2", True, False),
        ("https", "localhost", "8.8.8.8", True, False),
        ("https", "localhost", "10.0.0.7", True, False),
        ("http", "box", "192.168.1.2", False, False),
        ("http", "box", "192.168.1.2", True, True),
        ("http", "192.168.1.2", "192.168.1.2", False, False),
        ("http", "192.168.1.2", "192.168.1.2", True, True),
        ("http", "8.8.8.8", "8.8.8.8", True, False),
        ("http", PUBLIC_NAME, "8.8.8.8", True, False),
        ("http", PUBLIC_NAME, "192.168.1.2", True, False),
        ("http", PUBLIC_NAME, "127.0.0.1", True, False),
        ("http", PRIVATE_NAME, "8.8.8.8", True, False),
    ],
)
def test_an_address_is_taken_or_refused_by_scheme_name_and_setting(scheme, host, address, plain, allowed):
    assert (refusal(scheme, host, address, allow_plain_http=plain) is None) == allowed


CARRIERS = tuple(map(ipaddress.ip_network, ("::ffff:0:0/96", "2002::/16", "64:ff9b::/96")))
"""Addresses that lead to another one, by which they are judged."""


@given(st.ip_addresses().filter(lambda one: not any(one in net for net in CARRIERS)), st.booleans())
def test_plain_http_goes_to_no_public_address_and_a_public_name_to_no_private_one(address, plain):
    if address.is_global:
        assert refusal("http", PRIVATE_NAME, str(address), allow_plain_http=plain)
    else:
        assert refusal("https", PUBLIC_NAME, str(address), allow_plain_http=plain)


def test_a_name_is_resolved_once_and_the_server_still_hears_it(names):
    names[PRIVATE_NAME] = ["127.0.0.1"]
    with Server(answering()) as server:
        got = HttpTransport(f"http://{PRIVATE_NAME}:{server.port}").send(b"{}", {}, PLENTY_S)
    assert (got.reason, names["asked"]) == (None, [PRIVATE_NAME])
    assert f"\r\nhost: {PRIVATE_NAME}:{server.port}\r\n".encode() in server.requests[0].lower()


def test_a_public_name_that_leads_to_this_machine_is_not_connected_to(names):
    names[PUBLIC_NAME] = ["127.0.0.1", "::ffff:127.0.0.1"]
    with Server(answering()) as server:
        for scheme in ("http", "https"):
            transport = HttpTransport(f"{scheme}://{PUBLIC_NAME}:{server.port}", allow_plain_http=True)
            got = transport.send(b"{}", {}, PLENTY_S)
            assert (got.reason, got.sent) == ("connect", "no")
            assert f"{PUBLIC_NAME} resolves to the private address 127.0.0.1" in got.message
    assert server.connections == 0


def test_a_refused_address_beside_an_allowed_one_is_left_out(names):
    names[PRIVATE_NAME] = ["8.8.8.8", "127.0.0.1"]
    with Server(answering()) as server:
        assert HttpTransport(f"http://{PRIVATE_NAME}:{server.port}").send(b"{}", {}, PLENTY_S).reason is None


def test_the_next_address_is_tried_when_one_does_not_answer(names):
    names[PRIVATE_NAME] = ["127.0.0.2", "127.0.0.1"]
    with Server(answering()) as server:
        assert HttpTransport(f"http://{PRIVATE_NAME}:{server.port}").send(b"{}", {}, PLENTY_S).reason is None


@pytest.mark.parametrize("error", [socket.gaierror(-2, "unknown"), UnicodeError("label too long")])
def test_a_name_that_is_unknown_is_its_own_reason(names, error):
    names[PUBLIC_NAME] = error
    got = HttpTransport(f"https://{PUBLIC_NAME}").send(b"{}", {}, PLENTY_S)
    assert (got.reason, got.sent, got.connect_ms) == ("dns", "no", None)


def test_a_server_that_is_not_there_is_not_connected_to():
    with Server(answering()) as server:
        pass
    got = HttpTransport(server.url).send(b"{}", {}, PLENTY_S)
    assert (got.reason, got.sent) == ("connect", "no")


def test_tls_is_spoken_to_a_server_whose_certificate_is_trusted(tls):
    with Server(answering(b"secret"), context=tls) as server:
        transport = HttpTransport(f"https://localhost:{server.port}")
        first, second = (transport.send(b"{}", {}, PLENTY_S) for _ in range(2))
    assert (first.reason, first.body, first.sent) == (None, b"secret", "yes")
    assert (second.reason, second.connect_ms, server.connections) == (None, None, 1)


@pytest.mark.parametrize("fault", ["unknown authority", "another name", "no tls"])
def test_a_certificate_that_cannot_be_trusted_ends_the_request_before_it_is_sent(fault, tls, authority):
    context = {
        "unknown authority": server_side(trustme.CA(), "localhost"),
        "another name": server_side(authority, "other.example"),
        "no tls": None,
    }[fault]
    handle = answering() if context else lambda server, sock: sock.sendall(answer())
    with Server(handle, context=context) as server:
        got = HttpTransport(f"https://localhost:{server.port}").send(b"{}", {}, PLENTY_S)
    assert (got.reason, got.sent) == ("tls", "no")
    assert got.message
    assert server.requests == []


def stalls_after_accepting(server, sock):
    server.done.wait()


def drips_a_handshake(server, sock):
    sock.recv(1)
    server.drip(sock, b"\x16\x03\x03\x3f\xff", times=1)
    server.drip(sock, b"\x00")


def drips_a_head(server, sock):
    server.read(sock)
    sock.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    server.drip(sock, b"y")


def sends_early_hints_without_end(server, sock):
    server.read(sock)
    server.drip(sock, b"HTTP/1.1 103 Early Hints\r\n\r\n")


def drips_a_body(server, sock):
    server.read(sock)
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    server.drip(sock, b" ")


def drips_a_chunked_body(server, sock):
    server.read(sock)
    sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    server.drip(sock, b"1\r\n \r\n")


def drips_the_body_of_an_error(server, sock):
    server.read(sock)
    sock.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 100000\r\n\r\n")
    server.drip(sock, b" ")


def reads_a_little_now_and_then(server, sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    while sock.recv(4096) and not server.done.wait(0.02):
        pass


@pytest.mark.parametrize(
    ("scheme", "handle", "body", "reason", "sent"),
    [
        ("http", stalls_after_accepting, b"{}", "deadline", "unknown"),
        ("https", stalls_after_accepting, b"{}", "deadline", "no"),
        ("https", drips_a_handshake, b"{}", "deadline", "no"),
        ("http", drips_a_head, b"{}", "deadline", "unknown"),
        ("http", sends_early_hints_without_end, b"{}", "deadline", "unknown"),
        ("http", drips_a_body, b"{}", "deadline", "yes"),
        ("http", drips_a_chunked_body, b"{}", "deadline", "yes"),
        ("http", drips_the_body_of_an_error, b"{}", "provider_503", "yes"),
        ("http", reads_a_little_now_and_then, b"x" * (64 << 20), "deadline", "unknown"),
    ],
)
def test_a_request_is_back_in_time_wherever_the_server_stalls(scheme, handle, body, reason, sent):
    with Server(handle) as server:
        got = HttpTransport(f"{scheme}://127.0.0.1:{server.port}").send(body, {}, SHORT_S)
        assert not server.done.is_set()
    assert (got.reason, got.sent) == (reason, sent)


def test_a_request_is_back_in_time_when_nobody_takes_the_connection():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        port = full.getsockname()[1]
        waiting = []
        for _ in range(3):  # what the queue takes, until it takes no more
            waiting.append(socket.socket())
            waiting[-1].settimeout(0.1)
            waiting[-1].connect_ex(("127.0.0.1", port))
        got = HttpTransport(f"http://127.0.0.1:{port}").send(b"{}", {}, SHORT_S)
        for sock in waiting:
            sock.close()
    assert (got.reason, got.sent) == ("deadline", "no")


def test_a_request_is_back_in_time_when_a_name_is_looked_up_without_end(monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: released.wait() and [])
    got = HttpTransport(f"https://{PUBLIC_NAME}").send(b"{}", {}, SHORT_S)
    released.set()
    assert (got.reason, got.sent) == ("deadline", "no")


def test_without_time_nothing_is_sent():
    with Server(answering()) as server:
        for seconds in (0.0, -1.0):
            got = HttpTransport(server.url).send(b"{}", {}, seconds)
            assert (got.reason, got.sent) == ("deadline", "no")
    assert server.requests == []


def test_a_kept_connection_is_no_reason_to_wait_longer():
    def once(server, sock):
        server.read(sock)
        sock.sendall(answer())
        server.read(sock)
        server.drip(sock, b"HTTP/1.1 103 Early Hints\r\n\r\n")

    with Server(once) as server:
        transport = HttpTransport(server.url)
        assert transport.send(b"{}", {}, PLENTY_S).reason is None
        assert transport.send(b"{}", {}, SHORT_S).reason == "deadline"


def test_plain_http_through_the_proxy_goes_to_private_names_when_that_is_allowed():
    with Server(answering(b"by proxy")) as proxy:
        kwargs = {"proxy": f"http://us%3Aer:p%40ss@127.0.0.1:{proxy.port}"}
        url = f"http://{PRIVATE_NAME}:8000/v1/systemone"
        allowed = HttpTransport(url, allow_plain_http=True, **kwargs).send(b"{}", {}, PLENTY_S)
        refused = HttpTransport(url, **kwargs).send(b"{}", {}, PLENTY_S)
        public = HttpTransport(f"http://{PUBLIC_NAME}", allow_plain_http=True, **kwargs).send(
            b"", {}, PLENTY_S
        )
    assert (allowed.reason, allowed.body) == (None, b"by proxy")
    assert (refused.reason, refused.sent, public.reason, public.sent) == ("connect", "no", "connect", "no")
    assert len(proxy.requests) == 1
    assert proxy.requests[0].startswith(f"POST {url} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"us:er:p@ss") in proxy.requests[0]


def test_https_goes_through_the_proxy_as_a_tunnel_to_the_name(tls, authority):
    def tunnel(server, sock):
        server.read(sock)
        sock.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        with server_side(authority, PUBLIC_NAME).wrap_socket(sock, server_side=True) as wrapped:
            answering(b"tunnelled")(server, wrapped)

    with Server(tunnel) as proxy:
        transport = HttpTransport(f"https://{PUBLIC_NAME}/v1/x", proxy=f"http://127.0.0.1:{proxy.port}")
        got = transport.send(b"{}", {"authorization": "Bearer key"}, PLENTY_S)
    assert (got.reason, got.body, got.sent) == (None, b"tunnelled", "yes")
    assert proxy.requests[0].startswith(f"CONNECT {PUBLIC_NAME}:443 HTTP/1.1\r\n".encode())
    assert b"Bearer" not in proxy.requests[0]
    assert proxy.requests[1].startswith(b"POST /v1/x HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("handle", "reason"), [(answering(b"", 407), "connect"), (stalls_after_accepting, "deadline")]
)
def test_a_proxy_that_gives_no_way_leaves_the_request_unsent(handle, reason):
    with Server(handle) as proxy:
        transport = HttpTransport(f"https://{PUBLIC_NAME}", proxy=f"http://127.0.0.1:{proxy.port}")
        got = transport.send(b"{}", {}, SHORT_S)
    assert (got.reason, got.sent) == (reason, "no")


def test_a_server_on_this_machine_is_reached_without_the_proxy():
    with Server(answering()) as proxy, Server(answering()) as server:
        got = HttpTransport(server.url, proxy=proxy.url).send(b"{}", {}, PLENTY_S)
    assert (got.reason, proxy.connections, server.connections) == (None, 0, 1)
