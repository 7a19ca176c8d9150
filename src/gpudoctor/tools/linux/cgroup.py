"""`/proc/PID/cgroup`: which pod and container a process belongs to. Control groups of version 1 (a line each) and 2 (one line)."""

from __future__ import annotations

import re

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import ProcessPod
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import LINE, ParseError

# 0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3f2a9c1e_7b4d_4e0a_9d55_0c1b2a3d4e5f.slice/cri-containerd-….scope
# 11:memory:/kubepods/burstable/pod3f2a9c1e-7b4d-4e0a-9d55-0c1b2a3d4e5f/…: kubelet's drivers systemd and cgroupfs
# (kubernetes pkg/kubelet/cm: cgroup names of pods)
POD = regex(r"kubepods[^\s]{0,64}?[/-]pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})\b")
# …/cri-containerd-HEX.scope | …/crio-HEX.scope | …/docker-HEX.scope | …/pod…/HEX | /docker/HEX | …:cri-containerd:HEX
CONTAINER = regex(r"(?:[/:]|cri-containerd-|crio-|docker-|libpod-)([0-9a-f]{64})(?:\.scope)?(?:/|$)")
# 0::/…  |  12:devices:/…  |  1:name=systemd:/…
ENTRY = regex(r"\d{1,4}:[^:/]{0,200}:/")
PROCESS = regex(r"/proc/(\d{1,10})/cgroup\Z")


def cgroup(output: Output, about: Subject) -> Facts:
    """The pod and container of the process whose number stands in the command. One outside of any gives a record without names."""
    pid = next((int(match.group(1)) for part in output.command.argv if (match := PROCESS.match(part))), None)
    lines = [line[:LINE] for line in output.text.split("\n") if line.strip()]
    if pid is None or not any(ENTRY.match(line) for line in lines):
        if not lines:
            return {"process_pods": []}
        raise ParseError(f"{output.origin_name()}: no control groups of a process: {lines[0][:200]}")
    pod = first_capture(POD, lines)
    return {
        "process_pods": [
            ProcessPod(
                node=about.node,
                pid=pid,
                pod_uid=pod.replace("_", "-"),  # static pods have 32 digits without dashes
                container_id=first_capture(CONTAINER, lines),
                origin=Origin(output.origin_name(), 1, next((line for line in lines if pod and pod in line), lines[0]).strip()),
            )
        ]
    }


def first_capture(pattern: re.Pattern[str], lines: list[str]) -> str:
    """The group that a pattern captures in the first line that matches."""
    return next((match.group(1) for line in lines if (match := pattern.search(line))), "")
