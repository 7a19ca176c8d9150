"""The way between the GPUs of a job: adapters, GIDs, locked memory, GPUDirect, peer copies, plugins and their releases."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes import bus
from tests.nodes.case import Case
from tests.nodes.cases_nccl import adapters, alone, begun, info, job, pair, timed_out, warn
from tests.nodes.cases_node import LONE, machine
from tests.nodes.rdma import Hca
from tests.nodes.smi import Process

LISTED = "#  Rank  {0} Group  0 Pid  3021{0} on     gpu-04 device  0 [0x1b] NVIDIA A100-SXM4-80GB"
ACS = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
LINK_LOCAL = (
    "NET/IB : Got completion from peer 10.20.0.11<41273> with status=12 opcode=0 len=0 vendor err 129 (Send) "
    "localGid fe80::a288:c2ff:fe3a:1b20 remoteGidsfe80::a288:c2ff:fe3a:1b44 hca mlx5_0"
)
CONSUMER = [replace(card, product="NVIDIA GeForce RTX 4090") for card in LONE]
SHARED = [replace(LONE[0], processes=tuple(Process(4100 + n, "python3", 1412) for n in range(2))), *LONE[1:]]
PEERMEM = {f"gpu-{n}: cat /proc/modules": bus.modules("nvidia_peermem:0", "mlx5_core:1", "nvidia_uvm:4", "nvidia:120") for n in (11, 12)}
INVALID = "ncclInvalidUsage: This usually reflects invalid usage of NCCL library."


def host_memory(rank: int) -> list[str]:
    """A rank whose channels go through the memory of the host."""
    return [row.removesuffix("/GDRDMA") for row in begun(rank, 2)]


TEST = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
WATCHED = [row for n in range(2) for row in timed_out(n, 1)]
PROTECTED = "NET/IB: Got completion from peer 10.20.0.12<41822> with status=IBV_WC_LOC_PROT_ERR(4) opcode=IBV_WC_SEND(0) vendor_err=81"

SOCKETS = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"


def over_sockets(rank: int, net: str) -> list[str]:
    """A rank whose channels go over sockets, by a log without the line that names the network."""
    rows = [row for row in begun(rank, 2, net=net) if "Using network" not in row and "via NET/IB" not in row]
    return [*rows[:-1], info(rank, SOCKETS), rows[-1]]


CASES: dict[str, Case] = {
    "job-symbol-missing": alone("ImportError: /opt/venv/lib/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister"),
    "job-two-on-one-seen": alone(
        LISTED.format(0),
        LISTED.format(1),
        "gpu-04: Test NCCL failure common.cu:958 'invalid usage (run with NCCL_DEBUG=WARN for details)'",
    ),
    "job-memlock-said": alone(
        "UCX  ERROR ibv_reg_mr(address=0x7f10c4000000, length=37748736, access=0xf) failed: Cannot allocate memory : Please set max locked "
        "memory (ulimit -l) to 'unlimited' (current: 8192 kbytes)"
    ),
    "job-memlock-warned": alone(
        "libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.", "NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory"
    ),
    "job-peer-copy": alone("Verification error @ element 1: val = 0.000000, ref = 4.000000"),
    "job-peer-copy-off": alone("gpu-04:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.", ACS),
    "job-peer-copy-perhaps": alone("gpu-04:1:2 [0] NCCL INFO Channel 00/02 : 0[0] -> 1[1] via P2P/IPC", ACS),
    "job-peer-copy-refused": job(
        *(
            [
                *begun(n, 2),
                "nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0x3a0a0000000 flags=0x0030]",
                *timed_out(n, 712),
            ]
            for n in range(2)
        )
    ),
    "job-peer-copies-refused": alone(
        *(
            f"nvidia 0000:{bus}:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0012 address=0x38fe0400{bus}00 flags=0x0020]"
            for bus in ("21", "22")
        )
    ),
    "job-memlock-of-test": alone("libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.", "Couldn't create CQ"),
    "job-unified-test": alone(
        "[pid = 4111, dev = 0] device name = [NVIDIA GB10]",
        "allocated GPU buffer address at 0000f8c2a8000000 pointer=0xf8c2a8000000",
        "Couldn't allocate MR",
    ),
    "job-gid-link-local": alone(
        "gpu-04:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.20.0.10<0>",
        warn(1, "transport/net_ib.cc:1295", LINK_LOCAL),
    ),
    "job-gid-unreadable": alone("NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument"),
    "job-gid-forced-link-local": alone(
        "gpu-04:1:2 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 0.",
        "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out",
        nodes="gpu-12",
        more=adapters("gpu-12", Hca(0, layer="Ethernet", address="10.20.0.10")),
    ),
    "job-gpudirect-forbidden": job(
        *(begun(n, 2, more=("NCCL_NET_GDR_LEVEL set by environment to LOC",)) for n in (0, 1)), more=PEERMEM, nodes="gpu-12"
    ),
    "job-consumer-gpu": job(
        begun(0, 2),
        [*begun(1, 2), warn(1, "transport/net_ib.cc:1042", "Call to ibv_reg_mr_iova2 failed with error Bad address")],
        more=machine("gpu-12", CONSUMER),
    ),
    "job-consumer-gpu-copies": job(
        host_memory(0), host_memory(1), more=machine("gpu-11", CONSUMER) | machine("gpu-12", CONSUMER), nodes="gpu-11,gpu-12"
    ),
    "job-processes-on-one": alone(INVALID, more=machine("gpu-12", SHARED), nodes="gpu-12"),
    "job-works-without-peer-copies": alone("with NCCL_P2P_DISABLE=1 it works"),
    "job-works-with-other-gid": alone("the job only works when setting NCCL_IB_GID_INDEX=3"),
    "job-peer-copy-slow": alone(
        "P2P=Enabled Latency (P2P Writes) Matrix (us)", "   GPU     0      1 ", "     0   1.71 49187.12 ", "     1 49187.30   1.66 "
    ),
    "job-peer-copy-hangs": job(
        ["starting"],
        [*begun(1, 2, network="Socket", net="")[:-1], info(1, "Channel 00/0 : 1[1] -> 0[0] via P2P/direct pointer"), TEST, ACS],
    ),
    "job-rails-tested": alone(
        "gpu-11:mlx5_0 -> gpu-12:mlx5_0 ok", "gpu-11:mlx5_0 -> gpu-12:mlx5_1 fail", "gpu-11:mlx5_1 -> gpu-12:mlx5_1 ok"
    ),
    "job-host-tested": alone(
        "gpu-11 gpu-12 PASS",
        "gpu-11 gpu-13 FAIL",
        "gpu-12 gpu-13 FAIL",
        "Unable to Connect the HCA's through the link",
    ),
    "job-releases-printed": alone("rank 0 torch 2.3.0 nccl (2, 20, 5)", "rank 1 torch 2.4.0 nccl (2, 21, 5)"),
    "job-peer-copy-empty": alone(
        ">>> a = torch.ones(3, device='cuda:0'); print(a.to('cuda:1')); print(a.cpu().to('cuda:1'))",
        "tensor([0., 0., 0.], device='cuda:1')",
        "tensor([1., 1., 1.], device='cuda:1')",
    ),
    "job-transfer-refused": job([*WATCHED, "DMAR: [DMA Read NO_PASID] Request device [5e:00.0] fault addr 0x39ffe0020000"]),
    "job-ofi-asserts": alone("python: nccl_ofi_sendrecv.c:1411: recv: Assertion `r_comm->inflight > 0' failed."),
    "job-one-adapter": alone(
        info(1, "NCCL_IB_HCA set by environment to mlx5_2"),
        info(1, "Channel 00/0 : 0[0] -> 1[0] [receive] via NET/IB/0"),
        "mlx5_0 mlx5_1 mlx5_2 mlx5_3",
    ),
    "job-copies-beside": alone(
        info(1, "NCCL_SOCKET_IFNAME set by environment to bond1"),
        "03:10:01 AM     bond1  60121.40 148211.63 271890.72 1207340.55     0.00      0.00      0.30     98.11",
        "sent 412,110,288,713 bytes  received 911,204 bytes  922,001,726.88 bytes/sec",
    ),
    "job-sockets-on-slingshot": alone(
        info(1, "NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin."),
        info(1, "NET/Socket : Using [0]hsn0:10.150.3.21<0> [1]hsn1:10.150.3.22<0>"),
        info(1, "Using network Socket"),
        info(1, "NET/Socket : GPU Direct RDMA Disabled for HCA 0 'hsn0'"),
    ),
    "job-works-without-plugin": alone(
        info(1, "NET/OFI Using aws-ofi-nccl 1.9.1"), *timed_out(1, 40), "tried: NCCL_NET=Socket: works, NCCL_PROTO=Simple: hangs"
    ),
    "job-works-over-sockets": alone("tried: NCCL_ALGO=Tree hangs too", "tried: NCCL_IB_DISABLE=1: works"),
    "job-fails-with-host": alone(
        warn(1, "transport/net_ib.cc:1312", PROTECTED), "every run with gpu-12 fails, every run without it passes"
    ),
    "job-sockets-in-channels": job(
        *(over_sockets(n, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.20.0.{n}<0>") for n in range(2))
    ),
    "job-sockets-in-channels-ports": job(*(over_sockets(n, "") for n in range(2)), more=adapters("gpu-12", Hca(0), Hca(1)), nodes="gpu-12"),
    "job-without-passthrough": job(
        [
            row.replace("train-1:", "train-0:").replace("busId 1b000", f"busId {0x1B + rank:x}000")
            for rank in range(2)
            for row in [
                warn(rank, "init.cc:132", 'Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!'),
                *begun(rank, 2, network="Socket", net="")[:-2],
            ]
        ]
    ),
    "job-library-updated": alone(
        "E cuda_driver.cc:266] failed call to cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on "
        "non supported HW",
        "I cuda_diagnostics.cc:193] libcuda reported version is: 535.183.6",
        "I cuda_diagnostics.cc:197] kernel reported version is: 535.161.8",
    ),
    "job-sockets-without-module": job(
        ["starting"],
        begun(1, 2, network="Socket", net="NET/IB : No device found."),
        more={"gpu-12: cat /proc/modules": bus.modules("mlx5_core:0", "nvidia_uvm:4", "nvidia:120")},
        nodes="gpu-12",
    ),
    "job-sockets-with-module": job(
        ["starting"],
        begun(1, 2),
        more={"gpu-12: cat /proc/modules": bus.modules("mlx5_ib:0", "mlx5_core:1", "nvidia_uvm:4", "nvidia:120")},
        nodes="gpu-12",
    ),
    "job-no-memory-for-queue": pair("Call to ibv_create_cq failed with error Cannot allocate memory", place="misc/ibvwrap.cc:177"),
    "job-registration-without-peermem": alone(
        *begun(1, 2),
        warn(1, "misc/ibvwrap.cc:160", "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"),
        "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument",
    ),
    "job-rails-hinted": alone("HINT: In many cases this error occurs when NICs are not cross-rail connected."),
    "job-spark-port": pair(
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev rocep1s0f1:1, curr state INIT, next state RTR, local GID index "
        "3, local GID ::ffff:10.0.1.1, remote GID ::ffff:10.0.3.2"
    ),
    "job-bond-beside-infiniband": job(
        *(begun(n, 2, net="NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB eth0:10.20.0.{n}<0>") for n in range(2))
    ),
    "job-event-unnamed": pair("NET/IB : mlx5_2:1 Got async event :", place="transport/net_ib.cc:101"),
    "job-queues-used-up": pair(
        "Call to ibv_create_qp failed with error Cannot allocate memory",
        more={
            "kubectl exec train-1 --namespace ml --container main -- cat /proc/1/limits": (
                "Max locked memory         unlimited            unlimited            bytes     \n"
            )
        },
    ),
    "job-test-without-lock": alone("Couldn't allocate MR"),
    "job-two-kernels": alone(
        "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
        "[    0.000000] Linux version 6.8.0-51-generic (buildd@host)",
        "[    0.000000] Linux version 6.8.0-60-generic (buildd@host)",
    ),
    "job-releases-named": alone(
        "(Worker_TP0 pid=71) INFO [pynccl.py:70] vLLM is using nccl==2.21.5",
        "(Worker_TP1 pid=72) INFO [pynccl.py:70] vLLM is using nccl==2.27.3",
        "RuntimeError: NCCL error: internal error - please report this issue to the NCCL developers",
    ),
    "job-releases-by-words": job(
        [info(0, "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.")],
        [
            info(1, "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"),
            "Test NCCL failure common.cu:958 'internal error - please report this issue to the NCCL developers / '",
        ],
    ),
    "job-works-without-multicast": alone("ncclUnhandledCudaError: Call to CUDA function failed.", "with NCCL_NVLS_ENABLE=0 it works"),
    "job-two-partitions": job(
        ["/sys/class/infiniband/mlx5_0/ports/1/pkeys/0:0x8011"],
        ["/sys/class/infiniband/mlx5_0/ports/1/pkeys/0:0x8012", "Failed status transport retry counter exceeded (12) for wr_id 2"],
    ),
    "job-two-subnet-managers": job(
        ["sminfo: sm lid 1 sm guid 0x1070fd0300a7c420, activity count 411 priority 14 state 3 SMINFO_MASTER"],
        [
            "sminfo: sm lid 1 sm guid 0x1070fd0300b81150, activity count 98 priority 14 state 3 SMINFO_MASTER",
            "Failed status transport retry counter exceeded (12) for wr_id 2",
        ],
    ),
    "job-two-subnets": job(
        ["starting"],
        ["Failed status transport retry counter exceeded (12) for wr_id 2"],
        more={**adapters("gpu-11", Hca(0)), **adapters("gpu-12", Hca(0, manager=7))},
        nodes="gpu-11,gpu-12",
    ),
    "job-plugin-named": alone(
        "NCCL_NET=gIB",
        info(1, "NCCL_NET set by environment to gIB."),
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
    ),
    "job-sockets-listed-adapters": job(
        ["starting"], [*begun(1, 2, network="Socket", net="NET/Socket : Using [0]eth0:10.20.0.{n}<0>"), "mlx5_0  mlx5_1"]
    ),
    "job-test-never-connected": alone("Failed status transport retry counter exceeded (12) for wr_id 2"),
    "job-limit-not-given": alone(
        "slurmstepd: error: Can't propagate RLIMIT_MEMLOCK of 'unlimited' from submit host: Operation not permitted",
        warn(1, "misc/ibvwrap.cc:262", "Call to ibv_reg_mr failed with error Cannot allocate memory"),
    ),
    "job-gpudirect-not-offered": alone("device 0: CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 0"),
}
