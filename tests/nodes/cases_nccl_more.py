"""More jobs that fail: one host's network, a rank that a barrier misses, sockets in spite of adapters."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import adapters, alone, begun, info, job, warn
from tests.nodes.rdma import Hca

SOCKETS = "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"


def over_sockets(rank: int, net: str) -> list[str]:
    """A rank whose channels go over sockets, by a log without the line that names the network."""
    rows = [row for row in begun(rank, 2, net=net) if "Using network" not in row and "via NET/IB" not in row]
    return [*rows[:-1], info(rank, SOCKETS), rows[-1]]


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
}
