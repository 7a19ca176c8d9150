"""The time at the beginning of a log line, in the forms that kernels, journals, klog and Go programs write."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from gpudoctor.patterns import regex

MONTHS = {
    name: number for number, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1)
}
WITHIN = 64  # a line's time stands at its beginning; `kern  :warn  : ` and `time="` may precede it

# 02:21:33: all of the forms have it, and most lines without a time are told by it
CLOCK = regex(r"\d\d:\d\d:\d\d")
# 2026-01-21T02:21:33,498559+00:00 | 2026-01-21T02:21:33.49Z | 2026/01/21 02:21:33
ISO = regex(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
# [Sun Feb 23 16:24:18 2026] NVRM: …  |  Sun Feb 23 16:24:18 UTC 2026: of `date`, whose zone is read as UTC
CTIME = regex(r"\[?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:[A-Z]{3,5} )?(\d{4})\]?")
# [Dec 19 2024 19:17:49] [ERROR] [tid 1579] … (fabric manager, IMEX)
FABRIC = regex(r"\[([A-Z][a-z]{2}) +(\d{1,2}) (\d{4}) (\d\d):(\d\d):(\d\d)\]")
# Jan 21 02:21:33 gpu-02 kernel: …
SYSLOG = regex(r"([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d{1,9})? ")

# I0301 11:31:07.501000       1 health.go:185] …: klog, which has no year either
KLOG = regex(r"[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)(\.\d{1,9}) ")


def line_time(line: str, now: float = 0.0) -> float | None:
    """Seconds since the epoch at the beginning of a line; None where there is no full date.

    A form without a zone is read as UTC. Syslog and klog carry no year: it is the latest one that doesn't lie after `now`, and None
    without `now`.

    >>> line_time("[Thu Jan  1 00:01:40 1970] NVRM: x"), line_time("1970-01-01T01:01:40+01:00 x"), line_time("[  12.3] x")
    (100.0, 100.0, None)
    """
    head = line[:WITHIN]
    if not CLOCK.search(head):
        return None
    try:
        if match := ISO.search(head):
            return _iso(match)
        if match := CTIME.search(head):
            month, day, hour, minute, second, year = match.groups()
            return datetime(int(year), MONTHS[month], int(day), int(hour), int(minute), int(second), tzinfo=UTC).timestamp()
        if match := FABRIC.search(head):
            month, day, year, hour, minute, second = match.groups()
            return datetime(int(year), MONTHS[month], int(day), int(hour), int(minute), int(second), tzinfo=UTC).timestamp()
        if now and (match := SYSLOG.match(head)):
            month, *rest = match.groups()
            return _latest_year(MONTHS[month], rest, now)
        if now and (match := KLOG.match(head)):
            number, *rest, fraction = match.groups()
            return _latest_year(int(number), rest, now) + float(fraction)
    except (ValueError, KeyError, OverflowError):  # 31 February, month `Foo`
        pass
    return None


def _iso(match: re.Match[str]) -> float:
    zone = match.group(8) or "Z"
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    fraction = float(f"0.{match.group(7)}") if match.group(7) else 0.0
    if zone == "Z":
        return moment + fraction
    sign = -1 if zone[0] == "+" else 1
    return moment + fraction + sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)


def _latest_year(month: int, rest: list[str], now: float) -> float:
    day, hour, minute, second = (int(part) for part in rest)
    year = datetime.fromtimestamp(now, UTC).year
    moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    # A day of grace: the two clocks may lie in different zones.
    return moment if moment <= now + 86400 else datetime(year - 1, month, day, hour, minute, second, tzinfo=UTC).timestamp()
