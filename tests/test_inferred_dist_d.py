# ruff: noqa: E501 - lines as programs print them
"""Distributed jobs as people paste them: heads of their own before NCCL's lines, two runs, what else the machine did. Beside them healthy twins."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.tools.ranks.line import line_of
from tests.pasted import diagnosed_files, judge

TABLE = (
    "# Using devices\n#  Rank  0 Group  0 Pid   9120 on rig-2 device  0 [0000:21:00] NVIDIA RTX 4500 Ada Generation\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
)
ROW = "     4194304       1048576     float     sum      -1    811.2    5.17    5.17      0    809.9    5.18    5.18      0\n# Avg bus bandwidth    : 5.18\n"
HEADED = (
    "<w0 rank=0> ws-a:711:711 [0] NCCL INFO Bootstrap : Using eno1:10.20.0.5<0>\n<w0 rank=0> ws-a:711:902 [0] NCCL INFO Using network Socket\n"
    "<w1 rank=1> ws-b:412:412 [0] NCCL INFO Bootstrap : Using {}<0>\n<w1 rank=1> ws-b:412:600 [0] NCCL INFO Using network Socket\n"
)
WATCHED = "".join(
    f"[rank{n}]:[E313 10:33:41.222 ProcessGroupNCCL.cpp:616] [Rank {n}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum={0}, OpType=ALLREDUCE, NumelIn={1}, NumelOut={1}, Timeout(ms)=600000) ran for 600021 milliseconds before timing out.\n"
    for n in range(2)
)
SAR = "02:00:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n02:10:01 AM     ens1f0 60121.40 148211.63 271890.72 1207340.55     0.00      0.00      0.30     {}\n"
RSYNC = "$ journalctl -u 'backup-*' -o cat\nrsync: building file list ... done\nsent 412,110,288,713 bytes  received 911,204 bytes  922,001,726.88 bytes/sec\n"
TRUNCATED = "10.4.0.12: n12:10:50 [0] transport/net.cc:870 NCCL WARN Message truncated : received 1048576 bytes instead of 524288\n"
PDSH = "$ pdsh -w 10.4.0.[11-12] 'env | grep ^NCCL'\n10.4.0.11: NCCL_IB_TC=106\n10.4.0.11: NCCL_CROSS_NIC=1\n{}10.4.0.12: NCCL_IB_TC=106\n10.4.0.12: NCCL_CROSS_NIC=1\n"
CHANNEL = "w3:90:311 [0] NCCL INFO Channel 02/0 : 7[7] -> 8[0] [receive] via NET/{}/2\n"
BUS_ERROR = 'Thread 31 "alltoall_perf" received signal SIGBUS, Bus error.\n#0  0x00007ffff56bdbba in ?? () from /lib/x86_64-linux-gnu/libc.so.6\n#1  0x00007ffff59d3f89 in ncclShmOpen(char*) () from /lib/libnccl.so.2\n'
DF = "$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\nshm             {}   2% /dev/shm\n"
USED = "$ grep -oh 'via NET.*' debug.log | sort | uniq -c\n     32 via NET/IB/0/GDRDMA\n$ cat /etc/nccl.conf\nNCCL_IB_HCA={}\n$ ibstat -l | xargs echo\nmlx5_0 mlx5_1 mlx5_2 mlx5_3\n"
WAITS = "0: torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/4 clients joined.\n"
SLURM = "+ scontrol show job 811 -o\nJobId=811 JobName=seg JobState=RUNNING NodeList=g018 NumNodes=1 NumCPUs=8 NumTasks={} CPUs/Task=2 NtasksPerN:B:S:C=4:0:*:*\n"
ZEROS = "tensor([0., 0., 0., 0.], device='cuda:1')\n"
VALUES = "tensor([2., 2., 2., 2.], device='cuda:1')\n"
COMM = "{1}:10:50 [0] NCCL INFO comm 0x5{0} rank {0} nranks 2 cudaDev 0 busId 1b000 commId 0x{2} - Init {3}\n"
SHAPES = "".join(f"rank {n}: gathering scores torch.Size([4, {{{n}}}, 512])\n" for n in range(3))

# What was pasted → the cause that is found first; "?cause" = a candidate and nothing found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "a bridge of one host, under a head of the platform's": ("bootstrap-wrong-interface", HEADED.format("br-3ac1d20f77aa:172.21.0.1")),
    "the same head, and a common network": ("", HEADED.format("eno1:10.20.0.6")),
    "a connection to a bridge isn't answered": (
        "bootstrap-wrong-interface",
        '==> ss.txt <==\nSYN-SENT   0   1   10.20.0.5:41122   172.19.0.1:45511   users:(("python",pid=88,fd=44))\n==> ip.txt <==\n'
        "lo               UNKNOWN        127.0.0.1/8\neno1             UP             10.20.0.6/24\nbr-6e0f5c1d9a77  UP             172.19.0.1/16\n",
    ),
    "gloo, what was enforced": (
        "gloo-wrong-interface",
        "[rank3]: RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/socket.cc:144] rv != -1. -1 vs -1. connect: Network is unreachable. remote=[172.31.9.4]:31877\n",
    ),
    "two runs, the first ended by timeout": (
        "p2p-broken",
        f'$ timeout 90 ./all_reduce_perf -g 2; echo "rc $?"\n{TABLE}rc 124\n$ NCCL_P2P_DISABLE=1 ./all_reduce_perf -g 2\n{TABLE}{ROW}',
    ),
    "the variable is exported between them": (
        "p2p-broken",
        f"$ ./all_reduce_perf -g 2\n{TABLE}Terminated\n$ export NCCL_P2P_DISABLE=1\n$ ./all_reduce_perf -g 2\n{TABLE}{ROW}",
    ),
    "exported between two runs that work": (
        "",
        f"$ ./all_reduce_perf -g 2\n{TABLE}{ROW}$ export NCCL_P2P_DISABLE=1\n$ ./all_reduce_perf -g 2\n{TABLE}{ROW}",
    ),
    "a tensor arrives as zeros": ("p2p-broken", f">>> x.to('cuda:1')\n{ZEROS}>>> x.cpu().to('cuda:1')\n{VALUES}"),
    "a tensor of zeros": ("", f">>> x.to('cuda:1')\n{ZEROS}>>> y.cpu()\ntensor([0., 0., 0., 0.])\n"),
    "the IOMMU refuses a device of AMD's": (
        "p2p-broken",
        "==> a <==\nAMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x0013 address=0xd0005000 flags=0x0030]\n==> b <==\n"
        + WATCHED.format(1, 1),
    ),
    "it refuses one while a job runs well": (
        "",
        "DMAR: [DMA Write] Request device [02:00.0] fault addr fffe0000 [fault reason 05] PTE Write access is not set\n",
    ),
    "ranks print other shapes": ("collective-size-mismatch", SHAPES.format(1024, 1024, 987)),
    "ranks print the same shape": ("", SHAPES.format(1024, 1024, 1024)),
    "ranks print the shapes of what they read": ("", SHAPES.replace("gathering scores", "batch").format(1024, 1024, 987)),
    "the plugin's channels, InfiniBand switched off": (
        "external-net-plugin-overrides-ib-disable",
        f"==> env <==\n$ printenv | grep NCCL\nNCCL_IB_DISABLE=1\nNCCL_SOCKET_IFNAME=eth\n==> log <==\n{CHANNEL.format('IBext_v10')}",
    ),
    "sockets, InfiniBand switched off": (
        "",
        f"==> env <==\n$ printenv | grep NCCL\nNCCL_IB_DISABLE=1\nNCCL_SOCKET_IFNAME=eth\n==> log <==\n{CHANNEL.format('Socket')}",
    ),
    "channels over sockets beside active ports": (
        "nccl-socket-fallback",
        f"==> log <==\n{CHANNEL.format('Socket')}==> rdma <==\nw3$ rdma link\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ibp24s0\n",
    ),
    "a backup fills the interface": (
        "network-contention",
        f"==> sar <==\n{SAR.format('98.90')}==> b <==\n{RSYNC}$ env | grep IFNAME\nNCCL_SOCKET_IFNAME=ens1f0\n",
    ),
    "a backup, and the interface has room": (
        "",
        f"==> sar <==\n{SAR.format('41.02')}==> b <==\n{RSYNC}$ env | grep IFNAME\nNCCL_SOCKET_IFNAME=ens1f0\n",
    ),
    "a setting of one host": (
        "nccl-config-mismatch-across-ranks",
        f"==> e <==\n{PDSH.format('10.4.0.11: NCCL_BUFFSIZE=8388608' + chr(10))}==> l <==\n{TRUNCATED}",
    ),
    "the same settings on both": ("collective-size-mismatch", f"==> e <==\n{PDSH.format('')}==> l <==\n{TRUNCATED}"),
    "each rank prints its NCCL": ("nccl-library-mismatch", "rank 0 nccl (2, 18, 5) torch 2.1.2\nrank 1 nccl (2, 20, 5) torch 2.3.0\n"),
    "each rank prints the same NCCL": ("", "rank 0 nccl (2, 20, 5) torch 2.3.0\nrank 1 nccl (2, 20, 5) torch 2.3.0\n"),
    "an interface by echo, and what ip leaves": (
        "nccl-socket-ifname-invalid",
        "$ echo $NCCL_SOCKET_IFNAME\nib0\n$ ip -o -4 addr | awk '{print $2,$4}'\nlo 127.0.0.1/8\neno1 10.3.0.8/24\nibp24s0 10.8.0.8/16\n",
    ),
    "an interface that is there": (
        "",
        "$ echo $NCCL_SOCKET_IFNAME\neno1\n$ ip -o -4 addr | awk '{print $2,$4}'\nlo 127.0.0.1/8\neno1 10.3.0.8/24\nibp24s0 10.8.0.8/16\n",
    ),
    "a rule that has dropped packets": (
        "firewall-blocked-ports",
        "==> f <==\n$ sudo iptables -nvL INPUT\nChain INPUT (policy ACCEPT 0 packets, 0 bytes)\n"
        "  611 36660 DROP       tcp  --  *      *       0.0.0.0/0            0.0.0.0/0            tcp dpts:1024:65535\n"
        "==> l <==\nn2:200:260 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.9.0.12<43121> failed : Connection timed out\n",
    ),
    "Slurm started one task": ("rank-placement-wrong", SLURM.format(1) + WAITS),
    "Slurm started all tasks": ("rendezvous-timeout", SLURM.format(4) + WAITS),
    "a bus error in NCCL's shared memory, all of it used": ("shm-too-small", BUS_ERROR + DF.format("64M   63M    1M")),
    "a bus error beside much shared memory": ("?shm-too-small", BUS_ERROR + DF.format("512G  1.1G  511G")),
    "one adapter of four": ("too-few-hcas-in-use", USED.format("=mlx5_0:1")),
    "all adapters by their prefix": ("", USED.format("mlx5")),
    "two communicators after one was destroyed": (
        "process-group-initialized-twice",
        "".join(COMM.format(n, f"n{n}", "aaaa", "COMPLETE") for n in range(2))
        + "n0:10:50 [0] NCCL INFO comm 0x50 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE\n"
        + "".join(COMM.format(n, f"n{n}", f"bb0{n}", "START") for n in range(2)),
    ),
    "a rank tunes kernels until gloo gives up": (
        "rank-stuck-in-jit-or-autotune",
        "2026-04-02 11:02:45,120 - INFO - autotuner.py:702 - flashinfer.jit: [Autotuner]: config cache: 0 hits, 212 profiles to tune\n"
        "(Worker_TP1 pid=77) ERROR 04-02 11:39:02 RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Application timeout caused pair closure\n",
    ),
    "the job's accounting, for a program": (
        "node-failure",
        "$ sacct -j 9911 -n -P -o jobid,state,exitcode,nodelist\n9911|NODE_FAIL|1:0|g[11-18]\n",
    ),
}


@pytest.mark.parametrize(("cause", "text"), TEXTS.values(), ids=TEXTS)
def test_a_paste(tmp_path: Path, cause: str, text: str) -> None:
    judge(diagnosed_files(tmp_path, text), cause)


def test_a_head_that_nobody_knows() -> None:
    line = line_of("(exp-7) [rank=12] || lab-04:402:588 [3] NCCL INFO Using network Socket")
    assert (line.rank, line.node, line.pid, line.device, line.text) == (12, "lab-04", 402, 3, "Using network Socket")
    assert line_of("local_rank=3 lab-04:402:588 [3] NCCL INFO Using network Socket").rank is None
