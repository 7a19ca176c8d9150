"""A PersistentVolumeClaim as `kubectl describe pvc` shows it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gpudoctor.facts import Origin
from gpudoctor.facts.kubernetes import Claim

OF_CLAIM = frozenset({"StorageClass", "Status", "Volume"})


def is_claim(keys: Collection[str]) -> bool:
    """Whether a description is a claim's; a volume's has no `Volume` key."""
    return set(keys) >= OF_CLAIM and bool({"Access Modes", "VolumeMode", "Used By"} & set(keys))


def claim(values: Mapping[str, str], namespace: str, origin: Origin) -> Claim:
    """The claim of these keys and values."""
    return Claim(
        namespace=values.get("Namespace") or namespace,
        claim=values.get("Name", ""),
        phase=values.get("Status", "").split(" ")[0],
        volume=values.get("Volume", ""),
        storage_class=values.get("StorageClass", ""),
        origin=origin,
    )
