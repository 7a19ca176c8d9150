"""Owners that should have GPU pods and have none, in a list of all owners of their kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.kubernetes import Workload
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.kubernetes.owners import without_pods
from tests.kube.objects import job
from tests.kube.workloads import pytorchjob

NOW = 1772366400.0  # 2026-03-01T12:00:00Z


def kept(*items: dict[str, Any]) -> list[str]:
    """The owners that a list gives."""
    page = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()
    output = Output(Command(("kubectl", "get", "jobs", "-o", "json")), pages=(page,), time=NOW)
    return [one.workload for one in without_pods([output], Subject(kind="cluster"))["workloads"] if isinstance(one, Workload)]


def ended(name: str, kind: str, when: str) -> dict[str, Any]:
    """A job that is over."""
    made = job(name, gpus=8, active=0)
    made["status"] = {"conditions": [{"type": kind, "status": "True", "lastTransitionTime": when}]}
    return made


def of(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": "a", "namespace": "ml", "uid": "1"}, "spec": spec}


def test_a_job_with_a_pod_is_left_out() -> None:
    assert kept(job("none", gpus=8, active=0), job("some", gpus=8, active=1)) == ["Job/none"]


def test_a_job_without_gpus_is_left_out() -> None:
    assert kept(job("plain", gpus=0, active=0), {**pytorchjob("train", workers=2, gpus=0), "status": {}}) == []


def test_a_job_that_is_over_is_left_out_unless_it_has_just_failed() -> None:
    well = [ended("a", "Complete", "2026-03-01T11:59:00Z"), ended("b", "Failed", "2026-03-01T09:00:00Z")]
    assert kept(*well, ended("late", "Failed", "2026-03-01T11:59:00Z")) == ["Job/late"]


def test_what_is_held_with_its_owner_is_left_out() -> None:
    child = job("child", gpus=8, active=0, suspend=True)
    child["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": "sweep", "controller": True}]
    assert kept(child, job("held", gpus=8, active=0, suspend=True)) == ["Job/held"]


@pytest.mark.parametrize(
    ("trainer", "there"),
    [
        ({"resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}}}, True),
        ({"resourcesPerNode": {"limits": {"cpu": 8}}}, False),
        ({"numNodes": 2}, True),  # its runtime says
    ],
)
def test_the_gpus_of_a_train_job(trainer: dict[str, Any], there: bool) -> None:
    assert bool(kept(of("TrainJob", trainer=trainer))) is there


def test_a_notebook_that_rests_is_left_out() -> None:
    box = {"name": "a", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    lab = of("Notebook", template={"spec": {"containers": [box]}})
    assert kept(lab) == ["Notebook/a"]
    lab["metadata"]["annotations"] = {"kubeflow-resource-stopped": "2026-03-01T09:00:00Z"}
    assert kept(lab) == []
