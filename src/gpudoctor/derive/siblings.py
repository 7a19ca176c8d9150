"""Pods that wait beside one that runs and is made of the same template: nodes do have GPUs for it, and they are in use."""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.derive.scheduling_asks import records_of
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Pod
from gpudoctor.facts.scheduling import Sibling
from gpudoctor.patterns import regex

# llm-6d5b9c7f48-x2x7k of a Deployment  |  llm-1 of a StatefulSet
REPLICA = regex(r"(\S{1,240}?)-(?:[a-f0-9]{5,10}-[a-z0-9]{5}|\d{1,4})$")


def siblings(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A record for each pod that waits and has such a sibling."""
    pods = [pod for pod in records_of(facts, "pods", Pod) if pod.target and not pod.component]
    runs = {
        (pod.namespace, name): pod.pod
        for pod in pods
        if pod.phase == "Running" and (pod.gpus or "gpus" in pod.gaps) and (name := made_by(pod))
    }
    waiting = [pod for pod in pods if pod.phase == "Pending" and not pod.node and (pod.namespace, made_by(pod)) in runs]
    return {
        "siblings": [
            Sibling(namespace=pod.namespace, pod=pod.pod, runs=runs[pod.namespace, made_by(pod)], origin=pod.origin) for pod in waiting
        ]
    }


def made_by(pod: Pod) -> str:
    """The Deployment or StatefulSet that made a pod, by its name; "" for any other pod.

    >>> made_by(Pod(namespace="ml", pod="llm-6d5b9c7f48-x2x7k")), made_by(Pod(namespace="ml", pod="llm-1"))
    ('llm', 'llm')
    """
    match = REPLICA.match(pod.pod)
    return match[1] if match else ""
