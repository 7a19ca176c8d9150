"""Regular expressions that are compiled when they are first used: parsers and recognisers name 500, a run uses some of them.

Compiling all of them took longer than reading a small file.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn", "groups", "groupindex")


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, later. Raises `re.error` when it is first used; a test compiles all that the modules name.

    >>> regex(r"Xid (\\d+)").search("Xid 79")[1]
    '79'
    """
    return cast("re.Pattern[AnyStr]", Later(pattern, flags))


class Later:
    """A pattern that becomes a compiled one's methods when one of them is asked for."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        """Asked for what isn't there yet only."""
        if name not in METHODS:
            raise AttributeError(name)
        made = re.compile(self.pattern, self.flags)
        vars(self).update({method: getattr(made, method) for method in METHODS})
        return vars(self)[name]
