"""Tables of `kubectl get`: pods and nodes with or without their header, workloads, claims, quotas, Kueue's workloads."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Node, Pod, Workload
from gpudoctor.knowledge import components
from gpudoctor.knowledge.resources import has_nvidia_gpu
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl import events as kubectl_events
from gpudoctor.tools.kubectl import get_claims, get_taints
from gpudoctor.tools.kubectl.ages import AGE_WORD, seconds
from gpudoctor.tools.kubectl.columns import Row, cells, header
from gpudoctor.tools.kubectl.get_labels import LABELS, asked_labels, label_cells, selector_labels
from gpudoctor.tools.kubectl.get_taints import whole_number
from gpudoctor.tools.kubernetes.nodes import leaves
from gpudoctor.tools.parser import LINE

# [kube-system ]train-0   0/1   Init:CrashLoopBackOff   12 (3m ago)   65m[   10.0.0.7   gpu-02   <none>   <none>]
POD = regex(
    r"^\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]{0,62})\s+)?(?:pods?/)?(?P<pod>[a-z0-9][a-z0-9.-]{0,252})\s+(?P<ready>\d{1,3})/(?P<all>\d{1,3})\s+"
    rf"(?P<status>[A-Z][A-Za-z0-9:/.-]{{2,80}})\s+(?P<restarts>\d{{1,7}})"
    rf"(?:\s+\((?P<ago>\S{{1,20}}) ago\))?\s+(?P<age>{AGE_WORD})(?P<rest>\s.*|$)"
)
# gpu-02   NotReady,SchedulingDisabled   worker   19d   v1.31.2[   10.0.0.2   <none>   Ubuntu 24.04 LTS   6.8.0   containerd://2.1.6]
NODE = regex(
    r"^\s*(?:nodes?/)?(?P<node>[a-z0-9][a-z0-9.-]{0,252})\s+(?P<status>(?:Ready|NotReady|Unknown)(?:,SchedulingDisabled)?|SchedulingDisabled)\s+"
    rf"(?P<roles>\S{{1,200}})\s+(?P<age>{AGE_WORD})\s+(?P<version>v\d\S{{1,60}})(?P<rest>\s.*|$)"
)
ADDRESS = regex(r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}:[0-9a-f:]{1,40})$")
#   10.0.0.4   <none>   Ubuntu 22.04.4 LTS   5.15.0-105-generic   containerd://1.7.12
WIDE = regex(r"^\s*\S{1,64}\s+\S{1,64}\s+(?P<os>\S.{1,100}?)\s{2,}(?P<kernel>\d\S{1,80})\s+[a-z-]{3,20}://")
RUNTIME = regex(r"\b(?:containerd|docker|cri-o)://\S{1,60}")
# kubectl get ds -n kube-system nvidia-device-plugin: DESIRED 0      (in the words of a person)
WANTED = regex(
    r"\bkubectl get (?:ds|daemonsets?)(?: (?:-n|--namespace)[ =](?P<namespace>[a-z0-9-]{1,63})| -A| -o wide)*"
    r" (?P<name>[a-z0-9][a-z0-9-]{0,62})\b.{0,80}\bDESIRED\W{1,4}(?P<desired>\d{1,6})\b"
)
# cluster-policy   ready   2026-03-01T10:11:12Z      (what the GPU operator makes; one that isn't ready says too little to be understood)
OPERATOR = regex(rf"^\s*(?:[a-z.]{{5,60}}/)?[a-z0-9][a-z0-9.-]{{0,252}}\s+ready\s+(?:\d{{4}}-\d\d-\d\dT[\d:]{{8}}Z|{AGE_WORD})\s*$")
NOTES = 20  # the score of a person's words: the lines around them are read too
POD_SHOWN = {"namespace", "pod", "status", "phase", "ready", "restarts", "restarted", "age", "deleting", "component"}
NODE_SHOWN = {"node", "ready", "unschedulable", "leaving", "age", "kubelet_version"}
ENDED = {
    "Completed": "Succeeded",
    "Succeeded": "Succeeded",
    "Error": "Failed",
    "Failed": "Failed",
    "Evicted": "Failed",
    "Running": "Running",
}
PENDING = ("Pending", "ContainerCreating", "Init:", "PodInitializing", "SchedulingGated", "ImagePullBackOff", "ErrImagePull")
# web  |  deployment.apps/web  |  system:node:gpu-02
NAMED = regex(r"[A-Za-z0-9](?:[\w.:/-]*[A-Za-z0-9])?")


def score(lines: list[str]) -> int:
    """0 to 80: whether a header of a known table, or a row of pods or nodes that needs none, is there."""
    if any(kind_of(header(line)) for line in lines):
        return 80
    if any(POD.match(line) or NODE.match(line) or OPERATOR.match(line) for line in lines):
        return 65
    return NOTES if any(WANTED.search(line) for line in lines) else 0


def tables(output: Output, about: Subject) -> Facts:
    """The facts of all tables in one text."""
    lines = [line[:LINE].rstrip("\r ") for line in output.text.split("\n")]
    facts: Facts = {}
    titles: list[tuple[int, str]] = []
    kind = ""
    loose: list[tuple[int, str]] = []  # of something else that was pasted below a table
    known = LABELS | asked_labels(output.command.argv)
    for number, line in enumerate(lines, 1):
        origin = Origin(output.origin_name(), number, line.strip())
        columns = header(line)
        if columns:
            titles, kind = columns, kind_of(columns)
            for name in ROWS[kind].fills if kind else ():
                facts.setdefault(name, [])
        elif not line.strip():
            titles, kind = [], ""
        elif match := POD.match(line):
            facts.setdefault("pods", []).append(pod(match, about, origin))
        elif match := NODE.match(line):
            keys = [known[title] for _, title in titles if title in known]
            labels = selector_labels(output.command.argv) | label_cells(line, titles, known)
            all_of_them = bool(titles) and titles[-1][1] == "LABELS"
            facts.setdefault("nodes", []).append(node(match, origin, labels, [] if all_of_them else [*dict.fromkeys((*keys, *labels))]))
        elif match := WANTED.search(line):
            facts.setdefault("workloads", []).extend(
                workload("DaemonSet", {key.upper(): value for key, value in match.groupdict(default="").items()}, about, origin)
            )
        elif (
            kind
            and kind not in ("pods", "nodes", "events")
            and NAMED.fullmatch((row := cells(line, titles)).get("NAME", "").removesuffix(" (default)"))
        ):
            found = ROWS[kind].read(row, about, origin)
            for name in ROWS[kind].fills:
                facts[name] += found
        elif not columns:
            loose.append((number, line))
    events = kubectl_events.events(lines, output.origin_name(), about)
    for name, records in events.items():
        if records:
            facts.setdefault(name, []).extend(records)
    used = {number for line in kubectl_events.find(lines) for number in line.used}
    for number, line in loose:
        if number not in used:
            origin = Origin(output.origin_name(), number, line.strip())
            facts.setdefault("messages", []).extend(scan_text(line, source="status", about=about, origin=origin))
    return facts


def kind_of(titles: list[tuple[int, str]]) -> str:
    """The table that has these columns, "" for a table that is not read."""
    names = {name for _, name in titles}
    return next(
        (kind for kind, table in ROWS.items() if names >= table.columns and (not table.beside or names <= table.columns | table.beside)), ""
    )


def pod(match: re.Match[str], about: Subject, origin: Origin) -> Pod:
    """One pod: what the table shows; everything else is a gap."""
    seen = match.groupdict()
    status = seen["status"]
    wide = seen["rest"].split()
    name = seen["pod"]
    # With -o wide: IP, NODE. The restart's age may have been cut off before them.
    on = wide[1] if len(wide) >= 2 and (wide[0] == "<none>" or ADDRESS.match(wide[0])) and wide[1] != "<none>" else ""
    phase = ENDED.get(status) or ("Pending" if status.startswith(PENDING) else "")
    shown = POD_SHOWN | ({"node", "scheduled"} if len(wide) >= 2 else set())
    return Pod(
        namespace=seen["namespace"] or about.namespace,
        pod=name,
        node=on,
        scheduled=bool(on) or status not in ("Pending", "SchedulingGated"),
        phase=phase,
        status=status,
        age=seconds(seen["age"]),
        ready=seen["ready"] == seen["all"] and seen["all"] != "0",
        deleting=status == "Terminating",
        restarts=int(seen["restarts"]),
        restarted=seconds(seen["ago"]) if seen["ago"] else None,
        component=components.of_name(name),
        gaps=gaps(Pod, shown, "not shown by kubectl get pods"),
        origin=origin,
    )


def node(match: re.Match[str], origin: Origin, labels: dict[str, str], keys: list[str]) -> Node:
    """One node: whether it is ready and cordoned, its version; its resources and taints are gaps."""
    states = match["status"].split(",")
    runtime = RUNTIME.search(match["rest"])
    wide = WIDE.match(match["rest"])
    present = has_nvidia_gpu(labels, ())
    shown = NODE_SHOWN | ({"runtime_version"} if runtime else set()) | ({"labels"} if labels else set())
    shown |= {"os_image", "kernel_version"} if wide else set()
    shown |= ({"label_keys"} if keys or labels else set()) | ({"gpu_present"} if present else set())
    return Node(
        node=match["node"],
        ready="Ready" in states if states[0] != "SchedulingDisabled" else None,
        unschedulable="SchedulingDisabled" in states,
        leaving=leaves("SchedulingDisabled" in states, runtime.group() if runtime else "", ()),
        age=seconds(match["age"]),
        labels=labels,
        label_keys=keys,
        gpu_present=present,
        kubelet_version=match["version"],
        runtime_version=runtime.group() if runtime else "",
        os_image=wide["os"] if wide else "",
        kernel_version=wide["kernel"] if wide else "",
        gaps=gaps(Node, shown, "not shown by kubectl get nodes"),
        origin=origin,
    )


def workload(kind: str, row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """One controller. `READY 1/2` and `COMPLETIONS 1/2` are ready and desired."""
    name = row.get("NAME", "")
    if match := get_claims.PREFIX.match(name):
        name = match.group(2)
    ready, _, wanted = (row.get("COMPLETIONS") or row.get("READY", "")).partition("/")
    selector = row.get("NODE SELECTOR", "")
    conditions = kueue_conditions(row) if kind == "Workload" else {}
    made = Workload(
        namespace=row.get("NAMESPACE", "") or about.namespace,
        workload=f"{kind}/{name}",
        kind=kind,
        name=name,
        component=components.of_name(name),
        suspended=row.get("STATUS") == "Suspended",
        status=row.get("STATUS", "") if kind == "Job" else "",
        desired=whole_number(row.get("DESIRED", "")) if "DESIRED" in row else whole_number(wanted.split(" ")[0]),
        current=whole_number(row.get("CURRENT", "")),
        ready=whole_number(ready),
        updated=whole_number(row.get("UP-TO-DATE", "")),
        age=seconds(row.get("AGE", "")),
        queue_name=row.get("QUEUE", ""),
        node_selector=dict(pair.split("=", 1) for pair in selector.split(",") if "=" in pair),
        conditions=conditions,
        origin=origin,
    )
    return [made] if name else []


def kueue_conditions(row: Row) -> dict[str, str]:
    """The conditions of a Kueue Workload that its columns stand for; an empty cell says that it isn't so (yet)."""
    columns = (("QuotaReserved", "RESERVED IN"), ("Admitted", "ADMITTED"), ("Finished", "FINISHED"))
    return {f"{condition}={'True' if row.get(title) not in (None, '', 'False') else 'False'}": "" for condition, title in columns}


class Table(msgspec.Struct, frozen=True):
    """A table that is read: the columns that only it has, the fact types it fills, what makes facts of a row."""

    columns: frozenset[str]
    fills: tuple[str, ...]
    read: Callable[[Row, Subject, Origin], list[Fact]]
    beside: frozenset[str] = frozenset()  # the other columns that it may have, where any kind of object could have its own


def _controller(kind: str) -> Callable[[Row, Subject, Origin], list[Fact]]:
    return lambda row, about, origin: workload(kind, row, about, origin)


def _no_facts(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    return []  # rows of this table are known by their shape, or it is the events'


# In order: the first whose columns all occur.
ROWS: dict[str, Table] = {
    "pods": Table(frozenset(("NAME", "READY", "STATUS", "RESTARTS")), ("pods",), _no_facts),
    "nodes": Table(frozenset(("NAME", "STATUS", "ROLES", "VERSION")), ("nodes",), _no_facts),
    "events": Table(frozenset(("TYPE", "REASON", "MESSAGE")), ("events",), _no_facts),
    "daemonsets": Table(frozenset(("NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE")), ("workloads",), _controller("DaemonSet")),
    # columns that somebody left away
    "daemonsets_short": Table(
        frozenset(("NAME", "DESIRED", "CURRENT", "READY", "NODE SELECTOR")), ("workloads",), _controller("DaemonSet")
    ),
    "replicasets": Table(frozenset(("NAME", "DESIRED", "CURRENT", "READY")), ("workloads",), _controller("ReplicaSet")),
    "deployments": Table(frozenset(("NAME", "READY", "UP-TO-DATE", "AVAILABLE")), ("workloads",), _controller("Deployment")),
    "jobs": Table(frozenset(("NAME", "COMPLETIONS", "DURATION")), ("workloads",), _controller("Job")),
    "claims": Table(frozenset(("NAME", "STATUS", "VOLUME", "STORAGECLASS")), ("claims",), get_claims.claim),
    "storage_classes": Table(frozenset(("NAME", "PROVISIONER", "RECLAIMPOLICY")), ("storage_classes",), get_claims.storage_class),
    "quotas": Table(frozenset(("NAME", "REQUEST", "LIMIT")), ("quotas",), get_claims.quota),
    "kueue": Table(frozenset(("NAME", "QUEUE", "RESERVED IN")), ("workloads",), _controller("Workload")),
    "device_claims": Table(
        frozenset(("NAME", "STATE", "AGE")), ("schedule_reasons",), get_claims.device_claim, beside=frozenset(("NAMESPACE",))
    ),
    "device_slices": Table(frozenset(("NAME", "NODE", "DRIVER", "POOL")), (), _no_facts),
    "node_gpus": Table(frozenset(("NAME", "GPU")), ("nodes",), get_taints.columns),
    "node_taints": Table(frozenset(("NAME", "TAINTS")), ("nodes",), get_taints.columns),
    "statefulsets": Table(
        frozenset(("NAME", "READY", "AGE")),
        ("workloads",),
        _controller("StatefulSet"),
        beside=frozenset(("NAMESPACE", "CONTAINERS", "IMAGES", "LABELS", "SELECTOR")),
    ),
}
