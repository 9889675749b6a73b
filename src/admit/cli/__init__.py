"""The command line: one file per command, thin over the library."""

from __future__ import annotations


def main() -> None:
    """Run `admit` with the arguments of this process, and end it with the command's exit code."""
    import sys

    from admit.cli.frame import run

    sys.exit(run(sys.argv[1:]))
