"""The words for resources that `kubectl get` takes, and where the API serves them."""

from __future__ import annotations

from typing import NamedTuple


class Resource(NamedTuple):
    """A resource of the API. `version` is "" where clusters differ: the server's preferred version is then asked for."""

    plural: str
    group: str = ""  # "" is the core group
    version: str = "v1"
    namespaced: bool = True

    @property
    def root(self) -> str:
        """The path that the resource's group and version are served under."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


PODS = Resource("pods")

# Resource → the words for it besides its plural and `plural.group`. Built-in resources have had these versions since Kubernetes 1.21
# (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_api-resources/); those of operators are asked for.
_WORDS: tuple[tuple[Resource, str], ...] = (
    (PODS, "po pod"),
    (Resource("nodes", namespaced=False), "no node"),
    (Resource("namespaces", namespaced=False), "ns namespace"),
    (Resource("events"), "ev event"),
    (Resource("services"), "svc service"),
    (Resource("endpoints"), "ep"),
    (Resource("configmaps"), "cm configmap"),
    (Resource("serviceaccounts"), "sa serviceaccount"),
    (Resource("limitranges"), "limits limitrange"),
    (Resource("resourcequotas"), "quota resourcequota"),
    (Resource("persistentvolumeclaims"), "pvc persistentvolumeclaim"),
    (Resource("persistentvolumes", namespaced=False), "pv persistentvolume"),
    (Resource("daemonsets", "apps"), "ds daemonset"),
    (Resource("deployments", "apps"), "deploy deployment"),
    (Resource("replicasets", "apps"), "rs replicaset"),
    (Resource("statefulsets", "apps"), "sts statefulset"),
    (Resource("jobs", "batch"), "job"),
    (Resource("cronjobs", "batch"), "cj cronjob"),
    (Resource("storageclasses", "storage.k8s.io", namespaced=False), "sc storageclass"),
    (Resource("volumeattachments", "storage.k8s.io", namespaced=False), "volumeattachment"),
    (Resource("csinodes", "storage.k8s.io", namespaced=False), "csinode"),
    (Resource("runtimeclasses", "node.k8s.io", namespaced=False), "runtimeclass"),
    (Resource("priorityclasses", "scheduling.k8s.io", namespaced=False), "pc priorityclass"),
    (Resource("poddisruptionbudgets", "policy"), "pdb poddisruptionbudget"),
    (Resource("networkpolicies", "networking.k8s.io"), "netpol networkpolicy"),
    (Resource("endpointslices", "discovery.k8s.io"), "endpointslice"),
    (Resource("leases", "coordination.k8s.io"), "lease"),
    (Resource("apiservices", "apiregistration.k8s.io", namespaced=False), "apiservice"),
    (Resource("customresourcedefinitions", "apiextensions.k8s.io", namespaced=False), "crd crds customresourcedefinition"),
    (Resource("resourceclaims", "resource.k8s.io", ""), "resourceclaim"),
    (Resource("resourceclaimtemplates", "resource.k8s.io", ""), "resourceclaimtemplate"),
    (Resource("resourceslices", "resource.k8s.io", "", namespaced=False), "resourceslice"),
    (Resource("deviceclasses", "resource.k8s.io", "", namespaced=False), "deviceclass"),
    (Resource("pytorchjobs", "kubeflow.org", ""), "pytorchjob"),
    (Resource("tfjobs", "kubeflow.org", ""), "tfjob"),
    (Resource("mpijobs", "kubeflow.org", ""), "mpijob"),
    (Resource("notebooks", "kubeflow.org", ""), "notebook"),
    (Resource("trainjobs", "trainer.kubeflow.org", ""), "trainjob"),
    (Resource("rayclusters", "ray.io", ""), "raycluster"),
    (Resource("rayjobs", "ray.io", ""), "rayjob"),
    (Resource("rayservices", "ray.io", ""), "rayservice"),
    (Resource("jobsets", "jobset.x-k8s.io", ""), "jobset"),
    (Resource("leaderworkersets", "leaderworkerset.x-k8s.io", ""), "lws leaderworkerset"),
    (Resource("workloads", "kueue.x-k8s.io", ""), "wl workload"),
    (Resource("localqueues", "kueue.x-k8s.io", ""), "localqueue"),
    (Resource("clusterqueues", "kueue.x-k8s.io", "", namespaced=False), "clusterqueue"),
    (Resource("resourceflavors", "kueue.x-k8s.io", "", namespaced=False), "resourceflavor"),
    (Resource("clusterpolicies", "nvidia.com", "", namespaced=False), "clusterpolicy"),
    (Resource("nvidiadrivers", "nvidia.com", "", namespaced=False), "nvidiadriver"),
    (Resource("computedomains", "resource.nvidia.com", ""), "computedomain"),
    (Resource("servicemonitors", "monitoring.coreos.com", ""), "smon servicemonitor"),
    (Resource("podmonitors", "monitoring.coreos.com", ""), "pmon podmonitor"),
    (Resource("prometheuses", "monitoring.coreos.com", ""), "prom prometheus"),
    (Resource("prometheusrules", "monitoring.coreos.com", ""), "promrule prometheusrule"),
)

RESOURCES: dict[str, Resource] = {
    word: resource
    for resource, words in _WORDS
    for word in (resource.plural, f"{resource.plural}.{resource.group}".rstrip("."), *words.split())
}
