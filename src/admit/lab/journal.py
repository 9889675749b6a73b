"""What the ledger knows of experiments: steps in the order in which they were written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admit.core.events import Event
from admit.errors import LabError
from admit.ledger.port import Ledger, Record
from admit.ledger.record import now_ms
from admit.ledger.rows import new_id

FLUSH_MS = 5_000
PREFIX = "lab."


class Journal:
    """The steps of experiments in a ledger; `door` is the one that a plan is of."""

    def __init__(self, ledger: Ledger, door: str = "tools") -> None:
        self._ledger = ledger
        self._door = door

    def write(self, type: str, **body: Any) -> None:
        """Write one step down; it is in the ledger when this returns.

        Raises:
            LabError: It could not be written, so what it would allow must not begin.
        """
        said = {name: value for name, value in body.items() if value is not None}
        event = Event(new_id(), f"{PREFIX}{type}", now_ms(), said, door=str(body.get("door", self._door)))
        self._ledger.append(Record(events=(event,)))
        self._ledger.flush(FLUSH_MS)
        if all(one.event_id != event.event_id for one in self.steps()):
            raise LabError("the ledger did not take this step, so it does not count; see admit doctor")

    def steps(self, type: str = "", plan: str = "") -> list[Event]:
        """Steps of a type and a plan (by its hash), or of all, in the order in which they were written."""
        return [
            one
            for one in self._ledger.events(PREFIX)
            if type in ("", one.type.removeprefix(PREFIX)) and plan in ("", one.body.get("plan"))
        ]

    def results(self, plan: str) -> Mapping[str, str]:
        """How each kind of step of a plan ended last."""
        return {
            one.type.removeprefix(PREFIX): str(one.body["result"])
            for one in self.steps(plan=plan)
            if "result" in one.body
        }
