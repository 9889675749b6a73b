"""From a record to rows that are safe to store, and to one line of JSON and back.

Everything that makes a record storable happens here, once, for every ledger: private names are hashed,
values are cleaned, sizes are capped, and only then is a row hashed.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from admit import __version__
from admit.core.events import Event, canonical, content_hash, parse

from .clean import Cleaner
from .port import CallRow, DecisionRow, Record, ToolUse
from .record import now_ms
from .schema import COLUMNS, HASHED_TABLES, KINDS, RECORD_TABLES, coerced, fields_of, to_values

RECORD_BYTES = 256 * 1024
EXTRA_BYTES = 16 * 1024
BODY_BYTES = 64 * 1024
REPLY_BYTES = 64 * 1024
TEXT_CHARS = 64 * 1024
CANDIDATES = 2_000
BEYOND_CAP = 64
STEMS = 64
FIELDS_NAMED = 64
DAY_MS = 86_400_000


_TRUNCATED = COLUMNS["decisions"].index("truncated")
_NAMES = {
    table: tuple(column if table == "decisions" else f"{table}.{column}" for column in columns)
    for table, columns in COLUMNS.items()
}


class TooLarge(ValueError):
    """A record that is over 256 KiB after everything that may be dropped was dropped."""


class Keeper(NamedTuple):
    """What a ledger brings to a record that is to be stored.

    Attributes:
        keyed: Keyed hashes of texts, in order.
        store_names: Whether the last part of a project's path may be stored.
        keep_texts: Whether the user opted in to stored texts.
        text_days: How long texts are kept.
    """

    keyed: Callable[[Sequence[str]], tuple[str, ...]]
    store_names: bool = True
    keep_texts: bool = False
    text_days: int = 30


class Prepared(NamedTuple):
    """A record as rows of SQL values, by table, in the order of insertion.

    Attributes:
        seq: The writer's number of this record, from 1; 0 where it holds no decision and no event.
    """

    writer: str
    seq: int
    tables: Mapping[str, list[tuple[Any, ...]]]


def prepare(rec: Record, writer: str, seq: int, keeper: Keeper) -> Prepared:
    """Rows that are safe to store. The drops, in order: replies, texts, spans, candidates past the cap + 64.

    Raises:
        TooLarge: It is still over 256 KiB.
    """
    lost: dict[str, int] = {}
    rec = _only_first(rec, CANDIDATES, lost)
    for drop in (None, _without_replies, _without_texts, _without_spans, _near_the_cap):
        if drop is not None:
            rec = drop(rec, lost)
        prepared = _rows(rec, writer, seq, keeper, lost)
        if len(encode(prepared)) <= RECORD_BYTES:
            return prepared
    raise TooLarge(f"a record of more than {RECORD_BYTES} bytes")


def is_numbered(rec: Record) -> bool:
    """Whether a record takes a number of its writer: it holds rows that carry one."""
    return rec.decision is not None or bool(rec.events)


def encode(prepared: Prepared) -> bytes:
    """One record as canonical JSON: what all rows of a table share stands once; blobs as base64."""
    tables = {}
    for table, rows in prepared.tables.items():
        cells = list(zip(*rows, strict=True))
        columns = COLUMNS[table]
        alike = [len(rows) > 1 and cells[k].count(cells[k][0]) == len(rows) for k in range(len(columns))]
        tables[table] = {
            "all": {column: as_json(cells[k][0]) for k, column in enumerate(columns) if alike[k]},
            "columns": [column for k, column in enumerate(columns) if not alike[k]],
            "rows": [[as_json(value) for k, value in enumerate(row) if not alike[k]] for row in rows],
        }
    return canonical({"writer": prepared.writer, "seq": prepared.seq, "tables": tables})


def decode(data: bytes) -> Prepared:
    """Read one record back; tables and columns that are not known are left out, missing ones are None.

    Raises:
        ValueError: It is no record.
    """
    value = parse(data)
    try:
        tables = {}
        for table in RECORD_TABLES:
            if table in value["tables"]:
                part = value["tables"][table]
                columns, shared = part["columns"], part["all"]
                rows = ({**shared, **dict(zip(columns, row, strict=True))} for row in part["rows"])
                tables[table] = [values_of(table, row) for row in rows]
        return Prepared(str(value["writer"]), int(value["seq"]), tables)
    except (KeyError, TypeError, AttributeError) as fault:
        raise ValueError(f"no record: {fault!r}") from None


def values_of(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """SQL values from column names and JSON values.

    Raises:
        ValueError: A value that no column can hold.
    """
    return tuple(_from_json(row.get(column)) for column in COLUMNS[table])


def row_hash(table: str, values: Iterable[Any]) -> str:
    """The content hash that a row should have."""
    return content_hash(fields_of(table, values))


def as_json(value: Any) -> Any:
    """A SQL value as JSON has it: a blob as ``{"base64": …}``."""
    return (
        {"base64": binascii.b2a_base64(value, newline=False).decode()} if isinstance(value, bytes) else value
    )


def _from_json(value: Any) -> Any:
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return binascii.a2b_base64(value["base64"])
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError("a value that no column can hold")


def _rows(rec: Record, writer: str, seq: int, keeper: Keeper, lost: Mapping[str, int]) -> Prepared:
    cleaner = Cleaner()
    tables: dict[str, list[tuple[Any, ...]]] = {table: [] for table in RECORD_TABLES}
    numbered = (event._replace(writer=writer, seq=seq) for event in rec.events)
    events = [_event(_of_decision(event, rec.decision), cleaner, keeper) for event in numbered]
    others: tuple[tuple[str, Iterable[Any]], ...] = (
        ("candidates", rec.candidates),
        ("verdicts", rec.verdicts),
        ("judge_calls", [_call(call) for call in rec.calls]),
        ("events", events),
        ("outputs", [one._replace(session=_hashed(one.session, keeper)) for one in rec.outputs]),
        ("recalls", [one._replace(session=_hashed(one.session, keeper)) for one in rec.recalls]),
        ("tool_uses", [_tool_use(use, keeper) for use in rec.tool_uses]),
    )
    for table, rows in others:
        cells = (_cleaned(table, row, cleaner) for row in rows)
        tables[table] = [to_values(table, _hashed_row(table, row)) for row in cells]
    if keeper.keep_texts:
        expires = now_ms() + keeper.text_days * DAY_MS
        for text in rec.texts:
            clean_text = cleaner.text(text.text, "texts.text", TEXT_CHARS)
            tables["texts"].append((text.text_hash, text.kind, clean_text, text.expires_ms or expires))
    if rec.decision is not None:
        row = rec.decision._replace(
            writer=writer,
            seq=seq,
            session=_hashed(rec.decision.session, keeper),
            project=_project(rec.decision.project, keeper),
            extra=cleaner.fit(rec.decision.extra, "extra", EXTRA_BYTES),
            admit_version=rec.decision.admit_version or __version__,
        )
        cells = _cleaned("decisions", row, cleaner)
        named = {"fields": sorted(cleaner.changed)[:FIELDS_NAMED]} if cleaner.changed else {}
        cells[_TRUNCATED] = {**(cells[_TRUNCATED] or {}), **lost, **named}
        tables["decisions"] = [to_values("decisions", _hashed_row("decisions", cells))]
    return Prepared(writer, seq, {table: rows for table, rows in tables.items() if rows})


def _cleaned(table: str, row: Iterable[Any], cleaner: Cleaner) -> list[Any]:
    """The cells of a row, each cleaned under its column's name and as its column gives it back."""
    cells = []
    for kind, name, value in zip(KINDS[table], _NAMES[table], row, strict=True):
        if value is not None and kind != "BLOB":
            value = cleaner.clean(value, name)
            if value is not None and kind != "JSON":
                value = coerced(kind, value)
                if value is None:
                    cleaner.note(name)
        cells.append(value)
    return cells


def _hashed_row(table: str, cells: list[Any]) -> list[Any]:
    """The cells with the hash over them in the last place, where the table has one."""
    if table in HASHED_TABLES:
        cells[-1] = content_hash(dict(zip(COLUMNS[table], cells, strict=True)))
    return cells


def _event(event: Event, cleaner: Cleaner, keeper: Keeper) -> Event:
    """An event names in its own body what was changed: it may stand without a decision."""
    own = Cleaner()
    body = own.fit(event.body, "body", BODY_BYTES)
    if own.changed:
        body["truncated"] = sorted(own.changed)[:FIELDS_NAMED]
        cleaner.changed += [f"{event.type}.{name}" for name in own.changed]
    return event._replace(body=body, session=_hashed(event.session, keeper))


def _of_decision(event: Event, decision: DecisionRow | None) -> Event:
    if decision is None:
        return event
    return event._replace(
        decision_id=event.decision_id or decision.decision_id, door=event.door or decision.door or None
    )


def _call(call: CallRow) -> CallRow:
    if call.reply is not None and len(call.reply) > REPLY_BYTES:
        return call._replace(reply=None, reply_dropped=True)
    return call


def _tool_use(use: ToolUse, keeper: Keeper) -> ToolUse:
    plain = [stem for stem in use.stems if not stem.startswith("hmac:")]
    hashed = {stem for stem in use.stems if stem.startswith("hmac:")}.union(keeper.keyed(plain))
    return use._replace(stems=tuple(sorted(hashed)[:STEMS]), session=_hashed(use.session, keeper))


def _hashed(text: str | None, keeper: Keeper) -> str | None:
    return text if text is None or text.startswith("hmac:") else keeper.keyed([text])[0]


def _project(path: str | None, keeper: Keeper) -> str | None:
    """The keyed hash of a project's path and, where names may be stored, its last part."""
    if path is None or path.startswith("hmac:"):
        return path
    hashed = keeper.keyed([path])[0]
    name = path.rstrip("/").rpartition("/")[2]
    return f"{hashed} {name}" if keeper.store_names and name else hashed


def _only_first(rec: Record, most: int, lost: dict[str, int]) -> Record:
    """At most `most` candidates, and only the verdicts on them; the rest is a count."""
    if len(rec.candidates) <= most:
        return rec
    kept = rec.candidates[:most]
    lost["candidates"] = lost.get("candidates", 0) + len(rec.candidates) - most
    places = {(row.decision_id, row.ord) for row in kept}
    verdicts = tuple(row for row in rec.verdicts if (row.decision_id, row.ord) in places)
    return rec._replace(candidates=kept, verdicts=verdicts)


def _near_the_cap(rec: Record, lost: dict[str, int]) -> Record:
    within = rec.decision.n_within + rec.decision.n_exempt if rec.decision is not None else 0
    return _only_first(rec, within + BEYOND_CAP, lost)


def _without_replies(rec: Record, lost: dict[str, int]) -> Record:
    n = sum(call.reply is not None for call in rec.calls)
    if n:
        lost["reply"] = n
    calls = tuple(call._replace(reply=None, reply_dropped=True) if call.reply else call for call in rec.calls)
    return rec._replace(calls=calls)


def _without_texts(rec: Record, lost: dict[str, int]) -> Record:
    if rec.texts:
        lost["texts"] = len(rec.texts)
    return rec._replace(texts=())


def _without_spans(rec: Record, lost: dict[str, int]) -> Record:
    n = sum(row.span is not None for row in rec.candidates)
    if n:
        lost["span"] = n
    return rec._replace(candidates=tuple(row._replace(span=None) for row in rec.candidates))
