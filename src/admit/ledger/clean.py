"""Making any value storable: what JSON or SQLite cannot hold is replaced and named, before it is hashed.

A lone surrogate becomes U+FFFD, a number that is none becomes None, a text is cut at 4,096 characters.
Hashes, pins and fingerprints are plain ASCII and far shorter, so nothing here ever touches one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admit.core.events import canonical

TEXT_CHARS = 4_096
ITEMS = 4_096
DEPTH = 32
# What SQLite, and so every reader, can hold.
INTEGER_LIMIT = 1 << 63


class Cleaner:
    """Cleans values and remembers, by name, what it changed."""

    def __init__(self) -> None:
        self.changed: list[str] = []

    def clean(self, value: Any, name: str, depth: int = 0) -> Any:
        """The value as JSON can hold it: mappings, lists, text, numbers, booleans, None."""
        kind = type(value)
        if kind is str and len(value) <= TEXT_CHARS and value.isascii():
            return value
        if value is None or kind is bool:
            return value
        if isinstance(value, str):
            return self.text(str(value), name)
        if isinstance(value, (int, float)):
            return self.number(value, name)
        if depth < DEPTH and isinstance(value, Mapping):
            return self._mapping(value, name, depth)
        if depth < DEPTH and isinstance(value, (list, tuple)):
            if len(value) > ITEMS:
                self.note(name)
            return [self.clean(one, name, depth + 1) for one in value[:ITEMS]]
        self.note(name)
        return None

    def text(self, value: str, name: str, limit: int = TEXT_CHARS) -> str:
        """Text that UTF-8 can hold, at most `limit` characters."""
        if len(value) > limit:
            value = value[:limit]
            self.note(name)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                # A pair of surrogates becomes the character that it means, a lone one U+FFFD.
                value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                self.note(name)
        return value

    def number(self, value: int | float, name: str) -> int | float | None:
        """A finite number that 64 bits hold, else None."""
        if isinstance(value, int):
            if -INTEGER_LIMIT <= value < INTEGER_LIMIT:
                return value
        elif value - value == 0.0:
            return value
        self.note(name)
        return None

    def fit(self, fields: Mapping[str, Any], name: str, limit: int) -> dict[str, Any]:
        """A cleaned mapping of at most `limit` bytes of JSON: the largest fields go first."""
        cleaned = self.clean(fields, name) or {}
        size = len(canonical(cleaned))
        if size <= limit:
            return cleaned
        by_size = sorted(cleaned, key=lambda field: (-len(canonical(cleaned[field])), field))
        for field in by_size:
            size -= len(canonical({field: cleaned.pop(field)}))
            self.note(f"{name}.{field}")
            if size <= limit:
                break
        return cleaned

    def _mapping(self, value: Mapping[Any, Any], name: str, depth: int) -> dict[str, Any]:
        if len(value) > ITEMS or any(not isinstance(key, str) for key in value):
            self.note(name)
        result: dict[str, Any] = {}
        for key in list(value)[:ITEMS]:
            clean_key = self.text(str(key), name)
            result[clean_key] = self.clean(
                value[key], f"{name}.{clean_key}" if depth == 0 else name, depth + 1
            )
        return result

    def note(self, name: str) -> None:
        """Remember that the value of this name was changed."""
        if name not in self.changed:
            self.changed.append(name)
