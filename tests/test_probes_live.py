"""The live probe against a served cluster: paging, refusals, faults of the connection, exec, nodes, credentials."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes import kube, kube_http
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.kube_credentials import Credential, Credentials
from gpudoctor.probes.live import Live, ProbeSetupError
from gpudoctor.probes.record import Recorder
from tests.kube import objects as build
from tests.kube.fixtures import Served

NOW = 1772366400.0  # 2026-03-01T12:00:00Z, the served cluster's clock
LISTED = 1203
SMI = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
STACK = build.gpu_stack("gpu-01")
DRIVER = next(obj["metadata"]["name"] for obj in STACK if obj["kind"] == "Pod" and "driver-daemonset" in obj["metadata"]["name"])
PLUGIN = next(obj["metadata"]["name"] for obj in STACK if obj["kind"] == "Pod" and "device-plugin" in obj["metadata"]["name"])


def cluster() -> dict[str, Any]:
    objects = [
        *(build.pod(f"train-{i}", ns="ml") for i in range(LISTED)),
        *(build.pod(f"old-{i}", ns=ns) for ns in ("expired", "gone") for i in range(600)),
        build.pod("worker", ns="run", node="gpu-01", phase="Running"),
        build.pod("waiting", ns="run", node="gpu-01", phase="Pending", waiting=("ImagePullBackOff", "no such image")),
        build.pod("done", ns="run", node="gpu-01", phase="Succeeded"),
        build.pod("clock", ns="drip"),
        build.node("gpu-01"),
        build.node("gpu-02"),
        *STACK,
    ]
    answer = build.exec_answer
    return build.cluster(
        objects,
        logs={"run/worker/main": "one\ntwo\nthree\n", "drip/clock/main": "tick\n" * 200},
        exec={
            "run/worker/main": [
                answer("nvidia-smi", "-L", stdout=SMI),
                answer("nvidia-smi", stdout="half\n", stderr="lost\n", exit=9),
                answer("big", stdout="x" * 3_000_000),
                answer("slow", stdout="never", stall=3),
            ],
            f"gpu-operator/{DRIVER}/nvidia-driver-ctr": [answer("nvidia-smi", "-L", stdout=SMI), answer("dmesg", stdout="line\n")],
            f"gpu-operator/{PLUGIN}/nvidia-device-plugin": [answer("only-in-plugin", stdout="here\n")],
        },
        faults=[
            {"match": "/namespaces/refused/", "status": 403},
            {"match": "/pods/refused/exec", "status": 403},
            {"match": "/namespaces/busy/", "status": 429, "times": 1},
            {"match": "/namespaces/hiccup/", "status": 500, "times": 1},
            {"match": "/namespaces/broken/", "status": 500, "message": "etcdserver: leader changed"},
            {"match": r"/namespaces/expired/pods\?limit=500&continue", "status": 410},
            {"match": r"/namespaces/gone/pods\?limit=500&continue", "status": 410},
            {"match": "/namespaces/gone/pods$", "status": 500, "message": "etcdserver: leader changed"},
            {"match": "/namespaces/stall/", "stall": 3},
            {"match": "/namespaces/drip/", "drip": 20},
            {"match": "/namespaces/cut/", "cut": 20},
            {"match": "/namespaces/closed/", "close": True},
        ],
    )


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    return kube_server(cluster())


@pytest.fixture(scope="module")
def live(served: Served) -> Iterator[Live]:
    probe = Live(str(served.kubeconfig))
    yield probe
    probe.close()


def kubectl(line: str, timeout: float = 10.0, stdin: bytes = b"") -> Command:
    return Command(("kubectl", *line.split()), timeout=timeout, stdin=stdin)


def names(output: Output) -> list[str]:
    return [item["metadata"]["name"] for page in output.pages for item in json.loads(page)["items"]]


def stderr(output: Output) -> str:
    return output.stderr.decode()


# ---- answers


def test_a_list_comes_in_pages_with_the_servers_clock(live: Live, served: Served) -> None:
    served.clear()
    output = live(kubectl("get pods -n ml -o json"))
    assert (output.exit, output.failure, len(output.pages)) == (0, "", 3)
    assert len(set(names(output))) == len(names(output)) == LISTED
    assert output.time == NOW
    asked = served.requests()
    assert len(asked) == 3
    assert all("limit=500" in request for request in asked)


def test_a_stream_gives_one_page_at_a_time(live: Live) -> None:
    pieces = list(live.stream(kubectl("get pods -n ml -o json")))
    assert [len(piece.pages) for piece in pieces] == [1, 1, 1]
    assert len({name for piece in pieces for name in names(piece)}) == LISTED
    assert all(piece.ok and piece.time == NOW for piece in pieces)


def test_one_object_and_none(live: Live) -> None:
    assert json.loads(live(kubectl("get pod train-7 -n ml -o json")).text)["metadata"]["name"] == "train-7"
    missing = live(kubectl("get pod nope -n ml -o json"))
    assert (missing.exit, missing.failure, missing.pages, missing.time) == (1, "", (), NOW)
    assert stderr(missing) == 'Error from server (NotFound): pods "nope" not found\n'
    ignored = live(kubectl("get pod nope -n ml -o json --ignore-not-found"))
    assert (ignored.exit, ignored.failure, ignored.stderr) == (0, "", b"")


def test_version_has_kubectls_form(live: Live) -> None:
    assert json.loads(live(kubectl("version -o json")).text)["serverVersion"]["major"] == "1"


def test_selectors(live: Live) -> None:
    output = live(kubectl("get pods -A --field-selector spec.nodeName=gpu-01,metadata.namespace=run -o json"))
    assert sorted(names(output)) == ["done", "waiting", "worker"]


def test_logs(live: Live) -> None:
    assert live(kubectl("logs worker -n run")).text == "one\ntwo\nthree\n"
    assert live(kubectl("logs worker -n run -c main --tail=1")).text == "three\n"
    previous = live(kubectl("logs worker -n run --previous"))
    assert (previous.exit, previous.failure) == (1, "")
    assert "previous terminated container" in stderr(previous)
    assert "not found" in stderr(live(kubectl("logs nope -n run")))


def test_resources_that_only_the_server_knows(live: Live, served: Served) -> None:
    assert live(kubectl("get pytorchjobs -A -o json")).ok
    assert live(kubectl("get workloads.kueue.x-k8s.io -A -o json")).ok
    served.clear()
    unknown = live(kubectl("get flyingsaucers -o json"))
    assert (unknown.failure, unknown.reason) == ("not-found", 'the server doesn\'t have a resource type "flyingsaucers"')
    assert live(kubectl("get podgroups.nowhere.io -o json")).failure == "not-found"
    assert "GET /apis" not in served.requests()  # asked once


def test_connections_are_kept(live: Live) -> None:
    connection = live._kube().connection(kube.Deadline(5))
    pool = connection.pool.connection_from_url(connection.url)
    live(kubectl("get nodes -o json"))
    before = pool.num_connections
    for _ in range(5):
        assert live(kubectl("get nodes -o json")).ok
    assert pool.num_connections == before


# ---- refusals


def test_403_says_the_missing_rule(live: Live) -> None:
    output = live(kubectl("get pods -n refused -o json"))
    assert (output.failure, output.exit) == ("refused", 1)
    assert 'cannot list resource "pods" in API group "" in the namespace "refused"' in output.reason
    assert output.reason.endswith('(needs: list pods in namespace "refused")')


def test_401_names_the_server(served: Served) -> None:
    live = Live(str(served.kubeconfig_with({"token": "stale"})))
    output = live(kubectl("get pods -o json"))
    live.close()
    assert output.failure == "refused"
    assert served.url in output.reason


@pytest.mark.parametrize("namespace", ["busy", "hiccup"])
def test_a_busy_server_is_asked_once_more(live: Live, served: Served, namespace: str) -> None:
    served.clear()
    assert live(kubectl(f"get pods -n {namespace} -o json")).ok
    assert len(served.requests()) == 2


def test_a_server_that_stays_broken(live: Live, served: Served) -> None:
    output = live(kubectl("get pods -n broken -o json", timeout=0.8))
    assert output.failure == "unreachable"
    assert "etcdserver: leader changed" in output.reason
    assert served.url in output.reason


def test_commands_that_are_not_asked(live: Live, served: Served) -> None:
    served.clear()
    for line in ("delete pod x", "get secrets -A -o json", "get pods -n ../x -o json", "get pods --context other -o json"):
        output = live(kubectl(line))
        assert output.failure == "not-allowed"
        assert output.reason
    assert served.requests() == []
    assert live(kubectl("get pods --context test -n run -o json")).ok


@pytest.mark.parametrize("name", ["--", "../x", "$(touch x)", "a\nb", "x" * 300, "", "\udc80"])
def test_hostile_names(live: Live, served: Served, name: str) -> None:
    served.clear()
    output = live(Command(("kubectl", "get", "pods", "-o", "json", "--", name)))
    assert output.failure == "not-allowed"
    assert served.requests() == []


# ---- lists that end early


def test_an_expired_list_is_asked_anew_in_one_piece(live: Live) -> None:
    output = live(kubectl("get pods -n expired -o json"))
    assert output.ok
    assert len(set(names(output))) == len(names(output)) == 600


def test_an_expired_list_that_cannot_be_asked_anew_keeps_what_there_is(live: Live) -> None:
    output = live(kubectl("get pods -n gone -o json", timeout=0.9))
    assert output.failure == "broken"
    assert "leader changed" in output.reason
    assert len(names(output)) == 500


def test_an_expired_stream_says_so_at_its_end(live: Live) -> None:
    first, last = live.stream(kubectl("get pods -n expired -o json"))
    assert first.ok
    assert len(names(first)) == 500
    assert (last.failure, last.pages) == ("broken", ())


# ---- connections that go wrong


@pytest.mark.parametrize("first", ["ours", "the socket's"])
def test_a_stalled_server_is_a_timeout_whichever_clock_is_first(first: str, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    if first != "ours":
        monkeypatch.setattr(kube_http, "run_within", lambda _seconds, work: work())
    live(kubectl("get nodes -o json"))  # the configuration is loaded
    output = live(kubectl("get pods -n stall -o json", timeout=0.3))
    assert output.failure == "timeout"
    assert output.reason.endswith("did not answer within 0.3 s")
    assert 0.3 <= output.seconds < 5


def test_a_dripping_server_is_a_timeout_and_a_log_keeps_what_came(live: Live) -> None:
    assert live(kubectl("get pods -n drip -o json", timeout=0.4)).failure == "timeout"
    log = live(kubectl("logs clock -n drip", timeout=0.8))
    assert log.failure == "timeout"
    assert log.text.startswith("tick")
    assert log.seconds < 5


def test_a_cut_answer_is_broken(live: Live) -> None:
    assert live(kubectl("get pods -n cut -o json")).failure == "broken"


def test_a_closed_connection_is_broken(live: Live) -> None:
    assert live(kubectl("get pods -n closed -o json")).failure == "broken"


def test_too_large(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_http, "HELD", 700_000)
    output = live(kubectl("get pods -n ml -o json"))
    assert output.failure == "too-large"
    assert len(output.pages) < 3
    monkeypatch.setattr(kube_http, "STREAMED", 900_000)
    *pages, last = live.stream(kubectl("get pods -n ml -o json"))
    assert len(pages) == 1
    assert last.failure == "too-large"


def test_nobody_listens(tmp_path: Path) -> None:
    output = ask_server(tmp_path, "https://127.0.0.1:1")
    assert (output.failure, output.reason) == (
        "unreachable",
        "https://127.0.0.1:1: connection refused: is something running there, and is the port right?",
    )


def test_a_name_that_does_not_resolve(tmp_path: Path) -> None:
    output = ask_server(tmp_path, "https://no-such-host.invalid")
    assert output.failure == "unreachable"
    assert "https://no-such-host.invalid: the name of the server can't be resolved" in output.reason


def test_a_certificate_that_is_not_accepted(served: Served, tmp_path: Path) -> None:
    output = ask_server(tmp_path, served.url)
    assert output.failure == "unreachable"
    assert f"{served.url}: its certificate is not accepted" in output.reason


def test_plain_http_on_a_tls_port_and_the_reverse(served: Served, tmp_path: Path) -> None:
    assert ask_server(tmp_path, served.url.replace("https", "http")).failure in ("unreachable", "broken")


def ask_server(folder: Path, url: str) -> Output:
    live = Live(write_kubeconfig(folder, url))
    output = live(kubectl("get pods -o json", timeout=5))
    live.close()
    return output


def write_kubeconfig(folder: Path, url: str, **user: Any) -> str:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [
            {"name": "first", "context": {"cluster": "c", "user": "u", "namespace": "ml"}},
            {"name": "second", "context": {"cluster": "c"}},
        ],
        "current-context": "first",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


# ---- exec


def test_exec(live: Live) -> None:
    output = live(kubectl("exec worker -n run -c main -- nvidia-smi -L"))
    assert (output.exit, output.text, output.stderr, output.failure, output.time) == (0, SMI, b"", "", NOW)
    failed = live(kubectl("exec worker -n run -- nvidia-smi"))
    assert (failed.exit, failed.text, failed.stderr, failed.failure) == (9, "half\n", b"lost\n", "")
    assert len(live(kubectl("exec worker -n run -- big")).pages[0]) == 3_000_000


def test_exec_that_does_not_work(live: Live) -> None:
    missing = live(kubectl("exec worker -n run -- dcgmi discovery"))
    assert (missing.failure, missing.exit) == ("", 127)
    assert missing.stderr == b"dcgmi: command not found in pod run/worker"
    slow = live(kubectl("exec worker -n run -- slow", timeout=0.4))
    assert slow.failure == "timeout"
    assert slow.seconds < 5
    assert "container not found" in live(kubectl("exec waiting -n run -- true")).reason
    assert "completed pod" in live(kubectl("exec done -n run -- true")).reason
    nobody = live(kubectl("exec nobody -n run -- true"))
    assert (nobody.exit, nobody.failure) == (1, "not-found")
    assert 'pods "nobody" not found' in nobody.reason
    refused = live(kubectl("exec refused -n run -- true"))
    assert refused.failure == "refused"
    assert 'needs: get and create pods/exec in namespace "run"' in refused.reason


def test_exec_while_lists_run_in_other_threads(live: Live) -> None:
    lines = ["get pods -n ml -o json", "exec worker -n run -- nvidia-smi -L", "get nodes -o json", "logs worker -n run"] * 6
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda line: live(kubectl(line)), lines))
    assert all(output.ok and output.exit == 0 for output in outputs)
    for line, output in zip(lines, outputs, strict=True):
        assert (output.text == SMI) == line.startswith("exec")
        assert len(output.pages) == (3 if "pods" in line else 1)


# ---- hosts


def on(node: str, *argv: str, timeout: float = 10.0) -> Command:
    return Command(argv, host=node, timeout=timeout)


def test_a_nodes_command_runs_in_the_gpu_stack(live: Live) -> None:
    output = live(on("gpu-01", "nvidia-smi", "-L"))
    assert (output.text, output.command.host, output.command.argv) == (SMI, "gpu-01", ("nvidia-smi", "-L"))
    assert live(on("gpu-01", "dmesg")).text == "line\n"


def test_the_next_container_is_tried_when_one_lacks_the_program(live: Live) -> None:
    assert live(on("gpu-01", "only-in-plugin")).text == "here\n"
    nowhere = live(on("gpu-01", "nowhere"))
    assert nowhere.failure == "not-found"
    assert DRIVER in nowhere.reason
    assert PLUGIN in nowhere.reason


def test_a_nodes_pods_are_listed_once(served: Served) -> None:
    live = Live(str(served.kubeconfig))
    served.clear()
    with ThreadPoolExecutor(4) as pool:
        assert all(output.ok for output in pool.map(live, [on("gpu-01", "dmesg")] * 4))
    live.close()
    lists = [request for request in served.requests() if "/exec" not in request]
    assert len(lists) == 1
    assert "fieldSelector=spec.nodeName=gpu-01,status.phase=Running" in lists[0]


def test_a_node_without_the_gpu_stack(served: Served) -> None:
    live = Live(str(served.kubeconfig), via="pod")
    output = live(on("gpu-02", "dmesg"))
    live.close()
    assert output.failure == "not-found"
    assert "looked for driver, container-toolkit, device-plugin, dcgm, dcgm-exporter" in output.reason


@pytest.mark.parametrize("node", ["gpu-01,status.phase=Failed", "../x", "--", "a\nb", "x" * 300])
def test_hostile_node_names(live: Live, served: Served, node: str) -> None:
    served.clear()
    assert live(on(node, "dmesg")).failure == "not-allowed"
    assert served.requests() == []


def test_without_exec_no_container_is_entered(served: Served) -> None:
    live = Live(str(served.kubeconfig), allow_exec=False, hosts=["here"])
    served.clear()
    for command in (kubectl("exec worker -n run -- nvidia-smi"), kubectl("-n run exec worker -- nvidia-smi"), on("gpu-01", "dmesg")):
        assert live(command).failure == "not-allowed"
        assert [piece.failure for piece in live.stream(command)] == ["not-allowed"]
    assert served.requests() == []
    assert live(kubectl("get pods -n run -o json")).ok
    assert "not found" in stderr(live(kubectl("logs exec -n run")))  # a pod may have that name
    assert live(on("here", "echo", "x")).text == "x\n"
    live.close()


def test_this_machine(live: Live) -> None:
    assert live(Command(("echo", "hello"))).text == "hello\n"
    assert [piece.text for piece in live.stream(Command(("echo", "hello")))] == ["hello\n"]


# ---- which cluster


def test_what_hangs_here_is_not_started_again_until_somebody_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live: Live
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nif [ -f {tmp_path}/mended ]; then echo sound; else exec sleep 20; fi\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    hung, topology = Command(("nvidia-smi", "-q"), timeout=0.5), Command(("nvidia-smi", "topo", "-m"))
    recorder = Recorder(live, tmp_path / "bundle", "x", {})
    assert recorder(hung).reason == "nvidia-smi did not answer within 0.5 s"
    output = recorder(topology)
    assert (output.failure, output.reason) == ("timeout", "not asked: nvidia-smi did not answer before")
    assert output.seconds >= 0.5  # of the one that hung
    (tmp_path / "mended").touch()
    recorder.forget(hung)
    assert recorder(hung).text == "sound\n"


def test_context_and_namespace(served: Served, tmp_path: Path) -> None:
    live = Live(str(served.kubeconfig))
    assert (live.context, live.namespace) == ("test", "ml")
    assert Live(str(served.kubeconfig), namespace="run").namespace == "run"
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    assert (Live(path).context, Live(path).namespace) == ("first", "ml")
    assert (Live(path, "second").context, Live(path, "second").namespace) == ("second", "default")


def test_the_first_of_several_files_wins(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", f"{served.kubeconfig}:{other}:{tmp_path}/missing")
    live = Live()
    assert live.context == "test"
    assert live(kubectl("get nodes -o json")).ok
    live.close()
    assert Live(context="second").context == "second"


def test_unknown_context_and_file(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1")
    with pytest.raises(ProbeSetupError, match=r"there is no context 'third' in .*; the contexts are first, second"):
        Live(path, "third")
    with pytest.raises(ProbeSetupError, match="No such file"):
        Live(str(tmp_path / "missing"))
    for text in ("{", "[]", "- a\n- b", "\x00", "current-context: x", "contexts: 7\ncurrent-context: [1]", "a: *x"):
        (tmp_path / "odd").write_text(text)
        with pytest.raises(ProbeSetupError):
            Live(str(tmp_path / "odd"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "odd"))
    assert Live()(kubectl("get pods -o json")).failure == "unreachable"  # nobody asked for that file


def test_no_cluster_at_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    output = Live()(kubectl("get pods -o json"))
    assert output.failure == "unreachable"
    assert "no kubeconfig was found" in output.reason
    with pytest.raises(ProbeSetupError, match="no kubeconfig was found"):
        Live(context="x")


def test_inside_a_pod_without_its_service_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    live = Live()
    assert (live.context, live.namespace) == ("", "default")
    output = live(kubectl("get pods -o json"))
    assert output.failure == "unreachable"
    assert output.reason.startswith("the service account of this pod can't be used: ")


def test_a_kubeconfig_with_damaged_credentials(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, "https://127.0.0.1:1", **{"client-certificate-data": "!!!", "client-key-data": 5})
    output = Live(path)(kubectl("get pods -o json"))
    assert output.failure == "unreachable"
    assert "context 'first' can't be used" in output.reason


# ---- credential plugins


def plugin(script: str) -> dict[str, Any]:
    return {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script], "interactiveMode": "Never"}


def test_a_plugin_that_hangs(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(str(served.hanging_kubeconfig))
    assert live.namespace == "ml"  # known without any credentials
    output = live(kubectl("get pods -o json", timeout=0.5))
    assert (output.failure, output.reason) == ("timeout", "the credential plugin sh of context 'test' did not answer")
    assert output.seconds < 5
    monkeypatch.setattr(kube, "PATIENCE", 0.6)
    time.sleep(0.2)
    assert live(kubectl("get pods -o json", timeout=30)).seconds < 5  # it is waited for once
    assert live.names("pods") == []


def test_a_plugin_that_works_and_one_that_fails(served: Served, capfd: pytest.CaptureFixture[str]) -> None:
    token = json.loads(served.kubeconfig.read_text())["users"][0]["user"]["token"]
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    good = Live(str(served.kubeconfig_with({"exec": plugin(f"echo '{json.dumps(credential)}'")})))
    assert good(kubectl("get nodes -o json")).ok
    good.close()
    bad = Live(str(served.kubeconfig_with({"exec": plugin("echo please log in >&2; exit 1")})))
    output = bad(kubectl("get nodes -o json"))
    assert output.failure == "unreachable"
    words = "the credential plugin sh failed: it ended with exit code 1, saying: please log in"
    assert output.reason == f"context 'test' can't be used: {words}"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("line", ["get nodes -o json", "exec train-0 -- nvidia-smi -L"])
def test_credentials_that_cannot_be_renewed(live: Live, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    def expired(self: object) -> Credential:
        raise KeyError("id-token")

    assert live(kubectl("get pods -o json")).ok
    monkeypatch.setattr(Credentials, "__call__", expired)
    output = live(kubectl(line))
    assert output.failure == "unreachable"
    assert output.reason == "the credentials of context 'test' could not be renewed: 'id-token'"


def test_no_key_is_left_on_disk(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    live = Live(str(served.kubeconfig))
    assert live(kubectl("get nodes -o json")).ok
    live.close()
    assert list(tmp_path.iterdir()) == []


# ---- completion


def test_names_for_the_shell(live: Live) -> None:
    assert live.names("pods", "ml", "train-120") == ["train-120", "train-1200", "train-1201", "train-1202"]
    assert live.names("nodes") == ["gpu-01", "gpu-02"]
    assert live.names("pods", "refused") == live.names("secrets") == live.names("../x") == []
    started, threads = time.monotonic(), threading.active_count()
    assert live.names("pods", "stall") == []
    assert time.monotonic() - started < 5
    assert threading.active_count() < threads + 10
