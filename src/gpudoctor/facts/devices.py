"""How pods come to devices beside the device plugin: what drivers publish and claims get (dynamic resource allocation), runtime classes."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class DeviceSlice(Fact, frozen=True, kw_only=True):
    """A ResourceSlice: devices that a driver publishes, of one node or for several."""

    device_slice: str
    driver: str = ""
    node: str = ""
    devices: int = 0


class DeviceClaim(Fact, frozen=True, kw_only=True):
    """A ResourceClaim: what a pod has asked for, and of whose devices it has got how many."""

    namespace: str
    device_claim: str
    device_class: str = ""  # of its first request
    driver: str = ""
    devices: int = 0  # 0 = it has none yet
    holder: str = ""  # the first pod that it is reserved for


class RuntimeClass(Fact, frozen=True, kw_only=True):
    runtime_class: str
    handler: str
