"""MCP servers for tests: an honest one of 300 tools on five pages, and others that misbehave by their mode.

    python -m tests.servers.mcp_server                        stdio
    python -m tests.servers.mcp_server --http 0               streamable HTTP; prints its address first
    python -m tests.servers.mcp_server --mode cursor-repeat   stdio

The honest one is made with the MCP library, both eras. The others write their own lines, for the library
would not let such things out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

MODES = {
    "honest": "300 tools on five pages, over stdio or HTTP",
    "empty-cursor": "two pages, where the cursor of the second is the empty text",
    "cursor-repeat": "three pages, of which the last leads back to the second",
    "same-page": "always the first page, each time with a cursor never seen",
    "duplicate-names": "two different tools of one name",
    "null-schema": "a tool whose schema is null, one with a list, one without a name, one that is a text",
    "huge-schema": "a tool with a schema of 300 KiB",
    "no-tools": "no tool",
    "exact": "one tool with numbers and keys that a careless reader changes",
    "noise": "lines that are no messages before each answer",
    "error": "an error in place of the tools",
    "slow-start": "never answers the handshake",
    "slow-list": "never answers the question for tools",
    "dies-at-start": "writes to stderr and ends with 3",
    "dies-at-list": "ends when it is asked for its tools",
    "environment": "one tool, described by the names of the variables that it was started with",
}
PAGES = 5
INSTRUCTIONS = "Keeps the files of a small library. Search before you change anything."

_VERBS = (
    "add", "list", "get", "update", "delete", "search", "export", "import", "archive", "restore", "count",
    "copy", "move", "lock", "share",
)  # fmt: skip
_NOUNS = (
    "book", "author", "reader", "loan", "shelf", "branch", "fine", "reservation", "magazine", "map", "film",
    "record", "score", "letter", "photo", "catalog", "label", "room", "event", "invoice",
)  # fmt: skip


def tools() -> list[dict[str, Any]]:
    """The tools of the honest server, as they go over the wire."""
    return [_tool(verb, noun) for noun in _NOUNS for verb in _VERBS]


def _tool(verb: str, noun: str) -> dict[str, Any]:
    reads = verb in ("list", "get", "search", "count", "export")
    return {
        "name": f"{verb}_{noun}",
        "title": f"{verb.capitalize()} a {noun}",
        "description": f"{verb.capitalize()} a {noun} of the library.",
        "inputSchema": {
            "type": "object",
            "properties": {
                f"{noun}_id": {"type": "string", "description": f"Which {noun}"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            },
            "required": [f"{noun}_id"],
        },
        "annotations": {"readOnlyHint": reads, "destructiveHint": verb == "delete"},
    }


def plain(name: str, **more: Any) -> dict[str, Any]:
    """A small tool."""
    return {"name": name, "description": f"Does {name}", "inputSchema": {"type": "object"}, **more}


def page(mode: str, cursor: str | None, number: int) -> dict[str, Any]:
    """What a misbehaving server answers to its `number`-th question for tools."""
    if mode == "empty-cursor":
        return {"tools": [plain("one")], "nextCursor": ""} if cursor is None else {"tools": [plain("two")]}
    if mode == "cursor-repeat":
        after = {None: "b", "b": "c", "c": "b"}[cursor]
        return {"tools": [plain(f"of_{cursor or 'a'}")], "nextCursor": after}
    if mode == "same-page":
        return {"tools": [plain("one"), plain("two")], "nextCursor": f"c{number}"}
    if mode == "duplicate-names":
        return {"tools": [plain("same"), plain("same", title="The other"), plain("else")]}
    if mode == "null-schema":
        bad = [plain("null", inputSchema=None), plain("list", inputSchema=[]), {"description": "x"}, "text"]
        return {"tools": [*bad, plain("good")]}
    if mode == "huge-schema":
        values = [f"value {place}" for place in range(20_000)]
        schema = {"type": "object", "properties": {"which": {"enum": values}}}
        return {"tools": [plain("huge", inputSchema=schema), plain("small")]}
    if mode == "exact":
        odd = {"minimum": 0.1, "maximum": 12345678901234567890, "default": 1.0, "x-odd": {"b": 1, "a": None}}
        schema = {"type": "object", "properties": {"n": {"type": "number", **odd}}}
        return {
            "tools": [plain("exact", inputSchema=schema, icons=[], unheard={"of": [1, 2]}, _meta={"k": 0})]
        }
    if mode == "environment":
        import os

        return {"tools": [plain("environment", description=" ".join(sorted(os.environ)))]}
    return {"tools": []} if mode == "no-tools" else {"tools": [plain("one")]}


def misbehave(mode: str) -> int:
    """Speak the older protocol line by line over stdio, as a mode says."""
    if mode == "dies-at-start":
        print("cannot open the library: no key", file=sys.stderr)
        return 3
    asked = 0
    for request in _requests():
        method = request.get("method", "")
        if mode == "noise":
            print("Welcome to the library!", "{not json", sep="\n", flush=True)
        if method == "initialize" and mode != "slow-start":
            about = {"name": "library", "version": "1"}
            told = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
            _answer(request, {**told, "instructions": INSTRUCTIONS})
        elif method == "tools/list":
            if mode == "dies-at-list":
                return 4
            asked += 1
            if mode == "error":
                _answer(request, error={"code": -32603, "message": "the library is closed"})
            elif mode != "slow-list":
                _answer(request, page(mode, request.get("params", {}).get("cursor"), asked))
        elif "id" in request and mode != "slow-start":
            _answer(request, error={"code": -32601, "message": f"no method {method}"})
    return 0


def _requests() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def _answer(request: dict[str, Any], result: Any = None, error: Any = None) -> None:
    outcome = {"result": result} if error is None else {"error": error}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)


def honest() -> Any:
    """The honest server, as the library makes one."""
    import mcp.types as types
    from mcp.server import Server

    every = [types.Tool.model_validate(one) for one in tools()]
    size = len(every) // PAGES

    async def list_tools(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int(params.cursor) if params is not None and params.cursor is not None else 0
        after = start + size
        more = str(after) if after < len(every) else None
        return types.ListToolsResult(tools=every[start:after], next_cursor=more)

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        said = json.dumps({"name": params.name, "arguments": params.arguments}, sort_keys=True)
        return types.CallToolResult(content=[types.TextContent(text=said)])

    return Server("library", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    from mcp.server.stdio import stdio_server

    server = honest()
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def over_http(port: int, *, ready: Callable[[str], None], token: str = "") -> None:
    """Serve on loopback until the process ends; with a token, only those who send it."""
    import uvicorn

    app: Any = honest().streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"").decode()
        if scope["type"] == "http" and token and sent != f"Bearer {token}":
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", port))
        bound.listen()
        ready(f"http://127.0.0.1:{bound.getsockname()[1]}/mcp")
        config = uvicorn.Config(guarded, log_level="error")
        asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=[*MODES], default="honest")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve HTTP there; 0 is any free port")
    parser.add_argument("--token", default="", help="what a client must send, over HTTP")
    parser.add_argument("--wait", type=float, default=0, help="seconds before anything is done")
    options = parser.parse_args()
    time.sleep(options.wait)
    if options.mode != "honest":
        return misbehave(options.mode)
    if options.http is None:
        asyncio.run(over_stdio())
    else:
        over_http(options.http, ready=lambda address: print(address, flush=True), token=options.token)
    return 0


if __name__ == "__main__":
    sys.exit(main())
