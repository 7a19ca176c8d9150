# ruff: noqa: E501 - what is pasted has long lines
"""What people paste of GPUs that are shared, of nodes that run out of something, of pods that never start; and what is found in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.heads import sliced, smi
from tests.pasted import diagnosed, judge

# What was pasted, in one file or more → the first cause; "?cause" = it is a candidate, and nothing is found; "" = nothing at all
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gnr describe": (
        "gpu-not-requested",
        (
            """\
Name:         whisper-0
Node:         gpu-1/10.0.0.5
Status:       Running
Containers:
  whisper:
    Image:         registry.example/whisper:gpu
    State:          Running
    Ready:          True
    Restart Count:  0
    Requests:
      cpu:        2
      memory:     8Gi
    Environment:  <none>
""",
            """\
$ kubectl logs whisper-0
UserWarning: FP16 is not supported on CPU; using FP32 instead
RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver
""",
            """\
$ kubectl describe node gpu-1
Capacity:
  nvidia.com/gpu:     2
Allocatable:
  nvidia.com/gpu:     2
Allocated resources:
  Resource           Requests  Limits
  nvidia.com/gpu     0         0
""",
        ),
    ),
    "gnr smi not found": (
        "?gpu-not-requested",
        (
            """\
$ kubectl exec -it jupyter-anna -- nvidia-smi
OCI runtime exec failed: exec failed: unable to start container process: exec: "nvidia-smi": executable file not found in $PATH: unknown
$ kubectl get pod jupyter-anna -o yaml
apiVersion: v1
kind: Pod
metadata:
  name: jupyter-anna
  namespace: hub
spec:
  nodeName: gpu-2
  containers:
  - name: notebook
    image: jupyter/tensorflow-notebook:cuda12
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
status:
  phase: Running
""",
        ),
    ),
    "gnr deployment + ollama": (
        "gpu-not-requested",
        (
            """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ollama
spec:
  replicas: 1
  selector: {matchLabels: {app: ollama}}
  template:
    metadata: {labels: {app: ollama}}
    spec:
      containers:
      - name: ollama
        image: ollama/ollama:0.5.7
        resources:
          requests:
            cpu: "2"
""",
            """\
time=2025-02-02T10:00:00.000Z level=INFO source=gpu.go:226 msg="looking for compatible GPUs"
time=2025-02-02T10:00:00.010Z level=INFO source=gpu.go:392 msg="no compatible GPUs were discovered"
time=2025-02-02T10:00:00.010Z level=INFO source=types.go:131 msg="inference compute" id=0 library=cpu variant=avx2 compute="" driver=0.0 name="" total="62.7 GiB" available="58.1 GiB"
""",
        ),
    ),
    "gnr tf": (
        "gpu-not-requested",
        (
            """\
2024-05-01 10:00:00.000000: E tensorflow/compiler/xla/stream_executor/cuda/cuda_driver.cc:268] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
Num GPUs Available:  0
""",
            """\
apiVersion: batch/v1
kind: Job
metadata:
  name: tf-train
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: tf
        image: tensorflow/tensorflow:2.15.0-gpu
        resources:
          limits:
            memory: 8Gi
""",
        ),
    ),
    "gnr requested quiet": (
        "",
        (
            """\
apiVersion: v1
kind: Pod
metadata:
  name: torch-test
spec:
  containers:
  - name: main
    image: pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime
    resources:
      limits:
        nvidia.com/gpu: 1
""",
            """\
$ kubectl logs torch-test
True
NVIDIA A10G
""",
        ),
    ),
    "dp evicted": (
        "node-disk-pressure",
        (
            """\
NAME              READY   STATUS    RESTARTS   AGE
trainer-0         0/1     Evicted   0          2h
trainer-1         1/1     Running   0          2h
""",
            """\
Status:           Failed
Reason:           Evicted
Message:          The node was low on resource: ephemeral-storage. Threshold quantity: 31189488855, available: 29362700Ki. Container trainer was using 26060Ki, request is 0, has larger consumption of ephemeral-storage.
""",
        ),
    ),
    "dp old words": (
        "node-disk-pressure",
        (
            """\
Status:         Failed
Reason:         Evicted
Message:        The node was low on resource: nodefs.
""",
        ),
    ),
    "dp condition": (
        "node-disk-pressure",
        (
            """\
Conditions:
  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message
  ----             ------  -----------------                 ------------------                ------                       -------
  MemoryPressure   False   Mon, 03 Mar 2025 10:00:00 +0000   Sun, 02 Mar 2025 10:00:00 +0000   KubeletHasSufficientMemory   kubelet has sufficient memory available
  DiskPressure     True    Mon, 03 Mar 2025 10:00:00 +0000   Mon, 03 Mar 2025 09:50:00 +0000   KubeletHasDiskPressure       kubelet has disk pressure
  PIDPressure      False   Mon, 03 Mar 2025 10:00:00 +0000   Sun, 02 Mar 2025 10:00:00 +0000   KubeletHasSufficientPID      kubelet has sufficient PID available
  Ready            True    Mon, 03 Mar 2025 10:00:00 +0000   Sun, 02 Mar 2025 10:00:00 +0000   KubeletReady                 kubelet is posting ready status
""",
        ),
    ),
    "dp gc": (
        "node-disk-pressure",
        (
            """\
Events:
  Type     Reason                Age                  From     Message
  ----     ------                ----                 ----     -------
  Warning  FreeDiskSpaceFailed   59m                  kubelet  Failed to garbage collect required amount of images. Attempted to free 4783028633 bytes, but only found 0 bytes eligible to free.
  Warning  ImageGCFailed         54m (x3)             kubelet  Failed to garbage collect required amount of images. Attempted to free 4783028633 bytes, but only found 0 bytes eligible to free.
""",
        ),
    ),
    "dp gc old": (
        "node-disk-pressure",
        (
            """\
  Warning  ImageGCFailed  3m  kubelet  failed to garbage collect required amount of images. Wanted to free 473842483 bytes, but freed 0 bytes
  Warning  EvictionThresholdMet  3m  kubelet  Attempting to reclaim ephemeral-storage
""",
        ),
    ),
    "dp kubelet journal": (
        "node-disk-pressure",
        (
            """\
Mar 03 09:50:01 gpu-1 kubelet[2011]: I0303 09:50:01.123456    2011 eviction_manager.go:366] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"
Mar 03 09:50:01 gpu-1 kubelet[2011]: I0303 09:50:01.223456    2011 eviction_manager.go:377] "Eviction manager: must evict pod(s) to reclaim" resourceName="ephemeral-storage"
Mar 03 09:50:02 gpu-1 kubelet[2011]: I0303 09:50:02.223456    2011 eviction_manager.go:600] "Eviction manager: pod is evicted successfully" pod="ml/trainer-0"
""",
        ),
    ),
    "dp not admitted": (
        "node-disk-pressure",
        (
            """\
Reason:       Evicted
Message:      Pod was rejected: The node had condition: [DiskPressure].
""",
        ),
    ),
    "dp get events": (
        "node-disk-pressure",
        (
            """\
3m43s  Warning  Evicted              pod/provider-0  The node was low on resource: ephemeral-storage. Threshold quantity: 31189488855, available: 29362700Ki.
3m35s  Normal   NodeHasDiskPressure  node/node1      Node node1 status is now: NodeHasDiskPressure
""",
        ),
    ),
    "dp resolved quiet": (
        "",
        (
            """\
Events:
  Type    Reason                   Age   From     Message
  ----    ------                   ----  ----     -------
  Normal  NodeHasNoDiskPressure    5m    kubelet  Node gpu-1 status is now: NodeHasNoDiskPressure
  Normal  NodeHasSufficientMemory  5m    kubelet  Node gpu-1 status is now: NodeHasSufficientMemory
  Normal  NodeReady                5m    kubelet  Node gpu-1 status is now: NodeReady
""",
        ),
    ),
    "mig no devices smi": (
        "mig-enabled-without-instances",
        (
            smi("550.90.07", "12.4")
            + """\
|   0  NVIDIA A100-SXM4-80GB          On  |   00000000:07:00.0 Off |                   On |
| N/A   31C    P0             62W /  400W |       1MiB /  81920MiB |     N/A      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| MIG devices:                                                                            |
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  No MIG devices found                                                                   |
+-----------------------------------------------------------------------------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
""",
        ),
    ),
    "mig busy": (
        "mig-enabled-without-instances",
        (
            """\
$ nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555555)
$ nvidia-smi --query-gpu=index,mig.mode.current --format=csv
index, mig.mode.current
0, Enabled
$ python -c 'import torch; torch.zeros(1).cuda()'
RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable
""",
        ),
    ),
    "mig plugin old panic": (
        "mig-enabled-without-instances",
        (
            """\
2021/07/15 20:49:32 Loading NVML
2021/07/15 20:49:32 Starting FS watcher.
2021/07/15 20:49:32 Retreiving plugins.
panic: At least one device with migEnabled=true was not configured correctly: No MIG devices associated with /dev/nvidia0: GPU-11111111-2222-3333-4444-555555555555
""",
        ),
    ),
    "mig plugin newer": (
        "mig-enabled-without-instances",
        (
            """\
I0709 10:00:00.000000       1 main.go:279] Retrieving plugins.
E0709 10:00:00.100000       1 main.go:123] error starting plugins: error getting plugins: failed to construct resource managers: error building device map: invalid MIG configuration: device 0 has no MIG devices configured
""",
        ),
    ),
    "mig lgi": (
        "mig-enabled-without-instances",
        (
            """\
# nvidia-smi -i 0 --query-gpu=mig.mode.current,mig.mode.pending --format=csv,noheader
Enabled, Enabled
# nvidia-smi mig -lgi
No GPU instances found: Not Found
""",
        ),
    ),
    "mig healthy quiet": (
        "",
        (
            """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-11111111-2222-3333-4444-555555555555)
  MIG 3g.40gb     Device  0: (UUID: MIG-11111111-2222-3333-4444-000000000001)
  MIG 3g.40gb     Device  1: (UUID: MIG-11111111-2222-3333-4444-000000000002)
""",
        ),
    ),
    "mig invalid label": (
        "mig-invalid-configuration",
        (
            """\
Labels:             nvidia.com/gpu.count=0
                    nvidia.com/gpu.memory=0
                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB-MIG-INVALID
                    nvidia.com/gpu.replicas=0
                    nvidia.com/mig.strategy=single
""",
        ),
    ),
    "mig invalid gfd log": (
        "mig-invalid-configuration",
        (
            "W0301 10:00:00.000000       1 mig-strategy.go:160] Invalid configuration detected for mig-strategy=single: no MIG devices present on node\n",
        ),
    ),
    "mig invalid mixed node": (
        "mig-invalid-configuration",
        (
            """\
2022/12/15 12:28:28 Warning: Invalid configuration detected for mig-strategy=single: devices are not all MIG-enabled
2022/12/15 12:28:28 Writing labels to output file /etc/kubernetes/node-feature-discovery/features.d/gfd
""",
        ),
    ),
    "mig strat panic": (
        "mig-strategy-mismatch",
        (
            """\
2022/12/15 12:28:28 Retreiving plugins.
panic: At least one device with migEnabled=true was not configured correctly: More than one MIG device type present on node
goroutine 1 [running]:
main.(*migStrategySingle).GetPlugins(0xc0001321b0)
""",
        ),
    ),
    "mig strat gfd": (
        "mig-strategy-mismatch",
        (
            "W0301 10:00:00.000000       1 mig-strategy.go:172] Invalid configuration detected for mig-strategy=single: more than one MIG device type present on node\n",
        ),
    ),
    "mig strat new": (
        "mig-strategy-mismatch",
        (
            "E0112 08:15:00.000000       1 main.go:132] error starting plugins: error getting plugins: failed to construct NVML resource managers: error building device map: invalid MIG configuration: more than one MIG device type present on node\n",
        ),
    ),
    "mig strat labels": (
        "mig-strategy-mismatch",
        (
            """\
                    nvidia.com/mig.strategy=single
                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB-MIG-INVALID
                    nvidia.com/mig.config=all-balanced
                    nvidia.com/mig.config.state=success
""",
            """\
$ nvidia-smi -L
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-11111111-2222-3333-4444-555555555555)
  MIG 3g.40gb     Device  0: (UUID: MIG-11111111-2222-3333-4444-000000000001)
  MIG 2g.20gb     Device  1: (UUID: MIG-11111111-2222-3333-4444-000000000002)
  MIG 1g.10gb     Device  2: (UUID: MIG-11111111-2222-3333-4444-000000000003)
""",
        ),
    ),
    "mig pending cmd": (
        "mig-mode-change-pending",
        (
            """\
$ sudo nvidia-smi -i 0 -mig 1
Warning: MIG mode is in pending enable state for GPU 00000000:00:03.0:Not Supported
Reboot the system or try nvidia-smi --gpu-reset to make MIG mode effective on GPU 00000000:00:03.0
All done.
""",
        ),
    ),
    "mig pending csv": (
        "mig-mode-change-pending",
        (
            """\
index, mig.mode.current, mig.mode.pending
0, Disabled, Enabled
""",
        ),
    ),
    "mig pending q": (
        "mig-mode-change-pending",
        (
            """\
==============NVSMI LOG==============

Attached GPUs                             : 1
GPU 00000000:07:00.0
    Product Name                          : NVIDIA A100-SXM4-80GB
    MIG Mode
        Current                           : Disabled
        Pending                           : Enabled
""",
        ),
    ),
    "mig pending star": (
        "mig-mode-change-pending",
        (
            """\
|   0  NVIDIA A100-PCI...  Off  | 00000000:3B:00.0 Off |                    0 |
| N/A   36C    P0    41W / 250W |      0MiB / 40536MiB |      0%      Default |
|                               |                      |             Disabled*|
+-------------------------------+----------------------+----------------------+
""",
        ),
    ),
    "mig pending manager": (
        "mig-mode-change-pending",
        (
            """\
time="2024-04-22T12:47:22Z" level=debug msg="    Current MIG mode: Disabled"
time="2024-04-22T12:47:22Z" level=debug msg="    Updating MIG mode: Enabled"
time="2024-04-22T12:47:22Z" level=debug msg="    Mode change pending: true"
""",
        ),
    ),
    "mig pending mig manager": (
        "mig-mode-change-pending",
        ("MIG mode change did not take effect after rebooting\n",),
    ),
    "mig disable pending in use": (
        "mig-mode-change-pending",
        (
            """\
Warning: MIG mode is in pending disable state for GPU 00000000:65:00.0:In use by another client
00000000:65:00.0 is currently being used by one or more other processes (e.g. CUDA application or a monitoring application such as another instance of nvidia-smi). Please first kill all processes using the device and retry the command or reboot the system to make MIG mode effective.
""",
        ),
    ),
    "mps wait": (
        "mps-daemon-not-ready",
        (
            """\
I0423 06:04:56.480927      39 factory.go:104] Detected NVML platform: found NVML library
E0423 06:04:56.558122      39 main.go:301] Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon health: failed to send command to MPS daemon: exit status 1
I0423 06:04:56.558152      39 main.go:208] Failed to start one or more plugins. Retrying in 30s...
""",
        ),
    ),
    "mps root": (
        "mps-daemon-not-ready",
        (
            "E0120 07:09:15.605081       1 main.go:132] error starting plugins: unable to load config: unable to validate flags: using MPS requires --mps-root to be specified\n",
        ),
    ),
    "mps ds zero": (
        "mps-daemon-not-ready",
        (
            """\
NAME                                         DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR                                    AGE
nvdp-nvidia-device-plugin                    1         1         1       1            1           <none>                                           10m
nvdp-nvidia-device-plugin-mps-control-daemon 0         0         0       0            0           nvidia.com/mps.capable=true                      10m
""",
            """\
I0423 06:05:26.587365      39 main.go:315] Stopping plugins.
E0423 06:05:26.687365      39 main.go:301] Failed to start plugin: error waiting for MPS daemon: error checking MPS daemon health: failed to send command to MPS daemon: exit status 1
""",
        ),
    ),
    "mps 805": (
        "mps-daemon-not-ready",
        ("RuntimeError: CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server\n",),
    ),
    "mps gke": (
        "mps-daemon-not-ready",
        (
            "Allocate failed due to rpc error: code = Unknown desc = failed to start container: MPS is not healthy: error checking MPS daemon health: failed to send command to MPS daemon, which is unexpected\n",
        ),
    ),
    "mps ok quiet": (
        "",
        (
            """\
I0206 11:43:15.960950     262 main.go:80] "NVIDIA MPS Control Daemon" version="fb1242ad"
I0206 11:43:15.961569     262 main.go:123] Starting Daemons.
I0206 11:43:16.063941     262 daemon.go:97] "Staring MPS daemon" resource="nvidia.com/gpu.shared"
I0206 11:43:16.163941     262 daemon.go:155] "Starting log tailer" resource="nvidia.com/gpu.shared"
[2025-02-06 11:43:16.101 Control    62] Starting control daemon using socket /mps/nvidia.com/gpu.shared/pipe/control
[2025-02-06 11:43:16.101 Control    62] To connect CUDA applications to this daemon, set env CUDA_MPS_PIPE_DIRECTORY=/mps/nvidia.com/gpu.shared/pipe
""",
        ),
    ),
    "shared 2": (
        "shared-gpu-request-greater-than-one",
        (
            "Warning  UnexpectedAdmissionError  4s  kubelet  Allocate failed due to rpc error: code = Unknown desc = request for 'nvidia.com/gpu: 2' too large: maximum request size for shared resources is 1, which is unexpected\n",
        ),
    ),
    "shared mps": (
        "shared-gpu-request-greater-than-one",
        (
            "E0423 10:00:00.000000    1200 server.go:260] invalid allocation request for 'nvidia.com/gpu.shared' : maximum request size for shared resources is 1; found 2\n",
        ),
    ),
    "shared status": (
        "shared-gpu-request-greater-than-one",
        (
            """\
status:
  message: 'Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = invalid request: maximum request size for shared resources is 1; found 4, which is unexpected'
  phase: Failed
  reason: UnexpectedAdmissionError
""",
        ),
    ),
    "shared gke": (
        "shared-gpu-request-greater-than-one",
        (
            "Warning  UnexpectedAdmissionError  5s  kubelet  Allocate failed due to rpc error: code = Unknown desc = invalid request for sharing GPU (time-sharing), at most 1 nvidia.com/gpu can be requested on GPU nodes, which is unexpected\n",
        ),
    ),
    "sharing level": (
        "sharing-config-mismatch",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata: {name: plugin-config, namespace: nvidia}
data:
  config.yaml: |
    version: v1
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 4
          renameByDefault: true
""",
        ),
    ),
    "sharing plugin err": (
        "sharing-config-mismatch",
        (
            "E1010 10:00:00.000000       1 main.go:132] error starting plugins: unable to load config: unable to parse config file: error parsing config file: unmarshal error: error unmarshaling JSON: while decoding JSON: number of replicas must be >= 2\n",
        ),
    ),
    "sharing unknown field": (
        "sharing-config-mismatch",
        ("unable to load config: unable to parse config file: error parsing config file: unknown version: v2\n",),
    ),
    "ts no default": (
        "time-slicing-config-not-applied",
        (
            """\
time="2024-10-10T10:00:00Z" level=info msg="Waiting for change to 'nvidia.com/device-plugin.config' label"
time="2024-10-10T10:00:00Z" level=info msg="Label change detected: nvidia.com/device-plugin.config="
time="2024-10-10T10:00:00Z" level=info msg="No value set. Selecting default name: "
time="2024-10-10T10:00:00Z" level=fatal msg="failed: no config was set, no default was provided, and more than one config exists"
""",
        ),
    ),
    "ts no default2": (
        "time-slicing-config-not-applied",
        (
            """\
level=info msg="Updating to empty config"
level=info msg="Successfully updated to empty config"
""",
            """\
Capacity:
  nvidia.com/gpu:  1
""",
        ),
    ),
    "ts node vs cm": (
        "time-slicing-config-not-applied",
        (
            """\
$ kubectl get cm -n gpu-operator time-slicing-config -o yaml
"""
            + sliced("time-slicing-config", 8),
            """\
$ kubectl describe node n1
Name:               n1
Labels:             nvidia.com/gpu.count=1
                    nvidia.com/gpu.replicas=1
                    nvidia.com/gpu.sharing-strategy=none
Capacity:
  nvidia.com/gpu:     1
Allocatable:
  nvidia.com/gpu:     1
""",
        ),
    ),
    "ts cm not found": (
        "time-slicing-config-not-applied",
        ("Error: specified config tesla-t4 does not exist\n",),
    ),
    "ts works quiet": (
        "",
        (
            """\
Labels:             nvidia.com/gpu.count=1
                    nvidia.com/gpu.product=Tesla-T4-SHARED
                    nvidia.com/gpu.replicas=4
Capacity:
  nvidia.com/gpu:     4
Allocatable:
  nvidia.com/gpu:     4
""",
        ),
    ),
    "ino plugin": (
        "inotify-instances-exhausted",
        (
            """\
2022/11/14 14:40:53 Starting FS watcher.
2022/11/14 14:40:53 Error: failed to create FS watcher: too many open files
""",
        ),
    ),
    "ino klog": (
        "inotify-instances-exhausted",
        (
            """\
I0114 10:00:00.000000       1 main.go:178] Starting FS watcher.
E0114 10:00:00.000100       1 main.go:132] failed to create FS watcher for /var/lib/kubelet/device-plugins/: too many open files
""",
        ),
    ),
    "ino kubectl logs -f": (
        "inotify-instances-exhausted",
        (
            """\
$ kubectl logs -f train-0
failed to create fsnotify watcher: too many open files
""",
        ),
    ),
    "ino kubelet": (
        "inotify-instances-exhausted",
        (
            """\
May 01 10:00:00 gpu-1 kubelet[9981]: E0501 10:00:00.000000    9981 kubelet.go:1480] "Failed to start cAdvisor" err="inotify_init: too many open files"
""",
        ),
    ),
    "ino systemd": (
        "inotify-instances-exhausted",
        ("Failed to allocate directory watch: Too many open files\n",),
    ),
    "ino python watchdog": (
        "inotify-instances-exhausted",
        (
            """\
  File "/usr/local/lib/python3.10/site-packages/watchdog/observers/inotify_c.py", line 408, in _raise_error
    raise OSError(errno.EMFILE, "inotify instance limit reached")
OSError: [Errno 24] inotify instance limit reached
""",
        ),
    ),
    "ino nfd": (
        "inotify-instances-exhausted",
        ("F0501 10:00:00.000000       1 main.go:81] failed to create config watcher: too many open files\n",),
    ),
    "ino tail": (
        "inotify-instances-exhausted",
        (
            """\
tail: inotify cannot be used, reverting to polling: Too many open files
Error: too many open files - inotify_init1
""",
        ),
    ),
    "ino dotnet": (
        "inotify-instances-exhausted",
        (
            "System.IO.IOException: The configured user limit (128) on the number of inotify instances has been reached, or the per-process limit on the number of open file descriptors has been reached.\n",
        ),
    ),
    "ino watches": (
        "inotify-instances-exhausted",
        ("ENOSPC: System limit for number of file watchers reached, watch '/workspace'\n",),
    ),
    "ino promtail": (
        "inotify-instances-exhausted",
        (
            """\
level=error ts=2024-01-01T10:00:00Z caller=main.go:170 msg="error creating promtail" error="failed to make file target manager: too many open files"
""",
        ),
    ),
    "a limit of files and not of watches": (
        "container-limits",
        ("OSError: [Errno 24] Too many open files: '/data/shard-0001.tar'\n",),
    ),
    "ino ok quiet": (
        "",
        (
            """\
I0114 10:00:00.000000       1 main.go:178] Starting FS watcher.
I0114 10:00:00.000100       1 main.go:185] Starting OS watcher.
I0114 10:00:00.100000       1 server.go:117] Registered device plugin for 'nvidia.com/gpu' with Kubelet
$ sysctl fs.inotify.max_user_instances
fs.inotify.max_user_instances = 8192
""",
        ),
    ),
    "probe vllm": (
        "probe-kills-slow-start",
        (
            """\
Events:
  Type     Reason     Age                  From     Message
  ----     ------     ----                 ----     -------
  Normal   Started    4m                   kubelet  Started container vllm
  Warning  Unhealthy  2m (x9 over 3m30s)   kubelet  Liveness probe failed: Get "http://10.1.2.3:8000/health": dial tcp 10.1.2.3:8000: connect: connection refused
  Normal   Killing    2m (x3 over 3m)      kubelet  Container vllm failed liveness probe, will be restarted
""",
            """\
INFO 03-01 10:00:00 weight_utils.py:243] Using model weights format ['*.safetensors']
Loading safetensors checkpoint shards:  21% Completed | 4/19 [00:40<02:30, 10.01s/it]
""",
        ),
    ),
    "probe startup": (
        "probe-kills-slow-start",
        (
            """\
  Warning  Unhealthy  3m (x30 over 8m)  kubelet  Startup probe failed: Get "http://10.1.2.3:8000/health": dial tcp 10.1.2.3:8000: connect: connection refused
  Normal   Killing    3m                kubelet  Container vllm failed startup probe, will be restarted
""",
        ),
    ),
    "probe tgi": (
        "probe-kills-slow-start",
        (
            """\
2024-02-02T10:00:00.000000Z  INFO download: text_generation_launcher: Starting download process.
2024-02-02T10:01:00.000000Z  INFO shard-manager: text_generation_launcher: Waiting for shard to be ready... rank=0
2024-02-02T10:02:10.000000Z  INFO text_generation_launcher: Terminating webserver
""",
            """\
  Warning  Unhealthy  1m (x3 over 2m)  kubelet  Liveness probe failed: Get "http://10.1.2.3:80/health": context deadline exceeded
  Normal   Killing    1m               kubelet  Container tgi failed liveness probe, will be restarted
""",
        ),
    ),
    "probe triton": (
        "probe-kills-slow-start",
        (
            """\
NAME       READY   STATUS    RESTARTS      AGE
triton-0   0/1     Running   6 (40s ago)   14m
""",
            """\
Warning  Unhealthy  40s (x18 over 13m)  kubelet  Liveness probe failed: Get "http://10.1.2.3:8000/v2/health/live": dial tcp 10.1.2.3:8000: connect: connection refused
""",
        ),
    ),
    "probe exit 143": (
        "probe-kills-slow-start",
        (
            """\
Containers:
  nim:
    State:          Running
      Started:      Mon, 03 Mar 2025 10:08:00 +0000
    Last State:     Terminated
      Reason:       Error
      Exit Code:    137
      Started:      Mon, 03 Mar 2025 10:04:00 +0000
      Finished:     Mon, 03 Mar 2025 10:07:50 +0000
    Ready:          False
    Restart Count:  5
    Liveness:       http-get http://:8000/v1/health/live delay=15s timeout=1s period=10s #success=1 #failure=3
Events:
  Warning  Unhealthy  1m (x15 over 20m)  kubelet  Liveness probe failed: Get "http://10.1.2.3:8000/v1/health/live": dial tcp 10.1.2.3:8000: connect: connection refused
  Warning  BackOff    10s                kubelet  Back-off restarting failed container nim in pod nim-0_ml
""",
        ),
    ),
    "probe readiness only quiet": (
        "",
        (
            """\
  Normal   Started    50s                kubelet  Started container vllm
  Warning  Unhealthy  5s (x5 over 45s)   kubelet  Readiness probe failed: Get "http://10.1.2.3:8000/health": dial tcp 10.1.2.3:8000: connect: connection refused
""",
        ),
    ),
    "img 403": (
        "image-pull-failed",
        (
            """\
Failed to pull image "nvcr.io/nim/meta/llama3:latest": rpc error: code = Unknown desc = failed to pull and unpack image "nvcr.io/nim/meta/llama3:latest": failed to resolve reference "nvcr.io/nim/meta/llama3:latest": failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized
""",
        ),
    ),
    "img x509": (
        "image-pull-failed",
        (
            """\
Warning  Failed  3s  kubelet  Failed to pull image "harbor.local/x:1": failed to pull and unpack image "harbor.local/x:1": failed to resolve reference "harbor.local/x:1": failed to do request: Head "https://harbor.local/v2/x/manifests/1": tls: failed to verify certificate: x509: certificate signed by unknown authority
""",
        ),
    ),
    "img docker": (
        "image-pull-failed",
        ("docker: Error response from daemon: manifest for nvidia/cuda:11.0-base not found: manifest unknown: manifest unknown.\n",),
    ),
    "img podman": (
        "image-pull-failed",
        (
            "Error: initializing source docker://nvcr.io/nvidia/cuda:12.9.9-base: reading manifest 12.9.9-base in nvcr.io/nvidia/cuda: manifest unknown\n",
        ),
    ),
    "img crictl": (
        "image-pull-failed",
        (
            """\
E0301 10:00:00.000000   11111 remote_image.go:180] "PullImage from image service failed" err="rpc error: code = DeadlineExceeded desc = failed to pull and unpack image: failed to copy: httpReadSeeker: failed open: failed to do request: dial tcp 52.1.1.1:443: i/o timeout" image="nvcr.io/nvidia/driver:550-ubuntu22.04"
""",
        ),
    ),
    "img arch": (
        "image-pull-failed",
        (
            """\
Failed to pull image "r/app:1": no matching manifest for linux/arm64/v8 in the manifest list entries
""",
        ),
    ),
    "img rate": (
        "image-pull-failed",
        (
            """\
Warning  Failed  8s  kubelet  Failed to pull image "busybox": failed to pull and unpack image "docker.io/library/busybox:latest": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/library/busybox/manifests/sha256:abc: 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.
""",
        ),
    ),
    "img retried quiet": (
        "",
        (
            """\
Events:
  Normal   Pulling    2m (x2 over 3m)  kubelet  Pulling image "r/app:1"
  Warning  Failed     2m30s            kubelet  Failed to pull image "r/app:1": failed to do request: EOF
  Warning  Failed     2m30s            kubelet  Error: ErrImagePull
  Normal   Pulled     90s              kubelet  Successfully pulled image "r/app:1" in 25.2s
  Normal   Created    89s              kubelet  Created container app
  Normal   Started    89s              kubelet  Started container app
""",
        ),
    ),
    "q rolling update": (
        "",
        (
            """\
LAST SEEN   TYPE      REASON              OBJECT                        MESSAGE
90s         Normal    ScalingReplicaSet   deployment/vllm               Scaled up replica set vllm-7f to 1
89s         Normal    SuccessfulCreate    replicaset/vllm-7f            Created pod: vllm-7f-x
60s         Normal    Killing             pod/vllm-6d-y                 Stopping container vllm
59s         Warning   Unhealthy           pod/vllm-6d-y                 Readiness probe failed: Get "http://10.1.1.1:8000/health": dial tcp 10.1.1.1:8000: connect: connection refused
58s         Normal    ScalingReplicaSet   deployment/vllm               Scaled down replica set vllm-6d to 0
""",
        ),
    ),
    "q mig manager ok": (
        "",
        (
            """\
time="2024-04-22T12:47:22Z" level=info msg="Applying the selected MIG config to the node"
time="2024-04-22T12:47:22Z" level=debug msg="    Mode change pending: false"
time="2024-04-22T12:47:30Z" level=info msg="MIG configuration applied successfully"
time="2024-04-22T12:47:31Z" level=info msg="Changing the 'nvidia.com/mig.config.state' node label to 'success'"
""",
        ),
    ),
    "q single pod completed": (
        "",
        (
            """\
NAME                     READY   STATUS      RESTARTS   AGE
nvidia-cuda-validator-x  0/1     Completed   0          5h
gpu-feature-discovery-y  1/1     Running     0          5h
""",
        ),
    ),
    "q config manager": (
        "",
        (
            """\
time="2024-10-10T10:00:00Z" level=info msg="Label change detected: nvidia.com/device-plugin.config=tesla-t4"
time="2024-10-10T10:00:00Z" level=info msg="Updating to config: tesla-t4"
time="2024-10-10T10:00:00Z" level=info msg="Successfully updated to config: tesla-t4"
time="2024-10-10T10:00:00Z" level=info msg="Sending signal 'hangup' to 'nvidia-device-plugin'"
time="2024-10-10T10:00:00Z" level=info msg="Successfully sent signal"
""",
        ),
    ),
    "dp df": (
        "node-disk-pressure",
        (
            """\
Filesystem      Size  Used Avail Use% Mounted on
/dev/nvme0n1p1  100G   97G  3.1G  97% /
""",
            "  Warning  Evicted  3m  kubelet  The node was low on resource: ephemeral-storage. Container main was using 71Gi, which exceeds its request of 0.\n",
        ),
    ),
    "dp taint describe": (
        "node-disk-pressure",
        (
            """\
Taints:             node.kubernetes.io/disk-pressure:NoSchedule
Conditions:
  DiskPressure         True    Mon, 03 Mar 2025 10:00:00 +0000   Mon, 03 Mar 2025 09:50:00 +0000   KubeletHasDiskPressure       kubelet has disk pressure
""",
        ),
    ),
    "dp pods evicted list": (
        "node-disk-pressure",
        (
            """\
NAMESPACE      NAME                              READY   STATUS    RESTARTS   AGE   IP       NODE    NOMINATED NODE   READINESS GATES
gpu-operator   nvidia-driver-daemonset-x         0/1     Evicted   0          10m   <none>   gpu-1   <none>           <none>
""",
            "3m35s  Warning  EvictionThresholdMet  node/gpu-1  Attempting to reclaim ephemeral-storage\n",
        ),
    ),
    "gnr vllm": (
        "gpu-not-requested",
        (
            """\
  File "/usr/local/lib/python3.12/dist-packages/vllm/config.py", line 1800, in __init__
    raise RuntimeError("Failed to infer device type")
RuntimeError: Failed to infer device type
""",
            """\
kind: Deployment
apiVersion: apps/v1
metadata: {name: vllm, namespace: serve}
spec:
  selector: {matchLabels: {app: vllm}}
  template:
    metadata: {labels: {app: vllm}}
    spec:
      containers:
      - name: vllm
        image: vllm/vllm-openai:v0.6.6
        args: ["--model", "meta-llama/Llama-3.1-8B"]
        resources: {requests: {cpu: 4, memory: 20Gi}}
""",
        ),
    ),
    "ts label": (
        "time-slicing-config-not-applied",
        (
            """\
I created the ConfigMap and labelled the node with nvidia.com/device-plugin.config=rtx-3090, but it still shows one GPU.

$ kubectl logs -n gpu-operator nvidia-device-plugin-daemonset-x -c config-manager
W0101 10:00:00.000000       1 client_config.go:617] Neither --kubeconfig nor --master was specified.
time="2024-01-01T10:00:00Z" level=info msg="Waiting for change to 'nvidia.com/device-plugin.config' label"
time="2024-01-01T10:00:00Z" level=info msg="Label change detected: nvidia.com/device-plugin.config=rtx-3090"
time="2024-01-01T10:00:00Z" level=info msg="Error: specified config rtx-3090 does not exist"
""",
        ),
    ),
    "mps hostPID": (
        "mps-daemon-not-ready",
        (
            """\
[2024-12-10 06:38:01.120 Control    64] NEW CLIENT 0 from user 1001: Server is not ready, push client to pending list
[2024-12-10 06:38:01.120 Control    64] Starting new server 92 for user 1001
[2024-12-10 06:38:01.158 Control    64] Server encountered a fatal exception. Shutting down
[2024-12-10 06:38:01.170 Control    64] Server 92 exited with status 1
""",
        ),
    ),
    "sharing misplaced rename": (
        "sharing-config-mismatch",
        (
            """\
version: v1
flags:
  migStrategy: none
sharing:
  renameByDefault: true
  timeSlicing:
    resources:
    - name: nvidia.com/gpu
      replicas: 4
""",
        ),
    ),
    "probe helm": (
        "probe-kills-slow-start",
        (
            """\
NAME                        READY   STATUS             RESTARTS        AGE
llm-6f9c-abcde              0/1     CrashLoopBackOff   7 (2m ago)      25m
""",
            """\
  Warning  Unhealthy  3m (x21 over 24m)   kubelet  Liveness probe failed: Get "http://10.42.0.9:8080/health": dial tcp 10.42.0.9:8080: connect: connection refused
  Normal   Killing    3m (x7 over 23m)    kubelet  Container llm failed liveness probe, will be restarted
  Warning  BackOff    10s (x20 over 8m)   kubelet  Back-off restarting failed container llm in pod llm-6f9c-abcde
""",
        ),
    ),
    "probe startup threshold": (
        "probe-kills-slow-start",
        (
            """\
Startup:  http-get http://:8000/health delay=0s timeout=1s period=10s #success=1 #failure=30
  Warning  Unhealthy  60s (x30 over 5m)  kubelet  Startup probe failed: Get "http://10.42.0.9:8000/health": dial tcp 10.42.0.9:8000: connect: connection refused
  Normal   Killing    60s                kubelet  Container vllm failed startup probe, will be restarted
""",
        ),
    ),
    "dp inode": (
        "node-disk-pressure",
        ("Message:      The node was low on resource: inodes.\n",),
    ),
    "dp imagefs": (
        "node-disk-pressure",
        ("Warning  Evicted  2m  kubelet  The node was low on resource: imagefs. Container main was using 20Ki, request is 0.\n",),
    ),
    "dp kernel": (
        "node-disk-pressure",
        (
            """\
Mar 03 09:50:01 gpu-1 k3s[811]: W0303 09:50:01.1 811 eviction_manager.go:350] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"
Mar 03 09:50:01 gpu-1 k3s[811]: I0303 09:50:01.2 811 container_gc.go:85] "Attempting to delete unused containers"
Mar 03 09:50:01 gpu-1 k3s[811]: I0303 09:50:01.3 811 image_gc_manager.go:391] "Attempting to delete unused images"
Mar 03 09:50:02 gpu-1 k3s[811]: I0303 09:50:02.3 811 eviction_manager.go:361] "Eviction manager: must evict pod(s) to reclaim" resourceName="ephemeral-storage"
""",
        ),
    ),
    "b csi driver": (
        "storage-provisioner-missing",
        (
            """\
Warning  FailedMount  5s (x8 over 70s)  kubelet  MountVolume.MountDevice failed for volume "pvc-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name efs.csi.aws.com not found in the list of registered CSI drivers
""",
        ),
    ),
    "b mig config failed": (
        "mig-config-not-applied",
        (
            """\
Labels:             nvidia.com/mig.config=all-1g.10gb
                    nvidia.com/mig.config.state=failed
""",
        ),
    ),
    "b mig all orderings": (
        "mig-config-not-applied",
        (
            """\
time="2024-04-22T12:47:22Z" level=fatal msg="Error applying MIG configuration with hooks: error setting MIGConfig: error attempting multiple config orderings: all orderings failed"
""",
        ),
    ),
    "b mig wrong name": (
        "mig-resource-name-mismatch",
        (
            """\
Name:         x
Status:       Pending
Containers:
  c:
    Limits:
      nvidia.com/gpu:  1
Events:
  Warning  FailedScheduling  60s  default-scheduler  0/1 nodes are available: 1 Insufficient nvidia.com/gpu.
""",
            """\
Name: n1
Capacity:
  nvidia.com/gpu:          0
  nvidia.com/mig-1g.10gb:  7
Allocatable:
  nvidia.com/gpu:          0
  nvidia.com/mig-1g.10gb:  7
""",
        ),
    ),
    "b hostpath": (
        "host-mount-misconfigured",
        (
            """\
Warning  FailedMount  3s (x7 over 35s)  kubelet  MountVolume.SetUp failed for volume "models" : hostPath type check failed: /data/models is not a directory
""",
        ),
    ),
    "b ephemeral": (
        "ephemeral-storage-exhausted",
        ("Message: Pod ephemeral local storage usage exceeds the total limit of containers 20Gi.\n",),
    ),
    "b emptydir": (
        "ephemeral-storage-exhausted",
        (
            """\
Warning  Evicted  3s  kubelet  Usage of EmptyDir volume "dshm" exceeds the limit "8Gi".
""",
        ),
    ),
    "b pids": (
        "node-resource-limit",
        (
            """\
OSError: can't start new thread
bash: fork: retry: Resource temporarily unavailable
""",
        ),
    ),
    "b mem pressure": (
        "node-resource-limit",
        ("Message:  The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi.\n",),
    ),
    "b oom": (
        "cuda-out-of-memory",
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n",),
    ),
    "b unexpected": (
        "unexpected-admission-error",
        (
            """\
NAME      READY   STATUS                     RESTARTS   AGE
train-0   0/1     UnexpectedAdmissionError   0          2m
""",
        ),
    ),
    "b runtimeclass": (
        "runtime-class-misuse",
        (
            """\
Error creating: pods "x" is forbidden: pod rejected: RuntimeClass "nvidia" not found
""",
        ),
    ),
    "mig equal profiles quiet": (
        "",
        (
            """\
Labels:             nvidia.com/gpu.count=7
                    nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB-MIG-1g.10gb
                    nvidia.com/mig.config=all-1g.10gb
                    nvidia.com/mig.config.state=success
                    nvidia.com/mig.strategy=single
""",
        ),
    ),
    "mig balanced under mixed quiet": (
        "",
        (
            """\
Labels:             nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB
                    nvidia.com/mig.config=all-balanced
                    nvidia.com/mig.config.state=success
                    nvidia.com/mig.strategy=mixed
""",
        ),
    ),
    "mig off quiet": (
        "",
        (
            """\
$ nvidia-smi --query-gpu=index,mig.mode.current,mig.mode.pending --format=csv
index, mig.mode.current, mig.mode.pending
0, Disabled, Disabled
$ nvidia-smi mig -lgi
No MIG-enabled devices found.
""",
        ),
    ),
    "sharing config right quiet": (
        "",
        (
            """\
version: v1
sharing:
  timeSlicing:
    renameByDefault: true
    failRequestsGreaterThanOne: true
    resources:
    - name: nvidia.com/gpu
      replicas: 4
""",
        ),
    ),
    "mps server starts quiet": (
        "",
        (
            """\
[2024-12-10 06:38:01.120 Control    64] Starting new server 92 for user 0
[2024-12-10 06:38:01.420 Control    64] NEW SERVER 92: Ready
[2024-12-10 06:40:01.420 Control    64] Server 92 exited with status 0
""",
        ),
    ),
    "probe passes later quiet": (
        "",
        (
            """\
  Normal   Started    10m                 kubelet  Started container vllm
  Warning  Unhealthy  8m (x12 over 10m)   kubelet  Startup probe failed: Get "http://10.1.2.3:8000/health": dial tcp 10.1.2.3:8000: connect: connection refused
""",
            """\
NAME     READY   STATUS    RESTARTS   AGE
vllm-0   1/1     Running   0          10m
""",
        ),
    ),
    "image garbage collected quiet": (
        "",
        (
            """\
I0303 09:50:01.3 811 image_gc_manager.go:310] "Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=86 highThreshold=85 amountToFree=5368709120 lowThreshold=80
I0303 09:50:11.3 811 image_gc_manager.go:391] "Removing image to free bytes" imageID="sha256:0a1b" size=6368709120
""",
        ),
    ),
    "ts a file and a node": (
        "time-slicing-config-not-applied",
        (
            """\
# cat dp-config0.yaml
version: v1
flags:
  migStrategy: "none"
sharing:
  timeSlicing:
    resources:
    - name: nvidia.com/gpu
      replicas: 4
""",
            """\
Name:               r750
Labels:             kubernetes.io/hostname=r750
                    nvidia.com/device-plugin.config=config0
Taints:             <none>
Capacity:
  nvidia.com/gpu:     1
Allocatable:
  nvidia.com/gpu:     1
""",
        ),
    ),
    "sharing option under flags": (
        "sharing-config-mismatch",
        (
            """\
apiVersion: v1
kind: ConfigMap
metadata: {name: ts, namespace: kube-system}
data:
  any: |-
    version: v1
    flags:
      migStrategy: none
      renameByDefault: true
    sharing:
      timeSlicing:
        resources:
        - name: nvidia.com/gpu
          replicas: 100
""",
        ),
    ),
    "gnr a template with a node selector": (
        "gpu-not-requested",
        (
            """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: whisper}
spec:
  template:
    spec:
      nodeSelector: {nvidia.com/gpu.present: "true"}
      containers:
      - name: w
        image: onerahmet/openai-whisper-asr-webservice:latest-gpu
""",
            "/usr/local/lib/python3.10/dist-packages/torch/cuda/__init__.py:118: UserWarning: CUDA initialization: Found no NVIDIA driver on your system.\n",
        ),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_pasted_text(name: str, tmp_path: Path) -> None:
    cause, texts = TEXTS[name]
    judge(diagnosed(tmp_path, *texts), cause)
