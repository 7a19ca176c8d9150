"""What tests of NCCL print of two machines or of one: a table that ends early, wrong results, a speed that no link of theirs explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.nodes import bus, nvlink
from tests.nodes.case import Case
from tests.nodes.cases_nccl import STEPS, alone, begun, info, job, warn
from tests.nodes.cases_node import LONE, machine
from tests.nodes.smi import Process

HEAD = "# nThread 1 nGpus 1 minBytes 8388608 maxBytes 536870912 step: 8(factor) warmup iters: 5 iters: 20"
TWINS = [replace(LONE[0], processes=tuple(Process(4100 + n, "python3", 35_604) for n in range(2))), *LONE[1:]]
TITLES = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"


def table(speed: float, *, hosts: int = 2, product: str = "NVIDIA H100 80GB HBM3", wrong: int = 0, ended: bool = True) -> list[str]:
    """The output of all_reduce_perf on four ranks; no size is done at speed 0."""
    rows = [HEAD, "#", "# Using devices"]
    for rank in range(4):
        host = f"gpu-{11 + rank % hosts}"
        rows.append(f"#  Rank {rank:2} Group  0 Pid  {4400 + rank} on     {host} device  {rank // hosts} [0x{0x1B + rank:x}] {product}")
    rows += ["#", TITLES]
    for size in (8 << 20, 64 << 20, 512 << 20) if speed else ():
        spent = size / speed / 1e3
        cells = f"{spent:9.1f}  {speed / 1.5:6.2f}  {speed:6.2f}"
        rows.append(f"{size:12} {size // 4:13}     float     sum      -1  {cells} {wrong:6}  {cells} {wrong:6}")
    bad = f"# Out of bounds values : {6 * wrong} {'FAILED' if wrong else 'OK'}"
    return [*rows, bad, f"# Avg bus bandwidth    : {speed:.3f}"] if ended and speed else rows


def measured(rows: Sequence[str], network: str = "") -> Case:
    """A launcher's pod that prints the table, after NCCL named the network."""
    named = [row for row in begun(0, 4, network=network, net="") if "via NET" not in row] if network else []
    return job([*named, *rows])


CASES: dict[str, Case] = {
    "tests-well": measured(table(371.2), "IB"),
    "tests-without-row": measured(table(0)),
    "tests-wrong-results": measured(table(371.2, wrong=3)),
    "tests-over-sockets": measured(table(1.31), "Socket"),
    "tests-slow": measured(table(1.31)),
    "tests-slow-on-workstations": measured(table(1.31, product="NVIDIA RTX A6000")),
    "tests-slow-over-rdma": measured(table(3.9), "IB"),
    "tests-slow-in-host": measured(table(18.4, hosts=1)),
    "tests-well-in-host": measured(table(412.7, hosts=1)),
    "job-set-up-alone": job(*([row for row in begun(n, 2, net="") if "COMPLETE" not in row and "START" not in row] for n in range(2))),
    "job-calls-operations": job(
        *(
            [
                *begun(n, 2),
                info(n, "AllReduce: opCount 2f sendbuff 0x7f04 recvbuff 0x7f04 count 1 datatype 7 op 0 root 0 comm 0x55d0 [nranks=2]"),
                *STEPS,
            ]
            for n in range(2)
        )
    ),
    "job-channels-differ": job(
        *(
            [*begun(n, 2, network="Socket", net="")[:-1], info(n, f"{24 - 22 * n} coll channels, 0 collnet channels, 32 p2p channels")]
            for n in range(2)
        )
    ),
    "job-settings-differ-perhaps": job(
        *(begun(n, 2, network="Socket", net="", more=("NCCL_PROTO set by environment to Simple",) if n else ()) for n in range(2))
    ),
    "job-nvshmem-gid": alone(
        info(1, "NCCL_IB_GID_INDEX set by environment to 3."), "ibgda.cpp:2970: non-zero status: 7 ibgda_rc_init2rtr failed, exiting..."
    ),
    "job-without-gdr-module": job(
        ["starting"],
        [row.replace("/GDRDMA", "") for row in begun(1, 2)],
        more={"gpu-12: cat /proc/modules": bus.modules("ib_core:9", "mlx5_core:1", "nvidia_uvm:4", "nvidia:120")},
        nodes="gpu-12",
    ),
    "job-shared-memory-beside-links": job(
        ["starting"],
        [
            row.replace("train-1:", "gpu-12:")
            for row in (*begun(1, 2, network="Socket", net="")[:-2], info(1, "Channel 00 : 1[1] -> 0[0] via SHM/direct/direct"))
        ],
        more={"gpu-12: nvidia-smi topo -m": nvlink.topo(2, 12)},
        nodes="gpu-12",
    ),
    "job-twins-beside-idle-gpu": alone("starting", more=machine("gpu-12", TWINS), nodes="gpu-12"),
    "job-bridge-for-many": job(
        [
            row.replace("eth0:10.20.0.11", "docker0:172.17.0.1")
            for row in begun(0, 16, network="Socket", net="")
            if "COMPLETE" not in row and "rings" not in row
        ]
    ),
    "job-protection-without-dmabuf": alone(
        info(
            1,
            "dlvsym failed on mlx5dv_reg_dmabuf_mr - libmlx5.so: undefined symbol: mlx5dv_reg_dmabuf_mr, version MLX5_1.25",
        ),
        warn(
            1,
            "transport/net_ib.cc:2101",
            "NET/IB: Got completion from peer 10.20.0.11<40112> with status=IBV_WC_LOC_PROT_ERR(4) opcode=IBV_WC_SEND(0)",
        ),
    ),
    "job-two-on-one-gpu": job(
        [
            row.replace("train-1:", "train-0:")
            for n in range(2)
            for row in begun(n, 4, network="Socket", net="")
            if "COMPLETE" not in row and "rings" not in row
        ]
    ),
}
