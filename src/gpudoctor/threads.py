"""Threads of their own for what may hang. They are daemons: a pool's threads would be joined at exit, and so could hold the program."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def start_thread(work: Callable[[], object]) -> Thread | None:
    """Do some work in a thread. Where this user may have no more of them (ulimit -u, a pod's pids.max) it is done here and now; → None."""
    thread = Thread(target=work, daemon=True, name="gpudoctor")
    try:
        thread.start()
    except RuntimeError:
        work()
        return None
    return thread
