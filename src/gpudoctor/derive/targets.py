"""What the user asked about: is it there, and if not, what has a name like it?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.kubernetes import ObjectName, Pod, Target, Workload

CLOSE = 5  # names that are proposed
CANDIDATES = 20_000  # names that are compared; a comparison costs some microseconds
SHORT_NAMES = {"po": "pod", "deploy": "deployment", "sts": "statefulset", "ds": "daemonset", "rs": "replicaset", "cj": "cronjob"}

Name = tuple[str, str]  # namespace, name


def find_targets(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """Fills `targets`: one record for the inputs `kind`, `namespace`, `name` and `selector`.

    `kind` is a pod or a workload's kind, in any case and number. Without a name every pod of the namespace is meant; without a
    namespace it may be any.
    """
    kind, namespace, name, selector = (str(inputs.get(key) or "") for key in ("kind", "namespace", "name", "selector"))
    wanted = singular_kind(kind or "pod")
    pods = [pod for pod in facts.get("pods", ()) if isinstance(pod, Pod) and pod.target and namespace in ("", pod.namespace)]
    theirs = (
        [pod for pod in pods if name in ("", pod.pod)] if wanted == "pod" else [pod for pod in pods if owned_by(pod.workload, wanted, name)]
    )
    there = bool(theirs) or any(one == name and namespace in ("", where) for where, one in workload_names(facts, wanted))
    close = [] if there else close_spaces(namespace, facts) or close_names(namespace, name, known_names(facts, wanted))
    target = Target(kind=kind or "pod", namespace=namespace, name=name, selector=selector, found=there, close=close, pods=len(theirs))
    return {"targets": [target]}


def close_spaces(namespace: str, facts: Mapping[str, list[Fact]]) -> list[str]:
    """Where the namespace itself isn't there: the namespaces that come close, as `namespace NAME`."""
    spaces = {one.name for one in facts.get("names", ()) if isinstance(one, ObjectName) and one.kind == "Namespace"}
    if not namespace or namespace in spaces:
        return []
    return [f"namespace {one}" for one in difflib.get_close_matches(namespace[:253], spaces, n=CLOSE, cutoff=0.6)]


def singular_kind(kind: str) -> str:
    """A kind or resource word that `kubectl` accepts, in its singular form.

    >>> [singular_kind(word) for word in ("Job", "pods", "deploy", "pytorchjobs.kubeflow.org")]
    ['job', 'pod', 'deployment', 'pytorchjob']
    """
    word = kind.lower().partition(".")[0]
    return SHORT_NAMES.get(word, word.removesuffix("s"))


def workload_names(facts: Mapping[str, list[Fact]], kind: str) -> Iterator[Name]:
    """The names of the workloads of a kind."""
    return (
        (one.namespace, one.name) for one in facts.get("workloads", ()) if isinstance(one, Workload) and singular_kind(one.kind) == kind
    )


def known_names(facts: Mapping[str, list[Fact]], kind: str) -> Iterator[Name]:
    """All names of a kind that were read."""
    yield from workload_names(facts, kind)
    yield from (
        (one.namespace, one.name) for one in facts.get("names", ()) if isinstance(one, ObjectName) and singular_kind(one.kind) == kind
    )
    if kind == "pod":
        yield from ((one.namespace, one.pod) for one in facts.get("pods", ()) if isinstance(one, Pod))


def owned_by(workload: str, kind: str, name: str) -> bool:
    """Whether a pod's owner (KIND/NAME) is the one that was asked for; a Deployment owns its pods through a ReplicaSet.

    >>> owned_by("Job/train", "job", "train"), owned_by("ReplicaSet/web-5d4f8c7b9", "deployment", "web")
    (True, True)
    """
    owner_kind, _, owner = workload.partition("/")
    if kind == "deployment" and owner_kind == "ReplicaSet":
        return owner.rpartition("-")[0] == name
    return singular_kind(owner_kind) == kind and owner == name


def close_names(namespace: str, name: str, names: Iterable[Name]) -> list[str]:
    """Names that come close, as NAMESPACE/NAME: the same name elsewhere, then those that continue it, then similar ones; where there is
    none of these, what there is in a namespace of a similar name.
    """
    known = sorted(set(names))[:CANDIDATES]
    same = [pair for pair in known if pair[1] == name]
    here = {one: where for where, one in known if namespace in ("", where)}
    longer = [(here[one], one) for one in here if name and one.startswith(f"{name}-")]
    similar = [(here[one], one) for one in difflib.get_close_matches(name[:253], here, n=CLOSE, cutoff=0.7)]
    if not (same or longer or similar):
        spaces = difflib.get_close_matches(namespace[:253], {where for where, _ in known} - {namespace}, n=CLOSE, cutoff=0.7)
        similar = [pair for pair in known if pair[0] in spaces]
    return [f"{where}/{one}" if where else one for where, one in dict.fromkeys((*same, *longer, *similar))][:CLOSE]
