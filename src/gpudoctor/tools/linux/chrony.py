"""`chronyc tracking`: how far a machine's clock is from NTP time, and whether chrony steers it at all.

Source: client.c of chrony 4 (process_cmd_tracking); https://chrony-project.org/doc/latest/chronyc.html#tracking
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import Clock
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import reject_foreign

# Reference ID    : A29FC87B (time.cloudflare.com)
REFERENCE = regex(r"\bReference ID\s*: [0-9A-F]{7,8} \((.{0,100})\)")
# Stratum         : 4
STRATUM = regex(r"\bStratum\s*: (\d{1,3})\b")
# System time     : 0.000021337 seconds slow of NTP time
SYSTEM = regex(r"\bSystem time\s*: (\d{1,12}\.\d{1,12}) seconds (slow|fast)\b")
# Leap status     : Not synchronised    |    Leap status … : Normal      people leave out the middle
LEAP = regex(r"\b[Ll]eap status\s*(?:(?:\.\.\.|…)\s*)?: (Normal|Insert second|Delete second|Not synchronised|\S.{0,30}?\s*$)")
UNSYNCHRONISED = "Not synchronised"


def chrony(output: Output, about: Subject) -> Facts:
    """A record for each answer. Raises `ParseError` where chronyc printed something else, such as `506 Cannot talk to daemon`."""
    found: list[Clock] = []
    for number, line in lines(output):
        if not (new := value(line)):
            continue
        if not found or "reference" in new:  # the first line of an answer
            found.append(Clock(node=about.node))
        origin = Origin(output.origin_name(), number, line.strip())
        tells = "offset" in new or new.get("leap") == UNSYNCHRONISED or not found[-1].origin.line
        found[-1] = replace(found[-1], **new, **({"origin": origin} if tells else {}))
    clocks = [settled(clock) for clock in found if clock.leap or clock.offset is not None]
    if not clocks:
        reject_foreign(output, "chronyc tracking")
        return {}
    return {"clocks": [*clocks]}


def value(line: str) -> dict[str, Any]:
    """What a line says, as fields of Clock.

    >>> value("System time     : 0.000021337 seconds slow of NTP time"), value("Leap status     : Not synchronised")
    ({'offset': 2.1337e-05, 'fast': False}, {'leap': 'Not synchronised'})
    """
    if match := REFERENCE.search(line):
        return {"reference": match[1]}
    if match := STRATUM.search(line):
        return {"stratum": int(match[1])}
    if match := SYSTEM.search(line):
        return {"offset": float(match[1]), "fast": match[2] == "fast"}
    match = LEAP.search(line)
    return {"leap": match[1].strip()} if match else {}


def settled(clock: Clock) -> Clock:
    """A clock whose offset is a gap where there is none: what chrony prints while it follows no server is no measurement."""
    if clock.leap != UNSYNCHRONISED and clock.offset is not None:
        return clock
    return replace(clock, offset=None, gaps={"offset": "not shown" if clock.offset is None else "not synchronised"})


def score(given: list[str]) -> int:
    """The line that says how the clock is steered, or how far off it is."""
    return 60 if any(LEAP.search(line) or SYSTEM.search(line) for line in given) else 0
