# ruff: noqa: E501 - what is pasted has long lines
"""What Slurm, munge, pyxis and the metrics pipeline print of one condition in their different places: each line alone gives the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

# A line, or a few as they stand together → the first cause; "" = nothing
LINES: list[tuple[str, str]] = [
    ("slurm-munge-key-mismatch", "sinfo: error: slurm_receive_msg: [[mgmt-01]:6817] failed: Zero Bytes were transmitted or received"),
    ("slurm-munge-key-mismatch", "srun: error: Task launch for StepId=4242.0 failed on node gpu-03: Invalid job credential"),
    (
        "slurm-munge-key-mismatch",
        "slurmctld: error: slurm_unpack_received_msg: [[gpu-01]:41006] auth_g_verify: REQUEST_NODE_INFO has authentication error: Unspecified error",
    ),
    ("slurm-munge-key-mismatch", "Mar 01 10:00:00 mgmt-01 munged[611]: Invalid credential"),
    (
        "slurm-auth-failure",
        "$ systemctl status munge\n● munge.service - MUNGE authentication service\n   Active: active (running) since Sun 2026-03-01 10:00:00 UTC; 2h ago\n"
        '$ sbatch train.sh\nMunge encode failed: Unable to access "/run/munge/munge.socket.2": No such file or directory',
    ),
    (
        "munge-not-running",
        "$ systemctl status munge\n● munge.service - MUNGE authentication service\n   Active: inactive (dead)\n"
        '$ sbatch train.sh\nMunge encode failed: Unable to access "/run/munge/munge.socket.2": No such file or directory',
    ),
    (
        "slurmdbd-not-running",
        "● slurmdbd.service - Slurm DBD accounting daemon\n   Loaded: loaded (/usr/lib/systemd/system/slurmdbd.service; enabled; preset: disabled)\n"
        "   Active: failed (Result: exit-code) since Sun 2026-03-01 10:00:00 UTC; 2min ago",
    ),
    (
        "",
        "● slurmdbd.service - Slurm DBD accounting daemon\n   Loaded: loaded (/usr/lib/systemd/system/slurmdbd.service; disabled; preset: disabled)\n"
        "   Active: inactive (dead)",
    ),
    # taken out by somebody: that it doesn't answer is no news
    ("slurm-node-drained", "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*         up 2-00:00:00      2 drain* gpu-[01-02]"),
    ("slurmd-not-running", "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*         up 2-00:00:00      2  down* gpu-[01-02]"),
    (
        "slurm-realmemory-mismatch",
        "$ slurmd -C\nNodeName=gpu-03 CPUs=96 Boards=1 SocketsPerBoard=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=770000\nUpTime=1-00:00:01\n"
        "$ grep -i nodename /etc/slurm/slurm.conf\nNodeName=gpu-[01-04] CPUs=96 RealMemory=786432 Gres=gpu:l40s:4 State=UNKNOWN",
    ),
    (
        "",
        "$ slurmd -C\nNodeName=gpu-03 CPUs=96 Boards=1 SocketsPerBoard=2 CoresPerSocket=24 ThreadsPerCore=2 RealMemory=770000\nUpTime=1-00:00:01\n"
        "$ grep -i nodename /etc/slurm/slurm.conf\nNodeName=gpu-[01-04] CPUs=96 RealMemory=768000 Gres=gpu:l40s:4 State=UNKNOWN",
    ),
    ("clock-skew", "srun: error: Application launch failed: Job credential expired"),
    ("clock-skew", "unmunge: Error: Rewound credential"),
    ("munge-not-running", "sacctmgr: error: Munge encode failed: Socket communication error"),
    ("munge-not-running", "srun: error: slurm_send_node_msg: auth_g_create: REQUEST_RESOURCE_ALLOCATION has authentication error"),
    ("munge-not-running", 'munged: Error: Logfile is insecure: group-writable permissions set on "/var/log"'),
    ("munge-not-running", "Failed to start munge.service - MUNGE authentication service."),
    ("slurm-version-mismatch", "slurmctld: error: unpack_header: protocol_version 9216 not supported"),
    (
        "slurm-version-mismatch",
        "[2026-03-01T10:00:00.000] error: slurm_unpack_received_msg: [[gpu-02]:51234] Invalid Protocol Version 9728 from uid=0: No error",
    ),
    ("slurmctld-not-running", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"),
    ("slurmctld-not-running", "[2026-03-01T10:00:00.000] fatal: No node state file (/var/spool/slurmctld/node_state) to recover"),
    ("slurmctld-not-running", "Job for slurmctld.service failed because the control process exited with error code."),
    ("slurmdbd-not-running", "slurmctld: error: agent queue filling (12004), MaxDBDMsgs=10000, RESTART SLURMDBD NOW"),
    ("slurmdbd-not-running", "slurmctld: fatal: slurmdbd and/or database must be up at slurmctld start time"),
    ("slurmdbd-not-running", "slurmdbd: error: mysql_query failed: 2006 MySQL server has gone away"),
    ("slurmd-not-running", "srun: error: Task launch for StepId=4242.0 failed on node gpu-03: Communication connection failure"),
    ("slurmd-not-running", "slurmctld: error: agent waited too long for nodes to respond, abort launch of JobId=4242"),
    ("slurmd-not-running", "slurmd: error: Controller cpuset is not enabled!"),
    ("slurmd-not-running", "[2026-03-01T10:00:00.000] error: Nodes gpu-03 not responding"),
    ("", "[2026-03-01T10:00:00.000] error: Nodes gpu-03 not responding\n[2026-03-01T10:01:40.000] Node gpu-03 now responding"),
    (
        "slurm-gres-config-mismatch",
        "slurmctld: error: Setting node gpu-03 state to INVAL with reason:gres/gpu type (h100) reported but not configured",
    ),
    ("slurm-gres-config-mismatch", 'slurmd: fatal: gres_plugin_node_config_load: gres/gpu lacks "File=" parameter for node gpu-03'),
    ("slurm-gres-config-mismatch", "slurmd: warning: The following autodetected GPUs are being ignored:"),
    ("device-nodes-missing", "slurmd: error: /dev/nvidia0 is not a valid character or block device, fix your gres.conf"),
    ("slurm-request-impossible", "srun: error: Unable to create step for job 4242: Insufficient GRES available in allocation"),
    ("slurm-request-impossible", "salloc: error: Job submit/allocate failed: Access denied to requested reservation"),
    ("slurm-limit-reached", "sbatch: error: Batch job submission failed: MaxJobCount limit reached"),
    ("slurm-nodes-unavailable", "sbatch: error: Batch job submission failed: Partition in DOWN state"),
    ("slurm-prolog-failed", "slurmctld: error: Prolog/Epilog failure on nodes gpu-03, setting DOWN"),
    ("slurm-prolog-failed", "slurmctld: error: slurmd error running JobId=4242 on node(s)=gpu-03: Job prolog failed"),
    ("slurm-kill-task-failed", "slurmstepd: error: Container 81234 in cgroup plugin has 3 processes, giving up after 64 sec"),
    (
        "slurm-node-drained",
        "[2026-03-01T10:00:00.000] validate_node_specs: Node gpu-03 unexpectedly rebooted boot_time=1772360000 last response=1772350000",
    ),
    (
        "slurm-gres-config-mismatch",
        "NodeName=gpu-03 Gres=gpu:h100:8 State=DOWN+DRAIN Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2026-03-01T09:12:44]",
    ),
    ("", 'NodeName=gpu-03 NodeAddr=10.1.0.3 State=DOWN Reason="waiting for parts"\nPartitionName=gpu Nodes=gpu-[01-08] Default=YES'),
    ("host-oom-kill", "srun: error: gpu-03: tasks 0-7: Out Of Memory"),
    ("job-time-limit", "salloc: Job 4242 has exceeded its time limit and its allocation has been revoked."),
    ("node-failure", "slurmctld: Batch JobId=4242 missing from batch node gpu-03 (not found BatchStartTime after startup)"),
    ("node-failure", "Job ID: 4242\nCluster: prod\nState: NODE_FAIL (exit code 1)"),
    ("dns-resolution-failure", "slurmctld: error: thread_per_group_rpc: can't find address for host gpu-03, check slurm.conf"),
    ("memlock-limit", "slurmstepd: error: BPF load error (Operation not permitted). Please check your system limits (MEMLOCK)."),
    ("image-pull-failed", "slurmstepd: error: pyxis: failed to import docker image: nvcr.io#ml/train:24.05"),
    (
        "image-pull-failed",
        "[ERROR] URL https://registry-1.docker.io/v2/ml/train/manifests/latest returned error code: 429 Too Many Requests",
    ),
    ("", "pyxis: importing docker image: nvcr.io/nvidia/pytorch:24.05-py3\npyxis: imported docker image: nvcr.io/nvidia/pytorch:24.05-py3"),
    ("prometheus-target-down", "serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0 (0/8 up)"),
    ("", "serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0 (8/8 up)"),
    ("prometheus-target-down", 'Get "https://10.20.0.7:9400/metrics": http: server gave HTTP response to HTTPS client'),
    (
        "scrape-limit-exceeded",
        'scrape_pool=serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0 err="target_limit exceeded (number of targets: 120, limit: 100)"',
    ),
    ("servicemonitor-missing", 'error: the server doesn\'t have a resource type "servicemonitors"'),
    (
        "servicemonitor-not-selected",
        "Warning  InvalidConfiguration  2m  prometheus-controller  ServiceMonitor nvidia-dcgm-exporter was rejected due to invalid configuration: endpoint[0]: failed to get bearer token secret",
    ),
    (
        "hpa-metric-unavailable",
        "Warning  KEDAScalerFailed  2m (x41 over 12m)  keda-operator  prometheus metrics 'prometheus' target may be lost, the result is empty",
    ),
    (
        "hpa-metric-unavailable",
        'E0301 10:00:00.000000       1 scraper.go:149] "Failed to scrape node" err="Get \\"https://10.0.0.4:10250/metrics/resource\\": x509: cannot validate certificate for 10.0.0.4 because it doesn\'t contain any IP SANs" node="gpu-01"',
    ),
]


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_line_alone(number: int, tmp_path: Path) -> None:
    cause, text = LINES[number]
    judge(diagnosed(tmp_path, text + "\n"), cause, info=True)
