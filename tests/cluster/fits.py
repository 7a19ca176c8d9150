"""Each change that the nearest fit proposes is made on the cluster, and the pod has to be placed."""

from __future__ import annotations

import copy
import itertools
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gpudoctor.cli.nodes import expand
from tests.cluster.api import Object
from tests.cluster.control_plane import until
from tests.cluster.scenario import Answer, Stage, fit_rows, judged, name_of
from tests.cluster.stand import FAKE, change_node, ready

NUMBERS = itertools.count()  # a name is used once: kwok may still be at work on a pod that is gone


class Proof(NamedTuple):
    """One proposal after it was made true; `wrong` is "" where the pod was placed."""

    change: str
    what: str
    wrong: str


def proofs(stage: Stage, answers: list[Answer]) -> Iterator[tuple[Answer, list[Proof]]]:
    """Try what was proposed for the pods of a setting; those that take something from others come last."""
    if stage.halted:
        return  # nobody would place it, or let it run
    asked = [one for one in answers if one.case.pod is not None]
    specs = {one.case.name: stage.pod(name_of(one.case)) for one in asked}
    for one in asked:
        stage.api.delete(stage.path(f"pod/{name_of(one.case)}"))
    for name in [one["metadata"]["name"] for one in stage.api.items(f"/api/v1/namespaces/{stage.namespace}/pods") if not placed(one)]:
        stage.api.delete(stage.path(f"pod/{name}"))  # they would take the place
    for one in asked:
        rows = [row for row in fit_rows(one.report) if row[0].endswith(f"/{name_of(one.case)}") and row[2] != "none"]
        rows.sort(key=lambda row: "free_gpus" in row[2])
        yield one, [proof(stage, specs[one.case.name], row) for row in rows]


def placed(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName"))


def proof(stage: Stage, spec: Object, row: list[str]) -> Proof:
    """Make one proposal true, try the pod, and take it back."""
    kinds, words, nodes = row[2].split(" + "), row[3].split("; what runs")[0].split(" + "), expand([row[4]]) if row[4] else []
    pod = fresh(spec)
    undo: list[Callable[[], None]] = []
    wrong = ""
    try:
        for kind, what in zip(kinds, words, strict=True):
            wrong = wrong or EDITS[kind](stage, pod, what, nodes, undo)
        wrong = wrong or tried(stage, pod, nodes)
    finally:
        stage.api.delete(stage.path(f"pod/{pod['metadata']['name']}"))
        for one in reversed(undo):
            one()
    return Proof(row[2], row[3], wrong)


def fresh(spec: Object) -> Object:
    """The same pod under another name, as somebody would send it."""
    template = {key: value for key, value in spec["spec"].items() if key != "nodeName"}
    meta = {key: spec["metadata"].get(key, {}) for key in ("namespace", "labels")}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta | {"name": f"{spec['metadata']['name'][:50]}-fit-{next(NUMBERS)}"},
        "spec": copy.deepcopy(template),
    }


def tried(stage: Stage, pod: Object, nodes: list[str]) -> str:
    """Create the pod and see where it comes to."""
    stage.api.create(pod)
    name = pod["metadata"]["name"]
    for _ in range(50):
        there = stage.pod(name)
        if placed(there):
            on = there["spec"]["nodeName"]
            return "" if on in nodes or not nodes else f"it came to {on}, not to {nodes}"
        if judged(there):
            return str(there["status"]["conditions"][0].get("message"))[:160]
        time.sleep(0.1)
    return "the scheduler said nothing within 5 s"


def containers(pod: Object) -> list[dict[str, Any]]:
    return [one["resources"] for one in pod["spec"]["containers"] if one.get("resources")]


def tolerate(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    for text in what.split(" and "):
        key, _, effect = text.rpartition(":")
        key, _, value = key.partition("=")
        pod["spec"].setdefault("tolerations", []).append({"key": key, "operator": "Equal", "value": value, "effect": effect})
    return ""


def select(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`KEY=VALUE → OTHER`: another value in the selector or the affinity; `drop KEY …`: without that requirement."""
    if " and " in what:
        return next(filter(None, (select(stage, pod, one, nodes, undo) for one in what.split(" and "))), "")
    changed = re.fullmatch(r"([\w./-]+)=\S+ → (\S+)", what)
    key = changed[1] if changed else what.removeprefix("drop ").split("=")[0].split(" ")[0].lstrip("!")
    selector = pod["spec"].get("nodeSelector", {})
    if key in selector:
        if changed:
            selector[key] = changed[2]
        else:
            del selector[key]
        return ""
    terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    for term in terms:
        for needs in term.values():
            for need in [one for one in needs if one["key"] == key]:
                if changed:
                    need |= {"operator": "In", "values": [changed[2]]}
                else:
                    needs.remove(need)
    if not all(any(term.values()) for term in terms):  # an empty term would choose nothing
        del pod["spec"]["affinity"]["nodeAffinity"]
    return ""


def prefer(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`podAntiAffinity to app=ring per kubernetes.io/hostname`: the rules of that kind and place are no longer required."""
    for kind, place in {(text.split(" ")[0], text.split(" per ")[1].split(",")[0]) for text in what.split(" and ")}:
        if kind == "topologySpreadConstraint":
            soft = [one for one in pod["spec"]["topologySpreadConstraints"] if one["topologyKey"] == place]
            for one in soft:
                one["whenUnsatisfiable"] = "ScheduleAnyway"
                one.pop("minDomains", None)  # only for what is required
        else:
            rules = pod["spec"]["affinity"][kind]["requiredDuringSchedulingIgnoredDuringExecution"]
            soft = [one for one in rules if one["topologyKey"] == place]
            rules[:] = [one for one in rules if one not in soft]
        if not soft:
            return f"no rule of {kind} per {place}"
    return ""


def port(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`29500/TCP → 29501`; on the host's network the container listens there too."""
    for text in what.split(" and "):
        old, new = map(int, re.fullmatch(r"(?:\S+:)?(\d+)/\w+ → (\d+)", text).groups())  # type: ignore[union-attr]
        for one in [one for box in pod["spec"]["containers"] for one in box.get("ports", []) if one.get("hostPort") == old]:
            one["hostPort"] = new
            if pod["spec"].get("hostNetwork"):
                one["containerPort"] = new
    return ""


def label(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    for text in what.split(" and "):
        key, equals, value = text.partition("=")
        if not equals:
            return f"no label to set: {text}"
        for node in nodes:
            path = f"/api/v1/nodes/{node}"
            before = stage.api.get(path)["metadata"]["labels"].get(key)
            stage.api.patch(path, {"metadata": {"labels": {key: value}}})
            undo.append(lambda path=path, key=key, before=before: stage.api.patch(path, {"metadata": {"labels": {key: before}}}))  # type: ignore[misc]
    return ""


def uncordon(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    for node in nodes:
        path = f"/api/v1/nodes/{node}"
        stage.api.patch(path, {"spec": {"unschedulable": None}})
        undo.append(lambda path=path: stage.api.patch(path, {"spec": {"unschedulable": True}}))  # type: ignore[misc]
    time.sleep(0.3)  # the node controller takes the taint away
    return ""


def repair(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    for node in nodes:
        path = f"/api/v1/nodes/{node}"
        there = stage.api.get(path)
        stage.api.patch(path, {"metadata": {"annotations": {FAKE: "fake"}}})
        others = [
            one for one in there["status"]["conditions"] if one["type"] not in ("Ready", "DiskPressure", "MemoryPressure", "PIDPressure")
        ]
        stage.api.patch(f"{path}/status", {"status": {"conditions": [*others, ready()]}})
        undo.append(lambda node=node: down_again(stage, node))  # type: ignore[misc]
    for _ in range(600):
        taints = [taint["key"] for node in nodes for taint in stage.api.get(f"/api/v1/nodes/{node}")["spec"].get("taints", [])]
        if not any(key.startswith("node.kubernetes.io/") and not key.endswith("unschedulable") for key in taints):
            return ""
        time.sleep(0.1)
    return "the node did not become ready"


def down_again(stage: Stage, name: str) -> None:
    """Take the kubelet of a node away once more."""
    change_node(stage.api, name, {"down": True})
    until(lambda: "unreachable" in str(stage.api.get(f"/api/v1/nodes/{name}")["spec"].get("taints")), f"{name} is down again")


def less(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`8 → 4 nvidia.com/gpu`, over the containers that ask for it."""
    found = re.fullmatch(r"\S+ → (\S+) (\S+)", what)
    if found is None:
        return f"not understood: {what}"
    for resources in containers(pod):
        for amounts in resources.values():
            if found[2] in amounts:
                amounts[found[2]] = found[1]
    return ""


def rename(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`nvidia.com/gpus → nvidia.com/gpu`."""
    old, _, new = what.partition(" → ")
    for resources in containers(pod):
        for amounts in resources.values():
            if old in amounts:
                amounts[new] = amounts.pop(old)
    return ""


def restore(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    for node in nodes:
        path = f"/api/v1/nodes/{node}"
        there = stage.api.get(path)
        before = dict(there["status"]["allocatable"])
        count = there["metadata"]["labels"].get("nvidia.com/gpu.count")
        whole = {name: amount for name, amount in there["status"]["capacity"].items() if "nvidia.com/" in name}
        if set(whole) <= {"nvidia.com/gpu"}:
            whole = {"nvidia.com/gpu": count}
        stage.api.patch(f"{path}/status", {"status": {"allocatable": whole, "capacity": whole}})
        undo.append(lambda path=path, before=before: stage.api.patch(f"{path}/status", {"status": {"allocatable": before}}))  # type: ignore[misc]
    return ""


def free(stage: Stage, pod: Object, what: str, nodes: list[str], undo: list[Callable[[], None]]) -> str:
    """`free 3 nvidia.com/gpu on hop-1, held by ml/a (8), ml/b (2)`: those that hold them end, until it is enough."""
    found = re.match(r"free (\d+) ", what)
    if found is None:
        return f"not understood: {what}"
    left = int(found[1])
    for namespace, name, count in re.findall(r"([\w.-]+)/([\w.-]+) \((\d+)\)", what):
        if left > 0:
            path = f"/api/v1/namespaces/{namespace}/pods/{name}"
            holder = stage.api.get(path)
            undo.append(lambda holder=holder: back(stage, holder))  # type: ignore[misc]
            stage.api.delete(path)
            left -= int(count)
    return "" if left <= 0 else "the holders that are named hold too few"


def back(stage: Stage, holder: Object) -> None:
    """A pod that gave its GPUs up has them again."""
    pod = fresh(holder)
    pod["metadata"]["name"], pod["spec"]["nodeName"] = holder["metadata"]["name"], holder["spec"]["nodeName"]
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"
    until(lambda: not any(one["metadata"]["name"] == pod["metadata"]["name"] for one in stage.api.items(path)), "the end of a holder")
    stage.api.create(pod)
    until(lambda: stage.api.get(f"{path}/{pod['metadata']['name']}")["status"]["phase"] == "Running", "a holder's return")


EDITS = {
    "tolerate": tolerate,
    "select": select,
    "port": port,
    "prefer": prefer,
    "label": label,
    "uncordon": uncordon,
    "repair_node": repair,
    "fewer_gpus": less,
    "less_cpu": less,
    "less_memory": less,
    "less_other": less,
    "rename": rename,
    "restore_gpus": restore,
    "free_gpus": free,
}
