"""A criterion: what a review asks, how much it may read, and what each answer is worth."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from admit.evidence.model import OrderName, Unit

Outcome = Literal["pass", "info", "warn", "fail", "fail-if-read"]
Asked = Literal["claims", "relations", "note"]
AskedMaterial = Literal["whole", "head", "none"]

GATE_ANSWERS: Mapping[str, Outcome] = MappingProxyType({"PASS": "pass", "WARN": "warn", "FAIL": "fail"})
"""Of a file that states none."""


class Criterion(NamedTuple):
    """One criterion file.

    Attributes:
        id: Names it in pairs and on the command line.
        path: Below the root; for a shipped one ``admit:ID``.
        sha256: Of the file's bytes: budget and order stand in it.
        budget: Slots a pair may read; None is no limit.
        label_order: Labels from first to last; for the order ``label``.
        asks: Which blocks are asked about, and whether the note as a whole is.
        answers: Outcome by label for blocks, in the order of the file.
        note_answers: The same for the question about the whole note.
        meanings: What a label means, in words for the judge; may lack labels.
        requires_type, requires_trait: A note without them is not reviewed; empty requires nothing.
        watches: The parts whose change makes a review stale for `ack --trivial`; empty is the whole note.
        body: What to detect, in words.
    """

    id: str
    path: str
    sha256: str
    name: str
    lens: str
    budget: int | None
    unit: Unit
    order: OrderName
    label_order: tuple[str, ...]
    material: AskedMaterial
    asks: tuple[Asked, ...]
    answers: Mapping[str, Outcome]
    note_answers: Mapping[str, Outcome]
    meanings: Mapping[str, str]
    requires_type: tuple[str, ...]
    requires_trait: tuple[str, ...]
    watches: tuple[str, ...]
    body: str
