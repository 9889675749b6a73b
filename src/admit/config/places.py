"""Where Admit keeps its files. Only paths and folders; nothing is read here."""

from __future__ import annotations

import os
import stat

USER_FILE = "admit.toml"
PROJECT_FILE = ".admit.toml"


def config_dir() -> str:
    """`$XDG_CONFIG_HOME/admit`, else `~/.config/admit`."""
    return _xdg("XDG_CONFIG_HOME", ".config")


def state_dir() -> str:
    """`$XDG_STATE_HOME/admit`, else `~/.local/state/admit`."""
    return _xdg("XDG_STATE_HOME", ".local/state")


def cache_dir() -> str:
    """`$XDG_CACHE_HOME/admit`, else `~/.cache/admit`; safe to delete at any time."""
    return _xdg("XDG_CACHE_HOME", ".cache")


def _xdg(variable: str, under_home: str) -> str:
    # The XDG base directory specification says to ignore a path that is not absolute.
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), under_home)
    return os.path.join(base, "admit")


def project_file(cwd: str | None = None) -> tuple[str, str] | None:
    """The project's file and its root folder, or None.

    The root is the nearest ancestor of the working folder that holds `.git` or `.admit.toml`; a root with
    `.git` alone ends the search without a file.
    """
    try:
        folder = os.path.abspath(cwd) if cwd is not None else os.getcwd()
    except OSError:
        return None  # the working folder is gone
    while True:
        path = os.path.join(folder, PROJECT_FILE)
        if os.path.lexists(path):
            return path, folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = parent


def private_folder(path: str) -> str:
    """Create a folder of mode 0700 with its parents where it is missing, and give its path.

    Raises:
        OSError: It cannot be made, is no folder, or belongs to somebody else.
    """
    os.makedirs(path, mode=0o700, exist_ok=True)
    info = os.lstat(path)
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
        raise PermissionError(f"{path} is not a folder of this user")
    return path
