# ruff: noqa: E501
"""InfiniBand, RoCE and NVLink as people paste them: tools and logs other than the fixtures', each with its first cause ("" is silence)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed

TEXTS: dict[str, tuple[str, str]] = {
    # --- cables and switch ports --------------------------------------------------------------------------------------------------------
    "ibqueryerrors of one leaf": (
        "ib-bad-cable-symbol-errors",
        """Errors for 0xb8599f0300fc6de4 "leaf-04"
   GUID 0xb8599f0300fc6de4 port ALL: [SymbolErrorCounter == 54210] [LinkErrorRecoveryCounter == 41] [PortRcvErrors == 611] [PortXmitWait == 9120]
   GUID 0xb8599f0300fc6de4 port 17: [SymbolErrorCounter == 54210] [LinkErrorRecoveryCounter == 41] [PortRcvErrors == 611] [PortXmitWait == 210]
         Link info:     22   17[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>  0xb8599f0300aa1102     31    1[  ] "gpu-09 mlx5_3" ( )
""",
    ),
    "perfquery of a bad port": (
        "ib-bad-cable-symbol-errors",
        """# Port counters: Lid 31 port 1 (CapMask: 0x5300)
PortSelect:......................1
CounterSelect:...................0x0000
SymbolErrorCounter:..............65535
LinkErrorRecoveryCounter:........255
LinkDownedCounter:...............3
PortRcvErrors:...................1204
PortRcvRemotePhysicalErrors:.....0
PortXmitDiscards:................0
LocalLinkIntegrityErrors:........15
ExcessiveBufferOverrunErrors:....0
VL15Dropped:.....................0
PortXmitData:....................4294967295
PortRcvData:.....................4294967295
""",
    ),
    "a cable error of the adapter": (
        "ib-bad-cable-symbol-errors",
        "[  122.4021] mlx5_core 0000:9a:00.0: port_module:252:(pid 0): Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)\n",
    ),
    "mlxlink of a weak link": (
        "ib-bad-cable-symbol-errors",
        """Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-NDR
Width                              : 4x
FEC                                : Standard_RS-FEC - (544,514)
Loopback Mode                      : No Loopback
Auto Negotiation                   : ON

Troubleshooting Info
--------------------
Status Opcode                      : 15
Group Opcode                       : PHY FW
Recommendation                     : Bad signal integrity

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 3121.2
Symbol Errors                      : 1024
Symbol BER                         : 4E-10
Effective Physical Errors          : 88211
Effective Physical BER             : 2E-8
Raw Physical BER                   : 6E-5
Link Down Counter                  : 4
Link Error Recovery Counter        : 2
""",
    ),
    "the counters of sysfs by name": (
        "ib-bad-cable-symbol-errors",
        """$ grep . /sys/class/infiniband/mlx5_2/ports/1/counters/*
/sys/class/infiniband/mlx5_2/ports/1/counters/link_error_recovery:38
/sys/class/infiniband/mlx5_2/ports/1/counters/link_downed:2
/sys/class/infiniband/mlx5_2/ports/1/counters/symbol_error:48211
/sys/class/infiniband/mlx5_2/ports/1/counters/port_rcv_errors:912
/sys/class/infiniband/mlx5_2/ports/1/counters/port_rcv_data:991245772211
""",
    ),
    "a BER of ibdiagnet": (
        "ib-bad-cable-symbol-errors",
        """BER Check
-E- lid=0x0012 dev=54000 leaf-04/U1/P17 - "Effective BER" exceeds the threshold: value=1.2e-9, threshold=1e-14
-I- Errors/Warnings list will be reported in log file
""",
    ),
    "symbol errors in ibdiagnet": (
        "ib-bad-cable-symbol-errors",
        """Port Counters
-W- leaf-04/U1/P17 - "symbol_error_counter" increased during the run (difference value=2114,difference allowed threshold=0)
-W- leaf-04/U1/P17 - "port_rcv_errors" increased during the run (difference value=31,difference allowed threshold=0)
""",
    ),
    "UFM on symbol errors": (
        "ib-bad-cable-symbol-errors",
        "2026-02-11 07:20:31 WARNING Site [default] [Computer: gpu-09 mlx5_3] [dev_id: b8599f0300aa1102] "
        "Symbol Error counter delta threshold exceeded. Threshold is 200, calculated delta is 5411. Peer info: Switch: leaf-04 / NA / 17\n",
    ),
    "a port that UFM isolated": (
        "ib-switch-port-auto-disabled-errors",
        "2026-02-11 07:20:31 [64] [110] CRITICAL [Hardware] Switch: leaf-04 / NA / 17 [dev_id: b8599f0300fc6de4]: Port was isolated due to high BER\n",
    ),
    "ONYX on a port that shut itself": (
        "ib-switch-port-auto-disabled-errors",
        """leaf-04 [standalone: master] > show interfaces ib 1/17
IB1/17 state:
  Logical port state          : Down
  Physical port state         : Disabled
  Current line rate           : -
  Reason                      : AutomaticHighErrorRate
""",
    ),
    "slow link in iblinkinfo": (
        "ib-link-speed-degraded",
        """CA: gpu-09 mlx5_3:
      0xb8599f0300aa1102     31    1[  ] ==( 4X       25.78125 Gbps Active/  LinkUp)==>      22   17[  ] "leaf-04" ( Could be 53.125 Gbps)
CA: gpu-09 mlx5_2:
      0xb8599f0300aa1103     32    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>      22   18[  ] "leaf-04" ( )
CA: gpu-09 mlx5_1:
      0xb8599f0300aa1104     33    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>      22   19[  ] "leaf-04" ( )
CA: gpu-09 mlx5_0:
      0xb8599f0300aa1105     34    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>      22   20[  ] "leaf-04" ( )
CA: gpu-10 mlx5_0:
      0xb8599f0300aa1106     35    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>      22   21[  ] "leaf-04" ( )
""",
    ),
    "one of four ibstatus ports is slow": (
        "ib-link-speed-degraded",
        "".join(
            f"""Infiniband device 'mlx5_{i}' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:b859:9f03:00aa:110{i}
\tbase lid:\t 0x{i + 16:x}
\tsm lid:\t\t 0x1
\tstate:\t\t 4: ACTIVE
\tphys state:\t 5: LinkUp
\trate:\t\t {"100 Gb/sec (4X EDR)" if i == 2 else "200 Gb/sec (4X HDR)"}
\tlink_layer:\t InfiniBand

"""
            for i in range(4)
        ),
    ),
    "a line of ibdiagnet on speed": (
        "ib-link-speed-degraded",
        "-W- Link: leaf-04/U1/P17<-->gpu-09/U1/P1 - Unexpected actual link speed 25\n",
    ),
    "a line of ibdiagnet on width": (
        "ib-link-speed-degraded",
        "-W- Link: leaf-04/U1/P17<-->gpu-09/U1/P1 - Unexpected actual link width 1x, expected 4x\n",
    ),
    # --- ports that wait, drop or sleep -------------------------------------------------------------------------------------------------
    "ibstat waits for a subnet manager": (
        "ib-port-init-no-subnet-manager",
        """CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Port 1:
		State: Initializing
		Physical state: LinkUp
		Rate: 400
		Base lid: 65535
		LMC: 0
		SM lid: 0
		Capability mask: 0xa751e848
		Link layer: InfiniBand
""",
    ),
    "ibv_devinfo waits for a subnet manager": (
        "ib-port-init-no-subnet-manager",
        """hca_id:	mlx5_0
	transport:			InfiniBand (0)
	fw_ver:				28.39.1002
	vendor_part_id:			4129
	phys_port_cnt:			1
		port:	1
			state:			PORT_INIT (2)
			max_mtu:		4096 (5)
			active_mtu:		4096 (5)
			sm_lid:			0
			port_lid:		65535
			port_lmc:		0x00
			link_layer:		InfiniBand
""",
    ),
    "ibstatus waits for a subnet manager": (
        "ib-port-init-no-subnet-manager",
        """Infiniband device 'mlx5_0' port 1 status:
	default gid:	 fe80:0000:0000:0000:b859:9f03:00aa:1102
	base lid:	 0xffff
	sm lid:		 0x0
	state:		 2: INIT
	phys state:	 5: LinkUp
	rate:		 200 Gb/sec (4X HDR)
	link_layer:	 InfiniBand
""",
    ),
    "rdma link waits for a subnet manager": (
        "ib-port-init-no-subnet-manager",
        "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP\n",
    ),
    "rdma link with one of four ports down": (
        "rdma-port-down",
        "".join(
            f"link mlx5_{i}/1 subnet_prefix fe80:0000:0000:0000 lid {40 + i} sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ib{i}\n"
            for i in range(3)
        )
        + "link mlx5_3/1 subnet_prefix fe80:0000:0000:0000 lid 43 sm_lid 1 lmc 0 state DOWN physical_state POLLING netdev ib3\n",
    ),
    "ibv_devinfo with one RoCE port down": (
        "rdma-port-down",
        "".join(
            f"""hca_id:	mlx5_{i}
	transport:			InfiniBand (0)
	vendor_part_id:			4129
	phys_port_cnt:			1
		port:	1
			state:			{"PORT_DOWN (1)" if i == 5 else "PORT_ACTIVE (4)"}
			max_mtu:		4096 (5)
			active_mtu:		1024 (3)
			sm_lid:			0
			port_lid:		0
			link_layer:		Ethernet

"""
            for i in range(8)
        ),
    ),
    "ibdev2netdev with one port down": (
        "rdma-port-down",
        "".join(f"mlx5_{i} port 1 ==> ens{i}f0np0 ({'Down' if i == 2 else 'Up'})\n" for i in range(8)),
    ),
    "an adapter without power for its ports": (
        "rdma-port-down",
        "[   11.902] mlx5_core 0000:9a:00.0: Port module event[error]: module 1, Cable error, Power budget exceeded\n",
    ),
    "discards between two readings": (
        "ib-packets-discarded",
        """$ perfquery 31 1
# Port counters: Lid 31 port 1 (CapMask: 0x5300)
PortXmitDiscards:................120
PortXmitData:....................8881200
$ sleep 10; perfquery 31 1
# Port counters: Lid 31 port 1 (CapMask: 0x5300)
PortXmitDiscards:................9120
PortXmitData:....................8981200
""",
    ),
    "ibqueryerrors with dropped management packets": (
        "ib-vl15-dropped",
        """Errors for "leaf-04"
   GUID 0xb8599f0300fc6de4 port 17: [VL15Dropped == 4120]
""",
    ),
    # --- links that come and go ---------------------------------------------------------------------------------------------------------
    "a RoCE link flaps in the kernel log": (
        "rdma-link-flapping",
        "".join(
            f"[{t}.118] mlx5_core 0000:9a:00.1 ens6f1np1: Link {'down' if n % 2 == 0 else 'up'}\n"
            for n, t in enumerate(range(8100, 8180, 10))
        ),
    ),
    "a RoCE link flaps in the journal": (
        "rdma-link-flapping",
        "".join(
            f"Mar 03 08:{m}:02 gpu-09 NetworkManager[1381]: <info>  [1772525402.1] device (ens6f1np1): carrier: link {'disconnected' if m % 2 == 0 else 'connected'}\n"
            for m in range(10, 18)
        )
        + "$ rdma link\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens6f1np1\n",
    ),
    "an IPoIB carrier flaps": (
        "rdma-link-flapping",
        "".join(
            f"Mar 03 08:{m}:02 gpu-09 systemd-networkd[1381]: ib2: {'Lost' if m % 2 == 0 else 'Gained'} carrier\n" for m in range(10, 18)
        ),
    ),
    "gpud counts the flaps": (
        "rdma-link-flapping",
        "mlx5_3 port 1 (down -> active) 5 times since 2026-02-11T07:20:31Z, ib_port_flap: device(s) flapping between ACTIVE<>DOWN: mlx5_3\n",
    ),
    "link_downed grows": (
        "rdma-link-flapping",
        """$ ibqueryerrors -s LinkDownedCounter
Errors for "leaf-04"
   GUID 0xb8599f0300fc6de4 port 17: [LinkDownedCounter == 4]
$ ibqueryerrors
Errors for "leaf-04"
   GUID 0xb8599f0300fc6de4 port 17: [LinkDownedCounter == 9]
""",
    ),
    "the RDMA core counts a port's falls": (
        "rdma-link-flapping",
        "".join(f"[{8000 + n}.1] mlx5_core 0000:9a:00.0 mlx5_3: Port: 1 Link {'ACTIVE' if n % 2 else 'DOWN'}\n" for n in range(8)),
    ),
    "opensm counts a port's falls": (
        "rdma-link-flapping",
        "".join(
            f"Mar 03 08:{m}:02 111302 [7F16C0] 0x02 -> osm_spst_rcv_process: Switch 0xb8599f0300fc6de4 leaf-04 port 17 changed state from "
            f"{'DOWN to INIT' if m % 2 else 'ACTIVE to DOWN'}\n"
            for m in range(10, 20)
        ),
    ),
    # --- adapters -----------------------------------------------------------------------------------------------------------------------
    "a hot adapter, early driver": (
        "nic-overheat",
        "[112001.2] mlx5_core 0000:9a:00.0: temp_warn:181:(pid 0): High temperature on sensors with bit set 0x0000000000000000 0x0000000000000001\n",
    ),
    "a hot adapter, health line": (
        "nic-overheat",
        "kernel: mlx5_core 0000:9a:00.0: mlx5_health_log_ts:452:(pid 0): Health issue observed, High temperature, severity(3) ERROR:\n",
    ),
    "a hot module": (
        "nic-overheat",
        "[ 221.1] mlx5_core 0000:9a:00.0: Port module event[error]: module 0, Cable error, High Temperature\n",
    ),
    "a hot adapter, syndrome": (
        "nic-overheat",
        """mlx5_core 0000:9a:00.0: print_health_info:386:(pid 0): assert_var[0] 0x00000000
mlx5_core 0000:9a:00.0: print_health_info:389:(pid 0): assert_exit_ptr 0x20b1de08
mlx5_core 0000:9a:00.0: print_health_info:391:(pid 0): fw_ver 28.39.1002
mlx5_core 0000:9a:00.0: print_health_info:393:(pid 0): irisc_index 1
mlx5_core 0000:9a:00.0: print_health_info:394:(pid 0): synd 0x10: High temperature
""",
    ),
    "an adapter that does not answer": (
        "ib-hca-faulty",
        "mlx5_core 0000:9a:00.0: wait_func:1141:(pid 2211): QUERY_VPORT_STATE(0x750) timeout. Will cause a leak of a command resource\n"
        "mlx5_core 0000:9a:00.0: mlx5_health_try_recover:321:(pid 2211): health recovery flow aborted, PCI reads still not working\n",
    ),
    "ibstat on a device that is gone": (
        "ib-hca-faulty",
        "ibpanic: [98112] main: stat of IB device 'mlx5_6' failed: No such file or directory\n",
    ),
    "a firmware that never initialises": (
        "ib-hca-faulty",
        "[   32.117] mlx5_core 0000:9a:00.0: mlx5_function_setup:1022:(pid 611): Firmware over 120000 MS in pre-initializing state, aborting\n"
        "[   32.118] mlx5_core 0000:9a:00.0: probe_one:1714:(pid 611): mlx5_init_one failed with error code -16\n",
    ),
    "an unprivileged perfquery": (
        "umad-permission-denied",
        "ibwarn: [5512] mad_rpc_open_port: can't open UMAD port (mlx5_0:1)\nperfquery: iberror: failed: Failed to open 'mlx5_0' port '1'\n",
    ),
    "an unprivileged ibstat": (
        "umad-permission-denied",
        "ibpanic: [71] main: can't open UMAD port ((null):0)\n",
    ),
    "an unprivileged opensm": (
        "umad-permission-denied",
        "osm_vendor_bind: ERR 5424: Unable to open umad port: /dev/infiniband/umad0: Permission denied\n",
    ),
    "an unprivileged saquery": (
        "umad-permission-denied",
        "$ sminfo\nibwarn: [9] mad_rpc_open_port: can't open UMAD port ((null):0)\nsminfo: iberror: failed: Failed to open '(null)' port '0'\n",
    ),
    # --- IP over InfiniBand -------------------------------------------------------------------------------------------------------------
    "ip link beside ibstatus": (
        "ipoib-interface-down",
        """$ ibstatus
Infiniband device 'mlx5_0' port 1 status:
	state:		 4: ACTIVE
	phys state:	 5: LinkUp
	rate:		 200 Gb/sec (4X HDR)
	link_layer:	 InfiniBand
$ ip link
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
4: ib0: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 4092 qdisc mq state DOWN mode DEFAULT group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:aa:11:02 brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
$ rdma link
link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 40 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ib0
""",
    ),
    # --- peer memory --------------------------------------------------------------------------------------------------------------------
    "modprobe beside its kernel log": (
        "peermem-ofed-missing-for-kernel",
        """# modprobe nvidia-peermem
modprobe: ERROR: could not insert 'nvidia_peermem': Unknown symbol in module, or unknown parameter (see dmesg)
[  812.1] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err 0)
[  812.1] nvidia_peermem: Unknown symbol ib_unregister_peer_memory_client (err 0)
""",
    ),
    "insmod refuses": (
        "peermem-ofed-missing-for-kernel",
        "insmod: ERROR: could not insert module nvidia-peermem.ko: Invalid parameters\n"
        "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client\n",
    ),
    "modprobe says only invalid": (
        "peermem-ofed-missing-for-kernel",
        "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n",
    ),
    "the old module": (
        "peermem-ofed-missing-for-kernel",
        "[   44.1] nv_peer_mem: Unknown symbol ib_register_peer_memory_client (err -2)\n",
    ),
    "secure boot refuses": (
        "peermem-unsigned-secure-boot",
        "modprobe: ERROR: could not insert 'nvidia_peermem': Key was rejected by service\n[ 44.1] Loading of module with unavailable key is rejected\n",
    ),
    "secure boot refuses insmod": (
        "peermem-unsigned-secure-boot",
        "insmod: ERROR: could not insert module /lib/modules/5.15.0-91-generic/updates/dkms/nvidia-peermem.ko: Key was rejected by service\n",
    ),
    "lockdown refuses": (
        "peermem-unsigned-secure-boot",
        "[   44.1] Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7\n"
        "modprobe: ERROR: could not insert 'nvidia_peermem': Operation not permitted\n",
    ),
    "the operator's peermem before its driver": (
        "peermem-loaded-before-ofed-ready",
        """waiting for mellanox ofed and nvidia drivers to be installed
modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument
waiting for mellanox ofed and nvidia drivers to be installed
successfully loaded nvidia-peermem module
""",
    ),
    # --- NVLink, NVSwitch ---------------------------------------------------------------------------------------------------------------
    "links inactive of one GPU": (
        "nvlink-links-inactive",
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1a2b3c4d-0000-0000-0000-000000000000)\n"
        + "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(18))
        + "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1a2b3c4d-0000-0000-0000-000000000001)\n"
        + "".join(f"\t Link {n}: <inactive>\n" for n in range(18)),
    ),
    "all links inactive, in words": (
        "nvlink-links-inactive",
        "".join(
            f"GPU {n}: NVIDIA A100-SXM4-80GB (UUID: GPU-1a2b3c4d-0000-0000-0000-00000000000{n})\nNVML: Unable to retrieve NVLink information as all links are inActive\n"
            for n in (0, 1)
        ),
    ),
    "training fails": (
        "nvlink-link-training-failure",
        "[   12.1] NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!\n",
    ),
    "training fails on a switch": (
        "nvlink-link-training-failure",
        "[   12.1] nvidia-nvlink: Failed to train link to SAFE mode for link 4\n",
    ),
    "out of sync": (
        "nvlink-fabric-state-out-of-sync",
        "[ 912.1] NVRM: nvAssertOkFailedNoLog: Assertion failed: NVLink fabric state cached by the driver is out of sync "
        "[NV_ERR_FABRIC_STATE_OUT_OF_SYNC] (0x00000087) returned from memorymulticastfabric @ mem_multicast_fabric.c:1187\n",
    ),
    "Xid 149, fatal": (
        "nvlink5-link-down",
        "[ 9112.1] NVRM: Xid (PCI:0008:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 (0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)\n"
        "[ 9112.2] NVRM: Xid (PCI:0008:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)\n",
    ),
    "Xid 149 before R575": (
        "nvlink5-link-down",
        "[1.0] NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT Fatal XC 1 i 0 Link 01 [0x0000000a]\n",
    ),
    "the driver marks a GPU degraded": (
        "nvlink5-link-down",
        "[1.0] NVRM: knvlinkSetDegradedMode_IMPL: GPU2 marked Degraded. Error originated on linkId 0!\n",
    ),
    "Xid 145, not fatal": (
        "nvlink5-link-errors",
        "[ 9112.1] NVRM: Xid (PCI:0008:01:00): 145, RLW_REMAP  Nonfatal XC0 i0 Link -1 (0x00000001 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)\n",
    ),
    "Xid 74 after a kill": (
        "nvlink-fatal-after-kill-power-cycle",
        "[ 9112.1] NVRM: Xid (PCI:0000:3b:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 2(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n"
        "[ 9112.3] NVRM: Xid (PCI:0000:86:00): 62, pid='<unknown>', name=<unknown>, 0a8f(2d50) 00000000 00000000\n",
    ),
    "SXid 12028 on many ports": (
        "nvswitch-sxid-12028-gpu-side",
        "".join(
            f"[ 9112.{n}] nvidia-nvswitch3: SXid (PCI:0000:c8:00.0): 12028, Non-fatal, Link {n} egress non-posted PRIV error (First)\n"
            for n in (32, 33, 34, 35)
        ),
    ),
    "SXid 12028 in the fabric manager's log": (
        "nvswitch-sxid-12028-gpu-side",
        "".join(
            f"[Feb 11 2026 07:20:31] [ERROR] [tid 2210] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:C8:00.0 physical id 3 port {n}\n"
            for n in (32, 33, 34, 35)
        ),
    ),
    "a non-fatal SXid": (
        "nvswitch-sxid-nonfatal-info",
        "[ 9112.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 27 Minion Link DLREQ interrupt\n"
        "[ 9112.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 22013, Severity 0 Engine instance 27 Sub-engine instance 00\n",
    ),
    "p2p refused by all": (
        "nvlink-p2p-unavailable",
        """$ nvidia-smi topo -p2p n
 \tGPU0\tGPU1\tGPU2\tGPU3\t
 GPU0\tX\tNS\tNS\tNS\t
 GPU1\tNS\tX\tNS\tNS\t
 GPU2\tNS\tNS\tX\tNS\t
 GPU3\tNS\tNS\tNS\tX\t

Legend:

  X    = Self
  OK   = Status Ok
  CNS  = Chipset not supported
  GNS  = GPU not supported
  TNS  = Topology not supported
  NS   = Not supported
  U    = Unknown
$ nvidia-smi nvlink -s
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1a2b3c4d-0000-0000-0000-000000000000)
\t Link 0: 25 GB/s
\t Link 1: 25 GB/s
""",
    ),
    "systemd on the fabric manager": (
        "fabric-manager-not-running",
        """● nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)
     Active: failed (Result: exit-code) since Tue 2026-03-03 08:14:02 UTC; 4min ago
    Process: 2188 ExecStart=/usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg (code=exited, status=1/FAILURE)
""",
    ),
    "the journal on another version": (
        "fabric-manager-version-mismatch",
        "Mar 03 08:14:02 gpu-09 nv-fabricmanager[2190]: fabric manager NVIDIA GPU driver interface version 535.129.03 don't match with driver version 535.161.08. "
        "Please update with matching NVIDIA driver package.\nMar 03 08:14:02 gpu-09 systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n",
    ),
    "a fabric manager without switches": (
        "fabric-manager-not-needed",
        "Mar 03 08:14:02 ws nv-fabricmanager[2190]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
        "Mar 03 08:14:02 ws systemd[1]: nvidia-fabricmanager.service: Failed with result 'exit-code'.\n",
    ),
    # --- silence ------------------------------------------------------------------------------------------------------------------------
    "an uncabled port beside active ones": (
        "",
        """CA 'mlx5_0'
	CA type: MT4129
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 40
		SM lid: 1
		Link layer: InfiniBand
CA 'mlx5_1'
	CA type: MT4129
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 41
		SM lid: 1
		Link layer: InfiniBand
CA 'mlx5_2'
	CA type: MT4125
	Port 1:
		State: Down
		Physical state: Polling
		Rate: 40
		Base lid: 65535
		SM lid: 0
		Link layer: InfiniBand
""",
    ),
    "a healthy start of mlx5": (
        "",
        """[   10.1] mlx5_core 0000:5d:00.0: firmware version: 28.39.1002
[   10.2] mlx5_core 0000:5d:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)
[   10.9] mlx5_core 0000:5d:00.0: Port module event: module 0, Cable plugged
[   11.4] mlx5_core 0000:5d:00.0 ens3f0np0: Link down
[   14.0] mlx5_core 0000:5d:00.0 ens3f0np0: Link up
""",
    ),
    "low counters": (
        "",
        "# Port counters: Lid 31 port 1 (CapMask: 0x5300)\nSymbolErrorCounter:..............2\nLinkErrorRecoveryCounter:........0\nLinkDownedCounter:...............1\n"
        "PortRcvErrors:...................0\nPortXmitDiscards:................0\nVL15Dropped:.....................0\n",
    ),
    "a healthy fabric manager": (
        "",
        "[Mar 03 2026 08:14:02] [INFO] [tid 2210] Connected to 1 node.\n"
        "[Mar 03 2026 08:14:04] [INFO] [tid 2210] Successfully configured all the available GPUs and NVSwitches to route NVLink traffic.\n",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_cause_of_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    for variant in (text, text.replace("\n", "\r\n")):
        loud = [finding.cause for finding in diagnosed(tmp_path, variant).findings if cause or finding.severity != "info"]
        assert loud[:1] == ([cause] if cause else [])
