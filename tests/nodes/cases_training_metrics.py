"""Training jobs as their own metrics show them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from gpudoctor.library.index import library
from tests.nodes.case import Case, Said

BOOK, PROMETHEUS, NOW = "training-metrics", "http://prometheus.monitoring:9090", 1772366400.0
INPUTS: dict[str, object] = {"prometheus": PROMETHEUS}
TIMES = [NOW - 3600.0 + 60.0 * number for number in range(61)]

Values = Mapping[str, list[float]]  # metric → the value of each minute of the hour


def question() -> str:
    """What is asked, as it is recorded."""
    book = library().runbooks[BOOK]
    words = next(one for one in book.steps if one.id == "measured").run
    for name, text in {"prometheus": PROMETHEUS, "span": "3600", "step_metric": str(book.inputs["step_metric"].default)}.items():
        words = [word.replace(f"${{input.{name}}}", text) for word in words]
    return shlex.join(words)


def answer(values: Values) -> str:
    """What Prometheus answers."""
    rows = [
        {
            "metric": {
                "__name__": name,
                "job": "llm",
                "namespace": "ml",
                "pod": "llm-0",
                **({"reason": "EROFS"} if "failures" in name else {}),
            },
            "values": [[moment, f"{value:.12g}"] for moment, value in zip(TIMES, course, strict=True)],
        }
        for name, course in values.items()
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": rows}})


LAST = "training_last_step_timestamp_seconds"
SOUND: Values = {
    LAST: [moment - 5.0 for moment in TIMES],
    "training_steps_total": [8000.0 + 40.0 * at for at in range(61)],
    "training_loss": [3.0 - at / 100.0 for at in range(61)],
    "training_val_loss": [3.1 - at / 100.0 for at in range(61)],
    "training_grad_norm": [0.8 + at % 3 / 10.0 for at in range(61)],
    "training_samples_per_second": [512.0 + at % 4 for at in range(61)],
    "training_checkpoint_failures_total": [1.0] * 61,
}


def job(**values: list[float]) -> Case:
    """The sound job, with other courses of some metrics."""
    return Case(BOOK, INPUTS, {question(): answer({**SOUND, **{f"training_{name}": course for name, course in values.items()}})})


CASES: dict[str, Case] = {
    "training-metrics-healthy": job(),
    "training-metrics-old-step": job(last_step_timestamp_seconds=[min(moment, NOW - 3000.0) - 5.0 for moment in TIMES]),
    "training-metrics-stands": Case(
        BOOK,
        INPUTS,
        {question(): answer({"training_steps_total": [40.0 * min(at, 40) for at in range(61)], "training_loss": SOUND["training_loss"]})},
    ),
    "training-metrics-nan": job(loss=[2.0] * 50 + [float("nan")] * 11),
    "training-metrics-rises": job(loss=[2.0 + at / 60.0 for at in range(61)]),
    "training-metrics-flat": job(loss=[2.0 + at / 10_000.0 for at in range(61)]),
    "training-metrics-validation": job(val_loss=[2.0 + at / 60.0 for at in range(61)]),
    "training-metrics-gradients": job(grad_norm=[1.0] * 40 + [400.0] * 21),
    "training-metrics-slower": job(samples_per_second=[512.0] * 40 + [380.0] * 21),
    "training-metrics-checkpoints": job(checkpoint_failures_total=[0.0] * 40 + [2.0] * 21),
    "training-metrics-no-answer": Case(BOOK, INPUTS, {question(): Said(failure="timeout", reason="no answer within 30 s")}),
}
