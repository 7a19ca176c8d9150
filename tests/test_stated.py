"""What people say, in a sentence or in a table of their own, finds at most what is possible; what a tool has printed decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpudoctor.derive import run_derivation
from gpudoctor.engine.store import Store
from gpudoctor.facts.gpu import Gpu, GpuSample
from gpudoctor.facts.kernel import Xid
from gpudoctor.report import Report
from gpudoctor.runbook.conditions import fields
from tests.engine_fakes import facts, fake_parsers, run
from tests.pasted import diagnosed

__all__ = ["fake_parsers"]

POD = {"pod": "train-0", "namespace": "ml", "node": "gpu-01", "phase": "Failed"}
STEP = """\
- id: pods
  title: Read the pods
  run: [kubectl, get, pods]
  parse: test.pods
  checks:
    - {{id: sick, each: pod in pods, finds: sick-pod, title: it, when: {when}, with: {{{join}}}}}
- {{id: gpus, title: Read the GPUs, run: [nvidia-smi], parse: test.gpus}}
"""


def looked(folder: Path, pod: dict[str, Any], gpu: dict[str, Any], when: str, join: str = "") -> Report:
    answers = {"kubectl get pods": facts(pods=[POD | pod]), "nvidia-smi": facts(gpus=[{"gpu": "GPU-1", "node": "gpu-01", **gpu}])}
    return run(STEP.format(when=f'"{when}"', join=join), answers, folder)


GPU = "gpu: {from: gpus, on: [node], pick: PICK}"


@pytest.mark.parametrize(
    ("pod", "gpu", "when", "pick", "found"),
    [
        ({}, {}, "pod.phase == 'Failed'", "", "confirmed"),
        ({"stated": True}, {}, "pod.phase == 'Failed'", "", "possible"),
        ({}, {"stated": True}, "pod.phase == 'Failed' && gpu.present", "first", "possible"),
        ({}, {"stated": True}, "pod.phase == 'Failed' && gpu.count > 0", "count", "possible"),
        ({}, {"stated": True}, "pod.phase == 'Failed' && gpu.gpu == 'GPU-1'", "last", "possible"),
        # The condition holds without it.
        ({}, {"stated": True}, "pod.phase == 'Failed' || gpu.present", "first", "confirmed"),
        ({}, {"stated": True}, "pod.phase == 'Failed' && !(gpu.present && gpu.gpu == 'GPU-2')", "first", "confirmed"),
        ({}, {"stated": False}, "pod.phase == 'Failed' && gpu.present", "first", "confirmed"),
    ],
)
@pytest.mark.usefixtures("fake_parsers")
def test_how_sure_a_finding_is_that_rests_on_what_people_say(
    pod: dict[str, Any], gpu: dict[str, Any], when: str, pick: str, found: str, tmp_path: Path
) -> None:
    report = looked(tmp_path, pod, gpu, when, GPU.replace("PICK", pick) if pick else "")
    assert [one.confidence for one in report.findings] == ([found] if found != "possible" else [])
    assert [one.cause for one in report.candidates] == (["sick-pod"] if found == "possible" else [])
    assert report.verdict == ("inconclusive" if found == "possible" else "problem")


def test_a_measurement_over_what_is_stated_is_no_better() -> None:
    def used(*stated: bool) -> set[bool]:
        samples = [GpuSample(node="n1", gpu=f"GPU-{n}", utilisation=50.0, power=90.0, stated=one) for n, one in enumerate(stated)]
        made = run_derivation("gpus.use", {"gpu_samples": [*samples], "gpus": []}, {}, 0.0)
        return {record.stated for records in made.values() for record in records}

    assert used(True, True) == {True}
    assert used(True, False) == {False}


def test_a_record_that_a_tool_has_printed_too_is_not_only_stated() -> None:
    store = Store()
    store.put(0, {"gpus": [Gpu(node="n1", gpu="GPU-1", stated=True, serial="1")]})
    store.put(1, {"gpus": [Gpu(node="n1", gpu="GPU-1")]})
    (one,) = store.records("gpus")
    assert (one.stated, getattr(one, "serial", "")) == (False, "1")


@pytest.mark.usefixtures("fake_parsers")
@pytest.mark.parametrize(("stated", "verdict"), [(False, "healthy"), (True, "inconclusive")])
def test_what_a_person_states_shows_nothing_to_be_sound(stated: bool, verdict: str, tmp_path: Path) -> None:
    expects = '[{id: sound, each: gpu in gpus, when: gpu.problem == "", title: well}]'
    step = "- {id: gpus, title: Read the GPUs, run: [nvidia-smi], parse: test.gpus, checks: [{id: c, each: gpu in gpus, finds: sick-gpu, "
    step += "title: it, when: gpu.problem != ''}]}\n"
    report = run(step, {"nvidia-smi": facts(gpus=[{"gpu": "GPU-1", "node": "gpu-01", "stated": stated}])}, tmp_path, expects=expects)
    assert report.verdict == verdict
    assert [one.why for one in report.not_shown] == (["a person says so, and no output of a tool shows it"] if stated else [])


def test_a_condition_does_not_ask_who_says_it() -> None:
    assert "stated" not in fields(Xid)
    assert "stated" in Xid.__struct_fields__


def test_a_note_is_a_candidate_and_the_output_a_finding(tmp_path: Path) -> None:
    matrix = (
        "ping gpu-01 -> others\n          .1.2  .2.2  .3.2\nmlx5_0    ok    -     -\nmlx5_1    -     ok    -\nmlx5_2    -     -     ok\n"
    )
    note = diagnosed(tmp_path, matrix)
    assert (note.verdict, note.findings, [one.cause for one in note.candidates]) == ("inconclusive", [], ["rdma-rails-unreachable"])
    printed = diagnosed(tmp_path, "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n")
    assert printed.verdict == "problem"
