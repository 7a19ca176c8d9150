"""Claims, volumes, quotas and runtime classes: small objects that pods lean on."""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.devices import RuntimeClass
from gpudoctor.facts.kubernetes import Claim, Quota, StorageClass, Volume
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, Quantities, evidence, objects
from gpudoctor.tools.kubernetes.pod_shape import NodeSelector, terms
from gpudoctor.tools.kubernetes.quantity import amounts


class ClaimSpec(msgspec.Struct):
    """What the claim asks for and got."""

    volumeName: str | None = None
    storageClassName: str | None = None


class Phase(msgspec.Struct):
    """Pending, Bound, Lost."""

    phase: str | None = None


class ClaimObject(Object):
    """A PersistentVolumeClaim."""

    spec: ClaimSpec | None = None
    status: Phase | None = None


class VolumeAffinity(msgspec.Struct):
    """The nodes that reach the volume."""

    required: NodeSelector | None = None


class VolumeSpec(msgspec.Struct):
    """Where the volume is."""

    nodeAffinity: VolumeAffinity | None = None


class VolumeObject(Object):
    """A PersistentVolume."""

    spec: VolumeSpec | None = None


class Amounts(msgspec.Struct):
    """The limits of a quota, and what is used of them."""

    hard: Quantities = None
    used: Quantities = None


class QuotaObject(Object):
    """A ResourceQuota."""

    spec: Amounts | None = None
    status: Amounts | None = None


class RuntimeClassObject(Object):
    """A RuntimeClass."""

    handler: str | None = None


def claims(output: Output, about: Subject) -> Facts:
    """One record per PersistentVolumeClaim."""
    found = []
    for item in objects(output, ClaimObject, ("PersistentVolumeClaim",)):
        spec, phase = item.spec or ClaimSpec(), (item.status.phase if item.status else None) or ""
        if item.meta.name:
            found.append(
                Claim(
                    namespace=item.meta.namespace or "",
                    claim=item.meta.name,
                    phase=phase,
                    volume=spec.volumeName or "",
                    storage_class=spec.storageClassName or "",
                    origin=evidence(output, f"{item.meta.namespace}/{item.meta.name} {phase} {spec.volumeName or ''}"),
                )
            )
    return {"claims": [*found]}


def volumes(output: Output, about: Subject) -> Facts:
    """One record per PersistentVolume."""
    found = []
    for item in objects(output, VolumeObject, ("PersistentVolume",)):
        affinity = item.spec.nodeAffinity if item.spec else None
        if item.meta.name:
            required = terms(affinity.required) if affinity else None
            found.append(Volume(volume=item.meta.name, node_affinity=required, origin=evidence(output, item.meta.name)))
    return {"volumes": [*found]}


def quotas(output: Output, about: Subject) -> Facts:
    """One record per resource of each ResourceQuota; CPU in milli-cores."""
    found = []
    for item in objects(output, QuotaObject, ("ResourceQuota",)):
        spec, status = item.spec or Amounts(), item.status or Amounts()
        name, used = item.meta.name or "", amounts(status.used)
        for resource, hard in amounts(status.hard or spec.hard).items():
            found.append(
                Quota(
                    namespace=item.meta.namespace or "",
                    quota=name,
                    resource=resource,
                    hard=hard,
                    used=used.get(resource, 0),
                    origin=evidence(output, f"{item.meta.namespace}/{name} {resource}: {used.get(resource, 0)} of {hard} used"),
                )
            )
    return {"quotas": [*found]}


def runtime_classes(output: Output, about: Subject) -> Facts:
    """One record per RuntimeClass."""
    found = [
        RuntimeClass(
            runtime_class=item.meta.name,
            handler=item.handler or "",
            origin=evidence(output, f"{item.meta.name} handler {item.handler or ''}"),
        )
        for item in objects(output, RuntimeClassObject, ("RuntimeClass",))
        if item.meta.name
    ]
    return {"runtime_classes": [*found]}


def storage_classes(output: Output, about: Subject) -> Facts:
    """One record per StorageClass."""
    named = [item.meta.name for item in objects(output, Object, ("StorageClass",)) if item.meta.name]
    return {"storage_classes": [StorageClass(storage_class=name, origin=evidence(output, f"StorageClass {name}")) for name in named]}
