# ruff: noqa: E501 - what is pasted has long lines
"""What clusters show that do what they should; beside each a near miss in which something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

JOBS = """\
NAME           STATUS      COMPLETIONS   DURATION   AGE
fit-ab-{first}   {state}   {done}           39s        40m
fit-ab-nptv9   Suspended   0/3                      39m
"""
SUSPENDED = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: fit
  namespace: ml
{given}spec:
  suspend: true
  template:
    spec:
      containers:
      - name: main
        image: r.example/fit:1
"""
GIVEN = '  uid: 3f0c1d5e-0000-4000-8000-000000000003\n  creationTimestamp: "2026-03-01T09:00:00Z"\n'
QUEUED = """\
NAME            QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE
job-fit-1a2b3   lq                                          {age}
"""
NODES = """\
NAME    STATUS                        ROLES    AGE   VERSION   INTERNAL-IP   EXTERNAL-IP   OS-IMAGE             KERNEL-VERSION   CONTAINER-RUNTIME
gpu-1   Ready                         <none>   34m   v1.33.1   10.0.0.1      <none>        Ubuntu 24.04.3 LTS   6.14.0-1018      containerd://2.1.6
gpu-2   NotReady{cordoned}   <none>   16m   v1.33.1   10.0.0.2      <none>        Ubuntu 24.04.3 LTS   6.14.0-1018      containerd://{runtime}
"""
ASKS = """\
apiVersion: v1
kind: Pod
metadata:
  name: asks
spec:
  containers:
  - name: main
    image: r.example/fit:1
    resources: {limits: {nvidia.com/gpu: 1}}
---
"""
LABELLED = "apiVersion: v1\nkind: Node\nmetadata:\n  name: cpu-1\n  labels: {example.com/team: a}\n"
OFFERS = 'status:\n  capacity: {cpu: "8"}\n  allocatable: {cpu: "8"}\n'
MARKED = """\
Name:               gpu-2
Taints:             {taint}
Unschedulable:      false
Conditions:
  Type    Status   LastHeartbeatTime                 LastTransitionTime                Reason              Message
  ----    ------   -----------------                 ------------------                ------              -------
  Ready   Unknown  Mon, 02 Mar 2026 10:00:00 +0000   Mon, 02 Mar 2026 10:01:00 +0000   NodeStatusUnknown   Kubelet stopped posting node status.
"""

# What was pasted → the first cause; "?cause" = a candidate only; "" = nothing, or only notes
TEXTS: dict[str, tuple[str, str]] = {
    "jobs that a queue lets go in turn": ("?workload-suspended", JOBS.format(first="mbd4h", state="Running  ", done="2/3")),
    "no job of them goes": ("workload-suspended", JOBS.format(first="mbd4h", state="Suspended", done="0/3")),
    "a manifest for a queue": ("?workload-suspended", SUSPENDED.format(given="")),
    "a job that is suspended": ("workload-suspended", SUSPENDED.format(given=GIVEN)),
    "a workload that Kueue hasn't looked at yet": ("", QUEUED.format(age="3s")),
    "a workload that Kueue looked at": ("kueue-not-admitted", QUEUED.format(age="3m")),
    "a node that is shut down": ("", NODES.format(cordoned=",SchedulingDisabled", runtime="Unknown")),
    "a cordoned node that is down": ("node-down", NODES.format(cordoned=",SchedulingDisabled", runtime="2.1.6")),
    "a node whose runtime does not answer": ("node-down", NODES.format(cordoned="", runtime="Unknown")),
    "a node that the autoscaler removes": ("", MARKED.format(taint="ToBeDeletedByClusterAutoscaler=1772000000:NoSchedule")),
    "a node that is gone": ("node-down", MARKED.format(taint="node.kubernetes.io/unreachable:NoSchedule")),
    "a node without GPUs, and a pod that asks": ("device-plugin-not-running", ASKS + LABELLED + OFFERS),
    "the help of a program": ("", "Usage: burn [OPTIONS]\n  -t, --time N          how long\n      --oom             provoke a CUDA error: out of memory\n"),
    "a program out of memory": ("cuda-out-of-memory", "RuntimeError: CUDA error: out of memory\n"),
    "source code": ("", '    klog.Infof("Could not register device plugin: %s", err)\n'),
    "its log": ("kubelet-plugin-socket-dir-mismatch", "E0302 10:00:00.000001       1 main.go:143] Could not register device plugin: context deadline exceeded\n"),
    "a manual's case": ("", 'If you encounter an error like "failed to create FS watcher for /var/lib/kubelet/device-plugins/: too many open files", raise it.\n'),
    "the case": ("inotify-instances-exhausted", "E0302 10:00:00.000001       1 main.go:173] failed to create FS watcher for /var/lib/kubelet/device-plugins/: too many open files\n"),
    "no such class": ("runtime-class-misuse", 'Warning  FailedCreatePodSandBox  5s  kubelet  RuntimeClass "nvidia" not found\n'),
    "a command of a manifest": ("", "args: [\"-c\", \"python fit.py || echo 'CUDA error: device-side assert triggered'\"]\n"),
    "what a kernel asserted": ("application-device-side-assert", "RuntimeError: CUDA error: device-side assert triggered\n"),
}  # fmt: skip


@pytest.mark.parametrize(("cause", "text"), TEXTS.values(), ids=list(TEXTS))
def test_the_first_finding(cause: str, text: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, text), cause)
