"""A server on loopback whose every byte a test decides."""

import contextlib
import socket
import threading


class Server:
    """Calls `handle(sock)` in a thread for each connection; what it raises about a closed socket is nothing.

    Args:
        handle: What to do with one connection, from accepting to closing it.
        context: Wraps connections in TLS.
    """

    def __init__(self, handle, *, context=None):
        self._handle = handle
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        self.requests = []
        self.done = threading.Event()
        """Set when the test is over: what a handler that stalls waits for."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.done.set()
        # Closing alone does not end the thread that waits for a connection, nor the listening.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def read(self, sock):
        """One request, head and body; empty at the end of the connection."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = sock.recv(65536)
            if not more:
                return b""
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        while len(body) < length:
            body += sock.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        return self.requests[-1]

    def drip(self, sock, data, times=200, seconds=0.02):
        """Send `data` again and again, far past any deadline of a test."""
        for _ in range(times):
            sock.sendall(data)
            if self.done.wait(seconds):
                return

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with contextlib.suppress(OSError), sock:
            if self._context is not None:
                with self._context.wrap_socket(sock, server_side=True) as wrapped:
                    self._handle(self, wrapped)
            else:
                self._handle(self, sock)


def answer(body=b"{}", status=200, headers=()):
    """A whole HTTP answer as bytes."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def answering(*args, **kwargs):
    """A handler that gives the same answer to every request of a connection."""

    def handle(server, sock):
        while server.read(sock):
            sock.sendall(answer(*args, **kwargs))

    return handle
