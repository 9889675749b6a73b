"""A document as it is written: its links, blocks and headings, and what its links lead to.

Paths are POSIX, relative to the root, in the spelling on disk. Hashes are ``sha256:`` and 64 hex digits over
exact bytes. Sizes are bytes, offsets are bytes of the file from 0; lines and columns (in characters) count
from 1.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from admit.text.front_matter import FrontMatter

Kind = Literal[
    "artifact", "self", "anchor", "external", "directory", "missing", "ambiguous", "outside", "malformed",
    "non-text",
]  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "artifact", "self", "anchor", "external", "directory", "missing", "ambiguous", "outside", "malformed",
    "non-text",
)  # fmt: skip
Via = Literal["inline", "reference", "autolink", "image", "html", "wiki", "embed"]
Role = Literal["claim", "relation", "plain"]


class Heading(NamedTuple):
    """A heading: level 1 to 6, its text without marks, its anchor (slug or own id), and where it stands."""

    level: int
    text: str
    slug: str
    line: int
    start: int
    end: int


class Block(NamedTuple):
    """A paragraph, list item, table row or block quote.

    Attributes:
        id: ``b1`` on, in document order. Blocks do not overlap: a list item ends where a nested list begins.
        start, end: Bytes of the file.
        first, last: Lines.
        text: As it stands in the file.
        role: ``claim`` holds an artifact link; ``relation`` is a list item that opens with one; else
            ``plain``. Before links are resolved every link counts as one to an artifact.
        quote: It stands in a block quote.
    """

    id: str
    start: int
    end: int
    first: int
    last: int
    text: str
    role: Role = "plain"
    quote: bool = False


class Mark(NamedTuple):
    """A link as it is written, before anything is looked up.

    Attributes:
        n: From 1 in document order.
        dest: The destination with escapes and entities undone, as CommonMark says; not percent-decoded.
        block: Id of the block it stands in; empty in a heading or elsewhere.
        label: The relation of a footer item, ``[title](path) — label: reason``; empty without one.
        snapshot_required: Its text holds ``(snapshot required)``.
    """

    n: int
    line: int
    column: int
    start: int
    end: int
    text: str
    dest: str
    via: Via
    block: str = ""
    label: str = ""
    snapshot_required: bool = False


class Document(NamedTuple):
    """What one parse of a Markdown text gives.

    Attributes:
        front: None where it cannot be read; without front matter an empty one.
        ids: Anchors that are no headings: HTML ``id`` and ``name``, block ids as ``^id``.
        undefined, unused, duplicate: Lines of references without a definition, and of definitions that
            nothing uses or that stand twice.
        unfollowed: Wiki links that are not followed because they are switched off, a count.
        problems: What is wrong with the front matter: (line, words).
    """

    front: FrontMatter | None
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    marks: tuple[Mark, ...]
    ids: frozenset[str] = frozenset()
    undefined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    duplicate: tuple[int, ...] = ()
    unfollowed: int = 0
    problems: tuple[tuple[int, str], ...] = ()


class Resolved(NamedTuple):
    """What a destination is.

    Attributes:
        reason: More about the kind, such as ``empty``, ``symlink-loop``, ``broken-symlink``,
            ``special-file``, ``case``; empty where there is nothing to say. On an ``artifact`` it is why it
            cannot be read: ``too-large`` or ``unreadable``.
        target: The real file below the root; empty where there is none.
        fragment, query: As written, percent-decoded; None where there is none.
        hint: A path that may have been meant, or the files of an ambiguous name joined by a comma.
    """

    kind: Kind
    reason: str = ""
    target: str = ""
    fragment: str | None = None
    query: str | None = None
    hint: str = ""


class Link(NamedTuple):
    """A link of a note with what it leads to: the fields of `Mark`, then those of `Resolved`.

    Attributes:
        anchor_ok: Whether the target has the fragment; None where that was not looked at.
    """

    n: int
    line: int
    column: int
    start: int
    end: int
    text: str
    dest: str
    via: Via
    block: str
    label: str
    snapshot_required: bool
    kind: Kind
    reason: str = ""
    target: str = ""
    fragment: str | None = None
    query: str | None = None
    hint: str = ""
    anchor_ok: bool | None = None


class Note(NamedTuple):
    """A document under review, as it was read once.

    Attributes:
        text: Of the whole file, decoded; its bytes are what `sha256` is over.
        type: The name of its type: of ``kb/types/note.md`` it is ``note``; empty without one.
        title: First heading of level 1, else ``title`` of the front matter, else the file's stem.
    """

    path: str
    sha256: str
    bytes: int
    text: str
    front: FrontMatter | None
    type: str
    traits: tuple[str, ...]
    title: str
    description: str
    document: Document
    links: tuple[Link, ...]
    blocks: tuple[Block, ...]
