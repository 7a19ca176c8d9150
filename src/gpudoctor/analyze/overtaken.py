"""What later events have overtaken: refusals to place a pod that runs by now or for which a node is on its way, and start failures of a
pod that is ready.

Events stay for an hour, and a pod that waited for a while keeps its old warnings in `kubectl describe`.
"""

from __future__ import annotations

from collections import defaultdict

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Event, Message, Pod, ScheduleReason

REFUSALS = ("FailedScheduling", "Unschedulable", "NotTriggerScaleUp", "FailedScaleUp")
FAILURES = ("FailedCreatePodSandBox", "FailedMount", "FailedAttachVolume", "Failed", "ErrImageNeverPull", "InspectFailed", "BackOff")
COMING = ("TriggeredScaleUp", "Nominated")  # cluster-autoscaler, Karpenter
# What both autoscalers give a new machine to become a node (--max-node-provision-time; Karpenter's registration TTL).
PROVISIONING = 900.0
TOGETHER = 60.0  # s: the scheduler tries again and again while the machine is on its way

Name = tuple[str, str]


def without_overtaken(facts: Facts) -> Facts:
    """The facts without refusals to place a pod that are known to be history. Events themselves stay."""
    events = [fact for fact in facts.get("events", []) if isinstance(fact, Event)]
    pods = [fact for fact in facts.get("pods", []) if isinstance(fact, Pod) and fact.pod]
    placed = {(pod.namespace, pod.pod) for pod in pods if pod.phase in ("Running", "Succeeded")}
    ready = {(pod.namespace, pod.pod) for pod in pods if pod.phase == "Running" and pod.ready}
    by_pod: dict[Name, list[Event]] = defaultdict(list)
    for event in events:
        by_pod[event.namespace, event.pod or event.origin.source].append(event)  # pasted without its pod: those of one text belong together
    old = {
        place(event)
        for name, some in by_pod.items()
        for event in some
        if (event.reason in REFUSALS and history(event, some, name in placed)) or (event.reason in FAILURES and name in ready)
    }
    return {kind: [fact for fact in records if not gone(fact, old, placed)] for kind, records in facts.items()}


def history(refusal: Event, events: list[Event], placed: bool) -> bool:
    """Whether a refusal is history: the pod runs, was placed later, or a machine for it was ordered a short while ago."""
    if placed:
        return True
    for event in events:
        if event.age is None or refusal.age is None:
            continue
        if event.reason == "Scheduled" and event.age <= refusal.age:
            return True
        if event.reason in COMING and event.age <= PROVISIONING and event.age <= refusal.age + TOGETHER:
            return True
    return False


def gone(fact: Fact, old: set[tuple[str, int, str]], placed: set[Name]) -> bool:
    """Whether a fact is the scheduler's reason, or a message, of an event that is history."""
    if isinstance(fact, ScheduleReason) and fact.pod and (fact.namespace, fact.pod) in placed:
        return True
    said = isinstance(fact, ScheduleReason) or (isinstance(fact, Message) and fact.source == "event")
    return said and place(fact) in old


def place(fact: Fact) -> tuple[str, int, str]:
    """Where a fact stands; the text tells only where there is no line."""
    return fact.origin.source, fact.origin.line, "" if fact.origin.line else fact.origin.text
