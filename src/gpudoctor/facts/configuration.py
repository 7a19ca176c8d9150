"""Facts about how the programs between the kubelet and a container are configured, on one machine or by the GPU operator."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class RuntimeConfig(Fact, frozen=True, kw_only=True):
    """The configuration of one program: containerd, cri-o, docker, or nvidia-container-runtime. What isn't stated is None.

    Cgroup drivers are `systemd` or `cgroupfs`.
    """

    node: str = ""
    program: str
    default_runtime: str | None = None
    runtimes: list[str] = []  # names of the runtimes that it knows
    nvidia: bool = False  # one of them is NVIDIA's
    cdi: bool | None = None  # whether it resolves CDI device names
    cgroup_driver: str | None = None  # of the runtime that containers have by default
    cgroup_driver_stated: bool = True  # not only by what holds without a word
    nvidia_cgroup_driver: str | None = None  # of NVIDIA's runtime
    elsewhere: bool = False  # it takes further files in, which may say more
    no_cgroups: bool = False  # of nvidia-container-runtime: it leaves the device cgroup alone
    cri_disabled: bool = False  # of containerd: the plugin that serves the kubelet is switched off


class KubeletConfig(Fact, frozen=True, kw_only=True):
    """A KubeletConfiguration, as far as it concerns GPUs. What isn't stated is None."""

    node: str = ""
    cgroup_driver: str | None = None  # systemd, cgroupfs
    cpu_manager: str | None = None  # none, static
    topology_manager: str | None = None  # none, best-effort, restricted, single-numa-node


class ClusterPolicy(Fact, frozen=True, kw_only=True):
    """What the GPU operator is told, by its ClusterPolicy or the values of its chart. What wasn't shown is None."""

    describes = True
    strategy: str | None = None  # of MIG: none, single, mixed
    plugin: bool | None = None  # whether the operator runs the device plugin
    sharing: str | None = None  # the ConfigMap with the plugin's configurations, "" for none
    default: str | None = None  # the configuration for nodes that choose none, "" for none
