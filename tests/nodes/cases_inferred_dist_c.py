"""Jobs of which no line says what is wrong: another tool's numbers, a process that is gone, a run that works with a variable set."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone, begun, info, job, timed_out, warn

PS = "kubectl exec train-{n} --namespace ml -- ps -eo state,pid,ppid,etimes,comm"
STACK = "kubectl exec train-{n} --namespace ml -- py-spy dump --nonblocking --pid {pid}"
ACS = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
TEST = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
GAVE_UP = (
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete"
)
DEFUNCT = """S     PID    PPID ELAPSED COMMAND
S      70       1   18764 torchrun
R      71      70   18764 python
Z      72      70   18764 python <defunct>
R      73      70   18764 python
"""
WRITES = """S     PID    PPID ELAPSED COMMAND
D      71      70   18764 python
"""
BATON = """Process 201: python train.py
Thread 201 (idle): "MainThread"
    wait (torch/utils/file_baton.py:49)
    _jit_compile (torch/utils/cpp_extension.py:1702)
    load (torch/utils/cpp_extension.py:1308)
"""


CASES: dict[str, Case] = {
    "job-works-without-peer-copies": alone("with NCCL_P2P_DISABLE=1 it works"),
    "job-works-with-other-gid": alone("the job only works when setting NCCL_IB_GID_INDEX=3"),
    "job-tasks-of-accused-ended": job(
        ["srun: error: gpu-12: tasks 8-15: Exited with exit code 255"],
        [*begun(1, 2), warn(1, "misc/socket.cc:55", "socketProgress: Connection closed by remote peer gpu-12<44790>")],
    ),
    "job-rank-defunct": job(
        begun(0, 2) + timed_out(0, 41),
        begun(1, 2) + timed_out(1, 41),
        more={PS.format(n=1): DEFUNCT, PS.format(n=0): DEFUNCT.replace("Z  ", "R  ").replace(" <defunct>", "")},
    ),
    "job-waits-for-build": job(
        begun(0, 2), [*begun(1, 2), *timed_out(1, 41)], more={STACK.format(n=1, pid=201): BATON, PS.format(n=1): WRITES}
    ),
    "job-compiles-until-given-up": job(
        ["starting"],
        ["[2026-03-01 11:50:02 TP8] Entering DeepGEMM JIT Pre-Compile session. It may take a long time.", GAVE_UP],
    ),
    "job-peer-copy-slow": alone(
        "P2P=Enabled Latency (P2P Writes) Matrix (us)", "   GPU     0      1 ", "     0   1.71 49187.12 ", "     1 49187.30   1.66 "
    ),
    "job-peer-copy-hangs": job(
        ["starting"],
        [*begun(1, 2, network="Socket", net="")[:-1], info(1, "Channel 00/0 : 1[1] -> 0[0] via P2P/direct pointer"), TEST, ACS],
    ),
    "job-rails-tested": alone(
        "gpu-11:mlx5_0 -> gpu-12:mlx5_0 ok", "gpu-11:mlx5_0 -> gpu-12:mlx5_1 fail", "gpu-11:mlx5_1 -> gpu-12:mlx5_1 ok"
    ),
    "job-meeting-is-over": alone(
        "torch.distributed.elastic.rendezvous.api.RendezvousClosedError",
        '{"status": "closed", "version": "2", "participants": [0, 1], "keep_alives": [], "num_workers_waiting": 0}',
    ),
    "job-host-tested": alone(
        "gpu-11 gpu-12 PASS",
        "gpu-11 gpu-13 FAIL",
        "gpu-12 gpu-13 FAIL",
        "Unable to Connect the HCA's through the link",
    ),
}
