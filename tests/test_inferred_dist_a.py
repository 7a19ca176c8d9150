# ruff: noqa: E501 - lines as programs print them
"""Causes of a distributed job that no line names: they follow from other programs' answers, from settings, from what differs between ranks.

Each text gives that cause first; "" is a near-miss that says nothing of a fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

TEXTS = [
    (
        "bootstrap-wrong-interface",
        r"""
WARNING: Open MPI failed to TCP connect to a peer MPI process.  This
should not happen.

Your Open MPI job may now hang or fail.

  Local host: hx02
  PID:        4411
  Message:    connect() to 172.17.0.1:1026 failed
  Error:      No route to host (113)
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
RuntimeError: Unable to find a set of common task-to-task communication interfaces: [(1, {'docker0': [('172.17.0.1', 31021)], 'eth1': [('10.9.0.4', 31021)]}), (0, {'ib0': [('10.10.0.3', 8811)]})]
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
hx01:88:88 [0] NCCL INFO Bootstrap : Using virbr0:192.168.122.1<0>
hx02:91:91 [0] NCCL INFO Bootstrap : Using virbr0:192.168.122.1<0>
hx02:91:140 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 192.168.122.1<45991> failed : Connection refused
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
==> a.txt <==
$ ip -o -4 addr
1: lo    inet 127.0.0.1/8 scope host lo
2: ens5    inet 10.20.1.7/24 brd 10.20.1.255 scope global ens5
6: docker_gwbridge    inet 172.23.0.1/16 brd 172.23.255.255 scope global docker_gwbridge
==> b.txt <==
[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (172.23.0.1, 29500).
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
==> netstat.txt <==
tcp        0      1 10.20.1.8:40122         172.17.0.1:46221        SYN_SENT    2211/python
==> job.log <==
[1710234.551] hx02:2211:2211 [0] NCCL INFO Bootstrap : Using ens5:10.20.1.8<0>
""",
    ),
    (
        "",
        r"""
hx01:88:88 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>
hx01:88:88 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x1 - Init COMPLETE
hx01:89:89 [1] NCCL INFO ncclCommInitRank comm 0x56 rank 1 nranks 2 cudaDev 1 busId 1c000 commId 0x1 - Init COMPLETE
""",
    ),
    (
        "",
        r"""
$ ip -br -4 a
lo               UNKNOWN        127.0.0.1/8
eth0             UP             10.0.0.31/24
docker0          DOWN           172.17.0.1/16
""",
    ),
    (
        "collective-mismatch",
        r"""
== 811 (rank 0)
Thread 811 (active): "MainThread"
    barrier (torch/distributed/distributed_c10d.py:4159)
    wrapper (torch/distributed/c10d_logger.py:81)
    evaluate (run.py:88)
== 812 (rank 1)
Thread 812 (active): "MainThread"
    all_gather_into_tensor (torch/distributed/distributed_c10d.py:3100)
    wrapper (torch/distributed/c10d_logger.py:81)
    step (run.py:51)
== 813 (rank 2)
Thread 813 (active): "MainThread"
    all_gather_into_tensor (torch/distributed/distributed_c10d.py:3100)
    step (run.py:51)
""",
    ),
    (
        "",
        r"""
Thread 811 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    step (run.py:51)
Thread 812 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    step (run.py:51)
""",
    ),
    (
        "",
        r"""
Process 811: python run.py
Thread 811 (active): "MainThread"
    recv (torch/distributed/distributed_c10d.py:2301)
    forward_backward (pipe.py:51)
Process 812: python run.py
Thread 812 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    step (run.py:51)
""",
    ),
    (
        "collective-mismatch",
        r"""
[2024-05-02 09:12:44.018: W /tmp/pip/horovod/common/stall_inspector.cc:107] One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds. This may indicate that different ranks are trying to submit different tensors or that only subset of ranks is submitting tensors, which will cause deadlock.
Missing ranks:
0: [DistributedAdam_Allreduce/cond_3/HorovodAllreduce_head_b_0]
1: [DistributedAdam_Allreduce/cond_3/HorovodAllreduce_head_a_0]
""",
    ),
    (
        "collective-mismatch",
        r"""
gn01:510:610 [0] NCCL INFO ncclCommInitRank comm 0x55a0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x77aa - Init COMPLETE
gn01:511:611 [1] NCCL INFO ncclCommInitRank comm 0x66b0 rank 1 nranks 2 cudaDev 1 nvmlDev 1 busId 1c000 commId 0x77aa - Init COMPLETE
gn01:510:610 [0] NCCL INFO AllReduce: opCount 11 sendbuff 0x7f01 recvbuff 0x7f01 count 4096 datatype 7 op 0 root 0 comm 0x55a0 [nranks=2] stream 0x1
gn01:511:611 [1] NCCL INFO Broadcast: opCount 11 sendbuff 0x7f01 recvbuff 0x7f01 count 64 datatype 7 op 0 root 0 comm 0x66b0 [nranks=2] stream 0x1
""",
    ),
    (
        "collective-mismatch",
        r"""
[rank0]:[E ProcessGroupNCCL.cpp:523] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=412, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600211 milliseconds before timing out.
[rank1]:[E ProcessGroupNCCL.cpp:523] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=412, OpType=BROADCAST, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran for 600218 milliseconds before timing out.
""",
    ),
    (
        "collective-size-mismatch",
        r"""
[gn03:2211] *** An error occurred in MPI_Allreduce
[gn03:2211] *** reported by process [139,1]
[gn03:2211] *** on communicator MPI_COMM_WORLD
[gn03:2211] *** MPI_ERR_TRUNCATE: message truncated
[gn03:2211] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
""",
    ),
    (
        "collective-size-mismatch",
        r"""
[rank0]:[E ProcessGroupNCCL.cpp:523] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=524288, NumelOut=524288, Timeout(ms)=600000) ran for 600211 milliseconds before timing out.
[rank1]:[E ProcessGroupNCCL.cpp:523] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=524160, NumelOut=524160, Timeout(ms)=600000) ran for 600218 milliseconds before timing out.
""",
    ),
    (
        "collective-size-mismatch",
        r"""
Fatal error in PMPI_Allgather: Message truncated, error stack:
MPIR_Allgather_intra(224): Message from rank 3 and tag 7 truncated; 4096 bytes received but buffer size is 2048
""",
    ),
    (
        "collective-size-mismatch",
        r"""
RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 8192 vs 4096
""",
    ),
    (
        "collective-size-mismatch",
        r"""
tensorflow.python.framework.errors_impl.InvalidArgumentError: Mismatched allgather tensor shapes: One rank sent a tensor of rank 2, but another rank sent a tensor of rank 3. [Op:HorovodAllgather]
""",
    ),
    (
        "cuda-compat-library-conflict",
        r"""
$ ldconfig -p | grep libcuda.so
	libcuda.so.1 (libc6,x86-64) => /usr/local/cuda-12.4/compat/libcuda.so.1
	libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1
$ python -c "import torch; torch.cuda.init()"
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination
""",
    ),
    (
        "cuda-compat-library-conflict",
        r"""
$ grep -o '/.*libcuda.so.*' /proc/4411/maps | sort -u
/usr/local/cuda/compat/libcuda.so.550.54.15
$ ib_write_bw -d mlx5_0 --use_cuda=0 peer
allocated GPU buffer of a 16777216 address at 0x594ca786d9b0 for type CUDA_MEM_DEVICE
Couldn't allocate MR with error=22
""",
    ),
    (
        "duplicate-gpu-assignment",
        r"""
Rank 0 on nx1: CUDA_VISIBLE_DEVICES=0,1 device=cuda:0
Rank 1 on nx1: CUDA_VISIBLE_DEVICES=0,1 device=cuda:0
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.19.3
""",
    ),
    (
        "",
        r"""
Rank 0 on nx1: CUDA_VISIBLE_DEVICES=0,1 device=cuda:0
Rank 1 on nx1: CUDA_VISIBLE_DEVICES=0,1 device=cuda:1
Rank 2 on nx2: CUDA_VISIBLE_DEVICES=0,1 device=cuda:0
""",
    ),
    (
        "duplicate-gpu-assignment",
        r"""
gn01:510:610 [0] NCCL INFO ncclCommInitRank comm 0x55a0 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x77aa - Init START
gn01:511:611 [0] NCCL INFO ncclCommInitRank comm 0x66b0 rank 1 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x77aa - Init START
gn01:512:612 [0] NCCL INFO ncclCommInitRank comm 0x66b0 rank 2 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x77aa - Init START
gn01:513:613 [0] NCCL INFO ncclCommInitRank comm 0x66b0 rank 3 nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x77aa - Init START
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
""",
    ),
    (
        "duplicate-gpu-assignment",
        r"""
==> log.txt <==
RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, invalid usage, NCCL version 2.14.3
==> smi.txt <==
+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
|    0   N/A  N/A     30211      C   python                            1412MiB |
|    0   N/A  N/A     30212      C   python                            1412MiB |
|    0   N/A  N/A     30213      C   python                            1412MiB |
|    0   N/A  N/A     30214      C   python                            1412MiB |
+-----------------------------------------------------------------------------+
""",
    ),
    (
        "external-net-plugin-overrides-ib-disable",
        r"""
n1:11:11 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.
n1:11:11 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.2<0>
n1:11:11 [0] NCCL INFO Using network IBext_v8
""",
    ),
    (
        "external-net-plugin-overrides-ib-disable",
        r"""
==> env.txt <==
NCCL_IB_DISABLE=1
NCCL_SOCKET_IFNAME=eth0
==> log.txt <==
n1:11:11 [0] NCCL INFO P2P plugin IBext
n1:11:99 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IBext/0
""",
    ),
    (
        "",
        r"""
n1:11:11 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.
n1:11:11 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.2<0>
n1:11:11 [0] NCCL INFO Using network Socket
""",
    ),
    (
        "firewall-blocked-ports",
        r"""
$ ping -c1 10.4.0.9
64 bytes from 10.4.0.9: icmp_seq=1 ttl=64 time=0.11 ms
$ nc -zv -w3 10.4.0.9 29500
nc: connect to 10.4.0.9 port 29500 (tcp) timed out: Operation now in progress
""",
    ),
    (
        "firewall-blocked-ports",
        r"""
==> a.txt <==
gpu-a:88:140 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.4.0.9<45991> failed : No route to host
==> b.txt <==
$ sudo iptables -S INPUT
-P INPUT ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT
-A INPUT -j REJECT --reject-with icmp-host-prohibited
""",
    ),
    (
        "firewall-blocked-ports",
        r"""
==> a.txt <==
[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (10.4.0.9, 29500).
==> b.txt <==
$ sudo ufw status
Status: active

To                         Action      From
--                         ------      ----
22/tcp                     ALLOW       Anywhere
""",
    ),
    (
        "gdrcopy-device-missing-in-container",
        r"""
$ kubectl exec t-0 -- ls -l /dev/gdrdrv
ls: cannot access '/dev/gdrdrv': No such file or directory
$ kubectl logs t-0 | tail -2
src/host/mem/mem.cpp:122: NULL value GDRCopy open call failed, falling back to not using GDRCopy
""",
    ),
    (
        "gdrcopy-device-missing-in-container",
        r"""
[1700000000.123456] [n1:11:0]          gdr_copy_md.c:312  UCX  DIAG  gdr_open failed
""",
    ),
    (
        "gloo-wrong-interface",
        r"""
RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: eno9
""",
    ),
    (
        "gloo-wrong-interface",
        r"""
==> log.txt <==
nodeb:77:77 [0] NCCL INFO ncclCommInitRank comm 0x1e rank 8 nranks 16 cudaDev 0 nvmlDev 0 busId 18000 commId 0x77e0 - Init COMPLETE
==> ss.txt <==
SYN-SENT 0      1         172.17.0.1:40210     172.17.0.1:58830  users:(("python",pid=901,fd=93))
""",
    ),
    (
        "gloo-wrong-interface",
        r"""
RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error
""",
    ),
    (
        "gpu-driver-wedged-after-oom",
        r"""
[Tue Mar  3 02:11:09 2026] Out of memory: Killed process 2211 (python3) total-vm:201183244kB, anon-rss:9120332kB, file-rss:88112kB, shmem-rss:0kB
[Tue Mar  3 07:30:02 2026] NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1359
$ python3 -c "import torch; torch.zeros(1).cuda()"
torch.AcceleratorError: CUDA error: out of memory
""",
    ),
    (
        "host-oom-kill",
        r"""
[Tue Mar  3 02:11:09 2026] NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1359
[Tue Mar  3 02:11:10 2026] Out of memory: Killed process 2211 (python3) total-vm:201183244kB, anon-rss:9120332kB, file-rss:88112kB, shmem-rss:0kB
$ tail -1 run.log
torch.AcceleratorError: CUDA error: out of memory
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
--------------------------------------------------------------------------
The call to cuStreamSynchronize failed. This is a unrecoverable error and will
cause the program to abort.
  Hostname:                     nx7
  cuStreamSynchronize return value:   214
Check the cuda.h file for what the return value means.
--------------------------------------------------------------------------
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
[1700000000.1] [nx7:11:0] cuda_copy_ep.c:121 UCX  ERROR cuMemcpyDtoHAsync_v2() failed: uncorrectable ECC error encountered
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
$ nvidia-smi --query-gpu=index,ecc.errors.uncorrected.volatile.total --format=csv
index, ecc.errors.uncorrected.volatile.total
0, 0
1, 3
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
cudaGetDeviceCount: error code 214
""",
    ),
    (
        "",
        r"""
read 214 records; CUDA error log rotated
epoch 3 cuda step 214 loss 0.2
""",
    ),
    (
        "gpu-oom-surfacing-in-nccl",
        r"""
==> e.log <==
RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)
==> s.txt <==
index, memory.used [MiB], memory.total [MiB]
0, 81111 MiB, 81559 MiB
1, 81111 MiB, 81559 MiB
""",
    ),
    (
        "gpu-oom-surfacing-in-nccl",
        r"""
[n1:0]: ncclUnhandledCudaError: Call to CUDA function failed.
Last error:
Failed to CUDA calloc async 6291456 bytes
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
n1:11:99 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0
n1:11:99 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/1
""",
    ),
    (
        "",
        r"""
n1:11:99 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0/GDRDMA
n1:11:99 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/1/GDRDMA/Shared
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
n1:11:99 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
n1:11:99 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 0 / HCA 2 (distance 5 > 4)
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
n1:11:99 [0] NCCL INFO NET/OFI Setting provider_filter to efa
n1:11:99 [0] NCCL INFO NET/OFI Need to force simple protocol: GDR not supported
""",
    ),
    (
        "gpudirect-rdma-unsupported-platform",
        r"""
NVRM: loading NVIDIA UNIX Open Kernel Module for aarch64  580.95.05
$ nvidia-smi -L
GPU 0: NVIDIA GB10 (UUID: GPU-3f0ad7c1-9e0b-3c7d-44ce-b81b7b0c2ff1)
$ modprobe nvidia-peermem
modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument
""",
    ),
    (
        "gpudirect-rdma-unsupported-platform",
        r"""
CUDA device: NVIDIA GeForce RTX 4090, GPUDirectRDMA: no
[pid = 4111, dev = 0] device name = [NVIDIA GeForce RTX 4090]
creating CUDA Ctx
Couldn't allocate MR with error=14
""",
    ),
    (
        "gpudirect-rdma-unsupported-platform",
        r"""
==> smi.txt <==
GPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-3f0ad7c1-9e0b-3c7d-44ce-b81b7b0c2ff1)
==> n.log <==
n1:11:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address
""",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        r"""
using DMA-BUF for GPU buffer address at 0x7f8d60000000 aligned at 0x7f8d60000000 with aligned size 16777216
Couldn't allocate MR with error=95
""",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        r"""
DMA-BUF is not supported on this GPU
""",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        r"""
$ zgrep -E 'DMABUF_MOVE_NOTIFY|PCI_P2PDMA' /proc/config.gz
# CONFIG_DMABUF_MOVE_NOTIFY is not set
# CONFIG_PCI_P2PDMA is not set
$ tail -1 job.log
n1:11:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_dmabuf_mr failed with error Operation not supported
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
lx1:88:88 [0] NCCL INFO Bootstrap : Using wlp3s0:192.168.1.23<0>
lx1:88:88 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x1 - Init START
lx2:71:71 [0] NCCL INFO Bootstrap : Using enp5s0:10.7.0.4<0>
lx2:71:71 [0] NCCL INFO ncclCommInitRank comm 0x56 rank 1 nranks 2 cudaDev 0 busId 1b000 commId 0x1 - Init START
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
RuntimeError: Every node should have a unique IP address. Got 2 nodes with node ids ['a1', 'b2'] and 1 unique IP addresses {'172.17.0.1'}. Please check your network configuration. If you set `VLLM_HOST_IP` environment variable, make sure it is unique for each node.
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
[hx02:4411] btl_tcp_endpoint.c:796:mca_btl_tcp_endpoint_start_connect connect() to 169.254.95.120:1024 failed: No route to host (113)
""",
    ),
    (
        "bootstrap-wrong-interface",
        r"""
[1710234.551] [hx02:2211:0]  sock.c:343  UCX  ERROR connect(fd=61, dest_addr=172.17.0.1:41311) failed: Connection refused
""",
    ),
    (
        "gdrcopy-device-missing-in-container",
        r"""
n1:11:99 [0] NCCL WARN NET/OFI GDRCopy requested but /dev/gdrdrv could not be opened: gdr_open() failed
""",
    ),
    (
        "gdrcopy-device-missing-in-container",
        r"""
NVSHMEM: WARN GDRCopy open call failed, falling back to not using GDRCopy
$ lsmod | grep gdrdrv
gdrdrv                 28672  0
$ ls /dev/gdrdrv
ls: cannot access '/dev/gdrdrv': No such file or directory
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
2026-03-03 14:03:20.774110: E tensorflow/stream_executor/cuda/cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu="3",UUID="GPU-3f0ad7c1-9e0b-3c7d-44ce-b81b7b0c2ff1",device="nvidia3",modelName="NVIDIA A100-SXM4-80GB",Hostname="nx3"} 2
""",
    ),
    (
        "gpu-ecc-uncorrectable",
        r"""
srun: error: nx3: task 5: Exited with exit code 1
5: RuntimeError: CUDA error: uncorrectable ECC error encountered
5: CUDA kernel errors might be asynchronously reported at some other API call
""",
    ),
    (
        "gpu-oom-surfacing-in-nccl",
        r"""
(VllmWorker rank=1 pid=99) ERROR [multiproc_executor.py:597] RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   34C    P0            112W /  700W |   81211MiB /  81559MiB |      0%      Default |
""",
    ),
    (
        "",
        r"""
index, memory.used [MiB], memory.total [MiB]
0, 81111 MiB, 81559 MiB
1, 81111 MiB, 81559 MiB
INFO 11-04 18:02:52 [kv_cache_utils.py:1087] GPU KV cache size: 537,648 tokens
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
==> e.txt <==
NCCL_NET_GDR_LEVEL=0
NCCL_DEBUG=WARN
==> t.txt <==
	GPU0	GPU1	NIC0	NIC1	CPU Affinity	NUMA Affinity
GPU0	 X 	NV12	PXB	SYS	0-31	0
GPU1	NV12	 X 	SYS	PXB	32-63	1
NIC0	PXB	SYS	 X 	SYS
NIC1	SYS	PXB	SYS	 X
""",
    ),
    (
        "gpudirect-rdma-not-in-use",
        r"""
n1:11:99 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 0
n1:11:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0
""",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        r"""
n1:11:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr failed with error Bad address
$ lsmod | grep nvidia_peermem
$
""",
    ),
    (
        "gpudirect-dmabuf-unavailable",
        r"""
modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/6.8.0-45-generic
n1:11:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Bad address
""",
    ),
    (
        "cuda-compat-library-conflict",
        r"""
LD_LIBRARY_PATH=/usr/local/cuda/compat:/usr/local/nvidia/lib64
n1:11:99 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Invalid argument
""",
    ),
    (
        "duplicate-gpu-assignment",
        r"""
[rank1]: torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/NCCLUtils.cpp:94, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.26.2
[rank1]: Last error:
[rank1]: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000
""",
    ),
    (
        "gloo-wrong-interface",
        r"""
[rank1]: RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:153] no error
nodea:12:12 [0] NCCL INFO Bootstrap : Using ens5:10.0.4.3<0>
""",
    ),
    (
        "external-net-plugin-overrides-ib-disable",
        r"""
$ env | grep NCCL
NCCL_IB_DISABLE=1
NCCL_DEBUG=INFO
$ grep -m2 'Using network\|NET/' job.out
n1:11:11 [0] NCCL INFO NET/Plugin: Loaded net plugin IBext_v8 (v8)
n1:11:11 [0] NCCL INFO Using network IBext_v8
""",
    ),
    (
        "firewall-blocked-ports",
        r"""
$ ping -c2 -q 10.4.0.9
2 packets transmitted, 2 received, 0% packet loss, time 1001ms
$ timeout 5 bash -c '</dev/tcp/10.4.0.9/29500'; echo $?
124
[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (10.4.0.9, 29500).
""",
    ),
    (
        "firewall-blocked-ports",
        r"""
$ telnet 10.4.0.9 29500
Trying 10.4.0.9...
telnet: Unable to connect to remote host: No route to host
$ ping -c1 10.4.0.9
64 bytes from 10.4.0.9: icmp_seq=1 ttl=64 time=0.11 ms
""",
    ),
]


@pytest.mark.parametrize(("cause", "text"), TEXTS, ids=[f"{number}-{cause or 'quiet'}" for number, (cause, _) in enumerate(TEXTS)])
def test_inferred(tmp_path: Path, cause: str, text: str) -> None:
    judge(diagnosed_files(tmp_path, text.lstrip("\n")), cause, info=bool(cause))
