"""Blocks of a document: cut so that none overlaps another, and what each is for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from admit.evidence.note import Block, Document, Mark, Role
from admit.evidence.positions import Cursor

_LABEL_BYTES = 256
_SPACE = b" \t\r\n"


class Stretch(NamedTuple):
    """Bytes of the text that may make a block, with what surrounds them still on."""

    start: int
    end: int
    quote: bool


def cut(data: bytes, stretches: Sequence[Stretch]) -> tuple[Block, ...]:
    """Blocks of stretches in order, without white space and quote marks around them; empty ones are none."""
    blocks: list[Block] = []
    cursor = Cursor(data)
    for stretch in stretches:
        start, raw = _trimmed(data, stretch)
        end, text = start + len(raw), raw.decode("utf-8", "replace")
        if text and not _bare_marker().fullmatch(text):
            first, last = cursor.line(start), cursor.line(end)
            blocks.append(Block(f"b{len(blocks) + 1}", start, end, first, last, text, "plain", stretch.quote))
    return tuple(blocks)


def with_roles(document: Document, artifact_links: Collection[int]) -> tuple[Block, ...]:
    """The blocks with their roles, by the numbers of the links that lead to artifacts."""
    links = [mark for mark in document.marks if mark.n in artifact_links]
    return roles(document.blocks, links)


def roles(blocks: Sequence[Block], links: Sequence[Mark]) -> tuple[Block, ...]:
    """The blocks with their roles, when these are the links that count, in document order."""
    first: dict[str, Mark] = {}
    for link in links:
        first.setdefault(link.block, link)
    return tuple(
        block if role == block.role else block._replace(role=role)
        for block in blocks
        for role in (_role(block, first.get(block.id)),)
    )


def opens(block: Block, start: int) -> bool:
    """Whether a block is a list item that opens with the link at this byte, a task box or emphasis aside."""
    before = start - block.start
    return 0 < before <= 64 and _opening().fullmatch(block.text[:before]) is not None


def relation(data: bytes, block: Block, start: int, end: int) -> str:
    """The label after a link that opens a list item: ``- [title](path) — label: reason``; else empty."""
    if not opens(block, start):
        return ""
    after = data[end : min(block.end, end + _LABEL_BYTES)].decode("utf-8", "ignore")
    found = _label().match(after)
    return found.group(1) if found else ""


def anchors(blocks: Sequence[Block]) -> frozenset[str]:
    """The block ids that end blocks, each with its caret."""
    found = (_block_id().search(block.text[-_LABEL_BYTES:]) for block in blocks if "^" in block.text)
    return frozenset(match.group(1) for match in found if match)


def _role(block: Block, first: Mark | None) -> Role:
    if first is None:
        return "plain"
    return "relation" if opens(block, first.start) else "claim"


def _trimmed(data: bytes, stretch: Stretch) -> tuple[int, bytes]:
    """Where the text of a stretch begins, and the text."""
    raw = data[stretch.start : stretch.end].rstrip(_SPACE)
    if stretch.quote:  # cut off the lines at the end that hold quote marks alone
        words = len(raw.rstrip(_SPACE + b">"))
        raw = raw[: words + len(raw[words:].splitlines()[0])].rstrip(_SPACE) if words < len(raw) else raw
    text = raw.lstrip(_SPACE + b">" if stretch.quote else _SPACE)
    return stretch.start + len(raw) - len(text), text


@lru_cache(maxsize=1)
def _bare_marker() -> re.Pattern[str]:
    return re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:\s+\[[ xX]\])?")


@lru_cache(maxsize=1)
def _opening() -> re.Pattern[str]:
    return re.compile(r"(?:[-+*]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?[*_~]*", re.ASCII)


@lru_cache(maxsize=1)
def _label() -> re.Pattern[str]:
    return re.compile(r"[*_~]*\s*(?:—|–|--|-)\s*([a-z][a-z-]*):")


@lru_cache(maxsize=1)
def _block_id() -> re.Pattern[str]:
    return re.compile(r"(?:^|\s)(\^[A-Za-z0-9-]+)\s*$")
