"""nvidia-smi in all its forms: what each field becomes, that the forms agree, and that nothing hostile gets through."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.engine.reading import read_answer
from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import Gpu
from gpudoctor.knowledge import clock_reasons
from gpudoctor.probes.base import Command, Failure, Output
from gpudoctor.tools.nvidia_smi import smi as nvidia_smi
from gpudoctor.tools.parser import ParseError
from tests.nodes.smi import Card, Process, smi_q, smi_xml
from tests.nodes.smi_table import smi_list, smi_table

NODE = Subject(kind="node", node="gpu-07")
TWO = [
    Card(processes=(Process(4711, "python3 train.py", 60000),), utilisation=97, volatile=(3, 0, 177, 0), aggregate=(3, 5, 190, 1)),
    Card(
        index=1, pci="0000:5d:00.0", active=("hw_slowdown", "hw_thermal"), counters={"hw_thermal": 2_500_000}, remapped=(1, 2, "Yes", "No")
    ),
]
DRIVERS = ("525.60.13", "535.161.08", "550.90.07", "570.172.08", "580.65.06", "595.58.03")


def smi(
    text: str | bytes, *argv: str, exit: int = 0, failure: Failure = "", stderr: str = "", about: Subject = NODE, source: str = ""
) -> dict[str, list[Any]]:
    body = text if isinstance(text, bytes) else text.encode()
    command = Command(argv or ("nvidia-smi",), host="gpu-07")
    output = Output(command, exit, (body,), stderr.encode(), 0.1, 1772366400.0, failure, "no answer within 60 s" if failure else "", source)
    try:
        return nvidia_smi.smi(output, about)
    except ParseError as broken_off:  # what stood before the end is kept
        return broken_off.facts


def fields(record: Any) -> dict[str, Any]:
    """A record without its place."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    del found["origin"]
    return found


@pytest.mark.parametrize("driver", DRIVERS)
def test_text_and_xml_agree_on_every_field(driver: str) -> None:
    text, xml = smi(smi_q(TWO, driver)), smi(smi_xml(TWO, driver), "nvidia-smi", "-q", "-x")
    assert xml["smi"][0].driver_version == driver
    for kind in ("gpus", "gpu_processes", "gpu_samples"):
        assert [fields(one) for one in text[kind]] == [fields(one) for one in xml[kind]]


def test_every_field_of_a_sound_card() -> None:
    one, other = smi(smi_xml(TWO))["gpus"]
    assert (one.uuid, one.pci, one.gpu, one.minor, one.product) == (TWO[0].name, "0000:1b:00", TWO[0].name, 0, "NVIDIA H100 80GB HBM3")
    assert (one.serial, one.part_number, one.vbios, one.inforom) == (
        "1650023000000",
        "692-2G520-0200-000",
        "96.00.74.00.0D",
        "G520.0200.00.05",
    )
    assert (one.gsp_firmware, one.driver_version, one.persistence, one.compute_mode) == ("570.172.08", "570.172.08", True, "Default")
    assert (one.mig_mode, one.mig_pending, one.pstate, one.utilisation, one.processes) == ("Disabled", "Disabled", 0, 97, 1)
    assert (one.memory_used, one.memory_total, one.memory_reserved, one.bar1_total) == (4, 81559, 551, 131072)
    assert (one.temperature, one.memory_temperature, one.margin, one.fan, one.gaps["fan"]) == (31, 40, 54, None, "N/A")
    assert (one.power, one.power_average, one.power_limit, one.power_limit_default, one.power_limit_max) == (
        70.5,
        70.5,
        700.0,
        700.0,
        700.0,
    )
    assert (one.sm_clock, one.sm_clock_max, one.memory_clock, one.application_clock, one.reasons) == (1980, 1980, 2619, 1980, [])
    assert (one.pcie_gen, one.pcie_gen_max, one.pcie_gen_device, one.pcie_gen_host) == (5, 5, 5, 5)
    assert (one.pcie_width, one.pcie_width_max, one.pcie_replays, one.ecc_mode, one.ecc_pending) == (16, 16, 0, True, True)
    assert (one.ecc_corrected_volatile, one.ecc_corrected_aggregate, one.ecc_uncorrected_aggregate) == (180, 193, 6)
    assert (one.sram_uncorrected_volatile, one.sram_uncorrected_aggregate, one.sram_threshold_exceeded) == (0, 5, False)
    assert (other.remap_pending, other.remap_failed, other.remapped_correctable, other.remapped_uncorrectable) == (True, False, 1, 2)
    assert (other.remap_banks_none, other.reasons, other.processes) == (0, ["hw_slowdown", "hw_thermal"], 0)
    assert (one.recovery_action, one.fabric_state, one.fabric_status, one.fabric_health) == ("none", "Completed", "Success", "Healthy")
    assert (one.unreadable, one.problem, one.retired_pages, one.gaps["retired_pages"]) == ([], "", None, "N/A")


def test_processes_and_samples() -> None:
    facts = smi(smi_xml(TWO))
    (process,) = facts["gpu_processes"]
    assert (process.pid, process.process, process.kind, process.memory, process.uuid) == (4711, "python3 train.py", "C", 60000, TWO[0].name)
    first, second = facts["gpu_samples"]
    assert (first.time, first.sm_clock, first.utilisation, first.ecc_corrected) == (1772366400.0, 1980.0, 97.0, 180)
    assert (second.reasons, second.throttled["hw_thermal"]) == (["hw_slowdown", "hw_thermal"], 2.5)


def test_retired_pages_of_cards_before_ampere() -> None:
    (gpu,) = smi(smi_q([Card(product="Tesla V100-SXM2-32GB", retired=(3, 2, "Yes"))], "535.161.08"))["gpus"]
    assert (gpu.retired_pages, gpu.retired_pending, gpu.remap_pending) == (5, True, None)


def test_old_names_of_ecc_counts() -> None:
    text = (
        "GPU 00000000:3B:00.0\n    ECC Errors\n        Volatile\n            Single Bit\n                Device Memory : 4\n"
        "                Total         : 5\n            Double Bit\n                Device Memory : 1\n                Total         : 2\n"
    )
    (gpu,) = smi(text)["gpus"]
    assert (gpu.ecc_corrected_volatile, gpu.ecc_uncorrected_volatile) == (5, 2)


def test_the_values_of_a_mig_instance_are_not_the_gpus() -> None:
    instance = "<mig_devices>\n<mig_device>\n<fb_memory_usage><total>20096 MiB</total></fb_memory_usage>\n</mig_device>\n</mig_devices>\n"
    text = smi_xml([Card(mig=("Enabled", "Enabled"))]).replace("\t\t<accounting_mode>", f"{instance}\t\t<accounting_mode>")
    (gpu,) = smi(text)["gpus"]
    assert gpu.memory_total == 81559
    assert smi(text)["smi"][0].mig is True


def test_values_that_are_errors_missing_or_cannot_be_true() -> None:
    said = {
        "temperature/gpu_temp": "Unknown Error",
        "utilization/gpu_util": "GPU requires reset",
        "pci/replay_counter": "4294967295",
        "temperature/memory_temp": "255 C",
        "clocks/sm_clock": "Requested functionality has been deprecated",
        "addressing_mode": "Unknown Error",
    }
    (gpu,) = smi(smi_xml([Card(said=said)]))["gpus"]
    assert (gpu.unreadable, gpu.problem) == (["utilisation", "temperature"], "reset_required")
    assert gpu.gaps["temperature"] == "Unknown Error"
    assert (gpu.gaps["pcie_replays"], gpu.gaps["memory_temperature"]) == ("saturated", "saturated")
    assert gpu.gaps["sm_clock"].startswith("Requested functionality")
    assert (gpu.temperature, gpu.pcie_replays, gpu.sm_clock) == (None, None, None)


@pytest.mark.parametrize("driver", ["525.60.13", "570.172.08"])
def test_the_table(driver: str) -> None:
    facts = smi(smi_table(TWO, driver))
    one, other = facts["gpus"]
    assert (one.index, one.pci, one.persistence, one.pstate, one.power, one.power_limit) == (0, "0000:1b:00", True, 0, 70.0, 700.0)
    assert (one.temperature, one.memory_used, one.utilisation, one.compute_mode, one.mig_mode) == (31, 4, 97, "Default", "Disabled")
    assert (one.ecc_mode, one.ecc_uncorrected_volatile, one.processes, other.processes) == (True, 0, 1, 0)
    (process,) = facts["gpu_processes"]
    assert (process.pid, process.process, process.memory, process.pci) == (4711, "python3 train.py", 60000, "0000:1b:00")
    assert [sample.time for sample in facts["gpu_samples"]] == [1772366400.0, 1772366400.0]


def test_a_row_full_of_errors_loses_only_itself() -> None:
    one, other = smi(smi_table(TWO, sick=(1,)))["gpus"]
    assert (one.problem, other.problem, other.pci, other.memory_total) == ("", "unknown_error", "0000:5d:00", 81559)
    assert {"product", "fan", "temperature", "pstate", "power", "utilisation", "mig_mode"} <= set(other.unreadable)


def test_a_list_and_a_table_are_about_the_same_gpus() -> None:
    one, other = smi(smi_list(TWO) + smi_table(TWO))["gpus"]
    assert (one.uuid, one.pci, one.gpu, one.temperature) == (TWO[0].name, "0000:1b:00", TWO[0].name, 31)
    assert other.uuid == TWO[1].name


CSV = [
    ("index, pci.bus_id, temperature.gpu, power.draw [W], ecc.mode.current\n0, 00000000:1B:00.0, 41, 71.25 W, Enabled\n", ()),
    ("index, pci.bus_id, temperature.gpu, power.draw, ecc.mode.current\n0, 00000000:1B:00.0, 41, 71.25, Enabled\n", ()),
    (
        "0, 00000000:1B:00.0, 41, 71.25, Enabled\n",
        ("--query-gpu=index,pci.bus_id,temperature.gpu,power.draw,ecc.mode.current", "--format=csv"),
    ),
]


@pytest.mark.parametrize(("text", "argv"), CSV, ids=["units", "without units", "without header"])
def test_query_gpu(text: str, argv: tuple[str, ...]) -> None:
    (gpu,) = smi(text, "nvidia-smi", *argv)["gpus"]
    assert (gpu.index, gpu.pci, gpu.temperature, gpu.power, gpu.ecc_mode) == (0, "0000:1b:00", 41, 71.25, True)


@pytest.mark.parametrize(
    ("cell", "gap", "bad"),
    [
        ("N/A", "N/A", False),
        ("[N/A]", "N/A", False),
        ("[Not Supported]", "Not Supported", False),
        ("[Unknown Error]", "Unknown Error", True),
        ("ERR!", "ERR!", True),
        ("[GPU requires reset]", "GPU requires reset", True),
        ("[GPU is lost]", "GPU is lost", True),
    ],
)
def test_cells_without_a_value(cell: str, gap: str, *, bad: bool) -> None:
    (gpu,) = smi(f"index, temperature.gpu\n0, {cell}\n")["gpus"]
    assert (gpu.temperature, gpu.gaps, gpu.unreadable) == (None, {"temperature": gap}, ["temperature"] if bad else [])


@pytest.mark.parametrize("prefix", ["clocks_event_reasons", "clocks_throttle_reasons"])
def test_reasons_as_mask_and_as_words(prefix: str) -> None:
    (mask,) = smi(f"index, {prefix}.active\n0, 0x0000000000000068\n")["gpus"]
    (words,) = smi(f"index, {prefix}.hw_thermal_slowdown, {prefix}.sw_power_cap\n0, Active, Not Active\n")["gpus"]
    assert (mask.reasons, words.reasons) == (["hw_slowdown", "sw_thermal", "hw_thermal"], ["hw_thermal"])


def test_a_loop_gives_a_sample_a_line() -> None:
    rows = "".join(f"2026/03/01 12:00:0{second}.250, 0, {1400 + second} MHz\n" for second in range(4))
    facts = smi("timestamp, index, clocks.current.sm [MHz]\n" + rows)
    assert [(sample.time, sample.sm_clock) for sample in facts["gpu_samples"]] == [(1772366400.25 + n, 1400.0 + n) for n in range(4)]
    assert len(facts["gpus"]) == 1


def test_rows_without_a_name_are_in_the_order_of_the_indexes() -> None:
    gpus = smi("power.draw [W], utilization.gpu [%], temperature.gpu\n67.97 W, 0 %, 28\n87.12 W, 100 %, 30\n")["gpus"]
    assert [(gpu.index, gpu.power, gpu.utilisation) for gpu in gpus] == [(0, 67.97, 0), (1, 87.12, 100)]


def test_remapped_rows_retired_pages_and_compute_apps() -> None:
    (rows,) = smi(
        "gpu_uuid, gpu_bus_id, remapped_rows.correctable, remapped_rows.uncorrectable, remapped_rows.pending, remapped_rows.failure\n"
        f"{TWO[0].name}, 00000000:1B:00.0, 0, 3, Yes, No\n"
    )["gpus"]
    assert (rows.remapped_uncorrectable, rows.remap_pending, rows.remap_failed) == (3, True, False)
    page = f"{TWO[0].name}, 0x000000000002001{{}}, Double Bit ECC\n"
    (pages,) = smi("gpu_uuid, retired_pages.address, retired_pages.cause\n" + page.format(1) + page.format(2))["gpus"]
    assert pages.retired_pages == 2
    apps = smi(f"gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n{TWO[0].name}, 4711, /usr/bin/python3, 60000 MiB\n")
    assert [(app.pid, app.process, app.memory, app.gpu) for app in apps["gpu_processes"]] == [
        (4711, "/usr/bin/python3", 60000, TWO[0].name)
    ]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195", "mismatch"),
        ("Failed to initialize NVML: Unknown Error", "unknown_error"),
        ("Failed to initialize NVML: Insufficient Permissions", "insufficient_permissions"),
        ("Failed to initialize NVML: GPU is lost", "gpu_lost"),
        ("Failed to initialize NVML: Driver Not Loaded", "driver_not_loaded"),
        ("Failed to initialize NVML: Insufficient External Power", "power_cable"),
        ("Failed to initialize NVML: Interrupt Request Issue", "interrupt"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that …", "driver_not_loaded"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure …", "library_missing"),
        ("Unable to determine the device handle for GPU0000:5D:00.0: Unknown Error", "gpu_lost"),
        ("Unable to determine the device handle for GPU 0000:5D:00.0: GPU is lost.  Reboot the system to recover this GPU", "gpu_lost"),
        ("Unable to determine the device handle for GPU0000:5D:00.0: GPU requires reset", "reset_required"),
        ("GPU 00000000:55:00.0: In use by another client", "in_use"),
        ("No devices were found", "no_devices"),
        ("bash: line 1: nvidia-smi: command not found", "not_found"),
        (
            'OCI runtime exec failed: exec failed: unable to start container process: exec: "nvidia-smi": executable file not found',
            "not_found",
        ),
    ],
)
def test_error_texts(text: str, word: str) -> None:
    (answer,) = smi(f"{text}\n", exit=255)["smi"]
    assert (answer.problem, answer.text) == (word, text.split("\n")[0])


def test_an_error_says_nothing_of_gpus() -> None:
    facts = smi("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195\n", exit=18)
    assert facts["smi"][0].library_version == "570.195"
    assert "gpus" not in facts
    assert smi("No devices were found\n", exit=6)["gpus"] == []


@pytest.mark.parametrize(("code", "word"), [(4, "insufficient_permissions"), (8, "power_cable"), (9, "driver_not_loaded"), (14, "inforom")])
def test_an_exit_code_counts_where_the_text_says_nothing(code: int, word: str) -> None:
    assert smi("", exit=code)["smi"][0].problem == word
    assert smi(smi_xml(TWO), exit=code)["smi"][0].problem == ""


@pytest.mark.parametrize(("failure", "word"), [("timeout", "timeout"), ("unkillable", "timeout"), ("not-found", "not_found")])
def test_a_program_that_hangs_or_is_not_there(failure: Failure, word: str) -> None:
    facts = smi("", failure=failure)
    assert (facts["smi"][0].problem, facts["smi"][0].text, "gpus" in facts) == (word, "no answer within 60 s", False)


def test_a_refusal_is_no_word_of_nvidia_smi() -> None:
    assert smi("", failure="refused") == {}


def test_a_gpu_whose_handle_is_gone() -> None:
    facts = smi("Unable to determine the device handle for GPU1: 0000:5D:00.0: Unknown Error\n" + smi_table([TWO[0]]))
    assert [(gpu.index, gpu.pci, gpu.problem) for gpu in facts["gpus"]] == [(0, "0000:1b:00", ""), (1, "0000:5d:00", "gpu_lost")]


def test_a_part_of_the_long_answer() -> None:
    (gpu,) = smi(
        "    Clocks Event Reasons\n        Idle                              : Not Active\n        SW Thermal Slowdown : Active\n"
    )["gpus"]
    assert gpu.reasons == ["sw_thermal"]


def test_values_that_grep_left_without_their_section() -> None:
    text = (
        "            SRAM Threshold Exceeded       : Yes\n        HW Slowdown                       : Active\n        Pending     : Yes\n"
    )
    (gpu,) = smi(text)["gpus"]
    assert (gpu.sram_threshold_exceeded, gpu.reasons, gpu.remap_pending) == (True, ["hw_slowdown"], None)


def test_names_of_clock_reasons_are_known_in_every_spelling() -> None:
    for name, reason in clock_reasons.REASONS.items():
        assert clock_reasons.from_mask(reason.bit) == [name]
        for word in reason.words:
            assert {clock_reasons.from_word(f"{prefix}_{word}") for prefix in clock_reasons.PREFIXES} == {name}


SMALL = smi_xml([TWO[1]])
FORMS = [SMALL, smi_q([TWO[1]]), smi_table(TWO), CSV[0][0], smi_list(TWO)]


@pytest.mark.parametrize("form", range(len(FORMS)))
def test_cut_off_anywhere(form: int) -> None:
    """Every prefix (of the long ones every 7th byte) is read, and what stood before the cut is kept."""
    data = FORMS[form].encode()
    for end in range(0, len(data), 1 if len(data) < 2500 else 13):
        smi(data[:end], source="file")


def test_what_was_read_before_an_answer_broke_off_is_kept() -> None:
    output = Output(Command(("nvidia-smi", "-q", "-x"), host="gpu-07"), pages=(smi_xml(TWO)[:9000].encode(),))
    reading = read_answer("nvidia.smi", output, NODE)
    assert "breaks off" in reading.problem
    assert reading.facts is not None
    assert [gpu.uuid for gpu in reading.facts["gpus"]][:1] == [TWO[0].name]


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: t.replace("  ", " \x00"), lambda t: f"\x1b[31m{t}\x1b[0m"])
def test_other_line_ends_nulls_and_colours(change: Any) -> None:
    for form in FORMS:
        assert smi(change(form))["smi"]
    assert [gpu.pci for gpu in smi(SMALL.replace("\n", "\r\n"))["gpus"]] == ["0000:5d:00"]
    assert smi(smi_q(TWO).replace("\n", "\r\n"))["gpus"][0].remap_pending is False


def test_half_a_character_and_a_decimal_comma() -> None:
    text = smi_q([replace(TWO[0], product="NVIDIA é")]).encode().replace("é".encode(), b"\xc3").replace(b"70.50 W", b"70,50 W")
    (gpu,) = smi(text)["gpus"]
    assert (gpu.product, gpu.power, gpu.temperature) == ("NVIDIA \ufffd", 70.5, 31)


def test_bad_lines_lose_nothing_around_them() -> None:
    lines = smi_xml(TWO).split("\n")
    noisy = "\n".join(piece for line in lines for piece in (line, "<<<< & ]]> <!-- ", "\x00" * 50))
    assert [fields(gpu) for gpu in smi(noisy)["gpus"]] == [fields(gpu) for gpu in smi(smi_xml(TWO))["gpus"]]


HOSTILE = [
    "<gpu id=" * 130_000,
    "<a>" * 340_000,
    '<gpu id="00000000:1B:00.0">\n' * 35_000,
    "GPU 00000000:1B:00.0\n" * 45_000,
    "    A\n" * 150_000,
    "a : b\n" * 160_000,
    "|   0  X   On | 00000000:1B:00.0 Off | 0 |\n" * 22_000,
    "|    0   N/A  N/A    4711      C   python    1MiB |\n" * 20_000,
    "index, uuid\n" + "0, GPU-1\n" * 100_000,
    "," * 1_000_000,
    "&lt;!ENTITY a '&a;'>" * 50_000,
    "Unable to determine the device handle for GPU1: 0000:34:00.0: x\n" * 15_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_megabyte_of_hostile_lines_takes_seconds_at_most(number: int) -> None:
    """A sum that is not linear would take minutes here; the limit leaves room for a slow machine."""
    begun = time.process_time()
    facts = smi(HOSTILE[number], source="file")
    assert time.process_time() - begun < 20
    assert len(facts.get("gpus", [])) <= 1024


@settings(max_examples=60, derandomize=True)
@given(
    st.lists(
        st.sampled_from([*SMALL.split("\n"), *smi_q([TWO[0]]).split("\n"), *smi_table(TWO).split("\n"), "\x00", "<gpu", " : "]), max_size=60
    )
)
def test_shuffled_lines_raise_nothing(lines: list[str]) -> None:
    try:
        facts = smi("\n".join(lines))
    except ParseError as error:
        assert "nvidia-smi" in str(error)  # noqa: PT017
        return
    assert all(isinstance(gpu, Gpu) for gpu in facts.get("gpus", []))


@settings(max_examples=60, derandomize=True)
@given(st.binary(max_size=400))
def test_any_bytes_raise_nothing(data: bytes) -> None:
    assert len(smi(data, source="file")["smi"]) == 1


@pytest.mark.parametrize("mode", ["VGPU", "None"])
def test_a_guest_has_no_sensor(mode: str) -> None:
    head = "    Product Name"
    section = f"    GPU Virtualization Mode\n        Virtualization Mode                   : {mode}\n"
    answer = smi_q([Card(temperature=0)]).replace(head, section + head, 1)
    (gpu,) = smi(answer)["gpus"]
    assert gpu.temperature == (None if mode == "VGPU" else 0)
    assert gpu.unreadable == []
