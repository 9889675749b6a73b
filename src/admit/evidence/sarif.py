"""Findings and reviews as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import admit
from admit.config.evidence_keys import RULES
from admit.errors import NoteError
from admit.evidence.model import Finding, Review
from admit.evidence.positions import line_feeds
from admit.evidence.reading import Unreadable

if TYPE_CHECKING:
    from admit.evidence.base import Base

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "admitRuleNoteClaim/v1"
LEVELS: dict[str, str] = {"FAIL": "error", "WARN": "warning", "INFO": "note"}

_HELP: dict[str, tuple[str, str]] = {name: (severity, what) for name, severity, what in RULES}


def sarif(
    base: Base,
    findings: Iterable[Finding],
    reviews: Sequence[Review] = (),
    unread: Sequence[NoteError] = (),
) -> dict[str, Any]:
    """One run with the findings in their order, then those of the reviews.

    Columns are in Unicode code points from 1. A review without a verdict (UNJUDGED, ERROR) and a note that
    could not be read are notifications of the run, which then was not successful.
    """
    every = [*findings, *(one for review in reviews for one in review.findings)]
    names = list(dict.fromkeys([*_HELP, *(one.rule for one in every)]))
    places = _Places(base)
    missing = [_without_verdict(one) for one in reviews if one.verdict in ("UNJUDGED", "ERROR")]
    missing += [_notification(one.path, one.reason, str(one)) for one in unread]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "admit",
                "version": admit.__version__,
                "rules": [_rule(name) for name in names],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": f"file://{quote(base.root)}/"}},
        "invocations": [
            {
                "executionSuccessful": not missing,
                "toolExecutionNotifications": missing,
            }
        ],
        "results": [_result(one, names.index(one.rule), places) for one in every],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def fingerprint(finding: Finding) -> str:
    """The hash of rule, note and claim: it stays when the claim moves within the note."""
    parts = json.dumps([finding.rule, finding.note, finding.claim], ensure_ascii=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def _rule(name: str) -> dict[str, Any]:
    severity, what = _HELP.get(name, ("", "a label that the reviewer gave by its criterion"))
    row: dict[str, Any] = {"id": name, "shortDescription": {"text": what}, "help": {"text": what}}
    if severity:
        row["help"] = {"text": f"{what}. Its severity is set by evidence.severity.{name}."}
        row["defaultConfiguration"] = {"level": LEVELS[severity]}
    return row


def _result(finding: Finding, index: int, places: _Places) -> dict[str, Any]:
    text = finding.text or finding.rule
    passage = f"\n{finding.artifact}:{finding.passage_line}: {finding.passage}" if finding.passage else ""
    fix = f"\n{finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{text}{passage}{fix}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": _artifact(finding.note),
                    "region": places.region(finding),
                }
            }
        ],
        "partialFingerprints": {FINGERPRINT: fingerprint(finding)},
        "properties": {"origin": finding.origin, "block": finding.block, "artifact": finding.artifact},
    }


def _without_verdict(review: Review) -> dict[str, Any]:
    note = review.pair.note
    text = f"{review.verdict}: {note} by {review.pair.criterion}: {review.reason}"
    return _notification(note, review.reason or review.verdict, text)


def _notification(note: str, id: str, text: str) -> dict[str, Any]:
    return {
        "level": "error",
        "descriptor": {"id": id},
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(note)}}],
    }


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path), "uriBaseId": "ROOT"}


class _Places:
    """Columns of bytes; the note that was read last is kept."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._path: str | None = None
        self._data = b""

    def region(self, finding: Finding) -> dict[str, int]:
        """Bytes, line and column of a finding; the line alone where the note cannot be read."""
        if self._path != finding.note:
            self._path = finding.note
            try:
                self._data = line_feeds(self._base.file(finding.note).data)
            except Unreadable:
                self._data = b""
        if not 0 <= finding.start <= finding.end <= len(self._data) or not finding.end:
            return {"startLine": max(finding.line, 1)}
        line = self._data.rfind(b"\n", 0, finding.start) + 1
        column = len(self._data[line : finding.start].decode("utf-8", "replace")) + 1
        return {
            "startLine": self._data.count(b"\n", 0, finding.start) + 1,
            "startColumn": column,
            "byteOffset": finding.start,
            "byteLength": finding.end - finding.start,
        }
