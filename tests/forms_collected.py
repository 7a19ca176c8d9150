"""Collections that people attach, made of what machines print (tests/nodes): the log of nvidia-bug-report.sh, must-gathers, a sosreport."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.nodes import bus, smi

RULE = "_" * 44
STAMP = "Sun Mar  1 12:00:00 UTC 2026"
GREETING = "[    0.000000] Linux version 5.15.0-105-generic (buildd@lcy02) #115-Ubuntu SMP"
LOST = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
FORUM = {2018: "devtalk.nvidia.com", 2025: "forums.developer.nvidia.com"}
BEGINNING = """\
Start of NVIDIA bug report log file.  Please include this file, along
with a detailed description of your problem, when reporting a graphics
driver bug via the NVIDIA Linux forum (see {forum})
or by sending email to 'linux-bugs@nvidia.com'."""


def card(**values: object) -> smi.Card:
    """A card that has been idle since it was started."""
    return smi.Card(active=("idle",), **values)  # type: ignore[arg-type]


def file(path: str, text: str) -> str:
    """A file of a bug report."""
    return f"*** {path}\n*** ls: -r--r--r-- 1 root root 0 2026-03-01 12:00:00.000000000 +0000 {path}\n{text}"


def bug_report(node: str = "gpu-07", *, year: int = 2025, kernel: str = LOST, cards: list[smi.Card] | None = None) -> str:
    """What nvidia-bug-report.sh writes about a machine; `kernel` is what the driver logged last."""
    query = {2018: "-q", 2025: "--query"}[year]
    listing = smi.smi_q(cards or [card()])
    date = "Mar  1 11:52:03"
    sections = [
        f"{BEGINNING.format(forum=FORUM[year])}\n\nnvidia-bug-report.sh Version: 34567890\n\nDate: {STAMP}\n"
        f"uname: Linux {node} 5.15.0-105-generic #115-Ubuntu SMP Mon Apr 15 09:52:04 UTC 2024 x86_64 x86_64 x86_64 GNU/Linux\n"
        "command line flags: \n",
        file("/etc/issue", "Ubuntu 22.04.4 LTS \\n \\l\n\n"),
        "*** /var/log/nvidia-installer.log does not exist\n",
        "Skipping ldd output (glxinfo not found)\n",
        f"/usr/bin/lspci -nnDvvvxxx\n\n{bus.lspci([bus.Slot()])}",
        "Scanning kernel log files for NVIDIA kernel messages:\n\n"
        f"  /var/log/kern.log:\n{date} {node} kernel: [ 6723.100000] {kernel}\n\n"
        f"  journalctl -b -0:\n{date} {node} kernel: {kernel}\n",
        f"dmesg:\n\n{GREETING}\n[ 6723.100000] {kernel}\n",
        'xset -q:\n\nxset:  unable to open display ""\n',
        file("/proc/modules", bus.modules("nvidia", "nvidia_uvm")),
        "*** /proc/pci does not exist\n",
        file("/proc/driver/nvidia/./version", bus.version()),
        f"/usr/bin/nvidia-smi {query}\n\n{listing}\n/usr/bin/nvidia-smi {query} {'-u' if year == 2018 else '--unit'}\n\n"
        "\n==============NVSMI LOG==============\n\nTimestamp                                 : Sun Mar  1 12:00:00 2026\n\n"
        "Attached Units                            : 0\n",
        "/usr/bin/nvidia-debugdump -D\n\nTlZSTTogWGlkIChQQ0k6MDAwMDoxYjowMCk6IDc5\n",
        "End of NVIDIA bug report log file.",
    ]
    return "".join(f"{RULE}\n\n{section}\n" for section in sections)


def must_gather(node: str = "gpu-07") -> dict[str, str]:
    """The files of the GPU operator's hack/must-gather.sh, of a cluster whose device plugin waits for MPS."""
    pod = "nvidia-device-plugin-daemonset-x2x7k"
    waits = "error waiting for MPS daemon: error checking MPS daemon health: failed to send command to MPS daemon: exit status 1"
    prefix = f"[pod/{pod}"
    return {
        "gpu_nodes.labels": f"{node}\n- kubernetes.io/hostname={node}\n- nvidia.com/gpu.count=8\n- nvidia.com/gpu.present=true\n\n"
        "gpu-08\n- kubernetes.io/hostname=gpu-08\n- nvidia.com/gpu.count=4\n- nvidia.com/gpu.present=true\n\n",
        "gpu_nodes.status": "NAME     STATUS   ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE             KERNEL-VERSION"
        "      CONTAINER-RUNTIME\n"
        f"{node}   Ready    <none>   90d   v1.31.4   10.0.0.7      <none>        Ubuntu 22.04.4 LTS   5.15.0-105-generic   containerd://1.7.24\n",
        f"gpu_operand_pod_{pod}.log": f"{prefix}/toolkit-validation] waiting for nvidia container stack to be setup\n"
        f"{prefix}/nvidia-device-plugin] I0301 11:58:00.100000       1 main.go:235] Starting NVIDIA-device-plugin\n"
        f"{prefix}/nvidia-device-plugin] E0301 11:59:00.100000       1 main.go:173] {waits}\n",
        f"gpu_operand_pod_{pod}.descr": f"Name:         {pod}\nNamespace:    gpu-operator\n"
        f"Node:         {node}/10.0.0.7\nStatus:       Running\n"
        "Containers:\n  nvidia-device-plugin:\n    Image:          nvcr.io/nvidia/k8s-device-plugin:v0.17.1\n    State:          Running\n"
        "    Ready:          False\n    Restart Count:  3\n",
        "must-gather.log": "Using ARTIFACT_DIR=/tmp/nvidia-gpu-operator_20260301_1200\nGet the operator namespaces\n",
    }


def openshift(node: str = "gpu-07") -> dict[str, str]:
    """Some of what `oc adm must-gather` leaves: containers' logs and a node's own files, in folders of their names."""
    top = "must-gather.local.1/quay-io-openshift-sha256-0a"
    pod = "nvidia-device-plugin-daemonset-x2x7k"
    log = "2026-03-01T11:59:00.100000000Z E0301 11:59:00.100000       1 main.go:173] error waiting for MPS daemon: exit status 1\n"
    return {
        f"{top}/namespaces/gpu-operator/pods/{pod}/nvidia-device-plugin/nvidia-device-plugin/logs/current.log": log * 2,
        f"{top}/namespaces/gpu-operator/pods/{pod}/nvidia-device-plugin/nvidia-device-plugin/logs/previous.log": "",
        f"{top}/nodes/{node}/dmesg": f"{GREETING}\n[ 6723.100000] {LOST}\n",
    }


def sosreport(node: str = "gpu-07", folder: str = "sosreport-gpu-07-case0042-2026-03-01-kqzjwbt") -> dict[str, str]:
    """Some of what sos leaves of a machine that lost a card."""
    return {
        f"{folder}/etc/hostname": f"{node}\n",
        f"{folder}/sos_commands/kernel/dmesg": f"{GREETING}\n[ 6723.100000] {LOST}\n",
        f"{folder}/sos_commands/kernel/lsmod": "Module                  Size  Used by\nnvidia              62722048  12 nvidia_uvm\n",
        f"{folder}/sos_commands/nvidia/nvidia-smi_-q": smi.smi_q([card(index=1, pci="0000:43:00.0")]),
        f"{folder}/sos_commands/pci/lspci_-nnvv": bus.lspci([bus.Slot()]),
        f"{folder}/var/log/messages": f"Mar  1 11:52:03 {node} systemd[1]: Started Session 12 of User root.\n",
    }


def written(files: Mapping[str, str], folder: Path) -> str:
    """The files under a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)
