# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of container runtimes, toolkits and CDI, and of a healthy stack; and what is found in it first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed_files, judge

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
    "container-toolkit-version-regression: enroot": (
        "container-toolkit-version-regression",
        """\
slurmstepd: error: pyxis: container start failed with error code: 1
slurmstepd: error: pyxis: printing enroot log file:
slurmstepd: error: pyxis:     nvidia-container-cli: mount error: failed to add device rules: open /sys/fs/cgroup/devices/slurm/uid_1001/job_12/step_0/task_0/devices.allow: permission denied
slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1
""",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, text = TEXTS[name]
    judge(diagnosed_files(tmp_path, text), cause)
