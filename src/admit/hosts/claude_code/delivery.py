"""Whether an answer reached the model, as Claude Code's transcript says it.

A hook's own record (``hook_success``) says that the host heard it, not that the model did: only what stands
in a result, in text that was rendered for the model, or in a recorded request counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from admit.hosts.model import Sent
from admit.transcripts.claude_results import content

from .transcript import is_result, last_lines, message_content, parsed, text_of

MOST_BYTES = 16 << 20


class Proof(NamedTuple):
    """A place where a model saw a text.

    Attributes:
        line: From 1, counted from where the search began.
        use_id: The tool call whose result holds it; empty where it is no result.
        uuid: The record's own id.
        channel: ``replace`` in a result, ``context`` in rendered text, ``request`` in a recorded request.
        end: Where the line ends, in bytes from the start of the file.
    """

    line: int
    use_id: str
    uuid: str
    channel: str
    end: int


def proofs(path: str, nonces: Iterable[str], start: int = 0) -> Mapping[str, tuple[Proof, ...]]:
    """Where each nonce stands in what the model saw, from `start` bytes on, in the last 16 MiB at most."""
    wanted = {nonce: nonce.encode() for nonce in nonces}
    found: dict[str, list[Proof]] = {nonce: [] for nonce in wanted}
    for number, (end, line) in enumerate(last_lines(path, start, MOST_BYTES), 1):
        here = [nonce for nonce, raw in wanted.items() if raw in line]
        record = parsed(line) if here else None
        if record is None:
            continue
        for use_id, channel, text in _seen(record, line):
            proof = Proof(number, use_id, text_of(record.get("uuid")), channel, end)
            for nonce in here:
                if nonce in text:
                    found[nonce].append(proof)
    return {nonce: tuple(places) for nonce, places in found.items()}


def delivered(waiting: Sequence[Sent]) -> Iterator[tuple[Sent, Proof]]:
    """The answers that a transcript proves, each with its first proof."""
    for path in dict.fromkeys(one.transcript for one in waiting if one.transcript):
        here = [one for one in waiting if one.transcript == path]
        places = proofs(path, (one.nonce for one in here), min(one.offset for one in here))
        for one in here:
            proof = next((proof for proof in places[one.nonce] if _is_of(proof, one)), None)
            if proof is not None:
                yield one, proof


def _is_of(proof: Proof, one: Sent) -> bool:
    """Equal texts have equal nonces: a result proves only the answer to its own call, and nothing earlier.

    At an event without a call the host may name the hook in the place of one.
    """
    own_call = proof.use_id in ("", one.use_id) or (one.channel == "context" and not one.use_id)
    same_way = proof.channel == one.channel and own_call
    return proof.end > one.offset and (same_way or proof.channel == "request")


def _seen(record: dict[str, Any], line: bytes) -> Iterator[tuple[str, str, str]]:
    """Every text of a record that a model saw, with the call it answers and the way it came."""
    kind = record.get("type")
    if kind == "user":
        blocks = message_content(record)
        for block in blocks if isinstance(blocks, list) else ():
            if is_result(block):
                yield text_of(block.get("tool_use_id")), "replace", content(block.get("content")).text
    elif kind == "attachment":
        own, sent = record.get("attachment"), record.get("rendered")
        use_id = text_of(own.get("toolUseID")) if isinstance(own, dict) else ""
        for one in sent if isinstance(sent, list) else ():
            if isinstance(one, dict):
                yield use_id, "context", content(one.get("content")).text
    elif kind == "api-request-blob":
        yield "", "request", line.decode("utf-8", "replace")
