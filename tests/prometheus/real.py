"""Start Debian's `prometheus` in a folder of its own, on a port that the system chose, over an HTTP server with one path for each fault."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from tests.kube.monitoring import metrics

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SLOW = 3.0  # s that an exporter with a sick GPU takes; the scrape's time-out is 1 s


class Exporter(BaseHTTPRequestHandler):
    """An exporter at /metrics, and its troubles at other paths."""

    def do_GET(self) -> None:
        status, kind, body = 200, TEXT, metrics()
        if self.path == "/slow":
            time.sleep(SLOW)
        elif self.path == "/page":
            kind, body = "text/html", "<html><body>GPU Exporter</body></html>"
        elif self.path == "/forbidden":
            status, body = 403, "no"
        elif self.path != "/metrics":
            status, body = 404, "404 page not found"
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        with contextlib.suppress(OSError):  # who waited no longer
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def jobs(port: int, closed: int) -> list[dict[str, Any]]:
    """The scrape configurations: one whole job, each other with one trouble."""

    def job(name: str, path: str = "/metrics", at: int = port, **more: Any) -> dict[str, Any]:
        return {"job_name": name, "metrics_path": path, "static_configs": [{"targets": [f"127.0.0.1:{at}"]}], **more}

    drop = [{"source_labels": ["__name__"], "regex": "DCGM_FI_DEV_GPU_UTIL", "action": "drop"}]
    return [
        job("dcgm-exporter", metric_relabel_configs=drop),
        job("dcgm-refused", at=closed),
        job("dcgm-path", "/metric"),
        job("dcgm-slow", "/slow"),
        job("dcgm-page", "/page"),
        job("dcgm-forbidden", "/forbidden"),
        job("dcgm-limit", sample_limit=3),
        job("dcgm-name") | {"static_configs": [{"targets": ["gpudoctor.invalid:9400"]}]},
    ]


@contextlib.contextmanager
def running(folder: Path) -> Iterator[str]:
    """A Prometheus that has tried each of its targets; its address."""
    exporter = ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
    exporter.daemon_threads = True
    with contextlib.ExitStack() as stack:
        stack.callback(exporter.server_close)
        stack.callback(exporter.shutdown)
        Thread(target=exporter.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        port = closed_port()
        config = folder / "prometheus.yml"
        made = {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": jobs(exporter.server_port, closed_port())}
        config.write_text(json.dumps(made), encoding="utf-8")
        argv = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        stack.callback(process.wait, 10)
        stack.callback(process.terminate)
        wait_for(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"


def wait_for(url: str, seconds: float = 30.0) -> None:
    """Until every target was tried. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(f"{url}/api/v1/targets", timeout=2) as answer:
            states = [one["health"] for one in json.load(answer)["data"]["activeTargets"]]
            if states and "unknown" not in states:
                return
        time.sleep(0.2)
    raise TimeoutError("prometheus has not tried all its targets")
