"""The table of fact types: the name that runbooks use → the record class. Data only; no fact names a cause."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, Origin, Subject
from gpudoctor.facts.dcgm import DcgmHealth, DcgmPolicy, DcgmStats, DcgmTest
from gpudoctor.facts.gpu import Allocation, Gpu, GpuPath, GpuProcess, GpuSample, NvLink, Smi, Throttling
from gpudoctor.facts.kernel import Sxid, TimelineEntry, Xid
from gpudoctor.facts.kubernetes import (
    Claim,
    Container,
    Event,
    Message,
    Node,
    NodeUsage,
    ObjectName,
    Pod,
    Quota,
    RuntimeClass,
    ScheduleReason,
    StackConfig,
    Target,
    Volume,
    Workload,
)
from gpudoctor.facts.node import Host, KernelModule, Outlier, PciDevice, ProcessPod, Unit
from gpudoctor.facts.scheduling import Fit, NodeGroup, Scheduling, StackPart, Wait

FACTS: dict[str, type[Fact]] = {
    "allocations": Allocation,
    "claims": Claim,
    "containers": Container,
    "dcgm_health": DcgmHealth,
    "dcgm_policies": DcgmPolicy,
    "dcgm_stats": DcgmStats,
    "dcgm_tests": DcgmTest,
    "events": Event,
    "fits": Fit,
    "gpu_paths": GpuPath,
    "gpu_processes": GpuProcess,
    "gpu_samples": GpuSample,
    "gpus": Gpu,
    "hosts": Host,
    "kernel_modules": KernelModule,
    "messages": Message,
    "names": ObjectName,
    "node_groups": NodeGroup,
    "node_usage": NodeUsage,
    "nodes": Node,
    "nvlinks": NvLink,
    "outliers": Outlier,
    "pci_devices": PciDevice,
    "pods": Pod,
    "process_pods": ProcessPod,
    "quotas": Quota,
    "runtime_classes": RuntimeClass,
    "schedule_reasons": ScheduleReason,
    "scheduling": Scheduling,
    "smi": Smi,
    "stack": StackPart,
    "stack_configs": StackConfig,
    "sxids": Sxid,
    "targets": Target,
    "throttling": Throttling,
    "timeline": TimelineEntry,
    "units": Unit,
    "volumes": Volume,
    "waits": Wait,
    "workloads": Workload,
    "xids": Xid,
}

Facts = dict[str, list[Fact]]

__all__ = ["FACTS", "Fact", "Facts", "Origin", "Subject"]
