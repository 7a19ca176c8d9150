"""The kernel log: every form of its lines, storms, boots, several hosts, hostile text; the history and the sum of each GPU's errors."""

# ruff: noqa: E501  (lines of logs are as long as they are)

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze import kernel_files
from gpudoctor.derive.gpu_errors import errors
from gpudoctor.derive.timeline import ROWS, timeline
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import GpuErrors, KernelLog, Sxid, TimelineEntry, Xid
from gpudoctor.facts.kubernetes import Message, Pod
from gpudoctor.facts.node import ProcessPod
from gpudoctor.knowledge.xids import book
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.report import InputFile
from gpudoctor.tools.kernel import log as kernel
from gpudoctor.tools.kernel.fold import HARD
from gpudoctor.tools.linux import cgroup
from gpudoctor.tools.parser import ParseError

NOW = 1_772_366_400.0  # 2026-03-01T12:00:00Z
NOWHERE = Subject(kind="cluster")
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def page(text: str | bytes, *argv: str) -> Output:
    return Output(Command(argv or ("dmesg",)), pages=(text if isinstance(text, bytes) else text.encode("utf-8", "replace"),), time=NOW)


def read(text: str | bytes, about: Subject = NOWHERE) -> Facts:
    return kernel.log([page(text)], about)


def xids(text: str | bytes, about: Subject = NOWHERE) -> list[Xid]:
    return [fact for fact in read(text, about).get("xids", []) if isinstance(fact, Xid)]


def sxids(text: str) -> list[Sxid]:
    return [fact for fact in read(text)["sxids"] if isinstance(fact, Sxid)]


def messages(text: str) -> list[Message]:
    return [fact for fact in read(text)["messages"] if isinstance(fact, Message)]


def journal(message: str, separator: str = ": ", **more: str) -> str:
    fields = {"__REALTIME_TIMESTAMP": "1772366100000000", "_HOSTNAME": "gpu-02", "_TRANSPORT": "kernel", "MESSAGE": message} | more
    return json.dumps(fields, separators=(", ", separator))


TEN = NOW - 600.0
FORMS = [
    ("[  812.345678] {}", None, 812.345678, ""),
    ("[12345.678901][ T1234] {}", None, 12345.678901, ""),
    ("[12345.678901][  C12] {}", None, 12345.678901, ""),
    ("<4>[  812.345678] {}", None, 812.345678, ""),
    ("[Sun Mar  1 11:50:00 2026] {}", TEN, None, ""),
    ("2026-03-01T11:50:00,000000+00:00 {}", TEN, None, ""),
    ("kern  :warn  : 2026-03-01T11:50:00,000000+00:00 {}", TEN, None, ""),
    ("kern  :err   : [  812.345678] {}", None, 812.345678, ""),
    ("Mar  1 11:50:00 gpu-02 kernel: {}", TEN, None, "gpu-02"),
    ("Mar  1 11:50:00 gpu-02 kernel: [  812.345678] {}", TEN, 812.345678, "gpu-02"),
    ("Mar 01 11:50:00.000000 gpu-02 kernel: {}", TEN, None, "gpu-02"),
    ("2026-03-01T12:50:00+0100 gpu-02 kernel: {}", TEN, None, "gpu-02"),
    ("2026-03-01T11:50:00.000000+00:00 gpu-02 kernel: [  812.345678] {}", TEN, 812.345678, "gpu-02"),
    ("[  812.345678] gpu-02 kernel: {}", None, 812.345678, "gpu-02"),
    ("<4>1 2026-03-01T11:50:00.000000Z gpu-02.rack kernel - - - [  812.345678] {}", TEN, 812.345678, "gpu-02.rack"),
    ("<4>Mar  1 11:50:00 gpu-02 kernel: {}", TEN, None, "gpu-02"),
    ("Error: Mar  1 11:50:00 gpu-02 kernel: [812.345678] {}", TEN, 812.345678, "gpu-02"),
    ("\x1b[32m[  812.345678] \x1b[0m\x1b[33m{}\x1b[0m", None, 812.345678, ""),
    ("{}\r", None, None, ""),
    ("\t{}", None, None, ""),
]


@pytest.mark.parametrize(("form", "time", "uptime", "node"), FORMS)
def test_every_form_of_a_line(form: str, time: float | None, uptime: float | None, node: str) -> None:
    (xid,) = xids("before\n" + form.format(LOST) + "\nafter\n")
    assert (xid.code, xid.pci, xid.time, xid.uptime, xid.node) == (79, "0000:3b:00", time, uptime, node)
    assert xid.origin.line == 2
    assert xid.age == (None if time is None else NOW - time)


def test_the_journal_as_json_and_cut_off() -> None:
    more = {"_SOURCE_MONOTONIC_TIMESTAMP": "812345678", "_BOOT_ID": "a" * 32}
    whole = journal(LOST, **more)
    for text in (whole, whole[:-20], journal(LOST, ":", **more)):
        (xid,) = xids(text + "\n")
        assert (xid.time, xid.node, xid.code, xid.process) == (1772366100.0, "gpu-02", 79, "")


@pytest.mark.parametrize(
    ("inside", "code", "address", "mig", "pid", "process"),
    [
        ("(PCI:0000:c1:00 GPU-I:02): 31, pid=7, name=infer, Ch 10", 31, "0000:c1:00", "2", 7, "infer"),
        ("(PCI:0000:c1:00 GPU-I:02 GPU-CI:01): 31, pid=7, name=infer, Ch 10", 31, "0000:c1:00", "2/1", 7, "infer"),
        ("(0000:03:00): 14, Channel 00000001", 14, "0000:03:00", "", None, ""),
        ("(PCI:00000018:01:00.0): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x0 0x0 0x0 0x0 0x0)", 149, "0018:01:00", "", None, ""),
        ("(PCI:0000:0a:00): 43, pid=99999999999999999999, name=a b, Ch 1", 43, "0000:0a:00", "", None, "a b"),
        ("79, GPU has fallen off the bus.", 79, "", "", None, ""),
    ],
)
def test_every_form_of_an_xid(inside: str, code: int, address: str, mig: str, pid: int | None, process: str) -> None:
    (xid,) = xids(f"[1.000000] NVRM: Xid {inside}\n")
    assert (xid.code, xid.pci, xid.mig, xid.pid, xid.process) == (code, address, mig, pid, process)
    assert xid.named == (f"GPU {address}" if address else "a GPU")


def test_what_the_text_says_is_decoded() -> None:
    text = (
        "[1.5] NVRM: Xid (PCI:0000:3b:00): 154, pid=1, name=a, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n"
    )
    text += "[1.6] NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x004505c6 0x0 0x0 0x0 0x0 0x0)\n"
    text += "[1.7] NVRM: Xid (PCI:0008:01:00): 149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 07 (0x00086226 0x1 0x0 0x0 0x0 0x0)\n"
    reboot, fatal, ber = xids(text)
    assert (reboot.action, fatal.fatal, fatal.link, fatal.unit, ber.fatal) == ("reboot", True, 7, "NETIR_LINK_EVT", False)
    assert (fatal.severity, fatal.scope, reboot.title) == ("decode", "link", "Recovery action changed (informational)")


def test_a_storm_is_one_record_and_memory_stays_small() -> None:
    storm = b"".join(
        b"[%6d.%06d] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=a, Ch 00000008\n" % (100 + n // 1000, n % 1000) for n in range(20_000)
    )
    (xid,) = xids(storm)
    assert (xid.count, xid.uptime) == (20_000, 100.0)


def test_every_program_different_is_bounded() -> None:
    lines = [f"[{n / 10:12.6f}] NVRM: Xid (PCI:0000:3b:00): 31, pid={n}, name=p{n}, Ch 1\n" for n in range(4 * HARD)]
    found = xids("".join(lines))
    assert len(found) < HARD
    assert sum(xid.count for xid in found) == len(lines)
    assert max(xid.until or 0.0 for xid in found) == (len(lines) - 1) / 10  # what came last isn't forgotten


def test_an_event_that_driver_and_firmware_both_log_counts_once() -> None:
    rest = "Timeout after 6s of waiting for RPC response from GPU0 GSP!"
    unknown = f"NVRM: Xid (PCI:0000:3b:00): 119, pid='<unknown>', name=<unknown>, {rest}"
    known = f"NVRM: Xid (PCI:0000:3b:00): 119, pid=42, name=app, {rest}"
    for first, second in ((unknown, known), (known, unknown)):
        (xid,) = xids(f"[100.000100] {first}\n[100.000900] {second}\n")
        assert (xid.count, xid.pid, xid.process) == (1, 42, "app")
    assert len(xids(f"[100.000100] {unknown}\n[103.000000] {known}\n")) == 2


def test_the_reset_of_the_channel_says_which_program_met_the_exception() -> None:
    place = "NVRM: Xid (PCI:0000:38:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 8, TPC {}, SM 0): Out Of Range Address"
    log = f"[10.1] {place.format(5)}\n[10.2] {place.format(6)}\n[10.3] NVRM: Xid (PCI:0000:38:00): 43, pid=7, name=train, Ch 00000008\n"
    exception, reset = xids(log)
    assert (exception.pid, exception.process, exception.count, exception.tpc, exception.tpcs) == (7, "train", 2, "GPC 8, TPC 5", 2)
    assert reset.code == 43


def test_boots_of_several_hosts() -> None:
    log = [
        f"[  900.000000] a kernel: {LOST}",
        f"[  100.000000] b kernel: {LOST}",
        f"[  901.000000] a kernel: {LOST}",
        f"[   10.000000] a kernel: {LOST}",
        f"[  101.000000] b kernel: {LOST}",
        "[    0.000000] b kernel: Linux version 5.15.0-119-generic (buildd@host)",
        f"[  500.000000] b kernel: {LOST}",
    ]
    assert [(x.node, x.boot, x.count) for x in xids("\n".join(log))] == [("a", 0, 2), ("b", 0, 2), ("a", 1, 1), ("b", 1, 1)]
    reboot = f"Mar 01 10:00:00 a kernel: {LOST}\n-- Boot 0123456789abcdef0123456789abcdef --\nMar 01 10:00:30 a kernel: {LOST}\n"
    assert [x.boot for x in xids(reboot)] == [0, 1]


def test_a_gpu_has_its_uuid_and_messages_name_their_device() -> None:
    uuid = "GPU-1f0d7a52-9c3e-4b60-8f11-0a2b3c4d5e6f"
    log = (
        f"[1.000000] NVRM: GPU at PCI:0000:3b:00: {uuid}\n[1.100000] {LOST}\n[1.2] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.\n"
        "[1.3] pcieport 0000:3a:00.0: AER: Uncorrectable (Fatal) error message received from 0000:3b:00.0\n"
        "[2.1] NVRM: The NVIDIA GPU 0000:5d:00.0\n[2.2] NVRM: (PCI ID: 10de:2330) installed in this system has\n"
        "[2.3] NVRM: fallen off the bus and is not responding to commands.\n"
    )
    facts = read(log)
    (xid,) = (fact for fact in facts["xids"] if isinstance(fact, Xid))
    assert (xid.gpu, xid.pci) == (uuid, "0000:3b:00")
    named = {(m.name, m.gpu, m.pci) for m in facts["messages"] if isinstance(m, Message)}
    assert ("nvrm_gpu_lost", uuid, "0000:3b:00") in named
    assert ("nvrm_gpu_lost", "0000:5d:00", "0000:5d:00") in named
    assert ("pcie_error_not_corrected", "", "0000:3b:00") in named


def test_the_lines_of_a_switch_are_one_event() -> None:
    log = (
        "[1.1] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 60 Minion Link DLREQ interrupt\n"
        "[1.2] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Severity 0 Engine instance 60 Sub-engine instance 00\n"
        "[1.3] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Data {0x0000003c, 0x0000003c}\n"
        "[1.4] nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 61 Minion Link DLREQ interrupt\n"
        "[2.2] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Severity 1 Engine instance 62 Sub-engine instance 00\n"
        "Mar 03 18:39:57 gpu-02 nv-fabricmanager[5183]: detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:06:00.0 physical id 1 port 48\n"
    )
    quiet, fatal, fabric = sxids(log)
    assert (quiet.switch, quiet.code, quiet.severity, quiet.link, quiet.links, quiet.count) == (3, 22013, "nonfatal", 60, 2, 2)
    assert (fatal.severity, fatal.link) == ("fatal", 62)
    assert (fabric.node, fabric.pci, fabric.severity, fabric.link, fabric.switch) == ("gpu-02", "0000:06:00", "fatal", 48, 1)


SAMPLE = (
    "Mar  1 11:50:00 gpu-02 kernel: usb 1-1: neues Gerät, Spannung 3,3 V\n"
    f"Mar  1 11:50:01 gpu-02 kernel: [  812.345678] {LOST}\n"
    "Mar  1 11:50:02 gpu-02 kernel: nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 60 Minion\n"
    + journal("NVRM: Xid (PCI:0000:5d:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer")
    + "\n"
).encode()


def test_truncated_anywhere_the_lines_before_are_read() -> None:
    for end in range(len(SAMPLE)):
        found = read(SAMPLE[:end])
        assert len(found.get("xids", [])) >= (end > SAMPLE.index(b"pid=")) + 0
    assert len(read(SAMPLE)["xids"]) == 2


@pytest.mark.parametrize(
    "noise",
    [
        b"\x00" * 3000,
        b"\x1b[31m" * 700,
        b"\xc3",
        b"NVRM: Xid (PCI:",
        b"[" * 5000,
        b'{"MESSAGE":"' + b"\\" * 4000,
        b"x" * 20_000,
        b"\xff\xfe\r",
    ],
)
def test_a_bad_line_costs_no_good_one(noise: bytes) -> None:
    lines = SAMPLE.split(b"\n")
    for at in range(len(lines)):
        text = b"\n".join([*lines[:at], noise, *lines[at:]])
        assert [fact.code for fact in read(text)["xids"] if isinstance(fact, Xid)] == [79, 48]


@settings(max_examples=60, derandomize=True)
@given(st.binary(max_size=300), st.integers(0, 400))
def test_no_bytes_break_it(data: bytes, at: int) -> None:
    for text in (data, SAMPLE[:at] + data + SAMPLE[at:], b"NVRM: Xid " + data, b"nvidia-nvswitch0: SXid (PCI:" + data):
        read(text)


@settings(max_examples=25, derandomize=True)
@given(st.lists(st.integers(1, 120), min_size=1, max_size=40))
def test_pages_may_be_cut_anywhere(sizes: list[int]) -> None:
    def pages() -> Iterator[Output]:
        at = 0
        for size in [*sizes, len(SAMPLE)]:
            yield page(SAMPLE[at : at + size])
            at += size

    assert kernel.log(pages(), NOWHERE) == read(SAMPLE)


@pytest.mark.parametrize(
    "line",
    ["NVRM: Xid (" * 90_000, "SXid (PCI:" * 90_000, '{"MESSAGE":"NVRM: Xid ' * 40_000, "[1.0] a kernel: " * 60_000, "pid='" * 200_000],
)
def test_a_megabyte_in_one_line(line: str) -> None:
    assert not xids(line + "\n")


def test_blocks_give_what_one_piece_gives() -> None:
    chance = random.Random(3)
    made = [
        f"[{n / 7:12.6f}] " + (LOST if n % 97 == 0 else "veth entered state " + "x" * chance.randrange(200)) + "\n" for n in range(30_000)
    ]
    text = "".join(made).encode()
    found = read(text)["xids"]
    assert found == kernel.log((page(text[at : at + 70_001]) for at in range(0, len(text), 70_001)), NOWHERE)["xids"]
    assert sum(xid.count for xid in found if isinstance(xid, Xid)) == len(made) // 97 + 1


# --- what they add up to


def summed(text: str, **more: Any) -> list[GpuErrors]:
    return [fact for fact in errors(read(text) | more, {}, NOW)["gpu_errors"] if isinstance(fact, GpuErrors)]


def rows(text: str, **more: Any) -> list[TimelineEntry]:
    return [fact for fact in timeline(read(text) | more, {}, NOW)["timeline"] if isinstance(fact, TimelineEntry)]


def test_the_errors_of_a_gpu_in_their_order() -> None:
    text = (
        "[9.0] NVRM: Xid (PCI:0000:3b:00): 43, pid=8, name=b, Ch 1\n[5.0] NVRM: Xid (PCI:0000:3b:00): 62, 31fa0a2c 00013d60\n"
        "[7.0] NVRM: Xid (PCI:0000:5d:00): 94, Contained: SM (0x1). RST: No, D-RST: No\n"
        "[9.5] NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n"
    )
    first, second = summed("[1.0] boot\n" + text)
    assert first.codes in ([62, 43, 154], [43, 62, 154])  # the time went back: a boot in between
    assert (first.beyond, first.action, first.act, first.programs, first.peers_hit) == ([62], "reset", "reset-gpu", 1, 1)
    assert second.beyond == [94]
    asked = Gpu(pci="0000:5d:00", recovery_action="reboot")
    assert summed(text, gpus=[asked])[1].act == "reboot"


def test_memory_and_the_die() -> None:
    dram = "NVRM: Xid (PCI:0000:3b:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 4, subpartition 1"
    (framebuffer,) = summed(f"[1.0] {dram}\n")
    assert (framebuffer.dram, framebuffer.sram) == (True, False)
    (cache,) = summed("[1.0] NVRM: Xid (PCI:0000:3b:00): 48, An uncorrectable double bit error (DBE) has been detected on GPU (LTC)\n")
    assert (cache.dram, cache.sram) == (False, True)
    warp = "NVRM: Xid (PCI:0000:3b:00): 13, pid='<unknown>', name=<unknown>, Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Illegal Instruction Encoding"
    twice = "".join(
        f"[{at}.0] {warp}\n[{at}.1] NVRM: Xid (PCI:0000:3b:00): 43, pid={at}, name={name}, Ch 1\n" for at, name in ((100, "a"), (500, "b"))
    )
    assert summed(twice)[0].faulty == ["GPC 1, TPC 3"]
    assert summed(twice.replace("name=b", "name=a"))[0].faulty == []


def test_the_history_of_a_gpu() -> None:
    text = (
        "[9.0] nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)\n"
        f"[10.0] {LOST}\n[10.0] NVRM: Xid (PCI:0000:3b:00): 45, pid=7, name=train, Ch 1\n"
        "[12.0] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63 LTSSM Fault Up\n"
    )
    more = {"process_pods": [ProcessPod(pid=7, pod_uid="u-1")], "pods": [Pod(namespace="ml", pod="train-0", uid="u-1")]}
    found = rows(text, **more)
    assert [(row.kind, row.code, row.pod, row.first) for row in found] == [
        ("message", None, "", False),
        ("xid", 79, "", True),
        ("xid", 45, "ml/train-0", False),
        ("sxid", 20034, "", False),
    ]
    assert found[1].when == "10.0 s after boot"
    assert found[2].who == "train (7)"
    assert found[0].what.startswith("nvidia 0000:3b:00.0: PCIe Bus Error")


def test_a_long_history_keeps_its_beginning_and_its_end() -> None:
    text = "".join(f"[{n * 100}.000000] NVRM: Xid (PCI:0000:3b:00): 31, pid={n}, name=a, Ch 1\n" for n in range(1, 200))
    found = rows(text)
    assert len(found) == ROWS
    assert found[0].who == "a (1)"
    assert found[-1].who == "a (199)"
    assert sum(row.count for row in found) == 199


def test_every_known_code_leads_to_a_finding() -> None:
    lines = []
    for entry in book().xids:
        text = entry.forms[0].line if entry.forms else "some text"
        text = text.partition(f"): {entry.code}, ")[2] or text
        lines.append(f"2026-03-01T11:59:00,000000+00:00 gpu-{entry.code:03d} kernel: NVRM: Xid (PCI:0000:3b:00): {entry.code}, {text}")
    found = kernel.log([page("\n".join(lines) + "\n")], NOWHERE)
    report = analyze(library(), found, [InputFile(path="dmesg.txt", recognised_as=["kernel.log"])], NOW)
    about = {one.subject.name.split("/")[0] for one in report.findings} | {one.subject.name.split("/")[0] for one in report.candidates}
    about |= {name.split("/")[0] for one in report.findings for name in one.also}
    nothing_to_do = {"gpu-154"} if all(row.action == "none" for row in book().recovery[:1]) else set()
    assert {f"gpu-{entry.code:03d}" for entry in book().xids} - about <= nothing_to_do


# --- whose process it was

UID = "3f2a9c1e-7b4d-4e0a-9d55-0c1b2a3d4e5f"
BOX = "7d0c5b1f2a3e4d5c6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5"


@pytest.mark.parametrize(
    ("text", "pod", "container"),
    [
        (
            f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice/cri-containerd-{BOX}.scope\n",
            UID,
            BOX,
        ),
        (f"12:devices:/kubepods/besteffort/pod{UID}/{BOX}\n11:memory:/kubepods/besteffort/pod{UID}/{BOX}\n", UID, BOX),
        (f"0::/kubepods.slice/kubepods-pod{UID.replace('-', '_')}.slice/crio-{BOX}.scope/container\n", UID, BOX),
        (f"0::/kubelet/kubepods/burstable/pod{UID}/{BOX}\n", UID, BOX),
        (f"4:memory:/docker/{BOX}\n", "", BOX),
        (f"0::/system.slice/docker-{BOX}.scope\n", "", BOX),
        (f"0::/kubepods/burstable/pod{UID.replace('-', '')}/{BOX}\n", UID.replace("-", ""), BOX),
        ("0::/user.slice/user-1000.slice/session-4.scope\n", "", ""),
        ("0::/\n", "", ""),
    ],
)
def test_the_control_group_names_pod_and_container(text: str, pod: str, container: str) -> None:
    (fact,) = cgroup.cgroup(page(text, "cat", "/proc/42/cgroup"), Subject(kind="node", node="gpu-02"))["process_pods"]
    assert isinstance(fact, ProcessPod)
    assert (fact.node, fact.pid, fact.pod_uid, fact.container_id) == ("gpu-02", 42, pod, container)


@settings(max_examples=60, derandomize=True)
@given(st.text(max_size=200))
def test_no_control_group_breaks_its_parser(text: str) -> None:
    for made in (text, f"0::/kubepods/pod{text}", f"1:{text}:/"):
        with suppress(ParseError):
            cgroup.cgroup(page(made, "cat", "/proc/42/cgroup"), NOWHERE)


def test_what_is_no_control_group_is_refused_by_name() -> None:
    with pytest.raises(ParseError, match="cat /proc/42/cgroup: no control groups of a process: Segmentation fault"):
        cgroup.cgroup(page("Segmentation fault\n", "cat", "/proc/42/cgroup"), NOWHERE)
    assert cgroup.cgroup(page("", "cat", "/proc/42/cgroup"), NOWHERE) == {"process_pods": []}


# --- files


def test_files_of_several_kinds_and_what_is_recent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "2026-03-01T02:00:00,000000+00:00 NVRM: Xid (PCI:0000:5d:00): 31, pid=7, name=a, Ch 1\n"
    new = f"2026-03-01T11:50:00,000000+00:00 {LOST}\n2026-03-01T12:00:00,000000+00:00 eth0: link up\n"
    (tmp_path / "dmesg.txt").write_text(old + new)
    (tmp_path / "more.log.gz").write_bytes(gzip.compress(f"[10.000000] {LOST}\n".encode()))
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\x00\x00")
    gathered = kernel_files.read([str(tmp_path / name) for name in ("dmesg.txt", "more.log.gz", "photo.png")], None)
    assert gathered.now == NOW
    assert [(x.code, x.age) for x in gathered.facts["xids"] if isinstance(x, Xid)] == [(31, 36000.0), (79, 600.0), (79, None)]
    assert [(one.recognised_as, bool(one.note)) for one in gathered.inputs] == [(["kernel.log"], False)] * 2 + [([], True)]
    recent = kernel_files.read([str(tmp_path / "dmesg.txt")], 7200.0)
    assert [x.code for x in recent.facts["xids"] if isinstance(x, Xid)] == [79]
    uptimes = f"[  10.000000] {LOST}\n[9000.000000] {LOST.replace('3b', '5d')}\n"
    (tmp_path / "piped").write_text(uptimes)
    with (tmp_path / "piped").open() as given:
        monkeypatch.setattr(sys, "stdin", given)
        piped = kernel_files.read(["-"], 3600.0)
    assert [x.pci for x in piped.facts["xids"] if isinstance(x, Xid)] == ["0000:5d:00"]


# --- other drivers, other words, the same condition

ON = "NVRM: Xid (PCI:0000:3b:00): "
SIBLINGS = [
    ("NVRM: GPU at 0000:02:00.0 has fallen off the bus.", "gpu-fallen-off-bus", "reboot"),
    (
        f"{ON}79, pid=0, GPU has fallen off the bus.\n{ON}154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
        "gpu-fallen-off-bus",
        "reset-gpu",
    ),
    (
        f"{ON}95, pid=7, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No\n{ON}45, pid=7, name=a, Ch 1",
        "gpu-ecc-uncorrectable",
        "reset-gpu",
    ),
    (f"{ON}62, 3a0f(3b94) 00000000 00000000\n{ON}45, Ch 00000010", "xid62-internal-microcontroller", "reset-gpu"),
    (f"{ON}61, 0cec(3098) 00000000 00000000", "xid62-internal-microcontroller", "reset-gpu"),
    (f"{ON}119, pid=430, name=nv_queue, Timeout waiting for RPC from GSP!", "gsp-rpc-timeout", "reset-gpu"),
    (f"{ON}31, Ch 00000058, engmask 00010101, intr 10000000", "application-illegal-memory-access", "restart-job"),
    (
        f"{ON}63, pid=9, Dynamic Page Retirement: New retired page, reload the driver to activate. (0xa0b1c2)",
        "page-retirement-pending",
        "reset-gpu",
    ),
    ("nvidia-nvswitch2: SXid (PCI:0000:0c:00.0): 20009, Non-fatal, Link 44 RX Short Error Rate", "nvswitch-sxid-nonfatal-info", "watch"),
    (
        "nvidia-nvswitch2: SXid (PCI:0000:0c:00.0): 14017, Fatal, Link 44 ROUTE unit non-posted ECC DBE (First)",
        "nvswitch-sxid-fatal",
        "reset-gpu",
    ),
    (
        f"{ON}149, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x004505c6 0x0 0x0 0x0 0x0 0x0)\n{ON}45, pid=1, name=a, Ch 1",
        "nvlink5-link-down",
        "reset-gpu",
    ),
    (f"{ON}92, High single-bit ECC error rate", "ecc-correctable-rising", "watch"),
]


@pytest.mark.parametrize(("text", "cause", "act"), SIBLINGS)
def test_the_same_condition_in_other_words(text: str, cause: str, act: str) -> None:
    report = analyze(library(), read(text + "\n"), [InputFile(path="dmesg.txt", recognised_as=["kernel.log"])], NOW)
    assert (report.findings[0].cause, report.findings[0].act) == (cause, act)


def test_a_log_without_an_error_says_so_and_a_text_that_is_no_log_says_nothing() -> None:
    assert read("[    1.000000] usb 1-1: new device\n") == {
        "xids": [],
        "sxids": [],
        "messages": [],
        "kernel_logs": [KernelLog(origin=Origin("dmesg"))],
    }
    assert read("dmesg: read kernel buffer failed: Operation not permitted\n") == {}
    assert read("") == {}


def test_an_error_without_a_date_is_as_old_as_the_log_goes_on_after_it() -> None:
    log = f"[  100.000000] {LOST}\n[ 7300.000000] eth0: link up\n"
    assert [xid.age for xid in xids(log)] == [7200.0]
    assert [xid.age for xid in xids(f"{log}[    0.000000] Linux version 5.15\n[  500.000000] eth0: link up\n")] == [None]  # another boot


def test_files_without_an_error_or_without_a_log(tmp_path: Path) -> None:
    (tmp_path / "quiet.log").write_text("[    1.000000] usb 1-1: new device\n")
    (tmp_path / "refused.log").write_text("dmesg: read kernel buffer failed: Operation not permitted\n")
    quiet, refused = (kernel_files.read([str(tmp_path / name)], None) for name in ("quiet.log", "refused.log"))
    assert (quiet.inputs[0].recognised_as, analyze(library(), quiet.facts, quiet.inputs, 0.0).verdict) == (["kernel.log"], "healthy")
    assert (refused.facts, refused.inputs[0].note) == ({}, "no line of a kernel log")
    assert analyze(library(), refused.facts, refused.inputs, 0.0).verdict == "inconclusive"


@pytest.mark.parametrize(
    ("line", "node"),
    [
        ('Mar  1 12:00:00 gpu-07 containerd[812]: time="2026-03-01T12:00:00Z" level=error', "gpu-07"),
        ("2026-03-01T12:00:00+0000 gpu-07 kubelet[1432]: E0301 12:00:00.1 1432 a.go:1] x", "gpu-07"),
        ("2026-03-01T12:00:00.123456+00:00 gpu-07 nvidia-fabricmanager-start.sh[1]: x", "gpu-07"),
        ("Mar  1 12:00:00 gpu-07 systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.", "gpu-07"),
        ('time="2026-03-01T12:00:00Z" level=fatal msg="Error starting nv-hostengine: DCGM initialization error"', ""),
        ("the kubelet: x", ""),
    ],
)
def test_the_host_of_a_daemons_line_stands_behind_its_date(line: str, node: str) -> None:
    from gpudoctor.tools.kernel.line import line_of

    assert line_of(line, 1.8e9).node == node
