"""The newest time that a text shows. Ages are counted from the newest of all texts: nobody knows when they were collected."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.common.timestamps import line_time

LAST_LINES = 200  # of a text that are looked at
# "creationTimestamp": "2026-03-01T12:00:00Z"  |  lastTransitionTime: "…"  |  startedAt: …            the words, then what follows them
WORDS = ("imestamp", "Time", "edAt")
VALUE = regex(r'"?:\s{0,8}"?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z')
# Start Time:       Sun, 01 Mar 2026 09:00:00 +0000                                                   found by its year
YEAR = " 20"
MAIL = regex(r"\w{3}, (\d\d \w{3} 20\d\d \d\d:\d\d:\d\d [+-]\d{4})")
BEFORE_YEAR = len("Sun, 01 Mar")


class Newest(NamedTuple):
    """Seconds since the epoch, 0 for none: by full dates, and with dates that lack a year, which are in the latest one that fits."""

    dated: float = 0.0
    guessed: float = 0.0


def of_text(text: str) -> Newest:
    """The newest time in the fields of objects, or at the beginning of the last lines."""
    lines = last_lines(text)
    dated = max([in_fields(text), *(at for line in lines if (at := line_time(line)) is not None)])
    now = time.time()
    return Newest(dated, dated or max((at for line in lines if (at := line_time(line, now)) is not None), default=0.0))


def of_log(text: str) -> Newest:
    """The time of the last line that has one."""
    lines, now = last_lines(text), time.time()
    dated = next((at for line in reversed(lines) if (at := line_time(line)) is not None), 0.0)
    return Newest(dated, dated or next((at for line in reversed(lines) if (at := line_time(line, now)) is not None), 0.0))


def last_lines(text: str) -> list[str]:
    """The last lines, those that are looked at."""
    return text[-LAST_LINES * 200 :].split("\n")[-LAST_LINES:]


def in_fields(text: str) -> float:
    """The newest time in the fields of objects and descriptions, 0 for none."""
    found = [line_time(max(stamps, default="")) or 0.0] if (stamps := set(api_stamps(text))) else [0.0]
    for mail in {match[1] for match in mail_stamps(text)}:
        from email.utils import parsedate_to_datetime

        try:
            found.append(parsedate_to_datetime(mail).timestamp())
        except (ValueError, TypeError, OverflowError):
            continue
    return max(found)


def api_stamps(text: str) -> Iterator[str]:
    """The times of the API, all in UTC: the largest text is the newest. Looking for a word is many times faster than for a pattern."""
    for word in WORDS:
        at = text.find(word)
        while at >= 0:
            at += len(word)
            if match := VALUE.match(text, at):
                yield match[1]
            at = text.find(word, at)


def mail_stamps(text: str) -> Iterator[re.Match[str]]:
    """The times that `kubectl describe` writes."""
    at = text.find(YEAR)
    while at >= 0:
        if at >= BEFORE_YEAR and (match := MAIL.match(text, at - BEFORE_YEAR)):
            yield match
        at = text.find(YEAR, at + 1)
