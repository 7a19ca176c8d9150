"""What a person pastes in which one line or block says two things: the reason speaks, and a failure before a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.report import Report
from tests.nodes import dcgmi
from tests.pasted import diagnosed

OCI = (
    "Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container "
    "process: error during container init: error running prestart hook #0: exit status 1, stdout: , stderr: "
)
# text → the first root cause
REASONS = {
    OCI + "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown\n": "driver-not-loaded",
    OCI + "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your driver to a newer version, "
    "or use an earlier cuda container: unknown\n": "cuda-driver-too-old",
    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: "
    'no runtime for "nvidia" is configured\n': "nvidia-runtime-not-configured",
    'MountVolume.SetUp failed for volume "data" : rpc error: code = Internal desc = mount failed: exit status 32: mount.nfs: '
    "Connection timed out\n": "shared-filesystem-hang",
    """\
slurmstepd: pyxis: importing docker image: registry.example/ml:1
slurmstepd: error: pyxis: child 4711 failed with error code: 1
slurmstepd: error: pyxis: failed to import docker image
slurmstepd: error: pyxis: printing enroot log file:
slurmstepd: error: pyxis:     mkdir: cannot create directory '/run/enroot/user-1007': Permission denied
slurmstepd: error: pyxis: couldn't start container
srun: error: gpu-04: task 0: Exited with exit code 1
""": "enroot-runtime-path-not-writable",
}


def roots(report: Report) -> list[str]:
    return [one.cause for one in report.findings if one.role == "root"]


@pytest.mark.parametrize("text", REASONS)
def test_the_reason_speaks_and_not_what_wraps_it(tmp_path: Path, text: str) -> None:
    assert roots(diagnosed(tmp_path, text)) == [REASONS[text]]


def test_an_import_that_fails_for_the_registry_is_still_one(tmp_path: Path) -> None:
    said = ["failed to import docker image", "    [ERROR] URL https://registry.example/v2/ returned error code: 401 Unauthorized"]
    text = "".join(f"slurmstepd: error: pyxis: {line}\n" for line in said)
    assert roots(diagnosed(tmp_path, text)) == ["image-pull-failed"]


# NCCL 2.21 and later: async events of a queue pair; an older one; the completion at the other end
QUEUE_PAIRS = [
    "mlx5_4:1 async fatal event on QP (0x7f20c4): local access violation work queue error",
    "mlx5_4:1 async fatal event on QP (0x7f20c4): invalid request local work queue error",
    "Got async event : local access violation work queue error",
    "Got completion from peer 10.0.3.9<41822> with status=IBV_WC_REM_ACCESS_ERR(10) opcode=0 len=0 vendor err 136 (Send)",
]


@pytest.mark.parametrize("text", QUEUE_PAIRS)
def test_a_queue_pair_that_was_refused_is_no_broken_port(tmp_path: Path, text: str) -> None:
    report = diagnosed(tmp_path, f"gpu-03:311:902 [1] transport/net_ib.cc:180 NCCL WARN NET/IB : {text}\n")
    assert report.verdict == "inconclusive"
    assert report.findings == []
    assert {one.cause for one in report.candidates} == {"p2p-acs-iommu", "peer-rank-died"}


def test_a_fatal_event_of_the_device_still_is_one(tmp_path: Path) -> None:
    text = "gpu-03:311:902 [1] transport/net_ib.cc:160 NCCL WARN NET/IB : mlx5_4:1 async fatal event: local catastrophic error\n"
    assert roots(diagnosed(tmp_path, text)) == ["ib-link-or-hca-fault"]


def test_a_failed_test_comes_before_a_warning_wherever_it_stands(tmp_path: Path) -> None:
    width = "GPU 0 is running at PCI link width 8X, which is below the minimum allowed link width of 16 (parameter: minimum_pcie_width)"
    broken = "GPU 1: an unknown unit gave a wrong answer"
    warns = ("pcie", {0: "Warn", 1: "Pass"}, [(0, width, 37, 4)])
    fails = ("memory", {0: "Pass", 1: "Fail"}, [(1, broken, 9999, 2)])
    for tests in ({"Deployment": [warns], "Hardware": [fails]}, {"Deployment": [fails], "Hardware": [warns]}):
        report = diagnosed(tmp_path, dcgmi.diag_4(tests))
        assert [one.cause for one in report.findings] == ["dcgm-diag-failed", "pcie-link-degraded"]


NODES = "NAME   STATUS     ROLES    AGE   VERSION\nw3     Ready      <none>   44d   v1.31.2\nw9     {}   <none>   44d   v1.31.2\n"


def test_a_node_and_the_pod_that_waits_for_it(tmp_path: Path) -> None:
    """The node is the cause; the pod's wait for it is the same thing, seen from afar."""
    taint = "2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }."
    waits = f"Warning  FailedScheduling  9m  default-scheduler  0/2 nodes are available: {taint}\n"
    report = diagnosed(tmp_path, NODES.format("NotReady"), waits)
    assert [(one.cause, one.role) for one in report.findings][:1] == [("node-down", "root")]
    assert [one.role for one in report.findings if one.cause == "node-down"].count("root") == 1
