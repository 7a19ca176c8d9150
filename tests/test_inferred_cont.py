# ruff: noqa: E501 - what is pasted has long lines
"""Indirect evidence of container runtimes, the device plugin, feature discovery and sharing: configurations, chosen fields, tables; and what
is found in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.kubectl import jsonpath_answers
from gpudoctor.tools.kubectl.jsonpath import asked, words_of
from gpudoctor.tools.parser import ParseError
from tests.heads import sliced
from tests.pasted import diagnosed, judge

# What was pasted, in one file or more → the first cause; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cgroup grep containerd+kubelet": (
        "cgroup-driver-mismatch",
        (
            """\
root@gpu-21:~# grep -n SystemdCgroup /etc/containerd/config.toml
125:            SystemdCgroup = false
root@gpu-21:~# grep cgroupDriver /var/lib/kubelet/config.yaml
cgroupDriver: systemd
root@gpu-21:~# systemctl is-active kubelet
active
""",
        ),
    ),
    "cgroup crictl info": (
        "cgroup-driver-mismatch",
        (
            """\
$ sudo crictl info | grep -i systemdCgroup
            "SystemdCgroup": false
$ ps aux | grep kubelet
root  1893  3.1  0.1 2205128 98000 ?  Ssl  09:12  5:10 /usr/bin/kubelet --kubeconfig=/etc/kubernetes/kubelet.conf --cgroup-driver=systemd --container-runtime-endpoint=unix:///run/containerd/containerd.sock
""",
        ),
    ),
    "cgroup same": (
        "",
        (
            """\
root@gpu-21:~# grep -n SystemdCgroup /etc/containerd/config.toml
125:            SystemdCgroup = true
139:            SystemdCgroup = true
root@gpu-21:~# grep cgroupDriver /var/lib/kubelet/config.yaml
cgroupDriver: systemd
""",
        ),
    ),
    "cgroup nvidia entry only": (
        "cgroup-driver-mismatch",
        (
            """\
[plugins."io.containerd.grpc.v1.cri".containerd]
  default_runtime_name = "nvidia"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
    SystemdCgroup = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
      BinaryName = "/usr/bin/nvidia-container-runtime"
""",
        ),
    ),
    "lost daemon-reload": (
        "container-lost-gpu-cgroup-devices",
        (
            """\
$ kubectl exec trainer-7 -- nvidia-smi
Failed to initialize NVML: Unknown Error
command terminated with exit code 255
""",
            """\
# on the node
[root@n7 ~]# nvidia-smi -L
GPU 0: NVIDIA A40 (UUID: GPU-1f0a9ac4-12f1-73a7-90d4-5c7b4bd31e02)
[root@n7 ~]# journalctl -b | grep Reloading
Jun 02 06:25:14 n7 systemd[1]: Reloading.
""",
        ),
    ),
    "lost strace docker": (
        "container-lost-gpu-cgroup-devices",
        (
            """\
$ docker exec 4d1 python3 -c 'import torch; torch.zeros(1).cuda()'
RuntimeError: No CUDA GPUs are available
$ docker exec 4d1 strace -e openat nvidia-smi 2>&1 | grep nvidiactl
openat(AT_FDCWD, "/dev/nvidiactl", O_RDWR|O_CLOEXEC) = -1 EPERM (Operation not permitted)
$ docker restart 4d1 && docker exec 4d1 nvidia-smi -L
GPU 0: NVIDIA RTX A5000 (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
""",
        ),
    ),
    "cpu manager state file": (
        "cpu-manager-strips-gpu-devices",
        (
            """\
$ cat /var/lib/kubelet/cpu_manager_state
{"policyName":"static","defaultCpuSet":"0-1,8-63","entries":{"8d5f…":{"main":"2-7"}},"checksum":14413152}
$ kubectl exec ft-0 -- nvidia-smi
Failed to initialize NVML: Unknown Error
""",
        ),
    ),
    "cpu manager fine": (
        "",
        (
            """\
$ cat /var/lib/kubelet/cpu_manager_state
{"policyName":"static","defaultCpuSet":"0-1,8-63","entries":{},"checksum":14413152}
$ kubectl exec ft-0 -- nvidia-smi -L
GPU 0: NVIDIA L4 (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
""",
        ),
    ),
    "mountinfo": (
        "mount-propagation-not-shared",
        (
            """\
$ kubectl -n gpu-operator get pods -o wide
NAME                                 READY   STATUS                 RESTARTS   AGE   IP           NODE
nvidia-driver-daemonset-k2vlb        0/1     CreateContainerError   0          9m    10.8.0.4     void-1
$ ssh void-1 cat /proc/self/mountinfo
21 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw
24 21 0:21 / /run rw,nosuid,nodev - tmpfs tmpfs rw,mode=755
""",
        ),
    ),
    "mount shared": (
        "toolkit-not-ready",
        (
            """\
$ kubectl -n gpu-operator get pods -o wide
NAME                                       READY   STATUS                 RESTARTS   AGE   IP           NODE
nvidia-container-toolkit-daemonset-k2vlb   0/1     CreateContainerError   0          9m    10.8.0.4     void-1
$ findmnt -o TARGET,PROPAGATION /
TARGET PROPAGATION
/      shared
""",
        ),
    ),
    "docker info not default": (
        "runtime-not-injecting-driver",
        (
            """\
$ docker info | grep -i -A1 runtimes
 Runtimes: nvidia runc io.containerd.runc.v2
 Default Runtime: runc
$ kubectl -n kube-system logs nvidia-device-plugin-daemonset-b7p2k
E0102 08:11:00.100000       1 factory.go:87] Incompatible strategy detected auto
E0102 08:11:00.100010       1 factory.go:88] If this is a GPU node, did you configure the NVIDIA Container Toolkit?
""",
        ),
    ),
    "dockerfile with driver": (
        "image-contains-driver-files",
        (
            """\
$ docker run --rm --gpus all acme/vision:7 true
docker: Error response from daemon: failed to create task for container: ... nvidia-container-cli: mount error: ... /usr/bin/nvidia-smi: file exists
$ docker run --rm --entrypoint ls acme/vision:7 -l /usr/bin/nvidia-smi
-rwxr-xr-x 1 root root 755032 Jan 10 2024 /usr/bin/nvidia-smi
""",
        ),
    ),
    "ds missing": (
        "device-plugin-not-running",
        (
            """\
$ kubectl get nodes -o custom-columns=NODE:.metadata.name,TYPE:.metadata.labels.node\\.kubernetes\\.io/instance-type,GPUS:.status.capacity.nvidia\\.com/gpu
NODE       TYPE                    GPUS
pool-a-1   Standard_NC6s_v3        <none>
pool-s-1   Standard_D4s_v5         <none>
""",
        ),
    ),
    "jsonpath empty capacity": (
        "device-plugin-not-running",
        (
            """\
$ kubectl get node gx-1 -o jsonpath='{.status.capacity}'
{"cpu":"32","ephemeral-storage":"482GB","hugepages-2Mi":"0","memory":"131900660Ki","pods":"110"}
$ kubectl get ds -A | grep -i nvidia
$ ssh gx-1 nvidia-smi -L
GPU 0: NVIDIA L40S (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
""",
        ),
    ),
    "taint jsonpath": (
        "device-plugin-repelled-by-taint",
        (
            """\
$ kubectl get node gpu-w9 -o jsonpath='{.spec.taints}{"\\n"}{.status.allocatable.nvidia\\.com/gpu}'
[{"effect":"NoSchedule","key":"team","value":"nlp"}]

$ kubectl -n kube-system get ds nvidia-device-plugin-daemonset -o jsonpath='{.spec.template.spec.tolerations}{"\\n"}{.status.desiredNumberScheduled}'
[{"effect":"NoSchedule","key":"nvidia.com/gpu","operator":"Exists"}]
0
""",
        ),
    ),
    "go-template": (
        "device-plugin-repelled-by-taint",
        (
            """\
$ kubectl get node gpu-w9 -o jsonpath='{.spec.taints[*].key}'
dedicated
$ kubectl -n kube-system get ds
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin-daemonset   0         0         0       0            0           <none>          3d
""",
        ),
    ),
    "operator OOM describe": (
        "operator-oomkilled",
        (
            """\
$ kubectl -n gpu-operator get pod -l app=gpu-operator -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.containerStatuses[0].lastState.terminated.reason}{" "}{.status.containerStatuses[0].restartCount}{"\\n"}{end}'
gpu-operator-6b8f7d9c5-zkq4m OOMKilled 41
""",
        ),
    ),
    "psa ns yaml": (
        "pod-security-forbidden",
        (
            """\
apiVersion: v1
kind: Namespace
metadata:
  name: gpu-operator
  labels:
    pod-security.kubernetes.io/enforce: restricted
""",
            """\
$ kubectl get ds -n gpu-operator
NAME                                 DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                    AGE
nvidia-container-toolkit-daemonset   3         0         0       0            0           nvidia.com/gpu.deploy.container-toolkit=true     12m
nvidia-device-plugin-daemonset       3         0         0       0            0           nvidia.com/gpu.deploy.device-plugin=true         12m
""",
        ),
    ),
    "psa privileged": (
        "",
        (
            """\
$ kubectl get ns gpu-operator -o jsonpath='{.metadata.labels}'
{"kubernetes.io/metadata.name":"gpu-operator","pod-security.kubernetes.io/enforce":"privileged"}
$ kubectl get ds -n gpu-operator
NAME                                 DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                    AGE
nvidia-container-toolkit-daemonset   3         3         3       3            3           nvidia.com/gpu.deploy.container-toolkit=true     12m
""",
        ),
    ),
    "mig -L none": (
        "mig-enabled-without-instances",
        (
            """\
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
$ nvidia-smi -q | grep -A3 -i 'mig mode'
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
$ python -c 'import torch; torch.zeros(1).cuda()'
RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
""",
        ),
    ),
    "mig pending": (
        "mig-mode-change-pending",
        (
            """\
$ nvidia-smi --query-gpu=index,mig.mode.current,mig.mode.pending --format=csv,noheader
0, Disabled, Enabled
1, Disabled, Enabled
""",
        ),
    ),
    "mig strategy": (
        "mig-strategy-mismatch",
        (
            """\
$ kubectl get node dg-3 -o json | jq -c '.metadata.labels | with_entries(select(.key|startswith("nvidia.com/mig")))'
{"nvidia.com/mig.capable":"true","nvidia.com/mig.config":"custom-a","nvidia.com/mig.strategy":"single"}
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
  MIG 3g.40gb     Device  0: (UUID: MIG-9d1f2c35-1bf5-5d05-9b39-1a70a2a9f001)
  MIG 1g.10gb     Device  1: (UUID: MIG-9d1f2c35-1bf5-5d05-9b39-1a70a2a9f002)
  MIG 1g.10gb     Device  2: (UUID: MIG-9d1f2c35-1bf5-5d05-9b39-1a70a2a9f003)
""",
        ),
    ),
    "mig invalid label": (
        "mig-invalid-configuration",
        (
            """\
$ kubectl get nodes -L nvidia.com/gpu.product,nvidia.com/gpu.count
NAME   STATUS   ROLES    AGE   VERSION   GPU.PRODUCT                          GPU.COUNT
dg-3   Ready    <none>   90d   v1.29.4   NVIDIA-A100-SXM4-80GB-MIG-INVALID    0
""",
        ),
    ),
    "mps pod env": (
        "mps-daemon-not-ready",
        (
            """\
$ kubectl -n gpu-operator get pods
NAME                                                  READY   STATUS             RESTARTS        AGE
nvidia-device-plugin-daemonset-lm2qk                  1/2     CrashLoopBackOff   9 (2m ago)      25m
nvidia-device-plugin-mps-control-daemon-p8x7c         0/1     CrashLoopBackOff   9 (3m ago)      25m
""",
        ),
    ),
    "ts replicas not applied capacity": (
        "time-slicing-config-not-applied",
        (
            """\
$ kubectl -n gpu-operator get cm ts -o yaml
"""
            + sliced("ts", 4),
            """\
$ kubectl get nodes -o custom-columns=N:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
N       GPU
gpu-a   2
""",
        ),
    ),
    "ts misspelt": (
        "sharing-config-mismatch",
        (
            """\
version: v1
sharing:
  timeslicing:
    resources:
      - name: nvidia.com/gpu
        replicas: 4
""",
        ),
    ),
    "ts fine": (
        "",
        (
            """\
$ kubectl -n gpu-operator get cm ts -o jsonpath='{.data.any}'
version: v1
sharing:
  timeSlicing:
    resources:
      - name: nvidia.com/gpu
        replicas: 4
$ kubectl get nodes -o custom-columns=N:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu
N       GPU
gpu-a   8
""",
        ),
    ),
    "cdi podman": (
        "cdi-device-unresolvable",
        (
            """\
$ podman run --rm --device nvidia.com/gpu=2 ubuntu true
Error: setting up CDI devices: failed to inject devices: unresolvable CDI devices nvidia.com/gpu=2
$ nvidia-ctk cdi list
INFO[0000] Found 3 CDI devices
nvidia.com/gpu=0
nvidia.com/gpu=1
nvidia.com/gpu=all
""",
        ),
    ),
    "pod pending user taint": (
        "untolerated-taint",
        (
            """\
$ kubectl get nodes -o json | jq -c '.items[] | {n: .metadata.name, t: .spec.taints, g: .status.allocatable["nvidia.com/gpu"]}'
{"n":"cpu-1","t":null,"g":null}
{"n":"gpu-1","t":[{"effect":"NoSchedule","key":"lab","value":"vision"}],"g":"8"}
$ kubectl get pod fit-0 -o json | jq -c '{phase: .status.phase, tol: .spec.tolerations, lim: .spec.containers[0].resources.limits}'
{"phase":"Pending","tol":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready","operator":"Exists","tolerationSeconds":300}],"lim":{"nvidia.com/gpu":"1"}}
""",
        ),
    ),
    "pod oom json": (
        "host-oom-kill",
        (
            """\
$ kubectl get pod w-3 -o jsonpath='{.status.containerStatuses[0].lastState}'
{"terminated":{"containerID":"containerd://aa","exitCode":137,"finishedAt":"2025-01-01T00:00:00Z","reason":"OOMKilled","startedAt":"2024-12-31T23:59:00Z"}}
""",
        ),
    ),
    "image pull jsonpath": (
        "image-pull-failed",
        (
            """\
$ kubectl get pod w-3 -o jsonpath='{.status.containerStatuses[0].state.waiting.message}'
Back-off pulling image "registry.acme.io/ml/train:9": ErrImagePull: failed to pull and unpack image: failed to resolve reference "registry.acme.io/ml/train:9": unexpected status from HEAD request: 403 Forbidden
""",
        ),
    ),
    "visible pods w/o gpu jsonpath": (
        "gpu-not-requested",
        (
            """\
$ kubectl get pod nb-1 -o jsonpath='{.spec.containers[0].resources}'
{"limits":{"cpu":"8","memory":"32Gi"},"requests":{"cpu":"8","memory":"32Gi"}}
$ kubectl exec nb-1 -- python -c 'import torch; print(torch.cuda.is_available())'
False
""",
        ),
    ),
    "nodes wide -o json jq tsv": (
        "device-unhealthy",
        (
            """\
$ kubectl get nodes -o json | jq -r '.items[] | [.metadata.name, .status.capacity["nvidia.com/gpu"], .status.allocatable["nvidia.com/gpu"]] | @tsv'
gpu-1	8	8
gpu-2	8	7
""",
        ),
    ),
    "jsonpath range": (
        "device-unhealthy",
        (
            """\
$ kubectl get nodes -o=jsonpath='{range .items[*]}{.metadata.name}{"\\t"}{.status.capacity.nvidia\\.com/gpu}{"\\t"}{.status.allocatable.nvidia\\.com/gpu}{"\\n"}{end}'
gpu-1	8	8
gpu-2	8	6
cpu-1\t\t
""",
        ),
    ),
    "jsonpath range healthy": (
        "",
        (
            """\
$ kubectl get nodes -o=jsonpath='{range .items[*]}{.metadata.name}{"\\t"}{.status.capacity.nvidia\\.com/gpu}{"\\t"}{.status.allocatable.nvidia\\.com/gpu}{"\\n"}{end}'
gpu-1	8	8
gpu-2	8	8
cpu-1\t\t
""",
        ),
    ),
    "condition filter": (
        "node-down",
        (
            """\
$ kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}'
gpu-1 True
gpu-2 Unknown
""",
        ),
    ),
    "pods custom reason": (
        "unexpected-admission-error",
        (
            """\
$ kubectl get pods -n ml -o custom-columns='POD:.metadata.name,STATE:.status.phase,WHY:.status.reason'
POD        STATE     WHY
a-0        Running   <none>
a-1        Failed    UnexpectedAdmissionError
""",
        ),
    ),
    "mig resource mismatch": (
        "mig-resource-name-mismatch",
        (
            """\
$ kubectl get node h-1 -o json | jq '.status.allocatable'
{
  "cpu": "96",
  "memory": "1056Gi",
  "nvidia.com/gpu": "0",
  "nvidia.com/mig-2g.20gb": "12",
  "pods": "110"
}
$ kubectl get pod inf-0 -o jsonpath='{.spec.containers[*].resources.limits}{"\\n"}{.status.phase}'
{"nvidia.com/mig-1g.10gb":"1"}
Pending
""",
        ),
    ),
    "node label mig failed": (
        "mig-config-not-applied",
        (
            """\
$ kubectl get node h-1 -o json | jq -r '.metadata.labels["nvidia.com/mig.config.state"], .metadata.labels["nvidia.com/mig.config"]'
failed
all-1g.10gb
""",
        ),
    ),
    "time slicing default missing": (
        "time-slicing-config-not-applied",
        (
            """\
$ kubectl get clusterpolicy cluster-policy -o jsonpath='{.spec.devicePlugin.config}'
{"name":"shared-gpus"}
$ kubectl -n gpu-operator get cm shared-gpus -o yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: shared-gpus, namespace: gpu-operator}
data:
  a10: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - {name: nvidia.com/gpu, replicas: 5}
$ kubectl get node g-1 -o jsonpath='{.status.capacity.nvidia\\.com/gpu}'
1
""",
        ),
    ),
    "time slicing mps daemonset healthy": (
        "",
        (
            """\
$ kubectl -n nvidia-device-plugin get ds
NAME                                       DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                 AGE
nvdp-nvidia-device-plugin                  2         2         2       2            2           <none>                        18m
nvdp-nvidia-device-plugin-mps-control-daemon   0         0         0       0            0           nvidia.com/mps.capable=true   18m
""",
        ),
    ),
    "operator oom dmesg": (
        "operator-oomkilled",
        (
            """\
[4123345.118486] Memory cgroup out of memory: Killed process 11331 (gpu-operator) total-vm:1512344kB, anon-rss:348120kB, file-rss:0kB, shmem-rss:0kB, UID:0
""",
        ),
    ),
    "operator 137 no limit": (
        "",
        (
            """\
$ kubectl get pod gpu-operator-7bc9 -n gpu-operator -o json | jq -c '.status.containerStatuses[0]|{ready,restartCount}'
{"ready":true,"restartCount":0}
""",
        ),
    ),
    "nfd worker missing labels": (
        "nfd-labels-missing",
        (
            """\
$ kubectl logs -n gpu-operator deploy/gpu-operator | tail -2
{"level":"info","ts":1700000000.1,"logger":"controllers.ClusterPolicy","msg":"No GPU node found, watching for new nodes to join the cluster.","hasNFDLabels":false}
{"level":"info","ts":1700000000.2,"logger":"controllers.ClusterPolicy","msg":"NFD labels missing","hasNFDLabels":false}
""",
        ),
    ),
    "open files": (
        "container-limits",
        (
            """\
$ kubectl exec t-0 -- sh -c 'ulimit -n'
1024
$ kubectl logs t-0 | tail -1
OSError: [Errno 24] Too many open files
""",
        ),
    ),
    "csv noheader mem healthy": (
        "",
        (
            """\
$ nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv,noheader,nounits
0, 1024, 81559
1, 4, 81559
""",
        ),
    ),
    "torch False node fine": (
        "",
        (
            """\
$ nvidia-smi -L
GPU 0: NVIDIA L4 (UUID: GPU-77aa0f5c-98f2-1b4c-b5ab-e1ef98b2b6a3)
$ python -c 'import torch; print(torch.cuda.is_available())'
True
""",
        ),
    ),
    "sharing label none healthy": (
        "",
        (
            """\
$ kubectl get nodes -L nvidia.com/gpu.replicas,nvidia.com/gpu.sharing-strategy
NAME    STATUS   ROLES    AGE   VERSION   GPU.REPLICAS   GPU.SHARING-STRATEGY
l4-01   Ready    <none>   77d   v1.30.2   1              none
""",
        ),
    ),
    "two pools, one shared": (
        "",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata: {name: shared, namespace: gpu-operator}
data:
  t4: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - {name: nvidia.com/gpu, replicas: 4}
  plain: |
    version: v1
    flags: {migStrategy: none}
""",
            """\
$ kubectl get nodes -L nvidia.com/gpu.replicas,nvidia.com/device-plugin.config
NAME    STATUS   ROLES    AGE   VERSION   GPU.REPLICAS   DEVICE-PLUGIN.CONFIG
t4-01   Ready    <none>   77d   v1.30.2   4              t4
h1-01   Ready    <none>   77d   v1.30.2   1              plain
""",
        ),
    ),
    "describe probe budget": (
        "probe-kills-slow-start",
        (
            """\
$ kubectl describe pod sgl-0
Name:             sgl-0
Namespace:        serve
Node:             g9/10.0.0.9
Status:           Running
Containers:
  sglang:
    Image:          lmsysorg/sglang:v0.4
    State:          Running
      Started:      Tue, 04 Mar 2025 10:10:02 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    137
      Started:      Tue, 04 Mar 2025 10:08:01 +0000
      Finished:     Tue, 04 Mar 2025 10:10:01 +0000
    Ready:          False
    Restart Count:  7
    Limits:
      nvidia.com/gpu:  1
    Liveness:       http-get http://:30000/health delay=30s timeout=1s period=10s #success=1 #failure=6
Conditions:
  Type              Status
  Ready             False
""",
        ),
    ),
    "mig gi no ci": (
        "mig-enabled-without-instances",
        (
            """\
$ nvidia-smi mig -lgi
+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 3g.20gb          9        1          4:4     |
+-------------------------------------------------------+
$ nvidia-smi mig -lci
No compute instances found: Not Found
$ python3 t.py
RuntimeError: No CUDA GPUs are available
""",
        ),
    ),
    "exporter lib missing ls": (
        "nvml-library-not-visible-in-pod",
        (
            """\
$ kubectl -n monitoring logs dcgm-exporter-rvd2p | tail -2
time="2024-05-05T10:00:00Z" level=info msg="Starting dcgm-exporter"
time="2024-05-05T10:00:00Z" level=fatal msg="Cannot init NVML library; err: ERROR_LIBRARY_NOT_FOUND"
$ kubectl -n monitoring get pod dcgm-exporter-rvd2p -o jsonpath='{.spec.runtimeClassName}'

$ kubectl get runtimeclass
NAME     HANDLER   AGE
nvidia   nvidia    80d
""",
        ),
    ),
    "cdi zero": (
        "cdi-device-unresolvable",
        (
            """\
$ kubectl describe pod inf | tail -1
  Warning  Failed  3s  kubelet  Error: failed to create containerd task: CDI device injection failed: unresolvable CDI devices management.nvidia.com/gpu=all
$ nvidia-ctk cdi list
INFO[0000] Found 0 CDI devices
""",
        ),
    ),
    "killed long after": (
        "",
        (
            """\
$ kubectl describe pod sgl-0
Name:             sgl-0
Namespace:        serve
Node:             g9/10.0.0.9
Status:           Running
Containers:
  sglang:
    Image:          lmsysorg/sglang:v0.4
    State:          Running
      Started:      Tue, 04 Mar 2025 11:40:41 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    137
      Started:      Tue, 04 Mar 2025 10:08:01 +0000
      Finished:     Tue, 04 Mar 2025 11:40:40 +0000
    Ready:          False
    Restart Count:  7
    Limits:
      nvidia.com/gpu:  1
    Liveness:       http-get http://:30000/health delay=30s timeout=1s period=10s #success=1 #failure=6
Conditions:
  Type              Status
  Ready             False
""",
        ),
    ),
}
COMMANDS = {
    "kubectl get no a -o jsonpath='{.status.capacity}' | tr , '\\n'": ("Node", "a"),
    "sudo kubectl -n x get pod/p -ojsonpath={.spec.nodeName}": ("Pod", "p"),
    "oc get ds -n x d -o json | jq '.status | {desiredNumberScheduled}'": ("DaemonSet", "d"),
    "kubectl get pods -A -o custom-columns=N:.metadata.name,P:.status.phase --no-headers": ("Pod", ""),
}
OTHERS = (
    "kubectl get pods -o wide",
    "kubectl get pod,svc -o jsonpath={.kind}",
    "jq .status f.json",
    "kubectl get node a -o jsonpath='{.x",
    "",
)


@pytest.mark.parametrize("name", TEXTS)
def test_pasted(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_asks_for(command: str) -> None:
    question = asked(tuple(words_of(command)))
    assert question is not None
    assert (question.kind, question.name) == COMMANDS[command]


@pytest.mark.parametrize("command", OTHERS)
def test_commands_that_name_no_paths(command: str) -> None:
    assert asked(tuple(words_of(command))) is None


def test_what_is_not_asked_for_is_not_known() -> None:
    found = read("kubectl get pod p -n ml -o jsonpath='{.status.phase}'", "Running")
    (pod,) = found["pods"]
    assert (pod.namespace, pod.pod, pod.phase) == ("ml", "p", "Running")  # type: ignore[attr-defined]
    assert {"gpus", "node", "tolerations"} <= pod.gaps.keys()


def test_rows_of_chosen_columns() -> None:
    command = "kubectl get nodes -o custom-columns='N:.metadata.name,G:.status.allocatable.nvidia\\.com/gpu,T:.spec.taints[*].key'"
    found = read(command, "N     G        T\na-1   8        lab,tier\nb-2   <none>   <none>\n")
    assert [(n.node, n.gpus_allocatable, n.taint_keys) for n in found["nodes"]] == [("a-1", 8, ["lab", "tier"]), ("b-2", 0, [])]  # type: ignore[attr-defined]


@settings(max_examples=60)
@given(st.sampled_from([*COMMANDS, *OTHERS]), st.text(alphabet="{}[]\"',:.\n\t\0 \x1bnNodeé1", max_size=200), st.text(max_size=40))
def test_hostile_answers(command: str, text: str, more: str) -> None:
    for asking in (command, command + more):
        try:
            read(asking, text + more)
        except ParseError:
            continue


def test_a_long_answer_takes_linear_time() -> None:
    with pytest.raises(ParseError):
        read("kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.taints[*].key} {.status.phase}{end}'", "{ " * 500_000)


def read(command: str, text: str) -> dict[str, list[object]]:
    """The facts of an answer."""
    output = Output(command=Command(tuple(words_of(command))), pages=(text.encode("utf-8", "replace"),), source="pasted.txt")
    return dict(jsonpath_answers.facts(output, Subject(kind="cluster")))  # type: ignore[arg-type]
