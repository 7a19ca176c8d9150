"""`gpudoctor analyze`: a must-gather of 200 files and 500 MiB against `grep -rcE` over it, and one small file against `kubectl version --client`.

grep counts the lines that hold one of the literals that the scanner triggers on, generated from its patterns. The fault is one Xid 79.
Where incidents lie beside the repository (`../shared/incidents`, one folder each with what was posted in `raw/`), their median is measured too.
"""
# ruff: noqa: E501  (lines as they are logged)

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

from benchmarks import literals
from benchmarks.measure import GPUDOCTOR, compare, in_turn, processor, run, wall

MIB = int(os.environ.get("BENCH_MIB", "500"))
NODES = 8
TIMES = 3
SMALL_TIMES = 11
MEMORY = 300.0  # MiB, at most
INCIDENTS = Path(__file__).parents[2] / "shared" / "incidents"
MOST_INCIDENTS = 40

# {at}: 11:22:33.123456, {n}: a number, {pod}: a name
KUBELET = (
    'Mar 01 {at} {node} kubelet[1873]: I0301 {at}    1873 kubelet.go:2453] "SyncLoop (PLEG): event for pod" pod="ml/{pod}" event={{"ID":"9f0c2e","Type":"ContainerStarted","Data":"{n:064x}"}}',
    'Mar 01 {at} {node} kubelet[1873]: I0301 {at}    1873 reconciler_common.go:245] "operationExecutor.VerifyControllerAttachedVolume started for volume \\"kube-api-access-{n:05x}\\" pod \\"{pod}\\"" pod="ml/{pod}"',
    'Mar 01 {at} {node} kubelet[1873]: I0301 {at}    1873 pod_startup_latency_tracker.go:104] "Observed pod startup duration" pod="ml/{pod}" podStartSLOduration=2.{n}',
    'Mar 01 {at} {node} kubelet[1873]: E0301 {at}    1873 cadvisor_stats_provider.go:516] "Partial failure issuing cadvisor.ContainerInfoV2" err="partial failures: [\\"/kubepods.slice/{pod}\\": RecentStats: unable to find data in memory cache]"',
)
CONTAINERD = (
    'time="2026-03-01T{at}Z" level=info msg="CreateContainer within sandbox \\"{n:064x}\\" for container &ContainerMetadata{{Name:main,Attempt:0,}}"',
    'time="2026-03-01T{at}Z" level=info msg="StartContainer for \\"{n:064x}\\" returns successfully"',
    'time="2026-03-01T{at}Z" level=info msg="ImageUpdate event name:\\"registry.example/ml/trainer:{n}\\" labels:{{key:\\"io.cri-containerd.image\\" value:\\"managed\\"}}"',
    'time="2026-03-01T{at}Z" level=info msg="shim disconnected" id={n:064x} namespace=k8s.io',
)
POD = (
    "2026-03-01T{at}Z INFO step {n} loss 2.{n} lr 3.0e-04 tokens/s 184{n} pod {pod}",
    '{{"level":"info","ts":"2026-03-01T{at}Z","logger":"controllers","msg":"Reconciling","pod":"{pod}","generation":{n}}}',
    "I0301 {at}       1 server.go:133] GET /healthz 200 {n} bytes from {pod}",
    "2026-03-01T{at}Z DEBUG dataloader worker {n} fetched shard s3://training/{pod}/{n:08d}.tar",
)
DMESG = (
    "[{n:12d}.{n:06d}] device veth{n:06x} entered promiscuous mode",
    "[{n:12d}.{n:06d}] cni0: port {n}(veth{n:06x}) entered forwarding state",
    '[{n:12d}.{n:06d}] audit: type=1400 audit(1772366400.{n}:12): apparmor="STATUS" operation="profile_load" name="cri-containerd.apparmor.d"',
)
XID = "[      987654.321098] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
DESCRIBED = """\
Name:             {pod}
Namespace:        ml
Priority:         0
Service Account:  default
Node:             {node}/10.0.0.{n}
Start Time:       Sun, 01 Mar 2026 09:00:00 +0000
Labels:           app=trainer
Annotations:      <none>
Status:           Running
IP:               10.1.0.{n}
Containers:
  main:
    Container ID:   containerd://{n:064x}
    Image:          registry.example/ml/trainer:1
    Port:           <none>
    State:          Running
      Started:      Sun, 01 Mar 2026 09:00:05 +0000
    Ready:          True
    Restart Count:  0
    Limits:
      nvidia.com/gpu:  8
    Requests:
      nvidia.com/gpu:  8
    Environment:       <none>
Conditions:
  Type              Status
  Initialized       True
  Ready             True
  ContainersReady   True
  PodScheduled      True
QoS Class:          BestEffort
Node-Selectors:     <none>
Tolerations:        nvidia.com/gpu:NoSchedule op=Exists
Events:             <none>
"""
OBJECT = """\
apiVersion: v1
kind: Pod
metadata:
  name: {pod}
  namespace: gpu-operator
  creationTimestamp: "2026-03-01T08:00:00Z"
  labels: {{app: nvidia-device-plugin-daemonset}}
spec:
  nodeName: {node}
  containers:
    - name: nvidia-device-plugin
      image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0
      securityContext: {{privileged: true}}
status:
  phase: Running
  conditions:
    - {{type: Ready, status: "True", lastTransitionTime: "2026-03-01T08:01:00Z"}}
  containerStatuses:
    - name: nvidia-device-plugin
      ready: true
      restartCount: 0
      image: nvcr.io/nvidia/k8s-device-plugin:v0.17.0
      state: {{running: {{startedAt: "2026-03-01T08:00:30Z"}}}}
"""


def write(folder: Path, size: int = MIB << 20) -> None:
    """200 files: on each of 8 nodes the logs of kubelet, containerd and kernel; 96 pods' logs, 48 descriptions and 32 manifests."""
    chance = random.Random(79)
    for part in ("nodes", "pods", "describe", "manifests"):
        (folder / part).mkdir()
    for node in (f"gpu-{number:02d}" for number in range(NODES)):
        log(folder / "nodes" / f"{node}-kubelet.log", KUBELET, size // 20, node, chance)
        log(folder / "nodes" / f"{node}-containerd.log", CONTAINERD, size // 40, node, chance)
        log(folder / "nodes" / f"{node}-dmesg.txt", DMESG, size // 200, node, chance, XID if node == "gpu-05" else "")
    for number in range(96):
        log(folder / "pods" / f"trainer-{number}.log", POD, size * 36 // 100 // 96, f"gpu-{number % NODES:02d}", chance)
    for number in range(80):
        named = {"pod": f"trainer-{number}", "node": f"gpu-{number % NODES:02d}", "n": number}
        if number < 48:
            (folder / "describe" / f"trainer-{number}.txt").write_text(DESCRIBED.format(**named))
        else:
            (folder / "manifests" / f"pod-{number}.yaml").write_text(OBJECT.format(**named))


def log(path: Path, lines: tuple[str, ...], size: int, node: str, chance: random.Random, said: str = "") -> None:
    """A log of one program in about so many bytes, `said` in its middle."""
    pool = [
        line.format(
            at=f"{n // 3600 % 24:02d}:{n // 60 % 60:02d}:{n % 60:02d}.{n:06d}",
            node=node,
            n=chance.randrange(100_000),
            pod=f"trainer-{n % 96}",
        )
        for n in range(2000)
        for line in lines
    ]
    page = "\n".join(pool) + "\n"
    with path.open("w") as file:
        for number in range(max(1, size // len(page))):
            file.write(page)
            if number == size // len(page) // 2:
                file.write(said)


def measure() -> None:
    """Print the ratios and the peak of the memory."""
    big()
    small()
    incidents()


def big() -> None:
    """The must-gather."""
    from gpudoctor.tools.common.messages import entries
    from gpudoctor.tools.kernel.log import MARKS

    found = literals.of(pattern for _, pattern in [*entries(), *MARKS])
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as beside:
        folder = Path(name)
        write(folder)
        listed = literals.written(found, Path(beside))
        files = [path for path in folder.rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / (1 << 20)
        sides = (
            lambda: run([GPUDOCTOR, "analyze", name], exit=1, says="gpu-fallen-off-bus"),
            lambda: run(["grep", "-rcE", "-f", listed, name], says="dmesg"),  # into /dev/null it would stop at the first line
        )
        in_turn(1, *sides)
        ours, grep = in_turn(TIMES, *sides)
    compare(f"a must-gather of {len(files)} files, {size:.0f} MiB / grep -rcE of {len(found)} literals", wall(ours), wall(grep), 2.0)
    print(f"its processor time: {processor(ours):.2f} s, grep's {processor(grep):.2f} s", flush=True)
    peak = max(one.peak for one in ours)
    print(f"its memory: {peak:.0f} MiB (at most {MEMORY:.0f})", flush=True)


def small() -> None:
    """One description of a pod."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(DESCRIBED.format(pod="trainer-0", node="gpu-00", n=7))
        file.flush()
        sides = (
            lambda: run([GPUDOCTOR, "analyze", file.name], exit=3),  # one description shows too little to call the pod healthy
            lambda: run(["kubectl", "version", "--client"]),
        )
        in_turn(2, *sides)
        ours, kubectl = in_turn(SMALL_TIMES, *sides)
    compare("analyze of one small file / kubectl version --client", wall(ours), wall(kubectl), 8.0)


def incidents() -> None:
    """The median of what people posted, where it is there."""
    from statistics import median

    folders = sorted(INCIDENTS.glob("*/*/raw"))
    if not folders:
        print("analyze of posted incidents: not measured, there is no ../shared/incidents", flush=True)
        return
    folders = folders[:: max(1, len(folders) // MOST_INCIDENTS)]
    ours = median(run_any([GPUDOCTOR, "analyze", str(folder)]) for folder in folders)
    theirs = median(run_any(["kubectl", "version", "--client"]) for _ in folders)
    compare(f"analyze of {len(folders)} posted incidents, median / kubectl version --client", ours, theirs, 8.0)


def run_any(argv: list[str]) -> float:
    """The wall time of a program, whatever its verdict is."""
    import subprocess
    import time

    started = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started
