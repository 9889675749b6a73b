"""The store of full outputs: one file per content, named by its hash, found again without any database.

    outputs/<2 hex>/<64 hex>.txt     the bytes as they came, 0600; modified when stored, accessed when used
    outputs/<2 hex>/<64 hex>.id16    its id has 16 hex digits, for the first 12 are another's too
    outputs/.order                   in which order they were stored, whatever the clock said
    outputs/.new-<16 hex>            still being written; kept when its process dies

An output is hashed while it is written, gets its name when it is whole, and is read back by size; only then
does `put` return. Nothing is decoded and nothing is synchronised to the disk.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from admit.errors import LedgerError, OutputNotFound, StoreFailed

from .capture import Capture, Kept
from .order import note as note_order
from .order import order as stored_order
from .places import check_file, open_file, own_folder, places, read_all, setting
from .port import Ledger, OutputMeta, OutputRef, OutputRow, PruneReport, Recall, Record
from .record import now_ms

ID_DIGITS = 12
ID_STEP = 4
BLOCK_BYTES = 1 << 20
DAY_MS = 86_400_000
NEW = ".new-"
SESSIONS = 64

_HEX = frozenset("0123456789abcdef")


class _File(NamedTuple):
    """A stored file: hash, path, digits of its id, size in bytes, when stored and last used in epoch ns."""

    sha256: str
    path: str
    digits: int
    size: int
    stored_ns: int
    used_ns: int

    @property
    def id(self) -> str:
        return "o_" + self.sha256[: self.digits]

    def row(self, **columns: Any) -> OutputRow:
        stored, used = self.stored_ns // 1_000_000, self.used_ns // 1_000_000
        return OutputRow(self.id, self.sha256, self.size, stored_ms=stored, last_used_ms=used)._replace(
            **columns
        )

    def ref(self, row: OutputRow | None = None) -> OutputRef:
        ref = OutputRef(
            self.id, self.sha256, self.size, path=self.path, stored_ms=self.stored_ns // 1_000_000
        )
        return ref if row is None else ref._replace(bytes=row.bytes, lines=row.lines, complete=row.complete)


class FileOutputs:
    """The stored outputs of this user.

    Args:
        config: Effective values by full key name; None is all defaults.
        ledger: What is to know of them; None: nothing does, and only the files say what is there.
        fs: `os`, or something that behaves like it.
    """

    def __init__(
        self, config: Mapping[str, object] | None = None, ledger: Ledger | None = None, fs: Any = os
    ) -> None:
        self._folder = places(config).outputs
        self._max_one_bytes = int(setting(config, "outputs.max_one_bytes"))
        self._max_bytes = int(setting(config, "outputs.max_bytes"))
        self._retain_ms = int(setting(config, "outputs.retain_days")) * DAY_MS
        self._ledger = ledger
        self._fs = fs
        self._latest: dict[str, OutputRef] = {}  # by session: what the ledger may not show yet

    def put(self, data: BinaryIO | bytes, meta: OutputMeta) -> OutputRef:
        """Store bytes, or a stream to its end.

        Raises:
            StoreFailed: They are not stored.
        """
        with self.capture(meta) as capture:
            try:
                for block in _blocks(data):
                    capture.write(block)
            except OSError as fault:
                raise StoreFailed(f"the output cannot be read: {fault}") from fault
            return capture.finish()

    def capture(self, meta: OutputMeta) -> Capture:
        """An output that is stored as it arrives; what a killed process leaves is found by `newest`.

        Raises:
            StoreFailed: It cannot be begun.
        """
        try:
            own_folder(os.path.dirname(self._folder), self._fs)
            own_folder(self._folder, self._fs)
            while True:
                path = os.path.join(self._folder, NEW + os.urandom(8).hex())
                fd = open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, self._fs)
                capture = Capture(path, fd, self._max_one_bytes, meta, self._keep, self._fs)
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX)
                    if self._is_at(path, fd):
                        return capture
                except OSError:
                    capture.discard()
                    raise
                capture.discard()  # taken for a dead process's before it was locked
        except OSError as fault:
            raise StoreFailed(f"no output can be stored in {self._folder}: {fault}") from fault

    def open(self, output_id: str) -> BinaryIO:
        """The stored bytes, checked against their hash.

        Raises:
            OutputNotFound: ``expired``, ``deleted``, ``altered`` or ``never stored``.
        """
        file = self._find(output_id)
        if file is None:
            raise self._not_found(output_id)
        try:
            data = read_all(file.path, self._fs)
        except FileNotFoundError:
            raise self._not_found(output_id) from None
        except OSError as fault:
            raise OutputNotFound(output_id, "altered") from fault
        if hashlib.sha256(data).hexdigest() != file.sha256:
            raise OutputNotFound(output_id, "altered")
        return io.BytesIO(data)

    def find(self, output_id: str) -> OutputRef | None:
        """The stored output of this id; its content is not read."""
        file = self._find(output_id)
        return None if file is None else file.ref(self._row(file.id))

    def stored(self) -> Iterator[OutputRef]:
        """Every stored output, stored last first."""
        rows = {row.sha256: row for row in self._rows()}
        for file in sorted(self._files(), key=lambda file: (-file.stored_ns, file.sha256)):
            yield file.ref(rows.get(file.sha256))

    def touch(self, output_id: str) -> None:
        """It was used now. Never raises."""
        file = self._find(output_id)
        if file is not None:
            used = now_ms()
            with suppress(OSError):
                self._fs.utime(file.path, ns=(used * 1_000_000, file.stored_ns))
            self._append(Record(outputs=(file.row(last_used_ms=used),)))

    def newest(self, session: str | None = None) -> OutputRef | None:
        """The output stored last, in this session or at all; what killed processes left is taken in first."""
        self._take_in_orphans()
        order = stored_order(self._folder, self._fs)
        if session is None:
            newest = max(
                self._files(), key=lambda f: (order.get(f.sha256, 0), f.stored_ns, f.sha256), default=None
            )
            return None if newest is None else newest.ref(self._row(newest.id))
        recorded = (self.find(row.output_id) for row in self._rows(session) if row.gone_ms is None)
        latest = self._latest.get(session)
        refs = [ref for ref in recorded if ref is not None]
        if latest is not None and (own := self.find(latest.id)) is not None:
            refs.append(own)
        return max(refs, key=lambda ref: (order.get(ref.sha256, 0), ref.stored_ms), default=None)

    def recalled(self, r: Recall) -> None:
        """Record a recall, and that the output was used. Never raises."""
        self._append(Record(recalls=(r,)))
        self.touch(r.output_id)

    def prune(self, now_ms: int) -> PruneReport:
        """Remove what was not used for ``outputs.retain_days``, then the least recently used over the size.

        Nothing that was used in the last 24 hours is removed for its size. The record comes first and the
        file after it: a record of a file that is gone harms nobody, a file without one is never lost.
        """
        self._take_in_orphans()
        pinned = {row.sha256 for row in self._rows() if row.pinned}
        files = sorted(self._files(), key=lambda file: (file.used_ns, file.sha256))
        kept = sum(file.size for file in files)
        going = []
        for file in files:
            age = now_ms - file.used_ns // 1_000_000
            if file.sha256 not in pinned and (
                age > self._retain_ms or (kept > self._max_bytes and age > DAY_MS)
            ):
                going.append(file)
                kept -= file.size
        return self._remove(going, "expired", now_ms)._replace(kept_bytes=kept)

    def delete(self, output_ids: Iterable[str], now_ms: int) -> PruneReport:
        """Remove these, wherever they are there."""
        found = (self._find(output_id) for output_id in output_ids)
        return self._remove([file for file in found if file is not None], "deleted", now_ms)

    def _keep(self, path: str, kept: Kept, meta: OutputMeta) -> OutputRef:
        """Give a whole file its name, and see that it is there.

        Raises:
            OSError: It is not stored.
        """
        folder = os.path.join(self._folder, kept.sha256[:2])
        own_folder(folder, self._fs)
        digits = self._digits_for(folder, kept.sha256)
        target = os.path.join(folder, kept.sha256 + ".txt")
        stored = now_ms()
        self._fs.utime(path, ns=(stored * 1_000_000, stored * 1_000_000))
        self._fs.replace(path, target)
        if self._fs.lstat(target).st_size != kept.size:
            self._fs.unlink(target)
            raise OSError(f"{target} does not read back")
        output_id = "o_" + kept.sha256[:digits]
        note_order(self._folder, kept.sha256, self._fs)
        ref = OutputRef(output_id, kept.sha256, kept.total, kept.lines, kept.complete, target, stored)
        self._remember(ref, meta)
        return ref

    def _remember(self, ref: OutputRef, meta: OutputMeta) -> None:
        if meta.session is not None:
            self._latest.pop(meta.session, None)
            self._latest[meta.session] = ref
            while len(self._latest) > SESSIONS:
                self._latest.pop(next(iter(self._latest)))
        row = OutputRow(
            output_id=ref.id,
            sha256=ref.sha256,
            bytes=ref.bytes,
            lines=ref.lines,
            stored_ms=ref.stored_ms,
            last_used_ms=ref.stored_ms,
            tool=meta.tool or None,
            session=meta.session,
            exit_code=meta.exit_code,
            complete=ref.complete,
        )
        self._append(Record(outputs=(row,)))

    def _digits_for(self, folder: str, sha256: str) -> int:
        """How many digits make its id its own; more than 12 are written down, so that they stay."""
        names = self._fs.listdir(folder)
        digits = _digits_of(sha256, names)
        if digits == ID_DIGITS and sha256 + ".txt" not in names:
            others = [name for name in names if name.endswith(".txt")]
            while any(name.startswith(sha256[:digits]) for name in others):
                digits += ID_STEP
            if digits > ID_DIGITS:
                marker = os.path.join(folder, f"{sha256}.id{digits}")
                self._fs.close(open_file(marker, os.O_WRONLY | os.O_CREAT, self._fs))
        return digits

    def _find(self, output_id: str) -> _File | None:
        """The file of an id. Only hex digits of the id are ever part of a path."""
        digits = output_id[2:]
        if (
            not output_id.startswith("o_")
            or not ID_DIGITS <= len(digits) <= 64
            or not _HEX.issuperset(digits)
        ):
            return None
        found = [file for file in self._folder_files(digits[:2]) if file.sha256.startswith(digits)]
        found = [file for file in found if file.digits <= len(digits)]
        return found[0] if len(found) == 1 else None

    def _files(self) -> Iterator[_File]:
        for name in self._names(self._folder):
            if len(name) == 2 and _HEX.issuperset(name):
                yield from self._folder_files(name)

    def _folder_files(self, two: str) -> Iterator[_File]:
        folder = os.path.join(self._folder, two)
        names = self._names(folder)
        for name in names:
            sha256 = name.removesuffix(".txt")
            if len(sha256) == 64 and len(name) == 68 and _HEX.issuperset(sha256):
                path = os.path.join(folder, name)
                with suppress(OSError):
                    info = check_file(path, self._fs)
                    if info is not None:
                        digits = _digits_of(sha256, names)
                        yield _File(sha256, path, digits, info.st_size, info.st_mtime_ns, info.st_atime_ns)

    def _names(self, folder: str) -> list[str]:
        try:
            info = self._fs.lstat(folder)
            if stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid():
                return sorted(self._fs.listdir(folder))
        except OSError:
            pass
        return []

    def _take_in_orphans(self) -> None:
        """Store what a killed process had captured so far; whether it was all of it is not known."""
        left = []
        for name in self._names(self._folder):
            if name.startswith(NEW):
                path = os.path.join(self._folder, name)
                with suppress(OSError):
                    left.append((self._fs.lstat(path).st_mtime_ns, path))
        for _, path in sorted(left):
            with suppress(OSError):
                self._take_in(path)

    def _take_in(self, path: str) -> None:
        fd = open_file(path, os.O_RDWR, self._fs)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a living process holds it
            if not self._is_at(path, fd):
                return
            data = read_all(path, self._fs)
            if not data:
                self._fs.unlink(path)
                return
            if len(data) >= self._max_one_bytes:
                # Its second half may stand out of order.
                data = data[: self._max_one_bytes // 2]
                self._fs.ftruncate(fd, len(data))
            lines = data.count(b"\n") + (not data.endswith(b"\n"))
            kept = Kept(hashlib.sha256(data).hexdigest(), len(data), len(data), lines, complete=False)
            self._keep(path, kept, OutputMeta())
        finally:
            self._fs.close(fd)

    def _remove(self, files: list[_File], reason: str, now_ms: int) -> PruneReport:
        if files and self._ledger is not None:
            self._append(
                Record(outputs=tuple(file.row(gone_ms=now_ms, gone_reason=reason) for file in files))
            )
            self._ledger.flush(2000)
        removed = size = 0
        for file in files:
            try:
                self._fs.unlink(file.path)
            except OSError:
                continue
            removed, size = removed + 1, size + file.size
            if file.digits > ID_DIGITS:
                with suppress(OSError):
                    self._fs.unlink(f"{file.path.removesuffix('.txt')}.id{file.digits}")
        return PruneReport(removed, size)

    def _not_found(self, output_id: str) -> OutputNotFound:
        row = self._row(output_id)
        if row is None:
            return OutputNotFound(output_id, "never stored")
        return OutputNotFound(output_id, "expired" if row.gone_reason == "expired" else "deleted")

    def _row(self, output_id: str) -> OutputRow | None:
        if self._ledger is None:
            return None
        try:
            return self._ledger.output(output_id)
        except LedgerError:
            return None  # the files alone say what is there

    def _rows(self, session: str | None = None) -> list[OutputRow]:
        if self._ledger is None:
            return []
        try:
            return list(self._ledger.outputs(session=session))
        except LedgerError:
            return []

    def _append(self, rec: Record) -> None:
        if self._ledger is not None:
            self._ledger.append(rec)

    def _is_at(self, path: str, fd: int) -> bool:
        try:
            return os.path.samestat(self._fs.stat(path), self._fs.fstat(fd))
        except FileNotFoundError:
            return False


def _digits_of(sha256: str, names: Iterable[str]) -> int:
    """The digits of a file's id, as the file beside it says; 12 without one."""
    marks = [name[len(sha256) + 3 :] for name in names if name.startswith(sha256 + ".id")]
    return next((int(mark) for mark in marks if mark.isdigit()), ID_DIGITS)


def _blocks(data: BinaryIO | bytes) -> Iterator[bytes]:
    return iter([data]) if isinstance(data, bytes) else iter(lambda: data.read(BLOCK_BYTES), b"")
