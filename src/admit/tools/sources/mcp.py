"""MCP servers: every page of `tools/list`, each tool as it came over the wire.

The only file of the tools door that imports the MCP library, and only when it is used. What the library makes
of an answer is not looked at: it would refuse a whole page for one bad tool, and drop what it does not know.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, cast

from admit.errors import SourceError

from ..model import Problem
from ..route import Routes, fingerprint, routes_of
from ..schema import BOUNDS, Bounds
from ..servers import Server, expanded

if TYPE_CHECKING:
    from mcp.client.session import ClientSession
    from mcp.shared.dispatcher import Dispatcher

MOST_PAGES = 1000
MOST_PAGE_BYTES = 32 << 20
"""Of one answer over HTTP."""
Era = Literal["auto", "legacy", "modern"]
# Beside what the library hands on itself.
_INHERITED = ("LANG", "TMPDIR", "TZ")
_HTTP_TIMEOUT_S = 30.0
_LAST_WORDS = 400  # characters of what a server said last


class Listing(NamedTuple):
    """What a server's `tools/list` gave.

    Attributes:
        tools: Every page's, in order; a page that repeats a tool to the last byte adds nothing.
        pages: How many were read.
        stopped: ``cursor_repeat`` or ``too_many_pages``; empty where the last page said that it is the last.
    """

    tools: tuple[Any, ...]
    pages: int
    stopped: str = ""


async def from_mcp(
    name: str,
    target: Server | str | Sequence[str],
    *,
    connect_timeout_s: float = 10.0,
    list_timeout_s: float = 10.0,
    era: Era = "auto",
    bounds: Bounds = BOUNDS,
    environ: Mapping[str, str] | None = None,
) -> Routes:
    """The routes of an MCP server, which is started or connected to, asked, and left again.

    Args:
        name: The source's name.
        target: A server as configured, an ``http`` URL, or the command that runs one: a list, or one text as
            a shell would split it; no shell is used.
        connect_timeout_s: For the start and the handshake.
        list_timeout_s: For all pages together.
        era: Which protocol is spoken; ``auto`` asks, and falls back to the older.
        environ: Where variables of the configuration come from; None is this process's.

    Raises:
        SourceError: The server cannot be reached, does not answer in time, or answers with an error.
    """
    server = _server(name, target, environ)
    listing, instructions = await _asked(server, connect_timeout_s, list_timeout_s, era)
    routes = routes_of(name, "mcp", listing.tools, bounds=bounds)
    problems = list(routes.problems)
    if listing.stopped:
        what = "a page led back to one before" if listing.stopped == "cursor_repeat" else "pages never ended"
        problems.append(Problem(name, "", listing.stopped, f"{what}; {listing.pages} were read"))
    return Routes(routes, problems, instructions)


async def walk(session: ClientSession, pages: Pages) -> Listing:
    """Every page of the tools of a session whose dispatcher is `pages`."""
    from mcp.types import ListToolsRequest, ListToolsResult, PaginatedRequestParams

    tools: list[Any] = []
    known: set[tuple[str, str]] = set()
    seen: set[str] = set()
    cursor: str | None = None
    count = 0
    while True:
        params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
        await session.send_request(ListToolsRequest(params=params), ListToolsResult)
        count += 1
        fresh: list[tuple[str, str]] = []
        for tool in pages.tools:
            printed = fingerprint(tool)
            mark = (str(tool.get("name")) if isinstance(tool, Mapping) else "", printed)
            if not printed or mark not in known:
                tools.append(tool)
                fresh.append(mark)
        known.update(fresh)  # only now: one page may name a tool twice
        cursor = pages.cursor
        if cursor is None:
            return Listing(tuple(tools), count)
        if cursor in seen:
            return Listing(tuple(tools), count, "cursor_repeat")
        seen.add(cursor)
        if count >= MOST_PAGES:
            return Listing(tuple(tools), count, "too_many_pages")


class Pages:
    """Passes requests on, and keeps what a page of tools held before the library reads it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.tools: list[Any] = []
        self.cursor: str | None = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: Any = None
    ) -> dict[str, Any]:
        """As the library's own; of a page of tools only an empty one goes on."""
        raw = await self._inner.send_raw_request(method, params, opts)
        if method != "tools/list":
            return raw
        held, cursor = raw.get("tools"), raw.get("nextCursor")
        self.tools = held if isinstance(held, list) else []
        self.cursor = cursor if isinstance(cursor, str) else None
        return {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def _asked(
    server: Server, connect_timeout_s: float, list_timeout_s: float, era: Era
) -> tuple[Listing, str]:
    """Connect, list, leave.

    Raises:
        SourceError: Any of it fails.
    """
    doing = f"no answer within {connect_timeout_s:g} s of connecting"
    with TemporaryFile() as said:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(connect_timeout_s):
                    session, pages = await stack.enter_async_context(_session(server, said, era))
                doing = f"no answer within {list_timeout_s:g} s of asking for its tools"
                async with asyncio.timeout(list_timeout_s):
                    listing = await walk(session, pages)
                return listing, session.instructions or ""
        except Exception as fault:
            inner = _innermost(fault)
            cause = doing if isinstance(inner, TimeoutError) else _cause(inner)
            raise SourceError(server.name, f"{cause}{_words(said)}") from None


@asynccontextmanager
async def _session(server: Server, said: IO[bytes], era: Era) -> AsyncIterator[tuple[ClientSession, Pages]]:
    """A session whose version is agreed."""
    import logging

    from mcp import MCPError
    from mcp.client.session import ClientSession
    from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

    # A line of a server that is no message is skipped, and is nothing to print.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    async with _transport(server, said) as (incoming, outgoing):
        pages = Pages(JSONRPCDispatcher(incoming, outgoing))
        async with ClientSession(dispatcher=cast("Dispatcher[Any]", pages)) as session:
            if era != "legacy":
                try:
                    await session.discover()
                except (MCPError, RuntimeError, ValueError):
                    if era == "modern":
                        raise
            if session.discover_result is None:
                await session.initialize()
            yield session, pages


@asynccontextmanager
async def _transport(server: Server, said: IO[bytes]) -> AsyncIterator[tuple[Any, Any]]:
    """The streams to a server."""
    if server.transport == "stdio":
        from mcp.client.stdio import StdioServerParameters, stdio_client

        inherited = {
            name: value for name, value in os.environ.items() if name in _INHERITED or name.startswith("LC_")
        }
        params = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env={**inherited, **server.env},
            cwd=server.cwd or None,
        )
        async with stdio_client(params, said) as streams:  # pyright: ignore[reportArgumentType]
            yield streams
    elif server.transport == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(server.url, dict(server.headers)) as streams:
            yield streams
    else:
        from httpx2 import AsyncByteStream, AsyncClient, Response, Timeout
        from mcp.client.streamable_http import streamable_http_client

        class Capped(AsyncByteStream):
            """An answer that ends with a fault where it is larger than any page may be."""

            def __init__(self, inner: AsyncByteStream) -> None:
                self._inner = inner

            async def __aiter__(self) -> AsyncIterator[bytes]:
                left = MOST_PAGE_BYTES
                async for chunk in self._inner:
                    left -= len(chunk)
                    if left < 0:
                        said.write(f"an answer is larger than {MOST_PAGE_BYTES:,} bytes\n".encode())
                        raise ValueError("an answer is too large")
                    yield chunk

            async def aclose(self) -> None:
                await self._inner.aclose()

        async def note(response: Response) -> None:
            if response.has_redirect_location:
                said.write(b"it leads elsewhere; write the address that it leads to\n")
                raise ValueError("redirects are not followed")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ValueError("compressed, though that was not asked for")  # its size could not be bounded
            response.stream = Capped(cast("AsyncByteStream", response.stream))
            if response.status_code in (401, 403):
                said.write(f"{response.status_code} {response.reason_phrase}\n".encode())

        # The read waits long, for an answer may be a stream; the deadline is ours.
        waits = Timeout(_HTTP_TIMEOUT_S, read=10 * _HTTP_TIMEOUT_S)
        async with (
            AsyncClient(
                headers={**server.headers, "Accept-Encoding": "identity"},
                timeout=waits,
                event_hooks={"response": [note]},
            ) as client,
            streamable_http_client(server.url, http_client=client) as streams,
        ):
            yield streams


def _server(name: str, target: Server | str | Sequence[str], environ: Mapping[str, str] | None) -> Server:
    """The target as a server whose variables are put in.

    Raises:
        SourceError: A variable is not set, the command cannot be split, or there is none.
    """
    if isinstance(target, Server):
        return expanded(target._replace(name=name), environ)
    if isinstance(target, str) and target.startswith(("http://", "https://")):
        return Server(name, "http", url=target)
    try:
        words = shlex.split(target) if isinstance(target, str) else list(target)
    except ValueError as fault:
        raise SourceError(name, f"its command cannot be read: {fault}") from None
    if not words:
        raise SourceError(name, "has no command; give one, or a URL")
    return Server(name, "stdio", words[0], tuple(words[1:]))


def _innermost(fault: BaseException) -> BaseException:
    """The first fault that is no group of others."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _cause(fault: BaseException) -> str:
    """What went wrong, as a sentence."""
    if isinstance(fault, FileNotFoundError):
        return f"cannot be started: there is no {fault.filename or 'such command'}"
    if isinstance(fault, OSError) and fault.strerror:
        return f"cannot be started: {fault.strerror}"
    if isinstance(fault, ModuleNotFoundError) and (fault.name or "").startswith("mcp"):
        return "needs the MCP library; pip install 'admit[gateway]'"
    text = str(fault) or type(fault).__name__
    return f"cannot be reached: {text}" if type(fault).__module__.startswith("httpx") else text


def _words(said: IO[bytes]) -> str:
    """The last line that a server wrote to its standard error, as the end of a sentence."""
    said.seek(0, os.SEEK_END)
    said.seek(max(0, said.tell() - 4 * _LAST_WORDS))
    lines = said.read().decode("utf-8", "replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"; it said: {last[:_LAST_WORDS]}" if last else ""
