"""What a claim's template, a registry's certificate, an autoscaler's log and a DaemonSet's affinity tell beside each other."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_cluster import device_claim, device_slice
from tests.kube.cases_pending import OWNER, case, nodes, pending, said
from tests.kube.cases_services import failing
from tests.kube.cases_stack import CRASHES, NODE, NS, stack
from tests.kube.objects import daemonset, job, node, pod

PULL = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"
UNMEASURED = '{"level":"info","msg":"No saturation metrics available for model, skipping analysis","modelID":"acme/llm-8b"}'
SKIPPED = '{"level":"info","msg":"Skipping pod that doesn\'t match any scale target","pod":"edge-proxy-0","scale targets":["decode"]}'
OF_VENDOR = {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}
PRESENT = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}


def demanding(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A node affinity of which any one expression is enough."""
    terms = [{"matchExpressions": [one]} for one in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def templated(state: str) -> Case:
    """Two pods that each get a claim of their own of one template; the other one is in this phase."""
    owner = job("train", gpus=0, active=2, age="20m")
    waiting, told = pending(said("3 cannot allocate all claims"), gpus=0, owner="Job/train")
    held = state == "Running"
    words = None if held else said("3 cannot allocate all claims")
    other = pod("train-1", node="gpu-01" if held else None, phase=state, owner="Job/train", unschedulable=words)
    for each in (waiting, other):
        each["metadata"]["labels"] = owner["spec"]["template"]["metadata"]["labels"]
        each["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    devices = [device_slice("gpu-0"), device_claim("train-1-gpu", "train-1")] if held else [device_slice("gpu-0")]
    return case([owner, waiting, told, other, *devices, *nodes()], command=OWNER)


CASES: dict[str, Case] = {
    "claims-of-one-template": templated("Running"),
    "claims-of-one-template-all-wait": templated("Pending"),
    "public-certificate": failing("image-cache-0", f'Get "https://quay.io/v2/": {PULL}', box="cache"),
    "own-certificate": failing("image-cache-0", f'Get "https://registry.corp.example/v2/": {PULL}', box="cache"),
    "autoscaler-model-unmeasured": failing("variant-autoscaler-0", SKIPPED, UNMEASURED, box="manager"),
    "autoscaler-model-once": failing("variant-autoscaler-0", UNMEASURED, box="manager"),
    "discovery-labels-demanded": stack(
        daemonset("gpu-dra-kubelet-plugin", NS, desired=0, affinity=demanding(OF_VENDOR, PRESENT)),
        on=node(NODE, gpus=0, labels={"kubernetes.azure.com/accelerator": "nvidia"}),
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
    ),
    "discovery-labels-of-other-vendor": stack(
        daemonset("rdma-shared-plugin", NS, desired=0, affinity=demanding({**OF_VENDOR, "key": "example.com/rdma"})),
        on=node(NODE, gpus=0, labels={"kubernetes.azure.com/accelerator": "nvidia"}),
        parts=("container_toolkit",),
        container_toolkit=CRASHES,
    ),
}
