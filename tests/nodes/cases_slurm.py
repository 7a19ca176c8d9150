"""Slurm clusters: nodes that are out of service, daemons that are gone, jobs that wait. What real ones print is in tests/slurm."""

from __future__ import annotations

from typing import Any

from tests.nodes import bus
from tests.nodes.case import Case, Said
from tests.nodes.slurm import ACCOUNTING, HEAD, LOG, NODES, PING, UP, WAITING, complaint, job, node, services, slurmd_log, unit
from tests.nodes.smi import Card, smi_xml
from tests.slurm.recorded import recorded

GOOD = node("gpu-01") + node("gpu-02", "IDLE") + node("gpu-03", "IDLE+MAINTENANCE+DRAIN", "kernel upgrade", by="root")
RAN = "JobID|JobName|Partition|User|State|ExitCode|NodeList\n"
LATE = Said(failure="timeout")
ALIVE = unit("slurmd") + "\n" + unit("munge")


def cluster(nodes: str | Said = GOOD, *, ping: str | Said = UP, waiting: str = HEAD, log: str = "", hosts: str = "", **more: Any) -> Case:
    """A cluster; `hosts` are nodes that are out and whose daemons run, `more` answers to further command lines."""
    answers: dict[str, Any] = {NODES: nodes, PING: ping, WAITING: waiting, ACCOUNTING: RAN}
    for host in hosts.split():
        answers |= {
            services(host): ALIVE,
            slurmd_log(host): "[2026-03-01T08:01:40.349] slurmd started on Sun, 01 Mar 2026 08:01:40 +0000\n",
        }
    if log and nodes is GOOD:  # what a log says counts where the controller shows no nodes
        answers[NODES] = LATE
    if log:
        answers[LOG] = "".join(f"[2026-03-01T11:02:14.{number:03}] {line}\n" for number, line in enumerate(log.split("\n")))
    return Case("slurm", {}, answers | more)


def out(reason: str, state: str = "IDLE+DRAIN", name: str = "gpu-04", **more: Any) -> Case:
    """A cluster with one node that is out for a reason."""
    return cluster(GOOD + node(name, state, reason), hosts=name, **more)


def asked(text: str, *, nodes: str = GOOD) -> Case:
    """Somebody asks for job 4242."""
    answers: dict[str, Any] = {NODES: nodes, PING: UP, ACCOUNTING: RAN, "scontrol show job 4242": text}
    return Case("slurm", {"job": "4242"}, answers)


def seen(*, slots: int, cards: int) -> dict[str, Any]:
    """What the machine of gpu-04 shows of its GPUs, on the bus and in the driver."""
    addresses = [f"0000:{number:02x}:00.0" for number in range(16, 16 + slots)]
    all_cards = [Card(index=index, pci=address) for index, address in enumerate(addresses)]
    return {
        "gpu-04: lspci -D -nn -k -vv -d 10de:": bus.lspci([bus.Slot(pci=address) for address in addresses]),
        "gpu-04: cat /proc/driver/nvidia/version": bus.version(),
        "gpu-04: cat /proc/modules": bus.modules("nvidia_uvm:4", "nvidia:120"),
        "gpu-04: dmesg --time-format=iso": "2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n",
        "gpu-04: nvidia-smi -q -x": smi_xml(all_cards[:cards]),
    }


GRES = "gres/gpu count reported lower than configured (7 < 8)"

FILES = "gpu-04: cat /etc/slurm/slurm.conf /etc/slurm/gres.conf"
CONF = """ClusterName=lab
SlurmctldHost=mgmt-01
GresTypes=gpu
NodeName=gpu-[01-16] CPUs=192 Sockets=2 CoresPerSocket=48 ThreadsPerCore=2 \\
  RealMemory=2063000 Gres=gpu:h100:8 State=UNKNOWN
PartitionName=gpu Nodes=gpu-[01-16] Default=YES MaxTime=3-00:00:00 State=UP
"""

CASES: dict[str, Case] = {
    # --- what a real cluster printed
    "slurm-real-healthy": Case(
        "slurm",
        {},
        {
            NODES: recorded("healthy-scontrol-node-o"),
            PING: recorded("healthy-ping"),
            WAITING: recorded("healthy-squeue-waiting"),
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
        },
    ),
    "slurm-real-out": Case(
        "slurm",
        {},
        {
            NODES: recorded("out-scontrol-node-o"),
            PING: recorded("out-ping"),
            WAITING: HEAD,
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
            LOG: "[2026-03-01T11:00:00.000] Running as primary controller\n",
            services("gpu-01"): ALIVE,
            services("gpu-02"): ALIVE,
            services("gpu-03"): ALIVE,
            services("gpu-04"): unit("slurmd", "failed", "signal") + "\n" + unit("munge"),
            slurmd_log("gpu-01"): recorded("slurmd-not-killed"),
        },
    ),
    "slurm-real-other-key": Case(
        "slurm",
        {},
        {
            NODES: complaint(recorded("other-key-nodes.err").strip()),
            PING: Said(recorded("other-key-ping"), exit=1),
            WAITING: complaint("slurm_load_jobs error: Zero Bytes were transmitted or received"),
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
        },
    ),
    "slurm-real-no-controller": Case(
        "slurm",
        {},
        {
            NODES: complaint(recorded("no-controller.err").strip()),
            PING: Said(recorded("no-controller-ping"), exit=1),
            WAITING: complaint("slurm_load_jobs error: Unable to contact slurm controller (connect failure)"),
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
        },
    ),
    "slurm-real-no-munge": Case(
        "slurm",
        {},
        {
            NODES: complaint(recorded("no-munge.err").strip()),
            PING: Said(recorded("other-key-ping"), exit=1),
            WAITING: complaint(recorded("no-munge.err").strip().replace("PARTITION", "JOB")),
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
        },
    ),
    "slurm-real-waiting": Case(
        "slurm",
        {},
        {
            NODES: recorded("healthy-scontrol-node-o"),
            PING: recorded("healthy-ping"),
            WAITING: recorded("waiting-squeue-waiting"),
            ACCOUNTING: complaint(recorded("sacct-off.err").strip()),
        },
    ),
    # --- nodes
    "slurm-healthy": cluster(),
    "slurm-no-answer": cluster(ping=LATE),
    "slurm-gpu-lost": out(GRES, "MIXED+DRAIN+INVALID_REG", **seen(slots=7, cards=7)),
    "slurm-gpu-silent": out(GRES, "MIXED+DRAIN+INVALID_REG", **seen(slots=8, cards=7)),
    "slurm-gres-wrong": out(GRES, "IDLE+DRAIN+INVALID_REG", **seen(slots=8, cards=8)),
    "slurm-files-differ": out(
        GRES,
        "IDLE+DRAIN+INVALID_REG",
        **seen(slots=8, cards=8),
        **{FILES: CONF + "\n# of this node\nName=gpu Type=a100 File=/dev/nvidia[0-6]\n"},
    ),
    "slurm-files-agree": out("Node unexpectedly rebooted", "DOWN", **{FILES: CONF + "\nName=gpu Type=h100 File=/dev/nvidia[0-7]\n"}),
    "slurm-memory": out("Low RealMemory (reported:1031000 < 100.00% of configured:2063000)", "IDLE+DRAIN+INVALID_REG"),
    "slurm-shape": out("Low socket*core*thread count, Low CPUs", "IDLE+DRAIN+INVALID_REG"),
    "slurm-prolog": out("Prolog error"),
    "slurm-health-check": out("NHC: check_fs_mount: /scratch not mounted"),
    "slurm-health-check-hung": out('NHC: Script timed out while executing "check_fs_mount_rw -f /work".'),
    "slurm-rebooted": out("Node unexpectedly rebooted", "DOWN"),
    "slurm-drained-by-hand": out("waits for a new power supply", "MIXED+DRAIN"),
    "slurm-munge-stopped": cluster(
        GOOD + node("gpu-04", "DOWN+NOT_RESPONDING", "Not responding"),
        **{services("gpu-04"): unit("slurmd") + "\n" + unit("munge", "failed", "exit-code")},
    ),
    "slurm-daemons-stopped": cluster(
        GOOD + node("gpu-04", "DOWN+NOT_RESPONDING", "Not responding"),
        **{
            services("gpu-04"): "\n".join(
                (unit("slurmd"), unit("munge"), unit("slurmctld", "failed", "exit-code"), unit("slurmdbd", "failed", "exit-code"))
            )
        },
    ),
    "slurm-memory-found": out(
        "swap of a board",
        **{
            FILES: CONF,
            "gpu-04: slurmd -C": "NodeName=gpu-04 CPUs=192 Boards=1 SocketsPerBoard=2 CoresPerSocket=48 ThreadsPerCore=2"
            " RealMemory=2051000\nUpTime=3-02:11:11\n",
        },
    ),
    "slurm-munge-elsewhere": out(
        "Not responding",
        "DOWN+NOT_RESPONDING",
        **{
            slurmd_log("gpu-04"): "[2026-03-01T11:02:14.001] error: Munge encode failed: Failed to access "
            '"/var/run/munge/munge.socket.2": No such file or directory\n'
        },
    ),
    # --- logs
    "slurm-log-keys": cluster(log="error: Munge decode failed: Invalid credential"),
    "slurm-log-clocks": cluster(log="error: Munge decode failed: Rewound credential\nerror: Check for out of sync clocks"),
    "slurm-log-files-differ": cluster(
        log="error: Node gpu-02 appears to have a different slurm.conf than the slurmctld.  This could cause issues with communication"
    ),
    "slurm-versions": cluster(
        complaint("slurm_load_node error: Incompatible versions of client and server code"),
        ping=Said("Slurmctld(primary) at mgmt-01 is DOWN\n", exit=1),
    ),
    "slurm-log-not-killed": cluster(log="error: slurmd error running JobId=4242 on node(s)=gpu-02: Kill task failed"),
    "slurm-log-prolog": cluster(log="error: JobId=4242 prolog failed status=1:0"),
    "slurm-gres-refused": out(
        "Not responding",
        "DOWN+NOT_RESPONDING",
        **{slurmd_log("gpu-04"): "slurmd: fatal: gres.conf duplicate records for gpu\n"},
    ),
    "slurm-log-gres": cluster(log="error: Setting node gpu-02 state to INVAL with reason:gres/gpu count too low (7 < 8)"),
    "slurm-log-memory": cluster(
        log="error: Setting node gpu-02 state to INVAL with reason:Low RealMemory (reported:1031000 < 100.00% of configured:2063000)"
    ),
    "slurm-log-controller": cluster(
        LATE,
        ping=Said("Slurmctld(primary) at mgmt-01 is DOWN\n", exit=1),
        **{LOG: "slurmctld: fatal: Can't find plugin for select/cons_tres\n"},
    ),
    "slurm-log-slurmd": cluster(
        GOOD + node("gpu-04", "DOWN+NOT_RESPONDING", "Not responding"),
        **{
            services("gpu-04"): unit("slurmd", "failed", "exit-code") + "\n" + unit("munge"),
            slurmd_log("gpu-04"): "slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory\n",
        },
    ),
    "slurm-log-nvml": out(
        GRES.replace("7", "0"),
        "IDLE+DRAIN+INVALID_REG",
        **seen(slots=8, cards=8),
        **{
            slurmd_log(
                "gpu-04"
            ): "[2026-03-01T08:01:40.349] We were configured to autodetect nvml functionality, but we weren't able to find that "
            "lib when Slurm was configured.\n"
        },
    ),
    "slurm-log-silent": Case(
        "slurm",
        {},
        {
            NODES: LATE,
            PING: UP,
            WAITING: HEAD,
            ACCOUNTING: RAN,
            LOG: "[2026-03-01T11:02:14.001] error: Nodes gpu-[02,05] not responding, setting DOWN\n",
        },
    ),
    "slurm-log-of-last-week": cluster(
        GOOD + node("gpu-04", "IDLE"),
        log="error: Munge decode failed: Invalid credential\nerror: JobId=4242 prolog failed status=1:0\n"
        "error: Nodes gpu-02 not responding, setting DOWN\nslurmctld: fatal: Can't find plugin\n"
        "error: Setting node gpu-02 state to INVAL with reason:gres/gpu count too low (7 < 8)",
    ),
    "slurm-log-enroot": cluster(
        log="slurmstepd: error: pyxis: mkdir: cannot create directory '/var/lib/enroot/user-1007': Permission denied"
    ),
    "slurm-log-refused": cluster(
        log="sbatch: error: Batch job submission failed: Requested node configuration is not available\n"
        "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size)\n"
        "srun: Required node not available (down, drained or reserved)"
    ),
    "slurm-accounting": cluster(
        **{
            ACCOUNTING: complaint(
                "sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:mgmt-01:6819: Connection "
                "refused\nsacct: error: Problem talking to the database: Connection refused"
            )
        }
    ),
    "slurm-accounting-gave-up": cluster(log="", **{LOG: "slurmdbd: fatal: slurmdbd.conf owned by 0 not SlurmUser(997)\n"}),
    # --- jobs
    "slurm-jobs-waiting": cluster(
        GOOD + node("gpu-04", "DOWN+DRAIN", "waits for a new power supply"),
        hosts="gpu-04",
        waiting=HEAD
        + "4240|gpu|alice|PENDING|1|gres/gpu:8|ReqNodeNotAvail, UnavailableNodes:gpu-04\n"
        + "4241|gpu|alice|PENDING|1|gres/gpu:8|QOSMaxGRESPerUser\n"
        + "4242|gpu|bob|PENDING|4|gres/gpu:8|BadConstraints\n"
        + "4243|gpu|bob|PENDING|4|gres/gpu:8|PartitionDown\n"
        + "4244|gpu|bob|PENDING|4|gres/gpu:8|DependencyNeverSatisfied\n"
        + "4245|gpu|bob|PENDING|4|gres/gpu:8|JobHeldAdmin\n"
        + "4246|gpu|bob|PENDING|4|gres/gpu:8|launch failed requeued held\n"
        + "4247|gpu|bob|PENDING|4|gres/gpu:8|Priority\n",
    ),
    "slurm-job-queued": asked(job(4242, "PENDING", "Resources")),
    "slurm-job-running": asked(job(4242, "RUNNING", nodes="gpu-[01-02]")),
    "slurm-job-time": asked(job(4242, "TIMEOUT", "TimeLimit", "gpu-[01-02]", "0:15")),
    "slurm-job-memory": asked(job(4242, "OUT_OF_MEMORY", "OutOfMemory", "gpu-01", "0:125")),
    "slurm-job-node-lost": asked(
        job(4242, "NODE_FAIL", "NodeDown", "gpu-[01,04]", "1:0"), nodes=GOOD + node("gpu-04", "DOWN+NOT_RESPONDING", "Not responding")
    ),
    "slurm-job-cancelled": asked(job(4242, "CANCELLED", nodes="gpu-01", code="0:15")),
    "slurm-job-failed": asked(job(4242, "FAILED", "NonZeroExitCode", "gpu-01", "1:0")),
    "slurm-job-crashed": asked(job(4242, "FAILED", "RaisedSignal:11(Segmentation_fault)", "gpu-01", "0:11")),
    "slurm-job-killed": asked(job(4242, "FAILED", "RaisedSignal:9(Killed)", "gpu-01", "0:9")),
}
