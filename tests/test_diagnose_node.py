"""`diagnose node`: which machines are meant, a runbook's inputs as options, GPUs against their peers, the table of GPUs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.cli import nodes
from gpudoctor.cli.errors import Refused
from gpudoctor.cli.inputs import further_options
from gpudoctor.cli.nodes import expand, node_inputs
from gpudoctor.cli.where import Where
from gpudoctor.derive.gpu_table import table
from gpudoctor.derive.outliers import find_outliers
from gpudoctor.engine.asking import question_of
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.node import GpuRow, KernelModule, Outlier, PciDevice
from gpudoctor.library.index import library
from gpudoctor.runbook.model import Input, Runbook

FIXTURES = Path(__file__).parent / "fixtures" / "node-health"
OF_NODES = Runbook(
    id="of-nodes",
    title="t",
    inputs={
        "nodes": Input(type="string", default="", help="h"),
        "selector": Input(type="string", default="", help="h"),
        "local": Input(type="bool", default=False, help="h"),
    },
)
OF_ONE = Runbook(id="of-one", title="t", inputs={"node": Input(type="string", default="", help="h")})


# Which machines


def test_a_node_set_is_expanded_in_its_order_each_once() -> None:
    assert expand(["gpu-[09-11,03]", "login1,gpu-10"]) == ["gpu-03", "gpu-09", "gpu-10", "gpu-11", "login1"]
    assert expand(["root@gpu-07", "10.0.0.7", "GPU-A.example.org"]) == ["root@gpu-07", "10.0.0.7", "GPU-A.example.org"]


@pytest.mark.parametrize(
    "text", ["", "gpu-[1-", "-oProxyCommand=x", "a;b", "$(id)", "a b/c", "@all", "gpu-*", "a\x1b[2J", "x" * 300, "gpu-[01-02]!gpu-[01-02]"]
)
def test_what_is_no_set_of_machines_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        expand([text])


@pytest.mark.parametrize("text", ["gpu-[1-999999999]", "a[1-9999]b[1-9999]", "gpu-[0-999999999/2]", ",".join(["n[1-5000]"] * 3)])
def test_a_set_that_would_fill_the_memory_is_not_made(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(Refused, match="more than 10000 machines"):
        expand([text])
    assert time.perf_counter() - started < 10


@settings(max_examples=50, derandomize=True)
@given(st.text(alphabet="gpu-[]0123456789,/!^&@ab. ", max_size=40))
def test_no_text_does_anything_but_be_refused(text: str) -> None:
    try:
        names = expand([text])
    except Refused:
        return
    assert all(nodes.NAME.match(name) for name in names)


@pytest.mark.parametrize(
    ("runbook", "inputs", "asked"),
    [
        ("node-health", {"nodes": "gpu-02"}, "node gpu-02"),
        ("node-health", {"nodes": "gpu-02,"}, "node gpu-02"),
        ("node-health", {"nodes": "gpu-01,gpu-02,gpu-04"}, "3 nodes gpu-[01-02,04]"),
        ("node-health", {"selector": "gpu=true"}, "nodes with gpu=true"),
        ("node-health", {}, "as the command says"),
        ("diagnose-pod", {"name": "train-0", "namespace": "ml"}, "pod ml/train-0"),
        ("diagnose-pod", {"kind": "job", "name": "train", "namespace": ""}, "job train"),
        ("diagnose-pod", {"namespace": "ml"}, "GPU pods in ml"),
        ("diagnose-pod", {"namespace": "ml", "selector": "app=x"}, "pods with app=x in ml"),
        ("diagnose-pod", {"all_namespaces": True}, "GPU pods in all namespaces"),
        ("nccl", {"ras": "gpu-01"}, "NCCL on gpu-01"),
        ("gpu-stack", {"node": "gpu-01"}, "node gpu-01"),
    ],
)
def test_a_runbook_says_what_is_asked(runbook: str, inputs: dict[str, object], asked: str) -> None:
    assert question_of(library(), library().runbooks[runbook], inputs, "as the command says") == asked


def test_the_options_fill_the_inputs_that_a_runbook_has() -> None:
    assert node_inputs(OF_NODES, Where()) == {}
    assert node_inputs(OF_NODES, Where(nodes=["gpu-[1-2]"])) == {"nodes": "gpu-1,gpu-2"}
    assert node_inputs(OF_NODES, Where(selector="gpu=true")) == {"selector": "gpu=true"}
    assert node_inputs(OF_NODES, Where(local=True)) == {"nodes": nodes.this_machine(), "local": True}
    assert node_inputs(OF_ONE, Where(nodes=["gpu-2"])) == {"node": "gpu-2"}
    for wrong, book in ((Where(nodes=["a"], local=True), OF_NODES), (Where(nodes=["a[1-2]"]), OF_ONE), (Where(local=True), OF_ONE)):
        with pytest.raises(Refused):
            node_inputs(book, wrong)
    with pytest.raises(Refused, match="label selector"):
        node_inputs(OF_NODES, Where(selector="--all"))


def test_a_runbooks_inputs_are_options() -> None:
    assert further_options(["thermal-throttle", "--for", "30s", "--deep"]) == ("thermal-throttle", ["--for=30s", "--deep=true"])
    assert further_options(["--for=30s", "thermal-throttle"]) == ("thermal-throttle", ["--for=30s"])
    assert further_options([""]) == ("", [])
    for wrong in (["book", "other"], ["book", "-z"]):
        with pytest.raises(Refused, match="no option or argument"):
            further_options(wrong)


# Peers


def rack(machines: int = 4, gpus: int = 8, **more: Any) -> list[Gpu]:
    """Equal GPUs at one power, one degree apart."""
    usual: dict[str, Any] = {"product": "NVIDIA H100", "driver_version": "570.172.08", "power": 650.0, "ecc_mode": True, **more}
    return [
        Gpu(node=f"gpu-{node:02}", gpu=f"GPU-{node}-{index}", index=index, temperature=60 + index % 3, **usual)
        for node in range(1, machines + 1)
        for index in range(gpus)
    ]


def changed(gpus: list[Gpu], which: dict[str, str], **fields: Any) -> list[Gpu]:
    """The GPUs that have these fields changed."""
    from msgspec.structs import replace

    return [replace(gpu, **fields) if all(getattr(gpu, name) == value for name, value in which.items()) else gpu for gpu in gpus]


def outliers(gpus: list[Gpu], *modules: KernelModule) -> list[Outlier]:
    found = find_outliers({"gpus": list(gpus), "kernel_modules": list(modules)}, {}, 0.0)["outliers"]
    return [one for one in found if isinstance(one, Outlier)]


def test_equal_machines_have_no_outliers() -> None:
    assert outliers(rack()) == []
    assert outliers([]) == []
    assert outliers(rack(1, 1)) == []


@pytest.mark.parametrize(
    ("field", "value", "below"), [("vbios", "96.00.74.00.02", None), ("power_limit", 500.0, True), ("ecc_mode", False, None)]
)
def test_one_gpu_differs_from_those_beside_it(field: str, value: Any, below: bool | None) -> None:
    gpus = changed(rack(vbios="96.0", power_limit=700.0), {"gpu": "GPU-2-3"}, **{field: value})
    (one,) = outliers(gpus)
    assert (one.node, one.gpu, one.field, one.peers, one.below, one.among) == ("gpu-02", "GPU-2-3", field, 7, below, "node")


def test_of_two_that_differ_nobody_is_the_odd_one() -> None:
    assert outliers(changed(rack(1, 2), {"gpu": "GPU-1-0"}, vbios="x")) == []
    assert outliers(changed(rack(2), {"node": "gpu-01"}, driver_version="550.1")) == []
    half = changed(changed(rack(1, 4, vbios="a"), {"gpu": "GPU-1-0"}, vbios="b"), {"gpu": "GPU-1-1"}, vbios="b")
    assert outliers(half) == []


def test_a_node_with_another_driver_is_one_outlier_not_eight() -> None:
    (one,) = outliers(changed(rack(), {"node": "gpu-03"}, driver_version="550.163.01"))
    assert (one.node, one.gpu, one.field, one.value, one.usual, one.peers) == (
        "gpu-03",
        "",
        "driver_version",
        "550.163.01",
        "570.172.08",
        3,
    )


def test_a_driver_that_nvidia_smi_could_not_say_is_taken_from_the_module() -> None:
    (one,) = outliers(changed(rack(), {"node": "gpu-03"}, driver_version=""), KernelModule(node="gpu-03", module="nvidia", version="535.1"))
    assert (one.node, one.value) == ("gpu-03", "535.1")


def test_fewer_gpus_than_the_other_nodes() -> None:
    (one,) = outliers(rack()[:-1])
    assert (one.node, one.field, one.value, one.usual, one.below, one.among) == ("gpu-04", "count", "7", "8", True, "run")


def test_different_products_are_not_compared() -> None:
    assert outliers([*rack(1), *changed(rack(1), {}, product="NVIDIA L4", vbios="x", node="cpu-1")]) == []


@pytest.mark.parametrize(("degrees", "watts", "found"), [(85, 650.0, True), (69, 650.0, False), (85, 200.0, False), (40, 650.0, False)])
def test_hotter_at_equal_power(degrees: int, watts: float, found: bool) -> None:
    made = outliers(changed(rack(1), {"gpu": "GPU-1-5"}, temperature=degrees, power=watts))
    assert [(one.gpu, one.field) for one in made] == ([("GPU-1-5", "temperature")] if found else [])


def test_what_could_not_be_read_is_no_outlier() -> None:
    gpus = changed(rack(), {"gpu": "GPU-1-1"}, temperature=None, power=None, driver_version="", ecc_mode=None)
    assert outliers(gpus) == []


def test_a_hostile_number_of_gpus_takes_no_time() -> None:
    started = time.perf_counter()
    outliers(rack(2, 20_000))
    assert time.perf_counter() - started < 20


# The table


def rows(gpus: list[Gpu], *xids: Xid) -> list[GpuRow]:
    return [one for one in table({"gpus": list(gpus), "xids": list(xids)}, {}, 0.0)["gpu_rows"] if isinstance(one, GpuRow)]


def test_a_healthy_rack_is_one_row() -> None:
    (row,) = rows(rack(16, 8, ecc_uncorrected_volatile=0, remapped_correctable=0, recovery_action="none", fabric_state="Completed"))
    assert (row.machines, row.which, row.temperature, row.draws, row.ecc, row.remapped, row.state) == (
        "gpu-[01-16]", "128", "60-62 °C", "650 W", "0", "0", "ok",
    )  # fmt: skip


def test_a_sick_gpu_stands_in_its_own_row_first() -> None:
    gpus = changed(rack(2), {"gpu": "GPU-2-5"}, pci="0000:5b:00", remap_pending=True)
    first, *rest = rows(
        gpus, Xid(node="gpu-02", pci="0000:5b:00", code=79, severity="critical"), Xid(node="gpu-02", code=13, severity="warning")
    )
    assert (first.machines, first.which, first.remapped, first.state) == ("gpu-02", "GPU 5", "pending", "Xid 79")
    assert [(row.machines, row.which) for row in rest] == [("gpu-[01-02]", "15")]


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"problem": "gpu_lost"}, "gpu lost"),
        ({"unreadable": ["power"]}, "unreadable"),
        ({"recovery_action": "drain_and_reset"}, "needs drain and reset"),
        ({"fabric_state": "In Progress"}, "fabric in progress"),
        ({"fabric_state": "N/A"}, "ok"),
        ({"sram_threshold_exceeded": True}, "SRAM threshold exceeded"),
    ],
)
def test_the_state_is_what_the_driver_says(fields: dict[str, Any], state: str) -> None:
    assert rows(changed(rack(1, 1), {}, **fields))[0].state == state


def test_a_gpu_that_only_the_bus_and_the_log_know_has_a_row() -> None:
    gpus = changed(rack(1, 2), {"gpu": "GPU-1-0"}, pci="0000:1b:00")[:1]
    devices = [PciDevice(node="gpu-01", pci=pci, kind="gpu") for pci in ("0000:1b:00", "0000:43:00")]
    xid = Xid(node="gpu-01", pci="0000:43:00", code=79, severity="critical")
    made = table({"gpus": list(gpus), "pci_devices": list(devices), "xids": [xid]}, {}, 0.0)["gpu_rows"]
    assert [(row.which, row.state) for row in made if isinstance(row, GpuRow)] == [
        ("0000:43:00", "Xid 79, not shown by the driver"),
        ("1", "ok"),
    ]


def test_which_gpus_of_a_node() -> None:
    gpus = changed(changed(rack(1), {"gpu": "GPU-1-0"}, vbios="b", product="x"), {"gpu": "GPU-1-1"}, product="x")
    assert sorted(row.which for row in rows(gpus)) == ["GPUs 0-1", "GPUs 2-7"]
    assert rows(rack(1, 8))[0].which == "all 8"


def test_nothing_read_is_a_question_mark() -> None:
    (row,) = rows([Gpu(node="gpu-01", gpu="GPU-1")])
    assert (row.product, row.driver, row.temperature, row.draws, row.ecc, row.remapped) == ("?",) * 6


# The command


def gpudoctor(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gpudoctor", *words], capture_output=True, text=True, timeout=120, cwd=cwd, check=False)


def test_a_rack_that_is_well_fits_on_a_screen() -> None:
    done = gpudoctor("diagnose", "node", "--replay", str(FIXTURES / "rack-healthy"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("HEALTHY  3 nodes gpu-[01-03]\n  all that is expected was shown\n")
    assert "gpu-[01-03]  12   NVIDIA L40S" in done.stdout
    assert len(done.stdout.splitlines()) <= 25


def test_a_replay_of_a_machine_that_did_not_answer_says_so() -> None:
    done = gpudoctor("diagnose", "node", "--replay", str(FIXTURES / "rack-one-silent"), "--format", "json")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert report["asked"] == "2 nodes gpu-[01-02]"
    assert any("gpu-02" in missing["what"] and "no answer in 10 s" in missing["why"] for missing in report["coverage"]["missing"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("diagnose", "node"), "which nodes? give names such as gpu-[01-16]"),
        (("diagnose", "node", "gpu-[1-"), "is no node set such as gpu-[01-16,18]"),
        (("diagnose", "node", "gpu-1", "--local"), "one of them"),
        (("diagnose", "node", "gpu-1", "--via", "telnet"), "--via takes auto, pod, ssh, debug-pod"),
        (("run", "node-health", "--locale", "x"), "--locale=x: unknown input of node-health 'locale'; did you mean 'local'?"),
        (("run", "cluster-services", "--node", "gpu-1"), "cluster-services takes no"),
        (("run", "node-health", "extra"), "no option or argument 'extra'"),
        (("xid", "--local", "--since", "2h"), "--since is for files"),
        (("xid", "no-such-file"), "neither a code nor a file"),
        (("xid",), "which codes, log or nodes? `gpudoctor xid 79`"),
    ],
)
def test_mistakes_have_one_clear_sentence(words: tuple[str, ...], says: str) -> None:
    done = gpudoctor(*words)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert done.stderr.count("\n") <= 2


def test_a_kernel_log_is_triaged(tmp_path: Path) -> None:
    (tmp_path / "79.log").write_text(
        "2026-03-01T11:52:03,000000+00:00 NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        "2026-03-01T11:52:04,000000+00:00 NVRM: Xid (PCI:0000:1b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
        "(Node Reboot Required)\n"
    )
    done = gpudoctor("xid", "79.log", cwd=tmp_path)
    assert done.returncode == 1
    assert "fallen off the bus" in done.stdout.splitlines()[1]
    assert "What happened to each GPU, in order" in done.stdout
