"""Jobs that don't meet: what launchers, ping, ps and packet filters say beside the ranks."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone

NO_ROUTE = "gpu-12:201:260 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.20.0.11<41273> failed : No route to host"
BARRIER = (
    "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 1, "
    "key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)"
)

CASES: dict[str, Case] = {
    "job-hung-up": alone("torch.distributed.elastic.multiprocessing.api.SignalException: Process 4077 got signal: 1"),
    "job-at-the-barrier": alone(BARRIER, BARRIER, BARRIER),
    "job-own-name": alone(
        "127.0.1.1 train-0",
        "[E301 11:50:01.100000000 socket.cpp:1028] [c10d] The client socket has timed out after 60000ms while trying to connect to "
        "(train-0.train, 29500).",
    ),
    "job-filter-dropped": alone(
        "[88123.410021] [UFW BLOCK] IN=eno1 OUT= MAC=aa:bb SRC=10.20.0.12 DST=10.20.0.11 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=5512 DF "
        "PROTO=TCP SPT=51234 DPT=41273 WINDOW=64240 RES=0x00 SYN URGP=0",
        NO_ROUTE,
    ),
    "job-ping-answered": alone("64 bytes from 10.20.0.11: icmp_seq=1 ttl=64 time=0.171 ms", NO_ROUTE),
    "job-filter-on": alone("Status: active", NO_ROUTE),
    "job-ping-lost": alone("2 packets transmitted, 0 received, 100% packet loss, time 1017ms", NO_ROUTE),
    "job-tasks-differ": alone(
        "ValueError: You set `devices=8` in Lightning, but the number of tasks per node configured in SLURM `--ntasks-per-node=1` does not "
        "match. HINT: Set `devices=1`."
    ),
}
