"""What fake model APIs share: a server on loopback, the requests that came, JSON in and events out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, TypeVar

MOST_REQUEST_BYTES = 64 << 20

Self = TypeVar("Self", bound="FakeApi")


class ApiHandler(BaseHTTPRequestHandler):
    """Serves one connection of a fake; `api` is that fake."""

    protocol_version = "HTTP/1.1"
    api: Any

    def log_message(self, format: str, *args: object) -> None:
        return None

    def asked(self) -> dict[str, Any] | None:
        """The JSON object that was sent; None where there is none."""
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= MOST_REQUEST_BYTES:
                return None
            request = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            return None
        return request if isinstance(request, dict) else None

    def stream(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Answer with server-sent events, and close the connection."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


class FakeApi:
    """A fake that listens on a free port of loopback inside its context.

    Attributes:
        requests: The bodies of all requests, in the order they came.
    """

    handler: ClassVar[type[ApiHandler]] = ApiHandler
    below: ClassVar[str] = ""
    """What follows the address in the base URL of a client."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self: Self) -> Self:
        served = type("Served", (self.handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), served)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name=type(self).__name__, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def url(self) -> str:
        """For the client's base URL.

        Raises:
            RuntimeError: It does not listen.
        """
        if self._server is None:
            raise RuntimeError("the fake listens only inside its context")
        return f"http://127.0.0.1:{self._server.server_port}{self.below}"
