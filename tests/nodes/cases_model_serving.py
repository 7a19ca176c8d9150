"""Servers of models that answer too slowly, refuse requests, or share them badly between their engines."""

from __future__ import annotations

import json
import shlex

from gpudoctor.library.index import library
from tests.nodes.case import Case, Said
from tests.nodes.watched import WAVES, log, node, seen_by

SERVER = (
    "INFO 03-01 12:00:10 [loggers.py:123] Engine 000: Avg prompt throughput: 5120.3 tokens/s, Avg generation throughput: 812.0 tokens/s, "
    "Running: 256 reqs, Waiting: {} reqs, GPU KV cache usage: {}%, Prefix cache hit rate: 3.1%"
)


def engine(number: int, running: int, waiting: int) -> str:
    """vLLM's report of one engine."""
    return SERVER.format(waiting, 61.2).replace("Engine 000", f"Engine {number:03d}").replace("Running: 256", f"Running: {running}")


CASES: dict[str, Case] = seen_by(
    "model-serving",
    {
        "serving-well": node(*WAVES, log=log(*(SERVER.format(0, 61.2) for _ in range(20)), gap=10)),
        "serving-refuses": node(
            *WAVES, log=log("E0301 12:00:10.412031 1 infer_handler.cc:184] [request id: 81] Exceeds maximum queue size")
        ),
        "serving-queue": node(*WAVES, log=log(*(SERVER.format(431 + number, 99.8) for number in range(20)), gap=10)),
        "serving-at-once": node(*WAVES, log=log(SERVER.format(431, 99.8), gap=10)),
        "serving-cache-full": node(
            *WAVES,
            log=log(
                *(SERVER.format(31 + at, 99.8) for at in range(4)),
                *(f"WARNING Sequence group cmpl-{at} is preempted by PreemptionMode.RECOMPUTE mode because" for at in range(3)),
                gap=10,
            ),
        ),
        "serving-workers-silent": node(
            *WAVES, log=log("(EngineCore_DP0 pid=88) ERROR 03-01 12:05:00 [core.py:710] TimeoutError: RPC call to sample_tokens timed out.")
        ),
        "serving-engines": node(*WAVES, log=log(*(engine(at, at or 256, 40 if not at else 0) for at in range(4)), gap=1)),
        "serving-engines-even": node(*WAVES, log=log(*(engine(at, 250 - at, 4) for at in range(4)), gap=1)),
        "serving-load-test": node(
            *WAVES,
            log=log(
                "p99 TTFT = 9.12s (threshold 2s) for 25m",
                "P99 TTFT (ms):                           9120.44",
                "         Aggregated              8211   612(7.45%) |   4110     180   60009   3100 |   18.24        1.36",
                "Request throughput (req/s):              9.40",
                "Request goodput (req/s):                 1.10",
            ),
        ),
        "serving-no-answer": node(*WAVES, log=Said(failure="refused", exit=1, reason="pods/log is forbidden")),
    },
)

PROMETHEUS = "http://prometheus.monitoring:9090"
SOUND = {"requests_waiting": 1.0, "cache_share": 0.4, "queue_seconds": 0.02, "prefill_seconds": 0.05, "decode_seconds": 0.3}
LATENCIES = {"latency p99": 0.9, "ttft p99": 0.1}
OF_STEP = {
    "parts": ("queue_seconds", "prefill_seconds", "decode_seconds"),
    "load": ("requests_waiting", "cache_share"),
    "failures": ("error_share",),
    "latencies": ("latency p99", "ttft p99"),
}


def row(name: str, value: float) -> dict[str, object]:
    """One row of an answer."""
    latency = " " in name
    of = {"quantity": "latency" if latency else name, "label": name if latency else "", "namespace": "ml", "pod": "llm-0"}
    return {"metric": of, "value": [1772366400, f"{value:g}"]}


def measured(**values: float) -> Case:
    """What Prometheus says of a server, where it differs from a sound one, beside objectives."""
    known = {**SOUND, **LATENCIES, **{name.replace("__", " "): value for name, value in values.items()}}
    answers: dict[str, str] = {}
    for step in library().runbooks["model-serving"].steps:
        if step.id in OF_STEP:
            rows = [row(name, known[name]) for name in OF_STEP[step.id] if name in known]
            asked = shlex.join(word.replace("${input.prometheus}", PROMETHEUS) for word in step.run)
            answers[asked] = json.dumps({"status": "success", "data": {"resultType": "vector", "result": rows}})
    inputs: dict[str, object] = {"prometheus": PROMETHEUS, "slo_p99": 2.0, "slo_ttft": 0.3, "slo_errors": 0.001}
    return Case("model-serving", inputs, answers)


CASES |= {
    "serving-measured-well": measured(error_share=0.0),
    "serving-measured-slow": measured(latency__p99=9.5, queue_seconds=3.0),
    "serving-measured-fails": measured(error_share=0.01),
    "serving-measured-queue": measured(requests_waiting=40.0, cache_share=0.99),
}
