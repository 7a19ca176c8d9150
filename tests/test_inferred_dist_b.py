# ruff: noqa: E501 - what is pasted has long lines
"""Indirect evidence of a distributed job: hosts compared, limits, releases, partitions, sessions, machines that went away; each with a text
that looks like it and is sound.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.intake import hosts
from gpudoctor.intake.split import split
from tests.pasted import diagnosed, judge

FAILED = "NCCL WARN NET/IB : Got completion from peer 10.7.0.12<40117> with status=12 opcode=0 len=0 vendor err 129 (Recv)\n"
INTERNAL = "gpu-32: Test NCCL failure common.cu:958 'internal error - please report this issue to the NCCL developers / '\n"
REG = "misc/ibvwrap.cc:299 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n"
STEP = "gpu-31:812:1377 [5] NCCL INFO transport/net_ib.cc:659 -> 2\ngpu-31:812:1377 [5] NCCL INFO transport/net.cc:683 -> 2\n"

# What was pasted, in one file or more → the first cause; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "partitions by prompts": (
        "ib-fabric-unreachable",
        (
            FAILED,
            "[root@gpu-31 ~]# cat /sys/class/infiniband/mlx5_2/ports/1/pkeys/0\n0x8021\n"
            "[root@gpu-32 ~]# cat /sys/class/infiniband/mlx5_2/ports/1/pkeys/0\n0x8022\n",
        ),
    ),
    "partitions by clush": (
        "ib-fabric-unreachable",
        (
            FAILED,
            "$ clush -bw gpu-[31-32] 'grep . /sys/class/infiniband/mlx5_2/ports/1/pkeys/*'\n---------------\ngpu-31\n---------------\n"
            "/sys/class/infiniband/mlx5_2/ports/1/pkeys/0:0x8021\n---------------\ngpu-32\n---------------\n"
            "/sys/class/infiniband/mlx5_2/ports/1/pkeys/0:0x8022\n",
        ),
    ),
    "one partition": (
        "ib-retry-exceeded",
        (
            FAILED,
            "[root@gpu-31 ~]# cat /sys/class/infiniband/mlx5_2/ports/1/pkeys/0\n0xffff\n"
            "[root@gpu-32 ~]# cat /sys/class/infiniband/mlx5_2/ports/1/pkeys/0\n0xffff\n",
        ),
    ),
    "subnet managers": (
        "ib-fabric-unreachable",
        (
            FAILED
            + "gpu-31:~$ sudo sminfo\nsminfo: sm lid 4 sm guid 0xa088c20300ab10, activity count 5512 priority 14 state 3 SMINFO_MASTER\n"
            "gpu-32:~$ sudo sminfo\nsminfo: sm lid 4 sm guid 0xa088c20300cd44, activity count 819 priority 14 state 3 SMINFO_MASTER\n",
        ),
    ),
    "one subnet manager": (
        "ib-retry-exceeded",
        (
            FAILED
            + "gpu-31:~$ sudo sminfo\nsminfo: sm lid 4 sm guid 0xa088c20300ab10, activity count 5512 priority 14 state 3 SMINFO_MASTER\n"
            "gpu-32:~$ sudo sminfo\nsminfo: sm lid 4 sm guid 0xa088c20300ab10, activity count 5513 priority 14 state 3 SMINFO_MASTER\n",
        ),
    ),
    "two kernels by pdsh": (
        "kernel-regression-rdma",
        (
            REG,
            "$ pdsh -w gpu-[31-33] uname -r\ngpu-31: 6.8.0-51-generic\ngpu-32: 6.8.0-60-generic\ngpu-33: 6.8.0-51-generic\n",
            "$ docker exec train bash -c 'ulimit -l'\nunlimited\n",
        ),
    ),
    "two kernels by dnf": (
        "kernel-regression-rdma",
        (
            REG + "ulimit -l\nunlimited\n",
            "$ last -x reboot | head -2\nreboot   system boot  5.14.0-503.40.1. Mon Jun  2 10:11   still running\n"
            "reboot   system boot  5.14.0-427.13.1. Thu Mar  6 08:00 - 10:08 (88+01:08)\n$ uname -r\n5.14.0-503.40.1.el9_5.x86_64\n"
            "$ ssh gpu-30 uname -r\n5.14.0-427.13.1.el9_4.x86_64\n",
        ),
    ),
    "two kernels and a low limit": (
        "memlock-limit",
        (
            REG,
            "$ pdsh -w gpu-[31-32] uname -r\ngpu-31: 6.8.0-51-generic\ngpu-32: 6.8.0-60-generic\n",
            "$ docker exec train bash -c 'ulimit -l'\n64\n",
        ),
    ),
    "two kernels and nothing else": ("", ("$ pdsh -w gpu-[31-32] uname -r\ngpu-31: 6.8.0-51-generic\ngpu-32: 6.8.0-60-generic\n",)),
    "limit by systemd": (
        "memlock-limit",
        (STEP, "$ systemctl show slurmd -p LimitMEMLOCK\nLimitMEMLOCK=8388608\n"),
    ),
    "limit by prlimit": (
        "memlock-limit",
        (
            STEP,
            "$ prlimit --memlock -p 812\nRESOURCE DESCRIPTION                              SOFT    HARD UNITS\n"
            "MEMLOCK  max locked-in-memory address space 65536   65536 bytes\n",
        ),
    ),
    "no limit by systemd": ("", ("$ systemctl show containerd -p LimitMEMLOCK\nLimitMEMLOCK=infinity\n",)),
    "queues used up": (
        "rdma-resource-exhaustion",
        (
            "gpu-31:812:1377 [5] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_qp failed with error Cannot allocate memory\n",
            "$ kubectl exec train-3 -- sh -c 'ulimit -l'\nunlimited\n",
        ),
    ),
    "queues refused by the adapter": (
        "rdma-resource-exhaustion",
        (
            "[812331.104] mlx5_core 0000:1a:00.0: mlx5_cmd_out_err:835:(pid 7714): CREATE_QP(0x500) op_mod(0x0) failed, status limits exceeded(0x8), syndrome (0x2c9f5a), err(-12)\n",
        ),
    ),
    "settings by a loop": (
        "nccl-config-mismatch-across-ranks",
        (
            "$ for i in 0 1 2; do kubectl exec gpt-worker-$i -- env | grep -E 'NCCL|HOSTNAME'; echo --; done\n"
            "HOSTNAME=gpt-worker-0\nNCCL_ALGO=Ring\n--\nHOSTNAME=gpt-worker-1\nNCCL_ALGO=Ring\n--\nHOSTNAME=gpt-worker-2\nNCCL_ALGO=Tree\n--\n",
        ),
    ),
    "equal settings by a loop": (
        "",
        (
            "$ for i in 0 1; do kubectl exec gpt-worker-$i -- env | grep -E 'NCCL|HOSTNAME'; echo --; done\n"
            "HOSTNAME=gpt-worker-0\nNCCL_CROSS_NIC=1\n--\nHOSTNAME=gpt-worker-1\nNCCL_CROSS_NIC=1\n--\n",
        ),
    ),
    "settings by ansible": (
        "nccl-config-mismatch-across-ranks",
        (
            "gpu-31 | CHANGED | rc=0 >>\nNCCL_IB_QPS_PER_CONNECTION=4\nNCCL_SOCKET_IFNAME=bond0\ngpu-32 | CHANGED | rc=0 >>\n"
            "NCCL_IB_QPS_PER_CONNECTION=1\nNCCL_SOCKET_IFNAME=bond0\n",
        ),
    ),
    "releases by pip": (
        "nccl-library-mismatch",
        (
            INTERNAL,
            "$ clush -w gpu-[31-32] 'pip list | grep nccl'\ngpu-31: nvidia-nccl-cu12         2.21.5\ngpu-32: nvidia-nccl-cu12         2.27.3\n",
        ),
    ),
    "releases by files": (
        "nccl-library-mismatch",
        (
            INTERNAL,
            "gpu-31:~$ ls -l /usr/lib/x86_64-linux-gnu/libnccl.so.2\nlrwxrwxrwx 1 root root 17 May  3 2024 /usr/lib/x86_64-linux-gnu/libnccl.so.2 -> libnccl.so.2.18.3\n"
            "gpu-32:~$ ls -l /usr/lib/x86_64-linux-gnu/libnccl.so.2\nlrwxrwxrwx 1 root root 17 May  3 2024 /usr/lib/x86_64-linux-gnu/libnccl.so.2 -> libnccl.so.2.26.2\n",
        ),
    ),
    "two releases in a healthy job": (
        "",
        (
            "INFO 03-04 10:11:12 [pynccl.py:70] vLLM is using nccl==2.27.3\nINFO:     Application startup complete.\n",
            "$ pip list | grep nccl\nnvidia-nccl-cu12         2.21.5\n",
        ),
    ),
    "interface not listed": (
        "nccl-socket-ifname-invalid",
        (
            '$ kubectl get pod t-0 -o json | jq -c \'.spec.containers[0].env[]\'\n{"name":"NCCL_SOCKET_IFNAME","value":"ens7f0"}\n',
            "$ kubectl debug node/gpu-31 -it --image=busybox -- ls /host/sys/class/net\nbond0  eno1  enp12s0f0np0  lo\n",
        ),
    ),
    "interface listed": (
        "",
        (
            '$ kubectl get pod t-0 -o json | jq -c \'.spec.containers[0].env[]\'\n{"name":"NCCL_SOCKET_IFNAME","value":"enp12"}\n',
            "$ kubectl debug node/gpu-31 -it --image=busybox -- ls /host/sys/class/net\nbond0  eno1  enp12s0f0np0  lo\n",
        ),
    ),
    "interfaces of adapters are not all": (
        "",
        ("NCCL_SOCKET_IFNAME=bond0\nNCCL_IB_HCA=mlx5_0\n", "mlx5_0 port 1 ==> ens4f0 (Up)\nmlx5_1 port 1 ==> ens4f1 (Up)\n"),
    ),
    "machine impaired": (
        "node-failure",
        (
            '{\n "InstanceId": "i-0aa11bb22cc33dd44",\n "SystemStatus": {"Status": "impaired", "Details": [{"Name": "reachability", "Status": "failed"}]}\n}\n',
            "[rank3]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, remote process exited or there was a network error, NCCL version 2.26.2\n",
        ),
    ),
    "machine failed on Compute Engine": (
        "node-failure",
        (
            "$ gcloud compute operations list --filter='targetLink~a3-node-7'\nNAME            TYPE                         TARGET     HTTP_STATUS  STATUS  TIMESTAMP\n"
            "systemevent-17  compute.instances.hostError  a3-node-7  200          DONE    2025-08-02T13:27:01.331\n",
        ),
    ),
    "machine sound": (
        "",
        ('{"InstanceId": "i-0aa11bb22cc33dd44", "SystemStatus": {"Status": "ok"}, "InstanceStatus": {"Status": "ok"}}\n',),
    ),
    "session over": (
        "launcher-agent-died",
        (
            "$ loginctl show-session 41 -p State\nState=closing\n",
            "$ ps -eo pid,ppid,stat,args | grep train\n  71201       1 Sl   /opt/venv/bin/python -u train.py --nodes 1\n  71202       1 Sl   /opt/venv/bin/python -u train.py --nodes 1\n",
        ),
    ),
    "store of the launcher": (
        "launcher-agent-died",
        (
            "$ ps -ef | grep finetune\nml   71201     1 98 Jun02 ?   11:02:10 /opt/venv/bin/python finetune.py\n",
            'Thread 71201 (active): "MainThread"\n    _store_based_barrier (torch/distributed/distributed_c10d.py:812)\n    init_process_group (torch/distributed/distributed_c10d.py:1550)\n    main (finetune.py:40)\n',
        ),
    ),
    "orphan alone": ("", ("$ ps -ef | grep serve\nml   71201     1  3 Jun02 ?   00:02:10 /opt/venv/bin/python -m http.server\n",)),
    "rendezvous lost": (
        "launcher-agent-died",
        (
            "WARNING:torch.distributed.elastic.rendezvous.dynamic_rendezvous:The node 'gpu-31_7120_0' has failed to send a keep-alive heartbeat to the rendezvous 'r9' due to an error of type RendezvousConnectionError.\n",
        ),
    ),
    "requeued with its node": (
        "node-failure",
        (
            "$ sacct -j 811 -o jobid,state,exitcode,nnodes,end\nJobID             State ExitCode   NNodes                 End \n"
            "------------ ---------- -------- -------- ------------------- \n811            REQUEUED      0:0       16 2025-03-03T04:05:06 \n",
            "$ sinfo -N -n c[01-16] -t down -o '%N %T %E'\nNODELIST STATE REASON\nc07 down* Not responding\n",
        ),
    ),
    "without a lock": (
        "memlock-limit",
        (
            "$ kubectl exec t-0 -- ib_write_bw -d mlx5_1 -F\nCouldn't allocate MR\nfailed to create mr\n",
            "    securityContext:\n      capabilities:\n        drop: [ALL]\n",
        ),
    ),
    "own name by ss": (
        "hostname-resolves-to-loopback",
        (
            'gpu-31:~$ ss -ltnp | grep 29500\nLISTEN 0 4096 127.0.1.1:29500 0.0.0.0:* users:(("python",pid=812,fd=14))\n',
            "torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 1/2 clients joined.\n",
        ),
    ),
    "own name, and all is well": ("", ("$ hostname -i\n127.0.1.1\n", "iteration 7 loss 2.1\niteration 8 loss 2.1\n")),
    "plugin by name": (
        "net-plugin-not-found",
        (
            "$ env | grep NCCL\nNCCL_NET=gIB\n",
            "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.26.2\n",
        ),
    ),
    "plugin without its library": (
        "net-plugin-not-found",
        (
            "$ ldd /opt/ofi/lib/libnccl-net.so | grep 'not found'\n\tlibfabric.so.1 => not found\n",
            "ip-10-0-1-7:812:900 [0] NCCL INFO Using network Socket\n",
        ),
    ),
    "collective stuck in XLA": (
        "nccl-timeout",
        ("E0101 rendezvous.cc:100] This thread has been waiting for `NCCL all-reduce` for 40 seconds and may be stuck.\n",),
    ),
    "machine back for minutes": (
        "node-failure",
        (
            "gpu-33:~$ uptime\n 04:20:11 up 6 min,  0 users,  load average: 0.11, 0.09, 0.04\n"
            "gpu-31:~$ uptime\n 04:20:13 up 41 days,  3:02,  1 user,  load average: 12.11, 12.09, 12.04\n",
            "[rank2]: ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n",
        ),
    ),
    "machine back for minutes, no job": (
        "",
        (
            "gpu-33:~$ uptime\n 04:20:11 up 6 min,  0 users,  load average: 0.11, 0.09, 0.04\n"
            "gpu-31:~$ uptime\n 04:20:13 up 41 days,  3:02,  1 user,  load average: 12.11, 12.09, 12.04\n",
        ),
    ),
    "sockets beside listed adapters": (
        "nccl-socket-fallback",
        ("gpu-31:~$ ls /sys/class/infiniband\nmlx5_0  mlx5_1\n", "gpu-31:812:900 [0] NCCL INFO Using network Socket\n"),
    ),
    "adapters used": (
        "",
        (
            "gpu-31:~$ ls /sys/class/infiniband\nmlx5_0  mlx5_1\n",
            "gpu-31:812:900 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.31<0>\ngpu-31:812:900 [0] NCCL INFO Using network IB\n",
        ),
    ),
    "adapters that a filter leaves out": (
        "nccl-socket-fallback",
        ("NCCL_IB_HCA=mlx5_bond\n", "mlx5_0 port 1 ==> ens4f0 (Up)\nmlx5_1 port 1 ==> ens4f1 (Up)\n"),
    ),
    "multicast off": (
        "nvls-setup-failed",
        ("ncclUnhandledCudaError: Call to CUDA function failed.\n# it only works with NCCL_NVLS_ENABLE=0\n",),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_first_cause(name: str, tmp_path: Path) -> None:
    """What is pasted gives the cause first; its sound twin gives nothing."""
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)


@given(st.text(alphabet="abn0123:-[](),|=# \n\t", max_size=400), st.sampled_from(["", "pdsh -w a uname", "for h in a; do ssh $h x; done"]))
@settings(max_examples=60)
def test_parts_keep_every_host_apart(text: str, command: str) -> None:
    """Whatever stands there: no error, no line that wasn't there, and two hosts at least where there are parts."""
    parts = hosts.by_hosts(text, command)
    assert not parts or len({host for _, _, host in parts if host}) > 1
    assert all(line.strip() in text for _, lines, _ in parts for line in lines)


def test_prompts_of_two_hosts_name_their_answers() -> None:
    """One host's prompts name nothing, those of two do; what speaks of the cluster is nobody's."""
    one = "gpu-1:~$ uname -r\n6.8.0-51-generic\n"
    assert {section.about.node for section in split("a.txt", one)} == {""}
    two = one + "gpu-2:~$ uname -r\n6.8.0-60-generic\ngpu-2:~$ kubectl get nodes\nNAME STATUS\n"
    assert [section.about.node for section in split("a.txt", two)] == ["gpu-1", "gpu-2", ""]
