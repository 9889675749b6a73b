"""Our hook entries in a settings text, among those of others: put in, found, taken out.

The shape is Claude Code's, which other hosts share: ``hooks.EVENT`` is an array of groups, each with a
matcher and an array ``hooks`` of handlers. A group of ours holds only handlers of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from admit.errors import SettingsError

from .edit import Path, Undo, append, at, pointer, put_literal, remove, replace
from .spans import MARK, Node, parse

HOOKS = "hooks"
Group = Mapping[str, Any]
IsOurs = Callable[[Any], bool]


class Found(NamedTuple):
    """An entry of ours: a whole group, or a handler in a group that holds others too."""

    path: Path
    event: str
    value: Any

    @property
    def is_group(self) -> bool:
        """Whether it is a whole group."""
        return len(self.path) == 3


def find(text: str, is_ours: IsOurs) -> tuple[Found, ...]:
    """Every entry of ours, in the order of the text.

    Args:
        is_ours: Tells of a handler whether it is ours.

    Raises:
        SettingsError: The text is not JSON.
    """
    root = parse(text)
    return tuple(_find(root, is_ours)) if root is not None else ()


def with_hooks(
    text: str, wanted: Mapping[str, Group], is_ours: IsOurs, known: Undo | None
) -> tuple[str, Undo | None]:
    """The text with exactly these groups of ours, one an event, and how its containers were before.

    What stands there already stays as it is; a group that differs is replaced where it stands. New groups
    come last in their event, new events last of all. Nothing of others is touched or moved.

    Args:
        known: What an earlier edit found out; None is that there was one, and no more.

    Raises:
        SettingsError: The text is not JSON, or its hooks have another shape.
    """
    before, undo = text, known
    stray = [one for one in find(text, is_ours) if one.event not in wanted]
    text = _take_out(text, stray, undo)
    for event, group in wanted.items():
        mine = [one for one in find(text, is_ours) if one.event == event]
        if len(mine) == 1 and mine[0].is_group:
            if mine[0].value != group:
                text = replace(text, mine[0].path, group)
            continue
        for one in reversed(mine):
            text = remove(text, one.path)
        text, found = append(text, (HOOKS, event), group)
        undo = None if undo is None else undo.then(found)
    _check(before, text, is_ours)
    if {one.event: one.value for one in find(text, is_ours)} != dict(wanted):
        raise SettingsError("the new text does not hold what it should; nothing was written")
    return text, undo


def without_hooks(text: str, is_ours: IsOurs, known: Undo | None) -> str:
    """The text without any entry of ours, its containers as they were before the first of them.

    Args:
        known: How they were; None is not known, and containers that become empty go.

    Raises:
        SettingsError: The text is not JSON.
    """
    after = _take_out(text, find(text, is_ours), known)
    _check(text, after, is_ours)
    return after


def _find(root: Node, is_ours: IsOurs) -> Iterator[Found]:
    hooks = at(root, (HOOKS,))
    for event in hooks.items if hooks is not None and isinstance(hooks.value, dict) else ():
        if event.key is None or not isinstance(event.node.value, list):
            continue
        for k, group in enumerate(event.node.items):
            handlers = at(group.node, (HOOKS,))
            if handlers is None or not isinstance(handlers.value, list):
                continue
            ours = [j for j, one in enumerate(handlers.value) if is_ours(one)]
            if ours and len(ours) == len(handlers.value):
                yield Found((HOOKS, event.key, k), event.key, group.node.value)
                continue
            for j in ours:
                yield Found((HOOKS, event.key, k, HOOKS, j), event.key, handlers.value[j])


def _take_out(text: str, entries: Sequence[Found], known: Undo | None) -> str:
    """Remove entries, given in the order of the text, and see to the containers that become empty."""
    for one in reversed(entries):
        text = remove(text, one.path)
    events = dict.fromkeys(one.event for one in entries if one.is_group)
    containers: list[Path] = [*((HOOKS, event) for event in events), (HOOKS,), ()]
    for path in containers if events else ():
        root = parse(text)
        node = at(root, path) if root is not None else None
        if node is None or node.items:
            continue
        name = pointer(path)
        if known is not None and name in known.literal:
            literal = known.literal[name]
            if not literal.strip():  # there was white space, and no value at all
                return (MARK if text.startswith(MARK) else "") + literal
            text = put_literal(text, path, literal)
        elif path and (known is None or name in known.absent):
            text = remove(text, path)
    return text


def _check(before: str, after: str, is_ours: IsOurs) -> None:
    """Everything of others is there as before, in the same order."""
    if _of_others(before, is_ours) != _of_others(after, is_ours):
        raise SettingsError("the new text would change what is not ours; nothing was written")


def _of_others(text: str, is_ours: IsOurs) -> str:
    root = parse(text)
    value = dict(root.value) if root is not None and isinstance(root.value, dict) else {}
    hooks = value.get(HOOKS)
    if isinstance(hooks, dict):
        kept = {event: _groups(groups, is_ours) for event, groups in hooks.items()}
        value[HOOKS] = {event: groups for event, groups in kept.items() if groups != []}
        if not value[HOOKS]:
            del value[HOOKS]
    return json.dumps(value)


def _groups(groups: Any, is_ours: IsOurs) -> Any:
    if not isinstance(groups, list):
        return groups
    kept = []
    for group in groups:
        handlers = group.get(HOOKS) if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            kept.append(group)
            continue
        others = [one for one in handlers if not is_ours(one)]
        if others or not handlers:
            kept.append({**group, HOOKS: others})
    return kept
