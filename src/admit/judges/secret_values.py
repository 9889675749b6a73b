"""Names with values: what stands at a name such as `password`, and how far its value reaches."""

from __future__ import annotations

from typing import NamedTuple

from .secret_patterns import LEAST_VALUE, NAMES, PLACEHOLDER_HEADS, STRONG, regex

_COUNTED = frozenset((b"token", b"key", b"session", b"private", b"auth", b"credential", b"dsn"))
"""Names whose value, when it is a number, is a count."""

_GLUED = (
    b"api", b"access", b"secret", b"account", b"master", b"signing", b"encryption", b"license", b"client",
    b"deploy", b"shared", b"storage", b"consumer", b"ssh", b"db", b"auth", b"user",
)  # fmt: skip
"""What stands before a weak name without a border, as in `apikey`."""

_CONNECTION = frozenset((b"password", b"pwd", b"accountkey", b"sharedaccesskey", b"sharedaccesssignature"))
NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_BY_HEAD = {head: tuple(name for name in NAMES if name[:3] == head) for head in {one[:3] for one in NAMES}}

# The ends of plain values as spaces, and the backslash, which may end one.
_PLAIN_ENDS = bytes(0x20 if chr(byte) in "\t\n\f\r ,;&\"'`<>()[]{}|\\" else byte for byte in range(256))
_MOST_PLAIN = 128
_QUOTES = bytes(0x22 if byte in b"'`\\" else byte for byte in range(256))
_OPENINGS = b"[({ \tbBrRfFuU\\\"'`"
_SPOKEN = frozenset((b"password", b"passphrase", b"passwd", b"pwd", b"secret"))
"""Names whose value may be words, also in the lines of a quoted text, which are mostly messages."""

_QUOTED = (b'"', b"'", b"\\")
_BEFORE_NAMES = frozenset((*_QUOTED, b"\n", b" ", b"\t", b"-", b"+", b">", b"|", b"#", b"$"))
_LINE_HEADS = frozenset((b"", b"export", b"set", b"ENV", b"ARG", b"env"))


class Mask(NamedTuple):
    """One secret: its place, end exclusive, and its class. Bytes while it is looked for, then code points."""

    start: int
    end: int
    kind: str

    @property
    def replacement(self) -> str:
        """What stands in its place."""
        return f"[redacted:{self.kind}]"


def at_name(data: bytes, start: int, end: int) -> Mask | None:
    """What stands at a name and its separator: from `start` to `end`, where a value begins."""
    head = data[start : start + 13].lower()
    if head.startswith((b"authorization", b"cookie")):
        # A block below a header holds lines of their own.
        return None if data[start:end].rstrip(b" \t").endswith(b"\n") else _header(data, start, end)
    for name in _BY_HEAD.get(head[:3], ()):
        if head.startswith(name):
            first = start + len(name)
            if _is_sensitive(data, start, first, name):
                return _value(data, start, end, name, data[first:end])
            for match in regex("name").finditer(data, first, end):
                name = match.group().lower()
                if _is_sensitive(data, match.start(), match.end(), name):
                    return _value(data, start, end, name, data[match.end() : end])
            return None
    if head.startswith((b"bearer", b"basic")):
        return _scheme(data, start, end)
    if head.startswith(b"-"):
        return _option(data, end) if _begins_option(data, start) else None
    return _valued(data, end, _end_of_plain(data, end), "auth")  # login or account, as in .netrc


def _is_sensitive(data: bytes, start: int, end: int, name: bytes) -> bool:
    """Whether a name is a part of its identifier, and not of another word, as in `author` or `monkey`."""
    if not _ends_word(data, end):
        return False
    return (
        name in STRONG
        or begins_word(data, start)
        or data[max(0, start - 12) : start].lower().endswith(_GLUED)
    )


def _value(data: bytes, start: int, first: int, name: bytes, between: bytes) -> Mask | None:
    """The value that begins at `first`; `between` is what parts it from its name."""
    separator = between.strip()[-1:]
    if separator == b">" and b"-" not in between and b"=" not in between:
        last = _end_of_plain(data, first)
        return _valued(data, first, last, "pair", name) if data.startswith(b"</", last) else None
    quoted = _quoted(data, first)
    if quoted is not None:
        return _valued(data, *quoted, "pair", name)
    if separator in (b"", b"(") or data.startswith((b":", b"//"), first):
        return None
    if data[first] in b"=>" and between[-1] in b":=" and not between.endswith(b"==="):
        return None  # the rest of an operator, before a value that is too short
    begin = _identifier_start(data, start)
    if separator == b"=" and data[begin] in b"pPaAsS" and _connection_key(data, start, begin):
        last = regex("part_of_string").match(data, first, min(len(data), first + 256)).end()
        if data[last : last + 1] == b";" or data[max(0, begin - 8) : begin].rstrip()[-1:] == b";":
            return _valued(data, first, regex("part_of_string").match(data, last).end(), "dsn")
    last = _end_of_plain(data, first)
    # Where no shape reaches further, none is asked for.
    ends = b" \t\n\f\r" if separator == b"=" and b"\\n" not in between else b"\n\r"
    if data[last : last + 1] not in ends:
        shape = _line_shape(data, begin, between, separator, name)
        last = regex(shape).match(data, first).end() if shape is not None else last
    return _valued(data, first, last, "pair", name)


def _quoted(data: bytes, first: int) -> tuple[int, int] | None:
    """A value in quotes, without them."""
    if data[first] not in _OPENINGS or b'"' not in data[first : first + 8].translate(_QUOTES):
        return None
    opening = regex("opening").match(data, first)
    return opening and (opening.end(), _end_of_quoted(data, opening.end(), opening.group(1)))


def _end_of_plain(data: bytes, first: int) -> int:
    """Where an unquoted value ends: at white space, punctuation of a list, a quote or an escape."""
    near = data[first : first + _MOST_PLAIN].translate(_PLAIN_ENDS).find(b" ")
    if near >= 0 and data[first + near] != 0x5C:
        return first + near
    return regex("plain").match(data, first).end()


def _valued(data: bytes, first: int, last: int, kind: str, name: bytes = b"") -> Mask | None:
    """The value between two places, if it can be a secret."""
    value = data[first:last].rstrip(b" \t\r,;")
    bare = value.strip()
    if len(bare) < LEAST_VALUE or is_placeholder(bare):
        return None
    if name in _COUNTED and len(bare) <= 20 and bare.translate(None, b",.").isdigit():
        return None
    return Mask(first, first + len(value), kind)


def _header(data: bytes, start: int, first: int) -> Mask | None:
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
    if scheme.isalpha() and credentials and is_placeholder(credentials.strip()):
        return None
    return _valued(data, first, last, "auth")


def _scheme(data: bytes, start: int, end: int) -> Mask | None:
    """`Bearer …` and `Basic …` outside a header; prose such as "basic authentication" is none."""
    value = data[start:end].split(None, 1)[1]
    mixed = regex("digit").search(value) is not None or regex("hump").search(value) is not None
    return _valued(data, end - len(value), end, "auth") if mixed or len(value) >= 20 else None


def is_placeholder(value: bytes) -> bool:
    """Whether a value stands for another, as `changeme`, `${TOKEN}` and `<token>` do."""
    if len(value) > 100 or (value[:1].isalpha() and value[:2].lower() not in PLACEHOLDER_HEADS):
        return False
    return regex("placeholder").fullmatch(value) is not None


def begins_word(data: bytes, start: int) -> bool:
    """Whether a part of an identifier begins here; an escape such as `\\n` before it is no letter."""
    before = data[max(0, start - 1) : start]
    if not before.isalpha():
        return True
    if before.islower() and data[start : start + 1].isupper():
        return True
    return follows_escape(data, start - 1) or data[max(0, start - 3) : start - 2] == b"%"


def follows_escape(data: bytes, start: int) -> bool:
    """Whether the letter here belongs to an escape such as `\\n`."""
    return start > 0 and data[start - 1] == 0x5C and data[start] in b"nrtbf"


def _begins_option(data: bytes, start: int) -> bool:
    return data[max(0, start - 1) : start] in (b"", b" ", b"\t", b"\n", b'"', b"'", b"[", b"(", b",")


def _ends_word(data: bytes, end: int) -> bool:
    """Whether a part of an identifier ends here, a plural's s apart."""
    after = data[end : end + 1]
    if after in (b"s", b"S"):
        after = data[end + 1 : end + 2]
    return not after.isalpha() or (after.isupper() and data[end - 1 : end].islower())


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


def _option(data: bytes, first: int) -> Mask | None:
    """The value of a command line option, as in `--password …`."""
    quoted = _quoted(data, first) or (first, regex("word").match(data, first).end())
    return _valued(data, *quoted, "pair")


def _identifier_start(data: bytes, start: int) -> int:
    """Where the identifier around this place begins, at most 64 bytes before it."""
    least = max(0, start - 64)
    return least + len(data[least:start].rstrip(NAME_BYTES))


def _connection_key(data: bytes, start: int, begin: int) -> bool:
    """Whether the identifier is one that connection strings use."""
    tail = regex("identifier").match(data, start, start + 24).end()
    return data[begin:tail].lower() in _CONNECTION


def _line_shape(data: bytes, begin: int, between: bytes, separator: bytes, name: bytes) -> str | None:
    """How a value reaches to the end of its line, where it does; the line may be one of a quoted text.

    It does where the name is the first thing on its line, as in environment files and YAML.
    """
    whole = "word" if separator == b"=" else "line"
    if b"\n" in between:
        return whole
    if b"\\n" in between:
        return "quoted_line"
    before = data[begin - 1 : begin]
    if begin and before not in _BEFORE_NAMES:
        return None
    spoken = separator != b"=" and name in _SPOKEN
    if before in _QUOTED:
        if not spoken or b'"' in between or b"'" in between:
            return None
        return "single_quoted_line" if before == b"'" else "quoted_line"
    least = max(0, begin - 64)
    line, quoted = data.rfind(b"\n", least, begin) + 1, data.rfind(b"\\n", least, begin) + 2
    if quoted > max(line, 1):
        line, whole = quoted, "quoted_line" if spoken else None
    if line == 0 and begin > 64:
        return None
    head = data[line:begin]
    heads = head.strip(b" \t-+>|#$") in _LINE_HEADS and regex("line_head").fullmatch(head) is not None
    return whole if heads else None
