"""What later events have overtaken, and the whole way from pasted text to a report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.derive.overtaken import judge
from gpudoctor.engine.diagnose import analyze
from gpudoctor.engine.store import Store
from gpudoctor.facts.kubernetes import Event
from gpudoctor.facts.slurm import SlurmNode
from gpudoctor.library import index
from gpudoctor.report import Report

REFUSED = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found."
RUNS = """\
Name:         train-0
Namespace:    ml
Node:         gpu-2/192.0.2.2
Status:       Running
Containers:
  main:
    State:          Running
    Ready:          True
    Restart Count:  0
Events:
  Type     Reason            Age   From               Message
"""
NODE = """\
Name:               gpu-1
Taints:             <none>
Unschedulable:      false
Capacity:
  nvidia.com/gpu:     8
Allocatable:
  nvidia.com/gpu:     8
Allocated resources:
  Resource           Requests     Limits
  nvidia.com/gpu     {used}            {used}
"""
WAITS = """\
Name:         train-0
Namespace:    ml
Node:         <none>
Status:       Pending
Containers:
  main:
    Image:    registry.example/trainer:1
    Limits:
      nvidia.com/gpu:  {gpus}
Events:
  Warning  FailedScheduling  2m  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
"""


def report(folder: Path, **texts: str) -> Report:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    read = gather([str(folder)])
    return analyze(index.library(), read.facts, read.inputs, read.now)


def causes(found: Report) -> list[str]:
    return [finding.cause for finding in found.findings]


HISTORY = {
    "placed since": RUNS + f"  Warning  FailedScheduling  22m  scheduler  {REFUSED}\n  Normal  Scheduled  19m  scheduler  ok",
    "a table of events": (f"14m  Warning  FailedScheduling  pod/train-0  {REFUSED}\n12m  Normal  Scheduled  pod/train-0  assigned"),
    "a machine is ordered": (
        f"20s  Warning  FailedScheduling  pod/train-0  {REFUSED}\n19s  Normal  Nominated  pod/train-0  Pod should schedule on: nodeclaim/x"
    ),
    "ready by now": RUNS + '  Warning  FailedCreatePodSandBox  9m  kubelet  no runtime for "nvidia" is configured',
    "mounted by now": RUNS
    + '  Warning  FailedMount  9m  kubelet  MountVolume.SetUp failed for volume "data" : mount failed: exit status 32',
}


@pytest.mark.parametrize("text", HISTORY.values(), ids=list(HISTORY))
def test_history_is_no_alarm(text: str, tmp_path: Path) -> None:
    assert causes(report(tmp_path, paste=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        f"1m  Warning  FailedScheduling  pod/train-0  {REFUSED}",
        f"12m  Normal  Scheduled  pod/train-0  ok\n1m  Warning  FailedScheduling  pod/train-0  {REFUSED}",  # a pod of the same name again
        f"2h  Normal  TriggeredScaleUp  pod/train-0  pod triggered scale-up: [x]\n1m  Warning  FailedScheduling  pod/train-0  {REFUSED}",
        f"1m  Warning  FailedScheduling  pod/train-0  {REFUSED}\n30s  Normal  Scheduled  pod/train-1  ok",  # of another pod
    ],
)
def test_what_still_holds_is_found(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, paste=text)
    assert causes(found) == []  # without a node the words don't tell GPUs in use from GPUs that nobody offers
    assert {one.cause for one in found.candidates} == {"gpu-capacity-exhausted", "device-plugin-not-running"}


@pytest.mark.parametrize(
    ("used", "gpus", "cause"), [(8, 4, "gpu-capacity-exhausted"), (0, 16, "request-exceeds-node-size")], ids=["in use", "too large"]
)
def test_described_pod_and_node_are_compared(used: int, gpus: int, cause: str, tmp_path: Path) -> None:
    """The measurement over pods and nodes reaches the checks also where another one is made over the same pods."""
    assert causes(report(tmp_path, pod=WAITS.format(gpus=gpus), node=NODE.format(used=used))) == [cause]


def test_columns_of_gpus_say_what_the_scheduler_does_not(tmp_path: Path) -> None:
    columns = "NAME     GPU\ngpu-1    <none>\n"
    alone = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found."
    assert causes(report(tmp_path, nodes=columns, words=alone)) == ["device-plugin-not-running"]


def test_text_below_a_table_is_read(tmp_path: Path) -> None:
    text = 'NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Pending   0          3m\nError: secret "hf-token" not found\n'
    assert causes(report(tmp_path, paste=text)) == ["secret-or-configmap-missing"]


def test_the_conditions_of_a_custom_resource_are_read(tmp_path: Path) -> None:
    text = (
        "Status:\n  Conditions:\n    Last Transition Time:  2026-03-01T10:00:00Z\n"
        "    Message:  3/4 tasks in gang unschedulable: pod group is not ready, 3 Pending, 4 minAvailable\n    Reason:  X\n"
    )
    assert causes(report(tmp_path, paste=text)) == ["gang-scheduling-wait"]


def test_what_slurms_log_says_of_a_node_is_over_once_its_state_is_shown() -> None:
    logged = SlurmNode(node="gpu-01", reason_kind="memory", out=True, logged=True)
    other = SlurmNode(node="gpu-02", reason_kind="memory", out=True, logged=True)
    for shown, left in (
        (SlurmNode(node="gpu-01", state="IDLE", out=False), [other]),
        (SlurmNode(node="gpu-01", state="IDLE", out=True, reason="Low RealMemory"), [other]),
        (SlurmNode(node="gpu-01", state="IDLE", out=True), [logged, other]),  # why it is out, only the log says
    ):
        store = Store()
        store.put(0, {"slurm_nodes": [logged, other]})
        store.put(1, {"slurm_nodes": [shown]})
        assert [one for one in store.records("slurm_nodes") if one.logged] == left  # type: ignore[attr-defined]


def test_many_events_of_no_pod_take_a_moment() -> None:
    events = [Event(reason=reason, age=float(age)) for age in range(50_000) for reason in ("FailedScheduling", "Scheduled")]
    began = time.monotonic()
    store = Store()
    store.put(0, {"events": [*events]})
    assert len(store.records("events")) == len(events)
    assert time.monotonic() - began < 5


@given(
    st.lists(
        st.builds(
            Event,
            reason=st.sampled_from(["FailedScheduling", "Scheduled", "Nominated", "Failed", ""]),
            age=st.none() | st.floats(allow_nan=True),
            pod=st.sampled_from(["", "a", "b"]),
        ),
        max_size=8,
    )
)
def test_no_age_breaks_it_and_events_stay(events: list[Event]) -> None:
    assert judge(events, ()).without([*events]) == events
