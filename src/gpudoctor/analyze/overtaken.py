"""What later events have overtaken: refusals to place a pod that runs by now or for which a node is on its way, and start failures of a
pod that is ready.

Events stay for an hour, and a pod that waited for a while keeps its old warnings in `kubectl describe`.
"""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Event, Message, Pod, ScheduleReason

REFUSALS = ("FailedScheduling", "Unschedulable", "NotTriggerScaleUp", "FailedScaleUp")
FAILURES = ("FailedCreatePodSandBox", "FailedMount", "FailedAttachVolume", "Failed", "ErrImageNeverPull", "InspectFailed", "BackOff")
COMING = ("TriggeredScaleUp", "Nominated")  # cluster-autoscaler, Karpenter
# What both autoscalers give a new machine to become a node (--max-node-provision-time; Karpenter's registration TTL).
PROVISIONING = 900.0
TOGETHER = 60.0  # s: the scheduler tries again and again while the machine is on its way
NEVER = float("inf")

Name = tuple[str, str]
Ages = dict[Name, float]


def without_overtaken(facts: Facts) -> Facts:
    """The facts without messages and scheduler's reasons that are known to be history. Events themselves stay."""
    events = [fact for fact in facts.get("events", []) if isinstance(fact, Event)]
    pods = [fact for fact in facts.get("pods", []) if isinstance(fact, Pod) and fact.pod]
    running = {(pod.namespace, pod.pod) for pod in pods if pod.phase in ("Running", "Succeeded")}
    ready = {(pod.namespace, pod.pod) for pod in pods if pod.phase == "Running" and pod.ready}
    placed, coming = youngest(events, ("Scheduled",)), youngest(events, COMING)

    def history(event: Event) -> bool:
        name = name_of(event)
        if event.reason in FAILURES:
            return name in ready
        if event.reason not in REFUSALS:
            return False
        age = event.age if event.age is not None else -NEVER  # a refusal of unknown age may be of this moment
        ordered = coming.get(name, NEVER)
        return name in running or placed.get(name, NEVER) <= age or ordered <= min(PROVISIONING, age + TOGETHER)

    old = {place(event) for event in events if history(event)}
    return {kind: [fact for fact in records if not gone(fact, old, running)] for kind, records in facts.items()}


def youngest(events: Iterable[Event], reasons: tuple[str, ...]) -> Ages:
    """The smallest age of the events of some reasons, by pod."""
    ages: Ages = {}
    for event in events:
        if event.reason in reasons and event.age is not None:
            ages[name_of(event)] = min(event.age, ages.get(name_of(event), NEVER))
    return ages


def name_of(event: Event) -> Name:
    """The pod of an event. Those that were pasted without it belong together when they stand in one text."""
    return event.namespace, event.pod or event.origin.source


def gone(fact: Fact, old: set[tuple[str, int, str]], running: set[Name]) -> bool:
    """Whether a fact is the scheduler's reason, or a message, of an event that is history."""
    if isinstance(fact, ScheduleReason) and fact.pod and (fact.namespace, fact.pod) in running:
        return True
    said = isinstance(fact, ScheduleReason) or (isinstance(fact, Message) and fact.source == "event")
    return said and place(fact) in old


def place(fact: Fact) -> tuple[str, int, str]:
    """Where a fact stands; the text tells only where there is no line."""
    return fact.origin.source, fact.origin.line, "" if fact.origin.line else fact.origin.text
