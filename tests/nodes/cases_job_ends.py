"""Jobs that end: who left first, as launchers, nodes, process lists and memory tell it."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.case import Case
from tests.nodes.cases_nccl import LOGS, alone, begun, info, job, timed_out, warn
from tests.nodes.cases_node import LONE, machine

FULL = [replace(card, memory_used=card.memory_total - 300) for card in LONE]
HOURS = """2026-03-01T02:11:09.000000Z Out of memory: Killed process 2211 (python3) total-vm:20118kB, anon-rss:9120kB
2026-03-01T08:30:02.000000Z NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051)
2026-03-01T08:30:03.000000Z torch.AcceleratorError: CUDA error: out of memory
"""
PS = "kubectl exec train-{n} --namespace ml -- ps -eo state,pid,ppid,etimes,comm"
DEFUNCT = """S     PID    PPID ELAPSED COMMAND
S      70       1   18764 torchrun
R      71      70   18764 python
Z      72      70   18764 python <defunct>
R      73      70   18764 python
"""

CASES: dict[str, Case] = {
    "job-hung-up": alone("torch.distributed.elastic.multiprocessing.api.SignalException: Process 4077 got signal: 1"),
    "job-connection-reset": alone("pml_ucx.c:934  Error: ucx send failed: Connection reset by remote peer"),
    "job-ray-node-lost": alone(
        "(raylet) The node with node id: 6e1d0c and address: 10.0.4.17 and node name: 10.0.4.17 has been marked dead because the detector "
        "has missed too many heartbeats from it."
    ),
    "job-node-left": alone("Warning  NodeNotReady  6m12s  node-controller  Node is not ready"),
    "job-daemon-silent": alone("ORTE has lost communication with a remote daemon."),
    "job-driver-spent-for-hours": job("starting", "starting", more={LOGS.format(pod="train-1"): HOURS}),
    "job-memory-nearly-full": alone("ncclUnhandledCudaError: Call to CUDA function failed.", more=machine("gpu-12", FULL), nodes="gpu-12"),
    "job-tasks-of-accused-ended": job(
        ["srun: error: gpu-12: tasks 8-15: Exited with exit code 255"],
        [*begun(1, 2), warn(1, "misc/socket.cc:55", "socketProgress: Connection closed by remote peer gpu-12<44790>")],
    ),
    "job-rank-defunct": job(
        begun(0, 2) + timed_out(0, 41),
        begun(1, 2) + timed_out(1, 41),
        more={PS.format(n=1): DEFUNCT, PS.format(n=0): DEFUNCT.replace("Z  ", "R  ").replace(" <defunct>", "")},
    ),
    "job-orphans": alone(
        "[rank1]:[W301 11:52:21.0 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=58, addr=[localhost]:41322, "
        "remote=[localhost]:29500): failed to recv, got 0 bytes",
        "/proc/40811/status:PPid:\t1",
    ),
    "job-told-to-end": alone("Received 15 death signal, shutting down workers", "Sending process 4077 closing signal SIGTERM"),
    "job-step-failed": job(
        begun(0, 2),
        [*begun(1, 2), info(1, "transport/net_ib.cc:659 -> 2")],
        more={
            "kubectl exec train-1 --namespace ml --container main -- cat /proc/1/limits": (
                "Max locked memory         65536                65536                bytes     \n"
            )
        },
    ),
    "job-machine-off": alone(
        " 2b1 | 02/11/2026 | 03:12:09 | Power Unit PwrUnit | Power off/down | Asserted",
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    ),
    "job-session-over": alone("/proc/4101/status:PPid:\t1", "           State: closing"),
    "job-ray-releases": alone("RuntimeError: Version mismatch: The cluster was started with:", "    Ray: 2.40.0", "    Python: 3.12.3"),
    "job-only-result": alone(
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:268, unhandled system error "
        "(run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5"
    ),
    "job-only-cuda-result": alone("ncclUnhandledCudaError: Call to CUDA function failed."),
    "job-only-internal-result": alone("ncclInternalError: Internal check failed."),
    "job-only-invalid-result": alone("ncclInvalidUsage: This usually reflects invalid usage of NCCL library."),
    "job-launcher-of-one": alone(
        "W0301 11:50:02.1 884 torch/distributed/elastic/agent/server/api.py:719] Received 15 death signal, shutting down workers",
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
    ),
    "job-made-room": alone("slurmstepd: error: *** JOB 4242 ON gpu-12 CANCELLED AT 2026-03-01T11:50:00 DUE TO PREEMPTION ***"),
    "job-two-layers": alone(
        'error: commlib error: got read error (closing "gpu-14.example/shepherd_ijs/1")',
        "ORTE has lost communication with its daemon located on node:",
    ),
    "job-traceback": alone(
        "Traceback (most recent call last):",
        '  File "/app/train.py", line 4, in <module>',
        "ModuleNotFoundError: No module named 'adapters'",
    ),
}
