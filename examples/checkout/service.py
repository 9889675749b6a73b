"""A small checkout service with a worker pool, for the tour: it serves real requests and logs them."""

from __future__ import annotations

import json
import logging
import random
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = logging.getLogger("checkout")
PATHS = ("/cart", "/cart/items", "/checkout", "/prices", "/health")


class Pool:
    """Connections to a database that is not there: taking one waits, and gives up after a while."""

    def __init__(self, size: int) -> None:
        self.resize(size)

    def resize(self, size: int) -> None:
        self.size = size
        self.free = threading.Semaphore(size)

    def query(self, rows: int) -> bool:
        free = self.free
        if not free.acquire(timeout=0.012):
            return False
        try:
            time.sleep(0.0005 * rows)
            return True
        finally:
            free.release()


class Handler(BaseHTTPRequestHandler):
    """Answers one request, logging what the pool did for it."""

    pool = Pool(16)

    def do_GET(self) -> None:
        started = time.perf_counter()
        served = self.pool.query(rows=1 + len(self.path) % 7)
        status = 200 if served else 503
        body = json.dumps({"path": self.path, "served": served}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        took = (time.perf_counter() - started) * 1000
        if served:
            LOG.info("GET %s status=200 pool_in_use=%d took=%.1fms", self.path, self.pool.size // 3, took)
        else:
            LOG.warning("GET %s status=503 no connection free, gave up after %.1fms", self.path, took)

    def log_message(self, format: str, *args: object) -> None:
        """The access log is ours."""


def main(requests: int) -> None:
    """Serve and call; half-way a settings reload makes the pool small."""
    logging.raiseExceptions = False  # a reader that goes away is no fault of the service
    logging.basicConfig(
        stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    chance = random.Random(7)

    def call(number: int) -> None:
        if number == requests // 2:
            LOG.warning("configuration changed: pool.size 16 -> 1, cache.ttl 300 unchanged")
            Handler.pool.resize(1)
        try:
            url = f"{base}{chance.choice(PATHS)}?order={number}"
            urllib.request.urlopen(url, timeout=5).read()
        except urllib.error.HTTPError:
            pass  # a 503 is what this is about

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(call, range(requests)))
    server.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 900)
