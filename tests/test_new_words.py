"""A status word that nobody here knows is carried on as it stands, and never called healthy; an answer that breaks off isn't whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import Gathered, gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.tools.common.ends import cut_off
from tests.trust.sound import texts

SOUND = texts()
# text, what stands there, what stands there instead, fact type, field, value; "" where the record isn't read at all
WORDS = (
    ("scontrol-job.txt", "JobState=RUNNING", "JobState=ADRIFT", "slurm_jobs", "state", "ADRIFT"),
    ("squeue.txt", "mara  R ", "mara  QX", "slurm_jobs", "state", "QX"),
    ("sacct.txt", "COMPLETED      0:0", "   ADRIFT      0:0", "slurm_jobs", "state", "ADRIFT"),
    ("scontrol-node.txt", "State=MIXED", "State=MIXED+ADRIFT", "slurm_nodes", "shown", "MIXED+ADRIFT"),
    ("sinfo.txt", "  mix ", "adrft ", "slurm_nodes", "shown", "adrft"),
    ("pod.json", '"phase": "Running"', '"phase": "Adrift"', "pods", "phase", "Adrift"),
    ("pod.yaml", "phase: Running", "phase: Adrift", "pods", "phase", "Adrift"),
    ("describe-pod.txt", "Status:           Running", "Status:           Adrift", "pods", "phase", "Adrift"),
    ("get-pods.txt", "1/1     Running ", "0/1     Adrift  ", "pods", "status", "Adrift"),
    ("get-pvc.txt", "Bound ", "Adrift", "claims", "phase", "Adrift"),
    ("get-job.txt", "Complete ", "Adrift   ", "workloads", "status", "Adrift"),
    ("ibstat.txt", "State: Active", "State: Adrift", "ib_ports", "state", "Adrift"),
    ("ibstat.txt", "Physical state: LinkUp", "Physical state: Adrift", "ib_ports", "physical", "Adrift"),
    ("ibstatus.txt", "4: ACTIVE", "9: ADRIFT", "ib_ports", "state", "ADRIFT"),
    ("ibv_devinfo.txt", "PORT_ACTIVE (4)", "PORT_ADRIFT (9)", "ib_ports", "state", "PORT_ADRIFT"),
    ("iblinkinfo.txt", "Active/  LinkUp", "Adrift/  LinkUp", "ib_ports", "state", "Adrift"),
    ("systemctl-status.txt", "active (running)", "adrift (running)", "units", "active", "adrift"),
    ("systemctl-list-units.txt", "loaded active running", "loaded adrift running", "units", "active", "adrift"),
    (
        "h100.txt",
        "Recovery Action                   : None",
        "Recovery Action                   : Adrift",
        "gpus",
        "recovery_action",
        "adrift",
    ),
    (
        "h100.txt",
        "State                             : Completed",
        "State                             : Adrift",
        "gpus",
        "fabric_state",
        "Adrift",
    ),
    ("diag-4.txt", "GPU0: Pass", "GPU0: Adrf", "dcgm_tests", "status", "adrf"),
    ("diag-4.json", '"Pass"', '"Adrift"', "dcgm_tests", "status", "adrift"),
    ("topo-p2p.txt", "OK", "ZZ", "gpu_paths", "path", "ZZ"),
    ("nvlink-s.txt", "26.562 GB/s", "<adrift>", "nvlinks", "state", "adrift"),
    ("dcgmi-nvlink-s.txt", "U U", "U Q", "nvlinks", "state", "Q"),
)
# parser, text, what the last lines are cut at
CUT = (
    ("nvidia.smi", "h100-table.txt", "|  No running"),
    ("nvidia.smi", "h100.txt", "    Processes"),
    ("nvidia.smi", "query-gpu.csv", "0, GPU-"),
    ("dcgm.diag", "diag-4.txt", "+-----  Hardware"),
    ("dcgm.health", "dcgmi-health-box.txt", "+---------------------------+-------"),
    ("kubectl.describe", "describe-pod.txt", "Events:"),
    ("kubectl.describe", "describe-node.txt", "Allocated resources"),
    ("kubectl.get", "get-pods.txt", "train-worker-0"),
    ("linux.df", "df.txt", "/dev/nvme0n1p2"),
    ("collective.tests", "nccl-tests.txt", "# Avg bus"),
    ("infiniband.perfquery", "perfquery.txt", "LinkErrorRecoveryCounter"),
    ("infiniband.perfquery", "perfquery-x.txt", "LinkErrorRecoveryCounter"),
    ("infiniband.ports", "ibstat.txt", "\t\tPort GUID: 0xa088c20300a1b2d2"),
)


def read(path: Path, text: str) -> tuple[Gathered, str]:
    """What is made of a text, and the verdict over it."""
    path.write_text(text)
    given = gather([str(path)])
    return given, analyze(library(), given.facts, given.inputs, given.now).verdict


@pytest.mark.parametrize(("name", "there", "instead", "kind", "field", "value"), WORDS)
def test_a_new_word_is_carried_on_and_is_not_healthy(
    tmp_path: Path, name: str, there: str, instead: str, kind: str, field: str, value: str
) -> None:
    assert there in SOUND[name]
    given, verdict = read(tmp_path / name, SOUND[name].replace(there, instead, 1))
    assert value in [getattr(record, field) for record in given.facts[kind]]
    assert verdict != "healthy"


@pytest.mark.parametrize(("parser", "name", "at"), CUT)
def test_an_answer_that_breaks_off_is_not_whole(tmp_path: Path, parser: str, name: str, at: str) -> None:
    text = SOUND[name]
    assert cut_off(parser, text) == ""
    given, verdict = read(tmp_path / name, text[: text.rindex(at)])
    assert any("cut off after" in one.note for one in given.inputs), given.inputs
    assert verdict != "healthy"


def test_nothing_is_said_of_the_end_of_what_has_none() -> None:
    assert cut_off("logs.text", "+----+\n| a") == ""
    assert cut_off("dcgm.diag", "") == ""
    # a table of Markdown below a box has no edges
    assert cut_off("dcgm.health", "+----+\n| a  |\n+----+\n\n| a | b |\n|---|---|\n| 1 | 2 |\n") == ""


def test_fewer_gpus_than_are_attached_are_not_all(tmp_path: Path) -> None:
    text = SOUND["geforce.txt"].replace("Attached GPUs                             : 1", "Attached GPUs                             : 8")
    given, verdict = read(tmp_path / "smi.txt", text)
    assert given.inputs[0].note.endswith("nvidia-smi shows 1 of the 8 GPUs that are attached")
    assert verdict == "inconclusive"


def test_a_card_that_retires_no_page_has_retired_none(tmp_path: Path) -> None:
    rows = [f"GPU-1, {address}, {cause} Bit ECC" for address, cause in (("[N/A]", "Single"), ("[N/A]", "Double"), ("0x1F", "Double"))]
    heading = "gpu_uuid, retired_pages.address, retired_pages.cause"
    none, _ = read(tmp_path / "none.csv", "\n".join([heading, *rows[:2], ""]))
    one, _ = read(tmp_path / "one.csv", "\n".join([heading, *rows, ""]))
    assert [getattr(gpu, "retired_double", None) for gpu in none.facts.get("gpus", [])] == []
    assert [getattr(gpu, "retired_double", None) for gpu in one.facts["gpus"]] == [1]


def test_the_worse_of_two_readings_of_a_gpu_counts(tmp_path: Path) -> None:
    worse = SOUND["h100.txt"].replace("Remapping Failure Occurred        : No", "Remapping Failure Occurred        : Yes", 1)
    given, verdict = read(tmp_path / "both.txt", SOUND["h100.xml"] + "\n" + worse)
    assert [gpu.remap_failed for gpu in given.facts["gpus"]] == [True, *[False] * 7]  # type: ignore[attr-defined]
    assert verdict == "problem"
