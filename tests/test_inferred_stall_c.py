# ruff: noqa: E501 - what is pasted has long lines
"""Work that slows down, stops or waits, told by few readings, by rows of trackers and tables, by the clocks of others, by quotas and counters. Of
each class a form or two, and (nothing before the `|`) what looks alike and is well; `?cause` is a candidate.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

TEXTS = r"""
=== slow-gpu-straggler | straggler megatron short
 iteration    5012/  40000 | consumed samples:  5132288 | elapsed time per iteration (ms): 41022.1 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 151.1 |
 iteration    5013/  40000 | consumed samples:  5133312 | elapsed time per iteration (ms): 41010.7 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 151.1 |
 iteration    5014/  40000 | consumed samples:  5134336 | elapsed time per iteration (ms): 41101.0 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 150.9 |
 iteration    5015/  40000 | consumed samples:  5135360 | elapsed time per iteration (ms): 55120.4 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 112.2 |
 iteration    5016/  40000 | consumed samples:  5136384 | elapsed time per iteration (ms): 55012.9 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 112.4 |
 iteration    5017/  40000 | consumed samples:  5137408 | elapsed time per iteration (ms): 55201.1 | learning rate: 1E-04 | lm loss: 2.1 | TFLOPs: 112.1 |
===  | straggler wave
 iteration    5012/  40000 | consumed samples:  5132288 | elapsed time per iteration (ms): 41022.1 | learning rate: 1E-04 | lm loss: 2.1 |
 iteration    5013/  40000 | consumed samples:  5133312 | elapsed time per iteration (ms): 43010.7 | learning rate: 1E-04 | lm loss: 2.1 |
 iteration    5014/  40000 | consumed samples:  5134336 | elapsed time per iteration (ms): 41501.0 | learning rate: 1E-04 | lm loss: 2.1 |
 iteration    5015/  40000 | consumed samples:  5135360 | elapsed time per iteration (ms): 44120.4 | learning rate: 1E-04 | lm loss: 2.1 |
 iteration    5016/  40000 | consumed samples:  5136384 | elapsed time per iteration (ms): 42012.9 | learning rate: 1E-04 | lm loss: 2.1 |
 iteration    5017/  40000 | consumed samples:  5137408 | elapsed time per iteration (ms): 44201.1 | learning rate: 1E-04 | lm loss: 2.1 |
===  | step batch ramp
 iteration    5012/  40000 | elapsed time per iteration (ms): 41022.1 | learning rate: 1E-04 | global batch size:  1024 | lm loss: 2.1 |
 iteration    5013/  40000 | elapsed time per iteration (ms): 41010.7 | learning rate: 1E-04 | global batch size:  1024 | lm loss: 2.1 |
 iteration    5014/  40000 | elapsed time per iteration (ms): 41101.0 | learning rate: 1E-04 | global batch size:  1024 | lm loss: 2.1 |
 iteration    5015/  40000 | elapsed time per iteration (ms): 55120.4 | learning rate: 1E-04 | global batch size:  1280 | lm loss: 2.1 |
 iteration    5016/  40000 | elapsed time per iteration (ms): 55012.9 | learning rate: 1E-04 | global batch size:  1280 | lm loss: 2.1 |
 iteration    5017/  40000 | elapsed time per iteration (ms): 55201.1 | learning rate: 1E-04 | global batch size:  1280 | lm loss: 2.1 |
=== slow-gpu-straggler | straggler allranks
 times across ranks (ms):
  forward-compute:
     rank  0: 3101.22
     rank  1: 3099.81
     rank  2: 3108.01
     rank  3: 5021.90
     rank  4: 3111.02
     rank  5: 3104.47
     rank  6: 3102.00
     rank  7: 3100.31
=== slow-gpu-straggler | straggler nccl mfu
step 20100 mfu 0.412 tok/s 91022
step 20110 mfu 0.411 tok/s 90811
step 20120 mfu 0.412 tok/s 91011
step 20130 mfu 0.318 tok/s 70212
step 20140 mfu 0.317 tok/s 70101
step 20150 mfu 0.318 tok/s 70220
=== slow-gpu-straggler | straggler hf
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.51, 'step': 5100, 'step_time': 2.01}
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.52, 'step': 5110, 'step_time': 2.00}
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.53, 'step': 5120, 'step_time': 2.02}
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.54, 'step': 5130, 'step_time': 2.91}
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.55, 'step': 5140, 'step_time': 2.90}
{'loss': 2.1, 'grad_norm': 0.3, 'learning_rate': 1e-05, 'epoch': 0.56, 'step': 5150, 'step_time': 2.92}
=== training-stalled | stalled pulse
 iteration    20110/  90000 | elapsed time per iteration (s): 41.1 | lm loss: 2.211E+00 |
 iteration    20111/  90000 | elapsed time per iteration (s): 41.0 | lm loss: 2.210E+00 |
[2026-02-11 13:00:01] watch: job 88121 run-88 RUNNING 0-11:00:11
[2026-02-11 14:00:01] watch: job 88121 run-88 RUNNING 0-12:00:11
[2026-02-11 15:00:02] watch: job 88121 run-88 RUNNING 0-13:00:12
===  | done log
 iteration   40000/  40000 | elapsed time per iteration (ms): 41022.1 | lm loss: 2.1 |
[2026-02-11 13:00:01] saved final checkpoint
[2026-02-11 13:20:01] export finished
[2026-02-11 14:00:01] upload finished
===  | eval log
 iteration   30000/  40000 | elapsed time per iteration (ms): 41022.1 | lm loss: 2.1 |
 iteration   30001/  40000 | elapsed time per iteration (ms): 41022.1 | lm loss: 2.1 |
[2026-02-11 13:00:01] evaluating
[2026-02-11 13:01:01] evaluated 100
[2026-02-11 13:02:01] evaluated 200
===  | it ended by itself
 iteration    9120/  90000 | elapsed time per iteration (s): 41.1 | lm loss: 2.211E+00 |
[exiting program after 1150.0 minutes] datetime: 2026-02-11 17:33:48
[2026-02-11 18:20:01] watch: job 88121 run-88 is not RUNNING or SCHEDULED
[2026-02-11 19:20:01] watch: job 88121 run-88 is not RUNNING or SCHEDULED
[2026-02-11 20:20:01] watch: job 88122 run-88 starts in 9:02:48
=== training-stalled | stalled tail
==> tail.txt <==
$ tail -n 3 /logs/run-88/rank0.log
2026-02-11 03:10:11 INFO step 20110 loss 2.211 tok/s 91022
2026-02-11 03:10:52 INFO step 20120 loss 2.208 tok/s 91101
2026-02-11 03:11:33 INFO step 20130 loss 2.203 tok/s 90977
$ date
Wed Feb 11 06:02:10 UTC 2026
$ kubectl get pods -l job-name=run-88
NAME             READY   STATUS    RESTARTS   AGE
run-88-0-x7k2l   1/1     Running   0          31h
run-88-1-q8w1z   1/1     Running   0          31h
=== training-stalled | stalled ls
$ ls -l --time-sort /ckpt/run-88 | head -3
-rw-r--r-- 1 mia ml 90112201122 Feb 11 01:02 step_20000.pt
-rw-r--r-- 1 mia ml 90112201122 Feb 11 00:31 step_19500.pt
-rw-r--r-- 1 mia ml 90112201122 Feb 11 00:00 step_19000.pt
$ date
Wed Feb 11 09:40:10 UTC 2026
$ squeue -j 88121
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
             88121       gpu   run-88      mia  R 1-04:11:09     32 gpu[01-32]
===  | stalled ls ok
$ ls -l /ckpt/run-88
-rw-r--r-- 1 mia ml 90112201122 Feb 11 09:02 step_20000.pt
-rw-r--r-- 1 mia ml 90112201122 Feb 11 08:31 step_19500.pt
-rw-r--r-- 1 mia ml 90112201122 Feb 11 08:00 step_19000.pt
$ date
Wed Feb 11 09:40:10 UTC 2026
$ squeue -j 88121
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
             88121       gpu   run-88      mia  R 1-04:11:09     32 gpu[01-32]
=== cuda-oom-leak-in-program | leak wandb
step,train/loss,system.gpu.0.memoryAllocatedBytes
0,3.11,21474836480
500,2.80,27917287424
1000,2.66,34359738368
1500,2.57,40802189312
2000,2.51,47244640256
2500,2.47,53687091200
3000,2.44,60129542144
3500,2.41,66571993088
=== cuda-oom-leak-in-program | leak smi loop
$ nvidia-smi --query-gpu=timestamp,memory.used --format=csv -l 600
timestamp, memory.used [MiB]
2026/02/11 01:00:00.101, 21034 MiB
2026/02/11 01:10:00.102, 24412 MiB
2026/02/11 01:20:00.102, 27790 MiB
2026/02/11 01:30:00.103, 31222 MiB
2026/02/11 01:40:00.104, 34590 MiB
2026/02/11 01:50:00.105, 38001 MiB
2026/02/11 02:00:00.106, 41333 MiB
2026/02/11 02:10:00.107, 44810 MiB
=== cuda-oom-leak-in-program | leak print
iter 0: torch.cuda.memory_allocated = 4.01 GB
iter 100: torch.cuda.memory_allocated = 6.22 GB
iter 200: torch.cuda.memory_allocated = 8.40 GB
iter 300: torch.cuda.memory_allocated = 10.63 GB
iter 400: torch.cuda.memory_allocated = 12.81 GB
iter 500: torch.cuda.memory_allocated = 15.05 GB
iter 600: torch.cuda.memory_allocated = 17.22 GB
iter 700: torch.cuda.memory_allocated = 19.40 GB
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.
=== gpu-util-misleading-low-real-use | mislead wandb
{"system.gpu.0.gpu": 99, "system.gpu.0.powerPercent": 21.3, "system.gpu.0.powerWatts": 149.1, "system.gpu.0.enforcedPowerLimitWatts": 700, "system.gpu.0.memoryAllocated": 71.2, "system.gpu.0.temp": 38, "_timestamp": 1770760611.2}
{"system.gpu.0.gpu": 100, "system.gpu.0.powerPercent": 21.1, "system.gpu.0.powerWatts": 148.0, "system.gpu.0.enforcedPowerLimitWatts": 700, "system.gpu.0.memoryAllocated": 71.2, "system.gpu.0.temp": 38, "_timestamp": 1770760641.2}
===  | wandb ok
{"_step": 100, "train/loss": 2.1, "system.gpu.0.gpu": 97, "system.gpu.0.powerWatts": 610.2, "system.gpu.0.enforcedPowerLimitWatts": 700, "system.gpu.0.memoryAllocatedBytes": 61474836480, "_timestamp": 1770760611.2}
{"_step": 200, "train/loss": 2.0, "system.gpu.0.gpu": 98, "system.gpu.0.powerWatts": 615.2, "system.gpu.0.enforcedPowerLimitWatts": 700, "system.gpu.0.memoryAllocatedBytes": 61474836480, "_timestamp": 1770760911.2}
{"_step": 300, "train/loss": 2.0, "system.gpu.0.gpu": 97, "system.gpu.0.powerWatts": 611.2, "system.gpu.0.enforcedPowerLimitWatts": 700, "system.gpu.0.memoryAllocatedBytes": 61474836480, "_timestamp": 1770761211.2}
=== shared-filesystem-hang | fs lustre slow
[Tue Feb 10 22:00:11 2026] Lustre: 41221:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1770760611/real 1770760611]  req@00000000aa x1800000000000001/t0(0) o4->work-OST0004-osc-ffff9a@10.2.0.4@o2ib:6/4 lens 488/448 e 2 to 1 dl 1770760811 ref 2 fl Rpc:X/2/ffffffff rc 0/-1
[Tue Feb 10 22:00:11 2026] Lustre: work-OST0004-osc-ffff9a: Connection to work-OST0004 (at 10.2.0.4@o2ib) was lost; in progress operations using this service will wait for recovery to complete
[Tue Feb 10 22:00:11 2026] Lustre: work-OST0004-osc-ffff9a: Connection restored to 10.2.0.4@o2ib (at 10.2.0.4@o2ib)
[Tue Feb 10 22:03:31 2026] Lustre: 41221:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1770760811/real 1770760811]  req@00000000aa x1800000000000001/t0(0) o4->work-OST0004-osc-ffff9a@10.2.0.4@o2ib:6/4 lens 488/448 e 2 to 1 dl 1770761011 ref 2 fl Rpc:X/2/ffffffff rc 0/-1
[Tue Feb 10 22:03:31 2026] Lustre: work-OST0004-osc-ffff9a: Connection to work-OST0004 (at 10.2.0.4@o2ib) was lost; in progress operations using this service will wait for recovery to complete
[Tue Feb 10 22:03:31 2026] Lustre: work-OST0004-osc-ffff9a: Connection restored to 10.2.0.4@o2ib (at 10.2.0.4@o2ib)
===  | lustre burst ok
[Tue Feb 10 22:00:11 2026] Lustre: 41221:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1770760611/real 1770760611]  req@00000000aa x1800000000000001/t0(0) o4->work-OST0004-osc-ffff9a@10.2.0.4@o2ib:6/4 lens 488/448 e 2 to 1 dl 1770760811 ref 2
[Tue Feb 10 22:00:11 2026] Lustre: 41222:0:(client.c:2310:ptlrpc_expire_one_request()) @@@ Request sent has timed out for slow reply: [sent 1770760611/real 1770760611]  req@00000000ab x1800000000000002/t0(0) o4->work-OST0004-osc-ffff9a@10.2.0.4@o2ib:6/4 lens 488/448 e 2 to 1 dl 1770760811 ref 2
[Tue Feb 10 22:00:12 2026] Lustre: work-OST0004-osc-ffff9a: Connection restored to 10.2.0.4@o2ib (at 10.2.0.4@o2ib)
=== shared-filesystem-hang | fs ps aux
$ ps aux | awk '$8 ~ /^D/'
lena      71221  2.1  1.2 91222112 8011220 ?   Dl   03:11  44:10 python train.py --data /gpfs/ml
lena      71222  2.1  1.2 91222112 8011220 ?   Dl   03:11  44:11 python train.py --data /gpfs/ml
lena      71223  2.0  1.2 91222112 8011220 ?   Dl   03:11  44:09 python train.py --data /gpfs/ml
$ cat /proc/71221/stack
[<0>] cxiWaitEventWait+0x1a2/0x220 [mmfslinux]
[<0>] mmfs_vnop_read+0x12a/0x480 [mmfslinux]
[<0>] vfs_read+0x9f/0x1a0
=== shared-filesystem-hang | ps wchan many
$ ps -eo pid,stat,wchan:32,comm | awk '$2 ~ /D/'
  71221 Dl   rpc_wait_bit_killable            python
  71222 Dl   rpc_wait_bit_killable            python
  71223 Dl   rpc_wait_bit_killable            python
  71224 Dl   rpc_wait_bit_killable            python
  71225 Dl   rpc_wait_bit_killable            python
===  | ps D few
$ ps aux
USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
lena      71221 99.1  1.2 91222112 8011220 ?   Rl   03:11  44:10 python train.py
lena      71222 98.1  1.2 91222112 8011220 ?   Rl   03:11  44:11 python train.py
=== shared-filesystem-hang | fs lfs check
$ lfs check servers
work-OST0000-osc-ffff9a active.
work-OST0001-osc-ffff9a active.
lfs check: error: check 'work-OST0002-osc-ffff9a': Resource temporarily unavailable (11)
$ ls /work/ml/ckpt
^C^C
=== shared-filesystem-hang | fs strace stuck
$ strace -p 90121 -f
strace: Process 90121 attached
write(17, "\200\0\0\0\0\0\0"..., 4194304
===  | strace ok
strace: Process 90121 attached
futex(0x7f01aa, FUTEX_WAIT_PRIVATE, 0, NULL
=== shared-filesystem-full | fs full beegfs
$ beegfs-ctl --getquota --uid mia
Quota information for storage pool Default (ID: 1):

      user/group     ||           size          ||    chunk files
     name     |  id  ||    used    |    hard    ||  used   |  hard
--------------|------||------------|------------||---------|---------
           mia| 20112||  10.00 TiB|  10.00 TiB||  3998121|  5000000
=== shared-filesystem-full | fs full gpfs
$ mmlsquota -j projx --block-size auto gpfs1
                         Block Limits                                    |     File Limits
Filesystem type         blocks      quota      limit   in_doubt    grace |    files   quota    limit in_doubt    grace  Remarks
gpfs1      FILESET          50T        50T        50T          0     none |  9120112       0        0        0     none
===  | q mmls ok
                         Block Limits                                    |     File Limits
Filesystem type         blocks      quota      limit   in_doubt    grace |    files   quota    limit in_doubt    grace  Remarks
gpfs1      FILESET         41T        50T        50T          0     none |  9120112       0        0        0     none
===  | q lfs ok
$ lfs quota -hu mia /work/
Disk quotas for usr mia (uid 21407):
     Filesystem    used   quota   limit   grace   files   quota   limit   grace
         /work/  812.4G      0k      0k       - 1200000  1800000 2000000       -
=== shared-filesystem-full | q repquota
*** Report for user quotas on device /dev/mapper/vg-home
Block grace time: 7days; Inode grace time: 7days
                        Block limits                File limits
User            used    soft    hard  grace    used  soft  hard  grace
----------------------------------------------------------------------
root      --      20       0       0              2     0     0
mia       +-  52428800 41943040 52428800  none   81201     0     0
=== shared-filesystem-full | fs full hfsave
  File "/opt/venv/lib/python3.11/site-packages/safetensors/torch.py", line 352, in save_file
    serialize_file(_flatten(tensors), filename, metadata=metadata)
safetensors_rust.SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)
=== shared-filesystem-full | fs full torchsave
RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 8192000 vs 8191892
OSError: [Errno 28] No space left on device
=== ?node-disk-pressure | tmp full
OSError: [Errno 28] No space left on device: '/tmp/tmp81aa/x.bin'
=== gpu-allocated-idle | idle squeue
==> smi.txt <==
$ srun --overlap --jobid 88121 nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader
0, 0 %, 4 MiB
1, 0 %, 4 MiB
2, 0 %, 4 MiB
3, 0 %, 4 MiB
==> squeue.txt <==
$ squeue -j 88121 -o "%i %T %M %b %N"
JOBID STATE TIME TRES_PER_NODE NODELIST
88121 RUNNING 1-04:11:09 gres/gpu:4 gpu-11
=== gpu-allocated-idle | idle prom
$ promtool query instant http://prom:9090 'avg_over_time(DCGM_FI_DEV_GPU_UTIL{exported_namespace="research"}[6h])'
{UUID="GPU-11", exported_namespace="research", exported_pod="notebook-mia-0", gpu="3", Hostname="gpu-4"} => 0 @[1770760611]
=== gpu-allocated-idle | half gpus idle
$ srun --jobid 4412 --overlap nvidia-smi
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                    0 |
| N/A   61C    P0            341W /  400W |   61022MiB /  81920MiB |     99%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-80GB          On  |   00000000:0B:00.0 Off |                    0 |
| N/A   31C    P0             55W /  400W |       4MiB /  81920MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   2  NVIDIA A100-SXM4-80GB          On  |   00000000:48:00.0 Off |                    0 |
| N/A   31C    P0             55W /  400W |       4MiB /  81920MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   3  NVIDIA A100-SXM4-80GB          On  |   00000000:4C:00.0 Off |                    0 |
| N/A   31C    P0             56W /  400W |       4MiB /  81920MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
$ squeue -j 4412 -o "%i %t %M %b"
JOBID ST TIME TRES_PER_NODE
4412 R 9:12:01 gres/gpu:4
=== ?gpu-phantom-utilisation | phantom csv
index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], pstate
0, NVIDIA A100-SXM4-80GB, 0 %, 4 MiB, 61.20 W, P0
1, NVIDIA A100-SXM4-80GB, 100 %, 0 MiB, 84.41 W, P0
2, NVIDIA A100-SXM4-80GB, 0 %, 4 MiB, 60.88 W, P0
==> apps.txt <==
$ nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv
pid, process_name, used_gpu_memory [MiB]
=== ?gpu-phantom-utilisation | phantom gpustat
gpu-07               Wed Feb 11 10:12:00 2026  550.54.15
[0] NVIDIA A100-SXM4-80GB | 31'C,   0 % |     4 / 81920 MB |
[1] NVIDIA A100-SXM4-80GB | 36'C, 100 % |     4 / 81920 MB |
[2] NVIDIA A100-SXM4-80GB | 31'C,   0 % |     4 / 81920 MB |
[3] NVIDIA A100-SXM4-80GB | 32'C,   0 % |     4 / 81920 MB |
===  | gpustat ok
gpu-07               Wed Feb 11 10:12:00 2026  550.54.15
[0] NVIDIA A100-SXM4-80GB | 61'C,  97 %,  310 / 400 W | 61021 / 81920 MB | mia(61010M)
[1] NVIDIA A100-SXM4-80GB | 60'C,  98 %,  315 / 400 W | 61021 / 81920 MB | mia(61010M)
[2] NVIDIA A100-SXM4-80GB | 31'C,   0 %,   58 / 400 W |     4 / 81920 MB |
[3] NVIDIA A100-SXM4-80GB | 32'C,   0 %,   57 / 400 W |     4 / 81920 MB |
=== collective-hang | gpustat hang
gpu-07               Wed Feb 11 10:12:00 2026  550.54.15
[0] NVIDIA A100-SXM4-80GB | 41'C, 100 %,   88 / 400 W | 61021 / 81920 MB | mia:python/1001(61010M)
[1] NVIDIA A100-SXM4-80GB | 40'C, 100 %,   86 / 400 W | 61021 / 81920 MB | mia:python/1002(61010M)
[2] NVIDIA A100-SXM4-80GB | 41'C, 100 %,   87 / 400 W | 61021 / 81920 MB | mia:python/1003(61010M)
[3] NVIDIA A100-SXM4-80GB | 42'C, 100 %,   88 / 400 W | 61021 / 81920 MB | mia:python/1004(61010M)
=== gpu-memory-held-by-other-process | gpustat held
==> gpustat.txt <==
gpu-07               Wed Feb 11 10:12:00 2026  550.54.15
[0] NVIDIA A100-SXM4-80GB | 61'C,  97 % | 79021 / 81920 MB | bob:python/4411(78010M) mia:python3/9921(902M)
==> err.txt <==
RuntimeError: CUDA error: out of memory
=== gpu-load-imbalance | imb smi stage
$ nvidia-smi --query-gpu=index,utilization.gpu,power.draw,memory.used --format=csv -l 30
index, utilization.gpu [%], power.draw [W], memory.used [MiB]
0, 97 %, 611.20 W, 71022 MiB
1, 41 %, 302.10 W, 70112 MiB
2, 40 %, 298.88 W, 70112 MiB
3, 42 %, 305.41 W, 70112 MiB
0, 98 %, 615.90 W, 71022 MiB
1, 41 %, 300.01 W, 70112 MiB
2, 42 %, 302.22 W, 70112 MiB
3, 40 %, 299.13 W, 70112 MiB
0, 97 %, 609.33 W, 71022 MiB
1, 40 %, 299.05 W, 70112 MiB
2, 41 %, 301.70 W, 70112 MiB
3, 41 %, 303.64 W, 70112 MiB
=== gpu-load-imbalance | imb dcgm avg
avg_over_time(DCGM_FI_PROF_SM_ACTIVE{exported_pod=~"train-0"}[30m])
{exported_pod="train-0", gpu="0", Hostname="gpu-5"}  0.81
{exported_pod="train-0", gpu="1", Hostname="gpu-5"}  0.44
{exported_pod="train-0", gpu="2", Hostname="gpu-5"}  0.45
{exported_pod="train-0", gpu="3", Hostname="gpu-5"}  0.43
=== gpu-load-imbalance | imb jobstats
         Job ID: 90771
       Run Time: 11:10:03 (in progress)

  GPU utilization per node
      gpu-k1 (GPU 0): 96.1%
      gpu-k1 (GPU 1): 31.0%
      gpu-k1 (GPU 2): 30.2%
      gpu-k1 (GPU 3): 30.9%
===  | mix imb two jobs
index, utilization.gpu [%], power.draw [W], memory.used [MiB]
0, 97 %, 611.20 W, 71022 MiB
1, 0 %, 70.10 W, 112 MiB
2, 0 %, 71.88 W, 112 MiB
3, 0 %, 70.41 W, 112 MiB
=== gpu-starved-by-input | starved deepspeed
[2026-02-11 10:00:12,110] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | batch_input: 2911.22 | forward: 410.11 | backward: 812.20 | step: 91.04
[2026-02-11 10:00:19,221] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | batch_input: 2899.80 | forward: 409.91 | backward: 811.10 | step: 90.99
=== gpu-starved-by-input | starved mosaic
{"step": 1200, "throughput/batches_per_sec": 0.41, "time/dataloader_wait_s": 1.71, "time/step_s": 2.41, "loss": 2.2}
{"step": 1210, "throughput/batches_per_sec": 0.42, "time/dataloader_wait_s": 1.69, "time/step_s": 2.39, "loss": 2.2}
{"step": 1220, "throughput/batches_per_sec": 0.41, "time/dataloader_wait_s": 1.72, "time/step_s": 2.42, "loss": 2.2}
=== gpu-starved-by-input | starved nemo
Epoch 0: :  12%|█▏ | 1200/10000 [40:11<4:53:30, reduced_train_loss=2.10, global_step=1200.0, consumed_samples=30720.0, train_step_timing in s=2.410, data_time in s=1.72]
Epoch 0: :  12%|█▏ | 1210/10000 [40:31<4:53:30, reduced_train_loss=2.10, global_step=1210.0, consumed_samples=30976.0, train_step_timing in s=2.400, data_time in s=1.71]
Epoch 0: :  12%|█▏ | 1220/10000 [40:51<4:53:30, reduced_train_loss=2.10, global_step=1220.0, consumed_samples=31232.0, train_step_timing in s=2.420, data_time in s=1.73]
=== gpu-starved-by-input | starved jaxprof
step 1200: 2.41s (host input 1.72s, device 0.66s)
step 1210: 2.40s (host input 1.71s, device 0.66s)
step 1220: 2.42s (host input 1.73s, device 0.66s)
=== gpu-starved-by-input | starved pyspy
$ py-spy top --pid 4412
Collecting samples from 'python train.py' (python v3.11)
Total Samples 1200
GIL: 3.00%, Active: 12.00%, Threads: 3
  %Own   %Total  OwnTime  TotalTime  Function (filename)
 88.00%  88.00%   10.56s    10.56s   _try_get_data (torch/utils/data/dataloader.py)
  6.00%   6.00%    0.72s     0.72s   forward (torch/nn/modules/linear.py)
=== inference-slo-breach | slo vllm metrics
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="m"} 312.0
vllm:num_requests_running{model_name="m"} 256.0
vllm:time_to_first_token_seconds_bucket{le="1.0",model_name="m"} 1021.0
vllm:time_to_first_token_seconds_bucket{le="10.0",model_name="m"} 1802.0
vllm:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 9211.0
vllm:time_to_first_token_seconds_count{model_name="m"} 9211.0
vllm:time_to_first_token_seconds_sum{model_name="m"} 301221.0
===  | vllm ok
vllm:num_requests_waiting{model_name="m"} 0.0
vllm:num_requests_running{model_name="m"} 56.0
vllm:time_to_first_token_seconds_count{model_name="m"} 9211.0
vllm:time_to_first_token_seconds_sum{model_name="m"} 3012.0
vllm:request_queue_time_seconds_sum{model_name="m"} 12.0
vllm:request_queue_time_seconds_count{model_name="m"} 9211.0
=== inference-slo-breach | slo triton
nv_inference_request_success{model="ens",version="1"} 91022
nv_inference_request_failure{model="ens",version="1",reason="REJECTED"} 40112
nv_inference_queue_duration_us{model="ens",version="1"} 981120112201
nv_inference_compute_infer_duration_us{model="ens",version="1"} 40112201122
nv_inference_pending_request_count{model="ens",version="1"} 812
=== inference-slo-breach | slo istio
$ kubectl logs -n ingress gw-0 --tail=6
[2026-02-11T10:00:01.101Z] "POST /v1/chat/completions HTTP/1.1" 504 UT upstream_response_timeout - "-" 1822 24 60000 - "-" "python-httpx" "a1" "llm.prod" "10.2.0.4:8000"
[2026-02-11T10:00:01.401Z] "POST /v1/chat/completions HTTP/1.1" 504 UT upstream_response_timeout - "-" 1611 24 60000 - "-" "python-httpx" "a2" "llm.prod" "10.2.0.4:8000"
[2026-02-11T10:00:02.001Z] "POST /v1/chat/completions HTTP/1.1" 200 - via_upstream - "-" 1822 4124 51201 51199 "-" "python-httpx" "a3" "llm.prod" "10.2.0.4:8000"
[2026-02-11T10:00:02.101Z] "POST /v1/chat/completions HTTP/1.1" 503 UO upstream_reset_before_response_started{overflow} - "-" 1822 81 0 - "-" "python-httpx" "a4" "llm.prod" "-"
[2026-02-11T10:00:02.151Z] "POST /v1/chat/completions HTTP/1.1" 504 UT upstream_response_timeout - "-" 1611 24 60000 - "-" "python-httpx" "a5" "llm.prod" "10.2.0.4:8000"
===  | access ok
INFO:     10.2.0.4:44120 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO:     10.2.0.4:44121 - "POST /v1/chat/completions HTTP/1.1" 200 OK
INFO:     10.2.0.4:44122 - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
INFO:     10.2.0.4:44123 - "GET /health HTTP/1.1" 503 Service Unavailable
INFO:     10.2.0.4:44124 - "POST /v1/chat/completions HTTP/1.1" 200 OK
=== inference-slo-breach | slo tgi log
2026-02-11T10:00:01.101Z  INFO generate{...}: text_generation_router::server: total_time="48.120112s" validation_time="1.2ms" queue_time="41.201122s" inference_time="6.9188s" time_per_token="27.0ms" seed="None"
2026-02-11T10:00:01.701Z  INFO generate{...}: text_generation_router::server: total_time="49.020112s" validation_time="1.1ms" queue_time="42.001122s" inference_time="7.0188s" time_per_token="27.1ms" seed="None"
2026-02-11T10:00:02.301Z  INFO generate{...}: text_generation_router::server: total_time="49.720112s" validation_time="1.2ms" queue_time="42.801122s" inference_time="6.9288s" time_per_token="26.9ms" seed="None"
=== inference-slo-breach | slo sglang
[2026-02-11 10:00:01] Decode batch. #running-req: 64, #token: 411022, token usage: 0.98, gen throughput (token/s): 911.2, #queue-req: 412
[2026-02-11 10:00:04] Decode batch. #running-req: 64, #token: 412022, token usage: 0.98, gen throughput (token/s): 909.1, #queue-req: 433
[2026-02-11 10:00:07] Decode batch. #running-req: 64, #token: 413022, token usage: 0.99, gen throughput (token/s): 910.4, #queue-req: 455
=== inference-slo-breach | slo ray
(ServeController pid=4412) WARNING 2026-02-11 10:00:00,101 controller 4412 -- Deployment 'LLM' in application 'default' has 3 replicas that have taken more than 30s to initialize.
(ProxyActor pid=5511) WARNING 2026-02-11 10:00:02,101 proxy 10.2.0.4 -- Request 1a timed out after 60.0s.
(ProxyActor pid=5511) WARNING 2026-02-11 10:00:03,101 proxy 10.2.0.4 -- Request 1b timed out after 60.0s.
(ProxyActor pid=5511) WARNING 2026-02-11 10:00:03,501 proxy 10.2.0.4 -- Request 1c timed out after 60.0s.
=== ?gpu-memory-pressure | pressure prom
ALERTS{alertname="GpuMemoryNearlyFull",alertstate="firing",gpu="2",Hostname="gpu-5",severity="warning"} 1
DCGM_FI_DEV_FB_USED{gpu="2",Hostname="gpu-5"} 80211
DCGM_FI_DEV_FB_FREE{gpu="2",Hostname="gpu-5"} 411
"""
CASES = {head: body for head, _, body in (part.partition("\n") for part in re.split(r"^=== ", TEXTS, flags=re.MULTILINE)[1:])}


@pytest.mark.parametrize("head", CASES)
def test_what_few_readings_and_other_clocks_tell(tmp_path: Path, head: str) -> None:
    cause = head.split("|")[0].strip()
    judge(diagnosed_files(tmp_path, CASES[head]), cause, info=bool(cause))
