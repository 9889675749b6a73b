"""Whether a text is this door's own: an earlier render or a recall, and nothing beside it.

The first line proves only itself: whoever has seen one can put it before any text. So every line below it
must be one of the same output's markers, or text that stands in the stored copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from admit.errors import OutputNotFound

from .nonce import header_id, verifies
from .view import as_utf8, clean

if TYPE_CHECKING:
    from admit.ledger.port import OutputStore

# Headers, markers and the ends of pieces that a render or a recall adds to what is stored.
MOST_ADDED = 1 << 16
# Pieces of very long lines, looked for one by one; more of them and the text counts as a new one.
MOST_PIECES = 256


def is_own(text: bytes, key: bytes, store: OutputStore) -> bool:
    """Whether `text` is a render or a recall of a stored output, and holds nothing else."""

    def stored_hash(output_id: str) -> bytes | None:
        ref = store.find(output_id)
        return bytes.fromhex(ref.sha256) if ref is not None else None

    named = header_id(text)
    if named is None or not verifies(text, key, stored_hash):
        return False
    nonce, output_id = named
    try:
        with store.open(output_id) as file:
            stored = as_utf8(file.read())
    except (OutputNotFound, OSError):
        return False
    return _holds_only(text.partition(b"\n")[2], stored, f"[admit {nonce}".encode())


def _holds_only(body: bytes, stored: bytes, marker: bytes) -> bool:
    if len(body) > len(stored) + MOST_ADDED:
        return False
    if body.rstrip(b"\n") in stored:
        return True
    left = {line.rstrip(b"\r") for line in body.split(b"\n") if not line.startswith(marker)}
    for line in stored.split(b"\n"):
        if not left:
            break
        left.discard(line.rstrip(b"\r"))
        if b"\x1b" in line or b"\r" in line:
            left.discard(clean(line.decode("utf-8", "replace")).rstrip("\r").encode("utf-8", "replace"))
    left.discard(b"")
    return len(left) <= MOST_PIECES and all(piece in stored for piece in left)
