# ruff: noqa: E501 - lines as programs print them
"""What NCCL, its plugins, UCX, libfabric and gloo print of one condition: each line alone gives that cause first.

The words are those of the sources, through their versions. `?cause` is a candidate, "" a line that says nothing of a fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

NCCL = "gpu-02:4411:4502 [2] {} NCCL WARN "
UCX = "[1760004411.551023] [gpu-02:21412:0]       ib_iface.c:812  UCX  ERROR "
GLOO = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/"

WARNED = [
    # interfaces and connections
    ("bootstrap-wrong-interface", "misc/socket.cc:362", "Net : No interface found in the same subnet as remote address 10.4.0.1<9999>"),
    ("nccl-socket-ifname-invalid", "transport/net_ib.cc:420", "NET/IB : No IP interface found."),
    ("dns-resolution-failure", "misc/socket.cc:214", "Net : error encountered when getting address info : Name or service not known"),
    ("nccl-connect-refused", "misc/socket.cc:510", "socketPollConnect: exceeded retries (2000)"),
    (
        "nccl-connect-refused",
        "misc/socket.cc:510",
        "socketPollConnect: Connect to 10.4.0.3<41273> returned 111(Connection refused) errno 115(Operation now in progress)",
    ),
    ("nccl-connect-no-route", "os/linux.cc:510", "ncclOsSocketPollConnect to 10.4.0.3<41273> failed with error No route to host"),
    ("?firewall-blocked-ports", "misc/socket.cc:510", "socketPollConnect: exceeded timeouts (3)"),
    ("container-limits", "misc/socket.cc:700", "ncclSocketInit: Socket creation failed : Too many open files"),
    ("peer-rank-died", "proxy.cc:1100", "Socket recv failed while polling for opId=0x7f2f6c0a1be0"),
    ("", "proxy.cc:1640", "[Proxy Progress] Failed to set CUDA device 3"),
    # ranks that do not fit together
    (
        "collective-mismatch",
        "init.cc:1200",
        "Your program may be hanging, this may be caused by a collective mismatch around rank 5. Please check your collective calls",
    ),
    (
        "collective-size-mismatch",
        "transport/net_ib.cc:840",
        "NET/IB : collective mismatch error local size 524288 remote 1048576 addr 7f2a4c000000 rkey 1a2b3c seq 4/4",
    ),
    (
        "nccl-library-mismatch",
        "init.cc:2010",
        "NCCL library is not backwards compatible. This application was compiled with NCCL version 2.14.3, but is running with NCCL version 2.29.2",
    ),
    ("node-rank-duplicate", "bootstrap.cc:343", "Bootstrap Root : localId 9 is out of range"),
    # adapters
    (
        "too-few-hcas-in-use",
        "transport/net_ib/connect.cc:300",
        "NET/IB : Local mergedDev mlx5_0+mlx5_1 has a different number of devices=2 as remote mlx5_0 1",
    ),
    ("too-few-hcas-in-use", "graph/paths.cc:700", "Rank 9 requires NIC 5 but that NIC is not available for rank 1"),
    (
        "wrong-ib-hca-selected",
        "transport/net_ib.cc:860",
        "NET/IB : Can't connect net devices with different link_layer. i=0 remMeta.ndevs=1 link_layer=1 rem_link_layer=2",
    ),
    ("ib-link-or-hca-fault", "transport/net_ib/resiliency.cc:60", "NET/IB: The error is fatal (no device left). Cannot continue."),
    ("?memlock-limit", "misc/ibvwrap.cc:200", "Call to ibv_reg_dmabuf_mr failed with error Cannot allocate memory"),
    ("ib-resource-allocation-failed", "misc/ibvwrap.cc:200", "Call to ibv_create_qp failed"),
    (
        "gpudirect-dmabuf-unavailable",
        "gin/gin_host.cc:40",
        "Unable to use GIN: Peermem is not supported, and device 0 does not support DMA-BUF.",
    ),
    ("gdrcopy-device-missing-in-container", "misc/gdrwrap.cc:85", "Failed to open libgdrapi.so"),
    # GPUs and drivers
    ("imex-not-ready", "mnnvl.cc:55", "MNNVL (cliqueSize 18) is available but not supported on this system. Check the IMEX configuration."),
    ("p2p-broken", "transport/p2p.cc:260", "rank 3 failed to get CUDA IPC handle to device 2(=1) : 1 invalid argument"),
    ("cuda-driver-too-old", "misc/cudawrap.cc:240", "Failed to load CUDA missing symbol cuGetProcAddress"),
    ("?shm-too-small", "misc/shmutils.cc:99", "Could not map /dev/shm/nccl-kVbZoC size 33030532, error: Cannot allocate memory"),
    ("nccl-algorithm-not-available", "enqueue.cc:420", "Error : no algorithm/protocol available"),
    # plugins
    ("sharp-init-failed", "sharp_plugin.c:310", "SHARP group create: No resource available(-8)"),
    ("aws-ofi-nccl-error", "nccl_net_ofi_init:81", "NET/OFI EFA provider requires at least libfabric version 1.22.0."),
    ("aws-ofi-nccl-error", "nccl_net_ofi_init:81", "NET/OFI Caught exception in plugin init: no device"),
    ("collective-size-mismatch", "recv_progress:81", "NET/OFI Remote recv buffer (4096) smaller than send buffer (8192)!"),
    ("", "nccl_net_ofi_init:81", "NET/OFI WARNING: Use of OFI_NCCL_NIC_DUP_CONNS is deprecated."),
]

LINES = [
    ("aws-ofi-nccl-error", "gpu-02:4411:4502 [2] NCCL INFO Failed to initialize NET plugin AWS Libfabric"),
    ("", "gpu-02:4411:4502 [2] NCCL INFO Failed to initialize NET plugin IB"),
    (
        "ib-link-or-hca-fault",
        "gpu-02:4411:4502 [2] NCCL INFO NET/IB: ncclIbResiliencyProgress: Marking device 1 as permanently failed (send comm=0x7f0a10)",
    ),
    ("", "gpu-02:4411:4502 [2] NCCL INFO NET/IB: ncclIbRecoveryProgress: Port recovery attempt #3 failed for devIndex=1 (comm=0x7f0a10)"),
    # nccl-tests
    ("cuda-out-of-memory", "gpu-02: Test CUDA failure common.cu:892 'out of memory'"),
    ("?device-visibility-mismatch", "Invalid number of GPUs: 8 requested but only 4 were found."),
    # UCX
    ("ib-retry-exceeded", f"{UCX}Receive-no-ready retry count exceeded on mlx5_0:1/IB (synd 0x16 vend 0x90 hw_synd 0/0)"),
    ("p2p-acs-iommu", f"{UCX}Local protection error on mlx5_0:1/IB (synd 0x4 vend 0x51 hw_synd 0/0)"),
    ("rdma-peer-unreachable", f"{UCX}error modifying QP to RTR: Connection timed out"),
    (
        "rdma-peer-unreachable",
        f"{UCX}ibv_create_ah(dlid=49152 sl=0 port=1 src_path_bits=0 dgid=::ffff:10.4.0.3 sgid_index=3) for UD mlx5 connect on mlx5_0 failed: Connection timed out",
    ),
    ("roce-gid-index-wrong", f"{UCX}ibv_query_gid(dev=mlx5_0 port=1 index=9) failed: Invalid argument"),
    ("ib-link-or-hca-fault", f"{UCX}IB Async event on mlx5_0: port error on port 1"),
    ("nccl-connect-refused", f"{UCX}connect(fd=88, dest_addr=10.4.0.3:41233) failed: Connection refused"),
    (
        "container-limits",
        f"{UCX}mlx5_0: the maximal number of files that could be opened simultaneously was reached, try to increase the limit",
    ),
    (
        "shm-too-small",
        f"{UCX}Not enough memory to write total of 4292720 bytes. Please check that /dev/shm or the directory you specified has more available memory.",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        f"{UCX}mlx5_0: Couldn't enable GPUDirect RDMA. Please make sure nv_peer_mem or amdgpu plugin installed correctly, or dmabuf is supported",
    ),
    ("p2p-broken", f"{UCX}cuIpcOpenMemHandle() failed: invalid argument"),
    # libfabric
    (
        "gpudirect-dmabuf-unavailable",
        "libfabric:21412:1760004411::efa:mr:efa_mr_reg_impl():812<warn> Unable to register MR of 8388608 bytes: Bad address, ibv pd: 0x55d0",
    ),
    # gloo
    (
        "gloo-wrong-interface",
        "W0305 12:00:00.1 gloo/transport/tcp/debug_logger.cc:9] failed to connect, willRetry=0, retry=3, retryLimit=3, rank=0, size=2, local=[10.4.0.2]:41771, remote=[10.4.0.3]:51771, error=timed out",
    ),
    (
        "",
        "W0305 12:00:00.1 gloo/transport/tcp/debug_logger.cc:9] failed to connect, willRetry=1, retry=0, retryLimit=3, rank=0, size=2, local=[10.4.0.2]:41771, remote=[10.4.0.3]:51771, error=SO_ERROR: Connection refused",
    ),
    ("peer-rank-died", f"{GLOO}pair.cc:201] Socket unexpectedly closed [10.4.0.3]:41771"),
    ("nccl-timeout", f"{GLOO}pair.cc:523] Read timeout [10.4.0.3]:41771"),
    ("rendezvous-timeout", "RuntimeError: Wait timeout for key(s): [0/1/rank_3]"),
    (
        "port-in-use",
        "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/socket.cc:95] rv != -1. -1 vs -1. bind: Address already in use",
    ),
]

TEXTS = [(cause, NCCL.format(place) + said) for cause, place, said in WARNED] + LINES


@pytest.mark.parametrize(("cause", "line"), TEXTS, ids=[f"{number} {cause}" for number, (cause, _) in enumerate(TEXTS)])
def test_a_line_alone(cause: str, line: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, f"{line}\n"), cause)


CUT = [
    NCCL.format("misc/ibvwrap.cc:200")
    + "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT, next state RTR",
    NCCL.format("init.cc:800") + "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000",
]


@pytest.mark.parametrize("width", [64, 80, 120])
def test_a_line_that_a_terminal_has_cut_in_the_middle_of_a_word(width: int, tmp_path: Path) -> None:
    for line, cause in zip(CUT, ["rdma-peer-unreachable", "duplicate-gpu-assignment"], strict=True):
        judge(diagnosed(tmp_path, "\n".join(line[at : at + width] for at in range(0, len(line), width)) + "\n"), cause)
