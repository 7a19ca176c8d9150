"""The order of the GPU stack: where does it stop on each node?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpudoctor import registry
from gpudoctor.derive import load
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.scheduling import StackPart
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import messages
from tests.kube.objects import container, gpu_stack, pod, stack_pod
from tests.kube.shapes import NOW


@pytest.fixture(autouse=True)
def no_known_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order doesn't depend on messages."""
    monkeypatch.setattr(messages, "scanner", lambda: messages.compile_scanner([]))


def order(*objects: Any) -> list[StackPart]:
    page = json.dumps({"kind": "List", "items": [one for each in objects for one in ([each] if isinstance(each, dict) else each)]}).encode()
    facts: Facts = registry.load("kubernetes.stack")(Output(Command(("kubectl",)), pages=(page,), time=NOW.timestamp()), Subject("cluster"))
    return [row for row in load("stack.order")(facts, {}, 0.0)["stack"] if isinstance(row, StackPart)]


def first(rows: list[StackPart]) -> list[tuple[str, str]]:
    return [(row.node, row.component) for row in rows if row.first_not_ready]


def test_a_healthy_stack_in_the_order_of_its_parts() -> None:
    rows = order(gpu_stack("gpu-01"), pod("train-0", node="gpu-01"))
    assert [row.component for row in rows] == [
        "nfd-worker",
        "driver",
        "container-toolkit",
        "gpu-feature-discovery",
        "device-plugin",
        "dcgm-exporter",
        "operator-validator",
    ]
    assert all(row.ready and row.present and not row.waiting for row in rows)
    assert first(rows) == []
    assert [row.order for row in rows] == sorted(row.order for row in rows)


WAIT = "waits"
REST: dict[str, Any] = {"device_plugin": WAIT, "gpu_feature_discovery": WAIT, "dcgm_exporter": WAIT, "operator_validator": WAIT}


def test_the_part_with_an_error_comes_before_those_that_wait() -> None:
    rows = order(gpu_stack("gpu-01", driver=("CrashLoopBackOff", "back-off"), container_toolkit=WAIT, **REST), gpu_stack("gpu-02"))
    assert first(rows) == [("gpu-01", "driver")]
    assert {row.component for row in rows if row.waiting} == {
        "container-toolkit",
        "device-plugin",
        "gpu-feature-discovery",
        "dcgm-exporter",
        "operator-validator",
    }
    assert all(row.status == "Init:0/1" for row in rows if row.component == "device-plugin" and row.node == "gpu-01")


def test_a_later_part_with_an_error_comes_before_an_earlier_one_that_waits() -> None:
    failing = {"init": {"toolkit-validation": {"waiting": ("CrashLoopBackOff", "back-off")}}}
    rows = order(gpu_stack("gpu-01", **{**REST, "operator_validator": failing}))
    assert first(rows) == [("gpu-01", "operator-validator")]


def test_a_part_that_restarts_with_an_error_does_not_merely_wait() -> None:
    again = {"init": {"driver-validation": {"running": True, "restarts": 3, "last": ("Error", 1)}}}
    rows = order(gpu_stack("gpu-01", container_toolkit=again, **REST))
    assert first(rows) == [("gpu-01", "container-toolkit")]
    rebooted = {"init": {"toolkit-validation": {"running": True, "restarts": 1, "last": ("Unknown", 255)}}}
    rows = order(gpu_stack("gpu-01", **{**REST, "device_plugin": rebooted}))
    assert {row.component for row in rows if row.waiting} >= {"device-plugin"}


def test_where_all_wait_the_one_without_its_predecessor_is_first() -> None:
    rows = order(gpu_stack("gpu-01", driver=None, container_toolkit=WAIT, **REST))
    assert first(rows) == [("gpu-01", "container-toolkit")]
    absent = [row for row in rows if not row.present]
    assert [row.component for row in absent] == ["driver"]
    assert not any(row.ready or row.first_not_ready or row.pod for row in absent)


def test_a_pod_that_is_not_placed_and_one_that_has_ended() -> None:
    rows = order(pod("nvidia-cuda-validator-x", "gpu-operator", node="gpu-01", owner="ClusterPolicy/x", terminated=("Completed", 0)))
    assert [(row.component, row.ready) for row in rows] == [("cuda-validator", True)]
    rows = order(pod("nvidia-device-plugin-daemonset-x", "gpu-operator", unschedulable="0/1 nodes are available: 1 Insufficient cpu."))
    assert first(rows) == [("", "device-plugin")]


def test_the_same_pod_read_twice_is_one_row() -> None:
    one = stack_pod("driver", "gpu-01")
    assert len(order(one, one)) == 1


def test_no_facts_give_no_rows() -> None:
    assert load("stack.order")({}, {}, 0.0) == {"stack": []}
    assert order(pod("a", node="n", containers=[container("b", waiting=("CrashLoopBackOff", ""))])) == []
