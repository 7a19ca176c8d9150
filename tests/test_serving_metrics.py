"""What servers of models measure of themselves: asked of a real Prometheus, and on a page that somebody pasted."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest

from gpudoctor.tools.serving.histograms import quantile
from tests.pasted import of_files
from tests.prometheus.asked import Courses
from tests.prometheus.asked import asked as asked_of_prometheus
from tests.test_training_metrics import found, over_the_hour

OF = 'instance="10.20.0.9:8000",job="vllm",namespace="ml",pod="llm-0",model_name="m"'
BOUNDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)
asked = partial(asked_of_prometheus, book="model-serving")


def histogram(name: str, below: dict[float, float], of: str = OF) -> Courses:
    """A histogram to which a hundred requests come a minute; `below`: bound → the share of them up to it."""
    made: Courses = {}
    for bound in BOUNDS:
        share = max(value for limit, value in below.items() if limit <= bound)
        text = "+Inf" if bound == math.inf else f"{bound:g}"
        made[(f"{name}_bucket", f'{of},le="{text}"')] = over_the_hour(lambda at, share=share: at * 100.0 * share)  # type: ignore[misc]
    return made


def mean(name: str, seconds: float, of: str = OF) -> Courses:
    """The sum and the count of a time."""
    return {
        (f"{name}_sum", of): over_the_hour(lambda at: at * 100.0 * seconds),
        (f"{name}_count", of): over_the_hour(lambda at: at * 100.0),
    }


def server(
    *, slow: bool = False, queue: float = 0.02, prefill: float = 0.05, decode: float = 0.3, waiting: float = 1.0, cache: float = 0.4
) -> Courses:
    """A vLLM."""
    e2e = {0.0: 0.0, 1.0: 0.5, 5.0: 0.9, 10.0: 1.0} if slow else {0.0: 0.0, 0.5: 0.9, 1.0: 1.0}
    return {
        **histogram("vllm:e2e_request_latency_seconds", e2e),
        **histogram("vllm:time_to_first_token_seconds", {0.0: 0.0, 2.5: 0.9, 5.0: 1.0} if slow else {0.0: 0.0, 0.1: 1.0}),
        **mean("vllm:request_queue_time_seconds", queue),
        **mean("vllm:request_prefill_time_seconds", prefill),
        **mean("vllm:request_decode_time_seconds", decode),
        ("vllm:num_requests_waiting", OF): [(90.0, waiting)],
        ("vllm:kv_cache_usage_perc", OF): [(90.0, cache)],
    }


def test_a_sound_server_is_healthy(tmp_path: Path) -> None:
    report = asked(tmp_path, server(), slo_p99=2.0, slo_ttft=0.3, slo_errors=0.001)
    assert (report.verdict, report.findings, report.candidates) == ("healthy", [], [])


def test_without_objectives_nothing_is_too_slow(tmp_path: Path) -> None:
    assert found(asked(tmp_path, server(slow=True))) == []


@pytest.mark.parametrize(
    ("part", "queue", "prefill", "decode"), [("queue", 3.0, 0.1, 0.3), ("prefill", 0.1, 2.0, 0.3), ("decode", 0.1, 0.2, 3.0)]
)
def test_which_part_is_to_blame(tmp_path: Path, part: str, queue: float, prefill: float, decode: float) -> None:
    report = asked(tmp_path, server(slow=True, queue=queue, prefill=prefill, decode=decode), slo_p99=2.0)
    assert found(report) == [("inference-slo-breach", "confirmed")]
    # the 99th of a hundred lies in the bucket from 5 to 10 s, nine tenths of the way: histogram_quantile of the server says the same
    assert report.findings[0].title.startswith(f"latency p99 is 9.50 s, objective 2 s; most is the {part}"), report.findings[0].title


def test_the_first_token(tmp_path: Path) -> None:
    report = asked(tmp_path, server(slow=True, queue=1.0), slo_ttft=0.3)
    assert found(report) == [("inference-slo-breach", "confirmed")]
    assert "ttft p99 is 4.75 s" in report.findings[0].title


@pytest.mark.parametrize(
    "name", ["vllm:num_requests_waiting", "sglang:num_queue_reqs", "tgi_queue_size", "nv_inference_pending_request_count"]
)
def test_a_queue_that_lasts(tmp_path: Path, name: str) -> None:
    report = asked(tmp_path, {(name, OF): [(90.0, 40.0)]})
    assert found(report) == [("inference-slo-breach", "likely")]


def test_a_full_cache(tmp_path: Path) -> None:
    assert ("gpu-memory-pressure", "likely") in found(asked(tmp_path, server(waiting=4.0, cache=0.99)))


def test_tritons_failures(tmp_path: Path) -> None:
    of = 'job="triton",model="m",namespace="ml",pod="triton-0",version="1"'
    courses: Courses = {
        ("nv_inference_request_success", of): over_the_hour(lambda at: at * 990.0),
        ("nv_inference_request_failure", of): over_the_hour(lambda at: at * 10.0),
    }
    assert found(asked(tmp_path, courses, slo_errors=0.001)) == [("inference-slo-breach", "confirmed")]


def test_the_arithmetic_is_that_of_prometheus() -> None:
    assert quantile(0.99, {0.1: 0.0, 5.0: 90.0, 10.0: 100.0, math.inf: 100.0}) == pytest.approx(9.5)
    assert quantile(0.99, {0.1: 0.0, 5.0: 90.0, math.inf: 100.0}) == 5.0


PAGE = """# TYPE vllm:time_to_first_token_seconds histogram
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5",model_name="m"} 800.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="5.0",model_name="m"} 900.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="10.0",model_name="m"} 1000.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 1000.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 1000.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 900.0
"""


@pytest.mark.parametrize(("objective", "causes"), [("300ms", ["inference-slo-breach"]), ("12000ms", [])])
def test_a_pasted_page_beside_an_objective(tmp_path: Path, objective: str, causes: list[str]) -> None:
    files = {"metrics.txt": PAGE, "slo.yaml": f"slo_ttft_p99_ms: {objective}\n"}
    report = of_files(tmp_path, dict(files))
    assert [one.cause for one in report.findings] == causes
    assert not causes or report.findings[0].title.startswith("ttft p99 is 9.50 s")
