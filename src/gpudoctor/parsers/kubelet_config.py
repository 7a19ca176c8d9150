"""The kubelet's configuration: /var/lib/kubelet/config.yaml, or /configz of a node's proxy. Defaults are not filled in."""

from __future__ import annotations

from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.configuration import KubeletConfig
from gpudoctor.parsers import ParseError
from gpudoctor.parsers.messages import scan_text
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

# cgroupDriver: systemd  |  "cpuManagerPolicy": "static",        (YAML and JSON alike; all of them stand on the first level)
FIELD = regex(
    r"""^\s{0,16}"?(?P<key>cgroupDriver|cpuManagerPolicy|topologyManagerPolicy)"?: {0,8}["']?(?P<value>[A-Za-z-]{1,40})["']?,?\s*$"""
)
FIELDS = {"cgroupDriver": "cgroup_driver", "cpuManagerPolicy": "cpu_manager", "topologyManagerPolicy": "topology_manager"}
UNSAID = "the configuration doesn't say"


def kubelet(output: Output, about: Subject) -> Facts:
    """One record, and the known messages of the text. Raises `ParseError` for a text that is no KubeletConfiguration."""
    text = output.text
    if "KubeletConfiguration" not in text and '"kubeletconfig"' not in text:
        raise ParseError(f"{output.named()}: no KubeletConfiguration: {text.strip()[:80]!r}")
    found = of_json(text) if text.lstrip()[:1] in "{[" else of_lines(text)
    number, line = next(((n, line) for n, line in enumerate(text.split("\n"), 1) if FIELD.match(line[:200])), (0, "KubeletConfiguration"))
    origin = Origin(output.named(), number, line.strip()[:200])
    gaps = {field: UNSAID for field in FIELDS.values() if field not in found}
    said = scan_text(text, source="file", about=about, origin=origin)
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
    """The fields of YAML, line by line: what is below the first level has other names."""
    matches = (FIELD.match(line[:200]) for line in text.split("\n"))
    return {FIELDS[match["key"]]: match["value"] for match in matches if match}


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
