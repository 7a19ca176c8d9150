"""What the folders and names of a collection say: must-gather, sosreport, /var/log/pods. They add names and never decide what a text is.

Every pattern has one path above it. A host that a sosreport names in a file of its own is joined to the whole report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from gpudoctor.facts import Subject
from gpudoctor.patterns import regex

OBJECT = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"  # of Kubernetes
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
# The same as short as what follows allows.
OBJECT_, HOST_ = r"[a-z0-9][a-z0-9.-]{0,252}", r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}"
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, regex(pattern))
    for kind, pattern in (
        # namespaces/gpu-operator/pods/nvidia-driver-daemonset-x2x7k/nvidia-driver-ctr/nvidia-driver-ctr/logs/current.log
        ("pod", rf"/namespaces/(?P<namespace>{OBJECT})/pods/(?P<pod>{OBJECT})/(?P<container>{OBJECT})/(?P=container)/logs/"),
        ("pod", rf"/namespaces/(?P<namespace>{OBJECT})/pods/(?P<pod>{OBJECT})/"),
        # var/log/pods/ml_train-0_1f0a…/main/0.log
        ("pod", rf"/log/pods/(?P<namespace>{OBJECT})_(?P<pod>{OBJECT})_[0-9a-f-]{{32,36}}/(?P<container>{OBJECT})/"),
        # var/log/containers/train-0_ml_main-<64 hexadecimal digits>.log
        ("pod", rf"/log/containers/(?P<pod>{OBJECT})_(?P<namespace>{OBJECT})_(?P<container>{OBJECT})-[0-9a-f]{{64}}\.log"),
        # gpu_operand_pod_nvidia-dcgm-exporter-x2x7k.previous.log
        ("pod", rf"/gpu_operand_pod_(?P<pod>{OBJECT_}?)(?:\.previous)?\.(?:log|descr)"),
        # nvidia-bug-report_gpu-07.log.gz
        ("node", rf"/nvidia-bug-report[_-](?P<node>{HOST_}?)\.log"),
        # must-gather.local.1/quay-io-…/nodes/gpu-07/dmesg
        ("node", rf"/nodes/(?P<node>{HOST})/[^/]"),
        # sosreport-gpu-07-case1234-2026-03-01-abcdefg/sos_commands/…
        ("node", rf"/sosreport-(?P<node>{HOST_}?)(?:-\d{{5,12}})?-20\d\d-\d\d-\d\d-[a-z]{{7}}(?:\.tar(?:\.\w{{2,4}})?)?/"),
    )
)
# sos_commands/nvidia/nvidia-smi_-q: what sos ran, with `_` for a space
SOS = regex(r"/sos_commands/[\w.-]{1,60}/(?P<command>[A-Za-z][^/]{0,200})$")
# The files in which a report of a machine says its name.
NAMED = regex(r"^(?P<root>.{1,4000}?/)(?:etc/hostname|sos_commands/(?:host|general)/hostname(?:_-f)?|(?<!/etc/)hostname)$")


def of_path(path: str) -> Subject:
    """The pod or node that a path names.

    >>> of_path("mg/namespaces/ml/pods/train-0/main/main/logs/current.log").name, of_path("nvidia-bug-report_gpu-07.log.gz").node
    ('ml/train-0', 'gpu-07')
    """
    whole = f"/{path}"
    for kind, pattern in PATTERNS:
        if match := pattern.search(whole):
            return Subject(kind=kind, **{key: value for key, value in match.groupdict().items() if value})
    return Subject(kind="cluster")


def command_of(path: str) -> str:
    """The command that a file of a sosreport is named after, "" for any other file.

    >>> command_of("sos/sos_commands/kernel/dmesg_-T"), command_of("dmesg.txt")
    ('dmesg -T', '')
    """
    match = SOS.search(f"/{path}")
    return match["command"].replace("_", " ") if match else ""


def hosts(files: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Folder → the machine whose report it holds, from (path, content) of files that say a host's name."""
    found: dict[str, str] = {}
    for path, data in files:
        if (match := NAMED.match(path)) and len(data) < 300:
            name = data.decode("utf-8", "replace").strip()
            if re.fullmatch(HOST, name):
                found.setdefault(match["root"], name)
    return found


def on_host(about: Subject, path: str, named: dict[str, str]) -> Subject:
    """The subject with the machine of the report that a path lies in, where nothing nearer names one."""
    if about.node or about.pod or not named:
        return about
    node = next((name for root, name in named.items() if path.startswith(root)), "")
    return msgspec.structs.replace(about, kind="node" if about.kind == "cluster" else about.kind, node=node) if node else about
