"""Builders of what pods refer to: volume claims and volumes, quotas, runtime classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.kube.shapes import Object, lean, meta


def pvc(
    name: str,
    ns: str = "ml",
    *,
    phase: str = "Bound",
    volume: str | None = None,
    storage_class: str = "fast-local",
    size: str = "500Gi",
    age: str = "2h",
) -> Object:
    """A PersistentVolumeClaim; a bound one is bound to `volume` (pv-NAME by default)."""
    bound = (volume or f"pv-{name}") if phase == "Bound" else volume
    spec = lean(
        accessModes=["ReadWriteOnce"],
        resources={"requests": {"storage": size}},
        storageClassName=storage_class,
        volumeMode="Filesystem",
        volumeName=bound,
    )
    status = lean(phase=phase, accessModes=["ReadWriteOnce"] if bound else [], capacity={"storage": size} if bound else {})
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta("PersistentVolumeClaim", name, ns, age=age),
        "spec": spec,
        "status": status,
    }


def pv(
    name: str,
    *,
    claim: str = "",
    nodes: Sequence[str] = (),
    zone: str = "",
    storage_class: str = "fast-local",
    size: str = "500Gi",
    age: str = "2h",
) -> Object:
    """A PersistentVolume, bound to `claim` (NAMESPACE/NAME), usable only on `nodes` or in `zone` where one is given."""
    expressions: list[Object] = []
    if nodes:
        expressions.append({"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)})
    if zone:
        expressions.append({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]})
    ns, _, claimed = claim.partition("/")
    spec = lean(
        capacity={"storage": size},
        accessModes=["ReadWriteOnce"],
        persistentVolumeReclaimPolicy="Delete",
        storageClassName=storage_class,
        volumeMode="Filesystem",
        local={"path": "/mnt/disks/nvme0"} if nodes else None,
        claimRef=lean(apiVersion="v1", kind="PersistentVolumeClaim", namespace=ns, name=claimed) if claim else None,
        nodeAffinity={"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}} if expressions else None,
    )
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": meta("PersistentVolume", name, age=age),
        "spec": spec,
        "status": {"phase": "Bound" if claim else "Available"},
    }


def resourcequota(name: str, ns: str = "ml", *, hard: Mapping[str, str], used: Mapping[str, str] | None = None, age: str = "40d") -> Object:
    """A ResourceQuota; what `used` doesn't name is 0."""
    status = {"hard": dict(hard), "used": dict.fromkeys(hard, "0") | dict(used or {})}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": meta("ResourceQuota", name, ns, age=age),
        "spec": {"hard": dict(hard)},
        "status": status,
    }


def runtimeclass(name: str = "nvidia", handler: str = "nvidia", *, age: str = "40d") -> Object:
    """A RuntimeClass."""
    return {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": meta("RuntimeClass", name, age=age), "handler": handler}
