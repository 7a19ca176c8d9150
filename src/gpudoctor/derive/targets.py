"""What the user asked about: is it there, and if not, what has a name like it?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import Pod, Target, Workload

CLOSE = 5  # names that are proposed
CANDIDATES = 20_000  # names that are compared; a comparison costs some microseconds


def found(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Fills `targets`: one record for the inputs `kind`, `namespace` and `name`.

    `kind` is pod or a workload's kind in any case. Without a name every pod of the namespace is meant; an empty namespace is any.
    """
    kind, namespace, name = (str(inputs.get(key) or "") for key in ("kind", "namespace", "name"))
    kind = kind or "pod"
    pods = [pod for pod in facts.get("pods", ()) if isinstance(pod, Pod) and pod.target]
    within = [pod for pod in pods if namespace in ("", pod.namespace)]
    if kind.lower() == "pod":
        theirs = [pod for pod in within if name in ("", pod.pod)]
        there = bool(theirs)
        names = [(pod.namespace, pod.pod) for pod in facts.get("pods", ()) if isinstance(pod, Pod)]
    else:
        controllers = [one for one in facts.get("workloads", ()) if isinstance(one, Workload) and one.kind.lower() == kind.lower()]
        owned = {f"{one.kind}/{one.name}" for one in controllers if one.name == name and namespace in ("", one.namespace)}
        theirs = [pod for pod in within if owned_by(pod.workload, kind, name)]
        there = bool(owned or theirs)
        names = [(one.namespace, one.name) for one in controllers]
    close = [] if there else close_names(namespace, name, names)
    return {"targets": [Target(kind=kind, namespace=namespace, name=name, found=there, close=close, pods=len(theirs))]}


def owned_by(workload: str, kind: str, name: str) -> bool:
    """Whether a pod's owner (KIND/NAME) is the one that was asked for; a Deployment owns its pods through a ReplicaSet.

    >>> owned_by("Job/train", "job", "train"), owned_by("ReplicaSet/web-5d4f8c7b9", "deployment", "web"), owned_by("Job/train-2", "job", "train")
    (True, True, False)
    """
    owner_kind, _, owner = workload.partition("/")
    if kind.lower() == "deployment" and owner_kind == "ReplicaSet":
        return owner.rpartition("-")[0] == name
    return owner_kind.lower() == kind.lower() and owner == name


def close_names(namespace: str, name: str, names: Iterable[tuple[str, str]]) -> list[str]:
    """Names that come close, as NAMESPACE/NAME: first the same name elsewhere, then those with it at the start, then similar ones."""
    known = sorted(set(names))[:CANDIDATES]
    same = [pair for pair in known if pair[1] == name]
    longer = [pair for pair in known if name and pair[1].startswith(f"{name}-") and namespace in ("", pair[0])]
    nearby = {one: where for where, one in known if namespace in ("", where)}
    similar = [(nearby[one], one) for one in difflib.get_close_matches(name[:253], nearby, n=CLOSE, cutoff=0.7)]
    if not (same or longer or similar):
        spaces = difflib.get_close_matches(namespace[:253], {where for where, _ in known}, n=CLOSE, cutoff=0.7)
        similar = [pair for pair in known if pair[0] in spaces and pair[0] != namespace]
    return [f"{where}/{one}" if where else one for where, one in dict.fromkeys((*same, *longer, *similar))][:CLOSE]
