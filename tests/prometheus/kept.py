"""A real Prometheus that has kept what exporters served: series over the last hours, written into its store before it starts."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.prometheus.real import closed_port

EVERY = 60.0  # s between two points

Course = Sequence[tuple[float, float]]  # from so many minutes ago on, the value


def labels(gpu: int, node: str = "gpu-07", **more: str) -> str:
    """The labels of one GPU as a target's series has them."""
    own = {
        "Hostname": node,
        "UUID": f"GPU-5a0c1f2e-0000-4000-8000-{gpu:012d}",
        "gpu": str(gpu),
        "pci_bus_id": f"00000000:{0x1B + 0x10 * gpu:02X}:00.0",
        "modelName": "NVIDIA A100-SXM4-80GB",
        "instance": f"{node}:9400",
        "job": "dcgm-exporter",
        **more,
    }
    return ",".join(f'{name}="{value}"' for name, value in own.items())


def series(courses: Mapping[tuple[str, str], Course], now: float, *, until: float = 0.0) -> str:
    """In OpenMetrics: each metric with its labels takes the value of its last turn, and ends so many minutes ago."""
    lines = []
    for (name, of), course in courses.items():
        lines.append(f"# TYPE {name} unknown")
        begin, end = now - course[0][0] * 60.0, now - until * 60.0
        for at in range(int((end - begin) / EVERY) + 1):
            moment = begin + at * EVERY
            value = [value for minutes, value in course if now - minutes * 60.0 <= moment + 0.5][-1]
            lines.append(f"{name}{{{of}}} {value:.12g} {moment:.3f}")
    return "\n".join([*lines, "# EOF", ""])


@contextlib.contextmanager
def keeping(folder: Path, courses: Mapping[tuple[str, str], Course], *, until: float = 0.0) -> Iterator[str]:
    """A Prometheus over these series; its address."""
    text = folder / "series.txt"
    text.write_text(series(courses, time.time(), until=until), encoding="utf-8")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", str(text), str(folder / "data")], check=True, **quiet)  # type: ignore[call-overload]
    port = closed_port()
    config = folder / "prometheus.yml"
    config.write_text(json.dumps({"scrape_configs": []}), encoding="utf-8")
    argv = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
    process = subprocess.Popen(argv, **quiet)  # type: ignore[call-overload]
    try:
        end = time.monotonic() + 30.0
        while time.monotonic() < end:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=2):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)
