"""The scheduler's plugins that look at other pods: host ports, topology spread, inter-pod affinity and anti-affinity.

Semantics follow kubernetes/pkg/scheduler/framework/plugins/{nodeports,podtopologyspread,interpodaffinity}/filtering.go of 1.34.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from gpudoctor.derive.scheduling_labels import label
from gpudoctor.derive.scheduling_plugins import (
    Ask,
    Blocker,
    Check,
    Host,
    node_affinity,
    node_unschedulable,
    requirements_text,
    taint_toleration,
)
from gpudoctor.derive.selectors import matches_all
from gpudoctor.facts.kubernetes import HostPort, Neighbour, Pod, PodTerm, Requirement, Spread

NAMESPACE = "kubernetes.io/metadata.name"  # every namespace has its own name under this label
LABELS_ASKED = ("rules about other pods", "topology spread constraints")  # of `Pod.further_rules`: they need every pod's labels

Place = tuple[str, str]  # a node's label and its value


class Around:
    """The nodes with all that runs there. `spaces` are the labels of the namespaces, {} where they weren't read."""

    def __init__(self, hosts: Sequence[Host], spaces: Mapping[str, Mapping[str, str]]) -> None:
        self.hosts = hosts
        self.spaces = spaces

    def with_changed_nodes(self, others: Sequence[Host]) -> Around:
        """The same with some of the nodes as they would be."""
        instead = {host.node.node: host for host in others}
        return Around([instead.get(host.node.node, host) for host in self.hosts], self.spaces)

    @functools.cached_property
    def noted_pods(self) -> str:
        """Of which of the running pods is known what they take and are, as in `NodeUsage`; they were all read at once."""
        told = {host.usage.noted if host.usage else "" for host in self.hosts}
        return told.pop() if len(told) == 1 else ""

    @functools.cached_property
    def refusals(self) -> dict[PodTerm, set[str]]:
        """What pods that run require to be kept away, and in which places."""
        found: defaultdict[PodTerm, set[str]] = defaultdict(set)
        for host in self.hosts:
            for term in {term for one in pods_on(host) for term in one.apart}:
                place = label(host.node, term.topology)
                if place is not None:
                    found[term].add(place)
        return found

    def refusing(self, pod: Pod) -> list[PodTerm]:
        """The terms of running pods that keep this one away."""
        return [term for term in self.refusals if self.covers(term, pod.namespace) and selects(term.selector, pod.labels)]

    def covers(self, term: PodTerm, namespace: str) -> bool:
        """Whether a term is about the pods of a namespace."""
        if namespace in term.namespaces or term.namespace_selector is None:
            return namespace in term.namespaces
        return matches_all(term.namespace_selector, {NAMESPACE: namespace, **self.spaces.get(namespace, {})})

    def is_clear(self, term: PodTerm) -> bool:
        """Whether it is known of which namespaces a term speaks."""
        return bool(self.spaces) or all(need.key == NAMESPACE for need in term.namespace_selector or ())

    def unclear(self, pod: Pod) -> list[str]:
        """The rules for this pod that can't be told from what was read, in the words of `Pod.further_rules`."""
        found = [words for words in pod.further_rules if words in LABELS_ASKED and self.noted_pods != "all"]
        found += ["host ports"] if pod.host_ports and not self.noted_pods else []
        if not all(map(self.is_clear, [*pod.beside, *pod.apart])):
            found.append("labels of namespaces")
        if any(not self.is_clear(term) and selects(term.selector, pod.labels) for term in self.refusals):
            found.append("rules about other pods")
        return found

    def known_plugins(self, pod: Pod) -> set[str]:
        """Which of these plugins are computed for a pod, by the word of `ScheduleReason`."""
        unclear = {"rules about other pods", "labels of namespaces"}.intersection(self.unclear(pod))
        computed = {
            "pod_affinity": bool(self.noted_pods) and not unclear,
            "topology_spread": bool(pod.spread) and self.noted_pods == "all",
            "ports": bool(pod.host_ports) and bool(self.noted_pods),
        }
        return {plugin for plugin, there in computed.items() if there}

    def alike(self, pod: Pod) -> tuple[object, ...]:
        """What of these rules tells pods apart: two for which it is equal are judged alike."""
        refused = self.refusing(pod)
        if not (refused or pod.beside or pod.apart or pod.spread or pod.host_ports):
            return ()
        own = [self.covers(term, pod.namespace) and selects(term.selector, pod.labels) for term in pod.beside]
        spread = [selects(one.selector, pod.labels) for one in pod.spread]
        return pod.namespace, refused, own, spread, pod.beside, pod.apart, pod.spread, pod.host_ports


def pods_on(host: Host) -> Sequence[Neighbour]:
    """The pods on a node, as far as they were read."""
    return host.usage.neighbours if host.usage else ()


def selects(selector: tuple[Requirement, ...] | None, labels: Mapping[str, str]) -> bool:
    """Whether a selector finds a pod; none finds nothing, an empty one everything."""
    return selector is not None and matches_all(selector, labels)


def node_ports(ask: Ask, around: Around) -> Check:
    """The host ports that the pod takes, against those that are taken on the node."""
    wanted = ask.pod.host_ports

    def check(host: Host) -> list[Blocker]:
        taken = [port for one in pods_on(host) for port in one.ports]
        clashes = [one for one in wanted if any(clash(one, other) for other in taken)]
        return [Blocker("ports", " and ".join(map(port_text, clashes)), "port", rules=tuple(clashes))] if clashes else []

    return check if wanted else no_blockers


def clash(one: HostPort, other: HostPort) -> bool:
    """Whether two pods can't both have these ports of one node."""
    same = one.address == other.address or not one.address or not other.address
    return same and (one.port, one.protocol) == (other.port, other.protocol)


def topology_spread(ask: Ask, around: Around) -> Check:
    """Each constraint: in the node's place there may be at most `max_skew` more pods than where there are fewest."""
    constraints = ask.pod.spread
    if not constraints or around.noted_pods != "all":
        return no_blockers
    chosen, taints = node_affinity(ask), (node_unschedulable(ask), taint_toleration(ask))
    counts: list[Counter[str]] = [Counter() for _ in constraints]
    for host in around.hosts:
        places = [label(host.node, one.topology) for one in constraints]
        if None in places:
            continue  # a node without one of the labels is no place for any of them
        for one, count, place in zip(constraints, counts, places, strict=True):
            if (one.honors_affinity and chosen(host)) or (one.honors_taints and any(check(host) for check in taints)):
                continue
            count[str(place)] += sum(
                other.namespace == ask.pod.namespace and not other.leaving and selects(one.selector, other.labels)
                for other in pods_on(host)
            )
    least = [0 if len(count) < one.min_domains else min(count.values()) for one, count in zip(constraints, counts, strict=True)]

    def check(host: Host) -> list[Blocker]:
        found = []
        for one, count, fewest in zip(constraints, counts, least, strict=True):
            place = label(host.node, one.topology)
            if place is None or count[place] + selects(one.selector, ask.pod.labels) - fewest > one.max_skew:
                found.append(Blocker("topology_spread", spread_text(one), "prefer", found=place or "", rules=(one,)))
        return found

    return check


def inter_pod_affinity(ask: Ask, around: Around) -> Check:
    """The pod's required rules about others, and the rules of others about it."""
    pod = ask.pod
    refused = [(term, around.refusals[term]) for term in around.refusing(pod)]
    own = around.noted_pods == "all"
    beside = pod.beside if own else []
    apart = [(term, places_of(around, [term])) for term in pod.apart] if own else []
    near = places_of(around, beside)
    # The first of a group that wants to be beside its own may be anywhere.
    first = not near and all(around.covers(term, pod.namespace) and selects(term.selector, pod.labels) for term in beside)
    if not (refused or beside or apart):
        return no_blockers

    def check(host: Host) -> list[Blocker]:
        places = [label(host.node, term.topology) for term in beside]
        missed = [
            Blocker("pod_affinity", term_text("podAffinity", term), "prefer", rules=(term,))
            for term, place in zip(beside, places, strict=True)
            if place is None or (not first and (term.topology, place) not in near)
        ]
        missed += [
            Blocker("pod_affinity", term_text("podAntiAffinity", term), "prefer", rules=(term,))
            for term, taken in apart
            if (term.topology, label(host.node, term.topology)) in taken
        ]
        kept = any(label(host.node, term.topology) in taken for term, taken in refused)
        return [*missed, *([Blocker("pod_affinity", "the podAntiAffinity of a pod that runs there", "others")] if kept else [])]

    return check


def places_of(around: Around, terms: Sequence[PodTerm]) -> set[Place]:
    """Where pods run that all of the terms find, by each term's own kind of place."""
    found: set[Place] = set()
    for host in around.hosts if terms else ():
        places = [(term.topology, place) for term in terms if (place := label(host.node, term.topology)) is not None]
        if not found.issuperset(places) and any(
            all(around.covers(term, one.namespace) and selects(term.selector, one.labels) for term in terms) for one in pods_on(host)
        ):
            found.update(places)
    return found


def no_blockers(host: Host) -> list[Blocker]:
    """Return no blockers: for a plugin that says nothing about the pod."""
    return []


def port_text(port: HostPort) -> str:
    """`29500/TCP`, with the address where it is one of several."""
    return f"{port.port}/{port.protocol}" if not port.address else f"{port.address}:{port.port}/{port.protocol}"


def term_text(word: str, term: PodTerm) -> str:
    """`podAntiAffinity to app=ring per kubernetes.io/hostname`."""
    return f"{word} to {pods_text(term.selector)} per {term.topology}"


def spread_text(one: Spread) -> str:
    """`topologySpreadConstraint of app=ring per zone, maxSkew 1`."""
    return f"topologySpreadConstraint of {pods_text(one.selector)} per {one.topology}, maxSkew {one.max_skew}"


def pods_text(selector: tuple[Requirement, ...] | None) -> str:
    """A selector of pods, in words where it finds all or none."""
    return "no pod" if selector is None else requirements_text(selector) or "all pods"
