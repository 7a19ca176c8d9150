"""Proxies: by kubectl's rules, for reads and exec alike, and named in what is said, without their passwords."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.probes.proxies import bypasses_proxy, find_proxy
from tests.kube import objects as build
from tests.kube.fixtures import Served
from tests.kube.proxy import Proxy

KUBECTL = shutil.which("kubectl") or ""
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
PODS, ENTER = "get pods -n ml -o json", "exec train-0 -n ml -- nvidia-smi -L"

# host and port, NO_PROXY, whether it is reached without a proxy: the documentation and the tests of golang.org/x/net/http/httpproxy
RULES = [
    ("api.example.com", 443, "", False),
    ("api.example.com", 443, "*", True),
    ("api.example.com", 443, "other.com, * ", True),
    ("api.example.com", 443, "example.com", True),
    ("example.com", 443, "example.com", True),
    ("API.Example.com", 443, " EXAMPLE.COM ", True),
    ("badexample.com", 443, "example.com", False),
    ("example.com", 443, ".example.com", False),
    ("api.example.com", 443, ".example.com", True),
    ("api.example.com", 443, "*.example.com", True),
    ("example.com", 443, "*.example.com", False),
    ("api.example.com", 6443, "example.com:6443", True),
    ("api.example.com", 443, "example.com:6443", False),
    ("api.example.com", 443, "a.com,,b.com,api.example.com", True),
    ("api.example.com", 443, "https://api.example.com", False),
    ("localhost", 443, "", True),
    ("localhost.example", 443, "", False),
    ("127.0.0.1", 6443, "", True),
    ("127.9.9.9", 6443, "", True),
    ("::1", 6443, "", True),
    ("10.1.2.3", 6443, "10.0.0.0/8", True),
    ("10.1.2.3", 6443, "10.9.9.9/8", True),
    ("11.1.2.3", 6443, "10.0.0.0/8", False),
    ("10.1.2.3", 6443, "10.1.2.3", True),
    ("10.1.2.3", 6443, "10.1.2.3:6443", True),
    ("10.1.2.3", 6443, "10.1.2.3:443", False),
    ("10.1.2.3", 6443, ".2.3", False),
    ("10.1.2.3", 6443, "2.3", False),
    ("10.1.2.3", 6443, "10.1", False),
    ("10.1.2.3", 6443, "10.0.0.0/99", False),
    ("fd00::7", 6443, "fd00::/8", True),
    ("fd00::7", 6443, "fd00:0::7", True),
    ("fd00::7", 6443, "[fd00::7]:6443", True),
    ("fd00::7", 6443, "[fd00::7]:443", False),
    ("10.1.2.3", 6443, "::ffff:10.1.2.3", True),
    ("api.example.com", 443, ":443", False),
]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    return kube_server(
        build.cluster(
            [build.pod("train-0", ns="ml", node="gpu-01", phase="Running"), build.node("gpu-01")],
            exec={"ml/train-0/main": [build.exec_answer("nvidia-smi", "-L", stdout="GPU 0\n")]},
        )
    )


@pytest.fixture
def proxy(served: Served) -> Iterator[Proxy]:
    with Proxy(target(served)) as one:
        yield one


def target(served: Served) -> tuple[str, int]:
    return "127.0.0.1", int(served.url.rpartition(":")[2])


def config(served: Served, host: str = "api.example.test", **cluster: Any) -> Path:
    """The served cluster under a name that only a proxy knows."""
    text = json.loads(served.kubeconfig.read_text())
    port = target(served)[1]
    text["clusters"][0]["cluster"] |= {"server": f"https://{host}:{port}", "tls-server-name": "127.0.0.1", **cluster}
    path = served.folder / "kubeconfig.proxied"
    path.write_text(json.dumps(text))
    return path


def ours(path: Path, line: str = PODS) -> Output:
    live = Live(str(path))
    try:
        return live(Command(("kubectl", *line.split()), timeout=5))
    finally:
        live.close()


@pytest.mark.parametrize(("host", "port", "no_proxy", "direct"), RULES)
def test_the_rules_of_go(host: str, port: int, no_proxy: str, direct: bool) -> None:
    assert bypasses_proxy(host, port, no_proxy) is direct


def test_which_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(server: str = "https://api.example.test", named: str = "") -> tuple[str, str]:
        proxy = find_proxy(server, named)
        return (proxy.url, proxy.source) if proxy else ("", "")

    assert found() == ("", "")
    monkeypatch.setenv("HTTP_PROXY", "http://plain")
    assert found() == ("", "")
    assert found("http://api.example.test") == ("http://plain:80", "$HTTP_PROXY")
    monkeypatch.setenv("https_proxy", "lower:3128")
    assert found() == ("http://lower:3128", "$https_proxy")
    monkeypatch.setenv("HTTPS_PROXY", "socks5://[fd00::1]")
    assert found() == ("socks5://[fd00::1]:1080", "$HTTPS_PROXY")
    monkeypatch.setenv("no_proxy", "example.test")
    assert found() == ("", "")
    assert found(named="https://from-the-file") == ("https://from-the-file:443", "proxy-url of the kubeconfig")


@pytest.mark.parametrize("url", ["http://u:s3cr3t@", "ftp://u:s3cr3t@h", "http://u:s3/cr3t@h:1", "http://[u:s3cr3t", "http://u:s3cr3t@h:x"])
def test_a_url_that_is_none_is_not_told(url: str) -> None:
    with pytest.raises(ValueError, match=r"^proxy-url of the kubeconfig is not the URL of a proxy \(http, https or socks5\)$"):
        find_proxy("https://api", url)


@pytest.mark.parametrize("line", [PODS, ENTER])
@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("login", ["", "oncall:pa55word"])
def test_reads_and_exec_go_the_same_way(served: Served, line: str, kind: str, login: str) -> None:
    with Proxy(target(served), kind, login) as proxy:
        output = ours(config(served, **{"proxy-url": proxy.url}), line)
    assert (output.failure, output.exit) == ("", 0), output.reason
    assert set(proxy.asked) == {f"api.example.test:{target(served)[1]}"}


@pytest.mark.parametrize("line", [PODS, ENTER])
@pytest.mark.parametrize(
    ("server", "variables", "proxied"),
    [
        ("api.example.test", {"HTTPS_PROXY": "{url}"}, True),
        ("api.example.test", {"https_proxy": "{address}"}, True),
        ("api.example.test", {"HTTPS_PROXY": "{url}", "NO_PROXY": "other.test,.test"}, False),
        ("127.0.0.1", {"HTTPS_PROXY": "{url}"}, False),
        ("localhost", {"HTTPS_PROXY": "{url}"}, False),
        ("0.0.0.0", {"HTTPS_PROXY": "{url}"}, True),
        ("0.0.0.0", {"HTTPS_PROXY": "{url}", "NO_PROXY": "0.0.0.0/8"}, False),
        ("0.0.0.0", {"HTTPS_PROXY": "{url}", "no_proxy": ".0.0.0"}, True),
        ("0.0.0.0", {"HTTPS_PROXY": "{url}", "no_proxy": "example.com, 0.0.0.0"}, False),
        ("0.0.0.0", {"HTTPS_PROXY": "{url}", "NO_PROXY": "0.0.0.0:1"}, True),
        ("0.0.0.0", {"HTTP_PROXY": "{url}"}, False),
    ],
)
def test_kubectl_takes_the_same_way(
    served: Served, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, line: str, server: str, variables: Mapping[str, str], proxied: bool
) -> None:
    path = config(served, server)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(url=proxy.url, address=proxy.address))
    output = ours(path, line)
    assert bool(proxy.asked) is proxied
    assert output.ok is (proxied or server != "api.example.test"), output.reason
    if KUBECTL and line == PODS:
        proxy.asked.clear()
        environment = os.environ | {"KUBECONFIG": str(path), "HOME": str(served.folder)}
        done = subprocess.run([KUBECTL, *PODS.split()], env=environment, capture_output=True, timeout=30, check=False)
        assert (bool(proxy.asked), done.returncode == 0) == (proxied, output.ok), done.stderr


def test_no_proxy_is_not_asked_for_the_kubeconfigs_own(served: Served, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "*")
    assert ours(config(served, "127.0.0.1", **{"proxy-url": proxy.url})).ok
    assert proxy.asked


@pytest.mark.parametrize("line", [PODS, ENTER])
@pytest.mark.parametrize(
    ("kind", "answer", "words"),
    [
        ("http", b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "407 Proxy Authentication Required"),
        ("http", b"HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nnot today", "403 Forbidden"),
        ("http", b"SSH-2.0-OpenSSH\r\n", ""),
        ("socks5", b"\5\xff", "it wants another way to log in"),
        ("socks5", b"HTTP/1.1 400", "it speaks no SOCKS 5"),
    ],
)
def test_a_proxy_that_refuses_is_named(served: Served, line: str, kind: str, answer: bytes, words: str) -> None:
    with Proxy(target(served), kind, "oncall:pa55word", answer) as proxy:
        output = ours(config(served, **{"proxy-url": proxy.url}), line)
    way = f"https://api.example.test:{target(served)[1]} through the proxy {kind}://{proxy.address} (proxy-url of the kubeconfig): "
    assert output.failure in ("unreachable", "broken")
    assert output.reason.startswith(way), output.reason
    assert words in output.reason
    assert "pa55word" not in output.reason


@pytest.mark.parametrize("line", [PODS, ENTER])
def test_a_proxy_that_is_not_there(served: Served, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://oncall:pa55word@127.0.0.1:1")
    output = ours(config(served), line)
    assert " through the proxy http://127.0.0.1:1 ($HTTPS_PROXY): connection refused: is something running there" in output.reason
