"""The kubelet's configuration: /var/lib/kubelet/config.yaml, /configz of a node's proxy, its options. Defaults are not filled in."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.configuration import KubeletConfig
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.parser import LINE, ParseError

# cgroupDriver: systemd  |  "cpuManagerPolicy": "static",        (YAML and JSON alike; all of them stand on the first level)
FIELD = regex(
    r"""^\s{0,16}"?(?P<key>cgroupDriver|cpuManagerPolicy|topologyManagerPolicy)"?: {0,8}["']?(?P<value>[A-Za-z-]{1,40})["']?,?\s*$"""
)
# KUBELET_KUBEADM_ARGS="--cgroup-driver=systemd --network-plugin=cni"  |  /usr/bin/kubelet … --cpu-manager-policy=static
FLAG = regex(r"--(?P<key>cgroup-driver|cpu-manager-policy|topology-manager-policy)[= ]['\"]?(?P<value>[a-z-]{1,40})")
FLAGS = {"cgroup-driver": "cgroup_driver", "cpu-manager-policy": "cpu_manager", "topology-manager-policy": "topology_manager"}
FIELDS = {"cgroupDriver": "cgroup_driver", "cpuManagerPolicy": "cpu_manager", "topologyManagerPolicy": "topology_manager"}
UNSAID = "the configuration doesn't say"


def kubelet(output: Output, about: Subject) -> Facts:
    """One record, and the known messages of the text. Raises `ParseError` for a text that is no KubeletConfiguration."""
    text = output.text
    whole = "KubeletConfiguration" in text or '"kubeletconfig"' in text
    found = of_json(text) if whole and text.lstrip()[:1] in "{[" else of_lines(text)
    if not whole and not found:
        raise ParseError(f"{output.origin_name()}: no KubeletConfiguration: {text.strip()[:80]!r}")
    number, line = next(((n, line) for n, line in enumerate(text.split("\n"), 1) if is_field(line)), (0, "KubeletConfiguration"))
    origin = Origin(output.origin_name(), number, line.strip()[:200])
    gaps = {field: UNSAID for field in FIELDS.values() if field not in found}
    said = scan_text(text, source="file", about=about, origin=origin) if whole else []
    made = KubeletConfig(
        node=about.node,
        cgroup_driver=found.get("cgroup_driver"),
        cpu_manager=found.get("cpu_manager"),
        topology_manager=found.get("topology_manager"),
        origin=origin,
        gaps=gaps,
    )
    return {"kubelets": [made], "messages": [*said]}


def of_lines(text: str) -> dict[str, str]:
    """The fields of YAML, line by line: what is below the first level has other names. An option of the command line goes before."""
    lines = [line[:LINE] for line in text.split("\n")]
    flags = {FLAGS[match["key"]]: match["value"] for line in lines if "--" in line for match in FLAG.finditer(line)}
    matches = (FIELD.match(line[:200]) for line in lines)
    return {FIELDS[match["key"]]: match["value"] for match in matches if match} | flags


def is_field(line: str) -> bool:
    """Whether a line says something that is read."""
    return FIELD.match(line[:200]) is not None or FLAG.search(line[:LINE]) is not None


def of_json(text: str) -> dict[str, str]:
    """The fields of JSON: the object, a list of objects with it, or /configz with it inside."""
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return of_lines(text)
    items = value if isinstance(value, list) else [value]
    for item in items:
        inner = item.get("kubeletconfig", item) if isinstance(item, dict) else None
        if isinstance(inner, dict) and FIELDS.keys() & inner.keys():
            return {field: inner[key][:40] for key, field in FIELDS.items() if isinstance(inner.get(key), str)}
    return {}
