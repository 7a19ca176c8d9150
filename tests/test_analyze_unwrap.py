# ruff: noqa: E501 - a line is as long as the tool prints it
"""Lines that belong together though a terminal cut them; and what small commands say of nodes and their taints."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Subject
from gpudoctor.facts.kubernetes import Node, Workload
from gpudoctor.intake.split import Section, split
from gpudoctor.intake.unwrap import begins, messages, records
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.kubectl import get, get_taints

NOBODY = Subject(kind="cluster")
REFUSED = 'E0301 09:00:00.1       1 main.go:70] failed to list nodes: Get "https://10.96.0.1:443/api/v1/nodes": dial tcp 10.96.0.1:443: connect: no route to host'


def named(path: Path) -> set[str]:
    """The names of the messages in one file."""
    return {getattr(one, "name", "") for one in gather([str(path)]).facts.get("messages", [])}


@pytest.mark.parametrize("width", [40, 60, 72, 80, 100, 120])
def test_a_record_of_a_log_that_was_wrapped(width: int, tmp_path: Path) -> None:
    path = tmp_path / "nfd.log"
    wrapped = "\n".join(textwrap.wrap(REFUSED, width, break_long_words=False, break_on_hyphens=False))
    path.write_text(f"I0301 08:59:59.1       1 main.go:60] starting\n{wrapped}\nI0301 09:00:09.1       1 main.go:60] again\n")
    assert named(path) == {"service_no_route_to_host"}


def test_two_records_are_not_one(tmp_path: Path) -> None:
    path = tmp_path / "two.log"
    path.write_text(
        'E0301 09:00:00.1  1 a.go:1] Get "https://10.96.0.1:443/api/v1/nodes": dial tcp\nE0301 09:00:01.1  1 a.go:1] x: no route to host\n'
    )
    assert named(path) == set()


def test_what_begins_a_record() -> None:
    heads = (
        'time="2026-03-01T09:00:00Z" level=info',
        '{"level":"error"}',
        "[ERROR] plugin/errors: 2",
        "Mar  1 09:00:00 gpu-1 kubelet[9]: x",
        "[   12.345678] NVRM: x",
    )
    assert all(begins(line) for line in heads)
    assert not any(begins(line) for line in ("tcp 10.96.0.1:443: connect: no route to host", "", "unknown", "labels. Is NFD installed?"))


def test_hostile_lines_take_linear_time() -> None:
    text = "\n".join(["E0301 " * 40, '{"' * 200, "x" * 900] * 500)
    started = time.monotonic()
    assert messages(Section("a.log", 1, text), {}, NOBODY, log=True) == []
    assert time.monotonic() - started < 5


@settings(max_examples=40)
@given(st.text(max_size=400))
def test_any_text(text: str) -> None:
    assert all(len(lines) <= 6 for _, lines in records(Section("a", 1, text)))
    output = Output(command=Command(("kubectl", "taint")), pages=(text.encode("utf-8", "replace"),), source="a")
    assert get_taints.tainted_nodes(output, NOBODY)["nodes"] == [] or "taint" in text


def test_taints_that_were_set() -> None:
    command = ("kubectl", "taint", "nodes", "gpu-1", "gpu-2", "nvidia.com/gpu=present:NoSchedule")
    facts = get_taints.tainted_nodes(
        Output(command=Command(command), pages=(b"node/gpu-1 tainted\nnode/gpu-2 tainted\n",), source="a"), NOBODY
    )
    nodes = [one for one in facts["nodes"] if isinstance(one, Node)]
    assert [(one.node, one.taint_keys, "capacity" in one.gaps) for one in nodes] == [
        ("gpu-1", ["nvidia.com/gpu"], True),
        ("gpu-2", ["nvidia.com/gpu"], True),
    ]
    assert get_taints.taints_set("kubectl taint nodes gpu-1 nvidia.com/gpu=present:NoSchedule-") == []  # taken away
    assert get_taints.taints_set("kubectl taint nodes gpu-1 key:PreferNoSchedule") == []


def test_columns_of_ones_own_choice() -> None:
    text = "NAME    TAINTS\ncpu-1   <none>\ngpu-1   [map[effect:NoSchedule key:nvidia.com/gpu value:true]]\ngpu-2   dedicated,other\n"
    facts = get.tables(Output(command=Command(()), pages=(text.encode(),), source="a"), NOBODY)
    assert [getattr(one, "taint_keys", None) for one in facts["nodes"]] == [[], ["nvidia.com/gpu"], ["dedicated", "other"]]


def test_all_labels_of_a_node() -> None:
    text = "NAME   STATUS   ROLES    AGE   VERSION   LABELS\ng1     Ready    <none>   40d   v1.29.1   a.io/pci-0302_10de.present=true,kubernetes.io/os=linux\n"
    (node,) = get.tables(Output(command=Command(()), pages=(text.encode(),), source="a"), NOBODY)["nodes"]
    assert isinstance(node, Node)
    assert node.labels == {"a.io/pci-0302_10de.present": "true", "kubernetes.io/os": "linux"}


def test_a_command_and_its_answer_in_one_line() -> None:
    line = "kubectl get ds -n kube-system nvidia-device-plugin  ->  DESIRED 0"
    (section,) = split("notes.txt", line)
    (work,) = get.tables(Output(command=Command(()), pages=(section.text.encode(),), source="a"), NOBODY)["workloads"]
    assert isinstance(work, Workload)
    assert (work.namespace, work.name, work.desired, work.ready) == ("kube-system", "nvidia-device-plugin", 0, None)
