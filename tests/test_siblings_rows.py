# ruff: noqa: E501 - lines as programs print them
"""Tables, loops, JSON and series in which people show ports and what they count, and the cause that stands first; "" where nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

# name → (cause, text)
TEXTS: dict[str, tuple[str, str]] = {
    "table of counters per adapter": (
        "ib-bad-cable-symbol-errors",
        "$ ./ibcounters.sh   # totals since boot\n"
        "HCA      port  SymbolErr  LinkRecov  LinkDowned  RcvErr  RemPhys  XmtDiscard  VL15Drop\n"
        "mlx5_0   1     0          0          0           0       0        0           0\n"
        "mlx5_1   1     0          0          0           0       0        0           0\n"
        "mlx5_2   1     88123      41         3           1204    0        0           0\n"
        "mlx5_3   1     0          0          0           0       0        0           0\n",
    ),
    "json of counters": (
        "ib-bad-cable-symbol-errors",
        '{"host": "gpu-12", "ports": [\n'
        ' {"device": "mlx5_0", "port": 1, "state": "ACTIVE", "counters": {"symbol_error": 0, "link_error_recovery": 0, "link_downed": 0, "port_rcv_errors": 0, "port_xmit_discards": 0}},\n'
        ' {"device": "mlx5_4", "port": 1, "state": "ACTIVE", "counters": {"symbol_error": 61442, "link_error_recovery": 12, "link_downed": 1, "port_rcv_errors": 3301, "port_xmit_discards": 0}}]}\n',
    ),
    "ethernet beside infiniband is no slow link": (
        "",
        "$ for d in /sys/class/infiniband/*; do echo $(basename $d) $(cat $d/ports/1/{state,rate,link_layer}); done\n"
        + "".join(f"mlx5_{number} 4: ACTIVE 400 Gb/sec (4X NDR) InfiniBand\n" for number in range(4))
        + "mlx5_4 4: ACTIVE 100 Gb/sec (4X EDR) Ethernet\n",
    ),
    "one of the infiniband ports is slow": (
        "ib-link-speed-degraded",
        "$ for d in /sys/class/infiniband/*; do echo $(basename $d) $(cat $d/ports/1/{state,rate,link_layer}); done\n"
        + "".join(f"mlx5_{number} 4: ACTIVE 400 Gb/sec (4X NDR) InfiniBand\n" for number in range(4))
        + "mlx5_4 4: ACTIVE 100 Gb/sec (4X EDR) InfiniBand\n",
    ),
    "25 Gb/s of Ethernet are one lane": (
        "",
        "$ ibstatus mlx5_bond_0\nInfiniband device 'mlx5_bond_0' port 1 status:\n\tdefault gid:\t fe80:0000:0000:0000:0e42:a1ff:fe9a:0b13\n"
        "\tbase lid:\t 0x0\n\tsm lid:\t\t 0x0\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n\trate:\t\t 25 Gb/sec (1X EDR)\n\tlink_layer:\t Ethernet\n",
    ),
    "ibdiagnet csv db": (
        "ib-bad-cable-symbol-errors",
        "START_PM_INFO\n"
        "NodeGUID,PortGUID,PortNumber,LinkDownedCounter,LinkErrorRecoveryCounter,SymbolErrorCounter,PortRcvRemotePhysicalErrors,PortRcvErrors,PortXmitDiscards,PortRcvSwitchRelayErrors,ExcessiveBufferOverrunErrors,LocalLinkIntegrityErrors,PortRcvConstraintErrors,PortXmitConstraintErrors,VL15Dropped,PortXmitData,PortRcvData,PortXmitPkts,PortRcvPkts,PortXmitWait\n"
        "0xb8cef6030071e2c4,0xb8cef6030071e2c4,12,2,31,65535,0,8812,0,0,0,0,0,0,0,4294967295,4294967295,4294967295,4294967295,0\n"
        "0xb8cef6030071e2c4,0xb8cef6030071e2c4,13,0,0,0,0,0,0,0,0,0,0,0,0,4294967295,4294967295,4294967295,4294967295,0\n"
        "END_PM_INFO\n",
    ),
    "xmit_wait deltas by a loop": (
        "ib-congestion",
        '$ while true; do for d in mlx5_0 mlx5_3; do echo "$(date +%T) $d xmit_wait=$(cat /sys/class/infiniband/$d/ports/1/counters/port_xmit_wait) xmit_data=$(cat /sys/class/infiniband/$d/ports/1/counters/port_xmit_data) symbol_error=$(cat /sys/class/infiniband/$d/ports/1/counters/symbol_error)"; done; sleep 10; done\n'
        "10:12:01 mlx5_0 xmit_wait=112233 xmit_data=881122334455 symbol_error=0\n"
        "10:12:01 mlx5_3 xmit_wait=99812233441 xmit_data=551122334455 symbol_error=0\n"
        "10:12:11 mlx5_0 xmit_wait=112301 xmit_data=921122334455 symbol_error=0\n"
        "10:12:11 mlx5_3 xmit_wait=104912233441 xmit_data=552122334455 symbol_error=0\n"
        "10:12:21 mlx5_0 xmit_wait=112377 xmit_data=961122334455 symbol_error=0\n"
        "10:12:21 mlx5_3 xmit_wait=109912233441 xmit_data=553122334455 symbol_error=0\n",
    ),
    "delta table of words": (
        "ib-congestion",
        "interval 30s, deltas\n"
        "dev      xmit_wait     xmit_data(MB)  sym  rcv_err  disc\n"
        "mlx5_0   2011          611200         0    0        0\n"
        "mlx5_1   2188          610870         0    0        0\n"
        "mlx5_2   4123998112    201002         0    0        0\n"
        "mlx5_3   1877          611010         0    0        0\n",
    ),
    "dcqcn ethtool prio pause": (
        "ib-congestion",
        "[root@n7 ~]# ethtool -S ens2f0np0 | grep -E 'prio3_pause|out_of_buffer|discard'\n"
        "     rx_prio3_pause: 991827364\n"
        "     rx_prio3_pause_duration: 88172635\n"
        "     tx_prio3_pause: 12\n"
        "     tx_prio3_pause_duration: 0\n"
        "     rx_discards_phy: 0\n"
        "     tx_discards_phy: 0\n"
        "[root@n7 ~]# sleep 10; ethtool -S ens2f0np0 | grep -E 'prio3_pause|out_of_buffer|discard'\n"
        "     rx_prio3_pause: 993927364\n"
        "     rx_prio3_pause_duration: 91172635\n"
        "     tx_prio3_pause: 12\n"
        "     tx_prio3_pause_duration: 0\n"
        "     rx_discards_phy: 0\n"
        "     tx_discards_phy: 0\n",
    ),
    "devlink health fatal": (
        "ib-hca-faulty",
        "# devlink health show pci/0000:9a:00.0 reporter fw_fatal\n"
        "pci/0000:9a:00.0:\n"
        "  reporter fw_fatal\n"
        "    state error error 3 recover 1 last_dump_date 2026-03-11 last_dump_time 04:11:52 grace_period 60000 auto_recover true auto_dump true\n",
    ),
    "rates by host": (
        "ib-link-speed-degraded",
        "$ pdsh -w gpu-[01-03] 'for d in /sys/class/infiniband/mlx5_*; do echo $(basename $d) $(cat $d/ports/1/rate); done' | sort\n"
        "gpu-01: mlx5_0 400 Gb/sec (4X NDR)\n"
        "gpu-01: mlx5_1 400 Gb/sec (4X NDR)\n"
        "gpu-01: mlx5_2 400 Gb/sec (4X NDR)\n"
        "gpu-01: mlx5_3 400 Gb/sec (4X NDR)\n"
        "gpu-02: mlx5_0 400 Gb/sec (4X NDR)\n"
        "gpu-02: mlx5_1 400 Gb/sec (4X NDR)\n"
        "gpu-02: mlx5_2 200 Gb/sec (4X HDR)\n"
        "gpu-02: mlx5_3 400 Gb/sec (4X NDR)\n"
        "gpu-03: mlx5_0 400 Gb/sec (4X NDR)\n"
        "gpu-03: mlx5_1 400 Gb/sec (4X NDR)\n"
        "gpu-03: mlx5_2 400 Gb/sec (4X NDR)\n"
        "gpu-03: mlx5_3 400 Gb/sec (4X NDR)\n",
    ),
    "table of ports with rate": (
        "ib-link-speed-degraded",
        "Device   State    Phys     Rate      Link\n"
        "mlx5_0   ACTIVE   LinkUp   200G HDR  IB\n"
        "mlx5_1   ACTIVE   LinkUp   200G HDR  IB\n"
        "mlx5_2   ACTIVE   LinkUp   100G EDR  IB\n"
        "mlx5_3   ACTIVE   LinkUp   200G HDR  IB\n"
        "mlx5_4   ACTIVE   LinkUp   200G HDR  IB\n",
    ),
    "ibstat one-liners": (
        "ib-link-speed-degraded",
        "$ for d in $(ibstat -l); do echo \"$d $(ibstat $d 1 | grep -E 'State|Rate' | tr -s '\\t\\n' ' ')\"; done\n"
        "mlx5_0  State: Active Physical state: LinkUp Rate: 400\n"
        "mlx5_1  State: Active Physical state: LinkUp Rate: 400\n"
        "mlx5_2  State: Active Physical state: LinkUp Rate: 400\n"
        "mlx5_3  State: Active Physical state: LinkUp Rate: 100\n"
        "mlx5_4  State: Active Physical state: LinkUp Rate: 400\n",
    ),
    "ibqueryerrors details discards": (
        "ib-packets-discarded",
        'Errors for 0xb83fd20300c0ffee "leaf-3"\n'
        "   GUID 0xb83fd20300c0ffee port 22: [PortXmitDiscards == 58122] [PortXmitWait == 991827311]\n"
        "   PortXmitDiscards details: [PortInactiveDiscards == 0] [PortNeighborMTUDiscards == 0] [PortSwLifetimeLimitDiscards == 0] [PortSwHOQLifetimeLimitDiscards == 58122]\n",
    ),
    "xmtdisc details once": (
        "ib-packets-discarded",
        "# perfquery --xmtdisc 31 7\n"
        "# PortXmitDiscardDetails: Lid 31 port 7\n"
        "PortSelect:......................7\n"
        "CounterSelect:...................0x0000\n"
        "PortInactiveDiscards:............0\n"
        "PortNeighborMTUDiscards:.........0\n"
        "PortSwLifetimeLimitDiscards:.....0\n"
        "PortSwHOQLifetimeLimitDiscards:..9921\n",
    ),
    "xmtdisc details quiet": (
        "",
        "# perfquery --xmtdisc 31 7\n"
        "# PortXmitDiscardDetails: Lid 31 port 7\n"
        "PortSelect:......................7\n"
        "CounterSelect:...................0x0000\n"
        "PortInactiveDiscards:............3\n"
        "PortNeighborMTUDiscards:.........0\n"
        "PortSwLifetimeLimitDiscards:.....0\n"
        "PortSwHOQLifetimeLimitDiscards:..0\n",
    ),
    "vl15 range": (
        "ib-vl15-dropped",
        "$ promtool query range --step=30m http://prom:9090 'node_infiniband_vl15_dropped_total{device=\"mlx5_2\"}'\n"
        'node_infiniband_vl15_dropped_total{device="mlx5_2", instance="c21:9100", port="1"} =>\n'
        "12 @[1741852800]\n"
        "190 @[1741854600]\n"
        "377 @[1741856400]\n"
        "569 @[1741858200]\n",
    ),
    "vl15 range flat": (
        "",
        "$ promtool query range --step=30m http://prom:9090 'node_infiniband_vl15_dropped_total{device=\"mlx5_2\"}'\n"
        'node_infiniband_vl15_dropped_total{device="mlx5_2", instance="c21:9100", port="1"} =>\n'
        "12 @[1741852800]\n"
        "12 @[1741854600]\n"
        "12 @[1741856400]\n",
    ),
    "vl15 watch by hand": (
        "ib-vl15-dropped",
        "12:00 VL15Dropped 4410\n12:10 VL15Dropped 5120\n12:20 VL15Dropped 5899\n12:30 VL15Dropped 6602\n",
    ),
    "vl15 opensm perfmgr": (
        "ib-vl15-dropped",
        "Mar 11 12:00:01 110021 [8E7F7700] 0x01 -> perfmgr_check_oob_clear: ...\n"
        '"gpu-04 mlx5_0" 0x98039b0300aa1122 port 1 (Since Tue Mar 10 12:00:01 2026)\n'
        "     symbol_err_cnt       : 0\n"
        "     link_err_recover     : 0\n"
        "     link_downed          : 0\n"
        "     rcv_err              : 0\n"
        "     rcv_rem_phys_err     : 0\n"
        "     rcv_switch_relay_err : 0\n"
        "     xmit_discards        : 0\n"
        "     xmit_constraint_err  : 0\n"
        "     rcv_constraint_err   : 0\n"
        "     link_integrity_err   : 0\n"
        "     buf_overrun_err      : 0\n"
        "     vl15_dropped         : 8812\n"
        "     xmit_data            : 99182736 (378.352MB)\n",
    ),
    "table of states init": (
        "ib-port-init-no-subnet-manager",
        "$ for d in 0 1 2 3; do echo mlx5_$d: $(cat /sys/class/infiniband/mlx5_$d/ports/1/state) / $(cat /sys/class/infiniband/mlx5_$d/ports/1/phys_state) sm_lid=$(cat /sys/class/infiniband/mlx5_$d/ports/1/sm_lid); done\n"
        "mlx5_0: 4: ACTIVE / 5: LinkUp sm_lid=0x1\n"
        "mlx5_1: 4: ACTIVE / 5: LinkUp sm_lid=0x1\n"
        "mlx5_2: 2: INIT / 5: LinkUp sm_lid=0x0\n"
        "mlx5_3: 4: ACTIVE / 5: LinkUp sm_lid=0x1\n",
    ),
    "rdma link json init": (
        "ib-port-init-no-subnet-manager",
        "$ rdma -j link show mlx5_0/1\n"
        '[{"ifindex":0,"ifname":"mlx5_0","port":1,"state":"INIT","physical_state":"LINK_UP","lid":65535,"sm_lid":0,"subnet_prefix":"fe80:0000:0000:0000"}]\n',
    ),
    "unhealthy_ports": (
        "ib-switch-port-auto-disabled-errors",
        "# cat /opt/ufm/files/log/opensm-unhealthy-ports.dump\n"
        "# NodeGUID, PortNum, NodeDesc, PeerNodeGUID, PeerPortNum, PeerNodeDesc, {BadCond1, BadCond2, ...}, timestamp\n"
        "0x043f720300aa1122, 21, leaf-9, 0x98039b0300bb0001, 1, gpu-44 mlx5_3, {FLAPPING, HIGH_BER}, Mon Mar  2 08:11:09 2026\n",
    ),
    "nmcli ib device": (
        "ipoib-interface-down",
        "$ nmcli -t -f DEVICE,TYPE,STATE device | grep infiniband\n"
        "ib0:infiniband:connected\n"
        "ib1:infiniband:connected\n"
        "ib2:infiniband:disconnected\n"
        "ib3:infiniband:connected\n"
        "$ rdma link | grep -v eth\n"
        "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 101 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n"
        "link mlx5_1/1 subnet_prefix fe80:0000:0000:0000 lid 102 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n"
        "link mlx5_2/1 subnet_prefix fe80:0000:0000:0000 lid 103 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n"
        "link mlx5_3/1 subnet_prefix fe80:0000:0000:0000 lid 104 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP\n",
    ),
    "operstate grep": (
        "ipoib-interface-down",
        "$ grep . /sys/class/net/ib*/operstate\n"
        "/sys/class/net/ib0/operstate:up\n"
        "/sys/class/net/ib1/operstate:down\n"
        "/sys/class/net/ib2/operstate:up\n"
        "/sys/class/net/ib3/operstate:up\n"
        '$ ibstat | grep -E "^CA|State:|Link layer"\n'
        "CA 'mlx5_0'\n"
        "\t\tState: Active\n"
        "\t\tLink layer: InfiniBand\n"
        "CA 'mlx5_1'\n"
        "\t\tState: Active\n"
        "\t\tLink layer: InfiniBand\n"
        "CA 'mlx5_2'\n"
        "\t\tState: Active\n"
        "\t\tLink layer: InfiniBand\n"
        "CA 'mlx5_3'\n"
        "\t\tState: Active\n"
        "\t\tLink layer: InfiniBand\n",
    ),
    "operstate by name colon": (
        "ipoib-interface-down",
        '$ for n in ib0 ib1 ib2 ib3; do printf "%s %s\\n" $n $(cat /sys/class/net/$n/operstate); done\n'
        "ib0 up\n"
        "ib1 up\n"
        "ib2 up\n"
        "ib3 down\n"
        "$ ibstatus mlx5_3\n"
        "Infiniband device 'mlx5_3' port 1 status:\n"
        "\tdefault gid:\t fe80:0000:0000:0000:9803:9b03:00aa:0001\n"
        "\tbase lid:\t 0x41\n"
        "\tsm lid:\t\t 0x1\n"
        "\tstate:\t\t 4: ACTIVE\n"
        "\tphys state:\t 5: LinkUp\n"
        "\trate:\t\t 200 Gb/sec (4X HDR)\n"
        "\tlink_layer:\t InfiniBand\n",
    ),
    "custom table ip down": (
        "ipoib-interface-down",
        "Device  Netdev  PortState  Phys     IP-if\n"
        "mlx5_0  ib0     ACTIVE     LinkUp   UP\n"
        "mlx5_1  ib1     ACTIVE     LinkUp   DOWN\n"
        "mlx5_2  ib2     ACTIVE     LinkUp   UP\n"
        "mlx5_3  ib3     ACTIVE     LinkUp   UP\n",
    ),
    "peermem early journal": (
        "peermem-loaded-before-ofed-ready",
        "Mar 02 07:00:04 gpu-5 systemd-modules-load[611]: Failed to insert module 'nvidia_peermem': Invalid argument\n"
        "Mar 02 07:00:04 gpu-5 kernel: nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)\n"
        "Mar 02 07:00:21 gpu-5 systemd[1]: Starting openibd - configure Mellanox devices...\n"
        "Mar 02 07:00:33 gpu-5 systemd[1]: Finished openibd - configure Mellanox devices.\n",
    ),
    "peermem early dkms ko": (
        "peermem-loaded-before-ofed-ready",
        "[    4.1] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -2)\n"
        "[   28.2] mlx5_core: loading out-of-tree module taints kernel.\n"
        "[   28.9] mlx_compat: loading out-of-tree module taints kernel.\n"
        "$ sudo modprobe nvidia_peermem && lsmod | grep peermem\n"
        "nvidia_peermem         16384  0\n"
        "ib_uverbs             155648  3 nvidia_peermem,rdma_ucm,mlx5_ib\n",
    ),
    "link flap counter prom": (
        "rdma-link-flapping",
        '$ promtool query range --step=10m http://prom:9090 \'node_infiniband_link_downed_total{instance="g9:9100",device="mlx5_4"}\'\n'
        'node_infiniband_link_downed_total{device="mlx5_4", instance="g9:9100", port="1"} =>\n'
        "14 @[1741852800]\n"
        "17 @[1741853400]\n"
        "21 @[1741854000]\n"
        "24 @[1741854600]\n",
    ),
    "state polled": (
        "rdma-link-flapping",
        '$ while sleep 5; do echo "$(date +%T) $(cat /sys/class/infiniband/mlx5_3/ports/1/state)"; done\n'
        "11:00:05 4: ACTIVE\n"
        "11:00:10 4: ACTIVE\n"
        "11:00:15 1: DOWN\n"
        "11:00:20 4: ACTIVE\n"
        "11:00:25 4: ACTIVE\n"
        "11:00:30 1: DOWN\n"
        "11:00:35 2: INIT\n"
        "11:00:40 4: ACTIVE\n"
        "11:00:45 1: DOWN\n",
    ),
    "table state down": (
        "rdma-port-down",
        "HCA      State   Physical  Rate\n"
        "mlx5_0   Active  LinkUp    400\n"
        "mlx5_1   Active  LinkUp    400\n"
        "mlx5_2   Down    Polling   10\n"
        "mlx5_3   Active  LinkUp    400\n",
    ),
    "rdma link json": (
        "rdma-port-down",
        '[{"ifindex":1,"ifname":"mlx5_0","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"ens1np0"},{"ifindex":2,"ifname":"mlx5_1","port":1,"state":"DOWN","physical_state":"POLLING","netdev":"ens2np0"},{"ifindex":3,"ifname":"mlx5_2","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"ens3np0"},{"ifindex":4,"ifname":"mlx5_3","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"ens4np0"}]\n',
    ),
    "prom state": (
        "rdma-port-down",
        'node_infiniband_state_id{device="mlx5_0",port="1"} 4\n'
        'node_infiniband_state_id{device="mlx5_1",port="1"} 4\n'
        'node_infiniband_state_id{device="mlx5_2",port="1"} 1\n'
        'node_infiniband_state_id{device="mlx5_3",port="1"} 4\n'
        'node_infiniband_physical_state_id{device="mlx5_0",port="1"} 5\n'
        'node_infiniband_physical_state_id{device="mlx5_1",port="1"} 5\n'
        'node_infiniband_physical_state_id{device="mlx5_2",port="1"} 2\n'
        'node_infiniband_physical_state_id{device="mlx5_3",port="1"} 5\n',
    ),
    "hosts with a state list": (
        "rdma-port-down",
        "gpu-01 mlx5_0 ACTIVE mlx5_1 ACTIVE mlx5_2 ACTIVE mlx5_3 ACTIVE\n"
        "gpu-02 mlx5_0 ACTIVE mlx5_1 ACTIVE mlx5_2 DOWN mlx5_3 ACTIVE\n"
        "gpu-03 mlx5_0 ACTIVE mlx5_1 ACTIVE mlx5_2 ACTIVE mlx5_3 ACTIVE\n",
    ),
    "ibping matrix two islands": (
        "?ib-fabric-unreachable",
        "$ ./fabric_ping.sh      # ibping -c 3 -G <guid>, every pair; all ports ACTIVE\n"
        "            hpc-0  hpc-1  hpc-2  hpc-3\n"
        "hpc-0       -      ok     fail   fail\n"
        "hpc-1       ok     -      fail   fail\n"
        "hpc-2       fail   fail   -      ok\n"
        "hpc-3       fail   fail   ok     -\n"
        "$ pdsh -w hpc-[0-3] cat /sys/class/infiniband/mlx5_0/ports/1/state\n"
        "hpc-0: 4: ACTIVE\n"
        "hpc-1: 4: ACTIVE\n"
        "hpc-2: 4: ACTIVE\n"
        "hpc-3: 4: ACTIVE\n",
    ),
    "ib_write_bw pairs list islands": (
        "?ib-fabric-unreachable",
        "pair            ib_write_bw\n"
        "n1 <-> n2       PASS  371.2 Gb/s\n"
        "n1 <-> n3       FAIL  Completion with error at client: Failed status 12: wr_id 0 syndrom 0x81\n"
        "n1 <-> n4       FAIL  Completion with error at client: Failed status 12: wr_id 0 syndrom 0x81\n"
        "n2 <-> n3       FAIL  Completion with error at client: Failed status 12: wr_id 0 syndrom 0x81\n"
        "n2 <-> n4       FAIL  Completion with error at client: Failed status 12: wr_id 0 syndrom 0x81\n"
        "n3 <-> n4       PASS  371.0 Gb/s\n",
    ),
    "rail matrix numbers": (
        "?rdma-rails-unreachable",
        "ib_write_bw gpu-a -> gpu-b [Gb/s]\n"
        "         mlx5_0  mlx5_1  mlx5_2  mlx5_3\n"
        "mlx5_0   396.1   0       0       0\n"
        "mlx5_1   0       395.9   0       0\n"
        "mlx5_2   0       0       396.0   0\n"
        "mlx5_3   0       0       0       396.1\n",
    ),
    "rail ping list": (
        "?rdma-rails-unreachable",
        "# from node1, ping -I <src if> <node2 if ip>\n"
        "rail0 -> rail0 : ok\n"
        "rail0 -> rail1 : fail\n"
        "rail0 -> rail2 : fail\n"
        "rail1 -> rail0 : fail\n"
        "rail1 -> rail1 : ok\n"
        "rail1 -> rail2 : fail\n"
        "rail2 -> rail0 : fail\n"
        "rail2 -> rail1 : fail\n"
        "rail2 -> rail2 : ok\n",
    ),
    "rail matrix all good": (
        "",
        "         mlx5_0  mlx5_1  mlx5_2  mlx5_3\n"
        "mlx5_0   396.1   395.2   396.0   395.8\n"
        "mlx5_1   395.0   395.9   395.1   394.0\n"
        "mlx5_2   396.0   395.0   396.0   395.1\n"
        "mlx5_3   395.0   396.0   395.4   396.1\n",
    ),
    "topo xml gdr0": (
        "gpudirect-rdma-not-in-use",
        '<system version="1">\n'
        '  <cpu numaid="1" affinity="ffff" arch="x86_64" vendor="AuthenticAMD" familyid="175" modelid="17">\n'
        '    <pci busid="0000:c1:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">\n'
        '      <pci busid="0000:c3:00.0" class="0x030200" vendor="0x10de" device="0x2330" link_speed="32.0 GT/s PCIe" link_width="16">\n'
        '        <gpu dev="4" sm="90" rank="4" gdr="0"/>\n'
        "      </pci>\n"
        '      <pci busid="0000:c4:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">\n'
        "        <nic>\n"
        '          <net name="mlx5_4" dev="4" latency="0.000000" speed="400000" port="1" guid="0x1" maxconn="131072" gdr="0"/>\n'
        "        </nic>\n"
        "      </pci>\n"
        "    </pci>\n"
        "  </cpu>\n"
        "</system>\n",
    ),
    "topo xml gdr1": (
        "",
        '<system version="1">\n'
        '    <pci busid="0000:c1:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">\n'
        '        <gpu dev="4" sm="90" rank="4" gdr="1"/>\n'
        "        <nic>\n"
        '          <net name="mlx5_4" dev="4" latency="0.000000" speed="400000" port="1" guid="0x1" maxconn="131072" gdr="1"/>\n'
        '          <net name="eth0" dev="0" speed="10000" port="0" guid="0x0" maxconn="65536" gdr="0"/>\n'
        "        </nic>\n"
        "    </pci>\n"
        "</system>\n",
    ),
    "kernel table": (
        "?kernel-regression-rdma",
        "host   kernel               ib_write_bw --use_cuda\n"
        "n01    6.8.0-49-generic     391.2 Gb/s\n"
        "n02    6.8.0-49-generic     391.1 Gb/s\n"
        "n03    6.8.0-52-generic     Couldn't allocate MR\n"
        "n04    6.8.0-52-generic     Couldn't allocate MR\n"
        "n05    6.8.0-49-generic     391.0 Gb/s\n",
    ),
    "kernel boots": (
        "?kernel-regression-rdma",
        "$ ./boots.sh\n"
        "boot -3 6.17.0-1008-nvidia reg_mr_fail=0 ok=1\n"
        "boot -2 6.17.0-1014-nvidia reg_mr_fail=4 ok=0\n"
        "boot -1 6.17.0-1014-nvidia reg_mr_fail=4 ok=0\n"
        "boot 0 6.17.0-1008-nvidia reg_mr_fail=0 ok=1\n",
    ),
    "show_gids index missing": (
        "roce-gid-index-wrong",
        "$ env | grep NCCL\n"
        "NCCL_IB_GID_INDEX=5\n"
        "$ show_gids | grep mlx5_0\n"
        "mlx5_0\t1\t0\tfe80:0000:0000:0000:0ac0:ebff:fe11:2201\t\t\tv1\tens1f0np0\n"
        "mlx5_0\t1\t1\tfe80:0000:0000:0000:0ac0:ebff:fe11:2201\t\t\tv2\tens1f0np0\n"
        "mlx5_0\t1\t2\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv1\tens1f0np0\n"
        "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1  \tv2\tens1f0np0\n"
        "n1:1:1 [0] NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1\n",
    ),
    "seven interfaces over InfiniBand that nobody set up": (
        "",
        "$ for n in ib0 ib1 ib2 ib3; do echo $n: $(cat /sys/class/net/$n/operstate); done\n"
        "ib0: up\nib1: down\nib2: down\nib3: down\n"
        "$ rdma link\n" + "".join(f"link mlx5_{number}/1 state ACTIVE physical_state LINK_UP\n" for number in range(4)),
    ),
    "totals on a cluster that is called delta": (
        "",
        "[root@delta-gpu011 ~]# ./counters\nHCA     SymbolErr  LinkRecov  LinkDowned  RcvErr\nmlx5_0  3          0          1           2\nmlx5_1  0          0          1           0\n",
    ),
    "a row of counters is no table of who reaches whom": (
        "",
        "$ ./counters\nHCA     port  SymbolErr  LinkRecov  RcvErr\nmlx5_0  1     0          0          0\nmlx5_1  1     0          0          0\n",
    ),
    "a table of ports that are all well": (
        "",
        "HCA      State   Physical  Rate\n" + "".join(f"mlx5_{number}   Active  LinkUp    400\n" for number in range(4)),
    ),
    "a range of a counter that stands": (
        "",
        'node_infiniband_symbol_error_total{device="mlx5_1", instance="c9:9100", port="1"} =>\n3 @[1741852800]\n3 @[1741856400]\n',
    ),
    "kernels with mixed outcomes": (
        "",
        "ibv_reg_mr by kernel\nn1 6.8.0-51-generic ok\nn2 6.8.0-52-generic fail\nn3 6.8.0-52-generic ok\nn4 6.8.0-51-generic ok\n",
    ),
}
INFO = {"ib-congestion", "ib-vl15-dropped", "gpudirect-rdma-not-in-use"}


@pytest.mark.parametrize("name", TEXTS)
def test_rows_of_ports(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause, info=cause in INFO)
