"""Facts of the kernel log: the driver's numbered errors, the switch's, and what a timeline is made of."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class KernelLog(Fact, frozen=True, kw_only=True):
    """A kernel log that was read, whatever it says."""

    node: str = ""


class Xid(Fact, frozen=True, kw_only=True):
    """One burst of equal NVRM Xid lines of the kernel log, the device plugin's word of one, or what DCGM's metrics keep of one."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    named: str = "a GPU"  # "GPU 0000:3b:00"
    code: int
    pid: int | None = None
    process: str = ""
    mig: str = ""  # "1" or "1/0": GPU instance, compute instance
    text: str = ""
    age: float | None = None  # seconds
    count: int = 1
    last: float | None = None  # time of the last line of the burst
    uptime: float | None = None  # seconds since boot, where the log says so
    until: float | None = None  # the same of the last line of the burst
    boot: int = 0  # which boot of a log that has several, from 0
    moment: float = 0.0  # what puts the lines of one log in order: time, else boot and uptime, else the line's number
    # what is known of the code (knowledge/xids)
    title: str = ""
    severity: str = ""  # info, warning, error, critical, decode: the text decides; "" = the code isn't known
    scope: str = ""  # process, gpu, link, node, vm, none
    whose: str = ""  # application, driver, firmware, hardware, link, configuration, follow-on, several, none
    # decoded from the text where the code has such words
    unit: str = ""  # of 144-150: RLW_SRC_TRACK …; of 94, 95: the unit named
    fatal: bool | None = None  # the text's own word: Fatal, Nonfatal
    link: int | None = None
    place: str = ""  # "GPC 1, TPC 3, SM 0"; of memory errors the location
    function: int | None = None  # of 119, 120: the RPC function
    action: str = ""  # of 154, after "to": none, reset, reboot, drain_p2p, drain_and_reset, recover_imex
    tpc: str = ""  # of 13: "GPC 1, TPC 3", the first of the burst
    tpcs: int = 0  # of 13: how many different ones the burst names
    metric: str = ""  # of DCGM that says so, "" = a log

    @property
    def lingers(self) -> bool:
        """A gauge keeps the last Xid, and nothing shows when it came: what a reset or a reboot mends may be mended since."""
        return bool(self.metric) and self.time is None

    @property
    def said(self) -> str:
        """The number and what follows it."""
        return f"{self.code}, {self.text}" if self.text else ""


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
    until: float | None = None
    boot: int = 0
    moment: float = 0.0  # as of an Xid
    links: int = 1  # different links with this code on this switch


class GpuErrors(Fact, frozen=True, kw_only=True):
    """What all numbered errors of one GPU in the logs add up to. `time` is that of the first, `age` that of the last one."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    named: str = "a GPU"
    codes: list[int] = []  # each once, in the order in which they first came
    beyond: list[int] = []  # those that concern more than one program: by scope and severity, by their word Fatal, memory errors
    age: float | None = None  # seconds
    last: float | None = None  # time of the last of them
    lines: int = 0
    programs: int = 0  # different programs by name
    faulty: list[str] = []  # of 13: GPCs and TPCs that were alone in a burst, of at least two programs
    faulting: int = 0  # different programs by name with a page fault (31)
    action: str = ""  # the driver's last word on how to recover (nvidia-smi, 154), "" = it said nothing
    act: str = ""  # the same in the words of the catalogue's acts, "" = none
    fatal: bool = False  # one of 144-150 says Fatal
    dram: bool = False  # a memory error names the memory: framebuffer, DRAM, a row
    sram: bool = False  # a memory error names on-chip memory
    pages: bool = False  # 63 or 64 is about retired pages, as before Ampere
    peers_hit: int = 0  # other GPUs of the node with errors


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
    pod: str = ""  # NAMESPACE/POD of that process, or the UID of its pod
    moment: float = 0.0
    count: int = 1
    first: bool = False  # the first error of this GPU in the log
    severity: str = ""  # of an Xid, as there
    sources: int = 1  # that tell it
    telling: bool = False  # the first error of this GPU, its worst, or its last: what a short table shows
