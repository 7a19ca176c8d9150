"""Heat and power without the driver's reasons: on a real Prometheus, in what people paste, and the same answer whoever asks."""

from __future__ import annotations

import json
import shutil
import urllib.parse
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.derive.throttling import measure_throttling
from gpudoctor.facts.gpu import Gpu, Throttling
from gpudoctor.report import Report
from tests.nodes.cases_heat import DRAWS, FALLS, HEATS
from tests.pasted import diagnosed, of_files
from tests.prometheus.asked import Courses, found, looked
from tests.prometheus.asked import asked as asked_of_prometheus
from tests.prometheus.kept import Course, keeping, labels
from tests.test_thermal import NOW, measured, sample

DEV = "DCGM_FI_DEV_"
SPAN = 600.0  # s of history that is asked for
HISTORY = {"for": SPAN}
asked = partial(asked_of_prometheus, book="thermal-throttle", **HISTORY)
Answer = list[tuple[str, str]]


def each_minute(values: list[float]) -> Course:
    """A value for each minute, the last one now."""
    return [(float(len(values) - 1 - at), value) for at, value in enumerate(values)]


def cards(**first: list[float]) -> Courses:
    """Two sound A100, of which the first has some courses of its own; a metric that only it has is exported of both."""
    sound = {"GPU_TEMP": 61.0, "SM_CLOCK": 1395.0, "GPU_UTIL": 100.0, "POWER_USAGE": 318.0, "ENFORCED_POWER_LIMIT": 400.0}
    names = dict.fromkeys([*sound, *first])
    return {
        (DEV + name, labels(gpu)): each_minute(
            first[name] if name in first and not gpu else [sound.get(name, first.get(name, [0.0])[0])] * 10
        )
        for name in names
        for gpu in (0, 1)
    }


HEATED: dict[str, list[float]] = {
    "GPU_TEMP": HEATS,
    "SM_CLOCK": [clock * 1410 / 1980 for clock in FALLS],
    "POWER_USAGE": [draw * 400 / 700 for draw in DRAWS],
}
THERMAL: Answer = [("thermal-cooling-fault", "likely"), ("thermal-slowdown", "likely")]


def possible(report: Report) -> list[str]:
    return [one.cause for one in report.candidates]


@pytest.mark.parametrize(
    ("first", "findings", "candidates"),
    [
        (HEATED, THERMAL, []),
        (HEATED | {"POWER_USAGE": [399.0] * 10}, [], ["thermal-slowdown"]),  # at its power limit
        (HEATED | {"GPU_TEMP": [heat - 30 for heat in HEATS]}, [], ["thermal-slowdown"]),  # a cool card
        (HEATED | {"GPU_UTIL": [40.0] * 10}, [], []),  # with little to do
        (HEATED | {"CLOCK_THROTTLE_REASONS": [4.0] * 10}, [], []),  # the driver says what it is
        ({"THERMAL_VIOLATION": [4e9 + 12e9 * at for at in range(10)]}, [("thermal-slowdown", "confirmed")], []),
        ({"MEMORY_TEMP": [98.0] * 10, "MEM_MAX_OP_TEMP": [95.0] * 10}, [("thermal-memory-junction", "likely")], []),
        ({"GPU_TEMP": [90.0] * 10, "SLOWDOWN_TEMP": [89.0] * 10}, [("thermal-slowdown", "confirmed")], []),
        (
            {"POWER_USAGE": [249.0] * 10, "ENFORCED_POWER_LIMIT": [250.0] * 10, "POWER_MGMT_LIMIT_DEF": [400.0] * 10},
            [("power-limit-lowered", "likely")],
            [],
        ),
    ],
)
def test_each_sign_in_a_real_prometheus(tmp_path: Path, first: dict[str, list[float]], findings: Answer, candidates: list[str]) -> None:
    report = asked(tmp_path, cards(**first))
    told = [one for one in found(report) if len(findings) > 1 or one[0] != "thermal-cooling-fault"]
    assert (told, possible(report)) == (findings, candidates)
    if findings or candidates:
        assert report.verdict == ("problem" if findings else "inconclusive")


def test_one_answer_whoever_asks(tmp_path: Path) -> None:
    """thermal-throttle, gpu-use and analyze find the same causes in the same series."""
    if not shutil.which("prometheus"):
        pytest.skip("prometheus isn't installed (Debian: apt-get install prometheus)")
    with keeping(tmp_path, cards(**HEATED)) as url:
        reports = [looked(url, book="thermal-throttle", **HISTORY), looked(url, book="gpu-use", **HISTORY)]
        query = urllib.parse.urlencode({"query": '{__name__=~"DCGM_.+"}[10m]'})
        with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=10) as kept:
            reports.append(of_files(tmp_path, {"kept.json": kept.read()}))
    for report in reports:
        assert found(report)[:2] == THERMAL
        assert [one.subject.gpu for one in report.findings[:2]] == [labels(0).partition('UUID="')[2].partition('"')[0]] * 2
        assert report.verdict == "problem"


def test_sound_cards_are_healthy_while_they_are_watched(tmp_path: Path) -> None:
    errors = dict.fromkeys(("XID_ERRORS", "ECC_DBE_VOL_TOTAL", "ROW_REMAP_FAILURE", "ROW_REMAP_PENDING"), [0.0] * 10)
    report = asked(tmp_path, cards(CLOCK_THROTTLE_REASONS=[4.0] * 10, **errors))
    assert (report.verdict, found(report), possible(report)) == ("healthy", [], []), report.not_shown


def test_series_that_ended_show_nothing(tmp_path: Path) -> None:
    courses = {key: [(60.0, value) for _, value in course[:1]] for key, course in cards(CLOCK_THROTTLE_REASONS=[4.0] * 10).items()}
    assert asked(tmp_path, courses, until=20.0).verdict == "inconclusive"


def test_a_card_whose_reasons_end_before_the_others_is_not_shown(tmp_path: Path) -> None:
    kept = json.loads(text(reasons=[0.0] * 60))
    assert of_files(tmp_path, {"a.json": json.dumps(kept)}).shown  # the same without a gap
    for series in kept["data"]["result"][-2:-1]:
        del series["values"][-40:]
    report = of_files(tmp_path, {"a.json": json.dumps(kept)})
    assert any("no clock reasons were read for 20 min" in one.why for one in report.not_shown)


def text(reasons: list[float]) -> str:
    """What somebody kept of Prometheus: temperature and reasons of two cards, every 30 s."""
    metrics = {"GPU_TEMP": [61.0] * len(reasons), "CLOCK_THROTTLE_REASONS": reasons}
    result = [
        {
            "metric": {"__name__": DEV + name, "UUID": f"GPU-{gpu}", "gpu": str(gpu)},
            "values": [[NOW + 30 * at, str(value)] for at, value in enumerate(values)],
        }
        for name, values in metrics.items()
        for gpu in (0, 1)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


# The measurement


def course(heats: list[float], clocks: list[float], gpu: Gpu | None = None, **fields: Any) -> Throttling | None:
    """What is measured of an H100 without reasons, of which a reading comes every 5 s."""
    known = {"reasons": None, "margin": None, "product": "NVIDIA H100 80GB HBM3", "power": 500.0, **fields}
    rows = [sample(5.0 * at, temperature=heat, sm_clock=clock, **known) for at, (heat, clock) in enumerate(zip(heats, clocks, strict=True))]
    return next(iter(measured(*rows, gpus=[gpu] if gpu else None)), None)


def test_the_clock_falls_as_the_card_warms() -> None:
    one = course(HEATS, FALLS)
    assert one is not None
    assert (one.course, round(one.fell or 0), one.fell_at_limit, one.limit) == ("1980 MHz at 70 °C, 1215 MHz at 88 °C", 39, True, 87.0)


@pytest.mark.parametrize(
    ("heats", "clocks"),
    [
        (HEATS[:4], FALLS[:4]),  # four points
        ([70.0] * 10, FALLS),  # the work changes, and the temperature stays
        (HEATS, [1980.0, 1400.0] * 5),  # the clock swings
        (HEATS, FALLS[::-1]),  # it rises
        (HEATS, [1980.0 - 10 * at for at in range(10)]),  # a warm chip gets a little less
    ],
)
def test_what_is_no_fall_by_heat(heats: list[float], clocks: list[float]) -> None:
    assert course(heats, clocks) is None


@pytest.mark.parametrize(
    ("fields", "likely"),
    [
        ({"power": 680.0}, False),  # 97 % of its limit
        ({"power_limit": None}, False),  # nobody knows the limit
        ({"utilisation": None}, False),  # nor whether it works
        ({"margin": 30.0}, False),  # the card's own word counts more than that of its kind
        ({"margin": 3.0}, True),
        ({"product": "NVIDIA L40S"}, False),  # no limit is known
        ({"product": "NVIDIA L40S", "temperature_slowdown": 92.0}, True),
    ],
)
def test_how_sure_it_is(fields: dict[str, Any], likely: bool) -> None:
    one = course(HEATS, FALLS, **fields)
    assert one is not None
    assert one.fell is not None
    assert one.fell_at_limit is likely


def test_hours_at_the_limit_weigh_no_more_than_the_way_there() -> None:
    one = course([*HEATS, *([88.0, 89.0, 87.0] * 200)], [*FALLS, *([1215.0, 1200.0, 1230.0] * 200)])
    assert one is not None
    assert one.fell_at_limit


def test_reasons_that_were_read_decide() -> None:
    rows = [
        sample(5.0 * at, temperature=heat, sm_clock=clock, reasons=None, margin=None)
        for at, (heat, clock) in enumerate(zip(HEATS, FALLS, strict=True))
    ]
    (capped,) = measured(*rows, sample(50.0, temperature=88.0, sm_clock=1200.0, reasons=["sw_power_cap"], margin=None))
    (hot,) = measured(*rows, sample(50.0, temperature=88.0, sm_clock=1200.0, reasons=["sw_thermal"], margin=None))
    assert (capped.fell, hot.fell is not None) == (None, True)


def test_the_hardwares_own_margin_counts_down() -> None:
    gpu = Gpu(node="gpu-01", gpu="GPU-1", uuid="GPU-1", margin_slowdown=-2)
    assert [one.at_slowdown for left in (-1.0, -2.0) for one in measured(sample(margin=left), gpus=[gpu])] == [False, True]
    shut = Gpu(node="gpu-01", gpu="GPU-1", uuid="GPU-1", temperature_shutdown=92)
    assert [one.at_slowdown for heat in (91.0, 92.0) for one in measured(sample(temperature=heat), gpus=[shut])] == [False, True]


def test_two_tools_that_contradict_each_other() -> None:
    mine = {"seen_by": "nvidia-smi", "temperature": 45.0}
    theirs = {"seen_by": "DCGM", "temperature": 90.0}
    assert [one.views for one in measured(sample(0, **mine), sample(10, **theirs))] == ["45 °C by nvidia-smi, 90 °C by DCGM"]
    assert [one.views for one in measured(sample(0, **mine), sample(90, **theirs))] == [""]  # another moment
    assert [one.views for one in measured(sample(0, **mine, utilisation=0.0), sample(10, **theirs))] == [""]  # another load
    assert [one.views for one in measured(sample(0, **mine), sample(5, **{**theirs, "temperature": 60.0}))] == [""]  # sensors differ
    assert [one.views for one in measured(sample(0, **mine), sample(5, **mine, pstate=2), sample(6, **{**mine, "temperature": 90.0}))] == [
        ""
    ]


def test_a_slow_series_has_no_gap_and_a_hole_is_one() -> None:
    def silent(*seconds: float) -> float:
        facts = measure_throttling({"gpu_samples": [sample(at) for at in seconds], "gpus": []}, {}, NOW)
        return facts["throttling"][0].silent  # type: ignore[attr-defined, no-any-return]

    assert silent(0, 600, 1200, 1800) == 0.0
    assert silent(0, 30, 60, 90, 290) == 0.0
    assert silent(0, 30, 60, 90, 1290, 1320) == 1200.0


# What people paste

DMON = """# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk
# Idx      W      C      C      %      %    MHz    MHz
"""
VIOLATIONS = """#Entity   GPUTL    TMPTR    SMCLK     TVIOL                PVIOL
ID
"""


def test_nvidia_dmon_of_one_that_warms(tmp_path: Path) -> None:
    rows = "".join(
        f"    0  {draw:5.0f}  {heat:5.0f}      -    100     61   2619  {clock:5.0f}\n"
        for heat, clock, draw in zip(HEATS, FALLS, DRAWS, strict=True)
    )
    report = diagnosed(tmp_path, DMON + rows)
    assert (possible(report), found(report)) == (["thermal-slowdown"], [])  # no limit is printed


def test_dcgmi_dmon_counts_nanoseconds(tmp_path: Path) -> None:
    grows = "".join(f"GPU 0     100      84       1155      {120_000_000_000 + 600_000_000 * at}         900000000\n" for at in range(5))
    assert found(diagnosed(tmp_path, VIOLATIONS + grows)) == [("thermal-slowdown", "confirmed")]
    stays = "".join("GPU 0     100      71       1395      120000000000         900000000\n" for _ in range(5))
    assert found(diagnosed(tmp_path, VIOLATIONS + stays)) == []


def test_the_picture_shows_the_card_that_warms_first(tmp_path: Path) -> None:
    """Clock and temperature of both cards; the one that is told of is marked, in a candidate too."""
    rows = "".join(
        f"    0  {draw:5.0f}  {heat:5.0f}      -    100     61   2619  {clock:5.0f}\n"
        "    1    640     61      -    100     61   2619   1965\n"
        for heat, clock, draw in zip(HEATS, FALLS, DRAWS, strict=True)
    )
    dated = "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk\n" + "".join(
        f" 20260301   12:00:{at // 2:02d}  {row}\n" for at, row in enumerate(rows.splitlines())
    )
    report = diagnosed(tmp_path, dated)
    assert [(one.title, one.name, one.marked) for one in report.series] == [
        ("SM clock", "GPU 0", True),
        ("SM clock", "GPU 1", False),
        ("Temperature", "GPU 0", True),
        ("Temperature", "GPU 1", False),
    ]
