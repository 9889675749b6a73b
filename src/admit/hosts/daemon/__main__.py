"""`python -I -m admit.hosts.daemon <socket> [cause]`: the daemon on its own, away from who started it."""

from __future__ import annotations

import sys

from .process import detach, serve

if __name__ == "__main__":
    detach()
    serve(sys.argv[1], cause=sys.argv[2] if len(sys.argv) > 2 else "hook")
