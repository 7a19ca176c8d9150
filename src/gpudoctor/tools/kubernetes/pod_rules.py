"""What a pod requires of other pods, and what it takes of a node for itself: the rules beside labels, taints and amounts."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts.kubernetes import HostPort, Neighbour, PodTerm, Requirement, Spread
from gpudoctor.tools.kubernetes.api_json import Meta
from gpudoctor.tools.kubernetes.pod_shape import LabelSelector, PodAffinity, PodSpec, is_sidecar, selector

EVERY_ADDRESS = (None, "0.0.0.0")  # noqa: S104 - what a manifest says, nothing is bound
NAME = "kubernetes.io/metadata.name"  # the label that every namespace has, with its name


def required_affinity(meta: Meta, spec: PodSpec) -> list[PodTerm]:
    """The terms of the required podAffinity."""
    return [*terms_of(meta, spec.affinity.podAffinity if spec.affinity else None)]


def required_anti_affinity(meta: Meta, spec: PodSpec) -> list[PodTerm]:
    """The terms of the required podAntiAffinity."""
    return [*terms_of(meta, spec.affinity.podAntiAffinity if spec.affinity else None)]


def terms_of(meta: Meta, rules: PodAffinity | None) -> Iterator[PodTerm]:
    """Required rules; one that names no namespace is about the pod's own."""
    for one in (rules and rules.requiredDuringSchedulingIgnoredDuringExecution) or ():
        named = tuple(one.namespaces or ())
        further = selector_key(one.namespaceSelector)
        own = (meta.namespace or "",) if not named and further is None else ()
        yield PodTerm(one.topologyKey or "", selector_key(one.labelSelector), named + own, further)


def selector_key(given: LabelSelector | None) -> tuple[Requirement, ...] | None:
    """A selector in a hashable form, None where it can't be read."""
    found = selector(given)
    return None if found is None else tuple(found)


def spread_constraints(meta: Meta, spec: PodSpec) -> Iterator[Spread]:
    """The topology spread constraints that keep the pod from nodes."""
    labels = meta.labels or {}
    for one in spec.topologySpreadConstraints or ():
        if one.whenUnsatisfiable != "ScheduleAnyway":
            chosen = selector_key(one.labelSelector)
            own = tuple(Requirement(key, "In", (labels[key],)) for key in one.matchLabelKeys or () if key in labels)
            yield Spread(
                one.topologyKey or "",
                None if chosen is None else (*chosen, *(need for need in own if need not in chosen)),
                max_skew=one.maxSkew or 1,
                min_domains=one.minDomains or 1,
                honors_affinity=one.nodeAffinityPolicy != "Ignore",
                honors_taints=one.nodeTaintsPolicy == "Honor",
            )


def host_ports(spec: PodSpec) -> Iterator[HostPort]:
    """The ports of the node that it takes."""
    boxes = [*(spec.containers or ()), *(one for one in spec.initContainers or () if is_sidecar(one))]
    for port in (port for box in boxes for port in box.ports or ()):
        if port.hostPort:
            yield HostPort(port.hostPort, port.protocol or "TCP", "" if port.hostIP in EVERY_ADDRESS else port.hostIP or "")


def as_neighbour(meta: Meta, spec: PodSpec) -> Neighbour:
    """The pod as the rules of others see it."""
    return Neighbour(
        meta.namespace or "",
        meta.name or "",
        meta.labels or {},
        leaving=meta.deletionTimestamp is not None,
        ports=tuple(host_ports(spec)),
        apart=tuple(required_anti_affinity(meta, spec)),
    )


def further_rules(spec: PodSpec, terms: list[PodTerm]) -> list[str]:
    """What the scheduler looks at beside a node's own taints, labels and amounts: only what is required, in words."""
    spaces = (need.key for term in terms for need in term.namespace_selector or ())
    others = [spec.affinity.podAffinity, spec.affinity.podAntiAffinity] if spec.affinity else []
    found = {
        "rules about other pods": any(one and one.requiredDuringSchedulingIgnoredDuringExecution for one in others),
        "labels of namespaces": any(key != NAME for key in spaces),
        "topology spread constraints": any(one.whenUnsatisfiable != "ScheduleAnyway" for one in spec.topologySpreadConstraints or ()),
        "host ports": any(host_ports(spec)),
        "claims of devices": bool(spec.resourceClaims),
    }
    return [words for words, there in found.items() if there]
