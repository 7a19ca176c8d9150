"""The main job: one Pending pod beside `kubectl describe pod`, and 200 and 5,000 of them beside what kubectl needs to list them.

Against the small API of tests/kube, and against a real control plane where its programs are built (`make cluster-test`).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measure import GPUDOCTOR, Run, compare, in_turn, run, wall
from tests.cluster.control_plane import ControlPlane, missing, until
from tests.cluster.objects import pod as real_pod
from tests.cluster.stand import exists, load
from tests.kube.fixtures import serve
from tests.kube.objects import cluster, event, pod

COUNTS = {1: 15, 200: 5, 5000: 3}  # pending pods, and how often they are diagnosed
SMALL, REAL = "small API", "real control plane"
CAUSE = "request-exceeds-node-size"
REASON = "0/8 nodes are available: 8 Insufficient nvidia.com/gpu. preemption: 0/8 nodes are available: 8 Preemption is not helpful."
GPUS = 16  # which no node has
WRITERS = 8  # threads that make pods

Environment = Mapping[str, str]


def measure() -> None:
    """Print the ratios for each number of pods, on each cluster."""
    for env, count in small_api():
        ratios(SMALL, count, env)
    if gone := missing():
        print(f"{REAL}: not measured, since {', '.join(gone)} is not built", flush=True)
        return
    for env, count in real_control_plane():
        ratios(REAL, count, env)


def ratios(where: str, count: int, env: Environment) -> None:
    """Print what is promised for so many pending pods."""
    if count == 1:
        sides = {"diagnose pod train-0 -n ml": ("describe pod train-0 -n ml", 4.0)}
    else:
        sides = {"diagnose pod -A": ("get pods -A -o json", 3.0)}
        if count <= 200 and where == REAL:  # for each pod kubectl asks for its events; for 5,000 it would take minutes
            sides["diagnose pod -n ml"] = ("describe pods -n ml", 1.0)
    for ours, (theirs, most) in sides.items():

        def mine(words: str = ours) -> Run:
            return run([GPUDOCTOR, *words.split()], exit=1, says=CAUSE, env=env)

        def kubectl(words: str = theirs) -> Run:
            return run(["kubectl", *words.split()], says="train-0", env=env)

        if count == 1:
            in_turn(1, mine, kubectl)  # kubectl keeps what the server has
        us, them = in_turn(COUNTS[count], mine, kubectl)
        compare(f"{where}, {count} pending: gpudoctor {ours} / kubectl {theirs}", wall(us), wall(them), most)


def small_api() -> Iterator[tuple[Environment, int]]:
    """tests/kube with eight nodes and ever more pods."""
    for count in COUNTS:
        waiting = [pod(f"train-{number}", "ml", gpus=GPUS, age="20m", unschedulable=REASON) for number in range(count)]
        said = [event(one, "FailedScheduling", REASON, component="default-scheduler") for one in waiting]
        with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as folder:
            server = serve(cluster([*waiting, *said]), Path(folder), "--bulk", "nodes=8,pods=8,used=8")
            try:
                yield server.env, count
            finally:
                server.process.kill()
                server.process.wait()


def real_control_plane() -> Iterator[tuple[Environment, int]]:
    """etcd, API server, scheduler and controllers. The scheduler speaks of the first pod; its words stand on the others, too, for which
    it would need minutes.
    """
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as folder:
        plane = ControlPlane(Path(folder))
        try:
            load(plane.api)
            api, first, made = plane.api, "/api/v1/namespaces/ml/pods/train-0", 1
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}})
            until(lambda: exists(api, "/api/v1/namespaces/ml/serviceaccounts/default"), "the default service account")
            api.create(real_pod({"pod": "train-0", "gpus": GPUS}, "ml"))
            until(lambda: bool(api.get(first)["status"].get("conditions")), "the scheduler's word")
            status = api.get(first)["status"]

            def make(number: int) -> None:
                one = real_pod({"pod": f"train-{number}", "gpus": GPUS, "spec": {"schedulerName": "nobody"}}, "ml")
                api.create(one | {"status": status})

            env = os.environ | {"KUBECONFIG": f"{folder}/admin.kubeconfig", "HOME": folder, "KUBECACHEDIR": f"{folder}/cache"}
            for count in COUNTS:
                with ThreadPoolExecutor(WRITERS) as writers:
                    list(writers.map(make, range(made, count)))
                made = count
                yield env, count
        finally:
            plane.stop()
