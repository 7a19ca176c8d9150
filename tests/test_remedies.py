"""Fixes: with the names, values and places that a run knows; Slurm's command where Slurm runs the node; the nearest fit first."""

from __future__ import annotations

import functools
import json
import re
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from gpudoctor.derive.scheduling_patch import quoted
from gpudoctor.engine.cases import first_fix
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.remedies import seen_in
from gpudoctor.engine.store import Store
from gpudoctor.facts import Subject
from gpudoctor.facts.kubernetes import Node, Pod, Taint, Toleration, Workload
from gpudoctor.facts.slurm import SlurmJob, SlurmNode
from gpudoctor.knowledge.compiled import source
from gpudoctor.library.index import fixtures_folder, library, runbooks_folder
from gpudoctor.report import Fix
from gpudoctor.runbook.model import Library
from tests.engine_fakes import cause
from tests.pasted import CORPUS, diagnosed_files, text_of
from tests.test_derive_scheduling import GPU, PRESENT, node, pod, run
from tests.test_engine_conclude import conclude, found

DRAIN = [
    {"title": "kubectl", "risk": "disruptive", "by": "kubernetes", "run": ["kubectl", "drain", "${node}"]},
    {
        "title": "scontrol",
        "risk": "safe",
        "by": "slurm",
        "run": ["scontrol", "update", "NodeName=${node}", "State=DRAIN", "Reason=${cause}"],
    },
]
N1 = Subject(kind="node", node="n1")
TRAIN = Subject(kind="pod", namespace="ml", pod="train-0")


def fixes(one: Checked, *, of: list[dict[str, Any]], kind: str = "node", changes: list[str] | None = None, **facts: list[Any]) -> list[Fix]:
    """The fixes of one finding among these facts."""
    known = Library(causes={"a": cause("a", kind, fixes=of, fits=changes or [])})
    store = Store()
    store.put(0, facts)
    (made,) = conclude(known, store, [one], started=0.0).findings
    return made.fixes


def of_pod(waiting: Pod, nodes: list[Node], *changes: str, **facts: list[Any]) -> list[Fix]:
    """The fixes of a pod that waits, by its nearest fit."""
    table = {"fits": list(run(waiting, nodes, [])["fits"]), "pods": [waiting], "nodes": list(nodes)}
    general = [{"title": "general", "risk": "safe", "otherwise": True}, {"title": "always", "risk": "safe"}]
    return fixes(found("a", TRAIN), of=general, kind="pod", changes=[*changes], **table, **facts)


# --- who runs the node


@pytest.mark.parametrize(
    ("facts", "scheduler"),
    [
        ({"nodes": [Node(node="n1")]}, "kubectl"),
        ({"slurm_nodes": [SlurmNode(node="n1")]}, "scontrol"),
        ({"slurm_nodes": [SlurmNode(node="n1")], "nodes": [Node(node="n1")]}, "scontrol"),  # a drain by kubectl leaves Slurm's jobs there
        ({"slurm_nodes": [SlurmNode(node="n2")]}, "scontrol"),  # nobody but Slurm was asked
        ({"slurm_nodes": [SlurmNode(node="n2")], "nodes": [Node(node="n1")]}, "kubectl"),
        ({"slurm_jobs": [SlurmJob(workload="7", nodes=["n1"])]}, "scontrol"),
    ],
)
def test_a_node_is_drained_by_what_schedules_it(facts: dict[str, list[Any]], scheduler: str) -> None:
    assert [one.title for one in fixes(found("a", N1), of=DRAIN, **facts)] == [scheduler]


def test_where_nothing_tells_who_schedules_a_node_both_are_said() -> None:
    assert [one.title for one in fixes(found("a", N1), of=DRAIN)] == ["kubectl (Kubernetes)", "scontrol (Slurm)"]


def test_where_slurm_runs_the_node_no_pod_is_asked_for() -> None:
    look = {"title": "l", "risk": "safe", "run": ["kubectl", "delete", "pod", "${pod}"]}
    assert fixes(found("a", Subject(kind="workload", workload="7")), of=[look], kind="workload", slurm_nodes=[SlurmNode(node="n1")]) == []


def test_the_reason_that_slurm_keeps_is_the_cause() -> None:
    (made,) = fixes(found("a", N1), of=DRAIN, slurm_nodes=[SlurmNode(node="n1")])
    assert made.run == ["scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=a"]


def test_no_fix_of_the_catalogue_drains_a_node_of_slurm_by_kubectl() -> None:
    for one in library().causes.values():
        for fix in one.fixes:
            assert fix.by == "kubernetes" or fix.run[:2] not in (["kubectl", "drain"], ["kubectl", "cordon"]), one.id


# --- what it stops, and what is not known


def test_a_drain_says_what_it_stops() -> None:
    facts: dict[str, list[Any]] = {
        "pods": [
            Pod(namespace="ml", pod="cpu", node="n1", phase="Running"),
            Pod(namespace="ml", pod="train", node="n1", phase="Running", gpus=8, workload="Job/train"),
            Pod(namespace="ml", pod="elsewhere", node="n2", phase="Running", gpus=8),
            Pod(namespace="ml", pod="over", node="n1", phase="Succeeded", gpus=8),
            Pod(namespace="gpu-operator", pod="plugin", node="n1", phase="Running", workload="DaemonSet/plugin"),
        ]
    }
    (made,) = fixes(found("a", N1), of=DRAIN, **facts)
    assert made.stops == ["ml/train", "ml/cpu (no controller makes it again: save its YAML, then drain with --force)"]
    [of_slurm] = fixes(found("a", N1), of=[{"title": "reboot", "risk": "disruptive", "run": ["systemctl", "reboot"]}], slurm_jobs=[
        SlurmJob(workload="7", nodes=["n1"], state="RUNNING"), SlurmJob(workload="8", nodes=["n1"], state="PENDING"),
    ])  # fmt: skip
    assert of_slurm.stops == ["Slurm job 7"]


def test_a_name_that_is_not_known_comes_with_the_command_that_finds_it() -> None:
    reset = [{"title": "r", "risk": "disruptive", "run": ["nvidia-smi", "--gpu-reset", "-i", "${gpu}"]}]
    (made,) = fixes(found("a", Subject(kind="gpu", node="n1")), of=reset, kind="gpu")
    assert (made.run[-1], made.find) == ("<gpu>", ["<gpu>: nvidia-smi -L"])
    (made,) = fixes(found("a", Subject(kind="node")), of=DRAIN, slurm_nodes=[SlurmNode(node="n2")])
    assert made.find == ["<node>: sinfo -N"]


def test_nvidia_smi_gets_a_pci_address_with_its_function() -> None:
    reset = [{"title": "r", "risk": "disruptive", "run": ["nvidia-smi", "--gpu-reset", "-i", "${gpu}"]}]
    for gpu, wanted in (("0000:ab:00", "0000:ab:00.0"), ("GPU-5a0c1f2e-0000-4000-8000-000000000000",) * 2):
        (made,) = fixes(found("a", Subject(kind="gpu", node="n1", gpu=gpu)), of=reset, kind="gpu")
        assert made.run[-1] == wanted


# --- what a line of the evidence decides


SEEN = [
    {"title": "general", "risk": "safe", "otherwise": True},
    {"title": "lock ${seen.path}", "risk": "safe", "seen": r"waiting for lock (?P<path>\S+)", "run": ["rm", "${seen.path}"]},
    {"title": "always", "risk": "safe"},
]


def test_a_line_of_the_evidence_decides_and_fills_in() -> None:
    made = fixes(found("a", N1, text="waiting for lock /cache/x.lock since"), of=SEEN)
    assert [(one.title, one.run) for one in made] == [("lock /cache/x.lock", ["rm", "/cache/x.lock"]), ("always", [])]


@pytest.mark.parametrize("name", ["-rf", "$(reboot)", "a;b", "`x`", "/cache/../etc/passwd"])
def test_a_hostile_value_of_the_evidence_is_in_no_command(name: str) -> None:
    made = fixes(found("a", N1, text=f"waiting for lock {name} since"), of=SEEN)
    assert [one.title for one in made] == ["general", "always"]


def test_without_that_line_the_general_fix_stands() -> None:
    assert [one.title for one in fixes(found("a", N1, text="other"), of=SEEN)] == ["general", "always"]


class Decides(NamedTuple):
    """A pattern of the catalogue, with the line that stands above it."""

    file: str
    line: str
    pattern: str


def decides() -> list[Decides]:
    """Every `seen` of the catalogue."""
    made = []
    for path in sorted((runbooks_folder() / "catalogue").glob("*.yaml")):
        lines = path.read_text().splitlines()
        for number, text in enumerate(lines):
            if text.lstrip().startswith("seen: "):
                above = re.match(r"\s*# (.+)", lines[number - 1])
                made.append(Decides(path.stem, above[1] if above else "", yaml.safe_load(text)["seen"]))
    return made


DECIDES = decides()
# What our own readers write of an object, which no file has.
WRITTEN = (
    "PyTorchJob/train: None of 4 ready",
    "NodePool gpu",
    "plugin-config shared: timeSlicing nvidia.com/gpu replicas: 4",
    "ml/gpu-quota requests.nvidia.com/gpu: 16 of 16 used",
    "ib3: operstate DOWN",
    "Service gpu/exporter selector app=exporter ports metrics 9400 to 9400",
    "NCCL_DEBUG_FILE=/shared/nccl.log",
)


@functools.cache
def known_lines() -> str:
    """What was seen or is known to be logged: the lines of the known messages, the recorded answers, what was pasted."""
    messages = [wording.line for one in source().messages() for wording in one.wordings]
    files = [*fixtures_folder().rglob("*.txt"), *CORPUS.glob("*.txt")]
    return "\n".join([*messages, *WRITTEN, *(path.read_text(errors="replace").replace('\\"', '"') for path in files)])


def test_the_catalogue_has_patterns() -> None:
    assert len(DECIDES) > 150
    assert sum(bool(fix.seen) for one in library().causes.values() for fix in one.fixes) == len(DECIDES)


@pytest.mark.parametrize("one", DECIDES, ids=lambda one: f"{one.file}: {one.pattern[:60]}")
def test_a_pattern_fits_the_line_above_it_and_one_that_is_known(one: Decides) -> None:
    assert seen_in(one.pattern, [one.line]) is not None
    assert re.search(one.pattern, known_lines(), re.MULTILINE)


def test_no_line_makes_a_pattern_run_away() -> None:
    start = time.perf_counter()
    assert seen_in(r"(?P<x>(a+)+)b", ["a" * 20_000]) is None  # Python's own re would try for ever
    assert time.perf_counter() - start < 1.0


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("host-oom-kill", "Ray's own killer", "RAY_memory_usage_threshold"),
        ("secret-or-configmap-missing", "an event of a Secret", "name: fit-keys"),
        ("stale-extension-lock", "the warning, and the file", "rm /home/ana/.cache/torch_extensions/py312_cu128/rasterizer/lock"),
    ],
)
def test_what_is_pasted_decides_too(name: str, text: str, words: str, tmp_path: Path) -> None:
    report = diagnosed_files(tmp_path, text_of(name, text))
    assert words in first_fix(report.findings[0])


def test_each_value_of_a_pattern_is_used() -> None:
    for one in library().causes.values():
        for fix in one.fixes:
            said = "\n".join([fix.title, *fix.run, *fix.undo, *fix.verify, fix.manifest])
            unused = [name for name in re.compile(fix.seen).groupindex if f"${{seen.{name}}}" not in said]
            assert unused == [], f"{one.id}: {fix.title}"


# --- the nearest fit


def steps(fix: Fix) -> list[dict[str, Any]]:
    assert fix.run[-2] == "-p"
    return list(json.loads(fix.run[-1]))


def test_a_toleration_is_added_to_the_pod_that_waits() -> None:
    waiting = pod(workload="Job/train")
    made = of_pod(waiting, [node("gpu-01", taints=[PRESENT])], "tolerate")
    assert [one.title for one in made[1:]] == ["always"]
    assert made[0].run[:7] == ["kubectl", "patch", "pod/train-0", "--namespace", "ml", "--type=json", "-p"]
    wanted = {"key": GPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    assert steps(made[0]) == [{"op": "add", "path": "/spec/tolerations/-", "value": wanted}]
    assert yaml.safe_load(made[0].manifest) == {"spec": {"tolerations": [wanted]}}
    assert "Job/train" in made[0].title


def test_a_taint_without_a_value_wants_only_its_key() -> None:
    made = of_pod(pod(), [node("gpu-01", taints=[Taint(key="team", value="", effect="NoExecute")])], "tolerate")
    assert steps(made[0])[0]["value"] == {"key": "team", "operator": "Exists", "effect": "NoExecute"}


@pytest.mark.parametrize(
    ("owner", "run"),
    [
        ("Deployment/serve", ["kubectl", "patch", "deployment/serve"]),
        ("StatefulSet/serve", ["kubectl", "patch", "statefulset/serve"]),
        ("Job/train", []),  # its template can't be changed
        ("PyTorchJob/train", []),
        ("", []),
    ],
)
def test_a_selector_is_changed_where_kubernetes_lets_it_be_changed(owner: str, run: list[str]) -> None:
    waiting = pod(workload=owner, node_selector={"nvidia.com/gpu.product": "A100", "pool": "gpu"})
    labels = {"nvidia.com/gpu.product": "H100", "pool": "gpu"}
    made = of_pod(waiting, [node("gpu-01", labels=labels)], "select")
    assert made[0].run[:3] == run
    assert yaml.safe_load(made[0].manifest) == {"spec": {"nodeSelector": labels}}
    if run:
        assert steps(made[0]) == [{"op": "replace", "path": "/spec/template/spec/nodeSelector/nvidia.com~1gpu.product", "value": "H100"}]
        assert (made[0].risk, made[0].undo[:3]) == ("disruptive", ["kubectl", "rollout", "undo"])


def test_the_deployment_behind_a_replica_set_is_changed() -> None:
    waiting = pod(workload="ReplicaSet/serve-5f9c", node_selector={"pool": "a"})
    owner = Workload(namespace="ml", workload="ReplicaSet/serve-5f9c", kind="ReplicaSet", name="serve-5f9c", owner="Deployment/serve")
    made = of_pod(waiting, [node("gpu-01", labels={"pool": "b"})], "select", workloads=[owner])
    assert made[0].run[2] == "deployment/serve"


def test_fewer_gpus_and_less_cpu_are_a_fragment() -> None:
    made = of_pod(pod(workload="Job/train"), [node("gpu-01", gpus=4)], "fewer_gpus")
    assert yaml.safe_load(made[0].manifest) == {"spec": {"containers": [{"resources": {"limits": {GPU: "4"}}}]}}
    made = of_pod(pod(cpu=200_000), [node("gpu-01")], "less_cpu")
    assert yaml.safe_load(made[0].manifest) == {"spec": {"containers": [{"resources": {"requests": {"cpu": "96"}}}]}}


def test_a_node_is_uncordoned_by_name() -> None:
    made = of_pod(pod(), [node("gpu-01", unschedulable=True)], "uncordon")
    assert (made[0].run, made[0].undo) == (["kubectl", "uncordon", "gpu-01"], ["kubectl", "cordon", "gpu-01"])


def test_a_node_is_labelled_where_the_label_is_a_persons_to_set() -> None:
    made = of_pod(pod(node_selector={"team": "vision"}), [node("gpu-01")], "label")
    assert made[0].run == ["kubectl", "label", "node", "gpu-01", "team=vision"]
    assert made[0].undo == ["kubectl", "label", "node", "gpu-01", "team-"]


def test_a_fit_of_another_kind_leaves_the_general_fix() -> None:
    made = of_pod(pod(), [node("gpu-01", taints=[PRESENT])], "rename")
    assert [one.title for one in made] == ["general", "always"]


def test_a_template_without_tolerations_gets_the_list_first() -> None:
    added = Toleration(key="node.kubernetes.io/not-ready", operator="Exists", effect="NoExecute")  # by admission, to each pod
    labels, taints = {"pool": "b"}, [PRESENT]
    own = Toleration(key="team", operator="Exists")
    for there, path in (([added], "/spec/template/spec/tolerations"), ([added, own], "/spec/template/spec/tolerations/-")):
        waiting = pod(workload="Deployment/serve", node_selector={"pool": "a"}, tolerations=there)
        made = of_pod(waiting, [node("gpu-01", labels=labels, taints=taints)], "select")
        assert steps(made[0])[0]["path"] == path


@pytest.mark.parametrize("text", ["8", "1.5", "true", "No", "null", "a: b", "#x", "~", "", "NVIDIA-H100", "x y"])
def test_a_value_of_a_fragment_is_a_text_for_yaml(text: str) -> None:
    assert yaml.safe_load(f"key: {quoted(text)}") == {"key": text}
