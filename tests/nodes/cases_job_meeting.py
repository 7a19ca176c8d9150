"""Jobs that do not meet: what launchers, ping, packet filters and the ranks say of their addresses."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone, begun, info, job, warn, working

NO_ROUTE = "gpu-12:201:260 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.20.0.11<41273> failed : No route to host"
BARRIER = (
    "INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 1, "
    "key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)"
)
NO_WAY = "NCCL WARN socketStartConnect: Connect to 10.20.0.11<41273> failed : No route to host"
FIREWALLD = "Id=firewalld.service\nLoadState=loaded\nActiveState=active\nSubState=running\n"
UNITS = "systemctl show -p Id,LoadState,ActiveState,SubState,Result,UnitFileState nvidia-fabricmanager nvidia-persistenced nvidia-dcgm"
DROPPED = (
    "ws-a kernel: [UFW BLOCK] IN=ens3 OUT= MAC=aa:bb:cc SRC=10.3.0.12 DST=10.3.0.11 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=50331 DF "
    "PROTO=TCP SPT=58422 DPT=43367 WINDOW=64240 RES=0x00 SYN URGP=0"
)

DENIED = "Mar  1 11:49:12.402: ml/train-1:51514 (ID:20417) <> ml/train-0:29500 (ID:9120) Policy denied DROPPED (TCP Flags: SYN)"

CASES: dict[str, Case] = {
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
    "job-other-port": alone("Connection to 10.20.0.11 29500 port [tcp/*] succeeded!", NO_WAY),
    "job-filter-service": alone(NO_WAY, nodes="gpu-12", more={f"gpu-12: {UNITS}": FIREWALLD}),
    "job-interface-of-other-network": job(
        [info(0, "Bootstrap: Using net1:192.168.60.17<0>")],
        [
            info(1, "Bootstrap: Using eth0:10.20.0.12<0>"),
            warn(1, "misc/socket.cc:484", "socketStartConnect: Connect to 192.168.60.17<45991> failed : Connection timed out"),
        ],
    ),
    "job-meeting-is-over": alone(
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
        '{"status": "closed", "version": "2", "participants": [0, 1], "keep_alives": [], "num_workers_waiting": 0}',
    ),
    "job-one-task": alone(
        "JobId=5121 JobName=seg NumNodes=1 NumCPUs=8 NumTasks=1 CPUs/Task=4 NtasksPerN:B:S:C=4:0:*:* CoreSpec=*",
        "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/4 clients joined.",
    ),
    "job-everyone-first": alone(
        *(f"{n}: Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4" for n in range(4)),
        "2: [E socket.cpp:860] [c10d] The server socket has failed to bind to [::]:12910 (errno: 98 - Address already in use).",
    ),
    "job-filter-drops": alone(
        info(0, "Bootstrap : Using ens3:10.3.0.11<0>"),
        info(0, "NET/Socket : Using [0]ens3:10.3.0.11<0>"),
        info(0, "Using network Socket"),
        *[DROPPED] * 3,
    ),
    "job-filter-drops-beside-work": working(*[DROPPED] * 3, network="Socket", net=""),
    "job-refused-by-named": alone(
        *begun(1, 2),
        warn(1, "misc/socket.cc:552", "socketStartConnect: Connect to 10.20.0.17<41273> failed : Connection refused"),
        "17.0.20.10.in-addr.arpa\tname = gpu-17.ib0.cluster.example.",
    ),
    "job-own-name-loopback": alone(
        "LISTEN 0 2048 127.0.1.1:29500 0.0.0.0:*",
        "torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 1/2 clients joined.",
    ),
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
    "job-policy-denies": alone(
        "[W301 11:50:02.1 socket.cpp:697] [c10d] The client socket has timed out after 600000ms while trying to connect to "
        "(train-0, 29500).",
        DENIED,
    ),
    "job-policy-denies-unknown": job([DENIED]),
    "job-policy-denies-something": working(DENIED.replace("train-0:29500", "store-0:9000")),
    "job-process-of-other-host": alone(
        "[gpu-12][[30117,1],4][btl_tcp_endpoint.c:626:mca_btl_tcp_endpoint_recv_connect_ack] received unexpected process "
        "identifier [[30117,1],0]"
    ),
}
