"""The marks of remote_script.sh in what a host prints, and what lies between them.

What comes back on each of the two streams, with T the token of the round trip and the host's uptime in seconds:

    T 12070.65 hello 1795273595        the shell runs; the host's clock
    T 12070.66 begin 0                 what follows was printed by command 0
    T 12070.91 end 0 9                 it left with the exit code 9; the mark follows its last byte, with or without a newline
    T 12100.92 skip 1                  command 1 was not started, because another one of its group ran into its time limit
    T 12100.93 bye                     that is all
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.patterns import regex

# 12100.92 end 1 124, what follows the token
MARK = regex(rb"(?P<up>\d{1,12}(?:\.\d{1,9})?) (?P<kind>hello|begin|end|skip|bye)(?: (?P<number>\d{1,12}))?(?: (?P<code>\d{1,3}))? ?")
LONGEST_MARK = 200  # bytes


class Cutter:
    """Cuts one stream at its marks, however the bytes come in."""

    def __init__(self, token: str) -> None:
        self.token, self.held = token.encode() + b" ", bytearray()

    def feed(self, chunk: bytes) -> Iterator[bytes | re.Match[bytes]]:
        """What was printed and the marks, in their order. A mark that is none is dropped."""
        self.held += chunk
        while True:
            at = self.held.find(self.token)
            if at < 0:
                at = max(0, len(self.held) - len(self.token) + 1)  # the rest may be the beginning of a mark
                if at:
                    yield bytes(self.held[:at])
                    del self.held[:at]
                return
            if at:
                yield bytes(self.held[:at])
                del self.held[:at]
            end = self.held.find(b"\n")
            if end < 0 and len(self.held) < LONGEST_MARK:
                return
            mark = MARK.fullmatch(bytes(self.held[len(self.token) : max(0, end)]))
            if mark:
                yield mark
            del self.held[: end + 1 if end >= 0 else len(self.token)]
