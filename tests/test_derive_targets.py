"""What was asked about, and what comes close."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.derive.targets import find_targets
from gpudoctor.facts import Fact
from gpudoctor.facts.kubernetes import ObjectName, Pod, Target, Workload

FACTS: dict[str, list[Fact]] = {
    "pods": [
        Pod(namespace="ml", pod="train-0", workload="Job/train"),
        Pod(namespace="ml", pod="train-1", workload="Job/train"),
        Pod(namespace="ml-prod", pod="serve-5d4f8c7b9-x2x4z", workload="ReplicaSet/serve-5d4f8c7b9"),
        Pod(namespace="gpu-operator", pod="nvidia-driver-daemonset-x", target=False),
    ],
    "workloads": [Workload(namespace="ml", workload="Job/train", kind="Job", name="train")],
    "names": [ObjectName(kind="Job", namespace="ml", name="train-large")],
}


def ask(**inputs: str) -> Target:
    (target,) = find_targets(FACTS, inputs, 0.0)["targets"]
    assert isinstance(target, Target)
    return target


@pytest.mark.parametrize(
    ("inputs", "there", "pods"),
    [
        ({"kind": "pod", "namespace": "ml", "name": "train-0"}, True, 1),
        ({"name": "train-0"}, True, 1),
        ({"kind": "pod", "namespace": "ml"}, True, 2),
        ({"kind": "job", "namespace": "ml", "name": "train"}, True, 2),
        ({"kind": "Jobs", "namespace": "ml", "name": "train"}, True, 2),
        ({"kind": "deploy", "namespace": "ml-prod", "name": "serve"}, True, 1),
        ({"kind": "pod", "namespace": "ml-prod", "name": "train-0"}, False, 0),
        ({"kind": "job", "namespace": "ml-prod", "name": "train"}, False, 0),
        ({"kind": "pod", "namespace": "gpu-operator", "name": "nvidia-driver-daemonset-x"}, False, 0),
    ],
)
def test_found(inputs: dict[str, str], there: bool, pods: int) -> None:
    target = ask(**inputs)
    assert (target.found, target.pods) == (there, pods)
    assert not (there and target.close)


def test_what_comes_close() -> None:
    assert ask(kind="pod", namespace="ml", name="trian-0").close == ["ml/train-0", "ml/train-1"]
    assert ask(kind="pod", namespace="ml", name="train").close[:2] == ["ml/train-0", "ml/train-1"]
    assert ask(kind="pod", namespace="default", name="train-0").close == ["ml/train-0"]
    assert ask(kind="job", namespace="ml", name="train-larg").close[0] == "ml/train-large"
    assert ask(kind="pod", namespace="ml-prd", name="x").close == ["ml-prod/serve-5d4f8c7b9-x2x4z"]
    assert ask(kind="pod", namespace="ml", name="zzz").close == []


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=400))
def test_any_input_is_safe(kind: str, namespace: str, name: str) -> None:
    target = ask(kind=kind, namespace=namespace, name=name)
    assert len(target.close) <= 5


def test_many_names_take_little_time() -> None:
    many: dict[str, list[Fact]] = {"pods": [Pod(namespace="ml", pod=f"train-{number}-{'x' * 40}") for number in range(30_000)]}
    started = time.perf_counter()
    (target,) = find_targets(many, {"name": "train-" + "y" * 200}, 0.0)["targets"]
    assert isinstance(target, Target)
    assert not target.found
    assert time.perf_counter() - started < 5
