"""Throttling: what the samples of a GPU add up to, Prometheus' answers, and the drawing of them."""

from __future__ import annotations

import contextlib
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.derive.throttling import measure_throttling
from gpudoctor.facts import Fact, Subject
from gpudoctor.facts.gpu import Gpu, GpuSample, Throttling
from gpudoctor.knowledge.clock_reasons import REASONS
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import Report, Series
from gpudoctor.reporters import render
from gpudoctor.reporters.picture import svg
from gpudoctor.reporters.plot import PLAIN, plot
from gpudoctor.tools.nvidia_smi import dmon, smi
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus import metrics_page
from gpudoctor.tools.prometheus import range as prometheus_range
from tests.nodes.cases_thermal import AMPERE, COOL, FIRST, WATCH, csv, exporter
from tests.nodes.smi import smi_q
from tests.pasted import diagnosed, text_of

NOW = 1_772_366_400.0
FEW = settings(max_examples=60, derandomize=True)


def sample(second: float = 0.0, **fields: Any) -> GpuSample:
    """A busy H100 at full clock, unless told otherwise."""
    known: dict[str, Any] = {
        "node": "gpu-01",
        "gpu": "GPU-1",
        "uuid": "GPU-1",
        "index": 0,
        "time": NOW + second,
        "reasons": [],
        "utilisation": 100.0,
        "pstate": 0,
        "sm_clock": 1980.0,
        "sm_clock_max": 1980.0,
        "power": 640.0,
        "power_limit": 700.0,
        "temperature": 60.0,
        "margin": 26.0,
    }
    return GpuSample(**{**known, **fields})


def other(number: int, second: float = 0.0, **fields: Any) -> GpuSample:
    """The same of another GPU of the node."""
    return sample(second, **{"gpu": f"GPU-{number + 1}", "uuid": f"GPU-{number + 1}", "index": number, **fields})


def measured(*samples: GpuSample, gpus: list[Fact] | None = None) -> list[Throttling]:
    facts = measure_throttling({"gpu_samples": list(samples), "gpus": gpus or []}, {}, NOW)
    return [one for one in facts["throttling"] if isinstance(one, Throttling)]


def test_the_loss_is_of_the_clock_under_load() -> None:
    (one,) = measured(sample(0, sm_clock=345.0, reasons=["idle"], utilisation=0.0), sample(2, sm_clock=1200.0, reasons=["sw_thermal"]))
    assert (one.clock, round(one.loss or 0), one.busy, one.idle) == ("1200 of 1980 MHz (-39 %)", 39, 0.5, False)
    assert (one.share["sw_thermal"], one.share["hw_power_brake"], one.held_by) == (0.5, 0.0, ["idle", "sw_thermal"])
    assert (one.samples, one.seconds) == (2, 2.0)


def test_application_clocks_are_the_measure_only_where_they_hold_the_clock() -> None:
    (set_,) = measured(sample(sm_clock=1200.0, application_clock=1200.0, reasons=["applications_clocks"]))
    (boost,) = measured(sample(sm_clock=1200.0, application_clock=1095.0, sm_clock_max=1410.0))
    assert (set_.loss, set_.sm_clock_reference) == (0.0, 1200.0)
    assert (round(boost.loss or 0), boost.sm_clock_reference) == (15, 1410.0)


def test_what_was_not_read_is_not_known() -> None:
    (asked,) = measured(sample(reasons=None, margin=None, gaps={"reasons": "[Unknown Error]"}))
    assert (asked.share, asked.gaps) == ({}, {"share": "[Unknown Error]"})
    assert measured(sample(reasons=None, margin=None)) == []  # the table: nobody asked for reasons
    (only_margin,) = measured(sample(reasons=None, margin=-1.0))
    assert (only_margin.margin, only_margin.hot, "share" in only_margin.gaps) == (-1.0, True, True)
    assert [one.hot for one in measured(sample(margin=0.0), sample(reasons=None, margin=1.0))] == [False]  # the driver's word counts


def test_counters_tell_what_happened_between_the_samples() -> None:
    (one,) = measured(sample(0, throttled={"hw_thermal": 100.0}), sample(10, throttled={"hw_thermal": 104.0}))
    assert (one.rose, one.share["hw_thermal"]) == ({"hw_thermal": 4.0}, 0.4)
    (reset,) = measured(sample(0, throttled={"hw_thermal": 100.0}), sample(10, throttled={"hw_thermal": 1.0}))
    assert reset.rose == {"hw_thermal": 1.0}
    (once,) = measured(sample(0, throttled={"hw_thermal": 100.0}))
    assert (once.rose, once.share["hw_thermal"]) == ({}, 0.0)


def test_the_boards_own_limits_give_the_margin_where_none_was_read() -> None:
    card = Gpu(node="gpu-01", uuid="GPU-1", gpu="GPU-1", pci="0000:1b:00", temperature_max_operating=85, memory_temperature_max=95)
    (one,) = measured(
        sample(margin=None, temperature=62.0, memory_temperature=97.0, uuid="", gpu="", index=None, pci="0000:1b:00"), gpus=[card]
    )
    assert (one.margin, one.memory_margin) == (23.0, -2.0)
    hopper = msgspec.structs.replace(card, temperature_max_operating=0, memory_temperature_max=0)  # T.Limit, not a temperature
    (margin,) = measured(sample(margin=26.0, memory_temperature=70.0), gpus=[hopper])
    assert (margin.margin, margin.memory_margin) == (26.0, None)


def test_a_gpu_at_its_slowdown_temperature_is_slowed_down() -> None:
    gpu = Gpu(node="gpu-01", gpu="GPU-1", uuid="GPU-1", temperature_slowdown=92)
    hot = {"reasons": None, "margin": None}
    assert [one.hot for one in measured(sample(temperature=94.0, **hot), gpus=[gpu])] == [True]
    assert measured(sample(temperature=91.0, **hot), gpus=[gpu]) == []
    # `GPU Slowdown T.Limit Temp : -2 C` is no temperature
    assert measured(sample(temperature=60.0, **hot), gpus=[changed_limit(gpu, -2)]) == []


def test_counters_without_times_grow_from_row_to_row() -> None:
    rows = [sample(reasons=None, margin=None, time=None, every=1.0, throttled={"thermal": 120.0 + second}) for second in range(3)]
    (one,) = measured(*rows)
    assert (one.seconds, one.share) == (2.0, {"sw_thermal": 1.0})


def changed_limit(gpu: Gpu, degrees: int) -> Gpu:
    return msgspec.structs.replace(gpu, temperature_slowdown=degrees)


def test_samples_of_one_gpu_under_different_names_are_one_gpus() -> None:
    card = Gpu(node="gpu-01", uuid="GPU-1", gpu="GPU-1", pci="0000:1b:00", index=0)
    found = measured(
        sample(0), sample(1, uuid="", gpu="0000:1b:00", pci="0000:1b:00", index=None), sample(2, uuid="", gpu="", index=0), gpus=[card]
    )
    assert [(one.gpu, one.samples) for one in found] == [("GPU-1", 3)]
    assert len(measured(sample(node="gpu-01"), sample(node="gpu-02"))) == 2


@pytest.mark.parametrize(
    ("others", "side"),
    [
        ([], ""),
        ([other(1), other(2)], "card"),
        ([other(1, reasons=["idle"], utilisation=0.0), other(2, reasons=["idle"], utilisation=0.0)], ""),  # nothing to compare with
        ([other(1, reasons=["sw_thermal"]), other(2)], "chassis"),
        ([other(1, reasons=None, margin=-1.0), other(2), other(3)], ""),
        ([sample(node="gpu-02", reasons=None, margin=0.0), sample(node="gpu-03", reasons=["hw_thermal"])], "row"),
        ([sample(node="gpu-02"), sample(node="gpu-03", reasons=["hw_thermal"])], ""),
    ],
)
def test_the_side_is_told_by_who_shares_the_trouble(others: list[GpuSample], side: str) -> None:
    first = measured(sample(reasons=["sw_thermal"]), *others)[0]
    assert first.side == side


def test_the_side_of_a_sound_card_is_none() -> None:
    found = measured(sample(reasons=["sw_power_cap"]), other(1, reasons=["hw_power_brake"]))
    assert [(one.gpu, one.side, one.neighbours_throttled) for one in found] == [("GPU-1", "", 1), ("GPU-2", "card", 0)]


def test_readings_that_cant_be_true() -> None:
    assert measured(sample(power=3276.8))[0].stuck == ["power"]
    assert measured(sample(power=0.0))[0].stuck == ["power"]
    assert measured(sample(power=0.0, utilisation=0.0))[0].stuck == []
    assert measured(sample(power=905.0))[0].stuck == []  # a peak of the instantaneous reading
    assert measured(sample(power=905.0, power_limit=300.0, power_limit_default=700.0))[0].stuck == []  # the limit was just lowered
    assert measured(sample(temperature=0.0))[0].stuck == ["temperature"]
    assert measured(sample(power=None, temperature=None))[0].stuck == []
    assert measured(*(sample(second, power=3276.8 if second == 1 else 600.0) for second in range(5)))[0].stuck == []  # one odd answer
    assert measured(sample(reasons=None, margin=None, power=3276.8))[0].stuck == ["power"]  # a table tells that much


numbers = st.none() | st.floats(allow_nan=False, width=32)
anything = st.builds(
    sample,
    second=st.floats(0, 100),
    uuid=st.sampled_from(["", "GPU-1", "GPU-2"]),
    gpu=st.sampled_from(["", "GPU-1"]),
    pci=st.sampled_from(["", "0000:1b:00"]),
    index=st.none() | st.integers(0, 3),
    node=st.sampled_from(["", "a", "b"]),
    time=st.none() | st.floats(0, 1e10),
    reasons=st.none() | st.lists(st.sampled_from([*REASONS, "new"]), max_size=3),
    throttled=st.dictionaries(st.sampled_from(["sw_thermal", "hw_thermal"]), st.floats(0, 1e9), max_size=2),
    **dict.fromkeys(("temperature", "memory_temperature", "margin", "power", "power_limit", "sm_clock", "utilisation", "fan"), numbers),
)


@FEW
@given(st.lists(anything, max_size=6))
def test_any_samples_give_measurements_within_their_bounds(samples: list[GpuSample]) -> None:
    for one in measured(*samples):
        assert all(0 <= share <= 1 for share in one.share.values())
        assert one.loss is None or one.loss >= 0
        assert one.side in ("", "card", "chassis", "row")
        assert one.neighbours_throttled <= one.neighbours
        assert one.nodes_throttled <= one.nodes


def test_many_gpus_take_linear_time() -> None:
    many = [sample(gpu=f"GPU-{n}", uuid=f"GPU-{n}", index=None, reasons=["sw_thermal"], temperature=float(n % 90)) for n in range(30_000)]
    assert len(measured(*many)) == 30_000


def as_output(text: str | bytes, *argv: str) -> Output:
    body = text if isinstance(text, bytes) else text.encode()
    return Output(Command(argv or ("promql", "http://p", "x", "300", "15")), pages=(body,), time=NOW)


def test_a_pasted_section_is_one_sample() -> None:
    whole = smi_q([changed(FIRST, active=("sw_thermal",), sm_clock=1200)])
    start = whole.index("    Clocks Event Reasons")
    section = whole[start : whole.index("    FB Memory Usage")]
    facts = smi.smi(as_output(section, "nvidia-smi"), Subject(kind="cluster"))
    (one,) = measure_throttling(facts, {}, NOW)["throttling"]
    assert isinstance(one, Throttling)
    assert (one.share["sw_thermal"], one.clock) == (1.0, "")


def test_a_recorded_csv_is_a_course_of_time() -> None:
    text = "".join(csv((changed(AMPERE, sm_clock=clock),), second) for second, clock in enumerate((1410, 1200, 1005)))
    facts = smi.smi(as_output(text, "nvidia-smi"), Subject(kind="node", node="gpu-01"))
    (one,) = measure_throttling(facts, {}, NOW)["throttling"]
    assert isinstance(one, Throttling)
    assert (one.samples, one.seconds, one.sm_clock_lowest) == (3, 2.0, 1005.0)


# Prometheus


def range_of(text: str | bytes) -> list[GpuSample]:
    facts = prometheus_range.samples(as_output(text), Subject(kind="cluster"))
    return [one for one in facts["gpu_samples"] if isinstance(one, GpuSample)]


def test_the_exporters_metrics_become_samples() -> None:
    samples = range_of(exporter())
    assert len(samples) == 8
    first = samples[0]
    assert (first.node, first.uuid, first.pci, first.index) == ("gpu-07", COOL[0].name, "0000:1b:00", 0)
    assert (first.temperature, first.sm_clock, first.power, first.reasons) == (71.0, 1950.0, 655.0, ["sw_power_cap"])
    assert samples[3].reasons == ["sw_thermal", "hw_thermal"]


def answer(metric: dict[str, Any], values: Any) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [{"metric": metric, "values": values}]}})


def test_new_names_counters_and_instant_vectors_are_read() -> None:
    labels = {"UUID": "GPU-1", "gpu": "0", "hostname": "n1"}
    name = "DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS"
    (one,) = range_of(answer({"__name__": name, **labels}, [[NOW, "4000000000"]]))
    assert (one.node, one.throttled) == ("n1", {"hw_thermal": 4.0})
    vector = {
        "status": "success",
        "data": {"result": [{"metric": {"__name__": "DCGM_FI_DEV_GPU_TEMP_CELSIUS", **labels}, "value": [NOW, "61"]}]},
    }
    assert [one.temperature for one in range_of(json.dumps(vector))] == [61.0]


@pytest.mark.parametrize(
    "values", [[[NOW, "NaN"]], [[NOW, "+Inf"]], [[NOW, "1e300"]], [["x", "1"]], [[1]], [None], ["ab"], [[NOW, {}]], []]
)
def test_points_that_are_no_numbers_are_left_out(values: Any) -> None:
    good = {"metric": {"__name__": "DCGM_FI_DEV_GPU_TEMP", "UUID": "GPU-2"}, "values": [[NOW, "61"]]}
    bad = {"metric": {"__name__": "DCGM_FI_DEV_GPU_TEMP", "UUID": "GPU-1"}, "values": values}
    assert [one.uuid for one in range_of(json.dumps({"status": "success", "data": {"result": [bad, good]}}))] == ["GPU-2"]


def test_a_broken_series_costs_only_itself() -> None:
    good = {"metric": {"__name__": "DCGM_FI_DEV_GPU_TEMP", "UUID": "GPU-1"}, "values": [[NOW, "61"]]}
    for bad in ({"metric": {"__name__": 7}}, {"metric": []}, 5, {"values": "x"}, {"metric": {"UUID": "GPU-2"}, "values": 3}):
        text = json.dumps({"status": "success", "data": {"result": [bad, good]}})
        assert [one.temperature for one in range_of(text)] == [61.0]


@pytest.mark.parametrize("text", ["", "<html>", "[]", "{}", '{"status":"error","error":"x"}', '{"status":"success"}', "[" * 50_000, "null"])
def test_what_is_no_answer_is_said(text: str) -> None:
    with pytest.raises(ParseError, match="promql"):
        range_of(text)


def test_an_answer_that_is_cut_anywhere_raises_nothing_else() -> None:
    text = answer({"__name__": "DCGM_FI_DEV_GPU_TEMP", "UUID": "GPU-1"}, [[NOW, "61"]]).encode()
    for end in range(len(text)):
        with pytest.raises(ParseError):
            range_of(text[:end])


# Drawing


def line(name: str = "gpu-01 GPU 0", values: tuple[float, ...] = (1980, 1500, 1200), title: str = "SM clock", **rest: Any) -> Series:
    return Series(title=title, unit="MHz", name=name, points=[(NOW + at, value) for at, value in enumerate(values)], **rest)


def test_the_plot_has_a_row_a_line_on_one_scale() -> None:
    rows = [row for row, _ in plot([line(marked=True), line("gpu-01 GPU 1", (1980, 1980, 1980))], 60)]
    assert rows == [
        "SM clock, MHz: 1200 to 1980, from 12:00:00 to 12:00:02",
        "  gpu-01 GPU 0  ███████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▁  1980 … 1200",
        "  gpu-01 GPU 1  ███████████████████████████████  1980",
    ]


@FEW
@given(
    st.lists(
        st.builds(
            Series,
            title=st.sampled_from(["a", "b\x1b[2J"]),
            unit=st.text(max_size=3),
            name=st.text(max_size=60),
            points=st.lists(st.tuples(st.floats(-1e12, 1e12), st.floats(-1e15, 1e15)), max_size=5).map(sorted),
        ),
        max_size=4,
    ),
    st.integers(20, 120),
)
def test_any_lines_fit_the_terminal_and_make_good_xml(series: list[Series], width: int) -> None:
    for row, _ in plot(series, width):
        assert len(row) <= width
        assert row.isprintable()
    report = Report(tool="gpudoctor 0", started="", verdict="healthy", asked="<a&b>\x07", series=series)
    ElementTree.fromstring(svg(report))


def test_a_terminal_without_blocks_gets_plain_characters() -> None:
    report = Report(tool="gpudoctor 0", started="", verdict="healthy", series=[line(), line("gpu-01 GPU 1", (30, 80, 88), "Temperature")])
    text = render(report, width=80)
    assert "█" in text
    assert all(row.isascii() for row in text.translate(PLAIN).split("\n") if "GPU" in row)
    assert json.loads(render(report, "json"))["series"][0]["points"][1] == [NOW + 1, 1500]


def test_nothing_to_draw_is_said_in_the_picture() -> None:
    assert "Nothing was watched" in svg(Report(tool="", started="", verdict="healthy"))


# What people paste: nvidia-smi dmon, and an exporter's own text

DMON = """# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk  pviol  tviol
# Idx      W      C      C      %      %      %      %    MHz    MHz      %   bool
    0    298     88     94    100     61      0      0   1215    915      0      1
    1    391     64      -    100     60      0      0   1215   1410      4      0
"""
METRIC = 'DCGM_FI_DEV_{}{{gpu="0",UUID="GPU-1",modelName="NVIDIA L4",Hostname="n7"}} {}\n'
METRICS = METRIC.format("GPU_TEMP", 86) + METRIC.format("SM_CLOCK", 1005)
READERS = {"nvidia_dmon": (dmon.dmon, DMON), "prometheus_text": (metrics_page.metrics, METRICS)}


def read(name: str, text: str | bytes) -> list[GpuSample]:
    facts = READERS[name][0](as_output(text, name), Subject(kind="node", node="gpu-01"))
    return [one for one in facts["gpu_samples"] if isinstance(one, GpuSample)]


def test_the_rows_of_dmon_are_samples() -> None:
    first, second = read("nvidia_dmon", DMON)
    assert (first.index, first.power, first.temperature, first.memory_temperature, first.sm_clock) == (0, 298.0, 88.0, 94.0, 915.0)
    assert (first.reasons, second.reasons, second.memory_temperature) == (["sw_thermal"], ["sw_power_cap"], None)
    dated = "#Date       Time        gpu    pwr  temp\n#YYYYMMDD   HH:MM:SS    Idx      W     C\n 20260301   12:00:02      0     68    31\n"
    (one,) = read("nvidia_dmon", dated)
    assert (one.time, one.power, one.temperature, one.reasons) == (NOW + 2, 68.0, 31.0, None)


def test_an_exporters_text_is_a_sample() -> None:
    (one,) = read("prometheus_text", "# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).\n" + METRICS)
    assert (one.node, one.uuid, one.temperature, one.sm_clock, one.product, one.time) == ("n7", "GPU-1", 86.0, 1005.0, "NVIDIA L4", NOW)


def test_an_exporters_memory_alarms_are_of_a_gpu() -> None:
    text = METRIC.format("ROW_REMAP_PENDING", 1) + METRIC.format("ROW_REMAP_FAILURE", 0) + METRIC.format("THRESHOLD_SRM", 1)
    facts = metrics_page.metrics(as_output(text, "metrics"), Subject(kind="node", node="gpu-01"))
    assert [(one.uuid, one.remap_pending, one.remap_failed, one.sram_threshold_exceeded) for one in facts["gpus"]] == [  # type: ignore[attr-defined]
        ("GPU-1", True, None, True)
    ]
    assert metrics_page.metrics(as_output(METRICS, "metrics"), Subject(kind="node", node="gpu-01"))["gpus"] == []


@pytest.mark.parametrize("name", READERS)
def test_texts_that_are_cut_or_spoilt(name: str) -> None:
    good = READERS[name][1]
    whole = read(name, good)
    spoilt = good.replace("\n", "\r\n") + "\0\0\x1b[31mGPU\x1b[0m\n" + "    7    1\n" + 'DCGM_FI_DEV_GPU_TEMP{gpu="} 1\n'
    assert [msgspec.structs.replace(one, origin=whole[0].origin) for one in read(name, spoilt)] == [
        msgspec.structs.replace(one, origin=whole[0].origin) for one in whole
    ]
    for end in range(len(good)):
        with contextlib.suppress(ParseError):
            assert len(read(name, good.encode()[:end] + b"\xf0\x9f")) <= len(whole)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("line", ["    0 " * 8, "# gpu ", 'DCGM_FI_DEV_GPU_TEMP{gpu="0",', 'x="\\', "-" * 30, "DCGM_FI_DEV_GPU_TEMP{} NaN"])
def test_a_megabyte_of_nonsense_takes_linear_time(name: str, line: str) -> None:
    for text in (f"{line}\n" * ((1 << 20) // len(line)), line * ((1 << 20) // len(line))):
        with contextlib.suppress(ParseError):
            read(name, text)


def test_hours_of_csv_are_read() -> None:
    text = csv(COOL, 0) + "".join(csv(COOL, second % 60).split("\n", 1)[1] for second in range(2000))
    facts = smi.smi(as_output(text, "nvidia-smi"), Subject(kind="node", node="gpu-01"))
    assert (len(facts["gpus"]), len(facts["gpu_samples"])) == (2, 4_002)


def test_a_text_cut_anywhere_is_still_read(tmp_path: Path) -> None:
    text = text_of("power-limit-lowered", "a lowered limit of a busy H100").encode()
    for end in range(0, len(text), 37):
        diagnosed(tmp_path, text[:end] + b"\xf0\x9f")


def test_the_query_that_watches_is_read_back() -> None:
    """The columns are those of the parser: a misspelt one would be no reading, for ever."""
    from gpudoctor.tools.nvidia_smi.field_names import COLUMNS

    columns = WATCH.partition("--query-gpu=")[2].partition(" ")[0].split(",")
    assert [column for column in columns if column not in COLUMNS] == ["timestamp"]
