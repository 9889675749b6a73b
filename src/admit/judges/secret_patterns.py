"""The patterns behind redaction, in RE2 syntax over the bytes of a UTF-8 text."""

from __future__ import annotations

from functools import cache
from typing import Any

STRONG = (b"password", b"passwd", b"passphrase", b"secret", b"token", b"credential")
WEAK = (b"key", b"pwd", b"auth", b"dsn", b"private", b"session")
"""Names of secrets that need a border before them."""

NAMES = tuple(sorted(STRONG + WEAK))

LEAST_VALUE = 6
"""Bytes of a named value below which it is not taken for a secret."""

_TOKEN = "|".join(
    (
        r"sk-[A-Za-z0-9_-]{16,}",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}",
        r"gh[opsur]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}",
        r"AIza[A-Za-z0-9_-]{30,}",
        r"ya29\.[A-Za-z0-9_-]{16,}",
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"xapp-[A-Za-z0-9-]{10,}",
        r"npm_[A-Za-z0-9]{30,}",
        r"pypi-[A-Za-z0-9_-]{16,}",
        r"hf_[A-Za-z0-9]{20,}",
        r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        r"dop_v1_[a-f0-9]{32,}",
        # Bot tokens of Telegram and of Discord.
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
        r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
        r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}",
        r"discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{10,}",
    )
)
TOKEN_STEMS = (
    b"sk", b"rk", b"ghp", b"gho", b"ghu", b"ghs", b"ghr", b"github", b"glpat", b"ya29", b"npm", b"pypi",
    b"hf", b"SG", b"dop", b"xapp", *(b"xox" + bytes([letter]) for letter in b"abeoprs"),
)  # fmt: skip
"""What a token begins with before the first mark that is no letter."""

_RUN = r"data:image/[a-z+.-]+;base64,[A-Za-z0-9+/]+={0,2}|[A-Za-z0-9+/]{32,}={0,2}|[A-Za-z0-9_-]{32,}={0,2}"
_NAME = f"(?i:{b'|'.join(NAMES).decode()})"
# What may follow a name in its identifier: not the rest of another word, as in `author`.
_PAIR_NAME = rf"(?:{_NAME}[sS]?(?:[A-Z0-9_.-][A-Za-z0-9_.-]*)?|(?i:authorization)[A-Za-z0-9_.-]*)"
_SEPARATOR = (
    r"(?:\\*[\"'`]?[\])]{0,2}[ \t]*(?:=>|->|:=|={1,3}|>|:(?:[ \t]*[|>][+-]?[ \t]*(?:\r?\n|\\+n))?)[ \t]*"
    r"|[ \t]*\([ \t]*"
    r"|\\*[\"']?,?(?:\s|\\+[nt])*[-+>|#]{0,2}[ \t]*(?:- )?\\*[\"']?value\\*[\"']?[ \t]*[:=][ \t]*)"
)

_FILLERS = (
    "example", "placeholder", "dummy", "sample", "redacted", "hidden", "masked", "removed", "required",
    "optional", "undefined", "string", "number", "boolean", "integer", "object", "unknown", "missing",
    "expected", "invalid", "default", "password", "passphrase", "secret", "token", "session", "credential",
)  # fmt: skip
_SETTINGS = (
    r"process\.env", r"os\.environ", "secrets", "env", "vars", "config", "self", "this", "settings", "args",
    "options",
)  # fmt: skip
_OTHERS = ("xx", "x-", "change", "your", "none", "null", "true", "false", "nil")
PLACEHOLDER_HEADS = frozenset(word[:2].encode() for word in (*_FILLERS, *_SETTINGS, *_OTHERS))
"""The first two letters, small, of every placeholder that begins with a letter."""

# A value ends with its line at the latest, so that a name without one never gets out of RE2.
_BEFORE_VALUE = rf"[^\n]{{{LEAST_VALUE}}}"
_PAIR = _PAIR_NAME + _SEPARATOR
_BEFORE = "|".join(
    (
        r"(?i:authorization|cookie)\\*[\"']?[ \t]*(?::|=>|=)[ \t]*",
        r"(?i:login|account)\s+\S+\s+(?:[-+>|#]{1,2}[ \t]*)?(?i:password)\s+",
        rf"-[A-Za-z0-9_.-]*{_NAME}[A-Za-z0-9_.-]*[ \t]+",
        _PAIR,
        r"(?i:password|passphrase|secret|token)[ \t]+[\"']",
    )
)
_NAMED = rf"(?i:bearer|basic)[ \t]+[A-Za-z0-9._~+/=-]{{8,}}|(?:{_BEFORE}){_BEFORE_VALUE}"

PATTERNS = {
    "pem_begin": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    "pem_end": r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    # A password may hold @, and / too where it is no port: `host:8080/a@b` is none.
    "address": r":\\*/\\*/([^\s/?#\"'<>`@:]*:(?:[^\s/?#\"'<>`]*|[0-9]*[^0-9/\s\"'<>`][^\s\"'<>`]*))@",
    "jwt": r"eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)+",
    "token": _TOKEN,
    "shape": f"{_TOKEN}|{_RUN}",
    "shape_or_name": f"{_TOKEN}|{_RUN}|{_NAMED}",
    "named": _NAMED,
    "pair": _PAIR + _BEFORE_VALUE,
    "digit": r"[0-9]",
    "hump": r"[a-z][A-Z]",
    "ordinary": r"[0-9A-Fa-f]{32}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{56}|[0-9A-Fa-f]{64}|[0-9A-Fa-f]{96}"
    r"|[0-9A-Fa-f]{128}|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
    "name": _NAME,
    "begins_named": rf"{_NAME}|(?i:cookie|bearer|basic|login|account)",
    "opening": r"[\[({]?[ \t]{0,4}[bBrRfFuU]{0,2}(\\*[\"'`])",
    "identifier": r"[A-Za-z0-9_.-]*",
    "plain": r"(?:[^\s,;&\"'`<>()\[\]{}|\\]|\\[^nrt\"'])*",
    "word": r"(?:[^\s\"'`\\]|\\[^nrt\"'])*",
    "line": r"[^\n\r]*",
    "quoted_line": r"(?:[^\n\r\"\\]|\\+[^nr\"\\])*",
    "single_quoted_line": r"(?:[^\n\r'\\]|\\+[^nr'\\])*",
    "part_of_string": r"[^;\"'\n\r]*",
    "line_head": r"[ \t]*(?:[-+>|#$]{1,2} ?)*(?:export |set |ENV |ARG |env )?[ \t]*",
    "placeholder": r"(?i)\$\{[A-Z0-9_.]+\}|\$[A-Z_][A-Z0-9_]*|\$?\{\{[ \w.-]*\}\}|%[A-Z_][A-Z0-9_]*%"
    r"|<[ \w./:-]{0,60}>|\[redacted:\w+\]|x{3,}|\*{3,}|\.{3,}|-{3,}|_{3,}|#{3,}|x+(?:-x+)+"
    r"|change[_ -]?(?:me|it|this)|your[\w -]*|none|null|true|false|nil"
    rf"|(?:{'|'.join(_FILLERS)})s?|(?:{'|'.join(_SETTINGS)})\.[\w.]+",
}


@cache
def regex(name: str) -> Any:
    """A pattern of `PATTERNS`, compiled; bytes are characters, so offsets are those of the bytes."""
    import re2

    options = re2.Options()
    options.max_mem = 64 << 20
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(PATTERNS[name].encode(), options)
