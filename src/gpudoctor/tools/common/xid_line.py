"""One line with a numbered error: NVRM's Xid of a GPU, SXid of an NVSwitch, in the words of the kernel or of who watches it."""

from __future__ import annotations

import functools
from typing import NamedTuple

from gpudoctor.knowledge.xid_decode import Decoded, decode
from gpudoctor.knowledge.xids import book
from gpudoctor.patterns import regex
from gpudoctor.tools.common import pci

# NVRM: Xid (PCI:0000:c1:00 GPU-I:02 GPU-CI:00): 31, pid=7, name=python3, …  |  NVRM: Xid (0000:03:00): 14, …  |  NVRM: Xid 79, …
# Xid (PCI:0000:c1:00): 31, …: without the driver's name, as grep -o, a table or a monitor leaves it
XID = regex(
    r"(?:NVRM: Xid |\bXid (?=\((?:PCI:)?[0-9A-Fa-f]{4,8}:))"
    r"(?:\((?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)"
    r"(?: GPU-I:(\d{1,3}))?(?: GPU-CI:(\d{1,3}))?[^):]{0,40}\):? ?)?(\d{1,4})\b,? ?"
    r"((?:pid='?(\d+|[^,']*)'?(?:, name=([^,]{0,64}))?,? ?)?.*)"  # pid=2924364, name=pt_main_thread, …  |  pid='<unknown>', …
)
PROCESS = regex(r"pid='?[^,']*'?(?:, name=[^,]{0,64})?,? ?")
# I0624 22:58:05.4 1 health.go:185] XidCriticalError: Xid=79 on Device=GPU-7f3c2a10-…; marking device as unhealthy.
# older: XidCriticalError: Xid=48 on GPU=GPU-…, the device will go unhealthy. | Xid=79 on All devices; marking all devices as unhealthy.
# (k8s-device-plugin internal/rm/health.go, nvidia.go before v0.8; GKE's health_checker.go)
PLUGIN = regex(r"[Xx]idCriticalError: Xid=(\d{1,4})(?:,? on (?:(?:Device|GPU)=)?((?:GPU|MIG)-[0-9A-Za-z/-]{1,80})?)?")
# nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 60 Minion Link DLREQ interrupt
SXID = regex(r"(?:nvidia-nvswitch(\d{1,3}): )?\bSXid \(PCI:([0-9A-Fa-f:.]{7,16})\): (\d{4,6}), ?(.*)")
# detected NVSwitch non-fatal error 22013 on fid 0 on NVSwitch pci bus id 00000000:08:00.0 physical id 3 port 60
FABRIC = regex(
    r"detected NVSwitch (non-fatal|fatal) error (\d{4,6}) .{0,80}?(?i:pci bus id) ([0-9A-Fa-f:.]{7,16})"
    r"(?: physical id (\d{1,3}))?(?: port(?: id)? (\d{1,3}))?"
)
# Link 60 Minion …  |  Severity 1 Engine instance 60 Sub-engine instance 00
LINK = regex(r"\b(?:Link|Engine instance) (\d{1,3})\b")
# Severity 0: the driver's number for non-fatal, 1 for fatal (open-gpu-kernel-modules, nvswitch error.h)
SEVERITY = regex(r"Severity ([01])\b")
# Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Out Of Range Address
PROCESSOR = regex(r"\((GPC \d{1,3}, TPC \d{1,3})")
# Fatal, Non-fatal: also of NVLink 5, whose words decide under one number
NVLINK5 = range(144, 151)
BY_TEXT = frozenset({74, 154, *NVLINK5})


# What monitors and people make of an Xid, where the number comes first and the address, if at all, later:
# Xid 79 (PCI:0000:46:00): GPU has fallen off the bus  |  Detected XID 79 for GPU 3 (DCGM)  |  XID 48 detected  |  Reason=Xid 95
# "xid":79 (gpud)  |  XID: 79 (dcgmi policy)  |  SysLogsXIDErrorIsNotHealthy … ErrorCode:79 PCI:0000:46:00 (NVSentinel)
RETOLD = regex(r"(?<![\w/-])(?:NVRM:? )?(?:[Xx]id|XID)(?: error| event| code)?\"? ?[:=#]? ?(\d{1,3})\b(?![.:/-]?\d)(.*)")
CONDITION = regex(r"(?:XIDError|Xid).{0,120}[Ee]rror ?Code\"?: ?(?:\[\")?(\d{1,3})\b(.*)")
# What the driver says after a number that was cut off, or that Windows (nvlddmkm) doesn't log:
# Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address  |  MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f_…
# An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 2, subpartition 0.
# Row Remapper: New row (0x0000000a1) marked for remapping  |  Row Remapper Error: (0x…) - All reserved rows for bank are remapped
SENTENCES = {
    13: r"\bGraphics (?:SM (?:Warp|Global) Exception on \(GPC |Exception: ESR 0x)",
    31: r"\bMMU Fault: ENGINE ",
    48: r"\bAn uncorrectable double bit error \(DBE\) has been detected on GPU",
    63: r"\bRow Remapper: New row ",
    64: r"\bRow Remapper Error: ",
}
SENTENCE = regex("|".join(f"(?P<x{code}>{sentence}.*)" for code, sentence in SENTENCES.items()))
BEFORE = 160  # characters before a number that may say whether it happened
# Before it: nothing but a time, a name or a bullet, or words that something happened. No xid 79 was found, skip xid 13: nothing did.
HAPPENED = regex(
    r"(?i)(?:detected|received|got|reason[=:]?|fail(?:ed|ure)?:?|error:?|event:?|critical|saw|hit|has|with|\{|[,;|])\W*$|^\W*$|\d\W+$"
)
# After it: where or that it happened, or what the driver said
SAYS = regex(
    r"(?i)\W{0,3}(?:$|\(|[-:,=>\u2014]|(?:was |has |been |errors? |events? )*(?:detected|occurred|reported|logged|seen|found|raised)"
    r"|(?:error |event )?(?:on|for|from|at) (?:gpu|device|node|pci))"
)
# no Xid 79 was found  |  Ignoring Xid 13 on …  |  DP_DISABLE_HEALTHCHECKS=xid 13  |  dmesg | grep 'Xid 79'  |  gpudoctor xid 79
DENIED = regex(
    r"(?i)(?:\b(?:no|not|never|without|ignor\w*|skip\w*|exclud\w*|except|grep|gpudoctor|see|if|e\.g|like)\b|DISABLE)[^.;|]{0,60}$"
)
# NVRM: Xid (PCI:0000:01:00): 79, …, SIMULATED by inject-xid.sh: whoever tries an alarm says so  |  rules of a node-problem-detector
TRIED = regex(r"(?i)\b(?:simulated|synthetic|not a real (?:fault|error|xid))\b|\bconfig file .{0,300}\bRules:\[")
# NVRM: Xid (PCI:0000:c1:00): 45, pid=7311, name=python3, Ch 00000009 caused by previous Xid 149
EARLIER = regex(r"\bcaused by previous Xid (\d{1,3})\b")
ADDRESS = regex(r"\b(?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-7])?)\b")


class Error(NamedTuple):
    """What an Xid line says, whenever it was logged."""

    pci: str
    mig: str
    code: int
    pid: int | None
    process: str
    text: str
    tpc: str
    decoded: Decoded | None = None  # where the text decides what the code means
    uuid: str = ""  # the device plugin's name of the GPU, which has no address

    @property
    def key(self) -> tuple[object, ...]:
        """What makes two lines the same error."""
        said = self.decoded
        more = (said.unit, said.fatal, said.link, said.action) if said else ()
        return (self.pci, self.uuid, self.mig, self.code, self.pid, self.process, *more)


class SwitchError(NamedTuple):
    """What a line about an NVSwitch says. One event is up to three lines; `first` is the one that counts it."""

    switch: int | None
    pci: str
    code: int
    severity: str
    link: int | None
    text: str
    first: bool


@functools.lru_cache(maxsize=4096)
def xid_of(text: str) -> Error | None:
    """The Xid of a line's message; a storm repeats the same few."""
    match = XID.search(text)
    if not match or TRIED.search(text):
        return None
    address, instance, compute, number, rest, pid, name = match.groups()
    code = int(number)
    place = PROCESSOR.search(rest) if code == 13 else None
    return Error(
        pci=pci.canonical(address) if address else "",
        mig="/".join(str(int(part)) for part in (instance, compute) if part) if instance else "",
        code=code,
        pid=int(pid) if pid and pid.isascii() and pid.isdecimal() and len(pid) < 10 else None,
        process="" if not name or name.startswith("<") else name,
        text=rest[:500],
        tpc=place.group(1) if place else "",
        decoded=decode(code, rest) if code in BY_TEXT else None,
    )


def earlier_xid_of(error: Error) -> Error | None:
    """The Xid that a channel was removed for, where the driver names it in its Xid 45; of an NVLink it was fatal then."""
    named = EARLIER.search(error.text) if error.code == 45 else None
    code = int(named.group(1)) if named else 45
    if code == 45 or book().xid(code) is None:
        return None
    decoded = Decoded(fatal=True) if code in NVLINK5 else None
    return Error(pci=error.pci, mig=error.mig, code=code, pid=None, process="", text=error.text, tpc="", decoded=decoded)


@functools.lru_cache(maxsize=4096)
def plugin_xid_of(text: str) -> Error | None:
    """What the device plugin says about an Xid: a code and the GPU's UUID, no PCI address and no process."""
    match = PLUGIN.search(text)
    if not match:
        return None
    return Error(pci="", mig="", code=int(match.group(1)), pid=None, process="", text=match.group(0), tpc="", uuid=match.group(2) or "")


@functools.lru_cache(maxsize=4096)
def retold_xid_of(text: str) -> Error | None:
    """An Xid in other words than the driver's, which has a number that is known, and seldom more.

    >>> retold_xid_of("diagnostic  Fail  Xid 79 detected").code, retold_xid_of("no Xid 79 in dmesg")
    (79, None)
    """
    if (rest := SENTENCE.search(text)) and "xid" not in text[: rest.start()].lower():
        place = PROCESSOR.search(rest.group(0))
        code = int(str(rest.lastgroup)[1:])
        return Error(pci="", mig="", code=code, pid=None, process="", text=rest.group(0)[:500], tpc=place.group(1) if place else "")
    condition = CONDITION.search(text)
    match = condition or RETOLD.search(text)
    if not match or XID.search(text) or PLUGIN.search(text) or TRIED.search(text):
        return None
    before, code, after = text[max(0, match.start() - BEFORE) : match.start()], int(match.group(1)), match.group(2)
    if book().xid(code) is None or DENIED.search(before) or not (condition or HAPPENED.search(before) or SAYS.match(after)):
        return None
    address = ADDRESS.search(after)
    said = after[address.end() :] if address else after
    return Error(
        pci=pci.canonical(address.group(1)) if address else "",
        mig="",
        code=code,
        pid=None,
        process="",
        text=said.lstrip(" ).:,-")[:500],
        tpc="",
        decoded=decode(code, said) if code in BY_TEXT else None,
    )


def without_process(text: str) -> str:
    """The text of an Xid after the process, which the driver's processor and the GPU's name differently."""
    match = PROCESS.match(text)
    return text[match.end() :] if match else text


@functools.lru_cache(maxsize=4096)
def sxid_of(text: str) -> SwitchError | None:
    """The SXid of a line, of the kernel or of the fabric manager."""
    if match := SXID.search(text):
        switch, address, number, rest = match.groups()
        word = rest.partition(",")[0].strip().lower().replace("-", "")
        level = SEVERITY.match(rest)
        severity = word if word in ("fatal", "nonfatal") else ("nonfatal", "fatal")[int(level.group(1))] if level else ""
        link = LINK.search(rest)
        return SwitchError(
            switch=int(switch) if switch else None,
            pci=pci.canonical(address),
            code=int(number),
            severity=severity,
            link=int(link.group(1)) if link else None,
            text=rest[:500],
            first=not rest.startswith(("Severity", "Data")),
        )
    if match := FABRIC.search(text):
        severity, number, address, switch, port = match.groups()
        return SwitchError(
            switch=int(switch) if switch else None,
            pci=pci.canonical(address),
            code=int(number),
            severity=severity.replace("-", ""),
            link=int(port) if port else None,
            text=text[match.start() :][:500],
            first=True,
        )
    return None
