"""What several steps ask is fetched once, however many parsers read it: a served cluster counts the requests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudoctor import registry
from gpudoctor.probes.base import Command, Output
from tests.engine_fakes import Fake, facts, fake_parsers, outcomes, read_facts, refused, run  # noqa: F401 - a fixture
from tests.kube import objects as build
from tests.kube.fixtures import Served
from tests.nodes.cases_nccl import begun

RANKS = 8
PODS = [f"train-{number}" for number in range(RANKS)]
JOB = {"batch.kubernetes.io/job-name": "train", "job-name": "train"}


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    pods = [build.pod(name, gpus=1, node="gpu-01", owner="Job/train", labels=JOB) for name in PODS]
    logs = {f"ml/{name}/main": "\n".join(begun(rank, RANKS)) + "\n" for rank, name in enumerate(PODS)}
    return kube_server(build.cluster([build.job("train", parallelism=RANKS, active=RANKS, gpus=1), *pods, build.node("gpu-01")], logs=logs))


def asked(served: Served, *words: str) -> tuple[dict[str, Any], Counter[str]]:
    """The report, and how often the log of each pod was fetched."""
    served.clear()
    command = [sys.executable, "-m", "gpudoctor", *words, "--kubeconfig", str(served.kubeconfig), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    requests = served.requests()
    return json.loads(done.stdout), Counter(one.split("/pods/")[1].partition("/log")[0] for one in requests if "/log?" in one)


def test_each_log_of_a_job_once(served: Served, tmp_path: Path) -> None:
    report, fetched = asked(served, "nccl", "--job", "train", "-n", "ml")
    assert fetched == dict.fromkeys(PODS, 1)
    outcomes = {step["id"]: step["outcome"] for step in report["steps"]}
    readers = ("job-logs.logs", "network.measured", "network.reached")
    assert {outcomes[name] for name in readers} == {"clear"}
    recorded, again = asked(served, "nccl", "--job", "train", "-n", "ml", "--record", str(tmp_path / "bundle"))
    assert again == fetched
    replayed, none = asked(served, "nccl", "--replay", str(tmp_path / "bundle"))
    assert (replayed["findings"], replayed["coverage"], none) == (recorded["findings"], recorded["coverage"], {})


def test_a_log_of_training_once(served: Served) -> None:
    _, fetched = asked(served, "run", "training-stall", "--set", "pod=train-3", "--set", "namespace=ml")
    assert fetched == {"train-3": 1}


# ---- with a fake probe


@pytest.fixture
def readers(fake_parsers: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Parsers that read their own fact type alone."""

    def load(name: str) -> Any:
        return lambda output, about: {kind: read_facts(output, about).get(kind, []) for kind in registry.PARSERS[name].fills}

    monkeypatch.setattr(registry, "load", load)


READERS = """\
- id: nodes
  run: [kubectl, logs, x]
  parse: test.nodes
  checks: [{id: down, each: node in nodes, when: node.ready_known && !node.ready, finds: sick-node, title: down}]
- id: pods
  when: %s
  run: [kubectl, logs, x]
  parse: test.pods
  checks: [{id: failed, each: pod in pods, when: pod.phase == "Failed", finds: sick-pod, title: failed}]
"""
BOTH = facts(nodes=[{"node": "n", "ready": False}], pods=[{"namespace": "ml", "pod": "p", "phase": "Failed"}])


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("when", ["'true'", "found.down"], ids=["at once", "later"])
def test_one_answer_is_read_by_several_parsers(when: str, tmp_path: Path) -> None:
    probe = Fake({"kubectl logs x": BOTH})
    report = run(READERS % when, probe, tmp_path)
    assert outcomes(report) == {"sick-node": "found", "sick-pod": "found"}
    assert probe.lines == ["kubectl logs x"]
    assert report.coverage.asked == 2


@pytest.mark.usefixtures("readers")
def test_what_a_parser_read_for_a_step_that_is_not_wanted_is_no_fact(tmp_path: Path) -> None:
    probe = Fake({"kubectl logs x": BOTH.replace(b"false", b"true")})
    report = run(READERS % "found.down", probe, tmp_path)
    assert (report.findings, probe.lines) == ([], ["kubectl logs x"])


@pytest.mark.usefixtures("readers")
@pytest.mark.parametrize("host", ["", "a"])
def test_the_other_way_is_asked_once_for_those_that_had_no_answer(host: str, tmp_path: Path) -> None:
    steps = READERS.replace("  parse:", f"  otherwise: [kubectl, logs, z]\n  host: '{host}'\n  parse:") % "'true'"
    old = Output(Command(()), exit=1, pages=(facts(nodes=[{"node": "n", "ready": False}]),), stderr=b"half")  # the pods are missing
    place = f"{host}: " if host else ""
    probe = Fake({f"{place}kubectl logs x": old, f"{place}kubectl logs z": BOTH})
    report = run(steps, probe, tmp_path)
    assert outcomes(report) == {"sick-node": "found", "sick-pod": "found"}
    assert probe.lines == [f"{place}kubectl logs x", f"{place}kubectl logs z"]


@pytest.mark.usefixtures("readers")
def test_a_failure_is_told_to_every_reader(tmp_path: Path) -> None:
    probe = Fake({"kubectl logs x": refused("no right")})
    report = run(READERS % "'true'", probe, tmp_path)
    assert outcomes(report) == {"down": "unknown", "failed": "unknown"}
    assert probe.lines == ["kubectl logs x"]


@pytest.mark.usefixtures("readers")
def test_a_list_that_is_read_page_by_page_is_held_for_nobody(tmp_path: Path) -> None:
    probe = Fake({"kubectl get nodes": facts(nodes=[{"node": "n", "ready": False}])})
    steps = READERS.replace("kubectl, logs, x", "kubectl, get, nodes").replace("test.nodes", "test.stream") % "'true'"
    assert outcomes(run(steps, probe, tmp_path)) == {"sick-node": "found", "sick-pod": "clear"}
    assert probe.lines == ["kubectl get nodes", "kubectl get nodes"]
