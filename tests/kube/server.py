"""A Kubernetes API over recorded objects: `python -m tests.kube.server CLUSTER.json --dir D [--port 0] [--bulk nodes=5000,pods=50000]`.

CLUSTER.json: {"now": "2026-03-01T12:00:00Z", "objects": [Kubernetes objects], "logs": {"ns/pod/container[:previous]": text},
"exec": {"ns/pod/container": [{"argv": [...], "stdout": "", "stderr": "", "exit": 0, "stall": 0}]}, "faults": [see faults.py]}; a pod
"*" stands for any, and "shell": PATH makes `sh -s` a real shell. Pods can be created; "created" is the status that they have then.
Writes D/kubeconfig (context `test`, namespace `ml`) and D/server.json {url, port, pid}, prints `ready`, and serves until it is killed or
its parent ends. GET /__requests answers the requests so far as a JSON list of `METHOD path?query` (percent-decoded), DELETE clears it.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import ssl
import sys
import threading
import time
from datetime import datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from tests.kube import websocket
from tests.kube.access import HOST, certificate, kubeconfig
from tests.kube.api import Api, Response, parse
from tests.kube.containers import Answer, executed
from tests.kube.faults import Fault
from tests.kube.statuses import ApiError, failure
from tests.kube.store import Store


class Server(ThreadingHTTPServer):
    """The listening socket with what its handlers share."""

    daemon_threads = True
    request_queue_size = 128
    api: Api
    token: str
    date: str

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        super().__init__((HOST, port), Handler)
        # the handshake happens in the connection's own thread, so that a silent client can't hold the others
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.seen: list[str] = []
        self.url = f"https://{HOST}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the game; anything else is a bug of ours and is shown."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "kube-apiserver"
    sys_version = ""
    wbufsize = 1 << 16  # headers and a small body leave in one packet
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The Date header: the cluster file's `now`."""
        return self.server.date

    def do_GET(self) -> None:
        """Answer one request, with the fault that the cluster file wants for it."""
        length = self.headers.get("Content-Length", "0")
        body = self.rfile.read(int(length)) if length.isdecimal() else b""
        if self.path == "/__requests":
            return self.requests()
        shown = f"{self.command} {unquote_plus(self.path)}"
        self.server.seen.append(shown)
        fault = self.server.api.faults.strike(shown)
        if fault and (fault.close or fault.stall):
            time.sleep(fault.stall)
            self.close_connection = True
            return None
        path, query = parse(self.path)
        try:
            scheme, _, token = self.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer" or token != self.server.token:  # the scheme in any case, as the real one takes it
                raise ApiError(401)
            if fault and fault.status:
                return self.send(Response(fault.status, msgspec.json.encode(self.server.api.fault_status(fault, self.command, path))))
            place = self.server.api.place(path)
            if place and place.sub == "exec" and place.resource.plural == "pods":
                argv, answer = executed(self.server.api.pod(place), query, self.server.api.exec)
                return self.exec(argv, answer)
            return self.send(self.server.api.answer(self.command, path, query, body), fault)
        except ApiError as error:
            return self.send(Response(error.code, msgspec.json.encode(error.status)), fault)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def send(self, response: Response, fault: Fault | None = None) -> None:
        """Write a whole answer; a fault may drip it or cut it."""
        self.send_response(response.code)
        self.send_header("Content-Type", response.type)
        self.send_header("Content-Length", str(len(response.body)))
        self.send_header("Cache-Control", "no-cache, private")
        if response.code == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        if fault and fault.drip:
            step = max(1, int(fault.drip / 10))
            for start in range(0, len(response.body), step):
                self.wfile.write(response.body[start : start + step])
                self.wfile.flush()
                time.sleep(step / fault.drip)
        elif fault and fault.cut is not None:
            self.wfile.write(response.body[: fault.cut])
            self.close_connection = True
        else:
            self.wfile.write(response.body)

    def requests(self) -> None:
        """The request log, and its clearing."""
        seen = list(self.server.seen)
        if self.command == "DELETE":
            self.server.seen.clear()
        self.send(Response(200, msgspec.json.encode(seen)))

    def exec(self, argv: list[str], answer: Answer) -> None:
        """Switch to a websocket and print the recorded answer."""
        accepted = websocket.handshake({name.lower(): value for name, value in self.headers.items()})
        self.close_connection = True
        if accepted is None:
            refused = failure(400, "unable to upgrade: this server speaks websockets (v4 and v5.channel.k8s.io) only")
            return self.send(Response(400, msgspec.json.encode(refused)))
        self.send_response(101)
        for name, value in accepted.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()
        if answer.shell:
            websocket.converse(self.flushed, self.rfile, answer.shell)
            return None
        websocket.speak(self.flushed, argv, answer)
        # What the client still sends must be read, or closing would reset the connection under the answer.
        self.connection.settimeout(2)
        while self.rfile.read1(1 << 16):
            pass
        return None

    def flushed(self, data: bytes) -> None:
        """Write at once."""
        self.wfile.write(data)
        self.wfile.flush()


def start(contents: dict[str, Any], folder: Path, port: int = 0, bulk: str = "") -> Server:
    """Build a server, ready to serve, and write its kubeconfig and server.json."""
    folder.mkdir(parents=True, exist_ok=True)
    pem, ca = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server = Server(port, context)
    store = Store(contents.get("objects") or ())
    if bulk:
        from tests.kube.bulk import fill

        fill(store, bulk)
    server.api = Api(contents, store, server.url)
    server.token = secrets.token_hex(16)
    server.date = formatdate(datetime.fromisoformat(server.api.now).timestamp(), usegmt=True)
    (folder / "kubeconfig").write_text(kubeconfig(server.url, ca, {"token": server.token}), encoding="utf-8")
    (folder / "kubeconfig").chmod(0o600)
    (folder / "server.json").write_text(json.dumps({"url": server.url, "port": server.server_port, "pid": os.getpid()}), encoding="utf-8")
    return server


def leave_with(parent: int) -> None:
    """End this process when its parent has ended (it is then adopted by another)."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def main() -> None:
    """Parse the options, serve."""
    parser = argparse.ArgumentParser(description="A Kubernetes API over recorded objects.")
    parser.add_argument("cluster", type=Path, help="the cluster file")
    parser.add_argument("--dir", type=Path, required=True, help="where kubeconfig and server.json are written")
    parser.add_argument("--port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--bulk", default="", metavar="nodes=N,pods=N", help="add a large cluster; also gpus, used, taint, ns")
    options = parser.parse_args()
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    server = start(json.loads(options.cluster.read_text(encoding="utf-8")), options.dir, options.port, options.bulk)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
