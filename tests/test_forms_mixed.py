# ruff: noqa: E501 - what is pasted has long lines
"""Other words and other forms of conditions that have a textbook line, each beside a twin that is something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

RANK = "node{0}:71{0}:80{0} [0] "
IB = RANK + "NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE ; OOB eth0:10.77.0.1{0}<0>\n"
WARNED = IB + RANK + "misc/ibvwrap.cc:284 NCCL WARN {1}\n"
NAMED = "host7:64:64 [5] NCCL INFO NCCL_SOCKET_IFNAME set by environment to {}\n"
FAMILY = "ncclSocketInit: connecting to address  with family 20480 is neither AF_INET(2) nor AF_INET6(10)\n"
STALLED = (
    "WARNING: One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks "
    "for more than 60 seconds. Stalled ops: HorovodAllreduce_loss_0 [ready ranks: {}], HorovodAllreduce_grads_a_0 [ready ranks: {}]\n"
)
RAY = (
    "2026-03-01 12:00:00,000 INFO worker.py:1654 -- Connecting to existing Ray cluster at address: 10.9.0.2:6379...\n"
    "(autoscaler +35s) Error: No available node types can fulfill resource request {{'node:{}': 0.001, 'GPU': 1.0}}. Add suitable node types to this cluster to resolve this issue.\n"
)
ORTE = """\
{}--------------------------------------------------------------------------
ORTE has lost communication with a remote daemon.

HNP daemon : [[4026,0],0] on node fold-launcher-x2k7p
Remote daemon: [[4026,0],1] on node fold-worker-1
--------------------------------------------------------------------------
"""
REFUSED = "Warning  FailedScheduling  2m11s (x8 over 8m47s)  default-scheduler  0/6 nodes are available: 1 node(s) had volume node affinity conflict, 5 Insufficient cpu.\n"
NOMINATED = "Normal   Nominated         16s{}     karpenter          Pod should schedule on ip-10-3-8-14.lab.internal\n"
KARPENTER = (
    'Failed to schedule pod, incompatible with nodepool "scan", daemonset overhead={{"cpu":"185m"}}, no instance type satisfied resources '
    '{{"cpu":"7","nvidia.com/gpu":"{}","pods":"5"}} and requirements node.kubernetes.io/instance-type In [{}] (no instance type has enough resources)\n'
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("WARN: Function: create_nccl_ofi_component Line: 459: NET/OFI Couldn't open AV. RC: -22, ERROR: Invalid argument\n", "aws-ofi-nccl-error"),
        ("INFO: Function: ofi_init Line: 686: NET/OFI Selected Provider is efa\n", ""),
        ("[1645107902.33] [acc-12:1711 :0]  ucp_context.c:779  UCX  WARN  transport 'gdr_copy' is not available, please use one or more of: cma, cuda\n", "gdrcopy-device-missing-in-container"),
        (NAMED.format("ens9") + FAMILY, "nccl-socket-ifname-invalid"),
        (FAMILY, ""),
        (WARNED.format(1, "Call to ibv_modify_qp failed with error No such device"), "roce-gid-index-wrong"),
        (WARNED.format(1, "Call to ibv_modify_qp failed with error No route to host"), "rdma-peer-unreachable"),
        (WARNED.format(1, "Call to ibv_create_cq failed"), "ib-resource-allocation-failed"),
        (WARNED.format(1, "NET/IB : Unable to open device mlx5_3"), "container-device-permission"),
        (STALLED.format("2", "0, 1, 3"), "collective-mismatch"),
        (RAY.format("192.168.4.3"), "bootstrap-wrong-interface"),
        (RAY.format("10.9.0.3"), "?bootstrap-wrong-interface"),
        (ORTE.format("command terminated with exit code 137\n"), "peer-rank-died"),
        ("command terminated with exit code 137\n", ""),
        ("  - type: Failed\n    reason: MPIJobEvicted\n    message: 2/16 workers are evicted\n", "peer-rank-died"),
        ("Warning  FailedScheduling  4s (x3 over 4s)  default-scheduler  0/2 nodes are available: 2 ExceedsGPUQuota.\n", "quota-exceeded"),
        (REFUSED + NOMINATED.format(" (x6 over 10m)"), "volume-node-affinity-conflict"),
        (REFUSED + NOMINATED.format(""), ""),
        (KARPENTER.format(2, "g4dn.2xlarge g5.xlarge"), "request-exceeds-node-size"),
        (KARPENTER.format(1, "g4dn.2xlarge g5.xlarge"), "autoscaler-overhead-miscount"),
        (KARPENTER.format(2, "g4dn.12xlarge"), "autoscaler-overhead-miscount"),
        ("0/2 nodes are available: 1 Insufficient nvidia.com/gpucores, 1 Insufficient nvidia.com/gpumem.\n", "scheduler-name-wrong"),
    ],
)  # fmt: skip
def test_the_condition_in_other_words(text: str, cause: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, text), cause)


STEPS = "".join(f"step {n} loss 2.{n:02d} vram_allocated={20 + 1.5 * n:.1f}GB iter_s=0.8\n" for n in range(20))
LOOK = "index, utilization.gpu [%], power.draw [W], power.limit [W]\n" + "".join(f"{n}, {{}} %, 9{n}.12 W, 700.00 W\n" for n in range(8))
DISK = """\
Filesystem      Size  Used Avail Use% Mounted on
{}       2.0P  2.0P     0 100% /work
"""
DMON = """\
#Entity   GPUTL        SMACT        TENSO        DRAMA        POWER
ID                                                              W
GPU 0     100          {0}        0.000        0.021        121.4
GPU 0     100          {0}        0.000        0.020        121.9
"""
HOSTS = "jay-iam01: 149.2 TFLOPs\njay-iam02: 148.8 TFLOPs\njay-iam03: 149.5 TFLOPs\njay-iam04: {} TFLOPs\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (STEPS + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB\n", "cuda-oom-leak-in-program"),
        (LOOK.format(*[100] * 8), "collective-hang"),
        (LOOK.format(*[0] * 8), ""),
        (DISK.format("/dev/gpfs2"), "shared-filesystem-full"),
        (DISK.format("/dev/sdb2"), "node-disk-pressure"),
        (DMON.format("0.041"), "gpu-util-misleading-low-real-use"),
        (DMON.format("0.841"), ""),
        (HOSTS.format("118.0"), "slow-gpu-straggler"),
        (HOSTS.format("148.0"), ""),
    ],
)
def test_numbers_in_other_forms(text: str, cause: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, text), cause, info=bool(cause))
