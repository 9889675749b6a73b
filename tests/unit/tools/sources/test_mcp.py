"""MCP servers, real ones: every page, every tool as it came, and an end to every wait."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from tests.servers.mcp_server import INSTRUCTIONS, page, tools

from admit.core.events import canonical
from admit.errors import SourceError
from admit.tools.route import Routes, fingerprint
from admit.tools.servers import Server
from admit.tools.sources import mcp
from admit.tools.sources.mcp import from_mcp

ROOT = Path(__file__).parents[4]


def command(mode: str = "honest", *more: str) -> list[str]:
    return [sys.executable, "-m", "tests.servers.mcp_server", "--mode", mode, *more]


def asked(mode: str, **more) -> Routes:
    return asyncio.run(from_mcp("lib", command(mode), **more))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)


@pytest.fixture
def address() -> Iterator[str]:
    """The honest server over HTTP, for those who send the token."""
    words = command("honest", "--http", "0", "--token", "let me in")
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
def test_all_pages_are_read_over_stdio_in_both_eras(era):
    routes = asked("honest", era=era)
    sent = tools()
    assert [route.name for route in routes] == [tool["name"] for tool in sent] and len(routes) == 300
    assert [route.fingerprint for route in routes] == [fingerprint(tool) for tool in sent]
    assert routes.problems == () and routes.instructions == INSTRUCTIONS
    first = routes[0]
    assert (first.id, first.source_kind, first.title) == ("lib/add_book", "mcp", "Add a book")
    assert (first.read_only, first.destructive, first.idempotent) == (False, False, None)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_all_pages_are_read_over_http_with_the_configured_headers(era, address):
    server = Server("x", "http", url=address, headers={"Authorization": "Bearer ${TOKEN}"})
    routes = asyncio.run(from_mcp("lib", server, era=era, environ={"TOKEN": "let me in"}))
    assert len(routes) == 300 and routes[0].fingerprint == fingerprint(tools()[0])


def test_a_server_that_wants_to_be_let_in_says_so(address):
    with pytest.raises(SourceError, match="401"):
        asyncio.run(from_mcp("lib", address))


@pytest.mark.parametrize(
    ("status", "header", "words"),
    [(307, "Location: /b", "leads elsewhere"), (200, "X-Big: 1", "larger than")],
)
def test_an_answer_that_leads_elsewhere_or_never_ends_is_refused(status, header, words, monkeypatch):
    monkeypatch.setattr(mcp, "MOST_PAGE_BYTES", 1 << 16)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            name, _, value = header.partition(": ")
            self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if status == 200:
                with contextlib.suppress(OSError):
                    while True:
                        self.wfile.write(b" " * 4096)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        httpd.daemon_threads = True
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        with pytest.raises(SourceError, match=words):
            asyncio.run(from_mcp("lib", f"http://127.0.0.1:{httpd.server_port}/mcp"))
        httpd.shutdown()


def test_an_empty_cursor_is_a_cursor():
    routes = asked("empty-cursor")
    assert ([route.name for route in routes], routes.problems) == (["one", "two"], ())


def test_a_cursor_that_comes_again_ends_the_walk_and_no_tool_is_doubled():
    routes = asked("cursor-repeat")
    assert [route.name for route in routes] == ["of_a", "of_b", "of_c"]
    assert [(problem.tool, problem.code) for problem in routes.problems] == [("", "cursor_repeat")]


def test_a_page_that_comes_for_ever_ends_after_a_thousand_and_no_tool_is_doubled():
    routes = asked("same-page", list_timeout_s=60)
    assert [route.name for route in routes] == ["one", "two"]
    assert [(p.code, p.text) for p in routes.problems] == [
        ("too_many_pages", "pages never ended; 1000 were read")
    ]


def test_two_tools_of_one_name_are_both_kept():
    routes = asked("duplicate-names")
    assert [route.id for route in routes] == ["lib/same", "lib/same~2", "lib/else"]
    assert [problem.code for problem in routes.problems] == ["duplicate_name"]


def test_one_bad_tool_leaves_the_others():
    routes = asked("null-schema")
    assert [(route.name, route.problems) for route in routes] == [
        ("null", ("schema_invalid",)), ("list", ("schema_invalid",)), ("good", ()),
    ]  # fmt: skip
    assert sorted(problem.code for problem in routes.problems) == [
        "no_name", "not_an_object", "schema_invalid", "schema_invalid",
    ]  # fmt: skip


def test_a_schema_of_300_kib_leaves_name_and_description():
    huge, small = asked("huge-schema")
    assert len(canonical(huge.input_schema)) > 256 * 1024
    assert (huge.problems, huge.params, huge.description) == (("schema_capped",), (), "Does huge")
    assert small.problems == ()


def test_a_tool_is_the_very_object_that_was_sent():
    (route,) = asked("exact")
    (sent,) = page("exact", None, 1)["tools"]
    assert canonical(route.tool) == canonical(sent)
    assert route.fingerprint == fingerprint(sent)


def test_a_server_without_a_tool_is_no_error():
    assert list(asked("no-tools")) == []


def test_lines_that_are_no_message_are_passed_over():
    assert [route.name for route in asked("noise")] == ["one"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("error", "the library is closed"),
        ("dies-at-start", "it said: cannot open the library: no key"),
        ("dies-at-list", "[Cc]losed"),
    ],
)
def test_what_went_wrong_is_said_in_the_servers_own_last_words(mode, words):
    with pytest.raises(SourceError, match=words) as fault:
        asked(mode)
    assert fault.value.source == "lib"


@pytest.mark.parametrize(
    ("mode", "words"), [("slow-start", "within 1 s of connecting"), ("slow-list", "within 1 s of asking")]
)
def test_no_answer_ends_the_wait_and_the_process(mode, words):
    before = children()
    start = time.monotonic()
    with pytest.raises(SourceError, match=words):
        asked(mode, connect_timeout_s=1, list_timeout_s=1, era="legacy")
    assert time.monotonic() - start < 30  # it ends at all
    assert children() == before


def children() -> set[str]:
    """The processes of this test's servers that are alive."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if b"tests.servers.mcp_server" in line and parent == str(os.getpid()):
            found.add(entry.name)
    return found


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (["/nowhere/server"], "there is no /nowhere/server"),
        ("'", "cannot be read"),
        ("", "has no command"),
        ("http://127.0.0.1:9/mcp", "cannot be reached"),
        (Server("x", command="s", args=("${NOT_SET_ANYWHERE}",)), "NOT_SET_ANYWHERE"),
    ],
)
def test_a_target_that_cannot_be_used_names_the_fix_or_the_cause(target, words):
    with pytest.raises(SourceError, match=words):
        asyncio.run(from_mcp("lib", target, environ={}))


def test_a_server_sees_no_variable_that_was_not_given_to_it(monkeypatch):
    monkeypatch.setenv("ADMIT_TEST_SECRET", "hidden")
    monkeypatch.setenv("LC_TIME", "C")
    server = Server("x", command=sys.executable, args=tuple(command("environment")[1:]), env={"GIVEN": "1"})
    (route,) = asyncio.run(from_mcp("lib", server))
    names = route.description.split()
    assert {"GIVEN", "PATH", "LC_TIME"} <= set(names) and "ADMIT_TEST_SECRET" not in names


def test_cancelling_ends_the_process():
    before = children()

    async def cancelled() -> None:
        task = asyncio.create_task(from_mcp("lib", command("slow-list")))
        while children() == before:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert children() == before


NODE = os.environ.get("ADMIT_PUBLIC_NODE_SERVERS", "")
PYTHON = os.environ.get("ADMIT_PUBLIC_PYTHON_SERVERS", "")
PUBLIC = {
    "time": [f"{PYTHON}/mcp-server-time"],
    "git": [f"{PYTHON}/mcp-server-git"],
    "fetch": [f"{PYTHON}/mcp-server-fetch"],
    "everything": ["node", f"{NODE}/server-everything/dist/index.js"],
    "filesystem": ["node", f"{NODE}/server-filesystem/dist/index.js", "/tmp"],
    "memory": ["node", f"{NODE}/server-memory/dist/index.js"],
}


@pytest.mark.skipif(not (NODE and PYTHON), reason="nightly: needs the folders of installed public servers")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_servers_give_their_tools(name):
    routes = asyncio.run(from_mcp(name, PUBLIC[name], connect_timeout_s=30))
    assert routes and routes.problems == ()
    assert all(route.fingerprint and route.description and route.params is not None for route in routes)
    again = asyncio.run(from_mcp(name, PUBLIC[name], connect_timeout_s=30))
    assert [route.fingerprint for route in again] == [route.fingerprint for route in routes]
