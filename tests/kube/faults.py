"""What goes wrong on purpose, as the cluster file asks for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """One trouble. `match` is searched in `METHOD path?query` (percent-decoded); it strikes `times` times, or always.

    status: answer with this code and `message` · stall: seconds without any header, then the connection closes ·
    drip: bytes of body per second · cut: bytes of body before the connection closes, though Content-Length promised more ·
    close: the connection closes at once.
    """

    match: re.Pattern[str]
    times: float = float("inf")
    status: int = 0
    message: str = ""
    stall: float = 0
    drip: float = 0
    cut: int | None = None
    close: bool = False


class Faults:
    """The faults of one cluster file, counted across threads."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.faults = [Fault(re.compile(row["match"]), **{key: value for key, value in row.items() if key != "match"}) for row in rows]
        self.struck = [0] * len(self.faults)
        self.lock = threading.Lock()

    def strike(self, request: str) -> Fault | None:
        """The first fault that matches this request and isn't used up."""
        with self.lock:
            for number, fault in enumerate(self.faults):
                if self.struck[number] < fault.times and fault.match.search(request):
                    self.struck[number] += 1
                    return fault
        return None

    def forbids(self, request: str) -> bool:
        """Whether this request would be refused with 403; counts nothing."""
        return any(fault.status == 403 and fault.match.search(request) for fault in self.faults)
