"""The builders of cluster files: `from tests.kube.objects import cluster, pod, node, event`.

Each returns a plain dict in the API's shape, with times relative to NOW. `cluster` puts them together, `write` saves the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.kube.nodes import event, namespace, node
from tests.kube.pods import container, pod
from tests.kube.shapes import NOW, Object, ago, condition, stamp
from tests.kube.stack import gpu_stack, pod_name, stack_pod
from tests.kube.storage import pv, pvc, resourcequota, runtimeclass
from tests.kube.workloads import (
    controller,
    daemonset,
    deployment,
    job,
    pytorchjob,
    queued_workload,
    replicaset,
    statefulset,
)

__all__ = [
    "NOW",
    "Object",
    "ago",
    "cluster",
    "condition",
    "container",
    "controller",
    "daemonset",
    "deployment",
    "event",
    "exec_answer",
    "gpu_stack",
    "job",
    "namespace",
    "node",
    "pod",
    "pod_name",
    "pv",
    "pvc",
    "pytorchjob",
    "queued_workload",
    "replicaset",
    "resourcequota",
    "runtimeclass",
    "stack_pod",
    "statefulset",
    "write",
]


def exec_answer(*argv: str, stdout: str = "", stderr: str = "", exit: int = 0, stall: float = 0) -> Object:
    """What one exec prints; an argv element may be anything, it is compared exactly. `stall` is the silence before, in seconds."""
    return {"argv": list(argv), "stdout": stdout, "stderr": stderr, "exit": exit, "stall": stall}


def cluster(
    objects: Iterable[Object | Iterable[Object]],
    *,
    logs: Mapping[str, str] | None = None,
    exec: Mapping[str, Sequence[Object]] | None = None,
    faults: Sequence[Mapping[str, Any]] = (),
    now: str | None = None,
    proxied: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A cluster file's contents (see `tests/kube/server.py`). Lists among `objects` are flattened; DaemonSets of one name are added up."""
    found: dict[tuple[str, str, str], Object] = {}
    for each in objects:
        for obj in [each] if isinstance(each, dict) else each:
            key = (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            if key in found and obj["kind"] == "DaemonSet":
                before = found[key]["status"]
                obj = obj | {"status": {field: count + before[field] for field, count in obj["status"].items()} | {"observedGeneration": 1}}
            found[key] = obj
    return {
        "now": now or stamp(NOW),
        "objects": list(found.values()),
        "logs": dict(logs or {}),
        "exec": {place: list(answers) for place, answers in (exec or {}).items()},
        "faults": [dict(fault) for fault in faults],
        "proxied": dict(proxied or {}),
    }


def write(contents: Mapping[str, Any], path: Path) -> Path:
    """Save a cluster file; returns its path."""
    path.write_text(json.dumps(contents), encoding="utf-8")
    return path
