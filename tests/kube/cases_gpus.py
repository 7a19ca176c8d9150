"""GPUs that fall ill under a running stack, as the plugin's log and the kernel log tell it."""

from __future__ import annotations

from tests.kube.case import Case
from tests.kube.cases_stack import CRASHES, GPU, NODE, PCI, SMI, STARTED, kernel, place, stack
from tests.kube.objects import node, pod

ROWS = """\
GPU 00000000:3B:00.0
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
GPU 00000000:5D:00.0
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : Yes
WARNING: infoROM is corrupted at gpu 0000:5D:00.0
"""

CASES: dict[str, Case] = {
    "xid-79": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        logs={
            place("device_plugin"): STARTED
            + f"I0301 11:30:02.000000 1 health.go:185] XidCriticalError: Xid=79 on Device={GPU}; marking device as unhealthy.\n"
            + f"I0301 11:30:02.000000 1 server.go:276] 'nvidia.com/gpu' device marked unhealthy: {GPU}\n"
        },
        dmesg=kernel(
            f"NVRM: GPU at PCI:{PCI}: {GPU}",
            "pcieport 0000:3a:00.0: pciehp: Slot(4): Link Down",
            f"NVRM: Xid (PCI:{PCI}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        ),
    ),
    "gpu-lost-at-boot": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        logs={place("device_plugin"): STARTED + f"Could not determine device placement for {GPU}: not found; Marking it unhealthy.\n"},
        dmesg=kernel("NVRM: The NVIDIA GPU 0000:3b:00.0", "NVRM: fallen off the bus and is not responding to commands."),
    ),
    "gsp": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 119, pid=4711, name=python3, Timeout waiting for RPC from GSP!",
            f"NVRM: Xid (PCI:{PCI}): 120, pid=4711, name=python3, GSP task exception",
        ),
        smi=SMI.replace("31C    P0             72W /  700W", "ERR!   P0             ERR!/  700W"),
    ),
    "gsp-silent": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        dmesg=kernel("NVRM: _kgspRpcRecvPoll: GPU0 GSP RPC timeout", "INFO: task nvidia-smi:21834 blocked for more than 120 seconds."),
    ),
    "memory-errors": stack(
        on=node(NODE, gpus=8, allocatable_gpus=6),
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 48, pid=4711, name=python3, DBE (double bit error)",
            f"NVRM: Xid (PCI:{PCI}): 63, pid=4711, name=python3, Row Remapper: New row marked for remapping",
            "NVRM: Xid (PCI:0000:5d:00): 64, pid=4712, name=python3, Row remapper failure",
        ),
    ),
    "program-errors": stack(
        pod("train-0", gpus=8, node=NODE, waiting=CRASHES, restarts=4, last=("Error", 1)),
        ask=["run", "gpu-stack", "--set", "name=train-0", "-n", "ml"],
        dmesg=kernel(
            f"NVRM: Xid (PCI:{PCI}): 31, pid=4711, name=python3, Ch 00000010, intr 00000000. MMU Fault: ENGINE GRAPHICS",
            "NVRM: Xid (PCI:0000:5d:00): 69, pid=4712, name=python3, Class Error: ChId 0008, Class 0000c6c0",
        ),
    ),
    "module-flavour": stack(
        driver=CRASHES,
        dmesg=kernel(
            "NVRM: installed in this system requires use of the NVIDIA open kernel modules.",
            "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x22:0x56:897)",
        ),
    ),
    "machine-setup": stack(
        driver=CRASHES,
        dmesg=kernel(
            "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:",
            "NVRM: GPU 0000:5d:00.0: GPU does not have the necessary power cables connected.",
        ),
    ),
    "driver-files": stack(
        driver=CRASHES,
        dmesg=kernel("NVRM: RmFetchGspRmImages: No firmware image found", "NVRM: API mismatch: the client 'nvidia-smi' (pid 4021)"),
    ),
    "gpu-start": stack(
        driver=CRASHES,
        dmesg=kernel(
            "pci 0000:5d:00.0: BAR 1: no space for [mem size 0x1000000000 64bit pref]",
            "nvidia: probe of 0000:5d:00.0 failed with error -1",
            "NVRM: GPU0 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP",
        ),
    ),
    "memory-rows": stack(
        on=node(NODE, gpus=8, allocatable_gpus=7),
        dmesg=kernel("GPU 3 has uncorrectable memory errors and row remappings are pending", "GPU 4: row remapping failed"),
        smi=ROWS,
    ),
}
