"""`kubectl describe`, whole or in pieces: pods, nodes, quotas; of any other object its events and its known messages."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Container, Node, NodeUsage, Pod, Quota
from gpudoctor.knowledge import components
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.registry import load
from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl import events
from gpudoctor.tools.kubectl.ages import seconds
from gpudoctor.tools.kubectl.describe_claim import claim, is_claim
from gpudoctor.tools.kubectl.describe_keys import ALL, OF_NODE, OF_POD, WEAK
from gpudoctor.tools.kubectl.describe_node import PICKED, node_object, plugin_age
from gpudoctor.tools.kubectl.describe_pod import KEY, LABEL, pod_object
from gpudoctor.tools.kubectl.describe_workload import KIND_OF_KEY, QUOTA_HEAD, kind_of, quota_rows, workload_object
from gpudoctor.tools.kubernetes.quantity import amounts, in_milli, quantity
from gpudoctor.tools.parser import LINE, ParseError

# nvidia.com/gpu.shared  7           7
BARE_REQUEST = regex(r"^\s*(?:[a-z0-9.-]+\.com/[\w.-]{1,80}|cpu|memory)\s+\d\S{0,20}(?: \(\d+%\))?\s+\d\S{0,20}(?: \(\d+%\))?\s*$")

# Name:               gpu-07          (`grep -E "Name:|nvidia.com/gpu"`)
NAME = regex(r"^Name:\s+[a-z0-9][a-z0-9.-]{0,252}\s*$")

# DiskPressure   True    Sun, 01 Mar 2026 10:00:00 +0000   …            (a node's conditions alone)
BARE_CONDITION = regex(r"^\s*(?:Memory|Disk|PID)Pressure\s+(?:True|False|Unknown)\s")

# Taints:             nvidia.com/gpu=present:NoSchedule          (picked out by grep)
BARE_TAINT = regex(r"^\s*Taints:\s+[A-Za-z0-9][\w./-]{0,316}(?:=[\w.-]{0,63})?:(?:NoSchedule|NoExecute)\s*$")

# What `describe` shows of a pod and of a node, by the key that shows it. The rest of the fields are gaps.
POD_SHOWS = {
    "Name": {"pod"},
    "Namespace": {"namespace"},
    "Node": {"node", "scheduled"},
    "Status": {"phase", "status"},
    "Labels": {"labels", "component", "queue_name"},
    "Controlled By": {"workload"},
    "Node-Selectors": {"node_selector"},
    "Tolerations": {"tolerations"},
    "Containers": {
        "images",
        "requests",
        "gpus",
        "gpu_resources",
        "wants_gpu_hint",
        "runtime_class",
        "ready",
        "restarts",
        "reason",
        "message",
    },
    "Limits": {"requests", "gpus", "gpu_resources"},
}
NODE_SHOWS = {
    "Name": {"node"},
    "Taints": {"taints", "taint_keys"},
    "Unschedulable": {"unschedulable"},
    "Labels": {"labels", "label_keys", "gpus_expected", "gpu_present"},
    "Conditions": {"ready", "pressure"},
    "Capacity": {"capacity", "gpus_capacity", "gpu_resources", "gpu_present"},
    "Allocatable": {"allocatable", "gpus_allocatable", "gpu_resources", "gpu_present"},
    "Non-terminated Pods": {"plugin_age"},
    "Addresses": {"addresses"},
    "System Info": {"kubelet_version", "runtime_version", "kernel_version", "os_image"},
}


def score(lines: list[str]) -> int:
    """0 to 90: how sure it is that this is `kubectl describe`, by the keys at the beginnings of lines."""
    keys = {match.group(1).strip() for line in lines if (match := KEY.match(line))} & (ALL | KIND_OF_KEY.keys())
    telling = keys & (OF_POD | OF_NODE | KIND_OF_KEY.keys())
    if not telling - WEAK and len(telling) < 2:
        if len(lines) < 60 and any("/" in line and BARE_REQUEST.match(line) for line in lines):
            return 63  # more than the events that may stand beside it: those are read of a described object, too
        bare = any(BARE_CONDITION.match(line) or BARE_TAINT.match(line) for line in lines)
        if amounts_alone(lines):
            return 61
        if (bare and len(lines) < 60) or any(QUOTA_HEAD.match(line) for line in lines):
            return 55
        return 64 if keys >= {"Reason", "Message"} or len(keys & {"Name", "Namespace", "Conditions", "Events"}) >= 2 else 0
    return min(90, 50 + 8 * len(keys))


def amounts_alone(lines: list[str]) -> bool:
    """Whether somebody picked what a node offers out of its description: nothing else is there but labels and requests."""
    filled = [line for line in lines if line.strip() not in ("", "--") and not NAME.match(line)]
    forms = (PICKED, LABEL, BARE_REQUEST)
    return any(PICKED.match(line) for line in filled) and all(any(one.match(line) for one in forms) for line in filled)


def describe(output: Output, about: Subject) -> Facts:
    """The facts of one or several described objects."""
    lines = output.text.split("\n")
    facts: Facts = {}
    for start, end in objects(lines):
        for kind, records in object_facts(start, lines[start:end], output, about).items():
            facts.setdefault(kind, []).extend(records)
    return facts


def objects(lines: list[str]) -> list[tuple[int, int]]:
    """Where each object begins and ends: at `Name:` in the first column. What stands before the first is a fragment of its own."""
    starts = [index for index, line in enumerate(lines) if line.startswith("Name:")]
    if not starts or any(line.strip() for line in lines[: starts[0]]):
        starts.insert(0, 0)
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


def object_facts(start: int, lines: list[str], output: Output, about: Subject) -> Facts:
    """The facts of one object; `start` is the number of lines before it."""
    own = [line[:LINE].rstrip("\r ") for line in lines]
    keys = {match.group(1).strip() for line in own if (match := KEY.match(line))}
    found = events.find(own, start + 1)
    used = {number for line in found for number in line.used}
    rest = [(number, line) for number, line in enumerate(own, start + 1) if number not in used]
    if kind := kind_of(keys):
        facts, owner = workload_facts(kind, rest, output, about)
    elif is_claim(keys) or ("Last Transition Time" in keys and not keys & (OF_POD | OF_NODE)):  # or the conditions of a custom resource
        facts, owner = other_facts(rest, output, about)
    elif keys & OF_POD or (keys >= {"Reason", "Message"} and not keys & OF_NODE):
        facts, owner = pod_facts(rest, found, output, about)
    elif any(QUOTA_HEAD.match(line) for _, line in rest):
        facts, owner = other_facts(rest, output, about)
    elif keys & OF_NODE or amounts_alone(own) or any(BARE_REQUEST.match(line) or BARE_CONDITION.match(line) for _, line in rest):
        facts, owner = node_facts(rest, output, about)
    else:
        facts, owner = other_facts(rest, output, about)
    for line in found:
        event = events.event_of(line, output.origin_name(), owner)
        events.add({kind: facts.setdefault(kind, []) for kind in ("events", "messages", "schedule_reasons")}, event)
    return facts


def pod_facts(rest: list[tuple[int, str]], found: list[events.Line], output: Output, about: Subject) -> tuple[Facts, Subject]:
    """(facts, the pod): the pod with its containers, and the known messages in lines that are no key."""
    made, reader = pod_object(rest)
    meta = made["metadata"]
    meta["name"] = meta.get("name") or about.pod or NAMELESS
    meta.setdefault("namespace", about.namespace)
    for containers in ("containers", "initContainers"):
        for container in made["spec"][containers]:
            container["name"] = container["name"] or about.container or NAMELESS
        for status in made["status"][containers.removesuffix("s") + "Statuses"]:
            status["name"] = status["name"] or about.container or NAMELESS
    add_scheduler_message(made, found)
    facts = parse_as_api("kubernetes.pods", made, output, about)
    # The clauses of the scheduler come from the events themselves, with their own line.
    facts["schedule_reasons"] = []
    seen = set().union(*(fields for key, fields in POD_SHOWS.items() if key in reader.keys))
    pods = [fact for fact in facts.get("pods", []) if isinstance(fact, Pod)]
    facts["pods"] = [complete_pod(pod, found, seen, about) for pod in pods]
    boxes = [fact for fact in facts.get("containers", []) if isinstance(fact, Container)]
    facts["containers"] = [msgspec.structs.replace(box, component=box.component or about.component or of_image(box)) for box in boxes]
    owner = facts["pods"][0].subject() if facts["pods"] else about
    facts = remove_placeholders(facts)
    owner = msgspec.structs.replace(owner, pod="" if owner.pod == NAMELESS else owner.pod)
    loose_ones = set(reader.loose)
    unread = [(number, line) for number, line in rest if number in loose_ones]
    # A fragment whose Reason and Message belong to something that isn't known is read line by line.
    facts.setdefault("messages", []).extend(
        loose_messages(unread if facts.get("messages") or meta["name"] != NAMELESS else rest, output, owner)
    )
    return facts, owner


def of_image(box: Container) -> str:
    """The part of the GPU stack that the container of a pod without a name is, by its image; "" for others."""
    return "" if box.pod not in ("", NAMELESS) else components.of_name(box.image.rpartition("/")[2].partition(":")[0])


def add_scheduler_message(pod: dict[str, Any], found: list[events.Line]) -> None:
    """The scheduler's last words into the condition PodScheduled, whose message `describe` doesn't print."""
    words = [line.message for line in found if line.match.groupdict().get("reason") == "FailedScheduling"]
    if not words or pod["spec"].get("nodeName"):
        return
    conditions = pod["status"].setdefault("conditions", [])
    conditions[:] = [one for one in conditions if one["type"] != "PodScheduled"]
    conditions.append({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words[-1]})


def complete_pod(pod: Pod, found: list[events.Line], seen: set[str], about: Subject) -> Pod:
    """The pod with the age that its events prove at least, and the gaps of this form."""
    spans = [seconds(text or "") for line in found for key, text in line.match.groupdict().items() if key in ("age", "first")]
    age = max([span for span in (*spans, pod.age) if span is not None], default=None)
    known = seen | {"age"} | ({"schedule_message", "schedule_reason", "scheduled"} if pod.schedule_message else set())
    known |= {"deleting"} if pod.deleting or "phase" in seen else set()  # `Status: Terminating` stands where the phase would
    component = pod.component or about.component
    return msgspec.structs.replace(
        pod, age=age, component=component, node=pod.node or about.node, gaps=gaps(Pod, known, "not shown by kubectl describe pod")
    )


def node_facts(rest: list[tuple[int, str]], output: Output, about: Subject) -> tuple[Facts, Subject]:
    """(facts, the node): the node, and what its pods request together."""
    made, requested, pods, seen = node_object(rest)
    name = made["metadata"].get("name") or about.node
    made["metadata"]["name"] = name or NAMELESS
    owner = Subject(kind="node", node=name)
    facts: Facts = {}
    status = made["status"]
    if len(status.keys() & {"capacity", "allocatable"}) == 1:  # one of the two alone proves no difference between them
        status.setdefault("capacity", status.get("allocatable"))
        status.setdefault("allocatable", status.get("capacity"))
    if seen - {"Allocated resources", "Name", "Events"}:
        facts = parse_as_api("kubernetes.nodes", made, output, about)
        shown = {"leaving"}.union({"node"} if name else (), *(fields for key, fields in NODE_SHOWS.items() if key in seen))
        missing = gaps(Node, shown, "not shown in this part of kubectl describe node")
        youngest = plugin_age(rest)
        facts["nodes"] = [msgspec.structs.replace(node, plugin_age=youngest, gaps=missing) for node in facts.get("nodes", [])]
    if requested:
        facts["node_usage"] = [NodeUsage(node=name, requested=amounts(requested), pods=pods)]
    facts = remove_placeholders(facts)
    conditions = made["status"].get("conditions", [])
    words = [(0, one["message"]) for one in conditions if one["message"]]
    facts.setdefault("messages", []).extend(loose_messages(words, output, owner))
    return facts, owner


def workload_facts(kind: str, rest: list[tuple[int, str]], output: Output, about: Subject) -> tuple[Facts, Subject]:
    """(facts, the controller)."""
    made = workload_object(kind, rest)
    made["metadata"].setdefault("namespace", about.namespace)
    facts = parse_as_api("kubernetes.workloads", made, output, about)
    owner = facts["workloads"][0].subject() if facts.get("workloads") else about
    # events whose columns were cut
    cut = [(number, line) for number, line in rest if "Error creating: " in line]
    facts.setdefault("messages", []).extend(loose_messages(cut, output, owner))
    return facts, owner


def other_facts(rest: list[tuple[int, str]], output: Output, about: Subject) -> tuple[Facts, Subject]:
    """(facts, the object) of an object of another kind: only its name and the known messages in its text."""
    values: dict[str, str] = {}
    for _, line in rest:
        if match := KEY.match(line):
            values.setdefault(match.group(1).strip(), (match.group(2) or "").strip())
    owner = Subject(kind="cluster", namespace=values.get("Namespace", "") or about.namespace, workload=about.workload)
    facts: Facts = {"messages": loose_messages(rest, output, owner)}
    if is_claim(values):
        facts["claims"] = [claim(values, owner.namespace, Origin(output.origin_name(), rest[0][0], rest[0][1].strip()))]
    if rows := quota_rows(rest):
        facts["quotas"] = [
            Quota(
                namespace=owner.namespace,
                quota=values.get("Name", ""),
                resource=resource,
                hard=quantity(hard, milli=in_milli(resource)) or 0,
                used=quantity(used, milli=in_milli(resource)) or 0,
                origin=Origin(output.origin_name(), number, line.strip()),
            )
            for number, line, resource, used, hard in rows
        ]
    return facts, owner


def loose_messages(lines: list[tuple[int, str]], output: Output, about: Subject) -> list[Any]:
    """The known messages in lines."""
    return [
        message
        for number, line in lines
        if line.strip()
        for message in scan_text(line, source="status", about=about, origin=Origin(output.origin_name(), number, line.strip()))
    ]


def parse_as_api(parser: str, made: dict[str, Any], output: Output, about: Subject) -> Facts:
    """The facts of an object that was read from text, by the parser that reads the API's answers."""
    page = msgspec.json.encode(made)
    try:
        return load(parser)(msgspec.structs.replace(output, pages=(page,), exit=0), about)
    except ParseError:
        return {}
