"""The forms of kubectl's output that people paste: describe, tables, events, objects; and how a text is cut into them."""

from __future__ import annotations

import contextlib
import itertools
import textwrap
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.intake import hints, recognise
from gpudoctor.intake.forms import reader
from gpudoctor.intake.split import clean, shown_command, split
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import messages
from gpudoctor.tools.kubectl import ages, describe, events, get, manifests
from gpudoctor.tools.parser import ParseError

NOBODY = Subject(kind="cluster")
KNOWN = [
    ("no_runtime_handler", r'no runtime for "([^"]+)" is configured'),
    ("gang_members_missing", r"tasks in gang unschedulable"),
    ("hpa_metric_not_read", r"unable to get metric"),
    ("runtime_network_not_ready", r"cni plugin not initialized"),
]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    made = messages.compile_scanner(KNOWN)
    monkeypatch.setattr(messages, "scanner", lambda: made)


def output(text: str) -> Output:
    return Output(command=Command(()), pages=(textwrap.dedent(text).encode(),), source="a.txt")


def described(text: str, about: Subject = NOBODY) -> Any:
    return describe.describe(output(text), about)


def tabled(text: str, about: Subject = NOBODY) -> Any:
    return get.tables(output(text), about)


def names(facts: Facts, kind: str) -> list[str]:
    return [getattr(fact, "name", "") or getattr(fact, "pod", "") for fact in facts.get(kind, [])]


POD = """\
Name:                llm-worker-0
Namespace:           research
Runtime Class Name:  nvidia
Node:                rack7-gpu3/10.1.2.3
Start Time:          Sun, 01 Mar 2026 11:00:00 +0100
Labels:              app=llm
                     kueue.x-k8s.io/queue-name=night
Annotations:         note: Exit Code: 5
Status:              Pending
IP:
Controlled By:       Job/llm-worker
Init Containers:
  fetch:
    Image:          registry.example/fetch:1
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
    Ready:          True
    Restart Count:  0
Containers:
  trainer:
    Image:         registry.example/llm:2
    Args:
      --config
      /etc/llm.yaml
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       StartError
      Message:      failed to create containerd task: first line
second line: no runtime for "nvidia" is configured
      Exit Code:    128
    Ready:          False
    Restart Count:  7
    Limits:
      memory:          64Gi
      nvidia.com/gpu:  2
    Requests:
      cpu:             4
    Environment:
      NVIDIA_VISIBLE_DEVICES:  void
      MODE:                    Reason: none
    Mounts:
      /data from data (rw)
Conditions:
  Type              Status
  Initialized       True
  Ready             False
  PodScheduled      True
Node-Selectors:              disk=fast
Tolerations:                 nvidia.com/gpu=present:NoSchedule
                             node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
Events:
  Type     Reason   Age                  From     Message
  ----     ------   ----                 ----     -------
  Warning  BackOff  2m (x30 over 62m)    kubelet  Back-off restarting failed container trainer in pod llm-worker-0
"""


def test_a_whole_described_pod() -> None:
    facts = described(POD)
    (pod,) = facts["pods"]
    assert (pod.namespace, pod.pod, pod.node, pod.phase, pod.status) == (
        "research",
        "llm-worker-0",
        "rack7-gpu3",
        "Pending",
        "CrashLoopBackOff",
    )
    assert (pod.workload, pod.gpus, pod.runtime_class, pod.queue_name) == ("Job/llm-worker", 2, "nvidia", "night")
    assert pod.node_selector == {"disk": "fast"}
    assert [(t.key, t.operator, t.value, t.effect) for t in pod.tolerations] == [
        ("nvidia.com/gpu", "Equal", "present", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    ]
    assert pod.requests["cpu"] == 4000
    assert pod.age == 62 * 60
    assert "node_affinity" in pod.gaps
    assert "gpus" not in pod.gaps
    fetch, trainer = facts["containers"]
    assert (fetch.container, fetch.kind, fetch.state, fetch.first_not_ready) == ("fetch", "init", "terminated", False)
    assert (trainer.container, trainer.state, trainer.reason, trainer.last_reason, trainer.last_exit_code) == (
        "trainer",
        "waiting",
        "CrashLoopBackOff",
        "StartError",
        128,
    )
    assert (trainer.restarts, trainer.gpus, trainer.visible_devices, trainer.first_not_ready) == (7, 2, "void", True)
    assert trainer.last_message.endswith('no runtime for "nvidia" is configured')
    (event,) = facts["events"]
    assert (event.pod, event.namespace, event.reason, event.count, event.age, event.component) == (
        "llm-worker-0",
        "research",
        "BackOff",
        30,
        120,
        "kubelet",
    )
    (message,) = facts["messages"]
    assert (message.name, message.detail, message.source, message.container) == ("no_runtime_handler", "nvidia", "status", "trainer")


def test_a_described_pod_that_was_wrapped_and_lost_its_indentation() -> None:
    facts = described("\n".join(line.strip() for line in POD.split("\n")))
    (pod,) = facts["pods"]
    assert (pod.pod, pod.status, pod.gpus) == ("llm-worker-0", "CrashLoopBackOff", 2)
    assert [c.container for c in facts["containers"]] == ["fetch", "trainer"]
    assert names(facts, "messages") == ["no_runtime_handler"]


def test_a_piece_of_a_container_without_any_name() -> None:
    facts = described(
        """\
            Image:   registry.example/llm:2
            State:   Waiting
              Reason:  CrashLoopBackOff
            Last State:  Terminated
              Reason:    OOMKilled
              Exit Code: 137
            Restart Count: 15
            Limits:
              memory: 358Mi
        """
    )
    (container,) = facts["containers"]
    assert (container.pod, container.container, container.last_reason, container.last_exit_code) == ("", "", "OOMKilled", 137)
    assert container.memory_limit == 358 * 1024**2
    (pod,) = facts["pods"]
    assert (pod.pod, pod.namespace, pod.status) == ("", "", "CrashLoopBackOff")
    assert "unnamed" not in str(facts)
    assert "node" in pod.gaps


def test_two_columns_pasted_side_by_side_and_reasons_without_a_state() -> None:
    facts = described(
        """\
        Containers:
          agent:
           Reason:       CrashLoopBackOff                       Last State
           Reason:       StartError                             Message:
        hook: no runtime for "nvidia" is configured
        """
    )
    (container,) = facts["containers"]
    assert (container.reason, container.last_reason) == ("CrashLoopBackOff", "StartError")
    assert names(facts, "messages") == ["no_runtime_handler"]


def test_a_pending_pod_gets_the_schedulers_words_of_its_newest_event() -> None:
    facts = described(
        """\
        Name:         big-0
        Namespace:    ml
        Node:         <none>
        Status:       Pending
        Containers:
          main:
            Image:    i
            Limits:
              nvidia.com/gpu:  8
        Node-Selectors:  <none>
        Events:
          Type     Reason            Age                 From               Message
          ----     ------            ----                ----               -------
          Warning  FailedScheduling  9m (x3 over 2d1h)   default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.
        """
    )
    (pod,) = facts["pods"]
    assert (pod.scheduled, pod.schedule_reason, pod.age) == (False, "Unschedulable", 2 * 86400 + 3600)
    assert pod.schedule_message.startswith("0/3 nodes")
    (reason,) = facts["schedule_reasons"]
    assert (reason.reason, reason.resource, reason.count, reason.pod, reason.origin.line) == (
        "insufficient",
        "nvidia.com/gpu",
        3,
        "big-0",
        14,
    )


def test_a_pod_that_is_going_away() -> None:
    (pod,) = described("Name: a\nNamespace: b\nStatus:  Terminating (lasts 3m)\nContainers:\n  c:\n    Image: i\n    Ready: True\n")["pods"]
    assert (pod.deleting, pod.status) == (True, "Terminating")


NODE = """\
Name:               rack7-gpu3
Roles:              worker
Labels:             nvidia.com/gpu.count=8
                    nvidia.com/gpu.present=true
CreationTimestamp:  Sun, 01 Feb 2026 11:00:00 +0000
Taints:             nvidia.com/gpu=present:NoSchedule
                    node.kubernetes.io/unschedulable:NoSchedule
Unschedulable:      true
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason              Message
  ----             ------  -----------------                 ------------------                ------              -------
  MemoryPressure   False   Sun, 01 Mar 2026 11:58:00 +0000   Sun, 01 Feb 2026 11:00:00 +0000   KubeletEnough       kubelet has enough
  DiskPressure     True    Sun, 01 Mar 2026 11:58:00 +0000   Sun, 01 Feb 2026 11:00:00 +0000   KubeletPressure     disk is full
  Ready            False   Sun, 01 Mar 2026 11:58:00 +0000   Sun, 01 Mar 2026 11:00:00 +0000   NotReady           cni plugin not initialized
Addresses:
  InternalIP:  10.1.2.3
  Hostname:    rack7-gpu3
Capacity:
  cpu:             64
  nvidia.com/gpu:  8
Allocatable:
  cpu:             64
  nvidia.com/gpu:  7
System Info:
  Kernel Version:             6.8.0-31-generic
  Container Runtime Version:  containerd://1.7.2
  Kubelet Version:            v1.31.2
Non-terminated Pods:          (12 in total)
  Namespace  Name   CPU Requests  CPU Limits  Memory Requests  Memory Limits  Age
  ---------  ----   ------------  ----------  ---------------  -------------  ---
  ml         llm-0  4 (6%)        8 (12%)     64Gi (10%)       64Gi (10%)     5d
Allocated resources:
  (Total limits may be over 100 percent, i.e., overcommitted.)
  Resource           Requests      Limits
  --------           --------      ------
  cpu                3920m (6%)    8 (12%)
  nvidia.com/gpu     7             7
Events:              <none>
"""


def test_a_whole_described_node() -> None:
    facts = described(NODE)
    (node,) = facts["nodes"]
    assert (node.node, node.ready, node.unschedulable, node.pressure) == ("rack7-gpu3", False, True, ["DiskPressure"])
    assert (node.gpus_capacity, node.gpus_allocatable, node.gpus_expected) == (8, 7, 8)
    assert node.taint_keys == ["nvidia.com/gpu", "node.kubernetes.io/unschedulable"]
    assert node.taints[0].value == "present"
    assert (node.kubelet_version, node.runtime_version) == ("v1.31.2", "containerd://1.7.2")
    (usage,) = facts["node_usage"]
    assert (usage.node, usage.pods, usage.requested) == ("rack7-gpu3", 12, {"cpu": 3920, "nvidia.com/gpu": 7})
    assert [(m.name, m.node) for m in facts["messages"]] == [("runtime_network_not_ready", "rack7-gpu3")]
    assert not node.gaps.keys() & {"capacity", "allocatable", "taints", "labels"}


def test_only_the_capacity_of_a_node_proves_no_lost_gpu() -> None:
    facts = described("Capacity:\n  nvidia.com/gpu:  8\n  pods: 110\n", Subject(kind="node", node="rack7-gpu3"))
    (node,) = facts["nodes"]
    assert (node.node, node.gpus_capacity, node.gpus_allocatable, node.ready) == ("rack7-gpu3", 8, 8, None)
    assert {"taints", "labels", "ready"} <= node.gaps.keys()


def test_the_bare_rows_of_allocated_resources() -> None:
    text = "nvidia.com/gpu         0           0\nnvidia.com/gpu.shared  7           7\n"
    assert describe.score(text.split("\n")) > 0
    (usage,) = described(text)["node_usage"]
    assert usage.requested == {"nvidia.com/gpu": 0, "nvidia.com/gpu.shared": 7}


def test_another_objects_conditions_and_events() -> None:
    facts = described(
        """\
        Name:       web
        Namespace:  prod
        Reference:  Deployment/web
        Conditions:
          Type           Status  Reason               Message
          ScalingActive  False   FailedGetPodsMetric  the HPA was unable to get metric queue_length
        Events:
          Type     Reason               Age               From                       Message
          Warning  FailedGetPodsMetric  48s (x21 over 5m) horizontal-pod-autoscaler  unable to get metric queue_length: no such metric
        """
    )
    assert sorted((m.source, m.count) for m in facts["messages"]) == [("event", 21), ("status", 1)]
    assert "pods" not in facts


DAEMONSET = """\
Name:           nvidia-device-plugin-daemonset
Namespace:      gpu-operator
Selector:       app=nvidia-device-plugin-daemonset
Node-Selector:  nvidia.com/gpu.deploy.device-plugin=true
Desired Number of Nodes Scheduled: 2
Current Number of Nodes Scheduled: 2
Number of Nodes Scheduled with Up-to-date Pods: 2
Number of Nodes Scheduled with Available Pods: 1
Number of Nodes Misscheduled: 0
Pods Status:  2 Running / 0 Waiting / 0 Succeeded / 0 Failed
Pod Template:
  Labels:           app=nvidia-device-plugin-daemonset
  Containers:
   nvidia-device-plugin:
    Image:      registry.example/plugin:1
  Node-Selectors:   disk=fast
  Tolerations:      nvidia.com/gpu:NoSchedule op=Exists
Events:
  Type     Reason        Age   From                  Message
  Warning  FailedCreate  81s   daemonset-controller  Error creating: forbidden
"""


def test_a_described_controller_is_no_pod() -> None:
    facts = described(DAEMONSET)
    assert not facts.get("pods")
    (workload,) = facts["workloads"]
    assert (workload.workload, workload.namespace, workload.component) == (
        "DaemonSet/nvidia-device-plugin-daemonset",
        "gpu-operator",
        "device-plugin",
    )
    assert (workload.desired, workload.current, workload.ready, workload.updated) == (2, 2, 1, 2)
    assert workload.node_selector == {"disk": "fast"}
    assert [(t.key, t.effect) for t in workload.tolerations] == [("nvidia.com/gpu", "NoSchedule")]
    (event,) = facts["events"]
    assert (event.workload, event.namespace, event.component) == (workload.workload, "gpu-operator", "daemonset-controller")


def test_described_jobs_and_deployments() -> None:
    job = described("Name: train\nNamespace: ml\nParallelism: 4\nSuspend: true\nPods Statuses: 1 Active (0 Ready) / 2 Failed\n")
    (workload,) = job["workloads"]
    assert (workload.workload, workload.suspended, workload.current, workload.ready) == ("Job/train", True, 3, 0)
    web = described(
        "Name: web\nNamespace: ml\nReplicas: 3 desired | 3 updated | 3 total | 2 available | 1 unavailable\nStrategyType: RollingUpdate\n"
        "Pod Template:\n  Containers:\n   a:\n    Limits:\n      nvidia.com/gpu: 2\n"
    )
    (deployment,) = web["workloads"]
    assert (deployment.workload, deployment.desired, deployment.ready, deployment.updated, deployment.gpus) == (
        "Deployment/web",
        3,
        2,
        3,
        2,
    )


def test_a_described_quota() -> None:
    facts = described(
        "Name:  team-a\nNamespace:  ml\nResource                 Used  Hard\n--------  ----  ----\nrequests.nvidia.com/gpu  8     8\n"
    )
    (quota,) = facts["quotas"]
    assert (quota.namespace, quota.quota, quota.resource, quota.used, quota.hard, quota.origin.line) == (
        "ml",
        "team-a",
        "requests.nvidia.com/gpu",
        8,
        8,
        5,
    )


def test_several_objects_after_each_other_keep_their_own_names_and_lines() -> None:
    facts = described(POD + "\n\n" + POD.replace("llm-worker-0", "llm-worker-1"))
    assert names(facts, "pods") == ["llm-worker-0", "llm-worker-1"]
    first, second = facts["events"]
    assert second.origin.line == first.origin.line + len(POD.split("\n")) + 1


def test_other_tools_keys_are_no_described_pod() -> None:
    assert describe.score(["CA 'mlx5_0'", "\tPort 1:", "\t\tState: Active", "\t\tRate: 400"]) == 0
    assert describe.score(["    Fabric", "        State                             : Completed"]) == 0


PODS = """\
NAME                READY   STATUS                  RESTARTS       AGE    IP          NODE         NOMINATED NODE   READINESS GATES
llm-worker-0        0/1     Pending                 0              65m    <none>      <none>       <none>           <none>
driver-x            0/1     Init:CrashLoopBackOff   12 (68s ago)   2d3h   10.0.0.7    rack7-gpu3   <none>           <none>
nvidia-device-plugin-daemonset-4zk2x   1/1   Running   0   3h   fd00::7   rack7-gpu3   <none>   <none>
done-1              0/1     Completed               0              5d
"""


def test_pods_with_wide_columns() -> None:
    pods = tabled(PODS, Subject(kind="cluster", namespace="ml"))["pods"]
    assert [(p.pod, p.status, p.phase, p.restarts, p.age, p.node) for p in pods] == [
        ("llm-worker-0", "Pending", "Pending", 0, 3900, ""),
        ("driver-x", "Init:CrashLoopBackOff", "Pending", 12, 183600, "rack7-gpu3"),
        ("nvidia-device-plugin-daemonset-4zk2x", "Running", "Running", 0, 10800, "rack7-gpu3"),
        ("done-1", "Completed", "Succeeded", 0, 432000, ""),
    ]
    assert pods[2].component == "device-plugin"
    assert {p.namespace for p in pods} == {"ml"}
    assert "gpus" in pods[0].gaps
    assert "node" not in pods[0].gaps
    assert "node" in pods[3].gaps
    assert pods[1].origin.line == 3


def test_pods_without_a_header_with_a_namespace_and_with_a_prefix() -> None:
    row = "kube-system   nvidia-gpu-device-plugin-small-cos-x   0/2   Init:0/2   0   16m"
    (one,) = tabled(row)["pods"]
    assert (one.namespace, one.status, one.component) == ("kube-system", "Init:0/2", "device-plugin")
    (two,) = tabled("pod/web-1 1/1 Running 0 5s")["pods"]
    assert (two.namespace, two.pod, two.ready) == ("", "web-1", True)


def test_nodes() -> None:
    nodes = tabled(
        """\
        NAME    STATUS                        ROLES           AGE   VERSION
        cp-1    Ready                         control-plane   40d   v1.31.2
        gpu-1   NotReady,SchedulingDisabled   <none>          19m   v1.31.2   10.0.0.1   <none>   Ubuntu 24.04   6.8.0   containerd://1.7.2
        """
    )["nodes"]
    assert [(n.node, n.ready, n.unschedulable, n.runtime_version) for n in nodes] == [
        ("cp-1", True, False, ""),
        ("gpu-1", False, True, "containerd://1.7.2"),
    ]
    assert {"capacity", "allocatable", "gpus_capacity", "taints"} <= nodes[0].gaps.keys()


def test_label_columns_of_nodes() -> None:
    text = """\
NAME    STATUS                     ROLES    AGE   VERSION   GPU-DRIVER-UPGRADE-STATE   MIG.CONFIG
gpu-1   Ready                      <none>   40d   v1.29.4   upgrade-done               all-disabled
gpu-2   Ready,SchedulingDisabled   <none>   40d   v1.29.4   upgrade-failed
"""
    state, layout = "nvidia.com/gpu-driver-upgrade-state", "nvidia.com/mig.config"
    assert [node.labels for node in tabled(text)["nodes"]] == [
        {state: "upgrade-done", layout: "all-disabled"},
        {state: "upgrade-failed"},
    ]
    assert all("labels" not in node.gaps and "taints" in node.gaps for node in tabled(text)["nodes"])


def test_tables_of_controllers_claims_and_quotas_in_one_text() -> None:
    facts = tabled(
        """\
        NAME                      DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                     AGE
        nvidia-driver-daemonset   4         4         3       3            3           nvidia.com/gpu.deploy.driver=true   14d

        NAMESPACE   NAME             READY   UP-TO-DATE   AVAILABLE   AGE
        infra       deployment.apps/web   1/2     2            1           4h

        NAME     STATUS      COMPLETIONS   DURATION   AGE
        train    Suspended   0/3                      19s

        NAME   READY   AGE
        etcd   2/3     5d

        NAME   STATUS    VOLUME   CAPACITY   ACCESS MODES   STORAGECLASS   AGE
        data   Pending                                      fast           5m

        NAME    AGE   REQUEST                                            LIMIT
        quota   3d    requests.cpu: 1500m/10, requests.nvidia.com/gpu: 8/8

        NAME        QUEUE   RESERVED IN   ADMITTED   FINISHED   AGE
        job-a-1     night   gpu-queue     True                  14s
        job-b-2     night                                       8s
        """
    )
    got = {w.workload: (w.namespace, w.desired, w.ready, w.suspended, w.conditions) for w in facts["workloads"]}
    assert got == {
        "DaemonSet/nvidia-driver-daemonset": ("", 4, 3, False, {}),
        "Deployment/web": ("infra", 2, 1, False, {}),
        "Job/train": ("", 3, 0, True, {}),
        "StatefulSet/etcd": ("", 3, 2, False, {}),
        "Workload/job-a-1": ("", None, None, False, dict.fromkeys(("QuotaReserved=True", "Admitted=True", "Finished=False"), "")),
        "Workload/job-b-2": ("", None, None, False, dict.fromkeys(("QuotaReserved=False", "Admitted=False", "Finished=False"), "")),
    }
    driver = facts["workloads"][0]
    assert (driver.updated, driver.component, driver.node_selector) == (3, "driver", {"nvidia.com/gpu.deploy.driver": "true"})
    (claim,) = facts["claims"]
    assert (claim.claim, claim.phase, claim.volume, claim.storage_class) == ("data", "Pending", "", "fast")
    assert [(q.resource, q.used, q.hard) for q in facts["quotas"]] == [("requests.cpu", 1500, 10000), ("requests.nvidia.com/gpu", 8, 8)]


def test_a_table_that_is_not_read_gives_nothing() -> None:
    assert not any(
        tabled(
            "NAME   TYPE        CLUSTER-IP   EXTERNAL-IP   PORT(S)   AGE\nweb    ClusterIP   10.0.0.1     <none>        80/TCP    7m\n"
        ).values()
    )


@pytest.mark.parametrize(
    ("line", "reason", "count", "age", "pod", "component"),
    [
        ("81s   Warning   BackOff   pod/llm-0   Back-off restarting", "BackOff", 1, 81, "llm-0", ""),
        ("ml   2m (x5 over 9m)   Warning   Failed   pod/llm-0   Error: x", "Failed", 5, 120, "llm-0", ""),
        ("  Warning  FailedMount  3s (x2 over 1m)  kubelet, gpu-1  MountVolume failed", "FailedMount", 2, 3, "", "kubelet"),
        (
            "  FailedScheduling   2m21s (x42 over 60m)  default-scheduler  0/1 nodes are available: x",
            "FailedScheduling",
            42,
            141,
            "",
            "default-scheduler",
        ),
        (
            "  1h  5s  12  default-scheduler    Warning  FailedScheduling  0/1 nodes are available",
            "FailedScheduling",
            12,
            5,
            "",
            "default-scheduler",
        ),
        (
            "Warning FailedScheduling <unknown> default-scheduler 0/1 nodes are available",
            "FailedScheduling",
            1,
            None,
            "",
            "default-scheduler",
        ),
        ("Warning   FailedCreate   job-controller   Error creating: denied", "FailedCreate", 1, None, "", "job-controller"),
    ],
)
def test_event_lines_of_every_form(line: str, reason: str, count: int, age: float | None, pod: str, component: str) -> None:
    (event,) = events.events([line], "a.txt", NOBODY)["events"]
    assert (event.reason, event.count, event.age, event.pod, event.component) == (reason, count, age, pod, component)  # type: ignore[attr-defined]


def test_a_wrapped_event_and_the_next_one() -> None:
    lines = [
        "LAST SEEN   TYPE      REASON      OBJECT        MESSAGE",
        "9s          Warning   FailedRun   pod/llm-0     failed to get sandbox runtime: no runtime for",
        '"nvidia" is configured',
        "8s          Normal    Pulled      daemonset/x   done",
    ]
    facts: Any = events.events(lines, "a.txt", NOBODY)
    assert facts["events"][0].message.endswith('no runtime for "nvidia" is configured')
    assert facts["events"][1].workload == "DaemonSet/x"
    (message,) = facts["messages"]
    assert (message.name, message.pod, message.age) == ("no_runtime_handler", "llm-0", 9)


def test_the_schedulers_words_alone_and_wrapped() -> None:
    lines = [
        "0/4 nodes are available: 1 node(s) had untolerated taint",
        "{nvidia.com/gpu: present}, 3 Insufficient nvidia.com/gpu.",
        "preemption: 0/4 nodes",
    ]
    reasons: Any = events.scheduler_words([*lines, "", "unrelated"], "a.txt", NOBODY)["schedule_reasons"]
    assert [(r.reason, r.key, r.resource, r.count, r.total) for r in reasons] == [
        ("taint", "nvidia.com/gpu", "", 1, 4),
        ("insufficient", "", "nvidia.com/gpu", 3, 4),
    ]


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata:
  name: cuda-test
  namespace: ml
spec:
  runtimeClassName: nvidia
  containers:
    - name: main
      image: registry.example/cuda:12
      resources:
        limits:
          nvidia.com/gpu: 1
"""


def test_a_manifest_and_other_documents() -> None:
    facts: Any = manifests.objects(output(MANIFEST), NOBODY)
    (pod,) = facts["pods"]
    assert (pod.namespace, pod.pod, pod.phase, pod.gpus, pod.runtime_class) == ("ml", "cuda-test", "", 1, "nvidia")
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n  suspend: true\n  template: {spec: {containers: []}}\n"
    (workload,) = manifests.objects(output(job), NOBODY)["workloads"]
    assert (workload.workload, workload.suspended) == ("Job/train", True)  # type: ignore[attr-defined]
    group = "status:\n  conditions:\n  - message: '1/0 tasks in gang unschedulable: x'\n    type: Unschedulable\n"
    assert names(manifests.objects(output(group), NOBODY), "messages") == ["gang_members_missing"]


def test_a_list_in_json_is_read_as_it_is() -> None:
    items = '{"kind": "Pod", "metadata": {"name": "a"}}, {"kind": "Node", "metadata": {"name": "n"}}, 7'
    text = f'{{"kind": "List", "apiVersion": "v1", "items": [{items}]}}'
    facts: Any = manifests.objects(output(text), NOBODY)
    assert (facts["pods"][0].pod, facts["nodes"][0].node) == ("a", "n")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Pod\nmetadata: {name: a\n",
        "kind: Pod\nmetadata:\n\tname: a\n",
        '{"kind": "Pod", "metadata": ',
        "kind: x\na: &a [x,x,x]\n" + "".join(f"{b}: &{b} [*{a},*{a},*{a},*{a}]\n" for a, b in itertools.pairwise("abcdefgh")),
        "kind: &a [*a]\nmetadata: x\n",
        "kind: x\nmetadata: " + "[" * 50_000,
        "kind: x\nmetadata: " + "{a: " * 50_000,
        '{"kind": "Pod", "metadata": ' + "[" * 100_000,
        "kind: x\n" + "- " * 20_000,
        "kind: x\nmetadata: 9999999999999999999999999999999999999999\n",
        "kind: x\nmetadata: !!python/object/apply:os.system [id]\n",
        "kind: x\n? {a: b}\n: c\n",
        "kind: Pod\nmetadata: .nan\n",
        "kind: x\nmetadata: 2026-13-45\n",
    ],
)
def test_hostile_objects_are_refused_in_words(text: str) -> None:
    facts: Facts = {}
    said = "a.txt"
    try:
        facts = manifests.objects(output(text), NOBODY)
    except ParseError as error:
        said = str(error)
    assert "a.txt" in said
    assert not facts.get("pods")


def test_labels_alone() -> None:
    text = '"nvidia.com/gpu.count": "7",\n"nvidia.com/mig.strategy": "single",\n"nvidia.com/gpu.product": "A100",\n'
    assert manifests.label_score(text.split("\n")) > 0
    (node,) = manifests.labels(output(text), NOBODY)["nodes"]
    assert (node.node, node.gpus_expected, node.gpu_present) == ("", 7, True)  # type: ignore[attr-defined]
    assert "allocatable" in node.gaps


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("$ kubectl get pods -n ml", "kubectl get pods -n ml"),
        ("# dmesg | grep -i xid", "dmesg | grep -i xid"),
        ("ops@rack7-gpu3:~$ nvidia-smi -L", "nvidia-smi -L"),
        ("[root@rack7-gpu3 ~]# dmesg -T", "dmesg -T"),
        ("root@llm-0:/workspace# nvidia-smi", "nvidia-smi"),
        ("(base) me@box:~$ ", ""),
        ("kubectl exec llm-0 -- nvidia-smi", "kubectl exec llm-0 -- nvidia-smi"),
        ("==> driver.log <==", "cat driver.log"),
        ("# A heading", None),
        ("#SBATCH --gres=gpu:8", None),
        ("- name: x", None),
        ("someone@example.com wrote this", None),
        ("$5 is the price", None),
    ],
)
def test_prompts(line: str, command: str | None) -> None:
    assert shown_command(line) == command


def test_a_text_is_cut_at_prompts_documents_and_fences() -> None:
    text = "intro\n```\n$ kubectl get pods\nrow\n```\nprose\n$ dmesg\n[1.0] x\nkind: A\n---\nkind: B\n"
    assert [(s.line, s.text.strip(), s.command) for s in split("a.txt", text)] == [
        (1, "intro", ""),
        (4, "row", "kubectl get pods"),
        (6, "prose", ""),
        (8, "[1.0] x\nkind: A", "dmesg"),
        (11, "kind: B", "dmesg"),
    ]


def test_lines_end_alike_and_a_bar_that_writes_over_itself_stays() -> None:
    assert clean(b"a\r\n 10%\r 20%\r\n") == "a\n 10%\r 20%\n"


def test_json_is_not_cut_and_escapes_are_dropped() -> None:
    assert len(split("a", '{"data": {"x": "1"},\n"script": "\n$ kubectl get pods\n---\n"}')) == 1
    assert clean(b"\x1b[31mred\x1b[0m \xff\xc2\xa0x") == "red \ufffd x"


@pytest.mark.parametrize(
    ("command", "name", "verb", "inside"),
    [
        ("kubectl describe pod llm-0 -n ml", "ml/llm-0", "describe", ""),
        ("kubectl --context prod -n ml logs llm-0 -c main --tail=5", "ml/llm-0", "logs", ""),
        ("kubectl logs pod/llm-0", "llm-0", "logs", ""),
        ("sudo kubectl describe node/rack7-gpu3", "rack7-gpu3", "describe", ""),
        ("oc exec -n ml llm-0 -- nvidia-smi -q | head", "ml/llm-0", "exec", "pod"),
        ("kubectl exec '--evil", "", "exec", ""),
        ("kubectl describe pod $(id)", "", "describe", ""),
        ("nvidia-smi -L", "", "nvidia-smi", ""),
    ],
)
def test_the_names_in_a_command(command: str, name: str, verb: str, inside: str) -> None:
    hint = hints.of_command(command)
    assert (hint.about.name, hint.verb, hint.inside) == (name, verb, inside)


def test_the_names_in_a_files_name() -> None:
    assert hints.of_section("kubectl-logs-nvidia-device-plugin.txt", "").about.component == "device-plugin"
    assert hints.of_section("x/nvidia-smi-on-node.txt", "").inside == "node"
    assert hints.of_section("nvidia-smi-in-pod.txt", "$ kubectl get pods").inside in ("", "pod")
    assert hints.of_section("a.txt", "kubectl logs -n gpu-operator nvidia-driver-daemonset-x").about.component == "driver"


@given(st.integers(0, 9), st.integers(0, 23), st.integers(0, 59))
def test_an_age_is_the_sum_of_its_parts(days: int, hours: int, minutes: int) -> None:
    assert ages.seconds(f"{days}d{hours}h{minutes}m") == days * 86400 + hours * 3600 + minutes * 60


@settings(max_examples=200)
@given(
    st.text(max_size=300),
    st.sampled_from(["", "Name: x\n", "Containers:\n  a:\n", "NAME READY STATUS RESTARTS AGE\n", "Events:\n", "kind: Pod\nmetadata:\n"]),
)
def test_no_text_breaks_a_recogniser_or_what_it_chooses(text: str, head: str) -> None:
    for section in split("a.txt", head + text):
        for chosen in recognise.recognise(section.text, hints.of_section("a.txt", section.command)):
            with contextlib.suppress(ParseError):
                reader(chosen)(output(section.text), NOBODY)


@pytest.mark.parametrize(
    "line",
    [
        "Name: " * 200_000,
        "a" * 1_000_000,
        "0/1 nodes are available: " * 50_000,
        "Warning  " * 120_000,
        "x=y:" * 250_000,
        "1d" * 500_000,
        "- " * 3000,
        "{" * 1_000_000,
    ],
)
def test_a_line_of_a_megabyte_costs_little(line: str) -> None:
    for text in (line, f"Containers:\n  a:\n    Message: {line}\nTolerations: {line}\nEvents:\n  Warning  A  5s  b  {line}\n"):
        for chosen in recognise.recognise(text, hints.Hint()):
            with contextlib.suppress(ParseError):
                reader(chosen)(output(text), NOBODY)


def test_a_pods_claim_for_a_device_that_waits_for_long_is_what_the_scheduler_says() -> None:
    facts = tabled("""\
        NAMESPACE   NAME                STATE                AGE
        research    llm-0-gpu-8kwq2     pending              31m
        research    llm-1-gpu-v2x9c     pending              9s
        research    llm-2-gpu-mm4td     allocated,reserved   31m
        research    spare-for-tests     pending              31m
    """)
    assert [(one.reason, one.namespace, one.origin.line) for one in facts["schedule_reasons"]] == [("resource_claim", "research", 2)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("NAME           STATUS   AGE\ncluster-policy   ready   2026-03-01T10:11:12Z\n", True),
        ("NAME           STATUS     AGE\ncluster-policy   notReady   2026-03-01T10:11:12Z\n", False),
        ("NAME   NODE    DRIVER           POOL    AGE\ngpu-1-x2k9p   gpu-1   gpu.nvidia.com   gpu-1   4d\n", True),
    ],
)
def test_an_operator_that_is_ready_and_slices_are_understood(text: str, read: bool) -> None:
    assert (get.score(text.split("\n")) > 0) is read
