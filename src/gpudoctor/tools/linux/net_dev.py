"""The network interfaces of a machine or a container: /proc/net/dev, which is there where `ip` isn't."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.infiniband import Interface
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import ParseError

#   eth0: 1296133  10291    0    0    0     0          0         0   934411    8820    0    0    0     0       0          0
ROW = regex(r"^\s{0,20}(\S{1,64}?):\s{0,20}\d{1,20}(?:\s+\d{1,20}){15}\s*$")
MOST = 4096  # of one machine: a host with many pods has a pair of interfaces for each


def interfaces(output: Output, about: Subject) -> Facts:
    """One Interface for each row; what state it is in isn't said there."""
    found: list[Interface] = []
    lines = output.text.split("\n")
    for number, raw in enumerate(lines, 1):
        if (match := ROW.match(raw[:500].rstrip("\r"))) and len(found) < MOST:
            origin = Origin(output.origin_name(), number, raw.strip()[:200])
            found.append(Interface(interface=match[1], node=about.node, namespace=about.namespace, pod=about.pod, origin=origin))
    if not found and not any("Receive" in line for line in lines[:3]):
        raise ParseError(f"{output.origin_name()}: not /proc/net/dev: '{lines[0][:80]}'")
    return {"interfaces": [*found]}
