"""The values of the evidence door. Nothing here reads a file.

Paths are POSIX, relative to the root, in the spelling on disk. Hashes are ``sha256:`` and 64 hex digits over
exact bytes. Sizes are bytes, offsets are bytes of the file from 0; lines and columns (in characters) count
from 1.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from admit.evidence.note import Kind

Route = Literal["note", "file", "quotes", "snapshot"]
Shape = Literal["whole", "head", "quotes", "snapshot"]
Unit = Literal["distinct-v1", "occurrences-v0"]
OrderName = Literal["document", "label", "bytes"]
Verdict = Literal["PASS", "WARN", "FAIL", "ERROR", "UNJUDGED"]
Severity = Literal["FAIL", "WARN", "INFO"]
Origin = Literal["check", "judge", "agent"]
Stop = Literal["budget", "sufficiency"]
UnreadReason = Literal["budget", "request-size", "not-opened"]

SCAFFOLD = "admit-evidence-1"
"""Names the words around a request and a prompt; they change, it changes, and an older job is another job."""


class Material(NamedTuple):
    """One way by which an offer is read.

    Attributes:
        path: The file that is read; for a snapshot that of the snapshot.
        links: Numbers of the links that go this way, in document order.
    """

    route: Route
    path: str
    links: tuple[int, ...]
    bytes: int
    sha256: str


class Offer(NamedTuple):
    """An artifact that may be read.

    Attributes:
        artifact: The file the note links to: for an ingest the ingest, by whichever route.
        id: ``a1`` on, in admission order.
        links, labels: Of all its links, in document order; labels without repeats.
        materials: One, or two for an ingest that is linked by both routes.
        slots: What it takes of the budget.
        bytes: Of its materials together.
        sha256: Of the artifact's own bytes.
    """

    artifact: str
    id: str
    links: tuple[int, ...]
    labels: tuple[str, ...]
    materials: tuple[Material, ...]
    slots: int
    bytes: int
    sha256: str

    @property
    def route(self) -> str:
        """``note``, ``file``, ``quotes``, ``snapshot`` or ``quotes+snapshot``."""
        return "+".join(one.route for one in self.materials)


class Unavailable(NamedTuple):
    """A link that cannot be served: every kind but artifact, anchor, self and external, or a failed route.

    Attributes:
        dest: As written.
        link: Its number.
        kind: Of the link.
        reason: ``snapshot-missing``, ``snapshot-hash``, ``snapshot-source``, ``too-large``, ``unreadable``,
            ``changed``, or the reason of the link.
    """

    dest: str
    link: int
    kind: Kind
    reason: str


class Opened(NamedTuple):
    """One text that was read: the n-th, from 1, with the exact file, its shape and the hash of its bytes."""

    n: int
    path: str
    shape: Shape
    route: Route
    sha256: str


class Unread(NamedTuple):
    """An offer, or what is left of it, that was not read.

    Attributes:
        id: Of the offer.
        links: Numbers of its links.
        blocks: Ids of the blocks those stand in, in document order.
        part: ``all``, or the ``rest`` after its head.
    """

    id: str
    artifact: str
    links: tuple[int, ...]
    blocks: tuple[str, ...]
    part: Literal["all", "rest"]
    reason: UnreadReason


class Coverage(NamedTuple):
    """What a verdict rests on, by our own count and never by what a reviewer says.

    Attributes:
        offered, read: Artifacts, counts.
        bytes_offered, bytes_read: Of the files offered; of the texts served.
        opened: In reading order.
        slots_used, cap: In `unit`; a cap of None is no cap.
        stop: ``budget`` when something offered is unread and the next one would not have fitted; else
            ``sufficiency``.
        complete: Nothing unread, nothing unavailable.
    """

    offered: int
    read: int
    bytes_offered: int
    bytes_read: int
    opened: tuple[Opened, ...]
    unread: tuple[Unread, ...]
    unavailable: tuple[Unavailable, ...]
    slots_used: int
    cap: int | None
    unit: Unit
    stop: Stop
    complete: bool


class Item(NamedTuple):
    """One text of a pack.

    Attributes:
        offer: Id of the offer it belongs to.
        artifact: The offer's; `path` is the file the text comes from.
        links: Numbers of the links it answers for.
        source_sha256: Of the file; `shown_sha256`: of the text.
    """

    offer: str
    artifact: str
    path: str
    shape: Shape
    route: Route
    links: tuple[int, ...]
    text: str
    source_sha256: str
    shown_sha256: str


class Finding(NamedTuple):
    """Something to tell the author.

    Attributes:
        rule: A name of `config.evidence_keys.RULES`, or a label of the criterion.
        claim: As it stands in the note; empty where no words of the note are meant.
        artifact: The file it is about; empty for none.
        passage: The artifact's own words, or the closest it has; empty for none.
        passage_line: Where they stand, from 1; 0 is unknown.
        text: What is said of it: by a check in our words, by an agent in its own.
        start, end: Bytes of the note.
        fix: What to do, where that is known.
    """

    rule: str
    severity: Severity
    note: str
    line: int
    block: str
    claim: str
    artifact: str
    passage: str
    passage_line: int
    text: str
    origin: Origin
    start: int = 0
    end: int = 0
    fix: str = ""


class Pair(NamedTuple):
    """What a review is of: its identity. `partition` names the bucket of models it was reviewed by."""

    note: str
    criterion: str
    partition: str


class Review(NamedTuple):
    """A verdict with what it rests on.

    Attributes:
        reason: ``judged``, or why there is no verdict.
        scoped: What the verdict covers, in words, where something is unread or unavailable; else empty.
        pack_hash: Of what was read; empty where nothing was.
        coverage: None where there was no plan.
        job: Id of the job, and the number of the attempt.
        stored: Whether it is on record; a verdict that is not will be reviewed again.
        conflict: The baseline had moved on; the verdict was not accepted.
    """

    pair: Pair
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...] = ()
    coverage: Coverage | None = None
    plan_hash: str = ""
    pack_hash: str = ""
    note_sha256: str = ""
    criterion_sha256: str = ""
    job: str = ""
    attempt: int = 1
    judge: str = ""
    model: str | None = None
    scoped: str = ""
    stored: bool = False
    conflict: bool = False
    shadow: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    elapsed_ms: float = 0.0


VERDICTS_STORED: frozenset[Verdict] = frozenset({"PASS", "WARN", "FAIL"})
"""Those that may become a baseline."""

SEVERITY_ORDER: tuple[Severity, ...] = ("INFO", "WARN", "FAIL")


def worst(severities: tuple[Severity, ...]) -> Severity | None:
    """The gravest; None of none."""
    return max(severities, key=SEVERITY_ORDER.index, default=None)
