"""A responses API on the loopback that plays a script, as `fake_messages` does for the messages API.

It speaks the public streaming form (server-sent events, one item a response) and keeps every request. Which
call is next follows from the request alone: the calls that it already holds are done.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from admit.hosts.fake_messages import END, MOST_REQUEST_BYTES

ID = "call_admit_"
_CALLS = ("function_call", "custom_tool_call")
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class FakeResponses:
    """The server; a context in which it listens, on a free port of 127.0.0.1.

    Args:
        script: The items of the calls, one a turn, in order, without their ids.
        last: What is said when the script is over.

    Attributes:
        requests: The bodies of all requests, in the order they came.
    """

    def __init__(self, script: Sequence[Mapping[str, Any]] = (), *, last: str = END) -> None:
        self._script = tuple(script)
        self._last = last
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> FakeResponses:
        fake = self

        class Handler(_Handler):
            api = fake

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="fake-responses", daemon=True).start()
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
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The events that answer a request."""
        with self._lock:
            self.requests.append(request)
            id = f"resp_{len(self.requests):06d}"
        given = request.get("input")
        items = given if isinstance(given, list) else []
        done = sum(isinstance(one, dict) and one.get("type") in _CALLS for one in items)
        item: dict[str, Any] = {
            "type": "message",
            "role": "assistant",
            "id": f"msg_{id}",
            "content": [{"type": "output_text", "text": self._last}],
        }
        if done < len(self._script):
            item = {**self._script[done], "id": f"item_{id}", "call_id": f"{ID}{done:03d}"}
        return [
            {"type": "response.created", "response": {"id": id}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": id, "usage": dict(_USAGE)}},
        ]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: FakeResponses

    def log_message(self, format: str, *args: object) -> None:
        return None

    def do_GET(self) -> None:
        self._refuse(404)

    def do_POST(self) -> None:
        self.close_connection = True
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= MOST_REQUEST_BYTES:
                raise ValueError
            request = json.loads(self.rfile.read(length))
            if not isinstance(request, dict):
                raise ValueError
        except (ValueError, RecursionError):
            self._refuse(400)
            return
        if self.path.partition("?")[0] != "/v1/responses":
            self._refuse(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in self.api.answer(request):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
