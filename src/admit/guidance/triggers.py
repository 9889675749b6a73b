"""Explicit triggers: which snippets a text, a command, a path or a state sets off by its own words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from posixpath import join, normpath
from typing import NamedTuple

from .masking import masked
from .model import Snippet, Surface, Trigger
from .patterns import Match, PatternSet
from .targets import write_targets

MOST_SURFACE = 65_536
MOST_PROJECT_BYTES = 8 << 10
"""UTF-8 bytes of a text that a project's patterns see: its first and last half of this."""

PROMPT_LANES = frozenset(("prompt", "queued", "task"))


class Fired(NamedTuple):
    """One snippet that a trigger set off: the most telling of its triggers.

    Attributes:
        explicit: Specificity, in characters.
    """

    trigger: Trigger
    explicit: int
    span: str


class Explicit(NamedTuple):
    """What the explicit triggers of one surface say.

    Attributes:
        fired: By snippet id.
        hidden: Ids whose pattern matches only what is masked.
    """

    fired: Mapping[str, Fired]
    hidden: frozenset[str]


def cut_surface(text: str) -> str:
    """At most 65,536 code points: of a longer text the first and the last half of that."""
    half = MOST_SURFACE // 2
    return text if len(text) <= MOST_SURFACE else text[:half] + text[-half:]


class Triggers:
    """The explicit triggers of an index, compiled once.

    Patterns of a project run apart from the user's own, over less text, so that neither can slow or
    silence the other.
    """

    def __init__(self, snippets: Sequence[Snippet]) -> None:
        self._lanes: dict[tuple[str, bool, bool], _Lane] = {}
        grouped: dict[tuple[str, bool, bool], list[tuple[Snippet, Trigger]]] = {}
        for snippet in snippets:
            for trigger in snippet.triggers:
                key = (trigger.kind, snippet.strict and trigger.kind == "pattern", snippet.root == "project")
                grouped.setdefault(key, []).append((snippet, trigger))
        for key, pairs in grouped.items():
            self._lanes[key] = _Lane(pairs)

    def search(self, surface: Surface) -> Explicit:
        """What a surface sets off by words; its text is taken as it comes, without a machine's words."""
        fired: dict[str, Fired] = {}
        text = cut_surface(surface.text)
        if surface.lane in PROMPT_LANES:
            clear = masked(text)
            self._run(("mention",), clear, fired)
            self._run(("pattern",), clear, fired)
            self._run(("pattern",), text, fired, strict=True)
            seen: dict[str, Fired] = {}
            self._run(("pattern",), text, seen)
            return Explicit(fired, frozenset(seen.keys() - fired.keys()))
        if surface.lane == "command":
            self._run(("commands",), text, fired)
            said = cut_surface(surface.description)
            self._run(("pattern",), said, fired)
            self._run(("pattern",), said, fired, strict=True)
            self._paths(write_targets(text), surface, fired)
        elif surface.lane == "file":
            self._paths(surface.paths, surface, fired)
        return Explicit(fired, frozenset())

    def _paths(self, paths: Iterable[str], surface: Surface, fired: dict[str, Fired]) -> None:
        for path in paths:
            self._run(("files",), relative(path, surface.cwd, surface.project), fired)

    def _run(
        self, kinds: tuple[str, ...], text: str, fired: dict[str, Fired], *, strict: bool = False
    ) -> None:
        for kind in kinds:
            for project in (False, True):
                lane = self._lanes.get((kind, strict, project))
                if lane is not None:
                    lane.run(_ends(text) if project else text, fired)


class _Lane:
    """The triggers of one kind and origin."""

    def __init__(self, pairs: Sequence[tuple[Snippet, Trigger]]) -> None:
        self._pairs = pairs
        self._set = PatternSet([trigger for _, trigger in pairs])

    def run(self, text: str, fired: dict[str, Fired]) -> None:
        for match in self._set.search(text):
            snippet, trigger = self._pairs[match.place]
            held = fired.get(snippet.id)
            if held is None or match.specificity > held.explicit:
                fired[snippet.id] = _fired(trigger, match)


def _fired(trigger: Trigger, match: Match) -> Fired:
    return Fired(trigger, match.specificity, match.span)


def relative(path: str, cwd: str, project: str = "") -> str:
    """A path of a working folder relative to its project (empty: the folder itself), ``/`` between parts.

    One outside of the project stays absolute.
    """
    path = path.replace("\\", "/")
    if cwd and path:
        path = normpath(join(cwd, path))
    root = (project or cwd).rstrip("/") + "/"
    return path[len(root) :] if cwd and path.startswith(root) else path.removeprefix("./")


def _ends(text: str) -> str:
    """The first and the last half of what a project's patterns may see."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MOST_PROJECT_BYTES:
        return text
    half = MOST_PROJECT_BYTES // 2
    return data[:half].decode("utf-8", "ignore") + data[-half:].decode("utf-8", "ignore")
