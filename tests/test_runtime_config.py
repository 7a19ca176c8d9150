"""Configurations of container runtimes and of the kubelet: what is read of them, recognised, and found by comparing them."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Subject
from gpudoctor.intake import recognise
from gpudoctor.intake.hints import Hint
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.runbook.allowed import OF_KUBELET, OF_RUNTIME, refusal
from gpudoctor.tools.parser import ParseError
from tests.nodes import configs

NODE = Subject(kind="node", node="gpu-07")
INFO = """\
Server:
 Containers: 3
 Server Version: 27.3.1
 Storage Driver: overlay2
 Cgroup Driver: systemd
 Cgroup Version: 2
 Runtimes: io.containerd.runc.v2 nvidia runc
 Default Runtime: nvidia
 Name: gpu-07
"""
CRICTL = {
    "status": {"conditions": []},
    "config": {
        "containerd": {
            "defaultRuntimeName": "runc",
            "runtimes": {
                "runc": {"runtimeType": "io.containerd.runc.v2", "options": {"SystemdCgroup": True}},
                "nvidia": {"options": {"BinaryName": "/usr/bin/nvidia-container-runtime", "SystemdCgroup": False}},
            },
        },
        "enableCDI": True,
    },
}
FORMS = {
    "containerd 1": configs.containerd(),
    "containerd 2": configs.containerd(version=3),
    "what the runbook reads": configs.grepped(configs.containerd()),
    "cri-o": configs.crio(),
    "docker": configs.docker(),
    "docker info": INFO,
    "crictl info": json.dumps(CRICTL, indent=2),
    "nvidia": configs.toolkit(),
}


def read(parser: str, text: str, about: Subject = NODE) -> Any:
    facts = load(parser)(Output(command=Command(()), pages=(text.encode(),), source="config"), about)
    (one,) = facts["runtime_configs" if parser == "runtime.config" else "kubelets"]
    return one


def runtime(text: str) -> Any:
    return read("runtime.config", text)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_recognised(form: str) -> None:
    assert recognise.recognise(FORMS[form], Hint())[0].name == "runtime.config"
    assert runtime(FORMS[form]).node == "gpu-07"


@pytest.mark.parametrize("form", [name for name in FORMS if name != "nvidia"])
def test_every_form_tells_that_nvidias_runtime_is_there(form: str) -> None:
    one = runtime(FORMS[form])
    assert one.nvidia
    assert "nvidia" in one.runtimes
    assert one.default_runtime in ("runc", "nvidia")
    assert one.cgroup_driver == "systemd"


def test_containerd() -> None:
    one = runtime(configs.containerd(nvidia=False, imports="/etc/containerd/conf.d/*.toml", cdi=True))
    assert (one.program, one.cgroup_driver, one.nvidia_cgroup_driver, one.elsewhere, one.cdi) == (
        "containerd",
        "systemd",
        "cgroupfs",
        True,
        True,
    )
    assert one.origin.line == 5
    one = runtime(configs.containerd(runc=None, nvidia=None))
    assert (one.nvidia, one.cgroup_driver, one.cdi, one.gaps["cdi"]) == (False, "cgroupfs", None, "the configuration doesn't say")
    assert runtime(configs.containerd(version=3)).cdi
    assert runtime('[plugins."io.containerd.grpc.v1.cri"]\n  sandbox_image = "x"\n').cgroup_driver is None


def test_the_default_runtime_may_be_nvidias() -> None:
    one = runtime(configs.containerd(runc=False, nvidia=True, default="nvidia"))
    assert (one.default_runtime, one.cgroup_driver, one.nvidia_cgroup_driver) == ("nvidia", "cgroupfs", "systemd")


def test_the_other_programs() -> None:
    assert runtime(configs.crio("cgroupfs")).cgroup_driver == "cgroupfs"
    assert runtime(configs.docker("cgroupfs", nvidia=False)).nvidia is False
    assert read("runtime.config", INFO, Subject(kind="cluster")).node == "gpu-07"
    assert runtime(json.dumps(CRICTL)).nvidia_cgroup_driver == "cgroupfs"
    assert [runtime(configs.toolkit(value)).no_cgroups for value in (None, False, True)] == [False, False, True]


def test_the_kubelet() -> None:
    one = read("kubelet.config", configs.kubelet("cgroupfs", "static"))
    assert (one.cgroup_driver, one.cpu_manager, one.topology_manager) == ("cgroupfs", "static", None)
    served = json.dumps({"kubeletconfig": {"cgroupDriver": "systemd", "topologyManagerPolicy": "single-numa-node", "kind": "x"}})
    assert read("kubelet.config", served).topology_manager == "single-numa-node"
    for text in (configs.kubelet(), served):
        assert recognise.recognise(text, Hint())[0].name == "kubelet.config"
    with pytest.raises(ParseError, match="config: no KubeletConfiguration"):
        read("kubelet.config", "apiVersion: v1\nkind: Pod\n")


@pytest.mark.parametrize("text", ["", "[package]\nname = 'x'\n", '{"kind": "Pod"}', "{", "not a configuration"])
def test_what_configures_nothing_of_it_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="config: no configuration of a container runtime"):
        runtime(text)


def test_a_broken_line_loses_no_other() -> None:
    assert runtime(configs.containerd().replace("[plugins]", "[plugins\n???\x00 = [\n")).nvidia_cgroup_driver == "systemd"


def test_a_paste_of_both_files_finds_that_they_disagree(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        f"[root@gpu-07 ~]# cat /etc/containerd/config.toml\n{configs.containerd(runc=False)}"
        f"[root@gpu-07 ~]# cat /var/lib/kubelet/config.yaml\n{configs.kubelet()}"
    )
    gathered = gather([str(tmp_path)])
    assert gathered.inputs[0].recognised_as == ["runtime.config", "kubelet.config"]
    assert gathered.facts["kubelets"][0].origin.text == "cgroupDriver: systemd"


def test_of_these_files_only_harmless_lines_may_be_asked() -> None:
    """The registry's password may stand in the same file."""
    path, kubelet = "/etc/containerd/config.toml", "/var/lib/kubelet/config.yaml"
    assert refusal(["grep", "-E", "-e", OF_RUNTIME, path]) == ""
    assert refusal(["grep", "-E", "-e", OF_KUBELET, kubelet]) == ""
    for argv in (
        ["cat", path],
        ["grep", "-E", "-e", "password", path],
        ["grep", "-E", "-e", "", kubelet],
        ["grep", "-E", "-e", OF_RUNTIME, path, kubelet],
    ):
        assert refusal(argv)


@settings(max_examples=60)
@given(st.sampled_from(sorted(FORMS.values())), st.integers(0, 1500), st.binary(max_size=12))
def test_any_cut_text_is_read_or_refused(text: str, end: int, noise: bytes) -> None:
    output = Output(command=Command(()), pages=(text.encode()[:end] + noise,), source="config")
    for parser in ("runtime.config", "kubelet.config"):
        with contextlib.suppress(ParseError):
            load(parser)(output, NODE)


@pytest.mark.parametrize(
    "line", ['[plugins."io.containerd.grpc.v1.cri".runtimes.a', "a = " + '"' * 50, "[" * 60, " " * 80, "Runtimes: " + "a " * 40]
)
def test_a_megabyte_is_read_in_linear_time(line: str) -> None:
    text = "[crio.runtime]\n" + f"{line}\n" * (1_000_000 // (len(line) + 1))
    started = time.monotonic()
    runtime(text)
    assert time.monotonic() - started < 10


PLUGIN = """\
version: v1
sharing:
  timeSlicing:
    renameByDefault: false
    resources:
    - name: nvidia.com/gpu
      replicas: 4
"""
LAYOUTS = "version: v1\nmig-configs:\n  all-1g.10gb:\n  - devices: all\n    mig-enabled: true\n    mig-devices: {1g.10gb: 7}\n"


@pytest.mark.parametrize(("text", "tool"), [(PLUGIN, "device-plugin"), (LAYOUTS, "mig-manager")])
def test_a_configuration_without_its_config_map(text: str, tool: str) -> None:
    assert recognise.recognise(text, Hint())[0].name == "runtime.stack_config"
    (one,) = load("runtime.stack_config")(Output(command=Command(()), pages=(text.encode(),), source="config"), NODE)["stack_configs"]
    assert (one.tool, one.key, one.config_map) == (tool, "", "config")  # type: ignore[attr-defined]


def test_a_config_map_keeps_its_own_parser() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  any: |\n    sharing:\n      timeSlicing:\n        resources: []\n"
    )
    assert recognise.recognise(text, Hint())[0].name == "kubernetes.objects"
    with pytest.raises(ParseError, match="config: no configuration of the device plugin"):
        load("runtime.stack_config")(Output(command=Command(()), pages=(b"a: 1",), source="config"), NODE)
