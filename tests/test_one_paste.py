# ruff: noqa: E501 - what is pasted has long lines
"""Answers of several tools in one paste, one below the other, with no prompt and no blank line between: each is read, whatever the others are."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from tests.pasted import diagnosed

SMI = """\
Tue Mar  3 10:12:44 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.133.20             Driver Version: 570.133.20     CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                    0 |
| N/A   31C    P0             71W /  700W |       1MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""
NODES = """\
NAME     STATUS   ROLES           AGE   VERSION
cp-01    Ready    control-plane   80d   v1.31.4
gpu-21   Ready    <none>          80d   v1.31.4
"""
LINKS = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5c1b7b8e-0000-1111-2222-333344445555)
\t Link 0: 26.562 GB/s
\t Link 1: 26.562 GB/s
"""
# What is wrong, and the cause of it
ILL = {
    "an Xid": (
        "gpu-fallen-off-bus",
        "[Tue Mar  3 10:01:12 2026] NVRM: Xid (PCI:0000:5d:00): 79, pid=4411, name=python, GPU has fallen off the bus.\n",
    ),
    "a GPU that the driver lost": (
        "gpu-fallen-off-bus",
        """\
[  911.204411] NVRM: GPU at PCI:0000:5d:00: GPU-77aa0c1e-1111-2222-3333-444455556666
[  911.204436] NVRM: GPU 0000:5d:00.0: GPU has fallen off the bus.
""",
    ),
    "nodes of Slurm": (
        "slurmd-not-running",
        """\
PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
gpu*         up   infinite      1  down* gpu-14
gpu*         up   infinite      3   idle gpu-[11-13]
""",
    ),
    "a program": (
        "cuda-oom-model-too-large",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.02 GiB is free. Of the allocated memory 76.90 GiB is allocated by PyTorch, and 310.00 MiB is reserved by PyTorch but unallocated.\n",
    ),
}
SOUND = {"nvidia-smi": SMI, "kubectl get nodes": NODES, "nvidia-smi nvlink": LINKS}


@pytest.mark.parametrize("sound", SOUND)
@pytest.mark.parametrize("ill", ILL)
def test_what_is_wrong_beside_what_is_sound(ill: str, sound: str, tmp_path: Path) -> None:
    cause, text = ILL[ill]
    for order in ((text, SOUND[sound]), (SOUND[sound], text)):
        report = diagnosed(tmp_path, "".join(order))
        assert cause in [one.cause for one in report.findings], order[0]
        assert report.verdict == "problem"


@pytest.mark.parametrize("names", [*permutations(SOUND, 2)])
def test_sound_ones_alarm_nobody(names: tuple[str, str], tmp_path: Path) -> None:
    report = diagnosed(tmp_path, "".join(SOUND[name] for name in names))
    assert [one.cause for one in report.findings if one.severity != "info"] == []


def test_an_event_ends_where_a_table_begins(tmp_path: Path) -> None:
    said = (
        "0/2 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 1 Insufficient nvidia.com/gpu."
    )
    for line in (f"Warning  FailedScheduling  2m  default-scheduler  {said}", said):
        (tmp_path / "pasted.txt").write_text(f"{line}\n{NODES}")
        facts = gather([str(tmp_path / "pasted.txt")]).facts
        assert sorted(one.reason for one in facts["schedule_reasons"]) == ["insufficient", "taint"]
        assert [one.node for one in facts["nodes"]] == ["cp-01", "gpu-21"]
        assert not any("gpu-21" in one.message for one in facts.get("events", ()))
