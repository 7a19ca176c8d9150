"""What people print of ports, kernels and who reaches whom, as tables and rows; and what stands only in a tool's details."""

from __future__ import annotations

from tests.nodes.case import Case, Said
from tests.nodes.cases_fabric import MANAGED, RUN, machine, simulated
from tests.nodes.cases_nccl import adapters, alone, working
from tests.nodes.rdma import Hca, four

TIMED_OUT = "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out"
IBSTAT = "".join(
    f"CA 'mlx5_{number}'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n"
    f"\t\tBase lid: {number + 11}\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\n"
    for number in range(4)
)
LIFETIME = MANAGED.replace("[VL15Dropped == 240]", "[PortXmitDiscards == 4120]\n   [PortSwHOQLifetimeLimitDiscards == 4120]")
NET = '          <net name="mlx5_0" dev="0" latency="0.000000" speed="400000" port="1" guid="0x1" maxconn="131072" gdr="{}"/>'
CASES: dict[str, Case] = {
    "rdma-ip-down-among": machine(four(), ("ib2",), ports=None),
    "rdma-ip-down-perhaps": machine(four(), ("ib2",), ports=None),
    "rdma-ip-down-alone": machine(four()[:1], ("ib0",), ports=None),
    "rdma-lifetime-discards": simulated({f"gpu-02: {RUN['errors']}": Said(LIFETIME, exit=1)}, sweep=True),
    "job-islands-tested": alone(
        "ib_write_bw, each with each", "n1 n2 PASS", "n3 n4 PASS", "n1 n3 FAIL", "n1 n4 FAIL", "n2 n3 FAIL", "n2 n4 FAIL"
    ),
    "job-topology-without-gpudirect": working(NET.format(0), NET.replace("mlx5_0", "eth0").format(0), network="Socket", net=""),
    "job-topology-with-gpudirect": working(NET.format(1), NET.replace("mlx5_0", "mlx5_1").format(0)),
    "job-gid-missing": alone(
        "gpu-04:1:2 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 9.",
        TIMED_OUT,
        nodes="gpu-12",
        more=adapters("gpu-12", Hca(0, layer="Ethernet", address="10.20.0.10"), Hca(1, layer="Ethernet", address="10.20.1.10")),
    ),
}
CASES["rdma-ip-down-among"].answers["gpu-01: ibstat"] = IBSTAT
CASES["rdma-ip-down-alone"].answers["gpu-01: ibstat"] = IBSTAT.split("CA 'mlx5_1'")[0]
