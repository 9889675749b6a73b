"""A page on the loopback with a certificate of its own, for the client's web tool, which wants TLS."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

WAIT_S = 30.0


class Page(NamedTuple):
    """Where the page is, and the file with the certificate that vouches for it."""

    url: str
    certificate: str


@contextmanager
def fake_page(folder: str, text: str) -> Iterator[Page | None]:
    """Serve a text on a free port of 127.0.0.1; None where there is no `openssl` to make a certificate.

    Args:
        folder: For the key and the certificate, which are good for two days.
    """
    openssl = shutil.which("openssl")
    key, certificate = os.path.join(folder, "page.key"), os.path.join(folder, "page.crt")
    if openssl is None or not _certify(openssl, key, certificate):
        yield None
        return

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return None

        def do_GET(self) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/markdown")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, name="fake-page", daemon=True).start()
    try:
        yield Page(f"https://127.0.0.1:{server.server_port}/page.md", certificate)
    finally:
        server.shutdown()
        server.server_close()


def _certify(openssl: str, key: str, certificate: str) -> bool:
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
