"""Distributed jobs as they are told by old and new releases of NCCL, mpirun, perftest, nccl-tests, the kernel and the tools beside them.

For each cause one text that is decided, and one much like it that is another cause, a candidate, or no trouble at all.
"""

# ruff: noqa: E501  (a line is as long as the tool prints it)

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed

TIMED_OUT = "[rank{0}]:[E ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={1}, OpType={2}, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600029 milliseconds before timing out.\n"
COMPLETE = "gpu-0{0}:71:90 [0] NCCL INFO comm 0x1 rank {0} nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0xab - Init COMPLETE\n"
MODIFY = "gpu-01:71:90 [0] misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error {}\n"
REFUSED = "gpu-01:71:90 [0] misc/ibvwrap.cc:172 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address\n"
LINK_LOCAL = "gpu-01:71:90 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<41822> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::a288:c2ff:fe3a:1b20 remoteGidsfe80::a288:c2ff:fe3a:1b44 hca mlx5_0\n"
USING = "gpu-01:71:90 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/{} [RO]; OOB eth0:10.0.0.1<0>\n"
NO_ROUTE = "gpu-01:71:90 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.9<45123> failed : No route to host\n"
FIREWALLD = (
    "$ systemctl status firewalld\n● firewalld.service - firewalld - dynamic firewall daemon\n"
    "     Loaded: loaded (/usr/lib/systemd/system/firewalld.service; enabled; preset: enabled)\n     Active: active (running) since Sun 2026-03-01 09:11:33 UTC; 3 days ago\n"
)
ACS = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n"
GB10 = "[pid = 4111, dev = 0] device name = [NVIDIA GB10]\ncuMemAlloc() of a 131072 bytes GPU buffer\nallocated GPU buffer address at 0000f8c2a8000000 pointer=0xf8c2a8000000\nCouldn't allocate MR\nfailed to create mr\n"
JIT = "[2026-03-01 12:00:00 TP0] Entering DeepGEMM JIT Pre-Compile session. It may take a long time (typically 10-20 mins)\n"
LOSS = "{'loss': 1.4208, 'grad_norm': 2.9, 'learning_rate': 9.8e-06, 'epoch': 0.05}\n"
TRUNCATED = "gpu-02:71:99 [0] misc/socket.cc:600 NCCL WARN Message truncated : received 65536 bytes instead of 16384\n"
SHOW_GIDS = (
    "$ show_gids\nDEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
    "mlx5_0\t1\t1\tfe80:0000:0000:0000:0ac0:ebff:fe11:2233\t\t\tv2\tens1f0\nmlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\tens1f0\n"
)

# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    # --- the network of the hosts
    "lo in a release that lists interfaces": (
        "bootstrap-wrong-interface",
        "w1:48:51 [1] NCCL INFO NET : Using interface lo:127.0.0.1<0>\nw1:48:51 [1] NCCL INFO NET : Using interface eth0:10.5.6.12<0>\nw1:48:51 [1] include/socket.h:361 NCCL WARN Call to connect timeout : Connection refused\n",
    ),
    "refused in that release": (
        "nccl-connect-refused",
        "w1:48:51 [1] NCCL INFO NET : Using interface eth0:10.5.6.12<0>\nw1:48:51 [1] include/socket.h:361 NCCL WARN Call to connect timeout : Connection refused\n",
    ),
    "firewalld runs": ("firewall-blocked-ports", NO_ROUTE + FIREWALLD),
    "no route alone": ("nccl-connect-no-route", NO_ROUTE),
    "firewalld, and all is well": ("", FIREWALLD),
    "another port is open": (
        "firewall-blocked-ports",
        "$ nc -zv 10.0.0.9 29500\nConnection to 10.0.0.9 29500 port [tcp/*] succeeded!\n" + NO_ROUTE,
    ),
    "a port is open": ("", "$ nc -zv 10.0.0.9 29500\nConnection to 10.0.0.9 29500 port [tcp/*] succeeded!\n"),
    "connect retried, then well": (
        "",
        "gpu-01:71:90 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\ngpu-01:71:90 [0] NCCL INFO socketPollConnect: connect to 10.0.0.2<41273> returned Connection refused, retrying (1/34) after sleep for 100 msec\n"
        + COMPLETE.format(1),
    ),
    "mpirun lost a daemon": (
        "?node-failure",
        "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[31812,0],0] on node gpu-01\n",
    ),
    "a pod's node left": ("node-failure", "  Warning  NodeNotReady  6m12s  node-controller  Node is not ready\n"),
    "coordination service": (
        "peer-rank-died",
        "E0301 10:00:00.1 12 client.h:80] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died\n",
    ),
    # --- one process of the job is gone
    "a task was killed": ("?host-oom-kill", "srun: error: gpu-07: task 12: Killed\n"),
    "a task was killed for memory": ("host-oom-kill", "srun: error: gpu-07: task 12: Out Of Memory\n"),
    "a subprocess was killed": (
        "?host-oom-kill",
        "subprocess.CalledProcessError: Command '['/usr/bin/python3', 'train.py']' died with <Signals.SIGKILL: 9>.\n",
    ),
    "a launcher saw signal 7": (
        "?shm-too-small",
        "torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGBUS\n",
    ),
    "a shell saw the kill": ("?host-oom-kill", "./run.sh: line 14:   812 Killed                  python train.py\n"),
    "a task failed on its own": ("", "srun: error: gpu-07: task 12: Exited with exit code 1\n"),
    "an actor of Ray": (
        "?host-oom-kill",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: RayTrainWorker\n",
    ),
    "Ray's own killer": (
        "host-oom-kill",
        "Memory on the node (IP: 10.0.4.17, ID: 6e1d0c) where the task (task ID: ff01, name=train, pid=812, memory used=51.2GB) was running was 503.12GB / 512.00GB (0.982656), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: 9a1) because it was the most recently scheduled task\n",
    ),
    "C++ without memory": ("host-oom-kill", "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n"),
    "a loader without descriptors": ("container-limits", "RuntimeError: received 0 items of ancdata\n"),
    "scancel with a signal": (
        "job-cancelled",
        "slurmstepd: error: *** JOB 4242 ON gpu-01 CANCELLED AT 2026-03-01T12:00:00 DUE to SIGNAL Terminated ***\n",
    ),
    # --- the store and the barrier
    "the store is retried": (
        "",
        "[rank1]:[W TCPStore.cpp:358] [c10d] TCP client failed to connect/validate to host 10.0.0.1:29500 - retrying (try=0, timeout=600000ms, delay=7311ms): failed to recv, got 0 bytes\n",
    ),
    "the store is given up": (
        "rendezvous-timeout",
        "[rank1]:[E TCPStore.cpp:346] [c10d] TCP client failed to connect/validate to host 10.0.0.1:29500 - timed out (try=81, timeout=600000ms): failed to recv, got 0 bytes\n",
    ),
    "the store's process went": ("peer-rank-died", "RuntimeError: Stop_waiting response is expected\n"),
    "rank 0 went before the id came": (
        "peer-rank-died",
        "RuntimeError: Broken pipe. This may indicate a possible application crash on rank 0 or a network set up issue.\n",
    ),
    "a node takes leave of the store": (
        "",
        "[W dynamic_rendezvous.py:1344] The node 'gpu-03_811_0' has failed to shutdown the rendezvous 'none' due to an error of type RendezvousConnectionError.\n",
    ),
    "the desync report": (
        "hang-one-rank-outside-collective",
        "  - [2] finished collective #6, but didn't join collective #7 (count from 1)\n",
    ),
    "Horovod's missing ranks": (
        "hang-one-rank-outside-collective",
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds.\nMissing ranks:\n3: [allreduce.layer4.weight]\n",
    ),
    "a timeout that another rank had": (
        "nccl-timeout",
        "[rank4]:[E1009 12:01:02.1 ProcessGroupNCCL.cpp:1316] [PG 0 (default_pg) Rank 4] Received a global timeout from another rank and will start to dump the debug info. Last enqueued NCCL work: 8, last completed NCCL work: 7.\n",
    ),
    "the port of RAS is another rank's": (
        "",
        "gpu-01:71:71 [0] ras/client_support.cc:181 NCCL WARN Call to bind failed: Address already in use\n",
    ),
    "the port of a socket is taken": (
        "port-in-use",
        "gpu-01:71:71 [0] misc/socket.cc:450 NCCL WARN Call to bind failed : Address already in use\n",
    ),
    # --- mpirun and Hydra
    "Open MPI's peer": (
        "peer-rank-died",
        "An MPI communication peer process has unexpectedly disconnected.  This\nusually indicates a failure in the peer process (e.g., a crash or\notherwise exiting without calling MPI_FINALIZE first).\n",
    ),
    "Open MPI finds no route": (
        "nccl-connect-no-route",
        "WARNING: Open MPI failed to TCP connect to a peer MPI process.  This\nshould not happen.\n\n  Local host: gpu-01\n  PID:        812\n  Message:    connect() to 10.0.0.2:1024 failed\n  Error:      No route to host (113)\n",
    ),
    "Hydra's name": (
        "dns-resolution-failure",
        "[proxy:0:1@gpu-02] HYDU_sock_connect (utils/sock/sock.c:111): unable to get host address for gpu-01 (1)\n",
    ),
    "mpirun reaches no sshd": (
        "peer-node-network-down",
        "ssh: connect to host gpu-07 port 22: No route to host\nORTE was unable to reliably start one or more daemons.\n",
    ),
    "more processes than slots": (
        "rank-placement-wrong",
        "There are not enough slots available in the system to satisfy the 16\nslots that were requested by the application:\n\n  python\n",
    ),
    # --- RDMA
    "forward compatibility": (
        "cuda-compat-library-conflict",
        "NOTE: CUDA Forward Compatibility mode ENABLED.\n  Using CUDA 12.8 driver version 570.86.10 with kernel driver version 535.183.01.\n"
        + REFUSED,
    ),
    "minor compatibility": ("gpudirect-dmabuf-unavailable", "NOTE: CUDA Minor Version Compatibility mode ENABLED.\n" + REFUSED),
    "forward compatibility, and well": ("", "NOTE: CUDA Forward Compatibility mode ENABLED.\n" + COMPLETE.format(1)),
    "perftest on unified memory": ("gpudirect-rdma-unsupported-platform", GB10),
    "perftest on a card": ("gpudirect-dmabuf-unavailable", GB10.replace("NVIDIA GB10", "NVIDIA A30")),
    "a sample of GPUDirect": (
        "gpudirect-dmabuf-unavailable",
        "cuMemAlloc() of a 131072 bytes GPU buffer\nallocated GPU buffer address at 000001030b220000\nCouldn't register MR\n",
    ),
    "perftest, low limit": ("memlock-limit", "$ ulimit -l\n65536\n$ ib_write_bw -d mlx5_0\nCouldn't allocate MR\nfailed to create mr\n"),
    "perftest, libibverbs warns": (
        "memlock-limit",
        "libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.\n    This will severely limit memory registrations.\nCouldn't create CQ\n",
    ),
    "perftest, no limit": ("", "$ ulimit -l\nunlimited\n$ ib_write_bw -d mlx5_0\nCouldn't allocate MR\n"),
    "link-local GIDs on RoCE": ("roce-gid-index-wrong", USING.format("RoCE") + LINK_LOCAL),
    "link-local GIDs on InfiniBand": ("ib-retry-exceeded", USING.format("IB") + LINK_LOCAL),
    "forced to a link-local GID": (
        "roce-gid-index-wrong",
        "export NCCL_IB_GID_INDEX=1\n" + MODIFY.format("Connection timed out") + SHOW_GIDS,
    ),
    "forced to the GID of an address": (
        "rdma-peer-unreachable",
        "export NCCL_IB_GID_INDEX=3\n" + MODIFY.format("Connection timed out") + SHOW_GIDS,
    ),
    "no GID there": (
        "roce-gid-index-wrong",
        "gpu-01:71:90 [0] transport/net_ib.cc:310 NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument\n",
    ),
    "no such device": ("roce-gid-index-wrong", MODIFY.format("No such device")),
    "no such device, bond": (
        "roce-over-bond-misconfigured",
        USING.format("RoCE").replace("mlx5_0", "mlx5_bond_0") + MODIFY.format("No such device"),
    ),
    "rings without GDR": (
        "gpudirect-rdma-not-in-use",
        "gpu-01:71:90 [0] NCCL INFO Using network IB\ngpu-01:71:90 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 0\n",
    ),
    "rings with GDR": (
        "",
        "gpu-01:71:90 [0] NCCL INFO Using network IB\ngpu-01:71:90 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 1\n",
    ),
    "plugin assigned though disabled": (
        "external-net-plugin-overrides-ib-disable",
        "gpu-01:71:90 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\ngpu-01:71:90 [0] NCCL INFO Assigned NET plugin IBext_v10 to comm\n",
    ),
    "sockets assigned and disabled": (
        "",
        "gpu-01:71:90 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\ngpu-01:71:90 [0] NCCL INFO Assigned NET plugin Socket to comm\n",
    ),
    "status 12 after steps of the Trainer": (
        "ib-link-or-hca-fault",
        LOSS
        + " 17%|#7        | 448/2604 [6:08:29<32:30:26, 54.28s/it]\ngpu-01:71:90 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<41822> with status=12 opcode=0 len=0 vendor err 129 (Send) hca mlx5_7\n",
    ),
    "OFI after steps of the Trainer": (
        "ofi-plugin-bug",
        LOSS
        + " 17%|#7        | 448/2604 [6:08:29<32:30:26, 54.28s/it]\ngpu-01:71:90 [0] ofi_process_cq:1043 NCCL WARN NET/OFI Request 0x7f completed with error. RC: 21. Error: unknown error\n",
    ),
    "OFI at the start": (
        "aws-ofi-nccl-error",
        "gpu-01:71:90 [0] ofi_process_cq:1043 NCCL WARN NET/OFI Request 0x7f completed with error. RC: 21. Error: unknown error\n",
    ),
    # --- GPUs of one host
    "simpleP2P": (
        "p2p-broken",
        "> Peer access from NVIDIA RTX A6000 (GPU0) -> NVIDIA RTX A6000 (GPU1) : Yes\nVerification error @ element 1: val = 0.000000, ref = 4.000000\nTest failed!\n",
    ),
    "ACS, and P2P off": ("p2p-broken", "gpu-01:71:90 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n" + ACS),
    "ACS, and P2P used": ("?p2p-broken", "gpu-01:71:90 [0] NCCL INFO Channel 00/02 : 0[0] -> 1[1] via P2P/direct pointer\n" + ACS),
    "ACS alone": ("", ACS),
    "the IOMMU while ranks wait": (
        "p2p-broken",
        "[  812.1] nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0x3a0a0000000 flags=0x0030]\n"
        + "".join(TIMED_OUT.format(n, 1, "ALLREDUCE") for n in range(2)),
    ),
    "the IOMMU alone": (
        "",
        "[  812.1] nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0x3a0a0000000 flags=0x0030]\n",
    ),
    "a warning under a matrix": (
        "p2p-broken",
        "$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\t\n GPU0\tX\tCNS\t\n GPU1\tCNS\tX\t\n\nLegend:\n  X    = Self\n  CNS  = Chipset not supported\ngpu-01:1:2 [0] transport/p2p.cc:136 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'\n",
    ),
    # --- what ranks do
    "mismatched collective": (
        "collective-mismatch",
        "gpu-01:71:90 [7] init.cc:1247 NCCL WARN Mismatched collective detected, please check your collective calls at and around rank 15. You can use NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=COLL to see the collective logs\n",
    ),
    "shapes that Accelerate compared": (
        "collective-size-mismatch",
        "accelerate.utils.operations.DistributedOperationException: Cannot apply desired operation due to shape mismatches. All shapes across devices must be valid.\n",
    ),
    "channels differ": (
        "nccl-config-mismatch-across-ranks",
        "gpu-01:71:90 [0] NCCL INFO 4 coll channels, 0 nvls channels, 4 p2p channels, 1 p2p channels per peer\n"
        + COMPLETE.format(0).replace("gpu-00", "gpu-01")
        + "gpu-02:71:99 [0] NCCL INFO 16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer\n"
        + COMPLETE.format(1).replace("gpu-01", "gpu-02")
        + TRUNCATED,
    ),
    "set on one rank only": (
        "nccl-config-mismatch-across-ranks",
        "gpu-01:71:90 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\ngpu-01:71:90 [0] NCCL INFO NCCL_BUFFSIZE set by environment to 8388608.\ngpu-02:71:99 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>\n"
        + TRUNCATED,
    ),
    "truncated alone": ("collective-size-mismatch", TRUNCATED),
    "rank 0 tokenises before the first": (
        "rank0-only-work",
        "Tokenizing Prompts (num_proc=64):  92%|#########2| 328986/359152 [29:58<12:05, 41.59 examples/s]\n"
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 1800000ms, keys: /default_pg/0//cuda//0\n",
    ),
    "nobody tells what rank 0 does": (
        "rendezvous-timeout",
        "[rank1]: torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 1800000ms, keys: /default_pg/0//cuda//0\n",
    ),
    "a barrier while rank 0 tokenises": (
        "rank0-only-work",
        "Running tokenizer on dataset (num_proc=16):  41%|####      | 1217000/2969526 [29:59<44:01, 663 examples/s]\n"
        + "".join(TIMED_OUT.format(n, 1, "BARRIER").replace("NumelIn=4096, NumelOut=4096, ", "") for n in (1, 2, 3)),
    ),
    "kernels are compiled": ("rank-stuck-in-jit-or-autotune", JIT + "".join(TIMED_OUT.format(n, 51, "ALLREDUCE") for n in (1, 2, 3))),
    "kernels were compiled": ("", JIT + "[2026-03-01 12:12:00 TP0] The server is fired up and ready to roll!\n"),
    "a kernel was compiled while serving": (
        "",
        "(EngineCore pid=284) WARNING 05-30 07:48:45 [jit_monitor.py:103] Triton kernel JIT compilation during inference: _zero_kv_blocks_kernel. This causes a latency spike; consider extending warmup to cover this shape/config.\n",
    ),
    "nccl-tests count GPUs": (
        "rank-placement-wrong",
        "gpu-01: Test CUDA failure common.cu:892 'invalid device ordinal'\n .. gpu-01 pid 3011: Test failure common.cu:842\n",
    ),
    "spawned": (
        "rank-placement-wrong",
        "-- Process 2 terminated with the following error:\n    torch.cuda.set_device(gpu)\nRuntimeError: CUDA error: invalid device ordinal\n",
    ),
    # It asks the GPU first, whatever is wrong there; the kernel log of that node decides.
    "the thread that watches collectives meets an error": (
        "?cuda-error-on-one-rank",
        "terminate called after throwing an instance of 'c10::CUDAError'\n  what():  CUDA error: unknown error\nframe #2: c10d::ProcessGroupNCCL::WorkNCCL::isCompleted() + 0x50 (0x7f1c in libtorch_cuda.so)\n",
    ),
    "a program meets the same error": (
        "?cuda-error-on-one-rank",
        "terminate called after throwing an instance of 'c10::CUDAError'\n  what():  CUDA error: unknown error\n",
    ),
    "a program alone": ("?device-visibility-mismatch", "RuntimeError: CUDA error: invalid device ordinal\n"),
    "driver out of memory, after a kill": (
        "gpu-driver-wedged-after-oom",
        "[12889.552] NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from memmgrAllocResources(pGpu) @ mem_mgr.c:1842\n"
        "[12890.1] Out of memory: Killed process 9123 (python) total-vm:212312312kB, anon-rss:101231231kB\nspark-1:99:120 [0] misc/ibvwrap.cc:172 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory\n",
    ),
    "gRPC's port": (
        "port-in-use",
        'E0301 10:00:00.1  server_chttp2.cc:40] {"description":"Unable to configure socket","errno":98,"os_error":"Address already in use","syscall":"bind"}\n',
    ),
    "bus error, small shm": (
        "shm-too-small",
        "[gpu-01:301  :0:340] Caught signal 7 (Bus error: nonexistent physical address)\n$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\nshm              64M   64M     0 100% /dev/shm\n",
    ),
    "bus error, large shm": (
        "",
        "[gpu-01:301  :0:340] Caught signal 7 (Bus error: nonexistent physical address)\n$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\nshm             256G  1.1M  256G   1% /dev/shm\n",
    ),
    "tear-down": (
        "",
        LOSS
        + "gpu-01:71:95 [0] NCCL INFO [Service thread] Connection closed by localRank 0\ngpu-01:71:95 [0] NCCL INFO comm 0x5f rank 0 nranks 2 cudaDev 0 busId 1000 - Abort COMPLETE\n{'train_runtime': 22109.1, 'train_loss': 1.21, 'epoch': 1.0}\n",
    ),
    "a rank is gone": (
        "peer-rank-died",
        "gpu-01:71:95 [0] NCCL INFO [Service thread] Connection closed by localRank 7\n[rank0]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",
    ),
    # --- lines that were cut, wrapped, or have another head; other words for the same
    "a device of Docker's": (
        "bootstrap-wrong-interface",
        "(Worker pid=4410, ip=10.8.0.4) ERROR 03-01 10:00:00 worker.py:581] socketStartConnect: Connect to 172.18.0.5<40113> failed : Software caused connection abort\n",
    ),
    "a host of a cloud's network": (
        "?peer-node-network-down",
        "gpu-01:71:90 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.31.44.5<40113> failed : Host is down\n",
    ),
    "a record of the bootstrap with another size": (
        "nccl-library-mismatch",
        "gpu-02:71:99 [0] bootstrap.cc:81 NCCL WARN Message truncated : received 188 bytes instead of 76\n",
    ),
    "channels that the bootstrap tells of": (
        "?nccl-config-mismatch-across-ranks",
        "gpu-02:71:99 [0] bootstrap.cc:221 NCCL WARN Message truncated : received 8192 bytes instead of 4096\n",
    ),
    "channels of ranks that a script names": (
        "nccl-config-mismatch-across-ranks",
        "rank 0: 16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels\nrank 1: 4 coll channels, 4 collnet channels, 0 nvls channels, 4 p2p channels\nrank 1: bootstrap.cc:221 NCCL WARN Message truncated : received 4096 bytes instead of 1024\n",
    ),
    "a count that can't be": (
        "nccl-library-mismatch",
        "[2026-03-01 10:00:00] gpu-01:71:90 [0] bootstrap.cc:345 NCCL WARN Bootstrap Root : mismatch in info from procs, nranks 4 vs 4, nroots 1 vs 1, iroot 0 vs 0, offset 0 vs -712204811\n",
    ),
    "counts of two worlds": (
        "node-rank-duplicate",
        "gpu-01:71:90 [0] bootstrap.cc:345 NCCL WARN Bootstrap Root : mismatch in info from procs, nranks 4 vs 8, nroots 1 vs 1, iroot 0 vs 0, offset 0 vs 0\n",
    ),
    "link-local, on three lines": (
        "roce-gid-index-wrong",
        "NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE [1]mlx5_3:1/RoCE [RO];\n                   OOB eth0:10.1.0.7<0>\ntransport/net_ib.cc:2472 NCCL WARN NET/IB: Got completion from peer 10.1.0.9\n  with status=12 opcode=0 len=0 vendor err 129 (Recv)\n  localGid  fe80::a288:c2ff:fe3a:1b20\n  remoteGid fe80::a288:c2ff:fe3a:1b44   hca mlx5_3\n[rank0] ncclRemoteError: A call failed possibly due to a network error\n",
    ),
    "no memory for a queue": ("memlock-limit", "NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory\n"),
    "no memory for a registration": ("?memlock-limit", "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n"),
    "no memory for a registration, no peermem": (
        "gpudirect-dmabuf-unavailable",
        "NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\nmodprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n",
    ),
    "a provider that doesn't fit": (
        "nccl-socket-fallback",
        "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0\nNCCL INFO NET/IB : No device found.\nNCCL INFO Using network Socket\n",
    ),
    "a provider that doesn't fit, and no job": (
        "",
        "libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0\n",
    ),
    "half of the adapter's modules": (
        "nccl-socket-fallback",
        "$ python train.py\ngpu-01:71:90 [0] NCCL INFO NET/IB : No device found.\ngpu-01:71:90 [0] NCCL INFO Using network Socket\n\n$ lsmod | grep mlx5\nmlx5_core            2101248  0\n",
    ),
    "both halves": (
        "",
        "$ python train.py\ngpu-01:71:90 [0] NCCL INFO NET/IB : No device found.\ngpu-01:71:90 [0] NCCL INFO Using network Socket\n\n$ lsmod | grep mlx5\nmlx5_ib               401408  0\nmlx5_core            2101248  1 mlx5_ib\n",
    ),
    "a plugin of another release": (
        "net-plugin-not-found",
        "NCCL INFO NCCL_NET_PLUGIN set by environment to fastnet\nNCCL INFO External network plugin /opt/fastnet/libnccl-net-fastnet.so is unsupported\nNCCL INFO NET/Socket : Using [0]eth0:10.1.0.7<0>\n",
    ),
    "an event that was cut": (
        "ib-link-or-hca-fault",
        "gpu-01:71:90 [0] transport/net_ib.cc:101 NCCL WARN NET/IB : mlx5_4:1 Got async event :\n",
    ),
    "an event that is none": (
        "",
        "gpu-01:71:90 [0] transport/net_ib.cc:101 NCCL WARN NET/IB : mlx5_4:1 Got async event : client reregistration\n",
    ),
    "a bond beside InfiniBand": (
        "wrong-ib-hca-selected",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_bond_0:1/RoCE [RO]; OOB ib0:10.1.0.7<0>\n",
    ),
    "bonds alone": ("", "NCCL INFO NET/IB : Using [0]mlx5_bond_0:1/RoCE [1]mlx5_bond_1:1/RoCE [RO]; OOB bond0:10.1.0.7<0>\n"),
    "rails, by NCCL's hint": (
        "rdma-rails-unreachable",
        "NCCL version 2.30.1+cuda13.0\n\nIn many cases this error occurs when NICs are not cross-rail connected.\nTo confirm, you can set NCCL_CROSS_NIC=0 to disable cross-rail communication.\n",
    ),
    "ibv_rc_pingpong": (
        "ib-fabric-unreachable",
        "  local address:  LID 0x0012, QPN 0x0000c1, PSN 0x1b2c3d, GID ::\nFailed status transport retry counter exceeded (12) for wr_id 2\n",
    ),
    "a launcher that was told to end": (
        "?job-cancelled",
        "WARNING:torch.distributed.elastic.agent.server.api:Received 15 death signal, shutting down workers\nWARNING:torch.distributed.elastic.multiprocessing.api:Sending process 4410 closing signal SIGTERM\n",
    ),
    "a library of the same branch": (
        "driver-library-version-mismatch",
        "E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: system has unsupported display driver / cuda driver combination\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:193] libcuda reported version is: 550.120.0\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:197] kernel reported version is: 550.90.7\n",
    ),
    "a library of a newer branch": (
        "cuda-compat-library-conflict",
        "E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: system has unsupported display driver / cuda driver combination\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:193] libcuda reported version is: 570.86.10\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:197] kernel reported version is: 535.183.1\n",
    ),
    "GPUs of AMD behind an IOMMU": (
        "p2p-broken",
        '# nThread 1 nGpus 2 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\ngpu-01:71:71 [0] init.cc:132 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!\ngpu-01:71:90 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 2f000 commId 0xab - Init START\ngpu-01:71:91 [1] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 1 busId 3000 commId 0xab - Init START\n',
    ),
    "a connection that was closed, without a head": (
        "peer-rank-died",
        "NCCL WARN socketProgress: Connection closed by remote peer gpu-07<40113>\n",
    ),
    "a lone rank's wrong GPU": ("rank-placement-wrong", "[rank0]: RuntimeError: CUDA error: invalid device ordinal\n"),
    "a lone program's wrong GPU": ("?device-visibility-mismatch", "RuntimeError: CUDA error: invalid device ordinal\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    report = diagnosed(tmp_path, text)
    if cause.startswith("?"):
        assert not report.findings
        assert cause[1:] in [one.cause for one in report.candidates]
    elif cause:
        assert next(one.cause for one in report.findings) == cause
    else:
        assert [one.cause for one in report.findings if one.severity != "info"] == []
