"""etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok as the kubelets, on free ports of the loopback.

`build.sh` has put the programs into the user's cache; nothing here builds them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.api import Api
from tests.cluster.certificates import HOST, Authority, kubeconfig

HERE = Path(__file__).parent
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
USERS = {  # name: user, group
    "admin": ("admin", "system:masters"),
    "controllers": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "kwok": ("kwok", "system:masters"),
    "oncall": ("anna", "oncall"),
    "podsonly": ("podsonly", "podsonly"),
}
KWOK = """\
apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageNodesWithAnnotationSelector: kwok.x-k8s.io/node=fake
  nodeIP: {host}
  nodePort: {port}
  serverAddress: {host}:{port}
  tlsCertFile: {certificates}/kwok.crt
  tlsPrivateKeyFile: {certificates}/kwok.key
  nodeLeaseDurationSeconds: 40
"""


def cached() -> Path:
    """The folder in the user's cache in which the programs lie once they are built."""
    version = re.search(r"k8s\.io/kubernetes v([\d.]+)", (HERE / "modules" / "kubernetes" / "go.mod").read_text(encoding="utf-8"))
    assert version
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpudoctor" / f"cluster-{version[1]}"


def missing() -> list[str]:
    """The programs that are not built."""
    return [name for name in (*PROGRAMS, "stages.yaml") if not (cached() / name).is_file()]


class ControlPlane:
    """A running control plane in a folder of its own; ends with `stop`, and with the process that started it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.keys = folder / "certificates"
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        authority = Authority(self.keys)
        authority.token_key()
        authority.sign("apiserver", "kube-apiserver")
        authority.sign("kubelet-client", "apiserver-kubelet-client", "system:masters")
        self.ports = dict(zip((*PROGRAMS, "peer"), free_ports(len(PROGRAMS) + 1), strict=True))
        self.url = f"https://{HOST}:{self.ports['kube-apiserver']}"
        for name, (user, group) in USERS.items():
            authority.sign(name, user, group)
            kubeconfig(self.keys, name, self.url)
        self.api = Api(self.keys, "admin", HOST, self.ports["kube-apiserver"])
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Start all of it, each when what it needs answers."""
        self.run("etcd")
        until(lambda: open_port(self.ports["etcd"]), "etcd", 120)
        self.run("kube-apiserver")
        until(self.api.ready, "the API server", 240)
        for name in ("kube-controller-manager", "kube-scheduler", "kwok"):
            self.run(name)

    def run(self, name: str) -> None:
        """Start one of the programs."""
        words = [str(cached() / name), *self.options(name)]
        if guard := shutil.which("setpriv"):  # it must not outlive a test run that is killed
            words = [guard, "--pdeathsig", "KILL", *words]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def end(self, name: str) -> None:
        """End one of the programs."""
        process = self.running.pop(name)
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)

    def pause(self, name: str) -> None:
        """Let one of the programs stand still."""
        self.running[name].send_signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """Let it go on."""
        self.running[name].send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End all that runs, the last one first."""
        self.api.close()
        for name in reversed([*self.running]):
            self.end(name)

    def options(self, name: str) -> list[str]:
        """The options of one of the programs."""
        etcd, peer, keys = f"http://{HOST}:{self.ports['etcd']}", f"http://{HOST}:{self.ports['peer']}", self.keys
        port = self.ports[name]

        def config(user: str) -> str:
            return str(self.folder / f"{user}.kubeconfig")

        match name:
            case "etcd":
                given = {"data-dir": self.folder / "etcd", "listen-client-urls": etcd, "advertise-client-urls": etcd, "log-level": "warn"}
                given |= {"listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"default={peer}"}
                return ["--unsafe-no-fsync", *written(given)]
            case "kube-apiserver":
                given = {"etcd-servers": etcd, "endpoint-reconciler-type": "none", "service-cluster-ip-range": "10.96.0.0/16"}
                given |= {"bind-address": HOST, "advertise-address": HOST, "secure-port": port, "cert-dir": self.folder / "apiserver"}
                given |= {
                    "client-ca-file": keys / "ca.crt",
                    "tls-cert-file": keys / "apiserver.crt",
                    "tls-private-key-file": keys / "apiserver.key",
                }
                given |= {"service-account-issuer": "https://kubernetes.default.svc", "service-account-key-file": keys / "sa.pub"}
                given |= {"service-account-signing-key-file": keys / "sa.key", "authorization-mode": "RBAC", "allow-privileged": "true"}
                given |= {"kubelet-client-certificate": keys / "kubelet-client.crt", "kubelet-client-key": keys / "kubelet-client.key"}
                return written(given)
            case "kube-controller-manager":
                given = {
                    "kubeconfig": config("controllers"),
                    "service-account-private-key-file": keys / "sa.key",
                    "root-ca-file": keys / "ca.crt",
                }
                given |= {"use-service-account-credentials": "true", "cluster-signing-cert-file": keys / "ca.crt"}
                given |= {"cluster-signing-key-file": keys / "ca.key", "node-monitor-period": "2s", "cert-dir": self.folder / "controllers"}
                given |= {"node-eviction-rate": 10, "secondary-node-eviction-rate": 10}  # taints of nodes that are down come at once
                return written(given | {"bind-address": HOST, "secure-port": port, "leader-elect": "false"})
            case "kube-scheduler":
                given = {option: config("scheduler") for option in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")}
                given |= {"bind-address": HOST, "secure-port": port, "leader-elect": "false", "cert-dir": self.folder / "scheduler"}
                return written(given)
            case _:
                told = KWOK.format(host=HOST, port=port, certificates=keys) + (cached() / "stages.yaml").read_text(encoding="utf-8")
                (self.folder / "kwok.yaml").write_text(told, encoding="utf-8")
                return written({"kubeconfig": config("kwok"), "config": self.folder / "kwok.yaml"})


def written(options: dict[str, object]) -> list[str]:
    """Options as a command has them."""
    return [f"--{name}={value}" for name, value in options.items()]


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment."""
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def open_port(port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def until(holds: Callable[[], bool], what: str, seconds: float = 90.0) -> None:
    """Wait until something holds; raises TimeoutError that says for what it waited."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.1)
