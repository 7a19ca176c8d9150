# ruff: noqa: E501 - what is pasted has long lines
"""Words of tools that a person quotes in a sentence, and parts of answers: what they establish, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

SMI = """```
$ nvidia-smi -L
GPU 0: NVIDIA L40S (UUID: GPU-11111111-2222-3333-4444-555555555555)
```
"""
TWO_CONTAINERS = """```yaml
apiVersion: v1
kind: Pod
metadata:
  name: digits
spec:
  containers:
  - name: train
    resources: {limits: {nvidia.com/gpu: 1}}
  - name: show
    resources: {limits: {nvidia.com/gpu: 1}}
```
"""
ROLLOUT = """```
NAME                     READY   STATUS    RESTARTS   AGE
asr-5b8f6c9d74-7xkqp     1/1     Running   0          12d
asr-66c9b5f4d8-tq2zv     0/1     Pending   0          40m
```
"""
STATEFUL = """```
NAME     READY   STATUS    RESTARTS   AGE
asr-0    1/1     Running   0          12d
asr-1    0/1     Pending   0          40m
```
"""
DESCRIBED = """Name:                              asr
Namespace:                         ml
Reference:                         Deployment/asr
Metrics:                           ( current / target )
  "queue_len" (target value):  <unknown> / 30
Events:
  Type     Reason                   Age   From                       Message
  ----     ------                   ----  ----                       -------
  Warning  FailedGetExternalMetric  {age}   horizontal-pod-autoscaler  unable to get external metric ml/queue_len/nil: no metrics returned from external metrics API
"""
EXPORTER = """NAME            DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
dcgm-exporter   {wants}         {wants}         0       {wants}            0           {selector}          {age}
"""
OLD_NODE = """Capacity:
 alpha.kubernetes.io/nvidia-gpu:  {cards}
 cpu:                             8
 memory:                          32780000Ki
 pods:                            110
Allocatable:
 alpha.kubernetes.io/nvidia-gpu:  {cards}
 cpu:                             8
 memory:                          32680000Ki
 pods:                            110
"""
POOL = 'incompatible with nodepool "gpu", daemonset overhead={"cpu":"1"}, '

# What was pasted → the first cause; "?cause" = a candidate, and nothing is found; "" = nothing at all
LINES: dict[str, str] = {
    # a clause of the scheduler
    "The pod of the second model stays Pending, it says **volume node affinity conflict**.": "volume-node-affinity-conflict",
    "Scheduler: `node(s) had volume node affinity conflict`, since the disk moved": "volume-node-affinity-conflict",
    "All replicas wait: Insufficient nvidia.com/gpu. What now?": "?gpu-capacity-exhausted",
    "`node(s) had untolerated taint {nvidia.com/gpu: present}` is all that I get": "untolerated-taint",
    "There is no Insufficient nvidia.com/gpu any more": "",
    "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu": "?autoscaler-limit-reached",
    "kubectl get events | grep 'Insufficient nvidia.com/gpu'": "",
    # … beside pods of the same template, beside a machine, beside the whole message
    ROLLOUT + "The new one: `Insufficient nvidia.com/gpu`.": "gpu-capacity-exhausted",
    STATEFUL + "The second: `Insufficient nvidia.com/gpu`.": "gpu-capacity-exhausted",
    ROLLOUT.replace("Running", "Failed ") + "The new one: `Insufficient nvidia.com/gpu`.": "?gpu-capacity-exhausted",
    ROLLOUT.replace("asr-5b", "tts-5b") + "The new one: `Insufficient nvidia.com/gpu`.": "?device-plugin-not-running",
    "The message is Insufficient nvidia.com/gpu.\n" + SMI + TWO_CONTAINERS: "request-exceeds-node-size",
    "The message is Insufficient nvidia.com/gpu.\n"
    + SMI
    + TWO_CONTAINERS.replace("gpu: 1}}\n  - name: show", "gpu: 0}}\n  - name: show"): "?gpu-capacity-exhausted",
    # nodes that are down, among others that have no free GPU
    "0/5 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, 3 Insufficient nvidia.com/gpu.": "node-down",
    "0/5 nodes are available: 1 node(s) had taint {node.kubernetes.io/unreachable: }, that the pod didn't tolerate, 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 3 Insufficient nvidia.com/gpu.": "node-down",
    "0/5 nodes are available: 2 node(s) had untolerated taint {node.cilium.io/agent-not-ready: }, 3 Insufficient nvidia.com/gpu.": "?node-down",
    "0/5 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }, 2 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu.": "?node-down",
    # Karpenter's reasons in brackets
    POOL
    + "no instance type satisfied resources {} and requirements a In [b] (no instance type which met the scheduling requirements and had enough resources, had a required offering)": "?cloud-capacity-exhausted",
    POOL
    + "no instance type satisfied resources {} and requirements a In [b] (no instance type met the requirements/resources/offering tuple)": "?affinity-mismatch",
    POOL
    + "no instance type satisfied resources {} and requirements a In [b] (no instance type which met the scheduling requirements and the required offering had the required resources)": "autoscaler-overhead-miscount",
    POOL
    + "no instance type satisfied resources {} and requirements a In [b] (no instance type which had enough resources and the required offering met the scheduling requirements)": "autoscaler-overhead-miscount",
    POOL
    + 'did not tolerate nvidia.com/gpu=1:NoSchedule; incompatible with nodepool "web", daemonset overhead={"cpu":"1"}, incompatible requirements, label "eks.amazonaws.com/nodegroup" does not have known values': "?affinity-mismatch",
    POOL
    + 'did not tolerate nvidia.com/gpu=1:NoSchedule; incompatible with nodepool "web", daemonset overhead={"cpu":"1"}, incompatible requirements, label "card" does not have known values': "untolerated-taint",
    # an autoscaler that has had no value for long, and one that was just made
    DESCRIBED.format(age="25m"): "hpa-metric-unavailable",
    DESCRIBED.format(age="15s"): "",
    # an exporter that wants no pod: no selector keeps it away, and it was counted at once
    EXPORTER.format(wants=0, selector="<none>", age="9m"): "exporter-not-running",
    EXPORTER.format(wants=0, selector="pool=gpu", age="9m"): "",
    EXPORTER.format(wants=3, selector="<none>", age="9m"): "",
    # the taint of a pressure by its name
    "`kubectl describe pod` names a `disk-pressure` taint": "node-disk-pressure",
    "the node is tainted with node.kubernetes.io/disk-pressure": "node-disk-pressure",
    "we tolerate the `disk-pressure` taint in that DaemonSet": "",
    "there is no `disk-pressure` taint on it": "",
    # a container that was made before the driver was there; a part of the stack that needs none
    "nvidia driver modules are not yet loaded, invoking runc directly\nStarted host engine version 4.2.3 using port number: 5555\n": "runtime-not-injecting-driver",
    "Warning  FailedCreatePodSandBox  9s  kubelet  Failed to create pod sandbox: nvidia driver modules are not yet loaded, invoking runc directly: exit status 1": "",
    # the kubelet's own count of cards, up to 1.10
    OLD_NODE.format(cards=2): "device-plugin-not-running",
    OLD_NODE.format(cards=0): "",
}


@pytest.mark.parametrize(("text", "cause"), LINES.items())
def test_quoted(tmp_path: Path, text: str, cause: str) -> None:
    """Each text gives its cause, or a candidate, or nothing."""
    judge(diagnosed(tmp_path, text), cause)
