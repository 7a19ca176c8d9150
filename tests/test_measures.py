"""Numbers that people paste of slow work, full memory and full storage: what is read of them, with their units."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.facts.stall import Measure
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import PARSERS, load
from gpudoctor.tools.parser import ParseError
from tests.pasted import corpus

# `prometheus.measures` reads JSON, no lines of a text.
NAMES = [name for name, parser in PARSERS.items() if parser.fills == ("measures",) and name != "prometheus.measures"]


def said(text: str, name: str, argv: tuple[str, ...] = ()) -> dict[str, list[object]]:
    """What a parser makes of a text."""
    return load(name)(Output(Command(argv), pages=(text.encode(),)), Subject(kind="node", node="gpu-01"))  # type: ignore[return-value]


def numbers(text: str, argv: tuple[str, ...] = ()) -> dict[str, float]:
    """Quantity → the last value, by the tools that have any."""
    found = [one for name in NAMES for one in said(text, name, argv)["measures"] if isinstance(one, Measure)]
    assert not any(one.stated for one in found)
    return {one.quantity: one.value for one in found}


def test_the_command_that_is_shown_belongs_to_its_answer() -> None:
    assert numbers("68719476736\n", ("cat", "/sys/fs/cgroup/memory.max")) == {"memory_limit": 68719476736.0}
    assert numbers("124\n", ("timeout", "10", "ls", "/mnt/ml;", "echo", "$?")) == {"path_silent": 10.0}


def test_units_and_columns() -> None:
    assert numbers("15:50:01 kbmemfree kbavail kbmemused %memused\n16:00:01 100 300 99700 99.9\n")["memory_share"] == pytest.approx(0.997)
    assert numbers("nr_periods 1000\nnr_throttled 800\n") == {"cpu_throttled": 0.8}
    assert numbers("p95=1.5s\n")["latency"] == 1.5
    assert numbers("  \u2717 'p(95)<500' p(95)=812.31ms\n") == {"latency_objective": 0.5, "latency": 0.81231}
    assert numbers("State: FAILED (exit code 137)\nMemory Efficiency: 75.0% of 64.00 GB\n") == {"exit_code": 137.0, "memory_share": 0.75}
    assert numbers("     User  GPU-Hours-At-0%  Jobs  JobID\n1    mia   412  2  812,813\n2    kim   2  1  814\n") == {
        "gpu_unused": 412 * 3600.0
    }


def test_the_hottest_memory_of_a_monitor_and_of_its_log() -> None:
    assert numbers("GPU Memory Junction Temperature: 110.0 \u00b0C\n") == {"memory_temperature": 110.0}
    log = "Date,GPU Temperature [\u00b0C],Memory Temperature [\u00b0C]\n2026-03-01,58.1,108.0\n2026-03-01,58.4,112.0\n"
    assert numbers(log) == {"memory_temperature": 112.0}
    assert numbers("Memory junction temperature limit: 110 C\n") == {}


HOSTILE = [
    "p99" * 60_000,
    "{" * 200_000,
    "gpu " + "9" * 200_000,
    "| " * 120_000,
    "data 1s " * 30_000,
    "a1: " + "1 " * 100_000,
    "timeout " * 50_000,
    "-" * 300_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_lines_take_linear_time(number: int) -> None:
    for name in (*NAMES, "prometheus.queries", "notes.said"):
        with contextlib.suppress(ParseError):
            said(f"run tok/s\n{HOSTILE[number]}\nnr_periods 1000\nnr_throttled 800\n", name)
    assert numbers(f"{HOSTILE[number]}\nnr_periods 1000\nnr_throttled 800\n")["cpu_throttled"] == 0.8


SLOW = ("gpu-starved-by-input", "host-oom-kill", "inference-slo-breach", "shared-filesystem-full")
LINES = [line for one in corpus() if one.cause in SLOW for line in one.text.splitlines()]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(LINES), max_size=12), st.integers(0, 400))
def test_any_mixture_and_any_cut_is_read_or_refused(lines: list[str], cut: int) -> None:
    text = "\r\n".join(lines)[: -cut or None] + "\0\x1b[31m"
    for name in (*NAMES, "prometheus.queries", "notes.said"):
        with contextlib.suppress(ParseError):
            said(text, name)


def test_a_gpu_that_an_answer_names_by_its_index_has_a_name() -> None:
    (one,) = said('avg_over_time(DCGM_FI_DEV_GPU_UTIL[6h])\n{Hostname="gpu-02", gpu="3"}  96.4\n', "prometheus.queries")["gpu_samples"]
    assert isinstance(one, GpuSample)
    assert (one.gpu, one.index, one.span) == ("GPU 3", 3, 21600.0)
