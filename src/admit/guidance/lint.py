"""What could be better about guidance that loads: each finding with its code, file, line and fix."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from admit.config.check import nearest
from admit.guidance.codes import finding
from admit.guidance.lint_patterns import common_words, has_dot_star, short_words
from admit.guidance.masking import masked
from admit.guidance.model import Finding, Index, Snippet, Trigger
from admit.guidance.patterns import Problem, compiled, matches_nothing
from admit.guidance.sources.agent_ways import FIELDS, SCOPES, STATES, WITHOUT_EFFECT
from admit.guidance.sources.page import comma_list
from admit.guidance.walk import Unreadable, read_text
from admit.text.cut import utf16_length
from admit.text.front_matter import FrontMatter, parse

NEAR = 0.95
"""Cosine of two heads from which on they say the same."""

Cosines = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def lint(
    index: Index,
    *,
    budget: int = 9000,
    cosines: Cosines | None = None,
    probed: Iterable[str] | None = None,
) -> tuple[Finding, ...]:
    """Look at every snippet of an index; what `load` found is not found again.

    Args:
        index: What was loaded.
        budget: UTF-16 units that one event may add to the context (`hosts.inject_max_chars`).
        cosines: Pairwise cosines of texts, in their order; None leaves near duplicates out.
        probed: Ids that a probe file names; None asks for no probes.

    Returns:
        Findings by path, line and code.
    """
    found: list[Finding] = []
    for snippet in index.snippets:
        try:
            text, _ = read_text(snippet.path)
        except Unreadable:
            continue  # gone since it was loaded
        page = _Page(snippet, parse(text), text)
        for look in _WAY if snippet.source == "agent-ways" else ():
            found += look(page)
        for look in _ANY:
            found += look(page)
        if utf16_length(text[page.matter.body_at :]) > budget and not snippet.pointer:
            said = f"has a body over the {budget:,} UTF-16 units that one event may add, so its path is shown"
            found.append(page.finding("body-over-budget", "", said, "shorten it, or move parts to files"))
    owners = {snippet.id: snippet for snippet in (*index.snippets, *index.disabled)}
    for id, path in index.shadowed:
        found.append(finding("shadows", owners[id].path, 0, f"hides {path}, which is {id} too", "rename one"))
    found += _near_duplicates(index.snippets, cosines) if cosines is not None else ()
    if probed is not None:
        known = frozenset(probed)
        for one in index.snippets:
            if one.id not in known:
                found.append(finding("no-probe", one.path, 0, f"no probe names {one.id}", "add a row for it"))
    return tuple(sorted(found, key=lambda item: (item.path, item.line, item.code, item.text)))


class _Page(NamedTuple):
    snippet: Snippet
    matter: FrontMatter
    text: str

    def finding(self, code: str, key: str, text: str, fix: str, **more: Any) -> Finding:
        return finding(code, self.snippet.path, self.matter.lines.get(key, 0), text, fix, **more)

    def key_of(self, trigger: Trigger) -> str:
        """The field that a trigger came from."""
        if trigger.kind == "pattern" and trigger.text not in self.matter.texts("pattern"):
            return "pattern_strict"
        names = {"agent-ways": trigger.kind, "skill": "paths", "claude": "paths", "cursor": "globs"}
        return names.get(self.snippet.source, "applyTo")


def _unknown_fields(page: _Page) -> Iterator[Finding]:
    bundled = page.snippet.root == "bundled"

    def unknown(key: str, text: str, word: str, known: Iterable[str]) -> Finding:
        near = nearest(word, known)
        fix = f"did you mean {near}?" if near else "remove it"
        return page.finding("unknown-field", key, text, fix, level="error" if bundled else None)

    for key in page.matter.fields:
        if key not in FIELDS and key not in WITHOUT_EFFECT:
            yield unknown(key, f"there is no field {key}", key, sorted(FIELDS))
    when = page.matter.fields.get("when", {})
    for key in when if isinstance(when, dict) else ("value of its own",):
        if key not in ("project", "file_exists"):
            yield unknown("when", f"when knows no {key}", key, ("project", "file_exists"))
    for word in comma_list(page.matter.text("scope")):
        if word not in SCOPES:
            yield unknown("scope", f"there is no scope {word}", word, sorted(SCOPES))
    state = page.matter.text("trigger")
    if state and state not in STATES:
        yield unknown("trigger", f"there is no trigger {state}", state, STATES)


def _ignored_fields(page: _Page) -> Iterator[Finding]:
    state = page.matter.text("trigger")
    for key in page.matter.fields:
        needs = {"threshold": "context-threshold", "path": "file-exists"}.get(key)
        if key in WITHOUT_EFFECT or (needs and state != needs):
            without = f" without trigger: {needs}" if needs else ""
            yield page.finding("ignored-field", key, f"{key} has no effect{without}", "remove it")


def _refire(page: _Page) -> Iterator[Finding]:
    if not page.matter.text("refire") and not page.matter.flag("repeat") and page.snippet.triggers:
        fix = "write refire: normal, or another"
        yield page.finding("no-refire", "", "says no refire, so guidance.refire_default holds", fix)


def _description(page: _Page) -> Iterator[Finding]:
    if not page.snippet.description and any(one.kind == "pattern" for one in page.snippet.triggers):
        text = "has no description, so no judge knows what it is about and meaning finds nothing"
        yield page.finding("description-missing", "", text, "add a description")


def _broad_patterns(page: _Page) -> Iterator[Finding]:
    keep = page.matter.text("pattern_keep")
    kept = frozenset(re.findall(r"\w+", keep.lower()))
    for trigger in page.snippet.triggers:
        if trigger.kind not in ("pattern", "commands") or trigger.form != "regex":
            continue
        key = page.key_of(trigger)
        if has_dot_star(trigger.text):
            fix = "write .{0,40}, or the words between"
            yield page.finding("dot-star", key, f"{key} reaches over any text with .* or .+", fix)
        if trigger.kind == "commands":
            continue
        common = () if page.matter.flag("pattern_keep") else common_words(trigger.text)
        for word in (word for word in common if word not in kept):
            text = f"the common word {word} alone sets it off"
            yield page.finding("bare-common-word", key, text, f"add a word to it, or pattern_keep: {word}")
        for word in short_words(trigger.text):
            text = f"{word or 'an empty alternative'} has fewer than 4 literal characters and no anchor"
            yield page.finding("short-unanchored", key, text, "put \\b around it")


def _regexes(page: _Page) -> Iterator[Finding]:
    for trigger in page.snippet.triggers:
        if not _is_matched(trigger):
            continue
        key = page.key_of(trigger)
        made = compiled(trigger)
        if isinstance(made, Problem):
            fix = "RE2 knows no look-around and no back-references; write it without, or shorter"
            yield page.finding(made.code, key, f"{key} is off: {made.text}", fix)
        elif trigger.form == "regex" and matches_nothing(trigger):
            text = f"{key} matches the empty text, and so everything"
            yield page.finding("regex-empty-match", key, text, "make a part of it that must be there")


def _never_fires(page: _Page) -> Iterator[Finding]:
    if page.matter.flag("disable-model-invocation"):
        return
    usable = [
        one for one in page.snippet.triggers if not _is_matched(one) or not isinstance(compiled(one), Problem)
    ]
    if not usable or not page.snippet.scope:
        text = "nothing can set it off" if not usable else "its scope holds no agent"
        key = "scope" if usable else "trigger"
        yield page.finding("never-fires", key, text, "add a description, or a pattern that can match")


def _dead_links(page: _Page) -> Iterator[Finding]:
    start = page.matter.body_at
    folder = os.path.dirname(page.snippet.path)
    above = page.text.count("\n", 0, start)
    for number, line in enumerate(masked(page.text[start:]).split("\n"), start=above + 1):
        for target in _link().findall(line):
            path = unquote(target.partition("#")[0].partition("?")[0])
            outside = not path or ":" in path or path.startswith(("/", "~", "<", "$", "{"))
            if not outside and "\0" not in path and not os.path.lexists(os.path.join(folder, path)):
                text = f"links to {path}, which is not there"
                yield page.finding("dead-link", "", text, "mend the path")._replace(line=number)


def _near_duplicates(snippets: Sequence[Snippet], cosines: Cosines) -> Iterator[Finding]:
    meant = [one for one in snippets if one.semantic()]
    if not meant:
        return
    table = cosines([f"{one.description} {one.vocabulary}".strip() for one in meant])
    for at, one in enumerate(meant):
        for before in range(at):
            if float(table[at][before]) >= NEAR:
                text = f"{one.id} says nearly the same as {meant[before].id}"
                yield finding("near-duplicate", one.path, 0, text, "join them, or tell them apart")
                break


def _is_matched(trigger: Trigger) -> bool:
    return trigger.kind in ("pattern", "commands", "files")


@lru_cache(maxsize=1)
def _link() -> re.Pattern[str]:
    return re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


_WAY = (_unknown_fields, _ignored_fields, _refire, _description, _broad_patterns)
_ANY = (_regexes, _never_fires, _dead_links)
