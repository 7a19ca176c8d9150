"""What queues and node pools lack for what waits, and pods that wait beside one of the same template."""

from __future__ import annotations

import pytest

from gpudoctor.derive import run_derivation
from gpudoctor.facts import Fact
from gpudoctor.facts.kubernetes import Pod, Workload
from gpudoctor.facts.scheduling import Allowance, PodTemplate, QueueShortage
from tests.test_parsers_kubernetes import parse

GPU = "nvidia.com/gpu"
JOB = Workload(
    namespace="ml", workload="Job/train", kind="Job", name="train", suspended=True, requests={GPU: 8, "pods": 1, "cpu": 0}, gpus=8
)
GROUP = {"coveredResources": ["cpu", GPU], "flavors": [{"name": "a", "resources": [{"name": GPU, "nominalQuota": "16"}]}]}
RESERVED = {"flavorsReservation": [{"name": "a", "resources": [{"name": GPU, "total": "12"}]}]}


def short(*facts: Fact) -> list[QueueShortage]:
    """What is measured over records."""
    kinds = {Allowance: "allowances", Pod: "pods", Workload: "workloads", PodTemplate: "pod_templates"}
    given: dict[str, list[Fact]] = {}
    for one in facts:
        given.setdefault(kinds[type(one)], []).append(one)
    return [one for one in run_derivation("queues.short", given, {}, 0.0)["queue_shortages"] if isinstance(one, QueueShortage)]


def pod(phase: str, name: str = "train-0") -> Pod:
    """A pod that asks for 8 GPUs."""
    return Pod(namespace="ml", pod=name, phase=phase, requests={GPU: 8}, gpus=8)


def allowance(kind: str, name: str, spec: dict[str, object], status: dict[str, object] | None = None) -> Allowance:
    """The record of an object."""
    (found,) = parse("allowances", {"kind": kind, "metadata": {"name": name}, "spec": spec, "status": status or {}})["allowances"]
    assert isinstance(found, Allowance)
    return found


def test_kueue_has_too_little_left() -> None:
    (found,) = short(allowance("ClusterQueue", "team-a", {"resourceGroups": [GROUP]}, RESERVED), JOB)
    assert (found.kind, found.queue, found.workload, found.covered) == ("queue", "team-a", "Job/train", True)
    assert (found.resource, found.wanted, found.most, found.used) == (GPU, 8, 16, 12)


def test_kueue_does_not_cover_a_resource() -> None:
    (found,) = short(allowance("ClusterQueue", "team-a", {"resourceGroups": [{"coveredResources": ["cpu"]}]}), JOB)
    assert (found.resource, found.covered) == (GPU, False)


@pytest.mark.parametrize("running", [{}, {"running": 2}])
def test_volcano_has_handed_out_all(running: dict[str, int]) -> None:
    status = {"state": "Open", "pending": 1, "allocated": {GPU: "16"}, **running}
    group = allowance("PodGroup", "train", {"queue": "team-a", "minResources": {GPU: "8"}}, {"phase": "Pending"})
    (found,) = short(allowance("Queue", "team-a", {"capability": {GPU: "16"}}, status), group, pod("Pending"))
    assert (found.kind, found.resource, found.ended) == ("volcano", GPU, not running)


def test_a_group_that_runs_waits_for_nothing() -> None:
    shape = {"kind": "PodGroup", "metadata": {"name": "a"}, "spec": {"queue": "q"}, "status": {"phase": "Running"}}
    assert parse("allowances", shape)["allowances"] == []


def test_a_node_pool_is_full_where_pods_wait() -> None:
    pool = allowance("NodePool", "gpu", {"limits": {GPU: "24", "cpu": "900"}}, {"resources": {GPU: "24", "cpu": "900"}})
    assert [(one.kind, one.queue, one.resource) for one in short(pool, pod("Pending"))] == [("nodepool", "gpu", GPU)]
    assert short(pool, pod("Running")) == []


def test_of_several_queues_nothing_says_which_one_is_waited_in() -> None:
    queues = [allowance("ClusterQueue", name, {"resourceGroups": [GROUP]}, RESERVED) for name in ("team-a", "team-b")]
    assert short(*queues, JOB) == []


def test_a_local_queue_names_the_queue_that_has_the_quota() -> None:
    shape = {"kind": "LocalQueue", "metadata": {"name": "gpu", "namespace": "ml"}, "spec": {"clusterQueue": "team-a"}}
    (found,) = parse("local_queues", shape)["local_queues"]
    assert (found.namespace, found.queue, found.cluster_queue) == ("ml", "gpu", "team-a")  # type: ignore[attr-defined]


def test_a_pod_waits_beside_one_of_its_template() -> None:
    pods: list[Fact] = [pod("Running", "llm-6d5b9c7f48-x2x7k"), pod("Pending", "llm-6d5b9c7f48-q8v4z"), pod("Pending", "other-0")]
    made = run_derivation("pods.siblings", {"pods": pods}, {}, 0.0)["siblings"]
    assert [(one.pod, one.runs) for one in made] == [("llm-6d5b9c7f48-q8v4z", "llm-6d5b9c7f48-x2x7k")]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("resources", "unstated"),
    [
        ({"limits": {"cpu": "4", "memory": "8Gi"}}, []),  # a limit is a request too
        ({"requests": {"cpu": "4", "memory": "8Gi"}}, ["limits.cpu", "limits.memory"]),
        ({"limits": {GPU: "1"}}, ["limits.cpu", "limits.memory", "requests.cpu", "requests.memory", "cpu", "memory"]),
    ],
)
def test_what_a_template_states_nothing_of(resources: dict[str, object], unstated: list[str]) -> None:
    spec = {"template": {"spec": {"containers": [{"name": "main", "resources": resources}]}}}
    (found,) = parse("workloads", {"kind": "Job", "metadata": {"name": "train", "namespace": "ml"}, "spec": spec})["workloads"]
    assert found.unstated == unstated  # type: ignore[attr-defined]
