"""The whole error tree.

    AdmitError
    ├── ConfigError            a setting is wrong; names the key              (the user's to fix)
    ├── UsageError             a call or an argument is wrong                 (the user's to fix)
    │   ├── BadRange           a range of lines that cannot be read
    │   ├── BadPattern         a search pattern that does not compile
    │   ├── SettingsError      a host's settings file that cannot be edited; says where
    │   ├── ToolsError         the catalog of tools cannot be used as asked
    │   │   ├── UnknownTool    no tool has this id or name
    │   │   └── AmbiguousTool  several tools have this name
    │   ├── LabError           an experiment is refused
    │   │   ├── PlanError      a plan is not as it should be, or was edited after freezing
    │   │   ├── SurfaceError   the cases of a surface cannot be used, or changed
    │   │   └── SealError      a sealed surface may not be read, or not again
    │   ├── GuidanceError      guidance that cannot be used as asked
    │   │   ├── FrontMatterError  a file of guidance is not as it should be
    │   │   ├── ProbeFormatError  a row of a probe file is not as it should be
    │   │   └── UnknownSnippet    no guidance has this id
    │   └── EvidenceError      a review of evidence is refused
    │       ├── RootError      a folder that cannot be the root of a knowledge base
    │       ├── NoteError      a note that cannot be read
    │       ├── CriterionError a criterion is not as it should be
    │       ├── JobError       a job that is not there, or is not as it was made
    │       ├── NotOffered     an artifact that the plan of a job does not offer
    │       ├── BudgetExhausted  an opening that does not fit the budget of a job
    │       ├── IntegrityError   see below: one of the ledger too
    │       └── BaselineConflict  the same
    ├── SourceError            a source of tools cannot be read; names it and the cause
    ├── OutputNotFound         no stored output under this id; says why       (the user's to see)
    ├── LedgerError            the record cannot be opened                    (never leaves a door)
    │   ├── Corrupt            the database is damaged
    │   ├── TooNew             written by a newer version
    │   ├── Locked             held by another process
    │   ├── IntegrityError     a row is not as it was written; names it          (the user's to see)
    │   └── BaselineConflict   an accepted review changed meanwhile; nothing was written
    ├── StoreFailed            an output could not be stored                  (never leaves a door)
    └── CalibrationError       an artefact fails its gate

A judge's fault is a reason in a `Reply`, never an exception. No error of a judge, the ledger or the store
leaves a door's front method.
"""

from __future__ import annotations


class AdmitError(Exception):
    """The root of every error that Admit raises on purpose."""


class ConfigError(AdmitError):
    """A setting is wrong.

    Attributes:
        key: The full name of the setting, such as ``outputs.max_kept_chars``; empty for a whole file.
    """

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class UsageError(AdmitError):
    """A call or an argument is wrong; the message names the fix."""


class BadRange(UsageError):
    """A range of lines that cannot be read, such as ``7-x``."""


class BadPattern(UsageError):
    """A search pattern that does not compile."""


class SettingsError(UsageError):
    """A host's settings file that cannot be edited; nothing was written.

    Attributes:
        path: The file; empty where a text was given.
        line, column: From 1, in characters; 0 is the whole file.
    """

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        place = ":".join([path, *(str(number) for number in (line, column) if number)]).lstrip(":")
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column


class GuidanceError(UsageError):
    """Guidance that cannot be used as asked."""


class FrontMatterError(GuidanceError):
    """A file of guidance is not as it should be; raised only where strictness was asked for."""


class ProbeFormatError(GuidanceError):
    """A probe file cannot be read, or a row of it is not as it should be."""


class UnknownSnippet(GuidanceError):
    """No guidance has this id.

    Attributes:
        id: The id asked for.
    """

    def __init__(self, id: str) -> None:
        super().__init__(f"no guidance has the id {id!r}; admit guide list names them all")
        self.id = id


class ToolsError(UsageError):
    """The catalog of tools cannot be used as asked."""


class UnknownTool(ToolsError):
    """No tool has this id or name.

    Attributes:
        name: What was asked for.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no tool {name!r}; admit tools list names them all")
        self.name = name


class AmbiguousTool(ToolsError):
    """Several tools have this name; an id names one.

    Attributes:
        candidates: Their ids, sorted.
    """

    def __init__(self, name: str, candidates: tuple[str, ...]) -> None:
        super().__init__(f"{name!r} is several tools; name one by its id: {', '.join(candidates)}")
        self.name = name
        self.candidates = candidates


class EvidenceError(UsageError):
    """A review of evidence cannot go on as asked; the message names the fix."""


class RootError(EvidenceError):
    """A folder that cannot be the root of a knowledge base."""


class NoteError(EvidenceError):
    """A note that cannot be read.

    Attributes:
        path: Of the note, below the root.
        reason: ``missing``, ``unreadable``, ``too-large``, ``non-text``, ``changed`` or ``outside``.
    """

    def __init__(self, path: str, reason: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.reason = reason


class CriterionError(EvidenceError):
    """A criterion is not as it should be.

    Attributes:
        path: Of its file.
        key: Of its front matter; empty for the whole file.
    """

    def __init__(self, path: str, key: str, message: str) -> None:
        super().__init__(f"{path}: {key}: {message}" if key else f"{path}: {message}")
        self.path = path
        self.key = key


class JobError(EvidenceError):
    """A job of a review that is not there, is over, or is not as it was made."""


class NotOffered(EvidenceError):
    """An artifact that the plan of a job does not offer."""


class BudgetExhausted(EvidenceError):
    """An opening that does not fit the budget of a job; the message names what is unread."""


class LabError(UsageError):
    """An experiment cannot go on as asked; the message names the fix."""


class PlanError(LabError):
    """A plan is not as it should be, or is no longer as it was frozen.

    Attributes:
        key: The full name of the first key that is wrong; empty for the whole plan.
    """

    def __init__(self, message: str, *, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class SurfaceError(LabError):
    """The cases of a surface cannot be used as they are, or are no longer as they were frozen."""


class SealError(LabError):
    """A sealed surface may not be read by this step, or was opened before."""


class SourceError(AdmitError):
    """A source of tools cannot be read.

    Attributes:
        source: Its name.
        cause: Why, as a sentence.
    """

    def __init__(self, source: str, cause: str) -> None:
        super().__init__(f"{source}: {cause}")
        self.source = source
        self.cause = cause


class OutputNotFound(AdmitError):
    """No stored output can be given for this id.

    Attributes:
        output_id: The id asked for.
        why: ``expired``, ``deleted``, ``altered`` or ``never stored``.
    """

    def __init__(self, output_id: str, why: str) -> None:
        super().__init__(f"no stored output {output_id}: {why}")
        self.output_id = output_id
        self.why = why


class LedgerError(AdmitError):
    """The ledger cannot be opened or read."""


class Corrupt(LedgerError):
    """The database is damaged; `admit ledger recover` salvages it."""


class TooNew(LedgerError):
    """The database was written by a newer version of Admit."""


class Locked(LedgerError):
    """Another process holds the database."""


class IntegrityError(LedgerError, EvidenceError):
    """A row is not as it was written.

    Attributes:
        table, key: Of the row.
    """

    def __init__(self, table: str, key: str, message: str) -> None:
        super().__init__(f"{table}, {key}: {message}")
        self.table = table
        self.key = key


class BaselineConflict(LedgerError, EvidenceError):
    """An accepted review changed since the work on a new one began; nothing was written."""


class StoreFailed(AdmitError):
    """An output could not be stored, so it must not be cut."""


class CalibrationError(AdmitError):
    """A calibration artefact fails one of its gates."""
