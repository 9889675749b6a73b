"""Sources as they are written down: what reading each does, and what it gives or says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from tests.unit.tools.gates import tool

from admit.config import layers
from admit.errors import SourceError
from admit.tools.configured import Definition, definitions, read
from admit.tools.servers import Server, Servers


def test_sources_of_the_settings_and_servers_stand_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    folder = tmp_path / ".config/admit"
    folder.mkdir(parents=True)
    (folder / "admit.toml").write_text(
        '[tools.sources.a]\nkind = "json"\npath = "/a.json"\n[tools.sources.b]\nkind = "openapi"\n'
        'url = "https://x/y"\n[tools.sources.nothing]\nkind = "json"\n'
    )
    server = Server("s", "stdio", "run-it")
    found = definitions(layers.load(), Servers((server,)))
    assert found == {
        "a": Definition("a", "json", "/a.json"),
        "b": Definition("b", "openapi", "https://x/y"),
        "s": Definition("s", "mcp", server),
    }


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        (Definition("a", "json", "/a.json"), "reads: /a.json"),
        (Definition("a", "openapi", "https://me:pw@x/y?key=1"), "fetches: https://***@x/y?key=***"),
        (Definition("a", "python", "m:f"), "imports, and so runs: m:f"),
        (Definition("a", "mcp", Server("a", "stdio", "x", ("-v",), {"KEY": "v"})), "runs: x -v  KEY=***"),
        (Definition("a", "mcp", Server("a", "http", url="https://x/mcp")), "connects to: https://x/mcp"),
    ],
)
def test_what_reading_does_is_told_without_credentials(definition, told):
    assert definition.told == told


class Serving:
    """A server on loopback that gives one answer."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/tools.json"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self.url

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


def test_a_document_is_fetched_and_a_refusal_is_said():
    with Serving(json.dumps([tool("list_all")]).encode()) as url:
        assert [one.id for one in read(Definition("a", "json", url))] == ["a/list_all"]
    with Serving(b"", 404) as url, pytest.raises(SourceError, match="cannot be fetched"):
        read(Definition("a", "openapi", url))


def test_a_file_beyond_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("admit.tools.configured.MOST_BYTES", 10)
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + b" " * 20 + b"]")
    with pytest.raises(SourceError, match="larger than 10 bytes"):
        read(Definition("a", "json", str(path)))
    with pytest.raises(SourceError, match="cannot be read"):
        read(Definition("a", "json", str(tmp_path)))
