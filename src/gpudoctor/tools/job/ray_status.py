"""`ray status`: what a Ray cluster has of GPUs, and what waits for some.

Usage:
 37.0/256.0 CPU
 16.0/16.0 GPU
Demands:
 {'GPU': 1.0, 'CPU': 1.0}: 4+ pending tasks/actors
What follows is said in the words of Ray's own autoscaler. Source: ray, python/ray/autoscaler/_private/util.py (format_info_string).
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Message
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import LINE

HEAD = regex(r"^=+ Autoscaler status: ")
USED = regex(r"^\s(\d{1,7}(?:\.\d+)?)/(\d{1,7}(?:\.\d+)?) GPU\b")
CPU = regex(r"^\s\d[\d.]*/\d[\d.]* CPU\b")
#  {'GPU': 1.0, 'CPU': 1.0}: 4+ pending tasks/actors  |   {'CPU': 1.0, 'GPU': 1.0} * 4 (STRICT_PACK): 1+ pending placement groups
DEMAND = regex(r"^\s\{(?=[^}]*'GPU': (\d[\d.]{0,9}))[^}]{1,300}\}.{0,60}: \d+\+? (?:pending|from request_resources)")
#  {'GPU': 1.0, 'node:10.0.0.4': 0.001} * 1: the program asks for the node of that address
NAMED = regex(r"'node:([\w-]{1,200}\.[\w.-]{0,200}\w)'")
COMING = regex(r"^\s\S.{0,200}(?:launching|waiting-for-ssh|setting-up|syncing-files)|^ \d+ \S+, \S*(?:launch|setting)")


def score(lines: Sequence[str]) -> int:
    """0 or 86: the head of the status, or its rows of use and demand."""
    if any(HEAD.match(line) for line in lines):
        return 86
    return 86 if any(CPU.match(line) for line in lines) and any(line.strip() == "Demands:" for line in lines) else 0


def status(output: Output, about: Subject) -> Facts:
    """A message where GPUs are demanded and there are none, or all are in use, and no node is on its way."""
    used, total = 0.0, None
    demanded, where, host = 0.0, Origin(output.origin_name()), ""
    counted = coming = False
    for number, line in enumerate(output.text.split("\n"), 1):
        line = line[:LINE].rstrip("\r")
        if (match := USED.match(line)) and total is None:
            used, total = float(match[1]), float(match[2])
        elif match := DEMAND.match(line):
            demanded, where = max(demanded, float(match[1])), Origin(output.origin_name(), number, line.strip())
            host = host or ((named := NAMED.search(line)) and named[1]) or ""
        counted |= CPU.match(line) is not None
        coming |= COMING.match(line) is not None
    name = ""
    if demanded and counted and not coming:
        name = (
            "ray_no_node_with_gpus"
            if not total
            else "ray_gpus_all_claimed"
            if total - used < demanded
            else "ray_asks_named_host"
            if host
            else ""
        )
    detail = host if name == "ray_asks_named_host" else ""
    return {"messages": [Message(name=name, detail=detail, source="status", namespace=about.namespace, origin=where)] if name else []}
