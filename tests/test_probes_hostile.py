"""The Kubernetes probe against servers that lie: whatever comes back, there is an Output with a sentence, in time."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.server import ServerConnection, serve

from gpudoctor.probes import kube_http, kube_websocket
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.kube_answer import Answer, broken_connection, check_object, continue_token, date, refusal, retry_after, status_of
from gpudoctor.probes.kube_answer import Stopped as StoppedError
from gpudoctor.probes.kube_discovery import discover
from gpudoctor.probes.kube_request import Request
from gpudoctor.probes.kube_resources import PODS, Resource
from gpudoctor.probes.live import Live

Respond = Callable[[str, socket.socket], None]


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@contextmanager
def listening(respond: Respond) -> Iterator[str]:
    """A server that answers each connection's first request as it likes; → its URL."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(1 << 16)
            respond(head.decode(), connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def live_at(url: str, folder: Path, namespace: str = "default") -> Live:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "s3cret"}}],
        "contexts": [{"name": "odd", "context": {"cluster": "c", "user": "u", "namespace": namespace}}],
        "current-context": "odd",
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    return Live(str(folder / "kubeconfig"))


def ask(folder: Path, respond: Respond, line: str = "get pods -o json", timeout: float = 3.0, stream: bool = False) -> list[Output]:
    with listening(respond) as url:
        live = live_at(url, folder)
        command = Command(("kubectl", *line.split()), timeout=timeout)
        outputs = list(live.stream(command)) if stream else [live(command)]
        live.close()
    return outputs


def always(answer: bytes) -> Respond:
    return lambda head, connection: connection.sendall(answer)


def page(token: str = "", items: int = 1) -> bytes:
    return json.dumps({"kind": "PodList", "metadata": {"continue": token}, "items": [{}] * items}).encode()


BODIES = [
    b"",
    b"null",
    b"[]",
    b"7",
    b"<html>login</html>",
    b'{"metadata":',
    b'{"metadata":{"continue":7}}',
    b'{"metadata":null}',
    b"\xff\xfe",
    b"[" * 100_000,
]


@pytest.mark.parametrize("body", BODIES)
def test_bodies_that_are_no_list(tmp_path: Path, body: bytes) -> None:
    (output,) = ask(tmp_path, always(http(body)))
    assert output.failure == "broken"
    assert output.reason


@pytest.mark.parametrize("status", ["302 Found", "418 I'm a teapot", "599 Odd", "204 No Content", "401 Unauthorized", "403 Forbidden"])
def test_other_answers_of_something_that_is_no_api_server(tmp_path: Path, status: str) -> None:
    (output,) = ask(tmp_path, always(http(b"<html>\x1b[31m" + b"x" * 10_000, status)))
    assert output.failure in ("broken", "refused", "unreachable")
    assert output.reason.isprintable()
    assert len(output.reason) < 1000


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    asked: list[str] = []

    def elsewhere(head: str, connection: socket.socket) -> None:
        asked.append(head)
        connection.sendall(http(page()))

    with listening(elsewhere) as url:
        (output,) = ask(tmp_path, always(http(b"", "307 Temporary Redirect", f"Location: {url}/api/v1/pods")))
        (entered,) = ask(tmp_path, always(http(b"", "307 Temporary Redirect", f"Location: {url}/exec")), "exec x -- true")
    assert output.failure == entered.failure == "broken"
    assert asked == []


def test_a_silent_kubelet_behind_the_api_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_http, "KUBELET", 0.2)

    def silent(head: str, connection: socket.socket) -> None:
        time.sleep(1.0)
        connection.sendall(http(page()))

    (log,) = ask(tmp_path, silent, "logs train-0 --tail=10")
    assert (log.failure, log.reason) == ("timeout", "the kubelet was silent for 0.2 s")
    assert log.seconds < 0.9
    (pods,) = ask(tmp_path, silent)
    assert pods.ok  # the API server itself may take its time


def test_not_http_at_all(tmp_path: Path) -> None:
    for answer in (
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"",
        b"\x00" * 100,
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
    ):
        (output,) = ask(tmp_path, always(answer))
        assert output.failure in ("broken", "unreachable")
        assert "http://127.0.0.1:" in output.reason or "JSON" in output.reason


def drip(data: bytes) -> Respond:
    def respond(head: str, connection: socket.socket) -> None:
        for byte in data:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)

    return respond


@pytest.mark.parametrize("line", ["get pods -o json", "exec x -- true"])
def test_headers_that_drip(tmp_path: Path, line: str) -> None:
    (output,) = ask(tmp_path, drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20), line, timeout=0.4)
    assert output.failure == "timeout"
    assert output.seconds < 5


def test_a_list_without_an_end(tmp_path: Path) -> None:
    *pages, last = ask(tmp_path, always(http(page("again"))), timeout=0.5, stream=True)
    assert pages
    assert last.failure == "timeout"


def test_compressed_answers_and_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = page(items=1000)
    (output,) = ask(tmp_path, always(http(gzip.compress(body), "200 OK", "Content-Encoding: gzip")))
    assert output.pages == (body,)
    (bomb,) = ask(tmp_path, always(http(gzip.compress(b" " * (100 << 20)), "200 OK", "Content-Encoding: gzip")))
    assert (bomb.failure, bomb.pages) == ("too-large", ())
    (odd,) = ask(tmp_path, always(http(b"no gzip", "200 OK", "Content-Encoding: gzip")))
    assert odd.failure == "broken"


def test_an_expired_stream_goes_on_where_the_server_lets_it(tmp_path: Path) -> None:
    expired = {"kind": "Status", "metadata": {"continue": "later"}, "reason": "Expired", "code": 410, "message": "too old"}

    def respond(head: str, connection: socket.socket) -> None:
        if "continue=later" in head:
            connection.sendall(http(page()))
        elif "continue=early" in head:
            connection.sendall(http(json.dumps(expired).encode(), "410 Gone"))
        else:
            connection.sendall(http(page("early")))

    first, last = ask(tmp_path, respond, stream=True)
    assert first.ok
    assert last.ok
    assert last.pages == (page(),)


def test_an_expired_list_that_was_never_begun(tmp_path: Path) -> None:
    (output,) = ask(tmp_path, always(http(b"{}", "410 Gone")))
    assert output.failure == "broken"


def test_a_long_wait_is_not_waited_for(tmp_path: Path) -> None:
    (output,) = ask(tmp_path, always(http(b"{}", "503 Service Unavailable", "Retry-After: 3600")))
    assert output.failure == "unreachable"
    assert output.seconds < 10


@pytest.mark.parametrize("header", ["", "yesterday", "Thu, 99 Jan 1970 00:00:00 GMT", "1" * 5000])
def test_odd_clocks(header: str) -> None:
    assert date(header) == 0.0


def test_headers_that_are_read() -> None:
    assert date("Sun, 01 Mar 2026 12:00:00 GMT") == 1772366400.0
    assert [retry_after(text) for text in ("5", "-5", "x", "", None, "9" * 50, "²")] == [5.0, None, None, None, None, None, None]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["metadata", "continue", "details", "name", "message", "items", "groups"]), inner)
    ),
    max_leaves=10,
)


@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=50), st.integers(100, 999))
def test_any_body_is_understood_or_named(body: bytes, status: int) -> None:
    for read in (continue_token, check_object):
        with suppress(StoppedError):
            read(body)
    status_of(body)
    stopped = refusal(Answer(status, body), Request("get", "pods", PODS, "ml", "x"), "https://api")
    assert stopped.reason.isprintable()
    assert stopped.reason or stopped.stderr
    for word in ("podgroups", "workloads", "x.y.z"):
        found = discover(word, lambda path: body)
        assert found is None or isinstance(found, Resource)


def test_errors_without_words() -> None:
    for error in (OSError(), ValueError(), Exception(Exception(Exception())), EOFError("\x1b[0m")):
        assert broken_connection(error, "https://api").reason.startswith("https://api: ")


# ---- discovery


def test_aggregated_discovery() -> None:
    answer = {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": "scheduling.x-k8s.io"},
                "versions": [
                    {
                        "version": "v1alpha1",
                        "resources": [
                            {"resource": "podgroups", "scope": "Namespaced", "singularResource": "podgroup", "shortNames": ["pg"]}
                        ],
                    }
                ],
            },
            {"metadata": {"name": "kueue.x-k8s.io"}, "versions": [{"version": "v1beta2"}, {"version": "v1beta1"}]},
        ],
    }
    asked: list[str] = []

    def get(path: str) -> bytes:
        asked.append(path)
        return json.dumps(answer).encode()

    podgroups = Resource("podgroups", "scheduling.x-k8s.io", "v1alpha1")
    assert discover("podgroups", get) == discover("pg", get) == discover("podgroup.scheduling.x-k8s.io", get) == podgroups
    assert discover("workloads", get) == Resource("workloads", "kueue.x-k8s.io", "v1beta2")
    assert discover("podgroups.other.io", get) is None
    assert discover("clusterpolicies", get) is None
    assert set(asked) == {"/apis"}


def test_the_kinds_of_one_group_may_have_different_versions() -> None:
    versions = [{"version": "v1", "resources": [{"resource": "pytorchjobs", "scope": "Namespaced"}]}]
    versions.append({"version": "v2beta1", "resources": [{"resource": "mpijobs", "scope": "Namespaced"}]})
    body = json.dumps({"items": [{"metadata": {"name": "kubeflow.org"}, "versions": versions}]}).encode()
    found = [discover(word, lambda path: body) for word in ("pytorchjob", "mpijobs.kubeflow.org")]
    assert found == [Resource("pytorchjobs", "kubeflow.org", "v1"), Resource("mpijobs", "kubeflow.org", "v2beta1")]


def test_discovery_of_an_old_server() -> None:
    documents: dict[str, Any] = {
        "/apis": {
            "groups": [{"name": "b.io", "preferredVersion": {"version": "v2"}}, {"name": "a.io", "preferredVersion": {"version": "v1"}}]
        },
        "/apis/a.io/v1": {"resources": [{"name": "other", "namespaced": True}]},
        "/apis/b.io/v2": {"resources": [{"name": "things", "singularName": "thing", "namespaced": False, "shortNames": None}]},
    }
    found = discover("thing", lambda path: json.dumps(documents[path]).encode())
    assert found == Resource("things", "b.io", "v2", namespaced=False)


# ---- exec


@contextmanager
def far_side(speak: Callable[[ServerConnection], None], subprotocol: str = "v5.channel.k8s.io") -> Iterator[str]:
    """A websocket server that speaks as it likes; → its URL."""

    def handle(connection: ServerConnection) -> None:
        with suppress(Exception):
            speak(connection)

    with serve(handle, "127.0.0.1", 0, subprotocols=[subprotocol], max_size=None) as server:  # type: ignore[list-item]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join()


def enter(folder: Path, speak: Callable[[ServerConnection], None], timeout: float = 3.0, stdin: bytes = b"", **options: str) -> Output:
    with far_side(speak, **options) as url:
        live = live_at(url, folder)
        flag = ("-i",) if stdin else ()
        return live(Command(("kubectl", "exec", *flag, "x", "--", "cat"), timeout=timeout, stdin=stdin))


SUCCESS = b'\x03{"status":"Success"}'


def test_stdin_arrives_and_is_closed(tmp_path: Path) -> None:
    data = bytes(range(256)) * 1000

    def cat(connection: ServerConnection) -> None:
        for message in connection:
            assert isinstance(message, bytes)
            if message == b"\xff\x00":
                connection.send(SUCCESS)
                return
            connection.send(b"\x01" + message[1:])

    output = enter(tmp_path, cat, stdin=data)
    assert (output.pages, output.exit, output.failure) == ((data,), 0, "")


def test_a_far_side_that_leaves_without_a_word(tmp_path: Path) -> None:
    output = enter(tmp_path, lambda connection: connection.send(b"\x01half"))
    assert (output.failure, output.text) == ("broken", "half")
    assert "closed before cat had ended" in output.reason


@pytest.mark.parametrize(
    "status",
    [
        b"",
        b"{}",
        b"null",
        b'{"status":"Failure"}',
        b"x" * 1000,
        b'{"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"-1e9"}]}}',
    ],
)
def test_an_end_that_says_nothing(tmp_path: Path, status: bytes) -> None:
    output = enter(tmp_path, lambda connection: connection.send(b"\x03" + status))
    assert output.failure == "broken"
    assert output.reason.isprintable()


def test_odd_messages_are_skipped(tmp_path: Path) -> None:
    def speak(connection: ServerConnection) -> None:
        for message in (b"", b"\x01", b"\x09what", b"\xff\x01", "\x01text", b"\x01ok", SUCCESS):
            connection.send(message)

    assert enter(tmp_path, speak).text == "textok"


def test_a_flood_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_websocket, "LIMIT", 1 << 20)
    whole = enter(tmp_path, lambda connection: connection.send(b"\x01" + b"x" * (5 << 20)))
    assert (whole.failure, whole.exit) == ("too-large", 1)

    def many(connection: ServerConnection) -> None:
        for _ in range(100):
            connection.send(b"\x01" + b"x" * (1 << 16))

    assert enter(tmp_path, many).failure == "too-large"


def test_a_program_that_never_stops_printing(tmp_path: Path) -> None:
    def chatter(connection: ServerConnection) -> None:
        while True:
            connection.send(b"\x01.")
            time.sleep(0.02)

    output = enter(tmp_path, chatter, timeout=0.4)
    assert output.failure == "timeout"
    assert output.text.startswith(".")
    assert output.seconds < 10


def test_exec_where_there_is_no_websocket(tmp_path: Path) -> None:
    for answer in (http(b"no", "400 Bad Request"), http(b"", "502 Bad Gateway"), http(page()), b"", b"garbage\r\n\r\n"):
        (output,) = ask(tmp_path, always(answer), "exec x -- true")
        assert output.failure or output.stderr
        assert output.reason.isprintable()


FORBIDDEN = json.dumps({"kind": "Status", "reason": "Forbidden", "message": "exec is denied by the admission of gatekeeper"}).encode()


@pytest.mark.parametrize(
    "answer",
    [
        http(FORBIDDEN, "403 Forbidden"),
        b"HTTP/1.1 403 Forbidden\r\n\r\n" + FORBIDDEN,
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 5000\r\n\r\n" + FORBIDDEN,
        b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(FORBIDDEN), FORBIDDEN),
        b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(FORBIDDEN), FORBIDDEN),
        http(FORBIDDEN + b" " * (1 << 20), "403 Forbidden"),
    ],
)
def test_why_exec_was_refused_is_told_however_it_ends(tmp_path: Path, answer: bytes) -> None:
    (output,) = ask(tmp_path, always(answer), "exec x -- true")
    assert output.failure == "refused"
    assert "exec is denied by the admission of gatekeeper" in output.reason


def accepting(*frames: bytes, reset: bool = False) -> Respond:
    """A server that accepts a websocket, says these frames at once, and is gone without listening."""

    def respond(head: str, connection: socket.socket) -> None:
        key = next(line.partition(": ")[2] for line in head.splitlines() if line.lower().startswith("sec-websocket-key"))
        accept = base64.b64encode(hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()).decode()
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Accept: {accept}", "Sec-WebSocket-Protocol: v5.channel.k8s.io", "", ""]
        connection.sendall("\r\n".join(lines).encode() + b"".join(frames))
        if reset:  # what still comes is answered by a reset
            time.sleep(0.2)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return respond


def frame(payload: bytes, opcode: int = 2) -> bytes:
    size = bytes((len(payload),)) if len(payload) < 126 else b"\x7e" + len(payload).to_bytes(2, "big")
    return bytes((0x80 | opcode,)) + size + payload


ENDED = b'\x03{"status":"Failure","message":"container is gone: OOMKilled"}'


@pytest.mark.parametrize("stdin", [b"", b"x" * (8 << 20)])
@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([frame(ENDED)], "cat could not be run in pod ml/x: container is gone: OOMKilled"),
        ([frame(ENDED), frame(b"\x03\xf3later", 8)], "cat could not be run in pod ml/x: container is gone: OOMKilled"),
        ([frame(b"ping", 9), frame(ENDED)], "cat could not be run in pod ml/x: container is gone: OOMKilled"),
        ([frame(b"\x03\xf3the kubelet restarts", 8)], "was closed before cat had ended: the kubelet restarts"),
        ([], "was closed before cat had ended"),
    ],
)
def test_why_a_far_side_ends_at_once_is_told(tmp_path: Path, frames: list[bytes], words: str, reset: bool, stdin: bytes) -> None:
    if reset and stdin and sys.platform != "linux":
        pytest.skip("what came before a reset can be read on Linux only")
    with listening(accepting(*frames, reset=reset)) as url:
        live = live_at(url, tmp_path, "ml")
        flag = ("-i",) if stdin else ()
        output = live(Command(("kubectl", "exec", *flag, "x", "--", "cat"), timeout=5, stdin=stdin))
        live.close()
    assert output.failure == "broken"
    assert output.reason.endswith(words), output.reason


# ---- what is created and deleted


@pytest.mark.parametrize("method", ["POST", "DELETE", "GET"])
def test_every_exchange_has_a_deadline_and_a_limit(tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_http, "HELD", 1 << 20)

    def flood(head: str, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3221225472\r\n\r\n")
        while True:
            connection.sendall(b" " * (1 << 20))

    for respond, failure in ((drip(http(b" " * 500)), "timeout"), (flood, "too-large")):
        with listening(respond) as url:
            live = live_at(url, tmp_path)
            deadline = Deadline(1.0)
            with pytest.raises(StoppedError) as stopped:
                kube_http.exchange(live._kube().connection(deadline), method, "/api/v1/pods", deadline, body=b"{}")
            live.close()
        assert stopped.value.failure == failure
        assert deadline.spent < 5


def test_what_creates_is_sent_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def gone(head: str, connection: socket.socket) -> None:
        asked.append(head.split()[0])

    for method, times in (("POST", 1), ("DELETE", 2), ("GET", 2)):
        asked.clear()
        with listening(gone) as url:
            live = live_at(url, tmp_path)
            deadline = Deadline(3.0)
            with pytest.raises(StoppedError):
                kube_http.exchange(live._kube().connection(deadline), method, "/api/v1/pods", deadline)
            live.close()
        assert asked == [method] * times


def test_the_bytes_of_an_output_can_be_recorded(tmp_path: Path) -> None:
    output = enter(tmp_path, lambda connection: connection.send(SUCCESS))
    assert msgspec.json.decode(msgspec.json.encode(output), type=Output) == output


def test_who_hangs_up_leaves_closing_to_the_reader() -> None:
    """Else the reader waits on a descriptor that is the next connection's, and takes that one's first bytes."""
    near, far = socket.socketpair()
    talk = kube_websocket.Socket()
    talk.sock = near
    talk.hang_up()
    assert near.fileno() >= 0
    assert near.recv(1) == b""
    talk.shutdown()
    assert near.fileno() == -1
    talk.hang_up()  # after it there is nothing to end
    far.close()
