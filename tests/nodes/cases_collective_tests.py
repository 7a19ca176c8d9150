"""What tests of NCCL print of two machines or of one: a table that ends early, wrong results, a speed that no link of theirs explains."""

from __future__ import annotations

from collections.abc import Sequence

from tests.nodes.case import Case
from tests.nodes.cases_nccl import begun, info, job

HEAD = "# nThread 1 nGpus 1 minBytes 8388608 maxBytes 536870912 step: 8(factor) warmup iters: 5 iters: 20"
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
            ]
            for n in range(2)
        )
    ),
}
