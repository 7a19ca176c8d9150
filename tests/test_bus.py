"""What a machine says of its bus, modules and units, and what NVML says: parsers, hostile input, and that `analyze` knows the forms."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import Gpu, GpuSample
from gpudoctor.intake.hints import of_file
from gpudoctor.intake.recognise import recognise
from gpudoctor.probes import nvml_child
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.kernel import driver_version
from gpudoctor.tools.linux import lspci as linux_lspci
from gpudoctor.tools.linux import modules as linux_modules
from gpudoctor.tools.linux import systemd_units
from gpudoctor.tools.nvidia_smi import nvml
from gpudoctor.tools.parser import ParseError
from tests.nodes.bus import NVIDIA_MODULES, Slot, lspci, modules, units, version
from tests.nodes.smi import Card, smi_q, smi_xml
from tests.nodes.smi_table import smi_list, smi_table

NODE = Subject(kind="node", node="gpu-07")


def output(text: str | bytes, *argv: str, exit: int = 0, stderr: str = "") -> Output:
    body = text if isinstance(text, bytes) else text.encode()
    return Output(Command(argv or ("tool",), host="gpu-07"), exit, (body,), stderr.encode(), 0.1, 1772366400.0)


def devices(text: str, *argv: str) -> list[Any]:
    return linux_lspci.lspci(output(text, *argv), NODE)["pci_devices"]


def test_a_gpu_with_everything() -> None:
    (gpu,) = devices(lspci([Slot()]))
    assert (gpu.pci, gpu.gpu, gpu.kind, gpu.vendor, gpu.device, gpu.product) == (
        "0000:1b:00",
        "0000:1b:00",
        "gpu",
        "10de",
        "2330",
        "GH100 [H100 SXM5 80GB]",
    )
    assert (gpu.revision, gpu.answers, gpu.driver, gpu.modules) == ("a1", True, "nvidia", ["nvidiafb", "nouveau", "nvidia_drm", "nvidia"])
    assert (gpu.width, gpu.width_max, gpu.speed, gpu.speed_max, gpu.bars_unassigned) == (16, 16, 32.0, 32.0, 0)


def test_what_is_wrong_with_a_device() -> None:
    gone, slow, blind, windowless = devices(
        lspci(
            [
                Slot(revision="ff", driver=""),
                Slot(pci="0000:2b:00.0", speed=("32GT/s", "2.5GT/s"), width=(16, 8)),
                Slot(pci="0000:3b:00.0", root=False),
                Slot(pci="0000:4b:00.0", driver="", bars=("Memory at <unassigned> (64-bit, prefetchable)", "Memory at <ignored> (32-bit)")),
            ]
        )
    )
    assert (gone.answers, gone.driver, gone.width) == (False, "", None)
    assert (slow.speed, slow.speed_max, slow.width, slow.width_max) == (2.5, 32.0, 8, 16)
    assert (blind.width, blind.gaps["width"], blind.driver) == (None, "<access denied>", "nvidia")
    assert (windowless.bars_unassigned, windowless.driver) == (2, "")


def test_other_kinds_keep_their_function() -> None:
    switch, audio = devices(lspci([Slot(kind="switch", device="22a3"), Slot(pci="0000:1b:00.1", kind="audio", device="22ba")]))
    assert [(one.kind, one.pci, one.gpu) for one in (switch, audio)] == [("switch", "0000:1b:00.0", ""), ("audio", "0000:1b:00.1", "")]


PLAIN = """00:00.0 Host bridge: Intel Corporation Device 09a2 (rev 04)
1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
5d:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev ff)
9c:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
"""


def test_a_plain_list() -> None:
    first, second, nic = devices(PLAIN)
    assert [(one.kind, one.pci, one.answers, one.driver) for one in (first, second)] == [
        ("gpu", "0000:1b:00", True, None),
        ("gpu", "0000:5d:00", False, None),
    ]
    assert (nic.kind, nic.vendor, nic.device) == ("nic", "15b3", "1021")


def test_a_bus_without_nvidia_says_so_only_where_all_of_it_was_listed() -> None:
    assert [one.kind for one in devices("", "lspci", "-d", "10de:")] == ["none"]
    assert [one.kind for one in devices(PLAIN.split("\n")[0])] == ["none"]
    assert devices("") == []
    assert [one.kind for one in devices(PLAIN.split("\n")[3])] == ["nic"]


def test_modules() -> None:
    found = {one.module: one for one in linux_modules.modules(output(NVIDIA_MODULES), NODE)["kernel_modules"]}
    assert (found["nvidia"].loaded, found["nvidia"].users, found["nouveau"].loaded, "ext4" in found) == (True, 120, False, False)
    listed = "Module                  Size  Used by\nnouveau              2306048  2\n"
    found = {one.module: one for one in linux_modules.modules(output(listed), NODE)["kernel_modules"]}
    assert (found["nouveau"].loaded, found["nvidia"].loaded) == (True, False)
    assert linux_modules.modules(output(""), NODE) == {"kernel_modules": []}
    picked = linux_modules.modules(output("nvidia_uvm           1540096  0\nnvidia              56512512  1 nvidia_uvm\n"), NODE)
    assert [(one.module, one.loaded, one.users) for one in picked["kernel_modules"]] == [("nvidia_uvm", True, 0), ("nvidia", True, 1)]
    with pytest.raises(ParseError, match="no list of kernel modules"):
        linux_modules.modules(output("hello"), NODE)


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("driver", ["470.256.02", "535.161.08", "570.172.08", "595.58.03"])
def test_the_module_that_is_loaded(driver: str, *, is_open: bool) -> None:
    (module,) = driver_version.version(output(version(driver, is_open=is_open)), NODE)["kernel_modules"]
    assert (module.module, module.version, module.open, module.loaded) == ("nvidia", driver, is_open, True)


def test_no_module_is_an_answer() -> None:
    gone = output("", exit=1, stderr="cat: /proc/driver/nvidia/version: No such file or directory\n")
    (module,) = driver_version.version(gone, NODE)["kernel_modules"]
    assert module.loaded is False
    with pytest.raises(ParseError, match="not the version"):
        driver_version.version(output("hello"), NODE)


STATUS = """● nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/usr/lib/systemd/system/nvidia-fabricmanager.service; enabled; preset: enabled)
     Active: failed (Result: exit-code) since Sun 2026-03-01 08:00:14 UTC; 3h 59min ago
   Main PID: 2117 (code=exited, status=1/FAILURE)
"""


def test_units() -> None:
    failed, absent = systemd_units.units(output(units(nvidia_dcgm="failed", nvidia_fabricmanager="absent")), NODE)["units"]
    assert (failed.unit, failed.load, failed.active, failed.sub, failed.result, failed.enabled) == (
        "nvidia-dcgm",
        "loaded",
        "failed",
        "failed",
        "exit-code",
        "enabled",
    )
    assert (absent.unit, absent.load, absent.active) == ("nvidia-fabricmanager", "not-found", "inactive")
    (shown,) = systemd_units.units(output(STATUS), NODE)["units"]
    assert (shown.unit, shown.load, shown.enabled, shown.active, shown.result) == (
        "nvidia-fabricmanager",
        "loaded",
        "enabled",
        "failed",
        "exit-code",
    )
    listed = (
        "  nvidia-persistenced.service  loaded active running NVIDIA Persistence Daemon\n"
        "● nvidia-dcgm.service  loaded failed failed NVIDIA DCGM\n"
    )
    assert [(one.unit, one.active) for one in systemd_units.units(output(listed), NODE)["units"]] == [
        ("nvidia-persistenced", "active"),
        ("nvidia-dcgm", "failed"),
    ]


NVML: dict[str, Any] = {
    "nvml": 1,
    "driver": "570.172.08",
    "library": "12.570.172.08",
    "cuda": "12.8",
    "code": 0,
    "error": "",
    "gpus": [
        {"index": 0, "uuid": "GPU-a", "pci": "00000000:1B:00.0", "temperature": 41, "power": 71, "reasons": 4, "pcie_replays": 2**32 - 1}
        | {"retired_pages": {"error": 3, "text": "Not Supported"}, "fan": {"error": 999, "text": "Unknown Error"}, "ecc_mode": True},
        {"index": 1, "error": 15, "text": "GPU is lost"},
    ],
    "processes": [{"uuid": "GPU-a", "pid": 4711, "process": "python", "kind": "C", "memory": 1024}],
}


def test_nvml() -> None:
    facts = nvml.gpus(output(msgspec.json.encode(NVML)), NODE)
    (answer,), (one, other), (process,) = facts["smi"], facts["gpus"], facts["gpu_processes"]
    assert (answer.problem, answer.driver_version, answer.cuda_version, answer.gpus, answer.inside) == ("", "570.172.08", "12.8", 2, "node")
    assert isinstance(one, Gpu)
    assert (one.pci, one.temperature, one.power, one.reasons, one.ecc_mode) == ("0000:1b:00", 41, 71.0, ["sw_power_cap"], True)
    assert one.gaps == {"retired_pages": "Not Supported", "fan": "Unknown Error", "pcie_replays": "saturated"}
    assert (one.unreadable, one.problem, other.unreadable, other.problem) == (["fan"], "unknown_error", ["handle"], "gpu_lost")
    assert (process.pid, process.pci, process.memory) == (4711, "0000:1b:00", 1024)


def test_nvml_that_does_not_start() -> None:
    said = {"nvml": 1, "code": 18, "error": "Driver/library version mismatch"}
    facts = nvml.gpus(output(msgspec.json.encode(said)), NODE)
    assert (facts["smi"][0].problem, facts["smi"][0].text, "gpus" in facts) == ("mismatch", "Driver/library version mismatch", False)
    hung = replace_failure(output(""), "timeout")
    assert nvml.gpus(hung, NODE)["smi"][0].problem == "timeout"


def replace_failure(answer: Output, failure: Any) -> Output:
    return msgspec.structs.replace(answer, failure=failure, reason="no answer within 30 s")


def test_samples_of_nvml() -> None:
    said = {"nvml": 1, "samples": [{"time": 5.5, "uuid": "GPU-a", "sm_clock": 1410, "reasons": 8, "throttled": {"hw_slowdown": 2}}]}
    (sample,) = nvml.samples(output(msgspec.json.encode(said)), NODE)["gpu_samples"]
    assert isinstance(sample, GpuSample)
    assert (sample.time, sample.gpu, sample.sm_clock, sample.reasons, sample.throttled) == (
        5.5,
        "GPU-a",
        1410.0,
        ["hw_slowdown"],
        {"hw_slowdown": 2.0},
    )


def test_the_child_names_only_fields_that_there_are() -> None:
    assert set(nvml_child.GPU) <= set(Gpu.__struct_fields__)
    assert {*nvml_child.NAMES, *nvml_child.SAMPLE} <= set(GpuSample.__struct_fields__)


PARSERS: dict[str, tuple[Any, str]] = {
    "lspci": (linux_lspci.lspci, lspci([Slot(), Slot(pci="0000:5d:00.0", revision="ff")])),
    "modules": (linux_modules.modules, NVIDIA_MODULES),
    "version": (driver_version.version, version()),
    "units": (systemd_units.units, units(nvidia_dcgm="failed") + STATUS),
    "nvml": (nvml.gpus, msgspec.json.encode(NVML).decode()),
    "nvml samples": (nvml.samples, '{"nvml": 1, "samples": [{"time": 5.5, "uuid": "GPU-a", "reasons": "x", "sm_clock": "1"}, 7]}'),
}


def attempt(parser: Any, data: bytes) -> dict[str, list[Any]]:
    try:
        facts: dict[str, list[Any]] = parser(output(data), NODE)
    except ParseError as error:
        assert "tool" in str(error)  # noqa: PT017
        return {}
    return facts


@pytest.mark.parametrize("name", PARSERS)
def test_cut_off_anywhere_and_changed(name: str) -> None:
    parser, text = PARSERS[name]
    data = text.encode()
    for end in range(len(data)):
        attempt(parser, data[:end])
    for changed in (
        data.replace(b"\n", b"\r\n"),
        data.replace(b" ", b" \x00"),
        b"\x1b[1m" + data,
        data + b"\xc3",
        data[: len(data) // 2] + b"\xe2\x82",
    ):
        attempt(parser, changed)
    crlf = attempt(parser, data.replace(b"\n", b"\r\n"))
    assert {kind: len(found) for kind, found in crlf.items()} == {kind: len(found) for kind, found in attempt(parser, data).items()}


@pytest.mark.parametrize("name", PARSERS)
def test_much_hostile_input_is_linear(name: str) -> None:
    parser, text = PARSERS[name]
    line = max(text.split("\n"), key=len)
    for hostile in (line[:-1] * (1_000_000 // len(line)), f"{line}\n" * (1_000_000 // (len(line) + 1)), "[" * 1_000_000, " " * 1_000_000):
        attempt(parser, hostile.encode())


@settings(max_examples=40, derandomize=True)
@given(st.binary(max_size=300))
def test_any_bytes_raise_nothing_else(data: bytes) -> None:
    for parser, _ in PARSERS.values():
        attempt(parser, data)


CARDS = [Card(), Card(index=1, pci="0000:5d:00.0")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (smi_xml(CARDS), "nvidia.smi"),
        (smi_q(CARDS), "nvidia.smi"),
        (smi_table(CARDS), "nvidia.smi"),
        (smi_list(CARDS), "nvidia.smi"),
        ("index, temperature.gpu\n0, 41\n", "nvidia.smi"),
        ("power.draw [W], fan.speed [%]\n70 W, [N/A]\n", "nvidia.smi"),
        ("        Remapped Rows\n            Correctable Error                 : 0\n", "nvidia.smi"),
        ("Failed to initialize NVML: Unknown Error\n", "nvidia.smi"),
        (lspci([Slot()]), "linux.lspci"),
        (PLAIN, "linux.lspci"),
        (NVIDIA_MODULES, "linux.modules"),
        (modules("ext4:1"), "linux.modules"),
        (version(), "nvidia.version"),
        (units(nvidia_dcgm="active"), "linux.units"),
        (STATUS, "linux.units"),
        (msgspec.json.encode(NVML).decode(), "nvidia.nvml"),
    ],
)
def test_the_forms_are_recognised(text: str, name: str) -> None:
    assert recognise(text, of_file("pasted.txt"))[0].name == name
