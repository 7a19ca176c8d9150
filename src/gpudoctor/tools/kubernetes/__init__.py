"""Objects of the Kubernetes API, and every way in which kubectl prints them."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "kubernetes.pods": Parser(("pods", "containers", "messages", "schedule_reasons", "settings"), "pods:pods"),
    # Only pods of the GPU stack, target=False.
    "kubernetes.stack": Parser(("pods", "containers", "messages", "schedule_reasons"), "pods:stack"),
    "kubernetes.gpu_pods": Parser(
        ("pods", "containers", "messages", "schedule_reasons", "targets"),
        "gpu_pods:gpu_pods",
        streams=True,
        sifts=("pods", "containers"),
    ),
    "kubernetes.names": Parser(("names",), "names:names"),
    "kubernetes.nodes": Parser(("nodes",), "nodes:nodes"),
    "kubernetes.all_nodes": Parser(("nodes",), "nodes:all_nodes", streams=True),  # target=False
    "kubernetes.usage": Parser(("node_usage",), "nodes:usage", streams=True),
    "kubernetes.neighbours": Parser(("node_usage",), "nodes:neighbours", streams=True),  # with the labels of all pods
    "kubernetes.events": Parser(("events", "messages", "schedule_reasons"), "events:events"),
    "kubernetes.workloads": Parser(("workloads", "messages"), "workloads:workloads"),
    # Owners of GPU pods that have none; those that have some are left out.
    "kubernetes.owners_without_pods": Parser(("workloads",), "owners:without_pods", streams=True, sifts=("workloads",)),
    "kubernetes.allowances": Parser(("allowances",), "allowances:allowances"),
    "kubernetes.local_queues": Parser(("local_queues",), "allowances:local_queues"),
    "kubernetes.cluster_policies": Parser(("cluster_policies",), "cluster_policy:cluster_policies"),
    "kubernetes.storage_classes": Parser(("storage_classes",), "storage:storage_classes"),
    "kubernetes.quotas": Parser(("quotas",), "storage:quotas"),
    "kubernetes.device_claims": Parser(("device_claims",), "devices:claims"),
    "kubernetes.device_slices": Parser(("device_slices",), "devices:slices"),
    "kubernetes.claims": Parser(("claims",), "storage:claims"),
    "kubernetes.volumes": Parser(("volumes",), "storage:volumes"),
    "kubernetes.runtime_classes": Parser(("runtime_classes",), "storage:runtime_classes"),
    "kubernetes.stack_configs": Parser(("stack_configs",), "configs:stack_configs"),
    "runtime.stack_config": Parser(("stack_configs",), "configs:plain_config"),  # what such a ConfigMap holds, alone
    # The way of the metrics: exporters' pods as kubernetes.stack reads them, and the objects between them and Prometheus.
    "kubernetes.exporters": Parser(("pods", "containers", "messages", "schedule_reasons", "exporters"), "exporters:pods"),
    "kubernetes.exporter_templates": Parser(("exporters",), "exporters:templates"),
    "kubernetes.services": Parser(("services",), "monitoring:services"),
    "kubernetes.endpoints": Parser(("service_endpoints",), "monitoring:endpoints"),
    "kubernetes.service_monitors": Parser(("monitors",), "monitoring:service_monitors"),
    "kubernetes.pod_monitors": Parser(("pod_monitors",), "monitoring:pod_monitors"),
    "kubernetes.prometheuses": Parser(("prometheuses",), "monitoring:prometheuses"),
    "kubernetes.namespaces": Parser(("namespace_labels",), "monitoring:namespaces"),
    "kubelet.config": Parser(("kubelets", "messages"), "kubelet_config:kubelet"),
}
