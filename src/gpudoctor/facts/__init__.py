"""The table of fact types: the name that runbooks use → the record class. Data only; no fact names a cause."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, Origin, Subject
from gpudoctor.facts.gpu import Allocation, Gpu, Smi, Xid
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
from gpudoctor.facts.scheduling import Fit, NodeGroup, Scheduling, StackPart, Wait

FACTS: dict[str, type[Fact]] = {
    "allocations": Allocation,
    "claims": Claim,
    "containers": Container,
    "events": Event,
    "fits": Fit,
    "gpus": Gpu,
    "messages": Message,
    "names": ObjectName,
    "node_groups": NodeGroup,
    "node_usage": NodeUsage,
    "nodes": Node,
    "pods": Pod,
    "quotas": Quota,
    "runtime_classes": RuntimeClass,
    "schedule_reasons": ScheduleReason,
    "scheduling": Scheduling,
    "smi": Smi,
    "stack": StackPart,
    "stack_configs": StackConfig,
    "targets": Target,
    "volumes": Volume,
    "waits": Wait,
    "workloads": Workload,
    "xids": Xid,
}

Facts = dict[str, list[Fact]]

__all__ = ["FACTS", "Fact", "Facts", "Origin", "Subject"]
