"""What sound machines print, over the breadth of the world: nothing of it may be called a problem. Each text has what looks suspicious."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes import bus, dcgmi, nvlink
from tests.nodes.smi import Card, Process, smi_q, smi_xml
from tests.nodes.smi_table import smi_list, smi_table

H100 = Card()
PLAIN = replace(H100, fabric=("N/A", "N/A"), health="N/A", tlimit=None, memory_temperature=None)  # without NVSwitch
A100 = replace(PLAIN, product="NVIDIA A100-SXM4-80GB", power_limit=400.0, power_default=400.0, memory_total=81920, pcie=(4, 4, 4, 4))
T4 = replace(PLAIN, product="Tesla T4", power_limit=70.0, power_default=70.0, memory_total=15360, retired=(0, 0, "No"), pcie=(3, 3, 3, 3))
V100 = replace(PLAIN, product="Tesla V100-SXM2-16GB", power_limit=300.0, power_default=300.0, retired=(2, 0, "No"), pcie=(3, 3, 3, 3))
GEFORCE = replace(PLAIN, product="NVIDIA GeForce RTX 3080", ecc=("N/A", "N/A"), power_limit=320.0, power_default=320.0, fan="60 %")
BUSY = {"utilisation": 100, "memory_used": 14000, "active": ("sw_power_cap",), "processes": (Process(4321),)}


def beside(card: Card, count: int = 2) -> list[Card]:
    """Equal cards of one machine."""
    return [replace(card, index=index, pci=f"0000:{0x1B + 8 * index:02x}:00.0") for index in range(count)]


def dmesg(*lines: str) -> str:
    """Lines of a kernel log between the start and an hour later, by the seconds since boot."""
    more = ("Linux version 5.15.0-105-generic", *lines, "IPv6: ADDRCONF(NETDEV_CHANGE): cali1: link becomes ready")
    return "".join(f"[{number * 3700 / (len(more) - 1):12.6f}] {line}\n" for number, line in enumerate(more))


def table_of(product: str, fan: str, temperature: str, state: str, power: str, memory: str, use: str, shown: str = "Off") -> str:
    """nvidia-smi's table of one card whose fields are as odd as that of Jetson, GB10, vGPU and laptops."""
    rule = f"+{'-' * 41}+{'-' * 24}+{'-' * 22}+"
    return "\n".join(
        [
            f"+{'-' * 89}+",
            f"| NVIDIA-SMI 580.95.05{'':<14} Driver Version: 580.95.05      CUDA Version: 13.0{'':<5}|",
            rule,
            "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |",
            "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |",
            "|                                         |                        |               MIG M. |",
            f"|{'=' * 41}+{'=' * 24}+{'=' * 22}|",
            f"|   0  {product:<28}  On  |   0000000F:01:00.0 {shown:<3} |                  N/A |",
            f"| {fan:<4} {temperature:<4}   {state:<3}         {power:>16} | {memory:<22} |  {use:>6}      Default |",
            "|                                         |                        |                  N/A |",
            rule,
            "",
        ]
    )


LAPTOP_LINK = (
    "pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 "
    "(capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"
)
LOADING = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024"
XID_43 = "NVRM: Xid (PCI:0000:1b:00): 43, pid=4711, name=python3, Ch 00000010"
UNSUPPORTED = (
    "NVRM: rpcRmApiControl_GSP: GspRmControl failed: hClient=0xc1d00001; hObject=0xcaf00000; cmd=0x20800a6c; paramsSize=0x8; "
    "paramsStatus=0x56; status=0x56"
)
PAST = replace(H100, remapped=(2, 1, "No", "No"), volatile=(0, 0, 3, 0), aggregate=(5, 1, 120, 1))
MIG = replace(A100, mig=("Enabled", "Enabled"), said={"utilization/gpu_util": "N/A", "utilization/memory_util": "N/A"})
NO_LINKS = "GPU {0}: NVIDIA A40 (UUID: GPU-0000000{0}-0000-4000-8000-000000000000)\n\t Link 0: <inactive>\n\t Link 1: <inactive>\n"
SHARED = """\tCapabilities: [bcc v1] Single Root I/O Virtualization (SR-IOV)
\t\tInitial VFs: 32, Total VFs: 32, Number of VFs: 16, Function Dependency Link: 00
\t\tVF offset: 4, stride: 1, Device ID: 2235
\tKernel driver in use: nvidia
"""
A40 = replace(PLAIN, product="NVIDIA A40", pci="0000:41:00.0")
VIRTUAL = [bus.Slot(f"0000:41:{number // 8:02x}.{number % 8}", product="GA102GL [A40]", device="2235") for number in range(4, 20)]
DIAG = {
    "Deployment": [("software", {0: "Pass", 1: "Pass"}, [])],
    "Hardware": [("memory", {0: "Pass", 1: "Pass"}, []), ("pulse_test", {0: "Skip", 1: "Skip"}, [])],
}


# name → file → text
def cut(listed: str) -> str:
    """The list of nvidia-smi -L with one instance on each card."""
    instance = "  MIG 7g.80gb     Device  0: (UUID: MIG-5a0c1f2e-0000-4000-8000-00000000000{})"
    lines = listed.rstrip("\n").split("\n")
    return "".join(f"{line}\n{instance.format(number)}\n" for number, line in enumerate(lines))


HEALTHY: dict[str, dict[str, str]] = {
    "K80 at 99 % without persistence": {
        "a": smi_table(beside(replace(PLAIN, product="Tesla K80", persistence=False, utilisation=99)), "535.183.06")
    },
    "V100 at its operating limit": {"a": smi_q(beside(replace(V100, temperature=85, power=299.0, **BUSY)), "535.183.06")},
    "T4 at 85 °C and its power cap": {"a": smi_xml(beside(replace(T4, temperature=85, power=69.9, sm_clock=900, **BUSY)), "535.183.06")},
    "H100 at 83 °C and its power cap": {"a": smi_q(beside(replace(H100, temperature=83, tlimit=4, power=699.0, **BUSY)))},
    "H100 that has remapped rows": {"a": smi_q(beside(PAST))},
    "A100 with ECC off": {"a": smi_q(beside(replace(A100, ecc=("Disabled", "Disabled"))), "535.183.06")},
    "A100 with MIG": {"a": smi_xml(beside(MIG), "535.183.06"), "b": cut(smi_list(beside(MIG)))},
    "L4 with its link asleep": {"a": smi_q(beside(replace(PLAIN, product="NVIDIA L4", pcie=(4, 1, 4, 4), pstate=8)), "550.90.07")},
    "B200 in slots of generation 5": {"a": smi_q(beside(replace(H100, product="NVIDIA B200", pcie=(5, 5, 6, 5))), "580.82.07")},
    "GB200": {"a": smi_xml(beside(replace(H100, product="NVIDIA GB200", pcie=(5, 5, 6, 5))), "580.82.07")},
    "H100 passed through": {"a": smi_q(beside(replace(H100, pcie=(5, 1, 5, 1), fabric=("N/A", "N/A"), health="N/A"), 1))},
    "a GeForce in a slot of one lane": {"a": smi_q([replace(GEFORCE, width=(16, 1))])},
    "a laptop whose firmware holds the power": {
        "a": smi_q(
            [replace(GEFORCE, product="NVIDIA GeForce RTX 4070 Laptop GPU", power=34.8, power_limit=35.0, power_default=80.0, **BUSY)]
        )
    },
    "two workstation cards in slots of different width": {
        "a": smi_q([replace(card, product="NVIDIA RTX A6000", width=(16, 16 - 8 * card.index)) for card in beside(PLAIN)], "535.183.06")
    },
    "a GeForce at work": {"a": smi_xml([replace(GEFORCE, pstate=2, temperature=74, power=310.0, **BUSY)], "535.183.06")},
    "fields that a release can't read": {
        "a": smi_q(
            [replace(GEFORCE, fan="Unknown Error", said={"addressing_mode": "Unknown Error", "pci/replay_counter": "Unknown Error"})]
        )
    },
    "Jetson": {"a": table_of("Orin (nvgpu)", "N/A", "N/A", "N/A", "N/A /  N/A", "Not Supported", "N/A")},
    "GB10 with a display": {"a": table_of("NVIDIA GB10", "N/A", "71C", "P0", "38W /  N/A", "Not Supported", "95%", "On")},
    "a vGPU's guest": {"a": table_of("GRID A100D-20C", "N/A", "N/A", "P0", "N/A /  N/A", "1MiB / 20480MiB", "0%")},
    "a laptop": {
        "a": table_of("NVIDIA GeForce RTX 3050 ...", "N/A", "41C", "P8", "N/A /   35W", "5MiB / 4096MiB", "0%"),
        "dmesg": dmesg(LAPTOP_LINK, "nvidia 0000:01:00.0: vgaarb: VGA decodes changed: olddecodes=io+mem"),
    },
    "a host of virtual GPUs": {
        "lspci": bus.lspci([bus.Slot("0000:41:00.0", product="GA102GL [A40]", device="2235")]).replace(
            "\tKernel driver in use: nvidia\n", SHARED
        )
        + bus.lspci(VIRTUAL),
        "a": smi_q([A40], "550.90.07"),
    },
    "an error of a program that is long over": {"dmesg": dmesg(XID_43, *["usb 1-1: new device"] * 40)},
    "the same in a syslog": {
        "syslog": f"Feb 27 08:10:01 gpu-07 kernel: {XID_43}\nMar  1 11:58:00 gpu-07 kernel: eth0: link becomes ready\n"
    },
    "complaints of a start that went well": {
        "dmesg": dmesg(
            "nouveau 0000:01:00.0: NVIDIA TU117 (167000a1)",
            "nouveau 0000:01:00.0: Direct firmware load for nvidia/ad102/gsp/gsp-535.113.01.bin failed with error -2",
            "PKCS#7 signature not signed with a trusted key",
            "nvidia: loading out-of-tree module taints kernel.",
            "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
            "nvidia-nvlink: Nvlink Core is being initialized, major device number 508",
            LOADING,
            "NVRM: Persistence mode is deprecated and will be removed in a future release. Please use nvidia-persistenced instead.",
            UNSUPPORTED,
        )
    },
    "a server's noise": {
        "dmesg": dmesg(
            LOADING,
            "pci 0000:15:00.0: BAR 14: failed to assign [mem size 0x00200000]",
            "pci 0000:1b:00.0: BAR 6: failed to assign [mem size 0x00080000 pref]",
            "pcieport 0000:15:01.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+",
            "pcieport 0000:3b:00.0: pciehp: Slot(5): Link Down",
            "pcieport 0000:15:01.0: AER: Multiple Corrected error received: 0000:1b:00.0",
            "mlx5_core 0000:2a:00.1: Port module event: module 1, Cable unplugged",
            "mlx5_core 0000:2a:00.1: mlx5_pcie_event:301:(pid 933): Detected insufficient power on the PCIe slot (27W).",
            "EDAC MC3: 1 CE memory read error on CPU_SrcID#0_MC#3_Chan#0_DIMM#0 (channel:0 slot:0 page:0x1 offset:0x0 grain:32)",
            "mce: CPU12: Package temperature above threshold, cpu clock throttled (total events = 1)",
            "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
            "NVRM: Xid (PCI:0000:1b:00): 45, pid=4711, name=python3, Ch 00000008",
            "nvidia-nvswitch3: SXid (PCI:0000:08:00.0): 22013, Non-fatal, Link 12 Minion Link DLREQ interrupt",
        )
    },
    "a fabric manager that was restarted": {
        "fabricmanager.log": "[Mar 01 2026 09:00:01] [INFO] [tid 2301] Fabric Manager version 550.90.07 is running\n"
        "[Mar 01 2026 09:00:09] [INFO] [tid 2301] Successfully configured all the available GPUs and NVSwitches to route NVLink traffic.\n"
        "[Mar 01 2026 09:20:11] [INFO] [tid 2333] multicast team setup request handle 9 freed\n"
        "[Mar 01 2026 10:00:00] [INFO] [tid 2301] Received signal 15, shutting down\n"
        "[Mar 01 2026 10:02:09] [INFO] [tid 2501] Successfully configured all the available GPUs and NVSwitches to route NVLink traffic.\n"
    },
    "cards without a bridge": {"a": NO_LINKS.format(0) + NO_LINKS.format(1)},
    "twelve of twelve links, and two old CRC errors": {
        "a": nvlink.status(beside(A100), 12),
        "b": nvlink.errors(beside(A100), 12, {(0, 3, "Replay"): 1, (1, 5, "CRC"): 2}),
        "c": nvlink.topo(2, 12),
    },
    "NVLink 5's counters": {"a": nvlink.errors5(beside(replace(H100, product="NVIDIA B200")))},
    "DCGM": {"health": dcgmi.health("Healthy"), "diag": dcgmi.diag_4(DIAG), "policy": dcgmi.policy(), "list": dcgmi.discovery({})},
    "a kubelet that starts before the API server": {
        "kubelet": """\
Mar 01 11:00:02 gpu-01 kubelet[1200]: E0301 11:00:02.200000    1200 kubelet_node_status.go:94] "Unable to register node with API server" \
err="Post \\"https://10.0.0.1:6443/api/v1/nodes\\": dial tcp 10.0.0.1:6443: connect: connection refused" node="gpu-01"
Mar 01 11:00:03 gpu-01 kubelet[1200]: E0301 11:00:03.200000    1200 kubelet.go:2892] "Container runtime network not ready" \
networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
Mar 01 11:00:09 gpu-01 kubelet[1200]: I0301 11:00:09.200000    1200 kubelet_node_status.go:76] "Successfully registered node" node="gpu-01"
Mar 01 11:00:12 gpu-01 kubelet[1200]: I0301 11:00:12.200000    1200 kubelet_node_status.go:497] \
"Fast updating node status as it just became ready"
"""
    },
}
