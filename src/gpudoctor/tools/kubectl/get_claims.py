"""Rows of `kubectl get` about what is asked for: claims for a volume or a device, and quotas."""

from __future__ import annotations

from gpudoctor.facts import Fact, Origin, Subject
from gpudoctor.facts.kubernetes import Claim, Quota, ScheduleReason, StorageClass
from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.ages import seconds
from gpudoctor.tools.kubectl.columns import Row
from gpudoctor.tools.kubernetes.quantity import in_milli, quantity

# deployment.apps/web (kubectl get all)
PREFIX = regex(r"^([a-z]+)(?:\.[a-z0-9.]+)?/(.+)$")
# train-0-gpu-x7kqp      (a claim that was made of a template, for one pod: the letters of k8s.io/apimachinery/pkg/util/rand)
OF_A_POD = regex(r"-[bcdfghjklmnpqrstvwxz2456789]{5}$")
CLAIMED = 600.0  # seconds in which a claim for a device is mostly allocated
# requests.nvidia.com/gpu: 8/8
QUOTA = regex(r"([a-z][\w./-]{1,120}): (\d[\w.]{0,30})/(\d[\w.]{0,30})")


def claim(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """One PersistentVolumeClaim."""
    name = (PREFIX.match(row.get("NAME", "")) or ["", "", row.get("NAME", "")])[2]
    phase = row.get("STATUS", "")
    if not name or not phase:
        return []
    # An unbound claim has no volume, capacity and modes: its cells don't stand below their titles.
    volume = row.get("VOLUME", "") if phase == "Bound" else ""
    return [
        Claim(
            namespace=row.get("NAMESPACE", "") or about.namespace,
            claim=name,
            phase=phase,
            volume=volume,
            storage_class=row.get("STORAGECLASS", ""),
            origin=origin,
        )
    ]


def storage_class(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """The name of one StorageClass; behind that of the default stands `(default)`."""
    return [StorageClass(storage_class=row.get("NAME", "").split(" ")[0], origin=origin)]


def device_claim(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """A pod's ResourceClaim that nobody has allocated for long is what the scheduler says of the pod."""
    name, age = row.get("NAME", ""), seconds(row.get("AGE", ""))
    if row.get("STATE") != "pending" or age is None or age < CLAIMED or not OF_A_POD.search(name):
        return []
    return [ScheduleReason(namespace=row.get("NAMESPACE", "") or about.namespace, pod="", reason="resource_claim", origin=origin)]


def quota(row: Row, about: Subject, origin: Origin) -> list[Fact]:
    """The resources of one ResourceQuota, CPU in milli-cores."""
    found: list[Fact] = []
    for resource, used, hard in QUOTA.findall(f"{row.get('REQUEST', '')}, {row.get('LIMIT', '')}"):
        amounts = [quantity(text, milli=in_milli(resource)) for text in (hard, used)]
        if amounts[0] is not None and amounts[1] is not None:
            found.append(
                Quota(
                    namespace=row.get("NAMESPACE", "") or about.namespace,
                    quota=row.get("NAME", ""),
                    resource=resource,
                    hard=amounts[0],
                    used=amounts[1],
                    origin=origin,
                )
            )
    return found
