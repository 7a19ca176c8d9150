"""Kernel logs of machines: what the driver logs for each kind of error, in the order in which it does, among what kernels say all day."""
# ruff: noqa: E501  (lines of logs are as long as they are)

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from tests.nodes.case import Case, Said

BOOK = "xid-triage"
DMESG = "dmesg --time-format=iso"
JOURNAL = "journalctl -k -b 0 -o short-iso --no-pager"
A, B, C, D = "0000:1b:00", "0000:43:00", "0000:52:00", "0000:61:00"
DENIED = Said("", 1, "dmesg: read kernel buffer failed: Operation not permitted")

START = (
    "Linux version 5.15.0-119-generic (buildd@lcy02-amd64-075) (gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0) #129-Ubuntu SMP",
    "nvidia: loading out-of-tree module taints kernel.",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 508",
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.172.08  Tue Jul  8 18:09:21 UTC 2025",
    "mlx5_core 0000:5d:00.0: Port module event: module 0, Cable plugged",
    "pcieport 0000:40:01.0: AER: Corrected error received: 0000:43:00.0",
    "mce: CPU12: Package temperature above threshold, cpu clock throttled (total events = 71)",
)


def log(*lines: str, hour: int = 11, minute: int = 50) -> str:
    """A kernel log as `dmesg --time-format=iso` prints it: the start of the machine, then these lines, a second apart."""
    told = [f"2026-02-27T08:00:{second:02d},104233+00:00 {line}" for second, line in enumerate(START)]
    told += [f"2026-03-01T{hour:02d}:{minute:02d}:{second:02d},104233+00:00 {line}" for second, line in enumerate(lines)]
    return "\n".join(told) + "\n"


def journal(node: str, *lines: str) -> str:
    """The same lines as the journal prints them."""
    told = [f"2026-02-27T08:00:{second:02d}+0000 {node} kernel: {line}" for second, line in enumerate(START)]
    told += [f"2026-03-01T11:50:{second:02d}+0000 {node} kernel: {line}" for second, line in enumerate(lines)]
    return "\n".join(told) + "\n"


def xid(address: str, code: int, text: str, pid: int | None = None, name: str = "python3") -> str:
    """One Xid line of a driver of today."""
    who = f"pid={pid}, name={name}, " if pid is not None else "pid='<unknown>', name=<unknown>, "
    return f"NVRM: Xid (PCI:{address}): {code}, {who}{text}"


def sxid(switch: int, code: int, text: str) -> str:
    """One line of an NVSwitch."""
    return f"nvidia-nvswitch{switch}: SXid (PCI:0000:{5 + switch:02x}:00.0): {code:05d}, {text}"


def machines(logs: dict[str, str | Said], **more: str | Said) -> Case:
    """A case of machines with these logs; `more` are answers of other commands, by command line without the host of the first machine."""
    first = next(iter(logs))
    answers: dict[str, str | Said | list[str]] = {f"{node}: {DMESG}": said for node, said in logs.items()}
    return Case(BOOK, {"nodes": ",".join(logs)}, answers | {f"{first}: {command}": said for command, said in more.items()})


def exceptions(address: str, places: Iterable[tuple[int, int]]) -> list[str]:
    """What the graphics engine says for each multiprocessor that met a bad address."""
    made = []
    for number, (gpc, tpc) in zip(count(), places, strict=False):
        place = f"(GPC {gpc}, TPC {tpc}, SM {number % 2})"
        made += [
            xid(address, 13, f"Graphics SM Warp Exception on {place}: Out Of Range Address"),
            xid(address, 13, f"Graphics SM Global Exception on {place}: Multiple Warp Errors"),
            xid(address, 13, "Graphics Exception: ESR 0x50a730=0x10d000e 0x50a734=0x24 0x50a728=0xf81eb60 0x50a72c=0x1174"),
        ]
    return made


FELL_OFF = (
    "pcieport 0000:1a:00.0: pciehp: Slot(7): Link Down",
    f"NVRM: GPU at PCI:{A}: GPU-5c1d9a70-2e64-4b8f-9d03-7a6f1e2b0001",
    "NVRM: GPU Board Serial Number: 1650123004417",
    xid(A, 79, "GPU has fallen off the bus."),
    f"NVRM: GPU {A}.0: GPU has fallen off the bus.",
    f"NVRM: GPU {A}.0: GPU serial number is 1650123004417.",
    xid(A, 45, "Ch 00000010", 4410),
    xid(A, 119, "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a6b 0x18).", 812, "nvidia-smi"),
    sxid(0, 20034, "Fatal, Link 34 LTSSM Fault Up"),
    sxid(0, 20034, "Severity 1 Engine instance 34 Sub-engine instance 00"),
    sxid(0, 20034, "Data {0x10000000, 0x10000000, 0x00000000, 0x10000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000}"),
    xid(B, 74, "NVLink: fatal error detected on link 2(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"),
    xid(C, 45, "Ch 00000020", 5122),
)  # fmt: skip

MODULE = {
    "gpu-01": log("Loading of unsigned module is rejected"),
    "gpu-02": log("NVRM: installed in this system requires use of the NVIDIA open kernel modules.", f"NVRM: GPU {A}.0: RmInitAdapter failed! (0x26:0x56:1463)"),
    "gpu-03": log("NVRM: The NVIDIA GPU 0000:1b:00.0 (PCI ID: 10de:1db6)", "NVRM: installed in this system is not supported by the NVIDIA 570.172.08 driver release."),
    "gpu-04": log("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:", "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:1b:00.0)"),
    "gpu-05": log("pci 0000:1b:00.0: BAR 1: no space for [mem size 0x1000000000 64bit pref]", "nvidia: probe of 0000:1b:00.0 failed with error -1"),
    "gpu-06": log("NVRM: GPU0 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP"),
    "gpu-07": log("WARNING: infoROM is corrupted at gpu 0000:1B:00.0", "GPU 3 has uncorrectable memory errors and row remappings are pending"),
    "gpu-08": log("GPU 3 had uncorrectable memory errors and row remapping failed", f"NVRM: GPU {A}.0: GPU does not have the necessary power cables connected."),
    "gpu-09": log("NVRM: RmFetchGspRmImages: No firmware image found"),
    "gpu-10": log("NVRM: API mismatch: the client 'nvidia-smi' (pid 4021)", "NVRM: has the version 570.172.08, but this kernel module has the version 570.133.20."),
    "gpu-12": log("NVRM: The NVIDIA Tesla M60 GPU installed in this system is", "NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please", "NVRM:  visit http://www.nvidia.com/object/unix.html for more", "NVRM:  information.  The 595.45.04 NVIDIA driver will ignore", "NVRM:  this GPU.  Continuing probe...", "NVRM: No NVIDIA GPU found."),
    "gpu-13": log("NVRM: The NVIDIA probe routine failed for 1 device(s).", "NVRM: None of the NVIDIA devices were initialized."),
    "gpu-14": log("NVRM: No NVIDIA GPU found."),
    "gpu-11": log("NVRM: The NVIDIA GPU 0000:1b:00.0", "NVRM: (PCI ID: 10de:2330) installed in this system has", "NVRM: fallen off the bus and is not responding to commands."),
}  # fmt: skip

CASES: dict[str, Case] = {
    "xid-file-server": machines(
        {
            "gpu-01": log("nfs: server 10.0.9.4 not responding, still trying"),
            "gpu-02": log("nfs: server 10.0.9.5 not responding, still trying", "nfs: server 10.0.9.5 OK"),
            "gpu-03": log("Memory cgroup out of memory: Killed process 4141 (dcgm-exporter) total-vm:3512344kB, anon-rss:498120kB"),
            "gpu-05": log(
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=ab12,mems_allowed=0,task=gpu-operator,pid=4242,uid=0"
            ),
            "gpu-04": log(
                "nv-hostengine[2814]: segfault at 18 ip 00007f3a1c2b14b2 sp 00007f3a1bd00ba0 error 6 in libdcgmmodulenvswitch.so.4.2.3"
            ),
        }
    ),
    "xid-quiet": machines(
        {
            "gpu-01": log(),
            "gpu-02": log("nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing"),
            "gpu-03": log(  # complaints of a start that went well
                "PKCS#7 signature not signed with a trusted key",
                "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
                "nouveau 0000:01:00.0: Direct firmware load for nvidia/ad102/gsp/gsp-535.113.01.bin failed with error -2",
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024",
                "NVRM: rpcRmApiControl_GSP: GspRmControl failed: hClient=0xc1d00001; hObject=0xcaf00000; cmd=0x20800a6c; paramsSize=0x8; paramsStatus=0x56; status=0x56",
            ),
        }
    ),
    "xid-no-log": machines({"gpu-01": DENIED}, **{JOURNAL: Said("", 1, "No journal files were opened due to insufficient permissions.")}),
    "xid-fell-off": Case(BOOK, {"nodes": "gpu-01"}, {f"gpu-01: {DMESG}": DENIED, f"gpu-01: {JOURNAL}": journal("gpu-01", *FELL_OFF)}),
    "xid-module-start": machines(MODULE),
    "xid-gsp": machines(
        {
            "gpu-01": log(
                xid(
                    A,
                    119,
                    "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 10 (FREE) (0xa55a0050 0x0).",
                    2088,
                    "dcgm",
                ),
                xid(B, 120, "GSP task exception: watchdog timeout @ pc:0x15e3cf2, task: 1"),
            ),
            "gpu-02": log(
                "NVRM: _kgspRpcRecvPoll: GPU0: RPC timeout waiting for GSP",
                "INFO: task nvidia-smi:21834 blocked for more than 120 seconds.",
            ),
            "gpu-03": log("NVRM: GPU0 GSP-CrashCat Report *******************************************"),
        }
    ),
    "xid-memory": machines(
        {
            "gpu-01": log(
                xid(
                    A,
                    48,
                    "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0x9e21b3c40 partition 3, subpartition 0.",
                ),
                xid(A, 63, "Row Remapper: New row (0x00000009e21b3c40) marked for remapping, reset gpu to activate."),
                xid(A, 94, "Contained: SM (0x1). RST: No, D-RST: No"),
                xid(A, 94, "Ch 00000008", 7301, "vllm"),
                xid(A, 154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)"),
                xid(B, 64, "Row Remapper: Error recording the row to the InfoROM: all reserved rows for bank are remapped"),
                xid(C, 94, "Contained: CE User Channel (0x9). RST: No, D-RST: No"),
                xid(C, 94, "Ch 0000000a", 7302, "trainer"),
                xid(D, 92, "High single-bit ECC error rate detected"),
            ),
            "gpu-02": log(
                xid(A, 63, "Dynamic Page Retirement: New retired page, reload the driver to activate. (0x000000000001c3f5)"),
                xid(B, 48, "An uncorrectable double bit error (DBE) has been detected on GPU (LTC)"),
            ),
        }
    ),
    "xid-card-or-program": machines(
        {
            "gpu-01": log(
                xid(A, 62, "31fa0a2c 00013d60 00000000 2027ac92 20291e66 20291f3e 20291fb2 20292a0a"),
                *exceptions(A, [(0, 1), (2, 3)]),
                xid(A, 43, "Ch 00000008", 9001, "trainer"),
                xid(A, 43, "Ch 00000009", 9120, "vllm"),
            ),
            "gpu-02": log(*exceptions(B, [(4, 2)]), xid(B, 43, "Ch 00000008", 9001, "trainer"), minute=5)
            + log(*exceptions(B, [(4, 2)]), xid(B, 43, "Ch 00000008", 9177, "vllm"), minute=40),
            "gpu-03": log(
                *(
                    xid(
                        A,
                        31,
                        f"Ch 0000000{n}, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_{n} faulted @ 0x7f1c_5a00{n}000. "
                        "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                        8000 + n,
                        name,
                    )
                    for n, name in enumerate(("trainer", "vllm", "jupyter"))
                ),
            ),
        }
    ),
    "xid-links": machines(
        {
            "gpu-01": log(
                xid(A, 74, "NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"),
                sxid(2, 11012, "Non-fatal, Link 32 egress non-posted PRIV error (First)"),
            ),
            "gpu-02": log(
                xid(A, 74, "NVLink: fatal error detected on link 3(0x0, 0x0, 0x0, 0x20000, 0x0, 0x0, 0x0)"),
                xid(B, 62, "31fa0a2c 00013d60 00000000 2027ac92 20291e66 20291f3e 20291fb2 20292a0a"),
            ),
            "gpu-03": log(
                xid(
                    "0008:01:00",
                    149,
                    "NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
                ),
                xid("0008:01:00", 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"),
                xid(
                    "0009:01:00",
                    145,
                    "RLW_SRC_TRACK Nonfatal XC1 i0 Link 10 (0x040948e2 0x00000008 0x00000000 0x00000000 0x00000000 0x00000000)",
                    8101,
                ),
                xid("0018:01:00", 136, "NVLink: Link training failed for link 4"),
            ),
            "gpu-04": log(
                sxid(1, 12028, "Non-fatal, Link 11 egress non-posted PRIV error (First)"),
                sxid(1, 12028, "Non-fatal, Link 12 egress non-posted PRIV error (First)"),
                sxid(1, 12028, "Severity 0 Engine instance 11 Sub-engine instance 00"),
            ),
            "gpu-05": log(
                sxid(0, 24007, "Fatal, Link 20 sourcetrack timeout error (First)"),
                sxid(0, 24007, "Severity 1 Engine instance 20 Sub-engine instance 00"),
            ),
            "gpu-06": log(
                sxid(
                    3,
                    99001,
                    "Data {0x00000020, 0x00000020, 0x00000000, 0x00000020, 0x80000302, 0x00000000, 0x00000000, 0x00000000, 0x00000000}",
                )
            ),
        }
    ),
    "xid-driver": machines(
        {
            "gpu-01": log(
                xid(A, 51, "BAD_TSG: channel 0x0000001c", 6001),
                xid(B, 109, "channel 0x0000001f, errorString CTX SWITCH TIMEOUT, Info 0x5c014", 6002, "blender"),
                xid(C, 46, "GPU stopped processing"),
                xid(D, 54, "Auxiliary power is not connected to the GPU board."),
            ),
            "gpu-02": log(
                "NVRM: nvCheckOkFailedNoLog: Check failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000083) returned from status @ kernel_fifo.c:412"
            ),
            "gpu-03": log(
                xid(A, 110, "SEC_FAULT lockdown, code 0x1"),
                xid(B, 143, "GPU initialization failed"),
                xid(C, 125, "InfoROM file system error: 0x3"),
                xid(D, 123, "SPI PMU RPC write failure"),
            ),
            "gpu-04": log(
                *exceptions(A, [(0, 0), (1, 1)]),
                xid(A, 43, "Ch 00000008", 6100, "game"),
                xid(A, 109, "channel 0x0000001f, errorString CTX SWITCH TIMEOUT, Info 0x5c014", 6101, "blender"),
            ),
            "gpu-05": log(
                xid(B, 109, "channel 0x00000021, errorString CTX SWITCH TIMEOUT, Info 0x2c01d", 6200, "trainer"),
                xid(B, 109, "channel 0x00000023, errorString CTX SWITCH TIMEOUT, Info 0x2c01d", 6201, "render"),
            ),
        }
    ),
    "xid-programs": machines(
        {
            "gpu-01": log(
                *exceptions(A, [(0, 0), (1, 1), (2, 2)]),
                xid(A, 43, "Ch 00000008", 5001, "trainer"),
                xid(B, 69, "Class Error: ChId 0008, Class 0000cbc0, Offset 00000184, Data ffffffff, ErrorCode 00000004", 5002, "vllm"),
                xid(C, 32, "Channel ID 00000012 intr0 00040000", 5003, "encoder"),
                "INFO: task python3:28468 blocked for more than 122 seconds.",
                "      Tainted: P           OE     5.15.0-119-generic #129-Ubuntu",
                "task:python3         state:D stack:    0 pid:28468 ppid:28001 flags:0x00000002",
                " nfs_wait_on_request+0x2f/0x40 [nfs]",
            ),
            "gpu-02": log(
                xid(
                    A,
                    31,
                    "Ch 00000007, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_6 faulted @ 0x7f5a_e7504000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
                    5010,
                ),
                hour=4,
            ),
            "gpu-03": log(
                "../aten/src/ATen/native/cuda/Indexing.cu:1289: indexSelectLargeIndex: block: [201,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
                "INFO: task kworker/3:1:411 blocked for more than 122 seconds.",
            ),
        },
        **{
            "cat /proc/5001/cgroup": "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod3f2a9c1e_7b4d_4e0a_9d55_0c1b2a3d4e5f.slice/"
            "cri-containerd-7d0c5b1f2a3e4d5c6b7a8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5.scope\n",
            "cat /proc/5002/cgroup": Said("", 1, "cat: /proc/5002/cgroup: No such file or directory"),
        },
    ),
    "xid-programs-say": machines(
        {
            "gpu-01": log("RuntimeError: CUDA error: an illegal memory access was encountered"),
            "gpu-02": log("RuntimeError: CUDA error: an illegal instruction was encountered"),
        }
    ),
    "xid-launch-failed": machines({"gpu-01": log("RuntimeError: CUDA error: unspecified launch failure")}),
    "xid-clock-offset": machines(
        {
            "gpu-01": log(
                "  Attribute 'GPUGraphicsClockOffset' (node-1:0[gpu:0]) assigned value 200.",
                xid(A, 13, "Graphics Exception: ESR 0x404490=0x80000001", 5001, "trainer"),
                xid(A, 109, "Ch 00000012, errorString CTX SWITCH TIMEOUT, Info 0x2c014", 5002, "render"),
            )
        }
    ),
    "xid-driver-asks": machines(
        {
            "gpu-01": log(
                xid(A, 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"),
                xid(B, 154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"),
                xid(C, 154, "GPU recovery action changed from 0x0 (None) to 0x3 (Drain P2P)"),
                xid(D, 154, "GPU recovery action changed from 0x0 (None) to 0x5 (Recover IMEX Domain)"),
            )
        }
    ),
    "large-region": machines({"gpu-01": log("pci 0000:3b:00.0: BAR 1: no space for [mem size 0x2000000000 64bit pref]")}),
    "xid-others": machines(
        {
            "gpu-01": log(
                xid(A, 167, "PCIe fatal timeout"),
                xid(B, 156, "Resource retirement event: TPC"),
                xid(C, 121, "C2C Link corrected errors"),
                xid(D, 998, "some text of a driver to come"),
            ),
            "gpu-02": log(
                "mlx5_core 0000:5d:00.0: 126.024 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x8 link at 0000:5a:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)",
                "EDAC MC2: 1 UE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0",
            ),
            "gpu-03": log(
                "pci 0000:1b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:17:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)"
            ),
            "gpu-04": log(
                "pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"
            ),
        }
    ),
}
