"""Collections: the log of nvidia-bug-report.sh, must-gathers, sosreports. Content decides; folders and heads only add names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import Gathered, gather
from gpudoctor.intake import folders, hints, nvidia_bug_report
from gpudoctor.intake.split import split
from tests import forms_collected as forms


def read(files: dict[str, str], folder: Path) -> Gathered:
    return gather([forms.written(files, folder)])


def facts(gathered: Gathered, kind: str) -> list[Any]:
    return list(gathered.facts.get(kind, []))


def recognised(gathered: Gathered) -> set[str]:
    return {name for one in gathered.inputs for name in one.recognised_as}


@pytest.mark.parametrize("year", [2018, 2025])
def test_a_bug_report_is_cut_by_command_and_belongs_to_one_machine(year: int, tmp_path: Path) -> None:
    gathered = read({"nvidia-bug-report.log": forms.bug_report(year=year)}, tmp_path)
    assert {"kernel.log", "nvidia.smi", "nvidia.version", "linux.modules", "linux.lspci"} <= recognised(gathered)
    assert {fact.node for records in gathered.facts.values() for fact in records} == {"gpu-07"}  # type: ignore[attr-defined]
    (lost,) = facts(gathered, "xids")  # three places of the report say it
    assert (lost.code, lost.count, lost.gpu) == (79, 1, "0000:1b:00")
    assert len(facts(gathered, "gpus")) == 1
    assert len(facts(gathered, "smi")) == 1


def test_the_lines_of_a_bug_report_are_those_of_the_file(tmp_path: Path) -> None:
    text = forms.bug_report()
    (lost,) = facts(read({"a.log": text}, tmp_path), "xids")
    assert text.split("\n")[lost.origin.line - 1] == lost.origin.text.strip() == f"[ 6723.100000] {forms.LOST}"


def test_where_dmesg_has_lost_its_beginning_the_journal_counts() -> None:
    commands = [section.command for section in split("a", forms.bug_report().replace(forms.GREETING, "[ 6000.000000] usb 1-1: reset"))]
    assert "journalctl -b -0" in commands
    assert "cat /var/log/kern.log" not in commands
    assert "journalctl -b -0" not in [section.command for section in split("a", forms.bug_report())]


def test_what_nobody_can_read_is_left_out() -> None:
    assert not any("TlZSTTog" in section.text or "does not exist" in section.text for section in split("a", forms.bug_report()))


def test_a_driver_container_is_no_machine() -> None:
    assert nvidia_bug_report.host(forms.bug_report("nvidia-driver-daemonset-x2x7k")) == ""
    section = split("x/nvidia-bug-report_gpu-07.log.gz", forms.bug_report("nvidia-driver-daemonset-x2x7k"))[-1]
    assert hints.of_section(section.path, section.command, section.about).about.node == "gpu-07"


def test_a_must_gather_of_the_operator(tmp_path: Path) -> None:
    gathered = read(forms.must_gather(), tmp_path)
    assert {(node.node, node.gpus_expected) for node in facts(gathered, "nodes")} == {("gpu-07", 8), ("gpu-08", 4)}
    (waits,) = [one for one in facts(gathered, "messages") if one.name == "waits_for_mps_daemon"]
    assert (waits.namespace, waits.pod, waits.container) == (
        "gpu-operator",
        "nvidia-device-plugin-daemonset-x2x7k",
        "nvidia-device-plugin",
    )
    assert waits.component == "device-plugin"
    assert waits.origin.line == 3


def test_a_must_gather_of_openshift(tmp_path: Path) -> None:
    gathered = read(forms.openshift(), tmp_path)
    (waits,) = [one for one in facts(gathered, "messages") if one.name == "waits_for_mps_daemon"]
    assert (waits.namespace, waits.pod, waits.container, waits.count) == (
        "gpu-operator",
        "nvidia-device-plugin-daemonset-x2x7k",
        "nvidia-device-plugin",
        2,
    )
    assert [xid.node for xid in facts(gathered, "xids")] == ["gpu-07"]


@pytest.mark.parametrize("folder", ["sosreport-gpu-07-case0042-2026-03-01-kqzjwbt", "unpacked"])
def test_a_sosreport_belongs_to_the_machine_that_it_names(folder: str, tmp_path: Path) -> None:
    gathered = read(forms.sosreport(folder=folder), tmp_path)
    for kind in ("xids", "smi", "gpus", "pci_devices"):
        assert {fact.node for fact in facts(gathered, kind)} == {"gpu-07"}, kind


def test_two_reports_stay_two_machines(tmp_path: Path) -> None:
    files = forms.sosreport() | forms.sosreport("gpu-08", "sosreport-gpu-08-2026-03-01-abcdefg")
    assert {xid.node for xid in facts(read(files, tmp_path), "xids")} == {"gpu-07", "gpu-08"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/namespaces/ml/pods/train-0/main/main/logs/current.log", "ml/train-0"),
        ("a/namespaces/ml/pods/train-0/train-0.yaml", "ml/train-0"),
        ("var/log/pods/ml_train-0_1f0a2b3c-0000-4000-8000-000000000001/main/0.log", "ml/train-0"),
        (f"var/log/containers/train-0_ml_main-{'0a' * 32}.log", "ml/train-0"),
        ("mg/gpu_operand_pod_nvidia-dcgm-exporter-x2x7k.previous.log", "nvidia-dcgm-exporter-x2x7k"),
        ("mg.tar.gz/nvidia-bug-report_gpu-07.rack2.example.log.gz", "gpu-07.rack2.example"),
        ("mg/nodes/gpu-07/dmesg", "gpu-07"),
        ("sosreport-gpu-07-2026-03-01-abcdefg.tar.xz/sosreport-gpu-07-2026-03-01-abcdefg/lsmod", "gpu-07"),
        ("nodes/x.log", ""),
        ("cluster-scoped-resources/core/nodes/gpu-07.yaml", ""),  # the object names itself
        ("train.log", ""),
    ],
)
def test_names_in_paths(path: str, name: str) -> None:
    assert folders.of_path(path).name == name


def test_a_host_at_the_root_of_the_file_system_is_not_every_files() -> None:
    assert folders.hosts([("/etc/hostname", b"gpu-07\n"), ("s/etc/hostname", b"two words\n"), ("t/hostname", b"gpu-08")]) == {
        "t/": "gpu-08"
    }


def test_a_cluster_info_dump() -> None:
    items = json.dumps({"kind": "PodList", "apiVersion": "v1", "items": []}, indent=4)
    dump = f"{items}\n{items}\n==== START logs for container main of pod ml/train-0 ====\nE0301 11:59:00.1 1 a.go:1] x\n"
    dump += "==== END logs for container main of pod ml/train-0 ====\n"
    sections = split("a", dump)
    assert [section.command for section in sections] == ["", "", "kubectl logs train-0 -n ml -c main"]
    assert all(json.loads(section.text) for section in sections[:2])
    assert hints.of_section("a", sections[2].command).about.name == "ml/train-0"


@settings(max_examples=30)
@given(st.integers(0, 6000), st.sampled_from([2018, 2025]), st.text(max_size=30))
def test_a_bug_report_that_is_cut_off_anywhere_is_still_one(end: int, year: int, noise: str) -> None:
    text = forms.bug_report(year=year)[:end] + noise
    for section in split("a", text):
        lines = text.split("\n")
        assert section.text.split("\n")[0] in lines[section.line - 1]
