"""The ages that kubectl prints: `5m35s`, `2d3h`, `2m21s (x42 over 60m)`."""

from __future__ import annotations

from gpudoctor.patterns import regex

# 3y10d | 2d3h | 5m35s | 0s — but not the empty text
AGE = r"(?:\d{1,4}y)?(?:\d{1,6}d)?(?:\d{1,6}h)?(?:\d{1,7}m)?(?:\d{1,9}s)?"
AGE_WORD = r"(?:(?=\d)" + AGE + r"|<unknown>|<invalid>)"
PARTS = regex(r"(\d{1,9})([ydhms])")
SECONDS = {"y": 365 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1}
WHOLE = regex(AGE_WORD + "$")


def seconds(text: str) -> float | None:
    """Seconds of one age; None for `<unknown>` and for anything else.

    >>> seconds("5m35s"), seconds("2d3h"), seconds("<unknown>"), seconds("soon")
    (335.0, 183600.0, None, None)
    """
    text = text.strip()
    if not text or not WHOLE.match(text) or text.startswith("<"):
        return None
    return float(sum(int(number) * SECONDS[unit] for number, unit in PARTS.findall(text)))
