"""What is wanted beside what is there: pods of a DaemonSet, servers of names, metrics, memory, devices."""

from __future__ import annotations

from typing import Any

from tests.kube.case import Case
from tests.kube.cases_metrics import STARTS, exporter
from tests.kube.cases_metrics import case as measured
from tests.kube.cases_services import DNS, failing
from tests.kube.cases_stack import CRASHES, FEW, NODE, NS, OPERATOR, crashing, operator, place, stack
from tests.kube.cases_start import case as starting
from tests.kube.cases_start import creating
from tests.kube.cases_without_gpu import case, trains
from tests.kube.monitoring import endpointslice, metrics, rule, service
from tests.kube.objects import daemonset, node

LESS = node(NODE, allocatable_gpus=8, gpus=8, gpu_label_count=9)  # makes the runbook look at the DaemonSets
OF_DNS = {"k8s-app": "kube-dns"}
LIMIT = '{"limits":{"cpu":"200m","memory":"256Mi"},"requests":{"cpu":"100m"}}'
SLOW = rule("Slow", "DCGM_FI_DEV_MEM_CLOCK < 1000")
POWER = {**rule("Power", "rate(DCGM_FI_DEV_POWER_VIOLATION[5m]) > 0"), "metadata": {**SLOW["metadata"], "name": "power"}}


def deployed(part: str, desired: int) -> Any:
    """A DaemonSet of the operator on nodes that have its label."""
    label = f"nvidia.com/gpu.deploy.{part.removesuffix('-daemonset')}"
    return daemonset(f"nvidia-{part}", NS, desired=desired, node_selector={label: "true"})


def resolving(*lines: str, address: str = "10.96.0.10") -> Case:
    """A cluster with a DNS Service, and what an exporter's container shows of its names."""
    dns = service("kube-dns", "kube-system", labels=OF_DNS, selector=OF_DNS, port="dns", number=53, target=53)
    dns["spec"]["clusterIP"] = address
    return measured(dns, endpointslice("kube-dns", "kube-system"), logs={place("dcgm_exporter"): "\n".join((STARTS, *lines)) + "\n"})


def templated() -> Any:
    """The exporter without an option."""
    made = exporter()
    made["spec"]["containers"][0]["env"] = []
    return made


def emptied() -> str:
    """What an exporter serves whose labels for the pod are empty."""
    return metrics(pod="").replace('Hostname="gpu-02"', 'Hostname="gpu-02",container="",namespace="",pod=""')


CASES: dict[str, Case] = {
    "exporter-on-fewer-nodes": stack(deployed("dcgm-exporter", 1), deployed("device-plugin-daemonset", 2), on=LESS),
    "exporter-not-ready-yet": stack(daemonset("nvidia-dcgm-exporter", NS, desired=2, current=2, ready=0, updated=2, age="5m"), on=LESS),
    "stack-pods-never-made": stack(daemonset("gpu-feature-discovery", NS, desired=2, current=0, ready=0, updated=0), on=LESS),
    "exporter-near-its-limit": crashing("dcgm_exporter", LIMIT, "nvidia-dcgm-exporter-4k7tq   31m   251Mi", parts=(*FEW, "dcgm_exporter")),
    "operator-near-its-limit": stack(
        operator(restarts=7),
        parts=FEW,
        on=LESS,
        logs={OPERATOR: f"{LIMIT}\ngpu-operator-7d9f8c6b5-x2x7q   380m   251Mi\n"},
    ),
    "api-answers-others": failing(
        "kube-proxy-p5s8e",
        'Failed to retrieve node info: Get "https://10.0.0.7:6443/api/v1/nodes/gpu-03": dial tcp 10.0.0.7:6443: connect: no route to host',
        "Server Version: v1.31.2",
        box="kube-proxy",
    ),
    "dns-loopback": failing(DNS, "    forward . /etc/resolv.conf {", "nameserver 127.0.0.53"),
    "dns-name-unknown": failing("dns-tool-0", "** server can't find trainer-0.trainer: NXDOMAIN", box="dns-tool"),
    "dns-own-service": resolving("    forward . 10.96.0.10"),
    "dns-other-server": resolving("nameserver 10.43.0.10", "search ml.svc.cluster.local svc.cluster.local cluster.local"),
    "dns-no-endpoints": measured(
        service("kube-dns", "kube-system", labels=OF_DNS, selector=OF_DNS, number=53),
        endpointslice("kube-dns", "kube-system", ready=0, waiting=2),
    ),
    "engine-no-endpoints": measured(
        service("nvidia-dcgm", labels={"app": "nvidia-dcgm"}, selector={"app": "nvidia-dcgm"}, number=5555),
        endpointslice("nvidia-dcgm", ready=0, number=5555),
    ),
    "metrics-in-part": measured(
        POWER,
        served="\n".join(metrics().split("\n")[:8]) + "\n",
        faults=[{"match": "GET .*prometheus-operated.*query", "status": 403}],
    ),
    "metrics-labels-not-asked-for": measured(runs=templated(), served=metrics(pod="")),
    "metrics-labels-empty": measured(served=emptied()),
    "stack-device-left-out": case(trains(), log="nvidia.com/gpu=1\nnvidia.com/gpu=all\n"),
    "wheel-of-later-cuda": case(trains(), log="torch 2.9.1+cu130\n"),
    "cdi-without-devices": starting(creating(waiting=CRASHES), "Found 0 CDI devices"),
}
