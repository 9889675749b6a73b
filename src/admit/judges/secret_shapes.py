"""What credentials look like: the shapes behind redaction.

A few passes of RE2 over the bytes of a text, each linear. What a pass stops at is looked at in bounded
steps, or over what is then masked, so the whole is linear too, whatever the text is.

Everything works on UTF-8 bytes: whatever begins or ends a secret is ASCII, so no cut parts a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2
from typing import NamedTuple

from .secret_patterns import STRONG, regex

LEAST_VALUE = 6
"""Bytes of a named value below which it is not taken for a secret."""

_LEAST_RUN_BITS = 4.0
_LONG_RUN = 4096


class Found(NamedTuple):
    """A secret's place, in bytes, end exclusive, and its class."""

    start: int
    end: int
    kind: str


Tick = Callable[[], None]


def secrets(data: bytes, tick: Tick | None = None) -> Iterator[Found]:
    """Every secret, pass by pass; finds of different passes may overlap.

    Args:
        tick: Called at each find, so that who counts time can raise.
    """
    for finds in (_key_blocks, _addresses, _json_web_tokens, _tokens_and_runs, _named):
        for found in finds(data):
            if tick is not None:
                tick()
            yield found


def _json_web_tokens(data: bytes) -> Iterator[Found]:
    return (Found(match.start(), match.end(), "jwt") for match in regex("jwt").finditer(data))


# --- key blocks and addresses -----------------------------------------------------------------------------


def _key_blocks(data: bytes) -> Iterator[Found]:
    """From a private key's first line to its last; without a last line, to the end of the text."""
    place = 0
    while (first := regex("pem_begin").search(data, place)) is not None:
        last = regex("pem_end").search(data, first.end())
        place = last.end() if last is not None else len(data)
        yield Found(first.start(), place, "pem")


def _addresses(data: bytes) -> Iterator[Found]:
    """`scheme://user:password@host`: the user and the password."""
    for match in regex("address").finditer(data):
        start, end = match.span(1)
        if not data[max(0, match.start() - 1) : match.start()].isalnum():
            continue
        userinfo = data[start:end]
        if not (_is_placeholder(userinfo) or _is_placeholder(userinfo.partition(b":")[2])):
            yield Found(start, end, "url_userinfo")


# --- tokens by their prefix, and long random runs ---------------------------------------------------------


def _tokens_and_runs(data: bytes) -> Iterator[Found]:
    kinds: dict[bytes, str] = {}  # logs repeat their paths
    for match in regex("token_or_run").finditer(data):
        start, end = match.span()
        if _follows_escape(data, start):
            start += 1
        text = data[start:end]
        kind = kinds.get(text) or kinds.setdefault(text, _kind(text))
        if kind == "token":
            if _begins_word(data, start) or text[:1] not in b"shS":
                yield Found(start, end, kind)
        elif kind == "entropy":
            yield Found(start, end, kind)
        elif kind == "holds_token":
            for token in regex("token").finditer(data, start, end):
                yield Found(token.start(), token.end(), "token")


def _kind(text: bytes) -> str:
    """What a token or a run is: ``token``, ``entropy``, ``holds_token`` or ``plain``."""
    if regex("token").fullmatch(text) is not None:
        return "token"
    if text.startswith(b"data:image/"):
        return "plain"
    if _looks_random(text):
        return "entropy"
    return "holds_token" if regex("token").search(text) is not None else "plain"


_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset(b"0123456789")
_SYMBOLS = frozenset(b"+/_-=")


def _looks_random(run: bytes) -> bool:
    distinct = frozenset(run)
    kinds = sum(not distinct.isdisjoint(kind) for kind in (_LOWER, _UPPER, _DIGITS, _SYMBOLS))
    if kinds < 3 or len(distinct) < 2**_LEAST_RUN_BITS:
        return False
    if len(run) > _LONG_RUN:
        return True
    return regex("ordinary").fullmatch(run) is None and not _is_wordy(run) and _bits(run) >= _LEAST_RUN_BITS


def _bits(run: bytes) -> float:
    """Shannon entropy, in bits per byte."""
    total = len(run)
    return -sum(run.count(byte) / total * log2(run.count(byte) / total) for byte in sorted(frozenset(run)))


def _is_wordy(run: bytes) -> bool:
    """A path or an identifier: it falls into words of four letters and more on average, with few digits."""
    words = regex("word_of_run").findall(run)
    letters = sum(map(len, words))
    others = len(regex("digit").findall(run))
    return letters >= 4 * len(words) and letters >= 4 * others


# --- names with values ------------------------------------------------------------------------------------

_COUNTED = (b"token", b"key", b"session", b"private", b"auth", b"credential", b"dsn")
"""Names whose value, when it is a number, is a count."""

_GLUED = (
    b"api", b"access", b"secret", b"account", b"master", b"signing", b"encryption", b"license", b"client",
    b"deploy", b"shared", b"storage", b"consumer", b"ssh", b"db", b"auth", b"user",
)  # fmt: skip
"""What stands before a weak name without a border, as in `apikey`."""

_CONNECTION = frozenset((b"password", b"pwd", b"accountkey", b"sharedaccesskey", b"sharedaccesssignature"))
_NAME_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def _named(data: bytes) -> Iterator[Found]:
    pattern = regex("named")
    place = 0
    while (match := pattern.search(data, place)) is not None:
        start, place = match.span()
        if data[place - 1] in b"\"'":
            place -= 1
        found = _at_name(data, start, place)
        if found is not None:
            yield found
            place = max(place, found.end)


def _at_name(data: bytes, start: int, end: int) -> Found | None:
    """What stands at a name and its separator: from `start` to `end`, where a value begins."""
    text = data[start : min(end, start + 16)].lower()
    if text.startswith((b"authorization", b"cookie")):
        return _header(data, start, end)
    if text.startswith((b"bearer", b"basic")):
        return _scheme(data, start, end)
    if text.startswith((b"login", b"account")) and regex("netrc").match(data, start, end) is not None:
        return _valued(data, end, regex("plain").match(data, end).end(), "auth")
    if text.startswith(b"-"):
        return _option(data, end) if _begins_option(data, start) else None
    for name in regex("name").finditer(data[start:end]):
        if _is_sensitive(data, start + name.start(), start + name.end()):
            return _value(data, start, end, name.group().lower(), data[start + name.end() : end])
    return None


def _is_sensitive(data: bytes, start: int, end: int) -> bool:
    """Whether a name is a part of its identifier, and not of another word, as in `author` or `monkey`."""
    if not _ends_word(data, end):
        return False
    strong = data[start:end].lower() in STRONG
    return strong or _begins_word(data, start) or data[max(0, start - 12) : start].lower().endswith(_GLUED)


def _option(data: bytes, first: int) -> Found | None:
    """The value of a command line option, as in `--password …`."""
    opening = regex("opening").match(data, first)
    if opening is None:
        return _valued(data, first, regex("word").match(data, first).end(), "pair")
    first = opening.end()
    return _valued(data, first, _end_of_quoted(data, first, opening.group(1)), "pair")


def _value(data: bytes, start: int, first: int, name: bytes, between: bytes) -> Found | None:
    """The value that begins at `first`; `between` is what parts it from its name."""
    begin = _identifier_start(data, start)
    separator = between.strip()[-1:]
    if separator == b">" and b"-" not in between and b"=" not in between:
        last = regex("plain").match(data, first).end()
        return _valued(data, first, last, "pair", name) if data.startswith(b"</", last) else None
    opening = regex("opening").match(data, first)
    if opening is not None:
        first = opening.end()
        return _valued(data, first, _end_of_quoted(data, first, opening.group(1)), "pair", name)
    if separator in (b"", b"(") or data.startswith((b":", b"//"), first):
        return None
    if separator == b"=" and _connection_key(data, start, begin):
        last = regex("part_of_string").match(data, first, min(len(data), first + 256)).end()
        if data[last : last + 1] == b";" or data[max(0, begin - 8) : begin].rstrip()[-1:] == b";":
            return _valued(data, first, last, "dsn")
    shape = "plain"
    if b"\n" in between or _heads_line(data, begin):
        shape = "word" if separator == b"=" else "line"
    return _valued(data, first, regex(shape).match(data, first).end(), "pair", name)


def _valued(data: bytes, first: int, last: int, kind: str, name: bytes = b"") -> Found | None:
    """The value between two places, if it can be a secret."""
    value = data[first:last].rstrip(b" \t\r,;")
    bare = value.strip()
    if len(bare) < LEAST_VALUE or _is_placeholder(bare):
        return None
    if name in _COUNTED and len(bare) <= 20 and bare.replace(b",", b"").replace(b".", b"").isdigit():
        return None
    return Found(first, first + len(value), kind)


def _header(data: bytes, start: int, first: int) -> Found | None:
    """The value of an Authorization or Cookie header, to the end of its line or of the quotes around it."""
    opening = regex("opening").match(data, first)
    quote = opening.group(1) if opening is not None else b""
    first = opening.end() if opening is not None else first
    if not quote:
        begin = _identifier_start(data, start)
        before = data[max(0, begin - 1) : begin]
        quote = before if before in (b'"', b"'") else b""
    last = _end_of_quoted(data, first, quote) if quote else regex("line").match(data, first).end()
    scheme, _, credentials = data[first:last].strip().partition(b" ")
    if scheme.isalpha() and credentials and _is_placeholder(credentials.strip()):
        return None
    return _valued(data, first, last, "auth")


def _scheme(data: bytes, start: int, end: int) -> Found | None:
    """`Bearer …` and `Basic …` outside a header; prose such as "basic authentication" is none."""
    value = data[start:end].split(None, 1)[1]
    mixed = regex("digit").search(value) is not None or regex("hump").search(value) is not None
    return _valued(data, end - len(value), end, "auth") if mixed or len(value) >= 20 else None


def _is_placeholder(value: bytes) -> bool:
    return len(value) <= 100 and regex("placeholder").fullmatch(value) is not None


def _begins_word(data: bytes, start: int) -> bool:
    """Whether a part of an identifier begins here; an escape such as `\\n` before it is no letter."""
    before = data[max(0, start - 1) : start]
    if not before.isalpha():
        return True
    if before.islower() and data[start : start + 1].isupper():
        return True
    return _follows_escape(data, start - 1) or data[max(0, start - 3) : start - 2] == b"%"


def _follows_escape(data: bytes, start: int) -> bool:
    """Whether the letter here belongs to an escape such as `\\n`."""
    return start > 0 and data[start - 1] == 0x5C and data[start] in b"nrtbf"


def _begins_option(data: bytes, start: int) -> bool:
    return data[max(0, start - 1) : start] in (b"", b" ", b"\t", b"\n", b'"', b"'", b"[", b"(", b",")


def _ends_word(data: bytes, end: int) -> bool:
    """Whether a part of an identifier ends here, a plural's s apart."""
    last = data[end - 1 : end]
    if data[end : end + 1] in (b"s", b"S"):
        end += 1
    after = data[end : end + 1]
    return not after.isalpha() or (last.islower() and after.isupper())


def _identifier_start(data: bytes, start: int) -> int:
    """Where the identifier around this place begins, at most 64 bytes before it."""
    least = max(0, start - 64)
    while start > least and data[start - 1] in _NAME_BYTES:
        start -= 1
    return start


def _connection_key(data: bytes, start: int, begin: int) -> bool:
    """Whether the identifier is one that connection strings use."""
    tail = regex("identifier").match(data, start, start + 24).end()
    return data[begin:tail].lower() in _CONNECTION


def _heads_line(data: bytes, begin: int) -> bool:
    """Whether the name is the first thing on its line, as in environment files and YAML."""
    line = data.rfind(b"\n", max(0, begin - 64), begin) + 1
    return (line > 0 or begin <= 64) and regex("line_head").fullmatch(data[line:begin]) is not None


def _end_of_quoted(data: bytes, first: int, quote: bytes) -> int:
    """Where a quoted value ends: at the quote, escaped no deeper than the opening one, or with its line.

    A doubled quote is one of the value's own, as in SQL.
    """
    mark, depth = quote[-1:], len(quote) - 1
    place, slashes = data.find(mark, first), 0
    while place >= 0:
        slashes = 0
        while slashes < place - first and data[place - slashes - 1] == 0x5C:
            slashes += 1
        if slashes <= depth and data[place + 1 : place + 2] != mark:
            break
        place = data.find(mark, place + (2 if slashes <= depth else 1))
    line = data.find(b"\n", first, place if place >= 0 else len(data))
    if line >= 0:
        return line
    return place - slashes if place >= 0 else len(data)
