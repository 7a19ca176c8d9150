"""Jobs whose communicators a host does not let come about: devices, memory, forced settings, plugins, RDMA libraries, and the MTU."""

from __future__ import annotations

import json

from tests.nodes.case import Case
from tests.nodes.cases_nccl import Answers, adapters, alone, begun, info, job, pair, warn
from tests.nodes.rdma import Hca, interfaces

ABI = "libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device /sys/class/infiniband/bnxt_re0"
BIND = "Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error {}."
GIVES_UP = "NET/IB : Got completion from peer 10.20.0.11<41273> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_0"
FORCED = "NCCL_NVLS_ENABLE set by environment to 1."
LOADED = "NET/Plugin: Loaded net plugin Libfabric (v9)"


def devinfo(mtu: int) -> str:
    """What ibv_devinfo prints of one RoCE adapter."""
    return (
        "hca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t28.41.1000\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
        f"\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t{mtu} ({mtu.bit_length() - 8})\n\t\t\tlink_layer:\t\tEthernet\n"
    )


def measured(*mtus: int) -> Answers:
    """ibv_devinfo in the pod of each rank."""
    return {f"kubectl exec train-{rank} --namespace ml -- ibv_devinfo": devinfo(mtu) for rank, mtu in enumerate(mtus)}


def resized(name: str, mtu: int) -> Answers:
    """A node whose interface of RoCE has this MTU."""
    cards = [Hca(0, layer="Ethernet", address="10.20.0.11")]
    rows = json.loads(interfaces(cards))
    return adapters(name, *cards) | {f"{name}: ip -j link": json.dumps([rows[0], rows[1] | {"mtu": mtu}])}


CASES: dict[str, Case] = {
    "job-too-many-devices": pair("Error : too many XML nodes (max 256)", place="graph/xml.h:356"),
    "job-host-memory-two-ways": pair(
        "Error while attaching to shared memory segment /dev/shm/nccl- (size 0), error: No such file or directory (2)",
        place="misc/shmutils.cc:132",
    ),
    "job-multicast-without-memory": pair(BIND.format("2 'out of memory'"), place="transport/nvls.cc:376"),
    "job-multicast-shared-gpu": pair(
        'NCCL_NVLS_ENABLE has been set to "1" and communicator has multiple ranks using the same NVML device. This is not compatible with '
        "NCCL_NVLS_ENABLE=1.",
        place="transport/nvls.cc:254",
    ),
    "job-multicast-forced": job(
        [info(0, FORCED), *begun(0, 2)],
        [info(1, FORCED), *begun(1, 2), warn(1, "transport/nvls.cc:251", "Cuda failure 801 'operation not supported'")],
    ),
    "job-plugin-of-other-release": alone(
        "python: symbol lookup error: /opt/plugin/lib/libnccl-net-fast.so: undefined symbol: ncclDebugNoWarn"
    ),
    "job-plugin-crashes": alone(info(1, LOADED), "Fatal Python error: Segmentation fault"),
    # what comes later is not the plugin's start
    "job-crashes-under-plugin": job([*begun(0, 2)], [info(1, LOADED), *begun(1, 2), "Fatal Python error: Segmentation fault"]),
    "job-provider-does-not-fit": alone(ABI, "No IB devices found"),
    "job-provider-perhaps": alone(ABI),
    "job-mtus-differ": pair(GIVES_UP, more=measured(4096, 1024)),
    "job-mtus-alike": pair(GIVES_UP, more=measured(4096, 4096)),
    "job-mtu-of-path": pair(GIVES_UP, "ping: local error: message too long, mtu=1500", more=measured(1024, 1024)),
    "job-mtu-of-interfaces": pair(
        GIVES_UP, more=measured(1024, 1024) | resized("gpu-11", 9000) | resized("gpu-12", 1500), nodes="gpu-11,gpu-12"
    ),
}
