"""NVML in its child process, over a module that plays pynvml; and what the parser makes of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample, Smi
from gpudoctor.probes import nvml_fields
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.tools.nvidia_smi import nvml

NODE = Subject(kind="node", node="here")
Ask = Callable[..., Output]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    shutil.copy(Path(__file__).with_name("fake_pynvml.py"), tmp_path / "pynvml.py")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def asked(*words: str, wrong: str = "", host: str = "", timeout: float = 20.0) -> Output:
        monkeypatch.setenv("FAKE_NVML", wrong)
        return Live(hosts=["here"])(Command(("nvml", *words), host=host, timeout=timeout))

    return asked


def gpus(output: Output) -> list[Gpu]:
    return [fact for fact in nvml.gpus(output, NODE)["gpus"] if isinstance(fact, Gpu)]


def whole(output: Output) -> Smi:
    (smi,) = nvml.gpus(output, NODE)["smi"]
    assert isinstance(smi, Smi)
    return smi


def test_every_field_is_one_of_the_facts() -> None:
    assert set(nvml_fields.GPU) <= {field.name for field in msgspec.structs.fields(Gpu)}
    assert set(nvml_fields.SAMPLE) <= {field.name for field in msgspec.structs.fields(GpuSample)}


def test_the_real_binding_has_what_is_asked_of_it() -> None:
    pynvml = pytest.importorskip("pynvml")
    for name in ("c_nvmlEccSramErrorStatus_v1_t", "nvmlEccSramErrorStatus_v1", "c_nvmlGpuFabricInfo_v3_t", "nvmlGpuFabricInfo_v3"):
        assert hasattr(pynvml, name)
    assert all(hasattr(pynvml, name) for name in nvml_fields.COUNTERS.values())


def test_gpus(ask: Ask) -> None:
    output = ask("gpus")
    assert (output.failure, output.exit, output.command.argv) == ("", 0, ("nvml", "gpus"))
    first, second = gpus(output)
    assert (first.uuid, first.pci, first.index, second.pci) == (
        "GPU-00000000-1111-2222-3333-444444444444",
        "0000:1b:00",
        0,
        "0000:2b:00",
    )
    assert (first.temperature, first.memory_temperature, round(first.power or 0, 3), first.fan) == (41, 48, 123.456, None)
    assert (first.persistence, first.mig_mode, first.mig_pending, first.memory_used) == (True, "Disabled", "Enabled", 2)
    assert (first.remap_pending, first.remap_failed, first.recovery_action) == (True, False, "reboot")
    assert first.reasons == ["sw_power_cap", "hw_thermal"]
    assert (first.unreadable, first.gaps["fan"]) == ([], "Not Supported")
    answer = whole(output)
    assert (answer.problem, answer.gpus, answer.driver_version, answer.cuda_version) == ("", 2, "570.172.08", "12.8")
    (process,) = nvml.gpus(output, NODE)["gpu_processes"]
    assert isinstance(process, GpuProcess)
    assert (process.pid, process.process, process.kind, process.memory, process.uuid) == (4711, "/usr/bin/python3", "C", 1024, first.uuid)


def test_an_error_of_one_field_costs_that_field_only(ask: Ask) -> None:
    first = gpus(ask("gpus", wrong="temperature"))[0]
    assert (first.temperature, first.unreadable, first.problem) == (None, ["temperature"], "unknown_error")
    assert first.memory_temperature == 48
    assert gpus(ask("gpus", wrong="saturated"))[0].ecc_corrected_volatile is None


def test_a_gpu_that_is_lost(ask: Ask) -> None:
    first, second = gpus(ask("gpus", wrong="lost"))
    assert first.problem == ""
    assert (second.index, second.problem) == (1, "gpu_lost")


@pytest.mark.parametrize(("wrong", "problem"), [("mismatch", "mismatch"), ("none", "no_devices"), ("count", "unknown_error")])
def test_nvml_as_a_whole(ask: Ask, wrong: str, problem: str) -> None:
    assert whole(ask("gpus", wrong=wrong)).problem == problem


def test_a_call_that_hangs_is_left_behind_in_time(ask: Ask) -> None:
    started = time.monotonic()
    output = ask("gpus", wrong="hangs", timeout=3)
    assert (output.failure, output.reason) == ("timeout", "NVML did not answer within 3 s")
    assert time.monotonic() - started < 20
    assert whole(output).problem == "timeout"


def test_samples(ask: Ask) -> None:
    facts = nvml.samples(ask("samples", "0.2", "0.1"), NODE)["gpu_samples"]
    samples = [fact for fact in facts if isinstance(fact, GpuSample)]
    assert len(samples) == 6
    assert [sample.pci for sample in samples[:2]] == ["0000:1b:00", "0000:2b:00"]
    assert (samples[0].sm_clock, samples[0].memory_clock, samples[0].throttled) == (1410, 2619, {"sw_power_cap": 2.5})
    assert samples[-1].time
    assert 0.15 < samples[-1].time - (samples[0].time or 0) < 60


def test_other_hosts_are_not_asked(ask: Ask) -> None:
    output = ask("gpus", host="gpu-07")
    assert (output.failure, output.reason) == ("not-allowed", "NVML is asked on this machine only")
    assert ask("gpus", host="here").ok


def test_words_that_are_none(ask: Ask) -> None:
    output = ask("samples", "x", "0")
    assert output.exit != 0 or output.failure
