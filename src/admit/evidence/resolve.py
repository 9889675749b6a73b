"""What a link leads to: the one resolver, for plan, lint and review alike.

The steps, of which the first hit wins: split the address, external, anchor, decode, start, walk by the names
on disk and through links, outside, folder, special file, not text, the note itself, artifact.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

from admit.evidence.note import Resolved
from admit.evidence.tree import Place

if TYPE_CHECKING:
    from admit.evidence.base import Base

MAX_PATH_BYTES = 4096
INDEX_FILES = ("README.md", "index.md")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")  # RFC 3986, section 3.1


class Malformed(Exception):
    """A path that no file can have; the message is the reason."""


def resolve(base: Base, note_path: str, dest: str) -> Resolved:
    """What a destination is, as CommonMark gives it. Nothing is raised for it, whatever it is.

    Args:
        base: Where the note lies.
        note_path: The note's real path below the root.
        dest: With escapes and entities undone, and not yet percent-decoded.
    """
    if not dest:
        return Resolved("malformed", "empty")
    if _SCHEME.match(dest):
        try:
            urlsplit(dest)
        except ValueError:
            return Resolved("malformed", "address")
        return Resolved("external")
    rest, mark, raw = dest.partition("#")
    fragment = decoded(raw) if mark else None
    path, mark, raw = rest.partition("?")
    query = decoded(raw) if mark else None
    if not path:
        return Resolved("anchor", target=note_path, fragment=fragment, query=query)
    try:
        plain = plain_path(path)
    except Malformed as error:
        return Resolved("malformed", str(error), fragment=fragment, query=query)
    folder = "" if plain.startswith("/") else note_path.rpartition("/")[0]
    place = base.tree.walk(folder, plain)
    return classified(base, note_path, place)._replace(fragment=fragment, query=query)


def plain_path(path: str) -> str:
    """A path percent-decoded, once.

    Raises:
        Malformed: It holds a NUL, is not UTF-8, or is longer than `MAX_PATH_BYTES`.
    """
    try:
        data = unquote_to_bytes(path)
        text = data.decode()
    except UnicodeError:
        raise Malformed("encoding") from None
    if b"\0" in data:
        raise Malformed("nul")
    if len(data) > MAX_PATH_BYTES:
        raise Malformed("too-long")
    return text


def classified(base: Base, note_path: str, place: Place) -> Resolved:
    """What the place that a walk ended at is to the note."""
    if place.kind == "missing":
        # Who links another name does not mean the note itself; who errs in capitals may.
        own = place.hint == note_path and place.reason != "case"
        return Resolved("missing", place.reason, hint="" if own else place.hint)
    if place.kind == "outside":
        return Resolved("outside")
    if place.kind == "folder":
        entries = base.tree.listing(place.path).entries
        index = next((name for name in INDEX_FILES if entries.get(name) == "file"), "")
        return Resolved(
            "directory", target=place.path, hint=f"{place.path}/{index}".strip("/") if index else ""
        )
    if place.kind == "special":
        return Resolved("non-text", "special-file", place.path)
    if place.kind == "unknown":
        return Resolved("artifact", "unreadable", place.path)
    reason = base.tree.look(place.path).reason
    if reason == "non-text":
        return Resolved("non-text", target=place.path)
    if reason == "missing":  # gone since its folder was listed
        return Resolved("missing")
    return Resolved("self" if place.path == note_path else "artifact", reason, place.path)


def decoded(part: str) -> str:
    """A fragment or query percent-decoded; where that is not UTF-8, as written."""
    try:
        return unquote_to_bytes(part).decode()
    except UnicodeError:
        return part
