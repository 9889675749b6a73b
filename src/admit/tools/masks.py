"""A server as it is shown to people: what it runs or where it connects, credentials masked.

Values of variables and headers are never shown, nor what follows an option that names a secret, nor what a
URL holds beside its address; all else is looked through for the shapes of credentials.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit, urlunsplit

from admit.judges.redact import Redactor

from .servers import Server

MASK = "***"


def shown(server: Server) -> str:
    """The command line or the address of a server, on one line."""
    if server.transport != "stdio":
        return address(server.url)
    return _redactor().redact(shlex.join(_words((server.command, *server.args)))).text


def settings(server: Server) -> list[str]:
    """Its variables and headers, as ``NAME=***``; a value that is nothing but variables is shown as it is."""
    pairs = [*server.env.items(), *((f"header {name}", value) for name, value in server.headers.items())]
    return [f"{name}={value if _variables().fullmatch(value) else MASK}" for name, value in pairs]


def address(url: str) -> str:
    """A URL without user, query values and fragment."""
    try:
        parts = urlsplit(url)
        names = [pair.partition("=")[0] for pair in parts.query.split("&") if pair]
        place = parts.netloc.rpartition("@")
        netloc = f"{MASK}@{place[2]}" if place[1] else place[2]
    except ValueError:
        return MASK
    query = "&".join(f"{name}={MASK}" for name in names)
    plain = urlunsplit((parts.scheme, netloc, parts.path, query, ""))
    return _redactor().redact(plain).text


def _words(words: Iterable[str]) -> list[str]:
    """The words of a command, secrets among them masked."""
    kept: list[str] = []
    hide = False
    for word in words:
        name, equals, value = word.partition("=")
        secret = _secret().search(name) is not None
        if hide and not word.startswith("-"):
            kept.append(word if _variables().fullmatch(word) else MASK)
        elif secret and equals and not _variables().fullmatch(value):
            kept.append(f"{name}={MASK}")
        elif "://" in word:
            before, _, rest = word.rpartition("=") if equals and "://" in value else ("", "", word)
            kept.append(f"{before}={address(rest)}" if before else address(word))
        else:
            kept.append(word)
        hide = secret and not equals and word.startswith("-")
    return kept


@lru_cache(maxsize=1)
def _redactor() -> Redactor:
    return Redactor()


@lru_cache(maxsize=1)
def _secret() -> re.Pattern[str]:
    return re.compile(
        r"(?i)token|secret|passw|pwd|api[-_]?key|apikey|auth|credential|private[-_]?key|dsn|bearer"
    )


@lru_cache(maxsize=1)
def _variables() -> re.Pattern[str]:
    return re.compile(r"(?:(?:Bearer |Basic )?\$\{[^}:]*(?::[^-}][^}]*)?\})+")
