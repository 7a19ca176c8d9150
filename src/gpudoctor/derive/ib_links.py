"""The links of a fabric: one record for both ends, and how many links are in the same condition.

A splitter cable has two lanes by design, and adapters may be able to do more than any cable that there is: what most links could do and
don't is how the fabric was built. What a few could do and don't is wrong with these few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.infiniband import IbLink, IbPort


def links(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """One record for each link that is up and whose other end is known."""
    ends = [port for port in facts.get("ib_ports", []) if isinstance(port, IbPort) and port.remote and port.state == "Active"]
    made = [*both_ends_once(ends)]
    alike = Counter((link.width, link.speed, link.could_be) for link in made)
    return {"ib_links": [replace(one, alike=alike[one.width, one.speed, one.could_be], links=len(made)) for one in made]}


def both_ends_once(ends: Iterable[IbPort]) -> Iterable[IbLink]:
    """The links in the order of their names; of a host and a switch the host is the near end, since somebody looks after it."""
    seen: set[frozenset[str]] = set()
    for end in sorted(ends, key=lambda end: (not end.node, end.node, end.ca, end.port)):
        near = name(end)
        if (link := frozenset((near, end.remote))) in seen:
            continue
        seen.add(link)
        yield IbLink(
            node=end.node,
            near=near,
            far=end.remote,
            width=end.width,
            speed=end.speed,
            could_be=end.could_be,
            time=end.time,
            origin=end.origin,
        )


def name(end: IbPort) -> str:
    """A port as the other end's line names it: the node's description and the port."""
    description = end.ca if end.node in ("", end.ca) else f"{end.node} {end.ca}"
    return f"{description} port {end.port}"
