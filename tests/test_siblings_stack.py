# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of runtimes, control planes, device plugins and operators - and of healthy ones; and what is found in it first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.runbook.index import library

FILE = re.compile(r"^==> (\S+) <==\n", re.MULTILINE)

# What was pasted, in files where `==> NAME <==` begins one → the first cause; "?cause" = a candidate, nothing is found; "" = nothing
TEXTS: dict[str, tuple[str, str]] = {
    "cdi-device-unresolvable: podman": (
        "cdi-device-unresolvable",
        """\
$ podman run --rm --device nvidia.com/gpu=1 docker.io/nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi
Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=1
$ nvidia-ctk cdi list
INFO[0000] Found 2 CDI devices
nvidia.com/gpu=0
nvidia.com/gpu=all
""",
    ),
    "cdi-device-unresolvable: minimal wrapped": (
        "cdi-device-unresolvable",
        """\
==> kubectl-describe-pod.txt <==
Error: failed to create containerd task: CDI device injection failed: unresolvable CDI devices
management.nvidia.com/gpu=all: unknown
""",
    ),
    "cdi-device-unresolvable: crio": (
        "cdi-device-unresolvable",
        """\
Warning  Failed  3s (x4 over 45s)  kubelet  Error: CreateContainer request: CDI device injection failed: failed to inject devices: unresolvable CDI devices management.nvidia.com/gpu=all
""",
    ),
    "cdi-device-unresolvable: docker daemon": (
        "cdi-device-unresolvable",
        """\
docker: Error response from daemon: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all.
See 'docker run --help'.
""",
    ),
    "cgroup-driver-mismatch: kubelet slice minimal": (
        "cgroup-driver-mismatch",
        """\
==> kubectl-events.txt <==
nvidia-container-cli: mount error: open failed:
/sys/fs/cgroup/devices/system.slice/containerd.service/kubepods-besteffort-podabc.slice:cri-containerd:9f/devices.allow: no such file or directory
""",
    ),
    "cgroup-driver-mismatch: kubelet dockershim": (
        "cgroup-driver-mismatch",
        """\
Mar 02 10:11:59 n1 kubelet[20931]: E0302 10:11:59.118 20931 server.go:302] "Failed to run kubelet" err="failed to run Kubelet: misconfiguration: kubelet cgroup driver: \\"systemd\\" is different from docker cgroup driver: \\"cgroupfs\\""
Mar 02 10:11:59 n1 systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE
""",
    ),
    "cgroup-driver-mismatch: runc reversed": (
        "cgroup-driver-mismatch",
        """\
Warning  FailedCreatePodSandBox  2s (x9 over 90s)  kubelet  Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: failed to create shim task: OCI runtime create failed: unable to retrieve OCI runtime error (open /run/containerd/io.containerd.runtime.v2.task/k8s.io/ab/log.json: no such file or directory): runc did not terminate successfully: exit status 1: expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/besteffort/pod01/ab" instead: unknown
""",
    ),
    "cgroup-driver-mismatch: crio crun": (
        "cgroup-driver-mismatch",
        """\
Error: container create failed: invalid systemd cgroup path: expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups, got "/kubepods/pod1/crio-77" instead
""",
    ),
    "container-lost-gpu-cgroup-devices: in-pod and node": (
        "container-lost-gpu-cgroup-devices",
        """\
==> nvidia-smi-in-pod.txt <==
Failed to initialize NVML: Unknown Error
==> nvidia-smi-on-node.txt <==
| NVIDIA-SMI 550.54.15    Driver Version: 550.54.15    CUDA Version: 12.4 |
""",
    ),
    "container-lost-gpu-cgroup-devices: cgroup v2": (
        "container-lost-gpu-cgroup-devices",
        """\
==> kubectl-exec.txt <==
$ kubectl exec notebook-0 -- nvidia-smi
Failed to initialize NVML: Unknown Error
==> host.txt <==
# systemctl daemon-reload     <- right before
# ls -l /dev/char | grep nvidia
(nothing)
""",
    ),
    "container-lost-gpu-cgroup-devices: prose docker": (
        "container-lost-gpu-cgroup-devices",
        """\
Our training containers run fine for a few hours and then lose the card. Inside:
root@2f1c9e:/workspace# nvidia-smi
Failed to initialize NVML: Unknown Error
On the host:
root@node17:~# nvidia-smi -L
GPU 0: NVIDIA A40 (UUID: GPU-0f0f0f0f-1111-2222-3333-444444444444)
GPU 1: NVIDIA A40 (UUID: GPU-1f0f0f0f-1111-2222-3333-444444444444)
""",
    ),
    "container-lost-gpu-cgroup-devices: torch": (
        "container-lost-gpu-cgroup-devices",
        """\
>>> torch.cuda.is_available()
/opt/conda/lib/python3.10/site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 304: OS call failed or operation not supported on this OS (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)
False
>>> 
root@jupyter-0:~# nvidia-smi
Failed to initialize NVML: Unknown Error
""",
    ),
    "container-toolkit-version-regression: pivot-root ldconfig": (
        "container-toolkit-version-regression",
        """\
Since we moved the AMI from nvidia-container-toolkit 1.17.3 to 1.17.8 every GPU pod fails:
  Warning  Failed  12s (x3 over 33s)  kubelet  Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running createContainer hook #2: exit status 1, stdout: , stderr: time="2026-02-11T08:00:00Z" level=info msg="Symlinking /x" 
  error updating ldcache: failed to mount host root: error running pivot_root: pivot_root .: invalid argument: unknown
""",
    ),
    "container-toolkit-version-regression: imex minimal": (
        "container-toolkit-version-regression",
        """\
==> kubectl-describe-pod.txt <==
Auto-detected mode as 'legacy'
nvidia-container-cli: error parsing IMEX info: unsupported IMEX channel value: all: unknown
""",
    ),
    "container-toolkit-version-regression: ldcache": (
        "container-toolkit-version-regression",
        """\
Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running createContainer hook #1: exit status 1, stdout: , stderr: time="2026-02-10T10:00:00Z" level=error msg="failed to create application profiles directory: mkdirat etc/nvidia/nvidia-application-profiles-rc.d: read-only file system": unknown
""",
    ),
    "container-toolkit-version-regression: imex": (
        "container-toolkit-version-regression",
        """\
nvidia-container-cli: error parsing IMEX info: unsupported IMEX channel value: 0,1: unknown
""",
    ),
    "cpu-manager-strips-gpu-devices: config": (
        "cpu-manager-strips-gpu-devices",
        """\
After about ten seconds each GPU pod says
  Failed to initialize NVML: Unknown Error
kubelet config:
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
cpuManagerReconcilePeriod: 10s
""",
    ),
    "cpu-manager-strips-gpu-devices: state file": (
        "cpu-manager-strips-gpu-devices",
        """\
# cat /var/lib/kubelet/cpu_manager_state
{"policyName":"static","defaultCpuSet":"0-1,34-63","entries":{"1b2c":{"main":"2-33"}},"checksum":1353318690}
# kubectl exec train-0 -- nvidia-smi
Failed to initialize NVML: Unknown Error
command terminated with exit code 255
# nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0f0f0f0f-1111-2222-3333-444444444444)
""",
    ),
    "cpu-manager-strips-gpu-devices: minimal": (
        "cpu-manager-strips-gpu-devices",
        """\
==> nvidia-smi-in-pod.txt <==
Failed to initialize NVML: Unknown Error
==> kubelet-args.txt <==
--cpu-manager-policy=static
""",
    ),
    "cpu-manager-strips-gpu-devices: kubelet config file": (
        "cpu-manager-strips-gpu-devices",
        """\
==> pod-log.txt <==
Failed to initialize NVML: Unknown Error
==> kubelet-config.yaml <==
kind: KubeletConfiguration
cpuManagerPolicy: static
""",
    ),
    "image-contains-driver-files: minimal": (
        "image-contains-driver-files",
        """\
==> kubectl-events.txt <==
nvidia-container-cli: mount error: file creation failed: .../merged/usr/bin/nvidia-smi: file
exists: unknown
""",
    ),
    "image-contains-driver-files: docker": (
        "image-contains-driver-files",
        """\
docker: Error response from daemon: OCI runtime create failed: container_linux.go:380: starting container process caused: process_linux.go:545: container init caused: Running hook #0:: error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/77/merged/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1: file exists: unknown.
""",
    ),
    "image-contains-driver-files: persistenced": (
        "image-contains-driver-files",
        """\
nvidia-container-cli: mount error: file creation failed: /var/lib/containers/storage/overlay/9/merged/usr/bin/nvidia-persistenced: file exists
""",
    ),
    "image-contains-driver-files: wsl": (
        "image-contains-driver-files",
        """\
nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/3f/merged/usr/lib/x86_64-linux-gnu/libcuda.so.1: file exists
""",
    ),
    "image-glibc-mismatch: musl": (
        "image-glibc-mismatch",
        """\
Error relocating /usr/lib/libnvidia-ml.so.1: __sprintf_chk: symbol not found
Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /usr/bin/nvidia-smi)
""",
    ),
    "image-glibc-mismatch: minimal": (
        "image-glibc-mismatch",
        """\
==> kubectl-logs.txt <==
/lib64/libc.so.6: version `GLIBC_2.34' not found (required by nvidia-device-plugin)
""",
    ),
    "image-glibc-mismatch: validator": (
        "image-glibc-mismatch",
        """\
nvidia-smi: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.33' not found (required by nvidia-smi)
""",
    ),
    "image-glibc-mismatch: hook": (
        "image-glibc-mismatch",
        """\
OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running prestart hook #0: exit status 127, stdout: , stderr: /usr/local/nvidia/toolkit/nvidia-container-cli.real: /lib64/libc.so.6: version `GLIBC_2.27' not found (required by /usr/local/nvidia/toolkit/libnvidia-container.so.1): unknown
""",
    ),
    "mount-propagation-not-shared: minimal": (
        "mount-propagation-not-shared",
        """\
==> kubectl-events.txt <==
Error: failed to generate container spec: path "/run/nvidia" is mounted on "/run" but it is not a
shared mount
""",
    ),
    "mount-propagation-not-shared: run": (
        "mount-propagation-not-shared",
        """\
Error: failed to generate container "1ab" spec: failed to generate spec: path "/run/nvidia/driver" is mounted on "/run" but it is not a shared or slave mount
""",
    ),
    "mount-propagation-not-shared: docker": (
        "mount-propagation-not-shared",
        """\
Error response from daemon: path /run/nvidia is mounted on /run but it is not a shared mount
""",
    ),
    "mount-propagation-not-shared: root wsl": (
        "mount-propagation-not-shared",
        """\
  Warning  Failed  2m (x8 over 4m)  kubelet  Error: failed to start container "node-exporter": Error response from daemon: path / is mounted on / but it is not a shared or slave mount
""",
    ),
    "nvidia-runtime-not-configured: podman": (
        "nvidia-runtime-not-configured",
        """\
Error: default OCI runtime "nvidia" not found: invalid argument
""",
    ),
    "nvidia-runtime-not-configured: minimal k0s": (
        "nvidia-runtime-not-configured",
        """\
==> kubectl-describe.txt <==
failed to get sandbox runtime: no runtime for "nvidia"
is configured
""",
    ),
    "nvidia-runtime-not-configured: crio": (
        "nvidia-runtime-not-configured",
        """\
Failed to create pod sandbox: rpc error: code = Unknown desc = failed to find runtime handler nvidia from runtime list map[crun:0xc0003 runc:0xc0004]
""",
    ),
    "nvidia-runtime-not-configured: docker new": (
        "nvidia-runtime-not-configured",
        """\
docker: Error response from daemon: unknown or invalid runtime name: nvidia.
""",
    ),
    "nvml-library-not-visible-in-pod: exporter 4 json": (
        "nvml-library-not-visible-in-pod",
        """\
{"time":"2026-01-10T10:00:00Z","level":"ERROR","msg":"Failed to initialize NVML provider","error":"cannot init NVML library; err: ERROR_LIBRARY_NOT_FOUND"}
""",
    ),
    "nvml-library-not-visible-in-pod: minimal": (
        "nvml-library-not-visible-in-pod",
        """\
==> kubectl-logs-dcgm-exporter.txt <==
level=fatal msg="Error starting nv-hostengine: DCGM initialization error\"
""",
    ),
    "nvml-library-not-visible-in-pod: libdcgm": (
        "nvml-library-not-visible-in-pod",
        """\
==> kubectl-logs-dcgm-exporter.txt <==
time="2026-02-01T00:00:00Z" level=fatal msg="Cannot perform the requested operation because NVML doesn't exist on this system.\"
""",
    ),
    "nvml-library-not-visible-in-pod: gke": (
        "nvml-library-not-visible-in-pod",
        """\
$ kubectl exec -it dcgm-exporter-9 -- nvidia-smi
bash: nvidia-smi: command not found
time="2026-01-10T10:00:00Z" level=info msg="Starting dcgm-exporter"
time="2026-01-10T10:00:00Z" level=fatal msg="Error starting nv-hostengine: DCGM initialization error\"
""",
    ),
    "runtime-not-injecting-driver: minimal plugin": (
        "runtime-not-injecting-driver",
        """\
==> kubectl-logs-device-plugin.txt <==
Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object
file: No such file or directory
==> nvidia-smi-on-host.txt <==
| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |
""",
    ),
    "runtime-not-injecting-driver: k3s default runc": (
        "runtime-not-injecting-driver",
        """\
2024/01/05 08:00:00 Loading NVML
2024/01/05 08:00:00 Failed to initialize NVML: could not load NVML library.
2024/01/05 08:00:00 If this is a GPU node, did you set the docker default runtime to `nvidia`?
$ grep default_runtime_name /var/lib/rancher/k3s/agent/etc/containerd/config.toml
  default_runtime_name = "runc\"
""",
    ),
    "runtime-not-injecting-driver: plugin 0.14": (
        "runtime-not-injecting-driver",
        """\
I0105 08:00:00.000000       1 main.go:154] Starting FS watcher.
I0105 08:00:00.000100       1 main.go:161] Starting OS watcher.
W0105 08:00:00.000500       1 factory.go:31] No valid resources detected, creating a null CDI handler
I0105 08:00:00.000600       1 factory.go:104] Detected non-NVML platform: could not load NVML: libnvidia-ml.so.1: cannot open shared object file: No such file or directory
E0105 08:00:00.000700       1 factory.go:112] Incompatible platform detected
E0105 08:00:00.000800       1 factory.go:113] If this is a GPU node, did you configure the NVIDIA Container Toolkit?
I0105 08:00:00.000900       1 main.go:287] No devices found. Waiting indefinitely.
""",
    ),
    "runtime-not-injecting-driver: plugin 0.6": (
        "runtime-not-injecting-driver",
        """\
2026/01/05 08:00:00 Loading NVML
2026/01/05 08:00:00 Failed to initialize NVML: could not load NVML library.
2026/01/05 08:00:00 If this is a GPU node, did you set the docker default runtime to `nvidia`?
2026/01/05 08:00:00 You can check the prerequisites at: https://github.com/NVIDIA/k8s-device-plugin#prerequisites
""",
    ),
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
    "apiserver-down: pod with goaway": (
        "apiserver-down",
        """\
==> kubectl-logs-gpu-operator.txt <==
http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR
dial tcp 10.96.0.1:443: connect: connection refused
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
    "apiserver-slow-or-unreachable: kubectl unable": (
        "apiserver-slow-or-unreachable",
        """\
Unable to connect to the server: net/http: TLS handshake timeout
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
    "apiserver-unreachable-from-pod: nfd": (
        "apiserver-unreachable-from-pod",
        """\
F0301 09:00:00.000000       1 main.go:66] failed to create NfdMaster: Get "https://10.43.0.1:443/api?timeout=32s": dial tcp 10.43.0.1:443: i/o timeout
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
    "clock-skew: kubelet notyetvalid": (
        "clock-skew",
        """\
==> k3s-agent.log <==
level=error msg="failed to get CA certs: Get \\"https://127.0.0.1:6444/cacerts\\": x509: certificate has expired or is not yet valid: current time 2026-01-01T00:00:12Z is before 2026-05-10T08:00:00Z\"
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
    "cluster-network-broken: flannel crash": (
        "cluster-network-broken",
        """\
kube-flannel   kube-flannel-ds-7xk2p   0/1   CrashLoopBackOff   301 (2m ago)   25h
nvidia-gpu-operator   gpu-operator-6f9fd8b6f6-q5m7d   0/1   Error   3   5m
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
    "coredns-forwarding-loop: listing and log": (
        "coredns-forwarding-loop",
        """\
NAME                   READY   STATUS             RESTARTS      AGE
coredns-787d4945fb-5   0/1     CrashLoopBackOff   12 (30s ago)  38m
coredns-787d4945fb-8   0/1     CrashLoopBackOff   12 (41s ago)  38m
.:53
[INFO] plugin/reload: Running configuration SHA512 = 591cf3
CoreDNS-1.9.3
linux/amd64, go1.18.2, 45b0a11
[FATAL] plugin/loop: Loop (127.0.0.1:40337 -> :53) detected for zone ".", see https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO 61."
time="2026-03-01T09:00:00Z" level=fatal msg="lookup nvcr.io: no such host\"
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
    "etcd-slow-or-restarting: minimal": (
        "etcd-slow-or-restarting",
        """\
==> kubectl-logs-gpu-operator.txt <==
error retrieving resource lock gpu-operator/53822513.nvidia.com: etcdserver: request timed out
leader election lost
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
    "host-firewall-blocks-pod-traffic: coredns": (
        "host-firewall-blocks-pod-traffic",
        """\
[ERROR] plugin/errors: 2 google.com. A: read udp 10.244.1.3:40000->192.168.1.10:53: read: no route to host
E0301 09:00:00.000000       1 reflector.go:125] Failed to list *v1.Endpoints: Get https://10.96.0.1:443/api/v1/endpoints?limit=500: dial tcp 10.96.0.1:443: connect: no route to host
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
    "pod-default-route-bypasses-service-nat: ipv6": (
        "pod-default-route-bypasses-service-nat",
        """\
{"level":"error","logger":"setup","msg":"unable to create manager","error":"Get \\"https://[fd00:10:96::1]:443/api\\": dial tcp [fd00:10:96::1]:443: connect: network is unreachable"}
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
    "device-plugin-missing-privileges: volume mounts": (
        "device-plugin-missing-privileges",
        """\
I0105 08:00:00.000000       1 main.go:279] 
Running with config:
{
  "version": "v1",
  "flags": {
    "migStrategy": "none",
    "failOnInitError": true,
    "plugin": {
      "passDeviceSpecs": false,
      "deviceListStrategy": [
        "volume-mounts"
      ],
      "deviceIDStrategy": "uuid"
    }
  }
}
I0105 08:00:00.000600       1 factory.go:104] Detected non-NVML platform: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file: No such file or directory
E0105 08:00:00.000700       1 factory.go:112] Incompatible platform detected
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
    "device-plugin-not-registered-yet: kubelet journal": (
        "device-plugin-not-registered-yet",
        """\
Mar 01 09:00:01 gpu-2 kubelet[900]: I0301 09:00:01.000000     900 manager.go:322] "Starting Device Plugin manager"
Mar 01 09:00:02 gpu-2 kubelet[900]: I0301 09:00:02.000000     900 kubelet.go:2303] "SyncLoop ADD" source="api" pods="[\\"ml/train-0\\"]"
Mar 01 09:00:02 gpu-2 kubelet[900]: E0301 09:00:02.100000     900 manager.go:1100] "Allocate failed" err="cannot allocate unregistered device nvidia.com/gpu"
Mar 01 09:00:41 gpu-2 kubelet[900]: I0301 09:00:41.000000     900 server.go:158] "Got registration request from device plugin with resource" resourceName="nvidia.com/gpu\"
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
    "device-plugin-not-running: crash": (
        "device-plugin-not-running",
        """\
NAMESPACE    NAME                                   READY  STATUS             RESTARTS      AGE
kube-system  nvidia-device-plugin-daemonset-5xk     0/1    CrashLoopBackOff   31 (3m ago)   2h
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
    "device-plugin-repelled-by-taint: yaml tolerations": (
        "device-plugin-repelled-by-taint",
        """\
==> node.yaml <==
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
spec:
  taints:
  - effect: NoSchedule
    key: nvidia.com/gpu
    value: "true"
status:
  capacity: {cpu: "8", memory: 30Gi, pods: "58"}
  allocatable: {cpu: "8", memory: 29Gi, pods: "58"}
==> ds.yaml <==
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: nvidia-device-plugin-daemonset
  namespace: kube-system
spec:
  selector: {matchLabels: {name: nvidia-device-plugin-ds}}
  template:
    metadata: {labels: {name: nvidia-device-plugin-ds}}
    spec:
      tolerations:
      - key: CriticalAddonsOnly
        operator: Exists
      containers:
      - name: nvidia-device-plugin-ctr
        image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0
status:
  currentNumberScheduled: 0
  desiredNumberScheduled: 0
  numberReady: 0
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
    "kubelet-device-manager-stale-state: endpoint": (
        "kubelet-device-manager-stale-state",
        """\
  Warning  Failed  3s (x8 over 90s)  kubelet  Error: endpoint not found in cache for a registered resource: nvidia.com/gpu
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
    "kubelet-device-plugin-support-disabled: unimplemented": (
        "kubelet-device-plugin-support-disabled",
        """\
2018/01/05 08:00:05 Could not register device plugin: rpc error: code = Unimplemented desc = unknown service v1beta1.Registration
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
    "kubelet-plugin-socket-dir-mismatch: hostpath": (
        "kubelet-plugin-socket-dir-mismatch",
        """\
The kubelet runs with --root-dir=/data/kubelet.
2026/01/05 08:00:00 Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
2026/01/05 08:00:05 Could not register device plugin: context deadline exceeded
2026/01/05 08:00:05 Failed to start plugin: context deadline exceeded
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
    "nfd-label-format-mismatch: minimal": (
        "nfd-label-format-mismatch",
        """\
==> kubectl-get-node-labels.txt <==
feature.node.kubernetes.io/pci-0302_10de.present=true
==> kubectl-get-ds.txt <==
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR
nvidia-device-plugin-daemonset   0         0         0       0            0           feature.node.kubernetes.io/pci-10de.present=true
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
    "nfd-labels-missing: nfd master down": (
        "nfd-labels-missing",
        """\
NAMESPACE      NAME                                                          READY   STATUS             RESTARTS       AGE
gpu-operator   gpu-operator-77-ab                                            1/1     Running            0              1h
gpu-operator   gpu-operator-node-feature-discovery-master-66-cd              0/1     CrashLoopBackOff   14 (2m ago)    1h
gpu-operator   gpu-operator-node-feature-discovery-worker-ef                 1/1     Running            0              1h
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
    "operator-oomkilled: get pods crashloop then describe": (
        "operator-oomkilled",
        """\
==> kubectl-get-pods.txt <==
gpu-operator-6f9fd8b6f6-q5m7d   0/1   CrashLoopBackOff   9 (3m ago)   40m
==> kubectl-describe-operator.txt <==
Last State: Terminated
  Reason: OOMKilled
  Exit Code: 137
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
    "pod-security-forbidden: psa": (
        "pod-security-forbidden",
        """\
LAST SEEN  TYPE     REASON        OBJECT                                      MESSAGE
44s        Warning  FailedCreate  daemonset/nvidia-operator-validator         Error creating: pods "nvidia-operator-validator-" is forbidden: violates PodSecurity "restricted:latest": privileged (container "driver-validation" must not set securityContext.privileged=true), restricted volume types (volumes "run-nvidia-validations" use restricted volume type "hostPath")
""",
    ),
    "nfd-labels-missing: old": (
        "?nfd-labels-missing",
        """\
{"level":"info","ts":1650000000.1,"logger":"controllers.ClusterPolicy","msg":"Number of nodes with GPU label","NodeCount":0}
{"level":"info","ts":1650000000.1,"logger":"controllers.ClusterPolicy","msg":"Unable to get runtime info from the cluster, defaulting to containerd"}
""",
    ),
    "psa warn at apply": (
        "",
        """\
Warning: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities, seccompProfile
pod/train-0 created
""",
    ),
    "plugin start": (
        "",
        """\
I0105 08:00:00.000000       1 main.go:154] Starting FS watcher.
I0105 08:00:00.000300       1 factory.go:107] Detected NVML platform: found NVML library
I0105 08:00:00.000400       1 factory.go:107] Detected non-Tegra platform: /sys/devices/soc0/family file not found
I0105 08:00:00.000700       1 server.go:165] Starting GRPC server for 'nvidia.com/gpu'
I0105 08:00:00.000800       1 server.go:117] Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
I0105 08:00:00.000900       1 server.go:125] Registered device plugin for 'nvidia.com/gpu' with Kubelet
""",
    ),
    "leader election normal": (
        "",
        """\
I0301 09:00:00.000000       1 leaderelection.go:254] attempting to acquire leader lease gpu-operator/53822513.nvidia.com...
I0301 09:00:16.000000       1 leaderelection.go:268] successfully acquired lease gpu-operator/53822513.nvidia.com
""",
    ),
    "coredns start": (
        "",
        """\
.:53
[INFO] plugin/reload: Running configuration SHA512 = 591cf328
CoreDNS-1.11.1
linux/amd64, go1.20.7, ae2bbc2
[INFO] plugin/kubernetes: waiting for Kubernetes API before starting server
[WARNING] plugin/kubernetes: starting server with unsynced Kubernetes API
""",
    ),
    "plugin restart at kubelet restart": (
        "",
        """\
I0105 08:00:00.000800       1 server.go:117] Starting to serve 'nvidia.com/gpu' on /var/lib/kubelet/device-plugins/nvidia-gpu.sock
E0105 08:00:05.000900       1 server.go:125] Could not register device plugin: context deadline exceeded
I0105 08:00:35.000900       1 server.go:125] Registered device plugin for 'nvidia.com/gpu' with Kubelet
""",
    ),
    "etcd compaction": (
        "",
        """\
{"level":"info","ts":"2026-03-01T09:00:00Z","caller":"mvcc/kvstore_compaction.go:66","msg":"finished scheduled compaction","compact-revision":1021,"took":"21ms"}
{"level":"warn","ts":"2026-03-01T09:00:00Z","caller":"etcdserver/util.go:170","msg":"apply request took too long","took":"131ms","expected-duration":"100ms","prefix":"read-only range "}
""",
    ),
    "rollout": (
        "",
        """\
NAMESPACE     NAME                                 READY  STATUS        RESTARTS  AGE
kube-system   nvidia-device-plugin-daemonset-aa    1/1    Terminating   0         9d
kube-system   nvidia-device-plugin-daemonset-bb    1/1    Running       0         20s
kube-system   coredns-1                            1/1    Running       2 (9d ago)  40d
""",
    ),
    "kubelet config on its own": (
        "",
        """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
cpuManagerPolicy: static
""",
    ),
    "chrony fine": (
        "",
        """\
Reference ID    : A29FC87B (time.cloudflare.com)
Stratum         : 4
System time     : 0.000021337 seconds slow of NTP time
Last offset     : -0.000012 seconds
Leap status     : Normal
""",
    ),
    "nfd worker": (
        "",
        """\
I0301 09:00:00.000000       1 nfd-worker.go:222] "Node Feature Discovery Worker" version="v0.16.4" nodeName="gpu-1" namespace="gpu-operator"
I0301 09:00:00.100000       1 nfd-worker.go:562] "starting feature discovery..."
I0301 09:00:00.600000       1 nfd-worker.go:577] "feature discovery completed"
E0301 09:00:00.600000       1 nfd-worker.go:300] "failed to get self pod, cannot inherit ownerReference for NodeFeature" err="Get \\"x\\"\"
""",
    ),
    "gfd": (
        "",
        """\
I0301 09:00:00.000000       1 main.go:163] Start running
I0301 09:00:00.000000       1 main.go:187] Creating Labels
I0301 09:00:00.000000       1 output.go:82] Writing labels to output file /etc/kubernetes/node-feature-discovery/features.d/gfd
I0301 09:00:00.000000       1 main.go:193] Sleeping for 60000000000
""",
    ),
    "toolkit install": (
        "",
        """\
time="2026-03-01T09:00:00Z" level=info msg="Starting nvidia-toolkit"
time="2026-03-01T09:00:00Z" level=warning msg="You may need to manually restart the runtime."
time="2026-03-01T09:00:00Z" level=info msg="Successfully signaled containerd"
time="2026-03-01T09:00:00Z" level=info msg="Completed 'setup' for containerd"
time="2026-03-01T09:00:00Z" level=info msg="Waiting for signal\"
""",
    ),
    "nvidia-ctk cdi generate": (
        "",
        """\
INFO[0000] Auto-detected mode as 'nvml'
WARN[0000] Could not locate /nvidia-fabricmanager/socket: pattern /nvidia-fabricmanager/socket not found
WARN[0000] Could not locate nvidia-imex: pattern nvidia-imex not found
INFO[0000] Generated CDI spec with version 0.8.0
""",
    ),
    "sandbox changed": (
        "",
        """\
  Normal  SandboxChanged  2m (x3 over 3m)  kubelet  Pod sandbox changed, it will be killed and re-created.
  Normal  Started         2m               kubelet  Started container main
""",
    ),
    "registration kubelet log": (
        "",
        """\
Mar 01 09:00:41 gpu-2 kubelet[900]: I0301 09:00:41.000000     900 server.go:158] "Got registration request from device plugin with resource" resourceName="nvidia.com/gpu"
Mar 01 09:00:41 gpu-2 kubelet[900]: I0301 09:00:41.100000     900 handler.go:94] "Registered client" name="nvidia.com/gpu"
Mar 01 09:10:41 gpu-2 kubelet[900]: I0301 09:10:41.100000     900 manager.go:230] "Endpoint became unhealthy" resourceName="nvidia.com/gpu"
Mar 01 09:10:45 gpu-2 kubelet[900]: I0301 09:10:45.000000     900 server.go:158] "Got registration request from device plugin with resource" resourceName="nvidia.com/gpu\"
""",
    ),
    "watch closed": (
        "",
        """\
W0301 09:00:00.000000       1 reflector.go:462] k8s.io/client-go/informers/factory.go:150: watch of *v1.Pod ended with: an error on the server ("unable to decode an event from the watch stream: http2: client connection lost") has prevented the request from succeeding
I0301 09:00:01.000000       1 trace.go:205] Trace[1]: "Reflector ListAndWatch" (total time: 2001ms)
""",
    ),
    "CDI devices listed": (
        "",
        """\
$ nvidia-ctk cdi list
INFO[0000] Found 3 CDI devices
nvidia.com/gpu=0
nvidia.com/gpu=GPU-0f0f0f0f-1111-2222-3333-444444444444
nvidia.com/gpu=all
""",
    ),
    "cgroup drivers agree": (
        "",
        """\
==> kubelet-config.yaml <==
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
==> config.toml <==
version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
  runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
    BinaryName = "/usr/bin/nvidia-container-runtime"
    SystemdCgroup = true
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true
""",
    ),
    "driver-library-version-mismatch: in the pod, versions differ": (
        "driver-library-version-mismatch",
        """\
$ kubectl exec train-0 -- nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.144
""",
    ),
    "a legacy hook that works": (
        "",
        """\
Auto-detected mode as 'legacy'
container_linux.go:380: container started
""",
    ),
    "a link that is there already": (
        "",
        """\
ln: failed to create symbolic link '/usr/bin/nvidia-smi': File exists
""",
    ),
    "the C library's version": (
        "",
        """\
$ ldd --version
ldd (GNU libc) 2.35
""",
    ),
    "mounts are shared": (
        "",
        """\
$ findmnt -o TARGET,PROPAGATION /run
TARGET PROPAGATION
/run   shared
""",
    ),
    "exporter starts": (
        "",
        """\
time="2026-02-01T00:00:00Z" level=info msg="Starting dcgm-exporter"
time="2026-02-01T00:00:00Z" level=info msg="DCGM successfully initialized!"
time="2026-02-01T00:00:01Z" level=info msg="Collecting DCP Metrics"
time="2026-02-01T00:00:01Z" level=info msg="Starting webserver\"
""",
    ),
    "a probe before the program listens": (
        "",
        """\
  Warning  Unhealthy  12s  kubelet  Readiness probe failed: Get "http://10.244.0.7:8081/readyz": dial tcp 10.244.0.7:8081: connect: connection refused
""",
    ),
    "the API server answers": (
        "",
        """\
$ curl -sk https://10.96.0.1:443/version
{"major": "1", "minor": "31", "gitVersion": "v1.31.2"}
""",
    ),
    "a name resolves": (
        "",
        """\
$ nslookup kubernetes.default
Server:    10.96.0.10
Address 1: 10.96.0.10 kube-dns.kube-system.svc.cluster.local
Name:      kubernetes.default
Address 1: 10.96.0.1 kubernetes.default.svc.cluster.local
""",
    ),
    "one query upstream is lost": (
        "",
        """\
[INFO] plugin/reload: Running configuration SHA512 = 591cf328
[ERROR] plugin/errors: 2 nvcr.io. A: read udp 10.244.0.5:44251->10.0.0.2:53: i/o timeout
""",
    ),
    "ufw keeps the internet out": (
        "",
        """\
[1712.114455] [UFW BLOCK] IN=eth0 OUT= MAC=aa:bb SRC=203.0.113.9 DST=198.51.100.4 LEN=40 TTL=240 PROTO=TCP SPT=51000 DPT=6443 WINDOW=1024 SYN URGP=0
""",
    ),
    "routes of a pod": (
        "",
        """\
# ip route
default via 169.254.1.1 dev eth0
169.254.1.1 dev eth0 scope link
""",
    ),
    "volume mounts and the library is there": (
        "",
        """\
Running with config:
      "deviceListStrategy": [
        "volume-mounts"
      ],
I0105 08:00:00.000300       1 factory.go:107] Detected NVML platform: found NVML library
I0105 08:00:00.000900       1 server.go:125] Registered device plugin for 'nvidia.com/gpu' with Kubelet
""",
    ),
    "a node with its GPUs": (
        "",
        """\
Name:               gpu-1
Labels:             nvidia.com/gpu.present=true
Taints:             nvidia.com/gpu=present:NoSchedule
Capacity:
  cpu:             64
  nvidia.com/gpu:  8
Allocatable:
  cpu:             64
  nvidia.com/gpu:  8
$ kubectl get ds -n gpu-operator nvidia-device-plugin-daemonset
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin-daemonset   1         1         1       1            1           <none>          40d
""",
    ),
    "a taint is set, the plugin tolerates it": (
        "",
        """\
$ kubectl taint nodes gpu-1 nvidia.com/gpu=present:NoSchedule
node/gpu-1 tainted
$ kubectl get ds -n gpu-operator nvidia-device-plugin-daemonset
NAME                             DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR   AGE
nvidia-device-plugin-daemonset   1         1         1       1            1           <none>          40d
""",
    ),
    "the first start of a kubelet": (
        "",
        """\
kubelet[1180]: I0301 09:00:01.000000    1180 manager.go:240] "Failed to retrieve checkpoint" checkpoint="kubelet_internal_checkpoint" err="checkpoint is not found\"
""",
    ),
    "an old version by itself": (
        "",
        """\
$ kubelet --version
Kubernetes v1.9.2
""",
    ),
    "labels of the vendor": (
        "",
        """\
feature.node.kubernetes.io/pci-10de.present=true
feature.node.kubernetes.io/pci-10de.sriov.capable=true
""",
    ),
    "the operator counts its nodes": (
        "",
        """\
{"level":"info","ts":1650000000.1,"logger":"controllers.ClusterPolicy","msg":"Number of nodes with GPU label","NodeCount":2}
""",
    ),
    "the operator runs": (
        "",
        """\
gpu-operator   gpu-operator-7bfc5f55c7-x2lqk   1/1   Running   1 (9d ago)   40d
""",
    ),
    "a lease is lost once and won again": (
        "",
        """\
I0301 09:00:00.000000       1 leaderelection.go:254] attempting to acquire leader lease kube-system/kube-scheduler...
I0301 09:00:16.000000       1 leaderelection.go:268] successfully acquired lease kube-system/kube-scheduler
""",
    ),
    "a slow answer to a probe": (
        "",
        """\
  Warning  Unhealthy  12s (x2 over 40s)  kubelet  Readiness probe failed: Get "http://10.244.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
""",
    ),
    "metrics-server starts": (
        "",
        """\
  Warning  Unhealthy  12s (x2 over 14s)  kubelet  Readiness probe failed: Get "https://10.244.0.9:10250/readyz": dial tcp 10.244.0.9:10250: connect: connection refused
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    _, *parts = FILE.split(text) if text.startswith("==> ") else ("", "pasted.txt", text)
    paths = [tmp_path / Path(one).name for one in parts[::2]]
    for path, content in zip(paths, parts[1::2], strict=True):
        path.write_text(content)
    gathered = gather([str(path) for path in paths])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    found = [one.cause for one in report.findings if one.severity != "info"]
    if cause.startswith("?"):
        assert not found
        assert cause[1:] in [one.cause for one in report.candidates]
    else:
        assert found[:1] == ([cause] if cause else [])
