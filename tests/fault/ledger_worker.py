"""A process that writes records and outputs until it is killed, and says what was acknowledged.

ledger_worker.py NAME [N]     N records, or without end; one line on standard output per acknowledgement
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import time

from admit.ledger import open_ledger, open_outputs
from admit.ledger.port import CandidateRow, DecisionRow, OutputMeta, Record, VerdictRow


def record(name: str) -> Record:
    return Record(
        DecisionRow(name, ts_ms=1_700_000_000_000, door="outputs", n_gathered=8),
        tuple(CandidateRow(name, k, f"c{k}", size=k) for k in range(1, 9)),
        tuple(VerdictRow(name, k, "live", "admitted", p=(0.5,)) for k in range(1, 9)),
    )


def main(name: str, most: int | None) -> None:
    ledger = open_ledger()
    store = open_outputs(ledger=ledger)
    for k in range(most) if most is not None else itertools.count():
        data = f"{name} {k}\n".encode() * 50
        if most is None:
            ref = store.put(data, OutputMeta(session=name))
            assert ref.sha256 == hashlib.sha256(data).hexdigest()
            sys.stdout.write(f"output {ref.id} {name} {k}\n")
        started = time.perf_counter()
        ledger.append(record(f"{name}-{k}"))
        report = ledger.flush(2_000)
        ms = (time.perf_counter() - started) * 1_000
        if report.dropped == 0:
            sys.stdout.write(f"record {name}-{k} {ms:.3f}\n")
        sys.stdout.flush()
    ledger.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
