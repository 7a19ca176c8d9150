# ruff: noqa: E101, E501 - lines as programs print them
"""What people paste of firmware, links, adapters, heat and power, and the cause that stands first; "" where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import reasons, smi
from tests.pasted import diagnosed

# name → (cause, text)
TEXTS: dict[str, tuple[str, str]] = {
    "fabric-manager-version-mismatch: fm status": (
        "fabric-manager-version-mismatch",
        """\
$ systemctl status nvidia-fabricmanager
● nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)
     Active: failed (Result: exit-code) since Tue 2025-03-04 09:12:44 UTC; 3min ago
    Process: 4410 ExecStart=/usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg (code=exited, status=1/FAILURE)

Mar 04 09:12:34 hgx-a systemd[1]: Starting NVIDIA fabric manager service...
Mar 04 09:12:44 hgx-a nv-fabricmanager[4412]: fabric manager NVIDIA GPU driver interface version 535.216.01 don't match with driver version 535.183.06. Please update with matching NVIDIA driver package.
Mar 04 09:12:44 hgx-a systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE
""",
    ),
    "fabric-manager-version-mismatch: old nvswitch module": (
        "fabric-manager-version-mismatch",
        """\
[   33.120] nvidia-nvswitch: Version mismatch, kernel version 450.80.02 user version 450.51.06
Sep 10 10:22:01 dgx nv-fabricmanager[2231]: failed to initialize NVSwitch driver interface
""",
    ),
    "fabric-manager-version-mismatch: apt list": (
        "fabric-manager-version-mismatch",
        """\
root@h100:~# dpkg -l | grep -E 'nvidia-(driver|fabricmanager|headless)'
ii  nvidia-driver-550-server                550.90.07-0ubuntu0.22.04.1   amd64   NVIDIA Server Driver metapackage
ii  nvidia-fabricmanager-550                550.127.05-1                 amd64   Fabric Manager for NVSwitch based systems.
root@h100:~# python -c "import torch; torch.cuda.init()"
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
""",
    ),
    "fabric-manager-version-mismatch: driver container": (
        "fabric-manager-version-mismatch",
        """\
Starting NVIDIA fabric manager daemon...
fabric manager NVIDIA GPU driver interface version 590.48.01 don't match with driver version 580.126.09. Please update with matching NVIDIA driver package.
""",
    ),
    "gpu-hung: timeout 124": (
        "gpu-hung",
        """\
$ timeout 60 nvidia-smi; echo "exit: $?"
exit: 124
$ ps aux | grep nvidia-smi
root      81221  0.0  0.0   9932  4420 ?        D    07:02   0:00 nvidia-smi
root      82344  0.0  0.0   9932  4416 ?        D    07:14   0:00 nvidia-smi -L
""",
    ),
    "gpu-hung: ps D state": (
        "gpu-hung",
        """\
nvidia-smi never returns, had to ctrl-c, then kill -9 does nothing.

# ps -eo pid,stat,wchan:32,cmd | grep -E " D|nvidia"
  2912 Ss   do_sys_poll                      /usr/bin/nvidia-persistenced --verbose
 40121 D    rwsem_down_write_slowpath        nvidia-smi
 40177 Ds   os_acquire_rwlock_write          nvidia-smi -q
""",
    ),
    "gpu-hung: hung task": (
        "gpu-hung",
        """\
[80412.221] INFO: task nvidia-smi:40121 blocked for more than 241 seconds.
[80412.222]       Tainted: P           OE     5.15.0-113-generic #123-Ubuntu
[80412.223] "echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
[80412.224] task:nvidia-smi      state:D stack:    0 pid:40121 ppid:  2210 flags:0x00000006
[80412.225] Call Trace:
[80412.226]  <TASK>
[80412.227]  __schedule+0x24e/0x590
[80412.228]  rwsem_down_write_slowpath+0x210/0x4d0
[80412.229]  os_acquire_rwlock_write+0x35/0x50 [nvidia]
""",
    ),
    "gpu-reset-blocked-by-clients: nvsentinel": (
        "gpu-reset-blocked-by-clients",
        """\
The following GPUs could not be reset:
  GPU 00000000:1A:00.0: In use by another client

1 device is currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using this device and all compute applications running in the system.
""",
    ),
    "gpu-reset-blocked-by-clients: old in use": (
        "gpu-reset-blocked-by-clients",
        """\
# nvidia-smi --gpu-reset -i 3
GPU 00000000:4E:00.0 is currently in use by another process.

1 device is currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using this device and all compute applications running in the system.
""",
    ),
    "gpu-reset-blocked-by-clients: mig-parted": (
        "gpu-reset-blocked-by-clients",
        """\
time="2025-01-12T10:21:44Z" level=debug msg="Applying MIG mode change..."
time="2025-01-12T10:21:46Z" level=error msg="\\nThe following GPUs could not be reset:\\n  GPU 00000000:00:06.0: In use by another client\\n\\n1 device is currently being used by one or more other processes (e.g., Fabric Manager, CUDA application, graphics application such as an X server, or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using this device and all compute applications running in the system.\\n"
time="2025-01-12T10:21:46Z" level=fatal msg="Error applying MIG configuration with hooks: error resetting all GPUs: exit status 255"
""",
    ),
    "gpu-reset-blocked-by-clients: primary gpu": (
        "gpu-reset-blocked-by-clients",
        """\
$ sudo nvidia-smi -r -i 0
GPU Reset couldn't run because GPU 00000000:01:00.0 is the primary GPU.
""",
    ),
    "gsp-firmware-crash: xid120": (
        "gsp-firmware-crash",
        "[1120.22] NVRM: Xid (PCI:0000:4e:00): 120, GSP task panic: code 0x5, pc=0x1f6b2c8, cause: 0x5, partition# 0, task# 1\n",
    ),
    "gsp-firmware-crash: xid120 exception": (
        "gsp-firmware-crash",
        """\
Mar 11 03:40:11 n5 kernel: NVRM: Xid (PCI:0000:18:00): 119, pid=2291, name=nvidia-smi, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20800a4c 0x4).
Mar 11 03:40:12 n5 kernel: NVRM: Xid (PCI:0000:18:00): 120, pid='<unknown>', name=<unknown>, GSP task exception: Load access fault @ pc:0x3d60e, partition:4#0, task:1
""",
    ),
    "gsp-firmware-crash: crash no xid": (
        "gsp-firmware-crash",
        """\
NVRM: GPU0 GSP RPC buffer contains function 78 (DUMP_PROTOBUF_COMPONENT) and data 0x0000000000000000 0x0000000000000000.
NVRM: _kgspLogXid119: ********************************* GSP Timeout **********************************
NVRM: Xid (PCI:0000:2a:00): 120, GSP kernel exception: Instruction page fault
""",
    ),
    "gsp-firmware-crash: device plugin": (
        "gsp-firmware-crash",
        """\
I0312 10:00:00.221 1 health.go:159] Marking device as unhealthy
XidCriticalError: Xid=120 on Device=GPU-2b9f7d30-3ad8-9c7e-8e1e-8ce6b8f3b111; marking device as unhealthy.
""",
    ),
    "gsp-firmware-files-missing: direct": (
        "gsp-firmware-files-missing",
        """\
[    8.1] nvidia 0000:01:00.0: Direct firmware load for nvidia/550.54.10/gsp_ga10x.bin failed with error -2
[    8.2] NVRM: RmFetchGspRmImages: No firmware image found
[    8.3] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x61:0x56:1774)
""",
    ),
    "gsp-firmware-files-missing: loading err -4": (
        "gsp-firmware-files-missing",
        """\
[   12.4] nvidia 0000:0f:00.0: loading /lib/firmware/nvidia/570.133.20/gsp_ga10x.bin failed with error -4
[   12.5] nvidia 0000:0f:00.0: Direct firmware load for nvidia/570.133.20/gsp_ga10x.bin failed with error -4
[   12.6] NVRM: RmFetchGspRmImages: No firmware image found
[   12.7] NVRM: GPU 0000:0f:00.0: RmInitAdapter failed! (0x61:0x56:1891)
[   12.8] NVRM: GPU 0000:0f:00.0: rm_init_adapter failed, device minor number 0
""",
    ),
    "gsp-firmware-files-missing: validator pod": (
        "gsp-firmware-files-missing",
        """\
Unable to determine the device handle for GPU0000:1A:00.0: Unknown Error
dmesg:
NVRM: RmFetchGspRmImages: No firmware image found
NVRM: GPU 0000:1a:00.0: RmInitAdapter failed! (0x61:0x56:1774)
""",
    ),
    "gsp-firmware-files-missing: cannot init gsp": (
        "gsp-firmware-files-missing",
        """\
NVRM: RmInitAdapter: Cannot initialize GSP firmware RM
nvidia 0000:41:00.0: firmware: failed to load nvidia/535.54.03/gsp_tu10x.bin (-2)
nvidia 0000:41:00.0: firmware: failed to load nvidia/535.54.03/gsp_tu10x.bin (-2)
""",
    ),
    "gsp-stale-state-power-cycle: wpr2": (
        "gsp-stale-state-power-cycle",
        """\
NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP
NVRM: _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)
NVRM: RmInitAdapter: Cannot initialize GSP firmware RM
NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:2028)
""",
    ),
    "gsp-stale-state-power-cycle: after vfio": (
        "gsp-stale-state-power-cycle",
        """\
After shutting down the VM and rebinding the card to the host driver:
[ 4011.1] nvidia 0000:c1:00.0: enabling device (0000 -> 0002)
[ 4011.9] NVRM: kgspBootstrap_GH100: unexpected WPR2 already up, cannot proceed with booting GSP
[ 4012.0] NVRM: kgspBootstrap_GH100: (the GPU is likely in a bad state and may need to be reset)
[ 4012.1] NVRM: nvAssertOkFailedNoLog: Assertion failed: Generic Error: Invalid state [NV_ERR_INVALID_STATE] (0x00000040) returned from kgspInitRm(pGpu, pKernelGsp, pGspFw) @ osinit.c:1888
[ 4012.2] NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x62:0x40:1888)
""",
    ),
    "nvidia-module-missing-for-kernel: dkms": (
        "nvidia-module-missing-for-kernel",
        """\
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ uname -r
6.8.0-52-generic
$ dkms status
nvidia/550.120, 6.8.0-51-generic, x86_64: installed
$ sudo modprobe nvidia
modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-52-generic
""",
    ),
    "nvidia-module-missing-for-kernel: precompiled": (
        "nvidia-module-missing-for-kernel",
        """\
The Slurm node came back after the patch window without GPUs.
# modprobe nvidia
modprobe: FATAL: Module nvidia not found in directory /lib/modules/5.14.0-427.37.1.el9_4.x86_64
""",
    ),
    "nvidia-module-missing-for-kernel: persistenced": (
        "nvidia-module-missing-for-kernel",
        """\
Jan 14 06:30:02 w3 nvidia-persistenced[911]: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files (/dev/nvidia*) exist, and that user 109 has read and write permissions for those files.
Jan 14 06:30:02 w3 systemd-modules-load[412]: Failed to find module 'nvidia'
Jan 14 06:30:01 w3 kernel: Linux version 6.5.0-45-generic (buildd@lcy02)
""",
    ),
    "power-cable-missing: smi": (
        "power-cable-missing",
        "Unable to determine the device handle for GPU0: 0000:41:00.0: External power cables not properly attached\n",
    ),
    "power-cable-missing: xid54": (
        "power-cable-missing",
        "kernel: NVRM: Xid (PCI:0000:41:00): 54, pid=0, Auxilary power is not connected to the GPU\n",
    ),
    "power-cable-missing: rm": (
        "power-cable-missing",
        """\
[    6.7] NVRM: GPU 0000:c1:00.0: GPU does not have the necessary power cables connected.
[    6.8] NVRM: GPU 0000:c1:00.0: RmInitAdapter failed! (0x24:0x1c:1436)
""",
    ),
    "power-cable-missing: nvidia-smi text": (
        "power-cable-missing",
        """\
# nvidia-smi
Unable to determine the device handle for GPU 0000:81:00.0: The GPU does not have the necessary power cables connected.
""",
    ),
    "ib-bad-cable-symbol-errors: ibqueryerrors": (
        "ib-bad-cable-symbol-errors",
        """\
# ibqueryerrors --threshold-file /etc/infiniband-diags/error_thresholds
Errors for 0xe41d2d030075a2b0 "SwitchIB Mellanox Technologies"
   GUID 0xe41d2d030075a2b0 port ALL: [SymbolErrorCounter == 65535] [LinkErrorRecoveryCounter == 48] [LinkDownedCounter == 9] [PortRcvErrors == 210]
   GUID 0xe41d2d030075a2b0 port 17: [SymbolErrorCounter == 65535] [LinkErrorRecoveryCounter == 48] [LinkDownedCounter == 9] [PortRcvErrors == 210]
         Link info:     12   17[  ] ==( 4X      53.125 Gbps Active/  LinkUp)==>  0x506b4b0300c4d2a4     31    1[  ] "gpu-14 mlx5_2" ( )
## Summary: 41 nodes checked, 1 bad nodes found
##          320 ports checked, 1 ports have errors beyond threshold
""",
    ),
    "ib-bad-cable-symbol-errors: perfquery": (
        "ib-bad-cable-symbol-errors",
        """\
# perfquery -x 31 1
# Port extended counters: Lid 31 port 1 (CapMask: 0x5A00)
PortSelect:......................1
CounterSelect:...................0x0000
PortXmitData:....................81122309311
PortRcvData:.....................91120030311
# perfquery 31 1
# Port counters: Lid 31 port 1 (CapMask: 0x5A00)
SymbolErrorCounter:..............31244
LinkErrorRecoveryCounter:........17
LinkDownedCounter:...............2
PortRcvErrors:...................381
PortXmitDiscards:................0
""",
    ),
    "ib-bad-cable-symbol-errors: mlxlink": (
        "ib-bad-cable-symbol-errors",
        """\
# mlxlink -d mlx5_3 -m -c

Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-NDR
Width                              : 4x
FEC                                : Interleaved_Standard_RS_FEC_PLR - (546,516)
Loopback Mode                      : No Loopback
Auto Negotiation                   : ON

Troubleshooting Info
--------------------
Status Opcode                      : 15
Group Opcode                       : PHY FW
Recommendation                     : Bad signal integrity

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 2812.2
Symbol Errors                      : 812213
Symbol BER                         : 3E-9
Effective Physical Errors          : 128
Effective Physical BER             : 2E-12
Raw Physical Errors Per Lane       : 44112,221,201,2333112
Raw Physical BER Per Lane          : 3E-8,1E-10,1E-10,5E-6
""",
    ),
    "ib-bad-cable-symbol-errors: ethtool rx crc": (
        "ib-bad-cable-symbol-errors",
        """\
$ ethtool -S ens3f0np0 | grep -E "symbol|crc|phy_corrected|discards"
     rx_crc_errors_phy: 8841
     rx_symbol_err_phy: 9120
     rx_discards_phy: 0
     tx_discards_phy: 0
     rx_pcs_symbol_err_phy: 9120
     link_down_events_phy: 3
""",
    ),
    "ib-congestion: perfquery twice": (
        "ib-congestion",
        """\
# date +%T; perfquery 40 1
12:00:00
# Port counters: Lid 40 port 1 (CapMask: 0x5A00)
PortSelect:......................1
SymbolErrorCounter:..............0
LinkErrorRecoveryCounter:........0
LinkDownedCounter:...............0
PortRcvErrors:...................0
PortXmitDiscards:................0
VL15Dropped:.....................0
PortXmitData:....................1000000000
PortXmitWait:....................10000000
# sleep 10; date +%T; perfquery 40 1
12:00:10
# Port counters: Lid 40 port 1 (CapMask: 0x5A00)
PortSelect:......................1
SymbolErrorCounter:..............0
LinkErrorRecoveryCounter:........0
LinkDownedCounter:...............0
PortRcvErrors:...................0
PortXmitDiscards:................0
VL15Dropped:.....................0
PortXmitData:....................1200000000
PortXmitWait:....................1310000000
""",
    ),
    "ib-hca-faulty: health": (
        "ib-hca-faulty",
        """\
[ 812.1] mlx5_core 0000:a1:00.0: print_health_info:448:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:
[ 812.2] mlx5_core 0000:a1:00.0: print_health_info:452:(pid 0): assert_var[0] 0x00000001
[ 812.3] mlx5_core 0000:a1:00.0: mlx5_health_try_recover:358:(pid 4011): handling bad device here
[ 812.4] mlx5_core 0000:a1:00.0: mlx5_error_sw_reset:239:(pid 4011): start
""",
    ),
    "ib-hca-faulty: init fail": (
        "ib-hca-faulty",
        """\
[   15.5] mlx5_core 0000:9a:00.0: mlx5_function_setup:1133:(pid 790): enable hca failed
[   15.6] mlx5_core 0000:9a:00.0: probe_one:1684:(pid 790): mlx5_init_one failed with error code -5
[   15.7] mlx5_core: probe of 0000:9a:00.0 failed with error -5
""",
    ),
    "ib-hca-faulty: fw wait": (
        "ib-hca-faulty",
        """\
[   20.0] mlx5_core 0000:3b:00.0: wait_fw_init:199:(pid 511): Waiting for FW initialization, timeout abort in 100s (0x80000000)
[  120.0] mlx5_core 0000:3b:00.0: mlx5_function_setup:997:(pid 511): Firmware over 120000 MS in pre-initializing state, aborting
[  120.1] mlx5_core 0000:3b:00.0: probe_one:1503:(pid 511): mlx5_init_one failed with error code -16
""",
    ),
    "ib-link-speed-degraded: ibstat": (
        "ib-link-speed-degraded",
        """\
CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 11
		SM lid: 1
		Link layer: InfiniBand
CA 'mlx5_1'
	CA type: MT4129
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 12
		SM lid: 1
		Link layer: InfiniBand
CA 'mlx5_2'
	CA type: MT4129
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 13
		SM lid: 1
		Link layer: InfiniBand
CA 'mlx5_3'
	CA type: MT4129
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 200
		Base lid: 14
		SM lid: 1
		Link layer: InfiniBand
""",
    ),
    "ib-link-speed-degraded: ibstatus": (
        "ib-link-speed-degraded",
        """\
Infiniband device 'mlx5_0' port 1 status:
	default gid:	 fe80:0000:0000:0000:b859:9f03:0011:2231
	base lid:	 0x2f
	sm lid:		 0x1
	state:		 4: ACTIVE
	phys state:	 5: LinkUp
	rate:		 200 Gb/sec (4X HDR)
	link_layer:	 InfiniBand

Infiniband device 'mlx5_1' port 1 status:
	default gid:	 fe80:0000:0000:0000:b859:9f03:0011:2232
	base lid:	 0x30
	sm lid:		 0x1
	state:		 4: ACTIVE
	phys state:	 5: LinkUp
	rate:		 50 Gb/sec (1X HDR)
	link_layer:	 InfiniBand
""",
    ),
    "ib-link-speed-degraded: iblinkinfo": (
        "ib-link-speed-degraded",
        """\
Switch: 0xb8599f0300fc6de4 MF0;leaf-04:MQM8700/U1:
          10    1[  ] ==( 4X      53.125 Gbps Active/  LinkUp)==>      11    1[  ] "gpu-01 mlx5_0" ( )
          10    2[  ] ==( 4X      53.125 Gbps Active/  LinkUp)==>      12    1[  ] "gpu-02 mlx5_0" ( )
          10    3[  ] ==( 4X      53.125 Gbps Active/  LinkUp)==>      13    1[  ] "gpu-03 mlx5_0" ( )
          10    4[  ] ==( 4X      53.125 Gbps Active/  LinkUp)==>      14    1[  ] "gpu-04 mlx5_0" ( )
          10    5[  ] ==( 2X      53.125 Gbps Active/  LinkUp)==>      15    1[  ] "gpu-05 mlx5_0" ( Could be 4X)
""",
    ),
    "ib-port-init-no-subnet-manager: ibstatus": (
        "ib-port-init-no-subnet-manager",
        """\
Infiniband device 'mlx5_0' port 1 status:
	default gid:	 fe80:0000:0000:0000:b859:9f03:0011:2231
	base lid:	 0xffff
	sm lid:		 0x0
	state:		 2: INIT
	phys state:	 5: LinkUp
	rate:		 100 Gb/sec (4X EDR)
	link_layer:	 InfiniBand
""",
    ),
    "ib-port-init-no-subnet-manager: ibv_devinfo": (
        "ib-port-init-no-subnet-manager",
        """\
hca_id:	mlx5_0
	transport:			InfiniBand (0)
	fw_ver:				20.35.1012
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
    "ib-port-init-no-subnet-manager: sminfo": (
        "ib-port-init-no-subnet-manager",
        """\
# sminfo
ibwarn: [20112] mad_rpc: _do_madrpc failed; dport (Lid 0)
sminfo: iberror: failed: query
# ibstat -s
	State: Initializing
""",
    ),
    "ib-port-init-no-subnet-manager: rdma link": (
        "ib-port-init-no-subnet-manager",
        """\
$ rdma link
link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP
link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state INIT physical_state LINK_UP
""",
    ),
    "ib-switch-port-auto-disabled-errors: ufm": (
        "ib-switch-port-auto-disabled-errors",
        "UFM Event: Port leaf-3:12 isolated. Isolation reason: High BER. Port was auto-isolated\n",
    ),
    "ib-switch-port-auto-disabled-errors: unhealthy ports": (
        "ib-switch-port-auto-disabled-errors",
        """\
# ufm unhealthy_ports
node_desc          port  state      condition                 status_time
leaf-3 MQM9700     12    UNHEALTHY  HIGH_SYMBOL_BER_ISOLATED  Tue Mar 04 11:22:31 2025
""",
    ),
    "ib-switch-port-auto-disabled-errors: ibdiagnet am": (
        "ib-switch-port-auto-disabled-errors",
        "-W- leaf-3/U1/P12 - Port is in isolated state, PortPhyState: Disabled, Reason: AutomaticHighErrorRate\n",
    ),
    "ib-vl15-dropped: sysfs": (
        "ib-vl15-dropped",
        """\
/sys/class/infiniband/mlx5_0/ports/1/counters/VL15_dropped:0
/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:0
/sys/class/infiniband/mlx5_1/ports/1/counters/VL15_dropped:48121
/sys/class/infiniband/mlx5_1/ports/1/counters/symbol_error:0
""",
    ),
    "ipoib-interface-down: ibdev2netdev": (
        "ipoib-interface-down",
        """\
$ ibdev2netdev
mlx5_0 port 1 ==> ib0 (Up)
mlx5_1 port 1 ==> ib1 (Up)
mlx5_2 port 1 ==> ib2 (Down)
$ ibstat mlx5_2
CA 'mlx5_2'
	CA type: MT4123
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 200
		Base lid: 13
		SM lid: 1
		Link layer: InfiniBand
""",
    ),
    "ipoib-interface-down: rdma link": (
        "ipoib-interface-down",
        """\
$ rdma link show
link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 11 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ibp24s0
$ ip addr show ibp24s0
6: ibp24s0: <BROADCAST,MULTICAST> mtu 4092 qdisc noop state DOWN group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:11:22:31 brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
$ ip addr show ibp40s0
7: ibp40s0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 4092 qdisc mq state UP group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:11:22:32 brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
""",
    ),
    "nic-overheat: temp warn": (
        "nic-overheat",
        "[99112.1] mlx5_core 0000:c2:00.0: temp_warn:184:(pid 0): High temperature on sensors with bit set 0x0 0x1\n",
    ),
    "nic-overheat: health temp": (
        "nic-overheat",
        """\
[99.1] mlx5_core 0000:9c:00.0: print_health_info:412:(pid 0): Health issue observed, High temperature, severity(4) WARNING:
[99.2] mlx5_core 0000:9c:00.0: print_health_info:424:(pid 0): synd 0x10: High temperature
""",
    ),
    "nic-overheat: port module": (
        "nic-overheat",
        "mlx5_core 0000:5d:00.0: Port module event[error]: module 0, Cable error, High Temperature\n",
    ),
    "peermem-ofed-missing-for-kernel: version": (
        "peermem-ofed-missing-for-kernel",
        """\
[Tue Sep  8 17:16:02 2026] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client
[Tue Sep  8 17:16:02 2026] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)
modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument
failed to load nvidia-peermem module
""",
    ),
    "peermem-ofed-missing-for-kernel: depmod": (
        "peermem-ofed-missing-for-kernel",
        """\
depmod: WARNING: /lib/modules/3.10.0-1127.19.1.el7.x86_64/extra/nv_peer_mem.ko needs unknown symbol ib_register_peer_memory_client
depmod: WARNING: /lib/modules/3.10.0-1127.19.1.el7.x86_64/extra/nv_peer_mem.ko needs unknown symbol ib_unregister_peer_memory_client
""",
    ),
    "peermem-ofed-missing-for-kernel: systemd": (
        "peermem-ofed-missing-for-kernel",
        """\
Feb 12 11:47:20 n120 systemd[1]: Starting LSB: Activates/Deactivates nv_peer_mem to start at boot time....
Feb 12 11:47:20 n120 nv_peer_mem[3312]: starting... modprobe: ERROR: could not insert 'nv_peer_mem': Unknown symbol in module, or unknown parameter (see dmesg)
Feb 12 11:47:20 n120 nv_peer_mem[3312]: Failed to load nv_peer_mem
""",
    ),
    "peermem-unsigned-secure-boot: key": (
        "peermem-unsigned-secure-boot",
        """\
# modprobe nvidia-peermem
modprobe: ERROR: could not insert 'nvidia_peermem': Key was rejected by service
# mokutil --sb-state
SecureBoot enabled
""",
    ),
    "peermem-unsigned-secure-boot: lockdown": (
        "peermem-unsigned-secure-boot",
        """\
[ 311.0] Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7
modprobe: ERROR: could not insert 'nv_peer_mem': Operation not permitted
""",
    ),
    "peermem-unsigned-secure-boot: insmod": (
        "peermem-unsigned-secure-boot",
        "insmod: ERROR: could not insert module /lib/modules/5.15.0-91-generic/updates/dkms/nvidia-peermem.ko: Required key not available\n",
    ),
    "rdma-link-flapping: networkmanager": (
        "rdma-link-flapping",
        """\
Mar 02 10:00:01 n1 NetworkManager[1120]: <info>  [1740909601.1] device (ibp24s0): carrier: link disconnected
Mar 02 10:00:04 n1 NetworkManager[1120]: <info>  [1740909604.1] device (ibp24s0): carrier: link connected
Mar 02 10:02:01 n1 NetworkManager[1120]: <info>  [1740909721.1] device (ibp24s0): carrier: link disconnected
Mar 02 10:02:04 n1 NetworkManager[1120]: <info>  [1740909724.1] device (ibp24s0): carrier: link connected
Mar 02 10:03:01 n1 NetworkManager[1120]: <info>  [1740909781.1] device (ibp24s0): carrier: link disconnected
Mar 02 10:03:09 n1 NetworkManager[1120]: <info>  [1740909789.1] device (ibp24s0): carrier: link connected
""",
    ),
    "rdma-link-flapping: bonding": (
        "rdma-link-flapping",
        """\
[ 100.1] bond0: (slave ens1f0np0): link status definitely down, disabling slave
[ 104.1] bond0: (slave ens1f0np0): link status definitely up, 100000 Mbps full duplex
[ 160.1] bond0: (slave ens1f0np0): link status definitely down, disabling slave
[ 163.1] bond0: (slave ens1f0np0): link status definitely up, 100000 Mbps full duplex
[ 220.1] bond0: (slave ens1f0np0): link status definitely down, disabling slave
[ 229.1] bond0: (slave ens1f0np0): link status definitely up, 100000 Mbps full duplex
""",
    ),
    "rdma-link-flapping: bnxt": (
        "rdma-link-flapping",
        """\
[ 11.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Down
[ 14.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Up, 400000 Mbps (PAM4 112Gbps) full duplex, Flow control: none
[ 111.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Down
[ 114.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Up, 400000 Mbps (PAM4 112Gbps) full duplex, Flow control: none
[ 211.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Down
[ 214.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Up, 400000 Mbps (PAM4 112Gbps) full duplex, Flow control: none
""",
    ),
    "rdma-port-down: rdma link": (
        "rdma-port-down",
        """\
link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 11 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ib0
link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ib1
link mlx5_2/1 subnet_prefix fe80:0000:0000:0000 lid 13 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ib2
link mlx5_3/1 subnet_prefix fe80:0000:0000:0000 lid 65535 sm_lid 0 lmc 0 state DOWN physical_state POLLING netdev ib3
""",
    ),
    "rdma-port-down: ibv_devinfo": (
        "rdma-port-down",
        """\
hca_id:	mlx5_0
	phys_port_cnt:			1
		port:	1
			state:			PORT_ACTIVE (4)
			link_layer:		InfiniBand

hca_id:	mlx5_1
	phys_port_cnt:			1
		port:	1
			state:			PORT_ACTIVE (4)
			link_layer:		InfiniBand

hca_id:	mlx5_2
	phys_port_cnt:			1
		port:	1
			state:			PORT_ACTIVE (4)
			link_layer:		InfiniBand

hca_id:	mlx5_3
	phys_port_cnt:			1
		port:	1
			state:			PORT_DOWN (1)
			link_layer:		InfiniBand
""",
    ),
    "rdma-port-down: ibdev2netdev": (
        "rdma-port-down",
        """\
mlx5_0 port 1 ==> ens1f0np0 (Up)
mlx5_1 port 1 ==> ens2f0np0 (Up)
mlx5_2 port 1 ==> ens3f0np0 (Up)
mlx5_3 port 1 ==> ens4f0np0 (Up)
mlx5_4 port 1 ==> ens5f0np0 (Down)
mlx5_5 port 1 ==> ens6f0np0 (Up)
mlx5_6 port 1 ==> ens7f0np0 (Up)
mlx5_7 port 1 ==> ens8f0np0 (Up)
""",
    ),
    "rdma-port-down: ibv hca pingpong": (
        "rdma-port-down",
        """\
$ ib_write_bw -d mlx5_4
 Port number 1 state is Down
 Couldn't set the link layer
 Couldn't get context for the device
""",
    ),
    "umad-permission-denied: ibstat": (
        "umad-permission-denied",
        """\
$ ibnetdiscover
ibwarn: [3311] mad_rpc_open_port: can't open UMAD port ((null):0)
/build/rdma-core-39.0/libibnetdisc/ibnetdisc.c:811; can't open MAD port ((null):0)
ibnetdiscover: iberror: failed: discover failed
""",
    ),
    "umad-permission-denied: perfquery": (
        "umad-permission-denied",
        """\
$ perfquery -C mlx5_0
perfquery: iberror: failed: Failed to open 'mlx5_0' port '0'
""",
    ),
    "umad-permission-denied: saquery": (
        "umad-permission-denied",
        "saquery: Couldn't open UMAD device /dev/infiniband/umad0: Permission denied\n",
    ),
    "nvlink-fabric-state-out-of-sync: check": (
        "nvlink-fabric-state-out-of-sync",
        "NVRM: nvCheckOkFailedNoLog: Check failed: NVLink fabric state cached by the driver is out of sync [NV_ERR_FABRIC_STATE_OUT_OF_SYNC] (0x00000087) returned from status @ mem_multicast_fabric.c:1105\n",
    ),
    "nvlink-fabric-state-out-of-sync: fm": (
        "nvlink-fabric-state-out-of-sync",
        "[Sep 26 2025 19:32:39] [ERROR] [tid 1569349] failed to find the GPU handle 2977498750880931997 in the multicast team request setup 1758886358995437.\n",
    ),
    "nvlink-fabric-state-out-of-sync: nccl": (
        "nvlink-fabric-state-out-of-sync",
        """\
gpu-1:311:402 [3] transport/nvls.cc:193 NCCL WARN Cuda failure 999 'unknown error'
[ 811.1] NVRM: nvCheckOkFailedNoLog: Check failed: NVLink fabric state cached by the driver is out of sync [NV_ERR_FABRIC_STATE_OUT_OF_SYNC] (0x00000087) returned from memorymulticastfabricCtrlAttachGpu
""",
    ),
    "nvlink-fatal-after-kill-power-cycle: 74+62": (
        "nvlink-fatal-after-kill-power-cycle",
        """\
kernel: NVRM: Xid (PCI:0000:07:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 5(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)
kernel: NVRM: Xid (PCI:0000:0f:00): 62, pid='<unknown>', name=<unknown>, 22f1(4b2c) 00000000 00000000
kernel: NVRM: Xid (PCI:0000:0f:00): 45, pid=2211, name=python, Ch 00000008
""",
    ),
    "nvlink-link-training-failure: rx": (
        "nvlink-link-training-failure",
        """\
[  9.0] NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer0's postRxDetLinkMask failed!
[  9.1] NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!
""",
    ),
    "nvlink-link-training-failure: 136": (
        "nvlink-link-training-failure",
        "NVRM: Xid (PCI:0000:c4:00): 136, pid='<unknown>', name=<unknown>, NVLink: Link training failed on link 4 (fatal)\n",
    ),
    "nvlink-link-training-failure: fm training": (
        "nvlink-link-training-failure",
        """\
[Jan 10 2025 04:11:12] [ERROR] [tid 2101] NVLink training failed for link between GPU physical id 3 link index 7 and NVSwitch physical id 2 port 33
[Jan 10 2025 04:11:12] [ERROR] [tid 2101] failed to configure all the available GPUs or NVSwitches
""",
    ),
    "nvlink-link-training-failure: fm non active": (
        "nvlink-link-training-failure",
        """\
[Apr 23 2024 02:44:55] [ERROR] [tid 1808] detected NVLink connection training failure: NVSwitch PCI bus id 00000000:C4:00.0 physical id 9 port id 22 <=======> GPU PCI bus id 00000000:4E:00.0 physical id 2 port id 3
[Apr 23 2024 02:44:56] [ERROR] [tid 1808] training failed for NVLink connection
""",
    ),
    "nvlink-links-inactive: nvlink -s": (
        "nvlink-links-inactive",
        """\
$ nvidia-smi nvlink -s
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
	 Link 0: 25 GB/s
	 Link 1: 25 GB/s
	 Link 2: 25 GB/s
	 Link 3: 25 GB/s
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
	 Link 0: 25 GB/s
	 Link 1: <inactive>
	 Link 2: 25 GB/s
	 Link 3: <inactive>
GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000002)
	 Link 0: 25 GB/s
	 Link 1: 25 GB/s
	 Link 2: 25 GB/s
	 Link 3: 25 GB/s
""",
    ),
    "nvlink-links-inactive: all inactive": (
        "nvlink-links-inactive",
        """\
$ nvidia-smi nvlink --status
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
	 NVML: Unable to retrieve NVLink information as all links are inActive
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
	 NVML: Unable to retrieve NVLink information as all links are inActive
""",
    ),
    "nvlink-links-inactive: dcgm": (
        "nvlink-links-inactive",
        """\
$ dcgmi nvlink -s
+----------------------+
|  NvLink Link Status  |
+----------------------+
GPUs:
    gpuId 0:
        U U U U U U U U U U U U U U U U U U
    gpuId 1:
        U U U U U U U U U U U U U U U U U U
    gpuId 2:
        U U U D U U U U U U U U U U U U U U
    gpuId 3:
        U U U U U U U U U U U U U U U U U U
NvSwitches:
    No NvSwitches found.
Key: Up=U, Down=D, Disabled=X, Not Supported=_
""",
    ),
    "nvlink-links-inactive: dcgm diag": (
        "nvlink-links-inactive",
        "| NVLink errors            | GPU 2's NvLink link 3 is currently down. Run a field diagnostic on the GPU. |\n",
    ),
    "nvlink-p2p-unavailable: p2p n": (
        "nvlink-p2p-unavailable",
        """\
$ nvidia-smi topo -p2p n
 	GPU0	GPU1	GPU2	GPU3
 GPU0	X	NS	NS	NS
 GPU1	NS	X	NS	NS
 GPU2	NS	NS	X	NS
 GPU3	NS	NS	NS	X
$ nvidia-smi topo -m
	GPU0	GPU1	GPU2	GPU3	CPU Affinity
GPU0	 X 	NV18	NV18	NV18	0-47
GPU1	NV18	 X 	NV18	NV18	0-47
GPU2	NV18	NV18	 X 	NV18	0-47
GPU3	NV18	NV18	NV18	 X 	0-47

Legend:

  X    = Self
""",
    ),
    "nvlink-p2p-unavailable: p2p with product": (
        "nvlink-p2p-unavailable",
        """\
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
$ nvidia-smi topo -p2p r
 	GPU0	GPU1
 GPU0	X	NS
 GPU1	NS	X
$ nvidia-smi nvlink -s
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
	 Link 0: 26.562 GB/s
	 Link 1: 26.562 GB/s
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
	 Link 0: 26.562 GB/s
	 Link 1: 26.562 GB/s
""",
    ),
    "nvlink5-link-down: 149": (
        "nvlink5-link-down",
        """\
NVRM: Xid (PCI:0018:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 07 (0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)
NVRM: Xid (PCI:0018:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)
""",
    ),
    "nvlink5-link-down: 149 journald": (
        "nvlink5-link-down",
        """\
Oct 13 18:14:38 nvl72-3 kernel: NVRM: Xid (PCI:0009:01:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 02 (0x00000004 0x80000000 0x00000000 0x00000000 0x00000000 0x00000000)
Oct 13 18:14:39 nvl72-3 kernel: NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_DOWN Fatal XC1 i0 Link 02 (0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)
""",
    ),
    "nvlink5-link-down: marked": (
        "nvlink5-link-down",
        "NVRM: knvlinkSetDegradedMode_IMPL: GPU1 marked Degraded. Error originated on linkId 13!\n",
    ),
    "nvlink5-link-errors: 145 nonfatal": (
        "nvlink5-link-errors",
        "NVRM: Xid (PCI:0009:01:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 02 (0x00000004 0x80000000 0x00000000 0x00000000 0x00000000 0x00000000)\n",
    ),
    "nvlink5-link-errors: 149 info": (
        "nvlink5-link-errors",
        """\
NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Nonfatal XC1 i0 Link 04 (0x008505c6 0x0 0x0 0x0 0x0 0x0)
NVRM: Xid (PCI:0009:01:00): 144, SAW_MVB Nonfatal XC0 i0 Link -1 (0x00000040 0x0 0x0 0x0 0x0 0x0)
""",
    ),
    "nvswitch-sxid-12028-gpu-side: many": (
        "nvswitch-sxid-12028-gpu-side",
        """\
[1000.1] nvidia-nvswitch3: SXid (PCI:0000:c7:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)
[1000.2] nvidia-nvswitch3: SXid (PCI:0000:c7:00.0): 12028, Non-fatal, Link 33 egress non-posted PRIV error (First)
[1000.3] nvidia-nvswitch2: SXid (PCI:0000:c6:00.0): 12028, Non-fatal, Link 40 egress non-posted PRIV error (First)
[1000.4] nvidia-nvswitch2: SXid (PCI:0000:c6:00.0): 12028, Non-fatal, Link 41 egress non-posted PRIV error (First)
""",
    ),
    "nvswitch-sxid-12028-gpu-side: fm": (
        "nvswitch-sxid-12028-gpu-side",
        """\
[Jan 12 2025 03:12:55] [ERROR] [tid 2399] detected NVSwitch non-fatal error 12028 on NVSwitch PCI bus id 00000000:86:00.0 physical id 8 port id 34
[Jan 12 2025 03:12:55] [ERROR] [tid 2399] detected NVSwitch non-fatal error 12028 on NVSwitch PCI bus id 00000000:86:00.0 physical id 8 port id 35
""",
    ),
    "nvswitch-sxid-nonfatal-info: one": (
        "nvswitch-sxid-nonfatal-info",
        """\
[1000.1] nvidia-nvswitch3: SXid (PCI:0000:c7:00.0): 22013, Non-fatal, Link 32 Minion Link DLREQ interrupt
[1000.1] nvidia-nvswitch3: SXid (PCI:0000:c7:00.0): 22013, Severity 0 Engine instance 32 Sub-engine instance 00
""",
    ),
    "nvswitch-sxid-nonfatal-info: fm": (
        "nvswitch-sxid-nonfatal-info",
        "[Jan 12 2025 03:12:55] [ERROR] [tid 2399] detected NVSwitch non-fatal error 22013 on NVSwitch PCI bus id 00000000:86:00.0 physical id 8 port id 34\n",
    ),
    "dcgm-targeted-power-marginal: text": (
        "dcgm-targeted-power-marginal",
        """\
| targeted_power                            | Fail                                           |
|                                           | GPU2: Fail                                     |
| Warning: GPU2                             | Max power of 696.3 did not reach desired power |
|                                           |  minimum target_power of 700.0 for GPU 2       |
""",
    ),
    "dcgm-targeted-power-marginal: json": (
        "dcgm-targeted-power-marginal",
        '{"category":"Stress","tests":[{"name":"targeted_power","results":[{"gpu_ids":"3","status":"Fail","warnings":[{"error_category":13,"error_id":68,"warning":"Max power of 397.9 did not reach desired power minimum target_power of 400.0 for GPU 3"}]}]}]}\n',
    ),
    "dcgm-targeted-power-marginal: log": (
        "dcgm-targeted-power-marginal",
        "GPU 0 Max power of 299.2 did not reach desired power minimum target_power of 300.0 for GPU 0 Verify that the clock speeds and GPU utilization are high.\n",
    ),
    "pcie-limited-by-design: kernel": (
        "pcie-limited-by-design",
        """\
[    1.1] pci 0000:1b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:17:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)
[    1.2] pci 0000:43:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 16.0 GT/s PCIe x16 link at 0000:3f:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)
""",
    ),
    "pcie-limited-by-design: smi csv": (
        "pcie-limited-by-design",
        """\
$ nvidia-smi --query-gpu=index,name,pcie.link.gen.current,pcie.link.gen.max,pcie.link.gen.gpumax,pcie.link.gen.hostmax,pcie.link.width.current,pcie.link.width.max,pstate,utilization.gpu --format=csv
index, name, pcie.link.gen.current, pcie.link.gen.max, pcie.link.gen.gpumax, pcie.link.gen.hostmax, pcie.link.width.current, pcie.link.width.max, pstate, utilization.gpu [%]
0, NVIDIA L40S, 3, 3, 4, 3, 16, 16, P0, 98 %
1, NVIDIA L40S, 3, 3, 4, 3, 16, 16, P0, 97 %
""",
    ),
    "pcie-link-degraded: smi csv": (
        "pcie-link-degraded",
        """\
$ nvidia-smi --query-gpu=index,name,pci.bus_id,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,pstate,utilization.gpu --format=csv
index, name, pci.bus_id, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max, pstate, utilization.gpu [%]
0, NVIDIA H100 80GB HBM3, 00000000:1B:00.0, 5, 5, 16, 16, P0, 99 %
1, NVIDIA H100 80GB HBM3, 00000000:43:00.0, 5, 5, 16, 16, P0, 99 %
2, NVIDIA H100 80GB HBM3, 00000000:52:00.0, 5, 5, 8, 16, P0, 99 %
3, NVIDIA H100 80GB HBM3, 00000000:61:00.0, 5, 5, 16, 16, P0, 99 %
""",
    ),
    "pcie-link-degraded: lspci full": (
        "pcie-link-degraded",
        """\
52:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
	Subsystem: NVIDIA Corporation Device 16c1
	Control: I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx+
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16
	Kernel driver in use: nvidia
1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s, Width x4 (downgraded)
	Kernel driver in use: nvidia
43:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 32GT/s, Width x16
	Kernel driver in use: nvidia
""",
    ),
    "pcie-link-degraded: dcgm health": (
        "pcie-link-degraded",
        """\
| PCIe system              | Fail                                              |
|                          | GPU 2 is running at PCI link width 4X, below the minimum of 16X
""",
    ),
    "pcie-link-degraded: bandwidthTest": (
        "pcie-link-degraded",
        """\
$ nvidia-smi -q -d PERFORMANCE -i 2 >/dev/null
    GPU Link Info
        PCIe Generation
            Max                           : 4
            Current                       : 4
            Device Current                : 4
            Device Max                    : 4
            Host Max                      : 4
        Link Width
            Max                           : 16x
            Current                       : 2x
""",
    ),
    "power-brake-external: q": (
        "power-brake-external",
        """\
$ nvidia-smi -q -d PERFORMANCE
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Performance State                     : P0
"""
        + reasons("HW Slowdown", "HW Power Brake Slowdown")
        + """\
        Display Clock Setting               : Not Active
""",
    ),
    "power-brake-external: hex csv": (
        "power-brake-external",
        """\
timestamp, index, clocks_throttle_reasons.active, clocks.sm, temperature.gpu, power.draw
2025/03/04 11:00:00.000, 0, 0x0000000000000088, 345 MHz, 38, 120.11 W
2025/03/04 11:00:02.000, 0, 0x0000000000000088, 345 MHz, 38, 119.80 W
""",
    ),
    "power-brake-external: dcgm dmon": (
        "power-brake-external",
        """\
# nvidia-smi --query-gpu=index,name,clocks_event_reasons.hw_power_brake_slowdown,clocks_event_reasons.hw_slowdown,clocks.sm,temperature.gpu --format=csv
index, name, clocks_event_reasons.hw_power_brake_slowdown, clocks_event_reasons.hw_slowdown, clocks.current.sm [MHz], temperature.gpu
0, NVIDIA A100-SXM4-80GB, Active, Active, 210 MHz, 34
1, NVIDIA A100-SXM4-80GB, Not Active, Not Active, 1410 MHz, 55
""",
    ),
    "power-brake-external: gpud": (
        "power-brake-external",
        "GPU-6a1c2f5b: HW Power Brake Slowdown is engaged (External Power Brake Assertion being triggered) (e.g. by the system power supply)\n",
    ),
    "power-limit-lowered: smi q": (
        "power-limit-lowered",
        """\
$ nvidia-smi -q -d POWER,PERFORMANCE,CLOCK -i 0
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Performance State                     : P0
"""
        + reasons("SW Power Cap")
        + """\
        Display Clock Setting               : Not Active
    Utilization
        Gpu                               : 99 %
    GPU Power Readings
        Power Draw                        : 298.12 W
        Current Power Limit               : 300.00 W
        Requested Power Limit             : 300.00 W
        Default Power Limit               : 700.00 W
        Min Power Limit                   : 200.00 W
        Max Power Limit                   : 700.00 W
    Clocks
        Graphics                          : 990 MHz
        SM                                : 990 MHz
        Memory                            : 2619 MHz
""",
    ),
    "power-limit-lowered: csv": (
        "power-limit-lowered",
        """\
index, name, power.draw [W], enforced.power.limit [W], power.default_limit [W], clocks.current.sm [MHz], clocks.max.sm [MHz], clocks_event_reasons.active, utilization.gpu [%]
0, NVIDIA H100 80GB HBM3, 348.11 W, 350.00 W, 700.00 W, 1005 MHz, 1980 MHz, 0x0000000000000004, 100 %
1, NVIDIA H100 80GB HBM3, 347.80 W, 350.00 W, 700.00 W, 1020 MHz, 1980 MHz, 0x0000000000000004, 100 %
""",
    ),
    "power-sensor-stuck: table": (
        "power-sensor-stuck",
        smi("550.90.07", "12.4")
        + """\
|   0  NVIDIA A100-PCIE-40GB          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   33C    P0             655W /  250W |       4MiB /  40960MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
""",
    ),
    "power-sensor-stuck: csv": (
        "power-sensor-stuck",
        """\
index, name, power.draw [W], power.draw.average [W], power.draw.instant [W], enforced.power.limit [W], power.default_limit [W], clocks.current.sm [MHz], clocks_event_reasons.active, temperature.gpu, utilization.gpu [%]
0, NVIDIA H100 PCIe, 1310.70 W, 1310.70 W, 1310.70 W, 350.00 W, 350.00 W, 345 MHz, 0x0000000000000004, 31, 100 %
""",
    ),
    "thermal-slowdown: q temps": (
        "thermal-slowdown",
        """\
$ nvidia-smi -q -d TEMPERATURE,PERFORMANCE
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Performance State                     : P0
"""
        + reasons("SW Thermal Slowdown")
        + """\
        Display Clock Setting               : Not Active
    Temperature
        GPU Current Temp                  : 87 C
        GPU T.Limit Temp                  : 0 C
        GPU Shutdown T.Limit Temp         : -8 C
        GPU Slowdown T.Limit Temp         : -2 C
        GPU Max Operating T.Limit Temp    : 0 C
        Memory Current Temp               : 88 C
""",
    ),
    "thermal-slowdown: hex": (
        "thermal-slowdown",
        """\
timestamp, index, name, temperature.gpu, clocks.current.sm [MHz], clocks_throttle_reasons.active, utilization.gpu [%], power.draw [W]
2025/03/04 11:00:00.000, 3, NVIDIA A40, 93, 720 MHz, 0x0000000000000020, 100 %, 188.2 W
2025/03/04 11:00:02.000, 3, NVIDIA A40, 93, 705 MHz, 0x0000000000000020, 100 %, 187.1 W
""",
    ),
    "thermal-slowdown: old cards": (
        "thermal-slowdown",
        """\
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
    Temperature
        GPU Current Temp                  : 96 C
        GPU Shutdown Temp                 : 101 C
        GPU Slowdown Temp                 : 96 C
""",
    ),
    "thermal-cooling-fault: dcgm diag": (
        "thermal-cooling-fault",
        "Thermal violations totaling 7.2 seconds started at 12.0 seconds into the test for GPU 3\n",
    ),
    "thermal-cooling-fault: ipmi": (
        "thermal-cooling-fault",
        """\
$ ipmitool sdr type Fan
FAN1             | 41h | ok  | 29.1 | 9240 RPM
FAN2             | 42h | cr  | 29.2 | 0 RPM
FAN3             | 43h | ok  | 29.3 | 9310 RPM
$ ipmitool sel elist | tail -2
 3f1 | 03/04/2025 | 10:58:11 | Fan #0x42 | Lower Critical going low  | Asserted
$ nvidia-smi -q -d PERFORMANCE | grep -A1 Thermal
            HW Thermal Slowdown           : Active
""",
    ),
    "thermal-memory-junction: csv": (
        "thermal-memory-junction",
        """\
index, name, temperature.gpu, temperature.memory, clocks.current.sm [MHz], clocks.max.sm [MHz], clocks_event_reasons.active, utilization.gpu [%], temperature.gpu.tlimit
0, NVIDIA A100-SXM4-80GB, 61, 95, 1080 MHz, 1410 MHz, 0x0000000000000020, 100 %, 26
0, NVIDIA A100-SXM4-80GB, 61, 95, 1065 MHz, 1410 MHz, 0x0000000000000020, 100 %, 26
""",
    ),
    "thermal-memory-junction: q": (
        "thermal-memory-junction",
        """\
$ nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i 1
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:43:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    Performance State                     : P0
"""
        + reasons("SW Thermal Slowdown")
        + """\
        Display Clock Setting               : Not Active
    Temperature
        GPU Current Temp                  : 58 C
        GPU Shutdown Temp                 : 92 C
        GPU Slowdown Temp                 : 89 C
        GPU Max Operating Temp            : 85 C
        Memory Current Temp               : 96 C
        Memory Max Operating Temp         : 95 C
""",
    ),
    "gsp-rpc-timeout: 119 talos": (
        "gsp-rpc-timeout",
        "10.0.11.9: kern: warning: [2026-04-22T21:27:51.001Z]: NVRM: Xid (PCI:0000:07:00): 119, pid=1311, name=nvidia-smi, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x2080014b 0x5).\n",
    ),
    "fabric-manager-not-running: fm option": (
        "fabric-manager-not-running",
        """\
Starting NVIDIA fabric manager daemon for NVLink5+...
Unknown option: /usr/share/nvidia/nvswitch/fabricmanager.cfg
NVIDIA Fabric Manager Start Script
Usage: /usr/bin/nvidia-fabricmanager-start.sh [script options] --args [arguments to run fabric manager]
Script options:
  -h, --help              Show this help message
Mounting NVIDIA driver rootfs...
Done, now waiting for signal
""",
    ),
    "fabric-manager-not-running: b200 no ib": (
        "fabric-manager-not-running",
        """\
+ _assert_nvlink5_system
Starting NVIDIA fabric manager daemon...
request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]
$ nvidia-smi -q | grep -A3 Fabric
    Fabric
        State                             : In Progress
        Status                            : N/A
        CliqueId                          : N/A
$ nvidia-smi -L
GPU 0: NVIDIA B200 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
GPU 1: NVIDIA B200 (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
""",
    ),
    "gpu-hung: bug report style": (
        "gpu-hung",
        """\
Every nvidia-smi call hangs since 3 am, kubelet shows the device plugin not answering.

$ sudo cat /proc/48211/stack
[<0>] rwsem_down_read_slowpath+0x34b/0x4f0
[<0>] os_acquire_rwlock_read+0x31/0x60 [nvidia]
[<0>] nvidia_open+0x1a0/0x4e0 [nvidia]
$ ps -eo state,pid,cmd | grep "^D"
D   48211 nvidia-smi
D   48420 nvidia-smi --query-gpu=uuid --format=csv
""",
    ),
    "gsp-stale-state-power-cycle: open": (
        "gsp-stale-state-power-cycle",
        """\
[   24.554] NVRM: GPU0 kgspHealthCheck_TU102: ********************************* GSP-CrashCat Report *******************************
[   24.559] NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP
[   24.559] NVRM: _kgspBootGspRm: (the GPU is likely in a bad state and may need to be reset)
[   24.560] NVRM: RmInitAdapter: Cannot initialize GSP firmware RM
[   24.561] NVRM: GPU 0000:0f:00.0: RmInitAdapter failed! (0x62:0x40:2142)
[   24.562] NVRM: GPU 0000:0f:00.0: rm_init_adapter failed, device minor number 0
nvidia-smi: No devices were found
""",
    ),
    "nvidia-module-missing-for-kernel: modinfo": (
        "nvidia-module-missing-for-kernel",
        """\
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.

$ modinfo nvidia
modinfo: ERROR: Module nvidia not found.
$ uname -r
5.15.0-1084-aws
$ ls /lib/modules/
5.15.0-1083-aws  5.15.0-1084-aws
$ dkms status
nvidia/535.183.01, 5.15.0-1083-aws, x86_64: installed
""",
    ),
    "ib-vl15-dropped: ibqueryerrors": (
        "ib-vl15-dropped",
        """\
Errors for 0x248a070300f1a3b0 "MF0;sw1:MSB7800/U1"
   GUID 0x248a070300f1a3b0 port ALL: [VL15Dropped == 65535]
   GUID 0x248a070300f1a3b0 port 0: [VL15Dropped == 65535]
## Summary: 12 nodes checked, 1 bad nodes found
""",
    ),
    "ib-switch-port-auto-disabled-errors: mlnxos": (
        "ib-switch-port-auto-disabled-errors",
        """\
leaf-03 [standalone: master] # show interfaces ib 1/14
IB1/14 state:
   Logical port state           : Down
   Physical port state          : Disabled
   Current line rate            : -
   Isolation reason: AutomaticHighErrorRate
""",
    ),
    "nic-overheat: log": (
        "nic-overheat",
        """\
Mar 14 02:10:22 gpu-18 kernel: mlx5_core 0000:9f:00.0: temp_warn:197:(pid 0): High temperature on sensors with bit set 0x0 0x1
Mar 14 02:10:30 gpu-18 kernel: mlx5_core 0000:9f:00.0: poll_health:800:(pid 0): Fatal error 1 detected
Mar 14 02:10:30 gpu-18 kernel: mlx5_core 0000:9f:00.0: print_health_info:424:(pid 0): assert_var[0] 0xffffffff
Mar 14 02:10:30 gpu-18 kernel: mlx5_core 0000:9f:00.0: mlx5_health_try_recover:336:(pid 911): handling bad device here
""",
    ),
    "ipoib-interface-down: ibdev2netdev -v": (
        "ipoib-interface-down",
        """\
$ ibdev2netdev -v
0000:18:00.0 mlx5_0 (MT4129 - MCX75310AAS-NEAT) NVIDIA ConnectX-7 fw 28.39.1002 port 1 (ACTIVE) ==> ibp24s0 (Up)
0000:40:00.0 mlx5_1 (MT4129 - MCX75310AAS-NEAT) NVIDIA ConnectX-7 fw 28.39.1002 port 1 (ACTIVE) ==> ibp64s0 (Down)
0000:4f:00.0 mlx5_2 (MT4129 - MCX75310AAS-NEAT) NVIDIA ConnectX-7 fw 28.39.1002 port 1 (ACTIVE) ==> ibp79s0 (Up)
""",
    ),
    "peermem-ofed-missing-for-kernel: ctr": (
        "peermem-ofed-missing-for-kernel",
        """\
DRIVER_ARCH is aarch64
modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument
failed to load nvidia-peermem module
""",
    ),
    "peermem-unsigned-secure-boot: dmesg": (
        "peermem-unsigned-secure-boot",
        """\
[  101.2] nvidia_peermem: module verification failed: signature and/or required key missing - tainting kernel
modprobe: ERROR: could not insert 'nvidia_peermem': Key was rejected by service
[  101.3] Loading of module with unavailable key is rejected
""",
    ),
    "thermal-slowdown: grep": (
        "thermal-slowdown",
        """\
$ nvidia-smi -q -d PERFORMANCE | grep Slowdown
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Active
""",
    ),
    "thermal-cooling-fault: bmc": (
        "thermal-cooling-fault",
        """\
$ ipmitool sel elist
 1a | 03/04/2025 | 10:58:11 | Fan FAN_2 | Lower Critical going low  | Asserted | Reading 0 < Threshold 500 RPM
 1b | 03/04/2025 | 11:02:40 | Temperature GPU3 Temp | Upper Critical going high | Asserted | Reading 95 > Threshold 92 degrees C
""",
    ),
    "nvlink-error: xid74": (
        "nvlink-error",
        "kernel: NVRM: Xid (PCI:0000:4e:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 11(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)\n",
    ),
    "nvlink5-link-down: nvsentinel": (
        "nvlink5-link-down",
        "Xid 149 on GPU 0: NVRM: Xid (PCI:0018:01:00): 149, pid=11, name=python, NETIR_LINK_DOWN Fatal   XC0 i0 Link 07 (0x004505c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)\n",
    ),
    "nvlink5-link-errors: many": (
        "nvlink5-link-errors",
        """\
[ 9.1] NVRM: Xid (PCI:0008:01:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 03 (0x00000001 0x80000000 0x0 0x0 0x0 0x0)
[ 9.2] NVRM: Xid (PCI:0009:01:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 03 (0x00000001 0x80000000 0x0 0x0 0x0 0x0)
""",
    ),
    "nvswitch-sxid-12028-gpu-side: gpud": (
        "nvswitch-sxid-12028-gpu-side",
        """\
[Jul 09 2024 18:14:07] [ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 61
[Jul 09 2024 18:14:07] [ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:87:00.0 physical id 4 port 60
""",
    ),
    "nvlink-fabric-state-out-of-sync: torch": (
        "nvlink-fabric-state-out-of-sync",
        """\
RuntimeError: CUDA driver error: unknown error (symmetric memory rendezvous)
[ 811.1] NVRM: _memMulticastFabricGpuInfoAdd: fabric state cached by the driver is out of sync
""",
    ),
    "fabric-manager-not-running: torch only": (
        "fabric-manager-not-running",
        """\
RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 802: system not yet initialized
$ systemctl status nvidia-fabricmanager
○ nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; disabled; vendor preset: enabled)
     Active: inactive (dead)
""",
    ),
    "umad-permission-denied: iblinkinfo": (
        "umad-permission-denied",
        """\
$ iblinkinfo
ibwarn: [9911] _do_madrpc: send failed; Permission denied
ibwarn: [9911] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0)
""",
    ),
    "ib-hca-faulty: ibpanic": (
        "ib-hca-faulty",
        """\
$ ibstat
CA 'mlx5_0'
	CA type: MT4129
ibpanic: [88121] main: stat of IB device 'mlx5_1' failed: No such file or directory
""",
    ),
    "rdma-link-flapping: journal": (
        "rdma-link-flapping",
        """\
Mar 02 10:00:01 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link down
Mar 02 10:00:09 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link up
Mar 02 10:04:01 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link down
Mar 02 10:04:09 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link up
Mar 02 10:09:01 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link down
Mar 02 10:09:09 n1 kernel: mlx5_core 0000:5d:00.0 ens3f0np0: Link up
""",
    ),
    "ipoib-interface-down: ip link + ibstat": (
        "ipoib-interface-down",
        """\
$ ibstat mlx5_0
CA 'mlx5_0'
	CA type: MT4123
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 200
		Base lid: 13
		SM lid: 1
		Link layer: InfiniBand
$ ip link show ib0
5: ib0: <BROADCAST,MULTICAST> mtu 2044 qdisc noop state DOWN mode DEFAULT group default qlen 256
    link/infiniband 00:00:10:29:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:11:22:31 brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff
""",
    ),
    "well: fm start": (
        "",
        """\
Mar 03 08:14:00 hgx nvidia-fabricmanager-start.sh[2101]: Detected Pre-NVL5 system
Mar 03 08:14:02 hgx nv-fabricmanager[2110]: Connected to 1 node.
Mar 03 08:14:04 hgx nv-fabricmanager[2110]: Successfully configured all the available NVSwitches to route GPU NVLink traffic. NVLink Peer-to-Peer support will be enabled once the GPUs are successfully registered with the NVLink fabric.
Mar 03 08:14:04 hgx systemd[1]: Started nvidia-fabricmanager.service - NVIDIA fabric manager service.
""",
    ),
    "well: fm stop": (
        "",
        """\
Jan 05 15:32:16 h20 systemd[1]: Stopping nvidia-fabricmanager.service - NVIDIA fabric manager service...
Jan 05 15:32:16 h20 nvidia-fabricmanager-start.sh[20411]: Stopped "Nvidia Fabric Manager"
Jan 05 15:32:16 h20 systemd[1]: nvidia-fabricmanager.service: Deactivated successfully.
Jan 05 15:32:16 h20 systemd[1]: Stopped nvidia-fabricmanager.service - NVIDIA fabric manager service.
""",
    ),
    "well: nvidia start": (
        "",
        """\
[    7.1] nvidia: loading out-of-tree module taints kernel.
[    7.1] nvidia: module license 'NVIDIA' taints kernel.
[    7.2] nvidia-nvlink: Nvlink Core is being initialized, major device number 235
[    7.4] NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (dvs-builder@U22-I3-B03-03-1)
[    7.9] nvidia-modeset: Loading NVIDIA UNIX Open Kernel Mode Setting Driver for x86_64  570.133.20
[    8.0] [drm] [nvidia-drm] [GPU ID 0x00001b00] Loading driver
[   12.1] nvidia 0000:1b:00.0: enabling device (0140 -> 0142)
[   13.2] nvidia_uvm: module uses symbols nvUvmInterfaceDisableAccessCntr from proprietary module nvidia, inheriting taint.
""",
    ),
    "well: nouveau firmware": (
        "",
        """\
[    4.1] nouveau 0000:01:00.0: Direct firmware load for nvidia/ga102/gsp/gsp-535.113.01.bin failed with error -2
[    4.2] nouveau 0000:01:00.0: gsp: failed to load
[    9.0] nvidia: loading out-of-tree module taints kernel.
[    9.4] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.120  Fri Sep 13 10:10:01 UTC 2024
""",
    ),
    "well: mlx5": (
        "",
        """\
[   10.1] mlx5_core 0000:5d:00.0: firmware version: 28.39.1002
[   10.2] mlx5_core 0000:5d:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)
[   10.8] mlx5_core 0000:5d:00.0: Rate limit: 127 rates are supported, range: 0Mbps to 97656Mbps
[   10.9] mlx5_core 0000:5d:00.0: E-Switch: Total vports 1, per vport: max uc(128) max mc(2048)
[   10.9] mlx5_core 0000:5d:00.0: mlx5_pcie_event:301:(pid 1116): PCIe slot advertised sufficient power (75W).
[   11.2] mlx5_core 0000:5d:00.0 ibp93s0: Link up
""",
    ),
    "well: bond start": (
        "",
        """\
[   20.1] bond0: (slave ens1f0np0): Enslaving as a backup interface with an up link
[   20.2] bond0: (slave ens1f1np1): link status definitely down, disabling slave
[   23.1] bond0: (slave ens1f1np1): link status definitely up, 100000 Mbps full duplex
""",
    ),
    "well: ps idle": (
        "",
        """\
$ ps aux | grep nvidia
root        1912  0.0  0.0   5420  1880 ?        Ss   Mar01   0:04 /usr/bin/nvidia-persistenced --user nvidia-persistenced --persistence-mode
root       22110  0.3  0.0 212312 42100 ?        Ssl  Mar01  12:20 /usr/bin/nv-hostengine -n --service-account nvidia-dcgm
root       31212  0.0  0.0   9932  4420 pts/0    R+   07:02   0:00 nvidia-smi
""",
    ),
    "well: peermem fine": (
        "",
        """\
DRIVER_ARCH is x86_64
waiting for mellanox ofed and nvidia drivers to be installed
waiting for mellanox ofed and nvidia drivers to be installed
successfully loaded nvidia-peermem module
""",
    ),
    "well: perfquery": (
        "",
        """\
# Port counters: Lid 40 port 1 (CapMask: 0x5A00)
SymbolErrorCounter:..............0
LinkErrorRecoveryCounter:........0
LinkDownedCounter:...............1
PortRcvErrors:...................0
PortXmitDiscards:................0
VL15Dropped:.....................2
PortXmitWait:....................88121
""",
    ),
    "well: throttle idle": (
        "",
        """\
$ nvidia-smi -q -d PERFORMANCE
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Performance State                     : P8
"""
        + reasons("Idle")
        + """\
        Display Clock Setting               : Not Active
""",
    ),
    "well: power cap": (
        "",
        """\
$ nvidia-smi -q -d PERFORMANCE,POWER
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 11:00:00 2025
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 8
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Performance State                     : P0
"""
        + reasons("SW Power Cap")
        + """\
        Display Clock Setting               : Not Active
    GPU Power Readings
        Power Draw                        : 699.12 W
        Current Power Limit               : 700.00 W
        Default Power Limit               : 700.00 W
""",
    ),
    "well: grep quiet": (
        "",
        """\
$ nvidia-smi -q -d PERFORMANCE | grep Slowdown
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Not Active
            HW Power Brake Slowdown       : Not Active
        SW Thermal Slowdown               : Not Active
""",
    ),
    "well: gpud metric help": (
        "",
        """\
# HELP accelerator_nvidia_clock_hw_slowdown_power_brake tracks hardware power brake slowdown event -- HW Power Brake Slowdown is engaged (External Power Brake Assertion being triggered)
# TYPE accelerator_nvidia_clock_hw_slowdown_power_brake gauge
accelerator_nvidia_clock_hw_slowdown_power_brake{gpu_id="GPU-1"} 0
""",
    ),
    "well: pcie idle": (
        "",
        """\
1b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16
43:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM not supported
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16
""",
    ),
    "well: packages agree": (
        "",
        """\
ii  nvidia-driver-550-server                550.90.07-0ubuntu0.22.04.1   amd64   NVIDIA Server Driver metapackage
ii  nvidia-fabricmanager-550                550.90.07-1                  amd64   Fabric Manager for NVSwitch based systems.
""",
    ),
    "well: psu events long ago": (
        "",
        """\
$ ipmitool sel elist
 2c | 11/02/2024 | 03:11:09 | Power Supply #0x52 | Power Supply AC lost | Asserted
 2d | 11/02/2024 | 03:12:10 | Power Supply #0x52 | Power Supply AC lost | Deasserted
""",
    ),
    "well: fan ok": (
        "",
        """\
FAN1             | 41h | ok  | 29.1 | 9240 RPM
FAN2             | 42h | ns  | 29.2 | No Reading
FAN3             | 43h | ok  | 29.3 | 9310 RPM
""",
    ),
    "well: rdma link ok": (
        "",
        """\
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0
link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev ens1f1np1
""",
    ),
    "well: uname dkms ok": (
        "",
        """\
$ uname -r
6.8.0-60-generic
$ dkms status
nvidia/570.133.07, 6.8.0-59-generic, x86_64: installed
nvidia/570.133.07, 6.8.0-60-generic, x86_64: installed
""",
    ),
    "well: grep state": (
        "",
        """\
$ ibstat | grep -E "State|Rate"
		State: Active
		Physical state: LinkUp
		Rate: 400
		State: Active
		Physical state: LinkUp
		Rate: 400
""",
    ),
    "well: nvlink fine": (
        "",
        """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000000)
	 Link 0: 25 GB/s
	 Link 1: 25 GB/s
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-aaaaaaaa-0000-0000-0000-000000000001)
	 Link 0: 25 GB/s
	 Link 1: 25 GB/s
""",
    ),
    "well: smi reset ok": (
        "",
        """\
# nvidia-smi -r -i 3
GPU 00000000:4E:00.0 was successfully reset.
All done.
""",
    ),
    "well: ethtool few": (
        "",
        """\
     rx_crc_errors_phy: 12
     rx_symbol_err_phy: 3
     tx_discards_phy: 40
     rx_out_of_buffer: 81231
""",
    ),
    "nvlink-link-training-failure: links that the driver asks for in vain": (
        "nvlink-link-training-failure",
        "[   41.2] NVRM: GPU2 knvlinkTrainFabricLinksToActive_IMPL: Failed to request Link 3 to transition to active\n",
    ),
    "nvlink5-link-down: degraded mode without a number": (
        "nvlink5-link-down",
        "[  941.2] NVRM: knvlinkFatalErrorRecovery_WORKITEM: Failed to recover from uncontained NVLINK error. Triggering Degraded Mode!\n",
    ),
    "fabric-manager-not-running: it went away under the jobs": (
        "fabric-manager-not-running",
        "[  941.2] NVRM: nvidia-fabricmanager daemon shutdown detected, robust channel recovery invoked!\n",
    ),
    "imex-not-ready: it went away under the jobs": (
        "imex-not-ready",
        "[  941.2] NVRM: Abrupt nvidia-imex daemon shutdown detected, robust channel recovery invoked\n",
    ),
    "nvlink-fabric-state-out-of-sync: a stale handle": (
        "nvlink-fabric-state-out-of-sync",
        "[  941.2] NVRM: memorymulticastfabricAttach: Attached GPU's probe handle is stale\n",
    ),
    "well: ib async once": (
        "",
        """\
[   99.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Down
[  104.1] bnxt_en 0000:41:00.0 ens5np0: NIC Link is Up, 400000 Mbps (PAM4 112Gbps) full duplex, Flow control: none
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_cause_of_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    for variant in (text, text.replace("\n", "\r\n")):
        loud = [finding.cause for finding in diagnosed(tmp_path, variant).findings if cause or finding.severity != "info"]
        assert loud[:1] == ([cause] if cause else [])
