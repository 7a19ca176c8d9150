# ruff: noqa: E501 - lines as programs print them
"""What people paste of adapters, their tools, limits and the ways between GPUs, and the cause that stands first; "" where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge


def nccl(*texts: str) -> str:
    """What a rank logs."""
    return "".join(f"node-a:3120:3188 [2] NCCL INFO {text}\n" for text in texts)


def ca(name: str, state: str, physical: str = "LinkUp", rate: int = 200) -> str:
    """One port of an Ethernet adapter in ibstat."""
    return (
        f"CA '{name}'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: {state}\n\t\tPhysical state: {physical}\n"
        f"\t\tRate: {rate}\n\t\tBase lid: 0\n\t\tSM lid: 0\n\t\tLink layer: Ethernet\n"
    )


def netdevs(*states: str) -> str:
    """ibdev2netdev, of interfaces over InfiniBand."""
    return "".join(f"mlx5_{number} port 1 ==> ibp{20 + number}s0 ({state})\n" for number, state in enumerate(states))


def rates(*texts: str) -> str:
    """The rates of a host's ports."""
    return "$ cat /sys/class/infiniband/*/ports/1/rate\n" + "".join(f"{text}\n" for text in texts)


def links_down(*counts: int) -> str:
    """How often each port of a host lost its link."""
    return "".join(f"/sys/class/infiniband/mlx5_{number}/ports/1/counters/link_downed:{count}\n" for number, count in enumerate(counts))


def speeds(cable: str, speed: str = "IB-EDR") -> str:
    """mlxlink, of an adapter for HDR."""
    return (
        f"Operational Info\n----------------\nState                           : Active\nPhysical state                  : LinkUp\nSpeed                           : {speed}\n"
        "Width                           : 4x\n\nSupported Info\n--------------\n"
        f"Enabled Link Speed              : 0x00000075 (HDR,EDR,FDR,QDR,SDR)\nSupported Cable Speed           : {cable}\n"
    )


MGET = "$ for d in /dev/mst/mt*pciconf?; do echo $d $(mget_temp -d $d); done\n/dev/mst/mt4129_pciconf0 55\n/dev/mst/mt4129_pciconf1 {}\n"
SOCKETS = nccl("NET/IB : No device found.", "NET/Socket : Using [0]eno1:10.3.0.8<0>", "Using network Socket")
INFINIBAND = "5d:00.0 Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
ETHERNET = "5d:00.0 Ethernet controller: Mellanox Technologies MT27710 Family [ConnectX-4 Lx]\n"
SPLIT = nccl("NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eno1:10.3.0.8<0>", "Using network IB")
GEFORCE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 525.60.13    Driver Version: 525.60.13    CUDA Version: 12.0     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
|===============================+======================+======================|
|   0  NVIDIA GeForce ...  On   | 00000000:02:00.0 Off |                  N/A |
| N/A   41C    P8     6W /  N/A |      0MiB /  6144MiB |      0%      Default |
+-------------------------------+----------------------+----------------------+
"""
FAILED = "Job for nvidia-fabricmanager.service failed because the control process exited with error code.\n"
MODULE = "$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build  (dvs-builder@U22)\n"
DISABLED = nccl("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'")
NODES = (
    "Nodes:\nNode #0   - 10.3.0.8       - READY                - Version: 575.57\nNode #1   - 10.3.0.9       - {}          - Version: \n"
)
BROKEN_LINK = '12    9[  ] ==( 4X          53.125 Gbps Active/  LinkUp)==>      44    1[  ] "node-c mlx5_3" ( Could be 106.25 Gbps)\n'
PEERS = "Device: 0, {0}, pciBusID: 1b, pciDeviceID: 0, pciDomainID:0\nDevice: 1, {0}, pciBusID: 43, pciDeviceID: 0, pciDomainID:0\nDevice=0 CANNOT Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n"
ADDRESSES = """\
$ ip -br addr
eno1             UP             10.3.0.8/24 fe80::1/64
ens1np0          UP             10.4.1.8/24 fe80::2/64
ens2np0          UP             {}fe80::3/64
$ rdma link
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1np0
link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev ens2np0
"""

# name → (cause, text); ?cause for a candidate
TEXTS: dict[str, tuple[str, str]] = {
    # --- ports and cables -----------------------------------------------------------------------------------------------------------------
    "second ports of two adapters have no cable": (
        "",
        ca("rocep2s0f0", "Active") + ca("rocep2s0f1", "Down", "Disabled", 40) + ca("roceP3p2s0f0", "Active"),
    ),
    "a second port is down where others are up": (
        "rdma-port-down",
        "".join(ca(f"rocep{at}s0f{port}", "Active") for at in (2, 3) for port in (0, 1))
        + ca("rocep4s0f0", "Active")
        + ca("rocep4s0f1", "Down", "Polling", 40),
    ),
    "one of many interfaces over InfiniBand is down": ("rdma-port-down", netdevs("Up", "Up", "Down", "Up", "Up")),
    "all interfaces over InfiniBand are up": ("", netdevs("Up", "Up", "Up", "Up")),
    "rates alone, one is lower": (
        "ib-link-speed-degraded",
        rates(*["200 Gb/sec (4X HDR)"] * 5, "100 Gb/sec (4X EDR)"),
    ),
    "rates alone, one port has no link": ("", rates(*["200 Gb/sec (4X HDR)"] * 5, "10 Gb/sec (4X SDR)")),
    "rates that a grep left": (
        "ib-link-speed-degraded",
        "".join(
            f"Infiniband device 'mlx5_{at}' port 1 status:\n\trate:\t\t {rate}\n"
            for at, rate in enumerate(["200 Gb/sec (4X HDR)", "50 Gb/sec (1X HDR)"])
        ),
    ),
    "slower than adapter and cable": ("ib-link-speed-degraded", speeds("0x00000075 (HDR,EDR,FDR,QDR,SDR)")),
    "as fast as the cable": ("", speeds("0x00000035 (EDR,FDR,QDR,SDR)")),
    "one link of a fabric, quoted alone": ("ib-link-speed-degraded", BROKEN_LINK),
    "a link of the full speed, quoted alone": ("", BROKEN_LINK.replace(" Could be 106.25 Gbps", "")),
    "one port lost its link again and again": ("rdma-link-flapping", links_down(1, 2, 74, 1)),
    "all ports lost their links at a switch's upgrades": ("", links_down(3, 3, 4, 3)),
    "a bond's slave lost its link": ("rdma-link-flapping", "Slave Interface: ens1np0\nMII Status: up\nLink Failure Count: 431\n"),
    "a bond's slaves after some boots": ("", "Slave Interface: ens1np0\nMII Status: up\nLink Failure Count: 3\n"),
    "UFM sees discards": (
        "ib-packets-discarded",
        "Port Xmit Discards delta threshold exceeded. Threshold is 200, calculated delta is 3120\n",
    ),
    # --- adapters and their tools ---------------------------------------------------------------------------------------------------------
    "gone from the bus": ("ib-hca-faulty", "41:00.0 " + INFINIBAND[8:].rstrip() + "\n" + INFINIBAND.rstrip() + " (rev ff)\n"),
    "on the bus": ("", INFINIBAND),
    "the firmware's tool can't read it": ("ib-hca-faulty", "-E- Failed to query /dev/mst/mt4129_pciconf1 device, error : MFE_CR_ERROR\n"),
    "listed and not queried": ("ib-hca-faulty", "$ ibv_devinfo -d mlx5_3\nFailed to query device props\n"),
    "hotter than 105": ("nic-overheat", MGET.format(109)),
    "warm": ("", MGET.format(88)),
    "peermem refused at boot for its signature": (
        "peermem-unsigned-secure-boot",
        "May 02 07:10:12 node-a systemd-modules-load[702]: Failed to insert module 'nvidia_peermem': Key was rejected by service\n",
    ),
    "peermem refused at boot": (
        "peermem-ofed-missing-for-kernel",
        "May 02 07:10:12 node-a systemd-modules-load[702]: Failed to insert module 'nvidia_peermem': Invalid argument\n",
    ),
    "the driver's module refused at boot": (
        "driver-module-load-failed",
        "May 02 07:10:12 node-a systemd-modules-load[702]: Failed to insert module 'nvidia': No such device\n",
    ),
    # --- what NCCL takes --------------------------------------------------------------------------------------------------------------------
    "sockets on a host with InfiniBand": ("nccl-socket-fallback", INFINIBAND + SOCKETS),
    "sockets on a host with Ethernet": ("", ETHERNET + SOCKETS),
    "sockets in a container without the devices": (
        "nccl-socket-fallback",
        "root@w-0:/# ls /dev/infiniband\nls: cannot access '/dev/infiniband': No such file or directory\n" + SOCKETS,
    ),
    "InfiniBand is forbidden and there": (
        "nccl-socket-fallback",
        nccl("NCCL_IB_DISABLE set by environment to 1.", "NET/Socket : Using [0]eno1:10.3.0.8<0>", "Using network Socket")
        + netdevs("Up", "Up"),
    ),
    "one adapter of those that a tool counts": (
        "too-few-hcas-in-use",
        SPLIT + "$ ibv_devinfo -l\n4 HCAs found:\n\tmlx5_0\n\tmlx5_1\n\tmlx5_2\n\tmlx5_3\n",
    ),
    "all adapters that a tool counts": ("", SPLIT + "$ ibv_devinfo -l\n1 HCA found:\n\tmlx5_0\n"),
    "GPUDirect is asked for": ("gpudirect-rdma-not-in-use", "export NCCL_NET_GDR_LEVEL=PHB\n" + DISABLED),
    "GPUDirect is forbidden": ("", "export NCCL_NET_GDR_LEVEL=LOC\n" + DISABLED),
    "Slingshot's provider failed": (
        "aws-ofi-nccl-error",
        "libfabric:51210:1741003377::cxi:domain:cxip_domain_enable():812<warn> : Failed to allocate service: -13\n",
    ),
    # --- memory -----------------------------------------------------------------------------------------------------------------------------
    "a number for an error": ("gpudirect-dmabuf-unavailable", "  what():  ibv_reg_mr failed (errno 14) (Ib failure: Bad address)\n"),
    "a number for lack of memory": ("?memlock-limit", "  what():  ibv_reg_mr failed (errno 12)\n"),
    "NVSHMEM's heap": ("gpudirect-dmabuf-unavailable", "transport_ib_common.cpp:103: NULL value mem registration failed.\n"),
    "the limit that a launcher printed": (
        "memlock-limit",
        "$ srun -N2 bash -c 'ulimit -l'\n65536\n65536\nnode-a:3120:3188 [2] misc/ibvwrap.cc:252 NCCL WARN Call to ibv_reg_mr failed\n",
    ),
    "no limit, as a launcher printed": (
        "",
        "$ srun -N2 bash -c 'ulimit -l'\nunlimited\nunlimited\n",
    ),
    "rping finds no way": ("rdma-peer-unreachable", "$ rping -c -a 10.4.1.9 -v\ncma event RDMA_CM_EVENT_ROUTE_ERROR, error -110\n"),
    "one RoCE port has no address": ("roce-nic-no-ip-address", ADDRESSES.format("")),
    "all RoCE ports have addresses": ("", ADDRESSES.format("10.4.2.8/24 ")),
    # --- NVLink -----------------------------------------------------------------------------------------------------------------------------
    "a fabric manager beside a card": ("", FAILED + GEFORCE),
    "a fabric manager beside nothing that is known": ("fabric-manager-not-running", FAILED),
    "a fabric manager of another release than the module": (
        "fabric-manager-version-mismatch",
        "$ nv-fabricmanager --version\nFabric Manager version is : 575.51.03\n" + MODULE,
    ),
    "a fabric manager of the module's release": ("", "$ nv-fabricmanager --version\nFabric Manager version is : 575.57.08\n" + MODULE),
    "a node of the IMEX domain is away": ("imex-not-ready", NODES.format("UNAVAILABLE")),
    "all nodes of the IMEX domain": ("", NODES.format("READY")),
    "DCGM finds no IMEX daemon": ("?imex-not-ready", "GpuNvlinkWatch = True\n  GPU:1 IMEX daemon status is -2 (not READY)\n"),
    "no access between GPUs of a baseboard": ("nvlink-p2p-unavailable", PEERS.format("NVIDIA H100 80GB HBM3")),
    "no access between cards": ("", PEERS.format("NVIDIA GeForce RTX 4090")),
}


@pytest.mark.parametrize(("cause", "text"), TEXTS.values(), ids=TEXTS)
def test_the_cause_stands_first(cause: str, text: str, tmp_path: Path) -> None:
    """The first finding that is more than information names it; what is in order has none."""
    judge(diagnosed_files(tmp_path, text), cause, info=True)
