"""Put the layers together: shipped, then the user's file, the project's, the command line, a pause.

A bad value never raises here: it is dropped in its layer and becomes a finding. Authority (to ask, to send)
is lost where the user's file cannot be trusted as a whole, and at one door where its mode cannot be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from admit.config.check import accept, nearest, shown, tightens, visible
from admit.config.files import File, Finding, Layer, Path, read, signature
from admit.config.keys import DOORS, KEYS, PROFILE_FIELDS, find, shipped
from admit.config.lines import key_lines, line_of
from admit.config.pause import Pause, paused
from admit.config.places import USER_FILE, config_dir, project_file
from admit.errors import ConfigError

MAX_FINDINGS = 50  # of one file
_MEAN_IT = "set it in your own file if you mean it"


class Origin(NamedTuple):
    """Where a value came from; `line` counts from 1, 0 is none."""

    layer: Layer
    file: str = ""
    line: int = 0


class Config(NamedTuple):
    """The settings in force.

    Attributes:
        values: Every value by its full key, the shipped ones first, in the order of the key table.
        findings: What is wrong, the user's file first, in the order of the files.
        authority: Whether anything may be sent or asked at all; off where the user's file is broken.
        silent: Doors whose mode cannot be read: they ask no judge.
        pause: The pause that holds, which turns every door off.
        files: The files that were read.
        added: Of lists that a project may add to, what it added; they are the last of the value.
    """

    values: Mapping[str, Any]
    findings: tuple[Finding, ...] = ()
    authority: bool = True
    silent: frozenset[str] = frozenset()
    pause: Pause | None = None
    files: tuple[File, ...] = ()
    sources: Mapping[str, tuple[Layer, Path]] = MappingProxyType({})
    added: Mapping[str, tuple[Any, ...]] = MappingProxyType({})

    @property
    def refused(self) -> tuple[Finding, ...]:
        """The settings that the project's file may not make (the event `host.project_key_refused`)."""
        return tuple(finding for finding in self.findings if finding.kind == "refused")

    def may_ask(self, door: str) -> bool:
        """Whether a door may ask its judge; where not, the reason is `config`."""
        return self.authority and door not in self.silent

    def origin(self, key: str) -> Origin:
        """The layer a value came from, with file and line where it came from a file."""
        layer, path = self.sources.get(key, ("shipped", ()))
        for file in self.files:
            if file.layer == layer:
                return Origin(layer, file.path, line_of(key_lines(file.text), path))
        return Origin(layer)


def section(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The values below a prefix, by the rest of their names: `filter.enabled` for `outputs`."""
    start = prefix + "."
    return {name[len(start) :]: value for name, value in values.items() if name.startswith(start)}


_user_file: str | None = None
# The signature a file had, what was read from it, and the last of it that parsed.
_seen: dict[str, tuple[tuple[int, ...], File, File | None]] = {}


def use_user_file(path: str | None) -> None:
    """Take this as the user's file in this process, above `ADMIT_CONFIG`; None undoes it."""
    global _user_file
    _user_file = path and os.path.abspath(path)


def user_file() -> tuple[str, bool]:
    """The user's file, and whether it was named on purpose: then it must exist."""
    named = _user_file or os.environ.get("ADMIT_CONFIG", "")
    if named:
        return os.path.abspath(os.path.expanduser(named)), True
    return os.path.join(config_dir(), USER_FILE), False


def load(
    cwd: str | None = None, *, overrides: Mapping[str, object] | None = None, project: bool = True
) -> Config:
    """The settings in force in a working folder.

    Files are read again only when they changed. One that was good and is broken now keeps its last good
    values, and says so.

    Args:
        cwd: The working folder, whose project's file counts; None is the process's own.
        overrides: The command line's layer, by full key; a value of None sets nothing.
        project: Whether a project's file counts.

    Raises:
        ConfigError: An override is no key or no value of it; `key` names it.
    """
    values = shipped()
    sources: dict[str, tuple[Layer, Path]] = {}
    added: dict[str, tuple[Any, ...]] = {}
    findings: list[Finding] = []
    silent: set[str] = set()
    files = []
    authority = True

    path, named = user_file()
    if (user := _read(path, "user")) is not None:
        authority = user.problem is None
        files.append(user)
    elif named:
        authority = False
        findings.append(Finding("broken", "does not exist, and was named as the user's file", file=path))
    place = project_file(cwd) if project else None
    if place is not None and os.path.realpath(place[0]) != os.path.realpath(path):
        theirs = _read(place[0], "project", place[1])
        files.extend([theirs] if theirs is not None else [])

    for file in files:
        found = [file.problem] if file.problem is not None else []
        found += _merge(file, values, sources, added, silent)
        findings += found[:MAX_FINDINGS]
        if len(found) > MAX_FINDINGS:
            findings.append(Finding("bad", f"has {len(found) - MAX_FINDINGS:,} more faults", file=file.path))

    for name, raw in (overrides or {}).items():
        if raw is not None:
            values[name] = _override(name, raw)
            sources[name] = ("command line", ())
            added.pop(name, None)

    _drop_thresholds_of_other_models(values, sources)

    switch = os.environ.get("ADMIT_OFF", "")
    if switch not in ("", "0", "1"):
        text = f'ADMIT_OFF is "{visible(switch)}", which pauses nothing'
        findings.append(Finding("environment", text, "set ADMIT_OFF=1"))
    pause = paused()
    if pause is not None:
        for name in _door_modes():
            values[name] = "off"
            sources[name] = ("pause", ())

    return Config(
        MappingProxyType(values),
        tuple(findings),
        authority,
        frozenset(silent),
        pause,
        tuple(files),
        MappingProxyType(sources),
        MappingProxyType(added),
    )


def _drop_thresholds_of_other_models(
    values: dict[str, Any], sources: Mapping[str, tuple[Layer, Path]]
) -> None:
    """A shipped threshold holds for the shipped model; with another the door has none until it is set."""
    for name, fields in PROFILE_FIELDS.items():
        prefix = f"judge.profiles.{name}"
        if values.get(f"{prefix}.model") != fields.get("model"):
            for door in DOORS:
                key = f"{prefix}.{door}.threshold"
                if values.get(key) is not None and key not in sources:
                    values[key] = None


def _door_modes() -> list[str]:
    return [name for name in (f"{door}.mode" for door in DOORS) if name in KEYS]


def _read(path: str, layer: Layer, inside: str | None = None) -> File | None:
    """The file as it stands now, or None where there is none."""
    try:
        now = signature(path)
    except OSError as error:
        return File(path, layer, problem=Finding("broken", f"cannot be read: {error.strerror}", file=path))
    if now is None:
        _seen.pop(path, None)
        return None
    before = _seen.get(path)
    if before is not None and before[0] == now and before[1].layer == layer:
        return before[1]
    file = read(path, layer, inside)
    good = file if file.problem is None else None
    if file.problem is not None and before is not None and before[2] is not None:
        good = before[2]
        text = f"{file.problem.text}; what it held before stays in force"
        file = good._replace(problem=file.problem._replace(text=text))
    _seen[path] = (now, file, good)
    return file


def _merge(
    file: File,
    values: dict[str, Any],
    sources: dict[str, tuple[Layer, Path]],
    added: dict[str, tuple[Any, ...]],
    silent: set[str],
) -> Iterator[Finding]:
    """Lay one file over the values below it; what is dropped comes out as findings."""
    lines: dict[Path, int] = {}
    unknown = 0

    def finding(kind: Any, path: Path, text: str, fix: str) -> Finding:
        if not lines:
            lines.update(key_lines(file.text))
        return Finding(kind, text, fix, visible(".".join(path), 200), file.path, line_of(lines, path))

    for path, raw in file.leaves:
        name = ".".join(path)
        key = None if any("." in part for part in path) else find(name)
        if key is None:
            if raw == {}:
                continue  # an empty table sets nothing
            if file.layer == "user":
                silent.update(_doors_of_bad_mode(path))
            unknown += 1  # a guess takes a while, and a hostile file may hold thousands
            yield finding("unknown", path, *_unknown(path, guess=unknown <= MAX_FINDINGS))
            continue
        if file.layer == "project" and key.trust == "user":
            yield finding("refused", path, f"{name} may be set in the user's own file only", _MEAN_IT)
            continue
        try:
            value = accept(key, raw)
        except ValueError as error:
            if file.layer == "user":
                silent.update(_doors_of_bad_mode(path))
            yield finding("bad", path, f"{name} {error}", f"admit config explain {name}")
            continue
        held = values.get(name)
        if file.layer == "project" and key.unless and values.get(key.unless[0]) == key.unless[1]:
            text = f"{name} may not be set by a project while {key.unless[0]} is {shown(key.unless[1])}"
            yield finding("refused", path, text, _MEAN_IT)
            continue
        if file.layer == "project" and key.tighten == "adds":
            added[name] = tuple(item for item in value if item not in (held or ()))
            value = (*(held or ()), *added[name])
        if file.layer == "project" and key.trust == "narrow" and not tightens(key, value, held):
            text = f"{name} may only be tightened by a project: {shown(value)} is looser than {shown(held)}"
            yield finding("refused", path, text, _MEAN_IT)
            continue
        values[name] = value
        sources[name] = (file.layer, path)


def _unknown(path: Path, *, guess: bool) -> tuple[str, str]:
    name = ".".join(path)
    if any(known.startswith(name + ".") for known in KEYS):
        return f"{visible(name)} is a table of settings, not a value", f"write [{visible(name)}]"
    known = nearest(name, KEYS) if guess else ""
    fix = f"did you mean {known}?" if known else "admit config show lists every key"
    return f"there is no setting {visible(name)}", fix


def _doors_of_bad_mode(path: Path) -> tuple[str, ...]:
    """The doors whose mode this dropped setting may have been meant to be; the judge's is every door's."""
    owners = (*DOORS, "judge")
    first = path[0] if path[0] in owners else nearest(path[0].lower(), owners)
    if len(path) == 1:
        meant = "judge" if _like_mode(path[0]) else path[0] if path[0] in owners else ""
    else:
        meant = first if _like_mode(path[1]) else ""
    if not meant:
        return ()
    return DOORS if meant == "judge" else (meant,)


def _like_mode(word: str) -> bool:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word[:20].lower(), "mode").ratio() >= 0.7


def _override(name: str, raw: object) -> Any:
    key = find(name)
    if key is None:
        near = nearest(name, KEYS)
        raise ConfigError(
            f"there is no setting {name}" + (f"; did you mean {near}?" if near else ""), key=name
        )
    try:
        return accept(key, raw)
    except ValueError as error:
        raise ConfigError(f"{name} {error}", key=name) from None
