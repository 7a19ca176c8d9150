"""What people pick out of objects: by `-o jsonpath` and custom columns, by `grep` of a description, and as Go prints a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Subject
from gpudoctor.facts.kubernetes import Node, NodeUsage, Workload
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.kubectl import jsonpath_answers
from gpudoctor.tools.kubectl.jsonpath import requested_paths, words_of
from gpudoctor.tools.kubectl.jsonpath_objects import of_go
from gpudoctor.tools.kubernetes.autoscaler_status import groups_of
from gpudoctor.tools.parser import ParseError
from tests.pasted import diagnosed

COMMANDS = {
    "kubectl get no a -o jsonpath='{.status.capacity}' | tr , '\\n'": ("Node", "a"),
    "sudo kubectl -n x get pod/p -ojsonpath={.spec.nodeName}": ("Pod", "p"),
    "oc get ds -n x d -o json | jq '.status | {desiredNumberScheduled}'": ("DaemonSet", "d"),
    "kubectl get pods -A -o custom-columns=N:.metadata.name,P:.status.phase --no-headers": ("Pod", ""),
}
OTHERS = (
    "kubectl get pods -o wide",
    "kubectl get pod,svc -o jsonpath={.kind}",
    "jq .status f.json",
    "kubectl get node a -o jsonpath='{.x",
    "",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_asks_for(command: str) -> None:
    question = requested_paths(tuple(words_of(command)))
    assert question is not None
    assert (question.kind, question.name) == COMMANDS[command]


@pytest.mark.parametrize("command", OTHERS)
def test_commands_that_name_no_paths(command: str) -> None:
    assert requested_paths(tuple(words_of(command))) is None


def test_what_is_not_asked_for_is_not_known() -> None:
    found = read("kubectl get pod p -n ml -o jsonpath='{.status.phase}'", "Running")
    (pod,) = found["pods"]
    assert (pod.namespace, pod.pod, pod.phase) == ("ml", "p", "Running")  # type: ignore[attr-defined]
    assert {"gpus", "node", "tolerations"} <= pod.gaps.keys()


def test_rows_of_chosen_columns() -> None:
    command = "kubectl get nodes -o custom-columns='N:.metadata.name,G:.status.allocatable.nvidia\\.com/gpu,T:.spec.taints[*].key'"
    found = read(command, "N     G        T\na-1   8        lab,tier\nb-2   <none>   <none>\n")
    assert [(n.node, n.gpus_allocatable, n.taint_keys) for n in found["nodes"]] == [("a-1", 8, ["lab", "tier"]), ("b-2", 0, [])]  # type: ignore[attr-defined]


@settings(max_examples=60)
@given(st.sampled_from([*COMMANDS, *OTHERS]), st.text(alphabet="{}[]\"',:.\n\t\0 \x1bnNodeé1", max_size=200), st.text(max_size=40))
def test_hostile_answers(command: str, text: str, more: str) -> None:
    for asking in (command, command + more):
        try:
            read(asking, text + more)
        except ParseError:
            continue


def test_a_long_answer_takes_linear_time() -> None:
    with pytest.raises(ParseError):
        read("kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.taints[*].key} {.status.phase}{end}'", "{ " * 500_000)


def read(command: str, text: str) -> dict[str, list[object]]:
    """The facts of an answer."""
    output = Output(command=Command(tuple(words_of(command))), pages=(text.encode("utf-8", "replace"),), source="pasted.txt")
    return dict(jsonpath_answers.facts(output, Subject(kind="cluster")))  # type: ignore[arg-type]


STATUS = """\
$ kubectl -n kube-system get configmap cluster-autoscaler-status -o yaml
data:
  status: |+
    Cluster-autoscaler status at 2025-04-02 10:11:02 +0000 UTC:
    NodeGroups:
      Name:        eks-cpu-4ac1
      Health:      Healthy (ready=7 unready=0 registered=7 longUnregistered=0 cloudProviderTarget=7 (minSize=1, maxSize=20))
      ScaleUp:     NoActivity (ready=7 cloudProviderTarget=7)

      Name:        eks-gpu-a10-91bd
      Health:      Healthy (ready={has} unready=0 registered={has} longUnregistered=0 cloudProviderTarget={has} (minSize=0, maxSize=3))
"""


NEWER = """\
nodeGroups:
- health:
    cloudProviderTarget: {has}
    maxSize: 3
    minSize: 0
    status: Healthy
  name: gpu-pool-l4
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("map[limits:map[nvidia.com/gpu:1] tags:[a b]]", {"limits": {"nvidia.com/gpu": "1"}, "tags": ["a", "b"]}),
        ("[map[key:team] map[key:broken]]", [{"key": "team"}, {"key": "broken"}]),
        ("map[a:1] map[b:2]", [{"a": "1"}, {"b": "2"}]),
        ("map[", {}),
        ("map[]]]", {}),
        ("map[" * 5000, {}),
    ],
)
def test_values_as_go_prints_them(text: str, value: Any) -> None:
    assert of_go(text) == value or text.count("map[") > 100


def test_groups_of_either_form() -> None:
    old, new = groups_of(STATUS.format(has=3).split("\n")), groups_of(NEWER.format(has=2).split("\n"))
    assert [(one.name, one.target, one.most) for one in [*old, *new]] == [
        ("eks-cpu-4ac1", 7, 20),
        ("eks-gpu-a10-91bd", 3, 3),
        ("gpu-pool-l4", 2, 3),
    ]


JOB = """\
Name:             fold-9
Namespace:        bio
Parallelism:      1
Completions:      1
Pods Statuses:    0 Active (0 Ready) / {done} Succeeded / {failed} Failed
Events:
  Type     Reason                Age    From            Message
  ----     ------                ----   ----            -------
"""


PICKED = """\
Name:               w3
  nvidia.com/gpu:     4
  nvidia.com/gpu:     {offered}
  nvidia.com/gpu     4            4
Name:               w9
  nvidia.com/gpu:     4
  nvidia.com/gpu:     4
  nvidia.com/gpu     0            0
"""


def test_amounts_picked_of_several_nodes(tmp_path: Path) -> None:
    """`kubectl describe nodes | grep -E "Name:|nvidia.com/gpu"`: capacity, allocatable and requests of each node."""
    (tmp_path / "a.txt").write_text(PICKED.format(offered=4))
    facts = gather([str(tmp_path / "a.txt")]).facts
    nodes = [(one.node, one.gpus_capacity, one.gpus_allocatable) for one in facts["nodes"] if isinstance(one, Node)]
    assert nodes == [("w3", 4, 4), ("w9", 4, 4)]
    used = [(one.node, one.requested) for one in facts["node_usage"] if isinstance(one, NodeUsage)]
    assert used == [("w3", {"nvidia.com/gpu": 4}), ("w9", {"nvidia.com/gpu": 0})]


def test_a_jobs_pods_that_have_ended_were_made(tmp_path: Path) -> None:
    """Active, succeeded and failed ones together."""
    (tmp_path / "a.txt").write_text(JOB.format(done=1, failed=2))
    assert [one.current for one in gather([str(tmp_path / "a.txt")]).facts["workloads"] if isinstance(one, Workload)] == [3]


SPEC = """\
spec:
  containers:
  - name: main
    resources:
      limits:
        nvidia.com/gpu: "{gpus}"
        cpu: "16"
"""


def test_a_loop_of_words_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("node use free\nwe free two of them\n" * 2000)
    assert "nodes" not in gather([str(tmp_path / "a.txt")]).facts


GO_TAINTS = """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
NAME    TAINTS
gpu-1   [map[effect:NoSchedule key:team value:vision]]
"""


def test_taints_as_go_prints_them_are_no_cluster_without_nodes(tmp_path: Path) -> None:
    found = diagnosed(
        tmp_path, GO_TAINTS, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n" + SPEC.format(gpus=1) + "status: {phase: Pending}\n"
    )
    assert not {"device-plugin-not-running", "gpu-not-advertised"} & {one.cause for one in found.findings}
