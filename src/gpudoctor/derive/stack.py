"""The GPU stack of each node in the order in which its parts depend on one another: where does it stop?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from msgspec.structs import replace

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Container, Pod
from gpudoctor.facts.scheduling import StackPart
from gpudoctor.knowledge.components import BY_NAME, ORDER
from gpudoctor.patterns import regex

# Init:0/1, PodInitializing: nothing is wrong with the pod itself, an init container is still at work (or waits for a file)
WAITING = regex(r"Init:\d+/\d+$|PodInitializing$")
# not known, done, SIGTERM, and 255: what the kubelet writes for a container that a reboot of the node took away
ENDED_FROM_OUTSIDE = (None, 0, 143, 255)


def order(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Fills `stack`: a row per pod of the GPU stack, by node and order, and a row with `present=False` for each part that one waits for
    and of which the node has no pod.

    `first_not_ready` is one row per node: the first that isn't ready and doesn't merely wait. Where all the others only wait, it is the
    first of those that wait for a part that isn't there, else the first that waits.
    """
    stuck = {(c.namespace, c.pod): c for c in facts.get("containers", ()) if isinstance(c, Container) and c.first_not_ready}
    by_node: dict[str, list[StackPart]] = defaultdict(list)
    for pod in {(p.namespace, p.pod): p for p in facts.get("pods", ()) if isinstance(p, Pod) and p.component in ORDER}.values():
        by_node[pod.node].append(part_of(pod, stuck.get((pod.namespace, pod.pod))))
    rows: list[StackPart] = []
    for node in sorted(by_node):
        parts = sorted(by_node[node], key=lambda part: (part.order, part.namespace, part.pod))
        rows += sorted([*with_first(parts), *missing_parts(node, parts)], key=lambda part: part.order)
    return {"stack": [*rows]}


def part_of(pod: Pod, stuck: Container | None) -> StackPart:
    """The row of one pod and the container at which it is stuck. A pod that has run to its end, as the validators' do, counts as ready."""
    # columns of somebody's own choice may show no more than that it runs
    unseen = "ready" in pod.gaps and pod.status in ("", "Running")
    ready = pod.ready or pod.phase == "Succeeded" or unseen
    own_error = stuck is not None and has_own_error(stuck)
    printed = stuck is not None and not ready and (stuck.state != "waiting" or stuck.restarts > 0)
    return StackPart(
        node=pod.node,
        component=pod.component,
        namespace=pod.namespace,
        pod=pod.pod,
        container=stuck.container if stuck is not None and printed else "",
        restarted=stuck is not None and printed and stuck.restarts > 0,
        order=ORDER[pod.component],
        ready=ready,
        waiting=not ready and not own_error and WAITING.match(pod.status) is not None,
        status=pod.status,
        origin=pod.origin,
        time=pod.time,
    )


def has_own_error(container: Container) -> bool:
    """Whether the container at which its pod is stuck has failed by itself and runs again, rather than waits for the first time."""
    return container.restarts > 0 and container.last_exit_code not in ENDED_FROM_OUTSIDE


def with_first(parts: list[StackPart]) -> list[StackPart]:
    """The rows of one node with the one marked at which the stack stops."""
    first = first_not_ready(parts)
    return [replace(part, first_not_ready=part is first) for part in parts]


def first_not_ready(parts: list[StackPart]) -> StackPart | None:
    """The first part, in order, at which the node's stack stops; None when all are ready."""
    failing = [part for part in parts if not part.ready]
    there = {part.component for part in parts}
    by_itself = [part for part in failing if not part.waiting]
    orphaned = [part for part in failing if not set(BY_NAME[part.component].after) <= there]
    return next(iter((*by_itself, *orphaned, *failing)), None)


def missing_parts(node: str, parts: list[StackPart]) -> list[StackPart]:
    """Rows for the parts that some part waits for and of which the node has no pod: not installed, or kept away."""
    there = {part.component for part in parts}
    wanted = {name for part in parts if part.waiting for name in BY_NAME[part.component].after} - there
    return [StackPart(node=node, component=name, order=ORDER[name], present=False) for name in wanted]
