"""The pytest fixture `kube_server`: start a served cluster, and end it with the test."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.kube.objects import write

ROOT = Path(__file__).parents[2]


class Served:
    """A running server. `kubeconfig` is its file, `url` its address, `env` what a child process needs to find it."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.folder, self.process = folder, process
        self.kubeconfig = folder / "kubeconfig"
        self.url: str = json.loads((folder / "server.json").read_text(encoding="utf-8"))["url"]

    @property
    def env(self) -> dict[str, str]:
        """The environment for kubectl; its discovery cache goes by address, and ports come back, so it gets a folder of its own."""
        return os.environ | {"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder), "KUBECACHEDIR": str(self.folder / "cache")}

    def requests(self) -> list[str]:
        """What was asked so far, as `METHOD path?query`."""
        return self._log("GET")

    def clear(self) -> list[str]:
        """What was asked so far; the list begins anew."""
        return self._log("DELETE")

    def _log(self, method: str) -> list[str]:
        context = ssl.create_default_context(cafile=str(self.folder / "server.pem"))
        with urllib.request.urlopen(urllib.request.Request(self.url + "/__requests", method=method), context=context, timeout=10) as answer:
            seen: list[str] = json.load(answer)
        return seen

    def kubeconfig_with(self, user: Mapping[str, Any], name: str = "kubeconfig.other") -> Path:
        """A copy of the kubeconfig with other credentials, for example {"token": "stale"}."""
        config = json.loads(self.kubeconfig.read_text(encoding="utf-8"))
        config["users"][0]["user"] = dict(user)
        path = self.folder / name
        path.write_text(json.dumps(config), encoding="utf-8")
        return path

    @property
    def hanging_kubeconfig(self) -> Path:
        """A kubeconfig whose credential plugin never answers; the plugin goes when the server does, so that nothing is left behind."""
        wait = f"n=0; while [ $n -lt 600 ] && kill -0 {self.process.pid} 2>/dev/null; do sleep 1; n=$((n+1)); done"
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", wait], "interactiveMode": "Never"}
        return self.kubeconfig_with({"exec": plugin}, "kubeconfig.hanging")


def serve(contents: Mapping[str, Any], folder: Path, *options: str) -> Served:
    """Start `python -m tests.kube.server` and wait until it is ready. The caller ends `served.process`."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.kube.server", str(write(contents, folder / "cluster.json")), "--dir", str(folder), *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.readline()
    process.stdout.close()
    if said.strip() != "ready":
        process.kill()
        raise RuntimeError(f"the server did not start (exit code {process.wait()})")
    return Served(folder, process)


@pytest.fixture(scope="module")
def kube_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """`kube_server(cluster(...), "--bulk", "nodes=10")` → Served; every server ends with the module's last test."""
    running: list[Served] = []

    def begin(contents: Mapping[str, Any], *options: str) -> Served:
        served = serve(contents, tmp_path_factory.mktemp("kube"), *options)
        running.append(served)
        return served

    yield begin
    for served in running:
        served.process.kill()
    for served in running:
        served.process.wait()
