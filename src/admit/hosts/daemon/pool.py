"""Threads that work off a queue, oldest first; what has waited too long can be taken out again."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from .log import trace

T = TypeVar("T")


class Pool(Generic[T]):
    """A queue and its threads, which are started at once and never keep a process alive.

    Args:
        size: Threads.
        work: Called with each item, in one of the threads; what it raises is logged.
        name: Of the threads, for a person.
    """

    def __init__(self, size: int, work: Callable[[T], None], name: str) -> None:
        self._work = work
        self._changed = threading.Condition()
        self._queue: deque[tuple[float, T]] = deque()
        self._busy = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}-{n}", daemon=True) for n in range(1, size + 1)
        ]
        for thread in self._threads:
            thread.start()

    def __len__(self) -> int:
        """Items that wait for a thread."""
        return len(self._queue)

    @property
    def busy(self) -> int:
        """Items that are worked on."""
        return self._busy

    def put(self, *items: T) -> None:
        """Add items at the end."""
        with self._changed:
            now = time.monotonic()
            self._queue.extend((now, item) for item in items)
            self._changed.notify(len(items))

    def take_late(self, before: float) -> list[T]:
        """Take out what was put in before this moment (monotonic seconds), idle threads' next items aside."""
        with self._changed:
            late = sum(put <= before for put, _ in self._queue)  # the first ones: they are in order
            soon = min(late, len(self._threads) - self._busy)
            taken = [self._queue[n][1] for n in range(soon, late)]
            for _ in taken:
                del self._queue[soon]
        return taken

    def take_all(self) -> list[T]:
        """Take out everything that waits."""
        with self._changed:
            taken = [item for _, item in self._queue]
            self._queue.clear()
        return taken

    def oldest(self) -> float | None:
        """When the item was put in that waits longest, monotonic seconds."""
        with self._changed:
            return self._queue[0][0] if self._queue else None

    def close(self, wait_s: float) -> bool:
        """Let the threads end when nothing waits; True when they did within this time, in seconds."""
        end = time.monotonic() + wait_s
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                _, item = self._queue.popleft()
                self._busy += 1
            try:
                self._work(item)
            except BaseException:  # an extension may raise SystemExit; the thread must live on
                trace(f"in {threading.current_thread().name}", sys.exc_info()[1])
            finally:
                del item
                with self._changed:
                    self._busy -= 1
