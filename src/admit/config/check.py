"""Whether a value may stand under a key, and whether the project may set it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from admit.config.keys import Key

MAX_TEXT = 4096
MAX_ITEMS = 1000


def accept(key: Key, raw: object) -> Any:
    """The value of a key from what a TOML file holds; lists become tuples, nothing else is converted.

    A value has one spelling: ``"Off"``, ``"true"`` and ``6000.0`` are not `off`, `true` and `6000`.

    Raises:
        ValueError: It may not stand there; the message says what may.
    """
    if key.kind == "bool":
        if not isinstance(raw, bool):
            raise ValueError(f"must be true or false, not {shown(raw)}")
        return raw
    if key.kind in ("int", "float"):
        return _number(key, raw)
    if key.kind == "text":
        return _text(key, raw)
    if key.kind == "path":
        return _path(key, raw)
    if not isinstance(raw, (list, tuple)):
        raise ValueError(f"must be a list, not {shown(raw)}")
    if key.kind == "floats":
        if len(raw) != len(key.default):
            raise ValueError(f"must hold {len(key.default)} numbers, not {len(raw)}")
        return tuple(_number(key, item) for item in raw)
    if len(raw) > MAX_ITEMS:
        raise ValueError(f"may hold {MAX_ITEMS:,} items, not {len(raw):,}")
    return tuple(_text(key, item) for item in raw)


def _number(key: Key, raw: object) -> int | float:
    whole = key.kind == "int"
    if isinstance(raw, bool) or not isinstance(raw, int if whole else (int, float)):
        raise ValueError(f"must be a {'whole ' if whole else ''}number, not {shown(raw)}")
    low, high = key.low, key.high
    if (
        (isinstance(raw, float) and not isfinite(raw))
        or (low is not None and raw < low)
        or (high is not None and raw > high)
    ):
        raise ValueError(f"must be {range_of(key)}, not {shown(raw)}")
    return raw if whole else float(raw)


def _text(key: Key, raw: object) -> str:
    if not isinstance(raw, str):
        raise ValueError(f"must be text, not {shown(raw)}")
    if key.choices and raw not in key.choices:
        raise ValueError(f"must be {range_of(key)}, not {shown(raw)}")
    if not 0 < len(raw) <= MAX_TEXT or "\0" in raw:
        raise ValueError(f"must be text of 1 to {MAX_TEXT:,} characters, without NUL")
    return raw


def _path(key: Key, raw: object) -> str:
    text = _text(key, raw)
    if text.startswith(("/", "~")) or "\\" in text or ".." in text.split("/"):
        raise ValueError(f"must be a folder below another one, without .., not {shown(raw)}")
    return text


def range_of(key: Key) -> str:
    """What may stand under a key, in words: `2,000 to 20,000`, `enforce, shadow or off`."""
    if key.choices:
        words = f"{', '.join(key.choices[:-1])} or {key.choices[-1]}"
        return f"a list of {words}" if key.kind == "texts" else words
    if key.low is not None and key.high is not None:
        numbers = f"{key.low:,} to {key.high:,}"
        return f"{len(key.default)} numbers, each {numbers}" if key.kind == "floats" else numbers
    return {"bool": "true or false", "texts": "a list of texts"}.get(key.kind, "text")


def tightens(key: Key, new: Any, held: Any) -> bool:
    """Whether `new` is at least as tight as `held`, the value of the layers below.

    Without a direction (``bounds``, ``adds``, or none) every value in the range is. A cap that is not known
    yet (`held` is None) cannot be lowered.
    """
    if key.tighten == "lower":
        return held is not None and new <= held
    if key.tighten in ("", "bounds", "adds"):
        return True
    if key.tighten == "subset":
        return set(new) <= set(held)
    if key.tighten == "stricter":
        return key.choices.index(new) >= key.choices.index(held)
    return new == held or new == _tight_value(key)


def _tight_value(key: Key) -> object:
    return key.tighten == "true" if key.kind == "bool" else key.tighten


def shown(value: object) -> str:
    """A value as TOML would spell it, at most 80 characters, everything that does not print escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{visible(value)}"'
    if isinstance(value, (int, float)):
        if abs(value) >= 10**15:
            return "a number of many digits"
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, (list, tuple)):
        return visible(
            f"[{', '.join(shown(item) for item in value[:8])}{', …' if len(value) > 8 else ''}]", 200
        )
    return "a table" if isinstance(value, dict) else visible(str(value))


def visible(text: str, most: int = 80) -> str:
    """Text from a file as it may be printed: control, bidi and zero-width characters as escapes, cut."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known word most like `name`, or an empty text."""
    from difflib import get_close_matches

    close = get_close_matches(name[:200], list(known), n=1, cutoff=0.6)
    return close[0] if close else ""
