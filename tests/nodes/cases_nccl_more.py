"""More jobs that fail: one host's network, a rank that a barrier misses, sockets in spite of adapters."""

from __future__ import annotations

from tests.nodes import bus
from tests.nodes.case import Case
from tests.nodes.cases_nccl import adapters, alone, begun, info, job, pair, warn, working
from tests.nodes.rdma import Hca

SOCKETS = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"


def over_sockets(rank: int, net: str) -> list[str]:
    """A rank whose channels go over sockets, by a log without the line that names the network."""
    rows = [row for row in begun(rank, 2, net=net) if "Using network" not in row and "via NET/IB" not in row]
    return [*rows[:-1], info(rank, SOCKETS), rows[-1]]


DENIED = "Mar  1 11:49:12.402: ml/train-1:51514 (ID:20417) <> ml/train-0:29500 (ID:9120) Policy denied DROPPED (TCP Flags: SYN)"

CASES: dict[str, Case] = {
    "job-refused-by-named": alone(
        *begun(1, 2),
        warn(1, "misc/socket.cc:552", "socketStartConnect: Connect to 10.20.0.17<41273> failed : Connection refused"),
        "17.0.20.10.in-addr.arpa\tname = gpu-17.ib0.cluster.example.",
    ),
    "job-barrier-without": alone(
        "[rank0]:[E301 11:58:10.120000000 ProcessGroupGloo.cpp:144] Rank 3 failed to pass monitoredBarrier in 10000 ms",
        "RuntimeError: Rank 3 failed to pass monitoredBarrier in 10000 ms",
    ),
    "job-sockets-in-channels": job(
        *(over_sockets(n, "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.20.0.{n}<0>") for n in range(2))
    ),
    "job-sockets-in-channels-ports": job(*(over_sockets(n, "") for n in range(2)), more=adapters("gpu-12", Hca(0), Hca(1)), nodes="gpu-12"),
    "job-set-up-truncated": pair("Message truncated : received 4096 bytes instead of 1024", place="bootstrap.cc:221"),
    "job-record-of-other-release": pair("Message truncated : received 172 bytes instead of 108", place="bootstrap.cc:221"),
    "job-record-garbled": pair(
        "Bootstrap Root : mismatch in info from procs, nranks 2 vs 2, nroots 1 vs 1, iroot 0 vs 0, offset 0 vs 1684300900",
        place="bootstrap.cc:345",
    ),
    "job-told-to-end": alone("Received 15 death signal, shutting down workers", "Sending process 4077 closing signal SIGTERM"),
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
    "job-step-failed": job(
        begun(0, 2),
        [*begun(1, 2), info(1, "transport/net_ib.cc:659 -> 2")],
        more={
            "kubectl exec train-1 --namespace ml --container main -- cat /proc/1/limits": (
                "Max locked memory         65536                65536                bytes     \n"
            )
        },
    ),
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
    "job-own-name-loopback": alone(
        "LISTEN 0 2048 127.0.1.1:29500 0.0.0.0:*",
        "torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 1/2 clients joined.",
    ),
    "job-plugin-named": alone(
        "NCCL_NET=gIB",
        info(1, "NCCL_NET set by environment to gIB."),
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.",
    ),
    "job-machine-off": alone(
        " 2b1 | 02/11/2026 | 03:12:09 | Power Unit PwrUnit | Power off/down | Asserted",
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    ),
    "job-sockets-listed-adapters": job(
        ["starting"], [*begun(1, 2, network="Socket", net="NET/Socket : Using [0]eth0:10.20.0.{n}<0>"), "mlx5_0  mlx5_1"]
    ),
    "job-session-over": alone("/proc/4101/status:PPid:\t1", "           State: closing"),
    "job-test-never-connected": alone("Failed status transport retry counter exceeded (12) for wr_id 2"),
    "job-ray-releases": alone("RuntimeError: Version mismatch: The cluster was started with:", "    Ray: 2.40.0", "    Python: 3.12.3"),
    "job-only-result": alone(
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, unhandled system error "
        "(run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5"
    ),
    "job-only-cuda-result": alone("ncclUnhandledCudaError: Call to CUDA function failed."),
    "job-only-internal-result": alone("ncclInternalError: Internal check failed."),
    "job-only-invalid-result": alone("ncclInvalidUsage: This usually reflects invalid usage of NCCL library."),
    "job-launcher-of-one": alone(
        "W0301 11:50:02.1 884 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal, shutting down workers",
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
    ),
    "job-made-room": alone("slurmstepd: error: *** JOB 4242 ON gpu-12 CANCELLED AT 2026-03-01T11:50:00 DUE TO PREEMPTION ***"),
    "job-told-where-to-meet": alone(
        warn(1, "misc/socket.cc:237", "Net : No interface found in the same subnet as remote address 198.51.100.7<6101>"),
        warn(1, "bootstrap.cc:39", "NET/Socket : No usable listening interface found"),
    ),
    "job-over-tunnel": alone(info(1, "Bootstrap : Using [0]ip6tnl0:fe80::4c1d:b7ff:fe02:11aa%ip6tnl0<0> [1]eth0:10.20.0.12<0>")),
    "job-ray-other-name": alone(
        "(autoscaler +1m10s) Error: No available node types can fulfill resource request {'GPU': 1.0, 'node:gpu-12.public.example': 0.001}."
    ),
    "job-ray-other-address": alone(
        "ValueError: Ray does not allocate any GPUs on the driver node. Driver node IP: 10.20.0.40, Driver node ID: 4f1c."
    ),
    "job-two-layers": alone(
        'error: commlib error: got read error (closing "gpu-14.example/shepherd_ijs/1")',
        "ORTE has lost communication with its daemon located on node:",
    ),
    "job-traceback": alone(
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 4, in <module>',
        "ModuleNotFoundError: No module named 'adapters'",
    ),
    "job-policy-denies": alone(
        "[W301 11:50:02.1 socket.cpp:697] [c10d] The client socket has timed out after 600000ms while trying to connect to "
        "(train-0, 29500).",
        DENIED,
    ),
    "job-policy-denies-unknown": job([DENIED]),
    "job-policy-denies-something": working(DENIED.replace("train-0:29500", "store-0:9000")),
    "job-limit-not-given": alone(
        "slurmstepd: error: Can't propagate RLIMIT_MEMLOCK of 'unlimited' from submit host: Operation not permitted",
        warn(1, "misc/ibvwrap.cc:262", "Call to ibv_reg_mr failed with error Cannot allocate memory"),
    ),
    "job-gpudirect-not-offered": alone("device 0: CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 0"),
    "job-order-differs": alone(
        "RuntimeError: Forward order differs across ranks: rank 0 is all-gathering 12 parameters while rank 1 is all-gathering 3 parameters"
    ),
    "job-process-of-other-host": alone(
        "[gpu-12][[30117,1],4][btl_tcp_endpoint.c:626:mca_btl_tcp_endpoint_recv_connect_ack] received unexpected process "
        "identifier [[30117,1],0]"
    ),
}
