# ruff: noqa: E501 - what is pasted has long lines
"""Scheduling, monitoring and RDMA from sparse evidence: parts of manifests beside tables of nodes, status pages, counters looked at twice.

Each text that tells a cause has a near miss beside it that tells none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError
from tests.pasted import diagnosed, judge

SPEC = """\
spec:
  containers:
  - name: main
    resources:
      limits:
        nvidia.com/gpu: "{gpus}"
        cpu: "16"
"""
PENDING = "NAME     READY   STATUS    RESTARTS   AGE\nbert-0   0/1     Pending   0          12m\n"
POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: h200}}
spec:
  limits: {{nvidia.com/gpu: "16"}}
status:
  resources: {{nvidia.com/gpu: "{used}", cpu: "384"}}
"""
LABELLED = """\
$ kubectl get nodes -L accelerator,rack
NAME    STATUS   ROLES    AGE   VERSION   ACCELERATOR   RACK
node1   Ready    <none>   19d   v1.30.1   h100-80       r1
node2   Ready    <none>   19d   v1.30.1   h100-80       r2
"""
SELECTING = """\
apiVersion: v1
kind: Pod
metadata: {{name: bert-0, namespace: nlp}}
spec:
  nodeSelector: {{accelerator: {value}}}
  containers:
  - name: main
    resources: {{limits: {{cpu: "4"}}}}
status: {{phase: Pending}}
"""
TAINTS = """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,KEY:.spec.taints[*].key,VALUE:.spec.taints[*].value,EFFECT:.spec.taints[*].effect
NAME     KEY         VALUE    EFFECT
node1    team        vision   NoSchedule
node2    team        vision   NoSchedule
"""
TOLERATING = """\
spec:
  tolerations:
  - {{key: team, operator: Equal, value: {value}, effect: NoSchedule}}
  containers:
  - name: main
    resources: {{requests: {{cpu: "2"}}}}
"""
QUEUE = """\
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: "64"}
      - {name: nvidia.com/gpu, nominalQuota: "16"}
status:
  flavorsReservation: []
  pendingWorkloads: 1
"""
JOB = """\
metadata:
  labels: {{kueue.x-k8s.io/queue-name: research}}
spec:
  suspend: true
  template:
    spec:
      containers:
      - name: main
        resources: {{limits: {{cpu: "4", nvidia.com/gpu: "8"{more}}}}}
"""
RAY = """\
======== Autoscaler status: 2026-03-01 09:12:41.000111 ========
Node status
---------------------------------------------------------------
Active:
 1 head-group
 2 workers
Pending:
 {pending}
Resources
---------------------------------------------------------------
Usage:
 9.0/64.0 CPU
{gpus} 0B/128.00GiB memory

Demands:
 {{'GPU': 1.0}}: 2+ pending tasks/actors
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {{name: team, namespace: lab}}
spec:
  hard: {{{hard}: "64"}}
status:
  hard: {{{hard}: "64"}}
  used: {{{hard}: "0"}}
"""
UNMADE = """\
$ kubectl -n lab get rs
NAME          DESIRED   CURRENT   READY   AGE
web-77c9f4b   1         0         0       22m
$ kubectl -n lab get deploy web -o jsonpath='{.spec.template.spec.containers[*].resources}'
{"limits":{"nvidia.com/gpu":"1"},"requests":{"memory":"8Gi"}}
"""
EXPORTERS = """\
$ kubectl get ds -n gpu-operator nvidia-dcgm-exporter
NAME                   DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                              AGE
nvidia-dcgm-exporter   {n}         {n}         {n}       {n}            {n}           nvidia.com/gpu.deploy.dcgm-exporter=true   40d
$ kubectl get nodes -l nvidia.com/gpu.present=true -L nvidia.com/gpu.deploy.dcgm-exporter
NAME    STATUS   ROLES    AGE   VERSION   GPU.DEPLOY.DCGM-EXPORTER
node1   Ready    <none>   40d   v1.30.1   true
node2   Ready    <none>   9d    v1.30.1   {value}
"""
PANEL = '{"title": "Load", "targets": [{"expr": "avg(DCGM_FI_DEV_GPU_UTIL{gpu=~\\"$gpu\\"})", "legendFormat": "x"}]}\n'
SERVED = "".join(
    f"DCGM_FI_DEV_{name}\n"
    for name in ("SM_CLOCK", "MEM_CLOCK", "GPU_TEMP", "POWER_USAGE", "FB_USED", "FB_FREE", "XID_ERRORS", "FAN_SPEED")
)
CARRIER = "".join(f"/sys/class/net/{{}}{n}np0/carrier_changes:{{}}\n" for n in range(1, 4))
PORTSTATE = """\
# ibportstate 12 1 query
# Port info: Lid 12 port 1
LinkState:.......................Active
PhysLinkState:...................LinkUp
LinkWidthSupported:..............1X or 4X or 2X
LinkWidthEnabled:................1X or 4X or 2X
LinkWidthActive:.................{width}
LinkSpeedExtActive:..............53.125 Gbps
"""
LOOKS = """\
# perfquery 7 3
# Port counters: Lid 7 port 3 (CapMask: 0x5A00)
SymbolErrorCounter:..............0
PortXmitDiscards:................4000
# sleep 60; perfquery 7 3 | grep Discards
PortXmitDiscards:................{later}
"""
ECN = """\
root@n1:/sys/class/infiniband/mlx5_0/ports/1/hw_counters# grep . np_ecn_marked_roce_packets rp_cnp_handled packet_seq_err
np_ecn_marked_roce_packets:700000000
rp_cnp_handled:9000000
packet_seq_err:0
root@n1:/sys/class/infiniband/mlx5_0/ports/1/hw_counters# sleep 20; grep . np_ecn_marked_roce_packets rp_cnp_handled packet_seq_err
np_ecn_marked_roce_packets:{later}
rp_cnp_handled:9000400
packet_seq_err:0
"""
SERIES = '> rate(node_infiniband_port_discards_transmitted_total[5m])\n{{device="mlx5_1", instance="n1:9100", port="1"}}   {value}\n'
EVENTS = "n1:40:52 [1] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_1:1 Got async event : port {}\n"
ACCESS = "NET/IB: Got completion from peer 10.3.0.{n}<4000{n}> with status=10 opcode=32769 len=0 vendor err 136 (Send) localGid fe80::1 remoteGidsfe80::2 hca mlx5_{hca}\n"
NMCLI = "DEVICE  TYPE        STATE         CONNECTION\neno2    ethernet    connected     eno2\nib1     infiniband  {state}  --\n"
LINK = "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 4 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n"

# What was pasted, a file each → the first cause; "" = nothing of warning or more
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "one pod asks for more GPUs than a node has": (
        "request-exceeds-node-size",
        (
            SPEC.format(gpus=12),
            PENDING,
            "NODE    CAPACITY  ALLOCATABLE  IN USE\nnode1   8         8            2\nnode2   8         8            0\n",
        ),
    ),
    "… and one that fits": (
        "",
        (
            SPEC.format(gpus=4),
            PENDING,
            "NODE    CAPACITY  ALLOCATABLE  IN USE\nnode1   8         8            2\nnode2   8         8            0\n",
        ),
    ),
    "GPUs free, CPU short, by notes": (
        "combined-resource-shortage",
        (
            SPEC.format(gpus=2),
            "bert-0 is pending since ten o'clock\n",
            "NODE   GPU free/alloc   CPU free/alloc\nnode1  4/8   6/95\nnode2  0/8   60/95\n",
        ),
    ),
    "all in use, whatever the pod asks for": (
        "gpu-capacity-exhausted",
        (PENDING, "node1  nvidia.com/gpu  4  used 4\nnode2  nvidia.com/gpu  4  used 4\n"),
    ),
    "one is free": ("", (PENDING, "node1  nvidia.com/gpu  4  used 4\nnode2  nvidia.com/gpu  4  used 3\n")),
    "a template that runs on a full node says nothing": ("", (SPEC.format(gpus=4), "node1  nvidia.com/gpu  4  used 4\n")),
    "label by -L": ("affinity-mismatch", (SELECTING.format(value="h100"), LABELLED)),
    "label that fits": ("", (SELECTING.format(value="h100-80"), LABELLED)),
    "label that no column shows": ("", (SELECTING.format(value="h100-80").replace("accelerator", "pool"), LABELLED)),
    "value of a taint": ("untolerated-taint", (TOLERATING.format(value="audio"), PENDING, TAINTS)),
    "value that fits": ("", (TOLERATING.format(value="vision"), PENDING, TAINTS)),
    "pool at its limit": ("autoscaler-limit-reached", (POOL.format(used=16), PENDING)),
    "pool below it": ("", (POOL.format(used=8), PENDING)),
    "queue without a resource": ("kueue-resource-not-covered", (QUEUE, JOB.format(more=', rdma/hca: "1"'))),
    "queue that covers all": ("", (QUEUE, JOB.format(more=""))),
    "queue with too little left": ("kueue-quota-wait", (QUEUE.replace('"16"', '"4"'), JOB.format(more=""))),
    "ray: all in use": ("gpu-capacity-exhausted", (RAY.format(pending="(no pending nodes)", gpus=" 8.0/8.0 GPU\n"),)),
    "ray: some free": ("", (RAY.format(pending="(no pending nodes)", gpus=" 6.0/8.0 GPU\n"),)),
    "ray: on its way": ("", (RAY.format(pending="10.0.0.7: worker, setting-up", gpus=" 8.0/8.0 GPU\n"),)),
    "ray: workers without GPUs": (
        "gpu-not-requested",
        (
            RAY.format(pending="(no pending nodes)", gpus=""),
            "workerGroupSpecs:\n- groupName: workers\n  template:\n    spec:\n      runtimeClassName: nvidia\n      containers:\n      - name: w\n        resources: {limits: {cpu: '8'}}\n",
        ),
    ),
    "quota wants limits": ("quota-requires-limits", (QUOTA.format(hard="limits.cpu"), UNMADE)),
    "quota counts what is stated": ("pod-not-created", (QUOTA.format(hard="requests.memory"), UNMADE)),
    "exporter left out by a label": ("exporter-not-running", (EXPORTERS.format(n=1, value="false"),)),
    "exporter everywhere": ("", (EXPORTERS.format(n=2, value="true "),)),
    "panel without its metric": ("metric-not-exported", (PANEL, SERVED)),
    "panel with it": ("", (PANEL, SERVED + "DCGM_FI_DEV_GPU_UTIL\n")),
    "carrier of one": ("rdma-link-flapping", (CARRIER.format("ens", 2, "ens", 44, "ens", 2),)),
    "carrier of all alike": ("", (CARRIER.format("ens", 12, "ens", 14, "ens", 12),)),
    "half the lanes": ("ib-link-speed-degraded", (PORTSTATE.format(width="2X"),)),
    "all lanes": ("", (PORTSTATE.format(width="4X"),)),
    "discards grow": ("ib-packets-discarded", (LOOKS.format(later=9000),)),
    "discards stand": ("", (LOOKS.format(later=4001),)),
    "discards by Prometheus": ("ib-packets-discarded", (SERIES.format(value="95.5"),)),
    "none by Prometheus": ("", (SERIES.format(value="0"),)),
    "port comes and goes": ("rdma-link-flapping", (EVENTS.format("error") + EVENTS.format("active") + EVENTS.format("error"),)),
    "port failed once": ("ib-link-or-hca-fault", (EVENTS.format("error"),)),
    "one adapter, any peer": ("ib-hca-faulty", ("".join(ACCESS.format(n=n, hca=3) for n in (4, 5, 6)),)),
    "IP over InfiniBand not set up": ("ipoib-interface-down", (f"$ nmcli device\n{NMCLI.format(state='disconnected')}", LINK)),
    "… and set up": ("", (f"$ nmcli device\n{NMCLI.format(state='connected   ')}", LINK)),
    "up is 0": ("prometheus-target-down", ('up{job="dcgm-exporter"}  0   since noon\n',)),
    "up is 1": ("", ('up{job="dcgm-exporter"}  1\n',)),
    "types without a GPU": (
        "affinity-mismatch",
        (
            'ERROR could not schedule pod error="incompatible with nodepool "a", no instance type satisfied resources {"nvidia.com/gpu":"2"} and requirements karpenter.k8s.aws/instance-category In [c m], kubernetes.io/os In [linux] (no instance type has enough resources)"\n',
        ),
    ),
    "types with one, too small": (
        "autoscaler-overhead-miscount",
        (
            'ERROR could not schedule pod error="incompatible with nodepool "a", no instance type satisfied resources {"nvidia.com/gpu":"2"} and requirements karpenter.k8s.aws/instance-family In [g5 g6], kubernetes.io/os In [linux] (no instance type has enough resources)"\n',
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_and_its_near_miss(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)


def test_congestion_is_information(tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, ECN.format(later=900000000)), "ib-congestion", info=True)


def test_a_few_marks_are_normal(tmp_path: Path) -> None:
    assert not diagnosed(tmp_path, ECN.format(later=700010000)).findings


@pytest.mark.parametrize("name", ["infiniband.portstate", "infiniband.series", "linux.nets"])
@pytest.mark.parametrize("text", ["", "nothing of the kind\n", "\0" * 50, "é" * 300])
def test_other_text_is_refused(name: str, text: str) -> None:
    with pytest.raises(ParseError):
        load(name)(Output(command=Command(("x",)), pages=(text.encode("utf-16"),)), _nobody())


def _nobody() -> Subject:

    return Subject(kind="cluster")


def test_a_loop_of_words_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("node use free\nwe free two of them\n" * 2000)
    assert "nodes" not in gather([str(tmp_path / "a.txt")]).facts


VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: vision}}
spec:
  capability: {{cpu: 32, nvidia.com/gpu: 8}}
status:
  allocated: {{cpu: "8", nvidia.com/gpu: "{used}"}}
  state: Open
"""
GROUP = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: bert, namespace: nlp}
spec:
  minMember: 2
  minResources: {cpu: "8", nvidia.com/gpu: "4"}
  queue: vision
status: {phase: Pending}
"""
CUT_QUEUE = """\
  capability:
    nvidia.com/gpu: 8
  reclaimable: true
  weight: 1
"""
CUT_GROUP = """\
spec:
  minMember: 2
  minResources:
    nvidia.com/gpu: "{gpus}"
"""
ANOTHER = PENDING + "roberta-0   1/1     Running   0          3h\n"


@pytest.mark.parametrize(
    ("cause", "texts"),
    [
        ("quota-exceeded", (VOLCANO.format(used=8), GROUP, PENDING)),
        ("", (VOLCANO.format(used=2), GROUP, PENDING)),
        ("quota-exceeded", (CUT_QUEUE, CUT_GROUP.format(gpus=6), ANOTHER)),
        ("", (CUT_QUEUE, CUT_GROUP.format(gpus=4), ANOTHER)),
        ("", (CUT_QUEUE, CUT_GROUP.format(gpus=6), PENDING)),
    ],
)
def test_a_queue_of_volcano_beside_a_group_that_waits(cause: str, texts: tuple[str, ...], tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, *texts), cause)


GO_TAINTS = """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
NAME    TAINTS
gpu-1   [map[effect:NoSchedule key:team value:vision]]
"""


def test_taints_as_go_prints_them_are_no_cluster_without_nodes(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path, GO_TAINTS, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + SPEC.format(gpus=1) + "status: {phase: Pending}\n"
    )
    assert not {"device-plugin-not-running", "gpu-not-advertised"} & {one.cause for one in found.findings}
