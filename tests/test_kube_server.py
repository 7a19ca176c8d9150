"""The served cluster: what a client and a real kubectl get from it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.kube.fixtures import ROOT, Served
from tests.kube.objects import (
    Object,
    cluster,
    container,
    event,
    exec_answer,
    gpu_stack,
    namespace,
    node,
    pod,
    pod_name,
    pytorchjob,
    write,
)

KUBECTL = shutil.which("kubectl")
needs_kubectl = pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH")
SMI = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-6ab45eee-0000-5bb8-84a9-e0782808adca)\n"
STAMPED = "2026-03-01T11:50:00.000000001Z old\n2026-03-01T11:59:50.000000002Z new\n"


def contents() -> dict[str, Any]:
    """A small cluster with one of everything that the tests ask for."""
    waits = pod("train-0", gpus=8, unschedulable="0/2 nodes are available: 2 Insufficient nvidia.com/gpu.")
    runs = pod("serve-0", node="gpu-01", gpus=1, labels={"app": "serve", "tier": "gold"}, containers=[container("main"), container("side")])
    many = [pod(f"batch-{number:02}", "batch", node="gpu-02", labels={"app": "batch"}) for number in range(25)]
    faults = [
        {"match": r"^GET /api/v1/namespaces/no-", "status": 403},
        {"match": r"^GET /apis/apps/v1/deployments", "status": 403},
        {"match": r"/services\?.*continue=", "status": 410},
        {"match": r"/configmaps", "status": 429, "times": 1},
        {"match": r"/limitranges", "status": 500},
        {"match": r"/endpoints", "stall": 60},
        {"match": r"/resourcequotas", "drip": 200},
        {"match": r"/persistentvolumeclaims", "cut": 10},
        {"match": r"/serviceaccounts", "close": True},
    ]
    services: list[Object] = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"s{number}", "namespace": "ml"}, "spec": {}} for number in range(3)
    ]
    return cluster(
        [
            [namespace("ml"), node("gpu-01"), node("gpu-02", cordoned=True), waits, runs, *many, *services],
            event(waits, "FailedScheduling", "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", component="default-scheduler"),
            event(runs, "Pulled", "Container image already present", type="Normal"),
            gpu_stack("gpu-01", driver=("CrashLoopBackOff", "back-off 5m0s restarting failed container"), operator_validator="waits"),
            pytorchjob("bert", workers=3),
        ],
        logs={"ml/serve-0/main": "one\ntwo\nthree\n", "ml/serve-0/side": STAMPED, "ml/serve-0/main:previous": "before\n"},
        exec={
            "ml/serve-0/main": [
                exec_answer("nvidia-smi", "-L", stdout=SMI),
                exec_answer("nvidia-smi", stdout="No devices were found\n", stderr="warn\n", exit=6),
                exec_answer("big", stdout="x" * 200_000),
            ]
        },
        faults=faults,
    )


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    """One server for the whole module."""
    return kube_server(contents())


@pytest.fixture(scope="module")
def raw(served: Served) -> Iterator[Callable[..., urllib3.BaseHTTPResponse]]:
    """GET over one kept-alive connection, with the kubeconfig's token."""
    token = json.loads(served.kubeconfig.read_text())["users"][0]["user"]["token"]
    with urllib3.PoolManager(ca_certs=str(served.folder / "server.pem"), headers={"Authorization": f"Bearer {token}"}) as pool:
        yield lambda path, **options: pool.request("GET", served.url + path, retries=False, **{"timeout": 5.0, **options})


@contextmanager
def python_client(kubeconfig: Path) -> Iterator[Any]:
    """The Python client's CoreV1Api."""
    from kubernetes import client, config

    with config.new_client_from_config(str(kubeconfig)) as connection:  # type: ignore[no-untyped-call]
        yield client.CoreV1Api(connection)


@pytest.fixture(scope="module")
def api(served: Served) -> Iterator[Any]:
    """One client for the whole module."""
    with python_client(served.kubeconfig) as core:
        yield core


def names(body: Any) -> list[str]:
    """The names in a list answer."""
    return [item["metadata"]["name"] for item in body["items"]]


# lists


def test_a_list_has_the_api_servers_shape(raw: Any) -> None:
    answer = raw("/api/v1/nodes")
    assert answer.headers["Date"] == "Sun, 01 Mar 2026 12:00:00 GMT"
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert (body["kind"], body["apiVersion"]) == ("NodeList", "v1")
    assert names(body) == ["gpu-01", "gpu-02"]
    assert "kind" not in body["items"][0]  # built-in lists leave it out …
    jobs = raw("/apis/kubeflow.org/v1/pytorchjobs").json()
    assert jobs["items"][0]["kind"] == "PyTorchJob"  # … custom ones don't
    assert raw("/api/v1/nodes/gpu-01").json()["kind"] == "Node"


def test_paging_with_the_client(api: Any, served: Served) -> None:
    served.clear()
    seen, token = [], None
    while token != "":
        page = api.list_namespaced_pod("batch", limit=10, _continue=token)
        seen += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert seen == [f"batch-{number:02}" for number in range(25)]
    asked = served.requests()
    assert len(asked) == 3
    assert asked[0] == "GET /api/v1/namespaces/batch/pods?limit=10"
    assert "continue=" in asked[2]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("labelSelector=app%3Dserve", ["serve-0"]),
        ("labelSelector=app==serve,tier", ["serve-0"]),
        ("labelSelector=app%20in%20(serve,batch),tier%20notin%20(silver)&fieldSelector=metadata.namespace=ml", ["serve-0"]),
        ("labelSelector=!app&fieldSelector=metadata.namespace=ml", ["train-0"]),
        ("labelSelector=app!=batch&fieldSelector=metadata.namespace%3Dml", ["serve-0", "train-0"]),
        ("fieldSelector=status.phase!=Running,spec.nodeName=", ["train-0"]),
        ("fieldSelector=metadata.name=train-0", ["train-0"]),
        ("fieldSelector=spec.nodeName=gpu-03", []),
    ],
)
def test_selectors(raw: Any, query: str, expected: list[str]) -> None:
    assert names(raw(f"/api/v1/pods?{query}").json()) == expected


def test_event_selectors(raw: Any) -> None:
    query = (
        "fieldSelector=involvedObject.kind=Pod,involvedObject.name=train-0,involvedObject.namespace=ml,type!=Normal,reason=FailedScheduling"
    )
    [found] = raw(f"/api/v1/namespaces/ml/events?{query}").json()["items"]
    assert found["source"] == {"component": "default-scheduler"}
    assert found["lastTimestamp"] == "2026-03-01T11:59:00Z"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/api/v1/pods?fieldSelector=spec.hostPID=true", "field label not supported: spec.hostPID"),
        ("/api/v1/nodes?labelSelector=a%20of%20(b)", "unable to parse requirement"),
        ("/api/v1/nodes?limit=many", "invalid syntax"),
        ("/api/v1/nodes?continue=nonsense", "continue key is not valid"),
    ],
)
def test_a_bad_question_is_answered_400(raw: Any, path: str, message: str) -> None:
    answer = raw(path)
    assert answer.status == 400
    assert answer.json()["reason"] == "BadRequest"
    assert message in answer.json()["message"]


# errors and faults


def test_what_is_not_there(raw: Any, api: Any) -> None:
    from kubernetes.client.exceptions import ApiException

    with pytest.raises(ApiException) as caught:
        api.read_namespaced_pod("nix", "ml")
    assert caught.value.status == 404
    status = raw("/apis/apps/v1/namespaces/ml/daemonsets/nix").json()
    assert status["message"] == 'daemonsets.apps "nix" not found'
    assert status["details"] == {"name": "nix", "group": "apps", "kind": "daemonsets"}
    assert raw("/apis/apps/v1/gadgets").data == b"404 page not found\n"


def test_403_in_the_api_servers_words(raw: Any) -> None:
    deny = 'is forbidden: User "oncall" cannot'
    assert (
        raw("/api/v1/namespaces/no-1/pods").json()["message"] == f'pods {deny} list resource "pods" in API group "" in the namespace "no-1"'
    )
    assert raw("/apis/apps/v1/deployments").json()["message"] == (
        f'deployments.apps {deny} list resource "deployments" in API group "apps" at the cluster scope'
    )
    answer = raw("/api/v1/namespaces/no-1/pods/p/log")
    assert answer.status == 403
    assert answer.json()["message"] == f'pods "p" {deny} get resource "pods/log" in API group "" in the namespace "no-1"'


def test_a_continue_token_can_expire(raw: Any) -> None:
    token = raw("/api/v1/services?limit=2").json()["metadata"]["continue"]
    answer = raw(f"/api/v1/services?limit=2&continue={token}")
    assert answer.status == 410
    assert answer.json()["reason"] == "Expired"


def test_a_fault_can_pass(raw: Any) -> None:
    first, second = raw("/api/v1/configmaps"), raw("/api/v1/configmaps")
    assert (first.status, first.headers["Retry-After"], first.json()["reason"]) == (429, "1", "TooManyRequests")
    assert second.status == 200
    assert raw("/api/v1/limitranges").json()["reason"] == "InternalError"


def test_a_stall_sends_no_headers(raw: Any) -> None:
    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        raw("/api/v1/endpoints", timeout=0.3)


def test_a_drip_is_slow_and_whole(raw: Any) -> None:
    started = time.monotonic()
    answer = raw("/api/v1/resourcequotas")
    assert answer.json()["items"] == []
    assert time.monotonic() - started > 0.8 * len(answer.data) / 200


def test_a_cut_body_is_shorter_than_promised(raw: Any) -> None:
    with pytest.raises(urllib3.exceptions.ProtocolError, match=r"IncompleteRead\(10 bytes read"):
        raw("/api/v1/persistentvolumeclaims")


def test_a_closed_connection(raw: Any) -> None:
    with pytest.raises(urllib3.exceptions.ProtocolError):
        raw("/api/v1/serviceaccounts")


def test_a_wrong_token_is_unauthorized(served: Served) -> None:
    from kubernetes.client.exceptions import ApiException

    with python_client(served.kubeconfig_with({"token": "stale"})) as api, pytest.raises(ApiException, match="Unauthorized"):
        api.list_node()


# logs


def test_logs(api: Any) -> None:
    def read(container: str, **options: Any) -> str:
        answer = api.read_namespaced_pod_log("serve-0", "ml", container=container, _preload_content=False, **options)
        return str(answer.data.decode())

    assert read("main") == "one\ntwo\nthree\n"
    assert read("main", tail_lines=2) == "two\nthree\n"
    assert read("main", tail_lines=0) == ""
    assert read("main", limit_bytes=5) == "one\nt"
    assert read("main", previous=True) == "before\n"
    assert read("side") == "old\nnew\n"
    assert read("side", timestamps=True) == STAMPED
    assert read("side", since_seconds=60) == "new\n"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("serve-0/log", "a container name must be specified for pod serve-0, choose one of: [main side]"),
        ("serve-0/log?container=nix", "container nix is not valid for pod serve-0"),
        ("serve-0/log?container=side&previous=true", 'previous terminated container "side" in pod "serve-0" not found'),
    ],
)
def test_a_log_that_is_not_there(raw: Any, path: str, message: str) -> None:
    answer = raw(f"/api/v1/namespaces/ml/pods/{path}")
    assert (answer.status, answer.json()["message"]) == (400, message)


def test_a_container_that_never_started_has_no_log(raw: Any) -> None:
    name = pod_name("operator_validator", "gpu-01")
    answer = raw(f"/api/v1/namespaces/gpu-operator/pods/{name}/log")
    assert answer.status == 400
    assert answer.json()["message"] == f'container "nvidia-operator-validator" in pod "{name}" is waiting to start: PodInitializing'


# exec


def execute(api: Any, *argv: str, name: str = "serve-0") -> tuple[str, str, int]:
    """Run one command with the Python client: stdout, stderr, exit code."""
    from kubernetes.stream import stream

    session = stream(
        api.connect_get_namespaced_pod_exec,
        name,
        "ml",
        command=list(argv),
        container="main",
        stdout=True,
        stderr=True,
        _preload_content=False,
    )
    session.run_forever(timeout=5)
    out, err = session.read_stdout(timeout=1) or "", session.read_stderr(timeout=1) or ""
    code = session.returncode
    session.sock.shutdown()  # its own close() leaves the socket open once the server has said goodbye
    return out, err, code


def test_exec(api: Any) -> None:
    assert execute(api, "nvidia-smi", "-L") == (SMI, "", 0)
    assert execute(api, "nvidia-smi") == ("No devices were found\n", "warn\n", 6)
    assert len(execute(api, "big")[0]) == 200_000


def test_exec_where_it_cannot_be(api: Any, raw: Any) -> None:
    from kubernetes.client.exceptions import ApiException

    with pytest.raises(ApiException) as caught:
        execute(api, "nvidia-smi", name="train-0")
    assert "pod train-0 does not have a host assigned" in str(caught.value)  # the client makes its status 0
    answer = raw("/api/v1/namespaces/ml/pods/serve-0/exec?command=nvidia-smi&container=main")  # without an upgrade
    assert (answer.status, answer.json()["reason"]) == (400, "BadRequest")
    assert "speaks websockets" in answer.json()["message"]


# kubectl


def kubectl(served: Served, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run the real kubectl against the server."""
    return subprocess.run(["kubectl", *argv], env=served.env, capture_output=True, text=True, timeout=30, check=False)


@needs_kubectl
def test_kubectl_get(served: Served) -> None:
    done = kubectl(served, "get", "pods,nodes,events,daemonsets,pytorchjobs", "--all-namespaces", "-o", "json")
    assert done.returncode == 0, done.stderr
    items = json.loads(done.stdout)["items"]
    assert {"Pod", "Node", "Event", "DaemonSet", "PyTorchJob"} == {item["kind"] for item in items}
    assert len([item for item in items if item["kind"] == "Pod"]) == 27 + 7
    missing = kubectl(served, "get", "pod", "nix")
    assert (missing.returncode, missing.stderr) == (1, 'Error from server (NotFound): pods "nix" not found\n')
    denied = kubectl(served, "get", "pods", "-n", "no-1")
    assert 'Error from server (Forbidden): pods is forbidden: User "oncall" cannot list' in denied.stderr


@needs_kubectl
def test_kubectl_pages(served: Served) -> None:
    served.clear()
    done = kubectl(served, "get", "pods", "-n", "batch", "--chunk-size=10", "-o", "name")
    assert len(done.stdout.splitlines()) == 25
    assert len([line for line in served.requests() if "/pods?" in line]) == 3


@needs_kubectl
def test_kubectl_logs_and_describe(served: Served) -> None:
    assert kubectl(served, "logs", "serve-0", "-c", "main", "--tail=1").stdout == "three\n"
    described = kubectl(served, "describe", "pod", "train-0")
    assert described.returncode == 0, described.stderr
    assert "0/2 nodes are available: 2 Insufficient nvidia.com/gpu." in described.stdout
    assert "nvidia.com/gpu:  8" in described.stdout
    assert "Unschedulable:      true" in kubectl(served, "describe", "node", "gpu-02").stdout


@needs_kubectl
def test_kubectl_exec(served: Served) -> None:
    done = kubectl(served, "exec", "serve-0", "-c", "main", "--", "nvidia-smi", "-L")
    if "speaks websockets" in done.stderr:
        pytest.skip("this kubectl is older than 1.30 and speaks only SPDY")
    assert (done.returncode, done.stdout) == (0, SMI)
    assert kubectl(served, "exec", "serve-0", "-c", "main", "--", "nvidia-smi").returncode == 6
    assert "executable file not found" in kubectl(served, "exec", "serve-0", "-c", "main", "--", "dmesg").stderr


@needs_kubectl
def test_kubectl_may_ask_what_it_may(served: Served) -> None:
    assert kubectl(served, "auth", "can-i", "list", "pods").stdout == "yes\n"
    assert kubectl(served, "auth", "can-i", "list", "deployments.apps", "--all-namespaces").stdout == "no\n"


# the process


def test_bulk(kube_server: Callable[..., Served]) -> None:
    bulk = kube_server(cluster([pod("train-0", gpus=8)]), "--bulk", "nodes=20,pods=200,used=4,taint=dedicated")
    with python_client(bulk.kubeconfig) as api:
        pods, nodes = api.list_pod_for_all_namespaces().items, api.list_node().items
        on_one = api.list_pod_for_all_namespaces(field_selector="spec.nodeName=gpu-00007").items
    assert (len(nodes), len(pods), len(on_one)) == (20, 201, 10)
    assert nodes[6].metadata.labels["kubernetes.io/hostname"] == nodes[6].metadata.name == "gpu-00007"
    assert nodes[6].spec.taints[0].key == "dedicated"
    assert sum(int(each.spec.containers[0].resources.requests.get("nvidia.com/gpu", 0)) for each in on_one) == 4
    assert len({each.metadata.uid for each in pods}) == 201


def test_the_hanging_plugin_hangs(served: Served) -> None:
    plugin = json.loads(served.hanging_kubeconfig.read_text())["users"][0]["user"]["exec"]
    with subprocess.Popen([plugin["command"], *plugin["args"]]) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.3)
        process.kill()


def test_the_server_ends_with_its_parent(tmp_path: Path) -> None:
    file = write(cluster([]), tmp_path / "cluster.json")
    # a parent that starts a server, waits for `ready`, and leaves
    script = (
        "import subprocess, sys\n"
        "process = subprocess.Popen([sys.executable, '-m', 'tests.kube.server', *sys.argv[1:]], stdout=subprocess.PIPE)\n"
        "assert process.stdout.readline() == b'ready\\n'\n"
    )
    subprocess.run([sys.executable, "-c", script, str(file), "--dir", str(tmp_path)], cwd=ROOT, check=True, timeout=20)
    port = json.loads((tmp_path / "server.json").read_text())["port"]
    for _ in range(50):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("the server is still there")
