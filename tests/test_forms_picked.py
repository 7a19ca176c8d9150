# ruff: noqa: E501 - what is pasted has long lines
"""What people pick out of objects with `-o` and a filter, and what follows from two such answers; beside each a near miss that tells nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpudoctor.tools.kubectl.jsonpath_objects import of_go
from gpudoctor.tools.kubernetes.autoscaler_status import groups_of
from tests.pasted import diagnosed, judge

LATE = "[E1008 22:22:09.5 socket.cpp:1019] [c10d] The client socket has timed out after 300000ms while trying to connect to (head.train, 29400).\n"
NO_V6 = "[W1008 22:17:09.4 socket.cpp:767] [c10d] The IPv6 network addresses of (head.train, 29400) cannot be retrieved (gai error: -2 - Name or service not known).\n"
STATUS = """\
$ kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml
data:
  status: |+
    Cluster-autoscaler status at 2025-04-02 10:11:02 +0000 UTC:
    NodeGroups:
      Name:        eks-cpu-4ac1
      Health:      Healthy (ready=7 unready=0 registered=7 longUnregistered=0 cloudProviderTarget=7 (minSize=1, maxSize=20))
      ScaleUp:     NoActivity (ready=7 cloudProviderTarget=7)

      Name:        eks-gpu-a10-91bd
      Health:      Healthy (ready={has} unready=0 registered={has} longUnregistered=0 cloudProviderTarget={has} (minSize=0, maxSize=3))
"""
NEWER = """\
nodeGroups:
- health:
    cloudProviderTarget: {has}
    maxSize: 3
    minSize: 0
    status: Healthy
  name: gpu-pool-l4
"""
FULL = "$ kubectl get events -o custom-columns=MSG:.message --field-selector involvedObject.name=tune-3,reason=FailedScheduling --no-headers\n0/10 nodes are available: 10 Insufficient nvidia.com/gpu.\n"
STARTED = """\
$ kubectl get events -n gpu-operator -o custom-columns=SEEN:.lastTimestamp,REASON:.reason,OBJECT:.involvedObject.name,TEXT:.message
SEEN                   REASON                   OBJECT              TEXT
2025-05-06T08:00:12Z   FailedCreatePodSandBox   {failed}   Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured
2025-05-06T08:03:52Z   Started                  nvidia-dcgm-x7k2p   Started container nvidia-dcgm
"""
TRIED = """\
$ docker run --rm --gpus all ubuntu:24.04 nvidia-smi
docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'
nvidia-container-cli: mount error: open failed: /proc/driver/nvidia/capabilities: permission denied: unknown
"""
SIZES = """\
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-7d7f9b0e-0000-4000-8000-000000000001)
  MIG 3g.40gb     Device  0: (UUID: MIG-7d7f9b0e-0000-4000-8000-000000000002)
  MIG 1g.10gb     Device  1: (UUID: MIG-7d7f9b0e-0000-4000-8000-000000000003)
"""
WHOLE = "$ nvidia-smi -L\nGPU 0: NVIDIA A30 (UUID: GPU-7d7f9b0e-0000-4000-8000-000000000004)\n"
MIG_ON = "$ nvidia-smi -q | grep -A2 'MIG Mode'\n    MIG Mode\n        Current                           : {mode}\n        Pending                           : {mode}\n"
NO_DEVICE = "$ ./deviceQuery\ncudaGetDeviceCount returned 100\n-> no CUDA-capable device is detected\nResult = FAIL\n"
OPERATOR_BLIND = 'controllers.ClusterPolicy\tNumber of nodes with GPU label\t{"NodeCount": 0}\ncontrollers.ClusterPolicy\tNo GPU node can be found in the cluster.\n'
LABELS = "$ kubectl describe node rack2-7 | grep pci-\n                    feature.node.kubernetes.io/pci-0200.present=true\n                    feature.node.kubernetes.io/pci-{pci}.present=true\n                    feature.node.kubernetes.io/pci-0300.present=true\n"
LIBRARY_GONE = "$ kubectl -n nvidia logs nvdp-9xk2f\nE0802 10:04:30.1 1 main.go:149] error starting plugins: nvml init failed: ERROR_LIBRARY_NOT_FOUND\n"
WAITING = "$ kubectl get pods\nNAME     READY   STATUS    RESTARTS   AGE\ntune-3   0/1     Pending   0          31m\n"
PLUGIN_SET = """\
$ kubectl -n nvidia get ds
NAME                        DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvdp-nvidia-device-plugin   2         2         2       2            2           <none>          12d
"""
TAINTED = """\
$ kubectl get nodes{selector} -o custom-columns='NAME:.metadata.name,TAINTS:.spec.taints,GPU:.status.allocatable.nvidia\\.com/gpu'
NAME    TAINTS                                                GPU
r1      <none>                                                8
r2      <none>                                                8
r3      [map[effect:NoSchedule key:team value:research]]      <none>
"""
RESOURCES = '$ kubectl get pod tune-3 -o jsonpath=\'{{.spec.containers[0].resources}}\'\n{{"limits":{{{limits}"memory":"64Gi"}}}}\n'
OLLAMA = "$ kubectl exec deploy/chat -- ollama ps\nNAME          ID              SIZE      PROCESSOR    UNTIL\nllama3:70b    1b2c3d4e5f60    41 GB     {where}     4 minutes from now\n"
DEPLOYMENT = (
    '$ kubectl get deploy chat -o jsonpath=\'{{.spec.template.spec.containers[0].resources}}\'\n{{"limits":{{{limits}"cpu":"8"}}}}\n'
)
POOL = '$ kubectl get nodepool a10 -o json | jq \'{{limits:.spec.limits, used:.status.resources}}\'\n{{\n  "limits": {{\n    "nvidia.com/gpu": "16"\n  }},\n  "used": {{\n    "cpu": "384",\n    "nvidia.com/gpu": "{used}"\n  }}\n}}\n'
SHORT = '$ kubectl -n lab get resourcequota gpus -o jsonpath=\'{{.status}}\'\n{{"hard":{{"requests.nvidia.com/gpu":"4"}},"used":{{"requests.nvidia.com/gpu":"{used}"}}}}\n$ kubectl -n lab get deploy\nNAME   READY   UP-TO-DATE   AVAILABLE   AGE\nchat   2/3     2            2           5h\n$ kubectl -n lab get deploy chat -o jsonpath=\'{{.spec.template.spec.containers[0].resources.limits}}\'\n{{"nvidia.com/gpu":"2"}}\n'

SCHEDULED_BY = "$ kubectl get po gang-0 -o custom-columns=PHASE:.status.phase,SCHED:.spec.schedulerName,NODE:.spec.nodeName\nPHASE     SCHED         NODE\nPending   gpu-binpack   <none>\n$ kubectl get po -A | grep -i sched\n"

# What was pasted → the first cause; "" = nothing at all, "?cause" = only possible
TEXTS: dict[str, tuple[str, str]] = {
    # --- words of one field
    "the scheduler's word by the condition's type": (
        "untolerated-taint",
        "$ kubectl get po tune-3 -o jsonpath='{.status.conditions[?(@.type==\"PodScheduled\")].message}'\n0/4 nodes are available: 1 node(s) had taint {gpu: reserved}, that the pod didn't tolerate, 3 Insufficient nvidia.com/gpu.\n",
    ),
    "the scheduler's word by the condition's number": (
        "affinity-mismatch",
        '$ kubectl get po tune-3 -o jsonpath=\'{.spec.nodeSelector}{"\\n"}{.status.conditions[0].message}{"\\n"}\'\n{"nvidia.com/gpu.product":"NVIDIA-L4"}\n0/6 nodes are available: 6 node(s) didn\'t match Pod\'s node affinity/selector. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.\n',
    ),
    "another condition's word": (
        "",
        "$ kubectl get po tune-3 -o jsonpath='{.status.conditions[0].message}'\ncontainers with unready status: [main]\n",
    ),
    "one of a list, found by a selector": (
        "operator-oomkilled",
        '$ kubectl -n gpu-operator get po -l app=gpu-operator -o jsonpath=\'{.items[0].status.containerStatuses[0].lastState}\'\n{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2025-03-03T06:11:09Z"}}\n',
    ),
    "conditions in a row": (
        "node-disk-pressure",
        "$ kubectl get no r1 -o jsonpath='{range .status.conditions[*]}{.type}={.status}({.reason}) {end}'\nMemoryPressure=False(KubeletHasSufficientMemory) DiskPressure=True(KubeletHasDiskPressure) Ready=True(KubeletReady)\n",
    ),
    "healthy conditions in a row": (
        "",
        "$ kubectl get no r1 -o jsonpath='{range .status.conditions[*]}{.type}={.status}({.reason}) {end}'\nMemoryPressure=False(KubeletHasSufficientMemory) DiskPressure=False(KubeletHasNoDiskPressure) Ready=True(KubeletReady)\n",
    ),
    "a quota's word, cut off": (
        "quota-requires-limits",
        '$ kubectl get events --field-selector reason=FailedCreate -o custom-columns=MSG:.message --no-headers | cut -c1-72\nError creating: pods "tune-7k2xw" is forbidden: failed quota: team-compu\n',
    ),
    # --- events in columns
    "a start that failed and was not tried again": ("nvidia-runtime-not-configured", STARTED.format(failed="gpu-feature-k2x4v")),
    "a start that failed before it worked": ("", STARTED.format(failed="nvidia-dcgm-x7k2p")),
    # --- two answers side by side
    "a group of the autoscaler is full": ("autoscaler-limit-reached", FULL + STATUS.format(has=3)),
    "a group of the autoscaler is full, in YAML": (
        "autoscaler-limit-reached",
        FULL + "$ kubectl -n kube-system get cm cluster-autoscaler-status -o jsonpath='{.data.status}'\n" + NEWER.format(has=3),
    ),
    "a group of the autoscaler has room": ("?gpu-capacity-exhausted", FULL + STATUS.format(has=2)),
    "a full group, and nobody waits": ("", STATUS.format(has=3)),
    "a node pool's limits by jq": ("autoscaler-limit-reached", POOL.format(used=16) + WAITING + FULL),
    "a node pool with room by jq": ("?gpu-capacity-exhausted", POOL.format(used=8) + WAITING + FULL),
    "a quota by jsonpath": ("quota-exceeded", SHORT.format(used=4)),
    "a quota with room by jsonpath": ("", SHORT.format(used=0)),
    "a label of another value": (
        "affinity-mismatch",
        '$ kubectl get po tune-3 -o json | jq .spec.nodeSelector\n{\n  "pool": "hopper"\n}\n'
        + WAITING
        + "$ kubectl get nodes -L pool\nNAME   STATUS   ROLES    AGE   VERSION   POOL\nr1     Ready    <none>   41d   v1.29.4   ampere\n",
    ),
    "a label of this value": (
        "",
        '$ kubectl get po tune-3 -o json | jq .spec.nodeSelector\n{\n  "pool": "hopper"\n}\n'
        + WAITING
        + "$ kubectl get nodes -L pool\nNAME   STATUS   ROLES    AGE   VERSION   POOL\nr1     Ready    <none>   41d   v1.29.4   hopper\n",
    ),
    "the only GPU machine is cordoned": (
        "node-cordoned",
        "$ kubectl get nodes\nNAME     STATUS                     ROLES    AGE   VERSION\ngpu-r1   Ready,SchedulingDisabled   <none>   41d   v1.29.4\ncpu-1    Ready                      <none>   41d   v1.29.4\n"
        + WAITING,
    ),
    "one of two GPU machines is cordoned": (
        "",
        "$ kubectl get nodes\nNAME     STATUS                     ROLES    AGE   VERSION\ngpu-r1   Ready,SchedulingDisabled   <none>   41d   v1.29.4\ngpu-r2   Ready                      <none>   41d   v1.29.4\n"
        + WAITING,
    ),
    "a tainted machine among those selected by a label": (
        "device-plugin-repelled-by-taint",
        PLUGIN_SET + TAINTED.format(selector=" -l nvidia.com/gpu.present=true"),
    ),
    "a tainted machine that need have no GPU": ("", PLUGIN_SET + TAINTED.format(selector="")),
    "labels of the class alone, and an operator that sees no GPU": (
        "nfd-label-format-mismatch",
        LABELS.format(pci="0302") + "$ kubectl logs deploy/gpu-operator\n" + OPERATOR_BLIND,
    ),
    "labels of the class alone": ("", LABELS.format(pci="0302")),
    "a plugin without rights, by Helm's values": (
        "device-plugin-missing-privileges",
        "$ helm -n nvidia get values nvdp\nUSER-SUPPLIED VALUES:\ndeviceListStrategy: volume-mounts\n" + LIBRARY_GONE,
    ),
    "a plugin without a library": (
        "runtime-not-injecting-driver",
        "$ helm -n nvidia get values nvdp\nUSER-SUPPLIED VALUES:\ndeviceListStrategy: envvar\n" + LIBRARY_GONE,
    ),
    "the model runs on the processor": ("gpu-not-requested", OLLAMA.format(where="100% CPU") + DEPLOYMENT.format(limits="")),
    "the model runs on the GPU": ("", OLLAMA.format(where="100% GPU") + DEPLOYMENT.format(limits='"nvidia.com/gpu":"1",')),
    # --- MIG
    "several sizes under the strategy single": (
        "mig-strategy-mismatch",
        SIZES + "$ kubectl get node r1 --show-labels | tr ',' '\\n' | grep mig.strategy\nnvidia.com/mig.strategy=single\n",
    ),
    "several sizes and the plugin's panic": (
        "mig-strategy-mismatch",
        SIZES
        + "$ kubectl logs -n nvidia nvdp-7xk2w --tail=3\ngoroutine 1 [running]:\nmain.(*migStrategySingle).GetPlugins(0xc0003a2f50)\n\t/build/cmd/nvidia-device-plugin/mig-strategy.go:91 +0x2a6\n",
    ),
    "several sizes under the strategy mixed": (
        "",
        SIZES + "$ kubectl get node r1 --show-labels | tr ',' '\\n' | grep mig.strategy\nnvidia.com/mig.strategy=mixed\n",
    ),
    "MIG without instances, by the list": ("mig-enabled-without-instances", WHOLE + MIG_ON.format(mode="Enabled") + NO_DEVICE),
    "MIG is off": ("?gpu-not-requested", WHOLE + MIG_ON.format(mode="Disabled") + NO_DEVICE),
    "a mode waits for a reset that the platform refuses": (
        "mig-mode-change-pending",
        'time="2025-08-22T06:31:48Z" level=debug msg="    Mode change pending: true"\ntime="2025-08-22T06:31:57Z" level=error msg="\\nResetting GPU 00000000:00:06.0 is not supported.\\n"\ntime="2025-08-22T06:31:57Z" level=fatal msg="Error applying MIG configuration with hooks: error resetting all GPUs: exit status 3"\n',
    ),
    # --- the toolkit, the loader, names
    "a start fails since an update": (
        "container-toolkit-version-regression",
        TRIED
        + "$ grep nvidia-container-toolkit /var/log/dpkg.log\n2025-05-30 06:12:11 upgrade nvidia-container-toolkit:amd64 1.17.7-1 1.17.8-1\n",
    ),
    "a start fails": ("", TRIED),
    "a list of devices that the new toolkit takes for a name": (
        "container-toolkit-version-regression",
        "Upgrade: libnvidia-container1:amd64 (1.13.3-1, 1.14.0-1), nvidia-container-toolkit:amd64 (1.13.3-1, 1.14.0-1)\nnvidia-container-cli: device error: /var/run/nvidia-container-devices: unknown device: unknown\n",
    ),
    "a device that is gone since an update": (
        "?kubelet-device-manager-stale-state",
        "Upgrade: nvidia-container-toolkit:amd64 (1.13.3-1, 1.14.0-1)\nnvidia-container-cli: device error: GPU-7d7f9b0e-0000-4000-8000-000000000009: unknown device: unknown\n",
    ),
    "a C library of another release than its loader": (
        "image-glibc-mismatch",
        "$ podman logs app\n/bin/bash: symbol lookup error: /nix/store/abc-glibc-2.41/lib/libc.so.6: undefined symbol: __tunable_is_initialized, version GLIBC_PRIVATE\n",
    ),
    "a loader of another release than its C library": (
        "image-glibc-mismatch",
        "app: relocation error: /lib/x86_64-linux-gnu/libc.so.6: symbol __libc_early_init, version GLIBC_PRIVATE not defined in file ld-linux-x86-64.so.2 with link time reference\n",
    ),
    "a symbol of a framework": ("", "python: symbol lookup error: /opt/x/libreader.so: undefined symbol: reader_open_v2\n"),
    "a unit's status takes out the middle of the line": (
        "cdi-device-unresolvable",
        "Jul 06 18:20:44 box podman-llm-start[4129]: Error: setting up CDI devices: unresolv…a.com/gpu=all\n",
    ),
    "a name that no resolver knows": ("dns-resolution-failure", NO_V6 + NO_V6.replace("IPv6", "IPv4") + LATE),
    "a name without an IPv6 address": ("rendezvous-timeout", NO_V6 + LATE),
    "a name that resolved in time": (
        "",
        NO_V6 + NO_V6.replace("IPv6", "IPv4") + "step 10 loss 2.31\nstep 20 loss 2.11\nstep 30 loss 2.01\n",
    ),
    "a scheduler that isn't there": (
        "scheduler-name-wrong",
        SCHEDULED_BY + "kube-system   kube-scheduler-cp-0   1/1   Running   0   12d\n",
    ),
    "a scheduler that is there": ("", SCHEDULED_BY + "kube-system   gpu-binpack-scheduler-7d9f-x2x7q   1/1   Running   0   12d\n"),
    "a pod whose node came back": (
        "device-plugin-not-registered-yet",
        """\
Events:
  Type     Reason                    Age    From               Message
  ----     ------                    ----   ----               -------
  Warning  NodeNotReady              4m52s  node-controller    Node is not ready
  Warning  UnexpectedAdmissionError  3m40s  kubelet            Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_finding(name: str, tmp_path: Path) -> None:
    """What was picked out and pasted is diagnosed as the whole object would be."""
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("map[limits:map[nvidia.com/gpu:1] tags:[a b]]", {"limits": {"nvidia.com/gpu": "1"}, "tags": ["a", "b"]}),
        ("[map[key:team] map[key:broken]]", [{"key": "team"}, {"key": "broken"}]),
        ("map[a:1] map[b:2]", [{"a": "1"}, {"b": "2"}]),
        ("map[", {}),
        ("map[]]]", {}),
        ("map[" * 5000, {}),
    ],
)
def test_values_as_go_prints_them(text: str, value: Any) -> None:
    assert of_go(text) == value or text.count("map[") > 100


def test_groups_of_either_form() -> None:
    old, new = groups_of(STATUS.format(has=3).split("\n")), groups_of(NEWER.format(has=2).split("\n"))
    assert [(one.name, one.target, one.most) for one in [*old, *new]] == [
        ("eks-cpu-4ac1", 7, 20),
        ("eks-gpu-a10-91bd", 3, 3),
        ("gpu-pool-l4", 2, 3),
    ]
