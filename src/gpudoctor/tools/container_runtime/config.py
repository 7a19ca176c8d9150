"""What container runtimes are configured to do: the TOML of containerd, CRI-O and NVIDIA, Docker's daemon.json, docker info, crictl info.

containerd: docs/cri/config.md (`version` 2 until 1.7, 3 since 2.0, which resolves CDI names by default); CRI-O: crio.conf.5; NVIDIA's
config.toml: cmd/nvidia-ctk and internal/config of NVIDIA/nvidia-container-toolkit; Docker: the daemon's reference.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.configuration import RuntimeConfig
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.container_runtime.toml import Value, values
from gpudoctor.tools.parser import LINE, ParseError

NVIDIA = regex(r"nvidia-container-runtime(?:\.\w+)?$|^nvidia(?:-cdi|-legacy|-experimental)?$")
TOOLKIT = ("nvidia-container-cli", "nvidia-container-runtime", "nvidia-container-runtime-hook", "nvidia-ctk")
DRIVERS = {"true": "systemd", "false": "cgroupfs"}
UNSAID = "the configuration doesn't say"
# Keys that only Docker's daemon.json has.
OF_DOCKER = frozenset({"runtimes", "default-runtime", "exec-opts", "log-driver", "storage-driver", "data-root", "registry-mirrors", "bip"})
#  Default Runtime: runc            (docker info; the indentation differs between releases)
INFO = regex(r"^ {0,2}(Runtimes|Default Runtime|Cgroup Driver|Name): (\S.{0,300}?)\s*$", re.MULTILINE)
# Picked out by grep:
#  Cgroup Driver: cgroupfs  |  137:            SystemdCgroup = true  |  "systemdCgroup": false,  |  cgroup_manager = "systemd"
DRIVER_ALONE = regex(
    r"""^(?:\S{0,200}:)?(?:\d{1,6}[:-])?\s*(?:Cgroup Driver: (?P<docker>systemd|cgroupfs)"""
    r"""|"?[Ss]ystemdCgroup"? ?[=:] ?(?P<containerd>true|false)"""
    r"""|"?native\.cgroupdriver=(?P<daemon>\w+)"?|cgroup_manager ?= ?"(?P<crio>systemd|cgroupfs)"),?\s*$"""
)
# disabled_plugins = ["cri"]  |  ["io.containerd.grpc.v1.cri"]  |  ["io.containerd.cri.v1.runtime"]
CRI = regex(r"""["'](?:cri|io\.containerd\.grpc\.v1\.cri|io\.containerd\.cri\.v1\.runtime)["']""")
MOST = 200  # runtimes of one configuration


class Said:
    """What is read of one program while its file is read: its first line, fields of the fact, programs and cgroup drivers by runtime."""

    def __init__(self, program: str, line: int, text: str) -> None:
        self.program, self.line, self.text = program, line, text
        self.host = ""
        self.fields: dict[str, Any] = {}
        self.runtimes: dict[str, str] = {}  # name → the program that it runs, "" = not stated
        self.drivers: dict[str, str] = {}

    def fact(self, output: Output, node: str) -> RuntimeConfig:
        """The record, with gaps for what isn't stated."""
        nvidia = [name for name, program in self.runtimes.items() if NVIDIA.search(program or name)]
        default = self.fields.get("default_runtime")
        if self.program == "containerd" and self.runtimes:
            # SystemdCgroup is false where an entry doesn't have it.
            usual = default if default in self.runtimes and (default not in nvidia or "runc" not in self.runtimes) else "runc"
            self.fields["cgroup_driver_stated"] = usual in self.drivers
            self.fields.setdefault("cgroup_driver", self.drivers.get(usual, "cgroupfs") if usual in self.runtimes else None)
            self.fields["nvidia_cgroup_driver"] = self.drivers.get(nvidia[0], "cgroupfs") if nvidia else None
        unsaid = ("default_runtime", "cdi", "cgroup_driver", "nvidia_cgroup_driver")
        return RuntimeConfig(
            node=node,
            program=self.program,
            runtimes=list(self.runtimes)[:MOST],
            nvidia=bool(nvidia),
            origin=Origin(output.origin_name(), self.line, self.text),
            gaps={field: UNSAID for field in unsaid if self.fields.get(field) is None},
            **self.fields,
        )


def configs(output: Output, about: Subject) -> Facts:
    """One record for each program that the text configures. Raises `ParseError` where it configures none of these."""
    text = output.text
    found = of_json(text) if text.lstrip()[:1] == "{" else of_toml(text) or of_docker_info(text) or of_grep(text)
    if not found:
        raise ParseError(f"{output.origin_name()}: no configuration of a container runtime: {text.strip()[:80]!r}")
    return {"runtime_configs": [said.fact(output, about.node or said.host) for said in found]}


def of_toml(text: str) -> list[Said]:
    """The programs of a TOML file."""
    found: dict[str, Said] = {}
    lines = text.split("\n")
    top: dict[str, str] = {}
    for value in values(text):
        program = program_of(value.table)
        if program:
            shown = lines[value.line - 1][:LINE].strip()
            take_setting(found.setdefault(program, Said(program, value.line, shown)), value)
        elif not value.table:
            top[value.key] = value.value
    if containerd := found.get("containerd"):
        containerd.fields["cri_disabled"] = bool(CRI.search(top.get("disabled_plugins", "")))
        containerd.fields["elsewhere"] = '"' in top.get("imports", "") or "'" in top.get("imports", "")
        if top.get("version") == "3":
            containerd.fields.setdefault("cdi", True)
    return list(found.values())


def program_of(table: tuple[str, ...]) -> str:
    """Whose table it is, "" for none of these."""
    if table[:1] == ("plugins",) and len(table) > 1 and ("cri" in table[1].split(".") or table[1] == "cri"):
        return "containerd"
    if table[:1] == ("crio",):
        return "cri-o"
    return "nvidia-container-runtime" if table and table[0] in TOOLKIT else ""


def take_setting(said: Said, value: Value) -> None:
    """Read one line of a program's tables."""
    table, key = value.table, value.key
    if "runtimes" in table[:-1]:
        name = table[table.index("runtimes") + 1]
        said.runtimes.setdefault(name, "")
        if key in ("BinaryName", "runtime_path"):
            said.runtimes[name] = value.value
        elif key == "SystemdCgroup" and value.value in DRIVERS:
            said.drivers[name] = DRIVERS[value.value]
    elif key in ("default_runtime_name", "default_runtime"):
        said.fields["default_runtime"] = value.value
    elif key == "cgroup_manager" and value.value in DRIVERS.values():
        said.fields["cgroup_driver"] = value.value
    elif key == "enable_cdi" and value.value in DRIVERS:
        said.fields["cdi"] = value.value == "true"
    elif key == "no-cgroups" and table[0] == "nvidia-container-cli" and value.value in DRIVERS:
        said.fields["no_cgroups"] = value.value == "true"


def of_json(text: str) -> list[Said]:
    """Docker's daemon.json, or the answer of `crictl info`."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return []
    if not isinstance(value, dict):
        return []
    inner = value.get("config")
    if isinstance(inner, dict) and isinstance(inner.get("containerd"), dict):
        return [of_crictl(inner, inner["containerd"])]
    if OF_DOCKER & value.keys() and "kind" not in value:
        return [of_daemon(value)]
    return []


def of_crictl(config: dict[str, Any], containerd: dict[str, Any]) -> Said:
    """`crictl info` of containerd: the configuration that is in use, with all its files."""
    said = Said("containerd", 0, "")
    runtimes = containerd.get("runtimes")
    for name, runtime in runtimes.items() if isinstance(runtimes, dict) else ():
        options = runtime.get("options") if isinstance(runtime, dict) else None
        options = options if isinstance(options, dict) else {}
        said.runtimes[name] = text_of(options.get("BinaryName"))
        if isinstance(options.get("SystemdCgroup"), bool):
            said.drivers[name] = DRIVERS[str(options["SystemdCgroup"]).lower()]
    said.fields["default_runtime"] = text_of(containerd.get("defaultRuntimeName")) or None
    if isinstance(config.get("enableCDI"), bool):
        said.fields["cdi"] = config["enableCDI"]
    return said


def of_daemon(value: dict[str, Any]) -> Said:
    """Docker's daemon.json. Where it names no cgroup driver, that is systemd with cgroup v2 and cgroupfs before."""
    said = Said("docker", 0, "")
    runtimes = value.get("runtimes")
    for name, runtime in runtimes.items() if isinstance(runtimes, dict) else ():
        said.runtimes[name] = text_of(runtime.get("path")) if isinstance(runtime, dict) else ""
    said.fields["default_runtime"] = text_of(value.get("default-runtime")) or None
    options = value.get("exec-opts")
    for option in options if isinstance(options, list) else ():
        driver = text_of(option).removeprefix("native.cgroupdriver=")
        if driver in DRIVERS.values():
            said.fields["cgroup_driver"] = driver
    features = value.get("features")
    if isinstance(features, dict) and isinstance(features.get("cdi"), bool):
        said.fields["cdi"] = features["cdi"]
    return said


def of_docker_info(text: str) -> list[Said]:
    """`docker info`."""
    found = {match[1]: match for match in INFO.finditer(text)}
    if not {"Default Runtime", "Cgroup Driver"} <= found.keys():
        return []
    first = found["Default Runtime"]
    said = Said("docker", text.count("\n", 0, first.start()) + 1, first.group().strip())
    said.fields["default_runtime"] = first[2]
    said.runtimes = dict.fromkeys(found["Runtimes"][2].split(), "") if "Runtimes" in found else {}
    if found["Cgroup Driver"][2] in DRIVERS.values():
        said.fields["cgroup_driver"] = found["Cgroup Driver"][2]
    if "Name" in found and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}", found["Name"][2]):
        said.host = found["Name"][2]
    return [said]


def of_grep(text: str) -> list[Said]:
    """A program of which only the cgroup driver was picked out; where the entries of containerd don't agree, nothing is said."""
    found: dict[str, Said] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not (match := DRIVER_ALONE.match(line[:LINE])):
            continue
        driver = match["docker"] or match["daemon"] or match["crio"] or DRIVERS[match["containerd"]]
        program = "cri-o" if match["crio"] else "containerd" if match["containerd"] else "docker"
        said = found.setdefault(program, Said(program, number, line.strip()[:LINE]))
        said.fields["cgroup_driver"] = driver if said.fields.get("cgroup_driver", driver) == driver else None
    return [said for said in found.values() if said.fields["cgroup_driver"] in DRIVERS.values()]


def text_of(value: Any) -> str:
    """A text, "" for everything else."""
    return value[:253] if isinstance(value, str) else ""
