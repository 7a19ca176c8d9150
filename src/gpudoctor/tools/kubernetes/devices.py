"""Dynamic resource allocation: the devices that drivers publish, and the claims that have them.

Sources: k8s.io/api/resource/v1 and v1beta1, whose requests stand in `exactly` or, before, in the request itself.
"""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.devices import DeviceClaim, DeviceSlice
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, evidence, objects


class SliceSpec(msgspec.Struct):
    """The devices of one driver, on a node or on several."""

    driver: str | None = None
    nodeName: str | None = None
    devices: list[msgspec.Raw] | None = None


class SliceObject(Object):
    """A ResourceSlice."""

    spec: SliceSpec | None = None


class Exactly(msgspec.Struct):
    """The class that a request names."""

    deviceClassName: str | None = None


class Request(msgspec.Struct):
    """One request of a claim."""

    deviceClassName: str | None = None
    exactly: Exactly | None = None


class Requests(msgspec.Struct):
    """All requests of a claim."""

    requests: list[Request] | None = None


class ClaimSpec(msgspec.Struct):
    """What was claimed."""

    devices: Requests | None = None


class Result(msgspec.Struct):
    """One device that a claim has."""

    driver: str | None = None


class Results(msgspec.Struct):
    """All devices that a claim has."""

    results: list[Result] | None = None


class Allocation(msgspec.Struct):
    """What a claim has got."""

    devices: Results | None = None


class Holder(msgspec.Struct):
    """Somebody for whom a claim is reserved."""

    name: str | None = None


class ClaimStatus(msgspec.Struct):
    """What became of a claim."""

    allocation: Allocation | None = None
    reservedFor: list[Holder] | None = None


class ClaimObject(Object):
    """A ResourceClaim."""

    spec: ClaimSpec | None = None
    status: ClaimStatus | None = None


def slices(output: Output, about: Subject) -> Facts:
    """One record per ResourceSlice."""
    found = []
    for item in objects(output, SliceObject, ("ResourceSlice",)):
        spec, name = item.spec or SliceSpec(), item.meta.name
        if name:
            many = len(spec.devices or ())
            where = evidence(output, f"{name}: {many} devices of {spec.driver or ''}")
            found.append(DeviceSlice(device_slice=name, driver=spec.driver or "", node=spec.nodeName or "", devices=many, origin=where))
    return {"device_slices": [*found]}


def claims(output: Output, about: Subject) -> Facts:
    """One record per ResourceClaim."""
    found = []
    for item in objects(output, ClaimObject, ("ResourceClaim",)):
        spec, status, name = item.spec or ClaimSpec(), item.status or ClaimStatus(), item.meta.name
        got = (status.allocation.devices.results if status.allocation and status.allocation.devices else None) or []
        asked = ((spec.devices.requests if spec.devices else None) or [Request()])[0]
        if name:
            found.append(
                DeviceClaim(
                    namespace=item.meta.namespace or "",
                    device_claim=name,
                    device_class=(asked.exactly.deviceClassName if asked.exactly else asked.deviceClassName) or "",
                    driver=(got[0].driver if got else None) or "",
                    devices=len(got),
                    holder=next((one.name for one in status.reservedFor or () if one.name), ""),
                    origin=evidence(output, f"{item.meta.namespace}/{name}: {len(got)} devices"),
                )
            )
    return {"device_claims": [*found]}
