"""The builders."""

from __future__ import annotations

import pytest

from tests.kube.objects import cluster, container, gpu_stack, pod


def test_container_states_follow_the_start_order() -> None:
    waits = pod("p", node="n", init=[container("first"), container("second", running=True), container("third")])
    states = [next(iter(each["state"])) for each in waits["status"]["initContainerStatuses"]]
    assert states == ["terminated", "running", "waiting"]
    assert waits["status"]["phase"] == "Pending"
    assert waits["status"]["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert pod("p", node="n", waiting=("ImagePullBackOff", "Back-off"))["status"]["phase"] == "Pending"
    assert pod("p", node="n", waiting=("CrashLoopBackOff", "back-off"), restarts=3)["status"]["phase"] == "Running"
    assert pod("p", node="n", terminated=("Error", 1))["status"]["phase"] == "Failed"
    assert pod("p", node="n", terminated=("Completed", 0))["status"]["phase"] == "Succeeded"
    assert "containerStatuses" not in pod("p")["status"]


def test_daemonsets_of_several_calls_are_added_up() -> None:
    made = cluster([gpu_stack("gpu-01"), gpu_stack("gpu-02", device_plugin=None), gpu_stack("gpu-03", device_plugin=("ErrImagePull", ""))])
    [plugin] = [
        each for each in made["objects"] if each["kind"] == "DaemonSet" and each["metadata"]["name"] == "nvidia-device-plugin-daemonset"
    ]
    status = plugin["status"]
    assert [status[field] for field in ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")] == [3, 2, 1]


def test_an_unknown_operand_is_named() -> None:
    with pytest.raises(TypeError, match="no such operand: plugin; there are nfd_worker, driver"):
        gpu_stack("gpu-01", plugin=None)
