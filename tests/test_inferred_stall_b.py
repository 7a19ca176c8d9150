# ruff: noqa: E501 - what is pasted has long lines
"""Slow and stalled work, full memory and full storage, told by other evidence than the line that names it: numbers, tables, status commands. Of
each condition what shows it, and (nothing before the `|`) what looks alike and is well.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.facts.stall import Measure
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError
from tests.pasted import diagnosed_files, judge

TEXTS = r"""
=== host-oom-kill | free + Killed
$ free -h
               total        used        free      shared  buff/cache   available
Mem:           251Gi       247Gi       1.1Gi       2.0Gi       2.9Gi       1.2Gi
Swap:             0B          0B          0B
[2]+  Killed                  python train.py --data /data
=== host-oom-kill | cgroup files + killed
$ cat /sys/fs/cgroup/memory.max
68719476736
$ cat /sys/fs/cgroup/memory.peak
68719472640
$ tail -2 train.log
step 1200 | loss 2.11
Killed
=== host-oom-kill | memory.events
$ cat /sys/fs/cgroup/memory.events
low 0
high 0
max 41822
oom 3
oom_kill 3
oom_group_kill 0
=== host-oom-kill | dmesg
[Sun Mar  1 10:00:00 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-x,mems_allowed=0-1,oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c,task=python,pid=4242,uid=0
=== host-oom-kill | docker stats
CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O       BLOCK I/O   PIDS
4f1c9a2b0c11   trainer   781.12%   63.97GiB / 64GiB      99.95%    1.2GB / 80MB  12GB / 0B   214
subprocess.CalledProcessError: Command 'python train.py' died with <Signals.SIGKILL: 9>.
=== host-oom-kill | sacct
$ sacct -j 4242 -o JobID,State,ExitCode,ReqMem,MaxRSS
JobID           State ExitCode     ReqMem     MaxRSS
------------ ---------- -------- ---------- ----------
4242         OUT_OF_ME+    0:125       128G
4242.batch   OUT_OF_ME+    0:125             134210000K
=== host-oom-kill | systemd
systemd[1]: trainer.service: A process of this unit has been killed by the OOM killer.
systemd[1]: trainer.service: Main process exited, code=killed, status=9/KILL
systemd[1]: trainer.service: Failed with result 'oom-kill'.
=== host-oom-kill | journald consumed
systemd[1]: run-u812.scope: Consumed 2h CPU time, 512.0G memory peak.
kernel: Tasks in /system.slice/run-u812.scope are going to be killed due to memory.oom.group set
=== host-oom-kill | crictl inspect
    "state": "CONTAINER_EXITED",
    "exitCode": 137,
    "reason": "OOMKilled",
    "message": "",
=== host-oom-kill | prometheus
kube_pod_container_status_last_terminated_reason{namespace="ml",pod="train-0",container="main",reason="OOMKilled"} 1
=== host-oom-kill | ray
ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
Memory on the node (IP: 10.0.0.4, ID: ab) where the task (task ID: ff, name=load, pid=812, memory used=61.20GB) was running was 121.60GB / 128.00GB (0.95), which exceeds the memory usage threshold of 0.95.
=== | free healthy + Killed by user
$ free -h
               total        used        free      shared  buff/cache   available
Mem:           251Gi        47Gi       100Gi       2.0Gi       102Gi       200Gi
Swap:             0B          0B          0B
=== host-oom-kill | meminfo
MemTotal:       528482304 kB
MemFree:          812004 kB
MemAvailable:     601220 kB
python[4242]: exited on signal 9 (Killed)
=== shared-filesystem-full | beegfs
$ beegfs-df
METADATA SERVERS:
TargetID   Cap. Pool        Total         Free    %      ITotal       IFree    %
========   =========        =====         ====    =      ======       =====    =
       1      normal     958.3GiB     812.2GiB  85%     638.9M      612.0M  96%
STORAGE TARGETS:
TargetID   Cap. Pool        Total         Free    %      ITotal       IFree    %
========   =========        =====         ====    =      ======       =====    =
     101   emergency   43582.0GiB       0.0GiB   0%    4469.2M     4461.0M 100%
=== shared-filesystem-full | ceph df
--- POOLS ---
POOL             ID  PGS   STORED  OBJECTS     USED   %USED  MAX AVAIL
cephfs_data       3  512  412 TiB  108.01M  1.2 PiB  100.00        0 B
=== shared-filesystem-full | df pvc
$ kubectl exec train-0 -- df -h /data
Filesystem                                 Size  Used Avail Use% Mounted on
10.2.0.9:/export/pvc-81c2                  2.0T  2.0T     0 100% /data
=== shared-filesystem-full | df inodes lustre
$ lfs df -i /lustre
UUID                      Inodes       IUsed       IFree IUse% Mounted on
lfs02-MDT0000_UUID     268435456   268435456           0 100% /lustre[MDT:0]
lfs02-OST0000_UUID     134217728    22001002   112216726  17% /lustre[OST:0]
=== shared-filesystem-full | errors in framework
RuntimeError: [enforce fail at inline_container.cc:588] . PytorchStreamWriter failed writing file data/812: file write failed
OSError: [Errno 28] No space left on device: '/mnt/nfs/ckpt/step-100/model.pt'
=== shared-filesystem-full | weka
$ weka fs
Filesystem ID | Filesystem Name | Group | SSD Budget | Total Budget | Used Total | Used SSD | Free
0 | scratch | default | 100.00 TB | 100.00 TB | 100.00 TB | 99.9 TB | 0 B
write error: No space left on device (/mnt/weka/scratch/ckpt)
=== shared-filesystem-full | efs/fsx cloudwatch - jobs
srun: error: cannot write /fsx/out/log.txt: No space left on device
=== | df 92%
$ df -h /mnt/nfs
Filesystem           Size  Used Avail Use% Mounted on
10.2.0.9:/export/ml  100T   92T  8.0T  92% /mnt/nfs
=== | quota under limit
$ quota -s
Disk quotas for user ann (uid 1001):
     Filesystem   space   quota   limit   grace   files   quota   limit   grace
nas:/home          31G     50G     55G            412k       0       0
=== shared-filesystem-hang | df timeout
$ timeout 10 df -h /mnt/nfs; echo $?
124
=== shared-filesystem-hang | lfs check
$ lfs check servers
lfs01-MDT0000-mdc-ffff9c2: active.
lfs01-OST0004-osc-ffff9c2: check error: Resource temporarily unavailable
=== shared-filesystem-hang | dmesg nfs
[Sun Mar  1 10:00:00 2026] nfs: server 10.2.0.9 not responding, still trying
=== shared-filesystem-hang | ceph slow
HEALTH_WARN 1 MDSs report slow requests; 1 MDSs report slow metadata IOs; 212 slow ops, oldest one blocked for 4102 sec, mds.a has slow ops
=== shared-filesystem-hang | gpfs waiters
== mmdiag: waiters
Waiting 812.4410 sec since 10:00:00, monitored, thread 812 SharedHashTabFetchHandlerThread: on ThCond 0x1, reason 'RPC wait' for tmMsgTellAcquire1
=== shared-filesystem-hang | hung task
INFO: task python:48213 blocked for more than 120 seconds.
 nfs_wait_bit_killable+0x1e/0x90 [nfs]
=== gpu-starved-by-input | people's prints
step 100 | data 1.91s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 2.71s
step 110 | data 1.88s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 2.68s
step 120 | data 1.95s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 2.75s
=== | people's prints, fed well
step 100 | data 0.01s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 0.80s
step 110 | data 0.01s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 0.80s
step 120 | data 0.02s | fwd 0.31s | bwd 0.42s | opt 0.05s | total 0.81s
=== gpu-starved-by-input | key=value
epoch=1 it=200 data_time=0.812 batch_time=1.021 loss=2.1
epoch=1 it=210 data_time=0.798 batch_time=1.002 loss=2.1
epoch=1 it=220 data_time=0.825 batch_time=1.031 loss=2.1
=== gpu-starved-by-input | timm
Train: 12 [ 500/1251 ( 40%)]  Loss: 3.11 (3.20)  Time: 1.912s,  535.12/s  (1.888s,  542.10/s)  LR: 1.0e-03  Data: 1.402 (1.391)
Train: 12 [ 550/1251 ( 44%)]  Loss: 3.11 (3.20)  Time: 1.902s,  535.12/s  (1.888s,  542.10/s)  LR: 1.0e-03  Data: 1.412 (1.391)
Train: 12 [ 600/1251 ( 48%)]  Loss: 3.11 (3.20)  Time: 1.922s,  535.12/s  (1.888s,  542.10/s)  LR: 1.0e-03  Data: 1.422 (1.391)
=== gpu-starved-by-input | imagenet example
Epoch: [3][ 500/5005]	Time  1.812 ( 1.790)	Data  1.401 ( 1.377)	Loss 4.1e+00
Epoch: [3][ 510/5005]	Time  1.822 ( 1.790)	Data  1.411 ( 1.377)	Loss 4.1e+00
Epoch: [3][ 520/5005]	Time  1.802 ( 1.790)	Data  1.399 ( 1.377)	Loss 4.1e+00
=== gpu-starved-by-input | sentence
profiler: time waiting for data 64 % of the step, GPU busy 31 %
=== gpu-starved-by-input | dmon + vmstat
$ nvidia-smi dmon -s pu -c 5
# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec    jpg    ofa
# Idx      W      C      C      %      %      %      %      %      %
    0    140     41     40     22      4      0      0      0      0
    0    133     41     40      0      0      0      0      0      0
    0    201     42     40     61     12      0      0      0      0
    0    131     41     40      3      0      0      0      0      0
    0    138     41     40     18      3      0      0      0      0
$ iostat -x 5 2
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           4.11    0.00    3.20   41.22    0.00   51.47

Device            r/s     rkB/s   r_await  %rrqm  w/s  %util
nvme1n1       8121.00  812100.0     12.40    0.0  1.0  99.80
=== gpu-starved-by-input | cpu limit top + smi csv
$ nvidia-smi --query-gpu=index,name,utilization.gpu,memory.used,power.draw --format=csv
index, name, utilization.gpu [%], memory.used [MiB], power.draw [W]
0, NVIDIA A100-SXM4-80GB, 23 %, 41200 MiB, 121.40 W
1, NVIDIA A100-SXM4-80GB, 27 %, 41200 MiB, 124.10 W
$ top -b -n1 | head -5
top - 10:00:00 up 10 days,  1:02,  1 user,  load average: 96.10, 95.20, 94.88
Tasks: 812 total,  97 running, 715 sleeping,   0 stopped,   0 zombie
%Cpu(s): 97.9 us,  2.0 sy,  0.0 ni,  0.1 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
MiB Mem : 515690.1 total,  51021.4 free, 210022.8 used, 254645.9 buff/cache
MiB Swap:      0.0 total,      0.0 free,      0.0 used. 301201.1 avail Mem
=== slow-gpu-straggler | per-rank gemm
rank 0: 612.1 TFLOPS
rank 1: 611.4 TFLOPS
rank 2: 613.0 TFLOPS
rank 3: 402.8 TFLOPS
rank 4: 612.6 TFLOPS
rank 5: 610.9 TFLOPS
=== slow-gpu-straggler | pdsh
gpu-01: gemm 8192 bf16: 3.41 ms
gpu-02: gemm 8192 bf16: 3.43 ms
gpu-03: gemm 8192 bf16: 5.90 ms
gpu-04: gemm 8192 bf16: 3.42 ms
gpu-05: gemm 8192 bf16: 3.40 ms
=== slow-gpu-straggler | table md
| node | step time (s) | tok/s |
|------|------|------|
| n1 | 3.01 | 10210 |
| n2 | 3.02 | 10190 |
| n3 | 4.90 | 6200 |
| n4 | 3.00 | 10230 |
=== | even table
rank 0: 612.1 TFLOPS
rank 1: 611.4 TFLOPS
rank 2: 613.0 TFLOPS
rank 3: 602.8 TFLOPS
rank 4: 612.6 TFLOPS
=== slow-gpu-straggler | backward compute per rank
[rank0] step 400 compute 1.811s comm_wait 0.402s
[rank1] step 400 compute 1.809s comm_wait 0.401s
[rank2] step 400 compute 2.204s comm_wait 0.008s
[rank3] step 400 compute 1.812s comm_wait 0.399s
=== inference-slo-breach | k6
     ✗ http_req_duration..............: avg=3.1s min=210ms med=2.9s max=31s p(90)=6.1s p(95)=9.8s
       http_req_failed................: 12.40% ✓ 812 ✗ 5735
=== inference-slo-breach | genai-perf + slo
|            Statistic |    avg |    min |     max |     p99 |     p90 |     p75 |
| Time to first token (ms) | 4120.10 | 210.00 | 9120.44 | 9011.12 | 8120.11 | 6011.00 |
SLO: p99 time to first token 1000 ms
=== inference-slo-breach | alert
[FIRING:1] LLMTimeToFirstTokenP99High (chat-70b serving critical)
p99 TTFT = 7.9s (threshold 2s) for 25m
=== inference-slo-breach | hey
Summary:
  Total:	60.0012 secs
Status code distribution:
  [200]	4811 responses
  [503]	1102 responses
=== | bench fine
Successful requests:                     2000
Failed requests:                         0
P99 TTFT (ms):                           412.10
agreed: p99 TTFT < 2 s
=== | k6 fine
       http_req_failed................: 0.00% ✓ 0 ✗ 5735
       http_req_duration..............: avg=310ms p(90)=610ms p(95)=980ms
=== training-stalled | tail and date
$ tail -1 train.log
2026-03-01 08:12:10,100 step 4410 loss 2.01 3.1 s/step
$ date
Sun Mar  1 11:40:02 UTC 2026
$ squeue -j 4242
  JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)
   4242 gpu train ann R 4:02:11 2 gpu-[01-02]
=== training-stalled | promtool
$ promtool query instant http://prom:9090 'time() - max(train_last_step_timestamp_seconds{job="a"})'
{} => 4210.5 @[1772366400]
=== training-stalled | ls of checkpoints
Last step logged: 412 min ago (usual: 3.1 s per step), pods Running, restarts 0
=== gpu-util-misleading-low-real-use | dcgm
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-02",pod="a"} 99
DCGM_FI_PROF_SM_ACTIVE{gpu="0",Hostname="gpu-02",pod="a"} 0.031
DCGM_FI_DEV_POWER_USAGE{gpu="0",Hostname="gpu-02",pod="a"} 101.2
DCGM_FI_DEV_FB_USED{gpu="0",Hostname="gpu-02",pod="a"} 41200
=== gpu-phantom-utilisation | smi csv
index, utilization.gpu [%], memory.used [MiB], power.draw [W], pstate, persistence_mode
3, 100 %, 0 MiB, 84.10 W, P0, Enabled
=== throughput-regression | by driver
driver        img/s
550.54.15     11210
550.90.07     11198
570.86.10     8120
=== training-stalled | promtool
$ promtool query instant http://prom:9090 'time() - max(train_last_step_timestamp_seconds{job="a"})'
{} => 4210.5 @[1772366400]
=== gpu-util-misleading-low-real-use | promtool dcgm
$ promtool query instant http://prom:9090 'avg_over_time(DCGM_FI_DEV_GPU_UTIL{Hostname="gpu-02"}[6h])'
{gpu="0", Hostname="gpu-02", pod="a", namespace="ml"} => 99.1 @[1772366400]
$ promtool query instant http://prom:9090 'avg_over_time(DCGM_FI_PROF_SM_ACTIVE{Hostname="gpu-02"}[6h])'
{gpu="0", Hostname="gpu-02", pod="a", namespace="ml"} => 0.021 @[1772366400]
=== pcie-link-degraded | per gpu bandwidth
GPU 0 H2D 54.1 GB/s
GPU 1 H2D 54.0 GB/s
GPU 2 H2D 12.3 GB/s
GPU 3 H2D 54.1 GB/s
=== | benchmark sizes
size 1024 time 12.1 us busbw 3.1 GB/s
size 2048 time 12.3 us busbw 6.2 GB/s
size 4096 time 12.9 us busbw 12.2 GB/s
size 8192 time 13.9 us busbw 24.2 GB/s
=== | ping table of hosts
gpu-01: time 0.112 ms
gpu-02: time 0.110 ms
gpu-03: time 0.181 ms
gpu-04: time 0.109 ms
=== | kubectl get nodes
NAME     STATUS   ROLES    AGE   VERSION
gpu-01   Ready    <none>   10d   v1.30.1
gpu-02   Ready    <none>   10d   v1.30.1
gpu-03   Ready    <none>   2d    v1.30.1
gpu-04   Ready    <none>   10d   v1.30.1
=== | uptime per host
gpu-01:  10:00:00 up 41 days,  3 users,  load average: 1.20, 1.77, 1.91
gpu-02:  10:00:00 up 41 days,  3 users,  load average: 1.20, 1.77, 1.91
=== | loading weights
Loading safetensors checkpoint shards:  50% Completed | 5/10 [00:10<00:10,  2.01s/it]
data: downloading 45%
=== | memory full of a job without kill
Memory Utilized: 63.00 GB
Memory Efficiency: 98.4% of 64.00 GB
State: COMPLETED (exit code 0)
=== | model server idle
INFO 03-01 12:00:10 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 3.1%
INFO 03-01 12:00:20 [loggers.py:123] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 3.1%
=== | runs that vary
run   tok/s
a     10402
b     10398
c     9980
=== | ok iostat without gpus
Device            r/s     rkB/s   r_await  %rrqm  w/s  %util
nvme1n1       8121.00  812100.0     12.40    0.0  1.0  99.80
=== | top on a busy trainer
%Cpu(s): 97.9 us,  2.0 sy,  0.0 ni,  0.1 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-02",pod="a"} 97
DCGM_FI_PROF_SM_ACTIVE{gpu="0",Hostname="gpu-02",pod="a"} 0.71
=== process-in-D-state | ps twice
$ ps -o pid,stat,time,comm -p 812; sleep 60; ps -o pid,stat,time,comm -p 812
    PID STAT     TIME COMMAND
    812 D    01:02:40 python3
    PID STAT     TIME COMMAND
    812 D    01:02:40 python3
=== | ps twice moving
$ ps -o pid,stat,time,comm -p 812; sleep 60; ps -o pid,stat,time,comm -p 812
    PID STAT     TIME COMMAND
    812 D    01:02:40 python3
    PID STAT     TIME COMMAND
    812 D    01:03:10 python3
=== job-cancelled | docker
2026-03-01T09:12:34.401220118Z container kill 8b1f99aa (image=train:0.3, name=t, signal=15)
2026-03-01T09:12:44.412907332Z container kill 8b1f99aa (image=train:0.3, name=t, signal=9)
2026-03-01T09:12:44.553002771Z container die 8b1f99aa (execDuration=32109, exitCode=137, image=train:0.3, name=t)
=== slow-gpu-straggler | hpl per node
NODE      GFLOPS     TIME(s)
n01       41210.1    812.1
n02       41190.4    812.6
n03       30110.9    1112.1
n04       41220.8    811.9
=== | epoch log of one rank
rank0: epoch 1 step time 1.21 s
rank0: epoch 2 step time 1.22 s
rank0: epoch 3 step time 1.92 s
=== | train vs eval columns
epoch  train_time  eval_time
1      100.1       12.1
2      100.2       12.0
=== inference-slo-breach | wrk
Running 15m test @ http://chat/v1/completions
  18211 requests in 15.00m, 1.2GB read
  Socket errors: connect 0, read 0, write 0, timeout 412
  Non-2xx or 3xx responses: 2302
=== | metrics of a healthy vllm
vllm:num_requests_running{model_name="m"} 12.0
vllm:num_requests_waiting{model_name="m"} 0.0
vllm:time_to_first_token_seconds_sum{model_name="m"} 812.1
"""
CASES = {head: body for head, _, body in (part.partition("\n") for part in re.split(r"^=== ", TEXTS, flags=re.MULTILINE)[1:])}


def said(text: str, name: str = "text.measures", argv: tuple[str, ...] = ()) -> dict[str, list[object]]:
    """What a parser makes of a text."""
    return load(name)(Output(Command(argv), pages=(text.encode(),)), Subject(kind="node", node="gpu-01"))  # type: ignore[return-value]


def numbers(text: str, argv: tuple[str, ...] = ()) -> dict[str, float]:
    """Quantity → the last value."""
    return {one.quantity: one.value for one in said(text, argv=argv)["measures"] if isinstance(one, Measure)}


@pytest.mark.parametrize("head", CASES)
def test_what_other_evidence_tells(tmp_path: Path, head: str) -> None:
    cause = head.split("|")[0].strip()
    judge(diagnosed_files(tmp_path, CASES[head]), cause, info=bool(cause))


def test_goals_and_measurements_stand_in_different_files(tmp_path: Path) -> None:
    report = diagnosed_files(
        tmp_path, "==> bench.txt <==\nP99 TTFT (ms):        4120.10\n==> agreed.md <==\n99% of requests get the first token within 1.5 s\n"
    )
    judge(report, "inference-slo-breach")


def test_a_killed_program_of_another_kind_is_no_news_where_training_goes_on(tmp_path: Path) -> None:
    killed = "[Sun Mar  1 03:00:51 2026] Memory cgroup out of memory: Killed process 812 ({}) total-vm:1kB, anon-rss:1kB, file-rss:0kB\n"
    steps = "".join(
        f"2026-03-01 0{hour}:{minute}0:00,100 step={hour * 60 + minute} loss=2.0 tok/s=41210\n" for hour in (2, 3, 4) for minute in range(6)
    )
    judge(diagnosed_files(tmp_path, f"==> d.txt <==\n{killed.format('mysqldump')}==> t.log <==\n{steps}"), "")
    judge(diagnosed_files(tmp_path, f"==> d.txt <==\n{killed.format('python3')}==> t.log <==\n{steps}"), "host-oom-kill")


def test_the_command_that_is_shown_belongs_to_its_answer() -> None:
    assert numbers("68719476736\n", ("cat", "/sys/fs/cgroup/memory.max")) == {"memory_limit": 68719476736.0}
    assert numbers("124\n", ("timeout", "10", "ls", "/mnt/ml;", "echo", "$?")) == {"path_silent": 10.0}


def test_units_and_columns() -> None:
    assert numbers("15:50:01 kbmemfree kbavail kbmemused %memused\n16:00:01 100 300 99700 99.9\n")["memory_share"] == pytest.approx(0.997)
    assert numbers("nr_periods 1000\nnr_throttled 800\n") == {"cpu_throttled": 0.8}
    assert numbers("p95=1.5s\n")["latency"] == 1.5
    assert numbers("p(95)<500\n")["latency_objective"] == 0.5


HOSTILE = [
    "p99" * 60_000,
    "{" * 200_000,
    "gpu " + "9" * 200_000,
    "| " * 120_000,
    "data 1s " * 30_000,
    "a1: " + "1 " * 100_000,
    "timeout " * 50_000,
    "-" * 300_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_lines_take_linear_time(number: int) -> None:
    for name in ("text.measures", "prometheus.queries"):
        with contextlib.suppress(ParseError):
            said(f"run tok/s\n{HOSTILE[number]}\nnr_periods 1000\nnr_throttled 800\n", name)
    assert numbers(f"{HOSTILE[number]}\nnr_periods 1000\nnr_throttled 800\n")["cpu_throttled"] == 0.8


@settings(max_examples=30)
@given(st.lists(st.sampled_from([line for body in CASES.values() for line in body.splitlines()]), max_size=12), st.integers(0, 400))
def test_any_mixture_and_any_cut_is_read_or_refused(lines: list[str], cut: int) -> None:
    text = "\r\n".join(lines)[: -cut or None] + "\0\x1b[31m"
    for name in ("text.measures", "prometheus.queries"):
        with contextlib.suppress(ParseError):
            said(text, name)
