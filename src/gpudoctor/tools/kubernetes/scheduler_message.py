"""The scheduler's message, clause by clause: `0/12 nodes are available: 4 Insufficient nvidia.com/gpu, 8 node(s) were unschedulable. …`.

Wordings since Kubernetes 1.18, read from pkg/scheduler/framework (FitError, interface.go) and its plugins' Err… constants.
"""

from __future__ import annotations

import re

import msgspec

from gpudoctor.facts import Origin
from gpudoctor.facts.kubernetes import ScheduleReason
from gpudoctor.patterns import regex
from gpudoctor.tools.parser import LINE

MAX_CHARS = 64 * 1024

# 0/12 nodes are available: 4 Insufficient …   or, from Volcano,   0/12 nodes are unavailable: …   all nodes are unavailable: …
HEAD = regex(r"(\d{1,7})/(\d{1,7}) nodes are (?:un)?available:|all nodes are unavailable:")
# No nodes are available that match all of the predicates: Insufficient nvidia.com/gpu (4), MatchNodeSelector (1).      (up to 1.9)
OLD_HEAD = regex(r"No nodes are available that match all of the (?:following )?predicates:{1,2}")
OLD_CLAUSE = regex(r"([A-Z][\w ./-]{1,320}) \((\d{1,7})\)")
# …. preemption: 0/12 nodes are available: …   …. no new claims to deallocate, preemption: not eligible due to …
PREEMPTION = regex(r"(?:\. ?|^)(?:(?:no new claims to deallocate|still not schedulable), ?)?preemption: ")
NO_VICTIMS = regex(r"(\d{1,7}) No preemption victims found")
NOT_HELPFUL = regex(r"(\d{1,7}) Preemption is not helpful")
# …, 3 node(s) had …: a clause begins with its count; a comma within a clause is followed by a word (`, that the pod didn't tolerate`)
NEXT_CLAUSE = regex(r", (?=\d{1,7} )")
COUNTED = regex(r"(\d{1,7}) (.*)")
INSUFFICIENT = regex(r"Insufficient ([^\s,]{1,320})")
# nvidia.com/…; amd.com/gpu, gpu.intel.com/i915; shares: aliyun.com/gpu-mem, volcano.sh/vgpu-number, tencent.com/vcuda-core
GPU = regex(r"nvidia\.com/|(?i:gpu|vcuda)")
# had untolerated taint {k: v}   had untolerated taint(s)   had taint {k: v}, that the pod didn't tolerate   had taints that the pod …
TAINT = regex(r"had (?:untolerated )?taint(?:s|\(s\))?\b")
CORDON = "node.kubernetes.io/unschedulable"

# The names of predicates, which were the reasons up to 1.9 → today's words.
PREDICATES = {
    "MatchNodeSelector": "node(s) didn't match node selector",
    "PodToleratesNodeTaints": "node(s) had taints that the pod didn't tolerate",
    "NodeUnschedulable": "node(s) were unschedulable",
    "MatchInterPodAffinity": "node(s) didn't match pod affinity/anti-affinity",
    "NoVolumeZoneConflict": "node(s) had no available volume zone",
    "NodeNotReady": "node(s) were not ready",
    "NodeUnderDiskPressure": "node(s) had disk pressure",
    "PodFitsHostPorts": "node(s) didn't have free ports for the requested pod ports",
}
# Conditions of a node, which were reasons of their own up to 1.11 → the taint that has said them since.
CONDITIONS = {
    "were not ready": "node.kubernetes.io/not-ready",
    "had disk pressure": "node.kubernetes.io/disk-pressure",
    "were out of disk space": "node.kubernetes.io/disk-pressure",
    "had memory pressure": "node.kubernetes.io/memory-pressure",
    "had pid pressure": "node.kubernetes.io/pid-pressure",
}

# Literal → reason; the first that occurs in the clause decides.
REASONS: tuple[tuple[str, str], ...] = (
    ("were unschedulable", "unschedulable"),
    ("topology spread constraints", "topology_spread"),
    ("anti-affinity", "pod_affinity"),
    ("pod affinity rules", "pod_affinity"),
    ("pod affinity", "pod_affinity"),
    ("volume node affinity conflict", "volume_affinity"),
    ("PersistentVolume's node affinity", "volume_affinity"),  # the same since 1.34
    ("no available volume zone", "volume_affinity"),
    ("node affinity", "node_affinity"),
    ("node selector", "node_affinity"),
    ("NodeAffinity", "node_affinity"),
    ("requested node name", "node_name"),
    ("requested hostname", "node_name"),
    ("free ports", "ports"),
    ("Too many pods", "too_many_pods"),
    ("unbound immediate PersistentVolumeClaims", "volume_unbound"),
    ("persistentvolumeclaim ", "volume_unbound"),
    ("available persistent volumes to bind", "volume_binding"),
    ("bound to non-existent pv", "volume_binding"),
    ("enough free storage", "volume_binding"),
    ("ReadWriteOncePod", "volume_in_use"),
    ("no available disk", "volume_in_use"),
    ("max volume count", "volume_count"),
    ("dynamic resource allocation", "resource_claim"),
    ("allocate all claims", "resource_claim"),
    ("DynamicResources", "resource_claim"),
    ("device class", "resource_claim"),
    ("resourceclaim", "resource_claim"),
    ("resource claim", "resource_claim"),
    ("ResourceClaim", "resource_claim"),
    ("waiting for resource driver", "resource_claim"),
    ("no nodes available to schedule pods", "no_nodes"),
)

# All that a node is short of is said of it at once; of the other reasons only the first, so each node is in one clause.
AMOUNTS = ("insufficient", "too_many_pods")

# How a clause begins; text without the head and without one of these is not the scheduler's.
BEGINNINGS = (
    "node(s) ",
    "Insufficient ",
    "Too many pods",
    "pod has unbound immediate",
    "persistentvolumeclaim ",
    "waiting for dynamic resource",
    "waiting for ephemeral volume",
    "cannot allocate all claims",
    "resourceclaim ",
    "could not retrieve device class",
    'running "DynamicResources" ',
    "ResourceClaim not created yet",
    "no nodes available to schedule",
)


def schedule_reasons(
    text: str, *, namespace: str = "", pod: str = "", origin: Origin | None = None, time: float | None = None
) -> list[ScheduleReason]:
    """The clauses of a scheduler's message; a clause that was pasted without the head counts too. [] for any other text.

    `count` is the clause's number of nodes: all of them where a clause has none, 0 where that is not known either. `no_victims` and
    `not_helpful` come from the preemption part and are equal in all records of one message; None without that part.
    """
    message = in_todays_words(" ".join(text[:MAX_CHARS].split()))
    main, preemption = split_preemption(message)
    head = HEAD.search(main)
    total = int(head[2] or 0) if head else 0
    victims = phrase_count(NO_VICTIMS, preemption)
    helpless = phrase_count(NOT_HELPFUL, preemption)
    records = []
    for clause in split_clauses((main[head.end() :] if head else main).strip().removesuffix(".")):
        match = COUNTED.fullmatch(clause)
        count, body = (int(match[1]), match[2]) if match else (total, clause)
        reason = reason_of(body)
        if not body or (head is None and not body.startswith(BEGINNINGS)):
            continue
        key, value = taint_of(body) if reason == "taint" else ("", "")
        insufficient = INSUFFICIENT.search(body) if reason == "insufficient" else None
        resource = insufficient[1].removesuffix(".") if insufficient else ""
        records.append(
            ScheduleReason(
                namespace=namespace,
                pod=pod,
                reason=reason,
                count=count,
                total=total,
                resource=resource,
                of_gpus=GPU.search(resource) is not None,
                key=key,
                value=value,
                clause=clause,
                no_victims=victims,
                not_helpful=helpless,
                preemption=preemption_word(victims, helpless, count, total),
                origin=origin or Origin(text=message[:LINE]),
                time=time,
            )
        )
    left = total - sum(one.count for one in records if one.reason not in AMOUNTS)
    return [msgspec.structs.replace(one, left=max(left, 0)) for one in records] if total else records


def preemption_word(victims: int | None, helpless: int | None, count: int, total: int) -> str:
    """What the preemption part says of the nodes of one clause, in a word. It was sought on some of them only by a scheduler that leaves
    out those which could never give so much: Kubernetes 1.34 and later.

    >>> [preemption_word(*numbers) for numbers in ((0, 3, 3, 3), (0, 2, 3, 3), (3, 0, 3, 3), (1, 2, 3, 3), (None, None, 3, 3))]
    ['helps_nowhere', 'helps_none', 'no_victims', 'no_victims_on_some', '']
    """
    if victims is None:
        return ""
    if victims == 0:
        return "helps_nowhere" if helpless == total else "helps_none"
    return "no_victims_on_some" if victims < count else "no_victims"


def in_todays_words(message: str) -> str:
    """A message of Kubernetes up to 1.9 as it would read now; any other as it is.

    >>> in_todays_words("No nodes are available that match all of the predicates: MatchNodeSelector (4), Insufficient cpu (1).")
    "0/0 nodes are available: 4 node(s) didn't match node selector, 1 Insufficient cpu"
    """
    old = OLD_HEAD.search(message)
    if old is None:
        return message
    clauses = OLD_CLAUSE.findall(message, old.end())
    return "0/0 nodes are available: " + ", ".join(f"{count} {PREDICATES.get(name, name)}" for name, count in clauses)


def split_preemption(message: str) -> tuple[str, str | None]:
    """The part about the nodes and the part about preemption, None without one or when preemption was not tried."""
    cut = PREEMPTION.search(message)
    if cut is None:
        return message.split(". no new claims to deallocate", 1)[0], None
    rest = message[cut.end() :]
    return message[: cut.start()], rest if HEAD.match(rest) else None


def phrase_count(pattern: re.Pattern[str], preemption: str | None) -> int | None:
    """The number that a phrase of the preemption part has; 0 when the part lacks the phrase."""
    if preemption is None:
        return None
    match = pattern.search(preemption)
    return int(match[1]) if match else 0


def split_clauses(body: str) -> list[str]:
    """Cut at the commas between clauses, but not at one inside a taint's braces as long as they close."""
    clauses = []
    start = depth = seen = 0
    balanced = body.count("{") == body.count("}")
    for comma in NEXT_CLAUSE.finditer(body):
        depth += body.count("{", seen, comma.start()) - body.count("}", seen, comma.start())
        seen = comma.start()
        if depth <= 0 or not balanced:
            clauses.append(body[start : comma.start()])
            start, depth = comma.end(), 0
    clauses.append(body[start:])
    return clauses


def reason_of(body: str) -> str:
    """The neutral word for one clause. A cordon is also a taint, and is said as either."""
    if TAINT.search(body) or condition_of(body):
        return "unschedulable" if taint_of(body)[0] == CORDON else "taint"
    if INSUFFICIENT.search(body):
        return "insufficient"
    return next((reason for literal, reason in REASONS if literal in body), "other")


def taint_of(body: str) -> tuple[str, str]:
    """Key and value of the taint in a clause; empty where the newest wording leaves them out.

    >>> taint_of("node(s) had untolerated taint {nvidia.com/gpu: present}"), taint_of("node(s) had untolerated taint(s)")
    (('nvidia.com/gpu', 'present'), ('', ''))
    """
    start, end = body.find("{"), body.rfind("}")
    if start < 0 or end < start:
        return condition_of(body), ""
    key, _, value = body[start + 1 : end].partition(":")
    return key.strip(), value.strip()


def condition_of(body: str) -> str:
    """The taint of today for a clause that names a node's condition, "" for any other.

    >>> condition_of("node(s) were not ready")
    'node.kubernetes.io/not-ready'
    """
    return next((taint for words, taint in CONDITIONS.items() if words in body), "")
