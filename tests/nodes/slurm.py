"""What Slurm's commands print of a cluster that is described, in the words of release 23.11."""

from __future__ import annotations

from tests.nodes.case import Said

HOURS = "2026-03-01T10:00:00"
HEAD = "JOBID|PARTITION|USER|STATE|NODES|TRES_PER_NODE|REASON\n"
NODES = "scontrol show node -o"
PING = "scontrol ping"
WAITING = "squeue --states=PENDING -o '%i|%P|%u|%T|%D|%b|%r'"
ACCOUNTING = "sacct -a -X -P -S now-1hours --state=NODE_FAIL,BOOT_FAIL -o JobID,JobName,Partition,User,State,ExitCode,NodeList"
LOG = "tail -c 262144 /var/log/slurm/slurmctld.log"
UP = "Slurmctld(primary) at mgmt-01 is UP\n"


def node(name: str, state: str = "MIXED", reason: str = "", gres: str = "gpu:h100:8(S:0-1)", by: str = "slurm") -> str:
    """A line of `scontrol show node -o`."""
    said = f" Reason={reason} [{by}@2026-03-01T11:02:13]" if reason else ""
    return (
        f"NodeName={name} Arch=x86_64 CoresPerSocket=48  CPUAlloc=96 CPUEfctv=192 CPUTot=192 CPULoad=88.10 AvailableFeatures=h100"
        f" ActiveFeatures=h100 Gres={gres} NodeAddr={name} NodeHostName={name} Version=23.11.10 OS=Linux 5.15.0-118-generic #128"
        f" RealMemory=2063000 AllocMem=1031000 FreeMem=830011 Sockets=2 Boards=1 State={state} ThreadsPerCore=2 TmpDisk=0 Weight=1"
        f" Owner=N/A MCS_label=N/A Partitions=gpu  BootTime=2026-02-11T08:00:11 SlurmdStartTime=2026-02-11T08:01:40 LastBusyTime={HOURS}"
        f" CfgTRES=cpu=192,mem=2063000M,billing=192,gres/gpu=8 AllocTRES=cpu=96,mem=1031000M,gres/gpu=4 CapWatts=n/a{said}\n"
    )


def job(number: int, state: str, reason: str = "None", nodes: str = "", code: str = "0:0") -> str:
    """A job of `scontrol show job`."""
    return (
        f"JobId={number} JobName=train\n   UserId=alice(1000) GroupId=lab(1000) MCS_label=N/A\n"
        f"   Priority=10512 Nice=0 Account=lab QOS=normal\n   JobState={state} Reason={reason} Dependency=(null)\n"
        f"   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode={code}\n   RunTime=04:00:00 TimeLimit=04:00:00\n"
        f"   SubmitTime={HOURS} EligibleTime={HOURS}\n   Partition=gpu AllocNode:Sid=login-01:4071\n   ReqNodeList=(null)\n"
        f"   NodeList={nodes}\n   NumNodes=2 NumCPUs=192 NumTasks=16 CPUs/Task=12 ReqB:S:C:T=0:0:*:*\n"
        f"   ReqTRES=cpu=192,mem=512G,node=2,billing=192,gres/gpu=16\n   Command=/home/alice/train.sh\n   StdOut=/home/alice/train.out\n"
        f"   TresPerNode=gres/gpu:8\n\n"
    )


def unit(name: str, active: str = "active", result: str = "success") -> str:
    """A daemon, as systemctl shows it."""
    sub = {"active": "running", "failed": "failed"}.get(active, "dead")
    return f"Id={name}.service\nLoadState=loaded\nActiveState={active}\nSubState={sub}\nResult={result}\nUnitFileState=enabled\n"


def services(host: str) -> str:
    """The command line that asks for the daemons of a node."""
    return f"{host}: systemctl show -p Id,LoadState,ActiveState,SubState,Result,UnitFileState slurmd munge slurmctld slurmdbd"


def slurmd_log(host: str) -> str:
    """The command line that reads the end of slurmd's log."""
    return f"{host}: tail -c 262144 /var/log/slurm/slurmd.log"


def complaint(text: str) -> Said:
    """What a command says on stderr before it leaves with 1."""
    return Said(exit=1, stderr=f"{text}\n")
