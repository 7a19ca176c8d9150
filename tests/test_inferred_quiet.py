# ruff: noqa: E501 - what is pasted has long lines
"""Outputs of clusters that are well and look otherwise, each beside its twin that is not: ends that later lines show, tests that want a
refusal, rules that only name a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.facts.kubernetes import Node, NodeUsage, Workload
from gpudoctor.tools.common.xid_line import retold_xid_of, xid_of
from tests.pasted import diagnosed, diagnosed_files, judge

WAITS = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 3 more needed"
TABLE = """\
NAME               QUEUE    RESERVED IN   ADMITTED   FINISHED   AGE
job-fold-1-77ac2   lq-bio   {quota}                         9m
Status: the job was {words} by Kueue
"""
LAUNCHER = """\
==> pods.txt <==
NAME                   READY   STATUS      RESTARTS   AGE
probe-launcher-x7k2d   0/1     Error       0          6m2s
probe-launcher-{last}
==> launcher-x7k2d.log <==
ssh: Could not resolve hostname probe-worker-0.probe.lab.svc: Name or service not known
"""
JOB = """\
Name:             fold-9
Namespace:        bio
Parallelism:      1
Completions:      1
Pods Statuses:    0 Active (0 Ready) / {done} Succeeded / {failed} Failed
Events:
  Type     Reason                Age    From            Message
  ----     ------                ----   ----            -------
"""
EXPORTER = """\
2025/03/04 08:00:01 INFO DCGM successfully initialized!
2025/03/04 08:00:01 INFO Not collecting DCP metrics: This request is serviced by a module of DCGM that is not currently loaded
{more}2025/03/04 08:00:02 INFO Kubernetes metrics collection enabled!
2025/03/04 08:00:02 INFO Starting webserver
"""
REFUSED = "0/4 nodes are available: 4 node(s) had untolerated taint {dedicated: bio}."
XID = "[  811.004211] NVRM: Xid (PCI:0000:41:00): 79, pid=0, name={}"
NODES = "NAME   STATUS     ROLES    AGE   VERSION\nw3     Ready      <none>   44d   v1.31.2\nw9     {}   <none>   44d   v1.31.2\n"
PICKED = """\
Name:               w3
  nvidia.com/gpu:     4
  nvidia.com/gpu:     {offered}
  nvidia.com/gpu     4            4
Name:               w9
  nvidia.com/gpu:     4
  nvidia.com/gpu:     4
  nvidia.com/gpu     0            0
"""
CLAIMED = """\
(autoscaler +12s) Adding 1 node(s) of type gpu.
(autoscaler +17s) Warning: The following resource request cannot be scheduled right now: {'GPU': 1.0}. This is likely due to all cluster resources being claimed by actors. Consider creating fewer actors or adding more nodes to this Ray cluster.
"""

# What was pasted → the first cause; "?cause" = a candidate only; "" = nothing, or only notes
TEXTS: dict[str, tuple[str, str]] = {
    "Kueue's table, and a sentence below it": ("", TABLE.format(quota="cq-bio        True", words="admitted")),
    "Kueue's table without a quota": ("kueue-not-admitted", TABLE.format(quota="             ", words="taken")),
    "Kueue's events without ages, let in": (
        "",
        f"Warning   Pending    job-fold-1-77ac2   {WAITS}\nNormal    Admitted   job-fold-1-77ac2   Admitted by ClusterQueue cq-bio, wait time since reservation was 0s\n",
    ),
    "Kueue's events without ages, another is let in": (
        "kueue-quota-wait",
        f"Warning   Pending    job-fold-1-77ac2   {WAITS}\nNormal    Admitted   job-fold-2-10b3f   Admitted by ClusterQueue cq-bio, wait time since reservation was 0s\n",
    ),
    "preempted, and let in again": (
        "",
        """\
LAST SEEN   TYPE     REASON          OBJECT                      MESSAGE
41m         Normal   Preempted       workload/job-fold-1-77ac2   Preempted to accommodate a workload (UID: 1c0f, JobUID: 88d1) due to prioritization in the ClusterQueue
12m         Normal   QuotaReserved   workload/job-fold-1-77ac2   Quota reserved in ClusterQueue cq-bio, wait time since queued was 1740s
""",
    ),
    "preempted": (
        "kueue-quota-wait",
        """\
LAST SEEN   TYPE     REASON          OBJECT                      MESSAGE
41m         Normal   Preempted       workload/job-fold-1-77ac2   Preempted to accommodate a workload (UID: 1c0f, JobUID: 88d1) due to prioritization in the ClusterQueue
""",
    ),
    "a gang that was placed since": (
        "",
        """\
LAST SEEN   TYPE     REASON      OBJECT             MESSAGE
31m         Normal   NotReady    podgroup/pg-fold   Job is not ready for scheduling. Waiting for 2 pods, currently 0 existing
30m         Normal   Scheduled   pod/fold-0         Successfully assigned pod bio/fold-0 to node w3 at node-pool default
""",
    ),
    "a gang, while another is placed": (
        "gang-scheduling-wait",
        """\
LAST SEEN   TYPE     REASON      OBJECT             MESSAGE
31m         Normal   NotReady    podgroup/pg-fold   Job is not ready for scheduling. Waiting for 2 pods, currently 0 existing
30m         Normal   Scheduled   pod/dock-0         Successfully assigned pod bio/dock-0 to node w3 at node-pool default
""",
    ),
    "Volcano's group that runs by now": (
        "",
        """\
Events:
  Type     Reason            Age   From                   Message
  ----     ------            ----  ----                   -------
  Warning  PodGroupPending   19m   vc-controller-manager  PodGroup bio:fold unschedule, reason: 3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable
  Normal   JobStatusUpdated  18m   vc-controller-manager  job status changed from Pending to Running
""",
    ),
    "the next launcher got through": ("", LAUNCHER.format(last="q9m4c   0/1     Completed   0          5m40s")),
    "the next launcher failed, too": ("dns-resolution-failure", LAUNCHER.format(last="q9m4c   0/1     Error       0          5m40s")),
    "a Job that is done": ("", JOB.format(done=1, failed=0)),
    "a Job that gave up": (
        "?program-exits-with-error",
        JOB.format(done=0, failed=3) + "  Warning  BackoffLimitExceeded  9m  job-controller  Job has reached the specified backoff limit\n",
    ),
    "a Job without a pod": ("pod-not-created", JOB.format(done=0, failed=0)),
    "kubeadm's own name is not in the DNS": ("", '\t[WARNING Hostname]: hostname "w3": lookup w3 on 127.0.0.53:53: server misbehaving\n'),
    "a registry is not in the DNS": ("dns-resolution-failure", "dial tcp: lookup registry.lab on 127.0.0.53:53: server misbehaving\n"),
    "no profiling on a card without it": ("", EXPORTER.format(more="")),
    "no profiling where it is wanted": (
        "dcgm-profiling-unsupported-gpu",
        EXPORTER.format(more="2025/03/04 08:00:01 WARN Skipping line 31 ('DCGM_FI_PROF_SM_ACTIVE'): metric not enabled\n"),
    ),
    "a test that wants the refusal": (
        "",
        f'    taint_test.go:51: pod "cpu-0" stays Pending as expected: {REFUSED}\n--- PASS: TestTaint (30.11s)\n',
    ),
    "a test of TAP": ("", f"1..2\nok 1 gets a GPU\nok 2 stays pending ({REFUSED})\n"),
    "a pod that does not do as expected": ("untolerated-taint", f'pod "cpu-0" does not start as expected: {REFUSED}\n'),
    "an Xid that a script wrote": ("", XID.format("drill.sh, SIMULATED by the fire drill, not a real fault\n")),
    "an Xid": ("gpu-fallen-off-bus", XID.format("python3, GPU has fallen off the bus.\n")),
    "k3s starts": (
        "",
        """\
Jun 20 01:00:02 edge k3s[811]: time="2025-06-20T01:00:02Z" level=error msg="Remotedialer proxy error; reconnecting..." error="dial tcp 127.0.0.1:6443: connect: connection refused" url="wss://127.0.0.1:6443/v1-k3s/connect"
Jun 20 01:00:09 edge k3s[811]: time="2025-06-20T01:00:09Z" level=info msg="k3s is up and running"
""",
    ),
    "k3s does not start": (
        "apiserver-down",
        'Jun 20 01:00:02 edge k3s[811]: time="2025-06-20T01:00:02Z" level=error msg="Remotedialer proxy error; reconnecting..." error="dial tcp 127.0.0.1:6443: connect: connection refused" url="wss://127.0.0.1:6443/v1-k3s/connect"\n',
    ),
    "Ray's cluster has grown": ("", CLAIMED + "(autoscaler +1m55s) Resized to 24 CPUs, 2 GPUs.\n"),
    "Ray's cluster is full": ("gpu-capacity-exhausted", CLAIMED),
    "the OFED driver's container is done": (
        "",
        "Loading HCA driver and Access Layer: [  OK  ]\n+ exec_cmd 'touch /run/mellanox/drivers/.driver-ready'\n",
    ),
    "a driver that waits for OFED": (
        "mofed-driver-not-ready",
        "stat: cannot statx '/run/mellanox/drivers/.driver-ready': No such file or directory\n",
    ),
    "all nodes are there": ("", NODES.format("Ready   ")),
    "a node is away": ("node-down", NODES.format("NotReady")),
    "amounts of nodes, picked out": ("", PICKED.format(offered=4)),
    "amounts of nodes, one too low": ("device-unhealthy", PICKED.format(offered=3)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_first_cause(name: str, tmp_path: Path) -> None:
    """The text is diagnosed as its author would, or leaves nobody alarmed."""
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text) if text.startswith("==> ") else diagnosed(tmp_path, text), cause)


def test_amounts_picked_of_several_nodes(tmp_path: Path) -> None:
    """`kubectl describe nodes | grep -E "Name:|nvidia.com/gpu"`: capacity, allocatable and requests of each node."""
    (tmp_path / "a.txt").write_text(PICKED.format(offered=4))
    facts = gather([str(tmp_path / "a.txt")]).facts
    nodes = [(one.node, one.gpus_capacity, one.gpus_allocatable) for one in facts["nodes"] if isinstance(one, Node)]
    assert nodes == [("w3", 4, 4), ("w9", 4, 4)]
    used = [(one.node, one.requested) for one in facts["node_usage"] if isinstance(one, NodeUsage)]
    assert used == [("w3", {"nvidia.com/gpu": 4}), ("w9", {"nvidia.com/gpu": 0})]


def test_a_jobs_pods_that_have_ended_were_made(tmp_path: Path) -> None:
    """Active, succeeded and failed ones together."""
    (tmp_path / "a.txt").write_text(JOB.format(done=1, failed=2))
    assert [one.current for one in gather([str(tmp_path / "a.txt")]).facts["workloads"] if isinstance(one, Workload)] == [3]


def test_rules_that_name_an_xid() -> None:
    """A monitor that prints its rules, and one that tries an alarm."""
    rules = "Finish parsing log monitor config file /config/k.json: {Rules:[{Type:permanent Reason:Xid79 Pattern:NVRM: Xid 79,.*}]}"
    assert retold_xid_of(rules) is None
    assert xid_of(rules) is None
    assert xid_of("NVRM: Xid (PCI:0000:41:00): 79, a synthetic event") is None
    assert retold_xid_of("reason=Xid79") is not None


def test_a_node_and_the_pod_that_waits_for_it(tmp_path: Path) -> None:
    """The node is the cause; the pod's wait for it is the same thing, seen from afar."""
    waits = "Warning  FailedScheduling  9m  default-scheduler  0/2 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.\n"
    report = diagnosed(tmp_path, NODES.format("NotReady"), waits)
    assert [(one.cause, one.role) for one in report.findings][:1] == [("node-down", "root")]
    assert [one.role for one in report.findings if one.cause == "node-down"].count("root") == 1
