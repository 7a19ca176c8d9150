"""The table of fact types: the name that runbooks use → the record class. Data only; no fact names a cause."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, Origin, Subject
from gpudoctor.facts.configuration import KubeletConfig, RuntimeConfig
from gpudoctor.facts.dcgm import DcgmError, DcgmHealth, DcgmPolicy, DcgmStats, DcgmTest
from gpudoctor.facts.fabric import Fabric, NvLinkSum
from gpudoctor.facts.gpu import Allocation, Gpu, GpuPath, GpuProcess, GpuSample, NvLink, Smi, Throttling
from gpudoctor.facts.infiniband import Gid, IbCounters, IbGrowth, IbLink, IbPort, Interface, Limit
from gpudoctor.facts.job import Collective, Communicator, Job, Rank, RankDifference, RankGroup, Setting, SettingMatch, SettingRow, Stack
from gpudoctor.facts.kernel import GpuErrors, Sxid, TimelineEntry, Xid
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
from gpudoctor.facts.monitoring import (
    CounterList,
    Exporter,
    ExporterNode,
    Exposition,
    Monitor,
    NamespaceLabels,
    PrometheusServer,
    ScrapePath,
    ScrapeTarget,
    Service,
    ServiceEndpoints,
    WantedMetric,
)
from gpudoctor.facts.node import GpuRow, Host, KernelModule, Outlier, PciDevice, ProcessPod, Unit
from gpudoctor.facts.person import Answer
from gpudoctor.facts.scheduling import Fit, NodeGroup, Scheduling, StackPart, Wait
from gpudoctor.facts.slurm import SlurmGres, SlurmJob, SlurmNode
from gpudoctor.facts.stall import FileSystem, GpuUse, NodeUse, Pace, Process

FACTS: dict[str, type[Fact]] = {
    "allocations": Allocation,
    "answers": Answer,
    "claims": Claim,
    "collectives": Collective,
    "communicators": Communicator,
    "containers": Container,
    "counter_lists": CounterList,
    "dcgm_errors": DcgmError,
    "dcgm_health": DcgmHealth,
    "dcgm_policies": DcgmPolicy,
    "dcgm_stats": DcgmStats,
    "dcgm_tests": DcgmTest,
    "events": Event,
    "exporter_nodes": ExporterNode,
    "exporters": Exporter,
    "expositions": Exposition,
    "fabrics": Fabric,
    "file_systems": FileSystem,
    "fits": Fit,
    "gids": Gid,
    "gpu_errors": GpuErrors,
    "gpu_paths": GpuPath,
    "gpu_processes": GpuProcess,
    "gpu_rows": GpuRow,
    "gpu_samples": GpuSample,
    "gpu_use": GpuUse,
    "gpus": Gpu,
    "hosts": Host,
    "ib_counters": IbCounters,
    "ib_growth": IbGrowth,
    "ib_links": IbLink,
    "ib_ports": IbPort,
    "interfaces": Interface,
    "jobs": Job,
    "kernel_modules": KernelModule,
    "kubelets": KubeletConfig,
    "limits": Limit,
    "messages": Message,
    "monitors": Monitor,
    "names": ObjectName,
    "namespace_labels": NamespaceLabels,
    "node_groups": NodeGroup,
    "node_usage": NodeUsage,
    "node_use": NodeUse,
    "nodes": Node,
    "nvlink_sums": NvLinkSum,
    "nvlinks": NvLink,
    "outliers": Outlier,
    "paces": Pace,
    "pci_devices": PciDevice,
    "pod_monitors": Monitor,
    "pods": Pod,
    "process_pods": ProcessPod,
    "processes": Process,
    "prometheuses": PrometheusServer,
    "quotas": Quota,
    "rank_differences": RankDifference,
    "rank_groups": RankGroup,
    "ranks": Rank,
    "runtime_classes": RuntimeClass,
    "runtime_configs": RuntimeConfig,
    "schedule_reasons": ScheduleReason,
    "scheduling": Scheduling,
    "scrape_paths": ScrapePath,
    "scrape_targets": ScrapeTarget,
    "service_endpoints": ServiceEndpoints,
    "services": Service,
    "setting_matches": SettingMatch,
    "setting_rows": SettingRow,
    "settings": Setting,
    "slurm_gres": SlurmGres,
    "slurm_jobs": SlurmJob,
    "slurm_nodes": SlurmNode,
    "smi": Smi,
    "stack": StackPart,
    "stack_configs": StackConfig,
    "stacks": Stack,
    "sxids": Sxid,
    "targets": Target,
    "throttling": Throttling,
    "timeline": TimelineEntry,
    "units": Unit,
    "volumes": Volume,
    "waits": Wait,
    "wanted_metrics": WantedMetric,
    "workloads": Workload,
    "xids": Xid,
}

Facts = dict[str, list[Fact]]

__all__ = ["FACTS", "Fact", "Facts", "Origin", "Subject"]
