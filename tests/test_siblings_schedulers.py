# ruff: noqa: E501 - what is pasted has long lines
"""One line each of schedulers, admission, kubelet, runtimes and the control plane, in the words of their sources through the versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

# What was pasted → the first cause; "?cause" = a candidate, and nothing is found; "" = nothing at all
LINES: dict[str, str] = {
    # the default scheduler up to 1.9, up to 1.11, with resource claims and with topology
    "No nodes are available that match all of the predicates: MatchNodeSelector (3).": "affinity-mismatch",
    "No nodes are available that match all of the following predicates:: PodToleratesNodeTaints (2).": "untolerated-taint",
    "No nodes are available that match all of the predicates: Insufficient nvidia.com/gpu (5).": "?gpu-capacity-exhausted",
    "0/5 nodes are available: 5 node(s) were not ready.": "node-down",
    "0/5 nodes are available: 5 node(s) had disk pressure.": "node-disk-pressure",
    "0/3 nodes are available: 3 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.": "volume-attached-elsewhere",
    "0/3 nodes are available: 3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod.": "volume-attached-elsewhere",
    "0/3 nodes are available: 3 node(s) had no available disk.": "volume-attached-elsewhere",
    'persistentvolumeclaim "ckpt" not found': "pvc-unbound",
    'running "DynamicResources" filter plugin: claim ml/gpus: could not retrieve device class gpu.nvidia.com: deviceclass.resource.k8s.io "gpu.nvidia.com" not found': "resource-claim-not-allocated",
    "0/6 nodes are available: 6 cannot align pod.": "numa-alignment-impossible",
    # Volcano, scheduler-plugins, YuniKorn, KAI, Kueue
    "Not enough valid tasks for gang-scheduling, valid: 3, min: 8": "gang-scheduling-wait",
    "Pod ml/t-1 can possibly be assigned to gpu-02, once minAvailable is satisfied": "gang-scheduling-wait",
    "Pod ml/t-1 can possibly be assigned to gpu-02": "",
    "resource quota insufficient, requested: map[nvidia.com/gpu:2], used: map[nvidia.com/gpu:8], limited: map[nvidia.com/gpu:8]": "quota-exceeded",
    "Pod ml/t-1 is rejected in PreFilter because total ElasticQuota used is more than min": "quota-exceeded",
    "Request '5f1c' does not fit in queue 'root.vision' (requested map[nvidia.com/gpu:4], available map[nvidia.com/gpu:2])": "quota-exceeded",
    "gpu-04 didn't have enough resource: GPUs, requested: 4, available: 1": "gpu-capacity-exhausted",
    "LocalQueue vision is terminating or missing": "kueue-not-admitted",
    "Admission check dws in Rejected state: no capacity before the deadline": "kueue-not-admitted",
    'couldn\'t assign flavors to pod set main: Flavor "b200" does not support TopologyAwareScheduling': "kueue-not-admitted",
    "couldn't assign flavors to pod set main: flavor b200 does not provide resource rdma/hca": "kueue-resource-not-covered",
    # HAMi; GPUs and shares of other plugins
    "0/4 nodes are available: 4 CardInsufficientMemory.": "gpu-capacity-exhausted",
    "Warning  FilteringFailed  8s  hami-scheduler  3 nodes CardTimeSlicingExhausted(8/8), 8/8 CardTimeSlicingExhausted": "gpu-capacity-exhausted",
    'I0301 10:00:00.000000       1 device.go:512] "CardInsufficientMemory" pod="ml/t-1" device="GPU-7d" available=1024 request=4096': "",
    'I0301 10:00:00.000000       1 score.go:88] "request devices nums cannot exceed the total number of devices on the node." pod="ml/t-1" request devices nums=9 node device nums=4': "request-exceeds-node-size",
    "0/6 nodes are available: 6 Insufficient aliyun.com/gpu-mem.": "?gpu-capacity-exhausted",
    "0/6 nodes are available: 6 Insufficient volcano.sh/vgpu-number.": "?device-plugin-not-running",
    "0/6 nodes are available: 6 Insufficient rdma/hca_shared.": "insufficient-other-resource",
    "0/2 nodes are available: 2 Insufficient amd.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.": "?gpu-capacity-exhausted",
    # Karpenter and the cluster autoscaler
    "nodepool node limit reached": "autoscaler-limit-reached",
    "Failed to schedule pod, unsatisfiable topology constraint for pod anti-affinity, key=kubernetes.io/hostname": "affinity-mismatch",
    "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector": "affinity-mismatch",
    "pod didn't trigger scale-up: 2 node(s) had untolerated taint {nvidia.com/gpu: present}": "untolerated-taint",
    "pod didn't trigger scale-up: 2 Insufficient memory, 1 node(s) didn't match Pod's node affinity/selector": "?autoscaler-limit-reached",
    "pod didn't trigger scale-up: 1 max cluster cpu, memory limit reached": "autoscaler-limit-reached",
    # admission
    'pods "t-1" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 8.000000': "admission-policy-denied",
    'Error creating: pods "t-1" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [batch]}]': "quota-exceeded",
    'Error creating: pods "t-1" is forbidden: no PriorityClass with name batch was found': "admission-policy-denied",
    'Error creating: pods "exporter-" is forbidden: no providers available to validate pod request': "pod-security-forbidden",
    'Internal error occurred: failed calling admission webhook "mutatepod.volcano.sh": Post https://volcano-admission-service.volcano-system.svc:443/pods/mutate?timeout=30s: context deadline exceeded': "admission-webhook-unavailable",
    'Warning  FailedCreate  9s  replicaset-controller  Error creating: pods "t-5d" is forbidden: violates PodSecurity "baseline:latest": hostPath volumes (volume "shm")': "pod-security-forbidden",
    'LAST SEEN   TYPE      REASON         OBJECT             MESSAGE\n9s          Warning   FailedCreate   replicaset/t-5d    Error creating: pods "t-5d" is forbidden: violates PodSecurity "baseline:latest": privileged': "pod-security-forbidden",
    'Warning: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false': "",
    # the kubelet, which dials a plugin back
    "Mar 01 10:00:00 gpu-02 kubelet[1211]: E0301 10:00:00.000000    1211 endpoint.go:62] Can't create new endpoint with path /var/lib/kubelet/device-plugins/share.sock err failed to dial device plugin: context deadline exceeded": "kubelet-plugin-socket-dir-mismatch",
    'Mar 01 10:00:00 gpu-02 kubelet[1211]: I0301 10:00:00.000000    1211 manager.go:411] Got registration request from device plugin with resource name "share/gpu-mem"': "",
    # the kubelet
    'MapVolume.SetUpDevice failed for volume "pvc-7d" : rpc error: code = Internal desc = rbd: map failed': "volume-mount-failed",
    'Unable to mount volumes for pod "t-1_ml(7d)": timeout expired waiting for volumes to attach or mount for pod "ml"/"t-1". list of unmounted volumes=[ckpt]': "volume-mount-failed",
    "Node gpu-03 status is now: NodeHasDiskPressure": "node-disk-pressure",
    "Node gpu-03 status is now: NodeHasNoDiskPressure": "",
    "Allocate failed due to [memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available, which is unexpected": "numa-alignment-impossible",
    "Warning  Failed  9s (x3 over 40s)  kubelet  Error: SignatureValidationFailed": "image-pull-failed",
    "Normal  ExternalProvisioning  3s (x26 over 6m)  persistentvolume-controller  Waiting for a volume to be created either by the external provisioner 'csi.lab' or manually by the system administrator.": "pvc-unbound",
    "Normal  ExternalProvisioning  3s  persistentvolume-controller  Waiting for a volume to be created either by the external provisioner 'csi.lab' or manually by the system administrator.": "",
    # runc, containerd, CRI-O
    "OCI runtime create failed: runc create failed: unable to start container process: container init was OOM-killed (memory limit too low?): unknown": "host-oom-kill",
    "mkdir /sys/fs/cgroup/memory/kubepods/burstable/pod7d: no space left on device": "node-resource-limit",
    "cri-o configured with systemd cgroup manager, but did not receive slice as parent: /kubepods/besteffort/pod7d": "cgroup-driver-mismatch",
    "CDI devices (nvidia.com/gpu=3) requested but CDI support is explicitly disabled": "cdi-spec-missing",
    'validating runtime config: default_runtime set to "nvidia", but no runtime entry table [crio.runtime.runtimes.nvidia] was found': "nvidia-runtime-not-configured",
    "write /var/lib/containerd/io.containerd.content.v1.content/ingest/7d/data: no space left on device": "node-disk-pressure",
    # registries as builders and Docker repeat them, and the storage's own words
    "pulling from host reg.lab failed with status code [manifests 2.1]: 401 Unauthorized": "image-pull-failed",
    "Error response from daemon: received unexpected HTTP status: 503 Service Unavailable": "image-pull-failed",
    "mount.nfs: access denied by server while mounting 192.0.2.9:/ml": "volume-mount-failed",
    'Cannot bind PersistentVolume "pv-7" to requested PersistentVolumeClaim "ckpt" due to incompatible accessMode': "pvc-unbound",
    "rpc error: code = FailedPrecondition desc = volume vol-7d is already attached to another node": "volume-attached-elsewhere",
    "failed to start shim: start failed: fork/exec /usr/bin/containerd-shim-runc-v2: resource temporarily unavailable": "node-resource-limit",
    # the pod network, etcd, clocks
    "failed to request IPv4 addresses: Assigned 0 out of 1 requested IPv4 addresses; No more free affine blocks and strict affinity enabled": "cluster-network-broken",
    "[ovn] failed to configure pod interface: timed out waiting for OVS port binding": "cluster-network-broken",
    '{"level":"warn","msg":"alarm raised","alarm":"NOSPACE","raised-member-id":"91bc3c398fb3c146"}': "etcd-slow-or-restarting",
    "failed to allocate for range 0: no IP addresses available in range set: 10.244.7.1-10.244.7.254": "cluster-network-broken",
    "calico/node is not ready: felix is not ready: readiness probe reporting 503": "cluster-network-broken",
    "Failed to check br_netfilter: stat /proc/sys/net/bridge/bridge-nf-call-iptables: no such file or directory": "cluster-network-broken",
    '{"level":"warn","msg":"waiting for ReadIndex response took too long, retrying","retry-timeout":"500ms"}': "etcd-slow-or-restarting",
    "raft2026/02/01 10:00:00 INFO: 7d5e1c64 [term: 12] lost leader 91bc3c398fb3c146 at term 12": "etcd-slow-or-restarting",
    '{"level":"warn","msg":"prober found high clock drift","remote-peer-id":"91bc3c398fb3c146","clock-drift":"5.1s"}': "clock-skew",
}


@pytest.mark.parametrize("number", range(len(LINES)))
def test_a_pasted_line(number: int, tmp_path: Path) -> None:
    line, cause = [*LINES.items()][number]
    judge(diagnosed(tmp_path, line + "\n"), cause)
