"""The short forms of a scenario's objects, written out."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from tests.cluster.api import WHOLE_CLUSTER, Object

IMAGE = "registry.example/train:1"
TOLERATES = {
    "gpu": {"key": "nvidia.com/gpu", "operator": "Exists"},
    "vision": {"key": "team", "value": "vision"},
    "all": {"operator": "Exists"},
}


def pod(said: dict[str, Any], namespace: str) -> Object:
    """`{pod: NAME, gpus: 1, resource: …, cpu: …, select: {…}, host: NODE, tolerates: [gpu], labels: {…}, spec: {…}}` as a Pod."""
    said = copy.deepcopy(said)
    spec = template_spec(said)
    meta = {"name": said["pod"], "namespace": said.get("namespace", namespace), "labels": said.get("labels", {})}
    meta |= {"annotations": said.get("annotations", {}), **({"finalizers": said["finalizers"]} if "finalizers" in said else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def template_spec(said: dict[str, Any]) -> Object:
    """The spec of a pod from its short form."""
    amounts = {name: said[name] for name in ("cpu", "memory") if name in said} | said.get("requests", {})
    gpus = {said.get("resource", "nvidia.com/gpu"): said["gpus"]} if "gpus" in said else {}
    resources: Object = {"requests": {name: str(value) for name, value in (amounts | gpus).items()}}
    if gpus:
        resources["limits"] = {name: str(value) for name, value in gpus.items()}
    spec: Object = {"containers": [{"name": "main", "image": IMAGE, "resources": resources}], "terminationGracePeriodSeconds": 0}
    select = said.get("select", {}) | ({"kubernetes.io/hostname": said["host"]} if "host" in said else {})
    if select:
        spec["nodeSelector"] = select
    if said.get("tolerates"):
        spec["tolerations"] = [TOLERATES[word] for word in said["tolerates"]]
    if "claim" in said:
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": said["claim"]}}]
    further = said.get("spec", {})
    spec["containers"][0] |= further.pop("container", {})
    return spec | further


def job(said: dict[str, Any], namespace: str) -> Object:
    """`{job: NAME, pods: 2, suspend: …, …}` with the words of a pod, as a Job."""
    parallel = said.get("pods", 1)
    template = {"metadata": {"labels": said.get("labels", {})}, "spec": {"restartPolicy": "Never", **template_spec(copy.deepcopy(said))}}
    spec = {"parallelism": parallel, "completions": parallel, "template": template} | said.get("job_spec", {})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": said["job"], "namespace": said.get("namespace", namespace), "labels": said.get("owner_labels", {})},
        "spec": spec,
    }


def written_out(said: dict[str, Any], namespace: str) -> list[Object]:
    """What one entry of `create` makes; `times: N` makes NAME-0 … of a pod, `cpu_from: N` no two alike."""
    if "pod" in said:
        times = said.get("times")
        names = [said["pod"]] if times is None else [f"{said['pod']}-{number}" for number in range(times)]
        further = said.get("cpu_from")  # each asks for one CPU more: no two are alike
        alike = [{} if further is None else {"cpu": further + number} for number in range(len(names))]
        return [pod(said | {"pod": name} | own, namespace) for name, own in zip(names, alike, strict=True)]
    if "job" in said:
        return [job(said, namespace)]
    made = copy.deepcopy(said)
    if made["kind"] not in WHOLE_CLUSTER:
        made["metadata"].setdefault("namespace", namespace)
    for template in templates(made.get("spec")):
        short = template.pop("pod")
        template["spec"] = template_spec(short) | template.get("spec", {})
        template.setdefault("metadata", {})["labels"] = short.get("labels", {})
    return [made]


def templates(spec: Any) -> Iterator[dict[str, Any]]:
    """The templates of an owner that are a pod's short form, however deep they lie."""
    inner = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    if isinstance(spec, dict):
        yield from (one for name, one in spec.items() if name.lower().endswith("template") and isinstance(one, dict) and "pod" in one)
    for one in [*inner]:
        yield from templates(one)
