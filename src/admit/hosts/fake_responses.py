"""A responses API on the loopback that plays a script, as `fake_messages` does for the messages API.

It speaks the public streaming form (server-sent events, one item a response) and keeps every request. Which
call is next follows from the request alone: the calls that it already holds are done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from admit.hosts.fake_api import ApiHandler, FakeApi
from admit.hosts.fake_messages import END

ID = "call_admit_"
_CALLS = ("function_call", "custom_tool_call")
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}


class _Handler(ApiHandler):
    def do_GET(self) -> None:
        self._refuse(404)

    def do_POST(self) -> None:
        self.close_connection = True
        request = self.asked()
        if request is None:
            self._refuse(400)
        elif self.path.partition("?")[0] != "/v1/responses":
            self._refuse(404)
        else:
            self.stream(self.api.answer(request))

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


class FakeResponses(FakeApi):
    """The server; a context in which it listens, on a free port of 127.0.0.1.

    Args:
        script: The items of the calls, one a turn, in order, without their ids.
        last: What is said when the script is over.
    """

    handler = _Handler
    below = "/v1"

    def __init__(self, script: Sequence[Mapping[str, Any]] = (), *, last: str = END) -> None:
        super().__init__()
        self._script = tuple(script)
        self._last = last

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
