"""`kubectl describe` of controllers → the object as the API has it; of a ResourceQuota → its rows."""

from __future__ import annotations

from typing import Any

from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.describe_pod import KEY, key_value, pod_object

# A key that only this kind's description has (describe.go); the first that occurs decides.
KIND_OF_KEY = {
    "Desired Number of Nodes Scheduled": "DaemonSet",
    "Parallelism": "Job",
    "Completion Mode": "Job",
    "Active Deadline Seconds": "Job",
    "StrategyType": "Deployment",
    "Update Strategy": "StatefulSet",
    "Replicas": "ReplicaSet",
}
TEMPLATE = regex(r"^\s*Pod Template:\s*$")
# The line → the field of the DaemonSet's status.
COUNTS = {
    "Desired Number of Nodes Scheduled": "desiredNumberScheduled",
    "Current Number of Nodes Scheduled": "currentNumberScheduled",
    "Number of Nodes Scheduled with Up-to-date Pods": "updatedNumberScheduled",
    "Number of Nodes Scheduled with Available Pods": "numberReady",
}
# 3 desired | 3 updated | 3 total | 2 available | 1 unavailable      |  2 current / 2 desired
REPLICAS = regex(r"(\d{1,6}) (desired|updated|total|available|current)")
FIELD_OF_WORD = {"updated": "updatedReplicas", "total": "replicas", "current": "replicas", "available": "readyReplicas"}
# 1 Active (0 Ready) / 0 Succeeded / 2 Failed
ACTIVE = regex(r"(\d{1,6}) (?:Active|Running)(?: \((\d{1,6}) Ready\))?")
OVER = regex(r"(\d{1,6}) (Succeeded|Failed)")
CONDITION = regex(r"^\s{1,8}([A-Z]\w{2,63})\s+(True|False|Unknown)(?:\s+(\S.*))?$")
QUOTA_HEAD = regex(r"^\s*Resource\s+Used\s+Hard\s*$")
QUOTA_ROW = regex(r"^\s*([a-z][\w./-]{0,120})\s+(\d[\w.]{0,30})\s+(\d[\w.]{0,30})\s*$")


def kind_of(keys: set[str]) -> str:
    """The kind of controller whose description has these keys, "" for other objects."""
    return next((kind for key, kind in KIND_OF_KEY.items() if key in keys), "")


def workload_object(kind: str, lines: list[tuple[int, str]]) -> dict[str, Any]:
    """The controller as an API object. Its pod template is read like a pod."""
    cut = next((index for index, (_, line) in enumerate(lines) if TEMPLATE.match(line)), len(lines))
    template, _ = pod_object(lines[cut + 1 :])
    head, _ = pod_object(lines[:cut])  # Name, Namespace, Labels and Controlled By are printed as a pod's are
    spec: dict[str, Any] = {"template": {"spec": {**template["spec"], **node_selector(lines[cut + 1 :])}}}
    status: dict[str, Any] = {}
    for _, line in lines:
        key, value = key_value(line)
        if key in COUNTS and value.isdecimal():
            status[COUNTS[key]] = int(value[:9])
        elif key == "Replicas":
            for number, word in REPLICAS.findall(value):
                (spec if word == "desired" else status)["replicas" if word == "desired" else FIELD_OF_WORD[word]] = int(number)
        elif key in ("Parallelism", "Completions") and value.isdecimal():
            spec[key.lower()] = int(value[:9])
        elif key == "Suspend":
            spec["suspend"] = value.lower() == "true"
        elif key == "Pods Statuses" and (active := ACTIVE.search(value)):
            status["active"] = int(active.group(1))
            if active.group(2):
                status["ready"] = int(active.group(2))
            status.update({word.lower(): int(number) for number, word in OVER.findall(value)})
        elif condition := CONDITION.match(line):
            status.setdefault("conditions", []).append({"type": condition[1], "status": condition[2], "reason": condition[3] or ""})
    return {"apiVersion": "v1", "kind": kind, "metadata": head["metadata"], "spec": spec, "status": status}


def node_selector(lines: list[tuple[int, str]]) -> dict[str, Any]:
    """The template's node selector, which older kubectl prints with a space: `Node Selectors:`."""
    found: dict[str, str] = {}
    inside = False
    for _, line in lines:
        match = KEY.match(line)
        if match:
            inside = match.group(1).strip() in ("Node-Selectors", "Node Selectors")
        pair = (match.group(2) or "") if match else line
        key, equals, value = pair.strip().partition("=")
        if inside and equals and len(key) < 317 and len(value) < 64:
            found[key] = value
    return {"nodeSelector": found} if found else {}


def quota_rows(lines: list[tuple[int, str]]) -> list[tuple[int, str, str, str, str]]:
    """(line number, line, resource, used, hard) of the rows below `Resource  Used  Hard`."""
    rows = []
    inside = False
    for number, line in lines:
        if QUOTA_HEAD.match(line):
            inside = True
        elif inside and (match := QUOTA_ROW.match(line)):
            rows.append((number, line, match[1], match[2], match[3]))
    return rows
