# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of memory that runs out, of work that stands still or goes on slowly, and of file systems: of each what is decided, what is a
candidate, and what is well though it looks much alike.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import DMON
from tests.pasted import diagnosed, judge

# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "dl: pyspy no tid": (
        "?dataloader-worker-deadlock",
        """\
Thread (idle): "MainThread"
    wait (threading.py:331)
    get (queue.py:171)
    _try_get_data (torch/utils/data/dataloader.py:1243)
    _get_data (torch/utils/data/dataloader.py:1400)
    _next_data (torch/utils/data/dataloader.py:1445)
    __next__ (torch/utils/data/dataloader.py:701)
    train (train.py:120)
Thread (idle): "Thread-2 (_pin_memory_loop)"
    select (selectors.py:415)
    wait (multiprocessing/connection.py:1136)
""",
    ),
    "dl: faulthandler": (
        "?dataloader-worker-deadlock",
        """\
Timeout (0:10:00)!
Thread 0x00007f1c2a7fc700 (most recent call first):
  File "/usr/lib/python3.10/threading.py", line 320 in wait
  File "/usr/lib/python3.10/queue.py", line 171 in get
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1133 in _try_get_data
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1295 in _get_data
  File "/app/train.py", line 88 in main
""",
    ),
    "dl: interrupted": (
        "?dataloader-worker-deadlock",
        """\
^CTraceback (most recent call last):
  File "/app/train.py", line 88, in <module>
    for batch in loader:
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 633, in __next__
    data = self._next_data()
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1328, in _next_data
    idx, data = self._get_data()
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1294, in _get_data
    success, data = self._try_get_data()
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1132, in _try_get_data
    data = self._data_queue.get(timeout=timeout)
  File "/usr/lib/python3.10/multiprocessing/queues.py", line 113, in get
    if not self._poll(timeout):
  File "/usr/lib/python3.10/selectors.py", line 416, in select
    fd_event_list = self._selector.poll(timeout)
KeyboardInterrupt
""",
    ),
    "dl: prose chain": (
        "dataloader-worker-deadlock",
        """\
train_llava.py:201 next(it)
 -> torch/utils/data/dataloader.py _try_get_data -> multiprocessing/queues.py:113 get  (blocked)
""",
    ),
    "dl: pyspy summary lines": (
        "?dataloader-worker-deadlock",
        """\
$ py-spy dump -p 2211
_try_get_data (torch/utils/data/dataloader.py:1251)
_get_data (torch/utils/data/dataloader.py:1402)
_next_data (torch/utils/data/dataloader.py:1459)
""",
    ),
    "in: torch profiler multi": (
        "gpu-starved-by-input",
        """\
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
                                                   Name    Self CPU %      Self CPU   CPU total %     CPU total  # of Calls
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
enumerate(DataLoader)#_MultiProcessingDataLoaderIter...        71.20%       31.002s        71.30%       31.050s           120
                                           aten::conv2d         0.35%     152.420ms         7.31%        3.181s         23100
""",
    ),
    "in: torch profiler well": (
        "",
        """\
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
                                                   Name    Self CPU %      Self CPU   CPU total %     CPU total  # of Calls
-------------------------------------------------------  ------------  ------------  ------------  ------------  ------------
enumerate(DataLoader)#_MultiProcessingDataLoaderIter...         1.20%       1.002s         1.30%       1.050s           120
                                           aten::conv2d         0.35%     152.420ms         7.31%        3.181s         23100
""",
    ),
    "in: tb profiler": (
        "gpu-starved-by-input",
        """\
This run has high time cost on input data loading. 71.2% of the step time is in DataLoader. You could try to set num_workers on DataLoader's construction and enable multi-processes on data loading.
""",
    ),
    "in: tf profiler": (
        "gpu-starved-by-input",
        """\
Your program is HIGHLY input-bound because 78.9% of the total step time sampled is waiting for input. Therefore, you should first focus on reducing the input time.
""",
    ),
    "in: tf profiler well": (
        "",
        """\
Your program is NOT input-bound because only 0.1% of the total step time sampled is waiting for input. Therefore, you should focus on reducing other time.
""",
    ),
    "in: lightning simple": (
        "gpu-starved-by-input",
        """\
FIT Profiler Report
-----------------------------------------------------------------------------------------------
|  Action                                   |  Mean duration (s)  |  Num calls  |  Total time (s)  |  Percentage %  |
-----------------------------------------------------------------------------------------------
|  Total                                    |  -                  |  1021       |  812.31          |  100 %         |
-----------------------------------------------------------------------------------------------
|  run_training_epoch                       |  790.1              |  1          |  790.1           |  97.2          |
|  [_TrainingEpochLoop].train_dataloader_next |  1.21             |  500        |  605.2           |  74.5          |
|  run_training_batch                       |  0.31               |  500        |  155.1           |  19.1          |
""",
    ),
    "in: one line only": (
        "gpu-starved-by-input",
        """\
Epoch: [0][ 400/5005]	Time  2.113 ( 2.401)	Data  1.901 ( 2.201)	Loss 6.9e+00 (7.0e+00)	Acc@1   0.00 (  0.10)
""",
    ),
    "hang: watchdog stuck": (
        "collective-hang",
        """\
[rank2]:[F301 10:00:12.400311 ProcessGroupNCCL.cpp:1554] [PG ID 0 PG GUID 0(default_pg) Rank 2] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog
""",
    ),
    "hang: heartbeat monitor": (
        "collective-hang",
        """\
[rank4]:[F ProcessGroupNCCL.cpp:1025] [Rank 4] NCCL watchdog thread hang detected; Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=3
""",
    ),
    "stall: nvrx rank monitor": (
        "training-stalled",
        """\
[2026-03-01 12:00:00,101] [WARNING] [RankMonitorServer:rank_monitor_server.py:231] Did not get subsequent heartbeat. Waited 600.00 seconds.
""",
    ),
    "held: process table": (
        "?gpu-memory-held-by-other-process",
        """\
+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
|    0   N/A  N/A     31794      C   [Not Found]                     15371MiB |
|    1   N/A  N/A     31795      C   [Not Found]                     15371MiB |
+-----------------------------------------------------------------------------+
""",
    ),
    "held: sglang": (
        "gpu-memory-held-by-other-process",
        """\
ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=41.2, local_gpu_memory=78.6, local_gpu_memory * 0.9=70.7
""",
    ),
    "held: xla": (
        "gpu-memory-held-by-other-process",
        """\
2026-03-01 12:00:00.1: E external/xla/stream_executor/cuda/cuda_driver.cc:282] failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 42298834944
""",
    ),
    "big: sglang": (
        "cuda-oom-model-too-large",
        """\
RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: self.server_args.mem_fraction_static=0.8
""",
    ),
    "big: tgi": (
        "cuda-oom-model-too-large",
        """\
RuntimeError: Not enough memory to handle 16000 prefill tokens. You need to decrease `--max-batch-prefill-tokens`
""",
    ),
    "big: vllm none": (
        "cuda-oom-model-too-large",
        """\
ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.
""",
    ),
    "big: plain torch": (
        "cuda-oom-model-too-large",
        """\
RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.55 GiB already allocated; 16.12 MiB free; 9.71 GiB reserved in total by PyTorch)
""",
    ),
    "frag": (
        "cuda-oom-reserved-unallocated",
        """\
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.20 GiB. GPU 0 has a total capacity of 44.35 GiB of which 801.12 MiB is free. Including non-PyTorch memory, this process has 43.5 GiB memory in use. Of the allocated memory 31.2 GiB is allocated by PyTorch, and 11.70 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.
""",
    ),
    "idle: dcgmi stats": (
        "gpu-allocated-idle",
        """\
Successfully retrieved statistics for job: 9912.
+------------------------------------------------------------------------------+
| GPU ID: 0                                                                    |
+====================================+=========================================+
|-----  Execution Stats  ------------+-----------------------------------------|
| Start Time                         | Fri Mar  6 11:48:45 2026                |
| End Time                           | Fri Mar  6 15:49:39 2026                |
| Total Execution Time (sec)         | 14454.5                                 |
| No. of Processes                   | 1                                       |
+-----  Performance Stats  ----------+-----------------------------------------+
| Energy Consumed (Joules)           | 852136                                  |
| Power Usage (Watts)                | Avg: 59.0, Max: 60.0, Min: 58.0         |
| Max GPU Memory Used (bytes)        | 20104078336                             |
| SM Clock (MHz)                     | Avg: 1157, Max: 1410, Min: 1155         |
| Memory Clock (MHz)                 | Avg: 1593, Max: 1593, Min: 1593         |
| SM Utilization (%)                 | Avg: 0, Max: 0, Min: 0                  |
| Memory Utilization (%)             | Avg: 0, Max: 0, Min: 0                  |
+------------------------------------+-----------------------------------------+
""",
    ),
    "idle: dcgmi stats well": (
        "",
        """\
Successfully retrieved statistics for job: 9912.
+------------------------------------------------------------------------------+
| GPU ID: 0                                                                    |
+====================================+=========================================+
|-----  Execution Stats  ------------+-----------------------------------------|
| Total Execution Time (sec)         | 14454.5                                 |
| No. of Processes                   | 1                                       |
+-----  Performance Stats  ----------+-----------------------------------------+
| SM Clock (MHz)                     | Avg: 1157, Max: 1410, Min: 1155         |
| SM Utilization (%)                 | Avg: 87, Max: 100, Min: 0               |
+------------------------------------+-----------------------------------------+
""",
    ),
    "idle: jobstats": (
        "gpu-allocated-idle",
        """\
================================================================================
                              Slurm Job Statistics
================================================================================
         Job ID: 9912
  NetID/Account: ann/ml
       Job Name: pretrain
          State: RUNNING
          Nodes: 1
      CPU Cores: 8
           GPUs: 1
       Run Time: 18:41:56

                              Overall Utilization
================================================================================
  CPU utilization  [||||||                                          12%]
  CPU memory usage [|||                                              6%]
  GPU utilization  [                                                 0%]
  GPU memory usage [                                                 1%]

                                     Notes
================================================================================
  * This job did not use the GPU. Please resolve this before running additional jobs.
""",
    ),
    "leak: flat": (
        "",
        """\
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
[mem] allocated: 1200.4 MB | reserved: 1600.0 MB
[mem] allocated: 1201.4 MB | reserved: 1600.0 MB
""",
    ),
    "slow: dlrover": (
        "slow-gpu-straggler",
        """\
[2026-03-01 12:00:00,101] [INFO] [rdzv_manager.py:512:check_straggler] The elapsed time of nodes are {0: 18.4, 1: 19.1, 2: 144.2, 3: 18.9}
""",
    ),
    "slow: dlrover well": (
        "",
        """\
[2026-03-01 12:00:00,101] [INFO] [rdzv_manager.py:512:check_straggler] The elapsed time of nodes are {0: 18.4, 1: 19.1, 2: 18.2, 3: 18.9}
""",
    ),
    "slow: dmon anonymous": (
        "slow-gpu-straggler",
        DMON
        + """\
    0    691     64     66    100     70      0      0      0      0   2619   1755
    1    682     62     66    100     70      0      0      0      0   2619   1740
    2    221     52     56    100     20      0      0      0      0   2619    345
    3    688     63     66    100     70      0      0      0      0   2619   1755
""",
    ),
    "slow: dmon well": (
        "",
        DMON
        + """\
    0    691     64     66    100     70      0      0      0      0   2619   1755
    1    682     62     66    100     70      0      0      0      0   2619   1740
    2    681     52     56    100     70      0      0      0      0   2619   1725
    3     88     33     36      0      0      0      0      0      0   2619    345
""",
    ),
    "slow: nvrx fr": (
        "slow-gpu-straggler",
        """\
[Step 240] Straggler: rank 11, PG 0 (default_pg), window 3, 2.4σ slow, cause: compute slowdown
""",
    ),
    "slow: megatron": (
        "slow-gpu-straggler",
        """\
^^^^ Bottom 2 Ranks with lowest  Etpt (TF): 201.13/9, 402.20/3,
MnRtt/Rnk: 3061.09ms/4 | MxRtt/Rnk: 6121.13ms/9 | MnPwr/Rnk: 310.2W/9 | MxPwr/Rnk: 677.2W/2
""",
    ),
    "fs: lustre slow": (
        "shared-filesystem-hang",
        """\
Mar  1 03:16:41 mds2 kernel: Lustre: 9121:0:(client.c:2312:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1772334996/real 1772334996]  req@ffff8f02c1d4a300 x1720011223344556/t0(0) o6->lfs-OST0007-osc-MDT0000@10.7.0.21@o2ib:6/4 lens 544/432 e 0 to 1 dl 1772335008 ref 1 fl Rpc:X/0/ffffffff rc 0/-1
Mar  1 03:16:41 mds2 kernel: Lustre: lfs-OST0007-osc-MDT0000: Connection to lfs-OST0007 (at 10.7.0.21@o2ib) was lost; in progress operations using this service will wait for recovery to complete
Mar  1 03:17:31 mds2 kernel: Lustre: lfs-OST0007-osc-MDT0000: Connection restored to 10.7.0.21@o2ib (at 10.7.0.21@o2ib)
Mar  1 03:28:02 mds2 kernel: INFO: task ll_ost_io01_003:9344 blocked for more than 120 seconds.
""",
    ),
    "fs: lustre restored": (
        "",
        """\
Mar  1 03:16:41 c2 kernel: Lustre: lfs-OST0007-osc-ffff: Connection to lfs-OST0007 (at 10.7.0.21@o2ib) was lost; in progress operations using this service will wait for recovery to complete
Mar  1 03:17:31 c2 kernel: Lustre: lfs-OST0007-osc-ffff: Connection restored to 10.7.0.21@o2ib (at 10.7.0.21@o2ib)
""",
    ),
    "fs: evicted": (
        "shared-filesystem-hang",
        """\
LustreError: 167-0: lfs-MDT0000-mdc-ffff9a: This client was evicted by lfs-MDT0000; in progress operations using this service will fail.
""",
    ),
    "fs: cifs": (
        "shared-filesystem-hang",
        """\
[81234.1] CIFS: VFS: \\\\nas02 has not responded in 180 seconds. Reconnecting...
""",
    ),
    "fs: stale": (
        "shared-filesystem-hang",
        """\
ls: cannot access '/mnt/data': Stale file handle
""",
    ),
    "fs: OSError stale": (
        "shared-filesystem-hang",
        """\
OSError: [Errno 116] Stale file handle: '/mnt/datasets/train.bin'
""",
    ),
    "fs: fuse": (
        "shared-filesystem-hang",
        """\
OSError: [Errno 107] Transport endpoint is not connected: '/data/shard-000'
""",
    ),
    "fs: proc stack": (
        "?shared-filesystem-hang",
        """\
$ cat /proc/41412/stack
[<0>] rpc_wait_bit_killable+0x24/0xb0 [sunrpc]
[<0>] __rpc_execute+0x101/0x3a0 [sunrpc]
[<0>] nfs4_call_sync_sequence+0x62/0xa0 [nfsv4]
[<0>] nfs_wait_on_request+0x2f/0x40 [nfs]
""",
    ),
    "fs: gpfs waiters": (
        "shared-filesystem-hang",
        """\
=== mmdiag: waiters ===
Waiting 1823.4112 sec since 12:00:00, monitored, thread 41412 SharedHashTabFetchHandlerThread: on ThCond 0x7F1C2A (MsgRecordCondvar), reason 'RPC wait' for tmMsgTellAcquire1 on node 10.0.9.4
""",
    ),
    "fs: beegfs": (
        "shared-filesystem-hang",
        """\
Mar 01 11:00:00 gpu-07 kernel: beegfs: kworker/12:1(411): Messaging (RPC): Retrying communication: beegfs-storage stor03
Mar 01 11:00:00 gpu-07 kernel: INFO: task python:41412 blocked for more than 120 seconds.
""",
    ),
    "fs: mount timed out": (
        "shared-filesystem-hang",
        """\
mount.nfs: Connection timed out
""",
    ),
    "oom: memory.events well": (
        "",
        """\
$ cat /sys/fs/cgroup/memory.events
low 0
high 0
max 0
oom 0
oom_kill 0
""",
    ),
    "oom: systemd": (
        "host-oom-kill",
        """\
Mar 01 11:00:00 gpu-07 systemd[1]: train.service: A process of this unit has been killed by the OOM killer.
Mar 01 11:00:01 gpu-07 systemd[1]: train.service: Failed with result 'oom-kill'.
""",
    ),
    "oom: seff": (
        "host-oom-kill",
        """\
Job ID: 9912
Cluster: hpc
State: OUT_OF_MEMORY (exit code 0)
Nodes: 1
Memory Utilized: 63.98 GB
Memory Efficiency: 99.97% of 64.00 GB
""",
    ),
    "oom: ray": (
        "host-oom-kill",
        """\
(raylet) 4 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 6e1d0c, IP: 10.0.4.17) over the last time period.
""",
    ),
    "oom: pbs": (
        "host-oom-kill",
        """\
=>> PBS: job killed: mem 135266304kb exceeded limit 134217728kb
""",
    ),
    "oom: lsf": (
        "host-oom-kill",
        """\
TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.
Exited with exit code 137.
""",
    ),
    "oom: invoked": (
        "host-oom-kill",
        """\
[81234.1] python3 invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0
[81234.1] CPU: 12 PID: 4141 Comm: python3 Tainted: P           OE     5.15.0-91-generic
""",
    ),
    "oom: reaper": (
        "host-oom-kill",
        """\
[81234.9] oom_reaper: reaped process 4141 (python3), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
""",
    ),
    "oom: cpu allocator": (
        "host-oom-kill",
        """\
RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: can't allocate memory: you tried to allocate 51539607552 bytes. Error code 12 (Cannot allocate memory)
""",
    ),
    "oom: batch": (
        "host-oom-kill",
        """\
OutOfMemoryError: Container killed due to memory usage
""",
    ),
    "slo: tgi json": (
        "inference-slo-breach",
        """\
{"error":"Model is overloaded","error_type":"overloaded"}
""",
    ),
    "slo: vllm metrics": (
        "?inference-slo-breach",
        """\
vllm:num_requests_running{engine="0",model_name="llama"} 256.0
vllm:num_requests_waiting{engine="0",model_name="llama"} 412.0
vllm:kv_cache_usage_perc{engine="0",model_name="llama"} 0.998
""",
    ),
    "slo: vllm metrics well": (
        "",
        """\
vllm:num_requests_running{engine="0",model_name="llama"} 25.0
vllm:num_requests_waiting{engine="0",model_name="llama"} 0.0
vllm:kv_cache_usage_perc{engine="0",model_name="llama"} 0.41
""",
    ),
    "slo: vllm one line": (
        "?inference-slo-breach",
        """\
INFO 03-01 12:00:10 metrics.py:345] Avg prompt throughput: 212.1 tokens/s, Avg generation throughput: 312.0 tokens/s, Running: 64 reqs, Swapped: 0 reqs, Pending: 120 reqs, GPU KV cache usage: 99.8%, CPU KV cache usage: 0.0%.
""",
    ),
    "slo: vllm preempt": (
        "?inference-slo-breach",
        """\
WARNING 03-01 12:00:12 scheduler.py:1057] Sequence group 812 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. This can affect the end-to-end performance. Increase gpu_memory_utilization or tensor_parallel_size to provide more KV cache memory. total_num_cumulative_preemption=151
""",
    ),
    "slo: triton timeout": (
        "inference-slo-breach",
        """\
tritonclient.utils.InferenceServerException: [StatusCode.UNAVAILABLE] [request id: <id_unknown>] Request timeout expired
""",
    ),
    "quota: py": (
        "shared-filesystem-full",
        """\
OSError: [Errno 122] Disk quota exceeded: '/home/ann/.cache/huggingface/hub'
""",
    ),
    "quota: cp": (
        "shared-filesystem-full",
        """\
cp: error writing '/scratch/ann/ckpt.pt': Disk quota exceeded
""",
    ),
    "quota: hdf5": (
        "shared-filesystem-full",
        """\
OSError: Can't write data (file write failed: time = Sun Mar  1, filename = 'out.h5', file descriptor = 8, errno = 122, error message = 'Disk quota exceeded', buf = 0x55)
""",
    ),
    "full: tf": (
        "shared-filesystem-full",
        """\
tensorflow.python.framework.errors_impl.ResourceExhaustedError: /mnt/nfs/ckpt/model.data-00000; No space left on device
""",
    ),
    "crashed in a loader process": (
        "",
        """\
Fatal Python error: Segmentation fault

Current thread 0x00007f1c2a7fc700 (most recent call first):
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/_utils/worker.py", line 308 in _worker_loop
  File "/usr/lib/python3.10/multiprocessing/process.py", line 108 in run
  File "/usr/lib/python3.10/multiprocessing/process.py", line 314 in _bootstrap
""",
    ),
    "a stack in the forward pass": (
        "",
        """\
Thread (active): "MainThread"
    forward (torch/nn/modules/linear.py:125)
    _call_impl (torch/nn/modules/module.py:1562)
    train (train.py:120)
""",
    ),
    "interrupted elsewhere": (
        "",
        """\
Traceback (most recent call last):
  File "/app/train.py", line 88, in <module>
    time.sleep(60)
KeyboardInterrupt
""",
    ),
    "a loader process was killed": (
        "host-oom-kill",
        """\
  File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1132, in _try_get_data
    raise RuntimeError(
RuntimeError: DataLoader worker (pid 4141) is killed by signal: Killed.
""",
    ),
    "input a little": (
        "",
        """\
Your program is MODERATELY input-bound because 9.3% of the total step time sampled is waiting for input.
""",
    ),
    "a bar of progress": (
        "",
        """\
rich is not installed, no training progress bar will be shown
step 1 | loss 2.3
""",
    ),
    "stalled in words": (
        "training-stalled",
        """\
ALERT job=llm-pretrain: no training progress for 34 minutes (last step 1830)
""",
    ),
    "processes with names": (
        "",
        """\
+-----------------------------------------------------------------------------+
| Processes:                                                                  |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
|    0   N/A  N/A     31794      C   python3                         15371MiB |
+-----------------------------------------------------------------------------+
""",
    ),
    "processes unknown": (
        "gpu-memory-held-by-other-process",
        """\
+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID  Type  Process name                               Usage      |
|=============================================================================|
|    0     31794    C   Unknown Error                                12371MiB |
|    1      7653    C   python                                       12369MiB |
+-----------------------------------------------------------------------------+
""",
    ),
    "seff well": (
        "",
        """\
Job ID: 9913
Cluster: hpc
State: COMPLETED (exit code 0)
Nodes: 1
Memory Utilized: 31.98 GB
Memory Efficiency: 49.97% of 64.00 GB
""",
    ),
    "PBS walltime": (
        "",
        """\
=>> PBS: job killed: walltime 3632 exceeded limit 3600
""",
    ),
    "a socket isn't connected": (
        "",
        """\
OSError: [Errno 107] Transport endpoint is not connected
""",
    ),
    "quota well": (
        "",
        """\
Disk quotas for usr ann (uid 1001):
      Filesystem    used   quota   limit   grace   files   quota   limit   grace
         /lustre    4.0T     10T     10T       -  912345       0       0       -
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_first_finding(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)


def test_memory_that_never_falls_may_leak(tmp_path: Path) -> None:
    lines = "".join(f"[mem] allocated: {1200 + 3 * number}.4 MB | reserved: 1600.0 MB\n" for number in range(14))
    judge(diagnosed(tmp_path, lines), "?cuda-oom-leak-in-program")
