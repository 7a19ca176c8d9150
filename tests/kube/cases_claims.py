"""Pods that each get a claim of their own of one template."""

from __future__ import annotations

from tests.kube.case import Case
from tests.kube.cases_cluster import device_claim, device_slice
from tests.kube.cases_pending import OWNER, case, nodes, pending, said
from tests.kube.objects import job, pod


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
}
