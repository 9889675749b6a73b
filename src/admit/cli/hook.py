"""`admit hook`: one hook in this process, for tests and for looking; prints what the host would get."""

from __future__ import annotations

import sys

import click

from admit.cli.frame import DONE
from admit.errors import UsageError

EXAMPLES = """\b
Examples:
  admit hook claude-code PostToolUse < payload.json"""


@click.command("hook", epilog=EXAMPLES)
@click.argument("host", metavar="HOST")
@click.argument("event", metavar="EVENT")
def command(host: str, event: str) -> int:
    """Serve one hook of a host and print its answer.

    The payload is read from standard input, as the host would give it. Nothing printed means: nothing to say,
    which is also the answer to everything odd.
    """
    from admit.config.layers import load
    from admit.hosts.handle import HOSTS, build_deps, handle
    from admit.hosts.model import MOST_PAYLOAD_BYTES
    from admit.ledger import open_ledger

    if host not in HOSTS:
        raise UsageError(f"there is no host {host!r}; there are: {', '.join(HOSTS)}")
    raw = sys.stdin.buffer.read(MOST_PAYLOAD_BYTES + 1)
    config = load()
    deps = build_deps(config, ledger=open_ledger(config.values, migrate=False))
    handled = handle(host, event, raw, deps=deps)
    sys.stdout.buffer.write(handled.data)
    sys.stdout.buffer.flush()
    handled.after(True)
    deps.ledger.flush(config.values["ledger.close_wait_ms"])
    deps.ledger.close()
    return DONE
