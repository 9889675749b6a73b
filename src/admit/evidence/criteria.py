"""Criterion files: Markdown with front matter, shipped or of the project, read strictly.

Each key has its own default: without `asks` the note as a whole is asked about, without `answers` the labels
are PASS, WARN and FAIL, without `budget` there is no cap. So a review gate that states none of them runs as
it is. Keys that are not known are left alone, unless one looks like a misspelt key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from admit.core.events import sha256
from admit.errors import CriterionError, NoteError
from admit.evidence.criterion import GATE_ANSWERS, Asked, AskedMaterial, Criterion, Outcome
from admit.evidence.model import OrderName, Unit
from admit.evidence.nearest import distance
from admit.evidence.note import Note
from admit.text.front_matter import FrontMatter
from admit.text.front_matter import parse as parse_front

if TYPE_CHECKING:
    from admit.evidence.base import Base

SHIPPED = ("grounding-alignment", "representation", "link-text")
LAB_UNIT: Unit = "occurrences-v0"
"""The historical rule: an arm of an experiment, never of a criterion."""

KEYS = (
    "id", "gate_id", "name", "lens", "budget", "unit", "order", "label_order", "material", "asks", "answers",
    "note_answers", "meanings", "requires_type", "requires_trait", "watches",
)  # fmt: skip
"""What is read of the front matter; other keys are the author's, unless they look like one of these."""

MARKDOWN = (".md", ".markdown")
NO_ANSWERS: Mapping[str, Outcome] = MappingProxyType({})


def parse(text: str, path: str, sha256: str) -> Criterion:
    """The criterion that a file states.

    Args:
        path: Of the file, for the messages.
        sha256: Of its bytes.

    Raises:
        CriterionError: A value is unknown or of the wrong kind, or the front matter cannot be read; it names
            the file and the key.
    """
    front = parse_front(text)
    if front.too_large:
        raise CriterionError(path, "", "its front matter is too large to be read; shorten it")
    for problem in front.problems:
        words = f"line {problem.line}: the front matter {problem.text}; {problem.fix}"
        raise CriterionError(path, "", words)
    fields = _Fields(front, path)
    fields.refuse_misspelt()
    asks = fields.words("asks", get_args(Asked)) or ("note",)
    answers = fields.answers("answers") or GATE_ANSWERS
    note_answers = fields.answers("note_answers")
    if note_answers and "note" not in asks:
        raise fields.error("note_answers", "nothing asks about the note as a whole; add note to asks")
    note_answers = note_answers or answers
    if "note" in asks and "fail-if-read" in note_answers.values():
        key = "note_answers" if "note_answers" in front.fields else "answers"
        raise fields.error(key, "the note as a whole has no material of its own; use fail or info")
    order = fields.word("order", get_args(OrderName), "document")
    label_order = fields.texts("label_order")
    if order == "label" and not label_order:
        raise fields.error("label_order", "the order label needs the labels, first to last")
    if fields.word("unit", get_args(Unit), "distinct-v1") == LAB_UNIT:
        raise fields.error("unit", f"{LAB_UNIT} is for comparisons in the lab; use distinct-v1")
    return Criterion(
        id=fields.id(),
        path=path,
        sha256=sha256,
        name=front.text("name") or fields.id(),
        lens=front.text("lens"),
        budget=fields.budget(),
        unit="distinct-v1",
        order=order,  # type: ignore[arg-type]
        label_order=label_order,
        material=fields.word("material", get_args(AskedMaterial), "whole"),  # type: ignore[arg-type]
        asks=asks,  # type: ignore[arg-type]
        answers=answers if set(asks) != {"note"} else NO_ANSWERS,
        note_answers=note_answers if "note" in asks else NO_ANSWERS,
        meanings=MappingProxyType(fields.mapping("meanings")),
        requires_type=tuple(_type_name(one) for one in fields.texts("requires_type")),
        requires_trait=fields.texts("requires_trait"),
        watches=fields.texts("watches"),
        body=text[front.body_at :].strip(),
    )


def shipped() -> tuple[Criterion, ...]:
    """The criteria that come with Admit; the path of each is ``admit:ID``."""
    return tuple(parse(data.decode(), f"admit:{id}", sha256(data)) for id, data in _shipped_files())


def load(base: Base, name: str) -> Criterion:
    """A criterion by its id, in the project's folder before the shipped ones, or by the path of its file.

    Raises:
        CriterionError: There is none, several files have the id, or the file is not as it should be.
    """
    if name.endswith(MARKDOWN):
        return _read(base, _relative(base, name))
    found: list[Criterion] = []
    faults: list[CriterionError] = []
    for path in _project_files(base):
        try:
            criterion = _read(base, path)
        except CriterionError as fault:
            faults.append(fault)
        else:
            found += [criterion] if criterion.id == name else []
    if len(found) > 1:
        raise CriterionError(found[1].path, "id", f"{name} is also the id of {found[0].path}; rename one")
    # A file that cannot be read may be the one that is meant; it must not give way to another.
    if not found and faults:
        raise faults[0]
    if found:
        return found[0]
    for criterion in shipped():
        if criterion.id == name:
            return criterion
    known = ", ".join(SHIPPED)
    folder = base.settings.criteria_dir
    raise CriterionError(name, "", f"no criterion has this id; shipped are {known}, others go into {folder}")


def init(base: Base) -> tuple[str, ...]:
    """Copy the shipped criteria into the project's folder; a file that is there stays. The paths written.

    Raises:
        CriterionError: The folder leads out of the root, or cannot be written.
    """
    folder = base.settings.criteria_dir.strip("/")
    written: list[str] = []
    absolute = os.path.realpath(os.path.join(base.root, folder))
    if os.path.commonpath((absolute, base.root)) != base.root:
        raise CriterionError(folder, "", "it leads out of the root; set evidence.criteria_dir")
    try:
        os.makedirs(absolute, exist_ok=True)
        for id, data in _shipped_files():
            try:
                with open(os.path.join(absolute, f"{id}.md"), "xb") as file:
                    file.write(data)
            except FileExistsError:
                continue
            written.append(f"{folder}/{id}.md")
    except OSError as fault:
        raise CriterionError(folder, "", f"cannot be written: {fault.strerror or fault}") from None
    return tuple(written)


def applies(criterion: Criterion, note: Note) -> bool:
    """Whether a note is of a type that the criterion asks for, and has all of its traits."""
    types, traits = criterion.requires_type, criterion.requires_trait
    return (not types or note.type in types) and set(traits) <= set(note.traits)


class _Fields:
    """The front matter of one criterion file."""

    def __init__(self, front: FrontMatter, path: str) -> None:
        self.front = front
        self.path = path

    def error(self, key: str, message: str) -> CriterionError:
        return CriterionError(self.path, key, message)

    def refuse_misspelt(self) -> None:
        """A key that is nearly one of `KEYS` would otherwise be passed over, and with it a budget."""
        for key in self.front.fields:
            meant = next((one for one in KEYS if _is_nearly(key.lower(), one)), None)
            if key not in KEYS and meant is not None and meant not in self.front.fields:
                raise self.error(key, f"is no key of a criterion; did you mean {meant}?")

    def id(self) -> str:
        for key in ("id", "gate_id"):
            if key in self.front.fields:
                value = self._scalar(key)
                if not re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*", value):
                    raise self.error(key, f"{value!r} is no id; use letters, digits, - and /")
                return value
        raise self.error("id", "is missing; give the criterion an id")

    def budget(self) -> int | None:
        if "budget" not in self.front.fields:
            return None
        value = self._scalar("budget")
        if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < 1:
            raise self.error("budget", f"{value!r} is no whole number from 1; leave the key out for no cap")
        return int(value)

    def word(self, key: str, known: tuple[str, ...], default: str) -> str:
        if key not in self.front.fields:
            return default
        return self._known(key, self._scalar(key), known)

    def words(self, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
        found = self.texts(key)
        if key in self.front.fields and not found:
            raise self.error(key, f"names nothing; use one of {', '.join(known)}")
        return tuple(dict.fromkeys(self._known(key, one, known) for one in found))

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.front.fields.get(key, "")
        if isinstance(value, dict) or (
            isinstance(value, list) and not all(isinstance(v, str) for v in value)
        ):
            raise self.error(key, "must be a text or a list of texts")
        return self.front.texts(key)

    def mapping(self, key: str) -> dict[str, str]:
        value = self.front.fields.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(inner, str) for inner in value.values()):
            raise self.error(key, "must be one line of label: text for each label")
        return value

    def answers(self, key: str) -> Mapping[str, Outcome]:
        found: dict[str, Outcome] = {}
        for label, outcome in self.mapping(key).items():
            if not re.fullmatch(r"[A-Za-z][\w-]{0,63}", label):
                raise self.error(key, f"{label!r} is no label; use one word")
            found[label] = self._known(key, outcome, get_args(Outcome))  # type: ignore[assignment]
        if key in self.front.fields and len(found) < 2:
            raise self.error(key, "a question needs two labels or more")
        return MappingProxyType(found)

    def _scalar(self, key: str) -> str:
        value = self.front.fields[key]
        if not isinstance(value, str):
            raise self.error(key, "must be one value")
        return value.strip()

    def _known(self, key: str, value: str, known: tuple[str, ...]) -> str:
        if value not in known:
            raise self.error(key, f"{value!r} is unknown; use one of {', '.join(known)}")
        return value


def _read(base: Base, path: str) -> Criterion:
    from admit.evidence.reading import Unreadable

    try:
        file = base.file(path)
    except Unreadable as fault:
        raise CriterionError(path, "", f"cannot be read ({fault.reason}); it must be UTF-8 text") from None
    return parse(file.text, file.path, file.sha256)


def _relative(base: Base, name: str) -> str:
    try:
        return base.relative(name)
    except NoteError as fault:
        raise CriterionError(
            name, "", f"there is no such criterion ({fault.reason}); look at its path"
        ) from None


def _project_files(base: Base) -> tuple[str, ...]:
    """Real paths of the Markdown files below the criteria folder, by their bytes; one by two names is one."""
    found: set[str] = set()
    for here, _, names in os.walk(os.path.join(base.root, base.settings.criteria_dir.strip("/"))):
        real = (os.path.realpath(os.path.join(here, one)) for one in names if one.endswith(MARKDOWN))
        found.update(os.path.relpath(path, base.root).replace(os.sep, "/") for path in real)
    return tuple(sorted(found, key=os.fsencode))


def _shipped_files() -> Iterator[tuple[str, bytes]]:
    from importlib.resources import files

    folder = files("admit.evidence").joinpath("criteria")
    for id in SHIPPED:
        yield id, folder.joinpath(f"{id}.md").read_bytes()


def _is_nearly(key: str, known: str) -> bool:
    most = 1 if len(known) < 6 else 2
    return len(known) > 2 and distance(key, known, most) is not None


def _type_name(value: str) -> str:
    """``note`` of ``kb/types/note.md``."""
    return os.path.basename(value).removesuffix(".md")
