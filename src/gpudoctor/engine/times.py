"""Times as a report has them."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(seconds: float | None, *, zone: bool = True) -> str | None:
    """RFC 3339 in UTC, without `Z` where the zone of the clock isn't known; None when there is no such time.

    >>> stamp(1772366400.0), stamp(1772366400.0, zone=False), stamp(0.0), stamp(None)
    ('2026-03-01T12:00:00Z', '2026-03-01T12:00:00', None, None)
    """
    if not seconds:  # programs write what never happened as 1970
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + "Z" * zone
    except (ValueError, OverflowError, OSError):  # a time that no clock has shown
        return None
