"""The status that the cluster-autoscaler keeps in a ConfigMap: which of its node groups can't grow any more.

Until 1.29 it is a text, since then YAML. A group counts when it looks like one of GPU machines, or when all are at their maximum.
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Message
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import LINE, ParseError

#   Health:      Healthy (ready=4 unready=0 … longUnregistered=0 cloudProviderTarget=4 (minSize=0, maxSize=4))
OLD = regex(r"\bcloudProviderTarget=(?P<target>\d{1,5}) \(minSize=\d{1,5}, maxSize=(?P<most>\d{1,5})\)")
#   Name:        gke-train-p100-pool-a93be417-grp   |   - name: gpu-pool
NAME = regex(r"^[\s-]*[Nn]ame: +(?P<name>\S{1,300})$")
#     cloudProviderTarget: 4   |     maxSize: 4
NUMBER = regex(r"^\s+(?P<key>cloudProviderTarget|maxSize): (?P<count>\d{1,5})$")
# What people and clouds call groups of GPU machines: the word, NVIDIA's products, Amazon's and Azure's families.
OF_GPUS = regex(
    r"(?i)gpu|accel|nvidia|(?:^|[-_.])(?:[ahblvtp](?:4|10|40|100|200)[a-z]?|l40s|g[4-6][a-z]*|p[2-6][a-z]*|n[cd]\d\w*)(?:[-_.]|$)"
)
SIZES = ("cloudProviderTarget", "maxSize")


class Group(NamedTuple):
    """A node group: its name, the machines it wants to have and may have, and where that stands."""

    name: str
    target: int
    most: int
    line: int
    text: str


def score(lines: Sequence[str]) -> int:
    """0 or 98, above what only sees a ConfigMap: whether a line tells the size that a group wants to have and its maximum."""
    return 98 if all(any(word in line for line in lines) for word in SIZES) else 0


def status(output: Output, about: Subject) -> Facts:
    """A known message for each group that is at its maximum. Raises `ParseError` where no group is told."""
    groups = [*groups_of(output.text.split("\n"))]
    if not groups:
        raise ParseError(f"{output.origin_name()}: no node groups: {output.text.strip()[:80]!r}")
    full = [one for one in groups if one.target >= one.most > 0]
    told = [one for one in full if OF_GPUS.search(one.name) or len(full) == len(groups)]
    return {
        "messages": [
            Message(name="autoscaler_group_full", detail=one.name, source="status", origin=Origin(output.origin_name(), one.line, one.text))
            for one in told
        ]
    }


def groups_of(lines: Sequence[str]) -> list[Group]:
    """The groups of a status, of either form. In YAML the keys stand in the order of the alphabet: health before name."""
    found: list[Group] = []
    name, sizes, at = "", dict[str, int](), (0, "")
    for number, raw in enumerate(lines, 1):
        line = raw[:LINE].rstrip()
        if match := OLD.search(line):
            found.append(Group(name, int(match["target"]), int(match["most"]), number, line.strip()))
        elif match := NUMBER.match(line):
            sizes[match["key"]] = int(match["count"])
            at = (number, line.strip())
        elif match := NAME.match(line):
            name = match["name"].rpartition("/")[2]
        if len(sizes) == len(SIZES) and match and match.re is NAME:
            found.append(Group(name, sizes["cloudProviderTarget"], sizes["maxSize"], *at))
            sizes = {}
    if len(sizes) == len(SIZES):  # the name stood before
        found.append(Group(name, sizes["cloudProviderTarget"], sizes["maxSize"], *at))
    return found
