"""Requests to a judge over HTTP: sent once, to no other address, and back within the time given.

No retry, no redirect, no proxy or account out of the environment, no body that unfolds: a request asks for
an answer as it is, and what comes compressed stays so. The HTTP library is loaded by the first request.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, unquote, urlsplit

from admit.errors import ConfigError

from .hostnames import is_private, is_this_machine
from .parse import MOST_BYTES, Rejected, decode
from .profiles import address_of
from .wire import Sent, one_line

if TYPE_CHECKING:
    import httpcore2

MOST_ERROR_BYTES = 64 << 10
KEPT_S = 60.0
"""How long a connection is kept at rest."""

WARM_S = 5.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PATH = "/%:@!$&'()*+,;=~"
_QUERY = _PATH + "?"
_MESSAGE_KEYS = ("error", "detail", "message", "msg", "errors", "error_description", "title")


class HttpTransport:
    """Sends requests to one URL, from any thread, over connections that are kept open.

    Args:
        url: The endpoint, http or https.
        proxy: ``http://HOST:PORT``, or with ``USER:PASSWORD@``; servers on this machine are reached without.
        allow_plain_http: Whether plain http may go to private addresses, not only to this machine.

    Raises:
        ConfigError: A URL cannot be used.
    """

    def __init__(self, url: str, *, proxy: str | None = None, allow_plain_http: bool = False) -> None:
        self._scheme, self._host, self._port = _origin(url)
        self._target = _target(url)
        self._proxy = proxy
        if proxy is not None and not (proxy.startswith("http://") and urlsplit(proxy).hostname):
            raise ConfigError("judge.proxy is no http proxy; write http://HOST:PORT", key="judge.proxy")
        self._allow_plain_http = allow_plain_http
        # By process: a connection is of no use to a child that was forked, and a lock may never be free.
        self._pools: dict[int, httpcore2.ConnectionPool] = {}

    def send(self, body: bytes, headers: Mapping[str, str], seconds: float) -> Sent:
        """Post, and be back within `seconds`, wherever it stalls.

        Redirects and other answers than 2xx are reasons. Of an answer at most 1 MiB and one byte is read.
        """
        return self._exchange("POST", self._target, headers, body, seconds)

    def get(self, path: str, headers: Mapping[str, str], seconds: float) -> Sent:
        """Read another path of the same server, such as ``/v1/models``, under the same rules."""
        return self._exchange("GET", _target(path), headers, None, seconds)

    def warm(self) -> None:
        """Open a connection unless one is kept, with a `HEAD` on the base; takes at most 5 s."""
        pool = self._pools.get(os.getpid())
        if pool is None or not any(one.is_idle() and not one.has_expired() for one in pool.connections):
            self._exchange("HEAD", b"/", {}, None, WARM_S)

    def close(self) -> None:
        """Close what is kept open; a later request opens it again."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.close()

    def _exchange(
        self, method: str, target: bytes, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> Sent:
        begun = time.monotonic()
        progress = _Progress(begun)
        content = bytearray()
        status: int | None = None
        reason: str | None = None
        message = retry_after = ""
        try:
            with self._stream(method, target, headers, body, begun + seconds, progress) as response:
                progress.answered()
                status = response.status
                retry_after = _header(response.headers, b"retry-after")
                _fill(
                    content,
                    response.iter_stream(),
                    MOST_BYTES + 1 if _is_answer(status) else MOST_ERROR_BYTES,
                )
        except Exception as error:
            reason, message = reason_of(error, answered=status is not None), _said_of(error)
        if status is not None and not _is_answer(status):
            reason = "redirect" if status in _REDIRECTS else f"provider_{status}"
            message = error_message(bytes(content))
        return Sent(
            reason,
            progress.sent,
            status,
            bytes(content),
            progress.connect_ms,
            progress.first_byte_ms,
            retry_after_s(retry_after, time.time()),
            message,
        )

    def _stream(
        self,
        method: str,
        target: bytes,
        headers: Mapping[str, str],
        body: bytes | None,
        moment: float,
        progress: _Progress,
    ) -> AbstractContextManager[httpcore2.Response]:
        import httpcore2

        return self._pool().stream(
            method,
            httpcore2.URL(
                scheme=self._scheme.encode(), host=self._host.encode(), port=self._port, target=target
            ),
            headers=[*self._headers(), *headers.items()],
            content=body,
            # Moments, not durations: see `connect`. No request waits for another one's connection.
            extensions={
                "timeout": {"connect": moment, "read": moment, "write": moment},
                "trace": progress.see,
            },
        )

    def _headers(self) -> list[tuple[str, str]]:
        host = f"[{self._host}]" if ":" in self._host else self._host
        default = {"http": 80, "https": 443}[self._scheme]
        return [
            ("Host", host if self._port == default else f"{host}:{self._port}"),
            ("User-Agent", "admit"),
            ("Accept-Encoding", "identity"),
        ]

    def _pool(self) -> httpcore2.ConnectionPool:
        own = os.getpid()
        return self._pools.get(own) or self._pools.setdefault(own, self._opened())

    def _opened(self) -> httpcore2.ConnectionPool:
        import httpcore2

        from .connect import Network, Unconnected, refusal

        def refuses(host: str, address: str) -> str | None:
            return refusal(self._scheme, host, address, allow_plain_http=self._allow_plain_http)

        proxied = self._proxy is not None and not is_this_machine(self._host)
        # A proxy is the user's own and resolves the name itself, so only the name can be judged.
        if proxied and self._scheme == "http" and not (self._allow_plain_http and is_private(self._host)):
            raise Unconnected("connect", f"plain http to {self._host} through a proxy; write https://")
        return httpcore2.ConnectionPool(
            ssl_context=httpcore2.default_ssl_context() if self._scheme == "https" else None,
            proxy=_proxy(self._proxy or "") if proxied else None,
            max_connections=None,
            keepalive_expiry=KEPT_S,
            retries=0,
            network_backend=Network((lambda host, address: None) if proxied else refuses),
        )


class _Progress:
    """How far one exchange has come, as the HTTP library tells it."""

    def __init__(self, begun: float) -> None:
        self.sent: Literal["no", "unknown", "yes"] = "no"
        self.connect_ms: float | None = None
        self.first_byte_ms: float | None = None
        self._begun = begun

    def see(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            self.connect_ms = self._elapsed_ms()
        # A proxy is asked for a way first, which is nothing of ours.
        elif event == "http11.send_request_headers.started" and info["request"].method != b"CONNECT":
            self.sent = "unknown"
        elif event == "http11.send_request_headers.failed" and reason_of(info["exception"]) == "internal":
            self.sent = "no"  # refused by the library, before any byte of it

    def answered(self) -> None:
        self.sent = "yes"
        self.first_byte_ms = self._elapsed_ms()

    def _elapsed_ms(self) -> float:
        return (time.monotonic() - self._begun) * 1000


def retry_after_s(value: str, now: float) -> float | None:
    """How long a server asks to be left alone, in s; None where it does not say.

    Args:
        value: The header: seconds, or a date (RFC 9110, 10.2.3).
        now: The time by the wall clock, in s since 1970.
    """
    value = value.strip()
    if re.fullmatch(r"[0-9]+", value, re.ASCII):
        return float(value)
    from email.utils import parsedate_to_datetime  # loads `socket`

    try:
        seconds = parsedate_to_datetime(value).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None
    return max(0.0, seconds)


def error_message(body: bytes) -> str:
    """What the body of an error says, in one line of at most 200 printable characters; not redacted.

    Found in JSON under the usual names, `{"error": {"message"}}`, `{"detail": [{"msg"}]}` and the like; else
    the text itself.
    """
    value = decode(body)
    if isinstance(value, Rejected):
        value = body.decode("utf-8", "replace")
    while isinstance(value, (dict, list)):
        if isinstance(value, dict):
            value = next((value[key] for key in _MESSAGE_KEYS if value.get(key)), "")
        else:
            value = value[0] if value else ""
    return one_line(value) if isinstance(value, str) else ""


def reason_of(error: BaseException, *, answered: bool = False) -> str:
    """The fallback reason of whatever the HTTP library, or our part of it, raises.

    Args:
        answered: Whether an answer had begun: one that cannot be read to its end is truncated.
    """
    if isinstance(error, ImportError):
        return "internal"  # there is no library whose errors could be told apart
    import httpcore2

    from .connect import Late, Unconnected

    if isinstance(error, Unconnected):
        return error.reason
    reasons: tuple[tuple[type[BaseException], str], ...] = (
        (Late, "deadline"),
        (httpcore2.TimeoutException, "deadline"),
        (httpcore2.ConnectError, "connect"),
        (httpcore2.ProxyError, "connect"),
        (httpcore2.NetworkError, "transport"),
        (httpcore2.ConnectionNotAvailable, "transport"),
        (httpcore2.RemoteProtocolError, "answer_truncated" if answered else "transport"),
    )
    # The rest is ours: a request that cannot be put into HTTP, or a bug.
    return next((reason for kind, reason in reasons if isinstance(error, kind)), "internal")


def _said_of(error: Exception) -> str:
    """What we know of an error: our own words, else its type, for others may quote what they were given."""
    return one_line(getattr(error, "said", type(error).__name__))


def _is_answer(status: int) -> bool:
    return 200 <= status < 300


def _fill(content: bytearray, chunks: Iterable[bytes], most: int) -> None:
    """Read up to `most` bytes; the rest is left, and the connection with it."""
    for chunk in chunks:
        content += chunk[: most - len(content)]
        if len(content) >= most:
            return


def _header(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == wanted), "")


def _origin(url: str) -> tuple[str, str, int]:
    """Scheme, host in ASCII and port of a URL."""
    parts = urlsplit(address_of(url))
    try:
        host = (parts.hostname or "").encode("idna").decode("ascii")
    except UnicodeError:
        raise ConfigError(f"{parts.hostname!r} is no name of a host; write https://HOST") from None
    return parts.scheme, host, parts.port or 0


def _target(url: str) -> bytes:
    """Path and query of a URL as a request holds them."""
    parts = urlsplit(url)
    path = quote(parts.path or "/", safe=_PATH)
    return (f"{path}?{quote(parts.query, safe=_QUERY)}" if parts.query else path).encode("ascii")


def _proxy(url: str) -> httpcore2.Proxy:
    import httpcore2

    parts = urlsplit(url)
    auth = (unquote(parts.username or ""), unquote(parts.password or ""))
    return httpcore2.Proxy(
        httpcore2.URL(
            scheme=b"http", host=(parts.hostname or "").encode("idna"), port=parts.port or 80, target=b"/"
        ),
        auth=auth if any(auth) else None,
    )
