"""The byte form of a frozen plan and of results: RFC 8785 JSON, and its hash; files written whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from admit.core.events import parse, sha256
from admit.errors import LabError


def dump(value: Any) -> bytes:
    """The canonical bytes of a JSON value (RFC 8785, by the package rfc8785).

    Raises:
        LabError: The package is not there.
    """
    try:
        import rfc8785
    except ImportError:
        raise LabError("the lab needs some packages: pip install 'admit[lab]'") from None
    return rfc8785.dumps(value)


def hash_of(value: Any) -> str:
    """``sha256:`` of the canonical bytes."""
    return sha256(dump(value))


def write(path: Path, value: Any) -> str:
    """Write a value as canonical bytes, whole or not at all, and give its hash.

    Raises:
        OSError: It cannot be written; what stood there stays.
    """
    data = dump(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_bytes(data)
    os.replace(partial, path)
    return sha256(data)


def read(path: Path) -> Any:
    """A value that was written so; None where there is no file.

    Raises:
        LabError: It does not hold JSON.
    """
    try:
        return parse(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as fault:
        raise LabError(f"{path} is damaged ({fault}); delete it and take that step again") from None
