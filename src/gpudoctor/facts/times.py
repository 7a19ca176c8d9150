"""What a line says of its own time."""

from __future__ import annotations

from gpudoctor.facts.base import Fact
from gpudoctor.patterns import regex

BEGINNING = 64  # characters of a line in which its time stands
# 2026-01-21T02:21:33,498559+00:00 | 2026/03/01 12:00:04.250 | Sun Feb 23 16:24:18 UTC 2026; no PCI address, 0000:41:00
CLOCK = regex(r"(?<![\d:])\d\d:\d\d:\d\d(?![\d:])(?:[.,]\d{1,9})?( ?(?:Z|UTC|GMT)\b|[+-]\d\d:?\d\d\b)?")


def zone_is_known(record: Fact | None) -> bool:
    """Whether the zone of a record's time is known. Its line may have a clock without one; a time from elsewhere is an API's, in UTC.

    >>> from gpudoctor.facts import Origin
    >>> lines = ("2026-01-21T02:21:33+01:00 NVRM: Xid", "[Sun Feb 23 16:24:18 2026] NVRM: Xid", "NVRM: Xid (PCI:0000:41:00): 79")
    >>> [zone_is_known(Fact(origin=Origin("dmesg", 1, line))) for line in lines]
    [True, False, True]
    """
    if record is None:
        return True
    clock = CLOCK.search(record.origin.text[:BEGINNING])
    return clock.group(1) is not None if clock else not record.local_clock
