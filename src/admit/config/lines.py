"""On which line each key of a TOML text stands, which the standard library's parser does not say.

The grammar is TOML 1.0 (toml.io); the text must have parsed already, so only statements are told apart here.
"""

from __future__ import annotations

_BARE_END = " \t=.]#\r\n"
_OPEN, _CLOSE = "[{", "]}"
MAX_PARTS = 8


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Line, from 1, of the first statement that names each key or anything below it, by the key's path.

    A table header is a statement too. Keys inside an inline table are not listed: their statement's key is,
    and so are only the first `MAX_PARTS` parts of a path. A text that is not TOML gives lines up to where it
    stops being so.
    """
    lines: dict[tuple[str, ...], int] = {}

    def note(path: tuple[str, ...]) -> None:
        for parts in range(1, min(len(path), MAX_PARTS) + 1):
            lines.setdefault(path[:parts], line)

    table: tuple[str, ...] = ()
    at, line = 0, 1
    while at < len(text):
        char = text[at]
        if char == "\n":
            at, line = at + 1, line + 1
        elif char in " \t\r\ufeff":
            at += 1
        elif char == "#":
            at = _end_of_line(text, at)
        elif char == "[":
            path, at = _path(text, at + (2 if text.startswith("[[", at) else 1))
            table = path
            note(path)
            at = _end_of_line(text, at)
        else:
            path, at = _path(text, at)
            note((*table, *path))
            end = _end_of_value(text, at)
            line += text.count("\n", at, end)
            at = end
    return lines


def line_of(lines: dict[tuple[str, ...], int], path: tuple[str, ...]) -> int:
    """The line of a key, or of the nearest statement that holds it; 0 where there is none."""
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 0


def _path(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """A dotted key from `at` on, and where it ends."""
    parts: list[str] = []
    while at < len(text) and text[at] not in "=]#\r\n":
        char = text[at]
        if char in " \t.":
            at += 1
        elif char in "\"'":
            end = _end_of_string(text, at)
            parts.append(_unquoted(text[at:end]))
            at = end
        else:
            end = at
            while end < len(text) and text[end] not in _BARE_END:
                end += 1
            parts.append(text[at:end])
            at = end
    return tuple(parts), at


def _unquoted(quoted: str) -> str:
    if "\\" not in quoted or quoted.startswith("'"):
        return quoted[1:-1]
    import tomllib

    try:
        return tomllib.loads(f"v = {quoted}")["v"]
    except tomllib.TOMLDecodeError:
        return quoted[1:-1]


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_value(text: str, at: int) -> int:
    """The newline after a value; brackets and strings may span lines."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == "\n" and depth <= 0:
            return at
        if char == "#":
            at = _end_of_line(text, at)
        elif char in "\"'":
            at = _end_of_string(text, at)
        else:
            depth += (char in _OPEN) - (char in _CLOSE)
            at += 1
    return at


def _end_of_string(text: str, at: int) -> int:
    """Where the string that opens at `at` ends, its closing quotes included."""
    quote = text[at]
    triple = text.startswith(quote * 3, at)
    closing = quote * 3 if triple else quote
    at += len(closing)
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
        elif text.startswith(closing, at):
            at += len(closing)
            while triple and at < len(text) and text[at] == quote:  # a closing run may hold two more
                at += 1
            return at
        elif text[at] == "\n" and not triple:
            return at
        else:
            at += 1
    return at
