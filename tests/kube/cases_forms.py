"""The GPU stack where two outputs side by side tell what is wrong: labels and DaemonSets, a host and its guest, files under /dev."""

from __future__ import annotations

from tests.kube.case import Case
from tests.kube.cases_stack import CRASHES, NODE, NS, crashing, stack
from tests.kube.cases_without_gpu import case, trains
from tests.kube.objects import daemonset, node

PREINSTALLED = node(NODE, labels={"nvidia.com/gpu.deploy.driver": "pre-installed"})
CUDA = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment\n"
FILES = "crw-rw-rw- 1 root root 195,   0 Mar  1 09:22 /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 255 Mar  1 09:22 /dev/nvidiactl\n"

CASES: dict[str, Case] = {
    "driver-not-wanted": stack(
        daemonset("nvidia-driver-daemonset", NS, desired=0, current=0, ready=0, updated=0),
        on=PREINSTALLED,
        parts=("container_toolkit", "device_plugin"),
        device_plugin=CRASHES,
    ),
    "driver-of-a-guest": crashing(
        "driver",
        "nvidia-vgpu-mgr[20417]: notice: vmiop_log: display_init inst: 0 successful",
        "modprobe: ERROR: could not insert 'nvidia': No such device",
    ),
    "cuda-without-uvm": case(trains(), log=FILES + CUDA),
}
