# ruff: noqa: E501 - what is pasted has long lines
"""The same condition in the words of other clients, versions and layers, and beside each a text that is near it and is not it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

WAITS = "  Warning  FailedScheduling  3m  default-scheduler  "
# What was pasted → the first cause; "" = nothing at all, "?cause" = only possible
TEXTS: dict[str, tuple[str, str]] = {
    # --- API server and its clients
    "refused, in the words of Windows": (
        "apiserver-down",
        "Unable to connect to the server: dial tcp 10.20.0.5:6443: connectex: No connection could be made because the target machine actively refused it.",
    ),
    "refused, in the words of Python": (
        "apiserver-down",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='10.1.2.3', port=6443): Max retries exceeded with url: /api/v1/pods (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object>: Failed to establish a new connection: [Errno 111] Connection refused'))",
    ),
    "read timed out elsewhere": ("", "HTTPSConnectionPool(host='models.example', port=443): Read timed out. (read timeout=10)"),
    "no kubeconfig": (
        "kubeconfig-missing",
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
    ),
    "no kubeconfig, discovery": (
        "kubeconfig-missing",
        'E0424 11:01:00.1 2231 memcache.go:265] couldn\'t get current server API group list: Get "http://localhost:8080/api?timeout=32s": dial tcp 127.0.0.1:8080: connect: connection refused',
    ),
    "no kubeconfig, helm": (
        "kubeconfig-missing",
        'Error: Kubernetes cluster unreachable: Get "http://localhost:8080/version": dial tcp [::1]:8080: connect: connection refused',
    ),
    "kubeconfig not readable": (
        "kubeconfig-missing",
        'error: error loading config file "/etc/rancher/k3s/k3s.yaml": open /etc/rancher/k3s/k3s.yaml: permission denied',
    ),
    "refused at another port": (
        "apiserver-down",
        "The connection to the server 10.2.0.4:6443 was refused - did you specify the right host or port?",
    ),
    "slow, of any request": (
        "apiserver-slow-or-unreachable",
        "error: the server was unable to return a response in the time allotted, but may still be processing the request (get pods)",
    ),
    "the service's address, in the words of Python": (
        "apiserver-unreachable-from-pod",
        "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='10.96.0.1', port=443): Max retries exceeded with url: /api/v1/namespaces (Caused by ConnectTimeoutError(<urllib3.connection.HTTPSConnection object>, 'Connection to 10.96.0.1 timed out. (connect timeout=None)'))",
    ),
    # --- etcd
    "etcd full": ("etcd-slow-or-restarting", "memberID:8630161756594109333 alarm:NOSPACE"),
    "etcd ill, by etcdctl": (
        "etcd-slow-or-restarting",
        "127.0.0.1:2379 is unhealthy: failed to commit proposal: context deadline exceeded",
    ),
    "etcd well, by etcdctl": ("", "127.0.0.1:2379 is healthy: successfully committed proposal: took = 2.1ms"),
    "etcd's peer": (
        "etcd-slow-or-restarting",
        "rafthttp: health check for peer ab12 could not connect: dial tcp 10.0.0.2:2380: i/o timeout",
    ),
    # --- certificates and clocks
    "certificate without times": (
        "certificate-expired",
        "Unable to connect to the server: x509: certificate has expired or is not yet valid",
    ),
    "certificate, in kubeadm's table": (
        "certificate-expired",
        "CERTIFICATE   EXPIRES                  RESIDUAL TIME   CERTIFICATE AUTHORITY   EXTERNALLY MANAGED\nadmin.conf    Mar 01, 2025 10:00 UTC   <invalid>       ca                      no",
    ),
    "certificates, all well": (
        "",
        "CERTIFICATE   EXPIRES                  RESIDUAL TIME   CERTIFICATE AUTHORITY   EXTERNALLY MANAGED\nadmin.conf    Mar 01, 2027 10:00 UTC   364d            ca                      no",
    ),
    "a clock, by AWS": (
        "clock-skew",
        "SignatureDoesNotMatch: Signature not yet current: 20260301T120000Z is still later than 20260301T101500Z",
    ),
    # --- names
    "nslookup of busybox": ("dns-resolution-failure", "nslookup: can't resolve 'kubernetes.default'"),
    "nslookup of busybox, its own server": (
        "",
        "nslookup: can't resolve '(null)': Name does not resolve\n\nName:      kubernetes.default\nAddress 1: 10.96.0.1",
    ),
    "ping": ("dns-resolution-failure", "ping: models.example: Name or service not known"),
    "sudo's remark": ("", "sudo: unable to resolve host gpu-01: Name or service not known"),
    "node.js": ("dns-resolution-failure", "Error: getaddrinfo EAI_AGAIN redis-master"),
    "wget of busybox": ("dns-resolution-failure", "wget: bad address 'models.example'"),
    # --- the pods' network
    "a plugin fails": (
        "cluster-network-broken",
        'Warning  FailedCreatePodSandBox  4s  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ab": plugin type="calico" failed (add): error getting ClusterInformation: x509: certificate signed by unknown authority',
    ),
    "a second network fails": (
        "rdma-network-not-configured",
        'Warning  FailedCreatePodSandBox  4s  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ab": plugin type="ib-sriov" failed (add): no free VF',
    ),
    "no plugin configured": (
        "cluster-network-broken",
        'kubelet.go:2855] "Unable to update cni config" err="no networks found in /etc/cni/net.d"',
    ),
    "the bridge of an older cluster": (
        "cluster-network-broken",
        'failed to set bridge addr: "cni0" already has an IP address different from 10.244.1.1/24',
    ),
    # --- scheduling and queues
    "a pod without GPUs": (
        "insufficient-other-resource",
        WAITS
        + "0/6 nodes are available: 2 Insufficient cpu, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 3 node(s) had untolerated taint {nvidia.com/gpu: present}.",
    ),
    "a pod with GPUs": (
        "untolerated-taint",
        WAITS + "0/6 nodes are available: 3 Insufficient nvidia.com/gpu, 3 node(s) had untolerated taint {nvidia.com/gpu: present}.",
    ),
    "two at once": ("combined-resource-shortage", WAITS + "0/2 nodes are available: 2 Insufficient cpu, 1 Insufficient memory."),
    "one each": ("insufficient-other-resource", WAITS + "0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."),
    "in use, by a line of the node": (
        "gpu-capacity-exhausted",
        WAITS
        + "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector.\n  nvidia.com/gpu     4          4",
    ),
    "none in use, by a line of the node": (
        "?gpu-capacity-exhausted",
        WAITS
        + "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector.\n  nvidia.com/gpu     0          0",
    ),
    "no age, no source": (
        "affinity-mismatch",
        "Warning   FailedScheduling   0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    ),
    "placed by GKE's scheduler": (
        "",
        "  Warning  FailedScheduling  4m  gke.io/optimize-utilization-scheduler  0/3 nodes are available: 3 Insufficient cpu.\n  Normal   Scheduled         2m  gke.io/optimize-utilization-scheduler  Successfully assigned ml/x to n1",
    ),
    "volcano's gang, and why": (
        "untolerated-taint",
        "Warning   Unschedulable   2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable;\n          Pending: 1 Unschedulable, 1 Schedulable. Origin reason is mpi-1: 0/3 nodes are unavailable:\n          3 node(s) had untolerated taint {team: b}.",
    ),
    "volcano's group that runs": (
        "",
        "spec:\n  minMember: 2\nstatus:\n  conditions:\n  - message: '2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable'\n    status: \"True\"\n    type: Unschedulable\n  phase: Running\n",
    ),
    "volcano's group that ends": (
        "",
        "spec:\n  minMember: 3\nstatus:\n  conditions:\n  - message: '2/3 tasks in gang unschedulable: pod group is not ready, 1 Succeeded, 2 Releasing, 3 minAvailable'\n    status: \"True\"\n    type: Unschedulable\n  phase: Pending\n",
    ),
    "volcano's group that waits": (
        "gang-scheduling-wait",
        "spec:\n  minMember: 3\nstatus:\n  conditions:\n  - message: '3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable'\n    status: \"True\"\n    type: Unschedulable\n  phase: Pending\n",
    ),
    "a pod's status alone": (
        "untolerated-taint",
        "status:\n  conditions:\n  - message: '0/2 nodes are available: 2 node(s) had untolerated taint {dedicated: ml}.'\n    reason: Unschedulable\n    status: \"False\"\n    type: PodScheduled\n  phase: Pending\n",
    ),
    "a claim that isn't bound in time": (
        "pvc-unbound",
        WAITS + 'running PreBind plugin "VolumeBinding": binding volumes: timed out waiting for the condition',
    ),
    "a flavor that isn't there": ("kueue-not-admitted", "Can't admit new workloads: references missing ResourceFlavor(s): a100."),
    # --- the cloud
    "quota of AWS": (
        "cloud-instance-quota-exceeded",
        "creating instance, insufficient capacity, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 8 allows for the instance bucket",
    ),
    "quota of Google": (
        "cloud-instance-quota-exceeded",
        "Instance 'gke-a-b' creation failed: Quota 'NVIDIA_L4_GPUS' exceeded.  Limit: 1.0 in region europe-west4.",
    ),
    "quota of Azure": (
        "cloud-instance-quota-exceeded",
        "Operation could not be completed as it results in exceeding approved standardNCSv3Family Cores quota. Current Limit: 0, Additional Required: 6",
    ),
    "stock of Google": (
        "cloud-capacity-exhausted",
        "The zone 'projects/p/zones/us-central1-a' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.",
    ),
    # --- starting
    "a probe of another path": (
        "liveness-probe-misconfigured",
        "  Warning  Unhealthy  24s (x6 over 104s)  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 404",
    ),
    "a probe with a program that isn't there": (
        "liveness-probe-misconfigured",
        '  Warning  Unhealthy  24s (x6 over 104s)  kubelet  Liveness probe errored: rpc error: code = Unknown desc = failed to exec in container: exec: "curl": executable file not found in $PATH: unknown',
    ),
    "a probe of what still loads": (
        "probe-kills-slow-start",
        "  Warning  Unhealthy  24s (x6 over 104s)  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 503\n  Normal   Killing    24s (x2 over 84s)   kubelet  Container main failed liveness probe, will be restarted",
    ),
    "the end of a pod's description": (
        "image-pull-failed",
        'QoS Class:       BestEffort\nTolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s\nEvents:\n  Type     Reason   Age                From     Message\n  ----     ------   ----               ----     -------\n  Warning  Failed   3h (x6 over 4h)    kubelet  Failed to pull image "a/b:2": toomanyrequests: too many\n  Normal   Pulling  2m (x3 over 5m9s)  kubelet  Pulling image "a/b:2"',
    ),
    "a registry that Docker can't trust": (
        "image-pull-failed",
        'Error response from daemon: Get "https://registry.example/v2/": x509: certificate signed by unknown authority',
    ),
    "inotify, its word in capitals": ("inotify-instances-exhausted", "dnsmasq: failed to create inotify: Too many open files"),
    "too many open files of something else": ("", "accept4: Too many open files"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed(tmp_path, text + "\n"), cause)
