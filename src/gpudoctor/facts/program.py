"""What a program says of itself."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Ending(Fact, frozen=True, kw_only=True):
    """The line with which a program gives up, or a warning of its library, in a log of which nothing else is known."""

    said: str  # the line, without what a log puts before it
    warning: bool = False
    namespace: str = ""
    pod: str = ""
    container: str = ""
    node: str = ""
    component: str = ""


class Trouble(Fact, frozen=True, kw_only=True):
    """A line by which a program says that something is not well, whatever its text otherwise is. Lines that differ in numbers are one."""

    level: str  # warning, error, fatal
    text: str  # the line; of a traceback what was raised
    known: list[str] = []  # the known messages that the line says
    count: int = 1
    lines: int = 1  # that the first one has: of a traceback all
    final: bool = False  # the text ends with it
    age: float | None = None  # seconds since the last such line
    event: str = ""  # the reason of the Kubernetes event that it is
    namespace: str = ""
    pod: str = ""
    container: str = ""
    node: str = ""
    workload: str = ""
    component: str = ""

    @property
    def tells(self) -> bool:
        """It stands beside what an answer says, and makes none of a text that isn't one."""
        return False
