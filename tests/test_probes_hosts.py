"""The ways to a host: pods with and without a shell, ssh after them, debug pods; what is asked of the API for them."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes import debug_pod, ssh
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.probes.pods import SINGLY
from tests.kube import objects as build
from tests.kube.fixtures import Served
from tests.ssh.server import SSHD, Sshd

NODES = [f"gpu-{number:02}" for number in range(1, 9)]


def stack_pod(objects: list[dict[str, Any]], part: str) -> str:
    return str(next(obj["metadata"]["name"] for obj in objects if obj["kind"] == "Pod" and part in obj["metadata"]["name"]))


def programs(folder: Path, **texts: str) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(folder)


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    folder = tmp_path_factory.mktemp("programs")
    driver = programs(folder / "driver", nvidia_smi='echo "driver: $*"; echo note >&2; exit 9', hangs="exec sleep 30")
    plugin = programs(folder / "plugin", only_plugin="echo plugin")
    host = programs(folder / "host", lspci="echo 1b:00.0")
    stacks = {node: build.gpu_stack(node) for node in NODES}
    shell = {"argv": ["sh", "-s"]}
    execs: dict[str, list[dict[str, Any]]] = {"default/*/debug": [{"argv": ["chroot", "/host", "sh", "-s"], "shell": host}]}
    for node in NODES[1:]:
        execs[f"gpu-operator/{stack_pod(stacks[node], 'driver-daemonset')}/nvidia-driver-ctr"] = [{**shell, "shell": driver}]
        execs[f"gpu-operator/{stack_pod(stacks[node], 'device-plugin')}/nvidia-device-plugin"] = [{**shell, "shell": plugin}]
    # gpu-01: its containers have no shell
    execs[f"gpu-operator/{stack_pod(stacks['gpu-01'], 'driver-daemonset')}/nvidia-driver-ctr"] = [
        build.exec_answer("nvidia-smi", "-L", stdout="without a shell\n")
    ]
    objects = [*(build.node(node) for node in (*NODES, "bare-01")), *(obj for stack in stacks.values() for obj in stack)]
    return kube_server(build.cluster(objects, exec=execs))


@pytest.fixture
def live(served: Served) -> Iterator[Live]:
    probe = Live(str(served.kubeconfig), namespace="default", via="pod")
    yield probe
    probe.close()


def on(host: str, line: str, timeout: float = 10.0) -> Command:
    return Command(tuple(line.split()), host=host, timeout=timeout)


def many(live: Live, *commands: Command) -> dict[str, Output]:
    return {output.command.shown: output for output in live.many(commands)}


# ---- pods


def test_one_exec_for_many_commands(live: Live, served: Served) -> None:
    served.clear()
    smi, kernel, hangs, again = (
        outputs := many(
            live, *(on("gpu-02", line, 1.0 if "hangs" in line else 10.0) for line in ("nvidia-smi -q", "uname -s", "hangs 1", "hangs 2"))
        )
    ).values()
    assert (smi.text, smi.stderr, smi.exit, smi.failure) == ("driver: -q\n", b"note\n", 9, "")
    assert kernel.text == "Linux\n"
    assert (hangs.failure, again.reason) == ("timeout", "not asked: hangs did not answer before")
    assert all(output.via.startswith("pod gpu-operator/nvidia-driver-daemonset") for output in outputs.values() if output is not again)
    assert len([request for request in served.requests() if "/exec" in request]) == 1


def test_what_one_container_lacks_the_next_is_asked_for(live: Live) -> None:
    smi, plugin, nowhere = many(live, *(on("gpu-03", line) for line in ("nvidia-smi -L", "only-plugin", "no-such-program"))).values()
    assert (smi.text, plugin.text) == ("driver: -L\n", "plugin\n")
    assert "device-plugin" in plugin.via
    assert nowhere.failure == "not-found"
    assert nowhere.reason.startswith("no-such-program is in no container of the GPU stack on node gpu-03: tried gpu-operator/")


def test_a_container_without_a_shell_is_entered_once_for_each(live: Live) -> None:
    smi, nowhere = many(live, on("gpu-01", "nvidia-smi -L"), on("gpu-01", "dmesg")).values()
    assert (smi.text, nowhere.failure) == ("without a shell\n", "not-found")


def test_many_nodes_cost_few_lists(served: Served) -> None:
    live = Live(str(served.kubeconfig), via="pod")
    served.clear()
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda node: live(on(node, "uname -s")), NODES[1:]))
    live.close()
    assert {output.text for output in outputs} == {"Linux\n"}
    lists = [request for request in served.requests() if "/exec" not in request]
    assert len(lists) == SINGLY + 1
    assert sum("/namespaces/gpu-operator/pods" in request for request in lists) == 1


# ---- debug pods


def test_a_debug_pod_is_made_only_when_asked_for_and_deleted(served: Served) -> None:
    live = Live(str(served.kubeconfig), namespace="default", via="debug-pod")
    served.clear()
    lspci, kernel = many(live, on("bare-01", "lspci"), on("bare-01", "uname -s")).values()
    assert (lspci.text, kernel.text) == ("1b:00.0\n", "Linux\n")
    assert lspci.via.startswith("debug pod default/gpudoctor-debug-")
    assert live(on("bare-01", "lspci")).ok
    assert live.close() == []
    asked = [request.split()[0] for request in served.requests() if "/exec" not in request]
    assert (asked.count("POST"), asked.count("DELETE")) == (1, 1)
    assert "gpudoctor-debug" not in Live(str(served.kubeconfig))(Command(("kubectl", "get", "pods", "-A", "-o", "json"))).text


def test_the_debug_pod_asks_for_what_it_needs() -> None:
    spec = debug_pod.manifest("gpudoctor-debug-1", "gpu-07")["spec"]
    assert (spec["nodeName"], spec["hostPID"], spec["automountServiceAccountToken"]) == ("gpu-07", True, False)
    assert spec["containers"][0]["volumeMounts"][0]["readOnly"]
    assert spec["activeDeadlineSeconds"] == debug_pod.LIFE


def bare(kube_server: Callable[..., Served], **more: Any) -> Live:
    faults = more.pop("faults", ())
    served = kube_server({**build.cluster([build.node("bare-01")], faults=faults), **more})
    return Live(str(served.kubeconfig), namespace="default", via="debug-pod")


def test_a_debug_pod_that_may_not_be_made(kube_server: Callable[..., Served]) -> None:
    live = bare(kube_server, faults=[{"match": "^POST .*/pods", "status": 403}])
    output = live(on("bare-01", "lspci"))
    assert output.failure == "refused"
    assert "no debug pod on node bare-01" in output.reason
    assert "cannot create resource" in output.reason
    assert live.close() == []


def test_a_debug_pod_that_does_not_start_is_deleted_too(kube_server: Callable[..., Served]) -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
    live = bare(kube_server, created={"phase": "Pending", "containerStatuses": [{"name": "debug", "state": waiting}]})
    assert "did not start: ImagePullBackOff: Back-off pulling image" in live(on("bare-01", "lspci")).reason
    assert live.close() == []


def test_a_debug_pod_that_cannot_be_deleted_is_named(kube_server: Callable[..., Served]) -> None:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": ""}}
    live = bare(kube_server, faults=[{"match": "^DELETE", "status": 403}], created={"containerStatuses": [{"state": waiting}]})
    live(on("bare-01", "lspci"))
    (left,) = live.close()
    assert "was not deleted from node bare-01" in left
    assert "kubectl delete pod -n default gpudoctor-debug-" in left


def test_a_debug_pod_that_is_made_while_the_run_ends_is_deleted(kube_server: Callable[..., Served]) -> None:
    served = kube_server(build.cluster([build.node("bare-01")], faults=[{"match": "^POST .*/pods", "drip": 500}]))
    live = Live(str(served.kubeconfig), namespace="default", via="debug-pod")
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(live, on("bare-01", "lspci", 20))
        while not any(request.startswith("POST") for request in served.requests()):
            time.sleep(0.02)
        assert live.close() == []
        assert not asking.result().ok
    assert "gpudoctor-debug" not in Live(str(served.kubeconfig))(Command(("kubectl", "get", "pods", "-A", "-o", "json"))).text


# ---- which way


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    if not SSHD:
        pytest.skip("sshd is not installed (openssh-server)")
    server = Sshd(tmp_path / "sshd", ["bare-01", "gpu-02", "gpu-03"])
    server.program("lspci", "echo by ssh")
    server.start()
    monkeypatch.setenv(ssh.CONFIG, str(server.config))
    yield server
    server.stop()


def test_a_pod_first_then_ssh(served: Served, sshd: Sshd) -> None:
    live = Live(str(served.kubeconfig), namespace="default")
    smi, lspci = (outputs := many(live, on("gpu-02", "nvidia-smi -L"), on("gpu-02", "lspci"))).values()
    assert (smi.text, lspci.text) == ("driver: -L\n", "by ssh\n")
    assert [output.via[:3] for output in outputs.values()] == ["pod", "ssh"]
    assert live(on("bare-01", "lspci")).via == "ssh"
    live.close()


def test_a_name_that_no_node_has_and_what_comes_close(live: Live, served: Served) -> None:
    served.clear()
    assert live(on("gpu-2", "lspci")).reason == "the cluster has no node gpu-2, close to it: gpu-02, gpu-08, gpu-07"
    assert live(on("zebra", "lspci")).reason == "the cluster has no node zebra"
    assert len([one for one in served.requests() if one.startswith("GET /api/v1/nodes?")]) == 1  # names are listed once
    assert live(on("bare-01", "lspci")).reason.startswith("no container of the GPU stack runs on node bare-01: looked for driver, ")


def test_without_a_cluster_ssh_at_once(sshd: Sshd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert Live()(on("gpu-02", "lspci")).text == "by ssh\n"


def test_a_cluster_out_of_reach_does_not_keep_ssh_waiting(served: Served, sshd: Sshd) -> None:
    served_elsewhere = served.folder / "kubeconfig.nowhere"
    served_elsewhere.write_text(served.kubeconfig.read_text().replace(served.url, "https://127.0.0.1:1"))
    live = Live(str(served_elsewhere))
    started = time.monotonic()
    assert live(on("gpu-02", "lspci")).text == "by ssh\n"
    nowhere = live(on("no-such-node", "lspci"))
    assert time.monotonic() - started < 20
    assert nowhere.failure == "unreachable"
    assert "connection refused" in nowhere.reason
    assert "no-such-node can't be resolved" in nowhere.reason


def test_only_the_way_that_was_asked_for(served: Served, sshd: Sshd) -> None:
    by_ssh = Live(str(served.kubeconfig), via="ssh")
    assert by_ssh(on("gpu-02", "lspci")).text == "by ssh\n"
    assert Live(str(served.kubeconfig), via="pod")(on("bare-01", "lspci")).failure == "not-found"


# ---- this machine


def test_programs_here_run_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")  # each end waits for the other one
    folder = programs(tmp_path / "bin", gives=f"echo given > {tmp_path}/pipe", takes=f"cat {tmp_path}/pipe", hangs="sleep 30")
    monkeypatch.setenv("PATH", folder + os.pathsep + os.environ["PATH"])
    live = Live(hosts=["here"])
    outputs = many(live, on("here", "gives 1"), on("here", "takes 1"))
    assert (outputs["gives 1"].exit, outputs["takes 1"].text) == (0, "given\n")
    hung, skipped = many(live, on("here", "hangs 1", 0.2), on("here", "hangs 2")).values()
    assert (hung.failure, skipped.reason) == ("timeout", "not asked: hangs did not answer before")
