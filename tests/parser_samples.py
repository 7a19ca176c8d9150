"""A small valid answer for each parser of the table, shortest first to read: what the hostile texts are made of."""

from __future__ import annotations

import json
from typing import Any

from tests.kube import monitoring as metrics
from tests.nodes import bus, configs, dcgmi
from tests.nodes.nvlink import errors, topo
from tests.nodes.smi import Card
from tests.nodes.smi_table import smi_table

META = {"name": "gpu-01", "namespace": "ml", "uid": "3f2a", "creationTimestamp": "2026-03-01T11:00:00Z"}
CARDS = [Card(), Card(index=1, pci="0000:5d:00.0")]


def objects(kind: str, **rest: Any) -> str:
    """A list of the API server with one object."""
    return json.dumps({"apiVersion": "v1", "kind": f"{kind}List", "items": [{"apiVersion": "v1", "kind": kind, "metadata": META, **rest}]})


def listed(one: dict[str, Any]) -> str:
    """A list of the API server with an object that a builder has made."""
    return json.dumps({"apiVersion": one["apiVersion"], "kind": f"{one['kind']}List", "items": [one]})


POD = objects(
    "Pod",
    spec={"containers": [{"name": "c", "image": "a", "resources": {"limits": {"nvidia.com/gpu": "1"}}, "env": [{"name": "NCCL_DEBUG"}]}]},
    status={"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}]},
)
STACK_POD = objects(
    "Pod", spec={"containers": [{"name": "nvidia-device-plugin-ctr", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]}
).replace('"metadata": {', '"metadata": {"labels": {"app": "nvidia-device-plugin-daemonset"}, ')
EXPORTER = STACK_POD.replace("nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter")
NODE = objects("Node", status={"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}})
EVENT = objects("Event", involvedObject={"kind": "Pod", "name": "a", "namespace": "ml"}, reason="FailedScheduling", message="0/1 nodes")
CONFIG = objects(
    "ConfigMap", data={"any": "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n"}
)
KERNEL = "[   12.300000] NVRM: Xid (PCI:0000:1b:00): 43, pid=4711, name=python3, Ch 00000010\n"
XID = "I0301 11:00:00.1 1 health.go:185] XidCriticalError: Xid=79 on Device=GPU-1f0d7a52; marking device as unhealthy.\n"
RANK = "gpu-01:4101:4133 [0] NCCL INFO comm 0x55 rank 0 nranks 2 cudaDev 0 busId 1b000 commId 0x7 - Init COMPLETE\n"
DUMP = {
    "version": "2.4",
    "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": 12, "last_started_collective": 12, "last_completed_collective": 11}},
    "entries": [
        {"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 12, "profiling_name": "nccl:all_reduce", "state": "started"}
    ],
}
RAS = """NCCL version 2.28.9 compiled with CUDA 13.0
Communicators... (2.05s)
=============
    Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
        #  in group  per comm  per node  per comm  in group
        0         1         4       7-8        32        32   RUNNING  INCOMPLETE
Errors / Warnings
#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  Rank 21 -- GPU 5 managed by process 3487984 on node 172.16.64.213
"""
IBSTAT = """CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 21
\t\tSM lid: 1
\t\tLink layer: InfiniBand
"""
LINK = '0x98039b0300a1b2c3    117    1[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>       4   12[  ] "leaf-1" ( )\n'
STACKS = 'Process 41: /usr/bin/python3 train.py\nThread 41 (active): "MainThread"\n    wait (torch/distributed/c10d_logger.py:81)\n'
METRIC = {"__name__": "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "Hostname": "n3", "UUID": "GPU-1", "gpu": "0"}
LABELS = '{gpu="0",UUID="GPU-1",device="nvidia0",Hostname="n3"}'
NVML = {
    "nvml": 1,
    "driver": "570.172.08",
    "code": 0,
    "gpus": [{"index": 0, "uuid": "GPU-a", "temperature": 41, "reasons": 4}],
    "processes": [{"uuid": "GPU-a", "pid": 7, "process": "python3", "kind": "C", "memory": 1024}],
    "samples": [{"time": 5.5, "uuid": "GPU-a", "reasons": ["hw_slowdown"], "sm_clock": 1410}],
}
DMON = "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n# Idx      W      C      C      %      %    MHz    MHz\n"
DIAG = {"Deployment": [("software", {0: "Pass", 1: "Fail"}, [(1, "Detected 2 volatile double-bit ECC errors", 3, 2)])]}
HEALTH = {("GPU", 1): [("PCIe", "Warning", ["Detected more than 8 PCIe replays per minute for GPU 1"])]}

# parser → a valid answer
SAMPLES: dict[str, str] = {
    "person.answer": '{"question": "fault_led", "choice": "lit", "label": "Yes", "note": "on the left power supply"}',
    "kubernetes.pods": POD,
    "kubernetes.stack": STACK_POD,
    "kubernetes.gpu_pods": POD,
    "kubernetes.names": POD,
    "kubernetes.nodes": NODE,
    "kubernetes.all_nodes": NODE,
    "kubernetes.neighbours": POD.replace('"spec": {', '"spec": {"nodeName": "gpu-01", '),
    "kubernetes.usage": POD.replace('"spec": {', '"spec": {"nodeName": "gpu-01", '),
    "kubernetes.events": EVENT,
    "kubernetes.workloads": objects("Job", spec={"suspend": True}).replace('"v1", "kind": "Job"', '"batch/v1", "kind": "Job"'),
    "kubernetes.owners_without_pods": objects(
        "TrainJob", spec={"suspend": True, "trainer": {"resourcesPerNode": {"limits": {"nvidia.com/gpu": "8"}}}}
    ),
    "kubernetes.quotas": objects(
        "ResourceQuota", status={"hard": {"requests.nvidia.com/gpu": "8"}, "used": {"requests.nvidia.com/gpu": "8"}}
    ),
    "kubernetes.device_slices": objects(
        "ResourceSlice", spec={"driver": "gpu.example.com", "nodeName": "gpu-01", "devices": [{"name": "gpu-0"}]}
    ),
    "kubernetes.device_claims": objects(
        "ResourceClaim",
        spec={"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
        status={"allocation": {"devices": {"results": [{"driver": "gpu.example.com"}]}}, "reservedFor": [{"name": "train-0"}]},
    ),
    "kubernetes.claims": objects("PersistentVolumeClaim", spec={}, status={"phase": "Pending"}),
    "kubernetes.volumes": objects("PersistentVolume", spec={"claimRef": {"namespace": "ml", "name": "a"}}, status={"phase": "Bound"}),
    "kubernetes.allowances": objects("Queue", spec={"capability": {"nvidia.com/gpu": "8"}}, status={"state": "Open", "pending": 1}),
    "kubernetes.local_queues": objects("LocalQueue", spec={"clusterQueue": "team-a"}),
    "kubernetes.cluster_policies": objects("ClusterPolicy", spec={"mig": {"strategy": "single"}, "devicePlugin": {"enabled": True}}),
    "kubernetes.storage_classes": objects("StorageClass", provisioner="ebs.csi.aws.com"),
    "kubernetes.runtime_classes": objects("RuntimeClass", handler="nvidia"),
    "kubernetes.stack_configs": CONFIG,
    "logs.text": XID,
    "logs.errors": XID,
    "kernel.log": KERNEL,
    "nccl.log": RANK,
    "nvidia.smi": smi_table(CARDS[:1]),
    "nvidia.nvlink": errors(CARDS, links=1),
    "nvidia.topo": topo(2),
    "cuda.peers": "Device=0 CANNOT Access Peer Device=1\n",
    "nvidia.version": bus.version(),
    "nvml.gpus": json.dumps(NVML),
    "nvml.samples": json.dumps(NVML),
    "linux.lspci": bus.lspci([bus.Slot(), bus.Slot(pci="0000:5d:00.0", revision="ff")]),
    "linux.modules": bus.modules("nvidia_uvm:4", "nvidia:120"),
    "runtime.stack_config": '{"version": "v1", "sharing": {"timeSlicing": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}}',
    "runtime.config": configs.containerd(),
    "kubelet.config": configs.kubelet(),
    "linux.chrony": bus.chrony(),
    "linux.units": bus.units(nvidia_dcgm="failed"),
    "linux.net_dev": f"    lo: {' '.join(['12961'] * 16)}\n",
    "linux.cgroup": "0::/kubepods.slice/kubepods-pod3f2a9c1e_7b4d_4e0a_9d55_0c1b2a3d4e5f.slice/cri-containerd-7d0c5b1f.scope\n",
    "linux.limits": "Max open files            1024                 1048576              files\n",
    "collective.tests": "   134217728      33554432     float     sum      -1   2831.2   47.41   88.89      0\n",
    "network.reach": "gpu-01 gpu-02 PASS\ngpu-01 gpu-03 FAIL\n",
    "network.neighbours": "Interface:    ens1f0np0, via: LLDP, RID: 1, Time: 0 day, 00:10:22\n    SysName:      gpu-02\n",
    "linux.df": "Filesystem  1024-blocks  Used Available Capacity Mounted on\n10.0.8.4:/ml  1048576 1048576  0  100% /mnt/ml\n",
    "linux.ps": "S   PID ELAPSED WCHAN                 COMMAND\nD 48213   51034 rpc_wait_bit_killable python3\n",
    "gdb.stacks": "#0  0x00007f0f5e2a in syscall () from /lib/libc.so.6\n#1  do_wait (val=0) at config/linux/wait.h:67\n",
    "notes.said": "GPUs 0-3: 100% util, ~100W (cap 600W)\nGPU 4: 0 %, 61 W, 3 MiB used, no processes\n",
    "slurm.jobstats": "  GPU utilization per node\n      gpu-07 (GPU 0): 93.1%\n      gpu-07 (GPU 1): 0%\n",
    "serving.load": "Engine 000: x, Running: 91 reqs, Waiting: 40 reqs,\nEngine 001: x, Running: 2 reqs, Waiting: 0 reqs,\n",
    "program.memory": "MA 40.1 GB         Max_MA 50.2 GB         CA 70.3 GB         Max_CA 71 GB\n"
    "CUDA out of memory. Tried to allocate 9.00 GiB.\n",
    "linux.measures": "nr_periods 1000\nnr_throttled 900\n",
    "serving.measures": "P99 TTFT (ms):   9120.44\n",
    "slurm.accounting": "Memory Efficiency: 99.98% of 64.00 GB\n",
    "training.figures": "GPU Utilization            98.1 %\nEst. SM Efficiency         3.0 %\n",
    "prometheus.answers": 'increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])\n{Hostname="gpu-01", gpu="2"} 18211\n',
    "cuda.bandwidth": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1         2\n"
    " 0     55.21     13.90     55.28\n",
    "prometheus.queries": 'avg(DCGM_FI_DEV_GPU_UTIL)\n{gpu="0", Hostname="gpu-02"} => 99.1 @[1772366400]\n',
    "training.log": " iteration  12/  500 | elapsed time per iteration (ms): 1180.2 | lm loss: 2.31E+00 |\n",
    "python.functions": "gpu-07\n    broadcast\n    broadcast\n    all_reduce\n    all_reduce\n    wait\n",
    "linux.ip_link": "2: ib0: <BROADCAST,UP> mtu 2044 qdisc mq state UP mode DEFAULT group default\n    link/infiniband 00:00 brd 00:ff\n",
    "environment.settings": "NCCL_DEBUG=INFO\nNCCL_SOCKET_IFNAME=eth0\n",
    "infiniband.ports": IBSTAT,
    "infiniband.perfquery": "# Port counters: Lid 32 port 1 (CapMask: 0x5A00)\nSymbolErrorCounter:..............7\n",
    "infiniband.ibqueryerrors": 'Errors for "gpu-03 mlx5_0"\n   GUID 0x98039b0300a1b2c3 port 1: [SymbolErrorCounter == 65535]\n',
    "infiniband.iblinkinfo": f"CA: gpu-01 mlx5_0:\n      {LINK}",
    "infiniband.gids": "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0\n",
    "infiniband.portstate": "# Port info: Lid 4 port 1\nLinkState:.......................Active\nLinkWidthActive:.................4X\n",
    "infiniband.tables": "HCA     State   Physical  Rate\nmlx5_0  Active  LinkUp    400\nmlx5_1  Down    Polling   10\n",
    "infiniband.series": 'node_infiniband_link_downed_total{device="mlx5_0",instance="gpu-01:9100",port="1"} 3\n',
    "linux.nets": "/sys/class/net/ens1np0/carrier_changes:2\nib0:infiniband:disconnected:\n",
    "infiniband.mlxlink": "State                              : Active\nPhysical state                     : LinkUp\nSpeed  : IB-NDR\n",
    "dcgm.discovery": dcgmi.discovery({0: ("GPU-5a0c1f2e-0000-4000-8000-000000000000", "00000000:1B:00.0")}),
    "dcgm.health": dcgmi.health_box("Warning", HEALTH),
    "dcgm.said": "GPU 0's NvLink link 3 is currently down\nThermal violations totaling 7.2 seconds for GPU 1\n",
    "dcgm.diag": dcgmi.diag_4(DIAG),
    "dcgm.dmon": dcgmi.dmon({"SMCLK": 5, "TMPTR": 5}, [("GPU 0", ["1980", "44"]), ("GPU 1", ["1200", "50"])]),
    "dcgm.policy": dcgmi.policy("GPU Reset"),
    "dcgm.stats": dcgmi.stats({0: {}}),
    "dcgm.nvlink": dcgmi.nvlink(links=1),
    "linux.orphans": "UID   PID  PPID CMD\nml  48231     1 VLLM::EngineCore\n",
    "linux.device_users": "/dev/nvidia0:        root      48231 F...m python3\n",
    "linux.quota": "Filesystem  kbytes  quota  limit  grace  files  quota  limit  grace\n/work  812  0  0  -  2000  1800  2000  -\n",
    "nvidia.ecc_table": "GPU id   RRP  RRE  EEUVS  EEUAS\n3        0    0    0      6\n"  # a row a GPU
    "4        0    0    0      0\n",
    "nvidia.gpustat": "[0] NVIDIA A100-SXM4-80GB | 36'C, 100 % |     4 / 81920 MB | ann:python/8123(40112M)\n",
    "tracker.gpus": '{"system.gpu.0.gpu": 99, "system.gpu.0.powerWatts": 149.1, "_timestamp": 1770760611.2}\n',
    "nvidia.dmon": f"{DMON}    0     70     31     36      0      0   2619   1980\n",
    "prometheus.range": json.dumps(
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": METRIC, "value": [1772366400, "128"]}]}}
    ),
    "prometheus.errors": metrics.vector({"__name__": "DCGM_FI_DEV_XID_ERRORS", "UUID": "GPU-5a0c", "gpu": "3"}),
    "prometheus.answer": metrics.vector({"__name__": "DCGM_FI_DEV_ROW_REMAP_FAILURE", "UUID": "GPU-5a0c", "gpu": "3"}),
    "training.values": "{'loss': 2.5, 'grad_norm': 1.0}\n" * 3,
    "prometheus.measures": metrics.vector({"quantity": "latency", "label": "ttft p99", "pod": "llm-0"}),
    "prometheus.series": 'training_loss{run="a"} 2.31\n',
    "prometheus.text": f"DCGM_FI_DEV_SM_CLOCK{LABELS} 1980\nDCGM_FI_DEV_CLOCK_THROTTLE_REASONS{LABELS} 4\n",
    "prometheus.targets": metrics.targets(
        metrics.target(), metrics.target("http://10.0.0.8:9400/metrics", error="context deadline exceeded")
    ),
    "prometheus.counts": "count(DCGM_FI_DEV_GPU_UTIL) or vector(0)\n{} => 0 @[1]\ncount(DCGM_FI_DEV_FB_USED)\n{} => 8 @[1]\n",
    "prometheus.up": "'up{job=\"dcgm-exporter\"}'\n10.20.0.7:9400\t1\n10.20.0.8:9400\t0\n",
    "prometheus.names": metrics.vector({"__name__": "DCGM_FI_DEV_GPU_TEMP"}, {"__name__": "DCGM_FI_DEV_GPU_UTIL"}),
    "prometheus.rules": "- alert: GpuHot\n  expr: DCGM_FI_DEV_GPU_TEMP > 85\n",
    "dcgm.counters": "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\n# DCGM_FI_DEV_POWER_VIOLATION, counter, Throttling.\n",
    "kubernetes.exporters": EXPORTER,
    "kubernetes.exporter_templates": EXPORTER,
    "kubernetes.services": listed(metrics.service()),
    "kubernetes.endpoints": listed(metrics.endpointslice()),
    "kubernetes.service_monitors": listed(metrics.monitor()),
    "kubernetes.pod_monitors": listed(metrics.monitor(kind="PodMonitor")),
    "kubernetes.prometheuses": listed(metrics.prometheus()),
    "kubernetes.namespaces": objects("Namespace"),
    "kubernetes.prometheus_rules": listed(metrics.rule("GpuHot", "DCGM_FI_DEV_GPU_TEMP > 85")),
    "kubernetes.counters": objects("ConfigMap", data={"metrics": "DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).\n"}),
    "torch.flight_recorder": json.dumps(DUMP),
    "nccl.ras": RAS,
    "python.stacks": STACKS,
    "slurm.nodes": "REASON USER TIMESTAMP NODELIST\nNot responding root 2026-03-01T11:03:03 gpu-02\n",
    "slurm.jobs": "JobId=4242 JobName=train\n   JobState=PENDING Reason=Resources Dependency=(null)\n   TresPerNode=gres/gpu:8\n",
    "slurm.conf": "NodeName=gpu-[01-02] CPUs=192 Gres=gpu:h100:8\nName=gpu Type=h100 File=/dev/nvidia[0-7]\n",
    "slurm.log": "[2026-03-01T11:03:03.068] error: Nodes gpu-[02,05] not responding, setting DOWN\n",
}
