"""What later events have overtaken: refusals to place a pod that runs by now or for which a node is on its way, start failures of a pod
that is ready or whose containers were started since, a queue that has let the workload in, a node that is ready again, what an earlier
pod of a Job said that was done by a later one, what Slurm's log says of a node whose present state is shown.

Events stay for an hour, and a pod that waited for a while keeps its old warnings in `kubectl describe`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePath
from typing import NamedTuple

from msgspec.structs import replace

from gpudoctor.facts import Fact
from gpudoctor.facts.kubernetes import Event, Message, Pod, ScheduleReason
from gpudoctor.facts.slurm import SlurmNode
from gpudoctor.patterns import regex

REFUSALS = ("FailedScheduling", "Unschedulable", "NotTriggerScaleUp", "FailedScaleUp")
GANG = ("PodGroupPending", "NotReady", "Unschedulable")  # Volcano, KAI
# pg-train-7-5c023c28-8533-4927-b266-56bca5e310c1 (KAI)  |  train-7-5c023c28-8533-4927-b266-56bca5e310c1 (Volcano)
OF_GROUP = regex(r"^pg-(?=.)|-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
RESTARTS = "BackOff"  # also of an image
FAILURES = (
    *("FailedCreatePodSandBox", "FailedPodSandBoxStatus", "FailedMount", "FailedAttachVolume", "FailedMapVolume", "NetworkNotReady"),
    *("Failed", "ErrImageNeverPull", "InspectFailed", RESTARTS),
)
METRICS = ("Resource", "ContainerResource", "Pods", "Object", "External")
DISK = ("FreeDiskSpaceFailed", "ImageGCFailed", "EvictionThresholdMet", "NodeHasDiskPressure")
# Other complaints → what says of the same object that they are over: Kueue's queue, the node of a pod, an autoscaler, a node's resources.
ENDED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Pending", "Preempted", "EvictedDueToPreempted"), ("QuotaReserved", "Admitted")),
    "NodeNotReady": ("NodeReady",),
    **{f"FailedGet{kind}Metric": ("SuccessfulRescale",) for kind in METRICS},
    "FailedComputeMetricsReplicas": ("SuccessfulRescale",),
    **dict.fromkeys(DISK, ("NodeHasNoDiskPressure",)),
    "NodeHasInsufficientMemory": ("NodeHasSufficientMemory",),
}
LOST = ("Rebooted", "TaintManagerEviction")  # a node came back, but what ran there did not
COMING = ("TriggeredScaleUp", "Nominated")  # cluster-autoscaler, Karpenter
AGAIN = 3  # times that an autoscaler says so at most (our choice); after that the machine is there, and the pod isn't let on it
# What both autoscalers give a new machine to become a node (--max-node-provision-time; Karpenter's registration TTL).
PROVISIONING = 900.0
# The kubelet forgets a container's restarts once it has run for 10 minutes (2 x its longest back-off, kuberuntime_manager.go).
SETTLED = 600.0
TOGETHER = 60.0  # s: the scheduler tries again and again while the machine is on its way
NEVER = float("inf")

# nccl-tests-launcher-c2dmd: what the API server draws has no vowels (apimachinery's rand.SafeEncodeString)
RANDOM = regex(r"-[bcdfghjklmnpqrstvwxz2456789]{5}$")
WORD = regex(r"[a-z0-9]+")

Name = tuple[str, str]
Position = tuple[object, ...]


class Seen(NamedTuple):
    """When an event was last seen: its age, and how far above the end of its text it stands (minus its line)."""

    age: float
    above: int


UNSEEN = Seen(NEVER, 0)


class History(NamedTuple):
    """What of the facts is history: the positions of events that are over, the pods that run, and the earlier attempts of a Job."""

    over: frozenset[Position] = frozenset()
    lines: frozenset[Position] = frozenset()  # those of all events
    running: frozenset[Name] = frozenset()
    attempts: frozenset[str] = frozenset()
    slurm_nodes: frozenset[str] = frozenset()  # whose present state is shown

    def without(self, records: list[Fact]) -> list[Fact]:
        """The records that are not history. Events themselves stay."""
        judged = self.over or self.running or self.attempts or self.slurm_nodes
        return [fact for fact in records if not self.is_past(fact)] if judged else records

    def is_past(self, fact: Fact) -> bool:
        """Whether a fact is the scheduler's reason, or a message, of an event that is over, or of an earlier attempt."""
        if isinstance(fact, ScheduleReason) and fact.pod and (fact.namespace, fact.pod) in self.running:
            return True
        if isinstance(fact, SlurmNode):
            return fact.logged and fact.node in self.slurm_nodes
        said = isinstance(fact, ScheduleReason) or (isinstance(fact, Message) and fact.source == "event")
        return (said and self.position(fact) in self.over) or (bool(self.attempts) and of_attempt(fact, self.attempts))

    def position(self, fact: Fact) -> Position:
        """The position of a reason or a message: the event's own, where it stands on its line.

        Of an object in JSON each entry has a line, or none has: its messages are found by what they are of, and when that was seen last.
        """
        where = fact.origin
        if (where.source, where.line) in self.lines:
            return where.source, where.line
        return in_time(fact, fact.age) if isinstance(fact, Message) else (where.source, where.text)


def judge(events: Iterable[Fact], pods: Iterable[Fact], slurm_nodes: Iterable[Fact] = ()) -> History:
    """What is known to be history by the events, the pods and the nodes of Slurm."""
    told = [fact for fact in events if isinstance(fact, Event)]
    ordered = in_order(told)
    named = [fact for fact in pods if isinstance(fact, Pod) and fact.pod]
    running = frozenset((pod.namespace, pod.pod) for pod in named if pod.phase in ("Running", "Succeeded"))
    ready = {(pod.namespace, pod.pod) for pod in named if pod.phase == "Running" and pod.ready}
    placed = last_seen_by_object(ordered, ("Scheduled",))
    coming = last_seen_by_object((one for one in told if one.count <= AGAIN), COMING)
    started = last_seen_by_object(ordered, ("Started",))
    ended = {reason: last_seen_by_object(ordered, after) for reason, after in ENDED.items()}
    back = nodes_back(ordered)
    gangs = [event for event in ordered if event.age is not None and goes_on(event)]

    def is_over(event: Event) -> bool:
        name = name_of(event)
        if event.reason in FAILURES:
            return name in ready or happened_after(started.get(name), event, SETTLED if event.reason == RESTARTS else 0.0)
        if event.reason in ENDED:
            return happened_after(ended[event.reason].get(name), event) or (event.kind == "Pod" and happened_after(back, event))
        if event.reason in GANG and any(happened_after(last_seen(one), event) for one in gangs if of_one_gang(event, one)):
            return True
        if event.reason not in REFUSALS:
            return False
        age = event.age if event.age is not None else -NEVER  # a refusal of unknown age may be of this moment
        ordered_at = coming.get(name, UNSEEN).age
        return name in running or placed.get(name, UNSEEN).age <= age or ordered_at <= min(PROVISIONING, age + TOGETHER)

    over: set[Position] = set()
    current: set[Position] = set()
    for event, plain in zip(ordered, told, strict=True):
        if is_over(event):
            over.update(positions(plain))
        elif event.type != "Normal":
            current.update(positions(plain))
    lines = frozenset((event.origin.source, event.origin.line) for event in told if event.origin.line)
    # One that is out without a reason: the log has it.
    states = (one for one in slurm_nodes if isinstance(one, SlurmNode) and not one.logged and not (one.out and not one.reason))
    shown = frozenset(one.node for one in states)
    return History(frozenset(over - current), lines, running, frozenset(earlier_attempts(named)), shown)


def in_order(events: list[Event]) -> list[Event]:
    """The events, and those of a text that shows no ages at all made equally old: there the order of the lines is all that tells."""
    aged = {event.origin.source for event in events if event.age is not None}
    return [event if event.origin.source in aged else replace(event, age=0.0) for event in events]


def earlier_attempts(pods: list[Pod]) -> set[str]:
    """The names of pods that failed before another one of the same controller was completed: a Job tries until it is done."""
    done = {(pod.namespace, controller(pod.pod)): pod.age for pod in pods if pod.phase == "Succeeded" and RANDOM.search(pod.pod)}
    names = set()
    for pod in pods:
        age = done.get((pod.namespace, controller(pod.pod)))
        if pod.phase == "Failed" and RANDOM.search(pod.pod) and age is not None and pod.age is not None and age < pod.age:
            names.add(pod.pod)
    return names


def controller(pod: str) -> str:
    """The name of a pod without what was drawn for it."""
    return RANDOM.sub("", pod)


def of_attempt(fact: Fact, attempts: Collection[str]) -> bool:
    """Whether a record is of one of these pods, or of a file that is called like one: `launcher-c2dmd.log`."""
    pod = getattr(fact, "pod", "")
    return pod in attempts if pod else any(is_named_after(fact.origin.source, name) for name in attempts)


def is_named_after(source: str, pod: str) -> bool:
    """Whether a file bears the name of a pod, or its last part."""
    return pod.rpartition("-")[2] in WORD.findall(PurePath(source).name)


def goes_on(event: Event) -> bool:
    """Whether an event says that a member of a gang was placed, or that Volcano's job runs."""
    return event.reason == "Scheduled" or (event.reason == "JobStatusUpdated" and event.message.endswith("to Running"))


def of_one_gang(group: Event, one: Event) -> bool:
    """Whether an event is of a pod group, its job, or one of its pods, which are called like the group."""
    stem = OF_GROUP.sub("", group.name)
    same = name_of(one) == name_of(group)
    return same or (bool(stem) and one.namespace == group.namespace and f"{one.name}-".startswith(f"{stem}-"))


def last_seen(event: Event) -> Seen:
    """When an event of known age was last seen."""
    return Seen(event.age or 0.0, -event.origin.line)


def last_seen_by_object(events: Iterable[Event], reasons: tuple[str, ...]) -> dict[Name, Seen]:
    """The time at which each object last had an event with one of these reasons."""
    found: dict[Name, Seen] = {}
    for event in events:
        if event.reason in reasons and event.age is not None:
            found[name_of(event)] = min(last_seen(event), found.get(name_of(event), UNSEEN))
    return found


def happened_after(later: Seen | None, event: Event, settled: float = 0.0) -> bool:
    """Whether something happened after an event, and has lasted for `settled` seconds. Of equal ages the lower line is the later one."""
    if later is None or event.age is None:
        return False
    return settled <= later.age and later < Seen(event.age, -event.origin.line)


def nodes_back(events: list[Event]) -> Seen | None:
    """When the last node became ready again, if all did that had not been, and none of them lost what ran there."""
    if any(event.reason in LOST for event in events):
        return None
    nodes = [event for event in events if event.kind == "Node"]
    ready = last_seen_by_object(nodes, ("NodeReady",))
    away = [event for event in nodes if event.reason == "NodeNotReady"]
    return min(ready.values()) if ready and all(happened_after(ready.get(name_of(event)), event) for event in away) else None


def name_of(event: Event) -> Name:
    """The object of an event. Those that were pasted without it belong together when they stand in one text."""
    return event.namespace, event.pod or event.name or event.origin.source


def positions(event: Event) -> list[Position]:
    """Where what an event says stands: by its line, by its text, and by what it is of."""
    where = event.origin
    return [(where.source, where.line or where.text), (where.source, where.text), in_time(event, event.age)]


def in_time(fact: Fact, age: float | None) -> Position:
    """The position of what was said of an object at a time."""
    about = fact.subject()
    return fact.origin.source, about.namespace, about.pod or about.workload or about.node, age
