# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of exporters, of what Prometheus answers, of memory and of pace in words of their own: what is decided, and what is well
though it looks much alike.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

UNSUPPORTED = "Error getting supported metrics: Profiling is not supported for this group of GPUs or GPU"
NOT_LOADED = "This request is serviced by a module of DCGM that is not currently loaded"


def without_counters(release: str, gpu: str, why: str) -> str:
    """An exporter that has no profiling counters: its image, the GPUs of its machine, its log."""
    return f"""\
$ kubectl get ds -n metrics dcgm-exporter -o jsonpath='{{..image}}'
nvcr.io/nvidia/k8s/dcgm-exporter:{release}
$ kubectl exec -n metrics dcgm-exporter-4kq9x -- nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | uniq -c
      8 {gpu}, 580.65.06
$ kubectl logs -n metrics dcgm-exporter-4kq9x
time="2026-03-01T12:00:00Z" level=info msg="DCGM successfully initialized!"
time="2026-03-01T12:00:00Z" level=info msg="Not collecting DCP metrics: {why}"
time="2026-03-01T12:00:00Z" level=warning msg="Skipping line 20 ('DCGM_FI_PROF_GR_ENGINE_ACTIVE'): metric not enabled"
time="2026-03-01T12:00:00Z" level=info msg="Starting webserver"
"""


# What was pasted → the cause that is found first; "?cause" = it is a candidate, and nothing is found; "" = no alarm
TEXTS: dict[str, tuple[str, str]] = {
    "address: another host's": (
        "exporter-bad-listen-address",
        """\
$ docker logs --tail 2 dcgm-exporter
time=2026-03-01T12:00:00.117Z level=INFO msg="Starting webserver"
time=2026-03-01T12:00:00.118Z level=ERROR msg="Failed to Listen and Serve HTTP server." error="listen tcp 10.20.0.7:9400: bind: cannot assign requested address"
""",
    ),
    "address: Docker publishes on one that isn't here": (
        "exporter-bad-listen-address",
        """\
docker: Error response from daemon: driver failed programming external connectivity on endpoint dcgm-exporter (71c0): Error starting userland proxy: listen tcp4 10.20.0.7:9400: bind: cannot assign requested address.
""",
    ),
    "address: no port": (
        "exporter-bad-listen-address",
        """\
time="2026-03-01T12:00:00Z" level=fatal msg="Failed to Listen and Server HTTP server with err: `listen tcp: address 94000: invalid port`"
""",
    ),
    "address: a program of its own": (
        "",
        """\
2026/03/01 12:00:00 listen tcp 10.20.0.7:8080: bind: cannot assign requested address
""",
    ),
    "port: userland proxy": (
        "exporter-port-conflict",
        """\
Error response from daemon: driver failed programming external connectivity on endpoint gpu-dcgm-exporter-1 (b3f3): Error starting userland proxy: listen tcp4 0.0.0.0:9400: bind: address already in use
""",
    ),
    "port: Docker 28": (
        "exporter-port-conflict",
        """\
docker: Error response from daemon: failed to set up container networking: driver failed programming external connectivity on endpoint exporter (0c1d): failed to bind host port for 0.0.0.0:9400:172.17.0.3:9400/tcp: address already in use
""",
    ),
    "port: Docker 29": (
        "exporter-port-conflict",
        """\
docker: Error response from daemon: failed to set up container networking: driver failed programming external connectivity on endpoint exporter (0c1d): failed to bind host port 0.0.0.0:9400/tcp: address already in use
""",
    ),
    "port: podman": (
        "exporter-port-conflict",
        """\
Error: rootlessport listen tcp 0.0.0.0:9400: bind: address already in use
""",
    ),
    "port: the scheduler of a DaemonSet's pod": (
        "exporter-port-conflict",
        """\
$ kubectl get events -n metrics --field-selector involvedObject.name=dcgm-exporter-4kq9x
LAST SEEN   TYPE      REASON             OBJECT                    MESSAGE
58s         Warning   FailedScheduling   pod/dcgm-exporter-4kq9x   0/4 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.
""",
    ),
    "profiler: the driver's kernel log": (
        "dcgm-profiling-in-use",
        """\
[  812.100000] NVRM: GPU2 nvCheckOkFailedNoLog: Check failed: State in use [NV_ERR_STATE_IN_USE] (0x00000063) returned from pRmApi->Control(pRmApi, pClient->hClient, hObject, NVB0CC_CTRL_CMD_INTERNAL_ALLOC_PMA_STREAM, &internalParams, sizeof(internalParams)) @ kern_profiler_v2_ctrl.c:315
[  871.200000] NVRM: GPU2 nvCheckOkFailedNoLog: Check failed: State in use [NV_ERR_STATE_IN_USE] (0x00000063) returned from pRmApi->Control(pRmApi, pClient->hClient, hObject, NVB0CC_CTRL_CMD_INTERNAL_ALLOC_PMA_STREAM, &internalParams, sizeof(internalParams)) @ kern_profiler_v2_ctrl.c:315
""",
    ),
    "release: DCGM 3 on Blackwell": (
        "dcgm-too-old-for-gpu",
        without_counters("3.3.9-3.6.1-ubuntu22.04", "NVIDIA B200", NOT_LOADED),
    ),
    "release: DCGM 2 on Hopper": (
        "dcgm-too-old-for-gpu",
        without_counters("2.4.7-2.6.11-ubuntu20.04", "NVIDIA H100 80GB HBM3", UNSUPPORTED),
    ),
    "release: DCGM 4 on a GPU without counters": (
        "dcgm-profiling-unsupported-gpu",
        without_counters("4.2.3-4.1.3-ubuntu22.04", "NVIDIA GeForce RTX 3090", UNSUPPORTED),
    ),
    "release: DCGM 3 on Hopper": (
        "dcgm-profiling-unsupported-gpu",
        without_counters("3.3.9-3.6.1-ubuntu22.04", "NVIDIA H100 80GB HBM3", UNSUPPORTED),
    ),
    "DaemonSet: wants no pod anywhere": (
        "exporter-not-running",
        """\
$ kubectl get ds -n metrics
NAME            DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
dcgm-exporter   0         0         0       0            0           <none>          41m
""",
    ),
    "DaemonSet: its label is on no node, and there may be no GPU": (
        "",
        """\
$ kubectl get ds -n metrics
NAME            DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR             AGE
dcgm-exporter   0         0         0       0            0           nvidia.com/gpu.present=true   41m
""",
    ),
    "counts: promtool": (
        "metric-not-exported",
        """\
# promtool query instant http://prom:9090 'count(DCGM_FI_PROF_PIPE_TENSOR_ACTIVE) or vector(0)'
{} => 0 @[1772366400.42]
# promtool query instant http://prom:9090 'count(DCGM_FI_DEV_GPU_TEMP)'
{} => 48 @[1772366411.07]
""",
    ),
    "counts: the API": (
        "metric-not-exported",
        """\
$ curl -sG http://prom:9090/api/v1/query --data-urlencode 'query=DCGM_FI_PROF_SM_ACTIVE'
{"status":"success","data":{"resultType":"vector","result":[]}}
$ curl -s 'http://prom:9090/api/v1/query?query=count%28DCGM_FI_DEV_GPU_TEMP%29'
{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1772366400.2,"32"]}]}}
""",
    ),
    "counts: a script over a dashboard": (
        "metric-not-exported",
        """\
$ ./panels.sh gpu.json
title            expr                                         series
Temperature      DCGM_FI_DEV_GPU_TEMP{gpu=~"$gpu"}                 4
Power            DCGM_FI_DEV_POWER_USAGE{gpu=~"$gpu"}              4
NVLink           rate(DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL[1m])      0
""",
    ),
    "counts: all are there": (
        "",
        """\
$ ./panels.sh gpu.json
title            expr                                         series
Temperature      DCGM_FI_DEV_GPU_TEMP{gpu=~"$gpu"}                 4
Power            DCGM_FI_DEV_POWER_USAGE{gpu=~"$gpu"}              4
""",
    ),
    "counts: values, not series": (
        "",
        """\
$ curl -s gpu-02:9400/metrics | grep -v '^#' | sed 's/{.*}//'
DCGM_FI_DEV_GPU_TEMP 41
DCGM_FI_DEV_GPU_UTIL 0
DCGM_FI_DEV_XID_ERRORS 0
""",
    ),
    "counts: a pod that has none": (
        "",
        """\
$ promtool query instant http://prom:9090 'DCGM_FI_DEV_GPU_UTIL{pod="train-0"}'
$ curl -sG http://prom:9090/api/v1/query --data-urlencode 'query=DCGM_FI_DEV_GPU_UTIL{pod="train-0"}'
{"status":"success","data":{"resultType":"vector","result":[]}}
$ curl -sG http://prom:9090/api/v1/query --data-urlencode 'query=count(DCGM_FI_DEV_GPU_TEMP)'
{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1772366400.2,"32"]}]}}
""",
    ),
    "rows: idle for a day, as CSV": (
        "gpu-allocated-idle",
        """\
$ promql --host http://prom:9090 'avg_over_time(DCGM_FI_DEV_GPU_UTIL[24h])' --output csv | cut -d, -f3,5,8,9
Hostname,exported_namespace,exported_pod,gpu,value
gpu-02,vision,notebook-ann-0,0,0
gpu-02,vision,notebook-ann-0,1,0.0104
gpu-03,speech,asr-0,0,92.96041666666667
""",
    ),
    "rows: idle for half a day, by jq": (
        "gpu-allocated-idle",
        """\
$ curl -sG http://prom:9090/api/v1/query --data-urlencode 'query=max_over_time(DCGM_FI_DEV_GPU_UTIL[12h])' | jq -r '.data.result[] | [.metric.Hostname, .metric.exported_namespace, .metric.exported_pod, .metric.gpu, .value[1]] | @tsv'
gpu-02	vision	notebook-ann-0	0	0
gpu-02	vision	notebook-ann-0	1	0
gpu-03	speech	asr-0	0	99
""",
    ),
    "rows: at work": (
        "",
        """\
$ curl -sG http://prom:9090/api/v1/query --data-urlencode 'query=avg_over_time(DCGM_FI_DEV_GPU_UTIL[12h])' | jq -r '.data.result[] | [.metric.Hostname, .metric.exported_pod, .metric.gpu, .value[1]] | @tsv'
gpu-03	asr-0	0	91.2
gpu-03	asr-0	1	92.4
""",
    ),
    "rows: a target that is down": (
        "prometheus-target-down",
        """\
$ curl -s http://prom:9090/api/v1/query --data-urlencode 'query=up{job="dcgm-exporter"}' | jq -r '.data.result[] | [.metric.instance, .value[1]] | @tsv'
10.20.0.7:9400	1
10.20.0.8:9400	0
""",
    ),
    "rows: targets of others": (
        "",
        """\
$ curl -s http://prom:9090/api/v1/query --data-urlencode 'query=up{job="node"}' | jq -r '.data.result[] | [.metric.instance, .value[1]] | @tsv'
10.20.0.7:9100	1
10.20.0.8:9100	0
""",
    ),
    "namespace: without OpenShift's label": (
        "servicemonitor-not-selected",
        """\
$ oc get servicemonitor -n gpu-stack
NAME                   AGE
nvidia-dcgm-exporter   5d
$ oc get pods -n gpu-stack
NAME                         READY   STATUS    RESTARTS   AGE
nvidia-dcgm-exporter-4kq9x   1/1     Running   0          5d
$ oc get ns -L openshift.io/cluster-monitoring
NAME                   STATUS   AGE   CLUSTER-MONITORING
gpu-stack              Active   5d
openshift-nfd          Active   9d    true
""",
    ),
    "namespace: with it": (
        "",
        """\
$ oc get servicemonitor -n gpu-stack
NAME                   AGE
nvidia-dcgm-exporter   5d
$ oc get pods -n gpu-stack
NAME                         READY   STATUS    RESTARTS   AGE
nvidia-dcgm-exporter-4kq9x   1/1     Running   0          5d
$ oc get ns -L openshift.io/cluster-monitoring
NAME                   STATUS   AGE   CLUSTER-MONITORING
gpu-stack              Active   5d    true
default                Active   9d
""",
    ),
    "monitors: none is the exporter's": (
        "servicemonitor-missing",
        """\
$ kubectl get servicemonitors -A
NAMESPACE    NAME                       AGE
monitoring   prom-stack-apiserver       12d
monitoring   prom-stack-kubelet         12d
monitoring   prom-stack-node-exporter   12d
$ kubectl get svc -n gpu-operator
NAME                   TYPE        CLUSTER-IP     EXTERNAL-IP   PORT(S)    AGE
nvidia-dcgm-exporter   ClusterIP   10.98.11.21    <none>        9400/TCP   12d
""",
    ),
    "monitors: one may be": (
        "",
        """\
$ kubectl get servicemonitors -A
NAMESPACE    NAME                       AGE
monitoring   prom-stack-apiserver       12d
monitoring   gpu-metrics                12d
$ kubectl get svc -n gpu-operator
NAME                   TYPE        CLUSTER-IP     EXTERNAL-IP   PORT(S)    AGE
nvidia-dcgm-exporter   ClusterIP   10.98.11.21    <none>        9400/TCP   12d
""",
    ),
    "alert: amtool": (
        "gpu-memory-pressure",
        """\
Alertname            Starts At                Summary                                       State
GPUMemoryNearlyFull  2026-03-01 08:11:20 UTC  GPU 3 of gpu-07: 97.4 % of the framebuffer    active
""",
    ),
    "alert: Alertmanager's JSON": (
        "gpu-memory-pressure",
        """\
{"receiver":"pager","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"NodeGpuMemoryUsageCritical","gpu":"0","severity":"critical"},"annotations":{"description":"Current: 98.0%"},"startsAt":"2026-03-01T21:16:35.104Z"}]}
""",
    ),
    "alert: no progress": (
        "training-stalled",
        """\
ALERTS{alertname="TrainingJobStalled", alertstate="firing", job_name="llm-7b", severity="critical"} 1
""",
    ),
    "alert: latency": (
        "inference-slo-breach",
        """\
[FIRING:1] VLLMTimeToFirstTokenP99High llama (prod page)
""",
    ),
    "alert: rules that don't fire, and others that do": (
        "",
        """\
Alertname              Starts At                Summary                                       State
GPUMemoryTempHigh      2026-03-01 08:11:20 UTC  GPU 3: the memory has 88 C                    suppressed
Watchdog               2026-03-01 08:11:20 UTC  An alert that should always be firing         active
$ curl -s http://prom:9090/api/v1/rules | jq -r '.data.groups[].rules[]|[.name,.state]|@tsv'
GPUMemoryUsageHigh	inactive
TrainingStalled	inactive
InferenceLatencySLO	pending
""",
    ),
    "objectives: keys of a file": (
        "inference-slo-breach",
        """\
┃                 Statistic ┃      avg ┃      min ┃      max ┃      p99 ┃      p90 ┃
│ Time to first token (ms)  │ 8,120.11 │ 1,102.20 │ 21,440.1 │ 20,118.4 │ 15,220.0 │
$ cat slo.yaml
ttft_p99_ms: 2000
""",
    ),
    "objectives: kept": (
        "",
        """\
┃                 Statistic ┃      avg ┃      min ┃      max ┃      p99 ┃      p90 ┃
│ Time to first token (ms)  │   120.11 │   102.20 │   440.12 │   390.41 │   220.01 │
$ cat slo.yaml
ttft_p99_ms: 2000
""",
    ),
    "memory: more with each epoch": (
        "cuda-oom-leak-in-program",
        """\
epoch 1: train_loss=0.912 val_loss=1.02 vram=9.8G
epoch 2: train_loss=0.771 val_loss=0.93 vram=13.1G
epoch 3: train_loss=0.702 val_loss=0.90 vram=16.5G
epoch 4: train_loss=0.655 val_loss=0.89 vram=19.8G
epoch 5: train_loss=0.622 val_loss=0.88 vram=23.2G
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 11.06 MiB is free. Process 88121 has 23.67 GiB memory in use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 140.11 MiB is reserved by PyTorch but unallocated.
""",
    ),
    "memory: beside the whole": (
        "cuda-oom-leak-in-program",
        """\
[Epoch 1/80][Batch 500/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 5000/10989
[Epoch 1/80][Batch 1000/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 5900/10989
[Epoch 1/80][Batch 1500/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 6800/10989
[Epoch 1/80][Batch 2000/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 7700/10989
[Epoch 1/80][Batch 2500/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 8600/10989
[Epoch 1/80][Batch 3000/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 9500/10989
[Epoch 1/80][Batch 3500/4000] BatchTime = 0.702 (s) Losses = ['21.62', '14.19'] Mem 10400/10989
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 11.06 MiB is free. Process 88121 has 23.67 GiB memory in use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 140.11 MiB is reserved by PyTorch but unallocated.
""",
    ),
    "memory: the same with each epoch": (
        "cuda-oom-model-too-large",
        """\
epoch 1: train_loss=0.912 gpu mem in use 21034 MB
epoch 2: train_loss=0.771 gpu mem in use 21410 MB
epoch 3: train_loss=0.702 gpu mem in use 21410 MB
epoch 4: train_loss=0.655 gpu mem in use 21412 MB
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 11.06 MiB is free. Process 88121 has 23.67 GiB memory in use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 140.11 MiB is reserved by PyTorch but unallocated.
""",
    ),
    "memory: cached, before PyTorch 1.4": (
        "cuda-oom-reserved-unallocated",
        """\
RuntimeError: CUDA out of memory. Tried to allocate 1.95 GiB (GPU 0; 15.90 GiB total capacity; 7.02 GiB already allocated; 1.55 GiB free; 6.98 GiB cached)
""",
    ),
    "memory: what XLA has planned": (
        "cuda-oom-model-too-large",
        """\
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 94489280512 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:   76.20GiB
              constant allocation:         0B
     preallocated temp allocation:   88.00GiB
                 total allocation:  164.21GiB
""",
    ),
    "input: load and step": (
        "gpu-starved-by-input",
        """\
gs: 4120  loss 0.1831  l1 0.0312  load 2.914s  step 0.402s
gs: 4121  loss 0.1827  l1 0.0309  load 3.122s  step 0.398s
gs: 4122  loss 0.1840  l1 0.0315  load 2.880s  step 0.401s
""",
    ),
    "input: a bar's figures": (
        "gpu-starved-by-input",
        """\
Epoch 3:  18%|#8        | 412/2290 [21:44<1:39:02,  3.16s/it, loss=0.441, data_t=2.71, gpu_t=0.43]
Epoch 3:  18%|#8        | 413/2290 [21:47<1:38:40,  3.15s/it, loss=0.439, data_t=2.70, gpu_t=0.43]
Epoch 3:  18%|#8        | 414/2290 [21:50<1:39:10,  3.17s/it, loss=0.442, data_t=2.72, gpu_t=0.43]
""",
    ),
    "input: two parts of a batch": (
        "gpu-starved-by-input",
        """\
Batch 400  data loading: 4.82 sec  forward+backward: 0.61 sec
Batch 401  data loading: 4.91 sec  forward+backward: 0.60 sec
Batch 402  data loading: 4.79 sec  forward+backward: 0.61 sec
""",
    ),
    "input: fed well": (
        "",
        """\
gs: 4120  loss 0.1831  l1 0.0312  load 0.014s  step 0.402s
gs: 4121  loss 0.1827  l1 0.0309  load 0.012s  step 0.398s
gs: 4122  loss 0.1840  l1 0.0315  load 0.010s  step 0.401s
""",
    ),
    "stalled: absl's times, and heartbeats": (
        "training-stalled",
        """\
I20260301 11:33:31.402 levanter.callbacks step 181 loss=3.1174 step_time=31.6s
I20260301 11:34:03.118 levanter.callbacks step 182 loss=3.1090 step_time=31.7s
I20260301 11:34:34.928 levanter.callbacks step 183 loss=3.1127 step_time=31.8s
{"ts":"2026-03-01T11:55:02.611Z","event":"heartbeat","rank":0,"step":183}
{"ts":"2026-03-01T12:04:02.614Z","event":"heartbeat","rank":0,"step":183}
""",
    ),
    "stalled: the Trainer's lines": (
        "training-stalled",
        """\
$ date -u +%FT%TZ; kubectl logs -n ml ft-0 --timestamps | tail -3
2026-03-01T11:40:22Z
2026-03-01T10:01:10.118220011Z {'loss': 1.8121, 'grad_norm': 0.71, 'learning_rate': 1.8e-05, 'epoch': 0.31}
2026-03-01T10:01:52.401120019Z {'loss': 1.8090, 'grad_norm': 0.69, 'learning_rate': 1.8e-05, 'epoch': 0.32}
2026-03-01T10:02:34.710020011Z {'loss': 1.8033, 'grad_norm': 0.70, 'learning_rate': 1.8e-05, 'epoch': 0.32}
""",
    ),
    "stalled: the Trainer goes on": (
        "",
        """\
$ date -u +%FT%TZ; kubectl logs -n ml ft-0 --timestamps | tail -3
2026-03-01T10:02:50Z
2026-03-01T10:01:10.118220011Z {'loss': 1.8121, 'grad_norm': 0.71, 'learning_rate': 1.8e-05, 'epoch': 0.31}
2026-03-01T10:01:52.401120019Z {'loss': 1.8090, 'grad_norm': 0.69, 'learning_rate': 1.8e-05, 'epoch': 0.32}
2026-03-01T10:02:34.710020011Z {'loss': 1.8033, 'grad_norm': 0.70, 'learning_rate': 1.8e-05, 'epoch': 0.32}
""",
    ),
    "slow: the unit in the heading": (
        "slow-gpu-straggler",
        """\
step time per rank (ms, mean over 200 steps)
rank 0: 412.1
rank 1: 411.8
rank 2: 413.0
rank 3: 412.4
rank 4: 688.9
rank 5: 412.0
""",
    ),
    "hang: all in one call at little power": (
        "collective-hang",
        """\
$ nvidia-smi --query-gpu=timestamp,index,utilization.gpu,power.draw,memory.used --format=csv,noheader -l 30
2026/03/01 03:12:04.108, 0, 100 %, 92.11 W, 71204 MiB
2026/03/01 03:12:04.118, 1, 100 %, 90.87 W, 71204 MiB
2026/03/01 03:12:04.128, 2, 100 %, 93.40 W, 71204 MiB
2026/03/01 03:12:34.108, 0, 100 %, 92.11 W, 71204 MiB
2026/03/01 03:12:34.118, 1, 100 %, 90.87 W, 71204 MiB
2026/03/01 03:12:34.128, 2, 100 %, 93.40 W, 71204 MiB
$ for p in $(pgrep -f train.py); do py-spy dump -p $p | sed -n '/MainThread/,+2p'; done
Thread 40210 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
Thread 40211 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
Thread 40212 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
""",
    ),
    "hang: all in one call at work": (
        "",
        """\
$ nvidia-smi --query-gpu=timestamp,index,utilization.gpu,power.draw,memory.used --format=csv,noheader -l 30
2026/03/01 03:12:04.108, 0, 100 %, 352.11 W, 71204 MiB
2026/03/01 03:12:04.118, 1, 100 %, 350.87 W, 71204 MiB
2026/03/01 03:12:04.128, 2, 100 %, 353.40 W, 71204 MiB
2026/03/01 03:12:34.108, 0, 100 %, 352.11 W, 71204 MiB
2026/03/01 03:12:34.118, 1, 100 %, 350.87 W, 71204 MiB
2026/03/01 03:12:34.128, 2, 100 %, 353.40 W, 71204 MiB
$ for p in $(pgrep -f train.py); do py-spy dump -p $p | sed -n '/MainThread/,+2p'; done
Thread 40210 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
Thread 40211 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
Thread 40212 (active): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    clip_grad_norm (megatron/core/optimizer/clip_grads.py:98)
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_first_finding(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text), cause)
