"""What a training job measures of itself: asked of a real Prometheus, and in what people paste."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.metrics import Series
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.prometheus.series import series
from tests.pasted import of_files
from tests.prometheus.asked import Courses, found
from tests.prometheus.asked import asked as asked_of_prometheus
from tests.prometheus.kept import Course

OF = 'instance="10.20.0.9:8000",job="llm",namespace="ml",pod="llm-0"'
asked = partial(asked_of_prometheus, book="training-metrics")
LAST_STEP = "training_last_step_timestamp_seconds"


def over_the_hour(value: Callable[[float], float], every: int = 1) -> Course:
    """A value of each minute of the last hour and a half, of the minutes since its begin."""
    return [(float(minutes), value(90.0 - minutes)) for minutes in range(90, -1, -every)]


def stands_since(minutes: float) -> Course:
    """The time of the last step of a job that makes one a minute, and stopped so many minutes ago."""
    now = time.time()
    return [(ago, now - max(ago, minutes) * 60.0 - 5.0) for ago in map(float, range(90, -1, -1))]


def sound() -> Courses:
    """A job that gets on and learns, with noise from batch to batch."""
    return {
        (LAST_STEP, OF): stands_since(0.0),
        ("training_steps_total", OF): over_the_hour(lambda at: 40.0 * at),
        ("training_loss", OF): over_the_hour(lambda at: 2.0 + 3.0 * math.exp(-at / 60.0) + 0.02 * math.sin(at * 7)),
        ("training_val_loss", OF): over_the_hour(lambda at: 2.2 + 3.0 * math.exp(-at / 60.0), 10),
        ("training_grad_norm", OF): over_the_hour(lambda at: 0.8 + 0.3 * math.sin(at * 5)),
        ("training_samples_per_second", OF): over_the_hour(lambda at: 512.0 + 9.0 * math.sin(at * 3) - (200.0 if at % 20 == 7 else 0.0)),
        ("training_checkpoint_failures_total", OF): [(90.0, 1.0)],
    }


def test_a_sound_job_is_healthy(tmp_path: Path) -> None:
    report = asked(tmp_path, sound())
    assert (report.verdict, report.findings, report.candidates) == ("healthy", [], [])


BAD: dict[str, tuple[Courses, str, str]] = {
    "last step 4,000 s ago": ({(LAST_STEP, OF): stands_since(66.6)}, "training-stalled", "likely"),
    "a counter that stands": (
        {(LAST_STEP, OF): [], ("training_steps_total", OF): over_the_hour(lambda at: 40.0 * min(at, 70.0))},
        "training-stalled",
        "likely",
    ),
    "NaN": (
        {("training_loss", OF): over_the_hour(lambda at: 2.0 if at < 80 else math.nan)},
        "training-loss-not-finite",
        "confirmed",
    ),
    "infinity": (
        {("training_loss", OF): over_the_hour(lambda at: 2.0 if at < 80 else math.inf)},
        "training-loss-not-finite",
        "confirmed",
    ),
    "a loss that rises": ({("training_loss", OF): over_the_hour(lambda at: 2.0 + at / 60.0)}, "training-does-not-converge", "likely"),
    "validation": ({("training_val_loss", OF): over_the_hour(lambda at: 2.0 + at / 90.0, 10)}, "training-does-not-converge", "likely"),
    "gradients explode": (
        {("training_grad_norm", OF): over_the_hour(lambda at: 1.0 + at**2 / 10.0)},
        "training-does-not-converge",
        "likely",
    ),
    "gradients vanish": ({("training_grad_norm", OF): over_the_hour(lambda at: 1e-8)}, "training-does-not-converge", "likely"),
    "slower": (
        {("training_samples_per_second", OF): over_the_hour(lambda at: 512.0 if at < 60 else 400.0)},
        "slow-gpu-straggler",
        "likely",
    ),
    "checkpoints": (
        {("training_checkpoint_failures_total", f'{OF},reason="EROFS"'): [(90.0, 0.0), (20.0, 2.0)]},
        "checkpoint-write-fails",
        "confirmed",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_a_real_prometheus_has_kept(tmp_path: Path, name: str) -> None:
    courses, cause, confidence = BAD[name]
    report = asked(tmp_path, {of: course for of, course in (sound() | courses).items() if course})
    assert (report.verdict, found(report)) == ("problem", [(cause, confidence)]), report.findings


def test_a_loss_that_stands_is_possible(tmp_path: Path) -> None:
    report = asked(tmp_path, sound() | {("training_loss", OF): over_the_hour(lambda at: 2.0 + 0.002 * math.sin(at * 7) + at / 1000)})
    assert [one.cause for one in report.candidates] == ["training-does-not-converge"]
    assert report.findings == []


def test_a_metric_of_another_name(tmp_path: Path) -> None:
    name = "myjob_beat_unixtime"
    report = asked(tmp_path, {(name, OF): stands_since(66.6)}, step_metric=name)
    assert found(report) == [("training-stalled", "likely")]
    assert "400" in report.findings[0].title or "399" in report.findings[0].title


def test_one_that_has_ended_is_not_healthy(tmp_path: Path) -> None:
    """Its series end 20 minutes ago: neither a stall nor something that is shown to go on."""
    report = asked(tmp_path, sound(), until=20.0)
    assert (report.verdict, report.findings) == ("inconclusive", [])


def test_nothing_there_is_not_healthy(tmp_path: Path) -> None:
    report = asked(tmp_path, {("node_load1", 'instance="a"'): [(90.0, 1.0)]})
    assert (report.verdict, report.findings) == ("inconclusive", [])


def test_the_runbook_on_stalls_asks_it(tmp_path: Path) -> None:
    report = asked(tmp_path, sound() | {(LAST_STEP, OF): stands_since(66.6)}, book="training-stall", **{"for": 0.0})
    assert found(report) == [("training-stalled", "likely")]


PAGE = """# HELP training_last_step_timestamp_seconds When the last step was made.
# TYPE training_last_step_timestamp_seconds gauge
training_last_step_timestamp_seconds{run="llm"} 1.772362400e+09 1772366400000
# TYPE training_loss gauge
training_loss{run="llm"} 2.31
"""


def test_a_pasted_page(tmp_path: Path) -> None:
    report = of_files(tmp_path, {"metrics.txt": PAGE})
    assert found(report) == [("training-stalled", "likely")]
    assert "4000 s" in report.findings[0].title
    report = of_files(tmp_path, {"metrics.txt": PAGE.replace("1.772362400e", "1.772366390e").replace("2.31", "NaN")})
    assert found(report) == [("training-loss-not-finite", "confirmed")]


def answer(name: str, values: list[float]) -> str:
    """An answer of Prometheus of one series, a point a minute."""
    points = [[1772366400 - 60 * ago, f"{value}"] for ago, value in zip(range(len(values) - 1, -1, -1), values, strict=True)]
    one = {"metric": {"__name__": name, "job": "llm", "pod": "llm-0", "namespace": "ml"}, "values": points}
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [one]}})


PASTED: dict[str, tuple[str, list[float], str]] = {
    "stands": ("training_steps_total", [min(at, 40.0) for at in range(61)], "training-stalled"),
    "rises": ("training_loss", [2.0 + at / 60.0 for at in range(61)], "training-does-not-converge"),
    "gradients": ("training_grad_norm", [400.0] * 61, "training-does-not-converge"),
    "slower": ("training_samples_per_second", [512.0] * 40 + [350.0] * 21, "slow-gpu-straggler"),
    "checkpoints": ("training_checkpoint_failures_total", [0.0] * 40 + [3.0] * 21, "checkpoint-write-fails"),
}


@pytest.mark.parametrize("name", PASTED)
def test_a_pasted_answer(tmp_path: Path, name: str) -> None:
    metric, values, cause = PASTED[name]
    report = of_files(tmp_path, {"answer.json": answer(metric, values)})
    assert [one.cause for one in report.findings] == [cause]


def test_a_reset_counts_what_came_after() -> None:
    output = Output(
        command=Command(("promql", "u", "q")),
        pages=(answer("training_checkpoint_failures_total", [5, 7, 0, 2]).encode(),),
        time=1772366500.0,
    )
    (one,) = series(output, Subject(kind="cluster"))["series"]
    assert isinstance(one, Series)
    assert (one.growth, one.resets, one.moves, one.first, one.last, one.age, one.gap) == (4.0, 1, 3, 5.0, 2.0, 100.0, 60.0)


REFUSED = {
    "rights": "PermissionError: [Errno 13] Permission denied: '/ckpt/checkpoint-500/model.safetensors'",
    "read-only": "OSError: [Errno 30] Read-only file system: '/ckpt/checkpoint-500/model.safetensors'",
    "time-out": "TimeoutError: [Errno 110] Connection timed out: '/ckpt/checkpoint-500/model.safetensors'",
    "input and output": "OSError: [Errno 5] Input/output error: '/ckpt/checkpoint-500/model.safetensors'",
    "own words": "[rank0] checkpoint save timed out after 1800 s",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_checkpoint_that_a_log_says_was_not_written(tmp_path: Path, name: str) -> None:
    report = of_files(tmp_path, {"train.log": f"Saving model checkpoint to /ckpt/checkpoint-500\n{REFUSED[name]}\n"})
    assert found(report) == [("checkpoint-write-fails", "likely")]


def test_a_checkpoint_that_cannot_be_read_is_another_thing(tmp_path: Path) -> None:
    report = of_files(tmp_path, {"train.log": f"Loading the checkpoint of step 500\n{REFUSED['rights']}\n"})
    assert found(report) == []


@pytest.mark.parametrize(("loss", "causes"), [("nan", ["training-loss-not-finite"]), ("2.1", [])])
def test_the_loss_of_the_last_lines_of_a_log_counts(tmp_path: Path, loss: str, causes: list[str]) -> None:
    """A scaler of float16 skips a step now and then."""
    rows = ["2.3", "2.2", "nan", loss, loss]
    report = of_files(tmp_path, {"train.log": "".join(f"step {10 + at} | loss {one} | grad_norm 1.2\n" for at, one in enumerate(rows))})
    assert [one.cause for one in report.findings] == causes


TRACKED: dict[str, tuple[str, list[float], str]] = {
    "diverges": ("train/loss", [2.0 + at / 20.0 for at in range(40)], "training-does-not-converge"),
    "gradients": ("grad_norm", [1.0] * 20 + [900.0] * 20, "training-does-not-converge"),
    "infinite": ("loss", [2.0] * 20 + [math.inf] * 4, "training-loss-not-finite"),
    "sound": ("loss", [2.0 - at / 100.0 + 0.05 * math.sin(at * 7) for at in range(40)], ""),
    "noise": ("loss", [2.0 + 0.2 * math.sin(at * 7) for at in range(40)], ""),
}


@pytest.mark.parametrize("name", TRACKED)
def test_the_rows_of_a_tracker(tmp_path: Path, name: str) -> None:
    metric, values, cause = TRACKED[name]
    text = "".join(f"{{'{metric}': {value}, 'learning_rate': 2e-05, 'epoch': {at / 10}}}\n" for at, value in enumerate(values))
    report = of_files(tmp_path, {"train.log": text})
    assert [one.cause for one in report.findings] == ([cause] if cause else [])
