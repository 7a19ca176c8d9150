"""The way to the Kubernetes API: kubeconfigs, tokens, credential plugins, proxies, temporary folders, and servers that do not behave."""

from __future__ import annotations

import base64
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.faults.case import Fault, Place, tried
from tests.kube import objects as build
from tests.kube.proxy import Proxy

POD = build.pod("train-0", ns="ml", node="gpu-01", phase="Running")
CLUSTER = build.cluster([POD, build.node("gpu-01"), *build.gpu_stack("gpu-01")])
SOUND = "checked 7 of 7"  # all that was asked has been answered
UNKNOWN = "INCONCLUSIVE pod ml/train-0 nothing could be read: "
HALVES = ("zyxwvu-first-half", "zyxwvu-second-half")
SECRET = "zyxwvu"  # is in every credential of these rows
V1 = "client.authentication.k8s.io/v1"


# ---- what words can't say: kubeconfigs


def configured(user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None) -> Callable[[Place], None]:
    """Another user and another cluster in the served kubeconfig. `{token}` is the token that the server accepts."""

    def before(place: Place) -> None:
        assert place.served
        given = json.loads(place.served.kubeconfig.read_text())
        token = given["users"][0]["user"]["token"]
        if user is not None:
            given["users"][0]["user"] = json.loads(place.filled(json.dumps(user)).replace("{token}", token))
        given["clusters"][0]["cluster"] |= json.loads(place.filled(json.dumps(cluster or {})))
        path = place.here / "kubeconfig"
        path.write_text(json.dumps(given))
        for name in ("token-line", "token-crlf"):
            (place.here / name).write_text(token + ("\n" if name == "token-line" else "\r\n"), newline="")
        place.environment["KUBECONFIG"] = str(path)

    return before


def plugin(script: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": V1, "command": "sh", "args": ["-c", script], **more}}


def gives(**status: str) -> str:
    return f"printf '%s' '{json.dumps({'apiVersion': V1, 'kind': 'ExecCredential', 'status': status})}'"


HANGS = "touch {here}/begun; trap '' TERM; sleep 600 & wait; sleep 600"

# ---- servers


def serving(respond: Callable[[bytes, socket.socket], None], **user: str) -> Callable[[Place], None]:
    """A server of plain HTTP that does as it likes with each request, and a kubeconfig for it."""

    def before(place: Place) -> None:
        listener = socket.create_server(("127.0.0.1", 0))

        def handle(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(1) or b"\r\n\r\n"
                respond(head, connection)

        def accept() -> None:
            while True:
                threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        config = {
            "clusters": [{"name": "odd", "cluster": {"server": f"http://127.0.0.1:{listener.getsockname()[1]}"}}],
            "users": [{"name": "u", "user": {"token": SECRET, **user}}],
            "contexts": [{"name": "odd", "context": {"cluster": "odd", "user": "u", "namespace": "ml"}}],
            "current-context": "odd",
        }
        (place.here / "kubeconfig").write_text(json.dumps(config))
        place.environment["KUBECONFIG"] = str(place.here / "kubeconfig")

    return before


def always(status: str, body: bytes, *headers: str) -> Callable[[bytes, socket.socket], None]:
    lines = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""])
    return lambda head, connection: connection.sendall(lines.encode() + body)


def trailers(head: bytes, connection: socket.socket) -> None:
    """Chunks, then trailers without an end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    while True:
        connection.sendall(b"X-Trailer: " + b"x" * 60_000 + b"\r\n")


def flood(head: bytes, connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3221225472\r\n\r\n")
    while True:
        connection.sendall(b" " * (1 << 20))


NO_KUBELET = always("500 Internal Server Error", b'{"message":"no kubelet"}')


def deleting(
    answer: Callable[[socket.socket], None], executing: Callable[[bytes, socket.socket], None] = NO_KUBELET
) -> Callable[[bytes, socket.socket], None]:
    """A node and a debug pod on it that is soon running; a DELETE and an exec are answered oddly."""

    def respond(head: bytes, connection: socket.socket) -> None:
        if head.startswith(b"DELETE"):
            answer(connection)
        elif head.startswith(b"POST"):
            always("201 Created", b"{}")(head, connection)
        elif b"/pods/gpudoctor-debug-" in head and b"/exec" not in head:
            always("200 OK", b'{"status":{"phase":"Running"}}')(head, connection)
        elif b"/exec" in head:
            executing(head, connection)
        else:
            always("200 OK", json.dumps({"kind": "NodeList", "metadata": {}, "items": [build.node("gpu-01")]}).encode())(head, connection)

    return respond


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    for _ in range(500):
        connection.sendall(b" ")
        time.sleep(0.2)


# ---- proxies


def proxied(
    variables: dict[str, str], host: str = "api.example.test", kind: str = "http", login: str = "", answer: bytes = b"", field: str = ""
) -> Callable[[Place], None]:
    """A proxy that alone knows the server's name. `{proxy}` in a variable is its URL, with the login."""

    def before(place: Place) -> None:
        assert place.served
        port = int(place.served.url.rpartition(":")[2])
        proxy = Proxy(("127.0.0.1", port), kind, login, answer)
        cluster = {"server": f"https://{host}:{port}", "tls-server-name": "127.0.0.1"}
        configured(cluster=cluster | ({"proxy-url": field.replace("{proxy}", proxy.url)} if field else {}))(place)
        place.environment |= {name: value.replace("{proxy}", proxy.url) for name, value in variables.items()}

    return before


def row(broken: str, user: dict[str, Any] | None, exit: int, *says: str, asks: str = "diagnose pod train-0", **more: Any) -> Fault:
    more.setdefault("before", configured(user, more.pop("server", None)))
    more.setdefault("cluster", CLUSTER)
    return Fault(broken, asks, exit, says, never=(SECRET, *more.pop("never", ())), **more)


def said_by(before: Callable[[Place], None], broken: str, exit: int, *says: str, asks: str = "diagnose pod train-0", **more: Any) -> Fault:
    return Fault(broken, asks, exit, says, never=(SECRET, *more.pop("never", ())), before=before, **more)


def named(broken: str, path: str, *says: str, **more: Any) -> Fault:
    """A kubeconfig that is named by the option: exit 2."""
    return Fault(broken, f"diagnose pod train-0 --kubeconfig {path}", 2, says, **more)


# Neither $TMPDIR nor /tmp nor the working directory can be written: Python would try them all.
NO_TEMPORARY: dict[str, Any] = {
    "files": {"no/sitecustomize.py": "import tempfile\n\ntempfile.tempdir = '/nonexistent'\n"},
    "env": {"PYTHONPATH": "{here}/no"},
}
OIDC = {"name": "oidc", "config": {"id-token": f"{SECRET}=", "refresh-token": f"{SECRET}-refresh", "client-secret": f"{SECRET}-client"}}

FAULTS = [
    # tokens
    row("a token's file that ends in a line end", {"tokenFile": "token-line"}, 3, SOUND),
    row("a token's file that ends in CRLF", {"tokenFile": "token-crlf"}, 3, SOUND),
    row("a token in the kubeconfig that ends in a line end", {"token": "{token}\n"}, 3, SOUND),
    row("a token with CRLF inside", {"token": "\r\n".join(HALVES)}, 3, UNKNOWN, "token has a line break"),
    row("a token with CRLF inside, as JSON", {"token": "\r\n".join(HALVES)}, 3, asks="diagnose pod train-0 --format json"),
    row("a token with CRLF inside, as Markdown", {"token": "\r\n".join(HALVES)}, 3, asks="diagnose pod train-0 --format markdown"),
    row("a token with CRLF inside, as HTML", {"token": "\r\n".join(HALVES)}, 3, asks="diagnose pod train-0 --format html"),
    row("a token with CRLF inside, as JUnit", {"token": "\r\n".join(HALVES)}, 3, asks="diagnose pod train-0 --format junit"),
    row("a token that is not ASCII", {"token": "é".join(HALVES)}, 3, UNKNOWN, "token has a line break or other characters"),
    row("a token's file that isn't there", {"tokenFile": "/nowhere/token"}, 3, "tokenFile /nowhere/token can't be read: No such file"),
    row("a token's file without an end", {"tokenFile": "/dev/zero"}, 3, "/dev/zero can't be read: it is neither a file nor a pipe"),
    row("a token that the server doesn't know", {"token": SECRET}, 3, "did not accept the credentials"),
    row("a password", {"username": "oncall", "password": f"{SECRET}\n"}, 3, "did not accept the credentials"),
    row("an auth-provider whose token is none", {"auth-provider": OIDC}, 3, "the auth-provider oidc gave no credentials"),
    row("an auth-provider that nobody knows", {"auth-provider": {"name": "azure"}}, 3, "the auth-provider azure gave no credentials"),
    row("a login in the server's URL", {}, 3, "connection refused", server={"server": f"https://oncall:{SECRET}@127.0.0.1:1"}),
    row("a login in the server's URL that is none", {}, 3, "is no http or https URL", server={"server": f"https://o:{SECRET}/x@h"}),
    row("an impersonation of nobody", {"token": "{token}", "as-groups": ["system:masters"]}, 3, "without `as`"),
    # credential plugins
    row("a plugin that hangs", plugin(HANGS), 3, "the credential plugin sh of context 'test' did not answer", within=60),
    row("a plugin that hangs, and Ctrl-C", plugin(HANGS), 130, signals=[2, 2]),
    row("a plugin that hangs, and SIGTERM", plugin(HANGS), 143, signals=[15]),
    row(
        "a plugin that says its secrets",
        plugin(f"echo refresh_token={SECRET}abc123 >&2; exit 1"),
        3,
        "exit code 1, saying: refresh_token=<red",
    ),
    row(
        "a plugin that says what it was given",
        plugin('echo "$IDP_PASSWORD is wrong" >&2; exit 1', env=[{"name": "IDP_PASSWORD", "value": SECRET}]),
        3,
        "is wrong",
    ),
    row("a plugin whose token has a line end inside", plugin(gives(token="zyxwvu\n\nx")), 3, "the plugin's token has a line break"),
    row("a plugin that prints without an end", plugin(f"yes {SECRET}"), 3, "it printed more than 1 MiB"),
    row(
        "a plugin that isn't there",
        plugin("", command="no-plugin", installHint="install it"),
        3,
        "no-plugin failed: command not found; install it",
    ),
    row("a plugin that wants a terminal", plugin("read x", interactiveMode="Always"), 3, "log in with kubectl first"),
    row("a plugin that leaves a child behind", plugin("sleep 600 & exit 1"), 3, "it ended with exit code 1"),
    row("a plugin that works", plugin(gives(token="{token}")), 3, SOUND),
    # temporary folders and keys
    row("no temporary folder", None, 3, SOUND, **NO_TEMPORARY),
    row("a plugin, and no temporary folder", plugin(gives(token="{token}")), 3, SOUND, **NO_TEMPORARY),
    row("a temporary folder that can't be written", {"token": "{token}"}, 3, SOUND, env={"TMPDIR": "/proc"}),
    row(
        "a client key that is none",
        {"client-certificate-data": base64.b64encode(b"x").decode(), "client-key-data": base64.b64encode(SECRET.encode()).decode()},
        3,
        "its client certificate and key can't be used",
        **NO_TEMPORARY,
    ),
    row(
        "a client key that is a device",
        {"client-certificate": "/dev/zero", "client-key": "/dev/zero"},
        3,
        "client-certificate /dev/zero can't",
    ),
    row(
        "an authority that is none",
        None,
        3,
        "certificate-authority-data in the kubeconfig is not base64",
        server={"certificate-authority-data": "%"},
    ),
    # kubeconfigs
    named("a kubeconfig without an end", "/dev/zero", "the kubeconfig /dev/zero can't be read: it is neither a file nor a pipe", peak=700),
    named("a password that YAML takes for a tag", "{here}/k", "the tag '…'", files={"k": f"a: !{SECRET} x"}, never=[SECRET]),
    named("a kubeconfig that is a folder", "{here}", "can't be read"),
    named(
        "a kubeconfig that is a pipe nobody writes to",
        "{here}/fifo",
        "was not written and closed within 10 s",
        before=lambda place: os.mkfifo(place.here / "fifo"),
    ),
    named("a kubeconfig that bites its tail", "{here}/bomb", "is not YAML", files={"bomb": "a: &a [*a, *a"}),
    named(
        "a kubeconfig that grows",
        "{here}/bomb",
        "100 aliases",
        files={"bomb": "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 30))},
        peak=700,
    ),
    named("a kubeconfig of 17 MiB", "{here}/large", "it is larger than 16 MiB", files={"large": b"# x\n" * (17 << 18)}, peak=700),
    Fault(
        "a kubeconfig of the environment without an end",
        "diagnose pod train-0",
        3,
        ["can't be read: it is neither a file"],
        env={"KUBECONFIG": "/dev/zero"},
        peak=700,
    ),
    Fault(
        "a kubeconfig out of a pipe",
        "diagnose pod train-0",
        3,
        [SOUND],
        cluster=CLUSTER,
        shell='mkfifo {here}/fifo; cat "$KUBECONFIG" > {here}/fifo & KUBECONFIG={here}/fifo exec "$@"',
    ),
    # proxies
    row("a proxy for everything, and the API on this machine", None, 3, SOUND, env={"HTTPS_PROXY": f"http://u:{SECRET}@127.0.0.1:1"}),
    said_by(proxied({"HTTPS_PROXY": "{proxy}"}), "the API behind a proxy", 3, SOUND, cluster=CLUSTER),
    said_by(proxied({}, kind="socks5", field="{proxy}"), "the API behind a SOCKS proxy", 3, SOUND, cluster=CLUSTER),
    said_by(
        proxied({"HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "0.0.0.0/8"}, host="0.0.0.0"),
        "a network in NO_PROXY",
        3,
        SOUND,
        cluster=CLUSTER,
    ),
    said_by(
        proxied({"NO_PROXY": "*"}, field="{proxy}"),
        "NO_PROXY, and a proxy of the kubeconfig's own",
        3,
        SOUND,
        cluster=CLUSTER,
    ),
    said_by(
        proxied({"HTTPS_PROXY": f"http://oncall:{SECRET}@127.0.0.1:1"}),
        "a proxy that isn't there",
        3,
        "through the proxy http://127.0.0.1:1 ($HTTPS_PROXY): connection refused",
        cluster=CLUSTER,
    ),
    said_by(
        proxied({}, login=f"oncall:{SECRET}", field="{proxy}", answer=b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"),
        "a proxy that wants another login",
        3,
        "(proxy-url of the kubeconfig): the proxy doesn't let us through",
        "407",
        cluster=CLUSTER,
    ),
    said_by(
        proxied({"HTTPS_PROXY": f"ftp://oncall:{SECRET}@h"}),
        "a proxy that is no URL",
        3,
        "$HTTPS_PROXY is not the URL of a proxy",
        cluster=CLUSTER,
    ),
    # servers
    said_by(serving(flood), "an answer of 3 GiB", 3, "the answer is larger than 64 MiB", peak=700, within=60),
    said_by(serving(trailers), "trailers without an end", 3, within=60, peak=700),
    said_by(serving(always("503 Unavailable", b"{}", "Retry-After: 99999")), "a server that wants a day's patience", 3, "could not answer"),
    said_by(
        serving(always("429 Busy", b"{}", "Retry-After: 1e99", "Date: x" * 5000)),
        "a clock and a patience that are none",
        3,
        "too many requests",
    ),
    said_by(
        serving(always("403 F", f'{{"message":"Bearer {SECRET}abc is no member"}}'.encode())),
        "a server that says our token",
        3,
        "is no member",
    ),
    said_by(serving(always("401 U", f'{{"message":"{SECRET} has ended"}}'.encode())), "a server that says our token alone", 3, "has ended"),
    said_by(
        serving(deleting(drip)),
        "a debug pod whose deletion drips",
        3,
        "was not deleted from node gpu-01",
        asks="run gpu-health --set nodes=gpu-01 --via debug-pod",
        within=60,
    ),
    said_by(
        serving(deleting(lambda connection: flood(b"", connection))),
        "a debug pod whose deletion answers 3 GiB",
        3,
        "was not deleted from node gpu-01",
        asks="run gpu-health --set nodes=gpu-01 --via debug-pod",
        within=60,
        peak=700,
    ),
    said_by(
        serving(deleting(lambda connection: always("200 OK", b"{}")(b"", connection))),
        "a kubelet that doesn't answer exec",
        3,
        "could not answer: no kubelet",
        asks="run gpu-health --set nodes=gpu-01 --via debug-pod",
        within=60,
    ),
    said_by(
        serving(
            deleting(
                lambda connection: always("200 OK", b"{}")(b"", connection),
                always("400 Bad Request", b'{"kind":"Status","message":"Upgrade request required"}'),
            )
        ),
        "a proxy that lets no websocket through",
        3,
        "let no websocket through for `exec`, or a proxy on the way did not: Upgrade request required",
        asks="run gpu-health --set nodes=gpu-01 --via debug-pod",
        within=60,
    ),
    said_by(serving(always("502 Bad Gateway", b"no healthy upstream\n")), "a gateway in plain words", 3, "HTTP 502, no healthy upstream"),
    said_by(serving(always("401 Unauthorized", b"{}")), "a server without TLS that wants credentials", 3, "no server without TLS is sent"),
]

test_fault = tried(FAULTS)
