"""The metrics that count errors: asked of a real Prometheus, and in what people paste."""

from __future__ import annotations

import json
import re
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.kernel import Xid
from gpudoctor.knowledge import error_metrics
from gpudoctor.knowledge.dcgm_fields import BY_ID
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import Report
from gpudoctor.tools.prometheus.errors import errors
from tests.nodes import dcgmi
from tests.pasted import of_files
from tests.prometheus.asked import Courses, found
from tests.prometheus.asked import asked as asked_of_prometheus
from tests.prometheus.kept import Course, labels

ABOUT = Subject(kind="cluster")
DEV = "DCGM_FI_DEV_"
asked = partial(asked_of_prometheus, book="gpu-errors-by-metric")


def sound(gpus: int = 2, begin: float = 180.0) -> Courses:
    """What exporters serve of GPUs that are well, corrected errors among it that came long ago."""
    values = {"GPU_TEMP": 41, "XID_ERRORS": 0, "ECC_DBE_VOL_TOTAL": 0, "ECC_SBE_VOL_TOTAL": 7, "ROW_REMAP_FAILURE": 0, "RETIRED_DBE": 0}
    values |= {"ROW_REMAP_PENDING": 0, "PCIE_REPLAY_COUNTER": 5000, "NVLINK_RECOVERY_ERROR_COUNT_TOTAL": 12}
    return {(DEV + name, labels(gpu)): [(begin, value)] for name, value in values.items() for gpu in range(gpus)}


def moved(name: str, *course: tuple[float, float]) -> Courses:
    """The sound GPUs, one metric of GPU 1 with a course of its own."""
    return sound() | {(DEV + name, labels(1)): course}


def minutes_ago(report: Report) -> float:
    """When the first finding was seen."""
    assert report.findings[0].time
    return (time.time() - datetime.fromisoformat(report.findings[0].time).timestamp()) / 60.0


def test_sound_ones_are_healthy(tmp_path: Path) -> None:
    report = asked(tmp_path, sound())
    assert (report.verdict, report.findings, report.candidates) == ("healthy", [], [])


@pytest.mark.parametrize(
    ("name", "course", "cause", "confidence"),
    [
        ("XID_ERRORS", [(180, 0), (20, 79)], "gpu-fallen-off-bus", "confirmed"),
        ("XID_ERRORS", [(180, 79)], "gpu-fallen-off-bus", "likely"),  # a reboot mends it, and the gauge keeps it
        ("XID_ERRORS", [(180, 64)], "row-remap-failure", "confirmed"),  # only another card does
        ("XID_ERRORS", [(10, 79)], "gpu-fallen-off-bus", "confirmed"),  # blank before, while the GPU was watched
        ("ECC_DBE_VOL_TOTAL", [(180, 0), (30, 2)], "gpu-ecc-uncorrectable", "confirmed"),
        ("ECC_DBE_VOL_TOTAL", [(180, 2)], "gpu-ecc-uncorrectable", "confirmed"),
        ("RETIRED_SBE", [(180, 64)], "page-retirement-limit", "confirmed"),
        ("ROW_REMAP_FAILURE", [(180, 1)], "row-remap-failure", "confirmed"),
        ("ROW_REMAP_PENDING", [(180, 0), (5, 1)], "row-remap-pending", "confirmed"),
        ("ECC_SBE_VOL_TOTAL", [(180, 0), (40, 900)], "ecc-correctable-rising", "likely"),
        ("PCIE_REPLAY_COUNTER", [(180, 5000), (40, 9000)], "pcie-link-degraded", "likely"),
        ("NVLINK_RECOVERY_ERROR_COUNT_TOTAL", [(180, 12), (15, 14)], "nvlink-error-counters-rising", "confirmed"),
    ],
)
def test_each_error(tmp_path: Path, name: str, course: Course, cause: str, confidence: str) -> None:
    report = asked(tmp_path, moved(name, *course))
    assert found(report) == [(cause, confidence)]
    assert report.verdict == "problem"
    assert report.findings[0].subject.gpu == "GPU-5a0c1f2e-0000-4000-8000-000000000001"


def test_when_a_counter_moved(tmp_path: Path) -> None:
    report = asked(tmp_path, moved("ECC_DBE_VOL_TOTAL", (180, 0), (30, 2)))
    (one,) = report.findings
    assert 28 < minutes_ago(report) < 33
    assert "rose from 0 to 2 at 20" in one.title


def test_when_an_xid_came(tmp_path: Path) -> None:
    report = asked(tmp_path, moved("XID_ERRORS", (180, 0), (20, 79)))
    assert 18 < minutes_ago(report) < 23


def test_a_program_of_yesterday_is_history(tmp_path: Path) -> None:
    report = asked(tmp_path, moved("XID_ERRORS", (180, 31)))
    print(report.findings[0].title)
    assert found(report) == [("gpu-program-errors-past", "confirmed")]


def test_what_follows_a_restart_of_the_driver_is_no_growth(tmp_path: Path) -> None:
    report = asked(tmp_path, moved("PCIE_REPLAY_COUNTER", (180, 5000), (40, 3)))
    assert (report.verdict, report.findings) == ("healthy", [])


@pytest.mark.parametrize(
    "courses",
    [
        {},
        {key: course for key, course in sound().items() if "GPU_TEMP" in key[0]},  # GPUs are watched, their errors aren't
    ],
)
def test_no_series_shows_nothing(tmp_path: Path, courses: Courses) -> None:
    report = asked(tmp_path, courses or {("up", 'job="node"'): [(180, 1)]})
    assert (report.verdict, report.findings) == ("inconclusive", [])


def test_series_that_ended_show_nothing(tmp_path: Path) -> None:
    assert asked(tmp_path, sound(), until=20).verdict == "inconclusive"


def test_a_gpu_that_is_exported_no_more_is_not_shown(tmp_path: Path) -> None:
    """One whose series end 20 minutes before the others': it may have fallen off the bus."""
    gone = {key: [*course, (20, float("nan"))] for key, course in sound().items() if 'gpu="1"' in key[1]}
    report = asked(tmp_path, sound() | gone)
    assert (report.verdict, report.findings) == ("inconclusive", [])


def page(*lines: str) -> str:
    """What an exporter serves of one GPU."""
    return "".join(f"{line.partition(' ')[0]}{{{labels(0)}}} {line.partition(' ')[2]}\n" for line in ("DCGM_FI_DEV_GPU_TEMP 41", *lines))


@pytest.mark.parametrize(
    ("lines", "cause", "confidence"),
    [
        (["DCGM_FI_DEV_XID_ERRORS 79"], "gpu-fallen-off-bus", "likely"),
        (["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL 2"], "gpu-ecc-uncorrectable", "confirmed"),
        (["DCGM_FI_DEV_RETIRED_SBE 60", "DCGM_FI_DEV_RETIRED_DBE 4"], "page-retirement-limit", "confirmed"),
        (["DCGM_FI_DEV_ROW_REMAP_FAILURE 1"], "row-remap-failure", "confirmed"),
        (["DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION 1"], "gpu-reset-required", "confirmed"),
        (["DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE 2"], "row-remap-spares-exhausted", "confirmed"),
    ],
)
def test_a_pasted_page(tmp_path: Path, lines: list[str], cause: str, confidence: str) -> None:
    report = of_files(tmp_path, {"metrics.txt": page(*lines)})
    assert found(report) == [(cause, confidence)]


def test_a_pasted_page_of_a_gpu_that_is_well_is_no_problem(tmp_path: Path) -> None:
    """A program of some time failed on it, some corrected errors and some pages belong to its age."""
    lines = ["DCGM_FI_DEV_XID_ERRORS 43", "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL 9", "DCGM_FI_DEV_RETIRED_SBE 3"]
    report = of_files(tmp_path, {"metrics.txt": page(*lines)})
    assert (report.verdict == "problem", report.findings, report.candidates) == (False, [], [])


def test_the_exporters_count_of_xids_has_a_time(tmp_path: Path) -> None:
    line = f'DCGM_EXP_XID_ERRORS_COUNT{{{labels(0)},window_size_in_ms="300000",xid="79"}} 1\n'
    report = of_files(tmp_path, {"metrics.txt": page() + line})
    assert found(report) == [("gpu-fallen-off-bus", "confirmed")]


def test_two_pages_show_what_rose(tmp_path: Path) -> None:
    first, second = (
        "".join(f"{clock} {line}\n" for line in page(f"DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL {value}").splitlines())
        for clock, value in (("2026-03-01 10:00:00", 12), ("2026-03-01 10:05:00", 15))
    )
    report = of_files(tmp_path, {"metrics.txt": first + second})
    assert found(report) == [("nvlink-error-counters-rising", "confirmed")]


def vector(query: str, *series: tuple[str, str, float]) -> Output:
    """The answer to a question of this moment."""
    now = 1772366400.0
    result = [
        {
            "metric": dict(part.split("=", 1) for part in of.replace('"', "").split(",")) | {"__name__": DEV + name},
            "value": [now, f"{value:g}"],
        }
        for name, of, value in series
    ]
    text = json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})
    return Output(Command(("promql", "http://p:9090", query)), pages=(text.encode(),), time=now)


def test_a_pasted_answer_of_prometheus(tmp_path: Path) -> None:
    answer = vector("DCGM_FI_DEV_XID_ERRORS", ("XID_ERRORS", labels(0), 79), ("ECC_DBE_VOL_TOTAL", labels(1), 2))
    report = of_files(tmp_path, {"answer.json": answer.text})
    assert sorted(found(report)) == [("gpu-ecc-uncorrectable", "confirmed"), ("gpu-fallen-off-bus", "likely")]


def test_an_answer_about_an_hour_ago_says_nothing_of_now() -> None:
    facts = errors(vector('{__name__=~"DCGM_FI_.*"} offset 1h', ("XID_ERRORS", labels(0), 79), ("ROW_REMAP_FAILURE", labels(0), 1)), ABOUT)
    (xid,) = facts["xids"]
    assert isinstance(xid, Xid)
    assert (xid.code, xid.time, xid.age, facts["gpus"]) == (79, None, 3600.0, [])


def test_two_targets_that_show_one_gpu_do_not_add_up() -> None:
    twice = [("RETIRED_SBE", labels(0, job=job, instance=job), 40.0) for job in ("one", "other")]
    (gpu,) = errors(vector("x", *twice), ABOUT)["gpus"]
    assert getattr(gpu, "retired_pages", 0) == 40


BAD = [
    ("XID_ERRORS", 79.0, "gpu-fallen-off-bus"),
    ("ECC_DBE_VOL_TOTAL", 2.0, "gpu-ecc-uncorrectable"),
    ("RETIRED_SBE", 64.0, "page-retirement-limit"),
]


@pytest.mark.parametrize("book", ["thermal-throttle", "gpu-use", "gpu-health", "gpu-metrics"])
def test_every_runbook_that_reads_prometheus_says_it(tmp_path: Path, book: str) -> None:
    bad = {(DEV + name, labels(gpu)): [(180, value)] for gpu, (name, value, _) in enumerate(BAD)}
    inputs = {"for": 0.0} if book in ("thermal-throttle", "gpu-use") else {"proxy": False} if book == "gpu-metrics" else {}
    report = asked(tmp_path, sound(3) | bad, book=book, **inputs)
    assert {cause for cause, _ in found(report)} == {cause for _, _, cause in BAD}
    assert report.verdict == "problem"


@pytest.mark.parametrize(
    ("row", "count", "cause", "confidence"),
    [
        ("Double Bit ECC Errors", "2", "gpu-ecc-uncorrectable", "confirmed"),
        ("PCIe Replay Warnings", "4000", "pcie-link-degraded", "likely"),
    ],
)
def test_what_a_job_met(tmp_path: Path, row: str, count: str, cause: str, confidence: str) -> None:
    report = of_files(tmp_path, {"stats.txt": dcgmi.stats({0: {}, 3: {row: count}})})
    assert found(report) == [(cause, confidence)]
    assert report.findings[0].subject.gpu == "GPU 3"


@pytest.mark.parametrize(("xids", "verdict"), [("0", "inconclusive"), ("2", "inconclusive")])
def test_a_jobs_statistics_do_not_show_health(tmp_path: Path, xids: str, verdict: str) -> None:
    report = of_files(tmp_path, {"stats.txt": dcgmi.stats({0: {"Critical XID Errors": xids}})})
    assert (report.verdict, report.findings) == (verdict, [])


def test_columns_of_dmon_that_count_errors(tmp_path: Path) -> None:
    text = "#Entity   XIDER  RPPEN  RVIOL\nID\n" + "GPU 3     79     1      0\n" * 2
    report = of_files(tmp_path, {"dmon.txt": text})
    assert sorted(found(report)) == [("gpu-fallen-off-bus", "likely"), ("page-retirement-pending", "confirmed")]


def test_the_questions_ask_for_every_metric_that_counts_errors() -> None:
    """The four are one: through the API server they are written for an address."""
    books = library().runbooks
    steps = [(book, step) for book in ("gpu-errors-by-metric", "gpu-metrics") for step in books[book].steps]
    (here, before), (proxied, proxied_before) = (
        [unquote(step.run[-1]).partition("?query=")[2] or step.run[2] for of, step in steps if of == book and step.id.startswith("errors_")]
        for book in ("gpu-errors-by-metric", "gpu-metrics")
    )
    assert [before, proxied, proxied_before] == [f"{here} offset 1h", here, f"{here} offset 1h"]
    asked_for = re.compile(here.partition('"')[2].rpartition('"')[0])
    names = {name for number in error_metrics.ABOUT for name in (BY_ID[number].name, BY_ID[number].renamed) if name}
    assert [name for name in names if not asked_for.fullmatch(f"DCGM_FI_{name}")] == []
    assert asked_for.fullmatch(error_metrics.XID_COUNTS)
