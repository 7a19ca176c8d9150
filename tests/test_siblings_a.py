# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of jobs that don't meet: addresses, ports, filters, plugins, launchers; and what is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

# What was pasted, in one file or more → the first cause; "?cause" = it is a candidate, and nothing is found; "" = nothing at all
TEXTS: dict[str, tuple[str, str] | tuple[str, str, str]] = {
    # --- interfaces
    "old docker": (
        "bootstrap-wrong-interface",
        """\
w1:77:77 [0] NCCL INFO Bootstrap : Using [0]docker0:172.17.0.1<0>
w1:77:77 [0] NCCL INFO NET/Socket : Using [0]docker0:172.17.0.1<0>
w1:77:121 [0] include/socket.h:390 NCCL WARN Connect to 172.17.0.1<53371> failed : Connection refused
w1:77:121 [0] NCCL INFO bootstrap.cc:100 -> 2
""",
    ),
    "docker, retries end": (
        "bootstrap-wrong-interface",
        """\
node2:411:411 [0] NCCL INFO Bootstrap: Using docker0:172.17.0.1<0>
node2:411:455 [0] NCCL INFO socketPollConnect: connect to 172.17.0.1<45121> returned Connection refused, retrying (33/34) after sleep for 3300 msec
node2:411:455 [0] misc/socket.cc:575 NCCL WARN socketPollConnect: connect to 172.17.0.1<45121> returned Connection refused, exceeded error retry count after 35 attempts
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:3384, remote process exited or there was a network error, NCCL version 2.26.5
""",
    ),
    "bridge address only": (
        "bootstrap-wrong-interface",
        """\
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
Last error:
socketStartConnect: Connect to 172.17.0.1<40119> failed : Connection refused
""",
    ),
    "one over loopback": (
        "bootstrap-wrong-interface",
        """\
host-a:10:10 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to lo
host-a:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>
host-b:10:10 [0] NCCL INFO Bootstrap : Using lo:127.0.0.1<0>
host-b:10:44 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 127.0.0.1<57777> failed : Connection refused
""",
    ),
    "link local of usb": (
        "bootstrap-wrong-interface",
        """\
[rank8]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:317, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5
[rank8]: Last error:
[rank8]: socketStartConnect: Connect to 169.254.3.1<39211> failed : Connection timed out
""",
    ),
    "interfaces of a laptop and a server": (
        "bootstrap-wrong-interface",
        """\
spark-1:300:300 [0] NCCL INFO Bootstrap: Using wlP9s9:192.168.1.40<0>
spark-2:310:310 [0] NCCL INFO Bootstrap: Using enp1s0f0np0:10.10.0.2<0>
spark-2:310:340 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 192.168.1.40<41007> failed : No route to host
""",
    ),
    "good interfaces": (
        "",
        """\
w1:77:77 [0] NCCL INFO Bootstrap: Using bond0:10.0.0.1<0>
w1:77:77 [0] NCCL INFO NET/Socket : Using [0]bond0:10.0.0.1<0>
w1:77:120 [0] NCCL INFO socketPollConnect: connect to 10.0.0.2<45121> returned Connection refused, retrying (1/34) after sleep for 100 msec
w1:77:120 [0] NCCL INFO ncclCommInitRank comm 0x55c0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9a Init COMPLETE
""",
    ),
    "filter matches nothing, with ip": (
        "nccl-socket-ifname-invalid",
        """\
$ ip -br addr
lo               UNKNOWN        127.0.0.1/8 ::1/128
ens5             UP             10.2.0.14/20 fe80::8ff:fe12:1/64
$ NCCL_DEBUG=INFO python train.py
w0:91:91 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0
w0:91:91 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found
""",
    ),
    "filter, torch": (
        "nccl-socket-ifname-invalid",
        """\
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, internal error - please report this issue to the NCCL developers, NCCL version 2.20.5
ncclInternalError: Internal check failed.
Last error:
Bootstrap : no socket interface found
""",
    ),
    "filter, name in the warning": (
        "nccl-socket-ifname-invalid",
        "NCCL WARN No interface found starting with name ib9\n",
    ),
    "filter, invalid usage": (
        "nccl-socket-ifname-invalid",
        """\
Last error:
Bootstrap : no socket interface found
export NCCL_SOCKET_IFNAME=enp94s0
""",
    ),
    # --- gloo
    "gloo mesh": (
        "gloo-wrong-interface",
        """\
  File "/usr/lib/python3/site-packages/vllm/distributed/parallel_state.py", line 206, in __init__
    cpu_group = torch.distributed.new_group(ranks, backend="gloo")
RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error
""",
    ),
    "gloo name": (
        "gloo-wrong-interface",
        "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:83] ifa != nullptr. Unable to find address for: eno9\n",
    ),
    "gloo timed out connecting": (
        "gloo-wrong-interface",
        "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out connecting: SO_ERROR: Connection refused, remote=[192.168.122.1]:19123\n",
    ),
    "gloo old connect": (
        "gloo-wrong-interface",
        "RuntimeError: [/opt/conda/conda-bld/pytorch_1656352464346/work/third_party/gloo/gloo/transport/tcp/pair.cc:799] connect [172.17.0.1]:4823: Connection refused\n",
    ),
    "gloo connect timeout": (
        "gloo-wrong-interface",
        "terminate called after throwing an instance of 'gloo::IoException'\n  what():  [../third_party/gloo/gloo/transport/tcp/pair.cc:761] Connect timeout [192.168.122.1]:34711\n",
    ),
    "gloo unresolved, mesh": (
        "gloo-wrong-interface",
        """\
[W ProcessGroupGloo.cpp:724] Warning: Unable to resolve hostname to a (local) address. Using the loopback address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME. (function operator())
RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:799] connect [127.0.0.1]:21453: Connection refused
""",
    ),
    "gloo connected": (
        "",
        """\
[W ProcessGroupGloo.cpp:724] Warning: Unable to resolve hostname to a (local) address. Using the loopback address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME. (function operator())
[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1
[Gloo] Rank 1 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1
""",
    ),
    # --- names that are loopback
    "loopback gloo": (
        "hostname-resolves-to-loopback",
        "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] timed out connecting: SO_ERROR: Connection refused, remote=[127.0.1.1]:37512\n",
    ),
    "loopback gloo, old": (
        "hostname-resolves-to-loopback",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:799] connect [127.0.1.1]:21453: Connection refused\n",
    ),
    "loopback store": (
        "hostname-resolves-to-loopback",
        "TimeoutError: The client socket has timed out after 900s while trying to connect to (127.0.1.1, 29500).\n",
    ),
    "loopback hosts file": (
        "hostname-resolves-to-loopback",
        """\
$ cat /etc/hosts
127.0.0.1 localhost
127.0.1.1 gpu-01
10.3.0.12 gpu-02
$ tail -1 rank1.log
[W socket.cpp:663] [c10d] The client socket has failed to connect to [gpu-01]:29500 (errno: 111 - Connection refused).
[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (gpu-01, 29500).
""",
    ),
    "loopback nccl": (
        "hostname-resolves-to-loopback",
        "gpu-02:55:90 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 127.0.1.1<43031> failed : Connection refused\n",
    ),
    # --- ports
    "port, torch 1.x": (
        "port-in-use",
        """\
  File "/opt/conda/lib/python3.8/site-packages/torch/distributed/rendezvous.py", line 172, in _env_rendezvous_handler
    store = TCPStore(master_addr, master_port, world_size, start_daemon, timeout)
RuntimeError: Address already in use
""",
    ),
    "port, named": (
        "port-in-use",
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use\n",
    ),
    "port, cut": (
        "port-in-use",
        """\
    store = TCPStore(
RuntimeError: The server socket has failed to listen on any local network address.
""",
    ),
    "port, zmq": (
        "port-in-use",
        "zmq.error.ZMQError: Address already in use (addr='tcp://127.0.0.1:5557')\n",
    ),
    "port, ray": (
        "port-in-use",
        "ValueError: Ray component dashboard_agent_http is trying to use a port number 52365 that is used by other components.\n",
    ),
    "port, os error": (
        "port-in-use",
        "OSError: [Errno 98] Address already in use\n",
    ),
    "port, nccl": (
        "port-in-use",
        "gpu-01:9:9 [0] misc/socket.cc:410 NCCL WARN Call to bind failed : Address already in use\n",
    ),
    "port, uvicorn": (
        "port-in-use",
        "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use\n",
    ),
    "no IPv6 here": (
        "",
        """\
[W socket.cpp:464] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 - Address family not supported by protocol).
[W socket.cpp:426] [c10d] The server socket has failed to bind to [::]:29500 (errno: 97 - Address family not supported by protocol).
[W socket.cpp:697] [c10d] The client socket cannot be initialized to connect to [localhost]:29500 (errno: 97 - Address family not supported by protocol).
gpu-01:9:44 [0] NCCL INFO ncclCommInitRank comm 0x55c0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9a Init COMPLETE
""",
    ),
    # --- the meeting
    "barrier of the store": (
        "rendezvous-timeout",
        "RuntimeError: Timed out initializing process group in store based barrier on rank: 3, for key: store_based_barrier_key:1 (world_size=16, worker_count=8, timeout=0:30:00)\n",
    ),
    "barrier, waiting": (
        "rendezvous-timeout",
        """\
INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 0, key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)
INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 0, key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)
INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 0, key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)
""",
    ),
    "connect() of 1.8": (
        "rendezvous-timeout",
        "RuntimeError: connect() timed out. Original timeout was 1800000 ms.\n",
    ),
    "role info": (
        "rendezvous-timeout",
        "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /none/torchelastic/role_info/\n",
    ),
    "role info, 2.1": (
        "rendezvous-timeout",
        """\
  File "/usr/lib/python3/site-packages/torch/distributed/elastic/utils/store.py", line 31, in get_all
    data = store.get(f"{prefix}{idx}")
RuntimeError: Socket Timeout
""",
    ),
    "clients": (
        "rendezvous-timeout",
        "[rank0]: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.\n",
    ),
    "horovod": (
        "rendezvous-timeout",
        "TimeoutException: Timed out waiting for tasks to start. Please check connectivity between servers. You may need to increase the --start-timeout parameter if you have too many servers.\n",
    ),
    "jax": (
        "rendezvous-timeout",
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out task names: /job:jax_worker/replica:0/task:3\n",
    ),
    "c10d backend": (
        "rendezvous-timeout",
        "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.\n",
    ),
    "name not known": (
        "rendezvous-timeout",
        "torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (job-master-0, 23456). The IPv6 network addresses of (job-master-0, 23456) cannot be retrieved (gai error: -2 - Name or service not known).\n",
    ),
    "joined in the end": (
        "",
        """\
INFO:torch.distributed.distributed_c10d:Added key: store_based_barrier_key:1 to store for rank: 0
INFO:torch.distributed.distributed_c10d:Waiting in store based barrier to initialize process group for rank: 0, key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)
INFO:torch.distributed.distributed_c10d:Rank 0: Completed store-based barrier for key:store_based_barrier_key:1 with 4 nodes.
""",
    ),
    # --- filters and hosts that are away
    "ping works, connect doesn't": (
        "firewall-blocked-ports",
        """\
root@gpu-01:~# ping -c 2 10.8.0.12
PING 10.8.0.12 (10.8.0.12) 56(84) bytes of data.
64 bytes from 10.8.0.12: icmp_seq=1 ttl=64 time=0.171 ms
64 bytes from 10.8.0.12: icmp_seq=2 ttl=64 time=0.166 ms

--- 10.8.0.12 ping statistics ---
2 packets transmitted, 2 received, 0% packet loss, time 1002ms
root@gpu-01:~# tail -1 job.log
gpu-01:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : No route to host
""",
    ),
    "two files, ping": (
        "firewall-blocked-ports",
        "gpu-01:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : Connection timed out\n",
        "--- 10.8.0.12 ping statistics ---\n3 packets transmitted, 3 received, 0% packet loss, time 2003ms\n",
    ),
    "ufw": (
        "firewall-blocked-ports",
        """\
[88123.410021] [UFW BLOCK] IN=eno1 OUT= MAC=aa:bb SRC=10.8.0.12 DST=10.8.0.11 LEN=60 TOS=0x00 PREC=0x00 TTL=64 ID=5512 DF PROTO=TCP SPT=51234 DPT=48293 WINDOW=64240 RES=0x00 SYN URGP=0
gpu-02:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.11<48293> failed : Connection timed out
""",
    ),
    "no way, nothing else": (
        "nccl-connect-no-route",
        "gpu-01:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : No route to host\n",
    ),
    "ping fails": (
        "peer-node-network-down",
        """\
gpu-01:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : No route to host
$ ping -c 2 10.8.0.12
PING 10.8.0.12 (10.8.0.12) 56(84) bytes of data.
From 10.8.0.11 icmp_seq=1 Destination Host Unreachable

--- 10.8.0.12 ping statistics ---
2 packets transmitted, 0 received, +1 errors, 100% packet loss, time 1017ms
""",
    ),
    "three hosts, one address": (
        "peer-node-network-down",
        """\
n1:33:70 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : Connection timed out
n3:34:71 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<40111> failed : Connection timed out
n4:35:72 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<40271> failed : Connection timed out
n5:35:72 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.8.0.12<39271> failed : Connection timed out
""",
    ),
    # --- sockets where there is better
    "sockets beside HCAs": (
        "nccl-socket-fallback",
        """\
w0:9:44 [0] NCCL INFO NET/IB : No device found.
w0:9:44 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network Socket
""",
        """\
CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Hardware version: 0
	Node GUID: 0xa088c20300a1b2c0
	System image GUID: 0xa088c20300a1b2c0
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 12
		LMC: 0
		SM lid: 1
		Capability mask: 0xa651e848
		Port GUID: 0xa088c20300a1b2c0
		Link layer: InfiniBand
""",
    ),
    "devices not opened": (
        "nccl-socket-fallback",
        """\
w0:9:44 [0] transport/net_ib.cc:480 NCCL WARN NET/IB : Unable to open device mlx5_0
w0:9:44 [0] NCCL INFO NET/IB : No device found.
w0:9:44 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network Socket
""",
    ),
    "sockets and devices listed": (
        "nccl-socket-fallback",
        """\
$ ibv_devices
    device                 node GUID
    ------              ----------------
    mlx5_0              a088c20300a1b2c0
    mlx5_1              a088c20300a1b2c4
$ ibv_devinfo
hca_id:	mlx5_0
	transport:			InfiniBand (0)
	fw_ver:				28.39.1002
	phys_port_cnt:			1
		port:	1
			state:			PORT_ACTIVE (4)
			max_mtu:		4096 (5)
			link_layer:		InfiniBand
$ grep network job.log
w0:9:44 [0] NCCL INFO Using network Socket
""",
    ),
    "sockets, nothing better": (
        "",
        """\
w0:9:44 [0] NCCL INFO NET/IB : No device found.
w0:9:44 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network Socket
w0:9:44 [0] NCCL INFO ncclCommInitRank comm 0x55c0 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9a Init COMPLETE
""",
    ),
    # --- plugins
    "plugin, not found": (
        "net-plugin-not-found",
        "p5-1:70:81 [0] plugin/net.cc:216 NCCL WARN Error: network AWS Libfabric not found.\n",
    ),
    "plugin, torch": (
        "net-plugin-not-found",
        """\
ncclInvalidUsage: This usually reflects invalid usage of NCCL library.
Last error:
Error: network FasTrak not found.
""",
    ),
    "plugin, none of them": (
        "net-plugin-not-found",
        "NCCL WARN Failed to initialize any NET plugin\n",
    ),
    "plugin, named": (
        "net-plugin-not-found",
        """\
p5-1:70:70 [0] NCCL INFO NCCL_NET_PLUGIN set by environment to aws-ofi
p5-1:70:70 [0] NCCL INFO NET/Plugin: Could not find: aws-ofi libnccl-net-aws-ofi.so. Using internal net plugin.
p5-1:70:70 [0] NCCL INFO Using network Socket
""",
    ),
    "plugin, its library": (
        "net-plugin-not-found",
        """\
p5-1:70:70 [0] NCCL INFO NET/Plugin : Plugin load returned 2 : libfabric.so.1: cannot open shared object file: No such file or directory : when loading libnccl-net.so
p5-1:70:70 [0] NCCL INFO NET/Socket : Using [0]ens32:10.0.0.5<0>
p5-1:70:70 [0] NCCL INFO Using network Socket
""",
    ),
    "plugin, path": (
        "net-plugin-not-found",
        """\
a3:70:70 [0] NCCL INFO NCCL_NET_PLUGIN set by environment to /usr/local/gib/lib64/libnccl-net.so
a3:70:70 [0] NCCL INFO NET/Plugin: Could not find: /usr/local/gib/lib64/libnccl-net.so. Using internal net plugin.
a3:70:70 [0] NCCL INFO Using network Socket
""",
    ),
    "no plugin, no matter": (
        "",
        """\
w0:9:44 [0] NCCL INFO NET/Plugin : Plugin load returned 2 : libnccl-net.so: cannot open shared object file: No such file or directory : when loading libnccl-net.so
w0:9:44 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network IB
""",
    ),
    "plugin overrides": (
        "external-net-plugin-overrides-ib-disable",
        """\
w0:9:9 [0] NCCL INFO NET/Plugin : Loaded net plugin NCCL RDMA Plugin (v5)
w0:9:9 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.
w0:9:44 [0] NCCL INFO NET/IBext : Using [0]mlx5_0:1/RoCE ; OOB eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network IBext
""",
    ),
    "plugin overrides, env": (
        "external-net-plugin-overrides-ib-disable",
        """\
w0:9:44 [0] NCCL INFO NET/IBext_v8 : Using [0]mlx5_0:1/RoCE ; OOB eth0:10.0.0.1<0>
w0:9:44 [0] NCCL INFO Using network IBext_v8
""",
        "NCCL_DEBUG=INFO\nNCCL_IB_DISABLE=1\nNCCL_SOCKET_IFNAME=eth0\n",
    ),
    "plugin overrides, export": (
        "external-net-plugin-overrides-ib-disable",
        """\
export NCCL_IB_DISABLE=1
export NCCL_DEBUG=INFO
w0:9:44 [0] NCCL INFO Using network IBext_v8
""",
    ),
    "plugin and IB wanted": (
        "",
        """\
w0:9:9 [0] NCCL INFO NET/Plugin : Loaded net plugin NCCL RDMA Plugin (v5)
w0:9:44 [0] NCCL INFO Using network IBext
""",
    ),
    # --- libfabric
    "ofi, no protocol": (
        "aws-ofi-nccl-error",
        "p5-1:70:81 [0] nccl_net_ofi_create_plugin:314 NCCL WARN NET/OFI Unable to find a protocol that worked.  Failing initialization\n",
    ),
    "ofi, last error": (
        "aws-ofi-nccl-error",
        """\
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
Last error:
NET/OFI Couldn't open CQ. RC: -12, ERROR: Cannot allocate memory
""",
    ),
    "ofi, providers": (
        "aws-ofi-nccl-error",
        "p4d:70:81 [0] ofi_init:1304 NCCL WARN NET/OFI No eligible providers were found\n",
    ),
    "ofi, registration": (
        "gpudirect-dmabuf-unavailable",
        "p4d:70:81 [0] register_mr_buffers:537 NCCL WARN NET/OFI Unable to register memory (type = 2) for device 0. RC: -14, Error: Bad address\n",
    ),
    "ofi, later": (
        "ofi-plugin-bug",
        """\
[2026-03-01 10:00:00] iteration  4120/ 100000 | consumed samples: 4218880 | elapsed time per iteration (ms): 5021.3 | loss: 2.11 |
p4d:70:81 [0] ofi_process_cq:223 NCCL WARN NET/OFI Request 0x7f10 completed with error. RC: 4126, Error: 4126 (Unknown error). Completed length: 0
""",
    ),
    "ofi works": (
        "",
        """\
p4d:70:81 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.9.2-aws
p4d:70:81 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)
p4d:70:81 [0] NCCL INFO Using network AWS Libfabric
""",
    ),
    # --- launchers
    "own store": (
        "launcher-agent-died",
        """\
TORCHELASTIC_USE_AGENT_STORE=True
[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (127.0.0.1, 29500).
""",
    ),
    "hang-up": (
        "launcher-agent-died",
        """\
WARNING:torch.distributed.elastic.agent.server.api:Received 1 death signal, shutting down workers
WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 4101 closing signal SIGHUP
torch.distributed.elastic.multiprocessing.api.SignalException: Process 4077 got signal: 1
""",
    ),
    "hang-up, 2.x": (
        "launcher-agent-died",
        "W0301 10:00:00.000000 4077 torch/distributed/elastic/agent/server/api.py:723] Received Signals.SIGHUP death signal, shutting down workers\n",
    ),
    "hang-up, one line": (
        "launcher-agent-died",
        '    raise SignalException(f"Process {os.getpid()} got signal: {sigval}", sigval=sigval)\ntorch.distributed.elastic.multiprocessing.api.SignalException: Process 912 got signal: 1\n',
    ),
    "twice": (
        "process-group-initialized-twice",
        "RuntimeError: trying to initialize the default process group twice!\n",
    ),
    "twice, traceback": (
        "process-group-initialized-twice",
        """\
  File "/usr/lib/python3/site-packages/deepspeed/comm/torch.py", line 120, in init_process_group
    torch.distributed.init_process_group(backend, timeout=timeout)
ValueError: trying to initialize the default process group twice!
""",
    ),
    # --- more ranks than GPUs
    "ordinal, rank": (
        "rank-placement-wrong",
        "[rank5]: torch.AcceleratorError: CUDA error: invalid device ordinal\n[rank5]: GPU device may be out of range, do you have enough GPUs?\n",
    ),
    "ordinal, set_device": (
        "rank-placement-wrong",
        """\
  File "train.py", line 31, in main
    torch.cuda.set_device(args.local_rank)
  File "/usr/lib/python3/site-packages/torch/cuda/__init__.py", line 350, in set_device
    torch._C._cuda_setDevice(device)
RuntimeError: CUDA error: invalid device ordinal
ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 2 (pid: 812) of binary: /usr/bin/python3
""",
    ),
    "lightning and slurm": (
        "rank-placement-wrong",
        "ValueError: You set `devices=8` in Lightning, but the number of tasks per node configured in SLURM `--ntasks-per-node=1` does not match. HINT: Set `devices=1`.\n",
    ),
    "lightning and nodes": (
        "rank-placement-wrong",
        "ValueError: You set `num_nodes=4` in Lightning, but the number of nodes configured in SLURM `--nodes=2` does not match. HINT: Set `num_nodes=2`.\n",
    ),
    "lightning and GPUs": (
        "?device-visibility-mismatch",
        """\
lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2, 3, 4, 5, 6, 7]
 But your machine only has: [0, 1, 2, 3]
""",
    ),
    "horovod's local rank": (
        "rank-placement-wrong",
        """\
[1,4]<stderr>:    torch.cuda.set_device(hvd.local_rank())
[1,4]<stderr>:RuntimeError: CUDA error: invalid device ordinal
""",
    ),
    # --- the same beside other things
    "old retries over docker0": (
        "bootstrap-wrong-interface",
        """\
a:1:1 [0] NCCL INFO Bootstrap : Using [0]docker0:172.17.0.1<0>
b:1:9 [0] NCCL INFO Call to connect returned Connection refused, retrying
b:1:9 [0] NCCL INFO Call to connect returned Connection refused, retrying
b:1:9 [0] NCCL INFO Call to connect returned Connection refused, retrying
""",
    ),
    "docker0 on one host": (
        "",
        """\
a:1:1 [0] NCCL INFO Bootstrap : Using docker0:172.17.0.1<0>
a:1:1 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 0 nranks 1 cudaDev 0 busId 1b000 commId 0x2 - Init COMPLETE
""",
    ),
    "gloo, no name": (
        "gloo-wrong-interface",
        """\
RuntimeError: [enforce fail at gloo/transport/tcp/device.cc:83] rv != -1. -1 vs -1. Name or service not known
""",
    ),
    "nc and ping": (
        "firewall-blocked-ports",
        """\
64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.2 ms
nc: connect to 10.0.0.1 port 29500 (tcp) failed: No route to host
""",
    ),
    "iptables rejects": (
        "firewall-blocked-ports",
        """\
NCCL WARN socketStartConnect: Connect to 10.8.0.12<48293> failed : No route to host
REJECT     all  --  0.0.0.0/0            0.0.0.0/0            reject-with icmp-host-prohibited
""",
    ),
    "nmap": (
        "firewall-blocked-ports",
        """\
PORT      STATE    SERVICE
29500/tcp filtered unknown
TimeoutError: The client socket has timed out after 60s while trying to connect to (10.0.0.1, 29500).
""",
    ),
    "a filter and no job": (
        "",
        """\
$ ufw status
Status: active
""",
    ),
    "ssh fails too": (
        "peer-node-network-down",
        """\
NCCL WARN socketStartConnect: Connect to 10.0.4.7<48293> failed : No route to host
ssh: connect to host n7 port 22: No route to host
""",
    ),
    "a lost ping and no job": (
        "",
        """\
2 packets transmitted, 0 received, 100% packet loss, time 1017ms
""",
    ),
    "port, accelerate": (
        "port-in-use",
        """\
ConnectionError: Tried to launch distributed communication on port `29500`, but another process is utilizing it.
""",
    ),
    "port, sglang": (
        "port-in-use",
        """\
ValueError: Port 30000 is already in use
""",
    ),
    "sockets beside GIDs": (
        "nccl-socket-fallback",
        """\
n0:1:1 [0] NCCL INFO Using network Socket
DEV	PORT	INDEX	GID					IPv4  		VER	DEV
---	----	-----	---					------------  	---	---
mlx5_0	1	3	0000:0000:0000:0000:0000:ffff:0a00:0001	10.0.0.1  	v2	ens1f0np0
""",
    ),
    "own store, orphans": (
        "launcher-agent-died",
        """\
TimeoutError: The client socket has timed out after 900s while trying to connect to (127.0.0.1, 29500).
$ ps -eo pid,ppid,args
 4101       1 /usr/bin/python3 -u train.py
""",
    ),
    "hang-up, workers": (
        "launcher-agent-died",
        """\
W0301 10:00:00.100000 139 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 4101 closing signal SIGHUP
""",
    ),
    "twice, Megatron": (
        "process-group-initialized-twice",
        """\
AssertionError: tensor model parallel group is already initialized
""",
    ),
    "ordinal, LOCAL_RANK": (
        "rank-placement-wrong",
        """\
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
RuntimeError: CUDA error: invalid device ordinal
""",
    ),
    "hosts file alone": (
        "",
        """\
127.0.0.1 localhost
127.0.1.1 gpu-01
10.0.0.2 gpu-02
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, *texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)
