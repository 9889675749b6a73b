"""A messages API on the loopback that plays a script: what a host's client needs to run without a model.

It speaks the public streaming form of the messages API (server-sent events, one message each), hands out one
scripted tool call a turn, ends the turn when the script is over, and keeps every request. Which call is next
follows from the request alone: the calls that it already holds are done.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from admit.hosts.fake_api import ApiHandler, FakeApi

END = "done"
ID = "toolu_admit_"
_USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


class Call(NamedTuple):
    """A scripted tool call."""

    tool: str
    input: Mapping[str, Any]


class _Handler(ApiHandler):
    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._error(404, "not_found_error")

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        request = self.asked()
        if request is None:
            self.close_connection = True
            self._error(400, "invalid_request_error")
        elif path == "/v1/messages/count_tokens":
            tokens = int(self.headers["Content-Length"]) // 4
            self._send(200, json.dumps({"input_tokens": tokens}).encode())
        elif path != "/v1/messages":
            self._error(404, "not_found_error")
        elif request.get("stream"):
            self.stream(events(self.api.answer(request)))
        else:
            self._send(200, json.dumps(self.api.answer(request)).encode())

    def _error(self, status: int, kind: str) -> None:
        error = {"type": "error", "error": {"type": kind, "message": "the fake has no such thing"}}
        self._send(status, json.dumps(error).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class FakeMessages(FakeApi):
    """The server; a context in which it listens, on a free port of 127.0.0.1.

    Args:
        script: The tool calls, one a turn, in order; call `k` has the id `call_id(k)`.
        aside: The answer to a request without tools, such as a summary that the client asks for.
        last: What is said when the script is over.
    """

    handler = _Handler

    def __init__(self, script: Sequence[Call] = (), *, aside: str = END, last: str = END) -> None:
        super().__init__()
        self._script = tuple(script)
        self._aside = aside
        self._last = last

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests of the conversation itself: those that offer tools."""
        with self._lock:
            return [request for request in self.requests if request.get("tools")]

    def result_of(self, call: int) -> str | None:
        """What the model was told of a scripted call, as text; None where no request holds it."""
        for request in reversed(self.turns):
            for block in _blocks(request, "user"):
                if block.get("type") == "tool_result" and block.get("tool_use_id") == call_id(call):
                    return _text(block.get("content"))
        return None

    def told(self) -> str:
        """Everything that the model was told in the last turn, the calls themselves left out."""
        if not self.turns:
            return ""
        last = self.turns[-1]
        parts = [_text(block) for role in ("user", "system") for block in _blocks(last, role)]
        return "\n".join([_text(last.get("system")), *parts])

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The message that answers a request."""
        with self._lock:
            self.requests.append(request)
        done = sum(str(block.get("id", "")).startswith(ID) for block in _blocks(request, "assistant"))
        block: dict[str, Any] = {"type": "text", "text": self._last}
        if not request.get("tools"):
            block = {"type": "text", "text": self._aside}
        elif done < len(self._script):
            tool, given = self._script[done]
            block = {"type": "tool_use", "id": call_id(done), "name": tool, "input": dict(given)}
        return {
            "id": f"msg_{len(self.requests):06d}",
            "type": "message",
            "role": "assistant",
            "model": str(request.get("model", "fake")),
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": dict(_USAGE),
        }


def call_id(place: int) -> str:
    """The id of a scripted call, by its place from 0."""
    return f"{ID}{place:03d}"


def events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events that stream a message of one block."""
    (block,) = message["content"]
    started = {**message, "content": [], "stop_reason": None}
    if block["type"] == "text":
        opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        opened = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "message_start", "message": started}
    yield {"type": "content_block_start", "index": 0, "content_block": opened}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {name: message[name] for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _blocks(request: Mapping[str, Any], role: str) -> Iterator[dict[str, Any]]:
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == role:
            content = message.get("content")
            if isinstance(content, str):
                yield {"type": "text", "text": content}
            elif isinstance(content, list):
                yield from (block for block in content if isinstance(block, dict))


def _text(value: Any) -> str:
    """The texts in a content, joined."""
    if isinstance(value, list):
        return "\n".join(_text(one) for one in value)
    if isinstance(value, dict):
        return _text(value.get("text") if value.get("type") == "text" else value.get("content"))
    return value if isinstance(value, str) else ""
