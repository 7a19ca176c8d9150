"""Objects of the API of which a part was cut out, and the pod templates inside whole ones: known by their shape, wherever they stand.

A pod's spec has `containers`, a queue of Kueue `resourceGroups`, a volume `nodeAffinity.required`, a NodePool of Karpenter `limits`
beside what it has made, a queue of Volcano `capability`, a PodGroup `minResources`. What is asked for is kept under the names of
`PRIVATE` until all texts are read: `analyze.inferred_facts` then lays it beside the nodes and queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Claim, Message, Pod
from gpudoctor.probes.base import Output
from gpudoctor.registry import load
from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders
from gpudoctor.tools.kubernetes.cluster_policy import policy
from gpudoctor.tools.kubernetes.pods import QUEUE_LABEL
from gpudoctor.tools.kubernetes.quantity import amounts
from gpudoctor.tools.parser import ParseError

DEPTH = 14  # levels that are looked into; a RayCluster's containers stand on the ninth
MOST = 50  # parts of one text
PRIVATE = ("pod_templates", "allowances", "policies", "storage_classes")
# What the spec of a pod shows.
SHOWN = {
    *("namespace", "images", "scheduler_name", "scheduling_gates", "runtime_class", "node_selector", "node_affinity", "tolerations"),
    *("requests", "gpus", "gpu_resources", "claims", "queue_name", "component", "deleting"),
}
# What alone is given of a pod that chooses its nodes → the field that it shows.
CHOICES = {"affinity": "node_affinity", "nodeAffinity": "node_affinity", "nodeSelector": "node_selector", "tolerations": "tolerations"}
CUT = "only a part of the object was given"


class PodTemplate(Fact, frozen=True, kw_only=True):
    """What a pod asks for, by a template or a part of its manifest."""

    asks: Pod
    without: dict[str, list[str]] = {}  # what some container doesn't state: limits, requests → names of resources that it lacks
    suspended: bool = False
    wants_gpu: bool = False  # it selects GPU nodes, tolerates their taint, or names devices


class Allowance(Fact, frozen=True, kw_only=True):
    """How much a queue or a node pool may hand out of each resource, and how much it has."""

    kind: str  # queue, nodepool; volcano, and group for what a PodGroup asks of one
    name: str = ""
    most: dict[str, int] = {}
    used: dict[str, int] = {}
    waiting: bool = False  # it says itself that something waits


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
    if not whole and inner_mapping(value, "status").get("phase") == "Pending":
        add(found, "messages", [Message(name="person_says_pending", source="status", origin=search_text(output, "phase: Pending"))])
    for place, _ in zip(places(value), range(20_000), strict=False):
        if sum(map(len, found.values())) > MOST:
            break
        one = place.value
        if told_by := policy(one, place.kind, search_text(output, str(place.meta.get("name") or "devicePlugin"))):
            add(found, "policies", [told_by])
        if spec := pod_spec(one, place, whole=whole):
            add(found, "pod_templates", template(spec, place, output, about))
        elif isinstance(one.get("resourceGroups"), list):
            add(found, "allowances", [queue(one, value, place, output)])
        elif place.kind == "NodePool" and isinstance(limits := inner_mapping(one, "spec").get("limits"), dict):
            used = amounts(flat_entries(inner_mapping(one, "status").get("resources")))
            name = str(place.meta.get("name") or "")
            add(
                found,
                "allowances",
                [Allowance(kind="nodepool", name=name, most=amounts(flat_entries(limits)), used=used, origin=search_text(output, name))],
            )
        elif place.kind in ("", "Queue") and isinstance(capability := one.get("capability"), dict):
            add(found, "allowances", [volcano_queue(flat_entries(capability), value, place, output)])
        elif place.kind in ("", "PodGroup") and isinstance(wanted := one.get("minResources"), dict):
            add(found, "allowances", [Allowance(kind="group", name=str(one.get("queue") or ""), most=amounts(flat_entries(wanted)))])
        elif not whole and isinstance(inner_mapping(one, "nodeAffinity").get("required"), dict) and ("claimRef" in one or "csi" in one):
            for kind, records in volume(one, place, output, about).items():
                add(found, kind, records)
        elif whole and place.kind == "PersistentVolume" and isinstance(one.get("claimRef"), dict):
            add(found, "claims", bound(one, str(place.meta.get("name") or ""), output))
    return found


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


def flat_entries(value: Any) -> dict[str, str]:
    """The entries of a resource list that are no lists themselves."""
    return {str(k): str(v) for k, v in value.items() if isinstance(v, (str, int, float))} if isinstance(value, dict) else {}


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


def template(spec: dict[str, Any], place: Place, output: Output, about: Subject) -> list[Fact]:
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
    lacks = {
        side: [name for name in ("cpu", "memory") if any(name not in inner_mapping(inner_mapping(box, "resources"), side) for box in boxes)]
        for side in ("limits", "requests")
    }
    devices = any(isinstance(e, dict) and e.get("name") == "NVIDIA_VISIBLE_DEVICES" for box in boxes for e in box.get("env") or ())
    wants = (
        devices
        or asks.runtime_class == "nvidia"
        or any("gpu" in key or "accelerator" in key for key in asks.node_selector)
        or any("gpu" in one.key for one in asks.tolerations)
    )
    return [PodTemplate(asks=asks, without=lacks, suspended=place.suspended, wants_gpu=wants, origin=asks.origin)]


def queue(one: dict[str, Any], root: Any, place: Place, output: Output) -> Allowance:
    """A ClusterQueue of Kueue: the nominal quota of all flavors, and what is reserved of it."""
    most: dict[str, int] = {}
    for group in one["resourceGroups"]:
        covered = group.get("coveredResources") if isinstance(group, dict) else None
        most |= dict.fromkeys((str(name) for name in covered if isinstance(name, str)), 0) if isinstance(covered, list) else {}
        for flavor in (group.get("flavors") or ()) if isinstance(group, dict) else ():
            add_up(most, inner_list(flavor, "resources"), "nominalQuota")
    status = inner_mapping(root, "status") or inner_mapping(one, "status")
    used: dict[str, int] = {}
    for flavor in inner_list(status, "flavorsReservation") or inner_list(status, "flavorsUsage"):
        add_up(used, inner_list(flavor, "resources"), "total")
    waiting = isinstance(status.get("pendingWorkloads"), int) and status["pendingWorkloads"] > 0
    name = str(place.meta.get("name") or "")
    return Allowance(kind="queue", name=name, most=most, used=used, waiting=waiting, origin=search_text(output, name or "coveredResources"))


def volcano_queue(capability: dict[str, str], root: Any, place: Place, output: Output) -> Allowance:
    """A queue of Volcano: what it may hand out, and what it has, {} where its status doesn't say."""
    status, name = inner_mapping(root, "status"), str(place.meta.get("name") or "")
    waiting = any(isinstance(count := status.get(phase), int) and count > 0 for phase in ("pending", "inqueue"))
    used = amounts(flat_entries(status.get("allocated")))
    return Allowance(
        kind="volcano", name=name, most=amounts(capability), used=used, waiting=waiting, origin=search_text(output, name or "capability")
    )


def inner_list(value: Any, key: str) -> list[Any]:
    """A list inside a mapping, [] where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def add_up(total: dict[str, int], rows: list[Any], key: str) -> None:
    """Add the amounts of rows `{name: cpu, nominalQuota: "400"}` in place."""
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            for name, amount in amounts(flat_entries({row["name"]: row.get(key)})).items():
                total[name] = total.get(name, 0) + amount


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
