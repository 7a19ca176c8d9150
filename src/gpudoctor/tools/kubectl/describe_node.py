"""`kubectl describe node` → a Node object as the API has it, and what the pods on it request together."""

from __future__ import annotations

from typing import Any

from gpudoctor.knowledge import components
from gpudoctor.knowledge.resources import is_gpu
from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.ages import seconds
from gpudoctor.tools.kubectl.describe_keys import NODE
from gpudoctor.tools.kubectl.describe_pod import AMOUNT, LABEL, key_value, timestamp

# nvidia.com/gpu=present:NoSchedule | node.kubernetes.io/not-ready:NoExecute
TAINT = regex(r"^\s*([A-Za-z0-9][\w./-]{0,316})(?:=([\w.-]{0,63}))?:(NoSchedule|PreferNoSchedule|NoExecute)\s*$")
# Ready   False   Mon, 02 Mar 2026 10:00:00 +0000   Mon, 02 Mar 2026 09:00:00 +0000   KubeletNotReady   container runtime is down
DATE = r"(?:\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4})"
CONDITION = regex(rf"^\s*([A-Z]\w{{2,63}})\s+(True|False|Unknown)\b(?:\s+{DATE})?(?:\s+({DATE}))?(?:\s+(\S{{1,80}}))?(?:\s+(.*))?$")
# nvidia.com/gpu     7           7            |  cpu   3920m (12%)   8 (25%)
REQUESTED = regex(r"^\s*([a-z0-9][A-Za-z0-9./_-]{0,120})\s+(\d[\w.]{0,30})(?: \(\d+%\))?\s+(\d[\w.]{0,30})(?: \(\d+%\))?\s*$")
SYSTEM = {
    "Kernel Version": "kernelVersion",
    "OS Image": "osImage",
    "Container Runtime Version": "containerRuntimeVersion",
    "Kubelet Version": "kubeletVersion",
}
PODS = regex(r"\((\d{1,6}) in total\)")
#   gpu-operator   nvidia-device-plugin-daemonset-4kx7p   0 (0%)   0 (0%)   0 (0%)   0 (0%)   14s
POD = regex(r"^\s+[a-z0-9-]{1,63}\s+([a-z0-9][a-z0-9.-]{0,252})\s.*\s(\d{1,5}[smhdy]\w{0,8})\s*$")
#   nvidia.com/gpu:     8          (picked out by grep: the first is the capacity, the second what is allocatable)
PICKED = regex(r"^\s+((?:[a-z0-9-]+\.)+com/[\w.-]{1,80}):\s+(\d{1,6})\s*$")


def node_object(lines: list[tuple[int, str]]) -> tuple[dict[str, Any], dict[str, str], int, set[str]]:
    """(the Node as an API object, requested amounts by resource, pods on it, the keys that were seen)."""
    meta: dict[str, Any] = {}
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}
    requested: dict[str, str] = {}
    pods, block = 0, ""
    seen: set[str] = set()
    loose: list[str] = []  # lines without the block that they stood in: `kubectl describe node | grep nvidia.com/gpu`
    for _, line in lines:
        key, value = key_value(line)
        if key in NODE:
            block = "" if key == "Name" else key  # below the name alone stands what was picked out
            seen.add(key)
            if key == "Name":
                meta["name"] = value
            elif key == "CreationTimestamp" and (time := timestamp(value)):
                meta["creationTimestamp"] = time
            elif key == "Unschedulable":
                spec["unschedulable"] = value.lower() == "true"
            elif key == "Non-terminated Pods" and (counted := PODS.search(value)):
                pods = int(counted.group(1))
            elif key in ("Taints", "Labels"):
                entry(key, value, meta, spec)
        elif block in ("Capacity", "Allocatable") and (amount := AMOUNT.match(line)):
            status.setdefault(block.lower(), {})[amount.group(1)] = amount.group(2)
        elif block == "System Info" and key in SYSTEM:
            status.setdefault("nodeInfo", {})[SYSTEM[key]] = value
        elif block == "Addresses" and key:
            status.setdefault("addresses", []).append({"type": key, "address": value})
        elif block == "Conditions" and (condition := CONDITION.match(line)):
            kind, state, _, reason, message = condition.groups(default="")
            status.setdefault("conditions", []).append({"type": kind, "status": state, "reason": reason, "message": message})
        elif block in ("Taints", "Labels"):
            entry(block, line, meta, spec)
        elif block in ("Allocated resources", "") and (amount := REQUESTED.match(line)):
            seen.add("Allocated resources")
            requested[amount.group(1)] = amount.group(2)
        elif not block:
            loose.append(line)
    seen |= picked_keys(loose, meta, status)
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status}, requested, pods, seen


def picked_keys(lines: list[str], meta: dict[str, Any], status: dict[str, Any]) -> set[str]:
    """Amounts and labels that were picked out of one node's description; the keys they stood under. Of several nodes: none."""
    amounts = [(match[1], match[2]) for line in lines if (match := PICKED.match(line)) and is_gpu(match[1])]
    names = [name for name, _ in amounts]
    if not names or any(names.count(name) > 2 for name in names):
        return set()
    status["capacity"] = dict(reversed(amounts))
    if len(set(names)) < len(names):
        status["allocatable"] = dict(amounts)
    for line in lines:
        entry("Labels", line.removeprefix("Labels:"), meta, {})
    return {key.capitalize() for key in status} | ({"Labels"} if meta.get("labels") else set())


def plugin_age(lines: list[tuple[int, str]]) -> float | None:
    """How old the youngest device plugin is, by the table of the node's pods; None where it shows none."""
    rows = (POD.match(line) for _, line in lines)
    ages = [seconds(row[2]) for row in rows if row and components.of_name(row[1]) == "device-plugin"]
    return min((age for age in ages if age is not None), default=None)


def entry(block: str, text: str, meta: dict[str, Any], spec: dict[str, Any]) -> None:
    """One label or one taint."""
    if block == "Labels":
        if match := LABEL.match(text):
            meta.setdefault("labels", {})[match.group(1)] = match.group(2)
    elif match := TAINT.match(text):
        key, value, effect = match.groups(default="")
        spec.setdefault("taints", []).append({"key": key, "value": value, "effect": effect})
