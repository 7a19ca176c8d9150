# ruff: noqa: E501 - lines as programs print them
"""How ranks come together and how they end, in the words of launchers other than the usual ones, and in those of a few lines that were left.

Each text gives that cause first; `?cause` is a candidate and nothing decided; "" is a near-miss that says nothing of a fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

RAY = """======== Autoscaler status: 2026-02-14 06:30:51.880214 ========
Node status
---------------------------------------------------------------
Active:
 2 node_07b6d3e94c512fa
Resources
---------------------------------------------------------------
Usage:
 0.0/96.0 CPU
 0.0/8.0 GPU
Demands:
"""
NO_ROUTE = "qn1:88:120 [0] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.3.1.4<42121> failed : No route to host\n"
COMPLETE = "qn1:71:90 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0xab - Init COMPLETE\n"
TUNNEL = "qn1:61:140 [0] NCCL INFO Bootstrap : Using [0]sit0:fe80::1c1d:b7ff:fe02:1%sit0<0> [1]eth0:2001:db8::2<0>\n"
RESULT = "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, {} (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\n"
TRACEBACK = (
    "Traceback (most recent call last):\n  File \"/app/run.py\", line 4, in <module>\nModuleNotFoundError: No module named 'adapters'\n"
)
COMPILES = "Using /home/lu/.cache/torch_extensions/py311_cu124 as PyTorch extensions root...\nBuilding extension module fused_lamb...\n"
GAVE_UP = "RuntimeError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Socket Timeout\n"

TEXTS = {
    # --- where the ranks meet
    "a name that isn't known yet": (
        "dns-resolution-failure",
        "    store = TCPStore(master_addr, master_port, world_size, start_daemon)\nValueError: host not found: Name or service not known\n",
    ),
    "gloo without a device": ("gloo-wrong-interface", "RuntimeError: makeDeviceForHostname(): unsupported gloo device\n"),
    "a file that isn't found": ("", "ValueError: model not found: name given twice\n"),
    "a Ray node of another name, by the status": (
        "bootstrap-wrong-interface",
        RAY + " {'GPU': 1.0, 'node:qn1.public.example': 0.001} * 1, {'GPU': 1.0} * 7 (PACK): 1+ pending placement groups\n",
    ),
    "a Ray node of a bridge's address": (
        "bootstrap-wrong-interface",
        "(autoscaler +9s) Error: No available node types can fulfill resource request {'node:172.17.0.1': 0.001, 'GPU': 1.0}.\n",
    ),
    "a Ray node that may have no GPUs": (
        "?bootstrap-wrong-interface",
        "(autoscaler +9s) Error: No available node types can fulfill resource request {'node:10.3.1.4': 0.001, 'GPU': 1.0}.\n",
    ),
    "a Ray cluster that is well": ("", RAY + " (no resource demands)\n"),
    "Ray's head on its own name": (
        "hostname-resolves-to-loopback",
        "==> head.txt <==\nLocal node IP: 127.0.1.1\nRay runtime started.\n==> worker.txt <==\n[2026-01-05 10:02:11 W] gcs_rpc_client.h: Failed to connect to GCS at address 127.0.1.1:6379\n",
    ),
    "JAX's coordinator on its own name": (
        "hostname-resolves-to-loopback",
        "I0301 09:00:00.1 distributed.py:121] Connecting to JAX distributed service on 127.0.1.1:1234\nE0301 DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0.\n",
    ),
    "JAX's coordinator, and all came": (
        "",
        "I0301 09:00:00.1 distributed.py:121] Connecting to JAX distributed service on 10.3.1.4:1234\n",
    ),
    "a tunnel's address, and no more": ("?bootstrap-wrong-interface", TUNNEL),
    "a tunnel's address, and the ranks met": ("", TUNNEL + COMPLETE),
    "a socket that could not be bound": ("port-in-use", "RuntimeError: The server socket has failed to bind. port: 20000\n"),
    "a port that a server finds taken": ("port-in-use", "ValueError: Port 30000 is not available, please use another one\n"),
    "one family of addresses is missing": (
        "",
        "[W1121 10:00:00.1 socket.cpp:464] [c10d] The server socket cannot be initialized on [::]:29500 (errno: 97 - Address family not supported by protocol).\n",
    ),
    "nftables drops what it doesn't name": (
        "firewall-blocked-ports",
        "$ nft list ruleset\ntable inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t\ttcp dport 22 accept\n\t}\n}\n"
        + NO_ROUTE,
    ),
    "firewalld's zone rejects what it doesn't name": (
        "firewall-blocked-ports",
        "$ firewall-cmd --list-all\npublic (active)\n  target: default\n  interfaces: eno1\n  ports: 29500/tcp\n" + NO_ROUTE,
    ),
    "firewalld trusts the interface": (
        "nccl-connect-no-route",
        "$ firewall-cmd --list-all\ntrusted (active)\n  target: ACCEPT\n" + NO_ROUTE,
    ),
    # --- ranks that do not fit together
    "Ray of another release": (
        "software-version-skew-between-nodes",
        "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.40.0\n    Python: 3.11.4\nThis process on node 10.3.1.4 was started with:\n    Ray: 2.40.0\n    Python: 3.12.1\n",
    ),
    "Ray's own banner": ("", "INFO worker.py:1810 -- Connected to Ray cluster. Ray version: 2.40.0, Python version: 3.12.1\n"),
    "inputs of different length": (
        "collective-mismatch",
        "RuntimeError: Detected at least one rank that exhausted inputs. Throwing across all ranks.\n",
    ),
    "a rank that the recorder misses": (
        "hang-one-rank-outside-collective",
        "Not all ranks joining collective, sequence number: 14\ncollective: nccl:all_reduce\nmissing ranks: {3}\n",
    ),
    "a slot that the hostfile lacks": ("rank-placement-wrong", "ValueError: No slot '4' specified on host 'qn2'\n"),
    # --- who ended whom
    "one launcher was told to end": (
        "launcher-agent-died",
        "==> b.log <==\nW0527 16:04:12.2 884 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal, shutting down workers\n==> a.log <==\ntorch.distributed.elastic.rendezvous.api.RendezvousClosedError\n",
    ),
    "all were told to end": (
        "?job-cancelled",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 88 got signal: 15\n",
    ),
    "Grid Engine and mpirun lost the same host": (
        "node-failure",
        'error: commlib error: got read error (closing "qn7.example/shepherd_ijs/1")\nORTE has lost communication with its daemon located on node:\n\n  hostname:  qn7.example\n',
    ),
    "mpirun alone lost a host": (
        "?node-failure",
        "ORTE has lost communication with its daemon located on node:\n\n  hostname:  qn7.example\n",
    ),
    "TensorFlow's collectives end": (
        "peer-rank-died",
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: failed to connect to all addresses\n",
    ),
    # --- a rank that is late
    "an extension is built meanwhile": ("rank-stuck-in-jit-or-autotune", f"==> a.log <==\n{COMPILES}==> b.log <==\n{GAVE_UP}"),
    "an extension is built": ("", COMPILES),
    "rank 0 downloads meanwhile": (
        "rank0-only-work",
        f"==> a.log <==\nDownloading data:  13%|#3  | 41/320 [27:44<3:08:00]\n==> b.log <==\n{GAVE_UP}",
    ),
    # --- a result without the line before it
    "an internal error": ("?nccl-library-mismatch", RESULT.format("internal error - please report this issue to the NCCL developers")),
    "a system error": ("?bootstrap-wrong-interface", RESULT.format("unhandled system error")),
    "a CUDA error": ("?cuda-error-on-one-rank", RESULT.format("unhandled cuda error")),
    "an invalid argument": ("?duplicate-gpu-assignment", RESULT.format("invalid argument")),
    "a program's own traceback": ("?program-exits-with-error", TRACEBACK),
    "a traceback, and the job goes on": ("", TRACEBACK + COMPLETE + "step 1 loss 3.21\nstep 2 loss 3.11\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_first_cause(tmp_path: Path, name: str) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause, info=bool(cause))


def test_a_cancelled_job_is_told_and_no_alarm(tmp_path: Path) -> None:
    report = diagnosed_files(tmp_path, "slurmstepd: error: *** JOB 4411 ON qn1 CANCELLED AT 2026-02-02T02:02:02 ***\n")
    assert [(one.cause, one.severity) for one in report.findings] == [("job-cancelled", "info")]


@pytest.mark.parametrize("text", [RESULT.format("unhandled system error"), TRACEBACK, GAVE_UP])
def test_an_error_is_never_healthy(tmp_path: Path, text: str) -> None:
    assert diagnosed_files(tmp_path, text).verdict != "healthy"
