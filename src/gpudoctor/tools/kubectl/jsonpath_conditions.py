"""Parts of objects completed by their own words and by the command that asked for them: which condition of a pod it is that says why no
node was found, which reason an event has, which object it is about, which labels a selector has required.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.get_labels import selector_labels

# 0/4 nodes are available: 3 Insufficient nvidia.com/gpu, …  |  all nodes are unavailable: … (Volcano)
UNPLACED = regex(r"^(?:\d{1,5}/\d{1,5} nodes are (?:available|unavailable)|all nodes are unavailable)\b")
# How the messages of events begin that people show without their reason: of the kubelet, the scheduler, the autoscaler, the controllers.
REASONS = (
    (UNPLACED, "FailedScheduling"),
    (regex(r"^pod didn't trigger scale-up"), "NotTriggerScaleUp"),
    (regex(r"^Failed to create pod sandbox:"), "FailedCreatePodSandBox"),
    (regex(r"^(?:MountVolume|Unable to attach or mount volumes)"), "FailedMount"),
    (regex(r"^Back-off (?:restarting failed container|pulling image)"), "BackOff"),
    (regex(r"^Started container \S"), "Started"),
    (regex(r"^Error creating: "), "FailedCreate"),
)
OF_PODS = ("spec.nodeName", "status.phase", "spec.schedulerName")  # field selectors whose fields a pod has as they are
OF_NODES = ("NodeReady", "NodeNotReady", "NodeHasDiskPressure", "NodeHasNoDiskPressure", "Rebooted", "Starting", "RegisteredNode")


def complete_object(made: dict[str, Any], kind: str, argv: Sequence[str]) -> None:
    """Complete an object that was put together from an answer, in place."""
    if kind == "Event":
        complete_event(made, argv)
        return
    if kind in ("Pod", "Node") and (labels := selector_labels(argv)):
        meta = made["metadata"]
        known = meta.get("labels")
        meta["labels"] = {**labels, **(known if isinstance(known, dict) else {})}
    if kind == "Pod":
        complete_conditions(made)
        for path, value in required_fields(kind, argv).items():
            put_missing(made, path, value)


def required_fields(kind: str, argv: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Path → value of the fields that every pod of an answer has, because the command chose by them.

    >>> required_fields("Pod", ("kubectl", "get", "pods", "-A", "--field-selector=spec.nodeName=rack2-7,status.phase!=Failed"))
    {('spec', 'nodeName'): 'rack2-7'}
    """
    return {tuple(key.split(".")): value for key, value in field_selectors(argv).items() if kind == "Pod" and key in OF_PODS}


def put_missing(made: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    """Set what stands at a path of keys, where nothing stands yet."""
    *above, last = path
    for step in above:
        made = made.setdefault(step, {})
        if not isinstance(made, dict):
            return
    made.setdefault(last, value)


def complete_conditions(pod: dict[str, Any]) -> None:
    """The one condition that speaks of nodes is PodScheduled, and it is not met."""
    status = pod.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for one in conditions if isinstance(conditions, list) else ():
        if isinstance(one, dict) and isinstance(text := one.get("message"), str) and UNPLACED.match(text.strip()):
            one["message"] = text.strip()
            for key, value in (("type", "PodScheduled"), ("status", "False"), ("reason", "Unschedulable")):
                one.setdefault(key, value)
            if isinstance(status, dict):
                status.setdefault("phase", "Pending")


def complete_event(event: dict[str, Any], argv: Sequence[str]) -> None:
    """The reason of an event, and its object: by the field selector, else a pod, which most events are about."""
    message = event.get("message")
    if isinstance(message, str) and "reason" not in event:
        reason = next((reason for begin, reason in REASONS if begin.match(message)), "")
        if reason:
            event["reason"] = reason
    fields = field_selectors(argv)
    if "reason" in fields:
        event.setdefault("reason", fields["reason"])
    on = event.setdefault("involvedObject", {})
    if isinstance(on, dict):
        for key in ("name", "kind", "namespace"):
            if f"involvedObject.{key}" in fields:
                on.setdefault(key, fields[f"involvedObject.{key}"])
        if isinstance(space := event["metadata"].get("namespace"), str):
            on.setdefault("namespace", space)
        if event.get("reason") != "FailedCreate" and "/" not in str(on.get("name", "")):
            on.setdefault("kind", "Node" if event.get("reason") in OF_NODES else "Pod")


def field_selectors(argv: Sequence[str]) -> Mapping[str, str]:
    """The fields that `--field-selector` requires.

    >>> field_selectors(("kubectl", "get", "events", "--field-selector", "involvedObject.name=train-0,type!=Normal"))
    {'involvedObject.name': 'train-0'}
    """
    words = [after for word, after in pairwise(argv) if word == "--field-selector"]
    words += [word.partition("=")[2] for word in argv if word.startswith("--field-selector=")]
    pairs = [one.replace("==", "=").partition("=") for word in words for one in word.split(",") if "!" not in one]
    return {key: value for key, mark, value in pairs if mark and key}
