"""A total time limit, for calls whose own limits are per read, or that have none."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from gpudoctor.threads import start_thread

T = TypeVar("T")


class Deadline:
    """A moment on the monotonic clock by which a whole answer must be there."""

    def __init__(self, seconds: float) -> None:
        self.started = time.monotonic()
        self.seconds = seconds

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that are left, never below 0."""
        return max(0.0, self.seconds - self.spent)


def start_work(work: Callable[[], T]) -> Future[T]:
    """Run `work` in a thread of its own."""
    future: Future[T] = Future()

    def settle() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # everything belongs to whoever asks for the result
            future.set_exception(error)

    start_thread(settle)
    return future


def run_within(seconds: float, work: Callable[[], T]) -> T:
    """The result of `work`, or TimeoutError after `seconds`; work that is late goes on in its thread and its result is dropped."""
    return start_work(work).result(max(0.0, seconds))
