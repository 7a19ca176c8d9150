"""The kinds the server knows, and the discovery documents made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tests.kube.shapes import lean


class Resource(NamedTuple):
    """One kind. `api` is the apiVersion (`v1`, `apps/v1`); items of a built-in list carry neither kind nor apiVersion, custom ones do."""

    api: str
    kind: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    custom: bool = False

    @property
    def group(self) -> str:
        """The API group, "" for core/v1."""
        return self.api.rpartition("/")[0]

    @property
    def full(self) -> str:
        """How error messages name it: `pods`, `daemonsets.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


BUILT_IN = (
    Resource("v1", "ConfigMap", "configmaps", short=("cm",)),
    Resource("v1", "Endpoints", "endpoints", short=("ep",)),
    Resource("v1", "Event", "events", short=("ev",)),
    Resource("v1", "Namespace", "namespaces", False, ("ns",)),
    Resource("v1", "Node", "nodes", False, ("no",)),
    Resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims", short=("pvc",)),
    Resource("v1", "PersistentVolume", "persistentvolumes", False, ("pv",)),
    Resource("v1", "Pod", "pods", short=("po",)),
    Resource("v1", "ResourceQuota", "resourcequotas", short=("quota",)),
    Resource("v1", "LimitRange", "limitranges", short=("limits",)),
    Resource("v1", "Secret", "secrets"),
    Resource("v1", "ServiceAccount", "serviceaccounts", short=("sa",)),
    Resource("v1", "Service", "services", short=("svc",)),
    Resource("apps/v1", "DaemonSet", "daemonsets", short=("ds",)),
    Resource("apps/v1", "Deployment", "deployments", short=("deploy",)),
    Resource("apps/v1", "ReplicaSet", "replicasets", short=("rs",)),
    Resource("apps/v1", "StatefulSet", "statefulsets", short=("sts",)),
    Resource("batch/v1", "CronJob", "cronjobs", short=("cj",)),
    Resource("batch/v1", "Job", "jobs"),
    Resource("coordination.k8s.io/v1", "Lease", "leases"),
    Resource("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    Resource("events.k8s.io/v1", "Event", "events", short=("ev",)),
    Resource("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", False),
    Resource("resource.k8s.io/v1", "DeviceClass", "deviceclasses", False),
    Resource("resource.k8s.io/v1", "ResourceClaim", "resourceclaims"),
    Resource("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates"),
    Resource("resource.k8s.io/v1", "ResourceSlice", "resourceslices", False),
    Resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", False, ("pc",)),
    Resource("storage.k8s.io/v1", "StorageClass", "storageclasses", False, ("sc",)),
)
CUSTOM = (
    Resource("batch.volcano.sh/v1alpha1", "Job", "jobs", True, ("vcjob", "vj"), True),
    Resource("karpenter.sh/v1", "NodePool", "nodepools", False, (), True),
    Resource("kubeflow.org/v1", "MPIJob", "mpijobs", True, (), True),
    Resource("kubeflow.org/v1", "PyTorchJob", "pytorchjobs", True, (), True),
    Resource("kueue.x-k8s.io/v1beta1", "ClusterQueue", "clusterqueues", False, ("cq",), True),
    Resource("kueue.x-k8s.io/v1beta1", "LocalQueue", "localqueues", True, ("queue", "queues", "lq"), True),
    Resource("kueue.x-k8s.io/v1beta1", "ResourceFlavor", "resourceflavors", False, ("flavor", "flavors", "rf"), True),
    Resource("kueue.x-k8s.io/v1beta1", "Workload", "workloads", True, ("wl",), True),
    Resource("nvidia.com/v1", "ClusterPolicy", "clusterpolicies", False, (), True),
    Resource("nvidia.com/v1alpha1", "NVIDIADriver", "nvidiadrivers", False, ("nvd",), True),
    Resource("ray.io/v1", "RayCluster", "rayclusters", True, (), True),
    Resource("ray.io/v1", "RayJob", "rayjobs", True, (), True),
    Resource("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups", True, ("pg",), True),
    Resource("scheduling.volcano.sh/v1beta1", "Queue", "queues", False, ("q",), True),
)
SUBRESOURCES = (("pods/log", "Pod", ["get"]), ("pods/exec", "PodExecOptions", ["create", "get"]))
REVIEWS = "authorization.k8s.io/v1"


def resource_of(obj: Mapping[str, Any]) -> Resource:
    """The resource of an object that no table row covers; its plural is guessed the way English (and most CRDs) form it."""
    kind = str(obj["kind"])
    word = kind.lower()
    plural = word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith("s") else "s")
    return Resource(str(obj["apiVersion"]), kind, plural, bool(obj["metadata"].get("namespace")), custom=True)


def discovery(resources: Iterable[Resource], url: str) -> dict[str, dict[str, Any]]:
    """Path → document: /api, /apis, /api/v1 and one for every group and version, in the oldest form that every client understands."""
    apis: dict[str, list[dict[str, Any]]] = {REVIEWS: [review()]}
    for each in resources:
        apis.setdefault(each.api, []).append(describe(each))
    apis["v1"] += [
        {"name": name, "singularName": "", "namespaced": True, "kind": kind, "verbs": verbs} for name, kind, verbs in SUBRESOURCES
    ]
    documents: dict[str, dict[str, Any]] = {}
    for api, rows in apis.items():
        path = f"/apis/{api}" if "/" in api else f"/api/{api}"
        documents[path] = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api, "resources": rows}
    groups: dict[str, list[dict[str, str]]] = {}
    for api in apis:
        group, _, version = api.rpartition("/")
        if group:
            groups.setdefault(group, []).append({"groupVersion": api, "version": version})
    listed = [{"name": group, "versions": versions, "preferredVersion": versions[0]} for group, versions in groups.items()]
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": url.removeprefix("https://")}]
    documents["/api"] = {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
    documents["/apis"] = {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
    documents |= {f"/apis/{group['name']}": {"kind": "APIGroup", "apiVersion": "v1", **group} for group in listed}
    return documents


def describe(resource: Resource) -> dict[str, Any]:
    """One row of an APIResourceList."""
    row = lean(name=resource.plural, singularName=resource.kind.lower(), namespaced=resource.namespaced, kind=resource.kind)
    return row | lean(verbs=["get", "list"], shortNames=list(resource.short))


def review() -> dict[str, Any]:
    """What `kubectl auth can-i` posts to."""
    return {
        "name": "selfsubjectaccessreviews",
        "singularName": "selfsubjectaccessreview",
        "namespaced": False,
        "kind": "SelfSubjectAccessReview",
        "verbs": ["create"],
    }
