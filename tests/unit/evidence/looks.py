"""What the tests of checks share: the findings about one note, as rules, and the one of a rule."""

from __future__ import annotations

from admit.evidence.base import Base
from admit.evidence.lint import lint
from admit.evidence.model import Finding


def found(base: Base, rule: str, note: str = "n.md") -> list[Finding]:
    """The findings of one rule about a note, each held to the note's own bytes."""
    findings = list(lint(base, [note]))
    data = base.file(note).data
    for one in findings:
        assert data[one.start : one.end].decode() == one.claim
        assert one.line == data.count(b"\n", 0, one.start) + 1
        assert one.origin == "check"
        assert one.text
    return [one for one in findings if one.rule == rule]


def only(base: Base, rule: str, note: str = "n.md") -> Finding:
    """The one finding of a rule."""
    [one] = found(base, rule, note)
    assert one.severity == base.settings.severity[rule]
    return one
