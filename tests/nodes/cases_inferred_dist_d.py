"""Jobs of which one answer beside another shows what is wrong: what ranks print, what Slurm started, what else used the network."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import ENVIRONMENT, alone, info, job, timed_out, warn, working

BEGINS = "comm 0x7a1e{n}0 rank {n} nranks 2 cudaDev 0 busId 1b000 commId 0x{id} - Init {how}"
REFUSED = "Call to ibv_reg_mr failed with error Bad address"
WATCHED = [row for n in range(2) for row in timed_out(n, 1)]


def anew(rank: int, key: str) -> list[str]:
    """A rank that makes a communicator, destroys it, and begins another one."""
    return [
        info(rank, BEGINS.format(n=rank, id="51f0aa", how="COMPLETE")),
        info(rank, f"comm 0x7a1e{rank}0 rank {rank} nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE"),
        info(rank, "ncclCommInitRank " + BEGINS.format(n=rank, id=key, how="START")),
    ]


DROPPED = (
    "ws-a kernel: [UFW BLOCK] IN=ens3 OUT= MAC=aa:bb:cc SRC=10.3.0.12 DST=10.3.0.11 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=50331 DF "
    "PROTO=TCP SPT=58422 DPT=43367 WINDOW=64240 RES=0x00 SYN URGP=0"
)


CASES: dict[str, Case] = {
    "job-sizes-printed": alone("AssertionError: tensor shapes differ across ranks: [[8, 512], [8, 498]]"),
    "job-setting-of-one": job(
        [warn(0, "misc/ibvwrap.cc:172", REFUSED)],
        [
            warn(1, "misc/ibvwrap.cc:172", REFUSED),
            warn(1, "transport/net.cc:870", "Message truncated : received 65536 bytes instead of 16384"),
        ],
        more={ENVIRONMENT: "NCCL_IB_TC=106\nNCCL_BUFFSIZE=8388608\n", ENVIRONMENT.replace("train-1", "train-0"): "NCCL_IB_TC=106\n"},
    ),
    "job-releases-printed": alone("rank 0 torch 2.3.0 nccl (2, 20, 5)", "rank 1 torch 2.4.0 nccl (2, 21, 5)"),
    "job-begun-apart": job(anew(0, "77aa01"), anew(1, "90bb02")),
    "job-one-rank-works": alone(
        *timed_out(1, 3, elements=1), "Map (num_proc=16):  64%|######    | 512000/800000 [30:02<16:53, 284.1 examples/s]"
    ),
    "job-orphans": alone(
        "[rank1]:[W301 11:52:21.0 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=58, addr=[localhost]:41322, "
        "remote=[localhost]:29500): failed to recv, got 0 bytes",
        "/proc/40811/status:PPid:\t1",
    ),
    "job-one-task": alone(
        "JobId=5121 JobName=seg NumNodes=1 NumCPUs=8 NumTasks=1 CPUs/Task=4 NtasksPerN:B:S:C=4:0:*:* CoreSpec=*",
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/4 clients joined.",
    ),
    "job-everyone-first": alone(
        *(f"{n}: Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4" for n in range(4)),
        "2: [E socket.cpp:860] [c10d] The server socket has failed to bind to [::]:12910 (errno: 98 - Address already in use).",
    ),
    "job-peer-copy-empty": alone(
        ">>> a = torch.ones(3, device='cuda:0'); print(a.to('cuda:1')); print(a.cpu().to('cuda:1'))",
        "tensor([0., 0., 0.], device='cuda:1')",
        "tensor([1., 1., 1.], device='cuda:1')",
    ),
    "job-transfer-refused": job([*WATCHED, "DMAR: [DMA Read NO_PASID] Request device [5e:00.0] fault addr 0x39ffe0020000"]),
    "job-filter-drops": alone(
        info(0, "Bootstrap : Using ens3:10.3.0.11<0>"),
        info(0, "NET/Socket : Using [0]ens3:10.3.0.11<0>"),
        info(0, "Using network Socket"),
        *[DROPPED] * 3,
    ),
    "job-filter-drops-beside-work": working(*[DROPPED] * 3, network="Socket", net=""),
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
}
