"""The names under which tools are given to a model: safe in every client, one for each tool, and stable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from .model import Route

LONGEST = 64
"""Characters that every client takes."""
_HASH_DIGITS = 8


def exported_names(routes: Iterable[Route], longest: int = LONGEST) -> dict[str, str]:
    """A name of ``[A-Za-z0-9_-]`` for each route, by its id: ``source__name``.

    A name that is too long, or that two of them would get, ends in ``_`` and hex digits of SHA-256 of the id;
    of those that clash each does, so that no order matters.
    """
    wished = {one.id: clean(f"{one.source}__{one.name}") for one in routes}
    names = {id: name if len(name) <= longest else _hashed(id, name, longest) for id, name in wished.items()}
    digits = _HASH_DIGITS
    while clashing := _clashing(names):
        for id in clashing:
            names[id] = _hashed(id, wished[id], longest, digits)
        digits += _HASH_DIGITS // 2
    return names


def clean(name: str) -> str:
    """The name with ``_`` for every character outside ``[A-Za-z0-9_-]``."""
    return "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in name)


def _hashed(id: str, name: str, longest: int, digits: int = _HASH_DIGITS) -> str:
    digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    return f"{name[: longest - len(digest) - 1]}_{digest}"


def _clashing(names: Mapping[str, str]) -> list[str]:
    """The ids whose name another one has too."""
    count: dict[str, int] = {}
    for name in names.values():
        count[name] = count.get(name, 0) + 1
    return [id for id, name in names.items() if count[name] > 1]
