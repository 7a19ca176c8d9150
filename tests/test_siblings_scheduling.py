# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of pods that wait: taints, selectors, quota, queues, autoscalers, volumes; and what is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

# What was pasted, in one file or more → the first cause; "?cause" = it is a candidate, and nothing is found; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "taint describe old": (
        "untolerated-taint",
        (
            """\
Name:           trainer-6f4
Namespace:      ml
Status:         Pending
    Limits:
      nvidia.com/gpu:  1
Tolerations:     node.kubernetes.io/not-ready:NoExecute for 300s
                 node.kubernetes.io/unreachable:NoExecute for 300s
Events:
  Type     Reason            Age                From               Message
  ----     ------            ----               ----               -------
  Warning  FailedScheduling  22s (x3 over 96s)  default-scheduler  0/4 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 1 node(s) had taint {sku: gpu}, that the pod didn't tolerate, 2 Insufficient nvidia.com/gpu.
""",
        ),
    ),
    "taint older": (
        "untolerated-taint",
        (
            "Warning  FailedScheduling  2m (x26 over 12m)  default-scheduler  0/3 nodes are available: 1 node(s) had taints that the pod didn't tolerate, 2 node(s) didn't match node selector.\n",
        ),
    ),
    "taint gpu newest mixed": (
        "untolerated-taint",
        (
            """\
LAST SEEN   TYPE      REASON             OBJECT         MESSAGE
3m14s       Warning   FailedScheduling   pod/infer-0    0/6 nodes are available: 2 node(s) had untolerated taint {dedicated: gpu}, 4 Insufficient nvidia.com/gpu. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
""",
        ),
    ),
    "taint bare describe node+pod": (
        "untolerated-taint",
        (
            """\
$ kubectl describe pod infer-0 | tail -3
  Warning  FailedScheduling  46s   default-scheduler  0/1 nodes are available: 1 node(s) had untolerated taint {gpu: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.
""",
            """\
$ kubectl describe node lab-1
Name:               lab-1
Taints:             gpu=:NoSchedule
Unschedulable:      false
""",
        ),
    ),
    "taint karpenter v1 log": (
        "untolerated-taint",
        (
            """\
{"level":"ERROR","time":"2025-02-19T10:10:12.564Z","logger":"controller","message":"could not schedule pod","commit":"1072d3b","controller":"provisioner","Pod":{"name":"train-0","namespace":"ml"},"error":"incompatible with nodepool \\"gpu\\", daemonset overhead={\\"cpu\\":\\"690m\\",\\"memory\\":\\"843162368\\",\\"pods\\":\\"8\\"}, did not tolerate nvidia.com/gpu=true:NoSchedule; incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"690m\\",\\"pods\\":\\"7\\"}, no instance type satisfied resources {\\"cpu\\":\\"1690m\\",\\"nvidia.com/gpu\\":\\"1\\",\\"pods\\":\\"8\\"} and requirements karpenter.sh/capacity-type In [on-demand], karpenter.sh/nodepool In [default] (no instance type has enough resources)"}
""",
        ),
    ),
    "taint autoscaler": (
        "untolerated-taint",
        (
            """\
Events:
  Type     Reason             Age                 From                Message
  ----     ------             ----                ----                -------
  Warning  FailedScheduling   60s (x5 over 5m)    default-scheduler   0/5 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 4 Insufficient nvidia.com/gpu.
  Normal   NotTriggerScaleUp  55s (x30 over 5m)   cluster-autoscaler  pod didn't trigger scale-up: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 Insufficient nvidia.com/gpu
""",
        ),
    ),
    "taint json event": (
        "untolerated-taint",
        (
            """\
{"apiVersion":"v1","kind":"Event","metadata":{"name":"train-0.17","namespace":"ml"},"involvedObject":{"kind":"Pod","name":"train-0","namespace":"ml"},"reason":"FailedScheduling","message":"0/2 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) had untolerated taint {nvidia.com/gpu: true}. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.","type":"Warning","count":12}
""",
        ),
    ),
    "taint control plane single node": (
        "untolerated-taint",
        (
            "0/1 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "taint log of scheduler": (
        "untolerated-taint",
        (
            """\
I0312 09:15:02.118340       1 schedule_one.go:882] "Unable to schedule pod; no fit; waiting" pod="ml/train-0" err="0/3 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
""",
        ),
    ),
    "taint tolerated, placed quiet": (
        "",
        (
            """\
Tolerations:     nvidia.com/gpu:NoSchedule op=Exists
Events:
  Type    Reason     Age   From               Message
  ----    ------     ----  ----               -------
  Warning FailedScheduling 3m  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.
  Normal  Scheduled  90s   default-scheduler  Successfully assigned ml/train-0 to gpu-1
  Normal  Pulled     80s   kubelet            Container image "registry.example/t:1" already present on machine
  Normal  Created    80s   kubelet            Created container main
  Normal  Started    79s   kubelet            Started container main
""",
        ),
    ),
    "affinity old words": (
        "affinity-mismatch",
        (
            "Warning  FailedScheduling  12s (x8 over 3m)  default-scheduler  0/5 nodes are available: 5 node(s) didn't match node selector.\n",
        ),
    ),
    "affinity describe with selector": (
        "affinity-mismatch",
        (
            """\
Name:             sd-webui-0
Node:             <none>
Status:           Pending
Node-Selectors:   gpu=a100
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  5m    default-scheduler  0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.
""",
            """\
$ kubectl get nodes --show-labels
NAME   STATUS   ROLES           AGE   VERSION   LABELS
cp-1   Ready    control-plane   20d   v1.29.4   kubernetes.io/hostname=cp-1
w-1    Ready    <none>          20d   v1.29.4   kubernetes.io/hostname=w-1,nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB
w-2    Ready    <none>          20d   v1.29.4   kubernetes.io/hostname=w-2,nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB
""",
        ),
    ),
    "antiaffinity": (
        "affinity-mismatch",
        (
            "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.\n",
        ),
    ),
    "antiaffinity old": (
        "affinity-mismatch",
        (
            "Warning  FailedScheduling  <unknown>  default-scheduler  0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match pod affinity/anti-affinity, 3 node(s) didn't satisfy existing pods anti-affinity rules.\n",
        ),
    ),
    "affinity topology spread": (
        "affinity-mismatch",
        (
            "  Warning  FailedScheduling  9s    default-scheduler  0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.\n",
        ),
    ),
    "affinity karpenter label": (
        "affinity-mismatch",
        (
            """\
Warning  FailedScheduling  2m13s  karpenter  Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"355m","memory":"425Mi","pods":"8"}, incompatible requirements, key karpenter.k8s.aws/instance-gpu-name, karpenter.k8s.aws/instance-gpu-name In [h100] not in karpenter.k8s.aws/instance-gpu-name In [a10g t4]
""",
        ),
    ),
    "affinity DS quiet": (
        "",
        (
            """\
I0101 00:00:00.000000       1 daemon_controller.go:1218] "Pods to delete for daemon set" daemonSet="gpu-operator/nvidia-driver-daemonset" pods=[] deleting=0
NAME                         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                            AGE
nvidia-mig-manager           0         0         0       0            0           nvidia.com/gpu.deploy.mig-manager=true   3d
nvidia-device-plugin         3         3         3       3            3           nvidia.com/gpu.deploy.device-plugin=true 3d
""",
        ),
    ),
    "asc max node group": (
        "autoscaler-limit-reached",
        (
            "Normal  NotTriggerScaleUp  3m30s (x12 over 8m)  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached, 2 Insufficient nvidia.com/gpu\n",
        ),
    ),
    "asc log": (
        "autoscaler-limit-reached",
        (
            """\
I0615 11:30:01.254301       1 orchestrator.go:546] Pod ml/train-0 can't be scheduled on gke-c-gpu-pool-1, predicate checking error: Insufficient nvidia.com/gpu
I0615 11:30:01.254901       1 orchestrator.go:466] Skipping node group gpu-pool-a - max size reached
I0615 11:30:01.255012       1 orchestrator.go:157] No expansion options
""",
        ),
    ),
    "asc max limit": (
        "autoscaler-limit-reached",
        (
            """\
  Warning  FailedScheduling   40s   default-scheduler   0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are available: 3 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
  Normal   NotTriggerScaleUp  38s   cluster-autoscaler  pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector, 1 max limit reached
""",
        ),
    ),
    "asc gke noscaleup json": (
        "autoscaler-limit-reached",
        (
            """\
{"noDecisionStatus":{"measureTime":"1582898536","noScaleUp":{"unhandledPodGroups":[{"podGroup":{"samplePod":{"name":"train-0","namespace":"ml"},"totalPodCount":1},"rejectedMigs":[]}],"skippedMigs":[{"mig":{"name":"gpu-pool","nodepool":"gpu-pool","zone":"us-central1-a"},"reason":{"messageId":"no.scale.up.mig.skipped","parameters":["max size reached"]}}]}}}
""",
        ),
    ),
    "karpenter v1 limits": (
        "autoscaler-limit-reached",
        (
            """\
{"level":"ERROR","time":"2025-04-01T12:00:00.000Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"vllm-0","namespace":"serve"},"error":"all available instance types exceed limits for nodepool: \\"gpu\\""}
""",
        ),
    ),
    "karpenter launch limits": (
        "autoscaler-limit-reached",
        (
            """\
{"level":"ERROR","time":"2024-11-11T10:00:00Z","logger":"controller","message":"failed launching nodeclaim","commit":"abc1234","NodePool":{"name":"gpu"},"error":"nvidia.com/gpu resource usage of 18 exceeds limit of 16"}
""",
        ),
    ),
    "karpenter old prov": (
        "autoscaler-limit-reached",
        (
            """\
2023-03-01T12:00:00.120Z	ERROR	controller.provisioner	Could not schedule pod, all available instance types exceed limits for provisioner: "gpu"	{"commit": "61b3e1e-dirty", "pod": "ml/train-0"}
""",
        ),
    ),
    "karpenter old limits exceeded": (
        "autoscaler-limit-reached",
        (
            """\
2023-05-02T08:00:00.500Z	ERROR	controller.provisioner	launching machine, nvidia.com/gpu resource usage of 9 exceeds limit of 8	{"commit": "d7e22b1-dirty"}
""",
        ),
    ),
    "karpenter limits v1.5 event": (
        "autoscaler-limit-reached",
        (
            "  Warning  FailedScheduling  23s (x4 over 4m)  karpenter  Failed to schedule pod, NodePool requirements filtered out all compatible available instance types; all available instance types exceed limits for nodepool (NodePool=gpu-h100)\n",
        ),
    ),
    "asc total nodes": (
        "autoscaler-limit-reached",
        (
            "I1010 10:10:10.000000       1 static_autoscaler.go:449] Max total nodes in cluster reached: 100. Current number of ready nodes: 100\n",
        ),
    ),
    "karpenter normal quiet": (
        "",
        (
            """\
{"level":"INFO","time":"2024-11-11T10:00:00Z","logger":"controller","message":"found provisionable pod(s)","Pods":"ml/train-0","duration":"20ms"}
{"level":"INFO","time":"2024-11-11T10:00:00Z","logger":"controller","message":"computed new nodeclaim(s) to fit pod(s)","nodeclaims":1,"pods":1}
{"level":"INFO","time":"2024-11-11T10:00:02Z","logger":"controller","message":"launched nodeclaim","NodeClaim":{"name":"gpu-x2"},"instance-type":"g5.2xlarge"}
{"level":"INFO","time":"2024-11-11T10:01:02Z","logger":"controller","message":"initialized nodeclaim","NodeClaim":{"name":"gpu-x2"}}
""",
        ),
    ),
    "karpenter double gpu": (
        "autoscaler-overhead-miscount",
        (
            """\
Warning  FailedScheduling  31s  karpenter  Failed to schedule pod, incompatible with nodepool "p5", daemonset overhead={"cpu":"91250m","memory":"895268435456","nvidia.com/gpu":"8","pods":"7"}, no instance type satisfied resources {"cpu":"171250m","memory":"895268437456","nvidia.com/gpu":"16","pods":"8"} and requirements karpenter.sh/nodepool In [p5], node.kubernetes.io/instance-type In [p5.48xlarge] (no instance type has enough resources)
""",
        ),
    ),
    "karpenter v0.3x which": (
        "autoscaler-overhead-miscount",
        (
            """\
{"level":"ERROR","time":"2024-02-15T11:10:12.564Z","logger":"controller.provisioner","message":"Could not schedule pod, incompatible with nodepool \\"gpu\\", daemonset overhead={\\"cpu\\":\\"480m\\",\\"memory\\":\\"812700032\\",\\"pods\\":\\"5\\"}, no instance type satisfied resources {\\"cpu\\":\\"7480m\\",\\"memory\\":\\"30877471104\\",\\"nvidia.com/gpu\\":\\"1\\",\\"pods\\":\\"6\\"} and requirements karpenter.k8s.aws/instance-family In [g5], karpenter.sh/capacity-type In [on-demand] (no instance type which had enough resources and the required offering met the scheduling requirements)"}
""",
        ),
    ),
    "combined three": (
        "combined-resource-shortage",
        (
            "  Warning  FailedScheduling  11s   default-scheduler  0/3 nodes are available: 2 Insufficient cpu, 2 Insufficient nvidia.com/gpu, 3 Insufficient memory.\n",
        ),
    ),
    "combined rdma": (
        "combined-resource-shortage",
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu, 2 Insufficient rdma/hca_shared_devices_a.\n",),
    ),
    "combined beside a taint": (
        "combined-resource-shortage",
        (
            "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu, 2 Insufficient nvidia.com/gpu.\n",
        ),
    ),
    "GPUs are short everywhere, the CPU on one": (
        "?gpu-capacity-exhausted",
        (
            "0/3 nodes are available: 1 Insufficient cpu, 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.\n",
        ),
    ),
    "capacity describe node": (
        "gpu-capacity-exhausted",
        (
            "Warning  FailedScheduling  2s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod..\n",
            """\
Capacity:
  nvidia.com/gpu:     4
Allocatable:
  nvidia.com/gpu:     4
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests      Limits
  --------           --------      ------
  cpu                3850m (12%)   4 (12%)
  nvidia.com/gpu     4             4
""",
        ),
    ),
    "capacity mig": (
        "gpu-capacity-exhausted",
        (
            "0/3 nodes are available: 3 Insufficient nvidia.com/mig-1g.10gb. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "capacity top": (
        "gpu-capacity-exhausted",
        (
            """\
Name:               gpu-a
Capacity:
  nvidia.com/gpu:     1
Allocatable:
  nvidia.com/gpu:     1
Non-terminated Pods:          (2 in total)
  Namespace                   Name                        CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------                   ----                        ------------  ----------  ---------------  -------------  ---
  default                     notebook-0                  1 (3%)        2 (6%)      4Gi (3%)         8Gi (6%)       5d
Allocated resources:
  Resource           Requests    Limits
  --------           --------    ------
  nvidia.com/gpu     1           1
Events:              <none>
""",
            """\
NAME         READY   STATUS    RESTARTS   AGE
notebook-0   1/1     Running   0          5d
job-2-xk2    0/1     Pending   0          7m
""",
            "Warning  FailedScheduling  7m  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n",
        ),
    ),
    "capacity run:ai": (
        "gpu-capacity-exhausted",
        ("Warning  Unschedulable  6s  kai-scheduler  0/2 nodes are available: 2 node(s) didn't have enough resources: GPUs.\n",),
    ),
    "kueue describe wl": (
        "kueue-quota-wait",
        (
            """\
Name:         job-train-llm-9ab1c
Namespace:    team-a
Kind:         Workload
Spec:
  Queue Name:  gpu-queue
Status:
  Conditions:
    Last Transition Time:  2025-03-01T10:00:00Z
    Message:               couldn't assign flavors to pod set main: insufficient unused quota in cohort for nvidia.com/gpu in flavor h100, 4 more needed
    Reason:                Pending
    Status:                False
    Type:                  QuotaReserved
Events:                    <none>
""",
        ),
    ),
    "kueue newest": (
        "kueue-quota-wait",
        (
            "  Warning  Pending  5s (x3 over 60s)  kueue-admission  couldn't assign flavors to pod set workers: insufficient unused quota for nvidia.com/gpu in flavor a100-80, 8 more needed, insufficient unused quota for cpu in flavor a100-80, 32 more needed\n",
        ),
    ),
    "kueue oldest": (
        "kueue-quota-wait",
        (
            """\
LAST SEEN   TYPE     REASON    OBJECT                       MESSAGE
10s         Normal   Pending   workload/job-train-1         Workload didn't fit in the remaining quota
""",
        ),
    ),
    "kueue old2": (
        "kueue-quota-wait",
        (
            "Warning  Pending  3s  kueue-admission  couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu flavor spot, 1 more needed\n",
        ),
    ),
    "kueue borrowing": (
        "kueue-quota-wait",
        ("Message: couldn't assign flavors to pod set main: borrowing limit for nvidia.com/gpu in flavor on-demand exceeded\n",),
    ),
    "kueue lq status": (
        "kueue-quota-wait",
        (
            """\
$ kubectl get clusterqueue gpu-cq -o yaml
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata:
  name: gpu-cq
spec:
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu"]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: "8"
status:
  admittedWorkloads: 1
  flavorsReservation:
  - name: h100
    resources:
    - borrowed: "0"
      name: nvidia.com/gpu
      total: "8"
  pendingWorkloads: 3
""",
            """\
$ kubectl get workloads -n ml
NAME              QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE
job-a-11111       lq      gpu-cq        True                  3h
job-b-22222       lq                                          2h
job-c-33333       lq                                          1h
""",
        ),
    ),
    "kueue preempt": (
        "kueue-quota-wait",
        (
            "Warning  Pending  12s  kueue-admission  couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 2 more needed. Pending the preemption of 1 workload(s)\n",
        ),
    ),
    "kueue max capacity": (
        "kueue-quota-wait",
        (
            "Warning  Pending  2s  kueue-admission  couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor h100, previously considered podsets requests (0) + current podset request (16) > maximum capacity (8)\n",
        ),
    ),
    "kueue controller log": (
        "kueue-quota-wait",
        (
            """\
2025-01-20T09:10:11.5Z	LEVEL(-2)	scheduler	scheduler/scheduler.go:595	Workload re-queued	{"schedulingCycle": 31, "workload": {"name":"job-x-1a2b3","namespace":"ml"}, "clusterQueue": {"name":"cq"}, "queue": {"name":"lq","namespace":"ml"}, "requeueReason": "", "added": true, "status": ""}
2025-01-20T09:10:11.5Z	DEBUG	events	recorder/recorder.go:104	couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor gpu, 1 more needed	{"type": "Warning", "object": {"kind":"Workload","namespace":"ml","name":"job-x-1a2b3"}, "reason": "Pending"}
""",
        ),
    ),
    "kueue admitted quiet": (
        "",
        (
            """\
Events:
  Type    Reason         Age   From             Message
  ----    ------         ----  ----             -------
  Normal  QuotaReserved  9s    kueue-admission  Quota reserved in ClusterQueue cq, wait time since queued was 2s; Flavors considered: main: gpu(NoFit;couldn't...)
  Normal  Admitted       9s    kueue-admission  Admitted by ClusterQueue cq, wait time since reservation was 0s
""",
        ),
    ),
    "kueue not covered": (
        "kueue-resource-not-covered",
        (
            """\
Events:
  Type     Reason   Age                    From             Message
  ----     ------   ----                   ----             -------
  Warning  Pending  4m23s (x3 over 4m23s)  kueue-admission  couldn't assign flavors to pod set job: resource cpu unavailable in ClusterQueue
  Warning  Pending  4m23s                  kueue-admission  couldn't assign flavors to pod set job: resource memory unavailable in ClusterQueue
""",
        ),
    ),
    "kueue not covered mig": (
        "kueue-resource-not-covered",
        (
            """\
status:
  conditions:
  - lastTransitionTime: "2025-06-01T12:00:00Z"
    message: 'couldn''t assign flavors to pod set main: resource nvidia.com/mig-2g.20gb unavailable in ClusterQueue'
    observedGeneration: 1
    reason: Pending
    status: "False"
    type: QuotaReserved
""",
        ),
    ),
    "kueue not covered both": (
        "kueue-resource-not-covered",
        (
            "Warning  Pending  9s  kueue-admission  couldn't assign flavors to pod set main: resource rdma/hca unavailable in ClusterQueue, insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed\n",
        ),
    ),
    "kueue not covered cq yaml": (
        "kueue-resource-not-covered",
        (
            """\
2025-01-20T09:10:11.5Z	DEBUG	events	recorder/recorder.go:104	couldn't assign flavors to pod set main: resource ephemeral-storage unavailable in ClusterQueue	{"type": "Warning", "object": {"kind":"Workload","namespace":"ml","name":"job-x-1a2b3"}, "reason": "Pending"}
""",
        ),
    ),
    "cordon status": (
        "node-cordoned",
        (
            """\
NAME    STATUS                     ROLES           AGE   VERSION
cp-1    Ready                      control-plane   90d   v1.28.3
gpu-1   Ready,SchedulingDisabled   <none>          90d   v1.28.3
""",
            "Warning  FailedScheduling  33s  default-scheduler  0/2 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "cordon describe": (
        "node-cordoned",
        (
            """\
Name:               gpu-3
Taints:             node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:      true
Capacity:
  nvidia.com/gpu:  8
Allocatable:
  nvidia.com/gpu:  8
Events:
  Type    Reason              Age   From     Message
  ----    ------              ----  ----     -------
  Normal  NodeNotSchedulable  14m   kubelet  Node gpu-3 status is now: NodeNotSchedulable
""",
            "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "cordon operator upgrade": (
        "node-cordoned",
        (
            "0/2 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "cordon old": (
        "node-cordoned",
        ("  Warning  FailedScheduling  18s (x2 over 18s)  default-scheduler  0/1 nodes are available: 1 node(s) were unschedulable.\n",),
    ),
    "cordon drained finished": (
        "",
        (
            """\
$ kubectl drain gpu-1 --ignore-daemonsets
node/gpu-1 cordoned
Warning: ignoring DaemonSet-managed Pods: kube-system/kube-proxy-abcde
evicting pod default/web-0
pod/web-0 evicted
node/gpu-1 drained
$ kubectl uncordon gpu-1
node/gpu-1 uncordoned
""",
        ),
    ),
    "pvc old": (
        "pvc-unbound",
        ("Warning  FailedScheduling  <unknown>  default-scheduler  pod has unbound immediate PersistentVolumeClaims (repeated 3 times)\n",),
    ),
    "pvc new": (
        "pvc-unbound",
        (
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "pvc not found": (
        "pvc-unbound",
        (
            """\
  Warning  FailedScheduling  55s   default-scheduler  0/2 nodes are available: persistentvolumeclaim "models-pvc" not found. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
""",
        ),
    ),
    "pvc describe": (
        "pvc-unbound",
        (
            """\
$ kubectl get pvc
NAME         STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE
models-pvc   Pending                                      standard       12m
$ kubectl describe pvc models-pvc
Events:
  Type     Reason              Age                 From                         Message
  ----     ------              ----                ----                         -------
  Warning  ProvisioningFailed  10s (x26 over 12m)  persistentvolume-controller  storageclass.storage.k8s.io "standard" not found
""",
        ),
    ),
    "pvc no sc": (
        "pvc-unbound",
        (
            "  Normal  FailedBinding  3s (x4 over 40s)  persistentvolume-controller  no persistent volumes available for this claim and no storage class is set\n",
        ),
    ),
    "pvc avail volumes": (
        "pvc-unbound",
        (
            "0/4 nodes are available: 4 node(s) didn't find available persistent volumes to bind. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling..\n",
        ),
    ),
    "pvc wait first consumer quiet": (
        "",
        (
            """\
Events:
  Type    Reason                 Age   From                                   Message
  ----    ------                 ----  ----                                   -------
  Normal  WaitForFirstConsumer   30s   persistentvolume-controller            waiting for first consumer to be created before binding
  Normal  Provisioning           20s   ebs.csi.aws.com_ebs-csi-controller     External provisioner is provisioning volume for claim "ml/data"
  Normal  ExternalProvisioning   20s   persistentvolume-controller            Waiting for a volume to be created either by the external provisioner 'ebs.csi.aws.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.
  Normal  ProvisioningSucceeded  18s   ebs.csi.aws.com_ebs-csi-controller     Successfully provisioned volume pvc-1
""",
        ),
    ),
    "vol affinity": (
        "volume-node-affinity-conflict",
        (
            "0/6 nodes are available: 2 node(s) had volume node affinity conflict, 4 Insufficient nvidia.com/gpu. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "vol affinity zone old": (
        "volume-node-affinity-conflict",
        (
            "Warning  FailedScheduling  5s  default-scheduler  0/9 nodes are available: 3 node(s) had no available volume zone, 6 node(s) didn't match node selector.\n",
        ),
    ),
    "vol affinity newest": (
        "volume-node-affinity-conflict",
        (
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match PersistentVolume's node affinity. no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "vol affinity karpenter": (
        "volume-node-affinity-conflict",
        (
            """\
Warning  FailedScheduling  5s  karpenter  Failed to schedule pod, incompatible with nodepool "gpu", daemonset overhead={"cpu":"150m","pods":"5"}, incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [us-east-1a] not in topology.kubernetes.io/zone In [us-east-1c]
Warning  FailedScheduling  5s  default-scheduler  0/3 nodes are available: 3 node(s) had volume node affinity conflict.
""",
        ),
    ),
    "asc skipping event": (
        "autoscaler-limit-reached",
        (
            """\
  Warning  FailedScheduling   40s   default-scheduler   0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are available: 3 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
  Normal   NotTriggerScaleUp  38s   cluster-autoscaler  Pod didn't trigger scale-up: 1 max node group size reached
""",
        ),
    ),
    "gke zonal quota": (
        "cloud-capacity-exhausted",
        (
            """\
{"resultInfo":{"measureTime":"1582523362","results":[{"eventId":"ea2e964c","errorMsg":{"messageId":"scale.up.error.out.of.resources","parameters":["https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a/instanceGroups/gke-c-gpu"]}}]}}
""",
        ),
    ),
    "quota RS": (
        "quota-exceeded",
        (
            """\
Events:
  Type     Reason        Age                 From                   Message
  ----     ------        ----                ----                   -------
  Warning  FailedCreate  12s (x4 over 40s)   replicaset-controller  Error creating: pods "vllm-7d9-" is forbidden: exceeded quota: team-gpu, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=7, limited: requests.nvidia.com/gpu=8
""",
        ),
    ),
    "quota apply": (
        "quota-exceeded",
        (
            """\
Error from server (Forbidden): error when creating "pod.yaml": pods "gpu-pod" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4
""",
        ),
    ),
    "quota jupyterhub": (
        "quota-exceeded",
        (
            """\
[E 2025-02-02 10:10:10.100 JupyterHub user:884] Unhandled error starting anna's server: (403)
    Reason: Forbidden
    HTTP response body: {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \\"jupyter-anna\\" is forbidden: exceeded quota: compute, requested: limits.memory=64Gi,requests.nvidia.com/gpu=1, used: limits.memory=64Gi,requests.nvidia.com/gpu=2, limited: limits.memory=96Gi,requests.nvidia.com/gpu=2","reason":"Forbidden","details":{"name":"jupyter-anna","kind":"pods"},"code":403}
""",
        ),
    ),
    "quota describe ns": (
        "quota-exceeded",
        (
            """\
$ kubectl describe resourcequota -n ml
Name:                    gpu-quota
Namespace:               ml
Resource                 Used  Hard
--------                 ----  ----
requests.nvidia.com/gpu  8     8
$ kubectl get deploy -n ml
NAME   READY   UP-TO-DATE   AVAILABLE   AGE
llm    0/1     0            0           10m
""",
        ),
    ),
    "quota volcano": (
        "quota-exceeded",
        (
            """\
Events:
  Type     Reason         Age                 From     Message
  ----     ------         ----                ----     -------
  Warning  Unschedulable  16s (x12 over 28s)  volcano  0/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable
  Normal   Unschedulable  15s (x13 over 28s)  volcano  queue resource quota insufficient
""",
        ),
    ),
    "quota volcano new": (
        "quota-exceeded",
        (
            """\
  Normal   Unschedulable  15s (x13 over 28s)  volcano  queue resource quota insufficient: insufficient nvidia.com/gpu
  Warning  Unschedulable  16s (x12 over 28s)  volcano  0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable
""",
        ),
    ),
    "quota pytorchjob": (
        "quota-exceeded",
        (
            """\
status:
  conditions:
  - type: Created
    status: "True"
    reason: PyTorchJobCreated
    message: PyTorchJob bert is created.
Events:
  Warning  FailedCreatePod  5s (x7 over 30s)  pytorchjob-controller  Error creating: pods "bert-worker-0" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8
""",
        ),
    ),
    "quota volcano queue full": (
        "quota-exceeded",
        (
            """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: research
spec:
  capability:
    nvidia.com/gpu: "8"
status:
  allocated:
    nvidia.com/gpu: "8"
  pending: 2
  state: Open
""",
            """\
pod group is not ready, 1 minAvailable
queue resource quota insufficient: insufficient nvidia.com/gpu
""",
        ),
    ),
    "quota kai": (
        "quota-exceeded",
        (
            "Warning  Unschedulable  9s  kai-scheduler  Workload requested 8 GPUs, but team-a quota is 4 GPUs, while 4 GPUs are already allocated for non-preemptible pods. Use a preemptible workload to go over quota.\n",
        ),
    ),
    "quota ok quiet": (
        "",
        (
            """\
Name:                    gpu-quota
Namespace:               ml
Resource                 Used  Hard
--------                 ----  ----
requests.nvidia.com/gpu  3     8
""",
        ),
    ),
    "qreq": (
        "quota-requires-limits",
        (
            """\
Warning  FailedCreate  3s (x13 over 24s)  job-controller  Error creating: pods "train-x" is forbidden: failed quota: compute-resources: must specify limits.cpu,limits.memory,requests.cpu,requests.memory
""",
        ),
    ),
    "qreq new": (
        "quota-requires-limits",
        (
            """\
Error from server (Forbidden): error when creating "p.yaml": pods "cuda-test" is forbidden: failed quota: team: must specify limits.cpu for: cuda; limits.memory for: cuda
""",
        ),
    ),
    "qreq init": (
        "quota-requires-limits",
        (
            """\
status:
  conditions:
  - type: ReplicaFailure
    status: "True"
    reason: FailedCreate
    message: 'pods "llm-5c9-" is forbidden: failed quota: mem-cpu: must specify requests.memory for: istio-init,llm'
""",
        ),
    ),
    "qreq operator": (
        "quota-requires-limits",
        (
            """\
Warning  FailedCreate  8s (x14 over 49s)  daemonset-controller  Error creating: pods "nvidia-device-plugin-daemonset-" is forbidden: failed quota: default: must specify limits.cpu for: nvidia-device-plugin; limits.memory for: nvidia-device-plugin
""",
        ),
    ),
    "adm gatekeeper": (
        "admission-policy-denied",
        (
            """\
Error from server (Forbidden): error when creating "pod.yaml": admission webhook "validation.gatekeeper.sh" denied the request: [gpu-must-have-limits] container <main> has no resource limits
""",
        ),
    ),
    "adm kyverno": (
        "admission-policy-denied",
        (
            """\
Warning  FailedCreate  4s (x12 over 14s)  replicaset-controller  Error creating: admission webhook "validate.kyverno.svc-fail" denied the request:

resource Pod/ml/llm-7d-x was blocked due to the following policies

disallow-host-path:
  host-path: 'validation error: HostPath volumes are forbidden.'
""",
        ),
    ),
    "adm psa": (
        "pod-security-forbidden",
        (
            """\
Warning  FailedCreate  4s (x12 over 14s)  daemonset-controller  Error creating: pods "nvidia-driver-daemonset-x" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "run"), privileged (container "driver" must not set securityContext.privileged=true)
""",
        ),
    ),
    "adm kueue": (
        "admission-policy-denied",
        (
            """\
Error from server (Forbidden): error when creating "job.yaml": admission webhook "vjob.kb.io" denied the request: metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: "Bad_Queue": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters
""",
        ),
    ),
    "adm limitrange": (
        "admission-policy-denied",
        (
            """\
Error creating: pods "train-0" is forbidden: [maximum cpu usage per Container is 8, but limit is 64, maximum memory usage per Container is 64Gi, but limit is 512Gi]
""",
        ),
    ),
    "adm gke autopilot": (
        "admission-policy-denied",
        (
            """\
Error from server (GKE Warden constraints violations): error when creating "gpu.yaml": admission webhook "warden-validating.common-webhooks.networking.gke.io" denied the request: GKE Warden rejected the request because it violates one or more constraints.
Violations details: {"[denied by autogke-gpu-limitation]":["When requesting 'nvidia.com/gpu' resources, you must specify either node selector 'cloud.google.com/gke-accelerator' with accelerator type"]}
""",
        ),
    ),
    "adm vap": (
        "admission-policy-denied",
        (
            """\
The pods "train-0" is invalid: : ValidatingAdmissionPolicy 'deny-big' with binding 'deny-big' denied request: failed expression: object.spec.containers.size() < 2
""",
        ),
    ),
    "req > node": (
        "request-exceeds-node-size",
        (
            """\
apiVersion: v1
kind: Pod
metadata: {name: big, namespace: ml}
spec:
  containers:
  - name: a
    image: r/t:1
    resources: {limits: {nvidia.com/gpu: 6}}
  - name: b
    image: r/t:1
    resources: {limits: {nvidia.com/gpu: 4}}
""",
            """\
Name:               n1
Capacity:
  nvidia.com/gpu:  8
Allocatable:
  nvidia.com/gpu:  8
""",
            "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "req > node describe": (
        "request-exceeds-node-size",
        (
            """\
Name:             vllm-tp4
Namespace:        serve
Status:           Pending
Containers:
  vllm:
    Limits:
      nvidia.com/gpu:  4
    Requests:
      nvidia.com/gpu:  4
Conditions:
  Type           Status
  PodScheduled   False
Events:
  Warning  FailedScheduling  3m  default-scheduler  0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.
""",
            """\
NAME    GPU
gpu-1   2
gpu-2   2
""",
            """\
$ kubectl get nodes -o custom-columns=NODE:.metadata.name,GPUS:.status.allocatable.nvidia\\.com/gpu
NODE    GPUS
gpu-1   2
gpu-2   2
""",
        ),
    ),
    "req > node cpu": (
        "request-exceeds-node-size",
        (
            """\
Name:             train
Status:           Pending
Containers:
  main:
    Requests:
      cpu:             128
      memory:          64Gi
      nvidia.com/gpu:  1
Events:
  Warning  FailedScheduling  3m  default-scheduler  0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
""",
            """\
Name:               gpu-1
Capacity:
  cpu:             64
  memory:          528Gi
  nvidia.com/gpu:  8
Allocatable:
  cpu:             63500m
  memory:          520Gi
  nvidia.com/gpu:  8
Allocated resources:
  Resource           Requests    Limits
  cpu                2 (3%)      2 (3%)
  nvidia.com/gpu     0           0
""",
        ),
    ),
    "bypass describe": (
        "scheduler-bypassed",
        (
            """\
Name:             gpu-test
Node:             gpu-1/
Status:           Failed
Reason:           OutOfnvidia.com/gpu
Message:          Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 1, capacity: 1
Events:
  Type     Reason                Age   From     Message
  ----     ------                ----  ----     -------
  Warning  OutOfnvidia.com/gpu   24s   kubelet  Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 1, capacity: 1
""",
            """\
apiVersion: v1
kind: Pod
metadata:
  name: gpu-test
spec:
  nodeName: gpu-1
  containers:
  - name: c
    resources: {limits: {nvidia.com/gpu: 1}}
""",
        ),
    ),
    "schedname": (
        "scheduler-name-wrong",
        (
            """\
apiVersion: v1
kind: Pod
metadata: {name: frac, namespace: default, creationTimestamp: "2025-01-01T10:00:00Z"}
spec:
  schedulerName: kai-scheduler
  containers:
  - name: c
    image: r/t:1
    resources: {limits: {nvidia.com/gpu: 1}}
status: {phase: Pending}
""",
            """\
NAME   READY   STATUS    RESTARTS   AGE
frac   0/1     Pending   0          22m
""",
        ),
    ),
    "volcano overused": (
        "volcano-stale-podgroups",
        (
            """\
Events:
  Type     Reason            Age                   From     Message
  ----     ------            ----                  ----     -------
  Warning  FailedScheduling  2m (x41 over 43m)     volcano  pod group is not ready, 4 Pending, 4 minAvailable
  Normal   Unschedulable     1m                    volcano  resource in cluster is overused
""",
            """\
$ kubectl get podgroups -A
NAMESPACE   NAME         STATUS      MINMEMBER   RUNNINGS   AGE
ml          job-old-1    Inqueue     4                      12d
ml          job-old-2    Inqueue     4                      9d
ml          job-new      Pending     4                      43m
""",
        ),
    ),
    "volcano overused 2": (
        "volcano-stale-podgroups",
        ("Warning  Unschedulable  1s (x2)  volcano  resource in cluster is overused:  insufficient nvidia.com/gpu\n",),
    ),
    "volcano log": (
        "volcano-stale-podgroups",
        ("I0301 10:00:00.000000       1 overcommit.go:114] Resource in cluster is overused, reject job <ml/job-new> to be inqueue\n",),
    ),
    "q kueue start": (
        "",
        (
            """\
{"level":"info","ts":"2025-01-20T09:10:11.5Z","caller":"kueue/main.go:133","msg":"Initializing","gitVersion":"v0.10.0"}
{"level":"info","ts":"2025-01-20T09:10:12.5Z","logger":"cert-rotation","caller":"rotator/rotator.go:282","msg":"starting cert rotator controller"}
{"level":"info","ts":"2025-01-20T09:10:32.5Z","logger":"setup","caller":"kueue/main.go:300","msg":"Certs ready"}
""",
        ),
    ),
    "q autoscaler scale down": (
        "",
        (
            """\
I0615 11:30:01.254301       1 static_autoscaler.go:598] Starting scale down
I0615 11:30:01.254401       1 klogx.go:87] Node gpu-1 - nvidia.com/gpu utilization 1.000000
I0615 11:30:01.254501       1 legacy.go:296] No candidates for scale down
I0615 11:30:01.254601       1 filter_out_schedulable.go:83] No schedulable pods
I0615 11:30:01.254701       1 static_autoscaler.go:557] No unschedulable pods
""",
        ),
    ),
    "q asc triggered": (
        "",
        (
            """\
  Warning  FailedScheduling  3m   default-scheduler   0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
  Normal   TriggeredScaleUp  3m   cluster-autoscaler  pod triggered scale-up: [{gpu-pool 1->2 (max: 4)}]
  Normal   Scheduled         10s  default-scheduler   Successfully assigned ml/train-0 to gpu-3
  Normal   Started           2s   kubelet             Started container main
""",
        ),
    ),
    "q volcano normal": (
        "",
        (
            """\
  Normal   Unschedulable  10s  volcano  0/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable
  Normal   Scheduled      3s   volcano  pod group is ready
  Normal   Scheduled      2s   volcano  Successfully assigned ml/job-0 to gpu-1
  Normal   Started        1s   kubelet  Started container main
""",
        ),
    ),
    "q pending young": (
        "",
        (
            """\
NAME      READY   STATUS    RESTARTS   AGE
train-0   0/1     Pending   0          3s
""",
        ),
    ),
    "t2 spot": (
        "untolerated-taint",
        (
            "0/3 nodes are available: 1 node(s) had untolerated taint {kubernetes.azure.com/scalesetpriority: spot}, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "t3 nodes+pods": (
        "untolerated-taint",
        (
            """\
Name:               gpu-node-1
Roles:              <none>
Taints:             sku=gpu:NoSchedule
Capacity:
  nvidia.com/gpu:  4
Allocatable:
  nvidia.com/gpu:  4
""",
            """\
Name:         job-x
Status:       Pending
    Limits:
      nvidia.com/gpu:  1
Tolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Warning  FailedScheduling  1m  default-scheduler  0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {sku: gpu}.
""",
        ),
    ),
    "t5 argo message": (
        "untolerated-taint",
        (
            """\
STEP              TEMPLATE  PODNAME        DURATION  MESSAGE
 ◷ train-abc      main      train-abc-123  3m        Unschedulable: 0/4 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/master: }, 3 node(s) had untolerated taint {nvidia.com/gpu: present}. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
""",
        ),
    ),
    "aff required": (
        "affinity-mismatch",
        (
            "0/8 nodes are available: 8 node(s) didn't match Pod's node affinity/selector. preemption: 0/8 nodes are available: 8 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "aff pa": (
        "affinity-mismatch",
        (
            "0/5 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 4 node(s) didn't match pod affinity rules. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "aff anti with gpus": (
        "affinity-mismatch",
        (
            "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "asc karpenter v0.16": (
        "autoscaler-limit-reached",
        (
            """\
2022-10-01T10:00:00.000Z	ERROR	controller.provisioning	Could not schedule pod, incompatible with provisioner "gpu", no instance type satisfied resources {"cpu":"2","nvidia.com/gpu":"1","pods":"1"}; all available instance types exceed provisioner limits	{"commit": "b157d45"}
""",
        ),
    ),
    "asc keda text": (
        "autoscaler-limit-reached",
        (
            """\
Events:
  Type    Reason             Age    From                Message
  ----    ------             ----   ----                -------
  Normal  NotTriggerScaleUp  4m14s  cluster-autoscaler  pod didn't trigger scale-up: 3 node(s) didn't match Pod's node affinity/selector, 1 max node group size reached
""",
        ),
    ),
    "asc no scale up alone": (
        "?autoscaler-limit-reached",
        ("  Normal   NotTriggerScaleUp  38s  cluster-autoscaler  pod didn't trigger scale-up:\n",),
    ),
    "comb cpu+gpu": (
        "combined-resource-shortage",
        ("0/6 nodes are available: 2 Insufficient nvidia.com/gpu, 3 Insufficient cpu, 4 Insufficient memory.\n",),
    ),
    "cap old": (
        "?gpu-capacity-exhausted",
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n",),
    ),
    "cap multi": (
        "?gpu-capacity-exhausted",
        (
            "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.\n",
        ),
    ),
    "cap kubectl view": (
        "gpu-capacity-exhausted",
        (
            """\
NAME      STATUS    GPU(req)
  Resource                           Requests      Limits
  --------                           --------      ------
  cpu                                2360m (14%)   0 (0%)
  nvidia.com/gpu                     8             8
Allocatable:
  nvidia.com/gpu:     8
""",
            "Warning  FailedScheduling  12m  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.\n",
        ),
    ),
    "cap runai": (
        "gpu-capacity-exhausted",
        (
            "Warning  Unschedulable  2m  runai-scheduler  No nodes with enough resources were found: 4 node(s) didn't have enough resources: GPUs.\n",
        ),
    ),
    "kueue cohort": (
        "kueue-quota-wait",
        (
            "  Warning  Pending  12s  kueue-admission  couldn't assign flavors to pod set main: insufficient unused quota in cohort for nvidia.com/gpu in flavor a100, 3 more needed\n",
        ),
    ),
    "kueue multi flavors": (
        "kueue-quota-wait",
        (
            "couldn't assign flavors to pod set driver: insufficient quota for nvidia.com/gpu in flavor t4, request > maximum capacity (4 > 2), insufficient unused quota for nvidia.com/gpu in flavor a100, 1 more needed\n",
        ),
    ),
    "kueue evicted": (
        "kueue-quota-wait",
        (
            """\
Normal  EvictedDueToPreempted  3m  kueue-admission  Preempted to accommodate a workload (UID: abc, JobUID: def) due to reclamation within the cohort
Normal  Preempted              3m  kueue-admission  Preempted to accommodate a workload (UID: abc, JobUID: def) due to reclamation within the cohort
""",
        ),
    ),
    "kueue lq kubectl": (
        "kueue-quota-wait",
        (
            """\
NAME        CLUSTERQUEUE   PENDING WORKLOADS   ADMITTED WORKLOADS
gpu-queue   gpu-cq         3                   1
""",
            """\
NAME             QUEUE       RESERVED IN   ADMITTED   FINISHED   AGE
job-a-11111      gpu-queue   gpu-cq        True                  3h
job-b-22222      gpu-queue                                       2h
""",
        ),
    ),
    "kueue not covered old": (
        "kueue-resource-not-covered",
        (
            "couldn't assign flavors to pod set worker: resource nvidia.com/gpu unavailable in ClusterQueue; couldn't assign flavors to pod set launcher: resource cpu unavailable in ClusterQueue\n",
        ),
    ),
    "cord sinfo": (
        "node-cordoned",
        (
            """\
NAME       STATUS                     ROLES    AGE   VERSION
gpu-a      Ready,SchedulingDisabled   <none>   12d   v1.30.1
""",
            """\
NAME      READY   STATUS    RESTARTS   AGE
train-0   0/1     Pending   0          25m
""",
            "0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "cord upgrade": (
        "node-cordoned",
        (
            """\
Labels:             nvidia.com/gpu-driver-upgrade-state=drain-required
Taints:             node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:      true
Capacity:
  nvidia.com/gpu:  8
""",
            "0/4 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "pvc sched old": (
        "pvc-unbound",
        (
            """\
running "VolumeBinding" filter plugin for pod "milvus-0": pod has unbound immediate PersistentVolumeClaims
""",
        ),
    ),
    "quota patch": (
        "quota-exceeded",
        (
            """\
Warning  FailedCreate  1m (x5)  statefulset-controller  create Pod llm-0 in StatefulSet llm failed error: pods "llm-0" is forbidden: exceeded quota: ns-quota, requested: limits.nvidia.com/gpu=1, used: limits.nvidia.com/gpu=2, limited: limits.nvidia.com/gpu=2
""",
        ),
    ),
    "quota ray": (
        "quota-exceeded",
        (
            """\
Error creating pod: pods "raycluster-worker-x" is forbidden: exceeded quota: ray, requested: requests.cpu=8, used: requests.cpu=28, limited: requests.cpu=32
""",
        ),
    ),
    "quota spark": (
        "quota-exceeded",
        (
            """\
io.fabric8.kubernetes.client.KubernetesClientException: Failure executing: POST at: https://kubernetes.default.svc/api/v1/namespaces/ml/pods. Message: pods "exec-3" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4.
""",
        ),
    ),
    "bypass hami webhook": (
        "scheduler-bypassed",
        (
            """\
Warning  FailedCreate  5s  replicaset-controller  Error creating: admission webhook "vgpu.hami.io" denied the request: pod has node assigned
""",
        ),
    ),
    "bypass EOF": (
        "scheduler-bypassed",
        (
            """\
apiVersion: v1
kind: Pod
metadata:
  name: vgpu-pod
spec:
  nodeName: n6
  containers:
  - name: u
    image: ubuntu:20.04
    resources: {limits: {nvidia.com/gpu: 4}}
""",
            "Warning  UnexpectedAdmissionError  10s   kubelet  Allocate failed due to rpc error: code = Unavailable desc = error reading from server: EOF, which is unexpected\n",
        ),
    ),
    "sched name typo": (
        "scheduler-name-wrong",
        (
            """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  schedulerName: run-ai-scheduler
  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]
""",
            """\
$ kubectl describe pod p
Name:         p
Namespace:    default
Node:         <none>
Status:       Pending
QoS Class:       BestEffort
Node-Selectors:  <none>
Events:          <none>
""",
        ),
    ),
    "vol zone newest": (
        "volume-node-affinity-conflict",
        (
            "0/7 nodes are available: 2 node(s) had volume node affinity conflict, 5 node(s) didn't match Pod's node affinity/selector. preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "vol PV": (
        "volume-node-affinity-conflict",
        (
            "0/2 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}, 1 node(s) had volume node affinity conflict.\n",
        ),
    ),
    "prose taint": (
        "untolerated-taint",
        (
            """\
Hi all, my vLLM pod won't start on the new AKS GPU pool, it says there are not enough GPUs but the node has one free!

```
$ kubectl describe pod vllm-0
...
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  88s   default-scheduler  0/3 nodes are available: 1 node(s) had untolerated taint {sku: gpu}, 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.
```

Any idea?
""",
        ),
    ),
    "prose kueue": (
        "kueue-quota-wait",
        (
            """\
I think Kueue is broken. The second job never starts although the nodes are idle:

> kubectl -n ml get workload
> NAME            QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE
> job-a-1         q       cq            True                  5m
> job-b-2         q                                           4m

events of the workload: `couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 4 more needed`
""",
        ),
    ),
    "prose quota": (
        "quota-exceeded",
        (
            """\
**What happened**: The TFJob stays at Created, no pods.

Controller log:
time="2024-01-01T10:00:00Z" level=warning msg="Failed to create pod ml/mnist-worker-0: pods \\"mnist-worker-0\\" is forbidden: exceeded quota: kf-resource-quota, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1" job=ml.mnist
""",
        ),
    ),
    "schedname kai": (
        "scheduler-name-wrong",
        (
            """\
kind: Pod
apiVersion: v1
metadata: {name: a, namespace: t, labels: {kai.scheduler/queue: test}}
spec:
  schedulerName: kai-schedular
  containers: [{name: m, image: u, resources: {limits: {nvidia.com/gpu: 1}}}]
""",
            """\
NAME   READY   STATUS    RESTARTS   AGE
a      0/1     Pending   0          18m
""",
            "No events found in t namespace.\n",
        ),
    ),
    "req per-container": (
        "request-exceeds-node-size",
        (
            """\
apiVersion: v1
kind: Pod
metadata: {name: two}
spec:
  containers:
  - {name: cuda, image: a, resources: {limits: {nvidia.com/gpu: 1}}}
  - {name: digits, image: b, resources: {limits: {nvidia.com/gpu: 1}}}
""",
            "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n",
            """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
NAME     GPU
n1       1
n2       1
n3       <none>
""",
        ),
    ),
    "req vs describe node": (
        "request-exceeds-node-size",
        (
            """\
Name: w
Status: Pending
Containers:
  c:
    Limits:
      nvidia.com/gpu:  2
    Requests:
      nvidia.com/gpu:  2
Events:
  Warning  FailedScheduling  60s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
""",
            """\
Name:   n1
Capacity:
  nvidia.com/gpu:  1
Allocatable:
  nvidia.com/gpu:  1
Allocated resources:
  Resource           Requests     Limits
  nvidia.com/gpu     0            0
""",
        ),
    ),
    "volcano stale": (
        "volcano-stale-podgroups",
        (
            """\
$ kubectl get podgroup -n ml
NAME                STATUS    MINMEMBER   RUNNINGS   AGE
podgroup-aaa        Running   1                      20d
podgroup-bbb        Inqueue   1                      20d
podgroup-new        Pending   1                      1h
$ kubectl describe podgroup podgroup-new -n ml | tail -4
Events:
  Type    Reason         Age               From     Message
  ----    ------         ----              ----     -------
  Normal  Unschedulable  2m (x900 over 1h) volcano  resource in cluster is overused
""",
        ),
    ),
    "asc hpa": (
        "autoscaler-limit-reached",
        (
            """\
{"level":"ERROR","time":"2025-04-29T10:00:00.000Z","logger":"controller","message":"could not schedule pod","commit":"abc","controller":"provisioner","Pod":{"name":"x","namespace":"y"},"error":"incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"210m\\"}, incompatible requirements, label \\"gpu\\" does not have known values; all available instance types exceed limits for nodepool: \\"gpu\\""}
""",
        ),
    ),
    "pvc ceph": (
        "pvc-unbound",
        (
            """\
  Warning  FailedScheduling  66s  default-scheduler  0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.
  Warning  ProvisioningFailed  20s (x6 over 66s)  rook-ceph.rbd.csi.ceph.com_x  failed to provision volume with StorageClass "rook-ceph-block": rpc error: code = DeadlineExceeded desc = context deadline exceeded
""",
        ),
    ),
    "adm pss gpu": (
        "admission-policy-denied",
        (
            """\
Error from server: admission webhook "gpu-policy.example.com" denied the request: GPU workloads must set priorityClassName
""",
        ),
    ),
    "b gang": (
        "gang-scheduling-wait",
        (
            "  Warning  FailedScheduling  11s  volcano  pod group is not ready, 3 Pending, 1 Running, 4 minAvailable; Pending: 3 Unschedulable\n",
        ),
    ),
    "b gang cosched": (
        "gang-scheduling-wait",
        (
            "  Warning  FailedScheduling  20s  scheduler-plugins-scheduler  pre-filter pod ml/w-0 cannot find enough sibling pods, current pods number: 2, minMember of group: 4\n",
        ),
    ),
    "b gang kai": (
        "gang-scheduling-wait",
        (
            "  Warning  Unschedulable  4s  kai-scheduler  Resources were found for 2 pods while 4 are required for gang scheduling. Additional pods cannot be scheduled due to: no nodes with enough resources were found\n",
        ),
    ),
    "b other resource": (
        "insufficient-other-resource",
        (
            "0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.\n",
        ),
    ),
    "b too many pods": (
        "insufficient-other-resource",
        (
            "0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.\n",
        ),
    ),
    "b kueue missing queue": (
        "kueue-not-admitted",
        ("  Warning  Pending  3s  kueue-admission  LocalQueue gpu doesn't exist\n",),
    ),
    "b kueue inactive": (
        "kueue-not-admitted",
        (
            """\
    Message:  ClusterQueue gpu-cq is inactive
    Reason:   Inadmissible
""",
        ),
    ),
    "b cloud": (
        "cloud-capacity-exhausted",
        (
            """\
{"level":"ERROR","time":"2024-11-11T10:00:00Z","logger":"controller","message":"failed launching nodeclaim","error":"insufficient capacity error: all requested instance types were unavailable during launch"}
""",
        ),
    ),
    "b cloud aws ice": (
        "cloud-capacity-exhausted",
        (
            "creating instance, insufficient capacity, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity in the Availability Zone you requested (us-east-1a).\n",
            "0/9 nodes are available: 9 Insufficient nvidia.com/gpu. preemption: 0/9 nodes are available: 2 No preemption victims found for incoming pod, 7 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "b gke stockout": (
        "cloud-capacity-exhausted",
        (
            """\
  Normal   FailedScaleUp  3m  cluster-autoscaler  Node scale up in zones us-central1-a associated with this pod failed: GCE out of resources. Pod is at risk of not being scheduled.
  Warning  FailedScheduling  2m  default-scheduler  0/4 nodes are available: 4 Insufficient nvidia.com/gpu.
""",
        ),
    ),
    "b gke quota": (
        "cloud-instance-quota-exceeded",
        (
            "  Normal   FailedScaleUp  3m  cluster-autoscaler  Node scale up in zones us-central1-a associated with this pod failed: GCE quota exceeded. Pod is at risk of not being scheduled.\n",
        ),
    ),
    "b dra": (
        "resource-claim-not-allocated",
        (
            "0/2 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.\n",
        ),
    ),
    "b gates": (
        "scheduling-gated",
        (
            """\
NAME      READY   STATUS            RESTARTS   AGE
train-0   0/1     SchedulingGated   0          15m
""",
        ),
    ),
    "b webhook": (
        "admission-webhook-unavailable",
        (
            """\
Error creating: Internal error occurred: failed calling webhook "mpod.kb.io": failed to call webhook: Post "https://kueue-webhook-service.kueue-system.svc:443/mutate--v1-pod?timeout=10s": no endpoints available for service "kueue-webhook-service"
""",
        ),
    ),
    "placed by another scheduler quiet": (
        "",
        (
            """\
Events:
  Type    Reason     Age   From     Message
  ----    ------     ----  ----     -------
  Normal  Scheduled  58s   volcano  Successfully assigned ml/train-0 to gpu-1
  Normal  Pulled     57s   kubelet  Container image "registry.example/t:1" already present on machine
  Normal  Started    56s   kubelet  Started container main
""",
        ),
    ),
    "a claim that binds quiet": (
        "",
        (
            """\
NAME         STATUS   VOLUME     CAPACITY   ACCESS MODES   STORAGECLASS   AGE
models-pvc   Bound    pvc-0a1b   500Gi      RWX            fast           12d
""",
        ),
    ),
    "kai places quiet": (
        "",
        (
            """\
  Normal  Scheduled  3s  kai-scheduler  Successfully assigned pod team-a/x to node gpu-1 at node-pool default
  Normal  Bound      2s  binder         Pod bound successfully to node gpu-1
""",
        ),
    ),
    "quota patch ok quiet": (
        "",
        ("  Normal  SuccessfulCreate  6s  job-controller  Created pod: train-x\n",),
    ),
    "cordoned others, pod placed quiet": (
        "",
        (
            """\
NAME      READY   STATUS    RESTARTS   AGE
train-0   1/1     Running   0          25m
""",
        ),
    ),
    "gpus behind a volcano message": (
        "?gpu-capacity-exhausted",
        ("  Warning  FailedScheduling  4s  volcano  0/3 nodes are unavailable: 3 Insufficient nvidia.com/gpu.\n",),
    ),
    "threads quiet": (
        "",
        (
            """\
INFO: starting 64 threads
OMP: Info #276: omp_set_nested routine deprecated, please use omp_set_max_active_levels instead.
""",
        ),
    ),
    "control plane taints beside a fit quiet": (
        "",
        (
            """\
  Warning  FailedScheduling  2m   default-scheduler  0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu.
  Normal   Scheduled         70s  default-scheduler  Successfully assigned ml/t to gpu-1
  Normal   Started           60s  kubelet            Started container main
""",
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)
