"""The recorded objects, serialised once when the server starts; a list answer is a join of ready bytes."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from tests.kube import selectors
from tests.kube.kinds import BUILT_IN, CUSTOM, Resource, resource_of
from tests.kube.statuses import ApiError, not_found


class Record(NamedTuple):
    """One object: what it can be selected by, and its JSON without kind and apiVersion when its kind is built in."""

    name: str
    namespace: str
    labels: Mapping[str, str]
    fields: Mapping[str, str]
    raw: bytes


def record_of(obj: Mapping[str, Any], resource: Resource) -> Record:
    """Serialise one object."""
    metadata = {"uid": "", "resourceVersion": "1", **obj["metadata"]}
    shown = {"apiVersion": obj["apiVersion"], "kind": obj["kind"]} if resource.custom else {}
    shown |= {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")} | {"metadata": metadata}
    return Record(
        metadata["name"],
        metadata.get("namespace", ""),
        metadata.get("labels") or {},
        selectors.fields_of(obj, resource.plural),
        msgspec.json.encode(shown),
    )


Wanted = tuple[str, str, str]  # namespace ("" = all), label selector, field selector


class Store:
    """Records by resource, in the order in which etcd keeps them: by namespace, then name."""

    def __init__(self, objects: Iterable[Mapping[str, Any]] = ()) -> None:
        self.resources = {(each.api, each.plural): each for each in (*BUILT_IN, *CUSTOM)}
        self.records: dict[tuple[str, str], list[Record]] = {}
        self.named: dict[tuple[str, str], dict[tuple[str, str], Record]] = {}
        self.selected: dict[tuple[Resource, Wanted], list[Record]] = {}
        self.lock = threading.Lock()
        by_kind = {(each.api, each.kind): each for each in self.resources.values()}
        for obj in objects:
            resource = by_kind.setdefault((obj["apiVersion"], obj["kind"]), resource_of(obj))
            self.resources.setdefault((resource.api, resource.plural), resource)
            self.add(resource, [record_of(obj, resource)])
        self.sort()

    def add(self, resource: Resource, records: Iterable[Record]) -> None:
        """Take records; `sort` must follow before any answer."""
        self.records.setdefault((resource.api, resource.plural), []).extend(records)

    def remove(self, resource: Resource, ns: str, name: str) -> None:
        """Forget one record."""
        place = (resource.api, resource.plural)
        self.records[place] = [record for record in self.records[place] if (record.namespace, record.name) != (ns, name)]
        self.sort()

    def sort(self) -> None:
        """Put the records into etcd's order, and index them by name."""
        self.selected.clear()
        for records in self.records.values():
            records.sort(key=lambda record: (record.namespace, record.name))
        self.named = {place: {(each.namespace, each.name): each for each in records} for place, records in self.records.items()}

    def select(self, resource: Resource, wanted: Wanted) -> list[Record]:
        """The records that a list request asks for; remembered, since every page of a list asks again. Raises ApiError 400."""
        with self.lock:
            known = self.selected.get((resource, wanted))
            if known is not None:
                return known
            ns, label_text, field_text = wanted
            try:
                by_label, by_field = selectors.labels(label_text), selectors.fields(field_text, resource.plural)
            except selectors.SelectorError as error:
                raise ApiError(400, str(error)) from error
            found = [
                record
                for record in self.records.get((resource.api, resource.plural), [])
                if (not ns or record.namespace == ns)
                and all(test(record.labels) for test in by_label)
                and all(test(record.fields) for test in by_field)
            ]
            self.selected[resource, wanted] = found
            return found

    def page(self, resource: Resource, wanted: Wanted, limit: int = 0, token: str = "") -> bytes:
        """One page of a list as JSON; limit 0 = everything. Raises ApiError 400 for a bad selector or token."""
        found = self.select(resource, wanted)
        start = read_token(token)
        end = start + limit if limit else len(found)
        metadata: dict[str, Any] = {"resourceVersion": "184467"}
        if end < len(found):
            metadata["continue"] = base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","start":%d}' % end).decode().rstrip("=")
            if not (wanted[1] or wanted[2]):
                metadata["remainingItemCount"] = len(found) - end
        head = msgspec.json.encode({"kind": resource.kind + "List", "apiVersion": resource.api, "metadata": metadata})
        return b"".join((head[:-1], b',"items":[', b",".join(record.raw for record in found[start:end]), b"]}\n"))

    def one(self, resource: Resource, ns: str, name: str) -> bytes:
        """One object as JSON. Raises ApiError 404."""
        record = self.named.get((resource.api, resource.plural), {}).get((ns, name))
        if record is None:
            raise not_found(resource.plural, resource.group, name)
        if resource.custom:
            return record.raw + b"\n"
        head = msgspec.json.encode({"kind": resource.kind, "apiVersion": resource.api})
        return b"".join((head[:-1], b",", record.raw[1:], b"\n"))


def read_token(token: str) -> int:
    """Where a continue token goes on. Raises ApiError 400."""
    if not token:
        return 0
    try:
        start = msgspec.json.decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))["start"]
        if isinstance(start, int) and start >= 0:
            return start
    except (binascii.Error, msgspec.MsgspecError, KeyError, TypeError, ValueError):
        pass
    raise ApiError(400, f"continue key is not valid: {token!r}")
