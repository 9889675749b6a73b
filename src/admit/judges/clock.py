"""The one port to time: monotonic seconds, and waiting."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock. Deadlines are counted on it, never on wall time."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Return when this many seconds have passed on this clock."""
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class FrozenClock:
    """A clock that moves only when told; sleeping on it moves it, and takes no time.

    Args:
        now: The first reading, in seconds.
    """

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`, which must not be negative."""
        if seconds < 0:
            raise ValueError("a monotonic clock does not go back")
        self._now += seconds
