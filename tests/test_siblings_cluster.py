# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of control planes, device plugins, feature discovery and operators; and what is found in it first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

# What was pasted, in files where `==> NAME <==` begins one → the first cause; "?cause" = a candidate, nothing is found; "" = nothing
TEXTS: dict[str, tuple[str, str]] = {
    "apiserver-down: kubectl": (
        "apiserver-down",
        """\
$ kubectl get nodes
E0301 10:00:00.000000   11111 memcache.go:265] couldn't get current server API group list: Get "https://10.1.0.5:6443/api?timeout=32s": dial tcp 10.1.0.5:6443: connect: connection refused
The connection to the server 10.1.0.5:6443 was refused - did you specify the right host or port?
""",
    ),
    "apiserver-down: goaway": (
        "apiserver-down",
        """\
I0301 09:59:59.100000       1 streamwatcher.go:111] Unexpected EOF during watch stream event decoding: unexpected EOF
E0301 10:00:00.100000       1 leaderelection.go:325] error retrieving resource lock gpu-operator/53822513.nvidia.com: Get "https://172.30.0.1:443/api/v1/namespaces/gpu-operator/configmaps/53822513.nvidia.com": http2: server sent GOAWAY and closed the connection; LastStreamID=7111, ErrCode=NO_ERROR, debug=""
E0301 10:00:05.100000       1 leaderelection.go:325] error retrieving resource lock gpu-operator/53822513.nvidia.com: Get "https://172.30.0.1:443/api/v1/namespaces/gpu-operator/configmaps/53822513.nvidia.com": dial tcp 172.30.0.1:443: connect: connection refused
I0301 10:00:09.100000       1 leaderelection.go:278] failed to renew lease gpu-operator/53822513.nvidia.com: timed out waiting for the condition
2026-03-01T10:00:09.100Z ERROR setup problem running manager {"error": "leader election lost"}
""",
    ),
    "apiserver-down: minimal": (
        "apiserver-down",
        """\
The connection to the server 10.0.0.4:6443 was refused - did you specify the right host or port?
""",
    ),
    "apiserver-slow-or-unreachable: kubectl": (
        "apiserver-slow-or-unreachable",
        """\
$ kubectl get pods -A
Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting headers)
""",
    ),
    "apiserver-slow-or-unreachable: server timeout": (
        "apiserver-slow-or-unreachable",
        """\
Error from server (Timeout): the server was unable to return a response in the time allotted, but may still be processing the request (get pods)
""",
    ),
    "apiserver-slow-or-unreachable: minimal": (
        "apiserver-slow-or-unreachable",
        """\
error retrieving resource lock gpu-operator/53822513.nvidia.com: Get "https://10.96.0.1:443/apis/coordination.k8s.io/v1/...": net/http: request canceled
(Client.Timeout exceeded while awaiting headers)
leader election lost
""",
    ),
    "apiserver-unreachable-from-pod: curl prose": (
        "apiserver-unreachable-from-pod",
        """\
From a pod on gpu-3 only, the API is not reachable:
/ # curl -k https://10.96.0.1:443/version
curl: (28) Failed to connect to 10.96.0.1 port 443 after 130012 ms: Connection timed out
""",
    ),
    "apiserver-unreachable-from-pod: nfd master minimal": (
        "apiserver-unreachable-from-pod",
        """\
==> nfd-master.log <==
failed to get API Group-Resources: Get "https://10.152.183.1:443/api?timeout=32s": dial tcp 10.152.183.1:443: i/o timeout
""",
    ),
    "apiserver-unreachable-from-pod: toolkit config manager": (
        "apiserver-unreachable-from-pod",
        """\
unable to create k8s client / error getting node gpu-2: Get "https://10.100.0.1:443/api/v1/nodes/gpu-2":
net/http: TLS handshake timeout
""",
    ),
    "clock-skew: apt": (
        "clock-skew",
        """\
E: Release file for http://archive.ubuntu.com/ubuntu/dists/jammy-updates/InRelease is not valid yet (invalid for another 5h 21min 4s). Updates for this repository will not be applied.
""",
    ),
    "clock-skew: chrony offset large": (
        "clock-skew",
        """\
$ chronyc tracking
Reference ID    : A29FC87B (time.cloudflare.com)
Stratum         : 4
Ref time (UTC)  : Sun Mar 01 07:00:00 2026
System time     : 2711.402188301 seconds fast of NTP time
Last offset     : +2711.4 seconds
Leap status     : Normal
""",
    ),
    "clock-skew: aws": (
        "clock-skew",
        """\
An error occurred (RequestTimeTooSkewed) when calling the GetObject operation: The difference between the request time and the current time is too large.
""",
    ),
    "cluster-network-broken: aws cni": (
        "cluster-network-broken",
        """\
Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ee": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: Error received from AddNetwork gRPC call: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:50051: connect: connection refused\"
""",
    ),
    "cluster-network-broken: multus": (
        "cluster-network-broken",
        """\
Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "ff": plugin type="multus" name="multus-cni-network" failed (add): Multus: [ml/train-0]: error waiting for pod: PollImmediate error waiting for ReadinessIndicatorFile: timed out waiting for the condition
""",
    ),
    "cluster-network-broken: get pods minimal": (
        "cluster-network-broken",
        """\
==> kubectl-get-pods-A.txt <==
kube-system    calico-kube-controllers-75748cc9fd-49kpx   0/1   Running   358 (5m42s ago)   24h
kube-system    coredns-588bb58b94-jrm9d                   0/1   Running   0                 24h
gpu-operator   gpu-operator-dd7c784bc-6vxfn               0/1   CrashLoopBackOff   6 (12s ago)   6m19s
""",
    ),
    "coredns-forwarding-loop: old": (
        "coredns-forwarding-loop",
        """\
2019/01/01 00:00:00 [FATAL] plugin/loop: Seen "HINFO IN 5577006791947779410.8674665223082153551." more than twice, loop detected
""",
    ),
    "coredns-forwarding-loop: minimal wrapped": (
        "coredns-forwarding-loop",
        """\
[FATAL] plugin/loop: Loop (127.0.0.1:34536 -> :53) detected for zone ".", see
https://coredns.io/plugins/loop#troubleshooting
""",
    ),
    "coredns-forwarding-loop: log": (
        "coredns-forwarding-loop",
        """\
[FATAL] plugin/loop: Loop (127.0.0.1:46001 -> :53) detected for zone ".", see https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 4547991504243258144.3688648895315093531.\"
""",
    ),
    "dns-resolution-failure: apt": (
        "dns-resolution-failure",
        """\
Err:1 http://archive.ubuntu.com/ubuntu jammy InRelease
  Temporary failure resolving 'archive.ubuntu.com'
W: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease  Temporary failure resolving 'archive.ubuntu.com'
E: Unable to locate package linux-headers-5.15.0-91-generic
Could not resolve Linux kernel version
""",
    ),
    "dns-resolution-failure: gaierror -2": (
        "dns-resolution-failure",
        """\
socket.gaierror: [Errno -2] Name or service not known
""",
    ),
    "dns-resolution-failure: kubelet nameservers": (
        "dns-resolution-failure",
        """\
/ # nslookup kubernetes.default
;; connection timed out; no servers could be reached
/ # cat /etc/resolv.conf
nameserver 10.96.0.10
search default.svc.cluster.local svc.cluster.local cluster.local
options ndots:5
""",
    ),
    "dns-resolution-failure: coredns upstream": (
        "dns-resolution-failure",
        """\
[ERROR] plugin/errors: 2 nvcr.io. A: read udp 10.244.0.5:44251->10.0.0.2:53: i/o timeout
[ERROR] plugin/errors: 2 developer.download.nvidia.com. AAAA: read udp 10.244.0.5:50011->10.0.0.2:53: i/o timeout
""",
    ),
    "etcd-slow-or-restarting: apiserver": (
        "etcd-slow-or-restarting",
        """\
W0301 09:00:00.000000       1 logging.go:59] [core] [Channel #1 SubChannel #2] grpc: addrConn.createTransport failed to connect to {Addr: "127.0.0.1:2379", ServerName: "127.0.0.1", }. Err: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"
F0301 09:00:20.000000       1 instance.go:291] Error creating leases: error creating storage factory: context deadline exceeded
""",
    ),
    "etcd-slow-or-restarting: kubectl": (
        "etcd-slow-or-restarting",
        """\
Error from server: etcdserver: leader changed
""",
    ),
    "etcd-slow-or-restarting: kubectl readyz": (
        "etcd-slow-or-restarting",
        """\
$ kubectl get --raw '/readyz?verbose'
[+]ping ok
[+]log ok
[-]etcd failed: reason withheld
[+]poststarthook/start-apiextensions-controllers ok
readyz check failed
""",
    ),
    "host-firewall-blocks-pod-traffic: kernel reject": (
        "host-firewall-blocks-pod-traffic",
        """\
Mar 01 09:00:00 cp1 kernel: "filter_IN_public_REJECT: "IN=cni0 OUT= MAC=aa SRC=10.244.1.3 DST=10.0.0.10 LEN=60 PROTO=TCP SPT=41000 DPT=6443 WINDOW=64860 SYN
""",
    ),
    "host-firewall-blocks-pod-traffic: minimal": (
        "host-firewall-blocks-pod-traffic",
        """\
==> kubectl-logs-nfd-worker.txt <==
Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443:
connect: no route to host
""",
    ),
    "host-firewall-blocks-pod-traffic: nfd": (
        "host-firewall-blocks-pod-traffic",
        """\
E0301 09:00:00.000000       1 main.go:70] failed to list nodes: Get "https://10.96.0.1:443/api/v1/nodes": dial tcp 10.96.0.1:443: connect: no route to host
""",
    ),
    "pod-default-route-bypasses-service-nat: minimal": (
        "pod-default-route-bypasses-service-nat",
        """\
==> kubectl-logs.txt <==
dial tcp 10.96.0.1:443: connect: network is
unreachable
""",
    ),
    "pod-default-route-bypasses-service-nat: op": (
        "pod-default-route-bypasses-service-nat",
        """\
Get "https://10.96.0.1:443/api?timeout=32s": dial tcp 10.96.0.1:443: connect: network is unreachable
""",
    ),
    "pod-default-route-bypasses-service-nat: calico install": (
        "pod-default-route-bypasses-service-nat",
        """\
time="2026-03-01T09:00:00Z" level=error msg="Failed to query kubernetes version" error="Get \\"https://10.43.0.1:443/version?timeout=32s\\": dial tcp 10.43.0.1:443: connect: network is unreachable\"
""",
    ),
    "device-plugin-missing-privileges: toolkit config": (
        "device-plugin-missing-privileges",
        """\
==> kubectl-logs-nvidia-device-plugin.txt <==
E0802 09:37:56.184379       1 main.go:144] error starting plugins: error creating plugin manager: unable to create cdi spec file: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND
==> config.toml <==
accept-nvidia-visible-devices-as-volume-mounts = true
accept-nvidia-visible-devices-envvar-when-unprivileged = false
""",
    ),
    "device-plugin-missing-privileges: values prose": (
        "device-plugin-missing-privileges",
        """\
We set accept-nvidia-visible-devices-envvar-when-unprivileged = false and accept-nvidia-visible-devices-as-volume-mounts = true in config.toml; since then the plugin (helm, deviceListStrategy=volume-mounts) says
Detected non-NVML platform: could not initialize NVML: ERROR_LIBRARY_NOT_FOUND
Incompatible strategy detected auto
""",
    ),
    "device-plugin-missing-privileges: minimal": (
        "device-plugin-missing-privileges",
        """\
==> kubectl-logs-device-plugin.txt <==
nvml init failed: ERROR_LIBRARY_NOT_FOUND
==> values.yaml <==
deviceListStrategy: volume-mounts
securityContext:
  allowPrivilegeEscalation: false
  capabilities:
    drop: ["ALL"]
""",
    ),
    "device-plugin-not-registered-yet: describe": (
        "device-plugin-not-registered-yet",
        """\
Name:           train-0
Namespace:      ml
Node:           gpu-2/10.0.0.12
Start Time:     Sun, 01 Mar 2026 09:00:00 +0000
Status:         Failed
Reason:         UnexpectedAdmissionError
Message:        Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
Containers:
  main:
    Image:      registry.example/train:1
    Limits:
      nvidia.com/gpu:  8
Events:
  Type     Reason                    Age   From     Message
  Warning  UnexpectedAdmissionError  12m   kubelet  Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
""",
    ),
    "device-plugin-not-registered-yet: minimal status": (
        "device-plugin-not-registered-yet",
        """\
==> kubectl-get-pods.txt <==
train-0   0/1   UnexpectedAdmissionError   0   9m
==> kubectl-describe-pod.txt <==
Message: Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate
unhealthy devices nvidia.com/gpu, which is unexpected
""",
    ),
    "device-plugin-not-registered-yet: node reboot journal": (
        "device-plugin-not-registered-yet",
        """\
kubelet[1180]: "Failed to retrieve checkpoint" err="checkpoint is not found"
UnexpectedAdmissionError: Allocate failed due to can't allocate unregistered device nvidia.com/gpu, which is unexpected
""",
    ),
    "device-plugin-not-running: fresh cluster": (
        "device-plugin-not-running",
        """\
$ kubectl describe node gpu-1 | grep -A8 Capacity
Capacity:
  cpu:                64
  ephemeral-storage:  1855Gi
  hugepages-1Gi:      0
  memory:             528Gi
  pods:               110
$ kubectl get pods -A | grep -i nvidia
$ nvidia-smi -L
GPU 0: NVIDIA A100 80GB PCIe (UUID: GPU-0f0f0f0f-1111-2222-3333-444444444444)
Warning  FailedScheduling  10s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
""",
    ),
    "device-plugin-not-running: capacity zero": (
        "device-plugin-not-running",
        """\
Capacity:
  cpu:             32
  memory:          128Gi
  nvidia.com/gpu:  0
  pods:            110
Allocatable:
  cpu:             32
  memory:          127Gi
  nvidia.com/gpu:  0
  pods:            110
$ kubectl get pods -n kube-system -l name=nvidia-device-plugin-ds
No resources found in kube-system namespace.
""",
    ),
    "device-plugin-not-running: capacity minimal": (
        "device-plugin-not-running",
        """\
==> kubectl-describe-node.txt <==
Capacity:
  cpu: 16
  memory: 65Gi
  nvidia.com/gpu: 0
==> kubectl-get-pods.txt <==
NAME                                   READY  STATUS  RESTARTS  AGE
nvidia-device-plugin-daemonset-8xk2p   0/1    Error   4         3m
""",
    ),
    "device-plugin-repelled-by-taint: custom taint": (
        "device-plugin-repelled-by-taint",
        """\
$ kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key,GPU:.status.allocatable.nvidia\\\\.com/gpu
NAME    TAINTS        GPU
cpu-1   <none>        <none>
gpu-1   nvidia.com/gpu  <none>
gpu-2   nvidia.com/gpu  <none>
$ kubectl get ds -n gpu-operator
NAME                                 DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR  AGE
gpu-operator-node-feature-discovery-worker  1  1  1  1  1  <none>  9d
nvidia-device-plugin-daemonset       0        0        0      0           0          nvidia.com/gpu.deploy.device-plugin=true  9d
""",
    ),
    "device-plugin-repelled-by-taint: event-less, scheduler": (
        "device-plugin-repelled-by-taint",
        """\
I tainted the GPU node so that only GPU work lands there:
$ kubectl taint nodes gpu-1 nvidia.com/gpu=true:NoSchedule
node/gpu-1 tainted
$ kubectl get ds nvidia-device-plugin-daemonset -n kube-system
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin-daemonset   0         0         0       0            0           <none>          20m
$ kubectl describe pod cuda | tail -3
  Warning  FailedScheduling  20s  default-scheduler  0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.
""",
    ),
    "device-plugin-repelled-by-taint: minimal": (
        "device-plugin-repelled-by-taint",
        """\
==> kubectl-describe-node.txt <==
Taints:             nvidia.com/gpu=true:NoSchedule
==> kubectl-get-ds.txt <==
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin-daemonset   0         0         0       0            0           <none>          5m
""",
    ),
    "kubelet-device-manager-stale-state: unknown device old plugin": (
        "kubelet-device-manager-stale-state",
        """\
Allocate failed due to rpc error: code = Unknown desc = invalid allocation request: unknown device: GPU-0f0f0f0f-1111-2222-3333-444444444444, which is unexpected
""",
    ),
    "kubelet-device-manager-stale-state: device gone after swap": (
        "kubelet-device-manager-stale-state",
        """\
==> kubelet.log <==
Pod "infer-0" Allocate failed: rpc error: code = Unknown desc = invalid allocation request for 'nvidia.com/gpu': unknown device: GPU-99990000-1111-2222-3333-444455556666
==> nvidia-smi-L.txt <==
GPU 0: NVIDIA A30 (UUID: GPU-0f0f0f0f-1111-2222-3333-444444444444)
""",
    ),
    "kubelet-device-manager-stale-state: createcontainererror": (
        "kubelet-device-manager-stale-state",
        """\
CreateContainerConfigError
Error: endpoint not found in cache for a registered
resource: nvidia.com/gpu
""",
    ),
    "kubelet-device-plugin-support-disabled: version node": (
        "kubelet-device-plugin-support-disabled",
        """\
$ kubectl get nodes
NAME   STATUS   ROLES    AGE   VERSION
n1     Ready    <none>   5d    v1.8.4
2018/01/05 08:00:05 Could not register device plugin: rpc error: code = Unavailable desc = grpc: the connection is unavailable
2018/01/05 08:00:05 Could not contact Kubelet, retrying. Did you enable the device plugin feature gate?
""",
    ),
    "kubelet-device-plugin-support-disabled: minimal": (
        "kubelet-device-plugin-support-disabled",
        """\
==> kubectl-logs-device-plugin.txt <==
2018/02/01 Could not register device plugin: context deadline exceeded
2018/02/01 Could not contact Kubelet, retrying. Did you enable the device plugin feature gate?
==> kubelet-version.txt <==
Kubernetes v1.9.2
""",
    ),
    "kubelet-device-plugin-support-disabled: 1.8": (
        "kubelet-device-plugin-support-disabled",
        """\
2018/01/05 08:00:00 Loading NVML
2018/01/05 08:00:00 Fetching devices.
2018/01/05 08:00:00 Starting FS watcher.
2018/01/05 08:00:00 Starting OS watcher.
2018/01/05 08:00:00 Starting to serve on /var/lib/kubelet/device-plugins/nvidia.sock
2018/01/05 08:00:05 Could not register device plugin: context deadline exceeded
2018/01/05 08:00:05 Could not contact Kubelet, retrying. Did you enable the device plugin feature gate?
""",
    ),
    "kubelet-plugin-socket-dir-mismatch: no such file": (
        "kubelet-plugin-socket-dir-mismatch",
        """\
E0105 08:00:10.000800       1 main.go:123] Failed to start plugin: failed to register: dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: no such file or directory
""",
    ),
    "kubelet-plugin-socket-dir-mismatch: microk8s minimal": (
        "kubelet-plugin-socket-dir-mismatch",
        """\
==> kubectl-logs-device-plugin.txt <==
Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
Could not register device plugin: context deadline exceeded
==> ps-kubelet.txt <==
/snap/microk8s/current/kubelite --kubelet-args-file=... --root-dir=/var/snap/microk8s/common/var/lib/kubelet
""",
    ),
    "kubelet-plugin-socket-dir-mismatch: k0s": (
        "kubelet-plugin-socket-dir-mismatch",
        """\
I0105 08:00:00.000700       1 server.go:195] Starting GRPC server for 'nvidia.com/gpu'
I0105 08:00:00.000800       1 server.go:139] Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
E0105 08:00:10.000800       1 server.go:147] Could not register device plugin: rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/device-plugins/kubelet.sock: connect: connection refused"
E0105 08:00:10.000800       1 main.go:123] Failed to start one or more plugins. Retrying in 30s...
""",
    ),
    "nfd-label-format-mismatch: labels": (
        "nfd-label-format-mismatch",
        """\
$ kubectl get node g1 --show-labels
NAME   STATUS   ROLES    AGE   VERSION   LABELS
g1     Ready    <none>   40d   v1.29.1   feature.node.kubernetes.io/pci-0302_10de.present=true,feature.node.kubernetes.io/kernel-version.full=5.15.0-91-generic,kubernetes.io/hostname=g1
$ kubectl get ds -n gpu-operator nvidia-device-plugin-daemonset
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                       AGE
nvidia-device-plugin-daemonset   0         0         0       0            0           feature.node.kubernetes.io/pci-10de.present=true    10m
""",
    ),
    "nfd-label-format-mismatch: describe": (
        "nfd-label-format-mismatch",
        """\
Name:               g2
Roles:              worker
Labels:             beta.kubernetes.io/arch=amd64
                    feature.node.kubernetes.io/cpu-cpuid.AVX512F=true
                    feature.node.kubernetes.io/pci-0300_10de.present=true
                    kubernetes.io/hostname=g2
Capacity:
  cpu:     16
  memory:  64Gi
  pods:    110
""",
    ),
    "nfd-label-format-mismatch: sriov": (
        "nfd-label-format-mismatch",
        """\
Name:               g3
Labels:             feature.node.kubernetes.io/pci-0302_10de_2235_10de.present=true
                    kubernetes.io/hostname=g3
Capacity:
  cpu:     16
  memory:  64Gi
  pods:    110
""",
    ),
    "nfd-labels-missing: minimal operator": (
        "nfd-labels-missing",
        """\
==> kubectl-logs-gpu-operator.txt <==
ERROR controllers.ClusterPolicy  Failed to get kernel version of GPU node using Node Feature Discovery (NFD)
labels. Is NFD installed in the cluster?
""",
    ),
    "nfd-labels-missing: ocp label template": (
        "nfd-labels-missing",
        """\
==> operator.log <==
Couldn't get kernel version: Label.Node "feature.node.kubernetes.io/kernel-version.full" not found
""",
    ),
    "nfd-labels-missing: operator log": (
        "nfd-labels-missing",
        """\
{"level":"info","ts":"2026-03-01T09:00:00Z","logger":"controllers.ClusterPolicy","msg":"WARN: Could not get any nodes to match","Attr":"pci-10de"}
{"level":"info","msg":"No GPU node in the cluster, do not create DaemonSets","DaemonSet":"nvidia-driver-daemonset","Namespace":"gpu-operator"}
""",
    ),
    "operator-oomkilled: describe": (
        "operator-oomkilled",
        """\
Name:         gpu-operator-7f8b9c-x2
Namespace:    gpu-operator
Labels:       app=gpu-operator
Status:       Running
Containers:
  gpu-operator:
    Image:         nvcr.io/nvidia/gpu-operator:v24.3.0
    State:         Waiting
      Reason:      CrashLoopBackOff
    Last State:    Terminated
      Reason:      OOMKilled
      Exit Code:   137
    Ready:         False
    Restart Count: 12
    Limits:
      cpu:     500m
      memory:  350Mi
""",
    ),
    "operator-oomkilled: list": (
        "operator-oomkilled",
        """\
NAME                             READY   STATUS      RESTARTS      AGE
gpu-operator-7bfc5f55c7-x2lqk    0/1     OOMKilled   5 (44s ago)   11m
""",
    ),
    "operator-oomkilled: minimal describe": (
        "operator-oomkilled",
        """\
==> kubectl-describe-pod-gpu-operator.txt <==
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Limits:
      memory:  350Mi
""",
    ),
    "pod-security-forbidden: minimal wrapped": (
        "pod-security-forbidden",
        """\
==> kubectl-events.txt <==
Error creating: pods "nvidia-operator-validator-" is forbidden: violates PodSecurity
"baseline:latest": hostPath volumes (volumes "driver-install-path", ...), privileged (container
"driver-validation" must not set securityContext.privileged=true)
""",
    ),
    "pod-security-forbidden: daemonset describe": (
        "pod-security-forbidden",
        """\
Name:           nvidia-driver-daemonset
Selector:       app=nvidia-driver-daemonset
Desired Number of Nodes Scheduled: 2
Current Number of Nodes Scheduled: 0
Events:
  Type     Reason        Age                   From                  Message
  ----     ------        ----                  ----                  -------
  Warning  FailedCreate  44s (x16 over 3m28s)  daemonset-controller  Error creating: pods "nvidia-driver-daemonset-k2x8p" is forbidden: violates PodSecurity "privileged:v1.24, restricted:latest": host namespaces (hostPID=true)
""",
    ),
    "pod-security-forbidden: psp": (
        "pod-security-forbidden",
        """\
  Warning  FailedCreate  3s (x15 over 85s)  daemonset-controller  Error creating: pods "nvidia-device-plugin-daemonset-" is forbidden: PodSecurityPolicy: unable to admit pod: [spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used]
""",
    ),
    "nfd-labels-missing: old": (
        "nfd-labels-missing",
        """\
{"level":"info","ts":1650000000.1,"logger":"controllers.ClusterPolicy","msg":"Number of nodes with GPU label","NodeCount":0}
{"level":"info","ts":1650000000.1,"logger":"controllers.ClusterPolicy","msg":"Unable to get runtime info from the cluster, defaulting to containerd"}
""",
    ),
    "cluster-network-broken: issue list": (
        "cluster-network-broken",
        """\
NAMESPACE      NAME                                                              READY   STATUS             RESTARTS          AGE
gpu-operator   gpu-operator-1676547773-node-feature-discovery-master-6774l2chz   0/1     CrashLoopBackOff   6 (17s ago)       6m
gpu-operator   gpu-operator-dd7c784bc-6vxfn                                      0/1     CrashLoopBackOff   6 (12s ago)       6m
kube-system    calico-kube-controllers-75748cc9fd-49kpx                          0/1     Running            358 (5m42s ago)   24h
kube-system    calico-node-cs2dp                                                 1/1     Running            0                 24h
kube-system    coredns-588bb58b94-jrm9d                                          0/1     Running            0                 24h
$ kubectl logs -n gpu-operator gpu-operator-dd7c784bc-6vxfn
{"level":"error","ts":"2026-03-01T09:00:00Z","logger":"controller-runtime.manager","msg":"Failed to get API Group-Resources","error":"Get \\"https://10.233.0.1:443/api?timeout=32s\\": dial tcp 10.233.0.1:443: i/o timeout"}
""",
    ),
    "coredns-forwarding-loop: with nfd failing": (
        "coredns-forwarding-loop",
        """\
NAMESPACE     NAME                        READY   STATUS             RESTARTS       AGE
kube-system   coredns-787d4945fb-ab12c    0/1     CrashLoopBackOff   14 (60s ago)   50m
gpu-operator  gpu-operator-node-feature-discovery-worker-x1x2x   1/1   Running  9 (2m ago)  40m
$ kubectl logs -n kube-system coredns-787d4945fb-ab12c
[FATAL] plugin/loop: Loop (127.0.0.1:40337 -> :53) detected for zone ".", see https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 61."
$ kubectl logs -n gpu-operator gpu-operator-node-feature-discovery-worker-x1x2x
grpc: addrConn.createTransport failed to connect to {gpu-operator-node-feature-discovery-master:8080}. Err: connection error: desc = "transport: Error while dialing dial tcp: lookup gpu-operator-node-feature-discovery-master on 10.96.0.10:53: server misbehaving\"
""",
    ),
    "host-firewall-blocks-pod-traffic: with dns failing": (
        "host-firewall-blocks-pod-traffic",
        """\
$ kubectl logs -n kube-system coredns-5
[ERROR] plugin/errors: 2 nvcr.io. A: read udp 10.244.1.3:40000->192.168.1.10:53: read: no route to host
[ERROR] plugin/errors: 2 nvcr.io. A: read udp 10.244.1.3:40001->192.168.1.10:53: read: no route to host
E0301 09:00:00.000000       1 reflector.go:125] Failed to list *v1.Service: Get "https://10.96.0.1:443/api/v1/services?limit=500": dial tcp 10.96.0.1:443: connect: no route to host
$ kubectl logs -n gpu-operator nfd-worker
lookup nfd-master on 10.96.0.10:53: read udp 10.244.1.9:55555->10.96.0.10:53: i/o timeout
""",
    ),
    "nfd-labels-missing: operator info with plugin absent": (
        "nfd-labels-missing",
        """\
$ kubectl get pods -n gpu-operator
NAME                            READY   STATUS    RESTARTS   AGE
gpu-operator-6d8c7b5f9-k8s2p    1/1     Running   0          3h
$ kubectl logs -n gpu-operator gpu-operator-6d8c7b5f9-k8s2p
{"level":"info","ts":1690000000.1,"logger":"controllers.ClusterPolicy","msg":"Could not get any nodes to match nodeSelector","Attr":"feature.node.kubernetes.io/pci-10de.present"}
{"level":"info","ts":1690000000.1,"logger":"controllers.ClusterPolicy","msg":"No GPU node in the cluster, do not create DaemonSets"}
0/2 nodes are available: 2 Insufficient nvidia.com/gpu.
""",
    ),
    "operator-oomkilled: with leader lost": (
        "operator-oomkilled",
        """\
NAME                             READY   STATUS             RESTARTS        AGE
gpu-operator-7bfc5f55c7-x2lqk    0/1     CrashLoopBackOff   44 (2m ago)     5h
$ kubectl describe pod gpu-operator-7bfc5f55c7-x2lqk | grep -A4 'Last State'
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
""",
    ),
    "kubelet-plugin-socket-dir-mismatch: with capacity": (
        "kubelet-plugin-socket-dir-mismatch",
        """\
E0105 08:00:10.000800       1 server.go:147] Could not register device plugin: context deadline exceeded
I0105 08:00:10.000900       1 main.go:300] Failed to start one or more plugins. Retrying in 30s...
0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
hostPath: /var/lib/k0s/kubelet/device-plugins
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)
