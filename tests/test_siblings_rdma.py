# ruff: noqa: E501 - lines as programs print them
"""What people paste of RDMA ports, counters, links and peer memory, and the cause that stands first; "" where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge


def ibstat(**said: str) -> str:
    """One port as ibstat shows it."""
    fields = {"State": "Active", "Physical state": "LinkUp", "Rate": "400", "Base lid": "61", "SM lid": "3", "Link layer": "InfiniBand"}
    port = fields | {name.replace("_", " "): value for name, value in said.items()}
    lines = "".join(f"\t\t{name}: {value}\n" for name, value in port.items() if name != "ca")
    return f"CA '{said.get('ca', 'mlx5_6')}'\n\tCA type: MT4129\n\tPort 1:\n{lines}"


def again(line: str, times: int, *, every: int = 20) -> str:
    """A line of the kernel log that comes again and again."""
    return "".join(f"[{4000 + number * every:5d}.104512] {line}\n" for number in range(times))


NEVER_UP = {"State": "Down", "Physical_state": "Polling", "Rate": "10", "Base_lid": "65535", "SM_lid": "0"}
NIC = "mlx5_core 0000:9b:00.1"
OPENSM = "May 02 10:1{}:05 607654 [85BA8640] 0x02 -> osm_spst_rcv_process: Switch 0xb8599f0300aa6de4 leaf-11 port 9 changed state from ACTIVE to DOWN\n"

# name → (cause, text); ?cause for a candidate
TEXTS: dict[str, tuple[str, str]] = {
    # --- ports ----------------------------------------------------------------------------------------------------------------------------
    "the only port that is shown is down": ("rdma-port-down", ibstat(**NEVER_UP)),
    "one of two was up before: it keeps its lid": (
        "rdma-port-down",
        ibstat(ca="mlx5_0") + ibstat(State="Down", Physical_state="Polling", Rate="10"),
    ),
    "the second port never was up": ("", ibstat(ca="mlx5_0") + ibstat(**NEVER_UP)),
    "disabled ports by ibstatus": (
        "rdma-port-down",
        "".join(
            f"Infiniband device 'mlx5_{number}' port 1 status:\n\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0000\n\tbase lid:\t 0xffff\n"
            "\tsm lid:\t\t 0x0\n\tstate:\t\t 1: DOWN\n\tphys state:\t 3: Disabled\n\trate:\t\t 10 Gb/sec (4X SDR)\n\tlink_layer:\t InfiniBand\n\n"
            for number in (4, 5)
        ),
    ),
    "ibv_devinfo names no physical state": (
        "rdma-port-down",
        "hca_id:\tmlx5_2\n\tfw_ver:\t\t\t\t28.40.1000\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_DOWN (1)\n\t\t\tsm_lid:\t\t\t0\n\t\t\tport_lid:\t\t65535\n\t\t\tlink_layer:\t\tInfiniBand\n",
    ),
    "ibdev2netdev's interfaces without a cable beside one that is up": (
        "",
        "mlx5_0 port 1 ==> ens8f0np0 (Up)\nmlx5_1 port 1 ==> ens8f1np1 (Down)\nmlx5_2 port 1 ==> ibp31s0 (Down)\n",
    ),
    "a virtual function that the subnet manager doesn't know": (
        "ib-port-init-no-subnet-manager",
        ibstat(State="Down", Base_lid="65535"),
    ),
    "an Ethernet port is Down with LinkUp for a moment": (
        "?rdma-port-down",
        ibstat(State="Down", Link_layer="Ethernet", Base_lid="0", SM_lid="0"),
    ),
    "the port of rdma link": ("rdma-port-down", "link rocep23s0/1 state DOWN physical_state DISABLED netdev enp23s0np0\n"),
    "an active port at SDR": ("ib-link-speed-degraded", ibstat(Rate="10")),
    "an active port at FDR": ("", ibstat(Rate="56")),
    "one lane": (
        "ib-link-speed-degraded",
        "Infiniband device 'mlx5_4' port 1 status:\n\tbase lid:\t 0x31\n\tsm lid:\t\t 0x2\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
        "\trate:\t\t 25 Gb/sec (1X EDR)\n\tlink_layer:\t InfiniBand\n",
    ),
    "half of a split cable": (
        "",
        "Infiniband device 'mlx5_4' port 1 status:\n\tbase lid:\t 0x31\n\tsm lid:\t\t 0x2\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n"
        "\trate:\t\t 100 Gb/sec (2X HDR)\n\tlink_layer:\t InfiniBand\n",
    ),
    # --- counters -------------------------------------------------------------------------------------------------------------------------
    "names of OFED 1": (
        "ib-bad-cable-symbol-errors",
        " Port counters: Lid 31 port 2\nPortSelect:......................2\nSymbolErrors:....................4410\nLinkRecovers:....................96\n"
        "LinkDowned:......................1\nRcvErrors:.......................9120\nXmtDiscards:.....................3\n",
    ),
    "names of OFED 1, in order": (
        "",
        " Port counters: Lid 31 port 2\nPortSelect:......................2\nSymbolErrors:....................0\nLinkRecovers:....................0\n"
        "LinkDowned:......................1\nRcvErrors:.......................0\nXmtDiscards:.....................3\n",
    ),
    "cut out of an answer": (
        "ib-bad-cable-symbol-errors",
        "SymbolErrorCounter:..............65535\nLinkErrorRecoveryCounter:........12\n",
    ),
    "two adapters' counters without their names": (
        "",
        "symbol_error:0\nlink_downed:1\nlink_error_recovery:0\nsymbol_error:4\nlink_downed:2\nlink_error_recovery:0\n",
    ),
    "files of sysfs from within their folder": (
        "ib-bad-cable-symbol-errors",
        "root@gpu-12:/sys/class/infiniband/mlx5_7/ports/1/counters# grep . *\nlink_downed:3\nlink_error_recovery:21\nport_rcv_errors:611\nsymbol_error:8122\n",
    ),
    "one GUID without its node": (
        "ib-bad-cable-symbol-errors",
        "GUID 0x506b4b0300bb7710 port 11: [XmtWait == 4410] [SymbolErrorCounter == 77] [LinkDownedCounter == 4]\n",
    ),
    "a sum of all ports alone": (
        "ib-bad-cable-symbol-errors",
        'Errors for 0xb8599f0300aa6de4 "leaf-11"\n   GUID 0xb8599f0300aa6de4 port ALL: [SymbolErrorCounter == 9120 (8.906K)] [LinkDownedCounter == 22 (22.000)]\n',
    ),
    "restarts of hosts alone": (
        "",
        'Errors for 0xb8599f0300aa6de4 "leaf-11"\n   GUID 0xb8599f0300aa6de4 port 7: [SymbolErrorCounter == 8] [LinkDownedCounter == 6] [PortXmitWait == 4294967295]\n',
    ),
    "saturated symbol errors": (
        "ib-bad-cable-symbol-errors",
        'Errors for "gpu-31 mlx5_2"\n   GUID 0x98039b0300cc1144 port 1: [SymbolErrorCounter == 65535] [PortXmitWait == 91]\n',
    ),
    "many discards at one look": (
        "?ib-packets-discarded",
        " GUID 0x1070fd0300aa0102 port ALL: [LinkDownedCounter == 4 (4.000)] [PortXmitDiscards == 5120 (5.000K)] [PortXmitWait == 55120]\n",
    ),
    "ibcheckerrors": (
        "ib-bad-cable-symbol-errors",
        "#warn: counter SymbolErrors = 41222 \t(threshold 10) lid 9 port 5\nError check on lid 9 (leaf-4) port 5:  FAILED\n",
    ),
    "a driver's reason for no link": (
        "ib-bad-cable-symbol-errors",
        "# ethtool enp23s0np0\nSettings for enp23s0np0:\n\tSpeed: Unknown!\n\tLink detected: no (Bad signal integrity, Low Rx power)\n",
    ),
    "an interface without a cable": (
        "",
        "# ethtool enp23s0np0\nSettings for enp23s0np0:\n\tSpeed: Unknown!\n\tLink detected: no (No cable)\n",
    ),
    # --- links that come and go -----------------------------------------------------------------------------------------------------------
    "up again and again": ("rdma-link-flapping", again(f"{NIC} ens1f1np1: Link up", 5)),
    "up at the start": ("", again(f"{NIC} ens1f1np1: Link up", 2)),
    "bnxt_en": ("rdma-link-flapping", again("bnxt_en 0000:ca:00.0 ens9f0np0: NIC Link is Down", 4)),
    "plugged and unplugged": (
        "rdma-link-flapping",
        again(f"{NIC}: Port module event: module 1, Cable unplugged", 4) + again(f"{NIC}: Port module event: module 1, Cable plugged", 4),
    ),
    "plugged once": ("", again(f"{NIC}: Port module event: module 1, Cable plugged", 1)),
    "the subnet manager": ("rdma-link-flapping", "".join(OPENSM.format(number) for number in range(4))),
    "a switch's port": (
        "rdma-link-flapping",
        "".join(
            f"May  2 10:1{number}:05 leaf-11 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet9/1, changed state to down\n"
            for number in range(4)
        ),
    ),
    "a switch whose host restarts": (
        "",
        "May  2 10:11:05 leaf-11 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet9/1, changed state to down\n"
        "May  2 10:19:05 leaf-11 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet9/1, changed state to up\n",
    ),
    "networkd's carrier of a port of a NIC": (
        "rdma-link-flapping",
        "".join(f"Mar 02 09:0{number}:06 gpu-12 systemd-networkd[1398]: ens8f0np0: Lost carrier\n" for number in range(4)),
    ),
    "networkd's carrier of a container's interface": (
        "",
        "".join(f"Mar 02 09:0{number}:06 gpu-12 systemd-networkd[1398]: veth81a0c2f: Lost carrier\n" for number in range(4)),
    ),
    "UFM": (
        "rdma-link-flapping",
        "".join(
            f"2026-03-02 09:0{number}:11.482 [61] [329] WARNING [Link] IBPort [Source 248a0703005522f0_12 TO Dest: e41d2d0300aa4939_1]: Link went down:"
            " 248a0703005522f0 (Switch: leaf-3) : 12 - e41d2d0300aa4938 (Computer: gpu-18 HCA-1) : 1\n"
            for number in range(4)
        ),
    ),
    # --- adapters -------------------------------------------------------------------------------------------------------------------------
    "firmware that doesn't come, newer words": (
        "ib-hca-faulty",
        again("mlx5_core 0000:3b:00.0: wait_fw_init:211:(pid 812): Firmware over 120000 MS in pre-initializing state, aborting", 1)
        + again("mlx5_core 0000:3b:00.0: Failed initializing command interface, aborting", 1),
    ),
    "mlx4": ("ib-hca-faulty", again("mlx4_core 0000:04:00.0: command 0x23 timed out (go bit not cleared)", 1)),
    "mlx4 starts": ("", again("mlx4_core 0000:04:00.0: PCIe link speed is 8.0GT/s, device supports 8.0GT/s", 1)),
    "bnxt_en is hot": (
        "nic-overheat",
        again("bnxt_en 0000:ca:00.0 ens9f0np0: Chip temperature has gone above the critical thermal threshold!", 1),
    ),
    "mlx5 that recovers in vain": (
        "ib-hca-faulty",
        again("mlx5_core 0000:3b:00.0: mlx5_handle_bad_state:293:(pid 4233): NIC IFC still 7 after 2000ms.", 1)
        + again("mlx5_core 0000:3b:00.0: mlx5_health_try_recover:345:(pid 4233): handling bad device here", 1),
    ),
    "a probe that times out": ("ib-hca-faulty", again("mlx5_core: probe of 0000:3b:00.0 failed with error -110", 1)),
    "a device that doesn't do what is optional": (
        "",
        again("mlx5_core 0000:3b:00.0: mlx5_cmd_out_err:821:(pid 62): ACCESS_REG(0x805) op_mod(0x1) failed, status bad parameter(0x3)", 3),
    ),
    "mlx4 is hot": (
        "nic-overheat",
        again("mlx4_core 0000:04:00.0: Temperature Threshold was reached! Threshold: 105 celsius degrees; Current Temperature: 107", 1),
    ),
    "a module that the firmware refuses": (
        "ib-bad-cable-symbol-errors",
        again("mlx5_core 0000:3b:00.0: Port module event[error]: module 0, Cable error, Enforce part number list", 1),
    ),
    "ibstatus of one device": (
        "ib-hca-faulty",
        "Fatal error:  device 'mlx5_4': sys files not found (/sys/class/infiniband/mlx5_4/ports)\n",
    ),
    "ibstatus of none": ("", "Fatal error:  device '*': sys files not found (/sys/class/infiniband/*/ports)\n"),
    # --- subnet managers and switches ------------------------------------------------------------------------------------------------------
    "IPoIB that joins nothing": (
        "ib-port-init-no-subnet-manager",
        again("ib0: multicast join failed for ff12:401b:ffff:0000:0000:0000:ffff:ffff, status -110", 2),
    ),
    "IPoIB in connected mode": ("", again("ib0: enabling connected mode will cause multicast packet drops", 2)),
    "sminfo without an answer": ("ib-port-init-no-subnet-manager", "sminfo: iberror: failed: query\n"),
    "sminfo without the right": (
        "",
        "ibwarn: [21] mad_rpc_open_port2: Can't open SMI UMAD port (Permission denied) (mlx5_0:1)\nsminfo: iberror: failed: query\n",
    ),
    "perftest on a port that waits": ("ib-port-init-no-subnet-manager", " Port number 1 state is Init\n Couldn't set the link layer\n"),
    "OpenSM that failed": ("ib-port-init-no-subnet-manager", "opensm.service: Failed with result 'exit-code'.\n"),
    "ibportstate of both ends": (
        "ib-link-speed-degraded",
        "ibwarn: [12] validate_width: Peer ports operating at active width 1X rather than 4X\n",
    ),
    "Arista closes a port": (
        "rdma-link-flapping",
        "Mar  2 10:01:11 leaf3 Ebra: %ETH-4-ERRDISABLE: link-flap error detected on Ethernet12/1.\n",
    ),
    "Junos": (
        "rdma-link-flapping",
        "".join(
            f"Mar  2 10:0{n}:11 leaf3 mib2d[1901]: SNMP_TRAP_LINK_DOWN: ifIndex 531, ifAdminStatus up(1), ifOperStatus down(2), ifName et-0/0/12\n"
            for n in range(3)
        ),
    ),
    "shortened GUIDs": (
        "ib-bad-cable-symbol-errors",
        "GUID 0xb859... port 7: [SymbolErrorCounter == 30200] [LinkErrorRecoveryCounter == 12]\n",
    ),
    # --- pods with a second network ---------------------------------------------------------------------------------------------------------
    "a network that nobody defined": (
        "rdma-network-not-configured",
        'failed to setup network for sandbox "8ab1": plugin type="multus" failed (add): Multus: [default/p-0/1]: error loading k8s delegates: '
        "getKubernetesDelegate: cannot find a network-attachment-definition (rdma-net) in namespace (default)\n",
    ),
    "the device plugin finds nothing": (
        "rdma-network-not-configured",
        "2026/03/02 09:00:00 Warning: no Rdma Devices were found for resource rdma_shared_device_a\n",
    ),
    "the OFED container can't unload": (
        "mofed-driver-not-ready",
        '{"level":"error","msg":"exec start failed","error":"storage modules are loaded for current driver, and would break"}\n',
    ),
    # --- peer memory ----------------------------------------------------------------------------------------------------------------------
    "too early by the log of the OFED container": (
        "peermem-loaded-before-ofed-ready",
        "==> driver.log <==\nLoading NVIDIA Peer Memory kernel module...\nmodprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
        "==> mofed.log <==\n[03-Feb-26_08:14:02] Unsetting driver ready state\n[03-Feb-26_08:21:40] Setting driver ready state\n",
    ),
    "the OFED container is still at work": (
        "peermem-ofed-missing-for-kernel",
        "==> driver.log <==\nLoading NVIDIA Peer Memory kernel module...\nmodprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
        "==> mofed.log <==\n[03-Feb-26_08:14:02] Unsetting driver ready state\n[03-Feb-26_08:14:03] Starting compilation of driver version 25.07-0.9.7.0\n",
    ),
    "not built at all": (
        "peermem-ofed-missing-for-kernel",
        "modprobe: FATAL: Module nvidia_peermem not found in directory /lib/modules/5.15.0-124-generic\n",
    ),
    "gdrdrv is not loaded": ("gdrcopy-device-missing-in-container", "ERR:  error opening driver (errno=2/No such file or directory)\n"),
    "not there when it is built": (
        "peermem-ofed-missing-for-kernel",
        'ERROR: modpost: "ib_register_peer_memory_client" [/usr/src/nvidia-570.172.08/nvidia-peermem.ko] undefined!\n',
    ),
    # --- hosts ----------------------------------------------------------------------------------------------------------------------------
    "ssh that mpirun needs": (
        "nccl-connect-refused",
        "$ mpirun -np 8 -H gpu-a,gpu-b ./all_reduce_perf\nssh: connect to host gpu-b port 22: Connection refused\n"
        "--------------------------------------------------------------------------\nORTE was unable to reliably start one or more daemons.\n",
    ),
    "ssh to a host that restarts": ("", "$ ssh gpu-b\nssh: connect to host gpu-b port 22: Connection refused\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_pasted(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)


def test_waits_without_errors_are_said_and_alarm_nobody(tmp_path: Path) -> None:
    text = "GUID 0x506b4b0300bb7710 port 10: [XmtWait == 771200] [SymbolErrorCounter == 0] [LinkDownedCounter == 0]\n"
    judge(diagnosed_files(tmp_path, text), "ib-congestion", info=True)
    judge(diagnosed_files(tmp_path, text), "")
