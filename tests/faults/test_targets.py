"""Questions about what isn't there: nothing that was asked about means nothing that is healthy."""

from __future__ import annotations

from tests.faults.case import Fault, tried
from tests.kube import objects as build

CLUSTER = build.cluster(
    [
        build.namespace("ml"),
        build.node("gpu-01"),
        build.pod("train-0", ns="ml", node="gpu-01", phase="Running"),
    ]
)
HIDDEN = {**CLUSTER, "faults": [{"match": "GET /api/v1/nodes", "status": 403}]}
OF_NODES = (
    "diagnose node",
    *(f"run {book}" for book in ("gpu-use", "gpu-memory", "training-stall", "fabric", "nvlink-fabric", "node-health", "thermal-throttle")),
)

FAULTS = [
    Fault("a pod of a job that isn't there", "nccl --pod nope", 2, ['pod "nope" in namespace "ml" was not found'], cluster=CLUSTER),
    Fault("a pod of a job whose name is misspelt", "nccl --pod trian-0", 2, ["close to it: ml/train-0"], cluster=CLUSTER),
    Fault(
        "a job in a namespace that is misspelt",
        "nccl --pod train-0 -n nl",
        2,
        ['pod "train-0" in namespace "nl" was not found'],
        cluster=CLUSTER,
    ),
    Fault("a job that isn't there", "nccl --job nope", 2, ['job "nope" in namespace "ml" was not found'], cluster=CLUSTER),
    Fault(
        "labels that no pod has",
        "nccl -l app=nope",
        2,
        ['a pod with the labels "app=nope" in namespace "ml" was not found'],
        cluster=CLUSTER,
    ),
    Fault(
        "settings of a pod that isn't there", "nccl --env --pod nope", 2, ['pod "nope" in namespace "ml" was not found'], cluster=CLUSTER
    ),
    Fault("settings of labels that no pod has", "nccl --env -l app=nope", 2, ['a pod with the labels "app=nope"'], cluster=CLUSTER),
    Fault("a pod that isn't there", "diagnose pod nope", 2, ['pod "nope" in namespace "ml" was not found'], cluster=CLUSTER),
    Fault("an owner that isn't there", "diagnose pod job/nope", 2, ['job "nope" in namespace "ml" was not found'], cluster=CLUSTER),
    *(
        Fault(
            f"labels that no node has, {words}", f"{words} -l typo=x", 2, ['a node with the labels "typo=x" was not found'], cluster=CLUSTER
        )
        for words in OF_NODES
    ),
    *(
        Fault(f"labels of nodes that may not be read, {words}", f"{words} -l typo=x", 3, ["nodes is forbidden"], cluster=HIDDEN)
        for words in ("diagnose node", "run fabric")
    ),
    Fault(
        "a job whose pods may not be read",
        "nccl --pod nope",
        3,
        ["forbidden"],
        cluster={**CLUSTER, "faults": [{"match": "/pods", "status": 403}]},
    ),
]
test_fault = tried(FAULTS)
