"""The parsers of the Kubernetes API's answers: pods, nodes, events, workloads and the small objects."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from gpudoctor import registry
from gpudoctor.facts import Fact, Facts, Subject
from gpudoctor.facts.kubernetes import Container, Event, Node, Pod, Requirement, Taint, Toleration, Workload
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import messages
from gpudoctor.tools.parser import ParseError
from tests.kube import objects as build
from tests.kube.objects import container, event, node, pod
from tests.kube.shapes import NOW

HERE = Subject(kind="cluster")
KNOWN = messages.compile_scanner([("no_runtime", r'no runtime for "([^"]+)" is configured'), ("quota", r"exceeded quota: (\S+),")])


@pytest.fixture(autouse=True)
def two_known_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parsers are tested without the project's own messages."""
    monkeypatch.setattr(messages, "scanner", lambda: KNOWN)


def answer(*pages: Any, argv: str = "kubectl get x -o json", **fields: Any) -> Output:
    """An output with one page per value; a list of objects becomes a List."""
    bodies = [
        page if isinstance(page, bytes) else json.dumps({"kind": "List", "items": page} if isinstance(page, list) else page).encode()
        for page in pages
    ]
    return Output(Command(tuple(argv.split())), pages=tuple(bodies), time=NOW.timestamp(), **fields)


def parse(name: str, *pages: Any) -> Facts:
    return registry.load(f"kubernetes.{name}")(answer(*pages), HERE)


def one_pod(*args: Any, **fields: Any) -> Pod:
    (found,) = parse("pods", pod(*args, **fields))["pods"]
    assert isinstance(found, Pod)
    return found


def containers(facts: Facts) -> list[Container]:
    return [fact for fact in facts["containers"] if isinstance(fact, Container)]


class TestWhatTheSchedulerLooksAtToo:
    """What our table doesn't compute, and what the scheduler has promised."""

    def test_only_what_is_required_counts(self) -> None:
        rule = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "a"}}}
        spread = {"maxSkew": 1, "topologyKey": "zone"}
        plain, bound, soft = pod("a"), pod("b"), pod("c")
        bound["spec"] |= {
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}},
            "topologySpreadConstraints": [spread | {"whenUnsatisfiable": "DoNotSchedule"}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}],
        }
        bound["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
        soft["spec"] |= {
            "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": rule}]}},
            "topologySpreadConstraints": [spread | {"whenUnsatisfiable": "ScheduleAnyway"}],
        }
        soft["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
        found = [one.further_rules for one in parse("pods", [plain, bound, soft])["pods"] if isinstance(one, Pod)]
        assert found == [[], ["rules about other pods", "topology spread constraints", "host ports", "claims of devices"], []]

    def test_a_promised_node_and_claims_by_name(self) -> None:
        made = pod("a")
        made["status"]["nominatedNodeName"] = "gpu-01"
        made["spec"]["resourceClaims"] = [{"name": "x", "resourceClaimName": "mine"}, {"name": "y", "resourceClaimTemplateName": "each"}]
        (found,) = parse("pods", made)["pods"]
        assert isinstance(found, Pod)
        assert (found.nominated, found.device_claims, found.claim_templates) == ("gpu-01", ["mine"], ["each"])

    def test_whether_a_controller_has_looked(self) -> None:
        seen, unseen, foreign = build.job("a"), {**build.job("b"), "status": {}}, {**build.pytorchjob("c"), "status": {}}
        found = [one for one in parse("workloads", [seen, unseen, foreign])["workloads"] if isinstance(one, Workload)]
        assert [(one.unseen, one.own) for one in found] == [(False, True), (True, True), (True, False)]


class TestPages:
    def test_one_object_a_list_a_typed_list_an_array_and_several_pages(self) -> None:
        first, second = pod("a"), pod("b")
        bare = {key: value for key, value in second.items() if key not in ("kind", "apiVersion")}
        for pages in (
            [[first, second]],
            [first, second],
            [{"kind": "PodList", "apiVersion": "v1", "items": [bare, first]}],
            [json.dumps([first, {"kind": "List", "items": [second]}]).encode()],
            [b"\xef\xbb\xbf\n" + json.dumps(first).encode(), [second, node("gpu-01")]],
        ):
            assert {p.pod for p in parse("pods", *pages)["pods"] if isinstance(p, Pod)} == {"a", "b"}

    def test_an_empty_answer_is_an_empty_list(self) -> None:
        page: Any
        for page in ([], b"", {"kind": "PodList", "items": None}):
            assert parse("pods", page) == {"pods": [], "containers": [], "messages": [], "schedule_reasons": [], "settings": []}
        not_found = answer(exit=1, stderr=b'Error from server (NotFound): pods "x" not found')
        assert registry.load("kubernetes.pods")(not_found, HERE)["pods"] == []

    @pytest.mark.parametrize(
        "page",
        [
            b"error: the server is down",
            b'{"kind": "List", "items": [{"kind": "Pod"',
            b"[" * 100_000,
            b'{"items": 5}',
            b"{}",
            b'"text"',
            b"\xff\xfe{}",
            b'{"items":"' + b"x" * 1_000_000,
        ],
        ids=["text", "truncated", "deep", "mistyped", "nothing", "string", "utf-16", "long"],
    )
    def test_what_is_no_answer_names_the_source(self, page: bytes) -> None:
        for name, parser in registry.PARSERS.items():
            if name.startswith("kubernetes."):
                read: Any = registry.load(name)
                with pytest.raises(ParseError, match="kubectl get x -o json") as caught:
                    read([answer(page)] if parser.streams else answer(page), HERE)
                assert len(str(caught.value)) < 600

    def test_an_error_in_place_of_an_answer_is_quoted(self) -> None:
        with pytest.raises(ParseError, match="pods is forbidden"):
            parse("pods", {"kind": "Status", "status": "Failure", "message": "pods is forbidden", "code": 403})
        with pytest.raises(ParseError, match="connection refused"):
            registry.load("kubernetes.pods")(answer(exit=1, stderr=b"connection refused"), HERE)

    def test_a_broken_item_costs_only_itself(self) -> None:
        broken: list[Any] = [
            None,
            5,
            "pod",
            [],
            {},
            {"kind": "Pod"},
            {"kind": "Pod", "metadata": {"name": 7}},
            {"kind": "Pod", "metadata": None},
        ]
        broken += [pod("x") | {"spec": []}, pod("y") | {"status": {"containerStatuses": [{"restartCount": "many"}]}}]
        assert [p.pod for p in parse("pods", [*broken, pod("whole")])["pods"] if isinstance(p, Pod)] == ["whole"]

    def test_bytes_that_are_no_utf8_cost_one_item(self) -> None:
        page = json.dumps({"kind": "List", "items": [pod("a"), pod("b")]}).encode().replace(b'"a"', b'"\xff"')
        assert [p.pod for p in parse("pods", page)["pods"] if isinstance(p, Pod)] == ["b"]


def nulled(value: Any) -> Any:
    """The same object with null in place of every leaf, except what names it."""
    if isinstance(value, dict):
        return {key: value[key] if key in ("kind", "name") else nulled(value[key]) for key in value}
    return [nulled(each) for each in value] if isinstance(value, list) else None


EVERYTHING: list[dict[str, Any]] = [
    pod("a", gpus=1, node="gpu-01", init=[container("setup", waiting=("CrashLoopBackOff", "x"))], env={"NVIDIA_VISIBLE_DEVICES": "all"}),
    node("gpu-01", taints=[("a", "b", "NoSchedule")]),
    event(pod("a"), "Failed", "message"),
    build.job("j", gpus=1),
    build.daemonset("d"),
    build.pytorchjob("p"),
    build.pvc("c"),
    build.pv("v"),
    build.resourcequota("q", hard={"cpu": "1"}),
    build.runtimeclass("nvidia"),
]


class TestHostile:
    @pytest.mark.parametrize("shape", EVERYTHING, ids=lambda shape: str(shape["kind"]))
    def test_null_everywhere(self, shape: dict[str, Any]) -> None:
        for name in registry.PARSERS:
            if name.startswith("kubernetes.") and not registry.PARSERS[name].streams:
                registry.load(name)(answer([nulled(shape)]), HERE)

    @pytest.mark.parametrize("junk", ["x" * 10_000, -1, 2**70, 1e308, True, [[[]]], {"a": {}}])
    def test_wrong_types_anywhere(self, junk: Any) -> None:
        """Each field of each object replaced by junk in turn: facts or fewer facts, never an exception."""

        def variants(value: Any) -> list[Any]:
            made = [junk]
            if isinstance(value, dict):
                made += [value | {key: other} for key, inner in value.items() for other in variants(inner)]
            elif value and isinstance(value, list):
                made += [[other, *value[1:]] for other in variants(value[0])]
            return made

        for shape in EVERYTHING:
            damaged = [variant for variant in variants(shape) if isinstance(variant, dict)]
            for name in registry.PARSERS:
                if name.startswith("kubernetes.") and not registry.PARSERS[name].streams:
                    registry.load(name)(answer(damaged), HERE)

    def test_long_strings_are_cut_in_evidence(self) -> None:
        found = one_pod("a", unschedulable="0/1 nodes are available: " + "x" * 1_000_000)
        assert len(found.origin.text) <= 4096


class TestPods:
    def test_a_pending_pod(self) -> None:
        message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
        facts = parse(
            "pods",
            pod(
                "train-0",
                gpus=8,
                owner="Job/train",
                age="2h",
                unschedulable=message,
                node_selector={"pool": "a100"},
                tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
                claims=["data"],
                labels={"kueue.x-k8s.io/queue-name": "research"},
            ),
        )
        (found,) = facts["pods"]
        assert isinstance(found, Pod)
        assert (found.namespace, found.pod, found.node, found.phase, found.status, found.scheduled) == (
            "ml",
            "train-0",
            "",
            "Pending",
            "Pending",
            False,
        )
        assert (found.workload, found.age, found.gpus, found.gpu_resources) == ("Job/train", 7200.0, 8, ["nvidia.com/gpu"])
        assert (found.schedule_reason, found.schedule_message) == ("Unschedulable", message)
        assert found.requests == {"cpu": 4000, "memory": 16 * 2**30, "nvidia.com/gpu": 8}
        assert (found.node_selector, found.claims, found.queue_name) == ({"pool": "a100"}, ["data"], "research")
        assert found.tolerations[0] == Toleration("nvidia.com/gpu", "Exists")
        assert (found.wants_gpu_hint, found.component, found.target) == ("", "", True)
        assert found.origin.text == f"ml/train-0 Pending: {message}"
        (reason,) = facts["schedule_reasons"]
        assert (reason.subject().name, reason.origin.text) == ("ml/train-0", message)

    @pytest.mark.parametrize(
        ("fields", "status", "stuck"),
        [
            ({"node": "n"}, "Running", ""),
            ({"node": "n", "waiting": ("ImagePullBackOff", "back-off")}, "ImagePullBackOff", "main"),
            ({"node": "n", "waiting": ("ContainerCreating", "")}, "ContainerCreating", "main"),
            ({"node": "n", "terminated": ("OOMKilled", 137)}, "OOMKilled", "main"),
            ({"node": "n", "terminated": ("", 1)}, "ExitCode:1", "main"),
            ({"node": "n", "terminated": ("Completed", 0)}, "Completed", ""),
            ({"node": "n", "deleting": True}, "Terminating", ""),
            ({"node": "n", "ready": False}, "Running", "main"),
            ({"gates": ["kueue.x-k8s.io/admission"]}, "SchedulingGated", ""),
            (
                {"node": "n", "phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Allocate failed"},
                "UnexpectedAdmissionError",
                None,
            ),
            ({"node": "n", "init": [container("a", running=True), container("b")]}, "Init:0/2", "a"),
            ({"node": "n", "init": [container("a"), container("b", running=True)]}, "Init:1/2", "b"),
            ({"node": "n", "init": [container("a", waiting=("CrashLoopBackOff", "x"))]}, "Init:CrashLoopBackOff", "a"),
            ({"node": "n", "init": [container("a", terminated=("Error", 1))]}, "Init:Error", "a"),
            ({"node": "n", "init": [container("a", sidecar=True)]}, "Running", ""),
            ({"node": "n", "init": [container("a", sidecar=True)], "waiting": ("PodInitializing", "")}, "PodInitializing", "main"),
            (
                {"node": "n", "containers": [container("web"), container("gpu", waiting=("RunContainerError", "x"))]},
                "RunContainerError",
                "gpu",
            ),
            (
                {
                    "node": "n",
                    "containers": [container("a", waiting=("ContainerCreating", "")), container("b", waiting=("ErrImagePull", ""))],
                },
                "ContainerCreating",
                "b",
            ),
        ],
    )
    def test_status_as_kubectl_prints_it(self, fields: dict[str, Any], status: str, stuck: str | None) -> None:
        facts = parse("pods", pod("p", **fields))
        assert [p.status for p in facts["pods"] if isinstance(p, Pod)] == [status]
        if stuck is not None:
            assert [c.container for c in containers(facts) if c.first_not_ready] == ([stuck] if stuck else [])

    def test_containers_with_their_states(self) -> None:
        message = 'failed to get sandbox runtime: no runtime for "nvidia" is configured'
        box = container(
            "main",
            gpus=2,
            env={"CUDA_VISIBLE_DEVICES": "0", "NVIDIA_DRIVER_CAPABILITIES": "utility"},
            limits={"memory": "1Gi"},
            waiting=("RunContainerError", message),
            last=("Error", 128, "boom"),
            restarts=4,
            privileged=True,
        )
        facts = parse("pods", pod("p", node="gpu-01", containers=[box], init=[container("setup"), container("proxy", sidecar=True)]))
        setup, proxy, main = containers(facts)
        assert [(c.container, c.kind, c.state, c.exit_code) for c in (setup, proxy)] == [
            ("setup", "init", "terminated", 0),
            ("proxy", "sidecar", "running", None),
        ]
        assert (main.kind, main.state, main.reason, main.message) == ("main", "waiting", "RunContainerError", message)
        assert (main.last_reason, main.last_exit_code, main.last_message, main.restarts, main.ready) == ("Error", 128, "boom", 4, False)
        assert (main.gpus, main.memory_limit, main.cuda_visible_devices, main.visible_devices) == (2, 2**30, "0", None)
        assert (main.driver_capabilities, main.privileged, main.first_not_ready, main.node) == ("utility", True, True, "gpu-01")
        assert setup.age == 3600.0
        (known,) = facts["messages"]
        assert (known.name, known.detail, known.source) == ("no_runtime", "nvidia", "status")  # type: ignore[attr-defined]
        assert known.subject() == Subject(kind="pod", namespace="ml", pod="p", container="main", node="gpu-01")

    def test_effective_requests(self) -> None:
        def cpu(amount: str) -> dict[str, str]:
            return {"cpu": amount}

        boxes = {"containers": [container("a", requests=cpu("1")), container("b", requests=cpu("1500m"))]}
        assert one_pod("p", **boxes).requests["cpu"] == 2500
        assert one_pod("p", **boxes, init=[container("i", requests=cpu("4"))]).requests["cpu"] == 4000
        assert one_pod("p", **boxes, init=[container("i", requests=cpu("1"))]).requests["cpu"] == 2500
        sidecar_first = [container("s", requests=cpu("2"), sidecar=True), container("i", requests=cpu("3"))]
        assert one_pod("p", **boxes, init=sidecar_first).requests["cpu"] == 5000
        assert one_pod("p", **boxes, init=sidecar_first[::-1]).requests["cpu"] == 4500
        assert one_pod("p", **boxes, overhead=cpu("250m")).requests["cpu"] == 2750

    def test_a_manifest_says_what_it_asks_for_and_nothing_more(self) -> None:
        manifest = {
            "kind": "Pod",
            "metadata": {"name": "m"},
            "spec": {"containers": [{"name": "c", "image": "cuda:12", "resources": {"limits": {"nvidia.com/gpu": 1}}}]},
        }
        (found,) = parse("pods", manifest)["pods"]
        assert isinstance(found, Pod)
        assert (found.phase, found.status, found.gpus, found.age, found.scheduled) == ("", "", 1, None, False)

    def test_required_node_affinity(self) -> None:
        term = {
            "matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a100", "h100"]}],
            "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["gpu-01"]}],
        }
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, {}]}}}
        assert one_pod("p", affinity=affinity).node_affinity == [
            [Requirement("gpu", "In", ("a100", "h100")), Requirement("metadata.name", "NotIn", ("gpu-01",), field=True)]
        ]
        assert one_pod("p").node_affinity is None

    @pytest.mark.parametrize(
        ("fields", "hint"),
        [
            ({}, ""),
            ({"image": "nvcr.io/nvidia/pytorch:24.10-py3"}, "image nvcr.io/nvidia/pytorch:24.10-py3"),
            ({"image": "pytorch/pytorch:2.4-cpu"}, ""),
            ({"image": "nvcr.io/nvidia/pytorch:24.10-py3", "gpus": 1}, ""),
            ({"runtime_class": "nvidia"}, "runtimeClassName nvidia"),
            ({"env": {"NVIDIA_VISIBLE_DEVICES": "all"}}, "NVIDIA_VISIBLE_DEVICES=all"),
            ({"env": {"NVIDIA_VISIBLE_DEVICES": "void"}}, ""),
            ({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}, "tolerates nvidia.com/gpu"),
            ({"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}], "owner": "DaemonSet/logs"}, ""),
            ({"node_selector": {"nvidia.com/gpu.product": "A100"}}, "nodeSelector nvidia.com/gpu.product=A100"),
        ],
    )
    def test_why_it_should_use_a_gpu(self, fields: dict[str, Any], hint: str) -> None:
        assert one_pod("p", **fields).wants_gpu_hint == hint

    def test_the_stack_leaves_other_pods_out(self) -> None:
        facts = parse("stack", [pod("train-0", node="gpu-01"), *build.gpu_stack("gpu-01", device_plugin=("CrashLoopBackOff", "back-off"))])
        assert {p.component: (p.target, p.ready) for p in facts["pods"] if isinstance(p, Pod)} == {
            "nfd-worker": (False, True),
            "driver": (False, True),
            "container-toolkit": (False, True),
            "operator-validator": (False, True),
            "device-plugin": (False, False),
            "gpu-feature-discovery": (False, True),
            "dcgm-exporter": (False, True),
        }
        assert {c.component for c in containers(facts) if c.first_not_ready} == {"device-plugin"}
        assert not any(c.target for c in containers(facts))


class TestNodes:
    def one(self, *args: Any, **fields: Any) -> Node:
        (found,) = parse("nodes", node(*args, **fields))["nodes"]
        assert isinstance(found, Node)
        return found

    def test_what_it_offers_and_refuses(self) -> None:
        found = self.one(
            "gpu-01", gpus=8, allocatable_gpus=7, gpu_label_count=8, taints=[("nvidia.com/gpu", "present", "NoSchedule")], cordoned=True
        )
        assert (found.gpus_capacity, found.gpus_allocatable, found.gpus_expected, found.gpu_present) == (8, 7, 8, True)
        assert found.taints[0] == Taint("nvidia.com/gpu", "present", "NoSchedule")
        assert found.taint_keys == ["nvidia.com/gpu", "node.kubernetes.io/unschedulable"]
        assert (found.unschedulable, found.ready, found.gpu_resources) == (True, True, ["nvidia.com/gpu"])
        assert "nvidia.com/gpu 7 of 8, cordoned, taints nvidia.com/gpu=present:NoSchedule" in found.origin.text

    def test_not_ready_in_both_ways(self) -> None:
        assert self.one("a", ready=False).ready is False
        assert self.one("a", ready=None).ready is False  # Unknown: the kubelet has stopped reporting
        assert self.one("a", pressure=["DiskPressure"]).pressure == ["DiskPressure"]

    def test_a_lost_plugin_leaves_the_name_behind(self) -> None:
        found = self.one("gpu-01", gpus=0, resources={"nvidia.com/gpu": ("0", "0")}, labels={})
        assert (found.gpus_capacity, found.gpu_resources, found.gpu_present) == (0, ["nvidia.com/gpu"], True)

    def test_shared_and_cut_gpus(self) -> None:
        labels = {"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}
        shared = self.one("a", gpus=8, gpu_resource="nvidia.com/gpu.shared", labels=labels)
        assert (shared.gpus_expected, shared.gpu_resources) == (8, ["nvidia.com/gpu.shared"])
        mixed = self.one(
            "a", gpus=0, resources={"nvidia.com/mig-1g.10gb": ("7", "7")}, labels={**labels, "nvidia.com/mig.strategy": "mixed"}
        )
        assert (mixed.gpus_capacity, mixed.gpus_expected) == (7, None)

    def test_a_node_without_status(self) -> None:
        (bare,) = parse("nodes", {"kind": "Node", "metadata": {"name": "new"}})["nodes"]
        assert isinstance(bare, Node)
        assert (bare.ready, bare.gaps) == (None, {"ready": "no Ready condition"})


class TestUsage:
    def usage(self, *pages: Output) -> list[Fact]:
        return registry.load("kubernetes.usage")(iter(pages), HERE)["node_usage"]  # type: ignore[arg-type]

    def test_sums_over_pages(self) -> None:
        first = answer([pod("a", gpus=4, node="gpu-01"), pod("done", gpus=8, node="gpu-01", phase="Succeeded"), pod("waits", gpus=8)])
        second = answer([pod("b", gpus=1, node="gpu-01", init=[container("i", gpus=2)]), pod("c", node="cpu-01")])
        gpu, cpu = self.usage(first, second)
        assert (gpu.node, gpu.pods, gpu.requested["nvidia.com/gpu"], gpu.requested["cpu"]) == ("gpu-01", 2, 6, 8000)  # type: ignore[attr-defined]
        assert gpu.gpu_holders == ["ml/a (4)", "ml/b (2)"]  # type: ignore[attr-defined]
        assert (cpu.node, cpu.gpu_holders) == ("cpu-01", [])  # type: ignore[attr-defined]

    def test_a_list_that_breaks_off_is_no_list(self) -> None:
        with pytest.raises(ParseError, match="not complete: the body ended early"):
            self.usage(answer([pod("a", node="n")]), answer(failure="broken", reason="the body ended early"))
        with pytest.raises(ParseError):
            self.usage(answer([pod("a", node="n")]), answer(b'{"items": [{'))

    def test_no_pods(self) -> None:
        assert self.usage(answer([])) == []


class TestEvents:
    def one(self, *args: Any, **fields: Any) -> Event:
        (found,) = parse("events", event(*args, **fields))["events"]
        assert isinstance(found, Event)
        return found

    def test_the_involved_object(self) -> None:
        on_pod = self.one(pod("a", node="gpu-01"), "FailedMount", "x", age="5m", count=3, host="gpu-01")
        assert (on_pod.namespace, on_pod.pod, on_pod.node, on_pod.workload) == ("ml", "a", "gpu-01", "")
        assert (on_pod.reason, on_pod.count, on_pod.age, on_pod.component) == ("FailedMount", 3, 300.0, "kubelet")
        on_job = self.one(build.job("train"), "FailedCreate", "x", component="job-controller")
        assert (on_job.pod, on_job.workload, on_job.subject().kind) == ("", "Job/train", "workload")
        on_node = self.one(node("gpu-01"), "NodeNotReady", "x", component="node-controller")
        assert (on_node.node, on_node.namespace, on_node.subject()) == ("gpu-01", "", Subject(kind="node", node="gpu-01"))

    def test_the_newer_shape(self) -> None:
        newer = {
            "kind": "Event",
            "apiVersion": "events.k8s.io/v1",
            "metadata": {"name": "e", "namespace": "ml"},
            "regarding": {"kind": "Pod", "namespace": "ml", "name": "a"},
            "note": "0/2 nodes are available: 2 Too many pods.",
            "reason": "FailedScheduling",
            "type": "Warning",
            "eventTime": "2026-03-01T11:00:00.123456Z",
            "series": {"count": 9, "lastObservedTime": "2026-03-01T11:59:00.000000Z"},
            "reportingController": "default-scheduler",
        }
        facts = parse("events", newer)
        (found,) = facts["events"]
        assert isinstance(found, Event)
        assert (found.pod, found.count, found.age, found.component, found.type) == ("a", 9, 60.0, "default-scheduler", "Warning")
        assert [(r.pod, r.reason, r.count) for r in facts["schedule_reasons"]] == [("a", "too_many_pods", 2)]  # type: ignore[attr-defined]

    def test_only_the_newest_scheduling_event_of_a_pod_counts(self) -> None:
        old = event(pod("a"), "FailedScheduling", "0/2 nodes are available: 2 Insufficient cpu.", age="1h", component="default-scheduler")
        new = event(
            pod("a"), "FailedScheduling", "0/3 nodes are available: 3 node(s) were unschedulable.", age="1m", component="default-scheduler"
        )
        other = event(pod("b"), "BackOff", "0/3 nodes are available: 3 Insufficient cpu.")
        for order in ([old, new, other], [new, other, old]):
            assert [(r.pod, r.reason) for r in parse("events", order)["schedule_reasons"]] == [("a", "unschedulable")]  # type: ignore[attr-defined]

    def test_known_messages_name_the_container_and_fold(self) -> None:
        said = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'
        first = event(
            pod("nvidia-device-plugin-daemonset-x2c4v", "gpu-operator", node="gpu-01"),
            "FailedCreatePodSandBox",
            said,
            count=5,
            host="gpu-01",
            age="3m",
        )
        first["involvedObject"]["fieldPath"] = "spec.initContainers{toolkit-validation}"
        second = json.loads(json.dumps(first)) | {"count": 2, "metadata": {"name": "again", "namespace": "gpu-operator"}}
        (known,) = parse("events", [first, second])["messages"]
        assert (known.name, known.count, known.source) == ("no_runtime", 7, "event")  # type: ignore[attr-defined]
        subject = known.subject()
        assert (subject.container, subject.component, subject.node) == ("toolkit-validation", "device-plugin", "gpu-01")


class TestWorkloads:
    def one(self, shape: dict[str, Any]) -> Workload:
        (found,) = parse("workloads", shape)["workloads"]
        assert isinstance(found, Workload)
        return found

    def test_a_daemonset(self) -> None:
        found = self.one(build.daemonset("nvidia-device-plugin-daemonset", desired=4, current=4, ready=2, updated=3))
        assert (found.workload, found.component) == ("DaemonSet/nvidia-device-plugin-daemonset", "device-plugin")
        assert (found.desired, found.current, found.ready, found.updated) == (4, 4, 2, 3)
        assert found.selector == "app=nvidia-device-plugin-daemonset"
        none_wanted = self.one(build.daemonset("d", desired=0))
        assert (none_wanted.desired, none_wanted.current) == (0, 0)

    def test_a_job(self) -> None:
        found = self.one(build.job("train", parallelism=4, active=2, gpus=8, queue="research", node_selector={"pool": "a"}))
        assert (found.kind, found.suspended, found.desired, found.current) == ("Job", False, 4, 2)
        assert (found.gpus, found.queue_name, found.node_selector) == (8, "research", {"pool": "a"})
        assert "train" in found.selector or "controller-uid" in found.selector
        assert self.one(build.job("later", suspend=True)).suspended

    def test_a_deployment_and_its_replicaset(self) -> None:
        found = self.one(build.deployment("web", replicas=3, ready=1))
        assert (found.desired, found.ready) == (3, 1)
        why = 'pods "web-1" is forbidden: exceeded quota: team-a, requested: requests.nvidia.com/gpu=8'
        facts = parse("workloads", build.replicaset("web-5d4f8c7b9", owner="Deployment/web", failure=why))
        (fact,) = facts["workloads"]
        assert isinstance(fact, Workload)
        assert fact.owner == "Deployment/web"
        assert fact.conditions["ReplicaFailure=True"] == why
        (known,) = facts["messages"]
        assert (known.name, known.detail, known.subject().name) == ("quota", "team-a", "ml/ReplicaSet/web-5d4f8c7b9")  # type: ignore[attr-defined]

    def test_a_pytorchjob(self) -> None:
        template = {"spec": {"containers": [{"name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
        shape = {
            "kind": "PyTorchJob",
            "apiVersion": "kubeflow.org/v1",
            "metadata": {"name": "train", "namespace": "ml"},
            "spec": {
                "runPolicy": {"suspend": True},
                "pytorchReplicaSpecs": {"Master": {"template": template}, "Worker": {"replicas": 3, "template": template}},
            },
            "status": {"replicaStatuses": {"Worker": {"active": 2}}},
        }
        found = self.one(shape)
        assert (found.workload, found.desired, found.current, found.gpus, found.suspended) == ("PyTorchJob/train", 4, 2, 8, True)
        assert found.selector == "training.kubeflow.org/job-name=train"

    @pytest.mark.parametrize(
        ("kind", "spec", "desired", "selector"),
        [
            (
                "RayCluster",
                {"headGroupSpec": {"template": {"spec": {}}}, "workerGroupSpecs": [{"replicas": 2, "template": {"spec": {}}}]},
                3,
                "ray.io/cluster=w",
            ),
            (
                "JobSet",
                {"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": {}}}}}]},
                6,
                "jobset.sigs.k8s.io/jobset-name=w",
            ),
            (
                "LeaderWorkerSet",
                {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": {"spec": {}}}},
                8,
                "leaderworkerset.sigs.k8s.io/name=w",
            ),
            ("CronJob", {"jobTemplate": {"spec": {"template": {"spec": {}}}}}, None, ""),
            ("Grid", {"replicas": 5, "template": {"spec": {}}}, 5, ""),
        ],
    )
    def test_other_kinds(self, kind: str, spec: dict[str, Any], desired: int | None, selector: str) -> None:
        found = self.one({"kind": kind, "apiVersion": "x/v1", "metadata": {"name": "w", "namespace": "ml"}, "spec": spec})
        assert (found.desired, found.selector) == (desired, selector)

    def test_a_volcano_job_and_a_typed_list(self) -> None:
        item = {"metadata": {"name": "v"}, "spec": {"queue": "q", "tasks": [{"replicas": 2, "template": {"spec": {}}}]}}
        found = self.one({"kind": "JobList", "apiVersion": "batch.volcano.sh/v1alpha1", "items": [item]})
        assert (found.workload, found.selector, found.queue_name, found.desired) == ("Job/v", "volcano.sh/job-name=v", "q", 2)

    def test_a_kueue_workload(self) -> None:
        waits = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 8 more needed"
        shape = {
            "kind": "Workload",
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "metadata": {
                "name": "job-train-1a2b3",
                "namespace": "ml",
                "ownerReferences": [{"kind": "Job", "name": "train", "controller": True}],
            },
            "spec": {"queueName": "research", "active": False, "podSets": [{"name": "main", "count": 2, "template": {"spec": {}}}]},
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": waits}]},
        }
        found = self.one(shape)
        assert (found.owner, found.queue_name, found.suspended, found.desired) == ("Job/train", "research", True, 2)
        assert found.conditions == {"QuotaReserved=False": waits}


class TestSmallObjects:
    def test_claims_and_volumes(self) -> None:
        (claim,) = parse("claims", build.pvc("data"))["claims"]
        assert (claim.claim, claim.namespace) == ("data", "ml")  # type: ignore[attr-defined]
        term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}
        shape = {
            "kind": "PersistentVolume",
            "metadata": {"name": "v"},
            "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}},
        }
        (volume,) = parse("volumes", shape)["volumes"]
        assert volume.node_affinity == [[Requirement("topology.kubernetes.io/zone", "In", ("a",))]]  # type: ignore[attr-defined]

    def test_quotas(self) -> None:
        shape = {
            "kind": "ResourceQuota",
            "metadata": {"name": "team", "namespace": "ml"},
            "status": {
                "hard": {"requests.nvidia.com/gpu": "8", "requests.cpu": "10", "odd": "?"},
                "used": {"requests.nvidia.com/gpu": "6"},
            },
        }
        found = parse("quotas", shape)["quotas"]
        assert {(q.resource, q.hard, q.used) for q in found} == {("requests.nvidia.com/gpu", 8, 6), ("requests.cpu", 10000, 0)}  # type: ignore[attr-defined]

    def test_storage_classes(self) -> None:
        (found,) = parse("storage_classes", {"kind": "StorageClass", "metadata": {"name": "fast"}})["storage_classes"]
        assert found.storage_class == "fast"  # type: ignore[attr-defined]

    def test_runtime_classes(self) -> None:
        (found,) = parse("runtime_classes", {"kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"})[
            "runtime_classes"
        ]
        assert (found.runtime_class, found.handler) == ("nvidia", "nvidia")  # type: ignore[attr-defined]


def test_a_config_map_of_nested_merge_keys_is_passed_over() -> None:
    names = ", ".join(["*a{0}"] * 9)
    lines = ["version: v1", "flags: {}", "a0: &a0 {k: v}"]
    lines += [f"a{number}: &a{number}\n  <<: [{names.format(number - 1)}]" for number in range(1, 40)]
    item = {"kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ml"}, "data": {"config": "\n".join(lines)}}
    started = time.monotonic()
    assert parse("stack_configs", item) == {"stack_configs": []}
    assert time.monotonic() - started < 10
