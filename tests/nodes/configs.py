"""What the configuration files of container runtimes and of the kubelet hold: containerd's of both formats, CRI-O's, Docker's, NVIDIA's."""

from __future__ import annotations

import json

PLUGIN = {2: '"io.containerd.grpc.v1.cri"', 3: '"io.containerd.cri.v1.runtime"'}


def containerd(
    runc: bool | None = True,
    nvidia: bool | None = True,
    *,
    version: int = 2,
    cdi: bool | None = None,
    default: str = "runc",
    imports: str = "",
    disabled: str = "",
) -> str:
    """/etc/containerd/config.toml. `runc` and `nvidia` are their SystemdCgroup; `nvidia` None: it has no such entry."""
    cri = f"plugins.{PLUGIN[version]}"
    lines = [
        f"version = {version}",
        f'imports = ["{imports}"]' if imports else "",
        f'disabled_plugins = ["{disabled}"]' if disabled else "",
        'root = "/var/lib/containerd"',
        "[plugins]",
        f"  [{cri}]",
    ]
    lines += [f"    enable_cdi = {str(cdi).lower()}"] if cdi is not None else []
    lines += [f"    [{cri}.containerd]", f'      default_runtime_name = "{default}"', f"      [{cri}.containerd.runtimes]"]
    for name, systemd in (("runc", runc), ("nvidia", nvidia)):
        if name == "nvidia" and systemd is None:
            continue
        head = f"{cri}.containerd.runtimes.{name}"
        lines += [f"        [{head}]", '          runtime_type = "io.containerd.runc.v2"', f"          [{head}.options]"]
        lines += ['            BinaryName = "/usr/bin/nvidia-container-runtime"'] if name == "nvidia" else []
        lines += [f"            SystemdCgroup = {str(systemd).lower()}"] if systemd is not None else []
    return "\n".join(line for line in lines if line) + "\n"


def grepped(text: str) -> str:
    """What the runbook reads of it."""
    keys = ("[", "version", "imports", "disabled_plugins", "default_runtime_name", "SystemdCgroup", "BinaryName", "enable_cdi")
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip().startswith(keys))


def toolkit(no_cgroups: bool | None = None) -> str:
    """/etc/nvidia-container-runtime/config.toml as the package brings it; None: the line is a comment."""
    line = "#no-cgroups = false" if no_cgroups is None else f"no-cgroups = {str(no_cgroups).lower()}"
    return (
        "#accept-nvidia-visible-devices-as-volume-mounts = false\n#accept-nvidia-visible-devices-envvar-when-unprivileged = true\n"
        'disable-require = false\nsupported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"\n\n'
        f'[nvidia-container-cli]\nenvironment = []\n{line}\nldconfig = "@/sbin/ldconfig"\nload-kmods = true\n\n'
        '[nvidia-container-runtime]\nlog-level = "info"\nmode = "auto"\nruntimes = ["runc", "crun"]\n'
    )


def kubelet(driver: str | None = "systemd", cpus: str | None = None) -> str:
    """/var/lib/kubelet/config.yaml."""
    lines = ["apiVersion: kubelet.config.k8s.io/v1beta1", f"cgroupDriver: {driver}" if driver else "", "clusterDNS:", "- 10.96.0.10"]
    lines += [f"cpuManagerPolicy: {cpus}" if cpus else "", "kind: KubeletConfiguration", "rotateCertificates: true"]
    return "\n".join(line for line in lines if line) + "\n"


def crio(driver: str = "systemd") -> str:
    """A file of /etc/crio/crio.conf.d."""
    return (
        f'[crio]\n\n[crio.runtime]\ncgroup_manager = "{driver}"\ndefault_runtime = "nvidia"\n\n[crio.runtime.runtimes.nvidia]\n'
        'runtime_path = "/usr/local/nvidia/toolkit/nvidia-container-runtime"\nruntime_type = "oci"\n'
    )


def docker(driver: str = "systemd", nvidia: bool = True) -> str:
    """/etc/docker/daemon.json."""
    runtimes = {"runtimes": {"nvidia": {"args": [], "path": "nvidia-container-runtime"}}} if nvidia else {}
    return json.dumps(
        {"exec-opts": [f"native.cgroupdriver={driver}"], "default-runtime": "nvidia" if nvidia else "runc", **runtimes}, indent=4
    )
