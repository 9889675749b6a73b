"""The id of the work on one pair: the same work has the same id, so that it resumes."""

from __future__ import annotations

import hashlib

from admit.core.events import canonical
from admit.evidence.model import SCAFFOLD, Pair

DIGITS = 12
PATTERN = rf"e-[0-9a-f]{{{DIGITS}}}"


def job_id(
    pair: Pair,
    note_sha256: str,
    criterion_sha256: str,
    plan_hash: str,
    expected_revision: int | None,
    scaffold: str = SCAFFOLD,
) -> str:
    """``e-`` and 12 hex digits of SHA-256 over all that makes it this work and no other.

    Args:
        expected_revision: Of the baseline that the review is to follow; None where there is none yet.
        scaffold: Names the words around the request or prompt.
    """
    work = {
        "pair": list(pair),
        "note_sha256": note_sha256,
        "criterion_sha256": criterion_sha256,
        "plan_hash": plan_hash,
        "expected_revision": expected_revision,
        "scaffold": scaffold,
    }
    return f"e-{hashlib.sha256(canonical(work)).hexdigest()[:DIGITS]}"
