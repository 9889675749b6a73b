"""Gather every snippet of a project: roots in precedence, one owner for each id, toggles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from admit.config.layers import Config
from admit.errors import FrontMatterError
from admit.guidance.codes import finding
from admit.guidance.model import Finding, Index, Root, Searched, Snippet
from admit.guidance.sources import BY_NAME
from admit.guidance.sources.agent_ways import REFIRE
from admit.guidance.sources.page import Page, Read
from admit.guidance.walk import File, Unreadable, Walked, read_text, walk
from admit.text.front_matter import MAX_BYTES as MAX_MATTER_BYTES
from admit.text.front_matter import parse

MAX_SNIPPETS = 5000


class Settings(NamedTuple):
    """What is turned off, and what holds where a file says nothing.

    Attributes:
        refire_default: Fraction of the context window.
        disable: Ids that the user turned off; each an id, or the start of ids followed by ``*``.
        project_disable: The same of the project, which reaches its own and bundled snippets alone.
        pin: Ids that a project can neither shadow nor turn off.
    """

    refire_default: float = REFIRE["normal"]
    disable: tuple[str, ...] = ()
    project_disable: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()


def settings_of(config: Config) -> Settings:
    """The settings in force; what a project turned off is told from what the user did."""
    theirs = config.added.get("guidance.disable", ())
    disable = config.values["guidance.disable"]
    return Settings(
        REFIRE[config.values["guidance.refire_default"]],
        disable[: len(disable) - len(theirs)],
        theirs,
        config.values["guidance.pin"],
    )


class Parsed(NamedTuple):
    """What a file held when it had this signature; no snippet where it is left out."""

    signature: tuple[object, ...]
    snippet: Snippet | None
    findings: tuple[Finding, ...]


Seen = dict[str, Parsed]
"""Files by path, so that one that did not change is not parsed again."""


def load(
    roots: Sequence[Root],
    *,
    settings: Settings = Settings(),  # noqa: B008 - a value that nothing can change
    seen: Seen | None = None,
    strict: bool = False,
) -> tuple[Index, tuple[Finding, ...]]:
    """Read all roots; a file that cannot be read is a finding and the rest holds.

    The first root that claims an id shadows the others, whole file, unless the id is pinned and the first is
    the project's. Past `MAX_SNIPPETS` files are skipped, those of the project first. What a host loads
    itself is counted and not read.

    Args:
        roots: In the order of precedence.
        settings: Toggles and defaults.
        seen: What an earlier call read; brought up to date here.
        strict: Raise on the first error instead.

    Raises:
        FrontMatterError: With `strict`, a file is not as it should be.
    """
    walked = [walk(root) for root in roots]
    findings = [item for one in walked for item in one.findings]
    files = _once(roots, walked)
    findings += _limit(roots, files)
    seen = {} if seen is None else seen
    fresh: Seen = {}
    found: list[list[Snippet]] = []
    for root, some in zip(roots, files, strict=True):
        parsed = [_parsed(root, file, settings, seen) for file in some]
        fresh.update(zip((file.path for file in some), parsed, strict=True))
        findings += [item for one in parsed for item in one.findings]
        found.append([one.snippet for one in parsed if one.snippet is not None])
    seen.clear()
    seen.update(fresh)

    owners, shadowed, duplicates = _owners(roots, found, settings.pin)
    findings += duplicates
    errors = [item for item in findings if item.level == "error"]
    if strict and errors:
        raise FrontMatterError(f"{errors[0].path}:{errors[0].line}: {errors[0].text}")
    kept = [[one for one in some if owners[one.id] is one] for some in found]
    searched = tuple(
        Searched(root, one.exists, len(one.files), len(some))
        for root, one, some in zip(roots, walked, kept, strict=True)
    )
    on, off = _toggled([one for some in kept for one in some], settings)
    digest = sha256("".join(f"{one.id}\0{one.digest}\n" for one in on).encode("utf-8", "surrogatepass"))
    return Index(on, searched, shadowed, off, f"sha256:{digest.hexdigest()}"), tuple(findings)


def _once(roots: Sequence[Root], walked: Iterable[Walked]) -> list[list[File]]:
    """The files to read of each root; one that two roots reach belongs to the first."""
    taken: set[str] = set()
    files: list[list[File]] = []
    for root, one in zip(roots, walked, strict=True):
        files.append([])
        for file in () if root.left_to else one.files:
            if file.path not in taken:
                taken.add(file.path)
                files[-1].append(file)
    return files


def _limit(roots: Sequence[Root], files: list[list[File]]) -> Iterable[Finding]:
    """Cut to the most snippets. A project comes last, for it must not crowd out what is the user's."""
    left = MAX_SNIPPETS
    for at in sorted(range(len(roots)), key=lambda at: roots[at].kind == "project"):
        over = len(files[at]) - left
        if over > 0:
            text = f"holds {over:,} files more than the {MAX_SNIPPETS:,} that are read in all"
            yield finding("too-large", roots[at].folder, 0, text, "remove what nobody needs")
            del files[at][left:]
        left -= len(files[at])


def _parsed(root: Root, file: File, settings: Settings, seen: Mapping[str, Parsed]) -> Parsed:
    signature = (*file.signature, root, file.parts, settings.refire_default)
    before = seen.get(file.path)
    if before is not None and before.signature == signature:
        return before
    try:
        read = _read(root, file, settings.refire_default)
    except Unreadable as error:
        return Parsed(signature, None, (finding(error.code, file.path, 0, str(error)),))
    return Parsed(signature, read.snippet, read.findings)


def _read(root: Root, file: File, refire_default: float) -> Read:
    text, data = read_text(file.path)
    matter = parse(text)
    if matter.too_large:
        raise Unreadable("too-large", f"has front matter of more than {MAX_MATTER_BYTES:,} bytes")
    digest = f"sha256:{sha256(data).hexdigest()}"
    page = Page(root, file.parts, file.path, text, matter, digest, refire_default)
    read = BY_NAME[root.source].read(page)
    problems = (finding(p.code, file.path, p.line, p.text + p.outcome, p.fix) for p in matter.problems)
    return read._replace(findings=(*problems, *read.findings))


def _owners(
    roots: Sequence[Root], found: Sequence[Sequence[Snippet]], pin: tuple[str, ...]
) -> tuple[dict[str, Snippet], tuple[tuple[str, str], ...], list[Finding]]:
    """The snippet each id stands for, what is shadowed, and a finding where two of one rank claim an id."""
    pinned = IdGlobs(pin)
    owners: dict[str, tuple[tuple[str, int], Snippet]] = {}
    shadowed: list[tuple[str, str]] = []
    findings: list[Finding] = []
    for at, some in enumerate(found):
        # Of extra roots the order in the list decides; all others of one kind are of one rank.
        rank = (roots[at].kind, at if roots[at].kind == "extra" else 0)
        for one in some:
            above, owner = owners.setdefault(one.id, (rank, one))
            if owner is one:
                continue
            if above == rank:
                text = f"{one.id} stands in {owner.path} too, which counts"
                findings.append(finding("duplicate-id", one.path, 0, text, "rename or remove one of them"))
            elif owner.root == "project" and pinned.match(one.id):
                owners[one.id] = (rank, one)
                shadowed.append((one.id, owner.path))
            else:
                shadowed.append((one.id, one.path))
    return {id: one for id, (_, one) in owners.items()}, tuple(shadowed), findings


def _toggled(owned: Sequence[Snippet], settings: Settings) -> tuple[tuple[Snippet, ...], tuple[Snippet, ...]]:
    """What is on, and what is off."""
    user, project, pinned = map(IdGlobs, (settings.disable, settings.project_disable, settings.pin))

    def is_off(one: Snippet) -> bool:
        theirs = one.root in ("project", "bundled") and project.match(one.id) and not pinned.match(one.id)
        return theirs or user.match(one.id)

    return tuple(one for one in owned if not is_off(one)), tuple(one for one in owned if is_off(one))


class IdGlobs:
    """Ids, each whole or as a start followed by ``*``; any number of them is matched in one step."""

    def __init__(self, globs: Iterable[str]) -> None:
        globs = tuple(globs)
        self._whole = frozenset(glob for glob in globs if not glob.endswith("*"))
        self._starts = tuple(glob[:-1] for glob in globs if glob.endswith("*"))

    def match(self, id: str) -> bool:
        """Whether an id is one of them: ``a/b/*`` is all below ``a/b``, without it."""
        return id in self._whole or id.startswith(self._starts)
