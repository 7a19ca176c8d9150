# ruff: noqa: E501 - lines as programs print them
"""What people paste of jobs whose ranks do not go the same way, and the cause that stands first; "" where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed

# name → (cause, files: their texts in order)
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ucx says which limit": (
        "memlock-limit",
        (
            "[1710234.551] [gpu-04:21412:0]  ib_md.c:282  UCX  ERROR ibv_reg_mr(address=0x7f10c4000000, length=37748736, access=0xf)"
            " failed: Cannot allocate memory : Please set max locked memory (ulimit -l) to 'unlimited' (current: 8192 kbytes)\n",
        ),
    ),
    "libibverbs warns": (
        "memlock-limit",
        (
            "libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.\n    This will severely limit memory registrations.\n"
            "gpu-04:412:530 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory\n",
        ),
    ),
    "open mpi asks for locked memory": (
        "memlock-limit",
        (
            """\
--------------------------------------------------------------------------
The OpenFabrics (openib) BTL failed to initialize while trying to
allocate some locked memory.  This typically can indicate that the
memlock limits are set too low.  For most HPC installations, the
memlock limits should be set to "unlimited".  The failure occured
here:

  Local host:    gpu-04
  OMPI source:   btl_openib_component.c:1216
  Function:      ompi_free_list_init_ex_new()
  Device:        mlx5_0
  Memlock limit: 65536
""",
        ),
    ),
    "ulimit beside nccl": (
        "memlock-limit",
        (
            "gpu-04:412:530 [0] NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n",
            "$ ulimit -l\n64\n",
        ),
    ),
    "old nccl without a reason": (
        "memlock-limit",
        (
            "gpu-04:412:530 [0] misc/ibvwrap.cc:252 NCCL WARN Call to ibv_reg_mr failed\n"
            "gpu-04:412:530 [0] NCCL INFO transport/net_ib.cc:640 -> 2\n\n"
            "max locked memory       (kbytes, -l) 64\n",
        ),
    ),
    "libfabric registers nothing": (
        "memlock-limit",
        (
            "gpu-04:412:530 [0] register_mr_buffers:464 NCCL WARN NET/OFI Unable to register memory (type = 1) for device 0."
            " RC: -12, Error: Cannot allocate memory\n$ ulimit -l\n8192\n",
        ),
    ),
    "nccl 2.10 fallocate": (
        "shm-too-small",
        (
            "d1a:89:132 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n"
            "d1a:89:132 [1] NCCL INFO include/shm.h:48 -> 2\n"
            "d1a:89:132 [1] include/shm.h:57 NCCL WARN Error while creating shared memory segment nccl-shm-recv-9a1c-0-1-0 (size 9637888)\n",
        ),
    ),
    "nccl 2.6 segment": (
        "shm-too-small",
        ("include/shm.h:63 NCCL WARN Error while creating shared memory segment nccl-shm-send-56bb-0-3-2 (size 9637888)\n",),
    ),
    "traceback of nccl 2.22": (
        "shm-too-small",
        (
            """\
[rank1]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:318, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5
[rank1]: ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
[rank1]: Last error:
[rank1]: Error while creating shared memory segment /dev/shm/nccl-Xq0Ab7 (size 33030528), error: No space left on device (28)
""",
        ),
    ),
    "python shared_memory": (
        "shm-too-small",
        (
            """\
  File "/usr/lib/python3.12/multiprocessing/shared_memory.py", line 121, in __init__
    os.ftruncate(self._fd, size)
OSError: [Errno 28] No space left on device: '/dev/shm/psm_9ad01c77'
""",
        ),
    ),
    "triton's pool": (
        "shm-too-small",
        (
            "I0412 08:11:21.417 1 model_lifecycle.cc:462] failed to load 'pre': Internal: Unable to initialize shared memory key"
            " 'triton_python_backend_shm_region_1' to requested size (67108864 bytes). If you are running Triton inside docker, use"
            " '--shm-size' flag to control the shared memory region size. Each Python backend model instance requires at least 64 MBs of"
            " shared memory. Error: No space left on device\n",
        ),
    ),
    "a bus error and df": (
        "shm-too-small",
        (
            "Fatal Python error: Bus error\n\nThread 0x00007f (most recent call first):\n"
            '  File "/opt/conda/lib/python3.10/site-packages/torch/multiprocessing/reductions.py", line 417 in reduce_storage\n',
            "Filesystem      Size  Used Avail Use% Mounted on\nshm              64M   64M     0 100% /dev/shm\n",
        ),
    ),
    "the container's note and a bus error": (
        "shm-too-small",
        (
            """\
NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be
   insufficient for PyTorch.  NVIDIA recommends the use of the following flags:
   docker run --gpus all --ipc=host --ulimit memlock=-1 --ulimit stack=67108864 ...

[a1b2:00061] *** Process received signal ***
[a1b2:00061] Signal: Bus error (7)
[a1b2:00061] Signal code: Non-existant physical address (2)
""",
        ),
    ),
    "nccl got no memory": (
        "gpu-oom-surfacing-in-nccl",
        ("w3:77:210 [3] NCCL INFO channel.cc:40 -> 1\nw3:77:210 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'\n",),
    ),
    "nccl calloc in a traceback": (
        "gpu-oom-surfacing-in-nccl",
        (
            """\
RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1275, unhandled cuda error, NCCL version 2.14.3
ncclUnhandledCudaError: Call to CUDA function failed.
Last error:
Failed to CUDA calloc 10485760 bytes
""",
        ),
    ),
    "nccl 2.26 driver call": (
        "gpu-oom-surfacing-in-nccl",
        (
            "w3:77:210 [3] include/alloc.h:228 NCCL WARN Cuda failure 2 'out of memory'\n"
            "w3:77:210 [3] include/alloc.h:350 NCCL WARN Failed to CUDA calloc async 608 bytes\n",
        ),
    ),
    "multicast got no memory": (
        "nvls-setup-failed",
        (
            "w3:77:210 [3] transport/nvls.cc:254 NCCL WARN Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 :"
            " CUDA error 2 'out of memory'\n",
        ),
    ),
    "cupy": (
        "gpu-oom-surfacing-in-nccl",
        ("w3:77:77 [0] enqueue.cc:1290 NCCL WARN Cuda failure 'out of memory'\nNCCL_ERROR_UNHANDLED_CUDA_ERROR: unhandled cuda error\n",),
    ),
    "duplicate gpu in a traceback": (
        "duplicate-gpu-assignment",
        (
            """\
[rank1]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.20.5
[rank1]: ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
[rank1]: Last error:
[rank1]: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 4b000
""",
        ),
    ),
    "one line of it": ("duplicate-gpu-assignment", ("Duplicate GPU detected : rank 3 and rank 2 both on CUDA device 81000\n",)),
    "nccl-tests list the same device": (
        "duplicate-gpu-assignment",
        (
            """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  30211 on     gpu-04 device  0 [0x1b] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  30212 on     gpu-04 device  0 [0x1b] NVIDIA A100-SXM4-80GB
gpu-04: Test NCCL failure common.cu:958 'invalid usage (run with NCCL_DEBUG=WARN for details) / '
""",
        ),
    ),
    "the same bus in both ranks' lines": (
        "duplicate-gpu-assignment",
        (
            """\
gpu-04:301:330 [0] NCCL INFO ncclCommInitRank comm 0x55d0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9f2a - Init START
gpu-04:302:331 [0] NCCL INFO ncclCommInitRank comm 0x55e0 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9f2a - Init START
gpu-04:301:330 [0] NCCL INFO init.cc:1501 -> 5
gpu-04:302:331 [0] NCCL INFO init.cc:1501 -> 5
torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, invalid usage, NCCL version 2.20.5
""",
        ),
    ),
    "pytorch compares the calls": (
        "collective-mismatch",
        (
            "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint("
            "SequenceNumber=14, OpType=BROADCAST, TensorShape=[512], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float"
            " (default), device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false (default),"
            " memory_format=(nullopt))), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=14, OpType=ALLREDUCE,"
            " TensorShape=[512], TensorDtypes=Float).Collectives differ in the following aspects: \t Op type: BROADCASTvs ALLREDUCE\n",
        ),
    ),
    "two watchdogs, two operations": (
        "collective-mismatch",
        (
            """\
[rank0]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.
[rank1]:[E212 09:01:10.2 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=_ALLGATHER_BASE, NumelIn=4096, NumelOut=8192, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.
""",
        ),
    ),
    "horovod compares operations": (
        "collective-mismatch",
        (
            "horovod.common.exceptions.HorovodInternalError: Mismatched collective operations: One rank did an allreduce, but another"
            " rank did an allgather.\n",
        ),
    ),
    "flight recorder analysed": (
        "collective-mismatch",
        ("Collective sequence number: 31 has errors\nerror type: COLLECTIVE_TYPE_MISMATCH\n",),
    ),
    "horovod compares shapes": (
        "collective-size-mismatch",
        (
            "tensorflow.python.framework.errors_impl.FailedPreconditionError: Mismatched allreduce tensor shapes: One rank sent a tensor of"
            " shape [32, 10], but another rank sent a tensor of shape [31, 10].\n",
        ),
    ),
    "nccl truncates": (
        "collective-size-mismatch",
        (
            "n1:55:90 [1] transport/net_socket.cc:515 NCCL WARN NET/Socket : peer 10.4.0.9<47014> message truncated : receiving 524288 bytes"
            " instead of 262144. If you believe your socket network is in healthy state, there may be a mismatch in collective sizes or"
            " environment settings (e.g. NCCL_PROTO, NCCL_ALGO) between ranks\n",
        ),
    ),
    "the adapter's receive is larger": (
        "collective-size-mismatch",
        (
            "n1:55:90 [1] transport/net_ib.cc:1190 NCCL WARN NET/IB : req 0/1 tag 7 peer 10.4.0.9<47014> collective mismatch error,"
            " local size 262144 remote size 131072\n",
        ),
    ),
    "gloo's sizes": (
        "collective-size-mismatch",
        (
            "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at"
            " /opt/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:490] op.preamble.length <= op.nbytes. 8192 vs 4096\n",
        ),
    ),
    "mpi's message truncated": (
        "collective-size-mismatch",
        (
            "[n1:4410] *** An error occurred in MPI_Allreduce\n[n1:4410] *** reported by process [1289355265,1]\n"
            "[n1:4410] *** on communicator MPI_COMM_WORLD\n[n1:4410] *** MPI_ERR_TRUNCATE: message truncated\n",
        ),
    ),
    "models differ": (
        "collective-size-mismatch",
        ("RuntimeError: DDP expects same model across all ranks, but Rank 1 has 161 params, while rank 0 has inconsistent 163 params.\n",),
    ),
    "a parameter's shape differs": (
        "collective-size-mismatch",
        (
            "RuntimeError: [2]: params[0] in this process with sizes [50257, 768] appears not to match sizes of the same param in process 0.\n",
        ),
    ),
    "protocols differ": (
        "nccl-config-mismatch-across-ranks",
        (
            """\
a1:10:20 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 - Init START
a1:10:20 [0] NCCL INFO NCCL_PROTO set by environment to Simple
a2:11:21 [0] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 0 busId 7000 - Init START
a2:11:21 [0] NCCL INFO NCCL_PROTO set by environment to LL128
a2:11:21 [0] NCCL WARN NET/Socket : peer 10.4.0.9<47014> message truncated : receiving 524288 bytes instead of 262144
""",
        ),
    ),
    "releases differ": (
        "nccl-library-mismatch",
        ("n1:55:90 [0] init.cc:812 NCCL WARN Mismatched NCCL version detected : rank 0 version 21805 rank 8 version 21602\n",),
    ),
    "torch with another libnccl": (
        "nccl-library-mismatch",
        (
            'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\n    import torch\nImportError:'
            " /opt/venv/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister\n",
        ),
    ),
    "a lookup fails": (
        "nccl-library-mismatch",
        ("python: symbol lookup error: /usr/local/lib/libtorch_cuda.so: undefined symbol: ncclCommSplit, version NCCL_2.18\n",),
    ),
    "banners differ and the start fails": (
        "nccl-library-mismatch",
        (
            "a1:10:10 [0] NCCL INFO cudaDriverVersion 12040\nNCCL version 2.18.5+cuda12.2\n"
            "a1:10:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 - Init START\n"
            "a1:10:20 [0] NCCL WARN Bootstrap Root : mismatch in rank count from procs 2 : 98\n",
            "a2:10:10 [0] NCCL INFO cudaDriverVersion 12040\nNCCL version 2.21.5+cuda12.4\n"
            "a2:10:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 1 nranks 2 cudaDev 0 busId 7000 - Init START\n",
        ),
    ),
    "a survivor of nccl": (
        "peer-rank-died",
        (
            "[rank4]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970,"
            " remote process exited or there was a network error, NCCL version 2.20.5\n[rank4]: ncclRemoteError: A call failed possibly"
            " due to a network error or a remote process exiting prematurely.\n[rank4]: Last error:\n[rank4]: socketProgress: Connection"
            " closed by remote peer gpu-07<51230>\n",
        ),
    ),
    "a survivor of gloo": (
        "peer-rank-died",
        ("RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:589] Read error [10.0.4.2]:21554: Connection reset by peer\n",),
    ),
    "a survivor of the store": (
        "peer-rank-died",
        (
            "[rank3]:[W TCPStore.cpp:115] [c10d] recvVector failed on SocketImpl(fd=5, addr=[n2]:52100, remote=[n1]:29500): failed to recv,"
            " got 0 bytes\ntorch.distributed.DistNetworkError: failed to recv, got 0 bytes\n",
        ),
    ),
    "a survivor of ucx": (
        "peer-rank-died",
        (
            "[gpu-04:3312:0:3340] ucp_ep.c:1490 UCX  ERROR ep 0x7f33: connection reset by remote peer\n"
            "[gpu-04:3312] pml_ucx.c:934 Error: ucx send failed: Connection reset by remote peer\n",
        ),
    ),
    "rank 0 tokenises": (
        "rank0-only-work",
        (
            """\
Running tokenizer on dataset:  61%|██████    | 811000/1330000 [29:48<19:01, 454.7 examples/s]
[rank1]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800044 milliseconds before timing out.
[rank2]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800051 milliseconds before timing out.
[rank3]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=1800000) ran for 1800051 milliseconds before timing out.
""",
        ),
    ),
    "rank 0 is silent at a barrier": (
        "rank0-only-work",
        (
            """\
{'loss': 1.61, 'epoch': 1.0}
Saving model checkpoint to out/checkpoint-500
[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9120, OpType=BROADCAST,
NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.
[Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9120, OpType=BROADCAST,
NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600051 milliseconds before timing out.
[Rank 3] Watchdog caught collective operation timeout:
WorkNCCL(SeqNum=9120, OpType=BROADCAST, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600051 milliseconds before timing out.
""",
        ),
    ),
    "slurm loses a node": (
        "node-failure",
        (
            "srun: error: Node failure on gpu-17\nslurmstepd: error: *** JOB 88121 ON gpu-12 CANCELLED AT 2025-02-03T04:05:06 DUE TO NODE"
            " FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n[rank9]: ncclRemoteError: A call failed possibly due to a network error or a"
            " remote process exiting prematurely.\n",
        ),
    ),
    "sacct says node fail": (
        "node-failure",
        (
            "JobID           JobName      State ExitCode        NodeList\n------------ ---------- ---------- -------- ---------------\n"
            "88121             train  NODE_FAIL      0:0     gpu-[10-17]\n",
        ),
    ),
    "ray marks a node dead": (
        "node-failure",
        (
            "(raylet) The node with node id: 6e1d0c and address: 10.0.4.17 and node name: 10.0.4.17 has been marked dead because the"
            " detector has missed too many heartbeats from it. This can happen when a \t(1) raylet crashes unexpectedly (OOM, etc.)\n",
        ),
    ),
    "slurm's limit": (
        "job-time-limit",
        (
            "slurmstepd: error: *** JOB 88121 ON gpu-12 CANCELLED AT 2025-02-03T04:05:06 DUE TO TIME LIMIT ***\n"
            "[rank1]: Traceback (most recent call last):\n[rank1]: torch.distributed.elastic.multiprocessing.api.SignalException:"
            " Process 71 got signal: 15\n",
        ),
    ),
    "sacct says timeout": (
        "job-time-limit",
        (
            "       JobID      State    Elapsed  Timelimit ExitCode\n------------ ---------- ---------- ---------- --------\n"
            "88121           TIMEOUT   12:00:21   12:00:00      0:0\n88121.batch   CANCELLED   12:00:23                0:15\n",
        ),
    ),
    "scontrol says timeout": (
        "job-time-limit",
        ("   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)\n   RunTime=12:00:21 TimeLimit=12:00:00\n",),
    ),
    "pbs": ("job-time-limit", ("=>> PBS: job killed: walltime 86412 exceeded limit 86400\n",)),
    "lsf": ("job-time-limit", ("TERM_RUNLIMIT: job killed after reaching LSF run time limit.\nExited with exit code 140.\n",)),
    "one watchdog": (
        "nccl-timeout",
        (
            "[E ProcessGroupNCCL.cpp:475] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4012, OpType=ALLREDUCE,"
            " NumelIn=25165824, NumelOut=25165824, Timeout(ms)=1800000) ran for 1800944 milliseconds before timing out.\n",
        ),
    ),
    "one watchdog of 1.9": (
        "nccl-timeout",
        (
            "RuntimeError: [Rank 5] Caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, TensorShape=[4194304],"
            " Timeout(ms)=1800000) ran for 1808944 milliseconds before timing out.\n",
        ),
    ),
    "failed or timed out, it says": (
        "",
        (
            "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might"
            " run on corrupted/incomplete data.\nTo avoid data inconsistency, we are taking the entire process down.\n",
        ),
    ),
    "time-out or exception, it says": (
        "",
        (
            "[rank0]:[F212 ProcessGroupNCCL.cpp:1554] [PG ID 0 PG GUID 0(default_pg) Rank 0] [PG ID 0 PG GUID 0(default_pg) Rank 0]"
            " Terminating the process after attempting to dump debug info, due to collective timeout or exception.\n",
        ),
    ),
    "the loader timed out": (
        "dataloader-worker-deadlock",
        ("RuntimeError: DataLoader timed out after 300 seconds\n",),
    ),
    "a stack in the loader": (
        "dataloader-worker-deadlock",
        (
            """\
Process 812: python train.py --rank=3
Python v3.10.12 (/usr/bin/python3.10)

Thread 812 (idle): "MainThread"
    wait (threading.py:324)
    get (queue.py:180)
    _try_get_data (torch/utils/data/dataloader.py:1131)
    _get_data (torch/utils/data/dataloader.py:1288)
    _next_data (torch/utils/data/dataloader.py:1327)
    __next__ (torch/utils/data/dataloader.py:630)
""",
            """\
Process 811: python train.py --rank=2
Python v3.10.12 (/usr/bin/python3.10)

Thread 811 (active): "MainThread"
    synchronize (torch/cuda/__init__.py:792)
    all_reduce (torch/distributed/distributed_c10d.py:2219)
    wrapper (torch/distributed/c10d_logger.py:75)
""",
        ),
    ),
    "nfs does not answer": (
        "shared-filesystem-hang",
        (
            "[Mon Feb  3 04:05:06 2025] nfs: server 10.0.9.4 not responding, still trying\n"
            "[Mon Feb  3 04:07:20 2025] INFO: task python:41822 blocked for more than 120 seconds.\n",
        ),
    ),
    "lustre does not answer": (
        "shared-filesystem-hang",
        (
            "[812345.123456] INFO: task python3:41822 blocked for more than 120 seconds.\n[812345.123460]       Tainted: P           OE\n"
            "[812345.123470] task:python3  state:D stack:0 pid:41822\n[812345.123480] Call Trace:\n[812345.123490]  __schedule+0x2d1/0x830\n"
            "[812345.123500]  schedule+0x35/0xa0\n[812345.123510]  cl_sync_io_wait+0x1f8/0x3b0 [obdclass]\n"
            "[812345.123520]  ll_file_write_iter+0x20/0x30 [lustre]\n",
        ),
    ),
    "a job meets bad memory": (
        "gpu-ecc-uncorrectable",
        (
            "[rank3]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n[rank3]: CUDA kernel errors might be asynchronously"
            " reported at some other API call, so the stacktrace below might be incorrect.\n",
        ),
    ),
    "nccl meets bad memory": (
        "gpu-ecc-uncorrectable",
        (
            "gpu-04:412:530 [3] enqueue.cc:1290 NCCL WARN Cuda failure 214 'uncorrectable ECC error encountered'\n"
            "[rank2]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",
        ),
    ),
    "healthy run": (
        "",
        (
            """\
NCCL version 2.21.5+cuda12.4
a1:10:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 commId 0x1 - Init START
a1:11:21 [1] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 1 busId 8000 commId 0x1 - Init START
a1:10:20 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 commId 0x1 - Init COMPLETE
a1:11:21 [1] NCCL INFO ncclCommInitRank comm 0x2 rank 1 nranks 2 cudaDev 1 busId 8000 commId 0x1 - Init COMPLETE
iteration 10/ 1000 | loss 2.1
Saving model checkpoint to out/checkpoint-500
iteration 20/ 1000 | loss 2.0
""",
        ),
    ),
    "healthy list of nccl-tests": (
        "",
        (
            """\
#  Rank  0 Group  0 Pid  30211 on     gpu-04 device  0 [0x1b] NVIDIA A100-SXM4-80GB
#  Rank  1 Group  0 Pid  30212 on     gpu-04 device  1 [0x1c] NVIDIA A100-SXM4-80GB
#  Rank  2 Group  0 Pid  30211 on     gpu-05 device  0 [0x1b] NVIDIA A100-SXM4-80GB
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 180.2
""",
        ),
    ),
    "healthy container's note": (
        "",
        ("NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be\n   insufficient for PyTorch.\nstep 10 loss 2\n",),
    ),
    "healthy job of slurm": (
        "",
        (
            "JobID           JobName      State ExitCode\n------------ ---------- ---------- --------\n88121             train  COMPLETED      0:0\n",
        ),
    ),
    "a limit in systemd's words": (
        "memlock-limit",
        (
            "gpu-04:412:530 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory\n",
            "$ cat /proc/4412/limits\nLimit                     Soft Limit           Hard Limit           Units\nMax locked memory         67108864             67108864             bytes\nMax open files            1048576              1048576              files\n",
        ),
    ),
    "limit, adapter and log in one paste": (
        "memlock-limit",
        (
            "$ ulimit -l\n64\n$ ibstat\nCA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n\ngpu-04:412:530 [0] misc/ibvwrap.cc:160 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n",
        ),
    ),
    "shm of a pod": (
        "shm-too-small",
        (
            "$ df -h /dev/shm\nFilesystem      Size  Used Avail Use% Mounted on\nshm              64M   60M  4.0M  94% /dev/shm\n",
            "d1a:89:132 [1] misc/shmutils.cc:71 NCCL WARN Error: failed to extend /dev/shm/nccl-kZ2Lq1 to 33030660 bytes, error: No space left on device (28)\n",
        ),
    ),
    "the loader's bus error with df in one paste": (
        "shm-too-small",
        (
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\nRuntimeError: DataLoader worker (pid 412) is killed by signal: Bus error.\n# df -h | grep shm\nshm                      64M  1.1M   63M   2% /dev/shm\n",
        ),
    ),
    "torchrun exit -7 beside df": (
        "shm-too-small",
        (
            "torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -7) local_rank: 1 (pid: 77) of binary: /usr/bin/python\nFilesystem 1K-blocks Used Available Use% Mounted on\nshm  65536 65536 0 100% /dev/shm\n",
        ),
    ),
    "nccl oom with smi": (
        "gpu-oom-surfacing-in-nccl",
        (
            "[rank0]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3\n[rank0]: ncclUnhandledCudaError: Call to CUDA function failed.\n[rank0]: Last error:\n[rank0]: Cuda failure 'out of memory'\n",
            "index, memory.total [MiB], memory.used [MiB], memory.free [MiB]\n0, 81559 MiB, 81340 MiB, 219 MiB\n",
        ),
    ),
    "nccl oom in ray": (
        "gpu-oom-surfacing-in-nccl",
        (
            "(RayWorkerWrapper pid=812) ERROR worker_base.py:145] RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)\n(RayWorkerWrapper pid=812) w1:812:900 [0] include/alloc.h:205 NCCL WARN Failed to CUDA malloc 1048576 bytes\n",
        ),
    ),
    "duplicate in partitions": (
        "duplicate-gpu-assignment",
        ("w1:812:900 [0] init.cc:1012 NCCL WARN Multiple Ranks are using the same GPU/Partition. (rank 0 and rank 1) bus 1b000\n",),
    ),
    "ranks on one gpu in smi": (
        "duplicate-gpu-assignment",
        (
            "Rank 0 using device cuda:0\nRank 1 using device cuda:0\nncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\nDuplicate GPU detected : rank 0 and rank 1 both on CUDA device 3000\n",
        ),
    ),
    "detail 1.10": (
        "collective-mismatch",
        (
            "RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running inconsistent collective: CollectiveFingerPrint(OpType=BARRIER), but Rank 0 is running collective: CollectiveFingerPrint(OpType=ALLREDUCE, TensorShape=[100], TensorDtypes=Float)\n",
        ),
    ),
    "settings differ in env": (
        "nccl-config-mismatch-across-ranks",
        (
            "a1:10:20 [0] NCCL INFO NCCL_ALGO set by environment to Ring\na1:10:20 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 busId 7000 - Init START\n",
            "a2:11:21 [0] NCCL INFO NCCL_ALGO set by environment to Tree\na2:11:21 [0] NCCL INFO comm 0x2 rank 1 nranks 2 cudaDev 0 busId 7000 - Init START\na2:11:21 [0] NCCL WARN NET/IB : req 0/1 tag 7 peer 10.4.0.9<47014> collective mismatch error, local size 262144 remote size 131072\n",
        ),
    ),
    "plain lib mismatch in result": (
        "nccl-library-mismatch",
        (
            "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, invalid usage, NCCL version 2.18.6\nLast error:\nMismatched NCCL version detected : rank 1 version 21806 rank 0 version 21905\n",
        ),
    ),
    "library too old": ("nccl-library-mismatch", ("NCCL WARN NCCL library is too old. Application was compiled with 2.21.5\n",)),
    "gloo closed": (
        "peer-rank-died",
        ("RuntimeError: [/opt/conda/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.4.2]:31412\n",),
    ),
    "store broken pipe": (
        "peer-rank-died",
        (
            "[W1212 socket.cpp:464] [c10d] TCPStore: sendBytes failed on SocketImpl(fd=3, addr=[n2]:40000, remote=[n1]:29500): Broken pipe\n",
        ),
    ),
    "dist network error": (
        "peer-rank-died",
        ("torch.distributed.DistNetworkError: Connection was likely closed. Did the remote server shutdown or crash?\n",),
    ),
    "nccl closed": (
        "peer-rank-died",
        ("n1:55:90 [1] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n2.local<41232>\n",),
    ),
    "old nccl closed": ("peer-rank-died", ("n1:55:90 [1] include/socket.h:445 NCCL WARN Net : Connection closed by remote peer\n",)),
    "call to recv": (
        "peer-rank-died",
        ("n1:55:90 [1] include/socket.h:416 NCCL WARN Call to recv from 10.0.4.2<41232> failed : Connection reset by peer\n",),
    ),
    "nccl remote": (
        "peer-rank-died",
        ("ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",),
    ),
    "evaluate timeout": (
        "rank0-only-work",
        (
            "***** Running Evaluation *****\n[rank1]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank2]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank3]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank4]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 4] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank5]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank6]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 6] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank7]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n",
        ),
    ),
    "wrapped after prefix": (
        "nccl-timeout",
        (
            "[rank5]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation timeout:\n[rank5]: WorkNCCL(SeqNum=40121, OpType=ALLREDUCE, NumelIn=25165824, NumelOut=25165824, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n",
        ),
    ),
    "compile stack": (
        "rank-stuck-in-jit-or-autotune",
        (
            'Process 812: python train.py --rank=3\nPython v3.10.12 (/usr/bin/python3.10)\n\nThread 812 (active): "MainThread"\n    _bench (triton/runtime/autotuner.py:150)\n    run (triton/runtime/autotuner.py:180)\n',
            'Process 811: python train.py --rank=2\nPython v3.10.12 (/usr/bin/python3.10)\n\nThread 811 (active): "MainThread"\n    all_reduce (torch/distributed/distributed_c10d.py:2219)\n    wrapper (torch/distributed/c10d_logger.py:75)\n',
        ),
    ),
    "dump of faulthandler": (
        "dataloader-worker-deadlock",
        (
            "[rank0]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank1]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n[rank2]:[E212 09:01:10.1 ProcessGroupNCCL.cpp:616] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600044 milliseconds before timing out.\n",
            'Process 812: python train.py --rank=3\nPython v3.10.12 (/usr/bin/python3.10)\n\nThread 812 (idle): "MainThread"\n    select (selectors.py:416)\n    wait (multiprocessing/connection.py:931)\n    poll (multiprocessing/connection.py:257)\n    get (multiprocessing/queues.py:113)\n    _try_get_data (torch/utils/data/dataloader.py:1132)\n',
        ),
    ),
    "job error alone": ("", ("[rank3]: RuntimeError: CUDA error: unknown error\n",)),
    "ecc in driver words": (
        "gpu-ecc-uncorrectable",
        ("terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: uncorrectable ECC error encountered\n",),
    ),
    "ecc jax": (
        "gpu-ecc-uncorrectable",
        (
            "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: CUDA error: Failed to synchronize: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered\n",
        ),
    ),
    "sacct parsable timeout": (
        "job-time-limit",
        ("JobID|JobName|State|ExitCode|\n88121|train|TIMEOUT|0:0|\n88121.batch|batch|CANCELLED|0:15|\n",),
    ),
    "squeue of others": (
        "",
        (
            "JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n 88121       gpu    train    alice  R    1:02:03      4 gpu-[10-13]\n",
        ),
    ),
    "sigterm by preemption": ("job-cancelled", ("slurmstepd: error: *** JOB 88121 ON gpu-12 CANCELLED AT 2025-02-03T04:05:06 ***\n",)),
    "k8s deadline": ("job-time-limit", ("Warning  DeadlineExceeded  2m  job-controller  Job was active longer than specified deadline\n",)),
    "healthy env and ulimit": (
        "",
        (
            "$ ulimit -a\nmax locked memory           (kbytes, -l) unlimited\nopen files                          (-n) 1048576\nNCCL_DEBUG=INFO\n",
        ),
    ),
    "healthy saving": (
        "",
        ("Saving model checkpoint to out/checkpoint-500\nEvaluating: 100%|##########| 20/20 [00:10<00:00, 1.9it/s]\n{'eval_loss': 1.2}\n",),
    ),
    "healthy listing": (
        "",
        ("# nvidia-smi --query-gpu=index,name --format=csv\nindex, name\n0, NVIDIA H100\nAll-reduce test: Timeout 600 s configured\n",),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    report = diagnosed(tmp_path, *texts)
    assert next((one.cause for one in report.findings), "") == cause
