"""A large cluster from a few prototypes: `--bulk nodes=5000,pods=50000`."""

from __future__ import annotations

from collections.abc import Iterator

from tests.kube.kinds import Resource
from tests.kube.objects import Object, container, node, pod
from tests.kube.shapes import uid
from tests.kube.store import Record, Store, record_of

# What every writer leaves behind; on real clusters it is about a third of a pod's JSON.
MANAGED = [
    {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2026-03-01T09:12:44Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
            f"f:{part}": {f"f:{field}": {".": {}, "f:lastTransitionTime": {}, "f:status": {}} for field in fields} for part in parts
        },
    }
    for manager, parts, fields in (
        ("kube-controller-manager", ("metadata", "spec"), ("containers", "labels", "ownerReferences", "tolerations", "volumes")),
        ("kubelet", ("status",), ("conditions", "containerStatuses", "hostIP", "phase", "podIP", "startTime")),
    )
]
IMAGES = [
    {
        "names": [f"registry.example.com/ml/image-{number:02}@sha256:{number:064x}", f"registry.example.com/ml/image-{number:02}:1.0"],
        "sizeBytes": 10**9 + number,
    }
    for number in range(30)
]
NODE, NAME, UID = "node-placeholder", "pod-placeholder", "11111111-2222-5333-8444-555555555555"


def options(text: str) -> dict[str, str]:
    """`nodes=5000,pods=50000` as a dict. Raises ValueError for an unknown name."""
    read = dict(part.split("=", 1) for part in text.split(",") if part)
    unknown = read.keys() - {"nodes", "pods", "gpus", "used", "taint", "ns"}
    if unknown:
        raise ValueError(f"--bulk has nodes, pods, gpus, used, taint and ns, not {', '.join(sorted(unknown))}")
    return read


def fill(store: Store, text: str) -> None:
    """Add `nodes` nodes gpu-00001… with `gpus` GPUs each (8) and `pods` running pods spread over them; every object is serialised here.

    Each node's first pods hold one GPU each until `used` GPUs (8) are taken, the rest ask for none. `taint=KEY` gives every node the taint
    KEY=present:NoSchedule, which the pods tolerate. The pods live in `ns` (batch).
    """
    read = options(text)
    nodes, pods, gpus = int(read.get("nodes", 0)), int(read.get("pods", 0)), int(read.get("gpus", 8))
    key = read.get("taint")
    taints = [(key, "present", "NoSchedule")] if key else []
    tolerated = [(key, "present", "NoSchedule")] if key else []
    used, ns = int(read.get("used", 8)), read.get("ns", "batch")
    names = [f"gpu-{number:05}" for number in range(1, nodes + 1)]
    place = store.resources["v1", "nodes"]
    store.add(place, stamped(node(NODE, gpus, taints=taints), place, {name: {NODE: name} for name in names}))
    place = store.resources["v1", "pods"]
    for devices, requests in ((1, {"cpu": "8", "memory": "96Gi"}), (0, {"cpu": "250m", "memory": "512Mi"})):
        env = {f"NCCL_OPTION_{number}": "1" for number in range(4)}
        box = container("trainer", gpus=devices, requests=requests, env=env, command=["torchrun", "--nnodes=16", "train.py"])
        prototype = pod(NAME, ns, node=NODE, containers=[box], labels={"app": "train"}, owner="Job/train", tolerations=tolerated)
        chosen = {}
        for number in range(pods):
            if nodes and (number // nodes < used) == bool(devices):
                chosen[f"train-{number:06}"] = {NODE: names[number % nodes]}
        store.add(place, stamped(prototype, place, chosen))
    store.sort()


def stamped(prototype: Object, resource: Resource, places: dict[str, dict[str, str]]) -> Iterator[Record]:
    """A record per name, made of one prototype's bytes with the placeholders replaced."""
    old = prototype["metadata"]["name"]
    metadata = prototype["metadata"] | {"uid": UID, "managedFields": MANAGED}
    if resource.plural == "nodes":
        prototype = prototype | {"status": prototype["status"] | {"images": IMAGES}}
    record = record_of(prototype | {"metadata": metadata}, resource)
    for name, words in places.items():
        raw = record.raw.replace(UID.encode(), uid(resource.kind, name).encode())
        new = words | {old: name}
        for before, after in new.items():
            raw = raw.replace(before.encode(), after.encode())
        labels = {key: new.get(value, value) for key, value in record.labels.items()}
        yield Record(name, record.namespace, labels, {key: new.get(value, value) for key, value in record.fields.items()}, raw)
