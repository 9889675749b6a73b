"""Many pairs at once, told in the order given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], given: Sequence[T], workers: int) -> Generator[R, None, None]:
    """What `work` gives for each, in the order given, with so many threads at once.

    Whoever stops early, as by Ctrl-C, waits for nothing: no further one is begun, and those under way end in
    their threads or with the process. What `work` raises is raised at its place in the order.
    """
    run = _Run(work, given)
    for n in range(min(workers, len(given))):
        threading.Thread(target=run.work_off, name=f"review-{n + 1}", daemon=True).start()
    try:
        for k in range(len(given)):
            yield run.result(k)
    finally:
        run.stop()


class _Run(Generic[T, R]):
    def __init__(self, work: Callable[[T], R], given: Sequence[T]) -> None:
        self._work = work
        self._given = given
        self._next = 0
        self._changed = threading.Condition()
        self._done: dict[int, R] = {}
        self._failed: dict[int, BaseException] = {}

    def work_off(self) -> None:
        while True:
            with self._changed:
                k, self._next = self._next, self._next + 1
            if k >= len(self._given):
                return
            try:
                done, kept = self._work(self._given[k]), self._done
            except BaseException as error:  # raised again where its turn comes
                done, kept = error, self._failed
            with self._changed:
                kept[k] = done  # type: ignore[index]
                self._changed.notify_all()

    def result(self, k: int) -> R:
        with self._changed:
            self._changed.wait_for(lambda: k in self._done or k in self._failed)
        if k in self._failed:
            raise self._failed.pop(k)
        return self._done.pop(k)

    def stop(self) -> None:
        with self._changed:
            self._next = len(self._given)
