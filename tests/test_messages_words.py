"""Further wordings of known messages: of other releases of a program, of other programs that say the same, of tails that people quote."""

from __future__ import annotations

import pytest

from gpudoctor.tools.common.messages import find

WORDS: tuple[tuple[str, str], ...] = (
    # --- other releases and programs, from their sources
    # torch/csrc/distributed/c10d/TraceUtils.h
    ("watchdog_reports_work", "\t - [3] Timeout at collective: _ALLGATHER_BASE, #39"),
    # Open MPI's and PRRTE's help of the launcher; Hydra's of MPICH and Intel MPI
    ("mpi_daemon_lost", "A daemon (pid 811) died unexpectedly on signal 9 while attempting to"),
    ("mpi_daemon_lost", "tcsh: prted: Command not found."),
    # Slurm: job_mgr.c, gres.c, acct_policy.c, req.c
    ("ended_by_time_limit", "JobId=812 timed out, the job is at or exceeds QOS short's group wall limit of 60 with 61"),
    # Karpenter: nodeclaim.go, scheduler.go
    (
        "autoscaler_no_type_fits",
        "no instance type which met the scheduling requirements and the required offering had the required resources, requirements=",
    ),
    # KAI scheduler: pod_errors.go, job_errors.go; Volcano: share.go of its vGPU
    ("kai_gpus_insufficient", "node-group(s) didn't have enough of mig profile: nvidia.com/mig-3g.40gb"),
    # dcgm-exporter: app.go
    ("exporter_without_profiling", 'level=ERROR msg="Profiling API panic - DCP metrics disabled"'),
    # k8s-device-plugin: imex.go, resources.go, main.go
    ("imex_channel_missing", "error querying IMEX channels: requested IMEX channel 3 does not exist"),
    # NCCL: socket.cc, ipcsocket.cc
    ("nccl_system_call_failed", "NCCL WARN ncclSocketInit: Socket creation failed : Address family not supported by protocol"),
    ("nccl_system_call_failed", "NCCL WARN UDS: Binding to socket /tmp/nccl-socket-3-aa failed : Address already in use (98)"),
    # nvidia.ko before 535
    ("nvrm_no_device_started", "NVRM: No NVIDIA devices probed."),
    # --- tails of lines as they are quoted
    ("nccl_no_interface", "it ends with `no socket interface found`"),
    ("nccl_ib_retries_exceeded", "... status=12 opcode=0 len=0 vendor err 129 (Send)"),
    ("watchdog_got_stuck", "\u2026 for 480 seconds without making progress in monitoring enqueued collectives."),
    ("kernel_release_named", "| gpu-07 | 5.15.0-105-generic | yes |"),
    ("adapters_listed", "| gpu-07 | mlx5_0  mlx5_1 |"),
    ("toolkit_gpu_lost", "runc: ... gpu is lost: unknown"),
    ("topology_not_aligned", "Pod was ... allocated with Topology locality"),
    ("slurm_nodes_refused", "srun: Required ... (down, drained or reserved)"),
    ("quota_exceeded_by_request", "... requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16"),
)
QUIET = (
    "RPC call to execute_model took 1.2 s",
    "Waiting: 0 reqs, GPU KV cache usage: 97.0%",
    "... 4 reqs, GPU KV cache usage: 41.0%",
    "OpenVPN died unexpectedly with status: 1",
    "received 16 bytes, then 16 more",
    "Node failures: none",
    "the plugin has sufficient capacity and is ready for execution on the device",
    "asg-1 has min node group size reached",
    "use --cap-add SYS_ADMIN to mount the file system",
    "every card has the necessary power cables connected",
    "the driver loaded, and the server is running as non-root",
)


@pytest.mark.parametrize(("name", "text"), WORDS, ids=lambda value: value[:40])
def test_another_wording_says_the_same(name: str, text: str) -> None:
    assert name in {hit.name for hit in find([text.encode()])}


@pytest.mark.parametrize("text", QUIET)
def test_what_sounds_alike_says_nothing(text: str) -> None:
    assert list(find([text.encode()])) == []
