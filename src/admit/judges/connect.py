"""Connections to a judge's server: the name is resolved once, its addresses are judged, one is connected to.

What the HTTP library is given for a timeout is a moment on the monotonic clock, not a duration: it hands
the value on unchanged to each read and write, so a server that sends one byte at a time gains nothing.
"""

from __future__ import annotations

import ipaddress
import queue
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any

import httpcore2

from .hostnames import IpAddress, is_private, is_this_machine, literal

SocketAddress = tuple[Any, ...]

_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Unconnected(Exception):
    """There is no connection, and nothing was sent.

    Attributes:
        reason: One of `core.reasons.REASONS`.
        said: What is known of it, without a word of the request.
    """

    def __init__(self, reason: str, said: str = "") -> None:
        super().__init__(reason, said)
        self.reason = reason
        self.said = said


class Late(Exception):
    """The moment has passed."""


def refusal(scheme: str, host: str, address: str, *, allow_plain_http: bool) -> str | None:
    """Why this address of a host may not be connected to; None where it may."""
    found = _inner(literal(address))
    if found is None:
        return f"{address} is no address"
    if found.is_loopback:
        return None if is_private(host) else _leads_inside(host, found)
    if is_this_machine(host):  # for which nobody was asked for consent
        return f"{host} resolves to {found}, which is not this machine"
    if found.is_global:
        return None if scheme == "https" else f"plain http to the public address {found}; write https://"
    if not is_private(host):
        return _leads_inside(host, found)
    if scheme == "https" or allow_plain_http:
        return None
    return f"plain http to {found}; write https://, or set judge.allow_plain_http"


def _leads_inside(host: str, address: IpAddress) -> str:
    return f"{host} resolves to the private address {address}; name the address itself if it is meant"


class Network(httpcore2.NetworkBackend):
    """Opens connections for the HTTP library.

    Args:
        refuses: Why an address of a host may not be connected to, or None.
    """

    def __init__(self, refuses: Callable[[str, str], str | None]) -> None:
        self._refuses = refuses

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that may be and answers. See the module on `timeout`.

        Raises:
            Unconnected: With the reason ``dns``, ``connect`` or ``deadline``.
        """
        resolved = _resolve(host, port, timeout)
        refused = [self._refuses(host, at[0]) for _, at in resolved]
        allowed = [one for one, why in zip(resolved, refused, strict=True) if why is None]
        if not allowed:
            raise Unconnected("connect", next(filter(None, refused), f"{host} has no address"))
        message = ""
        for done, (family, at) in enumerate(allowed):
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                # A silent address leaves time for the next one.
                sock.settimeout(_left(timeout) / (len(allowed) - done))
                sock.connect(at)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return Stream(sock)
            except OSError as error:
                sock.close()
                message = error.strerror or "timed out"
            except Late:
                sock.close()
                break
        raise Unconnected("deadline" if _is_past(timeout) else "connect", message)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Any = None
    ) -> httpcore2.NetworkStream:
        raise Unconnected("connect", "sockets of files are not spoken to")


class Stream(httpcore2.NetworkStream):
    """One connection, each wait of which ends at the moment given as `timeout`."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._sock.settimeout(_left(timeout))
            return self._sock.recv(max_bytes)
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise httpcore2.ReadError(type(error).__name__) from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        try:
            while view:
                self._sock.settimeout(_left(timeout))
                view = view[self._sock.send(view) :]
        except TimeoutError:
            raise Late from None
        except OSError as error:
            raise httpcore2.WriteError(type(error).__name__) from None

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            self._sock.settimeout(_left(timeout))
            return Stream(ssl_context.wrap_socket(self._sock, server_hostname=server_hostname))
        except (Late, TimeoutError):
            self.close()
            raise Unconnected("deadline") from None
        except (ssl.SSLError, ValueError) as error:  # a name that no certificate can hold is a ValueError
            self.close()
            message = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
            raise Unconnected("tls", message) from None
        except OSError as error:
            self.close()
            raise Unconnected("connect", error.strerror or "") from None

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
        if info == "is_readable":
            return _is_readable(self._sock)
        return self._sock if info == "socket" else None


def _resolve(host: str, port: int, moment: float | None) -> list[tuple[int, SocketAddress]]:
    """The addresses of a host in the resolver's order, waited for in a thread, for a look-up has no end."""
    results: queue.SimpleQueue[list[tuple[int, SocketAddress]] | str] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            results.put([(family, at) for family, _, _, _, at in found])
        except (OSError, UnicodeError) as error:
            results.put(getattr(error, "strerror", None) or type(error).__name__)

    if literal(host) is None:
        threading.Thread(target=look_up, name="judge name", daemon=True).start()
    else:
        look_up()
    try:
        found = results.get(timeout=_left(moment))
    except (Late, queue.Empty):
        raise Unconnected("deadline") from None
    if isinstance(found, str):
        raise Unconnected("dns", found)
    return found


def _left(moment: float | None) -> float:
    """Seconds until a moment; without one there is no waiting at all."""
    seconds = (moment or 0.0) - time.monotonic()
    if seconds <= 0:
        raise Late
    return seconds


def _is_past(moment: float | None) -> bool:
    return (moment or 0.0) <= time.monotonic()


def _inner(address: IpAddress | None) -> IpAddress | None:
    """The IPv4 address that an IPv6 one carries through a gateway, for that is where it leads."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.sixtofour or address
    return address


def _is_readable(sock: socket.socket) -> bool:
    """Whether bytes or the end wait: for a connection at rest, that the server has closed it."""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ)
            return bool(selector.select(0))
    except (OSError, ValueError):  # closed, maybe by another thread just now
        return True
