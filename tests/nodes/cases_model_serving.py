"""Servers of models that answer too slowly, refuse requests, or share them badly between their engines."""

from __future__ import annotations

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
