"""Crash logs: versions, the traceback and the names of the options; never an option's value."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from time import gmtime, strftime, time_ns
from traceback import format_exception

from admit import __version__
from admit.cli.frame import COMMANDS
from admit.config.places import private_folder, state_dir

MAX_BYTES = 256 * 1024
KEPT = 20
LIBRARIES = ("click", "rich", "google-re2", "PyStemmer", "tomlkit", "onnxruntime", "tokenizers", "numpy")


def write_crash_log(error: BaseException) -> str:
    """Write the log of one bug into the state folder's `crash/`, and give its path.

    A log holds at most 256 KiB, its end kept where it is longer; the newest 20 logs stay.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    folder = private_folder(os.path.join(private_folder(state_dir()), "crash"))
    head = [f"admit {__version__}", f"python {platform.python_version()}", f"system {platform.platform()}"]
    head += [f"{name} {version}" for name in LIBRARIES if (version := _version(name))]
    head.append(f"called {' '.join(_words_without_values(sys.argv[1:]))}")
    trace = "".join(format_exception(error)).encode("utf-8", "backslashreplace")
    start = ("\n".join(head) + "\n\n").encode("utf-8", "backslashreplace")[: MAX_BYTES // 2]
    data = start + trace[-(MAX_BYTES - len(start)) :]

    now_ns = time_ns()
    stamp = strftime("%Y%m%dT%H%M%S", gmtime(now_ns // 10**9))
    path = os.path.join(folder, f"{stamp}.{now_ns % 10**9:09d}Z.log")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as log:
        log.write(data)
    for old in sorted(name for name in os.listdir(folder) if name.endswith(".log"))[:-KEPT]:
        os.unlink(os.path.join(folder, old))
    return path


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _words_without_values(args: list[str]) -> list[str]:
    """The command and the names of the options: values, and a wrapped command, may hold private text."""
    words = []
    for arg in args[: args.index("--")] if "--" in args else args:
        if arg.startswith("--"):
            words.append(arg.split("=", 1)[0])
        elif arg.startswith("-"):
            words.append(arg[:2])
        elif arg in COMMANDS:
            words.append(arg)
    return words
