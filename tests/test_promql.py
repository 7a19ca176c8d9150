"""Asking a Prometheus: a real one where Debian's package is installed, and servers that behave badly."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.probes import promql
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.tools.prometheus.range import samples

GOOD = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}}).encode()
LABELS = 'gpu="0",UUID="GPU-5a0c",pci_bus_id="00000000:1B:00.0",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-07"'
EXPORTER = "".join(
    f"# TYPE DCGM_FI_DEV_{name} gauge\nDCGM_FI_DEV_{name}{{{LABELS}}} {value}\n"
    for name, value in (("GPU_TEMP", 88), ("SM_CLOCK", 1215), ("CLOCKS_EVENT_REASONS", 96))
)


class Server(ThreadingHTTPServer):
    """Answers every GET with what `reply` says: status, headers, body; keeps what was asked."""

    daemon_threads = True

    def __init__(self, reply: Any) -> None:
        self.reply = reply
        self.asked: list[tuple[str, dict[str, str]]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error here."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        status, headers, body = self.server.reply() if callable(self.server.reply) else self.server.reply
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in [body] if isinstance(body, bytes) else body:
            self.wfile.write(piece)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextlib.contextmanager
def serving(reply: Any) -> Iterator[Server]:
    server = Server(reply)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def ask(url: str, query: str = "up", span: str = "300", every: str = "15", timeout: float = 5.0) -> Output:
    return promql.run(Command(("promql", url, query, span, every), timeout=timeout))


def test_the_question_is_a_range_that_ends_now() -> None:
    with serving((200, {}, GOOD)) as server:
        output = ask(f"{server.url}/prefix/", 'up{job="a b"}')
    assert (output.failure, output.text) == ("", GOOD.decode())
    path, _ = server.asked[0]
    assert path.startswith("/prefix/api/v1/query_range?query=up%7Bjob%3D%22a+b%22%7D&start=")
    fields = dict(part.split("=") for part in path.partition("?")[2].split("&"))
    assert round(float(fields["end"]) - float(fields["start"])) == 300
    assert fields["step"] == "15.000"


def test_a_long_span_has_no_more_points_than_prometheus_gives() -> None:
    with serving((200, {}, GOOD)) as server:
        ask(server.url, span=str(30 * 86400), every="1")
    step = float(server.asked[0][0].rpartition("=")[2])
    assert 30 * 86400 / step < 11_000


def test_credentials_are_sent_and_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((401, {}, b"")) as server:
        output = ask(server.url.replace("http://", "http://me:s%40crt@"))
        assert server.asked[0][1]["authorization"] == "Basic " + base64.b64encode(b"me:s@crt").decode()
        monkeypatch.setenv(promql.TOKEN, "t0ken")
        ask(server.url)
        assert server.asked[1][1]["authorization"] == "Bearer t0ken"
    assert output.failure == "refused"
    assert "crt" not in output.reason
    assert "HTTP 401" in output.reason


@pytest.mark.parametrize(
    ("reply", "failure", "says"),
    [
        ((403, {}, b"no"), "refused", "HTTP 403"),
        ((404, {}, b"page not found"), "not-found", "is it a Prometheus"),
        ((302, {"Location": "http://elsewhere.example/login?token=x"}, b""), "refused", "http://elsewhere.example,"),
        ((302, {"Location": "/login"}, b""), "refused", "another path"),
        ((400, {}, b'{"status":"error","errorType":"bad_data","error":"parse error"}'), "broken", "bad_data: parse error"),
        ((503, {}, b"upstream"), "broken", "HTTP 503"),
        ((200, {}, b"<html>Grafana</html>"), "broken", "does not answer as a Prometheus"),
        ((200, {}, b"[" * 100_000), "broken", "does not answer as a Prometheus"),
        ((200, {"Content-Encoding": "gzip"}, b"not gzip"), "unreachable", "can't be reached"),
        ((200, {"Content-Length": "100"}, b"short"), "unreachable", "can't be reached"),
    ],
)
def test_what_is_no_answer_is_said_in_a_sentence(reply: Any, failure: str, says: str) -> None:
    with serving(reply) as server:
        output = ask(server.url)
    assert output.failure == failure
    assert says in output.reason
    assert "token=x" not in output.reason
    assert "object at 0x" not in output.reason


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        output = ask(f"http://127.0.0.1:{port}")
    assert (output.failure, output.reason) == ("unreachable", f"nothing listens at 127.0.0.1:{port}: connection refused")
    tls = ask("https://gpudoctor.invalid")
    assert (tls.failure, tls.reason) == ("unreachable", "gpudoctor.invalid: no such host")
    with serving((200, {}, GOOD)) as server:
        plain = ask(server.url.replace("http:", "https:"))
    assert plain.failure == "unreachable"
    assert "no TLS connection" in plain.reason


def test_the_deadline_is_for_the_whole_answer() -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(100):
            time.sleep(0.05)
            yield b" "

    with serving(lambda: (200, {}, drip())) as server:
        started = time.monotonic()
        output = ask(server.url, timeout=0.4)
    assert output.failure == "timeout"
    assert time.monotonic() - started < 4


def test_an_answer_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promql, "LIMIT", 1 << 20)
    with serving(lambda: (200, {}, (b" " * 65536 for _ in range(1000)))) as server:
        output = ask(server.url)
    assert (output.failure, output.pages) == ("too-large", ())


@pytest.mark.parametrize(
    ("url", "span"),
    [
        ("ftp://host", "300"),
        ("file:///etc/passwd", "300"),
        ("http://", "300"),
        ("http://[::1", "300"),
        ("http://host:99999", "300"),
        ("http://host/?query=x", "300"),
        ("host:9090", "300"),
        ("", "300"),
        ("http://host", "nan"),
        ("http://host", "-1"),
        ("http://host", "long"),
    ],
)
def test_what_is_no_question_is_not_asked(url: str, span: str) -> None:
    output = ask(url, span=span)
    assert output.failure == "not-allowed"
    assert output.reason


def test_a_report_has_no_credentials() -> None:
    from gpudoctor.engine.diagnose import diagnose
    from gpudoctor.library.index import library
    from gpudoctor.reporters import render

    book = library().runbooks["thermal-throttle"]
    inputs = {name: given.default for name, given in book.inputs.items()}
    for reply in ((200, {}, GOOD), (500, {}, b"")):
        with serving(reply) as server:
            url = server.url.replace("http://", "http://me:s3cr3t@")
            report = diagnose(library(), book, {**inputs, "prometheus": url}, Live(), timeout=20)
        assert len(server.asked) == 3  # the history, the errors now and an hour ago
        text = render(report, "json") + render(report, verbose=True)
        assert "s3cr3t" not in text
        assert "http://***@127.0.0.1" in text


def test_live_asks_prometheus() -> None:
    with serving((200, {}, GOOD)) as server:
        output = Live()(Command(("promql", server.url, "up", "300", "15"), timeout=5))
    assert (output.failure, output.text) == ("", GOOD.decode())


def kept(*ages: float) -> bytes:
    """What Prometheus says of GPUs whose series ended so many seconds ago; a minute a sample."""
    result = []
    for index, age in enumerate(ages):
        labels = {"Hostname": "gpu-07", "UUID": f"GPU-{index}", "gpu": str(index)}
        for name, value in (("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "0"), ("DCGM_FI_DEV_GPU_TEMP", "44")):
            points = [[time.time() - age - 60 * back, value] for back in range(4, -1, -1)]
            result.append({"metric": {"__name__": name, **labels}, "values": points})
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()


@pytest.mark.parametrize(
    ("ages", "verdict", "says"),
    [
        ((10, 20), "healthy", "No thermal slowdown"),
        ((), "inconclusive", "Prometheus has no series of a GPU for this query"),
        ((2400, 2400), "inconclusive", "2 of 2 series of GPUs ended 40 min ago"),
        ((10, 2400), "inconclusive", "1 of 2 series of GPUs ended 40 min ago"),
    ],
    ids=["goes on", "no series", "all ended", "one ended"],
)
def test_a_metric_that_is_empty_or_ended_shows_nothing(ages: tuple[float, ...], verdict: str, says: str) -> None:
    from gpudoctor.engine.diagnose import diagnose
    from gpudoctor.library.index import library
    from gpudoctor.reporters import render

    book = library().runbooks["thermal-throttle"]
    inputs = {name: given.default for name, given in book.inputs.items()}
    with serving(lambda: (200, {}, kept(*ages))) as server:
        report = diagnose(library(), book, {**inputs, "prometheus": server.url}, Live(), timeout=20)
    assert report.verdict == verdict
    assert says in render(report, verbose=True, width=200)
    assert bool(report.ruled_out) == (verdict == "healthy")


def test_what_was_kept_of_prometheus_has_its_own_time() -> None:
    output = Output(Command(("cat", "kept.json")), pages=(kept(86_400),), time=time.time())
    assert samples(output, Subject(kind="cluster"))["gpu_samples"]


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[str]:
    """A real Prometheus that scrapes a little exporter every second."""
    if not shutil.which("prometheus"):
        pytest.skip("prometheus isn't installed (Debian: apt-get install prometheus)")
    with serving((200, {"Content-Type": "text/plain; version=0.0.4"}, EXPORTER.encode())) as exporter, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        job = {"job_name": "dcgm", "static_configs": [{"targets": [f"127.0.0.1:{exporter.server_port}"]}]}
        config = tmp_path / "prometheus.yml"
        config.write_text(json.dumps({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [job]}))
        argv = [
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url)
            yield url
        finally:
            process.terminate()
            process.wait(10)


def wait_for(url: str, seconds: float = 30.0) -> None:
    """Until it has scraped something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api/v1/query?query=DCGM_FI_DEV_GPU_TEMP", timeout=2) as answer:
            if b'"value"' in answer.read():
                return
        time.sleep(0.2)
    pytest.fail("prometheus did not start")


def test_a_real_prometheus_is_read(prometheus: str) -> None:
    from gpudoctor.library.index import library

    step = next(step for step in library().runbooks["thermal-throttle"].steps if step.id == "history")
    output = ask(prometheus, step.run[2], "10", "1")
    assert output.failure == ""
    found = [one for one in samples(output, Subject(kind="cluster"))["gpu_samples"] if isinstance(one, GpuSample)]
    assert {(one.node, one.uuid, one.temperature, one.sm_clock) for one in found} == {("gpu-07", "GPU-5a0c", 88.0, 1215.0)}
    assert found[-1].reasons == ["sw_thermal", "hw_thermal"]
    assert abs((found[-1].time or 0) - time.time()) < 10
    wrong = ask(prometheus, "up{", "10", "1")
    assert wrong.failure == "broken"
    assert "bad_data" in wrong.reason


@pytest.mark.parametrize("token", ["first-half\r\nsecond-half", "first-half\u00e9second-half"])
def test_a_token_that_is_none_is_not_told(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(promql.TOKEN, token)
    output = ask("http://127.0.0.1:1")
    words = "$GPUDOCTOR_PROMETHEUS_TOKEN has a line break or other characters inside that no token has"
    assert (output.failure, output.reason) == ("not-allowed", words)


def test_credentials_that_a_server_says_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(promql.TOKEN, "s3cr3t-of-ours")
    with serving((400, {}, json.dumps({"status": "error", "errorType": "bad", "error": "token s3cr3t-of-ours"}).encode())) as server:
        reason = ask(server.url).reason
    assert "says: bad: token" in reason
    assert "s3cr3t-of-ours" not in reason
