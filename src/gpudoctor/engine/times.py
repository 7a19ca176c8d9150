"""Times as a report has them."""

from __future__ import annotations

from datetime import UTC, datetime

from gpudoctor.facts.base import LocalTime


def stamp(seconds: float | None) -> str | None:
    """RFC 3339 in UTC, without `Z` where the zone of the clock isn't known; None when there is no such time.

    >>> stamp(1772366400.0), stamp(LocalTime(1772366400.0)), stamp(0.0), stamp(None)
    ('2026-03-01T12:00:00Z', '2026-03-01T12:00:00', None, None)
    """
    if not seconds:  # what never happened is written as 1970 by programs
        return None
    try:
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):  # a time that no clock has shown
        return None
    return text if isinstance(seconds, LocalTime) else f"{text}Z"
