"""What every builder shares: the clock, metadata, and small values in the API's shape."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

Object = dict[str, Any]  # one Kubernetes object as JSON would give it

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # the letters that the API server uses for generated names


def stamp(time: datetime) -> str:
    """RFC 3339 in whole seconds, as the API prints it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(age: str) -> str:
    """The time stamp `age` before NOW; age is written as kubectl prints it: `90s`, `2h`, `1h30m`, `40d`."""
    parts = re.findall(r"(\d+)([smhd])", age)
    if not parts or "".join(number + unit for number, unit in parts) != age:
        raise ValueError(f"an age looks like 90s, 2h or 1h30m, not {age!r}")
    return stamp(NOW - timedelta(seconds=sum(int(number) * UNITS[unit] for number, unit in parts)))


def uid(*names: str) -> str:
    """A UUID that depends only on the names, so that two runs build equal objects."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(names)))


def suffix(*names: str, length: int = 5) -> str:
    """The random-looking end of a generated name: `x7k2m`."""
    number = uuid.uuid5(uuid.NAMESPACE_OID, "/".join(names)).int
    letters = []
    for _ in range(length):
        number, index = divmod(number, len(SUFFIX))
        letters.append(SUFFIX[index])
    return "".join(letters)


def lean(**fields: Any) -> Object:
    """The fields that hold something: None, "" and empty collections are left out, as in the API's `omitempty`."""
    return {key: value for key, value in fields.items() if value is not None and value != "" and value != [] and value != {}}


def meta(
    kind: str,
    name: str,
    ns: str = "",
    *,
    age: str = "2h",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: str = "",
) -> Object:
    """ObjectMeta. `owner` is KIND/NAME of the controller."""
    created = ago(age)
    return lean(
        name=name,
        namespace=ns,
        uid=uid(kind, ns, name),
        resourceVersion="184467",
        creationTimestamp=created,
        labels=dict(labels or {}),
        annotations=dict(annotations or {}),
        ownerReferences=[owner_reference(owner, ns)] if owner else [],
    )


API_VERSIONS = {
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "MPIJob": "kubeflow.org/v1",
    "RayCluster": "ray.io/v1",
    "Node": "v1",
    "Pod": "v1",
}


def owner_reference(owner: str, ns: str) -> Object:
    """The controller as an ownerReferences entry; kinds that are not in API_VERSIONS are of apps/v1."""
    kind, _, name = owner.partition("/")
    return {
        "apiVersion": API_VERSIONS.get(kind, "apps/v1"),
        "kind": kind,
        "name": name,
        "uid": uid(kind, ns, name),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def condition(type: str, status: bool | str, reason: str = "", message: str = "", age: str = "1h") -> Object:
    """One entry of status.conditions; `status` is True, False or "Unknown"."""
    return lean(type=type, status=str(status), reason=reason, message=message, lastTransitionTime=ago(age))


def taint(entry: tuple[str, str, str]) -> Object:
    """A taint from (key, value, effect)."""
    key, value, effect = entry
    return lean(key=key, value=value, effect=effect)


def tolerations_of(entries: Iterable[str | tuple[str, str, str] | Object]) -> list[Object]:
    """Tolerations from a key (any value, any effect), (key, value or "", effect), or the API's own dict; "*" tolerates everything."""
    made: list[Object] = []
    for entry in entries:
        if isinstance(entry, dict):
            made.append(entry)
        elif isinstance(entry, str):
            made.append({"operator": "Exists"} if entry == "*" else {"key": entry, "operator": "Exists"})
        else:
            key, value, effect = entry
            made.append(lean(key=key, operator="Equal" if value else "Exists", value=value, effect=effect))
    return made
