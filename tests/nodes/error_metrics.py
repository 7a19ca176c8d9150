"""What a Prometheus answers to the questions of the part that reads errors by metric."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence

from gpudoctor.library.index import library

PROMETHEUS = "http://prometheus.monitoring:9090"
NOW = 1772366400.0
BOOK = "gpu-errors-by-metric"
EVERY = 60.0

Values = Mapping[str, Sequence[float]]  # metric without DCGM_FI_DEV_ → the value of each GPU

SOUND: Values = {
    "XID_ERRORS": (0, 0),
    "ECC_DBE_VOL_TOTAL": (0, 0),
    "ECC_SBE_VOL_TOTAL": (7, 0),
    "ROW_REMAP_FAILURE": (0, 0),
    "PCIE_REPLAY_COUNTER": (12, 5000),
    "NVLINK_REPLAY_ERROR_COUNT_TOTAL": (0, 220),
    "NVLINK_RECOVERY_ERROR_COUNT_TOTAL": (0, 3),
}


def question(step: str, **names: str) -> str:
    """A step's question as it is recorded."""
    words = next(one for one in library().runbooks[BOOK].steps if one.id == step).run
    for name, text in {"input.prometheus": PROMETHEUS, **names}.items():
        words = [word.replace(f"${{{name}}}", text) for word in words]
    return shlex.join(words)


def of_gpu(metric: str, gpu: int, node: str = "gpu-07") -> dict[str, str]:
    """The labels of a series."""
    return {
        "__name__": f"DCGM_FI_DEV_{metric}",
        "Hostname": node,
        "UUID": f"GPU-5a0c1f2e-0000-4000-8000-{gpu:012d}",
        "gpu": str(gpu),
        "pci_bus_id": f"00000000:{0x1B + 0x28 * gpu:02X}:00.0",
        "modelName": "NVIDIA H100 80GB HBM3",
        "instance": "10.20.0.7:9400",
    }


def answered(kind: str, result: list[dict[str, object]]) -> str:
    """An answer of Prometheus."""
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}})


def at_once(values: Values, node: str = "gpu-07") -> str:
    """The answer about one moment."""
    rows = [(metric, gpu, value) for metric, gpus in values.items() for gpu, value in enumerate(gpus)]
    return answered("vector", [{"metric": of_gpu(metric, gpu, node), "value": [NOW, f"{value:g}"]} for metric, gpu, value in rows])


def over_time(metric: str, gpu: int, before: float, after: float, minutes: int) -> str:
    """The answer about the hour in which a metric moved, so many minutes ago; the temperature beside it."""
    times = [NOW - 3660.0 + EVERY * number for number in range(62)]
    courses = {metric: [after if moment >= NOW - 60.0 * minutes else before for moment in times], "GPU_TEMP": [41.0] * len(times)}
    return answered(
        "matrix",
        [
            {"metric": of_gpu(name, gpu), "values": [[moment, f"{value:g}"] for moment, value in zip(times, values, strict=True)]}
            for name, values in courses.items()
        ],
    )


def read(now: Values, before: Values = SOUND, **asked: str) -> dict[str, str]:
    """The answers where the metrics are `now`, and were `before` an hour ago; `asked` are those about metrics that moved on GPU 1."""
    when = {
        question("when_moved", **{"move.metric": f"DCGM_FI_DEV_{metric}", "move.uuid": of_gpu(metric, 1)["UUID"]}): text
        for metric, text in asked.items()
    }
    return {question("errors_now"): at_once(now), question("errors_before"): at_once(before), **when}
