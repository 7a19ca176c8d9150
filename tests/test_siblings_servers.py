# ruff: noqa: E501 - what is pasted has long lines
"""Single lines of servers of models, frameworks and file systems, as their sources write them: of each what is decided, what is a candidate (`?`),
and what is well (nothing before the `|`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

LINES = """
cuda-out-of-memory | torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)
cuda-out-of-memory | torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB
cuda-out-of-memory | cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 12,884,901,888 bytes).
cuda-out-of-memory | [TM][ERROR] CUDA runtime error: out of memory /opt/lmdeploy/src/turbomind/core/allocator.cc:49
cuda-out-of-memory | ggml_gallocr_reserve_n_impl: failed to allocate CUDA0 buffer of size 3221225472
cuda-out-of-memory | [TRT] [E] 1: [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (out of memory)
cuda-out-of-memory | [E:onnxruntime:, sequential_executor.cc:516 ExecuteKernel] cuda_call.cc:121 CUDA failure 2: out of memory ; GPU=0
cuda-out-of-memory | RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED
cuda-out-of-memory | RuntimeError: Prefill out of memory. Try to lower your batch size.
gpu-oom-surfacing-in-nccl | gpu-07:812:900 [3] include/alloc.h:189 NCCL WARN Cuda failure 2 'out of memory'
cuda-oom-model-too-large | RuntimeError: No enough gpu memory for kv cache.
cuda-oom-model-too-large | ERROR text_generation_launcher: Not enough memory to handle `max_total_tokens=8192`
cuda-oom-model-too-large | INFO 03-01 12:00:10 [gpu_worker.py:291] Available KV cache memory: -2.31 GiB
 | INFO 03-01 12:00:10 [gpu_worker.py:291] Available KV cache memory: 12.31 GiB
cuda-oom-model-too-large | RuntimeError: Executor creation failed due to insufficient GPU memory.
gpu-memory-held-by-other-process | RuntimeError: The memory capacity is unbalanced. min_per_gpu_memory=12.1 local_gpu_memory=78.2
host-oom-kill | numpy._core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64
host-oom-kill | OSError: [Errno 12] Cannot allocate memory
host-oom-kill | Error: model requires more system memory (48.2 GiB) than is available (31.0 GiB)
host-oom-kill | srun: error: gpu-07: task 3: Out Of Memory
?host-oom-kill | Error: llama runner process has terminated: signal: killed
shm-too-small | UCX  ERROR shm_open(file_name=/ucx_shm_posix_ab12 flags=0xc2) failed: No space left on device
shm-too-small | It appears as if there is not enough space for /dev/shm/vader_segment.gpu-07.1000.ab12.0 (the shared-memory backing file).
?shm-too-small | Bus error (core dumped)
?gpu-not-requested | INFO 03-01 12:00:10 [__init__.py:243] No platform detected, vLLM is running on UnspecifiedPlatform
?gpu-not-requested | time=2026-03-01T12:00:00.1Z level=INFO source=types.go:60 msg="inference compute" id=cpu library=cpu compute="" name=cpu
 | time=2026-03-01T12:00:00.1Z level=INFO source=types.go:60 msg="inference compute" id=GPU-8f1c2a44 library=CUDA compute=9.0 name=CUDA0
?gpu-not-requested | warning: no usable GPU found, --gpu-layers option will be ignored
?gpu-not-requested | RuntimeError: 0 active drivers ([]). There should only be one.
 | warning: one possible reason is that llama.cpp was compiled without GPU support
framework-built-without-cuda | warning: llama.cpp was compiled without support for GPU offload. Setting the main GPU has no effect.
cuda-driver-too-old | time=2026-03-01T12:00:00Z level=WARN source=cuda_compat.go:65 msg="NVIDIA driver too old" driver=470.57.02
image-lacks-gpu-architecture | ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'
image-lacks-gpu-architecture | RuntimeError: CUDA error: invalid device function
image-lacks-gpu-architecture | RuntimeError: FlashAttention only supports Ampere GPUs or newer.
shared-filesystem-hang | LNetError: 11c-c: Connection to 10.0.0.4@tcp at host 10.0.0.4 was unreachable: the network or that node may be down, or Lustre may be misconfigured.
shared-filesystem-hang | LustreError: 2211:0:(client.c:2305:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1700000000]
shared-filesystem-hang | LNetError: 2211:0:(o2iblnd_cb.c:3613:kiblnd_check_conns()) Timed out RDMA with 10.0.0.4@o2ib (105): c: 8, oc: 0, rc: 8
shared-filesystem-hang | cp: error reading '/scratch/x': Cannot send after transport endpoint shutdown
shared-filesystem-hang | df: /mnt/s3: Transport endpoint is not connected
shared-filesystem-hang | ceph: [ab12-34 4123]:  mds0 hung
shared-filesystem-hang | NFS: state manager: lease expired failed on NFSv4 server 10.0.0.4 with error 13
shared-filesystem-hang | 0x7F5A (  23178) waiting 612.112 seconds, RPC: on ThCond 0x18017 (MsgRecordCondvar), reason 'RPC wait' for tmMsgTellAcquire1
shared-filesystem-hang | 2026/03/01 12:00:00.123456 juicefs[812] <FATAL>: The mount point is not ready in 10 seconds (/jfs), please check the log
shared-filesystem-full | HEALTH_ERR 1 full osd(s); 3 pool(s) full
 | HEALTH_WARN 2 nearfull osd(s); 3 pool(s) nearfull
shared-filesystem-full | OSError: [Errno 28] Auf dem Gerät ist kein Speicherplatz mehr verfügbar: '/lustre/ckpt/x.pt'
shared-filesystem-full | safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })
?node-disk-pressure | RuntimeError: [enforce fail at inline_container.cc:424] . unexpected pos 12582912 vs 12582800
shared-filesystem-full | write /home/u/x: disk quota exceeded
inference-slo-breach | {"error":"server busy, please try again.  maximum pending requests exceeded"}
training-stalled | [2026-03-01 12:00:00 TP0] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)
port-in-use | Error: listen tcp 127.0.0.1:11434: bind: address already in use
""".strip("\n").splitlines()

# ncclras, and what a rank logged meanwhile
RAS_THEN_LOG = """\
Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          8            1         16       16

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         8        16        16   RUNNING      OK

Errors
======

Warnings
========

[rank5]:[E301 12:00:00.005271823 ProcessGroupNCCL.cpp:632] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=600000) ran for 600068 milliseconds before timing out.
"""


@pytest.mark.parametrize("line", LINES)
def test_first_finding(line: str, tmp_path: Path) -> None:
    cause, text = line.split(" | ", 1) if not line.startswith(" | ") else ("", line[3:])
    judge(diagnosed(tmp_path, text + "\n"), cause)


def test_a_log_below_what_ras_answers_is_read(tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, RAS_THEN_LOG), "nccl-timeout")
