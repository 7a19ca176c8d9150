"""Objects of the API of which a part was cut out, and the pod templates inside whole ones: known by their shape, wherever they stand.

A pod's spec has `containers`, a queue of Kueue `resourceGroups`, a volume `nodeAffinity.required`, a NodePool of Karpenter `limits`
beside what it has made, a queue of Volcano `capability`, a PodGroup `minResources`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Claim, Pod
from gpudoctor.facts.scheduling import Allowance, PodTemplate
from gpudoctor.probes.base import Output
from gpudoctor.registry import load
from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders
from gpudoctor.tools.kubernetes.allowances import of_cluster_queue, of_group, of_node_pool, of_volcano_queue
from gpudoctor.tools.kubernetes.cluster_policy import policy
from gpudoctor.tools.kubernetes.pods import QUEUE_LABEL
from gpudoctor.tools.parser import ParseError

DEPTH = 14  # levels that are looked into; a RayCluster's containers stand on the ninth
MOST = 50  # parts of one text
# What the spec of a pod shows.
SHOWN = {
    *("namespace", "images", "scheduler_name", "scheduling_gates", "runtime_class", "node_selector", "node_affinity", "tolerations"),
    *("requests", "gpus", "gpu_resources", "claims", "queue_name", "component", "deleting"),
}
# What alone is given of a pod that chooses its nodes → the field that it shows.
CHOICES = {"affinity": "node_affinity", "nodeAffinity": "node_affinity", "nodeSelector": "node_selector", "tolerations": "tolerations"}
CUT = "only a part of the object was given"


class Place(NamedTuple):
    """A mapping inside an object, with the metadata, kind and suspension of what it stands in."""

    value: dict[str, Any]
    meta: dict[str, Any]
    kind: str
    labels: dict[str, str]
    suspended: bool


def parts(value: Any, output: Output, about: Subject, *, whole: bool) -> Facts:
    """The facts of the parts of a value. `whole`: it has a kind, and its own parser reads pods and volumes."""
    found: Facts = {}
    waits = not whole and inner_mapping(value, "status").get("phase") == "Pending"
    for place, _ in zip(places(value), range(20_000), strict=False):
        if sum(map(len, found.values())) > MOST:
            break
        one = place.value
        if told_by := policy(one, place.kind, search_text(output, str(place.meta.get("name") or "devicePlugin"))):
            add(found, "cluster_policies", [told_by])
        if spec := pod_spec(one, place, whole=whole):
            add(found, "pod_templates", template(spec, place, output, about, waits=waits))
        elif allowance := allowance_of(place, value, output):
            add(found, "allowances", [allowance])
        elif not whole and isinstance(inner_mapping(one, "nodeAffinity").get("required"), dict) and ("claimRef" in one or "csi" in one):
            for kind, records in volume(one, place, output, about).items():
                add(found, kind, records)
        elif whole and place.kind == "PersistentVolume" and isinstance(one.get("claimRef"), dict):
            add(found, "claims", bound(one, str(place.meta.get("name") or ""), output))
    return found


def allowance_of(place: Place, root: Any, output: Output) -> Allowance | None:
    """The queue, the node pool or the group of pods that a mapping is the spec of, or the whole object."""
    one, kind, name = place.value, place.kind, str(place.meta.get("name") or "")
    status = inner_mapping(root, "status")
    if isinstance(one.get("resourceGroups"), list):
        return of_cluster_queue(one, status or inner_mapping(one, "status"), name, search_text(output, name or "coveredResources"))
    if kind == "NodePool" and isinstance(inner_mapping(one, "spec").get("limits"), dict):
        return of_node_pool(one["spec"], inner_mapping(one, "status"), name, search_text(output, name))
    if kind in ("", "Queue") and isinstance(one.get("capability"), dict):
        whole = {"running": 0, **status} if place.meta.get("uid") else status  # the API leaves out what is 0
        return of_volcano_queue(one, whole, name, search_text(output, name or "capability"))
    return of_group(one, Origin()) if kind in ("", "PodGroup") and isinstance(one.get("minResources"), dict) else None


def places(value: Any) -> Iterator[Place]:
    """All mappings inside a value, the outer ones first."""
    waiting = [(value, 0, Place({}, {}, "", {}, False))]
    while waiting:
        one, depth, above = waiting.pop(0)
        if isinstance(one, list):
            waiting += [(each, depth + 1, above) for each in one[:200]] if depth < DEPTH else []
        elif isinstance(one, dict):
            meta = inner_mapping(one, "metadata") or above.meta
            labels = {**above.labels, **{k: str(v) for k, v in inner_mapping(meta, "labels").items()}}
            suspended = above.suspended or one.get("suspend") is True
            place = Place(one, meta, str(one.get("kind") or above.kind), labels, suspended)
            yield place
            waiting += [(each, depth + 1, place) for each in one.values()] if depth < DEPTH else []


def inner_mapping(value: Any, key: str) -> dict[str, Any]:
    """A mapping inside a mapping, {} where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def pod_spec(one: dict[str, Any], place: Place, *, whole: bool) -> dict[str, Any]:
    """The spec of a pod that this mapping is or belongs to, {} for none."""
    if isinstance(one.get("containers"), list):
        return {} if whole and place.kind in ("Pod", "DaemonSet") else one
    if whole or place.kind or "nodeSelectorTerms" in one or "image" in one or "name" in one:
        return {}
    if one and one.keys() <= CHOICES.keys():
        return {**one, **({"affinity": {"nodeAffinity": one["nodeAffinity"]}} if "nodeAffinity" in one else {}), "containers": []}
    resources = inner_mapping(one, "resources")
    if inner_mapping(resources, "limits") or (
        inner_mapping(resources, "requests") and "storage" not in inner_mapping(resources, "requests")
    ):
        return {**one, "containers": [{"name": NAMELESS, "resources": resources}]}
    return {}


def template(spec: dict[str, Any], place: Place, output: Output, about: Subject, *, waits: bool) -> list[Fact]:
    """What a pod of this spec asks for."""
    named = place.meta if place.kind in ("", "Pod") else {}
    meta = {**named, "name": named.get("name") or about.pod or NAMELESS, "labels": place.labels}
    meta["namespace"] = place.meta.get("namespace") or about.namespace
    boxes = [box for box in spec["containers"] if isinstance(box, dict)]
    spec = {**spec, "containers": [{**box, "name": box.get("name") or NAMELESS} for box in boxes]}
    page = msgspec.json.encode({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    try:
        read = load("kubernetes.pods")(msgspec.structs.replace(output, pages=(page,), exit=0), about)
    except ParseError:
        return []
    asks = next((pod for pod in remove_placeholders(read).get("pods", []) if isinstance(pod, Pod)), None)
    if asks is None:
        return []
    shown = (SHOWN if boxes else {"namespace", *(CHOICES[key] for key in CHOICES.keys() & spec.keys())}) | ({"pod"} if asks.pod else set())
    asks = msgspec.structs.replace(asks, gaps=gaps(Pod, shown, CUT), phase="", status="", queue_name=place.labels.get(QUEUE_LABEL, ""))
    devices = any(isinstance(e, dict) and e.get("name") == "NVIDIA_VISIBLE_DEVICES" for box in boxes for e in box.get("env") or ())
    wants = (
        devices
        or asks.runtime_class == "nvidia"
        or any("gpu" in key or "accelerator" in key for key in asks.node_selector)
        or any("gpu" in one.key for one in asks.tolerations)
    )
    return [PodTemplate(asks=asks, waits=waits, suspended=place.suspended, wants_gpu=wants, origin=asks.origin)]


def volume(one: dict[str, Any], place: Place, output: Output, about: Subject) -> Facts:
    """A PersistentVolume without its kind, and the claim that it names."""
    name = str(place.meta.get("name") or inner_mapping(one, "csi").get("volumeHandle") or "volume")
    page = msgspec.json.encode({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": one})
    try:
        found = load("kubernetes.volumes")(msgspec.structs.replace(output, pages=(page,), exit=0), about)
    except ParseError:
        return {}
    found["claims"] = bound(one, name, output)
    return found


def bound(one: dict[str, Any], name: str, output: Output) -> list[Fact]:
    """The claim that a volume names."""
    ref = inner_mapping(one, "claimRef")
    if not isinstance(ref.get("name"), str):
        return []
    space = str(ref.get("namespace") or "")
    return [Claim(namespace=space, claim=ref["name"], phase="Bound", volume=name, origin=search_text(output, ref["name"]))]


def search_text(output: Output, text: str) -> Origin:
    """Where a part is looked up."""
    return Origin(output.origin_name(), 0, text)


def add(found: Facts, kind: str, records: list[Any]) -> None:
    """Add records of one kind."""
    if records:
        found.setdefault(kind, []).extend(records)
