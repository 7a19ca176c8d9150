"""What would settle a check that files leave open: the command that shows, of the thing in question, what they don't.

A live run knows what it has asked. Of a file nobody knows how it was made, so the type of the record tells.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from gpudoctor.facts import Fact
from gpudoctor.patterns import regex
from gpudoctor.runbook.conditions import Types, Values
from gpudoctor.runbook.templates import expression_text, split_template

MOST = 3  # commands for one check
FIELD = regex(r"\{([a-z_]+)\}")
POD = "kubectl get pod {pod} -n {namespace} -o yaml"
QUERY = "nvidia-smi -q  # on {node}"
KERNEL = "dmesg --time-format=iso  # on {node}"
BUS = "lspci -D -nn -k -vv -d 10de:  # on {node}"
PORTS = "ibstat  # on {node}"
# Fact type → the command; a field of the record stands in braces.
COMMANDS: dict[str, str] = {
    "allocations": QUERY,
    "claims": "kubectl get pvc {claim} -n {namespace} -o yaml",
    "containers": POD,
    "dcgm_health": "dcgmi health -c  # on {node}",
    "events": "kubectl get events -n {namespace} -o yaml",
    "gids": "show_gids  # on {node}",
    "gpu_errors": KERNEL,
    "gpu_paths": "nvidia-smi topo -m  # on {node}",
    "gpu_samples": "nvidia-smi dmon -c 10  # on {node}",
    "gpus": QUERY,
    "ib_counters": "perfquery -x  # on {node}",
    "ib_ports": PORTS,
    "interfaces": "ip -d link  # on {node}",
    "kernel_modules": "cat /proc/modules  # on {node}",
    "kubelets": "kubectl get --raw /api/v1/nodes/{node}/proxy/configz",
    "limits": "cat /proc/self/limits  # in the container or on {node}",
    "nodes": "kubectl get node {node} -o yaml",
    "nvlinks": "nvidia-smi nvlink -s  # on {node}",
    "pci_devices": BUS,
    "pods": POD,
    "quotas": "kubectl get resourcequota {quota} -n {namespace} -o yaml",
    "runtime_configs": "crictl info  # on {node}",
    "scheduling": "kubectl get nodes -o yaml",
    "smi": QUERY,
    "stack": POD,
    "sxids": KERNEL,
    "throttling": "nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE,POWER  # on {node}",
    "units": "systemctl show {unit}  # on {node}",
    "waits": POD,
    "workloads": "kubectl get {workload} -n {namespace} -o yaml",
    "xids": KERNEL,
}


def commands(kind: str, records: Iterable[Fact]) -> list[str]:
    """The commands for records of a type, each once.

    >>> from gpudoctor.facts.kubernetes import Node
    >>> commands("nodes", [Node(node="gpu-07"), Node(node="gpu-07"), Node(node="")])
    ['kubectl get node gpu-07 -o yaml', "kubectl get node '<node>' -o yaml"]
    """
    template = COMMANDS.get(kind)
    if template is None:
        return []
    return list(dict.fromkeys(fill_names(template, record) for record in records))[:MOST]


def fill_names(template: str, record: Fact) -> str:
    """Fill the names of a record into a command."""
    return FIELD.sub(lambda match: shell_field(record, match[1]), template)


def shell_field(record: Fact, field: str) -> str:
    """A field of a record as a word for the shell."""
    value = getattr(record, field, "")
    return word(value if isinstance(value, str) else "", field)


def word(value: str, name: str) -> str:
    """A value as one word of a shell line; what isn't known, or would be an option, is its name in angle brackets."""
    return shlex.quote(value if value and not value.startswith("-") else f"<{name}>")


def pasteable_command(command: str, types: Types, values: Values) -> str:
    """A command for a person to paste: what was read stands in it quoted, and never as an option; what is not known is `'<pod>'`."""
    made = ""
    for kind, part in split_template(command):
        value = part if kind == "text" else expression_text(part, types, values, "")
        made += value if kind == "text" else word(value, part.rpartition(".")[2])
    return made
