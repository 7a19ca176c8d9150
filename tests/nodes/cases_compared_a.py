"""Jobs whose cause follows from runs that somebody compared, and from the interfaces that NCCL names."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone, info, timed_out, warn
from tests.nodes.cases_settings import machine
from tests.nodes.rdma import Hca
from tests.nodes.watched import POLLS, cards, log, node

REFUSED = "NET/IB: Got completion from peer 10.20.0.12<41822> with status=IBV_WC_LOC_PROT_ERR(4) opcode=IBV_WC_SEND(0) vendor_err=81"

CASES: dict[str, Case] = {
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
    "job-fails-with-host": alone(warn(1, "transport/net_ib.cc:1312", REFUSED), "every run with gpu-12 fails, every run without it passes"),
    "env-ports-off-roce": machine([Hca(n, layer="Ethernet", address=f"10.20.{n}.11") for n in range(4)], NCCL_IB_DISABLE="1"),
    "stall-loader-without-workers": node(
        cards(4, utilisation=31, power=240.5), log=log("DataLoader(batch_size=24, num_workers=0, pin_memory=True)")
    ),
    "stall-before-the-weights": node(
        cards(2, **POLLS | {"memory_used": 412}),
        log=log("(Worker_TP1 pid=922) INFO 03-01 11:02:51 [pynccl.py:103] vLLM is using nccl==2.27.5"),
        inputs={"for": 0.0},
    ),
}
