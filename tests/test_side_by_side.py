# ruff: noqa: E501 - what is pasted has long lines
"""Objects of which a part was shown, laid side by side: pods and nodes, claims and volumes, queues, the operator's policy and the node.

Beside what tells a cause stands what looks like it and is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import sliced
from tests.pasted import diagnosed, judge

# The first cause, "?cause" for a candidate and nothing found, "" for nothing at all → the texts
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "columns of pods and nodes": (
        "gpu-capacity-exhausted",
        (
            r"""$ kubectl get pods -A -o custom-columns='NS:.metadata.namespace,NAME:.metadata.name,NODE:.spec.nodeName,PHASE:.status.phase,GPU:.spec.containers[*].resources.limits.nvidia\.com/gpu' | grep -v '<none>$'
NS       NAME               NODE     PHASE     GPU
infer    vllm-llama-0       gpu-a1   Running   4
infer    vllm-qwen-0        gpu-a1   Running   4
train    sft-run-7-0        gpu-a2   Running   8
train    sft-run-8-0        <none>   Pending   8
$ kubectl get nodes -o custom-columns='NODE:.metadata.name,GPU:.status.allocatable.nvidia\.com/gpu'
NODE     GPU
gpu-a1   8
gpu-a2   8
""",
        ),
    ),
    "a node and a pod below it": (
        "gpu-capacity-exhausted",
        (
            """\
Capacity:
  cpu:                96
  memory:             1056316756Ki
  nvidia.com/gpu:     8
  pods:               110
Allocatable:
  cpu:                95500m
  memory:             1050025300Ki
  nvidia.com/gpu:     8
  pods:               110
Non-terminated Pods:          (4 in total)
  Namespace                   Name                     CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----                     ------------  ----------  ---------------  -------------  ---
  kube-system                 kube-proxy-fj2rk         0 (0%)        0 (0%)      0 (0%)           0 (0%)         91d
  research                    bert-big-0               32 (33%)      32 (33%)    256Gi (25%)      256Gi (25%)    9d
  research                    diffusion-sweep-3        32 (33%)      32 (33%)    256Gi (25%)      256Gi (25%)    2d
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests     Limits
  --------           --------     ------
  cpu                64 (67%)     64 (67%)
  memory             512Gi (51%)  512Gi (51%)
  nvidia.com/gpu     8            8
Events:              <none>

NAME                 READY   STATUS    RESTARTS   AGE     IP       NODE     NOMINATED NODE   READINESS GATES
diffusion-sweep-4    0/1     Pending   0          3h12m   <none>   <none>   <none>           <none>
""",
        ),
    ),
    "short of GPUs here, of memory there": (
        "combined-resource-shortage",
        (
            """\
Events:
  Type     Reason            Age    From               Message
  ----     ------            ----   ----               -------
  Warning  FailedScheduling  8m21s  default-scheduler  0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu, 2 Insufficient memory. preemption: 0/5 nodes are available: 1 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod.
""",
        ),
    ),
    "a selector beside -L": (
        "affinity-mismatch",
        (
            """\
$ kubectl get pod ocr-7 -n docs -o jsonpath='{.spec.nodeSelector}'
{"accelerator":"nvidia-a100","nvidia.com/gpu.present":"true"}
$ kubectl get nodes -L accelerator,nvidia.com/gpu.product
NAME      STATUS   ROLES           AGE    VERSION   ACCELERATOR   GPU.PRODUCT
cp-0      Ready    control-plane   200d   v1.30.4
gpu-w-0   Ready    <none>          180d   v1.30.4                 NVIDIA-A100-SXM4-80GB
gpu-w-1   Ready    <none>          180d   v1.30.4                 NVIDIA-A100-SXM4-80GB
$ kubectl get pods -n docs
NAME    READY   STATUS    RESTARTS   AGE
ocr-7   0/1     Pending   0          22m
""",
        ),
    ),
    "an affinity beside columns": (
        "affinity-mismatch",
        (
            r"""$ kubectl get pod ft-0 -o yaml | grep -A12 affinity:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - key: nvidia.com/gpu.product
            operator: In
            values:
            - NVIDIA-H100-80GB-HBM3
$ kubectl get nodes -o custom-columns='NAME:.metadata.name,PRODUCT:.metadata.labels.nvidia\.com/gpu\.product'
NAME    PRODUCT
n1      NVIDIA-H100-PCIe
n2      NVIDIA-H100-PCIe
cpu-1   <none>
$ kubectl get pod ft-0
NAME   READY   STATUS    RESTARTS   AGE
ft-0   0/1     Pending   0          9m
""",
        ),
    ),
    "a selector and labels, no phase": (
        "?affinity-mismatch",
        (
            """\
Node-Selectors:              gpu-type=l40s
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
                             nvidia.com/gpu:NoSchedule op=Exists
$ kubectl get nodes --show-labels
NAME       STATUS   ROLES    AGE   VERSION   LABELS
worker-a   Ready    <none>   31d   v1.29.6   kubernetes.io/hostname=worker-a,kubernetes.io/os=linux,gpu-type=L40S,nvidia.com/gpu.count=4,nvidia.com/gpu.present=true
worker-b   Ready    <none>   31d   v1.29.6   kubernetes.io/hostname=worker-b,kubernetes.io/os=linux
""",
        ),
    ),
    "a quota of memory, a Deployment without": (
        "quota-requires-limits",
        (
            """\
NAME          AGE   REQUEST                            LIMIT
team-limits   5d    requests.nvidia.com/gpu: 0/8, requests.memory: 0/1Ti   limits.memory: 0/1Ti
NAME      READY   UP-TO-DATE   AVAILABLE   AGE
captions  0/1     0            0           7m
apiVersion: apps/v1
kind: Deployment
metadata:
  name: captions
  namespace: media
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: c
        image: reg/captions:2
        resources:
          limits:
            nvidia.com/gpu: 1
""",
        ),
    ),
    "a sum over containers": (
        "request-exceeds-node-size",
        (
            """\
spec:
  containers:
  - name: a
    resources:
      limits:
        nvidia.com/gpu: 3
  - name: b
    resources:
      limits:
        nvidia.com/gpu: 3
status:
  phase: Pending
---
Allocatable:
  cpu:                63
  memory:             250Gi
  nvidia.com/gpu:     4
  pods:               110
""",
        ),
    ),
    "taints and tolerations": (
        "untolerated-taint",
        (
            """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
NAME     TAINTS
cp-0     [map[effect:NoSchedule key:node-role.kubernetes.io/control-plane]]
gpu-0    [map[effect:NoSchedule key:dedicated value:research]]
gpu-1    [map[effect:NoSchedule key:dedicated value:research]]
$ kubectl get pod nb-0 -o jsonpath='{.spec.tolerations}'
[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300},{"effect":"NoExecute","key":"node.kubernetes.io/unreachable","operator":"Exists","tolerationSeconds":300}]
$ kubectl get pod nb-0
NAME   READY   STATUS    RESTARTS   AGE
nb-0   0/1     Pending   0          14m
""",
        ),
    ),
    "the one node and its taint": (
        "untolerated-taint",
        (
            """\
$ kubectl describe node gpu-0 | grep -i taint
Taints:             gpu=reserved:NoSchedule
$ kubectl describe pod nb-1
Name:             nb-1
Namespace:        lab
Node:             <none>
Status:           Pending
Containers:
  nb:
    Limits:
      nvidia.com/gpu:  1
Node-Selectors:              kubernetes.io/hostname=gpu-0
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
                             nvidia.com/gpu:NoSchedule op=Exists
Events:                      <none>
""",
        ),
    ),
    "a full queue, all pods ended": (
        "volcano-stale-podgroups",
        (
            """\
$ kubectl get podgroups.scheduling.volcano.sh -A
NAMESPACE   NAME          STATUS      MINMEMBER   RUNNINGS   AGE
ml          podgroup-a1   Running     4                      19d
ml          podgroup-b2   Running     4                      12d
ml          podgroup-c3   Pending     2                      22m
$ kubectl get pods -n ml
NAME            READY   STATUS      RESTARTS   AGE
job-a-task-0    0/1     Completed   0          19d
job-a-task-1    0/1     Completed   0          19d
job-b-task-0    0/1     Completed   0          12d
job-c-task-0    0/1     Pending     0          22m
$ kubectl get queue default -o yaml
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: default
spec:
  weight: 1
  capability:
    nvidia.com/gpu: "8"
status:
  allocated:
    cpu: "64"
    nvidia.com/gpu: "8"
  state: Open
""",
        ),
    ),
    "a full queue": (
        "quota-exceeded",
        (
            """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: team-a
spec:
  weight: 1
  capability:
    cpu: "128"
    nvidia.com/gpu: "8"
  reclaimable: true
status:
  allocated:
    cpu: "64"
    memory: 512Gi
    nvidia.com/gpu: "8"
  pending: 1
  running: 1
  state: Open
---
NAME        STATUS    MINMEMBER   RUNNINGS   AGE
train-big   Pending   1                      33m
""",
        ),
    ),
    "a volume in another zone": (
        "volume-node-affinity-conflict",
        (
            """\
$ kubectl get pv pvc-77 -o yaml
apiVersion: v1
kind: PersistentVolume
metadata:
  name: pvc-77
spec:
  capacity:
    storage: 500Gi
  claimRef:
    name: data-ft-0
    namespace: ml
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - key: topology.kubernetes.io/zone
          operator: In
          values:
          - eu-west-1a
status:
  phase: Bound
$ kubectl get nodes -L topology.kubernetes.io/zone -l nvidia.com/gpu.present=true
NAME     STATUS   ROLES    AGE   VERSION   ZONE
gpu-z1   Ready    <none>   30d   v1.30.0   eu-west-1b
gpu-z2   Ready    <none>   30d   v1.30.0   eu-west-1c
$ kubectl get pods -n ml
NAME   READY   STATUS    RESTARTS   AGE
ft-0   0/1     Pending   0          16m
""",
        ),
    ),
    "a storage class that is not there": (
        "pvc-unbound",
        (
            """\
$ kubectl get pvc -n ml
NAME        STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   VOLUMEATTRIBUTESCLASS   AGE
ckpt-ft-0   Pending                                      fast-nvme      <unset>                 40m
$ kubectl get sc
NAME                 PROVISIONER             RECLAIMPOLICY   VOLUMEBINDINGMODE      ALLOWVOLUMEEXPANSION   AGE
standard (default)   rancher.io/local-path   Delete          WaitForFirstConsumer   false                  90d
$ kubectl get pods -n ml
NAME   READY   STATUS    RESTARTS   AGE
ft-0   0/1     Pending   0          40m
""",
        ),
    ),
    "a described claim": (
        "?pvc-unbound",
        (
            """\
Name:          ckpt
Namespace:     ml
StorageClass:  nfs-client
Status:        Pending
Volume:
Labels:        <none>
Capacity:
Access Modes:
VolumeMode:    Filesystem
Used By:       ft-0
Events:        <none>
""",
        ),
    ),
    "a group at its maximum": (
        "?autoscaler-limit-reached",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-autoscaler-status
  namespace: kube-system
data:
  status: |
    time: 2026-03-01 10:10:22.123 +0000 UTC
    autoscalerStatus: Running
    clusterWide:
      health:
        status: Healthy
      scaleUp:
        status: NoActivity
    nodeGroups:
    - name: eks-gpu-a10g-7ac3
      health:
        status: Healthy
        nodeCounts:
          registered:
            total: 4
            ready: 4
        cloudProviderTarget: 4
        minSize: 0
        maxSize: 4
      scaleUp:
        status: NoActivity
""",
            """\
NAME     READY   STATUS    RESTARTS   AGE
gen-3    0/1     Pending   0          24m
""",
        ),
    ),
    "a GPU image without a GPU": (
        "?gpu-not-requested",
        (
            """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.6.3
        args: ["--model", "mistralai/Mistral-7B-Instruct-v0.3", "--gpu-memory-utilization", "0.9"]
        resources:
          limits:
            cpu: "16"
            memory: 64Gi
""",
        ),
    ),
    "MIG mode and a list without instances": (
        "mig-enabled-without-instances",
        (
            """\
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-11111111-2222-3333-4444-555555555555)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-21111111-2222-3333-4444-555555555555)
$ nvidia-smi --query-gpu=index,mig.mode.current --format=csv
index, mig.mode.current
0, Enabled
1, Enabled
""",
        ),
    ),
    "slices under none": (
        "mig-strategy-mismatch",
        (
            """\
$ kubectl get clusterpolicy cluster-policy -o jsonpath='{.spec.mig.strategy}'
none
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-51111111-2222-3333-4444-555555555555)
  MIG 2g.10gb     Device  0: (UUID: MIG-01111111-2222-3333-4444-555555555555)
  MIG 2g.10gb     Device  1: (UUID: MIG-02111111-2222-3333-4444-555555555555)
  MIG 2g.10gb     Device  2: (UUID: MIG-03111111-2222-3333-4444-555555555555)
$ kubectl get node w3 -o jsonpath='{.status.allocatable}' | jq .
{
  "cpu": "64",
  "memory": "527000000Ki",
  "nvidia.com/gpu": "1",
  "pods": "110"
}
""",
        ),
    ),
    "labels of none": (
        "mig-strategy-mismatch",
        (
            """\
Labels:             kubernetes.io/hostname=w3
                    nvidia.com/gpu.count=1
                    nvidia.com/gpu.present=true
                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB
                    nvidia.com/mig.capable=true
                    nvidia.com/mig.config=all-2g.10gb
                    nvidia.com/mig.config.state=success
                    nvidia.com/mig.strategy=none
Capacity:
  cpu:                64
  nvidia.com/gpu:     1
Allocatable:
  cpu:                64
  nvidia.com/gpu:     1
""",
        ),
    ),
    "a plugin with no ready pod": (
        "device-plugin-not-running",
        (
            """\
$ kubectl get ds -n nvidia-device-plugin
NAME                                         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR               AGE
nvdp-nvidia-device-plugin                    3         3         0       3            0           <none>                      20m
nvdp-nvidia-device-plugin-mps-control-daemon 0         0         0       0            0           nvidia.com/mps.capable=true 20m
""",
        ),
    ),
    "values with an option one level up": (
        "sharing-config-mismatch",
        (
            """\
config:
  map:
    default: |-
      version: v1
      sharing:
        timeSlicing:
          renameByDefault: false
        resources:
        - name: nvidia.com/gpu
          replicas: 10
  default: default
""",
        ),
    ),
    "a ConfigMap of another name": (
        "time-slicing-config-not-applied",
        (
            """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: gpu-cluster-policy
spec:
  devicePlugin:
    config:
      name: ts-configs
      default: any
    enabled: true
""",
            sliced("time-slicing-config-all", 8),
        ),
    ),
    "a card on the bus, no plugin": (
        "device-plugin-not-running",
        (
            """\
$ kubectl get nodes -o json | jq '.items[].status.capacity'
{
  "cpu": "64",
  "ephemeral-storage": "1843269256Ki",
  "hugepages-1Gi": "0",
  "hugepages-2Mi": "0",
  "memory": "527988040Ki",
  "pods": "110"
}
$ lspci | grep -i nvidia
17:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 80GB] (rev a1)
$ kubectl get ds -A
NAMESPACE     NAME          DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR            AGE
kube-system   calico-node   3         3         3       3            3           kubernetes.io/os=linux   8d
kube-system   kube-proxy    3         3         3       3            3           kubernetes.io/os=linux   8d
""",
        ),
    ),
    "a plugin switched off by a label": (
        "device-plugin-not-running",
        (
            r"""$ kubectl get node w-7 -o jsonpath='{.metadata.labels}' | tr ',' '\n' | grep deploy
"nvidia.com/gpu.deploy.container-toolkit":"true"
"nvidia.com/gpu.deploy.dcgm-exporter":"true"
"nvidia.com/gpu.deploy.device-plugin":"false"
"nvidia.com/gpu.deploy.driver":"true"
$ kubectl get node w-7 -o jsonpath='{.status.allocatable}'
{"cpu":"32","ephemeral-storage":"452Gi","memory":"131Gi","pods":"110"}
""",
        ),
    ),
    "a driver and no plugin behind a taint": (
        "device-plugin-repelled-by-taint",
        (
            r"""$ kubectl get pods -n gpu-operator -o wide | grep gpu-9
nvidia-driver-daemonset-5x7lk                  1/1   Running   0   4h   10.1.3.4   gpu-9   <none>   <none>
$ kubectl get pods -n gpu-operator -o wide | grep device-plugin
nvidia-device-plugin-daemonset-2jkw8           1/1   Running   0   4h   10.1.2.4   gpu-8   <none>   <none>
$ kubectl get node gpu-9 -o jsonpath='{.spec.taints}'
[{"effect":"NoSchedule","key":"reserved-for","value":"batch"}]
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
NAME    GPU
gpu-8   4
gpu-9   <none>
""",
        ),
    ),
    "a booked GPU that is gone": (
        "kubelet-device-manager-stale-state",
        (
            """\
$ kubectl describe node g5 | grep -A30 'Allocatable:'
Allocatable:
  cpu:                16
  memory:             64Gi
  nvidia.com/gpu:     0
  pods:               110
$ kubectl logs -n kube-system nvidia-device-plugin-daemonset-q2w3e --tail=5
I0301 10:00:01.000000       1 server.go:197] Starting GRPC server for 'nvidia.com/gpu'
I0301 10:00:01.200000       1 server.go:148] Registered device plugin for 'nvidia.com/gpu' with Kubelet
$ sudo cat /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint
{"Data":{"PodDeviceEntries":[{"PodUID":"4d1c0d5c-aaaa-4bbb-8ccc-1d2e3f405162","ContainerName":"main","ResourceName":"nvidia.com/gpu","DeviceIDs":{"-1":["GPU-0aaaaaaa-1111-2222-3333-444444444444"]},"AllocResp":"CkIK"}],"RegisteredDevices":{"nvidia.com/gpu":[]}},"Checksum":1234}
$ nvidia-smi -L
GPU 0: NVIDIA A30 (UUID: GPU-0bbbbbbb-1111-2222-3333-444444444444)
""",
        ),
    ),
    "a gate on the kubelet command line": (
        "kubelet-device-plugin-support-disabled",
        (
            """\
$ ps aux | grep kubelet
root 900 2.0 0.1 1 1 ? Ssl 09:00 1:00 /usr/bin/kubelet --kubeconfig=/etc/kubernetes/kubelet.conf --feature-gates=DevicePlugins=false
$ kubectl get nodes
NAME   STATUS   ROLES    AGE   VERSION
g9     Ready    <none>   10d   v1.9.3
""",
        ),
    ),
    "q-mig-mixed": (
        "",
        (
            """\
$ kubectl get clusterpolicy cluster-policy -o jsonpath='{.spec.mig.strategy}'
mixed
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-51111111-2222-3333-4444-555555555555)
  MIG 2g.10gb     Device  0: (UUID: MIG-01111111-2222-3333-4444-555555555555)
  MIG 3g.20gb     Device  1: (UUID: MIG-02111111-2222-3333-4444-555555555555)
$ kubectl get node w3 -o jsonpath='{.status.allocatable}' | jq .
{
  "cpu": "64",
  "memory": "527000000Ki",
  "nvidia.com/gpu": "0",
  "nvidia.com/mig-2g.10gb": "1",
  "nvidia.com/mig-3g.20gb": "1",
  "pods": "110"
}
""",
        ),
    ),
    "q-none-nomig": (
        "",
        (
            """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: cluster-policy
spec:
  devicePlugin:
    enabled: true
  mig:
    strategy: none
status:
  state: ready
""",
            """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-51111111-2222-3333-4444-555555555555)
""",
            """\
Labels:             nvidia.com/gpu.count=1
                    nvidia.com/mig.capable=true
                    nvidia.com/mig.config=all-disabled
                    nvidia.com/mig.config.state=success
                    nvidia.com/mig.strategy=none
Capacity:
  cpu:                64
  nvidia.com/gpu:     1
Allocatable:
  cpu:                64
  nvidia.com/gpu:     1
""",
        ),
    ),
    "q-policy-ready": (
        "",
        (
            """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: cluster-policy
spec:
  devicePlugin:
    config:
      name: time-slicing-config
      default: any
    enabled: true
  driver:
    enabled: true
  mig:
    strategy: single
status:
  state: ready
""",
            sliced("time-slicing-config", 8),
            """\
Labels:             nvidia.com/gpu.count=1
                    nvidia.com/gpu.product=Tesla-T4-SHARED
                    nvidia.com/gpu.replicas=8
                    nvidia.com/gpu.sharing-strategy=time-slicing
Capacity:
  nvidia.com/gpu:     8
Allocatable:
  nvidia.com/gpu:     8
""",
        ),
    ),
    "q-helm": (
        "",
        (
            """\
$ helm get values gpu-operator -n gpu-operator
USER-SUPPLIED VALUES:
devicePlugin:
  enabled: true
driver:
  enabled: false
mig:
  strategy: mixed
toolkit:
  enabled: true
""",
        ),
    ),
    "q-taint-ok": (
        "",
        (
            """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
NAME     TAINTS
cp-0     [map[effect:NoSchedule key:node-role.kubernetes.io/control-plane]]
gpu-0    [map[effect:NoSchedule key:nvidia.com/gpu value:present]]
$ kubectl get pod nb-0 -o jsonpath='{.spec.tolerations}'
[{"effect":"NoSchedule","key":"nvidia.com/gpu","operator":"Exists"},{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}]
$ kubectl get pod nb-0
NAME   READY   STATUS    RESTARTS   AGE
nb-0   1/1     Running   0          14m
""",
        ),
    ),
    "q-select-ok": (
        "",
        (
            """\
Node-Selectors:              gpu-type=l40s
Tolerations:                 nvidia.com/gpu:NoSchedule op=Exists
$ kubectl get nodes --show-labels
NAME       STATUS   ROLES    AGE   VERSION   LABELS
worker-a   Ready    <none>   31d   v1.29.6   kubernetes.io/hostname=worker-a,kubernetes.io/os=linux,gpu-type=l40s,nvidia.com/gpu.count=4,nvidia.com/gpu.present=true
worker-b   Ready    <none>   31d   v1.29.6   kubernetes.io/hostname=worker-b,kubernetes.io/os=linux
""",
        ),
    ),
    "q-pvc": (
        "",
        (
            """\
NAME        STATUS   VOLUME     CAPACITY   ACCESS MODES   STORAGECLASS   VOLUMEATTRIBUTESCLASS   AGE
ckpt-ft-0   Bound    pvc-77aa   100Gi      RWO            fast-nvme      <unset>                 40m
NAME   READY   STATUS    RESTARTS   AGE
ft-0   1/1     Running   0          40m
""",
        ),
    ),
    "q-ds-roll": (
        "",
        (
            """\
NAME                                         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR               AGE
nvdp-nvidia-device-plugin                    3         3         0       3            0           <none>                      2m
nvdp-nvidia-device-plugin-mps-control-daemon 3         3         3       3            3           nvidia.com/mps.capable=true 2m
""",
        ),
    ),
    "q-ds-ok": (
        "",
        (
            """\
NAME                                         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR               AGE
nvidia-device-plugin-daemonset               3         3         3       3            3           nvidia.com/gpu.deploy.device-plugin=true   20d
nvidia-device-plugin-mps-control-daemon      0         0         0       0            0           nvidia.com/gpu.deploy.device-plugin=true,nvidia.com/mps.capable=true 20d
""",
        ),
    ),
    "q-volcano": (
        "",
        (
            """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: team-a
spec:
  weight: 1
  capability:
    nvidia.com/gpu: "8"
status:
  allocated:
    nvidia.com/gpu: "8"
  running: 1
  state: Open
""",
        ),
    ),
    "q-asg": (
        "",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-autoscaler-status
  namespace: kube-system
data:
  status: |
    autoscalerStatus: Running
    nodeGroups:
    - name: eks-gpu-a10g-7ac3
      health:
        status: Healthy
        cloudProviderTarget: 4
        minSize: 0
        maxSize: 4
""",
            """\
NAME     READY   STATUS    RESTARTS   AGE
gen-3    1/1     Running   0          24m
""",
        ),
    ),
    "q-deploy": (
        "",
        (
            """\
NAME      READY   UP-TO-DATE   AVAILABLE   AGE
captions  2/2     2            2           7d
NAME          AGE   REQUEST                            LIMIT
team-limits   5d    requests.nvidia.com/gpu: 2/8, requests.memory: 64Gi/1Ti   limits.memory: 64Gi/1Ti
""",
        ),
    ),
    "q-usage": (
        "",
        (
            r"""$ kubectl get pods -A -o custom-columns='NS:.metadata.namespace,NAME:.metadata.name,NODE:.spec.nodeName,PHASE:.status.phase,GPU:.spec.containers[*].resources.limits.nvidia\.com/gpu' | grep -v '<none>$'
NS       NAME               NODE     PHASE     GPU
infer    vllm-llama-0       gpu-a1   Running   4
infer    vllm-qwen-0        gpu-a1   Running   4
train    sft-run-7-0        gpu-a2   Running   8
$ kubectl get nodes -o custom-columns='NODE:.metadata.name,GPU:.status.allocatable.nvidia\.com/gpu'
NODE     GPU
gpu-a1   8
gpu-a2   8
""",
        ),
    ),
    "v-nodes1": (
        "affinity-mismatch",
        (
            """\
nodeSelector:
  cloud.google.com/gke-accelerator: nvidia-h100-80gb
""",
            """\
$ kubectl get nodes -L cloud.google.com/gke-accelerator
NAME                         STATUS   ROLES    AGE   VERSION               GKE-ACCELERATOR
gke-a-pool-1-2f3c            Ready    <none>   30d   v1.30.5-gke.1443001   nvidia-l4
gke-a-pool-2-77aa            Ready    <none>   30d   v1.30.5-gke.1443001
$ kubectl get po
NAME      READY   STATUS    RESTARTS   AGE
rag-0     0/1     Pending   0          7m
""",
        ),
    ),
    "v-none-helm": (
        "mig-strategy-mismatch",
        (
            """\
$ helm get values gpu-operator -n gpu-operator
USER-SUPPLIED VALUES:
mig:
  strategy: none
migManager:
  enabled: true
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-51111111-2222-3333-4444-555555555555)
  MIG 1g.10gb     Device  0: (UUID: MIG-01111111-2222-3333-4444-555555555555)
  MIG 1g.10gb     Device  1: (UUID: MIG-02111111-2222-3333-4444-555555555555)
""",
        ),
    ),
    "v-none-log": (
        "mig-strategy-mismatch",
        (
            """\
$ kubectl logs nvidia-device-plugin-daemonset-aaaaa -n kube-system | head
I0301 10:00:00.000000       1 main.go:235] "Starting NVIDIA Device Plugin"
Running with config:
{
  "version": "v1",
  "flags": {
    "migStrategy": "none",
    "failOnInitError": true,
    "deviceDiscoveryStrategy": "auto"
  }
}
$ nvidia-smi -L
GPU 0: NVIDIA A30 (UUID: GPU-51111111-2222-3333-4444-555555555555)
  MIG 1g.6gb      Device  0: (UUID: MIG-01111111-2222-3333-4444-555555555555)
""",
        ),
    ),
    "v-default-missing": (
        "time-slicing-config-not-applied",
        (
            """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata:
  name: cluster-policy
spec:
  devicePlugin:
    config:
      name: slices
      default: all
    enabled: true
""",
            sliced("slices", 8),
        ),
    ),
    "v-queue-cores": (
        "quota-exceeded",
        (
            """\
$ kubectl get queue gpu-q -o yaml
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: gpu-q
spec:
  capability:
    nvidia.com/gpu: 16
status:
  allocated:
    nvidia.com/gpu: "16"
  inqueue: 0
  pending: 2
  running: 2
$ kubectl get pods
NAME        READY   STATUS    RESTARTS   AGE
a-worker-0  1/1     Running   0          5h
b-worker-0  0/1     Pending   0          2h
""",
        ),
    ),
    "v-mem3": (
        "combined-resource-shortage",
        (
            """\
0/9 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match Pod's node affinity/selector, 3 Insufficient memory, 4 Insufficient cpu. preemption: 0/9 nodes are available: 4 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
""",
        ),
    ),
    "v-disjoint": (
        "insufficient-other-resource",
        (
            """\
0/9 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory, 4 Insufficient cpu. preemption: 0/9 nodes are available: 6 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.
""",
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_stands_side_by_side(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    report = diagnosed(tmp_path, *texts)
    judge(report, cause)
    if not cause:
        assert not report.candidates
