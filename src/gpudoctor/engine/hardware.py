"""What a vendor asks for about the GPUs that are to be reset, power-cycled or replaced: their names, versions, memory and last words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gpudoctor.engine.relate import Found
from gpudoctor.engine.store import Store
from gpudoctor.engine.times import stamp
from gpudoctor.facts import Subject
from gpudoctor.facts.dcgm import DcgmError, DcgmTest
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.facts.identity import Links
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.node import PciDevice
from gpudoctor.facts.times import zone_is_known
from gpudoctor.report import Hardware, XidLine

ACTS = ("reset-gpu", "reboot", "power-cycle", "replace")  # after which what the card says of itself may be gone
GPUS = 32  # of a report: four machines
XIDS, RESULTS = 20, 12  # lines of one GPU
SAME = ("serial", "part_number", "vbios", "inforom", "gsp_firmware", "product", "index", "retired_pages", "retired_pending")
REMAP = ("remapped_correctable", "remapped_uncorrectable", "remap_pending", "remap_failed")


def of_store(store: Store, found: Iterable[Found], links: Links) -> list[Hardware]:
    """One record for each GPU that a decided finding wants such an act for, or that is the vendor's; in the order of the findings."""
    causes: dict[str, list[str]] = {}
    subjects: dict[str, Subject] = {}
    for one in found:
        wanted = (one.act or one.cause.act) in ACTS or one.cause.who == "vendor"
        if wanted and one.confidence != "possible" and one.subject.kind == "gpu" and one.severity != "info":
            subjects.setdefault(one.subject.name, one.subject)
            named = causes.setdefault(one.subject.name, [])
            if one.cause.id not in named:
                named.append(one.cause.id)
    if not subjects:
        return []
    known = Known(store, links)
    return [known.hardware(subjects[name], causes[name]) for name in list(subjects)[:GPUS]]


class Known:
    """The facts about GPUs under the one name that all sources share."""

    def __init__(self, store: Store, links: Links) -> None:
        self.links = links
        self.gpus = self.by_gpu(one for one in store.records("gpus") if isinstance(one, Gpu))
        self.places = self.by_gpu(one for one in store.records("pci_devices") if isinstance(one, PciDevice))
        self.xids = self.by_gpu(one for one in store.records("xids") if isinstance(one, Xid))
        self.tests = self.by_gpu(one for one in store.records("dcgm_tests") if isinstance(one, DcgmTest))
        self.errors = self.by_gpu(one for one in store.records("dcgm_errors") if isinstance(one, DcgmError))
        self.drivers = {one.node: one.driver_version for one in store.records("smi") if isinstance(one, Smi) and one.driver_version}

    def by_gpu(self, records: Iterable[Any]) -> dict[str, list[Any]]:
        """Records by the name of their GPU."""
        made: dict[str, list[Any]] = {}
        for one in records:
            if one.gpu:
                made.setdefault(self.links.unify(Subject(kind="gpu", node=one.node, gpu=one.gpu)).name, []).append(one)
        return made

    def hardware(self, subject: Subject, causes: list[str]) -> Hardware:
        """Everything that is known of one GPU."""
        name = subject.name
        gpu = next(iter(self.gpus.get(name, ())), Gpu(gpu=subject.gpu, node=subject.node))
        place = next(iter(self.places.get(name, ())), None)
        xids = sorted(self.xids.get(name, ()), key=lambda one: one.moment)
        pci = gpu.pci or (place.pci if place else "") or next((one.pci for one in xids if one.pci), "") or if_marked(subject.gpu, ":")
        return Hardware(
            name=name,
            causes=causes,
            node=subject.node,
            uuid=gpu.uuid or if_marked(subject.gpu, "-"),
            pci=pci,
            slot=place.slot if place else "",
            driver=gpu.driver_version or self.drivers.get(subject.node, ""),
            ecc_uncorrected=gpu.ecc_uncorrected_aggregate,
            recovery_action=gpu.recovery_action or "",
            xids=[line(one) for one in xids[:XIDS]],
            more_xids=max(0, len(xids) - XIDS),
            diagnostics=list(dict.fromkeys(results(self.tests.get(name, ()), self.errors.get(name, ()))))[:RESULTS],
            **{field: getattr(gpu, field) for field in (*SAME, *REMAP)},
        )


def if_marked(gpu: str, mark: str) -> str:
    """The name where it has the mark of its kind: `:` of a PCI address, `-` of a UUID."""
    return gpu if mark in gpu and " " not in gpu else ""


def line(xid: Xid) -> XidLine:
    """A burst as the report has it."""
    zone, text = zone_is_known(xid), (xid.origin.text or xid.text)[:1000]
    return XidLine(code=xid.code, text=text, time=stamp(xid.time, zone=zone), last=stamp(xid.last, zone=zone), count=xid.count)


def results(tests: Iterable[DcgmTest], errors: Iterable[DcgmError]) -> Iterator[str]:
    """What DCGM's diagnostic and its health checks say: each failure a line, and one line for all tests that passed."""
    passed = [one.test for one in tests if one.status == "pass"]
    for one in tests:
        if one.status in ("fail", "warn"):
            yield f"{one.test}: {one.status}" + (f": {one.text}" if one.text else "") + (f" ({one.error})" if one.error else "")
    for error in errors:
        if error.source == "health":
            yield f"health, {error.where}: {error.status}: {error.text}" + (f" ({error.error})" if error.error else "")
    if passed:
        yield f"passed: {', '.join(dict.fromkeys(passed))}"
