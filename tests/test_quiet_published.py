# ruff: noqa: E501 - what is pasted has long lines
"""What manuals, tutorials and recorded runs show of machines that are well; beside each a near miss in which something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

HELP = """\
"clocks_event_reasons.hw_thermal_slowdown" or "clocks_throttle_reasons.hw_thermal_slowdown"
HW Thermal Slowdown (reducing the core clocks by a factor of 2 or more) is engaged. This is an indicator of temperature being too high

"clocks_event_reasons.hw_power_brake_slowdown" or "clocks_throttle_reasons.hw_power_brake_slowdown"
HW Power Brake Slowdown (reducing the core clocks by a factor of 2 or more) is engaged. This is an indicator of External Power Brake Assertion being triggered (e.g. by the system power supply)
"""
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: bench-0
{sent}spec:
  schedulerName: gang
  containers:
  - name: main
    image: r.example/bench:2
    resources: {{limits: {{nvidia.com/gpu: 2}}}}
"""
NOT_YET = "[W511 08:40:1{at}.250970596 socket.cpp:755] [c10d] The IPv6 network addresses of (fit-0.fit, 29500) cannot be retrieved (gai error: -2 - Name or service not known).\n"
EPOCH = "Train Epoch: 1 [{at}000/50000 ({at}%)]\tLoss: 1.8{at}\n"
LATE = "torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to connect to (fit-0.fit, 29500).\n"
DF = "Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1        97G   21G   76G  22% /\n"
DESCRIPTORS = """\
  *-scsi
       dp: 02 02 18 00 00 00 00 00 00 00 00 00 00 00 00 00 51 4e 41 69 70 00 00 00 / 02 01 0c 00 d0 41 03 0a 01 00 00 00 / 7f ff 04 00
       dp: 02 02 18 00 00 00 00 00 00 00 00 00 00 00 00 00 51 4e 41 69 70 00 00 00 / 03 02 08 00 00 00 01 00 / 7f ff 04 00
"""
PODS = """\
NAMESPACE   NAME              READY   STATUS    RESTARTS        AGE
net         typha-7c9-x2lpd   1/1     Running   24 ({ago} ago)   {age}
"""
FARGATE = """\
Events:
  Type     Reason           Age   From               Message
  ----     ------           ----  ----               -------
  Warning  LoggingDisabled  2m    fargate-scheduler  Disabled logging because aws-logging configmap was not found. configmap "aws-logging" not found
"""
MOUNT = """\
Events:
  Type     Reason       Age   From     Message
  ----     ------       ----  ----     -------
  Warning  FailedMount  2m    kubelet  MountVolume.SetUp failed for volume "cfg" : configmap "fit-config" not found
"""
FOUND_AND_SET = """\
NodeName=n4 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 RealMemory=257000 Gres=gpu:nvidia_a100-pcie-40gb:4
NodeName=n4 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 Gres=gpu:a100:{wanted}

NodeName=n4 Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-15
NodeName=n4 Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=16-31
"""
DRY_RUN = """\
apiVersion: apps/v1
kind: Deployment
metadata:
{meta}  name: chat
  namespace: web
spec:
  replicas: 2
  selector: {{matchLabels: {{app: chat}}}}
  strategy: {{}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec:
      containers:
      - name: main
        image: r.example/chat:3
status: {{}}
"""
STAGES = [40] * 300 + [63] * 300
STAGED = "".join(f"step:{at}/600 train_time:{sum(STAGES[:at])}ms step_avg:{sum(STAGES[:at]) / at:.2f}ms\n" for at in range(2, 600))
LONGER = "".join(f"step:{at}/600 train_time:{sum(STAGES[:at])}ms step_time:{STAGES[at]}ms\n" for at in range(2, 600))

# What was pasted → the first cause; "?cause" = a candidate only; "" = nothing, or only notes
TEXTS: dict[str, tuple[str, str]] = {
    "the help of nvidia-smi": ("", "$ nvidia-smi --help-query-gpu\n" + HELP),
    "the help of nvidia-smi without its command": ("", HELP),
    "a monitor that says so": ("power-brake-external", "GPU-6a1c2f5b-0000-4000-8000-000000000004: HW Power Brake Slowdown is engaged (External Power Brake Assertion being triggered) (e.g. by the system power supply)\n"),
    "a monitor that says so of heat": ("thermal-slowdown", "2026-03-01T10:00:00Z GPU-6a1c2f5b-0000-4000-8000-000000000004: HW Thermal Slowdown is engaged (temperature being too high)\n"),
    "a manifest for another scheduler": ("", MANIFEST.format(sent="")),
    "a mean since the start, of a schedule with longer steps": ("", STAGED),
    "steps that take longer": ("slow-gpu-straggler", LONGER),
    "what a dry run prints": ("", DRY_RUN.format(meta="  creationTimestamp: null\n")),
    "an object that no controller looked at": (
        "pod-not-created",
        DRY_RUN.format(meta='  creationTimestamp: "2026-03-01T09:00:00Z"\n  uid: 3f0c1d5e-0000-4000-8000-000000000002\n'),
    ),
    "a pod that no scheduler looked at": (
        "scheduler-name-wrong",
        MANIFEST.format(sent='  namespace: ml\n  uid: 3f0c1d5e-0000-4000-8000-000000000001\n  creationTimestamp: "2026-03-01T09:00:00Z"\n') + "status:\n  phase: Pending\n",
    ),
    "a name that resolved in time, and a loop that counts samples": ("", "".join(NOT_YET.format(at=at) for at in range(4)) + "".join(EPOCH.format(at=at) for at in range(1, 6))),
    "a name that never resolved": ("rendezvous-timeout", "".join(NOT_YET.format(at=at) for at in range(4))),
    "a name that did not resolve any more": ("rendezvous-timeout", "".join(EPOCH.format(at=at) for at in range(1, 6)) + NOT_YET.format(at=1) + LATE),
    "a dump of bytes below df": ("", DF + DESCRIPTORS),
    "a full disk": ("node-disk-pressure", DF + "/dev/vdb1       500G  500G     0 100% /scratch space\n"),
    "a pod that ended often, and runs since": ("", PODS.format(ago="58m", age="4h")),
    "a pod that ends often": ("?program-exits-with-error", PODS.format(ago="3m", age="4h")),
    "a pod that runs a little longer this time": ("?program-exits-with-error", PODS.format(ago="25m", age="4h")),
    "no logging on Fargate": ("", FARGATE),
    "no configuration": ("secret-or-configmap-missing", MOUNT),
    "what slurmd finds beside what is set": ("", FOUND_AND_SET.format(wanted=4)),
    "more set than there is": ("slurm-gres-config-mismatch", FOUND_AND_SET.format(wanted=8)),
}  # fmt: skip


@pytest.mark.parametrize(("cause", "text"), TEXTS.values(), ids=list(TEXTS))
def test_the_first_finding(cause: str, text: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, text), cause)
