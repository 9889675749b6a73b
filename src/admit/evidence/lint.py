"""All checks of notes that need no judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from admit.config.check import nearest
from admit.config.evidence_keys import RULES
from admit.errors import NoteError, UsageError
from admit.evidence.checks import dates, links, numbers, quotes, references, sources
from admit.evidence.checks.page import Page
from admit.evidence.checks.texts import Texts
from admit.evidence.model import Finding

if TYPE_CHECKING:
    from admit.evidence.base import Base

Check = Callable[[Page], Iterator[Finding]]

CHECKS: Mapping[Check, tuple[str, ...]] = MappingProxyType(
    {group.check: group.RULES for group in (links, references, sources, quotes, numbers, dates)}
)
"""Each group of rules with the rules that it yields; a rule belongs to one group."""

NAMES = tuple(name for name, _, _ in RULES)
LINK_RULES = links.RULES


class Lint:
    """Checks notes one by one; what was read for one note serves the next.

    Attributes:
        rules: Those that are looked for: chosen, and not switched off.
        notes: How many were read.
        artifacts: Distinct targets of each note, added up.
        kinds: Links by kind, over all notes.
        unread: Notes that cannot be read, in the order of the calls.
    """

    def __init__(self, base: Base, rules: Collection[str] | None = None) -> None:
        """Choose rules by name; None is all of them.

        Raises:
            UsageError: There is no such rule; the message names the nearest and all.
        """
        for name in rules or ():
            if name not in NAMES:
                near = nearest(name, NAMES)
                meant = f"did you mean {near}? " if near else ""
                raise UsageError(f"there is no rule {name!r}; {meant}All are: {', '.join(NAMES)}")
        chosen = NAMES if rules is None else rules
        self.rules = frozenset(name for name in chosen if base.settings.severity[name] is not None)
        self.notes = 0
        self.artifacts = 0
        self.kinds: Counter[str] = Counter()
        self.unread: list[NoteError] = []
        self._base = base
        self._texts = Texts(base)
        self._checks = [check for check, own in CHECKS.items() if self.rules.intersection(own)]

    def note(self, path: str) -> tuple[Finding, ...]:
        """The findings about one note, by where they start and rule.

        One that cannot be read has one finding, of the rule ``unavailable``, and stands in `unread`.

        Args:
            path: Below the root.
        """
        try:
            note = self._base.note(path)
        except NoteError as fault:
            self.unread.append(fault)
            severity = self._base.settings.severity["unavailable"]
            if severity is None or "unavailable" not in self.rules:
                return ()
            text = f"the note cannot be read: {fault.reason}"
            return (
                Finding("unavailable", severity, path, 1, "", "", path, "", 0, text, "check", fix=str(fault)),
            )
        self.notes += 1
        self.kinds.update(link.kind for link in note.links)
        self.artifacts += len({link.target for link in note.links if link.kind == "artifact"})
        page = Page(self._base, note, self._texts)
        found = [one for check in self._checks for one in check(page) if one.rule in self.rules]
        return tuple(sorted(found, key=lambda one: (one.start, one.rule)))


def lint(base: Base, paths: Iterable[str], rules: Collection[str] | None = None) -> Iterator[Finding]:
    """What the checks find, by path in byte order, place and rule. A note that cannot be read is one finding.

    Args:
        base: The base.
        paths: Notes below its root.
        rules: Names of rules; None is all. Where none of them needs it, no artifact is read.

    Raises:
        UsageError: There is no such rule; the message names the nearest and all.
    """
    looked = Lint(base, rules)
    ordered = sorted(set(paths), key=lambda path: path.encode("utf-8", "surrogateescape"))
    return (finding for path in ordered for finding in looked.note(path))
