"""Machines of which the kubelet and the container runtime are configured well, and those on which they don't agree."""

from __future__ import annotations

from typing import Any

from tests.nodes import bus
from tests.nodes.case import Case, Said
from tests.nodes.configs import containerd, grepped, kubelet, toolkit

BOOK = "runtime-config"
NODE = "gpu-07"
LINES = r"^ *\[|^ *(version|imports|disabled_plugins|default_runtime_name|SystemdCgroup|BinaryName|enable_cdi) *="
RUNTIME = f"grep -E -e '{LINES}' /etc/containerd/config.toml"
OF_K3S = f"grep -E -e '{LINES}' /var/lib/rancher/k3s/agent/etc/containerd/config.toml"
TOOLKIT = "cat /etc/nvidia-container-runtime/config.toml"
KUBELET = "grep -E -e '^(kind|cgroupDriver|cpuManagerPolicy|topologyManagerPolicy): ' /var/lib/kubelet/config.yaml"
WANTED = ("kind", "cgroupDriver", "cpuManagerPolicy", "topologyManagerPolicy")
ABSENT = Said(exit=2, stderr="grep: /etc/containerd/config.toml: No such file or directory\n")
DENIED = Said(exit=2, stderr="grep: /etc/containerd/config.toml: Permission denied\n")


def machine(config: str | Said = "", kubelet_config: str = "", toolkit_config: str = "", **more: str) -> Case:
    """A machine with one card; what isn't given is configured well."""
    config = config or containerd()
    lines = [line for line in (kubelet_config or kubelet()).split("\n") if line.startswith(WANTED)]
    answers: dict[str, Any] = {
        "lspci -D -nn -k -vv -d 10de:": bus.lspci([bus.Slot()]),
        RUNTIME: config if isinstance(config, Said) else grepped(config),
        TOOLKIT: toolkit_config or toolkit(),
        KUBELET: "".join(f"{line}\n" for line in lines),
    }
    return Case(BOOK, {"nodes": NODE}, {f"{NODE}: {command}": said for command, said in (answers | more).items()})


CASES: dict[str, Case] = {
    "configured": machine(),
    "configured-3": machine(containerd(nvidia=None, version=3)),  # containerd 2 resolves CDI names
    "configured-k3s": machine(ABSENT, **{OF_K3S: grepped(containerd(nvidia=None, imports="/var/lib/rancher/k3s/agent/conf.d/*.toml"))}),
    "drivers-differ": machine(containerd(runc=False, nvidia=False)),
    "nvidia-entry-differs": machine(containerd(nvidia=False)),
    "no-nvidia-entry": machine(containerd(nvidia=None)),
    "cri-disabled": machine(containerd(disabled="cri")),
    "no-cgroups": machine(toolkit_config=toolkit(True)),
    "config-denied": machine(DENIED, **{OF_K3S: ""}),
}
