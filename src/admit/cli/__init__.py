"""The command line: one file per command, thin over the library."""

from __future__ import annotations


def main() -> None:
    """Run `admit` with the arguments of this process, and end it with the command's exit code."""
    import sys

    from admit.cli.frame import run

    _end(run(sys.argv[1:]))


def _end(code: int) -> None:
    """End the process with everything that is left to do at its end.

    A judge that was left at its deadline may be inside a library of C++. The interpreter's end would stop it
    there, which aborts the process, so only the process ends.
    """
    import sys

    threading = sys.modules.get("threading")
    if threading is not None and any(one.name.startswith("judge ") for one in threading.enumerate()):
        import atexit
        import os

        atexit._run_exitfuncs()
        os._exit(code)
    sys.exit(code)
