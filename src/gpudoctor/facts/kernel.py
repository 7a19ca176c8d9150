"""Facts of the kernel log: the driver's numbered errors, the switch's, and what a timeline is made of."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Xid(Fact, frozen=True, kw_only=True):
    """One burst of equal NVRM Xid lines of the kernel log, or the device plugin's word of one."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    code: int
    pid: int | None = None
    process: str = ""
    mig: str = ""  # "1" or "1/0": GPU instance, compute instance
    text: str = ""
    age: float | None = None  # seconds
    count: int = 1
    last: float | None = None  # time of the last line of the burst
    uptime: float | None = None  # seconds since boot, where the log has no date
    boot: int = 0  # which boot of a log that has several, from 0
    # decoded from the text where the code has such words
    unit: str = ""  # of 144-150: RLW_SRC_TRACK …; of 94, 95: the unit named
    fatal: bool | None = None  # the text's own word: Fatal, Nonfatal
    link: int | None = None
    place: str = ""  # "GPC 1, TPC 3, SM 0"; of memory errors the location
    function: int | None = None  # of 119, 120: the RPC function
    action: str = ""  # of 154, after "to": none, reset, reboot, drain_p2p, drain_and_reset, recover_imex


class Sxid(Fact, frozen=True, kw_only=True):
    """One burst of equal SXid lines of an NVSwitch."""

    node: str = ""
    switch: int | None = None
    pci: str = ""
    code: int
    severity: str = ""  # fatal, nonfatal, "" = not said
    link: int | None = None
    text: str = ""
    age: float | None = None
    count: int = 1
    last: float | None = None
    uptime: float | None = None
    boot: int = 0
    links: int = 1  # different links with this code on this switch


class TimelineEntry(Fact, frozen=True, kw_only=True):
    """One row of a GPU's history, in order: an Xid, an SXid, or a line of the kernel about the same device."""

    node: str = ""
    gpu: str = ""
    when: str = ""  # as a person reads it: 2026-03-01 11:52:03, or 812.3 s after boot
    kind: str = ""  # xid, sxid, message
    code: int | None = None
    name: str = ""  # of a message
    what: str = ""  # title of the code, or the line
    who: str = ""  # process and pid
    count: int = 1
    first: bool = False  # the first error of this GPU in the log
