"""DCGM: what its parsers read of every release, and what they do with hostile text."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.dcgm import DcgmError, DcgmHealth, DcgmPolicy, DcgmStats, DcgmTest
from gpudoctor.facts.gpu import Gpu, GpuSample
from gpudoctor.facts.identity import Links
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.recognise import recognise
from gpudoctor.knowledge import dcgm_errors, dcgm_fields
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError
from tests.nodes import dcgmi

NODE = Subject(kind="node", node="gpu-02")
NOW = 1_772_366_400.0
REMAP = "GPU 1 had memory errors and row remappings are pending"
FAULTY = "Found 12 faulty memory elements on GPU 1"
TESTS: dict[str, list[dcgmi.Test]] = {
    "Deployment": [("software", {0: "Pass", 1: "Fail"}, [(1, REMAP, 85, 6)])],
    "Hardware": [("memory", {0: "Pass", 1: "Fail"}, [(1, FAULTY, 52, 2)]), ("diagnostic", {0: "Skip", 1: "Skip"}, [])],
    "Integration": [("pcie", {0: "Pass", 1: "Pass"}, [])],
}
XID_79 = "Detected XID 79 for GPU 1 (triggered by XID 79: GPU has fallen off the bus) Explain it to somebody."
SICK: dict[tuple[str, int], list[dcgmi.System]] = {
    ("GPU", 1): [
        ("PCIe system", "Warning", ["Detected more than 8 PCIe replays per minute for GPU 1 : 13"]),
        ("Driver", "Failure", [XID_79]),
    ]
}
SAMPLES: dict[str, tuple[str, str]] = {
    "discovery": ("dcgm.discovery", dcgmi.discovery({0: (dcgmi.uuid(0), "00000000:1B:00.0"), 1: (dcgmi.uuid(1), "00000000:43:00.0")})),
    "health": ("dcgm.health", dcgmi.health("Failure", SICK)),
    "health box": ("dcgm.health", dcgmi.health_box("Failure", SICK)),
    "diag 3": ("dcgm.diag", dcgmi.diag_3(TESTS)),
    "diag 4": ("dcgm.diag", dcgmi.diag_4(TESTS)),
    "diag 3 -j": ("dcgm.diag", dcgmi.diag_json_3(TESTS)),
    "diag 4 -j": ("dcgm.diag", dcgmi.diag_json(TESTS)),
    "dmon": ("dcgm.dmon", dcgmi.dmon({"SMCLK": 5, "TMPTR": 5}, [("GPU 0", ["1980", "44"]), ("GPU 1", ["1200", "N/A"])])),
    "policy": ("dcgm.policy", dcgmi.policy("Reset GPU", ["Double-bit ECC errors", "XID error detected."])),
    "stats": ("dcgm.stats", dcgmi.stats({0: {}, 1: {"Total Execution Time (sec)": "Still Running"}})),
}


def output(text: str | bytes, *argv: str) -> Output:
    return Output(Command(argv or ("dcgmi",)), pages=(text if isinstance(text, bytes) else text.encode("utf-8", "replace"),), time=NOW)


def read(parser: str, text: str | bytes, *argv: str) -> Facts:
    return load(parser)(output(text, *argv), NODE)


def refused(parser: str, text: bytes) -> str:
    """What a parser says of a text that it can't read, "dcgmi" when it can."""
    try:
        read(parser, text)
    except ParseError as error:
        return str(error)
    return "dcgmi"


def results_of(text: str) -> list[DcgmTest]:
    return [one for one in read("dcgm.diag", text)["dcgm_tests"] if isinstance(one, DcgmTest)]


def errors(parser: str, text: str) -> list[DcgmError]:
    return [one for one in read(parser, text).get("dcgm_errors", []) if isinstance(one, DcgmError)]


def healths(text: str) -> list[DcgmHealth]:
    return [one for one in read("dcgm.health", text)["dcgm_health"] if isinstance(one, DcgmHealth)]


# --- knowledge ---------------------------------------------------------------------------------------------------------------------------


def test_every_error_is_known_and_its_words_lead_back_to_it() -> None:
    known = dcgm_errors.errors()
    assert sorted(known) == list(range(133))
    for error in known.values():
        assert error.severity in dcgm_errors.SEVERITIES.values(), error
        assert error.means, error
        assert error.act, error
        for wording in error.says:
            text = " 7 ".join(wording)
            found = dcgm_errors.of_text(text)
            assert found is not None, text
            assert found.condition == error.condition or found is error, (text, found.name, error.name)


def test_the_table_has_its_columns() -> None:
    with dcgm_errors.TABLE.open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["id", "name", "severity", "category", "condition", "says", "means", "act"]


def test_fields_are_found_by_id_header_and_both_names() -> None:
    assert len(dcgm_fields.BY_ID) == len(dcgm_fields.FIELDS) == len(dcgm_fields.BY_HEADER)
    assert dcgm_fields.BY_HEADER["POWER"].id == 155
    old, new = dcgm_fields.find_field("DCGM_FI_DEV_POWER_USAGE"), dcgm_fields.find_field("DCGM_FI_DEV_BOARD_POWER_WATTS")
    assert old is new
    assert old is not None
    assert set(dcgm_fields.SAMPLE.values()) <= set(GpuSample.__struct_fields__)
    assert {*dcgm_fields.SAMPLE, *dcgm_fields.THROTTLED} <= set(dcgm_fields.BY_ID)


# --- discovery and names -----------------------------------------------------------------------------------------------------------------


def test_discovery_ties_an_index_to_a_card() -> None:
    gpus = [one for one in read(*SAMPLES["discovery"])["gpus"] if isinstance(one, Gpu)]
    assert [(one.index, one.uuid, one.pci, one.product) for one in gpus] == [
        (0, dcgmi.uuid(0), "0000:1b:00", "NVIDIA H100 80GB HBM3"),
        (1, dcgmi.uuid(1), "0000:43:00", "NVIDIA H100 80GB HBM3"),
    ]
    links = Links([], [], gpus)
    assert links.unify(Subject(kind="gpu", node="gpu-02", gpu="GPU 1")).gpu == dcgmi.uuid(1)
    assert links.unify(Subject(kind="gpu", node="gpu-03", gpu="GPU 1")).gpu == "GPU 1"


def test_discovery_of_none() -> None:
    assert read("dcgm.discovery", "0 GPUs found.\n")["gpus"] == []
    assert read("dcgm.discovery", dcgmi.UNREACHABLE) == {}


# --- health ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [dcgmi.health, dcgmi.health_box])
def test_health_in_both_forms(form: Callable[..., str]) -> None:
    whole, pcie, driver = healths(form("Failure", SICK))
    assert (whole.status, whole.system, whole.armed) == ("failure", "", True)
    assert (pcie.gpu, pcie.index, pcie.system, pcie.status, pcie.code) == ("GPU 1", 1, "PCIe", "warning", 3)
    assert (driver.system, driver.status) == ("Driver", "failure")
    one, other = errors("dcgm.health", form("Failure", SICK))
    assert (one.error, one.condition, one.severity) == ("PCI_REPLAY_RATE", "pcie_errors", "isolate")
    assert (other.xid, other.condition, other.text) == (79, "off_bus", "Detected XID 79 for GPU 1")
    assert "somebody" not in other.origin.text


def test_errors_of_one_system_are_told_apart() -> None:
    said = [
        "Detected XID 63 for GPU 0 (triggered by XID 63: Row remap) Reset, or not.",
        "GPU 0 had memory errors and row remappings are pending",
    ]
    found = errors("dcgm.health", dcgmi.health_box("Failure", {("GPU", 0): [("Memory system", "Failure", said)]}))
    assert [(one.xid, one.code) for one in found] == [(63, 101), (None, 85)]


def test_a_healthy_node_has_no_errors() -> None:
    for text in (dcgmi.health("Healthy"), dcgmi.health_box("Healthy")):
        assert [one.status for one in healths(text)] == ["healthy"]
        assert errors("dcgm.health", text) == []


def test_watches_that_nobody_armed_are_not_health() -> None:
    facts = read("dcgm.health", dcgmi.NOT_ARMED)
    assert [(one.problem, one.armed) for one in healths(dcgmi.NOT_ARMED)] == [("not_armed", False)]
    assert "dcgm_errors" not in facts
    (away,) = healths(dcgmi.UNREACHABLE)
    assert (away.problem, away.armed) == ("unreachable", None)


def test_which_watches_are_armed() -> None:
    text = (
        "Health monitor systems report\n+-----------------+--------------------------------------------------------------------+\n"
        f"| PCIe            | {'On':<66} |\n| NVLINK          | {'Off':<66} |\n+-----------------+-----+\n"
    )
    assert [(one.system, one.armed) for one in healths(text)] == [("PCIe", True), ("NVLink", False)]
    tree = "Health monitor systems report\n" + json.dumps({"body": {"Memory": {"value": "On"}, "InfoROM": {"value": "Off"}}})
    assert [(one.system, one.armed) for one in healths(tree)] == [("Memory", True), ("InfoROM", False)]


def test_health_of_dcgm_2() -> None:
    text = """Health Monitor Report
+------------------+---------------------------------------------------------+
| Overall Health:    Warning                                                 |
+==================+=========================================================+
| GPU ID: 0        | Warning                                                 |
|                  | PCIe system: Warning - Detected more than 8 PCIe        |
|                  | replays per minute for GPU 0: 13                        |
| GPU ID: 1        | Warning                                                 |
|                  | InfoROM system: Warning - A corrupt InfoROM has been    |
|                  | detected in GPU 1.                                      |
+------------------+---------------------------------------------------------+
"""
    assert [(one.gpu, one.code) for one in errors("dcgm.health", text)] == [("GPU 0", 3), ("GPU 1", 9)]


# --- diag --------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["diag 3", "diag 4", "diag 3 -j", "diag 4 -j"])
def test_the_diagnostic_in_all_forms(form: str) -> None:
    text = SAMPLES[form][1]
    failed = {(one.test, one.index, one.code) for one in results_of(text) if one.status == "fail"}
    whole = {("software", None, 85)} if "3" in form.split()[1] else {("software", 1, 85)}
    whole = {("software", 1, 85)} if form == "diag 3 -j" else whole
    assert failed == {*whole, ("memory", 1, 52)}
    assert [(one.gpu, one.condition, one.status) for one in errors("dcgm.diag", text)] == [
        ("GPU 1", "row_remap_pending", "fail"),
        ("GPU 1", "wrong_data", "fail"),
    ]
    assert {one.status for one in results_of(text) if one.test == "diagnostic"} == {"skip"}
    assert errors("dcgm.diag", text)[1].text == FAULTY


def test_an_error_without_a_test_above_it() -> None:
    text = (
        dcgmi.SECTIONS["Deployment"]
        + "\n"
        + dcgmi.sentence("Error", "GPU 3 has uncorrectable memory errors and row remappings are pending")
    )
    (one,) = errors("dcgm.diag", text)
    assert (one.gpu, one.code, one.status) == ("GPU 3", 85, "fail")


def test_a_warning_without_a_number_is_of_the_gpu_that_failed() -> None:
    text = dcgmi.diag_3({"Stress": [("Targeted Stress", {0: "Pass", 1: "Fail"}, [(1, "Error using CUDA API cudaGetDeviceCount", 51, 1)])]})
    assert [one.gpu for one in errors("dcgm.diag", text)] == ["GPU 1"]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (dcgmi.UNREACHABLE, "unreachable"),
        ("Error: Unable to start an embedded host engine. DCGM initialization error.\n", "unreachable"),
        ("Error: Diagnostic can only be performed on a homogeneous group of GPUs.\n", "mixed_gpus"),
        ('{"DCGM Diagnostic": {"runtime_error": "Error: Unable to complete diagnostic for group 0. Return: (-38) A diag instance is '
         'already running, cannot run a new diag until the current one finishes.", "version": "4.4.2"}}', "busy"),
        ('{"DCGM GPU Diagnostic": {"runtime_error": "something new"}}', "other"),
    ],
)  # fmt: skip
def test_why_there_are_no_results(said: str, word: str) -> None:
    (one,) = results_of(said)
    assert (one.problem, one.status) == (word, "")
    assert "dcgm_errors" not in read("dcgm.diag", said)


def test_a_missed_target_in_per_cent() -> None:
    text = "Max power of 695.2 did not reach desired power minimum targeted_power.target_power of 700.0 for GPU 0"
    (one,) = errors("dcgm.diag", dcgmi.diag_json({"Stress": [("targeted_power", {0: "Fail", 1: "Pass"}, [(0, text, 63, 4)])]}))
    assert (one.condition, one.short) == ("power_missed", 0.69)


def test_iterations_and_old_warnings() -> None:
    run = json.loads(dcgmi.diag_json(TESTS))
    assert len(results_of(json.dumps({"iterations": [run, run], "Overall Result": "Fail"}))) == 2 * len(results_of(json.dumps(run)))
    old = {
        "tests": [{"name": "PCIe", "results": [{"gpu_ids": "0,1", "status": "Fail", "warnings": "GPU 0 fell asleep"}]}],
        "category": "Integration",
    }
    assert [(one.index, one.status, one.text) for one in results_of(json.dumps({"DCGM GPU Diagnostic": {"test_categories": [old]}}))] == [
        (0, "fail", "GPU 0 fell asleep"),
        (1, "fail", "GPU 0 fell asleep"),
    ]


# --- dmon, policy, stats -----------------------------------------------------------------------------------------------------------------


def test_dmon_reads_columns_by_their_headers() -> None:
    headers = {"DVNAM": 20, "SMCLK": 5, "DVCCTR": 20, "POWER": 10, "TVIOL": 10, "XIDER": 5}
    rows = [
        ("GPU 0", ["NVIDIA H100 80GB HBM3", "1980", "4", "699.125", "2000000000", "0"]),
        ("GPU 1", ["NVIDIA H100 80GB HBM3", "345", "72", "N/A", "N/A", "79"]),
        ("Switch 8", ["", "", "", "", "", ""]),
        ("GPU 0", ["NVIDIA H100 80GB HBM3", "1975", "1", "98.5", "2000000000", "0"]),
    ]
    found = read("dcgm.dmon", dcgmi.dmon(headers, rows), "dcgmi", "dmon", "-e", "50", "-d", "500", "-c", "2")["gpu_samples"]
    first, hot, last = [one for one in found if isinstance(one, GpuSample)]
    assert (first.gpu, first.product, first.sm_clock, first.power, first.reasons) == (
        "GPU 0",
        "NVIDIA H100 80GB HBM3",
        1980,
        699.125,
        ["sw_power_cap"],
    )
    assert (first.throttled, first.time, last.time) == ({"thermal": 2.0}, NOW - 0.5, NOW)
    assert (hot.reasons, hot.power, hot.gaps, hot.throttled) == (["hw_slowdown", "hw_thermal"], None, {"power": "N/A"}, {})


def test_policy_says_what_dcgm_does_by_itself() -> None:
    (one,) = [p for p in read(*SAMPLES["policy"])["dcgm_policies"] if isinstance(p, DcgmPolicy)]
    assert (one.action, one.validation, one.conditions) == ("gpu reset", "none", ["Double-bit ECC errors", "XID error detected."])
    (mixed,) = [p for p in read("dcgm.policy", dcgmi.policy("****"))["dcgm_policies"] if isinstance(p, DcgmPolicy)]
    assert (mixed.action, mixed.gaps, mixed.conditions) == (None, {"action": "differs"}, [])
    tree = {
        "body": {"Action on violation": {"value": "Reset GPU"}, "Violation conditions": {"value": "NVLink Errors"}},
        "header": ["Policy Information", "GPU ID: 3"],
    }
    (of_one,) = [p for p in read("dcgm.policy", "Policy information\n" + json.dumps(tree))["dcgm_policies"] if isinstance(p, DcgmPolicy)]
    assert (of_one.gpu, of_one.action, of_one.conditions) == ("GPU 3", "gpu reset", ["NVLink Errors"])


def test_stats_of_a_job() -> None:
    first, running = [s for s in read(*SAMPLES["stats"])["dcgm_stats"] if isinstance(s, DcgmStats)]
    assert (first.job, first.gpu, first.seconds, first.energy, first.sm_clock) == ("train-7", "GPU 0", 3600, 1_800_000, 1905)
    assert (first.throttled, first.ecc_double, first.xid_count) == ({"power": 90.0, "thermal": 0.0}, 0, 0)
    assert (running.seconds, running.gaps) == (None, {"seconds": "Still Running"})
    (none,) = read("dcgm.stats", "Error: Watches have not been enabled. Unable to get PID info.\n")["dcgm_stats"]
    assert isinstance(none, DcgmStats)
    assert none.problem == "not_armed"


# --- recognising -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_every_form_is_recognised(name: str) -> None:
    parser, text = SAMPLES[name]
    assert recognise(text, Hint())[0].name == parser


def test_other_texts_are_not_dcgm() -> None:
    for text in (
        "2026-03-01T12:00:00Z ERROR Unable to connect to host engine\n",
        "| Name | Result |\n",
        '{"kind": "Pod"}',
        "GPU 0: fine\n",
    ):
        assert not recognise(text, Hint())[0].name.startswith("dcgm.")


# --- hostile text ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_that_ends_anywhere(name: str) -> None:
    parser, text = SAMPLES[name]
    raw = text.encode()
    for end in range(0, len(raw), max(1, len(raw) // 400)):
        assert "dcgmi" in refused(parser, raw[:end])


@pytest.mark.parametrize("name", SAMPLES)
def test_other_line_ends_colours_and_nuls_change_nothing(name: str) -> None:
    parser, text = SAMPLES[name]

    def bare(facts: Facts) -> list[str]:
        return [re.sub(r"Origin\(.*?\)", "", repr(one)) for records in facts.values() for one in records]

    wanted = bare(read(parser, text))
    assert bare(read(parser, text.replace("\n", "\r\n"))) == wanted
    assert bare(read(parser, "\x1b[1m" + text + "\x1b[0m\x00")) == wanted
    assert bare(read(parser, text.encode() + b"\n\xc3")) == wanted


@pytest.mark.parametrize("parser", sorted({parser for parser, _ in SAMPLES.values()}))
@pytest.mark.parametrize(
    "unit",
    [
        "| Warning | GPU 1 Found 12 faulty memory elements |\n",
        "| | GPU1: Fail |\n",
        "| -> 1 | Failure |\n|       -> PCIe system | Failure |\n",
        "GPU 0  1 2 3\n",
        "| GPU ID: 0 | Summary |\n",
        "[[[[{",
        '{"tests": ',
        "| Policy Information |\n| a |\n",
        "|" * 80 + "\n",
        "a" * 100,
    ],
)
def test_a_megabyte_is_read_in_linear_time(parser: str, unit: str) -> None:
    began = time.process_time()
    with contextlib.suppress(ParseError):
        read(parser, unit * (300_000 // len(unit)))
    assert time.process_time() - began < 5


@settings(max_examples=25, derandomize=True, database=None)
@given(text=st.text(max_size=300), name=st.sampled_from(sorted(SAMPLES)), at=st.integers(0, 3000))
def test_rubbish_in_the_middle_raises_nothing_else(text: str, name: str, at: int) -> None:
    parser, sample = SAMPLES[name]
    try:
        facts = read(parser, sample[:at] + text + sample[at:])
    except ParseError:
        return
    assert isinstance(facts, dict)


KEYS = (
    *("tests", "results", "warnings", "warning", "status", "gpu_id", "gpu_ids", "entity_id", "error_id", "runtime_error", "test_summary"),
    *("body", "children", "value", "overflow", "header", "GPU", "Overall Health"),
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40, derandomize=True, database=None)
@given(tree=TREES)
def test_json_of_any_shape_raises_nothing_else(tree: object) -> None:
    for parser in ("dcgm.diag", "dcgm.health", "dcgm.policy"):
        try:
            read(parser, json.dumps({"x": tree}))
        except ParseError:
            continue


def test_a_bad_row_loses_no_good_ones() -> None:
    text = dcgmi.diag_4(TESTS).replace("GPU0: Pass ", "GPU\x07\ufffd: P ", 1)
    assert ("memory", 1, "fail") in {(one.test, one.index, one.status) for one in results_of(text)}
    rows = [("GPU 0", ["1980", "44"]), ("GPU 1", ["12,5", "4x"]), ("GPU 2", ["1200", "50"])]
    found = read("dcgm.dmon", dcgmi.dmon({"SMCLK": 5, "TMPTR": 5}, rows))["gpu_samples"]
    assert [one.sm_clock for one in found if isinstance(one, GpuSample)] == [1980, 12.5, 1200]


@pytest.mark.parametrize("words", ["not ok, 3 problems", "Pass - GPUs: 0, 1; Fail - GPU: 3"])
def test_a_result_in_no_known_form_is_none_that_means_well(words: str) -> None:
    text = dcgmi.diag_4({"Hardware": [("memory", {0: "Pass"}, [])]})
    row = f"| {'pulse_test':<25} | {words:<46} |"
    rows, _, end = text.strip().rpartition("\n")
    found = {(one.test, one.status) for one in results_of(f"{rows}\n{row}\n{end}\n")}
    assert found == {("memory", "pass"), ("pulse_test", words.lower())}
