"""A text that shows a thing twice tells how it went: what it shows last is how it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

POD = """\
$ kubectl get pods -n lab
NAME     READY   STATUS    RESTARTS   AGE
fold-0   {ready}     {status}   0          {age}
"""
DESCRIBED = """\
$ kubectl describe pod fold-0 -n lab
Name:             fold-0
Namespace:        lab
Status:           Pending
Containers:
  main:
    Image:      registry.lab/fold:4
    Limits:
      nvidia.com/gpu:  1
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  3s    default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.
"""  # noqa: E501
WAITING = POD.format(ready="0/1", status="Pending", age="3s") + DESCRIBED
RUNNING = POD.format(ready="1/1", status="Running", age="4m")
NO_IMAGE = POD.format(ready="0/1", status="ImagePullBackOff", age="40s")
DONE = POD.format(ready="0/1", status="Completed", age="9m")
OFFERED = """\
$ kubectl describe node gpu-04 | grep nvidia.com/gpu
  nvidia.com/gpu:     8
  nvidia.com/gpu:     {}
"""
QUEUED = """\
$ kubectl get workloads -n lab
NAME     QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE
fold-b   lq      {}   5m
"""
UNREAD = """\
Conditions:
  Type           Status  Reason               Message
  ----           ------  ------               -------
  ScalingActive  False   FailedGetPodsMetric  the HPA was unable to compute the replica count: unable to get metric queue_depth: unable to fetch metrics from custom metrics API: the server could not find the metric queue_depth for pods
"""  # noqa: E501
SCALED = "HPA chat scaled to 3 replicas after 90s\n"


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (WAITING, RUNNING, "?gpu-capacity-exhausted"),
        (NO_IMAGE, DONE, "image-pull-failed"),
        (OFFERED.format(0), OFFERED.format(8), "device-unhealthy"),
        (QUEUED.format("                       "), QUEUED.format("cq            True     "), "kueue-not-admitted"),
        (UNREAD, SCALED, "hpa-metric-unavailable"),
    ],
    ids=["a pod waits", "an image is missing", "GPUs are lost", "a workload waits", "a metric is missing"],
)
def test_what_is_over_is_no_alarm_and_what_came_last_is(before: str, after: str, cause: str, tmp_path: Path) -> None:
    for text, first in ((before, cause), (before + after, ""), (after + before, cause)):
        judge(diagnosed(tmp_path, text), first)
