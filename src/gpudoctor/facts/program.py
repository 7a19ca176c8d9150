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
