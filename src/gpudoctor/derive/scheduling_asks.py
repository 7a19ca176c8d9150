"""Which pods wait for a scheduler's decision, and what each of them asks for, as far as it is known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TypeVar

import msgspec

from gpudoctor.derive.scheduling_plugins import Ask
from gpudoctor.facts import Fact
from gpudoctor.facts.kubernetes import Claim, Pod, Toleration, Volume

MOST_SPECS = 50  # distinct pods that are evaluated in any case; those that ask for the most GPUs come first
MOST_WORK = 500_000  # distinct pods times nodes: a few seconds

AFact = TypeVar("AFact", bound=Fact)


def records_of(facts: Mapping[str, list[Fact]], name: str, kind: type[AFact]) -> list[AFact]:
    """The records of one type, [] where the type was not read."""
    return [fact for fact in facts.get(name, []) if isinstance(fact, kind)]


def distinct_asks(
    facts: Mapping[str, list[Fact]], said: Collection[tuple[str, str]], others: Callable[[Pod], object] = lambda pod: None
) -> list[tuple[list[Pod], Ask]]:
    """The pods without a node, grouped by what the scheduler looks at, the most GPUs first; at most as many groups as `MOST_WORK` allows.

    `said`: those of which a scheduler has said that they wait; `others`: what of the rules about other pods tells pods apart.
    """
    claims = {(claim.namespace, claim.claim): claim.volume for claim in records_of(facts, "claims", Claim) if claim.volume}
    affinities = {volume.volume: volume.node_affinity for volume in records_of(facts, "volumes", Volume)}
    groups: dict[str, tuple[list[Pod], Ask]] = {}
    for pod in records_of(facts, "pods", Pod):
        if not pod.target or pod.node or pod.phase not in ("Pending", ""):
            continue
        if {"node", "phase"} <= pod.gaps.keys() and (pod.namespace, pod.pod) not in said:
            continue  # nothing says that it waits
        if "requests" in pod.gaps:
            if pod.phase != "Pending" or not restricts_nodes(pod, claims):
                continue
            pod = open_minded(pod)
        bound = (claims.get((pod.namespace, claim), "") for claim in pod.claims)
        volumes = [(volume, terms) for volume in bound if (terms := affinities.get(volume)) is not None]
        ask = Ask(pod, requests(pod), volumes)
        spec = (
            sorted(pod.node_selector.items()),
            pod.node_affinity,
            pod.tolerations,
            sorted(ask.requests.items()),
            pod.gpu_resources,
            volumes,
            others(pod),
        )
        groups.setdefault(repr(spec), ([], ask))[0].append(pod)
    most = max(MOST_SPECS, MOST_WORK // max(1, len(facts.get("nodes", ()))))
    return sorted(groups.values(), key=lambda group: -group[1].pod.gpus)[:most]


def restricts_nodes(pod: Pod, claims: Mapping[tuple[str, str], str]) -> bool:
    """Whether something of a pod is known that rules nodes out, where its requests aren't."""
    bound = any((pod.namespace, claim) in claims for claim in pod.claims)
    return bool(pod.node_selector or pod.node_affinity or "tolerations" not in pod.gaps or bound)


def open_minded(pod: Pod) -> Pod:
    """A pod of which only a part is known: that part decides alone where no node has it; what isn't known keeps the pod from nowhere."""
    tolerations = [Toleration(operator="Exists")] if "tolerations" in pod.gaps else pod.tolerations
    return msgspec.structs.replace(pod, tolerations=tolerations, requests={}, gpu_resources=[], gpus=0)


def requests(pod: Pod) -> dict[str, int]:
    """The pod's requests by resource; a pod read from a fragment may know its GPUs without them."""
    if len(pod.gpu_resources) == 1:
        return {pod.gpu_resources[0]: pod.gpus, **pod.requests}
    return pod.requests
