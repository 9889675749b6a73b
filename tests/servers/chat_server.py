"""A judge server on loopback, for tests, the bench and the documents.

    python -m tests.servers.chat_server --port 0 --mode ok

It prints its address on the first line; a GET of it gives the requests that came so far. It speaks chat
completions (``POST …/chat/completions``), messages in the style of Anthropic (``POST …/messages``) and the
SystemOne interface (any other path). It answers by the words that an item and the task share, or by the
function given, and misbehaves as its mode says: see `MODES`.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from .replies import Judge, judgements, reply, shared_words, systemone_answers, understand

MODES = {
    "ok": "answers",
    "latency": "answers after a + b · n: 0.6 s and 0.1 s a candidate, times --scale",
    "stall-connect": "takes no connection (Linux: the queue of the socket is full)",
    "stall-headers": "reads the request and never answers",
    "stall-body": "sends the head and half of the body, then nothing",
    "drip": "sends the body byte by byte, one every --drip-ms",
    "closes": "closes the connection in place of an answer",
    "broken-json": "a body that is not JSON",
    "code-fence": "the forced field (chat) or the body (SystemOne) inside a code fence",
    "truncated": "a stop reason that says the answer was cut, and a cut answer",
    "huge": "a body of more than 1 MiB",
    "redirect": "302 to another path, which would answer",
    "echo": "verdict-looking text beside the forced field, the true answer in it",
    "echo-only": "the prompt and verdict-looking text, nothing in the forced field",
    "extra-ids": "answers to ids that were not asked",
    "twice": "two judgements for the first id",
    "missing": "no judgement for the first id",
    "refusal": "refuses",
    "no-call": "text, and no call of the tool",
    "many-calls": "two calls of the tool",
    "drift": "another model's name",
    "no-usage": "no token counts",
    "status-CODE": "that HTTP status, such as status-429; --retry-after adds the header",
}


class Recorded(NamedTuple):
    """A request as it came; header names in lower case; seconds on the monotonic clock."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    def json(self) -> Any:
        return json.loads(self.body)


class ChatServer:
    """The server, in threads of this process; a context manager.

    Args:
        mode: One of `MODES`, or ``status-CODE``; may be set anew between requests.
        port: 0 takes any free one.
        judge: Answers by task and item; `shared_words` when None.
        scale: Of the latency line.
        drip_ms: Between two bytes.
        retry_after: Value of the header beside an error status; None sends none.

    Attributes:
        requests: Every request with a body, in the order they came.
        heads: Requests that only opened a connection, a count.
        connections: How many were accepted.
        url: ``http://127.0.0.1:PORT``.
    """

    def __init__(
        self,
        mode: str = "ok",
        *,
        port: int = 0,
        judge: Judge | None = None,
        scale: float = 1.0,
        drip_ms: float = 20.0,
        retry_after: str | None = None,
    ) -> None:
        if mode not in MODES and not mode.removeprefix("status-").isdigit():
            raise ValueError(f"no mode {mode!r}; one of {', '.join(MODES)}")
        self.mode = mode
        self.judge = judge or shared_words
        self.scale = scale
        self.drip_ms = drip_ms
        self.retry_after = retry_after
        self.requests: list[Recorded] = []
        self.heads = 0
        self.connections = 0
        self.stopping = threading.Event()
        self._fillers: list[socket.socket] = []
        self._server = _Server(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        if mode == "stall-connect":
            self._fill_queue()
        else:
            threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Stop, and let every stalled answer end."""
        self.stopping.set()
        if self.mode != "stall-connect":
            self._server.shutdown()
        self._server.server_close()
        for one in self._fillers:
            one.close()

    def __enter__(self) -> ChatServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fill_queue(self) -> None:
        """Fill the queue of connections that nobody accepts; the next one gets no answer."""
        self._server.socket.listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self._server.server_address)
            self._fillers.append(filler)
        time.sleep(0.05)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], own: ChatServer) -> None:
        self.own = own
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.own.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is what many modes are for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        """What came so far, for whoever started this as a process; never in the way of a mode."""
        came = self.server.own.requests
        asked = [{**one._asdict(), "body": one.body.decode("utf-8", "replace")} for one in came]
        self._send(200, json.dumps(asked).encode())

    def do_HEAD(self) -> None:
        self.server.own.heads += 1
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        own = self.server.own
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        own.requests.append(Recorded(self.path, headers, body, time.monotonic()))
        mode = own.mode
        if mode == "stall-headers":
            own.stopping.wait()
            self.close_connection = True
        elif mode == "closes":
            self.close_connection = True
        elif mode == "redirect" and not self.path.startswith("/elsewhere"):
            self._send(302, b"", location=f"/elsewhere{self.path}")
        elif mode.startswith("status-"):
            error = {"error": {"type": "error", "message": f"the server says {mode.removeprefix('status-')}"}}
            more = {} if own.retry_after is None else {"retry-after": own.retry_after}
            self._send(int(mode.removeprefix("status-")), json.dumps(error).encode(), **more)
        else:
            self._answer(json.loads(body), mode)

    def _answer(self, asked: Any, mode: str) -> None:
        own = self.server.own
        request = understand(self.path, asked)
        if mode == "latency":
            own.stopping.wait((0.6 + 0.1 * len(request.items)) * own.scale)
        whole = _whole(request, own.judge, mode, len(self.path) + len(json.dumps(asked)) // 4)
        body = json.dumps(whole).encode()
        if mode == "broken-json":
            body = b"Sure! " + body
        elif mode == "code-fence" and request.style == "systemone":
            body = b"```json\n" + body + b"\n```"
        elif mode == "huge":
            body += b" " * (1 << 20)
        self._send(200, body)

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        own = self.server.own
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if own.mode == "stall-body" and status == 200:
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            own.stopping.wait()
            self.close_connection = True
        elif own.mode == "drip" and status == 200:
            for k in range(len(body)):
                self.wfile.write(body[k : k + 1])
                if own.stopping.wait(own.drip_ms / 1000):
                    return
        else:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the first line of a subprocess is its address, and the rest is silence."""


def _whole(request: Any, judge: Judge, mode: str, tokens_in: int) -> dict[str, Any]:
    """The reply, with what the mode does to its answers."""
    if request.style == "systemone":
        answers = systemone_answers(request, judge)
        first = next(iter(answers), None)
        if mode == "extra-ids":
            answers["q99"] = {"type": "noul", "noul": 1.0}
        elif mode == "missing" and first is not None:
            del answers[first]
        forced: Any = answers
    else:
        given = judgements(request, judge)
        if mode == "extra-ids":
            given.append({**given[0], "id": "q99"})
        elif mode == "twice":
            given.append(given[0])
        elif mode == "missing":
            del given[0]
        forced = {"judgements": given}
    whole = reply(request, forced, mode, tokens_in)
    if mode == "no-usage":
        del whole["usage"]
    if mode == "code-fence":
        _put_in_code_fence(whole, request.style)
    return whole


def _put_in_code_fence(whole: dict[str, Any], style: str) -> None:
    if style == "schema":
        message = whole["choices"][0]["message"]
        message["content"] = f"```json\n{message['content']}\n```"
    elif style == "tool":
        function = whole["choices"][0]["message"]["tool_calls"][0]["function"]
        function["arguments"] = f"```json\n{function['arguments']}\n```"
    elif style == "messages":
        whole["content"][1]["input"] = f"```json\n{json.dumps(whole['content'][1]['input'])}\n```"


def main(arguments: list[str] | None = None) -> int:
    lines = "\n".join(f"  {name:14} {what}" for name, what in MODES.items())
    parser = argparse.ArgumentParser(
        description=f"A judge server on loopback.\n\nmodes:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--mode", default="ok", metavar="MODE", help="one of the modes above")
    parser.add_argument("--scale", type=float, default=1.0, help="of the latency line")
    parser.add_argument("--drip-ms", type=float, default=20.0, help="between two bytes of a drip")
    parser.add_argument("--retry-after", help="value of the header beside an error status")
    given = parser.parse_args(arguments)
    try:
        server = ChatServer(
            given.mode,
            port=given.port,
            scale=given.scale,
            drip_ms=given.drip_ms,
            retry_after=given.retry_after,
        )
    except ValueError as error:
        parser.error(str(error))
    with server:
        print(server.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
